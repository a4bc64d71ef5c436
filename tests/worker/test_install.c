/* agent-intercom install and uninstall: the real program, with $HOME in a scratch directory, and
 * the files that it leaves. */
#include "err.h"
#include "str.h"
#include "suite.h"

#include <limits.h>
#include <pty.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/test_install.XXXXXX";
static char binary[PATH_MAX];
static struct str out, err_out; /* of the last run */
static int status;

/* ---- given, when, then ---- */

/* The path of name in the test's folder; as below. */
static const char *in(const char *name)
{
	return below(folder, name);
}

static void read_file(const char *path, struct str *into)
{
	char bytes[4096];
	size_t n;
	FILE *f = fopen(path, "re");

	ck_assert_msg(f != NULL, "%s is missing:\n%s%s", path, str_text(&out), str_text(&err_out));
	str_reset(into);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		str_add_bytes(into, bytes, n);
	(void)fclose(f);
}

static bool shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool shell(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command) == 0; /* NOLINT(cert-env33-c) */
}

/* A file in the home, with the directories on the way. */
static void given(const char *name, const char *text)
{
	FILE *f;

	ck_assert(shell("mkdir -p \"$(dirname '%s')\"", in(name)));
	f = fopen(in(name), "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* Runs the program in <folder>/ws without a terminal. */
static void run(const char *arguments)
{
	ck_assert(shell("cd '%s' && '%s' %s </dev/null >'%s' 2>'%s'; echo $? >'%s'", in("ws"),
	                binary, arguments, in("out"), in("err"), in("status")));
	read_file(in("status"), &out);
	status = atoi(str_text(&out));
	read_file(in("out"), &out);
	read_file(in("err"), &err_out);
}

static void does(const char *arguments)
{
	run(arguments);
	ck_assert_msg(status == 0, "%s: exit %d\n%s%s", arguments, status, str_text(&out),
	              str_text(&err_out));
}

static void holds(const char *name, const char *text)
{
	OWNED(str) struct str content = STR_INIT;

	read_file(in(name), &content);
	ck_assert_str_eq(str_text(&content), text);
}

static void is_missing(const char *name)
{
	ck_assert_msg(access(in(name), F_OK) != 0, "%s is there", name);
}

static void says(const char *text)
{
	ck_assert_msg(strstr(str_text(&out), text), "'%s' is not in:\n%s%s", text, str_text(&out),
	              str_text(&err_out));
}

/* It ends with this status, says why, and the file is as it was. */
static void fails(int expected, const char *why, const char *name, const char *text)
{
	ck_assert_msg(status == expected, "exit %d: %s%s", status, str_text(&out),
	              str_text(&err_out));
	ck_assert_msg(strstr(str_text(&err_out), why), "'%s' is not in: %s", why,
	              str_text(&err_out));
	holds(name, text);
	ck_assert(shell("! ls -A %s/.*before-intercom %s/*/*before-intercom 2>/dev/null", folder,
	                folder));
}

static mode_t mode_of(const char *name)
{
	struct stat about;

	ck_assert_int_eq(lstat(in(name), &about), 0);
	return about.st_mode;
}

static void setup(void)
{
	static const char *const FOREIGN[] = { "CLAUDE_CONFIG_DIR", "CODEX_HOME",
		                               "COPILOT_HOME",      "XDG_CONFIG_HOME",
		                               "XDG_STATE_HOME",    "INTERCOM_CONFIG" };
	const char *build = getenv("INTERCOM_BUILD");
	char relative[PATH_MAX];

	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)umask(022);
	ck_assert_int_eq(mkdir(in("ws"), 0755), 0);
	(void)setenv("HOME", folder, 1);
	for (size_t i = 0; i < COUNT(FOREIGN); i++)
		(void)unsetenv(FOREIGN[i]);
	(void)snprintf(relative, sizeof(relative), "%s/agent-intercom",
	               build ? build : "build/dev");
	ck_assert_msg(realpath(relative, binary) != NULL, "%s is not built", relative);
}

static void teardown(void)
{
	ck_assert(shell("rm -rf '%s'", folder));
	str_clear(&out);
	str_clear(&err_out);
}

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
		  "      \"url\": \"http://127.0.0.1:3000/mcp?wait=3600\",\n"
		  "      \"alwaysLoad\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "codex", ".codex/config.toml",
		  "[mcp_servers.intercom]\ncommand = \"@\"\nargs = [\"mcp\", \"--wait\", "
		  "\"3600\"]\n"
		  "default_tools_approval_mode = \"approve\"\nrequired = true\n"
		  "tool_timeout_sec = 3700\n" },
		{ "codex --http --wait 60", ".codex/config.toml",
		  "[mcp_servers.intercom]\nurl = \"http://127.0.0.1:3000/mcp?wait=60\"\n"
		  "default_tools_approval_mode = \"approve\"\nrequired = true\n"
		  "tool_timeout_sec = 160\n" },
		{ "codex --project", "ws/.codex/config.toml",
		  "[mcp_servers.intercom]\ncommand = \"@\"\nargs = [\"mcp\", \"--wait\", "
		  "\"3600\"]\n"
		  "default_tools_approval_mode = \"approve\"\nrequired = true\n"
		  "tool_timeout_sec = 3700\n" },
		{ "gemini", ".gemini/settings.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n      \"command\": \"@\",\n"
		  "      \"args\": [\"mcp\", \"--wait\", \"3600\"],\n      \"trust\": true,\n      "
		  "\"timeout\": 3700000\n"
		  "    }\n  }\n}\n" },
		{ "gemini --http", ".gemini/settings.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n"
		  "      \"httpUrl\": \"http://127.0.0.1:3000/mcp?wait=3600\",\n"
		  "      \"trust\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "qwen", ".qwen/settings.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n      \"command\": \"@\",\n"
		  "      \"args\": [\"mcp\", \"--wait\", \"3600\"],\n      \"trust\": true,\n      "
		  "\"timeout\": 3700000\n"
		  "    }\n  }\n}\n" },
		{ "qwen --http", ".qwen/settings.json",
		  "{\n  \"mcpServers\": {\n    \"intercom\": {\n"
		  "      \"httpUrl\": \"http://127.0.0.1:3000/mcp?wait=3600\",\n"
		  "      \"trust\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
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
		  "      \"url\": \"http://127.0.0.1:3000/mcp?wait=3600\",\n"
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
		  "      \"url\": \"http://127.0.0.1:3000/mcp?wait=3600\"\n    }\n  }\n}\n" },
		{ "opencode", ".config/opencode/opencode.json",
		  "{\n  \"mcp\": {\n    \"intercom\": {\n      \"type\": \"local\",\n"
		  "      \"command\": [\"@\", \"mcp\", \"--wait\", \"3600\"],\n"
		  "      \"enabled\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
		{ "opencode --http --project", "ws/opencode.json",
		  "{\n  \"mcp\": {\n    \"intercom\": {\n      \"type\": \"remote\",\n"
		  "      \"url\": \"http://127.0.0.1:3000/mcp?wait=3600\",\n"
		  "      \"enabled\": true,\n      \"timeout\": 3700000\n    }\n  }\n}\n" },
	};
	char command[128], name[16];

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
	OWNED(str) struct str path = STR_INIT;

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
	OWNED(str) struct str command = STR_INIT;

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
	    "args = [\"mcp\", \"--wait\", \"3600\"]\ndefault_tools_approval_mode = "
	    "\"approve\"\nrequired = true\ntool_timeout_sec = 3700\n";
	OWNED(str) struct str after = STR_INIT;
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
	                  "\"3600\"]\ndefault_tools_approval_mode = \"approve\"\nrequired = true\n"
	                  "tool_timeout_sec = 3700\n\n# of the next\n[tools]\nx = 1\n\n"
	                  "[ mcp_servers . \"intercom\" . env ]\nA = \"b\"\n\n[end]\n"));
	does("uninstall codex --yes");
	holds(".codex/config.toml", "# of the next\n[tools]\nx = 1\n\n[end]\n");
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
	does("install gemini --yes --http");
	holds(".gemini/settings.json", "{\"mcpServers\": {\"intercom\": {\"httpUrl\": "
	                               "\"http://127.0.0.1:3000/mcp?wait=3600\", "
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

/* ---- refusals ---- */

START_TEST(a_malformed_file_is_named_with_its_line_and_left)
{
	static const char JSON[] = "{\n  \"a\": 1\n  \"b\": 2\n}\n", TOML[] = "a = 1\nb = = 2\n";
	static const char ARRAY[] = "[]\n", TWICE[] = "{\"mcpServers\": {},\n\"mcpServers\": {}}";
	static const char SCALAR[] = "{\n\"mcpServers\": 5}";

	given(".gemini/settings.json", JSON);
	run("install gemini --yes");
	fails(78, ".gemini/settings.json:3: ", ".gemini/settings.json", JSON);
	given(".codex/config.toml", TOML);
	run("install codex --yes");
	fails(78, ".codex/config.toml:2: ", ".codex/config.toml", TOML);
	given(".gemini/settings.json", ARRAY);
	run("install gemini --yes");
	fails(78, "holds no JSON object", ".gemini/settings.json", ARRAY);
	given(".gemini/settings.json", TWICE);
	run("install gemini --yes");
	fails(78, ".gemini/settings.json:2: \"mcpServers\" is there twice", ".gemini/settings.json",
	      TWICE);
	given(".gemini/settings.json", SCALAR);
	run("install gemini --yes");
	fails(78, ".gemini/settings.json:2: \"mcpServers\" is not an object",
	      ".gemini/settings.json", SCALAR);
	/* One bad file of two: the good one is left, too. */
	given(".claude/settings.json", JSON);
	run("install claude --yes");
	fails(78, ".claude/settings.json:3: ", ".claude/settings.json", JSON);
	is_missing(".claude.json");
}
END_TEST

START_TEST(an_entry_in_another_toml_form_is_refused)
{
	static const char INLINE[] =
	    "mcp_servers.intercom = { command = \"agent-intercom\", args = [] }\n";

	given(".codex/config.toml", INLINE);
	run("install codex --yes");
	fails(78, "take it out by hand first", ".codex/config.toml", INLINE);
	run("uninstall codex --yes");
	fails(78, "take it out by hand first", ".codex/config.toml", INLINE);
}
END_TEST

START_TEST(another_server_of_that_name_is_left_alone)
{
	static const char FOREIGN[] =
	    "{\"mcpServers\": {\"intercom\": {\"url\": \"https://mcp.intercom.example/mcp\"}}}\n";

	given(".cursor/mcp.json", FOREIGN);
	run("install cursor --yes");
	fails(78, "--name", ".cursor/mcp.json", FOREIGN);
	run("uninstall cursor --yes");
	fails(78, "another server", ".cursor/mcp.json", FOREIGN);
	does("install cursor --yes --name gate");
	does("uninstall cursor --yes --name gate");
	holds(".cursor/mcp.json", FOREIGN);
}
END_TEST

START_TEST(a_file_with_comments_is_for_the_user_to_change)
{
	static const char COMMENTED[] = "{\n  // mine\n  \"servers\": { /* none */ },\n}\n";

	given("ws/.vscode/mcp.json", COMMENTED);
	run("install vscode --yes");
	ck_assert_int_eq(status, 1);
	says("has comments or trailing commas");
	says("Put this into \"servers\" there:\n\n\"intercom\": {");
	holds("ws/.vscode/mcp.json", COMMENTED);
	is_missing("ws/.vscode/mcp.json.before-intercom");
}
END_TEST

START_TEST(opencode_jsonc_is_the_file_if_it_is_there)
{
	given(".config/opencode/opencode.jsonc", "{\n}\n");
	does("install opencode --yes");
	is_missing(".config/opencode/opencode.json");
	holds(".config/opencode/opencode.jsonc.before-intercom", "{\n}\n");
}
END_TEST

START_TEST(wrong_usage_says_what_is_right)
{
	run("install emacs");
	ck_assert_int_eq(status, 64);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "claude|codex|gemini"));
	run("install");
	ck_assert_int_eq(status, 64);
	run("install claude --wait soon");
	ck_assert_int_eq(status, 64);
	run("install claude --name 'a.b'");
	ck_assert_int_eq(status, 64);
	does("install --help");
	says("--instructions");
	does("uninstall --help");
}
END_TEST

/* ---- files ---- */

START_TEST(modes_are_kept_and_new_files_are_private_or_common)
{
	given(".gemini/settings.json", "{\"a\": 1}");
	ck_assert_int_eq(chmod(in(".gemini/settings.json"), 0640), 0);
	does("install gemini --yes");
	ck_assert_uint_eq(mode_of(".gemini/settings.json"), S_IFREG | 0640);
	ck_assert_uint_eq(mode_of(".gemini/settings.json.before-intercom"), S_IFREG | 0640);
	does("install codex --yes");
	ck_assert_uint_eq(mode_of(".codex/config.toml"), S_IFREG | 0600);
	does("install claude --project --yes");
	ck_assert_uint_eq(mode_of("ws/.mcp.json"), S_IFREG | 0644);
	ck_assert(shell("test -z \"$(find '%s' -name '*.intercom-*')\"", folder));
}
END_TEST

START_TEST(a_link_stays_and_its_file_is_changed)
{
	given("dotfiles/gemini.json", "{\n  \"a\": 1\n}\n");
	ck_assert(shell("mkdir '%s'", in(".gemini")));
	ck_assert_int_eq(symlink("../dotfiles/gemini.json", in(".gemini/settings.json")), 0);
	does("install gemini --yes");
	ck_assert_uint_eq(mode_of(".gemini/settings.json") & S_IFMT, S_IFLNK);
	ck_assert(shell("grep -q mcpServers '%s'", in("dotfiles/gemini.json")));
	holds("dotfiles/gemini.json.before-intercom", "{\n  \"a\": 1\n}\n");
	does("uninstall gemini --yes");
	ck_assert_uint_eq(mode_of(".gemini/settings.json") & S_IFMT, S_IFLNK);
	holds("dotfiles/gemini.json", "{\n  \"a\": 1\n}\n");
	is_missing("dotfiles/gemini.json.before-intercom");
}
END_TEST

START_TEST(a_link_to_nothing_and_a_directory_are_refused)
{
	ck_assert(shell("mkdir -p '%s' '%s'", in(".gemini"), in(".codex/config.toml")));
	ck_assert_int_eq(symlink("nothing", in(".gemini/settings.json")), 0);
	run("install gemini --yes");
	ck_assert_int_eq(status, 78);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "link to a file that is not there"));
	run("install codex --yes");
	ck_assert_int_eq(status, 78);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "is not a regular file"));
}
END_TEST

START_TEST(host_variables_move_the_files)
{
	(void)setenv("CLAUDE_CONFIG_DIR", in("c"), 1);
	(void)setenv("CODEX_HOME", in("x"), 1);
	(void)setenv("COPILOT_HOME", in("p"), 1);
	does("install claude --yes");
	does("install codex --yes");
	does("install copilot --yes");
	ck_assert_int_eq(access(in("c/.claude.json"), F_OK), 0);
	ck_assert_int_eq(access(in("c/settings.json"), F_OK), 0);
	ck_assert_int_eq(access(in("x/config.toml"), F_OK), 0);
	ck_assert_int_eq(access(in("p/mcp-config.json"), F_OK), 0);
	is_missing(".claude.json");
}
END_TEST

/* ---- asking ---- */

START_TEST(without_a_terminal_the_change_is_only_shown)
{
	static const char BEFORE[] = "{\n  \"a\": 1\n}\n";

	given(".gemini/settings.json", BEFORE);
	run("install gemini");
	fails(1, "no terminal to ask on; add --yes", ".gemini/settings.json", BEFORE);
	says(".gemini/settings.json\n@@ -1,3 +1,11 @@\n {\n-  \"a\": 1\n+  \"a\": 1,\n");
	does("install gemini --yes");
	run("uninstall gemini");
	ck_assert_int_eq(status, 1);
	says("-  \"mcpServers\": {\n");
}
END_TEST

/* Runs the program on a terminal and answers its questions, a letter each. */
static void on_terminal(const char *arguments, const char *answers)
{
	int terminal;
	char bytes[4096];
	ssize_t n;
	pid_t child = forkpty(&terminal, NULL, NULL, NULL);

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		(void)shell("cd '%s' && '%s' %s; echo $? >'%s'", in("ws"), binary, arguments,
		            in("status"));
		_exit(0);
	}
	str_reset(&out);
	while ((n = read(terminal, bytes, sizeof(bytes))) > 0) {
		str_add_bytes(&out, bytes, (size_t)n);
		if (*answers && out.length > 6 &&
		    strcmp(out.bytes + out.length - 6, "[y/N] ") == 0) {
			ck_assert_int_eq(write(terminal, answers++, 1), 1);
			ck_assert_int_eq(write(terminal, "\n", 1), 1);
		}
	}
	(void)close(terminal);
	(void)waitpid(child, NULL, 0);
	read_file(in("status"), &err_out);
	status = atoi(str_text(&err_out));
	ck_assert_msg(*answers == '\0', "not asked often enough:\n%s", str_text(&out));
}

START_TEST(on_a_terminal_it_asks_and_offers_the_lines)
{
	on_terminal("install gemini", "n");
	ck_assert_int_eq(status, 1);
	is_missing(".gemini/settings.json");
	on_terminal("install gemini", "yn");
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(access(in(".gemini/settings.json"), F_OK), 0);
	is_missing("ws/GEMINI.md");
	on_terminal("install gemini", "y"); /* only the lines are left to ask for */
	ck_assert_int_eq(access(in("ws/GEMINI.md"), F_OK), 0);
	on_terminal("uninstall gemini", "yy");
	is_missing(".gemini/settings.json");
	is_missing("ws/GEMINI.md");
}
END_TEST

/* ---- instructions ---- */

START_TEST(the_lines_are_a_marked_block_that_goes_as_it_came)
{
	static const char *const FILES[] = { "# Rules\n\nBe kind.\n", "no newline", "\n\n", "" };
	OWNED(str) struct str content = STR_INIT;

	for (size_t i = 0; i < COUNT(FILES); i++) {
		given("ws/CLAUDE.md", FILES[i]);
		does("install claude --yes --instructions CLAUDE.md");
		read_file(in("ws/CLAUDE.md"), &content);
		ck_assert_int_eq(strncmp(str_text(&content), FILES[i], strlen(FILES[i])), 0);
		ck_assert_ptr_nonnull(strstr(str_text(&content), "\n- Before you create"));
		ck_assert_ptr_nonnull(strstr(str_text(&content), "\n<!-- /agent-intercom -->\n"));
		does("install claude --yes --instructions CLAUDE.md");
		says("CLAUDE.md: nothing to change");
		does("uninstall claude --yes");
		holds("ws/CLAUDE.md", FILES[i]);
		is_missing("ws/CLAUDE.md.before-intercom");
	}
	ck_assert_int_eq(unlink(in("ws/CLAUDE.md")), 0);
	does("install claude --yes --instructions sub/CLAUDE.md");
	does("uninstall claude --yes --instructions sub/CLAUDE.md");
	is_missing("ws/sub/CLAUDE.md");
}
END_TEST

START_TEST(an_older_block_is_replaced_where_it_stands)
{
	OWNED(str) struct str content = STR_INIT;

	given("ws/AGENTS.md", "a\n\n<!-- agent-intercom -->\nold\n<!-- /agent-intercom -->\n\nb\n");
	does("install codex --yes --instructions AGENTS.md");
	read_file(in("ws/AGENTS.md"), &content);
	ck_assert_int_eq(strncmp(str_text(&content), "a\n\n<!-- agent-intercom -->\nFiles", 32), 0);
	ck_assert_ptr_nonnull(strstr(str_text(&content), "<!-- /agent-intercom -->\n\nb\n"));
	does("uninstall codex --yes");
	holds("ws/AGENTS.md", "a\n\nb\n");
	given("ws/AGENTS.md", "<!-- agent-intercom -->\nno end\n");
	run("install codex --yes --instructions AGENTS.md");
	ck_assert_int_eq(status, 78);
	is_missing(".codex/config.toml"); /* looked at before anything is written */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("install");
	TCase *c = tcase_create("install");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, each_host_gets_its_file_and_its_timeout);
	tcase_add_test(c, print_only_prints);
	tcase_add_test(c, the_plain_name_is_written_in_a_project_when_it_is_the_one_in_the_path);
	tcase_add_test(c, a_json_file_keeps_its_content_order_and_layout);
	tcase_add_test(c, a_toml_file_keeps_every_other_byte);
	tcase_add_test(c, a_table_in_the_middle_is_replaced_and_its_subtables_stay);
	tcase_add_test(c, what_the_user_put_into_our_entry_stays);
	tcase_add_test(c, the_copy_from_before_is_made_once);
	tcase_add_test(c, a_setting_that_was_there_before_comes_back);
	tcase_add_test(c, our_tools_are_added_to_what_a_host_allows_and_only_they_go_again);
	tcase_add_test(c, folders_that_install_made_go_with_their_last_file);
	tcase_add_test(c, uninstall_does_nothing_where_nothing_is);
	tcase_add_test(c, a_malformed_file_is_named_with_its_line_and_left);
	tcase_add_test(c, an_entry_in_another_toml_form_is_refused);
	tcase_add_test(c, another_server_of_that_name_is_left_alone);
	tcase_add_test(c, a_file_with_comments_is_for_the_user_to_change);
	tcase_add_test(c, opencode_jsonc_is_the_file_if_it_is_there);
	tcase_add_test(c, wrong_usage_says_what_is_right);
	tcase_add_test(c, modes_are_kept_and_new_files_are_private_or_common);
	tcase_add_test(c, a_link_stays_and_its_file_is_changed);
	tcase_add_test(c, a_link_to_nothing_and_a_directory_are_refused);
	tcase_add_test(c, host_variables_move_the_files);
	tcase_add_test(c, without_a_terminal_the_change_is_only_shown);
	tcase_add_test(c, on_a_terminal_it_asks_and_offers_the_lines);
	tcase_add_test(c, the_lines_are_a_marked_block_that_goes_as_it_came);
	tcase_add_test(c, an_older_block_is_replaced_where_it_stands);
	suite_add_tcase(s, c);
	return run_suite(s);
}
