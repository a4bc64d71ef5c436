/* Shared by the files of the store: migrate.c makes and changes databases, image.c has a new one's
 * pages, copy.c copies and examines them, store.c does everything else. */
#ifndef STORE_CORE_H
#define STORE_CORE_H

#include "store.h"

/* The kind of error that an SQLite error is for our caller. */
enum err_kind store_kind_of(int rc);
/* The code to go by: of pages that the disk cannot read SQLite says CORRUPT, of files that it
 * cannot open CANTOPEN or, once it has opened them for reading, READONLY, whatever the reason. */
int store_code(struct sqlite3 *db, int rc);
/* Fills e with what, SQLite's message and what helps; returns -1. */
int store_failed(struct sqlite3 *db, int rc, const char *what, struct err *e);
/* The statement with that number, reset, with only :now bound (if it has that parameter). */
struct sqlite3_stmt *store_stmt(struct store *st, int which);
/* 1 a row, 0 no more, -1 error, and the statement is reset. */
int store_step(struct sqlite3_stmt *s, struct err *e);
int store_execute(struct store *st, const char *sql, struct err *e);
/* A pragma's number; -1: it has none, or an error, see sqlite3_errcode. */
int64_t store_pragma(struct store *st, const char *name);
int store_on_busy(void *store, int tries);
/* Before SQLite is used for the first time: what it need not do. Later, nothing happens. */
void store_set_up_library(void);
int store_cannot_open(const char *path, int rc, struct err *e);
int store_open_database(struct store *st, const char *path, const char *run_dir, int flags,
                        struct err *e);
int store_configure(struct store *st, struct err *e);
int store_check_ours(struct store *st, const char *path, struct err *e);
int store_check_version(struct store *st, const char *path, struct err *e);
/* Name and text of each table of this program, by name; ends with NULL. Made by sqlgen. */
extern const char *const sql_tables[];
/* The same of its indexes. */
extern const char *const sql_indexes[];
/* A database in memory with this program's schema and nothing else, to read; the caller closes it.
 */
int store_image_open(struct sqlite3 **ret_db, struct err *e);
/* Makes this program's schema in a database that is empty, in one transaction; nothing happens in
 * one that is not. */
int store_image_write(struct store *st, struct err *e);
/* Appends the first row of a check, "ok" or the problem, to out. */
int store_first_finding(struct store *st, const char *sql, struct str *out, struct err *e);

#endif
