/* The row of a run, in the order of its life; each step is one transaction, on disk before anything
 * follows from it. */
#include "commander.h"

#include "clock.h"
#include "content.h"
#include "group.h"
#include "log.h"
#include "pulse.h"
#include "shared.h"
#include "sql/stall.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum {
	LATE_MS = 10 * 60 * 1000, /* nobody expects any more what was ordered so long ago */
	SHOW_MS = 3000, /* between two edits of a message */
	KILL_TRIES = 200, /* of KILL_TRY_MS: until the rest of a predecessor's run is gone */
	KILL_TRY_MS = 10,
};

#define LEFT "run %lld: what is left of it is not known: %s"

void rows_mark(const char *worker_id, int64_t seq, char out[COMMANDER_MARK_BYTES])
{
	(void)snprintf(out, COMMANDER_MARK_BYTES, "%s=%s:%lld", COMMANDER_MARK, worker_id,
	               (long long)seq);
}

/* ---- the clocks of its session ---- */

/* An instant, later by as long as the run has taken since that instant, or since it began. */
static struct instant later(const char *at, int64_t began_ms, int64_t now_ms)
{
	int64_t at_ms = clock_parse(at);
	int64_t from_ms = at_ms > began_ms ? at_ms : began_ms;

	return clock_instant(at_ms + (now_ms > from_ms ? now_ms - from_ms : 0));
}

/* They stood still while it ran. */
static int move_clocks(struct commander *c, int64_t seq, struct err *e)
{
	OWNED(alias_run_clocks_row) struct alias_run_clocks_row row = { 0 };
	int got = sql_alias_run_clocks(&c->w.store, seq, &row, e);
	int64_t now_ms = clock_now_ms();

	if (got <= 0 || !row.started_at)
		return got < 0 ? -1 : 0;
	int64_t began_ms = clock_parse(row.started_at);
	if (row.idle_since &&
	    sql_stall_set_idle(&c->w.store, later(row.idle_since, began_ms, now_ms).text,
	                       row.session_seq, e))
		return -1;
	if (row.waits_since &&
	    sql_stall_set_step(&c->w.store, later(row.waits_since, began_ms, now_ms).text,
	                       row.stall_seq, e))
		return -1;
	return 0;
}

/* ---- predecessors' ---- */

static int interrupt(struct commander *c, int64_t seq, const char *why, struct err *e)
{
	if (store_begin(&c->w.store, e))
		return -1;
	return store_end(
	    &c->w.store,
	    move_clocks(c, seq, e) || sql_alias_run_interrupt(&c->w.store, why, seq, e) < 0, e);
}

void rows_sweep(struct commander *c, struct keeper_sweep *s, uid_t uid, struct keeper_rest *rest,
                const char *worker_id, int64_t seq)
{
	char mark[COMMANDER_MARK_BYTES];
	OWNED(str) struct str socket = { 0 };
	struct err e = { 0 };

	rows_mark(worker_id, seq, mark);
	(void)snprintf(rest->mark, sizeof(rest->mark), "%s", mark);
	if (shared_start_socket(&c->w.store, &socket, &e) <= 0 ||
	    keeper_owner_sweep_begin(s, str_text(&socket), uid, rest, &e))
		log_warn(LEFT, (long long)seq, e.text);
}

void rows_swept(struct keeper_sweep *s, int64_t seq)
{
	struct err e = { 0 };
	int killed = keeper_owner_sweep_end(s, &e);

	if (killed < 0)
		log_warn(LEFT, (long long)seq, e.text);
	else if (killed > 0)
		log_warn("run %lld: %d process(es) were left, and killed", (long long)seq, killed);
}

static void sweep(struct commander *c, const struct alias_run_in_hand_row *run)
{
	struct keeper_rest rest = { .pid = (int32_t)run->pid, .started = run->process_start };
	struct keeper_sweep s = KEEPER_SWEEP_INIT;
	struct pollfd end = { .events = POLLIN };

	rows_sweep(c, &s, (uid_t)run->uid, &rest, run->worker_id ? run->worker_id : "", run->seq);
	if (s.line < 0)
		return;
	end.fd = s.line;
	(void)poll(&end, 1, KEEPER_SWEEP_MS);
	rows_swept(&s, run->seq);
}

/* Its keeper has ended it as we began; this is for the case that the keeper was killed, too. */
static void kill_rest(struct commander *c, const struct alias_run_in_hand_row *run)
{
	char mark[COMMANDER_MARK_BYTES];

	if (run->has_pid && run->has_uid) {
		sweep(c, run);
		return;
	}
	rows_mark(run->worker_id ? run->worker_id : "", run->seq, mark);
	for (int i = 0; i < KILL_TRIES && run->has_pid &&
	                group_kill_marked((pid_t)run->pid, run->process_start, mark) > 0;
	     i++) {
		pulse();
		(void)poll(NULL, 0, KILL_TRY_MS);
	}
}

/* One at a time: a list must not be open while its rows change. */
static int recover_one(struct commander *c, struct err *e)
{
	OWNED(alias_run_in_hand_row) struct alias_run_in_hand_row row = { 0 };
	int got;

	sql_alias_run_in_hand(&c->w.store, c->w.machine, &row);
	got = row_next(&row.row, e);
	if (got <= 0)
		return got;
	int64_t seq = row.seq;
	kill_rest(c, &row);
	alias_run_in_hand_row_clear(&row);
	log_warn("run %lld was interrupted: its commander was killed", (long long)seq);
	return interrupt(c, seq, "agent-intercom was killed while it ran", e) ? -1 : 1;
}

static int end_one_waiting(struct commander *c, const char *before, const char *why, struct err *e)
{
	OWNED(alias_run_waiting_row) struct alias_run_waiting_row row = { 0 };
	int got;

	sql_alias_run_waiting(&c->w.store, c->w.machine, before, &row);
	got = row_next(&row.row, e);
	if (got <= 0)
		return got;
	int64_t seq = row.seq;
	alias_run_waiting_row_clear(&row);
	return interrupt(c, seq, why, e) ? -1 : 1;
}

static int end_waiting(struct commander *c, int64_t before_ms, const char *why, struct err *e)
{
	struct instant before = clock_instant(before_ms);
	int did;

	while ((did = end_one_waiting(c, before.text, why, e)) > 0)
		continue;
	return did;
}

int rows_recover(struct commander *c, struct err *e)
{
	int64_t late_ms = clock_now_ms() - LATE_MS;
	int did;

	while ((did = recover_one(c, e)) > 0)
		continue;
	return did ? did
	           : end_waiting(c, late_ms, "it did not begin: the system was not running", e);
}

int rows_end_waiting(struct commander *c, struct err *e)
{
	return end_waiting(c, clock_now_ms() + LATE_MS, "it did not begin: the system stopped", e);
}

/* ---- a life ---- */

int rows_claim(struct commander *c, struct job *j, struct err *e)
{
	OWNED(alias_run_next_row) struct alias_run_next_row next = { 0 };
	int claimed = sql_alias_run_next(&c->w.store, c->w.machine, &next, e);

	if (claimed <= 0)
		return claimed;
	if (store_begin(&c->w.store, e))
		return -1;
	claimed = sql_alias_run_claim(&c->w.store, c->w.id.text, next.seq, e);
	if (claimed > 0 && sql_alias_run_read(&c->w.store, next.seq, &j->row, e) < 0)
		claimed = -1;
	return store_end(&c->w.store, claimed < 0, e) ? -1 : claimed;
}

int rows_process(struct commander *c, const struct job *j, struct err *e)
{
	const int64_t uid = j->uid;

	if (store_begin(&c->w.store, e))
		return -1;
	return store_end(&c->w.store,
	                 sql_alias_run_process(&c->w.store, j->process.pid, j->process.started,
	                                       j->uid ? &uid : NULL, j->row.seq, e) < 0,
	                 e);
}

int rows_running(struct commander *c, const struct job *j, struct err *e)
{
	if (store_begin(&c->w.store, e))
		return -1;
	return store_end(&c->w.store, sql_alias_run_running(&c->w.store, j->row.seq, e) < 0, e);
}

int rows_stop_is_wanted(struct commander *c, const struct job *j, struct err *e)
{
	return sql_alias_run_stop_wanted(&c->w.store, j->row.seq, e);
}

int rows_show(struct commander *c, struct job *j, struct err *e)
{
	OWNED(str) struct str shown = { 0 };

	j->show_ms = clock_monotonic_ms() + SHOW_MS;
	(void)capture_show(&j->output, &shown);
	if (store_begin(&c->w.store, e) ||
	    store_end(&c->w.store,
	              sql_alias_run_show(&c->w.store, str_text(&shown), j->output.total, j->row.seq,
	                                 e) < 0,
	              e))
		return -1;
	j->shown = j->output.total;
	return 0;
}

/* ---- its end ---- */

static enum alias_run_outcome outcome_of(const struct job *j)
{
	if (j->outcome != ALIAS_RUN_OUTCOME_NONE)
		return j->outcome;
	return j->has_status && WIFEXITED(j->status) && WEXITSTATUS(j->status) == 0
	           ? ALIAS_RUN_OUTCOME_DONE
	           : ALIAS_RUN_OUTCOME_FAILED;
}

static int settle(struct commander *c, const struct job *j, const struct str *whole,
                  const char *shown, struct err *e)
{
	int64_t code = WEXITSTATUS(j->status), number = WTERMSIG(j->status);
	int64_t content =
	    whole->length ? content_put(&c->w.store, whole->bytes, whole->length, e) : 0;
	const struct alias_run_end_args args = {
		.outcome = outcome_of(j),
		.exit_code = j->has_status && WIFEXITED(j->status) ? &code : NULL,
		.exit_signal = j->has_status && WIFSIGNALED(j->status) ? &number : NULL,
		.why = j->why.length ? str_text(&j->why) : NULL,
		.bytes = j->output.total,
		.cut_bytes = capture_cut(&j->output),
		.shown = shown,
		.content = content,
		.seq = j->row.seq,
	};

	return content < 0 || move_clocks(c, j->row.seq, e)
	           ? -1
	           : sql_alias_run_end(&c->w.store, &args, e);
}

int rows_settle(struct commander *c, struct job *j, struct err *e)
{
	OWNED(str) struct str whole = { 0 };
	OWNED(str) struct str shown = { 0 };

	if (!capture_show(&j->output, &shown))
		capture_text(&j->output, &whole);
	if (store_begin(&c->w.store, e) ||
	    store_end(&c->w.store, settle(c, j, &whole, str_text(&shown), e) < 0, e))
		return -1;
	log_info("run %lld: '%s' %s%s%s, %lld bytes of output", (long long)j->row.seq, j->row.alias,
	         alias_run_outcome_name(outcome_of(j)), j->why.length ? ": " : "",
	         str_text(&j->why), (long long)j->output.total);
	return 0;
}
