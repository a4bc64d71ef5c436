/* lines: whatever pieces the bytes come in, the lines are the same. */
#include "lines.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 10 };

/* What was handed over: "length:bytes|" for each line, "over|" for one that was too long. */
struct taken {
	const struct lines *of; /* NULL: asked stays empty */
	struct json_peek asked; /* of the last line that was too long */
	struct str text;
	int stop_after; /* lines; 0: never */
};

static bool take(void *arg, const char *line, size_t length)
{
	struct taken *t = arg;

	if (length > MOST) {
		ck_assert_ptr_null(line);
		if (t->of)
			t->asked = *t->of->peek;
		str_add(&t->text, "over");
	} else {
		str_addf(&t->text, "%zu:", length);
		str_add_bytes(&t->text, line, length);
	}
	str_add_char(&t->text, '|');
	return t->stop_after == 0 || --t->stop_after > 0;
}

/* In pieces of this size, then the end. */
static void become(const char *bytes, size_t length, size_t piece, const char *expected)
{
	OWNED(str) struct str text = { 0 };
	struct lines l = LINES_INIT(MOST);
	struct taken t = { 0 };

	for (size_t i = 0; i < length; i += piece) {
		/* a copy of its own: a byte read beyond it is noticed by asan */
		size_t n = length - i < piece ? length - i : piece;
		char *copy = xmalloc(n);

		memcpy(copy, bytes + i, n);
		ck_assert(lines_feed(&l, copy, n, take, &t));
		free(copy);
	}
	ck_assert(lines_end(&l, take, &t));
	ck_assert_msg(strcmp(str_text(&t.text), expected) == 0, "in pieces of %zu: %s, not %s",
	              piece, str_text(&t.text), expected);
	lines_clear(&l);
	str_clear(&t.text);
}

START_TEST(lines_do_not_depend_on_the_pieces_they_come_in)
{
	static const struct {
		const char *bytes, *lines;
	} CASES[] = {
		{ "a\nbc\n", "1:a|2:bc|" },
		{ "a\r\nb\r\n", "2:a\r|2:b\r|" },
		{ "\n\nx\n", "0:|0:|1:x|" },
		{ "last", "4:last|" },
		{ "", "" },
		{ "0123456789\n", "10:0123456789|" },
		{ "0123456789a\nb\n", "over|1:b|" },
		{ "0123456789abcdefghijklmnopqrstuvwxyz\nb\n", "over|1:b|" },
		{ "0123456789abcdefghijklmnopqrstuvwxyz", "over|" },
		{ "0123456789abcdef\n0123456789abcdef\n\n", "over|over|0:|" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++)
		for (size_t piece = 1; piece < 40; piece++)
			become(CASES[i].bytes, strlen(CASES[i].bytes), piece, CASES[i].lines);
}
END_TEST

START_TEST(of_an_overlong_line_the_id_is_known_wherever_it_stands)
{
	static const char *const LINES[] = {
		"{\"id\":7,\"method\":\"tools/call\",\"params\":{\"id\":8}}\n",
		"{\"method\":\"tools/call\",\"params\":{\"id\":8},\"jsonrpc\":\"2.0\",\"id\":7}\n",
	};

	for (size_t i = 0; i < COUNT(LINES); i++) {
		struct lines l = LINES_INIT(MOST);
		struct taken t = { .of = &l };

		ck_assert(lines_feed(&l, "0123456789abcdef\n", 17, take, &t));
		ck_assert_str_eq(t.asked.id, "");
		for (const char *c = LINES[i]; *c; c++)
			ck_assert(lines_feed(&l, c, 1, take, &t));
		ck_assert_str_eq(t.text.bytes, "over|over|");
		ck_assert_str_eq(t.asked.id, "7");
		ck_assert_str_eq(t.asked.method, "tools/call");
		lines_clear(&l);
		str_clear(&t.text);
	}
}
END_TEST

START_TEST(a_nul_is_a_byte_like_others)
{
	struct lines l = LINES_INIT(MOST);
	struct taken t = { 0 };

	ck_assert(lines_feed(&l, "a\0b", 3, take, &t));
	ck_assert(lines_feed(&l, "\0\n\0\n", 4, take, &t));
	ck_assert_uint_eq(t.text.length, 11);
	ck_assert_int_eq(memcmp(t.text.bytes, "4:a\0b\0|1:\0|", 11), 0);
	lines_clear(&l);
	str_clear(&t.text);
}
END_TEST

START_TEST(who_says_stop_gets_no_more)
{
	struct lines l = LINES_INIT(MOST);
	struct taken t = { .stop_after = 2 };

	ck_assert(!lines_feed(&l, "a\nb\nc\nd", 7, take, &t));
	ck_assert_str_eq(t.text.bytes, "1:a|1:b|");
	lines_clear(&l);
	str_clear(&t.text);
}
END_TEST

START_TEST(a_line_that_is_skipped_ends_where_it_ends)
{
	struct lines l = LINES_INIT(MOST);
	struct taken t = { 0 };

	ck_assert(lines_feed(&l, "abc", 3, take, &t));
	lines_skip(&l);
	ck_assert_uint_eq(l.rest.length, 0);
	ck_assert(lines_feed(&l, "defghijklmnopqrst", 17, take, &t));
	ck_assert(lines_feed(&l, "uv\nnext\n", 8, take, &t));
	ck_assert_str_eq(t.text.bytes, "over|4:next|");
	lines_clear(&l);
	str_clear(&t.text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lines");
	TCase *c = tcase_create("lines");

	tcase_add_test(c, lines_do_not_depend_on_the_pieces_they_come_in);
	tcase_add_test(c, of_an_overlong_line_the_id_is_known_wherever_it_stands);
	tcase_add_test(c, a_nul_is_a_byte_like_others);
	tcase_add_test(c, who_says_stop_gets_no_more);
	tcase_add_test(c, a_line_that_is_skipped_ends_where_it_ends);
	suite_add_tcase(s, c);
	return run_suite(s);
}
