/* as_owner: shared by the files of the process as-owner. */
#ifndef AS_OWNER_H
#define AS_OWNER_H

#include "owner_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Who is who. */
struct parties {
	uid_t service; /* whose processes may ask */
	gid_t agents; /* the group of those as whom something may run */
	const char *agents_name;
	bool starts_agents; /* the kinds that it starts: is_agents */
	gid_t operators; /* what is started is never in this group; (gid_t)-1: there is none */
};

/* What as-owner starts. */
struct wish_kind {
	const char *program; /* beside as-owner */
	size_t fd_count; /* descriptors of the asker */
	bool is_agents; /* it starts what an agent or an operator orders, and not only our own
	                   program: as-owner of --starts agents */
	bool has_workspace; /* it gets the open workspace, which must be the user's */
	bool (*has_words)(const char *const *words); /* whether they are its arguments */
};
extern const struct wish_kind WISH_KINDS[OWNER_KINDS];

/* A wish that has been checked; its texts are in the message. */
struct wish {
	enum owner_kind kind;
	uid_t uid;
	const char *workspace; /* "" if the kind has none */
	const char *words[OWNER_WORDS + 1];
	int fds[OWNER_FDS];
	size_t fd_count;
};

/* Reads a message. NULL; or why it is refused. fds: those that came with it, of which w keeps
 * copies. */
const char *wish_read(char *bytes, size_t length, const int *fds, size_t fd_count, struct wish *w);

/* In a child of as-owner: becomes that user for good, checks the workspace, and executes the
 * program. conn: where a refusal is told. programs: the folder of the programs. */
__attribute__((noreturn)) void child_become(const struct parties *who, const struct wish *w,
                                            int conn, const char *programs);

/* Tells the asker; pidfd: goes with it, -1: none. */
void said_send(int conn, const struct owner_said *said, int pidfd);

#endif
