/* Databases as files: copied, examined, folded into one file. */
#include "store_core.h"

#include "io.h"
#include "paths.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

/* Opens a file of any version, which may not even be ours. */
static int open_any(struct store *st, const char *path, struct err *e)
{
	struct stat about;
	int rc;

	if (stat(path, &about) == 0 && io_special(about.st_mode))
		return err_set(e, ERR_INPUT, "db: %s is %s", path, io_special(about.st_mode));
	if (paths_check_beside(path, e))
		return -1;
	store_set_up_library();
	rc = sqlite3_open_v2(path, &st->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK)
		return store_cannot_open(path, rc, e);
	(void)sqlite3_extended_result_codes(st->db, 1);
	(void)sqlite3_busy_handler(st->db, store_on_busy, st);
	return 0;
}

int store_copy(const char *path, const char *copy, struct err *e)
{
	OWNED(store) struct store st = STORE_INIT;
	char *sql;
	int rc;

	if (open_any(&st, path, e) || store_check_ours(&st, path, e) ||
	    store_execute(&st, "PRAGMA synchronous = OFF", e))
		return -1;
	sql = sqlite3_mprintf("VACUUM INTO %Q", copy);
	rc = sqlite3_exec(st.db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		return store_failed(st.db, rc, "cannot copy the database", e);
	/* The last to close it, perhaps we, folds the log into it: that must be flushed. */
	return store_execute(&st, "PRAGMA synchronous = FULL", e);
}

int store_examine(const char *path, const char *name, int *ret_version, struct err *e)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str found = { 0 };
	int64_t id;

	if (open_any(&st, path, e))
		return -1;
	id = store_pragma(&st, "application_id");
	if (id == -1 && store_kind_of(store_code(st.db, sqlite3_errcode(st.db))) != ERR_INPUT)
		return store_failed(st.db, sqlite3_errcode(st.db), name, e);
	if (id == -1)
		return err_set(e, ERR_INPUT, "db: %s: %s", name, sqlite3_errmsg(st.db));
	*ret_version = (int)store_pragma(&st, "user_version");
	if (store_check_ours(&st, name, e) ||
	    (*ret_version > SQL_SCHEMA_VERSION && store_check_version(&st, name, e)))
		return -1;
	if (*ret_version < SQL_BASE_VERSION)
		return err_set(e, ERR_INPUT,
		               "db: %s has schema version %d, of an agent-intercom before release "
		               "0.2.0, which cannot be brought up to date",
		               name, *ret_version);
	if (store_first_finding(&st, "PRAGMA integrity_check(1)", &found, e))
		return -1;
	if (strcmp(str_text(&found), "ok") != 0)
		return err_set(e, ERR_INPUT, "db: %s is damaged: %s", name, str_text(&found));
	return 0;
}

int store_fold(const char *path, struct err *e)
{
	OWNED(store) struct store st = STORE_INIT;
	sqlite3_stmt *s = NULL;
	int rc;

	if (open_any(&st, path, NULL))
		return 0;
	(void)sqlite3_busy_timeout(st.db, 0);
	/* On failure, everything stays as it was found. */
	(void)sqlite3_db_config(st.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	rc = sqlite3_prepare_v2(st.db, "PRAGMA journal_mode = DELETE", -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	(void)sqlite3_finalize(s);
	if ((rc & 0xFF) == SQLITE_BUSY)
		return err_set(e, ERR_AGAIN,
		               "%s is in use (`fuser %s` shows by what): stop that first", path,
		               path);
	return rc == SQLITE_ROW;
}
