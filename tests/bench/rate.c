/* Requests per second: each connection sends its next one when the last one is answered.
 * usage: rate PORT CONNECTIONS WARM_MS MEASURE_MS METHOD PARAMS [PID...]
 * Prints: calls_s, p50_us, p99_us, and cpu_us per call of the processes. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { MOST_PIDS = 16, MOST_CALLS = 4000000, MOST_EVENTS = 64 };

struct one {
	struct caller caller;
	int64_t sent_ns;
};

static void watch(int epoll, struct one *o)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = o };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, o->caller.fd, &e) != 0)
		die("epoll_ctl failed");
}

/* Keeps the calls going until end_ns; notes how long each took. */
static size_t run(int epoll, const char *call, int64_t end_ns, int64_t *took)
{
	struct epoll_event events[MOST_EVENTS];
	size_t count = 0;

	while (now_ns() < end_ns) {
		int n = epoll_wait(epoll, events, MOST_EVENTS, 1000);

		for (int i = 0; i < n; i++) {
			struct one *o = events[i].data.ptr;

			if (caller_read(&o->caller) != CALLER_DONE)
				continue;
			if (count < MOST_CALLS)
				took[count++] = now_ns() - o->sent_ns;
			o->sent_ns = now_ns();
			caller_post(&o->caller, call);
		}
	}
	return count;
}

int main(int argc, char **argv)
{
	pid_t pids[MOST_PIDS];
	int64_t *took = malloc(sizeof(*took) * MOST_CALLS);
	int count, pid_count, epoll = epoll_create1(0);
	struct usage before, after;
	int64_t start;
	struct one *ones;
	size_t calls;
	char *call;

	if (argc < 7 || argc - 7 > MOST_PIDS || !took || epoll < 0)
		die("usage: rate PORT CONNECTIONS WARM_MS MEASURE_MS METHOD PARAMS [PID...]");
	count = atoi(argv[2]);
	pid_count = parse_pids(argv + 7, argc - 7, pids);
	ones = calloc((size_t)count, sizeof(*ones));
	call = request_text(1, argv[5], argv[6]);
	for (int i = 0; i < count; i++) {
		caller_open(&ones[i].caller, atoi(argv[1]));
		caller_initialize(&ones[i].caller);
	}
	/* One by hand first: what it tells is no error. */
	caller_post(&ones[0].caller, call);
	caller_finish(&ones[0].caller);
	if (!strstr(ones[0].caller.in, "\"result\"") ||
	    strstr(ones[0].caller.in, "\"isError\":true"))
		die("the call fails: %.500s", ones[0].caller.in);
	for (int i = 0; i < count; i++) {
		watch(epoll, &ones[i]);
		ones[i].sent_ns = now_ns();
		caller_post(&ones[i].caller, call);
	}
	(void)run(epoll, call, now_ns() + atol(argv[3]) * 1000000, took);
	before = usage_of(pids, pid_count);
	start = now_ns();
	calls = run(epoll, call, start + atol(argv[4]) * 1000000, took);
	double seconds = (double)(now_ns() - start) / 1e9;
	after = usage_of(pids, pid_count);
	(void)printf("calls_s %.0f\n", (double)calls / seconds);
	(void)printf("p50_us %.1f\n", percentile_us(took, calls, 0.5));
	(void)printf("p99_us %.1f\n", percentile_us(took, calls, 0.99));
	(void)printf("cpu_us %.2f\n", (after.cpu_us - before.cpu_us) / (double)calls);
	return 0;
}
