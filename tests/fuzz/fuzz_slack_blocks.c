/* libFuzzer target for slack_blocks: whatever an agent says, the message is within Slack's limits,
 * is UTF-8, and nothing of it mentions or links. */
#include "../harness/slack_limits.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_fit(struct slack_said *said)
{
	struct limits l;

	if (*limits_check(&l, said))
		abort();
	slack_said_clear(said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const NOBODY[] = { NULL };
	static const char *const KINDS[] = { "clearance", "prompt", "standby" };
	static const char *const STATES[] = { "pending", "interrupted", "rejected", "expired" };
	OWNED(str) struct str text = STR_INIT;
	OWNED(slack_said) struct slack_said said = SLACK_SAID_INIT;
	struct request r = REQUEST_INIT;
	struct slack_ask a = { .request = &r, .mentions = NOBODY };

	if (size < 1)
		return 0;
	str_add_bytes(&text, data + 1, size - 1);
	str_add(&text, "");
	r.id = r.session_id = (char *)"0190aaaa-0000-7000-8000-000000000001";
	r.kind = (char *)KINDS[data[0] % COUNT(KINDS)];
	r.state = (char *)STATES[data[0] / 8 % COUNT(STATES)];
	r.title = r.description = r.file_path = r.client_name = r.workspace_root = r.reason =
	    r.decided_by = (char *)str_text(&text);
	r.body = text;
	r.elapsed_seconds = r.actions_taken = -1;
	slack_say_ask(&a, &said);
	must_fit(&said);
	slack_say_text(str_text(&text), &said);
	must_fit(&said);
	return 0;
}
