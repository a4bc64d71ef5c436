/* agent-intercom install and uninstall: the real program, with $HOME in a scratch directory, and
 * the files that it leaves. */
#include "install_case.h"

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

/* ---- refusals ---- */

START_TEST(a_malformed_file_is_named_with_its_line_and_left)
{
	static const char JSON[] = "{\n  \"a\": 1\n  \"b\": 2\n}\n", TOML[] = "a = 1\nb = = 2\n";
	static const char ARRAY[] = "[]\n", TWICE[] = "{\"mcpServers\": {},\n\"mcpServers\": {}}";
	static const char ELSEWHERE[] = "{\"other\": {\"a\": 1, \"a\": 2}}";
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
	fails(78, ".gemini/settings.json:2: \"mcpServers\" appears twice", ".gemini/settings.json",
	      TWICE);
	given(".gemini/settings.json", ELSEWHERE);
	run("install gemini --yes");
	fails(78, ".gemini/settings.json: \"a\" appears twice; remove one", ".gemini/settings.json",
	      ELSEWHERE);
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
	fails(78, "remove it by hand first", ".codex/config.toml", INLINE);
	run("uninstall codex --yes");
	fails(78, "remove it by hand first", ".codex/config.toml", INLINE);
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

START_TEST(what_goes_with_an_entry_is_written_once_that_is_there)
{
	OWNED(str) struct str by_hand = { 0 };
	const char *settings;

	given(".claude.json", "{ // mine\n}\n");
	run("install claude --yes");
	ck_assert_int_eq(status, 1);
	says("Then run this again, for what goes with it into ");
	is_missing(".claude/settings.json");
	does("uninstall claude --yes");
	is_missing(".claude/settings.json");

	does("install claude --print");
	settings = strstr(str_text(&out), "}\n{");
	ck_assert_ptr_nonnull(settings);
	str_addf(&by_hand, "// mine\n%.*s", (int)(settings + 2 - str_text(&out)), str_text(&out));
	given(".claude.json", str_text(&by_hand));
	does("install claude --yes");
	ck_assert(shell("grep -q mcp__intercom '%s'", in(".claude/settings.json")));
	run("uninstall claude --yes");
	ck_assert_int_eq(status, 1);
	is_missing(".claude/settings.json");
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
	does("help install");
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
	says("/.gemini/settings.json leads to /");
	says("/dotfiles/gemini.json\n");
	ck_assert_uint_eq(mode_of(".gemini/settings.json") & S_IFMT, S_IFLNK);
	ck_assert(shell("grep -q mcpServers '%s'", in("dotfiles/gemini.json")));
	holds("dotfiles/gemini.json.before-intercom", "{\n  \"a\": 1\n}\n");
	does("uninstall gemini --yes");
	ck_assert_uint_eq(mode_of(".gemini/settings.json") & S_IFMT, S_IFLNK);
	holds("dotfiles/gemini.json", "{\n  \"a\": 1\n}\n");
	is_missing("dotfiles/gemini.json.before-intercom");
}
END_TEST

START_TEST(an_empty_folder_that_its_user_closed_stays)
{
	ck_assert(shell("mkdir -m 700 '%s'", in(".claude")));
	does("install claude --yes");
	does("uninstall claude --yes");
	ck_assert_uint_eq(mode_of(".claude"), S_IFDIR | 0700);
	ck_assert(shell("rmdir '%s'", in(".claude")));
	does("install claude --yes");
	(void)umask(077);
	does("uninstall claude --yes");
	is_missing(".claude");
	does("install claude --yes");
	ck_assert_uint_eq(mode_of(".claude"), S_IFDIR | 0700);
	does("uninstall claude --yes");
	is_missing(".claude");
}
END_TEST

START_TEST(a_folder_that_is_a_link_is_shown)
{
	ck_assert(shell("mkdir -p '%s' '%s'", in("mine"), in("ws/.claude")));
	ck_assert_int_eq(symlink("../mine", in("ws/.vscode")), 0);
	does("install vscode --yes");
	says("/ws/.vscode leads to /");
	says("/mine\n");
	does("install claude --project --yes");
	ck_assert_ptr_null(strstr(str_text(&out), "leads to"));
}
END_TEST

START_TEST(one_file_that_cannot_be_made_leaves_all_as_they_are)
{
	ck_assert_int_eq(symlink("nowhere", in(".claude")), 0);
	run("install claude --yes");
	ck_assert_int_eq(status, 78);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "cannot be made in "));
	is_missing(".claude.json");
}
END_TEST

START_TEST(root_makes_no_files_in_the_home_of_another_user)
{
	SKIP_UNLESS(geteuid() == 0, "root");
	ck_assert_int_eq(chown(folder, NOBODY_ID, NOBODY_ID), 0);
	run("install claude --yes");
	ck_assert_int_eq(status, 78);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "is in the home of uid 65534"));
	is_missing(".claude.json");
	is_missing(".claude");
}
END_TEST

START_TEST(whatever_the_umask_others_may_not_write)
{
	(void)umask(0);
	does("install vscode --gate --yes");
	does("install claude --gate --yes");
	does("install codex --gate --yes");
	ck_assert(shell("test -z \"$(find '%s' -mindepth 1 ! -type l -perm /022"
	                " ! -name out ! -name err ! -name status)\"",
	                folder));
}
END_TEST

START_TEST(in_the_home_no_lines_for_the_agent_are_offered)
{
	ck_assert(shell("rmdir '%s' && ln -s . '%s'", in("ws"), in("ws")));
	does("install claude --yes");
	says("in a project's folder, add --instructions CLAUDE.md\n");
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
	OWNED(str) struct str content = { 0 };

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
	OWNED(str) struct str content = { 0 };

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

START_TEST(a_file_that_is_no_text_gets_no_lines)
{
	ck_assert(shell("printf '\\377\\376h\\0i\\0' >'%s'", in("ws/CLAUDE.md")));
	run("install claude --yes --instructions CLAUDE.md");
	ck_assert_int_eq(status, 78);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out),
	                             "/ws/CLAUDE.md: it holds a NUL byte, so it is no UTF-8 text; "
	                             "save it as UTF-8"));
	ck_assert(shell("test \"$(stat -c %%s '%s')\" = 6", in("ws/CLAUDE.md")));
	is_missing(".claude.json");
	does("install claude --yes");
	does("uninstall claude --yes");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("install_files");
	TCase *c = tcase_create("install");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_malformed_file_is_named_with_its_line_and_left);
	tcase_add_test(c, an_entry_in_another_toml_form_is_refused);
	tcase_add_test(c, another_server_of_that_name_is_left_alone);
	tcase_add_test(c, a_file_with_comments_is_for_the_user_to_change);
	tcase_add_test(c, what_goes_with_an_entry_is_written_once_that_is_there);
	tcase_add_test(c, opencode_jsonc_is_the_file_if_it_is_there);
	tcase_add_test(c, wrong_usage_says_what_is_right);
	tcase_add_test(c, modes_are_kept_and_new_files_are_private_or_common);
	tcase_add_test(c, a_link_stays_and_its_file_is_changed);
	tcase_add_test(c, an_empty_folder_that_its_user_closed_stays);
	tcase_add_test(c, a_folder_that_is_a_link_is_shown);
	tcase_add_test(c, one_file_that_cannot_be_made_leaves_all_as_they_are);
	tcase_add_test(c, root_makes_no_files_in_the_home_of_another_user);
	tcase_add_test(c, whatever_the_umask_others_may_not_write);
	tcase_add_test(c, in_the_home_no_lines_for_the_agent_are_offered);
	tcase_add_test(c, a_link_to_nothing_and_a_directory_are_refused);
	tcase_add_test(c, host_variables_move_the_files);
	tcase_add_test(c, without_a_terminal_the_change_is_only_shown);
	tcase_add_test(c, on_a_terminal_it_asks_and_offers_the_lines);
	tcase_add_test(c, the_lines_are_a_marked_block_that_goes_as_it_came);
	tcase_add_test(c, an_older_block_is_replaced_where_it_stands);
	tcase_add_test(c, a_file_that_is_no_text_gets_no_lines);
	suite_add_tcase(s, c);
	return run_suite(s);
}
