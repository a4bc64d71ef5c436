/* hand_message: what comes back from where an agent's files were read is taken only if it can be an
 * answer to the question. */
#include "hand.h"
#include "pack.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hand-test-XXXXXX";
static struct hand_ask ask;

static void put(const char *name, const char *text)
{
	FILE *f = fopen(below(folder, name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static const char *const NAMED[] = { "b.txt", "sub" };

/* A question with all that can be asked, whose answer is there. */
static void given_question(void)
{
	static const char DIFF[] = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n";

	(void)snprintf(folder, sizeof(folder), "/tmp/hand-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	put("a.txt", "one\ntwo\n");
	put("b.txt", "shown\n");
	ck_assert_int_eq(mkdir(below(folder, ".intercom"), 0755), 0);
	ck_assert_int_eq(mkdir(below(folder, "sub"), 0755), 0);
	put("sub/key.pem", "secret\n");
	put(".intercom/settings.json", "{\"enabled\":true}");
	ask = (struct hand_ask){ .root = folder,
		                 .judge = true,
		                 .policy = true,
		                 .file_path = "a.txt",
		                 .body = DIFF,
		                 .body_length = sizeof(DIFF) - 1,
		                 .named = NAMED,
		                 .named_count = COUNT(NAMED),
		                 .always_ask = "[\"*.pem\"]",
		                 .shown = { "b.txt", "missing.txt" },
		                 .shown_count = 2 };
}

static void remove_folder(void)
{
	ck_assert(remove_tree(folder));
}

/* The answer as a message without its length. */
static void answer(struct str *message)
{
	OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;
	OWNED(str) struct str whole = { 0 };

	hand_look_around(&ask, &found);
	hand_work(&ask, -1, &found);
	hand_found_write(&ask, &found, &whole);
	ck_assert_uint_eq(pack_length(whole.bytes), whole.length - PACK_HEAD_BYTES);
	str_add_bytes(message, whole.bytes + PACK_HEAD_BYTES, whole.length - PACK_HEAD_BYTES);
}

static int take(const struct str *message, struct hand_found *found)
{
	OWNED(str) struct str copy = { 0 };

	str_add_bytes(&copy, message->bytes, message->length);
	return hand_found_read(&ask, &copy, found);
}

static bool is_refused(const struct str *message)
{
	OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;

	return take(message, &found) != 0;
}

/* Puts other bytes of the same length in place of the first that are text. */
static void forge(struct str *message, const char *text, const char *other)
{
	char *at = memmem(message->bytes, message->length, text, strlen(text));

	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(strlen(text), strlen(other));
	memcpy(at, other, strlen(other));
}

START_TEST(an_answer_comes_back_as_it_was_found)
{
	OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;
	OWNED(str) struct str message = { 0 };

	given_question();
	answer(&message);
	ck_assert_int_eq(take(&message, &found), 0);
	ck_assert_str_eq(found.root, folder);
	ck_assert_ptr_null(found.why.code);
	ck_assert_uint_eq(found.plan.count, 1);
	ck_assert_str_eq(found.plan.files[0].is.path, "a.txt");
	ck_assert_str_eq(found.plan.files[0].is.action, "modify");
	ck_assert_ptr_nonnull(strstr(str_text(&found.effect), "-one\n+ONE\n"));
	ck_assert_str_eq(found.names[0].path, "b.txt");
	ck_assert_str_eq(str_text(&found.shown[0].bytes), "shown\n");
	ck_assert_ptr_nonnull(strstr(found.shown[1].why, "missing.txt"));
	ck_assert_str_eq(str_text(&found.policy.bytes), "{\"enabled\":true}");
	remove_folder();
}
END_TEST

START_TEST(a_question_arrives_as_it_was_asked)
{
	OWNED(str) struct str whole = { 0 };
	OWNED(str) struct str message = { 0 };
	struct hand_ask got = { .given = NULL };

	given_question();
	hand_ask_write(&ask, &whole);
	str_add_bytes(&message, whole.bytes + PACK_HEAD_BYTES, whole.length - PACK_HEAD_BYTES);
	ck_assert_int_eq(hand_ask_read(&message, &got), 0);
	ck_assert_str_eq(got.root, folder);
	ck_assert_uint_eq(got.body_length, ask.body_length);
	ck_assert_mem_eq(got.body, ask.body, ask.body_length);
	ck_assert_uint_eq(got.shown_count, 2);
	hand_ask_release(&got);
	remove_folder();
}
END_TEST

START_TEST(a_question_whose_text_goes_apart_names_its_length_only)
{
	OWNED(str) struct str whole = { 0 };
	OWNED(str) struct str message = { 0 };
	struct hand_ask got = { .given = NULL };

	given_question();
	ask.is_apart = true;
	hand_ask_write(&ask, &whole);
	ck_assert_ptr_null(memmem(whole.bytes, whole.length, ask.body, ask.body_length));
	str_add_bytes(&message, whole.bytes + PACK_HEAD_BYTES, whole.length - PACK_HEAD_BYTES);
	ck_assert_int_eq(hand_ask_read(&message, &got), 0);
	ck_assert(got.is_apart);
	ck_assert_uint_eq(got.body_length, ask.body_length);
	hand_ask_release(&got);
	ask.is_apart = false;
	remove_folder();
}
END_TEST

START_TEST(an_answer_that_ends_anywhere_else_is_refused)
{
	OWNED(str) struct str message = { 0 };

	given_question();
	answer(&message);
	for (size_t n = 0; n < message.length; n++) {
		struct str part = { .bytes = message.bytes, .length = n };

		ck_assert_msg(is_refused(&part), "cut after %zu bytes", n);
	}
	str_add_char(&message, 'x');
	ck_assert(is_refused(&message));
	remove_folder();
}
END_TEST

START_TEST(no_byte_of_an_answer_can_be_changed_into_a_crash)
{
	OWNED(str) struct str message = { 0 };

	given_question();
	answer(&message);
	for (size_t i = 0; i < message.length; i++)
		for (int bit = 0; bit < 8; bit++) {
			message.bytes[i] ^= (char)(1 << bit);
			(void)is_refused(&message); /* or it is another answer */
			message.bytes[i] ^= (char)(1 << bit);
		}
	ck_assert(!is_refused(&message));
	remove_folder();
}
END_TEST

START_TEST(names_outside_the_workspace_and_unknown_words_are_refused)
{
	static const struct {
		const char *said, *forged;
	} FORGERIES[] = {
		{ "a.txt", "../xt" },   { "a.txt", "/atxt" }, { "a.txt", ".git/" },
		{ "modify", "modufy" }, { "b.txt", "../xt" }, { "b.txt", "a\nbxt" },
	};

	given_question();
	for (size_t i = 0; i < COUNT(FORGERIES); i++) {
		OWNED(str) struct str message = { 0 };

		answer(&message);
		forge(&message, FORGERIES[i].said, FORGERIES[i].forged);
		ck_assert_msg(is_refused(&message), "%s as %s", FORGERIES[i].said,
		              FORGERIES[i].forged);
	}
	remove_folder();
}
END_TEST

START_TEST(an_answer_to_another_question_is_refused)
{
	OWNED(str) struct str message = { 0 };

	given_question();
	answer(&message);
	ask.shown_count = 1;
	ck_assert(is_refused(&message));
	ask.shown_count = 2;
	ask.policy = false;
	ck_assert(is_refused(&message));
	remove_folder();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hand message");
	TCase *c = tcase_create("hand message");

	tcase_add_test(c, an_answer_comes_back_as_it_was_found);
	tcase_add_test(c, a_question_arrives_as_it_was_asked);
	tcase_add_test(c, a_question_whose_text_goes_apart_names_its_length_only);
	tcase_add_test(c, an_answer_that_ends_anywhere_else_is_refused);
	tcase_add_test(c, no_byte_of_an_answer_can_be_changed_into_a_crash);
	tcase_add_test(c, names_outside_the_workspace_and_unknown_words_are_refused);
	tcase_add_test(c, an_answer_to_another_question_is_refused);
	suite_add_tcase(s, c);
	return run_suite(s);
}
