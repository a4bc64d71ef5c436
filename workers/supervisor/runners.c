/* The runners: a process for each run of an agent that is wanted on this machine. It lives as long
 * as its agent, and longer than a supervisor that is killed: the next one adopts it, and knows by
 * its lock when it ends. What a runner leaves behind that was killed is settled here: the rest of
 * its agent is killed, its run is interrupted. */
#include "supervisor.h"

#include "clock.h"
#include "environment.h"
#include "group.h"
#include "instance.h"
#include "keeper_owner.h"
#include "log.h"
#include "machine.h"
#include "request.h"
#include "sql/agent_run.h"
#include "sql/agent_turn.h"
#include "sql/worker.h"
#include "str.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	LOOK_MS = 5000, /* a lost bell delays a start by so much */
	CHECKPOINT_PATIENCE_MS = 30000, /* for that before an agent */
	BEAT_MS = 30000, /* between heartbeats of runners that show signs of life */
	ADOPTED_LOOK_MS = 1000, /* for the end of one that is not our child */
	BACKOFF_MIN_MS = 100,
	BACKOFF_MAX_MS = 30000,
	LEAVE_MS = 8000, /* a runner that was asked ends its agent within 6 s */
	ALIEN_MS =
	    15000, /* and one of another build, or of a system that is restored, before that */
	TRY_MS = 20,
	RUNNER_NAME_BYTES = 40,
};

/* Where a run's runner is. */
enum runner_state {
	RUNNER_DUE, /* it is started at start_at_ms */
	RUNNER_RUNS,
	RUNNER_LOST, /* it has ended, and the rows are not looked at yet */
};

struct runner_child {
	int64_t run; /* agent_run.seq */
	enum runner_state state;
	pid_t pid;
	bool is_adopted;
	int64_t start_at_ms; /* monotonic, as all below */
	int64_t backoff_ms;
	int64_t asked_ms; /* to leave, at a stop; 0: it was not */
	bool is_killed;
	struct signs signs;
	char detail[SUPERVISOR_DETAIL_BYTES]; /* how it ended */
};

/* ---- the list ---- */

static struct runner_child *find(const struct supervisor *s, int64_t run)
{
	for (size_t i = 0; i < s->runners.count; i++)
		if (s->runners.items[i].run == run)
			return &s->runners.items[i];
	return NULL;
}

static struct runner_child *add(struct supervisor *s, int64_t run)
{
	struct runners *all = &s->runners;

	all->items = xrealloc(all->items, (all->count + 1) * sizeof(*all->items));
	all->items[all->count] = (struct runner_child){ .run = run };
	return &all->items[all->count++];
}

static void drop(struct supervisor *s, struct runner_child *c)
{
	instance_forget_runner(s->run_fd, c->run);
	*c = s->runners.items[--s->runners.count];
}

void runners_add_names(const struct supervisor *s, struct str *out)
{
	str_add_char(out, '[');
	for (size_t i = 0; i < s->runners.count; i++)
		str_addf(out, "%s\"runner-%" PRId64 "\"", i ? "," : "", s->runners.items[i].run);
	str_add_char(out, ']');
}

void runners_clear(struct supervisor *s)
{
	free(s->runners.items);
	s->runners = (struct runners){ 0 };
}

/* ---- predecessors' ---- */

static void end_alien(struct supervisor *s, int64_t run, pid_t pid)
{
	int64_t give_up = clock_monotonic_ms() + ALIEN_MS;

	log_info("the agent of run %" PRId64 " is ended: its runner (pid %d) is not of this system",
	         run, (int)pid);
	if (pid > 1)
		(void)kill(pid, SIGTERM);
	while ((pid = instance_runner(s->run_fd, run, NULL)) != 0) {
		if (pid > 1 && clock_monotonic_ms() >= give_up)
			(void)kill(pid, SIGKILL);
		(void)poll(NULL, 0, TRY_MS);
	}
}

void runners_adopt(struct supervisor *s, bool serve)
{
	int64_t *runs;
	size_t count = instance_runs(s->run_fd, &runs);

	for (size_t i = 0; i < count; i++) {
		bool same = false;
		pid_t pid = instance_runner(s->run_fd, runs[i], &same);

		if (pid && !(serve && same)) {
			end_alien(s, runs[i], pid);
		} else if (pid) {
			struct runner_child *c = add(s, runs[i]);

			c->state = RUNNER_RUNS;
			c->pid = pid;
			c->is_adopted = true;
			log_info("run %" PRId64 " goes on, its runner has pid %d", runs[i],
			         (int)pid);
		}
	}
	free(runs);
}

/* Kills what is left of a run's agent: what runs as another user, by a process of that user.
 * Returns how many processes. */
static int kill_left(const struct supervisor *s, const struct agent_run_claimed_row *row)
{
	struct keeper_rest rest = { .pid = (int32_t)row->pid, .started = row->process_start };
	struct err e = { 0 };
	int killed;

	if (!row->has_uid)
		return group_kill((pid_t)row->pid, row->process_start, row->session_id);
	(void)snprintf(rest.mark, sizeof(rest.mark), "%s=%s", GROUP_MARK, row->session_id);
	killed = keeper_owner_sweep(s->config.shared.start_socket, (uid_t)row->uid, &rest, &e);
	if (killed < 0)
		log_warn("what is left of an agent of user %d is not known: %s", (int)row->uid,
		         e.text);
	return killed;
}

void runners_kill_left(const struct supervisor *s)
{
	char machine[MACHINE_BYTES];
	int64_t *runs;
	size_t count = instance_runs(s->run_fd, &runs);
	OWNED(agent_run_in_hand_row) struct agent_run_in_hand_row row = { 0 };
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	free(runs);
	if (!count || store_open(&st, s->paths.database, NULL, &e))
		return; /* or of another version: no agent of ours is in its rows */
	machine_name(machine);
	sql_agent_run_in_hand(&st, machine, &row);
	while (row_next(&row.row, &e) > 0) {
		OWNED(agent_run_claimed_row) struct agent_run_claimed_row run = { 0 };

		if (sql_agent_run_claimed(&st, row.seq, &run, &e) > 0 && run.has_pid)
			(void)kill_left(s, &run);
	}
}

/* ---- starting ---- */

/* The C library's caches would keep pages that a runner gives back when it rests: half of its
 * memory. */
static void make_environment(const struct supervisor *s, const char *env_pass,
                             struct environment *out)
{
	spawn_environment_to_pass(s, env_pass, out);
	environment_set(out, "GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
}

static int start(struct supervisor *s, struct runner_child *c, const char *env_pass, struct err *e)
{
	OWNED(environment) struct environment environment = { 0 };
	char number[24], flag[] = "--run-row";
	char *more[] = { flag, number, NULL };
	int failed;

	(void)snprintf(number, sizeof(number), "%" PRId64, c->run);
	make_environment(s, env_pass, &environment);
	(void)umask(s->umask); /* the agent's, for files of workspaces */
	failed = spawn_worker(s, s->runners.path, more, environment.variables, 0, &c->pid, e);
	(void)umask(NOT_FOR_OTHERS);
	if (failed)
		return -1;
	c->state = RUNNER_RUNS;
	c->is_adopted = false;
	return 0;
}

static void restart_later(struct runner_child *c, const char *why)
{
	c->backoff_ms = c->backoff_ms ? c->backoff_ms * 2 : BACKOFF_MIN_MS;
	if (c->backoff_ms > BACKOFF_MAX_MS)
		c->backoff_ms = BACKOFF_MAX_MS;
	c->state = RUNNER_DUE;
	c->pid = 0;
	c->start_at_ms = clock_monotonic_ms() + c->backoff_ms;
	log_warn("the runner of run %" PRId64 " has not begun: %s; next attempt in %" PRId64 " ms",
	         c->run, why, c->backoff_ms);
}

/* Parked sessions whose questions are answered get their next run, as far as limits allow. */
static int resume_parked(struct supervisor *s, struct err *e)
{
	int64_t session;

	while ((session = sql_agent_run_parked_due(&s->store, s->machine, e)) > 0) {
		if (store_begin(&s->store, e))
			return -1;
		/* Somebody else may have started it in the meantime. */
		if (store_end(&s->store,
		              sql_agent_run_parked_due(&s->store, s->machine, e) == session &&
		                  sql_agent_run_insert_next(&s->store, session, e),
		              e))
			return -1;
	}
	return session < 0 ? -1 : 0;
}

/* Those that limits hold back: their thread is told so, once. */
static int tell_waiting(struct supervisor *s, struct err *e)
{
	for (;;) {
		OWNED(agent_run_parked_waits_row) struct agent_run_parked_waits_row row = { 0 };
		OWNED(str) struct str text = { 0 };
		int got = sql_agent_run_parked_waits(&s->store, s->machine, &row, e);

		if (got <= 0)
			return got;
		if (row.budget)
			str_addf(&text,
			         "The question is answered. The budget of the day (%s) is used up: "
			         "the agent goes on tomorrow, or with `session-resume` now.",
			         row.budget);
		else
			str_addf(&text,
			         "The question is answered. The agent goes on as soon as another "
			         "session ends: %s run already (max_concurrent_sessions).",
			         row.most ? row.most : "too many");
		const struct agent_line_insert_args line = {
			.run = row.run_seq,
			.kind = AGENT_LINE_KIND_NOTE,
			.text = str_text(&text),
			.detail =
			    row.budget ? "{\"waits\":true,\"paused\":true}" : "{\"waits\":true}",
		};
		if (store_begin(&s->store, e) ||
		    store_end(&s->store, sql_agent_line_insert(&s->store, &line, e), e))
			return -1;
	}
}

static int start_wanted(struct supervisor *s, struct err *e)
{
	OWNED(agent_run_wanted_row) struct agent_run_wanted_row row = { 0 };
	const struct instant patience = clock_instant(clock_now_ms() - CHECKPOINT_PATIENCE_MS);
	int got;

	sql_agent_run_wanted(&s->store, s->machine, patience.text, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		struct runner_child *c = find(s, row.seq);
		struct err why = { 0 };

		if (!c)
			c = add(s, row.seq);
		if (c->state == RUNNER_DUE && clock_monotonic_ms() >= c->start_at_ms &&
		    start(s, c, row.env_pass ? row.env_pass : "[]", &why))
			restart_later(c, why.text);
	}
	return got;
}

/* ---- ending ---- */

/* The run that c was for has no runner, and a runner had claimed it. The agent cannot be there for
 * long: the kernel kills it with its runner, but not what it has started. 1 it was so, 0 not. */
static int settle_one(struct supervisor *s, int64_t run, const char *why, struct err *e)
{
	OWNED(agent_run_claimed_row) struct agent_run_claimed_row row = { 0 };
	int got = sql_agent_run_claimed(&s->store, run, &row, e), killed = 0, ended;

	if (got <= 0)
		return got;
	if (row.has_pid)
		killed = kill_left(s, &row);
	if (killed > 0)
		log_warn("run %" PRId64 ": %d process(es) of its agent were left, and killed", run,
		         killed);
	const struct agent_run_end_args args = {
		.outcome =
		    row.stop_wanted_at ? AGENT_RUN_OUTCOME_STOPPED : AGENT_RUN_OUTCOME_INTERRUPTED,
		.why = row.stop_why ? row.stop_why : why,
		.seq = run,
	};
	if (rows_begin(s, e))
		return -1;
	ended = sql_agent_run_end(&s->store, &args, e);
	return store_end(&s->store,
	                 ended < 0 || (args.outcome == AGENT_RUN_OUTCOME_INTERRUPTED &&
	                               request_interrupt_run(&s->store, run, e)),
	                 e)
	           ? -1
	           : 1;
}

/* The end of a runner, in the rows. */
static int look_after(struct supervisor *s, struct runner_child *c, struct err *e)
{
	char why[80];

	(void)snprintf(why, sizeof(why), "its runner ended: %s", c->detail);
	return err_if((c->pid > 1 && rows_note_death(s, c->pid, c->detail, e)) ||
	              settle_one(s, c->run, why, e) < 0);
}

static void bury(struct supervisor *s)
{
	for (size_t i = s->runners.count; i-- > 0;) {
		struct runner_child *c = &s->runners.items[i];
		struct err e = { 0 };

		if (c->state != RUNNER_LOST || clock_monotonic_ms() < c->start_at_ms)
			continue;
		if (look_after(s, c, &e) && !s->stopping) {
			log_error("the end of run %" PRId64 " is not written down yet: %s", c->run,
			          e.text);
			c->start_at_ms = clock_monotonic_ms() + ADOPTED_LOOK_MS;
		} else if (sql_agent_run_is_wanted(&s->store, c->run, NULL) > 0 && !s->stopping) {
			restart_later(c, c->detail);
		} else {
			drop(s, c);
		}
	}
}

static void lose(struct runner_child *c, const char *detail)
{
	(void)snprintf(c->detail, sizeof(c->detail), "%s", detail);
	c->state = RUNNER_LOST;
	c->start_at_ms = 0;
}

static void look_at_one(struct supervisor *s, struct runner_child *c)
{
	char detail[SUPERVISOR_DETAIL_BYTES];
	pid_t holder;
	int status;

	if (c->is_adopted) {
		holder = instance_runner(s->run_fd, c->run, NULL);
		c->pid = holder ? holder : c->pid;
		if (!holder)
			lose(c, "it is gone");
		return;
	}
	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	workers_describe(status, detail);
	if (status != 0)
		log_warn("the runner of run %" PRId64 " (pid %d) ended: %s", c->run, (int)c->pid,
		         detail);
	lose(c, detail);
}

void runners_reap(struct supervisor *s)
{
	bool look = clock_monotonic_ms() >= s->runners.adopted_ms;

	for (size_t i = 0; i < s->runners.count; i++) {
		struct runner_child *c = &s->runners.items[i];

		if (c->state == RUNNER_RUNS && (look || !c->is_adopted))
			look_at_one(s, c);
	}
	if (look)
		s->runners.adopted_ms = clock_monotonic_ms() + ADOPTED_LOOK_MS;
	bury(s);
}

static void name_of(const struct runner_child *c, char name[RUNNER_NAME_BYTES])
{
	(void)snprintf(name, RUNNER_NAME_BYTES, "runner-%" PRId64, c->run);
}

void runners_look_for_hanging(struct supervisor *s)
{
	for (size_t i = 0; i < s->runners.count; i++) {
		struct runner_child *c = &s->runners.items[i];
		char name[RUNNER_NAME_BYTES];

		name_of(c, name);
		if (c->state == RUNNER_RUNS && c->pid > 1 &&
		    workers_has_hung(s, name, c->pid, &c->signs))
			(void)kill(c->pid, SIGKILL);
	}
}

/* ---- all of them ---- */

/* One that rests would open the database for it. */
static int write_heartbeats(struct supervisor *s, struct err *e)
{
	char name[RUNNER_NAME_BYTES];
	bool failed = false;

	if (store_begin(&s->store, e))
		return -1;
	for (size_t i = 0; i < s->runners.count && !failed; i++) {
		const struct runner_child *c = &s->runners.items[i];

		name_of(c, name);
		failed = c->state == RUNNER_RUNS && c->signs.missed == 0 &&
		         sql_worker_heartbeat_of(&s->store, s->machine, name, e);
	}
	return store_end(&s->store, failed, e);
}

static int beat(struct supervisor *s, struct err *e)
{
	if (s->runners.count == 0 || clock_monotonic_ms() < s->runners.beat_ms)
		return 0;
	s->runners.beat_ms = clock_monotonic_ms() + BEAT_MS;
	return write_heartbeats(s, e);
}

void runners_look(struct supervisor *s, bool rung)
{
	struct err e = { 0 };

	if (!s->announced || (!rung && clock_monotonic_ms() < s->runners.look_ms))
		return;
	s->runners.look_ms = clock_monotonic_ms() + LOOK_MS;
	if (rows_look_at_starts(s, &e) || resume_parked(s, &e) || tell_waiting(s, &e) ||
	    start_wanted(s, &e) < 0)
		log_warn("cannot look which agents to start: %s", e.text);
	if (beat(s, &e))
		log_warn("cannot write down that runners live: %s", e.text);
	for (size_t i = 0; i < s->runners.count; i++) {
		const struct runner_child *c = &s->runners.items[i];

		if (c->state == RUNNER_DUE && c->start_at_ms < s->runners.look_ms)
			s->runners.look_ms = c->start_at_ms;
	}
}

int runners_patience_ms(const struct supervisor *s)
{
	int64_t left = s->runners.look_ms - clock_monotonic_ms();

	return left < 0 ? 0 : (int)left;
}

void runners_stop(struct supervisor *s)
{
	int64_t now = clock_monotonic_ms();

	for (size_t i = 0; i < s->runners.count; i++) {
		struct runner_child *c = &s->runners.items[i];

		if (c->state == RUNNER_DUE)
			c->state = RUNNER_LOST;
		if (c->state != RUNNER_RUNS || c->pid <= 1)
			continue;
		if (!c->asked_ms) {
			c->asked_ms = now;
			(void)kill(c->pid, SIGTERM);
		} else if (!c->is_killed && (s->signals >= 2 || now - c->asked_ms >= LEAVE_MS)) {
			c->is_killed = true;
			log_warn("the runner of run %" PRId64 " (pid %d) is killed: %s", c->run,
			         (int)c->pid,
			         s->signals < 2 ? "it did not leave in time"
			                        : "asked to stop twice");
			(void)kill(c->pid, SIGKILL);
		}
	}
}

bool runners_are_gone(const struct supervisor *s)
{
	return s->runners.count == 0;
}

/* ---- at the start ---- */

/* Rows that a runner had in hand which is gone. */
int runners_settle_lost(struct supervisor *s, struct err *e)
{
	OWNED(agent_run_in_hand_row) struct agent_run_in_hand_row row = { 0 };
	struct runners lost = { 0 };
	int got;

	sql_agent_run_in_hand(&s->store, s->machine, &row);
	while ((got = row_next(&row.row, e)) > 0)
		if (!find(s, row.seq)) {
			lost.items = xrealloc(lost.items, (lost.count + 1) * sizeof(*lost.items));
			lost.items[lost.count++] = (struct runner_child){ .run = row.seq };
		}
	for (size_t i = 0; got == 0 && i < lost.count; i++) {
		if (settle_one(s, lost.items[i].run, "its runner ended with the system", e) < 0)
			got = -1;
		else
			instance_forget_runner(s->run_fd, lost.items[i].run);
	}
	free(lost.items);
	return got;
}
