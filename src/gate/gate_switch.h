/* gate_switch: the files of a workspace that keep the hooks of an agent's program from running,
 * without a word to its user, and the user's own settings that do. Hosts let a project do that, so
 * whoever can write there can open the gate.
 *
 * What is in the table was seen to open the versions that tests/hosts/README.md names. A project
 * that has hooks, plugins or servers of its own runs programs as its user, and those can do
 * anything: that is not looked at. */
#ifndef GATE_SWITCH_H
#define GATE_SWITCH_H

#include "str.h"

#include <stdbool.h>

struct gate_switch_found {
	const char *host; /* whose hooks it keeps from running */
	const char *file; /* relative to the workspace, "": the folder itself; the user's own: its
	                     path, or "the environment" */
	const char *tried_as; /* the name of such a file in a folder of its own */
	struct str what; /* that is in it, in words */
	bool for_all; /* also the hooks of all users do not run */
	/* A text of the file that has this and nothing else; empty: trying it would run what the
	 * workspace brings along, or a canary does not heed it. */
	struct str proof;
};

/* Looks at what a host reads in the workspace root, an absolute path, and calls each for what is
 * found. Links are followed, as the host follows them; only regular files are read. */
void gate_switch_look(const char *host, const char *root,
                      void (*each)(void *arg, const struct gate_switch_found *found), void *arg);

/* The same for the user's own settings of the host. Variables that load code are the user's there,
 * and no finding. */
void gate_switch_look_own(const char *host,
                          void (*each)(void *arg, const struct gate_switch_found *found),
                          void *arg);
/* Whether that looks into the file at path. */
bool gate_switch_is_own(const char *host, const char *path);
/* The same for our own environment, which may be that of the host. */
void gate_switch_look_environment(const char *host,
                                  void (*each)(void *arg, const struct gate_switch_found *found),
                                  void *arg);

#endif
