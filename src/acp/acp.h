/* acp: one session of one agent, over its stdin and stdout: bytes in, events out; what it is to be
 * told in, bytes out. It reads no clock, opens no file and starts no process.
 *
 * Two protocols, told apart by the agent's profile: the Agent Client Protocol (versions 1 and 2),
 * and acp-stream, an object to a line. At most one prompt is in flight. A question is answered
 * once, on the connection that asked it. Events may be told during each of these functions; who
 * is told must not call back. */
#ifndef ACP_H
#define ACP_H

#include "events.h"
#include "frame.h"
#include "greeting.h"
#include "inquiry.h"
#include "message.h"
#include "update.h"

enum acp_dialect { ACP_STANDARD, ACP_STREAM };

/* Texts are the caller's and outlive the session. */
struct acp_how {
	enum acp_dialect dialect;
	enum acp_framing framing;
	size_t most; /* bytes of a message */
	int64_t startup_ms; /* how long initialize may take */
	const char *root; /* the workspace, an absolute path */
	/* Of ACP_STANDARD alone: */
	int version; /* ACP_VERSION_ANY: whichever the agent speaks */
	const char *mcp_url; /* our MCP server over HTTP, for the agent; NULL: none */
	const char *mcp_authorization; /* what it shows there; NULL: nothing */
	const char *mcp_program; /* the same as a program, by its absolute path; NULL: none */
	const char *mcp_args, *mcp_env; /* JSON lists: its arguments; [{name, value}] */
	const char *auth_method; /* to be called before the session; NULL: none */
	const char *resume; /* the agent's id of the session to go on with; NULL: a new one */
	const char *asking; /* JSON object {option: value}: makes it ask; NULL: it does by itself */
	const char *refused; /* JSON list of modes in which it does not ask, or of what follows the
	                        '#' of their ids; NULL: none */
	bool forms; /* a person can be shown forms */
};

enum acp_step {
	ACP_STEP_INITIALIZE,
	ACP_STEP_AUTHENTICATE,
	ACP_STEP_SESSION,
	ACP_STEP_MODES,
	ACP_STEP_OPEN,
	ACP_STEP_OVER, /* failed or closed */
};

struct acp_call; /* of ours that waits for its answer */

struct acp {
	struct acp_how how;
	struct acp_sink sink;
	struct str out; /* bytes for the agent's stdin: the caller writes and removes them */
	enum acp_step step;
	struct acp_greeting agent;
	struct str session_id; /* the agent's; "": none yet */
	bool turn_open; /* a prompt is in flight, or the agent works by itself */
	bool cancelled; /* and it was told to end that */
	bool gives_tools; /* the agent was given our MCP server */
	bool is_new; /* the session began anew; false: it goes on with how.resume */
	struct acp_inquiry *asks; /* that wait for an answer, oldest first */
	/* Below: of acp*.c alone. */
	struct acp_frame frame;
	struct acp_told told;
	cJSON *asking, *refused;
	struct acp_call *calls;
	int next_id, mode_steps, junk;
	bool replaying, ran, heard;
	int64_t now_ms, deadline_ms;
};

/* Begins; the first bytes are in a->out. */
void acp_open(struct acp *a, const struct acp_how *how, const struct acp_sink *sink,
              int64_t now_ms);
/* What the agent wrote. */
void acp_feed(struct acp *a, const char *bytes, size_t length, int64_t now_ms);
/* Its stdout has ended: ACP_CLOSED, unless that was told. */
void acp_end(struct acp *a, int64_t now_ms);
/* What is due by the clock; when that is, INT64_MAX: nothing. */
void acp_tick(struct acp *a, int64_t now_ms);
int64_t acp_due_ms(const struct acp *a);

/* Sends a prompt. 0, or -1: not open, or a turn is (ERR_AGAIN). Of ACP_STREAM, which has no turns,
 * also while it works. */
int acp_prompt(struct acp *a, const char *text, int64_t now_ms, struct err *e);
/* Wakes it: a nudge of ACP_STREAM, a prompt of ACP_STANDARD. */
int acp_nudge(struct acp *a, const char *text, int64_t now_ms, struct err *e);
/* Ends the turn: each question is withdrawn and answered so. */
void acp_cancel(struct acp *a, const char *reason, int64_t now_ms);
/* Says goodbye where the agent knows of that. */
void acp_close(struct acp *a, const char *reason, int64_t now_ms);

/* What a person decided. */
struct acp_answer {
	enum { ACP_YES, ACP_NO, ACP_OPTION, ACP_NONE } verdict; /* NONE: nobody answered */
	const char *option; /* ACP_OPTION: one that was offered */
	const char *reason; /* ACP_STREAM: of a no; of a prompt the instruction; NULL: none */
	const char *decision; /* of a prompt: continue, refine, stop */
	const char *content; /* of a form that is accepted: a JSON object */
};

/* Answers a question. 1: sent, 0: it needs none any longer, -1: it cannot be answered so. */
int acp_answer(struct acp *a, const char *id, const struct acp_answer *answer, struct err *e);

/* The question that waits under this token, NULL: none. */
const struct acp_inquiry *acp_find(const struct acp *a, const char *id);
/* Whether the ball is with the agent; answered: or will be when it has the answer to this question,
 * NULL: none. ACP_STREAM knows no turns. */
bool acp_works(const struct acp *a, const char *answered);

void acp_clear(struct acp *a);

#endif
