/* calls: system calls that a process which looks into a workspace has no use for, refused by a
 * seccomp filter: sockets (Landlock lets connect to those that have a path), processes, signals,
 * and interfaces of the kernel that get around such a filter or are often its weak spot. */
#ifndef CALLS_H
#define CALLS_H

#include "err.h"

/* Puts the filter up around the calling thread and what it starts; needs no_new_privs. A refused
 * call fails with EPERM. Does nothing in builds with a sanitizer, and on architectures that it does
 * not know. 0, -1. */
int calls_refuse(struct err *e);

#endif
