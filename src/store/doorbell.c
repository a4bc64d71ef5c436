#include "doorbell.h"

#include "io.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char SUFFIX[] = ".bell";

/* Names the socket through its directory's descriptor: sun_path holds 108 bytes, and run
 * directories may be longer. */
static struct sockaddr_un address(int run_fd, const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%.60s%s", run_fd, name,
	               SUFFIX);
	return a;
}

int doorbell_open(struct doorbell *bell, int run_fd, const char *name, struct err *e)
{
	struct sockaddr_un a = address(run_fd, name);
	char file[80];

	(void)snprintf(file, sizeof(file), "%.60s%s", name, SUFFIX);
	bell->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (bell->fd < 0)
		return err_errno(e, ERR_AGAIN, "doorbell: cannot make a socket");
	(void)unlinkat(run_fd, file, 0);
	mode_t before = umask(0177);
	int failed = bind(bell->fd, (const struct sockaddr *)&a, sizeof(a));
	(void)umask(before);
	if (failed) {
		doorbell_clear(bell);
		return err_errno(e, ERR_AGAIN, "doorbell: cannot bind %s", file);
	}
	return 0;
}

void doorbell_drain(const struct doorbell *bell)
{
	char byte;

	while (recv(bell->fd, &byte, sizeof(byte), MSG_DONTWAIT) >= 0)
		continue;
}

void doorbell_clear(struct doorbell *bell)
{
	io_shut(&bell->fd);
}

static int ringer(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return fd;
}

static void ring_one(int run_fd, const char *name)
{
	struct sockaddr_un a = address(run_fd, name);

	(void)sendto(ringer(), "", 0, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&a,
	             sizeof(a));
}

static const char RUNNERS[] = "runner-"; /* how the names of those begin that run once per row */

static bool begins(const char *name, const char *begin)
{
	return strncmp(name, begin, strlen(begin)) == 0;
}

/* Rings the bells in the directory whose names begin with `begin`, and not with `without`. */
static void ring_those(int run_fd, const char *begin, const char *without)
{
	DIR *d = open_listing(run_fd);
	const struct dirent *entry;

	while (d && (entry = readdir(d)) != NULL) {
		size_t n = strlen(entry->d_name);
		char name[64];

		if (n <= sizeof(SUFFIX) - 1 || n >= sizeof(name) ||
		    strcmp(entry->d_name + n - (sizeof(SUFFIX) - 1), SUFFIX) != 0 ||
		    !begins(entry->d_name, begin) || (without && begins(entry->d_name, without)))
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", (int)(n - (sizeof(SUFFIX) - 1)),
		               entry->d_name);
		ring_one(run_fd, name);
	}
	if (d)
		(void)closedir(d);
}

void doorbell_ring(int run_fd, const char *name)
{
	if (strcmp(name, "runner") == 0)
		ring_those(run_fd, RUNNERS, NULL);
	else
		ring_one(run_fd, name);
}

void doorbell_ring_runner(int run_fd, int64_t run)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s%lld", RUNNERS, (long long)run);
	ring_one(run_fd, name);
}

void doorbell_ring_all(int run_fd)
{
	ring_those(run_fd, "", NULL);
}

void doorbell_ring_common(int run_fd)
{
	ring_those(run_fd, "", RUNNERS);
}
