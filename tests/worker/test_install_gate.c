/* agent-intercom install --gate and --managed: the real program, with $HOME in a scratch directory,
 * and the files with hooks that it leaves. For Cursor and VS Code, which cannot run in a test,
 * these are the files as their vendors document them. */
#include "install_case.h"

#include "gate_host.h"
#include "json.h"
#include "json_edit.h"

/* A program at a path with a space, with an empty file as its hook. */
static char program[PATH_MAX], hook[PATH_MAX];

static void setup_gate(void)
{
	setup();
	ck_assert(shell("mkdir '%s' && cp '%s' '%s' && cd '%s' && touch hook mcp-front && "
	                "chmod +x hook mcp-front",
	                in("a bin"), binary, in("a bin"), in("a bin")));
	(void)snprintf(program, sizeof(program), "%s", in("a bin/agent-intercom"));
	(void)snprintf(hook, sizeof(hook), "%s", in("a bin/hook"));
	(void)snprintf(binary, sizeof(binary), "%s", program);
}

/* text with @ replaced by the hook's path; valid until the next call. */
static const char *with_hook(const char *text)
{
	static struct str made;

	str_reset(&made);
	for (; *text; text++)
		if (*text == '@')
			str_add(&made, hook);
		else
			str_add_char(&made, *text);
	return str_text(&made);
}

/* The JSON in a file of the home; the caller deletes it. */
static cJSON *json_of(const char *name)
{
	OWNED(str) struct str content = { 0 };
	cJSON *root;

	read_file(in(name), &content);
	root = cJSON_Parse(str_text(&content));
	ck_assert_msg(root != NULL, "%s holds no JSON: %s", name, str_text(&content));
	return root;
}

/* The list of an event holds exactly this. */
static void event_is(const char *file, const char *event, const char *expected)
{
	OWNED(cJSON_ptr) cJSON *root = json_of(file);
	const char *const place[] = { "hooks", event, NULL };
	const cJSON *there = json_edit_find(root, place);
	OWNED(cJSON_ptr) cJSON *wanted = cJSON_Parse(with_hook(expected));
	char *text = cJSON_PrintUnformatted(there);

	ck_assert_ptr_nonnull(wanted);
	ck_assert_msg(there && cJSON_Compare(there, wanted, 1), "%s: %s is %s", file, event,
	              text ? text : "missing");
	cJSON_free(text);
}

static bool is_there(const char *file, const char *text)
{
	OWNED(str) struct str content = { 0 };

	read_file(in(file), &content);
	return strstr(str_text(&content), text) != NULL;
}

static void refuses(const char *arguments, int expected, const char *why)
{
	run(arguments);
	ck_assert_msg(status == expected, "%s: exit %d: %s", arguments, status, str_text(&err_out));
	ck_assert_msg(strstr(str_text(&err_out), why), "'%s' is not in: %s", why,
	              str_text(&err_out));
}

/* ---- each host ---- */

START_TEST(each_host_asks_before_each_tool_with_a_limit_in_its_own_unit)
{
	static const struct {
		const char *host, *file, *event, *list;
	} HOSTS[] = {
		{ "claude", ".claude/settings.json", "PreToolUse",
		  "[{\"matcher\": \".*\", \"hooks\": [{\"type\": \"command\", \"command\": \"'@' "
		  "claude PreToolUse --deadline 3600\", \"timeout\": 3700}]}]" },
		{ "claude", ".claude/settings.json", "PermissionRequest",
		  "[{\"matcher\": \".*\", \"hooks\": [{\"type\": \"command\", \"command\": \"'@' "
		  "claude PermissionRequest --deadline 3600\", \"timeout\": 3700}]}]" },
		{ "claude", ".claude/settings.json", "SessionEnd",
		  "[{\"hooks\": [{\"type\": \"command\", \"command\": \"'@' claude SessionEnd "
		  "--deadline 2\", \"timeout\": 3}]}]" },
		{ "codex", ".codex/hooks.json", "PreToolUse",
		  "[{\"hooks\": [{\"type\": \"command\", \"command\": \"'@' codex PreToolUse "
		  "--deadline 3600\", \"timeout\": 3700}]}]" },
		{ "codex", ".codex/hooks.json", "Stop",
		  "[{\"hooks\": [{\"type\": \"command\", \"command\": \"'@' codex Stop "
		  "--deadline 3600\", \"timeout\": 3700}]}]" },
		{ "gemini", ".gemini/settings.json", "BeforeTool",
		  "[{\"matcher\": \".*\", \"hooks\": [{\"type\": \"command\", \"command\": \"'@' "
		  "gemini BeforeTool --deadline 3600\", \"timeout\": 3700000}]}]" },
		{ "gemini", ".gemini/settings.json", "SessionStart",
		  "[{\"hooks\": [{\"type\": \"command\", \"command\": \"'@' gemini SessionStart "
		  "--deadline 9\", \"timeout\": 10000}]}]" },
		{ "copilot", ".copilot/hooks/agent-intercom.json", "preToolUse",
		  "[{\"type\": \"command\", \"bash\": \"'@' copilot preToolUse --deadline 3600\", "
		  "\"timeoutSec\": 3700}]" },
		{ "qwen", ".qwen/settings.json", "PreToolUse",
		  "[{\"matcher\": \".*\", \"hooks\": [{\"type\": \"command\", \"command\": \"'@' "
		  "qwen PreToolUse --deadline 55\", \"timeout\": 60}]}]" },
	};
	char command[64];

	for (size_t i = 0; i < COUNT(HOSTS); i++) {
		(void)snprintf(command, sizeof(command), "install %s --gate --yes", HOSTS[i].host);
		does(command);
		event_is(HOSTS[i].file, HOSTS[i].event, HOSTS[i].list);
		does(command);
		event_is(HOSTS[i].file, HOSTS[i].event, HOSTS[i].list);
		says("nothing to change");
		ck_assert_ptr_null(strstr(str_text(&out), "wrote"));
		(void)snprintf(command, sizeof(command), "uninstall %s --yes", HOSTS[i].host);
		does(command);
		is_missing(HOSTS[i].file);
	}
	ck_assert(shell("test -z \"$(find '%s' -name '*intercom*' ! -path '*/a bin*')\"", folder));
}
END_TEST

#define FLAT(command, more, event, deadline, timeout)                                              \
	"    \"" event "\": [\n      {\n" more "        \"command\": \"'@' " command " " event     \
	" --deadline " deadline "\",\n        \"timeout\": " timeout "\n      }\n    ]"

#define CURSOR(event, deadline, timeout)                                                           \
	FLAT("cursor", "        \"failClosed\": true,\n", event, deadline, timeout)

#define VSCODE(event, deadline, timeout)                                                           \
	FLAT("vscode", "        \"type\": \"command\",\n", event, deadline, timeout)

START_TEST(cursor_gets_the_file_that_its_vendor_documents)
{
	does("install cursor --gate --yes");
	holds(
	    ".cursor/hooks.json",
	    with_hook("{\n  \"version\": 1,\n  \"hooks\": {\n" CURSOR("preToolUse", "3600", "3700") ",\n" CURSOR(
	        "postToolUse", "9",
	        "10") ",\n" CURSOR("postToolUseFailure", "9",
	                           "10") ",\n" CURSOR("beforeSubmitPrompt", "9",
	                                              "10") ",\n" CURSOR("stop", "3600",
	                                                                 "3700") ",\n" CURSOR("sess"
	                                                                                      "ionS"
	                                                                                      "tar"
	                                                                                      "t",
	                                                                                      "9",
	                                                                                      "10") ",\n" CURSOR("sessionEnd",
	                                                                                                         "2",
	                                                                                                         "3") "\n  }\n}\n"));
	does("uninstall cursor --yes");
	is_missing(".cursor/hooks.json");
}
END_TEST

START_TEST(vscode_gets_the_file_that_its_vendor_documents_and_is_told_where_it_is)
{
	does("install vscode --gate --yes");
	holds(".config/agent-intercom/vscode-hooks/gate.json",
	      with_hook("{\n  \"hooks\": {\n" VSCODE("PreToolUse", "3600", "3700") ",\n" VSCODE(
	          "PostToolUse", "9",
	          "10") ",\n" VSCODE("UserPromptSubmit", "9",
	                             "10") ",\n" VSCODE("Stop", "3600",
	                                                "3700") ",\n" VSCODE("SessionStart", "9",
	                                                                     "10") "\n  }\n}\n"));
	holds(".config/Code/User/settings.json",
	      "{\n  \"chat.hookFilesLocations\": {\n"
	      "    \"~/.config/agent-intercom/vscode-hooks\": true\n  }\n}\n");
	does("uninstall vscode --yes");
	is_missing(".config/agent-intercom/vscode-hooks/gate.json");
	is_missing(".config/Code/User/settings.json");
}
END_TEST

START_TEST(opencode_gets_a_plugin_that_starts_the_hook)
{
	static const char FILE_NAME[] = ".config/opencode/plugins/agent-intercom.js";

	does("install opencode --gate --yes --wait 30");
	ck_assert(is_there(FILE_NAME, with_hook("\nconst HOOK = \"@\";\n")));
	ck_assert(is_there(FILE_NAME, "const EVENTS = { \"tool.execute.before\": 30,"));
	does("install opencode --gate --yes");
	ck_assert(is_there(FILE_NAME, "const EVENTS = { \"tool.execute.before\": 3600,"));
	does("uninstall opencode --yes");
	is_missing(FILE_NAME);
	given(FILE_NAME, "export const mine = 1;\n");
	refuses("install opencode --gate --yes", 78, "is not ours");
	does("uninstall opencode --yes");
	holds(FILE_NAME, "export const mine = 1;\n");
}
END_TEST

START_TEST(the_hook_knows_each_event_and_no_hook_before_a_tool_is_short_of_time)
{
	static const char *const FILES[] = {
		"claude",  ".claude/settings.json",
		"codex",   ".codex/hooks.json",
		"gemini",  ".gemini/settings.json",
		"copilot", ".copilot/hooks/agent-intercom.json",
		"cursor",  ".cursor/hooks.json",
		"vscode",  ".config/agent-intercom/vscode-hooks/gate.json",
		"qwen",    ".qwen/settings.json"
	};
	char command[64];

	for (size_t i = 0; i < COUNT(FILES); i += 2) {
		const struct gate_host *host = gate_host_named(FILES[i]);
		OWNED(cJSON_ptr) cJSON *root = NULL;
		const cJSON *one;
		bool asks = false;

		(void)snprintf(command, sizeof(command), "install %s --gate --yes", FILES[i]);
		does(command);
		root = json_of(FILES[i + 1]);
		cJSON_ArrayForEach (one, cJSON_GetObjectItemCaseSensitive(root, "hooks")) {
			const struct gate_event_name *event = gate_host_event(host, one->string);
			char *text = cJSON_PrintUnformatted(one);

			ck_assert_msg(event != NULL, "%s: %s", FILES[i], one->string);
			asks |= event->event == GATE_PRE_TOOL;
			if (event->event == GATE_PRE_TOOL || event->event == GATE_PERMISSION)
				ck_assert_msg(strstr(text, host->wait_seconds_max
				                               ? "--deadline 55"
				                               : "--deadline 3600"),
				              "%s", text);
			cJSON_free(text);
		}
		ck_assert(asks);
	}
}
END_TEST

/* ---- what else is in the file ---- */

START_TEST(hooks_of_others_stay_and_the_file_comes_back_to_the_byte)
{
	static const char BEFORE[] =
	    "{\n\t\"hooks\": {\"PreToolUse\": [ {\"matcher\":\"Bash\", \"hooks\": [ {\"type\": "
	    "\"command\",\"command\":\"/opt/lint hook claude x\"} ]} ],\n\t\"Other\": []}\n}\n";

	given(".claude/settings.json", BEFORE);
	does("install claude --gate --yes");
	event_is(
	    ".claude/settings.json", "PreToolUse",
	    "[{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": "
	    "\"/opt/lint hook claude x\"}]}, {\"matcher\": \".*\", \"hooks\": [{\"type\": "
	    "\"command\", \"command\": \"'@' claude PreToolUse --deadline 3600\", \"timeout\": "
	    "3700}]}]");
	does("uninstall claude --yes");
	holds(".claude/settings.json", BEFORE);
}
END_TEST

START_TEST(an_older_gate_is_replaced_also_where_somebody_put_a_hook_into_its_group)
{
	given(".codex/hooks.json",
	      "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"/old/libexec/hook codex "
	      "PreToolUse --deadline 5\", \"timeout\": 9}, {\"command\": \"mine\"}]}], "
	      "\"OldEvent\": [{\"hooks\": [{\"command\": \"'/o d/hook' codex OldEvent\"}]}]}}");
	does("install codex --gate --yes --wait 60");
	event_is(".codex/hooks.json", "PreToolUse",
	         "[{\"hooks\": [{\"command\": \"mine\"}]}, {\"hooks\": [{\"type\": \"command\", "
	         "\"command\": \"'@' codex PreToolUse --deadline 60\", \"timeout\": 160}]}]");
	ck_assert(!is_there(".codex/hooks.json", "OldEvent"));
	does("uninstall codex --yes");
	event_is(".codex/hooks.json", "PreToolUse", "[{\"hooks\": [{\"command\": \"mine\"}]}]");
	ck_assert(!is_there(".codex/hooks.json", "/hook"));
}
END_TEST

START_TEST(a_file_with_comments_is_left_and_its_hooks_are_printed)
{
	static const char BEFORE[] = "{\n  // mine\n  \"version\": 1\n}\n";

	given(".cursor/hooks.json", BEFORE);
	run("install cursor --gate --yes");
	ck_assert_int_eq(status, 1);
	says("has comments or trailing commas");
	says("\"failClosed\":\ttrue");
	holds(".cursor/hooks.json", BEFORE);
}
END_TEST

START_TEST(a_list_that_is_none_is_refused_and_nothing_is_written)
{
	static const char BEFORE[] = "{\"hooks\": {\"PreToolUse\": 5}}\n";

	given(".claude/settings.json", BEFORE);
	refuses("install claude --gate --yes", 78, "\"hooks\", \"PreToolUse\" is not a list");
	holds(".claude/settings.json", BEFORE);
	is_missing(".claude.json");
}
END_TEST

START_TEST(an_install_without_gate_leaves_a_gate_alone)
{
	does("install claude --gate --yes");
	does("install claude --yes --wait 50");
	ck_assert(is_there(".claude/settings.json", "claude PreToolUse --deadline 3600"));
}
END_TEST

START_TEST(uninstall_of_one_entry_leaves_the_gate_of_this_user)
{
	static const char *const ONE[] = { "uninstall claude --project --yes",
		                           "uninstall claude --yes --name other",
		                           "uninstall claude --yes --file other.json" };

	does("install claude --gate --yes");
	for (size_t i = 0; i < COUNT(ONE); i++) {
		does(ONE[i]);
		ck_assert_msg(is_there(".claude/settings.json", "claude PreToolUse"), "%s", ONE[i]);
	}
	does("uninstall claude --project --gate --yes");
	ck_assert(!is_there(".claude/settings.json", "claude PreToolUse"));
	does("install claude --gate --yes");
	does("uninstall claude --yes");
	is_missing(".claude/settings.json");
}
END_TEST

/* Entries, settings and hooks share files: whichever goes first, all is as before at the end. */
START_TEST(what_was_installed_goes_in_any_order)
{
	static const char *const HOSTS[] = { "claude", "gemini" };
	static const char *const PARTS[] = { "--name A", "--gate", "--project --gate" };
	static const int ORDERS[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		                         { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (size_t i = 0; i < COUNT(HOSTS) * COUNT(ORDERS) * COUNT(ORDERS); i++) {
		const char *host = HOSTS[i % COUNT(HOSTS)];
		const int *in_order = ORDERS[i / COUNT(HOSTS) % COUNT(ORDERS)];
		const int *out_order = ORDERS[i / COUNT(HOSTS) / COUNT(ORDERS)];

		for (size_t k = 0; k < 2 * COUNT(PARTS); k++) {
			bool in = k < COUNT(PARTS);
			char command[80];

			(void)snprintf(command, sizeof(command), "%s %s %s --yes",
			               in ? "install" : "uninstall", host,
			               PARTS[(in ? in_order : out_order)[k % COUNT(PARTS)]]);
			does(command);
		}
		ck_assert_msg(shell("[ -z \"$(find '%s' -path '*/.*' -type f)\" ]", folder),
		              "%s: something is left of order %zu", host, i);
	}
}
END_TEST

START_TEST(an_empty_list_of_the_user_comes_back)
{
	static const char BEFORE[] = "{\"hooks\":{\"PreToolUse\":[]}}\n";

	given(".codex/hooks.json", BEFORE);
	does("install codex --gate --yes");
	does("uninstall codex --yes");
	holds(".codex/hooks.json", BEFORE);
	is_missing(".codex/hooks.json.before-intercom");
	given(".cursor/hooks.json", "{\"hooks\":{\"stop\":[  ]}}\n");
	does("install cursor --gate --yes");
	does("uninstall cursor --yes");
	holds(".cursor/hooks.json", "{\"hooks\":{\"stop\":[  ]}}\n");
}
END_TEST

/* ---- options ---- */

START_TEST(hooks_are_told_of_the_configuration_and_what_to_answer_when_we_are_away)
{
	given("ws/my c.toml", "[gate]\nwhen_down = \"allow\"\n");
	does("install claude --gate --yes --config 'my c.toml' --db x.db");
	ck_assert(is_there(".claude/settings.json", "PreToolUse --deadline 3600 --when-down allow "
	                                            "--config '/"));
	ck_assert(is_there(".claude/settings.json", "/ws/my c.toml' --db /"));
	does("install claude --gate --yes --when-down deny");
	ck_assert(!is_there(".claude/settings.json", "--when-down"));
	does("install codex --gate --yes");
	says("type /hooks");
}
END_TEST

START_TEST(options_that_do_not_go_together_are_refused)
{
	refuses("install claude --gate --managed", 64, "choose one");
	refuses("install claude --root /x", 64, "--root goes with --managed");
	refuses("install claude --when-down allow", 64, "--when-down goes with");
	refuses("install claude --gate --when-down maybe", 64, "deny or allow, not 'maybe'");
	ck_assert(shell("rm '%s'", hook));
	refuses("install claude --gate --yes", 78, "/a bin/hook; install agent-intercom again");
	is_missing(".claude.json");
}
END_TEST

/* ---- for all users ---- */

START_TEST(the_managed_gate_switches_bypasses_off_where_the_vendor_can)
{
	static const struct {
		const char *host, *file, *text, *event;
	} HOSTS[] = {
		{ "claude", "etc/claude-code/managed-settings.d/agent-intercom.json",
		  "\"disableBypassPermissionsMode\": \"disable\"", "PreToolUse" },
		{ "claude", "etc/claude-code/managed-settings.d/agent-intercom.json",
		  "\"allowManagedHooksOnly\": true", "SessionEnd" },
		{ "gemini", "etc/gemini-cli/settings.json", "\"disableYoloMode\": true",
		  "BeforeTool" },
		{ "gemini", "etc/gemini-cli/settings.json", "\"hooksConfig\": {", "BeforeTool" },
		{ "copilot", "etc/github-copilot/policy.d/agent-intercom.json", "\"version\": 1",
		  "preToolUse" },
		{ "cursor", "etc/cursor/hooks.json", "\"failClosed\": true", "preToolUse" },
		{ "qwen", "etc/qwen-code/settings.json", "\"timeout\": 60", "PreToolUse" },
		{ "qwen", "etc/qwen-code/settings.json", "\"disableAllHooks\": false",
		  "PreToolUse" },
	};
	char command[PATH_MAX];

	for (size_t i = 0; i < COUNT(HOSTS); i++) {
		OWNED(cJSON_ptr) cJSON *root = NULL;
		struct stat about;

		(void)snprintf(command, sizeof(command),
		               "install %s --managed --yes --root '%.500s'", HOSTS[i].host, folder);
		does(command);
		ck_assert_msg(is_there(HOSTS[i].file, HOSTS[i].text), "%s", HOSTS[i].host);
		ck_assert(is_there(HOSTS[i].file, HOSTS[i].event));
		ck_assert_int_eq(stat(in(HOSTS[i].file), &about), 0);
		ck_assert_int_eq(about.st_mode & 0777, 0644);
		does(command);
		says("nothing to change");
		(void)snprintf(command, sizeof(command),
		               "uninstall %s --managed --yes --root '%.500s'", HOSTS[i].host,
		               folder);
		does(command);
		is_missing(HOSTS[i].file);
	}
	ck_assert(shell("test -z \"$(find '%s' -name '.cl*')\"", folder));
}
END_TEST

START_TEST(the_managed_gate_of_codex_is_a_file_of_our_own)
{
	static const char FILE_NAME[] = "etc/codex/requirements.toml";
	char command[PATH_MAX];

	(void)snprintf(command, sizeof(command), "install codex --managed --yes --root '%.500s'",
	               folder);
	does(command);
	ck_assert(is_there(FILE_NAME, "\nallow_managed_hooks_only = true\n"));
	ck_assert(is_there(FILE_NAME,
	                   with_hook("\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "
	                             "\"command\"\ncommand = \"'@' codex PreToolUse --deadline "
	                             "3600\"\ntimeout = 3700\n")));
	does(command);
	says("nothing to change");
	given(FILE_NAME, "allowed_approval_policies = []\n");
	refuses(command, 78, "is not ours");
	holds(FILE_NAME, "allowed_approval_policies = []\n");
}
END_TEST

/* All that is there for all users: folders 0755, files 0644. */
static bool is_for_all(void)
{
	return shell("cd '%s' && test -d etc && test -z \"$(find etc -type d ! -perm 755 -o "
	             "-type f ! -perm 644)\"",
	             folder);
}

START_TEST(whatever_the_umask_all_users_get_to_the_managed_gate)
{
	static const char *const HOSTS[] = { "claude",  "codex",  "gemini",
		                             "copilot", "cursor", "qwen" };
	static const mode_t MASKS[] = { 077, 027, 022, 0 };
	char command[PATH_MAX];

	for (size_t i = 0; i < COUNT(HOSTS) * COUNT(MASKS); i++) {
		(void)umask(MASKS[i % COUNT(MASKS)]);
		(void)snprintf(command, sizeof(command),
		               "install %s --managed --yes --root '%.500s'",
		               HOSTS[i / COUNT(MASKS)], folder);
		does(command);
		ck_assert_msg(is_for_all(), "%s", command);
		ck_assert(shell("chmod -R go= '%s'", in("etc")));
		does(command);
		says("nothing to change");
		says("other users may read");
		ck_assert_msg(is_for_all(), "%s", command);
		ck_assert(shell("rm -r '%s'", in("etc")));
	}
	(void)umask(022);
}
END_TEST

START_TEST(a_folder_of_others_that_users_cannot_enter_stays_and_is_named)
{
	char command[PATH_MAX];

	(void)snprintf(command, sizeof(command), "install gemini --managed --yes --root '%.500s'",
	               folder);
	given("etc/gemini-cli/other.json", "{}");
	ck_assert(shell("chmod 750 '%s'", in("etc/gemini-cli")));
	for (int i = 0; i < 2; i++) {
		run(command);
		ck_assert_int_eq(status, 1);
		says("/etc/gemini-cli/settings.json, so their Gemini CLI runs without these hooks: "
		     "chmod o+rX /");
		says("/etc/gemini-cli\n");
	}
	ck_assert(shell("test \"$(stat -c %%a '%s')\" = 750", in("etc/gemini-cli")));
	ck_assert(shell("chmod o+rX '%s'", in("etc/gemini-cli")));
	does(command);
}
END_TEST

START_TEST(hosts_without_a_path_for_all_users_say_so)
{
	refuses("install vscode --managed --yes", 78, "VS Code reads no hooks from a path of the");
	refuses("install opencode --managed --yes", 78, "with --gate");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("install_gate");
	TCase *c = tcase_create("gate");

	tcase_add_checked_fixture(c, setup_gate, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, each_host_asks_before_each_tool_with_a_limit_in_its_own_unit);
	tcase_add_test(c, cursor_gets_the_file_that_its_vendor_documents);
	tcase_add_test(c, vscode_gets_the_file_that_its_vendor_documents_and_is_told_where_it_is);
	tcase_add_test(c, opencode_gets_a_plugin_that_starts_the_hook);
	tcase_add_test(c, the_hook_knows_each_event_and_no_hook_before_a_tool_is_short_of_time);
	tcase_add_test(c, hooks_of_others_stay_and_the_file_comes_back_to_the_byte);
	tcase_add_test(c, an_older_gate_is_replaced_also_where_somebody_put_a_hook_into_its_group);
	tcase_add_test(c, a_file_with_comments_is_left_and_its_hooks_are_printed);
	tcase_add_test(c, a_list_that_is_none_is_refused_and_nothing_is_written);
	tcase_add_test(c, an_install_without_gate_leaves_a_gate_alone);
	tcase_add_test(c, uninstall_of_one_entry_leaves_the_gate_of_this_user);
	tcase_add_test(c, what_was_installed_goes_in_any_order);
	tcase_add_test(c, an_empty_list_of_the_user_comes_back);
	tcase_add_test(c, hooks_are_told_of_the_configuration_and_what_to_answer_when_we_are_away);
	tcase_add_test(c, options_that_do_not_go_together_are_refused);
	tcase_add_test(c, the_managed_gate_switches_bypasses_off_where_the_vendor_can);
	tcase_add_test(c, the_managed_gate_of_codex_is_a_file_of_our_own);
	tcase_add_test(c, whatever_the_umask_all_users_get_to_the_managed_gate);
	tcase_add_test(c, a_folder_of_others_that_users_cannot_enter_stays_and_is_named);
	tcase_add_test(c, hosts_without_a_path_for_all_users_say_so);
	suite_add_tcase(s, c);
	return run_suite(s);
}
