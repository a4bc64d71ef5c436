/* Writes a diff as the applier does, file system calls and syncs included, rows not; beside it `git
 * apply`, which syncs nothing. A line for each size and number of hunks: milliseconds (median,
 * least, most) of our reading and computing alone, of the whole durable write, of the same without
 * its syncs, of git; and our peak memory.
 *
 * usage: apply DIRECTORY ROUNDS        DIRECTORY is on the file system to be measured
 *
 * The last three lines are the bounds: time and memory must grow with the size, not faster. They
 * are without git, whose time grows with the square (245 s for 50 MB and 5,000 hunks, tried). */
#include "bench.h"

#include "file_change.h"
#include "proposal.h"
#include "safe_path.h"
#include "sha256.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_BYTES = 50, MB = 1 << 20 };

enum { ROUNDS_MAX = 100 };

struct figures {
	double compute_ms, whole_ms;
	long peak_kb;
};

/* One row: of each round. */
struct row {
	double compute[ROUNDS_MAX], durable[ROUNDS_MAX], unsynced[ROUNDS_MAX], git[ROUNDS_MAX];
	int rounds;
	long peak_kb;
};

static bool syncs = true;

/* The library's calls come here. */
int fsync(int fd)
{
	return syncs ? (int)syscall(SYS_fsync, fd) : 0;
}

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
	OWNED(plan) struct plan plan = { 0 };
	OWNED(file_change) struct file_change f = FILE_CHANGE_INIT;
	const struct proposal p = { .workspace_root = "/w",
		                    .file_path = "f.txt",
		                    .body = diff->bytes,
		                    .body_length = diff->length };
	struct refusal why = { .code = "" };
	int64_t start = now_ns();
	int root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (proposal_look(root, &p, &plan, &why) || proposal_work(&p, &plan, &why))
		die("%s", why.text);
	out->compute_ms = ms_since(start);
	file_change_take(root, &plan.files[0], NULL, &f);
	if (file_change_open(root, &f, &why) || file_change_check_space(&f, 1, &why) ||
	    file_change_stage(root, &f, 1, &why) || file_change_check(&f, &why) ||
	    file_change_place(&f, &why) || file_change_tidy(root, &f, &why) ||
	    file_change_sync(&f, 1, &why))
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

static void put_old(const struct str *old)
{
	put("f.txt", old);
	(void)system("sync f.txt");
}

static void one_round(const struct str *old, const struct str *diff, bool with_git, struct row *r)
{
	int i = r->rounds++;
	struct figures f;

	if (with_git) {
		put_old(old);
		r->git[i] = git_ms();
	}
	put_old(old);
	syncs = false;
	r->unsynced[i] = measure(diff).whole_ms;
	put_old(old);
	syncs = true;
	f = measure(diff);
	r->durable[i] = f.whole_ms;
	r->compute[i] = f.compute_ms;
	r->peak_kb = f.peak_kb > r->peak_kb ? f.peak_kb : r->peak_kb;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Prints the median and the spread; returns the median. */
static double tell(const char *what, double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), by_value);
	(void)printf("  %s %8.2f (%.2f-%.2f)", what, values[count / 2], values[0],
	             values[count - 1]);
	return values[count / 2];
}

static void row(size_t bytes, size_t hunks, int rounds, bool with_git)
{
	OWNED(str) struct str old = { 0 };
	OWNED(str) struct str diff = { 0 };
	struct row r = { .rounds = 0 };
	double durable, unsynced, git;

	make(bytes, hunks, &old, &diff);
	put("diff", &diff);
	for (int i = 0; i < rounds; i++)
		one_round(&old, &diff, with_git, &r);
	(void)printf("%8.3f MB %6zu hunks", (double)old.length / MB, hunks);
	(void)tell("computed", r.compute, rounds);
	durable = tell("durable", r.durable, rounds);
	unsynced = tell("without syncs", r.unsynced, rounds);
	if (with_git) {
		git = tell("git apply", r.git, rounds);
		(void)printf("  ratio %.2f, without syncs %.2f", durable / git, unsynced / git);
	}
	(void)printf("  peak %ld MB\n", r.peak_kb / 1024);
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct {
		size_t bytes, hunks;
	} ROWS[] = { { 1000, 1 },       { 1000, 4 },       { 100000, 1 },     { 100000, 100 },
		     { 100000, 400 },   { 10 * MB, 1 },    { 10 * MB, 100 },  { 10 * MB, 1000 },
		     { 25 * MB, 2500 }, { 50 * MB, 5000 }, { 99 * MB, 10000 } };
	int rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (rounds < 1 || rounds > ROUNDS_MAX || chdir(argv[1]))
		die("usage: apply DIRECTORY ROUNDS");
	(void)sha256_of("", 0); /* the applier is long there; its library is loaded */
	for (size_t i = 0; i < COUNT(ROWS); i++)
		row(ROWS[i].bytes, ROWS[i].hunks, rounds, ROWS[i].bytes <= 10 * MB);
	return 0;
}
