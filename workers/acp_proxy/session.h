/* session: the agent's sessions, and in which folder each works: as its editor opened it. */
#ifndef SESSION_H
#define SESSION_H

#include "proxy.h"

/* The session with this id of the agent's (NULL: it said none); a new one works where we were
 * started. */
struct session *session_of(struct proxy *p, const char *id);

/* What the editor or the agent said, as far as it tells of sessions and of the agent's tools. */
void session_note_editor(struct proxy *p, const char *line, size_t length,
                         const struct json_peek *peek);
void session_note_agent(struct proxy *p, const char *line, size_t length,
                        const struct json_peek *peek);

void session_clear_all(struct proxy *p);

#endif
