/* audit_cut: cuts what is old off the beginning of the timeline, where that is sealed. Where there
 * is a directory to export to, all of it is on disk there first, as one file that verifies by
 * itself.
 *
 * Three steps, each of which can be killed: the export gets its name when it is whole and flushed;
 * a row of audit_cut says up to where events may go; they go in batches. The next one finds an
 * export that is there, and goes on deleting what was said. */
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
	struct instant cutoff; /* what is older goes */
	int step; /* of audit_cut.c */
	int64_t upto; /* the last event that goes */
	struct sha256 hash; /* its seal */
	struct staging staging; /* while it is exported */
	FILE *out;
	struct audit_export x;
	struct str file; /* what it is exported to; "": it is not */
	int64_t events; /* deleted so far */
	struct err stays; /* why nothing can be cut now; the caller tells and clears it */
};

#define AUDIT_CUT_INIT                                                                             \
	{                                                                                          \
		.staging = STAGING_INIT                                                            \
	}

/* cutoff: whole days only are cut off, so that there is one export for a day. */
void audit_cut_begin(struct audit_cut *c, struct store *st, struct instant cutoff);
/* One batch: 1 go on, 0 nothing is left that may go (or c->stays says why), -1. */
int audit_cut_some(struct audit_cut *c, struct err *e);
void audit_cut_clear(struct audit_cut *c);

/* The setting retention_export_dir: 1 it is set and appended to out, 0, -1. */
int audit_cut_dir(struct store *st, struct str *out, struct err *e);

#endif
