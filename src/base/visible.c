#include "visible.h"

#include "err.h"

#include <string.h>

size_t visible_read(const char *bytes, size_t left, uint32_t *ret)
{
	static const uint8_t MASK[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	const uint8_t *b = (const uint8_t *)bytes;
	size_t n = b[0] < 0x80 ? 1 : b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : 4;

	*ret = VISIBLE_BAD;
	if (n > left || !utf8_valid(bytes, n))
		return 1;
	*ret = b[0] & MASK[n];
	for (size_t i = 1; i < n; i++)
		*ret = *ret << 6 | (b[i] & 0x3F);
	return n;
}

struct range {
	uint32_t first, last;
};

static bool is_in(uint32_t c, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* ---- invisible characters ---- */

/* The base of an emoji: a selector after it says how to draw it. */
static bool is_symbol(uint32_t c)
{
	static const struct range SYMBOLS[] = {
		{ '#', '#' },       { '*', '*' },       { '0', '9' },         { 0xA9, 0xA9 },
		{ 0xAE, 0xAE },     { 0x203C, 0x2049 }, { 0x2122, 0x27BF },   { 0x2900, 0x2BFF },
		{ 0x3030, 0x303D }, { 0x3297, 0x3299 }, { 0x1F000, 0x1FAFF },
	};

	return is_in(c, SYMBOLS, COUNT(SYMBOLS));
}

bool visible_hides(uint32_t c, uint32_t before)
{
	static const struct range HIDDEN[] = {
		{ 0x00, 0x1F },       { 0x7F, 0x9F },       { 0xAD, 0xAD },
		{ 0x034F, 0x034F },   { 0x061C, 0x061C },   { 0x115F, 0x1160 },
		{ 0x17B4, 0x17B5 },   { 0x180B, 0x180F },   { 0x200B, 0x200F },
		{ 0x2028, 0x202E },   { 0x2060, 0x206F },   { 0x2800, 0x2800 },
		{ 0x3164, 0x3164 },   { 0xFE00, 0xFE0F },   { 0xFEFF, 0xFEFF },
		{ 0xFFA0, 0xFFA0 },   { 0xFFF9, 0xFFFB },   { 0x1BCA0, 0x1BCA3 },
		{ 0x1D159, 0x1D159 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
	};

	if ((c == 0xFE0E || c == 0xFE0F) && is_symbol(before))
		return false;
	return is_in(c, HIDDEN, COUNT(HIDDEN));
}

static bool is_blank(uint32_t c)
{
	static const struct range BLANKS[] = {
		{ '\t', '\t' },     { ' ', ' ' },       { 0xA0, 0xA0 },     { 0x1680, 0x1680 },
		{ 0x2000, 0x200A }, { 0x202F, 0x202F }, { 0x205F, 0x205F }, { 0x3000, 0x3000 },
	};

	return is_in(c, BLANKS, COUNT(BLANKS));
}

size_t visible_blanks(const char *text, size_t left, size_t *ret_count)
{
	size_t at = 0, count = 0, n;
	uint32_t c;

	for (; at < left; at += n, count++) {
		n = visible_read(text + at, left - at, &c);
		if (!is_blank(c))
			break;
	}
	*ret_count = count;
	return count > VISIBLE_BLANKS_MAX ? at : 0;
}

/* ---- texts ---- */

void visible_add(struct str *out, const char *bytes, size_t length, bool lines)
{
	uint32_t c = 0, before;

	for (size_t at = 0, n; at < length; at += n) {
		size_t blanks;

		n = visible_blanks(bytes + at, length - at, &blanks);
		if (n > 0) {
			str_addf(out, "[%zu blanks]", blanks);
			c = ' ';
			continue;
		}
		before = c;
		n = visible_read(bytes + at, length - at, &c);
		if (c == VISIBLE_BAD)
			str_addf(out, "\\x{%02X}", (unsigned)(unsigned char)bytes[at]);
		else if (visible_hides(c, before) && !(lines && (c == '\n' || c == '\t')))
			str_addf(out, "\\u{%X}", c);
		else
			str_add_bytes(out, bytes + at, n);
	}
}

/* Whether only blanks are left, up to the end of the line. */
static bool ends_line(const char *bytes, size_t length)
{
	size_t at = 0;

	while (at < length && strchr(" \t\r", bytes[at]) && bytes[at])
		at++;
	return at == length || bytes[at] == '\n';
}

void visible_add_command(struct str *out, const char *bytes, size_t length)
{
	for (size_t at = 0, n; at < length; at += n) {
		size_t blanks;
		uint32_t c;

		n = visible_blanks(bytes + at, length - at, &blanks);
		if (n == 0) {
			n = visible_read(bytes + at, length - at, &c);
			if (is_blank(c) &&
			    ((c != ' ' && c != '\t') || ends_line(bytes + at, length - at))) {
				str_addf(out, "\\u{%X}", c);
				continue;
			}
		}
		str_add_bytes(out, bytes + at, n);
	}
}

void visible_add_name(struct str *out, const char *name)
{
	for (const char *at = name; *at; at++) {
		bool first = at == name || at[-1] == '/', last = at[1] == '\0' || at[1] == '/';

		if (*at == ' ' && (first || last))
			str_add(out, "\\u{20}");
		else
			str_add_char(out, *at);
	}
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	while (*text) {
		text += strcspn(text, "\n");
		lines++;
		text += *text == '\n';
	}
	return lines;
}

static size_t count_characters(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)text[i] & 0xC0) != 0x80;
	return count;
}

/* Appends as much of a line as fits; returns how many of its bytes that is. */
static size_t add_line(struct str *out, const char *line, size_t length, size_t most)
{
	size_t begin = out->length, at = 0;

	while (at < length) {
		OWNED(str) struct str piece = { 0 };
		size_t blanks, n = visible_blanks(line + at, length - at, &blanks);
		uint32_t c;

		if (n > 0) {
			str_addf(&piece, "[%zu blanks]", blanks);
		} else {
			n = visible_read(line + at, length - at, &c);
			str_add_bytes(&piece, line + at, n);
		}
		if (out->length - begin + piece.length > most)
			break;
		str_add_bytes(out, piece.bytes, piece.length);
		at += n;
	}
	return at;
}

void visible_add_first_line(struct str *out, const char *text, size_t most)
{
	size_t length, shown, lines;

	text += strspn(text, "\r\n");
	length = strcspn(text, "\n");
	lines = count_lines(text + length);
	length -= length > 0 && text[length - 1] == '\r' ? 1 : 0;
	shown = add_line(out, text, length, most);
	if (shown < length)
		str_addf(out, "… (+%zu characters)",
		         count_characters(text + shown, length - shown));
	if (lines > 1)
		str_addf(out, " (+%zu line%s)", lines - 1, lines == 2 ? "" : "s");
}
