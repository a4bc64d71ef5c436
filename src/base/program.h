/* program: finds an installed program. A service has a short $PATH, and npm, nvm and other per-user
 * installers put programs elsewhere. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "str.h"

/* Appends the absolute path of an executable file: name, if it contains a '/'; otherwise from
 * $PATH, npm's prefix, or where per-user installers put programs. false: not found. */
bool program_find(const char *name, struct str *out);

/* Appends a $PATH with which the program at this path finds what was installed with it, such as its
 * node: its own folder first, unless $PATH contains it. */
void program_path(const char *program, struct str *out);

#endif
