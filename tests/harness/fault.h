/* fault: system calls of a worker that fail, one after the other, under strace. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The calls on files that are made to fail, for start_traced. */
extern const char FAULT_CALLS[];
/* With those that take a whole path, as programs other than our workers make them. */
extern const char FAULT_CALLS_BY_NAME[];

/* One of them. */
struct fault {
	char call[20];
	int n; /* the nth of that name, in each process of the worker */
	const char *error; /* "EIO", ... */
	bool stays; /* and all after it */
};

struct faults {
	struct fault *list;
	size_t count;
};
void faults_clear(struct faults *f);

/* What can fail according to a log of start_traced: each call that names a path that begins so,
 * with each error that it may have, once and for good. In a random order that is always the same,
 * so that the first ones are a sample: as many as sample says, or all with INTERCOM_FAULTS=all, or
 * with INTERCOM_FAULTS=2/8 the second eighth of all. sample 0: all, whatever it says. */
void faults_read(struct faults *f, const char *log, const char *path, size_t sample);

/* Starts a worker whose call fails; the caller waits for it. */
pid_t fault_start(const struct fault *f, const char *worker, const char *log);

/* Whether a call that failed names no path that begins so. */
bool fault_hit_outside(const char *log, const char *path);

/* "EIO at fsync 3, and from then on"; valid until the next call. */
const char *fault_name(const struct fault *f);

/* From here on, or no longer: whatever this process starts writes a part of what it should with
 * each call (crash/short_write.c). */
void writes_are_short(bool are);

#endif
