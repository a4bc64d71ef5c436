#include "acp.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "opening.h"
#include "pending.h"
#include "stream.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

enum {
	JUNK_MAX = 100, /* lines before the first message: it is no agent */
	CANCEL_MS = 10000, /* a turn may take to end */
	SHOWN_BYTES = 500, /* of a line, in the log */
};

/* ---- turns ---- */

static void begin_turn(struct acp *a)
{
	if (a->turn_open)
		return;
	a->turn_open = true;
	acp_tell(&a->sink, &(struct acp_event){ .kind = ACP_TURN_STARTED });
}

static void end_turn(struct acp *a, enum acp_stop stop, const char *text)
{
	if (!a->turn_open)
		return;
	acp_gather_flush(&a->told.gather, &a->sink);
	acp_pending_withdraw_all(a, "the turn ended");
	acp_tool_calls_clear(&a->told.tools);
	a->turn_open = a->ran = a->cancelled = false;
	a->deadline_ms = INT64_MAX;
	acp_tell(&a->sink,
	         &(struct acp_event){ .kind = ACP_TURN_ENDED, .stop = stop, .text = text });
}

/* The answer to a prompt: in version 1 the turn is over, in version 2 it was accepted. */
static void take_prompted(struct acp *a, const struct acp_message *m)
{
	OWNED(str) struct str login = { 0 };

	if (m->kind != ACP_MESSAGE_ERROR)
		acp_update_tell_tokens(cJSON_GetObjectItemCaseSensitive(m->result, "usage"),
		                       &a->sink);
	if (m->kind == ACP_MESSAGE_ERROR && m->code == ACP_LOGIN_NEEDED) {
		acp_opening_add_login(a, m->text, &login);
		end_turn(a, ACP_STOP_ERROR, login.bytes);
	} else if (m->kind == ACP_MESSAGE_ERROR) {
		end_turn(a, ACP_STOP_ERROR, m->text);
	} else if (a->agent.version == 1) {
		end_turn(a, acp_stop_of(json_text(m->result, "stopReason")), NULL);
	}
}

static void take_state(struct acp *a, enum acp_turn turn, const char *stop)
{
	if (turn == ACP_TURN_RUNS) {
		begin_turn(a);
		a->ran = true;
	} else if (turn == ACP_TURN_IDLE && a->ran) {
		end_turn(a, acp_stop_of(stop), NULL);
	}
}

/* ---- what comes ---- */

static void take_update(struct acp *a, const cJSON *params)
{
	const char *stop = NULL, *kind;
	const cJSON *update = cJSON_GetObjectItemCaseSensitive(params, "update");
	enum acp_turn turn;

	kind = json_text(update, "sessionUpdate");
	if (a->replaying || !kind || acp_talk_is_other(a, params)) {
		acp_tell(&a->sink, &(struct acp_event){ .kind = ACP_ALIVE });
		return;
	}
	turn = acp_update_take(&a->told, update, a->agent.version, a->now_ms, &a->sink, &stop);
	take_state(a, turn, stop);
	if (strcmp(kind, "current_mode_update") == 0 || strcmp(kind, "config_option_update") == 0)
		acp_opening_mode_changed(a);
}

static void take_request(struct acp *a, const struct acp_message *m)
{
	OWNED(str) struct str text = { 0 };

	if (strcmp(m->method, "session/request_permission") == 0) {
		acp_pending_take_permission(a, m);
	} else if (a->how.forms && strcmp(m->method, "elicitation/create") == 0) {
		acp_pending_take_form(a, m);
	} else {
		str_addf(&text, "method not found: %s", m->method);
		acp_talk_error(a, m->id, ACP_METHOD_NOT_FOUND, text.bytes);
	}
}

static void take_notification(struct acp *a, const struct acp_message *m)
{
	if (strcmp(m->method, "session/update") == 0)
		take_update(a, m->params);
	else if (strcmp(m->method, "$/cancel_request") == 0)
		acp_pending_take_cancel(a, m->params);
	else
		acp_tell(&a->sink, &(struct acp_event){ .kind = ACP_ALIVE });
}

static void take_answer(struct acp *a, const struct acp_message *m)
{
	enum acp_call_kind kind = m->id ? acp_talk_answered(a, m->id) : ACP_CALL_NONE;

	if (kind == ACP_CALL_PROMPT)
		take_prompted(a, m);
	else if (kind != ACP_CALL_NONE && kind != ACP_CALL_CLOSE)
		acp_opening_take(a, kind, m);
	else if (kind == ACP_CALL_NONE)
		acp_tell_note(&a->sink, ACP_WARN, "an answer to nothing we asked: id %s, %s",
		              m->id ? m->id : "null", m->text ? m->text : "a result");
}

static void take_junk(struct acp *a, const struct acp_message *m, const char *bytes, size_t length,
                      const struct err *e)
{
	OWNED(str) struct str raw = { 0 };

	str_add_shown(&raw, bytes, length, SHOWN_BYTES);
	acp_tell_note(&a->sink, ACP_WARN, "%s: %s", e->text, str_text(&raw));
	if (m->method && (m->id || m->peek.unclear))
		acp_talk_error(a, m->id ? m->id : "null", ACP_PARSE_ERROR, e->text);
	if (!a->heard && ++a->junk > JUNK_MAX)
		acp_talk_fail(a, 0, "this is no ACP agent: it wrote %d lines that are no message",
		              a->junk);
}

static void take_standard(struct acp *a, const char *bytes, size_t length);

static void take_item(void *arg, const char *bytes, size_t length)
{
	/* A batch in a batch is none, and is not followed. */
	if (bytes[strspn(bytes, " \t\r\n")] != '[')
		take_standard(arg, bytes, length);
}

static void take_standard(struct acp *a, const char *bytes, size_t length)
{
	OWNED(acp_message) struct acp_message m = { 0 };
	struct err e = { 0 };

	if (acp_message_read(bytes, length, &m, &e)) {
		take_junk(a, &m, bytes, length, &e);
		return;
	}
	a->heard = true;
	switch (m.kind) {
	case ACP_MESSAGE_REQUEST:
		take_request(a, &m);
		break;
	case ACP_MESSAGE_NOTIFICATION:
		take_notification(a, &m);
		break;
	case ACP_MESSAGE_RESULT:
	case ACP_MESSAGE_ERROR:
		take_answer(a, &m);
		break;
	case ACP_MESSAGE_BATCH:
		json_split(bytes, length, take_item, a);
		break;
	}
}

static void take_line(struct acp *a, const char *bytes, size_t length)
{
	OWNED(acp_message) struct acp_message m = { 0 };
	struct err e = { 0 };
	int failed = acp_message_read(bytes, length, &m, &e);
	struct acp_inquiry *ask =
	    acp_stream_take(&m, failed ? &e : NULL, bytes, length, a->how.root, &a->sink);

	if (ask)
		acp_pending_add(a, ask);
}

/* A question of acp-stream that cannot be asked: the agent is told no. */
static void refuse_line(struct acp *a, const struct json_peek *asked, const char *why)
{
	OWNED(str) struct str json = { 0 };

	if (strcmp(asked->method, "clearance/request") == 0)
		acp_stream_add_clearance(&json, asked->id, "rejected", why);
	else if (strcmp(asked->method, "prompt/forward") == 0)
		acp_stream_add_decision(&json, asked->id, "continue", why);
	if (json.length)
		acp_talk_send(a, json.bytes);
}

/* A message that was too long to be kept: whoever waits for an answer to it must get one. */
static void take_over(struct acp *a, const struct json_peek *over)
{
	static const char TEXT[] = "message too large";
	struct acp_message lost = {
		.kind = ACP_MESSAGE_ERROR, .id = over->id, .code = ACP_INTERNAL_ERROR, .text = TEXT
	};

	acp_tell_note(&a->sink, ACP_WARN, "a message of more than %zu bytes was dropped: %s %s",
	              a->how.most, over->method[0] ? over->method : "no method",
	              over->id[0] ? over->id : "without an id");
	if (!over->id[0])
		return;
	if (a->how.dialect == ACP_STREAM)
		refuse_line(a, over, TEXT);
	else if (over->method[0])
		acp_talk_error(a, over->id, ACP_INTERNAL_ERROR, TEXT);
	else
		take_answer(a, &lost);
}

static bool take_frame(void *arg, const char *bytes, size_t length, const struct json_peek *over)
{
	struct acp *a = arg;

	if (over)
		take_over(a, over);
	else if (a->how.dialect == ACP_STREAM)
		take_line(a, bytes, length);
	else
		take_standard(a, bytes, length);
	return a->step != ACP_STEP_OVER;
}

/* ---- its life ---- */

void acp_open(struct acp *a, const struct acp_how *how, const struct acp_sink *sink, int64_t now_ms)
{
	*a = (struct acp){
		.how = *how,
		.sink = *sink,
		.frame = ACP_FRAME_INIT(how->framing, how->most),
		.asking = how->asking ? cJSON_Parse(how->asking) : NULL,
		.refused = how->refused ? cJSON_Parse(how->refused) : NULL,
		.is_new = true,
		.now_ms = now_ms,
		.deadline_ms = INT64_MAX,
	};
	if (how->dialect == ACP_STANDARD) {
		acp_opening_begin(a);
		return;
	}
	a->step = ACP_STEP_OPEN;
	acp_tell(sink, &(struct acp_event){ .kind = ACP_OPENED, .id = "" });
}

/* What was asked before the session failed gets no answer. */
static void end_questions(struct acp *a)
{
	if (a->step == ACP_STEP_OVER)
		acp_pending_lose_all(a, "the session failed");
}

void acp_feed(struct acp *a, const char *bytes, size_t length, int64_t now_ms)
{
	a->now_ms = now_ms;
	if (a->step != ACP_STEP_OVER)
		(void)acp_frame_feed(&a->frame, bytes, length, take_frame, a);
	end_questions(a);
}

void acp_end(struct acp *a, int64_t now_ms)
{
	static const char WHY[] = "stream closed";

	a->now_ms = now_ms;
	if (a->step != ACP_STEP_OVER)
		(void)acp_frame_end(&a->frame, take_frame, a);
	acp_gather_flush(&a->told.gather, &a->sink);
	acp_pending_lose_all(a, "the agent is gone");
	end_turn(a, ACP_STOP_ERROR, WHY);
	if (a->step == ACP_STEP_OVER)
		return;
	a->step = ACP_STEP_OVER;
	acp_tell(&a->sink, &(struct acp_event){ .kind = ACP_CLOSED, .text = WHY });
}

void acp_tick(struct acp *a, int64_t now_ms)
{
	a->now_ms = now_ms;
	acp_gather_tick(&a->told.gather, now_ms, &a->sink);
	if (now_ms < a->deadline_ms)
		return;
	a->deadline_ms = INT64_MAX;
	if (a->step == ACP_STEP_OPEN)
		acp_tell(&a->sink,
		         &(struct acp_event){ .kind = ACP_HUNG,
		                              .text = "the agent does not end its turn" });
	else
		acp_opening_late(a);
	end_questions(a);
}

int64_t acp_due_ms(const struct acp *a)
{
	int64_t due = acp_gather_due_ms(&a->told.gather);

	return due < a->deadline_ms ? due : a->deadline_ms;
}

static int send_prompt(struct acp *a, const char *text)
{
	OWNED(str) struct str params = { 0 };

	json_object(&params);
	json_member(&params, "sessionId", str_text(&a->session_id));
	json_member_array(&params, "prompt");
	json_object(&params);
	json_member(&params, "type", "text");
	json_member(&params, "text", text);
	json_object_end(&params);
	json_array_end(&params);
	json_object_end(&params);
	acp_talk_request(a, ACP_CALL_PROMPT, "session/prompt", params.bytes);
	begin_turn(a);
	return 0;
}

static int may_prompt(const struct acp *a, struct err *e)
{
	if (a->step == ACP_STEP_OVER)
		return err_set(e, ERR_INPUT, "acp: write failed: stream closed");
	if (a->step != ACP_STEP_OPEN)
		return err_set(e, ERR_AGAIN, "acp: the session is not open yet");
	if (a->turn_open)
		return err_set(e, ERR_AGAIN, "acp: a turn is open");
	return 0;
}

/* add: how a message of ACP_STREAM is written. */
static int say(struct acp *a, const char *text, void (*add)(struct str *out, const char *text),
               int64_t now_ms, struct err *e)
{
	OWNED(str) struct str json = { 0 };

	a->now_ms = now_ms;
	if (may_prompt(a, e))
		return -1;
	if (a->how.dialect == ACP_STANDARD)
		return send_prompt(a, text);
	add(&json, text);
	acp_talk_send(a, json.bytes);
	return 0;
}

int acp_prompt(struct acp *a, const char *text, int64_t now_ms, struct err *e)
{
	return say(a, text, acp_stream_add_prompt, now_ms, e);
}

int acp_nudge(struct acp *a, const char *text, int64_t now_ms, struct err *e)
{
	return say(a, text, acp_stream_add_nudge, now_ms, e);
}

/* {"sessionId": ...} */
static void add_session(struct str *params, const struct acp *a)
{
	json_object(params);
	json_member(params, "sessionId", str_text(&a->session_id));
	json_object_end(params);
}

void acp_cancel(struct acp *a, const char *reason, int64_t now_ms)
{
	OWNED(str) struct str json = { 0 };

	a->now_ms = now_ms;
	if (a->step != ACP_STEP_OPEN)
		return;
	if (a->how.dialect == ACP_STREAM) {
		acp_stream_add_interrupt(&json, reason);
		acp_talk_send(a, json.bytes);
	} else if (a->turn_open) {
		add_session(&json, a);
		acp_talk_notify(a, "session/cancel", json.bytes);
		a->cancelled = true;
		a->deadline_ms = now_ms + CANCEL_MS;
	}
	acp_pending_withdraw_all(a, reason);
}

void acp_close(struct acp *a, const char *reason, int64_t now_ms)
{
	OWNED(str) struct str params = { 0 };

	if (a->step != ACP_STEP_OPEN)
		return;
	acp_cancel(a, reason, now_ms);
	if (a->how.dialect == ACP_STREAM || !a->agent.can_close)
		return;
	add_session(&params, a);
	acp_talk_request(a, ACP_CALL_CLOSE, "session/close", params.bytes);
}

void acp_clear(struct acp *a)
{
	while (a->asks) {
		struct acp_inquiry *ask = a->asks;

		a->asks = ask->next;
		acp_inquiry_clear(ask);
		free(ask);
	}
	acp_talk_forget(a);
	acp_greeting_clear(&a->agent);
	acp_frame_clear(&a->frame);
	acp_told_clear(&a->told);
	str_clear(&a->out);
	str_clear(&a->session_id);
	cJSON_Delete(a->asking);
	cJSON_Delete(a->refused);
	*a = (struct acp){ 0 };
}
