/* workspace: which folders are none that an agent may work in. */
#ifndef WORKSPACE_H
#define WORKSPACE_H

/* Why the absolute path is no workspace, for "PATH is ..."; NULL: it may be one. These are not:
 * "/", our user's home itself, whatever is inside `.git` or `.intercom`, and our own directories
 * for configuration, state and sockets. Symbolic links are followed. */
const char *workspace_unfit(const char *path);

#endif
