#include "audit_cut.h"

#include "setting.h"
#include "sql/audit.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 200 }; /* events per transaction */

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
	staging_clear(&c->staging);
}

void audit_cut_clear(struct audit_cut *c)
{
	close_export(c);
	str_clear(&c->file);
	*c = (struct audit_cut)AUDIT_CUT_INIT;
}

/* ---- what may be cut ---- */

/* upto becomes the last sealed event before the cutoff: 1, 0 there is none, -1. */
static int find_end(struct audit_cut *c, struct err *e)
{
	OWNED(seal_row) struct seal_row seal = { 0 };
	int got = sql_seal_old(c->store, c->cutoff.text, &seal, e);

	if (got <= 0)
		return got;
	c->upto = seal.seq;
	(void)snprintf(c->hash.text, sizeof(c->hash.text), "%s", seal.hash);
	return 1;
}

/* 1, 0 nothing may be cut, -1. */
static int find(struct audit_cut *c, struct err *e)
{
	int64_t first = sql_event_first(c->store, e);
	int64_t said = first > 0 ? sql_audit_cut_last(c->store, e) : first;

	if (first <= 0 || said < 0)
		return first < 0 || said < 0 ? -1 : 0;
	if (said >= first) { /* a process was killed before all of that was deleted */
		c->upto = said;
		c->step = STEP_DELETE;
		return 1;
	}
	c->step = STEP_EXPORT;
	return find_end(c, e);
}

/* ---- the export ---- */

/* "<dir>/audit-2026-02-08-<seal>.jsonl": the day before the cutoff, and the last seal, which
 * identifies the contents. 1 to be made, 0 it exists or none is wanted, -1. */
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
	return lstat(c->file.bytes, &about) != 0 || !S_ISREG(about.st_mode) ||
	       about.st_uid != geteuid(); /* not ours: it is in the way, which is told */
}

/* 1 there is more, 0 it is on disk under its name, -1. */
static int export_some(struct audit_cut *c, struct err *e)
{
	int did;

	if (!c->out) {
		int wanted = name_export(c, e);

		if (wanted <= 0)
			return wanted;
		if (staging_open(&c->staging, c->file.bytes, e))
			return -1;
		c->out = staging_create(&c->staging, e);
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
	did = staging_publish(&c->staging, c->file.bytes, e);
	staging_clear(&c->staging);
	return did;
}

/* As export_some, but whatever prevents it (a full disk, a missing folder, a timeline that was
 * tampered with) prevents only the cut. */
static int try_export(struct audit_cut *c, struct err *e)
{
	struct err why = { 0 };
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
	const char *file = c->file.length ? c->file.bytes : NULL;

	if (store_begin(c->store, e) ||
	    store_end(c->store,
	              sql_audit_cut_insert(c->store, c->upto, c->hash.text, file, e) ||
	                  sql_audit_cut_forget(c->store, c->upto, e) < 0,
	              e))
		return -1;
	c->step = STEP_DELETE;
	return 1;
}

static int delete_some(struct audit_cut *c, struct err *e)
{
	int64_t end = sql_event_cut_end(c->store, c->upto, BATCH, e);
	int events;

	if (end < 0)
		return -1;
	if (end == 0) { /* and what has become old after an earlier cut */
		c->step = STEP_FIND;
		return find(c, e);
	}
	if (store_begin(c->store, e))
		return -1;
	events = sql_event_cut(c->store, end, e);
	if (store_end(c->store, events < 0 || sql_seal_cut(c->store, end, e), e))
		return -1;
	c->events += events;
	return 1;
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
