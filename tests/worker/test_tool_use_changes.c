/* An approval of a tool of an agent's own program is for what was shown: for these files, as they
 * were, where they were. */
#include "tool_use_case.h"

#include "hung.h"

static char outside[700]; /* a folder that is in no workspace */

static void given_outside(void)
{
	given_hooks();
	(void)snprintf(outside, sizeof(outside), "%s/../outside", workspace);
	ck_assert_int_eq(mkdir(outside, 0755), 0);
	put_file(outside, "a.txt", "one\n");
	put_file(outside, "b.txt", "one\n");
}

/* Makes a link in the workspace lead there, in one step. */
static void lead(const char *name, const char *target)
{
	char link[700], other[700];

	(void)snprintf(link, sizeof(link), "%s/%s", workspace, name);
	(void)snprintf(other, sizeof(other), "%s/%s.new", workspace, name);
	ck_assert_int_eq(symlink(target, other), 0);
	ck_assert_int_eq(rename(other, link), 0);
}

/* Two folders, and a link that leads to the first. */
static void given_folders(void)
{
	given_hooks();
	(void)mkdir(below(workspace, "one"), 0755);
	(void)mkdir(below(workspace, "two"), 0755);
	lead("here", "one");
}

static const char *replacing_all(const char *path)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments,
	         "{\"file_path\":\"%s/%s\",\"old_string\":\"two\",\"new_string\":\"TWO\","
	         "\"replace_all\":true}",
	         workspace, path);
	return tool_of("s1", workspace, "Edit", arguments.bytes);
}

static const char *running_in(const char *folder, const char *command)
{
	OWNED(str) struct str arguments = { 0 }, where = { 0 };

	str_addf(&where, "%s/%s", workspace, folder);
	str_addf(&arguments, "{\"command\":\"%s\"}", command);
	return tool_of("s1", where.bytes, "Bash", arguments.bytes);
}

static void is_refused_as_changed(struct gate_client *h)
{
	OWNED(char_ptr) char *answer = NULL;

	approve_all();
	answer = gate_end(h);
	decides(answer, "deny", "has changed since it was shown; call it again");
	expect("SELECT decision, reason LIKE '%changed since it was shown%' FROM gate_call"
	       " ORDER BY seq DESC LIMIT 1",
	       "deny|1\n");
	expect("SELECT count(*) FROM gate_call WHERE decision = 'allow'", "0\n");
	expect("SELECT e.kind, e.request_seq = g.request_seq FROM gate_call AS g"
	       " JOIN event AS e ON e.call_seq = g.call_seq"
	       " WHERE g.withheld_at IS NOT NULL ORDER BY g.seq DESC LIMIT 1",
	       "gate.withheld|1\n");
}

/* It is asked about, although there is an approval of something that looks the same. */
static void is_asked_anew(const char *input, const char *questions)
{
	struct gate_client h = gate_begin("PreToolUse", input);

	asked(1);
	expect("SELECT count(*) FROM request", questions);
	gate_close(&h);
}

static void is_allowed(const char *input)
{
	OWNED(char_ptr) char *answer = gate_ask("PreToolUse", input);

	decides(answer, "allow", NULL);
}

START_TEST(a_file_that_has_become_a_link_is_not_written_on_the_approval_of_the_file)
{
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	put_file(workspace, "b.txt", "one\n");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	lead("a.txt", "b.txt");
	is_refused_as_changed(&h);
	is_asked_anew(writing("a.txt", "two\\n"), "2\n");
}
END_TEST

START_TEST(an_approval_that_was_not_used_is_there_when_all_is_as_it_was_shown_again)
{
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	put_file(workspace, "a.txt", "somebody else was here\n");
	is_refused_as_changed(&h);
	put_file(workspace, "a.txt", "one\n");
	is_allowed(writing("a.txt", "two\\n"));
	expect("SELECT count(*) FROM request", "1\n");
	is_asked_anew(writing("a.txt", "two\\n"), "2\n");
}
END_TEST

static void shows(const char *command, const char *part, bool is_there)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = rows("SELECT id FROM request");

	id[strlen(id) - 1] = '\0';
	ck_assert_int_eq(ctl(&said, "%s %s", command, id), 0);
	ck_assert_msg(!strstr(str_text(&said), part) == !is_there, "%s", str_text(&said));
}

/* What is kept of a call has its arguments in the order of their names. */
START_TEST(a_call_with_several_names_of_files_is_made_in_whatever_order_they_came)
{
	static const char *const USES[][2] = {
		{ "Write", "{\"path\":\"/etc/hostname\",\"content\":\"q\",\"file_text\":\"y\"}" },
		{ "Edit", "{\"file_path\":\"a.txt\",\"old_string\":\"one\",\"new_string\":\"1\","
		          "\"path\":\"b.txt\",\"file_text\":\"x\"}" },
		{ "Read", "{\"z\":\"b.txt\",\"file_path\":\"secret.txt\",\"b\":\"a.txt\"}" },
	};

	given_hooks_with("policy.always_ask", "[\"secret.txt\"]");
	put_file(workspace, "a.txt", "one\n");
	put_file(workspace, "b.txt", "one\n");
	put_file(workspace, "secret.txt", "one\n");
	for (size_t i = 0; i < COUNT(USES); i++) {
		struct gate_client h =
		    gate_begin("PreToolUse", tool_of("s1", workspace, USES[i][0], USES[i][1]));
		OWNED(char_ptr) char *answer = NULL;

		asked(1);
		approve_all();
		answer = gate_end(&h);
		decides(answer, "allow", NULL);
	}
}
END_TEST

START_TEST(who_approved_what_has_changed_is_told_that_it_is_not_done)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	put_file(workspace, "a.txt", "somebody else was here\n");
	shows("--text approve", "not done: what it is about has changed since", true);
	answer = gate_end(&h);
	decides(answer, "deny", "has changed since it was shown");
	ck_assert(!strstr(answer, "withheld"));
	shows("--text show", "not done  what it is about has changed since", true);
	shows("--json show", "\"withheld\":\"what it is about has changed", true);
	put_file(workspace, "a.txt", "one\n");
	is_allowed(writing("a.txt", "two\\n"));
	shows("--text show", "not done", false);
}
END_TEST

START_TEST(an_edit_that_would_replace_more_than_was_shown_is_not_made)
{
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\ntwo\n");
	h = gate_begin("PreToolUse", replacing_all("a.txt"));
	asked(1);
	put_file(workspace, "a.txt", "one\ntwo\ntwo\n");
	is_refused_as_changed(&h);
}
END_TEST

START_TEST(a_file_that_was_made_meanwhile_is_not_overwritten)
{
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	put_file(workspace, "a.txt", "made meanwhile\n");
	is_refused_as_changed(&h);
}
END_TEST

START_TEST(a_command_does_not_run_in_a_folder_that_leads_elsewhere_by_now)
{
	struct gate_client h;

	given_folders();
	h = gate_begin("PreToolUse", running_in("here", "make install"));
	asked(1);
	lead("here", "two");
	is_refused_as_changed(&h);
	is_asked_anew(running_in("here", "make install"), "2\n");
}
END_TEST

START_TEST(a_parked_command_does_not_run_in_a_folder_that_leads_elsewhere_by_now)
{
	struct gate_client h;

	given_folders();
	h = gate_begin("PreToolUse", running_in("here", "make install"));
	approve_parked(&h);
	lead("here", "two");
	is_asked_anew(running_in("here", "make install"), "2\n");
	lead("here", "one");
	is_allowed(running_in("here", "make install"));
}
END_TEST

START_TEST(an_approval_for_one_file_outside_is_not_for_another)
{
	struct gate_client h;

	given_outside();
	lead("link.txt", "../outside/a.txt");
	h = gate_begin("PreToolUse", writing("link.txt", "two\\n"));
	approve_parked(&h);
	lead("link.txt", "../outside/b.txt");
	is_asked_anew(writing("link.txt", "two\\n"), "2\n");
	lead("link.txt", "../outside/a.txt");
	is_allowed(writing("link.txt", "two\\n"));
}
END_TEST

START_TEST(a_link_that_leads_to_another_file_outside_meanwhile_is_not_written_through)
{
	struct gate_client h;

	given_outside();
	lead("link.txt", "../outside/a.txt");
	h = gate_begin("PreToolUse", writing("link.txt", "two\\n"));
	asked(1);
	lead("link.txt", "../outside/b.txt");
	is_refused_as_changed(&h);
}
END_TEST

START_TEST(a_file_outside_that_changed_meanwhile_is_not_written)
{
	struct gate_client h;

	given_outside();
	lead("link.txt", "../outside/a.txt");
	h = gate_begin("PreToolUse", writing("link.txt", "two\\n"));
	asked(1);
	put_file(outside, "a.txt", "somebody else was here\n");
	is_refused_as_changed(&h);
}
END_TEST

START_TEST(an_edit_that_is_not_computed_is_bound_to_its_file_as_it_was)
{
	OWNED(str) struct str arguments = { 0 };
	const char *input;
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.ipynb", "{}");
	str_addf(&arguments, "{\"notebook_path\":\"%s/a.ipynb\",\"new_source\":\"x\"}", workspace);
	input = tool_of("s1", workspace, "NotebookEdit", arguments.bytes);
	h = gate_begin("PreToolUse", input);
	asked(1);
	put_file(workspace, "a.ipynb", "{\"cells\":[]}");
	is_refused_as_changed(&h);
}
END_TEST

START_TEST(what_has_become_protected_is_not_written)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	(void)mkdir(below(workspace, ".git"), 0755);
	put_file(workspace, ".git/config", "one\n");
	put_file(workspace, "a.txt", "one\n");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	lead("a.txt", ".git/config");
	approve_all();
	answer = gate_end(&h);
	decides(answer, "deny", "protected");
	expect("SELECT count(*) FROM gate_call WHERE decision = 'allow'", "0\n");
}
END_TEST

START_TEST(what_is_as_it_was_shown_is_allowed)
{
	given_outside();
	lead("link.txt", "../outside/a.txt");
	is_approved(writing("link.txt", "two\\n"));
	expect("SELECT description LIKE 'outside of the workspace: %/outside/a.txt', risk_level"
	       " FROM request",
	       "1|critical\n");
}
END_TEST

/* The host asks for permission in its own dialog after its hook was allowed. */
START_TEST(a_permission_is_granted_only_for_the_file_that_was_allowed_before_the_tool)
{
	OWNED(char_ptr) char *granted = NULL;
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	put_file(workspace, "b.txt", "one\n");
	is_approved(writing("a.txt", "two\\n"));
	granted = gate_ask("PermissionRequest", writing("a.txt", "two\\n"));
	decides(granted, "allow", NULL);
	lead("a.txt", "b.txt");
	h = gate_begin("PermissionRequest", writing("a.txt", "two\\n"));
	asked(1);
	expect("SELECT count(*) FROM request", "2\n");
	gate_close(&h);
}
END_TEST

/* A host that takes no other input is told what to call; the folder is that of the question. */
START_TEST(a_command_that_was_told_is_for_the_folder_that_was_shown)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(str) struct str where = { 0 };
	struct gate_client h;

	given_folders();
	str_addf(&where, "%s/here", workspace);
	h = begin_of(
	    "qwen", "PreToolUse",
	    tool_of("s1", where.bytes, "run_shell_command", "{\"command\":\"make install\"}"));
	asked(1);
	given("INSERT INTO decision (request_id, verdict, edited) SELECT id, 'approve', 'make test'"
	      " FROM request WHERE state = 'pending'");
	answer = gate_end(&h);
	decides(answer, "deny", "Call run_shell_command now");
	lead("here", "two");
	h = begin_of(
	    "qwen", "PreToolUse",
	    tool_of("s1", where.bytes, "run_shell_command", "{\"command\":\"make test\"}"));
	asked(1);
	gate_close(&h);
}
END_TEST

START_TEST(a_look_that_hangs_keeps_nobody_else_waiting)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h, other;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	other = gate_begin("PreToolUse", tool_of("s2", workspace, "WebFetch", "{\"url\":\"u\"}"));
	asked(2);
	ck_assert_int_eq(kill(hand_of(front), SIGSTOP), 0);
	approve_all();
	/* Nothing is to be looked at for this one. */
	answer = gate_end(&other);
	decides(answer, "allow", NULL);
	expect("SELECT decision FROM gate_call ORDER BY seq", "open\nallow\n");
	/* The process that does not answer is replaced. */
	{
		OWNED(char_ptr) char *late = gate_end(&h);

		decides(late, "allow", NULL);
	}
}
END_TEST

/* Makes a file of the workspace another name of one that is there. */
static void join(const char *name, const char *file)
{
	char from[700], to[700];

	(void)snprintf(from, sizeof(from), "%s/%s", workspace, file);
	(void)snprintf(to, sizeof(to), "%s/%s", workspace, name);
	(void)unlink(to);
	ck_assert_int_eq(link(from, to), 0);
}

START_TEST(a_file_with_several_names_is_asked_whatever_the_policy_says)
{
	struct gate_client h;

	given_hooks();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\","
	             "\"file_patterns\":{\"write\":[\"*.txt\"]}}");
	put_file(workspace, "a.txt", "one\n");
	is_allowed(writing("a.txt", "two\\n"));
	join("b.txt", "a.txt");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	expect(
	    "SELECT description LIKE '%/a.txt has 2 names (hard links)%', risk_level FROM request",
	    "1|high\n");
	gate_close(&h);
}
END_TEST

START_TEST(a_file_that_has_become_another_name_of_one_is_not_written)
{
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	put_file(workspace, "b.txt", "one\n");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	join("a.txt", "b.txt");
	is_refused_as_changed(&h);
}
END_TEST

START_TEST(a_file_that_has_become_a_name_of_another_one_is_not_written)
{
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	put_file(workspace, "b.txt", "one\n");
	join("name.txt", "a.txt");
	h = gate_begin("PreToolUse", writing("name.txt", "two\\n"));
	asked(1);
	join("name.txt", "b.txt");
	is_refused_as_changed(&h);
}
END_TEST

/* Codex takes a patch out of a command, and passes it on without the rest of the call. */
START_TEST(a_patch_in_a_command_is_bound_to_what_else_is_in_the_call)
{
	static const char PATCH[] =
	    "{\"command\":\"apply_patch <<'EOF'\\n*** Begin Patch\\n*** Add File: n\\n+x\\n"
	    "*** End Patch\\nEOF\\n\"%s}";
	static const char *const OTHERS[] = { "", ",\"workdir\":\"one\"", ",\"env\":{\"A\":\"1\"}",
		                              ",\"env\":{\"A\":\"2\"}" };
	struct gate_client all[COUNT(OTHERS)];

	given_folders();
	for (size_t i = 0; i < COUNT(OTHERS); i++) {
		char arguments[300];

		(void)snprintf(arguments, sizeof(arguments), PATCH, OTHERS[i]);
		all[i] =
		    begin_of("codex", "PreToolUse", tool_of("s1", workspace, "Bash", arguments));
		asked((int)i + 1);
	}
	expect("SELECT description LIKE '%with its argument env {\"A\":\"_\"}%',"
	       " description LIKE '%/one%', file_path, risk_level FROM request ORDER BY seq",
	       "0|0|n|low\n0|0|one/n|low\n1|0|n|high\n1|0|n|high\n");
	for (size_t i = 0; i < COUNT(OTHERS); i++)
		gate_close(&all[i]);
}
END_TEST

/* A patch of one section, in a command or for the tool that applies it, with another argument. */
static const char *patching(bool in_command, const char *section, const char *argument)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments, "{\"command\":\"%s*** Begin Patch\\n%s\\n*** End Patch%s\",%s}",
	         in_command ? "apply_patch <<'EOF'\\n" : "", section, in_command ? "\\nEOF" : "",
	         argument);
	return tool_of("s1", workspace, in_command ? "Bash" : "apply_patch", arguments.bytes);
}

START_TEST(a_patch_is_shown_and_bound_in_the_folder_that_its_call_names)
{
	static const char UPDATE[] = "*** Update File: f.txt\\n@@\\n-one\\n+two";
	OWNED(str) struct str absolute = { 0 };
	const char *const folders[] = { "\"workdir\":\"one\"", "\"workdir\":\"./one/\"",
		                        "\"workdir\":\"here\"", NULL };
	int count = 0;

	given_folders();
	str_addf(&absolute, "\"workdir\":\"%s/one\"", workspace);
	put_file(workspace, "f.txt", "zero\none\n");
	for (size_t i = 0; i < 2 * COUNT(folders); i++) {
		const char *folder = folders[i / 2] ? folders[i / 2] : absolute.bytes;
		struct gate_client h;
		char all[20];

		put_file(workspace, "one/f.txt", "one\n");
		h = begin_of("codex", "PreToolUse", patching(i % 2, UPDATE, folder));
		asked(1);
		(void)snprintf(all, sizeof(all), "%d\n", ++count);
		expect("SELECT count(*) FROM request WHERE risk_level = 'low'"
		       " AND file_path IN ('one/f.txt', 'here/f.txt')"
		       " AND body LIKE '%-one%+two%' AND body NOT LIKE '%zero%'",
		       all);
		put_file(workspace, "one/f.txt", "one\nother\n");
		is_refused_as_changed(&h);
	}
}
END_TEST

START_TEST(a_patch_is_denied_where_the_folder_that_its_call_names_is_protected)
{
	static const struct {
		bool in_command;
		const char *section, *argument;
	} CASES[] = {
		{ true, "*** Add File: .git/x\\n+x", "\"workdir\":\".\"" },
		{ false, "*** Add File: .git/x\\n+x", "\"workdir\":\".\"" },
		{ true, "*** Add File: x\\n+x", "\"workdir\":\".git\"" },
		{ false, "*** Add File: x\\n+x", "\"workdir\":\".git\"" },
		{ true, "*** Add File: .git/x\\n+x", "\"workdir\":[\".\"]" },
	};

	given_folders();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr)
		char *answer =
		    ask_of("codex", "PreToolUse",
		           patching(CASES[i].in_command, CASES[i].section, CASES[i].argument));

		decides(answer, "deny", "path violation");
	}
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

START_TEST(a_patch_is_not_computed_where_its_folder_is_not_certain)
{
	static const struct {
		const char *argument, *risk, *why;
	} CASES[] = {
		{ "\"workdir\":[\"one\"]", "high", "not given as a text" },
		{ "\"workdir\":false", "high", "not given as a text" },
		{ "\"workdir\":\"here/..\"", "high", "is named with \"..\"" },
		{ "\"workdir\":\"one\",\"cwd\":\"two\"", "high", "is not the host''s" },
		{ "\"directory\":\"one\"", "high", "is not the host''s" },
		{ "\"workdir\":\"..\"", "critical", "outside of the workspace" },
		{ "\"workdir\":\"/tmp\"", "critical", "outside of the workspace" },
	};

	given_folders();
	for (size_t i = 0; i < 2 * COUNT(CASES); i++) {
		struct gate_client h =
		    begin_of("codex", "PreToolUse",
		             patching(i % 2, "*** Add File: n\\n+x", CASES[i / 2].argument));
		OWNED(str) struct str query = { 0 };

		asked(1);
		str_addf(&query,
		         "SELECT risk_level = '%s', description LIKE '%%%s%%', file_path"
		         " FROM request ORDER BY seq DESC LIMIT 1",
		         CASES[i / 2].risk, CASES[i / 2].why);
		expect(query.bytes, "1|1|\n");
		decide_all("reject");
		free(gate_end(&h));
	}
}
END_TEST

/* To the kernel that is a file beside what the link leads to. */
START_TEST(a_path_up_from_a_link_is_not_taken_for_what_its_text_says)
{
	static const char *const SECTIONS[] = {
		"*** Update File: deep/../f.txt\\n@@\\n-one\\n+two",
		"*** Add File: deep/../f.new\\n+x",
		"*** Delete File: deep/../f.txt",
		"*** Update File: f.txt\\n*** Move to: deep/../f.old\\n@@\\n-one\\n+two",
	};

	given_folders();
	(void)mkdir(below(workspace, "one/two"), 0755);
	lead("deep", "one/two");
	put_file(workspace, "f.txt", "one\n");
	put_file(workspace, "one/f.txt", "one\n");
	for (size_t i = 0; i < 2 * COUNT(SECTIONS); i++) {
		struct gate_client h = begin_of(
		    "codex", "PreToolUse", patching(i % 2, SECTIONS[i / 2], "\"workdir\":\"\""));

		asked(1);
		expect("SELECT risk_level, file_path, description LIKE"
		       " 'leads elsewhere than its path says, behind a link: /%/one/f.___'"
		       " FROM request ORDER BY seq DESC LIMIT 1",
		       "high||1\n");
		decide_all("reject");
		free(gate_end(&h));
	}
}
END_TEST

START_TEST(a_path_up_from_a_folder_that_is_not_there_is_behind_no_link)
{
	struct gate_client h;

	given_folders();
	h = begin_of("codex", "PreToolUse",
	             patching(0, "*** Add File: gone/../f.new\\n+x", "\"workdir\":\"\""));
	asked(1);
	expect("SELECT risk_level, description LIKE"
	       " 'goes up from a folder that is not there: /%/gone/../f.new' FROM request",
	       "high|1\n");
	decide_all("reject");
	free(gate_end(&h));
}
END_TEST

START_TEST(a_command_that_is_more_than_its_patch_is_of_high_risk)
{
	static const char *const MORE[] = { "\\nrm -rf x", "; rm -rf x", " && rm -rf x" };
	static const char PATCH[] = "{\"command\":\"apply_patch <<'EOF'%s\\n*** Begin Patch\\n"
	                            "*** Add File: n\\n+x\\n*** End Patch\\nEOF%s\"}";

	given_hooks();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\","
	             "\"commands\":[\"*\"]}");
	for (size_t i = 0; i < COUNT(MORE); i++) {
		char arguments[300];
		struct gate_client h;

		(void)snprintf(arguments, sizeof(arguments), PATCH, i ? MORE[i] : "",
		               i ? "" : MORE[i]);
		h = begin_of("codex", "PreToolUse", tool_of("s1", workspace, "Bash", arguments));
		asked(1);
		expect("SELECT risk_level, description, file_path FROM request"
		       " ORDER BY seq DESC LIMIT 1",
		       "high|what the patch in it makes of files is not computed|\n");
		decide_all("reject");
		free(gate_end(&h));
	}
}
END_TEST

START_TEST(what_an_agent_says_of_a_patch_may_differ)
{
	static const char PATCH[] = "{\"input\":\"*** Begin Patch\\n*** Add File: n\\n+x\\n"
	                            "*** End Patch\",\"explanation\":\"%s\"}";
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;
	char arguments[200];

	given_hooks();
	(void)snprintf(arguments, sizeof(arguments), PATCH, "Add n");
	h = begin_of("vscode", "PreToolUse", tool_of("s1", workspace, "apply_patch", arguments));
	approve_parked(&h);
	(void)snprintf(arguments, sizeof(arguments), PATCH, "Adds n");
	answer = ask_of("vscode", "PreToolUse", tool_of("s1", workspace, "apply_patch", arguments));
	decides(answer, "allow", NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_changes");
	TCase *c = store_case(s, "tool_use_changes", 60);

	tcase_add_test(c, a_file_that_has_become_a_link_is_not_written_on_the_approval_of_the_file);
	tcase_add_test(c, an_approval_that_was_not_used_is_there_when_all_is_as_it_was_shown_again);
	tcase_add_test(c, a_call_with_several_names_of_files_is_made_in_whatever_order_they_came);
	tcase_add_test(c, who_approved_what_has_changed_is_told_that_it_is_not_done);
	tcase_add_test(c, an_edit_that_would_replace_more_than_was_shown_is_not_made);
	tcase_add_test(c, a_file_that_was_made_meanwhile_is_not_overwritten);
	tcase_add_test(c, a_command_does_not_run_in_a_folder_that_leads_elsewhere_by_now);
	tcase_add_test(c, a_parked_command_does_not_run_in_a_folder_that_leads_elsewhere_by_now);
	tcase_add_test(c, an_approval_for_one_file_outside_is_not_for_another);
	tcase_add_test(c,
	               a_link_that_leads_to_another_file_outside_meanwhile_is_not_written_through);
	tcase_add_test(c, a_file_outside_that_changed_meanwhile_is_not_written);
	tcase_add_test(c, an_edit_that_is_not_computed_is_bound_to_its_file_as_it_was);
	tcase_add_test(c, what_has_become_protected_is_not_written);
	tcase_add_test(c, what_is_as_it_was_shown_is_allowed);
	tcase_add_test(c,
	               a_permission_is_granted_only_for_the_file_that_was_allowed_before_the_tool);
	tcase_add_test(c, a_command_that_was_told_is_for_the_folder_that_was_shown);
	tcase_add_test(c, a_file_with_several_names_is_asked_whatever_the_policy_says);
	tcase_add_test(c, a_file_that_has_become_another_name_of_one_is_not_written);
	tcase_add_test(c, a_file_that_has_become_a_name_of_another_one_is_not_written);
	tcase_add_test(c, a_patch_in_a_command_is_bound_to_what_else_is_in_the_call);
	tcase_add_test(c, a_patch_is_shown_and_bound_in_the_folder_that_its_call_names);
	tcase_add_test(c, a_patch_is_denied_where_the_folder_that_its_call_names_is_protected);
	tcase_add_test(c, a_patch_is_not_computed_where_its_folder_is_not_certain);
	tcase_add_test(c, a_path_up_from_a_link_is_not_taken_for_what_its_text_says);
	tcase_add_test(c, a_path_up_from_a_folder_that_is_not_there_is_behind_no_link);
	tcase_add_test(c, a_command_that_is_more_than_its_patch_is_of_high_risk);
	tcase_add_test(c, what_an_agent_says_of_a_patch_may_differ);
	tcase_add_test(c, a_look_that_hangs_keeps_nobody_else_waiting);
	return run_suite(s);
}
