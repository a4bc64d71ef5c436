/* From an agent's question to the row that brings it to Slack, and from a click in Slack to the
 * answer at the agent. The agent is tests/fakes/fake_agent.c under our runner; it asks, the fake
 * Slack delivers a click on Approve, and it asks again. Between them we make plain durable commits
 * at the same pace: the measure.
 * usage: talk DB RUN_DIR FAKE_PORT TIMES PLAIN_DB OPERATIONS
 * TIMES: where the agent notes its times.
 * Prints: shown_p50_us, shown_p99_us (from before the agent writes its question until its message
 * is in the outbox), told_p50_us, told_p99_us (from the envelope on the fake's socket until the
 * agent has read the answer), commit_p50_us */
#include "bench.h"
#include "clicker.h"
#include "plain.h"

#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WARM_OPERATIONS = 5,
	GAP_US = 5000, /* between two clicks: people are slower */
	LOOK_US = 50, /* between two looks at the outbox or the agent's times */
	PATIENCE_S = 20,
	ID_BYTES = 80,
	ARGUMENTS = 7,
};

struct bench {
	struct store store;
	struct clicker clicker;
	struct plain plain;
	FILE *times;
	char id[ID_BYTES]; /* of the question that was clicked on last */
};

static void take_text(int columns, const char *const *names, const char *const *values, void *arg)
{
	(void)columns;
	(void)names;
	(void)snprintf(arg, ID_BYTES, "%s", values[0]);
}

/* Until another question is in the outbox; returns when it was seen there. */
static int64_t wait_for_question(struct bench *b)
{
	static const char NEWEST[] =
	    "SELECT r.id FROM slack_outbox AS o JOIN slack_message AS m ON m.seq = o.message_seq"
	    " JOIN request AS r ON r.seq = m.request_seq"
	    " WHERE m.kind = 'ask' AND r.state = 'pending' ORDER BY o.seq DESC LIMIT 1";
	int64_t end = now_ns() + PATIENCE_S * 1000000000LL;
	char id[ID_BYTES];
	struct err e = { 0 };

	for (;;) {
		id[0] = '\0';
		if (store_query(&b->store, NEWEST, take_text, id, &e))
			die("%s", e.text);
		if (id[0] && strcmp(id, b->id) != 0)
			break;
		if (now_ns() > end)
			die("the agent asks nothing");
		pause_us(LOOK_US);
	}
	(void)snprintf(b->id, sizeof(b->id), "%s", id);
	return now_ns();
}

/* When the agent did this next. */
static int64_t happened_ns(struct bench *b, const char *what)
{
	int64_t end = now_ns() + PATIENCE_S * 1000000000LL;
	char line[100];

	while (!fgets(line, sizeof(line), b->times)) {
		if (now_ns() > end)
			die("the agent has not %s", what);
		clearerr(b->times);
		pause_us(LOOK_US);
	}
	if (strncmp(line, what, strlen(what)) != 0)
		die("the agent has not %s: %s", what, line);
	return clicker_number(line, " ");
}

/* From a question, which it asks as soon as it has the last answer, to its answer. The pauses and
 * the plain commit lie between the two: before we look for the question they would count as its
 * time. */
static void answer_once(struct bench *b, int count, int64_t *ret_shown, int64_t *ret_told,
                        int64_t *ret_commit)
{
	int64_t shown = wait_for_question(b), told;

	*ret_shown = shown - happened_ns(b, "asked");
	pause_us(GAP_US);
	*ret_commit = plain_commit(&b->plain);
	pause_us(GAP_US);
	clicker_click(&b->clicker, b->id, count);
	told = happened_ns(b, "answered");
	*ret_told = told - clicker_happened_ns(&b->clicker, "envelope");
}

static void measure(struct bench *b, size_t operations, const char *plain_db)
{
	int64_t *shown = calloc(3 * operations, sizeof(*shown));
	int64_t *told = shown + operations, *commit = told + operations;
	int count = 0;

	plain_open(&b->plain, plain_db);
	for (int i = 0; i < WARM_OPERATIONS; i++)
		answer_once(b, ++count, shown, told, commit);
	for (size_t i = 0; i < operations; i++)
		answer_once(b, ++count, &shown[i], &told[i], &commit[i]);
	(void)printf("shown_p50_us %.1f\n", percentile_us(shown, operations, 0.5));
	(void)printf("shown_p99_us %.1f\n", percentile_us(shown, operations, 0.99));
	(void)printf("told_p50_us %.1f\n", percentile_us(told, operations, 0.5));
	(void)printf("told_p99_us %.1f\n", percentile_us(told, operations, 0.99));
	(void)printf("commit_p50_us %.1f\n", percentile_us(commit, operations, 0.5));
	plain_close(&b->plain);
	free(shown);
}

int main(int argc, char **argv)
{
	struct bench b = { .store = STORE_INIT };
	struct err e = { 0 };

	if (argc != ARGUMENTS || atol(argv[ARGUMENTS - 1]) < 1)
		die("usage: talk DB RUN_DIR FAKE_PORT TIMES PLAIN_DB OPERATIONS");
	if (store_open(&b.store, argv[1], argv[2], &e))
		die("%s", e.text);
	clicker_open(&b.clicker, atoi(argv[3]));
	b.times = fopen(argv[4], "r");
	if (!b.times)
		die("cannot read %s", argv[4]);
	measure(&b, (size_t)atol(argv[ARGUMENTS - 1]), argv[5]);
	(void)fclose(b.times);
	clicker_close(&b.clicker);
	store_clear(&b.store);
	return 0;
}
