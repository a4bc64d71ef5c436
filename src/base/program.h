/* program: where a program is that somebody has installed. A service has a short $PATH, and npm,
 * nvm and other installers of one user put programs elsewhere. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "str.h"

/* Appends the absolute path of an executable file: name, if it has a '/'; else in $PATH, below
 * npm's prefix, or where installers put the programs of one user. false: there is none. */
bool program_find(const char *name, struct str *out);

/* Appends a $PATH with which the program of this path finds what was installed with it, such as its
 * node: its own folder first, unless $PATH has it. */
void program_path(const char *program, struct str *out);

#endif
