/* `agent-intercom retention --once`: does now what the worker retention does hourly, whether or not
 * that worker runs. */
#include "system.h"

#include "instance.h"
#include "purge.h"
#include "setting.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

static const char PROGRAM[] = "agent-intercom";

static int help(void)
{
	(void)printf(
	    "usage: %s retention --once [OPTIONS]\n\n"
	    "Deletes what is older than retention_days, as the running system does every\n"
	    "hour, and lists it. The settings are those of the running system; of one that\n"
	    "does not run, those of its configuration file, which are put in force, or,\n"
	    "without a file, those of its last start.\n\n"
	    "  --config FILE, --db PATH\n\n"
	    "Exit status: 0 done; 75, 78 something stays or failed, as it says; 64 wrong usage.\n",
	    PROGRAM);
	return EX_OK;
}

/* stays: the last reason why something was kept, if any was. */
static int purge_all(struct purge *p, struct err *stays, struct err *e)
{
	int did;

	do {
		did = purge_some(p, e);
		if (p->stays.kind != ERR_NONE) {
			(void)fprintf(stderr, "%s: %s\n", PROGRAM, p->stays.text);
			*stays = p->stays;
		}
		p->stays.kind = ERR_NONE;
		if (did > 0 && p->batches % PURGE_CHECKPOINT_BATCHES == 0 &&
		    store_checkpoint(p->store, true, PURGE_BUSY_MS, e) < 0)
			return -1;
		(void)poll(NULL, 0, purge_pause_ms(p)); /* let other writers run */
	} while (did > 0);
	return did;
}

/* As a start would, so that what the file says now counts. Nobody can start meanwhile. */
static int put_in_force(const struct config *config, struct store *st, const char *database,
                        struct err *e)
{
	int lock = -1, failed;

	if (!*config->file || instance_holder(database, e) > 0)
		return 0;
	failed = instance_take(database, false, &lock, e);
	if (failed)
		return -1;
	failed = store_begin(st, e) || store_end(st, setting_put_all(st, config, e), e);
	(void)close(lock);
	return failed ? -1 : 0;
}

static int run_once(const struct config *config, struct err *stays, struct err *e)
{
	OWNED(paths) struct paths places = { 0 };
	OWNED(store) struct store st = STORE_INIT;
	OWNED(purge) struct purge p = PURGE_INIT;
	OWNED(str) struct str what = { 0 };
	bool runs;

	if (paths_open(config->database.path, false, &places, e))
		return -1;
	runs = access(places.run, F_OK) == 0;
	if (store_open_own(&st, places.database, runs ? places.run : NULL, e))
		return -1;
	if (put_in_force(config, &st, places.database, e))
		return -1;
	purge_begin(&p, &st);
	if (purge_all(&p, stays, e))
		return -1;
	purge_tell(&p, &what);
	(void)printf("older than %.10s: %s\n", p.cutoff.text,
	             what.length ? what.bytes : "nothing to delete");
	return fflush(stdout) ? err_errno(e, ERR_AGAIN, "stdout") : 0;
}

int intercom_retention(const struct config_source *source, int argc, char **argv)
{
	struct cli_arguments a = { .source = *source };
	struct config config = { 0 };
	struct err stays = { 0 }, e = { 0 };
	int parsed = cli_parse(&a, "once", argc, argv);

	if (parsed > 0)
		return help();
	if (parsed == 0 && (!a.flag || a.operand))
		(void)fprintf(stderr,
		              "%s: write retention --once; the running system does it hourly\n",
		              PROGRAM);
	if (parsed < 0 || !a.flag || a.operand)
		return EX_USAGE;
	(void)umask(NOT_FOR_OTHERS);
	if (config_load(&a.source, &config, &e) == 0)
		(void)run_once(&config, &stays, &e);
	config_clear(&config);
	return e.kind == ERR_NONE ? err_exit(&stays) : cli_say(&e);
}
