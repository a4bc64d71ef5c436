/* envelope: what kind of message a line of the agent is. Nothing else is read of a line that
 * passes. */
#ifndef ENVELOPE_H
#define ENVELOPE_H

#include "err.h"
#include "json.h"
#include "json_peek.h"

#include <stdbool.h>

enum envelope_kind {
	ENVELOPE_PASSES,
	ENVELOPE_PERMISSION, /* session/request_permission */
	ENVELOPE_WRITE, /* fs/write_text_file */
	ENVELOPE_TERMINAL, /* terminal/create, which runs a command */
	ENVELOPE_REFUSED, /* one of these in a form that readers may understand differently, or
	                     what may be half of one: no whole JSON value */
	ENVELOPE_NOISE, /* no JSON, nor the beginning of a message: what a program prints */
};

enum envelope_kind envelope_kind_of(const char *line, size_t length, const struct json_peek *peek);
/* Whether readers may understand a line differently, or as a part of another: a kind of
 * ENVELOPE_REFUSED or ENVELOPE_NOISE, whatever its method. */
bool envelope_is_unclear(const char *line, size_t length, const struct json_peek *peek);
/* The method of a kind that is held. */
const char *envelope_method(enum envelope_kind kind);

/* Reads a message that is held: JSON that every reader understands as we do. NULL, and why. The
 * caller deletes it. */
cJSON *envelope_read(const char *line, size_t length, struct err *e);

#endif
