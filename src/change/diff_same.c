/* Whether two diffs of ours have the same effect. */
#include "diff.h"

#include "texts.h"

#include <string.h>

static bool same_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return a_length == b_length && (a_length == 0 || memcmp(a, b, a_length) == 0);
}

/* The section of a hunk, without the "[moved ...] " before it. */
static void section_of(const struct diff_hunk *h, const char **ret, size_t *ret_length)
{
	static const char MOVED[] = "[moved ";
	const char *end = NULL;

	*ret = h->section;
	*ret_length = h->section_length;
	if (h->section_length > sizeof(MOVED) && memcmp(h->section, MOVED, sizeof(MOVED) - 1) == 0)
		end = memchr(h->section, ']', h->section_length);
	if (!end)
		return;
	*ret = end + 1;
	*ret_length = h->section_length - (size_t)(*ret - h->section);
	if (*ret_length > 0) { /* the blank after it */
		++*ret;
		--*ret_length;
	}
}

static bool same_section(const struct diff_hunk *a, const struct diff_hunk *b)
{
	size_t a_length, b_length;
	const char *a_text, *b_text;

	section_of(a, &a_text, &a_length);
	section_of(b, &b_text, &b_length);
	return same_bytes(a_text, a_length, b_text, b_length);
}

/* The next changed line from *at on; NULL: none. */
static const struct diff_line *next_change(const struct diff_hunk *h, size_t *at)
{
	while (*at < h->line_count && h->lines[*at].kind == ' ')
		++*at;
	return *at < h->line_count ? &h->lines[(*at)++] : NULL;
}

static bool same_hunk(const struct diff_hunk *a, const struct diff_hunk *b)
{
	const struct diff_line *one, *other;
	size_t i = 0, k = 0;

	if (!same_section(a, b))
		return false;
	do {
		one = next_change(a, &i);
		other = next_change(b, &k);
		if (!one != !other ||
		    (one && (one->kind != other->kind || one->no_newline != other->no_newline ||
		             !same_bytes(one->text, one->length, other->text, other->length))))
			return false;
	} while (one);
	return true;
}

static bool same_file(const struct diff_file *a, const struct diff_file *b)
{
	if (!texts_same(a->old_path, b->old_path) || !texts_same(a->new_path, b->new_path) ||
	    a->old_mode != b->old_mode || a->new_mode != b->new_mode ||
	    a->is_create != b->is_create || a->is_delete != b->is_delete ||
	    a->is_rename != b->is_rename || a->is_copy != b->is_copy ||
	    a->hunk_count != b->hunk_count)
		return false;
	for (size_t i = 0; i < a->hunk_count; i++)
		if (!same_hunk(&a->hunks[i], &b->hunks[i]))
			return false;
	return true;
}

bool diff_is_same(const char *a, size_t a_length, const char *b, size_t b_length)
{
	OWNED(diff) struct diff one = { 0 }, other = { 0 };

	if (diff_parse(a, a_length, &one, NULL) || diff_parse(b, b_length, &other, NULL))
		return same_bytes(a, a_length, b, b_length);
	if (one.file_count != other.file_count)
		return false;
	for (size_t i = 0; i < one.file_count; i++)
		if (!same_file(&one.files[i], &other.files[i]))
			return false;
	return true;
}
