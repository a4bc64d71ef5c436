/* options: a command line, read as getopt_long(3) reads it, into where a table says. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "err.h"

#include <stdbool.h>

enum { OPTIONS_MOST = 24 }; /* rows of a table */

/* One of flag, text and take is set. */
struct options_row {
	const char *name; /* without dashes; NULL: behind the last row */
	bool *flag; /* it has no value, and makes this true, */
	bool *instead_of; /* and this false, if it is not NULL */
	const char **text; /* becomes its value */
	int (*take)(void *arg, const char *value, struct err *e); /* 0, or -1: e says why not */
	bool ends; /* nothing is read after it */
};

/* Reads on from optind (0: from the start), which then is where the operands begin. how: "", or
 * "+": ends at the first operand. arg: for take. 0; -1: one is wrong, and e says why, or is
 * untouched where getopt_long has printed it. */
int options_read(const struct options_row *rows, const char *how, void *arg, int argc, char **argv,
                 struct err *e);

#endif
