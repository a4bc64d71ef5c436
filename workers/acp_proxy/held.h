/* held: a message of the agent that waits for its answer, and how far its question is. */
#ifndef HELD_H
#define HELD_H

#include "envelope.h"
#include "proxy.h"
#include "subject.h"

enum answer { ANSWER_NONE, ANSWER_YES, ANSWER_NO, ANSWER_WITHDRAWN };

struct question {
	TAILQ_ENTRY(question) next;
	enum envelope_kind kind;
	struct session *session;
	char *folder; /* of the session, when it was asked */
	char *token, *id; /* as it came; canonical */
	char *shown_token, *shown_id; /* of the editor's dialog, if that is not its first one */
	struct str line; /* the message, with its end */
	struct subject subject;
	cJSON *content; /* of a permission's call, then; or NULL */
	struct grants grants; /* what a yes approves */
	struct sha256 base; /* of a write: the file when it was last asked about */
	struct uplink link;
	char *digest; /* of what the front last had asked; NULL: nothing yet */
	const struct acp_option
	    *operators; /* what the front says was chosen; NULL: just yes or no */
	bool is_asked; /* the front has a person asked */
	bool in_editor; /* the editor shows it */
	bool editor_may_not; /* the session is answered elsewhere only */
	int losses; /* fronts that were lost since one had a person asked */
	int64_t show_ms; /* when the editor is shown it while no front is there */
	/* The editor's answer, and whether the front has been told: */
	enum answer answer;
	const struct acp_option *chosen; /* NULL: none */
	struct str answer_line;
	int64_t answered_ms; /* or when the front was lost since */
	int64_t decide_ms; /* not before */
	bool is_told;
	bool is_first; /* it is the one that counts */
	bool is_second; /* somebody else's was the first */
	bool is_unclear; /* it has answered, and nobody knows what */
	bool is_cancelled; /* its turn was: its answer is the last one */
	/* Of one that needs no answer any longer: */
	bool is_over;
	bool owes; /* the front does not know what the agent was told: answer; none: refused */
	int64_t end_ms;
};

/* Holds the agent's request. The session counts it; the subject is still to be read. */
struct question *held_add(struct proxy *p, enum envelope_kind kind, struct session *s,
                          const char *line, size_t length, const char *token);
void held_drop(struct proxy *p, struct question *q);
/* Lets go of what is not needed to tell a front how it ended. False: that would be too much. */
bool held_lighten(struct proxy *p, struct question *q);

/* The one that needs an answer, by the id of the agent's request, as it came; NULL: none. */
struct question *held_find(struct proxy *p, const char *token);
/* The same by the id of what the editor is shown. */
struct question *held_find_shown(struct proxy *p, const char *token);
/* The id of what the editor is shown, as it is sent, and canonical. */
const char *held_shown_token(const struct question *q);
const char *held_shown_id(const struct question *q);

#endif
