/* The words that operators say, taken apart. */
#include "err.h"
#include "verb.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* What a line begins with, NULL: no word of ours. */
static const char *word_of(const char *line)
{
	struct verb_line l = verb_read(line);

	return l.verb ? l.verb->word : NULL;
}

START_TEST(a_line_has_a_verb_and_a_rest)
{
	struct verb_line l = verb_read("  Reject  not this file ");

	ck_assert_str_eq(l.verb->word, "reject");
	ck_assert_str_eq(l.rest, "not this file ");
	l = verb_read("\xEF\xBB\xBF\xC2\xA0 APPROVE\xC2\xA0r-1 ");
	ck_assert_str_eq(l.verb->word, "approve");
	ck_assert_str_eq(l.rest, "r-1 ");
	l = verb_read("");
	ck_assert_ptr_null(l.verb);
	ck_assert_str_eq(l.word, "");
	l = verb_read("a-verb-that-is-longer-than-any-of-ours x");
	ck_assert_ptr_null(l.verb);
	ck_assert_str_eq(l.word, "");
	ck_assert_str_eq(l.rest, "x");
}
END_TEST

START_TEST(a_punctuation_mark_behind_a_verb_is_passed_over)
{
	ck_assert_pstr_eq(word_of("Approve!"), "approve");
	ck_assert_pstr_eq(word_of("approve."), "approve");
	ck_assert_pstr_eq(word_of("approve, but rename it"), "approve");
	ck_assert_pstr_eq(word_of("approve?"), NULL);
	ck_assert_pstr_eq(word_of("approve-it"), NULL);
	ck_assert_pstr_eq(word_of("!"), NULL);
}
END_TEST

START_TEST(signs_around_a_verb_and_an_id_are_passed_over_and_those_around_words_are_not)
{
	static const struct {
		const char *line, *plain;
	} CASES[] = {
		{ "`approve`", "approve" },
		{ "*Approve*.", "Approve" },
		{ "“approve”", "approve" },
		{ "`approve 01a22519-5c19`", "approve 01a22519-5c19" },
		{ "Approve `01a22519-5c19`.", "Approve 01a22519-5c19" },
		{ "approve 01a22519-5c19.", "approve 01a22519-5c19" },
		{ "reject “01a22519” use `tabs`", "reject 01a22519 use `tabs`" },
		{ "reject use \"tabs\".", "reject use \"tabs\"." },
		{ "\"approve\"?", "\"approve\"?" },
		{ "\"approve\" is what I said", "\"approve\" is what I said" },
		{ "'approve' `01a22519`?", "'approve' `01a22519`?" },
		{ "`approve but rename it`", "`approve but rename it`" },
		{ "~approve~", "~approve~" },
		{ "*Reject* 01a22519-5c19 it breaks", "Reject 01a22519-5c19 it breaks" },
		{ "`reject` use `tabs`", "reject use `tabs`" },
		{ "_reject_: *no*", "reject *no*" },
		{ "`reject 01a22519` it breaks", "reject 01a22519 it breaks" },
		{ "*steer* use tabs", "steer use tabs" },
		{ "\"reject\" is what I said", "\"reject\" is what I said" },
		{ "*approve* is what I said", "*approve* is what I said" },
		{ "*approve* 01a22519 but rename it", "*approve* 01a22519 but rename it" },
		{ "*choose* 2", "*choose* 2" },
		{ "*continue* with the tests", "*continue* with the tests" },
		{ "*stop* using tabs", "*stop* using tabs" },
		{ "approve `a.c`", "approve `a.c`" },
		{ "resume 2024, then rest", "resume 2024, then rest" },
		{ "resume", "resume" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str plain = { 0 };

		verb_add_plain(&plain, CASES[i].line);
		ck_assert_str_eq(plain.bytes, CASES[i].plain);
	}
}
END_TEST

START_TEST(a_value_that_is_switched_to_may_be_quoted_or_end_a_sentence)
{
	static const char *const LINES[] = { "Hybrid. 01a2", "\"hybrid\" 01a2", "`hybrid` 01a2" };

	for (size_t i = 0; i < COUNT(LINES); i++) {
		OWNED(str) struct str word = { 0 };
		const char *line = LINES[i];

		ck_assert(verb_take_switch(&line, &word));
		ck_assert_str_eq(word.bytes, "hybrid");
		ck_assert_str_eq(line, "01a2");
	}
}
END_TEST

START_TEST(a_whole_line_may_be_quoted)
{
	static const char *const LINES[][2] = {
		{ "", "" },
		{ "  ", "" },
		{ "\"\"", "" },
		{ "\"", "\"" },
		{ "my notes.txt", "my notes.txt" },
		{ " `my notes.txt` ", "my notes.txt" },
		{ "\u201Cmy notes.txt\u201D\u200B", "my notes.txt" },
		{ "\u2018it\u2019s\u2019", "it\u2019s" },
		{ "'a' b", "'a' b" },
		{ "a 'b'", "a 'b'" },
	};

	for (size_t i = 0; i < COUNT(LINES); i++) {
		OWNED(str) struct str line = { 0 };

		verb_take_whole(LINES[i][0], &line);
		ck_assert_str_eq(str_text(&line), LINES[i][1]);
	}
}
END_TEST

START_TEST(a_synonym_is_an_order_only_alone)
{
	ck_assert_pstr_eq(word_of("accept"), "approve");
	ck_assert_pstr_eq(word_of("LGTM!"), "approve");
	ck_assert_pstr_eq(word_of("ok."), "yes");
	ck_assert_pstr_eq(word_of("yes"), "yes");
	ck_assert_pstr_eq(word_of("No "), "no");
	ck_assert_pstr_eq(word_of("ok, rename it"), NULL);
	ck_assert_pstr_eq(word_of("no tabs please"), NULL);
	ck_assert_pstr_eq(word_of("yes 01911111"), "yes"); /* as they are told to write it */
	ck_assert_pstr_eq(word_of("no 01911111-000x "), "no");
	ck_assert_pstr_eq(word_of("yes 01911111 of course"), NULL);
	ck_assert_pstr_eq(word_of("ok 2048"), NULL);
}
END_TEST

START_TEST(a_word_may_be_an_id_from_four_characters_on)
{
	static const struct {
		const char *text;
		size_t length;
		bool certain;
	} CASES[] = {
		{ "0190", 4, true },
		{ "0190 go", 4, false },
		{ "02b3c4d go", 7, true },
		{ "019", 0, false },
		{ "dead code", 4, false },
		{ "feedface", 8, false },
		{ "frontend-agent", 0, false },
		{ "0190-", 5, true },
		{ "1000 lines", 4, false },
		{ "0190x", 0, false },
		{ "01911111-000x go", 13, true }, /* mistyped */
		{ "O1911l11 go", 8, true },
		{ "01911111x", 9, true },
		{ "release2024x", 0, false },
		{ "3rd-party-libs", 0, false },
		{ "http2over443", 0, false },
		{ "", 0, false },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		ck_assert_msg(verb_id_length(CASES[i].text) == CASES[i].length, "%s",
		              CASES[i].text);
		ck_assert_msg(verb_is_only_an_id(CASES[i].text) == CASES[i].certain, "%s",
		              CASES[i].text);
	}
}
END_TEST

START_TEST(every_verb_is_found_by_its_word_and_means_something)
{
	const struct verb *v;

	for (size_t i = 0; (v = verb_at(i)) != NULL; i++) {
		ck_assert_ptr_eq(verb_find(v->word), v);
		ck_assert_ptr_nonnull(v->means[0]);
		if (v->or_session)
			ck_assert_ptr_nonnull(verb_find(v->or_session));
	}
	ck_assert_ptr_null(verb_find("frobnicate"));
}
END_TEST

START_TEST(help_is_by_category)
{
	OWNED(str) struct str all = { 0 };
	OWNED(str) struct str part = { 0 };

	ck_assert(verb_help(&all, NULL));
	ck_assert_ptr_nonnull(strstr(all.bytes, "`approve [id]`"));
	ck_assert_ptr_nonnull(strstr(all.bytes, "`file [id]`"));
	ck_assert_ptr_nonnull(strstr(all.bytes, "`session-start [--agent NAME]"));
	ck_assert_ptr_nonnull(
	    strstr(all.bytes, "`session-restore <checkpoint|label|start> [path...]`"));
	ck_assert(verb_help(&part, "files"));
	ck_assert_ptr_nonnull(strstr(part.bytes, "`file [id]`"));
	ck_assert_ptr_null(strstr(part.bytes, "approve"));
	ck_assert(!verb_help(&part, "nonsense"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("verb");
	TCase *c = tcase_create("verb");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(c, a_line_has_a_verb_and_a_rest);
	tcase_add_test(c, a_punctuation_mark_behind_a_verb_is_passed_over);
	tcase_add_test(
	    c, signs_around_a_verb_and_an_id_are_passed_over_and_those_around_words_are_not);
	tcase_add_test(c, a_value_that_is_switched_to_may_be_quoted_or_end_a_sentence);
	tcase_add_test(c, a_whole_line_may_be_quoted);
	tcase_add_test(c, a_synonym_is_an_order_only_alone);
	tcase_add_test(c, a_word_may_be_an_id_from_four_characters_on);
	tcase_add_test(c, every_verb_is_found_by_its_word_and_means_something);
	tcase_add_test(c, help_is_by_category);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
