/* keep: what a keeper does, in its own process (keeper.h says what it is for). */
#ifndef KEEP_H
#define KEEP_H

#include <sys/types.h>

/* Waits until the line says that all shall end, or nobody is there to say so; ends the program, all
 * that it has started, and this process. A message of one byte on the line is a signal for the
 * program's group; the program's end is told there, with a siginfo_t. ended: a pidfd. */
__attribute__((noreturn)) void keep_to_end(int line, pid_t pid, int ended);

#endif
