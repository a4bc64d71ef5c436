/* What the supervisor writes: settings, operator and system rows at the start; interruptions at the
 * stop and after a restore; the deaths of workers; what Slack is told of a stop and a start. Each
 * is one transaction. */
#include "supervisor.h"

#include "clock.h"
#include "instance.h"
#include "log.h"
#include "setting.h"
#include "str.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const CHILD_NAMES[CHILD_COUNT] = {
	[CHILD_WATCHDOG] = "watchdog",         [CHILD_APPLIER] = "applier",
	[CHILD_RETENTION] = "retention",       [CHILD_FRONT] = "mcp-front",
	[CHILD_SLACK_POSTER] = "slack-poster", [CHILD_SLACK_LISTENER] = "slack-listener",
};

enum { TELL_MS = 100 }; /* so long a stop waits for its turn to write that it is one */

/* ---- told in Slack ---- */

struct tally {
	int sessions, clearances, prompts, standbys;
};

/* which: slack_desk_at_stop or slack_desk_at_start, which have the same columns. */
static int count_desk(struct supervisor *s, enum sql which, struct tally *t, struct err *e)
{
	stmt *counts = store_stmt(&s->store, which);
	int got;

	bind_text(counts, ":host", s->host);
	got = stmt_row(counts, e);
	if (got > 0)
		*t = (struct tally){
			.sessions = (int)col_int(counts, SLACK_DESK_AT_STOP_SESSIONS),
			.clearances = (int)col_int(counts, SLACK_DESK_AT_STOP_CLEARANCES),
			.prompts = (int)col_int(counts, SLACK_DESK_AT_STOP_PROMPTS),
			.standbys = (int)col_int(counts, SLACK_DESK_AT_STOP_STANDBYS),
		};
	stmt_reset(counts);
	return got < 0 ? -1 : 0;
}

_Static_assert((int)SLACK_DESK_AT_STOP_SESSIONS == (int)SLACK_DESK_AT_START_SESSIONS &&
                   (int)SLACK_DESK_AT_STOP_STANDBYS == (int)SLACK_DESK_AT_START_STANDBYS,
               "both statements have the same columns");

static bool has_questions(const struct tally *t)
{
	return t->clearances || t->prompts || t->standbys;
}

static int say(struct supervisor *s, const char *about, const struct str *text, struct err *e)
{
	stmt *notice = store_stmt(&s->store, SQL_SLACK_SAY_SERVER);

	bind_text(notice, ":about", about);
	bind_text(notice, ":text", str_text(text));
	return stmt_run(notice, e) < 0 ? -1 : 0;
}

static int say_stop(struct supervisor *s, struct err *e)
{
	OWNED(str) struct str text = STR_INIT;
	struct tally t = { 0 };

	if (count_desk(s, SQL_SLACK_DESK_AT_STOP, &t, e))
		return -1;
	if (!t.sessions && !has_questions(&t))
		return 0;
	str_addf(&text, "⚠️ Server shutting down. %d session(s), %d approval(s), %d prompt(s)",
	         t.sessions, t.clearances, t.prompts);
	if (t.standbys)
		str_addf(&text, ", %d standby(s)", t.standbys);
	str_add(&text, " interrupted.");
	return say(s, "stop", &text, e);
}

/* What the last stop could not tell any more is not told now: this is. */
static int say_start(struct supervisor *s, struct err *e)
{
	OWNED(str) struct str text = STR_INIT;
	struct tally t = { 0 };

	if (stmt_run(store_stmt(&s->store, SQL_SLACK_DROP_SERVER), e) < 0 ||
	    stmt_run(store_stmt(&s->store, SQL_SLACK_DROP_SERVER_MESSAGES), e) < 0 ||
	    count_desk(s, SQL_SLACK_DESK_AT_START, &t, e))
		return -1;
	if (!has_questions(&t))
		return 0;
	str_addf(&text,
	         "🔄 Server restarted. Found %d interrupted session(s) with %d pending approval(s) "
	         "and %d pending prompt(s)",
	         t.sessions, t.clearances, t.prompts);
	if (t.standbys)
		str_addf(&text, ", %d standby(s)", t.standbys);
	str_add(&text, ". Answers count; agents can use `reboot` to resume.");
	return say(s, "start", &text, e);
}

int rows_tell_stop(struct supervisor *s, struct err *e)
{
	if (store_begin_within(&s->store, TELL_MS, e))
		return -1;
	if (say_stop(s, e)) {
		store_rollback(&s->store);
		return -1;
	}
	return store_commit(&s->store, e);
}

/* ---- at the start ---- */

struct names {
	char **items;
	size_t count;
};

static void names_add(struct names *n, const char *name)
{
	n->items = xrealloc(n->items, (n->count + 1) * sizeof(*n->items));
	n->items[n->count++] = xstrdup(name);
}

static void names_clear(struct names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct names){ 0 };
}

static bool names_have(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->items[i], name) == 0)
			return true;
	return false;
}

struct filling {
	struct store *st;
	struct names put; /* the settings of this program */
	bool failed;
	struct err *e;
};

static void put_one(const char *name, const char *value, const char *source, void *arg)
{
	struct filling *f = arg;

	names_add(&f->put, name);
	f->failed = f->failed || setting_put(f->st, name, value, source, f->e) != 0;
}

/* What older programs took from a config file and this one does not know. Rows that say what the
 * system or an operator decided are not settings of a file and stay. */
static int list_unknown(struct store *st, const struct names *known, struct names *unknown,
                        struct err *e)
{
	stmt *s = store_stmt(st, SQL_SETTING_LIST);
	int got;

	while ((got = stmt_row(s, e)) > 0) {
		const char *name = col_text(s, SETTING_LIST_NAME);
		const char *source = col_text(s, SETTING_LIST_SOURCE);

		if (strcmp(source, "system") != 0 && strcmp(source, "ctl") != 0 &&
		    strcmp(name, "mode") != 0 && !names_have(known, name))
			names_add(unknown, name);
	}
	stmt_reset(s);
	return got;
}

static int forget_unknown(struct store *st, const struct names *known, struct err *e)
{
	OWNED(names) struct names unknown = { 0 };

	if (list_unknown(st, known, &unknown, e))
		return -1;
	for (size_t i = 0; i < unknown.count; i++) {
		stmt *s = store_stmt(st, SQL_SETTING_FORGET);

		bind_text(s, ":name", unknown.items[i]);
		if (stmt_run(s, e) < 0)
			return -1;
	}
	return 0;
}

static int put_settings(struct supervisor *s, struct err *e)
{
	struct filling f = { .st = &s->store, .e = e };
	int failed;

	config_settings(&s->config, put_one, &f);
	failed = f.failed || forget_unknown(&s->store, &f.put, e);
	names_clear(&f.put);
	return failed ? -1 : 0;
}

/* Whether an operator has set the mode; it goes to out. */
static int mode_of_operator(struct store *st, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SETTING_LIST);
	int got;

	while ((got = stmt_row(s, e)) > 0)
		if (strcmp(col_text(s, SETTING_LIST_NAME), "mode") == 0 &&
		    strcmp(col_text(s, SETTING_LIST_SOURCE), "ctl") == 0)
			str_add(out, col_text(s, SETTING_LIST_VALUE));
	stmt_reset(s);
	return got;
}

/* What `ctl mode` said stays said, unless nobody could answer in it. Who gives Slack wants to be
 * asked there. */
static int put_mode(struct store *st, bool slack, struct err *e)
{
	OWNED(str) struct str mode = STR_INIT;

	if (mode_of_operator(st, &mode, e))
		return -1;
	if (mode.length && (slack || strcmp(mode.bytes, "local") == 0))
		return 0;
	if (mode.length)
		log_warn("mode %s needs Slack, which is not configured: new sessions are local",
		         mode.bytes);
	return setting_put(st, "mode", slack ? "remote" : "local", "default", e);
}

static int put_operator(struct store *st, struct err *e)
{
	const struct passwd *user = getpwuid(geteuid());
	char name[64], id[80];
	stmt *s;

	if (user)
		(void)snprintf(name, sizeof(name), "%s", user->pw_name);
	else
		(void)snprintf(name, sizeof(name), "%u", (unsigned)geteuid());
	(void)snprintf(id, sizeof(id), "local:%s", name);
	s = store_stmt(st, SQL_OPERATOR_ONLY_DEFAULT); /* first: there is one default at most */
	bind_text(s, ":id", id);
	if (stmt_run(s, e) < 0)
		return -1;
	s = store_stmt(st, SQL_OPERATOR_PUT);
	bind_text(s, ":id", id);
	bind_text(s, ":user_id", name);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int bury_all(struct supervisor *s, struct err *e)
{
	stmt *bury = store_stmt(&s->store, SQL_WORKER_BURY_ALL);

	bind_text(bury, ":host", s->host);
	return stmt_run(bury, e) < 0 ? -1 : 0;
}

/* Sessions that nobody can go on with count for no limit. */
static int interrupt_started(struct supervisor *s, struct err *e)
{
	stmt *started = store_stmt(&s->store, SQL_SESSION_INTERRUPT_STARTED);

	bind_text(started, ":host", s->host);
	return stmt_run(started, e) < 0 ? -1 : 0;
}

int rows_at_start(struct supervisor *s, bool slack, struct err *e)
{
	if (store_begin(&s->store, e))
		return -1;
	if (put_settings(s, e) ||
	    setting_put(&s->store, "system.build", INSTANCE_BUILD, "system", e) ||
	    setting_put(&s->store, "slack.configured", slack ? "true" : "false", "system", e) ||
	    put_mode(&s->store, slack, e) || put_operator(&s->store, e) ||
	    slack_operators_put(&s->store, slack ? &s->slack : NULL, e) || bury_all(s, e) ||
	    interrupt_started(s, e) || say_start(s, e)) {
		store_rollback(&s->store);
		return -1;
	}
	return store_commit(&s->store, e);
}

int rows_mode(struct supervisor *s, struct str *out, struct err *e)
{
	return setting_get(&s->store, "mode", out, e) < 0 ? -1 : 0;
}

/* ---- at the stop ---- */

struct pending {
	int64_t seq;
	int64_t deadline_ms; /* -1: waits for ever */
};

enum {
	PAGE = 500,
	NUMBER_GAP = 1000000, /* more than was given out between a backup and its restore */
};

/* The next page of what waits. Returns how many there are, -1 on error. */
static int read_page(struct store *st, const char *host, int64_t after, struct pending *page,
                     struct tally *t, struct err *e)
{
	stmt *list = store_stmt(st, SQL_REQUEST_PENDING);
	int got, count = 0;

	bind_text(list, ":host", host);
	bind_int(list, ":after", after);
	while (count < PAGE && (got = stmt_row(list, e)) > 0) {
		const char *kind = col_text(list, REQUEST_PENDING_KIND);

		t->clearances += strcmp(kind, "clearance") == 0 ||
		                 strcmp(kind, "permission") == 0 || strcmp(kind, "trust") == 0;
		t->prompts += strcmp(kind, "prompt") == 0;
		t->standbys += strcmp(kind, "standby") == 0;
		page[count++] = (struct pending){
			.seq = col_int(list, REQUEST_PENDING_SEQ),
			.deadline_ms = clock_parse(col_text(list, REQUEST_PENDING_DEADLINE_AT)),
		};
	}
	stmt_reset(list);
	return count < PAGE && got < 0 ? -1 : count;
}

static int interrupt_one(struct store *st, const struct pending *p, int64_t now_ms, struct err *e)
{
	stmt *interrupt = store_stmt(st, SQL_REQUEST_INTERRUPT);
	int64_t left = p->deadline_ms - now_ms;

	bind_int(interrupt, ":seq", p->seq);
	if (p->deadline_ms >= 0)
		bind_int(interrupt, ":remaining_ms", left > 0 ? left : 0);
	return stmt_run(interrupt, e) < 0 ? -1 : 0;
}

static int interrupt_questions(struct store *st, const char *host, int64_t now_ms, struct tally *t,
                               struct err *e)
{
	struct pending page[PAGE];
	int64_t after = 0;
	int count;

	do {
		count = read_page(st, host, after, page, t, e);
		for (int i = 0; i < count; i++)
			if (interrupt_one(st, &page[i], now_ms, e))
				return -1;
		if (count > 0)
			after = page[count - 1].seq;
	} while (count == PAGE);
	return count < 0 ? -1 : 0;
}

/* What waits on host, NULL: everywhere, is interrupted as of now_ms. */
static int interrupt_all(struct store *st, const char *host, int64_t now_ms, struct tally *t,
                         struct err *e)
{
	stmt *all;

	if (interrupt_questions(st, host, now_ms, t, e))
		return -1;
	all = store_stmt(st, SQL_SESSION_INTERRUPT_ALL);
	bind_text(all, ":host", host);
	t->sessions = stmt_run(all, e);
	return t->sessions < 0 ? -1 : 0;
}

int rows_at_stop(struct supervisor *s, bool interrupt, struct err *e)
{
	struct tally t = { 0 };

	if (store_begin(&s->store, e))
		return -1;
	if ((interrupt && interrupt_all(&s->store, s->host, clock_now_ms(), &t, e)) ||
	    bury_all(s, e)) {
		store_rollback(&s->store);
		return -1;
	}
	if (store_commit(&s->store, e))
		return -1;
	if (interrupt)
		log_info("stopping: %d session(s), %d approval(s), %d prompt(s), %d standby(s) "
		         "interrupted",
		         t.sessions, t.clearances, t.prompts, t.standbys);
	return 0;
}

/* ---- after a restore ---- */

/* When the system of this database was last heard of: then its deadlines stood still. Not later
 * than now. */
static int read_last_sign(struct store *st, struct instant *at, struct err *e)
{
	stmt *s = store_stmt(st, SQL_RESTORE_LAST_SIGN);
	int got = stmt_row(s, e);
	const char *text = got > 0 ? col_text(s, RESTORE_LAST_SIGN_AT) : NULL;

	(void)snprintf(at->text, sizeof(at->text), "%s", text ? text : "");
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static int64_t stood_still_ms(const struct instant *last_sign)
{
	int64_t now = clock_now_ms(), then = clock_parse(last_sign->text);

	return then < 0 || then > now ? now : then;
}

/* What was meant for the world outside may have happened since the backup, so nobody does it again
 * by himself. Rows of a Slack outbox that are queued or sending become doubtful here, once there is
 * one. */
static int park(struct store *st, struct rows_restored *r, struct err *e)
{
	if (stmt_run(store_stmt(st, SQL_RESTORE_DOUBT_SLACK), e) < 0 ||
	    stmt_run(store_stmt(st, SQL_RESTORE_TAKE_APPLY), e) < 0 ||
	    stmt_run(store_stmt(st, SQL_RESTORE_PARK_FILE_CHANGE), e) < 0)
		return -1;
	r->writes = stmt_run(store_stmt(st, SQL_RESTORE_PARK_APPLY), e);
	return r->writes < 0 ? -1 : 0;
}

static int note_restore(struct store *st, const struct rows_restored *r, struct err *e)
{
	stmt *s = store_stmt(st, SQL_RESTORE_SKIP_NUMBERS);

	bind_int(s, ":gap", NUMBER_GAP);
	if (stmt_run(s, e) < 0)
		return -1;
	s = store_stmt(st, SQL_RESTORE_EVENT);
	bind_text(s, ":last_sign", *r->last_sign.text ? r->last_sign.text : NULL);
	bind_int(s, ":writes", r->writes);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int rows_at_restore(struct store *st, struct rows_restored *ret, struct err *e)
{
	struct tally t = { 0 };

	*ret = (struct rows_restored){ 0 };
	if (store_begin(st, e))
		return -1;
	if (read_last_sign(st, &ret->last_sign, e) ||
	    interrupt_all(st, NULL, stood_still_ms(&ret->last_sign), &t, e) || park(st, ret, e) ||
	    note_restore(st, ret, e)) {
		store_rollback(st);
		return -1;
	}
	ret->sessions = t.sessions;
	ret->questions = t.clearances + t.prompts + t.standbys;
	return store_commit(st, e);
}

/* ---- workers ---- */

int rows_died(struct supervisor *s, pid_t pid, const char *detail, struct err *e)
{
	stmt *died;

	if (store_begin(&s->store, e))
		return -1;
	died = store_stmt(&s->store, SQL_WORKER_DIED);
	bind_text(died, ":host", s->host);
	bind_int(died, ":pid", pid);
	bind_text(died, ":detail", detail);
	if (stmt_run(died, e) < 0) {
		store_rollback(&s->store);
		return -1;
	}
	return store_commit(&s->store, e);
}

int rows_ready(struct supervisor *s, struct str *address, struct err *e)
{
	stmt *live = store_stmt(&s->store, SQL_WORKER_LIVE);
	int got;

	bind_text(live, ":host", s->host);
	while ((got = stmt_row(live, e)) > 0)
		for (int i = 0; i < CHILD_COUNT; i++) {
			const char *detail = col_text(live, WORKER_LIVE_DETAIL);

			if (strcmp(col_text(live, WORKER_LIVE_NAME), CHILD_NAMES[i]) != 0 ||
			    col_int(live, WORKER_LIVE_PID) != s->children[i].pid ||
			    strcmp(col_text(live, WORKER_LIVE_STATE), "ready") != 0)
				continue;
			s->children[i].ready = true;
			if (i == CHILD_FRONT && address && !address->length)
				str_add(address, detail ? detail : "");
		}
	stmt_reset(live);
	return got;
}
