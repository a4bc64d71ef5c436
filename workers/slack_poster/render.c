/* From rows to messages: what an intent says is read when it is sent, not when it was queued. */
#include "content.h"
#include "diff.h"
#include "json.h"
#include "poster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 45 };

static bool is(const char *text, const char *other)
{
	return text && strcmp(text, other) == 0;
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
	stmt *s = store_stmt(&p->w.store, SQL_SLACK_OPERATORS);
	size_t count = 0;
	int got;

	while ((got = stmt_row(s, e)) > 0 && count < OPERATORS_MAX)
		n->name[count++] = col_copy(s, SLACK_OPERATORS_USER_ID);
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static int read_request(struct poster *p, const struct slack_intent *i, struct request *r,
                        struct err *e)
{
	int got = request_read(&p->w.store, i->request_seq, r, e);

	return got == 0 ? err_set(e, ERR_INPUT, "the question no longer exists") : got;
}

/* Whether the file with the diff is dead: 1, 0, -1. */
static int is_diff_missing(struct poster *p, const struct slack_intent *i, struct err *e)
{
	stmt *s = store_stmt(&p->w.store, SQL_SLACK_DIFF_STATE);
	int got, missing;

	bind_int(s, ":request", i->request_seq);
	got = stmt_row(s, e);
	missing = got > 0 && is(col_text(s, SLACK_DIFF_STATE_STATE), "dead");
	stmt_reset(s);
	return got < 0 ? -1 : missing;
}

static int render_ask(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                      struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(names) struct names operators = { .name = { NULL } };
	struct slack_ask a = { .request = &r,
		               .mentions = (const char *const *)operators.name,
		               .diff_above = i->root_seq != 0 };
	int missing = is_diff_missing(p, i, e);

	if (missing < 0 || read_request(p, i, &r, e) < 0 || read_operators(p, &operators, e))
		return -1;
	a.diff_missing = missing > 0;
	if (is(i->form, "line"))
		slack_say_line(&r, out);
	else if (is(i->form, "plain"))
		slack_say_plain(&r, out);
	else
		slack_say_ask(&a, out);
	return 0;
}

static int render_expired(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                          struct err *e)
{
	OWNED(request) struct request r = { 0 };

	if (read_request(p, i, &r, e) < 0)
		return -1;
	slack_say_expired(&r, out);
	return 0;
}

/* ---- sessions ---- */

struct session_texts {
	char *id, *status, *mode, *protocol_mode, *workspace_root, *client_name, *prompt,
	    *created_at, *ended_at;
};

static void session_texts_clear(struct session_texts *t)
{
	char *const owned[] = {
		t->id,          t->status, t->mode,       t->protocol_mode, t->workspace_root,
		t->client_name, t->prompt, t->created_at, t->ended_at
	};

	for (size_t k = 0; k < COUNT(owned); k++)
		free(owned[k]);
}

static int read_session(struct poster *p, int64_t seq, struct session_texts *t, struct err *e)
{
	stmt *s = store_stmt(&p->w.store, SQL_SLACK_SESSION_READ);
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		t->id = col_copy(s, SLACK_SESSION_READ_ID);
		t->status = col_copy(s, SLACK_SESSION_READ_STATUS);
		t->mode = col_copy(s, SLACK_SESSION_READ_MODE);
		t->protocol_mode = col_copy(s, SLACK_SESSION_READ_PROTOCOL_MODE);
		t->workspace_root = col_copy(s, SLACK_SESSION_READ_WORKSPACE_ROOT);
		t->client_name = col_copy(s, SLACK_SESSION_READ_CLIENT_NAME);
		t->prompt = col_copy(s, SLACK_SESSION_READ_PROMPT);
		t->created_at = col_copy(s, SLACK_SESSION_READ_CREATED_AT);
		t->ended_at = col_copy(s, SLACK_SESSION_READ_ENDED_AT);
	}
	stmt_reset(s);
	return got == 0 ? err_set(e, ERR_INPUT, "the session no longer exists") : got;
}

static int render_session(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                          struct err *e)
{
	OWNED(session_texts) struct session_texts t = { .id = NULL };

	if (read_session(p, i->session_seq, &t, e) < 0)
		return -1;
	const struct slack_session session = { .id = t.id,
		                               .status = t.status,
		                               .mode = t.mode,
		                               .protocol_mode = t.protocol_mode,
		                               .workspace_root = t.workspace_root,
		                               .client_name = t.client_name,
		                               .prompt = t.prompt,
		                               .created_at = t.created_at,
		                               .ended_at = t.ended_at };
	if (is(i->part, "ended"))
		slack_say_ended(&session, out);
	else
		slack_say_session(&session, out);
	return 0;
}

static const char *member(const cJSON *o, const char *name)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));

	return text ? text : "?";
}

static int render_mode(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                       struct err *e)
{
	OWNED(session_texts) struct session_texts t = { .id = NULL };
	OWNED(cJSON_ptr) cJSON *detail = cJSON_Parse(i->detail ? i->detail : "{}");

	if (read_session(p, i->session_seq, &t, e) < 0)
		return -1;
	const struct slack_mode mode = { .session_id = t.id,
		                         .from = member(detail, "from"),
		                         .to = member(detail, "to"),
		                         .by = member(detail, "by"),
		                         .present = t.mode };
	slack_say_mode(&mode, out);
	return 0;
}

/* ---- silent agents ---- */

/* The columns of a stall, in a row that is kept while it is shown. */
static void fill_stall(stmt *row, const char *part, struct slack_stall *stall)
{
	*stall = (struct slack_stall){
		.session_id = col_text(row, STALL_BY_ID_SESSION_ID),
		.last_tool = col_text(row, STALL_BY_ID_LAST_TOOL),
		.status = col_text(row, STALL_BY_ID_STATUS),
		.nudged_by = col_text(row, STALL_BY_ID_NUDGED_BY),
		.delivered_at = col_text(row, STALL_BY_ID_DELIVERED_AT),
		.prompt = col_text(row, STALL_BY_ID_PROMPT),
		.client_name = col_text(row, STALL_BY_ID_CLIENT_NAME),
		.workspace_root = col_text(row, STALL_BY_ID_WORKSPACE_ROOT),
		.protocol_mode = col_text(row, STALL_BY_ID_PROTOCOL_MODE),
		.ended_at = col_text(row, STALL_BY_ID_ENDED_AT),
		.idle_seconds = col_int(row, STALL_BY_ID_IDLE_SECONDS),
		.nudge_count = col_int(row, STALL_BY_ID_NUDGE_COUNT),
		.is_call = is(part, "escalated"),
		.may_have_ended = col_int(row, STALL_BY_ID_IS_THERE) == 0,
	};
}

static int say_stall(struct poster *p, const struct slack_intent *i, const cJSON *detail,
                     const struct names *operators, struct slack_said *out, struct err *e)
{
	const char *alert = member(detail, "alert_id");
	stmt *s = store_stmt(&p->w.store, SQL_STALL_BY_ID);
	struct slack_stall stall;
	int got;

	bind_text(s, ":id", alert);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *snapshot = col_text(s, STALL_BY_ID_PROGRESS_SNAPSHOT);
		cJSON *progress = snapshot ? cJSON_Parse(snapshot) : NULL;
		double nudge =
		    cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(detail, "nudge"));

		fill_stall(s, i->part, &stall);
		stall.alert_id = alert;
		stall.progress = progress;
		if (is(i->part, "nudged"))
			slack_say_nudged(&stall, nudge > 0 ? (int64_t)nudge : 1, out);
		else
			slack_say_stall(&stall, (const char *const *)operators->name, out);
		cJSON_Delete(progress);
	}
	stmt_reset(s);
	return got == 0 ? err_set(e, ERR_INPUT, "the alert no longer exists") : (got < 0 ? -1 : 0);
}

static int render_stall(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                        struct err *e)
{
	OWNED(names) struct names operators = { .name = { NULL } };
	cJSON *detail = cJSON_Parse(i->detail ? i->detail : "{}");
	int failed =
	    read_operators(p, &operators, e) || say_stall(p, i, detail, &operators, out, e);

	cJSON_Delete(detail);
	return failed ? -1 : 0;
}

/* ---- what a policy allowed ---- */

static int count_allowed(struct poster *p, int64_t notice, int64_t *ret_count, struct err *e)
{
	stmt *s = store_stmt(&p->w.store, SQL_AUTO_APPROVAL_COUNT);
	int got;

	bind_int(s, ":notice", notice);
	got = stmt_row(s, e);
	if (got > 0)
		*ret_count = col_int(s, AUTO_APPROVAL_COUNT_APPROVALS);
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static int read_allowed(struct poster *p, int64_t notice, cJSON *shown, struct err *e)
{
	stmt *s = store_stmt(&p->w.store, SQL_AUTO_APPROVAL_OF_NOTICE);
	int got;

	bind_int(s, ":notice", notice);
	bind_int(s, ":limit", SLACK_AUTO_MAX);
	while ((got = stmt_row(s, e)) > 0) {
		cJSON *one = cJSON_CreateObject();

		(void)cJSON_AddStringToObject(one, "subject",
		                              col_text(s, AUTO_APPROVAL_OF_NOTICE_SUBJECT));
		(void)cJSON_AddStringToObject(one, "rule",
		                              col_text(s, AUTO_APPROVAL_OF_NOTICE_RULE));
		(void)cJSON_AddNumberToObject(one, "times",
		                              (double)col_int(s, AUTO_APPROVAL_OF_NOTICE_TIMES));
		(void)cJSON_AddItemToArray(shown, one);
	}
	stmt_reset(s);
	return got;
}

static int render_auto(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                       struct err *e)
{
	cJSON *detail = cJSON_Parse(i->detail ? i->detail : "{}");
	const cJSON *notice = cJSON_GetObjectItemCaseSensitive(detail, "notice");
	int64_t seq = cJSON_IsNumber(notice) ? (int64_t)notice->valuedouble : 0;
	struct slack_auto a = { .shown = cJSON_CreateArray() };
	int failed = count_allowed(p, seq, &a.count, e) || read_allowed(p, seq, a.shown, e);

	if (!failed)
		slack_say_auto(&a, out);
	cJSON_Delete(a.shown);
	cJSON_Delete(detail);
	return failed ? -1 : 0;
}

/* ---- writes ---- */

static cJSON *read_files(struct poster *p, int64_t apply, struct err *e)
{
	stmt *s = store_stmt(&p->w.store, SQL_FILE_CHANGE_LIST);
	cJSON *files = cJSON_CreateArray();

	bind_int(s, ":apply", apply);
	while (stmt_row(s, e) > 0) {
		cJSON *file = cJSON_CreateObject();

		(void)cJSON_AddStringToObject(file, "path", col_text(s, FILE_CHANGE_LIST_PATH));
		(void)cJSON_AddStringToObject(file, "action", col_text(s, FILE_CHANGE_LIST_ACTION));
		(void)cJSON_AddNumberToObject(file, "bytes",
		                              (double)col_int(s, FILE_CHANGE_LIST_BYTES));
		(void)cJSON_AddItemToArray(files, file);
	}
	stmt_reset(s);
	return files;
}

static void read_overwritten(struct poster *p, int64_t apply, cJSON *files, struct err *e)
{
	stmt *s = store_stmt(&p->w.store, SQL_FILE_CHANGE_OVERWRITTEN);

	bind_int(s, ":apply", apply);
	while (stmt_row(s, e) > 0) {
		const cJSON *file;

		cJSON_ArrayForEach (file, files)
			if (is(member(file, "path"), col_text(s, FILE_CHANGE_OVERWRITTEN_PATH)))
				(void)cJSON_AddNumberToObject(
				    (cJSON *)file, "overwrote",
				    (double)col_int(s, FILE_CHANGE_OVERWRITTEN_SIZE));
	}
	stmt_reset(s);
}

static int render_write(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                        struct err *e)
{
	cJSON *files = read_files(p, i->apply_seq, e);
	stmt *s;
	int got;

	read_overwritten(p, i->apply_seq, files, e);
	s = store_stmt(&p->w.store, SQL_SLACK_APPLY_READ);
	bind_int(s, ":seq", i->apply_seq);
	got = stmt_row(s, e);
	if (got > 0) {
		const struct slack_write w = {
			.state = col_text(s, SLACK_APPLY_READ_STATE),
			.file_path = col_text(s, SLACK_APPLY_READ_FILE_PATH),
			.error_code = col_text(s, SLACK_APPLY_READ_ERROR_CODE),
			.error_message = col_text(s, SLACK_APPLY_READ_ERROR_MESSAGE),
			.request_id = col_text(s, SLACK_APPLY_READ_ID),
			.ordered_by = col_text(s, SLACK_APPLY_READ_ORDERED_BY),
			.forced = col_int(s, SLACK_APPLY_READ_FORCED) != 0,
			.is_undo = is(col_text(s, SLACK_APPLY_READ_KIND), "undo"),
			.undone = col_int(s, SLACK_APPLY_READ_UNDONE) != 0,
			.files = files,
		};

		slack_say_write(&w, out);
	}
	stmt_reset(s);
	cJSON_Delete(files);
	return got == 0 ? err_set(e, ERR_INPUT, "the write no longer exists") : (got < 0 ? -1 : 0);
}

/* ---- broadcasts ---- */

static int read_call(struct poster *p, int64_t call, struct str *out, struct err *e)
{
	stmt *s = store_stmt(&p->w.store, SQL_SLACK_CALL_READ);
	int64_t content = 0;
	int got;

	bind_int(s, ":seq", call);
	got = stmt_row(s, e);
	if (got > 0 && !col_is_null(s, SLACK_CALL_READ_ARGUMENTS))
		str_add(out, col_text(s, SLACK_CALL_READ_ARGUMENTS));
	else if (got > 0)
		content = col_int(s, SLACK_CALL_READ_ARGUMENTS_SEQ);
	stmt_reset(s);
	if (got < 0)
		return -1;
	return content ? content_get(&p->w.store, content, out, e) : 0;
}

/* What one broadcast, or one ping, says, behind what is in out already. */
static int add_broadcast(struct poster *p, int64_t call, struct slack_said *out, struct err *e)
{
	OWNED(str) struct str arguments = STR_INIT;
	OWNED(slack_said) struct slack_said one = SLACK_SAID_INIT;
	const char *message;
	cJSON *json;

	if (read_call(p, call, &arguments, e))
		return -1;
	json = cJSON_ParseWithLength(str_text(&arguments), arguments.length);
	message = json_text(json, "message");
	slack_say_broadcast(json_text(json, "level"),
	                    message ? message : json_text(json, "status_message"), &one);
	cJSON_Delete(json);
	str_addf(&out->text, "%s%s", out->text.length ? "\n" : "", str_text(&one.text));
	while (cJSON_GetArraySize(one.blocks) > 0 && cJSON_GetArraySize(out->blocks) < BLOCKS_MAX)
		(void)cJSON_AddItemToArray(out->blocks, cJSON_DetachItemFromArray(one.blocks, 0));
	return 0;
}

static int render_said(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                       struct err *e)
{
	int64_t calls[SLACK_BURST_MAX];
	size_t count = 0;
	stmt *s = store_stmt(&p->w.store, SQL_SLACK_OUTBOX_LED);
	int got;

	bind_int(s, ":leader", i->seq);
	while ((got = stmt_row(s, e)) > 0 && count < SLACK_BURST_MAX)
		calls[count++] = col_int(s, SLACK_OUTBOX_LED_CALL_SEQ);
	stmt_reset(s);
	out->blocks = cJSON_CreateArray();
	if (got < 0 || add_broadcast(p, i->call_seq, out, e))
		return -1;
	for (size_t k = 0; k < count; k++)
		if (add_broadcast(p, calls[k], out, e))
			return -1;
	return 0;
}

/* ---- any message ---- */

static int render_text(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                       struct err *e)
{
	OWNED(cJSON_ptr) cJSON *asked = i->detail ? cJSON_Parse(i->detail) : NULL;
	char id[24];

	(void)p;
	(void)e;
	(void)snprintf(id, sizeof(id), "%lld", (long long)i->message_seq);
	if (json_text(asked, "words"))
		slack_say_asked(i->text, json_text(asked, "answer"), id, out);
	else
		slack_say_text(i->text, out);
	return 0;
}

static void note_repeat(struct slack_said *out)
{
	OWNED(str) struct str text = STR_INIT;
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

int poster_render(struct poster *p, const struct slack_intent *i, struct slack_said *out,
                  struct err *e)
{
	static const struct {
		const char *part;
		int (*render)(struct poster *p, const struct slack_intent *i,
		              struct slack_said *out, struct err *e);
	} PARTS[] = {
		{ "ask", render_ask },         { "expired", render_expired },
		{ "session", render_session }, { "ended", render_session },
		{ "mode", render_mode },       { "stall", render_stall },
		{ "nudged", render_stall },    { "escalated", render_stall },
		{ "write", render_write },     { "said", render_said },
		{ "auto", render_auto },
	};
	int failed = -1;

	for (size_t k = 0; k < COUNT(PARTS); k++) {
		if (!is(i->part, PARTS[k].part))
			continue;
		failed = PARTS[k].render(p, i, out, e);
		if (!failed && i->may_repeat)
			note_repeat(out);
		return failed;
	}
	return render_text(p, i, out, e);
}

void poster_add_said(struct str *form, const struct slack_intent *i, struct slack_said *said)
{
	slack_form_add(form, "text", str_text(&said->text));
	if (is(i->form, "blocks")) {
		slack_form_add_json(form, "blocks", said->blocks);
		said->blocks = NULL;
	} else if (is(i->kind, "update")) {
		slack_form_add(form, "blocks", "[]");
	}
}

/* ---- files ---- */

static int diff_file(struct poster *p, const struct slack_intent *i, struct str *bytes,
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
	*ret_type = diff_looks_like(str_text(text), text->length) ? "diff" : "text";
	slack_add_file(bytes, &r);
	return 1;
}

/* Slack takes 1 MB as a snippet, more as any file; of more than we give it the beginning, which is
 * named so. */
static void fit_file(struct str *bytes, struct str *name, const char **type)
{
	size_t whole = bytes->length, cut = SLACK_FILE_BYTES;

	if (whole > SLACK_SNIPPET_BYTES)
		*type = NULL;
	if (whole <= SLACK_FILE_BYTES)
		return;
	while (cut > 0 && ((unsigned char)bytes->bytes[cut] & 0xC0) == 0x80)
		cut--;
	bytes->length = cut;
	bytes->bytes[cut] = '\0';
	str_addf(name, " (first %zu of %zu bytes)", cut, whole);
}

int poster_file(struct poster *p, const struct slack_intent *i, struct str *bytes, struct str *name,
                const char **ret_type, struct err *e)
{
	int got = 1;

	*ret_type = "text";
	if (is(i->part, "diff")) {
		got = diff_file(p, i, bytes, name, ret_type, e);
	} else {
		slack_file_name(i->file_name ? i->file_name : "file", name);
		got = content_get(&p->w.store, i->content_seq, bytes, e) ? -1 : 1;
		if (got > 0 && bytes->length == 0)
			str_add(bytes, "(empty file)\n");
	}
	if (got > 0)
		fit_file(bytes, name, ret_type);
	return got;
}

/* ---- modals ---- */

cJSON *poster_modal(struct poster *p, const struct slack_intent *i, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(session_texts) struct session_texts t = { .id = NULL };
	int64_t session = i->session_seq;
	const char *preset = NULL;

	if (i->request_seq) {
		if (read_request(p, i, &r, e) < 0)
			return NULL;
		session = r.row.session_seq;
	}
	if (read_session(p, session, &t, e) < 0)
		return NULL;
	if (is(i->view, "refine"))
		preset = t.prompt && *t.prompt ? t.prompt : str_text(&r.body);
	return slack_modal(i->view, r.row.id ? r.row.id : t.id, preset);
}
