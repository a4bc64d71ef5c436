/* command_line: a command line as a shell splits it, for rules that deny. Quotes and backslashes
 * are removed, words are joined by one blank, the path of a program is stripped. What a shell
 * computes (variables, substitutions, aliases) is not followed: a denial is not a fence. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stdbool.h>

enum { COMMAND_LINE_MAX = 64 }; /* commands in one line; a longer line is not read */

/* Whether text can only be a command line, not the name of a tool. */
bool command_line_is(const char *text);

/* Calls each for every reading of line until one call returns true: the whole line, then each of
 * its commands; with all paths, without the paths of programs, and without any path. 1: one did, 0:
 * none did, -1: there are too many commands. */
int command_line_read(const char *line, bool (*each)(const char *reading, void *arg), void *arg);

#endif
