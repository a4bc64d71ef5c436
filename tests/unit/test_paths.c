/* Where files live: run directories, names, file systems. Every test has a fresh folder with its
 * own $HOME and $XDG_* and leaves nothing behind. */
#include "paths.h"

#include "sha256.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static char folder[64];
static unsigned long filesystem_type; /* what our statfs below answers */
static struct err e;
static struct paths p;

int statfs(const char *path, struct statfs *about)
{
	memset(about, 0, sizeof(*about));
	about->f_type = (__fsword_t)filesystem_type;
	return access(path, F_OK);
}

/* The path of name in the test's folder; as below. */
static const char *in(const char *name)
{
	return below(folder, name);
}

static void setup(void)
{
	strcpy(folder, "/tmp/paths-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(mkdir(in("runtime"), 0700), 0);
	(void)setenv("HOME", in("home"), 1);
	(void)setenv("XDG_RUNTIME_DIR", in("runtime"), 1);
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	memset(&e, 0, sizeof(e));
	filesystem_type = 0xEF53;
}

static void teardown(void)
{
	paths_clear(&p);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert(remove_tree(folder));
}

static unsigned mode_of(const char *path)
{
	struct stat about;

	ck_assert_msg(lstat(path, &about) == 0, "%s is missing", path);
	return about.st_mode & 07777;
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	(void)close(fd);
}

static void opens(const char *database, bool create)
{
	paths_clear(&p);
	ck_assert_msg(paths_open(database, create, &p, &e) == 0, "%s", e.text);
}

static void fails(int result, const char *text)
{
	ck_assert_int_eq(result, -1);
	ck_assert_msg(strstr(e.text, text) != NULL, "'%s' is not in '%s'", text, e.text);
	ck_assert_ptr_null(p.run);
}

START_TEST(the_run_directory_is_named_after_the_hash_of_the_database)
{
	struct sha256 hash = sha256_of(in("db/x.db"), strlen(in("db/x.db")));
	char run[256];

	opens(in("db/x.db"), true);
	(void)snprintf(run, sizeof(run), "%s/agent-intercom/%.8s", in("runtime"), hash.text);
	ck_assert_str_eq(p.run, run);
	ck_assert_str_eq(p.database, in("db/x.db"));
	ck_assert_str_eq(p.base, in("runtime/agent-intercom"));
}
END_TEST

START_TEST(directories_are_made_for_us_alone)
{
	mode_t old = umask(0);

	opens(in("a/b/x.db"), true);
	(void)umask(old);
	ck_assert_uint_eq(mode_of(in("a")), 0700);
	ck_assert_uint_eq(mode_of(in("a/b")), 0700);
	ck_assert_uint_eq(mode_of(p.base), 0700);
	ck_assert_uint_eq(mode_of(p.run), 0700);
}
END_TEST

START_TEST(looking_creates_nothing)
{
	opens(in("x.db"), false);
	ck_assert_int_ne(access(in("runtime/agent-intercom"), F_OK), 0);
	paths_clear(&p);
	opens(in("none/x.db"), false);
	ck_assert_str_eq(p.database, in("none/x.db"));
	ck_assert_int_ne(access(in("none"), F_OK), 0);
}
END_TEST

START_TEST(all_names_of_one_database_lead_to_one_run_directory)
{
	OWNED(char_ptr) char *run = NULL;

	touch(in("x.db"));
	opens(in("x.db"), true);
	run = xstrdup(p.run);
	ck_assert_int_eq(symlink(in("x.db"), in("link.db")), 0);
	ck_assert_int_eq(symlink(folder, in("here")), 0);
	ck_assert_int_eq(chdir(folder), 0);
	opens(in("link.db"), true);
	ck_assert_str_eq(p.run, run);
	opens(in("here/x.db"), true);
	ck_assert_str_eq(p.run, run);
	opens("x.db", true);
	ck_assert_str_eq(p.run, run);
	opens("./here/../x.db", false);
}
END_TEST

START_TEST(without_a_usable_runtime_directory_the_state_directory_is_taken)
{
	(void)unsetenv("XDG_RUNTIME_DIR");
	opens(in("x.db"), true);
	ck_assert_str_eq(p.base, in("home/.local/state/agent-intercom/run"));
	(void)setenv("XDG_RUNTIME_DIR", in("missing"), 1);
	opens(in("x.db"), true);
	ck_assert_str_eq(p.base, in("home/.local/state/agent-intercom/run"));
	(void)setenv("XDG_RUNTIME_DIR", "runtime", 1);
	(void)setenv("XDG_STATE_HOME", in("state"), 1);
	opens(in("x.db"), true);
	ck_assert_str_eq(p.base, in("state/agent-intercom/run"));
	ck_assert_uint_eq(mode_of(p.run), 0700);
}
END_TEST

START_TEST(a_runtime_directory_that_others_can_write_is_not_used)
{
	ck_assert_int_eq(chmod(in("runtime"), 0777), 0);
	opens(in("x.db"), true);
	ck_assert_str_eq(p.base, in("home/.local/state/agent-intercom/run"));
}
END_TEST

START_TEST(a_run_directory_open_to_others_is_refused)
{
	ck_assert_int_eq(mkdir(in("runtime/agent-intercom"), 0700), 0);
	ck_assert_int_eq(chmod(in("runtime/agent-intercom"), 0755), 0);
	fails(paths_open(in("x.db"), true, &p, &e), "chmod 700");
	ck_assert_int_eq(chmod(in("runtime/agent-intercom"), 0700), 0);
	opens(in("x.db"), true);
	ck_assert_int_eq(chmod(p.run, 0750), 0);
	paths_clear(&p);
	fails(paths_open(in("x.db"), false, &p, &e), "is open to others");
}
END_TEST

START_TEST(a_directory_of_somebody_else_is_refused)
{
	SKIP_UNLESS(geteuid() == 0, "root, who can give a directory away");
	ck_assert_int_eq(mkdir(in("runtime/agent-intercom"), 0700), 0);
	ck_assert_int_eq(chown(in("runtime/agent-intercom"), 12345, 12345), 0);
	fails(paths_open(in("x.db"), true, &p, &e), "belongs to uid 12345");
}
END_TEST

/* It may hold the database of whoever owns it. */
START_TEST(nobody_is_told_to_remove_the_directory_of_somebody_else)
{
	SKIP_UNLESS(geteuid() == 0, "root, who can give a directory away");
	ck_assert(mkdir(in("home"), 0700) == 0 && mkdir(in("home/state"), 0700) == 0);
	ck_assert_int_eq(chown(in("home/state"), 1, 1), 0);
	ck_assert_int_eq(paths_check_ours(in("home/state"), 0, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "run as that user, or move it away"));
	ck_assert_int_eq(chown(in("home"), 1, 1), 0);
	ck_assert_int_eq(paths_check_ours(in("home/state"), 0, &e), -1);
	ck_assert_ptr_nonnull(
	    strstr(e.text, "run as that user, or with root's home (sudo -H, su -)"));
}
END_TEST

START_TEST(a_link_in_the_place_of_a_directory_is_refused)
{
	ck_assert_int_eq(mkdir(in("elsewhere"), 0700), 0);
	ck_assert_int_eq(symlink(in("elsewhere"), in("runtime/agent-intercom")), 0);
	fails(paths_open(in("x.db"), true, &p, &e), "is not a directory");
}
END_TEST

START_TEST(a_database_that_is_no_file_is_refused)
{
	fails(paths_open(folder, true, &p, &e), "is not a regular file");
	fails(paths_open(in("new/"), true, &p, &e), "names a directory");
	ck_assert_int_eq(symlink(in("nothing"), in("dangling.db")), 0);
	fails(paths_open(in("dangling.db"), true, &p, &e), "symbolic link to nothing");
	touch(in("file"));
	fails(paths_open(in("file/x.db"), true, &p, &e), "Not a directory");
	fails(paths_open(in("a\nb.db"), true, &p, &e), "line break");
}
END_TEST

START_TEST(a_run_directory_too_long_for_sockets_is_refused)
{
	ck_assert_int_eq(mkdir(in("runtime/0123456789012345678901234567890123456789"), 0700), 0);
	(void)setenv("XDG_RUNTIME_DIR", in("runtime/0123456789012345678901234567890123456789"), 1);
	fails(paths_open(in("x.db"), true, &p, &e), "set $XDG_RUNTIME_DIR to a shorter");
}
END_TEST

START_TEST(without_home_the_state_directory_is_a_clear_error)
{
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)unsetenv("HOME");
	fails(paths_open(in("x.db"), true, &p, &e), "neither $XDG_STATE_HOME nor $HOME");
}
END_TEST

START_TEST(a_published_name_finds_the_system)
{
	OWNED(paths) struct paths found = { 0 };
	char target[16] = "";

	opens(in("x.db"), true);
	ck_assert_int_eq(paths_publish(&p, "my.system", "", &e), 0);
	ck_assert_int_eq(readlink(in("runtime/agent-intercom/my.system"), target, 15), 8);
	ck_assert_msg(paths_find_by_name("my.system", &found, &e) == 0, "%s", e.text);
	ck_assert_str_eq(found.database, p.database);
	ck_assert_str_eq(found.run, p.run);
	ck_assert_str_eq(found.base, p.base);
}
END_TEST

START_TEST(a_name_in_the_state_directory_is_found_with_a_runtime_directory_too)
{
	OWNED(paths) struct paths found = { 0 };

	(void)unsetenv("XDG_RUNTIME_DIR");
	opens(in("x.db"), true);
	ck_assert_int_eq(paths_publish(&p, "one", "", &e), 0);
	(void)setenv("XDG_RUNTIME_DIR", in("runtime"), 1);
	ck_assert_msg(paths_find_by_name("one", &found, &e) == 0, "%s", e.text);
	ck_assert_str_eq(found.run, p.run);
}
END_TEST

START_TEST(the_last_system_to_publish_a_name_owns_it)
{
	OWNED(paths) struct paths found = { 0 };

	opens(in("x.db"), true);
	ck_assert_int_eq(paths_publish(&p, "one", "", &e), 0);
	ck_assert_int_eq(paths_publish(&p, "one", "", &e), 0);
	opens(in("y.db"), true);
	ck_assert_int_eq(paths_publish(&p, "one", "", &e), 0);
	ck_assert_int_eq(paths_find_by_name("one", &found, &e), 0);
	ck_assert_str_eq(found.database, in("y.db"));
}
END_TEST

START_TEST(a_name_that_is_not_there_says_where_was_looked)
{
	fails(paths_find_by_name("nobody", &p, &e), "no system is named 'nobody'");
	ck_assert_ptr_nonnull(strstr(e.text, in("runtime/agent-intercom")));
	ck_assert_ptr_nonnull(strstr(e.text, in("home/.local/state/agent-intercom/run")));
}
END_TEST

START_TEST(a_name_that_is_a_directory_is_not_overwritten)
{
	opens(in("x.db"), true);
	ck_assert_int_eq(mkdir(in("runtime/agent-intercom/taken"), 0700), 0);
	ck_assert_int_eq(paths_publish(&p, "taken", "", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "choose another ipc_name"));
}
END_TEST

START_TEST(names_cannot_leave_their_directory)
{
	static const char *const BAD[] = { "", ".", "..", "../x", "a/b", "a b", "\xc3\xa4" };
	char longest[PATHS_NAME_BYTES_MAX + 2];

	for (size_t i = 0; i < COUNT(BAD); i++) {
		ck_assert(!paths_name_fits(BAD[i]));
		fails(paths_find_by_name(BAD[i], &p, &e), "ipc name");
	}
	memset(longest, 'x', sizeof(longest));
	longest[PATHS_NAME_BYTES_MAX + 1] = '\0';
	ck_assert(!paths_name_fits(longest));
	longest[PATHS_NAME_BYTES_MAX] = '\0';
	ck_assert(paths_name_fits(longest));
	ck_assert(paths_name_fits("Agent-intercom_2.x"));
}
END_TEST

START_TEST(a_database_file_that_names_another_database_is_refused)
{
	char path[256];
	FILE *file;

	opens(in("x.db"), true);
	ck_assert_int_eq(paths_publish(&p, "one", "", &e), 0);
	(void)snprintf(path, sizeof(path), "%s/database", p.run);
	ck_assert_uint_eq(mode_of(path), 0600);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	(void)fputs("/tmp/other.db\n", file);
	(void)fclose(file);
	paths_clear(&p);
	fails(paths_find_by_name("one", &p, &e), "belongs to another run directory");
	ck_assert_int_eq(truncate(path, 0), 0);
	fails(paths_find_by_name("one", &p, &e), "is incomplete");
	ck_assert_int_eq(unlink(path), 0);
	fails(paths_find_by_name("one", &p, &e), "No such file");
}
END_TEST

START_TEST(what_is_no_file_is_not_taken_for_a_part_of_a_database)
{
	ck_assert_int_eq(symlink("real.db", in("link.db")), 0);
	touch(in("real.db"));
	ck_assert_int_eq(paths_check_beside(in("link.db"), &e), 0);

	ck_assert_int_eq(mkdir(in("real.db-wal"), 0700), 0);
	fails(paths_check_beside(in("link.db"), &e), "real.db-wal: is no regular file; remove it");
	ck_assert_int_eq(rmdir(in("real.db-wal")), 0);

	ck_assert_int_eq(symlink("real.db", in("real.db-journal")), 0);
	fails(paths_check_beside(in("real.db"), &e),
	      "real.db-journal: is no regular file; remove it");
	ck_assert_int_eq(unlink(in("real.db-journal")), 0);
	ck_assert_int_eq(paths_check_beside(in("real.db"), &e), 0);
}
END_TEST

START_TEST(what_lies_beside_a_database_is_ours_or_its_owners)
{
	enum { OWNER = 1, SOMEBODY = 2 };

	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	touch(in("x.db-wal"));
	ck_assert_int_eq(chown(in("x.db-wal"), OWNER, OWNER), 0);
	fails(paths_check_beside(in("x.db"), &e),
	      "x.db-wal: belongs to uid 1, not to us"); /* it is still to be made */

	touch(in("x.db"));
	fails(paths_check_beside(in("x.db"), &e), "x.db-wal: belongs to uid");
	ck_assert_int_eq(chown(in("x.db"), OWNER, OWNER), 0);
	ck_assert_int_eq(paths_check_beside(in("x.db"), &e), 0);
	ck_assert_int_eq(chown(in("x.db-wal"), 0, 0), 0);
	ck_assert_int_eq(paths_check_beside(in("x.db"), &e), 0);
	ck_assert_int_eq(chown(in("x.db-wal"), SOMEBODY, SOMEBODY), 0);
	fails(paths_check_beside(in("x.db"), &e), "x.db-wal: belongs to uid");
}
END_TEST

START_TEST(a_directory_that_was_made_again_is_another_one)
{
	int fd;

	ck_assert_int_eq(mkdir(in("run"), 0700), 0);
	fd = open(in("run"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert(paths_is_there(fd, in("run")));
	ck_assert_int_eq(rename(in("run"), in("moved")), 0);
	ck_assert(!paths_is_there(fd, in("run")));
	ck_assert_int_eq(mkdir(in("run"), 0700), 0);
	ck_assert(!paths_is_there(fd, in("run")));
	ck_assert(paths_is_there(fd, in("moved")));
	(void)close(fd);
}
END_TEST

START_TEST(network_and_fuse_file_systems_are_refused_with_the_way_out)
{
	static const struct {
		unsigned long type;
		const char *name;
	} CASES[] = {
		{ 0x6969, "NFS" }, { 0xFF534D42, "CIFS" }, { 0xFE534D42, "SMB" },
		{ 0x517B, "SMB" }, { 0x01021997, "9p" },   { 0x65735546, "FUSE" },
	};

	ck_assert_int_eq(paths_check_filesystem(folder, &e), 0);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		filesystem_type = CASES[i].type;
		fails(paths_check_filesystem(folder, &e), CASES[i].name);
		ck_assert_ptr_nonnull(strstr(e.text, "--db PATH"));
	}
	fails(paths_check_filesystem(in("missing"), &e), "No such file");
}
END_TEST

START_TEST(worker_binaries_are_beside_the_program_or_in_libexec)
{
	OWNED(str) struct str dir = { 0 };
	OWNED(str) struct str front = { 0 };
	char program[256] = "";
	bool beside;

	ck_assert_int_gt(readlink("/proc/self/exe", program, sizeof(program) - 1), 0);
	*strrchr(program, '/') = '\0';
	str_addf(&front, "%s/mcp-front", program);
	beside = access(str_text(&front), X_OK) == 0;
	ck_assert_int_eq(paths_libexec(&dir, &e), 0);
	if (beside) {
		ck_assert_str_eq(str_text(&dir), program);
		return;
	}
	ck_assert_ptr_nonnull(strstr(str_text(&dir), "/agent-intercom"));
	ck_assert_int_eq(strncmp(str_text(&dir), program, strrchr(program, '/') - program), 0);
}
END_TEST

START_TEST(relative_variables_count_as_unset)
{
	OWNED(str) struct str dir = { 0 };

	(void)setenv("XDG_CONFIG_HOME", "here", 1);
	ck_assert_int_eq(paths_config_home(&dir, &e), 0);
	ck_assert_str_eq(str_text(&dir), in("home/.config"));
	(void)setenv("HOME", "here", 1);
	ck_assert_int_eq(paths_config_home(&dir, &e), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("paths");
	TCase *tests = tcase_create("paths");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, the_run_directory_is_named_after_the_hash_of_the_database);
	tcase_add_test(tests, directories_are_made_for_us_alone);
	tcase_add_test(tests, looking_creates_nothing);
	tcase_add_test(tests, all_names_of_one_database_lead_to_one_run_directory);
	tcase_add_test(tests, without_a_usable_runtime_directory_the_state_directory_is_taken);
	tcase_add_test(tests, a_runtime_directory_that_others_can_write_is_not_used);
	tcase_add_test(tests, a_run_directory_open_to_others_is_refused);
	tcase_add_test(tests, a_directory_of_somebody_else_is_refused);
	tcase_add_test(tests, nobody_is_told_to_remove_the_directory_of_somebody_else);
	tcase_add_test(tests, a_link_in_the_place_of_a_directory_is_refused);
	tcase_add_test(tests, a_database_that_is_no_file_is_refused);
	tcase_add_test(tests, a_run_directory_too_long_for_sockets_is_refused);
	tcase_add_test(tests, without_home_the_state_directory_is_a_clear_error);
	tcase_add_test(tests, a_published_name_finds_the_system);
	tcase_add_test(tests, a_name_in_the_state_directory_is_found_with_a_runtime_directory_too);
	tcase_add_test(tests, the_last_system_to_publish_a_name_owns_it);
	tcase_add_test(tests, a_name_that_is_not_there_says_where_was_looked);
	tcase_add_test(tests, a_name_that_is_a_directory_is_not_overwritten);
	tcase_add_test(tests, names_cannot_leave_their_directory);
	tcase_add_test(tests, a_database_file_that_names_another_database_is_refused);
	tcase_add_test(tests, what_is_no_file_is_not_taken_for_a_part_of_a_database);
	tcase_add_test(tests, what_lies_beside_a_database_is_ours_or_its_owners);
	tcase_add_test(tests, a_directory_that_was_made_again_is_another_one);
	tcase_add_test(tests, network_and_fuse_file_systems_are_refused_with_the_way_out);
	tcase_add_test(tests, worker_binaries_are_beside_the_program_or_in_libexec);
	tcase_add_test(tests, relative_variables_count_as_unset);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
