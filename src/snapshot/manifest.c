#include "manifest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PART_ENTRIES = 256, /* of a part, on average: a change rewrites one */
	PART_BYTES = 1 << 20, /* a part ends here at the latest */
	PART_BYTES_MAX = PART_BYTES + 4 * PATH_MAX,
	ROOT_BYTES_MAX = 256 << 20,
	HEAD_BYTES = 160, /* of an entry or a root, without paths */
	OCTAL = 8,
	PERMISSIONS = 07777
};

/* ---- paths ---- */

static int rank(char c)
{
	return c == '\0' ? 0 : c == '/' ? 1 : (unsigned char)c + 1;
}

int manifest_order(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return rank(*a) - rank(*b);
}

bool manifest_is_within(const char *path, const char *dir)
{
	size_t length = strlen(dir);

	return strncmp(path, dir, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* Whether a path that was read leads nowhere but below the workspace. */
static bool is_clean(const char *path)
{
	for (const char *at = path;; at++) {
		size_t length = strcspn(at, "/");

		if (length == 0 || length > NAME_MAX || (length == 1 && at[0] == '.') ||
		    (length == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		at += length;
		if (!*at)
			return at - path < PATH_MAX;
	}
}

/* Whether a part ends behind this path: FNV-1a, the same for ever. */
static bool ends_part(const char *path)
{
	uint32_t hash = 2166136261U;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619U;
	return (hash ^ hash >> 16) % PART_ENTRIES == 0;
}

/* ---- writing ---- */

/* With its NUL. */
static void add_text(struct str *out, const char *text)
{
	str_add_bytes(out, text, strlen(text) + 1);
}

static int end_part(struct manifest_writer *w, struct err *e)
{
	struct sha256 hash;

	if (w->part.length == 0)
		return 0;
	if (object_put_bytes(w->objects, w->part.bytes, w->part.length, &hash, e))
		return -1;
	str_addf(&w->parts, "%s ", hash.text);
	add_text(&w->parts, str_text(&w->first));
	str_reset(&w->part);
	return 0;
}

static void count(struct manifest_sum *sum, const struct entry *entry)
{
	switch (entry->kind) {
	case ENTRY_FILE:
		sum->files++;
		sum->bytes += entry->size;
		break;
	case ENTRY_LINK:
		sum->links++;
		break;
	case ENTRY_DIR:
		sum->dirs++;
		break;
	case ENTRY_LEFT_OUT:
		sum->left_out++;
		break;
	}
}

int manifest_add(struct manifest_writer *w, const struct entry *entry, struct err *e)
{
	char head[HEAD_BYTES];

	if (!is_clean(entry->path) ||
	    (w->last.length > 0 && manifest_order(str_text(&w->last), entry->path) >= 0))
		return err_set(e, ERR_BUG, "a manifest gets \"%.200s\" after \"%.200s\"",
		               entry->path, str_text(&w->last));
	if (w->part.length == 0) {
		str_reset(&w->first);
		str_add(&w->first, entry->path);
	}
	(void)snprintf(head, sizeof(head), "%c %o %llu %s", (char)entry->kind,
	               (unsigned)entry->mode, (unsigned long long)entry->size,
	               entry->hash.text[0] ? entry->hash.text : "-");
	add_text(&w->part, head);
	add_text(&w->part, entry->path);
	add_text(&w->part, entry->text ? entry->text : "");
	str_reset(&w->last);
	str_add(&w->last, entry->path);
	count(&w->sum, entry);
	if (ends_part(entry->path) || w->part.length >= PART_BYTES)
		return end_part(w, e);
	return 0;
}

int manifest_finish(struct manifest_writer *w, struct sha256 *hash, struct err *e)
{
	OWNED(str) struct str root = { 0 };

	if (end_part(w, e))
		return -1;
	str_addf(&root, "manifest 1 %llu %llu %llu %llu %llu %d", (unsigned long long)w->sum.files,
	         (unsigned long long)w->sum.links, (unsigned long long)w->sum.dirs,
	         (unsigned long long)w->sum.left_out, (unsigned long long)w->sum.bytes,
	         w->sum.ignored);
	str_add_char(&root, '\0');
	str_add_bytes(&root, str_text(&w->parts), w->parts.length);
	if (object_put_bytes(w->objects, root.bytes, root.length, hash, e))
		return -1;
	return objects_flush(w->objects, e);
}

void manifest_writer_clear(struct manifest_writer *w)
{
	str_clear(&w->part);
	str_clear(&w->parts);
	str_clear(&w->first);
	str_clear(&w->last);
	*w = (struct manifest_writer){ 0 };
}

/* ---- reading ---- */

static int malformed(struct err *e)
{
	return err_set(e, ERR_INPUT, "the list of files of the checkpoint is damaged");
}

/* The text at *at, which ends with a NUL inside s; NULL if it does not. Moves *at behind it. */
static const char *take_text(const struct str *s, size_t *at)
{
	const char *text = s->bytes + *at;
	const char *end = *at < s->length ? memchr(text, '\0', s->length - *at) : NULL;

	if (!end)
		return NULL;
	*at += (size_t)(end - text) + 1;
	return text;
}

static bool take_number(const char **text, int base, uint64_t *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*number = strtoull(*text, &end, base);
	*text = end + (*end == ' ');
	return *end == ' ' || *end == '\0';
}

/* The first ones did not say whether they hold what is ignored. */
static bool read_head(const char *head, struct manifest_sum *sum)
{
	static const char BEGIN[] = "manifest 1 ";

	if (!head || strncmp(head, BEGIN, sizeof(BEGIN) - 1) != 0)
		return false;
	head += sizeof(BEGIN) - 1;
	if (!take_number(&head, 10, &sum->files) || !take_number(&head, 10, &sum->links) ||
	    !take_number(&head, 10, &sum->dirs) || !take_number(&head, 10, &sum->left_out) ||
	    !take_number(&head, 10, &sum->bytes))
		return false;
	sum->ignored = *head == '1';
	return true;
}

int manifest_open(const struct objects *o, const char *hash, struct manifest *m, struct err *e)
{
	m->objects = o;
	if (object_read(o, hash, ROOT_BYTES_MAX, &m->root, e))
		return -1;
	return read_head(take_text(&m->root, &m->next_part), &m->sum) ? 0 : malformed(e);
}

void manifest_clear(struct manifest *m)
{
	str_clear(&m->root);
	str_clear(&m->part);
	*m = (struct manifest){ 0 };
}

/* A part as the root names it. */
struct part_name {
	char hash[SHA256_BYTES];
	const char *first;
};

/* 1, 0 no more, -1. */
static int next_name(const struct manifest *m, size_t *at, struct part_name *name, struct err *e)
{
	const char *text;

	if (*at == m->root.length)
		return 0;
	text = take_text(&m->root, at);
	if (!text || strlen(text) < SHA256_BYTES + 1 || text[SHA256_BYTES - 1] != ' ')
		return malformed(e);
	(void)snprintf(name->hash, sizeof(name->hash), "%.64s", text);
	name->first = text + SHA256_BYTES;
	return 1;
}

static int load_part(struct manifest *m, const char *hash, struct err *e)
{
	str_reset(&m->part);
	m->at = 0;
	return object_read(m->objects, hash, PART_BYTES_MAX, &m->part, e);
}

/* As manifest_next, for the names of parts. */
static int next_part(struct manifest *m, struct err *e)
{
	struct part_name name;
	int got = next_name(m, &m->next_part, &name, e);

	return got > 0 && load_part(m, name.hash, e) ? -1 : got;
}

static bool kind_fits(const struct entry *entry)
{
	bool hashed = entry->hash.text[0] != '\0';

	switch (entry->kind) {
	case ENTRY_FILE:
		return hashed && strlen(entry->hash.text) == SHA256_BYTES - 1;
	case ENTRY_LINK:
		return !hashed && entry->text[0] != '\0';
	case ENTRY_DIR:
	case ENTRY_LEFT_OUT:
		return !hashed;
	}
	return false;
}

static bool read_entry(struct manifest *m, struct entry *entry)
{
	const char *head = take_text(&m->part, &m->at);
	const char *path = head ? take_text(&m->part, &m->at) : NULL;
	const char *text = path ? take_text(&m->part, &m->at) : NULL;
	uint64_t mode;

	if (!text || !is_clean(path) || !head[0] || head[1] != ' ')
		return false;
	*entry = (struct entry){ .kind = (enum entry_kind)head[0], .path = path, .text = text };
	head += 2;
	if (!take_number(&head, OCTAL, &mode) || mode > PERMISSIONS ||
	    !take_number(&head, 10, &entry->size))
		return false;
	entry->mode = (mode_t)mode;
	if (strcmp(head, "-") != 0)
		(void)snprintf(entry->hash.text, sizeof(entry->hash.text), "%.64s", head);
	return kind_fits(entry);
}

int manifest_next(struct manifest *m, struct entry *entry, struct err *e)
{
	if (m->at == m->part.length) {
		int got = next_part(m, e);

		if (got <= 0)
			return got;
	}
	return read_entry(m, entry) ? 1 : malformed(e);
}

/* The last part that begins at or before path: loaded. 1, 0 there is none, -1. */
static int load_part_of(struct manifest *m, const char *path, struct err *e)
{
	char best[SHA256_BYTES] = "";
	size_t at = 0, next = 0;
	struct part_name name;
	int got;

	(void)take_text(&m->root, &at);
	while ((got = next_name(m, &at, &name, e)) > 0 && manifest_order(name.first, path) <= 0) {
		(void)snprintf(best, sizeof(best), "%s", name.hash);
		next = at;
	}
	if (got < 0 || !best[0])
		return got < 0 ? -1 : 0;
	m->next_part = next;
	return load_part(m, best, e) ? -1 : 1;
}

int manifest_find(struct manifest *m, const char *path, struct entry *entry, struct err *e)
{
	int got = load_part_of(m, path, e);

	if (got <= 0)
		return got;
	while (m->at < m->part.length) {
		if (!read_entry(m, entry))
			return malformed(e);
		if (strcmp(entry->path, path) == 0)
			return 1;
	}
	return 0;
}

/* ---- what must stay ---- */

int manifest_objects(const struct objects *o, const char *hash,
                     int (*each)(const char *hash, void *arg), void *arg, struct err *e)
{
	OWNED(manifest) struct manifest m = { 0 };
	struct part_name name;
	struct entry entry;
	size_t at = 0;
	int got, did;

	if (manifest_open(o, hash, &m, e))
		return -1;
	did = each(hash, arg);
	(void)take_text(&m.root, &at);
	while (did == 0 && (got = next_name(&m, &at, &name, e)) != 0)
		did = got < 0 ? -1 : each(name.hash, arg);
	while (did == 0 && (got = manifest_next(&m, &entry, e)) != 0) {
		if (got < 0)
			did = -1;
		else if (entry.kind == ENTRY_FILE)
			did = each(entry.hash.text, arg);
	}
	return did;
}

/* ---- comparing ---- */

/* One side of a comparison. */
struct side {
	struct manifest *m;
	struct entry entry;
	bool has; /* entry is the next one */
	bool over;
};

struct comparison {
	struct side a, b;
	struct str hidden; /* what was left out last, by either */
	int (*each)(const struct manifest_change *change, void *arg);
	void *arg;
};

static bool at_part(const struct side *s)
{
	return !s->has && !s->over && s->m->at == s->m->part.length;
}

/* Passes over the parts that both have next. 0 or -1. */
static int skip_equal_parts(struct comparison *c, struct err *e)
{
	struct part_name of_a, of_b;

	while (at_part(&c->a) && at_part(&c->b)) {
		size_t a = c->a.m->next_part, b = c->b.m->next_part;
		int got_a = next_name(c->a.m, &a, &of_a, e),
		    got_b = next_name(c->b.m, &b, &of_b, e);

		if (got_a < 0 || got_b < 0)
			return -1;
		if (got_a == 0 || got_b == 0 || strcmp(of_a.hash, of_b.hash) != 0)
			return 0;
		c->a.m->next_part = a;
		c->b.m->next_part = b;
	}
	return 0;
}

static int fill(struct side *s, struct err *e)
{
	int got;

	if (s->has || s->over)
		return 0;
	got = manifest_next(s->m, &s->entry, e);
	s->has = got > 0;
	s->over = got == 0;
	return got < 0 ? -1 : 0;
}

/* Whether nothing is known about a path, because one of the two left it out. */
static bool is_hidden(struct comparison *c, const struct entry *one, const struct entry *other)
{
	if ((one && one->kind == ENTRY_LEFT_OUT) || (other && other->kind == ENTRY_LEFT_OUT)) {
		str_reset(&c->hidden);
		str_add(&c->hidden, one ? one->path : other->path);
		return true;
	}
	return c->hidden.length > 0 &&
	       manifest_is_within(one ? one->path : other->path, c->hidden.bytes);
}

/* Whether two entries with the same path differ, and how. */
static bool differ(const struct entry *a, const struct entry *b, enum change_kind *kind)
{
	*kind = CHANGE_MODIFIED;
	if (a->kind != b->kind || strcmp(a->hash.text, b->hash.text) != 0 ||
	    strcmp(a->text, b->text) != 0)
		return true;
	*kind = CHANGE_MODE;
	return a->mode != b->mode;
}

/* Reports what comes next on one side or both, and moves on. */
static int step(struct comparison *c)
{
	int order = !c->a.has   ? 1
	            : !c->b.has ? -1
	                        : manifest_order(c->a.entry.path, c->b.entry.path);
	const struct entry *before = order <= 0 ? &c->a.entry : NULL;
	const struct entry *after = order >= 0 ? &c->b.entry : NULL;
	struct manifest_change change = { .before = before, .after = after };

	c->a.has = c->a.has && !before;
	c->b.has = c->b.has && !after;
	if (is_hidden(c, before, after))
		return 0;
	if (before && after) {
		if (!differ(before, after, &change.kind))
			return 0;
	} else {
		change.kind = before ? CHANGE_DELETED : CHANGE_ADDED;
	}
	return c->each(&change, c->arg);
}

int manifest_compare(struct manifest *a, struct manifest *b,
                     int (*each)(const struct manifest_change *change, void *arg), void *arg,
                     struct err *e)
{
	struct comparison c = { .a.m = a, .b.m = b, .each = each, .arg = arg };
	int did = 0;

	while (did == 0) {
		if (skip_equal_parts(&c, e) || fill(&c.a, e) || fill(&c.b, e))
			did = -1;
		else if (!c.a.has && !c.b.has)
			break;
		else
			did = step(&c);
	}
	str_clear(&c.hidden);
	return did;
}
