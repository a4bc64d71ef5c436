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

int main(void)
{
	Suite *s = suite_create("slack_app");
	TCase *c = tcase_create("slack_app");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, the_manifest_has_every_scope_event_and_switch_that_we_need);
	suite_add_tcase(s, c);
	return run_suite(s);
}
