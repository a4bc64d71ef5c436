/* One run: the command's shell in a keeper, its pid on disk before it begins, its output read as
 * long as anybody writes, and its end. */
#include "commander.h"

#include "clock.h"
#include "environment.h"
#include "group.h"
#include "io.h"
#include "log.h"
#include "owner_of.h"
#include "recipe.h"
#include "setting.h"
#include "shared.h"
#include "user_name.h"
#include "workspace_owner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READS = 8, /* of one pipe in one turn: then the others */
	DRAIN_MS = 1000, /* what it has started may hold its pipes */
	RELEASE_MS = GROUP_END_MS + 1000, /* a keeper that takes longer is killed */
	DEFAULT_LIMIT = 65536,
	DEFAULT_TIMEOUT_S = 60,
};

/* ---- beginning ---- */

static void watch(const struct commander *c, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd >= 0 && epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		log_warn("cannot watch a command's descriptor; it is looked at every %d s",
		         WORKER_LOOK_MS / 1000);
}

static void make_environment(const struct commander *c, const struct job *j,
                             struct environment *out)
{
	char mark[COMMANDER_MARK_BYTES];

	environment_set(out, "NO_COLOR", "1");
	environment_set(out, "INTERCOM_WORKSPACE_ROOT", j->row.workspace_root);
	rows_mark(c->w.id.text, j->row.seq, mark);
	environment_set(out, COMMANDER_MARK, mark + sizeof(COMMANDER_MARK));
}

/* As the owner of the workspace. */
static int start_as_owner(struct commander *c, struct job *j, const struct recipe *recipe,
                          struct err *e)
{
	OWNED(str) struct str holds = { 0 };
	OWNED(char_ptr) char *name = NULL;
	struct store *st = &c->w.store;
	const char *workspace = recipe->workspace;
	int known = workspace_owner_now(st, c->w.machine, workspace, &j->uid, e);

	if (known < 0 || (!known && owner_of(workspace, &j->uid, e)) ||
	    keeper_owner_hold(&j->keeper, &j->process, str_text(&c->start_socket), j->uid, recipe,
	                      &holds, e))
		return -1;
	name = user_name(j->uid);
	return workspace_owner_meet(st, c->w.machine, workspace, j->uid, name, e) ||
	               rows_process(c, j, e) || keeper_owner_go(&j->process, recipe, e)
	           ? -1
	           : 0;
}

static int start_as_us(struct commander *c, struct job *j, const struct recipe *recipe,
                       struct err *e)
{
	OWNED(made) struct made made = { .plan = { .argv = NULL } };

	return recipe_follow(recipe, &made, e) ||
	               keeper_hold(&j->keeper, &j->process, &made.plan, e) ||
	               rows_process(c, j, e) || launch_go(&j->process, &made.plan, e)
	           ? -1
	           : 0;
}

static int start(struct commander *c, struct job *j, struct err *e)
{
	OWNED(recipe)
	struct recipe recipe = { .command = xstrdup("/bin/sh"),
		                 .workspace = xstrdup(j->row.workspace_root) };
	int shared;

	str_reset(&c->start_socket);
	shared = shared_start_socket(&c->w.store, &c->start_socket, e);
	if (shared < 0)
		return -1;
	texts_add(&recipe.arguments, "-c");
	texts_add(&recipe.arguments, j->row.command);
	if (shared)
		environment_pass_locale(&recipe.set, environ);
	make_environment(c, j, &recipe.set);
	if (shared ? start_as_owner(c, j, &recipe, e) : start_as_us(c, j, &recipe, e))
		return -1;
	j->has_begun = true;
	watch(c, j->process.out);
	watch(c, j->process.err);
	watch(c, j->keeper.line);
	watch(c, j->keeper.ended);
	return 0;
}

int job_begin(struct commander *c, struct job *j, struct err *e)
{
	struct err why = { 0 };
	int64_t timeout_ms =
	    setting_int(&c->w.store, "command_timeout_seconds", DEFAULT_TIMEOUT_S) * 1000;

	j->keeper = (struct keeper)KEEPER_INIT;
	j->process = (struct launch)LAUNCH_INIT;
	j->output.limit =
	    (size_t)setting_int(&c->w.store, "command_output_limit_bytes", DEFAULT_LIMIT);
	j->phase = JOB_RUNS;
	c->timeout_ms = timeout_ms;
	if (start(c, j, &why) == 0) {
		j->due_ms = clock_monotonic_ms() + timeout_ms;
		log_info("run %lld: '%s' runs (pid %d) in %s", (long long)j->row.seq, j->row.alias,
		         (int)j->process.pid, j->row.workspace_root);
		return 0;
	}
	if (store_is_broken(&c->w.store)) {
		*e = why;
		return -1;
	}
	log_warn("run %lld: '%s': %s", (long long)j->row.seq, j->row.alias, why.text);
	j->outcome = ALIAS_RUN_OUTCOME_FAILED;
	str_add(&j->why, why.text);
	keeper_release(&j->keeper);
	j->phase = JOB_RELEASED;
	j->due_ms = clock_monotonic_ms() + RELEASE_MS;
	return 0;
}

/* ---- reading ---- */

static int keep(void *job, const char *bytes, size_t length, struct err *e)
{
	struct job *j = job;

	(void)e;
	capture_add(&j->output, bytes, length);
	return 0;
}

/* ---- ending ---- */

static void enter(struct job *j, enum job_phase phase, int64_t ms)
{
	j->phase = phase;
	j->due_ms = clock_monotonic_ms() + ms;
}

void job_end(struct job *j, enum alias_run_outcome outcome, const char *why, int64_t grace_ms)
{
	if (j->phase != JOB_RUNS)
		return;
	j->outcome = outcome;
	str_add(&j->why, why);
	keeper_signal(&j->keeper, j->process.pid, SIGTERM);
	keeper_signal(&j->keeper, j->process.pid,
	              SIGCONT); /* one that was stopped hears it when it goes on */
	enter(j, JOB_TERM, grace_ms);
}

static void sweep(struct commander *c, const struct job *j)
{
	struct keeper_rest rest = { .pid = j->process.pid,
		                    .started = j->process.started,
		                    .keeper = j->keeper.pid,
		                    .keeper_started = j->keeper.started };

	rows_sweep(c, j->uid, &rest, c->w.id.text, j->row.seq);
}

/* Its keeper was killed: so was the command's shell, by the kernel; what else it had started is our
 * child now, and is killed by whoever calls us. */
static void lose_keeper(struct commander *c, struct job *j)
{
	if (j->outcome == ALIAS_RUN_OUTCOME_NONE && !j->has_status) {
		j->outcome = ALIAS_RUN_OUTCOME_INTERRUPTED;
		str_add(&j->why, "the process that kept it was killed");
	}
	if (j->keeper.is_owners) {
		sweep(c, j);
	} else {
		if (!j->has_status && j->process.pid > 0)
			(void)kill(-j->process.pid, SIGKILL);
		c->lost_keeper = true;
	}
	enter(j, JOB_DRAIN, 0);
}

static void look_at_keeper(struct commander *c, struct job *j)
{
	struct keeper *k = &j->keeper;

	if (!j->has_status && keeper_has_status(k, &j->status)) {
		j->has_status = true;
		if (j->phase < JOB_DRAIN)
			enter(j, JOB_DRAIN, DRAIN_MS);
	}
	if (j->phase < JOB_RELEASED && keeper_reap(k))
		lose_keeper(c, j);
}

static void tell_timeout(const struct commander *c, struct job *j)
{
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "it did not end within %lld s (command_timeout_seconds)",
	         (long long)c->timeout_ms / 1000);
	job_end(j, ALIAS_RUN_OUTCOME_TIMEOUT, str_text(&why), JOB_GRACE_MS);
}

static void release(struct job *j)
{
	io_shut(&j->process.out);
	io_shut(&j->process.err);
	keeper_release(&j->keeper);
	enter(j, JOB_RELEASED, RELEASE_MS);
}

/* Waits for the keeper, which ends what is left. */
static void finish(struct commander *c, struct job *j)
{
	if (!keeper_reap(&j->keeper) && clock_monotonic_ms() >= j->due_ms) {
		log_warn("run %lld: its keeper (pid %d) hangs, and is killed",
		         (long long)j->row.seq, (int)j->keeper.pid);
		if (j->keeper.is_owners) {
			sweep(c, j);
			j->keeper.pid = 0; /* whose end nobody can bring about but its user */
		} else {
			(void)kill(j->keeper.pid, SIGKILL);
			c->lost_keeper = true;
		}
		j->due_ms = INT64_MAX;
	}
	if (j->keeper.pid && !keeper_reap(&j->keeper))
		return;
	keeper_clear(&j->keeper);
	launch_clear(&j->process);
	j->phase = JOB_OVER;
	j->due_ms = INT64_MAX;
}

static void step(struct commander *c, struct job *j)
{
	bool due = clock_monotonic_ms() >= j->due_ms;

	if (j->phase == JOB_RUNS && due) {
		tell_timeout(c, j);
	} else if (j->phase == JOB_TERM && due) {
		keeper_signal(&j->keeper, j->process.pid, SIGKILL);
		enter(j, JOB_DRAIN, DRAIN_MS);
	}
	if (j->phase == JOB_DRAIN && (clock_monotonic_ms() >= j->due_ms ||
	                              (j->has_status && j->process.out < 0 && j->process.err < 0)))
		release(j);
	if (j->phase == JOB_RELEASED)
		finish(c, j);
}

int job_turn(struct commander *c, struct job *j)
{
	int more = io_drain(&j->process.out, READS, keep, j, NULL);

	more |= io_drain(&j->process.err, READS, keep, j, NULL);
	if (j->phase < JOB_RELEASED)
		look_at_keeper(c, j);
	step(c, j);
	return more;
}

void job_clear(struct job *j)
{
	keeper_clear(&j->keeper);
	launch_clear(&j->process);
	capture_clear(&j->output);
	str_clear(&j->why);
	alias_run_row_clear(&j->row);
	*j = (struct job){ .phase = JOB_FREE, .due_ms = INT64_MAX };
}
