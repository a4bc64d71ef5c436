/* Words in a session's thread that were probably meant as a command: the agent is told them, and
 * whoever wrote them is told so. */
#include "agent.h"
#include "harness.h"
#include "slack_peer.h"

#include <stdlib.h>
#include <string.h>

#define THREAD "1700000000.000100"
#define SESSION "01900000-0000-7000-8000-000000000001"
#define T "2026-01-01T09:00:00.000Z"

/* A listener that is connected, a session in its thread, commands and a checkpoint. */
static void slack(void)
{
	fresh_store();
	given("INSERT INTO operator (id, kind, team_id, user_id, created_at) VALUES"
	      " ('slack:T01TEAM:U01OP', 'slack', 'T01TEAM', 'U01OP', '" T "');"
	      "UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	      "INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('slack.channel_id', 'C01AGENTS', 'file', '" T "'),"
	      " ('commands', '{\"hello\":\"echo hello\",\"test\":\"make test\"}', 'file', '" T "');"
	      "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " client_name, channel_id, thread_ts, connectivity_status, created_at, updated_at,"
	      " last_activity_at)"
	      " VALUES (1, '" SESSION "', 'h', 'local:tester', '/ws/web', 'active', 'hybrid',"
	      " 'claude', 'C01AGENTS', '" THREAD "', 'online', '" T "', '" T "', '" T "');"
	      "INSERT INTO checkpoint_wanted (kind, session_id, label)"
	      " VALUES ('ordered', '" SESSION "', 'first label');"
	      "UPDATE checkpoint SET state = 'claimed', claim = 1, worker_id = 'w';"
	      "UPDATE checkpoint SET state = 'done', manifest = printf('%064d', 1), files = 1");
	slack_start();
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	(void)start_worker("slack-listener");
	(void)slack_wait_for("hello");
	slack_mark();
}

static char *in_thread(const char *text)
{
	(void)slack_acked("{'message':{'text':'%s','thread_ts':'" THREAD "'}}", text);
	return rows(
	    "SELECT text FROM slack_message WHERE kind = 'reply' ORDER BY seq DESC LIMIT 1");
}

static const char *command(const char *text)
{
	return member(slack_acked("{'slash':{'text':'%s'}}", text), "payload.text");
}

START_TEST(what_was_probably_a_command_is_told_to_the_agent_and_said_to_be)
{
	static const struct {
		const char *text, *meant;
	} CASES[] = {
		{ "run hllo", "`run hello`" },
		{ "run deploy", "`run <alias>`" },
		{ "hello", "`run hello`" },
		{ "Hello", "`run hello`" },
		{ "list-fiels", "`list-files`" },
		{ "list-fiels src --depth 2", "`list-files src --depth 2`" },
		{ "list files", "`list-files`" },
		{ "show file src/main.c", "`show-file src/main.c`" },
		{ "show-fiel src/main.c", "`show-file src/main.c`" },
		{ "session-puase", "`session-pause`" },
		{ "session pause", "`session-pause`" },
		{ "sesion-checkpoint before it", "`session-checkpoint before it`" },
		{ "run-sotp 3", "`run-stop 3`" },
	};

	slack();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr) char *reply = in_thread(CASES[i].text);
		OWNED(str) struct str told = { 0 };
		OWNED(str) struct str meant = { 0 };

		str_addf(&told, "%s\n", CASES[i].text);
		expect("SELECT text FROM steering ORDER BY seq DESC LIMIT 1", told.bytes);
		says(reply, "Noted: the agent is told ");
		str_addf(&meant, "\nThe agent is told it as words. If you meant the command: %s",
		         CASES[i].meant);
		says(reply, meant.bytes);
	}
	expect("SELECT count(*) FROM command", "0\n");
	slack_stop();
}
END_TEST

START_TEST(a_diff_with_a_label_and_runs_with_a_number_are_orders)
{
	static const char *const TEXTS[] = { "diff first label", "Diff First Label",
		                             "<@U0BOT> diff first label" };
	OWNED(char_ptr) char *reply = NULL;

	slack();
	for (size_t i = 0; i < COUNT(TEXTS); i++)
		free(in_thread(TEXTS[i]));
	expect("SELECT count(*) FROM command WHERE verb = 'diff'", "3\n");
	reply = in_thread("runs 12");
	says(reply, "there is no run 12");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

START_TEST(a_sentence_is_only_told)
{
	static const char *const TEXTS[] = {
		"run the tests again",
		"hello there",
		"show file contents in the log",
		"session handling is broken",
		"session-stops are what we need now",
		"diff looks wrong",
		"diff first labels",
		"runs 12 times now",
		"list the files",
		"please run test",
		"list-comprehensions are fine",
	};

	slack();
	for (size_t i = 0; i < COUNT(TEXTS); i++) {
		OWNED(char_ptr) char *reply = in_thread(TEXTS[i]);

		says(reply, "Noted: the agent is told ");
		ck_assert_msg(!strstr(reply, "meant"), "%s: %s", TEXTS[i], reply);
	}
	slack_stop();
}
END_TEST

START_TEST(where_a_question_waits_nothing_is_told_and_the_command_is_named)
{
	OWNED(char_ptr) char *reply = NULL;

	slack();
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, body, created_at,"
	      " updated_at, prompt_type) VALUES ('01922222-0000-7000-8000-00000000000b', 1,"
	      " 'prompt', 'pending', printf('%064d', 1), 'Go on?', 'Go on?', '" T "', '" T "',"
	      " 'continuation')");
	reply = in_thread("run hllo");
	says(reply, "takes `continue`");
	says(reply, "\nIf you meant the command: `run hello`");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

START_TEST(a_mistyped_word_after_intercom_is_guessed)
{
	slack();
	says(command("list-fiels"), "command not found: list-fiels; did you mean `list-files`?");
	says(command("aprove"), "did you mean `approve`?");
	says(command("inbx"), "did you mean `inbox`?");
	says(command("hllo"), "did you mean `hello`?");
	says(command("run qqqqqq"),
	     "command not found: qqqqqq; the aliases of [commands] are `hello`, `test`");
	says(command("run"), "run needs the alias of a command of [commands]: `run &lt;alias&gt;`");
	says(command("xyzzy"), "command not found: xyzzy; `help` lists the commands");
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_meant");
	TCase *c = store_case(s, "meant", 60);

	tcase_add_test(c, what_was_probably_a_command_is_told_to_the_agent_and_said_to_be);
	tcase_add_test(c, a_diff_with_a_label_and_runs_with_a_number_are_orders);
	tcase_add_test(c, a_sentence_is_only_told);
	tcase_add_test(c, where_a_question_waits_nothing_is_told_and_the_command_is_named);
	tcase_add_test(c, a_mistyped_word_after_intercom_is_guessed);
	return run_suite(s);
}
