/* From the operator's yes to the agent's answer: an approver writes decisions as agent-intercom-ctl
 * does, while an agent holds calls of check_clearance and asks anew whenever one is answered.
 * usage: approve DB RUN_DIR PORT WAITING OPERATIONS PLAIN_DB [PID...]
 * Between the decisions the approver makes plain durable commits at the same pace: the measure.
 * Prints: p50_us, p99_us (from before BEGIN to the whole answer at the agent), own_p50_us (until
 * the approver's commit has returned, bells rung), commit_p50_us, commit_p99_us; cpu_us (of the
 * processes, per approval with the next question), pss_bytes (of them, afterwards). */
#include "bench.h"
#include "plain.h"

#include "decision.h"
#include "store.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MOST_WAITING = 16000,
	MOST_SESSIONS = 200,
	SPARE_FDS = 300,
	WARM_OPERATIONS = 20,
	GAP_US =
	    1000, /* at least, between two things that the approver does; up to three times it */
	LOOK_US = 500,
	PATIENCE_LOOKS = 20000, /* 10 s */
	MOST_PIDS = 64,
	ARGUMENTS = 7, /* then pids */
};

/* One call that waits, as both processes see it. */
struct slot {
	_Atomic int64_t call_seq; /* 0: it does not wait */
	_Atomic int64_t answered_ns; /* 0: not yet; the approver sets it back */
};

struct shared {
	_Atomic int waiting;
	_Atomic bool stop;
	struct slot slots[MOST_WAITING];
};

/* ---- the agent ---- */

static void ask(struct caller *c, int slot)
{
	static int number;
	char arguments[600], *call;

	number++;
	(void)snprintf(
	    arguments, sizeof(arguments),
	    "{\"title\":\"change %d\",\"file_path\":\"src/file%d.c\",\"diff\":\"/* %d */\\n"
	    "int value(void)\\n{\\n\\treturn %d;\\n}\\n\",\"description\":\"%0200d\"}",
	    number, slot, number, number, number);
	call = call_text(number, "check_clearance", arguments);
	caller_post(c, call);
	free(call);
}

static void on_readable(struct shared *s, struct caller *c, int slot)
{
	struct slot *at = &s->slots[slot];
	enum caller_state state = caller_read(c);
	int64_t now = now_ns();

	if (state == CALLER_WAITS && at->call_seq == 0) {
		const char *id = strstr(c->in, "\nid: ");
		int64_t seq = id ? strtoll(id + 5, NULL, 10) : 0;

		if (seq <= 0)
			die("no event id: %.300s", c->in);
		at->call_seq = seq;
		s->waiting++;
	} else if (state == CALLER_DONE) {
		if (at->call_seq == 0 || !strstr(c->in, "approved"))
			die("not approved: %.500s", c->in);
		s->waiting--;
		at->call_seq = 0;
		at->answered_ns = now;
		ask(c, slot);
	}
}

static void agent(struct shared *s, int port, int count)
{
	int sessions = count < MOST_SESSIONS ? count : MOST_SESSIONS;
	struct caller *callers = calloc((size_t)count, sizeof(*callers));
	int epoll = epoll_create1(0);
	struct epoll_event events[64];

	raise_files(count + SPARE_FDS);
	for (int i = 0; i < count; i++) {
		struct epoll_event e = { .events = EPOLLIN, .data.u32 = (unsigned)i };

		caller_open(&callers[i], port);
		if (i < sessions)
			caller_initialize(&callers[i]);
		else
			memcpy(callers[i].session, callers[i % sessions].session,
			       sizeof(callers[i].session));
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, callers[i].fd, &e) != 0)
			die("epoll_ctl failed");
	}
	for (int i = 0; i < count; i++)
		ask(&callers[i], i);
	while (!s->stop) {
		int n = epoll_wait(epoll, events, 64, 100);

		for (int i = 0; i < n; i++)
			on_readable(s, &callers[events[i].data.u32], (int)events[i].data.u32);
	}
}

/* ---- the approver ---- */

struct approver {
	struct shared *shared;
	struct store store;
	int count;
	pid_t pids[MOST_PIDS]; /* of the system */
	int pid_count;
};

static void take_text(int columns, const char *const *names, const char *const *values, void *arg)
{
	(void)columns;
	(void)names;
	(void)snprintf(arg, 80, "%s", values[0]);
}

/* The id of the request that a call waits for: ctl has it from the person. */
static void find_request(struct approver *a, int64_t call_seq, char id[80])
{
	struct err e = { 0 };
	char sql[200];

	(void)snprintf(sql, sizeof(sql),
	               "SELECT r.id FROM tool_call AS t JOIN request AS r ON r.seq = t.request_seq "
	               "WHERE t.seq = %lld",
	               (long long)call_seq);
	id[0] = '\0';
	if (store_query(&a->store, sql, take_text, id, &e) || !id[0])
		die("call %lld waits for nothing: %s", (long long)call_seq, e.text);
}

static void decide(struct approver *a, const char *request_id)
{
	const struct decision d = { .request_id = request_id,
		                    .verdict = "approve",
		                    .source = "ctl" };
	struct decision_result result = { 0 };
	struct err e = { 0 };

	if (store_begin(&a->store, &e) || decision_insert(&a->store, &d, &result, &e) ||
	    store_commit(&a->store, &e) || decision_check(&result, &e))
		die("cannot approve: %s", e.text);
	decision_result_clear(&result);
}

static int choose(struct approver *a)
{
	for (int looks = 0; looks < PATIENCE_LOOKS; looks++) {
		int slot = (int)chance((unsigned)a->count);

		if (a->shared->slots[slot].call_seq)
			return slot;
		pause_us(LOOK_US);
	}
	die("nobody waits");
}

/* One approval: how long until the agent had it, and until the approver was done. */
static int64_t approve(struct approver *a, int64_t *ret_own)
{
	int i = choose(a);
	struct slot *slot = &a->shared->slots[i];
	char id[80];
	int64_t start;

	find_request(a, slot->call_seq, id);
	start = now_ns();
	decide(a, id);
	*ret_own = now_ns() - start;
	for (int looks = 0; slot->answered_ns == 0; looks++) {
		if (looks == PATIENCE_LOOKS)
			die("an approved call is not answered");
		pause_us(LOOK_US);
	}
	int64_t took = slot->answered_ns - start;
	slot->answered_ns = 0;
	return took;
}

static void gap(void)
{
	pause_us(GAP_US + (int64_t)chance(2 * GAP_US));
}

static void await_waiting(struct shared *s, int count)
{
	for (int looks = 0; s->waiting < count; looks++) {
		if (looks == 4 * PATIENCE_LOOKS)
			die("%d of %d calls wait", s->waiting, count);
		pause_us(LOOK_US);
	}
}

static void measure(struct approver *a, size_t operations, const char *plain_db)
{
	int64_t *took = malloc(3 * operations * sizeof(*took));
	int64_t *own = took + operations, *commit = own + operations;
	struct usage before, after;
	struct plain p;

	plain_open(&p, plain_db);
	for (int i = 0; i < WARM_OPERATIONS; i++) {
		(void)approve(a, own);
		(void)plain_commit(&p);
	}
	before = usage_of(a->pids, a->pid_count);
	for (size_t i = 0; i < operations; i++) {
		gap();
		commit[i] = plain_commit(&p);
		gap();
		took[i] = approve(a, &own[i]);
	}
	after = usage_of(a->pids, a->pid_count);
	plain_close(&p);
	(void)printf("p50_us %.1f\n", percentile_us(took, operations, 0.5));
	(void)printf("p99_us %.1f\n", percentile_us(took, operations, 0.99));
	(void)printf("own_p50_us %.1f\n", percentile_us(own, operations, 0.5));
	(void)printf("commit_p50_us %.1f\n", percentile_us(commit, operations, 0.5));
	(void)printf("commit_p99_us %.1f\n", percentile_us(commit, operations, 0.99));
	(void)printf("cpu_us %.1f\n", (after.cpu_us - before.cpu_us) / (double)operations);
	(void)printf("pss_bytes %lld\n", (long long)pss_bytes(a->pids, a->pid_count));
}

int main(int argc, char **argv)
{
	struct approver a = { .store = STORE_INIT };
	struct err e = { 0 };
	int status = 0;
	pid_t child;

	if (argc < ARGUMENTS || argc - ARGUMENTS > MOST_PIDS)
		die("usage: approve DB RUN_DIR PORT WAITING OPERATIONS PLAIN_DB [PID...]");
	a.pid_count = parse_pids(argv + ARGUMENTS, argc - ARGUMENTS, a.pids);
	a.count = atoi(argv[4]);
	if (a.count < 1 || a.count > MOST_WAITING)
		die("WAITING is 1 to %d", MOST_WAITING);
	a.shared = mmap(NULL, sizeof(*a.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	                -1, 0);
	if (a.shared == MAP_FAILED)
		die("out of memory");
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		agent(a.shared, atoi(argv[3]), a.count);
		_exit(0);
	}
	if (store_open(&a.store, argv[1], argv[2], &e))
		die("%s", e.text);
	await_waiting(a.shared, a.count);
	pause_us(200000);
	measure(&a, (size_t)atol(argv[5]), argv[6]);
	a.shared->stop = true;
	(void)waitpid(child, &status, 0);
	store_clear(&a.store);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
