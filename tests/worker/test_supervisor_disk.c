/* A disk that fails or is full while the supervisor starts, whichever call on our files that was:
 * it serves, or says why and ends with 75, so that whoever started it tries again; with 78 nobody
 * would. Its workers have a disk that works (test_worker_disk.c has theirs). */
#include "fault.h"
#include "supervisor_case.h"

#include <sysexits.h>

enum {
	FAULTS = 24, /* a sample, of each folder */
	CANNOT_LOAD = 127, /* a program without its libraries */
};

static const char *strace_log(void)
{
	return in("strace");
}

/* strace is our grandchild, so that we know the supervisor's pid; it traces nobody else. */
static void exec_traced(const struct fault *f, int out)
{
	char trace[400], inject[100];
	const char *argv[24] = { "strace", "-D", "-qq", "-y", "-o", strace_log(), "-e", trace };
	int n = 8;

	(void)snprintf(trace, sizeof(trace), "trace=%s", f ? f->call : FAULT_CALLS_BY_NAME);
	if (f) {
		(void)snprintf(inject, sizeof(inject), "inject=%s:error=%s:when=%d%s", f->call,
		               f->error, f->n, f->stays ? "+" : "");
		argv[n++] = "-e";
		argv[n++] = inject;
	}
	const char *const ours[] = { below(bin, "agent-intercom"), "--config", in("config.toml"),
		                     "--db", database };
	for (size_t i = 0; i < COUNT(ours); i++)
		argv[n++] = ours[i];
	exec_by_name(argv, out, in("log"));
}

/* Waits until it is ready, has told that it does not come to that, or has ended. */
static void await(void)
{
	struct pollfd p = { .fd = out_fd, .events = POLLIN };
	int64_t end = real_ms() + AGENT_PATIENCE_MS;

	while (poll(&p, 1, IMPATIENT_MS) == 0) {
		OWNED(char_ptr) char *log = log_text();

		if (strstr(log, "not ready after"))
			return;
		ck_assert_msg(real_ms() < end, "neither ready nor ended\n%s", log);
	}
}

/* The status of a supervisor that is told to stop once it serves, or cannot. */
static int starts(const struct fault *f)
{
	int ends[2];

	setup();
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	supervisor = fork();
	ck_assert_int_ge(supervisor, 0);
	if (supervisor == 0)
		exec_traced(f, ends[1]);
	(void)close(ends[1]);
	out_fd = ends[0];
	await();
	(void)kill(supervisor, SIGTERM);
	int status = finish();
	(void)close(out_fd);
	out_fd = -1;
	return status;
}

static void fails_at(const struct fault *f)
{
	int status = starts(f);
	OWNED(char_ptr) char *log = log_text();

	ck_assert_msg(status == EX_OK || status == EX_TEMPFAIL || status == CANNOT_LOAD,
	              "%s: status %d\n%s", fault_name(f), status, log);
	if (strcmp(f->call, "write") != 0) /* the log is on that disk, too */
		ck_assert_msg(status != EX_TEMPFAIL || *log, "%s: it does not say why",
		              fault_name(f));
}

START_TEST(a_supervisor_whose_disk_fails_while_it_starts_is_to_be_started_again)
{
	struct faults f = { .list = NULL };

	ck_assert_int_eq(starts(NULL), 0);
	faults_read(&f, strace_log(), _i ? runtime : dir, FAULTS);
	for (size_t i = 0; i < f.count; i++)
		if (strcmp(f.list[i].error, "EACCES") != 0)
			fails_at(&f.list[i]);
	faults_clear(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("supervisor_disk");
	TCase *c = store_case(s, "faults", 3600);

	tcase_add_loop_test(c, a_supervisor_whose_disk_fails_while_it_starts_is_to_be_started_again,
	                    0, 2);
	return run_suite(s);
}
