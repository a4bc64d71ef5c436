/* check_diff: has an approved change written. */
#include "tools.h"

#include "call.h"
#include "clock.h"
#include "departed.h"
#include "json_writer.h"
#include "peer.h"
#include "request.h"
#include "result.h"
#include "steering.h"

#include <string.h>

/* ---- the files of a write ---- */

static void add_written(stmt *s, struct str *written)
{
	json_object(written);
	json_member(written, "path", col_text(s, FILE_CHANGE_LIST_PATH));
	json_member_int(written, "bytes", col_int(s, FILE_CHANGE_LIST_BYTES));
	json_object_end(written);
}

static void add_renamed(stmt *s, struct str *renamed)
{
	json_object(renamed);
	json_member(renamed, "from", col_text(s, FILE_CHANGE_LIST_PATH));
	json_member(renamed, "to", col_text(s, FILE_CHANGE_LIST_OTHER_PATH));
	json_object_end(renamed);
}

static void add_list(struct str *result, const char *name, struct str *items)
{
	json_member_array(result, name);
	str_add(result, str_text(items));
	json_array_end(result);
}

/* Every file of a write: written, and where there are such, deleted and renamed. */
static int add_files(struct store *st, int64_t apply, struct str *result, struct err *e)
{
	OWNED(str) struct str written = STR_INIT;
	OWNED(str) struct str deleted = STR_INIT;
	OWNED(str) struct str renamed = STR_INIT;
	stmt *s = store_stmt(st, SQL_FILE_CHANGE_LIST);
	int got;

	bind_int(s, ":apply", apply);
	while ((got = stmt_row(s, e)) > 0)
		if (strcmp(col_text(s, FILE_CHANGE_LIST_ACTION), "delete") != 0)
			add_written(s, &written);
		else if (col_text(s, FILE_CHANGE_LIST_OTHER_PATH))
			add_renamed(s, &renamed);
		else
			json_item(&deleted, col_text(s, FILE_CHANGE_LIST_PATH));
	stmt_reset(s);
	add_list(result, "files_written", &written);
	if (deleted.length)
		add_list(result, "deleted", &deleted);
	if (renamed.length)
		add_list(result, "renamed", &renamed);
	return got;
}

/* ---- the call ---- */

/* The seq of the write that succeeded, 0: there is none, -1 error. */
static int64_t applied_seq(struct store *st, int64_t request, struct err *e)
{
	stmt *s = store_stmt(st, SQL_APPLY_DONE);

	bind_int(s, ":request", request);
	return stmt_number(s, APPLY_DONE_SEQ, e);
}

static int already_consumed(struct store *st, struct call *c, int64_t request, struct err *e)
{
	int64_t apply = applied_seq(st, request, e);
	OWNED(str) struct str text = STR_INIT;
	stmt *s = store_stmt(st, SQL_APPLY_UNDONE);
	int got;

	if (apply < 0)
		return -1;
	str_add(&text, "already consumed: this change has been applied before");
	bind_int(s, ":request", request);
	got = stmt_row(s, e);
	if (got > 0)
		str_addf(&text, ", and the operator took it back at %s",
		         col_text(s, APPLY_UNDONE_UPDATED_AT));
	stmt_reset(s);
	if (got < 0)
		return -1;
	c->is_error = true;
	json_object(&c->result);
	result_add_error(&c->result, "already_consumed", text.bytes);
	if (apply && add_files(st, apply, &c->result, e))
		return -1;
	json_object_end(&c->result);
	return 0;
}

/* Whether p may apply what another session asked: its successor, once nobody is connected to it. */
static int may_succeed(struct store *st, const struct request *r, const struct peer *p,
                       const struct call_settings *settings, struct err *e)
{
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);
	stmt *s;
	int got;

	if (r->row.session_seq == p->session_seq)
		return 1;
	if (strcmp(r->row.workspace_root, p->workspace_root) != 0 ||
	    strcmp(r->row.host, settings->workspaces.machine) != 0)
		return 0;
	if (departed_of_session(st, r->row.session_seq, e))
		return -1;
	s = store_stmt(st, SQL_SESSION_IS_CONNECTED);
	bind_int(s, ":seq", r->row.session_seq);
	bind_text(s, ":live_after", live_after.text);
	bind_text(s, ":label", p->identity.agent);
	bind_int(s, ":connection", p->seq);
	got = stmt_row(s, e);
	stmt_reset(s);
	return got < 0 ? -1 : !got;
}

static int queue_apply(struct store *st, struct call *c, int64_t request, const char *host,
                       struct err *e)
{
	stmt *s = store_stmt(st, SQL_APPLY_OF_REQUEST);
	int got;

	bind_int(s, ":request", request);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *state = col_text(s, APPLY_OF_REQUEST_STATE);

		if (strcmp(state, "queued") == 0 || strcmp(state, "claimed") == 0)
			c->apply_seq = col_int(s, APPLY_OF_REQUEST_SEQ);
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	c->waiting = true;
	if (c->apply_seq)
		return 0;
	s = store_stmt(st, SQL_APPLY_INSERT);
	bind_int(s, ":request", request);
	bind_text(s, ":host", host);
	bind_int(s, ":force",
	         cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c->arguments, "force")));
	if (stmt_run(s, e) < 0)
		return -1;
	c->apply_seq = store_last_seq(st);
	return 0;
}

static int find_clearance(struct store *st, const char *id, struct request *r, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_BY_ID);
	int64_t seq = 0;
	int got;

	bind_text(s, ":id", id);
	got = stmt_row(s, e);
	if (got > 0 && strcmp(col_text(s, REQUEST_BY_ID_KIND), "clearance") == 0)
		seq = col_int(s, REQUEST_BY_ID_SEQ);
	stmt_reset(s);
	if (got < 0)
		return -1;
	return seq ? request_read(st, seq, r, e) : 0;
}

static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	const char *id = json_text(c->arguments, "request_id");
	int found = find_clearance(st, id, &r, e);
	int ours = found > 0 ? may_succeed(st, &r, p, settings, e) : 0;

	if (found < 0 || ours < 0)
		return -1;
	if (!found || !ours) {
		result_refuse(
		    c, "request_not_found",
		    "not found: this session has asked for no clearance with the id %.80s", id);
		return 0;
	}
	if (r.row.state == REQUEST_STATE_CONSUMED)
		return already_consumed(st, c, r.row.seq, e);
	if (r.row.state != REQUEST_STATE_APPROVED) {
		result_refuse(c, "not_approved", "the request is %s, not approved",
		              request_state_name(r.row.state));
		return 0;
	}
	if (steering_arrived(st, r.row.seq, e))
		return -1;
	return queue_apply(st, c, r.row.seq, settings->workspaces.machine, e);
}

/* ---- the result ---- */

/* How a write stands. */
struct written {
	bool applied, forced;
	bool asks; /* the file has changed, and the operator is asked about it */
};

/* Reads it; a write that has failed or is not over is told in t. */
static int read_apply(struct store *st, int64_t apply, struct written *w, struct telling *t,
                      struct err *e)
{
	stmt *s = store_stmt(st, SQL_APPLY_READ);
	int got;

	bind_int(s, ":seq", apply);
	got = stmt_row(s, e);
	if (got > 0 && col_text(s, APPLY_READ_ERROR_CODE)) {
		const char *why = col_text(s, APPLY_READ_ERROR_MESSAGE);

		result_error(&t->result, col_text(s, APPLY_READ_ERROR_CODE),
		             why ? why : "no reason was given");
		t->is_error = true;
	} else if (got > 0) {
		w->applied = strcmp(col_text(s, APPLY_READ_STATE), "applied") == 0;
		w->forced = col_int(s, APPLY_READ_FORCED) != 0;
		w->asks = !col_is_null(s, APPLY_READ_QUESTION_SEQ);
	}
	stmt_reset(s);
	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "apply %lld is gone", (long long)apply);
	return 0;
}

static int result(struct store *st, int64_t apply, struct telling *t, struct err *e)
{
	struct written w = { .applied = false };

	if (read_apply(st, apply, &w, t, e))
		return -1;
	if (t->is_error)
		return 0;
	json_object(&t->result);
	json_member(&t->result, "status", w.applied ? "applied" : "pending");
	if (!w.applied)
		json_member(&t->result, "message",
		            w.asks ? "the file has changed, and the operator is asked about what "
		                     "this does to it now; call check_diff again with the same "
		                     "arguments to keep waiting"
		                   : "the write is queued; call check_diff again");
	if (w.applied && add_files(st, apply, &t->result, e))
		return -1;
	if (w.forced)
		json_member(&t->result, "warning",
		            "force: what had changed since the proposal was overwritten");
	json_object_end(&t->result);
	return 0;
}

const struct tool TOOL_CHECK_DIFF = {
	.name = "check_diff",
	.title = "Check diff",
	.description =
	    "Writes an approved change to disk, once. On patch_conflict the file has changed "
	    "since you asked: read it again and ask for clearance anew, or pass force if the "
	    "operator agreed to overwrite.",
	.input = "{\"type\":\"object\",\"properties\":{"
	         "\"request_id\":{\"type\":\"string\",\"minLength\":1,\"description\":\"from "
	         "check_clearance\"},"
	         "\"force\":{\"type\":\"boolean\",\"default\":false,\"description\":"
	         "\"overwrite although the file has changed\"}},"
	         "\"required\":[\"request_id\"]}",
	.output = TOOL_OUTPUT(
	    "\"status\":{\"type\":\"string\",\"enum\":[\"applied\",\"pending\",\"error\"]},"
	    "\"files_written\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	    "\"properties\":{"
	    "\"path\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"}},\"required\":["
	    "\"path\",\"bytes\"]}},"
	    "\"deleted\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	    "\"renamed\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
	    "\"from\":{\"type\":\"string\"},\"to\":{\"type\":\"string\"}},\"required\":["
	    "\"from\",\"to\"]}},"
	    "\"warning\":{\"type\":\"string\",\"description\":\"what force "
	    "overwrote\"}," TOOL_MESSAGE_FIELD "," TOOL_ERROR_FIELDS
	    "},\"required\":[\"status\"]}"),
	.destructive = true,
	.run = run,
	.result = result,
};
