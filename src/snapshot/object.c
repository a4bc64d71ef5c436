#include "object.h"

#include "files.h"
#include "id.h"
#include "io.h"
#include "pulse.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHUNK_BYTES =
	    256 << 10, /* read at a time; content up to this is written only if it is new */
	SETTLE_BYTES =
	    4 << 20, /* written, then brought to disk: one flush of a lot stalls others */
	BATCH_OBJECTS = 4096, /* flushed together, */
	BATCH_BYTES = 256 << 20, /* or this many bytes */
	FEW = 32, /* flushed one by one, without what other programs have written */
	FANS = 256, /* folders of objects */
	FAN_DIGITS = 2,
	PATH_BYTES = 128,
	BLOCK_BYTES = 4096, /* of a file system: an object takes one at least */
};

#define NEW "new"
#define MARK "mark"

void objects_path(const char *database, struct str *path)
{
	str_addf(path, "%s-objects", database);
}

/* ---- names ---- */

/* "ab/cdef…" for a hash; -1 with EINVAL for anything else. */
static int object_name(const char *hash, char name[PATH_BYTES])
{
	if (strlen(hash) != SHA256_BYTES - 1 ||
	    strspn(hash, "0123456789abcdef") != SHA256_BYTES - 1) {
		errno = EINVAL;
		return -1;
	}
	(void)snprintf(name, PATH_BYTES, "%.2s/%s", hash, hash + FAN_DIGITS);
	return 0;
}

static void new_name(const struct objects *o, size_t index, char name[PATH_BYTES])
{
	(void)snprintf(name, PATH_BYTES, NEW "/%s-%zu", o->prefix, index);
}

static int store_failed(struct err *e, const char *what)
{
	return err_errno(e, ERR_AGAIN, "cannot %s the content of checkpoints", what);
}

static int put_failed(struct objects *o, const char *what, struct err *e)
{
	o->is_full |= errno == ENOSPC || errno == EDQUOT;
	return store_failed(e, what);
}

/* ---- the folder ---- */

static int make_dir(int dir, const char *name)
{
	return mkdirat(dir, name, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

static int make_fans(int dir)
{
	for (unsigned i = 0; i < FANS; i++) {
		char name[FAN_DIGITS + 1];

		(void)snprintf(name, sizeof(name), "%02x", i & (FANS - 1));
		if (make_dir(dir, name))
			return -1;
	}
	return fsync(dir);
}

/* new/ is made last: with it, the folder is complete. */
static int make_folder(const char *path, int dir)
{
	if (faccessat(dir, NEW, F_OK, 0) == 0)
		return 0;
	if (make_fans(dir) || make_dir(dir, NEW) || fsync(dir))
		return -1;
	return io_flush_name(path);
}

int objects_open(const char *path, bool create, struct objects *o, struct err *e)
{
	if (create && make_dir(AT_FDCWD, path))
		return err_errno(e, ERR_AGAIN, "cannot make %s", path);
	o->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (o->dir < 0)
		return err_errno(e, ERR_INPUT, "cannot open %s", path);
	if (create && make_folder(path, o->dir))
		return err_errno(e, ERR_AGAIN, "cannot make %s", path);
	(void)snprintf(o->prefix, sizeof(o->prefix), "%s", id_new_secret().text);
	return 0;
}

static void forget_pending(struct objects *o)
{
	for (size_t i = 0; i < o->count; i++) {
		char name[PATH_BYTES];

		new_name(o, i, name);
		(void)unlinkat(o->dir, name, 0);
	}
	o->count = 0;
	o->pending_bytes = 0;
}

void objects_clear(struct objects *o)
{
	forget_pending(o);
	free(o->pending);
	io_shut(&o->dir);
	*o = (struct objects)OBJECTS_INIT;
}

/* A folder of the folder; NULL with errno. */
static DIR *list(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		(void)close(fd);
	return d;
}

int objects_sweep(struct objects *o, struct err *e)
{
	DIR *d = list(o->dir, NEW);

	if (!d)
		return store_failed(e, "list");
	for (struct dirent *entry; (entry = readdir(d)) != NULL;)
		if (entry->d_name[0] != '.')
			(void)unlinkat(dirfd(d), entry->d_name, 0);
	(void)closedir(d);
	return 0;
}

/* ---- writing ---- */

int objects_admit(const struct objects *o, uint64_t bytes, struct err *e)
{
	unsigned long few;
	uint64_t room;

	if (o->most_added && (o->added > o->most_added || bytes > o->most_added - o->added))
		return err_set(e, ERR_INPUT,
		               "it would add more than %" PRIu64
		               " bytes to what checkpoints hold (setting "
		               "checkpoint.max_added_bytes)",
		               o->most_added);
	if (o->most_held && o->held + o->taken + object_room(bytes) > o->most_held)
		return err_set(
		    e, ERR_INPUT,
		    "the checkpoints of this user's folders would hold more than %" PRIu64
		    " MiB (setting shared.checkpoint_bytes)",
		    o->most_held >> 20);
	if (!o->reserve || files_free_bytes(o->dir, &room))
		return 0;
	few = io_too_few_files(o->dir);
	if (few)
		return err_set(
		    e, ERR_INPUT,
		    "fewer than %lu files more could be made on the disk of the database", few);
	if (room < o->reserve || bytes > room - o->reserve)
		return err_set(e, ERR_INPUT,
		               "less than %" PRIu64
		               " MiB would be left free on the disk of the database (setting "
		               "checkpoint.reserve_bytes)",
		               o->reserve >> 20);
	return 0;
}

static void remember(struct objects *o, const struct sha256 *hash, uint64_t size)
{
	o->pending = xgrow(o->pending, o->count, sizeof(*o->pending));
	o->pending[o->count++] = *hash;
	o->pending_bytes += size;
	o->added += size;
	o->taken += object_room(size);
}

/* Opens the next file of new/. */
static int open_new(struct objects *o, char name[PATH_BYTES])
{
	new_name(o, o->count, name);
	return openat(o->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
}

/* Closes and removes a file of new/; keeps errno. */
static int drop_new(struct objects *o, int fd, const char *name)
{
	int error = errno;

	(void)close(fd);
	(void)unlinkat(o->dir, name, 0);
	errno = error;
	return -1;
}

static int flush_if_many(struct objects *o, struct err *e)
{
	if (o->count < BATCH_OBJECTS && o->pending_bytes < BATCH_BYTES)
		return 0;
	return objects_flush(o, e);
}

/* Writes what is new to new/, and lets its bytes go to disk in the background. */
static int write_new(struct objects *o, const void *bytes, size_t length, const struct sha256 *hash,
                     struct err *e)
{
	char name[PATH_BYTES];
	int fd;

	if (objects_admit(o, length, e))
		return -1;
	fd = open_new(o, name);
	if (fd < 0)
		return put_failed(o, "write", e);
	if (io_write_all(fd, bytes, length)) {
		(void)drop_new(o, fd, name);
		return put_failed(o, "write", e);
	}
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	(void)close(fd);
	remember(o, hash, length);
	return flush_if_many(o, e);
}

int object_put_bytes(struct objects *o, const void *bytes, size_t length, struct sha256 *hash,
                     struct err *e)
{
	*hash = sha256_of(bytes, length);
	return object_exists(o, hash->text) ? 0 : write_new(o, bytes, length, hash, e);
}

/* Reads up to length bytes, fewer at the end only. -1 with errno. */
static ssize_t read_full(int fd, char *bytes, size_t length)
{
	size_t had = 0;

	while (had < length) {
		ssize_t n = files_read(fd, bytes + had, length - had);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		had += (size_t)n;
	}
	return (ssize_t)had;
}

/* A long one on its way from fd to a file of new/. */
struct stream {
	int from, to;
	uint64_t most, size, settled;
	struct sha256_state *state;
	char *chunk;
};

/* Brings what was written to disk, in pieces. */
static void settle(struct stream *s)
{
	if (s->size - s->settled < SETTLE_BYTES)
		return;
	(void)sync_file_range(s->to, (off_t)s->settled, (off_t)(s->size - s->settled),
	                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
	                          SYNC_FILE_RANGE_WAIT_AFTER);
	s->settled = s->size;
}

/* The first chunk of had bytes is in s->chunk. */
static enum object_put pump(struct objects *o, struct stream *s, ssize_t had, struct err *e)
{
	while (had > 0) {
		pulse();
		if ((uint64_t)had > s->most - s->size)
			return OBJECT_TOO_LONG;
		if (objects_admit(o, (uint64_t)had, e))
			return OBJECT_FAILED;
		if (io_write_all(s->to, s->chunk, (size_t)had))
			return put_failed(o, "write", e), OBJECT_FAILED;
		sha256_add(s->state, s->chunk, (size_t)had);
		s->size += (uint64_t)had;
		settle(s);
		had = read_full(s->from, s->chunk, CHUNK_BYTES);
	}
	return had < 0 ? OBJECT_UNREADABLE : OBJECT_STORED;
}

/* Content that does not fit into a chunk is written while it is hashed. */
static enum object_put put_long(struct objects *o, struct stream *s, ssize_t had,
                                struct sha256 *hash, struct err *e)
{
	char name[PATH_BYTES];
	enum object_put did;

	if (objects_admit(o, s->most, e))
		return OBJECT_FAILED;
	s->to = open_new(o, name);
	if (s->to < 0)
		return put_failed(o, "write", e), OBJECT_FAILED;
	s->state = sha256_begin();
	did = pump(o, s, had, e);
	*hash = sha256_end(s->state);
	if (did != OBJECT_STORED || object_exists(o, hash->text)) {
		(void)drop_new(o, s->to, name);
		return did;
	}
	(void)close(s->to);
	remember(o, hash, s->size);
	return flush_if_many(o, e) ? OBJECT_FAILED : OBJECT_STORED;
}

enum object_put object_put(struct objects *o, int fd, uint64_t most, struct sha256 *hash,
                           uint64_t *size, struct err *e)
{
	OWNED(char_ptr) char *chunk = xmalloc(CHUNK_BYTES);
	struct stream s = { .from = fd, .to = -1, .most = most, .chunk = chunk };
	ssize_t had = read_full(fd, chunk, CHUNK_BYTES);
	enum object_put did;

	if (had < 0)
		return OBJECT_UNREADABLE;
	if ((uint64_t)had > most)
		return OBJECT_TOO_LONG;
	if (had < CHUNK_BYTES) {
		*size = (uint64_t)had;
		return object_put_bytes(o, chunk, (size_t)had, hash, e) ? OBJECT_FAILED
		                                                        : OBJECT_STORED;
	}
	did = put_long(o, &s, had, hash, e);
	*size = s.size;
	return did;
}

/* ---- flushing ---- */

/* A few bytes by themselves; many with one flush of the file system, which costs less than a flush
 * of each. */
static int flush_bytes(struct objects *o)
{
	if (o->count > FEW)
		return syncfs(o->dir);
	for (size_t i = 0; i < o->count; i++) {
		char name[PATH_BYTES];

		new_name(o, i, name);
		if (io_flush_at(o->dir, name, O_NOFOLLOW))
			return -1;
	}
	return 0;
}

static int give_names(struct objects *o)
{
	for (size_t i = 0; i < o->count; i++) {
		char from[PATH_BYTES], to[PATH_BYTES];

		new_name(o, i, from);
		if (object_name(o->pending[i].text, to) || renameat(o->dir, from, o->dir, to) != 0)
			return -1;
	}
	return 0;
}

static int flush_names(struct objects *o)
{
	if (o->count > FEW)
		return syncfs(o->dir);
	for (size_t i = 0; i < o->count; i++) {
		char fan[FAN_DIGITS + 1];

		(void)snprintf(fan, sizeof(fan), "%.2s", o->pending[i].text);
		if (io_flush_at(o->dir, fan, O_NOFOLLOW | O_DIRECTORY))
			return -1;
	}
	return 0;
}

int objects_flush(struct objects *o, struct err *e)
{
	pulse();
	if (o->count == 0)
		return 0;
	if (flush_bytes(o) || give_names(o) || flush_names(o)) {
		(void)put_failed(o, "flush", e);
		forget_pending(o);
		return -1;
	}
	o->count = 0;
	o->pending_bytes = 0;
	return 0;
}

/* ---- deleting ---- */

/* On disk before anything is deleted. */
static int renew_mark(struct objects *o, char mark[OBJECT_MARK_BYTES])
{
	char name[PATH_BYTES];
	int fd;

	(void)snprintf(mark, OBJECT_MARK_BYTES, "%s", id_new_secret().text);
	(void)snprintf(name, sizeof(name), NEW "/%s-" MARK, o->prefix);
	fd = openat(o->dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (io_write_all(fd, mark, OBJECT_MARK_BYTES - 1) || fsync(fd) ||
	    renameat(o->dir, name, o->dir, MARK))
		return drop_new(o, fd, name);
	(void)close(fd);
	return fsync(o->dir);
}

void objects_mark(struct objects *o, char mark[OBJECT_MARK_BYTES])
{
	int fd = openat(o->dir, MARK, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read_full(fd, mark, OBJECT_MARK_BYTES - 1);

	io_shut(&fd);
	mark[n < 0 ? 0 : n] = '\0';
	if (n != OBJECT_MARK_BYTES - 1 && renew_mark(o, mark))
		mark[0] = '\0';
	o->marked = false;
}

int object_delete(struct objects *o, const char *hash, struct err *e)
{
	char name[PATH_BYTES], mark[OBJECT_MARK_BYTES];

	if (!o->marked && renew_mark(o, mark))
		return store_failed(e, "mark");
	o->marked = true;
	if (object_name(hash, name) || (unlinkat(o->dir, name, 0) != 0 && errno != ENOENT))
		return store_failed(e, "delete");
	return 0;
}

/* ---- reading ---- */

bool object_exists(const struct objects *o, const char *hash)
{
	char name[PATH_BYTES];

	return object_name(hash, name) == 0 &&
	       faccessat(o->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

uint64_t object_room(uint64_t bytes)
{
	return (bytes / BLOCK_BYTES + 1) * BLOCK_BYTES;
}

uint64_t object_room_of(const struct objects *o, const char *hash)
{
	char name[PATH_BYTES];
	struct stat about;

	return object_name(hash, name) || fstatat(o->dir, name, &about, AT_SYMLINK_NOFOLLOW)
	           ? 0
	           : object_room((uint64_t)about.st_size);
}

/* 1 opened, 0 missing, -1. */
static int open_object(const struct objects *o, const char *hash, int *ret_fd, struct err *e)
{
	char name[PATH_BYTES];

	if (object_name(hash, name))
		return err_set(e, ERR_INPUT, "\"%.70s\" is not a SHA-256", hash);
	*ret_fd = openat(o->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*ret_fd >= 0)
		return 1;
	if (errno != ENOENT)
		return err_errno(e, ERR_AGAIN, "cannot open object %s", hash);
	(void)err_set(e, ERR_INPUT, "object %s is missing", hash);
	return 0;
}

/* Where bytes of an object go; -1: cannot, with errno. */
typedef int sink(void *arg, const char *bytes, size_t length);

/* All bytes of fd go to take and into the hash. 0, or -1 with errno; *what failed. */
static int drain(int fd, sink *take, void *arg, struct sha256_state *state, const char **what)
{
	OWNED(char_ptr) char *chunk = xmalloc(CHUNK_BYTES);
	ssize_t n;

	while ((n = read_full(fd, chunk, CHUNK_BYTES)) > 0) {
		pulse();
		sha256_add(state, chunk, (size_t)n);
		if (take && take(arg, chunk, (size_t)n)) {
			*what = "copy";
			return -1;
		}
	}
	*what = "read";
	return n < 0 ? -1 : 0;
}

/* 1 all went to take, and is what the name says; 0 missing or damaged; -1. */
static int read_object(const struct objects *o, const char *hash, sink *take, void *arg,
                       struct err *e)
{
	const char *what = NULL;
	struct sha256 found;
	int fd = -1, got = open_object(o, hash, &fd, e), error;
	struct sha256_state *state;

	if (got <= 0)
		return got;
	state = sha256_begin();
	got = drain(fd, take, arg, state, &what);
	error = errno;
	(void)close(fd);
	found = sha256_end(state);
	errno = error;
	if (got)
		return err_errno(e, ERR_AGAIN, "cannot %s object %s", what, hash);
	if (strcmp(found.text, hash) == 0)
		return 1;
	(void)err_set(e, ERR_INPUT, "object %s is damaged", hash);
	return 0;
}

static int to_fd(void *arg, const char *bytes, size_t length)
{
	return files_write_all(*(int *)arg, bytes, length);
}

int object_copy(const struct objects *o, const char *hash, int to, struct err *e)
{
	return read_object(o, hash, to_fd, &to, e) > 0 ? 0 : -1;
}

struct into {
	struct str *out;
	size_t most; /* of what is appended */
	size_t had;
};

static int to_str(void *arg, const char *bytes, size_t length)
{
	struct into *into = arg;

	into->had += length;
	if (into->had > into->most) {
		errno = EFBIG;
		return -1;
	}
	str_add_bytes(into->out, bytes, length);
	return 0;
}

int object_read(const struct objects *o, const char *hash, size_t most, struct str *out,
                struct err *e)
{
	size_t before = out->length;
	struct into into = { .out = out, .most = most };

	if (read_object(o, hash, to_str, &into, e) > 0)
		return 0;
	out->length = before;
	if (out->bytes)
		out->bytes[before] = '\0';
	return -1;
}

int object_check(const struct objects *o, const char *hash, struct err *e)
{
	return read_object(o, hash, NULL, NULL, e);
}

/* ---- all objects ---- */

static int each_of_fan(int dir, DIR *d, const char *fan,
                       int (*each)(const char *hash, uint64_t size, void *arg), void *arg)
{
	int did = 0;

	for (struct dirent *entry; did == 0 && (entry = readdir(d)) != NULL;) {
		struct sha256 hash;
		struct stat about;

		if (strlen(entry->d_name) != SHA256_BYTES - 1 - FAN_DIGITS ||
		    fstatat(dir, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		(void)snprintf(hash.text, sizeof(hash.text), "%s%.62s", fan, entry->d_name);
		did = each(hash.text, (uint64_t)about.st_size, arg);
	}
	return did;
}

int objects_each(const struct objects *o, int (*each)(const char *hash, uint64_t size, void *arg),
                 void *arg, struct err *e)
{
	int did = 0;

	for (unsigned i = 0; i < FANS && did == 0; i++) {
		char fan[FAN_DIGITS + 1];
		DIR *d;

		pulse();
		(void)snprintf(fan, sizeof(fan), "%02x", i & (FANS - 1));
		d = list(o->dir, fan);
		if (!d && errno == ENOENT)
			continue; /* whoever was making the folder has been killed */
		if (!d)
			return store_failed(e, "list");
		did = each_of_fan(dirfd(d), d, fan, each, arg);
		(void)closedir(d);
	}
	return did;
}
