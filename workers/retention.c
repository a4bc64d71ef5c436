/* retention: keeps the database's WAL short, and deletes what is due.
 *
 * - It is the only checkpointer: at each look (its bell, which a writer rings when the WAL is over
 *   1000 pages, or 5 s) it copies the WAL into the database (PASSIVE). While the WAL file is over
 *   LOG_BYTES and still grows, or what is in it is over LONG_PAGES, it makes the next writer
 *   restart the WAL (RESTART), with 20 ms of patience: PASSIVE alone never does that while others
 *   commit all the time, even if it copies everything each time (measured: 300 commits of 200 kB
 *   left 60 MB). The WAL is never truncated: overwriting is cheaper than growing. LONG_PAGES is
 *   half of that at which the writers copy it themselves, and make their callers wait.
 * - It counts rows for the metrics (metric.h) when METRIC_BACKLOG of them are new.
 * - Hourly, first an hour after the start, or at once if the last one was cut off in a session: a
 *   purge (purge.h), and upkeep that is due (upkeep.h).
 *
 * A kill leaves a batch undone; the next purge continues there. */
#include "log.h"
#include "metric.h"
#include "purge.h"
#include "upkeep.h"
#include "worker.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	LOG_BYTES = 4 << 20,
	LONG_PAGES = STORE_LOG_URGENT_PAGES / 2,
	HELD_MS = 1000, /* after a long reader blocked a RESTART */
	PURGE_MS = 3600 * 1000,
};

struct retention {
	int64_t restart_ms; /* monotonic: not before */
	int64_t log_bytes; /* size of the WAL file at the last RESTART */
	int64_t purge_ms; /* monotonic: when the next purge starts */
	bool has_looked; /* whether the last one was cut off */
	struct purge purge;
	bool upkeep_open; /* upkeep that is due follows the purge */
	struct upkeep upkeep;
};

/* ---- the WAL ---- */

static int64_t log_bytes(const char *db_path)
{
	char path[4096];
	struct stat s;

	(void)snprintf(path, sizeof(path), "%.4000s-wal", db_path);
	return stat(path, &s) == 0 ? s.st_size : 0; /* stat() opens nothing: locks stay */
}

static int restart(struct retention *me, struct worker *w, struct err *e)
{
	int left = store_checkpoint(&w->store, true, PURGE_BUSY_MS, e);

	if (left > 0)
		me->restart_ms = clock_monotonic_ms() + HELD_MS;
	me->log_bytes = log_bytes(w->db_path);
	return left < 0 ? -1 : 0;
}

static int checkpoint(struct retention *me, struct worker *w, struct err *e)
{
	int64_t bytes = log_bytes(w->db_path);

	if (store_checkpoint(&w->store, false, 0, e) < 0)
		return -1;
	if (clock_monotonic_ms() < me->restart_ms)
		return 0;
	if (store_log_pages(&w->store) <= LONG_PAGES &&
	    (bytes <= LOG_BYTES || bytes <= me->log_bytes))
		return 0;
	return restart(me, w, e);
}

/* ---- the purge ---- */

static void tell_purge(const struct purge *p)
{
	OWNED(str) struct str what = { 0 };

	purge_tell(p, &what);
	if (what.length)
		log_info("%s", what.bytes);
}

/* Returns 1 if there is more to do, 0 if the purge is done, -1 on error. */
static int purge(struct retention *me, struct worker *w, struct err *e)
{
	struct pollfd stop = { .fd = w->signal_fd, .events = POLLIN };
	int did = purge_some(&me->purge, e);

	if (did < 0)
		return -1;
	if (me->purge.stays.kind != ERR_NONE)
		log_error("%s", me->purge.stays.text);
	me->purge.stays.kind = ERR_NONE;
	if (did == 0) {
		tell_purge(&me->purge);
		return 0;
	}
	if (me->purge.batches % PURGE_CHECKPOINT_BATCHES == 0 && restart(me, w, e))
		return -1;
	(void)poll(&stop, 1, purge_pause_ms(&me->purge)); /* let other writers run */
	return 1;
}

static int keep_up(struct retention *me, struct worker *w, struct err *e)
{
	const char *damaged;
	int did = upkeep_some(&me->upkeep, &w->store, &damaged, e);

	if (damaged)
		log_error("the database is damaged: %s; stop the system and restore a backup: "
		          "agent-intercom restore FILE",
		          damaged);
	if (did < 0 || checkpoint(me, w, e))
		return -1;
	me->upkeep_open = did > 0;
	return did;
}

/* 1 if it has counted some, 0 if there are few, -1. */
static int count_rows(struct worker *w, struct err *e)
{
	int64_t behind = metric_behind(&w->store, e);

	if (behind < METRIC_BACKLOG)
		return behind < 0 ? -1 : 0;
	return metric_count(&w->store, e) ? -1 : 1;
}

static int look_back(struct retention *me, struct worker *w, int64_t now, struct err *e)
{
	int cut_off = me->has_looked ? 0 : purge_was_cut_off(&w->store, e);

	me->has_looked = true;
	if (cut_off > 0)
		me->purge_ms = now;
	return cut_off < 0 ? -1 : 0;
}

static struct retention r = { .purge = PURGE_INIT };

static int step(struct worker *w, struct err *e)
{
	int64_t now = clock_monotonic_ms();

	if (purge_is_under_way(&r.purge)) {
		int did = purge(&r, w, e);

		r.upkeep_open = did == 0;
		return did < 0 ? -1 : 1;
	}
	if (r.upkeep_open)
		return keep_up(&r, w, e);
	if (checkpoint(&r, w, e) || look_back(&r, w, now, e))
		return -1;
	if (now >= r.purge_ms) {
		r.purge_ms = now + PURGE_MS;
		purge_begin(&r.purge, &w->store);
		return 1;
	}
	w->due_ms = clock_now_ms() + r.purge_ms - now;
	return count_rows(w, e);
}

int main(int argc, char **argv)
{
	r.purge_ms = clock_monotonic_ms() + PURGE_MS; /* an hour after the start */
	return worker_main("retention", "Keeps the database's log short and deletes what is due.",
	                   step, argc, argv);
}
