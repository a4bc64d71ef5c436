/* The doctor on Slack: checks what is known locally, then asks Slack with our tokens. It joins
 * nothing and posts nothing. */
#include "doctor.h"

#include "app.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum {
	PATIENCE_MS = 5000, /* per answer */
	SKEW_MS = 5000, /* Slack's Date is in whole seconds */
};

static void call(struct slack_web *web, struct slack_call *c, const char *method,
                 const struct str *form)
{
	slack_call_start(web, c, method, form, PATIENCE_MS);
	while (!c->done)
		slack_web_wait(web, NULL, 0, PATIENCE_MS);
}

static void call_with(struct slack_web *web, struct slack_call *c, const char *method,
                      const char *name, const char *value)
{
	OWNED(str) struct str form = { 0 };

	slack_form_add(&form, name, value);
	call(web, c, method, &form);
}

/* Whether Slack gave no verdict: it was not reached, or is busy. */
static bool is_passing(const struct slack_call *c)
{
	return c->class == SLACK_SURE || c->class == SLACK_UNKNOWN || c->class == SLACK_RATE;
}

/* ---- the bot token, and what it lets us ask ---- */

static void check_team(struct doctor *d, const struct slack_secrets *s, const char *team)
{
	if (s->team && strcmp(s->team, team) != 0)
		doctor_tell(d, FAIL, "slack team",
		            "SLACK_TEAM_ID is %.40s, but the bot token is for %.40s: nobody could "
		            "answer; correct it",
		            s->team, team);
}

static void check_scopes(struct doctor *d, const struct slack_call *c)
{
	OWNED(str) struct str why = { 0 };

	if (!c->scopes.length) { /* a proxy may drop the header */
		doctor_tell(
		    d, WARN, "slack scopes",
		    "unknown: Slack's answer has no x-oauth-scopes; compare the app's scopes "
		    "with `agent-intercom slack-manifest`");
		return;
	}
	slack_app_scopes(&why, str_text(&c->scopes));
	if (why.length)
		doctor_tell(d, WARN, "slack scopes", "%s", why.bytes);
	else
		doctor_tell(d, OK, "slack scopes", "all that are used are there");
}

static void check_clock(struct doctor *d, int64_t skew_ms)
{
	if (skew_ms > SKEW_MS || skew_ms < -SKEW_MS)
		doctor_tell(d, WARN, "slack clock",
		            "this machine's clock is %lld s %s Slack's; set it (`timedatectl "
		            "set-ntp true`)",
		            (long long)llabs(skew_ms) / 1000, skew_ms > 0 ? "behind" : "ahead of");
	else
		doctor_tell(d, OK, "slack clock", "agrees with Slack's");
}

static void check_channel(struct doctor *d, struct slack_web *web)
{
	const char *channel = d->config.slack.channel_id;
	OWNED(slack_call) struct slack_call c = { 0 };
	OWNED(str) struct str why = { 0 };

	call_with(web, &c, "conversations.info", "channel", channel);
	switch (slack_app_place(&why, channel, &c)) {
	case SLACK_PLACE_FINE:
		doctor_tell(d, OK, "slack channel", "the app is in %s", channel);
		break;
	case SLACK_PLACE_JOINABLE:
		doctor_tell(d, WARN, "slack channel",
		            "the app is not in the public channel %s; it tries to join at the "
		            "start, or /invite it there",
		            channel);
		break;
	case SLACK_PLACE_WRONG:
		doctor_tell(d, FAIL, "slack channel", "%s", str_text(&why));
		break;
	case SLACK_PLACE_UNKNOWN:
		doctor_tell(d, WARN, "slack channel", "%s", str_text(&why));
		break;
	}
}

/* c: the answer to users.info. Returns whether this member may answer; else reports why not. */
static bool member_is_fine(struct doctor *d, const struct slack_call *c, const char *id,
                           const char *team)
{
	const cJSON *user = cJSON_GetObjectItemCaseSensitive(c->json, "user");
	const char *of = json_some_text(user, "team_id");

	if (c->class != SLACK_OK)
		doctor_tell(d, is_passing(c) ? WARN : FAIL, "slack members",
		            "SLACK_MEMBER_IDS: %s: %s%s", id, c->why,
		            strcmp(c->error, "user_not_found") == 0
		                ? "; copy the id from the person's profile, Copy member ID"
		                : "");
	else if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(user, "deleted")))
		doctor_tell(d, FAIL, "slack members",
		            "SLACK_MEMBER_IDS: %s is deactivated in Slack; remove it", id);
	else if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(user, "is_bot")))
		doctor_tell(d, FAIL, "slack members",
		            "SLACK_MEMBER_IDS: %s is a bot; give the ids of people", id);
	else if (*of && strcmp(of, team) != 0)
		doctor_tell(
		    d, FAIL, "slack members",
		    "SLACK_MEMBER_IDS: %s is in the team %.40s, which may not answer; remove it",
		    id, of);
	else
		return true;
	return false;
}

static void check_members(struct doctor *d, const struct slack_secrets *s, struct slack_web *web,
                          const char *team)
{
	const char *at = s->members;
	char id[SLACK_MEMBER_BYTES];
	bool valid, fine = true;
	int count = 0;

	for (; slack_next_member(&at, id, &valid); count++) {
		OWNED(slack_call) struct slack_call c = { 0 };

		call_with(web, &c, "users.info", "user", id);
		if (strcmp(c.error, "missing_scope") == 0) {
			doctor_tell(d, OK, "slack members",
			            "not looked up: the app has no scope users:read");
			return;
		}
		fine = member_is_fine(d, &c, id, team) && fine;
	}
	if (fine)
		doctor_tell(d, OK, "slack members", "%d, known to Slack", count);
}

/* False: Slack cannot be asked. */
static bool ask_as_bot(struct doctor *d, const struct slack_secrets *s, struct slack_web *web)
{
	OWNED(slack_call) struct slack_call c = { 0 };
	const char *team;

	call_with(web, &c, "auth.test", "", NULL);
	if (is_passing(&c)) {
		doctor_tell(d, WARN, "slack", "%s; nothing more of Slack is checked", c.why);
		return false;
	}
	if (c.class != SLACK_OK) {
		doctor_tell(d, FAIL, "slack bot token",
		            "SLACK_BOT_TOKEN is refused: %s; install the app, and copy the token "
		            "from OAuth & Permissions",
		            c.why);
		return true;
	}
	team = json_some_text(c.json, "team_id");
	doctor_tell(d, OK, "slack bot token", "we are %.80s in %.80s (%.40s)",
	            json_some_text(c.json, "user"), json_some_text(c.json, "team"), team);
	check_team(d, s, team);
	check_scopes(d, &c);
	check_clock(d, web->skew_ms);
	check_channel(d, web);
	check_members(d, s, web, team);
	return true;
}

/* ---- the app token ---- */

/* The URL in the answer is for one connection; unused, it expires. */
static void ask_as_app(struct doctor *d, struct slack_web *web)
{
	OWNED(slack_call) struct slack_call c = { 0 };

	call_with(web, &c, "apps.connections.open", "", NULL);
	if (c.class == SLACK_OK)
		doctor_tell(d, OK, "slack Socket Mode", "a connection can be opened");
	else if (is_passing(&c))
		doctor_tell(d, WARN, "slack Socket Mode", "not checked: %s", c.why);
	else if (c.class == SLACK_TOKEN)
		doctor_tell(d, FAIL, "slack Socket Mode",
		            "SLACK_APP_TOKEN is refused: %s; make one with connections:write under "
		            "Basic Information, App-Level Tokens",
		            c.why);
	else
		doctor_tell(d, FAIL, "slack Socket Mode",
		            "%s; switch Socket Mode on in the app's settings", c.why);
}

static void ask_slack(struct doctor *d, const struct slack_secrets *s)
{
	OWNED(slack_web) struct slack_web bot = { 0 }, app = { 0 };
	struct err e = { 0 };

	if (slack_web_open(&bot, s->api_url, s->bot, &e) ||
	    slack_web_open_as(&app, s->api_url, "SLACK_APP_TOKEN", s->app, &e))
		doctor_tell(d, FAIL, "slack", "%s", e.text);
	else if (ask_as_bot(d, s, &bot))
		ask_as_app(d, &app);
}

void doctor_check_slack(struct doctor *d)
{
	struct slack_secrets secrets = { .app = NULL };
	struct err e = { 0 };
	int got = slack_secrets_load(&secrets, d->config.slack.channel_id, &e);

	if (got < 0)
		doctor_tell(d, FAIL, "slack", "%s", e.text);
	else if (got > 0)
		doctor_tell(d, OK, "slack", "tokens, members and channel are there");
	else if (d->config.slack.channel_id[0])
		doctor_tell(d, WARN, "slack",
		            "slack.channel_id is set, but there are no tokens here: a system that "
		            "is started from here, as by an agent, hears nobody in Slack; put "
		            "them into the keychain");
	else
		doctor_tell(d, OK, "slack",
		            "no tokens here: questions are answered on this machine");
	if (got > 0)
		ask_slack(d, &secrets);
	slack_secrets_clear(&secrets);
}
