/* locate: which system of this user is meant when nobody names one: the one that runs, whatever
 * configuration it was started with. Systems are told apart by their ipc_name. */
#ifndef LOCATE_H
#define LOCATE_H

#include "config.h"
#include "paths.h"

#include <sys/types.h>

struct located {
	struct paths paths;
	pid_t pid; /* of its supervisor; 0: it does not run */
	char *ipc_name;
	char *config; /* the file that it was started with; "" none */
};

void located_clear(struct located *l);

/* Whether source, or $INTERCOM_CONFIG, names a system. */
bool locate_is_named(const struct config_source *source);

/* The system of that name that runs. 1 found; 0 none runs; -1 several do and none of them on
 * database (NULL: no preference), e names them. note: where several do and one is on database, that
 * they do; "" else. */
int locate_running(const char *ipc_name, const char *database, struct located *out,
                   struct str *note, struct err *e);

/* Where source names no system: the one that runs under the name that the configuration in the
 * usual place says. 1, 0 and -1 as above; 0 also where source names one. A configuration that
 * cannot be read is no error here: the default name is looked for. */
int locate_usual(const struct config_source *source, struct located *out, struct str *note,
                 struct err *e);

#endif
