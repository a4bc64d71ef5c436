/* archivist: checkpoints become rows and objects. */
#include "clock.h"
#include "fault.h"
#include "harness.h"
#include "manifest.h"
#include "store.h"
#include "suite.h"
#include "tree.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAULTS = 12 /* a sample */, TRY_MS = 120000 };

static char ws[1000];
static struct err e;

/* A session in a workspace of two files. */
static void fresh_workspace(void)
{
	OWNED(char_ptr) char *real = NULL;
	OWNED(str) struct str sql = { 0 };

	fresh_store();
	real = realpath(test_db(), NULL);
	ck_assert_ptr_nonnull(real);
	*strrchr(real, '/') = '\0';
	(void)snprintf(ws, sizeof(ws), "%.900s/ws", real);
	ck_assert_int_eq(mkdir(ws, 0755), 0);
	str_addf(
	    &sql,
	    "INSERT INTO setting (name, value, source, updated_at) VALUES"
	    " ('system.machine', 'h', 'system', '2026-01-01T00:00:00.000Z')"
	    " ON CONFLICT DO UPDATE SET value = 'h';"
	    "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	    " prompt, created_at, updated_at) VALUES ('s-1', 'h', 'local:tester', '%s', 'active',"
	    " 'local', 'fix it', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');",
	    ws);
	given(str_text(&sql));
}

static void sh(const char *line)
{
	char command[4000];

	(void)snprintf(command, sizeof(command), "umask 022; cd '%s' && { %s\n}", ws, line);
	MUST(system(command) == 0, "%s", line); /* NOLINT(cert-env33-c) */
}

static void order(const char *label)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, session_id, argument) VALUES"
	               " ('session-checkpoint', 's-1', '%s')",
	               label);
	given(sql);
}

static void open_objects(struct objects *o)
{
	OWNED(str) struct str path = { 0 };

	objects_path(test_db(), &path);
	MUST(objects_open(str_text(&path), false, o, &e) == 0, "%s", e.text);
}

static void set(const char *name, const char *value)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES ('%s', '%s', "
	               "'file', '2026-01-01T00:00:00.000Z') ON CONFLICT DO UPDATE SET value = '%s'",
	               name, value, value);
	given(sql);
}

START_TEST(the_database_is_held_by_no_checkpoint_though_it_lies_in_the_workspace)
{
	OWNED(str) struct str sql = { 0 };

	fresh_workspace();
	sh("echo one >a");
	str_addf(&sql,
	         "INSERT INTO checkpoint_wanted (kind, machine, workspace_root)"
	         " VALUES ('ordered', 'h', '%.*s')",
	         (int)(strrchr(ws, '/') - ws), ws);
	given(str_text(&sql));
	(void)start_worker("archivist");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	expect("SELECT sum(key = 'ws/a'),"
	       " sum(key LIKE 'intercom.db%')"
	       " FROM checkpoint, json_each(file_hashes)",
	       "1|0\n");
}
END_TEST

START_TEST(an_order_is_carried_out_and_answered)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	char hash[SHA256_BYTES + 10];
	char *text;

	fresh_workspace();
	sh("echo one >a; mkdir d; echo two >d/b; ln -s a l; mkfifo p");
	order("before");
	expect("SELECT kind, state, label, json_extract(session_state, '$.prompt') FROM checkpoint",
	       "ordered|queued|before|fix it\n");
	expect("SELECT outcome FROM command", "\n");
	(void)start_worker("archivist");
	expect_soon("SELECT state, files, links, folders, left_out, bytes FROM checkpoint",
	            "done|2|1|1|1|8\n");
	expect("SELECT outcome, json_extract(reply, '$.label'), json_extract(reply, '$.files'),"
	       " json_extract(reply, '$.checkpoint_id') = (SELECT id FROM checkpoint) FROM command",
	       "done|before|2|1\n");
	expect("SELECT key, value = (SELECT CASE key WHEN 'a' THEN"
	       " '2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806' ELSE"
	       " '27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a' END)"
	       " FROM checkpoint, json_each(file_hashes)",
	       "a|1\nd/b|1\n");
	expect("SELECT kind FROM event WHERE kind GLOB 'checkpoint.*'", "checkpoint.created\n");
	open_objects(&o);
	text = rows("SELECT manifest FROM checkpoint");
	(void)snprintf(hash, sizeof(hash), "%.64s", text);
	free(text);
	ck_assert_int_eq(object_check(&o, hash, &e), 1);
}
END_TEST

START_TEST(a_second_one_adds_only_what_has_changed)
{
	fresh_workspace();
	sh("head -c 3000000 /dev/urandom >big; echo one >a");
	order("one");
	(void)start_worker("archivist");
	expect_soon("SELECT state, added_bytes > 3000000 FROM checkpoint", "done|1\n");
	sh("echo other >a");
	order("two");
	expect_soon("SELECT label, state, added_bytes < 1000, bytes FROM checkpoint ORDER BY seq",
	            "one|done|0|3000004\ntwo|done|1|3000006\n");
}
END_TEST

START_TEST(one_reading_settles_all_that_were_queued_for_a_workspace)
{
	fresh_workspace();
	sh("echo one >a");
	order("x");
	order("y");
	order("z");
	(void)start_worker("archivist");
	expect_soon("SELECT count(DISTINCT manifest), count(*), count(worker_id) FROM checkpoint"
	            " WHERE state = 'done'",
	            "1|3|3\n");
	expect("SELECT group_concat(outcome) FROM command", "done,done,done\n");
}
END_TEST

START_TEST(what_is_too_large_is_refused_with_the_setting)
{
	fresh_workspace();
	set("checkpoint.max_files", "2");
	sh(": >a; : >b; : >c");
	order("");
	(void)start_worker("archivist");
	expect_soon("SELECT state, why, manifest FROM checkpoint",
	            "refused|the workspace has more than 2 files and folders (setting "
	            "checkpoint.max_files)|\n");
	expect("SELECT outcome, why FROM command",
	       "refused|the workspace has more than 2 files and folders (setting "
	       "checkpoint.max_files)\n");
}
END_TEST

START_TEST(what_a_checkpoint_adds_is_bounded_and_what_is_held_already_counts_nothing)
{
	fresh_workspace();
	set("checkpoint.max_added_bytes", "4000000");
	sh("head -c 3000000 /dev/urandom >a");
	order("fits");
	(void)start_worker("archivist");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	sh("head -c 3000000 /dev/urandom >b");
	order("fits too");
	expect_soon("SELECT state FROM checkpoint ORDER BY seq", "done\ndone\n");
	sh("head -c 4000001 /dev/zero >c");
	order("does not");
	expect_soon("SELECT state, attempts, why FROM checkpoint ORDER BY seq DESC LIMIT 1",
	            "refused|1|it would add more than 4000000 bytes to what checkpoints hold "
	            "(setting checkpoint.max_added_bytes)\n");
	sh("rm c; head -c 4500000 /dev/urandom | split -a 3 -b 1000 - f");
	order("in sum");
	expect_soon("SELECT state, attempts FROM checkpoint ORDER BY seq DESC LIMIT 1",
	            "refused|1\n");
}
END_TEST

/* The objects have a disk of their own. */
static void given_disk(const char *size)
{
	OWNED(str) struct str path = { 0 };
	char options[60];

	(void)snprintf(options, sizeof(options), "size=%s,mode=0700", size);
	objects_path(test_db(), &path);
	ck_assert_int_eq(mkdir(str_text(&path), 0700), 0);
	ck_assert_int_eq(mount("tmpfs", str_text(&path), "tmpfs", 0, options), 0);
}

START_TEST(a_checkpoint_leaves_the_disk_more_room_than_questions_need)
{
	OWNED(str) struct str path = { 0 };

	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	fresh_workspace();
	given_disk("300m");
	objects_path(test_db(), &path);
	sh("echo one >small");
	order("small");
	(void)start_worker("archivist");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	sh("truncate -s 100M sparse");
	order("one large file");
	expect_soon("SELECT state, attempts, why FROM checkpoint ORDER BY seq DESC LIMIT 1",
	            "refused|1|less than 256 MiB would be left free on the disk of the database "
	            "(setting checkpoint.reserve_bytes)\n");
	sh("rm sparse; head -c 80000000 /dev/urandom | split -a 3 -b 200000 - f");
	order("many");
	expect_soon("SELECT state, attempts FROM checkpoint ORDER BY seq DESC LIMIT 1",
	            "refused|1\n");
	ck_assert_int_ge(store_free_bytes(str_text(&path)), 255 << 20);
}
END_TEST

/* setting: SQL that is run before. */
static void is_refused_at_once(const char *setting, const char *why)
{
	OWNED(str) struct str wanted = { 0 };

	fresh_workspace();
	given_disk("300m,nr_inodes=300");
	given(setting);
	sh("for i in $(seq 400); do echo $i >f$i; done");
	order("many");
	(void)start_worker("archivist");
	str_addf(&wanted, "refused|1|%s\n", why);
	expect_soon("SELECT state, attempts, why FROM checkpoint", wanted.bytes);
}

START_TEST(a_disk_that_is_full_refuses_a_checkpoint_at_once)
{
	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	is_refused_at_once("INSERT INTO setting VALUES ('checkpoint.reserve_bytes', '0', 'file',"
	                   " '2026-01-01T09:00:00.000Z')",
	                   "cannot write the content of checkpoints: No space left on device");
}
END_TEST

START_TEST(the_last_files_of_a_disk_are_not_taken_by_a_checkpoint)
{
	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	is_refused_at_once("",
	                   "fewer than 18 files more could be made on the disk of the database");
}
END_TEST

static int count_one(const char *hash, uint64_t size, void *arg)
{
	(void)hash;
	(void)size;
	++*(uint64_t *)arg;
	return 0;
}

static uint64_t count_objects(void)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	uint64_t count = 0;

	open_objects(&o);
	ck_assert_int_eq(objects_each(&o, count_one, &count, &e), 0);
	return count;
}

START_TEST(what_a_refused_checkpoint_has_stored_is_deleted_soon)
{
	uint64_t held;

	fresh_workspace();
	set("checkpoint.max_added_bytes", "400000");
	sh(": >f");
	order("first");
	(void)start_worker("archivist");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	sh("head -c 1000000 /dev/zero >x; for i in $(seq 5000); do echo \"$i $i $i\" >f$i; done");
	held = count_objects();
	/* Nothing is due for an hour once the keeper has been there. */
	advance(11 * 60 * 1000);
	order("second");
	expect_soon("SELECT state FROM checkpoint ORDER BY seq", "done\nrefused\n");
	ck_assert_uint_gt(count_objects(), 4000);
	advance(11 * 60 * 1000);
	for (int i = 0; i < 1000 && count_objects() > held; i++)
		(void)usleep(10000);
	ck_assert_uint_eq(count_objects(), held);
}
END_TEST

START_TEST(a_folder_that_is_gone_is_refused)
{
	fresh_workspace();
	sh("rmdir ../ws");
	order("");
	(void)start_worker("archivist");
	expect_soon("SELECT state, why GLOB 'cannot open the workspace*' FROM checkpoint",
	            "refused|1\n");
}
END_TEST

START_TEST(a_workspace_without_a_session_has_checkpoints_too)
{
	char sql[1400];

	fresh_workspace();
	sh("echo one >a");
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, argument) VALUES ('session-checkpoint',"
	               " json_object('workspace', '%s', 'label', 'mine'))",
	               ws);
	given(sql);
	(void)start_worker("archivist");
	expect_soon("SELECT state, session_id IS NULL, label, files FROM checkpoint",
	            "done|1|mine|1\n");
}
END_TEST

/* The process that reads for an archivist. */
static pid_t reader_of(pid_t archivist)
{
	char path[80];
	int pid = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", archivist, archivist);
	for (int i = 0; i < 1000 && !pid; i++) { /* the rows are claimed first */
		FILE *f = fopen(path, "r");

		ck_assert_ptr_nonnull(f);
		if (fscanf(f, "%d", &pid) != 1) /* NOLINT(cert-err34-c) */
			(void)usleep(1000);
		(void)fclose(f);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

START_TEST(a_workspace_that_hangs_is_given_up_and_holds_up_no_other)
{
	char sql[2000];
	pid_t pid;

	fresh_workspace();
	set("checkpoint.timeout_seconds", "30");
	sh("mkdir ../other; echo x >../other/f; truncate -s 2000M huge");
	pid = start_worker("archivist");
	order("slow");
	expect_soon("SELECT state FROM checkpoint", "claimed\n");
	ck_assert_int_eq(kill(reader_of(pid), SIGSTOP), 0); /* as a hung disk stops it */
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, argument) VALUES ('session-checkpoint',"
	               " json_object('workspace', '%.*sother'))",
	               (int)(strlen(ws) - 2), ws);
	given(sql);
	expect_soon("SELECT state FROM checkpoint ORDER BY seq", "claimed\ndone\n");
	advance(31 * 1000);
	expect_soon("SELECT state, why FROM checkpoint ORDER BY seq LIMIT 1",
	            "refused|the workspace could not be read in time (setting "
	            "checkpoint.timeout_seconds)\n");
}
END_TEST

/* Folders beside the workspace, of this user. */
static void given_folders(const char *names, int uid)
{
	OWNED(str) struct str sql = { 0 };
	char line[300];

	(void)snprintf(line, sizeof(line),
	               "for i in %s; do mkdir ../$i; truncate -s 500M ../$i/huge; done", names);
	sh(line);
	str_addf(
	    &sql,
	    "INSERT INTO workspace_owner (machine, workspace_root, uid, name, found_at,"
	    " accepted_at) SELECT 'h', '%.*s' || value, %d, 'carl', '2026-01-01T09:00:00.000Z',"
	    " '2026-01-01T09:00:00.000Z' FROM json_each('[\"' || replace('%s', ' ', '\",\"')"
	    " || '\"]');"
	    "INSERT INTO checkpoint_wanted (kind, machine, workspace_root)"
	    " SELECT 'ordered', machine, workspace_root FROM workspace_owner WHERE uid = %d",
	    (int)(strlen(ws) - 2), ws, uid, names, uid);
	given(str_text(&sql));
}

/* Stops all that read for an archivist, as their disk does; there are at least so many. */
static void stop_readers(pid_t archivist, int least)
{
	char path[80];
	int count = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", archivist, archivist);
	while (count < least) {
		FILE *f = fopen(path, "r");
		int pid;

		ck_assert_ptr_nonnull(f);
		for (count = 0; fscanf(f, "%d", &pid) == 1; count++) /* NOLINT(cert-err34-c) */
			ck_assert_int_eq(kill(pid, SIGSTOP), 0);
		(void)fclose(f);
	}
}

START_TEST(workspaces_of_one_user_leave_a_place_for_those_of_another)
{
	static const char STATES[] = "SELECT o.uid, c.state, count(*) FROM checkpoint AS c"
	                             " JOIN workspace_owner AS o USING (workspace_root)"
	                             " GROUP BY o.uid, c.state ORDER BY o.uid, c.state";
	pid_t pid;

	fresh_workspace();
	given_folders("a b c d", 60101);
	pid = start_worker("archivist");
	expect_soon(STATES, "60101|claimed|2\n60101|queued|2\n");
	stop_readers(pid, 2);
	given_folders("x y", 60102);
	expect_soon(STATES, "60101|claimed|2\n60101|queued|2\n60102|done|2\n");
}
END_TEST

START_TEST(what_no_checkpoint_needs_is_deleted_and_what_one_needs_stays)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;

	fresh_workspace();
	set("checkpoint.auto", "true");
	set("checkpoint.keep", "1");
	(void)start_worker("archivist");
	sh("echo one >a; echo same >b");
	given("INSERT INTO checkpoint_wanted (kind, session_id) VALUES ('start', 's-1')");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	sh("echo two >a");
	given("INSERT INTO checkpoint_wanted (kind, session_id) VALUES ('apply', 's-1')");
	expect_soon("SELECT state FROM checkpoint ORDER BY seq", "done\ndone\n");
	open_objects(&o);
	ck_assert_int_eq(object_check(&o, sha256_of("one\n", 4).text, &e), 1);
	given("INSERT INTO checkpoint_wanted (kind, session_id) VALUES ('apply', 's-1')");
	expect_soon("SELECT state FROM checkpoint ORDER BY seq", "done\ndone\ndone\n");
	advance(11 * 60 * 1000);
	/* How a session that lives began stays. */
	expect_soon("SELECT kind, state FROM checkpoint ORDER BY seq", "start|done\napply|done\n");
	ck_assert_int_eq(object_check(&o, sha256_of("one\n", 4).text, &e), 1);
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at"
	      " WHERE id = 's-1'");
	advance(61 * 60 * 1000);
	expect_soon("SELECT kind, state FROM checkpoint", "apply|done\n");
	for (int i = 0; i < 1000 && object_exists(&o, sha256_of("one\n", 4).text); i++)
		(void)usleep(10000);
	ck_assert(!object_exists(&o, sha256_of("one\n", 4).text));
	ck_assert_int_eq(object_check(&o, sha256_of("two\n", 4).text, &e), 1);
	ck_assert_int_eq(object_check(&o, sha256_of("same\n", 5).text, &e), 1);
}
END_TEST

/* What it has stored is named by no row yet. */
START_TEST(nothing_is_deleted_while_a_workspace_is_read)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(str) struct str path = { 0 };
	struct sha256 hash;
	char sql[2000];
	pid_t pid;

	fresh_workspace();
	set("checkpoint.timeout_seconds", "3600");
	sh("mkdir ../other; echo x >../other/f; truncate -s 2000M huge");
	pid = start_worker("archivist");
	order("slow");
	expect_soon("SELECT state FROM checkpoint", "claimed\n");
	ck_assert_int_eq(kill(reader_of(pid), SIGSTOP), 0);
	objects_path(test_db(), &path);
	MUST(objects_open(str_text(&path), true, &o, &e) == 0, "%s", e.text);
	ck_assert_int_eq(object_put_bytes(&o, "of nobody", 9, &hash, &e), 0);
	ck_assert_int_eq(objects_flush(&o, &e), 0);
	advance(11 * 60 * 1000);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, argument) VALUES ('session-checkpoint',"
	               " json_object('workspace', '%.*sother'))",
	               (int)(strlen(ws) - 2), ws);
	given(sql);
	expect_soon("SELECT state FROM checkpoint ORDER BY seq", "claimed\ndone\n");
	ck_assert(object_exists(&o, hash.text));
}
END_TEST

static void given_a_checkpoint(void)
{
	fresh_workspace();
	sh("echo one >a");
	order("x");
	(void)start_worker("archivist");
	expect_soon("SELECT state FROM checkpoint", "done\n");
}

START_TEST(a_checkpoint_whose_list_is_gone_is_lost_and_said_to_be)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(char_ptr) char *hash = NULL;

	given_a_checkpoint();
	open_objects(&o);
	hash = rows("SELECT manifest FROM checkpoint");
	hash[SHA256_BYTES - 1] = '\0';
	ck_assert_int_eq(object_delete(&o, hash, &e), 0);
	advance(11 * 60 * 1000);
	expect_soon("SELECT state, why GLOB 'object * is missing' FROM checkpoint", "lost|1\n");
	expect("SELECT count(*) FROM event WHERE kind = 'checkpoint.lost'", "1\n");
}
END_TEST

START_TEST(damage_to_what_checkpoints_hold_is_found_within_a_week_and_does_not_spread)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(str) struct str path = { 0 };
	struct sha256 hash = sha256_of("one\n", 4);
	char line[5000];

	fresh_workspace();
	sh("echo one >a; echo two >b");
	order("x");
	(void)start_worker("archivist");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	open_objects(&o);
	objects_path(test_db(), &path);
	(void)snprintf(line, sizeof(line), "chmod 600 '%s/%.2s/%s'; echo ONE >'%s/%.2s/%s'",
	               str_text(&path), hash.text, hash.text + 2, str_text(&path), hash.text,
	               hash.text + 2);
	sh(line);
	advance(21 * 60 * 1000);
	expect_soon("SELECT kind, outcome, why GLOB 'object * is missing or damaged' FROM upkeep",
	            "objects|damaged|1\n");
	expect("SELECT state FROM checkpoint", "lost\n");
	expect("SELECT kind, actor FROM event WHERE kind GLOB 'objects.*'",
	       "objects.damaged|archivist\n");
	expect("SELECT state FROM health WHERE what = 'checkpoints'", "damaged\n");

	order("again");
	expect_soon("SELECT count(*) FROM checkpoint WHERE state = 'done'", "1\n");
	ck_assert_int_eq(object_check(&o, hash.text, &e), 1);
	advance(8 * 24 * 3600 * (int64_t)1000);
	expect_soon("SELECT outcome FROM upkeep ORDER BY seq", "damaged\nok\n");
	expect("SELECT state FROM checkpoint ORDER BY seq", "lost\ndone\n");
}
END_TEST

START_TEST(a_backup_holds_what_checkpoints_hold_and_brings_it_back)
{
	char line[8000];
	struct sha256 hash = sha256_of("one\n", 4);

	given_a_checkpoint();
	(void)snprintf(
	    line, sizeof(line),
	    "\"$INTERCOM_BUILD/agent-intercom\" --db '%s' backup ../copy.db && "
	    "\"$INTERCOM_BUILD/agent-intercom\" --db ../other.db restore ../copy.db --yes"
	    " && test \"$(cat ../other.db-objects/%.2s/%s)\" = one",
	    test_db(), hash.text, hash.text + 2);
	sh(line);
}
END_TEST

START_TEST(a_backup_puts_nothing_into_a_folder_of_another_user)
{
	char line[2000];

	SKIP_UNLESS(geteuid() == 0, "root");
	given_a_checkpoint();
	sh("mkdir ../copy.db-objects && chown 1 ../copy.db-objects");
	(void)snprintf(line, sizeof(line),
	               "! \"$INTERCOM_BUILD/agent-intercom\" --db '%s' backup ../copy.db",
	               test_db());
	sh(line);
	sh("rmdir ../copy.db-objects");
}
END_TEST

START_TEST(an_order_does_not_fall_with_one_over_which_the_archivist_has_died_too_often)
{
	fresh_workspace();
	order("deadly");
	given(
	    "UPDATE checkpoint SET state = 'claimed', claim = 3, attempts = 3, worker_id = 'dead'");
	order("new");
	(void)start_worker("archivist");
	expect_soon("SELECT label, state FROM checkpoint ORDER BY seq",
	            "deadly|refused\nnew|done\n");
}
END_TEST

/* Kills it at another moment each time; in the end each order has exactly one checkpoint. */
START_TEST(killed_anywhere_each_order_has_one_checkpoint_and_nothing_is_left)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(str) struct str left = { 0 };
	char command[5000];

	fresh_workspace();
	sh("head -c 8000000 /dev/urandom | split -a 3 -b 20000 - f");
	for (int i = 0; i < 12; i++) {
		pid_t pid;

		if (i % 3 == 0)
			order("kill");
		pid = start_worker("archivist");
		(void)usleep((useconds_t)(i * 4000));
		kill_worker(pid);
		sh("date +%N >f7");
		expect("SELECT count(*) FROM checkpoint WHERE state = 'done' AND manifest IS NULL",
		       "0\n");
	}
	order("whole"); /* every one before it may have been given up */
	(void)start_worker("archivist");
	expect_soon("SELECT count(*) FROM checkpoint WHERE state IN ('queued', 'claimed')", "0\n");
	expect("SELECT count(*), count(outcome) FROM command", "5|5\n");
	expect("SELECT count(*) FROM checkpoint", "5\n");
	expect("SELECT state FROM checkpoint WHERE label = 'whole'", "done\n");
	expect("SELECT count(*) FROM checkpoint WHERE state <> 'done'"
	       " AND (state <> 'refused' OR why <> 'the archivist died 3 times while it was read')",
	       "0\n");
	open_objects(&o);
	(void)snprintf(command, sizeof(command), "ls -A '%s-objects/new' | wc -l | grep -qx 0",
	               test_db());
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
}
END_TEST

/* ---- calls that fail ---- */

static void given_order(void)
{
	fresh_workspace();
	sh("echo one >a; mkdir d; head -c 300000 /dev/zero >d/big; ln -s a l; mkdir empty;"
	   "echo '*.o' >.gitignore; : >x.o; rm x.o");
	order("x");
}

static const char *strace_log(void)
{
	return below(test_run(), "../strace");
}

/* Waits until an archivist under strace has tried once, and ends it. */
static void try_once(pid_t tracer, const char *when)
{
	int64_t until_ms = clock_monotonic_ms() + TRY_MS;
	OWNED(char_ptr) char *open = NULL;
	bool over = false;

	while (!over) {
		char_ptr_clear(&open);
		open = rows("SELECT count(*) FROM checkpoint WHERE state = 'claimed'"
		            " OR (state = 'queued' AND attempts = 0)");
		over = strcmp(open, "0\n") == 0 || waitpid(tracer, NULL, WNOHANG) == tracer;
		MUST(clock_monotonic_ms() < until_ms, "%s: stands still", when);
		(void)poll(NULL, 0, 10);
	}
	(void)kill(-tracer, SIGKILL);
	(void)waitpid(tracer, NULL, 0);
}

static int exists(const char *hash, void *objects)
{
	return object_check(objects, hash, &e) == 1 ? 0 : 1;
}

/* What is counted as taken is there: all of it, or with the names of what is not. */
static void is_true(const char *when)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(char_ptr)
	char *hash = rows("SELECT manifest FROM checkpoint WHERE state = 'done' AND left_out = 0");
	OWNED(char_ptr) char *any = rows("SELECT manifest FROM checkpoint WHERE state = 'done'");
	struct sha256 wanted;

	if (!*any)
		return;
	any[SHA256_BYTES - 1] = '\0';
	open_objects(&o);
	MUST(manifest_objects(&o, any, exists, &o, &e) == 0, "%s: %s", when, e.text);
	if (!*hash)
		return;
	wanted = tree_store(below(test_run(), "../other"), ws);
	MUST(strncmp(hash, wanted.text, SHA256_BYTES - 1) == 0, "%s: not what is there", when);
}

static void fails_at(const struct fault *f)
{
	given_order();
	try_once(fault_start(f, "archivist", strace_log()), fault_name(f));
	is_true(fault_name(f));
	(void)start_worker("archivist");
	expect_soon("SELECT count(*) FROM checkpoint WHERE state NOT IN ('done', 'refused')"
	            " OR (state = 'refused' AND why IS NULL)",
	            "0\n");
	is_true(fault_name(f));
	expect("SELECT count(*), count(outcome) FROM command", "1|1\n");
}

static void fails_everywhere(const char *path)
{
	struct faults f = { .list = NULL };

	given_order();
	try_once(start_traced("archivist", FAULT_CALLS, NULL, strace_log()), "without a fault");
	expect("SELECT state, left_out FROM checkpoint", "done|0\n");
	faults_read(&f, strace_log(), path, FAULTS);
	for (size_t i = 0; i < f.count; i++)
		fails_at(&f.list[i]);
	faults_clear(&f);
}

START_TEST(whichever_call_on_the_workspace_fails_nothing_is_counted_that_is_not_there)
{
	fails_everywhere("/ws");
}
END_TEST

START_TEST(whichever_call_on_the_objects_fails_nothing_is_counted_that_is_not_there)
{
	fails_everywhere("-objects");
}
END_TEST

START_TEST(a_write_that_takes_only_a_part_is_continued)
{
	given_order();
	writes_are_short(true);
	(void)start_worker("archivist");
	writes_are_short(false);
	expect_soon("SELECT state, left_out FROM checkpoint", "done|0\n");
	is_true("short writes");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("archivist");
	TCase *t = store_case(s, "archivist", 60);

	tcase_add_test(t, the_database_is_held_by_no_checkpoint_though_it_lies_in_the_workspace);
	tcase_add_test(t, an_order_is_carried_out_and_answered);
	tcase_add_test(t, a_second_one_adds_only_what_has_changed);
	tcase_add_test(t, one_reading_settles_all_that_were_queued_for_a_workspace);
	tcase_add_test(t, what_is_too_large_is_refused_with_the_setting);
	tcase_add_test(t,
	               what_a_checkpoint_adds_is_bounded_and_what_is_held_already_counts_nothing);
	tcase_add_test(t, a_checkpoint_leaves_the_disk_more_room_than_questions_need);
	tcase_add_test(t, a_disk_that_is_full_refuses_a_checkpoint_at_once);
	tcase_add_test(t, the_last_files_of_a_disk_are_not_taken_by_a_checkpoint);
	tcase_add_test(t, what_a_refused_checkpoint_has_stored_is_deleted_soon);
	tcase_add_test(t, a_folder_that_is_gone_is_refused);
	tcase_add_test(t,
	               an_order_does_not_fall_with_one_over_which_the_archivist_has_died_too_often);
	tcase_add_test(t, a_workspace_without_a_session_has_checkpoints_too);
	tcase_add_test(t, a_workspace_that_hangs_is_given_up_and_holds_up_no_other);
	tcase_add_test(t, workspaces_of_one_user_leave_a_place_for_those_of_another);
	tcase_add_test(t, what_no_checkpoint_needs_is_deleted_and_what_one_needs_stays);
	tcase_add_test(t, nothing_is_deleted_while_a_workspace_is_read);
	tcase_add_test(t, a_checkpoint_whose_list_is_gone_is_lost_and_said_to_be);
	tcase_add_test(t,
	               damage_to_what_checkpoints_hold_is_found_within_a_week_and_does_not_spread);
	tcase_add_test(t, a_backup_holds_what_checkpoints_hold_and_brings_it_back);
	tcase_add_test(t, a_backup_puts_nothing_into_a_folder_of_another_user);
	tcase_add_test(t, killed_anywhere_each_order_has_one_checkpoint_and_nothing_is_left);
	tcase_add_test(t, a_write_that_takes_only_a_part_is_continued);
	t = store_case(s, "workspace_faults", 4 * 3600);
	tcase_add_test(t,
	               whichever_call_on_the_workspace_fails_nothing_is_counted_that_is_not_there);
	t = store_case(s, "object_faults", 4 * 3600);
	tcase_add_test(t, whichever_call_on_the_objects_fails_nothing_is_counted_that_is_not_there);
	return run_suite(s);
}
