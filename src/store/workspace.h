/* workspace: which folders cannot be an agent's workspace, and which of our files no agent may
 * write. */
#ifndef WORKSPACE_H
#define WORKSPACE_H

#include "own_places.h"

/* Why the absolute path cannot be a workspace, to complete "PATH is ..."; NULL: it can. Excluded
 * are "/", a home directory, a folder that contains ours, anything inside `.git` or `.intercom`,
 * and our own directories for configuration, state and sockets, also by bind mounts. Follows
 * symbolic links. */
const char *workspace_unfit(const char *path);

/* Our files that nobody may write or is shown, in whatever workspace they lie: the directories for
 * configuration, state and sockets, whether they exist or not, what systemd has left for us
 * ($CREDENTIALS_DIRECTORY), the run directory, the configuration file that it names, and the
 * database with what belongs to it. run_dir and database (a real path) may be NULL. ours must be
 * fresh; only their names are known then (own_places_look). */
void workspace_ours(struct own_places *ours, const char *run_dir, const char *database);

#endif
