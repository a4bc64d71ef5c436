/* The IPC socket of the seeds (000 section 5.3), <run>/ipc.sock: for programs that answer on this
 * machine without SQLite. One JSON object per line each way:
 *   {"command":"approve","id":"..."}  ->  {"ok":true,"data":{...}}  or  {"ok":false,"error":"..."}
 * COMMANDS below are all there are. They become the same rows as those of agent-intercom-ctl, from
 * the source 'socket', each line in a transaction of its own that is on disk before its answer
 * leaves: who got none may ask again, and an answer is applied once.
 *
 * Whoever runs under our uid may connect. With ipc.require_token each line must also carry the
 * auth_token that stands in <run>/ipc.token (0600), another one after each start. */
#include "ipc.h"

#include "decision.h"
#include "front.h"
#include "id.h"
#include "log.h"
#include "request.h"
#include "socket.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	IPC_MAX_LINE = 128 << 10, /* bytes, its end not counted */
	IPC_MAX_UNREAD = 256 << 10, /* bytes of answers; then no further line is taken */
	IPC_MAX_ROWS = 1000, /* of a listing */
	IPC_LINES_A_TURN = 8, /* of one caller, before the others have their turn */
	IPC_IDLE_SECONDS = 600,
	IPC_WRITE_SECONDS = 30, /* for a caller to read something of its answers */
	IPC_MAX_CALLERS = 64,
};

static const char SOCKET_NAME[] = "ipc.sock", TOKEN_NAME[] = "ipc.token";

struct ipc_caller {
	LIST_ENTRY(ipc_caller) next;
	struct front *front;
	struct bufferevent *pipe;
	bool skips; /* the rest of a line that was too long */
	bool ended; /* it sends no more, but may read still */
};

/* ---- commands ---- */

static void add_member(cJSON *object, const char *name, const char *text)
{
	if (text)
		(void)cJSON_AddStringToObject(object, name, text);
	else
		(void)cJSON_AddNullToObject(object, name);
}

/* Adds a row to a listing; false: it is full. */
static bool add_row(cJSON *data, cJSON *list, cJSON *one)
{
	if (cJSON_GetArraySize(list) < IPC_MAX_ROWS) {
		(void)cJSON_AddItemToArray(list, one);
		return true;
	}
	cJSON_Delete(one);
	(void)cJSON_AddBoolToObject(data, "more", 1);
	return false;
}

static int list(struct front *f, const cJSON *line, const char *verb, cJSON *data, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_SESSION_LIST);
	cJSON *sessions = cJSON_AddArrayToObject(data, "sessions");
	bool room = true;
	int got;

	(void)line;
	(void)verb;
	while ((got = stmt_row(s, e)) > 0 && room) {
		cJSON *one = cJSON_CreateObject();

		add_member(one, "session_id", col_text(s, SESSION_LIST_ID));
		add_member(one, "status", col_text(s, SESSION_LIST_STATUS));
		add_member(one, "mode", col_text(s, SESSION_LIST_MODE));
		add_member(one, "workspace_root", col_text(s, SESSION_LIST_WORKSPACE_ROOT));
		add_member(one, "last_tool", col_text(s, SESSION_LIST_LAST_TOOL));
		add_member(one, "updated_at", col_text(s, SESSION_LIST_UPDATED_AT));
		room = add_row(data, sessions, one);
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static int inbox(struct front *f, const cJSON *line, const char *verb, cJSON *data, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_INBOX_LIST);
	cJSON *questions = cJSON_AddArrayToObject(data, "questions");
	bool room = true;
	int got;

	(void)line;
	(void)verb;
	bind_int(s, ":after", 0);
	while ((got = stmt_row(s, e)) > 0 && room) {
		cJSON *one = cJSON_CreateObject();

		add_member(one, "request_id", col_text(s, INBOX_LIST_ID));
		add_member(one, "kind", col_text(s, INBOX_LIST_KIND));
		add_member(one, "title", col_text(s, INBOX_LIST_TITLE));
		add_member(one, "file_path", col_text(s, INBOX_LIST_FILE_PATH));
		add_member(one, "risk_level", col_text(s, INBOX_LIST_RISK_LEVEL));
		add_member(one, "session_id", col_text(s, INBOX_LIST_SESSION_ID));
		add_member(one, "workspace_root", col_text(s, INBOX_LIST_WORKSPACE_ROOT));
		add_member(one, "state", col_text(s, INBOX_LIST_STATE));
		add_member(one, "created_at", col_text(s, INBOX_LIST_CREATED_AT));
		add_member(one, "deadline_at", col_text(s, INBOX_LIST_DEADLINE_AT));
		room = add_row(data, questions, one);
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

/* The id that a line must give. */
static const char *need_id(const cJSON *line, const char *whose, struct err *e)
{
	const char *id = json_text(line, "id");

	if (!id)
		(void)err_set(e, ERR_INPUT, "ipc: id is missing (the %s's id)", whose);
	return id;
}

/* Answers a question; its state then goes to data. */
static int decide(struct front *f, const char *id, const char *verdict, const cJSON *line,
                  cJSON *data, struct err *e)
{
	const char *reason = json_text(line, "reason");
	const struct decision d = { .request_id = id,
		                    .verdict = verdict,
		                    .reason = !reason && strcmp(verdict, "reject") == 0
		                                  ? "rejected via ipc"
		                                  : reason,
		                    .instruction = json_text(line, "instruction"),
		                    .source = "socket" };
	OWNED(decision_result) struct decision_result result = DECISION_RESULT_INIT;

	if (decision_insert(&f->worker.store, &d, &result, e) || decision_check(&result, e))
		return -1;
	add_member(data, "status", result.state);
	return 0;
}

static int answer(struct front *f, const cJSON *line, const char *verb, cJSON *data, struct err *e)
{
	const char *id = need_id(line, "request", e);

	if (!id || decide(f, id, verb, line, data, e))
		return -1;
	add_member(data, "request_id", id);
	return 0;
}

/* The standby of a session or request id; without one, the only standby that waits. */
static int find_standby(struct front *f, const char *id, char request[ID_BYTES],
                        char session[ID_BYTES], struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_STANDBY_LIST);
	int got, count = 0;

	bind_int(s, ":after", 0);
	while ((got = stmt_row(s, e)) > 0) {
		const char *r = col_text(s, STANDBY_LIST_ID);
		const char *of = col_text(s, STANDBY_LIST_SESSION_ID);

		if (id && strcmp(id, r) != 0 && strcmp(id, of) != 0)
			continue;
		(void)snprintf(request, ID_BYTES, "%s", r);
		(void)snprintf(session, ID_BYTES, "%s", of);
		count++;
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	if (count == 0)
		return err_set(e, ERR_INPUT, "not found: no agent waits for instructions%s",
		               id ? " with this id" : "");
	if (count > 1 && !id)
		return err_set(e, ERR_INPUT, "ipc: several agents wait; give the id of one");
	return 0;
}

static int resume(struct front *f, const cJSON *line, const char *verb, cJSON *data, struct err *e)
{
	char request[ID_BYTES], session[ID_BYTES];

	if (find_standby(f, json_text(line, "id"), request, session, e) ||
	    decide(f, request, verb, line, data, e))
		return -1;
	add_member(data, "session_id", session);
	(void)cJSON_ReplaceItemInObjectCaseSensitive(data, "status", cJSON_CreateString("resumed"));
	return 0;
}

/* Gives an order; ret_reply: JSON, what it was answered, NULL where a worker has yet to do it. */
static int order(struct front *f, const struct command *c, cJSON **ret_reply, struct err *e)
{
	OWNED(command_result) struct command_result result = COMMAND_RESULT_INIT;

	if (command_insert(&f->worker.store, c, &result, e) || command_check(&result, e))
		return -1;
	*ret_reply = result.reply ? cJSON_Parse(result.reply) : NULL;
	return 0;
}

static int switch_mode(struct front *f, const cJSON *line, const char *verb, cJSON *data,
                       struct err *e)
{
	const struct command c = { .verb = verb,
		                   .session_id = json_text(line, "id"),
		                   .argument = json_text(line, "mode"),
		                   .source = "socket" };
	OWNED(cJSON_ptr) cJSON *reply = NULL;

	if (!c.argument)
		return err_set(e, ERR_INPUT, "ipc: mode is missing (remote, local or hybrid)");
	if (order(f, &c, &reply, e))
		return -1;
	add_member(data, "previous_mode", json_text(reply, "previous_mode"));
	add_member(data, "current_mode", json_text(reply, "current_mode"));
	return 0;
}

/* session-pause, session-resume, session-stop. */
static int order_session(struct front *f, const cJSON *line, const char *verb, cJSON *data,
                         struct err *e)
{
	const struct command c = { .verb = verb + strlen("session-"),
		                   .session_id = need_id(line, "session", e),
		                   .source = "socket" };
	OWNED(cJSON_ptr) cJSON *reply = NULL;

	if (!c.session_id || order(f, &c, &reply, e))
		return -1;
	add_member(data, "session_id", c.session_id);
	add_member(data, "status", "done");
	return 0;
}

static int undo(struct front *f, const cJSON *line, const char *verb, cJSON *data, struct err *e)
{
	const struct command c = { .verb = verb,
		                   .argument = need_id(line, "request", e),
		                   .source = "socket" };
	OWNED(cJSON_ptr) cJSON *reply = NULL;

	if (!c.argument || order(f, &c, &reply, e))
		return -1;
	add_member(data, "request_id", c.argument);
	add_member(data, "status", "ordered");
	return 0;
}

/* steer: to the session of id; task: to the next one that begins. */
static int say(struct front *f, const cJSON *line, const char *verb, cJSON *data, struct err *e)
{
	bool steers = strcmp(verb, "steer") == 0;
	const char *id = steers ? need_id(line, "session", e) : NULL;
	const struct saying w = { .kind = verb,
		                  .session_id = id,
		                  .text = json_text(line, "instruction"),
		                  .source = "socket" };

	if (steers && !id)
		return -1;
	if (!w.text)
		return err_set(e, ERR_INPUT, "ipc: instruction is missing (what is to be said)");
	if (saying_insert(&f->worker.store, &w, e))
		return -1;
	if (id)
		add_member(data, "session_id", id);
	add_member(data, "status", "accepted");
	return 0;
}

static const struct ipc_command {
	const char *verb;
	int (*run)(struct front *f, const cJSON *line, const char *verb, cJSON *data,
	           struct err *e);
	bool reads; /* and writes nothing */
} COMMANDS[] = {
	{ "list", list, true }, /* sessions */
	{ "inbox", inbox, true }, /* what waits for an answer */
	{ "approve", answer, false }, /* id */
	{ "reject", answer, false }, /* id, reason */
	{ "continue", answer, false }, /* id */
	{ "refine", answer, false }, /* id, instruction */
	{ "stop", answer, false }, /* id, reason */
	{ "resume", resume, false }, /* id (of the request or its session), instruction */
	{ "mode", switch_mode, false }, /* mode, id */
	{ "steer", say, false }, /* id, instruction */
	{ "task", say, false }, /* instruction */
	{ "session-pause", order_session, false }, /* id */
	{ "session-resume", order_session, false }, /* id */
	{ "session-stop", order_session, false }, /* id */
	{ "undo", undo, false }, /* id */
};

static const struct ipc_command *find_command(const cJSON *line, struct err *e)
{
	const char *verb = json_text(line, "command");
	OWNED(str) struct str all = STR_INIT;

	for (size_t i = 0; verb && i < COUNT(COMMANDS); i++) {
		if (strcmp(COMMANDS[i].verb, verb) == 0)
			return &COMMANDS[i];
		str_addf(&all, "%s%s", i ? ", " : "", COMMANDS[i].verb);
	}
	if (verb)
		(void)err_set(e, ERR_INPUT, "ipc: unknown command '%.40s'; there are %s", verb,
		              all.bytes);
	else
		(void)err_set(e, ERR_INPUT, "ipc: command is missing (a string)");
	return NULL;
}

/* A refused answer is kept as a row too: the transaction is committed whatever came of it. */
static int run(struct front *f, const cJSON *line, cJSON *data, struct err *e)
{
	const struct ipc_command *c = find_command(line, e);
	struct err commit = ERR_INIT;
	int failed;

	if (!c)
		return -1;
	if (c->reads)
		return c->run(f, line, c->verb, data, e);
	if (store_begin(&f->worker.store, e))
		return -1;
	failed = c->run(f, line, c->verb, data, e);
	if (store_commit(&f->worker.store, &commit)) {
		*e = commit;
		return -1;
	}
	return failed;
}

/* In a time that does not depend on what was given. */
static int check_token(const struct front *f, const cJSON *line, struct err *e)
{
	const char *given = json_text(line, "auth_token");
	size_t n = strlen(f->ipc_token);

	if (n == 0 || (given && strlen(given) == n && CRYPTO_memcmp(given, f->ipc_token, n) == 0))
		return 0;
	return err_set(e, ERR_INPUT, "ipc: unauthorized: auth_token is %s",
	               given ? "not that of ipc.token" : "missing (see ipc.token)");
}

/* Answers a line. data NULL: with e. */
static void reply(struct ipc_caller *c, cJSON *data, const struct err *e)
{
	OWNED(cJSON_ptr) cJSON *object = cJSON_CreateObject();
	char *printed;

	(void)cJSON_AddBoolToObject(object, "ok", data != NULL);
	if (data)
		(void)cJSON_AddItemToObject(object, "data", data);
	else
		(void)cJSON_AddStringToObject(object, "error", e->text);
	printed = cJSON_PrintUnformatted(object);
	(void)evbuffer_add_printf(bufferevent_get_output(c->pipe), "%s\n",
	                          printed ? printed : "{}");
	cJSON_free(printed);
}

static void take_line(struct ipc_caller *c, const char *text, size_t length)
{
	bool is_text = utf8_valid(text, length) && !memchr(text, '\0', length);
	OWNED(cJSON_ptr) cJSON *line = is_text ? cJSON_ParseWithLength(text, length) : NULL;
	cJSON *data = cJSON_CreateObject();
	struct err e = ERR_INIT;
	int failed;

	if (!cJSON_IsObject(line))
		failed = err_set(&e, ERR_INPUT, "ipc: the line is not a JSON object");
	else
		failed = check_token(c->front, line, &e) || run(c->front, line, data, &e);
	if (failed)
		cJSON_Delete(data);
	reply(c, failed ? NULL : data, &e);
}

/* ---- lines ---- */

static void refuse_line(struct ipc_caller *c)
{
	struct err e = ERR_INIT;

	(void)err_set(&e, ERR_INPUT, "ipc: the line is longer than %d bytes", IPC_MAX_LINE);
	reply(c, NULL, &e);
}

/* Drops what has come of a line that is too long. Returns whether it is over. */
static bool skip_line(struct ipc_caller *c, struct evbuffer *in)
{
	struct evbuffer_ptr end = evbuffer_search_eol(in, NULL, NULL, EVBUFFER_EOL_LF);

	c->skips = end.pos < 0;
	(void)evbuffer_drain(in, c->skips ? evbuffer_get_length(in) : (size_t)end.pos + 1);
	return !c->skips;
}

/* Takes the next line, if it has come whole (or the caller sends no more). */
static bool take_next(struct ipc_caller *c)
{
	struct evbuffer *in = bufferevent_get_input(c->pipe);
	OWNED(char_ptr) char *line = NULL;
	size_t length;

	if (c->skips && !skip_line(c, in))
		return false;
	line = evbuffer_readln(in, &length, EVBUFFER_EOL_LF);
	if (!line && evbuffer_get_length(in) > IPC_MAX_LINE) {
		refuse_line(c);
		c->skips = true;
		return true;
	}
	if (!line && c->ended && evbuffer_get_length(in) > 0) {
		length = evbuffer_get_length(in);
		line = xcalloc(1, length + 1);
		(void)evbuffer_remove(in, line, length);
	}
	if (!line)
		return false;
	if (length > IPC_MAX_LINE)
		refuse_line(c);
	else
		take_line(c, line, length);
	return true;
}

/* ---- connections ---- */

static void hang_up(struct ipc_caller *c)
{
	LIST_REMOVE(c, next);
	c->front->ipc_callers--;
	bufferevent_free(c->pipe);
	free(c);
}

/* Takes some lines; the rest in another turn, or once the caller has read what it was answered. */
static void serve(struct ipc_caller *c)
{
	const struct evbuffer *out = bufferevent_get_output(c->pipe);

	for (int i = 0; i < IPC_LINES_A_TURN; i++) {
		if (evbuffer_get_length(out) > IPC_MAX_UNREAD)
			return;
		if (take_next(c))
			continue;
		if (c->ended && evbuffer_get_length(out) == 0)
			hang_up(c);
		return;
	}
	bufferevent_trigger(c->pipe, EV_READ,
	                    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

static void on_bytes(struct bufferevent *pipe, void *arg)
{
	(void)pipe;
	serve(arg);
}

/* A caller that has closed only its sending side gets its answers still. */
static void on_event(struct bufferevent *pipe, short what, void *arg)
{
	struct ipc_caller *c = arg;

	(void)pipe;
	if ((what & BEV_EVENT_EOF) && !c->ended) {
		c->ended = true;
		serve(c);
	} else if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT)) {
		hang_up(c);
	}
}

static bool refuses(const struct front *f, int fd)
{
	static const char FULL[] = "{\"ok\":false,\"error\":\"ipc: too many connections\"}\n";
	bool ours = socket_is_ours(fd);

	if (ours && f->ipc_callers < IPC_MAX_CALLERS && fd < f->max_fd)
		return false;
	log_warn("ipc: refused a caller: %s", ours ? "too many" : "of another user");
	if (ours)
		(void)send(fd, FULL, sizeof(FULL) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return true;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int size, void *arg)
{
	const struct timeval idle = { .tv_sec = IPC_IDLE_SECONDS };
	const struct timeval unread = { .tv_sec = IPC_WRITE_SECONDS };
	struct front *f = arg;
	struct ipc_caller *c;

	(void)listener;
	(void)address;
	(void)size;
	if (refuses(f, fd)) {
		(void)close(fd);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->front = f;
	c->pipe = bufferevent_socket_new(f->base, fd, BEV_OPT_CLOSE_ON_FREE);
	LIST_INSERT_HEAD(&f->ipc_pipes, c, next);
	f->ipc_callers++;
	bufferevent_setcb(c->pipe, on_bytes, on_bytes, on_event, c);
	bufferevent_setwatermark(c->pipe, EV_READ, 0, IPC_MAX_LINE + 1);
	(void)bufferevent_set_timeouts(c->pipe, &idle, &unread);
	(void)bufferevent_enable(c->pipe, EV_READ | EV_WRITE);
}

/* ---- the token ---- */

/* A file of ours only, whole under its name or not there. */
static int write_token(const struct front *f, struct err *e)
{
	static const char NEW[] = "ipc.token.new";
	int dir = f->worker.run_fd;
	int fd = openat(dir, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t n = strlen(f->ipc_token);
	bool written =
	    fd >= 0 && write(fd, f->ipc_token, n) == (ssize_t)n && write(fd, "\n", 1) == 1;

	if (fd >= 0)
		written = close(fd) == 0 && written;
	if (!written || renameat(dir, NEW, dir, TOKEN_NAME) != 0)
		return err_errno(e, ERR_AGAIN, "cannot write %s/%s", f->worker.run_dir, TOKEN_NAME);
	return 0;
}

static int make_token(struct front *f, struct err *e)
{
	struct secret token = secret_new();

	(void)unlinkat(f->worker.run_fd, TOKEN_NAME, 0);
	if (!f->ipc_requires_token)
		return 0;
	(void)snprintf(f->ipc_token, sizeof(f->ipc_token), "%s", token.text);
	return write_token(f, e);
}

int ipc_start(struct front *f, struct err *e)
{
	return make_token(f, e) ? -1 : ipc_listen(f, e);
}

int ipc_listen(struct front *f, struct err *e)
{
	if (f->ipc_token[0] && write_token(f, e))
		return -1;
	if (f->ipc_listener)
		evconnlistener_free(f->ipc_listener);
	f->ipc_listener = socket_listen(f, SOCKET_NAME, on_accept, e);
	return f->ipc_listener ? 0 : -1;
}

void ipc_stop(struct front *f)
{
	if (f->ipc_listener)
		evconnlistener_free(f->ipc_listener);
	f->ipc_listener = NULL;
	for (struct ipc_caller *c = LIST_FIRST(&f->ipc_pipes), *after; c; c = after) {
		after = LIST_NEXT(c, next);
		hang_up(c);
	}
	(void)unlinkat(f->worker.run_fd, SOCKET_NAME, 0);
	if (f->ipc_token[0])
		(void)unlinkat(f->worker.run_fd, TOKEN_NAME, 0);
}
