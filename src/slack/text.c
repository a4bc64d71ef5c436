#include "text.h"

#include "clock.h"
#include "err.h"
#include "visible.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	REPLACEMENT = 0xFFFD,
	CLUSTER_UNITS = 64, /* a longer pile of combining marks is cut like other text */
	PIECE_BYTES = 32,
};

static const char MARK[] = "…", PERSON[] = "slack:";

/* Reads the character at p: its length; 1 with U+FFFD for a byte that begins none. */
static size_t decode(const unsigned char *p, size_t left, uint32_t *ret)
{
	size_t n = visible_read((const char *)p, left, ret);

	if (*ret == VISIBLE_BAD)
		*ret = REPLACEMENT;
	return n;
}

/* Whether c belongs to the character before it. */
static bool extends(uint32_t c)
{
	static const struct visible_range EXTENDING[] = {
		{ 0x0300, 0x036F }, { 0x0483, 0x0489 },   { 0x0591, 0x05BD }, { 0x064B, 0x065F },
		{ 0x0900, 0x0903 }, { 0x093A, 0x094F },   { 0x0E31, 0x0E3A }, { 0x0E47, 0x0E4E },
		{ 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF },   { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F },
		{ 0xFE20, 0xFE2F }, { 0x1F3FB, 0x1F3FF },
	};

	return visible_is_in(c, EXTENDING, COUNT(EXTENDING));
}

static size_t units_of(uint32_t c)
{
	return c > 0xFFFF ? 2 : 1;
}

static bool is_in_word(uint32_t c)
{
	return c < 0x80 && isalnum((int)c);
}

/* What stands for a character that would format mrkdwn, begin a line or pass for a sign between our
 * words; NULL: it does none of that, as within a word. */
static const char *literal_of(uint32_t c, uint32_t before, uint32_t after)
{
	bool in_word = is_in_word(before) && is_in_word(after);

	switch (c) {
	case '\n':
		return " ";
	case '`':
		return "'";
	case '*':
		return in_word ? NULL : "∗";
	case '_':
		return in_word ? NULL : "ˍ";
	case '~':
		return in_word ? NULL : "∼";
	case '>':
		return before ? NULL : "›";
	case 0xB7:
		return "-";
	default:
		return NULL;
	}
}

/* The output form of a character: into piece, and its units. */
static size_t write_piece(uint32_t c, uint32_t before, const unsigned char *p, size_t n,
                          size_t left, enum slack_escaping how, char piece[PIECE_BYTES])
{
	const char *literal =
	    how & SLACK_LITERAL ? literal_of(c, before, left > n ? p[n] : 0) : NULL;
	const char *entity = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;

	if (literal) {
		(void)snprintf(piece, PIECE_BYTES, "%s", literal);
		return 1;
	}
	if ((how & SLACK_MRKDWN) && entity)
		return (size_t)snprintf(piece, PIECE_BYTES, "%s", entity);
	if (c != '\n' && c != '\t' && visible_hides(c, before, (const char *)p + n, left - n))
		return (size_t)snprintf(piece, PIECE_BYTES, "\\u{%X}", c);
	if (c == REPLACEMENT) {
		(void)snprintf(piece, PIECE_BYTES, "\xEF\xBF\xBD");
	} else {
		memcpy(piece, p, n); /* of each character: printf is ten times as slow */
		piece[n] = '\0';
	}
	return units_of(c);
}

bool slack_add(struct str *out, const char *bytes, size_t length, size_t units,
               enum slack_escaping how)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t used = 0, safe = out->length, safe_units = 0; /* where it may be cut */
	uint32_t c = 0;

	for (size_t at = 0, n; at < length; at += n) {
		char piece[PIECE_BYTES];
		size_t wide, blanks;
		uint32_t before = c;

		n = decode(p + at, length - at, &c);
		if (c == 0 ||
		    (c == '\r' && !(how & SLACK_EXACT) && at + 1 < length && p[at + 1] == '\n'))
			continue;
		wide = visible_blanks(bytes + at, length - at, &blanks);
		if (wide > 0) {
			n = wide;
			wide = (size_t)snprintf(piece, PIECE_BYTES, "[%zu blanks]", blanks);
		} else {
			wide = write_piece(c, before, p + at, n, length - at, how, piece);
		}
		if ((!extends(c) || used - safe_units > CLUSTER_UNITS) && used + 1 <= units) {
			safe = out->length;
			safe_units = used;
		}
		if (used + wide > units) {
			out->length = safe;
			if (out->bytes)
				out->bytes[safe] = '\0';
			if (units > 0)
				str_add(out, MARK);
			return false;
		}
		str_add(out, piece);
		used += wide;
	}
	return true;
}

/* Bytes of an id in capitals and digits at text; 0: none. */
static size_t id_bytes(const char *text)
{
	return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
}

/* The user's id in one of our names of people at text, and how long the name is; NULL: none. */
static const char *person_at(const char *text, size_t *ret_length)
{
	size_t team, user;

	if (strncmp(text, PERSON, sizeof(PERSON) - 1) != 0)
		return NULL;
	team = id_bytes(text + sizeof(PERSON) - 1);
	text += sizeof(PERSON) - 1 + team;
	if (*text != ':' || (text[1] != 'U' && text[1] != 'W'))
		return NULL;
	user = id_bytes(++text);
	*ret_length = sizeof(PERSON) + team + user;
	return text;
}

/* ---- quotes: what we quote stays as somebody said it ---- */

static const char OPENS[] = "“", CLOSES[] = "”";
enum { MARK_BYTES = sizeof(OPENS) - 1 };

struct quote {
	size_t begin, end; /* in its line */
	bool inside; /* the line begins in a quote of an earlier one */
};

/* How often mark is in the line; first and last: where. */
static int count_marks(const char *line, size_t length, const char *mark, size_t *ret_first,
                       size_t *ret_last)
{
	const char *at = memmem(line, length, mark, MARK_BYTES);
	int count = 0;

	for (; at; at = memmem(at + 1, length - (size_t)(at + 1 - line), mark, MARK_BYTES)) {
		*ret_last = (size_t)(at - line);
		if (count++ == 0)
			*ret_first = *ret_last;
	}
	return count;
}

/* A quote reaches from the first mark of a line to the last one, since a quoted text may quote; or
 * on to a later line, if more was opened than closed and a mark is left there. */
static void find_quote(const char *line, size_t length, struct quote *q)
{
	size_t open = length, close = 0, other = 0;
	int opened = count_marks(line, length, OPENS, &open, &other);
	int closed = count_marks(line, length, CLOSES, &other, &close);
	bool goes_on =
	    q->inside + opened > closed && (closed == 0 || strstr(line + length, CLOSES));

	q->begin = q->inside ? 0 : open;
	q->end = goes_on ? length : closed ? close + MARK_BYTES : 0;
	q->inside = goes_on;
}

/* A section of a longer text may contain the end of a quote only. */
static bool begins_inside(const char *text)
{
	const char *open = strstr(text, OPENS), *close = strstr(text, CLOSES);

	return close && (!open || close < open);
}

/* Replaces the names and instants in text by what replace makes of them; 0: neither. */
static void rewrite(struct str *text,
                    size_t (*replace)(struct str *out, const char *at, const void *arg),
                    const void *arg)
{
	OWNED(str) struct str out = { 0 };
	const char *line = str_text(text);
	struct quote q = { .inside = begins_inside(line) };

	for (size_t length; *line; line += length) {
		length = strcspn(line, "\n");
		length += line[length] == '\n';
		find_quote(line, length, &q);
		for (size_t at = 0, done; at < length; at += done) {
			bool quoted = at >= q.begin && at < q.end;

			done = quoted ? 0 : replace(&out, line + at, arg);
			if (done == 0) {
				str_add_char(&out, line[at]);
				done = 1;
			}
		}
	}
	str_reset(text);
	str_add(text, str_text(&out));
}

static size_t name_person(struct str *out, const char *at, const void *arg)
{
	size_t length;
	const char *user = person_at(at, &length);

	(void)arg;
	if (!user)
		return 0;
	str_addf(out, "<@%.*s>", (int)(length - (size_t)(user - at)), user);
	return length;
}

void slack_name_people(struct str *text)
{
	rewrite(text, name_person, NULL);
}

/* The instant at text in unix ms, -1: none. */
static int64_t instant_at(const char *text)
{
	static const char FORM[] = "dddd-dd-ddTdd:dd:dd.dddZ";
	char instant[sizeof(FORM)];

	for (size_t i = 0; i < sizeof(FORM) - 1; i++) {
		bool digit = text[i] >= '0' && text[i] <= '9';

		if (FORM[i] == 'd' ? !digit : text[i] != FORM[i])
			return -1;
	}
	(void)snprintf(instant, sizeof(instant), "%s", text);
	return clock_parse(instant);
}

static size_t show_time(struct str *out, const char *at, const void *arg)
{
	int64_t ms = instant_at(at);

	(void)arg;
	if (ms < 0)
		return 0;
	str_addf(out, "<!date^%lld^{date_short_pretty} {time}|%.10s %.5s UTC>",
	         (long long)(ms / 1000), at, at + 11);
	return INSTANT_BYTES - 1;
}

void slack_show_times(struct str *text)
{
	rewrite(text, show_time, NULL);
}

static size_t plain_name(struct str *out, const char *at, const void *arg)
{
	const char *reader = arg;
	size_t length;
	const char *user = person_at(at, &length);
	size_t n = user ? length - (size_t)(user - at) : 0;

	if (user) {
		bool same = reader && strlen(reader) == n && strncmp(reader, user, n) == 0;

		str_add(out, same ? "you" : "another operator");
		return length;
	}
	if (instant_at(at) < 0)
		return 0;
	str_addf(out, "%.5s UTC", at + 11);
	return INSTANT_BYTES - 1;
}

void slack_plain_names(struct str *text, const char *reader)
{
	rewrite(text, plain_name, reader);
}

size_t slack_units(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t left = strlen(text), units = 0, n;
	uint32_t c;

	for (; left > 0; p += n, left -= n) {
		n = decode(p, left, &c);
		units += units_of(c);
	}
	return units;
}

size_t slack_lines(const char *bytes, size_t length)
{
	size_t lines = 0;

	for (size_t i = 0; i < length; i++)
		lines += bytes[i] == '\n';
	return length > 0 && bytes[length - 1] != '\n' ? lines + 1 : lines;
}
