/* socket: Unix sockets in the run directory, for programs of our own user. */
#ifndef SOCKET_H
#define SOCKET_H

#include "err.h"

#include <event2/listener.h>
#include <stdbool.h>

struct front;

/* Whether the process at the other end of a Unix socket runs under our uid. */
bool socket_is_ours(int fd);
/* Listens on a Unix socket of this name (mode 0600) in the run directory; NULL on error. */
struct evconnlistener *socket_listen(struct front *f, const char *name, evconnlistener_cb on_caller,
                                     struct err *e);

#endif
