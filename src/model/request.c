#include "request.h"

#include "content.h"
#include "id.h"
#include "visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int request_read_files(struct store *st, int64_t seq, struct request *r, struct err *e)
{
	OWNED(request_file_row) struct request_file_row row = { 0 };
	int got;

	sql_request_file_list(st, seq, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		struct touched *f;

		r->files = xrealloc(r->files, (r->file_count + 1) * sizeof(*r->files));
		f = &r->files[r->file_count++];
		*f = (struct touched){ .path = xstrdup(row.path),
			               .target = xstrdup(row.target),
			               .action = request_file_action_name(row.action),
			               .other = xstrdup_if(row.other_path),
			               .mode = (unsigned)row.mode };
		(void)snprintf(f->hash, sizeof(f->hash), "%s", row.original_hash);
		(void)snprintf(f->result_hash, sizeof(f->result_hash), "%s", row.result_hash);
	}
	return got;
}

/* A text that is stored in the row, or in content. */
static int read_text(struct store *st, const char *text, int64_t seq, struct str *out,
                     struct err *e)
{
	if (text)
		str_add(out, text);
	return seq ? content_get(st, seq, out, e) : 0;
}

int request_read(struct store *st, int64_t seq, struct request *r, struct err *e)
{
	struct request_row *row = &r->row;
	int got = sql_request_read(st, seq, row, e);

	if (got <= 0)
		return got;
	if (request_read_files(st, seq, r, e) ||
	    read_text(st, row->body, row->body_seq, &r->body, e) ||
	    read_text(st, row->effect, row->effect_seq, &r->effect, e) ||
	    read_text(st, row->edited, row->edited_seq, &r->edited, e) ||
	    read_text(st, NULL, row->description_seq, &r->big_description, e))
		return -1;
	r->description = row->description_seq ? str_text(&r->big_description) : row->description;
	if (!request_is_open(row->state) &&
	    sql_request_outcome(st, seq, row->session_status == SESSION_STATUS_TERMINATED,
	                        &r->outcome, e) < 0)
		return -1;
	return 1;
}

int request_read_answer(struct store *st, int64_t seq, struct request *r, struct err *e)
{
	return sql_request_answer(st, seq, &r->row, e);
}

void request_clear(struct request *r)
{
	request_row_clear(&r->row);
	request_outcome_row_clear(&r->outcome);
	str_clear(&r->big_description);
	str_clear(&r->body);
	str_clear(&r->effect);
	str_clear(&r->edited);
	for (size_t i = 0; i < r->file_count; i++)
		touched_clear(&r->files[i]);
	free(r->files);
	*r = (struct request){ 0 };
}

bool request_is_change(const struct request *r)
{
	return r->row.kind == REQUEST_KIND_CLEARANCE ||
	       (r->row.kind == REQUEST_KIND_PERMISSION && r->file_count);
}

struct request_parts request_split(const struct request *r, const char *text, size_t length)
{
	size_t notes = (size_t)r->row.notes_length < length ? (size_t)r->row.notes_length : length;
	size_t words = length - notes;

	while (notes && words && text[words - 1] == '\n')
		words--;
	return (struct request_parts){ words, text + length - notes, notes };
}

void request_add_name(struct str *out, const struct request *r)
{
	for (size_t i = 0; i < r->file_count; i++)
		if (r->row.file_path && strcmp(r->files[i].path, r->row.file_path) == 0) {
			proposal_touched_add_name(out, &r->files[i]);
			return;
		}
	visible_add_name(out, r->row.file_path ? r->row.file_path : "");
}

struct sha256 request_shown_digest(const struct request *r)
{
	const struct shown s = { .title = r->row.title,
		                 .description = r->description,
		                 .risk_level = request_risk_level_name(r->row.risk_level),
		                 .file_path = r->row.file_path,
		                 .body = str_text(&r->body),
		                 .body_length = r->body.length,
		                 .effect = str_text(&r->effect),
		                 .effect_length = r->effect.length,
		                 .replaces_file = r->row.replaces_file,
		                 .files = r->files,
		                 .file_count = r->file_count };

	return proposal_digest(&s);
}

/* ---- asking ---- */

bool request_is_open(enum request_state state)
{
	return state == REQUEST_STATE_PENDING || state == REQUEST_STATE_INTERRUPTED;
}

/* Whether an approval stays valid until it is used: a permission is for one moment. */
static bool is_kept(const struct question *q)
{
	return q->kind == REQUEST_KIND_CLEARANCE;
}

static bool is_recent(const struct request_found_row *f)
{
	return clock_now_ms() - clock_parse(f->decided_at) <= REQUEST_NO_MS;
}

/* Whether a finished answer is repeated instead of asking again. */
static bool is_repeated(const struct request_found_row *f, const struct question *q)
{
	bool delivered = f->delivered_at != NULL;

	switch (f->state) {
	case REQUEST_STATE_APPROVED:
		return is_kept(q) || !delivered;
	case REQUEST_STATE_REJECTED:
		return !delivered || is_recent(f);
	case REQUEST_STATE_ANSWERED:
		return !delivered;
	case REQUEST_STATE_EXPIRED: /* nobody has said so: later a person is asked again */
		return !is_kept(q) && !delivered && is_recent(f);
	case REQUEST_STATE_CONSUMED:
	case REQUEST_STATE_NONE:
	case REQUEST_STATE_PENDING:
	case REQUEST_STATE_INTERRUPTED:
		break;
	}
	return false;
}

int request_revive(struct store *st, int64_t seq, const int64_t *remaining_ms, struct err *e)
{
	struct instant deadline = { 0 };

	if (remaining_ms)
		deadline = clock_instant(clock_now_ms() + *remaining_ms);
	return sql_request_revive(st, remaining_ms ? deadline.text : NULL, seq, e);
}

static int revive_found(struct store *st, const struct request_found_row *f, struct err *e)
{
	if (f->state != REQUEST_STATE_INTERRUPTED)
		return 0;
	return request_revive(st, f->seq, f->has_remaining_ms ? &f->remaining_ms : NULL, e);
}

static int insert_files(struct store *st, int64_t request, const struct question *q, struct err *e)
{
	for (size_t i = 0; i < q->file_count; i++) {
		const struct touched *f = &q->files[i];
		const struct request_file_insert_args args = {
			.request = request,
			.path = f->path,
			.target = f->target,
			.action = request_file_action_of(f->action),
			.other_path = f->other,
			.mode = f->mode,
			.original_hash = f->hash,
			.result_hash = f->result_hash,
		};

		if (sql_request_file_insert(st, &args, e))
			return -1;
	}
	return 0;
}

static int64_t insert(struct store *st, const struct asker *who, const struct question *q,
                      int64_t previous, struct err *e)
{
	struct id id = id_new();
	struct instant deadline = clock_instant(clock_now_ms() + q->timeout_ms);
	size_t described = q->description ? strlen(q->description) : 0;
	struct placed description, body, effect;
	int64_t seq;

	if (content_place(st, q->description, described, &description, e) ||
	    content_place(st, q->body, q->body_length, &body, e) ||
	    content_place(st, q->effect, q->effect_length, &effect, e))
		return -1;
	seq = sql_request_insert(
	    st,
	    &(struct request_insert_args){
	        .id = id.text,
	        .session = who->session_seq,
	        .kind = q->kind,
	        .digest = q->digest,
	        .title = q->title,
	        .description = description.text,
	        .description_seq = description.seq,
	        .notes_length = (int64_t)q->notes_length,
	        .body = body.text,
	        .body_seq = body.seq,
	        .effect = effect.text,
	        .effect_seq = effect.seq,
	        .replaces_file = q->replaces_file,
	        .file_path = q->file_path,
	        .risk_level = request_risk_level_of(q->risk_level),
	        .original_hash = q->original_hash,
	        .prompt_type = request_prompt_type_of(q->prompt_type),
	        .editable = q->editable,
	        .elapsed_seconds = q->elapsed_seconds >= 0 ? &q->elapsed_seconds : NULL,
	        .actions_taken = q->actions_taken >= 0 ? &q->actions_taken : NULL,
	        .timeout_ms = q->timeout_ms ? &q->timeout_ms : NULL,
	        .deadline_at = q->timeout_ms ? deadline.text : NULL,
	        .previous = previous,
	    },
	    e);
	return seq < 0 || insert_files(st, seq, q, e) ? -1 : seq;
}

int64_t request_ask_new(struct store *st, const struct asker *who, const struct question *q,
                        struct err *e)
{
	return insert(st, who, q, 0, e);
}

static int find_own(struct store *st, int64_t session_seq, const char *digest,
                    struct request_found_row *f, struct err *e)
{
	struct instant words_after = clock_instant(clock_now_ms() - REQUEST_NO_MS);

	return sql_request_own(st, words_after.text, digest, session_seq, f, e);
}

static int find_orphan(struct store *st, const struct asker *who, const struct question *q,
                       struct request_found_row *f, struct err *e)
{
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);
	const struct request_orphan_args args = { .label = who->label,
		                                  .connection = who->connection_seq,
		                                  .digest = q->digest,
		                                  .session = who->session_seq,
		                                  .machine = who->machine,
		                                  .workspace = who->workspace_root,
		                                  .live_after = live_after.text };

	int known = sql_request_is_elsewhere(st, q->digest, who->session_seq, e);

	return known > 0 ? sql_request_orphan(st, &args, f, e) : known;
}

static int64_t find_or_insert(struct store *st, const struct asker *who, const struct question *q,
                              bool *ret_open, struct err *e)
{
	OWNED(request_found_row) struct request_found_row own = { 0 }, orphan = { 0 };
	int has_own = find_own(st, who->session_seq, q->digest, &own, e);

	if (has_own < 0)
		return -1;
	*ret_open = true;
	if (has_own && request_is_open(own.state))
		return revive_found(st, &own, e) ? -1 : own.seq;
	int by_editor =
	    own.state == REQUEST_STATE_REJECTED ? sql_request_is_of_editor(st, own.id, e) : 0;
	if (by_editor < 0)
		return -1;
	if (has_own && !by_editor && is_repeated(&own, q)) {
		*ret_open = false;
		return own.seq;
	}
	/* Of two that ask the same, each has its own question. */
	int has_orphan = has_own ? 0 : find_orphan(st, who, q, &orphan, e);
	if (has_orphan < 0)
		return -1;
	if (has_orphan && (request_is_open(orphan.state) || is_repeated(&orphan, q))) {
		if (sql_request_adopt(st, who->session_seq, orphan.seq, e) ||
		    revive_found(st, &orphan, e))
			return -1;
		*ret_open = request_is_open(orphan.state);
		return orphan.seq;
	}
	*ret_open = !q->only_again;
	if (q->only_again)
		return 0;
	return insert(st, who, q, own.state == REQUEST_STATE_REJECTED ? own.seq : 0, e);
}

/* Hardly ever is there one, and an UPDATE that finds none costs as much as a third of a ping. */
static int end_unused(struct store *st, int64_t seq, struct err *e)
{
	int any = sql_request_again_any(st, seq, e);

	return any > 0 ? sql_request_end_unused(st, seq, e) : any;
}

int64_t request_ask(struct store *st, const struct asker *who, const struct question *q,
                    bool *ret_open, struct err *e)
{
	int64_t seq = find_or_insert(st, who, q, ret_open, e);

	return seq > 0 && q->file_count && end_unused(st, seq, e) ? -1 : seq;
}

int request_revive_all(struct store *st, int64_t session_seq, struct err *e)
{
	struct request_interrupted_of_session_row row = { 0 };
	int got;

	do {
		got = sql_request_interrupted_of_session(st, session_seq, row.seq, &row, e);
		if (got > 0 &&
		    request_revive(st, row.seq, row.has_remaining_ms ? &row.remaining_ms : NULL, e))
			got = -1;
	} while (got > 0);
	return got;
}

int request_attach(struct store *st, int64_t session_seq, const char *digest, struct err *e)
{
	OWNED(request_found_row) struct request_found_row own = { 0 };
	int has_own = find_own(st, session_seq, digest, &own, e);

	if (has_own < 0)
		return -1;
	return has_own ? revive_found(st, &own, e) : 0;
}

static int interrupt(struct store *st, int64_t seq, const char *deadline_at, struct err *e)
{
	int64_t left = deadline_at ? clock_parse(deadline_at) - clock_now_ms() : 0;

	if (left < 0)
		left = 0;
	return sql_request_interrupt(st, deadline_at ? &left : NULL, seq, e);
}

int request_interrupt_run(struct store *st, int64_t run_seq, struct err *e)
{
	OWNED(request_of_run_row) struct request_of_run_row row = { 0 };
	int got;

	sql_request_of_run(st, run_seq, &row);
	while ((got = row_next(&row.row, e)) > 0)
		if (interrupt(st, row.seq, row.deadline_at, e))
			return -1;
	return got;
}
