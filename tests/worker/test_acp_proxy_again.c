/* `agent-intercom acp`: what is asked again, because it is no longer what was shown. */
#include "acp_proxy_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char AGAIN[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"decision\":\"deny\","
                            "\"reason\":\"it has changed\",\"again\":true}}";

START_TEST(a_file_that_changes_meanwhile_is_asked_about_again)
{
	struct trio a = given_trio(NULL);
	const char *line = write_of(&a, "8", "a.txt", "mine");
	struct asked q;

	put_file(a.folder, "a.txt", "one");
	party_say(&a.agent, line);
	q = front_hears(&a);
	put_file(a.folder, "a.txt", "two");
	is_asked_once_more(&a, &q, line);
	trio_ends(&a, 0);
}
END_TEST

/* The front shows the file as it is now with each question. */
START_TEST(a_file_that_the_front_had_asked_about_again_is_not_asked_about_a_third_time)
{
	struct trio a = given_trio(NULL);
	const char *line = write_of(&a, "8", "a.txt", "mine");
	struct asked q, again;

	put_file(a.folder, "a.txt", "one");
	party_say(&a.agent, line);
	q = front_hears(&a);
	put_file(a.folder, "a.txt", "two");
	front_says(&q, AGAIN);
	again = front_hears(&a);
	front_decides(&again, "allow", "");
	hears(&a.editor, line);
	asked_clear(&q);
	asked_clear(&again);
	trio_ends(&a, 0);
}
END_TEST

/* What the editor is shown next is the permission with another id than the agent's; the token. */
static const char *is_shown_anew(struct trio *a)
{
	static char token[40];
	OWNED(char_ptr) char *line = party_hear(&a->editor);

	ck_assert_ptr_nonnull(line);
	has(line, "params.toolCall.rawInput.command", "npm test");
	ck_assert_int_eq(sscanf(line, "{\"id\":%38[-0-9a-f\"],", token), 1);
	return token;
}

START_TEST(an_answer_of_the_editor_is_not_one_to_what_is_asked_again)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "0"), again;
	const char *id;

	party_say(&a.editor, chosen("0", "always"));
	front_takes(&q, "approve", "applied");
	front_says(&q, AGAIN);
	again = front_hears(&a);
	front_asks(&again, true);
	id = is_shown_anew(&a);
	party_say(&a.editor, chosen("0", "always"));
	hears_nothing_but_marks(&a);
	party_say(&a.editor, chosen(id, "no"));
	front_takes(&again, "reject", "applied");
	front_decides(&again, "deny", "");
	hears(&a.agent, chosen("0", "no"));
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	asked_clear(&again);
	trio_ends(&a, 0);
}
END_TEST

/* Another call that is the same has used up the yes. */
START_TEST(a_no_of_the_editor_is_one_to_the_same_that_is_asked_again)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "0"), again;

	party_say(&a.editor, chosen("0", "no"));
	front_takes(&q, "reject", "duplicate");
	front_says(&q, AGAIN);
	again = front_hears(&a);
	front_asks(&again, true);
	front_takes(&again, "reject", "applied");
	front_decides(&again, "deny", "");
	hears(&a.agent, chosen("0", "no"));
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	asked_clear(&again);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_is_asked_again_has_a_dialog_of_its_own)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "0"), again;
	const char *id;

	front_says(&q, AGAIN);
	hears_part(&a.editor, "{\"requestId\":0}");
	again = front_hears(&a);
	front_asks(&again, true);
	id = is_shown_anew(&a);
	party_say(&a.editor, chosen("0", "yes")); /* too late */
	hears_nothing_but_marks(&a);
	party_say(&a.editor, chosen(id, "always"));
	front_takes(&again, "approve", "applied");
	front_decides(&again, "allow", "");
	hears(&a.agent, chosen("0", "always"));
	asked_clear(&q);
	asked_clear(&again);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_dialog_of_what_is_asked_again_is_closed_when_the_agent_cancels)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "0"), again;
	OWNED(str) struct str closed = { 0 };

	front_says(&q, AGAIN);
	hears_part(&a.editor, "{\"requestId\":0}");
	again = front_hears(&a);
	front_asks(&again, true);
	str_addf(&closed, "{\"requestId\":%s}", is_shown_anew(&a));
	party_say(&a.agent, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{"
	                    "\"requestId\":0}}");
	hears_part(&a.agent, "-32800");
	hears_part(&a.editor, closed.bytes);
	front_takes(&again, "withdraw", "applied");
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	asked_clear(&again);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_answer_that_a_dying_front_did_not_take_is_not_one_to_another_question)
{
	static const char ASKED[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"intercom/asked\",\"params\":{"
	    "\"editor\":true,\"digest\":\"%s\"}}";
	struct trio a = given_trio(NULL);
	struct asked q, again;
	OWNED(str) struct str first = { 0 }, second = { 0 };
	const char *id;

	str_addf(&first, ASKED, "aa");
	str_addf(&second, ASKED, "bb");
	party_say(&a.agent, permission("0", COMMAND));
	q = front_hears(&a);
	front_says(&q, first.bytes);
	hears(&a.editor, permission("0", COMMAND));
	asked_clear(&q);
	party_say(&a.editor, chosen("0", "yes"));
	hears_nothing_but_marks(&a);
	again = front_hears(&a);
	front_says(&again, second.bytes);
	id = is_shown_anew(&a);
	party_say(&a.editor, chosen(id, "no"));
	front_takes(&again, "reject", "applied");
	front_decides(&again, "deny", "");
	hears(&a.agent, chosen("0", "no"));
	asked_clear(&again);
	trio_ends(&a, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_again");
	TCase *c = tcase_create("acp_proxy_again");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_file_that_changes_meanwhile_is_asked_about_again);
	tcase_add_test(c,
	               a_file_that_the_front_had_asked_about_again_is_not_asked_about_a_third_time);
	tcase_add_test(c, an_answer_of_the_editor_is_not_one_to_what_is_asked_again);
	tcase_add_test(c, a_no_of_the_editor_is_one_to_the_same_that_is_asked_again);
	tcase_add_test(c, what_is_asked_again_has_a_dialog_of_its_own);
	tcase_add_test(c, a_dialog_of_what_is_asked_again_is_closed_when_the_agent_cancels);
	tcase_add_test(c, an_answer_that_a_dying_front_did_not_take_is_not_one_to_another_question);
	suite_add_tcase(s, c);
	return run_suite(s);
}
