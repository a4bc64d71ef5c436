/* judge: what the policy of the workspace says about a question of the agent, before a person is
 * asked. What it allows is answered with yes, once; about everything else a person is asked.
 *
 * A question can be judged if all that it touches is known: a command line, files to be written, or
 * files to be read; and one how to proceed (acp-stream), as if transmit were called. Names and what
 * they stand for must be in the workspace and allowed, and nothing beneath them, nor another name
 * of theirs, may be in policy.always_ask. The files are looked at by another process (looker.h), as
 * the user of the agent; if it is not done in time, a person is asked. */
#ifndef JUDGE_H
#define JUDGE_H

#include "inquiry.h"
#include "looker.h"
#include "policy_gate.h"

struct runner;

/* All zero: not asked yet. */
struct judge {
	bool is_open;
	struct policy_files policies;
	enum policy_trust trust;
	cJSON *known, *always_ask; /* as in struct policy_question */
	struct str always; /* always_ask as text; "": it names nothing */
	cJSON *workspaces; /* that the configuration names */
	struct str usual;
	const char **listed; /* their folders */
	size_t listed_count;
	struct looker looker;
};

/* What was said about one question. */
struct verdict {
	struct policy_verdict is;
	struct str subject; /* the command, the file, or the prompt */
	struct policy_file *file; /* NULL: it was not looked at. Of the judge */
};

/* Judges q, if there is one way to say yes to it. A path of it that leads outside of root makes it
 * critical. v is fresh; the caller clears it. */
void judge_ask(struct judge *j, struct runner *r, const char *root, struct acp_inquiry *q,
               struct verdict *v);
void verdict_clear(struct verdict *v);
/* Nothing was asked for a while: keeps no process for it. */
void judge_rest(struct judge *j);
void judge_clear(struct judge *j);

#endif
