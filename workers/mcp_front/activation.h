/* activation: listening sockets that systemd has opened, and that the supervisor hands on as
 * descriptors from 3 on ($LISTEN_FDS): a Unix socket for relays, besides the one in the run
 * directory, and one for HTTP, in place of http_port. */
#ifndef ACTIVATION_H
#define ACTIVATION_H

#include "err.h"

#include <event2/listener.h>

struct activation {
	int pipe_fd, http_fd; /* -1: none */
	struct evconnlistener *pipe;
};

#define ACTIVATION_INIT                                                                            \
	{                                                                                          \
		.pipe_fd = -1, .http_fd = -1                                                       \
	}

/* Sorts the descriptors. One that we have no use for is left alone. */
void activation_take(struct activation *a);
/* The port of the socket for HTTP, 0: there is none. */
int activation_port(const struct activation *a);
/* Accepts relays there, if there is such a socket; a second call does nothing. */
int activation_listen(struct activation *a, struct event_base *base, evconnlistener_cb on_accept,
                      void *arg, struct err *e);
/* Ends that; the socket stays open, in systemd. */
void activation_stop(struct activation *a);

#endif
