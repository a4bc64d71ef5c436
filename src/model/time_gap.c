#include "time_gap.h"

#include "sql/request.h"
#include "sql/stall.h"
#include "sql/tool_call.h"
#include "sql/worker.h"

#include <stdlib.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct time_reading time_gap_clocks(void)
{
	return (struct time_reading){ .wall_ms = read_ms(CLOCK_REALTIME),
		                      .boot_ms = read_ms(CLOCK_BOOTTIME),
		                      .awake_ms = read_ms(CLOCK_MONOTONIC) };
}

void time_gap_watch(struct time_watch *w, const struct time_reading *now)
{
	*w = (struct time_watch){ .asleep_ms = now->boot_ms - now->awake_ms,
		                  .set_ms = now->wall_ms - now->boot_ms,
		                  .looked_ms = now->awake_ms };
}

bool time_gap_look(struct time_watch *w, const struct time_reading *now, struct time_gap *gap)
{
	int64_t slept = now->boot_ms - now->awake_ms - w->asleep_ms;
	int64_t stepped = now->wall_ms - now->boot_ms - w->set_ms;

	*gap = (struct time_gap){ .window_ms = now->awake_ms - w->looked_ms };
	w->looked_ms = now->awake_ms;
	if (slept >= TIME_GAP_MIN_MS) {
		gap->suspend_ms = slept;
		w->asleep_ms += slept;
	}
	if (llabs(stepped) >= TIME_GAP_MIN_MS) {
		gap->step_ms = stepped;
		w->set_ms += stepped;
	}
	return gap->suspend_ms || gap->step_ms;
}

/* ---- moving deadlines ---- */

enum { PAGE = 500 }; /* the LIMIT of the lists */

/* Running clocks, by two statements: those of a machine after a seq, and a new time for one. */
struct clocks {
	void (*list)(struct store *st, const char *machine, int64_t after, struct running_row *row);
	int (*set)(struct store *st, const char *at, int64_t seq, struct err *e);
};

static const struct clocks QUESTIONS = { sql_request_running, sql_request_set_deadline };
static const struct clocks SILENCES = { sql_stall_idle_running, sql_stall_set_idle };
static const struct clocks STEPS = { sql_stall_steps_running, sql_stall_set_step };
static const struct clocks CALLS = { sql_tool_call_running, sql_tool_call_set_wait };

struct running {
	int64_t seq, at_ms, since_ms;
};

static int list(struct store *st, const struct clocks *c, const char *machine, int64_t after,
                struct running rows[PAGE], struct err *e)
{
	OWNED(running_row) struct running_row row = { 0 };
	int got, n = 0;

	c->list(st, machine, after, &row);
	while ((got = row_next(&row.row, e)) > 0 && n < PAGE)
		rows[n++] = (struct running){ .seq = row.seq,
			                      .at_ms = clock_parse(row.at),
			                      .since_ms = clock_parse(row.since) };
	return got < 0 ? -1 : n;
}

/* Moves all of them by ms, except those touched in [from_ms, now]. */
static int move_all(struct store *st, const struct clocks *c, const char *machine, int64_t ms,
                    int64_t from_ms, struct err *e)
{
	struct running rows[PAGE];
	int64_t now_ms = clock_now_ms(), after = 0;
	int n, moved = 0;

	if (ms == 0)
		return 0;
	do {
		n = list(st, c, machine, after, rows, e);
		for (int i = 0; i < n; i++) {
			struct instant at = clock_instant(rows[i].at_ms + ms);

			after = rows[i].seq;
			if (rows[i].at_ms < 0 ||
			    (rows[i].since_ms >= from_ms && rows[i].since_ms <= now_ms))
				continue;
			if (c->set(st, at.text, rows[i].seq, e))
				return -1;
			moved++;
		}
	} while (n == PAGE);
	return n < 0 ? -1 : moved;
}

/* Moves the clocks that count the time of people and agents: deadlines of requests, and silence.
 * Returns the number of requests. */
static int move_clocks(struct store *st, const char *machine, int64_t ms, int64_t from_ms,
                       struct err *e)
{
	int moved = move_all(st, &QUESTIONS, machine, ms, from_ms, e);

	if (moved < 0 || move_all(st, &SILENCES, machine, ms, from_ms, e) < 0 ||
	    move_all(st, &STEPS, machine, ms, from_ms, e) < 0)
		return -1;
	return moved;
}

static int write_row(struct store *st, const char *machine, enum time_gap_kind kind,
                     int64_t start_ms, struct err *e)
{
	struct instant start = clock_instant(start_ms);

	return sql_time_gap_insert(st, machine, kind, start.text, e);
}

static int record(struct store *st, const char *machine, const struct time_gap *gap, struct err *e)
{
	int64_t now_ms = clock_now_ms(), from_ms = now_ms - gap->window_ms;
	int moved;

	if ((gap->suspend_ms &&
	     write_row(st, machine, TIME_GAP_KIND_SUSPEND, now_ms - gap->suspend_ms, e)) ||
	    (gap->step_ms &&
	     write_row(st, machine, TIME_GAP_KIND_CLOCK_STEP, now_ms - gap->step_ms, e)))
		return -1;
	moved = move_clocks(st, machine, gap->suspend_ms + gap->step_ms, from_ms, e);
	if (moved < 0 || move_all(st, &CALLS, machine, gap->step_ms, from_ms, e) < 0)
		return -1;
	return moved;
}

int time_gap_record(struct store *st, const char *machine, const struct time_gap *gap,
                    struct err *e)
{
	int moved;

	if (store_begin(st, e))
		return -1;
	moved = record(st, machine, gap, e);
	return store_end(st, moved < 0, e) ? -1 : moved;
}

/* ---- downtime ---- */

int64_t time_gap_downtime(struct store *st, const char *machine, const char *name, const char *id,
                          struct err *e)
{
	OWNED(instant_row) struct instant_row last = { 0 }, start = { 0 };
	int64_t last_ms, start_ms;

	if (sql_worker_watched(st, name, machine, id, &last, e) < 0 ||
	    sql_worker_started(st, id, &start, e) < 0)
		return -1;
	last_ms = clock_parse(last.at);
	start_ms = clock_parse(start.at);
	if (last_ms < 0 || start_ms - last_ms <= TIME_GAP_DOWNTIME_MS)
		return 0;
	if (store_begin(st, e))
		return -1;
	return store_end(st,
	                 write_row(st, machine, TIME_GAP_KIND_DOWNTIME, last_ms, e) ||
	                     move_clocks(st, machine, start_ms - last_ms, start_ms, e) < 0,
	                 e)
	           ? -1
	           : start_ms - last_ms;
}
