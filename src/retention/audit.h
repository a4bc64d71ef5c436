/* audit: the timeline under seal. Each event's seal is a hash over the event and the seal before
 * (what exactly is hashed: schema/README.md), so that who keeps one seal can tell whether anything
 * before it was changed, taken out, put in or moved.
 *
 * It shows tampering, it does not prevent it: whoever can write to the database can reseal
 * everything. A seal that is kept elsewhere, an export, a backup, shows that too. */
#ifndef AUDIT_H
#define AUDIT_H

#include "err.h"
#include "sha256.h"
#include "store.h"
#include "str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Of an event, behind its seq, in the order in which they are hashed. */
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
	struct sha256 prev; /* the seal before */
	struct sha256 hash;
};

/* What stands before the first seal: 64 zeros. */
extern const struct sha256 AUDIT_BEGIN;

/* The seal that the record's event would have as number seq behind prev. */
struct sha256 audit_hash(const struct audit_record *r, const struct sha256 *prev, int64_t seq);
bool audit_is_same(const struct sha256 *a, const struct sha256 *b);
/* Fills r from a row of audit_between, but for prev. */
void audit_record_read(struct audit_record *r, const struct audit_event_row *row);
/* Fills r from a line of an export, with its newline; false: it is none, byte by byte. */
bool audit_record_parse(struct audit_record *r, const char *line);
void audit_record_clear(struct audit_record *r);

/* Seals the next events, a batch of them in one short transaction. Any number may do so at once. 1
 * there may be more, 0 all are sealed, -1. */
int audit_seal(struct store *st, struct err *e);

/* ---- export: JSON, a line for each sealed event ---- */

struct audit_export {
	struct store *store;
	FILE *out;
	int64_t after; /* what is behind this seq is to come */
	int64_t upto;
	struct sha256 last; /* the seal of after */
	int64_t count;
};

/* The first line of an export: what follows stands behind the seal `prev` of event `after`. */
struct audit_start {
	int64_t after;
	struct sha256 prev;
};

/* Its last line. */
struct audit_end {
	int64_t last, count;
	struct sha256 hash;
};

/* Writes the first line. The sealed events from seq first to upto are to follow, or what is left of
 * them. out stays the caller's. */
int audit_export_begin(struct audit_export *x, struct store *st, FILE *out, int64_t first,
                       int64_t upto, struct err *e);
/* Writes the next lines, and after the last one the end line: 1 there is more, 0 it is whole, -1.
 * ERR_INPUT: the timeline is not what was sealed (audit_verify.h tells more); nothing more is
 * written then. */
int audit_export_some(struct audit_export *x, struct err *e);

/* Whether the line is the first (the last) one of an export, and what it says. */
bool audit_start_parse(struct audit_start *start, const char *line);
bool audit_end_parse(struct audit_end *end, const char *line);

#endif
