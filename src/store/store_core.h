/* What the files of the store share, those that sqlgen makes as well: migrate.c makes and changes
 * databases, copy.c copies and examines them, store.c is everything else. */
#ifndef STORE_CORE_H
#define STORE_CORE_H

#include "store.h"

/* What an SQLite error means to our caller. */
enum err_kind store_kind_of(int rc);
/* Fills e with what, SQLite's words and what helps; returns -1. */
int store_failed(struct sqlite3 *db, int rc, const char *what, struct err *e);
/* The statement with that number, reset, with no parameters but :now bound (if it has one). */
struct sqlite3_stmt *store_stmt(struct store *st, int which);
/* 1 there is a row, 0 no more, -1 error, and the statement is reset. */
int store_step(struct sqlite3_stmt *s, struct err *e);
int store_execute(struct store *st, const char *sql, struct err *e);
/* A pragma's number, -1: it has none, or an error that sqlite3_errcode tells. */
int64_t store_pragma(struct store *st, const char *name);
int store_on_busy(void *store, int tries);
int store_cannot_open(const char *path, int rc, struct err *e);
int store_open_database(struct store *st, const char *path, const char *run_dir, int flags,
                        struct err *e);
int store_configure(struct store *st, struct err *e);
int store_check_ours(struct store *st, const char *path, struct err *e);
int store_check_version(struct store *st, const char *path, struct err *e);
/* The first row of a check, "ok" or what is wrong, goes to out. */
int store_first_finding(struct store *st, const char *sql, struct str *out, struct err *e);

#endif
