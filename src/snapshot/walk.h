/* walk: reads a workspace into objects and a manifest.
 *
 * Every regular file, tracked by git or not, every symbolic link (as a link) and every directory,
 * except `.git` and `.intercom` in any case, and what .gitignore files (and .git/info/exclude)
 * ignore, unless it is asked for. A directory that has nothing but what is ignored is ignored, too.
 * What cannot be held is named in the manifest with the reason (ENTRY_LEFT_OUT) and not followed:
 * FIFOs, sockets, devices, mount points, what cannot be read, what belongs to agent-intercom, what
 * a write may have in hand (safe_path_is_temp), what keeps changing while it is read. Owners,
 * times, extended attributes, hard links and holes (sparse files are read whole) are not kept.
 *
 * Everything is opened below the descriptor of its directory, without following links. A file that
 * changes while it is read is read again, up to WALK_TRIES times. One that somebody wrote just now
 * is read when it has rested for WALK_REST_MS: a write that goes on marks the file at its begin
 * only, and on a clock of ticks the next one may leave the same mark. Memory holds the names of the
 * directories on the way. Whoever calls it may have to wait for a disk: do it in a process that can
 * be killed. */
#ifndef WALK_H
#define WALK_H

#include "manifest.h"
#include "own_places.h"

enum {
	WALK_TRIES = 3,
	WALK_REST_MS = 20, /* above a tick of the kernel's, and what a write of some MB takes */
	WALK_DEPTH = 200, /* directories below each other; each holds a descriptor */
};

struct walk_options {
	bool ignored; /* hold what .gitignore ignores, too */
	const char *also; /* a manifest in the same objects: what it holds is held, too, ignored or
	                     not, and what is ignored since is left out by name; or NULL */
	uint64_t most_files; /* entries of any kind */
	uint64_t most_bytes; /* of all files */
	const struct own_places *ours; /* are left out; or NULL */
};

struct walk_result {
	struct sha256 manifest; /* of the root; on disk */
	struct manifest_sum sum;
	uint64_t added; /* bytes that the objects grew by */
	uint64_t read; /* files that were read, because no cache knew them */
};

/* Reads the workspace root, an absolute real path, into o. 0; or -1 and there is no manifest, not
 * half of one: ERR_INPUT (more than the options allow, no such folder; a retry cannot help) or
 * ERR_AGAIN. */
int walk_workspace(const char *root, struct objects *o, const struct walk_options *options,
                   struct walk_result *result, struct err *e);

#endif
