/* What `agent-intercom acp` does not ask about again, because it was approved as a permission. */
#include "acp_proxy_case.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NPM_TEST                                                                                   \
	"{\"toolCallId\":\"c1\",\"kind\":\"execute\",\"title\":\"Run\",\"rawInput\":{\"command\":" \
	"\"npm test\"}}"

/* ---- what is approved ---- */

/* The agent asks for permission; the question is with the front. */
static struct asked given_question(struct trio *a, const char *call)
{
	party_say(&a->agent, permission("1", call));
	return front_hears(a);
}

static void is_allowed(struct trio *a, struct asked *q)
{
	front_decides(q, "allow", "");
	hears(&a->agent, chosen("1", "yes"));
	asked_clear(q);
}

static void is_approved(struct trio *a, const char *call)
{
	struct asked q = given_question(a, call);

	is_allowed(a, &q);
}

static void add_edit(struct str *out, const struct trio *a, const char *old, const char *new)
{
	str_addf(
	    out,
	    "{\"toolCallId\":\"c2\",\"kind\":\"edit\",\"title\":\"Edit\",\"content\":[{\"type\":"
	    "\"diff\",\"path\":\"%s/a.txt\",\"oldText\":\"%s\",\"newText\":\"%s\"}]}",
	    a->folder, old, new);
}

/* A person is asked, with what the digest stands for. */
static void front_asks_of(struct asked *q, bool editor, const char *digest)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "{\"jsonrpc\":\"2.0\",\"method\":\"intercom/asked\",\"params\":{\"editor\":%s,"
	         "\"digest\":\"%s\"}}",
	         editor ? "true" : "false", digest);
	front_says(q, line.bytes);
}

/* Asks to change "one" to "two" in a.txt, and is approved. */
static void given_approved_edit(struct trio *a, const char *answers)
{
	OWNED(str) struct str call = { 0 };
	struct asked q;
	const char *line;

	put_file(a->folder, "a.txt", "one and one half\n");
	add_edit(&call, a, "one half", "two");
	line = permission("1", call.bytes);
	party_say(&a->agent, line);
	q = front_hears(a);
	has(q.params, "params.input.tool_name", "edit");
	has(q.params, "params.input.tool_input.diffs.0.oldText", "one half");
	front_asks(&q, true);
	hears(&a->editor, line);
	if (answers) {
		party_say(&a->editor, chosen("1", answers));
		front_takes(&q, "approve", "applied");
	}
	front_decides(&q, "allow", "");
	hears(&a->agent, chosen("1", answers ? answers : "yes"));
	asked_clear(&q);
}

/* A call that creates this file. */
static void add_creation(struct str *out, const struct trio *a, const char *name)
{
	str_addf(out,
	         "{\"toolCallId\":\"n\",\"kind\":\"edit\",\"content\":[{\"type\":\"diff\",\"path\":"
	         "\"%s/%s\",\"oldText\":null,\"newText\":\"x\"}]}",
	         a->folder, name);
}

static void is_asked_about(struct trio *a, const char *line)
{
	struct asked q;

	party_say(&a->agent, line);
	q = front_hears(a);
	front_decides(&q, "deny", "not this");
	hears_part(&a->agent, "not this");
	asked_clear(&q);
}

/* ---- the same ---- */

START_TEST(what_was_approved_as_a_permission_is_written_unasked_once)
{
	struct trio a = given_trio(NULL);
	const char *line = write_of(&a, "2", "a.txt", "one and two\\n");
	struct asked q;

	given_approved_edit(&a, "yes");
	party_say(&a.agent, line);
	hears(&a.editor, line);
	party_say(&a.agent, line);
	q = front_hears(&a);
	front_decides(&q, "deny", "again?");
	hears_part(&a.agent, "again?");
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

/* With an editor that shows it or not, and whether the front says so or was away meanwhile. */
START_TEST(what_was_approved_when_it_was_asked_again_is_written_unasked)
{
	static const char AGAIN[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"decision\":"
	                            "\"deny\",\"reason\":\"it has changed\",\"again\":true}}";
	struct trio a = given_trio(NULL);
	OWNED(str) struct str call = { 0 };
	const char *write = write_of(&a, "2", "a.txt", "top\\ntwo\\n");
	bool is_shown = _i & 1, is_told = _i & 2;
	struct asked q, again;

	put_file(a.folder, "a.txt", "one\n");
	add_edit(&call, &a, "one", "two");
	q = given_question(&a, call.bytes);
	front_asks_of(&q, is_shown, "aa");
	if (is_shown)
		hears_part(&a.editor, "request_permission");
	put_file(a.folder, "a.txt", "top\none\n");
	if (is_told)
		front_says(&q, AGAIN);
	asked_clear(&q);
	if (is_told && is_shown)
		hears_part(&a.editor, "$/cancel_request");
	again = front_hears(&a);
	front_asks_of(&again, is_shown, "bb");
	if (!is_told && is_shown)
		hears_part(&a.editor, "$/cancel_request");
	if (is_shown)
		hears_part(&a.editor, "request_permission");
	is_allowed(&a, &again);
	if (is_shown)
		hears_part(&a.editor, "$/cancel_request");
	party_say(&a.agent, write);
	hears(&a.editor, write);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_is_not_what_was_approved_is_asked_about)
{
	struct trio a = given_trio(NULL);

	given_approved_edit(&a, "yes");
	is_asked_about(&a, write_of(&a, "2", "a.txt", "one and two \\n"));
	put_file(a.folder, "a.txt", "changed, one half\n");
	is_asked_about(&a, write_of(&a, "3", "a.txt", "one and two\\n"));
	trio_ends(&a, 0);
}
END_TEST

/* Each gives a.txt the bytes that it had, in another file, or makes it also that of another name.
 */
START_TEST(the_same_bytes_of_another_file_or_of_two_names_are_asked_about)
{
	static const char *const CHANGES[] = {
		"cp a.txt b.txt && ln -f b.txt a.txt",
		"cp a.txt b.txt && mv b.txt a.txt",
		"ln a.txt b.txt",
	};

	for (size_t i = 0; i < COUNT(CHANGES); i++) {
		struct trio a = given_trio(NULL);

		given_approved_edit(&a, "yes");
		ck_assert_int_eq(shell(NULL, "cd '%s' && %s", a.folder, CHANGES[i]), 0);
		is_asked_about(&a, write_of(&a, "2", "a.txt", "one and two\\n"));
		trio_ends(&a, 0);
	}
}
END_TEST

START_TEST(a_command_for_the_editor_is_held_unless_it_was_approved_there)
{
	struct trio a = given_trio(NULL);
	struct asked q;

	is_approved(&a, NPM_TEST);
	is_asked_about(&a, terminal("4", "\"command\":\"npm\",\"args\":[\"test\"],\"cwd\":\"/\""));
	is_asked_about(&a, terminal("5", "\"command\":\"npm test\",\"env\":[{\"name\":\"A\"}]"));
	party_say(&a.agent, terminal("2", "\"command\":\"npm\",\"args\":[\"test\"],\"env\":[]"));
	hears(&a.editor, terminal("2", "\"command\":\"npm\",\"args\":[\"test\"],\"env\":[]"));
	party_say(&a.agent, terminal("3", "\"command\":\"npm\",\"args\":[\"test\"]"));
	q = front_hears(&a);
	has(q.params, "params.event", "terminal/create");
	has(q.params, "params.input.tool_name", "terminal/create");
	has(q.params, "params.input.tool_input.command", "npm test");
	front_decides(&q, "deny", "no");
	hears_part(&a.agent, "-32001");
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_command_beside_something_unknown_is_approved_there_alone)
{
	static const char MORE[] = "{\"toolCallId\":\"c2\",\"kind\":\"execute\",\"rawInput\":{"
	                           "\"command\":\"ls\",\"_as\":\"root\"}}";
	struct trio a = given_trio(NULL);

	is_approved(&a, MORE);
	is_asked_about(&a, terminal("2", "\"command\":\"ls\""));
	trio_ends(&a, 0);
}
END_TEST

/* ---- another place by the same name ---- */

/* In the workspace and beside it, folders "d" and "e". */
static struct trio given_folders(void)
{
	struct trio a = given_trio(NULL);

	ck_assert_int_eq(mkdir(path_in(&a, "d"), 0755), 0);
	ck_assert_int_eq(mkdir(path_in(&a, "../e"), 0755), 0);
	return a;
}

/* The folder stands beside it meanwhile, and comes back: another would be another one. */
static void folder_aside(const struct trio *a, const char *name, char aside[PATH_MAX])
{
	(void)snprintf(aside, PATH_MAX, "%s.aside", path_in(a, name));
}

static void becomes_a_link(const struct trio *a, const char *name, const char *target)
{
	char aside[PATH_MAX];

	folder_aside(a, name, aside);
	(void)rename(path_in(a, name), aside);
	ck_assert_int_eq(symlink(target, path_in(a, name)), 0);
}

static void becomes_a_folder(const struct trio *a, const char *name)
{
	char aside[PATH_MAX];

	folder_aside(a, name, aside);
	ck_assert_int_eq(unlink(path_in(a, name)), 0);
	ck_assert_int_eq(rename(aside, path_in(a, name)), 0);
}

START_TEST(a_file_whose_folder_became_a_link_since_it_was_approved_is_asked_about)
{
	struct trio a = given_folders();
	OWNED(str) struct str call = { 0 };
	const char *line;

	add_creation(&call, &a, "d/n.txt");
	is_approved(&a, call.bytes);
	becomes_a_link(&a, "d", "../e");
	is_asked_about(&a, write_of(&a, "2", "d/n.txt", "x"));
	becomes_a_folder(&a, "d");
	line = write_of(&a, "3", "d/n.txt", "x");
	party_say(&a.agent, line);
	hears(&a.editor, line);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_file_that_became_a_link_to_one_that_is_not_there_is_asked_about)
{
	struct trio a = given_folders();
	OWNED(str) struct str call = { 0 };

	add_creation(&call, &a, "n.txt");
	is_approved(&a, call.bytes);
	becomes_a_link(&a, "n.txt", "../e/n.txt");
	is_asked_about(&a, write_of(&a, "2", "n.txt", "x"));
	trio_ends(&a, 0);
}
END_TEST

/* What it leads to may become a link by then. */
START_TEST(a_link_to_what_is_not_there_is_asked_about_whenever_it_is_written)
{
	struct trio a = given_folders();
	OWNED(str) struct str call = { 0 };

	becomes_a_link(&a, "n.txt", "d/n.txt");
	add_creation(&call, &a, "n.txt");
	is_approved(&a, call.bytes);
	becomes_a_link(&a, "d/n.txt", "../../e/n.txt");
	is_asked_about(&a, write_of(&a, "2", "n.txt", "x"));
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_command_whose_folder_became_a_link_since_it_was_approved_is_asked_about)
{
	struct trio a = given_folders();
	OWNED(str) struct str call = { 0 }, params = { 0 };

	str_addf(&params, "\"command\":\"make\",\"cwd\":\"%s/d\"", a.folder);
	str_addf(&call, "{\"toolCallId\":\"c\",\"kind\":\"execute\",\"rawInput\":{%s}}",
	         params.bytes);
	is_approved(&a, call.bytes);
	becomes_a_link(&a, "d", "../e");
	is_asked_about(&a, terminal("2", params.bytes));
	becomes_a_folder(&a, "d");
	party_say(&a.agent, terminal("3", params.bytes));
	hears(&a.editor, terminal("3", params.bytes));
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_command_is_approved_in_a_folder_by_any_name_of_it)
{
	struct trio a = given_folders();
	OWNED(str) struct str params = { 0 };

	becomes_a_link(&a, "e", "../e");
	is_approved(&a, "{\"toolCallId\":\"c\",\"kind\":\"execute\",\"rawInput\":{\"command\":"
	                "\"make\",\"cwd\":\"e\"}}");
	str_addf(&params, "\"command\":\"make\",\"cwd\":\"%s\"", path_in(&a, "../e"));
	party_say(&a.agent, terminal("2", params.bytes));
	hears(&a.editor, terminal("2", params.bytes));
	trio_ends(&a, 0);
}
END_TEST

/* The front judges where a name leads when it is asked, and when it says yes. */
START_TEST(what_was_not_where_it_is_when_the_yes_comes_was_not_approved)
{
	struct trio a = given_folders();
	OWNED(str) struct str call = { 0 };
	struct asked q;

	becomes_a_link(&a, "d", "../e");
	add_creation(&call, &a, "d/n.txt");
	q = given_question(&a, call.bytes);
	becomes_a_folder(&a, "d");
	is_allowed(&a, &q);
	becomes_a_link(&a, "d", "../e");
	is_asked_about(&a, write_of(&a, "2", "d/n.txt", "x"));
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_write_whose_folder_becomes_a_link_meanwhile_is_asked_about_again)
{
	struct trio a = given_folders();
	const char *line = write_of(&a, "2", "d/n.txt", "x");
	struct asked q;

	party_say(&a.agent, line);
	q = front_hears(&a);
	becomes_a_link(&a, "d", "../e");
	is_asked_once_more(&a, &q, line);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_file_too_large_to_be_read_that_changes_meanwhile_is_asked_about_again)
{
	enum { TOO_LARGE = 33 << 20 };
	struct trio a = given_folders();
	const char *line = write_of(&a, "2", "n.txt", "x");
	struct asked q;

	put_file(a.folder, "n.txt", "");
	ck_assert_int_eq(truncate(path_in(&a, "n.txt"), TOO_LARGE), 0);
	party_say(&a.agent, line);
	q = front_hears(&a);
	ck_assert_int_eq(truncate(path_in(&a, "n.txt"), TOO_LARGE + 1), 0);
	is_asked_once_more(&a, &q, line);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_link_that_leads_where_it_led_is_no_reason_to_ask_again)
{
	struct trio a = given_folders();
	OWNED(str) struct str call = { 0 };
	const char *line;

	becomes_a_link(&a, "d", "../e");
	add_creation(&call, &a, "d/n.txt");
	is_approved(&a, call.bytes);
	line = write_of(&a, "2", "d/n.txt", "x");
	party_say(&a.agent, line);
	hears(&a.editor, line);
	trio_ends(&a, 0);
}
END_TEST

/* As many as a question may name, and more. */
START_TEST(a_yes_to_many_files_counts_for_each)
{
	enum { FILES = 450 };
	struct trio a = given_trio(NULL);
	OWNED(str) struct str call = { 0 };

	str_add(&call, "{\"toolCallId\":\"c2\",\"kind\":\"edit\",\"title\":\"Edit\",\"content\":[");
	for (int i = 0; i < FILES; i++)
		str_addf(&call,
		         "%s{\"type\":\"diff\",\"path\":\"%s/f%d\",\"oldText\":null,"
		         "\"newText\":\"x\"}",
		         i ? "," : "", a.folder, i);
	str_add(&call, "]}");
	is_approved(&a, call.bytes);
	for (int i = 0; i < FILES; i += FILES - 1) {
		char name[20];
		const char *line;

		(void)snprintf(name, sizeof(name), "f%d", i);
		line = write_of(&a, "2", name, "x");
		party_say(&a.agent, line);
		hears(&a.editor, line);
	}
	trio_ends(&a, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_grants");
	TCase *c = tcase_create("acp_proxy_grants");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_yes_to_many_files_counts_for_each);
	tcase_add_test(c, what_was_approved_as_a_permission_is_written_unasked_once);
	tcase_add_loop_test(c, what_was_approved_when_it_was_asked_again_is_written_unasked, 0, 4);
	tcase_add_test(c, what_is_not_what_was_approved_is_asked_about);
	tcase_add_test(c, the_same_bytes_of_another_file_or_of_two_names_are_asked_about);
	tcase_add_test(c, a_command_for_the_editor_is_held_unless_it_was_approved_there);
	tcase_add_test(c, a_command_beside_something_unknown_is_approved_there_alone);
	tcase_add_test(c, a_file_whose_folder_became_a_link_since_it_was_approved_is_asked_about);
	tcase_add_test(c, a_link_to_what_is_not_there_is_asked_about_whenever_it_is_written);
	tcase_add_test(c, a_file_that_became_a_link_to_one_that_is_not_there_is_asked_about);
	tcase_add_test(c,
	               a_command_whose_folder_became_a_link_since_it_was_approved_is_asked_about);
	tcase_add_test(c, a_command_is_approved_in_a_folder_by_any_name_of_it);
	tcase_add_test(c, what_was_not_where_it_is_when_the_yes_comes_was_not_approved);
	tcase_add_test(c, a_write_whose_folder_becomes_a_link_meanwhile_is_asked_about_again);
	tcase_add_test(c, a_file_too_large_to_be_read_that_changes_meanwhile_is_asked_about_again);
	tcase_add_test(c, a_link_that_leads_where_it_led_is_no_reason_to_ask_again);
	suite_add_tcase(s, c);
	return run_suite(s);
}
