#include "plain.h"

#include "bench.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BODY_BYTES = 280 }; /* with key, time and header about 300 */

static void must(struct plain *p, int rc, int wanted, const char *what)
{
	if (rc != wanted)
		die("%s: %s: %s", p->path, what, sqlite3_errmsg(p->db));
}

static void prepare(struct plain *p, const char *sql, sqlite3_stmt **out)
{
	must(p, sqlite3_prepare_v3(p->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL), SQLITE_OK,
	     sql);
}

static void remove_files(const char *path)
{
	static const char *const SUFFIXES[] = { "", "-wal", "-shm" };
	char name[4096];

	for (int i = 0; i < 3; i++) {
		(void)snprintf(name, sizeof(name), "%s%s", path, SUFFIXES[i]);
		(void)unlink(name);
	}
}

void plain_open(struct plain *p, const char *path)
{
	*p = (struct plain){ .path = path };
	remove_files(path);
	must(p, sqlite3_open(path, &p->db), SQLITE_OK, "open");
	must(p,
	     sqlite3_exec(p->db,
	                  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
	                  "CREATE TABLE plain (seq INTEGER PRIMARY KEY, at INTEGER, body TEXT)",
	                  NULL, NULL, NULL),
	     SQLITE_OK, "create");
	prepare(p, "BEGIN IMMEDIATE", &p->begin);
	prepare(p, "INSERT INTO plain (at, body) VALUES (?, ?)", &p->insert);
	prepare(p, "COMMIT", &p->commit);
}

static void step(struct plain *p, sqlite3_stmt *s)
{
	must(p, sqlite3_step(s), SQLITE_DONE, "step");
	(void)sqlite3_reset(s);
}

int64_t plain_commit(struct plain *p)
{
	static char body[BODY_BYTES + 1];
	int64_t start = now_ns();

	if (!body[0])
		memset(body, 'b', BODY_BYTES);
	step(p, p->begin);
	(void)sqlite3_bind_int64(p->insert, 1, start);
	(void)sqlite3_bind_text(p->insert, 2, body, BODY_BYTES, SQLITE_STATIC);
	step(p, p->insert);
	step(p, p->commit);
	return now_ns() - start;
}

void plain_close(struct plain *p)
{
	(void)sqlite3_finalize(p->begin);
	(void)sqlite3_finalize(p->insert);
	(void)sqlite3_finalize(p->commit);
	(void)sqlite3_close(p->db);
	remove_files(p->path);
}
