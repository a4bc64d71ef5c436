/* hook_pipe: a hook on the relays' socket, which says and is told what src/gate/gate_wire.h says.
 */
#ifndef HOOK_PIPE_H
#define HOOK_PIPE_H

#include "sink.h"

/* Looks at the greeting of a pipe. If it is one of a hook, of a host and an event that are known,
 * s->hook_event is set: from then on its lines go to hook_pipe_take, and what it is told is worded
 * by hook_pipe_word. */
void hook_pipe_greet(struct sink *s, const cJSON *hello);

/* Appends what it is told of a message, maybe nothing. */
void hook_pipe_word(const struct sink *s, const struct str *message, struct str *words);

/* Takes a line that follows the greeting, or refuses it. length > FRONT_MAX_MESSAGE: it was too
 * long, and is gone. */
void hook_pipe_take(struct sink *s, const char *line, size_t length);

#endif
