/* proxy: what the parts of acp-proxy share. Each file builds on those before it:
 *
 *   channel    lines of one direction, the same bytes in and out
 *   envelope   what kind of message a line is, and a message that is held, read strictly
 *   names      the members that a message may have, and what else it has
 *   grant      what a person has approved and the editor has not been asked for yet
 *   subject    what a message that is held asks for, in the words of the gate (gate_host.h)
 *   uplink     connections to mcp-front, one for each question
 *   session    the agent's sessions, and where they work
 *   due        the answers that the editor owes the agent
 *   held       a message that waits for its answer
 *   dialog     what the editor is shown of it, and what its user answers
 *   question   messages that are held, from the question to the one answer
 *   traffic    what happens to each line
 *   child      the agent's process
 *   main       puts them together */
#ifndef PROXY_H
#define PROXY_H

#include "channel.h"
#include "grant.h"
#include "id.h"
#include "tool_call.h"
#include "uplink.h"

#include <stdbool.h>
#include <sys/queue.h>

enum {
	PROXY_SESSIONS = 1000, /* of the agent; the oldest is forgotten, and refused */
	PROXY_QUESTIONS = 500, /* held at once */
	PROXY_EDITOR_MS = 2000, /* when no front is there, the editor is asked */
	PROXY_LOSSES = 10, /* fronts in a row that were lost before they had a person asked: then
	                    * the question counts as the cause, and no other is asked */
	PROXY_LINGER_MS = 2000, /* to tell the front that a question needs no answer */
	PROXY_REJECTED = -32001, /* JSON-RPC code of a write or a command that a person refused */
	PROXY_HELD_BYTES = 64 << 20, /* of all of them; then the agent waits to be read */
	PROXY_DUES = 100000, /* requests of the agent that the editor has not answered */
	PROXY_LATE = 4096, /* answers of the editor that are still to come, and are dropped */
};

/* A session of the agent: it works in one folder, and is one session of ours. */
struct session {
	TAILQ_ENTRY(session) next;
	char *id; /* the agent's */
	char *folder; /* absolute; NULL: no opening has named it yet */
	bool is_loaded; /* the editor goes on with it: it was there before us */
	int questions; /* that are held of it */
	struct acp_tool_calls calls;
	struct grants grants;
};

struct question;

/* A request of the editor that opens a session, until its id is of another one. */
struct opening {
	TAILQ_ENTRY(opening) next;
	char *id; /* canonical token */
	char *folder;
	char *session; /* that is loaded; NULL: the answer names it */
	char *before; /* where that worked; or NULL */
	bool is_answered;
};

/* An answer of the editor that nobody waits for any longer. */
struct late {
	TAILQ_ENTRY(late) next;
	char *id; /* canonical token */
};

enum if_down {
	IF_DOWN_EDITOR, /* permissions are the editor's alone; nothing is written or run unasked
	                 */
	IF_DOWN_DENY,
};

struct proxy {
	struct channel to_editor, to_agent;
	struct secret run; /* keeps our sessions apart from those that another agent calls so */
	struct uplink_system system;
	enum if_down when_down;
	TAILQ_HEAD(sessions, session) sessions; /* the newest first */
	int session_count;
	TAILQ_HEAD(questions, question) questions; /* in the order of asking */
	int question_count;
	size_t held_bytes;
	void *dues; /* ids (canonical tokens) of what the editor was asked, by tsearch; see due.h */
	int due_count;
	bool has_dropped; /* what is no message */
	TAILQ_HEAD(openings, opening) openings;
	int opening_count;
	TAILQ_HEAD(lates, late) lates; /* the oldest first */
	int late_count;
};

#endif
