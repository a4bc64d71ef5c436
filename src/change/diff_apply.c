/* Applies a diff to the bytes of a file. */
#include "diff.h"
#include "interner.h"
#include "line.h"
#include "pulse.h"

#include <stdlib.h>
#include <string.h>

enum {
	PULSE_LINES = 4096,
	SHOWN_BYTES = 160, /* of a line or path in an error text, which holds three */
	LINE_GUESS_BYTES = 32,
	SEARCH_FIRST = 64, /* lines around the expected place in the first search */
};

struct target {
	const struct diff_file *file;
	struct diff_how how;
	const char *old; /* the current file */
	uint32_t *starts; /* offsets of its lines, and of its end */
	uint32_t *ids; /* of lines; NULL until a hunk is not at its expected place */
	size_t count;
	size_t done; /* lines already in result, or removed */
	int64_t offset; /* by how many lines the last hunk was shifted */
	bool loose; /* CR at the end of a line does not matter when matching */
	bool counted; /* mixed is known */
	bool mixed; /* the file has lines with and without CR */
	struct interner in;
	struct str result;
	bool ambiguous; /* the current hunk fits at two places: */
	size_t here, there; /* lines from 0 */
	struct err *e;
};

/* The old side of a hunk. */
struct pattern {
	uint32_t *ids;
	size_t count;
	bool hopeless; /* one of its lines occurs nowhere in the file */
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

/* Line i of the current file, from 0. */
static struct span old_line(const struct target *t, size_t i)
{
	return (struct span){ t->old + t->starts[i], t->starts[i + 1] - t->starts[i] };
}

/* The length of a line's text that counts for matching. */
static size_t matched_size(const struct target *t, const char *text, size_t length)
{
	return length - (t->loose && has_cr(text, length) ? 1 : 0);
}

static uint32_t line_id(struct target *t, const char *text, size_t length, bool newline, bool add)
{
	return interner_number(&t->in, text, matched_size(t, text, length), newline, add);
}

static bool is_line(const struct target *t, const struct diff_line *want, struct span have)
{
	size_t length = matched_size(t, have.bytes, text_size(have));

	return ended(have) == !want->no_newline &&
	       length == matched_size(t, want->text, want->length) &&
	       (length == 0 || memcmp(have.bytes, want->text, length) == 0);
}

/* Whether all lines of the diff have the same ending, LF or CRLF. */
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

/* Notes where each line begins. */
static void target_init(struct target *t, const char *old, size_t length)
{
	size_t room = length / LINE_GUESS_BYTES + 1;

	t->loose = is_uniform(t->file);
	t->old = old;
	t->starts = xmalloc((room + 1) * sizeof(*t->starts));
	for (size_t at = 0; at < length; at += line_at(old + at, length - at).size) {
		if (t->count == room)
			t->starts = xrealloc(t->starts, ((room *= 2) + 1) * sizeof(*t->starts));
		t->starts[t->count++] = (uint32_t)at;
	}
	t->starts[t->count] = (uint32_t)length;
}

/* Numbers the lines, for the search. */
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
		pattern->hopeless |= id == INTERNER_NONE;
		pattern->ids[pattern->count++] = id;
	}
}

/* Knuth, Morris, Pratt: next[i] is the length of the longest border of the first i + 1 lines. */
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

/* Where a pattern begins. */
struct spot {
	bool found;
	size_t at;
	bool twice; /* and, equally far away, at */
	size_t other;
};

static void note(struct spot *s, size_t start, size_t middle)
{
	size_t here = distance(start, middle), there = distance(s->at, middle);

	if (s->found && here > there)
		return;
	s->twice = s->found && here == there;
	s->other = s->at;
	s->found = true;
	s->at = start;
}

/* The place in [from, to] nearest to middle where the pattern begins. */
static struct spot nearest(const struct target *t, const struct pattern *pattern,
                           const size_t *next, size_t from, size_t to, size_t middle)
{
	struct spot spot = { .found = false };
	size_t k = 0;

	for (size_t i = from; i < to + pattern->count; i++) {
		if (i % PULSE_LINES == 0)
			pulse();
		while (k > 0 && pattern->ids[k] != t->ids[i])
			k = next[k - 1];
		if (pattern->ids[k] == t->ids[i])
			k++;
		if (k < pattern->count)
			continue;
		note(&spot, i + 1 - k, middle);
		k = next[k - 1];
	}
	return spot;
}

/* Whether the pattern also begins at any line other than `place`. */
static bool stands_elsewhere(const struct target *t, const struct pattern *pattern, size_t place,
                             size_t *ret)
{
	size_t *next = borders(pattern), high = t->count - pattern->count;
	struct spot spot = { .found = false };

	if (place > 0)
		spot = nearest(t, pattern, next, 0, place - 1, place);
	if (!spot.found && place < high)
		spot = nearest(t, pattern, next, place + 1, high, place);
	free(next);
	*ret = spot.at;
	return spot.found;
}

/* Searches growing surroundings, so that the cost grows with the distance, not with the file. */
static struct spot search(const struct target *t, const struct pattern *pattern, size_t middle)
{
	size_t high = t->count - pattern->count, reach = SEARCH_FIRST;
	size_t *next = borders(pattern);
	struct spot spot = { .found = false };
	bool whole = false;

	while (!spot.found && !whole) {
		size_t from = middle - t->done > reach ? middle - reach : t->done;
		size_t to = high - middle > reach ? middle + reach : high;

		spot = nearest(t, pattern, next, from, to, middle);
		whole = from == t->done && to == high;
		reach *= 2;
	}
	free(next);
	return spot;
}

/* Where the hunk should be, from 0, according to its header and the hunks before it. */
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

/* Whether the old side of the hunk matches at line `place`, which leaves room for it. */
static bool stands_at(const struct target *t, const struct diff_hunk *h, size_t place)
{
	for (size_t i = 0; i < h->line_count; i++)
		if (h->lines[i].kind != '+' && !is_line(t, &h->lines[i], old_line(t, place++)))
			return false;
	return true;
}

static bool is_ambiguous(struct target *t, size_t here, size_t there)
{
	t->ambiguous = true;
	t->here = here < there ? here : there;
	t->there = here < there ? there : here;
	return false;
}

/* Places a hunk that has no line to search for. */
static bool find_blind(struct target *t, size_t middle, int64_t expected)
{
	if (t->how.unique && t->count > 0)
		return is_ambiguous(t, 0, t->count);
	return (int64_t)middle == expected;
}

/* False: it fits nowhere, or t->ambiguous. */
static bool find_hunk(struct target *t, const struct diff_hunk *h, int64_t expected, size_t *ret)
{
	OWNED(pattern) struct pattern pattern = { .ids = NULL };
	struct spot spot = { .found = true };
	size_t other;

	if (h->old_count > t->count - t->done)
		return false;
	spot.at = *ret = clamp(expected, t->done, t->count - h->old_count);
	if (h->old_count == 0)
		return find_blind(t, *ret, expected);
	if (stands_at(t, h, *ret) && !t->how.unique)
		return true;
	number_lines(t);
	pattern_init(&pattern, t, h);
	if (pattern.hopeless)
		return false;
	spot = search(t, &pattern, *ret);
	*ret = spot.at;
	if (spot.found && spot.twice)
		return is_ambiguous(t, spot.at, spot.other);
	if (spot.found && t->how.unique && stands_elsewhere(t, &pattern, spot.at, &other))
		return is_ambiguous(t, spot.at, other);
	return spot.found;
}

/* "patch conflict: <path>: <why>". */
static int conflict(struct target *t, const char *why)
{
	OWNED(str) struct str path = { 0 };

	str_add_shown(&path, file_name(t->file), strlen(file_name(t->file)), SHOWN_BYTES);
	return err_set(t->e, ERR_INPUT, "patch conflict: %s: %s", str_text(&path), why);
}

/* Describes two lines that differ, or that look the same and differ in their newline. */
static void describe(struct str *text, const struct diff_line *want, const struct span *have)
{
	str_add(text, ": expected \"");
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

/* want may be NULL: no line was expected. */
static int conflict_at(struct target *t, size_t hunk, size_t line, const struct diff_line *want)
{
	struct span found = line < t->count ? old_line(t, line) : (struct span){ .bytes = NULL };
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "hunk %zu of %zu does not match at line %zu", hunk + 1, t->file->hunk_count,
	         line + 1);
	if (want)
		describe(&why, want, found.bytes ? &found : NULL);
	else
		str_addf(&why, ": the file has %zu lines and the hunk no context", t->count);
	return conflict(t, str_text(&why));
}

static int conflict_twice(struct target *t, size_t hunk)
{
	OWNED(str) struct str why = { 0 };

	str_addf(&why,
	         "hunk %zu of %zu fits at line %zu and at line %zu: give it its line number, or "
	         "more lines around it",
	         hunk + 1, t->file->hunk_count, t->here + 1, t->there + 1);
	return conflict(t, str_text(&why));
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
	return conflict(t, "hunks overlap or are out of order");
}

/* Appends to the result; false if text would follow a line without newline. */
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

/* Whether a line added at `line` should end in CRLF: as the line before it does, or else the
 * next. */
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

/* Whether the hunk's added lines are written as they are: because it matches byte for byte, or
 * because it has no context and the file's line endings are mixed. */
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
	OWNED(str) struct str text = { 0 };

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

/* The hunk without the context that patch(1) ignores at this fuzz: if one end has less context than
 * the other, the longer end loses its surplus first. */
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

/* Records where the hunk is: the first line that it changes. */
static void note_place(struct target *t, size_t hunk, int64_t moved)
{
	const struct diff_hunk *h = &t->file->hunks[hunk];
	size_t said = h->old_start + (h->old_count == 0);

	for (size_t i = 0; i < h->line_count && h->lines[i].kind == ' '; i++)
		said++;
	if (t->how.places)
		t->how.places[hunk] =
		    (struct diff_place){ .said = said, .found = (size_t)((int64_t)said + moved) };
}

/* Applies the hunk where it fits, with as little fuzz as possible; at least one of the lines that
 * located it must exist. 1 done, 0 it fits nowhere, -1. */
static int place_hunk(struct target *t, size_t hunk)
{
	const struct diff_hunk *h = &t->file->hunks[hunk];

	for (size_t fuzz = 0; fuzz <= t->how.fuzz && !t->ambiguous; fuzz++) {
		struct diff_hunk part = with_fuzz(h, fuzz);
		int64_t expected = expected_place(t, &part);
		size_t place = 0;

		if (fuzz > 0 && part.old_count == 0)
			break;
		if (!find_hunk(t, &part, expected, &place))
			continue;
		t->offset += (int64_t)place - expected;
		note_place(t, hunk, t->offset);
		return put_hunk(t, &part, place) ? 1 : -1;
	}
	return 0;
}

static int apply_hunk(struct target *t, size_t hunk)
{
	int placed = place_hunk(t, hunk);

	if (t->ambiguous)
		return conflict_twice(t, hunk);
	if (placed == 0)
		return conflict_hunk(t, hunk);
	if (placed < 0)
		return conflict(t, "the diff puts text behind a line without a newline");
	return 0;
}

/* Checks what the diff says about the whole file against whether the file exists. */
static int check_whole(struct target *t, const char *old, size_t length)
{
	bool expects = false;

	for (size_t i = 0; i < t->file->hunk_count; i++)
		expects |= t->file->hunks[i].old_count > 0;
	if (t->file->is_create && old && length > 0)
		return conflict(t, "the diff creates the file, but it exists");
	if (!old && (expects || t->file->is_delete))
		return conflict(t, "the file does not exist");
	return 0;
}

static int apply_hunks(struct target *t)
{
	for (size_t i = 0; i < t->file->hunk_count; i++)
		if (apply_hunk(t, i))
			return -1;
	if (!copy_until(t, t->count))
		return conflict(t, "the diff puts text behind a line without a newline");
	if (t->file->is_delete && t->file->hunk_count > 0 && t->result.length > 0)
		return conflict(t, "the diff deletes the file, but lines would remain");
	return 0;
}

int diff_apply(const struct diff_file *f, const char *old, size_t old_length,
               const struct diff_how *how, struct str *result, struct err *e)
{
	static const char NO_FIT[] =
	    "the diff does not fit the file, or fits in more than one place";
	OWNED(target) struct target t = { .file = f, .e = e };

	if (how)
		t.how = *how;

	if (check_whole(&t, old, old_length))
		return -1;
	if (old_length > UINT32_MAX)
		return conflict(&t, "the file is larger than 4 GiB");
	target_init(&t, old, old ? old_length : 0);
	(void)str_room(&t.result, t.starts[t.count]);
	if (apply_hunks(&t))
		return t.how.silent ? conflict(&t, NO_FIT) : -1;
	if (f->is_delete)
		str_reset(&t.result);
	str_move(result, &t.result);
	return 0;
}
