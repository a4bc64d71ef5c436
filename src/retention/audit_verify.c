#include "audit_verify.h"

#include "clock.h"
#include "io.h"
#include "json.h"
#include "sql/audit.h"
#include "sql/purge.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	PAGE = 500, /* events read from the database at a time */
	DAY_MS = 24 * 60 * 60 * 1000, /* clocks may step, retention counts whole days */
	TRIES = 5, /* attempts on a database that retention cuts at the same time */
};

/* The source of records. Both kinds can be walked any number of times. */
struct source {
	struct store *store; /* NULL: the source is the file */
	FILE *file;
	struct audit_start start;
	struct audit_end end; /* of the file */
	bool has_end;
	int64_t line; /* of the file, the last one read */
};

/* Called for each record, with r->prev set; nonzero ends the walk. r NULL: an invalid line. */
typedef int (*visitor)(void *arg, struct audit_record *r);

/* ---- the database ---- */

static int walk_page(struct source *in, int64_t after, int64_t end, struct audit_record *r,
                     visitor visit, void *arg, struct err *e)
{
	OWNED(audit_event_row) struct audit_event_row row = { 0 };
	int got;

	sql_audit_between(in->store, after, end, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		struct sha256 prev = r->has_seal ? r->hash : r->prev;

		audit_record_read(r, &row);
		r->prev = prev;
		if (!r->has_event && r->seq == in->start.after)
			continue; /* the end of what was cut */
		if (visit(arg, r))
			return 1;
	}
	return got;
}

static int walk_store(struct source *in, visitor visit, void *arg, struct err *e)
{
	OWNED(audit_record) struct audit_record r = { 0 };
	int64_t after = 0, end;
	int done = 0;

	r.prev = in->start.prev;
	while (done == 0 && (end = sql_seal_after(in->store, after, PAGE, e)) > 0) {
		done = walk_page(in, after, end, &r, visit, arg, e);
		after = end;
	}
	return done < 0 || (done == 0 && end < 0) ? -1 : 0;
}

static int find_start(struct source *in, struct err *e)
{
	OWNED(seal_row) struct seal_row seal = { 0 };
	int got = sql_seal_first(in->store, &seal, e);

	in->start = (struct audit_start){ 0, AUDIT_BEGIN };
	if (got > 0 && seal.is_cut) {
		in->start.after = seal.seq;
		(void)snprintf(in->start.prev.text, sizeof(in->start.prev.text), "%s", seal.hash);
	}
	return got < 0 ? -1 : 0;
}

/* ---- an export ---- */

static int walk_file(struct source *in, visitor visit, void *arg, struct err *e)
{
	OWNED(audit_record) struct audit_record r = { 0 };
	OWNED(char_ptr) char *line = NULL;
	size_t capacity = 0;
	int stopped = 0;

	rewind(in->file);
	in->has_end = false;
	in->line = 0;
	while (!stopped && getline(&line, &capacity, in->file) > 0) {
		in->line++;
		if (in->line == 1) {
			if (!audit_start_parse(&in->start, line))
				return err_set(e, ERR_INPUT, "is not an export of the audit");
			continue;
		}
		if (!in->has_end && audit_record_parse(&r, line))
			stopped = visit(arg, &r);
		else if (!in->has_end && audit_end_parse(&in->end, line))
			in->has_end = true;
		else
			stopped = visit(arg, NULL);
	}
	if (ferror(in->file))
		return err_errno(e, ERR_INPUT, "cannot be read");
	return in->line == 0 ? err_set(e, ERR_INPUT, "is not an export of the audit") : 0;
}

static int walk(struct source *in, visitor visit, void *arg, struct err *e)
{
	return in->store ? walk_store(in, visit, arg, e) : walk_file(in, visit, arg, e);
}

/* ---- the chain ---- */

struct chain {
	const struct source *in;
	const struct audit_kept *kept;
	struct audit_report *report;
	int64_t place; /* of the current record, from 1 */
	bool own; /* of the faulty record: it carries its own seal */
	struct sha256 prev, hash; /* of the faulty record */
	bool kept_seen, cut_told;
	int64_t cut_seq, cut_ms; /* of the last event about a cut; 0: none */
};

static int fault(struct chain *c, enum audit_fault what, int64_t seq)
{
	c->report->fault = what;
	c->report->seq = seq;
	c->report->line = c->in->store ? 0 : c->in->line;
	return 1;
}

/* An event about a cut: when, up to which event, and how old the deleted events were. */
static int check_cut(struct chain *c, int64_t seq, const char *at, const cJSON *detail)
{
	const char *until = json_text(detail, "until");
	const char *file = json_text(detail, "file");
	const cJSON *upto = cJSON_GetObjectItemCaseSensitive(detail, "upto");
	int64_t when = clock_parse(at), youngest = until ? clock_parse(until) : -1;

	if (cJSON_IsNumber(upto) && upto->valuedouble >= (double)c->in->start.after)
		c->cut_told = true;
	str_addf(&c->report->cuts, "cut off up to event %.0f of %s, at %s%s%s\n",
	         cJSON_IsNumber(upto) ? upto->valuedouble : 0, until ? until : "?", at,
	         file ? ", exported to " : "", file ? file : "");
	c->cut_seq = seq;
	c->cut_ms = when;
	if (!c->report->cut_days)
		return 0;
	if (when > clock_now_ms() + DAY_MS)
		return fault(c, AUDIT_CUT_AHEAD, seq);
	return youngest < 0 || youngest > when - c->report->cut_days * DAY_MS
	           ? fault(c, AUDIT_CUT_YOUNG, seq)
	           : 0;
}

/* Nonzero: the event is at fault because of the cut that it records; or the previous one is, dated
 * later than this one. */
static int check_event(struct chain *c, const struct audit_record *r)
{
	const char *at = str_text(&r->values[AUDIT_AT]);
	OWNED(cJSON_ptr) cJSON *detail = NULL;

	if (c->report->cut_days && c->cut_seq && clock_parse(at) < c->cut_ms - DAY_MS)
		return fault(c, AUDIT_CUT_AHEAD, c->cut_seq);
	c->cut_seq = 0;
	if (strcmp(str_text(&r->values[AUDIT_KIND]), "timeline.cut") != 0)
		return 0;
	detail = cJSON_Parse(str_text(&r->values[AUDIT_DETAIL]));
	return check_cut(c, r->seq, at, detail);
}

/* Numbers are given in order, and what is rolled back takes none: only a restore skips some. */
static bool is_gap(const struct chain *c, const struct audit_record *r)
{
	return c->in->store && r->seq != c->report->last + 1 &&
	       strcmp(str_text(&r->values[AUDIT_KIND]), "database.restored") != 0;
}

static int check(void *arg, struct audit_record *r)
{
	struct chain *c = arg;
	struct audit_report *report = c->report;
	struct sha256 hash;
	bool link;

	c->place++;
	if (!r)
		return fault(c, AUDIT_CHANGED, 0);
	if (!r->has_event || !r->has_seal)
		return fault(c, r->has_event ? AUDIT_INSERTED : AUDIT_MISSING, r->seq);
	hash = audit_hash(r, &r->prev, r->seq);
	c->own = audit_is_same(&hash, &r->hash);
	link = audit_is_same(&r->prev, &report->head);
	if (!c->own || !link || r->seq <= report->last) {
		c->prev = r->prev;
		c->hash = r->hash;
		return fault(c, AUDIT_CHANGED, r->seq); /* until more is known */
	}
	if (is_gap(c, r))
		return fault(c, AUDIT_MISSING, r->seq);
	if (r->seq == c->kept->seq) {
		if (!audit_is_same(&r->hash, &c->kept->hash))
			return fault(c, AUDIT_OTHER_HEAD, r->seq);
		c->kept_seen = true;
	}
	if (check_event(c, r))
		return 1;
	report->first = report->first ? report->first : r->seq;
	report->last = r->seq;
	report->head = r->hash;
	report->count++;
	return 0;
}

/* ---- the fault of a record ---- */

struct search {
	const struct chain *c;
	int64_t place;
	int64_t named; /* place of the record whose seal the faulty one follows */
	int64_t behind_named; /* seq of the record after that */
	bool is_followed; /* another one, further on, follows the last intact one */
	bool is_moved; /* the event that was sealed here is elsewhere */
};

static int seek(void *arg, struct audit_record *q)
{
	struct search *f = arg;
	const struct chain *c = f->c;
	const struct audit_report *report = c->report;
	struct sha256 hash;

	f->place++;
	if (!q || !q->has_event)
		return 0;
	if (f->named && f->place == f->named + 1)
		f->behind_named = q->seq;
	if (!f->named && audit_is_same(&q->hash, &c->prev))
		f->named = f->place;
	if (f->place == c->place)
		return 0;
	hash = audit_hash(q, &report->head, report->seq);
	f->is_moved |= audit_is_same(&hash, &c->hash);
	if (f->place > c->place && audit_is_same(&q->prev, &report->head)) {
		hash = audit_hash(q, &q->prev, q->seq);
		f->is_followed |= audit_is_same(&hash, &q->hash);
	}
	return 0;
}

/* The record carries its own seal, but does not follow the last intact one. */
static void judge_place(const struct search *f, struct audit_report *report)
{
	if (f->named > f->c->place) {
		report->fault = AUDIT_REORDERED;
	} else if (f->named) {
		report->fault = AUDIT_INSERTED;
		report->seq = f->behind_named;
		report->line = f->named + 2; /* after the first line */
	} else {
		report->fault = f->is_followed ? AUDIT_INSERTED : AUDIT_MISSING;
	}
}

static int judge(struct source *in, const struct chain *c, struct audit_report *report,
                 struct err *e)
{
	struct search f = { .c = c };
	int64_t line = report->line;

	if (walk(in, seek, &f, e))
		return -1;
	report->line = line;
	if (c->own && !in->store)
		judge_place(&f, report);
	else if (!in->store && f.is_followed)
		report->fault = AUDIT_INSERTED;
	else if (f.is_moved)
		report->fault = AUDIT_REORDERED;
	else if (in->store && report->last && report->seq > report->last + 1)
		report->fault = AUDIT_MISSING;
	return 0;
}

/* ---- both ends ---- */

/* Events after the last seal: how many, and whether one of them records the cut. */
static int walk_tail(struct source *in, struct chain *c, int64_t *ret_last, struct err *e)
{
	OWNED(audit_record) struct audit_record r = { 0 };
	OWNED(audit_event_row) struct audit_event_row row = { 0 };
	int64_t after = c->report->last > in->start.after ? c->report->last : in->start.after;
	int got, rows;

	*ret_last = after;
	do {
		sql_event_after(in->store, *ret_last, PAGE, &row);
		for (rows = 0; (got = row_next(&row.row, e)) > 0; rows++) {
			audit_record_read(&r, &row);
			*ret_last = r.seq;
			c->report->unsealed++;
			if (c->report->fault == AUDIT_WHOLE)
				(void)check_event(c, &r);
		}
	} while (got == 0 && rows > 0);
	return got;
}

static int check_store_ends(struct source *in, struct chain *c, struct err *e)
{
	int64_t last, number;

	if (walk_tail(in, c, &last, e))
		return -1;
	if (c->report->fault != AUDIT_WHOLE)
		return 0;
	if (in->start.after && !c->cut_told)
		return fault(c, AUDIT_CUT_OFF, in->start.after);
	number = sql_event_number(in->store, e);
	if (number < 0)
		return -1;
	if (number > last) { /* or somebody has written since: is it there now? */
		int64_t before = last;

		c->report->unsealed = 0;
		if (walk_tail(in, c, &last, e))
			return -1;
		if (last == before)
			(void)fault(c, AUDIT_CUT_OFF, last + 1);
	}
	return 0;
}

static void check_file_end(struct source *in, struct chain *c)
{
	const struct audit_report *report = c->report;

	if (!in->has_end || in->end.count != report->count ||
	    !audit_is_same(&in->end.hash, &report->head))
		(void)fault(c, AUDIT_CUT_OFF, report->last + 1);
}

static int verify(struct source *in, const struct audit_kept *kept, struct audit_report *ret,
                  struct err *e)
{
	struct chain c = { .in = in, .kept = kept, .report = ret };

	str_clear(&ret->cuts);
	*ret = (struct audit_report){ .head = in->start.prev,
		                      .last = in->start.after,
		                      .cut_days = ret->cut_days };
	if (walk(in, check, &c, e))
		return -1;
	if (ret->fault == AUDIT_CHANGED && ret->seq)
		return judge(in, &c, ret, e);
	if (ret->fault == AUDIT_WHOLE && kept->seq && !c.kept_seen &&
	    (kept->seq != in->start.after || !audit_is_same(&kept->hash, &in->start.prev)))
		return fault(&c, AUDIT_OTHER_HEAD, kept->seq), 0;
	if (ret->fault != AUDIT_WHOLE)
		return 0;
	if (in->store)
		return check_store_ends(in, &c, e) < 0 ? -1 : 0;
	check_file_end(in, &c);
	return 0;
}

int audit_verify_store(struct store *st, const struct audit_kept *kept, int64_t cut_days,
                       struct audit_report *ret, struct err *e)
{
	struct source in = { .store = st };

	ret->cut_days = cut_days;

	for (int i = 0; i < TRIES; i++) {
		struct source now = { .store = st };

		if (find_start(&in, e) || verify(&in, kept, ret, e) || find_start(&now, e))
			return -1;
		if (ret->fault == AUDIT_WHOLE || now.start.after == in.start.after)
			break;
	}
	return 0;
}

static int read_start(struct source *in, struct err *e)
{
	OWNED(char_ptr) char *line = NULL;
	size_t capacity = 0;

	if (getline(&line, &capacity, in->file) <= 0 || !audit_start_parse(&in->start, line))
		return err_set(e, ERR_INPUT, "is not an export of the audit");
	return 0;
}

int audit_verify_file(const char *path, const struct audit_kept *kept, struct audit_report *ret,
                      struct err *e)
{
	struct source in = { .file = NULL };
	struct stat about;
	int result;

	if (stat(path, &about) == 0 && io_special(about.st_mode))
		return err_set(e, ERR_INPUT, "%s is %s", path, io_special(about.st_mode));
	in.file = fopen(path, "re");
	if (!in.file)
		return err_errno(e, ERR_INPUT, "cannot open %s", path);
	result = read_start(&in, e) || verify(&in, kept, ret, e) ? -1 : 0;
	(void)fclose(in.file);
	return result ? err_prefix(e, "%s", path) : 0;
}

/* ---- in words ---- */

static const char *const WORDS[] = {
	[AUDIT_WHOLE] = "",
	[AUDIT_CHANGED] = "changed: it does not match its seal",
	[AUDIT_MISSING] = "missing: it, or what stood before it, is gone",
	[AUDIT_REORDERED] = "reordered: it stands in the place of another one",
	[AUDIT_INSERTED] = "inserted: it was not there when its neighbours were sealed",
	[AUDIT_CUT_OFF] = "missing: it was there, and nothing tells that retention cut it off",
	[AUDIT_CUT_YOUNG] = "records a cut of events that were too young",
	[AUDIT_CUT_AHEAD] = "tells of a cut that is dated ahead",
	[AUDIT_OTHER_HEAD] = "changed: its seal is not the one that you keep, or is not there",
};

void audit_report_clear(struct audit_report *report)
{
	str_clear(&report->cuts);
}

void audit_verify_tell(const struct audit_report *report, struct str *out)
{
	str_add(out, str_text(&report->cuts));
	if (report->fault == AUDIT_WHOLE) {
		str_addf(out, "%" PRId64 " events match their seals", report->count);
		if (report->count)
			str_addf(out, ", %" PRId64 " to %" PRId64, report->first, report->last);
		if (report->unsealed)
			str_addf(out, "; %" PRId64 " not sealed yet", report->unsealed);
		str_addf(out, "; head %" PRId64 ":%s", report->last, report->head.text);
		return;
	}
	if (report->line)
		str_addf(out, "line %" PRId64 ": ", report->line);
	if (report->seq)
		str_addf(out, "event %" PRId64 " ", report->seq);
	str_add(out, WORDS[report->fault]);
	if (report->fault == AUDIT_CUT_YOUNG)
		str_addf(out,
		         ": it may be cut off after %" PRId64
		         " days (setting audit_retention_days, unless that was raised since)",
		         report->cut_days);
	if (report->count)
		str_addf(out, "; whole up to event %" PRId64, report->last);
}
