/* From rows to messages: the text of an intent is read when it is sent, not when it was queued. */
#include "alias.h"
#include "content.h"
#include "diff.h"
#include "json.h"
#include "look.h"
#include "modal.h"
#include "notice.h"
#include "poster.h"
#include "question.h"
#include "sql/apply.h"
#include "sql/auto_approval.h"
#include "sql/file_look.h"
#include "sql/slack_envelope.h"
#include "turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCKS_MAX = 45,
	SNIPPET_BYTES = 1000000, /* the largest file that Slack takes as a snippet */
	FILE_BYTES = 64 << 20, /* the largest file that we upload whole */
};

/* Returns got, or an error if it is 0. */
static int there(int got, const char *what, struct err *e)
{
	return got == 0 ? err_set(e, ERR_INPUT, "%s no longer exists", what) : got;
}

/* ---- questions ---- */

struct names {
	char *name[OPERATORS_MAX + 1]; /* NULL at the end */
};

static void names_clear(struct names *n)
{
	for (size_t i = 0; n->name[i]; i++)
		free(n->name[i]);
}

static int read_operators(struct poster *p, struct names *n, struct err *e)
{
	OWNED(slack_operators_row) struct slack_operators_row row = { 0 };
	size_t count = 0;
	int got;

	sql_slack_operators(&p->w.store, &row);
	while ((got = row_next(&row.row, e)) > 0 && count < OPERATORS_MAX)
		n->name[count++] = xstrdup(row.user_id);
	return got < 0 ? -1 : 0;
}

static int read_request(struct poster *p, const struct slack_intent_row *i, struct request *r,
                        struct err *e)
{
	return there(request_read(&p->w.store, i->request_seq, r, e), "the question", e);
}

static int read_told(struct poster *p, int64_t request_seq, struct str *out, struct err *e)
{
	OWNED(slack_also_told_row) struct slack_also_told_row row = { 0 };
	int got;

	sql_slack_also_told(&p->w.store, request_seq, &row);
	while ((got = row_next(&row.row, e)) > 0)
		slack_question_add_told(out, row.words, row.by);
	return got;
}

static int render_ask(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                      struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(names) struct names operators = { .name = { NULL } };
	OWNED(str) struct str told = { 0 };
	struct slack_ask a = { .request = &r,
		               .mentions = (const char *const *)operators.name,
		               .diff_above = i->root_seq != 0 };

	if (slack_file_find(&p->w.store, i->request_seq, &a.diff, e) ||
	    read_request(p, i, &r, e) < 0 || read_operators(p, &operators, e) ||
	    read_told(p, i->request_seq, &told, e))
		return -1;
	a.told = told.bytes;
	switch (i->form) {
	case SLACK_OUTBOX_FORM_LINE:
		slack_question_say_line(&r, out);
		break;
	case SLACK_OUTBOX_FORM_PLAIN:
		slack_question_say_plain(&r, out);
		break;
	case SLACK_OUTBOX_FORM_BLOCKS:
	case SLACK_OUTBOX_FORM_NONE:
		slack_question_say(&a, out);
		break;
	}
	return 0;
}

static int render_expired(struct poster *p, const struct slack_intent_row *i,
                          struct slack_said *out, struct err *e)
{
	OWNED(request) struct request r = { 0 };

	if (read_request(p, i, &r, e) < 0)
		return -1;
	slack_question_say_expired(&r, out);
	return 0;
}

/* ---- sessions ---- */

static int read_session(struct poster *p, int64_t seq, struct slack_session_row *row, struct err *e)
{
	return there(sql_slack_session_read(&p->w.store, seq, row, e), "the session", e);
}

static int render_session(struct poster *p, const struct slack_intent_row *i,
                          struct slack_said *out, struct err *e)
{
	OWNED(slack_session_row) struct slack_session_row session = { 0 };

	if (read_session(p, i->session_seq, &session, e) < 0)
		return -1;
	slack_notice_session(&session, out);
	return 0;
}

static int render_ended(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                        struct err *e)
{
	OWNED(slack_session_row) struct slack_session_row session = { 0 };
	OWNED(slack_run_row) struct slack_run_row run = { 0 };
	int ours;

	if (read_session(p, i->session_seq, &session, e) < 0)
		return -1;
	ours = sql_slack_run_last(&p->w.store, i->session_seq, &run, e);
	if (ours >= 0)
		slack_notice_ended(&session, ours ? &run : NULL, out);
	return ours < 0 ? -1 : 0;
}

/* A number of what is told; 0 if it is missing. */
static int64_t number_in(const struct slack_intent_row *i, const char *name)
{
	OWNED(cJSON_ptr) cJSON *detail = cJSON_Parse(i->detail ? i->detail : "{}");

	return json_integer(detail, name);
}

static int render_run(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                      struct err *e)
{
	OWNED(slack_session_row) struct slack_session_row session = { 0 };
	OWNED(slack_run_row) struct slack_run_row run = { 0 };

	if (read_session(p, i->session_seq, &session, e) < 0 ||
	    there(sql_slack_run_read(&p->w.store, number_in(i, "run"), &run, e), "the run", e) < 0)
		return -1;
	slack_notice_run(&session, &run, out);
	return 0;
}

static int render_mode(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                       struct err *e)
{
	OWNED(slack_session_row) struct slack_session_row session = { 0 };
	OWNED(cJSON_ptr) cJSON *detail = cJSON_Parse(i->detail ? i->detail : "{}");

	if (read_session(p, i->session_seq, &session, e) < 0)
		return -1;
	const struct slack_mode mode = { .session_id = session.id,
		                         .from = session_mode_of(json_text(detail, "from")),
		                         .to = session_mode_of(json_text(detail, "to")),
		                         .by = json_text_or(detail, "by", "?"),
		                         .present = session.mode };
	slack_notice_mode(&mode, out);
	return 0;
}

/* ---- silent agents ---- */

static int render_stall(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                        struct err *e)
{
	OWNED(stall_by_id_row) struct stall_by_id_row row = { 0 };
	OWNED(names) struct names operators = { .name = { NULL } };
	OWNED(cJSON_ptr) cJSON *detail = cJSON_Parse(i->detail ? i->detail : "{}");
	OWNED(cJSON_ptr) cJSON *progress = NULL;
	int64_t nudge = json_integer(detail, "nudge");
	int got = sql_stall_by_id(&p->w.store, json_text_or(detail, "alert_id", "?"), &row, e);

	if (there(got, "the alert", e) < 0 || read_operators(p, &operators, e))
		return -1;
	progress = row.progress_snapshot ? cJSON_Parse(row.progress_snapshot) : NULL;
	const struct slack_stall stall = { .row = &row,
		                           .progress = progress,
		                           .is_call = i->part == SLACK_PART_KIND_ESCALATED };
	if (i->part == SLACK_PART_KIND_NUDGED)
		slack_notice_nudged(&stall, nudge > 0 ? nudge : 1, out);
	else
		slack_notice_stall(&stall, (const char *const *)operators.name, out);
	return 0;
}

/* ---- what a policy allowed ---- */

static int read_allowed(struct poster *p, int64_t notice, cJSON *shown, struct err *e)
{
	OWNED(auto_approval_of_notice_row) struct auto_approval_of_notice_row row = { 0 };
	int got;

	sql_auto_approval_of_notice(&p->w.store, notice, SLACK_AUTO_MAX, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		cJSON *one = cJSON_CreateObject();

		(void)cJSON_AddStringToObject(one, "subject", row.subject);
		(void)cJSON_AddStringToObject(one, "rule", row.rule);
		(void)cJSON_AddNumberToObject(one, "times", (double)row.times);
		(void)cJSON_AddItemToArray(shown, one);
	}
	return got;
}

static int render_auto(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                       struct err *e)
{
	OWNED(cJSON_ptr) cJSON *shown = cJSON_CreateArray();
	int64_t seq = number_in(i, "notice");
	struct slack_auto a = { .shown = shown,
		                .count = sql_auto_approval_count(&p->w.store, seq, e) };

	if (a.count < 0 || read_allowed(p, seq, shown, e))
		return -1;
	slack_notice_auto(&a, out);
	return 0;
}

/* ---- writes ---- */

static int read_files(struct poster *p, int64_t apply, cJSON *files, struct err *e)
{
	OWNED(file_change_list_row) struct file_change_list_row row = { 0 };
	int got;

	sql_file_change_list(&p->w.store, apply, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		cJSON *file = cJSON_CreateObject();

		(void)cJSON_AddStringToObject(file, "path", row.path);
		(void)cJSON_AddStringToObject(file, "action", file_change_action_name(row.action));
		(void)cJSON_AddNumberToObject(file, "bytes", (double)row.bytes);
		(void)cJSON_AddItemToArray(files, file);
	}
	return got;
}

static int read_overwritten(struct poster *p, int64_t apply, cJSON *files, struct err *e)
{
	OWNED(file_change_overwritten_row) struct file_change_overwritten_row row = { 0 };
	int got;

	sql_file_change_overwritten(&p->w.store, apply, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		cJSON *file;

		cJSON_ArrayForEach (file, files)
			if (json_says(file, "path", row.path))
				(void)cJSON_AddNumberToObject(file, "overwrote", (double)row.size);
	}
	return got;
}

static int render_write(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                        struct err *e)
{
	OWNED(slack_apply_row) struct slack_apply_row apply = { 0 };
	OWNED(cJSON_ptr) cJSON *files = cJSON_CreateArray();
	const struct slack_write w = { .apply = &apply, .files = files };
	int got = sql_slack_apply_read(&p->w.store, i->apply_seq, &apply, e);

	if (there(got, "the write", e) < 0 || read_files(p, i->apply_seq, files, e) ||
	    read_overwritten(p, i->apply_seq, files, e))
		return -1;
	slack_notice_write(&w, out);
	return 0;
}

/* ---- broadcasts ---- */

static int read_call(struct poster *p, int64_t call, struct str *out, struct err *e)
{
	OWNED(slack_call_read_row) struct slack_call_read_row row = { 0 };

	if (sql_slack_call_read(&p->w.store, call, &row, e) < 0)
		return -1;
	if (row.arguments)
		str_add(out, row.arguments);
	return row.arguments || !row.arguments_seq
	           ? 0
	           : content_get(&p->w.store, row.arguments_seq, out, e);
}

/* Appends one broadcast or ping to what is in out already. */
static int add_broadcast(struct poster *p, int64_t call, struct slack_said *out, struct err *e)
{
	OWNED(str) struct str arguments = { 0 };
	OWNED(slack_said) struct slack_said one = { 0 };
	const char *message;
	cJSON *json;

	if (read_call(p, call, &arguments, e))
		return -1;
	json = cJSON_ParseWithLength(str_text(&arguments), arguments.length);
	message = json_text(json, "message");
	slack_notice_broadcast(json_text(json, "level"),
	                       message ? message : json_text(json, "status_message"), &one);
	cJSON_Delete(json);
	str_addf(&out->text, "%s%s", out->text.length ? "\n" : "", str_text(&one.text));
	while (cJSON_GetArraySize(one.blocks) > 0 && cJSON_GetArraySize(out->blocks) < BLOCKS_MAX)
		(void)cJSON_AddItemToArray(out->blocks, cJSON_DetachItemFromArray(one.blocks, 0));
	return 0;
}

/* An agent may name a thread: in another session's, its words are not that one's. */
static int add_origin(struct poster *p, int64_t message, struct slack_said *out, struct err *e)
{
	OWNED(slack_said_elsewhere_row) struct slack_said_elsewhere_row row = { 0 };
	int got = sql_slack_said_elsewhere(&p->w.store, message, &row, e);

	if (got > 0)
		slack_notice_origin(&row, out);
	return got < 0 ? -1 : 0;
}

static int render_said(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                       struct err *e)
{
	OWNED(slack_outbox_led_row) struct slack_outbox_led_row row = { 0 };
	int got;

	out->blocks = cJSON_CreateArray();
	if (add_origin(p, i->message_seq, out, e) || add_broadcast(p, i->call_seq, out, e))
		return -1;
	sql_slack_outbox_led(&p->w.store, i->seq, &row);
	while ((got = row_next(&row.row, e)) > 0)
		if (add_broadcast(p, row.call_seq, out, e))
			return -1;
	return got;
}

/* ---- an agent that we started ---- */

/* Its words, or ours about it, are in a row of their own. */
static int render_agent(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                        struct err *e)
{
	OWNED(agent_line_text_row) struct agent_line_text_row line = { 0 };

	if (there(sql_agent_line_text(&p->w.store, number_in(i, "line"), &line, e),
	          "what the agent said", e) < 0)
		return -1;
	if (line.kind == AGENT_LINE_KIND_NOTE)
		slack_notice_note(&line, out);
	else
		slack_notice_agent(line.text, out);
	if (line.pauses &&
	    (line.status == SESSION_STATUS_PAUSED || line.status == SESSION_STATUS_PARKED))
		slack_notice_paused(line.session_id, out);
	return 0;
}

static int read_turn(struct poster *p, const struct slack_intent_row *i,
                     struct slack_turn_row *turn, struct err *e)
{
	return there(sql_slack_turn_read(&p->w.store, i->turn_seq, turn, e), "the turn", e);
}

/* The newest calls, and how many there are; the plan replaces *ret_plan. */
static int read_activity(struct poster *p, int64_t turn, struct slack_activity *a, cJSON *last,
                         cJSON **ret_plan, struct err *e)
{
	OWNED(agent_line_activity_row) struct agent_line_activity_row row = { 0 };
	int got;

	sql_agent_line_activity(&p->w.store, turn, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		cJSON *detail = cJSON_Parse(row.detail ? row.detail : "{}");

		if (row.kind == AGENT_LINE_KIND_PLAN) {
			cJSON_Delete(*ret_plan);
			*ret_plan = detail;
			continue;
		}
		if (row.text)
			(void)cJSON_AddStringToObject(detail, "text", row.text);
		(void)cJSON_AddItemToArray(last, detail);
		if (++a->calls > SLACK_ACTIVITY_MAX)
			cJSON_DeleteItemFromArray(last, 0);
	}
	return got;
}

static int render_activity(struct poster *p, const struct slack_intent_row *i,
                           struct slack_said *out, struct err *e)
{
	OWNED(slack_turn_row) struct slack_turn_row turn = { 0 };
	OWNED(cJSON_ptr) cJSON *last = cJSON_CreateArray();
	OWNED(cJSON_ptr) cJSON *plan = NULL;
	struct slack_activity a = { .turn = &turn, .last = last };

	if (read_turn(p, i, &turn, e) < 0 || read_activity(p, i->turn_seq, &a, last, &plan, e))
		return -1;
	a.plan = plan;
	slack_turn_activity(&a, out);
	return 0;
}

static int render_turn(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                       struct err *e)
{
	OWNED(slack_turn_row) struct slack_turn_row turn = { 0 };

	if (read_turn(p, i, &turn, e) < 0)
		return -1;
	slack_turn_end(&turn, out);
	return 0;
}

/* ---- files of a workspace ---- */

static int render_look(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                       struct err *e)
{
	OWNED(file_look_read_row) struct file_look_read_row look = { 0 };
	OWNED(str) struct str text = { 0 };

	if (there(sql_file_look_read(&p->w.store, number_in(i, "look"), &look, e), "what was found",
	          e) < 0)
		return -1;
	if (look.content_seq && !look.is_long &&
	    content_get(&p->w.store, look.content_seq, &text, e))
		return -1;
	slack_look_say(&look, &text, i->form == SLACK_OUTBOX_FORM_BLOCKS, out);
	return 0;
}

/* ---- commands of [commands] ---- */

static int render_alias(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                        struct err *e)
{
	OWNED(alias_run_row) struct alias_run_row run = { 0 };

	if (there(sql_alias_run_read(&p->w.store, i->alias_run_seq, &run, e), "the run", e) < 0)
		return -1;
	slack_alias_say(&run, out);
	return 0;
}

/* ---- any message ---- */

/* What was asked back about a question, which may be settled since by something else. */
static int render_asked(struct poster *p, const struct slack_intent_row *i, const char *answer,
                        struct slack_said *out, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	char id[24];

	(void)snprintf(id, sizeof(id), "%lld", (long long)i->message_seq);
	if (!answer && i->request_seq) {
		if (read_request(p, i, &r, e) < 0)
			return -1;
		if (r.row.session_status == SESSION_STATUS_TERMINATED)
			answer = "The agent was not told these words, and its session has ended: "
			         "`task <text>` tells the next agent that starts here";
		else if (!request_is_open(r.row.state))
			answer = "Its question is settled. The agent was not told these words: "
			         "`steer <text>` does that";
	}
	slack_notice_asked(i->text, answer, id, out);
	return 0;
}

static int render_text(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                       struct err *e)
{
	OWNED(cJSON_ptr) cJSON *asked = i->detail ? cJSON_Parse(i->detail) : NULL;

	if (json_text(asked, "words"))
		return render_asked(p, i, json_text(asked, "answer"), out, e);
	slack_notice_text(i->text, out);
	return 0;
}

static void note_repeat(struct slack_said *out)
{
	OWNED(str) struct str text = { 0 };
	cJSON *block = cJSON_CreateObject(), *element = cJSON_CreateObject();

	str_addf(&text, "(may be a repeat) %s", str_text(&out->text));
	str_clear(&out->text);
	str_add(&out->text, str_text(&text));
	(void)cJSON_AddStringToObject(block, "type", "context");
	(void)cJSON_AddStringToObject(element, "type", "mrkdwn");
	(void)cJSON_AddStringToObject(element, "text", "(may be a repeat)");
	(void)cJSON_AddItemToArray(cJSON_AddArrayToObject(block, "elements"), element);
	if (!cJSON_InsertItemInArray(out->blocks, 0, block))
		cJSON_Delete(block);
}

static int render_part(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                       struct err *e)
{
	switch (i->part) {
	case SLACK_PART_KIND_ASK:
		return render_ask(p, i, out, e);
	case SLACK_PART_KIND_EXPIRED:
		return render_expired(p, i, out, e);
	case SLACK_PART_KIND_SESSION:
	case SLACK_PART_KIND_RESTARTED:
		return render_session(p, i, out, e);
	case SLACK_PART_KIND_ENDED:
		return render_ended(p, i, out, e);
	case SLACK_PART_KIND_RUN:
		return render_run(p, i, out, e);
	case SLACK_PART_KIND_MODE:
		return render_mode(p, i, out, e);
	case SLACK_PART_KIND_STALL:
	case SLACK_PART_KIND_NUDGED:
	case SLACK_PART_KIND_ESCALATED:
		return render_stall(p, i, out, e);
	case SLACK_PART_KIND_WRITE:
		return render_write(p, i, out, e);
	case SLACK_PART_KIND_SAID:
		return render_said(p, i, out, e);
	case SLACK_PART_KIND_AUTO:
		return render_auto(p, i, out, e);
	case SLACK_PART_KIND_AGENT:
		return render_agent(p, i, out, e);
	case SLACK_PART_KIND_ACTIVITY:
		return render_activity(p, i, out, e);
	case SLACK_PART_KIND_TURN:
		return render_turn(p, i, out, e);
	case SLACK_PART_KIND_LOOK:
		return render_look(p, i, out, e);
	case SLACK_PART_KIND_ALIAS:
		return render_alias(p, i, out, e);
	case SLACK_PART_KIND_DIFF:
	case SLACK_PART_KIND_FILE:
	case SLACK_PART_KIND_OUTPUT:
	case SLACK_PART_KIND_GATE:
	case SLACK_PART_KIND_REPLY:
	case SLACK_PART_KIND_SERVER:
	case SLACK_PART_KIND_NONE:
		break;
	}
	return render_text(p, i, out, e);
}

int poster_render(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                  struct err *e)
{
	int failed = render_part(p, i, out, e);

	if (!failed && i->may_repeat)
		note_repeat(out);
	return failed;
}

void poster_add_said(struct str *form, const struct slack_intent_row *i, struct slack_said *said)
{
	slack_form_add(form, "text", str_text(&said->text));
	if (i->form == SLACK_OUTBOX_FORM_BLOCKS) {
		slack_form_add_json(form, "blocks", said->blocks);
		said->blocks = NULL;
	} else if (i->kind == SLACK_KIND_UPDATE) {
		slack_form_add(form, "blocks", "[]");
	}
}

/* ---- files ---- */

static int diff_file(struct poster *p, const struct slack_intent_row *i, struct str *bytes,
                     struct str *name, const char **ret_type, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	const struct str *text;

	if (read_request(p, i, &r, e) < 0)
		return -1;
	if (slack_is_whole(&r))
		return 0;
	text = slack_proposal(&r);
	if (r.row.file_path)
		slack_diff_name(r.row.file_path, name);
	else
		str_addf(name, "%s.txt",
		         r.row.kind == REQUEST_KIND_PERMISSION ? "command"
		                                               : request_kind_name(r.row.kind));
	/* What a restore shows is a list of names above a diff. */
	*ret_type =
	    r.row.kind == REQUEST_KIND_RESTORE || diff_looks_like(str_text(text), text->length)
	        ? "diff"
	        : "text";
	slack_add_file(bytes, &r);
	return 1;
}

/* Slack takes up to 1 MB as a snippet, more as a plain file. Of a larger one we send the beginning,
 * and its name says so. */
static void fit_file(struct str *bytes, struct str *name, const char **type)
{
	size_t whole = bytes->length, cut = utf8_cut(str_text(bytes), whole, FILE_BYTES);

	if (whole > SNIPPET_BYTES)
		*type = NULL;
	if (cut == whole)
		return;
	bytes->length = cut;
	bytes->bytes[cut] = '\0';
	str_addf(name, " (first %zu of %zu bytes)", cut, whole);
}

int poster_file(struct poster *p, const struct slack_intent_row *i, struct str *bytes,
                struct str *name, const char **ret_type, struct err *e)
{
	int got = 1;

	*ret_type = "text";
	if (i->part == SLACK_PART_KIND_DIFF) {
		got = diff_file(p, i, bytes, name, ret_type, e);
	} else {
		slack_file_name(i->file_name ? i->file_name : "file", name);
		*ret_type = slack_file_type(i->file_name ? i->file_name : "file");
		got = content_get(&p->w.store, i->content_seq, bytes, e) ? -1 : 1;
		if (got > 0 && bytes->length == 0)
			str_add(bytes, "(empty file)\n");
	}
	if (got > 0)
		fit_file(bytes, name, ret_type);
	return got;
}

/* ---- modals ---- */

enum { ABOUT_MAX = 300 }; /* of a title, above the input */

/* NULL: it is filled in in words. */
static cJSON *form_modal(const struct request *r, const char *about)
{
	OWNED(cJSON_ptr) cJSON *fields = cJSON_Parse(r->row.form);

	return slack_modal_form(r->row.id, about, fields);
}

cJSON *poster_modal(struct poster *p, const struct slack_intent_row *i, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(slack_session_row) struct slack_session_row t = { 0 };
	OWNED(str) struct str about = { 0 };
	int64_t session = i->session_seq;
	const char *preset = NULL;
	cJSON *modal = NULL;

	if (i->request_seq) {
		if (read_request(p, i, &r, e) < 0)
			return NULL;
		session = r.row.session_seq;
		blocks_add_short_id(&about, r.row.id);
		str_add_char(&about, ' ');
		blocks_add_escaped(&about, r.row.title, ABOUT_MAX);
	}
	if (read_session(p, session, &t, e) < 0)
		return NULL;
	if (i->view == SLACK_OUTBOX_VIEW_REFINE && !r.row.form)
		preset = t.prompt && *t.prompt ? t.prompt : str_text(&r.body);
	if (i->view == SLACK_OUTBOX_VIEW_EDIT)
		preset = str_text(&r.body);
	if (!i->request_seq)
		blocks_add_short_id(&about, t.id);
	blocks_add_whose(&about, t.agent_user, t.workspace_root, t.client_name, t.label);
	if (i->view == SLACK_OUTBOX_VIEW_REFINE && r.row.form) {
		modal = form_modal(&r, str_text(&about));
		str_add(&about, ": a line `name: value` for each field");
	}
	return modal ? modal
	             : slack_modal(i->view, r.row.id ? r.row.id : t.id, str_text(&about), preset);
}
