/* Times in which Slack was not heard. What people write then, Slack sends again for a few minutes
 * at most; after a longer time they are told that it may not have arrived.
 *
 * The setting slack.unheard_since has the beginning of such a time, and is there as long as it
 * lasts, over restarts, too. */
#include "listener.h"

#include "clock.h"
#include "log.h"
#include "setting.h"
#include "sql/setting.h"
#include "sql/slack_outbox.h"
#include "sql/worker.h"

#include <string.h>

static const char SINCE[] = "slack.unheard_since";

enum { MINUTE_MS = 60000 };

/* Writes the beginning down, unless an earlier one is known. */
static int note(struct listener *l, const char *since, struct err *e)
{
	OWNED(str) struct str known = { 0 };
	int got = setting_get(&l->worker.store, SINCE, &known, e);

	return got < 0   ? -1
	       : got > 0 ? 0
	                 : setting_put(&l->worker.store, SINCE, since, "system", e);
}

/* Before this process: until the last sign of life of the one before it. */
static int note_absence(struct listener *l, struct err *e)
{
	OWNED(instant_row) struct instant_row before = { 0 };
	int got = sql_worker_before(&l->worker.store, l->worker.id.text, &before, e);

	return got > 0 ? note(l, before.at, e) : got;
}

static int tell(struct listener *l, const char *since, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	struct instant now = clock_now();
	int64_t ms = clock_parse(now.text) - clock_parse(since);
	int concerns = ms < LISTENER_GAP_MS ? 0 : sql_slack_desk_is_open(&l->worker.store, e);

	if (concerns <= 0)
		return concerns;
	str_addf(
	    &text,
	    "I did not hear Slack from %s to %s (%lld min). What was written or tapped here in "
	    "that "
	    "time may not have reached me: where nothing shows that it did, please say it again.",
	    since, now.text, (long long)((ms + MINUTE_MS / 2) / MINUTE_MS));
	return sql_slack_say_server(&l->worker.store, str_text(&text), "gap", e);
}

static int end(struct listener *l, struct err *e)
{
	OWNED(str) struct str since = { 0 };
	int got = setting_get(&l->worker.store, SINCE, &since, e);

	if (got <= 0)
		return got;
	return tell(l, str_text(&since), e) || sql_setting_forget(&l->worker.store, SINCE, e) ? -1
	                                                                                      : 0;
}

/* In a transaction of its own; what cannot be written now is tried at the next change. */
static bool commit(struct listener *l, int failed, struct err *e)
{
	if (store_end(&l->worker.store, failed, e) == 0)
		return true;
	log_warn("cannot note whether Slack is heard: %s", e->text);
	return false;
}

void gap_start(struct listener *l)
{
	struct err e = { 0 };

	l->hears = false;
	if (store_begin(&l->worker.store, &e))
		log_warn("cannot note whether Slack is heard: %s", e.text);
	else
		(void)commit(l, note_absence(l, &e), &e);
}

void gap_look(struct listener *l, bool hears)
{
	struct instant since = clock_instant(l->heard_at_ms);
	struct err e = { 0 };

	if (hears == l->hears || store_begin(&l->worker.store, &e))
		return;
	if (commit(l, hears ? end(l, &e) : note(l, since.text, &e), &e))
		l->hears = hears;
}
