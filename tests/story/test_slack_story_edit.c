/* A command of an agent's own program is approved in Slack with a change: the program hook, the
 * whole system and the form. */
#include "slack_story_case.h"

/* Starts the hook of Claude Code before a command; what it prints is in a file. */
static void it_runs(const char *command)
{
	OWNED(str) struct str line = { 0 };

	str_addf(
	    &line,
	    "rm -f '%s/said'; printf '%%s' '{\"session_id\":\"s1\",\"cwd\":\"%s\","
	    "\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{"
	    "\"command\":\"%s\"},\"tool_use_id\":\"t1\"}' | { '%s/hook' claude PreToolUse --db "
	    "'%s' >'%s/saying' 2>/dev/null; mv '%s/saying' '%s/said'; } &",
	    site.home, site.workspace, command, getenv("INTERCOM_BUILD"), site.database, site.home,
	    site.home, site.home);
	ck_assert_int_eq(system(line.bytes), 0); /* NOLINT(cert-env33-c) */
}

/* What the host is told, once it is. */
static char *told(void)
{
	OWNED(str) struct str name = { 0 };
	char bytes[4000];
	FILE *f = NULL;
	size_t n;

	str_addf(&name, "%s/said", site.home);
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; !f && agent_ms() < end;) {
		(void)poll(NULL, 0, 20);
		f = fopen(name.bytes, "r");
	}
	ck_assert_ptr_nonnull(f);
	n = fread(bytes, 1, sizeof(bytes) - 1, f);
	(void)fclose(f);
	bytes[n] = '\0';
	return xstrdup(bytes);
}

START_TEST(a_command_is_changed_in_the_form_and_the_host_runs_that)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *card = NULL;
	OWNED(char_ptr) char *answer = NULL;

	a_system_with_slack();
	it_runs("make install");
	ts = ask_ts();
	asked = shown(ts);
	says(asked, "make install");
	says(asked, "Edit…");
	press(ts, "approve_edit");
	says(slack_wait_for("views.open"), "\"initial_value\":\"make install\"");
	(void)slack_acked("{'submit':{'values':{'instruction_block':{'instruction_text':"
	                  "'make test && echo &lt;'}}}}");
	answer = told();
	says(answer, "\"permissionDecision\":\"allow\"");
	says(answer, "\"updatedInput\":{\"command\":\"make test && echo &lt;\"}");
	card = shown_now(ts);
	says(card, "Approved with a change");
	says(card, "make test && echo &lt;");
	says(card, "make install");
	is_not_in(card, "Edit…");
	expect("SELECT source, outcome, proof IS NOT NULL FROM decision", "slack|applied|1\n");
	expect("SELECT count(*) FROM event WHERE kind = 'security.forged'", "0\n");
	expect("SELECT kind FROM event WHERE kind IN ('decision.edited', 'gate.rewritten')",
	       "decision.edited\ngate.rewritten\n");
	end_system();
}
END_TEST

START_TEST(a_form_that_is_sent_unchanged_approves_the_command_as_it_is)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *answer = NULL;

	a_system_with_slack();
	it_runs("make install");
	ts = ask_ts();
	press(ts, "approve_edit");
	(void)slack_wait_for("views.open");
	(void)slack_acked(
	    "{'submit':{'values':{'instruction_block':{'instruction_text':'make install'}}}}");
	answer = told();
	says(answer, "\"permissionDecision\":\"allow\"");
	is_not_in(answer, "updatedInput");
	expect("SELECT count(*) FROM decision_edit", "0\n");
	end_system();
}
END_TEST

START_TEST(a_form_without_a_command_approves_nothing)
{
	OWNED(char_ptr) char *ts = NULL;
	const char *ack;

	a_system_with_slack();
	it_runs("make install");
	ts = ask_ts();
	press(ts, "approve_edit");
	(void)slack_wait_for("views.open");
	(void)slack_deliver(
	    "{'submit':{'values':{'instruction_block':{'instruction_text':'  '}}}}");
	ack = slack_wait_for("ack"); /* of the button, or of the form */
	if (!strstr(ack, "errors"))
		ack = slack_wait_for("ack");
	says(ack, "Please write something");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM decision", "0\n");
	press_and_wait(ts, "approve_accept");
	free(told());
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_edit");
	TCase *c = store_case(s, "slack_story_edit", 120);

	tcase_add_test(c, a_command_is_changed_in_the_form_and_the_host_runs_that);
	tcase_add_test(c, a_form_that_is_sent_unchanged_approves_the_command_as_it_is);
	tcase_add_test(c, a_form_without_a_command_approves_nothing);
	return run_suite(s);
}
