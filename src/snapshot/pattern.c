#include "pattern.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* How an attempt ended. The last two end attempts of callers, too: without them, "*a*a*a*b" would
 * take exponential time. */
enum fit {
	FIT_NO,
	FIT_YES,
	FIT_NO_TEXT, /* the text is too short, wherever the last star ends */
	FIT_NO_SLASH, /* the last star would have to match a slash */
};

/* ---- classes ---- */

static const struct {
	const char *name;
	int (*has)(int c);
} CLASSES[] = {
	{ "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank }, { "cntrl", iscntrl },
	{ "digit", isdigit }, { "graph", isgraph }, { "lower", islower }, { "print", isprint },
	{ "punct", ispunct }, { "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit },
};

/* Whether c is in the class of this name; -1: there is no such class. */
static int in_class(const char *name, size_t length, unsigned char c)
{
	for (size_t i = 0; i < sizeof(CLASSES) / sizeof(CLASSES[0]); i++)
		if (strlen(CLASSES[i].name) == length &&
		    strncmp(CLASSES[i].name, name, length) == 0)
			return CLASSES[i].has(c) != 0;
	return -1;
}

/* "[:name:]" at p, which is behind "[:". Returns the last byte of it, p itself if it is no class
 * (then "[" is ordinary), NULL if there is no such class. */
static const char *take_class(const char *p, unsigned char c, bool *found)
{
	const char *end = strchr(p, ']');
	int is;

	if (!end)
		return NULL;
	if (end == p || end[-1] != ':')
		return p;
	is = in_class(p, (size_t)(end - 1 - p), c);
	if (is < 0)
		return NULL;
	*found = *found || is;
	return end;
}

/* An ordinary byte of a set, at p, maybe escaped. Returns its last byte, NULL at the end. */
static const char *take_byte(const char *p, unsigned char *byte)
{
	if (*p == '\\')
		p++;
	*byte = (unsigned char)*p;
	return *p ? p : NULL;
}

/* One item of a set at p: a class, a range or a byte. Returns the byte behind it; NULL: the set has
 * no end. */
static const char *take_item(const char *p, unsigned char c, bool *found)
{
	unsigned char from, to;

	if (p[0] == '[' && p[1] == ':') {
		const char *end = take_class(p + 2, c, found);

		if (!end || end != p + 2)
			return end ? end + 1 : NULL;
	}
	p = take_byte(p, &from);
	if (!p)
		return NULL;
	to = from;
	if (p[1] == '-' && p[2] && p[2] != ']') {
		p = take_byte(p + 2, &to);
		if (!p)
			return NULL;
	}
	*found = *found || (from <= c && c <= to);
	return p + 1;
}

/* Whether c is in the set behind "["; *p moves to its "]". -1: it has none. */
static int in_set(const char **p, unsigned char c)
{
	bool negated = **p == '!' || **p == '^', found = false;
	const char *at = *p + negated;

	do {
		at = take_item(at, c, &found);
		if (!at || !*at)
			return -1;
	} while (*at != ']');
	*p = at;
	return found != negated && c != '/';
}

/* ---- patterns ---- */

static enum fit fit(const char *start, const char *p, const char *text);

/* The stars at *p; *p moves behind them. Whether they match slashes, too. */
static bool crosses(const char *start, const char **p)
{
	const char *first = *p;
	size_t count = strspn(first, "*");

	*p = first + count;
	return count > 1 && (first == start || first[-1] == '/') &&
	       (**p == '\0' || **p == '/' || (p[0][0] == '\\' && p[0][1] == '/'));
}

/* What follows the stars is tried at each place that they can reach. */
static enum fit fit_rest(const char *start, const char *p, const char *text, bool any)
{
	for (; *text; text++) {
		enum fit did = fit(start, p, text);

		if (did == FIT_NO_SLASH && any)
			continue;
		if (did != FIT_NO)
			return did;
		if (!any && *text == '/')
			return FIT_NO_SLASH;
	}
	return FIT_NO_TEXT;
}

static enum fit fit_star(const char *start, const char *p, const char *text)
{
	bool any = crosses(start, &p);

	if (any && *p == '/' && fit(start, p + 1, text) == FIT_YES)
		return FIT_YES; /* "**" and its slash match nothing at all */
	if (!*p)
		return any || !strchr(text, '/') ? FIT_YES : FIT_NO_SLASH;
	if (!any && *p == '/') {
		text = strchr(text, '/');
		return text ? fit(start, p, text) : FIT_NO;
	}
	return fit_rest(start, p, text, any);
}

static enum fit fit(const char *start, const char *p, const char *text)
{
	for (; *p; p++, text++) {
		if (*p == '*')
			return fit_star(start, p, text);
		if (!*text)
			return FIT_NO_TEXT;
		if (*p == '[') {
			int in;

			p++;
			in = in_set(&p, (unsigned char)*text);
			if (in <= 0)
				return in < 0 ? FIT_NO_TEXT : FIT_NO;
			continue;
		}
		if (*p == '?' && *text != '/')
			continue;
		if (*p == '\\')
			p++;
		if (*p != *text)
			return FIT_NO;
	}
	return *text ? FIT_NO : FIT_YES;
}

/* Where wildcards begin counts as the start of the pattern: "a**" is "a" and then any directories.
 */
bool pattern_fits(const char *pattern, const char *path)
{
	size_t plain = strcspn(pattern, "*?[\\");

	return strncmp(pattern, path, plain) == 0 &&
	       fit(pattern + plain, pattern + plain, path + plain) == FIT_YES;
}
