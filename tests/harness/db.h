/* db: what stands in a database, for a test. The rows of a query are text: columns joined by '|',
 * one line each, NULL as nothing. */
#ifndef DB_H
#define DB_H

#include <sqlite3.h>
#include <stdbool.h>

/* A statement, compiled; fails the test if it cannot be. The caller finalizes it. */
sqlite3_stmt *db_prepare(sqlite3 *db, const char *sql);
/* The rows that it returns now. It can be asked again. The caller frees the text. */
char *db_rows(sqlite3_stmt *s);
/* Whether these become text. They may not stand still for AGENT_PATIENCE_MS before: on a busy
 * machine much takes long that moves. */
bool db_becomes(sqlite3_stmt *s, const char *text);
/* The rows of a query in the database at path must become text. */
void db_expect_soon(const char *path, const char *sql, const char *text);

#endif
