/* slack-listener: receives what the operator does in Slack, over Socket Mode.
 *
 * Outside: apps.connections.open with the app token, one WebSocket to Slack, response_urls
 *
 * Takes $SLACK_APP_TOKEN and $SLACK_API_URL from its environment and wipes them there. It runs
 * libwebsockets' loop only. If it is killed, an envelope is stored and acknowledged, stored but not
 * acknowledged (Slack sends it again: a duplicate), or neither. */
#include "slack_listener/listener.h"

#include "clock.h"
#include "io.h"
#include "log.h"
#include "setting.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static const char PURPOSE[] = "Receives what operators do in Slack, over Socket Mode.";

enum { EVENTS = 16, BACKOFF_MAX_SECONDS = 30, CURL_LOOK_MS = 100, STOP_MS = 4000 };

static const struct lws_protocols PROTOCOLS[] = {
	{ .name = "slack", .callback = link_callback, .rx_buffer_size = 1 << 16 },
	{ .name = NULL },
};

/* ---- one loop for all descriptors ---- */

static int watch_fd(struct listener *l, int fd, uint32_t events, struct err *e)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(l->wake_fd, EPOLL_CTL_ADD, fd, &event) != 0)
		return err_errno(e, ERR_AGAIN, "cannot wait for a descriptor");
	return 0;
}

static void wake(struct listener *l)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(l->wake_fd, events, EVENTS, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == l->worker.bell.fd) {
			doorbell_drain(&l->worker.bell);
			l->rung = true;
		} else if (events[i].data.fd == l->worker.signal_fd) {
			l->worker.stopping = true;
		}
	}
	if (l->worker.stopping) /* the descriptor stays readable, and has nothing more to say */
		(void)epoll_ctl(l->wake_fd, EPOLL_CTL_DEL, l->worker.signal_fd, NULL);
}

static const struct link_events EVENTS_OF_LINKS = { .message = take_frame,
	                                            .gone = machine_gone,
	                                            .wake = wake };

/* Watches libcurl's sockets, which change with each step. Returns in how many ms libcurl must run
 * next. */
static long watch_curl(struct listener *l)
{
	fd_set in, out, odd;
	int last = -1;
	long ms = -1;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&odd);
	(void)curl_multi_fdset(l->web.multi, &in, &out, &odd, &last);
	(void)curl_multi_timeout(l->web.multi, &ms);
	for (int fd = 0; fd <= last && l->curl_fd_count < LISTENER_CURL_FDS; fd++) {
		uint32_t events = (FD_ISSET(fd, &in) ? (uint32_t)EPOLLIN : 0) |
		                  (FD_ISSET(fd, &out) ? (uint32_t)EPOLLOUT : 0);

		if (events && watch_fd(l, fd, events, NULL) == 0)
			l->curl_fds[l->curl_fd_count++] = fd;
	}
	return ms < 0 || ms > CURL_LOOK_MS ? CURL_LOOK_MS : ms;
}

/* Unwatches libcurl's sockets: after this step they may be closed or unused. */
static void forget_curl(struct listener *l)
{
	while (l->curl_fd_count > 0)
		(void)epoll_ctl(l->wake_fd, EPOLL_CTL_DEL, l->curl_fds[--l->curl_fd_count], NULL);
}

static bool curl_is_busy(const struct listener *l)
{
	for (int i = 0; i < LISTENER_TELLS; i++)
		if (l->tells[i].easy)
			return true;
	return l->opening;
}

/* ---- opening and closing ---- */

static void read_settings(struct listener *l)
{
	l->pause_max_ms = setting_int(&l->worker.store, "slack.reconnect_backoff_max_seconds",
	                              BACKOFF_MAX_SECONDS) *
	                  1000;
	l->pause_ms = LISTENER_BACKOFF_MS;
}

static int open_web(struct listener *l, const char *token, const char *base, struct err *e)
{
	if (!token)
		return err_set(e, ERR_INPUT, "SLACK_APP_TOKEN is not set; agent-intercom sets it");
	l->key = proof_key_of(token);
	return slack_web_open_as(&l->web, base, "SLACK_APP_TOKEN", token, e);
}

static int open_loop(struct listener *l, struct err *e)
{
	const struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = PROTOCOLS,
		.user = l,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
		.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
		.fd_limit_per_thread = 64,
	};
	lws_sock_file_fd_type wake;
	struct lws_vhost *vhost;

	lws_set_log_level(0, NULL); /* its lines may contain the ticket; ours say what happened */
	(void)unsetenv("http_proxy");
	l->context = lws_create_context(&info);
	vhost = l->context ? lws_create_vhost(l->context, &info) : NULL;
	if (!vhost)
		return err_set(e, ERR_AGAIN, "libwebsockets gives no context");
	l->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->wake_fd < 0 || watch_fd(l, l->worker.bell.fd, EPOLLIN, e) ||
	    watch_fd(l, l->worker.signal_fd, EPOLLIN, e))
		return -1;
	wake.filefd = dup(l->wake_fd); /* libwebsockets closes what it adopts */
	if (wake.filefd < 0 ||
	    !lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, wake, "slack", NULL))
		return err_set(e, ERR_AGAIN, "libwebsockets does not take our descriptors");
	for (int i = 0; i < LISTENER_LINKS; i++)
		l->links[i].listener = l;
	return 0;
}

static void close_loop(struct listener *l)
{
	for (int i = 0; i < LISTENER_LINKS; i++)
		if (l->links[i].state != LINK_FREE)
			link_drop(&l->links[i]);
	if (l->context)
		lws_context_destroy(l->context);
	slack_call_clear(&l->open);
	for (int i = 0; i < LISTENER_TELLS; i++)
		slack_call_clear(&l->tells[i]);
	slack_web_clear(&l->web);
	io_shut(&l->wake_fd);
	free(l->bot_user);
}

/* ---- the loop ---- */

static void on_alarm(lws_sorted_usec_list_t *alarm)
{
	(void)alarm;
}

/* Waits for the next event, the next instant, or the next regular look. */
static void wait(struct listener *l, int64_t due)
{
	int64_t ms = due == INT64_MAX ? WORKER_LOOK_MS : due - clock_monotonic_ms();
	bool busy = curl_is_busy(l);

	if (worker_patience_ms(&l->worker) < ms)
		ms = worker_patience_ms(&l->worker);
	if (busy) {
		long soon = watch_curl(l);

		ms = soon < ms ? soon : ms;
	}
	lws_sul_schedule(l->context, 0, &l->alarm, on_alarm, (ms > 0 ? ms : 1) * LWS_US_PER_MS);
	(void)lws_service(l->context, 0);
	if (busy)
		forget_curl(l);
}

static void drive_curl(struct listener *l)
{
	if (!curl_is_busy(l))
		return;
	slack_web_wait(&l->web, NULL, 0, 0);
	for (int i = 0; i < LISTENER_TELLS; i++)
		if (l->tells[i].done)
			slack_call_clear(&l->tells[i]);
}

/* Writes acks and closes connections until the deadline. */
static void leave(struct listener *l)
{
	int64_t end = clock_monotonic_ms() + STOP_MS;

	machine_stop(l);
	while (!machine_is_stopped(l) && clock_monotonic_ms() < end)
		wait(l, machine_step(l));
}

static void run(struct listener *l)
{
	struct err e = { 0 };

	while (!l->worker.stopping) {
		int64_t due;

		drive_curl(l);
		if (l->rung)
			answers_look(l);
		due = machine_step(l);
		if (worker_heartbeat(&l->worker, &e))
			log_warn("%s", e.text);
		if (worker_move(&l->worker) && watch_fd(l, l->worker.bell.fd, EPOLLIN, &e))
			log_warn("%s", e.text);
		if (!l->worker.stopping)
			wait(l, due);
	}
	leave(l);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	struct listener l = { .events = &EVENTS_OF_LINKS, .wake_fd = -1, .failure = &e };
	char *token, *base;
	int failed;

	slack_secret_guard();
	token = slack_secret_take("SLACK_APP_TOKEN");
	base = slack_secret_take("SLACK_API_URL");
	failed = worker_open(&l.worker, "slack-listener", PURPOSE, argc, argv, &e) ||
	         open_web(&l, token, base, &e);
	l.worker.any_port = base != NULL;
	l.worker.beat_wait_ms = LISTENER_STORE_MS; /* what is to be acknowledged waits behind it */
	slack_secret_wipe(&token);
	slack_secret_wipe(&base);
	if (!failed && open_loop(&l, &e) == 0) {
		read_settings(&l);
		gap_start(&l);
		(void)snprintf(l.state, sizeof(l.state), "connecting");
		l.rung = true; /* look at what is already there */
		if (worker_ready(&l.worker, l.state, &e) == 0)
			run(&l);
	}
	close_loop(&l);
	worker_close(&l.worker, &e);
	return worker_exit(&l.worker, &e);
}
