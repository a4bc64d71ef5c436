/* hand: what a call needs to know about files, obtained from a separate process (workers/hand.c),
 * since a file system may hang and a file may be large. Defines the question and the findings, both
 * as bytes for a socket, and does the work itself.
 *
 * The findings are untrusted bytes: they come from where an agent's files were read.
 * hand_found_read accepts only what hand_work can have produced for the same question: names that
 * safe_path_clean accepts, hashes, known words, sizes within bounds. */
#ifndef HAND_H
#define HAND_H

#include "policy_file.h"
#include "proposal.h"
#include "refusal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HAND_SMALL_BYTES = 4 << 20, /* of all files, before and after: above this it is a big job */
	HAND_EFFECT_BYTES =
	    9 << 20, /* of the diff that is shown: a message of empty lines doubles */
	HAND_SHOWN_BYTES = 1000000, /* of a file that is shown: Slack accepts no larger snippet */
	HAND_SHOWN_FILES = 10,
	HAND_NAMES = PROPOSAL_FILES,
	HAND_LISTED = 1000, /* folders */
	HAND_SILENT_MS = 1000, /* how long another folder's disk is waited for */
	HAND_WORD_BYTES = 200, /* of why a folder cannot be a workspace */
	HAND_FOUND_BYTES = 24 << 20, /* of all findings; paths may be long */
};

/* What is unfit about a folder of another user that ours does not find, or may not look at. */
#define HAND_OTHER_TMP                                                                             \
	"missing for agent-intercom, which as a system service has a /tmp and a /var/tmp of its "  \
	"own"
#define HAND_CLOSED "where agent-intercom's own user may not look"

/* A question. Texts are borrowed; NULL: not asked. */
struct hand_ask {
	/* Where: */
	const char *given; /* where the agent was started: the workspace, unless it is none; */
	const char *root; /* otherwise this */
	bool judge; /* check that it may be a workspace, and its real name; else root is right */
	bool has_user; /* and that it belongs to this user */
	uid_t user;
	const char **listed; /* folders that the configuration names, at most HAND_LISTED */
	size_t listed_count;
	/* What: */
	bool policy;
	struct policy_known known; /* of the policy */
	const char *file_path, *body; /* of a proposal */
	size_t body_length;
	bool is_apart; /* body is not in the message, but in a file that goes with it */
	const char *edit_host,
	    *edit_event; /* or of a host's own edit tool: the input of its hook, */
	const char *edit; /* JSON (gate_edit.h); NULL: none */
	size_t edit_length;
	bool is_big; /* may need a lot of time and memory */
	const struct own_places *ours; /* as in struct proposal */
	size_t fuzz;
	const char *folder; /* absolute: where something is to run */
	const char *const *named; /* files that are only named, at most HAND_NAMES */
	size_t named_count;
	const char *always_ask; /* JSON list (always_ask.h): what of it is read with them
	                           (hand_reach.h), or is touched by the proposal */
	bool hashes; /* of what they contain, where that is not in the plan of edit */
	const char *shown[HAND_SHOWN_FILES]; /* files to read whole */
	size_t shown_count;
};

/* A file that was only named. */
struct hand_name {
	bool is_other; /* it is not in the workspace, */
	bool is_outside; /* by its text alone; else: */
	char *path; /* relative to the workspace; */
	char *target; /* what it stands for there; NULL: is_other */
	char *leads; /* absolute: where it leads instead; NULL: not known, or nowhere else */
	char hash[SHA256_BYTES]; /* if asked: of the file, or NO_FILE; "": it cannot be read */
	int links; /* names of that file, if it has several (hard links): then which file it is */
	int64_t device, inode;
	char *reaches; /* absolute: beneath it, or another name of what is read, covered by
	                  ask.always_ask; NULL: nothing is; or: */
	bool is_vast; /* there is more beneath it than is looked through */
};

struct hand_file {
	struct str bytes;
	char *why; /* why it cannot be shown, or NULL */
};

/* The findings; owns everything it points to. */
struct hand_found {
	char *root; /* the real name of the workspace */
	char *unfit; /* why it cannot be one, or NULL */
	int64_t owner; /* its user, if ask.judge; -1: not known */
	bool is_given; /* it is ask.given */
	bool is_listed; /* the configuration names it */
	char *within; /* the innermost folder of ask.listed that contains it, as written there, or
	               * NULL
	               */
	int silent; /* number of the folder in ask.listed whose disk did not say what it is; -1:
	               none */
	bool is_too_big; /* nothing else was examined: ask again with is_big */
	bool has_policy;
	struct policy_look policy;
	struct refusal why; /* of the proposal; code NULL: none */
	struct plan plan; /* of the proposal: for each file what is stored (struct touched) */
	struct str effect;
	char *folder; /* the real name of ask.folder, NULL: not known; */
	bool has_folder; /* it is in the workspace, and in no protected place */
	struct hand_name *names; /* in the order of ask.named */
	size_t name_count;
	struct hand_file shown[HAND_SHOWN_FILES];
	size_t shown_count;
};

#define HAND_FOUND_INIT                                                                            \
	{                                                                                          \
		.owner = -1, .silent = -1, .policy = POLICY_LOOK_INIT                              \
	}

/* The folders of hand_ask.listed: usual ("": none), and the path of each [[workspace]]. The caller
 * frees the list; the texts remain those of usual and workspaces. */
const char **hand_listed(const char *usual, const cJSON *workspaces, size_t *ret_count);

void hand_found_clear(struct hand_found *found);
void hand_names_free(struct hand_name *names, size_t count);

/* Whether there is anything to find out. */
bool hand_asks(const struct hand_ask *ask);

/* Does what looks beyond the workspace, before a fence keeps the rest in it: finds found->root, or
 * unfit; the folder; where the names lead, what they reach, and the hashes of files elsewhere.
 * found must be fresh.
 */
void hand_look_around(const struct hand_ask *ask, struct hand_found *found);
/* Does the rest, all of it in found->root. Failures are reported in found. watch_fd: as for
 * policy_look. */
void hand_work(const struct hand_ask *ask, int watch_fd, struct hand_found *found);

/* As a message, prefixed with its length. */
void hand_ask_write(const struct hand_ask *ask, struct str *out);
void hand_found_write(const struct hand_ask *ask, const struct hand_found *found, struct str *out);

/* Takes a message without its length from a socket that blocks, whose other end is trusted. False:
 * the other end is gone. */
bool hand_ask_take(int fd, struct str *message);
/* Parses a message without its length. What ask points to is in the message, or owned by it
 * (hand_ask_release). 0 or -1. */
int hand_ask_read(const struct str *message, struct hand_ask *ask);
void hand_ask_release(struct hand_ask *ask);
/* Takes ownership of the message. 0; or -1: it is not an answer to this question. found must be
 * fresh. */
int hand_found_read(const struct hand_ask *ask, struct str *message, struct hand_found *found);

#endif
