/* policy: what a workspace's settings.json allows. No process of ours. */
#include "always_ask.h"
#include "json.h"
#include "policy.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- given, then ---- */

static struct policy *policy;

static void given(const char *json)
{
	struct err e = { 0 };

	policy_free(policy);
	policy = NULL;
	ck_assert_msg(policy_parse(json, strlen(json), &policy, &e) == 0, "%s: %s", json, e.text);
}

static void refuses(const char *json, const char *part)
{
	struct policy *p = NULL;
	struct err e = { 0 };

	ck_assert_msg(policy_parse(json, strlen(json), &p, &e) != 0, "taken: %s", json);
	ck_assert_ptr_null(p);
	ck_assert_msg(strstr(e.text, part) != NULL, "%s\nis refused with: %s", json, e.text);
}

static void judge(const struct policy_question *q, const char *rule)
{
	struct policy_answer a = { 0 };

	policy_judge(policy, q, &a);
	ck_assert_msg(a.approved == (rule != NULL), "%.999s: %s", q->tool, str_text(&a.why));
	ck_assert_msg(strcmp(str_text(&a.rule), rule ? rule : "") == 0, "%.999s: by '%s', not '%s'",
	              q->tool, str_text(&a.rule), rule);
	ck_assert_uint_gt(a.why.length, 0);
	policy_answer_clear(&a);
}

static void allows(const char *tool, const char *rule)
{
	judge(&(struct policy_question){ .tool = tool,
	                                 .may_be_command = policy_may_be_command(tool, 0) },
	      rule);
}

static void asks(const char *tool)
{
	allows(tool, NULL);
}

static void allows_file(const char *path, bool reads, const char *rule)
{
	judge(
	    &(struct policy_question){
	        .tool = "check_diff", .paths = &path, .path_count = 1, .reads = reads },
	    rule);
}

static void file_rule(const char *glob, const char *path, bool is_allowed)
{
	char json[300], rule[200];

	(void)snprintf(json, sizeof(json),
	               "{\"enabled\":true,\"file_patterns\":{\"write\":[\"%s\"]}}", glob);
	(void)snprintf(rule, sizeof(rule), "file_pattern:write:%s", glob);
	given(json);
	allows_file(path, false, is_allowed ? rule : NULL);
}

/* ---- the file ---- */

START_TEST(three_shapes_of_the_file_say_the_same)
{
	static const char *const SHAPES[] = {
		"{\"enabled\":true,\"commands\":[\"git status\"],\"tools\":[\"ping\"],"
		"\"file_patterns\":{\"write\":[\"docs/**\"],\"read\":[\"**\"]},"
		"\"risk_level_threshold\":\"high\",\"log_auto_approved\":true,"
		"\"summary_interval_seconds\":7}",
		"{\"$schema\":\"x\",\"autoApprove\":{\"enabled\":true,\"commands\":[\"git "
		"status\"],"
		"\"tools\":[\"ping\"],\"filePatterns\":{\"write\":[\"docs/**\"],\"read\":[\"**\"]},"
		"\"riskLevelThreshold\":\"high\"},\"notifications\":{\"logAutoApproved\":true,"
		"\"summaryIntervalSeconds\":7}}",
		"{\"enabled\":true,\"chat.tools.terminal.autoApprove\":{\"git status\":true},"
		"\"tools\":[\"ping\"],\"file_patterns\":{\"write\":[\"docs/"
		"**\"],\"read\":[\"**\"]},"
		"\"risk_level_threshold\":\"high\",\"log_auto_approved\":true,"
		"\"summary_interval_seconds\":7}",
	};

	for (size_t i = 0; i < COUNT(SHAPES); i++) {
		OWNED(str) struct str unknown = { 0 };
		int64_t seconds = 0;

		given(SHAPES[i]);
		allows("git status", "command:git status");
		allows("ping", "tool:ping");
		allows_file("docs/a.md", false, "file_pattern:write:docs/**");
		allows_file("src/a.c", true, "file_pattern:read:**");
		allows_file("src/a.c", false, NULL);
		judge(&(struct policy_question){ .tool = "ping", .risk_level = "high" },
		      "tool:ping");
		ck_assert(policy_logs(policy, &seconds));
		ck_assert_int_eq(seconds, 7);
		policy_unknown(policy, &unknown);
		ck_assert_str_eq(str_text(&unknown), "");
	}
}
END_TEST

START_TEST(without_a_file_or_when_it_is_not_enabled_everything_is_asked)
{
	policy_free(policy);
	policy = NULL;
	asks("ping");
	given("{}");
	asks("ping");
	given("{\"tools\":[\"ping\"]}");
	asks("ping");
	given("{\"enabled\":false,\"tools\":[\"ping\"]}");
	asks("ping");
}
END_TEST

/* A line feed in a rule would write the rest of the question about it. */
START_TEST(a_rule_that_would_be_shown_other_than_it_is_is_an_error_of_the_file)
{
	static const char *const HIDDEN[] = {
		"\\n",     "\\t",     "\\r",     "\\u001b", "\x7F",    "\\u0085", "\\u009b",
		"\\u200b", "\\u202e", "\\u2028", "\\u2066", "\\ufeff", "\\u00ad",
	};
	static const char *const FILES[][2] = {
		{ "{\"enabled\":true,\"commands\":[\"ls\",\"git", "status\"]}" },
		{ "{\"enabled\":true,\"autoApprove\":{\"tools\":[\"pi", "ng\"]}}" },
		{ "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/", "**\"]}}" },
		{ "{\"enabled\":true,\"file_patterns\":{\"read\":[\"docs/", "**\"]}}" },
		{ "{\"chat.tools.terminal.autoApprove\":{\"/r", "m/\":false}}" },
		{ "{\"chat.tools.terminal.autoApprove\":{\"r", "m\":{\"approve\":true}}}" },
	};
	char json[200];

	for (size_t i = 0; i < COUNT(HIDDEN) * COUNT(FILES); i++) {
		const char *const *file = FILES[i % COUNT(FILES)];

		(void)snprintf(json, sizeof(json), "%s%s%s", file[0], HIDDEN[i / COUNT(FILES)],
		               file[1]);
		refuses(json, "nothing invisible");
	}
	refuses("{\"commands\":[\"git\\u001b[2K\"]}", "commands: 'git\\u{1B}[2K': a rule");
	(void)snprintf(json, sizeof(json), "{\"commands\":[\"ls%50s;id\"]}", "");
	refuses(json, "blanks in a row");
	given("{\"enabled\":true,\"commands\":[\"^git\\\\n?$\"],"
	      "\"file_patterns\":{\"write\":[\"docs/\u00fcber uns/\u2764\ufe0f.md\"]}}");
	allows("git", "command:^git\\n?$");
}
END_TEST

START_TEST(a_file_that_is_wrong_is_refused_with_the_place)
{
	refuses("", "empty");
	refuses(" \n\t ", "empty");
	refuses("{\n\"enabled\": tru\n}", "line 2");
	refuses("{} x", "JSON");
	refuses("{\"commands\":[\"ls\"],\"commands\":[\"rm *\"]}", "names 'commands' twice");
	refuses("{\"chat.tools.terminal.autoApprove\":{\"rm\":true,\"rm\":false}}", "'rm' twice");
	refuses("{\"commands\":[\"ls\\u0000 x\"]}", "NUL character");
	refuses("{\"commands\":[\"\xff\"]}", "UTF-8");
	refuses("[]", "one JSON object");
	refuses("{\"enabled\":1}", "enabled: must be true or false");
	refuses("{\"commands\":\"ls\"}", "commands: must be a list");
	refuses("{\"commands\":[\"ls\",2]}", "commands[1]: must be a text");
	refuses("{\"tools\":[\"\"]}", "tools[0]: must be a text");
	refuses("{\"file_patterns\":[\"**\"]}", "file_patterns: must be an object");
	refuses("{\"risk_level_threshold\":\"medium\"}", "must be low, high or critical");
	refuses("{\"summary_interval_seconds\":-1}", "number of seconds");
	refuses("{\"autoApprove\":true}", "autoApprove: must be an object");
	refuses("{\"commands\":[\"^git (\"]}", "no regular expression");
	refuses("{\"commands\":[\"/git/g\"]}", "the only flag");
	refuses("{\"chat.tools.terminal.autoApprove\":{\"ls\":\"yes\"}}", "'ls' must be");
}
END_TEST

START_TEST(a_file_is_as_long_as_it_is_said_to_be)
{
	struct policy *p = NULL;
	struct err e = { 0 };
	char *blank = malloc(1);

	*blank = '\n'; /* and no end behind it */
	ck_assert_int_eq(policy_parse(blank, 1, &p, &e), -1);
	free(blank);
}
END_TEST

START_TEST(a_member_that_says_nothing_to_us_is_named)
{
	OWNED(str) struct str unknown = { 0 };

	given("{\"enabled\":true,\"comands\":[],\"autoApprove\":{\"risklevel\":1}}");
	policy_unknown(policy, &unknown);
	ck_assert_str_eq(unknown.bytes, "comands\nautoApprove.risklevel\n");
}
END_TEST

/* ---- risk ---- */

START_TEST(risk_above_the_threshold_is_asked_and_critical_always)
{
	static const char *const LEVELS[] = { "low", "high", "critical" };
	char json[100];

	for (size_t threshold = 0; threshold < COUNT(LEVELS); threshold++) {
		(void)snprintf(json, sizeof(json),
		               "{\"enabled\":true,\"tools\":[\"ping\"],"
		               "\"risk_level_threshold\":\"%s\"}",
		               LEVELS[threshold]);
		given(json);
		for (size_t risk = 0; risk < COUNT(LEVELS); risk++)
			judge(
			    &(struct policy_question){ .tool = "ping", .risk_level = LEVELS[risk] },
			    risk <= threshold && risk < 2 ? "tool:ping" : NULL);
		judge(&(struct policy_question){ .tool = "ping", .risk_level = "none" }, NULL);
	}
}
END_TEST

/* ---- commands ---- */

START_TEST(a_glob_stands_for_the_whole_command_line)
{
	given("{\"enabled\":true,\"commands\":[\"cargo test *\",\"git log\",\"ls -?\",\"a.b\"]}");
	allows("cargo test", "command:cargo test *");
	allows("cargo test --all -- x=1", "command:cargo test *");
	allows("git log", "command:git log");
	allows("ls -l", "command:ls -?");
	allows("a.b", "command:a.b");
	asks("cargo testing");
	asks("cargo test\nrm x");
	asks("git log --all");
	asks("xgit log");
	asks("ls -la");
	asks("axb");
	asks("");
}
END_TEST

START_TEST(what_a_shell_treats_specially_never_rides_on_a_glob)
{
	static const char RIDERS[] = ";&|`$<>(){}\n\r\\\t\x15\x7f\x1b";
	char line[] = "cargo build ? rm";

	given("{\"enabled\":true,\"commands\":[\"cargo *\"]}");
	allows("cargo build", "command:cargo *");
	allows("cargo run x! y!", "command:cargo *");
	for (size_t i = 0; RIDERS[i]; asks(line), i++)
		line[strlen("cargo build ")] = RIDERS[i];
	asks("cargo build !! rm");
	given("{\"enabled\":true,\"commands\":[\"make > log.txt\",\"a; b *\"]}");
	allows("make > log.txt", "command:make > log.txt"); /* what is written out is meant */
	allows("a; b c", "command:a; b *");
	asks("a; b c; d");
}
END_TEST

START_TEST(an_expression_is_anchored_at_both_ends)
{
	given("{\"enabled\":true,\"commands\":[\"^git (status|diff)\",\"/npm run [a-z]+/i\"]}");
	allows("git status", "command:^git (status|diff)");
	asks("git status; rm -rf x");
	asks("git status\n");
	allows("NPM RUN Lint", "command:/npm run [a-z]+/i");
	given("{\"enabled\":true,\"commands\":[\"/usr/bin/make *\",\"/usr/bin/make\"]}");
	allows("/usr/bin/make", "command:/usr/bin/make *"); /* make are no flags */
	given("{\"enabled\":true,\"commands\":[\"/npm run [a-z]+/i\"]}");
	asks("xnpm run lint");
	asks("npm run lint now");
}
END_TEST

START_TEST(what_is_denied_beats_what_is_allowed_wherever_it_stands)
{
	given("{\"enabled\":true,\"commands\":[\"^.*$\"],\"chat.tools.terminal.autoApprove\":{"
	      "\"rm\":false,\"/curl .*-d/\":{\"approve\":false},\"ls\":true,\"gone\":null}}");
	allows("ls", "command:^.*$");
	asks("rm");
	asks("rm -rf x");
	asks("ls; rm x");
	asks("ls $(rm x)");
	asks("curl -X POST -d x");
	allows("rmdir x", "command:^.*$");
	allows("gone", "command:^.*$");
}
END_TEST

START_TEST(a_denial_is_met_however_a_shell_lets_the_command_be_spelt)
{
	static const char *const DENIED[] = {
		"/bin/rm x",      "\"rm\" x",          "'r'm x",       "r\\m x",
		"\"/bin/rm\" x",  "git  push",         "git\tpush",    "git 'push' --force",
		"ls;/usr/bin/rm", "A=1 rm x",          "{ rm x; }",    "env A=1 /bin/rm x",
		"ls|xargs rm",    "ls >x /usr/bin/rm", "$'rm' x",      "ls && \"git\" \"push\"",
		"ls $(/bin/rm)",  "ls `/bin/rm`",      "! dd if=x",    "A=1 /bin/dd if=x",
		"ls; dd if=x",    "curl x|\"sh\"",     "sudo ./rm -f",
	};

	given("{\"enabled\":true,\"commands\":[\"^.*$\"],\"chat.tools.terminal.autoApprove\":{"
	      "\"rm\":false,\"git push *\":false,\"/^dd\\\\b/\":false,"
	      "\"/curl .*\\\\| *sh/\":false}}");
	for (size_t i = 0; i < COUNT(DENIED); i++)
		asks(DENIED[i]);
	allows("ls firm", "command:^.*$");
	allows("git status push", "command:^.*$");
	allows("ls add", "command:^.*$");
}
END_TEST

START_TEST(a_line_of_too_many_commands_is_asked_where_something_is_denied)
{
	OWNED(str) struct str line = { 0 };

	for (int i = 0; i < 1000; i++)
		str_add(&line, "ls;");
	given("{\"enabled\":true,\"commands\":[\"^.*$\"]}");
	allows(line.bytes, "command:^.*$");
	given("{\"enabled\":true,\"commands\":[\"^.*$\"],"
	      "\"chat.tools.terminal.autoApprove\":{\"rm\":false}}");
	asks(line.bytes);
}
END_TEST

/* What this process has used of a processor, whoever else does. */
static int64_t used_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

START_TEST(a_hostile_expression_ends_and_allows_nothing)
{
	int64_t begin;
	char line[2000];

	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	given("{\"enabled\":true,\"commands\":[\"^(a+)+[bc]$\",\"^a*$\"]}");
	begin = used_ms();
	asks(line);
	ck_assert_int_lt(used_ms() - begin, 2000);
	given("{\"enabled\":true,\"commands\":[\"^a*$\"],"
	      "\"chat.tools.terminal.autoApprove\":{\"^(a+)+[bc]$\":false}}");
	asks(line);
}
END_TEST

/* Each with a line that it takes for ever on; alone and all together, to allow and to deny. */
START_TEST(no_hostile_expression_takes_long_or_allows_anything)
{
	static const char *const HOSTILE[] = {
		"^(a+)+$",
		"^(a|a)*$",
		"^(a|aa)+$",
		"^(.*a){20}$",
		"^(a*)*b",
		"^([a-z]+)*=",
		"^(?:a?){60}a{60}$",
		"^(\\\\w+\\\\s?)*$",
		"^(?=(a+))a*b\\\\1",
		"^(a(?:(?1)|b)*)+$",
		"^((a{1,50}){1,50}){1,50}$",
		"/(x+x+)+y/",
		"/(?:(?:a|b|ab)*)*c/i",
	};
	OWNED(str) struct str all = { 0 };
	char line[POLICY_MAX_LINE + 1], json[300];
	int64_t begin;

	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 2] = '!';
	line[sizeof(line) - 1] = '\0';
	begin = used_ms();
	str_add(&all, "{\"enabled\":true,\"commands\":[");
	for (size_t i = 0; i < COUNT(HOSTILE); i++) {
		(void)snprintf(json, sizeof(json), "{\"enabled\":true,\"commands\":[\"%s\"]}",
		               HOSTILE[i]);
		given(json);
		asks(line);
		(void)snprintf(json, sizeof(json),
		               "{\"enabled\":true,\"chat.tools.terminal.autoApprove\":{"
		               "\"%s\":false}}",
		               HOSTILE[i]);
		given(json);
		asks(line);
		str_addf(&all, "%s\"%s\"", i ? "," : "", HOSTILE[i]);
	}
	str_add(&all, "]}");
	given(all.bytes);
	asks(line);
	ck_assert_int_lt(used_ms() - begin, 5000);
}
END_TEST

/* As many rules as there may be, each just below what is too hard, on the longest line. */
START_TEST(the_most_and_slowest_rules_end_soon)
{
	OWNED(str) struct str all = { 0 };
	char line[POLICY_MAX_LINE + 1];
	int64_t begin;

	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	str_add(&all, "{\"enabled\":true,\"commands\":[");
	for (int i = 0; i < POLICY_MAX_RULES; i++)
		str_addf(&all, "%s\"^.{0,15000}b%d\"", i ? "," : "", i);
	str_add(&all, "]}");
	given(all.bytes);
	begin = used_ms();
	asks(line);
	ck_assert_int_lt(used_ms() - begin, 5000);
}
END_TEST

START_TEST(a_line_that_is_too_long_to_be_judged_is_asked_about)
{
	char line[POLICY_MAX_LINE + 2];

	memset(line, 'a', sizeof(line) - 1);
	memcpy(line, "make ", 5);
	line[sizeof(line) - 1] = '\0';
	given("{\"enabled\":true,\"commands\":[\"make *\"]}");
	asks(line);
	line[POLICY_MAX_LINE] = '\0';
	allows(line, "command:make *");
}
END_TEST

START_TEST(an_expression_that_would_be_huge_is_refused_or_small)
{
	static const char *const HUGE_ONES[] = {
		"^(((a{1000}){1000}){1000}){1000}",
		"^(?:(?:(?:x{0,65535}){0,65535}){0,65535})",
		"^a{65536}",
		"^((((((((((((((((((((((((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){"
		"9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9})",
	};
	int64_t begin;

	begin = used_ms();
	for (size_t i = 0; i < COUNT(HUGE_ONES); i++) {
		struct policy *p = NULL;
		struct err e = { 0 };
		char json[400];

		(void)snprintf(json, sizeof(json), "{\"enabled\":true,\"commands\":[\"%s\"]}",
		               HUGE_ONES[i]);
		if (policy_parse(json, strlen(json), &p, &e) != 0)
			ck_assert_msg(strstr(e.text, "no regular expression") != NULL, "%s",
			              e.text);
		policy_free(p);
	}
	ck_assert_int_lt(used_ms() - begin, 5000);
}
END_TEST

START_TEST(where_the_configuration_decides_no_other_command_is_allowed)
{
	static const struct {
		const char *line, *rule;
	} CASES[] = { { "git status", "command:/^(.|\\s)*$/" },
		      { "cargo test --all", "command:/^(.|\\s)*$/" },
		      { "cargo test ! a!", "command:/^(.|\\s)*$/" },
		      { "cargo testing", NULL } };
	static const char *const LINES[] = {
		"cargo test ; rm -rf x", "cargo test \x7f",    "cargo test & rm x",
		"git status | sh",       "git status $(rm x)", "git status `rm x`",
		"git status > x",        "git status < x",     "git status <(rm x)",
		"git status !x",         "git status x\rrm",   "git status \x15rm",
		"git status $x",         "git status \\\nrm",  "git status {a,b}",
		"git status\nrm x",      "git status;rm x",    "git status -s|sh",
	};
	cJSON *known = cJSON_Parse("{\"status\":\"git status\",\"test\":\"cargo test\"}");
	cJSON *none = cJSON_CreateObject();

	given("{\"enabled\":true,\"commands\":[\"/^(.|\\\\s)*$/\"]}");
	for (size_t i = 0; i < COUNT(CASES); i++)
		judge(&(struct policy_question){ .tool = CASES[i].line,
		                                 .is_command = true,
		                                 .known = known },
		      CASES[i].rule);
	for (size_t i = 0; i < COUNT(LINES); i++) {
		struct policy_question q = { .tool = LINES[i], .is_command = true };

		judge(&q, "command:/^(.|\\s)*$/");
		q.known = known;
		judge(&q, NULL);
	}
	judge(&(struct policy_question){ .tool = "ls", .is_command = true, .known = none }, NULL);
	cJSON_Delete(known);
	cJSON_Delete(none);
}
END_TEST

/* ---- tools ---- */

START_TEST(a_tool_has_two_names)
{
	given("{\"enabled\":true,\"tools\":[\"heartbeat\",\"broadcast\",\"read_file\"]}");
	allows("ping", "tool:heartbeat");
	allows("heartbeat", "tool:heartbeat");
	allows("remote_log", "tool:broadcast");
	allows("read_file", "tool:read_file");
	asks("standby");
	judge(&(struct policy_question){ .tool = "ping", .is_command = true }, NULL);
}
END_TEST

/* ---- files ---- */

START_TEST(a_glob_of_a_path_stays_in_its_directory_unless_it_has_two_stars)
{
	static const struct {
		const char *glob, *path;
		bool is_allowed;
	} CASES[] = {
		{ "docs/**", "docs/a.md", true },
		{ "docs/**", "docs/x/y/a.md", true },
		{ "docs/**", "docs", false },
		{ "docs/**", "docsx/a", false },
		{ "**/*.md", "a.md", true },
		{ "**/*.md", "x/y/a.md", true },
		{ "**/*.md", "a.mdx", false },
		{ "*.md", "x/a.md", false },
		{ "*.md", ".hidden.md", true },
		{ "src/*/a.c", "src/x/a.c", true },
		{ "src/*/a.c", "src/x/y/a.c", false },
		{ "src/**/a.c", "src/a.c", true },
		{ "src/**/a.c", "src/x/y/a.c", true },
		{ "a?.c", "ab.c", true },
		{ "a?.c", "a/.c", false },
		{ "a[bc].c", "ac.c", true },
		{ "a[!bc].c", "ac.c", false },
		{ "a[!bc].c", "ad.c", true },
		{ "a[!b]c", "a/c", false },
		{ "*.{md,txt}", "a.txt", true },
		{ "*.{md,txt}", "a.c", false },
		{ "{a*,b}/c", "axx/c", true },
		{ "{a*,b}/c", "ax/x/c", false },
		{ "./docs/*", "docs/a", true },
		{ "a+b(c).c", "a+b(c).c", true },
		{ "a+b(c).c", "aab(c).c", false },
		{ "[", "[", true },
		{ "{", "{", true },
		{ "ä?.txt", "äö.txt", true },
		{ "**", "a/b", true },
		{ "a.c", "A.c", false },
		{ "**.md", "a.md", true },
		{ "**.md", "x/a.md", false },
	};

	for (size_t i = 0; i < COUNT(CASES); i++)
		file_rule(CASES[i].glob, CASES[i].path, CASES[i].is_allowed);
}
END_TEST

START_TEST(a_rule_for_reading_allows_no_write)
{
	given("{\"enabled\":true,\"file_patterns\":{\"read\":[\"**\"]}}");
	allows_file("a.c", false, NULL);
	allows_file("a.c", true, "file_pattern:read:**");
}
END_TEST

START_TEST(some_files_are_asked_whatever_the_patterns_say)
{
	char asked[] =
	    ".git/hooks/x a/.git/config .intercom/settings.json a/.intercom/x "
	    ".github/w/ci.yml sub/.github/x .gitlab-ci.yml a/.GitLab-CI.yml "
	    ".claude/settings.json .codex/config.toml .gemini/x .cursor/mcp.json "
	    ".vscode/tasks.json .mcp.json x/y/.mcp.json AGENTS.md a/agents.md CLAUDE.md "
	    "docs/GEMINI.md .husky/pre-push .envrc a/.envrc a/.env .gemini/settings.json "
	    ".github/copilot/settings.local.json main.tf a/b/main.TF deploy/prod/x "
	    "a/deploy/prod .claude.json .qwen/settings.json .copilot/hooks/x "
	    ".opencode/plugins/x.js opencode.jsonc QWEN.md .config/opencode/plugins/x.js "
	    ".config/Code/User/settings.json .config/agent-intercom/config.toml "
	    "AGENTS.override.md a/Agents.Override.MD CLAUDE.local.md "
	    ".agents/skills/x/SKILL.md .cursorrules CONTEXT.md a/AGENT.md WARP.md "
	    ".clinerules/x.md .junie/guidelines.md .kiro/steering/x.md .roo/rules/x.md "
	    ".windsurf/rules/x.md a/.zed/tasks.json .idea/workspace.xml .nvim.lua .nvimrc "
	    "a/.exrc .devcontainer/devcontainer.json .devcontainer.json .vimrc a/_vimrc "
	    ".gvimrc a/_exrc a/.rules .windsurfrules .roorules .roomodes .hg/hgrc "
	    ".circleci/config.yml .gitea/workflows/ci.yml .forgejo/workflows/ci.yml "
	    "_gvimrc .drone.yml .appveyor.yml .cirrus.yml .buildkite/pipeline.yml "
	    "azure-pipelines.yml bitbucket-pipelines.yml "
	    ".travis.yml .woodpecker.yml .woodpecker.yaml .woodpecker/ci.yml a/Jenkinsfile";
	static const char *const ALLOWED[] = {
		".gitignore", "git/x", "docs/AGENTS.md.txt", "envrc",
		"deploy/dev", "prod",  "docs/context.txt",   ".env.local",
		"a.rules",    "rules", "Jenkinsfile.txt"
	};
	OWNED(cJSON_ptr) cJSON *more = cJSON_Parse("[\"*.tf\",\"deploy/prod\"]");

	given("{\"enabled\":true,\"tools\":[\"check_clearance\"],"
	      "\"file_patterns\":{\"write\":[\"**\"],\"read\":[\"**\"]}}");
	for (const char *path = strtok(asked, " "); path; path = strtok(NULL, " ")) {
		struct policy_question q = {
			.tool = "edit", .paths = &path, .path_count = 1, .always_ask = more
		};
		bool is_added = always_ask_added(NULL, path, more) != NULL;

		judge(&q, NULL);
		q.tool = "check_clearance";
		judge(&q, NULL);
		q.reads = true;
		judge(&q, is_added ? NULL : "tool:check_clearance");
		q.tool = "read";
		judge(&q, is_added ? NULL : "file_pattern:read:**");
	}

	for (size_t i = 0; i < COUNT(ALLOWED); i++)
		judge(
		    &(struct policy_question){
		        .tool = "edit", .paths = &ALLOWED[i], .path_count = 1, .always_ask = more },
		    "file_pattern:write:**");
}
END_TEST

START_TEST(in_a_workspace_that_lies_in_a_folder_that_is_always_asked_every_file_is)
{
	static const char *const PATHS[] = { "keys/k" }, *const OWN[] = { "x" };
	static const struct {
		const char *root, *const *paths;
		bool asked;
	} CASES[] = {
		{ "/home/me/private", OWN, true },
		{ "/home/me/Private/sub", OWN, true },
		{ "/home/me/deploy", PATHS, true },
		{ "/home/me/deploy", OWN, false },
		{ "/home/me/privates", OWN, false },
		{ "/home/me/.claude/worktrees/a", OWN, false }, /* ours count beneath it */
	};
	OWNED(cJSON_ptr) cJSON *more = cJSON_Parse("[\"private\",\"deploy/keys\"]");

	given("{\"enabled\":true,\"file_patterns\":{\"write\":[\"**\"],\"read\":[\"**\"]}}");
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct policy_question q = { .tool = "edit",
			                     .root = CASES[i].root,
			                     .paths = CASES[i].paths,
			                     .path_count = 1,
			                     .always_ask = more };

		judge(&q, CASES[i].asked ? NULL : "file_pattern:write:**");
		q.reads = true;
		judge(&q, CASES[i].asked ? NULL : "file_pattern:read:**");
	}
}
END_TEST

START_TEST(a_command_line_without_its_kind_is_no_matter_of_rules_for_files)
{
	static const char *const PATHS[] = { "docs/a" };
	static const char *const LINES[] = { "rm -rf docs", "/bin/rm", "rm;ls", "./x", "r\"m\"" };

	given("{\"enabled\":true,\"commands\":[\"git status\"],\"tools\":[\"rm -rf docs\"],"
	      "\"file_patterns\":{\"write\":[\"docs/**\"]}}");
	for (size_t i = 0; i < COUNT(LINES); i++)
		judge(
		    &(struct policy_question){ .tool = LINES[i], .paths = PATHS, .path_count = 1 },
		    NULL);
	allows("git status", "command:git status");
	judge(&(struct policy_question){ .tool = "edit", .paths = PATHS, .path_count = 1 },
	      "file_pattern:write:docs/**");
}
END_TEST

START_TEST(rules_for_commands_allow_no_tool_and_no_file)
{
	static const char *const PATHS[] = { "docs/a", ".mcp.json" };
	static const char *const TOOLS[] = { "check_clearance", "check_diff", "transmit", "edit",
		                             "WebFetch",        "Read",       "mcp__a__b" };

	given("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"commands\":[\"*\",\"c*\","
	      "\"check_*\",\"check_clearance\",\"^.*$\"]}");
	for (size_t i = 0; i < COUNT(TOOLS); i++) {
		struct policy_question q = { .tool = TOOLS[i] };

		judge(&q, NULL);
		q.paths = PATHS;
		for (q.path_count = 1; q.path_count <= COUNT(PATHS); q.path_count++) {
			ck_assert(!policy_may_be_command(q.tool, q.path_count));
			judge(&q, NULL);
			q.reads = !q.reads;
			judge(&q, NULL);
		}
	}
	ck_assert(!policy_may_be_command("check_clearance", 0));
	ck_assert(!policy_may_be_command("ask_approval", 0)); /* as it was called once */
	allows("check_clearance now", "command:*");
	allows("ls", "command:*");
}
END_TEST

START_TEST(each_file_that_is_touched_must_be_allowed)
{
	static const char *const BOTH[] = { "docs/a.md", "tests/b.c" };
	static const char *const ONE[] = { "docs/a.md", "src/c.c" };

	given("{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\",\"tests/**\"]}}");
	judge(
	    &(struct policy_question){ .tool = "check_clearance", .paths = BOTH, .path_count = 2 },
	    "file_pattern:write:docs/**");
	judge(&(struct policy_question){ .tool = "check_clearance", .paths = ONE, .path_count = 2 },
	      NULL);
	judge(&(struct policy_question){ .tool = "check_clearance" }, NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy");
	TCase *c = tcase_create("policy");

	tcase_add_test(c, three_shapes_of_the_file_say_the_same);
	tcase_add_test(c, without_a_file_or_when_it_is_not_enabled_everything_is_asked);
	tcase_add_test(c, a_rule_that_would_be_shown_other_than_it_is_is_an_error_of_the_file);
	tcase_add_test(c, a_file_that_is_wrong_is_refused_with_the_place);
	tcase_add_test(c, a_file_is_as_long_as_it_is_said_to_be);
	tcase_add_test(c, a_member_that_says_nothing_to_us_is_named);
	tcase_add_test(c, risk_above_the_threshold_is_asked_and_critical_always);
	tcase_add_test(c, a_glob_stands_for_the_whole_command_line);
	tcase_add_test(c, what_a_shell_treats_specially_never_rides_on_a_glob);
	tcase_add_test(c, an_expression_is_anchored_at_both_ends);
	tcase_add_test(c, what_is_denied_beats_what_is_allowed_wherever_it_stands);
	tcase_add_test(c, a_denial_is_met_however_a_shell_lets_the_command_be_spelt);
	tcase_add_test(c, a_line_of_too_many_commands_is_asked_where_something_is_denied);
	tcase_add_test(c, a_hostile_expression_ends_and_allows_nothing);
	tcase_add_test(c, no_hostile_expression_takes_long_or_allows_anything);
	tcase_add_test(c, the_most_and_slowest_rules_end_soon);
	tcase_add_test(c, a_line_that_is_too_long_to_be_judged_is_asked_about);
	tcase_add_test(c, an_expression_that_would_be_huge_is_refused_or_small);
	tcase_set_timeout(c, 90);
	tcase_add_test(c, where_the_configuration_decides_no_other_command_is_allowed);
	tcase_add_test(c, a_tool_has_two_names);
	tcase_add_test(c, a_glob_of_a_path_stays_in_its_directory_unless_it_has_two_stars);
	tcase_add_test(c, a_rule_for_reading_allows_no_write);
	tcase_add_test(c, some_files_are_asked_whatever_the_patterns_say);
	tcase_add_test(c, in_a_workspace_that_lies_in_a_folder_that_is_always_asked_every_file_is);
	tcase_add_test(c, a_command_line_without_its_kind_is_no_matter_of_rules_for_files);
	tcase_add_test(c, rules_for_commands_allow_no_tool_and_no_file);
	tcase_add_test(c, each_file_that_is_touched_must_be_allowed);
	suite_add_tcase(s, c);
	return run_suite(s);
}
