#include "tail.h"

#include "err.h"
#include "visible.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SECRET_BYTES = 24, ESCAPE = 0x1b, BELL = 0x07 };

static size_t kept(const struct tail *t)
{
	return t->kept ? t->kept : TAIL_KEPT_BYTES;
}

/* Byte n of all is at n % kept. */
void tail_add(struct tail *t, const char *bytes, size_t length)
{
	size_t size = kept(t), skip = length > size ? length - size : 0, at, first;

	if (!length)
		return;
	if (!t->ring)
		t->ring = xmalloc(size);
	bytes += skip;
	t->total += skip;
	length -= skip;
	at = t->total % size;
	first = length < size - at ? length : size - at;
	memcpy(t->ring + at, bytes, first);
	memcpy(t->ring, bytes + first, length - first);
	t->total += length;
}

void tail_raw(const struct tail *t, struct str *out)
{
	bool whole = t->total <= kept(t);
	size_t at = whole ? 0 : t->total % kept(t);

	if (!whole)
		str_add_bytes(out, t->ring + at, kept(t) - at);
	if (t->ring)
		str_add_bytes(out, t->ring, whole ? t->total : at);
}

/* ---- terminal sequences ---- */

/* The bytes of the sequence at text, which begins with ESC: ESC [ … final, ESC ] … BEL or ESC \, or
 * ESC and one more byte. */
static size_t sequence(const char *text, size_t left)
{
	size_t n = 2;

	if (left < 2)
		return left;
	if (text[1] == '[') {
		while (n < left && (unsigned char)text[n] < 0x40)
			n++;
		return n < left ? n + 1 : left;
	}
	if (text[1] != ']')
		return 2;
	while (n < left && text[n] != BELL && text[n] != ESCAPE)
		n++;
	if (n < left && text[n] == ESCAPE)
		n++;
	return n < left ? n + 1 : left;
}

/* Without sequences; a lone carriage return starts a new line, as in progress bars. */
static void strip(struct str *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		if (text[i] == ESCAPE) {
			i += sequence(text + i, length - i);
		} else {
			bool ends_line = text[i] == '\r' && i + 1 < length && text[i + 1] == '\n';

			if (!ends_line)
				str_add_char(out, text[i] == '\r' ? '\n' : text[i]);
			i++;
		}
	}
}

/* ---- secrets ---- */

static const char *const PREFIXES[] = {
	"sk-",   "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox",
	"xapp-", "AKIA", "AIza", "eyJ",  "npm_", "hf_",         "pypi-",  "ict_",
};

static const char *const NAMES[] = {
	"token", "secret", "password", "passwd", "api_key", "apikey", "api-key", "authorization",
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-+/.~%", c));
}

/* Long, with capitals, small letters and digits, and not a path: generated. */
static bool is_random(const char *word, size_t length)
{
	bool upper = false, lower = false, digit = false;

	for (size_t i = 0; i < length; i++) {
		upper = upper || isupper((unsigned char)word[i]);
		lower = lower || islower((unsigned char)word[i]);
		digit = digit || isdigit((unsigned char)word[i]);
		if (word[i] == '/')
			return false;
	}
	return length >= SECRET_BYTES && upper && lower && digit;
}

static bool is_secret(const char *word, size_t length)
{
	for (size_t i = 0; i < COUNT(PREFIXES); i++) {
		size_t n = strlen(PREFIXES[i]);

		if (length >= n + 8 && strncmp(word, PREFIXES[i], n) == 0)
			return true;
	}
	return is_random(word, length);
}

static bool is_bearer(const char *word, size_t length)
{
	return length == 6 && strncasecmp(word, "bearer", length) == 0;
}

/* Whether a word is, or ends with, the name of a secret. */
static bool is_name(const char *word, size_t length)
{
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		size_t n = strlen(NAMES[i]);

		if (length >= n && strncasecmp(word + length - n, NAMES[i], n) == 0)
			return true;
	}
	return false;
}

/* Whether this word introduces a secret: "api_key=…", "Authorization: Bearer …". */
static bool announces(const char *word, size_t length)
{
	const char *rest = word + length;
	size_t gap = strspn(rest, ":=\"' ");

	return is_bearer(word, length) ||
	       (is_name(word, length) && (memchr(rest, ':', gap) || memchr(rest, '=', gap)));
}

static void redact(struct str *out, const char *line, size_t length)
{
	bool announced = false;

	for (size_t i = 0; i < length;) {
		size_t n = 0;

		while (i + n < length && is_word(line[i + n]))
			n++;
		if (!n) {
			str_add_char(out, line[i++]);
			continue;
		}
		if (is_secret(line + i, n) || (announced && !is_bearer(line + i, n)))
			str_add(out, "[redacted]");
		else
			str_add_bytes(out, line + i, n);
		announced = announces(line + i, n);
		i += n;
	}
}

/* ---- lines ---- */

static void add_cut(struct str *out, const char *line, size_t length, size_t most)
{
	OWNED(str) struct str clean = { 0 };

	redact(&clean, line, length);
	bool cut = clean.length > most;
	size_t n = cut ? most : clean.length;

	while (cut && n > 0 && ((unsigned char)clean.bytes[n] & 0xC0U) == 0x80U)
		n--;
	visible_add(out, str_text(&clean), n, true);
	if (cut)
		str_add(out, "…");
}

static void add_line(struct str *out, const char *line, size_t length)
{
	if (out->length)
		str_add_char(out, '\n');
	add_cut(out, line, length, TAIL_LINE_BYTES);
}

void tail_add_clean(struct str *out, const char *bytes, size_t length, size_t most)
{
	OWNED(str) struct str text = { 0 };

	strip(&text, bytes, length);
	for (size_t at = 0; at < text.length;) {
		const char *line = text.bytes + at;
		const char *end = memchr(line, '\n', text.length - at);
		size_t n = end ? (size_t)(end - line) : text.length - at;

		add_cut(out, line, n, most);
		if (end)
			str_add_char(out, '\n');
		at += n + 1;
	}
}

/* Where the last non-empty lines begin. */
static size_t last_lines(const char *text, size_t length)
{
	size_t at = length;
	int lines = 0;

	while (at > 0 && lines < TAIL_LINES) {
		size_t end = at;

		while (at > 0 && text[at - 1] != '\n')
			at--;
		lines += end > at;
		if (lines < TAIL_LINES && at > 0)
			at--;
	}
	return at;
}

void tail_text(const struct tail *t, struct str *out)
{
	OWNED(str) struct str raw = { 0 }, text = { 0 }, lines = { 0 };
	size_t at;

	tail_raw(t, &raw);
	strip(&text, str_text(&raw), raw.length);
	at = last_lines(str_text(&text), text.length);
	while (at < text.length) {
		const char *line = text.bytes + at;
		const char *end = memchr(line, '\n', text.length - at);
		size_t length = end ? (size_t)(end - line) : text.length - at;

		if (length)
			add_line(&lines, line, length);
		at += length + 1;
	}
	str_add_bytes(out, str_text(&lines), lines.length);
}

void tail_clear(struct tail *t)
{
	free(t->ring);
	*t = (struct tail){ .kept = t->kept };
}
