/* gather: an agent's words come in pieces of a few letters; a person is sent whole paragraphs. */
#ifndef ACP_GATHER_H
#define ACP_GATHER_H

#include "events.h"

enum {
	ACP_GATHER_QUIET_MS = 3000, /* after so long without a piece, what there is is told */
	ACP_GATHER_BYTES = 3000, /* so much at a time */
};

struct acp_gather {
	struct str text; /* not told yet */
	struct str message; /* its messageId; "": it had none */
	int64_t last_ms; /* when the last piece came */
	bool told; /* some of this message */
};

/* A piece of message id (NULL: not said); a piece of another message ends the one before it. */
void acp_gather_add(struct acp_gather *g, const char *id, const char *text, int64_t now_ms,
                    const struct acp_sink *sink);
/* The whole of a message in place of its pieces; nothing where some of it has been told. */
void acp_gather_replace(struct acp_gather *g, const char *id, const char *text, int64_t now_ms,
                        const struct acp_sink *sink);
/* Tells what there is: something else begins. */
void acp_gather_flush(struct acp_gather *g, const struct acp_sink *sink);
/* Tells it if it has been quiet long enough. */
void acp_gather_tick(struct acp_gather *g, int64_t now_ms, const struct acp_sink *sink);
/* When acp_gather_tick would, INT64_MAX: never. */
int64_t acp_gather_due_ms(const struct acp_gather *g);
void acp_gather_clear(struct acp_gather *g);

#endif
