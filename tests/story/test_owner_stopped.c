/* as-owner, or what works for it, is frozen, killed, missing or stopped by its own user. */
#include "owner_case.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What an agent is told that asks now; health and doctor say the same to those who can help. */
static void is_told_where_to_look(const char *why)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n"), *answer = NULL;
	OWNED(str) struct str said = { 0 };
	struct relay r = users_relay(&users, AGENT);

	relay_begin(&r, "check_clearance", arguments);
	answer = relay_line(&r);
	says(answer, "works as the owner of folders (as-owner) does not answer");
	says(answer, "systemctl status agent-intercom-owner");
	ck_assert_int_eq(relay_stop(&r), 0);
	(void)users_ctl(&users, OPERATOR, &said, "--text health");
	says(said.bytes, why);
	(void)users_run(&users, SERVICE, &said, "%s/agent-intercom doctor",
	                getenv("INTERCOM_BUILD"));
	says(said.bytes, "agent-intercom-owner");
}

START_TEST(who_asks_while_as_owner_is_frozen_dead_or_missing_is_told_where_an_admin_looks)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ACCOUNTS();
	work_in_home(AGENT);
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "--text health"), 0);
	says(said.bytes, "agent-intercom-owner   ready");
	ck_assert_int_eq(kill(users.owner_pid, SIGSTOP), 0);
	is_told_where_to_look("does not answer; see: systemctl status agent-intercom-owner");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "--text health"), 1);
	ck_assert_int_eq(kill(users.owner_pid, SIGCONT), 0);
	ck_assert_int_eq(users_stop_owner(&users), 0);
	is_told_where_to_look("cannot connect to as-owner");
	ck_assert_int_eq(unlink(users.owner_socket), 0);
	is_told_where_to_look("agent-intercom-owner   missing");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM request"), "0\n");
	ck_assert_int_eq(users_stop(&users), 0);
	users_remove(&users);
}
END_TEST

START_TEST(who_looks_while_as_owner_is_frozen_dead_or_missing_is_told_where_an_admin_looks)
{
	static const char SILENT[] = "works as the owner of folders (as-owner) does not answer; an "
	                             "administrator sees why with: systemctl status "
	                             "agent-intercom-owner\n";
	struct relay r;

	NEEDS_ACCOUNTS();
	r = work_there("echo one >a.txt");
	ck_assert_int_eq(kill(users.owner_pid, SIGSTOP), 0);
	for (int i = 0; i < 3; i++) /* more than one folder may have */
		looks("files", 1, SILENT);
	ck_assert_int_eq(kill(users.owner_pid, SIGCONT), 0);
	looks("file a.txt", 0, "one\n");
	ck_assert_int_eq(users_stop_owner(&users), 0);
	looks("file a.txt", 1, SILENT);
	ck_assert_int_eq(unlink(users.owner_socket), 0);
	looks("files", 1, SILENT);
	users_start_owner(&users);
	looks("file a.txt", 0, "one\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

/* Its own user can do that, too. */
START_TEST(a_hand_or_a_helper_that_is_killed_is_started_again)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;
	char id[40];

	NEEDS_ACCOUNTS();
	work_in_home(AGENT);
	r = users_relay(&users, AGENT);
	(void)strcpy(id, users_ask(&users, &r, "a.txt", "one\n")); /* NOLINT: it fits */
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "reject %s", id), 0);
	free(relay_end(&r));
	ck_assert_int_eq(shell(&said, "kill -9 $(pgrep -P %d -x hand)", (int)users.owner_pid), 0);
	(void)strcpy(id, users_ask(&users, &r, "b.txt", "two\n")); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &r, id, "b.txt", "two\n");
	(void)kill(users.owner_pid, SIGKILL);
	(void)end_of(users.owner_pid);
	users_start_owner(&users);
	(void)strcpy(id, users_ask(&users, &r, "c.txt", "three\n")); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &r, id, "c.txt", "three\n");
	belongs_to(AGENT, "c.txt");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(who_stops_what_reads_for_the_system_is_named_as_a_reason)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;

	NEEDS_ACCOUNTS();
	r = work_there("echo one >a.txt && seq 5000 | xargs touch && { (while sleep 0.01; do pkill "
	               "-STOP -x filer -P $OWNER; done) "
	               ">/dev/null 2>&1 & } && echo $! >\"$HOME/pid\"");
	for (int i = 0; i < 40 && !strstr(str_text(&said), "has stopped the processes"); i++)
		(void)users_ctl(&users, OPERATOR, &said, "files");
	says(said.bytes, "or its owner has stopped the processes that read it (filer)");
	ck_assert_int_eq(users_run(&users, AGENT, NULL,
	                           "kill $(cat \"$HOME/pid\"); pkill -CONT -P %d; true",
	                           (int)users.owner_pid),
	                 0);
	for (int i = 0; i < 100 && users_ctl(&users, OPERATOR, &said, "file a.txt"); i++)
		(void)poll(NULL, 0, 20);
	says(said.bytes, "\"text\":\"one");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(who_stops_what_judges_their_own_proposal_is_named_as_a_reason)
{
	static const char DIFF[] = "--- a/big.txt\n+++ b/big.txt\n@@ -2,1 +2,1 @@\n-2\n+changed\n";
	OWNED(char_ptr) char *arguments = proposal("big.txt", DIFF);
	OWNED(char_ptr) char *answer = NULL;
	struct relay r;

	NEEDS_ACCOUNTS();
	r = work_there("seq 1200000 >big.txt && { (while sleep 0.01; do pkill -STOP -x hand -P "
	               "\"$(pgrep -d, -x hand -P $OWNER)\"; done) >/dev/null 2>&1 & } && "
	               "echo $! >\"$HOME/pid\"");
	relay_begin(&r, "check_clearance", arguments);
	answer = relay_line(&r);
	ck_assert_int_eq(users_run(&users, AGENT, NULL,
	                           "kill $(cat \"$HOME/pid\"); "
	                           "pkill -CONT -P \"$(pgrep -d, -P %d)\"; true",
	                           (int)users.owner_pid),
	                 0);
	says(answer, "could not be read within 20 s");
	says(answer, "or its owner has stopped the process that reads it (hand)");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM request WHERE state = 'pending'"),
	                 "0\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

/* Stops each child of as-owner as soon as it is its user's; of the other tests' none. */
static const char STOPPER[] = "import os, sys\n"
                              "def newest(): return int(open('/proc/loadavg').read().split()[-1])\n"
                              "owner, last, seen = sys.argv[1], newest(), set()\n"
                              "open(os.environ['HOME'] + '/ready', 'w')\n"
                              "while True:\n"
                              "  now = newest()\n"
                              "  for pid in range(last + 1, now + 1):\n"
                              "    try:\n"
                              "      if open('/proc/%d/stat' % pid).read().split(') "
                              "')[-1].split()[1] == owner: seen.add(pid)\n"
                              "    except OSError: pass\n"
                              "  last = now\n"
                              "  for pid in list(seen):\n"
                              "    try:\n"
                              "      os.kill(pid, 19)\n"
                              "      seen.discard(pid)\n"
                              "    except PermissionError: pass\n"
                              "    except OSError: seen.discard(pid)\n";

enum { STUCK = 3 };

START_TEST(who_stops_what_writes_for_them_keeps_no_other_user_waiting)
{
	struct relay stuck[STUCK], r;
	char ids[STUCK][40], id[40], diff[80];

	NEEDS_ACCOUNTS();
	for (int i = 0; i < STUCK; i++) {
		work_in_home(AGENT);
		(void)snprintf(users.project + strlen(users.project), 4, "%d", i);
		(void)mkdir(users.project, 0700);
		ck_assert_int_eq(chown(users.project, USER_IDS[AGENT], USER_IDS[AGENT]), 0);
		stuck[i] = users_relay(&users, AGENT);
		(void)strcpy(ids[i],
		             users_ask(&users, &stuck[i], "a.txt", "one\n")); /* NOLINT: it fits */
		approve(ids[i]);
		free(relay_end(&stuck[i]));
	}
	put_file(users.project, "stopper.py", STOPPER);
	ck_assert_int_eq(users_run(&users, AGENT, NULL,
	                           "{ python3 stopper.py %d >/dev/null 2>&1 & } && echo $! "
	                           ">\"$HOME/pid\"; until test -e \"$HOME/ready\"; do sleep 0.01; "
	                           "done",
	                           (int)users.owner_pid),
	                 0);
	work_in_home(OTHER_AGENT);
	r = users_relay(&users, OTHER_AGENT);
	(void)strcpy(id, users_ask(&users, &r, "b.txt", "two\n")); /* NOLINT: it fits */
	approve(id);
	for (int i = 0; i < STUCK; i++) {
		(void)snprintf(diff, sizeof(diff), "{\"request_id\":\"%s\"}", ids[i]);
		relay_begin(&stuck[i], "check_diff", diff);
	}
	users_expect_soon(&users, "SELECT count(*) > 0 FROM apply WHERE attempts > 0", "1\n");
	users_is_written(&users, &r, id, "b.txt", "two\n");
	/* On a slow machine one may have been written before the stopper saw its process. */
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) > 0, sum(attempts > 0) < 3 FROM apply"
	                                   " WHERE state <> 'applied'"),
	                 "1\t1\n");
	work_in_home(AGENT);
	(void)users_run(&users, AGENT, NULL, "kill $(cat \"$HOME/pid\"); pkill -CONT -P %d",
	                (int)users.owner_pid);
	ck_assert_int_eq(relay_stop(&r), 0);
	for (int i = 0; i < STUCK; i++)
		(void)relay_stop(&stuck[i]);
	users_end();
}
END_TEST

START_TEST(after_a_long_job_its_owner_rests_only_if_others_have_waited)
{
	OWNED(char_ptr) char *log = NULL;
	struct relay r;

	NEEDS_ACCOUNTS();
	work_in_home(AGENT);
	r = users_relay(&users, AGENT);
	ck_assert_int_eq(shell(NULL, /* each flush takes 0.3 s */
	                       "cd %s && { strace -f -qq -o /dev/null -e trace=fsync "
	                       "-e inject=fsync:delay_enter=300000 -p %d >/dev/null 2>&1 & } && "
	                       "echo $! >tracer && until grep -q 'TracerPid:[^0]*[1-9]' "
	                       "/proc/%d/status; do sleep 0.05; done",
	                       users.base, (int)users.owner_pid, (int)users.owner_pid),
	                 0);
	for (int job = 0; job < 2; job++) {
		OWNED(str) struct str diff = { 0 };
		char name[8], id[40];

		for (int i = 0; i < 8; i++)
			str_addf(&diff, "--- /dev/null\n+++ b/%d%d\n@@ -0,0 +1 @@\n+text\n", job,
			         i);
		(void)snprintf(name, sizeof(name), "%d0", job);
		(void)strcpy(id, users_ask(&users, &r, name, diff.bytes)); /* NOLINT: it fits */
		approve(id);
		users_is_written(&users, &r, id, name, "text\n");
	}
	(void)shell(NULL, "kill $(cat %s/tracer)", users.base);
	log = get_file(users.base, "log");
	ck_assert_ptr_null(strstr(log, "kept all others waiting"));
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(without_as_owner_an_agent_is_told_that_its_home_is_closed_to_the_system)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(str) struct str said = { 0 };
	struct relay r;

	SKIP_UNLESS(geteuid() == 0, "root, who can become several users");
	users = users_make("");
	users_start(&users);
	work_in_home(AGENT);
	r = users_relay(&users, AGENT);
	relay_begin(&r, "check_clearance", arguments);
	answer = relay_line(&r);
	says(answer, "its folder is closed to this user");
	(void)users_run(&users, SERVICE, &said, "%s/agent-intercom doctor",
	                getenv("INTERCOM_BUILD"));
	says(said.bytes, "as-owner");
	(void)users_ctl(&users, OPERATOR, &said, "health");
	says(said.bytes, "files are reached as agent-intercom's own user");
	says(said.bytes, "agents and commands are not started");
	relay_kill(&r);
	ck_assert_int_eq(users_stop(&users), 0);
	users_remove(&users);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("owner_stopped");
	TCase *c = tcase_create("owner_stopped");

	tcase_add_test(
	    c, who_asks_while_as_owner_is_frozen_dead_or_missing_is_told_where_an_admin_looks);
	tcase_add_test(
	    c, who_looks_while_as_owner_is_frozen_dead_or_missing_is_told_where_an_admin_looks);
	tcase_add_test(c, a_hand_or_a_helper_that_is_killed_is_started_again);
	tcase_add_test(c, who_stops_what_reads_for_the_system_is_named_as_a_reason);
	tcase_add_test(c, who_stops_what_judges_their_own_proposal_is_named_as_a_reason);
	tcase_add_test(c, who_stops_what_writes_for_them_keeps_no_other_user_waiting);
	tcase_add_test(c, after_a_long_job_its_owner_rests_only_if_others_have_waited);
	tcase_add_test(c, without_as_owner_an_agent_is_told_that_its_home_is_closed_to_the_system);
	suite_add_tcase(s, c);
	return run_suite(s);
}
