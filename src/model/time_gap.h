/* time_gap: time that does not count for those who wait for a person: downtime, suspend, steps of
 * the clock. Each becomes a row, and the same transaction moves the running deadlines and the
 * clocks of silence (stall.h). Where the exact length is unknown, the person gets more time, never
 * less. */
#ifndef TIME_GAP_H
#define TIME_GAP_H

#include "store.h"

#include <stdbool.h>

enum {
	TIME_GAP_MIN_MS = 1000, /* shorter suspends and steps add up until they reach this */
	TIME_GAP_DOWNTIME_MS = 2000, /* restarting a worker takes less */
};

/* The machine's clocks at one moment, without the tests' offset, which stands for time that
 * passes. */
struct time_reading {
	int64_t wall_ms; /* CLOCK_REALTIME: can be set, continues during suspend */
	int64_t boot_ms; /* CLOCK_BOOTTIME: cannot be set, continues during suspend */
	int64_t awake_ms; /* CLOCK_MONOTONIC: cannot be set, stands still during suspend */
};

struct time_reading time_gap_clocks(void);

/* What has been accounted for so far. */
struct time_watch {
	int64_t asleep_ms; /* boot - awake */
	int64_t set_ms; /* wall - boot */
	int64_t looked_ms; /* awake, at the last look */
};

struct time_gap {
	int64_t suspend_ms; /* how long the machine slept, 0: not at all */
	int64_t step_ms; /* how far the clock was set; negative: back; 0: not at all */
	int64_t window_ms; /* it happened within this much awake time before now */
};

void time_gap_watch(struct time_watch *w, const struct time_reading *now);

/* Compares the clocks with the last look. True: there was a gap; it is now accounted for. */
bool time_gap_look(struct time_watch *w, const struct time_reading *now, struct time_gap *gap);

/* Records the gap and moves the deadlines of this machine: those of requests by both parts, the
 * ends of calls' waits by the step only (a caller's patience runs on while nobody works; ending
 * early costs it one more call). Rows touched within the window already use the new time and stay.
 * Returns the number of requests moved, -1 on error. */
int time_gap_record(struct store *st, const char *machine, const struct time_gap *gap,
                    struct err *e);

/* At the start of worker name, incarnation id: if more than TIME_GAP_DOWNTIME_MS have passed since
 * the last sign of life of its predecessor, that time is downtime and moves deadlines likewise.
 * Heartbeats are up to 30 s apart, so that a crash adds up to 30 s too much. Call it before the
 * worker reports ready. Returns the ms of downtime, 0: none, -1 on error. */
int64_t time_gap_downtime(struct store *st, const char *machine, const char *name, const char *id,
                          struct err *e);

#endif
