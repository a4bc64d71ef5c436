/* applier_case: what the programs test_applier_*.c share. */
#ifndef APPLIER_CASE_H
#define APPLIER_CASE_H

#include "apply.h"
#include "file_change.h"
#include "harness.h"
#include "proposal.h"
#include "safe_path.h"
#include "sha256.h"
#include "str.h"
#include "workspace.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The newest job, its request and its caller. */
extern const char OUTCOME[];

extern const char APPLIED[];

extern const char MESSAGE[];

extern const char CHANGES[];

mode_t mode_of(const char *name);

int count_found(const char *what);

/* How many files, directories and links there are below the workspace. */
int entries(void);

int hidden_entries(void);

/* All of it at once: asked, approved, called, worked on. */
void apply(const char *path, const char *body);

/* One more session, whose workspace is beside the first; ws and session are its own from here on.
 */
void given_other_workspace(void);

/* What one more applier of this machine makes of the oldest job, in this process. run_fd: its run
 * directory; closed. Returns what apply_next does. */
int try_beside(int run_fd, struct apply_report *r, int64_t *ret_due_ms);

/* For given_other_claim: when an applier has just claimed. */
extern const char CLAIMED[];

/* From here on somebody else claims the job when that happens which `when` says as in CREATE
 * TRIGGER. */
void given_other_claim(const char *when);

/* One more applier loses the newest job to somebody else, whose claim is that one, and says so. */
void is_lost(int claim);

/* Lets an applier do what there is to do. Returns how many flushes strace shows that fit the
 * pattern (fnmatch), in which a file goes by its name. */
int count_flushes(const char *pattern);

void is_refused(const char *code, const char *beginning);

void many_are_old(void);

void many_are_new(void);

void swapped_to(const char *name, const char *target);

/* From here on this process and its workers are nobody, who owns the store but not the workspace.
 */
void leave_the_workspace_to_root(void);

/* The build may be where only root looks, as below /root. */
void bring_worker_along(void);

#endif
