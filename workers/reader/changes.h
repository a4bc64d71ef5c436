/* changes: what differs between two checkpoints, as a look. */
#ifndef CHANGES_H
#define CHANGES_H

#include "look.h"

/* Compares both sides, in the folder of objects, and fills text. detail gets the facts. 0 or -1. */
int changes_show(const struct file_look_sides_row *s, const char *folder, const char *root,
                 struct str *detail, struct look_found *found, struct err *e);

#endif
