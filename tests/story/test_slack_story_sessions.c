/* Sessions that are started, ended and begun again from Slack: words, buttons and what the thread
 * says. The runner's part is played by its rows, for a machine that is not this one. */
#include "slack_story_case.h"

static void a_system_that_starts_agents(void)
{
	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	given("UPDATE setting SET value = 'elsewhere' WHERE name = 'system.machine';"
	      "UPDATE setting SET value = '/ws/web' WHERE name = 'default_workspace_root'");
}

/* What the operator is told at once. */
static const char *ordered(const char *words)
{
	return member(slack_acked("{'slash':{'text':'%s'}}", words), "payload.text");
}

/* Slack's name for the newest message of a kind. */
static char *newest(const char *kind)
{
	OWNED(str) struct str sql = { 0 };

	all_is_said();
	str_addf(&sql, "SELECT ts FROM slack_message WHERE kind = '%s' ORDER BY seq DESC LIMIT 1",
	         kind);
	char *ts = rows(str_text(&sql));

	ts[strcspn(ts, "\n")] = '\0';
	return ts;
}

static void shows(const char *ts, const char *words)
{
	OWNED(char_ptr) char *message = shown(ts);

	says(message, words);
}

static void lacks_buttons(const char *ts)
{
	OWNED(char_ptr) char *message = shown(ts);

	ck_assert_ptr_null(strstr(message, "\"actions\""));
}

/* The agent of the newest run is there. */
static void the_agent_runs(void)
{
	given("UPDATE agent_run SET state = 'starting', pid = 4000 WHERE state = 'wanted';"
	      "UPDATE agent_run SET state = 'running', started_at = '2026-01-01T12:00:00.000Z'"
	      " WHERE state = 'starting'");
}

static void the_agent_ends(const char *how)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "UPDATE agent_run SET state = 'ended', ended_at = '2026-01-01T12:05:00.000Z', %s"
	         " WHERE ended_at IS NULL",
	         how);
	given(str_text(&sql));
}

START_TEST(an_agent_is_started_from_slack_and_its_end_is_told_with_its_last_lines)
{
	OWNED(char_ptr) char *head = NULL;
	OWNED(char_ptr) char *end = NULL;
	OWNED(char_ptr) char *again = NULL;

	a_system_that_starts_agents();
	says(ordered("session-start --agent claude fix <the> tests"), ": claude in web.");
	expect("SELECT status, owner_user_id, prompt, mode, workspace_root FROM session",
	       "created|slack:T01TEAM:U01OP|fix <the> tests|remote|/ws/web\n");
	expect("SELECT agent, prompt, state FROM agent_run", "claude|fix <the> tests|wanted\n");
	head = newest("session");
	shows(head, "Agent is processing: *fix &lt;the&gt; tests*");
	shows(head, "🛑 Stop");

	the_agent_runs();
	expect("SELECT status FROM session", "active\n");
	the_agent_ends("outcome = 'exited', exit_code = 101, stderr_tail = 'thread panicked'");
	end = newest("ended");
	shows(end, "terminated unexpectedly (exit code: 101)");
	shows(end, "thread panicked");
	lacks_buttons(head);

	press_and_wait(end, "session_restart");
	expect("SELECT count(*), sum(n.restart_of = o.id), sum(n.thread_ts = o.thread_ts)"
	       " FROM session AS n JOIN session AS o ON o.seq = 1 WHERE n.seq = 2",
	       "1|1|1\n");
	again = newest("restarted");
	shows(again, "🔄 *Session restarted*");
	shows(again, "🛑 Stop");
	press_and_wait(end, "session_restart"); /* once more, with an old button */
	all_is_said();
	whispered("it was restarted already");
	expect("SELECT count(*) FROM session", "2\n");
	end_system();
}
END_TEST

START_TEST(the_stop_button_wants_the_agent_ended)
{
	OWNED(char_ptr) char *head = NULL;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude x");
	head = newest("session");
	the_agent_runs();
	press_and_wait(head, "session_clear");
	expect("SELECT status FROM session", "terminated\n");
	expect("SELECT state, stop_why FROM agent_run", "running|stop by slack:T01TEAM:U01OP\n");
	the_agent_ends("outcome = 'stopped', exit_signal = 15");
	all_is_said();
	lacks_buttons(head);
	expect("SELECT count(*) FROM slack_message WHERE kind = 'ended'", "1\n");
	end_system();
}
END_TEST

START_TEST(a_session_that_lost_its_agent_is_resumed_by_a_button)
{
	OWNED(char_ptr) char *lost = NULL;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude fix it");
	the_agent_runs();
	the_agent_ends("outcome = 'interrupted', why = 'its runner was killed'");
	expect("SELECT status FROM session", "interrupted\n");
	lost = newest("run");
	shows(lost, "lost its agent: its runner was killed");
	press_and_wait(lost, "session_resume");
	expect("SELECT generation, state, prompt FROM agent_run ORDER BY seq",
	       "1|ended|fix it\n2|wanted|fix it\n");
	the_agent_runs();
	expect("SELECT status FROM session", "active\n");
	end_system();
}
END_TEST

START_TEST(a_session_that_lost_its_agent_is_resumed_by_a_word_in_its_thread)
{
	OWNED(char_ptr) char *head = NULL;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude fix it");
	head = newest("session");
	the_agent_runs();
	the_agent_ends("outcome = 'interrupted'");
	(void)slack_acked("{'message':{'text':'resume','thread_ts':'%s'}}", head);
	expect("SELECT generation, state FROM agent_run ORDER BY seq", "1|ended\n2|wanted\n");
	end_system();
}
END_TEST

START_TEST(an_agent_that_cannot_be_started_is_told_with_the_path_and_the_reason)
{
	OWNED(char_ptr) char *end = NULL;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude x");
	the_agent_ends("outcome = 'failed', why = '/opt/claude: No such file or directory'");
	end = newest("ended");
	shows(end, "could not be started: /opt/claude: No such file or directory");
	end_system();
}
END_TEST

START_TEST(somebody_else_may_neither_stop_nor_restart_it_and_is_told_whose_it_is)
{
	static const char *const WORDS[] = { "session-pause", "session-resume", "session-clear",
		                             "session-restart" };
	OWNED(char_ptr) char *id = NULL;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude x");
	the_agent_runs();
	id = rows("SELECT id FROM session");
	id[strcspn(id, "\n")] = '\0';
	for (size_t i = 0; i < COUNT(WORDS); i++)
		says(member(slack_acked("{'slash':{'text':'%s %s','user':'U02OP'}}", WORDS[i], id),
		            "payload.text"),
		     "this session belongs to <@U01OP>, who alone may ");
	expect("SELECT status FROM session", "active\n");
	says(ordered("session-pause"), "is paused");
	says(ordered("session-resume"), "is active again");
	says(ordered("session-clear"), "is stopped");
	end_system();
}
END_TEST

START_TEST(resume_with_words_in_the_thread_of_a_paused_session_resumes_it_and_passes_them_on)
{
	static const char *const SAID[] = { "Resume: use tabs", "resume use tabs" };
	OWNED(char_ptr) char *head = NULL;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude fix it");
	the_agent_runs();
	head = newest("session");
	for (size_t i = 0; i < COUNT(SAID); i++) {
		says(ordered("session-pause"), "is paused");
		(void)slack_acked("{'message':{'text':'%s','thread_ts':'%s'}}", SAID[i], head);
		pass_time_until("SELECT status FROM session", "active\n");
	}
	says(ordered("session-pause"), "is paused");
	says(ordered("resume mind the gap"), "is active again.\nNoted: the agent is told ");
	expect("SELECT text, outcome FROM steering ORDER BY seq",
	       "use tabs|accepted\nuse tabs|accepted\nmind the gap|accepted\n");
	end_system();
}
END_TEST

START_TEST(an_order_is_read_without_the_signs_around_it_and_words_are_shown_on_one_line)
{
	OWNED(char_ptr) char *head = NULL;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude fix it");
	the_agent_runs();
	head = newest("session");
	(void)slack_acked("{'message':{'text':'`session-pause`','thread_ts':'%s'}}", head);
	pass_time_until("SELECT status FROM session", "paused\n");
	(void)slack_acked("{'message':{'text':'Mode “Hybrid”.','thread_ts':'%s'}}", head);
	pass_time_until("SELECT mode FROM session", "hybrid\n");
	says(ordered("mode Remote."), "All sessions, and those to come, are in remote mode");
	(void)slack_acked("{'message':{'text':'steer multi\\nline','thread_ts':'%s'}}", head);
	pass_time_until("SELECT text FROM steering", "multi\nline\n");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'reply'"
	                " AND text LIKE '%: “multi line”'",
	                "1\n");
	says(ordered("mode local"), "are in local mode (before: remote). Questions are asked on "
	                            "their machines, not here.");
	end_system();
}
END_TEST

START_TEST(what_cannot_be_started_is_refused_with_what_there_is)
{
	a_system_that_starts_agents();
	says(ordered("session-start"), "what is the agent to do? `session-start [--agent NAME]");
	given("UPDATE agent SET is_default = 0");
	says(ordered("session-start fix it"),
	     "there is no default agent: set default_agent or host_cli; there are: ");
	says(ordered("session-start --agent clod x"), "there is no agent 'clod'; there are: ");
	says(ordered("session-start --agent claude --workspace bakc x"),
	     "there is no workspace 'bakc' with a path");
	given("UPDATE setting SET value = '1' WHERE name = 'max_concurrent_sessions'");
	says(ordered("session-start --agent claude x"), "Starting session ");
	says(ordered("session-start --agent claude x"), "the limit is exceeded: 1 ");
	expect("SELECT count(*) FROM agent_run", "1\n");
	end_system();
}
END_TEST

START_TEST(what_begins_like_an_option_and_is_none_starts_nothing_unless_two_dashes_precede_it)
{
	a_system_that_starts_agents();
	says(
	    ordered("session-start --agnet claude --workspce back fix it"),
	    "`session-start` has no option `--agnet`; it has `--agent`, `--park`, `--workspace`. A "
	    "text that begins or ends so follows `--`: `session-start -- --agnet claude");
	says(ordered("session-start --agent claude \xE2\x80\x94workspce back fix it"),
	     "has no option `--workspce`");
	says(ordered("session-restart --agent claude fix it"),
	     "`session-restart` has no option `--agent`. A text");
	says(ordered("session-start --agent"), "--agent needs a value: `session-start [--agent");
	expect("SELECT count(*) FROM session", "0\n");

	given("UPDATE setting SET value = '9' WHERE name = 'max_concurrent_sessions'");
	says(ordered("session-start --agent claude -- --agnet a"), "Starting session ");
	(void)ordered("session-start --agent claude \xE2\x80\x94 --agnet b");
	(void)ordered("session-start --agent claude - fix this");
	(void)ordered("session-start --agent=claude fix \xE2\x80\x94 as --before \xE2\x80\x94this");
	(void)ordered("session-start --agent claude \xE2\x80\x94 fix that");
	expect("SELECT prompt FROM agent_run ORDER BY seq",
	       "--agnet a\n--agnet b\n- fix this\n"
	       "fix \xE2\x80\x94 as --before \xE2\x80\x94this\nfix that\n");
	end_system();
}
END_TEST

START_TEST(what_looks_like_an_option_at_either_end_of_a_line_is_one_or_refused_for_every_verb)
{
	static const struct {
		const char *line, *answer;
	} CASES[] = {
		{ "session-start -agent claude fix it",
		  "`session-start` has no option `-agent`; it has `--agent`, `--park`, "
		  "`--workspace`. A text that begins or ends so follows `--`: `session-start -- "
		  "-agent claude fix it`" },
		{ "session-start -x", "`session-start` has no option `-x`; it has" },
		{ "sessions --all", "`sessions` has no option `--all`" },
		{ "session-start fix it -x", "option `-x`; it has `--agent`, `--park`, "
		                             "`--workspace`. A text that begins or ends so "
		                             "follows `--`: `session-start -- fix it -x`" },
		{ "session-start fix it --agnet claude", "has no option `--agnet`" },
		{ "session-start fix it \xE2\x80\x93 \xE2\x80\x94now", "Starting session" },
		{ "session-start fix it --agent nosuch", "there is no agent 'nosuch'" },
		{ "session-start fix it \xE2\x80\x93"
		  "agent nosuch",
		  "there is no agent 'nosuch'" },
		{ "session-start fix it --agent", "--agent needs a value" },
		{ "session-start --agent --park 5 fix it", "--agent needs a value" },
		{ "session-start --agent a --agent b fix it", "--agent is given twice" },
		{ "session-start --agent a fix it --agent b", "--agent is given twice" },
		{ "session-checkpoint --lable x",
		  "`session-checkpoint` has no option `--lable`. A text that begins or ends so "
		  "follows `--`: `session-checkpoint -- --lable x`" },
		{ "session-checkpoint before lunch --label x", "has no option `--label`" },
		{ "task --agent x", "`task` has no option `--agent`" },
		{ "task do it \xE2\x80\x94"
		  "agent x",
		  "`task` has no option `--agent`" },
		{ "steer 01911111-aaaa -x", "`steer 01911111-aaaa -- -x`" },
		{ "reject 01911111-aaaa use -O2 --now",
		  "no question has an id that begins with '01911111-aaaa'" },
		{ "session-cleanup foo",
		  "`session-cleanup` does not take 'foo': `session-cleanup`" },
		{ "session-cleanup --all",
		  "`session-cleanup` has no option `--all`: `session-cleanup`" },
		{ "session-pause 01911111-aaaa please",
		  "does not take 'please': `session-pause [session]`" },
		{ "sessions all", "`sessions` does not take 'all': `sessions`" },
		{ "session-restart --agent x", "`session-restart` has no option `--agent`" },
	};

	a_system_that_starts_agents();
	for (size_t i = 0; i < COUNT(CASES); i++)
		says(ordered(CASES[i].line), CASES[i].answer);
	expect("SELECT prompt FROM session", "fix it \xE2\x80\x93 \xE2\x80\x94now\n");
	expect("SELECT count(*) FROM steering", "0\n");
	expect("SELECT count(*) FROM checkpoint WHERE kind = 'ordered'", "0\n");
	end_system();
}
END_TEST

START_TEST(a_text_with_dashes_inside_in_quotes_or_behind_dashes_is_whole)
{
	static const char *const LINES[] = {
		"fix -x  in main.c",
		"fix -x now",
		"do not fix --all of it now",
		"`ls -l`",
		"stop at -x.",
		"run it as \xE2\x80\x9Cls --all\xE2\x80\x9D",
		"a - b \xE2\x80\x94 c --d",
		"-5 is not --enough for me",
	};
	OWNED(str) struct str prompts = { 0 };

	a_system_that_starts_agents();
	given("UPDATE setting SET value = '19' WHERE name IN ('max_concurrent_sessions', "
	      "'acp.max_sessions')");
	for (size_t i = 0; i < COUNT(LINES); i++) {
		OWNED(str) struct str line = { 0 };

		str_addf(&line, "session-start --agent claude %s", LINES[i]);
		says(ordered(line.bytes), "Starting session ");
		str_addf(&prompts, "%s\n", LINES[i]);
	}
	says(ordered("session-start fix it  --agent=claude  --park \xE2\x80\x9C"
	             "5\xE2\x80\x9D"),
	     ": claude in web.");
	says(ordered("session-start -- fix --agent x"), "Starting session ");
	str_add(&prompts, "fix it\nfix --agent x\n");
	expect("SELECT prompt FROM session ORDER BY seq", prompts.bytes);
	says(ordered("task -- --agent x"), "Noted");
	expect("SELECT text FROM steering", "--agent x\n");
	end_system();
}
END_TEST

START_TEST(in_a_thread_the_words_are_about_its_session_and_after_a_restart_about_the_new_one)
{
	OWNED(char_ptr) char *head = NULL;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude fix it");
	the_agent_runs();
	head = newest("session");
	(void)slack_acked("{'message':{'text':'session-restart with pytest','thread_ts':'%s'}}",
	                  head);
	expect("SELECT prompt, status FROM session ORDER BY seq",
	       "fix it|terminated\nwith pytest|created\n");
	(void)slack_acked("{'message':{'text':'session-clear','thread_ts':'%s'}}", head);
	expect("SELECT status FROM session ORDER BY seq", "terminated\nterminated\n");
	expect("SELECT state, outcome FROM agent_run ORDER BY seq", "running|\nended|stopped\n");
	end_system();
}
END_TEST

START_TEST(in_the_thread_of_an_ended_session_one_is_told_how_to_begin_it_afresh)
{
	static const char *const WORDS[] = { "use tabs", "session-resume", "session-clear" };
	OWNED(char_ptr) char *head = NULL;
	OWNED(str) struct str told = { 0 };

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude fix it");
	the_agent_runs();
	head = newest("session");
	the_agent_ends("outcome = 'exited', exit_code = 0");
	for (size_t i = 0; i < COUNT(WORDS); i++) {
		(void)slack_acked("{'message':{'text':'%s','thread_ts':'%s'}}", WORDS[i], head);
		str_reset(&told);
		str_addf(&told, "%zu\n", i + 1);
		pass_time_until(
		    "SELECT count(*) FROM slack_message AS m, session AS s"
		    " WHERE m.kind = 'reply' AND m.text LIKE '%session %'"
		    " || ' has ended; `session-restart ' || s.id || '` begins it afresh%'",
		    told.bytes);
	}
	end_system();
}
END_TEST

START_TEST(interrupted_sessions_are_ended_in_one_go)
{
	a_system_that_starts_agents();
	says(ordered("session-cleanup"), "No session that was started here is interrupted.");
	(void)ordered("session-start --agent claude one");
	(void)ordered("session-start --agent claude two");
	the_agent_ends("outcome = 'interrupted'");
	says(ordered("session-cleanup"), "2 interrupted sessions ended.");
	expect("SELECT DISTINCT status FROM session", "terminated\n");
	end_system();
}
END_TEST

START_TEST(the_list_says_whose_sessions_they_are_and_what_they_are_to_do)
{
	const char *list;

	a_system_that_starts_agents();
	(void)ordered("session-start --agent claude fix the tests");
	list = ordered("sessions");
	says(list, "🟢 ");
	says(list, "created, remote  claude  /ws/web  started <!date^");
	says(list, "of <@U01OP>");
	says(list, "“fix the tests”");
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_sessions");
	TCase *c = store_case(s, "slack_sessions", 120);

	tcase_add_test(c, an_agent_is_started_from_slack_and_its_end_is_told_with_its_last_lines);
	tcase_add_test(c, the_stop_button_wants_the_agent_ended);
	tcase_add_test(c, a_session_that_lost_its_agent_is_resumed_by_a_button);
	tcase_add_test(c, a_session_that_lost_its_agent_is_resumed_by_a_word_in_its_thread);
	tcase_add_test(c, an_agent_that_cannot_be_started_is_told_with_the_path_and_the_reason);
	tcase_add_test(c, somebody_else_may_neither_stop_nor_restart_it_and_is_told_whose_it_is);
	tcase_add_test(
	    c, resume_with_words_in_the_thread_of_a_paused_session_resumes_it_and_passes_them_on);
	tcase_add_test(
	    c, an_order_is_read_without_the_signs_around_it_and_words_are_shown_on_one_line);
	tcase_add_test(c, what_cannot_be_started_is_refused_with_what_there_is);
	tcase_add_test(
	    c, what_begins_like_an_option_and_is_none_starts_nothing_unless_two_dashes_precede_it);
	tcase_add_test(
	    c, in_a_thread_the_words_are_about_its_session_and_after_a_restart_about_the_new_one);
	tcase_add_test(
	    c, what_looks_like_an_option_at_either_end_of_a_line_is_one_or_refused_for_every_verb);
	tcase_add_test(c, a_text_with_dashes_inside_in_quotes_or_behind_dashes_is_whole);
	tcase_add_test(c, in_the_thread_of_an_ended_session_one_is_told_how_to_begin_it_afresh);
	tcase_add_test(c, interrupted_sessions_are_ended_in_one_go);
	tcase_add_test(c, the_list_says_whose_sessions_they_are_and_what_they_are_to_do);
	return run_suite(s);
}
