#include "keep.h"

#include "clock.h"
#include "io.h"
#include "manifest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 4096 /* hashes */ };

#define LIST "look"

/* Hashes, sorted up to the last gathering. */
struct hashes {
	struct sha256 *items;
	size_t count, capacity;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct sha256 *)a)->text, ((const struct sha256 *)b)->text);
}

/* Sorts them, each once. */
static void gather(struct hashes *h)
{
	size_t kept = 0;

	if (h->count > 0)
		qsort(h->items, h->count, sizeof(*h->items), by_text);
	for (size_t i = 0; i < h->count; i++)
		if (kept == 0 || by_text(&h->items[kept - 1], &h->items[i]) != 0)
			h->items[kept++] = h->items[i];
	h->count = kept;
}

/* Most are in many checkpoints: room is made by leaving out repetitions first. */
static int add(const char *hash, void *arg)
{
	struct hashes *h = arg;

	if (h->count == h->capacity)
		gather(h);
	if (h->count >= h->capacity / 2) {
		h->capacity = h->capacity ? 2 * h->capacity : FIRST;
		h->items = xrealloc(h->items, h->capacity * sizeof(*h->items));
	}
	(void)snprintf(h->items[h->count++].text, sizeof(h->items->text), "%.64s", hash);
	return 0;
}

struct sweep {
	struct objects *objects;
	const struct hashes *needed;
	uint64_t deleted;
	struct err *e;
};

static int sweep(const char *hash, uint64_t size, void *arg)
{
	struct sweep *s = arg;
	struct sha256 key;

	(void)size;
	(void)snprintf(key.text, sizeof(key.text), "%.64s", hash);
	if (s->needed->count > 0 &&
	    bsearch(&key, s->needed->items, s->needed->count, sizeof(key), by_text))
		return 0;
	s->deleted++;
	return object_delete(s->objects, hash, s->e);
}

/* The next line of a list of hashes, and *list after it. */
static bool next_hash(const char **list, char hash[SHA256_BYTES])
{
	if (!**list)
		return false;
	(void)snprintf(hash, SHA256_BYTES, "%.64s", *list);
	*list += strcspn(*list, "\n");
	*list += **list == '\n';
	return true;
}

static int need(struct objects *o, const char *manifests, struct hashes *h,
                char damaged[SHA256_BYTES], struct err *e)
{
	char hash[SHA256_BYTES];

	while (next_hash(&manifests, hash)) {
		if (manifest_objects(o, hash, add, h, e) == 0)
			continue;
		(void)snprintf(damaged, SHA256_BYTES, "%s", e->kind == ERR_INPUT ? hash : "");
		return -1;
	}
	gather(h);
	return 0;
}

int keep_objects(struct objects *o, const char *manifests, uint64_t *deleted,
                 char damaged[SHA256_BYTES], struct err *e)
{
	struct hashes h = { .items = NULL };
	struct sweep s = { .objects = o, .needed = &h, .e = e };
	int failed;

	damaged[0] = '\0';
	failed = need(o, manifests, &h, damaged, e) || objects_each(o, sweep, &s, e);
	*deleted = s.deleted;
	free(h.items);
	return failed ? -1 : 0;
}

/* A damaged manifest counts as far as it could be read. */
uint64_t keep_size(struct objects *o, const char *manifests)
{
	struct hashes h = { .items = NULL };
	char hash[SHA256_BYTES];
	uint64_t size = 0;

	while (next_hash(&manifests, hash))
		(void)manifest_objects(o, hash, add, &h, NULL);
	gather(&h);
	for (size_t i = 0; i < h.count; i++)
		size += object_room_of(o, h.items[i].text);
	free(h.items);
	return size;
}

/* ---- the look through all of them ---- */

void keep_look_clear(struct keep_look *l)
{
	str_clear(&l->bad);
	str_clear(&l->lost);
}

/* One object: 0, or -1 it could not be read now. */
static int look_at(struct objects *o, const char *hash, struct keep_look *l, struct err *e)
{
	struct err why = { 0 };
	int got = object_check(o, hash, &why);

	if (got < 0) {
		*e = why;
		return -1;
	}
	(void)snprintf(l->after, sizeof(l->after), "%s", hash);
	l->read++;
	if (got > 0)
		return 0;
	str_addf(&l->bad, "%s\n", hash);
	return object_delete(o, hash, e);
}

static int is_bad(const char *hash, void *arg)
{
	return strstr(str_text(arg), hash) != NULL;
}

/* The manifests that need a bad one. */
static void find_lost(const struct objects *o, const char *manifests, struct keep_look *l)
{
	char hash[SHA256_BYTES];

	while (next_hash(&manifests, hash)) {
		struct err e = { 0 };

		if (manifest_objects(o, hash, is_bad, &l->bad, &e) != 0)
			str_addf(&l->lost, "%s\n", hash);
	}
	if (l->lost.length == 0) /* it was deleted since, because nobody needs it */
		str_reset(&l->bad);
}

/* Opens the list of all that are to be read: what the manifests need, if it begins. -1: none. */
static int open_list(struct objects *o, const char *manifests, const struct keep_look *l,
                     char damaged[SHA256_BYTES], struct err *e)
{
	struct hashes h = { .items = NULL };
	int fd = -1, failed;

	damaged[0] = '\0';
	if (l->after[0]) {
		fd = openat(o->dir, LIST, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		return fd < 0 ? err_errno(e, ERR_AGAIN, "cannot open the list of objects") : fd;
	}
	failed = need(o, manifests, &h, damaged, e);
	if (!failed) {
		fd =
		    openat(o->dir, LIST, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
		failed = fd < 0 || io_write_all(fd, h.items, h.count * sizeof(*h.items));
		if (failed)
			(void)err_errno(e, ERR_AGAIN, "cannot write the list of objects");
	}
	free(h.items);
	if (failed)
		io_shut(&fd);
	return fd;
}

/* Item i of the list. 1, 0 there is none, -1. */
static int item(int list, size_t i, struct sha256 *hash, struct err *e)
{
	ssize_t n = pread(list, hash->text, sizeof(hash->text), (off_t)(i * sizeof(hash->text)));

	if (n < 0)
		return err_errno(e, ERR_AGAIN, "cannot read the list of objects");
	return n == sizeof(hash->text) && hash->text[sizeof(hash->text) - 1] == '\0';
}

/* The first item behind after. -1. */
static ssize_t first_after(int list, const char *after, struct err *e)
{
	struct stat st;
	size_t low = 0, high;

	if (fstat(list, &st) != 0)
		return err_errno(e, ERR_AGAIN, "cannot read the list of objects");
	high = (size_t)st.st_size / sizeof(struct sha256);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct sha256 hash;

		if (item(list, middle, &hash, e) < 0)
			return -1;
		if (strcmp(hash.text, after) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (ssize_t)low;
}

static int look_from(struct objects *o, int list, int64_t until_ms, struct keep_look *l,
                     struct err *e)
{
	ssize_t i = first_after(list, l->after, e);
	struct sha256 hash;
	int got = i < 0 ? -1 : 1;

	while (got > 0 && (l->read == 0 || clock_monotonic_ms() < until_ms)) {
		got = item(list, (size_t)i++, &hash, e);
		if (got > 0 && look_at(o, hash.text, l, e))
			got = -1;
	}
	l->done = got == 0;
	if (l->done)
		(void)unlinkat(o->dir, LIST, 0);
	return got < 0 ? -1 : 0;
}

int keep_look(struct objects *o, const char *manifests, int ms, struct keep_look *l,
              char damaged[SHA256_BYTES], struct err *e)
{
	int64_t until_ms = clock_monotonic_ms() + ms;
	int list = open_list(o, manifests, l, damaged, e);
	int failed = list < 0 ? -1 : look_from(o, list, until_ms, l, e);

	io_shut(&list);
	if (!failed && l->bad.length > 0)
		find_lost(o, manifests, l);
	return failed;
}
