#include "process.h"

#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 5 };

int64_t agent_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void test_program(const char *name, char out[PROGRAM_BYTES])
{
	const char *build = getenv("INTERCOM_BUILD");

	ck_assert_msg(build != NULL, "INTERCOM_BUILD must name the folder of the binaries");
	(void)snprintf(out, PROGRAM_BYTES, "%s/%s", build, name);
}

bool ends_within(pid_t pid, int ms, int *status)
{
	int how = 0;

	for (int64_t end = agent_ms() + ms;; (void)poll(NULL, 0, LOOK_MS)) {
		if (waitpid(pid, &how, WNOHANG) == pid) {
			if (status)
				*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
			return true;
		}
		if (agent_ms() >= end)
			return false;
	}
}

int end_of(pid_t pid)
{
	int status = -1;

	ck_assert_msg(ends_within(pid, AGENT_PATIENCE_MS, &status), "process %d does not end",
	              (int)pid);
	return status;
}

int shell(struct str *said, const char *format, ...)
{
	char command[4000], bytes[4096];
	va_list args;
	size_t n;
	FILE *f;
	int status;

	va_start(args, format);
	(void)vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	f = popen(command, "re"); /* NOLINT(cert-env33-c) */
	ck_assert_ptr_nonnull(f);
	if (said)
		str_reset(said);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		if (said)
			str_add_bytes(said, bytes, n);
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int ctl(struct str *said, const char *format, ...)
{
	char path[PROGRAM_BYTES], arguments[2000];
	va_list args;

	test_program("agent-intercom-ctl", path);
	va_start(args, format);
	(void)vsnprintf(arguments, sizeof(arguments), format, args);
	va_end(args);
	return shell(said, "%s --db %s %s 2>&1 </dev/null", path, test_db(), arguments);
}

/* From below the ports that the kernel gives to connections: connections of parallel tests could
 * take one of those before it is used. */
int free_port(void)
{
	enum { FIRST = 10000, PORTS = 20000, TRIES = 1000 };
	static unsigned tried;

	for (int i = 0; i < TRIES; i++) {
		int port = FIRST + (int)(((unsigned)getpid() * 7919U + tried++ * 31U) % PORTS);
		struct sockaddr_in a = { .sin_family = AF_INET,
			                 .sin_port = htons((uint16_t)port),
			                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int bound = bind(fd, (struct sockaddr *)&a, sizeof(a));

		ck_assert_int_ge(fd, 0);
		(void)close(fd);
		if (bound == 0)
			return port;
	}
	ck_abort_msg("no port is free");
}

void put_file(const char *folder, const char *name, const char *text)
{
	char path[PROGRAM_BYTES];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	ck_assert_msg(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s: %s", path, strerror(errno));
}

char *get_file(const char *folder, const char *name)
{
	OWNED(str) struct str text = { 0 };
	char path[PROGRAM_BYTES], bytes[4096];
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		str_add_bytes(&text, bytes, n);
	(void)fclose(f);
	return str_take(&text);
}

char *process_status(pid_t pid, const char *name)
{
	char folder[40], begin[60];
	OWNED(char_ptr) char *text = NULL;
	OWNED(str) struct str all = { 0 };
	const char *value;

	(void)snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	(void)snprintf(begin, sizeof(begin), "\n%s:\t", name);
	text = get_file(folder, "status");
	str_addf(&all, "\n%s", text ? text : "");
	value = strstr(all.bytes, begin);
	value = value ? value + strlen(begin) : "";
	return strndup(value, strcspn(value, "\n"));
}

void drop(struct str *s, size_t n)
{
	memmove(s->bytes, s->bytes + n, s->length - n + 1);
	s->length -= n;
}
