/* libFuzzer target for what Slack sends: whatever the bytes are, reading them neither crashes nor
 * reads beyond them; an envelope keeps its id, what is meant has what it needs, and a text that an
 * agent will read is well-formed and holds no secret of the envelope.
 *
 * Made with clang -fsanitize=fuzzer,address,undefined and all of src/ but toml.cc. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "payload.h"
#include "verb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void is_text(const char *text)
{
	must(!text || utf8_valid(text, strlen(text)));
}

static void judge(const struct slack_intent *a)
{
	is_text(a->text);
	is_text(a->action);
	must(a->meaning != INTENT_DECIDE || (a->request && a->verdict));
	must(a->meaning != INTENT_OPEN || (a->view && (a->request || a->session)));
	must(a->meaning != INTENT_NUDGE || (a->session && a->verdict));
	must(a->meaning != INTENT_COMMAND || a->text);
	must(a->meaning != INTENT_REPLY || (a->text && a->thread_ts && a->channel && a->user));
	must(a->meaning != INTENT_MENTION || (a->text && a->channel && a->user));
	must((a->meaning == INTENT_UNKNOWN) == (a->problem != NULL));
}

static void words(const char *text)
{
	struct verb_line l = verb_read(text);

	must(strlen(l.word) < sizeof(l.word));
	must(l.rest >= text && l.rest <= text + strlen(text));
	must(verb_id_length(l.rest) <= strlen(l.rest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slack_frame f = { 0 };
	struct slack_intent a = { 0 };
	OWNED(str) struct str copy = { 0 };
	OWNED(str) struct str plain = { 0 };

	slack_frame_read(&f, (const char *)data, size);
	must((f.kind == SLACK_FRAME_ENVELOPE) <= (f.envelope_id != NULL));
	must(!f.envelope_id || *f.envelope_id);
	slack_intent_read(&a, &f, "U0BOT");
	judge(&a);
	if (f.payload)
		slack_payload_strip(cJSON_GetObjectItemCaseSensitive(f.root, "payload"));
	str_add_bytes(&copy, data, size);
	slack_text_plain(&plain, str_text(&copy), "U0BOT");
	must(!utf8_valid(str_text(&copy), strlen(str_text(&copy))) ||
	     utf8_valid(str_text(&plain), plain.length));
	words(str_text(&copy));
	slack_intent_clear(&a);
	slack_frame_clear(&f);
	return 0;
}
