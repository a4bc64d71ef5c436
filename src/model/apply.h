/* apply: jobs that write approved changes into workspaces, or take a write back. One job at a time,
 * oldest first, and of its files all or none:
 *
 *   lock the workspace, claim (commit 1), look whether a predecessor was here, check the digest of
 *   what was shown, plan every file and check its hash, journal the intent and the bytes before
 *   (commit 2), stage all beside their targets, synced, journal that (commit 3), look at all once
 *   more, put them in place (what is written first, then what goes), sync, let the old files go,
 *   sync, settle (commit 4).
 *
 * After a kill anywhere the next claim finds the journal and decides by it and by the hashes.
 *   Planned: nothing is in place; hidden files may be partial. They are removed, and the job is
 *     redone. (All targets as intended: settled.)
 *   Staged: all hidden files are whole. What is in place is told by the hash of the target and of
 *     the hidden file. The rest is put in place too. Where somebody else has changed a file in the
 *     meantime, what is in place is taken back instead, and it is refused as patch_conflict.
 * Until the first file is in place, giving up costs nothing; until the last one is, what is in
 * place can be taken back, for the old files have hidden names. The point of no return is the first
 * removal of an old file, which comes when all are in place and, of several, synced: who finds one
 * gone knows that. While they are put in place a reader may see some files old and some new; each
 * one is always whole.
 *
 * What is assumed of the file system: a rename is atomic; what was fsynced, and the names of a
 * directory that was fsynced after their change, survive a power cut; renames not yet synced may
 * survive in any selection. Hidden names (".intercom-", 16 random digits, ".tmp" or ".old") are
 * left alone by others: one who removes a staged file makes the job start over, one who removes an
 * old file while others are put in place takes away the way back.
 *
 * A claim is numbered and each commit names it: a job that was claimed again is no longer ours.
 * At most APPLY_ATTEMPTS_MAX claims do work; one more only tidies up after the last death and says
 * that it is dead. A machine short of something (descriptors, memory) puts the job back for a
 * moment; a full disk, quota or read-only file system is told at once, for somebody must act. The
 * request stays approved when its job is refused, so that check_diff can be called again.
 *
 * A disk that does not answer (a mount that hangs) is found by a process beside, before any file is
 * touched. The job is put back, others go on, and the next try costs nothing while the disk is
 * silent; after APPLY_ATTEMPTS_MAX tries it is refused. A disk that falls silent later holds the
 * applier up until it is replaced; then jobs of other workspaces come first.
 *
 * An undo is a write whose files and contents are those of the write before, turned round: only if
 * no file has changed since, and never by force. Directories that the write had made go if they are
 * empty. Owner and attributes of a file that was deleted are not kept; of one that was renamed they
 * come back from its new name. */
#ifndef APPLY_H
#define APPLY_H

#include "file_change.h"
#include "store.h"

enum {
	APPLY_ATTEMPTS_MAX = 3,
	APPLY_WAITING_MAX = 16,
	APPLY_UNDO_BYTES = 10 << 20, /* setting undo_limit_bytes, where it is missing */
};

/* Who applies. Texts are borrowed. */
struct applier {
	struct store *store;
	const char *machine;
	const char *worker_id;
	const char *database; /* canonical path, or NULL */
	char *const *ours; /* the same, several, NULL at the end; or NULL */
	int run_fd; /* where the lock files of workspaces are */
	struct {
		int64_t seq; /* of a job that was put back, 0: free */
		int64_t due_ms; /* monotonic: not before then */
	} waiting[APPLY_WAITING_MAX];
	struct {
		char *root; /* of a workspace whose disk does not answer, NULL: free; owned */
		int left_fd; /* hangs up when it does */
	} silent[APPLY_WAITING_MAX];
	char *answered; /* the last workspace whose disk did; owned */
	int64_t answered_ms; /* monotonic */
};

/* Forgets what it knows of disks. What is borrowed stays. */
void applier_clear(struct applier *a);

/* What became of a job, for the log. */
struct apply_report {
	int64_t seq;
	int attempts;
	const char *state; /* applied, undone, refused, dead, queued (put back), kept (the rules
	                      refuse what it would be settled as: it rests), or lost: not ours
	                      any more */
	bool forced; /* a changed file was overwritten */
	bool recovered; /* a predecessor had renamed it already */
	bool beside; /* another applier has claimed a job meanwhile */
	struct refusal why; /* where it is not applied; also "applied, but ..." */
	struct str what; /* "modify src/a.c, 123 bytes" */
};

void apply_report_clear(struct apply_report *r);

/* Does the oldest job that can be done now. 1 did one (r is filled), 0 there is none: *ret_due_ms
 * is when to look again without a bell (unix ms), or INT64_MAX. -1 the database fails. */
int apply_next(struct applier *a, struct apply_report *r, int64_t *ret_due_ms, struct err *e);

#endif
