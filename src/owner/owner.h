/* owner: a process that runs as the owner of a workspace, by way of as-owner (owner_line.h). */
#ifndef OWNER_H
#define OWNER_H

#include "err.h"
#include "owner_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What people are told, who can tell an administrator: which part does not answer, and where it
 * says why. %s: agent-intercom-owner, or agent-intercom-agents. */
#define OWNER_SILENT                                                                               \
	"the part of agent-intercom that works as the owner of folders (as-owner) does not "       \
	"answer; an administrator sees why with: systemctl status %s"
#define OWNER_UNIT_FILES "agent-intercom-owner"
#define OWNER_UNIT_AGENTS "agent-intercom-agents"

/* What is asked for. Borrowed; descriptors stay the caller's. */
struct owner_ask {
	enum owner_kind kind;
	uid_t uid;
	const char *workspace; /* NULL: none */
	const char *words[OWNER_WORDS]; /* up to the first NULL */
	const int *fds;
	size_t fd_count;
};

struct owner_process {
	int fd; /* the connection; -1: none */
	int pidfd; /* readable at its end; -1: not known yet. It cannot be signalled */
	pid_t pid;
	bool is_ready;
	bool is_held; /* as owner_start was told last */
};

#define OWNER_PROCESS_INIT                                                                         \
	{                                                                                          \
		.fd = -1, .pidfd = -1                                                              \
	}

/* Closes what is known of it; the process goes on as long as it has a socket to its asker. */
void owner_process_clear(struct owner_process *p);

/* Whether as-owner listens there; it need not have been started yet. */
bool owner_is_there(const char *socket);

/* Whether as-owner answers there within most_ms. 0; -1: ERR_AGAIN, why not. */
int owner_answers(const char *socket, int most_ms, struct err *e);

/* Asks, and does not wait. 0; -1: ERR_AGAIN. */
int owner_ask(const char *socket, const struct owner_ask *ask, struct owner_process *p,
              struct err *e);

/* e says that as-owner does not answer what was asked of this kind. Returns -1. */
int owner_say_silent(enum owner_kind kind, struct err *e);

/* Takes what as-owner has said, without waiting for it: 1 something new is in p, 0 nothing yet; -1:
 * ERR_REFUSED, with its words; ERR_AGAIN, the connection is gone, or the process has ended. */
int owner_hear(struct owner_process *p, struct err *e);

/* Asks, and waits until the process is ready. 0; -1: as owner_hear; ERR_AGAIN also if as-owner is
 * not there, or if that takes longer than most_ms: it, or the disk of the workspace, does not
 * answer. After -1 p->pid is that of a process which has begun and may run still; 0: there is none.
 */
int owner_start(const char *socket, const struct owner_ask *ask, int most_ms,
                struct owner_process *p, struct err *e);

/* Whether the process with this connection, which is ready, is held: its user has stopped it, or
 * has put it behind other processes. As-owner says so, whose child it is, since a fence keeps us
 * from /proc (and a reading from recvmsg). False also if it does not answer at once. */
bool owner_is_held(int fd);

#endif
