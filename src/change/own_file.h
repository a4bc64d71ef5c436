/* own_file: files of agent-intercom's, which no agent changes and nobody is shown, in whatever
 * workspace they lie. */
#ifndef OWN_FILE_H
#define OWN_FILE_H

#include "own_places.h"

/* Whether path below root_fd, where no symbolic link is left in it, is one of own (which may be
 * NULL) or lies beneath one: by its name, or because it or a folder on the way is a hard link or
 * bind mount of one. Completes "PATH ..."; NULL: it is not. */
const char *own_file(int root_fd, const char *path, const struct own_places *own);

#endif
