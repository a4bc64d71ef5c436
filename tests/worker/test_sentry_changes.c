/* sentry: changes of files that nothing explains. */
#include "harness.h"
#include "process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char ws[400];

static const char LAPSES[] = "SELECT kind, host, subject, session_seq FROM gate_lapse";
static const char ONE[] = "unexplained|claude|s1|1\n";

static void make(const char *command)
{
	ck_assert_int_eq(shell(NULL, "cd '%s' && %s", ws, command), 0);
}

/* A call of a hook of session 1: its gate_call has this number. */
static void given_hook(int seq, const char *moment, const char *class, const char *decision)
{
	char sql[1500];
	struct instant now = clock_now();

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, arguments,"
	    " digest, state, created_at, finished_at) VALUES (%d, 2, 1, '%d', 'legacy',"
	    " 'intercom/hook', '{}', printf('%%064d', 1), 'done', '%s', '%s');"
	    "INSERT INTO gate_call (seq, call_seq, session_seq, host, helper, event, moment, class,"
	    " digest, decision, created_at, decided_at) VALUES (%d, %d, 1, 'claude', '0', 'e', "
	    "'%s',"
	    " %s, printf('%%064d', 1), '%s', '%s', '%s')",
	    seq, seq, now.text, now.text, seq, seq, moment, class, decision, now.text, now.text);
	given(sql);
}

static void given_seen(int seq)
{
	char sql[200];

	(void)snprintf(sql, sizeof(sql),
	               "UPDATE gate_call SET seen = 'same', seen_at = '%s' WHERE seq = %d",
	               clock_now().text, seq);
	given(sql);
}

/* An agent whose hooks call works in a folder; gate.watch is as given. */
static void begin(const char *mode, const char *watch)
{
	char sql[1600];
	struct instant now = clock_now();

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO setting (name, value, source, updated_at) VALUES ('gate.watch', '%s', "
	    "'file',"
	    " '%s');"
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's1', 'h', 'local:ann', '%s', 'active', '%s', "
	    "'%s',"
	    " '%s');"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, client_name,"
	    " session_seq, identity, created_at) VALUES (2, 'hook', 'h', 'hook', '2025-06-18',"
	    " 'claude', 1, '{}', '%s')",
	    watch, now.text, ws, mode, now.text, now.text, now.text);
	given(sql);
	given_hook(1, "prompt", "NULL", "noted");
}

/* Whether it watches what is in the folder, too. */
static bool watches_below(int pid)
{
	char path[sizeof(ws) + 5];
	struct stat below;

	(void)snprintf(path, sizeof(path), "%s/sub", ws);
	ck_assert_int_eq(stat(path, &below), 0);
	return shell(NULL, "grep -qs '^inotify wd:.* ino:%lx ' /proc/%d/fdinfo/*",
	             (unsigned long)below.st_ino, pid) == 0;
}

/* Starts it, and waits until it does. */
static void watches(void)
{
	pid_t pid = start_worker("sentry");

	while (!watches_below((int)pid))
		(void)usleep(20000);
}

static void setup(void)
{
	fresh_store();
	(void)snprintf(ws, sizeof(ws), "%s", scratch());
	(void)setenv("HOME", ws, 1);
	make("mkdir sub node_modules build && echo build/ >.gitignore");
}

static void nothing_is_noticed(void)
{
	expect_still(LAPSES, "", 6000);
}

START_TEST(a_change_while_no_tool_runs_is_told_once)
{
	begin("remote", "remote");
	watches();
	make("touch sub/a");
	expect_soon(LAPSES, ONE);
	make("touch sub/b");
	expect_still(LAPSES, ONE, 5000);
	expect("SELECT detail LIKE 'sub/a changed while no tool ran%' FROM gate_lapse", "1\n");
}
END_TEST

START_TEST(a_change_in_a_new_folder_is_noticed)
{
	begin("remote", "remote");
	given_hook(2, "pre_tool", "'execute'", "allow");
	watches();
	make("mkdir -p new/deep");
	expect_still(LAPSES, "", 5000);
	given_seen(2);
	advance(10000);
	make("touch new/deep/a");
	expect_soon(LAPSES, ONE);
}
END_TEST

START_TEST(what_an_allowed_tool_does_is_explained)
{
	begin("remote", "remote");
	given_hook(2, "pre_tool", "'execute'", "allow");
	watches();
	make("touch a");
	nothing_is_noticed();
	given_seen(2);
	advance(10000);
	make("touch b");
	expect_soon(LAPSES, ONE);
}
END_TEST

START_TEST(reading_explains_nothing)
{
	begin("remote", "remote");
	given_hook(2, "pre_tool", "'read'", "allow");
	given_hook(3, "pre_tool", "'execute'", "deny");
	watches();
	make("touch a");
	expect_soon(LAPSES, ONE);
}
END_TEST

START_TEST(what_git_ignores_and_what_tools_fill_is_not_watched)
{
	begin("remote", "remote");
	watches();
	make("touch build/a node_modules/b && mkdir target && touch target/c");
	nothing_is_noticed();
}
END_TEST

START_TEST(after_its_turn_a_change_is_a_persons)
{
	begin("remote", "remote");
	given_hook(2, "stop", "NULL", "noted");
	watches();
	make("touch a");
	nothing_is_noticed();
}
END_TEST

START_TEST(who_works_beside_their_agent_is_not_watched)
{
	begin("hybrid", "remote");
	(void)start_worker("sentry");
	make("touch a");
	nothing_is_noticed();
}
END_TEST

START_TEST(always_means_in_every_mode)
{
	begin("hybrid", "always");
	watches();
	make("touch a");
	expect_soon(LAPSES, ONE);
}
END_TEST

START_TEST(too_many_changes_at_once_are_noticed_too)
{
	begin("remote", "remote");
	watches();
	make("i=0; mkdir sub/x; while [ $i -lt 20000 ]; do : >sub/f$i; i=$((i + 1)); done");
	expect_soon(LAPSES, ONE);
}
END_TEST

START_TEST(an_operators_command_explains_it)
{
	begin("remote", "remote");
	given("INSERT INTO event (at, kind, actor) VALUES "
	      "(strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+1 minute'), 'alias.running', 'local:ann')");
	watches();
	make("touch a");
	nothing_is_noticed();
}
END_TEST

START_TEST(without_inotify_it_tries_again_at_its_next_look)
{
	OWNED(char_ptr) char *pid = NULL;
	pid_t tracer;

	begin("remote", "remote");
	tracer = start_traced("sentry", "inotify_init1", "error=EMFILE:when=1", "/dev/null");
	expect_soon("SELECT state FROM worker WHERE name = 'sentry'", "ready\n");
	pid = rows("SELECT pid FROM worker");
	while (!watches_below(atoi(pid))) /* NOLINT(cert-err34-c) */
		advance(1000);
	make("touch sub/a");
	expect_soon(LAPSES, ONE);
	(void)kill(-tracer, SIGKILL);
	(void)waitpid(tracer, NULL, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sentry_changes");
	TCase *c = store_case(s, "changes", 90);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, a_change_while_no_tool_runs_is_told_once);
	tcase_add_test(c, a_change_in_a_new_folder_is_noticed);
	tcase_add_test(c, what_an_allowed_tool_does_is_explained);
	tcase_add_test(c, reading_explains_nothing);
	tcase_add_test(c, what_git_ignores_and_what_tools_fill_is_not_watched);
	tcase_add_test(c, after_its_turn_a_change_is_a_persons);
	tcase_add_test(c, who_works_beside_their_agent_is_not_watched);
	tcase_add_test(c, always_means_in_every_mode);
	tcase_add_test(c, too_many_changes_at_once_are_noticed_too);
	tcase_add_test(c, an_operators_command_explains_it);
	tcase_add_test(c, without_inotify_it_tries_again_at_its_next_look);
	suite_add_tcase(s, c);
	return run_suite(s);
}
