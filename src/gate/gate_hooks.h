/* gate_hooks: the files in which hosts read the hooks of their user, or of all users, and whether
 * ours are in them. What install writes there is its own matter (ctl/shared/gates.c). */
#ifndef GATE_HOOKS_H
#define GATE_HOOKS_H

#include "err.h"
#include "str.h"
#include "texts.h"

#include <stdbool.h>
#include <stddef.h>

/* The i-th of the hosts that have such a file; NULL after the last. */
const char *gate_hooks_host(size_t i);

/* Whether a host reads hooks of its user or, if managed, of all users. */
bool gate_hooks_exist(const char *host, bool managed);

/* Appends the path of that file, which need not exist; root stands before a path of the system, or
 * is "". 0, or -1: the host has no such file, or $HOME is not set. */
int gate_hooks_path(const char *host, bool managed, const char *root, struct str *out,
                    struct err *e);

/* Appends the path of the user's own settings of that host if they may switch its hooks off,
 * whether they are there or not; false: it has none, or $HOME is not set. */
bool gate_hooks_settings(const char *host, struct str *out);

/* Whether a command line, or the text of such a file, starts our hook for that host. The program
 * may have moved since it was installed, so only its name counts, and whom it is told that it
 * serves. */
bool gate_hooks_are_ours(const char *host, const char *text);

/* Adds the programs that the hooks of ours in the text of such a file start, each once. A path that
 * is written with an escape is left out. */
void gate_hooks_programs(const char *host, const char *text, struct texts *programs);

/* What a file that is ours as a whole begins with. */
#define GATE_HOOKS_TABLES_MARK "# agent-intercom "
#define GATE_HOOKS_PLUGIN_MARK "// agent-intercom "

#endif
