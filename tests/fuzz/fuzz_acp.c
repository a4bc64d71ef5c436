/* libFuzzer target for what agents write, in both protocols: whatever the bytes are and in whatever
 * pieces they come, nothing is read beyond them; what we send back is whole messages of valid JSON,
 * each answer has the id of a question that waited, and no question is answered twice.
 *
 * Input: how the session is set up, how the pieces are cut, then the bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "acp.h"
#include "err.h"

enum { HEAD = 2, MOST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void take(void *arg, const struct acp_event *event)
{
	struct acp *a = arg;

	must(!event->text || utf8_valid(event->text, strlen(event->text)));
	if (event->kind == ACP_ASKED)
		must(event->ask->id && acp_find(a, event->ask->id) == event->ask);
	if (event->json) {
		OWNED(cJSON_ptr) cJSON *json = cJSON_Parse(event->json);

		must(json != NULL);
	}
}

/* Each message in out is JSON by itself. */
static void look_at(struct str *out, enum acp_framing framing)
{
	const char *at = str_text(out);

	while (framing == ACP_NDJSON && *at) {
		const char *end = strchr(at, '\n');
		cJSON *json = NULL;

		must(end != NULL);
		json = cJSON_ParseWithLength(at, (size_t)(end - at));
		must(cJSON_IsObject(json));
		cJSON_Delete(json);
		at = end + 1;
	}
	str_reset(out);
}

static void answer_all(struct acp *a, unsigned how)
{
	struct err e = { 0 };

	while (a->asks) {
		OWNED(char_ptr) char *id = xstrdup(a->asks->id);
		const struct acp_answer said = { .verdict = how % 4 == 2 ? ACP_NO : how % 4,
			                         .decision = "continue",
			                         .content = "{}" };

		if (acp_answer(a, id, &said, &e) < 0)
			must(acp_answer(a, id, &(struct acp_answer){ .verdict = ACP_NONE }, &e) ==
			     1);
		must(acp_answer(a, id, &said, &e) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	OWNED(acp) struct acp a = { 0 };
	const struct acp_sink sink = { .take = take, .arg = &a };
	struct err e = { 0 };
	struct acp_how how = { .most = MOST, .startup_ms = 30000, .root = "/w", .forms = true };
	unsigned cut;

	if (size < HEAD)
		return 0;
	how.dialect = data[0] & 1 ? ACP_STREAM : ACP_STANDARD;
	how.framing = data[0] & 2 ? ACP_LSP : ACP_NDJSON;
	how.version = (data[0] >> 2) % 3;
	how.refused = data[0] & 32 ? "[\"a\"]" : NULL;
	cut = data[1];
	acp_open(&a, &how, &sink, 0);
	if (data[0] & 64 && how.dialect == ACP_STANDARD) { /* a session that is open */
		static const char OPENING[] = "{\"id\":1,\"result\":{\"protocolVersion\":1}}\n"
		                              "{\"id\":2,\"result\":{\"sessionId\":\"S\"}}\n";

		acp_feed(&a, OPENING, strlen(OPENING), 0);
		(void)acp_prompt(&a, "x", 0, &e);
	}
	for (size_t i = HEAD; i < size;) {
		size_t n = 1 + cut % 97;
		char *piece;

		cut = cut * 1103515245 + 12345;
		n = n < size - i ? n : size - i;
		piece = xmalloc(n);
		memcpy(piece, data + i, n);
		acp_feed(&a, piece, n, (int64_t)i);
		free(piece);
		look_at(&a.out, how.framing);
		if (cut % 5 == 0)
			answer_all(&a, cut >> 8);
		i += n;
	}
	if (cut & 1)
		acp_cancel(&a, "stopped", 5000);
	acp_tick(&a, 20000);
	acp_end(&a, 20000);
	must(!a.asks && !a.turn_open && a.step == ACP_STEP_OVER);
	look_at(&a.out, how.framing);
	return 0;
}
