/* How an agent ends: by itself, or because somebody wants it to. Its driver says goodbye, its
 * process group gets SIGTERM, after 5 s SIGKILL. What it wrote is read until everybody has closed
 * the pipes, for a second at most: what it has started may hold them. Then all that is left of its
 * group is killed, and only then is it reaped: until then the kernel gives its pid to nobody. What
 * it started and left the group is killed last. */
#include "runner.h"

#include "clock.h"
#include "group.h"
#include "log.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { GRACE_MS = 5000, DRAIN_MS = 1000, RELEASE_MS = 1000 };

void ending_begin(struct runner *r, enum agent_run_outcome outcome, const char *why)
{
	if (r->phase != ENDING_NOT)
		return;
	r->phase = ENDING_LEAVE;
	r->outcome = outcome;
	str_add(&r->why, why);
}

int64_t ending_due_ms(const struct runner *r)
{
	return r->phase == ENDING_TERM || r->phase == ENDING_DRAIN ? r->phase_due_ms : INT64_MAX;
}

static void tell_group(struct runner *r, int number)
{
	if (r->is_kept)
		keeper_signal(&r->keeper, r->agent.pid, number);
	else
		(void)kill(-r->agent.pid, number);
}

/* One that was stopped (SIGSTOP) hears SIGTERM when it goes on. */
static void ask(struct runner *r)
{
	tell_group(r, SIGTERM);
	tell_group(r, SIGCONT);
	r->phase = ENDING_TERM;
	r->phase_due_ms = clock_monotonic_ms() + GRACE_MS;
}

static void drain(struct runner *r)
{
	r->phase = ENDING_DRAIN;
	r->phase_due_ms = clock_monotonic_ms() + DRAIN_MS;
}

/* What is left of an agent of another user whose keeper was killed, or hangs. */
static void sweep(struct runner *r)
{
	struct keeper_rest rest = { .pid = r->agent.pid,
		                    .started = r->agent.started,
		                    .keeper = r->keeper.pid,
		                    .keeper_started = r->keeper.started };
	struct err e = { 0 };
	int killed;

	(void)snprintf(rest.mark, sizeof(rest.mark), "%s=%s", GROUP_MARK, r->row.session_id);
	killed = keeper_owner_sweep(str_text(&r->start_socket), r->uid, &rest, &e);
	if (killed < 0)
		log_warn("what is left of the agent is not known: %s", e.text);
	else
		log_warn("the keeper of the agent was %s; %d process(es) were left, and killed",
		         r->has_lost ? "killed" : "hanging", killed);
}

/* Its keeper ends all of it. */
static void finish_kept(struct runner *r)
{
	struct pollfd end = { .fd = r->keeper.ended, .events = POLLIN };

	if (!r->has_ended)
		r->status = SIGKILL;
	keeper_release(&r->keeper);
	if (r->has_lost || poll(&end, 1, GROUP_END_MS + RELEASE_MS) != 1)
		sweep(r);
	keeper_clear(&r->keeper);
	r->phase = ENDING_OVER;
}

/* What has left its group is our child once whoever started it is gone. */
static void finish(struct runner *r)
{
	int left;

	if (r->is_kept) {
		finish_kept(r);
		return;
	}
	(void)kill(-r->agent.pid, SIGKILL);
	(void)waitpid(r->agent.pid, &r->status, 0);
	left = group_end_adopted(GROUP_END_MS);
	if (left)
		log_warn("%d process(es) of the agent were killed and do not end", left);
	r->phase = ENDING_OVER;
}

bool ending_turn(struct runner *r)
{
	if (r->has_ended && r->phase == ENDING_NOT)
		r->outcome = AGENT_RUN_OUTCOME_EXITED;
	if (r->has_ended && r->phase < ENDING_DRAIN)
		drain(r);
	if (r->phase == ENDING_LEAVE && !(r->is_told && r->driver->leave && r->driver->leave(r)))
		ask(r);
	if (r->phase == ENDING_TERM && clock_monotonic_ms() >= r->phase_due_ms) {
		log_warn("the agent (pid %d) is killed: it did not end within %d s of SIGTERM",
		         (int)r->agent.pid, GRACE_MS / 1000);
		tell_group(r, SIGKILL);
		drain(r);
	}
	if (r->phase == ENDING_DRAIN &&
	    ((r->has_ended && !pipes_are_open(r)) || clock_monotonic_ms() >= r->phase_due_ms))
		finish(r);
	return r->phase == ENDING_OVER;
}
