/* spawn: starts a process of ours with no more than it needs: a clean environment, no open files
 * but stdin (/dev/null), stdout and stderr (both our stderr), no blocked or ignored signals. */
#ifndef SPAWN_H
#define SPAWN_H

#include "err.h"

#include <sys/types.h>

/* The variables of ours that a worker may see, NULL-terminated; secrets are not among them. The
 * caller frees the array; its texts are those of environ. */
char **spawn_environment(void);

/* Starts argv[0]. ERR_INPUT: it is missing or cannot be run; ERR_AGAIN: the system is short of
 * something. */
int spawn_process(char *const *argv, char *const *environment, pid_t *ret_pid, struct err *e);

#endif
