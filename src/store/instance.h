/* instance: one supervisor per database, and what others may know of it. Opens nothing with SQLite,
 * of which it knows only what it locks.
 *
 *   <database>-instance   held with flock by the supervisor as long as it lives; holds its pid,
 *                         and "restore" if it is a restore
 *   <database>            held like it: whoever finds it under another name sees that it is in use
 *   <run>/NAME.lock       held by each worker as long as it lives
 *   <run>/NAME-SEQ.lock   the same of a worker that serves one row and outlives its supervisor
 *                         (runner-12); holds its pid and its build
 *   <run>/stopped         an empty file: the system was stopped on purpose, nobody restarts it;
 *                         with words in it: it stopped because its database was lost, and they
 *                         say how; a start would make an empty one, so only a person starts it. So
 *                         it is without the file, if a system had a database that is missing */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "err.h"
#include "str.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A worker of which nothing was heard for so long is silent: three heartbeats. */
enum { INSTANCE_SILENT_MS = 90000 };

/* The build that all processes of a system must share: version and commit, "0.2.0+1a2b3c4d". */
extern const char INSTANCE_BUILD[];

/* Whether --version is all that a program is asked for: then its name and build are printed. */
bool instance_says_version(int argc, char **argv, const char *name);

/* Takes the lock of a database for as long as *ret_fd is open. restores: not to run a system on it.
 * ERR_AGAIN: another process holds it. */
int instance_take(const char *database, bool restores, int *ret_fd, struct err *e);

/* The pid of the supervisor that serves this database; 0: none; 1: it has not written its pid yet;
 * -1 on error. Changes nothing. */
pid_t instance_holder(const char *database, struct err *e);

/* Holds the database itself, whatever its name, for as long as *ret_fd is open, which is closed
 * after all connections of this process (closing it gives up their locks). One that does not exist
 * yet is fine. ERR_AGAIN: a system has it open under another name. */
int instance_hold(const char *database, int *ret_fd, struct err *e);

/* Refuses a database that a system has open under another name, a file in the place of the one that
 * the system which runs on this path has open, and that one without the -wal and -shm which it uses
 * (ERR_AGAIN). database: canonical. */
int instance_check_held(const char *database, struct err *e);

/* The suffixes of the files that SQLite has open: the database, its -wal and its -shm. */
enum { INSTANCE_FILES = 3 };
extern const char *const INSTANCE_SUFFIXES[INSTANCE_FILES];

/* Which files those names stand for; 0: none. Looking opens none of them: it is also for a process
 * that has them open. */
struct instance_files {
	ino_t ids[INSTANCE_FILES];
};
void instance_look(const char *database, struct instance_files *ret);
/* Whether they are the same, as far as they can be seen; those that were not there before may be by
 * now. */
bool instance_is_same(const char *database, const struct instance_files *before);

/* Refuses a database that a process still has open beside a -wal or a -shm that is not there any
 * more, though no system runs (ERR_AGAIN): each of the two would write over the other. */
int instance_check_alone(const char *database, struct err *e);

/* The locks of workspaces begin with it. */
#define INSTANCE_WORKSPACE "ws-"

/* Whether a worker, perhaps of a killed supervisor, still holds a lock in the run directory; file
 * gets the name of the lock. Runners do not count, nor do workspaces: who owns one decides how long
 * what works there holds its lock. */
bool instance_worker_left(int run_fd, char file[NAME_MAX + 1]);

/* ---- runners ---- */

/* Writes our pid and build into a lock that we hold. */
int instance_sign_lock(int lock_fd, struct err *e);
/* The runs whose runner has left a lock, held or not; the caller frees *ret. Returns their
 * number. */
size_t instance_runs(int run_fd, int64_t **ret);
/* The pid of the runner of a run; 0: no process holds its lock; 1: it has not written its pid yet.
 * same_build (may be NULL): whether it is of our build. */
pid_t instance_runner(int run_fd, int64_t run, bool *same_build);
/* Removes the lock and the bell of a runner that is gone and whose run has ended. */
void instance_forget_runner(int run_fd, int64_t run);

/* lost: "" if it was on purpose. */
int instance_mark_stopped(int run_fd, const char *lost, struct err *e);
int instance_unmark_stopped(int run_fd, struct err *e);
/* Whether it is stopped, for either reason. */
bool instance_is_stopped(const char *run);
bool instance_is_stopped_on_purpose(const char *run);
/* What helps then: "put it back" and this. */
#define INSTANCE_BACK                                                                              \
	", beside its -wal, and start agent-intercom again, or agent-intercom restore FILE puts "  \
	"a copy there; started without, it goes on with what is there, or begins with an empty "   \
	"one"
/* Whether it has lost its database; appends its words, or ours: its last system published its run
 * directory (paths.h), and there is no database now, neither where it had it nor at database (NULL
 * if only the run directory is known). why may be NULL. */
bool instance_is_lost(const char *run, const char *database, struct str *why);

#endif
