/* Holds calls that nobody answers, and looks at what that costs.
 * usage: hold PORT CALLS SETTLE_MS WATCH_MS TOOL ARGUMENTS PID...
 * @ in ARGUMENTS becomes the number of the call. The first PID is that of the server: its memory is
 * measured. Prints: call_bytes (PSS per call), cpu_percent of one core and wakeups_s of all the
 * processes together while nothing happens. */
#include "bench.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PIDS = 64, WARM_CALLS = 50, CALLS_PER_SESSION = 50, SPARE_FDS = 100 };

static char *numbered(const char *arguments, int number)
{
	const char *at = strchr(arguments, '@');
	char *text;

	if (asprintf(&text, "%.*s%d%s", (int)(at ? at - arguments : 0), arguments, number,
	             at ? at + 1 : arguments) < 0)
		die("out of memory");
	return text;
}

static void ask(struct caller *c, const char *tool, const char *arguments, int number)
{
	char *text = numbered(arguments, number);
	char *call = call_text(number, tool, text);

	caller_post(c, call);
	free(text);
	free(call);
}

static void hold(struct caller *callers, int from, int to, int port, const char *tool,
                 const char *arguments)
{
	struct caller first = { .fd = -1 };

	for (int i = from; i < to; i++) {
		if ((i - from) % CALLS_PER_SESSION == 0) {
			if (first.fd >= 0)
				caller_close(&first);
			caller_open(&first, port);
			caller_initialize(&first);
		}
		caller_open(&callers[i], port);
		(void)snprintf(callers[i].session, sizeof(callers[i].session), "%s", first.session);
		ask(&callers[i], tool, arguments, i);
	}
	if (first.fd >= 0)
		caller_close(&first);
}

/* Nobody may have been answered: a call that does not wait is no blocked call. */
static void check_held(struct caller *callers, int count)
{
	for (int i = 0; i < count; i++) {
		struct pollfd p = { .fd = callers[i].fd, .events = POLLIN };

		if (poll(&p, 1, 0) == 1 && caller_read(&callers[i]) == CALLER_DONE)
			die("call %d does not wait: %.300s", i, callers[i].in);
	}
}

int main(int argc, char **argv)
{
	pid_t pids[MOST_PIDS];
	struct usage before, after;
	struct caller *callers;
	int count, pid_count, port;
	int64_t empty, start;
	double seconds;

	if (argc < 8 || argc - 7 > MOST_PIDS)
		die("usage: hold PORT CALLS SETTLE_MS WATCH_MS TOOL ARGUMENTS PID...");
	port = atoi(argv[1]);
	count = atoi(argv[2]);
	pid_count = parse_pids(argv + 7, argc - 7, pids);
	raise_files(count + SPARE_FDS);
	callers = calloc((size_t)count + WARM_CALLS, sizeof(*callers));
	if (!callers)
		die("out of memory");
	/* What the first calls bring with them (statements, code) is not the price of a call. */
	hold(callers, 0, count ? WARM_CALLS : 0, port, argv[5], argv[6]);
	pause_us(count ? 300000 : 0);
	empty = pss_bytes(pids, 1);
	hold(callers, WARM_CALLS, count ? WARM_CALLS + count : WARM_CALLS, port, argv[5], argv[6]);
	pause_us(atol(argv[3]) * 1000);
	if (count) {
		check_held(callers, count + WARM_CALLS);
		(void)printf("call_bytes %.0f\n", (double)(pss_bytes(pids, 1) - empty) / count);
	}
	before = usage_of(pids, pid_count);
	start = now_ns();
	pause_us(atol(argv[4]) * 1000);
	after = usage_of(pids, pid_count);
	seconds = (double)(now_ns() - start) / 1e9;
	if (seconds >= 1) {
		(void)printf("cpu_percent %.4f\n", (after.cpu_us - before.cpu_us) / seconds / 1e4);
		(void)printf("wakeups_s %.1f\n",
		             (double)(after.wakeups - before.wakeups) / seconds);
	}
	return 0;
}
