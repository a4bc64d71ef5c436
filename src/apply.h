/* apply: jobs that write approved changes into workspaces. One job at a time, oldest first:
 *
 *   lock the workspace, claim (commit 1), look whether a predecessor was here, plan, journal the
 *   intent (commit 2), stage beside the target, look again, rename, sync, settle (commit 3).
 *
 * After a kill anywhere the next claim finds the journal and decides by the hashes:
 *   the target is as before    nothing happened yet: the staged file goes, it is done anew;
 *   the target is as intended  it is synced and settled;
 *   the target is another one  somebody else wrote it: refused as patch_conflict, force or not.
 * Only the directories made for a new file may then stay behind.
 *
 * A claim is numbered and each commit names it: a job that was claimed again is not ours any more.
 * At most APPLY_ATTEMPTS_MAX claims do work; one more only tidies up after the last death and says
 * that it is dead. A machine short of something (descriptors, memory) puts the job back for a
 * moment; a full disk, quota or read-only file system is told at once, for somebody must act. The
 * request stays approved when its job is refused, so that check_diff can be called again. */
#ifndef APPLY_H
#define APPLY_H

#include "file_change.h"
#include "store.h"

enum { APPLY_ATTEMPTS_MAX = 3, APPLY_WAITING_MAX = 16 };

/* Who applies. Texts are borrowed. */
struct applier {
	struct store *store;
	const char *host;
	const char *worker_id;
	const char *database; /* canonical path, or NULL */
	int run_fd; /* where the lock files of workspaces are */
	struct {
		int64_t seq; /* of a job that was put back, 0: free */
		int64_t due_ms; /* monotonic: not before then */
	} waiting[APPLY_WAITING_MAX];
};

/* What became of a job, for the log. */
struct apply_report {
	int64_t seq;
	int attempts;
	const char
	    *state; /* applied, refused, dead, queued (put back), or lost: not ours any more */
	bool forced; /* a changed file was overwritten */
	bool recovered; /* a predecessor had renamed it already */
	struct refusal why; /* where it is not applied; also "applied, but ..." */
	struct str what; /* "modify src/a.c, 123 bytes" */
};

#define APPLY_REPORT_INIT                                                                          \
	{                                                                                          \
		.seq = 0                                                                           \
	}

void apply_report_clear(struct apply_report *r);

/* Does the oldest job that can be done now. 1 did one (r is filled), 0 there is none: *ret_due_ms
 * is when to look again without a bell (unix ms), or INT64_MAX. -1 the database fails. */
int apply_next(struct applier *a, struct apply_report *r, int64_t *ret_due_ms, struct err *e);

#endif
