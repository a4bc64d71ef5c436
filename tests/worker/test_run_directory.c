/* The run directory vanishes under a running system, as logind takes it away: no agent loses its
 * connection, and a worker whose fence knows only the old directory begins again. And what else is
 * not to be lost between a worker and who waits for it. */
#include "agent.h"
#include "doorbell.h"
#include "fence.h"
#include "instance.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct site site;
static char runtime[200];

/* A running system below an $XDG_RUNTIME_DIR of its own. */
static void given_system(void)
{
	site = given_site();
	(void)snprintf(runtime, sizeof(runtime), "%s/runtime", site.home);
	ck_assert_int_eq(mkdir(runtime, 0700), 0);
	(void)setenv("XDG_RUNTIME_DIR", runtime, 1);
	site.pid = fork();
	ck_assert_int_ge(site.pid, 0);
	if (site.pid == 0) {
		char program[400], log[140];

		(void)snprintf(program, sizeof(program), "%.380s/agent-intercom",
		               getenv("INTERCOM_BUILD"));
		(void)snprintf(log, sizeof(log), "%s/log", site.home);
		if (!freopen(log, "a", stderr) || !freopen("/dev/null", "w", stdout))
			_exit(126);
		(void)execl(program, program, "--config", site.config, (char *)NULL);
		_exit(127);
	}
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready'", SITE_WORKERS "\n");
}

static void no_worker_ended(void)
{
	OWNED(char_ptr)
	char *ended = rows("SELECT name, state, started_at, heartbeat_at, detail FROM worker"
	                   " WHERE state <> 'ready'");
	OWNED(char_ptr) char *log = get_file(site.home, "log");

	ck_assert_msg(ended[0] == '\0', "ended: %s\nlog:\n%s", ended, log ? log : "");
	expect("SELECT count(*) FROM worker", SITE_WORKERS "\n");
}

static void log_says(const char *part)
{
	OWNED(char_ptr) char *log = NULL;

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 10)) {
		char_ptr_clear(&log);
		log = get_file(site.home, "log");
		if (log && strstr(log, part))
			return;
	}
	ck_abort_msg("'%s' is not in\n%s", part, log ? log : "");
}

static void a_file_is_written(struct relay *r, const char *name)
{
	OWNED(char_ptr) char *approved = NULL;
	OWNED(char_ptr) char *applied = NULL;
	OWNED(char_ptr) char *arguments = NULL;

	begin_asking(r, name, "text\n");
	approve_all();
	approved = relay_end(r);
	has(approved, "status", "approved");
	arguments = diff_of(member(approved, "request_id"));
	applied = relay_call(r, "check_diff", arguments);
	has(applied, "status", "applied");
}

static bool connects(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool connected;

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	connected = connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0;
	(void)close(fd);
	return connected;
}

/* Who can reach the new run directory has moved there; who cannot, for its fence, begins again. */
static void all_are_there(void)
{
	OWNED(char_ptr) char *log = get_file(site.home, "log");
	OWNED(char_ptr)
	char *moved = rows("SELECT group_concat(name || ' ' || state) FROM (SELECT name, state FROM"
	                   " worker WHERE name IN ('commander', 'mcp-front') ORDER BY name)");

	ck_assert_msg(strcmp(moved, "commander ready,mcp-front ready\n") == 0, "%slog:\n%s", moved,
	              log);
	if (fence_abi() > 0)
		expect_soon("SELECT group_concat(DISTINCT name) FROM (SELECT name FROM worker WHERE"
		            " state = 'died' ORDER BY name)",
		            "applier,archivist,reader,retention,sentry,watchdog\n");
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready'", SITE_WORKERS "\n");
	expect("SELECT worker, name FROM fence_refusal", ""); /* we looked there ourselves */
}

/* What was connected stays so, and who comes new finds it. */
static void serves(struct relay *old)
{
	struct relay fresh = given_relay(&site);
	OWNED(str) struct str said = { 0 };

	a_file_is_written(&fresh, "new");
	a_file_is_written(old, "old");
	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom where ipc_socket"), 0);
	ck_assert(connects(strtok(said.bytes, "\n")));
	ck_assert_int_eq(relay_stop(&fresh), 0);
	ck_assert_int_eq(relay_stop(old), 0);
	all_are_there();
}

START_TEST(a_run_directory_that_vanishes_is_made_again_and_every_agent_is_served)
{
	struct relay r;

	given_system();
	r = given_relay(&site);
	ck_assert_int_eq(shell(NULL, "rm -rf %s/agent-intercom", runtime), 0);
	log_says("the run directory has vanished; it is ");
	serves(&r);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* The whole of $XDG_RUNTIME_DIR goes, and does not come back. */
START_TEST(without_its_runtime_directory_the_system_moves_to_the_state_directory)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;

	given_system();
	r = given_relay(&site);
	ck_assert_int_eq(shell(NULL, "rm -rf %s", runtime), 0);
	log_says("the run directory has vanished; it is ");
	serves(&r);
	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom where run_directory"), 0);
	says(str_text(&said), "/.local/state/agent-intercom/run/");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_worker_that_dies_after_its_run_directory_comes_back)
{
	given_system();
	ck_assert_int_eq(shell(NULL, "rm -rf %s/agent-intercom", runtime), 0);
	(void)kill(worker_pid("applier"), SIGKILL);
	expect_soon("SELECT state FROM worker WHERE name = 'applier' ORDER BY seq",
	            "died\nready\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_database_with_two_names_is_refused)
{
	OWNED(str) struct str said = { 0 };
	char other[300];

	site = given_running_site();
	(void)snprintf(other, sizeof(other), "%.280s.other", site.database);
	ck_assert_int_eq(link(site.database, other), 0);
	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom --db %s 2>&1", other), 78);
	says(str_text(&said), "has 2 names (hard links)");
	ck_assert_int_eq(
	    shell(&said, "$INTERCOM_BUILD/agent-intercom-ctl --db %s list 2>&1", other), 1);
	says(str_text(&said), "has 2 names (hard links)");
	no_worker_ended();
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Under the other name it has another -wal. */
START_TEST(a_database_that_a_system_has_open_under_another_name_is_refused)
{
	static const char *const COMMANDS[] = {
		"agent-intercom --db $DB.moved",
		"agent-intercom-ctl --db $DB.moved list",
		"agent-intercom --db $DB.moved retention --once",
		"agent-intercom --db $DB.moved backup $DB.copy",
		"agent-intercom --db $DB.moved audit verify",
	};
	OWNED(str) struct str said = { 0 };

	site = given_running_site();
	(void)setenv("DB", site.database, 1);
	(void)kill(site.pid, SIGSTOP); /* before it notices */
	ck_assert_int_eq(shell(NULL, "mv $DB $DB.moved"), 0);
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		str_reset(&said);
		ck_assert_int_ne(shell(&said, "$INTERCOM_BUILD/%s 2>&1", COMMANDS[i]), 0);
		says(str_text(&said), "under another name");
	}
	ck_assert_int_ne(shell(NULL, "test -e $DB.moved-wal"), 0);
	(void)kill(site.pid, SIGCONT);
	ck_assert_int_eq(site_stop(&site), 78);
}
END_TEST

/* What is asked and told goes on between those who have it open, and a start finds it. */
START_TEST(beside_a_log_that_was_removed_nobody_answers_and_nothing_is_lost)
{
	static const char *const REMOVED[] = { "$DB-shm", "$DB-wal", "$DB-wal $DB-shm" };
	OWNED(str) struct str said = { 0 };
	struct relay r;

	site = given_running_site();
	(void)setenv("DB", site.database, 1);
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	(void)kill(site.pid, SIGSTOP); /* before it notices */
	ck_assert_int_eq(shell(NULL, "rm %s", REMOVED[_i]), 0);
	ck_assert_int_ne(shell(&said, "$INTERCOM_BUILD/agent-intercom-ctl --db $DB list 2>&1"), 0);
	says(str_text(&said), "was removed or moved");
	(void)kill(site.pid, SIGCONT);
	ck_assert_int_eq(site_stop(&site), 78);
	open_database_again();
	expect("PRAGMA integrity_check", "ok\n");
	expect("SELECT state FROM request", "interrupted\n");
	relay_kill(&r);
	site_start(&site);
	expect("SELECT state FROM request", "interrupted\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* A command whose output is read here, and whose input ($FIFO) stays open after the first words. */
static FILE *begin_reading(const char *command, const char *first)
{
	char fifo[320], line[500];
	FILE *out;
	int fd;

	(void)snprintf(fifo, sizeof(fifo), "%.280s.fifo", site.database);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	(void)setenv("FIFO", fifo, 1);
	fd = open(fifo, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(write(fd, first, strlen(first)), 0);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), out)); /* it has the database open */
	return out;
}

START_TEST(a_watch_that_has_another_log_open_ends)
{
	char said[4000];
	struct relay r;
	FILE *watch;

	site = given_running_site();
	(void)setenv("DB", site.database, 1);
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	watch = begin_reading("$INTERCOM_BUILD/agent-intercom-ctl --db $DB watch <$FIFO 2>&1", "");
	ck_assert_int_eq(shell(NULL, "rm $DB-shm"), 0);
	said[fread(said, 1, sizeof(said) - 1, watch)] = '\0';
	says(said, "was removed or replaced");
	(void)pclose(watch);
	ck_assert_int_eq(site_stop(&site), 78);
	relay_kill(&r);
}
END_TEST

START_TEST(a_file_that_cannot_be_seen_is_not_taken_for_one_that_is_gone)
{
	struct instance_files files;
	char path[320];

	const char *in = scratch();

	(void)setenv("IN", in, 1);
	ck_assert_int_eq(shell(NULL, "mkdir $IN/d; touch $IN/d/db $IN/d/db-wal $IN/d/db-shm"), 0);
	(void)snprintf(path, sizeof(path), "%.280s/d/db", in);
	instance_look(path, &files);
	ck_assert(instance_is_same(path, &files));
	ck_assert_int_eq(shell(NULL, "mv $IN/d $IN/e; ln -s $IN/d $IN/d"), 0); /* ELOOP */
	ck_assert(instance_is_same(path, &files));
	ck_assert_int_eq(shell(NULL, "rm $IN/d"), 0);
	ck_assert(!instance_is_same(path, &files));
}
END_TEST

START_TEST(nothing_starts_beside_a_process_that_has_another_log_open)
{
	OWNED(str) struct str said = { 0 };
	FILE *other;

	site = given_running_site();
	(void)setenv("DB", site.database, 1);
	ck_assert_int_eq(site_stop(&site), 0);
	leave_store();
	other = begin_reading("sqlite3 $DB <$FIFO", "SELECT count(*) FROM request;\n");
	ck_assert_int_eq(shell(NULL, "rm $DB-shm"), 0);
	ck_assert_int_eq(site_try(&site, &said), 75);
	says(str_text(&said), "has it open beside a -wal or -shm that was removed");
	ck_assert_int_eq(shell(NULL, "echo .quit >$FIFO"), 0);
	(void)pclose(other);
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* So that it sees this before anything that happens after it. */
static void ring_front(void)
{
	OWNED(str) struct str said = { 0 };
	int run;

	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom where run_directory"), 0);
	run = open(strtok(said.bytes, "\n"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(run, 0);
	doorbell_ring(run, "mcp-front");
	(void)close(run);
}

/* The front learns of the answer first, and of its caller's end with the next descriptor. */
START_TEST(an_answer_is_not_handed_to_a_caller_that_has_hung_up)
{
	struct relay r;
	pid_t front;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	front = worker_pid("mcp-front");
	halt_worker(front);
	approve_all();
	ring_front();
	relay_kill(&r);
	(void)kill(front, SIGCONT);
	expect_soon("SELECT state FROM connection", "closed\n");
	expect("SELECT state FROM tool_call", "answered\n"); /* nobody was told */
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("run_directory");
	TCase *c = store_case(s, "run directory", 60);

	tcase_add_test(c, a_run_directory_that_vanishes_is_made_again_and_every_agent_is_served);
	tcase_add_test(c, without_its_runtime_directory_the_system_moves_to_the_state_directory);
	tcase_add_test(c, a_worker_that_dies_after_its_run_directory_comes_back);
	tcase_add_test(c, a_database_with_two_names_is_refused);
	tcase_add_test(c, a_database_that_a_system_has_open_under_another_name_is_refused);
	tcase_add_test(c, a_watch_that_has_another_log_open_ends);
	tcase_add_test(c, a_file_that_cannot_be_seen_is_not_taken_for_one_that_is_gone);
	tcase_add_test(c, nothing_starts_beside_a_process_that_has_another_log_open);
	tcase_add_loop_test(c, beside_a_log_that_was_removed_nobody_answers_and_nothing_is_lost, 0,
	                    3);
	tcase_add_test(c, an_answer_is_not_handed_to_a_caller_that_has_hung_up);
	return run_suite(s);
}
