/* archive: the archivist's state, which its readers inherit. */
#ifndef ARCHIVE_H
#define ARCHIVE_H

#include "filer.h"
#include "own_places.h"
#include "sha256.h"
#include "str.h"
#include "walk.h"
#include "worker.h"

enum { READERS = 3 /* workspaces read at once: more would only compete for the disk */ };

/* In place of a workspace: its reader deletes objects, or looks through them. */
#define KEEPER ""

/* Bytes that a user's readings have stored for no checkpoint, and that are not deleted yet. */
struct leftover {
	uid_t uid;
	uint64_t bytes;
};

/* A process that reads a workspace. */
struct reader {
	pid_t pid; /* 0: free */
	int out; /* what it reports */
	char *root; /* KEEPER: it deletes objects */
	struct filer_owner owner; /* another user: read through a hand of theirs */
	int64_t end_ms; /* monotonic: killed at */
	bool late; /* it was */
	struct str answer;
};

struct archive {
	struct worker *w;
	struct str folder; /* of the objects */
	struct own_places ours; /* files of agent-intercom, also below a workspace */
	struct reader readers[READERS];
	struct walk_options options;
	uint64_t most_added, reserve; /* of objects */
	uint64_t most_held; /* by the checkpoints of another user's folders */
	struct str theirs; /* the manifests of the one whose folder is read next */
	uint64_t at_most; /* what these hold, if no two hold the same */
	struct leftover *leftovers;
	size_t leftover_count;
	int64_t seconds;
	int64_t again_ms; /* monotonic: not before */
	int64_t keep_ms; /* monotonic: when objects are deleted next */
	struct str manifests; /* what the keeper keeps */
	bool looks; /* the keeper looks through objects */
	int64_t look_ms; /* monotonic: when it does next */
	char looked_at[SHA256_BYTES]; /* the last object that it read, or "" */
	struct instant look_began;
	struct str found; /* what it found so far */
	char compared[SHA256_BYTES]; /* the manifest that the next workspace is compared with, or ""
	                              */
};

#endif
