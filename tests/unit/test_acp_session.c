/* acp: the opening of a session, its turns and what is told of them, in both versions. */
#include "acp_case.h"

#include "err.h"
#include "suite.h"

#include <string.h>

#define INITIALIZED "{\"id\":1,\"result\":{\"protocolVersion\":1}}"
#define CAPABLE                                                                                    \
	"{\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true," \
	"\"mcpCapabilities\":{\"http\":true},\"sessionCapabilities\":{\"resume\":{},\"close\":{}}" \
	"},"                                                                                       \
	"\"agentInfo\":{\"name\":\"x\",\"version\":\"2.0\"},\"authMethods\":[{\"id\":\"oauth\","   \
	"\"name\":\"Log in with X\",\"description\":\"opens a "                                    \
	"browser\"},{\"id\":\"key\",\"name\":"                                                     \
	"\"API key\",\"type\":\"env_var\"}]}}"
#define CLIENT                                                                                     \
	"{\"name\":\"agent-intercom\",\"title\":\"Agent "                                          \
	"Intercom\",\"version\":\"" INTERCOM_VERSION "\"}"
#define OFFERED "{\"elicitation\":{\"form\":{}},\"session\":{\"notices\":{}}}"
#define NEW(id)                                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"session/new\",\"params\":{\"cwd\":"       \
	"\"/srv/project\",\"mcpServers\":[]}}\n"

/* ---- opening ---- */

START_TEST(a_session_of_version_1_is_opened)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	acp_case_open(&c, &how);
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
	                  "{\"protocolVersion\":1,\"clientInfo\":" CLIENT
	                  ",\"clientCapabilities\":" OFFERED "}}\n");
	acp_case_hears(&c, CAPABLE);
	acp_case_sent(&c, NEW("2"));
	acp_case_hears(&c, "{\"result\":{\"sessionId\":\"S\"},\"jsonrpc\":\"2.0\",\"id\":2}");
	acp_case_told(&c, "opened S\n");
	acp_case_sent(&c, "");
	ck_assert_str_eq(c.acp.agent.name.bytes, "x");
	ck_assert(c.acp.is_new);
}
END_TEST

START_TEST(a_universal_offer_takes_the_version_that_the_agent_speaks)
{
	for (int version = 1; version <= 2; version++) {
		OWNED(acp_case) struct acp_case c = { 0 };
		OWNED(str) struct str answer = { 0 };
		struct acp_how how = acp_case_how(ACP_STANDARD);

		how.version = ACP_VERSION_ANY;
		acp_case_open(&c, &how);
		acp_case_sent(&c,
		              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
		              "{\"protocolVersion\":2,\"info\":" CLIENT ",\"capabilities\":" OFFERED
		              ",\"clientInfo\":" CLIENT ",\"clientCapabilities\":" OFFERED "}}\n");
		str_addf(&answer, "{\"id\":1,\"result\":{\"protocolVersion\":%d}}", version);
		acp_case_hears(&c, answer.bytes);
		ck_assert_int_eq(c.acp.agent.version, version);
		acp_case_sent(&c, NEW("2"));
	}
}
END_TEST

START_TEST(an_agent_without_our_version_is_refused)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	acp_case_open(&c, &how);
	acp_case_hears(&c, "{\"id\":1,\"result\":{\"protocolVersion\":3}}");
	acp_case_told(&c, "failed 0 the agent cannot be used: it speaks version 3 of the protocol, "
	                  "not 1\n");
	ck_assert_int_eq(acp_due_ms(&c.acp) == INT64_MAX, 1);
}
END_TEST

START_TEST(a_login_that_is_missing_is_told_with_the_ways_to_log_in)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	acp_case_open(&c, &how);
	acp_case_hears(&c, CAPABLE);
	acp_case_hears(&c, "{\"id\":2,\"error\":{\"code\":-32000,\"message\":\"not now\"}}");
	acp_case_told(&c,
	              "failed -32000 the agent needs a login on this machine: not now; it offers "
	              "Log in with X (oauth): opens a browser; API key (key)\n");
}
END_TEST

START_TEST(a_login_is_called_only_by_a_method_that_the_agent_has)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	OWNED(acp_case) struct acp_case d = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.auth_method = "oauth";
	acp_case_open(&c, &how);
	acp_case_skip(&c);
	acp_case_hears(&c, CAPABLE);
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"authenticate\",\"params\":"
	                  "{\"methodId\":\"oauth\"}}\n");
	acp_case_hears(&c, "{\"id\":2,\"result\":{}}");
	acp_case_sent(&c, NEW("3"));

	how.auth_method = "key"; /* a variable of the environment: nothing to call */
	acp_case_open(&d, &how);
	acp_case_hears(&d, CAPABLE);
	acp_case_told(&d,
	              "failed 0 the agent has no login key; it offers Log in with X (oauth): opens "
	              "a browser; API key (key)\n");
}
END_TEST

START_TEST(our_server_is_given_to_an_agent_that_takes_it)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.mcp_url = "http://127.0.0.1:3000/mcp?session_id=1";
	acp_case_open(&c, &how);
	acp_case_skip(&c);
	acp_case_hears(&c, CAPABLE);
	acp_case_sent(
	    &c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":"
	        "\"/srv/project\",\"mcpServers\":[{\"type\":\"http\",\"name\":\"intercom\","
	        "\"url\":\"http://127.0.0.1:3000/mcp?session_id=1\",\"headers\":[]}]}}\n");
}
END_TEST

START_TEST(a_server_over_http_is_given_with_what_it_is_to_be_shown)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.mcp_url = "http://127.0.0.1:3000/mcp";
	how.mcp_authorization = "Bearer ict_1";
	acp_case_open(&c, &how);
	acp_case_skip(&c);
	acp_case_hears(&c, CAPABLE);
	acp_case_sent(
	    &c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":"
	        "\"/srv/project\",\"mcpServers\":[{\"type\":\"http\",\"name\":\"intercom\","
	        "\"url\":\"http://127.0.0.1:3000/mcp\",\"headers\":[{\"name\":"
	        "\"Authorization\",\"value\":\"Bearer ict_1\"}]}]}}\n");
}
END_TEST

START_TEST(an_agent_without_http_is_given_a_program_if_it_can_start_one)
{
	static const struct {
		const char *hello, *servers;
	} CASES[] = {
		{ "{\"protocolVersion\":1}", "{\"name\":\"intercom\",\"command\":\"/opt/agent-"
		                             "intercom\",\"args\":[\"mcp\"],\"env\":[]}" },
		{ "{\"protocolVersion\":2,\"capabilities\":{\"session\":{\"mcp\":{\"stdio\":{}}}}}",
		  "{\"type\":\"stdio\",\"name\":\"intercom\",\"command\":\"/opt/agent-"
		  "intercom\",\"args\":[\"mcp\"],\"env\":[]}" },
		{ "{\"protocolVersion\":2,\"capabilities\":{\"session\":{}}}", "" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(acp_case) struct acp_case c = { 0 };
		OWNED(str) struct str hello = { 0 };
		OWNED(str) struct str sent = { 0 };
		struct acp_how how = acp_case_how(ACP_STANDARD);

		how.mcp_url = "http://127.0.0.1:3000/mcp";
		how.mcp_program = "/opt/agent-intercom";
		how.mcp_args = "[\"mcp\"]";
		how.mcp_env = "[]";
		how.version = ACP_VERSION_ANY;
		acp_case_open(&c, &how);
		acp_case_skip(&c);
		str_addf(&hello, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n", CASES[i].hello);
		acp_case_hears(&c, hello.bytes);
		str_addf(&sent,
		         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{"
		         "\"cwd\":\"/srv/project\",\"mcpServers\":[%s]}}\n",
		         CASES[i].servers);
		acp_case_sent(&c, sent.bytes);
	}
}
END_TEST

START_TEST(a_session_goes_on_by_resume_and_what_fails_begins_anew)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.resume = "old";
	acp_case_open(&c, &how);
	acp_case_skip(&c);
	acp_case_hears(&c, CAPABLE);
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/resume\",\"params\":"
	                  "{\"sessionId\":\"old\",\"cwd\":\"/srv/project\",\"mcpServers\":[]}}\n");
	acp_case_hears(&c, "{\"id\":2,\"error\":{\"code\":-32603,\"message\":\"no\"}}");
	acp_case_sent(&c, NEW("3"));
	acp_case_hears(&c, "{\"id\":3,\"result\":{\"sessionId\":\"S\"}}");
	acp_case_told(&c, "note warn session old is not resumed: no (-32603); a new one begins\n"
	                  "opened S\n");
	ck_assert(c.acp.is_new);
}
END_TEST

START_TEST(what_an_agent_replays_while_it_loads_is_not_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.resume = "S";
	acp_case_open(&c, &how);
	acp_case_hears(
	    &c,
	    "{\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":"
	    "true}}}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
	        "\"text\":\"long ago\"}}");
	acp_case_hears(&c, "{\"id\":2,\"result\":null}");
	acp_tick(&c.acp, 10000);
	acp_case_told(&c, "opened S\n");
	ck_assert(!c.acp.is_new);
}
END_TEST

START_TEST(an_agent_that_does_not_answer_in_time_is_given_up)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	acp_case_open(&c, &how);
	ck_assert_int_eq(acp_due_ms(&c.acp), 30000);
	acp_tick(&c.acp, 29999);
	acp_case_told(&c, "");
	acp_tick(&c.acp, 30000);
	acp_case_told(&c, "failed 0 the agent does not answer initialize\n");
}
END_TEST

START_TEST(a_program_that_writes_only_other_lines_is_no_agent)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	acp_case_open(&c, &how);
	acp_case_skip(&c);
	for (int i = 0; i < 100; i++)
		acp_case_hears(&c, "Loading...");
	ck_assert_int_eq(c.acp.step, ACP_STEP_INITIALIZE);
	acp_case_skip(&c);
	acp_case_hears(&c, "Loading...");
	acp_case_told(&c, "note warn not valid JSON: Loading...\nfailed 0 this is no ACP agent: it "
	                  "wrote 101 lines that are no message\n");
	acp_case_sent(&c, "");
}
END_TEST

/* ---- modes ---- */

#define OPTIONS(value)                                                                             \
	"\"configOptions\":[{\"id\":\"mode\",\"type\":\"select\",\"currentValue\":\"" value        \
	"\",\"options\":[{\"value\":\"agent\",\"name\":\"A\"},{\"value\":\"read-only\",\"name\":"  \
	"\"R\"}]}]"
#define MODES(value)                                                                               \
	"\"modes\":{\"currentModeId\":\"" value                                                    \
	"\",\"availableModes\":[{\"id\":\"yolo\"},{\"id\":\"default\"}]}"

START_TEST(an_agent_is_set_to_the_option_in_which_it_asks)
{
	for (int version = 1; version <= 2; version++) {
		OWNED(acp_case) struct acp_case c = { 0 };
		struct acp_how how = acp_case_how(ACP_STANDARD);

		how.asking = "{\"mode\":\"read-only\"}";
		how.version = version;
		acp_case_open(&c, &how);
		acp_case_hears(&c, version == 1 ? INITIALIZED
		                                : "{\"id\":1,\"result\":{\"protocolVersion\":2}}");
		acp_case_skip(&c);
		acp_case_hears(&c,
		               "{\"id\":2,\"result\":{\"sessionId\":\"S\"," OPTIONS("agent") "}}");
		acp_case_told(&c, "");
		acp_case_sent(
		    &c, version == 1
		            ? "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
		              "\"session/set_config_option\",\"params\":{\"sessionId\":\"S\","
		              "\"configId\":\"mode\",\"value\":\"read-only\"}}\n"
		            : "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
		              "\"session/set_config_option\",\"params\":{\"sessionId\":\"S\","
		              "\"configId\":\"mode\",\"type\":\"id\",\"value\":\"read-only\"}}"
		              "\n");
		acp_case_hears(&c, "{\"id\":3,\"result\":{" OPTIONS("read-only") "}}");
		acp_case_told(&c, "opened S\n");
	}
}
END_TEST

START_TEST(an_agent_that_cannot_be_made_to_ask_is_refused)
{
	static const struct {
		const char *answer, *told;
	} CASES[] = {
		{ "{\"id\":2,\"result\":{\"sessionId\":\"S\"}}", "it has no mode read-only" },
		{ "{\"id\":2,\"result\":{\"sessionId\":\"S\"," MODES("yolo") "}}",
		  "it has no mode read-only" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(acp_case) struct acp_case c = { 0 };
		OWNED(str) struct str expected = { 0 };
		struct acp_how how = acp_case_how(ACP_STANDARD);

		how.asking = "{\"mode\":\"read-only\"}";
		acp_case_open(&c, &how);
		acp_case_hears(&c, INITIALIZED);
		acp_case_hears(&c, CASES[i].answer);
		str_addf(&expected, "failed 0 the agent cannot be made to ask: %s\n",
		         CASES[i].told);
		acp_case_told(&c, str_text(&expected));
	}
}
END_TEST

START_TEST(an_agent_that_leaves_its_asking_mode_is_put_back)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.refused = "[\"yolo\",\"autoEdit\"]";
	acp_case_open(&c, &how);
	acp_case_hears(&c, INITIALIZED);
	acp_case_hears(&c, "{\"id\":2,\"result\":{\"sessionId\":\"S\"," MODES("default") "}}");
	acp_case_told(&c, "opened S\n");
	acp_case_skip(&c);

	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"yolo\"}");
	acp_case_told(&c,
	              "mode yolo\nstatus warn the agent changed its mode to yolo, in which it does "
	              "not ask: put back\n");
	acp_case_sent(&c,
	              "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/set_mode\",\"params\":"
	              "{\"sessionId\":\"S\",\"modeId\":\"default\"}}\n");
	acp_case_hears(&c, "{\"id\":3,\"result\":{}}");
	acp_case_told(&c, "");
	acp_case_sent(&c, "");
}
END_TEST

START_TEST(a_mode_is_refused_by_what_follows_the_hash_of_its_id)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.refused = "[\"autopilot\"]";
	acp_case_open(&c, &how);
	acp_case_hears(&c, INITIALIZED);
	acp_case_skip(&c);
	acp_case_hears(&c, "{\"id\":2,\"result\":{\"sessionId\":\"S\",\"modes\":{\"currentModeId\":"
	                   "\"http://x/m#autopilot\",\"availableModes\":[{\"id\":"
	                   "\"http://x/m#autopilot\"},{\"id\":\"http://x/m#agent\"}]}}}");
	acp_case_sent(&c,
	              "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/set_mode\",\"params\":"
	              "{\"sessionId\":\"S\",\"modeId\":\"http://x/m#agent\"}}\n");
}
END_TEST

START_TEST(forms_are_neither_offered_nor_taken_where_nobody_is_shown_them)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.forms = false;
	acp_case_open(&c, &how);
	ck_assert_ptr_null(strstr(c.acp.out.bytes, "elicitation"));
	acp_case_skip(&c);
	acp_case_hears(&c, "{\"id\":0,\"method\":\"elicitation/create\",\"params\":{}}");
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32601,\"message\":"
	                  "\"method not found: elicitation/create\"}}\n");
}
END_TEST

START_TEST(an_agent_that_takes_no_setting_is_not_asked_for_ever)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.asking = "{\"mode\":\"read-only\"}";
	acp_case_open(&c, &how);
	acp_case_hears(&c, INITIALIZED);
	acp_case_hears(&c, "{\"id\":2,\"result\":{\"sessionId\":\"S\"," OPTIONS("agent") "}}");
	for (int id = 3; c.acp.step != ACP_STEP_OVER; id++) {
		OWNED(str) struct str answer = { 0 };

		ck_assert_int_lt(id, 100);
		str_addf(&answer, "{\"id\":%d,\"result\":{}}", id);
		acp_case_hears(&c, answer.bytes);
	}
	acp_case_told(&c,
	              "failed 0 the agent cannot be made to ask: it does not keep the setting\n");
}
END_TEST

/* ---- turns ---- */

#define PROMPT(id, text)                                                                           \
	"{\"jsonrpc\":\"2.0\",\"id\":" id                                                          \
	",\"method\":\"session/prompt\",\"params\":{\"sessionId\":"                                \
	"\"S\",\"prompt\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"
#define SAYS(text)                                                                                 \
	"{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":"      \
	"\"" text "\"}}"

START_TEST(a_prompt_is_a_turn_and_only_one_is_in_flight)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "Fix it", 0, &e), 0);
	acp_case_sent(&c, PROMPT("3", "Fix it"));
	acp_case_told(&c, "turn started\n");
	ck_assert_int_eq(acp_prompt(&c.acp, "And that", 0, &e), -1);
	ck_assert_int_eq(e.kind, ERR_AGAIN);
	acp_case_updates(&c, SAYS("Do"));
	acp_case_updates(&c, SAYS("ne."));
	acp_case_told(&c, "");
	acp_case_hears(&c, "{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}");
	acp_case_told(&c, "text Done.\nturn ended end_turn -\n");
	ck_assert_int_eq(acp_prompt(&c.acp, "And that", 0, &e), 0);
	acp_case_sent(&c, PROMPT("4", "And that"));
}
END_TEST

START_TEST(a_turn_ends_for_each_reason_that_there_is)
{
	static const struct {
		const char *answer, *told;
	} CASES[] = {
		{ "\"result\":{\"stopReason\":\"max_tokens\"}", "max_tokens -" },
		{ "\"result\":{\"stopReason\":\"max_turn_requests\"}", "max_turn_requests -" },
		{ "\"result\":{\"stopReason\":\"refusal\"}", "refusal -" },
		{ "\"result\":{\"stopReason\":\"cancelled\"}", "cancelled -" },
		{ "\"result\":{\"stopReason\":\"tired\"}", "other -" },
		{ "\"result\":{}", "other -" },
		{ "\"error\":{\"code\":-32603,\"message\":\"crashed\"}", "error crashed" },
		{ "\"error\":{\"code\":-32000,\"message\":\"Who are you?\"}",
		  "error the agent needs a login on this machine: Who are you?" },
	};
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str answer = { 0 };
		OWNED(str) struct str expected = { 0 };

		ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
		str_addf(&answer, "{\"id\":%zu,%s}", i + 3, CASES[i].answer);
		acp_case_hears(&c, answer.bytes);
		str_addf(&expected, "turn started\nturn ended %s\n", CASES[i].told);
		acp_case_told(&c, expected.bytes);
	}
}
END_TEST

START_TEST(in_version_2_a_turn_is_over_when_the_agent_is_idle)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);
	struct err e = { 0 };

	how.version = ACP_VERSION_2;
	acp_case_open(&c, &how);
	acp_case_hears(&c, "{\"id\":1,\"result\":{\"protocolVersion\":2}}");
	acp_case_hears(&c, "{\"id\":2,\"result\":{\"sessionId\":\"S\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\"}");
	acp_case_told(&c, "opened S\n");
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\"}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}");
	acp_case_hears(&c, "{\"id\":3,\"result\":{\"messageId\":\"m\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"requires_action\"}");
	acp_case_told(&c, "turn started\n");
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\",\"stopReason\":"
	                 "\"end_turn\"}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\"}");
	acp_case_told(&c, "turn ended end_turn -\n");
	/* it may begin by itself */
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\"}");
	acp_case_told(&c, "turn started\nturn ended other -\n");
}
END_TEST

START_TEST(a_turn_that_does_not_end_when_cancelled_is_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
	acp_case_skip(&c);
	acp_cancel(&c.acp, "stopped", 500);
	acp_case_sent(
	    &c, "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":"
	        "\"S\"}}\n");
	ck_assert_int_eq(acp_due_ms(&c.acp), 10500);
	acp_tick(&c.acp, 10500);
	acp_case_told(&c, "hung the agent does not end its turn\n");
	acp_case_hears(&c, "{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}");
	acp_case_told(&c, "turn ended end_turn -\n");
}
END_TEST

START_TEST(a_stream_that_ends_in_a_turn_ends_the_turn)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
	acp_case_updates(&c, SAYS("half a sen"));
	acp_end(&c.acp, 0);
	acp_case_told(&c, "turn started\ntext half a sen\nturn ended error stream closed\n"
	                  "closed stream closed\n");
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), -1);
	ck_assert_str_eq(e.text, "acp: write failed: stream closed");
}
END_TEST

/* ---- what is told of a turn ---- */

START_TEST(words_are_told_when_something_else_begins)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_updates(&c, SAYS("I look."));
	acp_case_updates(&c, SAYS(""));
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{\"type\":\"text\","
	        "\"text\":\"hm\"}}");
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"ls\","
	                 "\"kind\":\"execute\"}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m1\","
	                     "\"content\":{\"type\":\"text\",\"text\":\"One.\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m2\","
	                     "\"content\":{\"type\":\"text\",\"text\":\"Two.\"}}");
	acp_case_told(&c, "text I look.\ntool t execute pending: ls (first)\ntext One.\n");
	ck_assert_int_eq(acp_due_ms(&c.acp), 3000);
	acp_tick(&c.acp, 2999);
	acp_case_told(&c, "");
	acp_tick(&c.acp, 3000);
	acp_case_told(&c, "text Two.\n");
	ck_assert(acp_due_ms(&c.acp) == INT64_MAX);
}
END_TEST

START_TEST(long_words_are_told_in_parts_that_end_at_a_line_or_a_character)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	OWNED(str) struct str lines = { 0 };
	OWNED(str) struct str update = { 0 };
	char *at;

	acp_case_open_session(&c);
	for (int i = 0; i < 100; i++)
		str_add(&lines, "0123456789012345678901234567890123456\\n");
	for (int i = 0; i < 2000; i++)
		str_add(&lines, "\xC3\xA4");
	str_addf(&update, SAYS("%s"), lines.bytes);
	acp_case_updates(&c, update.bytes);
	acp_tick(&c.acp, 3000);

	ck_assert(utf8_valid(c.events.bytes, c.events.length));
	at = strstr(c.events.bytes, "\ntext ");
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(at - c.events.bytes, (long)strlen("text ") + 78 * 38);
	at = strstr(at + 1, "\ntext ");
	ck_assert_ptr_nonnull(at);
}
END_TEST

START_TEST(a_tool_call_is_told_whole_however_little_of_it_comes)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	/* Gemini begins with the update */
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"title\":"
	                 "\"Edit a\",\"kind\":\"edit\",\"status\":\"in_progress\"}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"title\":null,"
	        "\"status\":\"completed\"}");
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"status\":"
	                 "\"failed\"}");
	acp_case_told(&c, "tool t edit in_progress: Edit a (first)\ntool t edit completed: Edit a\n"
	                  "tool t other failed: - (first)\n");
}
END_TEST

START_TEST(plans_usage_modes_titles_and_notices_are_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"a\",\"status\":"
	                 "\"completed\",\"priority\":\"high\"},{\"content\":\"b\",\"status\":"
	                 "\"in_progress\"},{\"content\":\"c\",\"status\":\"pending\"},{\"x\":1}]}");
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"usage_update\",\"used\":90,\"size\":100,\"cost\":"
	                 "{\"amount\":1.5,\"currency\":\"USD\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"session_info_update\",\"title\":\"Tests\"}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"notice\",\"severity\":\"warning\",\"title\":\"Slow\","
	        "\"description\":\"rate limit\"}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"available_commands_update\",\"availableCommands\":[]}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"from_the_future\"}");
	acp_case_updates(&c, "7");
	acp_case_told(&c, "plan [{\"label\":\"a\",\"status\":\"done\"},{\"label\":\"b\",\"status\":"
	                  "\"in_progress\"},{\"label\":\"c\",\"status\":\"pending\"}]\n"
	                  "usage 90 of 100 {\"amount\":1.5,\"currency\":\"USD\"}\n"
	                  "title Tests\nstatus warn Slow: rate limit\n");
	acp_case_sent(&c, "");
}
END_TEST

START_TEST(in_version_2_several_plans_are_one_and_messages_replace_their_chunks)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.version = ACP_VERSION_2;
	acp_case_open(&c, &how);
	acp_case_hears(&c, "{\"id\":1,\"result\":{\"protocolVersion\":2}}");
	acp_case_hears(&c, "{\"id\":2,\"result\":{\"sessionId\":\"S\"}}");
	acp_case_skip(&c);
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"plan_update\",\"plan\":{\"type\":\"items\",\"planId\":"
	        "\"1\",\"entries\":[{\"content\":\"a\",\"status\":\"cancelled\"},"
	        "{\"content\":\"b\",\"status\":\"pending\"}]}}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"plan_update\",\"plan\":{\"type\":\"items\",\"planId\":"
	        "\"2\",\"entries\":[{\"content\":\"c\",\"status\":\"completed\"}]}}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":"
	        "{\"type\":\"text\",\"text\":\"Hel\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"content\":"
	                     "[{\"type\":\"text\",\"text\":\"Hello.\"}]}");
	acp_tick(&c.acp, 3000);
	acp_case_told(&c,
	              "plan [{\"label\":\"b\",\"status\":\"pending\"}]\n"
	              "plan [{\"label\":\"b\",\"status\":\"pending\"},{\"label\":\"c\",\"status\":"
	              "\"done\"}]\n"
	              "text Hello.\n");
}
END_TEST

START_TEST(updates_of_another_session_are_not_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c,
	               "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"T\",\"update\":"
	               "{\"sessionUpdate\":\"session_info_update\",\"title\":\"x\"}}}");
	acp_case_told(&c, "");
}
END_TEST

/* ---- what we cannot do, and what nobody should say ---- */

START_TEST(a_request_that_we_do_not_know_gets_an_error_and_a_notification_nothing)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(
	    &c, "{\"id\":\"x\",\"method\":\"fs/read_text_file\",\"params\":{\"path\":\"/a\"}}");
	acp_case_hears(&c, "{\"method\":\"_auth/status_update\",\"params\":{}}");
	acp_case_told(&c, "");
	acp_case_sent(&c,
	              "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32601,\"message\":"
	              "\"method not found: fs/read_text_file\"}}\n");
}
END_TEST

START_TEST(a_batch_is_its_messages)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c, "[{\"id\":1e0,\"method\":\"x\"},{\"id\":2,\"method\":\"y\"},[]]");
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":1e0,\"error\":{\"code\":-32601,\"message\":"
	                  "\"method not found: x\"}}\n"
	                  "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":"
	                  "\"method not found: y\"}}\n");
}
END_TEST

START_TEST(whoever_waits_for_a_message_that_was_too_long_is_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	OWNED(str) struct str line = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
	acp_case_skip(&c);
	str_add(&line, "{\"id\":0,\"method\":\"session/request_permission\",\"params\":\"");
	for (int i = 0; i < (1 << 20) / 16; i++)
		str_add(&line, "0123456789abcdef");
	str_add(&line, "\"}");
	acp_case_hears(&c, line.bytes);
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32603,\"message\":"
	                  "\"message too large\"}}\n");
	str_reset(&line);
	str_add(&line, "{\"id\":3,\"result\":\"");
	for (int i = 0; i < (1 << 20) / 16; i++)
		str_add(&line, "0123456789abcdef");
	str_add(&line, "\"}");
	acp_case_hears(&c, line.bytes);
	acp_case_told(&c,
	              "note warn a message of more than 1048576 bytes was dropped: "
	              "session/request_permission 0\n"
	              "note warn a message of more than 1048576 bytes was dropped: no method 3\n"
	              "turn ended error message too large\n");
}
END_TEST

START_TEST(answers_to_nothing_and_broken_requests_disturb_nothing)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c, "{\"id\":99,\"result\":{}}");
	acp_case_hears(&c, "{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}");
	acp_case_hears(&c, "{\"id\":5,\"method\":\"x\",}");
	acp_case_told(&c, "note warn an answer to nothing we asked: id 99, a result\n"
	                  "note warn an answer to nothing we asked: id null, Parse error\n"
	                  "note warn not valid JSON: {\"id\":5,\"method\":\"x\",}\n");
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32700,\"message\":"
	                  "\"not valid JSON\"}}\n");
}
END_TEST

START_TEST(a_request_with_two_ids_is_refused_under_neither)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c, "{\"id\":5,\"method\":\"x\",\"id\":6}");
	acp_case_told(&c, "note warn id or method is there twice: "
	                  "{\"id\":5,\"method\":\"x\",\"id\":6}\n");
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
	                  "\"message\":\"id or method is there twice\"}}\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_session");
	TCase *c = tcase_create("acp_session");

	tcase_add_test(c, a_session_of_version_1_is_opened);
	tcase_add_test(c, a_universal_offer_takes_the_version_that_the_agent_speaks);
	tcase_add_test(c, an_agent_without_our_version_is_refused);
	tcase_add_test(c, a_login_that_is_missing_is_told_with_the_ways_to_log_in);
	tcase_add_test(c, a_login_is_called_only_by_a_method_that_the_agent_has);
	tcase_add_test(c, our_server_is_given_to_an_agent_that_takes_it);
	tcase_add_test(c, a_server_over_http_is_given_with_what_it_is_to_be_shown);
	tcase_add_test(c, an_agent_without_http_is_given_a_program_if_it_can_start_one);
	tcase_add_test(c, a_session_goes_on_by_resume_and_what_fails_begins_anew);
	tcase_add_test(c, what_an_agent_replays_while_it_loads_is_not_told);
	tcase_add_test(c, an_agent_that_does_not_answer_in_time_is_given_up);
	tcase_add_test(c, a_program_that_writes_only_other_lines_is_no_agent);
	tcase_add_test(c, an_agent_is_set_to_the_option_in_which_it_asks);
	tcase_add_test(c, an_agent_that_cannot_be_made_to_ask_is_refused);
	tcase_add_test(c, an_agent_that_leaves_its_asking_mode_is_put_back);
	tcase_add_test(c, a_mode_is_refused_by_what_follows_the_hash_of_its_id);
	tcase_add_test(c, forms_are_neither_offered_nor_taken_where_nobody_is_shown_them);
	tcase_add_test(c, an_agent_that_takes_no_setting_is_not_asked_for_ever);
	tcase_add_test(c, a_prompt_is_a_turn_and_only_one_is_in_flight);
	tcase_add_test(c, a_turn_ends_for_each_reason_that_there_is);
	tcase_add_test(c, in_version_2_a_turn_is_over_when_the_agent_is_idle);
	tcase_add_test(c, a_turn_that_does_not_end_when_cancelled_is_told);
	tcase_add_test(c, a_stream_that_ends_in_a_turn_ends_the_turn);
	tcase_add_test(c, words_are_told_when_something_else_begins);
	tcase_add_test(c, long_words_are_told_in_parts_that_end_at_a_line_or_a_character);
	tcase_add_test(c, a_tool_call_is_told_whole_however_little_of_it_comes);
	tcase_add_test(c, plans_usage_modes_titles_and_notices_are_told);
	tcase_add_test(c, in_version_2_several_plans_are_one_and_messages_replace_their_chunks);
	tcase_add_test(c, updates_of_another_session_are_not_told);
	tcase_add_test(c, a_request_that_we_do_not_know_gets_an_error_and_a_notification_nothing);
	tcase_add_test(c, a_batch_is_its_messages);
	tcase_add_test(c, whoever_waits_for_a_message_that_was_too_long_is_told);
	tcase_add_test(c, answers_to_nothing_and_broken_requests_disturb_nothing);
	tcase_add_test(c, a_request_with_two_ids_is_refused_under_neither);
	suite_add_tcase(s, c);
	return run_suite(s);
}
