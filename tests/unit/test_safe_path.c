/* safe_path: nothing outside the workspace is read, hashed or reached, whatever the name. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "refusal.h"
#include "safe_path.h"
#include "suite.h"

#define MAGIC_LINKS "proc/self/"

enum { ENOUGH_BYTES = 1000 };

static char scratch[64]; /* holds ws/, the workspace, and out/, which nobody may reach */
static char root[80];
static int root_fd = -1;

static void make(const char *name, const char *content)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	ck_assert_int_eq(close(fd), 0);
}

/* The working directory is the workspace during a test. */
static void setup(void)
{
	struct err e = { 0 };

	(void)snprintf(scratch, sizeof(scratch), "/tmp/test_safe_path.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	(void)snprintf(root, sizeof(root), "%s/ws", scratch);
	ck_assert_int_eq(chdir(scratch), 0);
	ck_assert_int_eq(mkdir("ws", 0755), 0);
	ck_assert_int_eq(mkdir("out", 0755), 0);
	make("out/secret", "secret");
	ck_assert_int_eq(chdir("ws"), 0);
	ck_assert_int_eq(mkdir("dir", 0755), 0);
	make("dir/file", "hello");
	ck_assert_msg(safe_path_open(root, &root_fd, &e) == 0, "%s", e.text);
}

static void teardown(void)
{
	OWNED(str) struct str command = { 0 };

	(void)close(root_fd);
	ck_assert_int_eq(chdir("/"), 0);
	str_addf(&command, "rm -rf %s", scratch);
	ck_assert_int_eq(system(str_text(&command)), 0);
}

static void link_to(const char *target, const char *name)
{
	ck_assert_int_eq(symlink(target, name), 0);
}

/* ---- text ---- */

static void expect_clean(const char *given, const char *want)
{
	OWNED(str) struct str relative = { 0 };
	struct err e = { 0 };

	ck_assert_msg(safe_path_clean(root, given, strlen(given), &relative, &e) == 0, "%s",
	              e.text);
	ck_assert_str_eq(str_text(&relative), want);
}

static void expect_violation_bytes(const char *given, size_t length, const char *why)
{
	OWNED(str) struct str relative = { 0 };
	OWNED(str) struct str text = { 0 };
	struct err e = { 0 };

	str_add(&relative, "untouched");
	ck_assert_msg(safe_path_clean(root, given, length, &relative, &e) == -1, "let in: %s as %s",
	              given, str_text(&relative));
	ck_assert_int_eq(e.kind, ERR_INPUT);
	ck_assert_str_eq(str_text(&relative), "untouched");
	str_addf(&text, "path violation: %s", why);
	ck_assert_str_eq(e.text, str_text(&text));
}

static void expect_violation(const char *given, const char *why)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "\"%s\" %s", given, why);
	expect_violation_bytes(given, strlen(given), str_text(&text));
}

START_TEST(ordinary_names_come_out_canonical)
{
	OWNED(str) struct str absolute = { 0 };

	expect_clean("src/main.c", "src/main.c");
	expect_clean("./src//main.c", "src/main.c");
	expect_clean("src/../lib/./x", "lib/x");
	expect_clean(".gitignore", ".gitignore");
	expect_clean("src/.intercom.x", "src/.intercom.x");
	expect_clean("..x/...", "..x/...");
	expect_clean("a b\\c\303\244", "a b\\c\303\244");
	str_addf(&absolute, "%s//src/./x.c", root);
	expect_clean(str_text(&absolute), "src/x.c");
	str_reset(&absolute);
	str_addf(&absolute, "%s/a/../../ws/x.c", root);
	expect_clean(str_text(&absolute), "x.c");
}
END_TEST

START_TEST(names_that_climb_out_are_refused)
{
	OWNED(str) struct str absolute = { 0 };

	expect_violation("../x", "leads outside the workspace");
	expect_violation("a/../../x", "leads outside the workspace");
	expect_violation("a/../../ws/x", "leads outside the workspace");
	expect_violation("/etc/passwd", "is outside the workspace");
	expect_violation("/../etc/passwd", "is outside the workspace");
	str_addf(&absolute, "%s/../x", root);
	expect_violation(str_text(&absolute), "is outside the workspace");
	str_reset(&absolute);
	str_addf(&absolute, "%s2/x", root);
	expect_violation(str_text(&absolute), "is outside the workspace");
	expect_violation(root, "is the workspace itself");
}
END_TEST

START_TEST(names_that_are_no_file_names_are_refused)
{
	expect_violation("", "is empty");
	expect_violation(".", "names a directory");
	expect_violation("..", "names a directory");
	expect_violation("a/.", "names a directory");
	expect_violation("a/..", "names a directory");
	expect_violation("a/", "ends in a slash");
	expect_violation("/", "ends in a slash");
}
END_TEST

START_TEST(odd_bytes_are_refused_and_shown_escaped)
{
	expect_violation_bytes("a\0b", 3, "\"a\\x00b\" has a control byte");
	expect_violation_bytes("a\nb", 3, "\"a\\x0ab\" has a control byte");
	expect_violation_bytes("a\x7F", 2, "\"a\\x7f\" has a control byte");
	expect_violation_bytes("a\x1B[2J", 5, "\"a\\x1b[2J\" has a control byte");
	expect_violation_bytes("\xC0\xAE/x", 4, "\"\\xc0\\xae/x\" is not valid UTF-8");
	expect_violation_bytes("\xED\xA0\x80", 3, "\"\\xed\\xa0\\x80\" is not valid UTF-8");
}
END_TEST

START_TEST(protected_places_are_refused)
{
	static const char like_ours[] =
	    "is named like a temporary file of agent-intercom, which is protected";

	expect_violation(".git/config", "is inside .git, which is protected");
	expect_violation(".GIT/hooks/x", "is inside .git, which is protected");
	expect_violation("sub/.Git/config", "is inside .git, which is protected");
	expect_violation("x/../.git/config", "is inside .git, which is protected");
	expect_violation(".git", "is inside .git, which is protected");
	expect_violation(".intercom/settings.json", "is inside .intercom, which is protected");
	expect_violation("src/.InterCom/x", "is inside .intercom, which is protected");
	expect_violation("./.Intercom/x", "is inside .intercom, which is protected");
	expect_violation("docs/.intercom-0123456789abcdef.tmp", like_ours);
	expect_violation(".intercom-0123456789abcdef.old/x", like_ours);
	expect_clean(".intercom-0123456789abcdef0.tmp", ".intercom-0123456789abcdef0.tmp");
	expect_clean(".intercom-notes/x.tmp", ".intercom-notes/x.tmp");
}
END_TEST

START_TEST(names_that_are_too_long_are_refused)
{
	OWNED(str) struct str component = { 0 };
	OWNED(str) struct str relative = { 0 };
	OWNED(str) struct str path = { 0 };
	struct err e = { 0 };

	for (int i = 0; i < NAME_MAX; i++)
		str_add_char(&component, 'x');
	expect_clean(str_text(&component), str_text(&component));
	str_add_char(&component, 'x');
	ck_assert_int_eq(safe_path_clean(root, component.bytes, component.length, &relative, &e),
	                 -1);
	ck_assert_ptr_nonnull(strstr(e.text, "xx...\" has a component over 255 bytes"));
	while (path.length < PATH_MAX)
		str_add(&path, "x/y");
	ck_assert_int_eq(safe_path_clean(root, path.bytes, path.length, &relative, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "...\" is too long"));
	ck_assert(strlen(e.text) < 300);
}
END_TEST

START_TEST(the_root_of_the_machine_may_be_a_workspace)
{
	OWNED(str) struct str relative = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(safe_path_clean("/", "/etc/hosts", 10, &relative, &e), 0);
	ck_assert_str_eq(str_text(&relative), "etc/hosts");
	ck_assert_int_eq(safe_path_clean("relative", "x", 1, &relative, &e), -1);
	ck_assert_int_eq(e.kind, ERR_BUG);
}
END_TEST

/* ---- reading ---- */

static void expect_read(const char *name, const char *want)
{
	OWNED(str) struct str bytes = { 0 };
	struct err e = { 0 };
	struct sha256 hash, wanted = sha256_of(want, strlen(want));
	struct stat st;

	ck_assert_msg(safe_path_read(root_fd, name, ENOUGH_BYTES, &bytes, &st, &e) == 1, "%s",
	              e.text);
	ck_assert_str_eq(str_text(&bytes), want);
	ck_assert_uint_eq((size_t)st.st_size, strlen(want));
	ck_assert_int_eq(safe_path_hash(root_fd, name, &hash, &e), 1);
	ck_assert_str_eq(hash.text, wanted.text);
}

static void expect_absent(const char *name)
{
	OWNED(str) struct str bytes = { 0 };
	struct err e = { 0 };
	struct sha256 hash;

	ck_assert_int_eq(safe_path_read(root_fd, name, ENOUGH_BYTES, &bytes, NULL, &e), 0);
	ck_assert_int_eq(safe_path_hash(root_fd, name, &hash, &e), 0);
	ck_assert_int_eq(e.kind, ERR_NONE);
}

static void expect_unread(const char *name, const char *why)
{
	OWNED(str) struct str bytes = { 0 };
	struct err e = { 0 };
	struct sha256 hash;

	ck_assert_int_eq(safe_path_read(root_fd, name, ENOUGH_BYTES, &bytes, NULL, &e), -1);
	ck_assert_str_eq(e.text, why);
	ck_assert_int_eq(e.kind, ERR_INPUT);
	e = (struct err){ 0 };
	ck_assert_int_eq(safe_path_hash(root_fd, name, &hash, &e), -1);
	ck_assert_str_eq(e.text, why);
	ck_assert_uint_eq(bytes.length, 0);
}

START_TEST(a_file_is_read_and_hashed)
{
	make("empty", "");
	expect_read("dir/file", "hello");
	expect_read("empty", "");
}
END_TEST

START_TEST(a_file_or_directory_that_is_not_there_is_told_apart_from_an_error)
{
	expect_absent("nothing");
	expect_absent("no/such/dir");
	expect_unread("dir/file/below", "cannot open dir/file/below: Not a directory");
}
END_TEST

START_TEST(a_file_larger_than_allowed_is_refused)
{
	OWNED(str) struct str bytes = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(safe_path_read(root_fd, "dir/file", 4, &bytes, NULL, &e), -1);
	ck_assert_str_eq(e.text, "dir/file: is larger than 4 bytes");
	ck_assert_int_eq(safe_path_read(root_fd, "dir/file", 5, &bytes, NULL, &e), 1);
}
END_TEST

/* They are for safe_path_resolve: what is read was resolved before, so a link has come since. */
START_TEST(no_symlink_is_followed_when_a_file_is_read)
{
	link_to("dir", "there");
	link_to("file", "dir/again");
	link_to("../out/secret", "away");
	expect_unread("there/file",
	              "path violation: \"there/file\" is a symlink, or lies behind one");
	expect_unread("dir/again",
	              "path violation: \"dir/again\" is a symlink, or lies behind one");
	expect_unread("away", "path violation: \"away\" is a symlink, or lies behind one");
	expect_unread("dir/../../out/secret",
	              "path violation: \"dir/../../out/secret\" leads outside the workspace");
}
END_TEST

START_TEST(what_is_no_regular_file_is_refused_without_waiting)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(mkfifo("fifo", 0644), 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(close(fd), 0);
	expect_unread("fifo", "fifo: is a FIFO");
	expect_unread("socket", "socket: is a socket");
	expect_unread("dir", "dir: is a directory");
}
END_TEST

START_TEST(magic_links_of_proc_and_devices_are_refused)
{
	struct err e = { 0 };
	OWNED(str) struct str bytes = { 0 };
	int fd = -1;

	ck_assert_int_eq(safe_path_open("/", &fd, &e), 0);
	ck_assert_int_eq(safe_path_resolve(fd, MAGIC_LINKS "exe", &bytes, &e), -1);
	ck_assert_str_eq(e.text, "path violation: \"" MAGIC_LINKS
	                         "exe\" is a symlink loop or a magic link");
	ck_assert_int_eq(safe_path_resolve(fd,
	                                   MAGIC_LINKS "root"
	                                               "/etc/hosts",
	                                   &bytes, &e),
	                 -1);
	ck_assert_ptr_eq(strstr(e.text, "path violation: "), e.text);
	ck_assert_int_eq(safe_path_read(fd, MAGIC_LINKS "exe", ENOUGH_BYTES, &bytes, NULL, &e), -1);
	ck_assert_ptr_eq(strstr(e.text, "path violation: "), e.text);
	ck_assert_int_eq(safe_path_read(fd, "dev/null", ENOUGH_BYTES, &bytes, NULL, &e), -1);
	ck_assert_str_eq(e.text, "dev/null: is a device");
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(a_workspace_in_a_protected_place_is_refused_whatever_it_is_called)
{
	struct err e = { 0 };
	int fd = -1;

	ck_assert_int_eq(mkdir("repo", 0755), 0);
	ck_assert_int_eq(mkdir("repo/.git", 0755), 0);
	ck_assert_int_eq(mkdir("repo/.git/hooks", 0755), 0);
	link_to("repo/.git/hooks", "innocent");
	ck_assert_int_eq(safe_path_open("repo/.git", &fd, &e), -1);
	ck_assert_int_eq(safe_path_open("innocent", &fd, &e), -1);
	ck_assert_str_eq(e.text, "path violation: \"innocent\" is inside .git, which is protected");
	ck_assert_int_eq(fd, -1);
}
END_TEST

START_TEST(a_workspace_must_be_a_directory_that_is_there)
{
	struct err e = { 0 };
	int fd = -1;

	ck_assert_int_eq(safe_path_open("/nonexistent/ws", &fd, &e), -1);
	ck_assert_str_eq(e.text,
	                 "cannot open the workspace /nonexistent/ws: No such file or directory");
	ck_assert_int_eq(safe_path_open("dir/file", &fd, &e), -1);
	ck_assert_int_eq(fd, -1);
}
END_TEST

/* ---- directories ---- */

static void expect_parent(const char *name, bool create, const char *basename, const char *is)
{
	OWNED(str) struct str base = { 0 };
	struct err e = { 0 };
	struct stat have, want;
	int fd = -1;

	ck_assert_msg(safe_path_parent(root_fd, name, create, &base, &fd, &e) == 0, "%s", e.text);
	ck_assert_str_eq(str_text(&base), basename);
	ck_assert_int_eq(fstat(fd, &have), 0);
	ck_assert_int_eq(stat(is, &want), 0);
	ck_assert(have.st_ino == want.st_ino && have.st_dev == want.st_dev);
	ck_assert_int_eq(fsync(fd), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(close(fd), 0);
}

static void expect_no_parent(const char *name, bool create, const char *why)
{
	OWNED(str) struct str base = { 0 };
	struct err e = { 0 };
	int fd = -1;

	ck_assert_int_eq(safe_path_parent(root_fd, name, create, &base, &fd, &e), -1);
	ck_assert_str_eq(e.text, why);
	ck_assert_int_eq(fd, -1);
}

START_TEST(a_parent_directory_is_opened)
{
	expect_parent("x", false, "x", ".");
	expect_parent("dir/x", false, "x", "dir");
	expect_no_parent("no/such/x", false, "no/such: does not exist");
}
END_TEST

START_TEST(missing_directories_are_made_with_the_umask)
{
	struct stat st;

	(void)umask(027);
	expect_parent("dir/a/b/x", true, "x", "dir/a/b");
	ck_assert_int_eq(stat("dir/a", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0750);
	expect_parent("dir/a/b/x", true, "x", "dir/a/b");
}
END_TEST

START_TEST(no_directory_is_made_behind_a_symlink_or_in_a_protected_place)
{
	ck_assert_int_eq(mkdir(".git", 0755), 0);
	link_to("dir", "there");
	link_to("../out", "away");
	link_to("nowhere", "dead");
	expect_no_parent("there/a/x", true,
	                 "path violation: \"there/a\" is a symlink, or lies behind one");
	expect_no_parent("away/a/x", true,
	                 "path violation: \"away/a\" is a symlink, or lies behind one");
	expect_no_parent("dead/x", true,
	                 "path violation: \"dead\" is a symlink, or lies behind one");
	expect_no_parent(".git/hooks/x", true,
	                 "path violation: \".git\" is inside .git, which is protected");
	expect_no_parent("dir/file/x", true, "cannot open the directory dir/file: Not a directory");
	ck_assert_int_eq(access("../out/a", F_OK), -1);
	ck_assert_int_eq(access("dir/a", F_OK), -1);
	ck_assert_int_eq(access("nowhere", F_OK), -1);
	ck_assert_int_eq(access(".git/hooks", F_OK), -1);
}
END_TEST

/* ---- where a name leads ---- */

static void expect_resolved(const char *name, const char *want)
{
	OWNED(str) struct str resolved = { 0 };
	struct err e = { 0 };

	ck_assert_msg(safe_path_resolve(root_fd, name, &resolved, &e) == 0, "%s", e.text);
	ck_assert_str_eq(str_text(&resolved), want);
}

static void expect_unresolved(const char *name, const char *why)
{
	OWNED(str) struct str resolved = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(safe_path_resolve(root_fd, name, &resolved, &e), -1);
	ck_assert_str_eq(e.text, why);
}

START_TEST(a_symlink_is_resolved_to_the_real_file)
{
	link_to("dir", "there");
	link_to("there/file", "one");
	link_to("../one", "dir/two");
	expect_resolved("dir/file", "dir/file");
	expect_resolved("one", "dir/file");
	expect_resolved("there/two", "dir/file");
	expect_resolved("new", "new");
	expect_resolved("there/new", "dir/new");
	expect_resolved("new/dir/x", "new/dir/x");
}
END_TEST

static void expect_nowhere(const char *name)
{
	OWNED(str) struct str resolved = { 0 };
	OWNED(str) struct str why = { 0 };
	struct err e = { 0 };

	str_addf(&why, "path violation: \"%s\" is a symlink to nothing", name);
	ck_assert_int_eq(safe_path_resolve(root_fd, name, &resolved, &e), 1);
	ck_assert_str_eq(e.text, why.bytes);
	ck_assert_uint_eq(resolved.length, 0);
}

START_TEST(a_symlink_that_leads_nowhere_is_not_resolved)
{
	link_to("dir", "there");
	link_to("there/new", "one");
	link_to("one", "two");
	link_to("../not/yet", "dir/three");
	link_to("nowhere", "dead");
	expect_nowhere("one");
	expect_nowhere("two");
	expect_nowhere("there/three");
	expect_nowhere("dead/new/x");
	expect_nowhere("there/three/x");
}
END_TEST

START_TEST(a_symlink_that_leaves_is_not_resolved)
{
	OWNED(str) struct str inside = { 0 };

	link_to("../out/secret", "file");
	link_to("../out", "away");
	link_to("../out/new", "new");
	link_to("/etc/hostname", "absolute");
	str_addf(&inside, "%s/dir/file", root);
	link_to(str_text(&inside), "absolute_inside");
	link_to("../ws/dir/file", "out_and_in");
	link_to("new_loop", "loop");
	link_to("loop", "new_loop");
	expect_unresolved("file", "path violation: \"file\" leads outside the workspace");
	expect_unresolved("away/secret",
	                  "path violation: \"away/secret\" leads outside the workspace");
	expect_unresolved("away/new", "path violation: \"away/new\" leads outside the workspace");
	expect_unresolved("new", "path violation: \"new\" leads outside the workspace");
	expect_unresolved("absolute", "path violation: \"absolute\" leads outside the workspace");
	expect_unresolved("absolute_inside",
	                  "path violation: \"absolute_inside\" leads outside the workspace");
	expect_unresolved("out_and_in",
	                  "path violation: \"out_and_in\" leads outside the workspace");
	expect_unresolved("loop", "path violation: \"loop\" is a symlink loop or a magic link");
}
END_TEST

START_TEST(a_symlink_to_a_protected_place_is_not_resolved)
{
	ck_assert_int_eq(mkdir(".git", 0755), 0);
	ck_assert_int_eq(mkdir(".intercom", 0755), 0);
	make(".git/config", "x");
	make(".intercom/settings.json", "x");
	link_to(".git", "harmless");
	link_to(".intercom/settings.json", "settings");
	expect_unresolved("harmless/config",
	                  "path violation: \"harmless/config\" is inside .git, which is protected");
	expect_unresolved(
	    "harmless/hooks/new",
	    "path violation: \"harmless/hooks/new\" is inside .git, which is protected");
	expect_unresolved("settings",
	                  "path violation: \"settings\" is inside .intercom, which is protected");
}
END_TEST

START_TEST(a_symlink_to_a_name_that_could_be_mis_shown_is_not_resolved)
{
	ck_assert_int_eq(mkdir("new\nline", 0755), 0);
	make("new\nline/file", "x");
	make("esc\033[2Jape", "x");
	make("latin\xe9", "x");
	link_to("new\nline", "one");
	link_to("esc\033[2Jape", "two");
	link_to("latin\xe9", "three");
	expect_unresolved("one/file", "path violation: \"one/file\" leads to a name that has a "
	                              "control byte");
	expect_unresolved("two", "path violation: \"two\" leads to a name that has a control byte");
	expect_unresolved("three",
	                  "path violation: \"three\" leads to a name that is not valid UTF-8");
	expect_unresolved("one/new", "path violation: \"new\\x0aline/new\" has a control byte");
}
END_TEST

/* The kernel appends " (deleted)" to the name of what a mount keeps after its removal. */
START_TEST(what_is_mounted_and_was_deleted_is_not_resolved_to_a_name_that_is_none)
{
	struct err e = { 0 };

	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	ck_assert_int_eq(close(root_fd), 0); /* it is of the namespace before */
	ck_assert_msg(safe_path_open(root, &root_fd, &e) == 0, "%s", e.text);
	make("gone", "x");
	make("at", "y");
	make("it (deleted)", "z");
	ck_assert_int_eq(mkdir("gone_dir", 0755), 0);
	ck_assert_int_eq(mkdir("at_dir", 0755), 0);
	ck_assert_int_eq(mount("gone", "at", NULL, MS_BIND, NULL), 0);
	ck_assert_int_eq(mount("gone_dir", "at_dir", NULL, MS_BIND, NULL), 0);
	expect_resolved("at", "at");
	expect_resolved("at_dir/new", "at_dir/new");
	ck_assert_int_eq(unlink("gone"), 0);
	ck_assert_int_eq(rmdir("gone_dir"), 0);
	expect_unresolved("at", "at: was deleted or just replaced; a mount may still show it");
	expect_unresolved("at_dir/new",
	                  "at_dir/new: was deleted or just replaced; a mount may still show it");
	make("at (deleted)", "another file");
	expect_unresolved("at", "at: was deleted or just replaced; a mount may still show it");
	expect_resolved("it (deleted)", "it (deleted)");
	ck_assert_int_eq(umount2("at", MNT_DETACH), 0);
	ck_assert_int_eq(umount2("at_dir", MNT_DETACH), 0);
}
END_TEST

/* The code that an agent gets if it cannot read a file of this name. */
static const char *code_of(const char *name)
{
	static struct refusal why;
	OWNED(str) struct str path = { 0 }, bytes = { 0 };
	struct stat st;
	struct err e = { 0 };

	errno = 0;
	if (safe_path_clean(root, name, strlen(name), &path, &e) == 0)
		ck_assert_int_eq(
		    safe_path_read(root_fd, str_text(&path), ENOUGH_BYTES, &bytes, &st, &e), -1);
	(void)refuse_err(&why, &e);
	return why.code;
}

START_TEST(the_code_of_a_refusal_is_not_what_a_file_is_called)
{
	OWNED(str) struct str much = { 0 };

	ck_assert_int_eq(mkdir("path violation", 0755), 0);
	ck_assert_str_eq(code_of("path violation"), "patch_conflict");
	ck_assert_int_eq(mkdir("this is larger than that", 0755), 0);
	ck_assert_str_eq(code_of("this is larger than that"), "patch_conflict");
	str_addf(&much, "%0*d", ENOUGH_BYTES + 1, 0);
	make("much", much.bytes);
	ck_assert_str_eq(code_of("much"), "too_large");
	link_to("much", "link");
	ck_assert_str_eq(code_of("link"), "path_violation");
	ck_assert_str_eq(code_of("../out/secret"), "path_violation");
	ck_assert_str_eq(code_of(".git/config"), "path_violation");
}
END_TEST

START_TEST(no_descriptor_is_left_open)
{
	OWNED(str) struct str text = { 0 };
	struct err e = { 0 };
	struct sha256 hash;
	int before = dup(0), after, fd = -1;

	ck_assert_int_eq(close(before), 0);
	link_to("../out", "away");
	(void)safe_path_read(root_fd, "dir/file", 2, &text, NULL, &e);
	(void)safe_path_read(root_fd, "dir", 2, &text, NULL, &e);
	(void)safe_path_hash(root_fd, "dir/file", &hash, &e);
	(void)safe_path_resolve(root_fd, "dir/new", &text, &e);
	(void)safe_path_resolve(root_fd, "away/new", &text, &e);
	(void)safe_path_parent(root_fd, "a/b/c", true, &text, &fd, &e);
	ck_assert_int_eq(close(fd), 0);
	(void)safe_path_parent(root_fd, "away/b/c", true, &text, &fd, &e);
	after = dup(0);
	ck_assert_int_eq(after, before);
	ck_assert_int_eq(close(after), 0);
}
END_TEST

static pid_t start_hand(int *ret_ours)
{
	int pair[2];
	pid_t hand;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	hand = fork();
	ck_assert_int_ge(hand, 0);
	if (hand == 0) {
		(void)close(pair[0]);
		files_serve(pair[1], root_fd);
		_exit(0);
	}
	(void)close(pair[1]);
	*ret_ours = pair[0];
	return hand;
}

static void is_told_lost(int failed, struct err *e)
{
	ck_assert_int_eq(failed, -1);
	ck_assert_str_eq(e->text, FILES_LOST);
	ck_assert_int_eq(e->kind, ERR_AGAIN);
	*e = (struct err){ 0 };
}

START_TEST(of_a_hand_that_is_lost_it_is_said_that_it_is_and_not_what_its_calls_fail_with)
{
	OWNED(str) struct str text = { 0 };
	struct sha256 hash;
	struct err e = { 0 };
	struct stat st;
	int ours, there, again;
	pid_t hand = start_hand(&ours);

	files_use(ours, NULL);
	ck_assert_msg(safe_path_open(root, &there, &e) == 0, "%s", e.text);
	ck_assert_int_eq(safe_path_read(there, "dir/file", ENOUGH_BYTES, &text, &st, &e), 1);
	ck_assert_int_eq(kill(hand, SIGKILL), 0);
	ck_assert_int_eq(waitpid(hand, NULL, 0), hand);
	is_told_lost(safe_path_open(root, &again, &e), &e);
	is_told_lost(safe_path_read(there, "dir/file", ENOUGH_BYTES, &text, &st, &e), &e);
	is_told_lost(safe_path_hash(there, "dir/file", &hash, &e), &e);
	is_told_lost(safe_path_open_dir(there, "dir", &again, &e), &e);
	is_told_lost(safe_path_resolve(there, "dir/file", &text, &e), &e);
	files_use(-1, NULL);
	ck_assert_int_eq(close(ours), 0);
}
END_TEST

static void add_text(Suite *suite)
{
	TCase *text = tcase_create("text");

	tcase_add_checked_fixture(text, setup, teardown);
	tcase_add_test(text, ordinary_names_come_out_canonical);
	tcase_add_test(text, names_that_climb_out_are_refused);
	tcase_add_test(text, names_that_are_no_file_names_are_refused);
	tcase_add_test(text, odd_bytes_are_refused_and_shown_escaped);
	tcase_add_test(text, protected_places_are_refused);
	tcase_add_test(text, names_that_are_too_long_are_refused);
	tcase_add_test(text, the_root_of_the_machine_may_be_a_workspace);
	suite_add_tcase(suite, text);
}

static void add_files(Suite *suite)
{
	TCase *files = tcase_create("files");

	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, a_file_is_read_and_hashed);
	tcase_add_test(files, a_file_or_directory_that_is_not_there_is_told_apart_from_an_error);
	tcase_add_test(files, a_file_larger_than_allowed_is_refused);
	tcase_add_test(files, no_symlink_is_followed_when_a_file_is_read);
	tcase_add_test(files, what_is_no_regular_file_is_refused_without_waiting);
	tcase_add_test(files, magic_links_of_proc_and_devices_are_refused);
	tcase_add_test(files, a_workspace_in_a_protected_place_is_refused_whatever_it_is_called);
	tcase_add_test(files, a_workspace_must_be_a_directory_that_is_there);
	tcase_add_test(files, the_code_of_a_refusal_is_not_what_a_file_is_called);
	tcase_add_test(files, no_descriptor_is_left_open);
	tcase_add_test(
	    files, of_a_hand_that_is_lost_it_is_said_that_it_is_and_not_what_its_calls_fail_with);
	suite_add_tcase(suite, files);
}

static void add_writing(Suite *suite)
{
	TCase *writing = tcase_create("writing");

	tcase_add_checked_fixture(writing, setup, teardown);
	tcase_add_test(writing, a_parent_directory_is_opened);
	tcase_add_test(writing, missing_directories_are_made_with_the_umask);
	tcase_add_test(writing, no_directory_is_made_behind_a_symlink_or_in_a_protected_place);
	tcase_add_test(writing, a_symlink_is_resolved_to_the_real_file);
	tcase_add_test(writing, a_symlink_that_leads_nowhere_is_not_resolved);
	tcase_add_test(writing, a_symlink_that_leaves_is_not_resolved);
	tcase_add_test(writing, a_symlink_to_a_name_that_could_be_mis_shown_is_not_resolved);
	tcase_add_test(writing, a_symlink_to_a_protected_place_is_not_resolved);
	tcase_add_test(writing,
	               what_is_mounted_and_was_deleted_is_not_resolved_to_a_name_that_is_none);
	suite_add_tcase(suite, writing);
}

int main(void)
{
	Suite *suite = suite_create("safe_path");

	add_text(suite);
	add_files(suite);
	add_writing(suite);
	return run_suite(suite);
}
