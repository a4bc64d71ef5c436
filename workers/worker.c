#include "worker.h"

#include "fences.h"
#include "instance.h"
#include "io.h"
#include "log.h"
#include "options.h"
#include "paths.h"
#include "probe.h"
#include "pulse.h"
#include "refusals.h"
#include "setting.h"
#include "signals.h"
#include "sql/fence_refusal.h"
#include "sql/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	LOCK_WAIT_MS = 5000,
	LOCK_TRY_MS = 20,
	REFUSED_LOG_MS = 60000,
	KEPT_BYTES = 1 << 20, /* of the heap: what a large transaction needs */
};

static void help(const char *name, const char *purpose, bool for_row)
{
	(void)printf(
	    "usage: %s --db PATH --run DIR %s[--log-format text|json] [--log-level LEVEL]\n\n"
	    "%s\n\n"
	    "agent-intercom starts this program; by hand it is for looking closer.\n"
	    "  --db PATH      the database\n"
	    "  --run DIR      where bells, locks and sockets are\n"
	    "%s"
	    "  --log-format   text (default) or json, to stderr\n"
	    "  --log-level    debug, info (default), warn, error\n"
	    "  --help, --version\n\n"
	    "SIGTERM: settle the row in hand and leave. Exit status: 0 stopped, 75 try later,\n"
	    "78 wrong input or configuration, 70 a bug.\n",
	    name, for_row ? "--run-row SEQ " : "", purpose,
	    for_row ? "  --run-row SEQ  the row to carry out\n" : "");
}

static int read_row(struct worker *w, const char *text)
{
	char *end;

	errno = 0;
	w->row = strtoll(text, &end, 10);
	if (errno != 0 || *end || w->row <= 0)
		return -1;
	(void)snprintf(w->row_name, sizeof(w->row_name), "%.30s-%lld", w->name, (long long)w->row);
	w->name = w->row_name;
	return 0;
}

static int parse(struct worker *w, const char *purpose, bool for_row, int argc, char **argv,
                 struct err *e)
{
	const char *row = NULL, *format = "text", *level_name = "info";
	bool asks_help = false, asks_version = false;
	const struct options_row rows[] = {
		{ "db", .text = &w->db_path },
		{ "run", .text = &w->run_dir },
		{ "run-row", .text = &row },
		{ "log-format", .text = &format },
		{ "log-level", .text = &level_name },
		{ "help", .flag = &asks_help, .ends = true },
		{ "version", .flag = &asks_version, .ends = true },
		{ NULL },
	};
	int level;

	if (options_read(rows, "", NULL, argc, argv, e))
		return err_set(e, ERR_INPUT, "see %s --help", w->name);
	if (asks_help)
		help(w->name, purpose, for_row);
	if (asks_version)
		(void)printf("%s %s\n", w->name, INSTANCE_BUILD);
	if (asks_help || asks_version)
		exit(EX_OK);
	if (row && (!for_row || read_row(w, row)))
		return err_set(e, ERR_INPUT, "see %s --help", w->name);
	level = log_level_of(level_name);
	log_open(w->name, strcmp(format, "json") == 0,
	         level < 0 ? LOG_LEVEL_INFO : (enum log_level)level);
	if (!w->db_path || !w->run_dir || level < 0)
		return err_set(e, ERR_INPUT, "--db and --run are needed; see %s --help", w->name);
	if (for_row && !w->row)
		return err_set(e, ERR_INPUT, "--run-row is needed; see %s --help", w->name);
	return 0;
}

/* One incarnation at a time. A dying predecessor gets a moment. */
static int open_lock(const struct worker *w, int run_fd)
{
	char file[80];

	(void)snprintf(file, sizeof(file), "%.60s.lock", w->name);
	return openat(run_fd, file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static int take_lock(struct worker *w, struct err *e)
{
	int64_t give_up = clock_monotonic_ms() + LOCK_WAIT_MS;

	w->lock_fd = open_lock(w, w->run_fd);
	if (w->lock_fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_AGAIN : err_kind_of_file(errno),
		                 "cannot open %s/%s.lock", w->run_dir, w->name);
	while (flock(w->lock_fd, LOCK_EX | LOCK_NB) != 0) {
		if (clock_monotonic_ms() >= give_up)
			return err_set(e, ERR_AGAIN, "another %s holds %s/%s.lock", w->name,
			               w->run_dir, w->name);
		(void)poll(NULL, 0, LOCK_TRY_MS);
	}
	return w->row ? instance_sign_lock(w->lock_fd, e) : 0;
}

/* Ends with its supervisor, even if that is killed, unless it serves one row; SIGTERM arrives on a
 * descriptor. */
static int hear_signals(struct worker *w, struct err *e)
{
	const char *parent = getenv("INTERCOM_PARENT");

	if (!w->row)
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (!w->row && parent && strtol(parent, NULL, 10) != getppid())
		return err_set(e, ERR_AGAIN, "the supervisor that started this is gone");
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* nothing that we start gains privileges */
	return signals_hear(0, &w->signal_fd, e);
}

static int check_build(struct worker *w, struct err *e)
{
	OWNED(str) struct str build = { 0 };
	int got = setting_get(&w->store, "system.build", &build, e);

	if (got > 0 && strcmp(str_text(&build), INSTANCE_BUILD) != 0)
		return err_set(
		    e, ERR_AGAIN,
		    "this %s is of build %s, the running agent-intercom is not; restart it",
		    w->name, INSTANCE_BUILD);
	return got < 0 ? -1 : 0;
}

static int write_row(struct worker *w, struct err *e)
{
	const struct worker_insert_args args = { .id = w->id.text,
		                                 .name = w->name,
		                                 .machine = w->machine,
		                                 .pid = getpid(),
		                                 .version = INSTANCE_BUILD };

	if (store_begin(&w->store, e))
		return -1;
	return store_end(&w->store,
	                 sql_worker_bury(&w->store, w->machine, w->name, w->id.text, e) ||
	                     sql_worker_insert(&w->store, &args, e),
	                 e);
}

/* All workers of a machine in the same moment: what they commit wakes the others once. */
static int64_t next_beat_ms(void)
{
	return (clock_monotonic_ms() / WORKER_HEARTBEAT_MS + 1) * WORKER_HEARTBEAT_MS;
}

static int open_worker(struct worker *w, const char *name, const char *purpose, bool for_row,
                       int argc, char **argv, struct err *e)
{
	/* SQLite frees its cache whenever another process has written. Given back to the system
	 * each time, the heap would cost a hundred page faults in each transaction. */
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	*w = (struct worker){ .name = name,
		              .run_fd = -1,
		              .lock_fd = -1,
		              .signal_fd = -1,
		              .extra_fd = -1,
		              .bell = DOORBELL_INIT,
		              .store = STORE_INIT,
		              .due_ms = INT64_MAX };
	log_open(name, 0, LOG_LEVEL_INFO);
	w->id = id_new();
	machine_name(w->machine);
	if (parse(w, purpose, for_row, argc, argv, e))
		return -1;
	w->run_fd = open(w->run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->run_fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_AGAIN : err_kind_of_file(errno),
		                 "cannot open the run directory %s", w->run_dir);
	if (hear_signals(w, e) || take_lock(w, e) || doorbell_open(&w->bell, w->run_fd, w->name, e))
		return -1;
	pulse_show(w->lock_fd);
	if (store_open(&w->store, w->db_path, w->run_dir, e) || check_build(w, e))
		return -1;
	w->database = realpath(w->db_path, NULL);
	if (!w->database)
		return err_errno(e, err_kind_of_file(errno), "cannot find %s", w->db_path);
	w->heartbeat_ms = next_beat_ms();
	return write_row(w, e);
}

int worker_open(struct worker *w, const char *name, const char *purpose, int argc, char **argv,
                struct err *e)
{
	return open_worker(w, name, purpose, false, argc, argv, e);
}

int worker_open_for_row(struct worker *w, const char *name, const char *purpose, int argc,
                        char **argv, struct err *e)
{
	return open_worker(w, name, purpose, true, argc, argv, e);
}

int worker_fence(struct worker *w, struct err *e)
{
	OWNED(str) struct str mode = { 0 };
	OWNED(str) struct str exports = { 0 };
	OWNED(str) struct str programs = { 0 };
	OWNED(str) struct str shared = { 0 };
	OWNED(str) struct str runtime = { 0 };
	OWNED(str) struct str state = { 0 };
	struct fence_ground ground = { .database = w->db_path,
		                       .run_dir = w->run_dir,
		                       .workspaces = &w->workspaces,
		                       .any_port = w->any_port };

	if (setting_get(&w->store, "fence", &mode, e) < 0 ||
	    setting_get(&w->store, "retention_export_dir", &exports, e) < 0 ||
	    setting_get(&w->store, "shared.directory", &shared, e) < 0 ||
	    paths_libexec(&programs, e))
		return -1;
	(void)paths_runtime_home(&runtime, NULL);
	(void)paths_state_base(&state, NULL);
	ground.exports = str_text(&exports);
	ground.programs = programs.bytes;
	ground.shared = shared.length ? shared.bytes : NULL;
	ground.moves_to[0] = str_text(&runtime);
	ground.moves_to[1] = str_text(&state);
	if (fence_worker(w->name, mode.length ? mode.bytes : "auto", &ground, w->fence, e))
		return -1;
	probe_serve();
	return 0;
}

int worker_ready(struct worker *w, const char *detail, struct err *e)
{
	if (!*w->fence && worker_fence(w, e))
		return -1;
	if (store_begin(&w->store, e) ||
	    store_end(&w->store, sql_worker_ready(&w->store, detail, w->fence, w->id.text, e), e))
		return -1;
	w->ready = true;
	return 0;
}

/* What the fence has refused meanwhile becomes rows. */
static int tell_refusals(struct worker *w, struct err *e)
{
	struct refusals_kind kind;

	while (!w->rests && refusals_next(&kind, clock_monotonic_ms())) {
		const struct fence_refusal_insert_args args = { .machine = w->machine,
			                                        .worker = w->name,
			                                        .what = fence_refusal_what_of(
			                                            kind.what),
			                                        .name = kind.name,
			                                        .count = kind.count };

		log_warn("the fence refused %u time(s): %s %s", kind.count, kind.what, kind.name);
		if (store_begin(&w->store, e) ||
		    store_end(&w->store, sql_fence_refusal_insert(&w->store, &args, e), e))
			return -1;
	}
	return 0;
}

int worker_heartbeat(struct worker *w, struct err *e)
{
	pulse();
	if (tell_refusals(w, e))
		return -1;
	if (clock_monotonic_ms() < w->heartbeat_ms)
		return 0;
	w->heartbeat_ms = next_beat_ms();
	if (w->beat_wait_ms ? store_begin_within(&w->store, w->beat_wait_ms, e)
	                    : store_begin(&w->store, e))
		return -1;
	return store_end(&w->store, sql_worker_heartbeat(&w->store, w->id.text, e), e);
}

void worker_rest(struct worker *w)
{
	if (w->rests)
		return;
	store_clear(&w->store);
	(void)malloc_trim(0);
	w->rests = true;
}

int worker_wake(struct worker *w, struct err *e)
{
	if (w->rests && store_open(&w->store, w->db_path, w->run_dir, e))
		return -1;
	w->rests = false;
	return 0;
}

int worker_patience_ms(const struct worker *w)
{
	int64_t patience = WORKER_LOOK_MS;
	int64_t beat = w->heartbeat_ms - clock_monotonic_ms();

	if (beat < patience && !w->rests)
		patience = beat;
	if (w->due_ms != INT64_MAX && w->due_ms - clock_now_ms() < patience)
		patience = w->due_ms - clock_now_ms();
	return patience < 0 ? 0 : (int)patience;
}

/* The new run directory is out of the fence: a successor has it in its own. That we looked for it
 * is no refusal to report; what was refused before is. */
static void leave_fenced_off(struct worker *w, const char *run_dir)
{
	if (strncmp(w->fence, "landlock", strlen("landlock")) != 0)
		return;
	(void)tell_refusals(w, NULL);
	log_warn("the run directory has vanished; the fence keeps the new one, %s, out of reach",
	         run_dir);
	exit(EX_TEMPFAIL);
}

/* Moves lock and bell to another run directory, or changes nothing. */
static bool move_to(struct worker *w, const char *run_dir, int run_fd)
{
	struct doorbell bell = DOORBELL_INIT;
	int lock_fd = open_lock(w, run_fd);

	if (lock_fd < 0 && errno == EACCES)
		leave_fenced_off(w, run_dir);
	if (lock_fd < 0 || flock(lock_fd, LOCK_EX | LOCK_NB) != 0 ||
	    doorbell_open(&bell, run_fd, w->name, NULL)) {
		io_shut(&lock_fd);
		return false;
	}
	if (w->row)
		(void)instance_sign_lock(lock_fd, NULL);
	(void)close(w->lock_fd);
	(void)close(w->run_fd);
	doorbell_clear(&w->bell);
	w->lock_fd = lock_fd;
	w->run_fd = run_fd;
	pulse_show(lock_fd);
	w->bell = bell;
	if (!w->rests)
		store_ring_at(&w->store, run_fd);
	return true;
}

bool worker_move(struct worker *w)
{
	OWNED(paths) struct paths found = { 0 };
	int run_fd;

	if (paths_is_there(w->run_fd, w->run_dir) || paths_open(w->db_path, false, &found, NULL))
		return false;
	run_fd = open(found.run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run_fd < 0 && errno == EACCES)
		leave_fenced_off(w, found.run);
	if (run_fd < 0)
		return false;
	if (!move_to(w, found.run, run_fd)) {
		(void)close(run_fd);
		return false;
	}
	free(w->moved_to);
	w->run_dir = w->moved_to = found.run;
	found.run = NULL;
	log_warn("the run directory has vanished; lock and bell are in %s now", w->run_dir);
	return true;
}

bool worker_tells_refused(struct worker *w, const struct err_refused *refused)
{
	if (refused->count == 0)
		return false;
	if (clock_monotonic_ms() < w->refused_ms &&
	    strcmp(w->refused.text, refused->first.text) == 0)
		return true;
	w->refused = refused->first;
	w->refused_ms = clock_monotonic_ms() + REFUSED_LOG_MS;
	log_error("refused by the rules of the database, %d row(s) left as they are: %s",
	          refused->count, refused->first.text);
	return true;
}

bool worker_forgives(struct worker *w, struct err *e)
{
	struct err_refused refused = { .count = 0 };

	if (!err_take_refused(e, &refused))
		return false;
	store_rollback(&w->store);
	(void)worker_tells_refused(w, &refused);
	w->due_ms = clock_now_ms() + WORKER_REFUSED_MS;
	w->rest_ms = clock_monotonic_ms() + WORKER_REFUSED_MS;
	return true;
}

int worker_exit(const struct worker *w, const struct err *e)
{
	if (e->kind == ERR_NONE && w->renews)
		return WORKER_RENEWS;
	return w->ready && e->kind == ERR_INPUT ? EX_TEMPFAIL : err_exit(e);
}

void worker_close(struct worker *w, const struct err *e)
{
	if (e->kind != ERR_NONE)
		log_error("%s", e->text);
	else if (worker_wake(w, NULL) == 0 && w->store.db && store_begin(&w->store, NULL) == 0)
		(void)store_end(&w->store, sql_worker_stopped(&w->store, w->id.text, NULL), NULL);
	store_clear(&w->store);
	doorbell_clear(&w->bell);
	int fds[] = { w->extra_fd, w->signal_fd, w->lock_fd, w->run_fd };
	for (size_t i = 0; i < COUNT(fds); i++)
		io_shut(&fds[i]);
	roots_clear(&w->workspaces);
	free(w->moved_to);
	free(w->database);
	w->moved_to = w->database = NULL;
}

static bool drains(void)
{
#ifdef INTERCOM_TEST_CLOCK
	return getenv("INTERCOM_DRAIN") != NULL;
#else
	return false;
#endif
}

bool worker_wait(struct worker *w, bool busy)
{
	bool moved = worker_move(w);
	struct pollfd fds[] = { { .fd = w->bell.fd, .events = POLLIN },
		                { .fd = w->signal_fd, .events = POLLIN },
		                { .fd = w->extra_fd, .events = POLLIN } };

	if (!busy && !w->in_hand && drains())
		return true;
	/* After a move do not sleep: nobody could ring meanwhile. */
	(void)poll(fds, COUNT(fds), busy || moved ? 0 : worker_patience_ms(w));
	moved = worker_move(w) || moved; /* while it slept, too: what comes needs the new one */
	w->rung = moved || fds[0].revents != 0;
	if (fds[0].revents)
		doorbell_drain(&w->bell);
	return fds[1].revents != 0;
}

int worker_serve(struct worker *w, int opened, worker_step *step, struct err *e)
{
	int did = opened;

	if (did == 0)
		did = worker_ready(w, NULL, e);
	while (did >= 0) {
		w->due_ms = INT64_MAX;
		did = step(w, e);
		if (did >= 0 && worker_heartbeat(w, e))
			did = -1;
		if (did < 0 && worker_forgives(w, e))
			did = 0;
		if (did >= 0 && worker_wait(w, did > 0 || w->renews)) {
			w->renews = false;
			break;
		}
		if (w->renews)
			break;
	}
	worker_close(w, e);
	return worker_exit(w, e);
}

int worker_main(const char *name, const char *purpose, worker_step *step, int argc, char **argv)
{
	struct worker w;
	struct err e = { 0 };
	int opened = worker_open(&w, name, purpose, argc, argv, &e);

	return worker_serve(&w, opened, step, &e);
}
