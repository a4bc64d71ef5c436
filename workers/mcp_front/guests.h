/* guests: agents of other users. A system that serves them (shared.directory) has a second socket
 * for relays and hooks, <directory>/mcp.sock. Who may ask there: our own user, root, who is in the
 * group shared.agents, and mcp.allow_uids. */
#ifndef GUESTS_H
#define GUESTS_H

#include "err.h"

#include <event2/listener.h>
#include <stdbool.h>
#include <sys/types.h>

struct front;
struct peer;

struct guests {
	int dir_fd; /* of the directory; -1: the system serves its own user only */
	gid_t group; /* shared.agents */
	bool has_others; /* there is mcp.allow_uids, too */
	struct evconnlistener *listener;
};

#define GUESTS_INIT                                                                                \
	{                                                                                          \
		.dir_fd = -1                                                                       \
	}

/* Whether the system serves several users. */
bool guests_are_served(const struct front *f);
/* What a caller over HTTP is told who may not ask. */
const char *guests_refusal(const struct front *f);

/* Whether this user is one of mcp.allow_uids, or was in the group when we started. */
bool guests_have(const struct front *f, uid_t uid);

/* Finds directory and group; who is in the group may ask over HTTP, too. Before the fence. 0; -1:
 * ERR_INPUT, they are not as they must be. */
int guests_open(struct front *f, struct err *e);
/* Listens there. A second call does nothing. */
int guests_listen(struct front *f, evconnlistener_cb on_caller, struct err *e);
void guests_stop(struct front *f);

/* Whether the process that has connected the other end of fd, a Unix socket, may ask; *ret_uid: its
 * user. The kernel knows its groups: those that it had when it connected. */
bool guests_admit(const struct front *f, int fd, uid_t *ret_uid);

/* Notes whose peer it is: an agent of another user works only in folders of that user. */
void guests_mark(const struct front *f, struct peer *p, uid_t uid);

#endif
