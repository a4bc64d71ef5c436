/* Three parts: reading a diff text, applying it, computing one. They share lines and their
 * interning: equal lines get equal numbers, so that comparing lines is comparing integers. */
#include "diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	CONTEXT_LINES = 3,
	SHOWN_BYTES = 160, /* of a line or path in an error text, three must fit in it */
	NUMBER_MAX = 1 << 30, /* in @@ lines: more is a mistake, and sums stay far from overflow */
	SEARCH_FIRST = 64, /* lines around the expected place in the first look for a hunk */
	COST_MAX = 2048 /* edits searched from each end of a block before it is cut where we are */
};

/* Line comparisons in one diff_compute (well below a second) before it stops looking for less. */
static const size_t WORK_MAX = (size_t)1 << 26;
static const uint32_t NO_ID = UINT32_MAX;
static const char NO_NEWLINE[] = "\\ No newline at end of file\n";

/* ---- lines ---- */

struct span {
	const char *bytes;
	size_t size; /* with its newline, if it has one */
};

static bool ended(struct span line)
{
	return line.size > 0 && line.bytes[line.size - 1] == '\n';
}

static size_t text_size(struct span line)
{
	return line.size - (ended(line) ? 1 : 0);
}

static bool has_cr(const char *text, size_t length)
{
	return length > 0 && text[length - 1] == '\r';
}

/* The line at bytes, which must have at least one byte left. */
static struct span line_at(const char *bytes, size_t left)
{
	const char *newline = memchr(bytes, '\n', left);

	return (struct span){ bytes, newline ? (size_t)(newline - bytes) + 1 : left };
}

static size_t split_lines(const char *bytes, size_t length, struct span **ret)
{
	size_t count = 0, capacity = 64;
	struct span *lines = xmalloc(capacity * sizeof(*lines));

	for (size_t at = 0; at < length; at += lines[count++].size) {
		if (count == capacity) {
			capacity *= 2;
			lines = xrealloc(lines, capacity * sizeof(*lines));
		}
		lines[count] = line_at(bytes + at, length - at);
	}
	*ret = lines;
	return count;
}

static bool starts(struct span line, const char *with)
{
	size_t length = strlen(with);

	return line.size >= length && memcmp(line.bytes, with, length) == 0;
}

/* ---- interning ---- */

struct entry {
	const char *text;
	size_t length;
	uint64_t hash;
	bool newline;
};

struct interner {
	uint64_t seed; /* random, so that nobody can prepare lines that collide */
	uint32_t *slots; /* entry number + 1, 0: free */
	size_t slot_count;
	struct entry *entries;
	uint32_t count;
	size_t capacity;
};

static void interner_init(struct interner *in)
{
	*in = (struct interner){ .slot_count = 256 };
	in->slots = xcalloc(in->slot_count, sizeof(*in->slots));
	if (getrandom(&in->seed, sizeof(in->seed), GRND_NONBLOCK) != sizeof(in->seed))
		in->seed = 0x9E3779B97F4A7C15U;
}

static void interner_clear(struct interner *in)
{
	free(in->slots);
	free(in->entries);
	*in = (struct interner){ .slots = NULL };
}

static uint64_t hash_text(uint64_t seed, const char *text, size_t length, bool newline)
{
	const uint64_t prime = 0x9FB21C651E98DF25U;
	uint64_t hash = seed ^ (length * 2 + newline), word;

	for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * prime;
		hash ^= hash >> 29;
	}
	word = 0;
	if (length > 0)
		memcpy(&word, text, length);
	hash = (hash ^ word) * prime;
	hash ^= hash >> 32;
	hash *= prime;
	return hash ^ (hash >> 29);
}

/* The slot of a line, or the free one where it belongs. */
static uint32_t *find_slot(const struct interner *in, const struct entry *line)
{
	size_t mask = in->slot_count - 1;

	for (size_t at = line->hash & mask;; at = (at + 1) & mask) {
		const struct entry *there;

		if (in->slots[at] == 0)
			return &in->slots[at];
		there = &in->entries[in->slots[at] - 1];
		if (there->hash == line->hash && there->length == line->length &&
		    there->newline == line->newline &&
		    (line->length == 0 || memcmp(there->text, line->text, line->length) == 0))
			return &in->slots[at];
	}
}

static void grow_slots(struct interner *in)
{
	size_t mask = 2 * in->slot_count - 1;

	free(in->slots);
	in->slot_count *= 2;
	in->slots = xcalloc(in->slot_count, sizeof(*in->slots));
	for (uint32_t i = 0; i < in->count; i++) {
		size_t at = in->entries[i].hash & mask;

		while (in->slots[at] != 0)
			at = (at + 1) & mask;
		in->slots[at] = i + 1;
	}
}

/* The number of a line; a new line gets the next one, or NO_ID when add is false. */
static uint32_t intern(struct interner *in, const char *text, size_t length, bool newline, bool add)
{
	struct entry line = { text, length, hash_text(in->seed, text, length, newline), newline };
	uint32_t *slot = find_slot(in, &line);

	if (*slot != 0)
		return *slot - 1;
	if (!add)
		return NO_ID;
	if (in->count == in->capacity) {
		in->capacity = in->capacity ? 2 * in->capacity : 64;
		in->entries = xrealloc(in->entries, in->capacity * sizeof(*in->entries));
	}
	in->entries[in->count++] = line;
	*slot = in->count;
	if (2 * (size_t)in->count > in->slot_count)
		grow_slots(in);
	return in->count - 1;
}

/* ---- reading ---- */

enum place {
	PLACE_JUNK, /* before the first header, or behind a mail's signature */
	PLACE_HEADER, /* behind "diff --git" or behind "--- " and "+++ " */
	PLACE_HUNK /* behind a hunk */
};

struct parser {
	const char *at;
	const char *end;
	size_t line; /* number of the line at `at`, from 1 */
	enum place place;
	bool is_git;
	bool has_names; /* "--- " and "+++ " were there */
	char *header_name; /* from "diff --git a/x b/x", when both are the same */
	char *from; /* rename or copy from */
	char *to;
	struct diff diff;
	size_t file_capacity;
	size_t hunk_capacity;
	struct err *e;
};

static void diff_file_clear(struct diff_file *f)
{
	for (size_t i = 0; i < f->hunk_count; i++)
		free(f->hunks[i].lines);
	free(f->hunks);
	free(f->old_path);
	free(f->new_path);
	*f = (struct diff_file){ .hunks = NULL };
}

void diff_clear(struct diff *d)
{
	for (size_t i = 0; i < d->file_count; i++)
		diff_file_clear(&d->files[i]);
	free(d->files);
	free(d->text);
	*d = (struct diff)DIFF_INIT;
}

void diff_conflict_clear(struct diff_conflict *c)
{
	str_clear(&c->expected);
	str_clear(&c->found);
	*c = (struct diff_conflict)DIFF_CONFLICT_INIT;
}

static void forget_header(struct parser *p)
{
	char_ptr_clear(&p->header_name);
	char_ptr_clear(&p->from);
	char_ptr_clear(&p->to);
	p->is_git = false;
	p->has_names = false;
}

static void parser_clear(struct parser *p)
{
	forget_header(p);
	diff_clear(&p->diff);
}

static struct diff_file *current_file(struct parser *p)
{
	return p->diff.file_count > 0 ? &p->diff.files[p->diff.file_count - 1] : NULL;
}

/* The line at p->at without its newline (and without reading on); false at the end. */
static bool peek(const struct parser *p, struct span *line)
{
	if (p->at == p->end)
		return false;
	*line = line_at(p->at, (size_t)(p->end - p->at));
	line->size = text_size(*line);
	return true;
}

static bool peek_second(const struct parser *p, struct span *line)
{
	struct parser next = *p;
	struct span first = line_at(p->at, (size_t)(p->end - p->at));

	next.at += first.size;
	return peek(&next, line);
}

static void skip_line(struct parser *p)
{
	p->at += line_at(p->at, (size_t)(p->end - p->at)).size;
	p->line++;
}

static int fail(const struct parser *p, size_t line, const char *why)
{
	return err_set(p->e, ERR_INPUT, "invalid diff: line %zu: %s", line, why);
}

static struct diff_file *begin_file(struct parser *p)
{
	if (p->diff.file_count == p->file_capacity) {
		p->file_capacity = p->file_capacity ? 2 * p->file_capacity : 4;
		p->diff.files = xrealloc(p->diff.files, p->file_capacity * sizeof(*p->diff.files));
	}
	p->hunk_capacity = 0;
	p->place = PLACE_HEADER;
	p->diff.files[p->diff.file_count++] = (struct diff_file){ .hunks = NULL };
	return current_file(p);
}

/* The byte that an escape stands for; *used is its length behind the backslash, 0: none. */
static char unescape(const char *text, size_t left, size_t *used)
{
	static const char names[] = "abtnvfr\"\\", bytes[] = "\a\b\t\n\v\f\r\"\\";
	const char *name;

	*used = 0;
	if (left == 0)
		return 0;
	name = text[0] ? strchr(names, text[0]) : NULL;
	if (name) {
		*used = 1;
		return bytes[name - names];
	}
	if (left < 3 || text[0] < '0' || text[0] > '3' || text[1] < '0' || text[1] > '7' ||
	    text[2] < '0' || text[2] > '7')
		return 0;
	*used = 3;
	return (char)((text[0] - '0') * 64 + (text[1] - '0') * 8 + (text[2] - '0'));
}

/* Decodes the C string that begins at text[0] == '"'; the bytes used, 0: malformed. */
static size_t unquote(const char *text, size_t length, struct str *name)
{
	size_t at = 1;

	while (at < length && text[at] != '"') {
		size_t used;

		if (text[at] != '\\') {
			str_add_char(name, text[at++]);
			continue;
		}
		at++;
		str_add_char(name, unescape(text + at, length - at, &used));
		if (used == 0)
			return 0;
		at += used;
	}
	return at < length ? at + 1 : 0;
}

/* The name in text, quoted or up to a tab. The caller frees *ret. */
static int read_name(const struct parser *p, const char *text, size_t length, char **ret)
{
	OWNED(str) struct str name = STR_INIT;
	const char *tab = memchr(text, '\t', length);

	if (length > 0 && text[0] == '"') {
		if (unquote(text, length, &name) == 0)
			return fail(p, p->line, "malformed quoted file name");
	} else {
		str_add_bytes(&name, text, tab ? (size_t)(tab - text) : length);
	}
	if (name.length == 0)
		return fail(p, p->line, "no file name");
	if (memchr(name.bytes, '\0', name.length))
		return fail(p, p->line, "NUL byte in a file name");
	free(*ret);
	*ret = str_take(&name);
	return 0;
}

/* The rest of a header line behind its keyword, without CR. */
static struct span rest_of(struct span line, const char *keyword)
{
	struct span rest = { line.bytes + strlen(keyword), line.size - strlen(keyword) };

	if (has_cr(rest.bytes, rest.size))
		rest.size--;
	return rest;
}

static void drop_two(char *path)
{
	if (path)
		memmove(path, path + 2, strlen(path) - 1);
}

/* Takes off a/ and b/. Either may be NULL (/dev/null). */
static void strip_prefixes(char *before, char *after)
{
	bool a = before && strncmp(before, "a/", 2) == 0 && before[2];
	bool b = after && strncmp(after, "b/", 2) == 0 && after[2];

	if ((a || !before) && (b || !after)) {
		drop_two(before);
		drop_two(after);
	} else if (a && after && strcmp(before + 2, after) == 0) {
		drop_two(before);
	} else if (b && before && strcmp(before, after + 2) == 0) {
		drop_two(after);
	}
}

/* The two names of "diff --git": where the second begins, 0 if that cannot be told. */
static size_t split_names(struct span rest, struct str *first)
{
	size_t half = rest.size / 2, used = half;

	if (rest.size > 0 && rest.bytes[0] == '"')
		used = unquote(rest.bytes, rest.size, first);
	else if (rest.size % 2 == 1 && rest.bytes[half] == ' ')
		str_add_bytes(first, rest.bytes, half);
	else
		return 0; /* names of different length, so not the same */
	return used > 0 && used < rest.size && rest.bytes[used] == ' ' ? used + 1 : 0;
}

/* "diff --git a/x b/x": sets header_name when both names are the same. */
static int read_git_line(struct parser *p, struct span line)
{
	OWNED(str) struct str first = STR_INIT;
	OWNED(char_ptr) char *old = NULL;
	OWNED(char_ptr) char *new = NULL;
	struct span rest = rest_of(line, "diff --git ");
	size_t second = split_names(rest, &first);

	begin_file(p);
	p->is_git = true;
	if (second == 0 || second == rest.size)
		return 0;
	if (read_name(p, rest.bytes + second, rest.size - second, &new))
		return -1;
	old = str_take(&first);
	strip_prefixes(old, new);
	if (strcmp(old, new) == 0) {
		p->header_name = new;
		new = NULL;
	}
	return 0;
}

static int read_mode(const struct parser *p, struct span rest, unsigned *mode)
{
	unsigned value = 0;

	for (size_t i = 0; i < rest.size; i++) {
		if (rest.bytes[i] < '0' || rest.bytes[i] > '7' || i > 6)
			return fail(p, p->line, "malformed file mode");
		value = value * 8 + (unsigned)(rest.bytes[i] - '0');
	}
	*mode = value;
	return 0;
}

/* What a line of a git header says; false: it is none. Hashes and similarity do not matter. */
static bool read_extended(struct parser *p, struct span line, int *result)
{
	static const char *const words[] = { "index ",
		                             "similarity index ",
		                             "dissimilarity index ",
		                             "old mode ",
		                             "new mode ",
		                             "new file mode ",
		                             "deleted file mode ",
		                             "rename from ",
		                             "rename to ",
		                             "copy from ",
		                             "copy to " };
	enum {
		INDEX,
		SIMILAR,
		DIFFERENT,
		OLD,
		NEW,
		CREATE,
		DELETE,
		RENAME,
		RENAME_TO,
		COPY,
		COPY_TO
	};
	struct diff_file *f = current_file(p);
	struct span rest;
	size_t word = 0;

	while (word < COUNT(words) && !starts(line, words[word]))
		word++;
	if (word == COUNT(words))
		return false;
	rest = rest_of(line, words[word]);
	f->is_create |= word == CREATE;
	f->is_delete |= word == DELETE;
	f->is_rename |= word == RENAME || word == RENAME_TO;
	f->is_copy |= word == COPY || word == COPY_TO;
	if (word == OLD || word == DELETE)
		*result = read_mode(p, rest, &f->old_mode);
	else if (word == NEW || word == CREATE)
		*result = read_mode(p, rest, &f->new_mode);
	else if (word == RENAME || word == COPY)
		*result = read_name(p, rest.bytes, rest.size, &p->from);
	else if (word == RENAME_TO || word == COPY_TO)
		*result = read_name(p, rest.bytes, rest.size, &p->to);
	return true;
}

static void drop_null(char **path)
{
	if (*path && strcmp(*path, "/dev/null") == 0)
		char_ptr_clear(path);
}

/* "--- x" with "+++ y" behind it. */
static int read_names(struct parser *p, struct span line)
{
	struct diff_file *f = current_file(p);
	struct span second = line;
	struct span rest = rest_of(line, "--- ");

	if (read_name(p, rest.bytes, rest.size, &f->old_path))
		return -1;
	skip_line(p);
	(void)peek(p, &second);
	rest = rest_of(second, "+++ ");
	if (read_name(p, rest.bytes, rest.size, &f->new_path))
		return -1;
	drop_null(&f->old_path);
	drop_null(&f->new_path);
	if (!f->old_path && !f->new_path)
		return fail(p, p->line, "both files are /dev/null");
	strip_prefixes(f->old_path, f->new_path);
	p->has_names = true;
	if (!p->is_git) {
		f->is_create = !f->old_path;
		f->is_delete = !f->new_path;
	}
	return 0;
}

static bool same_name(const char *a, const char *b)
{
	return !a || !b || strcmp(a, b) == 0;
}

/* Settles the paths of a git style file and refuses headers that say two things. */
static int check_git(struct parser *p, struct diff_file *f)
{
	const char *from = p->from ? p->from : p->header_name;
	const char *to = p->to ? p->to : p->header_name;
	bool moves = f->is_rename || f->is_copy;

	if ((f->is_create && f->is_delete) || (f->is_rename && f->is_copy) ||
	    (moves && (f->is_create || f->is_delete || !p->from || !p->to)))
		return fail(p, p->line, "the git header contradicts itself");
	if (!p->has_names) {
		if ((!from && !f->is_create) || (!to && !f->is_delete))
			return fail(p, p->line, "cannot tell the file name from the git header");
		f->old_path = f->is_create ? NULL : xstrdup(from);
		f->new_path = f->is_delete ? NULL : xstrdup(to);
	}
	f->is_create |= !f->old_path;
	f->is_delete |= !f->new_path;
	if (f->is_create != !f->old_path || f->is_delete != !f->new_path)
		return fail(p, p->line, "a created or deleted file must be /dev/null on one side");
	if (!same_name(f->old_path, from) || !same_name(f->new_path, to))
		return fail(p, p->line, "the file names of the header disagree");
	if (!moves && !same_name(f->old_path, f->new_path))
		return fail(p, p->line, "two file names in a git header that says no rename");
	return 0;
}

static int finish_file(struct parser *p)
{
	struct diff_file *f = current_file(p);
	bool whole;

	if (!f || p->place == PLACE_JUNK)
		return 0;
	if (p->is_git && check_git(p, f))
		return -1;
	whole = p->is_git && (f->is_create || f->is_delete || f->is_rename || f->is_copy ||
	                      f->old_mode != f->new_mode);
	if (f->hunk_count == 0 && (!whole || p->has_names))
		return fail(p, p->line, "the file has no hunks (a line that begins with \"@@ -\")");
	forget_header(p);
	p->place = PLACE_JUNK;
	return 0;
}

/* ---- hunks ---- */

static bool read_number(const char **at, const char *end, size_t *ret)
{
	size_t value = 0;
	const char *c = *at;

	for (; c < end && *c >= '0' && *c <= '9' && value <= NUMBER_MAX; c++)
		value = value * 10 + (size_t)(*c - '0');
	if (c == *at || value > NUMBER_MAX)
		return false;
	*at = c;
	*ret = value;
	return true;
}

/* "<sign>start[,count]" */
static bool read_range(const char **at, const char *end, char sign, size_t *start, size_t *count)
{
	*count = 1;
	if (*at == end || **at != sign)
		return false;
	(*at)++;
	if (!read_number(at, end, start))
		return false;
	if (*at == end || **at != ',')
		return true;
	(*at)++;
	return read_number(at, end, count);
}

static bool take(const char **at, const char *end, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(end - *at) < length || memcmp(*at, text, length) != 0)
		return false;
	*at += length;
	return true;
}

static int read_hunk_line(const struct parser *p, struct span line, struct diff_hunk *h)
{
	const char *at = line.bytes, *end = line.bytes + line.size;

	if (!take(&at, end, "@@ ") || !read_range(&at, end, '-', &h->old_start, &h->old_count) ||
	    !take(&at, end, " ") || !read_range(&at, end, '+', &h->new_start, &h->new_count) ||
	    !take(&at, end, " @@"))
		return fail(p, p->line,
		            "malformed hunk header, wanted \"@@ -start,count +start,count @@\"");
	if (h->old_count + h->new_count == 0)
		return fail(p, p->line, "the hunk has no lines");
	if ((h->old_start == 0 && h->old_count > 0) || (h->new_start == 0 && h->new_count > 0))
		return fail(p, p->line, "line 0 in a hunk header, lines count from 1");
	h->at = p->line;
	return 0;
}

static bool begins_file(const struct parser *p, struct span line)
{
	struct span second;

	return starts(line, "diff ") ||
	       (starts(line, "--- ") && peek_second(p, &second) && starts(second, "+++ "));
}

/* Tells what the lines of a hunk really are, for the model that has to correct its header. */
static int fail_counts(struct parser *p, const struct diff_hunk *h, const char *body)
{
	size_t number = current_file(p)->hunk_count + 1, old_count = 0, new_count = 0, blank = 0;
	struct span line;

	p->at = body;
	p->line = h->at + 1;
	for (; peek(p, &line); skip_line(p)) {
		char kind = line.size > 0 ? line.bytes[0] : '\r';

		if (begins_file(p, line) || !strchr(" +-\r\\", kind) || kind == '\0')
			break;
		if (kind == '\r') {
			blank++; /* context, if more of the hunk follows */
			continue;
		}
		old_count += blank + (kind == ' ' || kind == '-');
		new_count += blank + (kind == ' ' || kind == '+');
		blank = 0;
	}
	return err_set(p->e, ERR_INPUT,
	               "invalid diff: hunk %zu (line %zu): header says %zu old and %zu new lines, "
	               "the hunk has %zu and %zu (it ends before line %zu)",
	               number, h->at, h->old_count, h->new_count, old_count, new_count,
	               p->line - blank);
}

static void add_line(struct diff_hunk *h, size_t *capacity, struct diff_line line)
{
	if (h->line_count == *capacity) {
		*capacity = *capacity ? 2 * *capacity : 16;
		h->lines = xrealloc(h->lines, *capacity * sizeof(*h->lines));
	}
	h->lines[h->line_count++] = line;
}

/* A line of a hunk's body; false if it cannot be one. "" is an empty context line whose space
 * somebody took away. */
static bool body_line(struct span line, struct diff_line *ret)
{
	char kind = line.size > 0 ? line.bytes[0] : '\r';

	if (kind == '\r' && line.size <= 1) {
		*ret = (struct diff_line){ .text = line.bytes, .length = line.size, .kind = ' ' };
		return true;
	}
	*ret = (struct diff_line){ .text = line.bytes + 1, .length = line.size - 1, .kind = kind };
	return kind == ' ' || kind == '-' || kind == '+';
}

/* Whether markers of a missing newline stand only behind the last line of their side. */
static bool markers_fit(const struct diff_hunk *h)
{
	bool old_ended = false, new_ended = false;

	for (size_t i = 0; i < h->line_count; i++) {
		const struct diff_line *line = &h->lines[i];

		if ((line->kind != '+' && old_ended) || (line->kind != '-' && new_ended))
			return false;
		old_ended |= line->kind != '+' && line->no_newline;
		new_ended |= line->kind != '-' && line->no_newline;
	}
	return true;
}

static bool read_marker(struct parser *p, struct diff_hunk *h)
{
	struct span line;

	if (h->line_count == 0 || !peek(p, &line) || !starts(line, "\\ "))
		return false;
	h->lines[h->line_count - 1].no_newline = true;
	skip_line(p);
	return true;
}

static int read_body(struct parser *p, struct diff_hunk *h)
{
	size_t old_left = h->old_count, new_left = h->new_count, capacity = 0;
	const char *body = p->at;

	while (old_left + new_left > 0) {
		struct diff_line line;
		struct span text;

		if (read_marker(p, h))
			continue;
		if (!peek(p, &text) || !body_line(text, &line) ||
		    (line.kind != '+' && old_left == 0) || (line.kind != '-' && new_left == 0))
			return fail_counts(p, h, body);
		old_left -= line.kind != '+';
		new_left -= line.kind != '-';
		add_line(h, &capacity, line);
		skip_line(p);
	}
	(void)read_marker(p, h);
	if (!markers_fit(h))
		return fail(p, h->at, "the hunk has lines behind one without newline");
	return 0;
}

/* Behind a header or a hunk only certain lines may stand: others would be dropped unseen. */
static int check_tail(struct parser *p, struct span line)
{
	static const char *const ends[] = { "Index: ", "From ", "commit ", "Only in " };
	const struct diff_file *f = current_file(p);
	bool known = line.size == 3 && starts(line, "-- ");
	const struct diff_hunk *last;

	if (line.size == 0 || (line.size == 1 && line.bytes[0] == '\r'))
		return 0;
	for (size_t i = 0; i < COUNT(ends); i++)
		known |= starts(line, ends[i]);
	if (known)
		return finish_file(p);
	if (f->hunk_count == 0)
		return fail(p, p->line, "expected \"@@ -start,count +start,count @@\"");
	last = &f->hunks[f->hunk_count - 1];
	return err_set(
	    p->e, ERR_INPUT,
	    "invalid diff: line %zu: neither a hunk nor a file begins here, but hunk %zu "
	    "(line %zu) ended as its header says (%zu old and %zu new lines)",
	    p->line, f->hunk_count, last->at, last->old_count, last->new_count);
}

static int read_hunk(struct parser *p, struct span line)
{
	struct diff_file *f = current_file(p);
	struct diff_hunk h = { .lines = NULL };

	if (!f || p->place == PLACE_JUNK || !p->has_names)
		return fail(p, p->line, "a hunk without \"--- path\" and \"+++ path\" before it");
	if (read_hunk_line(p, line, &h))
		return -1;
	skip_line(p);
	if (read_body(p, &h)) {
		free(h.lines);
		return -1;
	}
	if (f->hunk_count == p->hunk_capacity) {
		p->hunk_capacity = p->hunk_capacity ? 2 * p->hunk_capacity : 4;
		f->hunks = xrealloc(f->hunks, p->hunk_capacity * sizeof(*f->hunks));
	}
	f->hunks[f->hunk_count++] = h;
	p->place = PLACE_HUNK;
	return 0;
}

static bool is_binary(struct span line)
{
	static const char end[] = " differ";
	struct span rest = rest_of(line, "");

	return starts(line, "GIT binary patch") ||
	       (starts(line, "Binary files ") && rest.size > sizeof(end) &&
	        memcmp(rest.bytes + rest.size - strlen(end), end, strlen(end)) == 0);
}

static bool is_combined(struct span line)
{
	return starts(line, "@@@ ") || starts(line, "diff --cc ") ||
	       starts(line, "diff --combined ");
}

static int read_file_start(struct parser *p, struct span line)
{
	bool names = starts(line, "--- ");

	if (!(names && p->place == PLACE_HEADER && !p->has_names)) {
		if (finish_file(p))
			return -1;
		if (names)
			begin_file(p);
	}
	if (names)
		return read_names(p, line);
	return starts(line, "diff --git ") ? read_git_line(p, line) : 0;
}

/* Reads what begins at line; hunks move on by themselves, of the rest the last line is skipped. */
static int read_line(struct parser *p, struct span line)
{
	int result = 0;

	if (is_binary(line))
		return fail(p, p->line, "binary patches are not supported");
	if (is_combined(line))
		return fail(p, p->line, "combined diffs (of a merge) are not supported");
	if (starts(line, "@@"))
		return read_hunk(p, line);
	if (begins_file(p, line))
		result = read_file_start(p, line);
	else if (p->place == PLACE_HEADER && !p->has_names && read_extended(p, line, &result))
		; /* done */
	else if (p->place != PLACE_JUNK)
		result = check_tail(p, line);
	if (result == 0)
		skip_line(p);
	return result;
}

bool diff_looks_like(const char *bytes, size_t length)
{
	struct span text = { bytes, length };

	return starts(text, "--- ") || starts(text, "diff ");
}

int diff_parse(const char *bytes, size_t length, struct diff *out, struct err *e)
{
	OWNED(parser) struct parser p = { .line = 1, .e = e };
	struct span line;

	p.diff.text = xmalloc(length);
	if (length > 0)
		memcpy(p.diff.text, bytes, length);
	p.at = p.diff.text;
	p.end = p.at + length;
	while (peek(&p, &line))
		if (read_line(&p, line))
			return -1;
	if (finish_file(&p))
		return -1;
	if (p.diff.file_count == 0)
		return err_set(
		    e, ERR_INPUT,
		    "invalid diff: no \"--- path\" line with a \"+++ path\" line behind it");
	*out = p.diff;
	p.diff = (struct diff)DIFF_INIT;
	return 0;
}

/* ---- applying ---- */

struct target {
	const struct diff_file *file;
	size_t fuzz; /* lines of context at each end of a hunk that need not fit */
	const char *old; /* the file as it is */
	uint32_t *starts; /* where its lines begin, and its end */
	uint32_t *ids; /* of lines; NULL until a hunk is not where it should be */
	size_t count;
	size_t done; /* lines that are in result already, or removed */
	int64_t offset; /* by how many lines the last hunk had moved */
	bool loose; /* CR at the end of a line does not matter when matching */
	bool counted; /* mixed is known */
	bool mixed; /* the file has lines with and without CR */
	struct interner in;
	struct str result;
	struct diff_conflict *conflict;
	struct err *e;
};

/* The old side of a hunk. */
struct pattern {
	uint32_t *ids;
	size_t count;
	bool hopeless; /* a line that is nowhere in the file */
};

static void target_clear(struct target *t)
{
	free(t->starts);
	free(t->ids);
	interner_clear(&t->in);
	str_clear(&t->result);
}

static void pattern_clear(struct pattern *pattern)
{
	free(pattern->ids);
}

static const char *file_name(const struct diff_file *f)
{
	return f->new_path ? f->new_path : f->old_path;
}

/* Line i of the file as it is, from 0. */
static struct span old_line(const struct target *t, size_t i)
{
	return (struct span){ t->old + t->starts[i], t->starts[i + 1] - t->starts[i] };
}

/* The length of a line's text as far as it counts. */
static size_t matched_size(const struct target *t, const char *text, size_t length)
{
	return length - (t->loose && has_cr(text, length) ? 1 : 0);
}

static uint32_t line_id(struct target *t, const char *text, size_t length, bool newline, bool add)
{
	return intern(&t->in, text, matched_size(t, text, length), newline, add);
}

static bool is_line(const struct target *t, const struct diff_line *want, struct span have)
{
	size_t length = matched_size(t, have.bytes, text_size(have));

	return ended(have) == !want->no_newline &&
	       length == matched_size(t, want->text, want->length) &&
	       (length == 0 || memcmp(have.bytes, want->text, length) == 0);
}

/* Whether all lines of the diff end alike, in LF or in CRLF. */
static bool is_uniform(const struct diff_file *f)
{
	bool cr = false, lf = false;

	for (size_t i = 0; i < f->hunk_count; i++)
		for (size_t k = 0; k < f->hunks[i].line_count; k++) {
			const struct diff_line *line = &f->hunks[i].lines[k];

			if (has_cr(line->text, line->length))
				cr = true;
			else
				lf = true;
		}
	return !(cr && lf);
}

static bool is_mixed(struct target *t)
{
	size_t with_cr = 0, with_newline = 0;

	if (t->counted)
		return t->mixed;
	for (size_t i = 0; i < t->count; i++) {
		struct span line = old_line(t, i);

		with_cr += ended(line) && has_cr(line.bytes, text_size(line));
		with_newline += ended(line);
	}
	t->counted = true;
	return t->mixed = with_cr > 0 && with_cr < with_newline;
}

static size_t count_lines(const char *bytes, size_t length)
{
	size_t count = 0;

	for (size_t at = 0; at < length; count++)
		at += line_at(bytes + at, length - at).size;
	return count;
}

static void target_init(struct target *t, const char *old, size_t length)
{
	size_t line = 0;

	t->loose = is_uniform(t->file);
	t->old = old;
	t->count = count_lines(old, length);
	t->starts = xmalloc((t->count + 1) * sizeof(*t->starts));
	for (size_t at = 0; at < length; at += line_at(old + at, length - at).size)
		t->starts[line++] = (uint32_t)at;
	t->starts[line] = (uint32_t)length;
}

/* Numbers the lines, to search among them. */
static void number_lines(struct target *t)
{
	if (t->ids)
		return;
	t->ids = xmalloc(t->count * sizeof(*t->ids));
	interner_init(&t->in);
	for (size_t i = 0; i < t->count; i++) {
		struct span line = old_line(t, i);

		t->ids[i] = line_id(t, line.bytes, text_size(line), ended(line), true);
	}
}

static void pattern_init(struct pattern *pattern, struct target *t, const struct diff_hunk *h)
{
	*pattern = (struct pattern){ .ids = xmalloc(h->line_count * sizeof(*pattern->ids)) };
	for (size_t i = 0; i < h->line_count; i++) {
		const struct diff_line *line = &h->lines[i];
		uint32_t id;

		if (line->kind == '+')
			continue;
		id = line_id(t, line->text, line->length, !line->no_newline, false);
		pattern->hopeless |= id == NO_ID;
		pattern->ids[pattern->count++] = id;
	}
}

/* Knuth, Morris, Pratt: next[i] = length of the longest border of the first i + 1 lines. */
static size_t *borders(const struct pattern *pattern)
{
	size_t *next = xmalloc(pattern->count * sizeof(*next));
	size_t k = 0;

	next[0] = 0;
	for (size_t i = 1; i < pattern->count; i++) {
		while (k > 0 && pattern->ids[k] != pattern->ids[i])
			k = next[k - 1];
		if (pattern->ids[k] == pattern->ids[i])
			k++;
		next[i] = k;
	}
	return next;
}

static size_t distance(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* The place nearest to middle in [from, to] where the pattern begins; false: none. */
static bool nearest(const struct target *t, const struct pattern *pattern, const size_t *next,
                    size_t from, size_t to, size_t middle, size_t *ret)
{
	bool found = false;
	size_t k = 0;

	for (size_t i = from; i < to + pattern->count; i++) {
		size_t start;

		while (k > 0 && pattern->ids[k] != t->ids[i])
			k = next[k - 1];
		if (pattern->ids[k] == t->ids[i])
			k++;
		if (k < pattern->count)
			continue;
		start = i + 1 - k;
		if (!found || distance(start, middle) <= distance(*ret, middle))
			*ret = start; /* the later one wins a tie */
		found = true;
		k = next[k - 1];
	}
	return found;
}

/* Looks in ever larger surroundings, so that the cost is the distance, not the file. */
static bool search(const struct target *t, const struct pattern *pattern, size_t middle,
                   size_t *ret)
{
	size_t high = t->count - pattern->count, reach = SEARCH_FIRST;
	size_t *next = borders(pattern);
	bool found = false, whole = false;

	while (!found && !whole) {
		size_t from = middle - t->done > reach ? middle - reach : t->done;
		size_t to = high - middle > reach ? middle + reach : high;

		found = nearest(t, pattern, next, from, to, middle, ret);
		whole = from == t->done && to == high;
		reach *= 2;
	}
	free(next);
	return found;
}

/* Where the hunk should be, from 0, as its header and the hunks before it say. */
static int64_t expected_place(const struct target *t, const struct diff_hunk *h)
{
	int64_t place = (int64_t)h->old_start - (h->old_count > 0 ? 1 : 0);

	return t->count == 0 ? 0 : place + t->offset;
}

static size_t clamp(int64_t value, size_t low, size_t high)
{
	if (value < (int64_t)low)
		return low;
	return value > (int64_t)high ? high : (size_t)value;
}

/* Whether the old side of the hunk stands at line `place`, which leaves room for it. */
static bool stands_at(const struct target *t, const struct diff_hunk *h, size_t place)
{
	for (size_t i = 0; i < h->line_count; i++)
		if (h->lines[i].kind != '+' && !is_line(t, &h->lines[i], old_line(t, place++)))
			return false;
	return true;
}

static bool find_hunk(struct target *t, const struct diff_hunk *h, int64_t expected, size_t *ret)
{
	OWNED(pattern) struct pattern pattern = { .ids = NULL };
	size_t middle;

	if (h->old_count > t->count - t->done)
		return false;
	middle = clamp(expected, t->done, t->count - h->old_count);
	*ret = middle;
	if (h->old_count == 0) /* nothing to search by */
		return (int64_t)middle == expected;
	if (stands_at(t, h, middle))
		return true;
	number_lines(t);
	pattern_init(&pattern, t, h);
	return !pattern.hopeless && search(t, &pattern, middle, ret);
}

/* "patch conflict: <path>: <why>" for the file as a whole. */
static int conflict_whole(struct target *t, const char *why)
{
	OWNED(str) struct str path = STR_INIT;

	str_add_shown(&path, file_name(t->file), strlen(file_name(t->file)), SHOWN_BYTES);
	if (t->conflict) {
		diff_conflict_clear(t->conflict);
		t->conflict->hunk_count = t->file->hunk_count;
	}
	return err_set(t->e, ERR_INPUT, "patch conflict: %s: %s", str_text(&path), why);
}

/* The text for two lines that differ, or that look the same and differ in their newline. */
static void describe(struct str *text, const struct diff_line *want, const struct span *have)
{
	str_add(text, "expected \"");
	if (want)
		str_add_shown(text, want->text, want->length, SHOWN_BYTES);
	str_add(text, want && want->no_newline ? "\" as last line without a newline, found "
	                                       : "\", found ");
	if (!have) {
		str_add(text, "the end of the file");
		return;
	}
	str_add(text, "\"");
	str_add_shown(text, have->bytes, text_size(*have), SHOWN_BYTES);
	str_add(text, "\"");
	if (!ended(*have))
		str_add(text, " without a newline at the end of the file (the diff needs the line "
		              "\"\\ No newline at end of file\" behind it)");
}

/* Fills the conflict of a hunk. want may be NULL: nothing expected. */
static int conflict_at(struct target *t, size_t hunk, size_t line, const struct diff_line *want)
{
	struct span found = line < t->count ? old_line(t, line) : (struct span){ .bytes = NULL };
	const struct span *have = found.bytes ? &found : NULL;
	OWNED(str) struct str path = STR_INIT;
	OWNED(str) struct str text = STR_INIT;
	struct diff_conflict *c = t->conflict;

	str_add_shown(&path, file_name(t->file), strlen(file_name(t->file)), SHOWN_BYTES);
	if (want)
		describe(&text, want, have);
	else
		str_addf(&text, "the file has %zu lines and the hunk no context", t->count);
	if (c) {
		diff_conflict_clear(c);
		c->hunk = hunk + 1;
		c->hunk_count = t->file->hunk_count;
		c->line = line + 1;
		c->at_end = !have;
		if (want)
			str_add_bytes(&c->expected, want->text, want->length);
		if (have)
			str_add_bytes(&c->found, have->bytes, text_size(*have));
	}
	return err_set(t->e, ERR_INPUT,
	               "patch conflict: %s: hunk %zu of %zu does not match at line %zu: %s",
	               str_text(&path), hunk + 1, t->file->hunk_count, line + 1, str_text(&text));
}

/* Finds the first line that differs at the expected place. */
static int conflict_hunk(struct target *t, size_t hunk)
{
	const struct diff_hunk *h = &t->file->hunks[hunk];
	size_t line = clamp(expected_place(t, h), t->done, t->count);

	for (size_t i = 0; i < h->line_count; i++) {
		if (h->lines[i].kind == '+')
			continue;
		if (line == t->count || !is_line(t, &h->lines[i], old_line(t, line)))
			return conflict_at(t, hunk, line, &h->lines[i]);
		line++;
	}
	if (h->old_count == 0)
		return conflict_at(t, hunk, line, NULL);
	return conflict_whole(t, "hunks overlap or are out of order");
}

/* Appends to the result; false if that would be text behind a line without newline. */
static bool put(struct target *t, const char *bytes, size_t length)
{
	if (length > 0 && t->result.length > 0 && t->result.bytes[t->result.length - 1] != '\n')
		return false;
	str_add_bytes(&t->result, bytes, length);
	return true;
}

static bool copy_until(struct target *t, size_t line)
{
	size_t from, to;

	if (line == t->done)
		return true;
	from = t->starts[t->done];
	to = t->starts[line];
	t->done = line;
	return put(t, t->old + from, to - from);
}

/* Whether a line added at `line` should end in CRLF: as the line before it, or else behind it. */
static bool neighbour_is_crlf(const struct target *t, size_t line)
{
	size_t at = line > 0 ? line - 1 : 0;
	struct span neighbour;

	if (t->count == 0)
		return false;
	if (at > 0 && !ended(old_line(t, at)))
		at--;
	neighbour = old_line(t, at);
	return ended(neighbour) && has_cr(neighbour.bytes, text_size(neighbour));
}

/* Whether what the hunk adds is written as it stands: because it matches to the byte, or because
 * it has no context and the file's own line endings give no rule. */
static bool is_verbatim(struct target *t, const struct diff_hunk *h, size_t place)
{
	if (!t->loose || t->count == 0)
		return true;
	for (size_t i = 0; i < h->line_count; i++) {
		const struct diff_line *line = &h->lines[i];

		if (line->kind == '+')
			continue;
		if (line->length != text_size(old_line(t, place++)))
			return false;
	}
	return h->old_count > 0 || is_mixed(t);
}

static bool put_added(struct target *t, const struct diff_line *line, bool verbatim)
{
	OWNED(str) struct str text = STR_INIT;

	str_add_bytes(&text, line->text, line->length);
	if (!verbatim && has_cr(line->text, line->length))
		text.length--;
	if (!verbatim && !line->no_newline && neighbour_is_crlf(t, t->done))
		str_add_char(&text, '\r');
	if (!line->no_newline)
		str_add_char(&text, '\n');
	return put(t, text.bytes, text.length);
}

static bool put_hunk(struct target *t, const struct diff_hunk *h, size_t place)
{
	bool verbatim = is_verbatim(t, h, place), ok = copy_until(t, place);

	for (size_t i = 0; i < h->line_count && ok; i++) {
		if (h->lines[i].kind == '+')
			ok = put_added(t, &h->lines[i], verbatim);
		else if (h->lines[i].kind == '-')
			t->done++;
		else
			ok = copy_until(t, t->done + 1);
	}
	return ok;
}

/* The hunk without as much of its context as patch(1) leaves out of account at this fuzz: where it
 * has less at one end than at the other, that end keeps more. */
static struct diff_hunk with_fuzz(const struct diff_hunk *h, size_t fuzz)
{
	struct diff_hunk part = *h;
	size_t before = 0, after = 0, most;

	while (before < h->line_count && h->lines[before].kind == ' ')
		before++;
	while (after < h->line_count - before && h->lines[h->line_count - 1 - after].kind == ' ')
		after++;
	most = before > after ? before : after;
	fuzz = fuzz < most ? fuzz : most;
	before = before + fuzz > most ? before + fuzz - most : 0;
	after = after + fuzz > most ? after + fuzz - most : 0;
	part.lines += before;
	part.line_count -= before + after;
	part.old_start += before;
	part.old_count -= before + after;
	return part;
}

/* Puts the hunk where it stands, with as little fuzz as it takes. 1 done, 0 it stands nowhere, -1.
 * Of what it was found by, one line at least must be there. */
static int place_hunk(struct target *t, const struct diff_hunk *h)
{
	for (size_t fuzz = 0; fuzz <= t->fuzz; fuzz++) {
		struct diff_hunk part = with_fuzz(h, fuzz);
		int64_t expected = expected_place(t, &part);
		size_t place = 0;

		if (fuzz > 0 && part.old_count == 0)
			break;
		if (!find_hunk(t, &part, expected, &place))
			continue;
		t->offset += (int64_t)place - expected;
		return put_hunk(t, &part, place) ? 1 : -1;
	}
	return 0;
}

static int apply_hunk(struct target *t, size_t hunk)
{
	int placed = place_hunk(t, &t->file->hunks[hunk]);

	if (placed == 0)
		return conflict_hunk(t, hunk);
	if (placed < 0)
		return conflict_whole(t, "the diff puts text behind a line without a newline");
	return 0;
}

/* What the diff says of the file as a whole against whether there is one. */
static int check_whole(struct target *t, const char *old, size_t length)
{
	bool expects = false;

	for (size_t i = 0; i < t->file->hunk_count; i++)
		expects |= t->file->hunks[i].old_count > 0;
	if (t->file->is_create && old && length > 0)
		return conflict_whole(t, "the diff creates the file, but it exists");
	if (!old && (expects || t->file->is_delete))
		return conflict_whole(t, "the file does not exist");
	return 0;
}

int diff_apply_file(const struct diff_file *f, const char *old, size_t old_length, size_t fuzz,
                    struct str *result, struct diff_conflict *conflict, struct err *e)
{
	OWNED(target) struct target t = { .file = f, .fuzz = fuzz, .conflict = conflict, .e = e };

	if (check_whole(&t, old, old_length))
		return -1;
	if (old_length > UINT32_MAX)
		return conflict_whole(&t, "the file is larger than 4 GiB");
	target_init(&t, old, old ? old_length : 0);
	for (size_t i = 0; i < f->hunk_count; i++)
		if (apply_hunk(&t, i))
			return -1;
	if (!copy_until(&t, t.count))
		return conflict_whole(&t, "the diff puts text behind a line without a newline");
	if (f->is_delete && f->hunk_count > 0 && t.result.length > 0)
		return conflict_whole(&t, "the diff deletes the file, but lines would remain");
	if (f->is_delete)
		str_reset(&t.result);
	str_clear(result);
	*result = t.result;
	t.result = (struct str)STR_INIT;
	return 0;
}

/* ---- computing ---- */

/* One of the two texts. */
struct side {
	struct span *lines;
	uint32_t *ids;
	size_t count;
	bool *changed; /* count + 1: the last is a stop */
	uint32_t *kept; /* ids of the lines that Myers' algorithm looks at ... */
	size_t *index; /* ... and which lines they are */
	size_t kept_count;
};

struct comparison {
	struct side old;
	struct side new;
	int64_t *forward; /* furthest x by diagonal, from the start of the block */
	int64_t *backward;
	size_t work;
};

struct box {
	size_t x0, x1; /* of old.kept */
	size_t y0, y1; /* of new.kept */
};

static void side_init(struct side *s, struct interner *in, const char *bytes, size_t length)
{
	*s = (struct side){ .lines = NULL };
	s->count = split_lines(bytes, length, &s->lines);
	s->ids = xmalloc(s->count * sizeof(*s->ids));
	s->changed = xcalloc(s->count + 1, sizeof(*s->changed));
	for (size_t i = 0; i < s->count; i++)
		s->ids[i] =
		    intern(in, s->lines[i].bytes, text_size(s->lines[i]), ended(s->lines[i]), true);
}

static void side_clear(struct side *s)
{
	free(s->lines);
	free(s->ids);
	free(s->changed);
	free(s->kept);
	free(s->index);
}

static void comparison_clear(struct comparison *c)
{
	side_clear(&c->old);
	side_clear(&c->new);
	free(c->forward);
	free(c->backward);
}

/* Lines [from, to) that the other side has too are kept for the search; the others have changed,
 * whatever it finds. */
static void keep_common(struct side *s, size_t from, size_t to, const bool *in_other)
{
	s->kept = xmalloc((to - from) * sizeof(*s->kept));
	s->index = xmalloc((to - from) * sizeof(*s->index));
	for (size_t i = from; i < to; i++) {
		if (!in_other[s->ids[i]]) {
			s->changed[i] = true;
			continue;
		}
		s->kept[s->kept_count] = s->ids[i];
		s->index[s->kept_count++] = i;
	}
}

static bool *ids_in(const struct side *s, size_t from, size_t to, size_t id_count)
{
	bool *in = xcalloc(id_count, sizeof(*in));

	for (size_t i = from; i < to; i++)
		in[s->ids[i]] = true;
	return in;
}

static void mark(struct side *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		s->changed[s->index[i]] = true;
}

/* The furthest x on diagonal k (k = x - y) with one edit more than its neighbours, or -1. */
static int64_t step(const int64_t *v, int64_t k, int64_t width, int64_t height)
{
	int64_t left = v[k - 1] >= 0 && v[k - 1] < width ? v[k - 1] + 1 : -1;
	int64_t up = v[k + 1] >= 0 && v[k + 1] - k <= height ? v[k + 1] : -1;

	return left > up ? left : up;
}

/* Runs along equal lines from (x, x - k), from the end of the box if back. */
static int64_t slide(struct comparison *c, const struct box *b, int64_t x, int64_t k, bool back)
{
	const uint32_t *old = c->old.kept, *new = c->new.kept;
	size_t i = (size_t)x, j = (size_t)(x - k), start = i;
	size_t width = b->x1 - b->x0, height = b->y1 - b->y0;

	if (back)
		while (i < width && j < height && old[b->x1 - 1 - i] == new[b->y1 - 1 - j]) {
			i++;
			j++;
		}
	else
		while (i < width && j < height && old[b->x0 + i] == new[b->y0 + j]) {
			i++;
			j++;
		}
	c->work += i - start;
	return (int64_t)i;
}

/* One more edit from one end. True when the two searches have met, at (*x, *y) of the box. */
static bool advance(struct comparison *c, const struct box *b, int64_t edits, bool back, size_t *x,
                    size_t *y)
{
	int64_t width = (int64_t)(b->x1 - b->x0), height = (int64_t)(b->y1 - b->y0);
	int64_t *mine = (back ? c->backward : c->forward) + COST_MAX + 1;
	const int64_t *other = (back ? c->forward : c->backward) + COST_MAX + 1;
	int64_t others = back ? edits : edits - 1; /* edits that the other search has made */

	mine[-edits - 1] = mine[edits + 1] = -1;
	c->work += (size_t)edits;
	for (int64_t k = -edits; k <= edits; k += 2) {
		int64_t opposite = width - height - k;

		mine[k] = step(mine, k, width, height);
		if (mine[k] < 0)
			continue;
		mine[k] = slide(c, b, mine[k], k, back);
		if (opposite < -others || opposite > others || other[opposite] < 0 ||
		    mine[k] + other[opposite] < width)
			continue;
		*x = (size_t)(back ? width - mine[k] : mine[k]);
		*y = (size_t)(back ? height - (mine[k] - k) : mine[k] - k);
		return true;
	}
	return false;
}

/* The point that the search from the start came furthest to, when the two did not meet. */
static void furthest(const struct comparison *c, int64_t edits, size_t *x, size_t *y)
{
	const int64_t *forward = c->forward + COST_MAX + 1;

	*x = *y = 0;
	for (int64_t k = -edits; k <= edits; k += 2) {
		int64_t at = forward[k];

		if (at >= 0 && (size_t)(2 * at - k) > *x + *y) {
			*x = (size_t)at;
			*y = (size_t)(at - k);
		}
	}
}

/* Myers' middle: a point on a shortest way through the box, or on one that goes far when the
 * shortest is too expensive. False: no point was found that makes the box smaller. */
static bool find_middle(struct comparison *c, const struct box *b, size_t *x, size_t *y)
{
	int64_t *forward = c->forward + COST_MAX + 1, *backward = c->backward + COST_MAX + 1;
	bool met = false;

	forward[0] = backward[0] = 0;
	forward[-1] = forward[1] = backward[-1] = backward[1] = -1;
	for (int64_t edits = 1; edits <= COST_MAX && !met; edits++) {
		if (c->work > WORK_MAX)
			return false;
		met = advance(c, b, edits, false, x, y) || advance(c, b, edits, true, x, y);
	}
	if (!met)
		furthest(c, COST_MAX, x, y);
	return *x + *y > 0 && *x + *y < b->x1 - b->x0 + b->y1 - b->y0;
}

/* Takes off what the two sides of the box have in common at its beginning and its end. */
static void trim(const struct comparison *c, struct box *b)
{
	const uint32_t *old = c->old.kept, *new = c->new.kept;

	for (; b->x0 < b->x1 && b->y0 < b->y1 && old[b->x0] == new[b->y0]; b->y0++)
		b->x0++;
	for (; b->x0 < b->x1 && b->y0 < b->y1 && old[b->x1 - 1] == new[b->y1 - 1]; b->y1--)
		b->x1--;
}

/* Recurses into the first part only, whose edits are half as many or bounded: not deep. */
static void compare(struct comparison *c, struct box b)
{
	size_t x, y;

	trim(c, &b);
	while (b.x0 < b.x1 && b.y0 < b.y1 && find_middle(c, &b, &x, &y)) {
		compare(c, (struct box){ b.x0, b.x0 + x, b.y0, b.y0 + y });
		b.x0 += x;
		b.y0 += y;
		trim(c, &b);
	}
	mark(&c->old, b.x0, b.x1);
	mark(&c->new, b.y0, b.y1);
}

/* Finds what changed between the common beginning and the common end. */
static void find_changes(struct comparison *c, size_t id_count)
{
	struct side *old = &c->old, *new = &c->new;
	size_t head = 0, tail = 0;
	bool *in_old, *in_new;

	while (head < old->count && head < new->count && old->ids[head] == new->ids[head])
		head++;
	while (tail < old->count - head && tail < new->count - head &&
	       old->ids[old->count - 1 - tail] == new->ids[new->count - 1 - tail])
		tail++;
	in_old = ids_in(old, head, old->count - tail, id_count);
	in_new = ids_in(new, head, new->count - tail, id_count);
	keep_common(old, head, old->count - tail, in_new);
	keep_common(new, head, new->count - tail, in_old);
	free(in_old);
	free(in_new);
	c->forward = xmalloc((2 * COST_MAX + 3) * sizeof(*c->forward));
	c->backward = xmalloc((2 * COST_MAX + 3) * sizeof(*c->backward));
	compare(c, (struct box){ 0, old->kept_count, 0, new->kept_count });
}

/* Moves the changed lines that begin at *at down as far as the text allows: an added function
 * then shows with its own closing brace. The order of the unchanged lines stays as it is. */
static void slide_down(struct side *s, size_t at)
{
	size_t end = at;

	while (s->changed[end])
		end++;
	while (end < s->count && s->ids[at] == s->ids[end]) {
		s->changed[at++] = false;
		s->changed[end++] = true;
		if (s->changed[end]) /* met the next change: leave the two as one */
			return;
	}
}

static void tidy_changes(struct comparison *c)
{
	size_t i = 0, j = 0;

	while (i < c->old.count || j < c->new.count) {
		bool removed = c->old.changed[i], added = c->new.changed[j];

		if (removed && !added)
			slide_down(&c->old, i);
		if (added && !removed)
			slide_down(&c->new, j);
		while (c->old.changed[i])
			i++;
		while (c->new.changed[j])
			j++;
		i += i < c->old.count;
		j += j < c->new.count;
	}
}

static void put_line(struct str *out, char sign, struct span line)
{
	str_add_char(out, sign);
	str_add_bytes(out, line.bytes, line.size);
	if (!ended(line)) {
		str_add_char(out, '\n');
		str_add(out, NO_NEWLINE);
	}
}

static void put_range(struct str *out, char sign, size_t from, size_t to)
{
	str_addf(out, "%c%zu", sign, to > from ? from + 1 : from);
	if (to - from != 1)
		str_addf(out, ",%zu", to - from);
}

/* The end of the hunk that begins with the change at (i, j): behind its last change. */
static void hunk_end(const struct comparison *c, size_t i, size_t j, size_t *ret_i, size_t *ret_j)
{
	size_t equal = 0;

	*ret_i = i;
	*ret_j = j;
	while (equal <= 2 * (size_t)CONTEXT_LINES) {
		bool change = c->old.changed[i] || c->new.changed[j];

		while (c->old.changed[i])
			i++;
		while (c->new.changed[j])
			j++;
		if (change) {
			*ret_i = i;
			*ret_j = j;
			equal = 0;
		}
		if (i == c->old.count)
			return;
		i++;
		j++;
		equal++;
	}
}

/* Lines [i, to_i) and [j, to_j), removed ones before added ones. */
static void put_body(struct str *out, const struct comparison *c, size_t i, size_t to_i, size_t j,
                     size_t to_j)
{
	while (i < to_i || j < to_j) {
		while (c->old.changed[i])
			put_line(out, '-', c->old.lines[i++]);
		while (c->new.changed[j])
			put_line(out, '+', c->new.lines[j++]);
		if (i < to_i) {
			put_line(out, ' ', c->old.lines[i++]);
			j++;
		}
	}
}

static void put_hunks(struct str *out, const struct comparison *c)
{
	size_t i = 0, j = 0;

	while (i < c->old.count || j < c->new.count) {
		size_t before, after, end_i, end_j;

		if (!c->old.changed[i] && !c->new.changed[j]) {
			i++;
			j++;
			continue;
		}
		before = i < CONTEXT_LINES ? i : CONTEXT_LINES;
		hunk_end(c, i, j, &end_i, &end_j);
		after = c->old.count - end_i;
		after = after < CONTEXT_LINES ? after : CONTEXT_LINES;
		str_add(out, "@@ ");
		put_range(out, '-', i - before, end_i + after);
		str_add_char(out, ' ');
		put_range(out, '+', j - before, end_j + after);
		str_add(out, " @@\n");
		put_body(out, c, i - before, end_i + after, j - before, end_j + after);
		i = end_i + after;
		j = end_j + after;
	}
}

/* A name as git writes it, quoted when it must be. prefix NULL: /dev/null. */
static void put_name(struct str *out, const char *prefix, const char *path)
{
	bool quote = false;

	for (const char *c = path; *c; c++)
		quote |= (unsigned char)*c < 0x20 || *c == 0x7F || *c == '"' || *c == '\\';
	if (!prefix) {
		str_add(out, "/dev/null");
	} else if (!quote) {
		str_add(out, prefix);
		str_add(out, path);
	} else {
		str_addf(out, "\"%s", prefix);
		for (const char *c = path; *c; c++)
			if (*c == '"' || *c == '\\')
				str_addf(out, "\\%c", *c);
			else if ((unsigned char)*c < 0x20 || *c == 0x7F)
				str_addf(out, "\\%03o", (unsigned)(unsigned char)*c);
			else
				str_add_char(out, *c);
		str_add_char(out, '"');
	}
}

static void put_header_line(struct str *out, const char *sign, const char *prefix, const char *path)
{
	str_add(out, sign);
	put_name(out, prefix, path);
	if (prefix && strchr(path, ' '))
		str_add_char(out, '\t'); /* patch(1) reads a name with a space up to a tab */
	str_add_char(out, '\n');
}

/* A file that is empty and appears or vanishes: no hunk can say that. */
static void put_empty(struct str *out, const char *path, const char *what)
{
	str_add(out, "diff --git ");
	put_name(out, "a/", path);
	str_add_char(out, ' ');
	put_name(out, "b/", path);
	str_addf(out, "\n%s mode 100644\n", what);
}

void diff_compute(const char *path, const char *old, size_t old_length, const char *new,
                  size_t new_length, struct str *out)
{
	OWNED(comparison) struct comparison c = { .work = 0 };
	OWNED(interner) struct interner in;

	old_length = old ? old_length : 0;
	new_length = new ? new_length : 0;
	interner_init(&in);
	if (old_length == new_length && (old_length == 0 || memcmp(old, new, old_length) == 0)) {
		if (!old != !new)
			put_empty(out, path, new ? "new file" : "deleted file");
		return;
	}
	side_init(&c.old, &in, old, old_length);
	side_init(&c.new, &in, new, new_length);
	find_changes(&c, in.count);
	tidy_changes(&c);
	put_header_line(out, "--- ", old ? "a/" : NULL, path);
	put_header_line(out, "+++ ", new ? "b/" : NULL, path);
	put_hunks(out, &c);
}
