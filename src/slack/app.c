#include "app.h"

#include <string.h>

/* ---- the manifest ---- */

static const char HEAD[] =
    "# The Slack app of agent-intercom. In https://api.slack.com/apps: Create New App, From a\n"
    "# manifest, paste this, Install to Workspace. Then take the bot token (OAuth & Permissions,\n"
    "# xoxb-) and make an app token (Basic Information, App-Level Tokens, scope\n"
    "# connections:write, xapp-), and /invite the app to the channel.\n"
    "_metadata:\n"
    "  major_version: 2\n"
    "  minor_version: 1\n"
    "display_information:\n"
    "  name: Intercom\n"
    "  description: Answer what your coding agents ask, from Slack\n"
    "  background_color: \"#1f2937\"\n"
    "features:\n"
    "  app_home:\n"
    "    home_tab_enabled: false\n"
    "    messages_tab_enabled: true\n"
    "    messages_tab_read_only_enabled: false\n"
    "  bot_user:\n"
    "    display_name: intercom\n"
    "    always_online: true\n"
    "  slash_commands:\n"
    "    - command: /intercom\n"
    "      description: Steer the sessions of your agents\n"
    "      usage_hint: help | sessions | steer <text> | pause | resume | stop\n"
    "      should_escape: false\n"
    "oauth_config:\n"
    "  scopes:\n"
    "    bot:\n";

static const char TAIL[] = "settings:\n"
                           "  event_subscriptions:\n"
                           "    bot_events:\n"
                           "      - app_mention\n"
                           "      - message.channels\n"
                           "      - message.groups\n"
                           "      - message.im\n"
                           "  interactivity:\n"
                           "    is_enabled: true\n"
                           "  org_deploy_enabled: false\n"
                           "  socket_mode_enabled: true\n"
                           "  token_rotation_enabled: false\n";

/* What does not work without it; NULL: it can be removed from the manifest. */
static const struct {
	const char *name, *without;
} SCOPES[] = {
	{ "app_mentions:read", "mentions are not heard" },
	{ "channels:history", "threads of public channels are not heard, nor looked through" },
	{ "channels:join", NULL },
	{ "channels:read", "a public channel is not checked" },
	{ "chat:write", "nothing is said" },
	{ "chat:write.public", NULL },
	{ "commands", "/intercom is not there" },
	{ "files:write", "long diffs are not shown" },
	{ "groups:history", "threads of private channels are not heard, nor looked through" },
	{ "groups:read", "a private channel is not checked" },
	{ "im:history", "direct messages are not heard" },
	{ "im:read", NULL },
	{ "im:write", NULL },
	{ "pins:write", NULL },
	{ "reactions:write", NULL },
	{ "users:read", NULL },
};

void slack_app_manifest(struct str *out)
{
	str_add(out, HEAD);
	for (size_t i = 0; i < COUNT(SCOPES); i++)
		str_addf(out, "      - %s\n", SCOPES[i].name);
	str_add(out, TAIL);
}

/* ---- scopes ---- */

static bool is_granted(const char *list, const char *scope)
{
	size_t length = strlen(scope);

	while (*list) {
		size_t n;

		list += strspn(list, ", ");
		n = strcspn(list, ", ");
		if (n == length && strncmp(list, scope, n) == 0)
			return true;
		list += n;
	}
	return false;
}

void slack_app_scopes(struct str *out, const char *granted)
{
	bool any = false;

	for (size_t i = 0; i < COUNT(SCOPES); i++) {
		if (!SCOPES[i].without || is_granted(granted, SCOPES[i].name))
			continue;
		str_addf(out, "%s%s (%s)", any ? ", " : "the app lacks the scope ", SCOPES[i].name,
		         SCOPES[i].without);
		any = true;
	}
	if (any)
		str_add(out, "; add it under OAuth & Permissions, then Reinstall to workspace");
}

/* ---- the channel ---- */

static bool is_error(const struct slack_call *c, const char *error)
{
	return strcmp(c->error, error) == 0;
}

static void archived(struct str *why, const char *channel)
{
	str_addf(why,
	         "the channel %.40s is archived; unarchive it, or set slack.channel_id to another",
	         channel);
}

static bool flag(const cJSON *channel, const char *name)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(channel, name));
}

static enum slack_place refused(struct str *why, const char *channel, const struct slack_call *c)
{
	if (is_error(c, "channel_not_found") || is_error(c, "invalid_channel")) {
		str_addf(why,
		         "there is no channel %.40s for the app; if it is private, /invite the app "
		         "there, else set slack.channel_id to the id that the channel's details "
		         "show",
		         channel);
		return SLACK_PLACE_WRONG;
	}
	str_addf(why, "the channel %.40s cannot be looked at: %s", channel, c->why);
	return SLACK_PLACE_UNKNOWN;
}

enum slack_place slack_app_place(struct str *why, const char *channel, const struct slack_call *c)
{
	const cJSON *about = cJSON_GetObjectItemCaseSensitive(c->json, "channel");

	if (c->class != SLACK_OK)
		return refused(why, channel, c);
	if (flag(about, "is_archived")) {
		archived(why, channel);
		return SLACK_PLACE_WRONG;
	}
	if (flag(about, "is_member") || flag(about, "is_im"))
		return SLACK_PLACE_FINE;
	if (!flag(about, "is_private"))
		return SLACK_PLACE_JOINABLE;
	str_addf(why, "the app is not in the private channel %.40s; /invite it there", channel);
	return SLACK_PLACE_WRONG;
}

bool slack_app_joined(struct str *why, const char *channel, const struct slack_call *c)
{
	if (c->class == SLACK_OK)
		return true;
	if (is_error(c, "is_archived"))
		archived(why, channel);
	else
		str_addf(why,
		         "the app is not in the channel %.40s and cannot join it (%s); /invite it "
		         "there",
		         channel, c->why);
	return false;
}
