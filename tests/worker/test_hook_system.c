/* The program hook and a whole system: what the front decides reaches the host, whatever happens in
 * between. */
#include "agent.h"
#include "hook_case.h"

#include "err.h"
#include "process_name.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ALLOWED[] = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
                              "\"permissionDecision\":\"allow\"";
static const char WAITING[] = "SELECT count(*) FROM request WHERE state = 'pending'";

static struct site site;

static struct hook given_call(const char *tool, const char *arguments, const char *options)
{
	OWNED(str) struct str input = { 0 };
	OWNED(str) struct str words = { 0 };

	str_addf(&words, "claude PreToolUse %s", options);
	if (!strstr(options, "--config"))
		str_addf(&words, " --db %s", site.database);
	str_addf(&input,
	         "{\"session_id\":\"s1\",\"cwd\":\"%s\",\"hook_event_name\":\"PreToolUse\","
	         "\"tool_name\":\"%s\",\"tool_input\":%s,\"tool_use_id\":\"t1\"}",
	         site.workspace, tool, arguments);
	return given_hook(str_text(&words), str_text(&input));
}

static struct hook given_write(const char *options)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments, "{\"file_path\":\"%s/f.txt\",\"content\":\"new\\n\"}", site.workspace);
	return given_call("Write", str_text(&arguments), options);
}

/* The same, once its question is there. */
static struct hook given_question(const char *options)
{
	struct hook h = given_write(options);

	expect_soon(WAITING, "1\n");
	return h;
}

static void is_allowed(struct hook *h)
{
	int status = hook_end(h);

	ck_assert_msg(status == 0 && strncmp(str_text(&h->said), ALLOWED, strlen(ALLOWED)) == 0,
	              "status %d: %s%s", status, str_text(&h->said), str_text(&h->why));
	hook_clear(h);
}

START_TEST(what_only_reads_is_allowed_and_a_write_waits_for_a_person)
{
	struct hook h;

	site = given_running_site();
	h = given_call("Read", "{\"file_path\":\"a.txt\"}", "");
	is_allowed(&h);
	expect("SELECT count(*) FROM request", "0\n");

	h = given_question("");
	{
		OWNED(char_ptr) char *shown = rows("SELECT effect FROM request");

		ck_assert_ptr_nonnull(strstr(shown, "+new"));
	}
	approve_all();
	is_allowed(&h);
	h = given_question(""); /* that was for one call */
	decide_all("reject");
	is_denied(&h, "");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* One that only a configuration tells where its system is runs as its own child. */
START_TEST(the_program_that_started_a_hook_is_the_agents_and_no_hook_is)
{
	char name[PROCESS_NAME_BYTES], options[700];
	struct hook h;

	site = given_running_site();
	(void)snprintf(options, sizeof(options), "--config %s", site.config);
	h = given_call("Read", "{\"file_path\":\"a.txt\"}", options);
	is_allowed(&h);
	ck_assert(process_name_of(getpid(), name));
	{
		OWNED(char_ptr) char *process = rows("SELECT process FROM connection");

		ck_assert_uint_eq(strcspn(process, "\n"), strlen(name));
		ck_assert_int_eq(strncmp(process, name, strlen(name)), 0);
	}
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_restart_of_the_front_does_not_deny)
{
	struct hook h;

	site = given_running_site();
	h = given_question("");
	kill_and_await("mcp-front");
	approve_all();
	is_allowed(&h);
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_kill_of_the_whole_system_does_not_deny)
{
	struct hook h;

	site = given_running_site();
	h = given_question("");
	site_kill(&site);
	site_start(&site);
	approve_all();
	is_allowed(&h);
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(after_the_deadline_the_same_call_finds_the_answer_once)
{
	struct hook h;

	site = given_running_site();
	h = given_question("--deadline 4");
	is_denied(&h, "call the same again");
	approve_all();
	h = given_write("");
	is_allowed(&h);
	h = given_question(""); /* that was for one call */
	approve_all();
	is_allowed(&h);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_system_that_was_stopped_is_a_deny)
{
	struct hook h;

	site = given_running_site();
	h = given_question("");
	ck_assert_int_eq(site_stop(&site), 0);
	(void)kill(h.pid, SIGTERM); /* it would wait for the next one */
	is_denied(&h, "call the same again");
	h = given_call("Read", "{\"file_path\":\"a.txt\"}", "--deadline 1");
	is_denied(&h, "not running");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_system");
	TCase *c = tcase_create("hook_system");

	tcase_add_test(c, what_only_reads_is_allowed_and_a_write_waits_for_a_person);
	tcase_add_test(c, the_program_that_started_a_hook_is_the_agents_and_no_hook_is);
	tcase_add_test(c, a_restart_of_the_front_does_not_deny);
	tcase_add_test(c, a_kill_of_the_whole_system_does_not_deny);
	tcase_add_test(c, after_the_deadline_the_same_call_finds_the_answer_once);
	tcase_add_test(c, a_system_that_was_stopped_is_a_deny);
	suite_add_tcase(s, c);
	return run_suite(s);
}
