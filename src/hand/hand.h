/* hand: what a call needs to know of files, asked of a process of its own (workers/hand.c), since a
 * file system may hang, and a file may be large. Here what is asked, what is found, both as bytes
 * for a socket, and the work itself.
 *
 * What comes back are foreign bytes: they were made where an agent's files were read.
 * hand_found_read takes only what hand_work can have made of the same question: names that
 * safe_path_clean takes, hashes, known words, sizes within bounds. */
#ifndef HAND_H
#define HAND_H

#include "policy_file.h"
#include "proposal.h"
#include "refusal.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	HAND_SMALL_BYTES = 4 << 20, /* of all files, before and after: more is a big job */
	HAND_EFFECT_BYTES =
	    9 << 20, /* of the diff that is shown: a message of empty lines doubles */
	HAND_SHOWN_BYTES = 1000000, /* of a file that is shown: more Slack takes as no snippet */
	HAND_SHOWN_FILES = 10,
	HAND_LISTED = 1000, /* folders */
	HAND_SILENT_MS = 1000, /* another folder's disk is waited for so long */
	HAND_WORD_BYTES = 200, /* of why a folder is no workspace */
	HAND_FOUND_BYTES = 24 << 20, /* of all that is found; paths may be long */
};

/* A question. Texts are borrowed; NULL where nothing is asked. */
struct hand_ask {
	/* Where: */
	const char *given; /* where the agent was started: the workspace, unless it is none; */
	const char *root; /* then this */
	bool judge; /* whether it may be a workspace, and its real name; else root is right */
	const char **listed; /* folders that the configuration names, at most HAND_LISTED */
	size_t listed_count;
	/* What: */
	bool policy;
	struct policy_known known; /* of the policy */
	const char *file_path, *body; /* of a proposal */
	size_t body_length;
	bool is_big; /* it may take long and much memory */
	const char *database; /* as in struct proposal, */
	char *const *ours; /* too */
	size_t fuzz;
	const char *named; /* a file of the workspace that is only named */
	const char *shown[HAND_SHOWN_FILES]; /* files to be read whole */
	size_t shown_count;
};

struct hand_file {
	struct str bytes;
	char *why; /* it cannot be shown, or NULL */
};

/* What was found; owns all it points to. */
struct hand_found {
	char *root; /* the workspace by its real name */
	char *unfit; /* why it is none, or NULL */
	bool is_given; /* it is ask.given */
	bool is_listed; /* the configuration names it */
	int silent; /* number of the folder in ask.listed whose disk did not say what it is; -1:
	               none */
	bool is_too_big; /* nothing else was looked at: ask again with is_big */
	bool has_policy;
	struct policy_look policy;
	struct refusal why; /* of the proposal; code NULL: it is none */
	struct plan plan; /* of the proposal: of each file what is stored (struct touched) */
	struct str effect;
	bool names_other; /* ask.named is none of the workspace */
	char *named_path, *named_target;
	struct hand_file shown[HAND_SHOWN_FILES];
	size_t shown_count;
};

#define HAND_FOUND_INIT                                                                            \
	{                                                                                          \
		.silent = -1, .policy = POLICY_LOOK_INIT                                           \
	}

void hand_found_clear(struct hand_found *found);

/* The work. Whatever cannot be done is told in found, which must be fresh. watch_fd: as policy_look
 * takes it. */
void hand_work(const struct hand_ask *ask, int watch_fd, struct hand_found *found);

/* As a message, length in front. */
void hand_ask_write(const struct hand_ask *ask, struct str *out);
void hand_found_write(const struct hand_ask *ask, const struct hand_found *found, struct str *out);

/* Of a message without its length. What ask points to is the message's, or owned by it:
 * hand_ask_release. 0 or -1. */
int hand_ask_read(const struct str *message, struct hand_ask *ask);
void hand_ask_release(struct hand_ask *ask);
/* Takes over the message. 0; or -1, it is no answer to this question. found must be fresh. */
int hand_found_read(const struct hand_ask *ask, struct str *message, struct hand_found *found);

#endif
