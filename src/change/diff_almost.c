#include "diff_almost.h"

#include "diff.h"
#include "line.h"
#include "str.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { OWN_LINES = 12 }; /* that are not blank, before a diff: more are a text */

/* What stands in front of a line, besides blanks: a mail's ">", and what nobody sees: no-break
 * space, zero-width space and joiners, word joiner, byte order mark. */
static const char *const MARKS[] = {
	">",           "\xC2\xA0", "\xE2\x80\x8B", "\xE2\x80\x8C", "\xE2\x80\x8D", "\xE2\x81\xA0",
	"\xEF\xBB\xBF"
};

static const char UNWRAP[] =
    "send it alone, with nothing in front of its lines, from its first line (\"diff --git \" or "
    "\"--- \") on, or the whole new content of the file; " DIFF_AS_CONTENT;
static const char REWRITE[] =
    "send a unified diff (\"--- a/path\", \"+++ b/path\", \"@@ -1,3 +1,3 @@\") or the whole new "
    "content of the file; " DIFF_AS_CONTENT;

/* Lines without what is in front of them and what ends them. */
struct reader {
	const char *at, *end;
	size_t line;
};

/* Whether the line begins so; then rest is what follows. */
static bool begins(struct span line, const char *with, struct span *rest)
{
	size_t length = strlen(with);

	if (line.size < length || memcmp(line.bytes, with, length) != 0)
		return false;
	*rest = (struct span){ line.bytes + length, line.size - length };
	return true;
}

static bool skip_mark(struct span *line)
{
	if (line->size > 0 && isspace((unsigned char)*line->bytes)) {
		*line = (struct span){ line->bytes + 1, line->size - 1 };
		return true;
	}
	for (size_t i = 0; i < COUNT(MARKS); i++)
		if (begins(*line, MARKS[i], line))
			return true;
	return false;
}

static bool next(struct reader *r, struct span *line)
{
	if (r->at == r->end)
		return false;
	*line = line_at(r->at, (size_t)(r->end - r->at));
	r->at += line->size;
	r->line++;
	while (line->size > 0 && isspace((unsigned char)line->bytes[line->size - 1]))
		line->size--;
	while (skip_mark(line))
		;
	return true;
}

static bool next_begins(struct reader *r, const char *with, struct span *rest)
{
	struct span line;

	return next(r, &line) && begins(line, with, rest);
}

/* Before the time that diff writes behind a name: after a tab, or a blank where that was copied. */
static size_t find_time(struct span name)
{
	for (size_t i = 0; i < name.size; i++) {
		const char *at = name.bytes + i;

		if (*at == '\t' || (*at == ' ' && i + 5 < name.size && at[5] == '-' &&
		                    strspn(at + 1, "0123456789") == 4))
			return i;
	}
	return name.size;
}

static bool ends_with_path(struct span name, struct span path)
{
	size_t rest = name.size - path.size;

	return path.size && name.size >= path.size &&
	       memcmp(name.bytes + rest, path.bytes, path.size) == 0 &&
	       (rest == 0 || name.bytes[rest - 1] == '/');
}

/* Whether a name, perhaps in quotes, with a prefix as a/ and a time behind it, is the path, from
 * above its workspace or from a folder in it. */
static bool is_path(struct span name, const char *path)
{
	const struct span whole = { path, strlen(path) };
	OWNED(str) struct str plain = { 0 };

	name.size = find_time(name);
	if (name.size > 0 && *name.bytes == '"' && diff_unquote(name.bytes, name.size, &plain))
		name = (struct span){ str_text(&plain), plain.length };
	if (ends_with_path(name, whole))
		return true;
	if (name.size > 2 && (name.bytes[0] == 'a' || name.bytes[0] == 'b') && name.bytes[1] == '/')
		name = (struct span){ name.bytes + 2, name.size - 2 };
	return ends_with_path(whole, name);
}

static struct span last_word(struct span line)
{
	size_t at = line.size;

	while (at > 0 && line.bytes[at - 1] != ' ')
		at--;
	return (struct span){ line.bytes + at, line.size - at };
}

/* What of a diff begins at a line, and r stands behind it. */

static bool is_unified(struct span line, struct reader r, const char *path)
{
	static const char *const HEADS[] = { "--- ", "+++ " };
	struct span name;
	bool is = false;

	if (begins(line, "diff --git ", &name)) /* names may hold blanks */
		return is_path(name, path) || is_path(last_word(name), path);
	for (size_t i = 0; i < COUNT(HEADS); i++) {
		if (!begins(line, HEADS[i], &name))
			continue;
		is = is_path(name, path) || is;
		if (!next(&r, &line))
			return false;
	}
	return is && begins(line, "@@ -", &name);
}

static bool is_context(struct span line, struct reader r, const char *path)
{
	struct span old, new, rest;

	return begins(line, "*** ", &old) && next_begins(&r, "--- ", &new) &&
	       next_begins(&r, "***************", &rest) &&
	       (is_path(old, path) || is_path(new, path));
}

/* As agents' apply_patch takes it, or a part of that. */
static bool is_envelope(struct span line, struct reader r, const char *path)
{
	struct span rest;
	bool is_whole = begins(line, "*** Begin Patch", &rest);

	do
		if ((begins(line, "*** Update File: ", &rest) ||
		     begins(line, "*** Add File: ", &rest) ||
		     begins(line, "*** Delete File: ", &rest)) &&
		    is_path(rest, path))
			return true;
	while (is_whole && next(&r, &line));
	return false;
}

static bool skip_range(struct span *at, char sign)
{
	if (at->size == 0 || *at->bytes != sign)
		return false;
	do {
		at->bytes++;
		at->size--;
	} while (at->size && (isdigit((unsigned char)*at->bytes) || *at->bytes == ','));
	return at->size && *at->bytes == ' ';
}

/* A hunk that follows no names. */
static bool is_lone_hunk(struct span line, bool *has_names)
{
	struct span at, rest;

	*has_names |= begins(line, "+++ ", &rest) || begins(line, "diff ", &rest);
	if (*has_names || !begins(line, "@@ ", &at) || !skip_range(&at, '-'))
		return false;
	at.bytes++;
	at.size--;
	return skip_range(&at, '+') && begins(at, " @@", &rest);
}

static bool may_hold_hunks(const char *path)
{
	static const char *const ENDINGS[] = { ".md",   ".markdown", ".mdx",  ".rst",  ".txt",
		                               ".adoc", ".org",      ".html", ".diff", ".patch",
		                               ".rej",  ".eml",      ".mbox" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < COUNT(ENDINGS); i++)
		if (strcasecmp(dot, ENDINGS[i]) == 0)
			return true;
	return false;
}

static int refuse(struct refusal *why, size_t line, const char *what, const char *instead)
{
	return refusal_set(why, "invalid_diff",
	                   "the content is not a diff, but %s in its line %zu: %s", what, line,
	                   instead);
}

int diff_almost_refuse(const char *bytes, size_t length, const char *path, struct refusal *why)
{
	struct reader r = { bytes, bytes + length, 0 };
	struct span line;
	bool has_names = may_hold_hunks(path);

	for (size_t own = 0; own <= OWN_LINES && next(&r, &line); own += line.size > 0) {
		if (is_unified(line, r, path) || is_lone_hunk(line, &has_names))
			return refuse(why, r.line, "a diff of this file begins", UNWRAP);
		if (is_context(line, r, path))
			return refuse(why, r.line, "a context diff of this file begins", REWRITE);
		if (is_envelope(line, r, path))
			return refuse(why, r.line, "a patch of this file for apply_patch begins",
			              REWRITE);
	}
	return 0;
}
