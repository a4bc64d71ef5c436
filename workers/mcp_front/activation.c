#include "activation.h"

#include "activation_fds.h"
#include "log.h"

#include <event2/util.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

void activation_take(struct activation *a)
{
	const char *text = getenv("LISTEN_FDS");
	long count = text ? strtol(text, NULL, 10) : 0;

	if (count > ACTIVATION_SOCKETS_MAX)
		count = ACTIVATION_SOCKETS_MAX;
	for (int fd = ACTIVATION_FIRST_FD; fd < ACTIVATION_FIRST_FD + count; fd++) {
		struct sockaddr_storage name = { .ss_family = AF_UNSPEC };
		socklen_t size = sizeof(name);
		int *place;

		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		(void)evutil_make_socket_nonblocking(fd);
		(void)getsockname(fd, (struct sockaddr *)&name, &size);
		place = name.ss_family == AF_UNIX ? &a->pipe_fd
		        : name.ss_family == AF_INET
		            ? &a->http_fd
		            : NULL; /* callers are identified over IPv4 only */
		if (place && *place < 0)
			*place = fd;
		else
			log_warn("a socket from systemd is not used (descriptor %d): only one Unix "
			         "socket, for relays, and one IPv4 socket, for HTTP, are",
			         fd);
	}
}

int activation_port(const struct activation *a)
{
	struct sockaddr_in name = { 0 };
	socklen_t size = sizeof(name);

	if (a->http_fd < 0 || getsockname(a->http_fd, (struct sockaddr *)&name, &size) != 0)
		return 0;
	return ntohs(name.sin_port);
}

int activation_listen(struct activation *a, struct event_base *base, evconnlistener_cb on_accept,
                      void *arg, struct err *e)
{
	if (a->pipe_fd < 0 || a->pipe)
		return 0;
	a->pipe = evconnlistener_new(base, on_accept, arg, LEV_OPT_CLOSE_ON_EXEC, 0, a->pipe_fd);
	return a->pipe ? 0 : err_set(e, ERR_AGAIN, "libevent does not take systemd's socket");
}

void activation_stop(struct activation *a)
{
	if (a->pipe)
		evconnlistener_free(a->pipe);
	a->pipe = NULL;
}
