/* limit: what a process that reads other people's files may use. */
#ifndef LIMIT_H
#define LIMIT_H

#include <stddef.h>
#include <sys/resource.h>

/* Lowers a limit of this process (RLIMIT_CPU, ...) for good; one that is lower already stays. */
void limit_to(int which, rlim_t most);
/* The same of its address space, in bytes. Not with sanitizers: they reserve more than any limit.
 */
void limit_memory(size_t most);

#endif
