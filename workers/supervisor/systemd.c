/* What systemd hands over and wants to hear: sockets (sd_listen_fds(3)), readiness and signs of
 * life (sd_notify(3)). Everything here does nothing where the variables for it are not set. */
#include "supervisor.h"

#include "activation_fds.h"
#include "clock.h"
#include "log.h"
#include "str.h"
#include "variables.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { US_IN_MS = 1000, BEATS = 3 };

/* A number above 0 from the environment, which is for us: variable_pid, if set, names our pid. */
static int64_t number_for_us(const char *variable, const char *variable_pid)
{
	const char *text = getenv(variable), *pid = getenv(variable_pid);

	if (!text || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return strtoll(text, NULL, 10);
}

void systemd_take(struct supervisor *s)
{
	int64_t count = getenv("LISTEN_PID") ? number_for_us("LISTEN_FDS", "LISTEN_PID") : 0;
	int64_t watchdog_us = number_for_us("WATCHDOG_USEC", "WATCHDOG_PID");

	if (count > ACTIVATION_SOCKETS_MAX)
		count = ACTIVATION_SOCKETS_MAX;
	for (int fd = ACTIVATION_FIRST_FD; fd < ACTIVATION_FIRST_FD + count; fd++) {
		int accepts = 0;
		socklen_t size = sizeof(accepts);

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) != 0 || !accepts ||
		    fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
			log_warn("descriptor %d from systemd is no listening socket: ignored, with "
			         "those after it",
			         fd);
			break;
		}
		s->sockets++;
	}
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	if (watchdog_us > 0 && watchdog_us / US_IN_MS / BEATS < INT_MAX)
		s->watchdog_ms = watchdog_us / US_IN_MS / BEATS;
}

void systemd_give_back(const struct supervisor *s)
{
	char number[16];

	if (!s->sockets)
		return;
	for (int fd = ACTIVATION_FIRST_FD; fd < ACTIVATION_FIRST_FD + s->sockets; fd++)
		(void)fcntl(fd, F_SETFD, 0);
	(void)snprintf(number, sizeof(number), "%d", (int)getpid());
	(void)setenv("LISTEN_PID", number, 1);
	(void)snprintf(number, sizeof(number), "%d", s->sockets);
	(void)setenv("LISTEN_FDS", number, 1);
}

char **systemd_front_environment(const struct supervisor *s)
{
	static char sockets[40]; /* by number alone: the front's pid is not known before it runs */
	char **out = variables_pick(s->environment, NULL, 0, 1);

	(void)snprintf(sockets, sizeof(sockets), "LISTEN_FDS=%d", s->sockets);
	if (s->sockets)
		out[variables_count(out)] = sockets;
	return out;
}

static void notify(const char *text, int flags)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (length < 2 || length >= sizeof(a.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(a.sun_path, path, length);
	if (path[0] == '@')
		a.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)sendto(fd, text, strlen(text), MSG_NOSIGNAL | flags, (const struct sockaddr *)&a,
	             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	(void)close(fd);
}

void systemd_notify(const char *text)
{
	notify(text, 0);
}

/* A systemd that does not read must not stop us: one sign more or less does not matter. */
int systemd_beat(struct supervisor *s)
{
	int64_t now = clock_monotonic_ms();

	if (!s->watchdog_ms)
		return INT_MAX;
	if (now >= s->watchdog_at_ms) {
		notify("WATCHDOG=1", MSG_DONTWAIT);
		s->watchdog_at_ms = now + s->watchdog_ms;
	}
	return (int)(s->watchdog_at_ms - now);
}
