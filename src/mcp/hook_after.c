/* After a tool: whether it did what was allowed. */
#include "hook.h"

#include "sql/gate_rewrite.h"
#include "visible.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WHY_BYTES = 500 };

/* What was found. */
struct comparison {
	const struct call *c;
	/* What was handed over instead of what was asked; empty: nothing else. */
	struct gate_rewrite_of_row instead;
	struct sha256 asked; /* gate_call.digest */
	struct str folder; /* gate_call.cwd */
	struct str why; /* what differs */
	bool has_files, misses_file;
};

static void comparison_clear(struct comparison *d)
{
	str_clear(&d->why);
	str_clear(&d->folder);
	gate_rewrite_of_row_clear(&d->instead);
}

/* A path as it is now; NULL: it was not looked at. */
static const struct hand_name *name_of(const struct call *c, const char *path)
{
	for (size_t i = 0; i < c->name_count; i++)
		if (c->names[i].path && strcmp(c->names[i].path, path) == 0)
			return &c->names[i];
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
	const struct hand_name *now = name_of(d->c, f->path);
	const char *hash = now ? now->hash : "";

	if (now && (now->is_other || strcmp(now->target, f->target) != 0)) {
		note_difference(&d->why, f->path,
		                "is not the file that was allowed, but leads to ");
		visible_add_name(&d->why, now->target  ? now->target
		                          : now->leads ? now->leads
		                                       : "nowhere");
	} else if (!*hash) {
		d->misses_file = true;
	}
	if (!*hash)
		return 0;
	if (!d->why.length &&
	    strcmp(hash, d->instead.text_hash ? d->instead.text_hash : f->result_hash) != 0)
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

/* The use of a tool that was handed these arguments. 1 found, 0, -1. */
static int take_handed(struct store *st, struct hook *h, const struct peer *p, struct err *e)
{
	OWNED(gate_rewritten_row) struct gate_rewritten_row row = { 0 };
	int got = sql_gate_rewrite_handed(st, p->session_seq, h->digest.text, false, &row, e);

	h->pre_seq = row.gate_seq;
	return got;
}

/* What this tool was allowed to do. 1 found, 0 nothing, -1. */
static int find_allowed(struct store *st, struct comparison *d, const struct peer *p, struct err *e)
{
	struct hook *h = d->c->hook;
	OWNED(gate_call_allowed_row) struct gate_call_allowed_row row = { 0 };
	int got =
	    sql_gate_call_allowed(st, p->session_seq, h->in.tool_use_id, h->digest.text, &row, e);

	h->pre_seq = row.seq;
	if (got == 0)
		got = take_handed(st, h, p, e);
	if (got <= 0)
		return got;
	(void)snprintf(d->asked.text, sizeof(d->asked.text), "%s", row.digest ? row.digest : "");
	str_add(&d->folder, row.cwd ? row.cwd : "");
	return sql_gate_rewrite_of(st, h->pre_seq, &d->instead, e) < 0 ? -1 : 1;
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-./", c));
}

/* Whether a command has a word that may take its shell to another folder. */
static bool moves(const char *command)
{
	static const char *const WORDS[] = { "cd", "chdir", "pushd", "popd" };

	for (size_t i = 0; i < COUNT(WORDS); i++) {
		size_t length = strlen(WORDS[i]);

		for (const char *at = command; (at = strstr(at, WORDS[i])); at += length)
			if ((at == command || !is_in_word(at[-1])) && !is_in_word(at[length]))
				return true;
	}
	return false;
}

/* What was run, as the digest of a question. Where a host tells in which folder its shell stands
 * after a command that may have moved it, nothing tells where that began: the folder of the
 * question counts. One that moves nothing ran where the shell stands. */
static struct sha256 digest_of_run(const struct hook *h, const struct comparison *d)
{
	const struct gate_input *in = &h->in;

	return in->host->keeps_shell && in->class == GATE_EXECUTE && in->command &&
	               !in->command_dir && d->folder.length && moves(in->command)
	           ? hook_digest_in(h, str_text(&d->folder))
	           : h->digest;
}

int hook_compare(struct store *st, struct call *c, const struct peer *p, struct err *e)
{
	struct hook *h = c->hook;
	OWNED(comparison) struct comparison d = { .c = c };
	const char *allowed;
	struct sha256 ran;
	int got = find_allowed(st, &d, p, e);

	if (got <= 0)
		return got;
	if (h->in.failed)
		return sql_gate_call_see(st, GATE_CALL_SEEN_FAILED, NULL, h->pre_seq, e);
	ran = digest_of_run(h, &d);
	allowed = d.instead.digest ? d.instead.digest : d.asked.text;
	/* What we have written into its input ourselves need not be what we were asked about. */
	if (strcmp(allowed, ran.text) != 0 && h->in.class != GATE_QUESTION &&
	    h->in.class != GATE_PLAN)
		str_add(&d.why, "it was called with other arguments");
	if (!d.why.length && compare_files(st, h->pre_seq, &d, e))
		return -1;
	return sql_gate_call_see(st, verdict_of(h, &d), d.why.length ? d.why.bytes : NULL,
	                         h->pre_seq, e);
}
