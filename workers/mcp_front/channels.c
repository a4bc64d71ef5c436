#include "channels.h"

#include "setting.h"

enum {
	KEPT_MS = 600000, /* an answer holds for so long */
	STALE_MS = 5000, /* a refusal: somebody may have invited the bot meanwhile */
};

static int ask(struct front *f, const char *channel, struct err *e)
{
	struct store *st = &f->worker.store;
	struct instant expires = clock_instant(clock_now_ms() + KEPT_MS);
	stmt *s;

	if (store_begin(st, e))
		return -1;
	s = store_stmt(st, SQL_SLACK_CHECK_INSERT);
	bind_text(s, ":channel", channel);
	bind_text(s, ":expires_at", expires.text);
	if (stmt_run(s, e) < 0) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e);
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
	bool answered = false, asks = true;
	stmt *s;
	int got;

	if (!channel || !setting_is_on(st, "slack.configured", false) ||
	    workspaces_configure_channel(&f->settings.workspaces, channel))
		return 0;
	s = store_stmt(st, SQL_SLACK_CHECK_NEWEST);
	bind_text(s, ":channel", channel);
	bind_text(s, ":stale", stale.text);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *why = col_text(s, SLACK_CHECK_NEWEST_WHY);

		answered = col_int(s, SLACK_CHECK_NEWEST_IS_ANSWERED) != 0;
		asks = col_int(s, SLACK_CHECK_NEWEST_IS_STALE) != 0;
		if (why)
			got = err_set(e, ERR_INPUT, "channel_id: %s", why);
	}
	stmt_reset(s);
	if (asks && ask(f, channel, e))
		return -1;
	if (got < 0)
		return -1;
	return answered ? 0 : pending(channel, e);
}
