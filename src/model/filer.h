/* filer: the hand (files.h) of a workspace of another user, by way of as-owner. */
#ifndef FILER_H
#define FILER_H

#include "owner.h"
#include "store.h"
#include "str.h"

/* Whose a workspace is, and by whom calls there are made. */
struct filer_owner {
	bool is_other; /* another user than ours: */
	uid_t uid;
	struct str socket; /* of as-owner, which makes a hand of theirs. "": it is not there, and
	                      our own user makes the calls, as far as access lists let it */
};

/* 0 or -1. o is all zero, or has the owner of before. Of a workspace that nobody has met yet it has
 * the socket alone. */
int filer_find_owner(struct store *st, const char *machine, const char *root, struct filer_owner *o,
                     struct err *e);
void filer_owner_clear(struct filer_owner *o);
/* Of a workspace that nobody has met yet, which is closed to us: its owner is who has the folder,
 * or the folder that closes it. May wait for its disk. */
void filer_guess_owner(const char *root, struct filer_owner *o);
/* Whether a hand makes the calls there. */
bool filer_has_hand(const struct filer_owner *o);

struct filer {
	struct owner_process process;
	int socket; /* -1: there is none */
	pid_t own; /* in tests: a child of ours is the hand */
};

#define FILER_INIT                                                                                 \
	{                                                                                          \
		.process = OWNER_PROCESS_INIT, .socket = -1                                        \
	}

struct filer_place {
	const char *socket; /* of as-owner */
	uid_t uid;
	const char *root; /* the workspace, which must belong to uid */
	const char *fence; /* the mode, for filer's own fence */
	int lock; /* of the workspace: held until its last call has ended */
};

/* Starts it, and lets it make all calls of files.h from here on. 0; -1: as owner_start, with pid in
 * f->process. */
int filer_start(struct filer *f, const struct filer_place *place, struct err *e);

/* It does not answer: lets it go. Returns a descriptor that hangs up when it ends. */
int filer_leave(struct filer *f);

/* Lets it go; calls are made here again. */
void filer_clear(struct filer *f);

/* Whether tests want a hand of our own user ($INTERCOM_FILES is "hand"). */
bool filer_is_forced(void);

#endif
