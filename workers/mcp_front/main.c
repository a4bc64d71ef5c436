/* mcp-front: speaks MCP with agents, over HTTP and, through relays, over a Unix socket.
 *
 * Outside: 127.0.0.1:http_port, <run>/mcp.sock, <run>/ipc.sock, <shared.directory>/mcp.sock, files
 *          of workspaces (read only)
 *
 * If it is killed, its rows tell everything: waiting calls stay 'waiting', with a listener that is
 * no longer alive, and the next front gives their answers to clients that ask again or resume. */
#include "await_slack.h"
#include "big.h"
#include "departed.h"
#include "front.h"
#include "http.h"
#include "http_arrivals.h"
#include "ipc.h"
#include "log.h"
#include "nudges.h"
#include "park.h"
#include "paths.h"
#include "peer_process.h"
#include "pipe.h"
#include "policies.h"
#include "policy_gate.h"
#include "port_holder.h"
#include "setting.h"
#include "show_files.h"
#include "sql/broadcast_wait.h"
#include "sql/session.h"
#include "sql/tool_call.h"
#include "turn.h"
#include "unread.h"
#include "workspace.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
	FLUSH_MS = 200, /* for the last replies to leave */
	HTTP_TRY_MS = 1000,
	TRIM_BYTES = 1 << 20, /* bytes of free memory worth giving back */
};

static const char PURPOSE[] = "Speaks MCP with agents over HTTP and for mcp-stdio.";

/* ---- configuration ---- */

/* NULL if missing or empty. */
static char *setting_text(struct store *st, const char *name)
{
	OWNED(str) struct str text = { 0 };

	return setting_get(st, name, &text, NULL) > 0 && text.length ? str_take(&text) : NULL;
}

static void read_prompt_times(struct store *st, struct call_settings *s)
{
	int64_t usual = setting_int(st, "timeouts.prompt_seconds", 1800);

	for (size_t i = 0; i < PROMPT_TYPES; i++) {
		char name[60];
		int64_t own;

		(void)snprintf(name, sizeof(name), "timeouts.%s_seconds", PROMPT_TYPE[i]);
		own = setting_int(st, name, 0);
		s->prompt_ms[i] = (own ? own : usual) * 1000;
	}
}

static void read_settings(struct front *f)
{
	struct store *st = &f->worker.store;
	struct call_settings *s = &f->settings;

	(void)snprintf(s->workspaces.machine, sizeof(s->workspaces.machine), "%s",
	               f->worker.machine);
	(void)setting_get(st, "default_workspace_root", &f->default_workspace, NULL);
	s->workspaces.usual = f->default_workspace.bytes; /* NULL: none */
	(void)setting_json(st, "workspace", &s->workspaces.listed, NULL);
	s->workspaces.usual_channel = setting_text(st, "slack.channel_id");
	(void)setting_json(st, "slack.channels", &s->workspaces.channels, NULL);
	s->workspaces.only_listed = setting_is(st, "workspaces.allow", "listed");
	s->db_path = f->worker.db_path;
	workspace_ours(&s->ours, f->worker.run_dir, f->worker.database);
	s->listener = f->worker.id.text;
	s->approval_ms = setting_int(st, "timeouts.approval_seconds", 3600) * 1000;
	read_prompt_times(st, s);
	s->wait_ms = setting_int(st, "timeouts.wait_seconds", 0) * 1000;
	s->wait_cap_ms = setting_int(st, "mcp.wait_cap", 240) * 1000;
	s->fuzz = (size_t)setting_int(st, "apply.fuzz_lines", 0);
	s->user_questions = setting_int(st, "shared.open_questions", 100);
	s->may_record = allowance_take_effect;
	s->front = f;
	f->recorded_bytes = setting_int(st, "shared.recorded_bytes", 256 << 20);
	s->stall_enabled = setting_is_on(st, "stall.enabled", true);
	s->elicitation = setting_is_on(st, "mcp.elicitation", false);
	s->gate_reads_by_policy = setting_is(st, "gate.reads", "policy");
	s->gate_standby = setting_is_on(st, "gate.standby_at_end", false);
	s->gate_wait_ms = setting_int(st, "gate.wait_seconds", 0) * 1000;
	s->commands = policy_gate_commands(st);
	s->trust = policy_trust_read(st);
	(void)setting_json(st, "policy.always_ask", &s->always_ask, NULL);
	f->ipc_requires_token = setting_is_on(st, "ipc.require_token", false);
	(void)setting_json(st, "mcp.allow_uids", &f->allow_uids, NULL);
	f->http_port = setting_int(st, "http_port", 3000);
}

/* A time that test builds take from the environment. */
static int seconds(const char *variable, int usual)
{
#ifdef INTERCOM_TEST_CLOCK
	const char *given = getenv(variable);

	if (given)
		return (int)strtol(given, NULL, 10);
#endif
	(void)variable;
	return usual;
}

/* 10,000 held calls need as many descriptors: raise the soft limit to the hard limit. */
static void raise_limits(struct front *f)
{
	struct rlimit limit = { .rlim_cur = 1024 };

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	f->max_fd = limit.rlim_cur > (1 << 20) ? 1 << 20 : (int)limit.rlim_cur;
	f->max_fd -= FRONT_SPARE_FDS;
}

/* A port that the configuration of a system for several users names is served even if systemd holds
 * another one: their agents ask there. */
static void choose_socket(struct front *f)
{
	int held = activation_port(&f->activation);

	if (!held || !f->http_port || held == f->http_port || !guests_are_served(f) ||
	    setting_is_default(&f->worker.store, "http_port"))
		return;
	log_warn("systemd holds port %d, but http_port is %lld, which any user of this machine can "
	         "take at a restart: systemctl edit agent-intercom-http.socket",
	         held, (long long)f->http_port);
	f->activation.http_fd = -1;
}

/* Adds to why who has the port. Returns false. */
static bool tell_holder(int64_t port, struct err *why)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "%s; it is held by ", why->text);
	port_holder_tell((int)port, &text);
	err_set(why, ERR_INPUT, "%s, who can pose as this system to agents that use HTTP",
	        str_text(&text));
	return false;
}

/* Another user may have the default port: agents on stdio do not need it, so any free port will do.
 * A configured port is waited for, and any where several users are served: whoever has taken it can
 * pose as us, and nobody would notice if we served another one. */
static bool start_http(struct front *f, struct err *e)
{
	bool is_shared = guests_are_served(f);
	int64_t wanted = f->http_port;
	int error;

	if (http_start(f, e) == 0)
		return true;
	error = errno;
	http_stop(f);
	if (error != EADDRINUSE)
		return false;
	if (is_shared || !setting_is_default(&f->worker.store, "http_port"))
		return (is_shared || port_holder_is_other((int)wanted)) && tell_holder(wanted, e);
	f->http_port = 0;
	if (http_start(f, e) == 0) {
		log_warn("port %lld is in use; serving HTTP on port %lld; set http_port to choose "
		         "one",
		         (long long)wanted, (long long)f->http_port);
		return true;
	}
	http_stop(f);
	f->http_port = wanted;
	return false;
}

/* Opens the port, or reports why HTTP is off; the sockets are served either way. detail receives
 * the text for the worker row. */
static void listen_http(struct front *f, struct str *detail)
{
	struct err why = { 0 };
	bool was_off = f->http_try_ms != 0;

	str_reset(detail);
	if (start_http(f, &why)) {
		f->http_try_ms = 0;
		str_addf(detail, "http://127.0.0.1:%lld/mcp", (long long)f->http_port);
		if (was_off)
			log_info("HTTP is on: %s", str_text(detail));
		return;
	}
	f->http_try_ms = clock_monotonic_ms() + HTTP_TRY_MS;
	str_addf(detail, "HTTP is off: %s", why.text);
	if (!was_off)
		log_error("%s; agents on stdio are served; it is tried again every %d s",
		          str_text(detail), HTTP_TRY_MS / 1000);
}

static void try_http_again(struct front *f)
{
	OWNED(str) struct str detail = { 0 };
	struct err e = { 0 };

	if (!f->http_try_ms || clock_monotonic_ms() < f->http_try_ms)
		return;
	listen_http(f, &detail);
	if (f->http_try_ms == 0 && worker_ready(&f->worker, str_text(&detail), &e))
		log_warn("%s", e.text);
}

/* ---- rows at the start ---- */

/* Broadcasts whose callers still waited for their place in Slack: what was to be told with that has
 * not been. */
static int untell_broadcasts(struct store *st, struct err *e)
{
	int64_t call;

	while ((call = sql_broadcast_wait_first(st, e)) > 0)
		if (call_untell(st, call, e) || sql_broadcast_wait_delete(st, call, e))
			return -1;
	return call < 0 ? -1 : 0;
}

/* No caller of a predecessor is held any longer; from here on this process delivers the answers. */
static int take_over(struct front *f, struct err *e)
{
	struct store *st = &f->worker.store;

	if (store_begin(st, e) ||
	    store_end(st,
	              sql_tool_call_unlisten_dead(st, f->worker.id.text, e) ||
	                  departed_of_relays(st, f->worker.machine, e) || untell_broadcasts(st, e),
	              e))
		return -1;
	f->answer_seq = sql_answer_last(st, e);
	return f->answer_seq < 0 ? -1 : 0;
}

/* ---- the loop ---- */

/* Looks at everything that other processes may have changed. */
static void look(struct front *f)
{
	static const struct timeval NEXT_PASS = { 0 };

	if (tell_answers(f))
		(void)event_add(f->more, &NEXT_PASS);
	park_look(f);
	nudges_tell(f);
	await_slack_look(f);
	hands_look(f);
	show_files_look(f);
	ipc_look(f);
}

static void on_more(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	look(arg);
}

static void on_bell(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	struct err e = { 0 };

	(void)fd;
	(void)what;
	doorbell_drain(&f->worker.bell);
	look(f);
	try_http_again(f);
	if (worker_heartbeat(&f->worker, &e))
		log_warn("%s", e.text);
}

/* Tells callers waiting over HTTP before they are cut off; relays ask the next front by themselves.
 * Returns whether there was anyone to tell. */
static bool tell_of_the_stop(struct front *f)
{
	bool any =
	    hands_refuse(f) || !STAILQ_EMPTY(&f->parked) || !STAILQ_EMPTY(&f->awaiting_slack);

	park_look(f);
	await_slack_look(f);
	turn_run(-1, 0, f);
	return tell_pending(f) > 0 || any;
}

static void stop(struct front *f, bool flush)
{
	static const struct timeval FLUSH = { .tv_usec = FLUSH_MS * 1000 };

	if (f->worker.stopping)
		return; /* what was told then has its time to leave */
	f->worker.stopping = true;
	flush |= tell_of_the_stop(f);
	(void)event_base_update_cache_time(f->base);
	(void)event_base_loopexit(f->base, flush ? &FLUSH : NULL);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	stop(arg, false);
}

/* Fenced, we cannot fork another one: the front that is started next can. */
static void on_searcher_lost(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;

	(void)fd;
	(void)what;
	(void)err_set(f->failure, ERR_AGAIN,
	              "the process that looks for callers has died or does not answer");
	stop(f, true); /* who calls meanwhile is told to call again */
}

static int start_searcher(struct front *f, struct err *e)
{
	int fd = peer_process_fork(e);

	if (fd < 0)
		return -1;
	f->searcher = event_new(f->base, fd, EV_READ, on_searcher_lost, f);
	(void)event_add(f->searcher, NULL);
	return 0;
}

/* If the run directory has vanished, opens bell and sockets in the new one. Existing connections
 * stay open. */
static void look_at_run(struct front *f)
{
	struct err e = { 0 };

	if (paths_is_there(f->worker.run_fd, f->worker.run_dir))
		return;
	(void)event_del(f->bell); /* before its descriptor is closed */
	if (worker_move(&f->worker)) {
		event_free(f->bell);
		f->bell = event_new(f->base, f->worker.bell.fd, EV_READ | EV_PERSIST, on_bell, f);
		if (pipe_listen(f, &e) || ipc_listen(f, &e))
			log_error("%s", e.text);
	}
	(void)event_add(f->bell, NULL);
}

/* Returns memory to the system that a burst of calls has left free. */
static void trim(struct front *f)
{
	if (!f->turned)
		return;
	f->turned = false;
	if (mallinfo2().fordblks > TRIM_BYTES)
		(void)malloc_trim(0);
}

/* Also looks now and then without a bell, because bells may be lost. */
static void on_beat(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	struct err e = { 0 };

	(void)fd;
	(void)what;
	look_at_run(f);
	look(f);
	try_http_again(f);
	http_arrivals_tell(f);
	trim(f);
	if (worker_heartbeat(&f->worker, &e))
		log_warn("%s", e.text);
}

/* Calls come before messages: what is in memory for them is freed sooner. */
static bool do_big_step(struct front *f)
{
	return turn_run_big(f) || unread_take(f);
}

static int open_loop(struct front *f, struct err *e)
{
	const struct timeval beat = { .tv_sec = WORKER_LOOK_MS / 1000 };

	struct event_config *config = event_config_new();

	/* A reply arms and disarms its socket in one pass: saves the system calls for that. */
	(void)event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
	f->base = event_base_new_with_config(config);
	event_config_free(config);
	if (!f->base)
		return err_set(e, ERR_AGAIN, "libevent gives no event base");
	STAILQ_INIT(&f->jobs);
	STAILQ_INIT(&f->parked);
	STAILQ_INIT(&f->awaiting_slack);
	STAILQ_INIT(&f->told);
	STAILQ_INIT(&f->told_words);
	TAILQ_INIT(&f->line);
	unread_start(f);
	big_start(f, do_big_step);
	f->turn = event_new(f->base, -1, 0, turn_run, f);
	f->bell = event_new(f->base, f->worker.bell.fd, EV_READ | EV_PERSIST, on_bell, f);
	f->signal = event_new(f->base, f->worker.signal_fd, EV_READ, on_signal, f);
	f->beat = event_new(f->base, -1, EV_PERSIST, on_beat, f);
	f->more = evtimer_new(f->base, on_more, f);
	f->clock = evtimer_new(f->base, hold_on_clock, f);
	f->patience = evtimer_new(f->base, await_slack_on_patience, f);
	(void)event_add(f->bell, NULL);
	(void)event_add(f->signal, NULL);
	(void)event_add(f->beat, &beat);
	return 0;
}

static void close_loop(struct front *f)
{
	struct event **const events[] = { &f->turn,  &f->bell,     &f->signal, &f->beat,
		                          &f->clock, &f->patience, &f->more,   &f->searcher };

	big_stop(f);
	unread_stop(f);
	ipc_stop(f);
	pipe_stop(f);
	http_stop(f);
	hands_stop(f);
	if (f->base)
		turn_run(-1, 0, f); /* writes what the closing connections have left */
	policies_stop(f);
	turn_clear(f);
	for (size_t i = 0; i < COUNT(events); i++)
		front_drop(events[i]);
	if (f->base)
		event_base_free(f->base);
	cJSON_Delete(f->settings.workspaces.listed);
	cJSON_Delete(f->settings.workspaces.channels);
	free(f->settings.workspaces.usual_channel);
	own_places_clear(&f->settings.ours);
	cJSON_Delete(f->allow_uids);
	free(f->allowances);
	cJSON_Delete(f->settings.commands);
	cJSON_Delete(f->settings.always_ask);
	str_clear(&f->default_workspace);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	struct front f = { .hang_up_fd = -1,
		           .activation = ACTIVATION_INIT,
		           .guests = GUESTS_INIT,
		           .failure = &e };
	OWNED(str) struct str detail = { 0 };

	f.progress_ms = seconds("INTERCOM_PROGRESS_SECONDS", FRONT_PROGRESS_SECONDS) * 1000;
	f.request_seconds = seconds("INTERCOM_REQUEST_SECONDS", FRONT_REQUEST_SECONDS);
	if (worker_open(&f.worker, "mcp-front", PURPOSE, argc, argv, &e) == 0) {
		activation_take(&f.activation);
		raise_limits(&f);
		/* What is long goes back to the system as soon as it is freed. */
		(void)mallopt(M_MMAP_THRESHOLD, FRONT_BIG_CALL);
		read_settings(&f);
		if (take_over(&f, &e) == 0 && guests_open(&f, &e) == 0 && open_loop(&f, &e) == 0 &&
		    policies_start(&f, &e) == 0 && start_searcher(&f, &e) == 0 &&
		    worker_fence(&f.worker, &e) == 0 && hands_start(&f, &e) == 0 &&
		    pipe_listen(&f, &e) == 0 && ipc_start(&f, &e) == 0) {
			choose_socket(&f);
			listen_http(&f, &detail);
			if (worker_ready(&f.worker, str_text(&detail), &e) == 0)
				(void)event_base_dispatch(f.base);
		}
	}
	close_loop(&f);
	worker_close(&f.worker, &e);
	return worker_exit(&f.worker, &e);
}
