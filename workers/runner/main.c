/* runner: runs one agent: claims its run, starts its process, reads what it says, ends it where
 * somebody wants that, and settles the run. It lives as long as the agent, and outlives the
 * supervisor: the next one finds it by its lock.
 *
 * SIGTERM: the agent ends, its session is interrupted. SIGKILL: the kernel kills the agent with us,
 * and the supervisor what the agent had started.
 *
 * Reads agent, worker; writes agent_run (whose triggers move its session). */
#include "runner.h"

#include "clock.h"
#include "group.h"
#include "pulse.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	REST_MS = 10000, /* who had nothing to do for so long closes the database, */
	REST_RUNG_MS = 500, /* or for so long after a bell that was for others, */
	REST_LOOK_MS = 1800000, /* and opens it so often, which takes milliseconds: the supervisor
	                           writes its heartbeat, the watchdog rings for who did not */
	TOGETHER_MS = 1000, /* between two signals that were sent together */
	SHELL_SIGNAL = 128, /* the exit status of a program that a signal has ended begins here */
};

static const char STOPPED[] = "the system stopped";

#define RUNNER_INIT                                                                                \
	{                                                                                          \
		.agent = LAUNCH_INIT, .keeper = KEEPER_INIT, .epoll = -1, .due_ms = INT64_MAX      \
	}

/* It runs: its row says so before its driver begins. */
static int tell(struct runner *r, struct err *e)
{
	if (run_note_running(r, e) || (r->driver->open && r->driver->open(r, e)))
		return -1;
	r->is_told = true;
	r->busy_ms = clock_monotonic_ms();
	return 0;
}

/* Rows: what its driver does with them, and whether it shall end. */
static int look(struct runner *r, struct err *e)
{
	OWNED(str) struct str why = { 0 };
	bool keeps = false;
	int wanted = r->phase == ENDING_NOT ? run_stop_is_wanted(r, &why, &keeps, e) : 0;

	if (wanted > 0)
		ending_begin(r, keeps ? AGENT_RUN_OUTCOME_INTERRUPTED : AGENT_RUN_OUTCOME_STOPPED,
		             str_text(&why));
	return wanted < 0 ? -1 : r->driver->look ? r->driver->look(r, e) : 0;
}

static bool is_idle(const struct runner *r)
{
	return r->phase == ENDING_NOT && clock_monotonic_ms() - r->busy_ms >= REST_MS;
}

/* Rows are looked at when somebody rings, when the agent has spoken, and now and then. */
static bool is_time_to_look(const struct runner *r)
{
	int64_t now = clock_monotonic_ms();

	return r->w.rung || r->heard || now >= r->look_ms || now >= r->due_ms ||
	       (now >= r->w.heartbeat_ms && !r->w.rests);
}

static int look_now(struct runner *r, struct err *e)
{
	bool heard = r->heard;
	int did = worker_wake(&r->w, e) ? -1 : look(r, e);

	if (did < 0 || worker_heartbeat(&r->w, e))
		return -1;
	r->heard = false;
	if (heard || did)
		r->busy_ms = clock_monotonic_ms();
	if (r->w.rung)
		r->rest_ms = clock_monotonic_ms() + REST_RUNG_MS;
	r->look_ms = clock_monotonic_ms() + (is_idle(r) ? REST_LOOK_MS : WORKER_LOOK_MS);
	return did;
}

static void rest(struct runner *r)
{
	if (r->driver->rest)
		r->driver->rest(r);
	worker_rest(&r->w);
}

/* 1 did something, 0 nothing to do now, -1 the agent has to end, and e says why. */
static int turn(struct runner *r, struct err *e)
{
	int read = !r->is_told && tell(r, e) ? -1 : pipes_turn(r, e);
	int looked = 0;

	pulse();
	group_reap(r->agent.pid);
	if (read >= 0 && is_time_to_look(r))
		looked = look_now(r, e);
	if (read < 0 || looked < 0)
		return -1;
	if (!read && !looked && is_idle(r) && clock_monotonic_ms() >= r->rest_ms)
		rest(r);
	return read || looked;
}

/* When the next turn comes by itself, by the clock of the worker: rows that failed are left alone
 * for a moment. */
static void set_alarm(struct runner *r, bool failed)
{
	int64_t ending = ending_due_ms(r);
	int64_t due_ms = failed ? clock_monotonic_ms() + RUNNER_BUSY_MS : r->due_ms;

	if (ending < due_ms)
		due_ms = ending;
	if (is_idle(r) && !r->w.rests && r->rest_ms < due_ms)
		due_ms = r->rest_ms;
	r->w.due_ms =
	    due_ms == INT64_MAX ? INT64_MAX : clock_now_ms() + due_ms - clock_monotonic_ms();
}

/* Whether an error is over later, or with the row that was refused. */
static bool is_passing(struct runner *r, struct err *e)
{
	return !store_is_broken(&r->w.store) &&
	       (e->kind == ERR_AGAIN || (r->is_told && worker_forgives(&r->w, e)));
}

/* Sleeps; true: it was told to end. The signal is taken, so that it wakes nobody while the agent is
 * ending. */
static bool waits_to_leave(struct runner *r, bool busy)
{
	struct signalfd_siginfo info;

	if (!worker_wait(&r->w, busy))
		return false;
	while (read(r->w.signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		continue;
	return true;
}

/* Whether the agent was ended by a SIGTERM that we get, too: systemd may send one to every process
 * of a service, in any order. */
static bool was_stopped_with_us(const struct runner *r)
{
	struct pollfd signal = { .fd = r->w.signal_fd, .events = POLLIN };
	bool terminated = WIFSIGNALED(r->status) ? WTERMSIG(r->status) == SIGTERM
	                                         : WEXITSTATUS(r->status) == SHELL_SIGNAL + SIGTERM;

	return r->outcome == AGENT_RUN_OUTCOME_EXITED && terminated &&
	       poll(&signal, 1, TOGETHER_MS) > 0;
}

/* Until the agent is over, and what it said is in rows. */
static void run(struct runner *r)
{
	struct err e = { 0 };

	while (!ending_turn(r)) {
		int did = turn(r, &e);

		if (did < 0 && !is_passing(r, &e))
			ending_begin(r, AGENT_RUN_OUTCOME_INTERRUPTED, e.text);
		e = (struct err){ 0 };
		set_alarm(r, did < 0);
		if (waits_to_leave(r, did > 0))
			ending_begin(r, AGENT_RUN_OUTCOME_INTERRUPTED, STOPPED);
	}
	if (was_stopped_with_us(r)) {
		r->outcome = AGENT_RUN_OUTCOME_INTERRUPTED;
		str_add(&r->why, STOPPED);
	}
	while (r->heard && look_now(r, &e) < 0 && e.kind == ERR_AGAIN && is_passing(r, &e)) {
		e = (struct err){ 0 };
		(void)poll(NULL, 0, RUNNER_BUSY_MS);
	}
}

int main(int argc, char **argv)
{
	struct runner r = RUNNER_INIT;
	struct err e = { 0 };
	int begun = worker_open_for_row(&r.w, "runner", "Runs one agent.", argc, argv, &e);

	if (begun == 0 && worker_ready(&r.w, NULL, &e) == 0)
		begun = begin_run(&r, &e);
	if (begun > 0) {
		run(&r);
		(void)run_settle(&r, &e);
	}
	if (r.driver && r.driver->close)
		r.driver->close(&r);
	pipes_close(&r);
	worker_close(&r.w, &e);
	agent_run_read_row_clear(&r.row);
	str_clear(&r.why);
	str_clear(&r.start_socket);
	free(r.fence);
	free(r.user);
	return worker_exit(&r.w, &e);
}
