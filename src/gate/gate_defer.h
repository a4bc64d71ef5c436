/* gate_defer: whether a host's process can end instead of waiting for the answer to a call of a
 * tool, and make the same call again when it is started to go on.
 *
 * Seen in Claude Code 2.1.330 without a terminal (`-p`). Of several calls in one message only the
 * last is made again, and the results of the others are lost; a call of a subagent is lost as well;
 * a version that does not know this answer runs the tool. So it is asked only for a call that is
 * alone in its message, of the agent itself, in a version that is known, all of which the
 * transcript says. */
#ifndef GATE_DEFER_H
#define GATE_DEFER_H

#include "gate_input.h"

/* Whether a call is of the kind that its host can make again (gate_host_process says by whom). */
bool gate_defer_fits(const struct gate_input *in);

/* Whether it fits, and the transcript, of which the end is read, says that it is one to end with.
 * The host writes it late: waits for a second at most. */
bool gate_defer_may(const struct gate_input *in);

enum gate_defer_found { GATE_DEFER_UNKNOWN, GATE_DEFER_WRONG, GATE_DEFER_ALONE };

/* What the transcript's text says of a call of this host; it may begin within a line. */
enum gate_defer_found gate_defer_find(const struct gate_host *host, const char *text,
                                      const char *tool_use_id);

#endif
