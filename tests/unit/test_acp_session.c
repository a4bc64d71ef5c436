/* acp: the opening of a session, and its mode, in both versions. Its turns: test_acp_turns.c. */
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
	suite_add_tcase(s, c);
	return run_suite(s);
}
