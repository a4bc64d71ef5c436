/* call: one tools/call, from its arguments to its row and its result.
 *
 * call_open checks the arguments, call_look says what has to be known of files (a process of its
 * own finds that out, hand.h), call_prepare takes what was found, call_run writes its rows (inside
 * a transaction), call_result builds what the caller is told once a wait has ended. What is special
 * to a tool is in tools/<tool>.c. Domain failures are results with is_error; only broken
 * assumptions and a database that fails are errors. */
#ifndef CALL_H
#define CALL_H

#include "hand.h"
#include "json.h"
#include "peer.h"
#include "policy_trust.h"
#include "proposal.h"
#include "sha256.h"
#include "steering.h"
#include "store.h"
#include "str.h"
#include "telling.h"
#include "tool.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum {
	CALL_GIVE_UP_MS = 20000, /* the shortest time-out of a client that we learn from */
	CALL_TASK_KEPT_MS = 3600000, /* a task is there for so long after its question's deadline */
};

/* The types of a prompt (tools/transmit.c); each has its own time. */
enum { PROMPT_TYPES = 4 };
extern const char *const PROMPT_TYPE[PROMPT_TYPES];

/* What of the configuration calls need; filled once at start. */
struct call_settings {
	struct workspaces workspaces;
	const char *db_path;
	char *database; /* canonical: it and what is beneath is not touched, */
	char **ours; /* nor are these (workspace.h) */
	int64_t approval_ms, wait_ms; /* 0: for ever */
	int64_t prompt_ms[PROMPT_TYPES]; /* by the type's place in PROMPT_TYPE */
	int64_t wait_cap_ms; /* then a caller is told 'pending' */
	size_t fuzz; /* of diffs */
	bool stall_enabled;
	bool elicitation; /* clients may show questions to their users */
	cJSON *commands; /* map: a policy may allow only these; NULL: any */
	enum policy_trust trust; /* of policies, where the configuration does not name the folder */
	cJSON *always_ask; /* list: no policy allows to write these; NULL: none besides ours */
	const char *listener; /* worker.id of this front */
};

struct call {
	const struct tool *tool;
	cJSON *arguments; /* nulls dropped, defaults filled in */
	struct str canonical; /* the same as canonical JSON */
	char *rpc_id; /* JSON token, see rpc_id_canonical */
	char *progress_token; /* JSON token or NULL */
	bool modern; /* revision 2026-07-28 */
	bool as_task; /* if it has to wait, its client takes it as a task */
	bool elicits; /* its client may show the question to its user, and call again */
	const cJSON *responses; /* what its client's user said, by request id; borrowed, or NULL */
	struct sha256 digest; /* of the question: tool, arguments, files as they are */
	struct str effect; /* check_clearance: what it makes of the files, as we compute it */
	struct plan plan; /* check_clearance: every path, as it is now */
	struct touched *files; /* its paths; what they point to is the plan's */
	struct str named_path; /* auto_check: the file that it names, relative to the workspace */
	struct str named_target; /* and the one that this stands for */
	bool names_other_file; /* auto_check: it names one outside the workspace */
	struct policy_answer policy; /* what the workspace's policy says of it */
	struct policy_file
	    *untrusted; /* it allows it, but nobody has trusted this version; borrowed */
	struct str policy_reason; /* why it was allowed, for the audit */
	char policy_hash[SHA256_BYTES]; /* of the version that was asked */
	bool logs_policy; /* what is allowed is told, */
	int64_t summary_ms; /* so long afterwards at the latest */

	int64_t seq; /* of its tool_call row */
	int64_t request_seq, apply_seq; /* what it is about; 0: nothing */
	bool waiting; /* its result comes later, through answer */
	bool is_task; /* its client comes for the result: nobody is held */
	int64_t timeout_ms; /* of its question; 0: it waits for ever */
	bool is_error;
	bool is_answer; /* the result is a person's answer */
	bool is_said; /* broadcast: Slack shows it soon, and the result can say where */
	struct str result; /* JSON object */
	struct str elicitation; /* JSON object: what the client is to ask its user, or empty */
	struct steering steering; /* what goes with it */
};

/* Takes the params of tools/call. 0; or -1 with a text for a JSON-RPC error -32602. Arguments that
 * do not fit the schema are no error here: the call then has a result with is_error. */
int call_open(struct call *c, const cJSON *params, const char *rpc_id, bool has_nul, struct err *e);
void call_clear(struct call *c);

/* Whether a policy has to be asked about an opened call. */
bool call_asks_policy(const struct call *c);

/* Puts into ask what an opened call has to know of files. Whether there is anything. What it points
 * to is the call's. */
bool call_look(struct call *c, const struct call_settings *settings, struct hand_ask *ask);

/* Takes what was found (NULL: nothing had to be), computes the digest, and asks the workspace's
 * policy (NULL if call_asks_policy says no). Refusals become the call's result. */
void call_prepare(struct call *c, struct hand_found *found, struct policy_file *policy,
                  const struct call_settings *settings);
/* Nothing could be found out: that is the result. */
void call_refuse(struct call *c, const struct refusal *why);

/* Writes the rows; p must be joined. On return c->waiting, or c->result is filled. */
int call_run(struct store *st, struct call *c, struct peer *p, const struct call_settings *settings,
             struct err *e);

/* The caller of a call that waits has come back, to this listener (NULL: to look at its task): its
 * question is asked again and its session active, if a stop had interrupted them. Inside a
 * transaction. */
int call_attach(struct store *st, int64_t call_seq, const char *listener, struct err *e);

/* How long a call of p may wait before it is told so. */
int64_t call_patience_ms(const struct peer *p, const struct call_settings *settings);

/* Builds the result of a call whose wait has ended (or is looked at: then it is 'pending'). t is
 * empty. Of one that was told before, with what went with it. */
int call_result(struct store *st, int64_t call_seq, struct telling *t, struct err *e);

/* Adds what the operator has to say to a result that is told for the first time. after: the last
 * steering.seq that is on its way to this session already. */
int call_steer(struct store *st, struct telling *t, int64_t after, struct err *e);

/* The result of a call was handed over, and did not arrive: its caller had closed. It counts as not
 * told, with all that went with it. Inside a transaction. */
int call_untell(struct store *st, int64_t call_seq, struct err *e);

/* The client of a connection cancelled a call whose result had gone out: it may have crossed with
 * it. Asking again gets the answer again, and what went with it goes with the next result, too;
 * another call shows that the answer has arrived. A client that does so a second time is one that
 * cancels whatever it has got (opencode 1.18): it is believed once. Inside a transaction. */
int call_doubt(struct store *st, int64_t connection_seq, int64_t call_seq, struct err *e);

/* The client gave up on a call that waits: the next calls of its session are told 'pending' well
 * before that. Times under CALL_GIVE_UP_MS say nothing: a person cancels too. Inside
 * a transaction, before the call changes state. */
int call_given_up(struct store *st, int64_t call_seq, struct err *e);

/* Writes that the result has been handed over, and what went with it. Inside a transaction. */
int call_finish(struct store *st, int64_t call_seq, const struct telling *t, struct err *e);

#endif
