#include "gate_path.h"

#include "gate_blank.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* JavaScript takes the mark of the byte order for white space, too. */
static const char MARK[] = "\xef\xbb\xbf";

enum { MARK_BYTES = sizeof(MARK) - 1 };

/* Where the text is that is left of one of length bytes without white space at its ends. */
static const char *trim(const char *text, size_t *length)
{
	size_t before;

	do {
		size_t blanks = gate_blank_start(text, *length);

		before = *length;
		text += blanks;
		*length = gate_blank_end(text, *length - blanks);
		if (*length >= MARK_BYTES && memcmp(text, MARK, MARK_BYTES) == 0) {
			text += MARK_BYTES;
			*length -= MARK_BYTES;
		}
		if (*length >= MARK_BYTES &&
		    memcmp(text + *length - MARK_BYTES, MARK, MARK_BYTES) == 0)
			*length -= MARK_BYTES;
	} while (*length != before);
	return text;
}

static bool has_blank_end(const char *path)
{
	size_t length = strlen(path), rest = length;

	(void)trim(path, &rest);
	return rest != length;
}

/* "scheme://" or "file:" */
static bool begins_as_uri(const char *path)
{
	const char *at = path;

	if (!isalpha((unsigned char)*at))
		return false;
	while (isalnum((unsigned char)*at) || (*at && strchr("+-.", *at)))
		at++;
	return *at == ':' &&
	       (strncmp(at, "://", 3) == 0 || strncasecmp(path, "file:", strlen("file:")) == 0);
}

/* VS Code parses a path that is not absolute as a URI as soon as anything in it looks like one. */
static bool may_be_uri(const char *path)
{
	const char *colon = strchr(path, ':');

	return *path != '/' && colon && colon > path && colon[1];
}

/* Where "%73" begins, as in a URI; NULL: nowhere. */
static const char *find_code(const char *path)
{
	for (const char *at = path; (at = strchr(at, '%')); at++)
		if (isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]))
			return at;
	return NULL;
}

const char *gate_path_doubt_pattern(const char *pattern, bool is_expanded)
{
	if (!is_expanded && has_blank_end(pattern))
		return "it names a file with white space around it, which its host may remove";
	if (!is_expanded && *pattern == '~')
		return "it names a file from \"~\" on, which its host may take for a home";
	if (begins_as_uri(pattern))
		return "it names a file as a URI";
	if (find_code(pattern))
		return "it names a file with \"%\" and two digits, which its host may decode";
	return NULL;
}

const char *gate_path_doubt(const struct gate_host *host, const char *path, bool is_expanded)
{
	const char *why = gate_path_doubt_pattern(path, is_expanded);

	if (!why && host->takes_uris && may_be_uri(path))
		why = "it names a file as its host may take for a URI";
	if (!why && host->decodes_paths && *path == '@')
		why = "it names a file from \"@\" on, which its host may leave out";
	return why;
}

const char *gate_path_doubt_any(const char *path, bool reads)
{
	static const struct gate_host ANY = { .takes_uris = true, .decodes_paths = true };

	return reads && strpbrk(path, "*?[{(\\") ? "it names a file as a pattern may, by which its "
	                                           "host may find others"
	                                         : gate_path_doubt(&ANY, path, false);
}

const char *gate_path_doubt_one(const char *path)
{
	for (size_t left = strlen(path); left; path++, left--)
		if (gate_blank_start(path, left))
			return "it names a file with white space in it, which its host may take "
			       "for several";
	return NULL;
}

static bool is_home(const char *text, size_t length)
{
	return length && text[0] == '~' && (length == 1 || text[1] == '/');
}

bool gate_path_needs_home(const char *path)
{
	size_t length = strlen(path);
	const char *text = trim(path, &length);

	return is_home(text, length);
}

bool gate_path_expand(const char *home, const char *path, struct str *out)
{
	size_t length = strlen(path);
	const char *text = trim(path, &length);

	str_reset(out);
	if (is_home(text, length)) {
		str_add(out, home);
		str_add_bytes(out, text + 1, length - 1);
		return true;
	}
	if (length == strlen(path))
		return false;
	str_add_bytes(out, length ? text : ".", length ? length : 1);
	return true;
}

static void add_decoded(struct str *out, const char *path)
{
	const char *code;

	while ((code = find_code(path))) {
		const char digits[] = { code[1], code[2], '\0' };

		str_add_bytes(out, path, (size_t)(code - path));
		str_add_char(out, (char)strtol(digits, NULL, 16));
		path = code + 3;
	}
	str_add(out, path);
}

bool gate_path_decode(const char *path, struct str *out)
{
	str_reset(out);
	if (*path == '@') {
		str_add(out, path + 1 + strspn(path + 1, "/"));
		return true;
	}
	if (!find_code(path))
		return false;
	add_decoded(out, path);
	/* A host that cannot decode it takes it as it is. */
	return strlen(out->bytes) == out->length && utf8_valid(out->bytes, out->length);
}
