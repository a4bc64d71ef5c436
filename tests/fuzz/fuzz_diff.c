/* libFuzzer target for diff: whatever the bytes are, reading them neither crashes nor reads beyond
 * them; what was read is applied to an old file made from it; and what diff_compute says of two
 * texts turns one into the other. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

enum { FUZZ_MAX = 2 }; /* of a hunk's context */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* The old file that f fits exactly, with lines of our own up to where each hunk begins. */
static void make_old(const struct diff_file *f, struct str *old)
{
	size_t line = 1;

	for (size_t i = 0; i < f->hunk_count; i++) {
		const struct diff_hunk *h = &f->hunks[i];

		for (; line < h->old_start && line < 5000; line++)
			str_addf(old, "line %zu\n", line);
		for (size_t k = 0; k < h->line_count; k++) {
			if (h->lines[k].kind == '+')
				continue;
			str_add_bytes(old, h->lines[k].text, h->lines[k].length);
			if (!h->lines[k].no_newline)
				str_add_char(old, '\n');
			line++;
		}
	}
}

/* The diff from old to new, read and applied, is new. */
static void check_round_trip(const char *old, size_t old_length, const char *new, size_t new_length)
{
	OWNED(str) struct str text = { 0 };
	OWNED(str) struct str result = { 0 };
	OWNED(diff) struct diff d = { 0 };
	struct err e = { 0 };

	diff_compute("dir/a name", old, old_length, new, new_length, &text);
	if (text.length == 0) {
		must(old_length == new_length && memcmp(old, new, new_length) == 0);
		return;
	}
	must(diff_parse(text.bytes, text.length, &d, &e) == 0 && d.file_count == 1);
	must(diff_apply(&d.files[0], old, old_length, NULL, &result, &e) == 0);
	must(result.length == new_length &&
	     (new_length == 0 || memcmp(result.bytes, new, new_length) == 0));
}

static void apply_file(const struct diff_file *f)
{
	OWNED(str) struct str old = { 0 };
	OWNED(str) struct str result = { 0 };
	struct err e = { 0 };

	make_old(f, &old);
	if (diff_apply(f, old.bytes, old.length, NULL, &result, &e) == 0)
		check_round_trip(str_text(&old), old.length, str_text(&result), result.length);
	else
		must(strncmp(e.text, "patch conflict: ", 16) == 0 &&
		     utf8_valid(e.text, strlen(e.text)));
	/* And to a file it does not fit, most likely. */
	for (struct diff_how how = { 0 }; how.fuzz <= FUZZ_MAX && old.length > 2; how.fuzz++)
		(void)diff_apply(f, old.bytes + old.length / 3, old.length / 2, &how, &result, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	OWNED(diff) struct diff d = { 0 };
	struct err e = { 0 };
	const char *bytes = (const char *)data;

	(void)diff_looks_like(bytes, size);
	if (diff_parse(bytes, size, &d, &e) == 0)
		for (size_t i = 0; i < d.file_count; i++)
			apply_file(&d.files[i]);
	else
		must(e.kind == ERR_INPUT && utf8_valid(e.text, strlen(e.text)));
	check_round_trip(bytes, size / 2, bytes + size / 2, size - size / 2);
	return 0;
}
