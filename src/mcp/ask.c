#include "ask.h"

#include "departed.h"
#include "elicit.h"
#include "json.h"
#include "json_writer.h"
#include "result.h"
#include "sql/request.h"
#include "sql/slack_outbox.h"
#include "visible.h"

#include <string.h>

int64_t ask_number(const struct call *c, const char *name)
{
	double number;

	return json_number(cJSON_GetObjectItemCaseSensitive(c->arguments, name), &number)
	           ? (int64_t)number
	           : -1;
}

/* Shows a command with its invisible blanks marked, if it has any. */
static void mark_blanks(struct str *shown, struct question *q)
{
	visible_add_command(shown, q->body, q->body_length);
	if (shown->length == q->body_length)
		return;
	q->effect = shown->bytes;
	q->effect_length = shown->length;
}

static void make_question(const struct call *c, const struct call_settings *settings,
                          struct str *title, struct str *shown, struct question *q)
{
	*q = (struct question){ .digest = c->digest.text,
		                .elapsed_seconds = -1,
		                .actions_taken = -1 };
	c->tool->question(c, settings, q);
	q->body_length = strlen(q->body);
	if (q->kind == REQUEST_KIND_PERMISSION && !q->effect)
		mark_blanks(shown, q);
	if (!q->title) {
		visible_add_first_line(title, q->effect ? q->effect : q->body, ASK_TITLE_BYTES);
		q->title = str_text(title);
	}
}

/* ---- immediate answers ---- */

/* The workspace's policy allows it: that is the decision. */
static int decide_by_policy(struct store *st, struct call *c, const struct peer *p,
                            const struct question *q, struct err *e)
{
	int approved =
	    policy_gate_approve(st, &c->policy, p->session_seq, c->request_seq,
	                        q->kind == REQUEST_KIND_PROMPT ? "continue" : "approve",
	                        c->digest.text, q->file_path ? q->file_path : q->body, e);

	c->waiting = approved == 0;
	return approved < 0 ? -1 : 0;
}

static void show_to_client(struct call *c, const struct request *r, const char *why)
{
	json_object(&c->elicitation);
	json_member_object(&c->elicitation, r->row.id);
	json_member(&c->elicitation, "method", "elicitation/create");
	json_member_name(&c->elicitation, "params");
	elicit_params(&c->elicitation, r, true, why);
	json_object_end(&c->elicitation);
	json_object_end(&c->elicitation);
}

/* Has a modern client show an open request to its user: the client calls again with the answer, or
 * without one, and then the call waits for somebody else's answer. The key is the request's id: an
 * answer to another request, or about an earlier version of the file, does not count. */
static int elicit(struct store *st, struct call *c, int64_t request, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(str) struct str why = { 0 };
	const cJSON *response;
	const char *action;
	bool decided = false;
	int got = request_read(st, request, &r, e);

	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "a call's request without a row");
	if (r.row.session_mode == SESSION_MODE_REMOTE)
		return 0;
	response = cJSON_GetObjectItemCaseSensitive(c->responses, r.row.id);
	action = json_text(response, "action");
	if (action && elicit_take(st, &r, response, &decided, &why, e))
		return -1;
	if (!decided && (!action || strcmp(action, "accept") == 0))
		show_to_client(c, &r, str_text(&why));
	c->waiting = !decided && !c->elicitation.length;
	return 0;
}

/* ---- asking ---- */

/* The answer existed already. */
static int repeat_answer(struct store *st, struct call *c, struct err *e)
{
	OWNED(telling) struct telling t = { 0 };

	if (ask_result(st, c->request_seq, c->tool->answer, &t, e))
		return -1;
	str_add(&c->result, str_text(&t.result));
	c->is_error = t.is_error;
	c->is_answer = t.is_answer;
	return 0;
}

/* If Slack has refused the question before. */
static int post_again(struct store *st, int64_t request, struct err *e)
{
	int refused = sql_slack_ask_is_refused(st, request, e);

	return refused > 0 ? sql_slack_ask_again(st, request, e) : refused;
}

/* A question that is open or answered already records nothing more; a new one may be too much.
 * is_low: the disk is nearly full. 0 it may be asked, 1 it may not: that is the result of c, -1. */
static int refuse_new(struct store *st, struct call *c, const struct question *q,
                      const struct peer *p, const struct call_settings *settings, bool is_low,
                      struct err *e)
{
	int64_t open = p->has_user ? sql_request_open_of_user(st, &p->uid, e) : 0;
	char why[ERR_TEXT_BYTES];

	if (open < 0)
		return -1;
	c->waiting = false;
	if (p->has_user && open >= settings->user_questions)
		result_refuse(
		    c, "too_many_questions",
		    "%lld questions of your user's agents are open, as many as one user may "
		    "have here (shared.open_questions); ask again when some are answered",
		    (long long)settings->user_questions);
	else if (is_low)
		result_refuse(
		    c, "disk_full",
		    "less than 64 MiB are free on the database's disk: no new questions are "
		    "taken; free some space and ask again");
	else if (settings->may_record &&
	         !settings->may_record(settings->front, p, q->effect_length, why, sizeof(why)))
		result_refuse(c, "too_much_recorded", "%s", why);
	else
		c->waiting = true;
	return !c->waiting;
}

int ask_run(struct store *st, struct call *c, const struct peer *p,
            const struct call_settings *settings, struct err *e)
{
	const struct asker who = { .session_seq = p->session_seq,
		                   .machine = settings->workspaces.machine,
		                   .workspace_root = p->workspace_root,
		                   .label = p->identity.agent,
		                   .connection_seq = p->seq };
	OWNED(str) struct str title = { 0 }, shown = { 0 };
	struct question q;
	int64_t free_bytes = store_free_bytes(settings->db_path);
	bool is_low = free_bytes >= 0 && free_bytes < STORE_MIN_FREE_BYTES;

	make_question(c, settings, &title, &shown, &q);
	q.only_again = p->has_user || is_low;
	c->timeout_ms = q.timeout_ms;
	if (departed_of_question(st, q.digest, p->seq, e))
		return -1;
	c->request_seq = request_ask(st, &who, &q, &c->waiting, e);
	if (c->request_seq == 0) {
		int refused = refuse_new(st, c, &q, p, settings, is_low, e);

		if (refused)
			return refused < 0 ? -1 : 0;
		q.only_again = false;
		c->request_seq = request_ask(st, &who, &q, &c->waiting, e);
	}
	if (c->request_seq < 0)
		return -1;
	if (c->waiting && c->policy.allowed && decide_by_policy(st, c, p, &q, e))
		return -1;
	if (c->waiting && c->elicits && elicit(st, c, c->request_seq, e))
		return -1;
	return c->waiting ? post_again(st, c->request_seq, e) : repeat_answer(st, c, e);
}

/* ---- the result ---- */

/* Slack cannot display the question in any form: a caller would wait indefinitely without anyone
 * seeing it. 1 reported, 0 Slack did not refuse it, -1 error. */
static int refused_result(struct store *st, int64_t request, const char *id, struct str *out,
                          struct err *e)
{
	OWNED(slack_refusal_row) struct slack_refusal_row row = { 0 };
	OWNED(str) struct str text = { 0 };
	int got = sql_slack_refusal(st, request, &row, e);

	if (got <= 0)
		return got;
	str_addf(&text,
	         "slack refused: %.200s; the question stays open, the operator sees it "
	         "with `agent-intercom-ctl show %s`; call this tool again with exactly the "
	         "same arguments to have Slack asked once more",
	         row.why, id);
	result_error(out, "slack_refused", str_text(&text));
	return 1;
}

int ask_result(struct store *st, int64_t request_seq,
               void (*add_members)(struct str *out, const struct request *r), struct telling *t,
               struct err *e)
{
	OWNED(request) struct request r = { 0 };
	int found = request_read_answer(st, request_seq, &r, e);

	if (found <= 0)
		return found < 0
		           ? -1
		           : err_set(e, ERR_BUG, "request %lld is gone", (long long)request_seq);
	found = request_is_open(r.row.state)
	            ? refused_result(st, request_seq, r.row.id, &t->result, e)
	            : 0;
	t->is_error = found > 0;
	if (found)
		return found < 0 ? -1 : 0;
	json_object(&t->result);
	add_members(&t->result, &r);
	json_object_end(&t->result);
	t->is_answer = !request_is_open(r.row.state);
	return 0;
}

int ask_outdate(struct store *st, int64_t request_seq, const char *why, struct err *e)
{
	struct request_outdated_row q = { 0 };
	int got = sql_request_outdated(st, request_seq, &q, e);

	if (got <= 0)
		return got;
	if (q.state == REQUEST_STATE_REJECTED)
		return steering_repeat(st, request_seq, e);
	if (q.state == REQUEST_STATE_APPROVED)
		return err_if(sql_request_delivered(st, request_seq, e));
	return err_if(sql_request_revive(st, NULL, request_seq, e) ||
	              sql_request_outdate(st, request_seq, e) ||
	              sql_request_settle_withdrawn(st, why, request_seq, e) ||
	              sql_request_withdrawn(st, request_seq, e));
}
