/* Writes a diff as the applier does, file system calls and syncs included, rows not; beside it `git
 * apply`, which syncs nothing. A line for each size and number of hunks: milliseconds of our
 * reading and computing alone, of the whole durable write, of git; and our peak memory.
 *
 * usage: apply DIRECTORY ROUNDS        DIRECTORY is on the file system to be measured
 *
 * The last three lines are the bounds: time and memory must grow with the size, not faster. They
 * are without git, whose time grows with the square (245 s for 50 MB and 5,000 hunks, tried). */
#include "bench.h"

#include "file_change.h"
#include "proposal.h"
#include "safe_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_BYTES = 50, MB = 1 << 20 };

struct figures {
	double compute_ms, whole_ms;
	long peak_kb;
};

/* A file of lines, and a diff that changes `hunks` of them. */
static void make(size_t bytes, size_t hunks, struct str *old, struct str *diff)
{
	size_t lines = bytes / LINE_BYTES, step = lines / hunks;

	str_add(diff, "--- a/f.txt\n+++ b/f.txt\n");
	for (size_t i = 0; i < lines; i++)
		str_addf(old, "%-*zu\n", LINE_BYTES - 1, i + 1);
	for (size_t i = 0; i < hunks; i++) {
		size_t at = i * step + step / 2;

		str_addf(diff, "@@ -%zu,3 +%zu,3 @@\n", at + 1, at + 1);
		str_addf(diff, " %-*zu\n-%-*zu\n+changed %zu\n %-*zu\n", LINE_BYTES - 1, at + 1,
		         LINE_BYTES - 1, at + 2, i, LINE_BYTES - 1, at + 3);
	}
}

static void put(const char *name, const struct str *content)
{
	FILE *file = fopen(name, "we");

	if (!file || fwrite(str_text(content), 1, content->length, file) != content->length ||
	    fclose(file))
		die("cannot write %s", name);
}

static double ms_since(int64_t start)
{
	return (double)(now_ns() - start) / 1e6;
}

/* One write, in the working directory. */
static void write_once(const struct str *diff, struct figures *out)
{
	OWNED(plan) struct plan plan = PLAN_INIT;
	OWNED(file_change) struct file_change f = FILE_CHANGE_INIT;
	const struct proposal p = { .workspace_root = "/w",
		                    .file_path = "f.txt",
		                    .body = diff->bytes,
		                    .body_length = diff->length };
	struct refusal why = { .code = "" };
	int64_t start = now_ns();
	int root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (plan_look(root, &p, &plan, &why) || plan_work(&p, &plan, &why))
		die("%s", why.text);
	out->compute_ms = ms_since(start);
	file_change_take(root, &plan.files[0], NULL, &f);
	if (file_change_open(root, &f, &why) || file_change_check_space(&f, 1, &why) ||
	    file_change_stage(root, &f, &why) || file_change_check(&f, &why) ||
	    file_change_place(&f, &why) || file_change_tidy(root, &f, &why) ||
	    file_change_sync(&f, &why))
		die("%s", why.text);
	out->whole_ms = ms_since(start);
	(void)close(root);
}

/* The same in a process of its own, whose memory is its own too. */
static struct figures measure(const struct str *diff)
{
	struct figures f = { .peak_kb = 0 };
	struct rusage used;
	int ends[2], status;
	pid_t pid;

	if (pipe(ends) || (pid = fork()) < 0)
		die("cannot fork");
	if (pid == 0) {
		write_once(diff, &f);
		_exit(write(ends[1], &f, sizeof(f)) == (ssize_t)sizeof(f) ? 0 : 1);
	}
	if (wait4(pid, &status, 0, &used) != pid || status != 0 ||
	    read(ends[0], &f, sizeof(f)) != (ssize_t)sizeof(f))
		die("a write failed");
	(void)close(ends[0]);
	(void)close(ends[1]);
	f.peak_kb = used.ru_maxrss;
	return f;
}

static double git_ms(void)
{
	int64_t start = now_ns();

	if (system("git apply --whitespace=nowarn diff") != 0)
		die("git apply failed");
	return ms_since(start);
}

static void row(size_t bytes, size_t hunks, int rounds, bool with_git)
{
	struct figures best = { .whole_ms = 1e9 };
	double git = 1e9;
	OWNED(str) struct str old = STR_INIT;
	OWNED(str) struct str diff = STR_INIT;

	make(bytes, hunks, &old, &diff);
	put("diff", &diff);
	for (int i = 0; i < rounds; i++) {
		struct figures f;
		double ms;

		put("f.txt", &old);
		(void)system("sync f.txt");
		if (with_git) {
			ms = git_ms();
			git = ms < git ? ms : git;
			put("f.txt", &old);
			(void)system("sync f.txt");
		}
		f = measure(&diff);
		if (f.whole_ms < best.whole_ms)
			best = f;
	}
	(void)printf("%8.3f MB %6zu hunks  computed %9.2f ms  written %9.2f ms  peak %6ld MB",
	             (double)old.length / MB, hunks, best.compute_ms, best.whole_ms,
	             best.peak_kb / 1024);
	if (with_git)
		(void)printf("  git apply %9.2f ms  ratio %5.2f", git, best.whole_ms / git);
	(void)putchar('\n');
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct {
		size_t bytes, hunks;
	} ROWS[] = { { 1000, 1 },       { 1000, 2 },       { 100000, 1 },
		     { 100000, 100 },   { 10 * MB, 1 },    { 10 * MB, 1000 },
		     { 25 * MB, 2500 }, { 50 * MB, 5000 }, { 99 * MB, 10000 } };
	int rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (rounds < 1 || chdir(argv[1]))
		die("usage: apply DIRECTORY ROUNDS");
	for (size_t i = 0; i < COUNT(ROWS); i++)
		row(ROWS[i].bytes, ROWS[i].hunks, rounds, ROWS[i].bytes <= 10 * MB);
	return 0;
}
