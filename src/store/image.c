/* A new database: sqlgen made its pages when this program was built (sql_image), and they are
 * written as they are. To make tables and rules of their texts takes eight times as long. */
#include "store_core.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/file.h>

static size_t number(const unsigned char *at)
{
	return (size_t)at[0] << 8 | at[1];
}

static void unpack(unsigned char *out)
{
	const size_t bytes = (size_t)sql_image_page_bytes;
	const unsigned char *at = sql_image;

	for (int i = 0; i < sql_image_pages; i++, out += bytes) {
		size_t head = number(at), tail = number(at + 2);

		at += 4;
		memcpy(out, at, head);
		memset(out + head, 0, bytes - head - tail);
		memcpy(out + bytes - tail, at + head, tail);
		at += head + tail;
	}
}

int store_image_open(struct sqlite3 **ret_db, struct err *e)
{
	const sqlite3_int64 size = (sqlite3_int64)sql_image_pages * sql_image_page_bytes;
	unsigned char *pages = sqlite3_malloc64((sqlite3_uint64)size);
	int rc = pages ? sqlite3_open(":memory:", ret_db) : SQLITE_NOMEM;

	if (rc == SQLITE_OK) {
		unpack(pages);
		rc = sqlite3_deserialize(*ret_db, "main", pages, size, size,
		                         SQLITE_DESERIALIZE_FREEONCLOSE |
		                             SQLITE_DESERIALIZE_READONLY);
	} else {
		sqlite3_free(pages);
	}
	if (rc == SQLITE_OK)
		return 0;
	(void)store_failed(*ret_db, rc, "cannot make the schema in memory", e);
	(void)sqlite3_close(*ret_db);
	*ret_db = NULL;
	return -1;
}

static int copy_pages(struct store *st, struct sqlite3 *from)
{
	sqlite3_backup *b = sqlite3_backup_init(st->db, "main", from, "main");
	int copied, finished;

	if (!b)
		return sqlite3_errcode(st->db);
	copied =
	    sqlite3_backup_step(b, -1); /* finish does not repeat that others were in the way */
	finished = sqlite3_backup_finish(b);
	return copied == SQLITE_DONE || finished != SQLITE_OK ? finished : copied;
}

int store_image_write(struct store *st, struct err *e)
{
	sqlite3 *from = NULL;
	int rc = SQLITE_OK;

	if (store_image_open(&from, e))
		return -1;
	/* The pages would replace whatever is there. Another process that found nothing, too, has
	 * to wait here, and then finds the schema. */
	while (flock(st->lock_now, LOCK_EX) != 0 && errno == EINTR)
		continue;
	if (store_pragma(st, "schema_version") == 0)
		rc = copy_pages(st, from);
	(void)flock(st->lock_now, LOCK_UN);
	(void)sqlite3_close(from);
	return rc == SQLITE_OK ? 0 : store_failed(st->db, rc, "cannot make the database", e);
}
