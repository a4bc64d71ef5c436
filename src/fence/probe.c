#include "probe.h"

#ifdef INTERCOM_TEST_CLOCK
#include "err.h"
#include "io.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_BYTES = 600, PRIVATE = 0600 };

static int open_and_close(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, PRIVATE);

	return fd < 0 ? -1 : close(fd);
}

static int try_read(const char *path)
{
	return open_and_close(path, O_RDONLY);
}

static int try_list(const char *path)
{
	return open_and_close(path, O_RDONLY | O_DIRECTORY);
}

static int try_write(const char *path)
{
	return open_and_close(path, O_WRONLY);
}

static int try_make(const char *path)
{
	return open_and_close(path, O_WRONLY | O_CREAT | O_EXCL);
}

static int try_link(const char *path)
{
	char beside[LINE_BYTES + 8];

	(void)snprintf(beside, sizeof(beside), "%s.link", path);
	return link(path, beside);
}

static int try_mode(const char *path)
{
	return fchmodat(AT_FDCWD, path, PRIVATE, 0);
}

/* Out of its folder, and back again. */
static int try_rename(const char *path)
{
	char above[LINE_BYTES + 40], *slash;

	(void)snprintf(above, sizeof(above), "%s", path);
	slash = strrchr(above, '/');
	if (!slash)
		return -1;
	(void)snprintf(slash, sizeof(above) - (size_t)(slash - above), ".renamed");
	return rename(path, above) || rename(above, path) ? -1 : 0;
}

static int try_device(const char *path)
{
	return mknod(path, S_IFCHR | PRIVATE, makedev(1, 3));
}

/* What a child of ours ends with that becomes the program. */
static int try_exec(const char *path)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		(void)execl(path, path, (char *)NULL);
		_exit(errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EFAULT;
	return errno ? -1 : 0;
}

/* Calls it with a new socket; errno is that of the call. */
static int with_socket(int (*call)(int, const struct sockaddr *, socklen_t),
                       const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int failed = fd < 0 ? -1 : call(fd, address, size);

	io_shut(&fd);
	return failed;
}

static int on_port(const char *port, int (*call)(int, const struct sockaddr *, socklen_t))
{
	const struct sockaddr_in a = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)strtol(port, NULL, 10)),
		                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return with_socket(call, (const struct sockaddr *)&a, sizeof(a));
}

static int try_connect(const char *port)
{
	return on_port(port, connect);
}

static int try_listen(const char *port)
{
	return on_port(port, bind);
}

/* Of a Unix socket, which need not be there. */
static int try_socket(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return with_socket(connect, (const struct sockaddr *)&a, sizeof(a));
}

static int try_signal(const char *pid)
{
	return kill((pid_t)strtol(pid, NULL, 10), 0);
}

static int try_trace(const char *pid)
{
	return (int)ptrace(PTRACE_SEIZE, (pid_t)strtol(pid, NULL, 10), NULL, NULL);
}

static int try_mount(const char *path)
{
	return mount("none", path, "tmpfs", 0, NULL);
}

static const struct attack {
	const char *what;
	int (*attempt)(const char *argument);
} ATTACKS[] = {
	{ "connect", try_connect }, { "device", try_device }, { "exec", try_exec },
	{ "link", try_link },       { "list", try_list },     { "listen", try_listen },
	{ "make", try_make },       { "mount", try_mount },   { "read", try_read },
	{ "mode", try_mode },       { "remove", unlink },     { "rename", try_rename },
	{ "signal", try_signal },   { "socket", try_socket }, { "trace", try_trace },
	{ "write", try_write },
};

/* -1: no such attack. */
static int attack(const char *line)
{
	size_t length = strcspn(line, " ");

	for (size_t i = 0; i < COUNT(ATTACKS) && line[length]; i++)
		if (strlen(ATTACKS[i].what) == length && !strncmp(ATTACKS[i].what, line, length)) {
			errno = 0;
			return ATTACKS[i].attempt(line + length + 1) ? errno : 0;
		}
	return -1;
}

void probe_serve(void)
{
	const char *given = getenv("INTERCOM_PROBE_FD");
	int fd = given ? (int)strtol(given, NULL, 10) : -1;
	FILE *in = fd >= 0 ? fdopen(fd, "r+") : NULL;
	char line[LINE_BYTES];

	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		(void)dprintf(fd, "%d\n", attack(line));
	}
	if (in)
		(void)fclose(in);
}
#else
void probe_serve(void)
{
}
#endif
