/* `agent-intercom acp` with a whole system: what a person is asked, and whose answer counts. */
#include "acp_proxy_case.h"

#include "agent.h"
#include "site.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(an_operator_answers_and_the_editor_is_told)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_command_that_waits(&a);
	expect("SELECT kind, title, body FROM request", "permission|npm test|npm test\n");
	approve_all();
	hears(&a.agent, chosen("0", "yes"));
	hears_part(&a.editor, "$/cancel_request");
	expect_soon("SELECT host, event, decision FROM gate_call",
	            "acp|session/request_permission|allow\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(the_editor_answers_and_the_question_is_decided)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = permission("0", COMMAND);

	party_say(&a.agent, line);
	hears(&a.editor, line);
	party_say(&a.editor, chosen("0", "no"));
	hears(&a.agent, chosen("0", "no"));
	expect("SELECT source, verdict, outcome, reason FROM decision",
	       "editor|reject|applied|in the editor\n");
	expect("SELECT r.state FROM request AS r", "rejected\n");
	expect("SELECT count(*) FROM steering", "0\n"); /* no words of the operator's */
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(what_is_allowed_once_in_the_editor_is_not_seen_as_always)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = permission("0", COMMAND);

	party_say(&a.agent, line);
	hears(&a.editor, line);
	party_say(&a.editor, chosen("0", "yes"));
	hears(&a.agent, chosen("0", "yes"));
	expect("SELECT verdict, reason FROM decision", "approve|in the editor\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(what_is_always_allowed_in_the_editor_is_seen_as_that)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = NULL;
	const char *line = permission("0", COMMAND);

	party_say(&a.agent, line);
	hears(&a.editor, line);
	party_say(&a.editor, chosen("0", "always"));
	hears(&a.agent, chosen("0", "always"));
	id = rows("SELECT id FROM request");
	ck_assert_int_eq(ctl(&said, "show %.36s --text", id), 0);
	says(str_text(&said), "reason    always, in the editor");
	str_reset(&said);
	ck_assert_int_eq(ctl(&said, "log --text"), 0);
	says(str_text(&said), ": always, in the editor\n");
	expect("SELECT count(*) FROM steering", "0\n"); /* no words of the operator's */
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(in_remote_mode_the_editor_is_not_asked)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = permission("0", COMMAND);

	party_say(&a.agent, line);
	hears(&a.editor, line);
	given("UPDATE session SET mode = mode"); /* the session is there */
	given_mode("remote");
	party_say(&a.editor, chosen("0", "yes"));
	expect_soon("SELECT source, outcome FROM decision", "editor|not_in_this_mode\n");
	waits(1);
	party_say(&a.agent, permission("1", "{\"toolCallId\":\"c2\",\"kind\":\"execute\","
	                                    "\"rawInput\":{\"command\":\"make\"}}"));
	waits(2);
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_write_is_shown_as_its_effect_and_the_editor_writes_it)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = write_of(&a, "8", "a.txt", "one\\nthree\\n");

	put_file(s.workspace, "a.txt", "one\ntwo\n");
	party_say(&a.agent, line);
	waits(1);
	expect("SELECT kind, file_path, instr(effect, '-two') > 0, instr(effect, '+three') > 0"
	       " FROM request",
	       "permission|a.txt|1|1\n");
	hears_nothing_but_marks(&a);
	approve_all();
	hears(&a.editor, line);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_path_that_can_be_no_files_is_said_to_be_behind_no_link)
{
	static const struct {
		const char *name, *why;
	} CASES[] = {
		{ "x\\ny",
		  "has a line break or another control character in its path: /%/x\\x0ay" },
		{ ".", "is the folder of the workspace itself: /%/%" },
	};
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str query = { 0 };

		party_say(&a.agent, write_of(&a, "8", CASES[i].name, "mine"));
		waits(1);
		str_addf(&query,
		         "SELECT risk_level, description LIKE '%s',"
		         " instr(description, 'link'), instr(title, '(+') FROM request WHERE state "
		         "= 'pending'",
		         CASES[i].why);
		expect(query.bytes, "high|1|0|0\n");
		decide_all("reject");
		hears_part(&a.agent, "rejected");
	}
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_file_that_has_changed_since_it_was_shown_is_asked_about_once_more)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = write_of(&a, "8", "a.txt", "three\\n");

	put_file(s.workspace, "a.txt", "one\n");
	party_say(&a.agent, line);
	waits(1);
	put_file(s.workspace, "a.txt", "two\n");
	approve_all();
	expect_soon("SELECT count(*) FROM request", "2\n");
	expect("SELECT reason FROM gate_call WHERE withheld_at IS NOT NULL",
	       "what it is about has changed since it was shown; it is asked again as it is now\n");
	hears_nothing_but_marks(&a);
	waits(1);
	approve_all();
	hears(&a.editor, line);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(an_approval_that_was_withheld_counts_for_nothing_later)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	put_file(s.workspace, "a.txt", "one\n");
	party_say(&a.agent, write_of(&a, "8", "a.txt", "three\\n"));
	waits(1);
	put_file(s.workspace, "a.txt", "two\n");
	approve_all();
	expect_soon("SELECT count(*) FROM request", "2\n");
	waits(1);
	decide_all("reject");
	hears_part(&a.agent, "rejected");
	put_file(s.workspace, "a.txt", "one\n");
	party_say(&a.agent, write_of(&a, "9", "a.txt", "three\\n"));
	expect_soon("SELECT count(*) FROM request", "3\n");
	waits(1);
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

static void editor_shows_edit(struct trio *a, const struct site *s)
{
	OWNED(str) struct str call = { 0 };
	const char *line;

	put_file(s->workspace, "a.txt", "one\n");
	str_addf(&call,
	         "{\"toolCallId\":\"c1\",\"kind\":\"edit\",\"title\":\"Edit\",\"content\":[{"
	         "\"type\":\"diff\",\"path\":\"%s/a.txt\",\"oldText\":\"one\","
	         "\"newText\":\"three\"}]}",
	         s->workspace);
	line = permission("0", call.bytes);
	party_say(&a->agent, line);
	hears(&a->editor, line);
}

/* The editor shows an edit of a.txt that the front has asked about, and then the file changes. */
static void given_edit_of_what_changes(struct trio *a, const struct site *s)
{
	editor_shows_edit(a, s);
	waits(1);
	put_file(s->workspace, "a.txt", "one\ntwo\n");
}

START_TEST(a_yes_in_the_editor_to_what_has_changed_approves_nothing)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_edit_of_what_changes(&a, &s);
	party_say(&a.editor, chosen("0", "yes"));
	hears_part(&a.editor, "session/request_permission"); /* a new dialog */
	waits(1);
	hears_nothing_but_marks(&a);
	expect("SELECT count(*) FROM decision", "1\n");
	expect("SELECT state FROM request ORDER BY seq", "approved\npending\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_dialog_of_what_changed_before_its_front_was_back_is_shown_anew)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_edit_of_what_changes(&a, &s);
	kill_and_await("mcp-front");
	hears_part(&a.editor, "{\"requestId\":0}");
	hears_part(&a.editor, "session/request_permission");
	party_say(&a.editor, chosen("0", "yes")); /* too late */
	hears_nothing_but_marks(&a);
	expect("SELECT state, decided_by FROM request ORDER BY seq",
	       "expired|system:clock\npending|\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* No front is there while the editor begins to show it; then, it asks. */
static void given_edit_that_is_shown_before_a_front_asks(struct trio *a, const struct site *s,
                                                         const char *changed)
{
	const pid_t front = worker_pid("mcp-front");

	ck_assert_int_eq(kill(front, SIGSTOP), 0);
	editor_shows_edit(a, s);
	if (changed)
		put_file(s->workspace, "a.txt", changed);
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	waits(1);
}

START_TEST(a_dialog_of_what_changed_before_any_front_was_there_is_shown_anew)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_edit_that_is_shown_before_a_front_asks(&a, &s, "one\ntwo\n");
	hears_part(&a.editor, "{\"requestId\":0}");
	hears_part(&a.editor, "session/request_permission");
	party_say(&a.editor, chosen("0", "yes")); /* too late */
	hears_nothing_but_marks(&a);
	expect("SELECT state FROM request", "pending\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_dialog_that_was_shown_before_any_front_was_there_stays)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_edit_that_is_shown_before_a_front_asks(&a, &s, NULL);
	party_say(&a.editor, chosen("0", "yes"));
	hears_part(&a.agent, "\"yes\"");
	expect_soon("SELECT state FROM request", "approved\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(an_approval_that_its_front_did_not_tell_is_spent_once_the_file_has_changed)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_edit_of_what_changes(&a, &s);
	ck_assert_int_eq(kill(worker_pid("mcp-front"), SIGSTOP), 0);
	approve_all();
	kill_and_await("mcp-front");
	expect_soon("SELECT state, delivered_at IS NOT NULL FROM request ORDER BY seq",
	            "approved|1\npending|0\n");
	hears_part(&a.editor, "{\"requestId\":0}");
	party_say(&a.editor, chosen("0", "yes")); /* too late */
	hears_part(&a.editor, "session/request_permission");
	decide_all("reject");
	hears_part(&a.editor, "$/cancel_request");
	hears_part(&a.agent, "\"no\"");
	given_edit_of_what_changes(&a, &s); /* it is asked about as it was shown then */
	expect("SELECT state FROM request ORDER BY seq", "approved\nrejected\npending\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

static void editor_cancels(struct trio *a)
{
	static const char ANSWER[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"outcome\":{"
	                             "\"outcome\":\"cancelled\"}}}";

	party_say(&a->editor, ANSWER);
	hears(&a->agent, ANSWER);
}

/* Its call waits for ever, as far as the database knows. */
START_TEST(what_the_editor_cancels_is_withdrawn_also_if_its_first_front_is_gone)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_command_that_waits(&a);
	kill_and_await("mcp-front");
	editor_cancels(&a);
	expect_soon("SELECT state FROM request", "expired\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(what_the_editor_cancels_while_no_front_is_there_is_withdrawn_once_one_is)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_command_that_waits(&a);
	ck_assert_int_eq(kill(s.pid, SIGSTOP), 0); /* it would start another front */
	ck_assert_int_eq(kill(worker_pid("mcp-front"), SIGKILL), 0);
	editor_cancels(&a);
	expect("SELECT state FROM request", "pending\n");
	ck_assert_int_eq(kill(s.pid, SIGCONT), 0);
	expect_soon("SELECT state FROM request", "expired\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_front_that_is_killed_while_a_question_waits_asks_nobody_twice)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_command_that_waits(&a);
	kill_and_await("mcp-front");
	waits(1);
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT count(*) FROM session", "1\n");
	party_say(&a.editor, chosen("0", "always"));
	hears(&a.agent, chosen("0", "always"));
	expect("SELECT source, outcome FROM decision", "editor|applied\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_question_that_nobody_needs_is_gone)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = NULL;

	party_say(&a.agent, write_of(&a, "1", "x", "x"));
	party_say(&a.agent, permission("2", COMMAND));
	waits(2);
	free(party_hear(&a.editor));
	party_close(&a.editor);
	expect_soon("SELECT count(*) FROM request WHERE state = 'expired'", "2\n");
	expect("SELECT DISTINCT reason FROM request",
	       "its editor or its agent has gone, or cancelled it\n");
	id = rows("SELECT id FROM request LIMIT 1");
	ck_assert_int_eq(ctl(&said, "approve %.36s 2>&1", id), 1);
	says(str_text(&said), "no answer is needed any longer");
	says(str_text(&said), "its editor or its agent has gone");
	ck_assert_ptr_null(strstr(str_text(&said), "ask again"));
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* The agent asks; the editor shows it, and answers with this line. */
static void is_asked_and_answered(struct trio *a, const char *line, const char *answer)
{
	party_say(&a->agent, line);
	hears(&a->editor, line);
	waits(1);
	party_say(&a->editor, answer);
	waits(0);
	hears(&a->agent, answer);
}

START_TEST(what_the_editor_cancels_or_rejects_is_asked_again)
{
	static const char CANCELLED[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}";
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = permission("0", COMMAND);

	is_asked_and_answered(&a, line, CANCELLED);
	is_asked_and_answered(&a, line, chosen("0", "no"));
	is_asked_and_answered(&a, line, chosen("0", "yes"));
	expect("SELECT state FROM request ORDER BY seq", "expired\nrejected\napproved\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(what_the_policy_allows_is_answered_at_once)
{
	struct site s = given_site();
	struct trio a;

	ck_assert_int_eq(shell(NULL, "mkdir -p '%s/.intercom'", s.workspace), 0);
	put_file(s.workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"commands\":[\"npm test\"]}");
	site_start(&s);
	a = given_trio_on(&s);
	party_say(&a.agent, permission("0", COMMAND));
	hears(&a.agent, chosen("0", "yes"));
	hears_nothing_but_marks(&a);
	expect("SELECT count(*) FROM request", "0\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* ---- whose session it is ---- */

/* A folder beside the workspace of a site, which is no workspace yet. */
static const char *other_folder(const struct site *s)
{
	static char folder[200];

	(void)snprintf(folder, sizeof(folder), "%s/other", s->home);
	ck_assert_int_eq(shell(NULL, "mkdir -p '%s'", folder), 0);
	return folder;
}

/* A command that nobody has asked about. */
static void asks_anew(struct trio *a, const char *id, int count)
{
	static int number;
	char call[200];
	const char *line;

	(void)snprintf(call, sizeof(call),
	               "{\"toolCallId\":\"n%d\",\"kind\":\"execute\",\"rawInput\":{\"command\":"
	               "\"make %d\"}}",
	               number, number);
	number++;
	line = permission(id, call);
	party_say(&a->agent, line);
	hears(&a->editor, line);
	waits(count);
}

/* The editor opens the session that all these agents call s1. */
static void opens(struct trio *a, const char *method)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "{\"jsonrpc\":\"2.0\",\"id\":50,\"method\":\"%s\",\"params\":{%s\"cwd\":\"%s\","
	         "\"mcpServers\":[]}}",
	         method, strcmp(method, "session/new") == 0 ? "" : "\"sessionId\":\"s1\",",
	         a->folder);
	party_say(&a->editor, line.bytes);
	hears(&a->agent, line.bytes);
	passes(&a->agent, "{\"jsonrpc\":\"2.0\",\"id\":50,\"result\":{\"sessionId\":\"s1\"}}\n",
	       strlen("{\"jsonrpc\":\"2.0\",\"id\":50,\"result\":{\"sessionId\":\"s1\"}}\n"),
	       &a->editor);
}

START_TEST(a_policy_is_for_no_agent_elsewhere_that_calls_its_session_the_same)
{
	struct site s = given_site();
	struct trio a, b;
	const char *line;
	char theirs[400];

	ck_assert_int_eq(shell(NULL, "mkdir -p '%s/.intercom' '%s/docs'", s.workspace, s.workspace),
	                 0);
	put_file(s.workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"commands\":[\"npm test\"],\"file_patterns\":{\"write\":"
	         "[\"docs/**\"]}}");
	site_start(&s);
	a = given_trio_on(&s);
	party_say(&a.agent, permission("0", COMMAND));
	hears(&a.agent, chosen("0", "yes"));
	b = trio_start(other_folder(&s), s.database, NULL);
	opened(&b, b.folder, "s1");
	line = permission("0", COMMAND);
	party_say(&b.agent, line);
	hears(&b.editor, line);
	(void)snprintf(theirs, sizeof(theirs),
	               "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"fs/write_text_file\",\"params\":"
	               "{\"sessionId\":\"s1\",\"path\":\"%s/docs/x.md\",\"content\":\"x\"}}",
	               s.workspace);
	party_say(&b.agent, theirs);
	waits(2);
	hears_nothing_but_marks(&b);
	expect("SELECT count(*), count(DISTINCT workspace_root) FROM session", "2|2\n");
	expect("SELECT count(*) FROM request AS r JOIN session AS s ON s.seq = r.session_seq"
	       " WHERE s.workspace_root LIKE '%/other'",
	       "2\n");
	expect("SELECT risk_level FROM request ORDER BY seq DESC LIMIT 1", "critical\n");
	trio_ends(&a, 0);
	trio_ends(&b, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(two_agents_in_one_folder_that_number_their_sessions_are_apart)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s), b = given_trio_on(&s);

	opens(&a, "session/new");
	opens(&b, "session/new");
	asks_anew(&a, "0", 1);
	asks_anew(&b, "0", 2);
	party_say(&b.editor, chosen("0", "no"));
	hears(&b.agent, chosen("0", "no"));
	waits(1);
	expect("SELECT count(*) FROM session", "2\n");
	trio_ends(&a, 0);
	trio_ends(&b, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_session_that_a_restarted_editor_loads_goes_on)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s), b;

	opens(&a, "session/new");
	asks_anew(&a, "0", 1);
	trio_ends(&a, 0);
	b = given_trio_on(&s);
	opens(&b, "session/load");
	asks_anew(&b, "0", 1);
	expect("SELECT count(*) FROM session", "1\n");
	trio_ends(&b, 0);
	a = given_trio_on(&s);
	opens(&a, "session/resume");
	asks_anew(&a, "0", 1);
	expect("SELECT count(*) FROM session", "1\n");
	trio_ends(&a, 0);
	a = given_trio_on(&s);
	opens(&a, "session/new"); /* another one, whatever its agent calls it */
	asks_anew(&a, "0", 1);
	expect("SELECT count(*) FROM session", "2\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_session_that_is_loaded_elsewhere_or_twice_is_another_one)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s), b = given_trio_on(&s), c;

	opens(&a, "session/new");
	asks_anew(&a, "0", 1);
	opens(&b, "session/load"); /* while the first has it */
	asks_anew(&b, "0", 2);
	expect("SELECT count(*) FROM session", "2\n");
	trio_ends(&a, 0);
	trio_ends(&b, 0);
	c = trio_start(other_folder(&s), s.database, NULL);
	opens(&c, "session/load");
	asks_anew(&c, "0", 1);
	expect("SELECT count(*), count(DISTINCT workspace_root) FROM session", "3|2\n");
	trio_ends(&c, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* The agent asks for what is not wholly understood: the policy would allow it if it were. */
static void asks_as_high(struct trio *a, const char *line, bool in_editor, int count)
{
	party_say(&a->agent, line);
	if (in_editor)
		hears(&a->editor, line);
	waits(count);
	expect("SELECT risk_level FROM request ORDER BY seq DESC LIMIT 1", "high\n");
}

START_TEST(what_is_not_wholly_understood_has_the_risk_of_what_it_may_do)
{
	static const char *const WITH[] = {
		"\"env\":[{\"name\":\"LD_PRELOAD\",\"value\":\"/x.so\"}]",
		"\"shell\":\"/bin/evil\"",
	};
	struct site s = given_site();
	OWNED(str) struct str call = { 0 };
	struct trio a;

	ck_assert_int_eq(shell(NULL, "mkdir -p '%s/.intercom'", s.workspace), 0);
	put_file(s.workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"risk_level_threshold\":\"low\",\"commands\":[\"make *\"],"
	         "\"tools\":[\"*\"]}");
	site_start(&s);
	a = given_trio_on(&s);
	for (int i = 0; i < 2; i++) {
		OWNED(str) struct str line = { 0 };

		str_addf(
		    &line,
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"terminal/create\",\"params\":{"
		    "\"sessionId\":\"s1\",\"command\":\"make\",\"args\":[\"x\"],%s}}",
		    i, WITH[i]);
		asks_as_high(&a, line.bytes, false, i + 1);
	}
	str_addf(&call,
	         "{\"toolCallId\":\"c3\",\"kind\":\"execute\",\"title\":\"Run\",\"rawInput\":{"
	         "\"command\":\"rm -rf /\"},\"content\":[{\"type\":\"diff\",\"path\":\"%s/a.txt\","
	         "\"oldText\":null,\"newText\":\"x\"}]}",
	         s.workspace);
	asks_as_high(&a, permission("3", call.bytes), true, 3);
	expect("SELECT count(*) FROM request WHERE body LIKE '%risk%'", "0\n");
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(after_its_session_was_stopped_an_agent_is_denied_what_it_asks)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = NULL;

	given_command_that_waits(&a);
	id = rows("SELECT id FROM session");
	ck_assert_int_eq(ctl(&said, "session clear %.36s 2>&1", id), 0);
	hears(&a.agent, chosen("0", "no"));
	hears_part(&a.editor, "$/cancel_request");
	party_say(&a.agent, permission("1", COMMAND));
	hears(&a.agent, chosen("1", "no"));
	party_say(&a.agent, terminal("2", "\"command\":\"npm\",\"args\":[\"test\"]"));
	hears_part(&a.agent, "has been terminated");
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(what_is_too_large_or_too_deep_to_be_asked_is_denied)
{
	enum { LEVELS = 80, LONG = 5 << 20 };
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	OWNED(str) struct str deep = { 0 }, call = { 0 }, large = { 0 };

	for (int i = 0; i < LEVELS; i++)
		str_add_char(&deep, '[');
	for (int i = 0; i < LEVELS; i++)
		str_add_char(&deep, ']');
	str_addf(&call, "{\"toolCallId\":\"c1\",\"kind\":\"edit\",\"rawInput\":{\"a\":%s}}",
	         deep.bytes);
	party_say(&a.agent, permission("0", call.bytes));
	hears(&a.agent, chosen("0", "no"));
	str_reset(&call);
	str_addf(&call, "\"command\":\"id\",\"env\":%s", deep.bytes);
	party_say(&a.agent, terminal("1", call.bytes));
	hears_part(&a.agent, "nested deeper than 64 levels");
	str_add(&large, "\"command\":\"");
	for (int i = 0; i < LONG; i++)
		str_add_char(&large, 'a');
	str_add(&large, "\"");
	party_say(&a.agent, terminal("2", large.bytes));
	hears_part(&a.agent, "longer than 4 MiB");
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* The editor does not ask about a write: its agent hears at once why it is refused. */
START_TEST(an_agent_is_told_why_the_system_refuses_to_start)
{
	struct site s = given_site();
	struct trio a;

	given("ALTER TABLE session ADD COLUMN of_another_build INTEGER");
	given("DROP VIEW inbox");
	a = given_trio_on(&s);
	party_say(&a.agent, write_of(&a, "1", "x", "x"));
	hears_part(&a.agent, "was made by another build of agent-intercom");
	trio_ends(&a, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_system");
	TCase *c = store_case(s, "acp_proxy_system", 90);

	tcase_add_test(c, an_operator_answers_and_the_editor_is_told);
	tcase_add_test(c, the_editor_answers_and_the_question_is_decided);
	tcase_add_test(c, what_is_allowed_once_in_the_editor_is_not_seen_as_always);
	tcase_add_test(c, what_is_always_allowed_in_the_editor_is_seen_as_that);
	tcase_add_test(c, in_remote_mode_the_editor_is_not_asked);
	tcase_add_test(c, a_write_is_shown_as_its_effect_and_the_editor_writes_it);
	tcase_add_test(c, a_path_that_can_be_no_files_is_said_to_be_behind_no_link);
	tcase_add_test(c, a_file_that_has_changed_since_it_was_shown_is_asked_about_once_more);
	tcase_add_test(c, an_approval_that_was_withheld_counts_for_nothing_later);
	tcase_add_test(c, a_yes_in_the_editor_to_what_has_changed_approves_nothing);
	tcase_add_test(c, a_dialog_of_what_changed_before_any_front_was_there_is_shown_anew);
	tcase_add_test(c, a_dialog_that_was_shown_before_any_front_was_there_stays);
	tcase_add_test(c, a_dialog_of_what_changed_before_its_front_was_back_is_shown_anew);
	tcase_add_test(c,
	               an_approval_that_its_front_did_not_tell_is_spent_once_the_file_has_changed);
	tcase_add_test(c, what_the_editor_cancels_is_withdrawn_also_if_its_first_front_is_gone);
	tcase_add_test(c, what_the_editor_cancels_while_no_front_is_there_is_withdrawn_once_one_is);
	tcase_add_test(c, a_front_that_is_killed_while_a_question_waits_asks_nobody_twice);
	tcase_add_test(c, a_question_that_nobody_needs_is_gone);
	tcase_add_test(c, what_the_editor_cancels_or_rejects_is_asked_again);
	tcase_add_test(c, what_the_policy_allows_is_answered_at_once);
	tcase_add_test(c, a_policy_is_for_no_agent_elsewhere_that_calls_its_session_the_same);
	tcase_add_test(c, two_agents_in_one_folder_that_number_their_sessions_are_apart);
	tcase_add_test(c, a_session_that_a_restarted_editor_loads_goes_on);
	tcase_add_test(c, a_session_that_is_loaded_elsewhere_or_twice_is_another_one);
	tcase_add_test(c, what_is_not_wholly_understood_has_the_risk_of_what_it_may_do);
	tcase_add_test(c, after_its_session_was_stopped_an_agent_is_denied_what_it_asks);
	tcase_add_test(c, what_is_too_large_or_too_deep_to_be_asked_is_denied);
	tcase_add_test(c, an_agent_is_told_why_the_system_refuses_to_start);
	return run_suite(s);
}
