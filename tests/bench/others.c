/* What a queue of others costs: a producer enqueues one item at a time, at the pace of `approve`,
 * and a consumer that waits for it takes it. Both steps are on disk before the consumer has the
 * item, as ours are before an agent has its answer. usage: others redis SOCKET OPERATIONS PLAIN_DB
 * PID others postgres CONNINFO OPERATIONS PLAIN_DB PID PID: of the server, whose children count
 * too. Between the items the producer makes plain durable commits at the same pace: the measure.
 * Prints: p50_us, p99_us (from before the item is sent until the consumer has it), commit_p50_us,
 * commit_p99_us, cpu_us (of the server, per item), pss_bytes (of the server, afterwards). */
#include "bench.h"
#include "plain.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	GAP_US =
	    1000, /* at least, between two things that the producer does; up to three times it */
	LOOK_US = 100,
	PATIENCE_S = 10,
	WARM_OPERATIONS = 20,
	ITEM_BYTES = 300,
	MOST_PIDS = 64,
};

/* What both processes see. */
struct shared {
	_Atomic bool ready; /* the consumer waits */
	_Atomic int64_t taken_ns; /* 0: not yet; the producer sets it back */
};

/* One kind of server. consume never returns. */
struct queue {
	const char *name;
	void *(*open)(const char *where);
	void (*enqueue)(void *connection, const char *item);
	void (*consume)(void *connection, struct shared *s);
};

/* ---- redis ---- */

static void *redis_open(const char *where)
{
	redisContext *c = redisConnectUnix(where);

	if (!c || c->err) {
		if (c)
			redisFree(c);
		return NULL;
	}
	return c;
}

static void redis_do(void *connection, const char *format, const char *item)
{
	redisReply *reply = redisCommand(connection, format, item);

	if (!reply || reply->type == REDIS_REPLY_ERROR)
		die("redis: %s", reply ? reply->str : "no reply");
	freeReplyObject(reply);
}

static void redis_enqueue(void *connection, const char *item)
{
	redis_do(connection, "RPUSH items %s", item);
}

static void redis_consume(void *connection, struct shared *s)
{
	s->ready = true;
	for (;;) {
		redisReply *reply = redisCommand(connection, "BLMOVE items taken LEFT RIGHT 0");

		if (!reply || reply->type != REDIS_REPLY_STRING || reply->len != ITEM_BYTES)
			die("redis: %s", reply && reply->str ? reply->str : "no item");
		s->taken_ns = now_ns();
		redis_do(connection, "LREM taken 1 %s", reply->str);
		freeReplyObject(reply);
	}
}

/* ---- postgres ---- */

static PGresult *pg_check(PGconn *c, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		die("postgres: %s", PQerrorMessage(c));
	return result;
}

static void *pg_open(const char *where)
{
	static const char *const STATEMENTS[] = {
		"SET client_min_messages = warning",
		"CREATE TABLE IF NOT EXISTS item (seq bigserial PRIMARY KEY, payload text NOT "
		"NULL, "
		"taken_at timestamptz)",
		"CREATE INDEX IF NOT EXISTS item_open ON item (seq) WHERE taken_at IS NULL",
		"PREPARE put AS WITH i AS (INSERT INTO item (payload) VALUES ($1) RETURNING seq) "
		"SELECT pg_notify('items', seq::text) FROM i",
		"PREPARE take AS UPDATE item SET taken_at = now() WHERE seq = (SELECT seq FROM "
		"item "
		"WHERE taken_at IS NULL ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING "
		"payload",
	};
	PGconn *c = PQconnectdb(where);

	if (PQstatus(c) != CONNECTION_OK) {
		PQfinish(c);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(STATEMENTS) / sizeof(*STATEMENTS); i++)
		PQclear(pg_check(c, PQexec(c, STATEMENTS[i])));
	return c;
}

static void pg_enqueue(void *connection, const char *item)
{
	PQclear(pg_check(connection, PQexecPrepared(connection, "put", 1, &item, NULL, NULL, 0)));
}

static void pg_wait(PGconn *c)
{
	PGnotify *told;

	for (;;) {
		struct pollfd p = { .fd = PQsocket(c), .events = POLLIN };

		(void)PQconsumeInput(c);
		told = PQnotifies(c);
		if (told)
			break;
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			die("poll fails");
	}
	PQfreemem(told);
}

static void pg_consume(void *connection, struct shared *s)
{
	PQclear(pg_check(connection, PQexec(connection, "LISTEN items")));
	s->ready = true;
	for (;;) {
		PGresult *result;

		pg_wait(connection);
		result = pg_check(connection,
		                  PQexecPrepared(connection, "take", 0, NULL, NULL, NULL, 0));
		if (PQntuples(result) != 1 || PQgetlength(result, 0, 0) != ITEM_BYTES)
			die("postgres: no item");
		s->taken_ns = now_ns();
		PQclear(result);
	}
}

/* ---- measuring ---- */

static const struct queue QUEUES[] = {
	{ "redis", redis_open, redis_enqueue, redis_consume },
	{ "postgres", pg_open, pg_enqueue, pg_consume },
};

/* The server may not have begun to listen. */
static void *connect_to(const struct queue *q, const char *where)
{
	for (int64_t end = now_ns() + PATIENCE_S * 1000000000LL;;) {
		void *connection = q->open(where);

		if (connection)
			return connection;
		if (now_ns() > end)
			die("%s does not answer at %s", q->name, where);
		pause_us(10000);
	}
}

static int processes_of(pid_t server, pid_t pids[MOST_PIDS])
{
	char path[80];
	int count = 1, child;
	FILE *f;

	pids[0] = server;
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)server, (int)server);
	f = fopen(path, "re");
	while (f && count < MOST_PIDS && fscanf(f, "%d", &child) == 1)
		pids[count++] = child;
	if (f)
		(void)fclose(f);
	return count;
}

static void gap(void)
{
	pause_us(GAP_US + (int64_t)chance(2 * GAP_US));
}

static int64_t deliver(const struct queue *q, void *connection, struct shared *s)
{
	static unsigned number;
	char item[ITEM_BYTES + 1];
	int64_t start, took;

	(void)snprintf(item, sizeof(item), "%0*u", ITEM_BYTES, ++number);
	start = now_ns();
	q->enqueue(connection, item);
	while (s->taken_ns == 0) {
		if (now_ns() - start > PATIENCE_S * 1000000000LL)
			die("%s does not deliver", q->name);
		pause_us(LOOK_US);
	}
	took = s->taken_ns - start;
	s->taken_ns = 0;
	return took;
}

static void measure(const struct queue *q, void *connection, struct shared *s, size_t operations,
                    const char *plain_db, pid_t server)
{
	int64_t *took = calloc(2 * operations, sizeof(*took)), *commit = took + operations;
	struct usage before, after;
	struct plain plain;
	pid_t pids[MOST_PIDS];
	int count;

	plain_open(&plain, plain_db);
	for (int i = 0; i < WARM_OPERATIONS; i++)
		(void)deliver(q, connection, s);
	count = processes_of(server, pids);
	before = usage_of(pids, count);
	for (size_t i = 0; i < operations; i++) {
		gap();
		commit[i] = plain_commit(&plain);
		gap();
		took[i] = deliver(q, connection, s);
	}
	after = usage_of(pids, count);
	plain_close(&plain);
	(void)printf("p50_us %.1f\n", percentile_us(took, operations, 0.5));
	(void)printf("p99_us %.1f\n", percentile_us(took, operations, 0.99));
	(void)printf("commit_p50_us %.1f\n", percentile_us(commit, operations, 0.5));
	(void)printf("commit_p99_us %.1f\n", percentile_us(commit, operations, 0.99));
	(void)printf("cpu_us %.1f\n", (after.cpu_us - before.cpu_us) / (double)operations);
	(void)printf("pss_bytes %lld\n", (long long)pss_bytes(pids, count));
	free(took);
}

int main(int argc, char **argv)
{
	const struct queue *q = NULL;
	struct shared *s;
	pid_t child;

	for (size_t i = 0; i < sizeof(QUEUES) / sizeof(*QUEUES) && argc == 6; i++)
		if (strcmp(QUEUES[i].name, argv[1]) == 0)
			q = &QUEUES[i];
	if (!q || atol(argv[3]) < 1 || atoi(argv[5]) < 1)
		die("usage: others redis|postgres WHERE OPERATIONS PLAIN_DB PID");
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		die("out of memory");
	void *connection = connect_to(q, argv[2]); /* first: it makes the tables */
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		q->consume(connect_to(q, argv[2]), s);
	}
	for (int64_t end = now_ns() + PATIENCE_S * 1000000000LL; !s->ready; pause_us(LOOK_US))
		if (now_ns() > end)
			die("no consumer");
	measure(q, connection, s, (size_t)atol(argv[3]), argv[4], (pid_t)atoi(argv[5]));
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return 0;
}
