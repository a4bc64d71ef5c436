/* policy_file: the policy of each workspace in use, as its `.intercom/settings.json` stands now.
 *
 * The file is looked at (not read) whenever it is asked for, so that an edit, a rename, another
 * link or a directory that came later counts from the next question on; it is compiled once for
 * each of its versions. A file that cannot be read or is wrong denies everything, and says why. So
 * does one that somebody else may have written: a symlink; another owner's (root's is taken), or
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
	char said_hash[SHA256_BYTES]; /* of the version that was too wide to be asked about */
	char why[ERR_TEXT_BYTES]; /* why it is broken, "" if it is not */
	bool exists;
	bool changed; /* it is another one than was last written down; the caller resets */
	bool told; /* for the caller: it is in the log */
	bool watched; /* for the caller: it hears of changes */
	struct policy_seen seen;
	int64_t read_ms; /* unix */
};

/* All that are known, newest first. */
struct policy_files {
	LIST_HEAD(, policy_file) all;
};

/* The policy of a workspace; never NULL, valid until policy_files_clear. */
struct policy_file *policy_file_of(struct policy_files *files, const char *workspace_root);

void policy_files_clear(struct policy_files *files);

#endif
