/* opening: from initialize to a session that can be prompted: the version, the login, the session,
 * a mode in which it asks. */
#ifndef ACP_OPENING_H
#define ACP_OPENING_H

#include "talk.h"

void acp_opening_begin(struct acp *a);
/* Takes the answer to one of its calls. */
void acp_opening_take(struct acp *a, enum acp_call_kind kind, const struct acp_message *m);
/* The agent changed its mode: puts it back where that is refused. */
void acp_opening_mode_changed(struct acp *a);
/* What a person is told where it needs a login; text: what the agent says. */
void acp_opening_add_login(const struct acp *a, const char *text, struct str *out);
/* What is due did not come. */
void acp_opening_late(struct acp *a);

#endif
