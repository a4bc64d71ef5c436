/* purge: deletes what is older than retention_days, in batches, so that nobody waits for the write
 * lock.
 *
 * First all rows are counted (metric.h). Then, in this order: sessions that have been interrupted
 * for that long, or silent for that long without a process or a waiting call, are terminated; the
 * contents of files before writes of that age are forgotten; sessions terminated that long ago are
 * deleted with everything that belongs to them; Slack messages of that age; texts that no row
 * refers to; old answers; connections that never called a tool; rows of worker, time_gap,
 * file_look, gate_lapse, fence_refusal, alias_run, command, decision, steering, policy and upkeep
 * that nothing needs; what Slack sent over seven days ago; from the timeline, what is older than
 * audit_retention_days (audit_cut.h). Sessions that refer to each other's rows are deleted
 * together, and only when none of them has to stay.
 *
 * If retention_export_dir is set, contents of files (undo_export.h) and the timeline are on disk
 * there before they are deleted. What cannot be exported stays, and so does what depends on it;
 * this is reported.
 *
 * A kill leaves one batch undone; the next purge continues from there. After each batch a question
 * is whole or gone. */
#ifndef PURGE_H
#define PURGE_H

#include "audit_cut.h"
#include "clock.h"
#include "err.h"
#include "store.h"
#include "str.h"

#include <stdbool.h>
#include <stdint.h>

enum purge_table {
	PURGE_WORKERS,
	PURGE_TIME_GAPS,
	PURGE_LOOKS,
	PURGE_LAPSES,
	PURGE_REFUSALS,
	PURGE_ALIAS_RUNS,
	PURGE_COMMANDS,
	PURGE_DECISIONS,
	PURGE_STEERINGS,
	PURGE_POLICIES,
	PURGE_UPKEEPS,
	PURGE_TEXTS,
	PURGE_TABLES
};

/* After how many batches the log is checkpointed: it stays short during a large purge. */
enum { PURGE_CHECKPOINT_BATCHES = 8, PURGE_BUSY_MS = 20 };

struct purge {
	struct store *store;
	struct instant cutoff;
	int phase; /* of purge.c, from 1 on; 0: none */
	int batches;
	int64_t took_ms; /* duration of the last batch */
	struct instant victim_at; /* the current session: its end and */
	int64_t victim; /* its seq; the purge continues after it */
	struct str group; /* it and those tied to it, a JSON list; "": none at the moment */
	int64_t after; /* in the table that is being walked */
	/* What was done. */
	int sessions;
	int64_t terminated;
	int64_t belongings; /* rows of these sessions */
	int64_t answers, connections, images, slack, envelopes, walked[PURGE_TABLES];
	struct audit_cut cut; /* of the timeline */
	struct err stays; /* why something could not be deleted; the caller reports and clears it */
};

#define PURGE_INIT                                                                                 \
	{                                                                                          \
		.cut = AUDIT_CUT_INIT                                                              \
	}

/* Begins: the setting retention_days determines now what is old. */
void purge_begin(struct purge *p, struct store *st);
/* Whether the last one has left a session without answers of its questions, which this one would
 * delete. 1, 0, -1. */
int purge_was_cut_off(struct store *st, struct err *e);
/* One batch of a purge that is under way. 1 continue, 0 done, -1. */
int purge_some(struct purge *p, struct err *e);
/* How long to leave the database to others after a batch: twice as long as it took, so that most
 * writers do not meet one. */
int purge_pause_ms(const struct purge *p);
bool purge_is_under_way(const struct purge *p);
/* Appends what was done, in words; nothing if nothing was. */
void purge_tell(const struct purge *p, struct str *out);
void purge_clear(struct purge *p);

#endif
