/* job: one thing to do in the next turn of the loop. A row of JOBS (jobs.c) says what a job of each
 * kind does; turn.c walks that table; everyone else only queues jobs. */
#ifndef JOB_H
#define JOB_H

#include "call.h"
#include "gate_host.h"
#include "hands.h"
#include "sink.h"

enum job_kind {
	JOB_CALL,
	JOB_INITIALIZE,
	JOB_CANCEL, /* notifications/cancelled */
	JOB_READ, /* resources/read of a Slack channel */
	JOB_SAID, /* the caller of a broadcast was told where it stands, or is gone */
	JOB_TASK, /* tasks/get, tasks/update, tasks/cancel */
	JOB_ELICITED, /* the response to an elicitation request */
	JOB_RESUME, /* GET with Last-Event-ID */
	JOB_REOPEN, /* a relay came back */
	JOB_END, /* DELETE, or a relay is gone */
	JOB_UNTOLD, /* the result of a call did not arrive: the caller had closed */
	JOB_HANG_UP, /* a caller that may reconnect is gone */
	JOB_EDITOR, /* the answer of an editor's user to the question of a hook */
	JOB_HOOK, /* the wait of a hook's call has ended */
	JOB_DROP, /* a modern caller is gone, which cancels its call */
};

/* Which text of a big call is written next (ahead.h). */
enum job_ahead { JOB_AHEAD_ARGUMENTS, JOB_AHEAD_BODY, JOB_AHEAD_EFFECT, JOB_AHEAD_DONE };

/* CALL and RESUME: a call, new or repeated. */
struct job_call {
	struct hand_task task; /* what it needs to know about files */
	struct hand_found *found; /* the result of task; NULL: none */
	bool looked; /* task has ended, or was not needed */
	enum job_ahead ahead;
	bool cancelled; /* before it had a row */
	struct call call; /* RESUME: only its progress_token, is_error, traceparent and steering */
	bool whole; /* result is the method's, not only the tool's: a task, or a form */
	bool waits; /* the reply comes later */
	bool untold; /* repeated: its wait is over, and nobody was told */
	int64_t started_ms; /* repeated: unix, when its wait started */
	bool parked; /* its session is paused */
	int64_t parked_ms; /* monotonic: since when */
};

/* READ */
struct job_read {
	int64_t seq; /* the slack_read that it waits for; 0: see why */
	char why[300];
};

/* HOOK: what it is told. */
struct job_hook {
	struct hand_task task; /* looks again at what an approval is bound to */
	struct call call; /* that it is of */
	bool looked; /* since it was last tried to record an answer */
	struct str changed; /* why it is not allowed although it was approved; empty: it is */
	bool is_spent; /* and that the approval does not count later, either */
	struct telling telling;
	const struct gate_host *host;
	enum gate_event event;
	cJSON *input; /* to be given back; or NULL */
	bool is_recorded;
};

struct awaited;

struct job {
	STAILQ_ENTRY(job) next;
	enum job_kind kind;
	struct sink *sink;
	struct rpc_message message; /* CALL, INITIALIZE, CANCEL, TASK, ELICITED, READ; RESUME: id */
	const char *version; /* CALL, INITIALIZE, READ, RESUME: revision of the reply */
	int64_t call_seq; /* of the tool_call row concerned, 0: none yet */
	int64_t had_seq, had_session; /* of the peer before the transaction */
	bool unsure; /* INITIALIZE: Slack has not yet confirmed its channel */
	bool refused; /* reply with this error; */
	struct mcp_fault fault;
	struct str result; /* else with this object; SAID: what the caller was told */
	int64_t held_as; /* its caller is held under this number (below 0); 0: not held */
	const struct awaited *awaited; /* what it waits for from slack-poster, in await_slack.c */
	int64_t end_ms; /* monotonic: deadline of that wait */
	union {
		struct job_call call;
		struct job_read read;
		struct job_hook hook;
	} as;
};

STAILQ_HEAD(job_queue, job);

struct job_row {
	/* Runs first. True: the job waits for a hand, which queues it again. NULL: nothing to
	 * do. */
	bool (*look)(struct front *f, struct job *job);
	/* Runs before the transaction. NULL: nothing to do. */
	void (*prepare)(struct front *f, struct job *job);
	/* Runs in the transaction; -1 undoes this job alone. */
	int (*run)(struct front *f, struct job *job, struct err *e);
	/* Runs after the commit, unless the job was refused. False: the job was taken over and is
	 * not done yet. NULL: no reply. */
	bool (*reply)(struct front *f, struct job *job);
	/* A caller waits for a reply: if run fails, the job is refused. A job without a reply is
	 * repeated until it is written. */
	bool has_reply;
};

extern const struct job_row JOBS[]; /* by kind */

/* Queues a job; the turn runs when the transports have nothing more to hand in. Takes over message
 * (may be NULL); adds a hold on the sink. */
struct job *job_queue(struct front *f, enum job_kind kind, struct sink *sink,
                      struct rpc_message *message);
/* The same for a note about a call. */
void job_queue_note(struct front *f, enum job_kind kind, struct sink *sink, int64_t call_seq);
/* The results that were sent last have not arrived: queues JOB_UNTOLD for each. */
void job_untold(struct sink *sink);
/* Queues a job again that was taken over; first: ahead of all others. One that is done in steps
 * (big.h) waits for these. */
void job_requeue(struct front *f, struct job *job, bool first);
/* Schedules a turn, after the transports have had a pass. */
void job_turn_soon(struct front *f);
/* Resets a call to the state before it was looked at. */
void job_forget_call(struct job *job);
void job_free(struct job *job);
void job_free_all(struct job_queue *jobs);

void job_refuse(struct job *job, int code, const char *text);
/* The JSON-RPC code for e: whether the fault is the caller's or ours. */
int job_fault_code(const struct err *e);
/* Replies with the result of the method, */
void job_reply(struct job *job);
/* or with that of the tool. */
void job_reply_tool(struct job *job);

#endif
