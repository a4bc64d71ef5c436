/* The worker processes: each is started, restarted after a death with growing pauses, and ended in
 * order. */
#include "supervisor.h"

#include "clock.h"
#include "environment.h"
#include "log.h"
#include "str.h"
#include "time_gap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	SERVING_MS = 1000, /* the other workers wait no longer for the first to be ready */
	BACKOFF_MIN_MS = 100,
	BACKOFF_MAX_MS = 30000,
	LONG_LIFE_MS = 60000, /* who lived so long is restarted as quickly as the first time */
	SHORT_LIFE_MS = 1000, /* who lives no longer, */
	RENEWALS_MAX =
	    10, /* so many times in a row, is not renewed at once, but as one that died, */
	RENEWAL_MS = 500, /* or after so long: who was ready has worked, and others wait for it */
	IN_ORDER_MS = 4000, /* then those that are left are asked to leave all at once */
	LEAVE_MS = 5000, /* who was asked has so long; together less than 10 s */
	BEAT_LOOK_MS = 10000, /* a worker gives a sign of life in each of these */
	BEAT_APART_MS = 2000, /* by the machine's own clock at least this long lies between two of
	                         SIGNS_MISSED looks, in which all workers give theirs
	                         (WORKER_LOOK_MS): under a faked clock none counts as hung */
	SIGNS_MISSED = 4, /* in a row: it hangs */
};

/* First the door is closed, then what came in is finished. */
static const int STOP_ORDER[] = { CHILD_DESK,         CHILD_SLACK_LISTENER, CHILD_FRONT,
	                          CHILD_COMMANDER,    CHILD_READER,         CHILD_SENTRY,
	                          CHILD_APPLIER,      CHILD_WATCHDOG,       CHILD_ARCHIVIST,
	                          CHILD_SLACK_POSTER, CHILD_RETENTION };
_Static_assert(COUNT(STOP_ORDER) == CHILD_COUNT, "each worker is asked to leave");

static int find(const char *name, char **ret_path, struct err *e)
{
	OWNED(str) struct str path = { 0 };

	if (paths_program(name, &path, e))
		return -1;
	*ret_path = str_take(&path);
	return 0;
}

int workers_find(struct supervisor *s, struct err *e)
{
	for (int i = 0; i < CHILD_COUNT; i++)
		if (!s->children[i].unwanted && find(CHILD_NAMES[i], &s->children[i].path, e))
			return -1;
	return find("runner", &s->runners.path, e);
}

void workers_clear(struct supervisor *s)
{
	for (int i = 0; i < CHILD_COUNT; i++)
		free(s->children[i].path);
	free(s->runners.path);
}

/* ---- starting ---- */

static int spawn(struct supervisor *s, struct child *c, struct err *e)
{
	OWNED(environment) struct environment passed = { 0 };
	char **environment;
	int failed;

	if (c == &s->children[CHILD_SLACK_LISTENER] || c == &s->children[CHILD_SLACK_POSTER]) {
		environment =
		    slack_environment(&s->slack, CHILD_NAMES[c - s->children], s->environment);
		failed = spawn_worker(s, c->path, NULL, environment, 0, &c->pid, e);
		slack_environment_free(environment, s->environment);
		return failed;
	}
	if (c == &s->children[CHILD_FRONT]) {
		environment = systemd_front_environment(s);
		failed = spawn_worker(s, c->path, NULL, environment, s->sockets, &c->pid, e);
		free(environment);
		return failed;
	}
	if (c != &s->children[CHILD_COMMANDER])
		return spawn_worker(s, c->path, NULL, s->environment, 0, &c->pid, e);
	spawn_environment_to_pass(s, "[]", &passed);
	return spawn_worker(s, c->path, NULL, passed.variables, 0, &c->pid, e);
}

static int start(struct supervisor *s, struct child *c, struct err *e)
{
	bool writes_for_others =
	    c == &s->children[CHILD_APPLIER] || c == &s->children[CHILD_COMMANDER];
	int failed;

	if (writes_for_others)
		(void)umask(s->umask);
	failed = spawn(s, c, e);
	if (writes_for_others)
		(void)umask(NOT_FOR_OTHERS);
	if (failed) {
		c->pid = 0;
		return -1;
	}
	c->started_ms = clock_monotonic_ms();
	return 0;
}

static void restart_later(struct child *c)
{
	int64_t now = clock_monotonic_ms();

	if (c->backoff_ms == 0 || (c->started_ms && now - c->started_ms >= LONG_LIFE_MS))
		c->backoff_ms = BACKOFF_MIN_MS;
	c->start_at_ms = now + c->backoff_ms;
	c->backoff_ms = c->backoff_ms * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : c->backoff_ms * 2;
}

/* How many of the workers may run. */
static int permitted(const struct supervisor *s)
{
	bool all = s->announced || clock_monotonic_ms() >= s->begun_ms + SERVING_MS;

	return all ? CHILD_COUNT : CHILD_SERVING;
}

int workers_start_due(struct supervisor *s, struct err *e)
{
	int count = permitted(s);

	for (int i = 0; i < count; i++) {
		struct child *c = &s->children[i];
		struct err why = { 0 };

		if (c->unwanted || c->pid || clock_monotonic_ms() < c->start_at_ms ||
		    start(s, c, &why) == 0)
			continue;
		if (why.kind == ERR_INPUT && !s->announced) {
			*e = why;
			return -1;
		}
		c->started_ms = 0; /* it did not live */
		restart_later(c);
		log_error("%s; next attempt in %lld ms", why.text,
		          (long long)(c->start_at_ms - clock_monotonic_ms()));
	}
	return 0;
}

int workers_patience_ms(const struct supervisor *s)
{
	int64_t now = clock_monotonic_ms(), least = -1;
	int count = permitted(s);

	for (int i = 0; i < count; i++) {
		const struct child *c = &s->children[i];
		int64_t wait = c->start_at_ms > now ? c->start_at_ms - now : 0;

		if (!c->unwanted && !c->pid && (least < 0 || wait < least))
			least = wait;
	}
	return (int)least;
}

static bool are_ready(const struct supervisor *s, int count)
{
	for (int i = 0; i < count; i++)
		if (!s->children[i].ready && !s->children[i].unwanted)
			return false;
	return true;
}

bool workers_are_serving(const struct supervisor *s)
{
	return are_ready(s, CHILD_SERVING);
}

bool workers_are_ready(const struct supervisor *s)
{
	return are_ready(s, CHILD_COUNT);
}

bool workers_are_gone(const struct supervisor *s)
{
	for (int i = 0; i < CHILD_COUNT; i++)
		if (s->children[i].pid)
			return false;
	return true;
}

/* ---- ending ---- */

void workers_describe(int status, char out[SUPERVISOR_DETAIL_BYTES])
{
	if (WIFSIGNALED(status))
		(void)snprintf(out, SUPERVISOR_DETAIL_BYTES, "signal %d (%s)", WTERMSIG(status),
		               sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status))
		                                              : "?");
	else
		(void)snprintf(out, SUPERVISOR_DETAIL_BYTES, "exit %d", WEXITSTATUS(status));
}

static bool renews(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == WORKER_RENEWS;
}

/* Whether a successor is started soon. */
static bool renew(struct child *c, int status)
{
	int64_t now = clock_monotonic_ms();

	if (!renews(status))
		return false;
	c->renewals = now - c->started_ms < SHORT_LIFE_MS ? c->renewals + 1 : 0;
	c->start_at_ms = c->renewals <= RENEWALS_MAX ? now : now + RENEWAL_MS;
	return c->renewals <= RENEWALS_MAX || c->ready;
}

/* Outside of a stop: whoever cannot begin to work in this configuration takes all with it, because
 * without it the system would only seem to serve; anybody else comes back. */
static void lost(struct supervisor *s, int i, int status, const char *detail)
{
	struct child *c = &s->children[i];
	char why[160];

	if (!c->ready && WIFEXITED(status) && WEXITSTATUS(status) == EX_CONFIG) {
		(void)snprintf(why, sizeof(why), "%s cannot work (exit 78, its reason is above)",
		               CHILD_NAMES[i]);
		s->give_up(s, EX_CONFIG, why);
		return;
	}
	if (renew(c, status)) {
		log_info("%s (pid %d) is replaced", CHILD_NAMES[i], (int)c->pid);
		return;
	}
	restart_later(c);
	log_warn("%s (pid %d) ended: %s; restart in %lld ms", CHILD_NAMES[i], (int)c->pid, detail,
	         (long long)(c->start_at_ms - clock_monotonic_ms()));
}

int workers_beat_patience_ms(const struct supervisor *s)
{
	int64_t left = s->beat_ms + BEAT_LOOK_MS - clock_monotonic_ms();
	int64_t apart = s->beat_awake_ms + BEAT_APART_MS - time_gap_clocks().awake_ms;

	left = left < apart ? apart : left;
	return left < 0 ? 0 : (int)left;
}

/* When a worker gave its last sign of life (pulse.h); 0: it has given none. */
static struct timespec sign_of(const struct supervisor *s, const char *name)
{
	OWNED(str) struct str lock = { 0 };
	struct stat about;

	str_addf(&lock, "%s/%s.lock", s->paths.run, name);
	return stat(str_text(&lock), &about) == 0 ? about.st_mtim : (struct timespec){ 0 };
}

bool workers_has_hung(const struct supervisor *s, const char *name, pid_t pid, struct signs *signs)
{
	struct timespec sign = sign_of(s, name);
	struct instant since = clock_instant((int64_t)sign.tv_sec * 1000);

	if (!pid || sign.tv_sec != signs->last.tv_sec || sign.tv_nsec != signs->last.tv_nsec) {
		*signs = (struct signs){ .last = sign };
		return false;
	}
	if (++signs->missed < SIGNS_MISSED)
		return false;
	log_error("%s (pid %d) hangs: no sign of life since %s; it is killed", name, (int)pid,
	          since.text);
	return true;
}

bool workers_look_for_hanging(struct supervisor *s)
{
	if (workers_beat_patience_ms(s) > 0)
		return false;
	s->beat_ms = clock_monotonic_ms();
	s->beat_awake_ms = time_gap_clocks().awake_ms;
	for (int i = 0; i < CHILD_COUNT; i++) {
		struct child *c = &s->children[i];

		if (!workers_has_hung(s, CHILD_NAMES[i], c->ready ? c->pid : 0, &c->signs))
			continue;
		c->silent = true;
		(void)kill(c->pid, SIGKILL);
	}
	return true;
}

static void ended(struct supervisor *s, int i, int status)
{
	struct child *c = &s->children[i];
	struct err e = { 0 };
	char detail[SUPERVISOR_DETAIL_BYTES];

	workers_describe(status, detail);
	if (c->silent)
		(void)snprintf(detail, sizeof(detail), "no sign of life: it hung");
	c->silent = false;
	c->signs.missed = 0;
	if (!s->stopping)
		lost(s, i, status, detail);
	else if (status != 0 && !renews(status))
		log_warn("%s (pid %d) ended: %s", CHILD_NAMES[i], (int)c->pid, detail);
	/* At a stop one transaction buries all. */
	if (!s->stopping && rows_note_death(s, c->pid, detail, &e))
		log_warn("cannot write down the end of %s: %s", CHILD_NAMES[i], e.text);
	c->ready = false;
	c->pid = 0;
}

void workers_reap(struct supervisor *s)
{
	for (int i = 0; i < CHILD_COUNT; i++) {
		struct child *c = &s->children[i];
		int status;

		if (c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid)
			ended(s, i, status);
	}
}

static void end(struct supervisor *s, int i, int64_t now, bool its_turn)
{
	struct child *c = &s->children[i];

	if (!c->asked_ms && (its_turn || now - s->stop_ms >= IN_ORDER_MS)) {
		(void)kill(c->pid, SIGTERM);
		c->asked_ms = now;
	}
	if (c->killed || (s->signals < 2 && !(c->asked_ms && now - c->asked_ms >= LEAVE_MS)))
		return;
	log_warn("%s (pid %d) is killed: %s", CHILD_NAMES[i], (int)c->pid,
	         s->signals < 2 ? "it did not leave in time" : "asked to stop twice");
	(void)kill(c->pid, SIGKILL);
	c->killed = true;
}

void workers_stop(struct supervisor *s)
{
	int64_t now = clock_monotonic_ms();
	bool its_turn = true;

	for (int i = 0; i < CHILD_COUNT; i++) {
		if (!s->children[STOP_ORDER[i]].pid)
			continue;
		end(s, STOP_ORDER[i], now, its_turn);
		its_turn = false;
	}
}
