/* paths: where the files of one system live. Derived from the database's path without
 * SQLite, so that a program without a database (mcp-stdio) can use it.
 *
 *   run directory   $XDG_RUNTIME_DIR/agent-intercom/<hash8>   if that directory is ours, else
 *                   <state>/agent-intercom/run/<hash8>        with <state> = $XDG_STATE_HOME or
 *                                                             $HOME/.local/state
 *   <hash8>/database        the canonical path of the database, one line
 *   <hash8>/name, config    ipc_name and config file ("" if none) of the system, one line each
 *   <ipc name> -> <hash8>   next to the run directory: finds a system by its name
 *   <database>-run          a link to the run directory that the last system published
 *   <state>/agent-intercom/run/<hash8>   the same, if the run directory is elsewhere
 *
 * hash8 is the first 8 digits of the SHA-256 of the canonical database path. Run directories
 * belong to us and have mode 0700; any other is refused. */
#ifndef PATHS_H
#define PATHS_H

#include "err.h"
#include "str.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	PATHS_NAME_BYTES_MAX = 64,
	PATHS_RUN_BYTES_MAX = 80 /* leaves room in a socket address for "/slack-listener.bell" */
};

struct paths {
	char *database; /* canonical: absolute, no symbolic links */
	char *base; /* the directory that holds run directories and name links */
	char *run; /* the run directory of this database */
};

extern const char PATHS_RUN_LINK[]; /* what the link beside the database adds to its name */

/* Fills out from the path of a database, which need not exist. create: makes the missing parents of
 * the database and the run directory (0700); otherwise nothing is changed, and any of these may be
 * missing. */
int paths_open(const char *database, bool create, struct paths *out, struct err *e);
void paths_clear(struct paths *p);

/* Writes database, name and config into the run directory and points <ipc_name> to it. The last
 * system that publishes a name owns it. config: "" if there is no file. */
int paths_publish(const struct paths *p, const char *ipc_name, const char *config, struct err *e);
/* Reads what was published; the caller frees both. */
int paths_read_published(const struct paths *p, char **ret_name, char **ret_config, struct err *e);
/* Calls each for every run directory of this user that can be found, some of them twice; p is valid
 * during the call. Whether a system runs there is a separate question (instance.h). */
void paths_each(void (*each)(const struct paths *p, void *arg), void *arg);
/* The system that published ipc_name; looks below $XDG_RUNTIME_DIR, then in the state directory. */
int paths_find_by_name(const char *ipc_name, struct paths *out, struct err *e);
/* 1 to 64 characters of A-Z a-z 0-9 . _ - and neither "." nor "..". */
bool paths_name_fits(const char *ipc_name);

/* Appends the run directory that the running (or last) system of this database published next to
 * it. This is how a process with another $XDG_RUNTIME_DIR, or with none, such as a child of an
 * agent, finds it. False: none that is a directory of ours alone. */
bool paths_published_run(const char *database, struct str *run);

/* Append the directories that hold run directories: the one below $XDG_RUNTIME_DIR (1; 0: that
 * cannot be used; -1: its disk fails, ERR_AGAIN), and the one in the state directory. */
int paths_runtime_base(struct str *base, struct err *e);
int paths_state_base(struct str *base, struct err *e);
/* Refuses a directory that is not ours or that gives others any of the permissions denied. */
int paths_check_ours(const char *dir, mode_t denied, struct err *e);

/* Refuses an absolute path at which nothing can be made or replaced: the nearest folder above it
 * that exists may not be written to; or it is in $HOME, we are root, and $HOME is another user's,
 * who could not use what root makes there. */
int paths_check_new(const char *path, struct err *e);

/* The database and the files beside it that belong to it: suffixes of its path, "" first, NULL at
 * the end. */
extern const char *const PATHS_FILES[];

/* Whether a file of this owner may be one of them: it is ours, or that of the database's owner. */
bool paths_is_of(const char *database, uid_t owner);
/* Refuses what somebody else has put beside a database under such a name: SQLite would take it for
 * a part of the database. */
int paths_check_beside(const char *database, struct err *e);

/* A database that was replaced by a backup keeps its name with this and the time. */
extern const char PATHS_KEPT[];
/* Appends such a name that the database itself has, too: a restore was killed before it replaced
 * the database. False: it has none. database: canonical. */
bool paths_kept_name(const char *database, struct str *kept);

/* Refuses a database that has another name (a hard link), or had one when the system that runs
 * opened it (it was moved): a process that opens it under the other name uses another log, and the
 * two destroy the database. A missing one is fine. Not for a process that has it open: it would
 * lose SQLite's locks. */
int paths_check_one_name(const char *database, struct err *e);

/* The same, and refuses a file that is not the one which its system has open, or had open when it
 * lost it: for whoever opens a database and does not start a system on it. Beside the -wal of
 * another file, SQLite would write into this one what belongs to that. */
int paths_check_right(const char *database, struct err *e);

/* Whether path is still the directory that fd was opened for. */
bool paths_is_there(int fd, const char *path);

/* Refuses a directory on a file system where SQLite's locks or shared memory do not hold. */
int paths_check_filesystem(const char *dir, struct err *e);

/* Append the directory of the worker binaries (for agent-intercom) and that of agent-intercom (for
 * a worker): that of the running program (build tree), or else where CMake installed it relative to
 * that. */
int paths_libexec(struct str *out, struct err *e);
int paths_bin(struct str *out, struct err *e);

/* Appends the path of a program that is installed where the workers are; -1 also if it cannot be
 * run. */
int paths_program(const char *name, struct str *out, struct err *e);

/* Append $XDG_CONFIG_HOME or $HOME/.config; $XDG_STATE_HOME or $HOME/.local/state. A variable that
 * is empty or not absolute counts as unset: it would lead into the working directory. */
int paths_config_home(struct str *out, struct err *e);
int paths_state_home(struct str *out, struct err *e);
/* Appends $XDG_RUNTIME_DIR; -1: there is none. */
int paths_runtime_home(struct str *out, struct err *e);
/* The value of an environment variable that is an absolute path; otherwise NULL. */
const char *paths_from_env(const char *variable);
/* Appends an absolute form of path: "~/x" is below $HOME, a relative path below base, or below the
 * working directory if base is NULL. Resolves no links. */
int paths_absolute(const char *base, const char *path, struct str *out, struct err *e);

#endif
