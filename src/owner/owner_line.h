/* owner_line: how the system asks as-owner for a process that runs as another user, over a Unix
 * socket with messages (SOCK_SEQPACKET). One connection is one process:
 *   asker -> as-owner  struct owner_wish, then texts, each ended by a NUL byte: the absolute path
 *                      of the workspace ("" if the kind has none), and the arguments of the
 *                      kind; with them its descriptors (SCM_RIGHTS)
 *   as-owner -> asker  OWNER_STARTED with the pid, and its pidfd (SCM_RIGHTS), and OWNER_READY:
 *                      it is that user, the workspace is that user's, and the program is
 *                      executed; in any order; at the end OWNER_ENDED with its status, as
 *                      waitpid(2) gives it. Or OWNER_REFUSED with words, in place of READY, or
 *                      of both
 *   asker -> as-owner  from STARTED on, OWNER_QUESTION: whether its user keeps it from running
 *   as-owner -> asker  OWNER_STATE, 1: yes, 0: no
 *
 * A wish of the kind OWNER_CALL, without texts, is answered with OWNER_READY and nothing else:
 * as-owner is there.
 *
 * Closing the connection ends nothing: as-owner may not signal other users' processes. What it
 * starts has a descriptor of the asker's, and ends when that is closed.
 *
 * The process has /dev/null as stdin and stdout, the stderr of as-owner, then the descriptors of
 * the asker in their order, from OWNER_FIRST_FD on, and after them the open workspace. */
#ifndef OWNER_LINE_H
#define OWNER_LINE_H

#include <stdint.h>

enum {
	OWNER_VERSION = 2,
	OWNER_FIRST_FD = 3,
	OWNER_FDS = 4, /* at most, of the asker */
	OWNER_BYTES = 16384, /* of a wish */
	OWNER_WORDS = 4, /* arguments, at most */
	OWNER_TEXT_BYTES = 400,
};

/* What is started: a program beside as-owner. To add one: its row of WISH_KINDS in
 * workers/as_owner/wish.c. */
enum owner_kind {
	OWNER_READER, /* hand: reads files for mcp-front or a runner; no workspace: it is told one
	                 with each job */
	OWNER_KEEPER, /* keeper: keeps an agent or a command in the workspace (keeper_line.h) */
	OWNER_SWEEPER, /* keeper: kills what is left of one; no workspace */
	OWNER_FILER, /* filer: changes files in the workspace; the asker, and a lock that it holds
	              */
	OWNER_KINDS,
	OWNER_CALL = 255
};

struct owner_wish {
	uint32_t version, kind, uid;
};

#define OWNER_QUESTION '?'

enum owner_what { OWNER_STARTED = 1, OWNER_READY, OWNER_REFUSED, OWNER_ENDED, OWNER_STATE };

struct owner_said {
	uint32_t what;
	int32_t number; /* pid, status, state, or errno of a refusal (0: none) */
	char text[OWNER_TEXT_BYTES]; /* of a refusal: why, without a full stop, to be told to people
	                              */
};

#endif
