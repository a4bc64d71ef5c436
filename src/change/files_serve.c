/* The hand's side of files.h, and what both sides do. */
#include "files_line.h"

#include "files.h"
#include "io.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LINK_BYTES = 64 };

/* ---- the same on both sides ---- */

int files_copy_attributes_here(int from, int to)
{
	/* What the kernel lists at most: a list that is cut off would be none at all. */
	char *names = xmalloc(XATTR_LIST_MAX), *value = xmalloc(XATTR_SIZE_MAX);
	ssize_t length = flistxattr(from, names, XATTR_LIST_MAX);

	for (const char *name = names; name < names + length; name += strlen(name) + 1) {
		/* What a program may do was given to its content: write(2) drops it, too. */
		bool is_of_content = strcmp(name, "security.capability") == 0;
		ssize_t n = is_of_content ? -1 : fgetxattr(from, name, value, XATTR_SIZE_MAX);

		if (n >= 0)
			(void)fsetxattr(to, name, value, (size_t)n, 0);
	}
	free(value);
	free(names);
	return 0;
}

static const char ACCESS_LIST[] = "system.posix_acl_access";

int files_drop_lists_here(int fd)
{
	static const char *const LISTS[] = { ACCESS_LIST, "system.posix_acl_default" };

	for (size_t i = 0; i < COUNT(LISTS); i++)
		if (fgetxattr(fd, LISTS[i], NULL, 0) >= 0 && fremovexattr(fd, LISTS[i]))
			return -1;
	return 0;
}

/* Whom an entry is about, as in <linux/posix_acl.h>. */
enum { LIST_USER = 2, LIST_GROUP_OBJ = 4, LIST_GROUP = 8, LIST_MASK = 16, LIST_OTHER = 32 };

/* What each entry leaves to a file's group and to others. A user with an entry may be in the group,
 * and without the list whoever has one is one of these. */
static mode_t common_mode(const struct posix_acl_xattr_entry *entries, size_t count)
{
	mode_t group = 07, other = 07, mask = 07, named = 07, users = 07;
	bool has_named = false;

	for (size_t i = 0; i < count; i++) {
		const mode_t may = le16toh(entries[i].e_perm) & 07;
		const unsigned tag = le16toh(entries[i].e_tag);

		group = tag == LIST_GROUP_OBJ ? may : group;
		other = tag == LIST_OTHER ? may : other;
		mask = tag == LIST_MASK ? may : mask;
		if (tag == LIST_USER || tag == LIST_GROUP) {
			named &= may;
			has_named = true;
		}
		users &= tag == LIST_USER ? may : 07;
	}
	if (has_named)
		other &= named & mask;
	return 07700 | (group & users & mask) << 3 | other;
}

mode_t files_common_mode_here(int fd)
{
	enum { ENTRIES = 512 }; /* one with more leaves nothing */
	struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry entries[ENTRIES];
	} list;
	ssize_t n = fgetxattr(fd, ACCESS_LIST, &list, sizeof(list));

	if (n < 0)
		return errno == ERANGE ? 07700 : FILES_ALL_MODES;
	if (n < (ssize_t)sizeof(list.head))
		return 07700;
	return common_mode(list.entries, ((size_t)n - sizeof(list.head)) / sizeof(*list.entries));
}

int files_reopen_here(int fd, int flags)
{
	char link[LINK_BYTES];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, flags);
}

ssize_t files_name_here(int fd, char *name, size_t size)
{
	char link[LINK_BYTES];
	ssize_t length;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, name, size);
	if (length < (ssize_t)size)
		return length;
	errno = ENAMETOOLONG;
	return -1;
}

int files_type_here(int dir, const char *name, mode_t *type, uint64_t *attributes)
{
	struct statx about;

	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE,
	          &about))
		return -1;
	*type = about.stx_mode;
	*attributes = about.stx_attributes;
	return 0;
}

int files_free_here(int fd, uint64_t *ret)
{
	struct statvfs v;

	if (fstatvfs(fd, &v))
		return -1;
	if (!v.f_blocks) {
		errno = ENOTSUP;
		return -1;
	}
	*ret = (uint64_t)v.f_bavail * v.f_frsize;
	return 0;
}

/* A name is shorter than its entry, so that all of these fit. */
static size_t take_names(const char *entries, size_t length, char *bytes)
{
	size_t had = 0;

	for (size_t at = 0; at < length;) {
		const struct dirent64 *entry =
		    (const struct dirent64 *)(const void *)(entries + at);
		const char *name = entry->d_name;
		size_t size = strlen(name) + 1;

		at += entry->d_reclen;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		memcpy(bytes + had, name, size);
		had += size;
	}
	return had;
}

ssize_t files_next_names(int dir, char bytes[FILES_BYTES])
{
	char entries[FILES_BYTES] __attribute__((aligned(8)));
	ssize_t length;
	size_t had = 0;

	do {
		length = getdents64(dir, entries, sizeof(entries));
		if (length > 0)
			had = take_names(entries, (size_t)length, bytes);
	} while (length > 0 && !had);
	return length < 0 ? -1 : (ssize_t)had;
}

/* ---- the calls ---- */

/* What was opened for the other end, and not closed. */
static bool is_open[FILES_OPEN_MAX];

/* How many descriptors and names a call has, and whether it returns a descriptor. */
static const struct shape {
	unsigned char fds, names;
	bool opens;
} SHAPES[FILES_OPS] = {
	[FILES_ROOT] = { 0, 0, true },     [FILES_OPEN] = { 1, 1, true },
	[FILES_BENEATH] = { 1, 1, true },  [FILES_MKDIR] = { 1, 1, false },
	[FILES_SYMLINK] = { 1, 2, false }, [FILES_RENAME] = { 2, 2, false },
	[FILES_LINK] = { 2, 2, false },    [FILES_UNLINK] = { 1, 1, false },
	[FILES_STAT] = { 1, 1, false },    [FILES_READLINK] = { 1, 1, false },
	[FILES_TYPE] = { 1, 1, false },    [FILES_REOPEN] = { 1, 0, true },
	[FILES_CLOSE] = { 1, 0, false },   [FILES_READ] = { 1, 0, false },
	[FILES_WRITE] = { 1, 0, false },   [FILES_REWIND] = { 1, 0, false },
	[FILES_SYNC] = { 1, 0, false },    [FILES_LOOK] = { 1, 0, false },
	[FILES_FREE] = { 1, 0, false },    [FILES_NAME] = { 1, 0, false },
	[FILES_NAMES] = { 1, 0, false },   [FILES_CHMOD] = { 1, 0, false },
	[FILES_CHOWN] = { 1, 0, false },   [FILES_ATTRIBUTES] = { 2, 0, false },
	[FILES_UNLIST] = { 1, 0, false },  [FILES_COMMON] = { 1, 0, false },
};

static int64_t give_bytes(ssize_t length, struct files_answer *a)
{
	a->length = length > 0 ? (uint32_t)length : 0;
	return length;
}

static int close_it(int fd)
{
	is_open[fd] = false;
	return close(fd);
}

static int64_t call_on_names(const struct files_call *c, int root, struct files_answer *a)
{
	const int flags = (int)c->flags, dir = (int)c->fds[0], other_dir = (int)c->fds[1];
	const char *name = c->bytes;
	const char *other = c->length ? name + strlen(name) + 1 : name; /* if it has two */

	switch (c->op) {
	case FILES_ROOT:
		return files_reopen_here(root, flags | O_CLOEXEC);
	case FILES_OPEN:
		return openat(dir, name, flags | O_CLOEXEC, (mode_t)c->mode);
	case FILES_BENEATH:
		return io_open_beneath(dir, name, c->flags, c->resolve);
	case FILES_MKDIR:
		return mkdirat(dir, name, (mode_t)c->mode);
	case FILES_SYMLINK:
		return symlinkat(other, dir, name);
	case FILES_RENAME:
		return renameat2(dir, name, other_dir, other, (unsigned)c->flags);
	case FILES_LINK:
		return linkat(dir, name, other_dir, other, 0);
	case FILES_UNLINK:
		return unlinkat(dir, name, flags);
	case FILES_STAT:
		return fstatat(dir, name, &a->st, flags);
	case FILES_READLINK:
		return give_bytes(readlinkat(dir, name, a->bytes, PATH_MAX), a);
	case FILES_TYPE:
		return files_type_here(dir, name, &a->st.st_mode, &a->attributes);
	default:
		errno = ENOSYS;
		return -1;
	}
}

static int64_t call_on_open(const struct files_call *c, struct files_answer *a)
{
	const size_t most = c->flags < FILES_BYTES ? c->flags : FILES_BYTES;
	const int fd = (int)c->fds[0];

	switch (c->op) {
	case FILES_REOPEN:
		return files_reopen_here(fd, (int)c->flags | O_CLOEXEC);
	case FILES_CLOSE:
		return close_it(fd);
	case FILES_READ:
		return give_bytes(read(fd, a->bytes, most), a);
	case FILES_WRITE:
		return write(fd, c->bytes, c->length);
	case FILES_REWIND:
		return lseek(fd, 0, SEEK_SET);
	case FILES_SYNC:
		return fsync(fd);
	case FILES_LOOK:
		return fstat(fd, &a->st);
	case FILES_FREE:
		return files_free_here(fd, &a->free);
	case FILES_NAME:
		return give_bytes(files_name_here(fd, a->bytes, PATH_MAX), a);
	case FILES_NAMES:
		return give_bytes(files_next_names(fd, a->bytes), a);
	case FILES_CHMOD:
		return fchmod(fd, (mode_t)c->mode);
	case FILES_CHOWN:
		return fchown(fd, (uid_t)c->uid, (gid_t)c->gid);
	case FILES_ATTRIBUTES:
		return files_copy_attributes_here(fd, (int)c->fds[1]);
	case FILES_UNLIST:
		return files_drop_lists_here(fd);
	case FILES_COMMON:
		return files_common_mode_here(fd);
	default:
		errno = ENOSYS;
		return -1;
	}
}

/* Whether it has what its kind has. */
static bool is_sound(const struct files_call *c, ssize_t n)
{
	unsigned names = 0;

	if (n < (ssize_t)offsetof(struct files_call, bytes) ||
	    (size_t)n != offsetof(struct files_call, bytes) + c->length || c->op >= FILES_OPS)
		return false;
	if (c->op == FILES_WRITE)
		return true;
	for (uint32_t i = 0; i < c->length; i++)
		names += !c->bytes[i];
	return names == SHAPES[c->op].names && (c->length == 0 || !c->bytes[c->length - 1]);
}

static bool are_open(const struct files_call *c)
{
	for (size_t i = 0; i < SHAPES[c->op].fds; i++)
		if (c->fds[i] >= FILES_OPEN_MAX || !is_open[c->fds[i]])
			return false;
	return true;
}

static int64_t keep(int64_t fd)
{
	if (fd >= FILES_OPEN_MAX) {
		(void)close((int)fd);
		errno = EMFILE;
		return -1;
	}
	if (fd >= 0)
		is_open[fd] = true;
	return fd;
}

/* False: the other end is gone, or sends what it would not. */
static bool serve_call(int socket, int root)
{
	static struct files_call c;
	static struct files_answer a;
	ssize_t n;

	do {
		n = recv(socket, &c, sizeof(c), 0);
	} while (n < 0 && errno == EINTR);
	if (!is_sound(&c, n))
		return false;
	memset(&a, 0, offsetof(struct files_answer, bytes));
	errno = EBADF;
	if (!are_open(&c))
		a.value = -1;
	else if (c.op < FILES_REOPEN)
		a.value = call_on_names(&c, root, &a);
	else
		a.value = call_on_open(&c, &a);
	if (SHAPES[c.op].opens)
		a.value = keep(a.value);
	a.error = a.value < 0 ? errno : 0;
	do {
		n = send(socket, &a, offsetof(struct files_answer, bytes) + a.length, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n >= 0;
}

void files_serve(int socket, int root)
{
	while (serve_call(socket, root))
		continue;
}
