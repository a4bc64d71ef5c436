#include "files.h"

#include "files_line.h"

#include "clock.h"
#include "io.h"
#include "pulse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINK_BYTES = 64, LOOK_MS = 500 };

/* Of this process, which has one workspace in hand at a time. */
static struct {
	int socket;
	int patience_ms;
	bool is_lost;
} hand = { .socket = -1 };

void files_use(int socket)
{
	hand.socket = socket;
	hand.is_lost = false;
	hand.patience_ms = FILES_PATIENCE_MS;
}

void files_wait(int ms)
{
	hand.patience_ms = ms;
}

bool files_have_hand(void)
{
	return hand.socket >= 0;
}

bool files_is_lost(void)
{
	return hand.is_lost;
}

/* ---- asking the hand ---- */

static int lose(void)
{
	hand.is_lost = true;
	errno = EIO;
	return -1;
}

static bool has_answered(void)
{
	int64_t end = clock_monotonic_ms() + hand.patience_ms;
	struct pollfd wait = { .fd = hand.socket, .events = POLLIN };

	while (poll(&wait, 1, LOOK_MS) <= 0) {
		if (clock_monotonic_ms() >= end)
			return false;
		pulse();
	}
	return true;
}

/* Whether it is opened as was asked for, and no FIFO or device, which would block us. */
static bool is_as_asked(const struct files_call *c, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st))
		return false;
	if (c->flags & O_PATH)
		return flags & O_PATH;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return false;
	return !(flags & O_PATH) && (flags & O_ACCMODE) == (int)(c->flags & O_ACCMODE);
}

/* 0, and *ret_fd is what it opened, or -1; -1 with errno. */
static int ask(const struct files_call *c, const int *fds, size_t count, struct files_answer *a,
               int *ret_fd)
{
	int got[FILES_FDS];
	size_t got_count;
	ssize_t n;

	*ret_fd = -1;
	if (hand.is_lost || files_send(hand.socket, c, sizeof(*c), fds, count) || !has_answered())
		return lose();
	n = files_receive(hand.socket, a, sizeof(*a), got, &got_count);
	for (size_t i = 1; i < got_count; i++)
		(void)close(got[i]);
	if (got_count > 0)
		*ret_fd = got[0];
	if (n == sizeof(*a) && a->error == 0 && a->length < sizeof(a->target))
		return 0;
	if (*ret_fd >= 0)
		(void)close(*ret_fd);
	*ret_fd = -1;
	if (n != sizeof(*a) || a->error <= 0)
		return lose();
	errno = a->error;
	return -1;
}

static int ask_for_nothing(const struct files_call *c, const int *fds, size_t count)
{
	struct files_answer a;
	int fd, failed = ask(c, fds, count, &a, &fd);

	if (fd >= 0)
		(void)close(fd);
	return failed;
}

static int ask_for_file(const struct files_call *c, const int *fds, size_t count)
{
	struct files_answer a;
	int fd;

	if (ask(c, fds, count, &a, &fd))
		return -1;
	if (fd >= 0 && is_as_asked(c, fd))
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return lose();
}

/* False: errno is ENAMETOOLONG. */
static bool name_call(struct files_call *c, enum files_op op, const char *name, const char *other)
{
	*c = (struct files_call){ .op = op };
	if (strlen(name) >= sizeof(c->name) || strlen(other) >= sizeof(c->other)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(c->name, name, strlen(name) + 1);
	memcpy(c->other, other, strlen(other) + 1);
	return true;
}

/* ---- the calls ---- */

int files_open_root(const char *path, int flags)
{
	struct files_call c;

	if (hand.socket < 0)
		return open(path, O_DIRECTORY | O_CLOEXEC | flags);
	if (!name_call(&c, FILES_ROOT, "", ""))
		return -1;
	c.flags = (uint64_t)(O_DIRECTORY | O_CLOEXEC | flags);
	return ask_for_file(&c, NULL, 0);
}

int files_open(int dir, const char *name, int flags, mode_t mode)
{
	struct files_call c;

	if (hand.socket < 0)
		return openat(dir, name, flags, mode);
	if (!name_call(&c, FILES_OPEN, name, ""))
		return -1;
	c.flags = (uint64_t)flags;
	c.mode = mode;
	return ask_for_file(&c, &dir, 1);
}

int files_open_beneath(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct files_call c;

	if (hand.socket < 0)
		return io_open_beneath(dir, path, flags, resolve);
	if (!name_call(&c, FILES_BENEATH, path, ""))
		return -1;
	c.flags = flags;
	c.resolve = resolve;
	return ask_for_file(&c, &dir, 1);
}

static int reopen_here(int fd, int flags)
{
	char link[LINK_BYTES];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, flags);
}

int files_reopen(int fd, int flags)
{
	struct files_call c;

	if (hand.socket < 0)
		return reopen_here(fd, flags);
	if (!name_call(&c, FILES_REOPEN, "", ""))
		return -1;
	c.flags = (uint64_t)flags;
	return ask_for_file(&c, &fd, 1);
}

DIR *files_list(int dir)
{
	int copy = files_open(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);

	if (!d && copy >= 0)
		(void)close(copy);
	return d;
}

int files_make_dir(int dir, const char *name, mode_t mode)
{
	struct files_call c;

	if (hand.socket < 0)
		return mkdirat(dir, name, mode);
	if (!name_call(&c, FILES_MKDIR, name, ""))
		return -1;
	c.mode = mode;
	return ask_for_nothing(&c, &dir, 1);
}

int files_symlink(const char *target, int dir, const char *name)
{
	struct files_call c;

	if (hand.socket < 0)
		return symlinkat(target, dir, name);
	return name_call(&c, FILES_SYMLINK, name, target) ? ask_for_nothing(&c, &dir, 1) : -1;
}

int files_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	const int dirs[] = { from_dir, to_dir };
	struct files_call c;

	if (hand.socket < 0)
		return renameat2(from_dir, from, to_dir, to, flags);
	if (!name_call(&c, FILES_RENAME, from, to))
		return -1;
	c.flags = flags;
	return ask_for_nothing(&c, dirs, 2);
}

static int make_link(int from_dir, const char *from, int to_dir, const char *to)
{
	const int dirs[] = { from_dir, to_dir };
	struct files_call c;

	return name_call(&c, FILES_LINK, from, to) ? ask_for_nothing(&c, dirs, 2) : -1;
}

/* One call at a time, as io_rename_new makes them. */
int files_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
	int error;

	if (hand.socket < 0)
		return io_rename_new(from_dir, from, to_dir, to);
	if (files_rename(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (make_link(from_dir, from, to_dir, to))
		return -1;
	if (files_unlink(from_dir, from, 0) == 0)
		return 0;
	error = errno;
	(void)files_unlink(to_dir, to, 0);
	errno = error;
	return -1;
}

int files_unlink(int dir, const char *name, int flags)
{
	struct files_call c;

	if (hand.socket < 0)
		return unlinkat(dir, name, flags);
	if (!name_call(&c, FILES_UNLINK, name, ""))
		return -1;
	c.flags = (uint64_t)flags;
	return ask_for_nothing(&c, &dir, 1);
}

int files_stat(int dir, const char *name, struct stat *st, int flags)
{
	struct files_call c;
	struct files_answer a;
	int fd;

	if (hand.socket < 0)
		return fstatat(dir, name, st, flags);
	if (!name_call(&c, FILES_STAT, name, ""))
		return -1;
	c.flags = (uint64_t)flags;
	if (ask(&c, &dir, 1, &a, &fd))
		return -1;
	if (fd >= 0)
		(void)close(fd);
	*st = a.st;
	return 0;
}

ssize_t files_read_link(int dir, const char *name, char *target, size_t size)
{
	struct files_call c;
	struct files_answer a;
	int fd;

	if (hand.socket < 0)
		return readlinkat(dir, name, target, size);
	if (!name_call(&c, FILES_READLINK, name, "") || ask(&c, &dir, 1, &a, &fd))
		return -1;
	if (fd >= 0)
		(void)close(fd);
	if (a.length < size)
		size = a.length;
	memcpy(target, a.target, size);
	return (ssize_t)size;
}

int files_chmod(int fd, mode_t mode)
{
	struct files_call c;

	if (hand.socket < 0)
		return fchmod(fd, mode);
	if (!name_call(&c, FILES_CHMOD, "", ""))
		return -1;
	c.mode = mode;
	return ask_for_nothing(&c, &fd, 1);
}

int files_chown(int fd, uid_t uid, gid_t gid)
{
	struct files_call c;

	if (hand.socket < 0)
		return fchown(fd, uid, gid);
	if (!name_call(&c, FILES_CHOWN, "", ""))
		return -1;
	c.uid = uid;
	c.gid = gid;
	return ask_for_nothing(&c, &fd, 1);
}

void files_copy_attributes(int from, int to)
{
	const int fds[] = { from, to };
	struct files_call c;

	if (hand.socket < 0)
		files_copy_attributes_here(from, to);
	else if (name_call(&c, FILES_ATTRIBUTES, "", ""))
		(void)ask_for_nothing(&c, fds, 2);
}
