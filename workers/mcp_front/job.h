/* job: one thing to do in the next turn of the loop. What a job of each kind does is a row of
 * JOBS (jobs.c), which turn.c walks; all others only queue jobs. */
#ifndef JOB_H
#define JOB_H

#include "call.h"
#include "hands.h"
#include "sink.h"

enum job_kind {
	JOB_CALL,
	JOB_INITIALIZE,
	JOB_CANCEL, /* notifications/cancelled */
	JOB_READ, /* resources/read of a Slack channel */
	JOB_SAID, /* the caller of a broadcast has been told where it stands, or is gone */
	JOB_TASK, /* tasks/get, tasks/update, tasks/cancel */
	JOB_ELICITED, /* the response to a request of ours */
	JOB_RESUME, /* GET with Last-Event-ID */
	JOB_REOPEN, /* a relay came back */
	JOB_END, /* DELETE, or a relay is gone */
	JOB_UNTOLD, /* the result of a call did not arrive: its caller had closed */
	JOB_HANG_UP, /* a caller that may come back is gone */
	JOB_DROP, /* a modern caller is gone: that cancels its call */
};

/* CALL and RESUME: a call, new or come again. */
struct job_call {
	struct hand_task task; /* what it has to know of files */
	struct hand_found *found; /* ... and what was found; NULL: nothing */
	bool looked; /* that is over, or there is nothing to know */
	bool cancelled; /* before it had a row */
	struct call call; /* RESUME: only its progress_token, is_error and steering */
	bool whole; /* the result is that of the method, not only of the tool: a task, or a form */
	bool waits; /* the reply comes later */
	bool untold; /* it came again: its wait is over, and nobody was told */
	int64_t started_ms; /* it came again: unix, when its wait began */
	bool parked; /* its session is paused */
	int64_t parked_ms; /* monotonic: since when */
};

/* READ */
struct job_read {
	int64_t seq; /* the slack_read that it waits for; 0: why says why not */
	char why[300];
};

struct awaited;

struct job {
	STAILQ_ENTRY(job) next;
	enum job_kind kind;
	struct sink *sink;
	struct rpc_message message; /* CALL, INITIALIZE, CANCEL, TASK, ELICITED, READ; RESUME: id */
	const char *version; /* CALL, INITIALIZE, READ, RESUME: the revision that the reply is in */
	int64_t call_seq; /* of the tool_call row that it is about, 0: none yet */
	int64_t had_seq, had_session; /* of the peer before the transaction */
	bool unsure; /* INITIALIZE: Slack has not said yet whether its channel may be named */
	bool refused; /* the reply is this error; */
	struct mcp_fault fault;
	struct str result; /* else this object; SAID: what the caller was told */
	int64_t held_as; /* its caller is held under this number (below 0); 0: is not */
	const struct awaited *awaited; /* of slack-poster, in await_slack.c */
	int64_t end_ms; /* monotonic: until when it is awaited */
	union {
		struct job_call call;
		struct job_read read;
	} as;
};

STAILQ_HEAD(job_queue, job);

struct job_row {
	/* Before anything else: true, the job waits for a hand, which queues it again. NULL:
	 * nothing. */
	bool (*look)(struct front *f, struct job *job);
	/* Before the transaction; NULL: nothing. */
	void (*prepare)(struct front *f, struct job *job);
	/* Inside it; -1 undoes this job alone. */
	int (*run)(struct front *f, struct job *job, struct err *e);
	/* When it is on disk, unless the job was refused. False: the job has been taken over, it
	 * is not done yet. NULL: nobody is told. */
	bool (*reply)(struct front *f, struct job *job);
	/* Somebody waits for a reply: a job that fails is refused. One without is repeated until
	 * it is written. */
	bool has_reply;
};

extern const struct job_row JOBS[]; /* by kind */

/* Queues a job; the turn runs when the transports have nothing more to hand in. Takes over
 * message (may be NULL); counts the sink. */
struct job *job_queue(struct front *f, enum job_kind kind, struct sink *sink,
                      struct rpc_message *message);
/* The same for a note about a call. */
void job_queue_note(struct front *f, enum job_kind kind, struct sink *sink, int64_t call_seq);
/* Queues again what has been taken over; first: before all others. */
void job_requeue(struct front *f, struct job *job);
void job_requeue_first(struct front *f, struct job *job);
/* Lets the turn come, once the transports have had a look. */
void job_turn_soon(struct front *f);
/* Of a call: as if nothing of it had been looked at. */
void job_forget_call(struct job *job);
void job_free(struct job *job);
void job_free_all(struct job_queue *jobs);

void job_refuse(struct job *job, int code, const char *text);
/* The code of JSON-RPC for what e says: whether the caller is at fault, or we. */
int job_fault_code(const struct err *e);
/* Replies with the result of the method, */
void job_reply(struct job *job);
/* or of the tool of a call. */
void job_reply_tool(struct job *job);

#endif
