/* Profiles of agents in config.toml: what is read, what is built in, what is refused. Every test
 * has a fresh folder. */
#include "config.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char file[128]; /* config.toml in the folder */
static struct config c;
static struct err e;

static void setup(void)
{
	strcpy(folder, "/tmp/config-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(file, sizeof(file), "%s/config.toml", folder);
	(void)setenv("HOME", folder, 1);
	memset(&e, 0, sizeof(e));
}

static void teardown(void)
{
	config_clear(&c);
	ck_assert(remove_tree(folder));
}

static int load_file(const char *toml)
{
	FILE *out = fopen(file, "we");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_ge(fputs(toml, out), 0);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(chmod(file, 0600), 0);
	config_clear(&c);
	memset(&e, 0, sizeof(e));
	return config_load(&(struct config_source){ .config = file }, &c, &e);
}

static void given(const char *toml)
{
	ck_assert_msg(load_file(toml) == 0, "%s", e.text);
}

/* The file is refused, in words that begin "FILE" + text. */
static void refuses(const char *toml, const char *text)
{
	OWNED(str) struct str whole = { 0 };

	ck_assert_int_eq(load_file(toml), -1);
	str_addf(&whole, "config: %s%s", file, text);
	ck_assert_msg(strncmp(e.text, str_text(&whole), whole.length) == 0,
	              "'%s' does not begin with '%s'", e.text, str_text(&whole));
	ck_assert_int_eq(e.kind, ERR_INPUT);
}

static void warns(const char *toml, const char *text)
{
	OWNED(str) struct str whole = { 0 };

	given(toml);
	str_addf(&whole, "%s%s", file, text);
	ck_assert_uint_eq(c.warnings.count, 1);
	ck_assert_str_eq(c.warnings.items[0], str_text(&whole));
}

static const struct config_agent *agent(const char *name)
{
	const struct config_agent *found = NULL;

	for (size_t i = 0; i < c.agents.count; i++)
		if (strcmp(c.agents.items[i].name, name) == 0) {
			ck_assert_msg(!found, "%s is there twice", name);
			found = &c.agents.items[i];
		}
	ck_assert_msg(found != NULL, "there is no profile %s", name);
	return found;
}

static void has_texts(const struct texts *texts, const char *json)
{
	OWNED(str) struct str text = { 0 };

	config_add_texts(&text, texts);
	ck_assert_str_eq(str_text(&text), json);
}

static void has_map(const struct config_map *map, const char *json)
{
	OWNED(str) struct str text = { 0 };

	config_add_map(&text, map);
	ck_assert_str_eq(str_text(&text), json);
}

static bool passes(const struct config_agent *a, const char *name)
{
	for (size_t i = 0; i < a->env_pass.count; i++)
		if (strcmp(a->env_pass.items[i], name) == 0)
			return true;
	return false;
}

/* The name of the default, "" if there is none. */
static const char *default_name(void)
{
	const char *name = "";

	for (size_t i = 0; i < c.agents.count; i++)
		if (c.agents.items[i].is_default) {
			ck_assert_str_eq(name, "");
			name = c.agents.items[i].name;
		}
	return name;
}

START_TEST(every_key_of_a_profile_is_read)
{
	const struct config_agent *a;

	given("[[workspace]]\nid = \"back\"\nchannel_id = \"C1\"\npath = \"/\"\n"
	      "[[agent]]\nname = \"mine\"\ncommand = \"my-agent\"\nargs = [\"--acp\", \"\"]\n"
	      "protocol = \"acp\"\nenv = [\"MY_KEY\", \"MY_MODE=a=b\", \"EMPTY=\"]\n"
	      "workspace = \"back\"\nacp_version = \"auto\"\nauth_method = \"key\"\nasking = { "
	      "mode = \"ask\", yes = false }\n"
	      "refused_modes = [\"yolo\"]\nstartup_timeout_seconds = 7\nmax_line_length = 4096\n"
	      "framing = \"lsp\"\npark_after_seconds = 0\n");
	ck_assert_uint_eq(c.warnings.count, 0);
	a = agent("mine");
	ck_assert_str_eq(a->command, "my-agent");
	has_texts(&a->args, "[\"--acp\",\"\"]");
	ck_assert_int_eq(a->protocol, PROTOCOL_ACP);
	ck_assert(passes(a, "MY_KEY"));
	ck_assert(!passes(a, "MY_MODE"));
	has_map(&a->env_set, "{\"MY_MODE\":\"a=b\",\"EMPTY\":\"\"}");
	ck_assert_str_eq(a->workspace, "back");
	ck_assert_str_eq(a->auth_method, "key");
	ck_assert_int_eq(a->acp_version, ACP_OFFER_AUTO);
	ck_assert_str_eq(a->asking, "{\"mode\":\"ask\",\"yes\":false}");
	has_texts(&a->refused_modes, "[\"yolo\"]");
	ck_assert_int_eq(a->startup_timeout_seconds, 7);
	ck_assert_int_eq(a->max_line_length, 4096);
	ck_assert_int_eq(a->framing, FRAMING_LSP);
	ck_assert_int_eq(a->park_after_seconds, 0);
	ck_assert(!a->is_builtin && !a->is_default);
}
END_TEST

START_TEST(a_fence_names_folders_in_full_and_by_itself_the_usual_ones)
{
	(void)setenv("HOME", "/home/me", 1);
	given("[[agent]]\nname = \"a\"\ncommand = \"x\"\n[agent.fence]\nwrite = [\"~/.a\", "
	      "\"/data\"]\nread = []\nnetwork = false\n"
	      "[[agent]]\nname = \"b\"\ncommand = \"x\"\nfence = {}\n"
	      "[[agent]]\nname = \"c\"\ncommand = \"x\"\n");
	ck_assert_str_eq(agent("a")->fence, "{\"network\":false,\"write\":[\"/home/me/.a\","
	                                    "\"/data\"],\"read\":[]}");
	ck_assert_str_eq(agent("b")->fence,
	                 "{\"network\":true,\"write\":[\"/tmp\",\"/var/tmp\",\"/dev/shm\","
	                 "\"/home/me/.b\",\"/home/me/.b.json\",\"/home/me/.cache/b\","
	                 "\"/home/me/.config/b\",\"/home/me/.local/share/b\","
	                 "\"/home/me/.local/state/b\"]}");
	ck_assert_ptr_null(agent("c")->fence);
}
END_TEST

START_TEST(what_a_profile_leaves_out_is_as_acp_says)
{
	static const char TEXT[] =
	    "[gate]\npark_after_seconds = 60\n"
	    "[acp]\nframing = \"lsp\"\nmax_line_length = 2048\nstartup_timeout_seconds = 5\n"
	    "[[agent]]\nname = \"m\"\ncommand = \"x\"\n"
	    "[[agent]]\nname = \"a\"\ncommand = \"x\"\nprotocol = \"acp\"\nacp_version = 2\n"
	    "[[agent]]\nname = \"s\"\ncommand = \"x\"\nprotocol = \"acp-stream\"\n";
	const struct config_agent *a;

	given(TEXT);
	a = agent("m");
	ck_assert_int_eq(a->protocol, PROTOCOL_MCP);
	ck_assert_int_eq(a->acp_version, ACP_OFFER_1);
	ck_assert_int_eq(a->startup_timeout_seconds, 5);
	ck_assert_int_eq(a->park_after_seconds, 60);
	ck_assert_ptr_null(a->workspace);
	ck_assert(passes(a, "HTTPS_PROXY"));
	a = agent("a");
	ck_assert_int_eq(a->acp_version, ACP_OFFER_2);
	ck_assert_int_eq(a->framing, FRAMING_NDJSON);
	ck_assert_int_eq(a->max_line_length, 33554432);
	a = agent("s");
	ck_assert_int_eq(a->protocol, PROTOCOL_ACP_STREAM);
	ck_assert_int_eq(a->framing, FRAMING_LSP);
	ck_assert_int_eq(a->max_line_length, 2048);
}
END_TEST

START_TEST(six_agents_are_built_in_over_acp_and_over_mcp)
{
	static const char *const NAMES[] = { "claude",  "codex",    "gemini",
		                             "copilot", "opencode", "qwen" };

	given("");
	ck_assert_uint_eq(c.agents.count, 2 * COUNT(NAMES));
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		char mcp[32];

		(void)snprintf(mcp, sizeof(mcp), "%s-mcp", NAMES[i]);
		ck_assert_int_eq(agent(NAMES[i])->protocol, PROTOCOL_ACP);
		ck_assert_int_eq(agent(mcp)->protocol, PROTOCOL_MCP);
		ck_assert(agent(NAMES[i])->is_builtin && agent(mcp)->is_builtin);
		ck_assert_uint_gt(agent(mcp)->args.count, 0);
	}
	ck_assert_str_eq(default_name(), "");
}
END_TEST

START_TEST(a_profile_of_a_built_in_name_changes_only_what_it_names)
{
	const struct config_agent *a;

	given("[[agent]]\nname = \"opencode\"\nenv = [\"MY_KEY\", \"X=1\"]\n"
	      "[[agent]]\nname = \"codex\"\nargs = [\"-x\"]\nasking = {}\nrefused_modes = []\n"
	      "[[agent]]\nname = \"claude\"\ncommand = \"/opt/claude\"\n");
	a = agent("opencode");
	ck_assert_str_eq(a->command, "opencode");
	has_texts(&a->args, "[\"acp\"]");
	ck_assert_int_eq(a->protocol, PROTOCOL_ACP);
	ck_assert(passes(a, "MY_KEY") && passes(a, "OPENCODE_CONFIG"));
	has_map(&a->env_set,
	        "{\"OPENCODE_CONFIG_CONTENT\":\"{\\\"permission\\\":{\\\"*\\\":\\\"ask\\\"}}\","
	        "\"X\":\"1\"}");
	ck_assert(!a->is_builtin);
	a = agent("codex");
	has_texts(&a->args, "[\"-x\"]");
	ck_assert_ptr_null(a->asking);
	has_texts(&a->refused_modes, "[]");
	a = agent("claude");
	ck_assert_str_eq(a->command, "/opt/claude");
	ck_assert_str_eq(a->asking, "{\"mode\":\"default\"}");
}
END_TEST

START_TEST(host_cli_is_the_profile_default)
{
	const struct config_agent *a;

	given("host_cli = \"tools/claude\"\nhost_cli_args = [\"-p\"]\n");
	ck_assert_str_eq(default_name(), "default");
	a = agent("default");
	ck_assert_int_eq(strncmp(a->command, folder, strlen(folder)), 0);
	ck_assert_str_eq(a->command + strlen(folder), "/tools/claude");
	has_texts(&a->args, "[\"-p\"]");
	ck_assert_int_eq(a->protocol, PROTOCOL_MCP);
	ck_assert(passes(a, "ANTHROPIC_API_KEY")); /* it is that program */
	given("host_cli = \"gh\"\n");
	ck_assert_str_eq(agent("default")->command, "gh");
	ck_assert(!passes(agent("default"), "ANTHROPIC_API_KEY"));
}
END_TEST

START_TEST(the_default_can_be_any_profile)
{
	given("host_cli = \"claude\"\ndefault_agent = \"claude\"\n");
	ck_assert_str_eq(default_name(), "claude");
	given("default_agent = \"mine\"\n[[agent]]\nname = \"mine\"\ncommand = \"x\"\n");
	ck_assert_str_eq(default_name(), "mine");
	given("[[agent]]\nname = \"default\"\ncommand = \"x\"\n");
	ck_assert_str_eq(default_name(), "default");
	refuses("\ndefault_agent = \"cloud\"\n",
	        ":2: default_agent: there is no profile 'cloud'; write one that `agent-intercom "
	        "agents` lists");
	refuses("host_cli = \"x\"\n[[agent]]\nname = \"default\"\ncommand = \"y\"\n",
	        ":2: agent.name: 'default' is host_cli; remove one of the two");
}
END_TEST

START_TEST(a_profile_that_cannot_be_started_is_refused_with_its_line)
{
	refuses("\n[[agent]]\ncommand = \"x\"\n", ":2: agent.name: is missing; write letters");
	refuses("[[agent]]\nname = \"m\"\n", ":1: agent.command: is missing; write a text that");
	refuses("[[agent]]\nname = \"a b\"\n", ":2: agent.name: is the text \"a b\"; write lett");
	refuses("[[agent]]\nname = \"m\"\ncommand = \"\"\n", ":3: agent.command: is the text \"\"");
	refuses(
	    "[[agent]]\nname = \"m\"\ncommand = \"x\"\n[[agent]]\ncommand = \"y\"\n"
	    "name = \"m\"\n",
	    ":6: agent.name: 'm' is there twice, first in line 1; give each agent its own name");
	refuses("agent = 1\n",
	        ":1: agent: is the integer 1; write tables that begin with [[agent]]");
	refuses("agent = [1]\n", ":1: agent: is the integer 1");
}
END_TEST

START_TEST(a_wrong_value_in_a_profile_is_told_with_its_place_and_what_to_write)
{
	static const char START[] = "[[agent]]\nname = \"m\"\ncommand = \"x\"\n";
	static const struct {
		const char *line, *error;
	} CASES[] = {
		{ "protocol = \"stdio\"", "protocol: is the text \"stdio\"; write \"mcp\" or "
		                          "\"acp\" or \"acp-stream\"" },
		{ "acp_version = 3", "acp_version: is the integer 3; write \"1\" or \"2\" or" },
		{ "framing = \"xml\"",
		  "framing: is the text \"xml\"; write \"ndjson\" or \"lsp\"" },
		{ "args = \"-x\"", "args: is the text \"-x\"; write a list" },
		{ "args = [1]", "args: is the integer 1; write a list of texts" },
		{ "env = [\"1X\"]", "env: is the text \"1X\"; write NAME or NAME=value" },
		{ "env = [\"SLACK_BOT_TOKEN\"]", "env: is the text \"SLACK_BOT_TOKEN\"; write" },
		{ "env = [\"INTERCOM_SESSION_ID=1\"]",
		  "env: is the text \"INTERCOM_SESSION_ID=1\"" },
		{ "env = [\"=x\"]", "env: is the text \"=x\"" },
		{ "asking = \"mode\"", "asking: is the text \"mode\"; write a table" },
		{ "fence = true", "fence: has the boolean true; write a table with write and" },
		{ "fence = { network = 1 }", "fence: has the integer 1; write a table" },
		{ "fence = { write = \"/a\" }", "fence: has the text \"/a\"; write a table" },
		{ "fence = { read = [1] }", "fence: has the integer 1; write a table" },
		{ "fence = { write = [\"~\"] }", "fence: has the text \"~\"; write a table" },
		{ "fence = { write = [\"a/b\"] }", "fence: has the text \"a/b\"; write a table" },
		{ "fence = { net = false }", "fence: has no 'net'; write a table" },
		{ "asking = { mode = 1 }",
		  "asking: 'mode' is the integer 1; write a text, true or false" },
		{ "startup_timeout_seconds = 0", "startup_timeout_seconds: is the integer 0; wri" },
		{ "max_line_length = 12",
		  "max_line_length: is the integer 12; write an integer from "
		  "1024 to 1073741824" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str toml = { 0 };
		OWNED(str) struct str error = { 0 };

		str_addf(&toml, "%s%s\n", START, CASES[i].line);
		str_addf(&error, ":4: agent.%s", CASES[i].error);
		refuses(str_text(&toml), str_text(&error));
	}
}
END_TEST

START_TEST(an_unknown_key_in_a_profile_is_a_warning)
{
	warns("[[agent]]\nname = \"m\"\ncommand = \"x\"\nprotokol = \"acp\"\n",
	      ":4: unknown key 'agent.protokol'; did you mean 'agent.protocol'?");
	warns("[[agent]]\nname = \"m\"\ncommand = \"x\"\nmodel = \"y\"\n",
	      ":4: unknown key 'agent.model'; it is ignored");
}
END_TEST

START_TEST(the_workspace_of_a_profile_must_be_a_folder_of_the_file)
{
	refuses("\n[[agent]]\nname = \"m\"\ncommand = \"x\"\nworkspace = \"w\"\n",
	        ":2: agent.workspace: there is no [[workspace]] 'w'; add it, with its path");
	refuses("[[agent]]\nname = \"m\"\ncommand = \"x\"\nworkspace = \"w\"\n"
	        "[[workspace]]\nid = \"w\"\nchannel_id = \"C1\"\n",
	        ":1: agent.workspace: the [[workspace]] 'w' has no path; give it one");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_agent");
	TCase *tests = tcase_create("config_agent");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, every_key_of_a_profile_is_read);
	tcase_add_test(tests, what_a_profile_leaves_out_is_as_acp_says);
	tcase_add_test(tests, a_fence_names_folders_in_full_and_by_itself_the_usual_ones);
	tcase_add_test(tests, six_agents_are_built_in_over_acp_and_over_mcp);
	tcase_add_test(tests, a_profile_of_a_built_in_name_changes_only_what_it_names);
	tcase_add_test(tests, host_cli_is_the_profile_default);
	tcase_add_test(tests, the_default_can_be_any_profile);
	tcase_add_test(tests, a_profile_that_cannot_be_started_is_refused_with_its_line);
	tcase_add_test(tests, a_wrong_value_in_a_profile_is_told_with_its_place_and_what_to_write);
	tcase_add_test(tests, an_unknown_key_in_a_profile_is_a_warning);
	tcase_add_test(tests, the_workspace_of_a_profile_must_be_a_folder_of_the_file);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
