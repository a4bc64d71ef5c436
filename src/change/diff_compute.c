/* Computes the diff of two texts. */
#include "diff.h"
#include "interner.h"
#include "line.h"
#include "pulse.h"

#include <stdlib.h>
#include <string.h>

enum {
	PULSE_LINES = 4096,
	CONTEXT_LINES = 3,
	SECTION_BYTES = 80, /* of the line that names a section */
	COST_MAX = 2048 /* edits searched from each end of a block before it is split there */
};

/* Line comparisons in one diff_compute (well below a second) before it accepts a larger diff. */
static const size_t WORK_MAX = (size_t)1 << 26;
static const char NO_NEWLINE[] = "\\ No newline at end of file\n";

static size_t split_lines(const char *bytes, size_t length, struct span **ret)
{
	size_t count = 0;
	struct span *lines = NULL;

	for (size_t at = 0; at < length; at += lines[count++].size) {
		lines = xgrow(lines, count, sizeof(*lines));
		lines[count] = line_at(bytes + at, length - at);
	}
	*ret = lines;
	return count;
}

/* One of the two texts. */
struct side {
	struct span *lines;
	uint32_t *ids; /* of the lines between the common start and the common end */
	size_t count;
	bool *changed; /* count + 1: the last is a sentinel */
	uint32_t *kept; /* ids of the lines that Myers' algorithm compares ... */
	size_t *index; /* ... and their line numbers */
	size_t kept_count;
};

struct comparison {
	struct side old;
	struct side new;
	int64_t *forward; /* furthest x per diagonal, from the start of the block */
	int64_t *backward;
	size_t work;
};

struct box {
	size_t x0, x1; /* of old.kept */
	size_t y0, y1; /* of new.kept */
};

static void side_init(struct side *s, const char *bytes, size_t length)
{
	*s = (struct side){ .lines = NULL };
	s->count = split_lines(bytes, length, &s->lines);
	s->ids = xmalloc(s->count * sizeof(*s->ids));
	s->changed = xcalloc(s->count + 1, sizeof(*s->changed));
}

static void number_lines(struct side *s, struct interner *in, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (i % PULSE_LINES == 0)
			pulse();
		s->ids[i] = interner_number(in, s->lines[i].bytes, text_size(s->lines[i]),
		                            ended(s->lines[i]), true);
	}
}

static bool same_line(struct span a, struct span b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
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

/* Keeps those lines of [from, to) that the other side has, too, for the search; the others have
 * changed, whatever it finds. */
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

/* Follows equal lines from (x, x - k); from the end of the box if back. */
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

/* The point furthest from the start that the search reached, when the two did not meet. */
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

/* Myers' middle: a point on a shortest path through the box, or on one that gets far when the
 * shortest is too expensive. False: no point was found that splits the box. */
static bool find_middle(struct comparison *c, const struct box *b, size_t *x, size_t *y)
{
	int64_t *forward = c->forward + COST_MAX + 1, *backward = c->backward + COST_MAX + 1;
	bool met = false;

	forward[0] = backward[0] = 0;
	forward[-1] = forward[1] = backward[-1] = backward[1] = -1;
	for (int64_t edits = 1; edits <= COST_MAX && !met; edits++) {
		pulse();
		if (c->work > WORK_MAX)
			return false;
		met = advance(c, b, edits, false, x, y) || advance(c, b, edits, true, x, y);
	}
	if (!met)
		furthest(c, COST_MAX, x, y);
	return *x + *y > 0 && *x + *y < b->x1 - b->x0 + b->y1 - b->y0;
}

/* Removes the common start and end of the two sides of the box. */
static void trim(const struct comparison *c, struct box *b)
{
	const uint32_t *old = c->old.kept, *new = c->new.kept;

	for (; b->x0 < b->x1 && b->y0 < b->y1 && old[b->x0] == new[b->y0]; b->y0++)
		b->x0++;
	for (; b->x0 < b->x1 && b->y0 < b->y1 && old[b->x1 - 1] == new[b->y1 - 1]; b->y1--)
		b->x1--;
}

/* Recurses only into the first part, whose edits are halved or bounded: the recursion is
 * shallow. */
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

/* Finds the changes between the common start and the common end. */
static void find_changes(struct comparison *c, struct interner *in)
{
	struct side *old = &c->old, *new = &c->new;
	size_t head = 0, tail = 0;
	bool *in_old, *in_new;

	while (head < old->count &&
	       head < new->count &&same_line(old->lines[head], new->lines[head]))
		head++;
	while (tail < old->count - head &&
	       tail < new->count - head &&same_line(old->lines[old->count - 1 - tail],
	                                            new->lines[new->count - 1 - tail]))
		tail++;
	number_lines(old, in, head, old->count - tail);
	number_lines(new, in, head, new->count - tail);
	in_old = ids_in(old, head, old->count - tail, in->count);
	in_new = ids_in(new, head, new->count - tail, in->count);
	keep_common(old, head, old->count - tail, in_new);
	keep_common(new, head, new->count - tail, in_old);
	free(in_old);
	free(in_new);
	c->forward = xmalloc((2 * COST_MAX + 3) * sizeof(*c->forward));
	c->backward = xmalloc((2 * COST_MAX + 3) * sizeof(*c->backward));
	compare(c, (struct box){ 0, old->kept_count, 0, new->kept_count });
}

/* Moves the changed lines that begin at *at down as far as the text allows: an added function then
 * shows with its own closing brace. The order of the unchanged lines is kept. */
static void slide_down(struct side *s, size_t at)
{
	size_t end = at;

	while (s->changed[end])
		end++;
	while (end < s->count && same_line(s->lines[at], s->lines[end])) {
		s->changed[at++] = false;
		s->changed[end++] = true;
		if (s->changed[end]) /* met the next change: merge the two */
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

/* The end of the hunk that begins with the change at (i, j): after its last change. */
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

/* ---- the section after @@ ---- */

/* What is known about the lines before a hunk. */
struct progress {
	const struct diff_heading *heading;
	size_t place; /* of heading: those before it are done */
	size_t seen; /* lines already searched for a section */
	struct span section; /* the last line that names it; bytes NULL: none */
};

static bool names_section(struct span line)
{
	char c = line.bytes[0];

	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static void put_section(struct str *out, struct progress *p, const struct side *old, size_t upto)
{
	size_t length;

	for (; p->seen < upto; p->seen++)
		if (names_section(old->lines[p->seen]))
			p->section = old->lines[p->seen];
	length =
	    p->section.bytes ? utf8_cut(p->section.bytes, text_size(p->section), SECTION_BYTES) : 0;
	while (length > 0 && strchr(" \t\r", p->section.bytes[length - 1]))
		length--;
	if (length > 0) {
		str_add_char(out, ' ');
		str_add_bytes(out, p->section.bytes, length);
	}
}

/* Appends which hunks that change lines before old line `upto`, from 0, have moved. last: no hunk
 * follows them. */
static void put_moves(struct str *out, struct progress *p, size_t upto, bool last)
{
	bool first = true;

	for (; p->place < p->heading->place_count; p->place++) {
		const struct diff_place *one = &p->heading->places[p->place];

		if (one->found > upto && !last)
			break;
		if (one->said == one->found)
			continue;
		str_addf(out, "%sfrom line %zu to %zu", first ? " [moved " : ", ", one->said,
		         one->found);
		first = false;
	}
	if (!first)
		str_add_char(out, ']');
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

static void put_hunks(struct str *out, const struct comparison *c, const struct diff_heading *h)
{
	struct progress p = { .heading = h };
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
		str_add(out, " @@");
		put_moves(out, &p, end_i + after, end_i + after == c->old.count);
		put_section(out, &p, &c->old, i);
		str_add_char(out, '\n');
		put_body(out, c, i - before, end_i + after, j - before, end_j + after);
		i = end_i + after;
		j = end_j + after;
	}
}

/* What of a name is quoted: bytes of text that is no UTF-8 also, so that a diff is text. */
static bool is_quoted(unsigned char c, bool is_text)
{
	return c < 0x20 || c == 0x7F || (!is_text && c > 0x7F);
}

/* A name as git writes it, quoted if necessary. prefix NULL: /dev/null. */
static void put_name(struct str *out, const char *prefix, const char *path)
{
	bool is_text, quote = false;

	if (!prefix) {
		str_add(out, "/dev/null");
		return;
	}
	is_text = utf8_valid(path, strlen(path));
	for (const char *c = path; *c; c++)
		quote |= is_quoted((unsigned char)*c, is_text) || *c == '"' || *c == '\\';
	if (!quote) {
		str_add(out, prefix);
		str_add(out, path);
	} else {
		str_addf(out, "\"%s", prefix);
		for (const char *c = path; *c; c++)
			if (*c == '"' || *c == '\\')
				str_addf(out, "\\%c", *c);
			else if (is_quoted((unsigned char)*c, is_text))
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

/* ---- the header ---- */

static void put_word(struct str *out, const char *word, const char *path)
{
	str_add(out, word);
	put_name(out, "", path);
	str_add_char(out, '\n');
}

/* What the names alone cannot express. */
static void put_git_header(struct str *out, const struct diff_heading *h)
{
	const char *old = h->old_path ? h->old_path : h->new_path;

	if (!old)
		return; /* neither side has a name */
	str_add(out, "diff --git ");
	put_name(out, "a/", old);
	str_add_char(out, ' ');
	put_name(out, "b/", h->new_path ? h->new_path : old);
	str_add_char(out, '\n');
	if (!h->old_path)
		str_addf(out, "new file mode %06o\n", h->new_mode ? h->new_mode : 0100644);
	else if (!h->new_path)
		str_addf(out, "deleted file mode %06o\n", h->old_mode ? h->old_mode : 0100644);
	else if (h->new_mode)
		str_addf(out, "old mode %06o\nnew mode %06o\n", h->old_mode, h->new_mode);
	if (h->is_rename || h->is_copy) {
		put_word(out, h->is_rename ? "rename from " : "copy from ", old);
		put_word(out, h->is_rename ? "rename to " : "copy to ", h->new_path);
	}
}

static bool is_equal(const char *old, size_t old_length, const char *new, size_t new_length)
{
	return old_length == new_length && (old_length == 0 || memcmp(old, new, old_length) == 0);
}

void diff_compute_file(const struct diff_heading *h, const char *old, size_t old_length,
                       const char *new, size_t new_length, struct str *out)
{
	OWNED(comparison) struct comparison c = { .work = 0 };
	OWNED(interner) struct interner in;
	bool equal;

	old_length = old ? old_length : 0;
	new_length = new ? new_length : 0;
	equal = is_equal(old, old_length, new, new_length);
	interner_init(&in);
	if (h->new_mode || h->old_mode || h->is_rename || h->is_copy || (equal && !old != !new))
		put_git_header(out, h);
	if (equal)
		return;
	side_init(&c.old, old, old_length);
	side_init(&c.new, new, new_length);
	find_changes(&c, &in);
	tidy_changes(&c);
	put_header_line(out, "--- ", h->old_path ? "a/" : NULL, h->old_path ? h->old_path : "");
	put_header_line(out, "+++ ", h->new_path ? "b/" : NULL, h->new_path ? h->new_path : "");
	put_hunks(out, &c, h);
}

void diff_compute(const char *path, const char *old, size_t old_length, const char *new,
                  size_t new_length, struct str *out)
{
	const struct diff_heading h = { .old_path = old ? path : NULL,
		                        .new_path = new ? path : NULL };

	diff_compute_file(&h, old, old_length, new, new_length, out);
}
