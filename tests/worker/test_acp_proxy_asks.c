/* What `agent-intercom acp` holds, who answers it, and who is told. */
#include "acp_proxy_case.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(the_front_answers_first_and_the_dialog_is_closed)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "0");

	has(q.params, "params.event", "session/request_permission");
	has(q.params, "params.input.session_id", "s1");
	has(q.params, "params.input.cwd", a.folder);
	has(q.params, "params.input.tool_name", "execute");
	has(q.params, "params.input.tool_input.command", "npm test");
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("0", "yes"));
	hears(&a.editor, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":"
	                 "{\"requestId\":0}}");
	front_sees_it_closed(&q);
	party_say(&a.editor, chosen("0", "no")); /* too late */
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_no_of_the_front_is_the_no_that_was_offered)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "\"p\\u0031\"");

	front_decides(&q, "deny", "not now");
	hears(&a.agent, chosen("\"p\\u0031\"", "no"));
	hears(&a.editor, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":"
	                 "{\"requestId\":\"p\\u0031\"}}");
	party_say(&a.editor, chosen("\"p1\"", "yes")); /* the same id */
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(the_editor_answers_first_in_its_own_words)
{
	static const char ANSWER[] = "{ \"result\" : {\"outcome\":{\"outcome\":\"selected\","
	                             "\"optionId\":\"always\"}},\"id\":3,\"jsonrpc\":\"2.0\"}";
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "3");

	party_say(&a.editor, ANSWER);
	front_takes(&q, "approve", "applied");
	front_decides(&q, "allow", "");
	hears(&a.agent, ANSWER);
	front_sees_it_closed(&q);
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_answer_of_the_editor_that_comes_second_does_not_count)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "3");

	party_say(&a.editor, chosen("3", "always"));
	front_takes(&q, "approve", "duplicate");
	hears_nothing_but_marks(&a);
	front_decides(&q, "deny", "no");
	hears(&a.agent, chosen("3", "no"));
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_always_of_the_editor_is_not_heard_before_it_is_known_to_be_the_first)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "3");

	party_say(&a.editor, chosen("3", "always"));
	front_takes(&q, "approve", "not_found");
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("3", "yes"));
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_editor_that_may_not_answer_is_not_asked_or_not_heard)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "1"), other;

	party_say(&a.editor, chosen("1", "yes"));
	front_takes(&q, "approve", "not_in_this_mode");
	hears_nothing_but_marks(&a);
	front_decides(&q, "deny", "no");
	hears(&a.agent, chosen("1", "no"));
	party_say(&a.agent, permission("2", COMMAND));
	other = front_hears(&a);
	front_asks(&other, false);
	front_decides(&other, "allow", "");
	hears(&a.agent, chosen("2", "yes"));
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	asked_clear(&other);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_the_policy_decides_is_shown_to_nobody)
{
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, permission("5", COMMAND));
	q = front_hears(&a);
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("5", "yes"));
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_write_is_held_and_passes_as_it_was)
{
	struct trio a = given_trio(NULL);
	const char *line = write_of(&a, "8", "new.txt", "one\\u0041\\n");
	struct asked q;

	party_say(&a.agent, line);
	q = front_hears(&a);
	has(q.params, "params.event", "fs/write_text_file");
	has(q.params, "params.input.tool_input.content", "oneA\n");
	front_asks(&q, true);
	hears_nothing_but_marks(&a);
	front_decides(&q, "allow", "");
	hears(&a.editor, line);
	party_say(&a.editor, "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":null}");
	hears(&a.agent, "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":null}");
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_write_that_is_rejected_is_an_error_with_the_reason)
{
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, write_of(&a, "\"8\"", "new.txt", "x"));
	q = front_hears(&a);
	front_decides(&q, "deny", "rejected by the operator: not there");
	hears(&a.agent, "{\"jsonrpc\":\"2.0\",\"id\":\"8\",\"error\":{\"code\":-32001,\"message\":"
	                "\"rejected by the operator: not there\"}}");
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

/* The front hears of an edit of a.txt with this beside it as the tool. */
static void edit_is_told_as(struct trio *a, const char *id, const char *beside, const char *tool)
{
	OWNED(str) struct str call = { 0 };
	struct asked q;

	str_addf(&call,
	         "{\"toolCallId\":\"e%s\",\"kind\":\"edit\",\"title\":\"Edit\",\"content\":[{"
	         "\"type\":\"diff\",\"path\":\"%s/a.txt\",\"oldText\":\"one\",\"newText\":\"two\"}"
	         "],%s}",
	         id, a->folder, beside);
	party_say(&a->agent, permission(id, call.bytes));
	q = front_hears(a);
	has(q.params, "params.input.tool_name", tool);
	front_decides(&q, "deny", "no");
	hears(&a->agent, chosen(id, "no"));
	asked_clear(&q);
}

START_TEST(a_diff_beside_which_another_file_is_named_is_not_judged_by_its_path_alone)
{
	struct trio a = given_trio(NULL);

	put_file(a.folder, "a.txt", "one\n");
	edit_is_told_as(&a, "1", "\"rawInput\":{\"file_path\":\"a.txt\"}", "edit");
	edit_is_told_as(&a, "2", "\"rawInput\":{\"file_path\":\"src/secret.c\"}", "permission");
	edit_is_told_as(&a, "3", "\"locations\":[{\"path\":\"src/secret.c\"}]", "permission");
	edit_is_told_as(&a, "4", "\"locations\":[\"src/secret.c\"]", "permission");
	edit_is_told_as(&a, "5", "\"files\":[\"src/secret.c\"]", "permission");
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_diff_is_all_of_an_edit_only_where_all_of_that_is_understood)
{
	static const char *const CASES[][3] = {
		{ "edit", "{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"so\"}}",
		  "edit" },
		{ "edit", "{\"type\":\"Diff\",\"path\":\"src/evil.c\",\"newText\":\"bad\"}",
		  "permission" },
		{ "edit", "{\"path\":\"src/evil.c\",\"newText\":\"bad\"}", "permission" },
		{ "edit", "\"src/evil.c\"", "permission" },
		{ "execute", "{\"type\":\"terminal\",\"terminalId\":\"t\"}", "permission" },
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str call = { 0 };
		struct asked q;

		str_addf(&call,
		         "{\"toolCallId\":\"d%zu\",\"kind\":\"%s\",\"content\":[{\"type\":"
		         "\"diff\",\"path\":\"%s/a.txt\",\"newText\":\"two\"},%s]}",
		         i, CASES[i][0], a.folder, CASES[i][1]);
		party_say(&a.agent, permission("1", call.bytes));
		q = front_hears(&a);
		has(q.params, "params.input.tool_name", CASES[i][2]);
		front_decides(&q, "deny", "no");
		hears(&a.agent, chosen("1", "no"));
		asked_clear(&q);
	}
	trio_ends(&a, 0);
}
END_TEST

START_TEST(all_that_a_command_runs_with_is_shown)
{
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, terminal("1", "\"command\":\"bash\",\"args\":[\"-c\",\"rm -r x\"]"));
	q = front_hears(&a);
	has(q.params, "params.input.tool_input.command", "rm -r x");
	front_decides(&q, "deny", "no");
	free(party_hear(&a.agent));
	asked_clear(&q);
	party_say(&a.agent,
	          terminal("2", "\"command\":\"ls\",\"env\":[{\"name\":\"LD_PRELOAD\",\"value\":"
	                        "\"/x.so\"}]"));
	q = front_hears(&a);
	has(q.params, "params.input.tool_name", "terminal");
	says(q.params, "LD_PRELOAD");
	front_decides(&q, "deny", "no");
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_hundred_questions_wait_at_once)
{
	enum { COUNT_OF = 100 };
	struct trio a = given_trio(NULL);
	struct asked q[COUNT_OF];

	for (int i = 0; i < COUNT_OF; i++) {
		char id[20];

		(void)snprintf(id, sizeof(id), i % 2 ? "%d" : "\"%d\"", i);
		q[i] = given_permission(&a, id);
	}
	hears_nothing_but_marks(&a);
	for (int i = COUNT_OF - 1; i >= 0; i--) {
		char id[20];

		(void)snprintf(id, sizeof(id), i % 2 ? "%d" : "\"%d\"", i);
		front_decides(&q[i], i % 3 ? "allow" : "deny", "");
		hears(&a.agent, chosen(id, i % 3 ? "yes" : "no"));
		asked_clear(&q[i]);
	}
	trio_ends(&a, 0);
}
END_TEST

START_TEST(ids_of_editor_and_agent_and_of_texts_and_numbers_are_apart)
{
	static const char PROMPT[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"session/prompt\",\"params\":{}}";
	static const char ENDED[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"stopReason\":\"end_turn\"}}";
	static const char OTHER[] = "{\"id\":\"0\",\"method\":\"_choose\"}";
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "0");

	party_say(&a.editor, PROMPT);
	hears(&a.agent, PROMPT);
	party_say(&a.agent, ENDED);
	hears(&a.editor, ENDED);
	party_say(&a.agent, OTHER);
	hears(&a.editor, OTHER);
	party_say(&a.editor, chosen("\"0\"", "yes"));
	hears(&a.agent, chosen("\"0\"", "yes"));
	party_say(&a.agent, permission("0", COMMAND)); /* twice: dropped */
	hears_nothing_but_marks(&a);
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("0", "yes"));
	free(party_hear(&a.editor));
	party_say(&a.agent, permission("0", COMMAND)); /* its first answer is still to come */
	hears_part(&a.agent, "used already");
	party_say(&a.editor, chosen("0", "yes"));
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

/* Each is a write for some reader. */
START_TEST(nothing_passes_in_disguise)
{
	static const char PARAMS[] =
	    "\"params\":{\"sessionId\":\"s1\",\"path\":\"/x\",\"content\":\"\"}";
	static const char *const LINES[] = {
		"{\"id\":1,\"method\":\"fs\\/write_text_file\",%s}",
		"{\"id\":1,\"\\u006dethod\":\"fs/write_text_file\",%s}",
		"{\"id\":1,\"method\":\"_x\",\"method\":\"fs/write_text_file\",%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"method\":\"_x\",%s}",
		"{\"id\":1,\"method\":{},\"method\":\"fs/write_text_file\",%s}",
		"{\"id\":1,\"id\":2,\"method\":\"fs/write_text_file\",%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"params\":{\"path\":\"/a\"},%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"_\":{\"a\":1,\"\\u0061\":2},%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",%s}}",
		"{\"method\":\"fs/write_text_file\",%s}",
		"{\"id\":null,\"method\":\"fs/write_text_file\",%s}",
		"[{\"id\":1,\"method\":\"fs/write_text_file\",%s}]",
		"[[{\"id\":1,\"method\":\"fs/write_text_file\",%s}]]",
		"\xef\xbb\xbf{\"id\":1,\"method\":\"fs/write_text_file\",%s}",
		"\xef\xbb\xbf[{\"id\":1,\"method\":\"fs/write_text_file\",%s}]",
		"\"\r{\"id\":1,\"method\":\"fs/write_text_file\",%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",%s}\r\"",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"x\":\"\\u0000\",%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"x\":\"\xff\",%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"x\":\"\\ud800\",%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"x\":01,%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"x\":\"\t\",%s}",
		"{\"id\":01,\"method\":\"fs/write_text_file\",%s}",
		"{\"id\":1,\"method\":\"fs/write_text_file\",\"result\":{},%s}",
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(LINES); i++) {
		const char *hole = strstr(LINES[i], "%s");
		OWNED(str) struct str line = { 0 };
		OWNED(char_ptr) char *got = NULL;

		str_addf(&line, "%.*s%s%s", (int)(hole - LINES[i]), LINES[i], PARAMS, hole + 2);
		party_say(&a.agent, line.bytes);
		if (i < 2) { /* it is just a write */
			struct asked q = front_hears(&a);

			front_decides(&q, "deny", "error");
			asked_clear(&q);
		}
		got = party_hear(&a.agent);
		ck_assert_msg(got && strstr(got, "\"error\""), "%s: %s", LINES[i], got);
		hears_nothing_but_marks(&a);
	}
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_message_that_is_too_long_to_be_shown_does_not_pass)
{
	static const char *const FORMS[][2] = {
		{ "{\"id\":1,\"method\":\"fs/write_text_file\",\"params\":{\"content\":\"",
		  "\"}}" },
		{ "{\"id\":1,\"params\":{\"content\":\"",
		  "\"},\"method\":\"fs/write_text_file\"}" },
		{ "[{\"id\":1,\"params\":{\"content\":\"",
		  "\"},\"method\":\"fs/write_text_file\"}]" },
		{ "{\"method\":\"_x\",\"id\":1,\"x\":\"", "\",\"method\":\"fs/write_text_file\"}" },
		{ "\"", "\r{\"id\":1,\"method\":\"fs/write_text_file\"}" },
		{ "{\"method\":\"_x\",\"id\":1,\"x\":\"", "\"," },
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(FORMS); i++) {
		OWNED(str) struct str line = { 0 };
		OWNED(char_ptr) char *got = NULL;
		pid_t writer;

		str_add(&line, FORMS[i][0]);
		for (int n = 0; n < 34 << 20; n += 16)
			str_add(&line, "0123456789abcdef");
		str_add(&line, FORMS[i][1]);
		writer = fork();
		if (writer == 0) {
			party_say(&a.agent, line.bytes);
			_exit(0);
		}
		got = party_hear(&a.agent);
		ck_assert_msg(got && strstr(got, "\"error\""), "%zu: %s", i, got);
		ck_assert_int_eq(end_of(writer), 0);
		hears_nothing_but_marks(&a);
	}
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_front_that_dies_is_asked_again)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "4");

	asked_clear(&q);
	q = front_hears(&a);
	front_asks(&q, true);
	hears_nothing_but_marks(&a); /* the dialog is there already */
	asked_clear(&q);
	party_say(&a.editor, chosen("4", "no"));
	q = front_hears(&a);
	front_asks(&q, true);
	front_takes(&q, "reject", "applied");
	front_decides(&q, "deny", "");
	hears(&a.agent, chosen("4", "no"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_front_that_cannot_take_the_answer_yet_is_told_again)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "4");

	party_say(&a.editor, chosen("4", "yes"));
	front_takes(&q, "approve", "not_found");
	front_takes(&q, "approve", "applied");
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("4", "yes"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(without_a_front_permissions_are_the_editors_and_nothing_is_written)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "1");
	const char *line = permission("2", COMMAND);

	front_leaves(&a);
	asked_clear(&q);
	party_say(&a.editor, chosen("1", "yes"));
	party_say(&a.agent, line);
	hears(&a.editor, line);
	party_say(&a.editor, chosen("2", "no"));
	party_say(&a.agent, write_of(&a, "3", "x", "x"));
	hears(&a.agent, chosen("1", "yes"));
	hears(&a.agent, chosen("2", "no"));
	hears_part(&a.agent, "agent-intercom cannot be reached");
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(without_a_front_all_is_refused_if_so_wanted)
{
	struct trio a = given_trio("--when-down=deny");
	struct asked q = given_permission(&a, "1");

	front_leaves(&a);
	asked_clear(&q);
	party_say(&a.editor, chosen("1", "yes"));
	party_say(&a.agent, permission("2", COMMAND));
	hears(&a.agent, chosen("1", "no"));
	hears(&a.agent, chosen("2", "no"));
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_front_that_returns_is_asked_what_waits)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "1");

	front_leaves(&a);
	asked_clear(&q);
	hears_nothing_but_marks(&a);
	front_returns(&a);
	q = front_hears(&a);
	front_asks(&q, true);
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("1", "yes"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(where_systemd_holds_a_socket_for_the_system_no_other_is_started)
{
	struct trio a = given_activated_trio();
	struct asked q;

	party_say(&a.agent, permission("1", COMMAND));
	q = front_hears(&a);
	front_asks(&q, true);
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("1", "yes"));
	asked_clear(&q);
	ck_assert_int_ne(shell(NULL, "ls \"$HOME\"/.local/state/*/*-log 2>/dev/null"), 0);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_cancelled_turn_gives_up_its_questions)
{
	static const char CANCEL[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s1\"}}";
	static const char CANCELLED[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}";
	struct trio a = given_trio(NULL);
	struct asked shown = given_permission(&a, "1"), write;

	party_say(&a.agent, write_of(&a, "2", "x", "x"));
	write = front_hears(&a);
	front_asks(&write, true);
	hears_nothing_but_marks(&a);
	party_say(&a.editor, CANCEL);
	hears(&a.agent, CANCEL);
	hears_part(&a.agent, "-32800");
	party_say(&a.editor, CANCELLED);
	hears(&a.agent, CANCELLED);
	front_takes(&write, "withdraw", "applied");
	front_takes(&shown, "withdraw", "applied");
	front_sees_it_closed(&write);
	front_sees_it_closed(&shown);
	asked_clear(&write);
	asked_clear(&shown);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_request_that_the_agent_cancels_is_given_up)
{
	static const char CANCEL[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}";
	struct trio a = given_trio(NULL);
	struct asked shown = given_permission(&a, "1"), write;

	party_say(&a.agent, CANCEL);
	hears(&a.editor, CANCEL);
	front_takes(&shown, "withdraw", "applied");
	hears_part(&a.agent, "-32800");
	party_say(&a.editor, chosen("1", "yes")); /* pressed meanwhile */
	hears_nothing_but_marks(&a);
	party_say(&a.agent, write_of(&a, "1", "x", "x"));
	write = front_hears(&a);
	front_asks(&write, true);
	hears_nothing_but_marks(&a);
	party_say(&a.agent, CANCEL);
	hears_part(&a.agent, "-32800");
	front_takes(&write, "withdraw", "applied");
	hears_nothing_but_marks(&a);
	asked_clear(&write);
	asked_clear(&shown);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_the_agent_cancels_while_the_editors_yes_is_on_its_way_is_told_as_withdrawn)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "1"), told;

	party_say(&a.editor, chosen("1", "yes"));
	hears_nothing_but_marks(&a);
	party_say(
	    &a.agent,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}");
	hears_part(&a.agent, "-32800");
	told = front_hears(&a);
	has(told.params, "params.told", "withdraw");
	front_decides(&told, "none", NULL);
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	asked_clear(&told);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_was_answered_before_it_was_given_up_is_told_as_what_the_agent_heard)
{
	static const char *const OUTCOMES[] = { "too_late", "not_found" };
	struct trio a = given_trio(NULL);
	struct asked write, told;

	party_say(&a.agent, write_of(&a, "1", "x", "x"));
	write = front_hears(&a);
	front_asks(&write, true);
	hears_nothing_but_marks(&a);
	party_say(
	    &a.agent,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}");
	hears_part(&a.agent, "-32800");
	front_takes(&write, "withdraw", OUTCOMES[_i]);
	front_sees_it_closed(&write);
	told = front_hears(&a);
	has(told.params, "params.told", "withdraw");
	front_decides(&told, "none", NULL);
	front_sees_it_closed(&told);
	hears_nothing_but_marks(&a);
	asked_clear(&write);
	asked_clear(&told);
	trio_ends(&a, 0);
}
END_TEST

/* A double does not hold it. */
START_TEST(a_request_with_a_large_id_is_given_up_too)
{
	struct trio a = given_trio(NULL);
	struct asked write;

	party_say(&a.agent, write_of(&a, "9007199254740993", "x", "x"));
	write = front_hears(&a);
	front_asks(&write, true);
	hears_nothing_but_marks(&a);
	party_say(&a.agent, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{"
	                    "\"requestId\":9007199254740993}}");
	hears_part(&a.agent, "-32800");
	front_takes(&write, "withdraw", "applied");
	hears_nothing_but_marks(&a);
	asked_clear(&write);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_waits_is_given_up_when_editor_or_agent_are_gone)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "1");

	party_close(&a.editor);
	front_takes(&q, "withdraw", "applied");
	front_sees_it_closed(&q);
	asked_clear(&q);
	trio_ends(&a, 0);
	a = given_trio(NULL);
	q = given_permission(&a, "1");
	party_close(&a.agent);
	front_takes(&q, "withdraw", "applied");
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_was_told_of_a_call_belongs_to_its_permission)
{
	static const char UPDATE[] =
	    "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{"
	    "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c7\",\"kind\":\"execute\",\"title\":"
	    "\"T\","
	    "\"rawInput\":{\"command\":\"make all\"}}}}";
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, UPDATE);
	hears(&a.editor, UPDATE);
	party_say(&a.agent, permission("0", "{\"toolCallId\":\"c7\"}"));
	q = front_hears(&a);
	has(q.params, "params.input.tool_input.command", "make all");
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("0", "yes"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_asks");
	TCase *c = tcase_create("acp_proxy_asks");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, the_front_answers_first_and_the_dialog_is_closed);
	tcase_add_test(c, a_no_of_the_front_is_the_no_that_was_offered);
	tcase_add_test(c, the_editor_answers_first_in_its_own_words);
	tcase_add_test(c, an_answer_of_the_editor_that_comes_second_does_not_count);
	tcase_add_test(c, an_always_of_the_editor_is_not_heard_before_it_is_known_to_be_the_first);
	tcase_add_test(c, an_editor_that_may_not_answer_is_not_asked_or_not_heard);
	tcase_add_test(c, what_the_policy_decides_is_shown_to_nobody);
	tcase_add_test(c, a_write_is_held_and_passes_as_it_was);
	tcase_add_test(c, a_write_that_is_rejected_is_an_error_with_the_reason);
	tcase_add_test(c,
	               a_diff_beside_which_another_file_is_named_is_not_judged_by_its_path_alone);
	tcase_add_test(c, a_diff_is_all_of_an_edit_only_where_all_of_that_is_understood);
	tcase_add_test(c, all_that_a_command_runs_with_is_shown);
	tcase_add_test(c, a_hundred_questions_wait_at_once);
	tcase_add_test(c, ids_of_editor_and_agent_and_of_texts_and_numbers_are_apart);
	tcase_add_test(c, nothing_passes_in_disguise);
	tcase_add_test(c, a_message_that_is_too_long_to_be_shown_does_not_pass);
	tcase_add_test(c, a_front_that_dies_is_asked_again);
	tcase_add_test(c, a_front_that_cannot_take_the_answer_yet_is_told_again);
	tcase_add_test(c, without_a_front_permissions_are_the_editors_and_nothing_is_written);
	tcase_add_test(c, without_a_front_all_is_refused_if_so_wanted);
	tcase_add_test(c, a_front_that_returns_is_asked_what_waits);
	tcase_add_test(c, where_systemd_holds_a_socket_for_the_system_no_other_is_started);
	tcase_add_test(c, a_cancelled_turn_gives_up_its_questions);
	tcase_add_test(c, a_request_that_the_agent_cancels_is_given_up);
	tcase_add_test(
	    c, what_the_agent_cancels_while_the_editors_yes_is_on_its_way_is_told_as_withdrawn);
	tcase_add_loop_test(
	    c, what_was_answered_before_it_was_given_up_is_told_as_what_the_agent_heard, 0, 2);
	tcase_add_test(c, a_request_with_a_large_id_is_given_up_too);
	tcase_add_test(c, what_waits_is_given_up_when_editor_or_agent_are_gone);
	tcase_add_test(c, what_was_told_of_a_call_belongs_to_its_permission);
	suite_add_tcase(s, c);
	return run_suite(s);
}
