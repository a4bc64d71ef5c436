/* purge: deletes what is older than retention_days, in batches, so that nobody waits for the write
 * lock.
 *
 * In this order: sessions interrupted for so long, or as long silent without a process or a call
 * that waits, are terminated; what was in files before writes that are as old is forgotten;
 * sessions terminated for as long are deleted with everything that belongs to them; what was said
 * in Slack as long ago; texts that no row holds on to; old answers; connections that never called a
 * tool; rows of worker, time_gap, command, decision, steering, policy and upkeep that nothing
 * needs; what Slack sent over seven days ago; of the timeline what is older than
 * audit_retention_days (audit_cut.h). Sessions that hold on to each other's rows go together, and
 * wait while one that has to stay holds on to them.
 *
 * Where retention_export_dir is set, what was in files (undo_export.h) and the timeline are on disk
 * there before they go. What cannot be exported stays, which is told; so does what depends on it.
 *
 * A kill leaves a batch undone; the next purge goes on from there. */
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
	PURGE_COMMANDS,
	PURGE_DECISIONS,
	PURGE_STEERINGS,
	PURGE_POLICIES,
	PURGE_UPKEEPS,
	PURGE_TEXTS,
	PURGE_TABLES
};

/* How often a caller's turn ends with a look at the log: it stays short while much is deleted. */
enum { PURGE_CHECKPOINT_BATCHES = 8, PURGE_BUSY_MS = 20 };

struct purge {
	struct store *store;
	struct instant cutoff;
	int phase; /* of purge.c; 0: nothing is under way */
	int batches;
	int64_t took_ms; /* the last one */
	struct instant victim_at; /* the session in hand: its end and */
	int64_t victim; /* its seq; the purge goes on behind it */
	struct str group; /* it and those that go with it, a JSON list; "": none is in hand */
	int64_t after; /* in the table that is walked through */
	/* What was done. */
	int sessions;
	int64_t terminated;
	int64_t belongings; /* rows of these sessions */
	int64_t answers, connections, images, slack, envelopes, walked[PURGE_TABLES];
	struct audit_cut cut; /* of the timeline */
	struct err stays; /* why something could not be deleted; the caller tells and clears it */
};

#define PURGE_INIT                                                                                 \
	{                                                                                          \
		.cut = AUDIT_CUT_INIT                                                              \
	}

/* Begins: what is old is decided now, by the setting retention_days. */
void purge_begin(struct purge *p, struct store *st);
/* One batch. 1 go on, 0 it is over, -1. */
int purge_some(struct purge *p, struct err *e);
/* How long to leave the database to the others after a batch: twice as long as it took, so that
 * most of who writes does not meet one. */
int purge_pause_ms(const struct purge *p);
bool purge_is_under_way(const struct purge *p);
/* Appends what was done, in words; nothing if that is nothing. */
void purge_tell(const struct purge *p, struct str *out);
void purge_clear(struct purge *p);

#endif
