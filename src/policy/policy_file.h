/* policy_file: the current policy of each workspace in use, from its `.intercom/settings.json`.
 *
 * The file is looked at (not read) at every use, so that an edit, a rename, another link or a new
 * directory counts from the next request on; each version is compiled once. A file that cannot be
 * read or is wrong denies everything, and says why. So does a file that somebody else may have
 * written: a symlink; a file of another owner (root is accepted), or one that every user may write,
 * or a group of more than the owner; a file in such a folder; a file in a workspace whose folder
 * every user may write (unless it is sticky). */
#ifndef POLICY_FILE_H
#define POLICY_FILE_H

#include "policy.h"
#include "sha256.h"

#include <sys/queue.h>
#include <sys/stat.h>

#define POLICY_FILE ".intercom/settings.json"

/* What was under the file's name when it was looked at. */
struct policy_seen {
	struct stat root, folder, file; /* the latter two: of a link itself */
};

/* What is known about a workspace's file, so that it need not be read again. */
struct policy_known {
	bool exists;
	struct policy_seen seen;
	int64_t read_ms; /* unix; 0: never looked at */
	int64_t look; /* the number of this look: a later one may end first */
};

/* The file as found: only policy_look touches the file system, possibly in a separate process
 * (hand.h). */
struct policy_look {
	bool fresh; /* unchanged from what was known */
	struct policy_known known; /* what is known from now on */
	char why[ERR_TEXT_BYTES]; /* why it is refused, or "" */
	struct str bytes; /* its content, if it was read */
	int root_watch, folder_watch; /* inotify's numbers; -1: not watched */
};

#define POLICY_LOOK_INIT                                                                           \
	{                                                                                          \
		.root_watch = -1, .folder_watch = -1                                               \
	}

void policy_look_clear(struct policy_look *look);

struct policy_file {
	LIST_ENTRY(policy_file) next;
	char *workspace_root; /* owned */
	struct policy *policy; /* NULL: none, or broken */
	char hash[SHA256_BYTES]; /* of its content; "": none */
	struct str bytes; /* its content, while changed */
	struct policy
	    *trusted; /* the version that a person last trusted (policy_trust.h), or NULL */
	char trusted_hash[SHA256_BYTES];
	bool counts; /* for the caller: it needs no trust */
	struct str widening; /* what it newly allows, for the request about it; of this version: */
	char widening_hash[SHA256_BYTES];
	bool widening_is_shown; /* it is not too long for a message */
	char said_hash[SHA256_BYTES]; /* of the version that was too wide to ask about */
	char why[ERR_TEXT_BYTES]; /* why it is broken, "" if it is not */
	bool exists;
	bool changed; /* differs from the version last recorded; the caller resets it */
	bool told; /* for the caller: it has been logged */
	int root_watch, folder_watch; /* for the caller: as in struct policy_look */
	bool is_looked_at, looks_again; /* for the caller: looking now, and once more */
	struct policy_known known;
};

/* All that are known, newest first. */
struct policy_files {
	LIST_HEAD(, policy_file) all;
	int64_t looks; /* how many have been started */
	int64_t missed; /* how many had been when a change came in a folder that none is known to
	                   watch */
};

/* Looks at the file of a workspace. watch_fd: of an inotify that is to report its changes; -1:
 * none. look must be fresh; the caller clears it. */
void policy_look(const char *workspace_root, const struct policy_known *known, int watch_fd,
                 struct policy_look *look);

/* The policy of a workspace as last adopted; never NULL, valid until policy_files_clear. */
struct policy_file *policy_file_known(struct policy_files *files, const char *workspace_root);
/* Adopts what was found, unless a later look has been adopted; the content moves to f. */
void policy_file_take(struct policy_file *f, struct policy_look *look);
/* Both: the current policy of a workspace. */
struct policy_file *policy_file_of(struct policy_files *files, const char *workspace_root);

void policy_files_clear(struct policy_files *files);

#endif
