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

static bool has_cr(const char *text)
{
	return strchr(text, '\r') != NULL;
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
	OWNED(str) struct str old_crlf = { 0 };
	OWNED(str) struct str new_crlf = { 0 };
	const char *old_text = r->old_text, *new_text = r->new_text;
	size_t count;

	if (!*old_text)
		return create(r, file, out, e);
	if (!file)
		return err_set(e, ERR_INPUT, "the file does not exist");
	if (is_crlf(str_text(file), file->length)) {
		add_crlf(&old_crlf, old_text);
		add_crlf(&new_crlf, new_text);
		old_text = str_text(&old_crlf);
		new_text = str_text(&new_crlf);
	} else if (memchr(str_text(file), '\r', file->length) && !has_cr(old_text) &&
	           strchr(old_text, '\n')) {
		return err_set(e, ERR_INPUT, "the file has line endings of several kinds");
	}
	count = occurrences(file, old_text);
	if (check_count(r, count, e))
		return -1;
	if (count > GATE_REPLACE_BYTES_MAX / (strlen(new_text) + 1))
		return err_set(e, ERR_INPUT, "the result is longer than %d MiB",
		               GATE_REPLACE_BYTES_MAX >> 20);
	substitute(file, old_text, new_text, out);
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
