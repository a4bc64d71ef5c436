/* apply_patch: what Codex takes, and what it makes of the files. */
#include "gate_edit_case.h"
#include "gate_patch.h"

#include "err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATCH(body) "*** Begin Patch\n" body "*** End Patch"
#define UPDATE(body) PATCH("*** Update File: f\n" body)

static void apply(const char *patch)
{
	carry_out("codex", "apply_patch", object("command", patch, NULL));
}

static void does_not_apply(const char *patch, const char *part)
{
	is_not_computed("codex", "apply_patch", object("command", patch, NULL), part);
}

START_TEST(each_form_of_an_update_is_applied)
{
	static const struct {
		const char *before, *patch, *after;
	} CASES[] = {
		/* with and without the marker of a hunk, with and without context */
		{ "a\nb\nc\n", UPDATE("@@\n a\n-b\n+B\n c\n"), "a\nB\nc\n" },
		{ "a\nb\nc\n", UPDATE("-b\n+B\n"), "a\nB\nc\n" },
		{ "a\nb\nc\n", UPDATE("@@\n-b\n"), "a\nc\n" },
		{ "a\nb\nc\n", UPDATE("@@\n a\n+x\n b\n"), "a\nx\nb\nc\n" },
		/* a header says below which line */
		{ "f:\n x\ng:\n x\n", UPDATE("@@ g:\n- x\n+ y\n"), "f:\n x\ng:\n y\n" },
		{ "f:\n x\ng:\n x\n", UPDATE("@@ f:\n- x\n+ y\n@@ g:\n- x\n+ z\n"),
		  "f:\n y\ng:\n z\n" },
		/* several hunks without headers: each below the one before */
		{ "x\nx\nx\n", UPDATE("@@\n-x\n+1\n@@\n-x\n+2\n"), "1\n2\nx\n" },
		/* the end of the file */
		{ "x\ny\nx\n", UPDATE("@@\n-x\n+z\n*** End of File\n"), "x\ny\nz\n" },
		{ "x\ny\nx\n", UPDATE("@@\n-x\n+1\n*** End of File\n\n"), "x\ny\n1\n" },
		/* additions alone go to the end, whatever the header says */
		{ "a\nb\n", UPDATE("@@\n+c\n"), "a\nb\nc\n" },
		{ "a\nb\n", UPDATE("@@ a\n+c\n"), "a\nb\nc\n" },
		{ "\n\n", UPDATE("@@\n+x\n"), "\n\nx\n" },
		/* a line end that is missing, and empty lines at the end, which stay */
		{ "a\nb", UPDATE("-a\n+A\n"), "A\nb\n" },
		{ "a\n\n", UPDATE("-a\n+A\n"), "A\n\n" },
		{ "q\nr\n\n\n", UPDATE("-q\n+Q\n"), "Q\nr\n\n\n" },
		/* an empty line of a hunk is an empty line of the file */
		{ "a\n\nb\n", UPDATE("@@\n a\n\n-b\n+c\n"), "a\n\nc\n" },
		/* blanks and typographic signs, the stricter way first */
		{ "  a \nb\n", UPDATE("-a\n+A\n"), "A\nb\n" },
		{ "a  \na\n", UPDATE("-a\n+A\n"), "a  \nA\n" },
		{ "say \xe2\x80\x9chi\xe2\x80\x9d \xe2\x80\x94 now\n",
		  UPDATE("-say \"hi\" - now\n+x\n"), "x\n" },
		{ "\xc2\xa0"
		  "a\n",
		  UPDATE("-a\n+A\n"), "A\n" },
		/* new lines, and a last one without an end, end as the file's first line does */
		{ "a\r\nb\r\nc\r\n", UPDATE("@@\n a\n-b\n+B\n"), "a\r\nB\r\nc\r\n" },
		{ "a\r\nb\nc", UPDATE("-b\n+B\n"), "a\r\nB\r\nc\r\n" },
		{ "a\r\nb\nc\n", UPDATE("-a\n+A\n"), "A\r\nb\nc\n" },
		{ "a\nb\r\nc\r\n", UPDATE("-b\n+B\n"), "a\nB\nc\r\n" },
		{ "a\r\n", UPDATE("+b\n"), "a\r\nb\r\n" },
		{ "a\rb\n", UPDATE("-b\n+B\n"), "a\rB\r" },
		/* lines of context stay as they are in the file */
		{ "a \r\nb\nc\n", UPDATE("@@\n a\n-b\n c\n+d\n"), "a \r\nc\nd\r\n" },
		{ "x\nb\n", UPDATE("@@\n+1\n@@\n b\n+2\n"), "x\nb\n1\n2\n" },
		/* the end of the file is not above the hunk before */
		{ "x\n\n\n\n", UPDATE("-x\n+y\n \n@@\n-\n-\n-\n*** End of File\n"), "y\n\n" },
		/* CRLF of the patch goes */
		{ "a\nb\n",
		  "*** Begin Patch\r\n*** Update File: f\r\n-a\r\n+A\r\n*** End Patch\r\n",
		  "A\nb\n" },
		{ "", UPDATE("@@\n+a\n"), "a\n" },
		{ "a\n", UPDATE("-a\n"), "" },
		{ "a\n", "<<'EOF'\n" UPDATE("-a\n+b\n") "\nEOF", "b\n" },
		{ "a\n", "  \n" UPDATE("-a\n+b\n") " \n\n", "b\n" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		no_files();
		given_file("f", CASES[i].before);
		apply(CASES[i].patch);
		file_is("f", CASES[i].after);
	}
}
END_TEST

START_TEST(files_are_added_deleted_updated_and_moved_in_one_patch)
{
	no_files();
	given_file("old", "1\n2\n");
	given_file("gone", "x");
	given_file("there", "y\n");
	given_file("over", "z\n");
	apply(PATCH("*** Add File: sub/new.txt\n+a\n++b\n+\n*** Delete File: gone\n"
	            "*** Update File: old\n*** Move to: sub/moved\n@@\n-1\n+one\n"
	            "*** Add File: over\n+w\n*** Update File: there\n-y\n+Y\n"));
	file_is("sub/new.txt", "a\n+b\n\n");
	file_is("gone", NULL);
	file_is("old", NULL);
	file_is("sub/moved", "one\n2\n");
	file_is("over", "w\n");
	file_is("there", "Y\n");
}
END_TEST

START_TEST(what_is_no_patch_is_not_computed)
{
	static const struct {
		const char *patch, *why;
	} BAD[] = {
		{ "", "does not end" },
		{ "x", "begins with" },
		{ "*** Begin Patch\n", "does not end" },
		{ "*** Begin Patch\n*** End Patch", "changes no file" },
		{ "*** Begin Patch\n*** Delete File: f\n", "does not end" },
		{ PATCH("x\n"), "not the name" },
		{ PATCH("*** Add File: n\nx\n"), "not the name" },
		{ PATCH("*** Delete File: f\n-x\n"), "not the name" },
		{ PATCH("*** Add File:  \n"), "not the name" },
		{ UPDATE(""), "has no lines" },
		{ UPDATE("@@\n"), "has no lines" },
		{ UPDATE("@@\n@@\n-a\n"), "has no lines" },
		{ UPDATE("@@\n*** End of File\n"), "has no lines" },
		{ UPDATE("-a\nx\n"), "begins with a blank" },
		{ UPDATE("-a\n*** End of File\n-b\n"), "begins with @@" },
		{ UPDATE("-a\n") "\nmore\n*** End Patch", "follows the end" },
		{ UPDATE("-nowhere\n"), "does not contain the hunk of line 3: 'nowhere'" },
		{ UPDATE("@@ nowhere\n-a\n"), "does not contain the hunk of line 3: 'nowhere'" },
		{ UPDATE("-b\n+B\n@@\n-a\n+A\n"), "does not contain" },
		{ PATCH("*** Update File: none\n-a\n"), "does not exist" },
		{ PATCH("*** Delete File: none\n"), "does not exist" },
		{ PATCH("*** Delete File: f\n*** Add File: f\n+x\n"), "twice" },
	};

	for (size_t i = 0; i < COUNT(BAD); i++) {
		no_files();
		given_file("f", "a\nb\n");
		does_not_apply(BAD[i].patch, BAD[i].why);
		file_is("f", "a\nb\n");
	}
	given_file("f", "\xff\na\n");
	does_not_apply(UPDATE("-a\n"), "not UTF-8");
}
END_TEST

START_TEST(other_hosts_find_lines_in_ways_of_their_own)
{
	no_files();
	given_file("f", " a\n");
	is_not_computed("copilot", "apply_patch", object("input", UPDATE("-a\n+b\n"), NULL),
	                "does not contain");
	carry_out("copilot", "apply_patch", object("input", UPDATE("- a\n+b\n"), NULL));
	file_is("f", "b\n");
	given_file("f", "a\nb\n\n");
	carry_out("copilot", "apply_patch", object("input", UPDATE("-b\n+B\n"), NULL));
	file_is("f", "a\nB\n");
}
END_TEST

/* Copilot 1.0.102: `@@ a` and an addition is below a; the end of the last line stays missing. */
START_TEST(what_other_hosts_do_in_ways_of_their_own_is_not_computed)
{
	static const struct {
		const char *before, *patch, *why;
	} CASES[] = {
		{ "a\r\nb\r\n", UPDATE("-b\n+B\n"), "has CR" },
		{ "a\nb", UPDATE("-a\n+A\n"), "does not end in LF" },
		{ "", UPDATE("+a\n"), "does not end in LF" },
		{ "a\nb\n", UPDATE("@@ a\n+c\n"), "after which line" },
		{ "a\nb\n", UPDATE("-a\n+A\r*** Add File: g\r+x\n"), "has CR in it" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		no_files();
		given_file("f", CASES[i].before);
		is_not_computed("copilot", "apply_patch", object("input", CASES[i].patch, NULL),
		                CASES[i].why);
	}
}
END_TEST

START_TEST(only_a_command_that_is_a_patch_alone_is_one)
{
#define HERE "*** Begin Patch\n*** Delete File: f\n*** End Patch\n"
	static const struct {
		const char *command, *dir;
		bool is_patch;
	} CASES[] = {
		{ "apply_patch <<'EOF'\n" HERE "EOF", NULL, true },
		{ "apply_patch <<'EOF'\n" HERE "EOF\n\n", NULL, true },
		{ "  applypatch << \"END\"\n" HERE "END\n", NULL, true },
		{ "apply_patch <<EOF\n" HERE "EOF\n", NULL, true },
		{ "cd /w/sub && apply_patch <<'EOF'\n" HERE "EOF\n", "/w/sub", true },
		{ "cd 'a b' && apply_patch <<'EOF'\n" HERE "EOF\n", "a b", true },
		{ "cd $HOME && apply_patch <<'EOF'\n" HERE "EOF\n", NULL, false },
		{ "cd \"$HOME\" && apply_patch <<'EOF'\n" HERE "EOF\n", NULL, false },
		{ "cd - && apply_patch <<'EOF'\n" HERE "EOF\n", NULL, false },
		{ "cd a; apply_patch <<'EOF'\n" HERE "EOF\n", NULL, false },
		{ "cd a && rm b && apply_patch <<'EOF'\n" HERE "EOF\n", NULL, false },
		{ "apply_patch <<'EOF'\n" HERE "EOF\nrm x", NULL, false },
		{ "apply_patch <<'EOF' && rm x\n" HERE "EOF\n", NULL, false },
		{ "apply_patch <<'EOF' >x\n" HERE "EOF\n", NULL, false },
		{ "apply_patch <<EOF\n+`rm x`\nEOF\n", NULL, false },
		{ "apply_patch <<EOF\n+$(rm x)\nEOF\n", NULL, false },
		{ "apply_patch <<EOF\n+\\\nEOF\n", NULL, false },
		{ "apply_patch <<'EOF'\n" HERE "EO\n", NULL, false },
		{ "apply_patch <<E'OF'\n" HERE "EOF\n", NULL, false },
		{ "apply_patch <<'EOF'\n" HERE "EOF \n", NULL, false },
		{ "apply_patch2 <<'EOF'\n" HERE "EOF\n", NULL, false },
		{ "apply_patch x <<'EOF'\n" HERE "EOF\n", NULL, false },
		{ "cat <<'EOF'\n" HERE "EOF\n", NULL, false },
		{ "apply_patch", NULL, false },
		{ "", NULL, false },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr) char *patch = NULL;
		OWNED(char_ptr) char *dir = NULL;
		bool is = gate_patch_in_command(CASES[i].command, &patch, &dir);

		ck_assert_msg(is == CASES[i].is_patch, "%s", CASES[i].command);
		ck_assert((dir != NULL) == (CASES[i].dir != NULL));
		ck_assert(!dir || strcmp(dir, CASES[i].dir) == 0);
		ck_assert(!is || strcmp(patch, HERE) == 0);
	}
}
END_TEST

/* ---- patches that a simple program writes ---- */

enum { LINES = 30, LINE_BYTES = 32 };

struct text {
	char lines[LINES * 2][LINE_BYTES];
	int count;
};

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245U + 12345U;
	return *state >> 16 & 0x7fff;
}

static void add(struct text *t, const char *line)
{
	(void)snprintf(t->lines[t->count++], LINE_BYTES, "%s", line);
}

static void join(const struct text *t, struct str *out)
{
	for (int i = 0; i < t->count; i++)
		str_addf(out, "%s\n", t->lines[i]);
}

/* A random change of before: after, and the patch that says so with one line of context. Each hunk
 * names the line above it, and all lines differ. */
static void make_change(unsigned *state, const struct text *before, struct text *after,
                        struct str *patch)
{
	char fresh[LINE_BYTES];

	str_add(patch, "*** Begin Patch\n*** Update File: f\n");
	for (int i = 0; i < before->count; i++) {
		unsigned what = next_random(state) % 6;

		add(after, before->lines[i]);
		if (what > 2 || i == 0 || i + 2 >= before->count)
			continue;
		(void)snprintf(fresh, sizeof(fresh), "new %d", i);
		str_addf(patch, "@@ %s\n", before->lines[i]);
		str_addf(patch, "%c%s\n", what == 0 ? ' ' : '-', before->lines[i + 1]);
		if (what == 0)
			add(after, before->lines[i + 1]);
		if (what != 1) {
			str_addf(patch, "+%s\n", fresh);
			add(after, fresh);
		}
		i++;
	}
	str_add(patch, "*** End Patch");
}

START_TEST(a_patch_that_a_simple_program_writes_makes_what_it_meant)
{
	enum { RUNS = 5000 };
	unsigned state = 7;
	int applied = 0;

	for (int run = 0; run < RUNS; run++) {
		struct text before = { .count = 0 }, after = { .count = 0 };
		OWNED(str) struct str old_text = { 0 };
		OWNED(str) struct str new_text = { 0 };
		OWNED(str) struct str patch = { 0 };
		int count = 1 + (int)(next_random(&state) % (LINES - 1));
		char line[LINE_BYTES];

		for (int i = 0; i < count; i++) {
			(void)snprintf(line, sizeof(line), "%*sline %d",
			               (int)(next_random(&state) % 3), "", i);
			add(&before, line);
		}
		make_change(&state, &before, &after, &patch);
		if (!strstr(patch.bytes, "@@"))
			continue;
		join(&before, &old_text);
		join(&after, &new_text);
		no_files();
		given_file("f", str_text(&old_text));
		apply(patch.bytes);
		file_is("f", str_text(&new_text));
		applied++;
	}
	ck_assert_int_gt(applied, RUNS / 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_edit_patches");
	TCase *c = tcase_create("gate_edit_patches");

	tcase_add_test(c, each_form_of_an_update_is_applied);
	tcase_add_test(c, files_are_added_deleted_updated_and_moved_in_one_patch);
	tcase_add_test(c, what_is_no_patch_is_not_computed);
	tcase_add_test(c, other_hosts_find_lines_in_ways_of_their_own);
	tcase_add_test(c, what_other_hosts_do_in_ways_of_their_own_is_not_computed);
	tcase_add_test(c, only_a_command_that_is_a_patch_alone_is_one);
	tcase_add_test(c, a_patch_that_a_simple_program_writes_makes_what_it_meant);
	suite_add_tcase(s, c);
	return run_suite(s);
}
