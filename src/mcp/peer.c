#include "peer.h"

#include "departed.h"
#include "id.h"
#include "json.h"
#include "mcp.h"
#include "path.h"
#include "peer_user.h"
#include "process_name.h"
#include "sql/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The config.toml of a system for several users is not that of an agent's user. */
static const char *what_to_set(const struct peer *p)
{
	return p->has_user
	           ? "start the agent in the folder of a project, or set "
	             "INTERCOM_WORKSPACE_ROOT to it (over HTTP an administrator lists it as "
	             "[[workspace]])"
	           : "on stdio set INTERCOM_WORKSPACE_ROOT to the folder of a project; "
	             "over HTTP add ?workspace_id= of a [[workspace]] to the URL, or set "
	             "default_workspace_root in config.toml and restart";
}

void identity_clear(struct identity *i)
{
	free(i->workspace);
	free(i->workspace_id);
	free(i->channel_id);
	free(i->session_id);
	free(i->agent);
	*i = (struct identity){ .wait_s = 0 };
}

int peer_identity_most(const char *member)
{
	return strcmp(member, "workspace") == 0 ? PEER_PATH_BYTES : PEER_NAME_BYTES;
}

static void take_member(struct identity *i, char **to, const cJSON *object, const char *name)
{
	const char *text = json_text(object, name);

	if (text && strlen(text) > (size_t)peer_identity_most(name))
		i->too_long = name;
	else if (text && *text)
		xreplace(to, text);
}

void peer_identity_read(struct identity *i, const cJSON *object)
{
	const cJSON *wait = json_get(object, "wait");
	const char *stall = json_text(object, "stall");

	take_member(i, &i->workspace, object, "workspace");
	take_member(i, &i->workspace_id, object, "workspace_id");
	take_member(i, &i->channel_id, object, "channel_id");
	take_member(i, &i->session_id, object, "session_id");
	take_member(i, &i->agent, object, "agent");
	if (cJSON_IsNumber(wait) && wait->valuedouble >= 0 && wait->valuedouble < 1e9)
		i->wait_s = (int64_t)wait->valuedouble;
	if (stall)
		i->unwatched = strcmp(stall, "off") == 0;
	i->tasks = cJSON_IsTrue(json_get(object, "tasks"));
}

static char *identity_text(const struct identity *i)
{
	OWNED(cJSON_ptr) cJSON *object = cJSON_CreateObject();
	OWNED(str) struct str text = { 0 };

	json_put_given(object, "workspace", i->workspace);
	json_put_given(object, "workspace_id", i->workspace_id);
	json_put_given(object, "channel_id", i->channel_id);
	json_put_given(object, "session_id", i->session_id);
	json_put_given(object, "agent", i->agent);
	if (i->wait_s)
		(void)cJSON_AddNumberToObject(object, "wait", (double)i->wait_s);
	if (i->unwatched)
		(void)cJSON_AddStringToObject(object, "stall", "off");
	if (i->tasks)
		(void)cJSON_AddTrueToObject(object, "tasks");
	json_canonical(&text, object);
	return str_take(&text);
}

struct peer *peer_new(enum connection_transport transport, const char *key)
{
	struct peer *p = xcalloc(1, sizeof(*p));

	p->transport = transport;
	p->uid = PEER_OURS;
	(void)snprintf(p->key, sizeof(p->key), "%s", key);
	return p;
}

void peer_free(struct peer *p)
{
	if (!p)
		return;
	identity_clear(&p->identity);
	free(p->version);
	free(p->client_name);
	free(p->client_version);
	free(p->process);
	free(p->host_process);
	free(p->session_id);
	free(p->token_session);
	free(p->user_name);
	free(p->workspace_root);
	free(p->program_root);
	free(p->channel_id);
	free(p);
}

const char *peer_version(const struct peer *p)
{
	/* One of our constants: a queued job keeps the pointer, and initialize replaces p's
	 * text. */
	return p->version ? mcp_negotiate(p->version) : "2025-03-26";
}

char *peer_client_text(const char *text)
{
	struct str cut = { 0 };

	if (!text || strlen(text) <= PEER_NAME_BYTES)
		return text ? xstrdup(text) : NULL;
	str_add_shown(&cut, text, strlen(text), PEER_NAME_BYTES);
	return str_take(&cut);
}

void peer_take_client(struct peer *p, const cJSON *params)
{
	const cJSON *client = mcp_client_info(params);

	if (!p->client_name)
		p->client_name = peer_client_text(json_text(client, "name"));
	if (!p->client_version)
		p->client_version = peer_client_text(json_text(client, "version"));
}

/* ---- rows ---- */

/* A terminated session stays terminated for a caller that names it. A stateless caller cannot
 * return as somebody else, because its identity stays the same, so it gets a new session. */
static int ended(struct peer *p, struct err *e)
{
	bool is_hook = p->transport == CONNECTION_TRANSPORT_HOOK;

	/* A hook says when a person starts the agent again: until then a stop is a stop. */
	if ((p->transport != CONNECTION_TRANSPORT_STATELESS &&
	     !(is_hook && (p->lost || p->closed || p->begins))) ||
	    p->identity.session_id)
		return err_set(e, ERR_INPUT, "session %s has been terminated; start a new one",
		               p->session_id);
	p->session_seq = 0;
	xreplace(&p->session_id, NULL);
	xreplace(&p->workspace_root, NULL);
	return 0;
}

/* got: the result of reading the row. 1 it is now p's session, 0 there is none, or it has ended,
 * -1. */
static int take_session(struct peer *p, int got, const struct session_row *row, struct err *e)
{
	if (got <= 0 || !peer_may_join(p, row))
		return got < 0 ? -1 : 0;
	p->session_seq = row->seq;
	xreplace(&p->session_id, row->id);
	xreplace(&p->workspace_root, row->workspace_root);
	xreplace(&p->channel_id, row->channel_id);
	p->stall_paused = row->stall_paused;
	p->wait_limit_ms = row->wait_limit_ms;
	p->paused = row->status == SESSION_STATUS_PAUSED;
	return row->status == SESSION_STATUS_TERMINATED ? ended(p, e) : 1;
}

static int session_by_seq(struct store *st, struct peer *p, int64_t seq, struct err *e)
{
	OWNED(session_row) struct session_row row = { 0 };

	return take_session(p, sql_session_by_seq(st, seq, &row, e), &row, e);
}

static int no_session(const struct peer *p, struct err *e)
{
	return err_set(e, ERR_INPUT, "there is no session '%.60s'", p->identity.session_id);
}

/* The session that p names: 0, or -1 with the reason. */
static int named_session(struct store *st, struct peer *p, struct err *e)
{
	OWNED(session_row) struct session_row row = { 0 };
	int got = take_session(p, sql_session_by_id(st, p->identity.session_id, &row, e), &row, e);

	return got == 0 ? no_session(p, e) : got < 0 ? -1 : 0;
}

/* The identity given when the connection began; a stateless caller says in each request how long it
 * waits. */
static void load_identity(struct peer *p, const char *text)
{
	OWNED(cJSON_ptr) cJSON *identity = cJSON_Parse(text);
	int64_t wait_s = p->identity.wait_s;
	bool tasks = p->identity.tasks;
	const char *too_long = p->identity.too_long;

	identity_clear(&p->identity);
	peer_identity_read(&p->identity, identity);
	p->identity.too_long = too_long;
	if (p->transport == CONNECTION_TRANSPORT_STATELESS) {
		p->identity.wait_s = wait_s;
		p->identity.tasks = tasks;
	}
}

int peer_load(struct store *st, struct peer *p, struct err *e)
{
	OWNED(connection_by_key_row) struct connection_by_key_row row = { 0 };
	int got = sql_connection_by_key(st, p->key, peer_only_of(p), &row, e);

	if (got <= 0)
		return got;
	p->seq = row.seq;
	p->transport = row.transport;
	xreplace(&p->version, row.protocol_version);
	xreplace(&p->client_name, row.client_name);
	xreplace(&p->process, row.process);
	p->elicits = row.elicits;
	p->closed = row.state == CONNECTION_STATE_CLOSED;
	p->lost = row.state == CONNECTION_STATE_LOST;
	load_identity(p, row.identity);
	if (row.session_seq)
		p->fresh = session_by_seq(st, p, row.session_seq, NULL) > 0;
	return 1; /* the next call reports a terminated session, not this one */
}

static const char *host_process(const struct peer *p)
{
	bool is_relay = p->transport == CONNECTION_TRANSPORT_STDIO;

	return p->host_process || is_relay ? p->host_process : p->process;
}

int peer_insert(struct store *st, const struct workspaces *workspaces, struct peer *p,
                struct err *e)
{
	OWNED(char_ptr) char *identity = identity_text(&p->identity);
	bool is_hook = p->transport == CONNECTION_TRANSPORT_HOOK;

	p->seq = sql_connection_insert(
	    st,
	    &(struct connection_insert_args){ .key = p->key,
	                                      .machine = workspaces->machine,
	                                      .transport = p->transport,
	                                      .version = peer_version(p),
	                                      .client = p->client_name,
	                                      .client_version = p->client_version,
	                                      .process = is_hook ? p->host_process : p->process,
	                                      .host_process = host_process(p),
	                                      .identity = identity,
	                                      .elicits = p->elicits,
	                                      .uid = peer_uid_in_rows(p) },
	    e);
	return p->seq < 0 ? -1 : 0;
}

/* The session that p, which has none, goes on with: that of an earlier run, which has ended. Its
 * seq, 0 there is none, -1. */
static int64_t session_before(struct store *st, const struct peer *p, struct err *e)
{
	OWNED(session_before_row) struct session_before_row row = { 0 };
	char end[PEER_KEY_BYTES];
	int got;

	if (!p->before[0])
		return 0;
	(void)snprintf(end, sizeof(end), "%s", p->before);
	end[strlen(end) - 1]++;
	got = sql_session_before(st, p->before, end, &row, e);
	if (got <= 0)
		return got;
	if (row.status == SESSION_STATUS_TERMINATED ||
	    (row.state == CONNECTION_STATE_OPEN &&
	     (!row.process || process_name_runs(row.process))))
		return 0;
	return row.session_seq;
}

/* The session of another connection of the same program: a hook finds that of its MCP client, and
 * the other way round; and an editor that was restarted finds what it loads. 1 found: it is p's, 0,
 * -1. */
static int session_of_program(struct store *st, struct peer *p, struct err *e)
{
	OWNED(session_row) struct session_row row = { 0 };
	const char *program = host_process(p);
	bool is_hook = p->transport == CONNECTION_TRANSPORT_HOOK;
	int64_t before = session_before(st, p, e);

	if (before != 0)
		return before < 0 ? -1 : session_by_seq(st, p, before, e);
	if (!program)
		return 0;
	return take_session(p,
	                    sql_session_of_program(st, program, is_hook, p->identity.agent,
	                                           p->identity.channel_id, &row, e),
	                    &row, e);
}

/* The [[workspace]] whose member has this text; NULL: none. */
static const cJSON *listed_by(const struct workspaces *workspaces, const char *member,
                              const char *text)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, workspaces->listed)
		if (json_says(one, member, text))
			return one;
	return NULL;
}

/* The workspace of [[workspace]] id, with its channel, if it has one. */
static int settle_workspace_id(const struct workspaces *workspaces, struct peer *p, struct err *e)
{
	const cJSON *entry = listed_by(workspaces, "id", p->identity.workspace_id);
	const char *path = json_text(entry, "path");
	const char *channel = json_text(entry, "channel_id");

	if (!entry)
		return err_set(e, ERR_INPUT,
		               "there is no workspace '%.60s'; add a [[workspace]] to config.toml",
		               p->identity.workspace_id);
	if (channel && *channel)
		xreplace(&p->identity.channel_id, channel);
	if (path && *path)
		xreplace(&p->workspace_root, path);
	return 0;
}

/* ---- channels ---- */

bool peer_configure_channel(const struct workspaces *workspaces, const char *channel)
{
	return (workspaces->usual_channel && strcmp(workspaces->usual_channel, channel) == 0) ||
	       listed_by(workspaces, "channel_id", channel);
}

int peer_check_channel(const struct workspaces *workspaces, const char *channel, struct err *e)
{
	static const char ID[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	if (!channel || peer_configure_channel(workspaces, channel) ||
	    json_has_text(workspaces->channels, channel))
		return 0;
	if (channel[0] == 'D' && strspn(channel, ID) == strlen(channel))
		return err_set(
		    e, ERR_INPUT,
		    "channel_id %.60s is a direct message, where no agent may ask; name a "
		    "channel that the bot was invited to",
		    channel);
	if ((channel[0] != 'C' && channel[0] != 'G') || !channel[1] ||
	    strspn(channel, ID) != strlen(channel))
		return err_set(
		    e, ERR_INPUT,
		    "channel_id '%.60s' is no channel's id: C or G, then letters A-Z and "
		    "digits",
		    channel);
	if (cJSON_GetArraySize(workspaces->channels) > 0)
		return err_set(e, ERR_INPUT,
		               "channel_id %.60s is none of those that agents may use; add it to "
		               "slack.channels in config.toml",
		               channel);
	return 0;
}

/* ---- places ---- */

static const char *usual_workspace(const struct workspaces *workspaces)
{
	return workspaces->usual && *workspaces->usual ? workspaces->usual : NULL;
}

/* If what it names cannot be one: that of its program, or the default. */
static const char *other_workspace(const struct workspaces *workspaces, const struct peer *p)
{
	return p->program_root ? p->program_root : usual_workspace(workspaces);
}

/* Where the agent was started, unless that cannot be a workspace; otherwise another. */
void peer_ask_place(const struct workspaces *workspaces, const struct peer *p, struct hand_ask *ask)
{
	/* The folder of another user may have got another owner since. */
	ask->judge = p->unplaced || p->has_user;
	ask->has_user = p->has_user;
	ask->user = p->user;
	ask->root = p->workspace_root;
	if (ask->root)
		return;
	ask->given = p->identity.workspace;
	ask->root = other_workspace(workspaces, p);
}

/* The place that a caller without a workspace is about to get, as named. */
static const char *named_place(const struct workspaces *workspaces, const struct peer *p,
                               const struct hand_found *found)
{
	const char *other = other_workspace(workspaces, p);

	if (p->workspace_root)
		return p->workspace_root;
	return found->is_given || !other ? p->identity.workspace : other;
}

/* The channel of the [[workspace]] with this path, or NULL. */
static const char *channel_of_path(const struct workspaces *workspaces, const char *path)
{
	const cJSON *entry = path ? listed_by(workspaces, "path", path) : NULL;
	const char *channel = json_text(entry, "channel_id");

	return channel && *channel ? channel : NULL;
}

int peer_place(const struct workspaces *workspaces, struct peer *p, const struct hand_found *found,
               struct err *e)
{
	if (found->unfit)
		return err_set(e, ERR_INPUT, "no workspace: %.300s is %s; %s",
		               named_place(workspaces, p, found), found->unfit, what_to_set(p));
	if (workspaces->only_listed && !found->is_listed)
		return err_set(e, ERR_INPUT,
		               "no workspace: %.300s is not listed; add it to config.toml as "
		               "[[workspace]], or set workspaces.allow to \"any\"",
		               found->root);
	xreplace(&p->workspace_root, found->root);
	xreplace(&p->channel_id, p->identity.channel_id
	                             ? p->identity.channel_id
	                             : channel_of_path(workspaces, found->within));
	return 0;
}

/* Whether p says that it works in another folder than the session of its program: a program may
 * have several. One that is below the other was chosen in the configuration of its MCP client. A
 * [[workspace]] that is not listed is another. */
static bool is_apart(const struct workspaces *workspaces, const struct peer *p)
{
	const char *named = p->identity.workspace;
	const cJSON *entry;

	if (p->identity.workspace_id) {
		entry = listed_by(workspaces, "id", p->identity.workspace_id);
		named = json_text(entry, "path");
		if (!entry)
			return true;
	}
	return named && *named && !path_is_within(named, p->workspace_root) &&
	       !path_is_within(p->workspace_root, named);
}

/* It works where it says; peer_join finds out whether that is the same folder by another name. */
static void leave_program(struct peer *p)
{
	xreplace(&p->program_root, p->workspace_root);
	xreplace(&p->workspace_root, NULL);
	xreplace(&p->session_id, NULL);
	xreplace(&p->channel_id, NULL);
	p->paused = p->stall_paused = false;
	p->wait_limit_ms = 0;
}

int peer_settle(struct store *st, const struct workspaces *workspaces, struct peer *p,
                struct err *e)
{
	int got;

	p->unplaced = false;
	if (!p->session_seq && peer_check_channel(workspaces, p->identity.channel_id, e))
		return -1;
	if (p->session_seq && p->fresh) {
		p->fresh = false;
		return 0;
	}
	if (p->session_seq) {
		got = session_by_seq(st, p, p->session_seq, e);
		if (got != 0)
			return got < 0 ? -1 : 0;
	}
	if (p->identity.session_id) {
		if (named_session(st, p, e))
			return -1;
		p->session_seq = 0; /* joined by peer_join */
		p->unplaced = true;
		return 0;
	}
	got = session_of_program(st, p, e);
	p->session_seq = 0; /* joined by peer_join */
	if (got < 0)
		return -1;
	if (got > 0 && is_apart(workspaces, p)) {
		leave_program(p);
		got = 0;
	}
	if (!got && p->identity.workspace_id && settle_workspace_id(workspaces, p, e))
		return -1;
	p->unplaced = true;
	if (p->workspace_root || p->identity.workspace || usual_workspace(workspaces))
		return 0;
	return err_set(e, ERR_INPUT, "no workspace: none was named; %s", what_to_set(p));
}

static int insert_session(struct store *st, const struct workspaces *workspaces, struct peer *p,
                          struct err *e)
{
	struct id id = id_new();
	int64_t seq;

	p->stall_paused = p->identity.unwatched || p->transport == CONNECTION_TRANSPORT_STATELESS;
	seq = sql_session_insert(st,
	                         &(struct session_insert_args){ .id = id.text,
	                                                        .machine = workspaces->machine,
	                                                        .uid = peer_uid_in_rows(p),
	                                                        .user = p->user_name,
	                                                        .workspace = p->workspace_root,
	                                                        .channel = p->channel_id,
	                                                        .client = p->client_name,
	                                                        .label = p->identity.agent,
	                                                        .stall_paused = p->stall_paused },
	                         e);

	if (seq < 0)
		return -1;
	p->session_seq = seq;
	xreplace(&p->session_id, id.text);
	return 0;
}

/* Another request of the same caller may have written its rows since this one was read: p uses
 * them, too. */
static int catch_up(struct store *st, struct peer *p, struct err *e)
{
	struct peer *now = peer_new(p->transport, p->key);
	int got;

	now->begins = p->begins;
	now->uid = p->uid;
	got = peer_load(st, now, e);
	if (got > 0) {
		p->seq = now->seq;
		p->stall_paused = now->stall_paused;
		p->wait_limit_ms = now->wait_limit_ms;
	}
	if (got > 0 && now->session_seq) {
		p->session_seq = now->session_seq;
		xreplace(&p->session_id, now->session_id);
		xreplace(&p->workspace_root, now->workspace_root);
	}
	peer_free(now);
	return got < 0 ? -1 : 0;
}

/* In the same program's session, if it has one by now: both may have come in the same turn. */
static int join_program(struct store *st, struct peer *p, struct err *e)
{
	OWNED(char_ptr) char *settled = xstrdup(p->workspace_root);
	OWNED(char_ptr) char *channel = xstrdup_if(p->channel_id);
	int got = session_of_program(st, p, e);

	if (got > 0 && strcmp(p->workspace_root, settled) == 0)
		return p->identity.agent &&
		               sql_session_set_label(st, p->identity.agent, p->session_seq, e)
		           ? -1
		           : 1;
	p->session_seq = 0;
	leave_program(p);
	xreplace(&p->workspace_root, settled);
	xreplace(&p->channel_id, channel);
	return got < 0 ? -1 : 0;
}

/* Whether p comes from a program that works in its session: what that starts may continue it. Who
 * is on a socket, and cannot be seen, may be from anywhere. */
static int is_of_program(struct store *st, const struct peer *p, bool apart, struct err *e)
{
	OWNED(session_programs_row) struct session_programs_row row = { 0 };
	bool is_hook = p->transport == CONNECTION_TRANSPORT_HOOK;
	const char *process = is_hook || !p->process ? p->host_process : p->process;
	int got;

	if (p->token_session)
		return 1;
	if (!process)
		return is_hook || (p->transport == CONNECTION_TRANSPORT_STDIO && !apart);
	sql_session_programs(st, p->session_seq, apart, &row);
	while ((got = row_next(&row.row, e)) > 0)
		if (process_name_descends(process, row.program))
			return 1;
	return got;
}

/* A session that p names is continued where it works, once its agent is gone. An agent that we
 * started may start its relay in any folder. */
static int continue_session(struct store *st, const struct workspaces *workspaces, struct peer *p,
                            struct err *e)
{
	bool apart;
	int got;

	if (named_session(st, p, e))
		return -1;
	apart = p->transport != CONNECTION_TRANSPORT_HOOK && is_apart(workspaces, p);
	got = is_of_program(st, p, apart, e);
	if (got)
		return got < 0 ? -1 : 0;
	if (apart)
		return no_session(p, e);
	got = departed_is_there(st, p->session_seq, p->seq, p->identity.agent, e);
	if (got > 0)
		return err_set(e, ERR_INPUT,
		               "session %.60s is still connected: its agent keeps what the "
		               "operator tells it; once it has ended, call again",
		               p->session_id);
	return got;
}

static int join_session(struct store *st, const struct workspaces *workspaces, struct peer *p,
                        struct err *e)
{
	int got;

	if (p->identity.session_id)
		return continue_session(st, workspaces, p, e);
	got = join_program(st, p, e);
	if (got != 0)
		return got < 0 ? -1 : 0;
	return insert_session(st, workspaces, p, e);
}

/* Whether a hook comes from another process of its host than the one before it. */
static bool is_elsewhere(const struct peer *p)
{
	return p->transport == CONNECTION_TRANSPORT_HOOK && p->host_process &&
	       (!p->process || strcmp(p->process, p->host_process) != 0);
}

int peer_join(struct store *st, const struct workspaces *workspaces, struct peer *p, struct err *e)
{
	if (p->transport != CONNECTION_TRANSPORT_STDIO && !p->session_seq && catch_up(st, p, e))
		return -1;
	if (p->seq && is_elsewhere(p) &&
	    sql_connection_move_process(st, p->host_process, p->seq, e))
		return -1;
	if (!p->seq && peer_insert(st, workspaces, p, e))
		return -1;
	if (p->lost && sql_connection_reopen(st, p->seq, e))
		return -1;
	p->lost = false;
	if (p->session_seq)
		return 0;
	if (join_session(st, workspaces, p, e))
		return -1;
	return sql_connection_set_session(st, p->session_seq, p->seq, e);
}

void peer_unjoin(struct peer *p, int64_t seq, int64_t session_seq)
{
	p->seq = seq;
	if (!session_seq) {
		p->session_seq = 0;
		xreplace(&p->session_id, NULL);
	}
}
