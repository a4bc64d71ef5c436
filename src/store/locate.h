/* locate: which of this user's systems is meant when none is named: the running one, whatever
 * configuration it was started with. The ipc_name tells systems apart. */
#ifndef LOCATE_H
#define LOCATE_H

#include "config.h"
#include "paths.h"

#include <sys/types.h>

struct located {
	struct paths paths;
	pid_t pid; /* of its supervisor; 0: it is not running */
	char *ipc_name;
	char *config; /* the file that it was started with; "": none */
};

void located_clear(struct located *l);

/* Whether source, or $INTERCOM_CONFIG, names a system. */
bool locate_is_named(const struct config_source *source);

/* The running system with that name. 1 found. 0 none is running. -1 several are, and none of them
 * on database (NULL: no preference); e lists them. note: if several are and one is on database,
 * says so; otherwise "". */
int locate_running(const char *ipc_name, const char *database, struct located *out,
                   struct str *note, struct err *e);

/* If source names no system: the running one with the name that the configuration in the usual
 * place gives. 1, 0 and -1 as above; 0 also if source names one. A configuration that cannot be
 * read is not an error here: the default name is used. */
int locate_usual(const struct config_source *source, struct located *out, struct str *note,
                 struct err *e);

/* That system or, if none is running, the one that would be started with source: its paths and
 * configuration, and pid 0. create: its run directory is made, as paths_open does. note as above.
 * 0 or -1. */
int locate_meant(const struct config_source *source, bool create, struct located *out,
                 struct str *note, struct err *e);

#endif
