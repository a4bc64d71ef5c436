/* A disk that fails or is full while a worker starts: it is started again (75), and does not stop
 * the whole system (78), whichever call on our files that was. */
#include "fault.h"
#include "harness.h"
#include "slack_peer.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>

enum {
	FAULTS = 10, /* a sample, of each worker */
	PATH_BYTES = 1000,
	LOOK_MS = 10,
	CANNOT_LOAD = 127, /* a program without its libraries */
};

static const char *const WORKERS[] = { "applier",        "archivist",   "commander", "mcp-front",
	                               "reader",         "retention",   "sentry",    "watchdog",
	                               "slack-listener", "slack-poster" };

/* Not beside the database: watchdog hears of what is written there, and strace of that. */
static const char *strace_log(void)
{
	static char log[PATH_BYTES];

	(void)snprintf(log, sizeof(log), "%s/strace", test_run());
	return log;
}

/* The directory of the database and of the run directory. */
static const char *ours(void)
{
	static char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s", test_db());
	*strrchr(path, '/') = '\0';
	return path;
}

/* The status of a worker that is told to stop once it serves. */
static int ended(pid_t tracer)
{
	int status;

	while (waitpid(tracer, &status, WNOHANG) != tracer) {
		OWNED(char_ptr) char *pid = rows("SELECT pid FROM worker WHERE state = 'ready'");

		if (*pid)
			(void)kill((pid_t)strtol(pid, NULL, 10), SIGTERM);
		(void)poll(NULL, 0, LOOK_MS);
	}
	ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static struct faults faults_of(const char *worker)
{
	struct faults f = { .list = NULL };

	fresh_store();
	slack_start();
	ck_assert_int_eq(ended(start_traced(worker, FAULT_CALLS, NULL, strace_log())), 0);
	faults_read(&f, strace_log(), ours(), FAULTS);
	return f;
}

static void fails_at(const char *worker, const struct fault *f)
{
	int status;

	fresh_store();
	status = ended(fault_start(f, worker, strace_log()));
	ck_assert_msg(status == EX_OK || status == EX_TEMPFAIL || status == CANNOT_LOAD,
	              "%s: %s: status %d", worker, fault_name(f), status);
}

START_TEST(a_worker_whose_disk_fails_while_it_starts_is_started_again)
{
	struct faults f;

	ck_assert_int_eq(setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1), 0);
	ck_assert_int_eq(setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1), 0);
	f = faults_of(WORKERS[_i]);
	for (size_t i = 0; i < f.count; i++)
		if (strcmp(f.list[i].error, "EACCES") != 0)
			fails_at(WORKERS[_i], &f.list[i]);
	faults_clear(&f);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("worker_disk");
	TCase *c = store_case(s, "faults", 3600);

	tcase_add_loop_test(c, a_worker_whose_disk_fails_while_it_starts_is_started_again, 0,
	                    COUNT(WORKERS));
	return run_suite(s);
}
