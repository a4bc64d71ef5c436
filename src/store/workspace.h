/* workspace: which folders cannot be an agent's workspace, and which of our files no agent may
 * write. */
#ifndef WORKSPACE_H
#define WORKSPACE_H

/* Why the absolute path cannot be a workspace, to complete "PATH is ..."; NULL: it can. Excluded
 * are "/", a home directory, a folder that contains ours, anything inside `.git` or `.intercom`,
 * and our own directories for configuration, state and sockets. Follows symbolic links. */
const char *workspace_unfit(const char *path);

/* Our files that nobody may write or is shown, in whatever workspace they lie: the directories for
 * configuration, state and sockets, whether they exist or not, what systemd has left for us
 * ($CREDENTIALS_DIRECTORY), the run directory, the configuration file that it names, and the
 * database with what belongs to it. Real absolute paths, NULL at the end. run_dir and database (a
 * real path) may be NULL. The caller frees the array with workspace_ours_free. */
char **workspace_ours(const char *run_dir, const char *database);
void workspace_ours_free(char **ours);

#endif
