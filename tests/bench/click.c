/* From a click in Slack to the agent's answer, and to the file on disk. An agent asks, the fake
 * Slack delivers a click on Approve, and the agent has the change written as soon as it is told.
 * usage: click DB RUN_DIR PORT FAKE_PORT OPERATIONS
 * Prints: answer_p50_us, answer_p99_us (from the envelope on the fake's socket to the whole answer
 * at the agent), file_p50_us, file_p99_us (until check_diff has answered: the file is flushed). */
#include "bench.h"
#include "clicker.h"

#include "store.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WARM_OPERATIONS = 5,
	GAP_US = 5000, /* between two clicks: people are slower */
	PATIENCE_MS = 10000,
};

struct bench {
	struct store store;
	struct caller agent;
	struct clicker clicker;
};

/* ---- the agent ---- */

static void take_text(int columns, const char *const *names, const char *const *values, void *arg)
{
	(void)columns;
	(void)names;
	(void)snprintf(arg, 80, "%s", values[0]);
}

static void call(struct bench *b, int id, const char *tool, const char *arguments)
{
	char *text = call_text(id, tool, arguments);

	caller_post(&b->agent, text);
	free(text);
}

/* Asks, and waits until that waits: the request's id. */
static void ask(struct bench *b, int count, char id[80])
{
	struct pollfd p = { .fd = b->agent.fd, .events = POLLIN };
	struct err e = { 0 };
	char text[300];

	(void)snprintf(text, sizeof(text),
	               "{\"title\":\"change %d\",\"file_path\":\"file%d.c\",\"diff\":"
	               "\"int value(void)\\n{\\n\\treturn %d;\\n}\\n\"}",
	               count, count, count);
	call(b, count, "check_clearance", text);
	do
		if (poll(&p, 1, PATIENCE_MS) != 1)
			die("a question does not wait");
	while (caller_read(&b->agent) == CALLER_MORE);
	(void)snprintf(text, sizeof(text),
	               "SELECT r.id FROM tool_call AS t JOIN request AS r ON r.seq = t.request_seq "
	               "WHERE t.seq = %lld",
	               clicker_number(b->agent.in, "\nid: "));
	id[0] = '\0';
	if (store_query(&b->store, text, take_text, id, &e) || !id[0])
		die("the question is not there: %s", e.text);
}

/* One click: how long until the agent was told, and until the file was there. */
static void approve(struct bench *b, int count, int64_t *ret_answer, int64_t *ret_file)
{
	char id[80], arguments[120];
	int64_t answered, written, clicked;

	ask(b, count, id);
	clicker_click(&b->clicker, id, count);
	caller_finish(&b->agent);
	answered = now_ns();
	if (!strstr(b->agent.in, "approved"))
		die("not approved: %.500s", b->agent.in);
	(void)snprintf(arguments, sizeof(arguments), "{\"request_id\":\"%s\"}", id);
	call(b, count, "check_diff", arguments);
	caller_finish(&b->agent);
	written = now_ns();
	if (!strstr(b->agent.in, "files_written"))
		die("not written: %.500s", b->agent.in);
	clicked = clicker_happened_ns(&b->clicker, "envelope");
	*ret_answer = answered - clicked;
	*ret_file = written - clicked;
}

static void measure(struct bench *b, size_t operations)
{
	int64_t *answer = malloc(2 * operations * sizeof(*answer));
	int64_t *file = answer + operations;
	int count = 0;

	for (int i = 0; i < WARM_OPERATIONS; i++)
		approve(b, ++count, answer, file);
	for (size_t i = 0; i < operations; i++) {
		pause_us(GAP_US);
		approve(b, ++count, &answer[i], &file[i]);
	}
	(void)printf("answer_p50_us %.1f\n", percentile_us(answer, operations, 0.5));
	(void)printf("answer_p99_us %.1f\n", percentile_us(answer, operations, 0.99));
	(void)printf("file_p50_us %.1f\n", percentile_us(file, operations, 0.5));
	(void)printf("file_p99_us %.1f\n", percentile_us(file, operations, 0.99));
	free(answer);
}

int main(int argc, char **argv)
{
	struct bench b = { .store = STORE_INIT };
	struct err e = { 0 };

	if (argc != 6 || atol(argv[5]) < 1)
		die("usage: click DB RUN_DIR PORT FAKE_PORT OPERATIONS");
	if (store_open(&b.store, argv[1], argv[2], &e))
		die("%s", e.text);
	clicker_open(&b.clicker, atoi(argv[4]));
	caller_open(&b.agent, atoi(argv[3]));
	caller_initialize(&b.agent);
	measure(&b, (size_t)atol(argv[5]));
	caller_close(&b.agent);
	clicker_close(&b.clicker);
	store_clear(&b.store);
	return 0;
}
