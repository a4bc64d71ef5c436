/* suite and harness: what the tests say of themselves. This program starts itself in other roles.
 */
#include "harness.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHORT_ENOUGH = 43, PATH_BYTES = 300 };

static const char *self; /* this program */

/* ---- roles ---- */

START_TEST(one_that_runs)
{
	ck_assert(true);
}
END_TEST

START_TEST(one_that_cannot_run)
{
	SKIP_UNLESS(getpid() == 0, "a machine on the moon");
	ck_abort_msg("it ran");
}
END_TEST

START_TEST(one_that_fails)
{
	ck_abort_msg("as it should");
}
END_TEST

START_TEST(one_that_says_where_it_is)
{
	(void)puts(scratch());
	(void)fflush(stdout);
}
END_TEST

/* Runs a suite of `count` tests. */
static int run(const TTest *const *tests, size_t count)
{
	Suite *s = suite_create("role");
	TCase *c = tcase_create("role");

	for (size_t i = 0; i < count; i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}

static int play_role(const char *role)
{
	const TTest *const all[] = { one_that_runs, one_that_cannot_run, one_that_fails };

	if (strcmp(role, "where") == 0)
		return run((const TTest *const[]){ one_that_says_where_it_is }, 1);
	return run(all, strcmp(role, "none-fails") == 0 ? 2 : 3);
}

/* ---- tests ---- */

/* The exit status of this program in a role; what it prints goes to said. */
static int run_role(const char *role, const char *tmp, struct str *said)
{
	char chunk[1000];
	int ends[2], status = 0;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		(void)unsetenv("INTERCOM_TEST_ROOT");
		(void)setenv("TMPDIR", tmp, 1);
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)dup2(ends[1], STDERR_FILENO);
		(void)close(ends[0]);
		(void)close(ends[1]);
		(void)execl(self, self, role, (char *)NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	str_reset(said);
	while ((n = read(ends[0], chunk, sizeof(chunk))) > 0)
		str_add_bytes(said, chunk, (size_t)n);
	(void)close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void has(const struct str *said, const char *part)
{
	ck_assert_msg(strstr(str_text(said), part) != NULL, "no \"%s\" in: %s", part,
	              str_text(said));
}

START_TEST(what_cannot_run_is_named_and_counted_and_gives_a_status_of_its_own)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(run_role("none-fails", "/tmp", &said), SUITE_SKIPPED);
	has(&said, "skipped: one_that_cannot_run: needs a machine on the moon\n");
	has(&said, "1 of 2 tests skipped\n");
}
END_TEST

START_TEST(a_failure_counts_more_than_what_was_skipped)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(run_role("one-fails", "/tmp", &said), EXIT_FAILURE);
	has(&said, "1 of 3 tests skipped\n");
}
END_TEST

/* A directory whose name has so many bytes. */
static const char *folder_of(size_t length)
{
	static char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/", short_scratch());
	ck_assert_uint_lt(strlen(path), length);
	memset(path + strlen(path), 'x', length - strlen(path));
	path[length] = '\0';
	ck_assert_int_eq(mkdir(path, 0700), 0);
	return path;
}

START_TEST(a_temporary_directory_may_have_a_long_name)
{
	OWNED(str) struct str said = { 0 };
	const char *tmp = folder_of(SHORT_ENOUGH);

	int status = run_role("where", tmp, &said);

	ck_assert_msg(status == EXIT_SUCCESS, "%d: %s", status, str_text(&said));
	has(&said, tmp);
}
END_TEST

START_TEST(a_temporary_directory_too_long_for_sockets_is_refused_in_words)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(run_role("where", folder_of(SHORT_ENOUGH + 1), &said), EXIT_FAILURE);
	has(&said,
	    "is 44 bytes long, the sockets of tests allow 43; set it to a shorter directory\n");
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s;
	TCase *c;

	if (argc == 2)
		return play_role(argv[1]);
	self = argv[0];
	s = suite_create("suite");
	c = store_case(s, "suite", 30);
	tcase_add_test(c, what_cannot_run_is_named_and_counted_and_gives_a_status_of_its_own);
	tcase_add_test(c, a_failure_counts_more_than_what_was_skipped);
	tcase_add_test(c, a_temporary_directory_may_have_a_long_name);
	tcase_add_test(c, a_temporary_directory_too_long_for_sockets_is_refused_in_words);
	return run_suite(s);
}
