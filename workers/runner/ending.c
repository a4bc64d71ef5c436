/* How an agent ends: by itself, or because somebody wants it to. Its driver says goodbye, its
 * process group gets SIGTERM, after 5 s SIGKILL. What it wrote is read until everybody has closed
 * the pipes, for a second at most: what it has started may hold them. Then all that is left of its
 * group is killed, and only then is it reaped: until then the kernel gives its pid to nobody. What
 * it started and left the group is killed last. */
#include "runner.h"

#include "clock.h"
#include "group.h"
#include "log.h"

#include <signal.h>
#include <sys/wait.h>

enum { GRACE_MS = 5000, DRAIN_MS = 1000 };

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

/* One that was stopped (SIGSTOP) hears SIGTERM when it goes on. */
static void ask(struct runner *r)
{
	(void)kill(-r->agent.pid, SIGTERM);
	(void)kill(-r->agent.pid, SIGCONT);
	r->phase = ENDING_TERM;
	r->phase_due_ms = clock_monotonic_ms() + GRACE_MS;
}

static void drain(struct runner *r)
{
	r->phase = ENDING_DRAIN;
	r->phase_due_ms = clock_monotonic_ms() + DRAIN_MS;
}

/* What has left its group is our child once whoever started it is gone. */
static void finish(struct runner *r)
{
	int left;

	(void)kill(-r->agent.pid, SIGKILL);
	(void)waitpid(r->agent.pid, &r->status, 0);
	left = group_end_adopted();
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
		(void)kill(-r->agent.pid, SIGKILL);
		drain(r);
	}
	if (r->phase == ENDING_DRAIN &&
	    ((r->has_ended && !pipes_are_open(r)) || clock_monotonic_ms() >= r->phase_due_ms))
		finish(r);
	return r->phase == ENDING_OVER;
}
