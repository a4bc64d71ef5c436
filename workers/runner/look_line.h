/* look_line: one question to a process that looks at files, and its answer, over a stream. */
#ifndef LOOK_LINE_H
#define LOOK_LINE_H

#include "hand.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOOK_LINE_MS = 3000 /* how long a disk is waited for */ };

/* Sends the question and takes the findings, until end_ms (monotonic). found is fresh; the caller
 * clears it. False: they did not come, or make no sense. */
bool look_line_ask(int fd, int64_t end_ms, const struct hand_ask *ask, struct hand_found *found);

#endif
