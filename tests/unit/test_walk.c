/* A workspace becomes objects and a manifest. */
#include "clock.h"
#include "files.h"
#include "harness.h"
#include "suite.h"
#include "walk.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

static char ws[1000], folder[1000];
static struct err e;
static struct walk_options options;

static void fresh_workspace(struct objects *o)
{
	OWNED(char_ptr) char *real = realpath(scratch(), NULL);

	(void)snprintf(ws, sizeof(ws), "%.900s/ws", real);
	(void)snprintf(folder, sizeof(folder), "%.900s/db-objects", real);
	ck_assert_int_eq(mkdir(ws, 0755), 0);
	MUST(objects_open(folder, true, o, &e) == 0, "%s", e.text);
	options = (struct walk_options){ .most_files = 1000, .most_bytes = 1 << 30 };
}

/* Runs a line of shell in the workspace. */
static void sh(const char *line)
{
	char command[4000];

	(void)snprintf(command, sizeof(command), "umask 022; cd '%s' && { %s\n}", ws, line);
	MUST(system(command) == 0, "%s", line); /* NOLINT(cert-env33-c) */
}

static struct walk_result take(struct objects *o)
{
	struct walk_result r;

	MUST(walk_workspace(ws, o, &options, &r, &e) == 0, "%s", e.text);
	return r;
}

/* A line for each entry: "f 644 5 a/b", "l a -> b", "d 755 a", "x a: why". */
static void list(const struct objects *o, const struct walk_result *r, struct str *out)
{
	OWNED(manifest) struct manifest m = { 0 };
	struct entry one;

	MUST(manifest_open(o, r->manifest.text, &m, &e) == 0, "%s", e.text);
	while (manifest_next(&m, &one, &e) > 0)
		if (one.kind == ENTRY_FILE)
			str_addf(out, "f %o %llu %s\n", one.mode, (unsigned long long)one.size,
			         one.path);
		else if (one.kind == ENTRY_DIR)
			str_addf(out, "d %o %s\n", one.mode, one.path);
		else
			str_addf(out, "%c %s%s%s\n", one.kind, one.path,
			         one.kind == ENTRY_LINK ? " -> " : ": ", one.text);
}

static void expect_list(const struct objects *o, const struct walk_result *r, const char *expected)
{
	OWNED(str) struct str found = { 0 };

	list(o, r, &found);
	ck_assert_str_eq(str_text(&found), expected);
}

#define HIDDEN "is hidden by a new or changed .gitignore\n"

START_TEST(files_links_and_folders_are_held_with_their_modes)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(str) struct str bytes = { 0 };
	OWNED(manifest) struct manifest m = { 0 };
	struct walk_result r;
	struct entry one;

	fresh_workspace(&o);
	sh("mkdir -p a/b empty .git .intercom a/.GIT; echo hello >a/b/c; echo x >.git/config;"
	   "echo y >a/.GIT/x; echo z >.intercom/settings.json; echo '#!' >a-run; chmod 755 a-run;"
	   "ln -s ../../nowhere a/link; chmod 700 empty; : >nothing; chmod 4750 a/b/c");
	r = take(&o);
	expect_list(&o, &r,
	            "d 755 a\nd 755 a/b\nf 4750 6 a/b/c\nl a/link -> ../../nowhere\n"
	            "f 755 3 a-run\nd 700 empty\nf 644 0 nothing\n");
	ck_assert_uint_eq(r.sum.files, 3);
	ck_assert_uint_eq(r.sum.bytes, 9);
	ck_assert_int_eq(manifest_open(&o, r.manifest.text, &m, &e), 0);
	ck_assert_int_eq(manifest_find(&m, "a/b/c", &one, &e), 1);
	ck_assert_int_eq(object_read(&o, one.hash.text, 6, &bytes, &e), 0);
	ck_assert_str_eq(str_text(&bytes), "hello\n");
}
END_TEST

START_TEST(what_is_named_as_what_a_write_has_in_hand_is_named_and_not_held)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;

	fresh_workspace(&o);
	sh("mkdir -p a .intercom-0123456789abcdef.tmp/old; : >.intercom-0123456789abcdef.tmp/old/0;"
	   ": >a/.intercom-0123456789abcdef.old; : >a/.intercom-notes.tmp; : >.intercom-0.old");
	r = take(&o);
	expect_list(&o, &r,
	            "f 644 0 .intercom-0.old\n"
	            "x .intercom-0123456789abcdef.tmp: is named like a temporary file of "
	            "agent-intercom\n"
	            "d 755 a\n"
	            "x a/.intercom-0123456789abcdef.old: is named like a temporary file of "
	            "agent-intercom\n"
	            "f 644 0 a/.intercom-notes.tmp\n");
}
END_TEST

START_TEST(what_has_not_changed_is_neither_read_nor_stored_again)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result first, second, third;

	fresh_workspace(&o);
	sh("mkdir d; for i in $(seq 300); do echo $i >d/$i; touch -d '1 hour ago' d/$i; done");
	sh("sleep 4"); /* until their ctime is settled: no clock of ours moves it */
	first = take(&o);
	ck_assert_uint_eq(first.read, 300);
	second = take(&o);
	ck_assert_uint_eq(second.read, 0);
	ck_assert_uint_eq(second.added, 0);
	ck_assert_str_eq(second.manifest.text, first.manifest.text);
	sh("echo X >d/7; rm d/8; echo new >d/n");
	third = take(&o);
	ck_assert_uint_eq(third.read, 2);
	ck_assert_uint_gt(third.added, 0);
	ck_assert_str_ne(third.manifest.text, first.manifest.text);
}
END_TEST

START_TEST(a_change_that_keeps_size_and_mtime_is_noticed)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result first, second;

	fresh_workspace(&o);
	sh("echo one >f; touch -d '1 hour ago' f; sleep 4");
	first = take(&o);
	sh("echo two >f; touch -d '1 hour ago' f");
	second = take(&o);
	ck_assert_str_ne(first.manifest.text, second.manifest.text);
}
END_TEST

START_TEST(what_is_deleted_gives_the_folder_another_mark)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	char first[OBJECT_MARK_BYTES], second[OBJECT_MARK_BYTES];

	fresh_workspace(&o);
	objects_mark(&o, first);
	objects_mark(&o, second);
	ck_assert_uint_eq(strlen(first), OBJECT_MARK_BYTES - 1);
	ck_assert_str_eq(first, second);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(object_delete(&o, sha256_of("one\n", 4).text, &e), 0);
		objects_mark(&o, second);
		ck_assert_str_ne(first, second);
		(void)snprintf(first, sizeof(first), "%s", second);
	}
}
END_TEST

START_TEST(a_cache_that_knows_almost_everything_is_not_written_again)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;

	fresh_workspace(&o);
	sh("for i in $(seq 300); do echo $i >f$i; done; sleep 4");
	(void)take(&o);
	sh("ls -i ../db-objects/cache >../inode; echo other >f7; sleep 4");
	r = take(&o);
	ck_assert_uint_eq(r.read, 1);
	sh("ls -i ../db-objects/cache | cmp - ../inode");
	sh("for i in $(seq 300); do echo x$i >f$i; done; sleep 4");
	r = take(&o);
	ck_assert_uint_eq(r.read, 300);
	sh("! ls -i ../db-objects/cache | cmp -s - ../inode");
	r = take(&o);
	ck_assert_uint_eq(r.read, 0);
}
END_TEST

START_TEST(content_that_was_lost_is_stored_again)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;

	fresh_workspace(&o);
	sh("echo one >f; sleep 4");
	(void)take(&o);
	ck_assert_int_eq(object_delete(&o, sha256_of("one\n", 4).text, &e), 0);
	r = take(&o);
	ck_assert_uint_eq(r.read, 1);
	ck_assert_int_eq(object_check(&o, sha256_of("one\n", 4).text, &e), 1);
}
END_TEST

START_TEST(what_git_ignores_is_held_only_on_request)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;

	fresh_workspace(&o);
	sh("mkdir -p build/x d/out .git/info; echo private >.git/info/exclude; : >private;"
	   "printf '%s\\n' build/ '*.o' >.gitignore; printf '%s\\n' '!keep.o' out >d/.gitignore;"
	   ": >build/x/y; : >a.o; : >d/keep.o; : >d/b.o; : >d/out/z; mkdir e; : >e/build");
	r = take(&o);
	expect_list(&o, &r,
	            "f 644 11 .gitignore\nd 755 d\nf 644 12 d/.gitignore\nf 644 0 d/keep.o\n"
	            "d 755 e\nf 644 0 e/build\n");
	options.ignored = true;
	r = take(&o);
	expect_list(&o, &r,
	            "f 644 11 .gitignore\nf 644 0 a.o\nd 755 build\nd 755 build/x\n"
	            "f 644 0 build/x/y\nd 755 d\nf 644 12 d/.gitignore\nf 644 0 d/b.o\n"
	            "f 644 0 d/keep.o\nd 755 d/out\nf 644 0 d/out/z\nd 755 e\nf 644 0 e/build\n"
	            "f 644 0 private\n");
}
END_TEST

/* An earlier manifest's: what it could not hold, it does not hold. */
START_TEST(of_what_is_ignored_only_what_an_earlier_manifest_holds_is_held)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result before, r;

	fresh_workspace(&o);
	sh("mkdir build; : >build/a; : >a.o; : >z; mkfifo pipe.o");
	before = take(&o);
	options.also = before.manifest.text;
	sh("printf '%s\\n' build/ '*.o' >.gitignore; : >build/b; : >b.o; : >zz;"
	   "rm pipe.o; : >pipe.o");
	r = take(&o);
	expect_list(&o, &r,
	            "f 644 11 .gitignore\nf 644 0 a.o\nx b.o: " HIDDEN "d 755 build\n"
	            "f 644 0 build/a\nx build/b: " HIDDEN "x pipe.o: " HIDDEN
	            "f 644 0 z\nf 644 0 zz\n");
}
END_TEST

/* A folder that has nothing else, as a whole; not what .git/info/exclude hides, or hid before. */
START_TEST(what_is_ignored_since_an_earlier_manifest_is_named)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result before, r;

	fresh_workspace(&o);
	sh("mkdir -p docs .git/info; : >docs/a; echo '*.o' >.gitignore; : >x.o");
	before = take(&o);
	options.also = before.manifest.text;
	sh("mkdir -p docs/sub far/er venv/lib; echo '*' | tee docs/.gitignore >venv/.gitignore;"
	   "printf '%s\\n' '*' '!er' '!z' >far/.gitignore; echo mine >.git/info/exclude;"
	   ": >docs/new; : >docs/sub/x; : >docs/mine; : >docs/y.o; : >mine; : >far/a; : >far/er/a;"
	   ": >far/er/z; : >venv/cfg; : >venv/lib/x");
	r = take(&o);
	expect_list(&o, &r,
	            "f 644 4 .gitignore\nd 755 docs\nx docs/.gitignore: " HIDDEN
	            "f 644 0 docs/a\nx docs/new: " HIDDEN "x docs/sub: " HIDDEN
	            "d 755 far\nx far/.gitignore: " HIDDEN "x far/a: " HIDDEN "d 755 far/er\n"
	            "x far/er/a: " HIDDEN "f 644 0 far/er/z\nx venv: " HIDDEN);
}
END_TEST

START_TEST(what_is_no_file_is_named_and_not_followed)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(own_places) struct own_places ours = { .database = NULL };
	struct str token = { 0 }, database = { 0 };
	struct walk_result r;

	fresh_workspace(&o);
	(void)snprintf(folder, sizeof(folder), "%.900s/ours", ws);
	options.ours = &ours;
	str_addf(&token, "%s/../token", ws);
	str_addf(&database, "%s/db", ws);
	own_places_add(&ours, xstrdup(folder));
	own_places_add(&ours, str_take(&token));
	ours.database = str_take(&database);
	sh("mkfifo pipe; mkdir ours; : >ours/secret; : >../token; ln ../token token; "
	   ": >db.before-9; : >dbx; ln -s /etc out; python3 -c '\n"
	   "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'");
	own_places_look(&ours);
	r = take(&o);
	expect_list(&o, &r,
	            "x db.before-9: belongs to agent-intercom\nf 644 0 dbx\n"
	            "x ours: belongs to agent-intercom\nl out -> /etc\nx pipe: is a FIFO\n"
	            "x sock: is a socket\nx token: belongs to agent-intercom\n");
	ck_assert_uint_eq(r.sum.left_out, 5);
}
END_TEST

/* One of 100 KiB leaves room for one of 20 KiB beneath it, not for another of 100. */
START_TEST(only_so_many_patterns_judge_a_path_however_many_files_have_them)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;

	fresh_workspace(&o);
	sh("mkdir -p a/b c; : >a/b/y; : >c/y; : >a/b/x; : >c/x; : >z; "
	   "{ yes '#' | head -c 102400; echo z; } >.gitignore; "
	   "{ yes '#' | head -c 20480; echo x; } >c/.gitignore; "
	   "{ yes '#' | head -c 102400; echo x; } >a/.gitignore");
	r = take(&o);
	expect_list(&o, &r,
	            "f 644 102402 .gitignore\nd 755 a\nf 644 102402 a/.gitignore\nd 755 a/b\n"
	            "f 644 0 a/b/x\nf 644 0 a/b/y\nd 755 c\nf 644 20482 c/.gitignore\n"
	            "f 644 0 c/y\n");
}
END_TEST

/* Not /dev/null: opening this one would wait for a terminal that nobody has plugged in. */
START_TEST(a_device_is_named_and_not_opened)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;
	char path[1100];

	fresh_workspace(&o);
	(void)snprintf(path, sizeof(path), "%.1000s/serial", ws);
	SKIP_UNLESS(mknod(path, S_IFCHR | 0600, makedev(4, 64)) == 0, "to make a device");
	r = take(&o);
	expect_list(&o, &r, "x serial: is a device\n");
	ck_assert_uint_eq(r.sum.left_out, 1);
}
END_TEST

START_TEST(what_cannot_be_read_is_named)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;

	SKIP_UNLESS(geteuid() == 0, "root");
	fresh_workspace(&o);
	sh("mkdir closed; : >closed/x; : >secret; chmod 0 closed secret; : >open;"
	   "chown -R 65534 ../db-objects .; chmod 755 ..");
	SKIP_UNLESS(become_nobody(), "root");
	sh("chmod 0 closed secret");
	(void)chmod(ws, 0755);
	r = take(&o);
	expect_list(&o, &r,
	            "x closed: cannot be read: Permission denied\nf 644 0 open\n"
	            "x secret: cannot be read: Permission denied\n");
	sh("chmod 755 closed; chmod 644 secret");
}
END_TEST

START_TEST(a_mount_point_is_named_and_not_entered)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;
	char at[1100];

	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	fresh_workspace(&o);
	sh("mkdir mnt same; : >f; : >bound");
	(void)snprintf(at, sizeof(at), "%s/mnt", ws);
	ck_assert_int_eq(mount("none", at, "tmpfs", 0, NULL), 0);
	(void)snprintf(at, sizeof(at), "%s/same", ws); /* the same file system */
	ck_assert_int_eq(mount(folder, at, NULL, MS_BIND, NULL), 0);
	(void)snprintf(at, sizeof(at), "%s/bound", ws);
	ck_assert_int_eq(mount("/etc/passwd", at, NULL, MS_BIND, NULL), 0);
	r = take(&o);
	expect_list(&o, &r,
	            "x bound: is a mount point\nf 644 0 f\nx mnt: is a mount point\n"
	            "x same: is a mount point\n");
	(void)umount2(at, MNT_DETACH);
	sh("umount -l mnt same");
}
END_TEST

START_TEST(more_than_the_limits_is_refused_as_a_whole)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;

	fresh_workspace(&o);
	sh("echo 12345 >a; echo 12345 >b; mkdir c");
	options.most_files = 3;
	options.most_bytes = 12;
	(void)take(&o);
	options.most_bytes = 11;
	ck_assert_int_eq(walk_workspace(ws, &o, &options, &r, &e), -1);
	ck_assert_int_eq(e.kind, ERR_INPUT);
	ck_assert_str_eq(e.text,
	                 "the files of the workspace have more than 11 bytes, counted up to b "
	                 "(setting checkpoint.max_bytes)");
	options.most_bytes = 12;
	options.most_files = 2;
	ck_assert_int_eq(walk_workspace(ws, &o, &options, &r, &e), -1);
	ck_assert_str_eq(e.text, "the workspace has more than 2 files and folders (setting "
	                         "checkpoint.max_files)");
	sh("truncate -s 1T huge");
	ck_assert_int_eq(walk_workspace(ws, &o, &options, &r, &e), -1);
}
END_TEST

START_TEST(a_folder_of_two_hundred_and_more_levels_is_named_where_it_is_cut)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;

	fresh_workspace(&o);
	sh("p=.; for i in $(seq 300); do p=$p/d; done; mkdir -p $p");
	r = take(&o);
	ck_assert_uint_eq(r.sum.left_out, 1);
	ck_assert_uint_eq(r.sum.dirs, WALK_DEPTH - 1);
}
END_TEST

/* ---- races ---- */

enum {
	SLOW_MS = WALK_REST_MS / 2, /* a write that takes longer looks as if it had ended */
	WRITES = 128, /* without a pause: longer than all tries of a walk */
	PAUSE_MS = 100,
};

static atomic_bool over;
static atomic_llong writes_since_ms; /* monotonic; 0: nobody writes */
static atomic_int slow_writes;

/* Rewrites a file, with pauses; each state of it is "AAAA…" or "BBBB…". */
static void *rewrite(void *arg)
{
	static char bytes[2 << 20];
	char path[1100];

	(void)arg;
	(void)snprintf(path, sizeof(path), "%s/busy", ws);
	for (int i = 0; !over; i++) {
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		memset(bytes, 'A' + i % 2, sizeof(bytes));
		writes_since_ms = clock_monotonic_ms();
		(void)!pwrite(fd, bytes, sizeof(bytes), 0);
		slow_writes += clock_monotonic_ms() - writes_since_ms >= SLOW_MS;
		writes_since_ms = 0;
		(void)close(fd);
		if (i % WRITES == 0)
			(void)poll(NULL, 0, PAUSE_MS);
	}
	return NULL;
}

/* Whether the machine has held up a write since there were as many. */
static bool was_slow(int before)
{
	long long since = writes_since_ms;

	return slow_writes != before || (since && clock_monotonic_ms() - since >= SLOW_MS);
}

static bool is_one_state(const struct str *bytes)
{
	return bytes->length < 2 || memcmp(bytes->bytes, bytes->bytes + 1, bytes->length - 1) == 0;
}

/* Puts folders and links in place of each other. */
static void *swap(void *arg)
{
	(void)arg;
	while (!over) {
		char dir[1100], link[1100];

		(void)snprintf(dir, sizeof(dir), "%s/dir", ws);
		(void)snprintf(link, sizeof(link), "%s/link", ws);
		(void)renameat2(AT_FDCWD, dir, AT_FDCWD, link, RENAME_EXCHANGE);
	}
	return NULL;
}

START_TEST(a_file_that_changes_while_it_is_read_is_whole_or_named)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(str) struct str bytes = { 0 };
	pthread_t thread;
	int named = 0, whole = 0;

	fresh_workspace(&o);
	over = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, rewrite, NULL), 0);
	while (named + whole < 30 || named == 0 || whole == 0) { /* or the time is up */
		OWNED(manifest) struct manifest m = { 0 };
		int slow = slow_writes;
		struct walk_result r = take(&o);
		struct entry one;

		ck_assert_int_eq(manifest_open(&o, r.manifest.text, &m, &e), 0);
		if (manifest_next(&m, &one, &e) <= 0 || one.kind == ENTRY_LEFT_OUT) {
			named++;
			continue;
		}
		str_reset(&bytes);
		ck_assert_int_eq(object_read(&o, one.hash.text, 2 << 20, &bytes, &e), 0);
		MUST(is_one_state(&bytes) || was_slow(slow), "a mixture");
		whole++;
	}
	over = true;
	(void)pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_link_that_takes_the_place_of_a_folder_is_not_followed)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	pthread_t thread;

	fresh_workspace(&o);
	sh("mkdir dir ../out; echo inside >dir/f; echo secret >../out/f; ln -s ../out link");
	over = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, swap, NULL), 0);
	for (int i = 0; i < 200; i++)
		(void)take(&o);
	over = true;
	(void)pthread_join(thread, NULL);
	ck_assert(!object_exists(&o, sha256_of("secret\n", 7).text));
	ck_assert(object_exists(&o, sha256_of("inside\n", 7).text));
}
END_TEST

/* ---- with a hand ---- */

static void passes_on(int from, int to)
{
	static char message[256 << 10];
	ssize_t n = recv(from, message, sizeof(message), 0);

	if (n <= 0 || send(to, message, (size_t)n, MSG_NOSIGNAL) != n)
		_exit(0);
}

/* A hand that does so many calls, and has ended when it is asked for the next. */
static int start_hand(int calls)
{
	int ours[2], its[2], root = open(ws, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ours), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, its), 0);
	if (fork() == 0) {
		(void)close(its[0]);
		(void)close(ours[0]);
		(void)close(ours[1]);
		files_serve(its[1], root);
		_exit(0);
	}
	(void)close(its[1]);
	if (fork() == 0) {
		(void)close(ours[0]);
		for (int i = 0; i < calls; i++) {
			passes_on(ours[1], its[0]);
			passes_on(its[0], ours[1]);
		}
		_exit(0);
	}
	(void)close(its[0]);
	(void)close(ours[1]);
	(void)close(root);
	return ours[0];
}

START_TEST(a_checkpoint_whose_hand_is_lost_at_any_call_is_whole_or_none)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result whole, r;
	char objects[1200];
	int failed = -1;

	fresh_workspace(&o);
	sh("mkdir a; echo one >a/one; ln -s one a/link; echo two >two; echo three >zz");
	whole = take(&o);
	for (int calls = 0; failed; calls++) {
		OWNED(objects) struct objects fresh = OBJECTS_INIT;
		int ours = start_hand(calls);

		(void)snprintf(objects, sizeof(objects), "%.1000s-%d", folder, calls);
		MUST(objects_open(objects, true, &fresh, &e) == 0, "%s", e.text);
		files_use(ours, NULL);
		failed = walk_workspace(ws, &fresh, &options, &r, &e);
		MUST(!failed || e.kind == ERR_AGAIN, "after %d calls: %s", calls, e.text);
		files_use(-1, NULL);
		(void)close(ours);
		MUST(failed || strcmp(r.manifest.text, whole.manifest.text) == 0,
		     "after %d calls it is not whole", calls);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walk");
	TCase *t = tcase_create("walk");

	tcase_add_test(t, files_links_and_folders_are_held_with_their_modes);
	tcase_add_test(t, what_is_named_as_what_a_write_has_in_hand_is_named_and_not_held);
	tcase_add_test(t, what_has_not_changed_is_neither_read_nor_stored_again);
	tcase_add_test(t, a_change_that_keeps_size_and_mtime_is_noticed);
	tcase_add_test(t, what_is_deleted_gives_the_folder_another_mark);
	tcase_add_test(t, a_cache_that_knows_almost_everything_is_not_written_again);
	tcase_add_test(t, content_that_was_lost_is_stored_again);
	tcase_add_test(t, what_git_ignores_is_held_only_on_request);
	tcase_add_test(t, of_what_is_ignored_only_what_an_earlier_manifest_holds_is_held);
	tcase_add_test(t, what_is_ignored_since_an_earlier_manifest_is_named);
	tcase_add_test(t, what_is_no_file_is_named_and_not_followed);
	tcase_add_test(t, only_so_many_patterns_judge_a_path_however_many_files_have_them);
	tcase_add_test(t, a_device_is_named_and_not_opened);
	tcase_add_test(t, what_cannot_be_read_is_named);
	tcase_add_test(t, a_mount_point_is_named_and_not_entered);
	tcase_add_test(t, more_than_the_limits_is_refused_as_a_whole);
	tcase_add_test(t, a_folder_of_two_hundred_and_more_levels_is_named_where_it_is_cut);
	tcase_add_test(t, a_file_that_changes_while_it_is_read_is_whole_or_named);
	tcase_add_test(t, a_link_that_takes_the_place_of_a_folder_is_not_followed);
	tcase_add_test(t, a_checkpoint_whose_hand_is_lost_at_any_call_is_whole_or_none);
	suite_add_tcase(s, t);
	return run_suite(s);
}
