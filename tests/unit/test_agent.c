/* src/agent: what an agent's process gets, how it is found again, what is kept of its words. */
#include "agent.h"
#include "capture.h"
#include "environment.h"
#include "group.h"
#include "harness.h"
#include "launch.h"
#include "process.h"
#include "tail.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, LOOK_MS = 2 };

/* ---- environment ---- */

static void holds(const struct environment *e, const char *text)
{
	OWNED(str) struct str all = { 0 };

	for (size_t i = 0; i < e->count; i++)
		str_addf(&all, "%s\n", e->variables[i]);
	ck_assert_str_eq(str_text(&all), text);
	ck_assert(!e->variables || !e->variables[e->count]);
}

START_TEST(what_every_agent_needs_passes_and_nothing_else)
{
	char *from[] = { (char *)"PATH=/bin",
		         (char *)"SECRET=1",
		         (char *)"LC_ALL=C",
		         (char *)"PATHS=2",
		         (char *)"HOME=/h",
		         (char *)"LC=no",
		         NULL };
	OWNED(environment) struct environment e = { 0 };

	environment_pass(&e, from, "[]");
	holds(&e, "PATH=/bin\nHOME=/h\nLC_ALL=C\n");
}
END_TEST

START_TEST(a_profile_adds_names_and_values_of_which_the_last_counts)
{
	char *from[] = { (char *)"MY_KEY=1", (char *)"MY_OTHER=2", (char *)"YOURS=3", NULL };
	OWNED(environment) struct environment e = { 0 };

	environment_pass(&e, from, "[\"MY_*\", 7, \"NOT_THERE\"]");
	environment_set_all(&e,
	                    "{\"MY_KEY\": \"mine\", \"EMPTY\": \"\", \"N\": 1, \"a=b\": \"x\"}");
	holds(&e, "MY_KEY=mine\nMY_OTHER=2\nEMPTY=\n");
}
END_TEST

START_TEST(no_variable_of_slack_passes_whatever_a_profile_says)
{
	char *from[] = { (char *)"SLACK_BOT_TOKEN=xoxb-1", (char *)"A=1", NULL };
	OWNED(environment) struct environment e = { 0 };

	environment_pass(&e, from, "[\"*\", \"SLACK_BOT_TOKEN\"]");
	environment_set_all(&e, "{\"SLACK_APP_TOKEN\": \"xapp-1\"}");
	environment_set(&e, "SLACK_X", "1");
	holds(&e, "A=1\n");
}
END_TEST

/* ---- tail ---- */

static void tail_is(const char *said, const char *text)
{
	OWNED(tail) struct tail t = { 0 };
	OWNED(str) struct str out = { 0 };

	for (const char *c = said; *c; c++)
		tail_add(&t, c, 1);
	tail_text(&t, &out);
	ck_assert_str_eq(str_text(&out), text);
}

START_TEST(terminal_sequences_and_what_is_not_seen_are_taken_out)
{
	tail_is("", "");
	tail_is("one\n\ntwo\n", "one\ntwo");
	tail_is("\033[1;31mred\033[0m \033]0;title\007on\033]8;;x\033\\ly\n", "red only");
	tail_is("10 %\r20 %\r\nend", "10 %\n20 %\nend");
	tail_is("a\001b\xff"
	        "c\033",
	        "a\\u{1}b\\x{FF}c");
}
END_TEST

START_TEST(words_that_look_like_secrets_are_taken_out)
{
	tail_is("no key sk-ant-REDACTED here", "no key [redacted] here");
	tail_is("xoxb-1234567890-abc", "[redacted]");
	tail_is("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]");
	tail_is("OPENAI_API_KEY=short next", "OPENAI_API_KEY=[redacted] next");
	tail_is("{\"password\": \"hunter2\"}", "{\"password\": \"[redacted]\"}");
	tail_is("is Zx81LmN0pQ2rS3tU4vW5xY6z yours", "is [redacted] yours");
	tail_is("an unexpected token in /usr/lib/Node18/bin/thing", "an unexpected token in "
	                                                            "/usr/lib/Node18/bin/thing");
	tail_is("commit 0123456789abcdef0123456789abcdef01234567",
	        "commit 0123456789abcdef0123456789abcdef01234567");
}
END_TEST

START_TEST(the_last_lines_are_kept_of_any_amount)
{
	OWNED(tail) struct tail t = { 0 };
	OWNED(str) struct str out = { 0 };
	char line[40];

	for (int i = 0; i < 20000; i++) {
		(void)snprintf(line, sizeof(line), "line %d\n", i);
		tail_add(&t, line, strlen(line));
	}
	tail_text(&t, &out);
	ck_assert_int_eq(strncmp(str_text(&out), "line 19980\n", 11), 0);
	says(str_text(&out), "line 19999");
}
END_TEST

START_TEST(of_an_output_the_first_and_the_last_byte_are_kept_at_least)
{
	struct capture x = { .limit = 1 };
	OWNED(str) struct str text = { 0 };

	capture_add(&x, "abc", 3);
	capture_add(&x, "d", 1);
	capture_text(&x, &text);
	ck_assert_str_eq(str_text(&text), "a\n… 2 bytes are missing here …\nd");
	capture_clear(&x);
}
END_TEST

START_TEST(of_an_output_a_long_line_is_whole)
{
	struct capture x = { .limit = 65536 };
	OWNED(str) struct str line = { 0 }, text = { 0 };

	while (line.length < 20000)
		str_add(&line, "0123456789");
	capture_add(&x, str_text(&line), line.length);
	capture_text(&x, &text);
	ck_assert_uint_eq(text.length, line.length);
	ck_assert(strcmp(str_text(&text), str_text(&line)) == 0); /* too long for a message */
	capture_clear(&x);
}
END_TEST

START_TEST(a_line_without_an_end_is_cut)
{
	OWNED(tail) struct tail t = { 0 };
	OWNED(str) struct str out = { 0 };
	char *much = xmalloc(3 * TAIL_KEPT_BYTES);

	for (size_t i = 0; i < 3 * TAIL_KEPT_BYTES; i += 2)
		memcpy(much + i, "\xc3\xa9", 2);
	tail_add(&t, much, 3 * TAIL_KEPT_BYTES);
	free(much);
	tail_text(&t, &out);
	ck_assert_uint_le(out.length, TAIL_LINE_BYTES + 3);
	ck_assert(utf8_valid(out.bytes, out.length));
}
END_TEST

/* ---- launch ---- */

static struct launch_plan plan_of(char *const *argv)
{
	static char *environment[] = { (char *)"PATH=/usr/bin:/bin", (char *)GROUP_MARK "=mine",
		                       NULL };

	return (struct launch_plan){ .argv = argv, .environment = environment, .directory = "/" };
}

static bool is_there(pid_t pid)
{
	return group_started(pid) != 0;
}

START_TEST(a_process_that_is_held_does_nothing_until_it_is_let_go)
{
	char script[PROGRAM_BYTES];
	const char *folder = scratch();
	char *argv[] = { (char *)"sh", (char *)"-c", script, NULL };
	struct launch_plan plan = plan_of(argv);
	OWNED(launch) struct launch l = LAUNCH_INIT;
	struct err e = { 0 };

	(void)snprintf(script, sizeof(script), "echo x > %s/done", folder);
	ck_assert_int_eq(launch_hold(&l, &plan, &e), 0);
	ck_assert(is_there(l.pid) && l.started == group_started(l.pid));
	ck_assert_ptr_null(get_file(folder, "done"));
	ck_assert_int_eq(launch_go(&l, &plan, &e), 0);
	ck_assert_int_eq(end_of(l.pid), 0);
	OWNED(char_ptr) char *done = get_file(folder, "done");
	ck_assert_str_eq(done, "x\n");
}
END_TEST

START_TEST(who_dies_between_the_two_steps_leaves_no_process)
{
	int ends[2];
	pid_t us, held = 0;

	ck_assert_int_eq(pipe(ends), 0);
	us = fork();
	if (us == 0) {
		char *argv[] = { (char *)"sleep", (char *)"1000", NULL };
		struct launch_plan plan = plan_of(argv);
		struct launch l = LAUNCH_INIT;

		(void)launch_hold(&l, &plan, NULL);
		(void)!write(ends[1], &l.pid, sizeof(l.pid));
		(void)kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(read(ends[0], &held, sizeof(held)), (int)sizeof(held));
	ck_assert_int_eq(end_of(us), 128 + SIGKILL);
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; is_there(held); (void)poll(NULL, 0, 5))
		ck_assert(agent_ms() < end);
}
END_TEST

START_TEST(what_cannot_be_started_is_named)
{
	char *argv[] = { (char *)"no-such-program", NULL };
	struct launch_plan plan = plan_of(argv);
	OWNED(launch) struct launch l = LAUNCH_INIT;
	struct err e = { 0 };

	ck_assert_int_eq(launch_hold(&l, &plan, &e), 0);
	ck_assert_int_eq(launch_go(&l, &plan, &e), -1);
	ck_assert_str_eq(e.text, "cannot start no-such-program: No such file or directory");
	plan.directory = "/no/such";
	ck_assert_int_eq(launch_hold(&l, &plan, &e), 0);
	ck_assert_int_eq(launch_go(&l, &plan, &e), -1);
	ck_assert_str_eq(e.text, "cannot enter the workspace /no/such: No such file or directory");
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}
END_TEST

/* ---- group ---- */

static struct launch given_group(const char *script)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct launch_plan plan = plan_of(argv);
	struct launch l = LAUNCH_INIT;
	struct err e = { 0 };
	char byte;
	struct pollfd p;

	ck_assert_int_eq(launch_hold(&l, &plan, &e), 0);
	ck_assert_int_eq(launch_go(&l, &plan, &e), 0);
	p = (struct pollfd){ .fd = l.out, .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, AGENT_PATIENCE_MS), 1); /* it says when it is ready */
	ck_assert_int_eq(read(l.out, &byte, 1), 1);
	return l;
}

START_TEST(a_group_is_killed_by_pid_and_time_of_its_leader)
{
	struct launch l = given_group("trap '' TERM; sleep 1000 & echo; wait");

	ck_assert_int_eq(group_kill(l.pid, l.started + 1, "mine"), 0);
	ck_assert_int_eq(group_kill(l.pid, l.started, "whoever"), 2);
	ck_assert_int_eq(end_of(l.pid), 128 + SIGKILL);
	/* A killed process is there for a moment. */
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; group_kill(l.pid, l.started, "mine") > 0;
	     (void)poll(NULL, 0, 5))
		ck_assert(agent_ms() < end);
	launch_clear(&l);
}
END_TEST

START_TEST(what_a_dead_leader_left_is_known_by_its_session)
{
	struct launch l = given_group("sleep 1000 & echo");

	ck_assert_int_eq(end_of(l.pid), 0);
	ck_assert_int_eq(group_kill(l.pid, l.started, "another"), 0);
	ck_assert_int_eq(group_kill(l.pid, l.started, "mine"), 1);
	launch_clear(&l);
}
END_TEST

START_TEST(what_has_left_the_group_is_known_by_its_session)
{
	struct launch l = given_group("setsid -f sh -c 'echo; exec sleep 1000'");

	ck_assert_int_eq(end_of(l.pid), 0);
	ck_assert_int_eq(group_kill(l.pid, l.started, "another"), 0);
	ck_assert_int_eq(group_kill(l.pid, l.started, "mine"), 1);
	launch_clear(&l);
}
END_TEST

/* An operator who continues a session in a terminal: its leader has no mark. */
START_TEST(what_was_started_by_hand_with_the_mark_is_left_alone)
{
	struct launch l = given_group("echo");
	OWNED(str) struct str pid = { 0 };

	ck_assert_int_eq(end_of(l.pid), 0);
	(void)shell(&pid, "setsid -f sh -c 'INTERCOM_SESSION_ID=mine sleep 1000 >/dev/null & "
	                  "echo $!; exec >/dev/null; wait'");
	ck_assert_int_eq(group_kill(l.pid, l.started, "mine"), 0);
	ck_assert_int_eq(kill((pid_t)atoi(str_text(&pid)), SIGKILL), 0);
	launch_clear(&l);
}
END_TEST

static bool all_are_ended(void)
{
	return group_end_adopted(GROUP_END_MS) == 0 && waitpid(-1, NULL, WNOHANG) == -1;
}

START_TEST(what_is_adopted_is_ended_wherever_it_has_gone)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct launch l;
		bool adopted = group_adopt(NULL) == 0;

		l = given_group("setsid -f env -i setsid -f sh -c 'sleep 1000 & echo; wait'");
		(void)waitpid(l.pid, NULL, 0);
		_exit(adopted && all_are_ended() ? 0 : 1);
	}
	ck_assert_int_eq(end_of(pid), 0);
}
END_TEST

static void *lives_on(void *nothing)
{
	(void)poll(NULL, 0, -1);
	return nothing;
}

static bool file_says(const char *path, const char *words)
{
	char text[STAT_BYTES] = "";
	FILE *f = fopen(path, "re");

	(void)!fgets(text, sizeof(text), f);
	(void)fclose(f);
	return strstr(text, words);
}

/* The kernel calls it a zombie then. */
START_TEST(what_is_adopted_is_ended_also_when_its_first_thread_is_over)
{
	pid_t pid = fork(), child;
	pthread_t other;
	char state[40];

	if (pid == 0) {
		child = fork();
		if (child == 0) {
			if (pthread_create(&other, NULL, lives_on, NULL) == 0)
				pthread_exit(NULL);
			_exit(1);
		}
		(void)snprintf(state, sizeof(state), "/proc/%d/stat", (int)child);
		while (!file_says(state, ") Z "))
			(void)poll(NULL, 0, LOOK_MS);
		_exit(all_are_ended() ? 0 : 1);
	}
	ck_assert_int_eq(end_of(pid), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent");
	TCase *c = tcase_create("environment");

	tcase_add_test(c, what_every_agent_needs_passes_and_nothing_else);
	tcase_add_test(c, a_profile_adds_names_and_values_of_which_the_last_counts);
	tcase_add_test(c, no_variable_of_slack_passes_whatever_a_profile_says);
	suite_add_tcase(s, c);
	c = tcase_create("tail");
	tcase_add_test(c, terminal_sequences_and_what_is_not_seen_are_taken_out);
	tcase_add_test(c, words_that_look_like_secrets_are_taken_out);
	tcase_add_test(c, the_last_lines_are_kept_of_any_amount);
	tcase_add_test(c, of_an_output_a_long_line_is_whole);
	tcase_add_test(c, of_an_output_the_first_and_the_last_byte_are_kept_at_least);
	tcase_add_test(c, a_line_without_an_end_is_cut);
	suite_add_tcase(s, c);
	c = tcase_create("process");
	tcase_add_test(c, a_process_that_is_held_does_nothing_until_it_is_let_go);
	tcase_add_test(c, who_dies_between_the_two_steps_leaves_no_process);
	tcase_add_test(c, what_cannot_be_started_is_named);
	tcase_add_test(c, a_group_is_killed_by_pid_and_time_of_its_leader);
	tcase_add_test(c, what_a_dead_leader_left_is_known_by_its_session);
	tcase_add_test(c, what_has_left_the_group_is_known_by_its_session);
	tcase_add_test(c, what_was_started_by_hand_with_the_mark_is_left_alone);
	tcase_add_test(c, what_is_adopted_is_ended_wherever_it_has_gone);
	tcase_add_test(c, what_is_adopted_is_ended_also_when_its_first_thread_is_over);
	suite_add_tcase(s, c);
	return run_suite(s);
}
