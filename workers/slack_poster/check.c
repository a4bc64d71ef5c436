/* Checks who we are in Slack, what our app may do there, and whether it is in its channel, so that
 * a person learns what to fix before a question has to wait for it. */
#include "poster.h"

#include "app.h"
#include "json.h"
#include "log.h"
#include "setting.h"
#include "sql/slack_check.h"

#include <string.h>

enum { AGAIN_MS = 5000 /* Slack was not reached */ };

/* ---- recording ---- */

/* why: "" if nothing needs fixing. Logs changes only. */
static int put_note(struct poster *p, const char *name, const struct str *why, struct err *e)
{
	int changed = sql_slack_gate_note(&p->w.store, name, why->length ? why->bytes : NULL, e);

	if (changed > 0 && why->length)
		log_warn("%s", str_text(why));
	return changed < 0 ? -1 : 0;
}

static int put_all(struct poster *p, const char *team, const struct str *scopes, struct err *e)
{
	struct store *st = &p->w.store;

	return err_if(setting_put(st, "slack.team_id", team, "system", e) ||
	              setting_put(st, "slack.bot_user_id", p->user_id, "system", e) ||
	              setting_put(st, "slack.bot_id", p->bot_id, "system", e) ||
	              put_note(p, "slack.scopes", scopes, e));
}

static int note_identity(struct poster *p, const char *team, const struct str *scopes,
                         struct err *e)
{
	if (store_begin(&p->w.store, e))
		return -1;
	return store_end(&p->w.store, put_all(p, team, scopes, e), e);
}

static int note_channel(struct poster *p, const struct str *why, struct err *e)
{
	if (store_begin(&p->w.store, e))
		return -1;
	return store_end(&p->w.store, put_note(p, "slack.channel", why, e), e);
}

/* ---- checking ---- */

static bool is_direct(const struct slack_call *c)
{
	const cJSON *channel = cJSON_GetObjectItemCaseSensitive(c->json, "channel");

	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(channel, "is_im")) ||
	       cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(channel, "is_mpim"));
}

static int join(struct poster *p, const char *channel, struct str *why, struct err *e)
{
	OWNED(slack_call) struct slack_call c = { 0 };

	if (poster_call_of(p, &c, "conversations.join", channel, e))
		return -1;
	if (slack_app_joined(why, channel, &c))
		log_info("joined the channel %s", channel);
	return 0;
}

/* Returns 1 if the channel is fine, 0 if it must be checked again, -1 on error. */
static int look_at_channel(struct poster *p, struct err *e)
{
	OWNED(slack_call) struct slack_call c = { 0 };
	OWNED(str) struct str channel = { 0 };
	OWNED(str) struct str why = { 0 };
	enum slack_place place;

	if (setting_get(&p->w.store, "slack.channel_id", &channel, NULL) <= 0 || !channel.length)
		return 1;
	if (poster_call_of(p, &c, "conversations.info", channel.bytes, e))
		return -1;
	place = slack_app_place(&why, channel.bytes, &c);
	if (place == SLACK_PLACE_UNKNOWN) {
		log_info("%s", str_text(&why));
		return 0;
	}
	if (place == SLACK_PLACE_JOINABLE && join(p, channel.bytes, &why, e))
		return -1;
	return note_channel(p, &why, e) ? -1 : why.length == 0;
}

/* ---- channels that agents name ---- */

static int answer_check(struct poster *p, int64_t check, const char *why, struct err *e)
{
	if (store_begin(&p->w.store, e))
		return -1;
	return store_end(&p->w.store, sql_slack_checked_insert(&p->w.store, why, check, e) < 0, e);
}

int poster_check_channel(struct poster *p, struct err *e)
{
	OWNED(slack_check_next_row) struct slack_check_next_row check = { 0 };
	OWNED(slack_call) struct slack_call c = { 0 };
	OWNED(str) struct str why = { 0 };
	int got = sql_slack_check_next(&p->w.store, &check, e);

	if (got <= 0)
		return got;
	if (poster_call_of(p, &c, "conversations.info", check.channel_id, e))
		return -1;
	if (slack_app_place(&why, check.channel_id, &c) == SLACK_PLACE_JOINABLE)
		str_addf(&why, "the app is not in the channel %s; /invite it there",
		         check.channel_id);
	if (c.class == SLACK_OK && c.json && is_direct(&c))
		str_addf(&why, "%s is a direct message, where no agent may ask", check.channel_id);
	return answer_check(p, check.seq, why.length ? why.bytes : NULL, e) ? -1 : 1;
}

static void take_name(char out[POSTER_ID_BYTES], const cJSON *json, const char *name)
{
	(void)snprintf(out, POSTER_ID_BYTES, "%s", json_some_text(json, name));
}

/* The token is valid; c: the answer to auth.test. */
static int welcome(struct poster *p, const struct slack_call *c, struct err *e)
{
	OWNED(str) struct str scopes = { 0 };
	char team[POSTER_ID_BYTES];
	int fine;

	take_name(p->bot_id, c->json, "bot_id");
	take_name(p->user_id, c->json, "user_id");
	take_name(team, c->json, "team_id");
	if (c->scopes.length)
		slack_app_scopes(&scopes, c->scopes.bytes);
	if (note_identity(p, team, &scopes, e))
		return -1;
	fine = look_at_channel(p, e);
	if (fine < 0)
		return -1;
	p->check_ms =
	    fine && scopes.length == 0 ? INT64_MAX : clock_now_ms() + (int64_t)SLACK_PARKED_MS;
	return slack_gate_open_all(&p->w.store, e) ? -1 : 1;
}

int poster_check(struct poster *p, struct err *e)
{
	OWNED(slack_call) struct slack_call c = { 0 };
	OWNED(str) struct str form = { 0 };
	OWNED(str) struct str why = { 0 };

	if (clock_now_ms() < p->check_ms || p->check_ms == INT64_MAX)
		return 0;
	if (poster_call(p, &c, "auth.test", &form, e))
		return -1;
	p->check_ms = clock_now_ms() + AGAIN_MS;
	if (c.class == SLACK_OK)
		return welcome(p, &c, e);
	if (c.class != SLACK_TOKEN)
		return 0;
	p->check_ms = clock_now_ms() + SLACK_PARKED_MS;
	str_addf(&why, "Slack refuses the bot token: %s", c.why);
	log_error("%s", str_text(&why));
	return slack_gate_close_all(&p->w.store, str_text(&why), e);
}
