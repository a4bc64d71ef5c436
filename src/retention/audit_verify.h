/* audit_verify: is the timeline still what was sealed? Of the database, which may be in use, or of
 * an export. The first event that breaks the chain is named, and what is wrong with it. */
#ifndef AUDIT_VERIFY_H
#define AUDIT_VERIFY_H

#include "audit.h"
#include "err.h"
#include "store.h"
#include "str.h"

#include <stdint.h>

enum audit_fault {
	AUDIT_WHOLE,
	AUDIT_CHANGED, /* it is not what was sealed */
	AUDIT_MISSING, /* an event is not there; seq: the missing one, or the first behind the gap
	                */
	AUDIT_REORDERED, /* it stands in the place of another one */
	AUDIT_INSERTED, /* it was not there when its neighbours were sealed */
	AUDIT_CUT_OFF, /* what was there at the end, or before the first, is missing */
	AUDIT_OTHER_HEAD, /* the seal that the caller keeps is not in the chain */
	AUDIT_CUT_YOUNG, /* the event records a cut of events that were too young for it */
	AUDIT_CUT_AHEAD, /* the event tells of a cut in its future */
};

struct audit_report {
	enum audit_fault fault;
	int64_t seq; /* of the event at fault */
	int64_t line; /* of the file; 0: of none */
	int64_t first, last, count; /* what was found whole, up to the fault */
	struct sha256 head; /* the seal of last */
	int64_t unsealed; /* events of the database that no seal covers yet */
	struct str cuts; /* what was cut off, a line for each time */
	int64_t cut_days; /* as given by the caller */
};

/* A seal that the caller keeps from before; seq 0: none. */
struct audit_kept {
	int64_t seq;
	struct sha256 hash;
};

/* cut_days: what is cut off must have been so old. ret is zeroed by the caller. */
int audit_verify_store(struct store *st, const struct audit_kept *kept, int64_t cut_days,
                       struct audit_report *ret, struct err *e);
/* ERR_INPUT: the file cannot be read, or is no export. */
int audit_verify_file(const char *path, const struct audit_kept *kept, struct audit_report *ret,
                      struct err *e);
void audit_report_clear(struct audit_report *report);
/* Appends the report in words: a line for each cut, and one without an end. */
void audit_verify_tell(const struct audit_report *report, struct str *out);

#endif
