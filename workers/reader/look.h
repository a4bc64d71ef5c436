/* look: what one look into a workspace finds. The work is done in a process of its own, which
 * answers through a pipe: a disk may hang, and a folder may be huge. */
#ifndef LOOK_H
#define LOOK_H

#include "filer.h"
#include "own_places.h"
#include "sql/file_look.h"
#include "str.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	LOOK_DEADLINE_MS = 10000, /* of a look; nobody waits longer for a list of names */
	LOOK_FOUND_BYTES = 32 << 20, /* of an answer; names may be long */
	LOOK_INLINE_LINES = 40, /* of a tree in a message */
	LOOK_INLINE_CHARACTERS = 3500, /* of a text in a message */
};

/* Owns its texts. */
struct look_found {
	char *why; /* why it is refused, or NULL */
	char *detail; /* JSON */
	struct str text;
	bool is_long;
	bool has_hand; /* of another user, which may not have ended */
};

/* What is looked at. Texts are borrowed. */
struct look_order {
	const struct file_look_claim_row *row;
	const struct file_look_sides_row *sides; /* of a diff */
	const char *objects; /* the folder of their content */
	const struct own_places *ours; /* are not shown */
	const struct filer_owner *owner; /* of the workspace */
};

/* Starts the process, which reads and does nothing else; it ends with us. Returns its pid, and the
 * end of the pipe to read from in *ret_fd; -1, with errno. In a workspace of another user it looks
 * through a hand of theirs: *ret_tie hangs up when both have ended; else it is -1. */
pid_t look_start(const struct look_order *o, int *ret_fd, int *ret_tie);

/* Parses what came through the pipe. found must be fresh. 0, or -1: it is no answer. */
int look_read(const struct str *answer, struct look_found *found);
void look_found_clear(struct look_found *found);

#endif
