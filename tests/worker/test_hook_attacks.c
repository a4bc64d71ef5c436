/* What a malicious agent tries with the arguments of its tools (attack/test_attack_tool_use.c), by
 * the real program hook and the whole system: what it prints is what the front decided. */
#include "agent.h"
#include "hook_case.h"
#include "json.h"
#include "json_writer.h"
#include "relay.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct site site;
static int calls;

static void given_attack(void)
{
	site = given_running_site();
	(void)mkdir(below(site.workspace, ".intercom"), 0755);
	(void)mkdir(below(site.workspace, "docs"), 0755);
	(void)mkdir(below(site.workspace, "src"), 0755);
	(void)mkdir(below(site.workspace, ".git"), 0755);
	put_file(site.workspace, "src/auth.c", "secret\n");
	put_file(site.workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"commands\":[\"make *\",\"cat docs/*\"],"
	         "\"file_patterns\":{\"write\":[\"docs/**\"]}}");
}

static struct hook hook_of(const char *tool, const char *arguments, const char *cwd)
{
	OWNED(str) struct str line = { 0 }, input = { 0 };

	str_addf(&line, "claude PreToolUse --deadline 60 --db %s", site.database);
	str_addf(&input,
	         "{\"session_id\":\"s1\",\"cwd\":\"%s\",\"hook_event_name\":\"PreToolUse\","
	         "\"tool_name\":\"%s\",\"tool_input\":%s}",
	         cwd, tool, arguments);
	return given_hook(line.bytes, input.bytes);
}

/* "allow", "deny", or "open": a person is asked, and nothing was printed. */
static const char *verdict(const char *tool, const char *arguments, const char *cwd)
{
	static char text[40];
	OWNED(char_ptr) char *answer = NULL;
	struct hook h = hook_of(tool, arguments, cwd);
	char expected[20];
	int status;

	(void)snprintf(expected, sizeof(expected), "%d\n", ++calls);
	expect_soon("SELECT count(*) FROM gate_call", expected);
	answer = rows("SELECT decision FROM gate_call ORDER BY seq DESC LIMIT 1");
	(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(answer, "\n"), answer);
	if (strcmp(text, "open") == 0)
		(void)kill(h.pid, SIGKILL);
	status = hook_end(&h);
	if (strcmp(text, "open") == 0)
		ck_assert_str_eq(str_text(&h.said), "");
	else if (strcmp(text, "allow") == 0)
		ck_assert(status == 0 && strstr(str_text(&h.said), "\"allow\""));
	else
		ck_assert(status == 2 && strstr(str_text(&h.said), "\"deny\"") && h.why.length > 1);
	hook_clear(&h);
	return text;
}

static const char *writing(const char *path)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments, "{\"file_path\":\"%s/%s\",\"content\":\"x\"}", site.workspace, path);
	return verdict("Write", arguments.bytes, site.workspace);
}

static const char *running(const char *command)
{
	OWNED(str) struct str arguments = { 0 };

	str_add(&arguments, "{\"command\":");
	json_quote(&arguments, command);
	str_add(&arguments, "}");
	return verdict("Bash", arguments.bytes, site.workspace);
}

START_TEST(a_name_counts_by_the_file_that_it_leads_to)
{
	given_attack();
	ck_assert_int_eq(symlink("../src/auth.c", below(site.workspace, "docs/notes.md")), 0);
	ck_assert_int_eq(symlink("../src", below(site.workspace, "docs/deep")), 0);
	ck_assert_int_eq(symlink("../.git", below(site.workspace, "docs/repo")), 0);
	ck_assert_str_eq(writing("docs/fine.md"), "allow");
	ck_assert_str_eq(writing("docs/notes.md"), "open");
	ck_assert_str_eq(writing("docs/deep/auth.c"), "open");
	ck_assert_str_eq(writing("docs/repo/config"), "deny");
	ck_assert_str_eq(writing("docs/../src/auth.c"), "open");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_link_that_is_turned_after_the_question_closes_an_approved_write)
{
	OWNED(str) struct str arguments = { 0 };
	struct hook h;

	given_attack();
	put_file(site.workspace, "src/plain", "plain\n");
	ck_assert_int_eq(symlink("plain", below(site.workspace, "src/link")), 0);
	str_addf(&arguments, "{\"file_path\":\"%s/src/link\",\"content\":\"x\"}", site.workspace);
	h = hook_of("Write", arguments.bytes, site.workspace);
	expect_soon("SELECT count(*) FROM gate_call WHERE decision = 'open'", "1\n");
	ck_assert_int_eq(unlink(below(site.workspace, "src/link")), 0);
	ck_assert_int_eq(symlink("auth.c", below(site.workspace, "src/link")), 0);
	approve_all();
	is_denied(&h, "has changed since it was shown");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_allowed_command_in_another_folder_is_asked_about)
{
	OWNED(str) struct str link = { 0 };

	given_attack();
	ck_assert_int_eq(symlink("/tmp", below(site.workspace, "docs/tmp")), 0);
	str_addf(&link, "%s/docs/tmp", site.workspace);
	ck_assert_str_eq(running("make test"), "allow");
	ck_assert_str_eq(verdict("Bash", "{\"command\":\"make test\"}", "/tmp"), "open");
	ck_assert_str_eq(verdict("Bash", "{\"command\":\"make test\"}", link.bytes), "open");
	ck_assert_str_eq(
	    verdict("Bash", "{\"command\":\"make test\",\"workdir\":\"..\"}", site.workspace),
	    "open");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_command_that_only_looks_allowed_is_asked_about)
{
	static const char *const COMMANDS[] = { "make test; id",      "make $(id)",
		                                "make `id`",          "make test\nid",
		                                "make test > /etc/x", "make test | sh",
		                                "make \"$HOME\"",     "make 'te'\\''st'",
		                                "PATH=. make test" };

	given_attack();
	ck_assert_str_eq(running("make test"), "allow");
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		ck_assert_msg(strcmp(running(COMMANDS[i]), "open") == 0, "%s", COMMANDS[i]);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- what it is made of ---- */

static bool links(const char *name, const char *pattern)
{
	char path[PROGRAM_BYTES];

	test_program(name, path);
	return shell(NULL, "readelf -dWs '%s' | grep -Eq '%s'", path, pattern) == 0;
}

START_TEST(the_program_has_neither_sqlite_nor_libcurl)
{
	ck_assert(links("mcp-front", "libsqlite3| sqlite3_open"));
	ck_assert(links("slack-poster", "libcurl| curl_easy_init"));
	ck_assert(!links("hook", "libsqlite3| sqlite3_|libcurl| curl_"));
	ck_assert(links("hook", "NEEDED|DYN|SYMTAB|main")); /* it was read */
}
END_TEST

START_TEST(what_an_agent_or_a_start_waits_for_loads_nothing_that_calls_slack)
{
	ck_assert(!links("agent-intercom", "libcurl|libevent"));
	ck_assert(links("agent-intercom", "libsqlite3| sqlite3_open"));
	ck_assert(!links("mcp-stdio", "libcurl|libevent|libsqlite3"));
	ck_assert(links("mcp-stdio", "libcjson| cJSON_"));
	ck_assert(!links("mcp-stdio", " EVP_"));
	ck_assert(links("doctor", "libcurl| curl_easy_init"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_attacks");
	TCase *c = store_case(s, "hook_attacks", 60);

	tcase_add_test(c, a_name_counts_by_the_file_that_it_leads_to);
	tcase_add_test(c, a_link_that_is_turned_after_the_question_closes_an_approved_write);
	tcase_add_test(c, an_allowed_command_in_another_folder_is_asked_about);
	tcase_add_test(c, a_command_that_only_looks_allowed_is_asked_about);
	tcase_add_test(c, the_program_has_neither_sqlite_nor_libcurl);
	tcase_add_test(c, what_an_agent_or_a_start_waits_for_loads_nothing_that_calls_slack);
	return run_suite(s);
}
