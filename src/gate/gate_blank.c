#include "gate_blank.h"

#include <stdint.h>

/* The code point at text and its bytes; of a broken one, its first byte. */
static uint32_t decode(const char *text, size_t length, size_t *ret_bytes)
{
	const unsigned char *b = (const unsigned char *)text;

	if (length >= 2 && b[0] >= 0xc2 && b[0] < 0xe0) {
		*ret_bytes = 2;
		return (uint32_t)(b[0] & 0x1f) << 6 | (uint32_t)(b[1] & 0x3f);
	}
	if (length >= 3 && b[0] >= 0xe0 && b[0] < 0xf0) {
		*ret_bytes = 3;
		return (uint32_t)(b[0] & 0xf) << 12 | (uint32_t)(b[1] & 0x3f) << 6 |
		       (uint32_t)(b[2] & 0x3f);
	}
	*ret_bytes = 1;
	return b[0];
}

static bool is_blank(uint32_t c)
{
	return (c >= 0x9 && c <= 0xd) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
	       c == 0x205f || c == 0x3000;
}

size_t gate_blank_start(const char *text, size_t length)
{
	size_t at = 0, bytes;

	while (at < length) {
		uint32_t c = decode(text + at, length - at, &bytes);

		if (!is_blank(c) || (bytes == 1 && c >= 0x80))
			break;
		at += bytes;
	}
	return at;
}

size_t gate_blank_end(const char *text, size_t length)
{
	while (length > 0) {
		size_t start = length - 1, bytes;
		uint32_t c;

		while (start > 0 && length - start < 4 &&
		       ((unsigned char)text[start] & 0xc0) == 0x80)
			start--;
		c = decode(text + start, length - start, &bytes);
		if (bytes != length - start || !is_blank(c) || (bytes == 1 && c >= 0x80))
			break;
		length = start;
	}
	return length;
}

static uint32_t as_ascii(uint32_t c)
{
	if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212)
		return '-';
	if (c >= 0x2018 && c <= 0x201b)
		return '\'';
	if (c >= 0x201c && c <= 0x201f)
		return '"';
	if (c == 0xa0 || (c >= 0x2002 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000)
		return ' ';
	return c;
}

bool gate_blank_same_ascii(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t i = 0, j = 0, i_bytes, j_bytes;

	while (i < a_length && j < b_length) {
		if (as_ascii(decode(a + i, a_length - i, &i_bytes)) !=
		    as_ascii(decode(b + j, b_length - j, &j_bytes)))
			return false;
		i += i_bytes;
		j += j_bytes;
	}
	return i == a_length && j == b_length;
}
