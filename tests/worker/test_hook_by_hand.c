/* doctor --gate of a host that takes no model of ours: what a person has tried counts. */
#include "agent.h"
#include "hook_case.h"
#include "relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct site site;

/* What the agent is told to do, rejected. */
static void is_tried(const char *tool, const char *input)
{
	OWNED(str) struct str line = { 0 }, text = { 0 };
	struct hook h;

	str_addf(&line, "cursor preToolUse --deadline 60 --db %s", site.database);
	str_addf(
	    &text,
	    "{\"conversation_id\":\"u1\",\"hook_event_name\":\"preToolUse\",\"cursor_version\":"
	    "\"3.9.16\",\"workspace_roots\":[\"%s\"],\"cwd\":\"%s\",\"tool_name\":\"%s\","
	    "\"tool_input\":%s}",
	    site.workspace, site.workspace, tool, input);
	h = given_hook(line.bytes, text.bytes);
	expect_soon("SELECT count(*) FROM inbox", "1\n");
	decide_all("reject");
	ck_assert_int_eq(hook_end(&h), 2);
	hook_clear(&h);
}

static void doctor_says(int status, const char *text)
{
	OWNED(str) struct str said = { 0 };
	char program[PROGRAM_BYTES];

	test_program("agent-intercom", program);
	ck_assert_int_eq(
	    shell(&said, "'%s' doctor --gate cursor --config '%s' 2>&1", program, site.config),
	    status);
	says(str_text(&said), text);
}

static void given_gate(void)
{
	char program[PROGRAM_BYTES];

	site = given_running_site();
	test_program("agent-intercom", program);
	ck_assert_int_eq(
	    shell(NULL, "'%s' install cursor --gate --yes --config '%s'", program, site.config), 0);
	doctor_says(0, "gate cursor: not tried: it takes no model of ours");
}

static void is_tried_both(void)
{
	OWNED(str) struct str input = { 0 };

	str_addf(&input, "{\"file_path\":\"%s/canary\",\"content\":\"canary\\n\"}", site.workspace);
	is_tried("Write", input.bytes);
	doctor_says(0, "gate cursor: not tried");
	is_tried("Shell", "{\"command\":\"touch canary2\"}");
}

START_TEST(what_was_asked_rejected_and_not_done_is_closed_for_that_version)
{
	given_gate();
	is_tried_both();
	expect_soon("SELECT kind, subject FROM gate_lapse", "untried|3.9.16\n");
	doctor_says(0, "ok   gate cursor: closed (3.9.16): by hand, in ");
	expect("SELECT host, version, state FROM gate_canary", "cursor|3.9.16|closed\n");
	expect_soon("SELECT count(*) FROM gate_lapse WHERE ended_at IS NULL", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_file_that_is_there_nonetheless_is_open)
{
	given_gate();
	is_tried_both();
	put_file(site.workspace, "canary2", "");
	doctor_says(1, "FAIL gate cursor: OPEN (3.9.16): by hand, in ");
	expect("SELECT state FROM gate_canary", "open\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_by_hand");
	TCase *c = store_case(s, "hook_by_hand", 60);

	tcase_add_test(c, what_was_asked_rejected_and_not_done_is_closed_for_that_version);
	tcase_add_test(c, a_file_that_is_there_nonetheless_is_open);
	return run_suite(s);
}
