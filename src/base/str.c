#include "str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sysexits.h>

enum { PAGE_BYTES = 4096, LONG_TEXT_BYTES = 4 << 20 };

static void (*end_otherwise)(void);

void str_on_exhaustion(void (*end)(void))
{
	end_otherwise = end;
}

static void *or_die(void *memory)
{
	if (!memory) {
		if (end_otherwise)
			end_otherwise();
		(void)fputs("out of memory\n", stderr);
		_Exit(EX_TEMPFAIL);
	}
	return memory;
}

void *xmalloc(size_t size)
{
	return or_die(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *old, size_t size)
{
	return or_die(realloc(old, size ? size : 1));
}

void *xgrow(void *items, size_t count, size_t size)
{
	enum { FIRST = 16 };

	if (count && (count < FIRST || (count & (count - 1))))
		return items;
	return xrealloc(items, (count ? 2 * count : FIRST) * size);
}

char *xstrdup(const char *text)
{
	return or_die(strdup(text));
}

char *xstrdup_if(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void xreplace(char **to, const char *text)
{
	char *copy = xstrdup_if(text);

	free(*to);
	*to = copy;
}

const char *str_text(const struct str *s)
{
	return s->bytes ? s->bytes : "";
}

/* A long text is written from its beginning to its end: a fault for each of its pages takes longer
 * than what is written there. */
static void ask_for_huge_pages(char *bytes, size_t capacity)
{
	size_t into = (uintptr_t)bytes % PAGE_BYTES, before = into ? PAGE_BYTES - into : 0;

	if (capacity >= LONG_TEXT_BYTES)
		(void)madvise(bytes + before, (capacity - before) / PAGE_BYTES * PAGE_BYTES,
		              MADV_HUGEPAGE);
}

static void grow_to(struct str *s, size_t capacity)
{
	s->bytes = xrealloc(s->bytes, capacity);
	s->capacity = capacity;
	ask_for_huge_pages(s->bytes, capacity);
}

static void reserve(struct str *s, size_t more)
{
	size_t want = s->length + more + 1;

	if (want <= s->capacity)
		return;
	size_t capacity = s->capacity ? s->capacity : 64;
	while (capacity < want)
		capacity *= 2;
	grow_to(s, capacity);
}

char *str_room(struct str *s, size_t more)
{
	size_t want = s->length + more + 1;

	if (want > s->capacity && want < s->capacity * 2)
		reserve(s, more);
	else if (want > s->capacity)
		grow_to(s, want);
	s->bytes[s->length] = '\0';
	return s->bytes + s->length;
}

void str_add_bytes(struct str *s, const void *bytes, size_t length)
{
	reserve(s, length);
	if (length)
		memcpy(s->bytes + s->length, bytes, length);
	s->length += length;
	s->bytes[s->length] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_add_bytes(s, text, strlen(text));
}

void str_add_char(struct str *s, char c)
{
	str_add_bytes(s, &c, 1);
}

void str_addf(struct str *s, const char *format, ...)
{
	va_list args;
	int need;

	va_start(args, format);
	need = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (need < 0)
		return;
	reserve(s, (size_t)need);
	va_start(args, format);
	(void)vsnprintf(s->bytes + s->length, (size_t)need + 1, format, args);
	va_end(args);
	s->length += (size_t)need;
}

void str_reset(struct str *s)
{
	s->length = 0;
	if (s->bytes)
		s->bytes[0] = '\0';
}

void str_clear(struct str *s)
{
	free(s->bytes);
	*s = (struct str){ 0 };
}

void str_move(struct str *to, struct str *from)
{
	str_clear(to);
	*to = *from;
	*from = (struct str){ 0 };
}

char *str_take(struct str *s)
{
	char *bytes = s->bytes ? s->bytes : xstrdup("");

	*s = (struct str){ 0 };
	return bytes;
}

/* The length of the well-formed sequence at p, 0 if there is none. */
static size_t sequence(const uint8_t *p, size_t left)
{
	uint8_t low = 0x80, high = 0xBF;
	size_t more;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xC2 && p[0] <= 0xDF) {
		more = 1;
	} else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
		more = 2;
		if (p[0] == 0xE0)
			low = 0xA0;
		if (p[0] == 0xED)
			high = 0x9F;
	} else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
		more = 3;
		if (p[0] == 0xF0)
			low = 0x90;
		if (p[0] == 0xF4)
			high = 0x8F;
	} else {
		return 0;
	}
	if (left <= more || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i <= more; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return more + 1;
}

/* Most texts are mostly ASCII: eight bytes at a time. */
static bool is_ascii_8(const uint8_t *p)
{
	uint64_t all;

	memcpy(&all, p, sizeof(all));
	return !(all & 0x8080808080808080U);
}

bool utf8_valid(const void *bytes, size_t length)
{
	const uint8_t *p = bytes;

	while (length > 0) {
		size_t n = length >= 8 && is_ascii_8(p) ? 8 : sequence(p, length);

		if (n == 0)
			return false;
		p += n;
		length -= n;
	}
	return true;
}

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xC0) == 0x80;
}

size_t utf8_count(const char *bytes, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += !continues(bytes[i]);
	return count;
}

size_t utf8_cut(const char *bytes, size_t length, size_t most)
{
	if (length <= most)
		return length;
	while (most > 0 && continues(bytes[most]))
		most--;
	return most;
}

void char_ptr_clear(char **text)
{
	free(*text);
	*text = NULL;
}

/* The length of the printable character at bytes, 0 if it must be escaped. */
static size_t printable(const char *bytes, size_t left)
{
	unsigned char first = (unsigned char)bytes[0];

	if (first < 0x80)
		return first >= 0x20 && first != 0x7F ? 1 : 0;
	for (size_t n = 2; n <= 4 && n <= left; n++)
		if (utf8_valid(bytes, n))
			return n;
	return 0;
}

void str_add_shown(struct str *s, const char *bytes, size_t length, size_t most)
{
	size_t start = s->length, at = 0;

	while (at < length) {
		size_t n = printable(bytes + at, length - at);

		if (s->length - start > most) {
			str_add(s, "...");
			return;
		}
		if (n > 0)
			str_add_bytes(s, bytes + at, n);
		else if (bytes[at] == '\t' || bytes[at] == '\r')
			str_add(s, bytes[at] == '\t' ? "\\t" : "\\r");
		else
			str_addf(s, "\\x%02x", (unsigned char)bytes[at]);
		at += n > 0 ? n : 1;
	}
}

void str_add_shell_word(struct str *s, const char *word)
{
	static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789_@%+=:,./-";

	if (word[0] && strspn(word, PLAIN) == strlen(word)) {
		str_add(s, word);
		return;
	}
	str_add_char(s, '\'');
	for (; *word; word++)
		if (*word == '\'')
			str_add(s, "'\\''");
		else
			str_add_char(s, *word);
	str_add_char(s, '\'');
}
