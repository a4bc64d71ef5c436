/* The supervisor, agent-intercom without a command, and its doctor: real binaries on a fresh store.
 * Where a worker has to misbehave, the system is run from a folder in which one is replaced. */
#include "supervisor_case.h"

#include <sysexits.h>

/* ---- doctor ---- */

START_TEST(the_doctor_makes_nothing)
{
	OWNED(char_ptr) char *before = NULL, *after = NULL;
	char command[2 * PATH_BYTES];

	database = NULL;
	(void)snprintf(command, sizeof(command),
	               "cd '%.500s' && find . ! -name 'list*' ! -name log"
	               " ! -name '*-shm' | sort >list.$(ls list.* 2>/dev/null"
	               " | wc -l)",
	               dir);
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	doctor_says(0, "/.local/state/agent-intercom/intercom.db does not exist yet");
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	before = read_file(in("list.0"));
	after = read_file(in("list.1"));
	ck_assert_str_eq(before, after);
}
END_TEST

START_TEST(the_doctor_tells_what_runs)
{
	start_ready();
	doctor_says(0, "ok   worker: mcp-front is ready");
	doctor_says(0, "ok   port: we serve http://127.0.0.1:");
	doctor_says(0, "ok   integrity: quick_check found nothing");
	given("UPDATE operator SET active = 0 WHERE is_default = 1");
	doctor_says(0, "warn operator: answers typed on this machine are refused: this operator is "
	               "not active: operator.active is 0");
	given("DELETE FROM operator WHERE is_default = 1");
	doctor_says(0, "warn operator: answers typed on this machine are refused: no operator is "
	               "the default: the next start makes one");
	(void)kill(pid_of("applier"), SIGSTOP);
	advance(2 * MINUTE);
	doctor_says(0, "it may hang");
	(void)kill(pid_of("applier"), SIGCONT);
	stop();
	doctor_says(0, "ok   system: is stopped; `agent-intercom` starts it\nok   port: ");
}
END_TEST

START_TEST(the_doctor_tells_that_a_changed_configuration_waits_for_a_start)
{
	OWNED(char_ptr) char *said = NULL;
	int status;

	given_config("retention_days = 7\n");
	start_ready();
	const char *doctor[] = { "--config", in("config.toml"), "doctor", "--db", database, NULL };
	said = output_of(doctor, &status);
	ck_assert_msg(status == 0, "%s", said);
	ck_assert_ptr_null(strstr(said, "takes effect at the next start"));
	given_config("retention_days = 8\n");
	doctor_says(0, "warn config: /");
	doctor_says(0, "takes effect at the next start");
	stop();
}
END_TEST

/* A terminal would do what it says. */
START_TEST(the_doctor_shows_what_cannot_be_seen_in_a_path)
{
	given_config("retention_export_dir = \"/x\\u001b[31m\\nok   port: free\"\n");
	doctor_says(0, "retention_export_dir: /x\\u{1B}[31m\\u{A}ok   port: free is no directory");
}
END_TEST

START_TEST(the_doctor_names_the_folder_that_stands_in_for_a_default_workspace)
{
	char said[PATH_BYTES + 60];

	doctor_says(0, in("workspace"));
	write_file(in("config.toml"), "http_port = 0\n", 0600);
	doctor_says(0, "ok   workspace: no default: ");
	ck_assert_int_eq(chdir(in("workspace")), 0);
	start_ready();
	ck_assert_int_eq(chdir("/"), 0);
	(void)snprintf(said, sizeof(said), "ok   workspace: %s, where the running system was",
	               in("workspace"));
	doctor_says(0, said);
	stop();
	doctor_says(0, "ok   workspace: no default: ");
}
END_TEST

START_TEST(the_doctor_tells_who_is_missing)
{
	own_folder();
	start_ready();
	replace("applier", NULL);
	(void)kill(pid_of("applier"), SIGKILL);
	log_has_soon("next attempt in");
	advance(11 * SECOND); /* until then it might be about to be started */
	doctor_says(1, "FAIL worker: applier does not run");
	doctor_says(1, "FAIL binaries: cannot run /");
	stop();
}
END_TEST

START_TEST(the_doctor_tells_which_program_is_missing)
{
	own_folder();
	doctor_says(0, "ok   binaries: 11 workers and 8 other programs beside ");
	replace("hand", NULL);
	doctor_says(1, "bin/hand; install agent-intercom again");
	replace("acp-proxy", NULL);
	doctor_says(1, "bin/acp-proxy; install agent-intercom again");
}
END_TEST

START_TEST(a_doctor_whose_findings_cannot_be_written_fails)
{
	static const char *const KINDS[] = { "", "--gate" };
	OWNED(str) struct str said = { 0 };

	for (size_t i = 0; i < COUNT(KINDS); i++) {
		str_reset(&said);
		ck_assert_int_eq(shell(&said,
		                       "'%s/agent-intercom' --config '%s' doctor %s 2>&1 "
		                       ">/dev/full",
		                       bin, in("config.toml"), KINDS[i]),
		                 EX_IOERR);
		ck_assert_str_eq(str_text(&said),
		                 "agent-intercom: the output could not be written\n");
	}
}
END_TEST

START_TEST(the_doctor_names_the_port_in_use_where_it_is_not_the_one_configured)
{
	char config[40];
	int port, fd = listen_somewhere(&port);

	start_ready();
	(void)snprintf(config, sizeof(config), "http_port = %d\n", port);
	given_config(config);
	doctor_says(0, "warn port: we serve http://127.0.0.1:");
	stop();
	(void)close(fd);
}
END_TEST

START_TEST(a_port_that_another_user_has_is_told_with_its_name)
{
	char config[40], said[160];
	int port, fd;

	SKIP_UNLESS(geteuid() == 0, "root");
	ck_assert_int_eq(seteuid(1), 0);
	fd = listen_somewhere(&port);
	ck_assert_int_eq(seteuid(0), 0);
	(void)snprintf(config, sizeof(config), "http_port = %d\n", port);
	given_config(config);
	(void)snprintf(said, sizeof(said),
	               "FAIL port: %d on 127.0.0.1 is held by daemon, who can pose as this system",
	               port);
	doctor_says(1, said);
	start();
	log_has_soon("; it is held by daemon, who can pose as this system to agents that use HTTP");
	doctor_says(1, said);
	stop();
	(void)close(fd);
}
END_TEST

START_TEST(the_doctor_finds_what_is_wrong)
{
	char config[40], said[100];
	int port, fd = listen_somewhere(&port);

	(void)snprintf(config, sizeof(config), "http_port = %d\nspeling = 1\n", port);
	given_config(config);
	(void)snprintf(said, sizeof(said), "FAIL port: %d on 127.0.0.1 is used by another", port);
	doctor_says(1, said);
	doctor_says(1, "warn config: /");
	(void)close(fd);
	given_config("");
	ck_assert_int_eq(chmod(database, 0644), 0);
	doctor_says(0, "intercom.db has mode 0644, open to others; chmod 600 it");
	given("PRAGMA user_version = 9999");
	doctor_says(1, "FAIL database: ");
	given_config("retention_days = 0\n");
	doctor_says(78, "FAIL config: /");
}
END_TEST

START_TEST(the_doctor_says_of_a_database_of_another_build_what_a_start_would_say)
{
	static const char SAID[] = "was made by another build of agent-intercom: its table session";

	given("ALTER TABLE session ADD COLUMN of_another_build INTEGER");
	given("DROP VIEW inbox");
	doctor_says(1, SAID);
	start();
	ends_with(78, SAID);
}
END_TEST

static void given_shared(const char *directory, const char *group)
{
	char config[2 * PATH_BYTES];

	(void)snprintf(config, sizeof(config),
	               "[shared]\ndirectory = \"%s\"\nagents = \"%s\"\noperators = \"0\"\n",
	               directory, group);
	given_config(config);
}

START_TEST(the_doctor_says_of_several_users_what_the_next_start_would_say)
{
	given_shared(in("shared"), "no-such-group");
	doctor_says(1, "FAIL groups: shared.agents: there is no group 'no-such-group'; the "
	               "next start ends with that");
	start();
	ends_with(78, "shared.agents: there is no group 'no-such-group'");
	given_shared(in("missing/shared"), "0");
	doctor_says(1, "missing/shared: cannot be created: No such file or directory; the next");
	start();
	ends_with(78, "missing/shared: cannot be created: No such file or directory");
	given_shared(in("shared"), "0");
	doctor_says(0, "warn owners: as-owner is not there (");
	given_config("");
	given("INSERT OR REPLACE INTO setting VALUES ('shared.directory', '/nowhere', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	doctor_says(0, "ok   port: ");
	given("UPDATE setting SET source = 'flag' WHERE name = 'shared.directory'");
	doctor_says(1, "FAIL groups: shared.agents: there is no group 'agent-intercom-agents'");
}
END_TEST

START_TEST(the_doctor_says_that_a_first_start_would_fail)
{
	SKIP_UNLESS(geteuid() == 0, "root");
	as_nobody();
	database = NULL;
	ck_assert_int_eq(chmod(in("home"), 0755), 0);
	doctor_says(1, "home/.local/state/agent-intercom/intercom.db: cannot be made in /");
	doctor_says(1, "home: Permission denied");
}
END_TEST

START_TEST(doctor_and_where_name_a_database_in_a_closed_folder)
{
	const char *where[] = { "where", "--db", NULL, NULL };
	OWNED(char_ptr) char *said = NULL;
	int status;

	SKIP_UNLESS(geteuid() == 0, "root");
	as_nobody();
	ck_assert_int_eq(chmod(in("home"), 0755), 0);
	ck_assert_int_eq(mkdir(in("closed"), 0700), 0);
	database = where[2] = in("closed/there/x.db");
	doctor_says(1, "closed/there/x.db: Permission denied");
	said = output_of(where, &status);
	ck_assert_int_eq(status, 78);
	ck_assert_str_eq(said, "");
	log_has("closed/there/x.db: Permission denied");
}
END_TEST

START_TEST(root_makes_nothing_in_the_home_of_another_user)
{
	const char *mcp[] = { "mcp", "--config", in("config.toml"), NULL };
	int status;

	SKIP_UNLESS(geteuid() == 0, "root");
	ck_assert_int_eq(chown(in("home"), NOBODY_ID, NOBODY_ID), 0);
	database = NULL;
	doctor_says(1, "FAIL database: the first start will fail: ");
	start();
	ends_with(78, "is in the home of uid 65534");
	free(output_of(mcp, &status));
	ck_assert_int_eq(status, 78);
	ck_assert_int_ne(access(in("home/.local"), F_OK), 0);
}
END_TEST

/* ---- other commands ---- */

START_TEST(the_sample_is_a_config_that_can_be_read)
{
	const char *sample[] = { "config", "sample", NULL };
	const char *doctor[] = { "doctor",        "--config", in("sample.toml"), "--workspace",
		                 in("workspace"), "--db",     in("new.db"),      NULL };
	int status;
	OWNED(char_ptr) char *text = output_of(sample, &status), *said = NULL;

	ck_assert_int_eq(status, 0);
	write_file(in("sample.toml"), text, 0600);
	said = output_of(doctor, &status);
	ck_assert_msg(strstr(said, "ok   config: ") && !strstr(said, "warn config"), "%s", said);
}
END_TEST

START_TEST(mcp_gets_every_argument)
{
	const char *arguments[] = { "--config", "x", "mcp", "--db", "y z", "--help", NULL };
	int status;
	OWNED(char_ptr) char *said = NULL;

	own_folder();
	replace("mcp-stdio", "#!/bin/sh\nfor a; do echo \"<$a>\"; done\nexit 7\n");
	said = output_of(arguments, &status);
	ck_assert_int_eq(status, 7);
	ck_assert_str_eq(said, "<--config>\n<x>\n<--db>\n<y z>\n<--help>\n");
}
END_TEST

START_TEST(wrong_usage_is_64)
{
	static const char *const WRONG[][3] = {
		{ "dance", NULL },         { "--nonsense", NULL }, { "config", NULL },
		{ "doctor", "now", NULL }, { "", NULL },
	};
	int status;

	for (size_t i = 0; i < COUNT(WRONG); i++) {
		OWNED(char_ptr) char *said = output_of(WRONG[i], &status);

		ck_assert_msg(status == 64, "%s: %d", WRONG[i][0], status);
		ck_assert_str_eq(said, "");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("supervisor_doctor");
	TCase *c = tcase_create("supervisor");

	tcase_add_checked_fixture(c, setup, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, the_doctor_makes_nothing);
	tcase_add_test(c, the_doctor_tells_what_runs);
	tcase_add_test(c, the_doctor_tells_that_a_changed_configuration_waits_for_a_start);
	tcase_add_test(c, the_doctor_shows_what_cannot_be_seen_in_a_path);
	tcase_add_test(c, the_doctor_names_the_folder_that_stands_in_for_a_default_workspace);
	tcase_add_test(c, the_doctor_tells_who_is_missing);
	tcase_add_test(c, the_doctor_tells_which_program_is_missing);
	tcase_add_test(c, a_doctor_whose_findings_cannot_be_written_fails);
	tcase_add_test(c, the_doctor_names_the_port_in_use_where_it_is_not_the_one_configured);
	tcase_add_test(c, a_port_that_another_user_has_is_told_with_its_name);
	tcase_add_test(c, the_doctor_finds_what_is_wrong);
	tcase_add_test(c, the_doctor_says_of_a_database_of_another_build_what_a_start_would_say);
	tcase_add_test(c, the_doctor_says_of_several_users_what_the_next_start_would_say);
	tcase_add_test(c, the_doctor_says_that_a_first_start_would_fail);
	tcase_add_test(c, doctor_and_where_name_a_database_in_a_closed_folder);
	tcase_add_test(c, root_makes_nothing_in_the_home_of_another_user);
	tcase_add_test(c, the_sample_is_a_config_that_can_be_read);
	tcase_add_test(c, mcp_gets_every_argument);
	tcase_add_test(c, wrong_usage_is_64);
	suite_add_tcase(s, c);
	return run_suite(s);
}
