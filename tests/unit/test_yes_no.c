/* What counts as a yes at the terminal. */
#include "harness.h"
#include "suite.h"
#include "yes_no.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum yes_no said(const char *text, size_t length)
{
	char name[4096];
	FILE *f;

	(void)snprintf(name, sizeof(name), "%s/said", scratch());
	f = fopen(name, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, length, f), length);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_ptr_nonnull(freopen(name, "re", stdin));
	return yes_no_ask("Shall it?");
}

static void all_are(enum yes_no wanted, const char *const *texts)
{
	for (; *texts; texts++)
		ck_assert_msg(said(*texts, strlen(*texts)) == wanted, "'%s'", *texts);
}

START_TEST(only_y_and_yes_are_a_yes)
{
	static const char *const YES[] = { "y\n", "Y\n", "yes\n", "YES", "  yes \r\n", NULL };
	static const char *const NEITHER[] = { "you must not\n",
		                               "yikes, no\n",
		                               "yes but keep a\n",
		                               "yes, no\n",
		                               "yet to be decided\n",
		                               "y.\n",
		                               "\n",
		                               "",
		                               "ja\n",
		                               "\x1b[Ay\n",
		                               "nothing\n",
		                               "\ny\n",
		                               NULL };
	static const char *const NO[] = { "n\n", "No\n", " no", NULL };

	all_are(YES_NO_YES, YES);
	all_are(YES_NO_NEITHER, NEITHER);
	all_are(YES_NO_NO, NO);
	ck_assert_int_eq(said("y\0es but not now\n", 17), YES_NO_NEITHER);
}
END_TEST

START_TEST(a_long_line_answers_one_question_only)
{
	char line[300];

	memset(line, ' ', sizeof(line));
	line[0] = 'y';
	line[200] = 'y';
	line[201] = '\n';
	ck_assert_int_eq(said(line, 202), YES_NO_NEITHER);
	ck_assert_int_eq(yes_no_ask("And this?"), YES_NO_NEITHER);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("yes_no");
	TCase *c = store_case(s, "yes_no", 10);

	tcase_add_test(c, only_y_and_yes_are_a_yes);
	tcase_add_test(c, a_long_line_answers_one_question_only);
	return run_suite(s);
}
