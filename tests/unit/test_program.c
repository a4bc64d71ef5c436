/* Where programs are found that one user has installed. Every test has a fresh home. */
#include "err.h"
#include "program.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static const char *in(const char *name)
{
	return below(folder, name);
}

static void setup(void)
{
	strcpy(folder, "/tmp/program-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)setenv("HOME", folder, 1);
	(void)setenv("PATH", in("path"), 1);
	(void)unsetenv("NPM_CONFIG_PREFIX");
}

static void teardown(void)
{
	ck_assert(remove_tree(folder));
}

/* A file in the home, with its folders. */
static void given(const char *name, const char *text, mode_t mode)
{
	char path[256];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s", in(name));
	for (char *slash = path + strlen(folder); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	out = fopen(path, "we");
	ck_assert_ptr_nonnull(out);
	ck_assert_int_ge(fputs(text, out), 0);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static void given_program(const char *name)
{
	given(name, "#!/bin/sh\n", 0700);
}

static void finds(const char *name, const char *where)
{
	OWNED(str) struct str path = { 0 };

	ck_assert_msg(program_find(name, &path), "%s is not found", name);
	ck_assert_str_eq(str_text(&path), where);
}

static void finds_none(const char *name)
{
	OWNED(str) struct str path = { 0 };

	ck_assert_msg(!program_find(name, &path), "%s is %s", name, str_text(&path));
	ck_assert_uint_eq(path.length, 0);
}

START_TEST(a_program_is_looked_for_in_path_first)
{
	given_program(".local/bin/agent");
	finds("agent", in(".local/bin/agent"));
	given_program("path/agent");
	finds("agent", in("path/agent"));
	finds_none("other");
}
END_TEST

START_TEST(the_folders_of_path_are_gone_through_in_order)
{
	OWNED(str) struct str path = { 0 };

	given_program("second/agent");
	given_program("third/agent");
	str_addf(&path, "%s:", in("first"));
	str_addf(&path, ":%s:", in("second"));
	str_addf(&path, "%s", in("third"));
	(void)setenv("PATH", str_text(&path), 1);
	finds("agent", in("second/agent"));
}
END_TEST

START_TEST(what_is_no_program_is_not_found)
{
	given("path/text", "", 0600);
	given("path/folder/file", "", 0600);
	finds_none("text");
	finds_none("folder");
	finds_none("");
	finds_none(in("path/text"));
}
END_TEST

START_TEST(the_working_directory_is_no_place_for_programs)
{
	given_program("here/agent");
	ck_assert_int_eq(chdir(in("here")), 0);
	(void)setenv("PATH", ".:", 1);
	finds_none("agent");
	finds_none("./agent");
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(a_path_is_that_program)
{
	given_program("x/agent");
	finds(in("x/agent"), in("x/agent"));
}
END_TEST

START_TEST(npm_says_where_its_programs_are)
{
	static const char *const RCS[] = { "prefix=~/npm\n", "a=b\n prefix = ${HOME}/npm\r\n",
		                           "prefix=\"~/npm\"\n" };

	given_program("npm/bin/agent");
	finds_none("agent");
	finds_none("sh"); /* no prefix is not the root */
	for (size_t i = 0; i < COUNT(RCS); i++) {
		given(".npmrc", RCS[i], 0600);
		finds("agent", in("npm/bin/agent"));
	}
	given(".npmrc", "prefixes=~/npm\n", 0600);
	finds_none("agent");
	given_program("other/bin/agent");
	(void)setenv("NPM_CONFIG_PREFIX", in("other"), 1);
	finds("agent", in("other/bin/agent"));
}
END_TEST

START_TEST(what_is_beside_node_is_found)
{
	given_program("node-22/bin/node");
	given_program("node-22/bin/agent");
	ck_assert_int_eq(mkdir(in("path"), 0700), 0);
	finds_none("agent");
	ck_assert_int_eq(symlink("../node-22/bin/node", in("path/node")), 0);
	finds("agent", in("node-22/bin/agent"));
}
END_TEST

START_TEST(of_nvm_the_newest_version_that_has_it_counts)
{
	given_program(".nvm/versions/node/v9.1.0/bin/agent");
	given_program(".nvm/versions/node/v22.2.0/bin/agent");
	given_program(".nvm/versions/node/v24.0.0/bin/other");
	finds("agent", in(".nvm/versions/node/v22.2.0/bin/agent"));
}
END_TEST

START_TEST(a_program_finds_what_is_beside_it)
{
	OWNED(str) struct str path = { 0 };

	(void)setenv("PATH", "/usr/bin:/bin", 1);
	program_path("/opt/node/bin/agent", &path);
	ck_assert_str_eq(str_text(&path), "/opt/node/bin:/usr/bin:/bin");
	str_reset(&path);
	program_path("/bin/agent", &path);
	ck_assert_str_eq(str_text(&path), "/usr/bin:/bin");
	str_reset(&path);
	(void)unsetenv("PATH");
	program_path("/opt/agent", &path);
	ck_assert_str_eq(str_text(&path), "/opt:/usr/local/bin:/usr/bin:/bin");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("program");
	TCase *tests = tcase_create("program");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_program_is_looked_for_in_path_first);
	tcase_add_test(tests, the_folders_of_path_are_gone_through_in_order);
	tcase_add_test(tests, what_is_no_program_is_not_found);
	tcase_add_test(tests, the_working_directory_is_no_place_for_programs);
	tcase_add_test(tests, a_path_is_that_program);
	tcase_add_test(tests, npm_says_where_its_programs_are);
	tcase_add_test(tests, what_is_beside_node_is_found);
	tcase_add_test(tests, of_nvm_the_newest_version_that_has_it_counts);
	tcase_add_test(tests, a_program_finds_what_is_beside_it);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
