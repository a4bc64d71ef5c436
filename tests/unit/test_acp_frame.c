/* frame, peek: whatever pieces the bytes come in, the messages are the same; of one that is too
 * long id and method are known. */
#include "frame.h"

#include "err.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 60 };

/* "bytes|" for each message, "over id method|" for one that is too long. */
static bool take(void *arg, const char *bytes, size_t length, const struct json_peek *over)
{
	struct str *out = arg;

	if (over) {
		str_addf(out, "over %s %s|", over->id, over->method);
	} else {
		ck_assert_uint_eq(strlen(bytes), length);
		str_addf(out, "%s|", bytes);
	}
	return true;
}

static void become_in_pieces(enum acp_framing framing, const char *bytes, size_t piece,
                             const char *expected)
{
	OWNED(str) struct str out = { 0 };
	struct acp_frame f = ACP_FRAME_INIT(framing, MOST);
	size_t length = strlen(bytes);

	for (size_t i = 0; i < length; i += piece) {
		size_t n = length - i < piece ? length - i : piece;
		char *copy = xmalloc(n); /* of its own: asan sees a byte read beyond it */

		memcpy(copy, bytes + i, n);
		ck_assert(acp_frame_feed(&f, copy, n, take, &out));
		free(copy);
	}
	ck_assert(acp_frame_end(&f, take, &out));
	ck_assert_msg(strcmp(str_text(&out), expected) == 0, "in pieces of %zu: %s, not %s", piece,
	              str_text(&out), expected);
}

static void become(enum acp_framing framing, const char *bytes, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(bytes); piece++)
		become_in_pieces(framing, bytes, piece, expected);
}

START_TEST(messages_do_not_depend_on_the_pieces_they_come_in)
{
	become(ACP_NDJSON, "{\"a\":1}\n{\"b\":2}\r\n\n  \n{\"c\":\"\xC3\xA4\"}",
	       "{\"a\":1}|{\"b\":2}|{\"c\":\"\xC3\xA4\"}|");
	become(ACP_LSP,
	       "Content-Length: 7\r\n\r\n{\"a\":1}content-length:8\nContent-Type: x\n\n{\"b\":\n2}",
	       "{\"a\":1}|{\"b\":\n2}|");
}
END_TEST

START_TEST(of_a_message_that_is_too_long_id_and_method_are_known_wherever_they_stand)
{
#define LONG                                                                                       \
	"\"params\":{\"id\":9,\"t\":[\"}]\\\"{\",\"0123456789012345678901234567890123456789\"]}"
	become(ACP_NDJSON, "{\"id\":0,\"method\":\"m\"," LONG "}\n{}\n", "over 0 m|{}|");
	become(ACP_NDJSON, "{" LONG ",\"method\":\"m\",\"id\":\"a\\\"b\"}\n{}\n",
	       "over \"a\\\"b\" m|{}|");
	become(ACP_NDJSON, "{" LONG " , \"\\u0069d\" : -7 , \"method\":\"fs\\/read\"}",
	       "over -7 fs/read|");
	become(ACP_NDJSON, "{\"method\":\"m\"," LONG "}\n", "over  m|");
	become(ACP_NDJSON, "{\"id\":{\"id\":4}," LONG "}\n", "over  |");
#undef LONG
}
END_TEST

START_TEST(a_body_that_is_too_long_ends_where_its_length_says)
{
	become(ACP_LSP,
	       "Content-Length: 71\r\n\r\n"
	       "{\"id\":3,\"method\":\"m\",\"p\":\"\n012345678901234567890123456789012345678901\"}"
	       "Content-Length: 2\r\n\r\n{}",
	       "over 3 m|{}|");
}
END_TEST

START_TEST(a_line_that_is_no_header_is_handed_over_as_it_is)
{
	become(ACP_LSP, "hello world\nContent-Length: 2\n\n{}", "hello world|{}|");
	become(ACP_LSP, "Content-Length: 12345678901\n\n{}\n", "{}|");
	become(ACP_LSP, "Content-Length: 2x\n\n", "");
}
END_TEST

START_TEST(a_body_that_is_cut_off_is_no_message)
{
	become(ACP_LSP, "Content-Length: 5\r\n\r\n{}", "");
}
END_TEST

START_TEST(a_u0000_is_noticed_unless_its_backslash_is_text)
{
	static const struct {
		const char *json;
		bool has_nul;
	} CASES[] = {
		{ "{\"a\":\"x\\u0000y\"}", true },
		{ "{\"a\":{\"b\":[\"\\\\\\u0000\"]}}", true },
		{ "{\"a\":\"x\\\\u0000y\"}", false },
		{ "{\"a\":\"\\u0001\\u000a\",\"u0000\":1}", false },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct json_peek p = { 0 };

		json_peek_feed(&p, CASES[i].json, strlen(CASES[i].json));
		ck_assert_msg(p.has_nul == CASES[i].has_nul, "%s", CASES[i].json);
	}
}
END_TEST

START_TEST(an_id_that_is_longer_than_any_is_not_taken)
{
	OWNED(str) struct str json = { 0 };
	struct json_peek p = { 0 };

	str_add(&json, "{\"id\":\"");
	for (int i = 0; i < JSON_TOKEN_BYTES; i++)
		str_add_char(&json, 'x');
	str_add(&json, "\",\"method\":\"m\"}");
	json_peek_feed(&p, json.bytes, json.length);

	ck_assert_str_eq(p.id, "");
	ck_assert_str_eq(p.method, "m");
}
END_TEST

START_TEST(what_is_sent_is_what_is_read)
{
	for (int framing = ACP_NDJSON; framing <= ACP_LSP; framing++) {
		OWNED(str) struct str out = { 0 };

		acp_frame_add(&out, (enum acp_framing)framing, "{\"a\":1}");
		acp_frame_add(&out, (enum acp_framing)framing, "{\"b\":2}");
		become((enum acp_framing)framing, out.bytes, "{\"a\":1}|{\"b\":2}|");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_frame");
	TCase *c = tcase_create("acp_frame");

	tcase_add_test(c, messages_do_not_depend_on_the_pieces_they_come_in);
	tcase_add_test(c,
	               of_a_message_that_is_too_long_id_and_method_are_known_wherever_they_stand);
	tcase_add_test(c, a_body_that_is_too_long_ends_where_its_length_says);
	tcase_add_test(c, a_line_that_is_no_header_is_handed_over_as_it_is);
	tcase_add_test(c, a_body_that_is_cut_off_is_no_message);
	tcase_add_test(c, a_u0000_is_noticed_unless_its_backslash_is_text);
	tcase_add_test(c, an_id_that_is_longer_than_any_is_not_taken);
	tcase_add_test(c, what_is_sent_is_what_is_read);
	suite_add_tcase(s, c);
	return run_suite(s);
}
