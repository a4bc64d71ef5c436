#include "hook_pipe.h"

#include "front.h"
#include "gate_input.h"
#include "gate_wire.h"
#include "take.h"

enum { PARAMS_BYTES = 64 << 10 }; /* they are kept until the input has arrived */

void hook_pipe_greet(struct sink *s, const cJSON *hello)
{
	const char *host = json_text(hello, "hook"), *event = json_text(hello, "event");

	s->hook_host = host && event ? gate_host_named(host) : NULL;
	s->hook_event = s->hook_host ? gate_host_event(s->hook_host, event) : NULL;
}

void hook_pipe_word(const struct sink *s, const struct str *message, struct str *words)
{
	if (message->length)
		gate_wire_add_message(words, s->hook_host, s->hook_event->name, message->bytes,
		                      message->length);
}

/* The question of the second line, with the input. 0, or -1 with m empty and what is wrong. */
static int join(const struct sink *s, struct gate_input *in, struct rpc_message *m,
                struct rpc_error *wrong)
{
	OWNED(str) struct str line = { 0 };
	cJSON *params;

	gate_wire_add_question(&line, s->hook_params.bytes, s->hook_params.length);
	if (rpc_parse(line.bytes, line.length, m, wrong)) {
		rpc_message_clear(m);
		return -1;
	}
	params = cJSON_GetObjectItemCaseSensitive(m->root, "params");
	cJSON_DeleteItemFromObjectCaseSensitive(params, "input");
	cJSON_AddItemToObject(params, "input", in->owned);
	in->owned = NULL;
	return 0;
}

static void ask(struct sink *s, const char *input, size_t length)
{
	OWNED(gate_input) struct gate_input in = { 0 };
	struct rpc_message m = { 0 };
	struct rpc_error wrong;
	struct err e = { 0 };

	if (gate_input_read(s->hook_host, s->hook_event->name, input, length, &in, &e)) {
		sink_refuse(s, NULL, RPC_INVALID_PARAMS, e.text);
	} else if (rpc_check(input, length, &wrong) || join(s, &in, &m, &wrong)) {
		sink_refuse(s, NULL, wrong.code, wrong.text);
	} else {
		m.length += length;
		take_message(s->front, s, &m);
	}
}

void hook_pipe_take(struct sink *s, const char *line, size_t length)
{
	if (length > FRONT_MAX_MESSAGE) {
		sink_refuse(s, NULL, RPC_PARSE_ERROR,
		            s->overfull ? FRONT_OVERFULL : "the hook's input is longer than 4 MiB");
		s->overfull = false;
	} else if (!s->hook_params.length && length > PARAMS_BYTES) {
		sink_refuse(s, NULL, RPC_INVALID_PARAMS,
		            "what the hook says of itself is longer than 64 KiB");
	} else if (!s->hook_params.length) {
		str_add_bytes(&s->hook_params, line, length);
	} else {
		ask(s, line, length);
	}
}
