#include "store.h"

#include "doorbell.h"
#include "instance.h"
#include "io.h"
#include "paths.h"
#include "pulse.h"
#include "store_core.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

enum {
	QUEUE_MS =
	    50, /* the writer queue is a courtesy: one that stands still so long stops nobody */
	BUSY_MS = 10000, /* then a write gives up */
	WAL_RING_PAGES = 1000, /* about 4 MiB: request a checkpoint */
	CACHE_KIB = 8192,
	SHM_BYTES = 32 << 10, /* of -shm, the least */
	ANALYSIS_ROWS = 400, /* of each index, for the planner: SQLite's recommendation */
	STATISTICS_ROWS = 10000, /* smaller tables keep no statistics */
};

enum control { CONTROL_BEGIN, CONTROL_COMMIT, CONTROL_PART, CONTROL_KEEP, CONTROL_COUNT };

/* ---- errors ---- */

enum err_kind store_kind_of(int rc)
{
	switch (rc & 0xFF) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_NOMEM:
	case SQLITE_INTERRUPT:
	case SQLITE_SCHEMA:
	case SQLITE_PROTOCOL: /* too many began to read at once */
		return ERR_AGAIN;
	case SQLITE_CONSTRAINT:
	case SQLITE_TOOBIG:
		return ERR_REFUSED;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return ERR_INPUT;
	default:
		return ERR_BUG;
	}
}

static const char *advice(int rc)
{
	switch (rc & 0xFF) {
	case SQLITE_FULL:
		return "; free space on the database's disk";
	case SQLITE_READONLY:
		return "; make the database file, those beside it whose names begin with its own, "
		       "and its directory writable for this user";
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return "; restore it from a backup";
	case SQLITE_IOERR:
		return "; the disk or its file system fails: the kernel's log says more";
	case SQLITE_BUSY:
		return "; another process holds the write lock";
	default:
		return "";
	}
}

/* Whether the last call that failed on a file of the database failed as SQLite takes for damage. */
static bool is_unreadable(struct sqlite3 *db)
{
	struct sqlite3_file *log = NULL;
	int of_file = 0, of_log = 0;

	(void)sqlite3_file_control(db, NULL, SQLITE_FCNTL_LAST_ERRNO, &of_file);
	(void)sqlite3_file_control(db, NULL, SQLITE_FCNTL_JOURNAL_POINTER, (void *)&log);
	if (log && log->pMethods)
		(void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &of_log);
	return of_file == EIO || of_file == ENXIO || of_log == EIO || of_log == ENXIO;
}

/* What is not there yet is made in its folder. */
static bool is_denied(char *path)
{
	int denied = access(path, W_OK);

	if (denied && errno == ENOENT) {
		*strrchr(path, '/') = '\0';
		denied = *path ? access(path, W_OK) : 0;
	}
	return denied && errno != ENOENT && err_kind_of_file(errno) == ERR_INPUT;
}

/* Whether nothing forbids writing. SQLite opens what it cannot open for writing, whatever the
 * reason, for reading. No file is opened here: to close it would give up SQLite's locks. */
static bool is_writable(struct sqlite3 *db)
{
	const char *path = sqlite3_db_filename(db, NULL);
	OWNED(str) struct str name = { 0 };

	for (size_t i = 0; path && *path && i < INSTANCE_FILES; i++) {
		str_reset(&name);
		str_addf(&name, "%s%s", path, INSTANCE_SUFFIXES[i]);
		if (is_denied(name.bytes))
			return false;
	}
	return path && *path;
}

/* Whether an error of the disk is one of its size: SQLite names only some of them so, not that of
 * its -shm. */
static bool is_full(struct sqlite3 *db, int error)
{
	const char *path = sqlite3_db_filename(db, NULL);
	int64_t bytes = path && *path ? store_free_bytes(path) : -1;

	if (error == ENOSPC || error == EDQUOT)
		return true;
	return error != EIO && !is_unreadable(db) && bytes >= 0 && bytes < SHM_BYTES;
}

int store_code(struct sqlite3 *db, int rc)
{
	int error = db ? sqlite3_system_errno(db) : 0;

	if ((rc & 0xFF) == SQLITE_READONLY && rc != SQLITE_READONLY_DBMOVED && db &&
	    is_writable(db))
		return SQLITE_IOERR;
	if ((rc & 0xFF) == SQLITE_CORRUPT && db && is_unreadable(db))
		return SQLITE_IOERR;
	if ((rc & 0xFF) == SQLITE_CANTOPEN && error == EIO)
		return SQLITE_IOERR;
	if ((rc & 0xFF) == SQLITE_IOERR && db && is_full(db, error))
		return SQLITE_FULL;
	if ((rc & 0xFF) == SQLITE_CANTOPEN && (error == ENOSPC || error == EDQUOT))
		return SQLITE_FULL;
	return rc;
}

static const char *message(struct sqlite3 *db, int rc, int code)
{
	return db && code == rc ? sqlite3_errmsg(db) : sqlite3_errstr(code);
}

int store_failed(struct sqlite3 *db, int rc, const char *what, struct err *e)
{
	int code = store_code(db, rc);

	return err_set(e, store_kind_of(code), "db: %s: %s%s", what, message(db, rc, code),
	               advice(code));
}

static void bug(const char *what, const char *detail)
{
	(void)fprintf(stderr, "bug: store: %s: %s\n", what, detail);
	abort();
}

int store_execute(struct store *st, const char *sql, struct err *e)
{
	int rc = sqlite3_exec(st->db, sql, NULL, NULL, NULL);

	char start[60];

	if (rc == SQLITE_OK)
		return 0;
	(void)snprintf(start, sizeof(start), "%.*s", (int)strcspn(sql, "\n"), sql);
	return store_failed(st->db, rc, start, e);
}

/* ---- hooks ---- */

static void on_change(void *arg, int op, const char *database, const char *table,
                      sqlite3_int64 rowid)
{
	struct store *st = arg;

	(void)op;
	(void)database;
	(void)rowid;
	for (int i = 0; sql_bells[i].table; i++)
		if (strcmp(sql_bells[i].table, table) == 0)
			st->rings |= UINT64_C(1) << i;
}

static int on_log(void *arg, struct sqlite3 *db, const char *name, int pages)
{
	struct store *st = arg;

	(void)db;
	(void)name;
	st->wal_pages = st->log_pages = pages;
	return SQLITE_OK;
}

static void sleep_us(long us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	(void)nanosleep(&t, NULL);
}

/* SQLite's own handler sleeps up to 100 ms at a time, which starves writers during an fsync. */
int store_on_busy(void *arg, int tries)
{
	const struct store *st = arg;
	long us = tries < 4 ? 30 : tries < 16 ? 100 : 300;
	unsigned jitter = (unsigned)(uintptr_t)arg ^ ((unsigned)tries * 2654435761U);

	if ((long)tries * 300 > (long)BUSY_MS * 1000 ||
	    (st->give_up_ms && clock_monotonic_ms() >= st->give_up_ms))
		return 0;
	sleep_us(us / 2 + (long)(jitter % (unsigned)us));
	return 1;
}

/* ---- opening ---- */

int64_t store_pragma(struct store *st, const char *name)
{
	char sql[80];
	sqlite3_stmt *s = NULL;
	int64_t value = -1;

	(void)snprintf(sql, sizeof(sql), "PRAGMA %s", name);
	if (sqlite3_prepare_v2(st->db, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_int64(s, 0);
	(void)sqlite3_finalize(s);
	return value;
}

int store_schema_version(void)
{
	return SQL_SCHEMA_VERSION;
}

static int lock_file(const char *path, const char *suffix, int *ret_fd, struct err *e)
{
	OWNED(str) struct str name = { 0 };

	str_addf(&name, "%s%s", path, suffix);
	*ret_fd = open(name.bytes, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*ret_fd < 0)
		return err_errno(e, err_kind_of_file(errno), "db: cannot open the lock file %s",
		                 name.bytes);
	return 0;
}

/* SQLite returns SQLITE_CANTOPEN for everything; the system knows why. */
int store_cannot_open(const char *path, int rc, struct err *e)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e, err_kind_of_file(errno), "db: cannot open %s", path);
	(void)close(fd); /* safe: this process has no connection to it */
	return err_set(e, store_kind_of(rc), "db: cannot open %s: %s%s", path, sqlite3_errstr(rc),
	               advice(rc));
}

/* What lies beside a database under the name of its journal is played back into it, and what has
 * that of its log is read as a part of it: SQLite opens none that somebody else has put there, also
 * after we have looked (paths_check_beside). */
static int open_ours(const char *path, int flags, int mode)
{
	static const char *const SUFFIXES[] = { "-wal", "-shm", "-journal" };
	int fd = open(path, flags, mode);
	OWNED(char_ptr) char *database = fd < 0 ? NULL : xstrdup(path);
	char *suffix = database ? strrchr(database, '-') : NULL;
	struct stat about;

	for (size_t i = 0; suffix && i < COUNT(SUFFIXES); i++) {
		if (strcmp(suffix, SUFFIXES[i]) != 0)
			continue;
		*suffix = '\0';
		if (fstat(fd, &about) == 0 && paths_is_of(database, about.st_uid))
			break;
		(void)close(fd);
		errno = EACCES;
		return -1;
	}
	return fd;
}

/* Statistics of its memory, which nobody reads, would cost a sixth of all that SQLite does: a mutex
 * for each allocation. */
void store_set_up_library(void)
{
	static bool done;
	sqlite3_vfs *files;

	if (done)
		return;
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	files = sqlite3_vfs_find(NULL);
	(void)files->xSetSystemCall(files, "open", (sqlite3_syscall_ptr)open_ours);
	done = true;
}

int store_open_database(struct store *st, const char *path, const char *run_dir, int flags,
                        struct err *e)
{
	int rc;

	store_set_up_library();
	if (paths_check_beside(path, e))
		return -1;
	rc = sqlite3_open_v2(path, &st->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK) {
		rc = store_code(st->db, rc);
		(void)sqlite3_close(st->db);
		st->db = NULL;
		return store_cannot_open(path, rc, e);
	}
	(void)sqlite3_extended_result_codes(st->db, 1);
	(void)sqlite3_busy_handler(st->db, store_on_busy, st);
	if (lock_file(path, "-next", &st->lock_next, e) ||
	    lock_file(path, "-now", &st->lock_now, e))
		return -1;
	if (run_dir) {
		st->run_fd = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (st->run_fd < 0)
			return err_errno(e, ERR_AGAIN, "db: cannot open the run directory %s",
			                 run_dir);
	}
	return 0;
}

int store_configure(struct store *st, struct err *e)
{
	char cache[60];

	(void)snprintf(cache, sizeof(cache), "PRAGMA cache_size = -%d", CACHE_KIB);
	if (store_execute(st, "PRAGMA synchronous = FULL", e) ||
	    store_execute(st, "PRAGMA foreign_keys = ON", e) ||
	    store_execute(st, "PRAGMA temp_store = MEMORY", e) || store_execute(st, cache, e))
		return -1;
	(void)sqlite3_update_hook(st->db, on_change, st);
	(void)sqlite3_wal_hook(st->db, on_log, st); /* instead of automatic checkpoints */
	return 0;
}

int store_check_ours(struct store *st, const char *path, struct err *e)
{
	int64_t id = store_pragma(st, "application_id");

	if (id == -1)
		return store_failed(st->db, sqlite3_errcode(st->db), path, e);
	if (id != STORE_APPLICATION_ID)
		return err_set(e, ERR_INPUT, "db: %s is not a database of agent-intercom", path);
	return 0;
}

int store_check_version(struct store *st, const char *path, struct err *e)
{
	int64_t have = store_pragma(st, "user_version");
	int want = store_schema_version();

	if (have < SQL_BASE_VERSION)
		return err_set(
		    e, ERR_INPUT,
		    "db: %s has schema version %lld, of an agent-intercom before release "
		    "0.2.0, which cannot be brought up to date; move it away "
		    "with what is beside it (%s-*): the next start makes a new one",
		    path, (long long)have, path);
	if (have > want)
		return err_set(e, ERR_INPUT,
		               "db: %s has schema version %lld, this program knows %d; "
		               "it was written by a newer agent-intercom: upgrade this one",
		               path, (long long)have, want);
	if (have < want)
		return err_set(e, ERR_AGAIN,
		               "db: %s has schema version %lld, this program needs %d; "
		               "start agent-intercom, which migrates it",
		               path, (long long)have, want);
	return 0;
}

/* A first start makes the file, and fills it in one commit. */
static int check_filled(struct store *st, const char *path, struct err *e)
{
	if (store_pragma(st, "schema_version") != 0)
		return 0;
	return err_set(e, ERR_AGAIN, "db: %s is empty: agent-intercom fills it when it starts",
	               path);
}

int store_open(struct store *st, const char *path, const char *run_dir, struct err *e)
{
	if (access(path, F_OK) != 0)
		return err_errno(e, err_kind_of_file(errno),
		                 "db: there is no database at %s; start agent-intercom first",
		                 path);
	if (store_open_database(st, path, run_dir, SQLITE_OPEN_READWRITE, e) ||
	    check_filled(st, path, e) || store_check_ours(st, path, e) ||
	    store_check_version(st, path, e) || store_configure(st, e)) {
		store_clear(st);
		return -1;
	}
	return 0;
}

void store_clear(struct store *st)
{
	for (int i = 0; i < SQL_COUNT; i++)
		(void)sqlite3_finalize(st->prepared[i]);
	for (int i = 0; i < CONTROL_COUNT; i++)
		(void)sqlite3_finalize(st->control[i]);
	(void)sqlite3_close(st->db);
	int fds[] = { st->run_fd, st->lock_next, st->lock_now };
	for (size_t i = 0; i < COUNT(fds); i++)
		io_shut(&fds[i]);
	*st = (struct store)STORE_INIT;
}

void store_ring_at(struct store *st, int run_fd)
{
	int copy = fcntl(run_fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return;
	io_shut(&st->run_fd);
	st->run_fd = copy;
}

/* ---- transactions ---- */

/* Prepared once, because every call runs four of them. */
static int control(struct store *st, enum control which)
{
	static const char *const TEXTS[CONTROL_COUNT] = { "BEGIN IMMEDIATE", "COMMIT",
		                                          "SAVEPOINT part", "RELEASE part" };
	sqlite3_stmt **s = &st->control[which];
	int rc = SQLITE_OK;

	if (!*s)
		rc = sqlite3_prepare_v3(st->db, TEXTS[which], -1, SQLITE_PREPARE_PERSISTENT, s,
		                        NULL);
	if (rc == SQLITE_OK) {
		(void)sqlite3_step(*s);
		rc = sqlite3_reset(*s);
	}
	return rc;
}

/* When the log was last written, in ns. stat(2) opens nothing: SQLite's locks stay. */
static int64_t log_written_ns(const struct store *st)
{
	struct stat log;

	if (stat(sqlite3_filename_wal(sqlite3_db_filename(st->db, "main")), &log) != 0)
		return 0;
	return log.st_mtim.tv_sec * (int64_t)1000000000 + log.st_mtim.tv_nsec;
}

/* How long a process waits in the queue; all zero: it has not waited yet. */
struct queue_wait {
	int64_t moved_ns; /* of the log: as long as others write, the queue moves */
	int64_t until_ms; /* it stands still, if it has not moved until then; monotonic, as below */
	int64_t end_ms; /* patience ends, moving or not */
};

static bool stands_still(const struct store *st, struct queue_wait *w)
{
	int64_t now_ms = clock_monotonic_ms(), moved_ns;

	if (!w->end_ms)
		*w = (struct queue_wait){ .moved_ns = log_written_ns(st),
			                  .until_ms = now_ms + QUEUE_MS,
			                  .end_ms =
			                      st->give_up_ms ? st->give_up_ms : now_ms + BUSY_MS };
	if (now_ms < w->until_ms)
		return false;
	moved_ns = log_written_ns(st);
	if (moved_ns == w->moved_ns || now_ms >= w->end_ms)
		return true;
	w->moved_ns = moved_ns;
	w->until_ms = now_ms + QUEUE_MS;
	return false;
}

/* Waits until the lock is ours or the queue stands still; the caller proceeds in either case.
 * most_us: between two tries. */
static void lock_in_queue(const struct store *st, int fd, struct queue_wait *w, long most_us)
{
	for (long us = 20; flock(fd, LOCK_EX | LOCK_NB) != 0; us = us < most_us ? us * 2 : us) {
		if (stands_still(st, w))
			return;
		sleep_us(us);
	}
}

/* Take "next", then "now", then drop "next": a holder of "now" must pass "next" to come back, and
 * the waiter already owns that, so nobody is overtaken by more than one. Only one waits for "now",
 * so it may look often; were the many that wait for "next" to do so, they would take the processor
 * from the one who writes. */
static void queue_enter(struct store *st)
{
	struct queue_wait w = { 0 };

	lock_in_queue(st, st->lock_next, &w, 2000);
	lock_in_queue(st, st->lock_now, &w, 200);
	(void)flock(st->lock_next, LOCK_UN);
}

static void queue_leave(struct store *st)
{
	(void)flock(st->lock_now, LOCK_UN);
}

int store_begin(struct store *st, struct err *e)
{
	if (st->writing)
		bug("store_begin", "inside a transaction");
	if (st->broken)
		return err_set(
		    e, ERR_AGAIN,
		    "db: what was written last could not be flushed; this process must end");
	queue_enter(st);
	int rc = control(st, CONTROL_BEGIN);
	if (rc != SQLITE_OK) {
		queue_leave(st);
		return store_failed(st->db, rc, "cannot begin", e);
	}
	st->writing = true;
	st->rings = 0;
	return 0;
}

int store_begin_within(struct store *st, int ms, struct err *e)
{
	int failed;

	st->give_up_ms = clock_monotonic_ms() + ms;
	failed = store_begin(st, e);
	st->give_up_ms = 0;
	return failed;
}

/* Whether an earlier bell belongs to the same worker. */
static bool is_rung(const struct store *st, int bell)
{
	for (int i = 0; i < bell; i++)
		if (st->rings & (UINT64_C(1) << i) &&
		    strcmp(sql_bells[i].worker, sql_bells[bell].worker) == 0)
			return true;
	return false;
}

/* In the order of sql_bells: workers that somebody waits for come first. */
static void ring(struct store *st)
{
	for (int i = 0; sql_bells[i].table; i++)
		if (st->rings & (UINT64_C(1) << i) && !is_rung(st, i))
			doorbell_ring(st->run_fd, sql_bells[i].worker);
	if (st->wal_pages >= WAL_RING_PAGES)
		doorbell_ring(st->run_fd, "retention");
	if (st->wal_pages >= STORE_LOG_URGENT_PAGES)
		(void)store_checkpoint(st, false, 0, NULL);
	if (st->wal_pages >= WAL_RING_PAGES)
		st->wal_pages = 0; /* do not ask again before the next commit reports */
}

int store_commit(struct store *st, struct err *e)
{
	pulse();
	int rc = control(st, CONTROL_COMMIT);

	if (rc != SQLITE_OK) {
		(void)store_failed(st->db, rc, "cannot commit", e);
		st->broken = rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC;
		store_rollback(st);
		return -1;
	}
	st->writing = false;
	queue_leave(st);
	if (st->run_fd >= 0)
		ring(st);
	return 0;
}

bool store_is_broken(const struct store *st)
{
	return st->broken;
}

void store_rollback(struct store *st)
{
	if (!st->writing)
		return;
	for (int i = 0; i < SQL_COUNT; i++)
		if (st->prepared[i])
			(void)sqlite3_reset(st->prepared[i]);
	if (!sqlite3_get_autocommit(st->db))
		(void)sqlite3_exec(st->db, "ROLLBACK", NULL, NULL, NULL);
	st->writing = false;
	st->rings = 0;
	queue_leave(st);
}

int store_end(struct store *st, bool failed, struct err *e)
{
	if (!failed)
		return store_commit(st, e);
	store_rollback(st);
	return -1;
}

int store_part(struct store *st, struct err *e)
{
	int rc = control(st, CONTROL_PART);

	return rc == SQLITE_OK ? 0 : store_failed(st->db, rc, "cannot begin a part", e);
}

int store_keep(struct store *st, struct err *e)
{
	int rc = control(st, CONTROL_KEEP);

	return rc == SQLITE_OK ? 0 : store_failed(st->db, rc, "cannot keep a part", e);
}

void store_undo(struct store *st)
{
	(void)sqlite3_exec(st->db, "ROLLBACK TO part; RELEASE part", NULL, NULL, NULL);
}

/* ---- statements ---- */

/* The build has tried each statement: somebody has changed the tables or rules since this program
 * looked, or the disk fails. No caller could go on. */
static _Noreturn void leave(struct store *st, const char *statement, int rc)
{
	int code = store_code(st->db, rc);

	(void)fprintf(stderr, "db: %s: %s%s\n", statement, message(st->db, rc, code),
	              store_kind_of(code) == ERR_BUG
	                  ? "; its tables or rules were changed: agent-intercom doctor says which"
	                  : advice(code));
	exit(EX_TEMPFAIL);
}

sqlite3_stmt *store_stmt(struct store *st, int which)
{
	sqlite3_stmt **s = &st->prepared[which];

	if (!*s) {
		int rc = sqlite3_prepare_v3(st->db, sql_statements[which].text, -1,
		                            SQLITE_PREPARE_PERSISTENT, s, NULL);
		if (rc != SQLITE_OK)
			leave(st, sql_statements[which].name, rc);
	} else {
		(void)sqlite3_reset(*s);
		(void)sqlite3_clear_bindings(*s);
	}
	if (!sql_statements[which].reads_only && !st->writing)
		bug(sql_statements[which].name, "writes outside a transaction");
	int now = sqlite3_bind_parameter_index(*s, ":now");
	if (now) {
		int64_t ms = clock_now_ms();

		if (ms != st->now_ms)
			st->now = clock_instant(ms);
		st->now_ms = ms;
		(void)sqlite3_bind_text(*s, now, st->now.text, INSTANT_BYTES - 1, SQLITE_TRANSIENT);
	}
	return *s;
}

int store_step(sqlite3_stmt *s, struct err *e)
{
	struct sqlite3 *db = sqlite3_db_handle(s);
	int rc = sqlite3_step(s), code;

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	code = store_code(db, rc);
	(void)err_set(e, store_kind_of(code), "db: %s%s", message(db, rc, code), advice(code));
	(void)sqlite3_reset(s);
	return -1;
}

/* ---- housekeeping ---- */

int store_checkpoint(struct store *st, bool restart, int busy_ms, struct err *e)
{
	int log = 0, copied = 0;
	int rc;

	if (restart) {
		queue_enter(st); /* keeps other writers out for the moment it takes */
		(void)sqlite3_busy_timeout(st->db, busy_ms);
	}
	rc = sqlite3_wal_checkpoint_v2(
	    st->db, NULL, restart ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE, &log,
	    &copied);
	if (restart) {
		(void)sqlite3_busy_handler(st->db, store_on_busy, st);
		queue_leave(st);
	}
	if (rc != SQLITE_OK && rc != SQLITE_BUSY && rc != SQLITE_LOCKED)
		return store_failed(st->db, rc, "cannot checkpoint", e);
	st->log_pages = log;
	return log - copied;
}

int store_log_pages(const struct store *st)
{
	return st->log_pages;
}

/* Statistics of a table with few rows make the planner scan it, even after it has grown (measured:
 * with one row in each table 24 of our statements scan, with 3,000 none). */
static int forget_small(struct store *st, struct err *e)
{
	char sql[200];

	if (store_pragma(st, "table_info(sqlite_stat1)") < 0) /* there are no statistics at all */
		return 0;
	(void)snprintf(sql, sizeof(sql),
	               "DELETE FROM sqlite_stat1 WHERE tbl IN (SELECT tbl FROM sqlite_stat1 "
	               "GROUP BY tbl HAVING max(CAST(stat AS INTEGER)) < %d)",
	               STATISTICS_ROWS);
	return store_execute(st, sql, e) || store_execute(st, "ANALYZE sqlite_schema", e) ? -1 : 0;
}

int store_optimize(struct store *st, struct err *e)
{
	char limit[60];

	(void)snprintf(limit, sizeof(limit), "PRAGMA analysis_limit = %d", ANALYSIS_ROWS);
	if (store_execute(st, limit, e) || store_execute(st, "PRAGMA optimize", e))
		return -1;
	return forget_small(st, e);
}

static int on_progress(void *arg)
{
	(void)arg;
	pulse();
	return 0; /* continue */
}

/* Gives signs of life during work that may take minutes. */
static void show_progress(struct store *st, bool shows)
{
	enum { STEPS = 10000 };

	sqlite3_progress_handler(st->db, shows ? STEPS : 0, shows ? on_progress : NULL, NULL);
}

static const char HEADING[] = "*** in database main ***\n"; /* SQLite's, before what it finds */

int store_first_finding(struct store *st, const char *sql, struct str *out, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(st->db, sql, -1, &s, NULL);

	show_progress(st, true);
	if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(s, 0);
		size_t n = sizeof(HEADING) - 1;

		str_add(out, strncmp(text, HEADING, n) == 0 ? text + n : text);
		rc = SQLITE_OK;
	}
	(void)sqlite3_finalize(s);
	show_progress(st, false);
	if (rc != SQLITE_OK && store_kind_of(store_code(st->db, rc)) != ERR_INPUT)
		return store_failed(st->db, rc, "cannot check the database", e);
	if (rc != SQLITE_OK)
		str_add(out, sqlite3_errmsg(st->db));
	else if (strcmp(str_text(out), "ok") != 0 && is_unreadable(st->db))
		str_addf(out, " (%s%s)", sqlite3_errstr(SQLITE_IOERR), advice(SQLITE_IOERR));
	return 0;
}

int store_check_table(struct store *st, const char *table, struct str *found, struct err *e)
{
	OWNED(str) struct str first = { 0 };
	char *sql = sqlite3_mprintf("PRAGMA quick_check(%Q)", table);
	int looked = store_first_finding(st, sql, &first, e);

	sqlite3_free(sql);
	if (looked < 0)
		return -1;
	if (strcmp(str_text(&first), "ok") == 0)
		return 1;
	str_addf(found, "%s%s: %s", found->length ? "; " : "", table, str_text(&first));
	return 0;
}

int64_t store_free_bytes(const char *path)
{
	struct statvfs v;

	if (statvfs(path, &v) != 0)
		return -1;
	return (int64_t)v.f_bavail * (int64_t)v.f_frsize;
}

int store_query(struct store *st, const char *sql,
                void (*each)(int columns, const char *const *names, const char *const *values,
                             void *arg),
                void *arg, struct err *e)
{
	enum { MAX_COLUMNS = 100 };
	const char *names[MAX_COLUMNS], *values[MAX_COLUMNS];
	const char *tail = sql;
	int rc = SQLITE_OK;

	while (*tail) {
		sqlite3_stmt *s = NULL;

		if (sqlite3_prepare_v2(st->db, tail, -1, &s, &tail) != SQLITE_OK)
			return err_set(e, ERR_INPUT, "db: %s", sqlite3_errmsg(st->db));
		if (!s)
			break;
		/* BEGIN and ATTACH count as read-only, but return no columns. */
		if (!sqlite3_stmt_readonly(s) || sqlite3_column_count(s) == 0) {
			(void)sqlite3_finalize(s);
			return err_set(
			    e, ERR_INPUT,
			    "db: only statements that read; use the sqlite3 shell to write");
		}
		int n = sqlite3_column_count(s);
		n = n > MAX_COLUMNS ? MAX_COLUMNS : n;
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			for (int i = 0; i < n; i++) {
				names[i] = sqlite3_column_name(s, i);
				values[i] = (const char *)sqlite3_column_text(s, i);
			}
			each(n, names, values, arg);
		}
		(void)sqlite3_finalize(s);
		if (rc != SQLITE_DONE)
			return store_failed(st->db, rc, "cannot read", e);
	}
	return 0;
}
