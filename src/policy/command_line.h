/* command_line: a command line as a shell splits it, for rules that deny. Quotes and backslashes
 * are taken out, words are joined by one blank, the path in front of a program is stripped. What a
 * shell computes (variables, substitutions of names, aliases) is not followed: a denial is no
 * fence. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stdbool.h>

enum { COMMAND_LINE_MAX = 64 }; /* commands of one line; one with more is not read */

/* Whether text can only be a command line, not the name of a tool. */
bool command_line_is(const char *text);

/* Calls each for every reading of line until one returns true: the whole line, then each of its
 * commands; with all paths, without those in front of programs, and without any. 1: one did, 0:
 * none did, -1: there are too many commands. */
int command_line_read(const char *line, bool (*each)(const char *reading, void *arg), void *arg);

#endif
