/* The fake Slack's own rules, where no client of Slack's looks: limits, triggers, the ack police. A
 * judge that finds nothing wrong with anybody is worth nothing. */
#include "fake_slack_case.h"

/* ---- tickets and sockets ---- */

START_TEST(a_socket_url_is_for_one_connection_and_a_short_time)
{
	struct client c;

	start();
	OWNED(char_ptr) char *used = client_path();
	OWNED(char_ptr) char *old = client_path();

	ck_assert_int_eq(client_try(&c, used), 101);
	client_close(&c);
	ck_assert_int_eq(client_try(&c, used), 404);
	client_close(&c);
	advance(31 * SECOND);
	ck_assert_int_eq(client_try(&c, old), 404);
	client_close(&c);
	slack_set("{'stale_ticket': '1008'}");
	ck_assert_int_eq(client_try(&c, "/link/?ticket=none"), 101);
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1008);
	client_close(&c);
	slack_expect_faults("ticket_again\n");
	slack_stop();
}
END_TEST

START_TEST(a_hello_comes_late_never_or_twice)
{
	struct client c;

	start();
	slack_set("{'hello': 'late', 'hello_delay_ms': 4000, 'ping_every_ms': 0}");
	OWNED(char_ptr) char *late = client_path();
	ck_assert_int_eq(client_try(&c, late), 101);
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	advance(4 * SECOND);
	OWNED(char_ptr) char *hello = client_message(&c);
	has(hello, "type", "hello");
	has(hello, "num_connections", "1");
	client_close(&c);
	slack_wait_for("close");

	slack_set("{'hello': 'never'}");
	OWNED(char_ptr) char *never = client_path();
	ck_assert_int_eq(client_try(&c, never), 101);
	advance(MINUTE);
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	client_close(&c);
	slack_wait_for("close");

	slack_set("{'hello': 'twice'}");
	client_open(&c);
	OWNED(char_ptr) char *second = client_message(&c);
	has(second, "type", "hello");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(it_pings_every_five_seconds_and_closes_ten_seconds_after_a_warning)
{
	struct client c;

	start();
	client_open(&c);
	advance(5 * SECOND);
	ck_assert(!client_hears_nothing(&c, AGENT_PATIENCE_MS));
	slack_socket("{'do': 'disconnect', 'reason': 'warning'}");
	OWNED(char_ptr) char *warning = client_message(&c);
	ck_assert_int_eq(c.pings, 1);
	has(warning, "reason", "warning");
	(void)slack_deliver("{'slash': {'text': 'still here'}}");
	OWNED(char_ptr) char *envelope = client_message(&c);
	client_ack(&c, member(envelope, "envelope_id"), NULL);
	slack_wait_for("ack");
	advance(10 * SECOND);
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1000);
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(a_socket_can_be_cut_fall_silent_or_stay_open_after_its_close)
{
	static const uint8_t NORMAL[] = { 0x03, 0xE8 };
	struct client c;

	start();
	client_open(&c);
	slack_socket("{'do': 'cut'}");
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1006);
	client_close(&c);

	client_open(&c);
	slack_socket("{'do': 'close', 'code': 1011, 'keep_tcp': true}");
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1011);
	client_frame(&c, WSLAY_CONNECTION_CLOSE, true, NORMAL, sizeof(NORMAL));
	slack_wait_for("closing");
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	client_close(&c);

	client_open(&c);
	slack_socket("{'do': 'silence'}");
	(void)slack_deliver("{'slash': {'text': 'into nothing'}}");
	advance(MINUTE);
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(the_eleventh_socket_is_one_too_many)
{
	struct client c[11];
	OWNED(char_ptr) char *path = NULL;

	start();
	for (int i = 0; i < 10; i++)
		client_open(&c[i]);
	path = client_path();
	ck_assert_int_eq(client_try(&c[10], path), 101);
	OWNED(char_ptr) char *answer = client_message(&c[10]);
	has(answer, "reason", "too_many_websockets");
	for (int i = 0; i < 11; i++)
		client_close(&c[i]);
	slack_stop();
}
END_TEST

START_TEST(debug_reconnects_refreshes_after_six_minutes)
{
	struct client c;
	OWNED(str) struct str path = { 0 };

	start();
	OWNED(char_ptr) char *plain = client_path();
	str_addf(&path, "%s&debug_reconnects=true", plain);
	ck_assert_int_eq(client_try(&c, path.bytes), 101);
	OWNED(char_ptr) char *hello = client_message(&c);
	advance(6 * MINUTE);
	OWNED(char_ptr) char *refresh = client_message(&c);
	has(refresh, "reason", "refresh_requested");
	client_close(&c);
	slack_stop();
}
END_TEST

/* ---- the ack police ---- */

/* Delivers to an open client and reads the envelope: its id, which stays as the answer does. */
static const char *receive(struct client *c, const char *order)
{
	const char *id = member(slack_deliver("%s", order), "envelope_id");
	OWNED(char_ptr) char *envelope = client_message(c);

	has(envelope, "envelope_id", id);
	return id;
}

static const char SLASH[] = "{'slash': {'text': 'x'}}";

static const char EVENT[] = "{'message': {'text': 'x'}}";

START_TEST(a_good_ack_is_no_fault)
{
	struct client c;

	start();
	client_open(&c);
	client_ack(&c, receive(&c, SLASH), "{\"text\":\"hello\"}");
	client_ack(&c, receive(&c, EVENT), NULL);
	client_ack(&c, receive(&c, EVENT), "{}");
	slack_expect_calls("apps.connections.open\nack\nack\nack\n");
	advance(MINUTE);
	has(slack_ask("sockets"), "sockets.0.unacked", "0");
	slack_expect_faults("");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(an_ack_after_three_seconds_is_late_and_none_is_too)
{
	struct client c;
	const char *id;

	start();
	slack_set("{'ack_within_ms': 3000}");
	client_open(&c);
	id = receive(&c, SLASH);
	advance(3 * SECOND - 500);
	slack_expect_faults("");
	advance(SECOND);
	client_ack(&c, id, NULL);
	slack_wait_for("ack");
	slack_expect_faults("ack_late\n");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(acks_that_are_wrong_are_found_each_by_its_rule)
{
	struct client c;
	const char *id;

	start();
	client_open(&c);
	id = receive(&c, SLASH);
	client_ack(&c, id, NULL);
	client_ack(&c, id, NULL);
	client_ack(&c, "no-such-envelope", NULL);
	client_ack(&c, receive(&c, EVENT), "{\"text\":\"x\"}");
	client_say(&c, "{\"envelope_id\":");
	client_say(&c, "{\"payload\":{}}");
	client_frame(&c, WSLAY_BINARY_FRAME, true, "{}", 2);
	client_close(&c);
	slack_wait_for("close");
	client_open(&c);
	c.bare = true; /* from its first frame on: wslay goes on with a mask it once had */
	client_ack(&c, receive(&c, SLASH), NULL);
	slack_expect_calls("apps.connections.open\nack\nack\nack\nack\n"
	                   "apps.connections.open\nack\n");
	slack_expect_faults("ack_twice\nack_unknown\nack_payload_not_allowed\nack_unparseable\n"
	                    "ack_unparseable\nframe_kind\nack_unparseable\nframe_kind\n");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(an_ack_in_two_frames_is_lost)
{
	struct client c;
	OWNED(str) struct str ack = { 0 };

	start();
	client_open(&c);
	str_addf(&ack, "{\"envelope_id\":\"%s\"}", receive(&c, SLASH));
	client_frame(&c, WSLAY_TEXT_FRAME, false, ack.bytes, 10);
	client_frame(&c, WSLAY_CONTINUATION_FRAME, true, ack.bytes + 10, ack.length - 10);
	client_ack(&c, receive(&c, SLASH), NULL);
	slack_wait_for("ack");
	has(slack_ask("sockets"), "sockets.0.unacked", "1");
	slack_expect_faults("ack_fragmented\n");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(a_frame_of_20480_bytes_is_taken_and_one_more_closes_with_1009)
{
	OWNED(char_ptr) char *room = written_out("@20480@");
	OWNED(str) struct str ack = { 0 };
	struct client c;

	start();
	client_open(&c);
	str_addf(&ack, "{\"envelope_id\":\"%s\",\"payload\":{\"a\":\"", receive(&c, SLASH));
	str_add_bytes(&ack, room, 20480 - ack.length - strlen("\"}}"));
	str_add(&ack, "\"}}");
	ck_assert_int_eq(ack.length, 20480);
	client_say(&c, ack.bytes);
	slack_wait_for("ack");
	slack_expect_faults("");
	str_add(&ack, " ");
	client_say(&c, ack.bytes);
	ck_assert_ptr_null(client_message(&c));
	ck_assert_int_eq(c.code, 1009);
	slack_expect_faults("ack_too_large\n");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(an_ack_on_another_socket_does_not_count)
{
	struct client a, b;

	start();
	client_open(&a);
	client_open(&b);
	client_ack(&b, receive(&a, SLASH), NULL);
	slack_wait_for("ack");
	has(slack_ask("sockets"), "sockets.0.unacked", "1");
	slack_expect_faults("ack_wrong_socket\n");
	client_close(&a);
	client_close(&b);
	slack_stop();
}
END_TEST

START_TEST(errors_in_an_ack_name_input_blocks_and_a_view_in_it_must_fit)
{
	static const char FORM[] =
	    "{\"type\":\"modal\"," TITLE ",\"submit\":{\"type\":\"plain_text\",\"text\":\"s\"},"
	    "\"blocks\":[{\"type\":\"divider\",\"block_id\":\"line\"},{\"type\":\"input\","
	    "\"block_id\":\"in\",\"label\":{\"type\":\"plain_text\",\"text\":\"l\"},"
	    "\"element\":{\"type\":\"plain_text_input\",\"action_id\":\"a\"}}]}";
	static const char SUBMIT[] = "{'submit': {'values': {'in': {'a': 'text'}}}}";
	struct client c;
	const char *answer;

	start();
	client_open(&c);
	answer = slack_deliver("%s", SLASH);
	taken(open_view(member(answer, "trigger_id"), FORM));
	OWNED(char_ptr) char *envelope = client_message(&c);
	client_ack(&c, member(envelope, "envelope_id"), NULL);
	client_ack(&c, receive(&c, SUBMIT),
	           "{\"response_action\":\"errors\",\"errors\":{\"in\":\"no\"}}");
	slack_wait_for("ack");
	slack_wait_for("ack");
	slack_expect_faults("");
	client_ack(&c, receive(&c, SUBMIT),
	           "{\"response_action\":\"errors\",\"errors\":{\"line\":\"no\"}}");
	client_ack(&c, receive(&c, SUBMIT), "{\"response_action\":\"push\",\"view\":{}}");
	client_ack(&c, receive(&c, SUBMIT), "{\"response_action\":\"push\",\"view\":" MODAL "}");
	slack_wait_for("ack");
	slack_wait_for("ack");
	slack_wait_for("ack");
	slack_expect_faults("ack_errors_keys\nack_view\n");
	answer = slack_ask("views");
	has(answer, "views.1.previous_view_id", member(answer, "views.0.id"));
	client_close(&c);
	slack_stop();
}
END_TEST

/* ---- redelivery ---- */

START_TEST(what_finds_no_socket_waits_for_the_next_hello)
{
	struct client c;
	const char *id;

	start();
	id = member(slack_deliver("%s", SLASH), "envelope_id");
	client_open(&c);
	OWNED(char_ptr) char *envelope = client_message(&c);
	has(envelope, "envelope_id", id);
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(what_was_not_acked_comes_again_with_the_same_id_or_a_new_one)
{
	struct client c;
	const char *id;

	start();
	slack_set("{'redeliver': 'same'}");
	client_open(&c);
	id = receive(&c, EVENT);
	client_close(&c);
	slack_wait_for("close");
	client_open(&c);
	OWNED(char_ptr) char *again = client_message(&c);
	has(again, "envelope_id", id);
	has(again, "retry_attempt", "1");
	slack_set("{'redeliver': 'new'}");
	client_close(&c);
	slack_wait_for("close");
	client_open(&c);
	OWNED(char_ptr) char *third = client_message(&c);
	ck_assert_str_ne(member(third, "envelope_id"), id);
	has(third, "payload.event_id", member(again, "payload.event_id"));
	has(third, "retry_attempt", "2");
	client_ack(&c, member(third, "envelope_id"), NULL);
	slack_wait_for("ack");
	client_close(&c);
	slack_wait_for("close");
	client_open(&c);
	ck_assert(client_hears_nothing(&c, A_MOMENT_MS));
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(an_upgrade_can_be_refused)
{
	struct client c;

	start();
	slack_fault("{'name': 'link', 'what': 'status', 'status': 502}");
	OWNED(char_ptr) char *path = client_path();
	ck_assert_int_eq(client_try(&c, path), 502);
	client_close(&c);
	slack_wait_for("refused");
	ck_assert_int_eq(client_try(&c, path), 101);
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(a_test_can_send_an_envelope_again_at_will)
{
	struct client a, b;
	const char *id;

	start();
	client_open(&a);
	id = receive(&a, EVENT);
	client_ack(&a, id, NULL);
	client_open(&b);
	(void)slack_order("redeliver", "{'envelope_id': '%s', 'socket': 2, 'retry_attempt': 3}",
	                  id);
	OWNED(char_ptr) char *same = client_message(&b);
	has(same, "envelope_id", id);
	has(same, "retry_attempt", "3");
	has(same, "retry_reason", "timeout");
	client_ack(&b, member(same, "envelope_id"), NULL);
	(void)slack_order("redeliver", "{'envelope_id': '%s', 'socket': 2, 'new_id': true}",
	                  member(same, "envelope_id"));
	OWNED(char_ptr) char *other = client_message(&b);
	ck_assert_str_ne(member(other, "envelope_id"), member(same, "envelope_id"));
	client_close(&a);
	client_close(&b);
	slack_stop();
}
END_TEST

START_TEST(envelopes_come_in_pieces_large_unknown_and_unparseable)
{
	struct client c;

	start();
	client_open(&c);
	(void)slack_deliver("{'slash': {'text': 'x'}, 'pad': 200000, 'fragments': 5}");
	OWNED(char_ptr) char *large = client_message(&c);
	ck_assert_uint_eq(strlen(member(large, "payload.unknown_member")), 200000);
	(void)slack_deliver("{'envelope': {'type': 'new', 'envelope_id': 'e-1', 'payload': null}}");
	OWNED(char_ptr) char *unknown = client_message(&c);
	has(unknown, "envelope_id", "e-1");
	(void)slack_deliver("{'raw': '{\\'envelope_id\\':'}");
	OWNED(char_ptr) char *broken = client_message(&c);
	ck_assert_str_eq(broken, "{\"envelope_id\":");
	(void)slack_deliver("{'slash': {'text': 'x'}, 'payload': {'user_id': null, 'more': 1}}");
	OWNED(char_ptr) char *changed = client_message(&c);
	ck_assert_ptr_nonnull(strstr(changed, "\"user_id\":null"));
	has(changed, "payload.more", "1");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(what_our_bot_posts_and_changes_comes_back_as_events_if_the_test_wants)
{
	struct client c;

	start();
	slack_set("{'message_events': true}");
	client_open(&c);
	const char *ts = post("x");
	OWNED(char_ptr) char *posted = client_message(&c);
	has(posted, "payload.event.bot_id", "B01BOT");
	taken(
	    callf("chat.update", "{\"channel\":\"" AGENTS "\",\"ts\":\"%s\",\"text\":\"y\"}", ts));
	OWNED(char_ptr) char *changed = client_message(&c);
	has(changed, "payload.event.subtype", "message_changed");
	has(changed, "payload.event.previous_message.text", "x");
	has(changed, "payload.event.message.text", "y");
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(a_file_that_is_shared_comes_back_as_an_event_if_the_test_wants)
{
	struct client c;
	int status;

	start();
	slack_set("{'share_events': true}");
	client_open(&c);
	OWNED(char_ptr)
	char *ask =
	    exchange("/api/files.getUploadURLExternal", SLACK_FAKE_BOT_TOKEN,
	             "application/x-www-form-urlencoded", "filename=a.diff&length=3", &status);
	OWNED(char_ptr)
	char *sent = exchange(strstr(member(ask, "upload_url"), "/upload/"), NULL,
	                      "application/octet-stream", "123", &status);
	ck_assert_str_eq(sent, "OK - 3");
	taken(callf("files.completeUploadExternal",
	            "{\"files\":[{\"id\":\"%s\"}],\"channel_id\":\"" AGENTS "\"}",
	            member(ask, "file_id")));
	OWNED(char_ptr) char *shared = client_message(&c);
	has(shared, "payload.event.subtype", "file_share");
	has(shared, "payload.event.files.0.id", member(ask, "file_id"));
	client_close(&c);
	slack_stop();
}
END_TEST

START_TEST(copies_want_as_many_acks)
{
	struct client c;
	const char *id;

	start();
	client_open(&c);
	id = receive(&c, "{'slash': {'text': 'x'}, 'copies': 2}");
	OWNED(char_ptr) char *copy = client_message(&c);
	has(copy, "envelope_id", id);
	client_ack(&c, id, NULL);
	client_ack(&c, id, NULL);
	slack_expect_calls("apps.connections.open\nack\nack\n");
	has(slack_ask("sockets"), "sockets.0.unacked", "0");
	client_close(&c);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fake_slack_socket");
	TCase *c = tcase_create("fake_slack");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_add_test(c, a_socket_url_is_for_one_connection_and_a_short_time);
	tcase_add_test(c, a_hello_comes_late_never_or_twice);
	tcase_add_test(c, it_pings_every_five_seconds_and_closes_ten_seconds_after_a_warning);
	tcase_add_test(c, a_socket_can_be_cut_fall_silent_or_stay_open_after_its_close);
	tcase_add_test(c, the_eleventh_socket_is_one_too_many);
	tcase_add_test(c, debug_reconnects_refreshes_after_six_minutes);
	tcase_add_test(c, a_good_ack_is_no_fault);
	tcase_add_test(c, an_ack_after_three_seconds_is_late_and_none_is_too);
	tcase_add_test(c, acks_that_are_wrong_are_found_each_by_its_rule);
	tcase_add_test(c, an_ack_in_two_frames_is_lost);
	tcase_add_test(c, a_frame_of_20480_bytes_is_taken_and_one_more_closes_with_1009);
	tcase_add_test(c, an_ack_on_another_socket_does_not_count);
	tcase_add_test(c, errors_in_an_ack_name_input_blocks_and_a_view_in_it_must_fit);
	tcase_add_test(c, what_finds_no_socket_waits_for_the_next_hello);
	tcase_add_test(c, what_was_not_acked_comes_again_with_the_same_id_or_a_new_one);
	tcase_add_test(c, an_upgrade_can_be_refused);
	tcase_add_test(c, a_test_can_send_an_envelope_again_at_will);
	tcase_add_test(c, envelopes_come_in_pieces_large_unknown_and_unparseable);
	tcase_add_test(c, what_our_bot_posts_and_changes_comes_back_as_events_if_the_test_wants);
	tcase_add_test(c, a_file_that_is_shared_comes_back_as_an_event_if_the_test_wants);
	tcase_add_test(c, copies_want_as_many_acks);
	suite_add_tcase(s, c);
	return run_suite(s);
}
