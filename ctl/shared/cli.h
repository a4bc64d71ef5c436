/* What subcommands share of the command line and the terminal. */
#ifndef CLI_H
#define CLI_H

#include "config.h"
#include "err.h"
#include "paths.h"

#include <stdbool.h>

/* Parses the arguments of a subcommand with at most one flag and one operand of its own, and
 * --config, --db and --help. Returns 0, 1 after --help, -1 if they are wrong (and says so). */
struct cli_arguments {
	struct config_source source;
	bool flag;
	const char *operand; /* NULL: none given */
};
int cli_read(struct cli_arguments *a, const char *flag, int argc, char **argv);
/* The same, and then cli_find. */
int cli_parse(struct cli_arguments *a, const char *flag, int argc, char **argv);
/* If source names no system and exactly one runs, sets source to its configuration and database.
 * Returns 0; -1 if several could be meant (and says so). */
int cli_find(struct config_source *source);
/* The paths of the database of this configuration, which must be there: nothing is created. If
 * source names no system, says what that of the machine is to this user. 0; -1: ERR_INPUT. */
int cli_find_database(const struct config_source *source, const struct config *config,
                      struct paths *ret, struct err *e);
bool cli_has_terminal(void);
/* Becomes a program that is installed where the workers are; sets argv[0]. Returns only if that
 * fails. */
void cli_become(const char *name, char **argv, struct err *e);
/* Prints the error on stderr; returns the matching exit status. */
int cli_say(const struct err *e);

/* At the end of a program: its exit status, or, if what it printed could not be written, another
 * than 0 (and says so). */
int cli_end(const char *program, int status);

#endif
