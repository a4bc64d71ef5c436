/* A user whose programs have all the inotify instances, or watches, that the kernel allows: the
 * system serves, looks by itself, and says which limit that is. */
#include "policy_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *fails, *limit;
} FAULTS[] = {
	{ "inotify_init1:error=EMFILE", "fs.inotify.max_user_instances" },
	{ "inotify_add_watch:error=ENOSPC", "fs.inotify.max_user_watches" },
};

START_TEST(without_inotify_a_system_serves_and_says_which_limit_was_reached)
{
	OWNED(char_ptr) char *log = NULL;
	OWNED(char_ptr) char *question = NULL;
	char command[900];

	site = given_site();
	site.fails = FAULTS[_i].fails;
	given_policy(DOCS);
	site_start(&site);
	given_agent("?wait=1");
	clearance_is("docs/a.md", "approved");
	given_policy("{\"enabled\":false}");
	clearance_is("docs/b.md", "pending");

	/* Who writes with the shell rings nobody. */
	question = rows("SELECT id FROM request WHERE state = 'pending'");
	(void)snprintf(command, sizeof(command),
	               "sqlite3 '%s' \"INSERT INTO decision (request_id, verdict) "
	               "VALUES ('%.36s', 'reject')\"",
	               site.database, question);
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
	expect_soon("SELECT state FROM request WHERE file_path = 'docs/b.md'", "rejected\n");
	clearance_is("docs/b.md", "rejected");

	log = get_file(site.home, "log");
	says(log, FAULTS[_i].limit);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_unwatched");
	TCase *c = tcase_create("unwatched");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, without_inotify_a_system_serves_and_says_which_limit_was_reached, 0,
	                    COUNT(FAULTS));
	suite_add_tcase(s, c);
	return run_suite(s);
}
