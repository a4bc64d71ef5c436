/* A writer beside retention, which deletes what is due.
 * usage: retain fill DB FROM CALLS    a database (FROM 0: a new one) with CALLS old calls and what
 *                                     belongs to them (history.h); prints rows, bytes
 *        retain run DB RUN_DIR AGENT_INTERCOM MEASURE_MS
 * The system runs on DB. The writer stores a call, durably, every 0.5 to 1.5 ms: for MEASURE_MS
 * alone, then as long as `agent-intercom retention --once` takes. Prints p50, p99 and max of both
 * (base_, purge_), how long the purge took (purge_ms) and the longest log (log_bytes). */
#include "bench.h"
#include "history.h"
#include "sql/tool_call.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DAYS = 400, MOST = 4000000, PAUSE_US = 500 };

static int64_t size_of(const char *path, const char *suffix)
{
	char name[4096];
	struct stat about;

	(void)snprintf(name, sizeof(name), "%s%s", path, suffix);
	return stat(name, &about) == 0 ? about.st_size : 0;
}

static void fill(const char *path, int64_t from, int64_t calls)
{
	int64_t rows;

	if (from == 0)
		history_make(path);
	rows = history_fill(path, from, calls, DAYS);
	(void)printf("rows %lld\nbytes %lld\n", (long long)rows, (long long)size_of(path, ""));
}

/* ---- the writer ---- */

struct writer {
	struct history h;
	const char *path;
	int64_t number, log_bytes;
	int64_t *took;
	size_t count;
};

static void store_call(struct writer *w)
{
	struct err e = { 0 };
	char rpc_id[24];

	(void)snprintf(rpc_id, sizeof(rpc_id), "%lld", (long long)++w->number);
	const struct tool_call_insert_done_args args = {
		.connection = w->h.connection,
		.session = w->h.session,
		.rpc_id = rpc_id,
		.era = TOOL_CALL_ERA_MODERN,
		.tool = "ping",
		.arguments = "{\"status_message\":\"still at it, and there is more to do\"}",
		.digest = "",
		.result = "{\"acknowledged\":true}",
	};
	if (store_begin(&w->h.store, &e) || sql_tool_call_insert_done(&w->h.store, &args, &e) < 0 ||
	    store_commit(&w->h.store, &e))
		die("%s", e.text);
}

static void write_one(struct writer *w)
{
	int64_t start = now_ns(), bytes;

	store_call(w);
	if (w->count == MOST)
		die("retention does not end");
	w->took[w->count++] = now_ns() - start;
	bytes = size_of(w->path, "-wal");
	w->log_bytes = bytes > w->log_bytes ? bytes : w->log_bytes;
	pause_us(PAUSE_US + (int64_t)chance(2 * PAUSE_US));
}

static void print(struct writer *w, const char *name)
{
	(void)printf("%s_p50_us %.1f\n", name, percentile_us(w->took, w->count, 0.5));
	(void)printf("%s_p99_us %.1f\n", name, percentile_us(w->took, w->count, 0.99));
	(void)printf("%s_max_us %.1f\n", name, percentile_us(w->took, w->count, 1));
	w->count = 0;
}

static pid_t start_purge(const char *program, const char *path)
{
	pid_t child = fork();

	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
		(void)execl(program, program, "--db", path, "retention", "--once", (char *)NULL);
		_exit(127);
	}
	return child;
}

static void run(const char *path, const char *run_dir, const char *program, int64_t measure_ms)
{
	struct writer w = { .path = path, .took = malloc(MOST * sizeof(int64_t)) };
	struct err e = { 0 };
	int64_t start;
	int status;
	pid_t purge;

	history_open(&w.h, path);
	store_clear(&w.h.store);
	if (store_open(&w.h.store, path, run_dir, &e)) /* this one rings */
		die("%s", e.text);
	start = now_ns();
	while (now_ns() < start + measure_ms * 1000000)
		write_one(&w);
	print(&w, "base");
	w.log_bytes = 0;
	start = now_ns();
	purge = start_purge(program, path);
	while (waitpid(purge, &status, WNOHANG) == 0)
		write_one(&w);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die("retention failed");
	(void)printf("purge_ms %lld\n", (long long)(now_ns() - start) / 1000000);
	print(&w, "purge");
	(void)printf("log_bytes %lld\n", (long long)w.log_bytes);
	history_close(&w.h);
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "fill") == 0)
		fill(argv[2], atol(argv[3]), atol(argv[4]));
	else if (argc == 6 && strcmp(argv[1], "run") == 0)
		run(argv[2], argv[3], argv[4], atol(argv[5]));
	else
		die("usage: retain fill DB FROM CALLS | retain run DB RUN_DIR AGENT_INTERCOM MS");
	return 0;
}
