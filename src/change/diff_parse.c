/* Reads a diff text. */
#include "diff.h"
#include "line.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 1 << 30 }; /* in @@ lines: more is a mistake; sums cannot overflow */

static bool starts(struct span line, const char *with)
{
	size_t length = strlen(with);

	return line.size >= length && memcmp(line.bytes, with, length) == 0;
}

enum place {
	PLACE_JUNK, /* before the first header, or after a mail's signature */
	PLACE_HEADER, /* after "diff --git", or after "--- " and "+++ " */
	PLACE_HUNK /* after a hunk */
};

struct parser {
	const char *at;
	const char *end;
	size_t line; /* number of the line at `at`, from 1 */
	size_t header; /* that of the line with which the current file began */
	enum place place;
	bool is_git;
	bool has_names; /* "--- " and "+++ " have been read */
	char *header_name; /* from "diff --git a/x b/x", when both are the same */
	char *from; /* from "rename from" or "copy from" */
	char *to;
	struct diff diff;
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
	*d = (struct diff){ 0 };
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

/* The line at p->at without its newline (does not advance); false at the end. */
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
	p->header = p->line;
	p->diff.files = xgrow(p->diff.files, p->diff.file_count, sizeof(*p->diff.files));
	p->place = PLACE_HEADER;
	p->diff.files[p->diff.file_count++] = (struct diff_file){ .hunks = NULL };
	return current_file(p);
}

/* The byte that an escape stands for; *used is its length after the backslash, 0: not an escape. */
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

size_t diff_unquote(const char *text, size_t length, struct str *name)
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
	OWNED(str) struct str name = { 0 };
	const char *tab = memchr(text, '\t', length);

	if (length > 0 && text[0] == '"') {
		if (diff_unquote(text, length, &name) == 0)
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

/* The rest of a header line after its keyword, without CR. */
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

/* Removes a/ and b/. Either may be NULL (/dev/null). */
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

/* Splits the two names of "diff --git": where the second begins, 0 if that is ambiguous. */
static size_t split_names(struct span rest, struct str *first)
{
	size_t half = rest.size / 2, used = half;

	if (rest.size > 0 && rest.bytes[0] == '"')
		used = diff_unquote(rest.bytes, rest.size, first);
	else if (rest.size % 2 == 1 && rest.bytes[half] == ' ')
		str_add_bytes(first, rest.bytes, half);
	else
		return 0; /* names of different length, so not the same */
	return used > 0 && used < rest.size && rest.bytes[used] == ' ' ? used + 1 : 0;
}

/* "diff --git a/x b/x": sets header_name when both names are the same. */
static int read_git_line(struct parser *p, struct span line)
{
	OWNED(str) struct str first = { 0 };
	OWNED(char_ptr) char *old = NULL, *new = NULL;
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

/* Whether git writes it: of a file it keeps only whether it can be run. Of what was there before,
 * other programs tell the permissions as well. */
static bool is_git_mode(unsigned mode, bool is_old)
{
	enum { REGULAR = 0100000, SYMLINK = 0120000, SUBMODULE = 0160000 };

	if (mode == SYMLINK || mode == SUBMODULE) /* refused by what applies it */
		return true;
	return mode == (REGULAR | 0644) || mode == (REGULAR | 0755) ||
	       (is_old && (mode & ~0777u) == REGULAR);
}

static int read_mode(const struct parser *p, struct span rest, bool is_old, unsigned *mode)
{
	unsigned value = 0;

	if (rest.size == 0)
		return fail(p, p->line, "malformed file mode");
	for (size_t i = 0; i < rest.size; i++) {
		if (rest.bytes[i] < '0' || rest.bytes[i] > '7' || i > 6)
			return fail(p, p->line, "malformed file mode");
		value = value * 8 + (unsigned)(rest.bytes[i] - '0');
	}
	if (!is_git_mode(value, is_old))
		return fail(p, p->line,
		            "a file mode that git never writes: it is 100644 or 100755");
	*mode = value;
	return 0;
}

/* The lines of a git header. */
static const char *const EXTENDED[] = {
	"index ",         "similarity index ",  "dissimilarity index ", "old mode ",  "new mode ",
	"new file mode ", "deleted file mode ", "rename from ",         "rename to ", "copy from ",
	"copy to "
};
enum { INDEX, SIMILAR, DIFFERENT, OLD, NEW, CREATE, DELETE, RENAME, RENAME_TO, COPY, COPY_TO };

/* Which of them it is; COUNT(EXTENDED): none. */
static size_t extended_word(struct span line)
{
	size_t word = 0;

	while (word < COUNT(EXTENDED) && !starts(line, EXTENDED[word]))
		word++;
	return word;
}

/* Reads a line of a git header; false: it is not one. Hashes and similarity are ignored. */
static bool read_extended(struct parser *p, struct span line, int *result)
{
	struct diff_file *f = current_file(p);
	struct span rest;
	size_t word = extended_word(line);

	if (word == COUNT(EXTENDED))
		return false;
	rest = rest_of(line, EXTENDED[word]);
	f->is_create |= word == CREATE;
	f->is_delete |= word == DELETE;
	f->is_rename |= word == RENAME || word == RENAME_TO;
	f->is_copy |= word == COPY || word == COPY_TO;
	if (word == OLD || word == DELETE)
		*result = read_mode(p, rest, true, &f->old_mode);
	else if (word == NEW || word == CREATE)
		*result = read_mode(p, rest, false, &f->new_mode);
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

/* "--- x" followed by "+++ y". */
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
	f->is_create |= !f->old_path;
	f->is_delete |= !f->new_path;
	return 0;
}

static bool same_name(const char *a, const char *b)
{
	return !a || !b || strcmp(a, b) == 0;
}

/* Settles the paths of a git style file and refuses headers that contradict each other. */
static int check_git(struct parser *p, struct diff_file *f)
{
	const char *from = p->from ? p->from : p->header_name;
	const char *to = p->to ? p->to : p->header_name;
	bool moves = f->is_rename || f->is_copy;

	if ((f->is_create && f->is_delete) || (f->is_rename && f->is_copy) ||
	    (moves && (f->is_create || f->is_delete || !p->from || !p->to)))
		return fail(p, p->header, "the git header contradicts itself");
	if (!p->has_names) {
		if ((!from && !f->is_create) || (!to && !f->is_delete))
			return fail(p, p->header, "cannot tell the file name from the git header");
		f->old_path = f->is_create ? NULL : xstrdup(from);
		f->new_path = f->is_delete ? NULL : xstrdup(to);
	}
	if (f->is_create != !f->old_path || f->is_delete != !f->new_path)
		return fail(p, p->header,
		            "a created or deleted file must be /dev/null on one side");
	if (!same_name(f->old_path, from) || !same_name(f->new_path, to))
		return fail(p, p->header, "the file names of the header disagree");
	if (!moves && !same_name(f->old_path, f->new_path))
		return fail(p, p->header, "two file names in a git header that says no rename");
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
		return fail(p, p->header,
		            "the file has no hunks (a line that begins with \"@@ -\")");
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
	(void)take(&at, end, " ");
	h->section = at;
	h->section_length = (size_t)(end - at);
	return 0;
}

static bool begins_names(const struct parser *p, struct span line)
{
	struct span second;

	return starts(line, "--- ") && peek_second(p, &second) && starts(second, "+++ ");
}

static bool begins_file(const struct parser *p, struct span line)
{
	return starts(line, "diff ") || begins_names(p, line);
}

/* Reports the real counts of a hunk, for the model that has to correct its header. */
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

static void add_line(struct diff_hunk *h, struct diff_line line)
{
	h->lines = xgrow(h->lines, h->line_count, sizeof(*h->lines));
	h->lines[h->line_count++] = line;
}

/* A line of a hunk's body; false if it cannot be one. "" is an empty context line that has lost its
 * space. */
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

/* Whether markers of a missing newline only follow the last line of their side. */
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
	size_t old_left = h->old_count, new_left = h->new_count;
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
		add_line(h, line);
		skip_line(p);
	}
	(void)read_marker(p, h);
	if (!markers_fit(h))
		return fail(p, h->at, "the hunk has lines behind one without newline");
	return 0;
}

/* Only certain lines may follow a header or a hunk: others would be dropped unnoticed. */
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
	f->hunks = xgrow(f->hunks, f->hunk_count, sizeof(*f->hunks));
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

/* Reads what begins at line; hunks advance on their own, for everything else the last line is
 * skipped. */
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

/* Whether a line of a diff follows: names, a hunk, or a line of a git header. */
static bool holds_diff(struct parser p)
{
	struct span line;

	for (skip_line(&p); peek(&p, &line); skip_line(&p))
		if (begins_names(&p, line) || starts(line, "@@ -") || is_binary(line) ||
		    extended_word(line) < COUNT(EXTENDED))
			return true;
	return false;
}

bool diff_looks_like(const char *bytes, size_t length)
{
	const struct parser p = { .at = bytes, .end = bytes + length };
	struct span line;

	if (!peek(&p, &line))
		return false;
	return starts(line, "@@ -") || begins_names(&p, line) ||
	       (starts(line, "diff ") && holds_diff(p));
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
	p.diff = (struct diff){ 0 };
	return 0;
}
