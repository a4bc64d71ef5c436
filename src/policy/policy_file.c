#include "policy_file.h"

#include "clock.h"
#include "group_id.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
	SETTLED_MS = 1000, /* after this, a change cannot leave the same timestamp */
	OPEN_TRIES = 10 /* of a file that is being replaced all the time */
};

static int64_t changed_ms(const struct stat *s)
{
	return (int64_t)s->st_ctim.tv_sec * 1000 + s->st_ctim.tv_nsec / 1000000;
}

static bool is_same_place(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
	       a->st_uid == b->st_uid && a->st_gid == b->st_gid;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return is_same_place(a, b) && a->st_size == b->st_size &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* ---- ownership ---- */

static int check_owner(const struct stat *s, const char *what, struct err *e)
{
	if (s->st_uid == geteuid() || s->st_uid == 0)
		return 0;
	return err_set(e, ERR_INPUT, "%s belongs to another user (uid %u)", what,
	               (unsigned)s->st_uid);
}

static int check_writers(const struct stat *s, const char *what, struct err *e)
{
	if (check_owner(s, what, e))
		return -1;
	if (s->st_mode & S_IWOTH)
		return err_set(e, ERR_INPUT, "every user may write %s; chmod o-w it", what);
	if ((s->st_mode & S_IWGRP) && !group_id_is_private(s->st_gid, s->st_uid))
		return err_set(e, ERR_INPUT, "its group may write %s; chmod g-w it", what);
	return 0;
}

/* A link is refused wherever it leads: its target may be written like any other file. */
static int check_file(const struct policy_seen *seen, struct err *e)
{
	if (S_ISLNK(seen->folder.st_mode) || S_ISLNK(seen->file.st_mode))
		return err_set(e, ERR_INPUT, "%s is a symlink",
		               S_ISLNK(seen->folder.st_mode) ? ".intercom" : "it");
	if (!S_ISREG(seen->file.st_mode))
		return err_set(e, ERR_INPUT, "it is not a regular file");
	if ((seen->root.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH)
		return err_set(e, ERR_INPUT,
		               "every user may write the workspace's folder; chmod o-w it");
	if (check_writers(&seen->folder, ".intercom", e) || check_writers(&seen->file, "it", e))
		return -1;
	if (seen->file.st_size > POLICY_MAX_BYTES)
		return err_set(e, ERR_INPUT, "it is larger than %d KiB", POLICY_MAX_BYTES >> 10);
	return 0;
}

/* ---- looking ---- */

/* Who is in a group may change, and nothing of the file with it. */
static bool is_fresh(const struct policy_known *known, const struct policy_seen *now)
{
	return known->exists && !((now->file.st_mode | now->folder.st_mode) & S_IWGRP) &&
	       is_same(&known->seen.file, &now->file) &&
	       is_same_place(&known->seen.folder, &now->folder) &&
	       is_same_place(&known->seen.root, &now->root) &&
	       known->read_ms - changed_ms(&now->file) > SETTLED_MS;
}

/* What is under the file's name: 1, 0 nothing, -1. */
static int look_at(const char *root, struct policy_seen *now, struct err *e)
{
	char folder[4200], file[4200];

	(void)snprintf(folder, sizeof(folder), "%.4095s/.intercom", root);
	(void)snprintf(file, sizeof(file), "%.4095s/" POLICY_FILE, root);
	memset(now, 0, sizeof(*now));
	if (stat(root, &now->root) == 0 && lstat(folder, &now->folder) == 0 &&
	    lstat(file, &now->file) == 0)
		return 1;
	if (errno == ENOENT || errno == ENOTDIR)
		return 0;
	return err_errno(e, ERR_AGAIN, "it cannot be looked at");
}

/* Opens the file that was looked at, and nothing that has replaced it. -1: e says why not. */
static int open_file(const char *root, const struct policy_seen *now, struct err *e)
{
	struct stat folder, file;
	int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int folder_fd = openat(root_fd, ".intercom", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = openat(folder_fd, "settings.json",
	                O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		(void)err_errno(e, ERR_AGAIN, "it cannot be opened");
	else if (fstat(folder_fd, &folder) || fstat(fd, &file) ||
	         !is_same_place(&folder, &now->folder) || !is_same_place(&file, &now->file))
		(void)err_set(e, ERR_AGAIN, "it changes while it is read");
	io_shut(&root_fd);
	io_shut(&folder_fd);
	if (e->kind != ERR_NONE)
		io_shut(&fd);
	return fd;
}

/* Looks and opens, again if the file was replaced in between: the descriptor, or -1; e is set if
 * that is a refusal. */
static int look_and_open(const char *root, const struct policy_known *known,
                         struct policy_look *look, struct err *e)
{
	for (int try = 0; try < OPEN_TRIES; try++) {
		int fd;

		*e = (struct err){ 0 };
		if (look_at(root, &look->known.seen, e) <= 0)
			return -1;
		look->fresh = is_fresh(known, &look->known.seen);
		if (look->fresh || check_file(&look->known.seen, e))
			return -1;
		fd = open_file(root, &look->known.seen, e);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static int read_bytes(int fd, struct str *bytes, struct err *e)
{
	return io_read_all(fd, POLICY_MAX_BYTES + 1, bytes) < 0
	           ? err_errno(e, ERR_AGAIN, "it cannot be read")
	           : 0;
}

/* Watches the workspace itself, for a .intercom that appears, disappears or is replaced; and what
 * is in it. */
static void watch(const char *root, int watch_fd, struct policy_look *look)
{
	static const uint32_t CHANGES =
	    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB;
	char folder[4200];

	(void)snprintf(folder, sizeof(folder), "%.4095s/.intercom", root);
	look->root_watch = inotify_add_watch(watch_fd, root,
	                                     IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
	                                         IN_ATTRIB | IN_ONLYDIR);
	look->folder_watch = inotify_add_watch(watch_fd, folder, CHANGES | IN_ONLYDIR);
}

void policy_look(const char *workspace_root, const struct policy_known *known, int watch_fd,
                 struct policy_look *look)
{
	struct err e = { 0 };
	int fd;

	if (watch_fd >= 0) /* before looking, so that no change is missed in between */
		watch(workspace_root, watch_fd, look);
	fd = look_and_open(workspace_root, known, look, &e);
	look->known.look = known->look;
	if (look->fresh)
		return;
	look->known.read_ms = clock_now_ms();
	look->known.exists = fd >= 0 || e.kind != ERR_NONE;
	if (fd >= 0) {
		(void)read_bytes(fd, &look->bytes, &e);
		(void)close(fd);
	}
	if (e.kind != ERR_NONE)
		(void)snprintf(look->why, sizeof(look->why), "%s", e.text);
}

void policy_look_clear(struct policy_look *look)
{
	str_clear(&look->bytes);
}

/* ---- a version of the file ---- */

static void forget(struct policy_file *f)
{
	f->policy = NULL;
	str_clear(&f->bytes);
	f->hash[0] = '\0';
	f->why[0] = '\0';
	f->exists = false;
}

/* A version that differs only in its time is not compiled again: *kept is then f's. */
static void take_version(struct policy_file *f, struct policy_look *look, const char *had,
                         struct policy **kept)
{
	struct err e = { 0 };

	f->bytes = look->bytes;
	look->bytes = (struct str){ 0 };
	(void)snprintf(f->hash, sizeof(f->hash), "%s",
	               sha256_of(str_text(&f->bytes), f->bytes.length).text);
	if (*kept && strcmp(f->hash, had) == 0) {
		f->policy = *kept;
		*kept = NULL;
	} else if (policy_parse(str_text(&f->bytes), f->bytes.length, &f->policy, &e)) {
		(void)snprintf(f->why, sizeof(f->why), "%s", e.text);
	}
}

void policy_file_take(struct policy_file *f, struct policy_look *look)
{
	char hash[SHA256_BYTES], why[ERR_TEXT_BYTES];
	struct policy *kept = f->policy;
	bool existed = f->exists;

	if (look->root_watch >= 0)
		f->root_watch = look->root_watch;
	if (look->folder_watch >= 0)
		f->folder_watch = look->folder_watch;
	if (look->fresh || look->known.look < f->known.look)
		return;
	memcpy(hash, f->hash, sizeof(hash));
	memcpy(why, f->why, sizeof(why));
	forget(f);
	f->known = look->known;
	f->exists = look->known.exists;
	if (look->why[0])
		(void)snprintf(f->why, sizeof(f->why), "%s", look->why);
	else if (look->known.exists)
		take_version(f, look, hash, &kept);
	policy_free(kept);
	if (existed != f->exists || strcmp(hash, f->hash) != 0 || strcmp(why, f->why) != 0) {
		f->changed = true;
		f->told = false;
	}
	if (!f->changed)
		str_clear(&f->bytes);
}

/* ---- all of them ---- */

struct policy_file *policy_file_known(struct policy_files *files, const char *workspace_root)
{
	struct policy_file *f;

	LIST_FOREACH (f, &files->all, next)
		if (strcmp(f->workspace_root, workspace_root) == 0)
			return f;
	f = xcalloc(1, sizeof(*f));
	f->workspace_root = xstrdup(workspace_root);
	f->root_watch = f->folder_watch = -1;
	LIST_INSERT_HEAD(&files->all, f, next);
	return f;
}

struct policy_file *policy_file_of(struct policy_files *files, const char *workspace_root)
{
	struct policy_file *f = policy_file_known(files, workspace_root);
	OWNED(policy_look) struct policy_look look = POLICY_LOOK_INIT;

	struct policy_known known = f->known;

	known.look = ++files->looks;
	policy_look(workspace_root, &known, -1, &look);
	policy_file_take(f, &look);
	return f;
}

void policy_files_clear(struct policy_files *files)
{
	struct policy_file *f;

	while ((f = LIST_FIRST(&files->all)) != NULL) {
		LIST_REMOVE(f, next);
		policy_free(f->policy);
		policy_free(f->trusted);
		str_clear(&f->bytes);
		str_clear(&f->widening);
		free(f->workspace_root);
		free(f);
	}
}
