/* What the supervisor writes: settings, operator and system rows at the start; interruptions at the
 * stop and after a restore; the deaths of workers; what Slack is told of a stop and a start. Each
 * is one transaction. */
#include "supervisor.h"

#include "clock.h"
#include "instance.h"
#include "log.h"
#include "owner.h"
#include "setting.h"
#include "sql/agent_run.h"
#include "sql/request.h"
#include "sql/restore.h"
#include "sql/session.h"
#include "sql/setting.h"
#include "sql/slack_outbox.h"
#include "sql/worker.h"
#include "str.h"
#include "user_name.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const CHILD_NAMES[CHILD_COUNT] = {
	[CHILD_WATCHDOG] = "watchdog",
	[CHILD_FRONT] = "mcp-front",
	[CHILD_APPLIER] = "applier",
	[CHILD_READER] = "reader",
	[CHILD_RETENTION] = "retention",
	[CHILD_ARCHIVIST] = "archivist",
	[CHILD_COMMANDER] = "commander",
	[CHILD_SENTRY] = "sentry",
	[CHILD_DESK] = "desk",
	[CHILD_SLACK_POSTER] = "slack-poster",
	[CHILD_SLACK_LISTENER] = "slack-listener",
};

enum {
	TELL_MS = 100, /* so long a stop waits for its turn to write that it is one */
	STOP_MS = 9500, /* since it began, it waits so long for whoever holds the database */
	STOP_LEAST_MS = 250, /* and so long each time, when the workers took all of that */
};

int rows_begin(struct supervisor *s, struct err *e)
{
	int64_t left = s->stop_ms + STOP_MS - clock_monotonic_ms();

	if (!s->stopping)
		return store_begin(&s->store, e);
	return store_begin_within(&s->store, left > STOP_LEAST_MS ? (int)left : STOP_LEAST_MS, e);
}

/* ---- told in Slack ---- */

static struct rows_tally tally_of(const struct slack_desk_row *desk)
{
	return (struct rows_tally){ .sessions = (int)desk->sessions,
		                    .started = (int)desk->started,
		                    .clearances = (int)desk->clearances,
		                    .prompts = (int)desk->prompts,
		                    .standbys = (int)desk->standbys };
}

static bool has_questions(const struct rows_tally *t)
{
	return t->clearances || t->prompts || t->standbys;
}

static int say_stop(struct supervisor *s, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	struct slack_desk_row desk = { 0 };
	struct rows_tally t;

	if (sql_slack_desk_at_stop(&s->store, s->machine, false, &desk, e) < 0)
		return -1;
	t = tally_of(&desk);
	if (!t.sessions && !has_questions(&t))
		return 0;
	str_addf(&text, "⚠️ Server shutting down. %d session(s), %d approval(s), %d prompt(s)",
	         t.sessions, t.clearances, t.prompts);
	if (t.standbys)
		str_addf(&text, ", %d standby(s)", t.standbys);
	str_add(&text, " interrupted.");
	return sql_slack_say_server(&s->store, str_text(&text), "stop", e);
}

/* How many words of stops and starts are not told any more. Nearly always there is none, and to
 * look costs a tenth of what it costs to prepare the statements with all that follows from them. */
static int drop_untold(struct store *st, struct err *e)
{
	int waits = sql_slack_has_server(st, e);
	int dropped = waits > 0 ? sql_slack_drop_server(st, e) : waits;

	return waits > 0 && dropped >= 0 && sql_slack_drop_server_messages(st, e) ? -1 : dropped;
}

static void add_found(struct str *out, const struct rows_tally *t)
{
	str_addf(out,
	         " Found %d interrupted session(s) with %d pending approval(s) and %d pending "
	         "prompt(s)",
	         t->sessions, t->clearances, t->prompts);
	if (t->standbys)
		str_addf(out, ", %d standby(s)", t->standbys);
	if (has_questions(t))
		str_add(out, ". Answers count");
	if (t->sessions > t->started)
		str_add(out, "; an agent that connects again finds them with `reboot`");
	if (t->started)
		str_addf(out, "%s`session-resume` brings back an agent that was started here",
		         has_questions(t) ? "; " : ". ");
	str_add_char(out, '.');
}

/* What the last stop could not tell any more is not told now: this is. What it did tell is not left
 * as the last word. */
static int say_start(struct supervisor *s, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	struct slack_desk_row desk = { 0 };
	int untold = drop_untold(&s->store, e), stopped;
	struct rows_tally t;

	if (untold < 0 || sql_slack_desk_at_start(&s->store, s->machine, &desk, e) < 0)
		return -1;
	stopped = sql_slack_stop_stands(&s->store, e);
	if (stopped < 0)
		return -1;
	t = tally_of(&desk);
	if (!has_questions(&t) && !stopped && !(untold && t.started))
		return 0;
	str_add(&text, "🔄 Server restarted.");
	if (t.sessions)
		add_found(&text, &t);
	else
		str_add(&text, " Nothing waits for an answer.");
	return sql_slack_say_server(&s->store, str_text(&text), "start", e);
}

int rows_count_stop(struct supervisor *s, struct err *e)
{
	struct slack_desk_row desk = { 0 };

	if (sql_slack_desk_at_stop(&s->store, s->machine, true, &desk, e) < 0)
		return -1;
	s->at_stop = tally_of(&desk);
	return 0;
}

int rows_tell_stop(struct supervisor *s, struct err *e)
{
	if (store_begin_within(&s->store, TELL_MS, e))
		return -1;
	return store_end(&s->store, say_stop(s, e), e);
}

/* ---- at the start ---- */

/* What `ctl mode` said stays said, unless nobody could answer in it. Who gives Slack wants to be
 * asked there. */
static int put_mode(struct store *st, bool slack, struct err *e)
{
	OWNED(setting_get_row) struct setting_get_row mode = { 0 };
	bool by_operator;

	if (sql_setting_get(st, "mode", &mode, e) < 0)
		return -1;
	by_operator = mode.source == SETTING_SOURCE_CTL;
	if (by_operator && (slack || strcmp(mode.value, "local") == 0))
		return 0;
	if (by_operator)
		log_warn("mode %s needs Slack, which is not configured: new sessions are local",
		         mode.value);
	return setting_put(st, "mode", slack ? "remote" : "local", "default", e);
}

static int put_operator(struct store *st, struct err *e)
{
	char id[USER_OPERATOR_BYTES];

	user_operator_id(geteuid(), id);
	/* First: there is one default at most. */
	return err_if(sql_operator_only_default(st, id, e) ||
	              sql_operator_put(st, id, id + USER_OPERATOR_HEAD, e));
}

/* Sessions that cannot be resumed do not count towards limits. Looks first, as drop_untold does. */
static int interrupt_started(struct supervisor *s, struct err *e)
{
	int started = sql_session_has_started(&s->store, s->machine, e);

	return started > 0 ? sql_session_interrupt_started(&s->store, s->machine, e) : started;
}

/* Whether agents and commands can be started: as the owners of their workspaces, where the system
 * serves others. */
static int put_starts(struct supervisor *s, bool starts, struct err *e)
{
	return setting_put(&s->store, "shared.starts", starts ? "true" : "false", "system", e);
}

static bool can_start(const struct supervisor *s)
{
	return *s->config.shared.directory && owner_is_there(s->config.shared.start_socket);
}

int rows_look_at_starts(struct supervisor *s, struct err *e)
{
	bool starts = can_start(s);

	if (starts == s->starts)
		return 0;
	if (store_begin(&s->store, e) || store_end(&s->store, put_starts(s, starts, e), e))
		return -1;
	s->starts = starts;
	log_info("agents and commands %s started as the owners of their workspaces",
	         starts ? "are" : "cannot be");
	return 0;
}

int rows_at_start(struct supervisor *s, bool slack, const char *kept, struct err *e)
{
	s->starts = can_start(s);
	if (store_begin(&s->store, e))
		return -1;
	return store_end(
	    &s->store,
	    setting_put_all(&s->store, &s->config, e) ||
	        agents_put(&s->store, &s->config.agents, e) ||
	        setting_put(&s->store, "system.build", INSTANCE_BUILD, "system", e) ||
	        setting_put(&s->store, "system.machine", s->machine, "system", e) ||
	        setting_put(&s->store, "slack.configured", slack ? "true" : "false", "system", e) ||
	        put_starts(s, s->starts, e) || put_mode(&s->store, slack, e) ||
	        put_operator(&s->store, e) ||
	        slack_operators_put(&s->store, slack ? &s->slack : NULL, e) ||
	        sql_worker_bury_all(&s->store, s->machine, kept, e) || interrupt_started(s, e) ||
	        say_start(s, e),
	    e);
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
static int read_page(struct store *st, const char *machine, int64_t after, struct pending *page,
                     struct rows_tally *t, struct err *e)
{
	OWNED(request_pending_row) struct request_pending_row row = { 0 };
	int got = 0, count = 0;

	sql_request_pending(st, machine, after, &row);
	while (count < PAGE && (got = row_next(&row.row, e)) > 0) {
		t->prompts += row.kind == REQUEST_KIND_PROMPT;
		t->standbys += row.kind == REQUEST_KIND_STANDBY;
		t->clearances +=
		    row.kind != REQUEST_KIND_PROMPT && row.kind != REQUEST_KIND_STANDBY;
		page[count++] =
		    (struct pending){ .seq = row.seq, .deadline_ms = clock_parse(row.deadline_at) };
	}
	return got < 0 ? -1 : count;
}

static int interrupt_one(struct store *st, const struct pending *p, int64_t now_ms, struct err *e)
{
	int64_t left = p->deadline_ms > now_ms ? p->deadline_ms - now_ms : 0;

	return sql_request_interrupt(st, p->deadline_ms >= 0 ? &left : NULL, p->seq, e);
}

static int interrupt_questions(struct store *st, const char *machine, int64_t now_ms,
                               struct rows_tally *t, struct err *e)
{
	struct pending page[PAGE];
	int64_t after = 0;
	int count;

	do {
		count = read_page(st, machine, after, page, t, e);
		for (int i = 0; i < count; i++)
			if (interrupt_one(st, &page[i], now_ms, e))
				return -1;
		if (count > 0)
			after = page[count - 1].seq;
	} while (count == PAGE);
	return count < 0 ? -1 : 0;
}

/* What waits on machine, NULL: everywhere, is interrupted as of now_ms. */
static int interrupt_all(struct store *st, const char *machine, int64_t now_ms,
                         struct rows_tally *t, struct err *e)
{
	if (interrupt_questions(st, machine, now_ms, t, e))
		return -1;
	t->sessions = sql_session_interrupt_all(st, machine, e);
	return t->sessions < 0 ? -1 : 0;
}

int rows_at_stop(struct supervisor *s, bool interrupt, struct err *e)
{
	struct rows_tally t = { 0 };
	const struct rows_tally *told = s->status == 0 ? &s->at_stop : &t;

	if (rows_begin(s, e))
		return -1;
	if (store_end(&s->store,
	              (interrupt && interrupt_all(&s->store, s->machine, clock_now_ms(), &t, e)) ||
	                  sql_agent_run_end_wanted(&s->store, s->machine, e) ||
	                  sql_worker_bury_all(&s->store, s->machine, "[]", e),
	              e))
		return -1;
	if (interrupt)
		log_info("stopping: %d session(s), %d approval(s), %d prompt(s), %d standby(s) "
		         "interrupted",
		         told->sessions, told->clearances, told->prompts, told->standbys);
	return 0;
}

/* ---- after a restore ---- */

/* When the system of this database was last heard of: then its deadlines stood still. Not later
 * than now. */
static int read_last_sign(struct store *st, struct instant *at, struct err *e)
{
	OWNED(instant_row) struct instant_row last = { 0 };
	int got = sql_restore_last_sign(st, &last, e);

	(void)snprintf(at->text, sizeof(at->text), "%s", last.at ? last.at : "");
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
	if (sql_restore_doubt_slack(st, e) || sql_restore_take_apply(st, e) ||
	    sql_restore_park_file_change(st, e) || sql_restore_end_agent_run(st, e) ||
	    sql_restore_take_file_look(st, e) || sql_restore_end_file_look(st, e) ||
	    sql_restore_end_look_order(st, e) || sql_restore_end_alias_run(st, e) ||
	    sql_restore_bury_worker(st, e) || sql_restore_unlisten(st, e))
		return -1;
	r->writes = sql_restore_park_apply(st, e);
	return r->writes < 0 ? -1 : 0;
}

/* What was approved is asked again: the backup does not say whether it has been used since. */
static int lapse(struct store *st, struct rows_restored *r, struct err *e)
{
	int restores = sql_restore_refuse_restore(st, e);

	if (restores < 0 || sql_restore_note_approval(st, e))
		return -1;
	r->approvals = sql_restore_end_approval(st, e);
	if (r->approvals < 0)
		return -1;
	r->approvals += restores;
	return 0;
}

/* What agents were to be told, they may have been told since. */
static int doubt_words(struct store *st, struct rows_restored *r, struct err *e)
{
	int64_t words = sql_restore_untold(st, e);

	r->words = (int)words;
	return words < 0 ? -1 : sql_restore_doubt_input(st, e);
}

static int count_checkpoints(struct store *st, struct rows_restored *r, struct err *e)
{
	int64_t count = sql_restore_checkpoints(st, e);

	r->checkpoints = (int)count;
	return count < 0 ? -1 : 0;
}

static int note_restore(struct store *st, const struct rows_restored *r, struct err *e)
{
	const char *last_sign = *r->last_sign.text ? r->last_sign.text : NULL;

	return err_if(sql_restore_skip_numbers(st, NUMBER_GAP, e) ||
	              sql_restore_skip_call_numbers(st, NUMBER_GAP, e) ||
	              sql_restore_event(st, last_sign, r->writes, r->approvals, e));
}

int rows_at_restore(struct store *st, struct rows_restored *ret, struct err *e)
{
	struct rows_tally t = { 0 };

	*ret = (struct rows_restored){ 0 };
	if (store_begin(st, e))
		return -1;
	if (store_end(st,
	              read_last_sign(st, &ret->last_sign, e) ||
	                  interrupt_all(st, NULL, stood_still_ms(&ret->last_sign), &t, e) ||
	                  park(st, ret, e) || lapse(st, ret, e) || doubt_words(st, ret, e) ||
	                  count_checkpoints(st, ret, e) || note_restore(st, ret, e),
	              e))
		return -1;
	ret->sessions = t.sessions;
	ret->questions = t.clearances + t.prompts + t.standbys;
	return 0;
}

/* ---- workers ---- */

int rows_note_death(struct supervisor *s, pid_t pid, const char *detail, struct err *e)
{
	if (rows_begin(s, e))
		return -1;
	return store_end(&s->store, sql_worker_died(&s->store, detail, s->machine, pid, e), e);
}

int rows_read_ready(struct supervisor *s, struct str *address, struct err *e)
{
	OWNED(worker_live_row) struct worker_live_row live = { 0 };
	int got;

	sql_worker_live(&s->store, s->machine, &live);
	while ((got = row_next(&live.row, e)) > 0)
		for (int i = 0; i < CHILD_COUNT; i++) {
			if (strcmp(live.name, CHILD_NAMES[i]) != 0 ||
			    live.pid != s->children[i].pid || live.state != WORKER_STATE_READY)
				continue;
			s->children[i].ready = true;
			if (i == CHILD_FRONT && address && !address->length)
				str_add(address, live.detail ? live.detail : "");
		}
	return got;
}
