/* session: the agent's sessions, and in which folder each works: as its editor opened it. */
#ifndef SESSION_H
#define SESSION_H

#include "proxy.h"

/* The agent's session with this id; NULL: its editor has opened none (id: or NULL). */
struct session *session_opened(struct proxy *p, const char *id);

/* What the editor said, as far as it tells of sessions: session/new, session/load, ... false: it is
 * not to reach the agent, and the editor has been told: its folder is no absolute path. */
bool session_note_editor(struct proxy *p, const char *line, size_t length,
                         const struct json_peek *peek);
/* The same of what the agent said, also of its tools. false: it is not to reach the editor, which
 * has been told: an answer to an opening of which readers could take different sessions. */
bool session_take_agent(struct proxy *p, const char *line, size_t length,
                        const struct json_peek *peek);
/* The agent's line is refused. true: the editor has been told, as it may answer an opening. */
bool session_refuse_agent(struct proxy *p, const struct json_peek *peek);

void session_clear_all(struct proxy *p);

#endif
