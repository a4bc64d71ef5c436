/* own_file: files of agent-intercom's, which no agent changes and nobody is shown, in whatever
 * workspace they lie. */
#ifndef OWN_FILE_H
#define OWN_FILE_H

/* Whether path below root_fd, where no symbolic link is left in it, is the database or one of its
 * companions, or is or lies beneath one of ours (real absolute paths, NULL at the end; either may
 * be NULL). Completes "PATH ..."; NULL: it is not. */
const char *own_file(int root_fd, const char *path, const char *database, char *const *ours);

#endif
