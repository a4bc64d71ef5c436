/* fake-slack: a Slack workspace for tests on a loopback port; see README.md. */
#include "clock.h"
#include "fake.h"

#include <arpa/inet.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TICK_US = 5000, BACKLOG = 128, BODY_BYTES = 32 << 20 };

static struct event_base *loop;
static char origin[40];
static int64_t moved_ms;

int64_t fake_now_ms(void)
{
	return clock_now_ms() + moved_ms;
}

void fake_advance(int64_t ms)
{
	moved_ms += ms;
}

int64_t fake_real_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct event_base *fake_loop(void)
{
	return loop;
}

const char *fake_origin(void)
{
	return origin;
}

/* Other processes move the clock and cannot wake us, so we check it often. */
static void tick(evutil_socket_t fd, short what, void *nothing)
{
	(void)fd;
	(void)what;
	(void)nothing;
	socket_tick();
	envelope_tick();
	calls_tick();
}

static void leave(evutil_socket_t fd, short what, void *nothing)
{
	(void)fd;
	(void)what;
	(void)nothing;
	(void)event_base_loopbreak(loop);
}

/* Returns 0 or -1. */
static int serve(struct evhttp *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	struct evconnlistener *listener;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener =
	    evconnlistener_new_bind(loop, NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
	                            BACKLOG, (struct sockaddr *)&address, sizeof(address));
	if (!listener || !evhttp_bind_listener(server, listener) ||
	    getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&address, &length) != 0)
		return -1;
	evhttp_set_max_body_size(server, BODY_BYTES);
	evhttp_set_allowed_methods(server, EVHTTP_REQ_GET | EVHTTP_REQ_POST);
	evhttp_set_gencb(server, http_serve, NULL);
	(void)snprintf(origin, sizeof(origin), "http://127.0.0.1:%d", ntohs(address.sin_port));
	return 0;
}

/* By default, libevent's timers may fire some milliseconds early: a delay here is a promise. */
static struct event_base *precise_loop(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	(void)event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

int main(void)
{
	static const struct timeval often = { .tv_usec = TICK_US };
	struct evhttp *server;

	(void)signal(SIGPIPE, SIG_IGN);
	loop = precise_loop();
	server = evhttp_new(loop);
	if (serve(server) != 0) {
		perror("fake-slack: cannot listen");
		return EXIT_FAILURE;
	}
	world_make();
	(void)event_add(event_new(loop, -1, EV_PERSIST, tick, NULL), &often);
	(void)event_add(evsignal_new(loop, SIGTERM, leave, NULL), NULL);
	(void)printf("ready %s/api/\n", origin);
	(void)fflush(stdout);
	(void)event_base_dispatch(loop);
	_Exit(EXIT_SUCCESS);
}
