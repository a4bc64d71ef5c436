/* An agent that is talked to by its stdin and stdout: the Agent Client Protocol, or acp-stream.
 *
 * What it says becomes rows, and what it is told rests on rows: they are on disk before the bytes
 * are written. While the database is busy, what it said waits, and with it all that we would
 * answer.
 *
 * - Its questions are rows of `request`, and beside them of `agent_question`.
 * - What the operator says (`steering`) is its next prompt; one is in flight. A nudge ends a turn
 *   that hangs, then it is the prompt.
 * - What it says and does are rows of `agent_line`, each turn one of `agent_turn`. */
#include "heard.h"
#include "prompts.h"

#include "clock.h"
#include "log.h"
#include "setting.h"
#include "tools.h"

#include <stdlib.h>
#include <string.h>

enum {
	MSG_RATE = 10, /* a second, where the setting is not there */
	GOODBYE_MS = 2000, /* to end its turn and close its session, */
	CLOSE_MS = 3000, /* and then to end by itself, its stdin being closed */
	SILENT_MS = 2000, /* from the end of its stdout to its own */
	STUCK_MS = 30000, /* so long it may leave so much unread */
	STUCK_BYTES = 4 << 20,
};

struct talk {
	struct agent_talk_row row;
	struct acp acp;
	struct heard_list heard;
	struct asks asks;
	struct tools tools;
	struct str why; /* it has to end, in words; "": it need not */
	enum agent_run_outcome outcome;
	int64_t closed_ms; /* monotonic: when its stdout ended; 0: it has not */
	int64_t
	    goodbye_ms; /* monotonic: until when its turn may take; 0: it was not told to leave */
	int64_t leave_ms; /* monotonic: until when it may end by itself; 0: its stdin is open */
};

static void give_up(struct talk *t, enum agent_run_outcome outcome, const char *why)
{
	if (t->why.length)
		return;
	t->outcome = outcome;
	str_add(&t->why, why);
}

static void note(const struct acp_event *event)
{
	static void (*const LOG[])(const char *format, ...) = {
		[ACP_DEBUG] = log_debug,
		[ACP_INFO] = log_info,
		[ACP_WARN] = log_warn,
		[ACP_ERROR] = log_error,
	};

	LOG[event->level]("agent: %s", event->text);
}

static void take(void *arg, const struct acp_event *event)
{
	struct talk *t = arg;

	if (event->kind == ACP_NOTE)
		note(event);
	else if (event->kind == ACP_FAILED)
		give_up(t, AGENT_RUN_OUTCOME_FAILED, event->text);
	else if (event->kind == ACP_HUNG)
		give_up(t, AGENT_RUN_OUTCOME_INTERRUPTED, event->text);
	heard_add(&t->heard, event);
}

/* ---- its life ---- */

static int open_talk(struct runner *r, struct err *e)
{
	static const int VERSIONS[] = {
		[AGENT_ACP_VERSION_1] = ACP_VERSION_1,
		[AGENT_ACP_VERSION_2] = ACP_VERSION_2,
		[AGENT_ACP_VERSION_AUTO] = ACP_VERSION_ANY,
	};
	struct talk *t = r->driving ? r->driving : xcalloc(1, sizeof(*t));
	const struct acp_sink sink = { .take = take, .arg = t };
	int got;

	r->driving = t; /* also where this is tried again */
	t->heard.said.run = r->w.row;
	t->heard.gap_ms = 1000 / setting_int(&r->w.store, "acp.max_msg_rate", MSG_RATE);
	got = sql_agent_talk(&r->w.store, r->w.row, &t->row, e);
	if (got <= 0)
		return got < 0 ? -1
		               : err_set(e, ERR_INPUT, "there is no profile '%s' any more",
		                         r->row.agent);
	if (t->row.protocol == AGENT_RUN_PROTOCOL_ACP && tools_open(&t->tools, r, e))
		return -1;
	struct acp_how how = {
		.dialect = t->row.protocol == AGENT_RUN_PROTOCOL_ACP ? ACP_STANDARD : ACP_STREAM,
		.framing = t->row.framing == AGENT_FRAMING_LSP ? ACP_LSP : ACP_NDJSON,
		.most = (size_t)t->row.max_line_length,
		.startup_ms = t->row.startup_timeout_ms,
		.root = t->row.workspace_root,
		.version = VERSIONS[t->row.acp_version],
		.auth_method = t->row.auth_method,
		.resume = t->row.previous,
		.forms = true,
		.asking = t->row.asking,
		.refused = t->row.refused_modes,
	};
	tools_offer(&t->tools, &how);
	acp_open(&t->acp, &how, &sink, clock_monotonic_ms());
	return 0;
}

static void rest(struct runner *r)
{
	struct talk *t = r->driving;

	if (t)
		judge_rest(&t->asks.judge);
}

static void close_talk(struct runner *r)
{
	struct talk *t = r->driving;

	if (!t)
		return;
	acp_clear(&t->acp);
	heard_clear(&t->heard);
	asks_clear(&t->asks);
	tools_clear(&t->tools);
	agent_talk_row_clear(&t->row);
	str_clear(&t->why);
	free(t);
	r->driving = NULL;
}

static int hear(struct runner *r, const char *bytes, size_t length, struct err *e)
{
	struct talk *t = r->driving;
	int64_t now_ms = clock_monotonic_ms();

	(void)e;
	if (length)
		acp_feed(&t->acp, bytes, length, now_ms);
	else
		acp_end(&t->acp, now_ms);
	if (!length)
		t->closed_ms = now_ms;
	return 0;
}

/* ---- rows ---- */

/* Rows that the rules refuse: nobody can be asked, so the agent is told no. */
static void drop_refused(struct talk *t)
{
	asks_refuse(&t->acp);
	asks_written(&t->asks, NULL);
	heard_clear(&t->heard);
}

/* Whether something waits for what it said to be in rows: bytes for it, or its end. */
static bool is_pressed(const struct runner *r, const struct talk *t)
{
	return t->acp.out.length || t->acp.step == ACP_STEP_OVER || t->closed_ms ||
	       r->phase != ENDING_NOT || r->has_ended;
}

/* 1 wrote, 0 nothing to write, -1 error. */
static int write_heard(struct runner *r, struct talk *t, struct err *e)
{
	bool working;

	asks_judge(&t->asks, r, &t->row, &t->acp);
	working = acp_works(&t->acp, NULL);
	if (!heard_is_due(&t->heard, working, is_pressed(r, t), clock_monotonic_ms()))
		return 0;
	if (heard_write(&t->heard, &t->asks, r, &t->row, &t->acp, working, e) == 0)
		return 1;
	if (e->kind == ERR_REFUSED)
		drop_refused(t);
	return -1;
}

static int answer_next(struct runner *r, struct talk *t, struct err *e)
{
	OWNED(str) struct str line = { 0 };
	int did = asks_answer(r, &t->row, &t->acp, &t->heard.works, &line, e);

	if (line.length)
		heard_add_line(&t->heard, line.bytes);
	return did;
}

/* ---- all of it ---- */

/* Bytes go when all that was said before is in rows. */
static void flush(struct runner *r, struct talk *t)
{
	if (t->heard.first || !t->acp.out.length)
		return;
	pipes_say(r, t->acp.out.bytes, t->acp.out.length);
	str_reset(&t->acp.out);
}

/* When an agent that leaves much unread has had its time; INT64_MAX: it reads. */
static int64_t stuck_until(const struct runner *r)
{
	return r->stuck_ms && r->queue.length - r->written > STUCK_BYTES ? r->stuck_ms + STUCK_MS
	                                                                 : INT64_MAX;
}

static void set_due(struct runner *r, const struct talk *t)
{
	int64_t due = clock_earlier(acp_due_ms(&t->acp), heard_due_ms(&t->heard));

	if (t->closed_ms && r->phase == ENDING_NOT)
		due = clock_earlier(due, t->closed_ms + SILENT_MS);
	if (r->phase == ENDING_NOT)
		due = clock_earlier(due, stuck_until(r));
	if (t->goodbye_ms && r->phase == ENDING_LEAVE)
		due = clock_earlier(due, t->leave_ms ? t->leave_ms : t->goodbye_ms);
	r->due_ms = due;
}

static void end_if_over(struct runner *r, struct talk *t)
{
	if (t->closed_ms && clock_monotonic_ms() >= t->closed_ms + SILENT_MS)
		give_up(t, AGENT_RUN_OUTCOME_STOPPED, "stream closed");
	if (clock_monotonic_ms() >= stuck_until(r))
		give_up(t, AGENT_RUN_OUTCOME_INTERRUPTED, "the agent does not read its stdin");
	if (t->why.length && !r->has_ended)
		ending_begin(r, t->outcome, t->why.bytes);
}

static int look(struct runner *r, struct err *e)
{
	struct talk *t = r->driving;
	int did, answered = 0, prompted = 0;

	acp_tick(&t->acp, clock_monotonic_ms());
	did = write_heard(r, t, e);
	if (did >= 0 && r->phase == ENDING_NOT) /* else all questions are withdrawn */
		answered = answer_next(r, t, e);
	if (did >= 0 && answered >= 0 && r->phase == ENDING_NOT)
		prompted = prompts_next(r, &t->row, &t->acp, &t->heard.said, e);
	flush(r, t);
	end_if_over(r, t);
	set_due(r, t);
	return did < 0 || answered < 0 || prompted < 0 ? -1 : did || answered || prompted;
}

/* Its turn is ended, its session closed, then its stdin: so most agents end by themselves. */
static bool leave(struct runner *r)
{
	struct talk *t = r->driving;
	int64_t now_ms = clock_monotonic_ms();

	if (!t->goodbye_ms) {
		acp_close(&t->acp, str_text(&r->why), now_ms);
		t->goodbye_ms = now_ms + GOODBYE_MS;
		pipes_say(r, str_text(&t->acp.out), t->acp.out.length);
		str_reset(&t->acp.out);
	}
	if (t->acp.step == ACP_STEP_OPEN && t->acp.turn_open && now_ms < t->goodbye_ms)
		return true;
	if (!t->leave_ms && r->queue.length && now_ms < t->goodbye_ms)
		return true;
	if (!t->leave_ms) {
		t->leave_ms = now_ms + CLOSE_MS;
		pipes_hang_up(r);
	}
	set_due(r, t);
	return now_ms < t->leave_ms;
}

const struct driver DRIVE_ACP = { .talks = true,
	                          .open = open_talk,
	                          .hear = hear,
	                          .look = look,
	                          .leave = leave,
	                          .rest = rest,
	                          .close = close_talk };
