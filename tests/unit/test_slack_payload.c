/* slack_payload: what Slack sends, and what is meant by it. JSON stands with ' for ". */
#include "payload.h"

#include "err.h"
#include "rpc.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---- given, then ---- */

static char *json(const char *text)
{
	char *out = xstrdup(text);

	for (char *at = out; *at; at++)
		if (*at == '\'')
			*at = '"';
	return out;
}

static struct slack_frame frame(const char *text)
{
	OWNED(char_ptr) char *bytes = json(text);
	struct slack_frame f;

	slack_frame_read(&f, bytes, strlen(bytes));
	return f;
}

/* What an envelope of this type with this payload means. */
static struct slack_intent act(const char *type, const char *payload)
{
	OWNED(str) struct str text = { 0 };
	struct slack_intent a = { 0 };
	struct slack_frame f;

	str_addf(&text, "{'payload':%s,'envelope_id':'e-1','type':'%s'}", payload, type);
	f = frame(text.bytes);
	ck_assert_int_eq(f.kind, SLACK_FRAME_ENVELOPE);
	slack_intent_read(&a, &f, "U0BOT");
	slack_frame_clear(&f);
	return a;
}

#define is(a, b) ck_assert_pstr_eq(a, b)

static void reads(const char *typed, const char *plain)
{
	OWNED(str) struct str out = { 0 };

	slack_text_plain(&out, typed, "U0BOT");
	ck_assert_str_eq(str_text(&out), plain);
}

/* ---- frames ---- */

START_TEST(a_hello_says_how_many_connections_there_are)
{
	struct slack_frame f = frame("{'type':'hello','num_connections':2,'debug_info':"
	                             "{'approximate_connection_time':18060}}");

	ck_assert_int_eq(f.kind, SLACK_FRAME_HELLO);
	ck_assert_int_eq(f.connections, 2);
	slack_frame_clear(&f);
	f = frame("{'type':'hello','num_connections':null,'debug_info':7}");
	ck_assert_int_eq(f.kind, SLACK_FRAME_HELLO);
	ck_assert_int_eq(f.connections, 0);
	slack_frame_clear(&f);
}
END_TEST

START_TEST(a_disconnect_has_its_reason)
{
	struct slack_frame f = frame("{'reason':'refresh_requested','type':'disconnect'}");

	ck_assert_int_eq(f.kind, SLACK_FRAME_DISCONNECT);
	is(f.reason, "refresh_requested");
	slack_frame_clear(&f);
	f = frame("{'type':'disconnect','reason':null}");
	ck_assert_int_eq(f.kind, SLACK_FRAME_DISCONNECT);
	is(f.reason, "");
	slack_frame_clear(&f);
}
END_TEST

START_TEST(an_envelope_id_is_found_in_what_is_no_strict_json)
{
	static const struct {
		const char *bytes, *id;
	} CASES[] = {
		{ "{'envelope_id':'6b3c-1','payload':{", "6b3c-1" },
		{ "rubbish 'envelope_id' : 'a-1' rubbish", "a-1" },
		{ "{'envelope_id':'", NULL },
		{ "{'envelope_id':''}}", NULL },
		{ "'envelope_id'", NULL },
		{ "{'envelope_id':'a b'", NULL },
		{ "nothing at all", NULL },
		{ "{'envelope_id':'a-1','payload':{}} {}", "a-1" },
		{ "{'envelope_id':'a-1','envelope_id':'a-2'}", "a-1" },
		{ "{'envelope_id':'a-1','payload':{'text':'no\\u0000, unless tested'}}", "a-1" },
		{ "", NULL },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct slack_frame f = frame(CASES[i].bytes);

		ck_assert_int_eq(f.kind, SLACK_FRAME_OTHER);
		is(f.envelope_id, CASES[i].id);
		slack_frame_clear(&f);
	}
}
END_TEST

START_TEST(a_frame_that_is_no_utf8_is_none_of_ours)
{
	static const char BYTES[] = "{\"envelope_id\":\"e-1\",\"type\":\"\xff\"}";
	struct slack_frame f;

	slack_frame_read(&f, BYTES, sizeof(BYTES) - 1);
	ck_assert_int_eq(f.kind, SLACK_FRAME_OTHER);
	is(f.envelope_id, "e-1");
	slack_frame_clear(&f);
}
END_TEST

/* ---- clicks ---- */

#define CLICK(action, value)                                                                       \
	"{'type':'block_actions','user':{'id':'U01','team_id':'T01'},'team':{'id':'T09'},"         \
	"'container':{'type':'message','message_ts':'1.2','channel_id':'C01','thread_ts':'1.1'},"  \
	"'trigger_id':'12.34','channel':{'id':'C01'},'response_url':'https://x/y',"                \
	"'actions':[{'type':'button','action_id':'" action "','value':" value                      \
	",'action_ts':'9.9'}]}"

START_TEST(a_button_is_a_decision)
{
	struct slack_intent a = act("interactive", CLICK("approve_accept", "'r-1'"));

	ck_assert_int_eq(a.meaning, INTENT_DECIDE);
	is(a.verdict, "approve");
	is(a.request, "r-1");
	is(a.user, "U01");
	is(a.team, "T01");
	is(a.channel, "C01");
	is(a.thread_ts, "1.1");
	is(a.trigger_id, "12.34");
	is(a.event_key, "click:U01:1.2:approve_accept:9.9");
	is(a.action, "approve_accept r-1");
	slack_intent_clear(&a);
}
END_TEST

START_TEST(every_button_has_its_meaning)
{
	static const struct {
		const char *id;
		enum slack_meaning meaning;
		const char *verdict, *view;
		bool of_session;
	} CASES[] = {
		{ "approve_accept", INTENT_DECIDE, "approve", NULL, false },
		{ "approve_reject", INTENT_OPEN, NULL, "reject", false },
		{ "approve_file", INTENT_ORDER, "file", NULL, false },
		{ "approve_option_2", INTENT_DECIDE, "choose", NULL, false },
		{ "write_undo", INTENT_ORDER, "undo", NULL, false },
		{ "tell_approve", INTENT_ASKED, "approve", NULL, false },
		{ "tell_reject", INTENT_ASKED, "reject", NULL, false },
		{ "prompt_continue", INTENT_DECIDE, "continue", NULL, false },
		{ "prompt_refine", INTENT_OPEN, NULL, "refine", false },
		{ "prompt_stop", INTENT_DECIDE, "stop", NULL, false },
		{ "wait_resume", INTENT_DECIDE, "resume", NULL, false },
		{ "wait_resume_instruct", INTENT_OPEN, NULL, "resume", false },
		{ "wait_stop", INTENT_DECIDE, "stop", NULL, false },
		{ "stall_nudge", INTENT_NUDGE, "nudge", NULL, true },
		{ "stall_nudge_instruct", INTENT_OPEN, NULL, "nudge", true },
		{ "stall_stop", INTENT_NUDGE, "stop", NULL, true },
		{ "session_clear", INTENT_SESSION, "session-stop", NULL, true },
		{ "session_resume", INTENT_SESSION, "session-resume", NULL, true },
		{ "session_restart", INTENT_SESSION, "session-restart", NULL, true },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str payload = { 0 };
		struct slack_intent a;

		str_addf(&payload,
		         "{'type':'block_actions','actions':[{'action_id':'%s','value':'v-1'}]}",
		         CASES[i].id);
		a = act("interactive", payload.bytes);
		ck_assert_int_eq(a.meaning, CASES[i].meaning);
		is(a.verdict, CASES[i].verdict);
		is(a.view, CASES[i].view);
		is(CASES[i].of_session ? a.session : a.request, "v-1");
		is(CASES[i].of_session ? a.request : a.session, NULL);
		slack_intent_clear(&a);
	}
}
END_TEST

START_TEST(the_button_of_an_option_carries_its_number)
{
	struct slack_intent a = act("interactive", CLICK("approve_option_12", "'01900000-0000'"));

	is(a.request, "01900000-0000");
	is(a.text, "12");
	slack_intent_clear(&a);
}
END_TEST

START_TEST(the_button_of_a_session_carries_its_order_and_its_id)
{
	struct slack_intent a =
	    act("interactive", CLICK("session_clear", "'session-clear:01900000-0000'"));

	ck_assert_int_eq(a.meaning, INTENT_SESSION);
	is(a.session, "01900000-0000");
	slack_intent_clear(&a);
}
END_TEST

START_TEST(a_click_that_lacks_something_is_unknown_and_says_what)
{
	static const struct {
		const char *payload, *problem;
	} CASES[] = {
		{ "{'type':'block_actions'}", "a click without a button" },
		{ "{'type':'block_actions','actions':[]}", "a click without a button" },
		{ "{'type':'block_actions','actions':null,'user':null}",
		  "a click without a button" },
		{ CLICK("approve_accept", "null"), "a button without its value" },
		{ CLICK("approve_accept", "{'a':1}"), "a button without its value" },
		{ "{'user':{'id':'U01'}}", "an interaction that does not say its type" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct slack_intent a = act("interactive", CASES[i].payload);

		ck_assert_int_eq(a.meaning, INTENT_UNKNOWN);
		is(a.problem, CASES[i].problem);
		slack_intent_clear(&a);
	}
}
END_TEST

START_TEST(a_button_that_is_none_of_ours_is_nothing)
{
	struct slack_intent a = act("interactive", CLICK("open_link", "null"));

	ck_assert_int_eq(a.meaning, INTENT_NOTHING);
	slack_intent_clear(&a);
	a = act("interactive", "{'type':'shortcut','user':{'id':'U01'},'team':{'id':'T01'}}");
	ck_assert_int_eq(a.meaning, INTENT_NOTHING);
	is(a.team, "T01");
	slack_intent_clear(&a);
}
END_TEST

/* ---- forms ---- */

#define FORM(callback, metadata, value)                                                            \
	"{'type':'view_submission','user':{'id':'U01','team_id':'T01'},'trigger_id':'5.6',"        \
	"'view':{'id':'V01','callback_id':'" callback "','private_metadata':'" metadata            \
	"','state':{'values':{'instruction_block':{'instruction_text':"                            \
	"{'type':'plain_text_input','value':" value "}}}}}}"

START_TEST(a_form_is_a_decision_with_its_text)
{
	static const struct {
		const char *payload, *verdict, *request, *session;
	} CASES[] = {
		{ FORM("approval_reject", "r-1", "'because'"), "reject", "r-1", NULL },
		{ FORM("approval_reject:r-2", "", "'because'"), "reject", "r-2", NULL },
		{ FORM("prompt_refine", "r-1", "'because'"), "refine", "r-1", NULL },
		{ FORM("prompt_refine:r-2", "", "'because'"), "refine", "r-2", NULL },
		{ FORM("wait_instruct", "r-1", "'because'"), "resume", "r-1", NULL },
		{ FORM("wait_instruct:r-2", "", "'because'"), "resume", "r-2", NULL },
		{ FORM("stall_nudge", "s-1", "'because'"), "nudge", NULL, "s-1" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct slack_intent a = act("interactive", CASES[i].payload);

		is(a.verdict, CASES[i].verdict);
		is(a.request, CASES[i].request);
		is(a.session, CASES[i].session);
		is(a.text, "because");
		ck_assert_int_eq(a.meaning, CASES[i].session ? INTENT_NUDGE : INTENT_DECIDE);
		ck_assert_ptr_nonnull(a.event_key);
		ck_assert_ptr_null(strstr(a.event_key, "5.6"));
		slack_intent_clear(&a);
	}
}
END_TEST

START_TEST(the_text_of_a_form_or_a_command_is_as_it_was_typed)
{
	static const char CODE[] =
	    "  Map<String, List<T>> m = a<b && c>d;\xC2\xA0\xE2\x80\x9Cx\xE2\x80\x9D";
	struct slack_intent a =
	    act("interactive",
	        FORM("prompt_refine", "r-1",
	             "'  Map<String, List<T>> m = a<b && c>d;\xC2\xA0\xE2\x80\x9Cx\xE2\x80\x9D'"));

	is(a.text, CODE);
	slack_intent_clear(&a);
	a = act(
	    "slash_commands",
	    "{'text':'  Map<String, List<T>> m = a<b && c>d;\xC2\xA0\xE2\x80\x9Cx\xE2\x80\x9D'}");
	is(a.text, CODE);
	slack_intent_clear(&a);
	a = act("slash_commands", "{'text':'steer a &lt; b &amp;&amp; &amp;lt;'}"); /* once */
	is(a.text, "steer a < b && &lt;");
	slack_intent_clear(&a);
}
END_TEST

START_TEST(a_rejection_needs_no_words)
{
	struct slack_intent a = act("interactive", FORM("approval_reject:r-2", "", "null"));

	ck_assert_int_eq(a.meaning, INTENT_DECIDE);
	is(a.verdict, "reject");
	is(a.text, NULL);
	slack_intent_clear(&a);
}
END_TEST

START_TEST(an_empty_form_names_its_field)
{
	static const char *const CASES[] = { FORM("prompt_refine", "r-1", "null"),
		                             FORM("prompt_refine", "r-1", "''"),
		                             FORM("prompt_refine", "r-1", "' \xC2\xA0 '") };

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct slack_intent a = act("interactive", CASES[i]);

		ck_assert_int_eq(a.meaning, INTENT_EMPTY);
		is(a.field, "instruction_block");
		slack_intent_clear(&a);
	}
}
END_TEST

START_TEST(a_form_that_is_none_of_ours_is_unknown)
{
	static const char *const CASES[] = {
		FORM("survey", "r-1", "'x'"),
		FORM("prompt_refine", "", "'x'"),
		"{'type':'view_submission','view':null}",
		"{'type':'view_submission'}",
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct slack_intent a = act("interactive", CASES[i]);

		ck_assert_int_eq(a.meaning, INTENT_UNKNOWN);
		ck_assert_ptr_nonnull(a.problem);
		slack_intent_clear(&a);
	}
}
END_TEST

/* Slack sends an object; a list has no blocks with names. */
START_TEST(a_form_whose_fields_have_no_names_has_no_fields)
{
	struct slack_intent a =
	    act("interactive",
	        "{'type':'view_submission','user':{'id':'U01'},'trigger_id':'5.6','view':{"
	        "'id':'V01','callback_id':'prompt_form','private_metadata':'r-1','state':{"
	        "'values':[{'input':{'value':'x'}},[{'value':'y'}]]}}}");

	ck_assert_int_eq(a.meaning, INTENT_FORM);
	is(a.text, "{}");
	is(a.field, NULL);
	slack_intent_clear(&a);
}
END_TEST

START_TEST(a_closed_form_is_nothing_but_recognised_again)
{
	struct slack_intent a =
	    act("interactive", "{'type':'view_closed','user':{'id':'U01'},"
	                       "'view':{'id':'V01','callback_id':'prompt_refine'}}");

	ck_assert_int_eq(a.meaning, INTENT_NOTHING);
	is(a.event_key, "closed:V01");
	slack_intent_clear(&a);
	a = act("interactive", "{'type':'view_closed','user':{'id':'U01'},'view':{'id':'V02',"
	                       "'callback_id':'prompt_refine','private_metadata':'01J'}}");
	ck_assert_int_eq(a.meaning, INTENT_CLOSE);
	is(a.request, "01J");
	slack_intent_clear(&a);
}
END_TEST

/* ---- commands and messages ---- */

START_TEST(a_slash_command_is_its_text)
{
	struct slack_intent a =
	    act("slash_commands",
	        "{'command':'/intercom','text':' steer  keep \xE2\x80\x9Cthat\xE2\x80\x9D ',"
	        "'user_id':'U01','team_id':'T01','channel_id':'C01',"
	        "'trigger_id':'7.8','is_enterprise_install':'false'}");

	ck_assert_int_eq(a.meaning, INTENT_COMMAND);
	is(a.text, " steer  keep \xE2\x80\x9Cthat\xE2\x80\x9D ");
	is(a.user, "U01");
	is(a.channel, "C01");
	ck_assert_ptr_null(strstr(a.event_key, "7.8"));
	slack_intent_clear(&a);
	a = act("slash_commands", "{'text':null,'user_id':null}");
	ck_assert_int_eq(a.meaning, INTENT_COMMAND);
	is(a.text, "");
	is(a.user, NULL);
	is(a.event_key, NULL);
	slack_intent_clear(&a);
}
END_TEST

#define EVENT(more)                                                                                \
	"{'team_id':'T01','event_id':'Ev1','authorizations':[{'user_id':'U0BOT','is_bot':true}],"  \
	"'event':{'channel':'C01','user':'U01','ts':'3.4','team':'T01'," more "}}"

START_TEST(a_reply_and_a_mention_are_for_us_other_talk_is_not)
{
	struct slack_intent a =
	    act("events_api", EVENT("'type':'message','thread_ts':'3.1','text':'approve',"
	                            "'client_msg_id':'m-1'"));

	ck_assert_int_eq(a.meaning, INTENT_REPLY);
	is(a.thread_ts, "3.1");
	is(a.text, "approve");
	is(a.event_key, "event:Ev1");
	is(a.message_key, "C01:3.4");
	is(a.client_key, "m-1");
	ck_assert(!a.mentioned);
	slack_intent_clear(&a);
	a = act("events_api", EVENT("'type':'app_mention','text':'<@U0BOT> run the tests'"));
	ck_assert_int_eq(a.meaning, INTENT_MENTION);
	is(a.text, "run the tests");
	is(a.message_key, "C01:3.4");
	slack_intent_clear(&a);
	a = act("events_api", EVENT("'type':'message','text':'hi <@U0BOT|intercom> there'"));
	ck_assert_int_eq(a.meaning, INTENT_MENTION);
	is(a.text, "hi @intercom there");
	slack_intent_clear(&a);
	a = act("events_api", EVENT("'type':'message','text':'lunch?','thread_ts':'3.4'"));
	ck_assert_int_eq(a.meaning, INTENT_NOTHING);
	slack_intent_clear(&a);
	a = act("events_api", EVENT("'type':'message','text':'hello','channel_type':'im'"));
	ck_assert_int_eq(a.meaning, INTENT_MENTION);
	slack_intent_clear(&a);
}
END_TEST

START_TEST(what_programs_say_is_nothing)
{
	static const char *const CASES[] = {
		EVENT("'type':'message','thread_ts':'3.1','bot_id':'B01','text':'x'"),
		EVENT("'type':'message','thread_ts':'3.1','app_id':'A01','text':'x'"),
		EVENT("'type':'message','thread_ts':'3.1','subtype':'message_changed'"),
		EVENT("'type':'message','thread_ts':'3.1','subtype':'channel_join'"),
		EVENT("'type':'app_home_opened'"),
		"{'event':{'type':'message','channel':'C01','ts':'3.4','thread_ts':'3.1'}}",
		"{'event':{'type':'message','user':'U01','ts':'3.4','thread_ts':'3.1'}}",
		"{'event':{'type':'message','user':'U01','channel':'C01','thread_ts':'3.1'}}",
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct slack_intent a = act("events_api", CASES[i]);

		ck_assert_int_eq(a.meaning, INTENT_NOTHING);
		slack_intent_clear(&a);
	}
}
END_TEST

START_TEST(a_person_of_another_team_is_of_that_team)
{
	struct slack_intent a =
	    act("events_api", EVENT("'type':'message','thread_ts':'3.1','text':'x',"
	                            "'user_team':'T99'"));

	is(a.team, "T99");
	slack_intent_clear(&a);
}
END_TEST

START_TEST(what_is_of_no_known_type_is_unknown)
{
	struct slack_intent a = act("options", "{}");

	ck_assert_int_eq(a.meaning, INTENT_UNKNOWN);
	slack_intent_clear(&a);
	a = act("interactive", "null");
	is(a.problem, "an envelope without payload");
	slack_intent_clear(&a);
	a = act("events_api", "{'event':[]}");
	is(a.problem, "an event that does not say its type");
	slack_intent_clear(&a);
}
END_TEST

/* ---- texts ---- */

START_TEST(markup_is_undone)
{
	reads("<@U0BOT> go on", "go on");
	reads("  <@U0BOT|bot>\xC2\xA0go on ", "go on");
	reads("<@U0BOTTER> go", "@U0BOTTER go");
	reads("ask <@U1|ann> in <#C1|agents>, <!here> <!subteam^S1|@ops>",
	      "ask @ann in #agents, @here @ops");
	reads("see <https://x.org/a?b&amp;c|the page> and <https://x.org>",
	      "see the page (https://x.org/a?b&c) and https://x.org");
	reads("<https://x.org|https://x.org>", "https://x.org");
	reads("edit <http://README.md|README.md>, ask <mailto:a@b.c|a@b.c>, <tel:+491|+491>",
	      "edit README.md, ask a@b.c, +491");
	reads("<tel:5551234|555-1234> <tel:+15551234|+1 (555) 12.34>", "555-1234 +1 (555) 12.34");
	reads("<tel:5551234|555-1235> <tel:5551234|555> <tel:5|5 tabs>",
	      "555-1235 (tel:5551234) 555 (tel:5551234) 5 tabs (tel:5)");
	reads("<https://x.org/|x.org> <http://x.org/a?b&amp;c|x.org/a?b&amp;c>",
	      "x.org x.org/a?b&c");
	reads("<https://x.org|>", "https://x.org");
	reads("<http://evil.org|README.md> <http://x.org/a|x.org>",
	      "README.md (http://evil.org) x.org (http://x.org/a)");
	reads("a &lt; b &amp;&amp; c &gt; d &amp;lt;", "a < b && c > d &lt;");
	reads("&lt;@U0BOT&gt; is quoted", "<@U0BOT> is quoted");
	reads("\xE2\x80\x98it\xE2\x80\x99s\xE2\x80\x99 \xE2\x80\x9Cit\xE2\x80\x9D",
	      "\xE2\x80\x98it\xE2\x80\x99s\xE2\x80\x99 \xE2\x80\x9Cit\xE2\x80\x9D");
	reads("a < b", "a < b");
	reads("<>", "<>");
	reads("<", "<");
	reads("<@", "<@");
	reads("", "");
	reads("\n line\n\n", "line");
}
END_TEST

START_TEST(secrets_do_not_stay)
{
	OWNED(char_ptr)
	char *text =
	    json("{'token':'t','trigger_id':'1.2','response_url':'https://x',"
	         "'response_urls':[],'message':{},'view':{'blocks':[],'id':'V1'},'user':1}");
	OWNED(cJSON_ptr) cJSON *payload = cJSON_Parse(text);
	OWNED(str) struct str left = { 0 };

	slack_payload_strip(payload);
	json_canonical(&left, payload);
	ck_assert_str_eq(left.bytes, "{\"user\":1,\"view\":{\"id\":\"V1\"}}");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_payload");
	TCase *c = tcase_create("slack_payload");

	tcase_add_test(c, a_hello_says_how_many_connections_there_are);
	tcase_add_test(c, a_disconnect_has_its_reason);
	tcase_add_test(c, an_envelope_id_is_found_in_what_is_no_strict_json);
	tcase_add_test(c, a_frame_that_is_no_utf8_is_none_of_ours);
	tcase_add_test(c, a_button_is_a_decision);
	tcase_add_test(c, every_button_has_its_meaning);
	tcase_add_test(c, the_button_of_an_option_carries_its_number);
	tcase_add_test(c, the_button_of_a_session_carries_its_order_and_its_id);
	tcase_add_test(c, a_click_that_lacks_something_is_unknown_and_says_what);
	tcase_add_test(c, a_button_that_is_none_of_ours_is_nothing);
	tcase_add_test(c, a_form_is_a_decision_with_its_text);
	tcase_add_test(c, the_text_of_a_form_or_a_command_is_as_it_was_typed);
	tcase_add_test(c, a_rejection_needs_no_words);
	tcase_add_test(c, an_empty_form_names_its_field);
	tcase_add_test(c, a_form_that_is_none_of_ours_is_unknown);
	tcase_add_test(c, a_form_whose_fields_have_no_names_has_no_fields);
	tcase_add_test(c, a_closed_form_is_nothing_but_recognised_again);
	tcase_add_test(c, a_slash_command_is_its_text);
	tcase_add_test(c, a_reply_and_a_mention_are_for_us_other_talk_is_not);
	tcase_add_test(c, what_programs_say_is_nothing);
	tcase_add_test(c, a_person_of_another_team_is_of_that_team);
	tcase_add_test(c, what_is_of_no_known_type_is_unknown);
	tcase_add_test(c, markup_is_undone);
	tcase_add_test(c, secrets_do_not_stay);
	suite_add_tcase(s, c);
	return run_suite(s);
}
