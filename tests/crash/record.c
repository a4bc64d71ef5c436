/* A library for LD_PRELOAD: see record.h. It makes the real calls directly, without the C library,
 * so that no sanitizer interferes. Writes through a mapping are not seen: in a database only the
 * -shm is mapped, which is rebuilt. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Each of these is declared elsewhere under at least one name; open64 and its like only with large
 * files. */
int open64(const char *path, int flags, ...);
int openat64(int dir, const char *path, int flags, ...);
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset);
int ftruncate64(int fd, off_t size);

static int log_fd = -1;
static dev_t device; /* of the log, and of what is recorded */
static long refused_rename; /* how many calls of renameat2 until one fails, 0: none does */

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv(RECORD_TO), *refused = getenv(RECORD_REFUSE);
	struct stat st;

	if (refused)
		refused_rename = strtol(refused, NULL, 10);
	if (path)
		log_fd =
		    (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	if (path && (log_fd < 0 || syscall(SYS_fstat, log_fd, &st) != 0))
		_exit(125);
	device = path ? st.st_dev : 0;
}

/* The number of an inode. Those of other file systems, as of a memfd, are no inode of the tree. */
static uint64_t number_of(const struct stat *st)
{
	static const uint64_t ELSEWHERE = (uint64_t)1 << 63;

	return st->st_dev == device ? st->st_ino : ELSEWHERE | st->st_ino;
}

static void write_down(struct record r, const char *name, const char *name2, const void *data)
{
	int error = errno;
	size_t length = r.name_length + r.name2_length + r.data_length;
	struct iovec parts[] = { { &r, sizeof(r) },
		                 { (void *)name, r.name_length },
		                 { (void *)name2, r.name2_length },
		                 { (void *)data, r.data_length },
		                 { (void *)"\0\0\0\0\0\0\0", RECORD_PADDED(length) - length } };

	if (log_fd >= 0 &&
	    syscall(SYS_writev, log_fd, parts, 5L) != (long)(sizeof(r) + RECORD_PADDED(length)))
		_exit(125);
	errno = error;
}

/* ---- names ---- */

/* Where a path leads: the directory's inode, 0 if unknown, and the name in it. */
struct spot {
	uint64_t dir;
	const char *name;
};

static struct spot spot_of(int dir, const char *path)
{
	char parent[4096] = ".";
	const char *slash = strrchr(path, '/');
	struct spot spot = { .name = slash ? slash + 1 : path };
	struct stat st;
	int error = errno;

	if (slash)
		(void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path + 1), path);
	if (log_fd >= 0 && syscall(SYS_newfstatat, dir, parent, &st, 0) == 0)
		spot.dir = number_of(&st);
	errno = error;
	return spot;
}

static uint64_t inode_of(int dir, const char *path)
{
	struct stat st;
	int error = errno;
	bool known = syscall(SYS_newfstatat, dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;

	errno = error;
	return known ? number_of(&st) : 0;
}

static void named(enum record_op op, struct spot at, uint64_t other, int64_t mode)
{
	write_down((struct record){ .op = op,
	                            .name_length = (uint32_t)strlen(at.name),
	                            .node = at.dir,
	                            .other = other,
	                            .offset = mode },
	           at.name, NULL, NULL);
}

static void moved(enum record_op op, struct spot from, struct spot to)
{
	write_down((struct record){ .op = op,
	                            .name_length = (uint32_t)strlen(from.name),
	                            .name2_length = (uint32_t)strlen(to.name),
	                            .node = from.dir,
	                            .other = to.dir },
	           from.name, to.name, NULL);
}

/* ---- opening ---- */

static int open_any(int dir, const char *path, int flags, mode_t mode)
{
	bool makes = log_fd >= 0 && (flags & O_CREAT);
	uint64_t before = makes ? inode_of(dir, path) : 0;
	int fd = (int)syscall(SYS_openat, dir, path, flags, mode);
	struct stat st;

	if (fd < 0 || log_fd < 0 || !(flags & (O_CREAT | O_TRUNC)) ||
	    syscall(SYS_fstat, fd, &st) != 0)
		return fd;
	if (makes && !before)
		named(RECORD_CREATE, spot_of(dir, path), number_of(&st), st.st_mode & 07777);
	else if (flags & O_TRUNC)
		write_down((struct record){ .op = RECORD_TRUNCATE, .node = number_of(&st) }, NULL,
		           NULL, NULL);
	return fd;
}

#define MODE_OF(flags, mode)                                                                       \
	do {                                                                                       \
		if ((flags) & (O_CREAT | O_TMPFILE)) {                                             \
			va_list args;                                                              \
			va_start(args, flags);                                                     \
			(mode) = va_arg(args, mode_t);                                             \
			va_end(args);                                                              \
		}                                                                                  \
	} while (0)

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return open_any(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return open_any(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return open_any(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return open_any(dir, path, flags, mode);
}

/* ---- contents ---- */

/* The inode of a file; 0: fd is not a file, and its data goes to another process. */
static uint64_t file_of(int fd)
{
	struct stat st;

	return syscall(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode) ? number_of(&st) : 0;
}

static void said(void)
{
	write_down((struct record){ .op = RECORD_SAID }, NULL, NULL, NULL);
}

static void wrote(int fd, const void *bytes, ssize_t size, off_t offset)
{
	uint64_t node = log_fd >= 0 && size > 0 ? file_of(fd) : 0;

	if (log_fd < 0 || size <= 0)
		return;
	if (!node)
		said();
	else
		write_down((struct record){ .op = RECORD_WRITE,
		                            .data_length = (uint32_t)size,
		                            .node = node,
		                            .offset = offset },
		           NULL, NULL, bytes);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	off_t offset = log_fd >= 0 ? syscall(SYS_lseek, fd, 0L, SEEK_CUR) : 0;
	ssize_t written = syscall(SYS_write, fd, bytes, size);

	wrote(fd, bytes, written, offset < 0 ? 0 : offset);
	return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	ssize_t written = syscall(SYS_pwrite64, fd, bytes, size, offset);

	wrote(fd, bytes, written, offset);
	return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
	return pwrite(fd, bytes, size, offset);
}

int ftruncate(int fd, off_t size)
{
	int failed = (int)syscall(SYS_ftruncate, fd, size);

	if (!failed)
		write_down(
		    (struct record){ .op = RECORD_TRUNCATE, .node = file_of(fd), .offset = size },
		    NULL, NULL, NULL);
	return failed;
}

int ftruncate64(int fd, off_t size)
{
	return ftruncate(fd, size);
}

int fchmod(int fd, mode_t mode)
{
	int failed = (int)syscall(SYS_fchmod, fd, mode);
	struct stat st;

	if (!failed && syscall(SYS_fstat, fd, &st) == 0)
		write_down((struct record){ .op = RECORD_MODE,
		                            .node = number_of(&st),
		                            .offset = mode & 07777 },
		           NULL, NULL, NULL);
	return failed;
}

static int flushed(long call, int fd)
{
	int failed = log_fd >= 0 ? (int)syscall(call, fd) : 0;
	struct stat st;

	if (!failed && log_fd >= 0 && syscall(SYS_fstat, fd, &st) == 0)
		write_down((struct record){ .op = RECORD_SYNC, .node = number_of(&st) }, NULL, NULL,
		           NULL);
	return failed;
}

int fsync(int fd)
{
	return flushed(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return flushed(SYS_fdatasync, fd);
}

int syncfs(int fd)
{
	int failed = log_fd >= 0 ? (int)syscall(SYS_syncfs, fd) : 0;

	if (!failed)
		write_down((struct record){ .op = RECORD_SYNC }, NULL, NULL, NULL);
	return failed;
}

/* ---- directories ---- */

int mkdirat(int dir, const char *path, mode_t mode)
{
	int failed = (int)syscall(SYS_mkdirat, dir, path, mode);
	struct stat st;

	if (!failed && log_fd >= 0 && syscall(SYS_newfstatat, dir, path, &st, 0) == 0)
		named(RECORD_MKDIR, spot_of(dir, path), number_of(&st), st.st_mode & 07777);
	return failed;
}

int mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

int unlinkat(int dir, const char *path, int flags)
{
	int failed = (int)syscall(SYS_unlinkat, dir, path, flags);

	if (!failed)
		named(RECORD_UNLINK, spot_of(dir, path), 0, 0);
	return failed;
}

int unlink(const char *path)
{
	return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	int failed = (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);

	if (!failed)
		named(RECORD_LINK, spot_of(to_dir, to), inode_of(to_dir, to), 0);
	return failed;
}

int link(const char *from, const char *to)
{
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	struct spot a = spot_of(from_dir, from), b = spot_of(to_dir, to);

	if (refused_rename && --refused_rename == 0) {
		errno = EACCES;
		return -1;
	}
	int failed = (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);

	if (!failed)
		moved(flags & RENAME_EXCHANGE ? RECORD_EXCHANGE : RECORD_RENAME, a, b);
	return failed;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return renameat2(from_dir, from, to_dir, to, 0);
}

int rename(const char *from, const char *to)
{
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- other processes ---- */

ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to,
               socklen_t to_size)
{
	said(); /* whether or not anyone receives it */
	return syscall(SYS_sendto, fd, bytes, size, flags, to, to_size);
}
