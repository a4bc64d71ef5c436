/* refusals: what fences have refused to this process and to those that it started, so that a
 * refused call is not a mystery. The counts lie in memory that all of them share: what looks into a
 * workspace has no database, so its worker tells. They are untrusted: a process that was taken over
 * can write what it likes there, but not make it smaller. */
#ifndef REFUSALS_H
#define REFUSALS_H

#include <stdbool.h>

enum {
	REFUSALS_NAME_BYTES = 200,
	REFUSALS_FD = 5, /* where `hand` finds the memory of mcp-front */
	REFUSALS_TOLD_MAX = 8, /* kinds told per minute */
	REFUSALS_NUMBERS = 512, /* of system calls; greater ones count as the last */
};

/* From here on refused system calls (SIGSYS) fail. Before calls_restrict. */
void refusals_listen(void);
/* Makes the memory: from here on refused calls and denied paths are counted. Call it before the
 * fence is put up. Where there is no memory they are not counted. Test builds make it of the file
 * $INTERCOM_REFUSALS/<process>-<pid>, which begins with an unsigned for each number. */
void refusals_open(const char *process);
/* The same with the memory that another process has made and left at fd; without it nothing is
 * counted. */
void refusals_join(int fd);
/* A descriptor of the memory, for a program that is started; -1: none. */
int refusals_fd(void);

/* Counts a path that the fence has denied. */
void refusals_add_path(const char *path);

struct refusals_kind {
	const char *what; /* "call" or "path" */
	char name[REFUSALS_NAME_BYTES]; /* of the call, or the path: printable UTF-8 */
	unsigned count; /* of all processes since this kind was last told */
};
/* The next one to be told; each kind is told once a minute. now_ms: of a monotonic clock. */
bool refusals_next(struct refusals_kind *ret, long long now_ms);

#endif
