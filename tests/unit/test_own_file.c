/* Files of ours are found by their names, and by what these stand for. */
#include "harness.h"
#include "own_file.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#define OF_DATABASE "belongs to agent-intercom's database"
#define OF_OURS "is one of agent-intercom's own files"

static char base[1000];
static struct own_places ours;
static int root = -1;

/* A line of shell in the scratch directory, which holds the workspace ws and our folder own. */
static void sh(const char *line)
{
	OWNED(str) struct str command = { 0 };

	str_addf(&command, "cd '%s' && { %s\n}", base, line);
	MUST(system(command.bytes) == 0, "%s", line); /* NOLINT(cert-env33-c) */
}

static char *beneath(const char *name)
{
	struct str path = { 0 };

	str_addf(&path, "%s/%s", base, name);
	return str_take(&path);
}

/* Again after may_mount, in the namespace that has the mounts. */
static void open_root(void)
{
	OWNED(char_ptr) char *workspace = beneath("ws");

	if (root >= 0)
		(void)close(root);
	root = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(root, 0);
}

static void given_ours(void)
{
	OWNED(char_ptr) char *real = realpath(scratch(), NULL);

	(void)snprintf(base, sizeof(base), "%.900s", real);
	sh("mkdir -p ws/sub own/deep; : >own/token; : >own/deep/key; : >ws/x.db; : >ws/x.db-wal");
	ours = (struct own_places){ .database = beneath("ws/x.db") };
	own_places_add(&ours, beneath("own"));
	own_places_add(&ours, beneath("own/token"));
	own_places_add(&ours, beneath("ws/x.db"));
	own_places_add(&ours, beneath("ws/x.db-wal"));
	open_root();
}

static void over(void)
{
	(void)close(root);
	own_places_clear(&ours);
}

static void is(const char *path, const char *why)
{
	const char *found;

	own_places_look(&ours);
	found = own_file(root, path, &ours);
	ck_assert_msg(strcmp(found ? found : "", why ? why : "") == 0, "%s: %s", path, found);
}

static void bind(const char *what, const char *where)
{
	OWNED(char_ptr) char *from = beneath(what), *to = beneath(where);

	MUST(mount(from, to, NULL, MS_BIND, NULL) == 0, "%s at %s", from, to);
}

START_TEST(a_name_of_ours_is_ours_whether_it_is_there_or_not)
{
	is("x.db", OF_DATABASE);
	is("x.db-wal", OF_DATABASE);
	is("x.db-journal", OF_DATABASE);
	is("x.db.before-9", OF_DATABASE);
	is("x.db-objects/aa/bb", OF_DATABASE);
	is("x.dbx", NULL);
	is("x.d", NULL);
	is("sub/x.db", NULL);
	is("", NULL);
	ck_assert_ptr_null(own_file(root, "x.db", NULL));
}
END_TEST

START_TEST(a_hard_link_of_ours_is_ours)
{
	sh("ln own/token ws/sub/a; ln ws/x.db-wal ws/sub/b; ln own/deep/key ws/sub/c");
	is("sub/a", OF_OURS);
	is("sub/b", OF_DATABASE);
	is("sub/c", NULL); /* by no name of ours is it known */
	sh("rm own/token; : >own/token");
	is("sub/a", NULL);
}
END_TEST

START_TEST(what_is_in_a_bind_mount_of_ours_is_ours)
{
	SKIP_UNLESS(may_mount(), "root");
	open_root();
	sh("mkdir ws/sub/m ws/sub/all; : >ws/sub/file");
	bind("own", "ws/sub/m");
	bind(".", "ws/sub/all");
	bind("ws/x.db", "ws/sub/file");
	is("sub/m", OF_OURS);
	is("sub/m/deep/key", OF_OURS);
	is("sub/m/new", OF_OURS);
	is("sub/all", NULL);
	is("sub/all/own/deep", OF_OURS);
	is("sub/all/ws/x.db", OF_DATABASE);
	is("sub/file", OF_DATABASE);
	is("sub/none", NULL);
}
END_TEST

START_TEST(what_goes_to_another_process_is_the_same_there)
{
	OWNED(own_places) struct own_places there = { .database = NULL };
	OWNED(str) struct str message = { 0 };
	struct pack from;

	own_places_look(&ours);
	own_places_write(&ours, &message);
	from = (struct pack){ .at = message.bytes, .left = message.length };
	own_places_read(&there, &from, 1000);
	ck_assert(pack_is_whole(&from));
	ck_assert_str_eq(there.database, ours.database);
	ck_assert_uint_eq(there.count, ours.count);
	for (size_t i = 0; i < ours.count; i++) {
		ck_assert_str_eq(there.list[i].name, ours.list[i].name);
		ck_assert_uint_eq(there.list[i].dev, ours.list[i].dev);
		ck_assert_uint_eq(there.list[i].ino, ours.list[i].ino);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("own_file");
	TCase *c = tcase_create("own_file");

	tcase_add_checked_fixture(c, given_ours, over);
	tcase_add_test(c, a_name_of_ours_is_ours_whether_it_is_there_or_not);
	tcase_add_test(c, a_hard_link_of_ours_is_ours);
	tcase_add_test(c, what_is_in_a_bind_mount_of_ours_is_ours);
	tcase_add_test(c, what_goes_to_another_process_is_the_same_there);
	suite_add_tcase(s, c);
	return run_suite(s);
}
