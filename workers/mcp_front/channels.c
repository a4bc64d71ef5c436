#include "channels.h"

#include "setting.h"
#include "sql/slack_check.h"

enum {
	KEPT_MS = 600000, /* how long a confirmation is valid */
	STALE_MS = 5000, /* how long a refusal is: someone may invite the bot meanwhile */
};

static int ask(struct front *f, const char *channel, struct err *e)
{
	struct store *st = &f->worker.store;
	struct instant expires = clock_instant(clock_now_ms() + KEPT_MS);

	if (store_begin(st, e))
		return -1;
	return store_end(st, sql_slack_check_insert(st, channel, expires.text, e), e);
}

static int pending(const char *channel, struct err *e)
{
	(void)err_set(e, ERR_AGAIN,
	              "Slack has not said yet whether the bot is in the channel %.40s; call again, "
	              "or connect without channel_id",
	              channel);
	return 1;
}

int channels_check(struct front *f, const char *channel, struct err *e)
{
	struct store *st = &f->worker.store;
	struct instant stale = clock_instant(clock_now_ms() - STALE_MS);
	OWNED(slack_check_newest_row) struct slack_check_newest_row row = { 0 };
	int got;

	if (!channel || !setting_is_on(st, "slack.configured", false) ||
	    peer_configure_channel(&f->settings.workspaces, channel))
		return 0;
	got = sql_slack_check_newest(st, stale.text, channel, &row, e);
	if (got < 0 || ((got == 0 || row.is_stale) && ask(f, channel, e)))
		return -1;
	if (row.why)
		return err_set(e, ERR_INPUT, "channel_id: %s", row.why);
	return row.is_answered ? 0 : pending(channel, e);
}
