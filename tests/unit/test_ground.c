/* The ground floor: err, str, visible, log, clock, id, random, sha256, content. */
#include "content.h"
#include "harness.h"
#include "id.h"
#include "log.h"
#include "random.h"
#include "sha256.h"
#include "str.h"
#include "visible.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

/* ---- err ---- */

START_TEST(an_error_is_set_prefixed_and_returned)
{
	struct err e = { 0 };

	ck_assert_int_eq(err_set(&e, ERR_INPUT, "no %s at %d", "row", 7), -1);
	ck_assert_str_eq(e.text, "no row at 7");
	ck_assert_int_eq(err_prefix(&e, "file %s", "a.c"), -1);
	ck_assert_str_eq(e.text, "file a.c: no row at 7");
	ck_assert_int_eq(e.kind, ERR_INPUT);
}
END_TEST

START_TEST(an_error_of_the_system_tells_its_reason_and_keeps_errno)
{
	struct err e = { 0 };

	errno = ENOENT;
	ck_assert_int_eq(err_errno(&e, ERR_AGAIN, "cannot open %s", "x"), -1);
	ck_assert_str_eq(e.text, "cannot open x: No such file or directory");
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(nobody_need_listen_to_an_error)
{
	ck_assert_int_eq(err_set(NULL, ERR_BUG, "x"), -1);
	ck_assert_int_eq(err_errno(NULL, ERR_BUG, "x"), -1);
	ck_assert_int_eq(err_prefix(NULL, "x"), -1);
}
END_TEST

START_TEST(a_long_error_is_cut_and_ends)
{
	struct err e = { 0 };
	char text[3 * ERR_TEXT_BYTES];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	errno = EIO;
	(void)err_errno(&e, ERR_INPUT, "%s", text);
	ck_assert_uint_eq(strlen(e.text), ERR_TEXT_BYTES - 1);
	(void)err_prefix(&e, "%s", text);
	(void)err_prefix(&e, "short");
	ck_assert_uint_eq(strlen(e.text), ERR_TEXT_BYTES - 1);
	ck_assert_int_eq(strncmp(e.text, "short: xxx", 10), 0);
}
END_TEST

START_TEST(exit_statuses_are_those_of_sysexits)
{
	struct err e = { 0 };

	ck_assert_int_eq(err_exit(&e), EX_OK);
	e.kind = ERR_AGAIN;
	ck_assert_int_eq(err_exit(&e), EX_TEMPFAIL);
	e.kind = ERR_INPUT;
	ck_assert_int_eq(err_exit(&e), EX_CONFIG);
	e.kind = ERR_BUG;
	ck_assert_int_eq(err_exit(&e), EX_SOFTWARE);
}
END_TEST

/* ---- str ---- */

START_TEST(a_string_grows_and_holds_any_byte)
{
	OWNED(str) struct str s = { 0 };

	ck_assert_str_eq(str_text(&s), "");
	str_add(&s, "");
	str_add(&s, "ab");
	str_add_char(&s, 'c');
	str_addf(&s, "%d-%s", 42, "x");
	ck_assert_str_eq(str_text(&s), "abc42-x");
	str_add_bytes(&s, "\0z", 2);
	ck_assert_uint_eq(s.length, 9);
	ck_assert_int_eq(memcmp(s.bytes, "abc42-x\0z", 10), 0);
	str_reset(&s);
	ck_assert_str_eq(str_text(&s), "");
	for (int i = 0; i < 100000; i++)
		str_addf(&s, "%d,", i % 10);
	ck_assert_uint_eq(s.length, 200000);
	ck_assert_uint_eq(strlen(s.bytes), 200000);
}
END_TEST

START_TEST(a_string_makes_room_and_keeps_what_it_has)
{
	enum { LONG = 5 << 20, LITTLE = 3 };
	OWNED(str) struct str s = { 0 };

	ck_assert_str_eq(str_room(&s, 0), "");
	str_add(&s, "abc");
	for (size_t i = 0; i < 3; i++) { /* exactly, by doubling, and once it is there */
		size_t more = i == 0 ? LITTLE : LONG * i;

		memset(str_room(&s, more), 'x', more);
		s.length += more;
		s.bytes[s.length] = '\0';
		ck_assert_uint_eq(strlen(s.bytes), s.length);
		ck_assert_mem_eq(s.bytes, "abcxxx", 6);
	}
	ck_assert_uint_eq(s.length, 3 + LITTLE + 3 * LONG);
	ck_assert_str_eq(str_room(&s, 1), "");
}
END_TEST

START_TEST(a_string_is_handed_over)
{
	struct str s = { 0 };
	OWNED(char_ptr) char *empty = str_take(&s), *full = NULL;

	ck_assert_str_eq(empty, "");
	str_add(&s, "text");
	full = str_take(&s);
	ck_assert_str_eq(full, "text");
	ck_assert_ptr_null(s.bytes);
	str_clear(&s);
	str_clear(&s);
}
END_TEST

START_TEST(only_well_formed_utf_8_is_valid)
{
	static const struct {
		const char *bytes;
		bool valid;
	} CASES[] = {
		{ "", true },
		{ "plain", true },
		{ "\x7f", true },
		{ "gr\xc3\xbc\xc3\x9f", true },
		{ "\xe2\x82\xac", true }, /* U+20AC */
		{ "\xf0\x9f\x92\xa9", true }, /* U+1F4A9 */
		{ "\xf4\x8f\xbf\xbf", true }, /* U+10FFFF */
		{ "\xed\x9f\xbf", true }, /* U+D7FF */
		{ "\xee\x80\x80", true }, /* U+E000 */
		{ "\xed\xa0\x80", false }, /* a surrogate */
		{ "\xed\xbf\xbf", false },
		{ "\xf4\x90\x80\x80", false }, /* beyond Unicode */
		{ "\xf5\x80\x80\x80", false },
		{ "\xff", false },
		{ "\x80", false }, /* a continuation alone */
		{ "\xc0\x80", false }, /* overlong NUL */
		{ "\xc1\xbf", false },
		{ "\xe0\x9f\xbf", false }, /* overlong */
		{ "\xf0\x8f\xbf\xbf", false },
		{ "\xc3", false }, /* cut */
		{ "\xe2\x82", false },
		{ "\xf0\x9f\x92", false },
		{ "\xc3"
		  "a",
		  false },
		{ "\xe2\x82"
		  "a",
		  false },
		{ "ok\xfe", false },
	};

	for (size_t i = 0; i < COUNT(CASES); i++)
		ck_assert_msg(utf8_valid(CASES[i].bytes, strlen(CASES[i].bytes)) == CASES[i].valid,
		              "case %zu", i);
	ck_assert(utf8_valid("a\0b", 3));
}
END_TEST

/* ---- visible ---- */

#define TEXT_STYLE "\xEF\xB8\x8E" /* U+FE0E */
#define EMOJI_STYLE "\xEF\xB8\x8F" /* U+FE0F */
#define KEYCAP "\xE2\x83\xA3" /* U+20E3 */

START_TEST(a_variation_selector_is_marked_where_it_makes_no_emoji)
{
	static const struct {
		const char *text, *shown; /* NULL: as it is */
	} CASES[] = {
		{ "\xE2\x9A\xA0" EMOJI_STYLE, NULL }, /* a warning sign */
		{ "\xE2\x9A\xA0" TEXT_STYLE, NULL },
		{ "\xF0\x9F\x97\x91" EMOJI_STYLE, NULL }, /* a wastebasket */
		{ "1" EMOJI_STYLE KEYCAP, NULL },
		{ "12" TEXT_STYLE KEYCAP, NULL },
		{ "#" EMOJI_STYLE KEYCAP "*" EMOJI_STYLE KEYCAP, NULL },
		{ "0" EMOJI_STYLE, "0\\u{FE0F}" },
		{ "9" TEXT_STYLE "x", "9\\u{FE0E}x" },
		{ "#" EMOJI_STYLE "1", "#\\u{FE0F}1" },
		{ "*" TEXT_STYLE, "*\\u{FE0E}" },
		{ "1" EMOJI_STYLE EMOJI_STYLE KEYCAP, "1\\u{FE0F}\\u{FE0F}" KEYCAP },
		{ "a" EMOJI_STYLE KEYCAP, "a\\u{FE0F}" KEYCAP },
		{ "\xE2\x9A\xA0" EMOJI_STYLE TEXT_STYLE, "\xE2\x9A\xA0" EMOJI_STYLE "\\u{FE0E}" },
		{ "\xE2\x94\x80" EMOJI_STYLE, "\xE2\x94\x80\\u{FE0F}" }, /* a line of a box */
		{ EMOJI_STYLE, "\\u{FE0F}" },
		{ "1\xEF\xB8\x80" KEYCAP, "1\\u{FE00}" KEYCAP }, /* another selector */
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str out = { 0 };
		const char *shown = CASES[i].shown ? CASES[i].shown : CASES[i].text;

		visible_add(&out, CASES[i].text, strlen(CASES[i].text), false);
		ck_assert_str_eq(str_text(&out), shown);
	}
}
END_TEST

/* ---- log ---- */

/* The line that a log, of JSON or not, has of text; the caller frees. */
static char *logged(int json, const char *text)
{
	enum { MOST = 8192 };
	char *line = xcalloc(1, MOST);
	int log[2], before = dup(STDERR_FILENO);

	ck_assert_int_eq(pipe(log), 0);
	(void)dup2(log[1], STDERR_FILENO);
	log_open("applier", json, LOG_LEVEL_INFO);
	log_info("applied: %s", text);
	log_open("applier", 0, LOG_LEVEL_INFO);
	(void)dup2(before, STDERR_FILENO);
	ck_assert_int_gt(read(log[0], line, MOST - 1), INSTANT_BYTES);
	(void)close(before);
	(void)close(log[0]);
	(void)close(log[1]);
	return line;
}

START_TEST(a_line_of_the_log_shows_what_is_invisible)
{
	OWNED(char_ptr) char *line = logged(0, "\u202Ecod.exe\x1B[2K\nü\xFF\u200B");

	ck_assert_str_eq(line + INSTANT_BYTES - 1,
	                 " info  applier: applied: \\u{202E}cod.exe\\u{1B}[2K ü\\x{FF}\\u{200B}\n");
}
END_TEST

START_TEST(a_line_of_a_log_in_json_is_utf_8_also_where_it_is_cut)
{
	OWNED(char_ptr) char *line = logged(1, "\x1B\nü\xFF\"");

	ck_assert_str_eq(strstr(line, ",\"level\""),
	                 ",\"level\":\"info\",\"process\":\"applier\","
	                 "\"message\":\"applied: \\u001b\\nü\uFFFD\\\"\"}\n");
	for (int before = 0; before < 2; before++) {
		OWNED(str) struct str text = { 0 };
		OWNED(char_ptr) char *cut = NULL;

		str_add(&text, before ? "x" : "");
		for (int i = 0; i < 3000; i++)
			str_add(&text, "ü");
		cut = logged(1, text.bytes);
		ck_assert(utf8_valid(cut, strlen(cut)));
	}
}
END_TEST

/* ---- clock ---- */

START_TEST(an_instant_is_text_that_sorts)
{
	ck_assert_str_eq(clock_instant(0).text, "1970-01-01T00:00:00.000Z");
	ck_assert_str_eq(clock_instant(1770543000123).text, "2026-02-08T09:30:00.123Z");
	ck_assert_str_eq(clock_instant(951782400001).text, "2000-02-29T00:00:00.001Z");
	ck_assert_int_lt(strcmp(clock_instant(999).text, clock_instant(1000).text), 0);
}
END_TEST

START_TEST(an_instant_out_of_range_is_the_end_of_time)
{
	ck_assert_str_eq(clock_instant(INT64_MAX).text, "9999-12-31T23:59:59.999Z");
	ck_assert_str_eq(clock_instant(253402300799999).text, "9999-12-31T23:59:59.999Z");
	ck_assert_str_eq(clock_instant(253402300800000).text, "9999-12-31T23:59:59.999Z");
}
END_TEST

START_TEST(what_was_written_is_read_back)
{
	static const int64_t MS[] = { 0, 1, 999, 1770543000123, 951782400001, 253402300799999 };

	for (size_t i = 0; i < COUNT(MS); i++)
		ck_assert_int_eq(clock_parse(clock_instant(MS[i]).text), MS[i]);
}
END_TEST

START_TEST(what_is_no_instant_is_not_read)
{
	static const char *const TEXTS[] = {
		"",
		"now",
		"2026-02-08 09:30:00.123Z",
		"2026-02-08T09:30:00Z",
		"2026-02-08T09:30:00.123",
		"2026-02-08T09:30:00.123z",
		"2026-02-08T09:30:00.123+0",
		"2026-02-08T09:30:00.123Zx",
		"2026-02-08T09:30:00.12Z ",
		"xxxx-02-08T09:30:00.123Z",
	};

	ck_assert_int_eq(clock_parse(NULL), -1);
	for (size_t i = 0; i < COUNT(TEXTS); i++)
		ck_assert_msg(clock_parse(TEXTS[i]) == -1, "read: %s", TEXTS[i]);
}
END_TEST

START_TEST(a_test_owns_the_clock)
{
	(void)scratch();
	at(1000000);
	ck_assert_int_ge(clock_now_ms(), 1000000);
	ck_assert_int_lt(clock_now_ms(), 1005000);
	int64_t before = clock_monotonic_ms();
	advance(3600000);
	ck_assert_int_ge(clock_monotonic_ms() - before, 3600000);
	ck_assert_int_ge(clock_now_ms(), 4600000);
	ck_assert_int_eq(strncmp(clock_now().text, "1970-01-01T01:16:4", 18), 0);
}
END_TEST

/* ---- id ---- */

START_TEST(ids_are_uuids_of_version_7_that_sort_by_time)
{
	(void)scratch();
	at(1770543000000);
	struct id a = id_new();
	advance(10);
	struct id b = id_new();

	ck_assert_uint_eq(strlen(a.text), 36);
	ck_assert_uint_eq(strspn(a.text, "0123456789abcdef-"), 36);
	ck_assert_int_eq(a.text[14], '7');
	ck_assert_ptr_nonnull(strchr("89ab", a.text[19]));
	ck_assert_int_lt(strcmp(a.text, b.text), 0);

	char hex[13];
	memcpy(hex, a.text, 8);
	memcpy(hex + 8, a.text + 9, 4);
	hex[12] = '\0';
	ck_assert_int_ge(strtoll(hex, NULL, 16), 1770543000000);
	ck_assert_int_lt(strtoll(hex, NULL, 16), 1770543001000);
}
END_TEST

START_TEST(ids_of_one_instant_differ_in_the_part_that_people_read)
{
	(void)scratch();
	at(1770543000000);
	struct id session = id_new(), question = id_new();

	ck_assert_int_lt(strncmp(session.text, question.text, 13), 0);
}
END_TEST

START_TEST(no_two_ids_or_secrets_are_alike)
{
	enum { MANY = 2000 };
	static struct id ids[MANY];

	for (int i = 0; i < MANY; i++) {
		ids[i] = id_new();
		for (int k = 0; k < i; k++)
			if (strcmp(ids[i].text, ids[k].text) == 0)
				ck_abort_msg("%s is there twice", ids[i].text);
	}
	struct secret a = id_new_secret(), b = id_new_secret();
	ck_assert_uint_eq(strspn(a.text, "0123456789abcdef"), 32);
	ck_assert_str_ne(a.text, b.text);
}
END_TEST

/* ---- sha256 ---- */

START_TEST(random_bytes_fill_all_they_are_given)
{
	enum { SIZE = 4096, RUN = 16 };
	static unsigned char bytes[SIZE], zeros[RUN];

	random_bytes(bytes, sizeof(bytes));
	for (size_t i = 0; i < SIZE; i += RUN)
		ck_assert_int_ne(memcmp(bytes + i, zeros, RUN), 0);
}
END_TEST

START_TEST(a_random_number_stays_below_its_limit)
{
	bool seen[3] = { false };

	for (int i = 0; i < 1000; i++) {
		int64_t n = random_below(3);

		ck_assert_int_ge(n, 0);
		ck_assert_int_lt(n, 3);
		seen[n] = true;
	}
	ck_assert(seen[0] && seen[1] && seen[2]);
	ck_assert_int_eq(random_below(1), 0);
	ck_assert_int_eq(random_below(0), 0);
	ck_assert_int_eq(random_below(-5), 0);
}
END_TEST

/* Of NIST's examples, and of RFC 4231 (HMAC) the second; and of a key that is longer than a block.
 */
START_TEST(hashes_are_those_of_the_standard)
{
	static char million[1000000], key[132];

	memset(million, 'a', sizeof(million));
	memset(key, 'k', sizeof(key) - 1);
	ck_assert_str_eq(sha256_of("", 0).text,
	                 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	ck_assert_str_eq(sha256_of("abc", 3).text,
	                 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	ck_assert_str_eq(
	    sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56).text,
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	ck_assert_str_eq(sha256_of(million, sizeof(million)).text,
	                 "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	ck_assert_str_eq(sha256_keyed("Jefe", "what do ya want for nothing?", 28).text,
	                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	ck_assert_str_eq(sha256_keyed(key, "longer than a block", 19).text,
	                 "efef64cd4cb084b87adcca8ac75922f47fa480615003556fa435513f3593a9f8");
}
END_TEST

START_TEST(a_hash_in_pieces_is_the_hash_of_the_whole)
{
	static unsigned char bytes[300];

	random_bytes(bytes, sizeof(bytes));
	for (size_t piece = 1; piece <= 130; piece++) {
		struct sha256_state *h = sha256_begin();

		sha256_add(h, "", 0);
		for (size_t at = 0; at < sizeof(bytes); at += piece)
			sha256_add(h, bytes + at,
			           at + piece > sizeof(bytes) ? sizeof(bytes) - at : piece);
		ck_assert_str_eq(sha256_end(h).text, sha256_of(bytes, sizeof(bytes)).text);
	}
}
END_TEST

/* ---- content ---- */

START_TEST(the_same_text_stands_once)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str out = { 0 };
	struct err e = { 0 };

	fresh_store();
	ck_assert_msg(!store_open(&st, test_db(), NULL, &e), "%s", e.text);
	ck_assert_int_eq(store_begin(&st, &e), 0);
	int64_t a = content_put(&st, "a\0b", 3, &e), b = content_put(&st, "other", 5, &e);
	int64_t again = content_put(&st, "a\0b", 3, &e), empty = content_put(&st, "", 0, &e);
	ck_assert_int_eq(store_commit(&st, &e), 0);
	ck_assert_int_gt(a, 0);
	ck_assert_int_eq(again, a);
	ck_assert_int_ne(b, a);
	ck_assert_int_gt(empty, 0);

	ck_assert_int_eq(content_get(&st, a, &out, &e), 0);
	ck_assert_uint_eq(out.length, 3);
	ck_assert_int_eq(memcmp(out.bytes, "a\0b", 3), 0);
	ck_assert_int_eq(content_get(&st, 99, &out, &e), -1);
	ck_assert_int_eq(e.kind, ERR_INPUT);
	expect("SELECT count(*), sum(size) FROM content", "3|8\n");
}
END_TEST

START_TEST(short_texts_stay_in_their_row)
{
	static char text[CONTENT_INLINE_BYTES + 1];
	struct placed placed;
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	memset(text, 'x', sizeof(text));
	fresh_store();
	ck_assert_msg(!store_open(&st, test_db(), NULL, &e), "%s", e.text);
	ck_assert_int_eq(store_begin(&st, &e), 0);
	ck_assert_int_eq(content_place(&st, NULL, 0, &placed, &e), 0);
	ck_assert(!placed.text && !placed.seq);
	ck_assert_int_eq(content_place(&st, text, CONTENT_INLINE_BYTES, &placed, &e), 0);
	ck_assert(placed.text == text && !placed.seq);
	ck_assert_int_eq(content_place(&st, text, CONTENT_INLINE_BYTES + 1, &placed, &e), 0);
	ck_assert(!placed.text && placed.seq);
	ck_assert_int_eq(store_commit(&st, &e), 0);
	expect("SELECT size FROM content", "2049\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ground");
	TCase *c = tcase_create("ground");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, an_error_is_set_prefixed_and_returned);
	tcase_add_test(c, an_error_of_the_system_tells_its_reason_and_keeps_errno);
	tcase_add_test(c, nobody_need_listen_to_an_error);
	tcase_add_test(c, a_long_error_is_cut_and_ends);
	tcase_add_test(c, exit_statuses_are_those_of_sysexits);
	tcase_add_test(c, a_string_grows_and_holds_any_byte);
	tcase_add_test(c, a_string_makes_room_and_keeps_what_it_has);
	tcase_add_test(c, a_string_is_handed_over);
	tcase_add_test(c, only_well_formed_utf_8_is_valid);
	tcase_add_test(c, a_variation_selector_is_marked_where_it_makes_no_emoji);
	tcase_add_test(c, a_line_of_the_log_shows_what_is_invisible);
	tcase_add_test(c, a_line_of_a_log_in_json_is_utf_8_also_where_it_is_cut);
	tcase_add_test(c, an_instant_is_text_that_sorts);
	tcase_add_test(c, an_instant_out_of_range_is_the_end_of_time);
	tcase_add_test(c, what_was_written_is_read_back);
	tcase_add_test(c, what_is_no_instant_is_not_read);
	tcase_add_test(c, a_test_owns_the_clock);
	tcase_add_test(c, ids_are_uuids_of_version_7_that_sort_by_time);
	tcase_add_test(c, ids_of_one_instant_differ_in_the_part_that_people_read);
	tcase_add_test(c, no_two_ids_or_secrets_are_alike);
	tcase_add_test(c, random_bytes_fill_all_they_are_given);
	tcase_add_test(c, a_random_number_stays_below_its_limit);
	tcase_add_test(c, hashes_are_those_of_the_standard);
	tcase_add_test(c, a_hash_in_pieces_is_the_hash_of_the_whole);
	tcase_add_test(c, the_same_text_stands_once);
	tcase_add_test(c, short_texts_stay_in_their_row);
	suite_add_tcase(s, c);
	return run_suite(s);
}
