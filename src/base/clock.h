/* clock: the only source of time. An instant is UTC text with milliseconds that sorts in time
 * order. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

enum { INSTANT_BYTES = 25 }; /* "2026-02-08T09:30:00.123Z" and its NUL */

struct instant {
	char text[INSTANT_BYTES];
};

/* Unix time in milliseconds. Builds with INTERCOM_TEST_CLOCK add the signed 64-bit millisecond
 * offset in the file named by $INTERCOM_CLOCK_PAGE; release builds ignore it. */
int64_t clock_now_ms(void);

/* Milliseconds that never go back and stand still while the machine sleeps (CLOCK_MONOTONIC),
 * shifted by the same test offset. For deadlines within a process. */
int64_t clock_monotonic_ms(void);

struct instant clock_now(void);
struct instant clock_instant(int64_t unix_ms);

static inline int64_t clock_earlier(int64_t a_ms, int64_t b_ms)
{
	return a_ms < b_ms ? a_ms : b_ms;
}

/* An instant's text in Unix milliseconds, -1 if it is not an instant. */
int64_t clock_parse(const char *text);

#endif
