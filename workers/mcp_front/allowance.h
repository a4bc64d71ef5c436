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

/* Takes what a message of so many bytes costs: its rows, and each copy of its text that may be
 * kept; many times that while little of the disk is left, and nothing is recorded on a full one.
 * Our own user has no bound. False: that much is not left, and fault says when it will be. */
bool allowance_take(struct front *f, const struct peer *p, size_t bytes, struct mcp_fault *fault);

/* The same of what a new question makes of a file, which may be much more than the message was: of
 * call_settings.may_record. */
bool allowance_take_effect(void *front, const struct peer *p, size_t bytes, char *why, size_t size);

#endif
