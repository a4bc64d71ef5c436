#include "turn.h"

#include "big.h"
#include "front.h"
#include "log.h"
#include "policies.h"
#include "tell.h"

static void run_part(struct front *f, struct job *job)
{
	struct err e = { 0 };

	if (job->refused)
		return;
	if (store_part(&f->worker.store, &e)) {
		job_refuse(job, RPC_INTERNAL_ERROR, e.text);
		return;
	}
	if (JOBS[job->kind].run(f, job, &e)) {
		store_undo(&f->worker.store);
		if (JOBS[job->kind].has_reply)
			job_refuse(job, job_fault_code(&e), e.text);
		log_warn("refused: %s", e.text);
		return;
	}
	if (store_keep(&f->worker.store, &e))
		job_refuse(job, RPC_INTERNAL_ERROR, e.text);
}

/* Undoes what the jobs noted in a transaction that failed. */
static void forget_results(struct job_queue *batch, const struct err *e)
{
	struct job *job;

	STAILQ_FOREACH (job, batch, next) {
		if (!job->refused && JOBS[job->kind].has_reply)
			job_refuse(job, RPC_INTERNAL_ERROR, e->text);
		peer_unjoin(job->sink->peer, job->had_seq, job->had_session);
	}
}

/* Commits all jobs in one transaction; false if it failed. */
static bool commit_batch(struct front *f, struct job_queue *batch)
{
	struct err e = { 0 };
	struct job *job;

	STAILQ_FOREACH (job, batch, next) {
		job->had_seq = job->sink->peer->seq;
		job->had_session = job->sink->peer->session_seq;
		job->sink->asking = 0;
		if (JOBS[job->kind].prepare)
			JOBS[job->kind].prepare(f, job);
	}
	if (store_begin(&f->worker.store, &e)) {
		forget_results(batch, &e);
		log_warn("%s", e.text);
		return false;
	}
	policies_write(f);
	tell_write(f); /* first: a caller that calls again has had the answer */
	STAILQ_FOREACH (job, batch, next)
		run_part(f, job);
	if (store_commit(&f->worker.store, &e)) {
		forget_results(batch, &e);
		log_error("%s", e.text);
		if (store_is_broken(&f->worker.store))
			front_fail(f, &e);
		return false;
	}
	policies_written(f);
	tell_written(f);
	return true;
}

/* True: the job must wait. */
static bool look(struct front *f, struct job *job)
{
	return !job->refused && JOBS[job->kind].look && JOBS[job->kind].look(f, job);
}

/* Takes the jobs to commit together, and none that is done in steps. */
static void take_batch(struct front *f, struct job_queue *batch)
{
	struct job *job;

	STAILQ_INIT(batch);
	while ((job = STAILQ_FIRST(&f->jobs)) != NULL) {
		STAILQ_REMOVE_HEAD(&f->jobs, next);
		if (look(f, job))
			continue;
		if (big_is(job))
			big_add(f, job, false);
		else
			STAILQ_INSERT_TAIL(batch, job, next);
	}
}

/* Returns whether the job is done. */
static bool reply(struct front *f, struct job *job)
{
	if (!job->refused)
		return !JOBS[job->kind].reply || JOBS[job->kind].reply(f, job);
	/* Nothing to resume: 405, since 404 would tell the client that its session has ended. */
	if (job->kind == JOB_RESUME)
		job->fault.status = job->fault.code == RPC_INVALID_REQUEST ? 405 : 503;
	job->sink->by->refuse(job->sink, job->message.id, &job->fault);
	return true;
}

/* Replies, and keeps in f->jobs the notes of a transaction that failed. */
static void settle_batch(struct front *f, struct job_queue *batch, bool written)
{
	struct job *job;

	while ((job = STAILQ_FIRST(batch)) != NULL) {
		STAILQ_REMOVE_HEAD(batch, next);
		if (!written && !JOBS[job->kind].has_reply)
			STAILQ_INSERT_TAIL(&f->jobs, job, next);
		else if (reply(f, job))
			job_free(job);
	}
}

static bool has_work(const struct front *f)
{
	return f->has_notes || !STAILQ_EMPTY(&f->jobs) || !STAILQ_EMPTY(&f->told);
}

bool turn_run_big(struct front *f)
{
	struct job *job = STAILQ_FIRST(&f->bigs);
	struct job_queue batch;

	if (!job)
		return false;
	f->turned = true;
	STAILQ_REMOVE_HEAD(&f->bigs, next);
	if (look(f, job))
		return true;
	STAILQ_INIT(&batch);
	STAILQ_INSERT_TAIL(&batch, job, next);
	settle_batch(f, &batch, commit_batch(f, &batch));
	return true;
}

void turn_run(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	struct job_queue batch;
	bool written = true;

	(void)fd;
	(void)what;
	f->turned = true;
	while (written && has_work(f)) {
		take_batch(f, &batch);
		if (STAILQ_EMPTY(&batch) && !f->has_notes && STAILQ_EMPTY(&f->told))
			continue;
		written = commit_batch(f, &batch);
		settle_batch(f, &batch, written);
	}
	while (f->worker.stopping && turn_run_big(f))
		continue;
	if (!written)
		front_in(f->turn, FRONT_TRY_AGAIN_SECONDS * 1000);
}

void turn_clear(struct front *f)
{
	job_free_all(&f->jobs);
	job_free_all(&f->bigs);
	job_free_all(&f->parked);
	job_free_all(&f->awaiting_slack);
	tell_written(f);
}
