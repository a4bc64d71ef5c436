#include "files.h"

#include "files_line.h"

#include "clock.h"
#include "io.h"
#include "pulse.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	LOOK_MS = 200, /* of waiting for it, over all calls: whether it is held */
	HANDS_TOLD_APART = 1 << 20, /* then numbers come again */
};

/* Of this process, which has one workspace in hand at a time. */
static struct {
	int socket;
	struct files_look look; /* without a function: none */
	int patience_ms; /* for a call */
	int64_t left_ms; /* for all that are to come */
	int64_t waited_ms; /* since the last look */
	bool is_lost;
	int first; /* our number of what is 0 there; no other hand's, for long */
	unsigned count;
} hand = { .socket = -1, .first = FILES_FIRST };

/* The call under way, and its answer. */
static struct files_call call;
static struct files_answer answer;

void files_use(int socket, const struct files_look *look)
{
	hand.socket = socket;
	hand.look = look ? *look : (struct files_look){ .line = -1 };
	hand.left_ms = FILES_ALL_MS;
	hand.waited_ms = 0;
	hand.is_lost = false;
	hand.patience_ms = FILES_PATIENCE_MS;
	hand.count = (hand.count + 1) % HANDS_TOLD_APART;
	hand.first = FILES_FIRST + (int)hand.count * FILES_OPEN_MAX;
}

void files_wait(int ms)
{
	hand.patience_ms = ms;
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

static bool is_of_hand(int fd)
{
	return fd >= FILES_FIRST;
}

static void begin(enum files_op op)
{
	memset(&call, 0, offsetof(struct files_call, bytes));
	call.op = op;
}

/* fd of an earlier hand, or of none, is none of this one's either. */
static void begin_on(enum files_op op, int fd)
{
	begin(op);
	call.fds[0] = (uint32_t)fd - (uint32_t)hand.first;
}

/* False: errno is ENAMETOOLONG. */
static bool add_name(const char *name)
{
	size_t size = strlen(name) + 1;

	if (size > PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(call.bytes + call.length, name, size);
	call.length += (uint32_t)size;
	return true;
}

/* Never waits: who sends a call has had the answer to the one before. */
static bool send_call(void)
{
	const size_t size = offsetof(struct files_call, bytes) + call.length;

	return send(hand.socket, &call, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

/* A look, if it is time for one. */
static bool is_held(void)
{
	if (hand.waited_ms < LOOK_MS)
		return false;
	hand.waited_ms = 0;
	pulse();
	return hand.look.is_held && hand.look.is_held(hand.look.line);
}

/* The waits of short calls are added up: a hand that is stopped for a moment in each is found in
 * one of them. */
static bool has_answered(void)
{
	int64_t begin = clock_monotonic_ms(), seen = begin, now;
	int64_t most = hand.patience_ms < hand.left_ms ? hand.patience_ms : hand.left_ms;
	struct pollfd wait = { .fd = hand.socket, .events = POLLIN };
	int came;

	do {
		int64_t left_ms = LOOK_MS - hand.waited_ms;

		came = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0);
		now = clock_monotonic_ms();
		hand.waited_ms += now - seen;
		seen = now;
		if (came <= 0 && (now - begin >= most || is_held()))
			return false;
	} while (came <= 0);
	hand.left_ms += FILES_CALL_MS - (now - begin);
	if (hand.left_ms > FILES_ALL_MS)
		hand.left_ms = FILES_ALL_MS;
	return true;
}

/* Descriptors that came with it are not taken. */
static bool take_answer(void)
{
	ssize_t n = recv(hand.socket, &answer, sizeof(answer), MSG_DONTWAIT);

	return n >= (ssize_t)offsetof(struct files_answer, bytes) &&
	       (size_t)n == offsetof(struct files_answer, bytes) + answer.length &&
	       answer.error >= 0 && (answer.error > 0 || answer.value >= 0);
}

/* What the call returned; -1 with errno, which otherwise stays as it is. */
static int64_t ask(void)
{
	int before = errno;

	if (hand.socket < 0) {
		errno = EBADF;
		return -1;
	}
	if (hand.is_lost || !send_call() || !has_answered() || !take_answer())
		return lose();
	errno = answer.error ? answer.error : before;
	return answer.error ? -1 : answer.value;
}

static int ask_for_nothing(void)
{
	return ask() < 0 ? -1 : 0;
}

/* Our number of what it opened. */
static int ask_for_file(void)
{
	int64_t number = ask();

	if (number < 0)
		return -1;
	return number < FILES_OPEN_MAX ? hand.first + (int)number : lose();
}

/* How many bytes it sent, most at the most. */
static ssize_t ask_for_bytes(size_t most)
{
	int64_t length = ask();

	if (length < 0)
		return -1;
	return answer.length <= most ? (ssize_t)answer.length : lose();
}

/* ---- names ---- */

int files_open_root(const char *path, int flags)
{
	if (hand.socket < 0)
		return open(path, O_DIRECTORY | O_CLOEXEC | flags);
	begin(FILES_ROOT);
	call.flags = (uint64_t)(O_DIRECTORY | O_CLOEXEC | flags);
	return ask_for_file();
}

int files_open(int dir, const char *name, int flags, mode_t mode)
{
	if (!is_of_hand(dir))
		return openat(dir, name, flags, mode);
	begin_on(FILES_OPEN, dir);
	call.flags = (uint64_t)flags;
	call.mode = mode;
	return add_name(name) ? ask_for_file() : -1;
}

int files_open_beneath(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	if (!is_of_hand(dir))
		return io_open_beneath(dir, path, flags, resolve);
	begin_on(FILES_BENEATH, dir);
	call.flags = flags;
	call.resolve = resolve;
	return add_name(path) ? ask_for_file() : -1;
}

int files_make_dir(int dir, const char *name, mode_t mode)
{
	if (!is_of_hand(dir))
		return mkdirat(dir, name, mode);
	begin_on(FILES_MKDIR, dir);
	call.mode = mode;
	return add_name(name) ? ask_for_nothing() : -1;
}

int files_symlink(const char *target, int dir, const char *name)
{
	if (!is_of_hand(dir))
		return symlinkat(target, dir, name);
	begin_on(FILES_SYMLINK, dir);
	return add_name(name) && add_name(target) ? ask_for_nothing() : -1;
}

/* Of two directories, both here or both there. */
static int ask_for_two(enum files_op op, int from_dir, const char *from, int to_dir, const char *to,
                       unsigned flags)
{
	begin_on(op, from_dir);
	call.fds[1] = (uint32_t)to_dir - (uint32_t)hand.first;
	call.flags = flags;
	return add_name(from) && add_name(to) ? ask_for_nothing() : -1;
}

int files_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	if (!is_of_hand(from_dir))
		return renameat2(from_dir, from, to_dir, to, flags);
	return ask_for_two(FILES_RENAME, from_dir, from, to_dir, to, flags);
}

/* One call at a time, as io_rename_new makes them. */
int files_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
	int error;

	if (!is_of_hand(from_dir))
		return io_rename_new(from_dir, from, to_dir, to);
	if (files_rename(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (ask_for_two(FILES_LINK, from_dir, from, to_dir, to, 0))
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
	if (!is_of_hand(dir))
		return unlinkat(dir, name, flags);
	begin_on(FILES_UNLINK, dir);
	call.flags = (uint64_t)flags;
	return add_name(name) ? ask_for_nothing() : -1;
}

int files_stat(int dir, const char *name, struct stat *st, int flags)
{
	if (!is_of_hand(dir))
		return fstatat(dir, name, st, flags);
	begin_on(FILES_STAT, dir);
	call.flags = (uint64_t)flags;
	if (!add_name(name) || ask_for_nothing())
		return -1;
	*st = answer.st;
	return 0;
}

int files_type(int dir, const char *name, mode_t *type, uint64_t *attributes)
{
	if (!is_of_hand(dir))
		return files_type_here(dir, name, type, attributes);
	begin_on(FILES_TYPE, dir);
	if (!add_name(name) || ask_for_nothing())
		return -1;
	*type = answer.st.st_mode;
	*attributes = answer.attributes;
	return 0;
}

bool files_is_append_only(int dir)
{
	mode_t type;
	uint64_t attributes;

	return files_type(dir, ".", &type, &attributes) == 0 &&
	       (attributes & STATX_ATTR_APPEND) != 0;
}

ssize_t files_read_link(int dir, const char *name, char *target, size_t size)
{
	ssize_t length;

	if (!is_of_hand(dir))
		return readlinkat(dir, name, target, size);
	begin_on(FILES_READLINK, dir);
	length = add_name(name) ? ask_for_bytes(PATH_MAX) : -1;
	if (length > (ssize_t)size)
		length = (ssize_t)size;
	if (length > 0)
		memcpy(target, answer.bytes, (size_t)length);
	return length;
}

/* ---- what is open ---- */

int files_reopen(int fd, int flags)
{
	if (!is_of_hand(fd))
		return files_reopen_here(fd, flags);
	begin_on(FILES_REOPEN, fd);
	call.flags = (uint64_t)flags;
	return ask_for_file();
}

static int ask_about(enum files_op op, int fd)
{
	begin_on(op, fd);
	return ask_for_nothing();
}

int files_close(int fd)
{
	return is_of_hand(fd) ? ask_about(FILES_CLOSE, fd) : close(fd);
}

void files_close_quietly(int fd)
{
	int error = errno;

	(void)files_close(fd);
	errno = error;
}

ssize_t files_read(int fd, void *bytes, size_t size)
{
	ssize_t length;

	if (!is_of_hand(fd))
		return read(fd, bytes, size);
	begin_on(FILES_READ, fd);
	call.flags = size < FILES_BYTES ? size : FILES_BYTES;
	length = ask_for_bytes(call.flags);
	if (length > 0)
		memcpy(bytes, answer.bytes, (size_t)length);
	return length;
}

int files_write_all(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;

	if (!is_of_hand(fd))
		return io_write_all(fd, bytes, length);
	while (length > 0) {
		int64_t n;

		pulse();
		begin_on(FILES_WRITE, fd);
		call.length = (uint32_t)(length < FILES_BYTES ? length : FILES_BYTES);
		memcpy(call.bytes, at, call.length);
		n = ask();
		if (n < 0)
			return -1;
		if (n == 0 || n > call.length)
			return lose();
		at += n;
		length -= (size_t)n;
	}
	return 0;
}

int files_rewind(int fd)
{
	if (!is_of_hand(fd))
		return lseek(fd, 0, SEEK_SET) < 0 ? -1 : 0;
	return ask_about(FILES_REWIND, fd);
}

int files_sync(int fd)
{
	return is_of_hand(fd) ? ask_about(FILES_SYNC, fd) : fsync(fd);
}

int files_sync_at(int dir_fd, const char *name)
{
	int fd = files_open(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0), failed;

	if (fd < 0)
		return -1;
	failed = files_sync(fd);
	files_close_quietly(fd);
	return failed;
}

int files_sync_dir(int fd)
{
	return files_sync(fd) && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

int files_look(int fd, struct stat *st)
{
	if (!is_of_hand(fd))
		return fstat(fd, st);
	if (ask_about(FILES_LOOK, fd))
		return -1;
	*st = answer.st;
	return 0;
}

int files_free_bytes(int fd, uint64_t *ret)
{
	if (!is_of_hand(fd))
		return files_free_here(fd, ret);
	if (ask_about(FILES_FREE, fd))
		return -1;
	*ret = answer.free;
	return 0;
}

int files_name(int fd, struct str *name)
{
	char here[PATH_MAX];
	const char *bytes = here;
	ssize_t length;

	if (is_of_hand(fd)) {
		begin_on(FILES_NAME, fd);
		length = ask_for_bytes(PATH_MAX);
		bytes = answer.bytes;
	} else {
		length = files_name_here(fd, here, sizeof(here));
	}
	if (length < 0)
		return -1;
	str_add_bytes(name, bytes, (size_t)length);
	return 0;
}

/* Whether these are names, each with its NUL. */
static bool are_names(const char *bytes, size_t length)
{
	if (bytes[length - 1])
		return false;
	for (const char *name = bytes; name < bytes + length; name += strlen(name) + 1)
		if (!*name || strchr(name, '/') || strlen(name) > NAME_MAX)
			return false;
	return true;
}

static ssize_t next_names(int fd, char bytes[FILES_BYTES])
{
	ssize_t length;

	if (!is_of_hand(fd))
		return files_next_names(fd, bytes);
	begin_on(FILES_NAMES, fd);
	length = ask_for_bytes(FILES_BYTES);
	if (length <= 0)
		return length;
	if (!are_names(answer.bytes, (size_t)length))
		return lose();
	memcpy(bytes, answer.bytes, (size_t)length);
	return length;
}

int files_list_some(int fd, struct str *names)
{
	char bytes[FILES_BYTES];
	ssize_t length = next_names(fd, bytes);

	pulse();
	if (length > 0)
		str_add_bytes(names, bytes, (size_t)length);
	return length > 0 ? 1 : (int)length;
}

int files_list(int dir, struct str *names)
{
	int fd = files_open(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), failed;

	if (fd < 0)
		return -1;
	do
		failed = files_list_some(fd, names);
	while (failed > 0);
	files_close_quietly(fd);
	return failed;
}

int files_chmod(int fd, mode_t mode)
{
	if (!is_of_hand(fd))
		return fchmod(fd, mode);
	begin_on(FILES_CHMOD, fd);
	call.mode = mode;
	return ask_for_nothing();
}

int files_chown(int fd, uid_t uid, gid_t gid)
{
	if (!is_of_hand(fd))
		return fchown(fd, uid, gid);
	begin_on(FILES_CHOWN, fd);
	call.uid = uid;
	call.gid = gid;
	return ask_for_nothing();
}

void files_copy_attributes(int from, int to)
{
	if (!is_of_hand(from)) {
		(void)files_copy_attributes_here(from, to);
		return;
	}
	begin_on(FILES_ATTRIBUTES, from);
	call.fds[1] = (uint32_t)to - (uint32_t)hand.first;
	(void)ask_for_nothing();
}

int files_drop_lists(int fd)
{
	if (!is_of_hand(fd))
		return files_drop_lists_here(fd);
	begin_on(FILES_UNLIST, fd);
	return ask_for_nothing();
}

mode_t files_common_mode(int fd)
{
	if (!is_of_hand(fd))
		return files_common_mode_here(fd);
	begin_on(FILES_COMMON, fd);
	return (mode_t)ask() & FILES_ALL_MODES; /* of a lost hand nothing is used */
}
