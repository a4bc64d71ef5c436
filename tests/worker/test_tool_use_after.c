/* After a tool of an agent's own program: whether it did what was allowed. */
#include "tool_use_case.h"

static const char *use_in(struct str *input, const char *folder, const char *id, const char *tool,
                          const char *arguments)
{
	str_addf(
	    input,
	    "{\"session_id\":\"s1\",\"cwd\":\"%s\",\"tool_name\":\"%s\",\"tool_use_id\":\"%s\","
	    "\"tool_response\":{},\"tool_input\":",
	    folder, tool, id);
	str_add(input, arguments);
	str_add(input, "}");
	return input->bytes;
}

/* The same call as before the tool, with its id, and what came of it. */
static char *used(const char *event, const char *id, const char *tool, const char *arguments)
{
	OWNED(str) struct str input = { 0 };

	return gate_ask(event, use_in(&input, workspace, id, tool, arguments));
}

static void write_of(struct str *arguments, const char *content)
{
	str_addf(arguments, "{\"file_path\":\"%s/a.txt\",\"content\":\"%s\"}", workspace, content);
}

/* A workspace whose policy allows edits and commands. */
static void given_allowing_hooks(void)
{
	given_hooks();
	given_policy("{\"enabled\":true,\"commands\":[\"make *\"],"
	             "\"file_patterns\":{\"write\":[\"**\"]}}");
	put_file(workspace, "a.txt", "one\n");
}

static void allows(const char *id, const char *tool, const char *arguments)
{
	OWNED(char_ptr) char *answer = used("PreToolUse", id, tool, arguments);

	decides(answer, "allow", NULL);
}

static void ends(const char *event, const char *id, const char *tool, const char *arguments)
{
	OWNED(char_ptr) char *answer = used(event, id, tool, arguments);

	decides(answer, "none", NULL);
}

static const char SEEN[] = "SELECT seen, seen_why FROM gate_call WHERE moment = 'pre_tool'";

START_TEST(a_file_that_is_as_it_was_shown_is_the_same)
{
	OWNED(str) struct str arguments = { 0 };

	given_allowing_hooks();
	write_of(&arguments, "two\\n");
	allows("t1", "Write", arguments.bytes);
	put_file(workspace, "a.txt", "two\n");
	ends("PostToolUse", "t1", "Write", arguments.bytes);
	expect(SEEN, "same|\n");
	expect("SELECT seen_hash = result_hash FROM gate_file", "1\n");
	expect("SELECT p.pre_seq = g.seq FROM gate_call AS g, gate_call AS p"
	       " WHERE g.moment = 'pre_tool' AND p.moment = 'post_tool'",
	       "1\n");
	expect("SELECT count(*) FROM gate_amiss", "0\n");
}
END_TEST

START_TEST(a_file_that_is_not_as_it_was_shown_is_told)
{
	OWNED(str) struct str arguments = { 0 };

	given_allowing_hooks();
	write_of(&arguments, "two\\n");
	allows("t1", "Write", arguments.bytes);
	put_file(workspace, "a.txt", "something else\n");
	ends("PostToolUse", "t1", "Write", arguments.bytes);
	expect(SEEN, "differs|a.txt is not what was allowed\n");
	expect("SELECT kind FROM event WHERE kind LIKE 'gate.%'", "gate.differs\n");
	expect("SELECT what, state FROM health WHERE what LIKE 'gate%'", "gate claude|differs\n");
}
END_TEST

START_TEST(a_file_that_was_not_written_is_told)
{
	OWNED(str) struct str arguments = { 0 };

	given_allowing_hooks();
	write_of(&arguments, "two\\n");
	allows("t1", "Write", arguments.bytes);
	ends("PostToolUse", "t1", "Write", arguments.bytes);
	expect(SEEN, "differs|a.txt is as it was before\n");
}
END_TEST

/* It has the content that was allowed, in another place. */
START_TEST(a_file_that_has_become_a_link_is_told)
{
	static const char *const LEADS[] = { "b.txt", "../outside.txt", "missing.txt" };

	given_allowing_hooks();
	put_file(workspace, "b.txt", "two\n");
	put_file(workspace, "../outside.txt", "two\n");
	for (size_t i = 0; i < COUNT(LEADS); i++) {
		OWNED(str) struct str arguments = { 0 };

		write_of(&arguments, "two\\n");
		(void)unlink(below(workspace, "a.txt"));
		put_file(workspace, "a.txt", "one\n");
		allows("t1", "Write", arguments.bytes);
		(void)unlink(below(workspace, "a.txt"));
		ck_assert_int_eq(symlink(LEADS[i], below(workspace, "a.txt")), 0);
		ends("PostToolUse", "t1", "Write", arguments.bytes);
	}
	expect("SELECT seen, seen_why LIKE 'a.txt is not the file that was allowed, but leads to %'"
	       " FROM gate_call WHERE moment = 'pre_tool'",
	       "differs|1\ndiffers|1\ndiffers|1\n");
	expect("SELECT count(*) FROM gate_amiss", "3\n");
}
END_TEST

START_TEST(a_tool_that_failed_is_not_compared)
{
	OWNED(str) struct str arguments = { 0 };

	given_allowing_hooks();
	write_of(&arguments, "two\\n");
	allows("t1", "Write", arguments.bytes);
	ends("PostToolUseFailure", "t1", "Write", arguments.bytes);
	expect(SEEN, "failed|\n");
	expect("SELECT count(*) FROM gate_amiss", "0\n");
}
END_TEST

START_TEST(other_arguments_than_were_allowed_are_told)
{
	given_allowing_hooks();
	allows("t1", "Bash", "{\"command\":\"make test\"}");
	ends("PostToolUse", "t1", "Bash", "{\"command\":\"make install\"}");
	expect(SEEN, "differs|it was called with other arguments\n");
}
END_TEST

/* A command is approved in the workspace; the host tells that its shell stands in sub after it. */
static void ends_in_sub(const char *id, const char *allowed, const char *ran)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(str) struct str before = { 0 };
	OWNED(str) struct str after = { 0 };
	OWNED(str) struct str use = { 0 };
	OWNED(str) struct str used = { 0 };

	str_addf(&before, "{\"command\":\"%s\"}", allowed);
	str_addf(&after, "{\"command\":\"%s\"}", ran);
	is_approved(use_in(&use, workspace, id, "Bash", before.bytes));
	answer = gate_ask("PostToolUse",
	                  use_in(&used, below(workspace, "sub"), id, "Bash", after.bytes));
	decides(answer, "none", NULL);
}

static void each_ends_in_sub(const char *const *commands, size_t count)
{
	given_hooks();
	for (size_t i = 0; i < count; i++) {
		char id[24];

		(void)snprintf(id, sizeof(id), "t%zu", i);
		ends_in_sub(id, commands[i], commands[i]);
	}
}

/* Seen: Claude Code 2.1.332, whose shell stays where a command has led it. */
START_TEST(a_command_may_leave_its_shell_in_another_folder)
{
	static const char *const COMMANDS[] = { "cd sub", "make && pushd sub", "make\\ncd sub",
		                                "(make);popd" };

	each_ends_in_sub(COMMANDS, COUNT(COMMANDS));
	expect(SEEN, "same|\nsame|\nsame|\nsame|\n");
	expect("SELECT count(*) FROM gate_amiss", "0\n");
}
END_TEST

START_TEST(a_command_that_ran_in_another_folder_than_was_allowed_is_told)
{
	static const char *const COMMANDS[] = { "make", "make abcd", "make cd-rom", "make cd.o" };

	each_ends_in_sub(COMMANDS, COUNT(COMMANDS));
	expect("SELECT count(*) FROM gate_call WHERE seen = 'differs'"
	       " AND seen_why = 'it was called with other arguments'",
	       "4\n");
}
END_TEST

START_TEST(another_command_that_leaves_its_folder_is_told)
{
	given_hooks();
	ends_in_sub("t1", "make", "make install; cd sub");
	expect(SEEN, "differs|it was called with other arguments\n");
}
END_TEST

START_TEST(what_an_agent_says_of_a_command_may_differ)
{
	given_allowing_hooks();
	allows("t1", "Bash", "{\"command\":\"make test\",\"description\":\"Test\"}");
	ends("PostToolUse", "t1", "Bash", "{\"command\":\"make test\",\"description\":\"Tests\"}");
	expect(SEEN, "same|\n");
}
END_TEST

START_TEST(a_tool_without_a_hook_before_it_is_told)
{
	given_allowing_hooks();
	ends("PostToolUse", "t1", "Bash", "{\"command\":\"make test\"}");
	ends("PostToolUse", "t2", "Read", "{\"file_path\":\"/etc/hostname\"}");
	expect("SELECT tool, state FROM gate_amiss", "Bash|unasked\n");
	expect("SELECT kind FROM event WHERE kind LIKE 'gate.%'", "gate.unasked\n");
}
END_TEST

START_TEST(a_tool_that_was_denied_and_ran_nevertheless_is_told)
{
	OWNED(char_ptr) char *denied = NULL;
	OWNED(str) struct str arguments = { 0 };

	given_allowing_hooks();
	str_addf(&arguments, "{\"file_path\":\"%s/.git/config\",\"content\":\"x\"}", workspace);
	denied = used("PreToolUse", "t1", "Write", arguments.bytes);
	decides(denied, "deny", "protected");
	ends("PostToolUse", "t1", "Write", arguments.bytes);
	expect("SELECT tool, state FROM gate_amiss", "Write|unasked\n");
}
END_TEST

START_TEST(without_ids_the_oldest_with_the_same_arguments_has_ended)
{
	given_allowing_hooks();
	for (int i = 0; i < 2; i++) {
		OWNED(char_ptr) char *answer = gate_ask("PreToolUse", bash("make test"));

		decides(answer, "allow", NULL);
	}
	for (int i = 0; i < 2; i++) {
		OWNED(char_ptr) char *answer = gate_ask("PostToolUse", bash("make test"));

		decides(answer, "none", NULL);
	}
	expect("SELECT seen FROM gate_call WHERE moment = 'pre_tool'", "same\nsame\n");
	expect("SELECT count(*) FROM gate_amiss", "0\n");
}
END_TEST

START_TEST(what_was_allowed_before_the_tool_is_not_asked_again_when_the_host_asks)
{
	OWNED(char_ptr) char *permission = NULL;

	given_hooks();
	is_approved(bash("make install"));
	permission = gate_ask("PermissionRequest", bash("make install"));
	decides(permission, "allow", NULL);
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_after");
	TCase *c = store_case(s, "tool_use_after", 60);

	tcase_add_test(c, a_file_that_is_as_it_was_shown_is_the_same);
	tcase_add_test(c, a_file_that_is_not_as_it_was_shown_is_told);
	tcase_add_test(c, a_file_that_was_not_written_is_told);
	tcase_add_test(c, a_file_that_has_become_a_link_is_told);
	tcase_add_test(c, a_tool_that_failed_is_not_compared);
	tcase_add_test(c, other_arguments_than_were_allowed_are_told);
	tcase_add_test(c, a_command_may_leave_its_shell_in_another_folder);
	tcase_add_test(c, a_command_that_ran_in_another_folder_than_was_allowed_is_told);
	tcase_add_test(c, another_command_that_leaves_its_folder_is_told);
	tcase_add_test(c, what_an_agent_says_of_a_command_may_differ);
	tcase_add_test(c, a_tool_without_a_hook_before_it_is_told);
	tcase_add_test(c, a_tool_that_was_denied_and_ran_nevertheless_is_told);
	tcase_add_test(c, without_ids_the_oldest_with_the_same_arguments_has_ended);
	tcase_add_test(c, what_was_allowed_before_the_tool_is_not_asked_again_when_the_host_asks);
	return run_suite(s);
}
