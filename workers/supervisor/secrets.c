/* What Slack needs: tokens, team and operators, looked for value by value in the keychain
 * (`secret-tool`, where there is a session bus), in systemd's credentials directory, in the
 * environment. Each of the two Slack workers gets its own token and nothing else; nobody else gets
 * any. While we hold them, for restarts, no core file and no other process shows our memory. */
#include "supervisor.h"

#include "clock.h"
#include "sql/setting.h"
#include "str.h"
#include "token.h"
#include "variables.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEYCHAIN_MS = 3000, /* one that asks for its password is not waited for */
	SECRET_MOST = 4096,
};

/* ---- where a value comes from ---- */

/* The text without its last newline, NULL if that is all. Wipes it. */
static char *take_secret(char text[SECRET_MOST], size_t length)
{
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	text[length] = '\0';
	char *secret = length ? xstrdup(text) : NULL;
	explicit_bzero(text, SECRET_MOST);
	return secret;
}

/* secret-tool is libsecret's own program. One that does not answer in time is ended, and is not
 * asked again: *answers. */
static char *from_keychain(const char *name, bool *answers)
{
	int64_t end = clock_monotonic_ms() + KEYCHAIN_MS;
	char tool[] = "secret-tool", lookup[] = "lookup", service[] = "service",
	     username[] = "username";
	char ours[] = "agent-intercom", key[40], text[SECRET_MOST], *secret;
	char *argv[] = { tool, lookup, service, ours, username, key, NULL };
	ssize_t length;

	if (!*answers || !getenv("DBUS_SESSION_BUS_ADDRESS"))
		return NULL;
	(void)snprintf(key, sizeof(key), "%s", name);
	length = spawn_ask(argv, true, text, sizeof(text) - 1, KEYCHAIN_MS);
	if (length < 0)
		return NULL;
	secret = take_secret(text, (size_t)length);
	*answers = secret || clock_monotonic_ms() < end;
	return secret;
}

static char *from_systemd(const char *name)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	OWNED(str) struct str path = { 0 };
	char text[SECRET_MOST];
	size_t length;
	int fd;

	if (!folder || *folder != '/')
		return NULL;
	str_addf(&path, "%s/%s", folder, name);
	fd = open(str_text(&path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	length = spawn_hear(fd, text, sizeof(text) - 1, KEYCHAIN_MS);
	(void)close(fd);
	return take_secret(text, length);
}

/* Puts what is found in the keychain or with systemd in the place of what the environment had. */
static void look_up(const char *name, char **secret, bool *keychain_answers)
{
	char *found = from_keychain(name, keychain_answers);

	if (!found)
		found = from_systemd(name);
	if (!found)
		return;
	slack_secret_wipe(secret);
	*secret = found;
}

/* ---- checking ---- */

bool slack_next_member(const char **list, char out[SLACK_MEMBER_BYTES], bool *ret_valid)
{
	size_t n = 0;

	while (**list == ',' || isspace((unsigned char)**list))
		(*list)++;
	if (!**list)
		return false;
	*ret_valid = (*list)[0] == 'U' || (*list)[0] == 'W';
	for (; **list && **list != ',' && !isspace((unsigned char)**list); (*list)++) {
		*ret_valid =
		    *ret_valid && n < SLACK_MEMBER_BYTES - 1 && isalnum((unsigned char)**list);
		if (n < SLACK_MEMBER_BYTES - 1)
			out[n++] = **list;
	}
	out[n] = '\0';
	return true;
}

static int check_members(const char *members, struct err *e)
{
	char id[SLACK_MEMBER_BYTES];
	bool valid, any = false;

	for (const char *at = members ? members : ""; slack_next_member(&at, id, &valid);
	     any = true)
		if (!valid)
			return err_set(e, ERR_INPUT,
			               "SLACK_MEMBER_IDS: '%s' is no member id (U0123456789; in "
			               "Slack: profile, Copy member ID)",
			               id);
	return any ? 0
	           : err_set(
	                 e, ERR_INPUT,
	                 "SLACK_MEMBER_IDS is not set: nobody could answer; give the member ids "
	                 "of those who may, with commas between");
}

/* All that would end one of the Slack workers with 78, and everybody else with it. */
static int check(const struct slack_secrets *s, const char *channel, struct err *e)
{
	bool loopback;

	if (!s->app || !s->bot)
		return err_set(e, ERR_INPUT, "%s is not set, %s is",
		               s->app ? "SLACK_BOT_TOKEN" : "SLACK_APP_TOKEN",
		               s->app ? "SLACK_APP_TOKEN" : "SLACK_BOT_TOKEN");
	if (slack_token_check("SLACK_APP_TOKEN", s->app, e) ||
	    (s->api_url && slack_base_check(s->api_url, &loopback, e)) ||
	    slack_token_check("SLACK_BOT_TOKEN", s->bot, e) || check_members(s->members, e))
		return -1;
	if (!*channel)
		return err_set(e, ERR_INPUT,
		               "slack.channel_id is not set in config.toml: the channel where "
		               "sessions are posted");
	return 0;
}

int slack_secrets_load(struct slack_secrets *s, const char *channel, struct err *e)
{
	bool answers = true;

	/* All of them before the keychain is asked: its program gets our environment. */
	s->app = slack_secret_take("SLACK_APP_TOKEN");
	s->bot = slack_secret_take("SLACK_BOT_TOKEN");
	s->team = slack_secret_take("SLACK_TEAM_ID");
	s->members = slack_secret_take("SLACK_MEMBER_IDS");
	s->api_url = slack_secret_take("SLACK_API_URL");
	if (s->app || s->bot)
		slack_secret_guard();
	look_up("slack_app_token", &s->app, &answers);
	look_up("slack_bot_token", &s->bot, &answers);
	look_up("slack_team_id", &s->team, &answers);
	if (!s->app && !s->bot)
		return 0;
	slack_secret_guard();
	if (check(s, channel, e))
		return -1;
	return 1;
}

void slack_secrets_clear(struct slack_secrets *s)
{
	slack_secret_wipe(&s->app);
	slack_secret_wipe(&s->bot);
	slack_secret_wipe(&s->team);
	slack_secret_wipe(&s->members);
	slack_secret_wipe(&s->api_url);
}

void slack_secrets_give_back(const struct slack_secrets *s)
{
	const struct {
		const char *name, *value;
	} all[] = { { "SLACK_APP_TOKEN", s->app },
		    { "SLACK_BOT_TOKEN", s->bot },
		    { "SLACK_TEAM_ID", s->team },
		    { "SLACK_MEMBER_IDS", s->members },
		    { "SLACK_API_URL", s->api_url } };

	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i].value)
			(void)setenv(all[i].name, all[i].value, 1);
}

/* ---- handing over ---- */

char **slack_environment(const struct slack_secrets *s, const char *child, char *const *common)
{
	bool listens = strcmp(child, "slack-listener") == 0;
	size_t count = variables_count(common);
	char **out = variables_pick(common, NULL, 0, 2);
	OWNED(str) struct str token = { 0 };

	str_addf(&token, "%s=%s", listens ? "SLACK_APP_TOKEN" : "SLACK_BOT_TOKEN",
	         listens ? s->app : s->bot);
	out[count] = str_take(&token);
	if (s->api_url) {
		OWNED(str) struct str base = { 0 };

		str_addf(&base, "SLACK_API_URL=%s", s->api_url);
		out[count + 1] = str_take(&base);
	}
	return out;
}

void slack_environment_free(char **environment, char *const *common)
{
	for (size_t i = variables_count(common); environment[i]; i++)
		slack_secret_wipe(&environment[i]);
	free(environment);
}

/* ---- operators ---- */

static int put_one(struct store *st, const char *team, const char *user, struct err *e)
{
	char id[120];

	(void)snprintf(id, sizeof(id), "slack:%.60s:%s", team, user);
	return sql_operator_put_slack(st, id, team, user, e);
}

int slack_operators_put(struct store *st, const struct slack_secrets *s, struct err *e)
{
	const char *at = s && s->members ? s->members : "";
	const char *team = s && s->team ? s->team : "";
	char id[SLACK_MEMBER_BYTES];
	bool valid;

	if (sql_operator_retire_slack(st, e))
		return -1;
	while (slack_next_member(&at, id, &valid))
		if (valid && put_one(st, team, id, e))
			return -1;
	return 0;
}
