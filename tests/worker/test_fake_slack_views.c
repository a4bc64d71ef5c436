/* The fake Slack's own rules, where no client of Slack's looks: limits, triggers, the ack police. A
 * judge that finds nothing wrong with anybody is worth nothing. */
#include "fake_slack_case.h"

START_TEST(a_trigger_opens_one_view_within_three_seconds)
{
	const char *trigger;

	start();
	trigger = member(slack_deliver("{'slash': {'text': 'a'}}"), "trigger_id");
	taken(open_view(trigger, MODAL));
	refused(open_view(trigger, MODAL), "exchanged_trigger_id");
	trigger = member(slack_deliver("{'slash': {'text': 'b'}}"), "trigger_id");
	advance(2900);
	taken(open_view(trigger, MODAL));
	trigger = member(slack_deliver("{'slash': {'text': 'c'}}"), "trigger_id");
	advance(3100);
	refused(open_view(trigger, MODAL), "expired_trigger_id");
	trigger =
	    member(slack_deliver("{'slash': {'text': 'd'}, 'old_trigger_ms': 3100}"), "trigger_id");
	refused(open_view(trigger, MODAL), "expired_trigger_id");
	slack_stop();
}
END_TEST

START_TEST(a_view_that_is_refused_leaves_its_trigger)
{
	const char *trigger;

	start();
	trigger = member(slack_deliver("{'slash': {'text': 'a'}}"), "trigger_id");
	refused(open_view(trigger, "{\"type\":\"modal\",\"blocks\":[]}"), "invalid_arguments");
	taken(open_view(trigger, MODAL));
	slack_stop();
}
END_TEST

static const struct {
	const char *view, *error, *place;
} UNFIT_VIEWS[] = {
	{ "{'type':'modal','title':{'type':'plain_text','text':'@25@'},'blocks':[]}",
	  "invalid_arguments", "must be less than 25 characters [json-pointer:/view/title/text]" },
	{ "{'type':'modal','title':{'type':'plain_text','text':'t'},'blocks':[{'type':'input',"
	  "'label':{'type':'plain_text','text':'l'},'element':{'type':'plain_text_input'}}]}",
	  "invalid_arguments", "missing required field: submit [json-pointer:/view]" },
	{ "{'type':'modal','title':{'type':'plain_text','text':'t'},"
	  "'private_metadata':'@3001@','blocks':[]}",
	  "invalid_arguments",
	  "must be less than 3001 characters [json-pointer:/view/private_metadata]" },
	{ "{'type':'modal','title':{'type':'plain_text','text':'t'},'blocks':["
	  "{'type':'markdown','text':'x'}]}",
	  "invalid_arguments", "unsupported type: markdown [json-pointer:/view/blocks/0/type]" },
	{ "{'type':'modal','title':{'type':'plain_text','text':'t'},'blocks':["
	  "<<101|{'type':'divider'}>>]}",
	  "invalid_arguments", "no more than 100 items allowed [json-pointer:/view/blocks]" },
	{ "{'type':'modal','title':{'type':'plain_text','text':'t'},'blocks':["
	  "<<90|{'type':'section','text':{'type':'mrkdwn','text':'@3000@'}}>>]}",
	  "view_too_large", "" },
};

START_TEST(a_view_that_does_not_fit_is_refused)
{
	OWNED(char_ptr) char *view = written_out(UNFIT_VIEWS[_i].view);
	const char *answer;

	start();
	answer = open_view(member(slack_deliver("{'slash': {'text': 'a'}}"), "trigger_id"), view);
	refused(answer, UNFIT_VIEWS[_i].error);
	has(answer, "errors.0", UNFIT_VIEWS[_i].place);
	slack_stop();
}
END_TEST

START_TEST(a_stale_hash_and_an_external_id_that_is_taken_are_refused)
{
	const char *trigger, *answer, *id;
	static const char NAMED[] =
	    "{\"type\":\"modal\",\"external_id\":\"e\"," TITLE ",\"blocks\":[]}";

	start();
	trigger = member(slack_deliver("{'slash': {'text': 'a'}}"), "trigger_id");
	answer = open_view(trigger, NAMED);
	id = member(answer, "view.id");
	trigger = member(slack_deliver("{'slash': {'text': 'b'}}"), "trigger_id");
	refused(open_view(trigger, NAMED), "duplicate_external_id");
	refused(
	    callf("views.update", "{\"view_id\":\"%s\",\"hash\":\"1.x\",\"view\":" MODAL "}", id),
	    "hash_conflict");
	taken(callf("views.update", "{\"view_id\":\"%s\",\"hash\":\"%s\",\"view\":" MODAL "}", id,
	            member(answer, "view.hash")));
	slack_stop();
}
END_TEST

/* ---- response_url ---- */

/* Posts to a response_url of ours; its status. */
static int respond(const char *url, const char *json, const char *error)
{
	int status;
	OWNED(char_ptr)
	char *answer = exchange(strstr(strstr(url, "//") + 2, "/"), NULL,
	                        "application/json; charset=utf-8", json, &status);

	if (error)
		refused(answer, error);
	else
		ck_assert_str_eq(answer, "ok");
	return status;
}

START_TEST(a_response_url_takes_five_posts_within_thirty_minutes)
{
	const char *url;

	start();
	url = member(slack_deliver("{'slash': {'text': 'a'}}"), "response_url");
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(respond(url, "{\"text\":\"x\"}", NULL), 200);
	ck_assert_int_eq(respond(url, "{\"text\":\"x\"}", "used_url"), 404);
	url = member(slack_deliver("{'slash': {'text': 'b'}}"), "response_url");
	advance(30 * MINUTE + SECOND);
	ck_assert_int_eq(respond(url, "{\"text\":\"x\"}", "expired_url"), 404);
	slack_stop();
}
END_TEST

START_TEST(a_response_url_replaces_and_deletes_what_was_clicked_ephemeral_or_not)
{
	static const char BLOCKS[] =
	    "\"text\":\"x\",\"blocks\":[{\"type\":\"actions\",\"elements\":[{\"type\":\"button\","
	    "\"action_id\":\"go\",\"text\":{\"type\":\"plain_text\",\"text\":\"Go\"}}]}]";
	const char *answer, *url;

	start();
	answer = callf("chat.postEphemeral", "{\"channel\":\"" AGENTS "\",\"user\":\"U01OP\",%s}",
	               BLOCKS);
	url = member(slack_deliver("{'click': {'channel': '" AGENTS "', 'ts': '%s',"
	                           " 'action_id': 'go'}}",
	                           member(answer, "message_ts")),
	             "response_url");
	ck_assert_int_eq(respond(url, "{\"replace_original\":true,\"text\":\"done\"}", NULL), 200);
	has(slack_ask("messages"), "messages.0.text", "done");
	ck_assert_int_eq(respond(url, "{\"delete_original\":true}", NULL), 200);
	has(slack_ask("messages"), "messages.0.deleted", "true");
	slack_stop();
}
END_TEST

START_TEST(nobody_can_press_what_is_not_there)
{
	int status;

	start();
	OWNED(str) struct str order = { 0 };

	str_addf(&order,
	         "{\"click\":{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"action_id\":\"go\"}}",
	         post("no buttons"));
	OWNED(char_ptr)
	char *answer = exchange("/control/deliver", NULL, "application/json", order.bytes, &status);

	ck_assert_int_eq(status, 400);
	has(answer, "error", "action_id: not in its blocks");
	slack_stop();
}
END_TEST

/* ---- files ---- */

START_TEST(an_upload_has_the_announced_length_happens_once_and_is_completed_once)
{
	int status;

	start();
	OWNED(char_ptr)
	char *ask =
	    exchange("/api/files.getUploadURLExternal", SLACK_FAKE_BOT_TOKEN,
	             "application/x-www-form-urlencoded", "filename=a.diff&length=3", &status);
	const char *path = strstr(member(ask, "upload_url"), "/upload/");
	OWNED(str) struct str complete = { 0 };

	str_addf(&complete, "{\"files\":[{\"id\":\"%s\"}],\"channel_id\":\"" AGENTS "\"}",
	         member(ask, "file_id"));
	refused(call("files.completeUploadExternal", complete.bytes), "file_not_found");
	OWNED(char_ptr)
	char *longer = exchange(path, NULL, "application/octet-stream", "1234", &status);

	ck_assert_int_eq(status, 400);
	OWNED(char_ptr)
	char *right = exchange(path, NULL, "application/octet-stream", "123", &status);

	ck_assert_str_eq(right, "OK - 3");
	OWNED(char_ptr)
	char *again = exchange(path, NULL, "application/octet-stream", "123", &status);

	ck_assert_int_eq(status, 404);
	taken(call("files.completeUploadExternal", complete.bytes));
	refused(call("files.completeUploadExternal", complete.bytes), "file_not_found");
	slack_stop();
}
END_TEST

/* ---- faults on demand ---- */

START_TEST(an_answer_is_lost_before_or_after_the_message_is_there)
{
	static const char REQUEST[] = "POST /api/chat.postMessage HTTP/1.1\r\nHost: fake\r\n"
	                              "Authorization: Bearer " SLACK_FAKE_BOT_TOKEN "\r\n"
	                              "Content-Type: application/x-www-form-urlencoded\r\n"
	                              "Content-Length: 24\r\n\r\nchannel=C01AGENTS&text=x";
	struct wire w = { 0 };

	start();
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'before', 'skip': 1}");
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'after'}");
	for (int i = 0; i < 3; i++) {
		wire_open(&w, slack_port());
		wire_send(&w, REQUEST);
		if (i == 2)
			ck_assert_int_eq(wire_answer(&w), 200);
		else
			ck_assert(wire_is_cut_within(&w, AGENT_PATIENCE_MS));
		wire_close(&w);
		if (i == 0)
			has(slack_wait_for("chat.postMessage"), "fault", "lost after");
		if (i == 1)
			has(slack_wait_for("chat.postMessage"), "fault", "lost before");
	}
	has(slack_ask("messages"), "messages.1.text", "x");
	has(slack_ask("messages"), "messages.2.text", "");
	slack_expect_calls("chat.postMessage\nchat.postMessage\nchat.postMessage\n");
	slack_stop();
}
END_TEST

static const char AUTH_TEST[] = "POST /api/auth.test HTTP/1.1\r\nHost: fake\r\n"
                                "Authorization: Bearer " SLACK_FAKE_BOT_TOKEN "\r\n"
                                "Content-Length: 0\r\n\r\n";

START_TEST(an_answer_can_be_slow_and_a_fault_can_be_for_any_call)
{
	struct wire w = { 0 };
	int64_t from;

	start();
	slack_fault("{'name': 'auth.test', 'what': 'slow', 'delay_ms': 300}");
	from = agent_ms();
	wire_open(&w, slack_port());
	wire_send(&w, AUTH_TEST);
	ck_assert_int_eq(wire_answer(&w), 200);
	ck_assert_int_ge(agent_ms() - from, 300);
	has(str_text(&w.body), "user_id", "U0BOT");
	wire_close(&w);
	slack_fault("{'name': '*', 'what': 'error', 'error': 'fatal_error', 'extra': {'a': 'b'}}");
	has(call("chat.update", "{}"), "a", "b");
	slack_fault("{'name': '*', 'what': 'rate', 'retry_after': 30}");
	refused(call("auth.test", "{}"), "ratelimited");
	taken(call("auth.test", "{}"));
	slack_expect_faults("retry_after_ignored\n");
	slack_stop();
}
END_TEST

START_TEST(a_client_that_leaves_a_slow_answer_does_no_harm)
{
	struct wire w = { 0 };

	start();
	slack_fault("{'name': 'auth.test', 'what': 'slow', 'delay_ms': 100}");
	wire_open(&w, slack_port());
	wire_send(&w, AUTH_TEST);
	ck_assert_int_eq(wire_head(&w), 200);
	wire_break(&w);
	slack_fault("{'name': 'auth.test', 'what': 'slow', 'delay_ms': 200}");
	taken(call("auth.test", "{}"));
	slack_stop();
}
END_TEST

START_TEST(a_hanging_answer_never_comes)
{
	struct wire w = { 0 };

	start();
	slack_fault("{'name': 'auth.test', 'what': 'hang'}");
	wire_open(&w, slack_port());
	wire_send(&w, AUTH_TEST);
	has(slack_wait_for("auth.test"), "fault", "hang before");
	ck_assert(!wire_is_cut_within(&w, A_MOMENT_MS));
	wire_close(&w);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fake_slack_views");
	TCase *c = tcase_create("fake_slack");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_add_test(c, a_trigger_opens_one_view_within_three_seconds);
	tcase_add_test(c, a_view_that_is_refused_leaves_its_trigger);
	tcase_add_loop_test(c, a_view_that_does_not_fit_is_refused, 0, COUNT(UNFIT_VIEWS));
	tcase_add_test(c, a_stale_hash_and_an_external_id_that_is_taken_are_refused);
	tcase_add_test(c, a_response_url_takes_five_posts_within_thirty_minutes);
	tcase_add_test(c, a_response_url_replaces_and_deletes_what_was_clicked_ephemeral_or_not);
	tcase_add_test(c, nobody_can_press_what_is_not_there);
	tcase_add_test(c, an_upload_has_the_announced_length_happens_once_and_is_completed_once);
	tcase_add_test(c, an_answer_is_lost_before_or_after_the_message_is_there);
	tcase_add_test(c, an_answer_can_be_slow_and_a_fault_can_be_for_any_call);
	tcase_add_test(c, a_client_that_leaves_a_slow_answer_does_no_harm);
	tcase_add_test(c, a_hanging_answer_never_comes);
	suite_add_tcase(s, c);
	return run_suite(s);
}
