/* agent-intercom-ctl: what a shortened id means, and how long a list prints it. */
#include "ctl_case.h"

/* Ids of sessions and questions that began within the same minute. */
#define NEAR_SESSION "01944444-2222-7000-8000-00000000000c"

#define NEAR_CHANGE "01944444-3333-7000-8000-000000000006"

/* Of the millisecond of STANDBY_A. */
#define SAME_INSTANT "01944444-0000-7100-8000-000000000007"

/* A third session, and a question about a change. */
static void given_near(void)
{
	given_sessions();
	given("INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      " client_name, created_at, updated_at) VALUES"
	      " ('" NEAR_SESSION "', 'h', 'local:tester', '/ws/c', 'active', 'local', 'claude',"
	      "  '" T "', '" T "');"
	      "INSERT INTO request (id, session_seq, kind, state, digest, title, body, file_path,"
	      " risk_level, original_hash, created_at, updated_at) VALUES"
	      " ('" NEAR_CHANGE "', 1, 'clearance', 'pending', printf('%064d', 5), 'Delete it',"
	      "  'int x;' || char(10), 'd.c', 'low', 'new_file', '" T "', '" T "')");
}

START_TEST(short_ids_are_as_long_as_they_must_be)
{
	given_sessions();
	given_standby(STANDBY_A, 1);
	given_standby(STANDBY_B, 2);
	given_changes();
	ctl("inbox --text");
	says("\n01944444-0000  ");
	says("\n01944444-1111  ");
	says("\n01911111-0000  ");
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, body, prompt_type,"
	      " created_at, updated_at) VALUES ('" SAME_INSTANT "', 1, 'prompt', 'pending',"
	      " printf('%064d', 6), 'Go on?', '', 'continuation', '" T "', '" T "')");
	ctl("inbox --text");
	says("\n01944444-0000-70  ");
	says("\n01944444-0000-71  ");
}
END_TEST

START_TEST(short_ids_of_a_session_and_of_a_question_tell_them_apart)
{
	given_near();
	given_standby(STANDBY_A, 1);
	ctl("list --text");
	says("\n01944444-2222  ");
	says("\n01900000-0000  ");
	ctl("inbox --text");
	says("\n01944444-0000  ");
	says("\n01944444-3333  ");
	ctl("stop 01944444-2");
	says("\"session_id\":\"" NEAR_SESSION "\",\"status\":\"done\"}\n");
}
END_TEST

START_TEST(ids_may_be_shortened_to_what_is_unambiguous)
{
	given_questions();
	given_standby(STANDBY_B, 2);
	ctl("approve 01911111");
	done("{\"request_id\":\"" CHANGE "\",\"status\":\"approved\"}\n");
	ctl("stop 01944444");
	failed(1, "several questions have an id that begins with this; name one, `stop <id>`:\n"
	          "  01944444-0000-7000: Ready, claude in a\n"
	          "  01944444-1111-7000: Ready, agent in b\n");
	ctl("stop 01944444-1");
	done("{\"request_id\":\"" STANDBY_B "\",\"status\":\"answered\",\"decision\":\"stop\"}\n");
	ctl("approve 019");
	failed(1, "'019' is too short for an id");
	ctl("approve 0199");
	failed(1, "not found: no question has an id that begins with '0199'");
	ctl("approve ''");
	failed(64, "was given an empty word");
}
END_TEST

START_TEST(a_short_id_of_a_session_and_of_a_question_stops_neither)
{
	given_near();
	given_standby(STANDBY_A, 1);
	ctl("stop 01944444");
	failed(1,
	       "sessions and questions have an id that begins with this; name one, `stop <id>`:\n"
	       "sessions:\n"
	       "  01944444-2222-7000, claude in c\n"
	       "questions:\n"
	       "  01944444-0000-7000: Ready, claude in a\n");
	ctl("resume 01944444 go");
	failed(1, "sessions and questions have an id that begins with this; name one, "
	          "`resume <id>`:\n");
	expect("SELECT state FROM request WHERE kind = 'standby'", "pending\n");
	expect("SELECT status FROM session WHERE seq = 3", "active\n");
	ctl("stop 01944444-0");
	done("{\"request_id\":\"" STANDBY_A "\",\"status\":\"answered\",\"decision\":\"stop\"}\n");
	ctl("stop 01944444");
	failed(1, "  01944444-0000-7000: Ready, claude in a\n");
	ctl("stop " NEAR_SESSION);
	says("\"session_id\":\"" NEAR_SESSION "\",\"status\":\"done\"}\n");
}
END_TEST

START_TEST(a_short_id_that_a_question_of_another_kind_has_ends_no_session)
{
	given_near();
	ctl("stop 01944444");
	failed(1, "questions:\n"
	          "  01944444-3333-7000: Delete it (d.c), claude in a\n");
	expect("SELECT status FROM session WHERE seq = 3", "active\n");
}
END_TEST

START_TEST(a_short_id_of_two_sessions_does_not_resume_the_one_that_stands_by)
{
	given_sessions();
	given_standby(STANDBY_A, 1);
	ctl("resume 01900000 go");
	failed(1, "several sessions have an id that begins with this; name one, `resume <id>`:\n");
	expect("SELECT state FROM request", "pending\n");
	ctl("resume 01900000-0 go");
	done("{\"session_id\":\"" SESSION_A "\",\"status\":\"resumed\"}\n");
}
END_TEST

START_TEST(resume_takes_a_request_or_a_session)
{
	given_sessions();
	given_standby(STANDBY_A, 1);
	given_standby(STANDBY_B, 2);
	ctl("resume");
	failed(1, "several questions wait for this; name one, `resume <id>`:\n"
	          "  01944444-0000-7000: Ready, claude in a\n"
	          "  01944444-1111-7000: Ready, agent in b\n");
	ctl("resume 01944444 go");
	failed(1, "several questions have an id that begins with this");
	ctl("resume " SESSION_B " go");
	done("{\"session_id\":\"" SESSION_B "\",\"status\":\"resumed\"}\n");
	ctl("resume 01900000-1111 go");
	failed(1, "the session is active");
	ctl("resume " STANDBY_B " go");
	failed(1, "already answered with 'resume' by local:tester");
	ctl("resume 01944444-0 write tests");
	done("{\"session_id\":\"" SESSION_A "\",\"status\":\"resumed\"}\n");
	expect("SELECT instruction FROM request ORDER BY seq", "write tests\ngo\n");
}
END_TEST

START_TEST(an_id_that_fits_nothing_is_not_taken_for_an_instruction)
{
	given_questions();
	ctl("resume 01977777-0000-7000-8000-000000000004 write tests");
	failed(1, "not found: no question has an id that begins with '01977777-");
	expect("SELECT state FROM request WHERE kind = 'standby'", "pending\n");
}
END_TEST

START_TEST(who_says_something_to_a_question_is_told_that_it_is_one_and_of_which_session)
{
	given_questions();
	ctl("steer " CHANGE " use tabs");
	failed(1, "there is no such session; a question has an id that begins with this:\n"
	          "  01911111-0000-7000: Add a line (a.c), claude in a\n"
	          "its session is 01900000-0000\n");
	ctl("nudge 01933333 go on");
	failed(1, "a question has an id that begins with this:\n"
	          "  01933333-0000-7000: Go on?, claude in a\n");
	ctl("steer 01977777 use tabs");
	failed(1, "there is no such session\n");
	expect("SELECT DISTINCT outcome FROM steering", "not_found\n");
}
END_TEST

START_TEST(blanks_around_an_id_are_no_part_of_it)
{
	given_questions();
	ctl("show ' 01911111-0'");
	ck_assert_int_eq(status, 0);
	ctl("approve ' " CHANGE " '");
	done("{\"request_id\":\"" CHANGE "\",\"status\":\"approved\"}\n");
	ctl("continue ' " PROMPT "'");
	done("{\"request_id\":\"" PROMPT "\",\"status\":\"answered\",\"decision\":\"continue\"}\n");
	ctl("session pause ' " SESSION_A "\t'");
	ck_assert_int_eq(status, 0);
	ctl("mode local --session ' " SESSION_A "'");
	ck_assert_int_eq(status, 0);
	ctl("transcript ' " SESSION_A "'");
	ck_assert_int_eq(status, 0);
	ctl("session clear ' '");
	failed(1, "not found");
	expect("SELECT count(*) FROM session WHERE status = 'terminated'", "0\n");
}
END_TEST

START_TEST(an_order_without_an_id_is_for_the_only_session_that_takes_it)
{
	given_sessions();
	ctl("session clear");
	failed(1, "several sessions are live here; name one, `session-clear <id>`:\n"
	          "  01900000-1111-7000, agent in b\n"
	          "  01900000-0000-7000, claude in a\n");
	expect("SELECT count(*) FROM command", "0\n");
	ctl("session pause " SESSION_A);
	ctl("session pause --text");
	done("Session 01900000-1111 (agent in b) is paused.\n");
	ctl("session resume " SESSION_A);
	ctl("session resume --text");
	done("Session 01900000-1111 (agent in b) is active again.\n");
	ctl("session clear " SESSION_B);
	ctl("session-clear --text");
	done("Session 01900000-0000 (claude in a) is stopped.\n");
	ctl("session restart");
	failed(1, "no session is live; `session start PROMPT` starts one");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ctl_ids");
	TCase *ids = tcase_create("ids");

	tcase_add_checked_fixture(ids, setup, teardown);
	tcase_set_timeout(ids, 60);
	tcase_add_test(ids, short_ids_are_as_long_as_they_must_be);
	tcase_add_test(ids, short_ids_of_a_session_and_of_a_question_tell_them_apart);
	tcase_add_test(ids, ids_may_be_shortened_to_what_is_unambiguous);
	tcase_add_test(ids, a_short_id_of_a_session_and_of_a_question_stops_neither);
	tcase_add_test(ids, a_short_id_that_a_question_of_another_kind_has_ends_no_session);
	tcase_add_test(ids, a_short_id_of_two_sessions_does_not_resume_the_one_that_stands_by);
	tcase_add_test(ids, resume_takes_a_request_or_a_session);
	tcase_add_test(ids, an_id_that_fits_nothing_is_not_taken_for_an_instruction);
	tcase_add_test(
	    ids, who_says_something_to_a_question_is_told_that_it_is_one_and_of_which_session);
	tcase_add_test(ids, blanks_around_an_id_are_no_part_of_it);
	tcase_add_test(ids, an_order_without_an_id_is_for_the_only_session_that_takes_it);
	suite_add_tcase(s, ids);
	return run_suite(s);
}
