/* group_id: groups by name and number, and those of the process at the other end of a socket. */
#include "group_id.h"
#include "suite.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OURS = 60200, MANY = 100 };

START_TEST(a_group_is_found_by_its_name_or_its_number)
{
	struct err e = { 0 };
	gid_t group = 1;

	ck_assert(group_id_find("root", &group, &e) == 0 && group == 0);
	ck_assert(group_id_find("60200", &group, &e) == 0 && group == 60200);
	ck_assert_int_eq(group_id_find("no-such-group", &group, &e), -1);
	ck_assert_str_eq(e.text, "there is no group 'no-such-group'");
	ck_assert_int_eq(group_id_find("", &group, &e), -1);
	ck_assert_int_eq(group_id_find("-1", &group, &e), -1);
	ck_assert_int_eq(group_id_find("12x", &group, &e), -1);
	ck_assert_int_eq(group_id_find("4294967295", &group, &e), -1);
}
END_TEST

START_TEST(a_peer_has_its_own_group_and_all_others_that_it_had_when_it_connected)
{
	gid_t groups[MANY];
	int ends[2];

	SKIP_UNLESS(geteuid() == 0, "root, who can have any group");
	for (gid_t i = 0; i < MANY; i++)
		groups[i] = OURS + i;
	ck_assert(setgroups(MANY, groups) == 0 && setegid(OURS + MANY) == 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert(setegid(0) == 0 && setgroups(0, NULL) == 0);
	(void)prctl(PR_SET_DUMPABLE, 1); /* for LeakSanitizer: it traces us at the end */
	ck_assert(group_id_has_peer(OURS, ends[0]));
	ck_assert(group_id_has_peer(OURS + MANY - 1, ends[0]));
	ck_assert(group_id_has_peer(OURS + MANY, ends[0]));
	ck_assert(!group_id_has_peer(OURS + MANY + 1, ends[0]));
	ck_assert(!group_id_has_peer(OURS, STDIN_FILENO));
}
END_TEST

/* These users and groups are on every Debian. */
START_TEST(a_group_of_its_user_alone_is_private)
{
	enum { DAEMON = 1, MAIL = 8, USERS = 100, NOBODY = 65534, UNKNOWN = 54321 };

	ck_assert(group_id_is_private(0, 0));
	ck_assert(group_id_is_private(DAEMON, DAEMON));
	ck_assert(group_id_is_private(MAIL, MAIL));
	ck_assert(!group_id_is_private(MAIL, DAEMON));
	ck_assert(!group_id_is_private(DAEMON, 0));
	ck_assert(!group_id_is_private(USERS, DAEMON));
	ck_assert(!group_id_is_private(NOBODY, NOBODY)); /* nogroup, which others are in */
	ck_assert(!group_id_is_private(UNKNOWN, UNKNOWN));
	ck_assert(!group_id_is_private(UNKNOWN, 0));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("group_id");
	TCase *c = tcase_create("group_id");

	tcase_add_test(c, a_group_is_found_by_its_name_or_its_number);
	tcase_add_test(c, a_peer_has_its_own_group_and_all_others_that_it_had_when_it_connected);
	tcase_add_test(c, a_group_of_its_user_alone_is_private);
	suite_add_tcase(s, c);
	return run_suite(s);
}
