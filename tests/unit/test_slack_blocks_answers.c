/* What a message says of an agent's words and of the answers that it offers, without a process and
 * without rows. */
#include "slack_blocks_case.h"

static const char *const NOBODY[] = { NULL };

static char *asked(const struct request *r, enum slack_file file)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	const struct slack_ask a = {
		.request = r, .mentions = NOBODY, .diff_above = true, .diff = file
	};

	slack_question_say(&a, &s);
	return said(&s);
}

/* Of an agent that we started: it has no command, and changes no file. */
static struct request a_permission(void)
{
	struct request r = a_clearance();

	r.row.kind = REQUEST_KIND_PERMISSION;
	r.row.file_path = NULL;
	str_reset(&r.body);
	return r;
}

START_TEST(a_permission_without_a_command_says_that_its_description_is_cut)
{
	OWNED(request) struct request r = a_permission();
	OWNED(str) struct str words = { 0 };

	for (int i = 1; i < 120; i++)
		str_addf(&words, "Step %d: change what has to be changed.\n", i);
	r.description = words.bytes;
	OWNED(char_ptr) char *there = asked(&r, SLACK_FILE_THERE);
	holds(there, "📎 all of the description is in the file above");
	OWNED(char_ptr) char *missing = asked(&r, SLACK_FILE_MISSING);
	holds(missing, "📎 119 lines that Slack did not take");
	r.description = "Run it.";
	OWNED(char_ptr) char *whole = asked(&r, SLACK_FILE_THERE);
	lacks(whole, "📎");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_blocks_answers");
	TCase *c = tcase_create("slack_blocks");

	tcase_add_test(c, a_permission_without_a_command_says_that_its_description_is_cut);
	suite_add_tcase(s, c);
	return run_suite(s);
}
