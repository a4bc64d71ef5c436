/* The fake Slack's own rules, where no client of Slack's looks: limits, triggers, the ack police. A
 * judge that finds nothing wrong with anybody is worth nothing. */
#include "fake_slack_case.h"

static const char *post_blocks(const char *blocks)
{
	OWNED(char_ptr) char *json = written_out(blocks);

	return callf("chat.postMessage",
	             "{\"channel\":\"" AGENTS "\",\"text\":\"x\",\"blocks\":%s}", json);
}

#define BUTTON_TEXT "'type':'button','text':{'type':'plain_text','text':'b'}"

static const char *const FITTING[] = {
	"[{'type':'section','text':{'type':'mrkdwn','text':'@3000@'}}]",
	"[{'type':'section','fields':[<<10|{'type':'mrkdwn','text':'f'}>>]}]",
	"[{'type':'section','fields':[{'type':'mrkdwn','text':'@2000@'}]}]",
	"[{'type':'header','text':{'type':'plain_text','text':'@150@'}}]",
	"[{'type':'context','elements':[<<10|{'type':'mrkdwn','text':'c'}>>]}]",
	"[{'type':'actions','elements':[<<25|{'action_id':'a$'," BUTTON_TEXT "}>>]}]",
	"[{'type':'actions','elements':[{'type':'button','value':'@2000@','action_id':'@255@',"
	"'text':{'type':'plain_text','text':'@75@'}}]}]",
	"[<<50|{'type':'divider','block_id':'b$'}>>]",
	"[{'type':'divider','block_id':'@255@'}]",
	"[{'type':'markdown','text':'@6000@'},{'type':'markdown','text':'@6000@'}]",
	"[{'type':'rich_text','elements':[{'type':'rich_text_preformatted','language':'diff',"
	"'elements':[{'type':'text','text':'-a'}]}]}]",
	"[{'type':'section','text':{'type':'mrkdwn','text':'@3000@'}},"
	"{'type':'section','text':{'type':'mrkdwn','text':'@3000@'}},"
	"{'type':'section','text':{'type':'mrkdwn','text':'@3000@'}},"
	"{'type':'section','text':{'type':'mrkdwn','text':'@3000@'}},"
	"{'type':'section','text':{'type':'mrkdwn','text':'@1200@'}}]",
};

START_TEST(blocks_at_their_limits_are_posted)
{
	start();
	taken(post_blocks(FITTING[_i]));
	slack_stop();
}
END_TEST

static const struct {
	const char *blocks, *place;
} UNFIT[] = {
	{ "[{'type':'section','text':{'type':'mrkdwn','text':'@3001@'}}]",
	  "must be less than 3001 characters [json-pointer:/blocks/0/text/text]" },
	{ "[{'type':'divider'},{'type':'section','text':{'type':'mrkdwn','text':''}}]",
	  "must be more than 0 characters [json-pointer:/blocks/1/text/text]" },
	{ "[{'type':'section'}]",
	  "must define either `fields` or `text` [json-pointer:/blocks/0]" },
	{ "[{'type':'section','fields':[<<11|{'type':'mrkdwn','text':'f'}>>]}]",
	  "no more than 10 items allowed [json-pointer:/blocks/0/fields]" },
	{ "[{'type':'section','fields':[{'type':'mrkdwn','text':'@2001@'}]}]",
	  "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]" },
	{ "[{'type':'section','text':{'type':'markdown','text':'x'}}]",
	  "unsupported type of text [json-pointer:/blocks/0/text/type]" },
	{ "[{'type':'header','text':{'type':'plain_text','text':'@151@'}}]",
	  "must be less than 151 characters [json-pointer:/blocks/0/text/text]" },
	{ "[{'type':'header','text':{'type':'mrkdwn','text':'x'}}]",
	  "must be plain_text [json-pointer:/blocks/0/text/type]" },
	{ "[{'type':'context','elements':[<<11|{'type':'mrkdwn','text':'c'}>>]}]",
	  "no more than 10 items allowed [json-pointer:/blocks/0/elements]" },
	{ "[{'type':'context','elements':[{" BUTTON_TEXT "}]}]",
	  "unsupported type of text [json-pointer:/blocks/0/elements/0/type]" },
	{ "[{'type':'actions','elements':[]}]",
	  "no less than 1 items allowed [json-pointer:/blocks/0/elements]" },
	{ "[{'type':'actions','elements':[<<26|{'action_id':'a$'," BUTTON_TEXT "}>>]}]",
	  "no more than 25 items allowed [json-pointer:/blocks/0/elements]" },
	{ "[{'type':'actions','elements':[<<2|{'action_id':'a'," BUTTON_TEXT "}>>]}]",
	  "`action_id` must be unique within its block [json-pointer:/blocks/0/elements]" },
	{ "[{'type':'actions','elements':[{'type':'button','text':{'type':'plain_text',"
	  "'text':'@76@'}}]}]",
	  "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]" },
	{ "[{'type':'actions','elements':[{'value':'@2001@'," BUTTON_TEXT "}]}]",
	  "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]" },
	{ "[{'type':'actions','elements':[{'action_id':'@256@'," BUTTON_TEXT "}]}]",
	  "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]" },
	{ "[{'type':'actions','elements':[{'style':'green'," BUTTON_TEXT "}]}]",
	  "must be one of |primary|danger| [json-pointer:/blocks/0/elements/0/style]" },
	{ "[{'type':'actions','elements':[{'confirm':{'title':{'type':'plain_text','text':'t'},"
	  "'text':{'type':'plain_text','text':'t'},'confirm':{'type':'plain_text','text':'c'}}"
	  "," BUTTON_TEXT "}]}]",
	  "missing required field: deny [json-pointer:/blocks/0/elements/0/confirm]" },
	{ "[{'type':'actions','elements':[{'type':'overflow','options':[<<6|{'value':'$','text':"
	  "{'type':'plain_text','text':'o'}}>>]}]}]",
	  "no more than 5 items allowed [json-pointer:/blocks/0/elements/0/options]" },
	{ "[{'type':'section','text':{'type':'mrkdwn','text':'s'},'accessory':{'type':"
	  "'static_select','options':[<<101|{'value':'$','text':{'type':'plain_text',"
	  "'text':'o'}}>>]}}]",
	  "no more than 100 items allowed [json-pointer:/blocks/0/accessory/options]" },
	{ "[{'type':'section','text':{'type':'mrkdwn','text':'s'},'accessory':{'type':"
	  "'static_select','options':[<<99|{'value':'$','text':{'type':'plain_text','text':'o'}}>>,"
	  "{'value':'@76@','text':{'type':'plain_text','text':'o'}}]}}]",
	  "must be less than 76 characters [json-pointer:/blocks/0/accessory/options/99/value]" },
	{ "[{'type':'divider','block_id':'b'},{'type':'divider','block_id':'b'}]",
	  "`block_id` must be unique [json-pointer:/blocks/1/block_id]" },
	{ "[{'type':'divider','block_id':'@256@'}]",
	  "must be less than 256 characters [json-pointer:/blocks/0/block_id]" },
	{ "[<<51|{'type':'divider'}>>]", "no more than 50 items allowed [json-pointer:/blocks]" },
	{ "[{'type':'marquee'}]", "unsupported type: marquee [json-pointer:/blocks/0/type]" },
	{ "[{'type':'alert','text':{'type':'plain_text','text':'x'}}]",
	  "unsupported type: alert [json-pointer:/blocks/0/type]" },
	{ "[{'type':'file','external_id':'1','source':'remote'}]",
	  "unsupported type: file [json-pointer:/blocks/0/type]" },
	{ "[{'type':'markdown','text':'@6000@'},{'type':'markdown','text':'@6001@'}]",
	  "must be less than 12001 characters in all markdown blocks [json-pointer:/blocks/1]" },
	{ "[{'type':'rich_text','elements':[{'type':'text','text':'x'}]}]",
	  "must be one of |rich_text_section|rich_text_list|rich_text_quote|"
	  "rich_text_preformatted| [json-pointer:/blocks/0/elements/0/type]" },
};

START_TEST(a_block_that_does_not_fit_is_refused_with_its_place)
{
	const char *answer;

	start();
	answer = post_blocks(UNFIT[_i].blocks);
	refused(answer, "invalid_blocks");
	has(answer, "errors.0", UNFIT[_i].place);
	slack_stop();
}
END_TEST

START_TEST(all_text_of_a_message_has_a_limit_and_a_lower_one_with_rich_text)
{
	start();
	refused(post_blocks("[<<4|{'type':'section','text':{'type':'mrkdwn','text':'@3000@'}}>>,"
	                    "{'type':'section','text':{'type':'mrkdwn','text':'@1201@'}}]"),
	        "msg_blocks_too_long");
	refused(post_blocks("[{'type':'rich_text','elements':[{'type':'rich_text_section',"
	                    "'elements':[{'type':'text','text':'@11301@'}]}]}]"),
	        "msg_blocks_too_long");
	refused(post_blocks("{}"), "invalid_blocks_format");
	slack_stop();
}
END_TEST

START_TEST(a_block_type_that_a_workspace_lacks_is_refused)
{
	start();
	slack_set("{'refuse_blocks': ['rich_text']}");
	refused(post_blocks("[{'type':'rich_text','elements':[{'type':'rich_text_section',"
	                    "'elements':[]}]}]"),
	        "invalid_blocks");
	slack_stop();
}
END_TEST

/* ---- messages ---- */

START_TEST(text_is_cut_when_posted_and_refused_in_an_update)
{
	OWNED(char_ptr) char *most = written_out("@40000@");
	OWNED(char_ptr) char *changed = written_out("@4001@");
	const char *answer, *ts;

	start();
	answer = callf("chat.postMessage", "{\"channel\":\"" AGENTS "\",\"text\":\"%syz\"}", most);
	has(answer, "warning", "message_truncated");
	has(answer, "message.text", most);
	ts = member(answer, "ts");
	refused(callf("chat.update", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"%s\"}",
	              ts, changed),
	        "msg_too_long");
	refused(call("chat.postMessage", "{\"channel\":\"" AGENTS "\"}"), "no_text");
	slack_stop();
}
END_TEST

START_TEST(metadata_is_flat_small_and_named_by_letters)
{
	static const struct {
		const char *metadata, *error;
	} CASES[] = {
		{ "{'event_type':'a b','event_payload':{}}", "invalid_metadata_format" },
		{ "{'event_type':'a'}", "invalid_metadata_format" },
		{ "'text'", "invalid_metadata_format" },
		{ "{'event_type':'a','event_payload':{'b':{'c':1}}}", "invalid_metadata_schema" },
		{ "{'event_type':'a','event_payload':{'b':null}}", "invalid_metadata_schema" },
		{ "{'event_type':'a','event_payload':{'b':'@1100@'}}", "metadata_too_large" },
	};

	start();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr) char *metadata = written_out(CASES[i].metadata);

		refused(callf("chat.postMessage",
		              "{\"channel\":\"" AGENTS "\",\"text\":\"x\",\"metadata\":%s}",
		              metadata),
		        CASES[i].error);
	}
	slack_stop();
}
END_TEST

START_TEST(an_update_keeps_metadata_and_drops_blocks_that_are_not_named)
{
	const char *answer, *ts;

	start();
	answer =
	    call("chat.postMessage",
	         "{\"channel\":\"" AGENTS "\",\"text\":\"a\",\"blocks\":[{\"type\":\"divider\"}],"
	         "\"metadata\":{\"event_type\":\"e\",\"event_payload\":{\"id\":\"1\"}}}");
	ts = member(answer, "ts");
	taken(
	    callf("chat.update", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"b\"}", ts));
	answer = slack_ask("messages");
	has(answer, "messages.0.text", "b");
	has(answer, "messages.0.blocks", "");
	has(answer, "messages.0.metadata.event_payload.id", "1");
	slack_stop();
}
END_TEST

START_TEST(messages_of_others_and_rich_text_cannot_be_changed_into_what_they_are_not)
{
	const char *ts;

	start();
	ts = member(slack_deliver("{'message': {'text': 'mine'}}"), "ts");
	refused(
	    callf("chat.update", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"b\"}", ts),
	    "cant_update_message");
	refused(callf("chat.delete", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\"}", ts),
	        "cant_delete_message");
	ts = member(post_blocks("[{'type':'rich_text','elements':[{'type':'rich_text_section',"
	                        "'elements':[]}]}]"),
	            "ts");
	refused(
	    callf("chat.update", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"b\"}", ts),
	    "block_mismatch");
	slack_stop();
}
END_TEST

START_TEST(an_answer_needs_the_first_message_of_a_thread)
{
	const char *parent, *answer;

	start();
	parent = post("parent");
	answer = callf("chat.postMessage",
	               "{\"channel\":\"" AGENTS "\",\"text\":\"x\",\"thread_ts\":\"%s\"}", parent);
	taken(answer);
	refused(callf("chat.postMessage",
	              "{\"channel\":\"" AGENTS "\",\"text\":\"x\",\"thread_ts\":\"%s\"}",
	              member(answer, "ts")),
	        "cannot_reply_to_message");
	taken(callf("chat.delete", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\"}", parent));
	refused(callf("chat.postMessage",
	              "{\"channel\":\"" AGENTS "\",\"text\":\"x\",\"thread_ts\":\"%s\"}", parent),
	        "cannot_reply_to_message");
	slack_stop();
}
END_TEST

START_TEST(a_public_channel_can_be_written_to_from_outside_only_with_the_scope)
{
	start();
	taken(call("chat.postMessage", "{\"channel\":\"C02OTHER\",\"text\":\"x\"}"));
	slack_set("{'scopes': ['chat:write']}");
	refused(call("chat.postMessage", "{\"channel\":\"C02OTHER\",\"text\":\"x\"}"),
	        "not_in_channel");
	refused(call("chat.postMessage", "{\"channel\":\"G01SECRET\",\"text\":\"x\"}"),
	        "channel_not_found");
	slack_stop();
}
END_TEST

START_TEST(a_client_msg_id_counts_only_where_the_test_wants_it)
{
	static const char SAME[] =
	    "{\"channel\":\"" AGENTS "\",\"text\":\"x\",\"client_msg_id\":\"u-u-i-d\"}";
	const char *first, *again;

	start();
	first = member(call("chat.postMessage", SAME), "ts");
	ck_assert_str_ne(member(call("chat.postMessage", SAME), "ts"), first);
	slack_set("{'client_msg_id': 'dedupe'}");
	again = call("chat.postMessage", SAME);
	has(again, "is_duplicate", "true");
	has(again, "ts", first);
	slack_stop();
}
END_TEST

/* ---- tokens, bodies, rates ---- */

START_TEST(an_app_token_is_taken_from_the_header_only)
{
	int status;

	start();
	OWNED(char_ptr)
	char *as_field =
	    exchange("/api/apps.connections.open", NULL, "application/x-www-form-urlencoded",
	             "token=" SLACK_FAKE_APP_TOKEN, &status);
	OWNED(char_ptr)
	char *as_bot =
	    exchange("/api/apps.connections.open", SLACK_FAKE_BOT_TOKEN, NULL, "", &status);

	refused(as_field, "not_authed");
	refused(as_bot, "not_allowed_token_type");
	slack_stop();
}
END_TEST

START_TEST(a_token_in_the_url_and_a_method_that_is_none_are_found)
{
	int status;

	start();
	OWNED(char_ptr)
	char *answer =
	    exchange("/api/auth.test?token=" SLACK_FAKE_BOT_TOKEN, NULL, NULL, "", &status);

	refused(answer, "not_authed");
	refused(call("chat.shout", "{}"), "unknown_method");
	slack_expect_faults("token_in_url\nunknown_method\n");
	slack_stop();
}
END_TEST

START_TEST(json_is_not_seen_by_a_method_that_reads_forms)
{
	start();
	refused(call("conversations.info", "{\"channel\":\"" AGENTS "\"}"), "channel_not_found");
	refused(call("files.getUploadURLExternal", "{\"filename\":\"a\",\"length\":3}"),
	        "missing_argument");
	slack_expect_faults("json_to_form_only\njson_to_form_only\n");
	slack_stop();
}
END_TEST

START_TEST(a_token_that_is_revoked_ends_every_call_until_it_is_mended)
{
	start();
	slack_set("{'bot_error': 'token_revoked'}");
	refused(call("auth.test", "{}"), "token_revoked");
	slack_set("{'bot_error': null}");
	taken(call("auth.test", "{}"));
	slack_stop();
}
END_TEST

START_TEST(a_channel_takes_one_message_a_second_and_who_does_not_wait_is_found)
{
	start();
	slack_set("{'rate_limits': true}");
	(void)post("one");
	taken(call("chat.postMessage", "{\"channel\":\"G02PRIV\",\"text\":\"x\"}"));
	refused(call("chat.postMessage", "{\"channel\":\"" AGENTS "\",\"text\":\"x\"}"),
	        "ratelimited");
	slack_expect_faults("");
	refused(call("chat.postMessage", "{\"channel\":\"" AGENTS "\",\"text\":\"x\"}"),
	        "ratelimited");
	slack_expect_faults("retry_after_ignored\n");
	advance(SECOND);
	(void)post("two");
	slack_stop();
}
END_TEST

START_TEST(a_tier_is_so_many_calls_a_minute)
{
	const char *ts;

	start();
	slack_set("{'rate_limits': true}");
	ts = post("x");
	for (int i = 0; i < 50; i++)
		taken(callf("chat.update",
		            "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"b\"}", ts));
	refused(
	    callf("chat.update", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"b\"}", ts),
	    "ratelimited");
	advance(MINUTE);
	taken(
	    callf("chat.update", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"b\"}", ts));
	slack_stop();
}
END_TEST

START_TEST(arguments_come_as_form_as_multipart_and_in_the_url_of_a_get)
{
	static const char PARTS[] =
	    "--b\r\nContent-Disposition: form-data; name=\"channel\"\r\n\r\n"
	    "C01AGENTS\r\n--b\r\nContent-Disposition: form-data; "
	    "name=\"text\"\r\n\r\nfrom parts\r\n--b--\r\n";
	struct wire w = { 0 };
	int status;

	start();
	OWNED(char_ptr)
	char *form = exchange("/api/chat.postMessage", SLACK_FAKE_BOT_TOKEN,
	                      "application/x-www-form-urlencoded",
	                      "channel=C01AGENTS&text=from+a%20form&blocks=%5B%5D", &status);
	has(form, "message.text", "from a form");
	OWNED(char_ptr)
	char *parts = exchange("/api/chat.postMessage", SLACK_FAKE_BOT_TOKEN,
	                       "multipart/form-data; boundary=b", PARTS, &status);
	has(parts, "message.text", "from parts");
	wire_open(&w, slack_port());
	wire_send(&w, "GET /api/users.info?user=U02OP HTTP/1.1\r\nHost: fake\r\n"
	              "Authorization: Bearer " SLACK_FAKE_BOT_TOKEN "\r\n\r\n");
	ck_assert_int_eq(wire_answer(&w), 200);
	has(str_text(&w.body), "user.name", "op2");
	ck_assert_ptr_nonnull(strstr(wire_header(&w, "x-oauth-scopes"), "chat:write"));
	wire_close(&w);
	OWNED(char_ptr)
	char *text = exchange("/api/auth.test", SLACK_FAKE_BOT_TOKEN, "text/plain", "x", &status);
	refused(text, "invalid_post_type");
	slack_stop();
}
END_TEST

START_TEST(a_charset_is_asked_of_json_and_too_much_for_a_form)
{
	int status;

	start();
	OWNED(char_ptr)
	char *json =
	    exchange("/api/auth.test", SLACK_FAKE_BOT_TOKEN, "application/json", "{}", &status);
	has(json, "warning", "missing_charset");
	OWNED(char_ptr)
	char *form = exchange("/api/auth.test", SLACK_FAKE_BOT_TOKEN,
	                      "application/x-www-form-urlencoded; charset=utf-8", "a=b", &status);
	has(form, "warning", "superfluous_charset");
	slack_stop();
}
END_TEST

START_TEST(a_test_can_change_channels_people_and_the_clock)
{
	int64_t before;

	start();
	(void)slack_order("channel", "{'id': 'C09NEW', 'name': 'new', 'is_member': true}");
	taken(call("chat.postMessage", "{\"channel\":\"C09NEW\",\"text\":\"x\"}"));
	(void)slack_order("channel", "{'id': 'C09NEW', 'is_archived': true}");
	refused(call("chat.postMessage", "{\"channel\":\"C09NEW\",\"text\":\"x\"}"), "is_archived");
	(void)slack_order("user", "{'id': 'U02OP', 'deleted': true}");
	refused(call("conversations.open", "{\"users\":\"U02OP\"}"), "user_disabled");
	before = strtoll(member(slack_order("clock", "{}"), "now_ms"), NULL, 10);
	ck_assert_int_ge(
	    strtoll(member(slack_order("clock", "{'advance_ms': 60000}"), "now_ms"), NULL, 10),
	    before + MINUTE);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fake_slack_messages");
	TCase *c = tcase_create("fake_slack");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_add_loop_test(c, blocks_at_their_limits_are_posted, 0, COUNT(FITTING));
	tcase_add_loop_test(c, a_block_that_does_not_fit_is_refused_with_its_place, 0,
	                    COUNT(UNFIT));
	tcase_add_test(c, all_text_of_a_message_has_a_limit_and_a_lower_one_with_rich_text);
	tcase_add_test(c, a_block_type_that_a_workspace_lacks_is_refused);
	tcase_add_test(c, text_is_cut_when_posted_and_refused_in_an_update);
	tcase_add_test(c, metadata_is_flat_small_and_named_by_letters);
	tcase_add_test(c, an_update_keeps_metadata_and_drops_blocks_that_are_not_named);
	tcase_add_test(c,
	               messages_of_others_and_rich_text_cannot_be_changed_into_what_they_are_not);
	tcase_add_test(c, an_answer_needs_the_first_message_of_a_thread);
	tcase_add_test(c, a_public_channel_can_be_written_to_from_outside_only_with_the_scope);
	tcase_add_test(c, a_client_msg_id_counts_only_where_the_test_wants_it);
	tcase_add_test(c, an_app_token_is_taken_from_the_header_only);
	tcase_add_test(c, a_token_in_the_url_and_a_method_that_is_none_are_found);
	tcase_add_test(c, json_is_not_seen_by_a_method_that_reads_forms);
	tcase_add_test(c, a_token_that_is_revoked_ends_every_call_until_it_is_mended);
	tcase_add_test(c, a_channel_takes_one_message_a_second_and_who_does_not_wait_is_found);
	tcase_add_test(c, a_tier_is_so_many_calls_a_minute);
	tcase_add_test(c, arguments_come_as_form_as_multipart_and_in_the_url_of_a_get);
	tcase_add_test(c, a_charset_is_asked_of_json_and_too_much_for_a_form);
	tcase_add_test(c, a_test_can_change_channels_people_and_the_clock);
	suite_add_tcase(s, c);
	return run_suite(s);
}
