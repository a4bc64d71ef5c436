#include "changes.h"

#include "json_writer.h"
#include "restore_plan.h"
#include "tree_diff.h"

#include <string.h>

enum { DIFF_BYTES = 4 << 20 /* nobody reads more */ };

struct counts {
	int64_t modified, added, deleted, not_compared;
};

static int count(const struct manifest_change *change, void *arg)
{
	struct counts *n = arg;

	n->modified += change->before && change->after;
	n->added += !change->before;
	n->deleted += !change->after;
	return 0;
}

/* Goes through both sides: adds the differences to text; where that is NULL, counts them. */
static int compare(const struct objects *o, const struct file_look_sides_row *s, struct counts *n,
                   struct str *text, struct err *e)
{
	OWNED(manifest) struct manifest before = { 0 }, after = { 0 };

	if (manifest_open(o, s->before, &before, e) || manifest_open(o, s->after, &after, e))
		return -1;
	return text ? tree_diff(&before, &after, DIFF_BYTES, text, e)
	            : manifest_compare(&before, &after, count, n, e);
}

static int add_left_out(const struct objects *o, const struct file_look_sides_row *s,
                        struct counts *n, struct str *text, struct err *e)
{
	struct restore_left left = { 0 };
	int failed = restore_left_out(o, s->after, s->before, &left, e);

	if (!failed && left.count > 0)
		str_addf(text, "%s\nNot compared (%zu):\n%s",
		         text->length ? ""
		                      : "Nothing has changed, as far as it could be compared.\n",
		         left.count, str_text(&left.list));
	n->not_compared = (int64_t)left.count;
	restore_left_clear(&left);
	return failed;
}

int changes_show(const struct file_look_sides_row *s, const char *folder, const char *root,
                 struct str *detail, struct look_found *found, struct err *e)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct counts n = { 0 };

	if (!s->before || !s->after)
		return err_set(e, ERR_INPUT, "%s",
		               !s->before ? "the checkpoint is gone"
		               : s->why   ? s->why
		                          : "the workspace could not be read");
	if (objects_open(folder, false, &o, e) || compare(&o, s, &n, NULL, e) ||
	    compare(&o, s, NULL, &found->text, e) || add_left_out(&o, s, &n, &found->text, e))
		return -1;
	json_object(detail);
	json_member(detail, "workspace_root", root);
	json_member(detail, "checkpoint_id", s->id);
	if (s->label)
		json_member(detail, "label", s->label);
	json_member(detail, "kind", checkpoint_kind_name(s->kind));
	json_member(detail, "taken_at", s->created_at);
	json_member_int(detail, "modified", n.modified);
	json_member_int(detail, "added", n.added);
	json_member_int(detail, "deleted", n.deleted);
	json_member_int(detail, "not_compared", n.not_compared);
	json_member(detail, "file_name", "changes.diff");
	json_object_end(detail);
	return 0;
}
