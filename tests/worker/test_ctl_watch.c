/* agent-intercom-ctl watch: the real program, answered on a terminal and through a pipe. */
#include "ctl_case.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HOUR_MS = 3600000 };

/* ---- on a terminal ---- */

/* The milliseconds by which the clock of what is started from now on is moved. */
static volatile int64_t *movable_clock(void)
{
	static char path[96];
	void *page;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/clock", home);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert(fd >= 0 && ftruncate(fd, sizeof(int64_t)) == 0);
	page = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(page != MAP_FAILED);
	(void)close(fd);
	(void)setenv("INTERCOM_CLOCK_PAGE", path, 1);
	return page;
}

static void type(int fd, const char *text, const char *result)
{
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_msg(until_asked(fd, result), "'%s' is not in:\n%s", result, str_text(&out));
}

/* Waits until what is typed counts, by what answers nothing. */
static void wait_until_read(int fd)
{
	do
		type(fd, "?\n", "this question");
	while (strstr(str_text(&out), "too soon: "));
}

/* In these two the clock is moved back once a question is shown: so it stays new. */
START_TEST(what_is_typed_for_one_question_does_not_answer_the_next)
{
	volatile int64_t *moved = movable_clock();
	int fd;
	pid_t pid;

	given_questions();
	pid = on_terminal(&fd, "watch", NULL);
	ck_assert(until_asked(fd, "Add a line"));
	says("l later, q quit, then Enter");
	wait_until_read(fd);
	ck_assert_int_eq(write(fd, "y", 1), 1); /* not yet sent */
	shell("ctl $DB reject " CHANGE);
	ck_assert(until_asked(fd, "no longer waits: rejected by local:tester"));
	*moved = -HOUR_MS;
	type(fd, "\n", "too soon: ");
	*moved = 0;
	wait_until_read(fd);
	type(fd, "\n", "an answer, please");
	type(fd, "y\n", "approve: done");
	ck_assert_int_eq(write(fd, "q\n", 2), 2);
	ends(pid, &fd);
	ck_assert_int_eq(status, 0);
	expect("SELECT state FROM request WHERE kind = 'clearance' ORDER BY seq",
	       "rejected\napproved\n");
}
END_TEST

START_TEST(a_question_that_nobody_can_have_read_yet_is_not_answered)
{
	volatile int64_t *moved = movable_clock();
	int fd;
	pid_t pid;

	given_questions();
	pid = on_terminal(&fd, "watch", NULL);
	ck_assert(until_asked(fd, "Add a line"));
	wait_until_read(fd);
	shell("ctl $DB reject " CHANGE);
	ck_assert(until_asked(fd, "no longer waits: rejected by local:tester"));
	*moved = -HOUR_MS;
	type(fd, "y\n", "too soon: ");
	ck_assert_int_eq(write(fd, "not ", 4), 4); /* begun too soon, and so are its last words */
	*moved = 0;
	ck_assert(until_asked(fd, "too soon: "));
	*moved = -HOUR_MS;
	type(fd, "ok\n", "too soon: ");
	ck_assert_int_eq(write(fd, "q\n", 2), 2);
	ends(pid, &fd);
	ck_assert_int_eq(status, 0);
	expect("SELECT state FROM request WHERE kind = 'clearance' ORDER BY seq",
	       "rejected\npending\n");
}
END_TEST

/* ---- through a pipe ---- */

START_TEST(watch_takes_answers_from_a_pipe)
{
	given_questions();
	shell("printf 'r too long\\nyes\\nrefine use tabs\\nr\\n' | ctl $DB watch");
	ck_assert_msg(status == 0, "%s%s", str_text(&out), str_text(&err_out));
	says("  | +two\n");
	says("reject: done\n");
	says("Go on?  [prompt, pending]\n");
	expect("SELECT kind, state, decision, coalesce(reason, instruction) FROM request"
	       " ORDER BY seq",
	       "clearance|rejected|reject|too long\nclearance|approved|approve|\n"
	       "prompt|answered|refine|use tabs\nstandby|answered|resume|\n");
	expect("SELECT DISTINCT source, length(digest) FROM decision", "ctl|64\n");
}
END_TEST

START_TEST(watch_speaks_json)
{
	given_questions();
	shell("printf 'rno\\nn\\nc\\ns\\n' | ctl $DB watch --json");
	ck_assert_int_eq(status, 0);
	says("{\"question\":{\"id\":\"" CHANGE "\"");
	says("}}\n{\"answer\":{\"request_id\":\"" CHANGE
	     "\",\"decision\":\"reject\",\"applied\":true}}\n{\"question\":{\"id\":\"" CHANGE_2
	     "\"");
	expect("SELECT decision, reason FROM request ORDER BY seq",
	       "reject|no\nreject|rejected via local CLI\ncontinue|\nstop|\n");
}
END_TEST

START_TEST(watch_does_not_guess)
{
	given_questions();
	shell("printf 'yep\\nc\\n\\ny now\\nq\\ny\\n' | ctl $DB watch");
	ck_assert_int_eq(status, 1);
	says("that does not answer this question\n");
	says("an answer, please\n");
	expect("SELECT count(*) FROM decision", "0\n");
	shell("printf 'l\\nl\\nr\\ns\\n' | ctl $DB watch");
	ck_assert_int_eq(status, 1);
	says("refine needs a text: r TEXT\n");
	expect("SELECT request_id, verdict FROM decision", PROMPT "|stop\n");
}
END_TEST

START_TEST(watch_knows_the_words_that_slack_knows)
{
	given_questions();
	shell("printf 'approve but rename it\\nLGTM!\\n' | ctl $DB watch");
	says("that does not answer this question\n");
	says("approve: done\n");
}
END_TEST

START_TEST(watch_tells_what_the_rules_refuse)
{
	given_questions();
	given_remote_mode();
	shell("echo y | ctl $DB watch");
	ck_assert_int_eq(status, 1);
	says("not taken: not in this mode: the session is in remote mode: answer in Slack, or "
	     "switch with `mode hybrid --session 01900000-0000` first\n");
}
END_TEST

START_TEST(a_line_in_a_pipe_waits_for_its_question)
{
	given_sessions();
	shell("echo y | ctl $DB watch >$HOME/watched & await watched 'nothing waits'\n"
	      "sqlite3 " /* hands in the shell ring no bell */
	      "$HOME/state/intercom.db \"INSERT INTO request (id, session_seq, kind, state, digest,"
	      " title, body, file_path, risk_level, original_hash, created_at, updated_at) VALUES"
	      " ('" CHANGE "', 1, 'clearance', 'pending', printf('%064d', 1), 'x', 'y', 'f', 'low',"
	      " 'h', '" T "', '" T "')\"; wait; cat $HOME/watched");
	says("nothing waits for you; q and Enter quit\n");
	says("approve: done\n");
	expect("SELECT state FROM request", "approved\n");
}
END_TEST

START_TEST(watch_wakes_by_its_bell)
{
	given_questions();
	/* Each second it would look anyway. Of two times the quicker counts: the machine may be
	 * busy. */
	shell("gone() { ctl $DB reject $1 >&2; from=$(date +%s%3N); await watched \"gone.*$1\";"
	      " echo $(($(date +%s%3N) - from)) >>$HOME/took; }\n"
	      "(await watched question.*" CHANGE "; gone " CHANGE "; gone " CHANGE_2 ") |"
	      " ctl $DB watch --json >$HOME/watched 2>/dev/null && sort -n $HOME/took");
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strtol(str_text(&out), NULL, 10) < 500, "%s ms", str_text(&out));
}
END_TEST

START_TEST(watch_tells_once_of_an_agent_that_is_silent)
{
	static const char SILENT[] =
	    "INSERT INTO stall (id, session_seq, last_tool, last_activity_at, idle_seconds,"
	    " waits_since, created_at, updated_at) SELECT 'a' || seq, seq, 'ping', '" T "', 300,"
	    " '" T "', '" T "', '" T "' FROM session WHERE seq = 1";
	const char *told;

	given_questions();
	given("UPDATE session SET label = 'left' WHERE seq = 1");
	given(SILENT);
	shell("printf 'l\\nl\\nq\\n' | ctl $DB watch");
	ck_assert_int_eq(status, 0);
	says(" “left” in ");
	says(", since it called ping; agent-intercom-ctl nudge ");
	told = strstr(str_text(&out), "silent: ");
	ck_assert_ptr_nonnull(told);
	ck_assert_ptr_null(strstr(told + 1, "silent: "));
	shell("echo q | ctl $DB watch --json");
	says("{\"silent\":{\"session_id\":");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ctl_watch");
	TCase *watches = tcase_create("watches");

	tcase_add_checked_fixture(watches, setup, teardown);
	tcase_set_timeout(watches, 60);
	tcase_add_test(watches, what_is_typed_for_one_question_does_not_answer_the_next);
	tcase_add_test(watches, a_question_that_nobody_can_have_read_yet_is_not_answered);
	tcase_add_test(watches, watch_takes_answers_from_a_pipe);
	tcase_add_test(watches, watch_speaks_json);
	tcase_add_test(watches, watch_does_not_guess);
	tcase_add_test(watches, watch_knows_the_words_that_slack_knows);
	tcase_add_test(watches, watch_tells_what_the_rules_refuse);
	tcase_add_test(watches, a_line_in_a_pipe_waits_for_its_question);
	tcase_add_test(watches, watch_wakes_by_its_bell);
	tcase_add_test(watches, watch_tells_once_of_an_agent_that_is_silent);
	suite_add_tcase(s, watches);
	return run_suite(s);
}
