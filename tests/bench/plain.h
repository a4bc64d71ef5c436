/* plain: the least that SQLite can do durably, as the measure of everything else. */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

struct plain {
	struct sqlite3 *db;
	struct sqlite3_stmt *begin, *insert, *commit;
	const char *path;
};

/* Makes a new database at path. */
void plain_open(struct plain *p, const char *path);
/* BEGIN IMMEDIATE, one row of 300 bytes, COMMIT. How long it took, in ns. */
int64_t plain_commit(struct plain *p);
/* Removes it again. */
void plain_close(struct plain *p);

#endif
