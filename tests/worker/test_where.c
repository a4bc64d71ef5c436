/* One system per user: where its files are, and who finds it. */
#include "agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct site site;

/* The site's configuration lies where nobody looks for it. */
static void hide_config(struct site *s)
{
	char hidden[160];

	(void)snprintf(hidden, sizeof(hidden), "%s/hidden.toml", s->home);
	ck_assert_int_eq(rename(s->config, hidden), 0);
	(void)snprintf(s->config, sizeof(s->config), "%s", hidden);
}

static struct site given_hidden_site(void)
{
	struct site s = given_site();

	hide_config(&s);
	site_start(&s);
	return s;
}

/* Runs agent-intercom with these arguments; its exit status. */
static int intercom(struct str *said, const char *arguments)
{
	str_reset(said);
	return shell(said, "$INTERCOM_BUILD/agent-intercom %s 2>&1", arguments);
}

static char *ping(struct relay *r)
{
	return relay_call(r, "ping", "{}");
}

static pid_t holder(const char *database)
{
	OWNED(char_ptr) char *text = NULL;
	char path[300];

	(void)snprintf(path, sizeof(path), "%.250s-instance", database);
	text = get_file("/", path + 1);
	return text ? atoi(text) : 0;
}

static void end_system(const char *database)
{
	pid_t pid = holder(database);

	if (pid > 1)
		(void)kill(pid, SIGTERM);
	for (int i = 0; i < 1000 && pid > 1 && kill(pid, 0) == 0; i++)
		(void)usleep(10000);
}

/* ---- where ---- */

START_TEST(where_prints_all_places_of_the_system_that_runs)
{
	OWNED(str) struct str said = { 0 };

	site = given_hidden_site();
	ck_assert_int_eq(intercom(&said, "where"), 0);
	says(str_text(&said), "database       ");
	says(str_text(&said), site.database);
	says(str_text(&said), "/mcp.sock\n");
	says(str_text(&said), "/ipc.sock\n");
	says(str_text(&said), site.config);
	says(str_text(&said), "http://127.0.0.1:");
	says(str_text(&said), "runs (pid ");
	ck_assert_int_eq(intercom(&said, "where --json"), 0);
	has(str_text(&said), "database", site.database);
	has(str_text(&said), "config", site.config);
	says(member(str_text(&said), "log"), "/log");
	ck_assert_int_eq(access(member(str_text(&said), "ipc_socket"), F_OK), 0);
	ck_assert_int_eq(access(member(str_text(&said), "mcp_socket"), F_OK), 0);
	ck_assert_int_eq(atoi(member(str_text(&said), "pid")), site.pid);
	ck_assert_int_eq(intercom(&said, "where database"), 0);
	ck_assert_int_eq(strncmp(str_text(&said), site.database, strlen(site.database)), 0);
	ck_assert_int_eq(intercom(&said, "where nothing"), 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(where_names_no_log_that_was_removed)
{
	OWNED(str) struct str said = { 0 };

	site = given_hidden_site();
	ck_assert_int_eq(shell(NULL, "rm '%s/log'", site.home), 0);
	ck_assert_int_eq(intercom(&said, "where --json"), 0);
	has(str_text(&said), "log", "null");
	str_reset(&said);
	ck_assert_int_eq(intercom(&said, "where"), 0);
	says(str_text(&said), "standard error of pid ");
	says(str_text(&said), "/log (deleted)");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(where_says_why_http_is_off)
{
	OWNED(str) struct str said = { 0 };

	site = given_hidden_site();
	ck_assert_int_eq(
	    shell(&said,
	          "sqlite3 '%s' \"UPDATE worker SET detail = 'HTTP is off: port 9 is in use'"
	          " WHERE name = 'mcp-front'\"",
	          site.database),
	    0);
	ck_assert_int_eq(intercom(&said, "where http"), 1);
	ck_assert_str_eq(str_text(&said), "agent-intercom: where: HTTP is off: port 9 is in use\n");
	ck_assert_int_eq(intercom(&said, "where"), 0);
	says(str_text(&said), "http           HTTP is off: port 9 is in use\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_entry_for_http_has_the_port_that_the_running_system_serves)
{
	OWNED(str) struct str said = { 0 };
	char url[60];

	site = given_hidden_site();
	(void)snprintf(url, sizeof(url), "\"http://127.0.0.1:%d/mcp?wait=", site.port);
	ck_assert_int_eq(intercom(&said, "install claude --http --print"), 0);
	says(str_text(&said), url);
	ck_assert_int_eq(shell(&said,
	                       "sqlite3 '%s' \"UPDATE setting SET value = '9'"
	                       " WHERE name = 'http_port'\"",
	                       site.database),
	                 0);
	ck_assert_int_eq(intercom(&said, "install claude --http --print"), 78);
	says(str_text(&said), "because another program had port 9");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(where_before_the_first_start_prints_what_will_be_and_makes_nothing)
{
	OWNED(str) struct str said = { 0 };
	char path[200];

	site = given_site();
	hide_config(&site);
	ck_assert_int_eq(intercom(&said, "where"), 0);
	says(str_text(&said), "/.local/state/agent-intercom/intercom.db\n");
	says(str_text(&said), "config         no file: the defaults apply\n");
	says(str_text(&said), "does not run\n");
	ck_assert_int_eq(intercom(&said, "where pid"), 1);
	says(str_text(&said), "there is no 'pid': no system runs");
	ck_assert_int_eq(intercom(&said, "where config"), 1);
	says(str_text(&said), "there is no 'config'; see");
	(void)snprintf(path, sizeof(path), "%s/.local", site.home);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_system_that_has_not_yet_written_its_pid_is_just_starting)
{
	OWNED(str) struct str said = { 0 };

	site = given_site();
	ck_assert_int_eq(shell(&said, "cd $HOME && : >x.db-instance && flock x.db-instance sh -c"
	                              " '$INTERCOM_BUILD/agent-intercom where --db x.db;"
	                              " $INTERCOM_BUILD/agent-intercom --db x.db 2>&1'"),
	                 75);
	says(str_text(&said), "system         is just starting\n");
	says(str_text(&said), "another one is just starting on /");
}
END_TEST

START_TEST(an_empty_config_serves_from_the_state_directory)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *result = NULL;
	struct relay r;
	char database[200];

	site = given_site();
	(void)snprintf(database, sizeof(database), "%s/.local/state/agent-intercom/intercom.db",
	               site.home);
	put_file("/", site.config + 1, "http_port = 0\n");
	r = given_relay(&site);
	result = ping(&r);
	has(result, "acknowledged", "true");
	ck_assert_int_eq(intercom(&said, "where --json"), 0);
	has(str_text(&said), "database", database);
	has(str_text(&said), "config", site.config);
	ck_assert_int_eq(relay_stop(&r), 0);
	end_system(database);
}
END_TEST

/* ---- finding it ---- */

START_TEST(ctl_finds_the_system_that_runs_whatever_its_config)
{
	OWNED(str) struct str said = { 0 };

	site = given_hidden_site();
	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom-ctl health --json"), 0);
	says(str_text(&said), "worker mcp-front");
	ck_assert_int_eq(intercom(&said, "doctor"), 0);
	says(str_text(&said), site.config);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_is_connected_to_the_system_that_runs_whatever_its_config)
{
	OWNED(char_ptr) char *result = NULL;
	struct relay r;
	char none[200];

	site = given_hidden_site();
	r = given_relay(&site);
	result = ping(&r);
	has(result, "acknowledged", "true");
	expect("SELECT count(*) FROM session", "1\n");
	(void)snprintf(none, sizeof(none), "%s/.local/state/agent-intercom/intercom.db", site.home);
	ck_assert_int_ne(access(none, F_OK), 0);
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Agents' hosts do not always hand $XDG_RUNTIME_DIR on. */
START_TEST(it_is_found_without_the_runtime_directory_that_it_was_started_with)
{
	OWNED(str) struct str said = { 0 };
	char runtime[200];

	site = given_site();
	hide_config(&site);
	(void)snprintf(runtime, sizeof(runtime), "%s/runtime", site.home);
	ck_assert_int_eq(mkdir(runtime, 0700), 0);
	ck_assert_int_eq(shell(&said,
	                       "XDG_RUNTIME_DIR=%s setsid $INTERCOM_BUILD/agent-intercom --config "
	                       "%s </dev/null >%s/out 2>&1 &",
	                       runtime, site.config, site.home),
	                 0);
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready'", SITE_WORKERS "\n");
	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom-ctl health --json"), 0);
	ck_assert_int_eq(intercom(&said, "where --json"), 0);
	says(member(str_text(&said), "run_directory"), runtime);
	end_system(site.database);
}
END_TEST

START_TEST(a_second_start_without_config_names_the_system_that_runs)
{
	OWNED(str) struct str said = { 0 };

	site = given_hidden_site();
	ck_assert_int_eq(intercom(&said, ""), 75);
	says(str_text(&said), "already running (pid ");
	says(str_text(&said), site.database);
	says(str_text(&said), site.config);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(two_systems_of_one_name_are_both_named)
{
	static const char *const NONE[] = { NULL };
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *log = NULL;
	struct site other;
	struct relay r;
	char config[300], database[300];

	site = given_hidden_site();
	other = site;
	(void)snprintf(other.config, sizeof(other.config), "%s/other.toml", site.home);
	(void)snprintf(database, sizeof(database), "%s/other.db", site.home);
	(void)snprintf(config, sizeof(config), "http_port = 0\n[database]\npath = \"%.200s\"\n",
	               database);
	put_file("/", other.config + 1, config);
	site_start(&other);
	log = get_file(site.home, "log");
	says(log, "another system named 'agent-intercom' runs");
	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom-ctl list 2>&1"), 1);
	says(str_text(&said), "several systems named 'agent-intercom' run: ");
	says(str_text(&said), site.database);
	says(str_text(&said), database);
	says(str_text(&said), "--config or --db");
	relay_start(&r, site.workspace, NULL, NONE);
	ck_assert_int_eq(relay_stop(&r), 78);
	ck_assert_int_eq(
	    shell(&said, "$INTERCOM_BUILD/agent-intercom-ctl --config %s list", other.config), 0);
	ck_assert_int_eq(site_stop(&other), 0);
	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom-ctl list"), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- the workspace of an agent ---- */

START_TEST(an_agent_started_in_a_home_works_in_the_default_workspace)
{
	OWNED(char_ptr) char *result = NULL;
	OWNED(char_ptr) char *root = NULL;
	struct relay r;

	site = given_running_site();
	relay_start(&r, site.home, NULL, NULL);
	relay_hello(&r);
	result = ping(&r);
	root = rows("SELECT workspace_root FROM session");
	ck_assert_int_eq(strncmp(root, site.workspace, strlen(site.workspace)), 0);
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_without_a_workspace_is_told_what_to_set)
{
	OWNED(char_ptr) char *line = NULL;
	OWNED(str) struct str config = { 0 };
	struct relay r;

	site = given_site();
	str_addf(&config, "http_port = 0\n[database]\npath = \"%s\"\n", site.database);
	put_file("/", site.config + 1, str_text(&config));
	relay_start(&r, "/", NULL, NULL);
	relay_hello(&r);
	relay_begin(&r, "ping", "{}");
	line = relay_line(&r);
	says(line, "/ is the root of the file system");
	says(line, "set default_workspace_root");
	ck_assert_int_eq(relay_stop(&r), 0);
	end_system(site.database);
}
END_TEST

START_TEST(a_named_workspace_that_is_none_is_refused)
{
	static const char *const ROOT[] = { "--workspace", "/", NULL };
	struct relay r;

	site = given_site();
	relay_start(&r, site.workspace, NULL, ROOT);
	ck_assert_int_eq(relay_stop(&r), 78);
}
END_TEST

/* ---- the channel of a workspace ---- */

/* The channel of an agent that begins in this folder. */
static void its_channel_is(const char *folder, char *const *environment, const char *expected)
{
	OWNED(str) struct str row = { 0 };
	struct relay r;

	relay_start(&r, folder, environment, NULL);
	relay_hello(&r);
	free(ping(&r));
	str_addf(&row, "%s\n", expected);
	expect("SELECT coalesce(channel_id, 'usual') FROM session ORDER BY seq DESC LIMIT 1",
	       row.bytes);
	ck_assert_int_eq(relay_stop(&r), 0);
	relay_clear(&r);
}

START_TEST(an_agent_gets_the_channel_of_the_innermost_workspace_that_it_is_started_in)
{
	static const char *const FOLDERS[] = { "w",     "w/sub", "w/in",    "w/in/sub",
		                               "wider", "real",  "real/sub" };
	OWNED(str) struct str more = { 0 };
	char real[200], link[200], *environment[5] = { NULL };

	site = given_site();
	for (size_t i = 0; i < COUNT(FOLDERS); i++)
		ck_assert_int_eq(mkdir(below(site.home, FOLDERS[i]), 0755), 0);
	(void)snprintf(real, sizeof(real), "%s/real", site.home);
	(void)snprintf(link, sizeof(link), "%s/link", site.home);
	ck_assert_int_eq(symlink(real, link), 0);
	str_addf(&more,
	         "default_workspace_root = \"%s\"\nhttp_port = 0\n[database]\npath = \"%s\"\n"
	         "[[workspace]]\nid = \"in\"\nchannel_id = \"C1IN\"\npath = \"%s/w/in\"\n"
	         "[[workspace]]\nid = \"w\"\nchannel_id = \"G1W\"\npath = \"%s/w\"\n"
	         "[[workspace]]\nid = \"link\"\nchannel_id = \"G1LINK\"\npath = \"%s\"\n",
	         site.workspace, site.database, site.home, site.home, link);
	put_file("/", site.config + 1, more.bytes);
	site_start(&site);

	its_channel_is(below(site.home, "w"), NULL, "G1W");
	its_channel_is(below(site.home, "w/sub"), NULL, "G1W");
	its_channel_is(below(site.home, "w/in"), NULL, "C1IN");
	its_channel_is(below(site.home, "w/in/sub"), NULL, "C1IN");
	its_channel_is(below(site.home, "wider"), NULL, "usual");
	its_channel_is(real, NULL, "G1LINK");
	its_channel_is(below(site.home, "link/sub"), NULL, "G1LINK");
	for (size_t i = 0; i < 3; i++)
		environment[i] = site_environment(&site)[i];
	environment[3] = (char[]){ "INTERCOM_CHANNEL_ID=C1IN" };
	its_channel_is(below(site.home, "w"), environment, "C1IN");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("where");
	TCase *c = store_case(s, "where", 60);

	tcase_add_test(c, where_prints_all_places_of_the_system_that_runs);
	tcase_add_test(c, where_names_no_log_that_was_removed);
	tcase_add_test(c, where_says_why_http_is_off);
	tcase_add_test(c, an_entry_for_http_has_the_port_that_the_running_system_serves);
	tcase_add_test(c, where_before_the_first_start_prints_what_will_be_and_makes_nothing);
	tcase_add_test(c, a_system_that_has_not_yet_written_its_pid_is_just_starting);
	tcase_add_test(c, an_empty_config_serves_from_the_state_directory);
	tcase_add_test(c, ctl_finds_the_system_that_runs_whatever_its_config);
	tcase_add_test(c, an_agent_is_connected_to_the_system_that_runs_whatever_its_config);
	tcase_add_test(c, it_is_found_without_the_runtime_directory_that_it_was_started_with);
	tcase_add_test(c, a_second_start_without_config_names_the_system_that_runs);
	tcase_add_test(c, two_systems_of_one_name_are_both_named);
	tcase_add_test(c, an_agent_started_in_a_home_works_in_the_default_workspace);
	tcase_add_test(c, an_agent_without_a_workspace_is_told_what_to_set);
	tcase_add_test(c, a_named_workspace_that_is_none_is_refused);
	tcase_add_test(c,
	               an_agent_gets_the_channel_of_the_innermost_workspace_that_it_is_started_in);
	return run_suite(s);
}
