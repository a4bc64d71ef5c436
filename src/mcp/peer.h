/* peer: the caller. A connection is one transport attachment; the session is the piece of agent
 * work that it belongs to. */
#ifndef PEER_H
#define PEER_H

#include "hand.h"
#include "sql/sets.h"
#include "store.h"

#include <cjson/cJSON.h>
#include <sys/types.h>

enum {
	PEER_KEY_BYTES = 80,
	PEER_PATH_BYTES = 4096,
	PEER_NAME_BYTES = 256, /* of what a caller calls itself, its session, channel, workspace */
};

/* No uid: it is our own user's. */
enum { PEER_OURS = -1 };

/* What a caller says about itself, in the URL or in a relay's first line. Texts are owned; NULL:
 * not given. */
struct identity {
	char *workspace; /* absolute path; only a relay may give it */
	char *workspace_id; /* of a [[workspace]] */
	char *channel_id;
	char *session_id;
	char *agent; /* label that distinguishes two agents in one workspace */
	int64_t wait_s; /* how long its calls may wait; 0: as configured */
	bool unwatched; /* its silence raises no alert: ?stall=off */
	bool tasks; /* it wants waiting calls as tasks (mcp_task.h) */
	const char *too_long; /* the member that was, and was not taken; NULL: none */
};

struct peer {
	enum connection_transport transport;
	char key[PEER_KEY_BYTES]; /* Mcp-Session-Id, or the key with which a relay resumes */
	struct identity identity;
	char *version; /* negotiated MCP revision; NULL before initialize */
	char *client_name;
	char *client_version;
	char *process; /* its process (peer_process.h), NULL: unknown */
	char
	    *host_process; /* the agent's program, if known: of the relay or the hook, its parent */
	int64_t seq; /* of its connection row; 0: not yet */
	int64_t session_seq; /* 0: not yet */
	char *session_id;
	char *workspace_root; /* where its session works; NULL: not settled yet */
	char *program_root; /* where another session of its program does; NULL: as far as known,
	                       nowhere else */
	char *channel_id; /* where its questions go: of its session, else what it named, else that
	                     of the [[workspace]] where it works; NULL: the usual one */
	bool unplaced; /* peer_settle: it is unknown yet whether it may work there */
	bool elicits; /* its client can show a form to its user */
	bool stall_paused;
	int log_level; /* its client wants no log messages below this */
	bool paused; /* an operator has paused its session */
	bool begins; /* a hook that says that a session begins */
	char before[PEER_KEY_BYTES]; /* peer_hook.h: how the keys begin of the runs before it that
	                                it may go on with; "": it is new */
	int64_t patience_ms; /* a hook: how long it waits; 0: see call_patience_ms */
	int64_t wait_limit_ms; /* how long its client is known to wait; 0: unknown */
	char *token_session; /* the session whose agent's token it showed; NULL: it showed none */
	bool fresh; /* just read by peer_load: peer_settle need not read it again */
	bool closed; /* ended by the client: no more answers */
	bool lost; /* its process has ended: its next call reopens it */
	int64_t uid; /* of its user, as the kernel says, or PEER_OURS */
	char *user_name; /* that user's name, if it was looked up */
	bool has_user; /* it works only in folders of this user: */
	uid_t user;
	bool resumed; /* came back after a break: its calls may be old ones */
};

/* The part of the configuration that determines where a caller works. */
struct workspaces {
	char machine[65]; /* the machine of these folders */
	char *usual; /* the default, if the caller names none */
	cJSON *listed; /* [{id, channel_id, path}] */
	bool only_listed; /* no other folder is a workspace */
	char *usual_channel; /* slack.channel_id, or NULL */
	cJSON *channels; /* [channel id]: slack.channels; none: any */
};

/* Refuses a channel that a caller must not name: malformed, a direct message, or not allowed by the
 * configuration. 0 or -1. */
int peer_check_channel(const struct workspaces *workspaces, const char *channel, struct err *e);

/* Whether it is slack.channel_id, or the channel of a [[workspace]]. */
bool peer_configure_channel(const struct workspaces *workspaces, const char *channel);

void identity_clear(struct identity *i);
/* How many bytes a member of an identity may have. */
int peer_identity_most(const char *member);
/* Reads the members of a JSON object; ignores unknown ones. Of a text that is longer than it may be
 * it takes the member's name only: i->too_long. */
void peer_identity_read(struct identity *i, const cJSON *object);

/* Takes what a client calls itself, cut to PEER_NAME_BYTES. The caller frees it; NULL of NULL. */
char *peer_client_text(const char *text);

struct peer *peer_new(enum connection_transport transport, const char *key);
void peer_free(struct peer *p);

/* The revision that p speaks; if it has not said, the one that the protocol assumes. */
const char *peer_version(const struct peer *p);

/* Takes what the client says about itself in the _meta of a request, if p does not know it. */
void peer_take_client(struct peer *p, const cJSON *params);

/* Fills p from the connection row with its key: 1 found, 0 not found, or another user's, -1 error.
 */
int peer_load(struct store *st, struct peer *p, struct err *e);

/* Writes the connection row. Inside a transaction. */
int peer_insert(struct store *st, const struct workspaces *workspaces, struct peer *p,
                struct err *e);

/* Decides where p works, without writing: 0, or -1 with a text that names the wrong parameter. Does
 * not touch the file system: if p->unplaced, the caller does that (hand.h) with what peer_ask_place
 * puts into ask, and passes the findings to peer_place. */
int peer_settle(struct store *st, const struct workspaces *workspaces, struct peer *p,
                struct err *e);

void peer_ask_place(const struct workspaces *workspaces, const struct peer *p,
                    struct hand_ask *ask);
int peer_place(const struct workspaces *workspaces, struct peer *p, const struct hand_found *found,
               struct err *e);

/* Ensures that p has a connection row and a session row. Inside a transaction. */
int peer_join(struct store *st, const struct workspaces *workspaces, struct peer *p, struct err *e);

/* Resets what a rolled-back peer_join has set. */
void peer_unjoin(struct peer *p, int64_t seq, int64_t session_seq);

#endif
