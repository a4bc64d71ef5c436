/* Whole stories with Slack: a real agent asks over MCP, somebody answers in the (fake) Slack, and
 * the agent goes on. The whole system runs: supervisor, front, applier, listener, poster. */
#include "slack_story_case.h"

/* ---- whole files ---- */

/* An agent asks to change a file that is there. */
static struct agent an_agent_asks_to_change(const char *name, const char *old, struct wire *w)
{
	OWNED(char_ptr) char *asked = proposal(name, "new\n");
	struct agent a;

	a_system_with_slack();
	put_file(site.workspace, name, old);
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, w, "check_clearance", asked, NULL);
	return a;
}

static void say_in_thread(const char *user, const char *text)
{
	OWNED(char_ptr) char *thread = rows("SELECT thread_ts FROM session");

	thread[strcspn(thread, "\n")] = '\0';
	(void)slack_acked("{'message':{'text':'%s','user':'%s','thread_ts':'%s'}}", text, user,
	                  thread);
}

START_TEST(the_whole_file_is_shown_to_who_asks_and_the_buttons_live_on)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *thread = NULL;
	OWNED(char_ptr) char *answer = NULL;
	const char *files;
	struct wire w;

	(void)an_agent_asks_to_change("notes.txt", "one\ntwo <&> `three`\n", &w);
	ts = ask_ts();
	put_file(site.workspace, "notes.txt", "one\ntwo <&> `four`\n");
	press_and_wait(ts, "approve_file");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'file' AND state = 'sent'",
	                "1\n");
	files = slack_ask("files");
	has(files, "files.0.name", "notes.txt");
	has(files, "files.0.content", "one\ntwo <&> `four`\n"); /* as it is now */
	thread = rows("SELECT thread_ts FROM session");
	thread[strcspn(thread, "\n")] = '\0';
	has(files, "files.0.thread_ts", thread);
	expect("SELECT verb, operator_id, outcome FROM command", "file|slack:T01TEAM:U01OP|done\n");
	expect("SELECT count(*) FROM file_view", "0\n");

	say_in_thread("U02OP", "file");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'file' AND state = 'sent'",
	                "2\n");
	press_and_wait(ts, "approve_accept");
	answer = agent_end(&w);
	has(answer, "status", "approved");
	end_system();
}
END_TEST

START_TEST(a_stranger_is_shown_no_file)
{
	OWNED(char_ptr) char *ts = NULL;
	struct wire w;

	(void)an_agent_asks_to_change("notes.txt", "one\n", &w);
	ts = ask_ts();
	(void)slack_acked("{'click':{'channel':'C01AGENTS','ts':'%s','user':'U03GUEST',"
	                  "'action_id':'approve_file'}}",
	                  ts);
	say_in_thread("U03GUEST", "file");
	expect("SELECT count(*) FROM command", "0\n");
	expect("SELECT count(*) FROM file_view", "0\n");
	expect("SELECT count(*) FROM slack_message WHERE kind IN ('file', 'reply')", "0\n");
	expect("SELECT count(*) FROM event WHERE kind = 'security.stranger'", "2\n");
	end_system();
}
END_TEST

static void expect_not_shown(const char *why)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "SELECT count(*) FROM slack_message WHERE kind = 'reply' AND state = 'sent' "
	         "AND text LIKE '%%%s%%'",
	         why);
	pass_time_until(str_text(&sql), "1\n");
}

START_TEST(a_file_that_cannot_be_shown_is_told_with_its_reason)
{
	OWNED(str) struct str path = { 0 };
	OWNED(char_ptr) char *ts = NULL;
	struct wire w;

	(void)an_agent_asks_to_change("notes.txt", "one\n", &w);
	ts = ask_ts();
	str_addf(&path, "%s/notes.txt", site.workspace);
	ck_assert_int_eq(truncate(path.bytes, 1000001), 0);
	press_and_wait(ts, "approve_file");
	expect_not_shown("is larger than 1000000 bytes");
	ck_assert_int_eq(truncate(path.bytes, 10), 0); /* "one", and bytes of nothing */
	press_and_wait(ts, "approve_file");
	expect_not_shown("notes.txt is no text");
	ck_assert_int_eq(unlink(path.bytes), 0);
	press_and_wait(ts, "approve_file");
	expect_not_shown("notes.txt does not exist");
	ck_assert_int_eq(symlink("/etc/passwd", path.bytes), 0);
	press_and_wait(ts, "approve_file");
	expect_not_shown("path violation");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'file'", "0\n");
	end_system();
}
END_TEST

START_TEST(of_a_new_file_there_is_nothing_to_show)
{
	OWNED(char_ptr) char *asked = proposal("new.txt", "new\n");
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;
	struct agent a;
	struct wire w;

	a = an_agent_with_slack();
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	message = shown(ts);
	ck_assert_ptr_null(strstr(message, "approve_file"));
	say_in_thread("U01OP", "file");
	expect_not_shown("There is no file yet");
	end_system();
}
END_TEST

START_TEST(a_file_that_a_change_has_created_is_shown_once_it_is_written)
{
	OWNED(char_ptr) char *asked = proposal("new.txt", "new\n");
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *request = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(str) struct str order = { 0 };
	const char *files;
	struct agent a;
	struct wire w;

	a = an_agent_with_slack();
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	press_and_wait(ts, "approve_accept");
	answer = agent_end(&w);
	str_addf(&order, "file %s", member(answer, "request_id"));
	say_in_thread("U01OP", str_text(&order));
	expect_not_shown("There is no file yet");
	request = diff_of(member(answer, "request_id"));
	written = agent_write(&a, request);
	put_file(site.workspace, "new.txt", "newer\n");
	say_in_thread("U01OP", str_text(&order));
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'file' AND state = 'sent'",
	                "1\n");
	files = slack_ask("files");
	has(files, "files.0.name", "new.txt");
	has(files, "files.0.content", "newer\n");
	end_system();
}
END_TEST

/* ---- files of the workspace, which no question is about ---- */

/* The newest message of this kind, as Slack shows it. */
static char *newest(const char *kind)
{
	OWNED(str) struct str sql = { 0 };
	OWNED(char_ptr) char *ts = NULL;

	str_addf(&sql, "SELECT ts FROM slack_message WHERE kind = '%s' ORDER BY seq DESC LIMIT 1",
	         kind);
	ts = rows(str_text(&sql));
	ts[strcspn(ts, "\n")] = '\0';
	return shown(ts);
}

static void looks_are_sent(int count)
{
	char expected[20];

	(void)snprintf(expected, sizeof(expected), "%d\n", count);
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'look' AND state = 'sent'",
	                expected);
}

static void make(const char *command)
{
	ck_assert_int_eq(shell(NULL, "cd '%s' && %s", site.workspace, command), 0);
}

START_TEST(a_tree_and_a_file_come_where_they_were_asked)
{
	OWNED(char_ptr) char *tree = NULL;
	OWNED(char_ptr) char *file = NULL;
	OWNED(char_ptr) char *ts = NULL;
	struct wire w;

	(void)an_agent_asks_to_change("notes.txt", "one\n", &w);
	ts = ask_ts();
	make("mkdir -p src/mcp .hidden && printf 'fn main() {}\\n' > src/main.rs"
	     " && touch src/mcp/mod.rs .hidden/x");
	says(member(slack_acked("{'slash':{'text':'list-files src --depth 2'}}"), "payload.text"),
	     "Looking at src");
	looks_are_sent(1);
	tree = newest("look");
	says(tree, "📁 Directory: src/");
	says(tree, "src/\\n├── main.rs\\n└── mcp/\\n    └── mod.rs");
	says(tree, "📊 1 directory, 2 files | Depth: 2 | 💡 Use `--depth N` to adjust");
	expect("SELECT channel_id, thread_ts, root_seq FROM slack_message WHERE kind = 'look'",
	       "C01AGENTS||\n");

	say_in_thread("U01OP", "show-file src/main.rs \xE2\x80\x94lines 1:1");
	looks_are_sent(2);
	file = newest("look");
	says(file, "📄 src/main.rs");
	says(file, "fn main() {}");
	says(file, "\"language\":\"rust\"");
	says(file, "📊 Lines 1–1 of 1 line | 13 bytes | Last modified: ");
	expect("SELECT m.thread_ts = s.thread_ts FROM slack_message AS m JOIN session AS s"
	       " ON s.seq = m.session_seq WHERE m.kind = 'look'",
	       "1\n");
	expect("SELECT verb, outcome, operator_id FROM command ORDER BY seq",
	       "list-files|done|slack:T01TEAM:U01OP\nshow-file|done|slack:T01TEAM:U01OP\n");
	end_system();
}
END_TEST

START_TEST(what_is_too_long_for_a_message_comes_as_a_snippet)
{
	OWNED(char_ptr) char *message = NULL;
	const char *files;

	(void)an_agent_with_slack();
	make("seq 1 1000 | sed 's/$/ \303\251/' > long.py && mkdir d && cd d && seq 1 41 | xargs "
	     "touch");
	(void)slack_acked("{'slash':{'text':'show-file long.py'}}");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'file' AND state = 'sent'",
	                "1\n");
	message = newest("look");
	says(message, "The file is too long for a message: see the attached file.");
	says(message, "📊 1,000 lines | 6,893 bytes | Last modified: ");
	says(message, "💡 Use `--lines 10:50` to view a range");
	files = slack_ask("files");
	has(files, "files.0.name", "long.py");
	has(files, "files.0.snippet_type", "python");
	(void)slack_acked("{'slash':{'text':'list-files d'}}");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'file' AND state = 'sent'",
	                "2\n");
	files = slack_ask("files");
	has(files, "files.1.name", "d.txt");
	says(member(files, "files.1.content"), "d/\n├── 1\n├── 10\n");
	end_system();
}
END_TEST

START_TEST(what_is_refused_is_told_by_name_and_a_stranger_is_told_nothing)
{
	OWNED(char_ptr) char *message = NULL;

	(void)an_agent_with_slack();
	make("printf 'a\\0b' > data.bin");
	(void)slack_acked("{'slash':{'text':'show-file ../../etc/passwd','user':'U03GUEST'}}");
	(void)slack_acked("{'slash':{'text':'show-file ../../etc/passwd'}}");
	looks_are_sent(1);
	message = newest("look");
	says(message, "permission denied: \\\"../../etc/passwd\\\" leads outside the workspace");
	(void)slack_acked("{'slash':{'text':'show-file data.bin'}}");
	looks_are_sent(2);
	expect("SELECT why FROM file_look WHERE state = 'refused' AND path = 'data.bin'",
	       "data.bin is a binary file, which is not shown\n");
	says(member(slack_acked("{'slash':{'text':'list-files --depth 99'}}"), "payload.text"),
	     "the depth must be a number from 1 to 10");
	expect("SELECT count(*) FROM file_look", "2\n");
	expect("SELECT count(*) FROM event WHERE kind = 'security.stranger'", "1\n");
	end_system();
}
END_TEST

START_TEST(an_option_that_is_none_is_named_and_a_path_that_begins_so_follows_two_dashes)
{
	OWNED(char_ptr) char *message = NULL;

	(void)an_agent_with_slack();
	make("printf 'a\\n' > '--dpeth 3'");
	says(member(slack_acked("{'slash':{'text':'list-files src --dpeth 3'}}"), "payload.text"),
	     "`list-files` has no option `--dpeth`; it has `--depth`, `--session`, `--workspace`.");
	says(member(slack_acked("{'slash':{'text':'show-file --depth 3'}}"), "payload.text"),
	     "`show-file` has no option `--depth`; it has `--session`, `--workspace`, `--lines`.");
	expect("SELECT count(*) FROM file_look", "0\n");
	(void)slack_acked("{'slash':{'text':'show-file -- --dpeth 3'}}");
	looks_are_sent(1);
	message = newest("look");
	says(message, "📄 --dpeth 3");
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_files");
	TCase *looks = store_case(s, "slack_looks", 60);
	TCase *whole_files = store_case(s, "slack_files", 60);

	tcase_add_test(whole_files, the_whole_file_is_shown_to_who_asks_and_the_buttons_live_on);
	tcase_add_test(whole_files, a_stranger_is_shown_no_file);
	tcase_add_test(whole_files, a_file_that_cannot_be_shown_is_told_with_its_reason);
	tcase_add_test(whole_files, of_a_new_file_there_is_nothing_to_show);
	tcase_add_test(whole_files, a_file_that_a_change_has_created_is_shown_once_it_is_written);
	tcase_add_test(looks, a_tree_and_a_file_come_where_they_were_asked);
	tcase_add_test(looks, what_is_too_long_for_a_message_comes_as_a_snippet);
	tcase_add_test(
	    looks, an_option_that_is_none_is_named_and_a_path_that_begins_so_follows_two_dashes);
	tcase_add_test(looks, what_is_refused_is_told_by_name_and_a_stranger_is_told_nothing);
	return run_suite(s);
}
