#include "traffic.h"

#include "due.h"
#include "envelope.h"
#include "log.h"
#include "message.h"
#include "question.h"
#include "session.h"

#include <string.h>

static const char TOO_LONG[] = "it is longer than 256 MiB";
static const char TWO_WAYS[] = "readers may understand it differently";

static void refuse(struct proxy *p, const struct json_peek *peek, const char *why)
{
	OWNED(str) struct str json = { 0 };

	log_warn("a message of the agent is not passed on: %s", why);
	acp_message_add_error(&json, peek->id[0] && !peek->unclear ? peek->id : "null",
	                      ACP_INVALID_PARAMS, why);
	channel_say(&p->to_agent, &json);
}

void traffic_refuse_agent(void *arg, const struct json_peek *peek)
{
	refuse(arg, peek, TOO_LONG);
}

static void refuse_unclear(struct proxy *p, size_t length, const struct json_peek *peek)
{
	OWNED(str) struct str why = { 0 };

	if (peek->unclear)
		str_addf(&why, "%s: %s", TWO_WAYS, peek->unclear);
	else if (length > CHANNEL_LINE)
		str_addf(&why, "it is longer than 32 MiB, and %s or an operator has to see it",
		         TWO_WAYS);
	else
		str_add(&why, TWO_WAYS);
	refuse(p, peek, why.bytes);
}

/* Once is enough to know why something is missing in the editor's log. */
static void drop_noise(struct proxy *p)
{
	if (!p->has_dropped)
		log_warn("lines of the agent that are no messages are not passed on");
	p->has_dropped = true;
}

static bool takes_cancel(struct proxy *p, const char *line, size_t length)
{
	OWNED(cJSON_ptr) cJSON *root = json_read(line, length, NULL); /* the id in all its digits */

	return question_cancel(p, cJSON_GetObjectItemCaseSensitive(root, "params"));
}

void traffic_take_agent(void *arg, const char *line, size_t length, const struct json_peek *peek)
{
	enum envelope_kind kind = envelope_kind_of(line, length, peek);
	struct proxy *p = arg;

	switch (kind) {
	case ENVELOPE_PERMISSION:
	case ENVELOPE_WRITE:
	case ENVELOPE_TERMINAL:
		question_begin(p, kind, line, length, peek);
		return;
	case ENVELOPE_REFUSED:
		if (!session_refuse_agent(p, peek))
			refuse_unclear(p, length, peek);
		return;
	case ENVELOPE_NOISE:
		drop_noise(p);
		return;
	case ENVELOPE_PASSES:
		break;
	}
	if (strcmp(peek->method, "$/cancel_request") == 0 && takes_cancel(p, line, length))
		return;
	if (!session_take_agent(p, line, length, peek))
		return;
	if (peek->has[JSON_PEEK_METHOD] && peek->id[0])
		due_send(p, peek->id, line, length);
	else
		channel_send(&p->to_editor, line, length);
}

static void cancel_turn(struct proxy *p, const char *line, size_t length)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_ParseWithLength(line, length);

	question_cancel_session(p, cJSON_GetObjectItemCaseSensitive(root, "params"));
}

static void drop_of_editor(const char *why)
{
	log_warn("a message of the editor is not passed on: %s", why);
}

static bool is_answer(const struct json_peek *peek)
{
	return !peek->method[0] && (peek->has[JSON_PEEK_ID] || peek->has[JSON_PEEK_RESULT] ||
	                            peek->has[JSON_PEEK_ERROR]);
}

void traffic_take_editor(void *arg, const char *line, size_t length, const struct json_peek *peek)
{
	struct proxy *p = arg;

	if (envelope_is_unclear(line, length, peek)) {
		drop_of_editor(TWO_WAYS);
		return;
	}
	if (is_answer(peek)) {
		bool is_due = due_take(p, peek->id);

		if (question_take_answer(p, line, length, peek))
			return;
		if (!is_due) {
			drop_of_editor("it answers nothing that the agent has asked it");
			return;
		}
	}
	if (!session_note_editor(p, line, length, peek))
		return;
	channel_send(&p->to_agent, line, length);
	if (strcmp(peek->method, "session/cancel") == 0)
		cancel_turn(p, line, length);
}

void traffic_refuse_editor(void *arg, const struct json_peek *peek)
{
	struct proxy *p = arg;
	bool is_request = peek->method[0] != '\0';
	OWNED(str) struct str json = { 0 };

	drop_of_editor(TOO_LONG);
	if (peek->unclear || !peek->id[0] || (!is_request && !due_take(p, peek->id)))
		return;
	acp_message_add_error(&json, peek->id, ACP_INVALID_PARAMS, TOO_LONG);
	channel_say(is_request ? &p->to_editor : &p->to_agent, &json);
}
