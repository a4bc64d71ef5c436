#include "gate_patch.h"

#include "gate_blank.h"

#include <stdlib.h>
#include <string.h>

static const char BEGIN[] = "*** Begin Patch";
static const char END[] = "*** End Patch";
static const char ADD[] = "*** Add File: ";
static const char DELETE[] = "*** Delete File: ";
static const char UPDATE[] = "*** Update File: ";
static const char MOVE[] = "*** Move to: ";
static const char END_OF_FILE[] = "*** End of File";

static const char LF[] = "\n";
static const char CRLF[] = "\r\n";
static const char CR[] = "\r";

enum mode { BEFORE_PATCH, IN_PATCH, IN_ADD, IN_DELETE, IN_UPDATE, AFTER_PATCH };

struct reader {
	struct gate_patch *patch;
	enum mode mode;
	size_t at; /* line number, from 1 */
};

/* ---- lines ---- */

static bool equals(struct gate_patch_line line, const char *text)
{
	return line.length == strlen(text) && memcmp(line.text, text, line.length) == 0;
}

static struct gate_patch_line line_of(const char *text, size_t length)
{
	return (struct gate_patch_line){ .text = text, .length = length };
}

static struct gate_patch_line without_start(struct gate_patch_line line, size_t length)
{
	line.text += length;
	line.length -= length;
	return line;
}

static bool after(struct gate_patch_line line, const char *prefix, struct gate_patch_line *ret)
{
	size_t length = strlen(prefix);

	if (line.length < length || memcmp(line.text, prefix, length) != 0)
		return false;
	*ret = without_start(line, length);
	return true;
}

static struct gate_patch_line trim_end(struct gate_patch_line line)
{
	line.length = gate_blank_end(line.text, line.length);
	return line;
}

static struct gate_patch_line trim(struct gate_patch_line line)
{
	return trim_end(without_start(line, gate_blank_start(line.text, line.length)));
}

static void add_line(struct gate_patch_lines *to, struct gate_patch_line line)
{
	to->lines = xgrow(to->lines, to->count, sizeof(*to->lines));
	to->lines[to->count++] = line;
}

static char *copy(struct gate_patch_line line)
{
	struct str text = { 0 };

	str_add_bytes(&text, line.text, line.length);
	return str_take(&text);
}

/* Takes the next line off the front of text. As Codex does, it loses two CR at its end. */
static struct gate_patch_line next_line(const char **text, const char *end)
{
	const char *stop = memchr(*text, '\n', (size_t)(end - *text));
	struct gate_patch_line line = line_of(*text, (size_t)((stop ? stop : end) - *text));

	*text = stop ? stop + 1 : end;
	for (int i = 0; i < 2 && line.length && line.text[line.length - 1] == '\r'; i++)
		line.length--;
	return line;
}

/* ---- reading ---- */

static int refuse(const struct reader *r, struct gate_patch_line line, const char *what,
                  struct err *e)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, line.text, line.length, 80);
	return err_set(e, ERR_INPUT, "the patch's line %zu '%s': %s", r->at, str_text(&shown),
	               what);
}

static struct gate_patch_part *last_part(const struct reader *r)
{
	return &r->patch->parts[r->patch->count - 1];
}

static struct gate_patch_hunk *last_hunk(const struct reader *r)
{
	struct gate_patch_part *part = last_part(r);

	return part->hunk_count ? &part->hunks[part->hunk_count - 1] : NULL;
}

static bool is_empty(const struct gate_patch_hunk *hunk)
{
	return hunk->before.count == 0 && hunk->after.count == 0;
}

/* Whether an update may end here. */
static int check_update(const struct reader *r, struct gate_patch_line line, struct err *e)
{
	const struct gate_patch_hunk *hunk;

	if (r->mode != IN_UPDATE)
		return 0;
	hunk = last_hunk(r);
	if (!hunk || is_empty(hunk))
		return refuse(r, line, "the update before it has no lines", e);
	return 0;
}

static int begin_part(struct reader *r, enum gate_patch_kind kind, struct gate_patch_line path,
                      struct err *e)
{
	static const enum mode MODES[] = { [GATE_PATCH_ADD] = IN_ADD,
		                           [GATE_PATCH_DELETE] = IN_DELETE,
		                           [GATE_PATCH_UPDATE] = IN_UPDATE };
	struct gate_patch *p = r->patch;

	if (path.length == 0)
		return refuse(r, path, "a file without a name", e);
	if (p->count == GATE_PATCH_FILES_MAX)
		return refuse(r, path, "too many files", e);
	p->parts = xrealloc(p->parts, (p->count + 1) * sizeof(*p->parts));
	p->parts[p->count++] = (struct gate_patch_part){ .kind = kind, .path = copy(path) };
	r->mode = MODES[kind];
	return 0;
}

/* 1 the line begins or ends a part, 0 it does not, -1 it may not. */
static int take_header(struct reader *r, struct gate_patch_line line, struct err *e)
{
	static const char *const HEADERS[] = {
		[GATE_PATCH_ADD] = ADD, [GATE_PATCH_DELETE] = DELETE, [GATE_PATCH_UPDATE] = UPDATE
	};
	struct gate_patch_line rest;

	if (equals(line, END)) {
		if (check_update(r, line, e))
			return -1;
		r->mode = AFTER_PATCH;
		return 1;
	}
	for (size_t i = 0; i < COUNT(HEADERS); i++) {
		if (!after(line, HEADERS[i], &rest))
			continue;
		if (check_update(r, line, e) || begin_part(r, (enum gate_patch_kind)i, rest, e))
			return -1;
		return 1;
	}
	return 0;
}

static int begin_hunk(struct reader *r, struct gate_patch_line line,
                      const struct gate_patch_line *context, struct err *e)
{
	struct gate_patch_part *part = last_part(r);
	struct gate_patch_hunk *hunk;

	if (part->hunk_count == GATE_PATCH_HUNKS_MAX)
		return refuse(r, line, "too many hunks", e);
	part->hunks = xrealloc(part->hunks, (part->hunk_count + 1) * sizeof(*part->hunks));
	hunk = &part->hunks[part->hunk_count++];
	*hunk = (struct gate_patch_hunk){ .at = r->at, .has_context = context != NULL };
	if (context)
		hunk->context = *context;
	return 0;
}

/* A line of a hunk: " context", "-removed", "+added", or nothing, which is an empty context. */
static int take_hunk_line(struct reader *r, struct gate_patch_line line, struct err *e)
{
	struct gate_patch_hunk *hunk;
	char sign = line.length ? line.text[0] : ' ';
	size_t skip = line.length ? 1 : 0;

	if (!strchr(" +-", sign))
		return refuse(r, line, "a line of a hunk begins with a blank, + or -", e);
	if (!last_hunk(r) && begin_hunk(r, line, NULL, e))
		return -1;
	hunk = last_hunk(r);
	line = without_start(line, skip);
	line.is_context = sign == ' ';
	if (sign != '+')
		add_line(&hunk->before, line);
	if (sign != '-')
		add_line(&hunk->after, line);
	return 0;
}

static int take_update(struct reader *r, struct gate_patch_line whole, struct err *e)
{
	struct gate_patch_line line = trim_end(whole), rest;
	struct gate_patch_part *part = last_part(r);
	struct gate_patch_hunk *hunk = last_hunk(r);
	bool has_context = after(line, "@@ ", &rest);
	bool opens = has_context || equals(line, "@@");
	int header = take_header(r, line, e);

	if (header)
		return header < 0 ? -1 : 0;
	if (hunk && hunk->at_end && line.length == 0)
		return 0;
	if (hunk && hunk->at_end && !opens)
		return refuse(r, whole, "after the end of a file, a hunk begins with @@", e);
	if (opens) {
		if (hunk && is_empty(hunk))
			return refuse(r, whole, "the hunk before it has no lines", e);
		return begin_hunk(r, whole, has_context ? &rest : NULL, e);
	}
	if (!hunk && !part->to && after(line, MOVE, &rest)) {
		part->to = copy(rest);
		return 0;
	}
	if (equals(line, END_OF_FILE)) {
		if (hunk && is_empty(hunk))
			return refuse(r, whole, "the hunk before it has no lines", e);
		if (hunk)
			hunk->at_end = true;
		return 0;
	}
	return take_hunk_line(r, whole, e);
}

static int take_line(struct reader *r, struct gate_patch_line line, struct err *e)
{
	struct gate_patch_line bare = trim(line);
	int header;

	switch (r->mode) {
	case BEFORE_PATCH:
		if (!equals(bare, BEGIN))
			return refuse(r, line, "a patch begins with *** Begin Patch", e);
		r->mode = IN_PATCH;
		return 0;
	case IN_UPDATE:
		return take_update(r, line, e);
	case AFTER_PATCH:
		return bare.length ? refuse(r, line, "it follows the end of the patch", e) : 0;
	case IN_ADD:
	case IN_PATCH:
	case IN_DELETE:
		break;
	}
	header = take_header(r, bare, e);
	if (header)
		return header < 0 ? -1 : 0;
	if (r->mode != IN_ADD || line.length == 0 || line.text[0] != '+')
		return refuse(r, line, "not the name of a file to add, delete or update", e);
	add_line(&last_part(r)->added, without_start(line, 1));
	return 0;
}

/* Models send the here-document of a shell where none is needed: its first and last line go. */
static struct gate_patch_line without_document(struct gate_patch_line all)
{
	static const char *const OPENINGS[] = { "<<EOF", "<<'EOF'", "<<\"EOF\"" };
	const char *text = all.text, *end = all.text + all.length;
	struct gate_patch_line first = next_line(&text, end);

	for (size_t i = 0; i < COUNT(OPENINGS); i++) {
		const char *last = end;

		if (!equals(first, OPENINGS[i]))
			continue;
		while (last > text && last[-1] != '\n')
			last--;
		if (last > text && end - last >= 3 && memcmp(end - 3, "EOF", 3) == 0)
			return trim(line_of(text, (size_t)(last - text)));
	}
	return all;
}

int gate_patch_parse(const char *text, size_t length, struct gate_patch *out, struct err *e)
{
	struct reader r = { .patch = out };
	struct gate_patch_line all = without_document(trim(line_of(text, length)));
	const char *at = all.text, *end = all.text + all.length;

	while (at < end) {
		r.at++;
		if (take_line(&r, next_line(&at, end), e))
			return -1;
	}
	if (r.mode != AFTER_PATCH)
		return err_set(e, ERR_INPUT, "the patch does not end with *** End Patch");
	if (out->count == 0)
		return err_set(e, ERR_INPUT, "the patch changes no file");
	return 0;
}

static void clear_hunks(struct gate_patch_part *part)
{
	for (size_t i = 0; i < part->hunk_count; i++) {
		free(part->hunks[i].before.lines);
		free(part->hunks[i].after.lines);
	}
	free(part->hunks);
}

void gate_patch_clear(struct gate_patch *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->parts[i].path);
		free(p->parts[i].to);
		free(p->parts[i].added.lines);
		clear_hunks(&p->parts[i]);
	}
	free(p->parts);
	*p = (struct gate_patch){ 0 };
}

/* ---- applying ---- */

/* A run of lines of the file and what replaces it. */
struct change {
	size_t at, count;
	const struct gate_patch_line *lines;
	size_t line_count;
	size_t order;
};

struct changes {
	struct change *list;
	size_t count;
};

struct search {
	struct gate_patch_lines file;
	size_t from; /* the next hunk is looked for from here on */
	size_t steps;
	bool exactly;
};

/* The ways to compare two lines, the strictest first. */
enum likeness { LIKE_EXACT, LIKE_END, LIKE_TRIMMED, LIKE_ASCII, LIKENESSES };

static bool is_like(struct gate_patch_line a, struct gate_patch_line b, enum likeness how)
{
	if (how == LIKE_END) {
		a = trim_end(a);
		b = trim_end(b);
	} else if (how >= LIKE_TRIMMED) {
		a = trim(a);
		b = trim(b);
	}
	if (how == LIKE_ASCII)
		return gate_blank_same_ascii(a.text, a.length, b.text, b.length);
	return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool is_at(struct search *s, const struct gate_patch_line *lines, size_t count, size_t at,
                  enum likeness how)
{
	for (size_t i = 0; i < count; i++) {
		s->steps++;
		if (!is_like(s->file.lines[at + i], lines[i], how))
			return false;
	}
	return true;
}

/* The first place of count lines. 1 found, 0 nowhere, -1 it takes too long. */
static int find(struct search *s, const struct gate_patch_line *lines, size_t count, bool at_end,
                size_t *ret)
{
	size_t last, first;

	if (count > s->file.count)
		return 0;
	last = s->file.count - count;
	first = at_end && (s->exactly || last > s->from) ? last : s->from;
	for (int how = 0; how < (s->exactly ? 1 : LIKENESSES); how++) {
		for (size_t at = first; at <= last; at++) {
			if (is_at(s, lines, count, at, (enum likeness)how)) {
				*ret = at;
				return 1;
			}
			if (s->steps > GATE_PATCH_STEPS_MAX)
				return -1;
		}
	}
	return 0;
}

static int not_found(const struct gate_patch_hunk *hunk, int got, struct gate_patch_line line,
                     struct err *e)
{
	OWNED(str) struct str shown = { 0 };

	if (got < 0)
		return err_set(e, ERR_INPUT, "finding the hunk of line %zu takes too long",
		               hunk->at);
	str_add_shown(&shown, line.text, line.length, 80);
	return err_set(e, ERR_INPUT, "the file does not contain the hunk of line %zu: '%s'",
	               hunk->at, str_text(&shown));
}

static bool ends_empty(const struct gate_patch_line *lines, size_t count)
{
	return count > 0 && lines[count - 1].length == 0;
}

static void add_change(struct changes *to, struct change change)
{
	if (change.count == 0 && change.line_count == 0)
		return;
	to->list = xgrow(to->list, to->count, sizeof(*to->list));
	change.order = to->count;
	to->list[to->count++] = change;
}

static size_t next_context(const struct gate_patch_line *lines, size_t from, size_t count)
{
	while (from < count && !lines[from].is_context)
		from++;
	return from;
}

/* Adds what a hunk that was found changes, between its lines of context, which stay. */
static void split_hunk(const struct gate_patch_hunk *hunk, struct change whole,
                       struct changes *changes)
{
	size_t before = 0, after = 0, old_next, new_next;

	for (;;) {
		old_next = next_context(hunk->before.lines, before, whole.count);
		new_next = next_context(whole.lines, after, whole.line_count);
		if (old_next == whole.count || new_next == whole.line_count)
			break;
		add_change(changes, (struct change){ .at = whole.at + before,
		                                     .count = old_next - before,
		                                     .lines = whole.lines + after,
		                                     .line_count = new_next - after });
		before = old_next + 1;
		after = new_next + 1;
	}
	add_change(changes, (struct change){ .at = whole.at + before,
	                                     .count = whole.count - before,
	                                     .lines = whole.lines + after,
	                                     .line_count = whole.line_count - after });
}

/* What other hosts make of such a file or hunk differs from one to the next. */
static int check_exactly(const struct gate_patch_part *part, const char *old, size_t length,
                         struct err *e)
{
	if (memchr(old, '\r', length))
		return err_set(e, ERR_INPUT, "the file has CR in it");
	if (length == 0 || old[length - 1] != '\n')
		return err_set(e, ERR_INPUT, "the file does not end in LF");
	for (size_t i = 0; i < part->hunk_count; i++)
		if (part->hunks[i].before.count == 0)
			return err_set(e, ERR_INPUT,
			               "the hunk of line %zu does not say after which line it is",
			               part->hunks[i].at);
	return 0;
}

/* Finds a hunk's lines, at last without an empty line at their end. */
static int find_hunk(struct search *s, const struct gate_patch_hunk *hunk, struct changes *changes,
                     struct err *e)
{
	const struct gate_patch_line *before = hunk->before.lines;
	struct change c = { .count = hunk->before.count,
		            .lines = hunk->after.lines,
		            .line_count = hunk->after.count };
	int got;

	if (c.count == 0) { /* additions alone go to the end */
		c.at = s->file.count;
		add_change(changes, c);
		return 0;
	}
	got = find(s, before, c.count, hunk->at_end, &c.at);
	if (got == 0 && ends_empty(before, c.count)) {
		c.count--;
		if (ends_empty(c.lines, c.line_count))
			c.line_count--;
		if (c.count == 0) { /* no lines at all are found at once */
			got = 1;
			c.at = s->from;
		} else {
			got = find(s, before, c.count, hunk->at_end, &c.at);
		}
	}
	if (got <= 0)
		return not_found(hunk, got, before[0], e);
	s->from = c.at + c.count;
	if (s->exactly)
		add_change(changes, c);
	else
		split_hunk(hunk, c, changes);
	return 0;
}

static int place(struct search *s, const struct gate_patch_part *part, struct changes *changes,
                 struct err *e)
{
	size_t found = 0;

	for (size_t i = 0; i < part->hunk_count; i++) {
		const struct gate_patch_hunk *hunk = &part->hunks[i];
		int got = hunk->has_context ? find(s, &hunk->context, 1, false, &found) : 1;

		if (got <= 0)
			return not_found(hunk, got, hunk->context, e);
		if (hunk->has_context)
			s->from = found + 1;
		if (find_hunk(s, hunk, changes, e))
			return -1;
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void put_lines(struct gate_patch_lines *out, const struct gate_patch_line *lines,
                      size_t from, size_t to)
{
	for (size_t i = from; lines && i < to; i++)
		add_line(out, lines[i]);
}

/* The lines after the changes, which are sorted. Two that overlap cannot be told apart. */
static int merge(const struct gate_patch_lines *file, const struct change *changes, size_t count,
                 struct gate_patch_lines *out, struct err *e)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		if (changes[i].at < at)
			return err_set(e, ERR_INPUT,
			               "two hunks of the patch change the same lines");
		put_lines(out, file->lines, at, changes[i].at);
		put_lines(out, changes[i].lines, 0, changes[i].line_count);
		at = changes[i].at + changes[i].count;
	}
	put_lines(out, file->lines, at, file->count);
	return 0;
}

/* The end of a line that is not the last, at the sign that begins it. */
static const char *end_at(const char *at, const char *end)
{
	if (*at == '\n')
		return LF;
	return at + 1 < end && at[1] == '\n' ? CRLF : CR;
}

static void split(const char *text, size_t length, struct gate_patch_lines *out)
{
	const char *end = text + length;

	while (text < end) {
		const char *stop = text;
		struct gate_patch_line line;

		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		line = line_of(text, (size_t)(stop - text));
		if (stop < end)
			line.end = end_at(stop, end);
		add_line(out, line);
		text = stop + (line.end ? strlen(line.end) : 0);
	}
}

static const char *end_of_new(const struct gate_patch_lines *file)
{
	return file->count && file->lines[0].end ? file->lines[0].end : LF;
}

static void join(const struct gate_patch_lines *lines, const char *end_of_new, bool exactly,
                 struct str *out)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct gate_patch_line *line = &lines->lines[i];

		str_add_bytes(out, line->text, line->length);
		if (!exactly || i + 1 < lines->count || line->length)
			str_add(out, line->end ? line->end : end_of_new);
	}
}

int gate_patch_update(const struct gate_patch_part *part, const char *old, size_t old_length,
                      bool exactly, struct str *out, struct err *e)
{
	struct search s = { .exactly = exactly };
	struct gate_patch_lines lines = { 0 };
	struct changes changes = { 0 };
	int got;

	if (!utf8_valid(old, old_length))
		return err_set(e, ERR_INPUT, "the file is not UTF-8");
	if (exactly && check_exactly(part, old, old_length, e))
		return -1;
	split(old, old_length, &s.file);
	got = place(&s, part, &changes, e);
	if (got == 0) {
		if (changes.count)
			qsort(changes.list, changes.count, sizeof(*changes.list), by_place);
		got = merge(&s.file, changes.list, changes.count, &lines, e);
	}
	if (got == 0)
		join(&lines, end_of_new(&s.file), exactly, out);
	free(changes.list);
	free(s.file.lines);
	free(lines.lines);
	return got;
}

void gate_patch_add(const struct gate_patch_part *part, struct str *out)
{
	for (size_t i = 0; i < part->added.count; i++) {
		str_add_bytes(out, part->added.lines[i].text, part->added.lines[i].length);
		str_add_char(out, '\n');
	}
}
