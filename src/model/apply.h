/* apply: jobs that write approved changes into workspaces, or take a write back. One job at a time,
 * oldest first; of its files all or none:
 *
 *   lock the workspace, claim (commit 1), look for a predecessor's journal, check the digest of
 *   what was shown, plan every file and check its hash, journal the intent and the old contents
 *   (commit 2), stage everything next to its target, synced, journal that (commit 3), check
 *   everything once more, put it in place (first the writes, then the removals), sync, remove the
 *   old files, sync, settle (commit 4).
 *
 * After a kill at any point, the next claim finds the journal and acts on it and on the hashes.
 *   Planned: nothing is in place; hidden files may be partial. They are removed, and the job is
 *     redone. (If all targets are as intended: settled.)
 *   Staged: all hidden files are complete. The hashes of the target and of the hidden file tell
 *     what is in place. The rest is put in place, too. If somebody else has changed a file in the
 *     meantime, what is in place is taken back instead, and the job is refused as patch_conflict.
 * Until the first file is in place, giving up costs nothing; until the last one is, what is in
 * place can be taken back, because the old files have hidden names. The point of no return is the
 * first removal of an old file, once all files are in place and, if there are several, synced; a
 * missing old file therefore proves that. Meanwhile a reader may see some files old and some new;
 * each one is always complete.
 *
 * Assumptions about the file system: a rename is atomic; what was fsynced, and the names of a
 * directory that was fsynced after their change, survive a power failure; of renames not yet
 * synced, any subset may survive. Nobody else touches hidden names (".intercom-", 16 random digits,
 * ".tmp" or ".old"): removing a staged file makes the job start over, removing an old file while
 * others are put in place makes it impossible to take the change back.
 *
 * A claim is numbered and each commit names it: a job that was claimed again is no longer ours.
 * At most APPLY_ATTEMPTS_MAX claims do work; what follows only tidies up after the last death and
 * settles the job as dead: the next one, unless it dies, too, and at most APPLY_TIDIES_MAX. If the
 * machine is short of a resource (descriptors, memory), the job is put back for a moment; a full
 * disk, a quota or a read-only file system is reported at once, because somebody has to act. The
 * request stays approved when its job is refused, so that check_diff can be called again.
 *
 * A disk that does not answer (a hung mount) is detected by a separate process, before any file is
 * touched. The job is put back, others continue, and the next try costs nothing while the disk is
 * silent; after APPLY_ATTEMPTS_MAX tries the job is refused. A disk that falls silent later blocks
 * the applier until it is replaced; then jobs of other workspaces come first.
 *
 * What is written as another user waits for that user's processes, whom everybody else waits for,
 * too. One that is held is let go at once, a silent one after FILES_PATIENCE_MS; then, and after a
 * long job for which others have waited, the jobs of that user rest for ten times as long as that
 * took, so that nine tenths of the time are for others.
 *
 * A fence keeps the applier from every workspace that was not known when it began, and from one
 * that is no longer the folder that it was (replaced, unmounted). Nothing is claimed in the former;
 * in the latter, the job is put back. Both wait for a successor, which knows them, and is started
 * at once.
 *
 * An undo is the inverse of an earlier write: only if no file has changed since, and never by
 * force. Directories that the write had made are removed if they are empty. Owner and attributes of
 * a deleted file are not kept; those of a renamed file come back from its new name. */
#ifndef APPLY_H
#define APPLY_H

#include "file_change.h"
#include "own_places.h"
#include "roots.h"
#include "store.h"

enum {
	APPLY_ATTEMPTS_MAX = 3,
	APPLY_TIDIES_MAX = 10,
	APPLY_WAITING_MAX = 16,
	APPLY_WORKSPACES_MAX = 500, /* without an open job that its fence lets it write */
	APPLY_UNDO_BYTES = 10 << 20, /* setting undo_limit_bytes, where it is missing */
};

/* The applier's context. Texts are borrowed. */
struct applier {
	struct store *store;
	const char *machine;
	const char *worker_id;
	const char *database; /* canonical path, or NULL */
	struct own_places *ours; /* are not written, and looked at for each job; or NULL */
	int run_fd; /* the directory with the lock files of workspaces */
	const struct roots *workspaces; /* that its fence lets it write; or NULL: all */
	bool is_fenced_off; /* there is a job in another one: a successor can do it */
	struct {
		int64_t seq; /* of a job that was put back, 0: free */
		int64_t due_ms; /* monotonic: not before then */
	} waiting[APPLY_WAITING_MAX];
	struct {
		char *root; /* of a workspace whose disk does not answer; owned; NULL: free */
		int left_fd; /* hangs up when it answers */
	} silent[APPLY_WAITING_MAX];
	struct {
		uid_t uid; /* of a user for whom others have waited too long */
		int64_t due_ms; /* monotonic: their jobs rest until then; 0: free */
	} resting[APPLY_WAITING_MAX];
	char *answered; /* the last workspace whose disk answered; owned */
	int64_t answered_ms; /* monotonic */
};

/* Adds those in which there may be something to do: the workspaces of open jobs and of sessions. 0
 * or -1. */
int apply_workspaces(struct store *st, const char *machine, struct roots *into, struct err *e);

/* Forgets what it knows about disks. Borrowed members stay. */
void applier_clear(struct applier *a);

/* The outcome of a job, for the log. */
struct apply_report {
	int64_t seq;
	int attempts;
	const char *state; /* applied, undone, refused, dead, queued (put back), kept (the rules
	                      refuse the settlement: it rests), left (it stays claimed: the hand of
	                      the workspace's owner was lost, and the job is looked at again as
	                      after a crash), or lost: no longer ours */
	bool forced; /* a changed file was overwritten */
	bool recovered; /* a predecessor had already renamed it */
	int64_t rests_ms; /* so long rest the jobs of the workspace's owner, 0: they do not */
	bool beside; /* another applier has claimed a job in the meantime */
	struct refusal why; /* if it is not applied; also "applied, but ..." */
	struct str what; /* "modify src/a.c, 123 bytes" */
};

void apply_report_clear(struct apply_report *r);

/* Does the oldest job that is ready. 1 did one (r is filled); 0 none is ready, and *ret_due_ms is
 * when to look again without a bell (unix ms), or INT64_MAX; -1 the database fails. */
int apply_next(struct applier *a, struct apply_report *r, int64_t *ret_due_ms, struct err *e);

#endif
