#include "hash_cache.h"

#include "manifest.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "cache"
static const char HEAD[16] = "hash cache 3\n"; /* then the mark of the objects */

enum {
	SETTLED_S = 2, /* the coarsest times of a file system (FAT) */
	UNKNOWN_FILES = 256, /* fewer, with fewer bytes, are read again rather than all written */
	UNKNOWN_BYTES = 8 << 20,
	CHECK_BYTES = 256 << 10,
	DAY_S = 24 * 3600,
};

/* A record of the file; its path follows. Only this machine reads it. */
struct hash_cache_record {
	uint64_t dev, ino, size;
	int64_t mtime_s, ctime_s;
	uint32_t mtime_ns, ctime_ns;
	uint32_t path_bytes, mode;
	char hash[SHA256_BYTES + 7]; /* padded, so that records have no gaps */
};

static void describe(const struct stat *st, struct hash_cache_record *r)
{
	*r = (struct hash_cache_record){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_s = st->st_mtim.tv_sec,
		.ctime_s = st->st_ctim.tv_sec,
		.mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
		.ctime_ns = (uint32_t)st->st_ctim.tv_nsec,
		.mode = st->st_mode,
	};
}

static bool is_same(const struct hash_cache_record *a, const struct hash_cache_record *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_s == b->mtime_s && a->ctime_s == b->ctime_s && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

static FILE *open_file(int dir, const char *name, int flags, const char *mode)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, mode);

	if (!f && fd >= 0)
		(void)close(fd);
	return f;
}

/* Reads ahead; what is not as we write it counts as the end. */
static void read_next(struct hash_cache *c)
{
	struct hash_cache_record *r = c->record;
	char path[PATH_MAX];

	c->has = false;
	if (!c->old || fread(r, sizeof(*r), 1, c->old) != 1 || r->path_bytes == 0 ||
	    r->path_bytes >= sizeof(path) || r->hash[SHA256_BYTES - 1] != '\0' ||
	    fread(path, 1, r->path_bytes, c->old) != r->path_bytes)
		return;
	str_reset(&c->path);
	str_add_bytes(&c->path, path, r->path_bytes);
	c->has = true;
}

/* Whether the old one begins as ours do; then trusted says whether it has this mark. */
static bool read_head(struct hash_cache *c, const char mark[OBJECT_MARK_BYTES])
{
	char head[sizeof(HEAD)], old[OBJECT_MARK_BYTES];

	if (fread(head, sizeof(head), 1, c->old) != 1 || memcmp(head, HEAD, sizeof(head)) != 0 ||
	    fread(old, sizeof(old), 1, c->old) != 1)
		return false;
	c->trusted = *mark && memcmp(old, mark, sizeof(old)) == 0;
	return true;
}

void hash_cache_open(struct hash_cache *c, struct objects *o, const char *root)
{
	struct sha256 of_root = sha256_of(root, strlen(root));
	char mark[OBJECT_MARK_BYTES] = "";

	objects_mark(o, mark);
	c->objects = o;
	c->dir = o->dir;
	c->record = xcalloc(1, sizeof(*c->record));
	(void)mkdirat(o->dir, FOLDER, 0700);
	(void)snprintf(c->name, sizeof(c->name), FOLDER "/%.32s", of_root.text);
	(void)snprintf(c->temp, sizeof(c->temp), FOLDER "/new-%.32s", o->prefix);
	c->old = open_file(c->dir, c->name, O_RDONLY, "r");
	c->next = open_file(c->dir, c->temp, O_WRONLY | O_CREAT | O_TRUNC, "w");
	c->failed = !c->next || fwrite(HEAD, sizeof(HEAD), 1, c->next) != 1 ||
	            fwrite(mark, sizeof(mark), 1, c->next) != 1;
	if (c->old && !read_head(c, mark)) {
		(void)fclose(c->old);
		c->old = NULL;
	}
	read_next(c);
}

bool hash_cache_find(struct hash_cache *c, const char *path, struct stat *st, struct sha256 *hash)
{
	struct hash_cache_record now;
	int order = -1;

	while (c->has && (order = manifest_order(str_text(&c->path), path)) < 0)
		read_next(c);
	describe(st, &now);
	if (c->has && order == 0 && is_same(&now, c->record)) {
		memcpy(hash->text, c->record->hash, sizeof(hash->text));
		if (strlen(hash->text) == SHA256_BYTES - 1 &&
		    (c->trusted || object_exists(c->objects, hash->text))) {
			st->st_mode = c->record->mode;
			return true;
		}
	}
	c->unknown++;
	c->unknown_bytes += (uint64_t)st->st_size;
	return false;
}

/* Whether an instant is so long before another that a later change would have later times. */
static bool is_settled(const struct timespec *changed, const struct timespec *read_at)
{
	return changed->tv_sec + SETTLED_S < read_at->tv_sec;
}

/* Whether the disk has room for what comes; asked now and then. */
static bool has_room(struct hash_cache *c, const struct hash_cache_record *r)
{
	struct err e = { 0 };

	c->unchecked += sizeof(*r) + r->path_bytes;
	if (c->unchecked < CHECK_BYTES)
		return true;
	c->unchecked = 0;
	return objects_admit(c->objects, CHECK_BYTES, &e) == 0;
}

void hash_cache_add(struct hash_cache *c, const char *path, const struct stat *st,
                    const struct sha256 *hash, const struct timespec *read_at)
{
	struct hash_cache_record r;

	if (c->failed || !is_settled(&st->st_mtim, read_at) || !is_settled(&st->st_ctim, read_at))
		return;
	describe(st, &r);
	r.path_bytes = (uint32_t)strlen(path);
	(void)snprintf(r.hash, sizeof(r.hash), "%s", hash->text);
	c->failed = fwrite(&r, sizeof(r), 1, c->next) != 1 ||
	            fwrite(path, 1, r.path_bytes, c->next) != r.path_bytes || !has_room(c, &r);
}

/* On disk before it has its name: half a record would be a wrong hash. */
void hash_cache_finish(struct hash_cache *c)
{
	if (c->trusted && c->unknown < UNKNOWN_FILES && c->unknown_bytes < UNKNOWN_BYTES) {
		(void)utimensat(c->dir, c->name, NULL, AT_SYMLINK_NOFOLLOW); /* see expire */
		return;
	}
	if (c->failed || fflush(c->next) != 0 || fsync(fileno(c->next)) != 0)
		return;
	(void)renameat(c->dir, c->temp, c->dir, c->name);
}

void hash_cache_clear(struct hash_cache *c)
{
	if (c->old)
		(void)fclose(c->old);
	if (c->next) {
		(void)fclose(c->next);
		(void)unlinkat(c->dir, c->temp, 0); /* unless it was renamed */
	}
	free(c->record);
	str_clear(&c->path);
	*c = (struct hash_cache){ 0 };
}

void hash_cache_expire(const struct objects *o, int days)
{
	int fd = openat(o->dir, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	time_t now = time(NULL);

	if (!d) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
		struct stat st;

		if (entry->d_name[0] != '.' &&
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    now - st.st_mtim.tv_sec > (time_t)days * DAY_S)
			(void)unlinkat(fd, entry->d_name, 0);
	}
	(void)closedir(d);
}
