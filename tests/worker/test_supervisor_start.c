/* The supervisor, agent-intercom without a command, and its doctor: real binaries on a fresh store.
 * Where a worker has to misbehave, the system is run from a folder in which one is replaced. */
#include "supervisor_case.h"

#include "instance.h"

static unsigned mode_of(const char *path)
{
	struct stat about;

	ck_assert_msg(lstat(path, &about) == 0, "%s is missing", path);
	return about.st_mode & 07777;
}

/* ---- start ---- */

START_TEST(it_says_once_that_it_is_ready_and_where)
{
	char expected[PATH_BYTES + 100];
	const char *line;
	int port = 0;

	start();
	line = ready_line();

	(void)snprintf(expected, sizeof(expected), "agent-intercom %s ready: ", INSTANCE_BUILD);
	ck_assert_msg(strncmp(line, expected, strlen(expected)) == 0, "%s", line);
	ck_assert_int_eq(sscanf(line + strlen(expected), "http://127.0.0.1:%d/mcp", &port),
	                 1); /* NOLINT(cert-err34-c) */
	ck_assert_int_gt(port, 0);
	(void)snprintf(expected, sizeof(expected), "/mcp, database %s, mode local\n", test_db());
	ck_assert_msg(strstr(line, expected) != NULL, "%s", line);
	await_all();
	expect("SELECT name, state FROM worker ORDER BY name",
	       "applier|ready\narchivist|ready\ncommander|ready\nmcp-front|ready\nreader|"
	       "ready\nretention|"
	       "ready\nsentry|ready\nwatchdog|ready\n");
	stop();
	ck_assert_int_eq(read(out_fd, expected, 1), 0);
}
END_TEST

START_TEST(it_serves_before_its_other_workers_are_started)
{
	own_folder();
	replace("retention", "#!/bin/sh\nexec sleep 100\n");
	start();
	(void)ready_line();
	expect(
	    "SELECT name, state FROM worker WHERE name IN ('watchdog', 'mcp-front') ORDER BY name",
	    "mcp-front|ready\nwatchdog|ready\n");
	doctor_says(0, "retention is about to be started");
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready'", "7\n");
	advance(11 * SECOND);
	log_has_soon("still waiting for retention");
	doctor_says(1, "retention does not run");
	(void)kill(supervisor, SIGTERM);
	ck_assert_int_eq(finish(), 0);
}
END_TEST

START_TEST(others_are_started_though_one_that_agents_wait_for_is_not_ready)
{
	struct pollfd said = { .events = POLLIN };

	own_folder();
	replace("mcp-front", "#!/bin/sh\nexec sleep 100\n");
	start();
	said.fd = out_fd;
	expect_soon("SELECT state FROM worker WHERE name = 'retention'", "ready\n");
	ck_assert_int_eq(poll(&said, 1, 0), 0); /* it does not say that it serves */
	(void)kill(supervisor, SIGTERM);
	ck_assert_int_eq(finish(), 0);
}
END_TEST

START_TEST(settings_are_rows_with_their_sources)
{
	char build[100];

	given_config(
	    "retention_days = 7\nlog.format = \"json\"\n[commands]\nst = \"git status\"\n");
	given("INSERT INTO setting VALUES ('gone', '1', 'file', '2026-01-01T00:00:00.000Z'),"
	      " ('kept', '1', 'system', '2026-01-01T00:00:00.000Z')");

	(void)snprintf(build, sizeof(build), "system.build|%s|system\n", INSTANCE_BUILD);
	start_ready();

	expect("SELECT name, value, source FROM setting WHERE name = 'system.build'", build);
	expect(
	    "SELECT name, value, source FROM setting WHERE name IN ('retention_days', 'log.format',"
	    " 'commands', 'max_concurrent_sessions', 'mode', 'slack.configured',"
	    " 'gone', 'kept') ORDER BY name",
	    "commands|{\"st\":\"git status\"}|file\nkept|1|system\nlog.format|json|file\n"
	    "max_concurrent_sessions|3|default\nmode|local|default\nretention_days|7|file\n"
	    "slack.configured|false|system\n");
	expect("SELECT source FROM setting WHERE name = 'database.path'", "flag\n");
	expect("SELECT count(*), id <> 'local:tester', id = 'local:' || user_id FROM operator"
	       " WHERE is_default = 1",
	       "1|1|1\n");
	stop();
}
END_TEST

START_TEST(profiles_are_rows_and_host_cli_is_the_default)
{
	given("INSERT INTO agent SELECT 'gone', 'x', '[]', 'mcp', '[]', '{}', NULL, '1', NULL, "
	      "NULL, NULL, NULL, 1, 1,"
	      " 'lsp', NULL, 1, 0, '2026-01-01T00:00:00.000Z'");

	start_ready();

	expect(
	    "SELECT name, command, args, protocol, workspace IS NULL, acp_version, asking IS NULL,"
	    " refused_modes IS NULL, startup_timeout_ms, max_line_length, framing, is_builtin"
	    " FROM agent WHERE is_default = 1",
	    "default|true|[]|mcp|1|1|1|1|30000|33554432|ndjson|0\n");
	expect("SELECT name, command, args, asking, env_set FROM agent"
	       " WHERE protocol = 'acp' AND is_builtin ORDER BY name",
	       "claude|claude-agent-acp|[]|{\"mode\":\"default\"}|{}\n"
	       "codex|codex-acp|[]|{\"mode\":\"read-only\"}|{}\n"
	       "copilot|copilot|[\"--acp\"]|{\"allow_all\":\"off\"}|{}\n"
	       "gemini|gemini|[\"--acp\"]|{\"mode\":\"default\"}|{}\n"
	       "opencode|opencode|[\"acp\"]||"
	       "{\"OPENCODE_CONFIG_CONTENT\":\"{\\\"permission\\\":{\\\"*\\\":\\\"ask\\\"}}\"}\n"
	       "qwen|qwen|[\"--acp\"]|{\"mode\":\"default\"}|{}\n");
	expect("SELECT name, command, args FROM agent WHERE protocol = 'mcp' AND is_builtin"
	       " ORDER BY name",
	       "claude-mcp|claude|[\"-p\"]\ncodex-mcp|codex|[\"exec\",\"--skip-git-repo-check\"]\n"
	       "copilot-mcp|copilot|[\"-p\"]\ngemini-mcp|gemini|[\"-p\"]\n"
	       "opencode-mcp|opencode|[\"run\"]\nqwen-mcp|qwen|[\"-p\"]\n");
	expect("SELECT count(*) FROM agent WHERE name = 'gone'", "0\n");
	stop();
}
END_TEST

START_TEST(a_mode_that_an_operator_chose_stays_unless_it_needs_slack)
{
	given("UPDATE setting SET source = 'ctl', updated_at = '2026-01-01T00:00:00.000Z'"
	      " WHERE name = 'mode'");
	start_ready();
	expect("SELECT value, source, updated_at FROM setting WHERE name = 'mode'",
	       "local|ctl|2026-01-01T00:00:00.000Z\n");
	stop();
	given("UPDATE setting SET value = 'remote' WHERE name = 'mode'");
	start_ready();
	expect("SELECT value, source FROM setting WHERE name = 'mode'", "local|default\n");
	log_has("mode remote needs Slack");
	stop();
}
END_TEST

START_TEST(a_new_database_is_for_us_alone)
{
	static const char *const FILES[] = { "data/intercom.db", "data/intercom.db-wal",
		                             "data/intercom.db-instance" };

	given_config("database.path = \"data/intercom.db\"\n"); /* beside the config */
	database = NULL;
	start_ready();
	ck_assert_uint_eq(mode_of(in("data")), 0700);
	for (size_t i = 0; i < COUNT(FILES); i++)
		ck_assert_uint_eq(mode_of(in(FILES[i])), 0600);
	stop();
	ck_assert_int_eq(chmod(in("data"), 0755), 0);
	ck_assert_int_eq(chmod(in("data/intercom.db"), 0644), 0);
	start_ready();
	log_has("has mode 0755");
	ck_assert_uint_eq(mode_of(in("data")), 0755); /* not our directory */
	ck_assert_uint_eq(mode_of(in("data/intercom.db")), 0600);
	stop();
}
END_TEST

START_TEST(our_state_directory_is_closed_again)
{
	ck_assert_int_eq(mkdir(in("home/.local"), 0755), 0);
	ck_assert_int_eq(mkdir(in("home/.local/state"), 0755), 0);
	ck_assert_int_eq(mkdir(in("home/.local/state/agent-intercom"), 0755), 0);
	given_config("database.path = \"home/.local/state/agent-intercom/intercom.db\"\n");
	database = NULL;

	start_ready();

	ck_assert_uint_eq(mode_of(in("home/.local/state/agent-intercom")), 0700);
	ck_assert_uint_eq(mode_of(in("home/.local/state")), 0755);
	stop();
}
END_TEST

START_TEST(a_second_instance_is_refused_and_the_first_serves_on)
{
	pid_t first;
	char text[200];

	start_ready();
	first = supervisor;
	start();
	(void)snprintf(text, sizeof(text), "already running (pid %d) on %s", (int)first, test_db());
	ends_with(75, text);
	supervisor = first;
	ck_assert_int_eq(kill(first, 0), 0);
	stop();
}
END_TEST

START_TEST(a_taken_port_turns_http_off_until_it_is_free)
{
	char config[40], address[60];
	int port, fd = listen_somewhere(&port);

	(void)snprintf(config, sizeof(config), "http_port = %d\n", port);
	given_config(config);
	start();
	ck_assert_ptr_nonnull(strstr(ready_line(), "HTTP is off: "));
	log_has("HTTP is off: cannot listen on 127.0.0.1:");
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/mcp.sock"), F_OK), 0);
	doctor_says(1, "HTTP is off: ");
	(void)close(fd);
	(void)snprintf(address, sizeof(address), "http://127.0.0.1:%d/mcp\n", port);
	advance(11 * SECOND);
	expect_soon("SELECT detail FROM worker WHERE name = 'mcp-front' AND state = 'ready'",
	            address);
	log_has("HTTP is on: ");
	stop();
}
END_TEST

START_TEST(a_host_that_starts_the_system_as_its_server_is_told_what_to_write)
{
	OWNED(str) struct str said = { 0 };
	char command[2 * PATH_BYTES];

	(void)snprintf(command, sizeof(command),
	               "echo '{}' | HOME=%s %.500s/agent-intercom --config %s/none.toml 2>%s",
	               in("home"), bin, dir, in("said"));
	ck_assert_int_ne(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	{
		OWNED(char_ptr) char *text = read_file(in("said"));

		ck_assert_ptr_nonnull(strstr(text, "as an agent's MCP server write: "
		                                   "agent-intercom mcp --config "));
	}
}
END_TEST

START_TEST(a_newer_schema_is_refused)
{
	given("PRAGMA user_version = 9999");
	start();
	ends_with(78, "newer agent-intercom");
}
END_TEST

START_TEST(a_file_that_is_no_database_is_refused_and_left_alone)
{
	OWNED(char_ptr) char *after = NULL;

	write_file(in("x.db"), "this is no database, it is a letter to grandmother\n", 0600);
	database = in("x.db");
	start();
	ends_with(78, "not a database");
	after = read_file(in("x.db"));
	ck_assert_str_eq(after, "this is no database, it is a letter to grandmother\n");
}
END_TEST

START_TEST(a_database_of_another_user_is_refused_and_left_alone)
{
	OWNED(str) struct str lock = { 0 };

	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	ck_assert_int_eq(chown(test_db(), 1, 1), 0);
	start();
	ends_with(78, "intercom.db: belongs to uid 1, not to us (uid 0)");
	ck_assert_int_eq(chown(test_db(), 0, 0), 0);
	str_addf(&lock, "%s-instance", test_db());
	ck_assert_int_eq(mkfifo(str_text(&lock), 0600), 0);
	start();
	ends_with(78, "intercom.db-instance: is no regular file");
}
END_TEST

START_TEST(a_link_in_place_of_the_folder_of_objects_is_refused_and_left_alone)
{
	OWNED(str) struct str objects = { 0 };
	struct stat about;

	str_addf(&objects, "%s-objects", test_db());
	ck_assert_int_eq(symlink("elsewhere", objects.bytes), 0);
	start();
	ends_with(78, "intercom.db-objects: is a symbolic link; put the folder itself there");
	ck_assert(lstat(objects.bytes, &about) == 0 && S_ISLNK(about.st_mode));
	ck_assert_int_eq(unlink(objects.bytes), 0);
	ck_assert_int_eq(mkfifo(objects.bytes, 0600), 0);
	start();
	ends_with(78, "intercom.db-objects: is no folder; remove it");
	ck_assert_int_eq(unlink(objects.bytes), 0);
	SKIP_UNLESS(geteuid() == 0, "root, who can give a folder away");
	ck_assert_int_eq(mkdir(objects.bytes, 0700), 0);
	ck_assert_int_eq(chown(objects.bytes, 1, 1), 0);
	start();
	ends_with(78, "intercom.db-objects: belongs to uid 1, not to us (uid 0)");
}
END_TEST

START_TEST(a_directory_that_cannot_be_written_is_named)
{
	SKIP_UNLESS(geteuid() == 0, "root");
	as_nobody();
	ck_assert_int_eq(mkdir(in("closed"), 0755), 0);
	database = in("closed/x.db");
	start();
	ends_with(78, "closed/x.db-instance: Permission denied");
}
END_TEST

START_TEST(an_unknown_key_is_a_warning)
{
	given_config("retention_dayz = 7\n");
	start_ready();
	log_has("retention_dayz");
	log_has("did you mean");
	stop();
}
END_TEST

START_TEST(a_wrong_value_ends_it_with_78_file_and_line)
{
	given_config("retention_days = \"soon\"\n");
	start();
	ends_with(78, "config.toml:4: retention_days: is the text \"soon\"");
}
END_TEST

START_TEST(a_missing_worker_is_named)
{
	own_folder();
	replace("applier", NULL);
	start();
	ends_with(78, in("bin/applier"));
}
END_TEST

START_TEST(a_system_with_a_channel_and_no_tokens_says_that_nobody_is_heard)
{
	given_config("[slack]\nchannel_id = \"C01AGENTS\"\n");
	start_ready();
	log_has("there are no Slack tokens here");
	doctor_says(0, "warn slack: slack.channel_id is set, but there are no tokens here");
	stop();
}
END_TEST

START_TEST(tokens_reach_no_worker)
{
	static const char *const NAMES[] = { "watchdog",  "applier",   "retention", "mcp-front",
		                             "commander", "archivist", "reader",    "sentry" };
	char path[64];

	(void)setenv("SLACK_APP_TOKEN", "xapp-secret", 1);
	(void)setenv("SLACK_BOT_TOKEN", "xoxb-secret", 1);
	(void)setenv("SLACK_MEMBER_IDS", "U1", 1);
	(void)setenv("LC_TIME", "C", 1);
	start_ready();
	(void)unsetenv("SLACK_APP_TOKEN");
	(void)unsetenv("SLACK_BOT_TOKEN");
	log_has("Slack is not used: slack.channel_id is not set in config.toml");
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		char command[200];

		(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid_of(NAMES[i]));
		(void)snprintf(command, sizeof(command), "! tr '\\0' '\\n' <%s | grep -q SLACK",
		               path);
		ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
		(void)snprintf(command, sizeof(command), "tr '\\0' '\\n' <%s | grep -q LC_TIME=C",
		               path);
		ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	}
	(void)snprintf(path, sizeof(path), "! grep -q secret /proc/%d/environ", (int)supervisor);
	ck_assert_int_eq(system(path), 0); /* NOLINT(concurrency-mt-unsafe) */
	expect("SELECT count(*) FROM setting WHERE value LIKE '%secret%'", "0\n");
	stop();
}
END_TEST

START_TEST(no_process_can_gain_privileges)
{
	static const char *const NAMES[] = { "mcp-front", "applier",   "watchdog", "retention",
		                             "commander", "archivist", "reader",   "sentry" };

	start_ready();
	for (size_t i = 0; i <= COUNT(NAMES); i++) {
		OWNED(char_ptr) char *text = NULL;
		char path[40];

		(void)snprintf(path, sizeof(path), "/proc/%d/status",
		               i < COUNT(NAMES) ? (int)pid_of(NAMES[i]) : (int)supervisor);
		text = read_file(path);
		ck_assert_msg(strstr(text, "NoNewPrivs:\t1\n") != NULL, "%s", text);
	}
	stop();
}
END_TEST

START_TEST(workers_inherit_only_the_standard_files)
{
	int extra =
	    open("/dev/null", O_RDONLY); /* NOLINT(android-cloexec-open): that is the point */
	char command[PATH_BYTES];

	own_folder();
	replace("retention", "#!/bin/sh\nls -l /proc/self/fd/ >\"$HOME/fds\"\nexit 75\n");
	ck_assert_int_ge(dup2(extra, 40), 0);
	start();
	log_has_soon("retention");
	(void)kill(supervisor, SIGTERM);
	ck_assert_int_eq(finish(), 0);
	/* ls has the directory itself open as 3 (or dash its script, which is close-on-exec) */
	(void)snprintf(command, sizeof(command),
	               "grep -q ' 0 -> /dev/null' '%s' && ! grep -q ' 40 -> '"
	               " '%s'",
	               in("home/fds"), in("home/fds"));
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
}
END_TEST

START_TEST(systemd_hears_of_readiness_and_stop)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char text[100] = "";

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", in("notify"));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	(void)setenv("NOTIFY_SOCKET", a.sun_path, 1);
	start_ready();
	(void)unsetenv("NOTIFY_SOCKET");
	ck_assert_int_gt(recv(fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, "READY=1");
	stop();
	memset(text, 0, sizeof(text));
	ck_assert_int_gt(recv(fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, "STOPPING=1");
	(void)close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("supervisor_start");
	TCase *c = tcase_create("supervisor");

	tcase_add_checked_fixture(c, setup, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, it_says_once_that_it_is_ready_and_where);
	tcase_add_test(c, it_serves_before_its_other_workers_are_started);
	tcase_add_test(c, others_are_started_though_one_that_agents_wait_for_is_not_ready);
	tcase_add_test(c, settings_are_rows_with_their_sources);
	tcase_add_test(c, profiles_are_rows_and_host_cli_is_the_default);
	tcase_add_test(c, a_mode_that_an_operator_chose_stays_unless_it_needs_slack);
	tcase_add_test(c, a_new_database_is_for_us_alone);
	tcase_add_test(c, our_state_directory_is_closed_again);
	tcase_add_test(c, a_second_instance_is_refused_and_the_first_serves_on);
	tcase_add_test(c, a_taken_port_turns_http_off_until_it_is_free);
	tcase_add_test(c, a_host_that_starts_the_system_as_its_server_is_told_what_to_write);
	tcase_add_test(c, a_newer_schema_is_refused);
	tcase_add_test(c, a_file_that_is_no_database_is_refused_and_left_alone);
	tcase_add_test(c, a_database_of_another_user_is_refused_and_left_alone);
	tcase_add_test(c, a_link_in_place_of_the_folder_of_objects_is_refused_and_left_alone);
	tcase_add_test(c, a_directory_that_cannot_be_written_is_named);
	tcase_add_test(c, an_unknown_key_is_a_warning);
	tcase_add_test(c, a_wrong_value_ends_it_with_78_file_and_line);
	tcase_add_test(c, a_missing_worker_is_named);
	tcase_add_test(c, a_system_with_a_channel_and_no_tokens_says_that_nobody_is_heard);
	tcase_add_test(c, tokens_reach_no_worker);
	tcase_add_test(c, no_process_can_gain_privileges);
	tcase_add_test(c, workers_inherit_only_the_standard_files);
	tcase_add_test(c, systemd_hears_of_readiness_and_stop);
	suite_add_tcase(s, c);
	return run_suite(s);
}
