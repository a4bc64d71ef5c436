#include "gate_replace.h"

#include <string.h>

/* Whether every line that ends does so in CRLF, and one does. */
static bool is_crlf(const char *text, size_t length)
{
	const char *end = text + length;
	bool any = false;

	for (const char *at = text; at < end; at++) {
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			break;
		if (at == text || at[-1] != '\r')
			return false;
		any = true;
	}
	return any;
}

/* Appends text with CRLF for LF; a CRLF stays. */
static void add_crlf(struct str *out, const char *text)
{
	for (const char *at = text; *at; at++) {
		if (*at == '\n' && (at == text || at[-1] != '\r'))
			str_add_char(out, '\r');
		str_add_char(out, *at);
	}
}

static size_t occurrences(const struct str *file, const char *text)
{
	const char *at = str_text(file), *end = at + file->length;
	size_t length = strlen(text), count = 0;

	while ((at = memmem(at, (size_t)(end - at), text, length))) {
		count++;
		at += length;
	}
	return count;
}

static void substitute(const struct str *file, const char *old_text, const char *new_text,
                       struct str *out)
{
	const char *at = str_text(file), *end = at + file->length, *found;
	size_t length = strlen(old_text), new_length = strlen(new_text);

	while ((found = memmem(at, (size_t)(end - at), old_text, length))) {
		str_add_bytes(out, at, (size_t)(found - at));
		str_add_bytes(out, new_text, new_length);
		at = found + length;
	}
	str_add_bytes(out, at, (size_t)(end - at));
}

/* Whether hosts write such a file as it was read. */
static int check_file(const struct str *file, struct err *e)
{
	static const char MARK[] = "\xef\xbb\xbf";

	if (!utf8_valid(str_text(file), file->length))
		return err_set(e, ERR_INPUT, "the file is not UTF-8");
	if (strncmp(str_text(file), MARK, strlen(MARK)) == 0)
		return err_set(e, ERR_INPUT, "the file begins with a byte-order mark");
	if (file->length && memchr(str_text(file), '\r', file->length) &&
	    !is_crlf(str_text(file), file->length))
		return err_set(e, ERR_INPUT, "the file has line endings of several kinds");
	return 0;
}

int gate_replace_check_whole(const struct str *file, const char *content, struct err *e)
{
	if (file->length == 0)
		return 0;
	if (check_file(file, e))
		return -1;
	if (is_crlf(str_text(file), file->length) && strchr(content, '\n'))
		return err_set(e, ERR_INPUT,
		               "the lines of the file end in CRLF, and the host may keep that");
	return 0;
}

bool gate_replace_has_loose_end(const char *text)
{
	for (const char *at = text; (at = strpbrk(at, " \t")); at++)
		if (strchr("\r\n", at[1])) /* or the end */
			return true;
	return false;
}

static int check_new_text(const struct gate_replace *r, const struct str *file, struct err *e)
{
	if (strcmp(r->old_text, r->new_text) == 0)
		return err_set(e, ERR_INPUT, "the old text is the new one");
	if (r->trims_lines && gate_replace_has_loose_end(r->new_text))
		return err_set(e, ERR_INPUT, "the host may trim the ends of the new lines");
	if (strchr(r->new_text, '\r') && !is_crlf(str_text(file), file->length))
		return err_set(e, ERR_INPUT, "the new text brings another line ending");
	return 0;
}

/* A file that ended in LF does so again, and one that did not does not. */
static void keep_last_end(const struct str *file, struct str *out)
{
	bool had = file->length && file->bytes[file->length - 1] == '\n';
	bool has = out->length && out->bytes[out->length - 1] == '\n';

	if (had && !has)
		str_add(out, is_crlf(str_text(file), file->length) ? "\r\n" : "\n");
	if (had || !has)
		return;
	out->bytes[--out->length] = '\0';
	if (out->length && out->bytes[out->length - 1] == '\r')
		out->bytes[--out->length] = '\0';
}

static int check_count(const struct gate_replace *r, size_t count, struct err *e)
{
	if (count == 0)
		return err_set(e, ERR_INPUT, "the old text is not in the file, letter by letter");
	if (r->expected && count != r->expected)
		return err_set(e, ERR_INPUT, "the old text is in the file %zu times, not %zu",
		               count, r->expected);
	if (count > 1 && !r->all && !r->expected)
		return err_set(e, ERR_INPUT, "the old text is in the file %zu times", count);
	return 0;
}

static int create(const struct gate_replace *r, const struct str *file, struct str *out,
                  struct err *e)
{
	if (file && file->length)
		return err_set(e, ERR_INPUT, "the old text is empty, and the file is not");
	str_add(out, r->new_text);
	return 0;
}

int gate_replace(const struct gate_replace *r, const struct str *file, struct str *out,
                 struct err *e)
{
	OWNED(str) struct str old_text = { 0 }, new_text = { 0 }, line = { 0 };
	bool crlf;
	size_t count;

	if (!*r->old_text)
		return create(r, file, out, e);
	if (!file)
		return err_set(e, ERR_INPUT, "the file does not exist");
	if (check_file(file, e) || check_new_text(r, file, e))
		return -1;
	crlf = is_crlf(str_text(file), file->length);
	(crlf ? add_crlf : str_add)(&old_text, r->old_text);
	(crlf ? add_crlf : str_add)(&new_text, r->new_text);
	count = occurrences(file, str_text(&old_text));
	if (check_count(r, count, e))
		return -1;
	if (count > GATE_REPLACE_BYTES_MAX / (new_text.length + 1))
		return err_set(e, ERR_INPUT, "the result is longer than %d MiB",
		               GATE_REPLACE_BYTES_MAX >> 20);
	str_addf(&line, "%s%s", str_text(&old_text), crlf ? "\r\n" : "\n");
	if (r->deletes_line_ends && new_text.length == 0 &&
	    old_text.bytes[old_text.length - 1] != '\n' && occurrences(file, str_text(&line)))
		substitute(file, str_text(&line), "", out);
	else
		substitute(file, str_text(&old_text), str_text(&new_text), out);
	if (r->keeps_last_end)
		keep_last_end(file, out);
	return 0;
}

int gate_replace_insert(const struct str *file, size_t line, const char *text, struct str *out,
                        struct err *e)
{
	const char *start = str_text(file), *at = start, *end = start + file->length;

	for (size_t i = 0; i < line; i++) {
		const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

		if (at == end)
			return err_set(e, ERR_INPUT, "the file has %zu lines, not %zu", i, line);
		at = stop ? stop + 1 : end;
	}
	str_add_bytes(out, start, (size_t)(at - start));
	if (at > start && at[-1] != '\n')
		str_add_char(out, '\n');
	str_add(out, text);
	if (*text && text[strlen(text) - 1] != '\n' && at < end)
		str_add_char(out, '\n');
	str_add_bytes(out, at, (size_t)(end - at));
	return 0;
}
