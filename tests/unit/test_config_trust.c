/* Whose config.toml is taken, and what is said of one that others can change. */
#include "config.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char file[128]; /* config.toml in the folder */
static struct config c;
static struct err e;

static void setup(void)
{
	strcpy(folder, "/tmp/config-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(file, sizeof(file), "%s/config.toml", folder);
	(void)setenv("HOME", folder, 1);
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)unsetenv("INTERCOM_CONFIG");
	(void)unsetenv("INTERCOM_LOG");
	memset(&e, 0, sizeof(e));
}

static void teardown(void)
{
	config_clear(&c);
	ck_assert(remove_tree(folder));
}

static void given_file(void)
{
	FILE *out = fopen(file, "we");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(fclose(out), 0);
}

static int load(const char *workspace)
{
	config_clear(&c);
	return config_load(&(struct config_source){ .config = file, .workspace = workspace }, &c,
	                   &e);
}

/* The file with this owner, group and mode is warned of, or not. */
static void is_warned_of(uid_t owner, gid_t group, mode_t mode, bool warned)
{
	given_file();
	ck_assert_int_eq(chown(file, owner, group), 0);
	ck_assert_int_eq(chmod(file, mode), 0);
	ck_assert_msg(load("/usr") == 0, "%s", e.text);
	ck_assert_uint_eq(c.warnings.count, warned);
	if (warned)
		ck_assert_ptr_nonnull(strstr(c.warnings.items[0], "chmod go-w"));
}

START_TEST(a_file_that_others_can_change_is_a_warning)
{
	is_warned_of(getuid(), getgid(), 0666, true);
	is_warned_of(getuid(), getgid(), 0602, true);
	is_warned_of(getuid(), getgid(), 0644, false);
	ck_assert_int_eq(load(folder), 0);
	ck_assert_uint_eq(c.warnings.count, 1);
	ck_assert_ptr_nonnull(strstr(c.warnings.items[0], "an agent can change it"));
	ck_assert_int_eq(chmod(folder, 0777), 0);
	is_warned_of(getuid(), getgid(), 0644, true);
	ck_assert_ptr_nonnull(strstr(c.warnings.items[0], "other users can replace it"));
}
END_TEST

/* umask 0002 is the default where every user has a group of their own. These users and groups are
 * on every Debian. */
START_TEST(a_group_of_the_owner_alone_is_nobody_else)
{
	enum { DAEMON = 1, USERS = 100, UNKNOWN = 54321 };

	SKIP_UNLESS(getuid() == 0, "root, who can give a file away");
	is_warned_of(DAEMON, DAEMON, 0664, false);
	is_warned_of(DAEMON, DAEMON, 0666, true);
	is_warned_of(DAEMON, USERS, 0664, true);
	is_warned_of(0, DAEMON, 0664, true);
	is_warned_of(UNKNOWN, UNKNOWN, 0664, true);
	is_warned_of(DAEMON, UNKNOWN, 0664, true);
}
END_TEST

START_TEST(a_file_of_another_user_is_refused_and_one_of_roots_is_not)
{
	enum { DAEMON = 1, MAIL = 8 };

	SKIP_UNLESS(getuid() == 0, "root, who can become another user");
	given_file();
	ck_assert_int_eq(chmod(folder, 0755), 0);
	ck_assert_int_eq(chmod(file, 0644), 0);
	ck_assert_int_eq(seteuid(DAEMON), 0);
	ck_assert_msg(load("/usr") == 0, "%s", e.text);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(chown(file, MAIL, MAIL), 0);
	ck_assert_msg(load("/usr") == 0, "%s", e.text); /* as root */
	ck_assert_int_eq(seteuid(DAEMON), 0);
	ck_assert_int_eq(load("/usr"), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "belongs to another user (uid 8)"));
	ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("config_trust");
	TCase *tests = tcase_create("config_trust");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_file_that_others_can_change_is_a_warning);
	tcase_add_test(tests, a_group_of_the_owner_alone_is_nobody_else);
	tcase_add_test(tests, a_file_of_another_user_is_refused_and_one_of_roots_is_not);
	suite_add_tcase(s, tests);
	return run_suite(s);
}
