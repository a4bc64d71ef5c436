/* The least that an HTTP server can do: answers every POST with the same text, looks at nothing,
 * stores nothing.
 * usage: echo */
#include "bench.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdio.h>

static const char ANSWER[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}";

static void on_request(struct evhttp_request *request, void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	struct evbuffer *b = evbuffer_new();

	(void)arg;
	(void)evhttp_add_header(headers, "Content-Type", "application/json");
	(void)evhttp_add_header(headers, "Mcp-Session-Id", "echo");
	(void)evbuffer_add(b, ANSWER, sizeof(ANSWER) - 1);
	evhttp_send_reply(request, 200, "OK", b);
	evbuffer_free(b);
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct evconnlistener *l = evconnlistener_new_bind(
	    base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE, 1024, (struct sockaddr *)&a, (int)sizeof(a));
	socklen_t size = sizeof(a);

	evhttp_set_gencb(http, on_request, NULL);
	if (!l || !evhttp_bind_listener(http, l) ||
	    getsockname(evconnlistener_get_fd(l), (struct sockaddr *)&a, &size) != 0)
		die("cannot listen");
	(void)printf("http://127.0.0.1:%d/mcp\n", ntohs(a.sin_port));
	(void)fflush(stdout);
	return event_base_dispatch(base);
}
