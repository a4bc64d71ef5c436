/* stream: the protocol acp-stream, an object {method, id, params} to a line. Neither side greets:
 * the agent works, asks and tells; it is told what was decided. */
#ifndef ACP_STREAM_H
#define ACP_STREAM_H

#include "events.h"
#include "message.h"

/* Tells sink what a message says; a question is returned instead (the caller frees it). What is
 * malformed, unknown or lacks a field becomes a note for the log and nothing else. m: as
 * acp_message_read left it; why: what was wrong with it, NULL: nothing. bytes: the message. */
struct acp_inquiry *acp_stream_take(const struct acp_message *m, const struct err *why,
                                    const char *bytes, size_t length, const char *root,
                                    const struct acp_sink *sink);

/* Append a message (JSON). id: the token of the question; reason, instruction: NULL: none. */
void acp_stream_add_clearance(struct str *out, const char *id, const char *status,
                              const char *reason);
void acp_stream_add_decision(struct str *out, const char *id, const char *decision,
                             const char *instruction);
void acp_stream_add_prompt(struct str *out, const char *text);
void acp_stream_add_interrupt(struct str *out, const char *reason);
void acp_stream_add_nudge(struct str *out, const char *text);

#endif
