#include "backup.h"

#include "group_id.h"
#include "io.h"
#include "paths.h"
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
#include <sys/xattr.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10 }; /* of a file that is copied */

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

/* Returns its descriptor, or -1. */
static int make_empty(const struct staging *n, const char *name, struct err *e)
{
	int fd = openat(n->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		(void)err_errno(e, ERR_AGAIN, "cannot make a file in %s", n->parent);
	return fd;
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
	int fd = make_empty(n, MADE, e);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !file) {
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

/* Refuses names that SQLite would treat as the database's own. */
static int check_place(const char *database, const char *file, struct err *e)
{
	OWNED(char_ptr) char *copy = xstrdup(file), *again = xstrdup(file);
	OWNED(char_ptr) char *parent = realpath(dirname(copy), NULL);
	OWNED(str) struct str full = { 0 };

	if (!*file || file[strlen(file) - 1] == '/')
		return err_set(e, ERR_INPUT, "\"%s\" names no file", file);
	if (!parent)
		return err_errno(e, ERR_INPUT, "the directory of %s", file);
	str_addf(&full, "%s/%s", parent, basename(again));
	if (strncmp(str_text(&full), database, strlen(database)) == 0 &&
	    full.bytes[strlen(database)] == '-')
		return err_set(e, ERR_INPUT,
		               "%s would be taken for a part of the database; choose another name",
		               file);
	return 0;
}

int backup_check_name(const char *database, const char *file, struct err *e)
{
	return check_place(database, file, e) || check_free(file, e) ? -1 : 0;
}

int backup_write(const char *database, const char *file, struct err *e)
{
	OWNED(staging) struct staging n = STAGING_INIT;
	OWNED(str) struct str made = { 0 };
	int version, fd;

	if (backup_check_name(database, file, e) || staging_open(&n, file, e))
		return -1;
	str_addf(&made, "%s/%s", n.path, MADE);
	fd = make_empty(&n, MADE, e);
	if (fd < 0)
		return -1;
	io_shut(&fd);
	if (store_copy(database, made.bytes, e) ||
	    store_examine(made.bytes, made.bytes, &version, e))
		return -1;
	return staging_publish(&n, file, e);
}

/* ---- restoring ---- */

/* The bits of the group are also what an access list lets others do at most. */
bool backup_others_write(int fd, const struct stat *about)
{
	return (about->st_mode & S_IWOTH) ||
	       ((about->st_mode & S_IWGRP) &&
	        (!group_id_is_private(about->st_gid, about->st_uid) ||
	         fgetxattr(fd, "system.posix_acl_access", NULL, 0) > 0));
}

/* Opens a backup for reading. */
static int open_backup(const char *file, struct backup_writers *ret, struct err *e)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat about;

	if (fd < 0 || fstat(fd, &about) != 0)
		(void)err_errno(e, ERR_INPUT, "db: cannot open %s", file);
	else if (io_special(about.st_mode))
		(void)err_set(e, ERR_INPUT,
		              "db: %s is %s; name a file that agent-intercom backup has made", file,
		              io_special(about.st_mode));
	else if (!S_ISREG(about.st_mode))
		(void)err_set(e, ERR_INPUT, "db: cannot open %s: it is a directory", file);
	else {
		*ret = (struct backup_writers){ about.st_uid, backup_others_write(fd, &about) };
		return fd;
	}
	io_shut(&fd);
	return -1;
}

/* Keeps others from writing a database as long as fd is open, by SQLite's lock; those who use a
 * log, and need none to write, hold it as long as they have the database open. */
static int lock_backup(int fd, const char *file, struct err *e)
{
	enum { PENDING = 0x40000000, SHARED = PENDING + 2, SHARED_BYTES = 510 };
	struct flock lock = { .l_type = F_RDLCK, .l_start = SHARED, .l_len = SHARED_BYTES };

	if (fcntl(fd, F_OFD_SETLK, &lock) != 0 && errno != EAGAIN && errno != EACCES)
		return 0; /* its file system has no locks: nobody uses a database there */
	lock = (struct flock){ .l_type = F_WRLCK,
		               .l_start = PENDING,
		               .l_len = SHARED - PENDING + SHARED_BYTES };
	if (fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
		return 0;
	return err_set(e, ERR_AGAIN,
	               "%s is in use (`fuser %s` shows by what): stop that first, or make a backup "
	               "of it",
	               file, file);
}

/* Copies from the beginning to a new file of the staging directory. */
static int copy_bytes(const struct staging *n, int from, const char *shown, const char *name,
                      struct err *e)
{
	static char piece[PIECE_BYTES];
	int fd = make_empty(n, name, e);
	ssize_t length = 1;
	bool failed = fd < 0;

	while (!failed && length != 0) {
		length = read(from, piece, sizeof(piece));
		if (length < 0 && errno == EINTR)
			continue;
		failed = length < 0 || io_write_all(fd, piece, (size_t)length);
		if (failed && length < 0)
			(void)err_errno(e, ERR_INPUT, "cannot read %s", shown);
		else if (failed)
			(void)err_errno(e, ERR_AGAIN, "cannot copy %s to %s", shown, n->parent);
	}
	io_shut(&fd);
	return failed ? -1 : 0;
}

/* Copies a companion of the backup, if it is there and nobody else's. */
static int copy_companion(const struct staging *n, struct backup_writers *w, const char *real,
                          const char *suffix, struct err *e)
{
	OWNED(str) struct str from = { 0 }, to = { 0 };
	struct stat about = { 0 };
	int fd, copied;

	str_addf(&from, "%s%s", real, suffix);
	str_addf(&to, "%s%s", MADE, suffix);
	fd = open(from.bytes, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 ? errno != ELOOP && errno != ENXIO : fstat(fd, &about) != 0)
		copied = err_errno(e, ERR_INPUT, "cannot open %s", from.bytes);
	else if (!S_ISREG(about.st_mode) || (about.st_uid != geteuid() && about.st_uid != w->owner))
		copied = err_set(e, ERR_INPUT,
		                 "%s: is another user's, or no regular file, and so no part of the "
		                 "backup; remove it, or have it removed",
		                 from.bytes);
	else
		copied = copy_bytes(n, fd, from.bytes, to.bytes, e);
	w->others |= fd >= 0 && backup_others_write(fd, &about);
	io_shut(&fd);
	return copied;
}

/* SQLite would write into the backup what lies beside it, and next to it what it needs itself. */
static int copy_backup(const struct staging *n, const char *file, struct backup_writers *ret,
                       struct err *e)
{
	OWNED(char_ptr) char *real = realpath(file, NULL);
	int fd =
	    real ? open_backup(real, ret, e) : err_errno(e, ERR_INPUT, "db: cannot open %s", file);
	int copied = fd < 0 || lock_backup(fd, file, e) || copy_bytes(n, fd, file, MADE, e) ||
	             copy_companion(n, ret, real, "-wal", e) ||
	             copy_companion(n, ret, real, "-journal", e);

	io_shut(&fd);
	return copied ? -1 : 0;
}

int backup_fetch(const struct staging *n, const char *file, int *ret_version,
                 struct backup_writers *ret, struct err *e)
{
	OWNED(str) struct str made = { 0 };

	str_addf(&made, "%s/%s", n->path, MADE);
	if (copy_backup(n, file, ret, e))
		return -1;
	return store_examine(made.bytes, file, ret_version, e);
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

/* A file loses the name under which it was kept, once it has its own again. */
static void rename_back(const char *kept, const char *database, const char *suffix)
{
	OWNED(str) struct str from = { 0 }, to = { 0 };
	struct stat one, other;

	str_addf(&from, "%s%s", kept, suffix);
	str_addf(&to, "%s%s", database, suffix);
	(void)!link(str_text(&from), str_text(&to));
	if (lstat(str_text(&from), &one) == 0 && lstat(str_text(&to), &other) == 0 &&
	    one.st_dev == other.st_dev && one.st_ino == other.st_ino)
		(void)unlink(str_text(&from));
}

void backup_take_back(const char *database, struct str *ret_removed)
{
	if (!paths_kept_name(database, ret_removed))
		return;
	for (size_t i = 0; i < COUNT(COMPANIONS); i++)
		rename_back(str_text(ret_removed), database, COMPANIONS[i]);
	rename_back(str_text(ret_removed), database, ""); /* last: it shows what is to be done */
}
