/* The Slack app: its manifest, and who finds out what of it is missing in a workspace. */
#include "agent.h"
#include "slack_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the manifest ---- */

START_TEST(the_manifest_has_every_scope_event_and_switch_that_we_need)
{
	static const char *const LISTS[][20] = {
		{ "\n    bot:\n", "app_mentions:read", "channels:history", "channels:join",
		  "channels:read", "chat:write", "commands", "files:write", "groups:history",
		  "groups:read", "im:history", NULL },
		{ "\n    bot_events:\n", "app_mention", "message.channels", "message.groups",
		  "message.im", NULL },
	};
	OWNED(str) struct str said = STR_INIT;

	ck_assert_int_eq(
	    shell(&said, "'%s/agent-intercom' slack-manifest", getenv("INTERCOM_BUILD")), 0);
	for (size_t i = 0; i < COUNT(LISTS); i++) {
		const char *from = strstr(said.bytes, LISTS[i][0]);

		ck_assert_msg(from != NULL, "%s", said.bytes);
		for (const char *const *item = &LISTS[i][1]; *item; item++) {
			char line[60];

			(void)snprintf(line, sizeof(line), "\n      - %s\n", *item);
			says(from, line);
		}
	}
	says(said.bytes, "\n    - command: /intercom\n");
	says(said.bytes, "\n  interactivity:\n    is_enabled: true\n");
	says(said.bytes, "\n  socket_mode_enabled: true\n");
	says(said.bytes, "\n  token_rotation_enabled: false\n");
}
END_TEST

/* ---- slack-poster at its start ---- */

static void desk(const char *channel)
{
	char sql[300];

	fresh_store();
	slack_start();
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	(void)snprintf(sql, sizeof(sql),
	               "UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	               "INSERT INTO setting (name, value, source, updated_at) VALUES"
	               " ('slack.channel_id', '%s', 'file', '2026-01-01T00:00:00.000Z')",
	               channel);
	given(sql);
}

static void desk_is_left(void)
{
	slack_stop();
	close_store();
}

static const char NOTES[] =
    "SELECT name, why FROM slack_gate WHERE slot = 'note' AND why IS NOT NULL";
static const char SOME_SCOPES[] =
    "{'scopes': ['app_mentions:read', 'channels:history', 'channels:read', 'chat:write',"
    " 'commands', 'groups:history', 'groups:read', 'im:history']}";
static const char ALL_SCOPES[] =
    "{'scopes': ['app_mentions:read', 'channels:history', 'channels:read', 'chat:write',"
    " 'commands', 'groups:history', 'groups:read', 'im:history', 'files:write']}";

START_TEST(who_we_are_in_slack_is_known_as_soon_as_the_poster_has_asked)
{
	desk("C01AGENTS");

	run_worker("slack-poster");

	expect(
	    "SELECT name, value, source FROM setting"
	    " WHERE name IN ('slack.team_id', 'slack.bot_user_id', 'slack.bot_id') ORDER BY name",
	    "slack.bot_id|B01BOT|system\nslack.bot_user_id|U0BOT|system\n"
	    "slack.team_id|T01TEAM|system\n");
	expect(NOTES, "");
	slack_expect_calls("auth.test\nconversations.info\n");
	desk_is_left();
}
END_TEST

START_TEST(a_scope_that_is_missing_is_named_with_what_to_do_until_it_is_there)
{
	desk("C01AGENTS");
	slack_set("%s", SOME_SCOPES);
	(void)start_worker("slack-poster");

	expect_soon(NOTES, "slack.scopes|the app lacks the scope files:write (long diffs are not "
	                   "shown); add it under OAuth & Permissions, then Reinstall to "
	                   "workspace\n");
	expect("SELECT count(*) FROM health WHERE what = 'slack' AND detail LIKE '%files:write%'",
	       "1\n");
	expect("SELECT what FROM outbox_stuck", "");
	slack_set("%s", ALL_SCOPES);
	advance(60000);

	expect_soon(NOTES, "");
	desk_is_left();
}
END_TEST

START_TEST(a_public_channel_is_joined)
{
	desk("C02OTHER");
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	(void)start_worker("slack-poster");

	expect_soon("SELECT state FROM slack_outbox", "sent\n");
	expect(NOTES, "");
	slack_expect_calls("auth.test\nconversations.info\nconversations.join\nchat.postMessage\n");
	desk_is_left();
}
END_TEST

START_TEST(a_public_channel_that_cannot_be_joined_is_told_with_what_to_do)
{
	desk("C02OTHER");
	slack_set("%s", ALL_SCOPES); /* channels:join is not among them */

	run_worker("slack-poster");

	OWNED(char_ptr) char *notes = rows(NOTES);
	says(notes, "slack.channel|the app is not in the channel C02OTHER and cannot join it "
	            "(missing_scope: needs channels:join");
	says(notes, "/invite it there");
	desk_is_left();
}
END_TEST

START_TEST(an_archived_channel_is_told_with_what_to_do)
{
	desk("C03OLD");

	run_worker("slack-poster");

	expect(NOTES, "slack.channel|the channel C03OLD is archived; unarchive it, or set "
	              "slack.channel_id to another\n");
	desk_is_left();
}
END_TEST

START_TEST(a_channel_that_is_not_there_for_us_is_told_until_we_are_invited)
{
	desk("G01SECRET");
	(void)start_worker("slack-poster");

	expect_soon(NOTES, "slack.channel|there is no channel G01SECRET for the app; if it is "
	                   "private, /invite the app there, else set slack.channel_id to the id "
	                   "that the channel's details show\n");
	(void)slack_order("channel", "{'id': 'G01SECRET', 'is_member': true}");
	advance(60000);

	expect_soon(NOTES, "");
	desk_is_left();
}
END_TEST

START_TEST(who_we_are_is_asked_again_after_the_token_was_refused)
{
	desk("C01AGENTS");
	(void)start_worker("slack-poster");
	expect_soon("SELECT count(*) FROM setting WHERE name = 'slack.bot_id'", "1\n");
	slack_set("{'bot_error': 'token_revoked'}");
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	expect_soon("SELECT why FROM slack_gate WHERE name = 'slack'",
	            "Slack refuses the bot token: token_revoked\n");
	given("DELETE FROM setting WHERE name = 'slack.bot_id'");
	slack_set("{'bot_error': null}");
	advance(60000);

	expect_soon("SELECT value FROM setting WHERE name = 'slack.bot_id'", "B01BOT\n");
	expect_soon("SELECT state FROM slack_outbox", "sent\n");
	expect("SELECT why FROM slack_gate WHERE name = 'slack'", "\n");
	desk_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_app");
	TCase *c = tcase_create("slack_app");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, the_manifest_has_every_scope_event_and_switch_that_we_need);
	tcase_add_test(c, who_we_are_in_slack_is_known_as_soon_as_the_poster_has_asked);
	tcase_add_test(c, a_scope_that_is_missing_is_named_with_what_to_do_until_it_is_there);
	tcase_add_test(c, a_public_channel_is_joined);
	tcase_add_test(c, a_public_channel_that_cannot_be_joined_is_told_with_what_to_do);
	tcase_add_test(c, an_archived_channel_is_told_with_what_to_do);
	tcase_add_test(c, a_channel_that_is_not_there_for_us_is_told_until_we_are_invited);
	tcase_add_test(c, who_we_are_is_asked_again_after_the_token_was_refused);
	suite_add_tcase(s, c);
	return run_suite(s);
}
