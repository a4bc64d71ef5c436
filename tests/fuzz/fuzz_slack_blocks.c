/* libFuzzer target for slack_blocks: whatever an agent says, the message is within Slack's limits,
 * is UTF-8, and nothing of it mentions or links. */
#include "../harness/slack_limits.h"
#include "notice.h"
#include "question.h"

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
	static const enum request_kind KINDS[] = { REQUEST_KIND_CLEARANCE, REQUEST_KIND_PROMPT,
		                                   REQUEST_KIND_STANDBY };
	static const enum request_state STATES[] = { REQUEST_STATE_PENDING,
		                                     REQUEST_STATE_INTERRUPTED,
		                                     REQUEST_STATE_REJECTED,
		                                     REQUEST_STATE_EXPIRED };
	OWNED(str) struct str text = { 0 };
	OWNED(slack_said) struct slack_said said = { 0 };
	struct request r = { 0 };
	struct slack_ask a = { .request = &r, .mentions = NOBODY };

	if (size < 1)
		return 0;
	str_add_bytes(&text, data + 1, size - 1);
	str_add(&text, "");
	r.row.id = r.row.session_id = "0190aaaa-0000-7000-8000-000000000001";
	r.row.kind = KINDS[data[0] % COUNT(KINDS)];
	r.row.state = STATES[data[0] / 8 % COUNT(STATES)];
	r.row.title = r.row.file_path = r.row.client_name = r.row.workspace_root = r.row.reason =
	    r.row.decided_by = r.description = str_text(&text);
	r.body = text;
	slack_question_say(&a, &said);
	must_fit(&said);
	slack_notice_text(str_text(&text), &said);
	must_fit(&said);
	return 0;
}
