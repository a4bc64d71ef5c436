/* path: texts that are paths. */
#ifndef PATH_H
#define PATH_H

/* What follows the last slash, for a person to read: all of it if nothing does. path may be NULL;
 * then so is the result. Valid as long as path is. */
const char *path_name(const char *path);

#endif
