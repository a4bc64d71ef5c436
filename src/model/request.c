#include "request.h"

#include "content.h"
#include "id.h"
#include "visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t int_or(stmt *s, int column, int64_t otherwise)
{
	return col_is_null(s, column) ? otherwise : col_int(s, column);
}

static void read_row(stmt *s, struct request *r)
{
	r->seq = col_int(s, REQUEST_READ_SEQ);
	r->session_seq = col_int(s, REQUEST_READ_SESSION_SEQ);
	r->id = col_copy(s, REQUEST_READ_ID);
	r->kind = col_copy(s, REQUEST_READ_KIND);
	r->state = col_copy(s, REQUEST_READ_STATE);
	r->digest = col_copy(s, REQUEST_READ_DIGEST);
	r->title = col_copy(s, REQUEST_READ_TITLE);
	r->description = col_copy(s, REQUEST_READ_DESCRIPTION);
	r->replaces_file = col_int(s, REQUEST_READ_REPLACES_FILE) != 0;
	r->file_path = col_copy(s, REQUEST_READ_FILE_PATH);
	r->risk_level = col_copy(s, REQUEST_READ_RISK_LEVEL);
	r->original_hash = col_copy(s, REQUEST_READ_ORIGINAL_HASH);
	r->prompt_type = col_copy(s, REQUEST_READ_PROMPT_TYPE);
	r->elapsed_seconds = int_or(s, REQUEST_READ_ELAPSED_SECONDS, -1);
	r->actions_taken = int_or(s, REQUEST_READ_ACTIONS_TAKEN, -1);
	r->deadline_at = col_copy(s, REQUEST_READ_DEADLINE_AT);
	r->decision = col_copy(s, REQUEST_READ_DECISION);
	r->reason = col_copy(s, REQUEST_READ_REASON);
	r->instruction = col_copy(s, REQUEST_READ_INSTRUCTION);
	r->decided_by = col_copy(s, REQUEST_READ_DECIDED_BY);
	r->decided_at = col_copy(s, REQUEST_READ_DECIDED_AT);
	r->consumed_at = col_copy(s, REQUEST_READ_CONSUMED_AT);
	r->created_at = col_copy(s, REQUEST_READ_CREATED_AT);
	r->previous_at = col_copy(s, REQUEST_READ_PREVIOUS_AT);
	r->session_id = col_copy(s, REQUEST_READ_SESSION_ID);
	r->host = col_copy(s, REQUEST_READ_HOST);
	r->workspace_root = col_copy(s, REQUEST_READ_WORKSPACE_ROOT);
	r->is_new_workspace = col_int(s, REQUEST_READ_IS_NEW_WORKSPACE) != 0;
	r->session_status = col_copy(s, REQUEST_READ_SESSION_STATUS);
	r->session_mode = col_copy(s, REQUEST_READ_SESSION_MODE);
	r->client_name = col_copy(s, REQUEST_READ_CLIENT_NAME);
	if (col_text(s, REQUEST_READ_BODY))
		str_add(&r->body, col_text(s, REQUEST_READ_BODY));
	if (col_text(s, REQUEST_READ_EFFECT))
		str_add(&r->effect, col_text(s, REQUEST_READ_EFFECT));
}

int request_read_files(struct store *st, int64_t seq, struct request *r, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_FILE_LIST);
	int got;

	bind_int(s, ":request", seq);
	while ((got = stmt_row(s, e)) > 0) {
		struct touched *f;

		r->files = xrealloc(r->files, (r->file_count + 1) * sizeof(*r->files));
		f = &r->files[r->file_count++];
		*f = (struct touched){ .path = col_copy(s, REQUEST_FILE_LIST_PATH) };
		f->action = touched_action(col_text(s, REQUEST_FILE_LIST_ACTION));
		f->target = col_copy(s, REQUEST_FILE_LIST_TARGET);
		f->other = col_copy(s, REQUEST_FILE_LIST_OTHER_PATH);
		f->mode = (unsigned)col_int(s, REQUEST_FILE_LIST_MODE);
		(void)snprintf(f->hash, sizeof(f->hash), "%s",
		               col_text(s, REQUEST_FILE_LIST_ORIGINAL_HASH));
		(void)snprintf(f->result_hash, sizeof(f->result_hash), "%s",
		               col_text(s, REQUEST_FILE_LIST_RESULT_HASH));
	}
	stmt_reset(s);
	return got;
}

int request_read(struct store *st, int64_t seq, struct request *r, struct err *e)
{
	OWNED(str) struct str description = STR_INIT;
	int64_t big[3];
	stmt *s = store_stmt(st, SQL_REQUEST_READ);
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		read_row(s, r);
		big[0] = col_int(s, REQUEST_READ_BODY_SEQ);
		big[1] = col_int(s, REQUEST_READ_EFFECT_SEQ);
		big[2] = col_int(s, REQUEST_READ_DESCRIPTION_SEQ);
	}
	stmt_reset(s);
	if (got <= 0)
		return got;
	if (request_read_files(st, seq, r, e))
		return -1;
	if ((big[0] && content_get(st, big[0], &r->body, e)) ||
	    (big[1] && content_get(st, big[1], &r->effect, e)) ||
	    (big[2] && content_get(st, big[2], &description, e)))
		return -1;
	if (big[2])
		r->description = str_take(&description);
	return 1;
}

int request_read_answer(struct store *st, int64_t seq, struct request *r, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_ANSWER);
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		r->seq = seq;
		r->id = col_copy(s, REQUEST_ANSWER_ID);
		r->state = col_copy(s, REQUEST_ANSWER_STATE);
		r->decision = col_copy(s, REQUEST_ANSWER_DECISION);
		r->reason = col_copy(s, REQUEST_ANSWER_REASON);
		r->instruction = col_copy(s, REQUEST_ANSWER_INSTRUCTION);
	}
	stmt_reset(s);
	return got;
}

void request_clear(struct request *r)
{
	char *const texts[] = { r->id,
		                r->kind,
		                r->state,
		                r->digest,
		                r->title,
		                r->description,
		                r->file_path,
		                r->risk_level,
		                r->original_hash,
		                r->prompt_type,
		                r->deadline_at,
		                r->decision,
		                r->reason,
		                r->instruction,
		                r->decided_by,
		                r->decided_at,
		                r->consumed_at,
		                r->created_at,
		                r->previous_at,
		                r->session_id,
		                r->host,
		                r->workspace_root,
		                r->session_status,
		                r->session_mode,
		                r->client_name };

	for (size_t i = 0; i < COUNT(texts); i++)
		free(texts[i]);
	str_clear(&r->body);
	str_clear(&r->effect);
	for (size_t i = 0; i < r->file_count; i++)
		touched_clear(&r->files[i]);
	free(r->files);
	*r = (struct request)REQUEST_INIT;
}

void request_add_name(struct str *out, const struct request *r)
{
	for (size_t i = 0; i < r->file_count; i++)
		if (r->file_path && strcmp(r->files[i].path, r->file_path) == 0) {
			touched_add_name(out, &r->files[i]);
			return;
		}
	visible_add_name(out, r->file_path ? r->file_path : "");
}

struct sha256 request_shown_digest(const struct request *r)
{
	const struct shown s = { .title = r->title,
		                 .description = r->description,
		                 .risk_level = r->risk_level,
		                 .file_path = r->file_path,
		                 .body = str_text(&r->body),
		                 .body_length = r->body.length,
		                 .effect = str_text(&r->effect),
		                 .effect_length = r->effect.length,
		                 .replaces_file = r->replaces_file,
		                 .files = r->files,
		                 .file_count = r->file_count };

	return shown_digest(&s);
}

/* ---- asking ---- */

struct found {
	int64_t seq;
	bool open, interrupted, approved, rejected, answered, delivered;
	int64_t decided_ms; /* -1: undecided */
	int64_t remaining_ms; /* -1: waits for ever */
};

_Static_assert((int)REQUEST_OWN_REMAINING_MS == (int)REQUEST_ORPHAN_REMAINING_MS &&
                   (int)REQUEST_OWN_STATE == (int)REQUEST_ORPHAN_STATE &&
                   (int)REQUEST_OWN_DECIDED_AT == (int)REQUEST_ORPHAN_DECIDED_AT &&
                   (int)REQUEST_OWN_DELIVERED_AT == (int)REQUEST_ORPHAN_DELIVERED_AT,
               "both statements give the same columns");

static int take_found(stmt *s, struct found *f, struct err *e)
{
	int got = stmt_row(s, e);

	*f = (struct found){ .decided_ms = -1 };
	if (got > 0) {
		const char *state = col_text(s, REQUEST_OWN_STATE);

		f->seq = col_int(s, REQUEST_OWN_SEQ);
		f->interrupted = strcmp(state, "interrupted") == 0;
		f->open = f->interrupted || strcmp(state, "pending") == 0;
		f->approved = strcmp(state, "approved") == 0;
		f->rejected = strcmp(state, "rejected") == 0;
		f->answered = strcmp(state, "answered") == 0;
		f->delivered = !col_is_null(s, REQUEST_OWN_DELIVERED_AT);
		f->decided_ms = clock_parse(col_text(s, REQUEST_OWN_DECIDED_AT));
		f->remaining_ms = int_or(s, REQUEST_OWN_REMAINING_MS, -1);
	}
	stmt_reset(s);
	return got;
}

/* Whether an approval is for as long as it is not used: a permission is for one moment. */
static bool is_kept(const struct question *q)
{
	return strcmp(q->kind, "clearance") == 0;
}

static bool prompt_expired(const struct found *f, const struct question *q)
{
	return !is_kept(q) && !f->open && !f->answered && !f->delivered;
}

/* Whether a finished answer is said once more in place of asking again. */
static bool is_repeated(const struct found *f, const struct question *q)
{
	if (f->approved)
		return is_kept(q) || !f->delivered;
	if (f->rejected)
		return !f->delivered || clock_now_ms() - f->decided_ms <= REQUEST_REJECTED_MS;
	if (f->answered)
		return !f->delivered;
	return prompt_expired(f, q);
}

static int revive(struct store *st, const struct found *f, struct err *e)
{
	struct instant deadline = clock_instant(clock_now_ms() + f->remaining_ms);
	stmt *s = store_stmt(st, SQL_REQUEST_REVIVE);

	bind_int(s, ":seq", f->seq);
	bind_text(s, ":deadline_at", f->remaining_ms < 0 ? NULL : deadline.text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int adopt(struct store *st, const struct asker *who, int64_t seq, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_ADOPT);

	bind_int(s, ":seq", seq);
	bind_int(s, ":session", who->session_seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int insert_files(struct store *st, int64_t request, const struct question *q, struct err *e)
{
	for (size_t i = 0; i < q->file_count; i++) {
		const struct touched *f = &q->files[i];
		stmt *s = store_stmt(st, SQL_REQUEST_FILE_INSERT);

		bind_int(s, ":request", request);
		bind_text(s, ":path", f->path);
		bind_text(s, ":target", f->target);
		bind_text(s, ":action", f->action);
		bind_text(s, ":other_path", f->other);
		bind_int(s, ":mode", f->mode);
		bind_text(s, ":original_hash", f->hash);
		bind_text(s, ":result_hash", f->result_hash);
		if (stmt_run(s, e) < 0)
			return -1;
	}
	return 0;
}

static int64_t insert(struct store *st, const struct asker *who, const struct question *q,
                      int64_t previous, struct err *e)
{
	struct id id = id_new();
	struct instant deadline = clock_instant(clock_now_ms() + q->timeout_ms);
	stmt *s = store_stmt(st, SQL_REQUEST_INSERT);
	int64_t seq;

	if (content_bind(st, s, ":description", ":description_seq", q->description,
	                 q->description ? strlen(q->description) : 0, e) ||
	    content_bind(st, s, ":body", ":body_seq", q->body, q->body_length, e) ||
	    content_bind(st, s, ":effect", ":effect_seq", q->effect, q->effect_length, e))
		return -1;
	bind_text(s, ":id", id.text);
	bind_int(s, ":session", who->session_seq);
	bind_text(s, ":kind", q->kind);
	bind_text(s, ":digest", q->digest);
	bind_text(s, ":title", q->title);
	bind_int(s, ":replaces_file", q->replaces_file);
	bind_text(s, ":file_path", q->file_path);
	bind_text(s, ":risk_level", q->risk_level);
	bind_text(s, ":original_hash", q->original_hash);
	bind_text(s, ":prompt_type", q->prompt_type);
	if (q->elapsed_seconds >= 0)
		bind_int(s, ":elapsed_seconds", q->elapsed_seconds);
	if (q->actions_taken >= 0)
		bind_int(s, ":actions_taken", q->actions_taken);
	bind_seq(s, ":timeout_ms", q->timeout_ms);
	bind_text(s, ":deadline_at", q->timeout_ms ? deadline.text : NULL);
	bind_seq(s, ":previous", previous);
	if (stmt_run(s, e) < 0)
		return -1;
	seq = store_last_seq(st);
	return insert_files(st, seq, q, e) ? -1 : seq;
}

static int find_own(struct store *st, const struct asker *who, const struct question *q,
                    struct found *f, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_OWN);

	bind_text(s, ":digest", q->digest);
	bind_int(s, ":session", who->session_seq);
	return take_found(s, f, e);
}

static int find_orphan(struct store *st, const struct asker *who, const struct question *q,
                       struct found *f, struct err *e)
{
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);
	stmt *s = store_stmt(st, SQL_REQUEST_ORPHAN);

	bind_text(s, ":digest", q->digest);
	bind_int(s, ":session", who->session_seq);
	bind_text(s, ":host", who->host);
	bind_text(s, ":workspace", who->workspace_root);
	bind_text(s, ":live_after", live_after.text);
	bind_text(s, ":label", who->label);
	bind_text(s, ":process", who->process);
	return take_found(s, f, e);
}

int64_t request_ask(struct store *st, const struct asker *who, const struct question *q,
                    bool *ret_open, struct err *e)
{
	struct found own, orphan;
	int has_own = find_own(st, who, q, &own, e);

	if (has_own < 0)
		return -1;
	*ret_open = true;
	if (has_own && own.open)
		return own.interrupted && revive(st, &own, e) ? -1 : own.seq;
	if (has_own && is_repeated(&own, q)) {
		*ret_open = false;
		return own.seq;
	}
	int has_orphan = find_orphan(st, who, q, &orphan, e);
	if (has_orphan < 0)
		return -1;
	if (has_orphan && (orphan.open || is_repeated(&orphan, q))) {
		if (adopt(st, who, orphan.seq, e) || (orphan.interrupted && revive(st, &orphan, e)))
			return -1;
		*ret_open = orphan.open;
		return orphan.seq;
	}
	*ret_open = !q->only_again;
	if (q->only_again)
		return 0;
	return insert(st, who, q, has_own && own.rejected ? own.seq : 0, e);
}

int request_revive_all(struct store *st, int64_t session_seq, struct err *e)
{
	struct found f = { .seq = 0 };
	int got;

	do {
		stmt *s = store_stmt(st, SQL_REQUEST_INTERRUPTED_OF_SESSION);

		bind_int(s, ":session", session_seq);
		bind_int(s, ":after", f.seq);
		got = stmt_row(s, e);
		if (got > 0) {
			f.seq = col_int(s, REQUEST_INTERRUPTED_OF_SESSION_SEQ);
			f.remaining_ms = int_or(s, REQUEST_INTERRUPTED_OF_SESSION_REMAINING_MS, -1);
		}
		stmt_reset(s);
		if (got > 0 && revive(st, &f, e))
			got = -1;
	} while (got > 0);
	return got;
}

int request_attach(struct store *st, int64_t session_seq, const char *digest, struct err *e)
{
	const struct asker who = { .session_seq = session_seq };
	const struct question q = { .digest = digest };
	struct found own;
	int has_own = find_own(st, &who, &q, &own, e);

	if (has_own < 0)
		return -1;
	return has_own && own.interrupted ? revive(st, &own, e) : 0;
}
