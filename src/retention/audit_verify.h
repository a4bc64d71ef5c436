/* audit_verify: checks that the timeline is still what was sealed, in the database, which may be in
 * use, or in an export. Names the first event that breaks the chain, and what is wrong with it. */
#ifndef AUDIT_VERIFY_H
#define AUDIT_VERIFY_H

#include "audit.h"
#include "err.h"
#include "store.h"
#include "str.h"

#include <stdint.h>

enum audit_fault {
	AUDIT_WHOLE,
	AUDIT_CHANGED, /* it differs from what was sealed */
	AUDIT_MISSING, /* an event is missing; seq: its own, or the first after the gap */
	AUDIT_REORDERED, /* it is in the place of another one */
	AUDIT_INSERTED, /* it did not exist when its neighbours were sealed */
	AUDIT_CUT_OFF, /* the end, or what came before the first event, is missing */
	AUDIT_OTHER_HEAD, /* the seal that the caller keeps is not in the chain */
	AUDIT_CUT_YOUNG, /* the event records a cut of events that were too young for it */
	AUDIT_CUT_AHEAD, /* the event records a cut in its future */
};

struct audit_report {
	enum audit_fault fault;
	int64_t seq; /* of the faulty event */
	int64_t line; /* of the file; 0: none */
	int64_t first, last, count; /* what was found intact, before the fault */
	struct sha256 head; /* the seal of last */
	int64_t unsealed; /* events in the database that no seal covers yet */
	struct str cuts; /* what was cut, one line per cut */
	int64_t cut_days; /* as given by the caller */
};

/* An earlier seal that the caller keeps; seq 0: none. */
struct audit_kept {
	int64_t seq;
	struct sha256 hash;
};

/* cut_days: the minimum age of what is cut. ret is zeroed by the caller. */
int audit_verify_store(struct store *st, const struct audit_kept *kept, int64_t cut_days,
                       struct audit_report *ret, struct err *e);
/* ERR_INPUT: the file cannot be read, or is not an export. */
int audit_verify_file(const char *path, const struct audit_kept *kept, struct audit_report *ret,
                      struct err *e);
void audit_report_clear(struct audit_report *report);
/* Appends the report in words: one line per cut, then one without a line end. */
void audit_verify_tell(const struct audit_report *report, struct str *out);

#endif
