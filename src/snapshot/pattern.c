#include "pattern.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

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

/* A place to go on from if what follows stars does not fit where it was tried. Only the last one of
 * a kind is kept: whatever an earlier one could skip, the last one can. So the time is polynomial.
 */
struct retry {
	const char *rest; /* of the pattern, behind the stars; NULL: none */
	const char *text; /* where it was tried last; of "**": where its next slash is looked for */
};

struct fitting {
	const char *start; /* of the pattern */
	const char *p, *text;
	struct retry star; /* matches no slash */
	struct retry deep; /* "**" and its slash */
};

/* How far fitting came. */
enum fit {
	FIT_NO,
	FIT_YES,
	FIT_ON,
};

/* The stars at f->p, which moves behind them. Whether they match slashes, too. */
static bool crosses(struct fitting *f)
{
	const char *first = f->p;
	size_t count = strspn(first, "*");

	f->p = first + count;
	return count > 1 && (first == f->start || first[-1] == '/') &&
	       (f->p[0] == '\0' || f->p[0] == '/' || (f->p[0] == '\\' && f->p[1] == '/'));
}

/* "**" and its slash match up to a slash further on. */
static enum fit go_deeper(struct fitting *f)
{
	const char *slash = f->deep.rest ? strchr(f->deep.text, '/') : NULL;

	if (!slash)
		return FIT_NO;
	f->star.rest = NULL;
	f->deep.text = f->text = slash + 1;
	f->p = f->deep.rest;
	return FIT_ON;
}

/* The last star matches a byte more; if it cannot, the last "**" does. */
static enum fit try_again(struct fitting *f)
{
	if (!f->star.rest || !*f->star.text || *f->star.text == '/')
		return go_deeper(f);
	f->text = ++f->star.text;
	f->p = f->star.rest;
	return FIT_ON;
}

static enum fit take_stars(struct fitting *f)
{
	bool any = crosses(f), escaped = *f->p == '\\';

	if (!*f->p)
		return any || !strchr(f->text, '/') ? FIT_YES : go_deeper(f);
	if (!any) {
		f->star = (struct retry){ .rest = f->p, .text = f->text };
		return FIT_ON;
	}
	f->p += escaped ? 2 : 1;
	f->deep = (struct retry){ .rest = f->p, .text = f->text };
	f->star.rest = NULL;
	return escaped ? go_deeper(f) : FIT_ON; /* they may match nothing at all */
}

/* One byte, and what stands for it. */
static enum fit take_one(struct fitting *f)
{
	bool is;

	if (*f->p == '[') {
		int in;

		f->p++;
		in = in_set(&f->p, (unsigned char)*f->text);
		if (in < 0)
			return FIT_NO; /* wherever it is tried */
		is = in > 0;
	} else if (*f->p == '?') {
		is = *f->text != '/';
	} else {
		f->p += *f->p == '\\';
		is = *f->p == *f->text;
	}
	if (!is)
		return try_again(f);
	f->p++;
	f->text++;
	return FIT_ON;
}

static enum fit step(struct fitting *f)
{
	if (*f->p == '*')
		return take_stars(f);
	if (!*f->text)
		return *f->p ? FIT_NO : FIT_YES; /* elsewhere less of the text is left */
	return *f->p ? take_one(f) : try_again(f);
}

/* Where wildcards begin counts as the start of the pattern: "a**" is "a" and then any directories.
 */
bool pattern_fits(const char *pattern, const char *path)
{
	size_t plain = strcspn(pattern, "*?[\\");
	struct fitting f = { .start = pattern + plain, .p = pattern + plain, .text = path + plain };
	enum fit did = FIT_ON;

	if (strncmp(pattern, path, plain) != 0)
		return false;
	while (did == FIT_ON)
		did = step(&f);
	return did == FIT_YES;
}
