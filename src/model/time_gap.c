#include "time_gap.h"

#include <stdlib.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct time_reading time_read(void)
{
	return (struct time_reading){ .wall_ms = read_ms(CLOCK_REALTIME),
		                      .boot_ms = read_ms(CLOCK_BOOTTIME),
		                      .awake_ms = read_ms(CLOCK_MONOTONIC) };
}

void time_watch_start(struct time_watch *w, const struct time_reading *now)
{
	*w = (struct time_watch){ .asleep_ms = now->boot_ms - now->awake_ms,
		                  .set_ms = now->wall_ms - now->boot_ms,
		                  .looked_ms = now->awake_ms };
}

bool time_watch_look(struct time_watch *w, const struct time_reading *now, struct time_gap *gap)
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

_Static_assert((int)REQUEST_RUNNING_SEQ == (int)TOOL_CALL_RUNNING_SEQ &&
                   (int)REQUEST_RUNNING_AT == (int)TOOL_CALL_RUNNING_AT &&
                   (int)REQUEST_RUNNING_SINCE == (int)TOOL_CALL_RUNNING_SINCE &&
                   (int)REQUEST_RUNNING_AT == (int)STALL_IDLE_RUNNING_AT &&
                   (int)REQUEST_RUNNING_SINCE == (int)STALL_IDLE_RUNNING_SINCE &&
                   (int)REQUEST_RUNNING_AT == (int)STALL_STEPS_RUNNING_AT &&
                   (int)REQUEST_RUNNING_SINCE == (int)STALL_STEPS_RUNNING_SINCE,
               "all lists give the same columns");

struct running {
	int64_t seq, at_ms, since_ms;
};

static int list(struct store *st, enum sql which, const char *host, int64_t after,
                struct running rows[PAGE], struct err *e)
{
	stmt *s = store_stmt(st, which);
	int got, n = 0;

	bind_text(s, ":host", host);
	bind_int(s, ":after", after);
	while ((got = stmt_row(s, e)) > 0 && n < PAGE)
		rows[n++] = (struct running){
			.seq = col_int(s, REQUEST_RUNNING_SEQ),
			.at_ms = clock_parse(col_text(s, REQUEST_RUNNING_AT)),
			.since_ms = clock_parse(col_text(s, REQUEST_RUNNING_SINCE)),
		};
	stmt_reset(s);
	return got < 0 ? -1 : n;
}

static int set(struct store *st, enum sql which, int64_t seq, int64_t at_ms, struct err *e)
{
	struct instant at = clock_instant(at_ms);
	stmt *s = store_stmt(st, which);

	bind_int(s, ":seq", seq);
	bind_text(s, ":at", at.text);
	return stmt_run(s, e);
}

/* Moves everything that which lists by ms, but what was touched in [from_ms, now]. */
static int move_all(struct store *st, enum sql which, enum sql setter, const char *host, int64_t ms,
                    int64_t from_ms, struct err *e)
{
	struct running rows[PAGE];
	int64_t now_ms = clock_now_ms(), after = 0;
	int n, moved = 0;

	if (ms == 0)
		return 0;
	do {
		n = list(st, which, host, after, rows, e);
		for (int i = 0; i < n; i++) {
			after = rows[i].seq;
			if (rows[i].at_ms < 0 ||
			    (rows[i].since_ms >= from_ms && rows[i].since_ms <= now_ms))
				continue;
			if (set(st, setter, rows[i].seq, rows[i].at_ms + ms, e) < 0)
				return -1;
			moved++;
		}
	} while (n == PAGE);
	return n < 0 ? -1 : moved;
}

/* Moves what counts the time of persons and agents: questions, and the clocks of silence. Returns
 * the number of questions. */
static int move_clocks(struct store *st, const char *host, int64_t ms, int64_t from_ms,
                       struct err *e)
{
	int moved =
	    move_all(st, SQL_REQUEST_RUNNING, SQL_REQUEST_SET_DEADLINE, host, ms, from_ms, e);

	if (moved < 0 ||
	    move_all(st, SQL_STALL_IDLE_RUNNING, SQL_STALL_SET_IDLE, host, ms, from_ms, e) < 0 ||
	    move_all(st, SQL_STALL_STEPS_RUNNING, SQL_STALL_SET_STEP, host, ms, from_ms, e) < 0)
		return -1;
	return moved;
}

static int write_row(struct store *st, const char *host, const char *kind, int64_t start_ms,
                     struct err *e)
{
	struct instant start = clock_instant(start_ms);
	stmt *s = store_stmt(st, SQL_TIME_GAP_INSERT);

	bind_text(s, ":host", host);
	bind_text(s, ":kind", kind);
	bind_text(s, ":started_at", start.text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int record(struct store *st, const char *host, const struct time_gap *gap, struct err *e)
{
	int64_t now_ms = clock_now_ms(), from_ms = now_ms - gap->window_ms;
	int moved;

	if ((gap->suspend_ms && write_row(st, host, "suspend", now_ms - gap->suspend_ms, e)) ||
	    (gap->step_ms && write_row(st, host, "clock_step", now_ms - gap->step_ms, e)))
		return -1;
	moved = move_clocks(st, host, gap->suspend_ms + gap->step_ms, from_ms, e);
	if (moved < 0 || move_all(st, SQL_TOOL_CALL_RUNNING, SQL_TOOL_CALL_SET_WAIT, host,
	                          gap->step_ms, from_ms, e) < 0)
		return -1;
	return moved;
}

int time_gap_record(struct store *st, const char *host, const struct time_gap *gap, struct err *e)
{
	int moved;

	if (store_begin(st, e))
		return -1;
	moved = record(st, host, gap, e);
	if (moved >= 0)
		return store_commit(st, e) ? -1 : moved;
	store_rollback(st);
	return -1;
}

/* ---- downtime ---- */

/* The one instant that a statement gives, -1 if it gives none, -2 on error. */
static int64_t instant_of(stmt *s, struct err *e)
{
	int got = stmt_row(s, e);
	int64_t ms = got > 0 && !col_is_null(s, 0) ? clock_parse(col_text(s, 0)) : -1;

	stmt_reset(s);
	return got < 0 ? -2 : ms;
}

int64_t time_gap_downtime(struct store *st, const char *host, const char *name, const char *id,
                          struct err *e)
{
	int64_t last_ms, start_ms;
	stmt *s = store_stmt(st, SQL_WORKER_WATCHED);

	bind_text(s, ":host", host);
	bind_text(s, ":name", name);
	bind_text(s, ":id", id);
	last_ms = instant_of(s, e);
	s = store_stmt(st, SQL_WORKER_STARTED);
	bind_text(s, ":id", id);
	start_ms = last_ms < -1 ? -2 : instant_of(s, e);
	if (last_ms < -1 || start_ms < -1)
		return -1;
	if (last_ms < 0 || start_ms - last_ms <= TIME_GAP_DOWNTIME_MS)
		return 0;
	if (store_begin(st, e))
		return -1;
	if (write_row(st, host, "downtime", last_ms, e) ||
	    move_clocks(st, host, start_ms - last_ms, start_ms, e) < 0) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e) ? -1 : start_ms - last_ms;
}
