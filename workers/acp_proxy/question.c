#include "question.h"

#include "clock.h"
#include "dialog.h"
#include "due.h"
#include "gate_host.h"
#include "instance.h"
#include "json.h"
#include "json_writer.h"
#include "log.h"
#include "message.h"
#include "session.h"
#include "subject.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PATIENCE_MS =
	    24 * 3600 * 1000, /* an agent has no deadline: the question's own one counts */
	RETRY_MS = 200, /* after a front that could not take the editor's answer */
	ASKED_ID = 1, /* of our request, and */
	DECIDE_ID, /* of the one with the editor's answer */
};

/* ---- a question's life ---- */

/* A front that was there leaves the question to the editor, and its answer to itself, only after as
 * long as any other. */
static void hang_up(struct proxy *p, struct question *q)
{
	int64_t now = clock_monotonic_ms();

	if (q->link.greeted) {
		q->answered_ms = now;
		q->show_ms = now + PROXY_EDITOR_MS;
	}
	q->is_asked = q->is_told = false;
	uplink_close(&q->link, &p->system);
}

/* ---- what is said ---- */

static void refuse(struct proxy *p, const char *token, int code, const char *text)
{
	OWNED(str) struct str json = { 0 };

	acp_message_add_error(&json, token, code, text);
	channel_say(&p->to_agent, &json);
}

/* Chooses one of the options that the agent offers; NULL: none. */
static void select_option(struct proxy *p, const struct question *q,
                          const struct acp_option *option)
{
	OWNED(str) struct str outcome = { 0 };
	OWNED(str) struct str json = { 0 };

	acp_inquiry_add_outcome(&outcome, option);
	acp_message_add_result(&json, q->token, outcome.bytes);
	channel_say(&p->to_agent, &json);
}

/* ---- the front ---- */

/* A yes approves what it would do to the files as they are when somebody is asked. */
static void renew_grants(struct question *q)
{
	grants_clear(&q->grants);
	if (q->kind == ENVELOPE_PERMISSION && !q->subject.must_choose)
		grant_add(&q->grants, &q->subject.ask, q->content, q->folder);
}

/* Which answer of the editor's it is. */
static void add_choice(const struct question *q, struct str *json)
{
	if (!q->chosen)
		return;
	if (q->chosen->kind == ACP_ALLOW_ALWAYS || q->chosen->kind == ACP_REJECT_ALWAYS)
		json_member_bool(json, "always", true);
	if (q->subject.must_choose || q->chosen->kind == ACP_OPTION_OTHER)
		json_member(json, "chosen", q->chosen->name);
}

/* What the agent was told while no front was there. */
static void add_told(const struct question *q, struct str *json)
{
	static const char *const VERDICTS[] = { [ANSWER_NONE] = "refuse",
		                                [ANSWER_YES] = "approve",
		                                [ANSWER_NO] = "reject",
		                                [ANSWER_WITHDRAWN] = "withdraw" };

	json_member(json, "told", VERDICTS[q->answer]);
	add_choice(q, json);
}

static void ask_front(const struct proxy *p, struct question *q)
{
	OWNED(str) struct str json = { 0 };

	if (q->kind == ENVELOPE_WRITE && !q->is_over)
		q->base = grant_look(q->subject.path);
	if (!q->in_editor && !q->is_over) /* whose answer may be to the files as they were */
		renew_grants(q);
	json_object(&json);
	json_member(&json, "jsonrpc", "2.0");
	json_member_int(&json, "id", ASKED_ID);
	json_member(&json, "method", "intercom/hook");
	json_member_object(&json, "params");
	json_member(&json, "host", "acp");
	json_member(&json, "event", envelope_method(q->kind));
	json_member(&json, "helper", INSTANCE_BUILD);
	json_member_int(&json, "deadline_ms", PATIENCE_MS);
	json_member(&json, "run", p->run.text);
	json_member_bool(&json, "continues", q->session->is_loaded);
	json_member_raw(&json, "input", str_text(&q->subject.input));
	json_member(&json, "before", q->digest);
	if (q->is_over)
		add_told(q, &json);
	gate_host_add_variables(gate_host_named("acp"), &json);
	json_object_end(&json);
	json_object_end(&json);
	uplink_send(&q->link, json.bytes, json.length);
	q->is_asked = q->is_told = false;
}

/* The editor's answer goes where all answers are: there, the first one wins. */
static void tell_answer(struct question *q)
{
	static const char *const VERDICTS[] = {
		[ANSWER_NONE] = "withdraw",
		[ANSWER_YES] = "approve",
		[ANSWER_NO] = "reject",
		[ANSWER_WITHDRAWN] = "withdraw",
	};
	OWNED(str) struct str json = { 0 };

	json_object(&json);
	json_member(&json, "jsonrpc", "2.0");
	json_member_int(&json, "id", DECIDE_ID);
	json_member(&json, "method", "intercom/decide");
	json_member_object(&json, "params");
	json_member(&json, "verdict", VERDICTS[q->answer]);
	add_choice(q, &json);
	json_object_end(&json);
	json_object_end(&json);
	uplink_send(&q->link, json.bytes, json.length);
	q->is_told = true;
}

/* No front survives it, as it seems: then it is as if none were there. */
static bool is_fatal(const struct question *q)
{
	return q->losses >= PROXY_LOSSES;
}

static bool needs_front(const struct question *q)
{
	return !is_fatal(q) && (!q->is_over || q->owes);
}

/* The agent has the front's answer. */
static void finish(struct question *q)
{
	q->is_over = true;
	q->end_ms = clock_monotonic_ms();
}

/* The agent has another answer than the front's, or needs none. The front is told if a person has
 * been asked there, or may have been; where none is there, once one is. */
static void finish_alone(struct proxy *p, struct question *q, enum answer answer)
{
	bool was_asked = q->link.fd >= 0 || q->digest || q->losses;

	finish(q);
	q->answer = answer;
	q->owes = was_asked && held_lighten(p, q);
	if (q->is_asked && !q->is_told) {
		tell_answer(q);
		q->end_ms += PROXY_LINGER_MS;
	} else if (needs_front(q)) {
		hang_up(p, q); /* it would still be asked there, or heard the editor's answer */
		q->end_ms = INT64_MAX;
	}
}

/* ---- the one answer ---- */

/* In the editor's words, if they are an answer to the agent's message and not to ours. */
static void forward_answer(struct proxy *p, struct question *q)
{
	if (q->shown_token)
		select_option(p, q, q->chosen);
	else
		channel_send(&p->to_agent, q->answer_line.bytes, q->answer_line.length);
}

/* A file that has changed since it was shown is asked about again. */
static bool has_changed(struct proxy *p, struct question *q)
{
	struct sha256 now;

	if (q->kind != ENVELOPE_WRITE)
		return false;
	now = grant_look(q->subject.path);
	if (strcmp(now.text, q->base.text) == 0)
		return false;
	log_info("%s has changed since it was asked about: asking again", q->subject.path);
	hang_up(p, q);
	return true;
}

static void say_yes(struct proxy *p, struct question *q)
{
	if (q->kind != ENVELOPE_PERMISSION) {
		due_send(p, q->token, q->line.bytes, q->line.length);
	} else {
		bool is_editors = !q->operators && q->answer == ANSWER_YES && q->is_first;
		const struct acp_option *o = is_editors     ? q->chosen
		                             : q->operators ? q->operators
		                                            : acp_inquiry_yes(&q->subject.ask);

		if (o && o->kind != ACP_OPTION_OTHER) /* nobody knows what that allows */
			grants_move(&q->grants, &q->session->grants);
		dialog_close(p, q);
		if (is_editors)
			forward_answer(p, q);
		else
			select_option(p, q, o);
	}
}

static void allow(struct proxy *p, struct question *q)
{
	if (has_changed(p, q))
		return;
	say_yes(p, q);
	finish(q);
}

static bool is_no(const struct acp_option *o)
{
	return o && (o->kind == ACP_REJECT_ONCE || o->kind == ACP_REJECT_ALWAYS);
}

static void say_no(struct proxy *p, struct question *q, const char *reason)
{
	if (q->kind != ENVELOPE_PERMISSION) {
		refuse(p, q->token, PROXY_REJECTED, reason && *reason ? reason : "rejected");
	} else {
		if (reason && *reason && !q->is_first) /* an option has no place for it */
			log_warn("denied: %s", reason);
		dialog_close(p, q);
		if (is_no(q->operators))
			select_option(p, q, q->operators);
		else if (q->answer == ANSWER_NO && q->is_first)
			forward_answer(p, q);
		else
			select_option(p, q, acp_inquiry_no(&q->subject.ask));
	}
}

static void deny(struct proxy *p, struct question *q, const char *reason)
{
	say_no(p, q, reason);
	finish(q);
}

/* Without a front: the editor can say what is to happen, of what it shows. */
static void leave_to_editor(struct proxy *p, struct question *q, const char *why)
{
	if (q->kind != ENVELOPE_PERMISSION || p->when_down == IF_DOWN_DENY) {
		say_no(p, q, why);
		finish_alone(p, q, ANSWER_NONE);
		return;
	}
	log_warn("left to the editor alone: %s", why);
	q->is_first = !q->is_second;
	if (q->answer == ANSWER_YES && q->is_first)
		say_yes(p, q);
	else
		say_no(p, q, NULL);
	finish_alone(p, q, q->is_first ? q->answer : ANSWER_NONE);
}

/* Its turn was cancelled. */
static void cancel(struct proxy *p, struct question *q)
{
	dialog_close(p, q);
	if (q->kind == ENVELOPE_PERMISSION)
		select_option(p, q, NULL);
	else
		refuse(p, q->token, ACP_CANCELLED, "the turn was cancelled");
	finish_alone(p, q, ANSWER_WITHDRAWN);
}

/* ---- what the front says ---- */

/* A front that answers is there: whatever it answers, nobody has approved anything. */
static void deny_unasked(struct proxy *p, struct question *q, const char *text)
{
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "agent-intercom could not ask: %s", text);
	deny(p, q, why.bytes);
}

static void ask_again(struct proxy *p, struct question *q)
{
	if (q->is_cancelled) {
		cancel(p, q);
		return;
	}
	if (q->answer != ANSWER_NO) /* which is one to what is asked next, if that is the same */
		dialog_forget(p, q);
	q->is_second = false;
	hang_up(p, q);
}

static void take_decision(struct proxy *p, struct question *q, const cJSON *result)
{
	const char *decision = json_text(result, "decision"), *reason = json_text(result, "reason");
	const char *choice = json_text(result, "choice");

	q->operators = choice ? acp_inquiry_option(&q->subject.ask, choice) : NULL;
	if (cJSON_IsTrue(json_get(result, "again"))) {
		ask_again(p, q);
	} else if (!decision)
		deny_unasked(p, q, "its answer has no decision");
	else if (strcmp(decision, "deny") == 0)
		deny(p, q, reason);
	else if (strcmp(decision, "allow") != 0)
		deny_unasked(p, q, reason ? reason : "it has no opinion");
	else if (cJSON_HasObjectItem(result, "input"))
		deny(p, q, "approved with another content: ask again with that");
	else if (q->subject.must_choose && !q->operators &&
	         !(q->answer == ANSWER_YES && q->is_first))
		deny_unasked(p, q, "it was approved, but none of the answers was chosen");
	else
		allow(p, q);
}

/* The outcome of the editor's answer. If it counts, or came second, the decision follows. */
static void take_outcome(struct proxy *p, struct question *q, const cJSON *message)
{
	const cJSON *result = json_get(message, "result");
	const char *outcome = json_text(result, "outcome"), *why = json_text(result, "why");

	if (!outcome || strcmp(outcome, "not_found") == 0) {
		q->is_told = false;
		q->decide_ms = clock_monotonic_ms() + RETRY_MS;
	} else if (strcmp(outcome, "duplicate") == 0 || strcmp(outcome, "too_late") == 0) {
		q->is_second = true;
	} else if (strcmp(outcome, "applied") == 0) {
		q->is_first = true;
	} else {
		log_warn("the editor's answer does not count: %s", why ? why : outcome);
		q->answer = ANSWER_NONE;
		q->chosen = NULL;
		q->in_editor = q->is_told = false;
		q->editor_may_not = true;
		if (q->is_cancelled)
			cancel(p, q);
	}
}

/* Whether the editor shows something else than what a person is asked now: it may have changed
 * while no front was there, or before the first was. */
static bool is_outdated(const struct question *q, const char *digest)
{
	return q->in_editor &&
	       (q->digest ? !digest || strcmp(q->digest, digest) != 0 : !grants_stand(&q->grants));
}

static void take_asked(struct proxy *p, struct question *q, const cJSON *params)
{
	const char *digest = json_text(params, "digest");
	bool was_outdated = is_outdated(q, digest);

	xreplace(&q->digest, digest);
	q->is_asked = true;
	q->losses = 0;
	if (was_outdated && q->is_cancelled) {
		cancel(p, q);
		return;
	}
	if (was_outdated) {
		dialog_forget(p, q);
		renew_grants(q);
	}
	q->editor_may_not = cJSON_IsFalse(json_get(params, "editor"));
	dialog_show(p, q);
}

/* Whether a person's answer was there before the agent's end of it. */
static bool comes_second(const cJSON *message)
{
	const char *outcome = json_text(json_get(message, "result"), "outcome");

	return outcome && (strcmp(outcome, "too_late") == 0 || strcmp(outcome, "not_found") == 0);
}

/* Of a question that is over: the front knows. (One of another build may ask all the same.) */
static void take_last(struct proxy *p, struct question *q, const cJSON *message)
{
	if (q->owes && comes_second(message)) {
		hang_up(p, q); /* on the next line it hears what the agent was told */
		q->end_ms = INT64_MAX;
		return;
	}
	if (!json_says(message, "method", "intercom/asked")) {
		q->owes = false;
		q->end_ms = 0;
		return;
	}
	q->is_asked = true;
	tell_answer(q);
	q->end_ms = clock_monotonic_ms() + PROXY_LINGER_MS;
}

static void take_message(struct proxy *p, struct question *q, const cJSON *message)
{
	const cJSON *id = json_get(message, "id");
	const cJSON *error = json_get(message, "error");
	const char *text = json_text(error, "message");
	const char *method = json_text(message, "method");

	if (q->is_over) {
		take_last(p, q, message);
	} else if (cJSON_IsNumber(id) && id->valueint == DECIDE_ID) {
		take_outcome(p, q, message);
	} else if (method && strcmp(method, "intercom/asked") == 0) {
		take_asked(p, q, json_get(message, "params"));
	} else if (error) { /* its id may be missing: it was not read */
		deny_unasked(p, q, text ? text : "no reason given");
	} else if (cJSON_IsNumber(id) && id->valueint == ASKED_ID) {
		take_decision(p, q, json_get(message, "result"));
	}
}

struct hearing {
	struct proxy *proxy;
	struct question *question;
};

static bool take_line(void *arg, const char *line, size_t length)
{
	const struct hearing *h = arg;
	OWNED(cJSON_ptr) cJSON *message = line ? cJSON_ParseWithLength(line, length) : NULL;

	if (cJSON_IsObject(message))
		take_message(h->proxy, h->question, message);
	else if (!h->question->is_over)
		deny_unasked(h->proxy, h->question, "its answer is not understood");
	return h->question->link.fd >= 0;
}

/* ---- beginning ---- */

/* What a permission's call is, as far as the agent has told, and what the request adds to that. */
static const struct acp_tool_call *call_of(struct session *s, const cJSON *params)
{
	const cJSON *call = acp_inquiry_call(params);
	bool is_new;

	return call ? acp_tool_call_merge(&s->calls, call, false, &is_new) : NULL;
}

/* What was approved when the agent asked for permission is not asked about again. */
static bool is_granted(const struct question *q, const cJSON *params)
{
	struct grants *g = &q->session->grants;
	const struct acp_inquiry *ask = &q->subject.ask;
	const char *content = json_text(params, "content");

	if (ask->is_unclear)
		return false;
	if (q->kind == ENVELOPE_WRITE)
		return grant_take_write(g, q->subject.path, content, strlen(content));
	return q->kind == ENVELOPE_TERMINAL && ask->command.length &&
	       grant_take_command(g, ask->command.bytes, ask->cwd, q->session->folder);
}

static void pass(struct proxy *p, struct question *q)
{
	due_send(p, q->token, q->line.bytes, q->line.length);
	held_drop(p, q);
}

static void begin(struct proxy *p, enum envelope_kind kind, const char *line, size_t length,
                  const struct json_peek *peek, const cJSON *root)
{
	const cJSON *params = json_get(root, "params");
	struct session *s = session_opened(p, json_text(params, "sessionId"));
	const struct acp_tool_call *call;
	struct question *q;
	struct err e = { 0 };

	if (!s) {
		refuse(p, peek->id, ACP_INVALID_PARAMS, "its editor has opened no such session");
		return;
	}
	call = kind == ENVELOPE_PERMISSION ? call_of(s, params) : NULL;
	q = held_add(p, kind, s, line, length, peek->id);
	if (subject_read(&q->subject, kind, root, call, s->id, s->folder, &e)) {
		refuse(p, q->token, ACP_INVALID_PARAMS, e.text);
		held_drop(p, q);
	} else if (kind != ENVELOPE_PERMISSION) {
		if (is_granted(q, params))
			pass(p, q);
	} else if (call) { /* of which the agent may say something else later */
		q->content = cJSON_Duplicate(json_get(call->fields, "content"), true);
	}
}

void question_begin(struct proxy *p, enum envelope_kind kind, const char *line, size_t length,
                    const struct json_peek *peek)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	struct err e = { 0 };

	if (held_find(p, peek->id)) {
		log_warn("the agent uses the id %s twice: its second request is dropped", peek->id);
		return;
	}
	if (dialog_is_late(p, peek->id)) {
		refuse(p, peek->id, ACP_INTERNAL_ERROR,
		       "the id was used already, and the editor has not answered that yet");
		return;
	}
	if (p->question_count >= PROXY_QUESTIONS) {
		refuse(p, peek->id, ACP_INTERNAL_ERROR, "too many questions wait for an answer");
		return;
	}
	root = envelope_read(line, length, &e);
	if (root)
		begin(p, kind, line, length, peek, root);
	else
		refuse(p, peek->id, ACP_INVALID_PARAMS, e.text);
}

/* ---- the editor's answer ---- */

static void take_answer(struct proxy *p, struct question *q, const char *line, size_t length)
{
	struct err e = { 0 };
	int got = dialog_read(q, line, length, &e);

	q->is_unclear = got < 0;
	if (got < 0) {
		log_warn("an answer of the editor is not passed on: %s", e.text);
		if (q->is_cancelled)
			cancel(p, q);
		return;
	}
	if (q->answer != ANSWER_WITHDRAWN)
		return;
	if (got > 0)
		select_option(p, q, NULL);
	else
		forward_answer(p, q);
	finish_alone(p, q, ANSWER_WITHDRAWN);
}

bool question_take_answer(struct proxy *p, const char *line, size_t length,
                          const struct json_peek *peek)
{
	struct question *q = held_find_shown(p, peek->id);

	if (q && q->in_editor && q->answer == ANSWER_NONE) {
		take_answer(p, q, line, length);
		return true;
	}
	if (q)
		return true; /* twice, or unasked */
	return dialog_take_late(p, peek->id);
}

/* ---- giving up ---- */

/* The editor answers itself what it shows, and has not answered unclearly. */
void question_cancel_session(struct proxy *p, const cJSON *params)
{
	const char *id = json_text(params, "sessionId");
	struct question *q;

	TAILQ_FOREACH (q, &p->questions, next) {
		if (q->is_over || !id || strcmp(q->session->id, id) != 0)
			continue;
		q->is_cancelled = true;
		if (!q->in_editor || q->is_unclear)
			cancel(p, q);
	}
}

bool question_cancel(struct proxy *p, const cJSON *params)
{
	const cJSON *id = json_get(params, "requestId");
	OWNED(str) struct str token = { 0 };
	struct question *q;

	if (!id)
		return false;
	json_add_id(&token, id);
	q = held_find(p, str_text(&token));
	if (!q)
		return false;
	dialog_close(p, q); /* a yes that comes nonetheless is one to nothing */
	refuse(p, q->token, ACP_CANCELLED, "cancelled");
	finish_alone(p, q, ANSWER_WITHDRAWN);
	return true;
}

/* ---- the loop's side ---- */

size_t question_watch(struct proxy *p, struct pollfd *fds)
{
	struct question *q;
	size_t n = 0;

	TAILQ_FOREACH (q, &p->questions, next) {
		fds[n].fd = q->link.fd;
		fds[n].events = (short)(POLLIN | (q->link.out.length ? POLLOUT : 0));
		fds[n].revents = 0;
		n++;
	}
	return n;
}

static void serve(struct proxy *p, struct question *q, short revents)
{
	struct hearing h = { .proxy = p, .question = q };
	bool lost = false;

	if (revents & POLLOUT)
		lost = uplink_write(&q->link) != 0;
	if (!lost && (revents & (POLLIN | POLLHUP | POLLERR)))
		lost = q->link.fd >= 0 && uplink_read(&q->link, &p->system, take_line, &h) != 0;
	if (!lost)
		return;
	if (q->link.greeted && !q->is_asked)
		q->losses++;
	hang_up(p, q);
	if (q->is_over)
		q->end_ms = needs_front(q) ? INT64_MAX : 0;
}

/* fds are those of question_watch: questions that came since are behind them. */
void question_serve(struct proxy *p, const struct pollfd *fds, size_t count)
{
	struct question *q = TAILQ_FIRST(&p->questions);

	for (size_t i = 0; i < count && q; i++, q = TAILQ_NEXT(q, next))
		if (fds[i].fd >= 0 && fds[i].fd == q->link.fd && fds[i].revents)
			serve(p, q, fds[i].revents);
}

/* When the editor's answer stands, as nobody is there to say which was the first. */
static int64_t alone_at(const struct question *q)
{
	if (q->answer == ANSWER_NONE || q->link.greeted)
		return INT64_MAX;
	return q->answered_ms + (is_fatal(q) ? 0 : UPLINK_DOWN_MS);
}

static void tick_down(struct proxy *p, struct question *q, int64_t now)
{
	const char *refusal = str_text(&p->system.refusal);
	bool waits = q->kind == ENVELOPE_PERMISSION && p->when_down == IF_DOWN_EDITOR &&
	             q->answer == ANSWER_NONE && !(is_fatal(q) && q->editor_may_not);

	if (now >= alone_at(q) ||
	    (!waits && q->link.fd < 0 && (is_fatal(q) || uplink_system_is_down(&p->system, now))))
		leave_to_editor(p, q,
		                *refusal      ? refusal
		                : is_fatal(q) ? "agent-intercom fails whenever it is asked this"
		                              : "agent-intercom cannot be reached");
}

/* When the editor shows it, as no front is there to say whether it may. */
static int64_t shown_at(const struct proxy *p, const struct question *q)
{
	return q->in_editor || q->editor_may_not || q->kind != ENVELOPE_PERMISSION ||
	               p->when_down != IF_DOWN_EDITOR || q->link.greeted
	           ? INT64_MAX
	           : q->show_ms;
}

static void tick(struct proxy *p, struct question *q, int64_t now)
{
	if (needs_front(q) && uplink_open(&q->link, &p->system, !q->is_over, now))
		ask_front(p, q);
	if (q->is_over)
		return;
	if (now >= shown_at(p, q)) {
		renew_grants(q);
		dialog_show(p, q);
	}
	if (q->answer != ANSWER_NONE && q->is_asked && !q->is_told && now >= q->decide_ms)
		tell_answer(q);
	tick_down(p, q, now);
}

static int64_t due_of(const struct proxy *p, const struct question *q)
{
	int64_t due = q->is_over ? q->end_ms : shown_at(p, q);

	if (needs_front(q) && uplink_may_open(&q->link, &p->system) && p->system.try_ms < due)
		due = p->system.try_ms;
	if (q->is_over)
		return due;
	if (alone_at(q) < due)
		due = alone_at(q);
	if (q->answer != ANSWER_NONE && !q->is_told && q->is_asked && q->decide_ms < due)
		due = q->decide_ms;
	return due;
}

int64_t question_tick(struct proxy *p, int64_t now)
{
	struct question *q, *next;
	int64_t due = INT64_MAX;

	for (q = TAILQ_FIRST(&p->questions); q; q = next) {
		next = TAILQ_NEXT(q, next);
		tick(p, q, now);
		if (q->is_over && now >= q->end_ms && needs_front(q)) {
			hang_up(p, q); /* that one hangs: the next is told */
			q->end_ms = INT64_MAX;
		}
		if (q->is_over && now >= q->end_ms) {
			held_drop(p, q);
			continue;
		}
		if (due_of(p, q) < due)
			due = due_of(p, q);
	}
	return due;
}

void question_end_all(struct proxy *p)
{
	struct question *q;

	TAILQ_FOREACH (q, &p->questions, next)
		if (!q->is_over)
			finish_alone(p, q, ANSWER_WITHDRAWN);
}

bool question_is_quiet(const struct proxy *p)
{
	return TAILQ_EMPTY(&p->questions);
}

void question_clear_all(struct proxy *p)
{
	while (!TAILQ_EMPTY(&p->questions))
		held_drop(p, TAILQ_FIRST(&p->questions));
	dialog_clear_lates(p);
}
