/* Moving names: into place, and back. */
#include "files.h"
#include "pulse.h"
#include "safe_path.h"
#include "tree_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	SHOWN_BYTES = 300,
	NAMED = 3, /* paths in a line of them, each ... */
	NAME_BYTES = 80,
};

/* Where a name is: its directory and its name there. */
struct place {
	int dir;
	struct str name;
};

static void place_clear(struct place *p)
{
	if (p->dir >= 0)
		(void)files_close(p->dir);
	str_clear(&p->name);
	p->dir = -1;
}

/* ---- texts ---- */

static int changed(const struct tree_step *s, struct refusal *why)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, s->path, strlen(s->path), SHOWN_BYTES);
	return refusal_set(why, "workspace_changed",
	                   "%s was changed by someone else while the checkpoint was put back",
	                   str_text(&shown));
}

/* ---- one name ---- */

/* Renames to a name that nobody has. */
static int move(int from_dir, const char *from, int to_dir, const char *to)
{
	struct stat st;

	if (files_rename_new(from_dir, from, to_dir, to) == 0)
		return 0;
	/* A file system that cannot refuse a taken name; a directory has no second name. */
	if (errno != EPERM || files_stat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISDIR(st.st_mode))
		return -1;
	if (files_stat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		errno = EEXIST;
	return errno == ENOENT ? files_rename(from_dir, from, to_dir, to, 0) : -1;
}

static int not_a_directory(const char *path, void *context)
{
	(void)path;
	(void)context;
	return 1;
}

/* Whether what was taken away is what was to be replaced: 1, 0, or -1 with errno. */
static int is_before(const struct tree_step *s, int dir_fd, const char *name)
{
	struct thing found;
	int below;

	if (thing_look(dir_fd, name, &found, NULL))
		return -1;
	if (tree_is_entry(s->before.kind))
		return thing_is_same(&found, &s->before);
	if (found.kind != THING_DIRECTORY)
		return 0;
	below = tree_below(dir_fd, name, "", not_a_directory, NULL);
	return below < 0 ? -1 : below == 0;
}

/* Moves what is at the name to old/, and checks it there; back again if it is something else. */
static int take(struct tree_change *t, size_t index, const struct place *p, struct refusal *why)
{
	struct tree_step *s = &t->steps[index];
	char name[INDEX_NAME_BYTES];
	int told;

	tree_index_name(name, index);
	if (!s->taken && move(p->dir, str_text(&p->name), t->old_fd, name))
		return errno == ENOENT ? changed(s, why) : refuse_errno(why, "replace", s->path);
	s->taken = true;
	told = is_before(s, t->old_fd, name);
	if (told > 0)
		return 0;
	if (told < 0)
		(void)refuse_errno(why, "read", s->path);
	if (p->dir >= 0 && move(t->old_fd, name, p->dir, str_text(&p->name)) == 0)
		s->taken = false;
	return told < 0 ? -1 : changed(s, why);
}

/* ---- what goes away ---- */

static int take_step(struct tree_change *t, size_t index, struct refusal *why)
{
	OWNED(place) struct place p = { .dir = -1 };
	int there = tree_parent(t, t->steps[index].path, &p.name, &p.dir, why);

	if (there < 0)
		return -1;
	if (there == 0 && !t->steps[index].taken)
		return changed(&t->steps[index], why);
	return take(t, index, &p, why);
}

/* A directory where a file or link goes: all that is below it is gone by now. */
static int clear_way(struct tree_change *t, size_t index, struct refusal *why)
{
	OWNED(place) struct place p = { .dir = -1 };
	const struct tree_step *s = &t->steps[index];
	struct stat st = { 0 };
	int there;

	if (s->placed && !s->taken)
		return 0;
	there = tree_parent(t, s->path, &p.name, &p.dir, why);
	if (there <= 0)
		return there;
	if (!s->taken && files_stat(p.dir, str_text(&p.name), &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : refuse_errno(why, "look at", s->path);
	return s->taken || S_ISDIR(st.st_mode) ? take(t, index, &p, why) : 0;
}

static int take_all(struct tree_change *t, struct refusal *why)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct tree_step *s = &t->steps[i];

		if (tree_is_entry(s->before.kind) && s->after.kind == THING_NONE &&
		    take_step(t, i, why))
			return -1;
	}
	for (size_t i = 0; i < t->count; i++) {
		const struct tree_step *s = &t->steps[i];

		if (!tree_is_entry(s->before.kind) && tree_is_entry(s->after.kind) &&
		    clear_way(t, i, why))
			return -1;
	}
	return 0;
}

/* ---- what comes ---- */

static int exchange(const struct tree_change *t, const char *name, const struct place *p)
{
	return files_rename(t->new_fd, name, p->dir, str_text(&p->name), RENAME_EXCHANGE);
}

/* Checks what an exchange has brought out, and undoes the exchange if it is something else. */
static int check_exchanged(struct tree_change *t, size_t index, const char *name,
                           const struct place *p, struct refusal *why)
{
	struct tree_step *s = &t->steps[index];
	int told = is_before(s, t->new_fd, name);

	if (told > 0)
		return 0;
	if (told < 0)
		(void)refuse_errno(why, "read", s->path);
	else
		(void)changed(s, why);
	if (exchange(t, name, p) == 0)
		s->placed = false;
	return -1;
}

static int put_new(struct tree_change *t, size_t index, const char *name, const struct place *p,
                   struct refusal *why)
{
	struct tree_step *s = &t->steps[index];

	if (move(t->new_fd, name, p->dir, str_text(&p->name)))
		return errno == EEXIST ? changed(s, why) : refuse_errno(why, "make", s->path);
	s->placed = true;
	return 0;
}

/* For a file system that cannot exchange names: for a moment there is nothing. */
static int put_in_two_steps(struct tree_change *t, size_t index, const char *name,
                            const struct place *p, struct refusal *why)
{
	return take(t, index, p, why) ? -1 : put_new(t, index, name, p, why);
}

static int put_exchanged(struct tree_change *t, size_t index, const char *name,
                         const struct place *p, struct refusal *why)
{
	struct tree_step *s = &t->steps[index];

	if (!s->placed && exchange(t, name, p)) {
		if (errno == EINVAL || errno == ENOSYS)
			return put_in_two_steps(t, index, name, p, why);
		return errno == ENOENT ? changed(s, why) : refuse_errno(why, "replace", s->path);
	}
	s->placed = true;
	return check_exchanged(t, index, name, p, why);
}

static int put_step(struct tree_change *t, size_t index, struct refusal *why)
{
	OWNED(place) struct place p = { .dir = -1 };
	const struct tree_step *s = &t->steps[index];
	char name[INDEX_NAME_BYTES];
	bool is_exchange = tree_is_exchange(s) && !s->taken;
	int there;

	if (s->placed && !tree_is_exchange(s))
		return 0;
	tree_index_name(name, index);
	there = tree_parent(t, s->path, &p.name, &p.dir, why);
	if (there <= 0)
		return there < 0 ? -1 : changed(s, why);
	if (tree_is_exchange(s) && s->taken && take(t, index, &p, why))
		return -1;
	if (s->placed && s->taken)
		return 0;
	return is_exchange ? put_exchanged(t, index, name, &p, why)
	                   : put_new(t, index, name, &p, why);
}

/* ---- syncing ---- */

/* The deepest directory above path that exists. */
static int sync_above(const struct tree_change *t, const char *path, struct refusal *why)
{
	OWNED(str) struct str at = { 0 }, name = { 0 };
	int dir = -1, there = 0, failed;

	str_add(&at, path);
	while (there == 0) {
		char *slash;

		there = tree_parent(t, str_text(&at), &name, &dir, why);
		slash = strrchr(at.bytes, '/');
		if (there == 0 && !slash)
			return 0;
		if (there == 0)
			*slash = '\0';
	}
	if (there < 0)
		return -1;
	failed = files_sync_dir(dir);
	if (failed)
		(void)refuse_errno(why, "sync the directory of", path);
	(void)files_close(dir);
	return failed;
}

static int sync_names(const struct tree_change *t, struct refusal *why)
{
	const int dirs[] = { t->new_fd, t->old_fd, t->root_fd };

	for (size_t i = 0; i < t->count; i++) {
		pulse();
		if ((i == 0 || !safe_path_is_beside(t->steps[i - 1].path, t->steps[i].path)) &&
		    sync_above(t, t->steps[i].path, why))
			return -1;
	}
	for (size_t i = 0; i < COUNT(dirs); i++)
		if (dirs[i] >= 0 && files_sync_dir(dirs[i]))
			return refuse_errno(why, "sync", t->stage_name);
	return 0;
}

int tree_change_place(struct tree_change *t, struct refusal *why)
{
	if (take_all(t, why))
		return -1;
	for (size_t i = 0; i < t->count; i++)
		if (tree_is_made(&t->steps[i]) && put_step(t, i, why))
			return -1;
	return sync_names(t, why);
}

/* ---- putting back ---- */

/* Gives a new directory its permissions; if it must stay although all is put back: only the one
 * that was made here, with the permissions that it was made with. */
static int set_mode(const struct tree_change *t, const struct tree_step *s, bool if_new,
                    struct refusal *why)
{
	OWNED(place) struct place p = { .dir = -1 };
	struct stat st;
	int there = tree_parent(t, s->path, &p.name, &p.dir, why), fd, mode, failed;

	if (there <= 0)
		return there;
	fd = files_open(p.dir, str_text(&p.name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	                0);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
		           ? 0
		           : refuse_errno(why, "set the permissions of", s->path);
	failed = files_look(fd, &st);
	mode = failed ? 0 : (int)(st.st_mode & files_common_mode(fd));
	if (!failed && mode != s->after.mode &&
	    (!if_new || (st.st_ino == s->staged && mode == TREE_STAGE_MODE)))
		failed = files_chmod(fd, (mode_t)s->after.mode) || files_sync_dir(fd);
	if (failed)
		(void)refuse_errno(why, "set the permissions of", s->path);
	(void)files_close(fd);
	return failed ? -1 : 0;
}

/* Whether the name is still what we put there: 1, 0, or -1 with errno. */
static int is_ours(const struct tree_step *s, const struct place *p)
{
	struct thing found;
	struct stat st;
	int below;

	if (thing_look(p->dir, str_text(&p->name), &found, &st))
		return -1;
	if (found.kind != s->after.kind || st.st_ino != s->staged)
		return 0;
	if (found.kind != THING_DIRECTORY)
		return strcmp(found.hash, s->after.hash) == 0;
	below = tree_below(p->dir, str_text(&p->name), "", not_a_directory, NULL);
	return below < 0 ? -1 : below == 0;
}

static int take_out(struct tree_change *t, size_t index, const struct place *p)
{
	const struct tree_step *s = &t->steps[index];
	char name[INDEX_NAME_BYTES];

	tree_index_name(name, index);
	if (tree_is_exchange(s) && !s->taken)
		return exchange(t, name, p);
	return move(p->dir, str_text(&p->name), t->new_fd, name);
}

/* What somebody has made of a name stays; where nothing is, what was there before comes back. */
static int leave(struct tree_change *t, size_t index, const struct place *p, struct refusal *why)
{
	struct tree_step *s = &t->steps[index];
	char name[INDEX_NAME_BYTES];
	struct stat st;

	tree_index_name(name, index);
	if (tree_is_exchange(s) && !s->taken) {
		errno = EEXIST; /* its directory is gone, too */
		if (p->dir >= 0 && move(t->new_fd, name, p->dir, str_text(&p->name)) == 0)
			return 0;
		if (errno != EEXIST && errno != ENOENT)
			return refuse_errno(why, "put back", s->path);
		s->gone = files_stat(t->new_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	}
	s->left =
	    p->dir >= 0 && files_stat(p->dir, str_text(&p->name), &st, AT_SYMLINK_NOFOLLOW) == 0;
	return s->after.kind == THING_DIRECTORY ? set_mode(t, s, true, why) : 0;
}

static int unput_step(struct tree_change *t, size_t index, struct refusal *why)
{
	OWNED(place) struct place p = { .dir = -1 };
	struct tree_step *s = &t->steps[index];
	int there = tree_parent(t, s->path, &p.name, &p.dir, why);
	int ours = there > 0 ? is_ours(s, &p) : there;

	if (there >= 0 && ours < 0)
		(void)refuse_errno(why, "put back", s->path);
	if (ours < 0)
		return -1;
	if (ours > 0 && take_out(t, index, &p))
		return refuse_errno(why, "put back", s->path);
	if (ours == 0 && leave(t, index, &p, why))
		return -1;
	s->placed = false;
	return 0;
}

static int untake_step(struct tree_change *t, size_t index, struct refusal *why)
{
	OWNED(place) struct place p = { .dir = -1 };
	struct tree_step *s = &t->steps[index];
	char name[INDEX_NAME_BYTES];
	struct stat st = { .st_mode = 0 };
	int there = tree_parent(t, s->path, &p.name, &p.dir, why), failed;

	if (there < 0)
		return -1;
	tree_index_name(name, index);
	errno = EEXIST; /* its directory is gone, too: somebody else's doing */
	failed = there == 0 ? -1 : move(t->old_fd, name, p.dir, str_text(&p.name));
	if (failed && errno != EEXIST)
		return refuse_errno(why, "put back", s->path);
	if (failed && there > 0)
		s->left = files_stat(p.dir, str_text(&p.name), &st, AT_SYMLINK_NOFOLLOW) == 0;
	/* What was in a directory has been taken before it: one is like the other. */
	s->gone = failed && (tree_is_entry(s->before.kind) || !S_ISDIR(st.st_mode));
	s->taken = false;
	return 0;
}

int tree_change_put_back(struct tree_change *t, struct refusal *why)
{
	for (size_t i = t->count; i-- > 0;)
		if (t->steps[i].placed && unput_step(t, i, why))
			return -1;
	for (size_t i = 0; i < t->count; i++)
		if (t->steps[i].taken && untake_step(t, i, why))
			return -1;
	return sync_names(t, why);
}

/* ---- what is not as it was ---- */

static bool is_left(const struct tree_step *s)
{
	return s->left;
}

static bool is_gone(const struct tree_step *s)
{
	return s->gone;
}

static bool is_below(const char *path, const char *above)
{
	size_t length = strlen(above);

	return strncmp(path, above, length) == 0 && path[length] == '/';
}

/* Those after first that are below it. */
static size_t count_below(const struct tree_change *t, size_t first,
                          bool (*is)(const struct tree_step *))
{
	size_t count = 0;

	for (size_t i = first + 1; i < t->count && is_below(t->steps[i].path, t->steps[first].path);
	     i++)
		count += is(&t->steps[i]);
	return count;
}

static void name_steps(const struct tree_change *t, bool (*is)(const struct tree_step *),
                       struct str *out)
{
	const char *above = NULL;
	size_t named = 0, more = 0;

	for (size_t i = 0; i < t->count; i++) {
		const char *path = t->steps[i].path;
		size_t below;

		if (!is(&t->steps[i]) || (above && is_below(path, above)))
			continue;
		above = path;
		below = count_below(t, i, is);
		if (named == NAMED) {
			more += 1 + below;
			continue;
		}
		str_add(out, named++ > 0 ? ", " : "");
		str_add_shown(out, path, strlen(path), NAME_BYTES);
		if (below > 0)
			str_addf(out, " (with %zu below it)", below);
	}
	if (more > 0)
		str_addf(out, " and %zu more", more);
}

void tree_change_name_left(const struct tree_change *t, struct str *out)
{
	name_steps(t, is_left, out);
}

void tree_change_name_gone(const struct tree_change *t, struct str *out)
{
	name_steps(t, is_gone, out);
}

/* ---- once it is for good ---- */

/* Removes a directory, if it is empty. */
static int remove_empty(const struct tree_change *t, const struct tree_step *s, struct refusal *why)
{
	OWNED(place) struct place p = { .dir = -1 };
	int there = tree_parent(t, s->path, &p.name, &p.dir, why);

	if (there <= 0 || files_unlink(p.dir, str_text(&p.name), AT_REMOVEDIR) == 0)
		return there < 0 ? -1 : 0;
	if (errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR ||
	    errno == EBUSY)
		return 0;
	return refuse_errno(why, "remove the directory", s->path);
}

int tree_change_finish(struct tree_change *t, struct refusal *why)
{
	for (size_t i = t->count; i-- > 0;) {
		const struct tree_step *s = &t->steps[i];

		if (s->before.kind == THING_DIRECTORY && s->after.kind == THING_NONE &&
		    remove_empty(t, s, why))
			return -1;
		if (s->after.kind == THING_DIRECTORY && set_mode(t, s, false, why))
			return -1;
	}
	if (sync_names(t, why))
		return -1;
	return tree_change_remove_stage(t, why);
}
