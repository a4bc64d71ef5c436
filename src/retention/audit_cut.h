/* audit_cut: cuts old events off the start of the timeline, as far as they are sealed. If there is
 * an export directory, all of them are on disk there first, as one file that can be verified by
 * itself.
 *
 * Three steps, each of which can be killed: the export gets its name when it is complete and
 * flushed; a row of audit_cut says up to where events may be deleted; they are deleted in batches.
 * The next run finds an existing export, and continues an announced deletion. */
#ifndef AUDIT_CUT_H
#define AUDIT_CUT_H

#include "audit.h"
#include "backup.h"
#include "clock.h"
#include "err.h"
#include "store.h"
#include "str.h"

#include <stdint.h>
#include <stdio.h>

struct audit_cut {
	struct store *store;
	struct instant cutoff; /* older events are cut */
	int step; /* of audit_cut.c */
	int64_t upto; /* the last event to be deleted */
	struct sha256 hash; /* its seal */
	struct staging staging; /* during the export */
	FILE *out;
	struct audit_export x;
	struct str file; /* the export; "": none */
	int64_t events; /* deleted so far */
	struct err stays; /* why nothing can be cut now; the caller reports and clears it */
};

#define AUDIT_CUT_INIT                                                                             \
	{                                                                                          \
		.staging = STAGING_INIT                                                            \
	}

/* cutoff: only whole days are cut, so that there is one export per day. */
void audit_cut_begin(struct audit_cut *c, struct store *st, struct instant cutoff);
/* One batch: 1 continue, 0 nothing is left to cut (or c->stays says why), -1. */
int audit_cut_some(struct audit_cut *c, struct err *e);
void audit_cut_clear(struct audit_cut *c);

/* The setting retention_export_dir: 1 it is set and appended to out, 0, -1. */
int audit_cut_dir(struct store *st, struct str *out, struct err *e);

#endif
