/* `agent-intercom backup` and `agent-intercom restore`: the database as one file, and back.
 *
 * A backup works whether or not the system runs. A restore runs under the instance's lock: it does
 * everything (checks the file, migrates its schema, adjusts its rows) on a copy next to the
 * database, which then replaces the database in one rename. Killed before the rename, the database
 * is unchanged; killed after it, it is the restored one. */
#include "system.h"

#include "backup.h"
#include "clock.h"
#include "collect.h"
#include "instance.h"
#include "io.h"
#include "sql/restore.h"
#include "start.h"
#include "yes_no.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum { DECLINED = 1 };

static const char PROGRAM[] = "agent-intercom";

/* ---- backup ---- */

/* Also a link to nothing, which is not ours either. */
static bool is_there(const char *folder)
{
	struct stat about;

	return lstat(folder, &about) == 0;
}

/* What another user has put there is no part of the database. */
static int check_source(const char *database, const char *folder, struct err *e)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat about;
	bool fits = fd >= 0 && fstat(fd, &about) == 0 && paths_is_of(database, about.st_uid);
	bool shared = fits && backup_others_write(fd, &about);

	io_shut(&fd);
	if (shared)
		return err_set(e, ERR_INPUT,
		               "%s: other users may write in it; run chmod -R go-w on it", folder);
	return fits ? 0 : paths_check_ours(folder, 0, e);
}

/* What checkpoints hold, from next to one database to next to another. 1 there is something, 0
 * nothing, -1. */
static int bring_objects(const char *from, const char *to, struct collected *ret, struct err *e)
{
	OWNED(objects) struct objects source = OBJECTS_INIT;
	OWNED(objects) struct objects target = OBJECTS_INIT;
	OWNED(str) struct str folder = { 0 }, other = { 0 };

	objects_path(from, &folder);
	objects_path(to, &other);
	if (!is_there(str_text(&folder)))
		return 0;
	if (check_source(from, str_text(&folder), e))
		return -1;
	if (is_there(str_text(&other)) && paths_check_ours(str_text(&other), S_IWGRP | S_IWOTH, e))
		return -1;
	if (objects_open(str_text(&folder), false, &source, e) ||
	    objects_open(str_text(&other), true, &target, e) ||
	    collect_objects(&source, &target, ret, e))
		return -1;
	return 1;
}

static void tell_objects(const char *file, const struct collected *c)
{
	(void)printf(
	    "%s-objects holds what its checkpoints hold: %llu objects, %llu bytes new in it\n",
	    file, (unsigned long long)c->count, (unsigned long long)c->bytes);
	if (c->damaged > 0)
		(void)printf("%llu objects are damaged, and left out\n",
		             (unsigned long long)c->damaged);
}

/* Removes a folder of objects in which there is none. */
static void drop_empty(const char *folder)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = dir < 0 ? NULL : open_listing(dir);
	const struct dirent *entry;

	while (d && (entry = readdir(d)) != NULL)
		(void)unlinkat(dir, entry->d_name, AT_REMOVEDIR);
	if (d)
		(void)closedir(d);
	io_shut(&dir);
	(void)rmdir(folder);
}

/* Objects first, because there may be many, and once more: those that the rows name that were
 * written meanwhile. */
static int write_both(const char *database, const char *file, struct err *e)
{
	OWNED(str) struct str folder = { 0 };
	struct collected c = { 0 };
	uint64_t first;
	bool had;
	int got;

	if (backup_check_name(database, file, e))
		return -1;
	objects_path(file, &folder);
	had = is_there(str_text(&folder));
	if (bring_objects(database, file, &c, e) < 0 || backup_write(database, file, e)) {
		if (!had)
			drop_empty(str_text(&folder));
		return -1;
	}
	first = c.bytes;
	got = bring_objects(database, file, &c, e);
	c.bytes += first;
	if (got > 0)
		tell_objects(file, &c);
	return got < 0 ? -1 : 0;
}

static int write_backup(const struct config_source *source, const struct config *config,
                        const char *file, struct err *e)
{
	OWNED(paths) struct paths places = { 0 };
	struct stat about;

	if (cli_find_database(source, config, &places, e) || paths_check_right(places.database, e))
		return -1;
	if (write_both(places.database, file, e))
		return -1;
	(void)stat(file, &about);
	(void)printf("%s is a backup of %s, %lld bytes\n", file, places.database,
	             (long long)about.st_size);
	return fflush(stdout) ? err_errno(e, ERR_AGAIN, "stdout") : 0;
}

int intercom_backup(const struct config_source *source, const char *file)
{
	struct config config = { 0 };
	struct err e = { 0 };

	(void)umask(NOT_FOR_OTHERS);
	if (config_load(source, &config, &e) == 0)
		(void)write_backup(source, &config, file, &e);
	config_clear(&config);
	return e.kind == ERR_NONE ? EX_OK : cli_say(&e);
}

/* ---- restore ---- */

static int help(void)
{
	(void)printf(
	    "usage: %s restore FILE [OPTIONS]\n\n"
	    "Replaces the database by the backup FILE, after it has shown both and asked. The\n"
	    "system must be stopped (kill \"$(%s where pid)\"). The previous\n"
	    "database is kept next to it, under a name with the time. Sessions and questions of\n"
	    "the backup become interrupted: questions can be answered and asked again. Writes in\n"
	    "progress are not repeated, and unused approvals lapse, because they may have been\n"
	    "used since: agents ask again. A backup of an older program is brought up to date.\n"
	    "What checkpoints hold is taken from FILE-objects, if that is there.\n\n"
	    "  --yes              do not ask; refused if FILE is another user's, but not root's,\n"
	    "                     or can be written by others\n"
	    "  --config FILE, --db PATH\n\n"
	    "Exit status: 0 restored; 1 you said no; 64 wrong usage; 75 the system runs, or\n"
	    "another process has the database or FILE open; 78 FILE cannot be restored.\n",
	    PROGRAM, PROGRAM);
	return EX_OK;
}

/* The backup becomes "db" in the staging directory, ready to be renamed into place. */
static int make_ready(const struct staging *n, const char *file, int *ret_version,
                      struct backup_writers *ret, struct rows_restored *rows, struct err *e)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/db", n->path);
	if (backup_fetch(n, file, ret_version, ret, e) ||
	    store_migrate_copy(&st, path.bytes, file, e))
		return -1;
	if (*store_rules_found(&st))
		(void)printf("the rules of the backup were not as they had been made, and are made "
		             "again: %s\n",
		             store_rules_found(&st));
	return rows_at_restore(&st, rows, e);
}

/* What it replaces; -1: it is in use. */
static int tell_present(const char *database, struct err *e)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(instant_row) struct instant_row last = { 0 };
	struct err why = { 0 };
	struct stat about;
	int64_t open = -1;
	int folded;

	if (stat(database, &about) != 0) {
		(void)printf("%s: there is none to be replaced\n", database);
		return 0;
	}
	folded = store_fold(database, e); /* else looking would drop the log of a damaged one */
	if (folded < 0)
		return -1;
	(void)printf("to be replaced: %s, %lld bytes", database, (long long)about.st_size);
	if (folded > 0 && store_open(&st, database, NULL, &why) == 0 &&
	    sql_restore_last_sign(&st, &last, &why) >= 0)
		open = sql_restore_open_request(&st, &why);
	if (open < 0)
		(void)printf("; it cannot be read: %s\n", folded ? why.text : "it is damaged");
	else
		(void)printf(", last used %s, %lld question(s) open\n", last.at ? last.at : "never",
		             (long long)open);
	return 0;
}

static void tell(const char *file, int version, const struct rows_restored *rows)
{
	(void)printf("%s: schema version %d%s, last used %s\n", file, version,
	             version < store_schema_version() ? " (brought up to date)" : "",
	             *rows->last_sign.text ? rows->last_sign.text : "never");
	(void)printf("to be interrupted: %d session(s), %d question(s); writes to be parked: %d\n",
	             rows->sessions, rows->questions, rows->writes);
	(void)printf(
	    "unused approvals that lapse, because they may have been used since: %d; words "
	    "that agents may be told twice: %d\n",
	    rows->approvals, rows->words);
}

/* Before it is asked about. */
static void tell_lacking(const char *file, const char *database, const struct rows_restored *rows)
{
	OWNED(str) struct str folder = { 0 };

	objects_path(file, &folder);
	if (rows->checkpoints > 0 && !is_there(str_text(&folder)))
		(void)printf("WARNING: %s is not there: what %d checkpoint(s) hold is lost, unless "
		             "it is in %s-objects\n",
		             str_text(&folder), rows->checkpoints, database);
}

/* Who writes FILE decides what agents and operators will read. */
static int tell_writers(const char *file, const struct backup_writers *w, bool asks, struct err *e)
{
	OWNED(str) struct str why = { 0 };

	if (w->owner != geteuid() && w->owner != 0)
		str_addf(&why, "belongs to uid %u, not to us (uid %u)", (unsigned)w->owner,
		         (unsigned)geteuid());
	else if (w->others)
		str_add(&why, "can be written by other users");
	else
		return 0;
	if (!asks)
		return err_set(e, ERR_INPUT,
		               "%s: %s, and may hold what they wanted; restore it on a terminal, "
		               "without --yes, or restore a copy of your own",
		               file, why.bytes);
	(void)printf("WARNING: it %s: they may have decided what is in it\n", why.bytes);
	return 0;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* "<database>.before-restore-20260208T093000123Z" */
static void name_kept(const char *database, struct str *out)
{
	struct instant now = clock_now();

	str_addf(out, "%s%s", database, PATHS_KEPT);
	for (const char *c = now.text; *c; c++)
		if (!strchr("-:.", *c))
			str_add_char(out, *c);
}

/* Returns 0, DECLINED, EX_USAGE or -1. */
static int restore(struct supervisor *s, const struct cli_arguments *a, struct err *e)
{
	OWNED(staging) struct staging n = STAGING_INIT;
	OWNED(str) struct str kept = { 0 }, command = { 0 };
	OWNED(char_ptr) char *file = realpath(a->operand, NULL);
	const char *database = s->paths.database;
	struct rows_restored rows;
	struct collected c;
	struct backup_writers writers = { 0 };
	int brought;
	int version;

	if (is_same_file(a->operand, database))
		return err_set(e, ERR_INPUT, "%s is the database itself", a->operand);
	if (!file)
		return err_errno(e, ERR_INPUT, "db: cannot open %s", a->operand);
	if (staging_open(&n, database, e) || make_ready(&n, file, &version, &writers, &rows, e))
		return -1;
	tell(file, version, &rows);
	tell_lacking(a->operand, database, &rows);
	if (tell_writers(file, &writers, !a->flag && cli_has_terminal(), e) ||
	    tell_present(database, e))
		return -1;
	if (!a->flag && !cli_has_terminal()) {
		(void)fprintf(stderr,
		              "%s: nothing is restored, because there is no terminal to ask on; "
		              "add --yes\n",
		              PROGRAM);
		return EX_USAGE;
	}
	if (!a->flag && yes_no_ask("Replace the present database with it?") != YES_NO_YES) {
		(void)puts("Nothing is changed.");
		return DECLINED;
	}
	name_kept(database, &kept);
	brought = bring_objects(a->operand, database, &c, e);
	if (brought < 0)
		return -1;
	if (brought > 0)
		tell_objects(database, &c);
	bool had_one = access(database, F_OK) == 0;
	if (had_one)
		runners_kill_left(s);
	if (backup_place(&n, database, kept.bytes, e))
		return -1;
	(void)printf("restored %s\n", database);
	if (had_one)
		(void)printf("the previous database is %s\n", kept.bytes);
	start_command(a->source.config, a->source.database, &command);
	(void)printf("start the system with: %s\n", str_text(&command));
	return 0;
}

int intercom_restore(const struct config_source *source, int argc, char **argv)
{
	OWNED(supervisor) struct supervisor s = SUPERVISOR_INIT;
	struct cli_arguments a = { .source = *source };
	struct err e = { 0 };
	int result = cli_parse(&a, "yes", argc, argv);

	if (result > 0)
		return help();
	if (result == 0 && !a.operand)
		(void)fprintf(stderr, "%s: which file? write restore FILE\n", PROGRAM);
	if (result < 0 || !a.operand)
		return EX_USAGE;
	(void)umask(NOT_FOR_OTHERS);
	result = run_take(&s, &a.source, false, &e);
	if (result == 0)
		result = restore(&s, &a, &e);
	if (result == 0 && instance_is_lost(s.paths.run, s.paths.database, NULL))
		result = instance_unmark_stopped(s.run_fd, &e); /* agents may start it again */
	return result < 0 ? cli_say(&e) : result;
}
