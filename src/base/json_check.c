#include "json_check.h"

#include "err.h"

#include <ctype.h>
#include <string.h>

/* Each function takes one part from the front, and returns whether it was there. If it was not, at
 * may be anywhere in it. */
struct text {
	const char *at, *end;
};

static bool take(struct text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static bool take_any(struct text *t, const char *set)
{
	return t->at < t->end && *t->at && strchr(set, *t->at) && take(t, *t->at);
}

static void skip_blanks(struct text *t)
{
	while (take_any(t, " \t\r\n"))
		continue;
}

static bool take_digits(struct text *t)
{
	bool any = false;

	while (take_any(t, "0123456789"))
		any = true;
	return any;
}

static bool take_number(struct text *t)
{
	(void)take(t, '-');
	if (!take(t, '0') && !take_digits(t))
		return false;
	if (take(t, '.') && !take_digits(t))
		return false;
	if (!take_any(t, "eE"))
		return true;
	(void)take_any(t, "+-");
	return take_digits(t);
}

static bool take_hex(struct text *t, int digits)
{
	while (digits > 0 && t->at < t->end && isxdigit((unsigned char)*t->at)) {
		t->at++;
		digits--;
	}
	return digits == 0;
}

/* After a backslash. */
static bool take_escape(struct text *t)
{
	return take(t, 'u') ? take_hex(t, 4) : take_any(t, "\"\\/bfnrt");
}

static bool take_string(struct text *t)
{
	if (!take(t, '"'))
		return false;
	while (t->at < t->end && (unsigned char)*t->at >= 0x20) {
		char c = *t->at++;

		if (c == '"')
			return true;
		if (c == '\\' && !take_escape(t))
			return false;
	}
	return false;
}

static bool take_word(struct text *t)
{
	static const char *const WORDS[] = { "true", "false", "null" };

	for (size_t i = 0; i < COUNT(WORDS); i++) {
		size_t n = strlen(WORDS[i]);

		if ((size_t)(t->end - t->at) >= n && memcmp(t->at, WORDS[i], n) == 0) {
			t->at += n;
			return true;
		}
	}
	return false;
}

static bool take_value(struct text *t, int depth);

/* What is in an array, or, after { , in an object. */
static bool take_items(struct text *t, char close, int depth)
{
	skip_blanks(t);
	if (take(t, close))
		return true;
	do {
		skip_blanks(t);
		if (close == '}' && !take_string(t))
			return false;
		skip_blanks(t);
		if ((close == '}' && !take(t, ':')) || !take_value(t, depth))
			return false;
	} while (take(t, ','));
	return take(t, close);
}

/* With the blanks around it. */
static bool take_value(struct text *t, int depth)
{
	bool is_there;

	skip_blanks(t);
	if (take(t, '{'))
		is_there = depth < JSON_CHECK_DEPTH && take_items(t, '}', depth + 1);
	else if (take(t, '['))
		is_there = depth < JSON_CHECK_DEPTH && take_items(t, ']', depth + 1);
	else if (t->at < t->end && *t->at == '"')
		is_there = take_string(t);
	else
		is_there = take_word(t) || take_number(t);
	skip_blanks(t);
	return is_there;
}

bool json_check_is_whole(const char *bytes, size_t length)
{
	struct text t = { .at = bytes, .end = bytes + length };

	return take_value(&t, 0) && t.at == t.end;
}

bool json_check_is_blank(const char *bytes, size_t length)
{
	struct text t = { .at = bytes, .end = bytes + length };

	skip_blanks(&t);
	return t.at == t.end;
}
