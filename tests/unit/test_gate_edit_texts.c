/* Edit tools that write, replace, insert and delete, against what a simple program makes of the
 * same input. */
#include "gate_edit_case.h"

#include "err.h"

#include <stdlib.h>
#include <string.h>

/* ---- every host's tool ---- */

START_TEST(each_hosts_tools_do_what_they_say)
{
	static const struct {
		const char *host, *write, *replace, *path, *content, *old_text, *new_text;
	} HOSTS[] = {
		{ "claude", "Write", "Edit", "file_path", "content", "old_string", "new_string" },
		{ "gemini", "write_file", "replace", "file_path", "content", "old_string",
		  "new_string" },
		{ "qwen", "write_file", "edit", "file_path", "content", "old_string",
		  "new_string" },
		{ "copilot", "create", "edit", "path", "file_text", "old_str", "new_str" },
		{ "cursor", "Write", "StrReplace", "file_path", "content", "old_string",
		  "new_string" },
		{ "vscode", "create_file", "replace_string_in_file", "filePath", "content",
		  "oldString", "newString" },
		{ "opencode", "write", "edit", "filePath", "content", "oldString", "newString" },
	};

	for (size_t i = 0; i < COUNT(HOSTS); i++) {
		const char *host = HOSTS[i].host;

		no_files();
		carry_out(host, HOSTS[i].write,
		          object(HOSTS[i].path, "/w/a", HOSTS[i].content, "one\ntwo\n", NULL));
		file_is("/w/a", "one\ntwo\n");
		carry_out(host, HOSTS[i].replace,
		          object(HOSTS[i].path, "/w/a", HOSTS[i].old_text, "two", HOSTS[i].new_text,
		                 "zwei", NULL));
		file_is("/w/a", "one\nzwei\n");
		is_not_computed(host, HOSTS[i].replace,
		                object(HOSTS[i].path, "/w/a", HOSTS[i].old_text, "absent",
		                       HOSTS[i].new_text, "x", NULL),
		                "is not in the file");
		is_not_computed(host, HOSTS[i].replace,
		                object(HOSTS[i].path, "/w/a", HOSTS[i].old_text, "e",
		                       HOSTS[i].new_text, "x", NULL),
		                "2 times");
		is_not_computed(host, HOSTS[i].replace,
		                object(HOSTS[i].path, "/w/none", HOSTS[i].old_text, "e",
		                       HOSTS[i].new_text, "x", NULL),
		                "does not exist");
		is_not_computed(host, HOSTS[i].replace, object(HOSTS[i].path, "/w/a", NULL),
		                "not given");
	}
}
END_TEST

START_TEST(an_empty_old_text_creates_a_file_and_changes_none)
{
	no_files();
	carry_out("claude", "Edit",
	          object("file_path", "n", "old_string", "", "new_string", "x\n", NULL));
	file_is("n", "x\n");
	is_not_computed("claude", "Edit",
	                object("file_path", "n", "old_string", "", "new_string", "y\n", NULL),
	                "the file is not");
	is_not_computed("copilot", "create", object("path", "n", "file_text", "y\n", NULL),
	                "the file exists");
}
END_TEST

START_TEST(edits_of_one_call_follow_each_other)
{
	no_files();
	given_file("a", "1 2 2\n");
	carry_out("claude", "MultiEdit",
	          "{\"file_path\":\"a\",\"edits\":[{\"old_string\":\"1\",\"new_string\":\"2\"},"
	          "{\"old_string\":\"2\",\"new_string\":\"3\",\"replace_all\":true}]}");
	file_is("a", "3 3 3\n");
	given_file("b", "x\n");
	carry_out("vscode", "multi_replace_string_in_file",
	          "{\"replacements\":[{\"filePath\":\"a\",\"oldString\":\"3 3 3\",\"newString\":"
	          "\"4\"},{\"filePath\":\"b\",\"oldString\":\"x\",\"newString\":\"y\"},"
	          "{\"filePath\":\"a\",\"oldString\":\"4\",\"newString\":\"5\"}]}");
	file_is("a", "5\n");
	file_is("b", "y\n");
	is_not_computed("claude", "MultiEdit", "{\"file_path\":\"a\",\"edits\":[]}", "not given");
	is_not_computed("claude", "MultiEdit",
	                "{\"file_path\":\"a\",\"edits\":[{\"old_string\":\"5\",\"new_string\":"
	                "\"6\"},{\"old_string\":\"5\",\"new_string\":\"7\"}]}",
	                "is not in the file");
}
END_TEST

START_TEST(gemini_says_how_often_a_text_is_there)
{
	static const char TWO[] = "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"y\","
	                          "\"expected_replacements\":2}";
	static const char ANY[] = "{\"file_path\":\"a\",\"old_string\":\"y\",\"new_string\":\"z\","
	                          "\"allow_multiple\":true}";

	no_files();
	given_file("a", "x x\n");
	carry_out("gemini", "replace", TWO);
	file_is("a", "y y\n");
	carry_out("gemini", "replace", ANY);
	file_is("a", "z z\n");
	given_file("a", "x x x\n");
	is_not_computed("gemini", "replace", TWO, "3 times, not 2");
}
END_TEST

START_TEST(lines_that_end_in_crlf_keep_their_ends)
{
	no_files();
	given_file("a", "1\r\n2\r\n3\r\n");
	carry_out(
	    "claude", "Edit",
	    object("file_path", "a", "old_string", "1\n2\n", "new_string", "1\nx\n2\n", NULL));
	file_is("a", "1\r\nx\r\n2\r\n3\r\n");
	carry_out(
	    "gemini", "replace",
	    object("file_path", "a", "old_string", "1\r\nx\r\n", "new_string", "y\nz\r\n", NULL));
	file_is("a", "y\r\nz\r\n2\r\n3\r\n");
}
END_TEST

START_TEST(what_hosts_do_differently_is_not_computed)
{
	static const struct {
		const char *file, *old_text, *new_text, *why;
	} CASES[] = {
		{ "1\r\n2\n3\r\n", "3", "x", "several kinds" },
		{ "1\n2\n", "1", "1\r\n", "another line ending" },
		{ "\xef\xbb\xbf"
		  "1\n",
		  "1", "2", "byte-order mark" },
		{ "\xff 1\n", "1", "2", "not UTF-8" },
		{ "1\n", "1", "1", "is the new one" },
		{ "1\n", "1", "x \ny", "may trim" },
		{ "1\n", "1", "x\t", "may trim" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		no_files();
		given_file("a.c", CASES[i].file);
		is_not_computed("claude", "Edit",
		                object("file_path", "a.c", "old_string", CASES[i].old_text,
		                       "new_string", CASES[i].new_text, NULL),
		                CASES[i].why);
	}
	is_not_computed("claude", "Write", object("file_path", "c", "content", "x \n", NULL),
	                "may trim");
	given_file("a.md", "1\n");
	carry_out("claude", "Edit",
	          object("file_path", "a.md", "old_string", "1", "new_string", "x  ", NULL));
	file_is("a.md", "x  \n");
	given_file("b", "1\r\n");
	is_not_computed("gemini", "write_file", object("file_path", "b", "content", "x\n", NULL),
	                "may keep that");
}
END_TEST

/* Seen in the programs of Claude Code 2.1.330 and Gemini CLI 0.61.0. */
START_TEST(hosts_treat_ends_of_lines_in_their_own_ways)
{
	static const struct {
		const char *host, *tool, *file, *old_text, *new_text, *after;
	} CASES[] = {
		{ "claude", "Edit", "1\n2\n3\n", "2", "", "1\n3\n" },
		{ "claude", "Edit", "1\n2\n3\n", "2\n", "", "1\n3\n" },
		{ "claude", "Edit", "1\n2x\n3\n", "2", "", "1\nx\n3\n" },
		{ "claude", "Edit", "1\r\n2\r\n", "1", "", "2\r\n" },
		{ "qwen", "edit", "1\n2\n3\n", "2", "", "1\n\n3\n" },
		{ "gemini", "replace", "1\n2\n", "2\n", "3", "1\n3\n" },
		{ "gemini", "replace", "1\n2", "2", "3\n", "1\n3" },
		{ "gemini", "replace", "1\r\n2\r\n", "2\n", "3", "1\r\n3\r\n" },
		{ "qwen", "edit", "1\n2\n", "2\n", "3", "1\n3" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		no_files();
		given_file("a", CASES[i].file);
		carry_out(CASES[i].host, CASES[i].tool,
		          object("file_path", "a", "old_string", CASES[i].old_text, "new_string",
		                 CASES[i].new_text, NULL));
		file_is("a", CASES[i].after);
	}
}
END_TEST

START_TEST(a_line_is_inserted_after_another)
{
	static const struct {
		const char *before, *text, *after;
		int line;
	} CASES[] = {
		{ "1\n2\n", "x\n", "x\n1\n2\n", 0 },
		{ "1\n2\n", "x", "1\nx\n2\n", 1 },
		{ "1\n2\n", "x\n", "1\n2\nx\n", 2 },
		{ "1\n2", "x", "1\n2\nx", 2 },
		{ "", "x\n", "x\n", 0 },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str input = { 0 };

		no_files();
		given_file("a", CASES[i].before);
		json_object(&input);
		json_member(&input, "path", "a");
		json_member_int(&input, "insert_line", CASES[i].line);
		json_member(&input, "new_str", CASES[i].text);
		json_object_end(&input);
		carry_out("copilot", "insert", str_text(&input));
		file_is("a", CASES[i].after);
	}
	is_not_computed("copilot", "insert", "{\"path\":\"a\",\"insert_line\":9,\"new_str\":\"x\"}",
	                "lines, not 9");
	is_not_computed("copilot", "insert",
	                "{\"path\":\"a\",\"insert_line\":-1,\"new_str\":\"x\"}", "not given");
}
END_TEST

START_TEST(a_file_is_deleted_and_one_that_cannot_be_read_is_an_error)
{
	OWNED(gate_edit) struct gate_edit edit = { 0 };
	struct err e = { 0 };

	no_files();
	given_file("a", "1");
	carry_out("cursor", "Delete", object("file_path", "a", NULL));
	file_is("a", NULL);
	is_not_computed("cursor", "Delete", object("file_path", "a", NULL), "does not exist");
	ck_assert_int_eq(compute("claude", "Write",
	                         object("file_path", "unreadable", "content", "x", NULL), &edit,
	                         &e),
	                 -1);
	ck_assert_str_eq(e.text, "unreadable");
}
END_TEST

/* ---- against a simple program ---- */

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245U + 12345U;
	return *state >> 16 & 0x7fff;
}

static void make_text(unsigned *state, char *out, size_t most)
{
	size_t length = next_random(state) % most;

	for (size_t i = 0; i < length; i++)
		out[i] = "ab\n"[next_random(state) % 3];
	out[length] = '\0';
}

/* Byte by byte; -1: not there, or there more than once and not all are meant. */
static int simple_replace(const char *text, const char *from, const char *to, bool all, char *out)
{
	size_t n = 0, length = strlen(from);
	int found = 0;

	while (*text) {
		if (strncmp(text, from, length) == 0) {
			memcpy(out + n, to, strlen(to));
			n += strlen(to);
			text += length;
			found++;
		} else {
			out[n++] = *text++;
		}
	}
	out[n] = '\0';
	return found == 0 || (found > 1 && !all) ? -1 : 0;
}

START_TEST(replacing_is_what_a_simple_program_does)
{
	enum { RUNS = 20000, TEXT = 24, PIECE = 4 };
	unsigned state = 16;
	int computed = 0;

	for (int i = 0; i < RUNS; i++) {
		char text[TEXT], from[PIECE], to[PIECE], expected[TEXT * PIECE];
		bool all = next_random(&state) % 2;
		OWNED(gate_edit) struct gate_edit edit = { 0 };
		OWNED(str) struct str input = { 0 };
		struct err e = { 0 };
		int got, wanted;

		make_text(&state, text, TEXT);
		make_text(&state, from, PIECE);
		make_text(&state, to, PIECE);
		if (!*from)
			continue;
		no_files();
		given_file("f", text);
		json_object(&input);
		json_member(&input, "file_path", "f");
		json_member(&input, "old_string", from);
		json_member(&input, "new_string", to);
		json_member_bool(&input, "replace_all", all);
		json_object_end(&input);
		if (strcmp(from, to) == 0)
			continue;
		wanted = simple_replace(text, from, to, all, expected);
		got = compute("qwen", "edit", str_text(&input), &edit, &e);
		MUST(got == (wanted == 0), "%s: %s", e.text, str_text(&input));
		MUST(wanted || strcmp(str_text(&edit.files[0].after), expected) == 0,
		     "%s of '%s': '%s', not '%s'", str_text(&input), text,
		     str_text(&edit.files[0].after), expected);
		computed += got;
	}
	ck_assert_int_gt(computed, RUNS / 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_edit_texts");
	TCase *c = tcase_create("gate_edit_texts");

	tcase_add_test(c, each_hosts_tools_do_what_they_say);
	tcase_add_test(c, an_empty_old_text_creates_a_file_and_changes_none);
	tcase_add_test(c, edits_of_one_call_follow_each_other);
	tcase_add_test(c, gemini_says_how_often_a_text_is_there);
	tcase_add_test(c, lines_that_end_in_crlf_keep_their_ends);
	tcase_add_test(c, what_hosts_do_differently_is_not_computed);
	tcase_add_test(c, hosts_treat_ends_of_lines_in_their_own_ways);
	tcase_add_test(c, a_line_is_inserted_after_another);
	tcase_add_test(c, a_file_is_deleted_and_one_that_cannot_be_read_is_an_error);
	tcase_add_test(c, replacing_is_what_a_simple_program_does);
	suite_add_tcase(s, c);
	return run_suite(s);
}
