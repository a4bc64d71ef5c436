/* The row of a run, in the order of its life; each step is one transaction, on disk before anything
 * follows from it. */
#include "runner.h"

#include "log.h"
#include "pulse.h"
#include "request.h"
#include "sql/session.h"
#include "sql/worker.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>

static const char NOT_BACK[] =
    "it was started to go on with a call that waited, and ended without it; "
    "`session-resume` begins its task again";

int run_claim(struct runner *r, struct err *e)
{
	int claimed;

	if (store_begin(&r->w.store, e))
		return -1;
	claimed = sql_agent_run_claim(&r->w.store, r->w.row, e);
	if (claimed > 0 && sql_agent_run_read(&r->w.store, r->w.row, &r->row, e) < 0)
		claimed = -1;
	return store_end(&r->w.store, claimed < 0, e) ? -1 : claimed;
}

static int store_process(struct runner *r, struct err *e)
{
	const int64_t uid = r->uid;
	const struct agent_run_process_args args = { .pid = r->agent.pid,
		                                     .process_start = r->agent.started,
		                                     .uid = r->is_kept ? &uid : NULL,
		                                     .fence = r->fence,
		                                     .seq = r->w.row };

	if (store_begin(&r->w.store, e))
		return -1;
	return store_end(&r->w.store,
	                 sql_agent_run_process(&r->w.store, &args, e) ||
	                     (r->is_kept && sql_session_set_user(&r->w.store, &uid, r->user,
	                                                         r->row.session_seq, e)),
	                 e);
}

/* Tries a write until the database takes it. 0, or -1: it never will. */
static int insist(struct runner *r, const char *what, int (*store)(struct runner *, struct err *),
                  struct err *e)
{
	struct err why = { 0 };
	bool told = false;

	while (store(r, &why)) {
		if (why.kind != ERR_AGAIN || store_is_broken(&r->w.store)) {
			*e = why;
			return -1;
		}
		if (!told)
			log_warn("%s is not written down yet: %s", what, why.text);
		told = true;
		why = (struct err){ 0 };
		pulse();
		(void)poll(NULL, 0, RUNNER_BUSY_MS);
	}
	return 0;
}

int run_note_process(struct runner *r, struct err *e)
{
	return insist(r, "the agent's process", store_process, e);
}

int run_note_running(struct runner *r, struct err *e)
{
	if (store_begin(&r->w.store, e))
		return -1;
	return store_end(&r->w.store, sql_agent_run_running(&r->w.store, r->w.row, e), e);
}

int run_mcp_url(struct runner *r, struct str *out, struct err *e)
{
	OWNED(worker_address_row) struct worker_address_row front = { 0 };
	int got = sql_worker_address(&r->w.store, r->w.machine, "mcp-front", &front, e);

	if (got > 0 && front.detail && strncmp(front.detail, "http://", 7) == 0)
		str_addf(out, "%s?session_id=%s", front.detail, r->row.session_id);
	return got < 0 ? -1 : 0;
}

int run_stop_is_wanted(struct runner *r, struct str *why, bool *ret_keeps, struct err *e)
{
	OWNED(agent_run_stop_wanted_row) struct agent_run_stop_wanted_row row = { 0 };
	int got = sql_agent_run_stop_wanted(&r->w.store, r->w.row, &row, e);

	if (got <= 0 || !row.stop_wanted_at)
		return got < 0 ? -1 : 0;
	str_add(why, row.stop_why ? row.stop_why : "");
	*ret_keeps = row.stop_keeps;
	return 1;
}

static bool has_exited(const struct runner *r)
{
	return r->phase == ENDING_OVER && WIFEXITED(r->status) &&
	       r->outcome != AGENT_RUN_OUTCOME_STOPPED;
}

/* What its end means for a call of its agent that waits: *ret_parked, 0: none. An agent that was
 * started to make such a call again and has not is not done with its task. 0 or -1. */
static int look_at_call(struct runner *r, int64_t *ret_parked, struct err *e)
{
	int is_back;

	*ret_parked = has_exited(r) && WEXITSTATUS(r->status) == 0
	                  ? sql_agent_run_deferred(&r->w.store, r->w.row, e)
	                  : 0;
	if (*ret_parked || !r->row.resumes_seq || r->outcome != AGENT_RUN_OUTCOME_EXITED)
		return *ret_parked < 0 ? -1 : 0;
	is_back = sql_agent_run_is_back(&r->w.store, r->w.row, e);
	if (is_back)
		return is_back < 0 ? -1 : 0;
	r->outcome = AGENT_RUN_OUTCOME_INTERRUPTED;
	str_add(&r->why, NOT_BACK);
	return 0;
}

static int settle(struct runner *r, struct err *e)
{
	OWNED(str) struct str tail = { 0 };
	int64_t code = WEXITSTATUS(r->status), number = WTERMSIG(r->status), parked;

	if (worker_wake(&r->w, e) || look_at_call(r, &parked, e))
		return -1;
	tail_text(&r->tail, &tail);
	const struct agent_run_end_args args = {
		.outcome = parked ? AGENT_RUN_OUTCOME_PARKED : r->outcome,
		.parked = parked,
		.exit_code = r->phase == ENDING_OVER && WIFEXITED(r->status) ? &code : NULL,
		.exit_signal = r->phase == ENDING_OVER && WIFSIGNALED(r->status) ? &number : NULL,
		.why = r->why.length ? str_text(&r->why) : NULL,
		.stderr_tail = tail.length ? str_text(&tail) : NULL,
		.seq = r->w.row,
	};

	if (store_begin(&r->w.store, e))
		return -1;
	return store_end(&r->w.store,
	                 sql_agent_run_end(&r->w.store, &args, e) < 0 ||
	                     (args.outcome == AGENT_RUN_OUTCOME_INTERRUPTED &&
	                      request_interrupt_run(&r->w.store, r->w.row, e)),
	                 e);
}

int run_settle(struct runner *r, struct err *e)
{
	return insist(r, "the end of the agent", settle, e);
}
