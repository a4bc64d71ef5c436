/* The fake Slack's own rules, where no client of Slack's looks: limits, triggers, the ack police. A
 * judge that finds nothing wrong with anybody is worth nothing. */
#include "agent.h"
#include "harness.h"
#include "jsonrpc.h"
#include "slack_peer.h"
#include "socket_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, A_MOMENT_MS = 60 };

#define AGENTS "C01AGENTS"
#define TITLE "\"title\":{\"type\":\"plain_text\",\"text\":\"t\"}"
#define MODAL "{\"type\":\"modal\"," TITLE ",\"blocks\":[{\"type\":\"divider\"}]}"

static void start(void)
{
	(void)scratch();
	slack_start();
}

/* ---- calls ---- */

/* Sends one request and reads its answer's body; the caller frees. */
static char *exchange(const char *path, const char *token, const char *type, const char *body,
                      int *status)
{
	OWNED(str) struct str request = STR_INIT;
	struct wire w = { 0 };
	char *answer;

	str_addf(&request, "POST %s HTTP/1.1\r\nHost: fake\r\nContent-Length: %zu\r\n", path,
	         strlen(body));
	if (token)
		str_addf(&request, "Authorization: Bearer %s\r\n", token);
	if (type)
		str_addf(&request, "Content-Type: %s\r\n", type);
	str_addf(&request, "\r\n%s", body);
	wire_open(&w, slack_port());
	wire_send(&w, request.bytes);
	*status = wire_answer(&w);
	answer = str_take(&w.body);
	wire_close(&w);
	return answer;
}

/* Calls a method with a body of JSON and the bot's token; the answer stays for 16 calls. */
static const char *call(const char *method, const char *json)
{
	static char *answers[16];
	static int next;
	char **answer = &answers[next++ % 16];
	char path[100];
	int status;

	(void)snprintf(path, sizeof(path), "/api/%s", method);
	free(*answer);
	*answer =
	    exchange(path, SLACK_FAKE_BOT_TOKEN, "application/json; charset=utf-8", json, &status);
	return *answer;
}

static const char *callf(const char *method, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const char *callf(const char *method, const char *format, ...)
{
	OWNED(char_ptr) char *json = NULL;
	va_list args;

	va_start(args, format);
	ck_assert_int_ge(vasprintf(&json, format, args), 0);
	va_end(args);
	return call(method, json);
}

static void refused(const char *answer, const char *error)
{
	ck_assert_msg(strcmp(member(answer, "error"), error) == 0, "%s\nexpected: %s", answer,
	              error);
}

static void taken(const char *answer)
{
	has(answer, "ok", "true");
}

/* Posts a text; its ts stays until the next one. */
static const char *post(const char *text)
{
	static char ts[40];
	const char *answer =
	    callf("chat.postMessage", "{\"channel\":\"" AGENTS "\",\"text\":\"%s\"}", text);

	taken(answer);
	(void)snprintf(ts, sizeof(ts), "%s", member(answer, "ts"));
	return ts;
}

/* ---- Block Kit ---- */

/* n times x. */
static void add_letters(struct str *out, long n)
{
	for (; n > 0; n--)
		str_add_char(out, 'x');
}

/* A list of n copies of what stands between from and to; $ in it is 0, 1, 2. */
static void add_copies(struct str *out, long n, const char *from, const char *to)
{
	for (long i = 0; i < n; i++) {
		str_add(out, i ? "," : "");
		for (const char *c = from; c < to; c++)
			if (*c == '$')
				str_addf(out, "%ld", i);
			else if (*c == '@')
				add_letters(out, strtol(c + 1, (char **)&c, 10));
			else
				str_add_char(out, *c == '\'' ? '"' : *c);
	}
}

/* Writes text out: @75@ is 75 times x; <<3|...>> is a list of 3 copies; ' is ". */
static char *written_out(const char *text)
{
	struct str out = STR_INIT;
	char *end;

	while (*text) {
		if (*text == '@') {
			add_letters(&out, strtol(text + 1, &end, 10));
			text = end + 1;
		} else if (strncmp(text, "<<", 2) == 0) {
			long n = strtol(text + 2, &end, 10);
			const char *close = strstr(end, ">>");

			add_copies(&out, n, end + 1, close);
			text = close + 2;
		} else {
			str_add_char(&out, *text == '\'' ? '"' : *text);
			text++;
		}
	}
	return str_take(&out);
}

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

/* ---- triggers, views ---- */

static const char *open_view(const char *trigger, const char *view)
{
	return callf("views.open", "{\"trigger_id\":\"%s\",\"view\":%s}", trigger, view);
}

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
	OWNED(str) struct str order = STR_INIT;

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
	OWNED(str) struct str complete = STR_INIT;

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

/* ---- tickets and sockets ---- */

START_TEST(a_socket_url_is_for_one_connection_and_a_short_time)
{
	struct client c;

	start();
	OWNED(char_ptr) char *used = client_path();
	OWNED(char_ptr) char *old = client_path();

	ck_assert_int_eq(client_try(&c, used), 101);
	client_close(&c);
	ck_assert_int_eq(client_try(&c, used), 404);
	client_close(&c);
	advance(31 * SECOND);
	ck_assert_int_eq(client_try(&c, old), 404);
	client_close(&c);
	slack_set("{'stale_ticket': '1008'}");
	ck_assert_int_eq(client_try(&c, "/link/?ticket=none"), 101);
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1008);
	client_close(&c);
	slack_expect_faults("ticket_again\n");
	slack_stop();
}
END_TEST

START_TEST(a_hello_comes_late_never_or_twice)
{
	struct client c;

	start();
	slack_set("{'hello': 'late', 'hello_delay_ms': 4000, 'ping_every_ms': 0}");
	OWNED(char_ptr) char *late = client_path();
	ck_assert_int_eq(client_try(&c, late), 101);
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	advance(4 * SECOND);
	OWNED(char_ptr) char *hello = client_message(&c);
	has(hello, "type", "hello");
	has(hello, "num_connections", "1");
	client_close(&c);
	slack_wait_for("close");

	slack_set("{'hello': 'never'}");
	OWNED(char_ptr) char *never = client_path();
	ck_assert_int_eq(client_try(&c, never), 101);
	advance(MINUTE);
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	client_close(&c);
	slack_wait_for("close");

	slack_set("{'hello': 'twice'}");
	client_open(&c);
	OWNED(char_ptr) char *second = client_message(&c);
	has(second, "type", "hello");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(it_pings_every_five_seconds_and_closes_ten_seconds_after_a_warning)
{
	struct client c;

	start();
	client_open(&c);
	advance(5 * SECOND);
	ck_assert(!client_hears_nothing(&c, AGENT_PATIENCE_MS));
	slack_socket("{'do': 'disconnect', 'reason': 'warning'}");
	OWNED(char_ptr) char *warning = client_message(&c);
	ck_assert_int_eq(c.pings, 1);
	has(warning, "reason", "warning");
	(void)slack_deliver("{'slash': {'text': 'still here'}}");
	OWNED(char_ptr) char *envelope = client_message(&c);
	client_ack(&c, member(envelope, "envelope_id"), NULL);
	slack_wait_for("ack");
	advance(10 * SECOND);
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1000);
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(a_socket_can_be_cut_fall_silent_or_stay_open_after_its_close)
{
	static const uint8_t NORMAL[] = { 0x03, 0xE8 };
	struct client c;

	start();
	client_open(&c);
	slack_socket("{'do': 'cut'}");
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1006);
	client_close(&c);

	client_open(&c);
	slack_socket("{'do': 'close', 'code': 1011, 'keep_tcp': true}");
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1011);
	client_frame(&c, WSLAY_CONNECTION_CLOSE, true, NORMAL, sizeof(NORMAL));
	slack_wait_for("closing");
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	client_close(&c);

	client_open(&c);
	slack_socket("{'do': 'silence'}");
	(void)slack_deliver("{'slash': {'text': 'into nothing'}}");
	advance(MINUTE);
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(the_eleventh_socket_is_one_too_many)
{
	struct client c[11];
	OWNED(char_ptr) char *path = NULL;

	start();
	for (int i = 0; i < 10; i++)
		client_open(&c[i]);
	path = client_path();
	ck_assert_int_eq(client_try(&c[10], path), 101);
	OWNED(char_ptr) char *answer = client_message(&c[10]);
	has(answer, "reason", "too_many_websockets");
	for (int i = 0; i < 11; i++)
		client_close(&c[i]);
	slack_stop();
}
END_TEST

START_TEST(debug_reconnects_refreshes_after_six_minutes)
{
	struct client c;
	OWNED(str) struct str path = STR_INIT;

	start();
	OWNED(char_ptr) char *plain = client_path();
	str_addf(&path, "%s&debug_reconnects=true", plain);
	ck_assert_int_eq(client_try(&c, path.bytes), 101);
	OWNED(char_ptr) char *hello = client_message(&c);
	advance(6 * MINUTE);
	OWNED(char_ptr) char *refresh = client_message(&c);
	has(refresh, "reason", "refresh_requested");
	client_close(&c);
	slack_stop();
}
END_TEST

/* ---- the ack police ---- */

/* Delivers to an open client and reads the envelope: its id, which stays as the answer does. */
static const char *receive(struct client *c, const char *order)
{
	const char *id = member(slack_deliver("%s", order), "envelope_id");
	OWNED(char_ptr) char *envelope = client_message(c);

	has(envelope, "envelope_id", id);
	return id;
}

static const char SLASH[] = "{'slash': {'text': 'x'}}";
static const char EVENT[] = "{'message': {'text': 'x'}}";

START_TEST(a_good_ack_is_no_fault)
{
	struct client c;

	start();
	client_open(&c);
	client_ack(&c, receive(&c, SLASH), "{\"text\":\"hello\"}");
	client_ack(&c, receive(&c, EVENT), NULL);
	client_ack(&c, receive(&c, EVENT), "{}");
	slack_expect_calls("apps.connections.open\nack\nack\nack\n");
	advance(MINUTE);
	has(slack_ask("sockets"), "sockets.0.unacked", "0");
	slack_expect_faults("");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(an_ack_after_three_seconds_is_late_and_none_is_too)
{
	struct client c;
	const char *id;

	start();
	client_open(&c);
	id = receive(&c, SLASH);
	advance(3 * SECOND - 500);
	slack_expect_faults("");
	advance(SECOND);
	client_ack(&c, id, NULL);
	slack_wait_for("ack");
	slack_expect_faults("ack_late\n");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(acks_that_are_wrong_are_found_each_by_its_rule)
{
	struct client c;
	const char *id;

	start();
	client_open(&c);
	id = receive(&c, SLASH);
	client_ack(&c, id, NULL);
	client_ack(&c, id, NULL);
	client_ack(&c, "no-such-envelope", NULL);
	client_ack(&c, receive(&c, EVENT), "{\"text\":\"x\"}");
	client_say(&c, "{\"envelope_id\":");
	client_say(&c, "{\"payload\":{}}");
	client_frame(&c, WSLAY_BINARY_FRAME, true, "{}", 2);
	client_close(&c);
	slack_wait_for("close");
	client_open(&c);
	c.bare = true; /* from its first frame on: wslay goes on with a mask it once had */
	client_ack(&c, receive(&c, SLASH), NULL);
	slack_expect_calls("apps.connections.open\nack\nack\nack\nack\n"
	                   "apps.connections.open\nack\n");
	slack_expect_faults("ack_twice\nack_unknown\nack_payload_not_allowed\nack_unparseable\n"
	                    "ack_unparseable\nframe_kind\nack_unparseable\nframe_kind\n");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(an_ack_in_two_frames_is_lost)
{
	struct client c;
	OWNED(str) struct str ack = STR_INIT;

	start();
	client_open(&c);
	str_addf(&ack, "{\"envelope_id\":\"%s\"}", receive(&c, SLASH));
	client_frame(&c, WSLAY_TEXT_FRAME, false, ack.bytes, 10);
	client_frame(&c, WSLAY_CONTINUATION_FRAME, true, ack.bytes + 10, ack.length - 10);
	client_ack(&c, receive(&c, SLASH), NULL);
	slack_wait_for("ack");
	has(slack_ask("sockets"), "sockets.0.unacked", "1");
	slack_expect_faults("ack_fragmented\n");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(a_frame_of_20480_bytes_is_taken_and_one_more_closes_with_1009)
{
	OWNED(char_ptr) char *room = written_out("@20480@");
	OWNED(str) struct str ack = STR_INIT;
	struct client c;

	start();
	client_open(&c);
	str_addf(&ack, "{\"envelope_id\":\"%s\",\"payload\":{\"a\":\"", receive(&c, SLASH));
	str_add_bytes(&ack, room, 20480 - ack.length - strlen("\"}}"));
	str_add(&ack, "\"}}");
	ck_assert_int_eq(ack.length, 20480);
	client_say(&c, ack.bytes);
	slack_wait_for("ack");
	slack_expect_faults("");
	str_add(&ack, " ");
	client_say(&c, ack.bytes);
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1009);
	slack_expect_faults("ack_too_large\n");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(an_ack_on_another_socket_does_not_count)
{
	struct client a, b;

	start();
	client_open(&a);
	client_open(&b);
	client_ack(&b, receive(&a, SLASH), NULL);
	slack_wait_for("ack");
	has(slack_ask("sockets"), "sockets.0.unacked", "1");
	slack_expect_faults("ack_wrong_socket\n");
	client_close(&a);
	client_close(&b);
	slack_stop();
}
END_TEST

START_TEST(errors_in_an_ack_name_input_blocks_and_a_view_in_it_must_fit)
{
	static const char FORM[] =
	    "{\"type\":\"modal\"," TITLE ",\"submit\":{\"type\":\"plain_text\",\"text\":\"s\"},"
	    "\"blocks\":[{\"type\":\"divider\",\"block_id\":\"line\"},{\"type\":\"input\","
	    "\"block_id\":\"in\",\"label\":{\"type\":\"plain_text\",\"text\":\"l\"},"
	    "\"element\":{\"type\":\"plain_text_input\",\"action_id\":\"a\"}}]}";
	static const char SUBMIT[] = "{'submit': {'values': {'in': {'a': 'text'}}}}";
	struct client c;
	const char *answer;

	start();
	client_open(&c);
	answer = slack_deliver("%s", SLASH);
	taken(open_view(member(answer, "trigger_id"), FORM));
	OWNED(char_ptr) char *envelope = client_message(&c);
	client_ack(&c, member(envelope, "envelope_id"), NULL);
	client_ack(&c, receive(&c, SUBMIT),
	           "{\"response_action\":\"errors\",\"errors\":{\"in\":\"no\"}}");
	slack_wait_for("ack");
	slack_wait_for("ack");
	slack_expect_faults("");
	client_ack(&c, receive(&c, SUBMIT),
	           "{\"response_action\":\"errors\",\"errors\":{\"line\":\"no\"}}");
	client_ack(&c, receive(&c, SUBMIT), "{\"response_action\":\"push\",\"view\":{}}");
	client_ack(&c, receive(&c, SUBMIT), "{\"response_action\":\"push\",\"view\":" MODAL "}");
	slack_wait_for("ack");
	slack_wait_for("ack");
	slack_wait_for("ack");
	slack_expect_faults("ack_errors_keys\nack_view\n");
	answer = slack_ask("views");
	has(answer, "views.1.previous_view_id", member(answer, "views.0.id"));
	client_close(&c);
	slack_stop();
}
END_TEST

/* ---- redelivery ---- */

START_TEST(what_finds_no_socket_waits_for_the_next_hello)
{
	struct client c;
	const char *id;

	start();
	id = member(slack_deliver("%s", SLASH), "envelope_id");
	client_open(&c);
	OWNED(char_ptr) char *envelope = client_message(&c);
	has(envelope, "envelope_id", id);
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(what_was_not_acked_comes_again_with_the_same_id_or_a_new_one)
{
	struct client c;
	const char *id;

	start();
	slack_set("{'redeliver': 'same'}");
	client_open(&c);
	id = receive(&c, EVENT);
	client_close(&c);
	slack_wait_for("close");
	client_open(&c);
	OWNED(char_ptr) char *again = client_message(&c);
	has(again, "envelope_id", id);
	has(again, "retry_attempt", "1");
	slack_set("{'redeliver': 'new'}");
	client_close(&c);
	slack_wait_for("close");
	client_open(&c);
	OWNED(char_ptr) char *third = client_message(&c);
	ck_assert_str_ne(member(third, "envelope_id"), id);
	has(third, "payload.event_id", member(again, "payload.event_id"));
	has(third, "retry_attempt", "2");
	client_ack(&c, member(third, "envelope_id"), NULL);
	slack_wait_for("ack");
	client_close(&c);
	slack_wait_for("close");
	client_open(&c);
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(an_upgrade_can_be_refused)
{
	struct client c;

	start();
	slack_fault("{'name': 'link', 'what': 'status', 'status': 502}");
	OWNED(char_ptr) char *path = client_path();
	ck_assert_int_eq(client_try(&c, path), 502);
	client_close(&c);
	slack_wait_for("refused");
	ck_assert_int_eq(client_try(&c, path), 101);
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(a_test_can_send_an_envelope_again_at_will)
{
	struct client a, b;
	const char *id;

	start();
	client_open(&a);
	id = receive(&a, EVENT);
	client_ack(&a, id, NULL);
	client_open(&b);
	(void)slack_order("redeliver", "{'envelope_id': '%s', 'socket': 2, 'retry_attempt': 3}",
	                  id);
	OWNED(char_ptr) char *same = client_message(&b);
	has(same, "envelope_id", id);
	has(same, "retry_attempt", "3");
	has(same, "retry_reason", "timeout");
	client_ack(&b, member(same, "envelope_id"), NULL);
	(void)slack_order("redeliver", "{'envelope_id': '%s', 'socket': 2, 'new_id': true}",
	                  member(same, "envelope_id"));
	OWNED(char_ptr) char *other = client_message(&b);
	ck_assert_str_ne(member(other, "envelope_id"), member(same, "envelope_id"));
	client_close(&a);
	client_close(&b);
	slack_stop();
}
END_TEST

START_TEST(envelopes_come_in_pieces_large_unknown_and_unparseable)
{
	struct client c;

	start();
	client_open(&c);
	(void)slack_deliver("{'slash': {'text': 'x'}, 'pad': 200000, 'fragments': 5}");
	OWNED(char_ptr) char *large = client_message(&c);
	ck_assert_uint_eq(strlen(member(large, "payload.unknown_member")), 200000);
	(void)slack_deliver("{'envelope': {'type': 'new', 'envelope_id': 'e-1', 'payload': null}}");
	OWNED(char_ptr) char *unknown = client_message(&c);
	has(unknown, "envelope_id", "e-1");
	(void)slack_deliver("{'raw': '{\\'envelope_id\\':'}");
	OWNED(char_ptr) char *broken = client_message(&c);
	ck_assert_str_eq(broken, "{\"envelope_id\":");
	(void)slack_deliver("{'slash': {'text': 'x'}, 'payload': {'user_id': null, 'more': 1}}");
	OWNED(char_ptr) char *changed = client_message(&c);
	ck_assert_ptr_nonnull(strstr(changed, "\"user_id\":null"));
	has(changed, "payload.more", "1");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(what_our_bot_posts_and_changes_comes_back_as_events_if_the_test_wants)
{
	struct client c;

	start();
	slack_set("{'message_events': true}");
	client_open(&c);
	const char *ts = post("x");
	OWNED(char_ptr) char *posted = client_message(&c);
	has(posted, "payload.event.bot_id", "B01BOT");
	taken(
	    callf("chat.update", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"y\"}", ts));
	OWNED(char_ptr) char *changed = client_message(&c);
	has(changed, "payload.event.subtype", "message_changed");
	has(changed, "payload.event.previous_message.text", "x");
	has(changed, "payload.event.message.text", "y");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(a_file_that_is_shared_comes_back_as_an_event_if_the_test_wants)
{
	struct client c;
	int status;

	start();
	slack_set("{'share_events': true}");
	client_open(&c);
	OWNED(char_ptr)
	char *ask =
	    exchange("/api/files.getUploadURLExternal", SLACK_FAKE_BOT_TOKEN,
	             "application/x-www-form-urlencoded", "filename=a.diff&length=3", &status);
	OWNED(char_ptr)
	char *sent = exchange(strstr(member(ask, "upload_url"), "/upload/"), NULL,
	                      "application/octet-stream", "123", &status);
	ck_assert_str_eq(sent, "OK - 3");
	taken(callf("files.completeUploadExternal",
	            "{\"files\":[{\"id\":\"%s\"}],\"channel_id\":\"" AGENTS "\"}",
	            member(ask, "file_id")));
	OWNED(char_ptr) char *shared = client_message(&c);
	has(shared, "payload.event.subtype", "file_share");
	has(shared, "payload.event.files.0.id", member(ask, "file_id"));
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(copies_want_as_many_acks)
{
	struct client c;
	const char *id;

	start();
	client_open(&c);
	id = receive(&c, "{'slash': {'text': 'x'}, 'copies': 2}");
	OWNED(char_ptr) char *copy = client_message(&c);
	has(copy, "envelope_id", id);
	client_ack(&c, id, NULL);
	client_ack(&c, id, NULL);
	slack_expect_calls("apps.connections.open\nack\nack\n");
	has(slack_ask("sockets"), "sockets.0.unacked", "0");
	client_close(&c);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fake_slack");
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
	tcase_add_test(c, a_socket_url_is_for_one_connection_and_a_short_time);
	tcase_add_test(c, a_hello_comes_late_never_or_twice);
	tcase_add_test(c, it_pings_every_five_seconds_and_closes_ten_seconds_after_a_warning);
	tcase_add_test(c, a_socket_can_be_cut_fall_silent_or_stay_open_after_its_close);
	tcase_add_test(c, the_eleventh_socket_is_one_too_many);
	tcase_add_test(c, debug_reconnects_refreshes_after_six_minutes);
	tcase_add_test(c, a_good_ack_is_no_fault);
	tcase_add_test(c, an_ack_after_three_seconds_is_late_and_none_is_too);
	tcase_add_test(c, acks_that_are_wrong_are_found_each_by_its_rule);
	tcase_add_test(c, an_ack_in_two_frames_is_lost);
	tcase_add_test(c, a_frame_of_20480_bytes_is_taken_and_one_more_closes_with_1009);
	tcase_add_test(c, an_ack_on_another_socket_does_not_count);
	tcase_add_test(c, errors_in_an_ack_name_input_blocks_and_a_view_in_it_must_fit);
	tcase_add_test(c, what_finds_no_socket_waits_for_the_next_hello);
	tcase_add_test(c, what_was_not_acked_comes_again_with_the_same_id_or_a_new_one);
	tcase_add_test(c, an_upgrade_can_be_refused);
	tcase_add_test(c, a_test_can_send_an_envelope_again_at_will);
	tcase_add_test(c, envelopes_come_in_pieces_large_unknown_and_unparseable);
	tcase_add_test(c, what_our_bot_posts_and_changes_comes_back_as_events_if_the_test_wants);
	tcase_add_test(c, a_file_that_is_shared_comes_back_as_an_event_if_the_test_wants);
	tcase_add_test(c, copies_want_as_many_acks);
	suite_add_tcase(s, c);
	return run_suite(s);
}
