/* What a workspace's settings.json says of several hundred cases: what is allowed, what is denied,
 * and what is tried to get past it. One row is one case. */
#include "policy.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

/* How a row asks. */
enum way {
	LINE, /* auto_check of a terminal command */
	TOOL, /* of a tool, or a command line without its kind */
	HIGH, /* TOOL at risk high */
	WRITE,
	READ
};

struct row {
	enum way way;
	const char *text; /* line, tool or path */
	const char *rule; /* NULL: it is asked */
};

static const struct policy *policy;

/* The number of rows that were judged otherwise; each is shown. */
static int judge(const struct row *r, size_t count)
{
	int wrong = 0;

	for (size_t i = 0; i < count; i++, r++) {
		bool is_file = r->way == WRITE || r->way == READ;
		struct policy_question q = { .tool = is_file ? "check_diff" : r->text,
			                     .is_command = r->way == LINE,
			                     .may_be_command =
			                         policy_may_be_command(r->text, is_file),
			                     .risk_level = r->way == HIGH ? "high" : "low",
			                     .paths = &r->text,
			                     .path_count = is_file ? 1 : 0,
			                     .reads = r->way == READ };
		struct policy_answer a = { 0 };

		policy_judge(policy, &q, &a);
		if (a.approved != (r->rule != NULL) ||
		    strcmp(str_text(&a.rule), r->rule ? r->rule : "") != 0) {
			(void)fprintf(stderr, "'%s': %s, by '%s', expected '%s'\n", r->text,
			              str_text(&a.why), str_text(&a.rule), r->rule ? r->rule : "");
			wrong++;
		}
		policy_answer_clear(&a);
	}
	return wrong;
}

static void table(const char *json, const struct row *rows, size_t count)
{
	struct policy *p = NULL;
	struct err e = { 0 };

	ck_assert_msg(policy_parse(json, strlen(json), &p, &e) == 0, "%s: %s", json, e.text);
	policy = p;
	ck_assert_int_eq(judge(rows, count), 0);
	policy_free(p);
}

/* ---- commands ---- */

/* clang-format off */
START_TEST(globs_of_commands)
{
	static const char JSON[] =
	    "{\"enabled\":true,\"commands\":[\"git status\",\"git log *\",\"cargo test *\","
	    "\"npm run lint*\",\"ls -?\",\"make V=1 *\",\"pytest tests/*.py\",\"echo \\\"hi\\\"\","
	    "\"./run.sh\",\"a.b+c\",\"*.exe\",\"find . -name '*'\",\"  spaced  \",\"go test ./...\",\"q?x\"]}";
	static const struct row ROWS[] = {
		{ LINE, "qax", "command:q?x" },
		{ LINE, "q!x", NULL },
#define STATUS "command:git status"
#define LOG "command:git log *"
#define CARGO "command:cargo test *"
		{ LINE, "git status", STATUS },
		{ TOOL, "git status", STATUS },
		{ LINE, "git status ", NULL },
		{ LINE, " git status", NULL },
		{ LINE, "git  status", NULL },
		{ LINE, "git\tstatus", NULL },
		{ LINE, "git status\n", NULL },
		{ LINE, "git status\r", NULL },
		{ LINE, "git status\r\n", NULL },
		{ LINE, "\ngit status", NULL },
		{ LINE, "git status --short", NULL },
		{ LINE, "git statusx", NULL },
		{ LINE, "git statu", NULL },
		{ LINE, "GIT STATUS", NULL },
		{ LINE, "Git status", NULL },
		{ LINE, "xgit status", NULL },
		{ LINE, "/usr/bin/git status", NULL },
		{ LINE, "./git status", NULL },
		{ LINE, "git status; rm x", NULL },
		{ LINE, "git status && rm x", NULL },
		{ LINE, "git status || rm x", NULL },
		{ LINE, "git status | sh", NULL },
		{ LINE, "git status & rm x", NULL },
		{ LINE, "git status > x", NULL },
		{ LINE, "git status `rm x`", NULL },
		{ LINE, "git status $(rm x)", NULL },
		{ LINE, "git status\nrm x", NULL },
		{ LINE, "rm x; git status", NULL },
		{ LINE, "rm x && git status", NULL },
		{ LINE, "rm x\ngit status", NULL },
		{ LINE, "X=1 git status", NULL },
		{ LINE, "sudo git status", NULL },
		{ LINE, "sh -c 'git status'", NULL },
		{ LINE, "git log", LOG },
		{ LINE, "git log ", LOG },
		{ LINE, "git log --oneline", LOG },
		{ LINE, "git log -p -n 3 src/a.c", LOG },
		{ LINE, "git log --format='%h %s'", LOG },
		{ LINE, "git log --since=\"2 days\"", LOG },
		{ LINE, "git log a*b?", LOG },
		{ LINE, "git log ~", LOG },
		{ LINE, "git log HEAD^!", LOG },
		{ LINE, "git log #x", LOG },
		{ LINE, "git log \xc3\xa4\xf0\x9f\x98\x80", LOG },
		{ LINE, "git logs", NULL },
		{ LINE, "git logx --oneline", NULL },
		{ LINE, "git log\t--oneline", NULL },
		{ LINE, "git log;ls", NULL },
		{ LINE, "git log ;ls", NULL },
		{ LINE, "git log --x; ls", NULL },
		{ LINE, "git log & ls", NULL },
		{ LINE, "git log &", NULL },
		{ LINE, "git log && ls", NULL },
		{ LINE, "git log |cat", NULL },
		{ LINE, "git log ||ls", NULL },
		{ LINE, "git log >x", NULL },
		{ LINE, "git log >>x", NULL },
		{ LINE, "git log 2>&1", NULL },
		{ LINE, "git log <x", NULL },
		{ LINE, "git log <(ls)", NULL },
		{ LINE, "git log >(ls)", NULL },
		{ LINE, "git log <<x", NULL },
		{ LINE, "git log <<<x", NULL },
		{ LINE, "git log `ls`", NULL },
		{ LINE, "git log $(ls)", NULL },
		{ LINE, "git log ${HOME}", NULL },
		{ LINE, "git log $HOME", NULL },
		{ LINE, "git log $'x'", NULL },
		{ LINE, "git log $", NULL },
		{ LINE, "git log {a,b}", NULL },
		{ LINE, "git log (x)", NULL },
		{ LINE, "git log x\\", NULL },
		{ LINE, "git log \\;ls", NULL },
		{ LINE, "git log 'a;b'", NULL },
		{ LINE, "git log \"a|b\"", NULL },
		{ LINE, "git log a\nls", NULL },
		{ LINE, "git log a\rls", NULL },
		{ LINE, "git log\nls", NULL },
		{ LINE, "git log \n", NULL },
		{ LINE, "cargo test", CARGO },
		{ LINE, "cargo test --all", CARGO },
		{ LINE, "cargo test -- --nocapture", CARGO },
		{ LINE, "cargo testing", NULL },
		{ LINE, "cargo  test", NULL },
		{ LINE, "cargo test$(x)", NULL },
		{ LINE, "cargo +nightly test", NULL },
		{ LINE, "cargo test --config 'a=\"$(x)\"'", NULL },
		{ LINE, "npm run lint", "command:npm run lint*" },
		{ LINE, "npm run lint:fix", "command:npm run lint*" },
		{ LINE, "npm run lint -- src", "command:npm run lint*" },
		{ LINE, "npm run linter", "command:npm run lint*" },
		{ LINE, "npm run lint;x", NULL },
		{ LINE, "npm run lin", NULL },
		{ LINE, "ls -l", "command:ls -?" },
		{ LINE, "ls -\xc3\xa4", "command:ls -?" },
		{ LINE, "ls -", NULL },
		{ LINE, "ls -la", NULL },
		{ LINE, "ls -;", NULL },
		{ LINE, "ls -\n", NULL },
		{ LINE, "ls - ", "command:ls -?" },
		{ LINE, "make V=1", "command:make V=1 *" },
		{ LINE, "make V=1 all", "command:make V=1 *" },
		{ LINE, "make V=10", NULL },
		{ LINE, "make", NULL },
		{ LINE, "pytest tests/a.py", "command:pytest tests/*.py" },
		{ LINE, "pytest tests/a/b.py", "command:pytest tests/*.py" },
		{ LINE, "pytest tests/.py", "command:pytest tests/*.py" },
		{ LINE, "pytest tests/a.pyc", NULL },
		{ LINE, "pytest tests/a;b.py", NULL },
		{ LINE, "pytest tests/$(x).py", NULL },
		{ LINE, "echo \"hi\"", "command:echo \"hi\"" },
		{ LINE, "echo hi", NULL },
		{ LINE, "./run.sh", "command:./run.sh" },
		{ LINE, "x/run.sh", NULL },
		{ LINE, "./runxsh", NULL },
		{ LINE, "a.b+c", "command:a.b+c" },
		{ LINE, "axbbc", NULL },
		{ LINE, "a.bbc", NULL },
		{ LINE, "x.exe", "command:*.exe" },
		{ LINE, ".exe", "command:*.exe" },
		{ LINE, "rm x; x.exe", NULL },
		{ LINE, "x.exe; rm", NULL },
		{ LINE, "find . -name 'x'", "command:find . -name '*'" },
		{ LINE, "find . -name '' -delete ''", "command:find . -name '*'" }, /* the glob says so */
		{ LINE, "find . -name 'x' -exec rm {} +", NULL },
		{ LINE, "  spaced  ", "command:  spaced  " },
		{ LINE, "spaced", NULL },
		{ LINE, "go test ./...", "command:go test ./..." },
		{ LINE, "go test ./abc", NULL },
		{ LINE, "", NULL },
		{ LINE, " ", NULL },
		{ LINE, "\n", NULL },
		{ HIGH, "git status", NULL },
		{ HIGH, "git log -p", NULL },
	};

	table(JSON, ROWS, COUNT(ROWS));
}
END_TEST

START_TEST(expressions_of_commands)
{
	static const char JSON[] =
	    "{\"enabled\":true,\"commands\":[\"^git (status|diff)( --stat)?$\",\"^npm (ci|test)\","
	    "\"/docker (ps|images)( -a)?/\",\"/kubectl get [a-z]+/i\",\"^cat [^;|&]+\\\\.txt\","
	    "\"^(?:a|b)$\",\"^x{2,3}\",\"^p.q\",\"/\\\\d+/\",\"^\\\\p{Lu}+\",\"/a|b c/\",\"^/usr/bin/id$\"]}";
	static const struct row ROWS[] = {
#define GIT "command:^git (status|diff)( --stat)?$"
#define DOCKER "command:/docker (ps|images)( -a)?/"
#define KUBE "command:/kubectl get [a-z]+/i"
#define CAT "command:^cat [^;|&]+\\.txt"
		{ LINE, "git status", GIT },
		{ LINE, "git diff", GIT },
		{ LINE, "git diff --stat", GIT },
		{ LINE, "git status --stat", GIT },
		{ LINE, "git diff --stat --stat", NULL },
		{ LINE, "git diff\n", NULL },
		{ LINE, "git diff --stat\n", NULL },
		{ LINE, "git diff\nrm x", NULL },
		{ LINE, "git diff; rm x", NULL },
		{ LINE, "x; git diff", NULL },
		{ LINE, "x\ngit diff", NULL },
		{ LINE, "git push", NULL },
		{ LINE, "Git diff", NULL },
		{ LINE, "npm ci", "command:^npm (ci|test)" },
		{ LINE, "npm test", "command:^npm (ci|test)" },
		{ LINE, "npm cix", NULL },
		{ LINE, "npm test && rm x", NULL },
		{ LINE, "npm test\n", NULL },
		{ LINE, "npm  test", NULL },
		{ LINE, "docker ps", DOCKER },
		{ LINE, "docker ps -a", DOCKER },
		{ LINE, "docker images", DOCKER },
		{ LINE, "docker ps -ax", NULL },
		{ LINE, "xdocker ps", NULL },
		{ LINE, "docker ps; docker ps", NULL },
		{ LINE, "DOCKER ps", NULL },
		{ LINE, "kubectl get pods", KUBE },
		{ LINE, "KUBECTL GET PODS", KUBE },
		{ LINE, "kubectl get pods2", NULL },
		{ LINE, "kubectl get", NULL },
		{ LINE, "kubectl get pods -A", NULL },
		{ LINE, "kubectl get p\xc5\xbf", KUBE }, /* Unicode's i: the long s is an s */
		{ LINE, "cat a.txt", CAT },
		{ LINE, "cat a b.txt", CAT },
		{ LINE, "cat a;b.txt", NULL },
		{ LINE, "cat a|b.txt", NULL },
		{ LINE, "cat a\nb.txt", CAT }, /* whoever writes an expression says what it takes */
		{ LINE, "cat .txt", NULL },
		{ LINE, "cat a.txt.gz", NULL },
		{ LINE, "a", "command:^(?:a|b)$" },
		{ LINE, "b", "command:^(?:a|b)$" },
		{ LINE, "ab", NULL },
		{ LINE, "c", NULL },
		{ LINE, "xx", "command:^x{2,3}" },
		{ LINE, "xxx", "command:^x{2,3}" },
		{ LINE, "x", NULL },
		{ LINE, "xxxx", NULL },
		{ LINE, "paq", "command:^p.q" },
		{ LINE, "p\xc3\xa4q", "command:^p.q" },
		{ LINE, "p\nq", NULL },
		{ LINE, "pq", NULL },
		{ LINE, "12", "command:/\\d+/" },
		{ LINE, "1 2", NULL },
		{ LINE, "12x", NULL },
		{ LINE, "\xd9\xa1", NULL }, /* an Arabic one: \d is ASCII */
		{ LINE, "ABC", "command:^\\p{Lu}+" },
		{ LINE, "\xc3\x84", "command:^\\p{Lu}+" },
		{ LINE, "ABc", NULL },
		{ LINE, "b c", "command:/a|b c/" },
		{ LINE, "a c", NULL },
		{ LINE, "/usr/bin/id", "command:^/usr/bin/id$" },
		{ LINE, "usr/bin/id", NULL },
		{ LINE, "usr/bin", NULL },
		{ LINE, "\xff\xfe", NULL }, /* no UTF-8 */
		{ LINE, "git status\xff", NULL },
	};

	table(JSON, ROWS, COUNT(ROWS));
}
END_TEST

START_TEST(denials_of_commands)
{
	static const char JSON[] =
	    "{\"enabled\":true,\"commands\":[\"^[\\\\s\\\\S]*$\"],\"tools\":[\"ping\"],"
	    "\"chat.tools.terminal.autoApprove\":{\"rm\":false,\"git push\":false,\"sudo\":{\"approve\":false},"
	    "\"/curl\\\\b.*\\\\s-(d|X)/\":false,\"/DROP TABLE/i\":false,\"^eval\":false,\"dd if=*\":false,"
	    "\"ls\":true,\"chmod\":null,\"a b\":false,\"heartbeat\":false}}";
	static const struct row ROWS[] = {
#define ALL "command:^[\\s\\S]*$"
		{ LINE, "ls", ALL },
		{ LINE, "cat x", ALL },
		{ LINE, "", ALL },
		{ LINE, "rm", NULL },
		{ LINE, "rm x", NULL },
		{ LINE, "rm -rf /", NULL },
		{ LINE, " rm x", NULL },
		{ LINE, "\trm x", NULL },
		{ LINE, "ls; rm x", NULL },
		{ LINE, "ls;rm x", NULL },
		{ LINE, "ls&&rm x", NULL },
		{ LINE, "ls || rm x", NULL },
		{ LINE, "ls | rm x", NULL },
		{ LINE, "ls|rm x", NULL },
		{ LINE, "ls & rm x", NULL },
		{ LINE, "ls\nrm x", NULL },
		{ LINE, "ls\r\nrm x", NULL },
		{ LINE, "$(rm x)", NULL },
		{ LINE, "`rm x`", NULL },
		{ LINE, "(rm x)", NULL },
		{ LINE, "{ rm x; }", NULL },
		{ LINE, "{rm,x}", ALL }, /* a glob of one word is not a shell */
		{ LINE, "echo $(ls; rm x)", NULL },
		{ LINE, "<x rm", NULL },
		{ LINE, ">x rm y", NULL },
		{ LINE, "X=1 rm y", NULL },
		{ LINE, "env rm y", NULL },
		{ LINE, "xargs rm", NULL },
		{ LINE, "sudo rm", NULL },
		{ LINE, "rm;", NULL },
		{ LINE, "rm>x", NULL },
		{ LINE, "rmdir x", ALL },
		{ LINE, "xrm y", ALL },
		{ LINE, "rm-x", ALL },
		{ LINE, "RM x", ALL },
		{ LINE, "git push", NULL },
		{ LINE, "git push origin main", NULL },
		{ LINE, "git pull; git push", NULL },
		{ LINE, "git pushx", ALL },
		{ LINE, "git pull", ALL },
		{ LINE, "sudo ls", NULL },
		{ LINE, "ls; sudo ls", NULL },
		{ LINE, "sudoku", ALL },
		{ LINE, "curl x", ALL },
		{ LINE, "curl x -d y", NULL },
		{ LINE, "curl -X POST x", NULL },
		{ LINE, "ls; curl x -d y", NULL },
		{ LINE, "curl x\n -d y", NULL },
		{ LINE, "curly -d", ALL },
		{ LINE, "sqlite3 x 'drop table y'", NULL },
		{ LINE, "echo DROP TABLE", NULL },
		{ LINE, "eval x", NULL },
		{ LINE, "ls; eval x", NULL }, /* a command of the line by itself */
		{ LINE, "dd if=/dev/zero of=x", NULL },
		{ LINE, "ls; dd if=x", NULL },
		{ LINE, "dd of=x", ALL },
		{ LINE, "chmod 777 x", ALL }, /* null takes back */
		{ LINE, "a b", NULL },
		{ LINE, "a  b", NULL },
		{ TOOL, "ping", "tool:ping" },
		{ TOOL, "heartbeat", NULL },
		{ TOOL, "rm", NULL },
		{ HIGH, "ls", NULL },
	};

	table(JSON, ROWS, COUNT(ROWS));
}
END_TEST

/* ---- tools ---- */

START_TEST(names_of_tools)
{
	static const char JSON[] =
	    "{\"autoApprove\":{\"enabled\":true,\"riskLevelThreshold\":\"high\",\"tools\":[\"heartbeat\","
	    "\"broadcast\",\"forward_prompt\",\"read_file\",\"ask_approval\",\"*\",\"Edit\"]}}";
	static const struct row ROWS[] = {
		{ TOOL, "ping", "tool:heartbeat" },
		{ TOOL, "heartbeat", "tool:heartbeat" },
		{ HIGH, "ping", "tool:heartbeat" },
		{ TOOL, "broadcast", "tool:broadcast" },
		{ TOOL, "remote_log", "tool:broadcast" },
		{ TOOL, "transmit", "tool:forward_prompt" },
		{ TOOL, "forward_prompt", "tool:forward_prompt" },
		{ TOOL, "check_clearance", "tool:ask_approval" },
		{ TOOL, "ask_approval", "tool:ask_approval" },
		{ TOOL, "read_file", "tool:read_file" },
		{ TOOL, "Edit", "tool:Edit" },
		{ TOOL, "edit", NULL },
		{ TOOL, "*", "tool:*" }, /* a name, not a glob */
		{ TOOL, "write_file", NULL },
		{ TOOL, "check_diff", NULL },
		{ TOOL, "standby", NULL },
		{ TOOL, "PING", NULL },
		{ TOOL, "ping ", NULL },
		{ TOOL, "ping; rm x", NULL },
		{ TOOL, "", NULL },
		{ LINE, "ping", NULL },
		{ LINE, "heartbeat", NULL },
		{ LINE, "read_file", NULL },
	};

	table(JSON, ROWS, COUNT(ROWS));
}
END_TEST

/* ---- files ---- */

START_TEST(globs_of_paths)
{
	static const char JSON[] =
	    "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\",\"**/*.md\",\"src/tests/**\","
	    "\"*.test.ts\",\"a/*/c\",\"b?.txt\",\"d[0-9].c\",\"e[!x]f\",\"*.{yml,yaml}\",\"./g/h\","
	    "\"i/**/j.c\",\"k\\\\l\",\"m.n\",\".build/*\",\"sp ace/*\"],\"read\":[\"**\"]}}";
	static const struct row ROWS[] = {
#define W "file_pattern:write:"
#define R "file_pattern:read:**"
		{ WRITE, "docs/a", W "docs/**" },
		{ WRITE, "docs/a/b/c", W "docs/**" },
		{ WRITE, "docs/.hidden", W "docs/**" },
		{ WRITE, "docs/a\nb", W "docs/**" },
		{ WRITE, "docs", NULL },
		{ WRITE, "docs/", NULL },
		{ WRITE, "Docs/a", NULL },
		{ WRITE, "xdocs/a", NULL },
		{ WRITE, "x/docs/a", NULL },
		{ WRITE, "docsx/a", NULL },
		{ WRITE, "/docs/a", NULL },
		{ WRITE, "README.md", W "**/*.md" },
		{ WRITE, "x/README.md", W "**/*.md" },
		{ WRITE, "x/y/z.md", W "**/*.md" },
		{ WRITE, ".md", W "**/*.md" },
		{ WRITE, "a.md.exe", NULL },
		{ WRITE, "a.mdx", NULL },
		{ WRITE, "a.md/b", NULL },
		{ WRITE, "a.md\n", NULL },
		{ WRITE, "amd", NULL },
		{ WRITE, "src/tests/a.rs", W "src/tests/**" },
		{ WRITE, "src/tests.rs", NULL },
		{ WRITE, "src/a.rs", NULL },
		{ WRITE, "tests/a.rs", NULL },
		{ WRITE, "a.test.ts", W "*.test.ts" },
		{ WRITE, "x/a.test.ts", NULL },
		{ WRITE, "a.test.tsx", NULL },
		{ WRITE, "axtest.ts", NULL },
		{ WRITE, "a/b/c", W "a/*/c" },
		{ WRITE, "a//c", W "a/*/c" },
		{ WRITE, "a/b/d/c", NULL },
		{ WRITE, "a/c", NULL },
		{ WRITE, "bx.txt", W "b?.txt" },
		{ WRITE, "b\xc3\xa4.txt", W "b?.txt" },
		{ WRITE, "b.txt", NULL },
		{ WRITE, "bxy.txt", NULL },
		{ WRITE, "b/.txt", NULL },
		{ WRITE, "d0.c", W "d[0-9].c" },
		{ WRITE, "d9.c", W "d[0-9].c" },
		{ WRITE, "da.c", NULL },
		{ WRITE, "d10.c", NULL },
		{ WRITE, "eaf", W "e[!x]f" },
		{ WRITE, "exf", NULL },
		{ WRITE, "e/f", NULL },
		{ WRITE, "a.yml", W "*.{yml,yaml}" },
		{ WRITE, "a.yaml", W "*.{yml,yaml}" },
		{ WRITE, "a.yl", NULL },
		{ WRITE, "x/a.yml", NULL },
		{ WRITE, "g/h", W "./g/h" },
		{ WRITE, "g/hh", NULL },
		{ WRITE, "i/j.c", W "i/**/j.c" },
		{ WRITE, "i/x/j.c", W "i/**/j.c" },
		{ WRITE, "i/x/y/j.c", W "i/**/j.c" },
		{ WRITE, "i/xj.c", NULL },
		{ WRITE, "ij.c", NULL },
		{ WRITE, "k\\l", W "k\\l" },
		{ WRITE, "kl", NULL },
		{ WRITE, "m.n", W "m.n" },
		{ WRITE, "mxn", NULL },
		{ WRITE, ".build/a.sh", W ".build/*" },
		{ WRITE, ".build/x/a.sh", NULL },
		{ WRITE, ".build", NULL },
		{ WRITE, "sp ace/x", W "sp ace/*" },
		{ WRITE, "space/x", NULL },
		{ WRITE, ".env", NULL },
		{ WRITE, "src/main.rs", NULL },
		{ WRITE, "Makefile", NULL },
		{ WRITE, "\xff", NULL },
		{ READ, "src/main.rs", R },
		{ READ, "docs/a", R },
		{ READ, ".env", R },
		{ READ, "a\nb", R },
		{ READ, "x/y/z", R },
		{ READ, "", NULL },
	};

	table(JSON, ROWS, COUNT(ROWS));
}
END_TEST
/* clang-format on */

static struct policy *given_policy(const char *json)
{
	struct policy *p = NULL;
	struct err e = { 0 };

	ck_assert_msg(policy_parse(json, strlen(json), &p, &e) == 0, "%s", e.text);
	return p;
}

START_TEST(a_report_that_ends_or_comes_later_hides_what_is_allowed)
{
	static const char REPORTS[] =
	    "{\"enabled\":true,\"log_auto_approved\":true,\"summary_interval_seconds\":60}";
	static const char SILENT[] = "{\"enabled\":true,\"log_auto_approved\":false}";
	static const char OFF[] = "{\"enabled\":false,\"log_auto_approved\":true}";
	static const char LATER[] =
	    "{\"enabled\":true,\"log_auto_approved\":true,\"summary_interval_seconds\":61}";
	static const struct {
		const char *before, *now;
		bool hides;
	} CASES[] = { { REPORTS, SILENT, true },   { REPORTS, LATER, true },
		      { REPORTS, REPORTS, false }, { LATER, REPORTS, false },
		      { SILENT, SILENT, false },   { SILENT, LATER, false },
		      { OFF, SILENT, false },      { OFF, LATER, false } };

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct policy *before = given_policy(CASES[i].before);
		struct policy *now = given_policy(CASES[i].now);

		ck_assert_msg(policy_hides(now, before) == CASES[i].hides, "%s after %s",
		              CASES[i].now, CASES[i].before);
		ck_assert(!policy_hides(now, NULL));
		policy_free(before);
		policy_free(now);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy table");
	TCase *c = tcase_create("policy table");

	tcase_add_test(c, globs_of_commands);
	tcase_add_test(c, expressions_of_commands);
	tcase_add_test(c, denials_of_commands);
	tcase_add_test(c, names_of_tools);
	tcase_add_test(c, globs_of_paths);
	tcase_add_test(c, a_report_that_ends_or_comes_later_hides_what_is_allowed);
	suite_add_tcase(s, c);
	return run_suite(s);
}
