/* frame: the messages in an agent's bytes, one to a line or behind Content-Length headers, whatever
 * pieces they come in. */
#ifndef ACP_FRAME_H
#define ACP_FRAME_H

#include "lines.h"

enum acp_framing { ACP_NDJSON, ACP_LSP };

/* bytes: the message, valid during the call and followed by a NUL; blank lines are left out. NULL:
 * it was longer than the limit, and over tells what is known of it. Returns whether to go on. */
typedef bool acp_frame_take(void *arg, const char *bytes, size_t length,
                            const struct json_peek *over);

struct acp_frame {
	enum acp_framing framing;
	struct lines message; /* a line or a body that is not complete */
	bool in_body; /* ACP_LSP: behind the headers */
	size_t left; /* bytes that the body still has */
};

#define ACP_FRAME_INIT(how, limit)                                                                 \
	{                                                                                          \
		.framing = (how), .message = LINES_INIT(limit)                                     \
	}

/* Hands each message that these bytes complete to take. False when take says so; the bytes behind
 * that message are lost then. */
bool acp_frame_feed(struct acp_frame *f, const char *bytes, size_t length, acp_frame_take *take,
                    void *arg);
/* The bytes are at an end: so is a last line without its newline. */
bool acp_frame_end(struct acp_frame *f, acp_frame_take *take, void *arg);
void acp_frame_clear(struct acp_frame *f);

/* Appends a message (JSON without a newline) as it is sent. */
void acp_frame_add(struct str *out, enum acp_framing framing, const char *json);

#endif
