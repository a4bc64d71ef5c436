/* The real program hook with the whole system: asked, approved, written by the agent itself,
 * compared; and the same while mcp-front, or everything, dies. */
#include "agent.h"
#include "err.h"
#include "hook_case.h"
#include "relay.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct site site;

/* A hook of Claude Code for a Write of a.txt in the workspace. */
static struct hook writing(const char *event, const char *content)
{
	char arguments[600], input[1000];

	(void)snprintf(arguments, sizeof(arguments), "claude %s --deadline 60 --db %s", event,
	               site.database);
	(void)snprintf(input, sizeof(input),
	               "{\"session_id\":\"s1\",\"cwd\":\"%s\",\"hook_event_name\":\"%s\","
	               "\"tool_name\":\"Write\",\"tool_use_id\":\"t1\",\"tool_response\":{},"
	               "\"tool_input\":{\"file_path\":\"%s/a.txt\",\"content\":\"%s\"}}",
	               site.workspace, event, site.workspace, content);
	return given_hook(arguments, input);
}

static void is_allowed(struct hook *h)
{
	int status = hook_end(h);

	ck_assert_msg(status == 0, "%d: %s %s", status, str_text(&h->said), str_text(&h->why));
	says(str_text(&h->said), "\"permissionDecision\":\"allow\"");
	hook_clear(h);
}

static void is_asked(void)
{
	expect_soon("SELECT count(*) FROM request AS r JOIN tool_call AS t ON t.request_seq = r.seq"
	            " WHERE r.state = 'pending' AND t.state = 'waiting'"
	            "   AND t.listener = (SELECT id FROM worker WHERE name = 'mcp-front'"
	            "                      AND state = 'ready')",
	            "1\n");
}

static void finds_the_same(void)
{
	struct hook after;

	put_file(site.workspace, "a.txt", "one\n");
	after = writing("PostToolUse", "one\\n");
	is_said(&after, "");
	expect("SELECT seen FROM gate_call WHERE decision = 'allow'", "same\n");
	expect("SELECT count(*) FROM gate_amiss", "0\n");
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT count(*) FROM session", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}

START_TEST(an_edit_is_asked_approved_written_and_compared)
{
	struct hook h;

	site = given_running_site();
	h = writing("PreToolUse", "one\\n");
	is_asked();
	approve_all();
	is_allowed(&h);
	finds_the_same();
}
END_TEST

/* The front reads what the host says: each of these is a deny with its reason, or silence. */
START_TEST(an_input_that_is_no_json_of_the_event_is_a_deny)
{
	static const struct {
		const char *input, *why;
	} BAD[] = {
		{ "", "not valid JSON" },
		{ "garbage", "not valid JSON" },
		{ "[]", "object" },
		{ "{\"tool_name\":\"Bash\"", "not valid JSON" },
		{ "{\"tool_name\":\"Bash\"} x", "something follows" },
		{ "{\"tool_name\":\"Bash\"}\n{}", "something follows" },
		{ "{\"tool_name\":\"Bash\"},\"env\":{}", "something follows" },
		{ "{\"tool_name\":\"Bash\",\"tool_name\":\"Read\"}", "twice" },
		{ "{}", "names no tool" },
		{ "{\"tool_name\":\"Bash\",\"hook_event_name\":\"Stop\"}", "is of Stop" },
		{ "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"\\u0000\"}}", "NUL" },
		{ "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"\xff\"}}", "UTF-8" },
	};
	char before[600], after[600];

	site = given_running_site();
	(void)snprintf(before, sizeof(before), "claude PreToolUse --when-down allow --db %s",
	               site.database);
	(void)snprintf(after, sizeof(after), "claude Stop --db %s", site.database);
	for (size_t i = 0; i < COUNT(BAD); i++) {
		struct hook h = given_hook(before, BAD[i].input);

		is_denied(&h, BAD[i].why);
		if (strstr(BAD[i].why, "of Stop"))
			continue;
		h = given_hook(after, i ? "garbage" : "");
		is_said(&h, "");
	}
	expect("SELECT count(*) FROM gate_call", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_environment_that_is_too_long_is_a_deny)
{
	enum { BYTES = 70000 };
	OWNED(char_ptr) char *folder = xcalloc(BYTES + 1, 1);
	struct hook h;

	site = given_running_site();
	memset(folder, '/', BYTES);
	(void)setenv("CLAUDE_PROJECT_DIR", folder, 1);
	h = writing("PreToolUse", "one\\n");
	is_denied(&h, "longer than 64 KiB");
	(void)unsetenv("CLAUDE_PROJECT_DIR");
	expect("SELECT count(*) FROM gate_call", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_rejection_reaches_the_agent)
{
	struct hook h;

	site = given_running_site();
	h = writing("PreToolUse", "one\\n");
	is_asked();
	given("INSERT INTO decision (request_id, verdict, reason) SELECT id, 'reject', 'not here' "
	      "FROM request");
	is_denied(&h, "rejected by the operator: not here");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_hook_waits_on_when_the_front_is_killed)
{
	struct hook h;

	site = given_running_site();
	h = writing("PreToolUse", "one\\n");
	is_asked();
	kill_and_await("mcp-front");
	is_asked();
	approve_all();
	is_allowed(&h);
	finds_the_same();
}
END_TEST

START_TEST(a_hook_waits_on_when_everything_is_killed_and_started_again)
{
	struct hook h;

	site = given_running_site();
	h = writing("PreToolUse", "one\\n");
	is_asked();
	site_kill(&site);
	site_start(&site);
	is_asked();
	approve_all();
	is_allowed(&h);
	finds_the_same();
}
END_TEST

static void agent_intercom(const char *words)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_msg(shell(&said,
	                    "$INTERCOM_BUILD/agent-intercom --db %s %s $(dirname %s)/b.db 2>&1",
	                    site.database, words, site.database) == 0,
	              "%s", str_text(&said));
}

START_TEST(what_was_approved_before_a_backup_is_asked_again_after_its_restore)
{
	struct hook h;

	site = given_running_site();
	h = writing("PreToolUse", "one\\n");
	is_asked();
	ck_assert_int_eq(kill(h.pid, SIGKILL), 0);
	(void)hook_end(&h);
	hook_clear(&h);
	expect_soon("SELECT count(*) FROM gate_call WHERE decision = 'open'", "0\n");
	approve_all();
	agent_intercom("backup");
	h = writing("PreToolUse", "one\\n");
	is_allowed(&h);
	ck_assert_int_eq(site_stop(&site), 0);
	leave_store();

	agent_intercom("restore --yes");

	open_database_again();
	site_start(&site);
	h = writing("PreToolUse", "one\\n");
	is_asked();
	expect("SELECT state, delivered_at IS NOT NULL FROM request", "expired|1\npending|0\n");
	approve_all();
	is_allowed(&h);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_whole");
	TCase *c = store_case(s, "hook_whole", 60);

	tcase_add_test(c, an_edit_is_asked_approved_written_and_compared);
	tcase_add_test(c, an_input_that_is_no_json_of_the_event_is_a_deny);
	tcase_add_test(c, an_environment_that_is_too_long_is_a_deny);
	tcase_add_test(c, a_rejection_reaches_the_agent);
	tcase_add_test(c, a_hook_waits_on_when_the_front_is_killed);
	tcase_add_test(c, a_hook_waits_on_when_everything_is_killed_and_started_again);
	tcase_add_test(c, what_was_approved_before_a_backup_is_asked_again_after_its_restore);
	return run_suite(s);
}
