#include "backup.h"

#include "io.h"
#include "store.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PREFIX[] = ".agent-intercom-part-";
static const char MADE[] = "db"; /* in the staging directory */

/* The files that SQLite may keep next to a database. */
static const char *const COMPANIONS[] = { "-wal", "-shm", "-journal" };

/* ---- the staging directory ---- */

/* It contains no directories. */
static void empty(int fd)
{
	DIR *d = open_listing(fd);
	const struct dirent *entry;

	while (d && (entry = readdir(d)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			(void)unlinkat(fd, entry->d_name, 0);
	if (d)
		(void)closedir(d);
}

static void sweep(const char *parent)
{
	DIR *d = opendir(parent);
	const struct dirent *entry;

	while (d && (entry = readdir(d)) != NULL) {
		int fd;

		if (strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1) != 0)
			continue;
		fd = openat(dirfd(d), entry->d_name,
		            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) { /* its maker is gone */
			empty(fd);
			(void)unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR);
		}
		(void)close(fd);
	}
	if (d)
		(void)closedir(d);
}

/* 1 it is ours, 0 another process removed it before we locked it, -1. */
static int make(struct staging *n, struct err *e)
{
	OWNED(str) struct str name = { 0 };
	struct stat about;

	str_addf(&name, "%s/%sXXXXXX", n->parent, PREFIX);
	if (!mkdtemp(name.bytes))
		return err_errno(e, err_kind_of_file(errno), "cannot write in %s", n->parent);
	n->path = str_take(&name);
	n->fd = open(n->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (n->fd >= 0 && flock(n->fd, LOCK_EX) == 0 && stat(n->path, &about) == 0)
		return 1;
	if (errno != ENOENT)
		return err_errno(e, ERR_AGAIN, "cannot open %s", n->path);
	io_shut(&n->fd);
	free(n->path);
	n->path = NULL;
	n->fd = -1;
	return 0;
}

int staging_open(struct staging *n, const char *path, struct err *e)
{
	OWNED(char_ptr) char *copy = xstrdup(path);
	int made = 0;

	n->parent = realpath(dirname(copy), NULL);
	if (!n->parent)
		return err_errno(e, ERR_INPUT, "the directory of %s", path);
	sweep(n->parent);
	while (made == 0)
		made = make(n, e);
	return made < 0 ? -1 : 0;
}

void staging_clear(struct staging *n)
{
	if (n->fd >= 0) {
		empty(n->fd);
		(void)rmdir(n->path);
		(void)close(n->fd);
	}
	free(n->path);
	free(n->parent);
	*n = (struct staging)STAGING_INIT;
}

/* ---- files ---- */

static int make_empty(const struct staging *n, struct err *e)
{
	int fd = openat(n->fd, MADE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(e, ERR_AGAIN, "cannot make a file in %s", n->parent);
	(void)close(fd);
	return 0;
}

static int flush_at(int dir, const char *name, int flags, const char *shown, struct err *e)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | flags);
	int flushed = fd < 0 ? -1 : io_flush_gently(fd);

	if (flushed)
		(void)err_errno(e, ERR_AGAIN, "cannot flush %s to disk", shown);
	io_shut(&fd);
	return flushed ? -1 : 0;
}

FILE *staging_create(const struct staging *n, struct err *e)
{
	int fd = openat(n->fd, MADE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file) {
		(void)err_errno(e, ERR_AGAIN, "cannot make a file in %s", n->parent);
		io_shut(&fd);
	}
	return file;
}

int staging_publish(const struct staging *n, const char *file, struct err *e)
{
	if (flush_at(n->fd, MADE, 0, file, e))
		return -1;
	if (io_rename_new(n->fd, MADE, AT_FDCWD, file))
		return err_errno(e, ERR_INPUT, "cannot name the file %s", file);
	return flush_at(AT_FDCWD, n->parent, O_DIRECTORY, n->parent, e);
}

/* ---- making a copy ---- */

/* Refuses a name that is taken, or beside which a file lies that SQLite would take for a part of
 * what gets that name. */
static int check_free(const char *file, struct err *e)
{
	struct stat about;

	if (lstat(file, &about) == 0)
		return err_set(e, ERR_INPUT, "%s already exists; choose another name", file);
	for (size_t i = 0; i < COUNT(COMPANIONS); i++) {
		OWNED(str) struct str name = { 0 };

		str_addf(&name, "%s%s", file, COMPANIONS[i]);
		if (lstat(name.bytes, &about) == 0)
			return err_set(e, ERR_INPUT,
			               "%s is there, and would be taken for a part of %s; choose "
			               "another name",
			               name.bytes, file);
	}
	return 0;
}

/* Names that SQLite would treat as the database's own. */
static bool is_companion(const struct staging *n, const char *database, const char *file)
{
	OWNED(char_ptr) char *copy = xstrdup(file);
	OWNED(str) struct str full = { 0 };

	str_addf(&full, "%s/%s", n->parent, basename(copy));
	return strncmp(full.bytes, database, strlen(database)) == 0 &&
	       full.bytes[strlen(database)] == '-';
}

int backup_write(const char *database, const char *file, struct err *e)
{
	OWNED(staging) struct staging n = STAGING_INIT;
	OWNED(str) struct str made = { 0 };
	int version;

	if (check_free(file, e) || staging_open(&n, file, e))
		return -1;
	if (is_companion(&n, database, file))
		return err_set(e, ERR_INPUT,
		               "%s would be taken for a part of the database; choose another name",
		               file);
	str_addf(&made, "%s/%s", n.path, MADE);
	if (make_empty(&n, e) || store_copy(database, made.bytes, true, e) ||
	    store_examine(made.bytes, &version, e))
		return -1;
	return staging_publish(&n, file, e);
}

/* ---- restoring ---- */

int backup_fetch(const struct staging *n, const char *file, int *ret_version, struct err *e)
{
	OWNED(str) struct str made = { 0 };

	str_addf(&made, "%s/%s", n->path, MADE);
	if (store_examine(file, ret_version, e) || make_empty(n, e))
		return -1;
	return store_copy(file, made.bytes, false, e);
}

/* The database and its companions get additional names; then the companions lose their old ones,
 * which SQLite would take for the new database's. */
static int keep(const char *database, const char *kept, struct err *e)
{
	if (link(database, kept) != 0 && errno != ENOENT)
		return err_errno(e, ERR_INPUT, "cannot keep the present database as %s", kept);
	for (size_t i = 0; i < COUNT(COMPANIONS); i++) {
		OWNED(str) struct str from = { 0 }, to = { 0 };

		str_addf(&from, "%s%s", database, COMPANIONS[i]);
		str_addf(&to, "%s%s", kept, COMPANIONS[i]);
		if (link(from.bytes, to.bytes) != 0 && errno != ENOENT)
			return err_errno(e, ERR_INPUT, "cannot keep %s", from.bytes);
	}
	return 0;
}

static int drop_companions(const char *database, struct err *e)
{
	for (size_t i = 0; i < COUNT(COMPANIONS); i++) {
		OWNED(str) struct str name = { 0 };

		str_addf(&name, "%s%s", database, COMPANIONS[i]);
		if (unlink(name.bytes) != 0 && errno != ENOENT)
			return err_errno(e, ERR_INPUT, "cannot remove %s", name.bytes);
	}
	return 0;
}

int backup_place(const struct staging *n, const char *database, const char *kept, struct err *e)
{
	OWNED(str) struct str log = { 0 };
	struct stat about;

	str_addf(&log, "%s-wal", MADE);
	if (fstatat(n->fd, log.bytes, &about, 0) == 0)
		return err_set(e, ERR_AGAIN, "the copy in %s is not one file; try again", n->path);
	if (lstat(database, &about) == 0 && store_fold(database, e) < 0)
		return -1;
	if (flush_at(n->fd, MADE, 0, "the copy", e) || keep(database, kept, e) ||
	    flush_at(AT_FDCWD, n->parent, O_DIRECTORY, n->parent, e) ||
	    drop_companions(database, e))
		return -1;
	if (renameat(n->fd, MADE, AT_FDCWD, database) != 0)
		return err_errno(e, ERR_AGAIN, "cannot put the copy in the place of %s", database);
	return flush_at(AT_FDCWD, n->parent, O_DIRECTORY, n->parent, e);
}
