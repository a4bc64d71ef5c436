#include "audit_cut.h"

#include "setting.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCH = 200 }; /* events in one transaction */

enum step { STEP_FIND, STEP_EXPORT, STEP_SAY, STEP_DELETE };

int audit_cut_dir(struct store *st, struct str *out, struct err *e)
{
	int got = setting_get(st, "retention_export_dir", out, e);

	return got <= 0 ? got : out->length > 0;
}

void audit_cut_begin(struct audit_cut *c, struct store *st, struct instant cutoff)
{
	audit_cut_clear(c);
	c->store = st;
	(void)snprintf(c->cutoff.text, sizeof(c->cutoff.text), "%.10sT00:00:00.000Z", cutoff.text);
}

static void close_export(struct audit_cut *c)
{
	if (c->out)
		(void)fclose(c->out);
	c->out = NULL;
	staging_clear(&c->nest);
}

void audit_cut_clear(struct audit_cut *c)
{
	close_export(c);
	str_clear(&c->file);
	*c = (struct audit_cut)AUDIT_CUT_INIT;
}

/* ---- what may go ---- */

/* The one number of a statement's row, 0 without one, -1 on error. */
static int64_t one_number(stmt *s, struct err *e)
{
	int got = stmt_row(s, e);
	int64_t n = got > 0 ? col_int(s, 0) : 0;

	stmt_reset(s);
	return got < 0 ? -1 : n;
}

/* The last sealed event of before the cutoff becomes upto: 1, 0 there is none, -1. */
static int find_end(struct audit_cut *c, int64_t first, struct err *e)
{
	stmt *s = store_stmt(c->store, SQL_EVENT_SINCE);
	int64_t young;
	int got;

	bind_text(s, ":since", c->cutoff.text);
	young = one_number(s, e);
	if (young < 0)
		return -1;
	s = store_stmt(c->store, SQL_SEAL_BEFORE);
	bind_int(s, ":seq", young ? young : INT64_MAX);
	got = stmt_row(s, e);
	if (got > 0) {
		c->upto = col_int(s, SEAL_BEFORE_SEQ);
		(void)snprintf(c->hash.text, sizeof(c->hash.text), "%s",
		               col_text(s, SEAL_BEFORE_HASH));
	}
	stmt_reset(s);
	return got <= 0 ? got : c->upto >= first;
}

/* 1, 0 nothing may go, -1. */
static int find(struct audit_cut *c, struct err *e)
{
	stmt *s = store_stmt(c->store, SQL_EVENT_FIRST);
	int got = stmt_row(s, e);
	int64_t first = got > 0 ? col_int(s, EVENT_FIRST_SEQ) : 0;
	bool old = got > 0 && strcmp(col_text(s, EVENT_FIRST_AT), c->cutoff.text) < 0;
	int64_t said;

	stmt_reset(s);
	if (got <= 0)
		return got;
	said = one_number(store_stmt(c->store, SQL_AUDIT_CUT_LAST), e);
	if (said < 0)
		return -1;
	if (said >= first) { /* somebody was killed before all of that was deleted */
		c->upto = said;
		c->step = STEP_DELETE;
		return 1;
	}
	got = old ? find_end(c, first, e) : 0;
	c->step = STEP_EXPORT;
	return got;
}

/* ---- the export ---- */

/* "<dir>/audit-2026-02-08-<seal>.jsonl": the day before the cutoff, and the last seal, which
 * stands for all that is in it. 1 it is to be made, 0 it is there or nobody wants it, -1. */
static int name_export(struct audit_cut *c, struct err *e)
{
	struct instant day = clock_instant(clock_parse(c->cutoff.text) - 1);
	struct stat about;
	int wanted;

	str_reset(&c->file);
	wanted = audit_cut_dir(c->store, &c->file, e);
	if (wanted <= 0)
		return wanted;
	str_addf(&c->file, "/audit-%.10s-%.16s.jsonl", day.text, c->hash.text);
	return lstat(c->file.bytes, &about) != 0;
}

/* 1 there is more, 0 it is on disk under its name, -1. */
static int export_some(struct audit_cut *c, struct err *e)
{
	int did;

	if (!c->out) {
		int wanted = name_export(c, e);

		if (wanted <= 0)
			return wanted;
		if (staging_open(&c->nest, c->file.bytes, e))
			return -1;
		c->out = staging_create(&c->nest, e);
		return !c->out || audit_export_begin(&c->x, c->store, c->out, 0, c->upto, e) ? -1
		                                                                             : 1;
	}
	did = audit_export_some(&c->x, e);
	if (did != 0)
		return did;
	did = fclose(c->out);
	c->out = NULL;
	if (did)
		return err_errno(e, ERR_AGAIN, "cannot write %s", c->file.bytes);
	did = staging_publish(&c->nest, c->file.bytes, e);
	staging_clear(&c->nest);
	return did;
}

/* As export_some, but what hinders it (a disk that is full, a folder that is gone, a timeline that
 * was tampered with) hinders only the cut. */
static int try_export(struct audit_cut *c, struct err *e)
{
	struct err why = ERR_INIT;
	int did = export_some(c, &why);

	if (did > 0)
		return 1;
	if (did == 0) {
		c->step = STEP_SAY;
		return 1;
	}
	close_export(c);
	if (store_is_broken(c->store)) {
		*e = why;
		return -1;
	}
	c->stays = why;
	(void)err_prefix(&c->stays, "the timeline is not cut, because it cannot be exported");
	return 0;
}

/* ---- the cut ---- */

static int say(struct audit_cut *c, struct err *e)
{
	stmt *s;
	int did;

	if (store_begin(c->store, e))
		return -1;
	s = store_stmt(c->store, SQL_AUDIT_CUT_INSERT);
	bind_int(s, ":upto", c->upto);
	bind_text(s, ":hash", c->hash.text);
	bind_text(s, ":file", c->file.length ? c->file.bytes : NULL);
	did = stmt_run(s, e);
	if (did >= 0) {
		s = store_stmt(c->store, SQL_AUDIT_CUT_FORGET);
		bind_int(s, ":upto", c->upto);
		did = stmt_run(s, e);
	}
	if (did < 0) {
		store_rollback(c->store);
		return -1;
	}
	c->step = STEP_DELETE;
	return store_commit(c->store, e) ? -1 : 1;
}

static int64_t delete_upto(struct audit_cut *c, int64_t end, struct err *e)
{
	stmt *s = store_stmt(c->store, SQL_EVENT_CUT);
	int64_t events;

	bind_int(s, ":upto", end);
	events = stmt_run(s, e);
	if (events < 0)
		return -1;
	s = store_stmt(c->store, SQL_SEAL_CUT);
	bind_int(s, ":upto", end);
	return stmt_run(s, e) < 0 ? -1 : events;
}

static int delete_some(struct audit_cut *c, struct err *e)
{
	stmt *s = store_stmt(c->store, SQL_EVENT_CUT_END);
	int64_t end, events;

	bind_int(s, ":upto", c->upto);
	bind_int(s, ":limit", BATCH);
	end = one_number(s, e);
	if (end < 0)
		return -1;
	if (end == 0) { /* and what has become old behind a cut of before */
		c->step = STEP_FIND;
		return find(c, e);
	}
	if (store_begin(c->store, e))
		return -1;
	events = delete_upto(c, end, e);
	if (events < 0) {
		store_rollback(c->store);
		return -1;
	}
	c->events += events;
	return store_commit(c->store, e) ? -1 : 1;
}

int audit_cut_some(struct audit_cut *c, struct err *e)
{
	switch ((enum step)c->step) {
	case STEP_FIND:
		return find(c, e);
	case STEP_EXPORT:
		return try_export(c, e);
	case STEP_SAY:
		return say(c, e);
	case STEP_DELETE:
	default:
		return delete_some(c, e);
	}
}
