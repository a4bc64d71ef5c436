/* One run: the command's shell in a keeper, its pid on disk before it begins, its output read as
 * long as anybody writes, and its end. */
#include "commander.h"

#include "clock.h"
#include "environment.h"
#include "io.h"
#include "log.h"
#include "owner_of.h"
#include "recipe.h"
#include "setting.h"
#include "shared.h"
#include "user_name.h"
#include "workspace_owner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	READS = 8, /* of one pipe in one turn: then the others */
	DRAIN_MS = 1000, /* what it has started may hold its pipes */
	RELEASE_MS = KEEPER_END_MS + 1000, /* a keeper that takes longer is killed */
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

static void enter(struct job *j, enum job_phase phase, int64_t ms)
{
	j->phase = phase;
	j->due_ms = clock_monotonic_ms() + ms;
}

static void runs(struct commander *c, struct job *j)
{
	j->has_begun = true;
	enter(j, JOB_RUNS, c->timeout_ms);
	watch(c, j->process.out);
	watch(c, j->process.err);
	watch(c, j->keeper.ended);
	log_info("run %lld: '%s' runs (pid %d) in %s", (long long)j->row.seq, j->row.alias,
	         (int)j->process.pid, j->row.workspace_root);
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

/* As the owner of the workspace, whose keeper answers later. */
static int ask_owner(struct commander *c, struct job *j, const struct recipe *recipe, struct err *e)
{
	const char *workspace = recipe->workspace;
	int known = workspace_owner_now(&c->w.store, c->w.machine, workspace, &j->uid, e);

	if (known < 0 || (!known && owner_of(workspace, &j->uid, e)) ||
	    keeper_owner_ask(&j->keeper, &j->process, &j->asked, str_text(&c->start_socket), j->uid,
	                     recipe, e))
		return -1;
	watch(c, j->asked.fd);
	watch(c, j->keeper.line);
	return 0;
}

static void fill_recipe(const struct job *j, struct recipe *out)
{
	out->command = xstrdup("/bin/sh");
	out->workspace = xstrdup(j->row.workspace_root);
}

/* Once its keeper holds it. 1 it was, 0 not yet, -1. */
static int let_go(struct commander *c, struct job *j, bool late, struct err *e)
{
	OWNED(str) struct str holds = { 0 };
	OWNED(char_ptr) char *name = NULL;
	int got = keeper_owner_hear(&j->keeper, &j->process, &j->asked, late, &holds, e);

	if (got <= 0)
		return got;
	name = user_name(j->uid);
	if (workspace_owner_meet(&c->w.store, c->w.machine, j->row.workspace_root, j->uid, name,
	                         e) ||
	    rows_process(c, j, e))
		return -1;
	launch_let_go(&j->process);
	watch(c, j->process.failed);
	enter(j, JOB_STARTS, KEEPER_OWNER_MS);
	return 1;
}

/* Once it was let go and has become the command. 1 it has, 0 not yet, -1. */
static int look_whether_it_runs(struct commander *c, struct job *j, bool late, struct err *e)
{
	OWNED(recipe) struct recipe recipe = { 0 };
	struct pollfd closed = { .fd = j->process.failed, .events = POLLIN };

	if (!late && poll(&closed, 1, 0) == 0)
		return 0;
	fill_recipe(j, &recipe);
	if (keeper_owner_went(&j->process, &recipe, e))
		return -1;
	runs(c, j);
	return 1;
}

static int start_as_us(struct commander *c, struct job *j, const struct recipe *recipe,
                       struct err *e)
{
	OWNED(made) struct made made = { .plan = { .argv = NULL } };

	return err_if(recipe_follow(recipe, &made, e) ||
	              keeper_hold(&j->keeper, &j->process, &made.plan, e) ||
	              rows_process(c, j, e) || launch_go(&j->process, &made.plan, e));
}

static int start(struct commander *c, struct job *j, struct err *e)
{
	OWNED(recipe) struct recipe recipe = { 0 };
	int shared;

	str_reset(&c->start_socket);
	shared = shared_start_socket(&c->w.store, &c->start_socket, e);
	if (shared < 0)
		return -1;
	fill_recipe(j, &recipe);
	texts_add(&recipe.arguments, "-c");
	texts_add(&recipe.arguments, j->row.command);
	if (shared)
		environment_pass_locale(&recipe.set, environ);
	make_environment(c, j, &recipe.set);
	if (shared)
		return ask_owner(c, j, &recipe, e);
	if (start_as_us(c, j, &recipe, e))
		return -1;
	watch(c, j->keeper.line);
	runs(c, j);
	return 0;
}

/* It does not become a command. */
static void give_up(struct job *j, enum alias_run_outcome outcome, const char *why)
{
	j->outcome = outcome;
	str_add(&j->why, why);
	keeper_release(&j->keeper);
	enter(j, JOB_RELEASED, RELEASE_MS);
}

/* -1: the database is broken, which is why it failed. */
static int fail(struct commander *c, struct job *j, const struct err *why, struct err *e)
{
	if (store_is_broken(&c->w.store)) {
		*e = *why;
		return -1;
	}
	log_warn("run %lld: '%s': %s", (long long)j->row.seq, j->row.alias, why->text);
	give_up(j, ALIAS_RUN_OUTCOME_FAILED, why->text);
	return 0;
}

int job_begin(struct commander *c, struct job *j, struct err *e)
{
	struct err why = { 0 };

	j->keeper = (struct keeper)KEEPER_INIT;
	j->process = (struct launch)LAUNCH_INIT;
	j->output.limit =
	    (size_t)setting_int(&c->w.store, "command_output_limit_bytes", DEFAULT_LIMIT);
	c->timeout_ms =
	    setting_int(&c->w.store, "command_timeout_seconds", DEFAULT_TIMEOUT_S) * 1000;
	enter(j, JOB_STARTS, KEEPER_OWNER_MS);
	return start(c, j, &why) ? fail(c, j, &why, e) : 0;
}

int job_go(struct commander *c, struct job *j, struct err *e)
{
	bool late = clock_monotonic_ms() >= j->due_ms;
	struct err why = { 0 };
	int got = (j->process.pid ? look_whether_it_runs : let_go)(c, j, late, &why);

	if (got < 0)
		return fail(c, j, &why, e) ? -1 : 1;
	return got;
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

void job_end(struct job *j, enum alias_run_outcome outcome, const char *why, int64_t grace_ms)
{
	if (j->phase == JOB_STARTS)
		give_up(j, outcome, why);
	if (j->phase != JOB_RUNS)
		return;
	j->outcome = outcome;
	str_add(&j->why, why);
	keeper_signal(&j->keeper, j->process.pid, SIGTERM);
	keeper_signal(&j->keeper, j->process.pid,
	              SIGCONT); /* one that was stopped hears it when it goes on */
	enter(j, JOB_TERM, grace_ms);
}

static void sweep(struct commander *c, struct job *j)
{
	struct keeper_rest rest = { .pid = j->process.pid,
		                    .started = j->process.started,
		                    .keeper = j->keeper.pid,
		                    .keeper_started = j->keeper.started };

	if (j->sweep.line >= 0)
		return; /* that is being done */
	rows_sweep(c, &j->sweep, j->uid, &rest, c->w.id.text, j->row.seq);
	watch(c, j->sweep.line);
	j->sweep_end_ms = clock_monotonic_ms() + KEEPER_SWEEP_MS;
}

/* Whether nobody is ending what it left, any more. */
static bool is_swept(struct job *j)
{
	struct pollfd end = { .fd = j->sweep.line, .events = POLLIN };

	if (j->sweep.line < 0)
		return true;
	if (poll(&end, 1, 0) == 0 && clock_monotonic_ms() < j->sweep_end_ms)
		return false;
	rows_swept(&j->sweep, j->row.seq);
	return true;
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

static void end_keeper(struct commander *c, struct job *j)
{
	log_warn("run %lld: its keeper (pid %d) hangs, and is killed", (long long)j->row.seq,
	         (int)j->keeper.pid);
	if (j->keeper.is_owners) {
		sweep(c, j);
		j->keeper.pid = 0; /* whose end nobody can bring about but its user */
	} else {
		(void)kill(j->keeper.pid, SIGKILL);
		c->lost_keeper = true;
	}
	j->due_ms = INT64_MAX;
}

/* Waits for the keeper, or for who was asked in its place, which ends what is left. */
static void finish(struct commander *c, struct job *j)
{
	if (!keeper_reap(&j->keeper) && clock_monotonic_ms() >= j->due_ms)
		end_keeper(c, j);
	if (j->keeper.pid && !keeper_reap(&j->keeper))
		return;
	if (!is_swept(j)) {
		j->due_ms = j->sweep_end_ms;
		return;
	}
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
	int more;

	if (j->phase == JOB_STARTS)
		return 0;
	more = io_drain(&j->process.out, READS, keep, j, NULL);
	more |= io_drain(&j->process.err, READS, keep, j, NULL);
	if (j->phase < JOB_RELEASED)
		look_at_keeper(c, j);
	step(c, j);
	return more;
}

void job_clear(struct job *j)
{
	owner_process_clear(&j->asked);
	keeper_sweep_clear(&j->sweep);
	keeper_clear(&j->keeper);
	launch_clear(&j->process);
	capture_clear(&j->output);
	str_clear(&j->why);
	alias_run_row_clear(&j->row);
	*j = (struct job)JOB_INIT;
}
