#include "gate_blank.h"

#include "visible.h"

static bool is_blank(uint32_t c)
{
	return (c >= 0x9 && c <= 0xd) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
	       c == 0x205f || c == 0x3000;
}

size_t gate_blank_start(const char *text, size_t length)
{
	size_t at = 0;

	while (at < length) {
		uint32_t c;
		size_t bytes = visible_read(text + at, length - at, &c);

		if (!is_blank(c))
			break;
		at += bytes;
	}
	return at;
}

size_t gate_blank_end(const char *text, size_t length)
{
	while (length > 0) {
		size_t start = length - 1;
		uint32_t c;

		while (start > 0 && length - start < 4 &&
		       ((unsigned char)text[start] & 0xc0) == 0x80)
			start--;
		if (visible_read(text + start, length - start, &c) != length - start ||
		    !is_blank(c))
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
	size_t i = 0, j = 0;

	while (i < a_length && j < b_length) {
		uint32_t c, d;

		i += visible_read(a + i, a_length - i, &c);
		j += visible_read(b + j, b_length - j, &d);
		if (as_ascii(c) != as_ascii(d))
			return false;
	}
	return i == a_length && j == b_length;
}
