/* commander: runs the commands of [commands]. It claims the runs that wait for no other of their
 * session, several at once, starts each in a keeper, reads its output, ends it where somebody wants
 * that or its time is over, and settles the run.
 *
 * SIGTERM: all end, their runs are interrupted. SIGKILL: the keepers end all, and the next
 * incarnation interrupts the runs. */
#include "commander.h"

#include "clock.h"
#include "group.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	LEAVE_GRACE_MS = 1500, /* at a stop of the system, which gives us 5 s in all */
	LOST_MS = 20, /* between two looks at what a killed keeper has left */
};

static bool is_free(const struct job *j)
{
	return j->phase == JOB_FREE;
}

static bool has_jobs(const struct commander *c)
{
	for (int i = 0; i < COMMANDER_JOBS; i++)
		if (!is_free(&c->jobs[i]))
			return true;
	return false;
}

/* ---- rows ---- */

/* What its row is to say now. 1 it was written, 0 nothing, -1. */
static int write_row(struct commander *c, struct job *j, struct err *e)
{
	int64_t now = clock_monotonic_ms();

	if (j->phase == JOB_STARTS)
		return job_go(c, j, e);
	if (now < j->try_ms)
		return 0;
	j->try_ms = now + COMMANDER_BUSY_MS; /* should this fail */
	if (j->has_begun && !j->is_told) { /* however soon it was over */
		if (rows_running(c, j, e))
			return -1;
		j->is_told = true;
	} else if (j->phase == JOB_OVER) {
		if (rows_settle(c, j, e))
			return -1;
		job_clear(j);
		c->look_ms = 0; /* the next one of its lane */
		return 1;
	} else if (j->is_told && j->shown != j->output.total && now >= j->show_ms &&
	           j->phase < JOB_DRAIN) {
		if (rows_show(c, j, e))
			return -1;
	} else {
		j->try_ms = 0;
		return 0;
	}
	j->try_ms = 0;
	return 1;
}

static int obey(struct commander *c, struct err *e)
{
	for (int i = 0; i < COMMANDER_JOBS; i++) {
		struct job *j = &c->jobs[i];
		bool ends = j->phase != JOB_STARTS && j->phase != JOB_RUNS;
		int wanted = ends ? 0 : rows_stop_is_wanted(c, j, e);

		if (wanted < 0)
			return -1;
		if (wanted)
			job_end(j, ALIAS_RUN_OUTCOME_STOPPED, "", JOB_GRACE_MS);
	}
	return 0;
}

static int begin_more(struct commander *c, struct err *e)
{
	for (int i = 0; i < COMMANDER_JOBS && !c->leaving; i++) {
		struct job *j = &c->jobs[i];
		int got = is_free(j) ? rows_claim(c, j, e) : -2;

		if (got == -2)
			continue;
		if (got <= 0)
			return got;
		if (job_begin(c, j, e))
			return -1;
	}
	return 0;
}

static int look(struct commander *c, struct err *e)
{
	if (!c->w.rung && clock_monotonic_ms() < c->look_ms)
		return 0;
	if (obey(c, e) || begin_more(c, e))
		return -1;
	c->look_ms = clock_monotonic_ms() + WORKER_LOOK_MS;
	return 0;
}

/* ---- its life ---- */

/* What a killed keeper has left is our child, and so is every other keeper. */
static void end_lost(struct commander *c)
{
	pid_t keepers[COMMANDER_JOBS];
	size_t count = 0;

	for (int i = 0; i < COMMANDER_JOBS; i++)
		if (c->jobs[i].keeper.pid > 0)
			keepers[count++] = c->jobs[i].keeper.pid;
	c->lost_keeper = group_end_others(keepers, count) > 0;
}

/* 1 there may be more to read, 0 nothing to do now, -1 e says what is wrong with the rows. */
static int turn(struct commander *c, struct err *e)
{
	int more = 0, failed = 0;

	for (int i = 0; i < COMMANDER_JOBS; i++) {
		struct job *j = &c->jobs[i];
		int wrote;

		if (is_free(j))
			continue;
		more |= job_turn(c, j);
		wrote = failed ? 0 : write_row(c, j, e);
		failed |= wrote < 0;
		more |= wrote > 0;
	}
	if (c->lost_keeper)
		end_lost(c);
	if (failed || look(c, e) || worker_heartbeat(&c->w, e))
		return -1;
	return more;
}

static int64_t due_of(const struct job *j)
{
	int64_t due = is_free(j) ? INT64_MAX : j->due_ms;

	if (!is_free(j) && j->is_told && j->shown != j->output.total && j->phase < JOB_DRAIN)
		due = clock_earlier(due, j->show_ms);
	if (!is_free(j) && j->try_ms)
		due = clock_earlier(due, j->try_ms);
	return due;
}

static void set_alarm(struct commander *c, bool failed)
{
	int64_t now = clock_monotonic_ms(), due = c->look_ms;

	if (failed)
		due = clock_earlier(due < now ? now + COMMANDER_BUSY_MS : due,
		                    now + COMMANDER_BUSY_MS);
	if (c->lost_keeper)
		due = clock_earlier(due, now + LOST_MS);
	for (int i = 0; i < COMMANDER_JOBS; i++)
		due = clock_earlier(due, due_of(&c->jobs[i]));
	c->w.due_ms = clock_now_ms() + due - now;
}

static void leave(struct commander *c)
{
	struct signalfd_siginfo info;

	while (read(c->w.signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		continue; /* so that it wakes nobody while they are ending */
	c->leaving = true;
	for (int i = 0; i < COMMANDER_JOBS; i++)
		job_end(&c->jobs[i], ALIAS_RUN_OUTCOME_INTERRUPTED, "the system stopped",
		        LEAVE_GRACE_MS);
}

static bool is_passing(struct commander *c, struct err *e)
{
	return !store_is_broken(&c->w.store) && (e->kind == ERR_AGAIN || worker_forgives(&c->w, e));
}

static int run(struct commander *c, struct err *e)
{
	while (!c->leaving || has_jobs(c)) {
		int did = turn(c, e);

		if (did < 0 && !is_passing(c, e))
			return -1;
		*e = (struct err){ 0 };
		set_alarm(c, did < 0);
		if (worker_wait(&c->w, did > 0))
			leave(c);
	}
	return rows_end_waiting(c, e);
}

static int open_commander(struct commander *c, int argc, char **argv, struct err *e)
{
	if (worker_open(&c->w, "commander", "Runs the commands of [commands].", argc, argv, e))
		return -1;
	for (int i = 0; i < COMMANDER_JOBS; i++)
		c->jobs[i] = (struct job)JOB_INIT;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0)
		return err_errno(e, ERR_AGAIN, "cannot watch the commands' pipes");
	c->w.extra_fd = c->epoll; /* closed with it */
	if (group_adopt(NULL))
		return err_errno(e, ERR_AGAIN, "cannot adopt what a command leaves behind");
	return rows_recover(c, e) ? -1 : worker_ready(&c->w, NULL, e);
}

int main(int argc, char **argv)
{
	static struct commander c;
	struct err e = { 0 };

	if (open_commander(&c, argc, argv, &e) == 0)
		(void)run(&c, &e);
	for (int i = 0; i < COMMANDER_JOBS; i++)
		if (!is_free(&c.jobs[i]))
			job_clear(&c.jobs[i]);
	worker_close(&c.w, &e);
	return worker_exit(&c.w, &e);
}
