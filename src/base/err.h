/* err: why something failed, in words for the person who has to act on it. Reported once. */
#ifndef ERR_H
#define ERR_H

#include <stdarg.h>
#include <stdbool.h>

enum { ERR_TEXT_BYTES = 1024 };

enum err_kind {
	ERR_NONE,
	ERR_AGAIN, /* busy, network down, disk full: a retry may work */
	ERR_INPUT, /* a file, message or setting is wrong: a retry cannot help */
	ERR_REFUSED, /* the rules of the database refuse a row: only that row is at fault */
	ERR_BUG /* one of our assumptions is false: stop, let the supervisor see it */
};

struct err {
	enum err_kind kind;
	char text[ERR_TEXT_BYTES]; /* UTF-8, lower case, no full stop */
};

/* Frees a variable when its scope ends; T_clear must accept a zeroed or half-built object. */
#define OWNED(T) __attribute__((cleanup(T##_clear)))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Each fills e (which may be NULL) from a printf format and evaluates to -1, for the caller to
 * return. They are macros so that the -1 is visible in the caller, to the analyzer too.
 * err_set(e, kind, format, ...)
 * err_errno(e, kind, format, ...): appends ": <strerror(errno)>"; keeps errno.
 * err_prefix(e, format, ...): puts "<text>: " in front of e's text. */
#define err_set(...) (err_tell(__VA_ARGS__), err_failure())
#define err_errno(...) (err_tell_errno(__VA_ARGS__), err_failure())
#define err_prefix(...) (err_tell_prefix(__VA_ARGS__), err_failure())

void err_tell(struct err *e, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void err_tell_errno(struct err *e, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void err_tell_prefix(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A function, so that ignoring the -1 does not raise an unused-value warning. */
static inline int err_failure(void)
{
	return -1;
}

/* What a chain of calls ("a(e) || b(e)") returns: -1 if one of them failed, else 0. */
static inline int err_if(bool failed)
{
	return failed ? -1 : 0;
}

/* Rows of a batch that the rules refused while the others were moved. */
struct err_refused {
	int count;
	struct err first;
};

/* Takes a refusal out of e: if e is one, counts it, clears e and returns true. */
bool err_take_refused(struct err *e, struct err_refused *refused);

/* The kind of a failed call on a file: what a disk refuses (errno EIO, ENOSPC, EDQUOT) may work
 * later, anything else is ERR_INPUT. err_errno makes the same of ERR_INPUT. */
enum err_kind err_kind_of_file(int error);

/* The exit status of a process (sysexits.h): 0 success, 75 try later or a row was refused, 78 wrong
 * input or configuration, 70 a bug of ours. */
int err_exit(const struct err *e);

#endif
