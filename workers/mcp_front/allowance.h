/* allowance: how much the agents of another user may have recorded, so that none of them fills the
 * disk of all: shared.recorded_bytes, of which an hour brings back the whole. */
#ifndef ALLOWANCE_H
#define ALLOWANCE_H

#include "mcp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct front;
struct peer;

/* What is left to one user. */
struct allowance {
	uid_t uid;
	int64_t left; /* bytes */
	int64_t at_ms; /* monotonic: filled up to then */
};

/* Takes what a message of so many bytes costs, with its rows; below the room on the disk at which
 * new questions are refused, many times that. Our own user has no bound. False: that much is not
 * left, and fault says when it will be. */
bool allowance_take(struct front *f, const struct peer *p, size_t bytes, struct mcp_fault *fault);

#endif
