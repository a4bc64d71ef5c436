#include "io.h"

#include "err.h"
#include "pulse.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FLUSH_BYTES = 4 << 20,
	OPEN_TRIES = 100, /* openat2 fails with EAGAIN while directories are being renamed */
	DRAIN_BYTES = 64 << 10, /* of a piece */
};

int io_write_all(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		ssize_t n = write(fd, at, length < FLUSH_BYTES ? length : FLUSH_BYTES);

		pulse();
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += n;
		length -= (size_t)n;
	}
	return 0;
}

int io_read_all(int fd, size_t most, struct str *bytes)
{
	char piece[DRAIN_BYTES];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		str_add_bytes(bytes, piece, (size_t)n < most ? (size_t)n : most);
		if ((size_t)n > most)
			return 1;
		most -= (size_t)n;
	}
	return 0;
}

int io_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
	int error;

	if (renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system that does not support the flag. */
	if (linkat(from_dir, from, to_dir, to, 0) != 0)
		return -1;
	if (unlinkat(from_dir, from, 0) == 0)
		return 0;
	error = errno;
	(void)unlinkat(to_dir, to, 0);
	errno = error;
	return -1;
}

int io_flush_name(const char *path)
{
	OWNED(char_ptr) char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');

	if (slash)
		slash[slash == dir] = '\0';
	return io_flush_at(AT_FDCWD, slash ? dir : ".", O_DIRECTORY);
}

int io_flush_at(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | flags);
	int failed;

	if (fd < 0)
		return -1;
	failed = fsync(fd);
	io_shut(&fd);
	return failed;
}

int io_flush_gently(int fd)
{
	struct stat about;

	if (fstat(fd, &about) != 0)
		return -1;
	for (off_t at = 0; at < about.st_size; at += FLUSH_BYTES) {
		pulse();
		(void)sync_file_range(fd, at, FLUSH_BYTES,
		                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
		                          SYNC_FILE_RANGE_WAIT_AFTER);
	}
	return fsync(fd); /* only its result proves that the data is on disk */
}

int io_make_parents(const char *path, mode_t mode)
{
	OWNED(str) struct str folder = { 0 };

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		str_clear(&folder);
		str_add_bytes(&folder, path, (size_t)(slash - path));
		if (mkdir(str_text(&folder), mode) != 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

DIR *open_listing(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);

	if (!d && copy >= 0)
		(void)close(copy);
	return d;
}

int io_open_beneath(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = RESOLVE_BENEATH | resolve };
	long fd = -1;

	for (int try = 0; try < OPEN_TRIES; try++) {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return (int)fd;
}

const char *io_special(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	default:
		return NULL;
	}
}

ssize_t io_send_fds(int socket, const void *bytes, size_t length, const int *fds, size_t count,
                    int flags)
{
	char control[CMSG_SPACE(IO_FDS * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = length };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (count > IO_FDS) {
		errno = EINVAL; /* as the kernel says of too many */
		return -1;
	}
	if (count) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			               .cmsg_type = SCM_RIGHTS,
			               .cmsg_len = CMSG_LEN(count * sizeof(int)) };
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL | flags);
}

ssize_t io_receive_fds(int socket, void *bytes, size_t size, int *fds, size_t count, int flags)
{
	char control[CMSG_SPACE(IO_FDS * sizeof(int))] __attribute__((aligned(8)));
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	struct msghdr m = { .msg_iov = &part,
		            .msg_iovlen = 1,
		            .msg_control = control,
		            /* not CMSG_SPACE, which may have room for one more */
		            .msg_controllen = CMSG_LEN(count * sizeof(int)) };
	struct cmsghdr *c;
	ssize_t n;

	for (size_t i = 0; i < count; i++)
		fds[i] = -1;
	if (count > IO_FDS) {
		errno = EINVAL;
		return -1;
	}
	n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | flags);
	c = n >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	if (n < 0 || !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return n;
	for (size_t i = 0; i < count; i++)
		io_shut(&fds[i]);
	errno = EMSGSIZE;
	return -1;
}

void io_shut(int *fd)
{
	int error = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = error;
	*fd = -1;
}

void io_close_all_but(int first, int one, int other)
{
	const int kept[] = { one < other ? one : other, one < other ? other : one };

	for (size_t i = 0; i < COUNT(kept); i++)
		if (kept[i] >= first) {
			if (kept[i] > first)
				(void)close_range((unsigned)first, (unsigned)kept[i] - 1, 0);
			first = kept[i] + 1;
		}
	(void)close_range((unsigned)first, ~0U, 0);
}

bool io_has_messages(int fd)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

int io_drain(int *fd, int reads,
             int (*each)(void *arg, const char *bytes, size_t length, struct err *e), void *arg,
             struct err *e)
{
	static char buffer[DRAIN_BYTES];

	for (int i = 0; *fd >= 0 && i < reads; i++) {
		ssize_t n = read(*fd, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			io_shut(fd);
		if (each(arg, buffer, n > 0 ? (size_t)n : 0, e))
			return -1;
	}
	return *fd >= 0;
}

unsigned long io_too_few_files(int fd)
{
	enum { LEAST = 1024, LEAST_PART = 16 };
	struct statvfs fs;
	unsigned long least;

	if (fstatvfs(fd, &fs))
		return 0;
	least = fs.f_files / LEAST_PART < LEAST ? fs.f_files / LEAST_PART : LEAST;
	return fs.f_favail < least ? least : 0;
}
