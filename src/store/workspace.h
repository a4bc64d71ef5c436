/* workspace: which folders are none that an agent may work in, and what is ours in all others. */
#ifndef WORKSPACE_H
#define WORKSPACE_H

/* Why the absolute path is no workspace, for "PATH is ..."; NULL: it may be one. These are not:
 * "/", a home or a folder that holds ours, whatever is inside `.git` or `.intercom`, and our own
 * directories for configuration, state and sockets. Symbolic links are followed. */
const char *workspace_unfit(const char *path);

/* What of ours is to be written by nobody, in whatever workspace it lies: the directories for
 * configuration, state and sockets, whether they exist or not, the run directory and the
 * configuration file that it names. Real absolute paths, NULL at the end. run_dir may be NULL. The
 * caller frees the array with workspace_ours_free. */
char **workspace_ours(const char *run_dir);
void workspace_ours_free(char **ours);

#endif
