/* request: a row that waits for a person, as a struct; asks without asking twice. */
#ifndef REQUEST_H
#define REQUEST_H

#include "proposal.h"
#include "sql/request.h"
#include "store.h"
#include "str.h"

/* What is said of a change after "approved by ...", until it is written. */
#define REQUEST_UNWRITTEN " and is not written yet; the agent may write it at any moment"

/* A row of `request` with its session, and the texts that are too long for the row. */
struct request {
	struct request_row row;
	struct request_outcome_row outcome; /* of one that is no longer open */
	const char *description; /* the row's, or of what it refers to */
	struct str body; /* the diff or content, the prompt, the standby message */
	struct str effect; /* what a person is shown instead of body; empty: body itself */
	struct str edited; /* what its approval says is done instead; empty: what was asked */
	struct touched *files; /* a clearance: every path it touches */
	size_t file_count;
	struct str big_description;
};

/* Fills r with the row, including long texts. 1 found, 0 not found, -1 error. */
int request_read(struct store *st, int64_t seq, struct request *r, struct err *e);
/* Only what a caller gets: id, state, decision, reason, instruction. As above. */
int request_read_answer(struct store *st, int64_t seq, struct request *r, struct err *e);
/* Only the paths of a clearance. 0 or -1. */
int request_read_files(struct store *st, int64_t seq, struct request *r, struct err *e);
void request_clear(struct request *r);

/* Whether it still waits for a person. */
bool request_is_open(enum request_state state);

/* Whether it is about files that are named and shown as a diff: a clearance, or what an agent is
 * about to do with a tool of its own. */
bool request_is_change(const struct request *r);

/* A description, or the body of a prompt: what of it is not in the agent's words is behind them. */
struct request_parts {
	size_t words; /* bytes of the agent's, at its beginning */
	const char *notes; /* ours */
	size_t notes_length;
};

struct request_parts request_split(const struct request *r, const char *text, size_t length);

/* The file that a clearance is about, as proposal_touched_add_name; nothing for other kinds. */
void request_add_name(struct str *out, const struct request *r);

/* Recomputes the digest of a clearance from r. */
struct sha256 request_shown_digest(const struct request *r);

/* What to ask. Texts are borrowed. */
struct question {
	enum request_kind kind;
	const char *digest, *title, *description;
	size_t notes_length; /* bytes of ours at its end; of a prompt, at the body's */
	const char *body;
	size_t body_length;
	const char *effect; /* what is shown; a command's with its blanks marked. NULL: body */
	size_t effect_length;
	bool replaces_file;
	const char *file_path, *risk_level, *original_hash, *prompt_type;
	enum request_editable editable; /* what an approval may replace */
	int64_t elapsed_seconds, actions_taken; /* -1: not given */
	const struct touched *files;
	size_t file_count;
	int64_t timeout_ms; /* 0: waits indefinitely */
	bool only_again; /* do not ask what was never asked */
};

/* The asker. */
struct asker {
	int64_t session_seq;
	const char *machine, *workspace_root;
	const char *label; /* the name that its agent gives itself, or NULL */
	int64_t connection_seq; /* over which it asks; 0: none */
};

enum {
	REQUEST_NO_MS = 120000, /* so long a no is repeated to a caller that asks the same again,
	                         * and an answer whose words went with another result */
	REQUEST_LIVE_MS = 120000,
	REQUEST_AGAIN_MS = 30000, /* so long who has stopped waiting for an answer may ask again */
};

/* Asks, or finds that this was asked already: attaches to the open request, adopts one that a dead
 * session left behind, or repeats an answer. Returns the seq of the request to wait for; *ret_open:
 * it still waits for a person. 0: it would have been a new request, and q->only_again; -1 on error.
 * What was approved for one of its files, when that was another, and is not written yet, ends.
 * Inside a transaction. */
int64_t request_ask(struct store *st, const struct asker *who, const struct question *q,
                    bool *ret_open, struct err *e);

/* Asks without looking for an earlier answer. Returns the seq of the request, or -1. Inside a
 * transaction. */
int64_t request_ask_new(struct store *st, const struct asker *who, const struct question *q,
                        struct err *e);

/* An interrupted request is pending again: its remaining time resumes; NULL: it waits indefinitely.
 * Inside a transaction. */
int request_revive(struct store *st, int64_t seq, const int64_t *remaining_ms, struct err *e);

/* The agent of this session is back and knows its open requests: interrupted ones are pending again
 * and their deadlines resume. Inside a transaction. */
int request_revive_all(struct store *st, int64_t session_seq, struct err *e);

/* The caller that waits for the request with this digest has come back: if it was interrupted, it
 * is pending again. Inside a transaction. */
int request_attach(struct store *st, int64_t session_seq, const char *digest, struct err *e);

/* The agent of this run is gone, and may come back: what it waits for is interrupted. Inside a
 * transaction. */
int request_interrupt_run(struct store *st, int64_t run_seq, struct err *e);

#endif
