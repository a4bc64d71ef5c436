/* hook: a call of the hook of an agent's own program (gate/): what it is about, and what it is
 * answered. It is a call like those of the tools (call.h), of a tool that is in no list: so it
 * waits, is told and survives a restart as they do; its row of gate_call is written with it.
 *
 * Its result is {"decision": allow, deny, defer or none, "reason", "request_id", "input",
 * "context", "choice", "continue", "again": call the same again for the answer}. */
#ifndef HOOK_H
#define HOOK_H

#include "call.h"
#include "gate_answer.h"
#include "gate_input.h"
#include "request.h"
#include "sql/gate_call.h"

enum {
	HOOK_BODY_BYTES = 1 << 20, /* of a command or an input: nobody would read more */
	HOOK_REASON_BYTES = 4000, /* of what is kept of a reason or a message */
	HOOK_MARGIN_MS = 1500, /* before its own deadline a hook gets our answer */
};

#define HOOK_METHOD "intercom/hook"

/* A member of a result: it denies what a person has approved. */
#define HOOK_WITHHELD "withheld"

/* What was found out before the transaction. */
enum hook_verdict {
	HOOK_NOTE, /* the event needs no decision */
	HOOK_ALLOW,
	HOOK_POLICY, /* what the policy allows is allowed; about everything else a person is asked
	              */
	HOOK_ASK, /* whatever the policy says */
	HOOK_DENY,
};

/* What an editor's agent was told while no front was there: see hook_settle.h. */
enum hook_told {
	HOOK_TOLD_NOTHING, /* it waits for an answer */
	HOOK_TOLD_APPROVE,
	HOOK_TOLD_REJECT,
	HOOK_TOLD_REFUSE,
	HOOK_TOLD_WITHDRAW,
};

struct hook {
	struct gate_input in;
	char *helper; /* version of the program */
	char *version; /* of the host, if it says (gate_version.h) */
	int64_t began_ms; /* monotonic */
	int64_t patience_ms; /* how long it waits; 0: it does not say */
	char *before; /* digest of what its relay last had asked in its place, or NULL */
	enum hook_told told; /* what its relay has answered it with by itself */
	char *how; /* an editor's user chose that; or NULL */
	int64_t process; /* of its host: it can end instead of waiting; 0: it cannot */
	bool parks; /* it will, */
	int64_t park_after_ms; /* if the answer takes longer */
	const struct call_settings *settings; /* set by look */
	enum hook_verdict verdict;
	struct policy_question question; /* without its paths */
	struct str why; /* it is denied, or asked about */
	struct str description; /* of the question: that, and what the policy says */
	const char *risk;
	char *options; /* JSON: what its agent offers to choose from, unless that is plainly yes or
	                * no; or NULL */
	bool must_choose; /* an approval would not say which of them */
	struct str words; /* what a relayed agent says of it, */
	const char *notes; /* and what its relay says to a person; NULL: nothing */
	bool is_guest; /* the relay is another user's: its notes are no more ours than the words */
	struct sha256 digest; /* of tool, arguments and folder, as they are named: see hook_bind */
	struct str folder; /* where the tool works: absolute; empty: unknown */
	struct str real_folder; /* of a command: what that is; empty: not known */
	struct str subject; /* its command, or its input as JSON: what a person is shown */
	struct str title;
	struct str body; /* of an edit: its input as JSON */
	struct str input; /* JSON for the hand: of an edit the whole input of the hook; of what
	                     reads, what is always asked */
	char **named; /* absolute paths; owned */
	size_t named_count;
	bool is_computed; /* the call's plan says what becomes of the files */
	int64_t pre_seq; /* after a tool, or of a permission: its gate_call before */
};

/* Opens a call from the params of HOOK_METHOD. 0, or -1 with what is wrong. */
int hook_open(struct call *c, const cJSON *params, const char *rpc_id, bool has_nul, struct err *e);
void hook_free(struct hook *h);

/* Sets folder and digest from in. */
void hook_identify(struct hook *h);

/* Its digest if it had worked in this folder. */
struct sha256 hook_digest_in(const struct hook *h, const char *folder);

/* What an approval of a looked at call is bound to, as call.digest is: digest (of tool, arguments
 * and folder: its own, or that of what it replaces), and where the names lead, and what is there.
 */
struct sha256 hook_bind(const struct call *c, const char *digest);

/* Whether it must be answered with allow or deny. */
bool hook_decides(const struct hook *h);
/* Whether it is told where the agent that the operator speaks to does not hear it. */
bool hook_is_subagents(const struct gate_input *in);

/* The functions of struct tool. */
void hook_look(struct call *c, const struct call_settings *settings, struct hand_ask *ask);
void hook_seen(struct call *c, struct hand_found *found);

/* After a tool: finds what was allowed, and compares. Inside the transaction. */
int hook_compare(struct store *st, struct call *c, const struct peer *p, struct err *e);

/* Makes a result that the question waits one that ends the host's process. */
void hook_defer(struct str *result);
/* Makes out a result of only this; reason may be NULL. */
void hook_set_result(struct str *out, enum gate_decision decision, const char *reason);
/* Adds the members of the answer to a question. */
void hook_add_answer(struct str *out, const struct request *r);
/* What a result (also one of result_error) decides, and why. */
enum gate_call_decision hook_decision(const char *result, struct str *reason);
/* Whether it denies what a person has approved. */
bool hook_withholds(const char *result);
/* Whether it has a turn that ends go on. */
bool hook_goes_on(const char *result);

/* Appends the reply: the result with the operator's words, and with the tool's input if that has to
 * be repeated (both may be NULL). The note of an approval is steering as well: it is left to that
 * where these words hold it, and where the host shows its model none now. */
void hook_add_reply(struct str *out, const struct gate_host *host, enum gate_event event,
                    const char *result, const char *words, const cJSON *input);
/* Whether the host shows the model words that come with this result; tool_use_id may be NULL. */
bool hook_tells(const struct gate_host *host, enum gate_event event, const char *tool_use_id,
                const char *result);

extern const struct tool TOOL_HOOK;

#endif
