/* agent-intercom install and uninstall: the real program, with $HOME in a scratch directory, and
 * the files that it leaves. */
#include "install_case.h"

#include "paths.h"
#include "store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* text with @/ws replaced by the working directory, and @ by the program's path; valid until the
 * next call. */
static const char *with_binary(const char *text)
{
	static struct str made;

	str_reset(&made);
	for (; *text; text++)
		if (strncmp(text, "@/ws", 4) == 0)
			str_add(&made, folder);
		else if (*text == '@')
			str_add(&made, binary);
		else
			str_add_char(&made, *text);
	return str_text(&made);
}

#define ENTRY_2(indent)                                                                            \
	indent "\"intercom\": {\n" indent "  \"type\": \"stdio\",\n" indent                        \
	       "  \"command\": \"@\",\n" indent                                                    \
	       "  \"args\": [\"mcp\", \"--wait\", \"3600\"],\n" indent                             \
	       "  \"alwaysLoad\": true,\n" indent "  \"timeout\": 3700000\n" indent "}"

/* Else Codex keeps them from a server, and its hooks reach another system than that. */
#define PASSED                                                                                     \
	"env_vars = [\"XDG_CONFIG_HOME\", \"XDG_STATE_HOME\", \"XDG_RUNTIME_DIR\", "               \
	"\"INTERCOM_CONFIG\", \"INTERCOM_WORKSPACE_ROOT\", \"INTERCOM_WORKSPACE_ID\", "            \
	"\"INTERCOM_SESSION_ID\", \"INTERCOM_CHANNEL_ID\", \"INTERCOM_AGENT\", "                   \
	"\"INTERCOM_STALL\"]\n"

enum { NO_PROGRAMS_PORT = 9 }; /* that of discard, which nobody runs */

static void given_port(int port)
{
	char line[40];

	(void)snprintf(line, sizeof(line), "http_port = %d\n", port);
	given("port.toml", line);
	(void)setenv("INTERCOM_CONFIG", in("port.toml"), 1);
}

/* ---- each host ---- */

START_TEST(each_host_gets_its_file_and_its_timeout)
{
	static const struct {
		const char *arguments, *file, *text;
	} HOSTS[] = {
		{ "claude", ".claude.json",
		  "{\n  \"mcpServers\": {\n" ENTRY_2("    ") "\n  }\n}\n" },
		{ "claude", ".claude/settings.json",
		  "{\n  \"env\": {\n    \"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS\": \"0\"\n  },\n"
		  "  \"permissions\": {\n    \"allow\": [\"mcp__intercom\"]\n  }\n}\n" },
		{ "claude --project", "ws/.mcp.json",
		  "{\n  \"mcpServers\": {\n" ENTRY_2("    ") "\n  }\n}\n" },
		{ "claude --http", ".claude.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n      \"type\": \"http\",\n"
		  "      \"url\": \"http://127.0.0.1:9/mcp?wait=3600\",\n"
		  "      \"alwaysLoad\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "codex", ".codex/config.toml",
		  "[mcp_servers.intercom]\ncommand = \"@\"\nargs = [\"mcp\", \"--wait\", "
		  "\"3600\"]\n" PASSED
		  "default_tools_approval_mode = \"approve\"\nrequired = true\n"
		  "tool_timeout_sec = 3700\n" },
		{ "codex --http --wait 60", ".codex/config.toml",
		  "[mcp_servers.intercom]\nurl = \"http://127.0.0.1:9/mcp?wait=60\"\n"
		  "default_tools_approval_mode = \"approve\"\nrequired = true\n"
		  "tool_timeout_sec = 160\n" },
		{ "codex --project", "ws/.codex/config.toml",
		  "[mcp_servers.intercom]\ncommand = \"@\"\nargs = [\"mcp\", \"--wait\", "
		  "\"3600\"]\n" PASSED
		  "default_tools_approval_mode = \"approve\"\nrequired = true\n"
		  "tool_timeout_sec = 3700\n" },
		{ "gemini", ".gemini/settings.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n      \"command\": \"@\",\n"
		  "      \"args\": [\"mcp\", \"--wait\", \"3600\"],\n      \"trust\": true,\n      "
		  "\"timeout\": 3700000\n"
		  "    }\n  }\n}\n" },
		{ "gemini --http", ".gemini/settings.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n"
		  "      \"httpUrl\": \"http://127.0.0.1:9/mcp?wait=3600\",\n"
		  "      \"trust\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "qwen", ".qwen/settings.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n      \"command\": \"@\",\n"
		  "      \"args\": [\"mcp\", \"--wait\", \"3600\"],\n      \"trust\": true,\n      "
		  "\"alwaysLoadTools\": true,\n      \"timeout\": 3700000\n"
		  "    }\n  }\n}\n" },
		{ "qwen --http", ".qwen/settings.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n"
		  "      \"httpUrl\": \"http://127.0.0.1:9/mcp?wait=3600\",\n"
		  "      \"trust\": true,\n      "
		  "\"alwaysLoadTools\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "copilot", ".copilot/permissions-config.json",
		  "{\n  \"locations\": {\n    \"@/ws\": {\n      \"tool_approvals\": "
		  "[\n        {\n          \"kind\": \"mcp\",\n          \"serverName\": "
		  "\"intercom\",\n          \"toolName\": null\n        }\n      ]\n    }\n  "
		  "}\n}\n" },
		{ "copilot", ".copilot/mcp-config.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n      \"type\": \"local\",\n"
		  "      \"command\": \"@\",\n      \"args\": [\"mcp\", \"--wait\", \"3600\"],\n"
		  "      \"tools\": [\"*\"],\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "copilot --http", ".copilot/mcp-config.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n      \"type\": \"http\",\n"
		  "      \"url\": \"http://127.0.0.1:9/mcp?wait=3600\",\n"
		  "      \"tools\": [\"*\"],\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "cursor", ".cursor/mcp.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n      \"type\": \"stdio\",\n"
		  "      \"command\": \"@\",\n"
		  "      \"args\": [\"mcp\", \"--workspace\", \"${workspaceFolder}\"]\n"
		  "    }\n  }\n}\n" },
		{ "vscode", "ws/.vscode/mcp.json",
		  "{\n  \"servers\": {\n    \"intercom\": {\n      \"type\": \"stdio\",\n"
		  "      \"command\": \"@\",\n"
		  "      \"args\": [\"mcp\", \"--workspace\", \"${workspaceFolder}\", \"--wait\", "
		  "\"3600\"]\n    }\n  }\n}\n" },
		{ "vscode --user --http", ".config/Code/User/mcp.json",
		  "{\n  \"servers\": {\n    \"intercom\": {\n      \"type\": \"http\",\n"
		  "      \"url\": \"http://127.0.0.1:9/mcp?wait=3600\"\n    }\n  }\n}\n" },
		{ "opencode", ".config/opencode/opencode.json",
		  "{\n  \"mcp\": {\n    \"intercom\": {\n      \"type\": \"local\",\n"
		  "      \"command\": [\"@\", \"mcp\", \"--wait\", \"3600\"],\n"
		  "      \"enabled\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "opencode --http --project", "ws/opencode.json",
		  "{\n  \"mcp\": {\n    \"intercom\": {\n      \"type\": \"remote\",\n"
		  "      \"url\": \"http://127.0.0.1:9/mcp?wait=3600\",\n"
		  "      \"enabled\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
	};
	char command[128], name[16];

	given_port(NO_PROGRAMS_PORT);
	for (size_t i = 0; i < COUNT(HOSTS); i++) {
		(void)snprintf(command, sizeof(command), "install %s --yes", HOSTS[i].arguments);
		does(command);
		holds(HOSTS[i].file, with_binary(HOSTS[i].text));
		does(command); /* again: nothing changes */
		holds(HOSTS[i].file, with_binary(HOSTS[i].text));
		says("nothing to change");
		ck_assert_ptr_null(strstr(str_text(&out), "wrote"));
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(HOSTS[i].arguments, " "),
		               HOSTS[i].arguments);
		(void)snprintf(command, sizeof(command), "uninstall %s --yes%s%s", name,
		               strstr(HOSTS[i].arguments, "--project") ? " --project" : "",
		               strstr(HOSTS[i].arguments, "--user") ? " --user" : "");
		does(command);
		is_missing(HOSTS[i].file);
	}
	ck_assert(shell("test -z \"$(find '%s' -name '*intercom*')\"", folder));
}
END_TEST

/* A path with a folder of ours, and no program of a host. */
static void given_path(void)
{
	OWNED(str) struct str path = { 0 };

	ck_assert_int_eq(mkdir(in("bin"), 0755), 0);
	str_addf(&path, "%s:/usr/bin:/bin", in("bin"));
	(void)setenv("PATH", path.bytes, 1);
}

START_TEST(each_install_ends_with_what_to_do_next)
{
	static const struct {
		const char *name, *title, *instructions;
	} HOSTS[] = {
		{ "claude", "Claude Code", "CLAUDE.md" },
		{ "codex", "Codex CLI", "AGENTS.md" },
		{ "gemini", "Gemini CLI", "GEMINI.md" },
		{ "copilot", "GitHub Copilot CLI", "AGENTS.md" },
		{ "cursor", "Cursor", "AGENTS.md" },
		{ "vscode", "VS Code", "AGENTS.md" },
		{ "opencode", "opencode", "AGENTS.md" },
		{ "qwen", "Qwen Code", "QWEN.md" },
	};

	given_path();
	for (size_t i = 0; i < COUNT(HOSTS); i++) {
		char arguments[100], next[300];

		(void)snprintf(arguments, sizeof(arguments), "bin/%s", HOSTS[i].name);
		ck_assert_int_eq(symlink(binary, in(arguments)), 0);
		(void)snprintf(arguments, sizeof(arguments), "install %s --yes", HOSTS[i].name);
		does(arguments);
		(void)snprintf(next, sizeof(next),
		               "Next: restart %s, and run agent-intercom-ctl watch in a terminal "
		               "to answer.\nLines that make the agent ask: add --instructions %s\n",
		               HOSTS[i].title, HOSTS[i].instructions);
		says(next);
		(void)snprintf(arguments, sizeof(arguments), "install %s --yes --instructions %s",
		               HOSTS[i].name, HOSTS[i].instructions);
		does(arguments);
		says("Next: restart ");
		ck_assert_ptr_null(strstr(str_text(&out), "add --instructions"));
		(void)snprintf(arguments, sizeof(arguments), "uninstall %s --yes", HOSTS[i].name);
		does(arguments);
		ck_assert_ptr_null(strstr(str_text(&out), "Next:"));
	}
}
END_TEST

START_TEST(an_install_says_if_the_path_has_no_such_program)
{
	given_path();
	does("install codex --yes");
	says("Next: install Codex CLI (there is no `codex` in $PATH), and run agent-intercom-ctl");
	does("install cursor --yes"); /* started from a desktop, where the PATH is another */
	says("Next: restart Cursor, and run");
}
END_TEST

START_TEST(print_only_prints)
{
	does("install codex --print --instructions AGENTS.md --config c.toml --db x.db");
	says(with_binary(
	    "[mcp_servers.intercom]\ncommand = \"@\"\nargs = [\"mcp\", \"--config\", "));
	says("/ws/c.toml\", \"--db\", \"");
	says("<!-- agent-intercom -->\n");
	is_missing(".codex/config.toml");
	is_missing("ws/AGENTS.md");
}
END_TEST

START_TEST(the_plain_name_is_written_in_a_project_when_it_is_the_one_in_the_path)
{
	OWNED(str) struct str path = { 0 };

	ck_assert_int_eq(mkdir(in("bin"), 0755), 0);
	ck_assert_int_eq(symlink(binary, in("bin/agent-intercom")), 0);
	str_addf(&path, "%s:%s", in("bin"), getenv("PATH"));
	(void)setenv("PATH", str_text(&path), 1);
	does("install gemini --project --print");
	says("\"command\": \"agent-intercom\"");
	does("install gemini --print"); /* a host may have another PATH than a shell */
	says(with_binary("\"command\": \"@\""));
}
END_TEST

/* ---- keeping what else is there ---- */

/* install gives after, uninstall gives before again, to the byte. */
static void round_trip(const char *host, const char *file, const char *before, const char *after)
{
	OWNED(str) struct str command = { 0 };

	given(file, before);
	str_addf(&command, "install %s --yes", host);
	does(str_text(&command));
	holds(file, with_binary(after));
	does(str_text(&command));
	holds(file, with_binary(after));
	str_reset(&command);
	str_addf(&command, "uninstall %s --yes", host);
	does(str_text(&command));
	holds(file, before);
	ck_assert(shell("test -z \"$(find '%s' -name '*before-intercom')\"", folder));
}

#define GEMINI_2(indent)                                                                           \
	indent "\"intercom\": {\n" indent "  \"command\": \"@\",\n" indent                         \
	       "  \"args\": [\"mcp\", \"--wait\", \"3600\"],\n" indent                             \
	       "  \"trust\": true,\n" indent "  \"timeout\": 3700000\n" indent "}"

START_TEST(a_json_file_keeps_its_content_order_and_layout)
{
	static const char FILE_NAME[] = ".gemini/settings.json";

	round_trip(
	    "gemini", FILE_NAME,
	    "{\n  \"z\": 12345678901234567890,\n  \"a\": [ 1,2 ],\n  \"u\": \"\\u00e9\\/\"\n}",
	    "{\n  \"z\": 12345678901234567890,\n  \"a\": [ 1,2 ],\n  \"u\": \"\\u00e9\\/\",\n"
	    "  \"mcpServers\": {\n" GEMINI_2("    ") "\n  }\n}");
	round_trip("gemini", FILE_NAME,
	           "{\n\t\"mcpServers\": {\n\t\t\"x\": {\"url\": \"u\"}\n\t},\n\t\"b\": 1\n}\n",
	           "{\n\t\"mcpServers\": {\n\t\t\"x\": {\"url\": \"u\"},\n\t\t\"intercom\": {\n"
	           "\t\t\t\"command\": \"@\",\n\t\t\t\"args\": [\"mcp\", \"--wait\", \"3600\"],\n"
	           "\t\t\t\"trust\": true,\n\t\t\t\"timeout\": 3700000\n\t\t}\n\t},\n\t\"b\": "
	           "1\n}\n");
	round_trip("gemini", FILE_NAME, "{\"a\":{},\"mcpServers\":{}}",
	           "{\"a\":{},\"mcpServers\":{\"intercom\": {\"command\": \"@\", \"args\": "
	           "[\"mcp\", \"--wait\", \"3600\"], \"trust\": true, \"timeout\": 3700000}}}");
	round_trip("gemini", FILE_NAME, "{}\n",
	           "{\n  \"mcpServers\": {\n" GEMINI_2("    ") "\n  }\n}\n");
	round_trip("gemini", FILE_NAME, "\xEF\xBB\xBF{\r\n    \"a\": \"}\"\r\n}\r\n",
	           "\xEF\xBB\xBF{\r\n    \"a\": \"}\",\r\n    \"mcpServers\": {\r\n"
	           "        \"intercom\": {\r\n            \"command\": \"@\",\r\n"
	           "            \"args\": [\"mcp\", \"--wait\", \"3600\"],\r\n"
	           "            \"trust\": true,\r\n            \"timeout\": 3700000\r\n        "
	           "}\r\n    }\r\n}\r\n");
}
END_TEST

START_TEST(a_toml_file_keeps_every_other_byte)
{
	static const char FILE_NAME[] = ".codex/config.toml";
	static const char TABLE[] =
	    "[mcp_servers.intercom]\ncommand = \"@\"\n"
	    "args = [\"mcp\", \"--wait\", \"3600\"]\n" PASSED "default_tools_approval_mode = "
	    "\"approve\"\nrequired = true\ntool_timeout_sec = 3700\n";
	OWNED(str) struct str after = { 0 };
	static const char *const FILES[] = {
		"# mine\nmodel   = 'o'  # x\n\n[mcp_servers.other]\ncommand = \"c\"\n",
		"model = \"o\"", /* no newline at the end */
		"text = \"\"\"\n[mcp_servers.intercom]\n\"\"\"\nlist = [\n  [1],\n[2],\n]\n",
		"[a]\nb = 1\n\n\n",
		"",
	};

	for (size_t i = 0; i < COUNT(FILES); i++) {
		size_t length = strlen(FILES[i]);

		str_reset(&after);
		str_add(&after, FILES[i]);
		if (length > 0 && FILES[i][length - 1] != '\n')
			str_add(&after, "\n");
		if (length > 0 && strcmp(FILES[i] + length - 2, "\n\n") != 0)
			str_add(&after, "\n");
		str_add(&after, TABLE);
		round_trip("codex", FILE_NAME, FILES[i], str_text(&after));
	}
}
END_TEST

START_TEST(a_table_in_the_middle_is_replaced_and_its_subtables_stay)
{
	given(".codex/config.toml",
	      "[mcp_servers.'intercom'] # old\ncommand = \"/old/agent-intercom\"\nargs = [\n"
	      "  \"mcp\",\n]\n\n# of the next\n[tools]\nx = 1\n\n"
	      "[ mcp_servers . \"intercom\" . env ]\nA = \"b\"\n\n[end]\n");
	does("install codex --yes");
	holds(".codex/config.toml",
	      with_binary("[mcp_servers.intercom]\ncommand = \"@\"\nargs = [\"mcp\", \"--wait\", "
	                  "\"3600\"]\n" PASSED
	                  "default_tools_approval_mode = \"approve\"\nrequired = true\n"
	                  "tool_timeout_sec = 3700\n\n# of the next\n[tools]\nx = 1\n\n"
	                  "[ mcp_servers . \"intercom\" . env ]\nA = \"b\"\n\n[end]\n"));
	does("uninstall codex --yes");
	holds(".codex/config.toml", "# of the next\n[tools]\nx = 1\n\n[end]\n");
}
END_TEST

START_TEST(an_entry_for_http_never_leads_to_another_program)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, size), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &size), 0);
	given_port(ntohs(a.sin_port));
	run("install claude --yes --http");
	ck_assert_int_eq(status, 78);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "on 127.0.0.1 is held by "));
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "`ss -ltnp`, as root, shows it"));
	is_missing(".claude.json");
	(void)close(fd);
	does("install claude --yes --http");
}
END_TEST

START_TEST(what_the_user_put_into_our_entry_stays)
{
	given(
	    ".gemini/settings.json",
	    "{\"mcpServers\": {\"intercom\": {\"command\": \"agent-intercom\", \"args\": [\"mcp\"],"
	    " \"env\": {}}}}");
	does("install gemini --yes");
	holds(".gemini/settings.json",
	      with_binary(
	          "{\"mcpServers\": {\"intercom\": {\"command\": \"@\", \"args\": [\"mcp\", "
	          "\"--wait\", \"3600\"], \"trust\": true, \"timeout\": 3700000, \"env\": {}}}}"));
	given_port(NO_PROGRAMS_PORT);
	does("install gemini --yes --http");
	holds(".gemini/settings.json", "{\"mcpServers\": {\"intercom\": {\"httpUrl\": "
	                               "\"http://127.0.0.1:9/mcp?wait=3600\", "
	                               "\"trust\": true, \"timeout\": 3700000, \"env\": {}}}}");
}
END_TEST

START_TEST(the_copy_from_before_is_made_once)
{
	static const char BEFORE[] = "{\n  \"a\": 1\n}\n";

	given(".cursor/mcp.json", BEFORE);
	does("install cursor --yes");
	holds(".cursor/mcp.json.before-intercom", BEFORE);
	does("install cursor --yes --wait 50");
	holds(".cursor/mcp.json.before-intercom", BEFORE);
	ck_assert(shell("sed -i 's/\"a\": 1/\"a\": 2/' '%s'", in(".cursor/mcp.json")));
	does("uninstall cursor --yes");
	holds(".cursor/mcp.json", "{\n  \"a\": 2\n}\n");
	holds(".cursor/mcp.json.before-intercom", BEFORE); /* it is not the same: stays */
}
END_TEST

START_TEST(a_setting_that_was_there_before_comes_back)
{
	static const char BEFORE[] = "{\n  \"env\": {\n    \"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS\": "
	                             "\"9\",\n    \"A\": \"1\"\n  }\n}\n";

	given(".claude/settings.json", BEFORE);
	does("install claude --yes");
	holds(".claude/settings.json",
	      "{\n  \"env\": {\n    \"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS\": "
	      "\"0\",\n    \"A\": \"1\"\n  },\n  \"permissions\": {\n    \"allow\": "
	      "[\"mcp__intercom\"]\n  }\n}\n");
	does("uninstall claude --yes");
	holds(".claude/settings.json", BEFORE);
}
END_TEST

START_TEST(what_the_user_had_set_as_we_would_stays)
{
	static const char BEFORE[] = "{\"env\":{\"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS\":\"0\"},"
	                             "\"permissions\":{\"allow\":[\"mcp__intercom\"]}}\n";

	given(".claude/settings.json", BEFORE);
	does("install claude --yes");
	does("install claude --yes"); /* which changes nothing */
	holds(".claude/settings.json", BEFORE);
	does("uninstall claude --yes");
	holds(".claude/settings.json", BEFORE);
	is_missing(".claude/settings.json.before-intercom");
	is_missing(".claude.json");
}
END_TEST

START_TEST(without_an_install_nothing_goes)
{
	static const char MINE[] = "{\"env\":{\"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS\":\"0\"},"
	                           "\"permissions\":{\"allow\":[\"mcp__intercom\"]}}\n";

	given(".claude/settings.json", MINE);
	does("uninstall claude --yes");
	holds(".claude/settings.json", MINE);
	does("install claude --yes");
	does("install claude --project --gate --yes");
	does("uninstall claude --project --gate --yes");
	does("uninstall claude --yes");
	does("uninstall claude --yes");
	holds(".claude/settings.json", MINE);
	is_missing(".claude/settings.json.before-intercom");
}
END_TEST

START_TEST(what_install_had_set_goes_also_after_a_second_install)
{
	does("install claude --yes");
	does("install claude --yes --wait 50");
	does("uninstall claude --yes");
	is_missing(".claude/settings.json");
	is_missing(".claude.json");
}
END_TEST

/* Two entries, which go in either order. */
START_TEST(each_of_two_entries_takes_only_its_own_along)
{
	static const char *const ORDERS[][2] = { { "A", "B" }, { "B", "A" } };
	static const char MINE[] =
	    "{\"permissions\":{\"allow\":[\"mcp__A\"]},\"env\":{\"CLAUDE_CODE_"
	    "MCP_AUTO_BACKGROUND_MS\":\"0\"}}\n";

	for (size_t i = 0; i < 2 * COUNT(ORDERS); i++) {
		const char *const *order = ORDERS[i / 2];
		char command[60];

		if (i % 2)
			given(".claude/settings.json", MINE);
		does("install claude --name A --yes");
		does("install claude --name B --yes");
		(void)snprintf(command, sizeof(command), "uninstall claude --name %s --yes",
		               order[0]);
		does(command);
		ck_assert(shell("grep -q AUTO_BACKGROUND '%s'", in(".claude/settings.json")));
		(void)snprintf(command, sizeof(command), "uninstall claude --name %s --yes",
		               order[1]);
		does(command);
		is_missing(".claude.json");
		is_missing(".claude.json.before-intercom");
		is_missing(".claude/settings.json.before-intercom");
		if (i % 2) {
			holds(".claude/settings.json", MINE);
			ck_assert(shell("rm '%s'", in(".claude/settings.json")));
		} else {
			is_missing(".claude/settings.json");
		}
	}
}
END_TEST

START_TEST(an_empty_file_is_empty_again)
{
	given(".claude.json", "");
	does("install claude --yes");
	does("uninstall claude --yes");
	holds(".claude.json", "");
	is_missing(".claude.json.before-intercom");
}
END_TEST

START_TEST(half_characters_and_huge_numbers_are_json)
{
	static const char BEFORE[] = "{\"cut\":\"a \\ud83d\",\"whole\":\"\\ud83d\\ude00\","
	                             "\"other\":\"\\udc00\\\\ud800\",\"n\":1e400}\n";

	given(".claude.json", BEFORE);
	does("install claude --yes");
	ck_assert(shell("grep -q 'a .ud83d\",\"whole\":\"' '%s'", in(".claude.json")));
	does("uninstall claude --yes");
	holds(".claude.json", BEFORE);
}
END_TEST

/* Each says that it is done, and is; or that somebody else was faster. */
START_TEST(installs_at_once_lose_nothing)
{
	ck_assert(
	    shell("cd '%s' && for i in 1 2 3 4 5 6; do (HOME='%s' '%s' install gemini --yes "
	          "--name n$i >/dev/null 2>&1; s=$?; [ $s = 75 ] || { [ $s = 0 ] && echo n$i; } "
	          ">>told) & done; wait; for n in $(cat told); do grep -q \"\\\"$n\\\"\" "
	          "'%s' || exit 1; done; [ -s told ]",
	          folder, folder, binary, in(".gemini/settings.json")));
}
END_TEST

START_TEST(our_tools_are_added_to_what_a_host_allows_and_only_they_go_again)
{
	static const char BEFORE[] =
	    "{\n  \"permissions\": {\n    \"allow\": [\"Read\"],\n    \"deny\": []\n  }\n}\n";

	given(".claude/settings.json", BEFORE);
	does("install claude --yes --name gate");
	ck_assert(shell("grep -q '\"allow\": \\[\"Read\", \"mcp__gate\"\\]' '%s'",
	                in(".claude/settings.json")));
	does("uninstall claude --yes --name gate");
	holds(".claude/settings.json", BEFORE);
	given(".claude/settings.json",
	      "{\n  \"permissions\": {\n    \"allow\": [\"mcp__intercom\"]\n  } // mine\n}\n");
	run("install claude --yes");
	ck_assert_int_eq(status, 1);
	says("Put this into \"env\" there:\n\n\"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS\": \"0\"\n");
	ck_assert_ptr_null(strstr(str_text(&out), "\"permissions\" there"));
}
END_TEST

START_TEST(folders_that_install_made_go_with_their_last_file)
{
	does("install copilot --yes");
	given(".copilot/mine", "");
	does("uninstall copilot --yes");
	ck_assert_int_eq(access(in(".copilot/mine"), F_OK), 0);
	does("install qwen --yes");
	does("uninstall qwen --yes");
	is_missing(".qwen");
}
END_TEST

/* Copilot CLI keeps approvals by folder, and install adds one in each that it is run in; the entry
 * is removed once, wherever. */
static void does_in(const char *name, const char *arguments)
{
	ck_assert(shell("mkdir -p '%s' && cd '%s' && '%s' %s --yes </dev/null >'%s' 2>'%s'",
	                in(name), in(name), binary, arguments, in("out"), in("err")));
}

START_TEST(uninstall_takes_the_approvals_of_every_folder)
{
	OWNED(str) struct str mine = { 0 };

	does_in("a", "install copilot");
	does_in("b", "install copilot");
	does_in("c", "uninstall copilot");
	is_missing(".copilot");
	/* Those that a version before left there, and what the user has approved. */
	str_addf(&mine,
	         "{\"locations\": {\"%s\": {\"tool_approvals\": [{\"kind\": \"write\"}]}}}\n",
	         in("b"));
	given(".copilot/permissions-config.json", str_text(&mine));
	does_in("a", "install copilot");
	does_in("b", "install copilot");
	ck_assert_int_eq(unlink(in(".copilot/mcp-config.json")), 0);
	does_in("c", "uninstall copilot");
	holds(".copilot/permissions-config.json", str_text(&mine));
}
END_TEST

START_TEST(a_project_with_its_own_entry_keeps_its_approval)
{
	does_in("a", "install copilot --project");
	does_in("b", "install copilot");
	does_in("b", "uninstall copilot");
	ck_assert(shell("grep -q '\"%s\"' '%s'", in("a"), in(".copilot/permissions-config.json")));
	ck_assert(!shell("grep -q '\"%s\"' '%s'", in("b"), in(".copilot/permissions-config.json")));
	does_in("a", "uninstall copilot --project");
	is_missing(".copilot");
}
END_TEST

static void given_session_in(const char *workspace)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(paths) struct paths p = { 0 };
	struct err e = { 0 };

	(void)setenv("XDG_RUNTIME_DIR", folder, 1);
	(void)setenv("INTERCOM_HOST", "h", 1);
	ck_assert_msg(paths_open(in(".local/state/agent-intercom/intercom.db"), true, &p, &e) ==
	                      0 &&
	                  store_migrate(&st, p.database, NULL, &e) == 0,
	              "%s", e.text);
	ck_assert(
	    shell("sqlite3 '%s' \"INSERT INTO operator (id, kind, user_id, is_default)"
	          " VALUES ('local:tester', 'local', 'tester', 1);"
	          "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	          " created_at, updated_at) VALUES ('01900000-0000-7000-8000-00000000000a', 'h',"
	          " 'local:tester', '%s', 'active', 'local', '2026-02-08T09:30:00.123Z',"
	          " '2026-02-08T09:30:00.123Z')\"",
	          p.database, workspace));
}

START_TEST(uninstall_says_where_the_lines_for_the_agent_stay)
{
	does("install claude --yes --instructions CLAUDE.md");
	does("uninstall claude --yes");
	says("Lines that make the agent ask stay in the CLAUDE.md of other projects");
	does("install claude --yes --instructions ../far/CLAUDE.md");
	given_session_in(in("far"));
	does("uninstall claude --yes");
	says("/far/CLAUDE.md still tells its agent to ask: run uninstall claude there");
}
END_TEST

START_TEST(uninstall_does_nothing_where_nothing_is)
{
	given(".gemini/settings.json", "{ }");
	given(".codex/config.toml", "");
	does("uninstall gemini --yes");
	holds(".gemini/settings.json", "{ }");
	does("uninstall codex --yes");
	holds(".codex/config.toml", "");
	does("uninstall claude --yes");
	is_missing(".claude.json");
	run("uninstall gemini --print");
	ck_assert_int_eq(status, 64);
	holds(".gemini/settings.json", "{ }");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("install_hosts");
	TCase *c = tcase_create("install");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, each_host_gets_its_file_and_its_timeout);
	tcase_add_test(c, each_install_ends_with_what_to_do_next);
	tcase_add_test(c, an_install_says_if_the_path_has_no_such_program);
	tcase_add_test(c, print_only_prints);
	tcase_add_test(c, the_plain_name_is_written_in_a_project_when_it_is_the_one_in_the_path);
	tcase_add_test(c, a_json_file_keeps_its_content_order_and_layout);
	tcase_add_test(c, a_toml_file_keeps_every_other_byte);
	tcase_add_test(c, a_table_in_the_middle_is_replaced_and_its_subtables_stay);
	tcase_add_test(c, an_entry_for_http_never_leads_to_another_program);
	tcase_add_test(c, what_the_user_put_into_our_entry_stays);
	tcase_add_test(c, the_copy_from_before_is_made_once);
	tcase_add_test(c, a_setting_that_was_there_before_comes_back);
	tcase_add_test(c, what_the_user_had_set_as_we_would_stays);
	tcase_add_test(c, without_an_install_nothing_goes);
	tcase_add_test(c, what_install_had_set_goes_also_after_a_second_install);
	tcase_add_test(c, each_of_two_entries_takes_only_its_own_along);
	tcase_add_test(c, an_empty_file_is_empty_again);
	tcase_add_test(c, half_characters_and_huge_numbers_are_json);
	tcase_add_test(c, installs_at_once_lose_nothing);
	tcase_add_test(c, our_tools_are_added_to_what_a_host_allows_and_only_they_go_again);
	tcase_add_test(c, folders_that_install_made_go_with_their_last_file);
	tcase_add_test(c, uninstall_takes_the_approvals_of_every_folder);
	tcase_add_test(c, a_project_with_its_own_entry_keeps_its_approval);
	tcase_add_test(c, uninstall_says_where_the_lines_for_the_agent_stay);
	tcase_add_test(c, uninstall_does_nothing_where_nothing_is);
	suite_add_tcase(s, c);
	return run_suite(s);
}
