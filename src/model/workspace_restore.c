#include "workspace_restore.h"

#include "request.h"
#include "restore_plan.h"
#include "restore_show.h"
#include "sql/workspace_restore.h"

#include <string.h>

enum {
	LABEL_BYTES = 200,
	ATTEMPTS_MAX = 3, /* of comparing: then whoever tried has died of it so often */
};

/* An order, and what it comes to. */
struct restoring {
	struct store *store;
	const struct workspace_restore_wanted_row *row;
	struct objects objects;
	struct tree_change tree;
	struct sha256 digest;
	struct str label, named, list, diff, unknown;
	struct restore_left left;
};

static void restoring_clear(struct restoring *r)
{
	tree_change_clear(&r->tree);
	objects_clear(&r->objects);
	str_clear(&r->label);
	str_clear(&r->named);
	str_clear(&r->list);
	str_clear(&r->diff);
	str_clear(&r->unknown);
	restore_left_clear(&r->left);
}

/* ---- comparing ---- */

static void add_label(struct restoring *r)
{
	if (r->row->label && *r->row->label)
		str_add_shown(&r->label, r->row->label, strlen(r->row->label), LABEL_BYTES);
	else
		str_addf(&r->label, "%.13s", r->row->checkpoint_id);
}

/* 0; 1: a path was ordered that is nowhere; -1. */
static int compare(struct restoring *r, const char *database, struct err *e)
{
	const struct restore_order order = { .from_hash = r->row->from_hash,
		                             .to_hash = r->row->to_hash,
		                             .paths = r->row->paths };
	OWNED(str) struct str path = { 0 };
	int unknown;

	objects_path(database, &path);
	if (objects_open(str_text(&path), false, &r->objects, e))
		return -1;
	unknown = restore_unknown(&r->objects, &order, &r->unknown, e);
	if (unknown)
		return unknown;
	if (restore_plan(&r->objects, &order, &r->tree, &r->left, e) ||
	    restore_list(&r->tree, &r->left, &r->list, e) ||
	    restore_diff(&r->objects, &r->tree, &r->diff, e))
		return -1;
	r->digest = restore_digest(&order);
	restore_name(&r->tree, RESTORE_NAMED, &r->named);
	add_label(r);
	return 0;
}

/* ---- asking ---- */

/* What happens first. 0 or -1. */
static int add_running(struct restoring *r, struct str *text, struct err *e)
{
	OWNED(workspace_restore_running_row) struct workspace_restore_running_row row = { 0 };
	int got = sql_workspace_restore_running(r->store, r->row->seq, &row, e);

	if (got > 0 && row.count == 1)
		str_addf(text,
		         " The agent of session %s, which runs there, is stopped first; "
		         "session-resume starts it again.",
		         row.ids);
	else if (got > 0 && row.count > 1)
		str_addf(text,
		         " The agents of sessions %s, which run there, are stopped first; "
		         "session-resume with the id starts each of them again.",
		         row.ids);
	return got < 0 ? -1 : 0;
}

static int64_t ask(struct restoring *r, struct err *e)
{
	const struct asker who = { .session_seq = r->row->session_seq };
	OWNED(str) struct str title = { 0 }, text = { 0 };
	struct question q = { .kind = REQUEST_KIND_RESTORE,
		              .digest = r->digest.text,
		              .elapsed_seconds = -1,
		              .actions_taken = -1 };

	str_addf(&title, "Restore checkpoint %s", str_text(&r->label));
	str_addf(
	    &text,
	    "The following files have changed since checkpoint %s: %s. Proceeding will override "
	    "local state. What is there now is kept as checkpoint %.13s.",
	    str_text(&r->label), str_text(&r->named), r->row->before_id);
	if (r->left.count > 0)
		str_addf(&text, " %zu could not be compared and stay%s as %s: %s.", r->left.count,
		         r->left.count == 1 ? "s" : "", r->left.count == 1 ? "it is" : "they are",
		         str_text(&r->left.named));
	if (add_running(r, &text, e))
		return -1;
	if (r->row->previous_seq)
		str_addf(&text,
		         " (Asked again: the workspace has changed since the last answer: %s.)",
		         r->row->previous_why ? r->row->previous_why : "?");
	str_add(&r->list, r->diff.length > 0 ? "\n" : "");
	str_add_bytes(&r->list, str_text(&r->diff), r->diff.length);
	q.title = str_text(&title);
	q.description = str_text(&text);
	q.body = str_text(&r->list);
	q.body_length = r->list.length;
	return request_ask_new(r->store, &who, &q, e);
}

static int settle_asked(struct restoring *r, struct err *e)
{
	int64_t left = (int64_t)r->left.count;
	struct restore_count n = restore_count(&r->tree);
	struct workspace_restore_asked_args args = { .seq = r->row->seq,
		                                     .from_hash = r->row->from_hash,
		                                     .modified = &n.modified,
		                                     .deleted = &n.deleted,
		                                     .added = &n.added,
		                                     .named = str_text(&r->named),
		                                     .left_out = &left,
		                                     .left_named = str_text(&r->left.named) };

	args.request = ask(r, e);
	return args.request < 0 ? -1 : sql_workspace_restore_asked(r->store, &args, e);
}

static int settle_same(struct restoring *r, struct err *e)
{
	int64_t left = (int64_t)r->left.count;

	return sql_workspace_restore_same(r->store,
	                                  r->row->paths
	                                      ? "nothing differs at the chosen paths"
	                                      : "the workspace is as the checkpoint has it",
	                                  &left, str_text(&r->left.named), r->row->seq, e);
}

static int settle(struct restoring *r, const char *code, const char *why, struct err *e)
{
	int changed;

	if (store_begin(r->store, e))
		return -1;
	if (code)
		changed = sql_workspace_restore_refused(r->store, code, why, r->row->seq, e);
	else if (r->tree.count == 0)
		changed = settle_same(r, e);
	else
		changed = settle_asked(r, e);
	return store_end(r->store, changed < 0, e) ? -1 : 1;
}

static int settle_unknown(struct restoring *r, struct err *e)
{
	OWNED(str) struct str why = { 0 };

	str_add_shown(&why, str_text(&r->unknown), r->unknown.length, LABEL_BYTES);
	str_add(&why, " is neither in the checkpoint nor in the workspace, unless it is ignored");
	return settle(r, "no_such_path", str_text(&why), e);
}

static int count_attempt(struct restoring *r, int64_t attempts, struct err *e)
{
	int changed;

	if (store_begin(r->store, e))
		return -1;
	changed = sql_workspace_restore_compares(r->store, attempts, r->row->seq, e);
	return store_end(r->store, changed < 0, e);
}

int workspace_restore_next(struct store *st, const char *database, const char *machine,
                           int64_t *ret_seq, struct err *e)
{
	OWNED(workspace_restore_wanted_row) struct workspace_restore_wanted_row row = { 0 };
	OWNED(restoring)
	struct restoring r = {
		.store = st, .row = &row, .objects = OBJECTS_INIT, .tree = TREE_CHANGE_INIT
	};
	struct err wrong = { 0 };
	int got = sql_workspace_restore_wanted(st, machine, &row, e);

	if (got <= 0)
		return got;
	*ret_seq = row.seq;
	if (!row.from_hash)
		return settle(&r, "no_checkpoint",
		              row.why ? row.why : "the workspace could not be read", e);
	if (row.attempts >= ATTEMPTS_MAX)
		return settle(&r, "not_compared",
		              "comparing the two did not end, in several attempts; see the log", e);
	if (count_attempt(&r, row.attempts + 1, e))
		return -1;
	got = compare(&r, database, &wrong);
	if (got == 0)
		return settle(&r, NULL, NULL, e);
	if (got > 0)
		return settle_unknown(&r, e);
	if (wrong.kind == ERR_AGAIN) {
		if (count_attempt(&r, 0, e) == 0)
			*e = wrong;
		return -1;
	}
	return settle(&r, "content_missing", wrong.text, e);
}
