/* check_diff: has an approved change written. */
#include "tools.h"

#include "call.h"
#include "clock.h"
#include "departed.h"
#include "json.h"
#include "json_writer.h"
#include "peer.h"
#include "peer_user.h"
#include "request.h"
#include "result.h"
#include "sql/apply.h"
#include "sql/request.h"
#include "sql/session.h"
#include "steering.h"

#include <string.h>

/* ---- the files of a write ---- */

static void add_written(const struct file_change_list_row *f, struct str *written)
{
	json_object(written);
	json_member(written, "path", f->path);
	json_member_int(written, "bytes", f->bytes);
	json_object_end(written);
}

static void add_renamed(const struct file_change_list_row *f, struct str *renamed)
{
	json_object(renamed);
	json_member(renamed, "from", f->path);
	json_member(renamed, "to", f->other_path);
	json_object_end(renamed);
}

static void add_list(struct str *result, const char *name, struct str *items)
{
	json_member_array(result, name);
	str_add(result, str_text(items));
	json_array_end(result);
}

/* Every file of a write: written and, if there are any, deleted and renamed. */
static int add_files(struct store *st, int64_t apply, struct str *result, struct err *e)
{
	OWNED(str) struct str written = { 0 }, deleted = { 0 }, renamed = { 0 };
	OWNED(file_change_list_row) struct file_change_list_row f = { 0 };
	int got;

	sql_file_change_list(st, apply, &f);
	while ((got = row_next(&f.row, e)) > 0)
		if (f.action != FILE_CHANGE_ACTION_DELETE)
			add_written(&f, &written);
		else if (f.other_path)
			add_renamed(&f, &renamed);
		else
			json_item(&deleted, f.path);
	add_list(result, "files_written", &written);
	if (deleted.length)
		add_list(result, "deleted", &deleted);
	if (renamed.length)
		add_list(result, "renamed", &renamed);
	return got;
}

/* ---- the result ---- */

static int result(struct store *st, int64_t apply, struct telling *t, struct err *e)
{
	OWNED(apply_read_row) struct apply_read_row w = { 0 };
	int got = sql_apply_read(st, apply, &w, e);
	bool applied = w.state == APPLY_STATE_APPLIED;

	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "apply %lld is gone", (long long)apply);
	if (w.error_code) {
		result_error(&t->result, w.error_code, w.why ? w.why : "no reason was given");
		t->is_error = true;
		return 0;
	}
	json_object(&t->result);
	json_member(&t->result, "status", applied ? "applied" : "pending");
	if (!applied)
		json_member(&t->result, "message",
		            w.question_seq
		                ? "the file has changed, and the operator is asked about what "
		                  "this does to it now; call check_diff again with the same "
		                  "arguments to keep waiting"
		                : "the write is queued; call check_diff again");
	if (applied && add_files(st, apply, &t->result, e))
		return -1;
	if (w.forced)
		json_member(&t->result, "warning",
		            w.replaces_file
		                ? "force: what had changed since the proposal was overwritten"
		                : "force: the diff was applied to a file that had changed since "
		                  "the proposal; the other changes were kept");
	if (applied && w.unkept) {
		OWNED(str) struct str none = { 0 };

		str_addf(&none, "none: %s", w.unkept);
		json_member(&t->result, "checkpoint", none.bytes);
	}
	json_object_end(&t->result);
	return 0;
}

/* ---- the call ---- */

/* Its end, for a caller that was told only that it goes on, or was cut off. Returns 1, or 0 if its
 * end has been told. */
static int tell_end(struct store *st, struct call *c, int64_t request, struct err *e)
{
	OWNED(telling) struct telling t = { 0 };
	int64_t apply = sql_apply_untold(st, request, e);

	if (apply <= 0)
		return (int)apply;
	c->apply_seq = apply;
	if (result(st, apply, &t, e))
		return -1;
	str_add(&c->result, str_text(&t.result));
	return 1;
}

static int already_consumed(struct store *st, struct call *c, int64_t request, struct err *e)
{
	OWNED(apply_undone_row) struct apply_undone_row undone = { 0 };
	int64_t apply = sql_apply_done(st, request, e);
	OWNED(str) struct str text = { 0 };
	int got;

	if (apply < 0)
		return -1;
	str_add(&text, "already consumed: this change has been applied before");
	got = sql_apply_undone(st, request, &undone, e);
	if (got < 0)
		return -1;
	if (got > 0)
		str_addf(&text, ", and the operator took it back at %s", undone.updated_at);
	c->is_error = true;
	json_object(&c->result);
	result_add_error(&c->result, "already_consumed", text.bytes);
	if (apply && add_files(st, apply, &c->result, e))
		return -1;
	json_object_end(&c->result);
	return 0;
}

static bool is_of_its_user(const struct request *r, const struct peer *p)
{
	const int64_t *uid = peer_uid_in_rows(p);

	return uid ? r->row.has_agent_uid && r->row.agent_uid == *uid : !r->row.has_agent_uid;
}

/* Whether p may apply what another session requested: as its successor, once nobody is connected to
 * it. */
static int may_succeed(struct store *st, const struct request *r, const struct peer *p,
                       const struct call_settings *settings, struct err *e)
{
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);
	int got;

	if (r->row.session_seq == p->session_seq)
		return 1;
	if (strcmp(r->row.workspace_root, p->workspace_root) != 0 ||
	    strcmp(r->row.machine, settings->workspaces.machine) != 0 || !is_of_its_user(r, p))
		return 0;
	if (departed_of_session(st, r->row.session_seq, p->seq, e))
		return -1;
	got = sql_session_is_connected(st, r->row.session_seq, live_after.text, p->identity.agent,
	                               p->seq, e);
	return got < 0 ? -1 : !got;
}

static int queue_apply(struct store *st, struct call *c, int64_t request, const char *machine,
                       struct err *e)
{
	OWNED(apply_of_request_row) struct apply_of_request_row last = { 0 };
	bool force = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c->arguments, "force"));

	if (sql_apply_of_request(st, request, &last, e) < 0)
		return -1;
	c->waiting = true;
	if (last.state == APPLY_STATE_QUEUED || last.state == APPLY_STATE_CLAIMED)
		c->apply_seq = last.seq;
	if (!c->apply_seq)
		c->apply_seq = sql_apply_insert(st, request, machine, force, e);
	return c->apply_seq < 0 ? -1 : 0;
}

static int find_clearance(struct store *st, const char *id, struct request *r, struct err *e)
{
	struct request_by_id_row row = { 0 };
	int got = sql_request_by_id(st, id, &row, e);

	if (got <= 0 || row.kind != REQUEST_KIND_CLEARANCE)
		return got < 0 ? -1 : 0;
	return request_read(st, row.seq, r, e);
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
	if (r.row.state == REQUEST_STATE_CONSUMED) {
		int told = tell_end(st, c, r.row.seq, e);

		return told < 0 ? -1 : told ? 0 : already_consumed(st, c, r.row.seq, e);
	}
	if (r.row.state != REQUEST_STATE_APPROVED) {
		result_refuse(c, "not_approved", "the request is %s, not approved%s%s%s",
		              request_state_name(r.row.state), r.row.withdrawn ? ": " : "",
		              r.row.withdrawn ? r.row.withdrawn : "",
		              r.row.withdrawn ? "; ask for clearance again" : "");
		return 0;
	}
	if (steering_arrived(st, r.row.seq, e))
		return -1;
	return queue_apply(st, c, r.row.seq, settings->workspaces.machine, e);
}

const struct tool TOOL_CHECK_DIFF = {
	.name = "check_diff",
	.title = "Check diff",
	.description =
	    "Writes an approved change to disk, once. On patch_conflict the file has changed "
	    "since you asked: read it again and ask for clearance again, or pass force if the "
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
	    "went over\"},"
	    "\"checkpoint\":{\"type\":\"string\",\"description\":\"why the workspace was not "
	    "kept before this critical change\"}," TOOL_MESSAGE_FIELD "," TOOL_ERROR_FIELDS
	    "},\"required\":[\"status\"]}"),
	.destructive = true,
	.run = run,
	.result = result,
};
