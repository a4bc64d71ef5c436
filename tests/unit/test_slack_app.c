/* The Slack app: its manifest, and who finds out what of it is missing in a workspace. */
#include "agent.h"
#include "slack_peer.h"

#include <poll.h>
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
	OWNED(str) struct str said = { 0 };

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

/* The poster looks a minute after its last look, which may still be under way when the clock is
 * moved. */
static void a_later_look_notes_nothing(void)
{
	for (int look = 0; look < 10; look++) {
		advance(60000);
		for (int64_t end = agent_ms() + 1000; agent_ms() < end; (void)poll(NULL, 0, 10)) {
			OWNED(char_ptr) char *notes = rows(NOTES);

			if (!*notes)
				return;
		}
	}
	expect(NOTES, "");
}

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

	a_later_look_notes_nothing();
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

	a_later_look_notes_nothing();
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

/* ---- doctor ---- */

/* What the doctor says where Slack is configured; the test fails unless it ends with status. */
static char *examined(const char *channel, int status)
{
	struct str said = { 0 };
	char more[100];
	struct site site;
	int is;

	(void)snprintf(more, sizeof(more), "[slack]\nchannel_id = \"%s\"\n", channel);
	site = site_make(more);
	is = shell(&said, "HOME='%s' '%s/agent-intercom' --config '%s' doctor", site.home,
	           getenv("INTERCOM_BUILD"), site.config);
	ck_assert_msg(is == status, "status %d\n%s", is, str_text(&said));
	return str_take(&said);
}

static void clinic(void)
{
	fresh_store();
	slack_start();
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	(void)setenv("SLACK_TEAM_ID", "T01TEAM", 1);
	(void)setenv("SLACK_MEMBER_IDS", "U01OP, U02OP", 1);
}

START_TEST(the_doctor_asks_slack_and_finds_it_in_order)
{
	clinic();

	OWNED(char_ptr) char *said = examined("C01AGENTS", 0);

	says(said, "ok   slack: tokens, members and channel are there\n"
	           "ok   slack bot token: we are intercom in lab (T01TEAM)\n"
	           "ok   slack scopes: all that are used are there\n"
	           "ok   slack clock: agrees with Slack's\n"
	           "ok   slack channel: the app is in C01AGENTS\n"
	           "ok   slack members: 2, known to Slack\n"
	           "ok   slack Socket Mode: a connection can be opened\n");
	slack_expect_calls("auth.test\nconversations.info\nusers.info\nusers.info\n"
	                   "apps.connections.open\n");
	desk_is_left();
}
END_TEST

START_TEST(the_doctor_names_what_is_wrong_in_slack_and_the_fix)
{
	clinic();
	(void)setenv("SLACK_TEAM_ID", "T77ELSE", 1);
	(void)setenv("SLACK_MEMBER_IDS", "U01OP,U03GUEST,U04GONE,U99NOBODY,U0BOT", 1);
	(void)slack_order("user", "{'id': 'U04GONE', 'team_id': 'T01TEAM'}");
	(void)slack_order("clock", "{'advance_ms': 61000}");

	OWNED(char_ptr) char *said = examined("C03OLD", 1);

	says(said, "FAIL slack team: SLACK_TEAM_ID is T77ELSE, but the bot token is for T01TEAM: "
	           "nobody could answer; correct it\n");
	says(said, "warn slack clock: this machine's clock is 6");
	says(said, " s behind Slack's; set it");
	says(said, "FAIL slack channel: the channel C03OLD is archived; unarchive it");
	says(said, "U03GUEST is in the team T99OTHER, which may not answer; remove it\n");
	says(said, "U04GONE is deactivated in Slack; remove it\n");
	says(said, "U99NOBODY: user_not_found; copy the id from the person's profile");
	says(said, "U0BOT is a bot; give the ids of people\n");
	desk_is_left();
}
END_TEST

START_TEST(the_doctor_names_missing_scopes_and_a_channel_to_be_joined)
{
	clinic();
	slack_set("%s", SOME_SCOPES);

	OWNED(char_ptr) char *said = examined("C02OTHER", 0);

	says(said, "warn slack scopes: the app lacks the scope files:write (long diffs are not "
	           "shown); add it under OAuth & Permissions, then Reinstall to workspace\n");
	says(said, "warn slack channel: the app is not in the public channel C02OTHER; it tries to "
	           "join at the start, or /invite it there\n");
	says(said, "ok   slack members: not looked up: the app has no scope users:read\n");
	desk_is_left();
}
END_TEST

START_TEST(the_doctor_takes_scopes_that_slack_does_not_name_as_unknown)
{
	clinic();
	slack_set("{'scopes_header': false}");

	OWNED(char_ptr) char *said = examined("C01AGENTS", 0);

	says(said, "warn slack scopes: unknown: Slack's answer has no x-oauth-scopes");
	says(said, "ok   slack members: 2, known to Slack\n");
	desk_is_left();
}
END_TEST

START_TEST(the_doctor_tells_which_token_is_refused_and_where_another_is_made)
{
	clinic();
	slack_set("{'bot_error': 'token_revoked', 'app_error': 'invalid_auth'}");

	OWNED(char_ptr) char *said = examined("C01AGENTS", 1);

	says(said, "FAIL slack bot token: SLACK_BOT_TOKEN is refused: token_revoked; install the "
	           "app, and copy the token from OAuth & Permissions\n");
	says(said,
	     "FAIL slack Socket Mode: SLACK_APP_TOKEN is refused: invalid_auth; make one with "
	     "connections:write under Basic Information, App-Level Tokens\n");
	desk_is_left();
}
END_TEST

START_TEST(the_doctor_knows_tokens_and_members_by_their_form)
{
	clinic();
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	OWNED(char_ptr) char *swapped = examined("C01AGENTS", 1);
	says(swapped, "FAIL slack: SLACK_APP_TOKEN must begin with xapp-, this is the bot token");
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	(void)setenv("SLACK_MEMBER_IDS", "U01OP,@op", 1);
	OWNED(char_ptr) char *member_id = examined("C01AGENTS", 1);
	says(member_id, "FAIL slack: SLACK_MEMBER_IDS: '@op' is no member id");
	slack_expect_calls("");
	desk_is_left();
}
END_TEST

START_TEST(the_doctor_without_a_way_to_slack_says_that_it_was_not_asked)
{
	char url[60];

	clinic();
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/api/", free_port());
	(void)setenv("SLACK_API_URL", url, 1);

	OWNED(char_ptr) char *said = examined("C01AGENTS", 0);

	says(said, "warn slack: cannot reach Slack: ");
	says(said, "; nothing more of Slack is checked\n");
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
	tcase_add_test(c, the_doctor_asks_slack_and_finds_it_in_order);
	tcase_add_test(c, the_doctor_names_what_is_wrong_in_slack_and_the_fix);
	tcase_add_test(c, the_doctor_names_missing_scopes_and_a_channel_to_be_joined);
	tcase_add_test(c, the_doctor_takes_scopes_that_slack_does_not_name_as_unknown);
	tcase_add_test(c, the_doctor_tells_which_token_is_refused_and_where_another_is_made);
	tcase_add_test(c, the_doctor_knows_tokens_and_members_by_their_form);
	tcase_add_test(c, the_doctor_without_a_way_to_slack_says_that_it_was_not_asked);
	suite_add_tcase(s, c);
	return run_suite(s);
}
