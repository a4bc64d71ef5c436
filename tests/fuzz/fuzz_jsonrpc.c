/* libFuzzer target for the messages that agents send, whatever carries them (for that: fuzz_front):
 * whatever the bytes are, parsing them neither crashes nor reads beyond them; a request has an id
 * that is JSON and has one spelling, an error says why; a call that is taken has arguments that fit
 * their schema or a result that says what does not fit; what is written back is JSON.
 *
 * Made with clang -fsanitize=fuzzer,address,undefined and all of src/ but toml.cc. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "mcp.h"
#include "rpc.h"
#include "tool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void is_json(const char *text)
{
	OWNED(cJSON_ptr) cJSON *value = cJSON_Parse(text);

	must(value != NULL && utf8_valid(text, strlen(text)));
}

/* One canonical text, however often it is made. */
static void canonical_is_stable(const cJSON *value)
{
	OWNED(str) struct str once = { 0 };
	OWNED(str) struct str twice = { 0 };
	OWNED(cJSON_ptr) cJSON *again = NULL;

	json_canonical(&once, value);
	again = cJSON_Parse(once.bytes);
	must(again != NULL);
	json_canonical(&twice, again);
	must(strcmp(once.bytes, twice.bytes) == 0);
}

/* One spelling of an id, which is an id itself. */
static void id_is_stable(const char *token)
{
	OWNED(str) struct str once = { 0 };
	OWNED(str) struct str twice = { 0 };

	json_add_id_token(&once, token);
	is_json(once.bytes);
	json_add_id_token(&twice, once.bytes);
	must(strcmp(once.bytes, twice.bytes) == 0);
}

static void try_tools(const cJSON *params)
{
	for (int i = 0; i < TOOL_COUNT; i++) {
		struct err e = { 0 };

		if (tool_check(TOOLS[i], params, &e))
			must(e.text[0] && utf8_valid(e.text, strlen(e.text)));
	}
}

static void try_call(const struct rpc_message *m)
{
	OWNED(str) struct str reply = { 0 };
	OWNED(str) struct str result = { 0 };
	struct call c = { 0 };
	struct err e = { 0 };

	if (call_open(&c, m->params, m->id, m->has_nul, &e)) {
		must(e.text[0] != '\0');
		rpc_failure(&reply, m->id, RPC_INVALID_PARAMS, e.text, NULL);
		is_json(reply.bytes);
	} else {
		must(c.tool && c.arguments && c.is_error == (c.result.length > 0));
		canonical_is_stable(c.arguments);
		if (c.is_error) {
			mcp_tool_result(&result, "2025-11-25", c.result.bytes,
			                (struct mcp_said){ .text = "" }, true, c.traceparent);
			rpc_result(&reply, m->id, result.bytes);
			is_json(reply.bytes);
		}
		if (c.progress_token)
			is_json(c.progress_token);
	}
	call_clear(&c);
}

static void judge(struct rpc_message *m, const struct rpc_error *error, int failed)
{
	OWNED(str) struct str reply = { 0 };

	if (m->id)
		is_json(m->id);
	if (m->id && !failed)
		id_is_stable(m->id);
	if (failed) {
		must(error->code < 0 && error->text[0]);
		rpc_failure(&reply, m->id, error->code, error->text, NULL);
		is_json(reply.bytes);
		return;
	}
	must((m->kind == RPC_REQUEST) <= (m->id != NULL));
	must((m->kind == RPC_REQUEST || m->kind == RPC_NOTIFICATION) == (m->method != NULL));
	if (m->kind != RPC_REQUEST)
		return;
	try_tools(m->params);
	try_call(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_message m = { 0 };
	struct rpc_error error = { .code = 0 };
	int failed = rpc_parse((const char *)data, size, &m, &error);

	judge(&m, &error, failed);
	if (!failed && m.kind == RPC_BATCH)
		for (int i = 0; i < cJSON_GetArraySize(m.root) && i < 8; i++) {
			struct rpc_message item = { 0 };

			failed = rpc_batch_item(&m, i, &item, &error);
			judge(&item, &error, failed);
			rpc_message_clear(&item);
		}
	rpc_message_clear(&m);
	return 0;
}
