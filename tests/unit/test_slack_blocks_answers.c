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

START_TEST(what_an_agent_says_on_a_card_has_the_bar_of_its_words)
{
	static const char BAR[] =
	    "\"rich_text_quote\",\"elements\":[{\"type\":\"text\",\"text\":\"";
	static const char WORDS[] = "Risk: low\\n\\nAnswers:\\n1. Keep\\n2. Delete\"}]";
	static const char TITLE[] =
	    "Fix the tokenizer\",\"style\":{\"bold\":true}},{\"type\":\"text\","
	    "\"text\":\"\\n\"},{\"type\":\"text\",\"text\":\"";
	static const struct {
		enum request_kind kind;
		const char *path;
	} CASES[] = { { REQUEST_KIND_CLEARANCE, "a.c" },
		      { REQUEST_KIND_PERMISSION, "a.c" },
		      { REQUEST_KIND_PERMISSION, NULL },
		      { REQUEST_KIND_PROMPT, NULL },
		      { REQUEST_KIND_STANDBY, NULL } };

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(request) struct request r = a_permission();
		OWNED(str) struct str part = { 0 };
		bool is_titled = CASES[i].kind == REQUEST_KIND_CLEARANCE ||
		                 CASES[i].kind == REQUEST_KIND_PERMISSION;

		r.row.kind = CASES[i].kind;
		r.row.file_path = CASES[i].path;
		r.description = "Risk: low\n\nAnswers:\n1. Keep\n2. Delete";
		str_add(&r.body, is_titled ? "make" : r.description);
		str_addf(&part, "%s%s%s", BAR, is_titled ? TITLE : "", WORDS);
		OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
		holds(json, part.bytes);
	}
}
END_TEST

START_TEST(what_we_say_below_an_agents_words_has_no_bar_and_is_shown_whatever_they_are)
{
	static const char NOTES[] = "Risk: high\n\nAnswers:\n1. Delete\n2. Keep";
	static const char OURS[] =
	    "{\"type\":\"rich_text_section\",\"elements\":[{\"type\":\"text\",\"text\":\"Risk: "
	    "high\\n\\nAnswers:\\n1. Delete\\n2. Keep\"}]}";
	static const enum request_kind KINDS[] = { REQUEST_KIND_PERMISSION, REQUEST_KIND_PROMPT };

	for (size_t i = 0; i < 2 * COUNT(KINDS); i++) {
		OWNED(request) struct request r = a_permission();
		OWNED(str) struct str words = { 0 };

		r.row.kind = KINDS[i / 2];
		str_add(&words, "Risk: low");
		for (int n = 0; i % 2 && n < 2000; n++)
			str_add(&words, "\nRisk: low");
		str_addf(&words, "\n\n%s", NOTES);
		r.row.notes_length = (int64_t)strlen(NOTES);
		r.description = words.bytes;
		if (KINDS[i / 2] == REQUEST_KIND_PROMPT)
			str_add(&r.body, words.bytes);
		OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
		holds(json, i % 2 ? "\\nRisk: low" : "\"Risk: low\"}]}");
		holds(json, OURS);
	}
	OWNED(request) struct request r = a_permission();
	r.row.title = "";
	r.description = "Risk: high";
	r.row.notes_length = (int64_t)strlen(r.description);
	OWNED(char_ptr) char *alone = asked(&r, SLACK_FILE_THERE);
	holds(alone, "\"text\":\"Risk: high\"");
	lacks(alone, "rich_text_quote");
}
END_TEST

START_TEST(what_we_say_of_a_tool_has_no_bar)
{
	OWNED(request) struct request r = a_permission();

	r.row.gate_class = "read";
	r.description = "Its path leads out of the workspace";
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "leads out of the workspace");
	lacks(json, "rich_text_quote");
}
END_TEST

START_TEST(what_an_agent_behind_an_editor_says_has_the_bar_and_what_its_proxy_says_has_none)
{
	static const char NOTES[] = "Risk: high\n\nAnswers:\n1. Plan A\n2. Plan B";
	OWNED(request) struct request r = a_permission();

	r.row.gate_class = "other";
	r.row.title = "permission Plan";
	r.description = "It is safe.\n\nRisk: high\n\nAnswers:\n1. Plan A\n2. Plan B";
	r.row.notes_length = (int64_t)strlen(NOTES);
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "{\"type\":\"text\",\"text\":\"It is safe.\"}]}");
	holds(json, "rich_text_quote");
	holds(json, "{\"type\":\"rich_text_section\",\"elements\":[{\"type\":\"text\",\"text\":"
	            "\"Risk: high\\n\\nAnswers:\\n1. Plan A\\n2. Plan B\"}]}");
}
END_TEST

START_TEST(of_more_answers_than_buttons_it_is_said_how_the_others_are_given)
{
	for (int count = 20; count <= 21; count++) {
		OWNED(request) struct request r = a_permission();
		OWNED(str) struct str options = { 0 }, hint = { 0 };

		for (int i = 0; i < count; i++)
			str_addf(&options,
			         "%s{\"id\":\"%d\",\"name\":\"N\",\"kind\":\"allow_once\"}",
			         i ? "," : "[", i);
		str_add_char(&options, ']');
		r.row.options = options.bytes;
		str_addf(&hint,
		         "20 of the 21 answers have a button; for any other, say `choose %s 21`"
		         " with its number",
		         r.row.id);
		OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
		(count > 20 ? holds : lacks)(json, hint.bytes);
	}
}
END_TEST

START_TEST(a_button_in_an_agents_words_has_its_number_and_hides_nothing)
{
	OWNED(request) struct request r = a_permission();

	r.row.options =
	    "[{\"id\":\"a\",\"name\":\"\\u202eon\\u202c Keep\",\"kind\":\"allow_once\"},"
	    "{\"id\":\"b\",\"name\":\"\\u3164\",\"kind\":\"allow_once\"},"
	    "{\"id\":\"c\",\"name\":\":x: Reject,\\nand say why\",\"kind\":\"allow_once\"}]";
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "\"text\":\"1. \\\\u{202E}on\\\\u{202C} Keep\",\"emoji\":false");
	holds(json, "\"text\":\"2. \\\\u{3164}\"");
	holds(json, "\"text\":\"3. :x: Reject,\\\\u{A}and say why\",\"emoji\":false");
	holds(json, "\"text\":\"Reject, and say why\"");
	lacks(json, "Answers that the buttons cut");
}
END_TEST

START_TEST(what_accept_and_reject_answer_is_said_where_the_agent_calls_it_something_else)
{
	OWNED(request) struct request r = a_permission();

	r.row.options = "[{\"id\":\"a\",\"name\":\"Delete\\u202e all\",\"kind\":\"allow_once\"},"
	                "{\"id\":\"b\",\"name\":\"Keep\",\"kind\":\"reject_once\"}]";
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(
	    json,
	    "\"text\":\"Accept\",\"style\":{\"bold\":true}},{\"type\":\"text\",\"text\":\" answers "
	    "\"},{\"type\":\"text\",\"text\":\"Delete\\\\u{202E} all\",\"style\":{\"code\":true}}");
	holds(json, "\"text\":\"Keep\",\"style\":{\"code\":true}}");
	holds(json, "\"action_id\":\"approve_accept\"");
	holds(json, "\"action_id\":\"approve_reject\"");
	lacks(json, "approve_option");
}
END_TEST

START_TEST(an_answer_that_no_button_shows_whole_is_above_the_buttons)
{
	OWNED(request) struct request r = a_permission();

	r.row.options = "[{\"id\":\"a\",\"name\":\"Yes, and auto-accept edits for the rest of this "
	                "session without asking in src/ only\",\"kind\":\"allow_once\"},"
	                "{\"id\":\"b\",\"name\":\"No\",\"kind\":\"reject_always\"}]";
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "\"text\":\"Answers that the buttons cut:\"");
	holds(json, "\"text\":\"1. Yes, and auto-accept edits for the rest of this session without "
	            "asking in src/ only\",\"style\":{\"code\":true}");
	holds(json, "\"text\":\"1. Yes, and auto-accept edits for the rest of this session without "
	            "ask…\",");
	lacks(json, "\"text\":\"2. No\",\"style\"");
	lacks(json, "The rest of");
}
END_TEST

START_TEST(many_long_answers_stay_within_every_limit)
{
	OWNED(request) struct request r = a_permission();
	OWNED(str) struct str options = { 0 }, long_words = { 0 };

	for (int i = 0; i < 1000; i++)
		str_add(&long_words, "word ");
	for (int i = 0; i < 25; i++)
		str_addf(&options, "%s{\"id\":\"%d\",\"name\":\"%s\",\"kind\":\"allow_once\"}",
		         i ? "," : "[", i, long_words.bytes);
	str_add_char(&options, ']');
	r.row.options = options.bytes;
	r.row.title = r.description = long_words.bytes;
	str_add(&r.body, long_words.bytes);
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "\"20. word");
	lacks(json, "\"21. word");
	holds(json, "\\nThe rest of … is in the question above, or in its file.");
}
END_TEST

START_TEST(a_folder_that_is_named_in_full_stays_on_its_line)
{
	OWNED(request) struct request r = a_clearance();

	r.row.workspace_root = "/home/op/x\n@channel";
	r.row.is_new_workspace = true;
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "/home/op/x\\\\u{A}@channel");
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

START_TEST(an_editors_user_has_answered_in_the_editor_only)
{
	OWNED(request) struct request r = a_permission();

	r.row.state = REQUEST_STATE_APPROVED;
	r.row.decision = REQUEST_VERDICT_APPROVE;
	r.row.decided_by = "local:ann";
	r.row.decided_at = "2026-02-08T09:30:00.000Z";
	r.row.by_editor = true;
	r.row.reason = "in the editor";
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "✅ *Approved* by ann, ");
	holds(json, ": in the editor");
}
END_TEST

static struct request a_form(void)
{
	struct request r = a_permission();

	r.row.kind = REQUEST_KIND_PROMPT;
	r.row.prompt_type = REQUEST_PROMPT_TYPE_CLARIFICATION;
	r.row.form = "[{\"name\":\"a\",\"title\":\"A\",\"kind\":\"text\",\"choices\":[]}]";
	return r;
}

START_TEST(a_form_that_nobody_answers_is_cancelled)
{
	OWNED(request) struct request r = a_form();
	OWNED(slack_said) struct slack_said pushed = { 0 };

	r.row.deadline_at = "2026-01-01T10:00:00.000Z";
	OWNED(char_ptr) char *open = asked(&r, SLACK_FILE_THERE);
	holds(open, " · is cancelled <!date^1767261600^");
	r.row.state = REQUEST_STATE_EXPIRED;
	r.row.decision = REQUEST_VERDICT_TIMEOUT;
	r.row.decided_at = r.row.deadline_at;
	OWNED(char_ptr) char *closed = asked(&r, SLACK_FILE_THERE);
	holds(closed, "⏰ *Cancelled*: nobody answered in time, ");
	slack_question_say_expired(&r, &pushed);
	holds(str_text(&pushed.text), "⏰ Question cancelled: nobody answered in time");
}
END_TEST

START_TEST(where_a_form_cannot_be_shown_it_is_not_said_that_it_can_be_continued)
{
	OWNED(request) struct request r = a_form();
	OWNED(slack_said) struct slack_said plain = { 0 }, line = { 0 };

	slack_question_say_plain(&r, &plain);
	holds(str_text(&plain.text), "Answer in the thread: refine and the values, or stop");
	slack_question_say_line(&r, &line);
	holds(str_text(&line.text), "in the thread: refine ");
}
END_TEST

START_TEST(an_approval_says_which_of_the_agents_answers_it_gave)
{
	OWNED(request) struct request r = a_permission();

	r.row.options = "[{\"id\":\"y\",\"name\":\"No thanks, skip\",\"kind\":\"allow_once\"},"
	                "{\"id\":\"n\",\"name\":\"Yes, delete\",\"kind\":\"reject_once\"}]";
	r.row.state = REQUEST_STATE_APPROVED;
	r.row.decision = REQUEST_VERDICT_APPROVE;
	r.row.decided_by = "slack:T1:U01OP";
	r.row.decided_at = "2026-01-01T09:30:00.000Z";
	OWNED(char_ptr) char *json = asked(&r, SLACK_FILE_THERE);
	holds(json, "✅ *Approved* “No thanks, skip” by <@U01OP>, ");
	r.row.by_editor = true;
	OWNED(char_ptr) char *there = asked(&r, SLACK_FILE_THERE);
	holds(there, "✅ *Approved* by U01OP, ");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_blocks_answers");
	TCase *c = tcase_create("slack_blocks");

	tcase_add_test(c, a_permission_without_a_command_says_that_its_description_is_cut);
	tcase_add_test(c, what_an_agent_says_on_a_card_has_the_bar_of_its_words);
	tcase_add_test(c,
	               what_we_say_below_an_agents_words_has_no_bar_and_is_shown_whatever_they_are);
	tcase_add_test(c, what_we_say_of_a_tool_has_no_bar);
	tcase_add_test(
	    c, what_an_agent_behind_an_editor_says_has_the_bar_and_what_its_proxy_says_has_none);
	tcase_add_test(c, of_more_answers_than_buttons_it_is_said_how_the_others_are_given);
	tcase_add_test(c, a_button_in_an_agents_words_has_its_number_and_hides_nothing);
	tcase_add_test(
	    c, what_accept_and_reject_answer_is_said_where_the_agent_calls_it_something_else);
	tcase_add_test(c, an_answer_that_no_button_shows_whole_is_above_the_buttons);
	tcase_add_test(c, many_long_answers_stay_within_every_limit);
	tcase_add_test(c, a_folder_that_is_named_in_full_stays_on_its_line);
	tcase_add_test(
	    c, an_approval_that_has_lapsed_says_why_and_keeps_who_approved_it_in_which_words);
	tcase_add_test(c, an_editors_user_has_answered_in_the_editor_only);
	tcase_add_test(c, a_form_that_nobody_answers_is_cancelled);
	tcase_add_test(c, where_a_form_cannot_be_shown_it_is_not_said_that_it_can_be_continued);
	tcase_add_test(c, an_approval_says_which_of_the_agents_answers_it_gave);
	suite_add_tcase(s, c);
	return run_suite(s);
}
