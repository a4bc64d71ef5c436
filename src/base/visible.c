#include "visible.h"

#include "err.h"

#include <string.h>

enum { KEYCAP = 0x20E3 }; /* drawn around the character before it */

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

bool visible_is_in(uint32_t c, const struct visible_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* ---- invisible characters ---- */

/* Whether c has the property Emoji of Unicode 14, so that a selector after it says how to draw it.
 * What is an emoji only together with others is not listed: digits, # and *, letters of flags,
 * tones of skin. */
static bool is_emoji(uint32_t c)
{
	static const struct visible_range EMOJI[] = {
		{ 0xA9, 0xA9 },       { 0xAE, 0xAE },       { 0x203C, 0x203C },
		{ 0x2049, 0x2049 },   { 0x2122, 0x2122 },   { 0x2139, 0x2139 },
		{ 0x2194, 0x2199 },   { 0x21A9, 0x21AA },   { 0x231A, 0x231B },
		{ 0x2328, 0x2328 },   { 0x23CF, 0x23CF },   { 0x23E9, 0x23F3 },
		{ 0x23F8, 0x23FA },   { 0x24C2, 0x24C2 },   { 0x25AA, 0x25AB },
		{ 0x25B6, 0x25B6 },   { 0x25C0, 0x25C0 },   { 0x25FB, 0x25FE },
		{ 0x2600, 0x2604 },   { 0x260E, 0x260E },   { 0x2611, 0x2611 },
		{ 0x2614, 0x2615 },   { 0x2618, 0x2618 },   { 0x261D, 0x261D },
		{ 0x2620, 0x2620 },   { 0x2622, 0x2623 },   { 0x2626, 0x2626 },
		{ 0x262A, 0x262A },   { 0x262E, 0x262F },   { 0x2638, 0x263A },
		{ 0x2640, 0x2640 },   { 0x2642, 0x2642 },   { 0x2648, 0x2653 },
		{ 0x265F, 0x2660 },   { 0x2663, 0x2663 },   { 0x2665, 0x2666 },
		{ 0x2668, 0x2668 },   { 0x267B, 0x267B },   { 0x267E, 0x267F },
		{ 0x2692, 0x2697 },   { 0x2699, 0x2699 },   { 0x269B, 0x269C },
		{ 0x26A0, 0x26A1 },   { 0x26A7, 0x26A7 },   { 0x26AA, 0x26AB },
		{ 0x26B0, 0x26B1 },   { 0x26BD, 0x26BE },   { 0x26C4, 0x26C5 },
		{ 0x26C8, 0x26C8 },   { 0x26CE, 0x26CF },   { 0x26D1, 0x26D1 },
		{ 0x26D3, 0x26D4 },   { 0x26E9, 0x26EA },   { 0x26F0, 0x26F5 },
		{ 0x26F7, 0x26FA },   { 0x26FD, 0x26FD },   { 0x2702, 0x2702 },
		{ 0x2705, 0x2705 },   { 0x2708, 0x270D },   { 0x270F, 0x270F },
		{ 0x2712, 0x2712 },   { 0x2714, 0x2714 },   { 0x2716, 0x2716 },
		{ 0x271D, 0x271D },   { 0x2721, 0x2721 },   { 0x2728, 0x2728 },
		{ 0x2733, 0x2734 },   { 0x2744, 0x2744 },   { 0x2747, 0x2747 },
		{ 0x274C, 0x274C },   { 0x274E, 0x274E },   { 0x2753, 0x2755 },
		{ 0x2757, 0x2757 },   { 0x2763, 0x2764 },   { 0x2795, 0x2797 },
		{ 0x27A1, 0x27A1 },   { 0x27B0, 0x27B0 },   { 0x27BF, 0x27BF },
		{ 0x2934, 0x2935 },   { 0x2B05, 0x2B07 },   { 0x2B1B, 0x2B1C },
		{ 0x2B50, 0x2B50 },   { 0x2B55, 0x2B55 },   { 0x3030, 0x3030 },
		{ 0x303D, 0x303D },   { 0x3297, 0x3297 },   { 0x3299, 0x3299 },
		{ 0x1F004, 0x1F004 }, { 0x1F0CF, 0x1F0CF }, { 0x1F170, 0x1F171 },
		{ 0x1F17E, 0x1F17F }, { 0x1F18E, 0x1F18E }, { 0x1F191, 0x1F19A },
		{ 0x1F201, 0x1F202 }, { 0x1F21A, 0x1F21A }, { 0x1F22F, 0x1F22F },
		{ 0x1F232, 0x1F23A }, { 0x1F250, 0x1F251 }, { 0x1F300, 0x1F321 },
		{ 0x1F324, 0x1F393 }, { 0x1F396, 0x1F397 }, { 0x1F399, 0x1F39B },
		{ 0x1F39E, 0x1F3F0 }, { 0x1F3F3, 0x1F3F5 }, { 0x1F3F7, 0x1F3FA },
		{ 0x1F400, 0x1F4FD }, { 0x1F4FF, 0x1F53D }, { 0x1F549, 0x1F54E },
		{ 0x1F550, 0x1F567 }, { 0x1F56F, 0x1F570 }, { 0x1F573, 0x1F57A },
		{ 0x1F587, 0x1F587 }, { 0x1F58A, 0x1F58D }, { 0x1F590, 0x1F590 },
		{ 0x1F595, 0x1F596 }, { 0x1F5A4, 0x1F5A5 }, { 0x1F5A8, 0x1F5A8 },
		{ 0x1F5B1, 0x1F5B2 }, { 0x1F5BC, 0x1F5BC }, { 0x1F5C2, 0x1F5C4 },
		{ 0x1F5D1, 0x1F5D3 }, { 0x1F5DC, 0x1F5DE }, { 0x1F5E1, 0x1F5E1 },
		{ 0x1F5E3, 0x1F5E3 }, { 0x1F5E8, 0x1F5E8 }, { 0x1F5EF, 0x1F5EF },
		{ 0x1F5F3, 0x1F5F3 }, { 0x1F5FA, 0x1F64F }, { 0x1F680, 0x1F6C5 },
		{ 0x1F6CB, 0x1F6D2 }, { 0x1F6D5, 0x1F6D7 }, { 0x1F6DD, 0x1F6E5 },
		{ 0x1F6E9, 0x1F6E9 }, { 0x1F6EB, 0x1F6EC }, { 0x1F6F0, 0x1F6F0 },
		{ 0x1F6F3, 0x1F6FC }, { 0x1F7E0, 0x1F7EB }, { 0x1F7F0, 0x1F7F0 },
		{ 0x1F90C, 0x1F93A }, { 0x1F93C, 0x1F945 }, { 0x1F947, 0x1F9FF },
		{ 0x1FA70, 0x1FA74 }, { 0x1FA78, 0x1FA7C }, { 0x1FA80, 0x1FA86 },
		{ 0x1FA90, 0x1FAAC }, { 0x1FAB0, 0x1FABA }, { 0x1FAC0, 0x1FAC5 },
		{ 0x1FAD0, 0x1FAD9 }, { 0x1FAE0, 0x1FAE7 }, { 0x1FAF0, 0x1FAF6 },
	};

	return visible_is_in(c, EMOJI, COUNT(EMOJI));
}

static bool is_key(uint32_t c)
{
	return (c >= '0' && c <= '9') || c == '#' || c == '*';
}

/* Whether a selector is part of an emoji. */
static bool draws(uint32_t before, const char *after, size_t left)
{
	uint32_t next = 0;

	if (!is_key(before))
		return is_emoji(before);
	if (left > 0)
		(void)visible_read(after, left, &next);
	return next == KEYCAP;
}

bool visible_hides(uint32_t c, uint32_t before, const char *after, size_t left)
{
	static const struct visible_range HIDDEN[] = {
		{ 0x00, 0x1F },       { 0x7F, 0x9F },       { 0xAD, 0xAD },
		{ 0x034F, 0x034F },   { 0x061C, 0x061C },   { 0x115F, 0x1160 },
		{ 0x17B4, 0x17B5 },   { 0x180B, 0x180F },   { 0x200B, 0x200F },
		{ 0x2028, 0x202E },   { 0x2060, 0x206F },   { 0x2800, 0x2800 },
		{ 0x3164, 0x3164 },   { 0xFE00, 0xFE0F },   { 0xFEFF, 0xFEFF },
		{ 0xFFA0, 0xFFA0 },   { 0xFFF9, 0xFFFB },   { 0x1BCA0, 0x1BCA3 },
		{ 0x1D159, 0x1D159 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
	};

	if ((c == 0xFE0E || c == 0xFE0F) && draws(before, after, left))
		return false;
	return visible_is_in(c, HIDDEN, COUNT(HIDDEN));
}

static bool is_blank(uint32_t c)
{
	static const struct visible_range BLANKS[] = {
		{ '\t', '\t' },     { ' ', ' ' },       { 0xA0, 0xA0 },     { 0x1680, 0x1680 },
		{ 0x2000, 0x200A }, { 0x202F, 0x202F }, { 0x205F, 0x205F }, { 0x3000, 0x3000 },
	};

	return visible_is_in(c, BLANKS, COUNT(BLANKS));
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
		else if (visible_hides(c, before, bytes + at + n, length - at - n) &&
		         !(lines && (c == '\n' || c == '\t')))
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

/* Whether the name could be taken for more than a name, with what we say beside names. */
static bool is_like_words(const char *name)
{
	static const char *const WORDS[] = { " (", " to ", " from ", " → ", ", ", "; ", "\\u{" };

	for (size_t i = 0; i < COUNT(WORDS); i++)
		if (strstr(name, WORDS[i]))
			return true;
	return *name == '"';
}

static void add_quoted(struct str *out, const char *name)
{
	str_add_char(out, '"');
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			str_add_char(out, '\\');
		str_add_char(out, *name);
	}
	str_add_char(out, '"');
}

void visible_add_name(struct str *out, const char *name)
{
	if (is_like_words(name)) {
		add_quoted(out, name);
		return;
	}
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
		str_addf(out, "… (+%zu characters)", utf8_count(text + shown, length - shown));
	if (lines > 1)
		str_addf(out, " (+%zu line%s)", lines - 1, lines == 2 ? "" : "s");
}
