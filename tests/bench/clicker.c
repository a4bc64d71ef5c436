#include "clicker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	PATIENCE_MS = 10000,
	ORDER_BYTES = 2000,
};

static void exchange(struct caller *fake, const char *method, const char *path, const char *body)
{
	char text[ORDER_BYTES + 300];
	int length = snprintf(text, sizeof(text),
	                      "%s /control/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	                      "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	                      method, path, strlen(body), body);

	fake->used = 0;
	if (length >= (int)sizeof(text) ||
	    send(fake->fd, text, (size_t)length, MSG_NOSIGNAL) != length)
		die("cannot order the fake Slack");
	caller_finish(fake);
}

long long clicker_number(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		die("no %s in %.300s", name, text);
	return strtoll(at + strlen(name), NULL, 10);
}

int64_t clicker_happened_ns(struct clicker *c, const char *name)
{
	char path[200];

	(void)snprintf(path, sizeof(path), "calls?name=%s&after=%lld&wait_ms=%d", name, c->heard,
	               PATIENCE_MS);
	exchange(&c->fake, "GET", path, "");
	c->heard = clicker_number(c->fake.in, "\"last\":");
	return clicker_number(c->fake.in, "\"real_us\":") * 1000;
}

void clicker_open(struct clicker *c, int port)
{
	*c = (struct clicker){ 0 };
	caller_open(&c->fake, port);
	(void)clicker_happened_ns(c, "hello");
}

void clicker_close(struct clicker *c)
{
	caller_close(&c->fake);
}

void clicker_click(struct clicker *c, const char *request_id, int count)
{
	char order[ORDER_BYTES];

	(void)snprintf(
	    order, sizeof(order),
	    "{\"envelope\":{\"type\":\"interactive\",\"accepts_response_payload\":true,"
	    "\"payload\":{\"type\":\"block_actions\",\"team\":{\"id\":\"T01TEAM\"},"
	    "\"user\":{\"id\":\"U01OP\",\"team_id\":\"T01TEAM\"},"
	    "\"container\":{\"type\":\"message\",\"message_ts\":\"1700000000.%06d\","
	    "\"channel_id\":\"C01AGENTS\"},\"channel\":{\"id\":\"C01AGENTS\"},"
	    "\"trigger_id\":\"%d.2.3\",\"response_url\":\"http://127.0.0.1/none\","
	    "\"message\":{\"text\":\"Approval needed\"},\"actions\":[{\"type\":\"button\","
	    "\"action_id\":\"approve_accept\",\"value\":\"%s\",\"action_ts\":\"%d.1\"}]}}}",
	    count, count, request_id, count);
	exchange(&c->fake, "POST", "deliver", order);
}
