/* Whole stories: an agent asks, somebody answers, the file is written. */
#include "agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AGENTS = 200, OPERATORS = 4 };

static struct site site;

static struct agent newcomer(void)
{
	return agent_hello(site.port, "", "2025-11-25");
}

/* Begins a call that waits for a person; the id of its request. */
static const char *begin(struct agent *a, struct wire *w, const char *tool, const char *arguments)
{
	static char id[40];
	OWNED(char_ptr) char *last = NULL;
	OWNED(char_ptr) char *before = rows("SELECT count(*) FROM request");
	char more[20];

	(void)snprintf(more, sizeof(more), "%d\n", atoi(before) + 1);
	agent_begin(a, w, tool, arguments, NULL);
	expect_soon("SELECT count(*) FROM request", more);
	last = rows("SELECT id FROM request ORDER BY seq DESC LIMIT 1");
	(void)snprintf(id, sizeof(id), "%.36s", last);
	return id;
}

START_TEST(an_agent_asks_the_operator_approves_and_the_file_is_written)
{
	OWNED(char_ptr)
	char *arguments =
	    proposal("f.c", "--- a/f.c\n+++ b/f.c\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *again = NULL;
	OWNED(char_ptr) char *text = NULL;
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *request = NULL;
	struct agent a;
	struct wire w;
	const char *id;

	site = given_running_site();
	put_file(site.workspace, "f.c", "one\ntwo\nthree\n");
	a = newcomer();
	id = begin(&a, &w, "check_clearance", arguments);
	ck_assert_int_eq(ctl(&said, "--text inbox"), 0);
	says(said.bytes, "f.c");
	ck_assert_int_eq(ctl(&said, "--text show %s", id), 0);
	says(said.bytes, "TWO");
	request = diff_of(id);
	{
		OWNED(char_ptr) char *early = agent_call(&a, "check_diff", request);

		has(early, "error_code", "not_approved");
	}
	ck_assert_int_eq(ctl(&said, "approve %s", id), 0);
	answer = agent_end(&w);
	has(answer, "status", "approved");
	has(answer, "request_id", id);
	written = agent_write(&a, request);
	has(written, "status", "applied");
	has(written, "files_written.0.path", "f.c");
	has(written, "files_written.0.bytes", "14");
	text = get_file(site.workspace, "f.c");
	ck_assert_str_eq(text, "one\nTWO\nthree\n");
	again = agent_call(&a, "check_diff", request);
	has(again, "error_code", "already_consumed");
	has(again, "files_written.0.path", "f.c");
	ck_assert_int_eq(ctl(&said, "approve %s", id), 1);
	expect("SELECT state FROM request", "consumed\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* It is written all the same, because an operator has approved it: whoever it concerns is told. */
START_TEST(a_critical_change_without_its_checkpoint_says_so)
{
	OWNED(char_ptr) char *plain = proposal("f.c", "two\n");
	OWNED(str) struct str arguments = { 0 };
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *request = NULL;
	struct agent a;
	struct wire w;
	const char *id;

	site = given_running_site();
	given("INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('checkpoint.auto', 'true', 'file', '2026-01-01T08:00:00.000Z'),"
	      " ('checkpoint.max_files', '1', 'file', '2026-01-01T08:00:00.000Z')"
	      " ON CONFLICT (name) DO UPDATE SET value = excluded.value");
	put_file(site.workspace, "f.c", "one\n");
	put_file(site.workspace, "g.c", "one\n");
	a = newcomer();
	str_addf(&arguments, "%.*s,\"risk_level\":\"critical\"}", (int)strlen(plain) - 1, plain);
	id = begin(&a, &w, "check_clearance", arguments.bytes);
	ck_assert_int_eq(ctl(&said, "approve %s", id), 0);
	answer = agent_end(&w);
	request = diff_of(id);
	written = agent_write(&a, request);
	has(written, "status", "applied");
	has(written, "checkpoint",
	    "none: the workspace has more than 1 files and folders (setting "
	    "checkpoint.max_files)");
	ck_assert_int_eq(ctl(&said, "--text show %s", id), 0);
	says(said.bytes, "\ncheckpoint none: the workspace has more than 1 files");
	ck_assert_int_eq(ctl(&said, "--json show %s", id), 0);
	has(said.bytes, "checkpoint",
	    "none: the workspace has more than 1 files and folders (setting "
	    "checkpoint.max_files)");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_diff_of_many_files_is_shown_written_whole_and_taken_back)
{
	static const char DIFF[] =
	    "--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-one\n+ONE\n"
	    "diff --git a/g.c b/sub/h.c\nrename from g.c\nrename to sub/h.c\n"
	    "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
	    "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n"
	    "@@ -1 +0,0 @@\n-bye\n";
	OWNED(char_ptr) char *arguments = proposal("f.c", DIFF);
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *again = NULL;
	OWNED(char_ptr) char *old = NULL;
	OWNED(char_ptr) char *gone = NULL;
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *request = NULL;
	struct agent a;
	struct wire w;
	const char *id;

	site = given_running_site();
	put_file(site.workspace, "f.c", "one\n");
	put_file(site.workspace, "g.c", "two\n");
	put_file(site.workspace, "run", "true\n");
	put_file(site.workspace, "gone", "bye\n");
	a = newcomer();
	id = begin(&a, &w, "check_clearance", arguments);
	ck_assert_int_eq(ctl(&said, "--text show %s", id), 0);
	says(said.bytes, "modify    f.c\ndelete    g.c (becomes sub/h.c)\n"
	                 "create    sub/h.c (from g.c)\nmodify    run (mode 100755)\n"
	                 "delete    gone\n");
	ck_assert_int_eq(ctl(&said, "--json show %s", id), 0);
	has(said.bytes, "files.1.action", "delete");
	has(said.bytes, "files.1.other_path", "sub/h.c");
	has(said.bytes, "files.3.mode", "100755");
	has(said.bytes, "files.2.original_hash", "new_file");
	ck_assert_int_eq(ctl(&said, "approve %s", id), 0);
	answer = agent_end(&w);
	request = diff_of(id);
	written = agent_write(&a, request);
	has(written, "status", "applied");
	has(written, "files_written.0.path", "f.c");
	has(written, "files_written.1.path", "sub/h.c");
	has(written, "files_written.1.bytes", "4");
	has(written, "files_written.2.path", "run");
	has(written, "files_written.3", "");
	has(written, "renamed.0.from", "g.c");
	has(written, "renamed.0.to", "sub/h.c");
	has(written, "deleted.0", "gone");
	has(written, "deleted.1", "");
	ck_assert_int_eq(ctl(&said, "--text undo %s", id), 0);
	ck_assert_str_eq(said.bytes, "reverted  f.c\nreverted  g.c\nreverted  sub/h.c\n"
	                             "reverted  run\nreverted  gone\n");
	old = get_file(site.workspace, "f.c");
	gone = get_file(site.workspace, "gone");
	ck_assert_str_eq(old, "one\n");
	ck_assert_str_eq(gone, "bye\n");
	ck_assert_int_eq(ctl(&said, "undo %s", id), 1);
	says(said.bytes, "this was undone already");
	again = agent_call(&a, "check_diff", request);
	has(again, "error_code", "already_consumed");
	says(again, "and the operator took it back at");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

enum { WRITES = 40, WRITES_MAX = 1000 };

/* How many writes are asked for at a time: $INTERCOM_WRITES, or WRITES. */
static int writes_wanted(void)
{
	const char *given_number = getenv("INTERCOM_WRITES");
	long n = given_number ? strtol(given_number, NULL, 10) : WRITES;

	return n < 1 || n > WRITES_MAX ? WRITES : (int)n;
}

/* A second applier on the same database: it waits for the lock, in vain. Its status goes to a file.
 */
static void start_second_applier(void)
{
	ck_assert_int_eq(shell(NULL,
	                       "(\"$INTERCOM_BUILD/applier\" --db %s --run \"$(readlink %s-run)\""
	                       " 2>/dev/null; echo $? >%s/status) >/dev/null 2>&1 &",
	                       site.database, site.database, site.home),
	                 0);
}

START_TEST(two_appliers_and_two_calls_for_each_make_one_write_each)
{
	int n = writes_wanted(), applied = 0;
	struct wire *asked = xcalloc((size_t)n, sizeof(*asked));
	struct wire *called = xcalloc(2 * (size_t)n, sizeof(*called));
	char text[100];
	struct agent a;

	site = given_running_site();
	a = newcomer();
	for (int i = 0; i < n; i++) {
		OWNED(char_ptr) char *arguments = NULL;

		(void)snprintf(text, sizeof(text), "f%d", i);
		arguments = proposal(text, text);
		agent_begin(&a, &asked[i], "check_clearance", arguments, NULL);
	}
	(void)snprintf(text, sizeof(text), "%d\n", n);
	expect_soon("SELECT count(*) FROM request", text);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	for (int i = 0; i < n; i++) {
		OWNED(char_ptr) char *answer = agent_end(&asked[i]);
		OWNED(char_ptr) char *request = NULL;

		request = diff_of(member(answer, "request_id"));
		agent_begin(&a, &called[2 * i], "check_diff", request, NULL);
		agent_begin(&a, &called[2 * i + 1], "check_diff", request, NULL);
		if (i > 0)
			continue;
		/* From here on the applier has the workspace, and needs no successor. */
		expect_soon("SELECT count(*) FROM apply WHERE state = 'applied'", "1\n");
		start_second_applier();
	}
	for (int i = 0; i < 2 * n; i++) {
		OWNED(char_ptr) char *written = agent_end(&called[i]);

		applied += strcmp(member(written, "status"), "applied") == 0;
		ck_assert_msg(strcmp(member(written, "status"), "applied") == 0 ||
		                  strcmp(member(written, "error_code"), "already_consumed") == 0,
		              "%s", written);
	}
	ck_assert_int_ge(applied, n);
	expect("SELECT count(*) FROM apply WHERE state = 'applied'", text);
	expect("SELECT count(*) FROM apply", text);
	expect("SELECT count(DISTINCT path) FROM file_change WHERE state = 'done'", text);
	expect("SELECT count(*) FROM event WHERE kind = 'request.consumed'", text);
	ck_assert_int_eq(
	    shell(NULL,
	          "for i in $(seq 600); do [ -s %1$s/status ] && break; sleep 0.1; done;"
	          " [ \"$(cat %1$s/status)\" = 75 ]",
	          site.home),
	    0);
	ck_assert_int_eq(site_stop(&site), 0);
	free(asked);
	free(called);
}
END_TEST

START_TEST(force_says_that_it_has_overwritten_something)
{
	OWNED(char_ptr) char *arguments = proposal("f", "new\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(str) struct str said = { 0 };
	char request[100];
	struct agent a;
	struct wire w;
	const char *id;

	site = given_running_site();
	put_file(site.workspace, "f", "old\n");
	a = newcomer();
	id = begin(&a, &w, "check_clearance", arguments);
	ck_assert_int_eq(ctl(&said, "approve %s", id), 0);
	answer = agent_end(&w);
	put_file(site.workspace, "f", "mine\n");
	(void)snprintf(request, sizeof(request), "{\"request_id\":\"%s\",\"force\":true}", id);
	written = agent_write(&a, request);
	has(written, "status", "applied");
	says(member(written, "warning"), "overwritten");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(force_with_a_diff_says_that_what_had_changed_was_kept)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *text = NULL;
	OWNED(str) struct str said = { 0 };
	char request[100];
	struct agent a;
	struct wire w;
	const char *id;

	site = given_running_site();
	put_file(site.workspace, "f", "a\nb\n");
	a = newcomer();
	id = begin(&a, &w, "check_clearance",
	           "{\"title\":\"t\",\"file_path\":\"f\",\"diff\":"
	           "\"--- a/f\\n+++ b/f\\n@@ -1,2 +1,2 @@\\n a\\n-b\\n+B\\n\"}");
	ck_assert_int_eq(ctl(&said, "approve %s", id), 0);
	answer = agent_end(&w);
	put_file(site.workspace, "f", "a\nb\nc\n");
	(void)snprintf(request, sizeof(request), "{\"request_id\":\"%s\",\"force\":true}", id);
	written = agent_write(&a, request);
	says(member(written, "warning"), "the other changes were kept");
	text = get_file(site.workspace, "f");
	ck_assert_str_eq(text, "a\nB\nc\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* The operator says no to the file as it is now: by whomever, and in whatever words they are asked,
 * an older yes does not write over it. */
START_TEST(a_yes_to_a_file_that_has_changed_ends_when_anybody_asks_about_the_file_in_any_words)
{
	static const char *const ANEW[] = {
		"{\"title\":\"other\",\"file_path\":\"./f\",\"diff\":\"new\\n\"}",
		"{\"title\":\"a change\",\"file_path\":\"f\",\"diff\":\"new\\n\","
		"\"description\":\"why\",\"risk_level\":\"high\"}",
		"{\"title\":\"a change\",\"file_path\":\"f\",\"diff\":\"new\\n\"}",
		"{\"title\":\"another change\",\"file_path\":\"g\",\"diff\":"
		"\"--- a/f\\n+++ b/f\\n@@ -1 +1 @@\\n-mine\\n+other\\n"
		"--- a/g\\n+++ b/g\\n@@ -1 +1 @@\\n-g\\n+G\\n\"}",
	};
	OWNED(char_ptr) char *arguments = proposal("f", "new\n");
	OWNED(char_ptr) char *text = NULL;
	OWNED(str) struct str said = { 0 };
	struct agent a, b;
	struct wire w;

	site = given_running_site();
	put_file(site.workspace, "g", "g\n");
	a = newcomer();
	b = newcomer();
	for (size_t i = 0; i < COUNT(ANEW); i++) {
		OWNED(char_ptr) char *yes = NULL;
		OWNED(char_ptr) char *no = NULL;
		OWNED(char_ptr) char *written = NULL;
		char forced[100];
		const char *id;

		put_file(site.workspace, "f", "old\n");
		id = begin(&a, &w, "check_clearance", arguments);
		(void)snprintf(forced, sizeof(forced), "{\"request_id\":\"%s\",\"force\":true}",
		               id);
		ck_assert_int_eq(ctl(&said, "approve %s", id), 0);
		yes = agent_end(&w);
		has(yes, "status", "approved");
		put_file(site.workspace, "f", "mine\n");
		id = begin(i < 2 ? &a : &b, &w, "check_clearance", ANEW[i]);
		ck_assert_int_eq(ctl(&said, "reject %s", id), 0);
		no = agent_end(&w);
		has(no, "status", "rejected");
		written = agent_write(&a, forced);
		has(written, "error_code", "not_approved");
	}
	text = get_file(site.workspace, "f");
	ck_assert_str_eq(text, "mine\n");
	expect("SELECT count(*) FROM apply", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(one_insert_of_the_sqlite3_shell_unblocks_the_agent_within_a_second)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;
	struct wire w;
	const char *id;
	int64_t start;

	site = given_running_site();
	a = newcomer();
	id = begin(&a, &w, "check_clearance", arguments);
	ck_assert_int_eq(shell(NULL,
	                       "sqlite3 -cmd '.timeout 10000' %s \"INSERT INTO decision "
	                       "(request_id, verdict) VALUES"
	                       " ('%s', 'approve')\"",
	                       test_db(), id),
	                 0);
	start = agent_ms();
	answer = agent_end(&w);
	ck_assert_int_lt(agent_ms() - start, 1000);
	has(answer, "status", "approved");
	expect("SELECT source, outcome FROM decision", "sql|applied\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- many ---- */

/* The answers of one operator: everything twice, even ones yes, odd ones no. */
static void write_answers(void)
{
	OWNED(char_ptr) char *ids = rows("SELECT id, file_path FROM request ORDER BY seq");
	OWNED(str) struct str script = { 0 };
	char *rest = NULL;

	str_add(&script, ".timeout 30000\n.bail on\n");
	for (char *line = strtok_r(ids, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		int number = atoi(strchr(line, '|') + 2); /* <id>|f<number> */

		line[36] = '\0';
		for (int i = 0; i < 2; i++)
			str_addf(&script,
			         number % 2
			             ? "INSERT INTO decision (request_id, verdict, reason) VALUES"
			               " ('%s', 'reject', 'no %d');\n"
			             : "INSERT INTO decision (request_id, verdict) VALUES ('%s',"
			               " 'approve'); -- %d\n",
			         line, number);
	}
	put_file(site.home, "answers.sql", script.bytes);
}

static pid_t start_operator(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		char command[700];

		(void)snprintf(command, sizeof(command), "exec sqlite3 %s < %s/answers.sql",
		               test_db(), site.home);
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	return pid;
}

START_TEST(two_hundred_agents_and_four_operators_come_to_one_answer_each)
{
	static struct agent agents[AGENTS];
	static struct wire wires[AGENTS];
	pid_t operators[OPERATORS];

	site = given_running_site();
	for (int i = 0; i < AGENTS; i++)
		agents[i] = newcomer();
	for (int i = 0; i < AGENTS; i++) {
		char path[20];
		OWNED(char_ptr) char *arguments = NULL;

		(void)snprintf(path, sizeof(path), "f%d", i);
		arguments = proposal(path, path);
		agent_begin(&agents[i], &wires[i], "check_clearance", arguments, NULL);
	}
	expect_soon("SELECT count(*) FROM request", "200\n");
	expect("SELECT count(*), count(DISTINCT session_seq) FROM request", "200|200\n");
	write_answers();
	for (int i = 0; i < OPERATORS; i++)
		operators[i] = start_operator();
	for (int i = 0; i < AGENTS; i++) {
		OWNED(char_ptr) char *answer = agent_end(&wires[i]);
		char reason[20];

		(void)snprintf(reason, sizeof(reason), "no %d", i);
		has(answer, "status", i % 2 ? "rejected" : "approved");
		has(answer, "reason", i % 2 ? reason : "");
	}
	for (int i = 0; i < OPERATORS; i++) {
		int status = -1;

		ck_assert(ends_within(operators[i], 40000, &status));
		ck_assert_int_eq(status, 0);
	}
	expect("SELECT outcome, count(*) FROM decision GROUP BY 1",
	       "applied|200\nduplicate|1400\n");
	expect("SELECT count(*) FROM tool_call WHERE tool = 'check_clearance'", "200\n");
	expect_soon("SELECT state, count(*) FROM tool_call GROUP BY 1", "done|200\n");
	ck_assert_int_eq(site_stop(&site), 0);
	expect("PRAGMA integrity_check", "ok\n");
}
END_TEST

/* ---- the other answers ---- */

static char *answered(const char *tool, const char *arguments, const char *command,
                      const char *words)
{
	struct agent a = newcomer();
	OWNED(str) struct str said = { 0 };
	struct wire w;
	const char *id = begin(&a, &w, tool, arguments);
	int status = ctl(&said, "%s %s %s", command, id, words);

	ck_assert_msg(status == 0, "%s", str_text(&said));
	return agent_end(&w);
}

START_TEST(each_verdict_reaches_the_agent_in_its_words)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	static const char ASK[] = "{\"prompt_text\":\"go on?\"}";
	OWNED(char_ptr) char *rejected = NULL;
	OWNED(char_ptr) char *refined = NULL;
	OWNED(char_ptr) char *continued = NULL;
	OWNED(char_ptr) char *stopped = NULL;
	OWNED(char_ptr) char *resumed = NULL;
	OWNED(char_ptr) char *ended = NULL;

	site = given_running_site();
	rejected = answered("check_clearance", arguments, "reject", "--reason 'not today'");
	has(rejected, "status", "rejected");
	has(rejected, "reason", "not today");
	refined = answered("transmit", ASK, "refine", "use tabs");
	has(refined, "decision", "refine");
	has(refined, "instruction", "use tabs");
	continued = answered("transmit", ASK, "continue", "");
	ck_assert_str_eq(continued, "{\"decision\":\"continue\"}");
	stopped = answered("transmit", ASK, "stop", "");
	has(stopped, "decision", "stop");
	resumed = answered("standby", "{}", "resume", "now the tests");
	has(resumed, "status", "resumed");
	has(resumed, "instruction", "now the tests");
	ended = answered("standby", "{}", "stop", "");
	has(ended, "status", "resumed");
	has(ended, "instruction", "stop");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_verb_that_does_not_fit_changes_nothing)
{
	struct agent a;
	struct wire w;
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *answer = NULL;
	char id[40];

	site = given_running_site();
	a = newcomer();
	(void)snprintf(id, sizeof(id), "%s",
	               begin(&a, &w, "transmit", "{\"prompt_text\":\"go on?\"}"));
	ck_assert_int_eq(ctl(&said, "approve %s", id), 1);
	ck_assert_int_eq(ctl(&said, "approve 00000000-0000-7000-8000-000000000000"), 1);
	expect("SELECT state FROM request", "pending\n");
	ck_assert_int_eq(ctl(&said, "continue %s", id), 0);
	answer = agent_end(&w);
	has(answer, "decision", "continue");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(modes_that_need_slack_are_refused_without_it)
{
	struct agent a;
	OWNED(char_ptr) char *remote = NULL;
	OWNED(char_ptr) char *local = NULL;

	site = given_running_site();
	a = newcomer();
	remote = agent_call(&a, "switch_freq", "{\"mode\":\"remote\"}");
	has(remote, "status", "error");
	says(member(remote, "error_message"), "Slack");
	local = agent_call(&a, "switch_freq", "{\"mode\":\"local\"}");
	has(local, "previous_mode", "local");
	has(local, "current_mode", "local");
	expect("SELECT mode FROM session", "local\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_one_agent_was_allowed_another_cannot_apply)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *stolen = NULL;
	OWNED(char_ptr) char *request = NULL;
	struct agent a, thief;
	struct wire w;
	const char *id;

	site = given_running_site();
	a = newcomer();
	thief = newcomer();
	id = begin(&a, &w, "check_clearance", arguments);
	request = diff_of(id);
	ck_assert_int_eq(ctl(NULL, "approve %s", id), 0);
	answer = agent_end(&w);
	has(answer, "status", "approved");
	stolen = agent_call(&thief, "check_diff", request);
	has(stolen, "error_code", "request_not_found");
	ck_assert_ptr_null(get_file(site.workspace, "f"));
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_new_agent_learns_of_what_was_open_when_everything_died)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *ping = NULL;
	OWNED(char_ptr) char *before = NULL;
	OWNED(char_ptr) char *after = NULL;
	struct relay first, second;

	site = given_running_site();
	first = given_relay(&site);
	before = relay_call(&first, "reboot", "{}");
	ck_assert_str_eq(before, "{\"status\":\"clean\"}");
	ping = relay_call(&first, "ping",
	                  "{\"progress_snapshot\":[{\"label\":\"parser\",\"status\":\"done\"}]}");
	relay_begin(&first, "check_clearance", arguments);
	expect_soon("SELECT state FROM request", "pending\n");
	relay_kill(&first);
	site_kill(&site);

	site_start(&site);
	second = given_relay(&site);
	after = relay_call(&second, "reboot", "{}");
	has(after, "status", "recovered");
	has(after, "session_id", member(ping, "session_id"));
	has(after, "pending_requests.0.type", "approval");
	has(after, "pending_requests.0.title", "a change");
	has(after, "progress_snapshot.0.label", "parser");
	relay_begin(&second, "check_clearance", arguments);
	expect_soon(
	    "SELECT count(*) FROM tool_call WHERE state = 'waiting' AND listener IS NOT NULL",
	    "1\n");
	approve_all();
	{
		OWNED(char_ptr) char *answer = relay_end(&second);

		has(answer, "request_id", member(after, "pending_requests.0.request_id"));
	}
	ck_assert_int_eq(relay_stop(&second), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* It is told 'pending' at the stop; its session is there after the start. */
START_TEST(an_agent_on_http_gets_its_answer_after_a_stop_and_a_start)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *before = NULL;
	OWNED(char_ptr) char *after = NULL;
	struct agent a;
	struct wire w;

	site = given_running_site();
	a = newcomer();
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT state FROM request", "interrupted\n");
	before = agent_end(&w);
	has(before, "status", "pending");
	site_start(&site);
	a.port = site.port;
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT state FROM request", "pending\n");
	approve_all();
	after = agent_end(&w);
	has(after, "status", "approved");
	has(after, "request_id", member(before, "request_id"));
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("scenario");
	TCase *c = tcase_create("scenario");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 90);
	tcase_add_test(c, a_critical_change_without_its_checkpoint_says_so);
	tcase_add_test(c, an_agent_asks_the_operator_approves_and_the_file_is_written);
	tcase_add_test(c, a_diff_of_many_files_is_shown_written_whole_and_taken_back);
	tcase_add_test(c, two_appliers_and_two_calls_for_each_make_one_write_each);
	tcase_add_test(c, force_says_that_it_has_overwritten_something);
	tcase_add_test(c, force_with_a_diff_says_that_what_had_changed_was_kept);
	tcase_add_test(
	    c, a_yes_to_a_file_that_has_changed_ends_when_anybody_asks_about_the_file_in_any_words);
	tcase_add_test(c, one_insert_of_the_sqlite3_shell_unblocks_the_agent_within_a_second);
	tcase_add_test(c, two_hundred_agents_and_four_operators_come_to_one_answer_each);
	tcase_add_test(c, each_verdict_reaches_the_agent_in_its_words);
	tcase_add_test(c, a_verb_that_does_not_fit_changes_nothing);
	tcase_add_test(c, modes_that_need_slack_are_refused_without_it);
	tcase_add_test(c, what_one_agent_was_allowed_another_cannot_apply);
	tcase_add_test(c, a_new_agent_learns_of_what_was_open_when_everything_died);
	tcase_add_test(c, an_agent_on_http_gets_its_answer_after_a_stop_and_a_start);
	suite_add_tcase(s, c);
	return run_suite(s);
}
