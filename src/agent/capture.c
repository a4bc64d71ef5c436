#include "capture.h"

#include "err.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_LINES = 10,
	SHOWN_LINE_BYTES = 300, /* of a line in a message; the whole text has all of it */
	FIRST_BYTES = CAPTURE_CHARACTERS / 3, /* of the lines shown, those of the beginning */
};

static size_t half(const struct capture *x)
{
	return x->limit / 2 > 0 ? x->limit / 2 : 1;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ---- keeping ---- */

static void count_lines(struct capture *x, const char *bytes, size_t length)
{
	const char *at = bytes, *end = bytes + length;

	while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		x->lines++;
		at++;
	}
	x->last = bytes[length - 1];
}

void capture_add(struct capture *x, const char *bytes, size_t length)
{
	size_t room = (size_t)x->total < half(x) ? half(x) - (size_t)x->total : 0;
	size_t first = least(room, length);

	if (!length)
		return;
	if (!x->head) {
		x->head = xmalloc(half(x));
		x->rest.kept = half(x);
	}
	count_lines(x, bytes, length);
	memcpy(x->head + (half(x) - room), bytes, first);
	tail_add(&x->rest, bytes + first, length - first);
	x->total += (int64_t)length;
}

void capture_clear(struct capture *x)
{
	free(x->head);
	tail_clear(&x->rest);
	*x = (struct capture){ .limit = x->limit };
}

/* ---- reading ---- */

int64_t capture_cut(const struct capture *x)
{
	int64_t kept = (int64_t)(2 * half(x));

	return x->total > kept ? x->total - kept : 0;
}

/* The two parts, cleaned; where nothing was cut, the first has all of it. A character or a line
 * that was cut begins the second part and ends the first: both lines are dropped from the second
 * on. */
static void read_parts(const struct capture *x, size_t line_bytes, struct str *first,
                       struct str *second)
{
	OWNED(str) struct str raw = { 0 };

	if (!x->head)
		return;
	str_add_bytes(&raw, x->head, least((size_t)x->total, half(x)));
	if (capture_cut(x)) {
		tail_add_clean(first, str_text(&raw), raw.length, line_bytes);
		str_reset(&raw);
	}
	tail_raw(&x->rest, &raw);
	tail_add_clean(capture_cut(x) ? second : first, str_text(&raw), raw.length, line_bytes);
}

void capture_text(const struct capture *x, struct str *out)
{
	OWNED(str) struct str first = { 0 }, second = { 0 };

	read_parts(x, SIZE_MAX, &first, &second);
	str_add_bytes(out, str_text(&first), first.length);
	if (!capture_cut(x))
		return;
	str_addf(out, "%s… %lld bytes are missing here …\n",
	         first.length && first.bytes[first.length - 1] == '\n' ? "" : "\n",
	         (long long)capture_cut(x));
	str_add_bytes(out, str_text(&second), second.length);
}

/* The length of the first lines that fit. */
static size_t first_lines(const char *text, size_t length, int lines, size_t bytes)
{
	size_t n = 0;

	for (int i = 0; i < lines && n < length; i++) {
		const char *end = memchr(text + n, '\n', length - n);
		size_t next = end ? (size_t)(end - text) + 1 : length;

		if (next > bytes)
			break;
		n = next;
	}
	return n;
}

/* Where the last lines begin that fit, not before `from`. */
static size_t last_lines(const char *text, size_t length, size_t from, size_t lines, size_t bytes)
{
	size_t at = length;

	for (size_t i = 0; i < lines && at > from; i++) {
		size_t line = at - 1;

		while (line > from && text[line - 1] != '\n')
			line--;
		if (length - line > bytes)
			break;
		at = line;
	}
	return at;
}

static int64_t count(const char *text, size_t length)
{
	int64_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += text[i] == '\n';
	return n + (length > 0 && text[length - 1] != '\n');
}

bool capture_show(const struct capture *x, struct str *out)
{
	OWNED(str) struct str first = { 0 }, second = { 0 }, whole = { 0 };
	int64_t lines = x->lines + (x->total > 0 && x->last != '\n'), shown;
	size_t head, from, tail;

	read_parts(x, SHOWN_LINE_BYTES, &first, &second);
	if (!capture_cut(x) && count(str_text(&first), first.length) <= CAPTURE_LINES &&
	    first.length <= CAPTURE_CHARACTERS) {
		str_add_bytes(out, str_text(&first), first.length);
		capture_text(x, &whole);
		return whole.length == first.length;
	}
	head = first_lines(str_text(&first), first.length, FIRST_LINES, FIRST_BYTES);
	const struct str *end = capture_cut(x) ? &second : &first;
	from = capture_cut(x) ? 0 : head;
	tail = last_lines(str_text(end), end->length, from, CAPTURE_LINES - FIRST_LINES,
	                  CAPTURE_CHARACTERS - head);
	shown = count(str_text(&first), head) + count(str_text(end) + tail, end->length - tail);
	str_add_bytes(out, str_text(&first), head);
	str_addf(out, "… %lld lines …\n", (long long)(lines > shown ? lines - shown : 0));
	str_add_bytes(out, str_text(end) + tail, end->length - tail);
	return false;
}
