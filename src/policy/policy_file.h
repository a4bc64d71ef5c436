/* policy_file: the policy of each workspace in use, as its `.intercom/settings.json` stands now.
 *
 * The file is looked at (not read) whenever it is asked for, so that an edit, a rename, another
 * link or a directory that came later counts from the next question on; it is compiled once for
 * each of its versions. A file that cannot be read or is wrong denies everything, and says why. So
 * does one that someone else may have written: a symlink; another owner's (root's is taken), or
 * one that its group or every user may write; in a folder of which that holds; in a workspace
 * whose folder every user may write (a sticky one but they may not). */
#ifndef POLICY_FILE_H
#define POLICY_FILE_H

#include "policy.h"
#include "sha256.h"

#include <sys/queue.h>
#include <sys/stat.h>

#define POLICY_FILE ".intercom/settings.json"

/* What stood under the file's name when it was looked at. */
struct policy_seen {
	struct stat root, folder, file; /* the latter two: of a link itself */
};

/* What is known of a workspace's file: so that it need not be read again. */
struct policy_known {
	bool exists;
	struct policy_seen seen;
	int64_t read_ms; /* unix; 0: it has never been looked at */
	int64_t look; /* the number of this look: a later one may end before it */
};

/* The file as it was found: all that touches the file system is in policy_look, which a process of
 * its own may do (hand.h). */
struct policy_look {
	bool fresh; /* it is as it was known */
	struct policy_known known; /* what is known from here on */
	char why[ERR_TEXT_BYTES]; /* why it is refused, or "" */
	struct str bytes; /* its content, if it was read */
	int root_watch, folder_watch; /* numbers of inotify; -1: not watched */
};

#define POLICY_LOOK_INIT                                                                           \
	{                                                                                          \
		.root_watch = -1, .folder_watch = -1                                               \
	}

void policy_look_clear(struct policy_look *look);

struct policy_file {
	LIST_ENTRY(policy_file) next;
	char *workspace_root; /* owned */
	struct policy *policy; /* NULL: there is none, or it is broken */
	char hash[SHA256_BYTES]; /* of its content; "" where there is none */
	struct str bytes; /* its content, while changed */
	struct policy
	    *trusted; /* the version that a person trusted last (policy_trust.h), or NULL */
	char trusted_hash[SHA256_BYTES];
	bool counts; /* for the caller: it need not be trusted */
	struct str widening; /* what it newly allows, for the question about it; of this version: */
	char widening_hash[SHA256_BYTES];
	bool widening_is_shown; /* it is not too much for a message */
	char said_hash[SHA256_BYTES]; /* of the version that was too wide to be asked about */
	char why[ERR_TEXT_BYTES]; /* why it is broken, "" if it is not */
	bool exists;
	bool changed; /* it is another one than was last written down; the caller resets */
	bool told; /* for the caller: it is in the log */
	int root_watch, folder_watch; /* for the caller: as in struct policy_look */
	bool is_looked_at, looks_again; /* for the caller: a look is under way, and another due */
	struct policy_known known;
};

/* All that are known, newest first. */
struct policy_files {
	LIST_HEAD(, policy_file) all;
	int64_t looks; /* how many were begun */
};

/* Looks at the file of a workspace. watch_fd: of an inotify, which is to hear of its changes; -1:
 * none is. look must be fresh; the caller clears it. */
void policy_look(const char *workspace_root, const struct policy_known *known, int watch_fd,
                 struct policy_look *look);

/* The policy of a workspace as it was last taken; never NULL, valid until policy_files_clear. */
struct policy_file *policy_file_known(struct policy_files *files, const char *workspace_root);
/* Takes what was found, unless a later look was taken before; the content goes over to f. */
void policy_file_take(struct policy_file *f, struct policy_look *look);
/* Both: the policy of a workspace as it is now. */
struct policy_file *policy_file_of(struct policy_files *files, const char *workspace_root);

void policy_files_clear(struct policy_files *files);

#endif
