/* A workspace is put back from Slack: the words, the question with its buttons, and what the thread
 * and the agent are told. The whole system runs. */
#include "slack_story_case.h"

#include "str.h"

#include <string.h>

/* An agent works in a workspace of which there is a checkpoint, and has changed it since. */
static struct agent an_agent_has_changed_files(void)
{
	struct agent a = an_agent_with_slack();
	OWNED(char_ptr) char *first = call_for_message(&a, "ping", "{}");

	expect_soon("SELECT state FROM checkpoint WHERE kind = 'start'", "done\n");
	put_file(site.workspace, "notes.txt", "good\n");
	says(member(slack_acked("{'slash':{'text':'session-checkpoint before lunch'}}"),
	            "payload.text"),
	     "Taking a checkpoint");
	expect_soon("SELECT state, label FROM checkpoint WHERE kind = 'ordered'",
	            "done|before lunch\n");
	put_file(site.workspace, "notes.txt", "bad\n");
	put_file(site.workspace, "more.txt", "more\n");
	return a;
}

static const char *order(void)
{
	OWNED(char_ptr) char *id = rows("SELECT id FROM checkpoint WHERE kind = 'ordered'");

	id[strcspn(id, "\n")] = '\0';
	return member(slack_acked("{'slash':{'text':'session-restore %s'}}", id), "payload.text");
}

/* Slack's name for the question. */
static char *question(void)
{
	expect_soon("SELECT state FROM workspace_restore ORDER BY seq DESC LIMIT 1", "asked\n");
	all_is_said();
	char *ts = rows("SELECT m.ts FROM slack_message AS m JOIN workspace_restore AS w"
	                " ON w.request_seq = m.request_seq WHERE m.kind = 'ask'"
	                " ORDER BY m.seq DESC LIMIT 1");

	ts[strcspn(ts, "\n")] = '\0';
	return ts;
}

static void file_says(const char *name, const char *content)
{
	OWNED(str) struct str command = { 0 };

	str_addf(&command, "[ \"$(cat '%s/%s' 2>&1)\" = '%s' ]", site.workspace, name, content);
	ck_assert_msg(system(str_text(&command)) == 0, "%s is not %s", name, content);
}

START_TEST(a_checkpoint_is_restored_with_a_button_and_the_agent_is_told)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;
	OWNED(char_ptr) char *told = NULL;
	struct agent a = an_agent_has_changed_files();

	says(order(), "Comparing the workspace with checkpoint before lunch");
	ts = question();
	message = shown(ts);
	says(message, "⚠️ *Restore a checkpoint?*");
	says(message, "The following files have changed since checkpoint before lunch");
	says(message, "Proceeding will override local state. What is there now is kept as "
	              "checkpoint ");
	says(message, "Modified (1)");
	says(message, "Added (1), will be removed");
	says(message, "✅ Proceed");
	says(message, "❌ Cancel");
	file_says("notes.txt", "bad");

	press_and_wait(ts, "restore_proceed");
	expect_soon("SELECT state FROM workspace_restore", "done\n");
	file_says("notes.txt", "good");
	told = call_for_message(&a, "ping", "{}");
	says(told, "put the workspace back to a checkpoint (before lunch)");
	all_is_said();
	char_ptr_clear(&message);
	message = shown(ts);
	ck_assert_ptr_null(strstr(message, "restore_proceed"));
	end_system();
}
END_TEST

START_TEST(cancel_leaves_everything_as_it_is)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;

	(void)an_agent_has_changed_files();
	(void)order();
	ts = question();
	press_and_wait(ts, "restore_cancel");
	expect("SELECT state FROM workspace_restore", "cancelled\n");
	all_is_said();
	message = shown(ts);
	ck_assert_ptr_null(strstr(message, "restore_proceed"));
	file_says("notes.txt", "bad");
	expect("SELECT count(*) FROM apply", "0\n");
	end_system();
}
END_TEST

START_TEST(a_workspace_that_has_changed_since_the_question_is_asked_about_again)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *message = NULL;

	(void)an_agent_has_changed_files();
	(void)order();
	first = question();
	put_file(site.workspace, "notes.txt", "newer\n");
	press_and_wait(first, "restore_proceed");
	expect_soon("SELECT count(*) FROM request WHERE kind = 'restore'", "2\n");
	second = question();
	ck_assert_str_ne(first, second);
	message = shown(first);
	ck_assert_ptr_null(strstr(message, "restore_proceed"));
	file_says("notes.txt", "newer");
	press_and_wait(second, "restore_proceed");
	expect_soon("SELECT state FROM workspace_restore ORDER BY seq DESC LIMIT 1", "done\n");
	file_says("notes.txt", "good");
	end_system();
}
END_TEST

START_TEST(a_checkpoint_that_is_not_there_is_named)
{
	(void)an_agent_has_changed_files();
	says(member(slack_acked("{'slash':{'text':'session-restore 00000000-0000'}}"),
	            "payload.text"),
	     "no checkpoint has an id that begins with '00000000-0000'");
	says(member(slack_acked("{'slash':{'text':'session-restore'}}"), "payload.text"),
	     "which checkpoint?");
	expect("SELECT count(*) FROM workspace_restore", "0\n");
	end_system();
}
END_TEST

/* A line of the session's owner in its thread. */
static void say_in_thread(const char *text)
{
	OWNED(char_ptr)
	char *thread = rows("SELECT thread_ts FROM session WHERE thread_ts IS NOT NULL"
	                    " ORDER BY seq LIMIT 1");

	thread[strcspn(thread, "\n")] = '\0';
	(void)slack_acked("{'message':{'text':'%s','user':'U01OP','thread_ts':'%s'}}", text,
	                  thread);
}

static const char *slash(const char *text)
{
	return member(slack_acked("{'slash':{'text':'%s'}}", text), "payload.text");
}

/* The text of the last answer to a look. */
static char *last_look(const char *count)
{
	OWNED(char_ptr) char *ts = NULL;

	expect_soon("SELECT count(*) FROM file_look WHERE state = 'done'", count);
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'look' AND state = 'sent'",
	                count);
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'look' ORDER BY seq DESC LIMIT 1");
	ts[strcspn(ts, "\n")] = '\0';
	return shown(ts);
}

START_TEST(what_has_changed_is_shown_in_the_thread)
{
	OWNED(char_ptr) char *since = NULL;
	OWNED(char_ptr) char *begun = NULL;

	(void)an_agent_has_changed_files();
	says(slash("diff before lunch"), "Comparing");
	since = last_look("1\n");
	says(since, "🔀 Changes since checkpoint before lunch");
	says(since, "-good");
	says(since, "+bad");
	says(since, "📊 1 modified, 1 added, 0 deleted");
	expect("SELECT m.thread_ts = s.thread_ts FROM slack_message AS m, session AS s"
	       " WHERE m.kind = 'look'",
	       "1\n");
	put_file(site.workspace, ".gitignore", "*ignore\n");
	say_in_thread("diff");
	begun = last_look("2\n");
	says(begun, "+++ b/notes.txt");
	says(begun, ".gitignore: now it is hidden by a new or changed .gitignore");
	says(begun, "0 modified, 2 added, 0 deleted, 1 not compared since");
	says(slash("session-checkpoints"), "before lunch");
	is_not_in(slash("session-checkpoints"), " diff ");
	says(slash("diff nothing like it"), "none is called that");
	end_system();
}
END_TEST

/* A file of so many lines is a diff that no message holds. */
static void put_long_file(const char *name)
{
	OWNED(str) struct str text = { 0 };

	for (int i = 1; i <= 1000; i++)
		str_addf(&text, "line %d\n", i);
	put_file(site.workspace, name, str_text(&text));
}

START_TEST(a_long_diff_is_a_snippet_on_request_and_under_the_question)
{
	OWNED(char_ptr) char *look = NULL;
	OWNED(char_ptr) char *ts = NULL;
	const char *files;

	(void)an_agent_has_changed_files();
	put_long_file("notes.txt");
	says(slash("diff before lunch"), "Comparing");
	look = last_look("1\n");
	says(look, "The diff is too long for a message: see the attached file.");
	says(look, "📊 1 modified, 1 added, 0 deleted");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'file' AND state = 'sent'",
	                "1\n");
	files = slack_ask("files");
	has(files, "files.0.snippet_type", "diff");
	says(member(files, "files.0.content"), "+line 1000\n");
	(void)order();
	ts = question();
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'diff' AND state = 'sent'",
	                "1\n");
	files = slack_ask("files");
	has(files, "files.1.snippet_type", "diff");
	says(member(files, "files.1.content"), "-line 1000\n");
	press_and_wait(ts, "restore_proceed");
	expect_soon("SELECT state FROM workspace_restore", "done\n");
	file_says("notes.txt", "good");
	end_system();
}
END_TEST

static char *read_timeline(struct agent *a, const char *session, const char *query)
{
	OWNED(char_ptr) char *message = NULL;
	struct wire w;
	char json[200];

	(void)snprintf(json, sizeof(json),
	               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"resources/read\",\"params\":"
	               "{\"uri\":\"intercom://session/%.36s/timeline%s\"}}",
	               ++a->id, session, query);
	wire_open(&w, a->port);
	agent_send(a, &w, "POST", "", json);
	message = agent_message(&w);
	wire_close(&w);
	return xstrdup(member(message, "result.contents.0.text"));
}

START_TEST(the_agents_timeline_tells_of_its_checkpoints_and_of_the_restore)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *id = NULL;
	struct agent a = an_agent_has_changed_files();

	(void)order();
	ts = question();
	press_and_wait(ts, "restore_proceed");
	expect_soon("SELECT state FROM workspace_restore", "done\n");
	id = rows("SELECT id FROM session");
	OWNED(char_ptr) char *timeline = read_timeline(&a, id, "");
	OWNED(char_ptr) char *last = read_timeline(&a, id, "?limit=1");

	ck_assert_ptr_null(strstr(last, "},{"));
	says(last, "\"kind\":\"");
	says(timeline, "\"kind\":\"checkpoint.created\",\"actor\":\"archivist\"");
	says(timeline, "\"kind\":\"checkpoint.created\",\"actor\":\"slack:T01TEAM:U01OP\"");
	says(timeline, "\"kind\":\"restore.applied\"");
	end_system();
}
END_TEST

START_TEST(the_list_says_what_each_is_and_what_can_be_done_with_it_in_the_thread_too)
{
	OWNED(char_ptr) char *told = NULL;

	(void)an_agent_has_changed_files();
	told = xstrdup(slash("session-checkpoints"));
	says(told, "*before lunch*  1 file, 5 bytes\n");
	says(told, "as the session began  0 files, 0 bytes\n");
	says(told, "`diff &lt;checkpoint&gt;` shows what has changed since then");
	is_not_in(told, " new");
	is_not_in(told, "ordered");
	say_in_thread("session-checkpoints");
	pass_time_until("SELECT count(*) FROM slack_message WHERE text LIKE"
	                " '%*before lunch*  1 file%' AND thread_ts IS NOT NULL",
	                "1\n");
	say_in_thread("session-checkpoints would be useful here");
	pass_time_until(
	    "SELECT count(*) FROM slack_message WHERE text LIKE '%no session has an id%'", "1\n");
	expect("SELECT count(*) FROM steering", "0\n");
	say_in_thread("list");
	expect_soon("SELECT text FROM steering", "list\n");
	end_system();
}
END_TEST

START_TEST(a_label_that_looks_like_an_id_is_one_in_the_thread_too)
{
	OWNED(char_ptr) char *since = NULL;

	(void)an_agent_has_changed_files();
	say_in_thread("session-checkpoint cp309497");
	expect_soon("SELECT state, label FROM checkpoint WHERE kind = 'ordered'"
	            " AND label <> 'before lunch'",
	            "done|cp309497\n");
	say_in_thread("diff cp309497");
	since = last_look("1\n");
	says(since, "since checkpoint cp309497");
	says(slash("session-restore cp309497"), "Comparing the workspace with checkpoint cp309497");
	end_system();
}
END_TEST

START_TEST(a_checkpoint_is_restored_by_its_label_after_its_session_has_ended)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;

	(void)an_agent_has_changed_files();
	put_file(site.workspace, "my notes.txt", "mine\n");
	says(slash("session-clear"), "is stopped");
	expect("SELECT status FROM session", "terminated\n");
	says(slash("session-restore before lunch"), "Comparing the workspace with");
	ts = question();
	expect("SELECT m.thread_ts = s.thread_ts OR m.root_seq IS NOT NULL FROM slack_message AS m,"
	       " session AS s WHERE m.kind = 'ask'",
	       "1\n");
	message = shown(ts);
	says(message, "Added (2), will be removed");
	press_and_wait(ts, "restore_cancel");
	expect("SELECT state FROM workspace_restore", "cancelled\n");

	says(slash("session-restore “before lunch” “my notes.txt” notes.txt"), "Comparing");
	char_ptr_clear(&ts);
	ts = question();
	press_and_wait(ts, "restore_proceed");
	expect_soon("SELECT state FROM workspace_restore ORDER BY seq DESC LIMIT 1", "done\n");
	file_says("notes.txt", "good");
	file_says("more.txt", "more");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'reply'"
	       " AND text LIKE '%Session restored%before lunch%To take this back%'",
	       "1\n");
	end_system();
}
END_TEST

START_TEST(undo_of_a_restore_names_the_checkpoint_before_it)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *id = NULL;
	OWNED(str) struct str line = { 0 };

	(void)an_agent_has_changed_files();
	(void)order();
	ts = question();
	press_and_wait(ts, "restore_proceed");
	expect_soon("SELECT state FROM workspace_restore", "done\n");
	id = rows("SELECT id FROM request WHERE kind = 'restore'");
	id[strcspn(id, "\n")] = '\0';
	str_addf(&line, "undo %s", id);
	says(slash(line.bytes), "this put a checkpoint back; `session-restore ");
	expect("SELECT count(*) FROM apply", "1\n");
	end_system();
}
END_TEST

START_TEST(an_agent_that_we_started_is_stopped_first_and_started_again_from_there)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;

	a_system_with_an_agent("tidy up", "\"text:working\", \"pause:300000\"");
	expect_soon("SELECT state FROM agent_run", "running\n");
	expect_soon("SELECT state FROM checkpoint WHERE kind = 'start'", "done\n");
	put_file(site.workspace, "notes.txt", "bad\n");
	says(slash("session-restore start notes.txt"), "Comparing the workspace");
	ts = question();
	message = shown(ts);
	says(message, "which runs there, is stopped first");
	press_and_wait(ts, "restore_proceed");
	expect_soon("SELECT state FROM workspace_restore", "done\n");
	expect("SELECT s.status, r.state, r.stop_keeps FROM session AS s, agent_run AS r",
	       "interrupted|ended|1\n");
	expect("SELECT count(*) FROM slack_message WHERE text LIKE"
	       " '%was stopped: `session-resume%starts it again from there%'",
	       "1\n");
	says(slash("session-resume"), "is being started again");
	expect_soon("SELECT state FROM agent_run ORDER BY seq", "ended\nrunning\n");
	end_system();
}
END_TEST

START_TEST(all_agents_that_are_stopped_first_are_named)
{
	OWNED(char_ptr) char *id = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;
	OWNED(char_ptr) char *sessions = NULL;
	OWNED(str) struct str line = { 0 };

	a_system_with_an_agent("tidy up", "\"text:working\", \"pause:300000\"");
	expect_soon("SELECT state FROM checkpoint WHERE kind = 'start'", "done\n");
	says(slash("session-start --agent fake the rest"), "Starting session ");
	expect_soon("SELECT state FROM agent_run", "running\nrunning\n");
	expect_soon("SELECT state FROM checkpoint WHERE kind = 'start'", "done\ndone\n");
	put_file(site.workspace, "notes.txt", "bad\n");
	id = rows("SELECT min(id) FROM checkpoint WHERE kind = 'start'");
	id[strcspn(id, "\n")] = '\0';
	str_addf(&line, "session-restore %s notes.txt", id);
	says(slash(line.bytes), "Comparing the workspace");
	ts = question();
	message = shown(ts);
	sessions = rows("SELECT group_concat(substr(id, 1, 13), ', ') FROM"
	                " (SELECT id FROM session WHERE origin = 'started' ORDER BY seq)");
	sessions[strcspn(sessions, "\n")] = '\0';
	says(message, sessions);
	says(message, "which run there, are stopped first");
	press_and_wait(ts, "restore_proceed");
	expect_soon("SELECT state FROM workspace_restore", "done\n");
	expect("SELECT count(*) FROM session AS s JOIN slack_message AS m"
	       " ON m.text LIKE '%`session-resume ' || substr(s.id, 1, 13) || '` starts it again%'"
	       " WHERE s.status = 'interrupted'",
	       "2\n");
	end_system();
}
END_TEST

START_TEST(a_critical_change_without_its_checkpoint_says_so_in_its_thread)
{
	OWNED(char_ptr) char *plain = proposal("notes.txt", "better\n");
	OWNED(str) struct str arguments = { 0 };
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *request = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;
	struct agent a = an_agent_has_changed_files();
	struct wire w;

	given("INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('checkpoint.max_files', '1', 'file', '2026-01-01T08:00:00.000Z')"
	      " ON CONFLICT (name) DO UPDATE SET value = excluded.value");
	str_addf(&arguments, "%.*s,\"risk_level\":\"critical\"}", (int)strlen(plain) - 1, plain);
	agent_begin(&a, &w, "check_clearance", arguments.bytes, NULL);
	ts = ask_ts();
	press(ts, "approve_accept");
	answer = agent_end(&w);
	request = diff_of(member(answer, "request_id"));
	{
		OWNED(char_ptr) char *written = agent_call(&a, "check_diff", request);

		says(written, "none: the workspace has more than 1 files and folders");
	}
	char_ptr_clear(&ts);
	ts = ts_of("write");
	message = shown_now(ts);
	says(message, "Changes applied to notes.txt");
	says(message, "Without a checkpoint before it: the workspace has more than 1 files");
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_restore");
	TCase *c = store_case(s, "restore", 120);

	tcase_add_test(c, a_checkpoint_is_restored_with_a_button_and_the_agent_is_told);
	tcase_add_test(c, cancel_leaves_everything_as_it_is);
	tcase_add_test(c, a_workspace_that_has_changed_since_the_question_is_asked_about_again);
	tcase_add_test(c, a_checkpoint_that_is_not_there_is_named);
	tcase_add_test(c, what_has_changed_is_shown_in_the_thread);
	tcase_add_test(c, a_label_that_looks_like_an_id_is_one_in_the_thread_too);
	tcase_add_test(c, a_long_diff_is_a_snippet_on_request_and_under_the_question);
	tcase_add_test(c, the_agents_timeline_tells_of_its_checkpoints_and_of_the_restore);
	tcase_add_test(c,
	               the_list_says_what_each_is_and_what_can_be_done_with_it_in_the_thread_too);
	tcase_add_test(c, a_checkpoint_is_restored_by_its_label_after_its_session_has_ended);
	tcase_add_test(c, an_agent_that_we_started_is_stopped_first_and_started_again_from_there);
	tcase_add_test(c, all_agents_that_are_stopped_first_are_named);
	tcase_add_test(c, undo_of_a_restore_names_the_checkpoint_before_it);
	tcase_add_test(c, a_critical_change_without_its_checkpoint_says_so_in_its_thread);
	return run_suite(s);
}
