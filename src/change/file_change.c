#include "file_change.h"

#include "files.h"
#include "id.h"
#include "pulse.h"
#include "regular.h"
#include "safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SET_ID_BITS = S_ISUID | S_ISGID,
	EXECUTABLE = 0111,
};

static const char TEMP_PREFIX[] = ".intercom-";

static void file_change_close(struct file_change *f)
{
	if (f->dir_fd >= 0)
		(void)files_close(f->dir_fd);
	f->dir_fd = -1;
}

void file_change_clear(struct file_change *f)
{
	str_clear(&f->path);
	free(f->other);
	str_clear(&f->bytes);
	str_clear(&f->old_bytes);
	str_clear(&f->like);
	str_clear(&f->name);
	file_change_close(f);
	*f = (struct file_change)FILE_CHANGE_INIT;
}

/* ---- making one ---- */

/* Opens a file for reading, and fills st; -1: there is none. */
static int open_at(int root_fd, const char *path, struct stat *st)
{
	OWNED(str) struct str name = { 0 };
	int dir = -1, fd;

	if (safe_path_parent(root_fd, path, false, &name, &dir, NULL))
		return -1;
	fd = regular_open(dir, str_text(&name), st);
	(void)files_close(dir);
	return fd;
}

mode_t file_change_common_mode(int root_fd, const char *path)
{
	struct stat st;
	int fd = open_at(root_fd, path, &st);
	mode_t common;

	if (fd < 0)
		return FILES_ALL_MODES;
	common = files_common_mode(fd);
	(void)files_close(fd);
	return common;
}

void file_change_take(int root_fd, struct planned *p, const char *like, struct file_change *f)
{
	bool is_gone = strcmp(p->is.action, "delete") == 0;

	str_add(&f->path, p->is.target);
	str_move(&f->bytes, &p->new);
	str_move(&f->old_bytes, &p->old);
	f->action = p->is.action;
	f->other = p->is.other ? xstrdup(p->is.other) : NULL;
	memcpy(f->hash_before, p->is.hash, sizeof(f->hash_before));
	memcpy(f->hash_after, p->is.result_hash, sizeof(f->hash_after));
	f->mode = is_gone ? -1 : (int)p->new_mode;
	f->mode_before = p->exists ? (int)(p->st.st_mode & 07777) : -1;
	if (p->exists && is_gone) /* if it comes back, then without an access list */
		f->mode_before &= (int)file_change_common_mode(root_fd, p->is.target);
	if (p->exists)
		f->seen = p->st;
	if (p->exists)
		like = str_text(&f->path);
	f->exact_mode = like != NULL;
	if (like && !is_gone)
		str_add(&f->like, like);
	file_change_prepare(root_fd, f);
}

static void choose_name(char name[TEMP_NAME_BYTES], const char *ending)
{
	struct secret random = id_new_secret();

	(void)snprintf(name, TEMP_NAME_BYTES, "%s%.16s.%s", TEMP_PREFIX, random.text, ending);
}

/* The length of the part of path whose directories exist; 0 if none is missing. */
static size_t missing_from(int root_fd, const char *path)
{
	OWNED(str) struct str prefix = { 0 };
	struct stat st;

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		str_reset(&prefix);
		str_add_bytes(&prefix, path, (size_t)(slash - path));
		if (files_stat(root_fd, str_text(&prefix), &st, 0) && errno == ENOENT)
			return prefix.length;
	}
	return 0;
}

void file_change_prepare(int root_fd, struct file_change *f)
{
	choose_name(f->backup_name, "old");
	f->size = f->bytes.length;
	if (file_change_is(f, "delete")) {
		strcpy(f->hash_after, NO_FILE);
		return;
	}
	choose_name(f->temp_name, "tmp");
	if (!*f->hash_after)
		(void)snprintf(f->hash_after, sizeof(f->hash_after), "%s",
		               sha256_of(str_text(&f->bytes), f->bytes.length).text);
	if (file_change_is(f, "create"))
		f->made_from = missing_from(root_fd, str_text(&f->path));
}

int file_change_open(int root_fd, struct file_change *f, struct refusal *why)
{
	struct err e = { 0 };

	file_change_close(f);
	errno = 0;
	if (safe_path_parent(root_fd, str_text(&f->path), file_change_is(f, "create"), &f->name,
	                     &f->dir_fd, &e))
		return refuse_err(why, &e);
	if (files_is_append_only(f->dir_fd)) /* nor would the temporary file go again */
		return refusal_set(why, "permission",
		                   "%.300s: its folder is append-only (chattr +a): nothing in it "
		                   "can be replaced, renamed or removed",
		                   str_text(&f->path));
	return 0;
}

/* ---- the temporary file ---- */

/* Opens the file whose owner and attributes f takes over. -1: there is none. */
static int open_like(int root_fd, const struct file_change *f, struct stat *st)
{
	return f->like.length == 0 ? -1 : open_at(root_fd, str_text(&f->like), st);
}

void file_change_keep_mode(int root_fd, int written, struct file_change *f)
{
	const int before = f->mode, changed = before ^ written;
	struct stat now;
	int fd = open_like(root_fd, f, &now);

	if (fd < 0)
		return;
	(void)files_close(fd);
	f->mode = ((int)(now.st_mode & 07777) & ~changed) | (before & changed);
	/* set-id bits that came since were given to the content that goes */
	f->mode &= ~(int)regular_set_id((mode_t)f->mode);
}

/* Only a new file, which is no copy, keeps the access list that its folder gave it: it would open
 * the others to more people. Nor is a copy opened to those whom the list shuts out. */
static int drop_lists(const struct file_change *f, int fd)
{
	const mode_t common = files_common_mode(fd);
	struct stat st;

	if (!f->exact_mode && common != FILES_ALL_MODES &&
	    (files_look(fd, &st) || files_chmod(fd, st.st_mode & common)))
		return -1;
	return files_drop_lists(fd);
}

/* Sets owner, mode and attributes. If the owner is not known any more since nothing is there, the
 * file gets no set-id bits. */
static int take_over(int root_fd, const struct file_change *f, int fd)
{
	mode_t mode = (mode_t)f->mode;
	struct stat old;
	int from;

	if ((f->exact_mode || f->other) && drop_lists(f, fd))
		return -1;
	if (!f->exact_mode)
		return 0;
	from = open_like(root_fd, f, &old);
	if (from < 0)
		return files_chmod(fd, mode & ~(mode_t)SET_ID_BITS);
	mode = regular_take_over(from, &old, fd, mode, !f->leave_attributes);
	(void)files_close(from);
	return files_chmod(fd, mode);
}

static int fill_temp(int root_fd, const struct file_change *f, bool flush, int fd)
{
	int failed = files_write_all(fd, str_text(&f->bytes), f->bytes.length) ||
	             take_over(root_fd, f, fd) || (flush && files_sync(fd));
	int error = errno;

	if (files_close(fd) && !failed)
		return -1;
	errno = error;
	return failed ? -1 : 0;
}

static int stage(int root_fd, struct file_change *f, bool flush, struct refusal *why)
{
	int fd;

	if (!*f->temp_name) {
		f->staged = true;
		return 0;
	}
	fd = files_open(f->dir_fd, f->temp_name,
	                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                f->exact_mode ? 0600 : (mode_t)f->mode);
	if (fd < 0)
		return refuse_errno(why, "make a file beside", str_text(&f->path));
	f->staged = true;
	if (fill_temp(root_fd, f, flush, fd)) {
		(void)refuse_errno(why, "write", str_text(&f->path));
		(void)files_unlink(f->dir_fd, f->temp_name, 0);
		f->staged = false;
		return -1;
	}
	return 0;
}

/* Whether its owner may open it once more. */
static bool is_readable(const struct file_change *f)
{
	return (f->mode & S_IRUSR) != 0;
}

/* Several are flushed once all are written: the first flush takes what belongs to all along, and
 * the others find little left. (One syncfs would also wait for what everybody else has written.) */
int file_change_stage(int root_fd, struct file_change *changes, size_t count, struct refusal *why)
{
	for (size_t i = 0; i < count; i++)
		if (stage(root_fd, &changes[i], count == 1 || !is_readable(&changes[i]), why))
			return -1;
	for (size_t i = 0; i < count && count > 1; i++) {
		pulse();
		if (*changes[i].temp_name && is_readable(&changes[i]) &&
		    files_sync_at(changes[i].dir_fd, changes[i].temp_name))
			return refuse_errno(why, "write", str_text(&changes[i].path));
	}
	return 0;
}

int file_change_check_space(const struct file_change *changes, size_t count, struct refusal *why)
{
	OWNED(char_ptr) char *memory = xcalloc(count, sizeof(dev_t));
	dev_t *device = (dev_t *)(void *)memory; /* 0: unknown, or looked at: writing will show */

	for (size_t i = 0; i < count; i++) {
		struct stat here;

		device[i] = files_look(changes[i].dir_fd, &here) ? 0 : here.st_dev;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = 0, room = 0;
		dev_t this = device[i];

		if (!this || files_free_bytes(changes[i].dir_fd, &room))
			continue;
		for (size_t k = i; k < count; k++)
			if (device[k] == this) {
				bytes += changes[k].bytes.length;
				device[k] = 0;
			}
		if (room < bytes) {
			errno = ENOSPC;
			return refuse_errno(why, "write", str_text(&changes[i].path));
		}
	}
	return 0;
}

/* ---- directories ---- */

/* Removes directory `path`, if it is empty. */
static int remove_directory(int root_fd, const char *path)
{
	OWNED(str) struct str name = { 0 };
	int dir = -1;
	int failed = safe_path_parent(root_fd, path, false, &name, &dir, NULL) ||
	             files_unlink(dir, str_text(&name), AT_REMOVEDIR);

	if (dir >= 0)
		(void)files_close(dir);
	return failed ? -1 : 0;
}

/* Removes the directories that staging made and that are still empty. One that somebody else made
 * at the same moment is removed, too, if it is empty. -1: an empty one may be left. */
static int remove_made(int root_fd, const struct file_change *f)
{
	OWNED(str) struct str path = { 0 };
	char *slash;

	if (f->made_from == 0)
		return 0;
	str_add(&path, str_text(&f->path));
	while ((slash = strrchr(path.bytes, '/')) && (size_t)(slash - path.bytes) >= f->made_from) {
		*slash = '\0';
		if (remove_directory(root_fd, path.bytes) == 0 || errno == ENOENT)
			continue;
		return errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR ? 0 : -1;
	}
	return 0;
}

bool file_change_undo(int root_fd, struct file_change *f)
{
	bool removed;

	if (f->placed)
		return false; /* its hidden name holds the old file */
	removed = f->staged && *f->temp_name && files_unlink(f->dir_fd, f->temp_name, 0) == 0;
	f->staged = false;
	if (file_change_is(f, "create"))
		(void)remove_made(root_fd, f);
	return removed;
}

/* ---- names ---- */

/* What a name in dir is. */
enum seen { SEEN_NONE, SEEN_FILE, SEEN_OTHER, SEEN_UNREADABLE };

/* For a file, fills hash and st; errno says why it is unreadable. */
static enum seen look_at(int dir_fd, const char *name, char hash[SHA256_BYTES], struct stat *st)
{
	int fd = regular_open(dir_fd, name, st), failed;

	hash[0] = '\0';
	if (fd < 0)
		return errno == ENOENT                     ? SEEN_NONE
		       : errno == EEXIST || errno == ELOOP ? SEEN_OTHER
		                                           : SEEN_UNREADABLE;
	failed = regular_hash(fd, hash);
	files_close_quietly(fd);
	return failed ? SEEN_UNREADABLE : SEEN_FILE;
}

int file_change_refuse(struct refusal *why, const char *path)
{
	return refusal_set(why, "patch_conflict",
	                   "patch conflict: %.300s: the file has changed since the proposal; read "
	                   "it again and ask again",
	                   path);
}

/* Checks that a name is a file with this content. */
static int check_is(const struct file_change *f, const char *name, const char *hash,
                    struct refusal *why)
{
	char found[SHA256_BYTES];
	struct stat st;

	switch (look_at(f->dir_fd, name, found, &st)) {
	case SEEN_NONE:
	case SEEN_OTHER:
		return file_change_refuse(why, str_text(&f->path));
	case SEEN_UNREADABLE:
		return refuse_errno(why, "look again at", str_text(&f->path));
	case SEEN_FILE:
	default:
		return strcmp(found, hash) == 0 ? 0 : file_change_refuse(why, str_text(&f->path));
	}
}

static int made_meanwhile(const struct file_change *f, struct refusal *why)
{
	return refusal_set(why, "patch_conflict",
	                   "patch conflict: %.300s: someone has created this file in the meantime; "
	                   "read it and ask again",
	                   str_text(&f->path));
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Whether the target looks as it did when it was read. */
static bool is_as_seen(const struct file_change *f)
{
	const struct stat *then = &f->seen;
	struct stat now;

	return then->st_nlink > 0 &&
	       files_stat(f->dir_fd, str_text(&f->name), &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
	       now.st_mode == then->st_mode && now.st_size == then->st_size &&
	       same_time(&now.st_mtim, &then->st_mtim) && same_time(&now.st_ctim, &then->st_ctim);
}

int file_change_check(const struct file_change *f, struct refusal *why)
{
	struct stat st;

	if (!file_change_is(f, "create"))
		return is_as_seen(f) ? 0 : check_is(f, str_text(&f->name), f->hash_before, why);
	if (files_stat(f->dir_fd, str_text(&f->name), &st, AT_SYMLINK_NOFOLLOW) == 0)
		return made_meanwhile(f, why);
	return errno == ENOENT ? 0 : refuse_errno(why, "look again at", str_text(&f->path));
}

/* ---- placing ---- */

static int exchange(const struct file_change *f)
{
	return files_rename(f->dir_fd, f->temp_name, f->dir_fd, str_text(&f->name),
	                    RENAME_EXCHANGE);
}

/* Renames the target to a hidden name; back again, if it is not the file that was planned for. */
static int take_away(struct file_change *f, struct refusal *why)
{
	if (files_rename_new(f->dir_fd, str_text(&f->name), f->dir_fd, f->backup_name))
		return refuse_errno(why, file_change_is(f, "delete") ? "delete" : "replace",
		                    str_text(&f->path));
	f->placed = true;
	if (check_is(f, f->backup_name, f->hash_before, why) == 0)
		return 0;
	if (files_rename_new(f->dir_fd, f->backup_name, f->dir_fd, str_text(&f->name)) == 0)
		f->placed = false;
	return -1;
}

/* For a file system that cannot exchange names. */
static int place_in_two_steps(struct file_change *f, struct refusal *why)
{
	if (take_away(f, why))
		return -1;
	if (files_rename_new(f->dir_fd, f->temp_name, f->dir_fd, str_text(&f->name)) == 0)
		return 0;
	(void)refuse_errno(why, "replace", str_text(&f->path));
	if (files_rename_new(f->dir_fd, f->backup_name, f->dir_fd, str_text(&f->name)) == 0)
		f->placed = false;
	return -1;
}

static int place_exchanged(struct file_change *f, struct refusal *why)
{
	if (exchange(f)) {
		if (errno == EINVAL || errno == ENOSYS)
			return place_in_two_steps(f, why);
		if (errno == ENOENT)
			return file_change_refuse(why, str_text(&f->path));
		return refuse_errno(why, "replace", str_text(&f->path));
	}
	f->placed = f->swapped = true;
	if (check_is(f, f->temp_name, f->hash_before, why) == 0)
		return 0;
	if (exchange(f) == 0)
		f->placed = f->swapped = false;
	return -1;
}

static int place_new(struct file_change *f, struct refusal *why)
{
	if (files_rename_new(f->dir_fd, f->temp_name, f->dir_fd, str_text(&f->name)) == 0) {
		f->placed = true;
		return 0;
	}
	if (errno == EEXIST)
		return made_meanwhile(f, why);
	return refuse_errno(why, "rename the new file to", str_text(&f->path));
}

int file_change_place(struct file_change *f, struct refusal *why)
{
	if (file_change_is(f, "create"))
		return place_new(f, why);
	if (file_change_is(f, "delete"))
		return take_away(f, why);
	return place_exchanged(f, why);
}

/* ---- putting back ---- */

static int changed_after(const struct file_change *f, struct refusal *why)
{
	return refusal_set(why, "patch_conflict",
	                   "patch conflict: %.300s: someone else has changed the file after it was "
	                   "written",
	                   str_text(&f->path));
}

/* Moves the new file from its place back to its temporary name. */
static int take_out(struct file_change *f, struct refusal *why)
{
	if (files_rename_new(f->dir_fd, str_text(&f->name), f->dir_fd, f->temp_name))
		return errno == ENOENT ? changed_after(f, why)
		                       : refuse_errno(why, "put back", str_text(&f->path));
	if (check_is(f, f->temp_name, f->hash_after, why) == 0)
		return 0;
	(void)files_rename_new(f->dir_fd, f->temp_name, f->dir_fd, str_text(&f->name));
	return -1;
}

static int give_name_back(struct file_change *f, struct refusal *why)
{
	if (files_rename_new(f->dir_fd, f->backup_name, f->dir_fd, str_text(&f->name)) == 0)
		return 0;
	return errno == EEXIST ? changed_after(f, why)
	                       : refuse_errno(why, "put back", str_text(&f->path));
}

static int exchange_back(struct file_change *f, struct refusal *why)
{
	if (check_is(f, str_text(&f->name), f->hash_after, why))
		return -1;
	if (exchange(f))
		return refuse_errno(why, "put back", str_text(&f->path));
	if (check_is(f, f->temp_name, f->hash_after, why) == 0)
		return 0;
	(void)exchange(f);
	return -1;
}

int file_change_put_back(struct file_change *f, struct refusal *why)
{
	int failed;

	if (file_change_is(f, "create"))
		failed = take_out(f, why);
	else if (file_change_is(f, "delete"))
		failed = give_name_back(f, why);
	else if (f->swapped)
		failed = exchange_back(f, why);
	else
		failed = take_out(f, why) || give_name_back(f, why);
	if (failed)
		return -1;
	f->placed = f->swapped = false;
	f->staged = true; /* its hidden name is the new content's again */
	return 0;
}

/* ---- after placing ---- */

int file_change_sync(const struct file_change *changes, size_t count, struct refusal *why)
{
	const struct file_change *last = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct file_change *f = &changes[i];

		if (f->dir_fd < 0 ||
		    (last && safe_path_is_beside(str_text(&last->path), str_text(&f->path))))
			continue;
		pulse();
		if (files_sync_dir(f->dir_fd))
			return refuse_errno(why, "fsync the directory of", str_text(&f->path));
		last = f;
	}
	return 0;
}

int file_change_tidy(int root_fd, struct file_change *f, struct refusal *why)
{
	const char *const hidden[] = { f->temp_name, f->backup_name };

	for (size_t i = 0; i < COUNT(hidden) && f->dir_fd >= 0; i++)
		if (*hidden[i] && files_unlink(f->dir_fd, hidden[i], 0) && errno != ENOENT)
			return refuse_errno(why, "remove the hidden file beside",
			                    str_text(&f->path));
	if (file_change_is(f, "delete") && remove_made(root_fd, f))
		return refuse_errno(why, "remove the directory of", str_text(&f->path));
	return 0;
}

/* ---- after a crash ---- */

int file_change_look(int root_fd, const char *path, char hash[SHA256_BYTES], struct refusal *why)
{
	struct sha256 found;
	struct err e = { 0 };
	int exists;

	errno = 0;
	exists = safe_path_hash(root_fd, path, &found, &e);
	if (exists >= 0) {
		(void)snprintf(hash, SHA256_BYTES, "%s", exists ? found.text : NO_FILE);
		return 1;
	}
	(void)refuse_err(why, &e);
	return refusal_is_told(why) ? 0 : -1;
}

/* Whether a name from the journal is one of our hidden names. */
static bool is_hidden(const char *name)
{
	return strncmp(name, TEMP_PREFIX, sizeof(TEMP_PREFIX) - 1) == 0 && !strchr(name, '/');
}

int file_change_remove_temp(int root_fd, const struct file_change *f, struct refusal *why)
{
	OWNED(str) struct str name = { 0 };
	struct err e = { 0 };
	struct stat st;
	int dir = -1, failed;

	if (!is_hidden(f->temp_name))
		return 0;
	errno = 0;
	if (safe_path_parent(root_fd, str_text(&f->path), false, &name, &dir, &e)) {
		(void)refuse_err(why, &e);
		return refusal_is_told(why) ? 0 : -1;
	}
	failed = files_stat(dir, f->temp_name, &st, AT_SYMLINK_NOFOLLOW);
	if (!failed && S_ISREG(st.st_mode))
		failed = files_unlink(dir, f->temp_name, 0);
	if (failed && errno == ENOENT)
		failed = 0;
	if (failed)
		(void)refuse_errno(why, "remove the temporary file beside", str_text(&f->path));
	(void)files_close(dir);
	return failed;
}

/* A name and what it is. */
struct place {
	const char *name;
	enum seen seen;
	char hash[SHA256_BYTES];
	struct stat st;
};

static bool has(const struct place *p, const char *hash)
{
	return p->seen == SEEN_FILE && strcmp(p->hash, hash) == 0;
}

static int look_at_place(const struct file_change *f, const char *name, struct place *p,
                         struct refusal *why)
{
	*p = (struct place){ .name = name, .seen = SEEN_NONE };
	if (!*name)
		return 0;
	p->seen = look_at(f->dir_fd, name, p->hash, &p->st);
	if (p->seen == SEEN_UNREADABLE)
		return refuse_errno(why, "look at", str_text(&f->path));
	return 0;
}

/* A second name of the target itself, from a rename done as link and unlink. */
static int drop_second_name(const struct file_change *f, const struct place *target,
                            struct place *hidden, struct refusal *why)
{
	if (target->seen != SEEN_FILE || hidden->seen != SEEN_FILE ||
	    target->st.st_dev != hidden->st.st_dev || target->st.st_ino != hidden->st.st_ino)
		return 0;
	if (files_unlink(f->dir_fd, hidden->name, 0) && errno != ENOENT)
		return refuse_errno(why, "remove the hidden file beside", str_text(&f->path));
	hidden->seen = SEEN_NONE;
	return 0;
}

static int found_create(struct file_change *f, const struct place *target, const struct place *temp,
                        enum file_change_found *ret)
{
	f->staged = has(temp, f->hash_after);
	f->placed = temp->seen == SEEN_NONE && has(target, f->hash_after);
	*ret = f->placed ? FOUND_PLACED : target->seen == SEEN_NONE ? FOUND_BEFORE : FOUND_OTHER;
	return 0;
}

static int found_delete(struct file_change *f, const struct place *target,
                        const struct place *backup, enum file_change_found *ret,
                        struct refusal *why)
{
	f->staged = true;
	f->placed = has(backup, f->hash_before);
	if (f->placed) {
		*ret = target->seen == SEEN_NONE ? FOUND_PLACED : FOUND_OTHER;
	} else if (backup->seen == SEEN_NONE) {
		*ret = target->seen == SEEN_NONE     ? FOUND_AFTER
		       : has(target, f->hash_before) ? FOUND_BEFORE
		                                     : FOUND_OTHER;
	} else {
		*ret = FOUND_OTHER; /* moved away, but it was somebody else's */
		return target->seen == SEEN_NONE ? give_name_back(f, why) : 0;
	}
	return 0;
}

static bool is_executable(const struct place *p)
{
	return (p->st.st_mode & EXECUTABLE) != 0;
}

/* Which of two files with the same content is the new one, as far as a diff's mode tells. */
static bool is_swapped(const struct file_change *f, const struct place *target,
                       const struct place *temp)
{
	if (strcmp(f->hash_before, f->hash_after) != 0)
		return has(temp, f->hash_before);
	return has(temp, f->hash_before) && has(target, f->hash_after) &&
	       is_executable(temp) != is_executable(target) &&
	       is_executable(target) == ((f->mode & EXECUTABLE) != 0);
}

bool file_change_shows(const struct file_change *f)
{
	return strcmp(f->hash_before, f->hash_after) != 0 ||
	       (f->mode_before >= 0 && !(f->mode_before & EXECUTABLE) != !(f->mode & EXECUTABLE));
}

/* Whether content and mode are in place, where one of them differs from what was there. */
static bool is_there(const struct file_change *f, const struct place *target)
{
	return file_change_shows(f) && has(target, f->hash_after) &&
	       is_executable(target) == ((f->mode & EXECUTABLE) != 0);
}

static enum file_change_found state_of(const struct file_change *f, const struct place *target,
                                       const struct place *temp)
{
	bool is_gone = temp->seen == SEEN_NONE;

	if (f->placed)
		return has(target, f->hash_after) ? FOUND_PLACED : FOUND_OTHER;
	if (is_gone && is_there(f, target))
		return FOUND_AFTER;
	if (!f->staged && !is_gone)
		return FOUND_OTHER;
	if (has(target, f->hash_before))
		return FOUND_BEFORE;
	return is_gone && has(target, f->hash_after) ? FOUND_AFTER : FOUND_OTHER;
}

static int found_modify(struct file_change *f, struct place *target, const struct place *temp,
                        const struct place *backup, enum file_change_found *ret,
                        struct refusal *why)
{
	bool by_two = backup->seen != SEEN_NONE;

	if (by_two && target->seen == SEEN_NONE) { /* between the two steps */
		if (give_name_back(f, why) || look_at_place(f, target->name, target, why))
			return -1;
		by_two = false;
	}
	f->swapped = !by_two && is_swapped(f, target, temp);
	f->placed = f->swapped || (by_two && has(backup, f->hash_before));
	f->staged = !f->placed && has(temp, f->hash_after);
	*ret = state_of(f, target, temp);
	if (!f->placed && !f->staged && temp->seen != SEEN_NONE && has(target, f->hash_after)) {
		/* The file exchanged for the new one is somebody else's: it gets its name back. */
		if (exchange(f))
			return refuse_errno(why, "put back", str_text(&f->path));
		f->staged = true;
	}
	return 0;
}

int file_change_find(int root_fd, struct file_change *f, enum file_change_found *ret,
                     struct refusal *why)
{
	struct place target, temp, backup;
	struct err e = { 0 };
	int failed;

	file_change_close(f);
	f->staged = f->placed = f->swapped = false;
	*ret = FOUND_GONE;
	errno = 0;
	if (safe_path_parent(root_fd, str_text(&f->path), false, &f->name, &f->dir_fd, &e)) {
		if (errno == ENOENT && file_change_is(f, "create"))
			*ret = FOUND_BEFORE; /* its directory was removed again, or never made */
		(void)refuse_err(why, &e);
		f->placed = file_change_is(f, "delete") && strcmp(why->code, "patch_conflict") == 0;
		if (f->placed) /* its directory may have been removed after it */
			*ret = FOUND_AFTER;
		return refusal_is_told(why) ? 0 : -1;
	}
	if ((*f->temp_name && !is_hidden(f->temp_name)) ||
	    (*f->backup_name && !is_hidden(f->backup_name)))
		return refusal_set(why, "corrupt",
		                   "the journal's name of a hidden file is not ours");
	if (look_at_place(f, str_text(&f->name), &target, why) ||
	    look_at_place(f, f->temp_name, &temp, why) ||
	    look_at_place(f, f->backup_name, &backup, why) ||
	    drop_second_name(f, &target, &temp, why) || drop_second_name(f, &target, &backup, why))
		return -1;
	if (file_change_is(f, "create"))
		failed = found_create(f, &target, &temp, ret);
	else if (file_change_is(f, "delete"))
		failed = found_delete(f, &target, &backup, ret, why);
	else
		failed = found_modify(f, &target, &temp, &backup, ret, why);
	f->placed |= !failed && *ret == FOUND_AFTER;
	return failed;
}

int file_change_remake_old(int root_fd, struct file_change *f, const struct str *old,
                           struct refusal *why)
{
	/* Borrows; under its last name only once it is whole: a part would be taken for it. */
	struct file_change was = { .dir_fd = f->dir_fd,
		                   .path = f->path,
		                   .bytes = *old,
		                   .mode = f->mode_before & ~(int)SET_ID_BITS,
		                   .exact_mode = true };

	if (f->dir_fd < 0 || f->mode_before < 0 ||
	    strcmp(sha256_of(str_text(old), old->length).text, f->hash_before) != 0)
		return refusal_set(why, "no_before_image", "it is not known what it was");
	if (file_change_is(f, "modify"))
		was.like = f->path;
	choose_name(was.temp_name, "tmp");
	if (stage(root_fd, &was, true, why))
		return -1;
	if (files_rename_new(f->dir_fd, was.temp_name, f->dir_fd, f->backup_name)) {
		(void)refuse_errno(why, "put back", str_text(&f->path));
		(void)files_unlink(f->dir_fd, was.temp_name, 0);
		return -1;
	}
	f->placed = true;
	return 0;
}
