/* The program hook is never open by its own fault: whatever goes wrong before a tool is a deny, at
 * other events silence. */
#include "hook_case.h"

#include "err.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct front front;

static void setup(void)
{
	given_run_directory();
	front = given_front();
}

/* ---- the front ---- */

START_TEST(an_answer_that_makes_no_sense_is_a_deny)
{
	static const char *const BAD[] = {
		"garbage\n",
		"\n",
		"=\n",
		"=x\n",
		"=10\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"decision\":\"allow\"}}\n",
		">{\"decision\":\"allow\"}\n~\n",
	};

	for (size_t i = 0; i < COUNT(BAD); i++) {
		struct hook h = given_hook("claude PreToolUse", WRITE);

		(void)front_hears(&front);
		front_says(&front, BAD[i]);
		is_denied(&h, "could not be understood");
		front_hangs_up(&front);
	}
}
END_TEST

START_TEST(an_answer_that_is_too_long_is_a_deny)
{
	enum { MIB = 1 << 20, TOO_MANY = 9 };
	struct hook h = given_hook("claude PreToolUse", WRITE);
	OWNED(char_ptr) char *piece = xcalloc(MIB + 1, 1);

	memset(piece, 'a', MIB);
	(void)front_hears(&front);
	front_says(&front, ">");
	for (int i = 0; i < TOO_MANY; i++)
		front_says(&front, piece);
	front_says(&front, "\n=0\n");
	is_denied(&h, "longer than");
	front_hangs_up(&front);
	h = given_hook("claude PreToolUse", WRITE);
	(void)front_hears(&front);
	for (int i = 0; i < TOO_MANY; i++) {
		front_says(&front, ">");
		front_says(&front, piece);
		front_says(&front, "\n");
	}
	is_denied(&h, "longer than");
}
END_TEST

START_TEST(a_front_that_is_away_is_a_deny_or_the_hosts_own_decision_if_so_set)
{
	struct hook h;

	front_ends(&front);
	h = given_hook("claude PreToolUse --deadline 1", WRITE);
	is_denied(&h, "not running");
	h = given_hook("claude PreToolUse --deadline 1 --when-down deny", WRITE);
	is_denied(&h, "not running");
	h = given_hook("claude PreToolUse --deadline 1 --when-down allow", WRITE);
	is_said(&h, "");
}
END_TEST

START_TEST(only_a_front_that_is_away_is_down)
{
	struct hook h = given_hook("claude PreToolUse --deadline 1 --when-down allow", WRITE);

	(void)front_hears(&front);
	front_says(&front, "garbage\n");
	is_denied(&h, "could not be understood");
	front_hangs_up(&front);
	h = given_hook("claude PreToolUse --deadline 1 --when-down allow", WRITE);
	(void)front_hears(&front);
	is_denied(&h, "no answer in time");
}
END_TEST

START_TEST(a_front_that_comes_late_is_found)
{
	struct hook h;

	front_ends(&front);
	h = given_hook("claude PreToolUse", WRITE);
	(void)poll(NULL, 0, 300);
	front = given_front();
	(void)front_hears(&front);
	front_answers(&front, "{\"decision\":\"none\"}");
	is_said(&h, "");
}
END_TEST

START_TEST(a_front_that_says_nothing_is_a_deny_at_the_deadline)
{
	int64_t start = agent_ms();
	struct hook h = given_hook("claude PreToolUse --deadline 1", WRITE);

	(void)front_hears(&front);
	is_denied(&h, "call the same again");
	ck_assert_int_ge(agent_ms() - start, 990);
	ck_assert_int_lt(agent_ms() - start, 10000);
}
END_TEST

START_TEST(a_front_killed_while_the_hook_waits_is_followed_by_the_next)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);
	OWNED(char_ptr) char *first = xstrdup(front_hears(&front));
	const char *second;

	front_says(&front, ">{\"hookSpecificOutput\":{}}\n!half of it\n=");
	front_ends(&front);
	(void)poll(NULL, 0, 200);
	front = given_front();
	second = front_hears(&front);
	ck_assert_str_eq(strstr(first, "\"input\""), strstr(second, "\"input\""));
	front_answers(&front, "{\"decision\":\"deny\",\"reason\":\"by the second\"}");
	is_denied(&h, "by the second");
}
END_TEST

START_TEST(a_question_that_ends_every_front_is_not_asked_for_ever)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);
	int asked = 0;

	for (; asked < 11; asked++) {
		(void)front_hears(&front);
		front_hangs_up(&front);
	}
	is_denied(&h, "not running any more");
}
END_TEST

/* ---- the host ---- */

START_TEST(a_signal_is_answered_with_a_deny)
{
	static const int SIGNALS[] = { SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGALRM, SIGUSR1,
		                       SIGUSR2, SIGPROF, SIGXCPU, SIGSEGV, SIGABRT, SIGBUS };

	for (size_t i = 0; i < COUNT(SIGNALS); i++) {
		struct hook h = given_hook("claude PreToolUse", WRITE);

		(void)front_hears(&front);
		(void)kill(h.pid, SIGNALS[i]);
		is_denied(&h, "was stopped before there was an answer");
		front_hangs_up(&front);
	}
}
END_TEST

START_TEST(an_input_that_never_ends_is_a_deny)
{
	struct hook h = hook_start("claude PreToolUse --deadline 1");

	hook_feed(&h, WRITE);
	is_denied(&h, "does not end");
	h = hook_start("claude PreToolUse --deadline 1");
	is_denied(&h, "does not end");
}
END_TEST

START_TEST(an_input_that_is_too_long_is_a_deny)
{
	enum { MIB = 1 << 20 };
	OWNED(char_ptr) char *piece = xcalloc(MIB, 1);
	struct hook h = hook_start("claude PreToolUse");

	memset(piece, ' ', MIB);
	for (int i = 0; i < 5; i++)
		hook_feed_bytes(&h, piece, MIB);
	hook_feed(&h, WRITE);
	hook_feed_end(&h);
	is_denied(&h, "longer than");
}
END_TEST

START_TEST(a_host_that_is_gone_is_not_waited_for)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);
	char byte;

	(void)front_hears(&front);
	(void)close(h.out);
	h.out = -1;
	ck_assert_int_eq(hook_end(&h), 2);
	ck_assert_int_le(read(front.fd, &byte, 1), 0); /* the front is told */
	hook_clear(&h);
}
END_TEST

START_TEST(an_allow_that_nobody_reads_is_none)
{
	OWNED(str) struct str said = { 0 };
	char hook[PROGRAM_BYTES];
	int status;

	test_program("hook", hook);
	front_ends(&front);
	/* Every way to say nothing: without a stdout, and on a full disk. */
	status = shell(&said,
	               "echo '{\"tool_name\":\"x\"}' | %s cursor preToolUse --run %s "
	               "--deadline 1 --when-down allow >/dev/full 2>/dev/null",
	               hook, run_directory);
	ck_assert_int_eq(status, 2);
	status = shell(&said,
	               "echo '{\"tool_name\":\"x\"}' | %s claude PreToolUse --run %s "
	               "--deadline 1 2>&1 >&-",
	               hook, run_directory);
	ck_assert_int_eq(status, 2);
	ck_assert_ptr_nonnull(strstr(str_text(&said), "not running"));
}
END_TEST

START_TEST(a_hook_that_is_called_wrongly_is_a_deny)
{
	static const struct {
		const char *arguments, *why;
	} BAD[] = {
		{ "claude PreToolUse --deadline 0", "--deadline takes" },
		{ "claude PreToolUse --deadline x", "--deadline takes" },
		{ "claude PreToolUse --deadline", "" },
		{ "claude PreToolUse --when-down maybe", "--when-down takes" },
		{ "claude PreToolUse --frobnicate", "an option" },
		{ "claude PreToolUse more", "called as" },
		{ "claude PreTolUse", "no hook event" },
	};

	for (size_t i = 0; i < COUNT(BAD); i++) {
		struct hook h = given_hook(BAD[i].arguments, WRITE);

		is_denied(&h, BAD[i].why);
	}
}
END_TEST

START_TEST(a_host_that_is_not_known_is_told_without_json)
{
	static const char *const BAD[] = { "clod PreToolUse", "claude", "" };

	for (size_t i = 0; i < COUNT(BAD); i++) {
		struct hook h = given_hook(BAD[i], WRITE);

		ck_assert_int_eq(hook_end(&h), 2);
		ck_assert_str_eq(str_text(&h.said), "");
		ck_assert_uint_gt(h.why.length, 10);
		hook_clear(&h);
	}
}
END_TEST

START_TEST(other_events_never_fail_the_host)
{
	static const char *const EVENTS[] = { "claude Stop --deadline 1",
		                              "claude PostToolUse --deadline 1",
		                              "claude Notification --deadline 1",
		                              "claude SessionEnd --deadline x",
		                              "gemini AfterAgent --deadline 1" };

	for (size_t i = 0; i < COUNT(EVENTS); i++) {
		struct hook h = given_hook(EVENTS[i], "{}"); /* the front says nothing */

		is_said(&h, "");
	}
	front_ends(&front);
	for (size_t i = 0; i < COUNT(EVENTS); i++) {
		int64_t start = agent_ms();
		struct hook h = given_hook(EVENTS[i], "{}");

		is_said(&h, "");
		ck_assert_int_lt(agent_ms() - start, 5000);
	}
}
END_TEST

/* ---- the system ---- */

START_TEST(a_database_leads_to_its_system)
{
	OWNED(str) struct str link = { 0 };
	OWNED(str) struct str arguments = { 0 };
	struct hook h;

	str_addf(&link, "%s/x.db-run", run_directory);
	ck_assert_int_eq(symlink(run_directory, str_text(&link)), 0);
	str_addf(&arguments, "claude PreToolUse --db %s/x.db", run_directory);
	h = given_hook(str_text(&arguments), WRITE);
	(void)front_hears(&front);
	front_answers(&front, "{\"decision\":\"none\"}");
	is_said(&h, "");
	(void)unlink(str_text(&link));
	str_add(&arguments, " --deadline 1");
	h = given_hook(str_text(&arguments), WRITE);
	is_denied(&h, "not running");
}
END_TEST

START_TEST(a_system_that_only_a_configuration_names_is_found_or_denied)
{
	OWNED(str) struct str arguments = { 0 };
	OWNED(str) struct str link = { 0 };
	OWNED(str) struct str config = { 0 };
	struct hook h;

	(void)setenv("HOME", run_directory, 1);
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)unsetenv("INTERCOM_CONFIG");
	h = given_hook("claude PreToolUse --deadline 1 --usual", WRITE);
	is_denied(&h, "");

	str_addf(&config, "[database]\npath = \"%s/x.db\"\n", run_directory);
	put_file(run_directory, "c.toml", str_text(&config));
	str_addf(&link, "%s/x.db-run", run_directory);
	ck_assert_int_eq(symlink(run_directory, str_text(&link)), 0);
	str_addf(&arguments, "claude PreToolUse --config %s/c.toml", run_directory);
	h = given_hook(str_text(&arguments), WRITE);
	(void)front_hears(&front);
	front_answers(&front, "{\"decision\":\"none\"}");
	is_said(&h, "");

	put_file(run_directory, "c.toml", "garbage");
	h = given_hook(str_text(&arguments), WRITE);
	is_denied(&h, "c.toml");
}
END_TEST

START_TEST(an_agent_intercom_that_cannot_start_is_a_deny)
{
	static const char *const SCRIPTS[] = { "exit 127", "exit 64", "exit 1", "kill -9 $$" };

	for (size_t i = 0; i < COUNT(SCRIPTS); i++) {
		struct hook h =
		    given_hook_beside(SCRIPTS[i], "claude PreToolUse --config x", WRITE);

		is_denied(&h, "did not say which system is meant");
		h = given_hook_beside(SCRIPTS[i], "claude Stop --config x", "{}");
		is_said(&h, "");
	}
}
END_TEST

START_TEST(a_canary_is_denied_without_a_question)
{
	struct hook h;

	(void)setenv("INTERCOM_CANARY", "tweet", 1);
	h = given_hook("claude PreToolUse", WRITE);
	is_denied(&h, "nothing is let through to a canary: tweet");
	h = given_hook("claude PreToolUse --when-down allow", WRITE);
	is_denied(&h, "tweet");
	h = given_hook("claude Stop", "{\"session_id\":\"s\",\"hook_event_name\":\"Stop\"}");
	is_said(&h, "");
	(void)unsetenv("INTERCOM_CANARY");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_failures");
	TCase *c = tcase_create("hook_failures");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, an_answer_that_makes_no_sense_is_a_deny);
	tcase_add_test(c, an_answer_that_is_too_long_is_a_deny);
	tcase_add_test(c, a_front_that_is_away_is_a_deny_or_the_hosts_own_decision_if_so_set);
	tcase_add_test(c, only_a_front_that_is_away_is_down);
	tcase_add_test(c, a_front_that_comes_late_is_found);
	tcase_add_test(c, a_front_that_says_nothing_is_a_deny_at_the_deadline);
	tcase_add_test(c, a_front_killed_while_the_hook_waits_is_followed_by_the_next);
	tcase_add_test(c, a_question_that_ends_every_front_is_not_asked_for_ever);
	tcase_add_test(c, a_signal_is_answered_with_a_deny);
	tcase_add_test(c, an_input_that_never_ends_is_a_deny);
	tcase_add_test(c, an_input_that_is_too_long_is_a_deny);
	tcase_add_test(c, a_host_that_is_gone_is_not_waited_for);
	tcase_add_test(c, an_allow_that_nobody_reads_is_none);
	tcase_add_test(c, a_hook_that_is_called_wrongly_is_a_deny);
	tcase_add_test(c, a_host_that_is_not_known_is_told_without_json);
	tcase_add_test(c, other_events_never_fail_the_host);
	tcase_add_test(c, a_database_leads_to_its_system);
	tcase_add_test(c, an_agent_intercom_that_cannot_start_is_a_deny);
	tcase_add_test(c, a_canary_is_denied_without_a_question);
	tcase_add_test(c, a_system_that_only_a_configuration_names_is_found_or_denied);
	suite_add_tcase(s, c);
	return run_suite(s);
}
