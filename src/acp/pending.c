#include "pending.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

/* ---- those that wait ---- */

static struct acp_inquiry *find(const struct acp *a, const char *id)
{
	struct acp_inquiry *ask = a->asks;

	while (ask && strcmp(ask->id, id) != 0)
		ask = ask->next;
	return ask;
}

const struct acp_inquiry *acp_find(const struct acp *a, const char *id)
{
	return find(a, id);
}

bool acp_works(const struct acp *a, const char *answered)
{
	const struct acp_inquiry *open = a->asks;

	if (open && answered && strcmp(open->id, answered) == 0)
		open = open->next;
	return !open && a->step == ACP_STEP_OPEN && (a->turn_open || a->how.dialect == ACP_STREAM);
}

static void discard(struct acp_inquiry *ask)
{
	acp_inquiry_clear(ask);
	free(ask);
}

static void take_out(struct acp *a, struct acp_inquiry *ask)
{
	struct acp_inquiry **at = &a->asks;

	while (*at != ask)
		at = &(*at)->next;
	*at = ask->next;
}

static void told_withdrawn(struct acp *a, struct acp_inquiry *ask, const char *why)
{
	take_out(a, ask);
	acp_tell(&a->sink,
	         &(struct acp_event){ .kind = ACP_WITHDRAWN, .id = ask->id, .text = why });
	discard(ask);
}

/* ---- answers on the wire ---- */

static void select_option(struct acp *a, const struct acp_inquiry *ask,
                          const struct acp_option *option)
{
	OWNED(str) struct str result = { 0 };

	acp_inquiry_add_outcome(&result, option);
	acp_talk_result(a, ask->id, result.bytes);
}

static void answer_form(struct acp *a, const struct acp_inquiry *ask, const char *action,
                        const char *content)
{
	OWNED(str) struct str result = { 0 };

	json_object(&result);
	json_member(&result, "action", action);
	if (content)
		json_member_raw(&result, "content", content);
	json_object_end(&result);
	acp_talk_result(a, ask->id, result.bytes);
}

static void answer_stream(struct acp *a, const struct acp_inquiry *ask, const char *said,
                          const char *words)
{
	OWNED(str) struct str json = { 0 };

	if (ask->kind == ACP_INQUIRY_PROMPT)
		acp_stream_add_decision(&json, ask->id, said, words);
	else
		acp_stream_add_clearance(&json, ask->id, said, words);
	acp_talk_send(a, json.bytes);
}

static void withdraw(struct acp *a, struct acp_inquiry *ask, const char *why)
{
	if (a->how.dialect == ACP_STREAM)
		answer_stream(a, ask, ask->kind == ACP_INQUIRY_PROMPT ? "stop" : "rejected", why);
	else if (ask->kind == ACP_INQUIRY_FORM)
		answer_form(a, ask, "cancel", NULL);
	else
		select_option(a, ask, NULL);
	told_withdrawn(a, ask, why);
}

void acp_pending_withdraw_all(struct acp *a, const char *why)
{
	while (a->asks)
		withdraw(a, a->asks, why);
}

void acp_pending_lose_all(struct acp *a, const char *why)
{
	while (a->asks)
		told_withdrawn(a, a->asks, why);
}

/* ---- they come ---- */

void acp_pending_add(struct acp *a, struct acp_inquiry *ask)
{
	struct acp_inquiry **end = &a->asks, *before = NULL;

	if (find(a, ask->id)) {
		acp_tell_note(&a->sink, ACP_WARN,
		              "question %s: this id waits for its answer already", ask->id);
		discard(ask);
		return;
	}
	for (struct acp_inquiry *other = a->asks; other && ask->tool_call_id; other = other->next)
		if (other->tool_call_id && strcmp(other->tool_call_id, ask->tool_call_id) == 0)
			before = other;
	if (before)
		withdraw(a, before, "the agent asked again");
	while (*end)
		end = &(*end)->next;
	*end = ask;
	acp_gather_flush(&a->told.gather, &a->sink);
	acp_tell(&a->sink, &(struct acp_event){ .kind = ACP_ASKED, .id = ask->id, .ask = ask });
}

/* Whether a request can be shown; it is answered if not. */
static bool may_ask(struct acp *a, const struct acp_message *m)
{
	const char *why = m->peek.has_nul                   ? "a text contains a NUL"
	                  : acp_talk_is_other(a, m->params) ? "no such session is open"
	                                                    : NULL;

	if (why)
		acp_talk_error(a, m->id, ACP_INVALID_PARAMS, why);
	return !why;
}

static void take(struct acp *a, const struct acp_message *m, struct acp_inquiry *ask, int failed,
                 const struct err *e)
{
	ask->id = xstrdup(m->id);
	if (failed) {
		acp_talk_error(a, m->id, ACP_INVALID_PARAMS, e->text);
		discard(ask);
	} else if (a->cancelled) {
		if (ask->kind == ACP_INQUIRY_FORM)
			answer_form(a, ask, "cancel", NULL);
		else
			select_option(a, ask, NULL);
		discard(ask);
	} else {
		acp_pending_add(a, ask);
	}
}

void acp_pending_take_permission(struct acp *a, const struct acp_message *m)
{
	struct err e = { 0 };
	struct acp_tool_call *call;
	struct acp_inquiry *ask;
	bool is_new;
	int failed;

	if (!may_ask(a, m))
		return;
	call = acp_tool_call_merge(&a->told.tools, acp_inquiry_call(m->params),
	                           a->agent.version == 2, &is_new);
	ask = xcalloc(1, sizeof(*ask));
	failed = acp_inquiry_permission(ask, m->params, call, a->how.root, &e);
	take(a, m, ask, failed, &e);
}

void acp_pending_take_form(struct acp *a, const struct acp_message *m)
{
	struct err e = { 0 };
	struct acp_inquiry *ask;
	int failed;

	if (!may_ask(a, m))
		return;
	ask = xcalloc(1, sizeof(*ask));
	failed = acp_inquiry_form(ask, m->params, &e);
	take(a, m, ask, failed, &e);
}

/* The same id, however both are spelt. */
static bool is_same_id(const char *token, const cJSON *id)
{
	OWNED(str) struct str one = { 0 }, other = { 0 };

	json_add_id_token(&one, token);
	json_add_id(&other, id);
	return strcmp(str_text(&one), str_text(&other)) == 0;
}

void acp_pending_take_cancel(struct acp *a, const cJSON *params)
{
	const cJSON *id = json_get(params, "requestId");

	for (struct acp_inquiry *ask = a->asks; ask; ask = ask->next)
		if (is_same_id(ask->id, id)) {
			withdraw(a, ask, "the agent withdrew the question");
			return;
		}
}

/* ---- they are answered ---- */

static int answer_permission(struct acp *a, const struct acp_inquiry *ask,
                             const struct acp_answer *answer, struct err *e)
{
	const struct acp_option *option = NULL;

	if (answer->verdict == ACP_YES)
		option = acp_inquiry_yes(ask);
	else if (answer->verdict == ACP_OPTION)
		option = acp_inquiry_option(ask, answer->option);
	else
		option = acp_inquiry_no(ask);
	if (!option && (answer->verdict == ACP_YES || answer->verdict == ACP_OPTION))
		return err_set(e, ERR_INPUT, "the agent offers no %s",
		               answer->verdict == ACP_YES ? "option that allows this once"
		                                          : "such option");
	select_option(a, ask, option);
	return 1;
}

static int answer_fields(struct acp *a, const struct acp_inquiry *ask,
                         const struct acp_answer *answer, struct err *e)
{
	if (answer->verdict == ACP_YES && !answer->content)
		return err_set(e, ERR_INPUT, "the form is not filled in");
	answer_form(a, ask,
	            answer->verdict == ACP_YES  ? "accept"
	            : answer->verdict == ACP_NO ? "decline"
	                                        : "cancel",
	            answer->verdict == ACP_YES ? answer->content : NULL);
	return 1;
}

static int answer_line(struct acp *a, const struct acp_inquiry *ask,
                       const struct acp_answer *answer)
{
	static const char *const STATUSES[] = {
		[ACP_YES] = "approved",
		[ACP_NO] = "rejected",
		[ACP_OPTION] = "rejected",
		[ACP_NONE] = "timeout",
	};

	answer_stream(
	    a, ask, ask->kind == ACP_INQUIRY_PROMPT ? answer->decision : STATUSES[answer->verdict],
	    answer->reason);
	return 1;
}

int acp_answer(struct acp *a, const char *id, const struct acp_answer *answer, struct err *e)
{
	struct acp_inquiry *ask = find(a, id);
	int sent;

	if (!ask || a->step == ACP_STEP_OVER)
		return 0;
	if (a->how.dialect == ACP_STREAM)
		sent = answer_line(a, ask, answer);
	else if (ask->kind == ACP_INQUIRY_FORM)
		sent = answer_fields(a, ask, answer, e);
	else
		sent = answer_permission(a, ask, answer, e);
	if (sent > 0) {
		take_out(a, ask);
		discard(ask);
	}
	return sent;
}
