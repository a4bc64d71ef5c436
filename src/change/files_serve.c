/* The hand's side of files.h, and what both sides send with. */
#include "files_line.h"

#include "files.h"
#include "io.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	LINK_BYTES = 64,
	XATTR_NAMES_BYTES = 4096, /* attributes beyond this are not copied */
	XATTR_VALUE_BYTES = 65536,
};

/* ---- messages ---- */

ssize_t files_receive(int socket, void *bytes, size_t size, int fds[FILES_FDS], size_t *ret_count)
{
	char control[CMSG_SPACE(FILES_FDS * sizeof(int))] __attribute__((aligned(8)));
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	struct msghdr m = { .msg_iov = &part,
		            .msg_iovlen = 1,
		            .msg_control = control,
		            .msg_controllen = CMSG_LEN(FILES_FDS * sizeof(int)) };
	struct cmsghdr *head;
	ssize_t n;

	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	*ret_count = 0;
	head = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (head && head->cmsg_type == SCM_RIGHTS) {
		*ret_count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(head), *ret_count * sizeof(int));
	}
	return n;
}

int files_send(int socket, const void *bytes, size_t size, const int *fds, size_t count)
{
	char control[CMSG_SPACE(FILES_FDS * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (count) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			               .cmsg_type = SCM_RIGHTS,
			               .cmsg_len = CMSG_LEN(count * sizeof(int)) };
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	do {
		n = sendmsg(socket, &m, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)size ? 0 : -1;
}

/* ---- the calls ---- */

int files_copy_attributes_here(int from, int to)
{
	char names[XATTR_NAMES_BYTES];
	char *value = NULL;
	ssize_t length = flistxattr(from, names, sizeof(names));

	if (length <= 0)
		return 0;
	value = xmalloc(XATTR_VALUE_BYTES);
	for (const char *name = names; name < names + length; name += strlen(name) + 1) {
		ssize_t n = fgetxattr(from, name, value, XATTR_VALUE_BYTES);

		if (n >= 0)
			(void)fsetxattr(to, name, value, (size_t)n, 0);
	}
	free(value);
	return 0;
}

static int open_again(int fd, int flags)
{
	char link[LINK_BYTES];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, flags);
}

static int read_target(const struct files_call *c, int dir, struct files_answer *a)
{
	ssize_t n = readlinkat(dir, c->name, a->target, sizeof(a->target) - 1);

	a->length = n > 0 ? (uint32_t)n : 0;
	return n < 0 ? -1 : 0;
}

/* What the call returns; for those that open, a descriptor. */
static int make_call(const struct files_call *c, const int fds[FILES_FDS], int root,
                     struct files_answer *a)
{
	const int flags = (int)c->flags;

	switch ((enum files_op)c->op) {
	case FILES_ROOT:
		return open_again(root, flags | O_CLOEXEC);
	case FILES_OPEN:
		return openat(fds[0], c->name, flags | O_CLOEXEC, (mode_t)c->mode);
	case FILES_BENEATH:
		return io_open_beneath(fds[0], c->name, c->flags, c->resolve);
	case FILES_REOPEN:
		return open_again(fds[0], flags | O_CLOEXEC);
	case FILES_MKDIR:
		return mkdirat(fds[0], c->name, (mode_t)c->mode);
	case FILES_SYMLINK:
		return symlinkat(c->other, fds[0], c->name);
	case FILES_RENAME:
		return renameat2(fds[0], c->name, fds[1], c->other, (unsigned)c->flags);
	case FILES_LINK:
		return linkat(fds[0], c->name, fds[1], c->other, 0);
	case FILES_UNLINK:
		return unlinkat(fds[0], c->name, flags);
	case FILES_STAT:
		return fstatat(fds[0], c->name, &a->st, flags);
	case FILES_READLINK:
		return read_target(c, fds[0], a);
	case FILES_CHMOD:
		return fchmod(fds[0], (mode_t)c->mode);
	case FILES_CHOWN:
		return fchown(fds[0], (uid_t)c->uid, (gid_t)c->gid);
	case FILES_ATTRIBUTES:
		return files_copy_attributes_here(fds[0], fds[1]);
	case FILES_OPS:
		break;
	}
	errno = ENOSYS;
	return -1;
}

static size_t fds_of(enum files_op op)
{
	if (op == FILES_ROOT)
		return 0;
	return op == FILES_RENAME || op == FILES_LINK || op == FILES_ATTRIBUTES ? 2 : 1;
}

static bool opens(enum files_op op)
{
	return op == FILES_ROOT || op == FILES_OPEN || op == FILES_BENEATH || op == FILES_REOPEN;
}

static bool is_sound(const struct files_call *c, size_t count)
{
	return c->op < FILES_OPS && count == fds_of((enum files_op)c->op) &&
	       memchr(c->name, '\0', sizeof(c->name)) && memchr(c->other, '\0', sizeof(c->other));
}

/* False: the other end is gone, or sends what it would not. */
static bool serve_call(int socket, int root)
{
	struct files_call c;
	struct files_answer a;
	int fds[FILES_FDS], result;
	size_t count;
	ssize_t n = files_receive(socket, &c, sizeof(c), fds, &count);
	bool sound = n == sizeof(c) && is_sound(&c, count), sent;

	memset(&a, 0, sizeof(a));
	result = sound ? make_call(&c, fds, root, &a) : -1;
	a.error = result < 0 ? errno : 0;
	for (size_t i = 0; i < count; i++)
		(void)close(fds[i]);
	if (!sound)
		return false;
	sent = result >= 0 && opens((enum files_op)c.op)
	           ? files_send(socket, &a, sizeof(a), &result, 1) == 0
	           : files_send(socket, &a, sizeof(a), NULL, 0) == 0;
	if (result >= 0 && opens((enum files_op)c.op))
		(void)close(result);
	return sent;
}

void files_serve(int socket, int root)
{
	while (serve_call(socket, root))
		continue;
}
