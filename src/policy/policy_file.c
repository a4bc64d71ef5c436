#include "policy_file.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SETTLED_MS = 1000, /* a file changed so recently may change again within the same instant */
	OPEN_TRIES = 10 /* of a file that is replaced all the time */
};

static int64_t changed_ms(const struct stat *s)
{
	return (int64_t)s->st_ctim.tv_sec * 1000 + s->st_ctim.tv_nsec / 1000000;
}

static bool is_same_place(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
	       a->st_uid == b->st_uid;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return is_same_place(a, b) && a->st_size == b->st_size &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* ---- who may have written it ---- */

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
	if (s->st_mode & S_IWGRP)
		return err_set(e, ERR_INPUT, "its group may write %s; chmod g-w it", what);
	return 0;
}

/* A link is refused wherever it leads: what it names may be written like any other file. */
static int check_file(const struct policy_seen *seen, struct err *e)
{
	if (S_ISLNK(seen->folder.st_mode) || S_ISLNK(seen->file.st_mode))
		return err_set(e, ERR_INPUT, "%s is a symlink",
		               S_ISLNK(seen->folder.st_mode) ? ".intercom" : "it");
	if (!S_ISREG(seen->file.st_mode))
		return err_set(e, ERR_INPUT, "it is no regular file");
	if ((seen->root.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH)
		return err_set(e, ERR_INPUT,
		               "every user may write the workspace's folder; chmod o-w it");
	if (check_writers(&seen->folder, ".intercom", e) || check_writers(&seen->file, "it", e))
		return -1;
	if (seen->file.st_size > POLICY_MAX_BYTES)
		return err_set(e, ERR_INPUT, "it is larger than %d KiB", POLICY_MAX_BYTES >> 10);
	return 0;
}

/* ---- a version of the file ---- */

static int read_bytes(int fd, struct str *bytes, struct err *e)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0 && bytes->length <= POLICY_MAX_BYTES)
		str_add_bytes(bytes, part, (size_t)n);
	return n < 0 ? err_errno(e, ERR_AGAIN, "it cannot be read") : 0;
}

/* A version that differs in nothing but its time is not compiled again: *kept, then, is f's. */
static int read_version(struct policy_file *f, int fd, const char *had, struct policy **kept,
                        struct err *e)
{
	if (read_bytes(fd, &f->bytes, e))
		return -1;
	(void)snprintf(f->hash, sizeof(f->hash), "%s",
	               sha256_of(str_text(&f->bytes), f->bytes.length).text);
	if (*kept && strcmp(f->hash, had) == 0) {
		f->policy = *kept;
		*kept = NULL;
		return 0;
	}
	return policy_parse(str_text(&f->bytes), f->bytes.length, &f->policy, e);
}

static void forget(struct policy_file *f)
{
	f->policy = NULL;
	str_clear(&f->bytes);
	f->hash[0] = '\0';
	f->why[0] = '\0';
	f->exists = false;
	memset(&f->seen, 0, sizeof(f->seen));
}

/* Takes the file that fd is; below 0, there is none, or it is refused: why_not. */
static void take_version(struct policy_file *f, const struct policy_seen *now, int fd,
                         const struct err *why_not)
{
	char hash[SHA256_BYTES], why[ERR_TEXT_BYTES];
	struct err e = *why_not;
	struct policy *kept = f->policy;
	bool existed = f->exists;
	bool refused = why_not->kind != ERR_NONE;

	memcpy(hash, f->hash, sizeof(hash));
	memcpy(why, f->why, sizeof(why));
	forget(f);
	f->seen = *now;
	f->read_ms = clock_now_ms();
	f->exists = fd >= 0 || refused;
	if (fd >= 0)
		refused = read_version(f, fd, hash, &kept, &e) != 0;
	policy_free(kept);
	if (refused)
		(void)snprintf(f->why, sizeof(f->why), "%s", e.text);
	if (existed != f->exists || strcmp(hash, f->hash) != 0 || strcmp(why, f->why) != 0) {
		f->changed = true;
		f->told = false;
	}
	if (!f->changed)
		str_clear(&f->bytes);
}

static bool is_fresh(const struct policy_file *f, const struct policy_seen *now)
{
	return f->exists && is_same(&f->seen.file, &now->file) &&
	       is_same_place(&f->seen.folder, &now->folder) &&
	       is_same_place(&f->seen.root, &now->root) &&
	       f->read_ms - changed_ms(&now->file) > SETTLED_MS;
}

/* What is there under the file's name: 1, 0 nothing, -1. */
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

/* Opens what was looked at, and nothing that was put in its place. -1: e says why not. */
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
	if (root_fd >= 0)
		(void)close(root_fd);
	if (folder_fd >= 0)
		(void)close(folder_fd);
	if (fd >= 0 && e->kind != ERR_NONE) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

/* Looks and opens, again where it was replaced between the two. 1: fresh, nothing is to be done. */
static int look_and_open(const struct policy_file *f, struct policy_seen *now, int *ret_fd,
                         struct err *why_not)
{
	for (int try = 0; try < OPEN_TRIES; try++) {
		*why_not = (struct err)ERR_INIT;
		*ret_fd = -1;
		if (look_at(f->workspace_root, now, why_not) <= 0)
			return 0;
		if (is_fresh(f, now))
			return 1;
		if (check_file(now, why_not))
			return 0;
		*ret_fd = open_file(f->workspace_root, now, why_not);
		if (*ret_fd >= 0)
			return 0;
	}
	return 0;
}

static void look(struct policy_file *f)
{
	struct err why_not;
	struct policy_seen now;
	int fd;

	if (look_and_open(f, &now, &fd, &why_not))
		return;
	take_version(f, &now, fd, &why_not);
	if (fd >= 0)
		(void)close(fd);
}

/* ---- all of them ---- */

struct policy_file *policy_file_of(struct policy_files *files, const char *workspace_root)
{
	struct policy_file *f;

	LIST_FOREACH (f, &files->all, next)
		if (strcmp(f->workspace_root, workspace_root) == 0)
			break;
	if (!f) {
		f = xcalloc(1, sizeof(*f));
		f->workspace_root = xstrdup(workspace_root);
		LIST_INSERT_HEAD(&files->all, f, next);
	}
	look(f);
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
		free(f->workspace_root);
		free(f);
	}
}
