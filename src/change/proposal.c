#include "proposal.h"

#include "diff_almost.h"
#include "files.h"
#include "own_file.h"
#include "pulse.h"
#include "regular.h"
#include "safe_path.h"
#include "visible.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SPECIAL_MODE = 0120000, /* of a symlink or a submodule */
	SHOWN_BYTES = 300, /* of a path in a text */
};

static const char CREATE[] = "create", MODIFY[] = "modify", DELETE[] = "delete", READ[] = "read";

void touched_clear(struct touched *t)
{
	free(t->path);
	free(t->target);
	free(t->other);
	*t = (struct touched){ .path = NULL };
}

bool proposal_touched_is_link(const struct touched *t)
{
	return t->target && strcmp(t->path, t->target) != 0;
}

void proposal_touched_add_name(struct str *out, const struct touched *t)
{
	visible_add_name(out, t->path);
	if (!proposal_touched_is_link(t))
		return;
	str_add(out, " → ");
	visible_add_name(out, t->target);
}

void plan_clear(struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		touched_clear(&plan->files[i].is);
		free(plan->files[i].reaches);
		str_clear(&plan->files[i].old);
		str_clear(&plan->files[i].new);
		free(plan->files[i].places);
	}
	free(plan->files);
	diff_clear(&plan->diff);
	*plan = (struct plan){ 0 };
}

/* A refusal that names one or two paths, escaped for display. format has a %s for each. */
__attribute__((format(printf, 3, 0))) static void
tell_paths(struct refusal *why, const char *code, const char *format, const char *a, const char *b)
{
	OWNED(str) struct str first = { 0 }, second = { 0 };
	char text[ERR_TEXT_BYTES];

	str_add_shown(&first, a, strlen(a), SHOWN_BYTES);
	if (b)
		str_add_shown(&second, b, strlen(b), SHOWN_BYTES);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(text, sizeof(text), format, str_text(&first), str_text(&second));
#pragma GCC diagnostic pop
	refusal_tell(why, code, "%s", text);
}

#define refuse_paths(...) (tell_paths(__VA_ARGS__), err_failure())

/* ---- our own files ---- */

static int check_place(int root_fd, const struct proposal *p, const char *path, const char *target,
                       struct refusal *why)
{
	const char *ours = own_file(root_fd, target, p->ours);

	if (ours)
		return refuse_paths(why, "path_violation", "path violation: \"%s\" %s", path, ours);
	return 0;
}

/* ---- looking ---- */

static struct planned *find(struct plan *plan, const char *path, size_t *ret)
{
	for (*ret = 0; *ret < plan->count; (*ret)++)
		if (strcmp(plan->files[*ret].is.path, path) == 0)
			return &plan->files[*ret];
	return NULL;
}

static bool has_too_much(const struct proposal *p, const struct plan *plan)
{
	return plan->bytes > (p->most ? p->most : PROPOSAL_TOTAL_BYTES);
}

static int too_much(struct refusal *why)
{
	return refusal_set(why, "too_large",
	                   "the files of the proposal have more than %d bytes in all",
	                   (int)PROPOSAL_TOTAL_BYTES);
}

/* The file that a path stood for when the request was made; NULL: not part of it. */
static const char *asked_target(const struct proposal *p, const char *path)
{
	for (size_t i = 0; i < p->asked_count; i++)
		if (strcmp(p->asked[i].path, path) == 0)
			return p->asked[i].target;
	return NULL;
}

static int leads_elsewhere(const char *path, const char *then, const char *now, struct refusal *why)
{
	return refuse_paths(
	    why, "patch_conflict",
	    now ? "patch conflict: %s leads to another file than when it was asked "
	          "for, to %s"
	        : "patch conflict: %s leads nowhere, but when it was asked for to %s",
	    path, now ? now : then);
}

/* Finds the file that a path stands for. */
static int follow(int root_fd, const struct proposal *p, struct touched *t, struct refusal *why)
{
	OWNED(str) struct str target = { 0 };
	const char *then = asked_target(p, t->path);
	struct err e = { 0 };
	int nowhere;

	errno = 0;
	nowhere = safe_path_resolve(root_fd, t->path, &target, &e);
	if (nowhere > 0 && then)
		return leads_elsewhere(t->path, then, NULL, why);
	if (nowhere)
		return refuse_err(why, &e);
	if (then && strcmp(str_text(&target), then) != 0)
		return leads_elsewhere(t->path, then, str_text(&target), why);
	t->target = str_take(&target);
	return 0;
}

static size_t most_of_file(const struct proposal *p)
{
	return p->most && p->most < PROPOSAL_FILE_BYTES ? p->most : PROPOSAL_FILE_BYTES;
}

/* Reads the file that a path stands for. f->is.path is set. */
static int read_file(int root_fd, const struct proposal *p, struct planned *f, struct plan *plan,
                     struct refusal *why)
{
	struct err e = { 0 };
	int exists;

	if (follow(root_fd, p, &f->is, why) ||
	    check_place(root_fd, p, f->is.path, f->is.target, why))
		return -1;
	f->is_symlink = proposal_touched_is_link(&f->is) &&
	                files_stat(root_fd, f->is.path, &f->st, AT_SYMLINK_NOFOLLOW) == 0 &&
	                S_ISLNK(f->st.st_mode);
	errno = 0;
	exists = safe_path_read(root_fd, f->is.target, most_of_file(p), &f->old, &f->st, &e);
	if (exists < 0)
		return refuse_err(why, &e);
	f->exists = exists > 0;
	if (exists && f->st.st_nlink > 1)
		f->links = f->st.st_nlink > INT_MAX ? INT_MAX : (int)f->st.st_nlink;
	plan->bytes += f->old.length;
	if (has_too_much(p, plan))
		return too_much(why);
	(void)snprintf(f->is.hash, sizeof(f->is.hash), "%s",
	               exists ? sha256_of(str_text(&f->old), f->old.length).text : NO_FILE);
	return 0;
}

/* The number of a path in the plan; a new path is read. 0 or -1. */
int proposal_touch(int root_fd, const struct proposal *p, struct plan *plan, const char *given,
                   size_t *ret, struct refusal *why)
{
	OWNED(str) struct str path = { 0 };
	struct err e = { 0 };

	errno = 0;
	if (safe_path_clean(p->workspace_root, given, strlen(given), &path, &e))
		return refuse_err(why, &e);
	if (find(plan, str_text(&path), ret))
		return 0;
	if (plan->count == PROPOSAL_FILES)
		return refusal_set(why, "too_large", "the diff touches more than %d paths",
		                   (int)PROPOSAL_FILES);
	plan->files = xrealloc(plan->files, (plan->count + 1) * sizeof(*plan->files));
	plan->files[plan->count] = (struct planned){ .from = PLAN_NONE };
	plan->files[plan->count].is.path = str_take(&path);
	*ret = plan->count++;
	return read_file(root_fd, p, &plan->files[*ret], plan, why);
}

/* What a part of a diff may be at all. */
static int check_part(const struct diff_file *d, struct refusal *why)
{
	const char *name = d->new_path ? d->new_path : d->old_path;

	if ((d->new_mode & SPECIAL_MODE) == SPECIAL_MODE)
		return refuse_paths(why, "invalid_diff",
		                    "the diff makes %s a symlink or a submodule%s", name, NULL);
	if ((d->old_mode & SPECIAL_MODE) == SPECIAL_MODE)
		return refuse_paths(why, "invalid_diff",
		                    "the diff changes the symlink or submodule %s%s", name, NULL);
	if (d->old_path && d->new_path && !d->is_rename && !d->is_copy &&
	    strcmp(d->old_path, d->new_path) != 0)
		return refuse_paths(
		    why, "invalid_diff",
		    "a part of the diff names two files, %s and %s: to rename one, say so as git "
		    "does (\"diff --git\", \"rename from\", \"rename to\")",
		    d->old_path, d->new_path);
	return 0;
}

/* The source of a part's content; the part may remove it. */
static int take_source(int root_fd, const struct proposal *p, struct plan *plan,
                       const struct diff_file *d, size_t *ret, struct refusal *why)
{
	bool goes = d->is_rename || d->is_delete || !d->new_path;
	struct planned *f;

	if (proposal_touch(root_fd, p, plan, d->old_path, ret, why))
		return -1;
	f = &plan->files[*ret];
	if (!goes)
		return 0;
	if (f->taken_by)
		return refuse_paths(why, "invalid_diff",
		                    "two parts of the diff delete or rename %s%s", f->is.path,
		                    NULL);
	f->taken_by = d;
	return 0;
}

static int take_part(int root_fd, const struct proposal *p, struct plan *plan,
                     const struct diff_file *d, struct refusal *why)
{
	size_t from = PLAN_NONE, at = 0;

	if (check_part(d, why) || (d->old_path && take_source(root_fd, p, plan, d, &from, why)))
		return -1;
	if (!d->new_path)
		return 0;
	if (proposal_touch(root_fd, p, plan, d->new_path, &at, why))
		return -1;
	if (plan->files[at].by)
		return refuse_paths(why, "invalid_diff",
		                    "two parts of the diff write %s: put their hunks into one%s",
		                    plan->files[at].is.path, NULL);
	plan->files[at].by = d;
	plan->files[at].from = from;
	plan->files[at].is.mode = d->new_mode;
	return 0;
}

/* Refuses a file that is the same as another one, or lies beneath it. */
static int check_apart(const struct plan *plan, struct refusal *why)
{
	for (size_t i = 0; i < plan->count; i++)
		for (size_t k = 0; k < plan->count; k++) {
			const char *a = plan->files[i].is.target, *b = plan->files[k].is.target;
			size_t length = strlen(a);

			if (i == k || strncmp(a, b, length) != 0)
				continue;
			if (!b[length])
				return refuse_paths(why, "invalid_diff",
				                    "%s and %s are the same file",
				                    plan->files[i].is.path, plan->files[k].is.path);
			if (b[length] == '/')
				return refuse_paths(
				    why, "invalid_diff",
				    "the diff has %s as a file and, in %s, as a directory; ask "
				    "for one after the other",
				    plan->files[i].is.path, plan->files[k].is.path);
		}
	return 0;
}

static void set_actions(struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct planned *f = &plan->files[i];

		f->is.action = !f->by ? f->taken_by ? DELETE : READ : f->exists ? MODIFY : CREATE;
	}
	for (size_t i = 0; i < plan->count; i++) {
		struct planned *f = &plan->files[i];
		struct planned *from = f->from == PLAN_NONE ? f : &plan->files[f->from];

		if (from == f)
			continue;
		xreplace(&f->is.other, from->is.path);
		if (from->is.action == DELETE && from->taken_by == f->by)
			xreplace(&from->is.other, f->is.path);
	}
}

static int find_primary(struct plan *plan, const char *path, struct refusal *why)
{
	if (find(plan, path, &plan->primary))
		return 0;
	return refuse_paths(
	    why, "invalid_diff",
	    plan->count == 1
	        ? "the diff is about %s, file_path is %s; " DIFF_AS_CONTENT
	        : "the diff is about %s and others, but not about %s; " DIFF_AS_CONTENT,
	    plan->files[0].is.path, path);
}

static int look_at_diff(int root_fd, const struct proposal *p, struct plan *plan,
                        struct refusal *why)
{
	OWNED(str) struct str path = { 0 };
	struct err e = { 0 };

	/* Checked before the diff is parsed: an invalid path is refused whatever its content. */
	errno = 0;
	if (safe_path_clean(p->workspace_root, p->file_path, strlen(p->file_path), &path, &e))
		return refuse_err(why, &e);
	if (diff_parse(p->body, p->body_length, &plan->diff, &e))
		return refusal_set(why, "invalid_diff", "%s; " DIFF_AS_CONTENT, e.text);
	for (size_t i = 0; i < plan->diff.file_count; i++)
		if (take_part(root_fd, p, plan, &plan->diff.files[i], why))
			return -1;
	if (find_primary(plan, str_text(&path), why) || check_apart(plan, why))
		return -1;
	set_actions(plan);
	return 0;
}

int proposal_look(int root_fd, const struct proposal *p, struct plan *plan, struct refusal *why)
{
	plan->is_diff = diff_looks_like(p->body, p->body_length);
	if (plan->is_diff)
		return look_at_diff(root_fd, p, plan, why);
	if (proposal_touch(root_fd, p, plan, p->file_path, &plan->primary, why) ||
	    diff_almost_refuse(p->body, p->body_length, plan->files[0].is.path, why))
		return -1;
	plan->replaces_file = plan->files[0].exists;
	plan->files[0].is.action = plan->files[0].exists ? MODIFY : CREATE;
	return 0;
}

/* ---- working ---- */

/* A diff only says whether a file is executable; for whom follows from who may read it. */
static mode_t with_diff_mode(mode_t mode, unsigned said)
{
	if (said == 0)
		return mode;
	return said & 0111 ? mode | ((mode & 0444) >> 2) : mode & ~(mode_t)0111;
}

/* The content of f that d starts from; NULL: there is no file. */
static const char *beginning(const struct planned *f)
{
	return f && f->exists ? str_text(&f->old) : NULL;
}

static bool is_always_asked(const struct planned *f)
{
	return f->reaches || f->is_vast;
}

static int apply_part(const struct proposal *p, const struct diff_file *d,
                      const struct planned *from, struct diff_place *places, struct str *result,
                      struct refusal *why)
{
	const struct diff_how how = { .fuzz = p->fuzz,
		                      .unique = p->unique,
		                      .silent = p->silent || (from && is_always_asked(from)),
		                      .places = places };
	struct err e = { 0 };

	if (diff_apply(d, beginning(from), from ? from->old.length : 0, &how, result, &e))
		return refusal_set(why, "patch_conflict", "%s", e.text);
	return 0;
}

/* A path that is deleted or renamed away, and perhaps created again. The lines of a deletion must
 * match; those of a rename are checked on its other path. */
static int work_away(const struct proposal *p, const struct planned *f, struct refusal *why)
{
	OWNED(str) struct str rest = { 0 };

	return f->taken_by->is_rename ? 0 : apply_part(p, f->taken_by, f, NULL, &rest, why);
}

/* A rename or a copy. */
static int check_move(const struct planned *f, const struct planned *from, struct refusal *why)
{
	if (!from->exists)
		return refuse_paths(why, "patch_conflict",
		                    "patch conflict: %s: the file does not exist, and %s is to be "
		                    "made of it",
		                    from->is.path, f->is.path);
	if (f->exists && !f->taken_by)
		return refuse_paths(why, "patch_conflict",
		                    "patch conflict: %s: the diff makes it of %s, but it exists",
		                    f->is.path, from->is.path);
	return 0;
}

static int work_on(const struct proposal *p, struct plan *plan, struct planned *f,
                   struct refusal *why)
{
	const struct planned *from = f->from == PLAN_NONE ? NULL : &plan->files[f->from];

	f->new_mode = f->exists ? f->st.st_mode & 07777 : 0666;
	if (f->taken_by && work_away(p, f, why))
		return -1;
	if (!f->by)
		return 0;
	if (!from && !f->taken_by)
		from = f; /* created again: not over existing lines */
	if (from && from != f) {
		if (check_move(f, from, why))
			return -1;
		f->new_mode = from->st.st_mode & 0777;
	}
	f->places = xcalloc(f->by->hunk_count + 1, sizeof(*f->places));
	f->place_count = f->by->hunk_count;
	if (apply_part(p, f->by, from, f->places, &f->new, why))
		return -1;
	f->new_mode = with_diff_mode(f->new_mode, f->by->new_mode);
	return 0;
}

/* Set-id bits were given to the content before; as by write(2), new content has none. */
static void set_result(struct planned *f)
{
	bool stays = strcmp(f->is.action, READ) == 0, gone = strcmp(f->is.action, DELETE) == 0;

	f->new_mode &= ~regular_set_id(f->new_mode);
	(void)snprintf(f->is.result_hash, sizeof(f->is.result_hash), "%s",
	               gone    ? NO_FILE
	               : stays ? f->is.hash
	                       : sha256_of(str_text(&f->new), f->new.length).text);
}

static int check_size(const struct proposal *p, const struct plan *plan, const struct planned *f,
                      struct refusal *why)
{
	if (f->new.length > PROPOSAL_FILE_BYTES)
		return refusal_set(why, "too_large", "%.300s would be larger than %d bytes",
		                   f->is.path, (int)PROPOSAL_FILE_BYTES);
	return has_too_much(p, plan) ? too_much(why) : 0;
}

/* Whether it is made of a file that is always asked about. */
static bool tells(const struct plan *plan, const struct planned *f)
{
	return is_always_asked(f) ||
	       (f->from != PLAN_NONE && is_always_asked(&plan->files[f->from]));
}

static int work_on_those(const struct proposal *p, struct plan *plan, bool that_tell,
                         struct refusal *why)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct planned *f = &plan->files[i];

		pulse();
		if (tells(plan, f) != that_tell)
			continue;
		if (!plan->is_diff) {
			f->new_mode = f->exists ? f->st.st_mode & 07777 : 0666;
			str_add_bytes(&f->new, p->body, p->body_length);
		} else if (work_on(p, plan, f, why)) {
			return -1;
		}
		set_result(f);
		plan->bytes += f->new.length;
		if (check_size(p, plan, f, why))
			return -1;
	}
	return 0;
}

/* A conflict of another file would say that the diff matches one that is always asked about: it
 * comes first. */
int proposal_work(const struct proposal *p, struct plan *plan, struct refusal *why)
{
	return work_on_those(p, plan, false, why) || work_on_those(p, plan, true, why) ? -1 : 0;
}

/* ---- results that somebody else computes ---- */

int proposal_set_result(const struct proposal *p, struct plan *plan, size_t at,
                        const struct str *bytes, struct refusal *why)
{
	struct planned *f = &plan->files[at];

	f->is.action = !bytes ? DELETE : f->exists ? MODIFY : CREATE;
	f->new_mode = f->exists ? f->st.st_mode & 07777 : 0666;
	if (bytes)
		str_add_bytes(&f->new, str_text(bytes), bytes->length);
	plan->bytes += f->new.length;
	set_result(f);
	return check_size(p, plan, f, why);
}

int proposal_check_results(struct plan *plan, struct refusal *why)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct planned *f = &plan->files[i];

		if (f->is.action)
			continue;
		f->is.action = READ;
		set_result(f);
	}
	return check_apart(plan, why);
}

/* ---- the digest ---- */

/* Adds each part after its length, so that no two parts can run together. */
static void add_bytes(struct sha256_state *h, const char *bytes, size_t length)
{
	char head[32];

	(void)snprintf(head, sizeof(head), bytes ? "%zu:" : "-:", length);
	sha256_add(h, head, strlen(head));
	if (bytes)
		sha256_add(h, bytes, length);
}

static void add_text(struct sha256_state *h, const char *text)
{
	add_bytes(h, text, text ? strlen(text) : 0);
}

static void add_number(struct sha256_state *h, size_t number)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%zu;", number);
	sha256_add(h, text, strlen(text));
}

struct sha256 proposal_digest(const struct shown *s)
{
	struct sha256_state *h = sha256_begin();

	add_text(h, "check_clearance");
	add_text(h, s->title);
	add_text(h, s->description);
	add_text(h, s->risk_level);
	add_text(h, s->file_path);
	add_bytes(h, s->body ? s->body : "", s->body_length);
	add_bytes(h, s->effect_length ? s->effect : NULL, s->effect_length);
	add_number(h, s->replaces_file);
	add_number(h, s->file_count);
	for (size_t i = 0; i < s->file_count; i++) {
		add_text(h, s->files[i].path);
		add_text(h, s->files[i].target);
		add_text(h, s->files[i].action);
		add_text(h, s->files[i].other);
		add_number(h, s->files[i].mode);
		add_text(h, s->files[i].hash);
		add_text(h, s->files[i].result_hash);
	}
	return sha256_end(h);
}
