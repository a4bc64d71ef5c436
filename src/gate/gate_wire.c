#include "gate_wire.h"

#include "err.h"
#include "gate_answer.h"
#include "json.h"

#include <string.h>

/* Each line of text as one of ours. */
static void add_lines(struct str *out, enum gate_wire kind, const struct str *text)
{
	const char *at = str_text(text), *end = at + text->length;

	while (at < end) {
		size_t length = strcspn(at, "\n");

		str_add_char(out, (char)kind);
		str_add_bytes(out, at, length);
		str_add_char(out, '\n');
		at += length + 1;
	}
}

static void add_verdict(struct str *out, const struct gate_host *host, const char *event,
                        const struct gate_verdict *verdict)
{
	OWNED(gate_answer) struct gate_answer answer = { 0 };

	gate_answer_write(host, event, verdict, &answer);
	add_lines(out, GATE_WIRE_OUT, &answer.out);
	add_lines(out, GATE_WIRE_WHY, &answer.err);
	str_addf(out, "%c%d\n", GATE_WIRE_STATUS, answer.status);
}

void gate_wire_add_failure(struct str *out, const struct gate_host *host, const char *event,
                           const char *reason)
{
	const struct gate_event_name *known = gate_host_event(host, event);
	bool gates = !known || known->event == GATE_PRE_TOOL || known->event == GATE_PERMISSION;
	OWNED(str) struct str text = { 0 };
	struct gate_verdict verdict = { .decision = gates ? GATE_DENY : GATE_NONE };

	str_addf(&text, "agent-intercom: %s", reason);
	verdict.reason = str_text(&text);
	add_verdict(out, host, event, &verdict);
}

static void add_progress(struct str *out, const struct gate_host *host, const cJSON *message)
{
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(message, "params");
	const char *text = json_text(params, "message");
	OWNED(str) struct str line = { 0 };

	if (!text)
		return;
	gate_answer_progress(host, text, &line);
	add_lines(out, GATE_WIRE_NOW, &line);
}

/* What is wrong with a result; NULL: nothing, and it is in v. */
static const char *read_verdict(const cJSON *result, struct gate_verdict *v)
{
	const char *decision = json_text(result, "decision");
	const cJSON *input = cJSON_GetObjectItemCaseSensitive(result, "input");

	*v = (struct gate_verdict){ .reason = json_text(result, "reason"),
		                    .context = json_text(result, "context"),
		                    .go_on = json_text(result, "continue") };
	if (!decision || !gate_decision_of(decision, &v->decision))
		return "the answer has no decision";
	if (input && !cJSON_IsNull(input) && !cJSON_IsObject(input))
		return "the answer has an input that is no object";
	return NULL;
}

static void add_result(struct str *out, const struct gate_host *host, const char *event,
                       const cJSON *result)
{
	const cJSON *input = cJSON_GetObjectItemCaseSensitive(result, "input");
	OWNED(char_ptr) char *text = cJSON_IsObject(input) ? cJSON_PrintUnformatted(input) : NULL;
	struct gate_verdict v;
	const char *wrong = read_verdict(result, &v);

	if (wrong) {
		gate_wire_add_failure(out, host, event, wrong);
		return;
	}
	v.input = text;
	if (v.decision == GATE_DEFER) {
		str_addf(out, "%c\n", GATE_WIRE_ENDS);
		v.decision = GATE_DENY;
	}
	add_verdict(out, host, event, &v);
}

void gate_wire_add_question(struct str *out, const char *params, size_t length)
{
	str_add(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"intercom/hook\",\"params\":");
	str_add_bytes(out, params, length);
	str_add(out, "}");
}

void gate_wire_add_message(struct str *out, const struct gate_host *host, const char *event,
                           const char *message, size_t length)
{
	OWNED(cJSON_ptr) cJSON *all = json_read(message, length, NULL);
	const cJSON *result = cJSON_GetObjectItemCaseSensitive(all, "result");
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(all, "error");
	const char *method = json_text(all, "method"), *text = json_text(error, "message");

	if (method && strcmp(method, "notifications/progress") == 0)
		add_progress(out, host, all);
	if (method)
		return;
	if (error)
		gate_wire_add_failure(out, host, event, text ? text : "refused without a reason");
	else if (cJSON_IsObject(result))
		add_result(out, host, event, result);
	else
		gate_wire_add_failure(out, host, event, "the answer has no result");
}
