#include "bench.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, FIRST_ROOM = 1024 };

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)fputs("bench: ", stderr);
	(void)vfprintf(stderr, format, args);
	(void)fputc('\n', stderr);
	va_end(args);
	exit(1);
}

int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void pause_us(int64_t us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		continue;
}

unsigned chance(unsigned limit)
{
	static uint64_t state = 20260208;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)((state >> 33) % limit);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

double percentile_us(int64_t *values, size_t count, double share)
{
	if (count == 0)
		die("nothing was measured");
	qsort(values, count, sizeof(*values), by_value);
	return (double)values[(size_t)(share * (double)(count - 1))] / 1000;
}

/* ---- processes ---- */

static void add_task(const char *task, struct usage *u)
{
	char path[80], line[200];
	long long value;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/schedstat", task);
	f = fopen(path, "r");
	if (f && fscanf(f, "%lld", &value) == 1) /* ns on a core */
		u->cpu_us += (double)value / 1000;
	if (f)
		(void)fclose(f);
	(void)snprintf(path, sizeof(path), "%s/status", task);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %lld", &value) == 1)
			u->wakeups += value;
	if (f)
		(void)fclose(f);
}

struct usage usage_of(const pid_t *pids, int count)
{
	struct usage u = { .cpu_us = 0 };

	for (int i = 0; i < count; i++) {
		char path[60], task[70];
		const struct dirent *entry;
		DIR *d;

		(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pids[i]);
		d = opendir(path);
		if (!d)
			die("process %d is gone", (int)pids[i]);
		while ((entry = readdir(d)) != NULL) {
			if (entry->d_name[0] == '.')
				continue;
			(void)snprintf(task, sizeof(task), "%.40s/%.20s", path, entry->d_name);
			add_task(task, &u);
		}
		(void)closedir(d);
	}
	return u;
}

int64_t pss_bytes(const pid_t *pids, int count)
{
	long long sum = 0, kib;

	for (int i = 0; i < count; i++) {
		char path[60], line[200];
		FILE *f;

		(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pids[i]);
		f = fopen(path, "r");
		if (!f)
			die("cannot read %s", path);
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "Pss: %lld", &kib) == 1)
				sum += kib * 1024;
		(void)fclose(f);
	}
	return sum;
}

int parse_pids(char **argv, int count, pid_t *pids)
{
	for (int i = 0; i < count; i++) {
		pids[i] = (pid_t)strtol(argv[i], NULL, 10);
		if (pids[i] <= 1)
			die("'%s' is no pid", argv[i]);
	}
	return count;
}

void raise_files(int needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		die("getrlimit: %s", strerror(errno));
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		die("setrlimit: %s", strerror(errno));
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (rlim_t)needed)
		die("%d descriptors are needed, ulimit -Hn is %llu", needed,
		    (unsigned long long)limit.rlim_cur);
}

/* ---- callers ---- */

void caller_open(struct caller *c, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		                 .sin_port = htons((uint16_t)port),
		                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int on = 1;

	*c = (struct caller){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	if (c->fd < 0 || connect(c->fd, (const struct sockaddr *)&a, sizeof(a)) != 0)
		die("cannot connect to port %d: %s", port, strerror(errno));
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void caller_close(struct caller *c)
{
	(void)close(c->fd);
	free(c->in);
	*c = (struct caller){ .fd = -1 };
}

static void send_all(struct caller *c, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = send(c->fd, bytes, length, MSG_NOSIGNAL);

		if (n < 0)
			die("cannot send: %s", strerror(errno));
		bytes += n;
		length -= (size_t)n;
	}
}

void caller_post(struct caller *c, const char *body)
{
	size_t length = strlen(body);
	bool is_long = length > 2048;
	char text[4096];
	int head =
	    snprintf(text, sizeof(text),
	             "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	             "Content-Type: application/json\r\n"
	             "Accept: application/json, text/event-stream\r\n"
	             "%s%s%sContent-Length: %zu\r\n\r\n%s",
	             c->session[0] ? "MCP-Protocol-Version: 2025-06-18\r\nMcp-Session-Id: " : "",
	             c->session, c->session[0] ? "\r\n" : "", length, is_long ? "" : body);

	if (head >= (int)sizeof(text))
		die("a request's headers are too long");
	c->used = 0;
	send_all(c, text, (size_t)head);
	if (is_long)
		send_all(c, body, length);
}

static void receive(struct caller *c)
{
	for (;;) {
		ssize_t n;

		if (c->room - c->used < 512) {
			c->room = c->room ? c->room * 2 : FIRST_ROOM;
			c->in = realloc(c->in, c->room);
			if (!c->in)
				die("out of memory");
		}
		n = recv(c->fd, c->in + c->used, c->room - c->used - 1, MSG_DONTWAIT);
		if (n == 0)
			die("the server closed a connection");
		if (n < 0 && errno != EAGAIN)
			die("cannot receive: %s", strerror(errno));
		if (n > 0)
			c->used += (size_t)n;
		c->in[c->used] = '\0';
		if (n < 0 || c->used + 1 < c->room)
			return;
	}
}

enum caller_state caller_read(struct caller *c)
{
	const char *body, *length, *end = "0\r\n\r\n";

	receive(c);
	body = strstr(c->in, "\r\n\r\n");
	if (!body)
		return CALLER_MORE;
	if (strncmp(c->in, "HTTP/1.1 20", 11) != 0)
		die("the server refuses: %.200s", c->in);
	length = strcasestr(c->in, "content-length:");
	body += 4;
	if (length && length < body)
		return c->used - (size_t)(body - c->in) >= strtoul(length + 15, NULL, 10)
		           ? CALLER_DONE
		           : CALLER_MORE;
	if (c->used - (size_t)(body - c->in) >= strlen(end) &&
	    strcmp(c->in + c->used - strlen(end), end) == 0)
		return CALLER_DONE;
	return strstr(body, "id: ") ? CALLER_WAITS : CALLER_MORE;
}

void caller_finish(struct caller *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	do
		if (poll(&p, 1, PATIENCE_MS) != 1)
			die("no answer in %d s", PATIENCE_MS / 1000);
	while (caller_read(c) != CALLER_DONE);
}

void caller_initialize(struct caller *c)
{
	const char *session;

	caller_post(c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	               "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
	               "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}");
	caller_finish(c);
	session = strcasestr(c->in, "mcp-session-id:");
	if (!session || sscanf(session + 15, " %99[^\r\n ]", c->session) != 1)
		die("no session: %.300s", c->in);
	caller_post(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	caller_finish(c);
}

char *request_text(int id, const char *method, const char *params)
{
	char *text;

	if (asprintf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}", id,
	             method, params) < 0)
		die("out of memory");
	return text;
}

char *call_text(int id, const char *tool, const char *arguments)
{
	char *params, *text;

	if (asprintf(&params, "{\"name\":\"%s\",\"arguments\":%s}", tool, arguments) < 0)
		die("out of memory");
	text = request_text(id, "tools/call", params);
	free(params);
	return text;
}
