/* store: the database. The only module that knows SQLite, so that the engine can be replaced.
 *
 * Writers queue fairly on two lock files next to the database, then take BEGIN IMMEDIATE. A commit
 * is on disk (synchronous=FULL) before it is visible to anybody, and rings the workers whose tables
 * it changed. Statements live in sql/ and are prepared on first use. */
#ifndef STORE_H
#define STORE_H

#include "clock.h"
#include "err.h"
#include "sql.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

struct store {
	struct sqlite3 *db;
	struct sqlite3_stmt *prepared[SQL_COUNT];
	struct sqlite3_stmt *control[4]; /* BEGIN and the like */
	int run_fd; /* the directory with the bells, -1: ring nobody */
	int lock_next; /* the two lock files of the writer queue */
	int lock_now;
	bool writing; /* between store_begin and store_commit or store_rollback */
	uint64_t rings; /* one bit per entry of sql_bells whose table this transaction changed */
	bool broken; /* a flush failed: the state on disk is unknown */
	int64_t now_ms; /* of now */
	struct instant now; /* the last value bound to :now */
	int64_t give_up_ms; /* monotonic: store_begin stops waiting for others; 0: 10 s */
	int wal_pages; /* length of the log after our last commit; 0: its length is told already */
	int log_pages; /* its length when we last committed or copied it */
	char rules_found[400]; /* see store_rules_found */
};

#define STORE_INIT                                                                                 \
	{                                                                                          \
		.db = NULL, .run_fd = -1, .lock_next = -1, .lock_now = -1                          \
	}

enum {
	STORE_APPLICATION_ID = SQL_APPLICATION_ID,
	STORE_LOG_URGENT_PAGES = 8192, /* 32 MiB: who commits copies the log */
	STORE_MIN_FREE_BYTES = 64 << 20, /* below it, new questions are refused */
	STORE_RESERVE_BYTES = 4 * STORE_MIN_FREE_BYTES, /* below it, what can wait is: the default
	                                                   of checkpoint.reserve_bytes */
};

/* Opens an existing database of exactly this program's schema for reading and writing. run_dir: the
 * directory with the bells, NULL to ring nobody. Errors: no such file, not one of our databases, a
 * newer or older schema (ERR_INPUT), no permission. */
int store_open(struct store *st, const char *path, const char *run_dir, struct err *e);
/* The same for a program that does not bring the database up to date: only if this program's rules
 * were last put in force there, and are there, as its tables are (a rule more is nothing to it).
 * Else ERR_INPUT, or ERR_AGAIN if a start would mend it. */
int store_open_own(struct store *st, const char *path, const char *run_dir, struct err *e);

/* Like store_open, but first creates the database (mode 0600) or migrates it; the caller holds the
 * instance lock and no worker runs. A migration of existing data first makes a copy,
 * <path>.before-<version>. */
int store_migrate(struct store *st, const char *path, const char *run_dir, struct err *e);

/* After store_migrate: which rules (triggers and views) and indexes somebody had changed, added or
 * removed; "" for none. They have been restored, and the timeline says so. */
const char *store_rules_found(const struct store *st);

/* Whether the rules and indexes are this program's: 1 yes, 0 no, with those that differ in found,
 * -1 error. */
int store_check_rules(struct store *st, struct str *found, struct err *e);

/* Whether its tables have this program's columns: 0, or -1 with why a start is refused
 * (ERR_INPUT). */
int store_check_tables(struct store *st, const char *path, struct err *e);

/* Like store_migrate, for a file that is already a copy: makes no copy of it. name: what messages
 * call it. */
int store_migrate_copy(struct store *st, const char *path, const char *name, struct err *e);

/* Copies the database at path, of any version, as it is at one moment, into the empty file copy.
 * Others may read and write it meanwhile and do not wait. Nothing is flushed to disk. */
int store_copy(const char *path, const char *copy, struct err *e);

/* Reads all of the file at path, a copy: is it one of our databases, intact, and of a version that
 * this program knows or can migrate? Its rows stay as they are; the log or journal beside it is
 * folded in. ret_version: its schema version. Errors (ERR_INPUT) call it name. */
int store_examine(const char *path, const char *name, int *ret_version, struct err *e);

/* Folds the log into a database that is not in use: 1 it is one file now, 0 impossible with this
 * file (damaged, not a database), -1 it is in use (ERR_AGAIN). */
int store_fold(const char *path, struct err *e);

void store_clear(struct store *st);

/* From now on rings the bells in this directory; the descriptor is copied. */
void store_ring_at(struct store *st, int run_fd);

/* A write transaction: everything that writes is inside one. Refused after a flush that failed. */
int store_begin(struct store *st, struct err *e);
/* The same, but gives up (ERR_AGAIN) when others have held the database for about ms. */
int store_begin_within(struct store *st, int ms, struct err *e);
/* Makes the transaction durable and rings. A failed commit rolls back and returns -1. */
int store_commit(struct store *st, struct err *e);
void store_rollback(struct store *st);
/* Ends a transaction by one of the two. -1 if it failed, or its commit does. */
int store_end(struct store *st, bool failed, struct err *e);
/* Whether a flush has failed: the process must end without any further effect outside. */
bool store_is_broken(const struct store *st);

/* A part of a transaction that can fail alone: store_undo rolls it back, store_keep keeps it. */
int store_part(struct store *st, struct err *e);
int store_keep(struct store *st, struct err *e);
void store_undo(struct store *st);

/* Copies the log into the database without waiting for readers; with restart, also tries for
 * busy_ms to make the next writer restart the log. Returns the pages left in the log, or -1. */
int store_checkpoint(struct store *st, bool restart, int busy_ms, struct err *e);
/* The pages in the log since it last began anew, when this connection last committed or copied. */
int store_log_pages(const struct store *st);

/* Refreshes the planner's statistics where SQLite finds it worthwhile; a few milliseconds at most.
 * In a transaction. */
int store_optimize(struct store *st, struct err *e);

/* Checks one table and its indexes: 1 intact, 0 not, with the finding in found, -1 error. Only
 * reads; writers do not wait. */
int store_check_table(struct store *st, const char *table, struct str *found, struct err *e);

/* Free bytes on the database's file system, -1 if unknown. */
int64_t store_free_bytes(const char *path);

/* Runs one read-only SQL text and passes each row to each(columns, names, values, arg) as text (for
 * `ctl sql`). Refuses anything that writes. */
int store_query(struct store *st, const char *sql,
                void (*each)(int columns, const char *const *names, const char *const *values,
                             void *arg),
                void *arg, struct err *e);

/* PRAGMA user_version of this program's schema. */
int store_schema_version(void);

#endif
