/* subject: what a message that is held asks for, in the words of the gate: a tool of the host "acp"
 * (gate_host.c) and its input. What the front is not sure to show in full goes there as a tool that
 * it does not know, with everything that the agent said. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "envelope.h"
#include "inquiry.h"

struct subject {
	struct acp_inquiry ask; /* of a permission or a command */
	bool must_choose; /* a permission that has not one yes: whoever answers says with what */
	char *path; /* of a write; absolute */
	struct str others; /* JSON: what the protocol does not define; "": nothing */
	struct str input; /* JSON: the hook's input */
};

/* kind: of a message that is held. call: the tool call that a permission is about
 * as far as it is known, or NULL. session: the agent's id, folder: where it works. 0, or -1: it
 * asks for nothing that could be answered, or not for the same to every reader. subject is zeroed
 * before. */
int subject_read(struct subject *s, enum envelope_kind kind, const cJSON *message,
                 const struct acp_tool_call *call, const char *session, const char *folder,
                 struct err *e);
void subject_clear(struct subject *s);

#endif
