/* Runs the system: start, watch, stop.
 *
 * Start: configuration, places, instance lock, schema, settings as rows, the workers that agents
 * wait for; one line on stdout once these say in their rows that they are ready, and the others are
 * started. Watch: a worker that ends is started again; one that ends with 78 stops the system. Stop
 * (SIGTERM, SIGINT): workers leave in order, then all that waits is interrupted. A second signal
 * kills the workers at once. SIGHUP is ignored: settings are read at the start only.
 *
 * Killed itself, it leaves rows as they are: its workers follow it (PDEATHSIG), runners and their
 * agents go on, and so does the next start, with them. Tables: setting, operator, worker, request,
 * session. */
#include "supervisor.h"

#include "backup.h"
#include "clock.h"
#include "instance.h"
#include "io.h"
#include "locate.h"
#include "log.h"
#include "setting.h"
#include "signals.h"
#include "str.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	NOT_WRITTEN_BY_OTHERS = 022,
	PREDECESSORS_MS = 30000, /* workers of a killed supervisor may take so long to leave */
	TRY_MS = 10,
	RUN_LOOK_MS = 5000, /* for a run directory or a database that has vanished */
	UNREADY_LOOK_MS = 200, /* a lost bell delays readiness by so much */
	LATE_MS = 10000, /* who is not ready then is named in the log */
	STOP_LOOK_MS = 100,
	IMPATIENT_MS = 200, /* signals closer together are one: timeout(1) sends two */
	FINAL_MS = 1000, /* then a second signal ends even the last transaction */
	FINAL_TRY_US = 250000,
};

/* ---- start ---- */

/* One system per user: without a configuration that was named, another one of that name that runs
 * is the system. With one it is a second on purpose, which must be told apart. */
static int look_for_another(struct supervisor *s, const struct config_source *source, struct err *e)
{
	OWNED(located) struct located other = { 0 };
	OWNED(char_ptr) char *ours = realpath(s->config.database.path, NULL);
	OWNED(str) struct str note = { 0 };
	struct err several = { 0 };
	int runs = locate_running(s->config.ipc_name, NULL, &other, &note, &several);

	if (runs < 0)
		log_warn("%s", several.text);
	if (runs <= 0 || (ours && strcmp(other.paths.database, ours) == 0))
		return 0;
	if (!locate_is_named(source))
		return err_set(e, ERR_AGAIN,
		               "already running (pid %d) on %s, %s%s; stop it with `kill %d`, or "
		               "start another system with --config",
		               (int)other.pid, other.paths.database,
		               *other.config ? "with config " : "without a config", other.config,
		               (int)other.pid);
	log_warn("another system named '%s' runs (pid %d) on %s, %s%s; without --config agents and "
	         "agent-intercom-ctl cannot tell which is meant: give this one another ipc_name",
	         s->config.ipc_name, (int)other.pid, other.paths.database,
	         *other.config ? "with config " : "without a config", other.config);
	return 0;
}

/* Where no default workspace is configured, it is the folder in which somebody starts us, if agents
 * may work there. */
static void default_to_here(struct config *c)
{
	OWNED(char_ptr) char *here = NULL;

	if (*c->default_workspace_root)
		return;
	here = realpath(".", NULL);
	if (!here || workspace_unfit(here))
		return;
	free(c->default_workspace_root);
	c->default_workspace_root = xstrdup(here);
}

static int load(struct supervisor *s, const struct config_source *source, struct err *e)
{
	bool json = source->log_format && strcmp(source->log_format, "json") == 0;

	log_open("agent-intercom", json, LOG_LEVEL_INFO);
	if (config_load(source, &s->config, e))
		return -1;
	default_to_here(&s->config);
	log_open("agent-intercom", s->config.log.format == LOG_FORMAT_JSON,
	         (enum log_level)s->config.log.level);
	for (size_t i = 0; i < s->config.warnings.count; i++)
		log_warn("config: %s", s->config.warnings.items[i]);
	return 0;
}

/* Whatever is wrong with Slack's settings, agents are served: their questions can be answered here.
 */
static void load_slack(struct supervisor *s)
{
	struct err e = { 0 };
	int got = slack_secrets_load(&s->slack, s->config.slack.channel_id, &e);

	if (got < 0)
		log_error("Slack is not used: %s", e.text);
	if (got > 0)
		return;
	if (got == 0 && s->config.slack.channel_id[0])
		log_warn(
		    "slack.channel_id is set in config.toml, but there are no Slack tokens here, "
		    "as when an agent starts the system: nobody is heard in Slack; stop this "
		    "system (`kill %d`) and start it where they are, or put them into the keychain",
		    (int)getpid());
	slack_secrets_clear(&s->slack);
	s->children[CHILD_SLACK_LISTENER].unwanted = true;
	s->children[CHILD_SLACK_POSTER].unwanted = true;
}

/* Nobody else lists the directory of the database: ours is closed, one that we did not make is left
 * to its owner. */
static void close_directory(const char *dir)
{
	OWNED(str) struct str ours = { 0 };
	OWNED(char_ptr) char *real = NULL;
	struct stat about;

	if (stat(dir, &about) != 0 || !(about.st_mode & NOT_FOR_OTHERS) ||
	    about.st_mode & S_ISVTX) /* as /tmp: for everybody on purpose */
		return;
	if (paths_state_home(&ours, NULL) == 0)
		str_add(&ours, "/agent-intercom");
	real = realpath(str_text(&ours), NULL);
	if (real && strcmp(real, dir) == 0 && chmod(dir, 0700) == 0) {
		log_info("%s had mode %04o and has 0700 now", dir, about.st_mode & 07777U);
		return;
	}
	log_warn("%s, where the database is, has mode %04o; unless others need it, chmod 700 it",
	         dir, about.st_mode & 07777U);
}

/* The folder of the sockets for other users: they find its sockets, and only we change it. */
static int prepare_shared(const char *dir, struct err *e)
{
	if (!*dir)
		return 0;
	if (mkdir(dir, 0700) == 0)
		(void)chmod(dir, 0755);
	else if (errno != EEXIST)
		return err_errno(e, ERR_INPUT, "shared.directory: %s: cannot be created", dir);
	return paths_check_ours(dir, NOT_WRITTEN_BY_OTHERS, e) ? err_prefix(e, "shared.directory")
	                                                       : 0;
}

/* Whose database it is could change it behind our backs, whatever its mode. */
static int check_files(const char *database, struct err *e)
{
	struct stat about;

	if (stat(database, &about) == 0 && about.st_uid != geteuid())
		return err_set(e, ERR_INPUT,
		               "%s: belongs to uid %u, not to us (uid %u); run as its owner, or "
		               "take another database",
		               database, (unsigned)about.st_uid, (unsigned)geteuid());
	return paths_check_beside(database, e);
}

/* What archivist keeps beside it: it follows no link there, since it deletes what nobody needs. */
static int check_objects(const char *database, struct err *e)
{
	OWNED(str) struct str name = { 0 };
	struct stat about;

	str_addf(&name, "%s-objects", database);
	if (lstat(str_text(&name), &about) != 0)
		return 0;
	if (S_ISDIR(about.st_mode))
		return about.st_uid == geteuid()
		           ? 0
		           : err_set(e, ERR_INPUT, "%s: belongs to uid %u, not to us (uid %u)",
		                     str_text(&name), (unsigned)about.st_uid, (unsigned)geteuid());
	if (S_ISLNK(about.st_mode))
		return err_set(e, ERR_INPUT,
		               "%s: is a symbolic link; put the folder itself there, or move it "
		               "together with the database (database.path)",
		               str_text(&name));
	return err_set(e, ERR_INPUT, "%s: is no folder; remove it", str_text(&name));
}

static int prepare_places(struct supervisor *s, struct err *e)
{
	OWNED(str) struct str dir = { 0 };

	if (paths_open(s->config.database.path, true, &s->paths, e))
		return -1;
	str_add_bytes(&dir, s->paths.database,
	              (size_t)(strrchr(s->paths.database, '/') - s->paths.database));
	if (!dir.length)
		str_add_char(&dir, '/');
	if (paths_check_filesystem(str_text(&dir), e))
		return -1;
	if (check_files(s->paths.database, e) || check_objects(s->paths.database, e))
		return -1;
	close_directory(str_text(&dir));
	s->run_fd = open(s->paths.run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->run_fd < 0)
		return err_errno(e, ERR_INPUT, "cannot open the run directory %s", s->paths.run);
	return prepare_shared(s->config.shared.directory, e);
}

/* The workers of a supervisor that was killed are on their way out; the schema is touched when they
 * are gone. */
static int await_predecessors(struct supervisor *s, struct err *e)
{
	int64_t give_up = clock_monotonic_ms() + PREDECESSORS_MS;
	char file[NAME_MAX + 1];
	bool told = false;

	while (instance_worker_left(s->run_fd, file)) {
		if (clock_monotonic_ms() >= give_up)
			return err_set(e, ERR_AGAIN,
			               "a worker of an earlier run does not end; `fuser -k %s/%s` "
			               "ends it",
			               s->paths.run, file);
		if (!told)
			log_info("a worker of an earlier run is still ending (%s)", file);
		told = true;
		(void)poll(NULL, 0, TRY_MS);
	}
	return 0;
}

/* The database's files are for us alone, also those that an earlier hand made. */
static void close_files(const char *database)
{
	for (size_t i = 0; i < INSTANCE_FILES; i++) {
		OWNED(str) struct str name = { 0 };
		struct stat about;

		str_addf(&name, "%s%s", database, INSTANCE_SUFFIXES[i]);
		if (lstat(str_text(&name), &about) != 0 || !S_ISREG(about.st_mode) ||
		    !(about.st_mode & NOT_FOR_OTHERS))
			continue;
		if (chmod(str_text(&name), 0600) == 0)
			log_info("%s had mode %04o and has 0600 now", str_text(&name),
			         about.st_mode & 07777U);
		else
			log_warn("%s has mode %04o; chmod 600 it", str_text(&name),
			         about.st_mode & 07777U);
	}
}

/* A restore that was killed has left the database a second name. */
static void take_back(const char *database)
{
	OWNED(str) struct str removed = { 0 };

	backup_take_back(database, &removed);
	if (removed.length)
		log_info("a restore was interrupted before it replaced the database, which is as "
		         "it was; its other name %s is removed",
		         str_text(&removed));
}

int run_take(struct supervisor *s, const struct config_source *source, bool serve, struct err *e)
{
	if (load(s, source, e) || look_for_another(s, source, e) || prepare_places(s, e) ||
	    instance_take(s->paths.database, !serve, &s->instance_fd, e))
		return -1;
	take_back(s->paths.database);
	if ((serve && paths_check_one_name(s->paths.database, e)) ||
	    instance_hold(s->paths.database, &s->database_fd, e) || await_predecessors(s, e) ||
	    instance_check_alone(s->paths.database, e))
		return -1;
	runners_adopt(s, serve);
	return 0;
}

static int prepare_rows(struct supervisor *s, struct err *e)
{
	OWNED(str) struct str runners = { 0 };

	if (store_migrate(&s->store, s->paths.database, s->paths.run, e) ||
	    (s->database_fd < 0 && instance_hold(s->paths.database, &s->database_fd, e)))
		return -1;
	if (*store_rules_found(&s->store))
		log_warn("the rules of the database had been changed, and were restored: %s",
		         store_rules_found(&s->store));
	close_files(s->paths.database);
	instance_look(s->paths.database, &s->files);
	if (runners_settle_lost(s, e))
		return -1;
	runners_add_names(s, &runners);
	return rows_at_start(s, !s->children[CHILD_SLACK_LISTENER].unwanted, str_text(&runners), e);
}

/* From here on signals come as a descriptor. */
static int hear(struct supervisor *s, struct err *e)
{
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGCHLD,
	             SIG_DFL); /* ignored, as some parents leave it, nobody could be reaped */
	return err_if(signals_hear(SIGCHLD, &s->signal_fd, e) ||
	              doorbell_open(&s->bell, s->run_fd, "agent-intercom", e));
}

/* systemd starts us for whoever connects to its sockets: that is no person who wants an empty
 * database in place of one that was lost. */
static int check_lost(const struct supervisor *s, struct err *e)
{
	OWNED(str) struct str why = { 0 };
	struct stat about;

	if (!instance_is_lost(s->paths.run, s->paths.database, &why) ||
	    (stat(s->paths.database, &about) == 0 && about.st_size > 0))
		return 0;
	if (s->sockets)
		return err_set(e, ERR_INPUT, "%s; to begin with an empty one, remove %s and %s-run",
		               why.bytes, s->paths.run, s->paths.database);
	log_warn("beginning with an empty database: %s", why.bytes);
	return 0;
}

static int prepare(struct supervisor *s, const struct config_source *source, struct err *e)
{
	machine_name(s->machine);
	if (run_take(s, source, true, e) || check_lost(s, e))
		return -1;
	load_slack(s);
	s->children[CHILD_DESK].unwanted = !*s->config.shared.directory;
	if (workers_find(s, e) || prepare_rows(s, e) || hear(s, e) ||
	    paths_publish(&s->paths, s->config.ipc_name, s->config.file, e) ||
	    instance_unmark_stopped(s->run_fd, e))
		return -1;
	s->environment = spawn_environment();
	installed_remember(s);
	s->begun_ms = clock_monotonic_ms();
	s->late_ms = s->begun_ms + LATE_MS;
	return 0;
}

/* ---- the run directory ---- */

/* Takes another run directory, and hangs our bell up there. */
static int move_to(struct supervisor *s, struct paths *fresh, struct err *e)
{
	struct doorbell bell = DOORBELL_INIT;
	int fd = open(fresh->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e, ERR_AGAIN, "cannot open the run directory %s", fresh->run);
	if (doorbell_open(&bell, fd, "agent-intercom", e)) {
		(void)close(fd);
		return -1;
	}
	(void)close(s->run_fd);
	s->run_fd = fd;
	doorbell_clear(&s->bell);
	s->bell = bell;
	paths_clear(&s->paths);
	s->paths = *fresh;
	*fresh = (struct paths){ 0 };
	store_ring_at(&s->store, s->run_fd);
	return paths_publish(&s->paths, s->config.ipc_name, s->config.file, e);
}

/* logind removes $XDG_RUNTIME_DIR when the user's last session ends, and we may live on. The
 * directory is made again, elsewhere if it must be; each worker moves there by itself when it finds
 * it published (worker_move). */
static void look_at_run(struct supervisor *s)
{
	OWNED(paths) struct paths fresh = { 0 };
	struct err e = { 0 };

	if (paths_is_there(s->run_fd, s->paths.run))
		return;
	if (paths_open(s->paths.database, true, &fresh, &e) || move_to(s, &fresh, &e))
		log_error("the run directory has vanished and cannot be made again: %s", e.text);
	else
		log_warn("the run directory has vanished; it is %s now", s->paths.run);
}

/* ---- watch ---- */

static void announce(struct supervisor *s, const char *address)
{
	OWNED(str) struct str mode = { 0 };

	s->announced = true;
	(void)setting_get(&s->store, "mode", &mode, NULL);
	(void)printf("agent-intercom %s ready: %s, database %s, mode %s\n", INSTANCE_BUILD,
	             *address ? address : "mcp-front runs", s->paths.database, str_text(&mode));
	(void)fflush(stdout);
	systemd_notify("READY=1");
}

/* Agents would ask in one file, and operators look into another. (Nor is its -wal removed: what it
 * holds belongs to the file that is open, and the next start would read it with whichever is
 * there.) A link in its place counts, too: others follow it, and open the file under its new name.
 */
static bool is_elsewhere(const struct supervisor *s)
{
	struct stat ours = { 0 }, about;

	(void)fstat(s->database_fd, &ours);
	return lstat(s->paths.database, &about) == 0
	           ? about.st_dev != ours.st_dev || about.st_ino != ours.st_ino ||
	                 about.st_size == 0
	           : errno == ENOENT || errno == ENOTDIR;
}

/* Whoever opens the database from now on makes others, and does not see what we write, nor we what
 * they do. */
static bool has_lost_log(const struct supervisor *s)
{
	return !instance_is_same(s->paths.database, &s->files);
}

static bool is_lost(const struct supervisor *s, struct str *why)
{
	if (is_elsewhere(s))
		str_addf(why,
		         "%s is not the file any more that this system has open: it was replaced, "
		         "moved, removed or emptied; put that file back" INSTANCE_BACK,
		         s->paths.database);
	else if (has_lost_log(s))
		str_addf(why,
		         "%s-wal or %s-shm, which this system has open, was removed, moved or "
		         "replaced; what is in them is kept: start agent-intercom again",
		         s->paths.database, s->paths.database);
	return why->length > 0;
}

/* Before anybody loses its connection: what was stopped on purpose stays so, and where a database
 * was lost, no agent makes an empty one. */
static void mark_stopped(struct supervisor *s, const char *lost)
{
	struct err e = { 0 };

	s->lost = *lost;
	if (s->lost)
		look_at_run(s); /* it may have gone with the database */
	if (instance_mark_stopped(s->run_fd, lost, &e))
		log_warn("%s", e.text);
}

/* Begins the stop; why goes to the log. A lost database is the cause of whatever fails. */
static void stop(struct supervisor *s, int status, const char *why)
{
	OWNED(str) struct str lost = { 0 };
	struct err e = { 0 };

	if (s->stopping && s->status != SUPERVISOR_AGAIN)
		return;
	if (is_lost(s, &lost)) {
		status = EX_CONFIG;
		why = lost.bytes;
	}
	s->stopping = true;
	s->stop_ms = clock_monotonic_ms();
	s->status = status;
	systemd_notify("STOPPING=1");
	if (status)
		log_error("stopping everything: %s", why);
	else
		log_info("stopping: %s", why);
	if (status == 0 || lost.length)
		mark_stopped(s, str_text(&lost));
	if (status == 0 && rows_count_stop(s, &e))
		log_warn("what the stop interrupts could not be counted: %s", e.text);
	if (status == 0 && !s->children[CHILD_SLACK_POSTER].unwanted && rows_tell_stop(s, &e))
		log_warn("the stop is not reported in Slack: %s", e.text);
}

/* Nobody will look after us. */
static void look_a_last_time(struct supervisor *s)
{
	OWNED(str) struct str lost = { 0 };

	if (s->lost || !is_lost(s, &lost))
		return;
	log_error("%s", lost.bytes);
	mark_stopped(s, lost.bytes);
	s->status = EX_CONFIG;
}

static void look_at_places(struct supervisor *s)
{
	OWNED(str) struct str why = { 0 };

	if (clock_monotonic_ms() < s->run_look_ms)
		return;
	s->run_look_ms = clock_monotonic_ms() + RUN_LOOK_MS;
	look_at_run(s);
	if (!s->stopping && is_lost(s, &why))
		stop(s, EX_CONFIG, why.bytes);
}

/* For another build: whoever waits goes on waiting, and agents connect again by themselves. */
static void make_way(struct supervisor *s)
{
	log_info("restarting: agents connect again by themselves, and open questions stay open");
	s->stopping = true;
	s->stop_ms = clock_monotonic_ms();
	s->status = SUPERVISOR_AGAIN;
}

static void look(struct supervisor *s, struct err *e)
{
	OWNED(str) struct str address = { 0 };
	bool before[CHILD_COUNT];

	for (int i = 0; i < CHILD_COUNT; i++)
		before[i] = s->children[i].ready;
	if (rows_read_ready(s, &address, e)) {
		if (e->kind != ERR_AGAIN)
			stop(s, err_exit(e), e->text);
		return;
	}
	for (int i = 0; i < CHILD_COUNT; i++) {
		if (s->children[i].ready && !before[i] && s->children[i].was_ready)
			log_info("%s is back (pid %d)", CHILD_NAMES[i], (int)s->children[i].pid);
		s->children[i].was_ready |= s->children[i].ready;
	}
	if (!s->announced && workers_are_serving(s))
		announce(s, str_text(&address));
	if (s->complete || !workers_are_ready(s))
		return;
	s->complete = true;
	(void)malloc_trim(0); /* what the start has left free */
	log_info("all workers are ready, %lld ms after the start",
	         (long long)(clock_monotonic_ms() - s->born_ms));
}

static void tell_late(struct supervisor *s)
{
	OWNED(str) struct str names = { 0 };

	if (s->complete || !s->late_ms || clock_monotonic_ms() < s->late_ms)
		return;
	s->late_ms = 0;
	for (int i = 0; i < CHILD_COUNT; i++)
		if (!s->children[i].ready && !s->children[i].unwanted)
			str_addf(&names, "%s%s", names.length ? ", " : "", CHILD_NAMES[i]);
	log_warn("not ready after %d s: still waiting for %s", LATE_MS / 1000, str_text(&names));
}

static void read_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (!s->signals || clock_monotonic_ms() - s->signal_ms >= IMPATIENT_MS) {
			s->signals++;
			s->signal_ms = clock_monotonic_ms();
		}
		stop(s, EX_OK, info.ssi_signo == SIGINT ? "SIGINT" : "SIGTERM");
	}
}

static int patience_ms(const struct supervisor *s)
{
	int start = workers_patience_ms(s);

	if (s->stopping)
		return STOP_LOOK_MS;
	if (workers_are_ready(s)) {
		int beat = workers_beat_patience_ms(s), runner = runners_patience_ms(s);
		int least = beat < runner ? beat : runner;

		return least < RUN_LOOK_MS ? least : RUN_LOOK_MS;
	}
	return start >= 0 && start < UNREADY_LOOK_MS ? start : UNREADY_LOOK_MS;
}

static void watch(struct supervisor *s)
{
	while (!s->stopping || !workers_are_gone(s) || !runners_are_gone(s)) {
		struct pollfd fds[] = { { .fd = s->signal_fd, .events = POLLIN },
			                { .fd = s->bell.fd, .events = POLLIN } };
		struct err e = { 0 };

		if (!s->stopping && workers_start_due(s, &e))
			stop(s, err_exit(&e), e.text);
		if (s->stopping) {
			runners_stop(s);
			workers_stop(s);
		}
		int patience = patience_ms(s), sign = systemd_beat(s);

		(void)poll(fds, COUNT(fds), patience < sign ? patience : sign);
		doorbell_drain(&s->bell);
		look_at_places(s);
		read_signals(s); /* first: ^C in a terminal reaches the workers, too */
		workers_reap(s);
		runners_reap(s);
		if (!s->stopping)
			runners_look(s, fds[1].revents != 0);
		if (!s->stopping && !workers_are_ready(s)) {
			look(s, &e);
			tell_late(s);
		}
		if (!s->stopping && workers_look_for_hanging(s))
			runners_look_for_hanging(s);
		if (!s->stopping && installed_is_another(s))
			make_way(s);
	}
}

/* ---- stop ---- */

/* A third signal that came while the workers ended: nobody repeats it. */
static volatile sig_atomic_t asked_thrice;

/* A pending signal: somebody will wait no longer; SQLite undoes what is half written. */
static void on_alarm(int number)
{
	sigset_t waiting;

	(void)number;
	if (asked_thrice || (sigpending(&waiting) == 0 && (sigismember(&waiting, SIGTERM) == 1 ||
	                                                   sigismember(&waiting, SIGINT) == 1)))
		_exit(EX_TEMPFAIL);
}

static void let_signals_end_us(const struct supervisor *s)
{
	const struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	const struct itimerval often = { .it_value.tv_sec = FINAL_MS / 1000,
		                         .it_interval.tv_usec = FINAL_TRY_US };

	asked_thrice = s->signals > 2;
	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
}

/* What waits is interrupted once nobody serves it. Only a watchdog that was ready has moved the
 * deadlines over the time before our start; without it they are left as they are, for the next
 * start. */
static void finish(struct supervisor *s)
{
	struct err e = { 0 };

	let_signals_end_us(s);
	if (rows_at_stop(s, s->children[CHILD_WATCHDOG].was_ready, &e) == 0) {
		if (!is_elsewhere(s) && has_lost_log(s) &&
		    store_checkpoint(&s->store, false, 0, &e))
			log_error("what is in the -wal that was removed may be lost: %s", e.text);
		return;
	}
	log_error("open questions could not be marked interrupted and stay pending: %s", e.text);
	/* Where somebody holds the database, the next start finds them, as after a kill. */
	if (s->status == 0 && e.kind != ERR_AGAIN)
		s->status = err_exit(&e);
}

/* In our place the new build is started as we were: what this life has changed of the process, the
 * next one must not find. */
static void undo_marks(struct supervisor *s)
{
	const struct itimerval none = { .it_value.tv_sec = 0 };
	sigset_t signals;

	(void)setitimer(ITIMER_REAL, &none, NULL);
	(void)sigemptyset(&signals);
	(void)sigprocmask(SIG_SETMASK, &signals, NULL);
	(void)umask(s->umask);
	slack_secrets_give_back(&s->slack);
	systemd_give_back(s);
}

void supervisor_clear(struct supervisor *s)
{
	int fds[] = { s->signal_fd, s->run_fd, s->instance_fd, s->database_fd };

	store_clear(&s->store);
	doorbell_clear(&s->bell);
	workers_clear(s);
	runners_clear(s);
	slack_secrets_clear(&s->slack);
	free(s->environment);
	for (size_t i = 0; i < COUNT(fds); i++)
		io_shut(&fds[i]);
	paths_clear(&s->paths);
	config_clear(&s->config);
}

int supervisor_run(const struct config_source *source)
{
	OWNED(supervisor) struct supervisor s = SUPERVISOR_INIT;
	struct err e = { 0 };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	s.born_ms = clock_monotonic_ms();
	s.umask = umask(NOT_FOR_OTHERS);
	s.give_up = stop;
	systemd_take(&s);
	if (prepare(&s, source, &e)) {
		log_error("%s", e.text);
		return err_exit(&e);
	}
	watch(&s);
	finish(&s);
	look_a_last_time(&s);
	if (s.status == SUPERVISOR_AGAIN)
		undo_marks(&s);
	return s.status;
}
