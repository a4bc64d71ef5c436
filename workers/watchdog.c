/* watchdog: expires what is overdue, and rings for writers that do not ring.
 *
 * - A question whose deadline has passed gets the decision `timeout`; a call that has waited as
 *   long as it may is answered `pending`. Both happen on time: it sleeps until the next deadline,
 *   which it reads again after a bell or a change of the database. request and session ring;
 *   tool_call does not (a datagram per call for nothing): the limit of a call, at least a second,
 *   is noticed within LOOK_MS.
 * - Suspend, steps of the clock and downtime become time_gap rows and move deadlines before
 *   anything is judged due. Nothing expires in the first GRACE_MS.
 * - While somebody writes to the WAL, it reads PRAGMA data_version every LOOK_MS, and at once when
 *   a process closes the WAL (IN_CLOSE_WRITE, as a shell does after its commit). Once nobody has
 *   written for QUIET_MS it sleeps until the next write (IN_MODIFY); it listens for that only then,
 *   so that a busy system does not wake it with every commit. Without inotify (the kernel gives a
 *   user only so much) it goes on reading. If the version changed, every worker is rung, at most
 *   once per LOOK_MS. Commits of our own workers thus ring a second time; the workers find nothing
 *   to do and write nothing, so it ends there. Of the runners, each of which would open the
 *   database for that, those are rung for which there is something to do.
 * - An agent that has been silent for too long is the next due row of stall.h, handled likewise. A
 *   summary of what a policy allowed (auto_notice) is sent when it is due.
 * - Every SEAL_MS it seals new events (audit.h).
 *
 * Reads request, tool_call, session, stall, worker, auto_notice, event, agent_run, agent_input,
 * agent_question, steering; writes decision, tool_call,
 * request, session, stall, steering, time_gap, auto_notice, seal. A kill leaves rows that are due,
 * and the next incarnation finds them. */
#include "audit.h"
#include "deadline.h"
#include "inotify_limit.h"
#include "log.h"
#include "sql/agent_run.h"
#include "sql/store.h"
#include "stall.h"
#include "time_gap.h"
#include "worker.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	LOOK_MS = 250, /* between checks for foreign writers, while somebody writes */
	DEAF_MS = 10000, /* without inotify: until it tries again */
	QUIET_MS = 2000, /* after the last write; a commit may take so long to be flushed */
	GRACE_MS = 60000, /* nothing expires this soon after a start */
	SEAL_AGAIN_MS = 10000, /* after the rules refused a seal */
	SEAL_MS = 1000, /* a multiple of LOOK_MS */
};

struct watch {
	struct time_watch time;
	int inotify_fd, clock_fd; /* both in w->extra_fd */
	char folder[PATH_MAX]; /* of the WAL; watched */
	bool sleeps; /* until the WAL is written to */
	bool is_deaf; /* the kernel tells of no writes */
	int64_t awake_ms; /* monotonic: until then somebody may be writing */
	char log_name[NAME_MAX + 1];
	int64_t version; /* PRAGMA data_version */
	bool unrung; /* it changed and nobody was rung since */
	int64_t look_ms, rung_ms; /* monotonic: the next look; when every worker was last rung */
	int64_t seal_ms; /* monotonic: when events are sealed next */
	int64_t grace_ms; /* monotonic: when questions may expire again */
	int64_t quiet_ms; /* the same for silence: agents may reconnect first */
	int64_t question_ms, call_ms, stall_ms, notice_ms; /* unix ms: what is due next */
	struct stall_settings stall;
};

/* ---- other things that wake it ---- */

static int add(struct worker *w, int fd, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0 || epoll_ctl(w->extra_fd, EPOLL_CTL_ADD, fd, &event) != 0)
		return err_errno(e, ERR_AGAIN, "cannot wait for changes");
	return 0;
}

static bool open_inotify(struct watch *d, struct worker *w)
{
	if (d->inotify_fd < 0) {
		d->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (d->inotify_fd >= 0)
			(void)add(w, d->inotify_fd, NULL);
	}
	return d->inotify_fd >= 0;
}

/* Whether it is woken by writes to the WAL, or only by its being closed. While the kernel tells of
 * neither, it does not sleep. */
static void listen_for_writes(struct watch *d, struct worker *w, bool writes)
{
	uint32_t mask = writes ? IN_CLOSE_WRITE | IN_MODIFY : IN_CLOSE_WRITE;
	bool hears = open_inotify(d, w) && inotify_add_watch(d->inotify_fd, d->folder, mask) >= 0;

	if (!hears && !d->is_deaf)
		log_warn("it looks at the database every %d ms, because it cannot watch %s: %s",
		         LOOK_MS, d->folder, inotify_limit(errno));
	d->is_deaf = !hears;
	d->sleeps = hears && writes;
}

/* SQLite, too, resolves symlinks and puts the WAL there. */
static int find_log(struct watch *d, const char *db_path, struct err *e)
{
	char *slash;

	if (!realpath(db_path, d->folder))
		return err_errno(e, err_kind_of_file(errno), "cannot find %s", db_path);
	slash = strrchr(d->folder, '/');
	(void)snprintf(d->log_name, sizeof(d->log_name), "%.240s-wal", slash + 1);
	slash[1] = '\0';
	return 0;
}

/* The year 2242. */
static const time_t FAR = (time_t)1 << 33;

/* Makes clock_fd readable when someone sets the clock: a timer that never expires but is cancelled
 * then. */
static void arm_clock(struct watch *d)
{
	const struct itimerspec never = { .it_value.tv_sec = FAR };

	(void)timerfd_settime(d->clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
	                      NULL);
}

static int watch_open(struct watch *d, struct worker *w, struct err *e)
{
	d->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	w->extra_fd = epoll_create1(EPOLL_CLOEXEC);
	if (find_log(d, w->db_path, e) || add(w, d->clock_fd, e))
		return -1;
	listen_for_writes(d, w, false);
	return 0;
}

struct heard {
	bool closed; /* a process closed the WAL */
	bool written; /* a process wrote to it */
};

static void hear(const struct watch *d, const struct inotify_event *event, struct heard *h)
{
	bool lost = event->mask & IN_Q_OVERFLOW;

	if (!lost && (!event->len || strcmp(event->name, d->log_name) != 0))
		return;
	h->closed |= lost || (event->mask & IN_CLOSE_WRITE);
	h->written = true;
}

/* Takes the events that fit into one read: who writes faster than we read holds nothing up. */
static struct heard take_events(struct watch *d)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event;
	struct heard h = { 0 };
	uint64_t ticks;
	ssize_t n = read(d->inotify_fd, buffer, sizeof(buffer));

	for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*event) + event->len)) {
		event = (const struct inotify_event *)(const void *)(buffer + at);
		hear(d, event, &h);
	}
	if (read(d->clock_fd, &ticks, sizeof(ticks)) < 0 && errno == ECANCELED)
		arm_clock(d);
	return h;
}

/* ---- foreign writers ---- */

/* Returns 1 if another process has committed since the last look, 0 if not, -1 on error. */
static int has_changed(struct watch *d, struct store *st, struct err *e)
{
	int64_t version = sql_store_version(st, e);
	int changed = version != d->version;

	if (version < 0)
		return -1;
	d->version = version;
	d->unrung |= changed;
	return changed;
}

/* Falls asleep when nobody has written for long, and wakes up when somebody does. Between listening
 * and sleeping is one more look: no write goes unnoticed. */
static void mind_writers(struct watch *d, struct worker *w, bool active)
{
	int64_t now = clock_monotonic_ms();

	if (active) {
		d->awake_ms = now + QUIET_MS;
		if (d->look_ms > now + LOOK_MS)
			d->look_ms = now + LOOK_MS;
		if (d->sleeps)
			listen_for_writes(d, w, false);
		return;
	}
	if (d->sleeps || now < d->awake_ms)
		return;
	d->look_ms = now + LOOK_MS;
	listen_for_writes(d, w, true);
	if (d->is_deaf)
		d->awake_ms = now + DEAF_MS;
}

static int ring_runners(struct worker *w, struct err *e)
{
	OWNED(agent_run_unheard_row) struct agent_run_unheard_row row = { 0 };
	int got;

	sql_agent_run_unheard(&w->store, w->machine, &row);
	while ((got = row_next(&row.row, e)) > 0)
		doorbell_ring_runner(w->run_fd, row.seq);
	return got;
}

/* Rings every worker at the regular look, or at once after the WAL was closed, if not too often. */
static int ring_for_others(struct watch *d, struct worker *w, bool closed, struct err *e)
{
	int64_t now = clock_monotonic_ms();
	bool regular = now >= d->look_ms;

	if (regular)
		d->look_ms = now + (d->sleeps ? WORKER_LOOK_MS : LOOK_MS);
	if (!d->unrung || !(regular || (closed && now - d->rung_ms >= LOOK_MS)))
		return 0;
	doorbell_ring_common(w->run_fd);
	d->rung_ms = now;
	d->unrung = false;
	return ring_runners(w, e);
}

/* ---- time ---- */

static int note_gap(struct watch *d, struct worker *w, const struct time_reading *now,
                    struct err *e)
{
	struct time_gap gap;
	int moved;

	if (!time_gap_look(&d->time, now, &gap))
		return 0;
	moved = time_gap_record(&w->store, w->machine, &gap, e);
	if (moved < 0)
		return -1;
	if (gap.suspend_ms)
		log_info("the machine slept for %lld ms; %d deadlines were extended",
		         (long long)gap.suspend_ms, moved);
	if (gap.step_ms)
		log_warn("the clock was set by %lld ms; %d deadlines moved with it",
		         (long long)gap.step_ms, moved);
	return 1;
}

static int pass_stalls(struct watch *d, struct worker *w, int64_t now_ms, struct err *e)
{
	struct stall_tally t = { 0 };
	int did = stall_pass(&w->store, &d->stall, now_ms, &t, e);

	if (t.raised || t.nudged || t.escalated)
		log_info("%d agents are silent, %d were nudged, %d need their operator", t.raised,
		         t.nudged, t.escalated);
	if (t.left)
		log_info("%d sessions lost their agent and were marked interrupted", t.left);
	if (worker_tells_refused(w, &t.refused))
		d->stall_ms = now_ms + WORKER_REFUSED_MS;
	return did;
}

/* Expires what is due at now_ms. Returns 1 if there is more. */
static int pass(struct watch *d, struct worker *w, int64_t now_ms, struct err *e)
{
	struct err_refused questions = { 0 }, calls = { 0 }, notices = { 0 };
	int expired = 0, ended = 0, silent = 0, told = 0;
	int64_t mono_ms = clock_monotonic_ms();

	if (d->question_ms <= now_ms && mono_ms >= d->grace_ms &&
	    (expired = deadline_expire(&w->store, now_ms, &questions, e)) < 0)
		return -1;
	if (d->stall_ms <= now_ms && mono_ms >= d->quiet_ms &&
	    (silent = pass_stalls(d, w, now_ms, e)) < 0)
		return -1;
	if (d->call_ms <= now_ms && (ended = deadline_end_waits(&w->store, now_ms, &calls, e)) < 0)
		return -1;
	if (d->notice_ms <= now_ms && (told = deadline_tell(&w->store, now_ms, &notices, e)) < 0)
		return -1;
	if (expired || ended)
		log_info("%d questions expired, %d calls have waited long enough", expired, ended);
	/* A refused row is still due; the others continue after a moment. */
	if (worker_tells_refused(w, &questions))
		d->question_ms = now_ms + WORKER_REFUSED_MS;
	if (worker_tells_refused(w, &calls))
		d->call_ms = now_ms + WORKER_REFUSED_MS;
	if (worker_tells_refused(w, &notices))
		d->notice_ms = now_ms + WORKER_REFUSED_MS;
	return expired || ended || silent || told;
}

/* When to look again, in unix ms. */
static int64_t next_due(const struct watch *d)
{
	int64_t now_ms = clock_now_ms(), mono_ms = clock_monotonic_ms();
	int64_t grace = now_ms + d->grace_ms - mono_ms;
	int64_t quiet = now_ms + d->quiet_ms - mono_ms;
	int64_t look = now_ms + d->look_ms - mono_ms;
	int64_t question = d->question_ms > grace ? d->question_ms : grace;
	int64_t stall = d->stall_ms > quiet ? d->stall_ms : quiet;
	int64_t due = look;

	if (d->question_ms != INT64_MAX && question < due)
		due = question;
	if (d->stall_ms != INT64_MAX && stall < due)
		due = stall;
	due = d->notice_ms < due ? d->notice_ms : due;
	return d->call_ms < due ? d->call_ms : due;
}

/* Returns 1 if there may be more to seal. */
static int seal(struct watch *d, struct worker *w, struct err *e)
{
	int64_t now = clock_monotonic_ms();
	int did = now < d->seal_ms ? 0 : audit_seal(&w->store, e);

	if (did == 0 && now >= d->seal_ms)
		d->seal_ms = now + SEAL_MS;
	if (did < 0 && worker_forgives(w, e)) { /* continue with the rest */
		d->seal_ms = now + SEAL_AGAIN_MS;
		did = 0;
	}
	return did;
}

/* Reads what is due next. */
static int read_due(struct watch *d, struct store *st, struct err *e)
{
	return deadline_next(st, &d->question_ms, &d->call_ms, e) ||
	               deadline_next_notice(st, &d->notice_ms, e) ||
	               stall_next(st, &d->stall, &d->stall_ms, e)
	           ? -1
	           : 0;
}

static struct watch watch = { .inotify_fd = -1, .clock_fd = -1 };

static int step(struct worker *w, struct err *e)
{
	struct watch *d = &watch;
	int64_t now_ms = clock_now_ms(); /* first: a clock set after this makes nothing due */
	const struct time_reading now = time_gap_clocks();
	struct heard heard = take_events(d);
	int gap = note_gap(d, w, &now, e);
	int changed = gap < 0 ? -1 : has_changed(d, &w->store, e);
	int sealed = changed < 0 ? -1 : seal(d, w, e);
	int more = 0;

	if (sealed < 0)
		return -1;
	mind_writers(d, w, heard.written || changed);
	if (ring_for_others(d, w, heard.closed, e) < 0)
		return -1;
	if (gap || changed || d->question_ms <= now_ms || d->call_ms <= now_ms ||
	    d->stall_ms <= now_ms || d->notice_ms <= now_ms) {
		if (read_due(d, &w->store, e))
			return -1;
		more = pass(d, w, now_ms, e);
		if (more > 0 && read_due(d, &w->store, e))
			return -1;
	}
	w->due_ms = next_due(d);
	return more < 0 ? -1 : more || sealed;
}

static int start(struct watch *d, struct worker *w, struct err *e)
{
	const struct time_reading now = time_gap_clocks();
	int64_t downtime;

	time_gap_watch(&d->time, &now);
	arm_clock(d);
	downtime = time_gap_downtime(&w->store, w->machine, w->name, w->id.text, e);
	stall_settings_read(&w->store, &d->stall);
	if (downtime < 0 || has_changed(d, &w->store, e) < 0 || read_due(d, &w->store, e))
		return -1;
	if (downtime > 0)
		log_info("nobody watched for %lld ms; deadlines were extended",
		         (long long)downtime);
	d->grace_ms = d->quiet_ms = clock_monotonic_ms() + GRACE_MS;
	return 0;
}

int main(int argc, char **argv)
{
	struct worker w;
	struct err e = { 0 };
	int did =
	    worker_open(&w, "watchdog", "Expires what is overdue; rings for writers that do not.",
	                argc, argv, &e);

	if (did == 0)
		did = watch_open(&watch, &w, &e) || start(&watch, &w, &e) ? -1 : 0;
	return worker_serve(&w, did, step, &e);
}
