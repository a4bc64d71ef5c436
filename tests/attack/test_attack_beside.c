/* What another user puts beside a database, in a folder where everybody may create files, under the
 * names of SQLite's own files: it is not taken for a part of the database, nor of a backup. */
#include "agent.h"
#include "sha256.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <sysexits.h>
#include <unistd.h>

enum { SOMEBODY = 1 };

static const char *folder; /* as /tmp */
static char database[300], theirs[300];
static struct str said;

static int run(const char *program, const char *arguments)
{
	return shell(
	    &said,
	    "cd %s && HOME=$PWD XDG_RUNTIME_DIR= timeout 20 %s/%s --db %s %s 2>&1 </dev/null",
	    folder, getenv("INTERCOM_BUILD"), program, database, arguments);
}

static int intercom(const char *arguments)
{
	return run("agent-intercom", arguments);
}

static void refuses(int status, int wanted, const char *words)
{
	ck_assert_msg(status == wanted, "exit %d: %s", status, str_text(&said));
	says(str_text(&said), words);
}

/* A database of ours, not in use, and one of theirs that differs. */
static void given_databases(void)
{
	fresh_store();
	folder = short_scratch();
	ck_assert_int_eq(chmod(folder, 01777), 0);
	(void)snprintf(database, sizeof(database), "%.200s/x.db", folder);
	(void)snprintf(theirs, sizeof(theirs), "%.200s/y.db", folder);
	ck_assert_int_eq(shell(NULL,
	                       "cd %s && mkdir -p .config/agent-intercom && echo 'http_port = 0' >"
	                       ".config/agent-intercom/config.toml && sqlite3 %s 'VACUUM INTO "
	                       "\"x.db\"' && chmod 600 x.db && cp x.db y.db && sqlite3 x.db "
	                       "'PRAGMA journal_mode = WAL' && sqlite3 y.db \"INSERT INTO event "
	                       "(at, kind) VALUES ('2026-01-01T09:00:00.000Z', 'theirs')\"",
	                       folder, test_db()),
	                 0);
}

static struct sha256 hash_of(const char *path)
{
	static char bytes[8 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, bytes, sizeof(bytes));

	ck_assert_int_gt(n, 0);
	(void)close(fd);
	return sha256_of(bytes, (size_t)n);
}

static void is_unchanged(const char *path, const struct sha256 *before)
{
	ck_assert_str_eq(hash_of(path).text, before->text);
}

static const char *beside(const char *path, const char *suffix)
{
	static char name[400];

	(void)snprintf(name, sizeof(name), "%.300s%s", path, suffix);
	return name;
}

static void put_number(unsigned char *at, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(n >> (24 - 8 * i));
}

/* A rollback journal, as a process would leave it that was killed: playing it back makes the
 * database at path theirs. */
static void plant_journal(const char *path, uid_t owner)
{
	enum { PAGE = 4096, SECTOR = 512, STEP = 200 };
	static const unsigned char MAGIC[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	unsigned char head[SECTOR] = { 0 }, page[PAGE + 8];
	FILE *from = fopen(theirs, "re"), *to = fopen(beside(path, "-journal"), "we");
	struct stat about;

	ck_assert(from && to && fstat(fileno(from), &about) == 0);
	memcpy(head, MAGIC, sizeof(MAGIC));
	put_number(head + 8, (uint32_t)(about.st_size / PAGE));
	put_number(head + 16, (uint32_t)(about.st_size / PAGE));
	put_number(head + 20, SECTOR);
	put_number(head + 24, PAGE);
	ck_assert_uint_eq(fwrite(head, SECTOR, 1, to), 1);
	for (uint32_t n = 1, sum = 0; fread(page + 4, PAGE, 1, from) == 1; n++, sum = 0) {
		for (int i = PAGE - STEP; i > 0; i -= STEP)
			sum += page[4 + i];
		put_number(page, n);
		put_number(page + 4 + PAGE, sum);
		ck_assert_uint_eq(fwrite(page, sizeof(page), 1, to), 1);
	}
	ck_assert_int_eq(fchown(fileno(to), owner, owner) | fchmod(fileno(to), 0666), 0);
	ck_assert_int_eq(fclose(from) | fclose(to), 0);
}

/* A log with all pages of theirs. */
static void plant_log(const char *path, uid_t owner)
{
	ck_assert_int_eq(shell(NULL,
	                       "sqlite3 %s 'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = "
	                       "0; VACUUM' '.shell cp %s-wal %s-wal' >/dev/null && chmod 666 "
	                       "%s-wal && chown %u %s-wal",
	                       theirs, theirs, path, path, (unsigned)owner, path),
	                 0);
}

START_TEST(a_journal_of_another_user_is_played_back_by_nobody)
{
	static const struct {
		const char *program, *arguments;
		int status;
	} LOOKS[] = {
		{ "agent-intercom", "", EX_CONFIG },
		{ "agent-intercom", "audit verify", EX_CONFIG },
		{ "agent-intercom", "backup copy", EX_CONFIG },
		{ "agent-intercom", "retention --once", EX_CONFIG },
		{ "agent-intercom", "doctor", 1 },
		{ "agent-intercom-ctl", "inbox", 1 },
	};
	struct sha256 before;

	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	given_databases();
	before = hash_of(database);
	plant_journal(database, SOMEBODY);
	for (size_t i = 0; i < COUNT(LOOKS); i++) {
		refuses(run(LOOKS[i].program, LOOKS[i].arguments), LOOKS[i].status,
		        "x.db-journal: belongs to uid 1, not to us (uid 0)");
		is_unchanged(database, &before);
		ck_assert_ptr_null(strstr(said.bytes, "chown it")); /* what they have put there */
	}
	ck_assert_int_eq(unlink(beside(database, "-journal")), 0);
	plant_journal(database, 0); /* what a process of ours leaves that is killed */
	ck_assert_int_eq(intercom("audit verify"), 0);
	ck_assert_str_ne(hash_of(database).text, before.text);
	(void)intercom("doctor");
	says(str_text(&said), "has mode 1777: everybody may create files there");
	ck_assert_ptr_null(strstr(said.bytes, "chmod 700 it")); /* /tmp is for everybody */
}
END_TEST

/* One that comes after all checks, but before SQLite opens it. */
START_TEST(sqlite_itself_opens_nothing_of_another_user_beside_a_database)
{
	static const char COUNT_EVENTS[] = "SELECT count(*) FROM event";
	struct sha256 before;
	int version;
	sqlite3 *db;

	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	given_databases();
	ck_assert_int_eq(store_examine(database, "", &version, NULL), 0); /* and SQLite is told */
	before = hash_of(database);
	plant_journal(database, SOMEBODY);
	ck_assert_int_eq(sqlite3_open(database, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, COUNT_EVENTS, NULL, NULL, NULL), SQLITE_CANTOPEN);
	(void)sqlite3_close(db);
	ck_assert_int_eq(unlink(beside(database, "-journal")), 0);
	plant_log(database, SOMEBODY);
	ck_assert_int_eq(sqlite3_open(database, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, COUNT_EVENTS, NULL, NULL, NULL), SQLITE_CANTOPEN);
	(void)sqlite3_close(db);
	plant_log(database, 0);
	ck_assert_int_eq(shell(NULL, ": >%s-shm && chown 1 %s-shm", database, database), 0);
	ck_assert_int_eq(sqlite3_open(database, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, COUNT_EVENTS, NULL, NULL, NULL), SQLITE_CANTOPEN);
	(void)sqlite3_close(db);
	is_unchanged(database, &before);
}
END_TEST

START_TEST(a_log_of_another_user_is_no_part_of_a_backup)
{
	struct sha256 copy, before;
	char file[300];

	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	given_databases();
	(void)snprintf(file, sizeof(file), "%.200s/copy", folder);
	ck_assert_int_eq(intercom("backup copy"), 0);
	copy = hash_of(file);
	before = hash_of(database);
	plant_log(file, SOMEBODY);
	refuses(intercom("restore copy --yes"), EX_CONFIG,
	        "copy-wal: is another user's, or no regular file, and so no part of the backup; "
	        "remove it, or have it removed");
	is_unchanged(file, &copy);
	is_unchanged(database, &before);
}
END_TEST

/* A copy of ours with what lies beside it, in a folder of its own. */
static const char *given_copy(void)
{
	static char file[300];

	given_databases();
	(void)snprintf(file, sizeof(file), "%.200s/away/copy", folder);
	ck_assert_int_eq(shell(NULL, "mkdir %s/away", folder), 0);
	ck_assert_int_eq(intercom("backup away/copy"), 0);
	return file;
}

static int restore_on_a_terminal(const char *file, const char *answer)
{
	return shell(&said,
	             "cd %s && echo %s | HOME=$PWD XDG_RUNTIME_DIR= timeout 20 script -qec "
	             "'%s/agent-intercom --db %s restore %s' /dev/null",
	             folder, answer, getenv("INTERCOM_BUILD"), database, file);
}

static void restores_theirs_from(const char *file)
{
	OWNED(str) struct str before = { 0 }, after = { 0 };
	int status;

	(void)shell(&before, "cd %s/away && sha256sum *", folder);
	status = restore_on_a_terminal(file, "y");
	ck_assert_msg(status == 0, "exit %d: %s", status, str_text(&said));
	(void)shell(&after, "cd %s/away && sha256sum *", folder);
	ck_assert_str_eq(before.bytes, after.bytes);
	ck_assert_int_eq(shell(&said,
	                       "sqlite3 %s 'SELECT count(*) FROM event WHERE kind = "
	                       "\"theirs\"'",
	                       database),
	                 0);
	ck_assert_str_eq(said.bytes, "1\n");
}

static void restores_theirs(void)
{
	restores_theirs_from("away/copy");
}

START_TEST(a_log_of_ours_is_a_part_of_the_backup_and_nothing_beside_it_is_written)
{
	plant_log(given_copy(), geteuid());
	restores_theirs();
}
END_TEST

START_TEST(a_journal_of_ours_is_played_back_into_what_is_restored_not_into_the_backup)
{
	plant_journal(given_copy(), geteuid());
	restores_theirs();
}
END_TEST

START_TEST(a_backup_that_is_named_by_a_link_has_its_log_where_it_is_itself)
{
	plant_log(given_copy(), geteuid());
	ck_assert_int_eq(shell(NULL, "ln -s away/copy %s/link", folder), 0);
	restores_theirs_from("link");
}
END_TEST

START_TEST(a_backup_of_another_user_comes_with_the_log_of_that_user)
{
	const char *file;

	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	file = given_copy();
	plant_log(file, SOMEBODY);
	ck_assert_int_eq(chown(file, SOMEBODY, SOMEBODY), 0);
	restores_theirs();
}
END_TEST

START_TEST(what_is_no_file_or_is_a_link_is_no_log_of_a_backup)
{
	static const char *const PLANTS[] = { "mkdir away/copy-wal", "mkfifo away/copy-wal",
		                              "ln -s ../log away/copy-wal" };
	struct sha256 before;

	plant_log(given_copy(), geteuid());
	ck_assert_int_eq(shell(NULL, "cd %s && mv away/copy-wal log", folder), 0);
	before = hash_of(database);
	for (size_t i = 0; i < COUNT(PLANTS); i++) {
		ck_assert_int_eq(shell(NULL, "cd %s && %s", folder, PLANTS[i]), 0);
		refuses(intercom("restore away/copy --yes"), EX_CONFIG,
		        "away/copy-wal: is another user's, or no regular file, and so no part of "
		        "the backup; remove it");
		is_unchanged(database, &before);
		ck_assert_int_eq(shell(NULL, "rm -r %s/away/copy-wal", folder), 0);
	}
}
END_TEST

START_TEST(a_backup_on_a_disk_that_cannot_be_written_is_restored)
{
	SKIP_UNLESS(may_mount(), "root, who can mount");
	plant_log(given_copy(), 0);
	ck_assert_int_eq(shell(&said,
	                       "cd %s && mount --bind away away && mount -o "
	                       "remount,bind,ro away 2>&1",
	                       folder),
	                 0);
	ck_assert_int_ne(shell(NULL, "touch %s/away/x 2>/dev/null", folder), 0);
	restores_theirs();
	ck_assert_int_eq(shell(NULL, "umount %s/away", folder), 0);
}
END_TEST

/* Its parts, copied one after the other, would not be of one moment. */
START_TEST(a_backup_that_somebody_writes_is_not_restored)
{
	const char *file = given_copy();
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(file, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	refuses(intercom("restore away/copy --yes"), EX_TEMPFAIL, "away/copy is in use");
	ck_assert_int_eq(sqlite3_exec(db, "ROLLBACK; BEGIN EXCLUSIVE", NULL, NULL, NULL),
	                 SQLITE_OK);
	refuses(intercom("restore away/copy --yes"), EX_TEMPFAIL, "away/copy is in use");
	ck_assert_int_eq(sqlite3_exec(db,
	                              "ROLLBACK; PRAGMA journal_mode = WAL; INSERT INTO event (at, "
	                              "kind) VALUES ('2026-01-01T09:00:00.000Z', 'theirs')",
	                              NULL, NULL, NULL),
	                 SQLITE_OK);
	refuses(intercom("restore away/copy --yes"), EX_TEMPFAIL, "away/copy is in use");
	(void)sqlite3_close(db);
	ck_assert_int_eq(intercom("restore away/copy --yes"), 0);
	ck_assert_int_eq(access(beside(file, "-wal"), F_OK), -1);
	ck_assert_int_eq(access(beside(file, "-shm"), F_OK), -1);
}
END_TEST

START_TEST(nobody_writes_a_backup_while_it_is_copied)
{
	const char *file = given_copy();
	int status =
	    shell(&said,
	          "cd %s && { strace -f -qq -o log -P %s -e trace=read -e "
	          "inject=read:signal=SIGSTOP:when=1 env HOME=$PWD XDG_RUNTIME_DIR= "
	          "%s/agent-intercom --db %s restore "
	          "away/copy --yes >restored 2>&1 & } && until grep -q 'stopped by SIGSTOP' "
	          "log; do kill -0 $! || exit 9; sleep 0.02; done; sqlite3 away/copy 'BEGIN "
	          "EXCLUSIVE' 2>&1; kill -CONT $(sed -n 's/ .*stopped by.*//p' log) && "
	          "wait $!",
	          folder, file, getenv("INTERCOM_BUILD"), database);

	refuses(status, 0, "database is locked");
}
END_TEST

START_TEST(a_backup_gets_no_name_beside_which_another_files_log_or_journal_lies)
{
	static const char *const SUFFIXES[] = { "-wal", "-shm", "-journal" };

	given_databases();
	ck_assert_int_eq(mkdir(beside(database, "-objects"), 0700), 0);
	for (size_t i = 0; i < COUNT(SUFFIXES); i++) {
		OWNED(str) struct str words = { 0 };
		char file[300];

		(void)snprintf(file, sizeof(file), "%.200s/copy", folder);
		ck_assert_int_eq(shell(NULL, ": >%s", beside(file, SUFFIXES[i])), 0);
		str_addf(&words, "copy%s is there", SUFFIXES[i]);
		refuses(intercom("backup copy"), EX_CONFIG, words.bytes);
		ck_assert_int_eq(access(file, F_OK), -1);
		ck_assert_int_eq(access(beside(file, "-objects"), F_OK), -1);
		ck_assert_int_eq(mkdir(beside(file, "-objects"), 0700), 0);
		ck_assert_int_eq(intercom("backup copy"), EX_CONFIG);
		/* what was there before stays */
		ck_assert_int_eq(shell(NULL, "rm -r %s", beside(file, "-objects")), 0);
		ck_assert_int_eq(unlink(beside(file, SUFFIXES[i])), 0);
	}
	ck_assert_int_eq(intercom("backup copy"), 0);
}
END_TEST

static void is_not_restored(void)
{
	ck_assert_int_ne(shell(NULL, "ls %s.before-restore-* 2>/dev/null", database), 0);
}

START_TEST(a_backup_of_another_user_is_restored_only_by_somebody_who_was_told_whose_it_is)
{
	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	given_databases();
	ck_assert_int_eq(
	    shell(NULL, "cd %s && chmod 644 y.db && chown 1 y.db && ln -s y.db copy", folder), 0);
	refuses(intercom("restore copy --yes"), EX_CONFIG,
	        "/y.db: belongs to uid 1, not to us (uid 0)");
	refuses(restore_on_a_terminal("copy", "n"), 1, "/y.db: schema version");
	says(str_text(&said), "WARNING: it belongs to uid 1, not to us (uid 0)");
	is_not_restored();
	refuses(restore_on_a_terminal("copy", "y"), 0, "restored");
}
END_TEST

/* user::rw-, user:1:rw-, group::---, mask::rw-, other::---: an access list, as setfacl makes it */
static const unsigned char MAY_WRITE[] = {
	2, 0, 0,   0,   1,   0,   6,  0, 255, 255, 255, 255, 2,   0,   6,
	0, 1, 0,   0,   0,   4,   0,  0, 0,   255, 255, 255, 255, 16,  0,
	6, 0, 255, 255, 255, 255, 32, 0, 0,   0,   255, 255, 255, 255,
};

/* Who may write it may have put anything there, and its owner is still we. */
START_TEST(a_backup_that_others_may_write_is_restored_only_by_somebody_who_was_told)
{
	static const char *const OPENS[] = { "chmod 606 copy", "chmod 620 copy && chgrp 1 copy",
		                             "true", "chmod 602 log && cp -p log copy-wal" };
	char file[300];

	SKIP_UNLESS(geteuid() == 0, "root, who can give a group away");
	given_databases();
	(void)snprintf(file, sizeof(file), "%.200s/copy", folder);
	plant_log(file, geteuid());
	ck_assert_int_eq(shell(NULL, "cd %s && mv copy-wal log", folder), 0);
	ck_assert_int_eq(intercom("backup copy"), 0);
	ck_assert_int_eq(shell(NULL, "cd %s && %s", folder, OPENS[_i]), 0);
	if (_i == 2)
		ck_assert_int_eq(
		    setxattr(file, "system.posix_acl_access", MAY_WRITE, sizeof(MAY_WRITE), 0), 0);
	refuses(intercom("restore copy --yes"), EX_CONFIG, "/copy: can be written by other users");
	refuses(intercom("restore copy"), EX_CONFIG, "restore it on a terminal, without --yes");
	refuses(restore_on_a_terminal("copy", "n"), 1, "WARNING: it can be written by other users");
	is_not_restored();
	ck_assert_int_eq(shell(NULL, "cd %s && chmod go-w copy*", folder), 0);
	refuses(intercom("restore copy --yes"), 0, "restored");
}
END_TEST

/* The folder of a backup's objects, with what hangs or fails whoever opens it as a file. */
static void given_objects(const char *hash)
{
	given_databases();
	ck_assert_int_eq(intercom("backup copy"), 0);
	ck_assert_int_eq(shell(NULL,
	                       "cd %s && mkdir -p -m 755 copy-objects/ab copy-objects/ab/%s0 && "
	                       "mkfifo -m 666 copy-objects/ab/%s1 && ln -s / copy-objects/ab/%s2 "
	                       "&& truncate -s 9G copy-objects/ab/%s3",
	                       folder, hash, hash, hash, hash),
	                 0);
}

static const char MOST_OF_HASH[] =
    "0123456789012345678901234567890123456789012345678901234567890"; /* 61 digits */

static const char HASH_OF_X[] = /* and a newline */
    "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac";

START_TEST(objects_of_another_user_are_no_part_of_a_backup)
{
	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	given_objects(MOST_OF_HASH);
	ck_assert_int_eq(shell(NULL, "chown -R 1 %s/copy-objects", folder), 0);
	refuses(intercom("restore copy --yes"), EX_CONFIG,
	        "copy-objects: belongs to uid 1, not to us (uid 0)");
	is_not_restored();
}
END_TEST

START_TEST(what_others_may_put_or_have_put_in_place_of_the_objects_is_no_part_of_a_backup)
{
	static const char *const PUTS[][2] = {
		{ "mkdir -m 777 copy-objects",
		  "copy-objects: other users may write in it; run chmod -R go-w on it" },
		{ "ln -s nothing copy-objects", "copy-objects: is not a directory; remove it" },
		{ "mkdir there && ln -s there copy-objects",
		  "copy-objects: is not a directory; remove it" },
	};

	given_databases();
	ck_assert_int_eq(intercom("backup copy"), 0);
	for (size_t i = 0; i < COUNT(PUTS); i++) {
		ck_assert_int_eq(shell(NULL, "cd %s && %s", folder, PUTS[i][0]), 0);
		refuses(intercom("restore copy --yes"), EX_CONFIG, PUTS[i][1]);
		is_not_restored();
		ck_assert_int_eq(shell(NULL, "rm -r %s/copy-objects", folder), 0);
	}
}
END_TEST

START_TEST(what_is_no_file_among_the_objects_of_a_backup_is_left_out)
{
	given_objects(MOST_OF_HASH);
	ck_assert_int_eq(shell(NULL, "rm %s/copy-objects/ab/*3", folder), 0);
	refuses(intercom("restore copy --yes"), 0, "3 objects are damaged, and left out");
}
END_TEST

/* Who can write it could do so afterwards, in what was restored. */
START_TEST(an_object_that_others_may_write_is_copied_and_not_linked)
{
	given_databases();
	ck_assert_int_eq(intercom("backup copy"), 0);
	ck_assert_int_eq(shell(NULL,
	                       "cd %s && mkdir -p -m 755 copy-objects/%.2s && echo x >object && "
	                       "chmod 666 object && mv object copy-objects/%.2s/%s",
	                       folder, HASH_OF_X, HASH_OF_X, HASH_OF_X + 2),
	                 0);
	refuses(intercom("restore copy --yes"), 0, "1 objects, 2 bytes new in it");
	ck_assert_int_eq(
	    shell(&said, "cd %s && cat x.db-objects/*/* && stat -c %%h x.db-objects/*/*", folder),
	    0);
	ck_assert_str_eq(str_text(&said), "x\n1\n");
}
END_TEST

/* Also of one whose owner was accepted; it is read, and nothing as long as it gets onto the disk.
 */
START_TEST(an_object_that_is_not_what_its_name_says_is_not_copied)
{
	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	given_objects(MOST_OF_HASH);
	ck_assert_int_eq(shell(NULL,
	                       "cd %s && truncate -s 9M copy-objects/ab/*3 && chown -R 1 copy "
	                       "copy-objects && mkdir -m 700 x.db-objects",
	                       folder),
	                 0);
	refuses(restore_on_a_terminal("copy", "y"), 0, "4 objects are damaged, and left out");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_beside");
	TCase *c = store_case(s, "attack_beside", 60);

	tcase_add_test(c, a_journal_of_another_user_is_played_back_by_nobody);
	tcase_add_test(c, sqlite_itself_opens_nothing_of_another_user_beside_a_database);
	tcase_add_test(c, a_log_of_another_user_is_no_part_of_a_backup);
	tcase_add_test(c, a_log_of_ours_is_a_part_of_the_backup_and_nothing_beside_it_is_written);
	tcase_add_test(c,
	               a_journal_of_ours_is_played_back_into_what_is_restored_not_into_the_backup);
	tcase_add_test(c, a_backup_that_is_named_by_a_link_has_its_log_where_it_is_itself);
	tcase_add_test(c, a_backup_of_another_user_comes_with_the_log_of_that_user);
	tcase_add_test(c, what_is_no_file_or_is_a_link_is_no_log_of_a_backup);
	tcase_add_test(c, a_backup_on_a_disk_that_cannot_be_written_is_restored);
	tcase_add_test(c, a_backup_that_somebody_writes_is_not_restored);
	tcase_add_test(c, nobody_writes_a_backup_while_it_is_copied);
	tcase_add_test(c, a_backup_gets_no_name_beside_which_another_files_log_or_journal_lies);
	tcase_add_test(
	    c, a_backup_of_another_user_is_restored_only_by_somebody_who_was_told_whose_it_is);
	tcase_add_loop_test(
	    c, a_backup_that_others_may_write_is_restored_only_by_somebody_who_was_told, 0, 4);
	tcase_add_test(c, objects_of_another_user_are_no_part_of_a_backup);
	tcase_add_test(
	    c, what_others_may_put_or_have_put_in_place_of_the_objects_is_no_part_of_a_backup);
	tcase_add_test(c, what_is_no_file_among_the_objects_of_a_backup_is_left_out);
	tcase_add_test(c, an_object_that_others_may_write_is_copied_and_not_linked);
	tcase_add_test(c, an_object_that_is_not_what_its_name_says_is_not_copied);
	return run_suite(s);
}
