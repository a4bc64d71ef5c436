#include "port_holder.h"

#include "texts.h"
#include "user_name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTENS = 0x0A, /* TCP_LISTEN, as /proc/net/tcp prints it */ ADDRESS_BYTES = 33 };

/* In the byte order of this machine, as the kernel prints them; those that include 127.0.0.1. */
static bool includes_loopback(const char *address)
{
	static const char *const ADDRESSES[] = { "0100007F", "7F000001", "00000000",
		                                 "00000000000000000000000000000000", NULL };

	return texts_name(ADDRESSES, address);
}

/* "  0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 ..." */
static bool is_holder(const char *line, int port, uid_t *ret_uid)
{
	char address[ADDRESS_BYTES];
	unsigned at, state, uid;

	if (sscanf(line, " %*[0-9]: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u",
	           address, &at, &state, &uid) != 4 ||
	    at != (unsigned)port || state != LISTENS || !includes_loopback(address))
		return false;
	*ret_uid = uid;
	return true;
}

static bool find_in(const char *path, int port, uid_t *ret_uid)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && !found && getline(&line, &size, f) > 0)
		found = is_holder(line, port, ret_uid);
	free(line);
	if (f)
		(void)fclose(f);
	return found;
}

bool port_holder(int port, uid_t *ret_uid)
{
	return find_in("/proc/net/tcp", port, ret_uid) || find_in("/proc/net/tcp6", port, ret_uid);
}

bool port_holder_is_other(int port)
{
	uid_t uid;

	return port_holder(port, &uid) && uid != 0 && uid != geteuid();
}

void port_holder_tell(int port, struct str *out)
{
	uid_t uid;
	char *name;

	if (!port_holder(port, &uid)) {
		str_add(out, "a program that does not listen there");
		return;
	}
	name = user_name(uid);
	str_add(out, name);
	free(name);
}

int port_try(int port)
{
	const struct sockaddr_in a = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port),
		                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int on = 1;
	int failed = fd < 0 ? errno : 0;

	if (failed)
		return failed;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&a, sizeof(a)) != 0)
		failed = errno;
	(void)close(fd);
	return failed;
}
