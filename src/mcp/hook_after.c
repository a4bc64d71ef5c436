/* After a tool: whether it did what was allowed. */
#include "hook.h"

#include "visible.h"

#include <string.h>

enum { WHY_BYTES = 500 };

/* What was found. */
struct comparison {
	const struct call *c;
	struct str why; /* what differs */
	bool has_files, misses_file;
};

static void comparison_clear(struct comparison *d)
{
	str_clear(&d->why);
}

/* The hash of a path as it is now; NULL: it was not looked at. */
static const char *hash_of(const struct call *c, const char *path)
{
	for (size_t i = 0; i < c->name_count; i++)
		if (!c->names[i].is_other && strcmp(c->names[i].path, path) == 0)
			return c->names[i].hash;
	return NULL;
}

static void note_difference(struct str *why, const char *path, const char *what)
{
	if (why->length > WHY_BYTES)
		return;
	if (why->length)
		str_add(why, "; ");
	visible_add_name(why, path);
	str_addf(why, " %s", what);
}

static int compare_file(struct store *st, struct comparison *d, const struct gate_file_list_row *f,
                        struct err *e)
{
	const char *hash = hash_of(d->c, f->path);

	if (!hash || !*hash) {
		d->misses_file = true;
		return 0;
	}
	if (strcmp(hash, f->result_hash) != 0)
		note_difference(&d->why, f->path,
		                strcmp(hash, f->original_hash) == 0 ? "is as it was before"
		                                                    : "is not what was allowed");
	return sql_gate_file_see(st, hash, f->seq, e);
}

static int compare_files(struct store *st, int64_t pre, struct comparison *d, struct err *e)
{
	OWNED(gate_file_list_row) struct gate_file_list_row row = { 0 };
	int got;

	sql_gate_file_list(st, pre, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		d->has_files = true;
		if (compare_file(st, d, &row, e))
			return -1;
	}
	return got;
}

static enum gate_call_seen verdict_of(const struct hook *h, const struct comparison *d)
{
	bool is_edit = h->in.class == GATE_EDIT;

	if (d->why.length)
		return GATE_CALL_SEEN_DIFFERS;
	return is_edit && (!d->has_files || d->misses_file) ? GATE_CALL_SEEN_UNKNOWN
	                                                    : GATE_CALL_SEEN_SAME;
}

int hook_compare(struct store *st, struct call *c, const struct peer *p, struct err *e)
{
	struct hook *h = c->hook;
	OWNED(comparison) struct comparison d = { .c = c };
	OWNED(gate_call_allowed_row) struct gate_call_allowed_row row = { 0 };
	int got =
	    sql_gate_call_allowed(st, p->session_seq, h->in.tool_use_id, h->digest.text, &row, e);

	if (got <= 0)
		return got;
	h->pre_seq = row.seq;
	if (h->in.failed)
		return sql_gate_call_see(st, GATE_CALL_SEEN_FAILED, NULL, row.seq, e);
	/* What we have written into its input ourselves need not be what we were asked about. */
	if (strcmp(row.digest, h->digest.text) != 0 && h->in.class != GATE_QUESTION &&
	    h->in.class != GATE_PLAN)
		str_add(&d.why, "it was called with other arguments");
	if (!d.why.length && compare_files(st, row.seq, &d, e))
		return -1;
	return sql_gate_call_see(st, verdict_of(h, &d), d.why.length ? d.why.bytes : NULL, row.seq,
	                         e);
}
