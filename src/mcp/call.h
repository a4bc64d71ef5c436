/* call: one tools/call, from its arguments to its row and its result.
 *
 * call_open checks the arguments, call_look says what must be known about files (a separate process
 * finds that out, hand.h), call_prepare takes its findings, call_run writes the rows (inside a
 * transaction), call_result builds what the caller is told once a wait has ended. What is specific
 * to a tool is in tools/<tool>.c. Domain failures are results with is_error; only false assumptions
 * and a failing database are errors. */
#ifndef CALL_H
#define CALL_H

#include "hand.h"
#include "peer.h"
#include "policy_gate.h"
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
	CALL_TASK_KEPT_MS = 3600000, /* how long a task is kept after its request's deadline */
};

/* The types of a prompt (tools/transmit.c); each has its own timeout. */
enum { PROMPT_TYPES = 4 };
extern const char *const PROMPT_TYPE[PROMPT_TYPES];

/* The part of the configuration that calls need; filled once at start. */
struct call_settings {
	struct workspaces workspaces;
	const char *db_path;
	struct own_places ours; /* are not touched (workspace.h) */
	int64_t approval_ms, wait_ms; /* 0: no limit */
	int64_t prompt_ms[PROMPT_TYPES]; /* by index in PROMPT_TYPE */
	int64_t wait_cap_ms; /* then a caller is told 'pending' */
	size_t fuzz; /* of diffs */
	int64_t user_questions; /* that agents of another user may have open at a time */
	/* Whether a new question of p may have so many bytes of files recorded; otherwise why (of
	 * size bytes) says why not. */
	bool (*may_record)(void *front, const struct peer *p, size_t bytes, char *why, size_t size);
	void *front; /* its first argument */
	bool stall_enabled;
	bool elicitation; /* clients may show questions to their users */
	cJSON *commands; /* map: a policy may allow only these; NULL: any */
	enum policy_trust trust; /* of policies, if the configuration does not name the folder */
	cJSON *always_ask; /* list: as in struct policy_question */
	bool gate_reads_by_policy, gate_standby; /* settings gate.reads, gate.standby_at_end */
	int64_t gate_wait_ms; /* 0: as long as a hook may */
	const char *listener; /* worker.id of this front */
};

struct call {
	const struct tool *tool;
	struct hook *hook; /* of a hook (hook.h); NULL: a tool of ours was called */
	cJSON *arguments; /* nulls dropped, defaults filled in; what is long belongs to params */
	struct str canonical; /* the same as canonical JSON; from call_prepare on */
	char *rpc_id; /* JSON token, see json_add_id */
	char *progress_token; /* JSON token or NULL */
	char *traceparent; /* of its client (trace.h) or NULL */
	bool modern; /* revision 2026-07-28 */
	bool as_task; /* if it has to wait, its client accepts a task */
	bool elicits; /* its client may show the request to its user, and call again */
	const cJSON *responses; /* its user's answers, by request id; borrowed, or NULL */
	struct sha256 digest; /* of the request: tool, arguments, current files */
	struct str effect; /* check_clearance: its effect on the files, as we compute it */
	struct str always_ask; /* JSON list: that of call_settings */
	struct str links; /* check_clearance: its description, if files have several names */
	struct plan plan; /* check_clearance: every path, in its current state */
	bool is_conflict; /* check_clearance: its diff does not fit the files */
	struct touched *files; /* its paths; what they point to belongs to the plan */
	const char *named; /* auto_check: the file of its context; borrowed */
	struct hand_name *names; /* files that it only names: owned */
	size_t name_count;
	struct policy_verdict policy; /* of the workspace's policy */
	struct policy_file *policy_file; /* that gave it; borrowed */

	int64_t seq; /* of its tool_call row */
	int64_t request_seq, apply_seq; /* its subject; 0: none */
	bool waiting; /* its result comes later, through ended_call */
	bool is_task; /* its client fetches the result: no caller is held */
	int64_t timeout_ms; /* of its request; 0: it waits indefinitely */
	bool is_error;
	bool is_answer; /* the result is a person's answer */
	bool is_said; /* broadcast: Slack shows it soon, and the result can say where */
	struct str result; /* JSON object */
	struct str elicitation; /* JSON object: what the client should ask its user, or empty */
	struct steering steering; /* goes with it */
};

/* Takes the params of tools/call, which must outlive the call. 0; or -1 with a text for a JSON-RPC
 * error -32602. Arguments that do not fit the schema are not an error here: the call then has a
 * result with is_error. */
int call_open(struct call *c, const cJSON *params, const char *rpc_id, bool has_nul, struct err *e);
void call_clear(struct call *c);

/* Whether it waits while an operator has paused its session. */
bool call_is_parked(const struct call *c);

/* Fills ask with what an opened call has to know about files. Returns whether there is anything.
 * What it points to belongs to the call. */
bool call_look(struct call *c, const struct call_settings *settings, struct hand_ask *ask);

/* Takes the findings (NULL: none were needed), computes the digest, and asks the workspace's policy
 * (NULL: none has to judge it). Refusals become the call's result. */
void call_prepare(struct call *c, struct hand_found *found, struct policy_file *policy,
                  const struct call_settings *settings);
/* Nothing could be found out: that becomes the result. */
void call_refuse(struct call *c, const struct refusal *why);

/* Writes the rows; p must be joined. On return c->waiting is set, or c->result is filled. */
int call_run(struct store *st, struct call *c, struct peer *p, const struct call_settings *settings,
             struct err *e);

/* The caller of a waiting call has come back, to this listener (NULL: to look at its task): if a
 * stop had interrupted them, its request is pending again and its session active. Inside a
 * transaction. */
int call_attach(struct store *st, int64_t call_seq, const char *listener, struct err *e);

/* How long a call of p may wait before its caller is told 'pending'. */
int64_t call_patience_ms(const struct peer *p, const struct call_settings *settings);

/* Builds the result of a call whose wait has ended (or that is looked at before: then it is
 * 'pending'). t is empty. A result that was told before comes with the same steering. */
int call_result(struct store *st, int64_t call_seq, struct telling *t, struct err *e);

/* Adds the operator's words to a result that is told for the first time. after: the last
 * steering.seq that is already on its way to this session. */
int call_steer(struct store *st, struct telling *t, int64_t after, struct err *e);

/* The result of a call was sent but did not arrive: its caller had closed. It counts as not told,
 * with everything that went with it. Inside a transaction. */
int call_untell(struct store *st, int64_t call_seq, struct err *e);

/* The result of an ended call is sent again: undoes call_untell, unless somebody else was told
 * since. Inside a transaction. */
int call_tell_again(struct store *st, int64_t call_seq, struct err *e);

/* A relay is back with its connection: it has passed on what it had not read when its front ended
 * or cut it off, or calls again for it. So what was taken back of its calls counts as told, unless
 * somebody else was told since. Inside a transaction. */
int call_heard(struct store *st, int64_t connection_seq, struct err *e);

/* The client of a connection cancelled a call whose result had been sent: the two may have crossed.
 * Asking again gets the answer again, and its steering also goes with the next result; a different
 * call proves that the answer has arrived. A client that does this twice cancels whatever it has
 * received (opencode 1.18): it is believed once. Inside a transaction. */
int call_doubt(struct store *st, int64_t connection_seq, int64_t call_seq, struct err *e);

/* The client gave up on a waiting call: from now on the calls of its session are told 'pending'
 * well before that time. Times under CALL_GIVE_UP_MS say nothing: people cancel, too. Inside a
 * transaction, before the call changes state. */
int call_given_up(struct store *st, int64_t call_seq, struct err *e);

/* Records that the result has been sent, and what went with it. Inside a transaction. */
int call_finish(struct store *st, int64_t call_seq, const struct telling *t, struct err *e);

#endif
