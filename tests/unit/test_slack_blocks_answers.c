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

START_TEST(an_approval_that_has_lapsed_says_why_and_keeps_who_approved_it_in_which_words)
{
	OWNED(request) struct request r = a_clearance();

	r.row.state = REQUEST_STATE_EXPIRED;
	r.row.decision = REQUEST_VERDICT_APPROVE;
	r.row.decided_by = "slack:T1:U01OP";
	r.row.decided_at = "2026-01-01T09:30:00.000Z";
	r.row.instruction = "and tell Bob";
	r.row.withdrawn = "a file of it has changed, and was asked about since";
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "🚫 *The approval has lapsed*: a file of it has changed, and was asked about "
	            "since\\n✅ *Approved* by <@U01OP>, <!date^1767259800^{date_short_pretty} "
	            "{time}|2026-01-01 09:30 UTC>, and told: and tell Bob\\n🟢 *Approval*");
	lacks(json, "No longer needed");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_blocks_answers");
	TCase *c = tcase_create("slack_blocks");

	tcase_add_test(c, a_permission_without_a_command_says_that_its_description_is_cut);
	tcase_add_test(
	    c, an_approval_that_has_lapsed_says_why_and_keeps_who_approved_it_in_which_words);
	suite_add_tcase(s, c);
	return run_suite(s);
}
