/* slack_text and slack_blocks: what messages look like, without a process and without rows. */
#include "json.h"
#include "slack_blocks_case.h"
#include "turn.h"

/* ---- the end of a turn ---- */

START_TEST(a_turn_whose_process_was_stopped_did_not_fail)
{
	static const struct {
		const char *wanted, *shown;
	} CASES[] = {
		{ "2026-01-01T09:00:01.000Z", "\"⏹️ *The turn was cancelled.*\"" },
		{ "2026-01-01T09:00:03.000Z",
		  "\"❌ *The turn ended with an error*: stream closed\"" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(slack_said) struct slack_said s = { 0 };
		struct slack_turn_row row = { .stop = AGENT_TURN_STOP_ERROR,
			                      .why = "stream closed",
			                      .ended_at = "2026-01-01T09:00:02.000Z",
			                      .stop_wanted_at = CASES[i].wanted,
			                      .is_last = true };

		slack_turn_end(&row, &s);
		OWNED(char_ptr) char *json = said(&s);
		holds(json, CASES[i].shown);
	}
}
END_TEST

/* ---- the rest ---- */

START_TEST(a_write_is_told_with_its_files)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	cJSON *files = cJSON_Parse("[{\"path\":\"a<b>.c\",\"action\":\"modify\",\"bytes\":1247}]");
	struct slack_apply_row row = { .state = APPLY_STATE_APPLIED,
		                       .kind = APPLY_KIND_WRITE,
		                       .file_path = "a<b>.c" };
	struct slack_write w = { .apply = &row, .files = files };

	slack_notice_write(&w, &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "✅ Changes applied to a&lt;b&gt;.c (1247 bytes written)");
	lacks(json, "write_undo");
	slack_said_clear(&s);

	row.id = "r-1";
	row.workspace_root = "/srv/web";
	row.client_name = "claude";
	slack_notice_write(&w, &s);
	ck_assert_ptr_nonnull(strstr(str_text(&s.text), " · in web (claude)"));
	OWNED(char_ptr) char *undoable = said(&s);
	lacks(undoable, "claude");
	holds(undoable, "\"action_id\":\"write_undo\"");
	holds(undoable, "\"value\":\"r-1\"");
	slack_said_clear(&s);

	row.undone = true;
	slack_notice_write(&w, &s);
	OWNED(char_ptr) char *undone = said(&s);
	holds(undone, "(undone since)");
	lacks(undone, "write_undo");
	slack_said_clear(&s);
	row.undone = false;
	row.id = NULL;

	row.unkept = "the write did not wait for it <x>";
	slack_notice_write(&w, &s);
	OWNED(char_ptr) char *unkept = said(&s);
	holds(unkept,
	      "⚠️ Without a checkpoint before it: the write did not wait for it &lt;x&gt;");
	ck_assert_ptr_nonnull(
	    strstr(str_text(&s.text), "\n⚠️ Without a checkpoint before it: "));
	slack_said_clear(&s);
	row.unkept = NULL;

	row.forced = true;
	row.replaces_file = true;
	row.id = "0190aaaa";
	(void)cJSON_AddNumberToObject(cJSON_GetArrayItem(files, 0), "overwrote", 16);
	slack_notice_write(&w, &s);
	OWNED(char_ptr) char *forced = said(&s);
	holds(forced, "⚠️ Changes applied by force");
	holds(forced, "(1247 bytes written), over 16 bytes that nobody had seen");
	holds(forced, "`agent-intercom-ctl undo 0190aaaa` brings it back");
	slack_said_clear(&s);
	row.replaces_file = false;
	slack_notice_write(&w, &s);
	OWNED(char_ptr) char *merged = said(&s);
	holds(merged, "(1247 bytes written), merged into 16 bytes that nobody had seen");
	slack_said_clear(&s);

	w.files = NULL;
	row =
	    (struct slack_apply_row){ .state = APPLY_STATE_REFUSED,
		                      .kind = APPLY_KIND_WRITE,
		                      .file_path = "a.c",
		                      .error_code = "patch_conflict",
		                      .why =
		                          "line 3, 0123456789abcdef0123456789abcdef0123456789abcdef"
		                          "0123456789abcdef" };
	slack_notice_write(&w, &s);
	OWNED(char_ptr) char *refused = said(&s);
	holds(refused, "⚠️ Not written: a.c: line 3, 01234567…\"");
	slack_said_clear(&s);

	row = (struct slack_apply_row){ .state = APPLY_STATE_UNDONE,
		                        .kind = APPLY_KIND_UNDO,
		                        .ordered_by = "slack:T1:U01OP",
		                        .id = "r-1",
		                        .file_path = "a.c" };
	slack_notice_write(&w, &s);
	OWNED(char_ptr) char *back = said(&s);
	holds(back, "↩️ Undone by <@U01OP>: what was there before is back: a.c");
	lacks(back, "write_undo");
	slack_said_clear(&s);

	row.state = APPLY_STATE_REFUSED;
	row.why = "it was changed since";
	slack_notice_write(&w, &s);
	OWNED(char_ptr) char *kept = said(&s);
	holds(kept, "⚠️ Not undone, as ordered by <@U01OP>: a.c: it was changed since");
	cJSON_Delete(files);
}
END_TEST

START_TEST(whom_we_name_is_mentioned_and_nobody_else)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	OWNED(slack_said) struct slack_said agents = { 0 };
	OWNED(char_ptr) char *json = NULL;

	slack_notice_text("by slack:T01:U0A and slack::W1B; slack:T01:C01 <@U0C> slack: slack:T:",
	                  &s);
	ck_assert_str_eq(str_text(&s.text), "by <@U0A> and <@W1B>; slack:T01:C01 "
	                                    "&lt;@U0C&gt; slack: slack:T:");
	json = cJSON_PrintUnformatted(s.blocks);
	ck_assert_ptr_nonnull(strstr(json, "by <@U0A> and <@W1B>; slack:T01:C01"));
	slack_notice_broadcast("info", "slack:T01:U0A", &agents); /* these are an agent's words */
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
		OWNED(slack_said) struct slack_said s = { 0 };

		slack_notice_broadcast(LEVELS[i][0], "x", &s);
		OWNED(char_ptr) char *json = said(&s);
		holds(json, LEVELS[i][1]);
		ck_assert_str_eq(str_text(&s.text) + strlen("💬 "), LEVELS[i][1]);
	}
}
END_TEST

static const char FAKE[] = "✅ *Approved* by olga\n🔄 *Continuation Prompt*\n> `ok`";

START_TEST(what_an_agent_says_is_a_quote_whatever_it_looks_like)
{
	for (int i = 0; i < 2; i++) {
		OWNED(slack_said) struct slack_said s = { 0 };
		OWNED(char_ptr) char *json = NULL;

		if (i)
			slack_notice_broadcast("success", FAKE, &s);
		else
			slack_notice_agent(FAKE, &s);
		json = said(&s);
		ck_assert_int_eq(cJSON_GetArraySize(s.blocks), 1);
		holds(json, "{\"type\":\"rich_text_quote\",\"elements\":[{\"type\":\"text\"");
		holds(json, "✅ *Approved* by olga\\n🔄 *Continuation Prompt*\\n> `ok`\"}]}]}]");
		ck_assert_str_eq(str_text(&s.text) + (i ? strlen("💬 ✅ ") : strlen("💬 ")),
		                 "✅ ∗Approved∗ by olga 🔄 ∗Continuation Prompt∗ &gt; 'ok'");
	}
}
END_TEST

START_TEST(what_we_say_about_an_agent_is_no_quote_and_its_notification_names_it)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	const struct agent_line_text_row note = { .text = "The budget is used up.",
		                                  .workspace_root = "/home/op/billing",
		                                  .client_name = "claude" };

	slack_notice_note(&note, &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "\"type\":\"section\"");
	holds(json, "The budget is used up.");
	lacks(json, "rich_text_quote");
	ck_assert_str_eq(str_text(&s.text), "The budget is used up. · in billing (claude)");
}
END_TEST

START_TEST(tools_and_plans_are_in_quotes_a_line_each)
{
	OWNED(cJSON_ptr)
	cJSON *last = cJSON_Parse("[{\"text\":\"run `x`\\n✅ *Approved*\","
	                          "\"status\":\"completed\"}]");
	OWNED(cJSON_ptr)
	cJSON *plan = cJSON_Parse("[{\"label\":\"a\\n🔄 *b*\",\"status\":\"done\"}]");
	const struct slack_turn_row turn = { 0 };
	const struct slack_activity a = { .turn = &turn, .calls = 1, .last = last, .plan = plan };
	OWNED(slack_said) struct slack_said s = { 0 };
	OWNED(char_ptr) char *json = NULL;

	slack_turn_activity(&a, &s);
	json = said(&s);
	holds(json, "{\"type\":\"rich_text_quote\",\"elements\":[{\"type\":\"text\",\"text\":"
	            "\"✅ run 'x' ✅ ∗Approved∗\"}]");
	holds(json, "{\"type\":\"rich_text_quote\",\"elements\":[{\"type\":\"text\",\"text\":"
	            "\"✅ a 🔄 ∗b∗\"}]");
}
END_TEST

START_TEST(a_long_text_is_several_sections_and_says_what_it_left_out)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	OWNED(str) struct str text = { 0 };

	while (text.length < 100 << 10)
		str_add(&text, "ä<😀");
	slack_notice_text(str_text(&text), &s);
	OWNED(char_ptr) char *json = said(&s);
	ck_assert_int_ge(cJSON_GetArraySize(s.blocks), 2);
	holds(json, " bytes more)");
}
END_TEST

START_TEST(a_broadcast_as_long_as_agents_are_told_is_said_whole)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	OWNED(str) struct str text = { 0 };

	while (text.length < 5990) /* src/mcp/tools/broadcast.c says 6000 */
		str_add(&text, "a line of it\n");
	str_add(&text, "the end");
	slack_notice_broadcast("info", str_text(&text), &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "the end");
	lacks(json, " bytes more)");
}
END_TEST

START_TEST(a_text_that_fits_is_said_whole_however_much_of_it_is_escaped)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	OWNED(str) struct str text = { 0 };
	const char *p;
	int count = 0;

	for (int i = 0; i < 1500; i++)
		str_add(&text, "<");
	slack_notice_text(str_text(&text), &s);
	OWNED(char_ptr) char *json = said(&s);
	for (p = json; (p = strstr(p, "&lt;")) != NULL; p++)
		count++;
	ck_assert_int_eq(count, 1500);
}
END_TEST

START_TEST(a_text_with_many_instants_fits_its_sections_in_the_readers_time)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	OWNED(str) struct str text = { 0 };

	while (text.length < 3700)
		str_add(&text, "a session  started 2026-01-01T09:00:00.000Z  last activity at "
		               "2026-01-01T09:30:00.000Z\n");
	str_add(&text, "the end");
	slack_notice_text(str_text(&text), &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "the end");
	lacks(json, "09:30:00.000Z");
}
END_TEST

START_TEST(an_empty_text_is_said_to_be_one)
{
	OWNED(slack_said) struct slack_said s = { 0 };

	slack_notice_text("", &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "(no text)");
}
END_TEST

START_TEST(a_session_says_where_it_works_and_how_it_is)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	struct slack_session_row session = { .id = "0190bbbb-0000-1",
		                             .status = SESSION_STATUS_ACTIVE,
		                             .mode = SESSION_MODE_HYBRID,
		                             .protocol_mode = SESSION_PROTOCOL_MODE_MCP,
		                             .workspace_root = "/home/op/<billing>",
		                             .client_name = "claude",
		                             .prompt = "do <this>",
		                             .created_at = "2026-01-01T09:00:00.000Z",
		                             .ended_at = "2026-01-01T10:02:00.000Z" };

	slack_notice_session(&session, &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "🚀 *Session started* `0190bbbb-0000`");
	holds(json, "🟢 active · MCP · claude · hybrid mode · /home/op/&lt;billing&gt;");
	holds(json, "do <this>");
	slack_said_clear(&s);
	session.status = SESSION_STATUS_TERMINATED;
	slack_notice_ended(&session, NULL, &s);
	OWNED(char_ptr) char *ended = said(&s);
	holds(ended, "🏁 *Session ended* `0190bbbb-0000` · terminated · 1 h 2 min");
}
END_TEST

static const struct slack_session_row STARTED = { .id = "0190bbbb-0000-1",
	                                          .status = SESSION_STATUS_ACTIVE,
	                                          .mode = SESSION_MODE_REMOTE,
	                                          .protocol_mode = SESSION_PROTOCOL_MODE_ACP,
	                                          .origin = SESSION_ORIGIN_STARTED,
	                                          .workspace_root = "/home/op/billing",
	                                          .client_name = "claude",
	                                          .prompt = "fix <it>",
	                                          .created_at = "2026-01-01T09:00:00.000Z",
	                                          .ended_at = "2026-01-01T10:02:00.000Z" };

START_TEST(a_session_that_we_started_tells_its_prompt_and_can_be_stopped)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	struct slack_session_row session = STARTED;

	slack_notice_session(&session, &s);
	ck_assert_str_eq(str_text(&s.text), "🚀 *Session started* `0190bbbb-0000` in billing. "
	                                    "Agent is processing: *fix &lt;it&gt;*");
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "🛑 Stop");
	holds(json, "\"session_clear\"");
	holds(json, "\"session-clear:0190bbbb-0000-1\"");
	lacks(json, "session_resume");
	for (int i = 0; i < 2; i++) {
		OWNED(slack_said) struct slack_said waits = { 0 };
		OWNED(char_ptr) char *head = NULL;

		session.status = i ? SESSION_STATUS_PAUSED : SESSION_STATUS_INTERRUPTED;
		slack_notice_session(&session, &waits);
		head = said(&waits);
		holds(head, "\"session-resume:0190bbbb-0000-1\"");
		holds(head, "session_clear");
	}
	slack_said_clear(&s);
	session.status = SESSION_STATUS_TERMINATED;
	session.restart_of = "0190aaaa-0000-1";
	slack_notice_session(&session, &s);
	OWNED(char_ptr) char *again = said(&s);
	holds(again, "🔄 *Session restarted* `0190bbbb-0000` (before: `0190aaaa-0000`)");
	lacks(again, "session_clear");
}
END_TEST

START_TEST(the_end_of_an_agent_that_we_started_is_told_with_its_last_lines)
{
	static const struct {
		struct slack_run_row run;
		const char *said;
		bool lines;
	} ENDS[] = {
		{ { .outcome = AGENT_RUN_OUTCOME_EXITED, .exit_code = 3 },
		  "⚠️ Session `0190bbbb-0000` terminated unexpectedly (exit code: 3). · 1 h 2 "
		  "min",
		  true },
		{ { .outcome = AGENT_RUN_OUTCOME_EXITED, .exit_signal = 11 },
		  "⚠️ Session `0190bbbb-0000` terminated unexpectedly (signal: 11). · 1 h 2 "
		  "min",
		  true },
		{ { .outcome = AGENT_RUN_OUTCOME_EXITED },
		  "🏁 *Session ended* `0190bbbb-0000` (exit code: 0). · 1 h 2 min",
		  true },
		{ { .outcome = AGENT_RUN_OUTCOME_FAILED,
		    .why = "/opt/<claude>: No such file or directory" },
		  "⚠️ Session `0190bbbb-0000` could not be started: /opt/&lt;claude&gt;: No "
		  "such "
		  "file "
		  "or directory · 1 h 2 min",
		  true },
		{ { .outcome = AGENT_RUN_OUTCOME_STOPPED, .exit_signal = 15 },
		  "🏁 *Session ended* `0190bbbb-0000` · terminated · 1 h 2 min",
		  false },
	};

	for (size_t i = 0; i < COUNT(ENDS); i++) {
		OWNED(slack_said) struct slack_said s = { 0 };
		struct slack_session_row session = STARTED;
		struct slack_run_row run = ENDS[i].run;

		session.status = SESSION_STATUS_TERMINATED;
		run.stderr_tail = "thread 'main' <panicked>";
		slack_notice_ended(&session, &run, &s);
		ck_assert_str_eq(str_text(&s.text), ENDS[i].said);
		OWNED(char_ptr) char *json = said(&s);
		(ENDS[i].lines ? holds : lacks)(json, "thread 'main' <panicked>");
		holds(json, "\"session-restart:0190bbbb-0000-1\"");
	}
}
END_TEST

START_TEST(a_session_that_lost_its_agent_can_be_resumed_or_stopped)
{
	OWNED(slack_said) struct slack_said s = { 0 };
	static char stopped[] = "the system stopped";
	struct slack_session_row session = STARTED;
	struct slack_run_row run = { .outcome = AGENT_RUN_OUTCOME_INTERRUPTED,
		                     .why = "its runner was killed" };

	slack_notice_run(&session, &run, &s);
	ck_assert_str_eq(str_text(&s.text),
	                 "⚠️ Session `0190bbbb-0000` lost its agent: its runner was killed");
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "\"session-resume:0190bbbb-0000-1\"");
	holds(json, "\"session-clear:0190bbbb-0000-1\"");
	slack_said_clear(&s);
	run = (struct slack_run_row){ .outcome = AGENT_RUN_OUTCOME_INTERRUPTED,
		                      .has_exit_signal = true,
		                      .exit_signal = 15,
		                      .why = stopped };
	slack_notice_run(&session, &run, &s);
	ck_assert_str_eq(str_text(&s.text),
	                 "⏸️ Session `0190bbbb-0000` is interrupted: the system stopped");
	slack_said_clear(&s);
	run.outcome = AGENT_RUN_OUTCOME_FAILED;
	slack_notice_run(&session, &run, &s);
	ck_assert_ptr_nonnull(strstr(str_text(&s.text), " could not be resumed: "));
}
END_TEST

START_TEST(a_stall_alert_has_its_buttons)
{
	static const char *const OPERATORS[] = { "U01OP", NULL };
	OWNED(slack_said) struct slack_said s = { 0 };
	struct stall_by_id_row row = { .id = "0190cccc",
		                       .status = STALL_STATUS_PENDING,
		                       .is_there = true,
		                       .session_id = "0190bbbb",
		                       .last_tool = "ping",
		                       .client_name = "claude",
		                       .workspace_root = "/home/op/billing",
		                       .idle_seconds = 300 };
	const struct slack_stall stall = { .row = &row };

	slack_notice_stall(&stall, OPERATORS, &s);
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
	OWNED(slack_said) struct slack_said s = { 0 };

	slack_notice_asked("Approve it as it is, and tell the agent: “<b>?”", NULL, "17", &s);
	OWNED(char_ptr) char *open = said(&s);
	holds(open, "tell the agent: “&lt;b&gt;?”\\nNothing is approved yet: ");
	holds(open, "\"action_id\":\"tell_approve\",\"text\":{\"type\":\"plain_text\",\"text\":"
	            "\"Approve and tell\"");
	holds(open, "\"action_id\":\"tell_reject\"");
	holds(open, "\"value\":\"17\"");
	slack_said_clear(&s);
	slack_notice_asked("Approve it?",
	                   "already approved by slack:T1:U01OP at "
	                   "2026-01-01T09:30:00.000Z",
	                   "17", &s);
	OWNED(char_ptr) char *answered = said(&s);
	holds(answered, "already approved by <@U01OP> at <!date^1767259800^");
	lacks(answered, "tell_approve");
}
END_TEST

START_TEST(what_an_operator_said_is_quoted_with_its_instants_and_names_as_they_were_typed)
{
	OWNED(slack_said) struct slack_said s = { 0 };

	slack_notice_asked("Approve what slack:T1:U01OP saw at 2026-01-01T09:30:00.000Z, and tell "
	                   "the agent: “since 2026-01-01T09:30:00.000Z ask slack:T1:U02OP, "
	                   "“not me” at 2026-01-02T09:30:00.000Z”",
	                   "done at 2026-01-01T09:31:00.000Z", "17", &s);
	OWNED(char_ptr) char *json = said(&s);
	holds(json, "what <@U01OP> saw at <!date^1767259800^");
	holds(json, "“since 2026-01-01T09:30:00.000Z ask slack:T1:U02OP, “not me” at "
	            "2026-01-02T09:30:00.000Z”");
	holds(json, "done at <!date^1767259860^");
	holds(str_text(&s.text), "“since 2026-01-01T09:30:00.000Z ask slack:T1:U02OP");
}
END_TEST

START_TEST(between_two_quotes_of_a_list_people_are_named_and_instants_shown)
{
	OWNED(slack_said) struct slack_said s = { 0 };

	slack_notice_text("1  of slack:T1:U01OP  “do “it” for slack:T1:U02OP”\n"
	                  "2  of slack:T1:U03OP at 2026-01-01T09:30:00.000Z  “two\n"
	                  "lines of slack:T1:U04OP”\n"
	                  "3  of slack:T1:U05OP",
	                  &s);
	holds(str_text(&s.text), "1  of <@U01OP>  “do “it” for slack:T1:U02OP”\n"
	                         "2  of <@U03OP> at <!date^1767259800^");
	holds(str_text(&s.text), "“two\nlines of slack:T1:U04OP”\n3  of <@U05OP>");
}
END_TEST

START_TEST(a_quote_that_is_cut_off_is_one)
{
	OWNED(slack_said) struct slack_said begins = { 0 };
	OWNED(slack_said) struct slack_said ends = { 0 };

	slack_notice_text("of slack:T1:U01OP “as slack:T1:U02OP\nand slack:T1:U03OP", &begins);
	holds(str_text(&begins.text), "of <@U01OP> “as slack:T1:U02OP\nand slack:T1:U03OP");
	slack_notice_text("as slack:T1:U01OP\nsaid”, and of slack:T1:U02OP", &ends);
	holds(str_text(&ends.text), "as slack:T1:U01OP\nsaid”, and of <@U02OP>");
}
END_TEST

START_TEST(a_modal_has_the_ids_that_answers_are_read_by)
{
	static const struct {
		enum slack_outbox_view view;
		const char *callback, *title;
	} MODALS[] = {
		{ SLACK_OUTBOX_VIEW_REJECT, "approval_reject:7", "Rejection Reason" },
		{ SLACK_OUTBOX_VIEW_REFINE, "prompt_refine:7", "Refine" },
		{ SLACK_OUTBOX_VIEW_NUDGE, "stall_nudge:7", "Nudge" },
		{ SLACK_OUTBOX_VIEW_RESUME, "wait_instruct:7", "Instructions" },
	};

	for (size_t i = 0; i < COUNT(MODALS); i++) {
		cJSON *modal = slack_modal(MODALS[i].view, "7", "Change a.c in web (claude)", NULL);
		struct limits l = { .total = 0 };
		OWNED(char_ptr) char *json = cJSON_PrintUnformatted(modal);

		limits_object(&l, modal);
		ck_assert_str_eq(l.why, "");
		holds(json, MODALS[i].callback);
		holds(json, MODALS[i].title);
		holds(json, "\"block_id\":\"instruction_block\"");
		holds(json, "\"action_id\":\"instruction_text\"");
		holds(json, "\"private_metadata\":\"7\"");
		holds(json, i == 0 ? "\"optional\":true" : "\"optional\":false");
		holds(json, "Change a.c in web (claude)");
		lacks(json, "initial_value");
		cJSON_Delete(modal);
	}
}
END_TEST

START_TEST(a_refine_modal_is_filled_in_as_far_as_it_holds)
{
	OWNED(str) struct str text = { 0 };
	struct limits l = { .total = 0 };
	cJSON *modal;

	for (int i = 0; i < 5000; i++)
		str_add(&text, "😀");
	modal = slack_modal(SLACK_OUTBOX_VIEW_REFINE, "7", "Go on?", str_text(&text));
	limits_object(&l, modal);
	ck_assert_str_eq(l.why, "");
	OWNED(char_ptr) char *json = cJSON_PrintUnformatted(modal);
	holds(json, "\"initial_value\":\"😀");
	cJSON_Delete(modal);
}
END_TEST

START_TEST(a_snippet_is_named_after_its_file)
{
	OWNED(str) struct str name = { 0 };

	slack_diff_name("src/main.c", &name);
	ck_assert_str_eq(str_text(&name), "src_main_c.diff");
}
END_TEST

START_TEST(the_last_resort_says_what_to_type)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said s = { 0 };

	slack_question_say_line(&r, &s);
	ck_assert_ptr_null(s.blocks);
	holds(str_text(&s.text),
	      "agent-intercom-ctl show 0190aaaa-0000-7000-8000-000000000001; then, in the thread: "
	      "approve 0190aaaa-0000-7000-8000-000000000001");
}
END_TEST

START_TEST(a_question_of_a_labelled_agent_shows_its_label_escaped)
{
	struct request r = a_clearance();
	const struct slack_ask a = { .request = &r };
	OWNED(slack_said) struct slack_said s = { 0 }, line = { 0 };
	OWNED(char_ptr) char *blocks = NULL;

	r.row.label = "<left>";
	slack_question_say(&a, &s);
	blocks = said(&s);
	holds(blocks, "claude “&lt;left&gt;” · billing");
	holds(str_text(&s.text), " in billing (claude “&lt;left&gt;”): ");
	slack_question_say_line(&r, &line);
	holds(str_text(&line.text),
	      "(low risk) in billing (claude “&lt;left&gt;”). At the terminal");
	str_clear(&r.body);
}
END_TEST

START_TEST(what_an_agent_is_called_formats_nothing)
{
	OWNED(request) struct request r = a_clearance();
	const struct slack_ask a = { .request = &r };
	OWNED(slack_said) struct slack_said s = { 0 };
	OWNED(char_ptr) char *blocks = NULL;

	r.row.client_name = ">my_agent·1* *";
	r.row.label = "x` · session `01a2`\n✅ *Approved*, _by_ ~o~";
	r.row.title = "Fix\n✅ *it*";
	slack_question_say(&a, &s);
	blocks = said(&s);
	holds(blocks, "›my_agent-1∗ ∗ “x' - session '01a2' ✅ ∗Approved∗, ˍbyˍ ∼o∼” · billing");
	holds(str_text(&s.text), "): Fix ✅ ∗it∗ (");
}
END_TEST

START_TEST(who_was_not_answered_in_time_is_named)
{
	OWNED(request) struct request r = a_clearance();
	OWNED(slack_said) struct slack_said s = { 0 };

	slack_question_say_expired(&r, &s);
	ck_assert_str_eq(str_text(&s.text),
	                 "⏰ Nobody answered in time in billing (claude): Fix the tokenizer\n"
	                 "To have it asked again, tell its agent: `steer &lt;text&gt;`");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_blocks_notices");
	TCase *c = tcase_create("slack_blocks");

	tcase_add_test(c, a_turn_whose_process_was_stopped_did_not_fail);
	tcase_add_test(c, a_write_is_told_with_its_files);
	tcase_add_test(c, whom_we_name_is_mentioned_and_nobody_else);
	tcase_add_test(c, a_broadcast_carries_the_sign_of_its_level);
	tcase_add_test(c, what_an_agent_says_is_a_quote_whatever_it_looks_like);
	tcase_add_test(c, what_we_say_about_an_agent_is_no_quote_and_its_notification_names_it);
	tcase_add_test(c, tools_and_plans_are_in_quotes_a_line_each);
	tcase_add_test(c, a_long_text_is_several_sections_and_says_what_it_left_out);
	tcase_add_test(c, a_broadcast_as_long_as_agents_are_told_is_said_whole);
	tcase_add_test(c, a_text_that_fits_is_said_whole_however_much_of_it_is_escaped);
	tcase_add_test(c, a_text_with_many_instants_fits_its_sections_in_the_readers_time);
	tcase_add_test(c, an_empty_text_is_said_to_be_one);
	tcase_add_test(c, a_session_says_where_it_works_and_how_it_is);
	tcase_add_test(c, a_session_that_we_started_tells_its_prompt_and_can_be_stopped);
	tcase_add_test(c, the_end_of_an_agent_that_we_started_is_told_with_its_last_lines);
	tcase_add_test(c, a_session_that_lost_its_agent_can_be_resumed_or_stopped);
	tcase_add_test(c, a_stall_alert_has_its_buttons);
	tcase_add_test(c, what_is_asked_back_has_two_buttons_until_it_is_answered);
	tcase_add_test(
	    c, what_an_operator_said_is_quoted_with_its_instants_and_names_as_they_were_typed);
	tcase_add_test(c, between_two_quotes_of_a_list_people_are_named_and_instants_shown);
	tcase_add_test(c, a_quote_that_is_cut_off_is_one);
	tcase_add_test(c, a_modal_has_the_ids_that_answers_are_read_by);
	tcase_add_test(c, a_refine_modal_is_filled_in_as_far_as_it_holds);
	tcase_add_test(c, a_snippet_is_named_after_its_file);
	tcase_add_test(c, the_last_resort_says_what_to_type);
	tcase_add_test(c, a_question_of_a_labelled_agent_shows_its_label_escaped);
	tcase_add_test(c, what_an_agent_is_called_formats_nothing);
	tcase_add_test(c, who_was_not_answered_in_time_is_named);
	suite_add_tcase(s, c);
	return run_suite(s);
}
