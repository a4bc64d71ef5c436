/* What an agent may try by calling another folder its workspace: one that is protected where it
 * lies, one that holds what is ours, or one that a policy covers. */
#include "agent.h"
#include "fence.h"
#include "json.h"
#include "slack_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct site site;

/* An agent that is started in this folder, with one line more in config.toml. */
static struct relay given_agent_in(const char *folder)
{
	struct relay r;

	relay_start(&r, folder, NULL, NULL);
	relay_hello(&r);
	return r;
}

static void given_site_with(const char *more)
{
	fresh_store();
	site = site_make(more);
	site_start(&site);
}

static char *make_folder(const char *under, const char *name)
{
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/%s", under, name);
	ck_assert_int_eq(shell(NULL, "mkdir -p '%s'", path.bytes), 0);
	return str_take(&path);
}

/* What check_clearance says of a new file there. */
static char *asked_in(const char *folder, const char *file)
{
	OWNED(char_ptr) char *arguments = proposal(file, "x\n");
	struct relay r = given_agent_in(folder);
	char *answer;

	relay_begin(&r, "check_clearance", arguments);
	answer = relay_line(&r);
	ck_assert_int_eq(relay_stop(&r), 0);
	relay_clear(&r);
	return answer;
}

static void is_refused_in(const char *folder, const char *file, const char *why)
{
	OWNED(char_ptr) char *answer = asked_in(folder, file);

	says(answer, "path_violation");
	says(answer, why);
}

/* An agent that is started there works in the default workspace. */
static void is_no_workspace(const char *folder)
{
	OWNED(str) struct str expected = { 0 };
	struct relay r = given_agent_in(folder);

	free(relay_call(&r, "ping", "{}"));
	ck_assert_int_eq(relay_stop(&r), 0);
	relay_clear(&r);
	str_addf(&expected, "%s\n", site.workspace);
	expect("SELECT workspace_root FROM session ORDER BY seq DESC LIMIT 1", expected.bytes);
}

START_TEST(no_folder_inside_a_protected_one_a_home_or_the_root_is_a_workspace)
{
	OWNED(char_ptr) char *git = NULL;
	OWNED(char_ptr) char *hooks = NULL;
	OWNED(char_ptr) char *intercom = NULL;
	OWNED(char_ptr) char *deep = NULL;
	char link[200];

	given_site_with("");
	git = make_folder(site.workspace, ".git");
	hooks = make_folder(site.workspace, "sub/.git/hooks");
	intercom = make_folder(site.workspace, "docs/.intercom");
	deep = make_folder(site.workspace, "docs/.Intercom/a/b");
	(void)snprintf(link, sizeof(link), "%s/innocent", site.home);
	ck_assert_int_eq(symlink(hooks, link), 0);
	is_no_workspace(git);
	is_no_workspace(hooks);
	is_no_workspace(intercom);
	is_no_workspace(deep);
	is_no_workspace(link);
	is_no_workspace("/");
	is_no_workspace(site.home);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* With a rule for all of docs the agent would write docs/.intercom/settings.json, call docs its
 * workspace, and have all approved from there. */
START_TEST(a_policy_for_a_folder_does_not_let_an_agent_make_another_policy_in_it)
{
	OWNED(char_ptr) char *folder = NULL;

	given_site_with("");
	folder = make_folder(site.workspace, ".intercom");
	put_file(folder, "settings.json",
	         "{\"enabled\":true,\"file_patterns\":{\"write\":[\"**\"]}}");
	is_refused_in(site.workspace, "docs/.intercom/settings.json", "is inside .intercom");
	is_refused_in(site.workspace, "a/b/.INTERCOM/settings.json", "is inside .intercom");
	expect("SELECT count(*) FROM request", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* A workspace that becomes a link into a protected folder after it was settled. */
START_TEST(a_workspace_that_is_moved_into_a_protected_folder_is_refused)
{
	OWNED(char_ptr) char *folder = NULL;
	OWNED(char_ptr) char *hooks = NULL;
	OWNED(char_ptr) char *arguments = proposal("pre-commit", "x\n");
	OWNED(char_ptr) char *answer = NULL;
	struct relay r;

	given_site_with("");
	hooks = make_folder(site.workspace, ".git/hooks");
	folder = make_folder(site.home, "project");
	r = given_agent_in(folder);
	free(relay_call(&r, "ping", "{}"));
	ck_assert_int_eq(rmdir(folder), 0);
	ck_assert_int_eq(symlink(hooks, folder), 0);
	answer = relay_call(&r, "check_clearance", arguments);
	has(answer, "error_code", "workspace_unreadable");
	says(member(answer, "error_message"), "is inside .git");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_replaces_its_folder_again_and_again_delays_nobody_for_long)
{
	enum { WRITES = 14 }; /* more than the successors that an applier has at once */
	OWNED(char_ptr) char *log = NULL;
	struct agent a;

	SKIP_UNLESS(fence_abi() >= 2, "Landlock's ABI 2");
	given_site_with("");
	a = agent_hello(site.port, "?wait=20", "2025-11-25");
	for (int i = 0; i < WRITES; i++) {
		struct wire w;
		char name[20];
		OWNED(char_ptr) char *arguments = NULL;
		OWNED(char_ptr) char *clearance = NULL;
		OWNED(char_ptr) char *ask = NULL;
		OWNED(char_ptr) char *written = NULL;

		(void)snprintf(name, sizeof(name), "%d", i);
		ck_assert_int_eq(
		    shell(NULL, "rm -r '%s' && mkdir '%s'", site.workspace, site.workspace), 0);
		arguments = proposal(name, "x\n");
		agent_begin(&a, &w, "check_clearance", arguments, NULL);
		expect_soon("SELECT count(*) FROM request WHERE state = 'pending'", "1\n");
		approve_all();
		clearance = agent_end(&w);
		ask = diff_of(member(clearance, "request_id"));
		written = agent_write(&a, ask);
		has(written, "status", "applied");
	}
	log = get_file(site.home, "log");
	says(log, "applier (pid");
	ck_assert_ptr_null(strstr(log, "; restart in"));
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_is_ours_is_written_from_no_workspace_that_holds_it)
{
	OWNED(char_ptr) char *configs = NULL;
	OWNED(char_ptr) char *state = NULL;

	given_site_with("");
	configs = make_folder(site.home, ".config");
	state = make_folder(site.home, ".local/state");
	is_refused_in(configs, "agent-intercom/config.toml", "one of agent-intercom's own files");
	is_refused_in(configs, "agent-intercom/new", "one of agent-intercom's own files");
	is_refused_in(state, "agent-intercom/intercom.db", "one of agent-intercom's own files");
	expect("SELECT count(*) FROM request", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(with_listed_workspaces_agents_work_in_no_others)
{
	OWNED(char_ptr) char *listed = NULL;
	OWNED(char_ptr) char *other = NULL;
	OWNED(char_ptr) char *refused = NULL;
	OWNED(str) struct str more = { 0 };
	OWNED(str) struct str expected = { 0 };
	struct relay r;

	fresh_store();
	site = site_make("");
	listed = make_folder(site.home, "listed");
	other = make_folder(site.home, "other");
	str_addf(&more,
	         "default_workspace_root = \"%s\"\nhttp_port = 0\n[database]\npath = \"%s\"\n"
	         "[workspaces]\nallow = \"listed\"\n"
	         "[[workspace]]\nid = \"l\"\nchannel_id = \"C1\"\npath = \"%s\"\n",
	         site.workspace, site.database, listed);
	put_file("/", site.config + 1, more.bytes);
	site_start(&site);
	refused = asked_in(other, "a");
	says(refused, "other is not listed");
	says(refused, "set workspaces.allow to");
	r = given_agent_in(listed);
	free(relay_call(&r, "ping", "{}"));
	ck_assert_int_eq(relay_stop(&r), 0);
	relay_clear(&r);
	str_addf(&expected, "%s\n", listed);
	expect("SELECT workspace_root FROM session", expected.bytes);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* The path as Slack shows it with a question. */
static bool slack_shows_path(const char *ts)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	OWNED(str) struct str path = { 0 };
	const cJSON *message;

	str_addf(&path, "\"%s\"", site.workspace);
	cJSON_ArrayForEach (message, cJSON_GetObjectItem(root, "messages")) {
		OWNED(char_ptr) char *text = NULL;

		if (strcmp(json_text(message, "ts"), ts) != 0)
			continue;
		text = cJSON_PrintUnformatted(message);
		return strstr(text, "First question from this folder") && strstr(text, path.bytes);
	}
	ck_abort_msg("Slack shows no message %s", ts);
}

/* Where the newest question stands. */
static char *newest_ask(const char *count)
{
	char *ts;

	expect_soon("SELECT count(*) FROM slack_message WHERE kind = 'ask' AND ts IS NOT NULL",
	            count);
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask' ORDER BY seq DESC LIMIT 1");
	ts[strcspn(ts, "\n")] = '\0';
	return ts;
}

START_TEST(the_first_question_from_a_folder_shows_its_full_path)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(str) struct str shown = { 0 };
	struct agent a;

	fresh_store();
	slack_start();
	slack_credentials();
	site = site_make("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	a = agent_hello(site.port, "?wait=1", "2025-11-25");
	free(agent_call(&a, "transmit", "{\"prompt_text\":\"Go on?\"}"));
	first = newest_ask("1\n");
	ck_assert(slack_shows_path(first));
	ck_assert_int_eq(ctl(&shown, "show $(sqlite3 '%s' 'SELECT id FROM request')", test_db()),
	                 0);
	says(shown.bytes, "\"is_new_workspace\":true");
	(void)slack_deliver("{'click':{'channel':'C01AGENTS','ts':'%s',"
	                    "'action_id':'prompt_continue'}}",
	                    first);
	expect_soon("SELECT count(*) FROM workspace", "1\n");
	free(agent_call(&a, "transmit", "{\"prompt_text\":\"And now?\"}"));
	advance(2000); /* what is said keeps a pace */
	second = newest_ask("2\n");
	ck_assert(!slack_shows_path(second));
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack workspace");
	TCase *c = store_case(s, "attack workspace", 90);

	tcase_add_test(c, no_folder_inside_a_protected_one_a_home_or_the_root_is_a_workspace);
	tcase_add_test(c, a_policy_for_a_folder_does_not_let_an_agent_make_another_policy_in_it);
	tcase_add_test(c, a_workspace_that_is_moved_into_a_protected_folder_is_refused);
	tcase_add_test(c, an_agent_that_replaces_its_folder_again_and_again_delays_nobody_for_long);
	tcase_add_test(c, what_is_ours_is_written_from_no_workspace_that_holds_it);
	tcase_add_test(c, with_listed_workspaces_agents_work_in_no_others);
	tcase_add_test(c, the_first_question_from_a_folder_shows_its_full_path);
	return run_suite(s);
}
