/* audit: the sealed timeline. Each event's seal is a hash of the event and the previous seal
 * (schema/README.md says what exactly is hashed), so that anyone who keeps one seal can tell
 * whether anything before it was changed, removed, inserted or moved.
 *
 * It detects tampering, it does not prevent it: anyone who can write to the database can reseal
 * everything. A seal, an export or a backup kept elsewhere reveals that, too. */
#ifndef AUDIT_H
#define AUDIT_H

#include "err.h"
#include "sha256.h"
#include "store.h"
#include "str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Fields of an event after its seq, in hash order. */
enum audit_field {
	AUDIT_AT,
	AUDIT_KIND,
	AUDIT_SESSION,
	AUDIT_REQUEST,
	AUDIT_CALL,
	AUDIT_ACTOR,
	AUDIT_DETAIL,
	AUDIT_FIELDS
};

struct audit_event_row; /* sql/audit.h */

/* An event and its seal. */
struct audit_record {
	int64_t seq;
	bool has_event, has_seal;
	struct str values[AUDIT_FIELDS];
	bool is_null[AUDIT_FIELDS];
	struct sha256 prev; /* the previous seal */
	struct sha256 hash;
};

/* The seal before the first one: 64 zeros. */
extern const struct sha256 AUDIT_BEGIN;

/* The seal that the record's event would have as number seq after prev. */
struct sha256 audit_hash(const struct audit_record *r, const struct sha256 *prev, int64_t seq);
bool audit_is_same(const struct sha256 *a, const struct sha256 *b);
/* Fills r from a row of audit_between, except prev. */
void audit_record_read(struct audit_record *r, const struct audit_event_row *row);
/* Fills r from a line of an export, with its newline; false: it is not one, byte for byte. */
bool audit_record_parse(struct audit_record *r, const char *line);
void audit_record_clear(struct audit_record *r);

/* Seals the next events, one batch in a short transaction. Any number of processes may do so at
 * once. 1 there may be more, 0 all are sealed, -1. */
int audit_seal(struct store *st, struct err *e);

/* ---- export: JSON, a line for each sealed event ---- */

struct audit_export {
	struct store *store;
	FILE *out;
	int64_t after; /* events after this seq are still to come */
	int64_t upto;
	struct sha256 last; /* the seal of after */
	int64_t count;
};

/* The first line of an export: its events follow the seal `prev` of event `after`. */
struct audit_start {
	int64_t after;
	struct sha256 prev;
};

/* Its last line. */
struct audit_end {
	int64_t last, count;
	struct sha256 hash;
};

/* Writes the first line. The sealed events from seq first to upto follow, as far as they still
 * exist. out stays the caller's. */
int audit_export_begin(struct audit_export *x, struct store *st, FILE *out, int64_t first,
                       int64_t upto, struct err *e);
/* Writes the next lines and, after the last one, the end line: 1 there is more, 0 complete, -1.
 * ERR_INPUT: the timeline differs from what was sealed (audit_verify.h tells more); nothing more is
 * written then. */
int audit_export_some(struct audit_export *x, struct err *e);

/* Whether the line is the first (the last) one of an export, and its contents. */
bool audit_start_parse(struct audit_start *start, const char *line);
bool audit_end_parse(struct audit_end *end, const char *line);

#endif
