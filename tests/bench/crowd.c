/* What honest agents wait while others have very large files looked at, and one job hangs.
 * usage: crowd PORT FRONT_PID WORKSPACE AGENTS BIG BIG_MIB DIFF_BYTES MOST_MS
 * Each agent calls once a second, each at its own instant: check_clearance, which the workspace's
 * policy allows, and ping, in turn. First alone, then beside BIG proposals for a file of BIG_MIB
 * MiB and one more whose process is stopped. Prints: alone_p50_us, alone_p99_us, p50_us, p99_us,
 * longest_us, peak_bytes (the front's memory above idle), big_ms (until all big ones were
 * answered), big_refused (how many of these took over 20 s), calls. And what is not the front's
 * doing, also alone: late_p99_us (by which this program sent a call too late; it is part of the
 * call's time) and waited_percent (of the time that the front wanted a processor, how long others
 * had it). */
#include "bench.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PERIOD_NS = 1000000000,
	MOST_CALLS = 1000000,
	LOOK_NS = 50000000,
	ALONE_MS = 5000,
	STOP_MS = 20000
};

struct agent {
	struct caller caller;
	int64_t due_ns; /* of its next call; when it is under way, it was sent then */
	bool waits;
	int64_t sent_ns;
	int calls;
};

static struct agent *agents;
static int agent_count;
static int big_count, big_done, big_refused;
static pid_t front;
static int64_t idle_bytes, peak_bytes;
static size_t diff_bytes;
static int64_t *took, *late;
static size_t took_count;
static int64_t ran_ns, waited_ns; /* the front, before the calls that are measured */

static void put(const char *folder, const char *name, const char *text, size_t length)
{
	char path[600];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	if (!f || fwrite(text, 1, length, f) != length || fclose(f) != 0)
		die("cannot write %s", path);
}

static void make_files(const char *folder, size_t bytes)
{
	static const char POLICY[] = "{\"enabled\":true,\"file_patterns\":{\"write\":[\"**\"]}}";
	char *text = malloc(bytes + 100), path[600];
	size_t at = 0;

	(void)snprintf(path, sizeof(path), "%s/.intercom", folder);
	if (!text || (mkdir(path, 0755) != 0 && access(path, X_OK) != 0))
		die("cannot make %s", path);
	for (int i = 0; at < bytes; i++)
		at += (size_t)sprintf(text + at, "this is line %d of a very large file\n", i);
	put(folder, ".intercom/settings.json", POLICY, sizeof(POLICY) - 1);
	put(folder, "big.txt", text, at);
	free(text);
}

/* ---- calls ---- */

/* The nth one replaces lines until its diff is nearly as long as wanted. */
static char *big_call(int n)
{
	char *arguments = malloc(diff_bytes + 2000), *at = arguments, *text;
	size_t each = strlen("-this is line 1000000 of a very large file\\n+changed\\n");
	int first = n * 100, lines = (int)(diff_bytes / each) + 1;

	if (!arguments)
		die("out of memory");
	at += sprintf(at,
	              "{\"title\":\"t\",\"file_path\":\"big.txt\",\"diff\":\"--- a/big.txt\\n"
	              "+++ b/big.txt\\n@@ -%d,%d +%d,%d @@\\n",
	              first + 1, lines, first + 1, lines);
	for (int i = first; i < first + lines; i++)
		at += sprintf(at, "-this is line %d of a very large file\\n", i);
	for (int i = first; i < first + lines; i++)
		at += sprintf(at, "+changed\\n");
	(void)sprintf(at, "\"}");
	text = call_text(7, "check_clearance", arguments);
	free(arguments);
	return text;
}

/* In a process of its own, since it sends for long. Returns a pipe with one byte for the answer. */
static int begin_big(int port, int n)
{
	struct caller c = { 0 };
	int ends[2];
	char *call;

	if (pipe(ends))
		die("no pipe");
	switch (fork()) {
	case 0:
		call = big_call(n);
		caller_open(&c, port);
		caller_initialize(&c);
		caller_post(&c, call);
		caller_finish(&c);
		(void)!write(ends[1], strstr(c.in, "approved") ? "+" : "-", 1);
		_exit(0);
	case -1:
		die("no process");
	default:
		(void)close(ends[1]);
		return ends[0];
	}
}

static void call(struct agent *a, int number)
{
	char arguments[200];
	char *text;

	(void)snprintf(arguments, sizeof(arguments),
	               "{\"title\":\"t\",\"file_path\":\"honest-%d-%d.txt\",\"diff\":\"new\\n\"}",
	               number, a->calls);
	text =
	    a->calls % 2 ? call_text(9, "ping", "{}") : call_text(9, "check_clearance", arguments);
	a->sent_ns = now_ns();
	caller_post(&a->caller, text);
	free(text);
	a->calls++;
	a->waits = true;
}

static void take(struct agent *a)
{
	if (caller_read(&a->caller) != CALLER_DONE)
		return;
	if (!strstr(a->caller.in, "\"isError\":false") && strstr(a->caller.in, "rror"))
		die("an honest call is refused: %.600s", a->caller.in);
	if (took_count < MOST_CALLS) {
		late[took_count] = a->sent_ns - a->due_ns;
		took[took_count++] = now_ns() - a->due_ns;
	}
	a->waits = false;
	a->due_ns += PERIOD_NS;
}

static void take_bigs(struct pollfd *fds)
{
	char answer;

	for (int i = 0; i < big_count; i++)
		if (fds[i].fd >= 0 && fds[i].revents) {
			if (read(fds[i].fd, &answer, 1) != 1 || answer != '+')
				big_refused++; /* in time: it is told that it took too long */
			(void)close(fds[i].fd);
			fds[i].fd = -1;
			big_done++;
		}
}

/* Not the PSS: to sum that up, the kernel keeps the process from getting memory meanwhile. */
static int64_t front_bytes(void)
{
	char path[60], line[200];
	long long kib = -1;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)front);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %lld", &kib) == 1)
			break;
	if (f)
		(void)fclose(f);
	if (kib < 0)
		die("cannot read %s", path);
	return kib * 1024;
}

static void look_at_memory(void)
{
	static int64_t last_ns;
	int64_t now;

	if (now_ns() - last_ns < LOOK_NS)
		return;
	last_ns = now_ns();
	now = front_bytes() - idle_bytes;
	peak_bytes = now > peak_bytes ? now : peak_bytes;
}

/* Until end_ns, or until all big ones are answered, if there are any. fds: of them, then of the
 * agents. */
static void run(struct pollfd *fds, int bigs_now, int64_t end_ns)
{
	for (int i = 0; i < agent_count; i++) {
		agents[i].due_ns = now_ns() + (int64_t)PERIOD_NS / agent_count * i;
		fds[big_count + i] = (struct pollfd){ .fd = agents[i].caller.fd, .events = POLLIN };
	}
	while (now_ns() < end_ns && (!bigs_now || big_done < bigs_now)) {
		for (int i = 0; i < agent_count; i++)
			if (!agents[i].waits && now_ns() >= agents[i].due_ns)
				call(&agents[i], i);
		(void)poll(fds, (nfds_t)(big_count + agent_count), 1);
		take_bigs(fds);
		for (int i = 0; i < agent_count; i++)
			if (agents[i].waits && fds[big_count + i].revents)
				take(&agents[i]);
		look_at_memory();
	}
	for (int i = 0; i < agent_count; i++)
		while (agents[i].waits) {
			(void)poll(&fds[big_count + i], 1, 1000);
			take(&agents[i]);
		}
}

/* ---- a job that hangs ---- */

/* A child of parent called hand, with a nice of at least so much; 0: there is none. */
static pid_t hand_below(pid_t parent, long nice)
{
	DIR *all = opendir("/proc");
	const struct dirent *one;
	pid_t found = 0;

	while (all && !found && (one = readdir(all)) != NULL) {
		char path[300], text[600] = "", state;
		long its_nice;
		int its_parent;
		FILE *f;

		(void)snprintf(path, sizeof(path), "/proc/%.20s/stat", one->d_name);
		f = atoi(one->d_name) > 0 ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		(void)fclose(f);
		if (strstr(text, "(hand)") &&
		    sscanf(strrchr(text, ')'),
		           ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %ld",
		           &state, &its_parent, &its_nice) == 3 &&
		    its_parent == parent && its_nice >= nice && state != 'Z')
			found = (pid_t)atoi(one->d_name);
	}
	if (all)
		(void)closedir(all);
	return found;
}

/* The one that is under way; what does the jobs is nicer than who starts it. */
static pid_t stop_a_big_job(void)
{
	int nice = getpriority(PRIO_PROCESS, (id_t)front);

	for (int64_t end = now_ns() + (int64_t)STOP_MS * 1000000; now_ns() < end; pause_us(500)) {
		pid_t first = hand_below(front, nice),
		      job = first ? hand_below(first, nice + 1) : 0;

		if (job && kill(job, SIGSTOP) == 0)
			return job;
	}
	die("no job was seen at work within %d ms", STOP_MS);
}

/* How long the front has run, and has waited for a processor. */
static void read_times(int64_t *ran, int64_t *waited)
{
	long long run = 0, wait = 0;
	char path[60];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)front);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lld %lld", &run, &wait) != 2)
		die("cannot read %s", path);
	(void)fclose(f);
	*ran = run;
	*waited = wait;
}

static void begin_to_measure(void)
{
	took_count = 0;
	read_times(&ran_ns, &waited_ns);
}

static void print(const char *prefix)
{
	int64_t ran, waited;

	read_times(&ran, &waited);
	ran -= ran_ns;
	waited -= waited_ns;
	printf("%swaited_percent %.1f\n", prefix,
	       ran + waited ? 100.0 * (double)waited / (double)(ran + waited) : 0.0);
	printf("%slate_p99_us %.1f\n", prefix, percentile_us(late, took_count, 0.99));
	printf("%sp50_us %.1f\n", prefix, percentile_us(took, took_count, 0.5));
	printf("%sp99_us %.1f\n", prefix, percentile_us(took, took_count, 0.99));
}

int main(int argc, char **argv)
{
	int hung;
	struct pollfd *fds;
	int64_t start;
	pid_t stopped;
	int port;

	if (argc != 9)
		die("usage: crowd PORT FRONT_PID WORKSPACE AGENTS BIG BIG_MIB DIFF_BYTES MOST_MS");
	port = atoi(argv[1]);
	front = (pid_t)atoi(argv[2]);
	agent_count = atoi(argv[4]);
	big_count = atoi(argv[5]);
	make_files(argv[3], (size_t)atoi(argv[6]) << 20);
	diff_bytes = (size_t)atoll(argv[7]);
	raise_files(agent_count + big_count + 100);
	agents = calloc((size_t)agent_count, sizeof(*agents));
	fds = calloc((size_t)(agent_count + big_count), sizeof(*fds));
	took = malloc(sizeof(*took) * MOST_CALLS);
	late = malloc(sizeof(*late) * MOST_CALLS);
	if (!agents || !fds || !took || !late)
		die("out of memory");
	for (int i = 0; i < big_count; i++)
		fds[i].fd = -1;
	for (int i = 0; i < agent_count; i++) {
		caller_open(&agents[i].caller, port);
		caller_initialize(&agents[i].caller);
	}
	idle_bytes = INT64_MAX / 2;
	begin_to_measure();
	run(fds, 0, now_ns() + (int64_t)ALONE_MS * 1000000);
	print("alone_");
	idle_bytes = front_bytes();
	hung = begin_big(port, 0);
	stopped = stop_a_big_job();
	start = now_ns();
	for (int i = 0; i < big_count; i++) {
		fds[i] = (struct pollfd){ .fd = begin_big(port, i + 1), .events = POLLIN };
	}
	peak_bytes = 0;
	begin_to_measure();
	run(fds, big_count, start + atoll(argv[8]) * 1000000);
	if (big_done < big_count)
		die("%d of %d big ones were answered", big_done, big_count);
	printf("big_refused %d\n", big_refused);
	printf("big_ms %.0f\n", (double)(now_ns() - start) / 1e6);
	printf("calls %zu\n", took_count);
	print("");
	printf("longest_us %.1f\n", (double)took[took_count - 1] / 1000);
	printf("peak_bytes %lld\n", (long long)peak_bytes);
	(void)kill(stopped, SIGKILL);
	(void)close(hung);
	return 0;
}
