/* gate_wire: what the program hook and mcp-front say to each other on <run>/mcp.sock. The hook
 * knows no JSON that it has not written: the front reads the host's, and words the answer in the
 * host's dialect.
 *
 * The hook sends three lines: its greeting, an object with "hook" (the host) and "event"; the
 * question's params but for the host's input, an object; and that input. The front sends a
 * greeting, which begins with {, and lines that begin with what they are for. */
#ifndef GATE_WIRE_H
#define GATE_WIRE_H

#include "gate_host.h"
#include "str.h"

#include <stddef.h>

enum {
	GATE_WIRE_INPUT_BYTES =
	    (4 << 20) - (64 << 10), /* with its envelope it is a line of the front's */
};

enum gate_wire {
	GATE_WIRE_GREETING = '{',
	GATE_WIRE_NOW = '+', /* for stdout at once: the wait */
	GATE_WIRE_OUT = '>', /* for stdout */
	GATE_WIRE_WHY = '!', /* for stderr */
	GATE_WIRE_ENDS = '?', /* the host's process may end with the call, if it can (gate_defer.h);
	                         the lines that follow are for one that cannot */
	GATE_WIRE_STATUS = '=', /* the last line: the exit status, one digit */
};

/* Appends the JSON-RPC request of a hook, without its input, which becomes params.input: of its
 * second line. */
void gate_wire_add_question(struct str *out, const char *params, size_t length);

/* Appends what a hook is told of a message to it, a JSON-RPC response or notification (JSON): maybe
 * nothing. The event is one of the host's. */
void gate_wire_add_message(struct str *out, const struct gate_host *host, const char *event,
                           const char *message, size_t length);
/* The same of a failure: before a tool a deny with this reason. */
void gate_wire_add_failure(struct str *out, const struct gate_host *host, const char *event,
                           const char *reason);

#endif
