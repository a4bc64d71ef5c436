/* instance: one supervisor per database, and what others may know of it. Knows no SQLite.
 *
 *   <database>-instance   held with flock by the supervisor as long as it lives; holds its pid
 *   <run>/NAME.lock       held by each worker as long as it lives
 *   <run>/stopped         an empty file: the system was stopped on purpose, nobody restarts it */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "err.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* The build that all processes of a system must share. */
extern const char INSTANCE_BUILD[];

/* Takes the lock of a database for as long as *ret_fd is open. ERR_AGAIN: another one has it. */
int instance_take(const char *database, int *ret_fd, struct err *e);

/* The pid of the supervisor that serves this database, 0 if none does, -1 on error. Changes
 * nothing. 1 stands for one that has not written its pid. */
pid_t instance_holder(const char *database, struct err *e);

/* Whether a worker, perhaps of a killed supervisor, still holds a lock in the run directory; the
 * name of the lock goes to file. */
bool instance_worker_left(int run_fd, char file[NAME_MAX + 1]);

int instance_mark_stopped(int run_fd, struct err *e);
int instance_unmark_stopped(int run_fd, struct err *e);
bool instance_is_stopped(const char *run);

#endif
