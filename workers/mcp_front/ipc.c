/* The IPC socket of the seeds (000 section 5.3), <run>/ipc.sock: for programs that answer on this
 * machine without SQLite. One JSON object per line each way:
 *   {"command":"approve","id":"..."}  ->  {"ok":true,"data":{...}}  or  {"ok":false,"error":"..."}
 * Commands: list, approve, reject (reason), resume (id, instruction), mode (mode, id). They become
 * the same rows as those of agent-intercom-ctl, from the source 'socket'. Whoever runs under our
 * uid may connect; an auth_token is not needed and not looked at. */
#include "front.h"

#include "decision.h"
#include "log.h"
#include "request.h"

#include <event2/buffer.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IPC_MAX_LINE = 128 << 10, IPC_IDLE_SECONDS = 600, IPC_MAX_CALLERS = 64 };

static const char SOCKET_NAME[] = "ipc.sock";

/* ---- commands ---- */

static void add_member(cJSON *object, const char *name, const char *text)
{
	if (text)
		(void)cJSON_AddStringToObject(object, name, text);
	else
		(void)cJSON_AddNullToObject(object, name);
}

static int list(struct front *f, cJSON *data, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_SESSION_LIST);
	cJSON *sessions = cJSON_AddArrayToObject(data, "sessions");
	int got;

	while ((got = stmt_row(s, e)) > 0) {
		cJSON *one = cJSON_CreateObject();

		add_member(one, "session_id", col_text(s, SESSION_LIST_ID));
		add_member(one, "status", col_text(s, SESSION_LIST_STATUS));
		add_member(one, "mode", col_text(s, SESSION_LIST_MODE));
		add_member(one, "workspace_root", col_text(s, SESSION_LIST_WORKSPACE_ROOT));
		add_member(one, "last_tool", col_text(s, SESSION_LIST_LAST_TOOL));
		add_member(one, "updated_at", col_text(s, SESSION_LIST_UPDATED_AT));
		(void)cJSON_AddItemToArray(sessions, one);
	}
	stmt_reset(s);
	return got;
}

static int decide(struct front *f, const char *id, const char *verdict, const char *reason,
                  const char *instruction, struct err *e)
{
	const struct decision d = { .request_id = id,
		                    .verdict = verdict,
		                    .reason = reason,
		                    .instruction = instruction,
		                    .source = "socket" };
	struct decision_result result = DECISION_RESULT_INIT;
	int failed =
	    decision_insert(&f->worker.store, &d, &result, e) || decision_check(&result, e);

	decision_result_clear(&result);
	return failed ? -1 : 0;
}

static int answer_clearance(struct front *f, const cJSON *line, const char *verdict, cJSON *data,
                            struct err *e)
{
	const char *id = json_text(line, "id");
	const char *reason = json_text(line, "reason");
	bool approves = strcmp(verdict, "approve") == 0;

	if (!id)
		return err_set(e, ERR_INPUT, "ipc: id is missing (the request's id)");
	if (decide(f, id, verdict, approves || reason ? reason : "rejected via ipc", NULL, e))
		return -1;
	add_member(data, "request_id", id);
	add_member(data, "status", approves ? "approved" : "rejected");
	return 0;
}

/* The standby of a session or request id; without one, the only standby that waits. */
static int find_standby(struct front *f, const char *id, char request[40], char session[40],
                        struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_STANDBY_LIST);
	int got, count = 0;

	bind_int(s, ":after", 0);
	while ((got = stmt_row(s, e)) > 0) {
		const char *r = col_text(s, STANDBY_LIST_ID);
		const char *of = col_text(s, STANDBY_LIST_SESSION_ID);

		if (id && strcmp(id, r) != 0 && strcmp(id, of) != 0)
			continue;
		(void)snprintf(request, 40, "%s", r);
		(void)snprintf(session, 40, "%s", of);
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

static int resume(struct front *f, const cJSON *line, cJSON *data, struct err *e)
{
	char request[40], session[40];

	if (find_standby(f, json_text(line, "id"), request, session, e) ||
	    decide(f, request, "resume", NULL, json_text(line, "instruction"), e))
		return -1;
	add_member(data, "session_id", session);
	add_member(data, "status", "resumed");
	return 0;
}

static int switch_mode(struct front *f, const cJSON *line, cJSON *data, struct err *e)
{
	const struct command c = { .verb = "mode",
		                   .session_id = json_text(line, "id"),
		                   .argument = json_text(line, "mode"),
		                   .source = "socket" };
	OWNED(command_result) struct command_result result = COMMAND_RESULT_INIT;
	OWNED(cJSON_ptr) cJSON *reply = NULL;

	if (!c.argument)
		return err_set(e, ERR_INPUT, "ipc: mode is missing (remote, local or hybrid)");
	if (command_insert(&f->worker.store, &c, &result, e) || command_check(&result, e))
		return -1;
	reply = cJSON_Parse(result.reply);
	add_member(data, "previous_mode", json_text(reply, "previous_mode"));
	add_member(data, "current_mode", json_text(reply, "current_mode"));
	return 0;
}

static int run(struct front *f, const cJSON *line, cJSON *data, struct err *e)
{
	const char *verb = json_text(line, "command");

	if (!verb)
		return err_set(e, ERR_INPUT, "ipc: command is missing (a string)");
	if (strcmp(verb, "list") == 0)
		return list(f, data, e);
	if (strcmp(verb, "approve") == 0 || strcmp(verb, "reject") == 0)
		return answer_clearance(f, line, verb, data, e);
	if (strcmp(verb, "resume") == 0)
		return resume(f, line, data, e);
	if (strcmp(verb, "mode") == 0)
		return switch_mode(f, line, data, e);
	return err_set(
	    e, ERR_INPUT,
	    "ipc: unknown command '%.40s'; there are list, approve, reject, resume, mode", verb);
}

/* A refused answer is kept as a row too: the transaction is committed whatever came of it. */
static int run_in_transaction(struct front *f, const cJSON *line, cJSON *data, struct err *e)
{
	struct err commit = ERR_INIT;
	int failed;

	if (store_begin(&f->worker.store, e))
		return -1;
	failed = run(f, line, data, e);
	if (store_commit(&f->worker.store, &commit)) {
		*e = commit;
		return -1;
	}
	return failed;
}

static void take_line(struct front *f, struct bufferevent *pipe, const char *text, size_t length)
{
	OWNED(cJSON_ptr) cJSON *line = cJSON_ParseWithLength(text, length);
	OWNED(cJSON_ptr) cJSON *reply = cJSON_CreateObject();
	cJSON *data = cJSON_CreateObject();
	struct err e = ERR_INIT;
	char *printed;
	int failed;

	if (!cJSON_IsObject(line))
		failed = err_set(&e, ERR_INPUT, "ipc: the line is not a JSON object");
	else
		failed = run_in_transaction(f, line, data, &e);
	(void)cJSON_AddBoolToObject(reply, "ok", !failed);
	if (failed) {
		cJSON_Delete(data);
		(void)cJSON_AddStringToObject(reply, "error", e.text);
	} else {
		(void)cJSON_AddItemToObject(reply, "data", data);
	}
	printed = cJSON_PrintUnformatted(reply);
	(void)evbuffer_add_printf(bufferevent_get_output(pipe), "%s\n", printed ? printed : "{}");
	cJSON_free(printed);
}

/* ---- connections ---- */

static void hang_up(struct front *f, struct bufferevent *pipe)
{
	f->ipc_callers--;
	bufferevent_free(pipe);
}

static void on_read(struct bufferevent *pipe, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(pipe);
	struct front *f = arg;
	size_t length;
	char *line;

	while (evbuffer_get_length(bufferevent_get_output(pipe)) <= FRONT_MAX_OUTPUT &&
	       (line = evbuffer_readln(in, &length, EVBUFFER_EOL_LF)) != NULL) {
		if (utf8_valid(line, length) && !memchr(line, '\0', length))
			take_line(f, pipe, line, length);
		else
			take_line(f, pipe, "", 0);
		free(line);
	}
	if (evbuffer_get_length(in) > IPC_MAX_LINE) {
		log_warn("ipc: a line is longer than %d bytes, or answers are not read: cut off",
		         IPC_MAX_LINE);
		hang_up(f, pipe);
	}
}

static void on_event(struct bufferevent *pipe, short what, void *arg)
{
	(void)what;
	hang_up(arg, pipe);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int size, void *arg)
{
	const struct timeval idle = { .tv_sec = IPC_IDLE_SECONDS };
	struct front *f = arg;
	struct bufferevent *pipe;

	(void)listener;
	(void)address;
	(void)size;
	if (!socket_is_ours(fd) || f->ipc_callers >= IPC_MAX_CALLERS) {
		log_warn("ipc: refused a caller: %s",
		         f->ipc_callers >= IPC_MAX_CALLERS ? "too many" : "of another user");
		(void)close(fd);
		return;
	}
	f->ipc_callers++;
	pipe = bufferevent_socket_new(f->base, fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(pipe, on_read, NULL, on_event, f);
	(void)bufferevent_set_timeouts(pipe, &idle, NULL);
	(void)bufferevent_enable(pipe, EV_READ | EV_WRITE);
}

int ipc_start(struct front *f, struct err *e)
{
	f->ipc_listener = socket_listen(f, SOCKET_NAME, on_accept, e);
	return f->ipc_listener ? 0 : -1;
}

void ipc_stop(struct front *f)
{
	if (f->ipc_listener)
		evconnlistener_free(f->ipc_listener);
	f->ipc_listener = NULL;
	(void)unlinkat(f->worker.run_fd, SOCKET_NAME, 0);
}
