#include "history.h"

#include "bench.h"

#include "audit.h"
#include "command.h"
#include "decision.h"
#include "id.h"
#include "request.h"
#include "sha256.h"
#include "sql/apply.h"
#include "sql/event.h"
#include "sql/request.h"
#include "sql/session.h"
#include "sql/tool_call.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK = 50000, /* calls in one transaction of history_fill */
	OPEN = 20,
	LAST_EVENTS = 10,
};

const char *const HISTORY_NAMES[HISTORY_OPERATIONS] = {
	[HISTORY_INSERT] = "insert", [HISTORY_ATTACH] = "attach", [HISTORY_INBOX] = "inbox",
	[HISTORY_DECIDE] = "decide", [HISTORY_CLAIM] = "claim",   [HISTORY_EVENTS] = "events",
	[HISTORY_SEAL] = "seal",
};

/* ---- rows of the past ---- */

static sqlite3 *open_raw(const char *path)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		die("%s: %s", path, sqlite3_errmsg(db));
	return db;
}

static void run(sqlite3 *db, const char *sql)
{
	char *why = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		die("%s\n%s", sql, why);
}

void history_make(const char *path)
{
	struct store st = STORE_INIT;
	struct err e = { 0 };
	sqlite3 *db;

	if (store_migrate(&st, path, NULL, &e))
		die("%s", e.text);
	store_clear(&st);
	db = open_raw(path);
	run(db,
	    "INSERT INTO operator (id, kind, user_id, is_default) VALUES ('local:ann', 'local', "
	    "'ann', 1); INSERT INTO setting (name, value, source, updated_at) VALUES ('mode', "
	    "'local', 'default', '2026-01-01T00:00:00.000Z'), ('slack.configured', 'false', "
	    "'system', '2026-01-01T00:00:00.000Z')");
	(void)sqlite3_close(db);
}

/* %1 the first number, %2 the last, %3 the instant. */
static const char *const FILL[] = {
	"INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode, "
	"client_name, "
	"created_at, updated_at, last_activity_at, terminated_at) SELECT i / 1000 + 1, "
	"printf('s%08d-0000-7000-8000-%012d', i / 1000, i), "
	"'h', 'local:ann', '/home/ann/project', 'terminated', 'local', 'agent', ?3, ?3, ?3, ?3 "
	"FROM n "
	"WHERE i % 1000 = 1",
	"INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq, "
	"identity, "
	"state, created_at, closed_at) SELECT i / 1000 + 1, printf('k%035d', i), 'h', 'http', "
	"'2025-11-25', "
	"i / 1000 + 1, '{}', 'closed', ?3, ?3 FROM n WHERE i % 1000 = 1",
	"INSERT INTO request (seq, id, session_seq, kind, state, digest, title, description, body, "
	"file_path, risk_level, original_hash, decision_seq, decision, decided_by, decided_at, "
	"delivered_at, created_at, updated_at) SELECT i / 10, printf('%08d-0000-7000-8000-%012d', "
	"i / 10, i), "
	"(i - 1) / 1000 + 1, 'clearance', 'rejected', lower(hex(randomblob(32))), 'Change file ' "
	"|| i, "
	"'Because it has to be done', printf('@@ -1 +1 @@%n-old line %d%n+new line %d', i, i), "
	"'src/file' || i || '.c', 'low', lower(hex(randomblob(32))), i / 10, 'reject', "
	"'local:ann', ?3, ?3, "
	"?3, ?3 FROM n WHERE i % 10 = 0",
	"INSERT INTO request_file (request_seq, path, action, original_hash) SELECT i / 10, "
	"'src/file' || i "
	"|| '.c', 'modify', lower(hex(randomblob(32))) FROM n WHERE i % 10 = 0",
	"INSERT INTO decision (seq, request_id, verdict, operator_id, source, created_at, outcome) "
	"SELECT "
	"i / 10, printf('%08d-0000-7000-8000-%012d', i / 10, i), 'reject', 'local:ann', 'ctl', ?3, "
	"'applied' "
	"FROM n WHERE i % 10 = 0",
	"INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, arguments, "
	"digest, "
	"state, request_seq, result, told_answer, created_at, answered_at, finished_at) SELECT i, "
	"(i - 1) / 1000 + 1, (i - 1) / 1000 + 1, i, 'modern', CASE WHEN i % 10 = 0 THEN "
	"'check_clearance' "
	"ELSE 'ping' END, printf('{\"status_message\":\"step %d of what there is to do here\"}', "
	"i), "
	"lower(hex(randomblob(32))), 'done', CASE WHEN i % 10 = 0 THEN i / 10 END, "
	"'{\"acknowledged\":true,\"session_id\":\"0190a0a0\"}', 1, ?3, ?3, ?3 FROM n",
	"INSERT INTO ended_call (seq, call_seq, created_at) SELECT i / 10, i, ?3 FROM n WHERE i % "
	"10 = "
	"0",
	"INSERT INTO event (seq, at, kind, session_seq, request_seq, call_seq, actor, detail) "
	"SELECT i, ?3, "
	"'agent.said', (i - 1) / 1000 + 1, CASE WHEN i % 10 = 0 THEN i / 10 END, i, 'local:ann', "
	"json_object('digest', lower(hex(randomblob(32)))) FROM n",
	"INSERT INTO seal (seq, hash) SELECT i, lower(hex(randomblob(32))) FROM n",
};

static int64_t fill_chunk(sqlite3 *db, int64_t first, int64_t last, const char *at)
{
	int64_t rows = 0;

	run(db, "BEGIN IMMEDIATE");
	for (size_t i = 0; i < COUNT(FILL); i++) {
		sqlite3_stmt *s;
		char *sql =
		    sqlite3_mprintf("WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + "
		                    "1 FROM n WHERE i < ?2) %s",
		                    FILL[i]);

		if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
			die("%s\n%s", sql, sqlite3_errmsg(db));
		(void)sqlite3_bind_int64(s, 1, first);
		(void)sqlite3_bind_int64(s, 2, last);
		(void)sqlite3_bind_text(s, 3, at, -1, SQLITE_STATIC);
		if (sqlite3_step(s) != SQLITE_DONE)
			die("%s\n%s", sql, sqlite3_errmsg(db));
		rows += sqlite3_changes64(db);
		(void)sqlite3_finalize(s);
		sqlite3_free(sql);
	}
	run(db, "COMMIT");
	return rows;
}

/* The rules as triggers are taken away; store_migrate_copy makes them again, and says so in an
 * event. */
static void drop_rules(sqlite3 *db)
{
	sqlite3_stmt *s;
	char *all = sqlite3_mprintf("");

	if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'trigger'", -1, &s,
	                       NULL) != SQLITE_OK)
		die("%s", sqlite3_errmsg(db));
	while (sqlite3_step(s) == SQLITE_ROW) {
		char *more = sqlite3_mprintf("%s DROP TRIGGER %s;", all, sqlite3_column_text(s, 0));

		sqlite3_free(all);
		all = more;
	}
	(void)sqlite3_finalize(s);
	run(db, all);
	sqlite3_free(all);
}

int64_t history_fill(const char *path, int64_t from, int64_t count, int days)
{
	struct store st = STORE_INIT;
	struct err e = { 0 };
	struct instant at = clock_instant(clock_now_ms() - (int64_t)days * 24 * 3600 * 1000);
	sqlite3 *db = open_raw(path);
	int64_t rows = 0;

	run(db, "PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000");
	drop_rules(db);
	for (int64_t n = 0; n < count; n += CHUNK)
		rows += fill_chunk(db, from + n + 1, from + (n + CHUNK < count ? n + CHUNK : count),
		                   at.text);
	run(db, "PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
	(void)sqlite3_close(db);
	if (store_migrate_copy(&st, path, path, &e))
		die("%s", e.text);
	store_clear(&st);
	return rows;
}

/* ---- the present ---- */

static void must(bool ok, const struct err *e)
{
	if (!ok)
		die("history: %s",
		    e->kind == ERR_NONE ? "not the rows that were expected" : e->text);
}

static void name_question(struct sha256 *digest, char title[40], int64_t number)
{
	(void)snprintf(title, 40, "Change %lld", (long long)number);
	*digest = sha256_of(title, strlen(title));
}

/* Question number; returns its seq. */
static int64_t ask(struct history *h, int64_t number, struct err *e)
{
	char path[] = "src/new.c";
	struct touched file = {
		.path = path, .target = path, .action = "create", .hash = "new_file"
	};
	struct asker who = { .session_seq = h->session,
		             .machine = "h",
		             .workspace_root = "/home/ann/project" };
	struct question q = { .kind = REQUEST_KIND_CLEARANCE,
		              .body = "int x;\n",
		              .body_length = 7,
		              .file_path = path,
		              .risk_level = "low",
		              .original_hash = "new_file",
		              .elapsed_seconds = -1,
		              .actions_taken = -1,
		              .files = &file,
		              .file_count = 1,
		              .timeout_ms = 3600000 };
	struct sha256 digest;
	char title[40];
	bool open = false;
	int64_t seq;

	name_question(&digest, title, number);
	q.digest = digest.text;
	q.title = title;
	seq = request_ask(&h->store, &who, &q, &open, e);
	must(seq > 0 && open, e);
	return seq;
}

static void call(struct history *h, int64_t request, int64_t number, struct err *e)
{
	struct instant until = clock_instant(clock_now_ms() + 240000);
	char rpc_id[24];

	(void)snprintf(rpc_id, sizeof(rpc_id), "%lld", (long long)number);
	const struct tool_call_insert_waiting_args args = { .connection = h->connection,
		                                            .session = h->session,
		                                            .rpc_id = rpc_id,
		                                            .era = TOOL_CALL_ERA_MODERN,
		                                            .tool = "check_clearance",
		                                            .arguments = "{}",
		                                            .digest = "",
		                                            .request = request,
		                                            .wait_until = until.text };
	must(sql_tool_call_insert_waiting(&h->store, &args, e) > 0, e);
}

/* Begins and ends an operation that writes. */
static int64_t begin(struct history *h, struct err *e)
{
	int64_t start = now_ns();

	must(store_begin(&h->store, e) == 0, e);
	return start;
}

static void commit(struct history *h, enum history_operation o, int64_t start, int64_t began,
                   struct err *e)
{
	h->work_ns[o] = now_ns() - began;
	must(store_commit(&h->store, e) == 0, e);
	h->all_ns[o] = now_ns() - start;
}

static int64_t do_insert(struct history *h, struct err *e)
{
	int64_t start = begin(h, e), began = now_ns();
	int64_t request = ask(h, ++h->number, e);

	call(h, request, h->number, e);
	commit(h, HISTORY_INSERT, start, began, e);
	return request;
}

static void do_attach(struct history *h, int64_t wanted, struct err *e)
{
	int64_t start = begin(h, e), began = now_ns();
	int64_t request = ask(h, h->number, e);

	must(request == wanted, e);
	call(h, request, -h->number, e);
	commit(h, HISTORY_ATTACH, start, began, e);
}

static int count_rows(struct row *row, struct err *e)
{
	int got, count = 0;

	while ((got = row_next(row, e)) > 0)
		count++;
	must(got == 0, e);
	return count;
}

static void do_inbox(struct history *h, struct err *e)
{
	int64_t start = now_ns();
	OWNED(inbox_list_row) struct inbox_list_row row = { 0 };

	sql_inbox_list(&h->store, 0, &row);
	must(count_rows(&row.row, e) == OPEN + 1, e);
	h->work_ns[HISTORY_INBOX] = h->all_ns[HISTORY_INBOX] = now_ns() - start;
}

static void take_id(int columns, const char *const *names, const char *const *values, void *arg)
{
	(void)columns;
	(void)names;
	(void)snprintf(arg, 80, "%s", values[0]);
}

static void do_decide(struct history *h, int64_t request, struct err *e)
{
	struct decision d = { .verdict = "approve", .source = "ctl" };
	struct decision_result result = { 0 };
	char sql[100], id[80];
	int64_t start, began;

	(void)snprintf(sql, sizeof(sql), "SELECT id FROM request WHERE seq = %lld",
	               (long long)request);
	must(store_query(&h->store, sql, take_id, id, e) == 0, e);
	d.request_id = id;
	start = begin(h, e);
	began = now_ns();
	must(decision_insert(&h->store, &d, &result, e) == 0, e);
	commit(h, HISTORY_DECIDE, start, began, e);
	must(decision_check(&result, e) == 0, e);
	decision_result_clear(&result);
}

static void order(struct history *h, int64_t request, struct err *e)
{
	(void)begin(h, e);
	must(sql_apply_insert(&h->store, request, "h", false, e) > 0 &&
	         store_commit(&h->store, e) == 0,
	     e);
}

static void settle(struct history *h, int64_t apply, struct err *e)
{
	const struct apply_failed_args args = { .state = APPLY_STATE_REFUSED,
		                                .code = "patch_conflict",
		                                .why = "of the bench",
		                                .seq = apply,
		                                .claim = 1 };

	(void)begin(h, e);
	must(sql_apply_failed(&h->store, &args, e) == 1 && store_commit(&h->store, e) == 0, e);
}

static void do_claim(struct history *h, struct err *e)
{
	int64_t start = begin(h, e), began = now_ns(), apply;
	OWNED(apply_next_row) struct apply_next_row next = { 0 };
	struct apply_claim_row claim = { 0 };

	must(sql_apply_next(&h->store, "h", 0, "9999-12-31T23:59:59.999Z", false, &next, e) == 1,
	     e);
	apply = next.seq;
	must(sql_apply_claim(&h->store, "w", apply, 0, &claim, e) == 1, e);
	commit(h, HISTORY_CLAIM, start, began, e);
	settle(h, apply, e);
}

static void do_events(struct history *h, struct err *e)
{
	OWNED(timeline_since_row) struct timeline_since_row row = { 0 };
	int64_t start = now_ns(), after = sql_event_nth_last(&h->store, LAST_EVENTS, e);

	must(after >= 0, e);
	sql_timeline_since(&h->store, after, 2 * LAST_EVENTS, &row);
	must(count_rows(&row.row, e) == LAST_EVENTS, e);
	h->work_ns[HISTORY_EVENTS] = h->all_ns[HISTORY_EVENTS] = now_ns() - start;
}

static void do_seal(struct history *h, struct err *e)
{
	int64_t start = now_ns();

	must(audit_seal(&h->store, e) >= 0, e);
	h->work_ns[HISTORY_SEAL] = h->all_ns[HISTORY_SEAL] = now_ns() - start;
}

void history_turn(struct history *h)
{
	struct err e = { 0 };
	int64_t request = do_insert(h, &e);

	do_attach(h, request, &e);
	do_inbox(h, &e);
	do_decide(h, request, &e);
	order(h, request, &e);
	do_claim(h, &e);
	do_events(h, &e);
	do_seal(h, &e);
}

void history_open(struct history *h, const char *path)
{
	struct err e = { 0 };

	*h = (struct history){ .store = STORE_INIT, .number = now_ns() / 1000, .id = id_new() };
	must(store_open(&h->store, path, NULL, &e) == 0, &e);
	(void)begin(h, &e);
	const struct session_insert_args session = { .id = h->id.text,
		                                     .machine = "h",
		                                     .workspace = "/home/ann/project",
		                                     .client = "agent" };
	const struct connection_insert_args connection = { .key = h->id.text,
		                                           .machine = "h",
		                                           .transport = CONNECTION_TRANSPORT_HTTP,
		                                           .version = "2025-11-25",
		                                           .identity = "{}" };
	h->session = sql_session_insert(&h->store, &session, &e);
	h->connection = sql_connection_insert(&h->store, &connection, &e);
	must(h->session > 0 && h->connection > 0, &e);
	for (int i = 0; i < OPEN; i++)
		(void)ask(h, ++h->number, &e);
	must(store_commit(&h->store, &e) == 0, &e);
}

void history_close(struct history *h)
{
	struct command stop = { .verb = "stop", .session_id = h->id.text, .source = "ctl" };
	struct command_result result = { 0 };
	struct err e = { 0 };

	(void)begin(h, &e);
	must(command_insert(&h->store, &stop, &result, &e) == 0 &&
	         store_commit(&h->store, &e) == 0 && command_check(&result, &e) == 0,
	     &e);
	command_result_clear(&result);
	store_clear(&h->store);
}
