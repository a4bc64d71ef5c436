#include "prompts.h"

#include "clock.h"
#include "returning.h"
#include "sql/agent_input.h"

#include <string.h>

/* ---- rows ---- */

int prompts_begin(struct runner *r, const struct agent_talk_row *row, bool is_new, struct err *e)
{
	struct store *st = &r->w.store;
	const struct agent_input_insert_args task = { .session = row->session_seq,
		                                      .kind = AGENT_INPUT_KIND_TASK,
		                                      .text = row->prompt };
	int had = sql_agent_input_any(st, row->session_seq, e);

	if (had)
		return had < 0 ? -1 : returning_write(r, row, is_new, e);
	return row->prompt && sql_agent_input_insert(st, &task, e) < 0 ? -1 : 0;
}

int prompts_add_words(struct runner *r, const struct agent_talk_row *row,
                      const struct agent_question_decided_row *q, struct err *e)
{
	const char *words = q->state == REQUEST_STATE_APPROVED ? q->instruction : q->reason;
	OWNED(str) struct str text = { 0 };

	if (row->protocol != AGENT_RUN_PROTOCOL_ACP || q->kind != REQUEST_KIND_PERMISSION ||
	    q->is_told)
		return 0;
	if (q->state == REQUEST_STATE_EXPIRED)
		str_addf(&text, "Nobody answered \"%s\" in time; that was no approval.", q->title);
	else if (words && words[0] && q->chosen)
		str_addf(&text, "The operator answered \"%s\" with \"%s\" and said: %s", q->title,
		         q->chosen, words);
	else if (words && words[0])
		str_addf(&text, "The operator %s \"%s\" and said: %s", request_state_name(q->state),
		         q->title, words);
	const struct agent_input_insert_args said = { .session = row->session_seq,
		                                      .kind = AGENT_INPUT_KIND_WORDS,
		                                      .text = text.bytes,
		                                      .request_seq = q->request_seq };
	return text.length && sql_agent_input_insert(&r->w.store, &said, e) < 0 ? -1 : 0;
}

int prompts_ended(struct runner *r, struct err *e)
{
	return sql_agent_input_end(&r->w.store, r->w.row, e);
}

/* ---- sending ---- */

/* It is sent, and a turn begins. 1, 0: it was sent already, -1. */
static int begin_turn(struct runner *r, struct said *s, int64_t input, struct err *e)
{
	int sent = sql_agent_input_send(&r->w.store, r->w.row, input, e);

	return sent > 0 && said_begin(s, &r->w.store, input, e) ? -1 : sent;
}

/* One that is a row already. */
static int send_row(struct runner *r, struct acp *a, struct said *s,
                    const struct agent_input_next_row *input, struct err *e)
{
	const struct said before = *s;
	struct store *st = &r->w.store;
	int sent;

	if (store_begin(st, e))
		return -1;
	sent = begin_turn(r, s, input->seq, e);
	if (store_end(&r->w.store, sent < 0, e)) {
		*s = before;
		return -1;
	}
	return sent > 0 && acp_prompt(a, input->text, clock_monotonic_ms(), e) ? -1 : sent;
}

static int tell(struct runner *r, const struct agent_talk_row *row, struct said *s,
                const struct agent_talk_next_row *said, struct err *e)
{
	struct store *st = &r->w.store;
	int told = sql_agent_talk_tell(st, r->w.row, said->seq, e);
	const struct agent_input_insert_args args = { .session = row->session_seq,
		                                      .kind = AGENT_INPUT_KIND_STEER,
		                                      .steering_seq = said->seq };
	int64_t input;

	if (told <= 0)
		return told;
	input = sql_agent_input_insert(st, &args, e);
	return input < 0 ? -1 : begin_turn(r, s, input, e);
}

/* What the operator has said. */
static int send_said(struct runner *r, const struct agent_talk_row *row, struct acp *a,
                     struct said *s, const struct agent_talk_next_row *said, struct err *e)
{
	const struct said before = *s;
	int64_t now_ms = clock_monotonic_ms();
	int told;

	if (store_begin(&r->w.store, e))
		return -1;
	told = tell(r, row, s, said, e);
	if (store_end(&r->w.store, told < 0, e)) {
		*s = before;
		return -1;
	}
	if (told > 0 && strcmp(said->kind, "nudge") == 0)
		told = acp_nudge(a, said->text, now_ms, e) ? -1 : 1;
	else if (told > 0)
		told = acp_prompt(a, said->text, now_ms, e) ? -1 : 1;
	return told;
}

/* A turn that hangs is ended for a nudge, also one behind other words; anything else waits for its
 * end, and so does a nudge of an earlier turn. */
static int wait_for_turn(struct runner *r, int64_t session, struct acp *a, struct err *e)
{
	int nudged =
	    a->asks || a->cancelled ? 0 : sql_agent_talk_nudged(&r->w.store, session, r->w.row, e);

	if (nudged > 0)
		acp_cancel(a, "nudged", clock_monotonic_ms());
	return nudged;
}

/* What waits to be told, in rows of `agent_input`, then in those of `steering`. */
static int send_next(struct runner *r, const struct agent_talk_row *row, struct acp *a,
                     struct said *s, struct err *e)
{
	OWNED(agent_input_next_row) struct agent_input_next_row input = { 0 };
	OWNED(agent_talk_next_row) struct agent_talk_next_row said = { 0 };
	int got = a->turn_open ? 0 : sql_agent_input_next(&r->w.store, row->session_seq, &input, e);

	if (got)
		return got < 0 ? -1 : send_row(r, a, s, &input, e);
	got = sql_agent_talk_next(&r->w.store, row->session_seq, &said, e);
	if (got <= 0)
		return got;
	return a->turn_open ? wait_for_turn(r, row->session_seq, a, e)
	                    : send_said(r, row, a, s, &said, e);
}

/* Whether the agent waits for an answer, and takes nothing else. acp-stream takes words any time.
 */
static bool waits(const struct acp *a)
{
	return a->asks && a->how.dialect == ACP_STANDARD;
}

int prompts_next(struct runner *r, const struct agent_talk_row *row, struct acp *a, struct said *s,
                 struct err *e)
{
	int got = sql_agent_talk_is_paused(&r->w.store, row->session_seq, e);

	if (a->step != ACP_STEP_OPEN || waits(a) || got)
		return got < 0 ? -1 : 0;
	got = row->generation > 1 ? returning_add_late(r, row, e) : 0;
	return got ? got : send_next(r, row, a, s, e);
}
