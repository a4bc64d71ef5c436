#include "outbox.h"

#include "random.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A burst and what follows it are within 50 and 100 in any minute. */
enum { BURST = 8, UPDATE_GAP_MS = 1500, CALL_GAP_MS = 700 };
enum { REFUSED_MS = 60000 }; /* rest of a lane whose head the rules refuse */

static const char NEVER_CLEAR[] = "nobody can tell whether Slack has it, and it is not repeated";

static bool is(const char *text, const char *other)
{
	return text && strcmp(text, other) == 0;
}

/* ---- reading ---- */

static void read_message(stmt *s, struct slack_intent *i)
{
	i->marker = col_copy(s, SLACK_OUTBOX_READ_MARKER);
	i->part = col_copy(s, SLACK_OUTBOX_READ_PART);
	i->session_seq = col_int(s, SLACK_OUTBOX_READ_SESSION_SEQ);
	i->request_seq = col_int(s, SLACK_OUTBOX_READ_REQUEST_SEQ);
	i->apply_seq = col_int(s, SLACK_OUTBOX_READ_APPLY_SEQ);
	i->call_seq = col_int(s, SLACK_OUTBOX_READ_CALL_SEQ);
	i->channel_id = col_copy(s, SLACK_OUTBOX_READ_CHANNEL_ID);
	i->root_seq = col_int(s, SLACK_OUTBOX_READ_ROOT_SEQ);
	i->thread = col_copy(s, SLACK_OUTBOX_READ_THREAD);
	i->text = col_copy(s, SLACK_OUTBOX_READ_TEXT);
	i->detail = col_copy(s, SLACK_OUTBOX_READ_DETAIL);
	i->content_seq = col_int(s, SLACK_OUTBOX_READ_CONTENT_SEQ);
	i->file_name = col_copy(s, SLACK_OUTBOX_READ_FILE_NAME);
	i->file_id = col_copy(s, SLACK_OUTBOX_READ_FILE_ID);
	i->ts = col_copy(s, SLACK_OUTBOX_READ_TS);
	i->sent_generation = col_int(s, SLACK_OUTBOX_READ_SENT_GENERATION);
	i->message_state = col_copy(s, SLACK_OUTBOX_READ_MESSAGE_STATE);
	i->head_kind = col_copy(s, SLACK_OUTBOX_READ_HEAD_KIND);
}

static void read_intent(stmt *s, struct slack_intent *i)
{
	OWNED(str) struct str gate = STR_INIT;

	i->kind = col_copy(s, SLACK_OUTBOX_READ_KIND);
	i->class = col_copy(s, SLACK_OUTBOX_READ_CLASS);
	i->message_seq = col_int(s, SLACK_OUTBOX_READ_MESSAGE_SEQ);
	i->view = col_copy(s, SLACK_OUTBOX_READ_VIEW);
	i->to_channel = col_copy(s, SLACK_OUTBOX_READ_TO_CHANNEL);
	i->to_thread = col_copy(s, SLACK_OUTBOX_READ_TO_THREAD);
	i->user_id = col_copy(s, SLACK_OUTBOX_READ_USER_ID);
	i->words = col_copy(s, SLACK_OUTBOX_READ_WORDS);
	i->replaces = col_int(s, SLACK_OUTBOX_READ_REPLACES) != 0;
	i->trigger_id = col_copy(s, SLACK_OUTBOX_READ_TRIGGER_ID);
	i->response_url = col_copy(s, SLACK_OUTBOX_READ_RESPONSE_URL);
	i->expires_at = col_copy(s, SLACK_OUTBOX_READ_EXPIRES_AT);
	i->state = col_copy(s, SLACK_OUTBOX_READ_STATE);
	i->form = col_copy(s, SLACK_OUTBOX_READ_FORM);
	i->generation = col_int(s, SLACK_OUTBOX_READ_GENERATION);
	i->claim = col_int(s, SLACK_OUTBOX_READ_CLAIM);
	i->attempts = (int)col_int(s, SLACK_OUTBOX_READ_ATTEMPTS);
	i->deaths = (int)col_int(s, SLACK_OUTBOX_READ_DEATHS);
	i->lookups = (int)col_int(s, SLACK_OUTBOX_READ_LOOKUPS);
	i->started_at = col_copy(s, SLACK_OUTBOX_READ_STARTED_AT);
	i->may_repeat = col_int(s, SLACK_OUTBOX_READ_MAY_REPEAT) != 0;
	i->lane_seq = col_int(s, SLACK_OUTBOX_READ_LANE_SEQ);
	read_message(s, i);
	if (!i->message_seq) {
		i->request_seq = col_int(s, SLACK_OUTBOX_READ_VIEW_REQUEST);
		i->session_seq = col_int(s, SLACK_OUTBOX_READ_VIEW_SESSION);
	}
	str_add(&gate, col_text(s, SLACK_OUTBOX_READ_GATE));
	if (strcmp(i->class, "lookup") == 0)
		str_addf(&gate, " %s", i->channel_id);
	i->gate = str_take(&gate);
}

int slack_intent_read(struct store *st, int64_t seq, struct slack_intent *i, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SLACK_OUTBOX_READ);
	int got;

	slack_intent_clear(i);
	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		i->seq = seq;
		read_intent(s, i);
	}
	stmt_reset(s);
	return got;
}

void slack_intent_clear(struct slack_intent *i)
{
	char *const owned[] = { i->kind,       i->class,      i->gate,       i->state,
		                i->form,       i->view,       i->to_channel, i->to_thread,
		                i->user_id,    i->words,      i->trigger_id, i->response_url,
		                i->expires_at, i->started_at, i->marker,     i->part,
		                i->channel_id, i->thread,     i->text,       i->detail,
		                i->file_name,  i->file_id,    i->ts,         i->message_state,
		                i->head_kind };

	for (size_t k = 0; k < COUNT(owned); k++)
		free(owned[k]);
	*i = (struct slack_intent)SLACK_INTENT_INIT;
}

/* ---- claiming ---- */

static int64_t one_seq(stmt *s, struct err *e)
{
	int got = stmt_row(s, e);
	int64_t seq = got > 0 ? col_int(s, 0) : got;

	stmt_reset(s);
	return seq;
}

static int64_t next_of(const struct slack_outbox *o, const char *slot, struct err *e)
{
	stmt *s = store_stmt(o->store, SQL_SLACK_LANE_NEXT);

	bind_text(s, ":slot", slot);
	return one_seq(s, e);
}

/* A long one goes alone. */
static bool may_join(stmt *s, int64_t leader, int64_t *left)
{
	const char *part = col_text(s, SLACK_OUTBOX_FOLLOWERS_PART);

	if (col_is_null(s, SLACK_OUTBOX_FOLLOWERS_SIZE))
		return false;
	*left -= col_int(s, SLACK_OUTBOX_FOLLOWERS_SIZE);
	return *left >= 0 && part && strcmp(part, "said") == 0 &&
	       col_is_null(s, SLACK_OUTBOX_FOLLOWERS_THREAD_TS) &&
	       (col_is_null(s, SLACK_OUTBOX_FOLLOWERS_LEADER_SEQ) ||
	        col_int(s, SLACK_OUTBOX_FOLLOWERS_LEADER_SEQ) == leader);
}

/* Bytes of a call's arguments; INT_MAX: too many to tell. -1 on error. */
static int size_of(const struct slack_outbox *o, int64_t call, struct err *e)
{
	stmt *s = store_stmt(o->store, SQL_SLACK_CALL_SIZE);
	int got, size = INT_MAX;

	bind_int(s, ":seq", call);
	got = stmt_row(s, e);
	if (got > 0 && !col_is_null(s, SLACK_CALL_SIZE_SIZE))
		size = (int)col_int(s, SLACK_CALL_SIZE_SIZE);
	stmt_reset(s);
	return got < 0 ? -1 : size;
}

/* Broadcasts that stand right behind this one are said with it. An attempt that was made before
 * says the same again, or it would not be found. */
static int gather(const struct slack_outbox *o, const struct slack_intent *i, struct err *e)
{
	int64_t seqs[SLACK_BURST_MAX];
	int64_t left = SLACK_BURST_BYTES;
	size_t count = 0;
	stmt *s;
	int got;

	if (!i->part || strcmp(i->part, "said") != 0 || !i->root_seq || i->attempts > 1)
		return 0;
	got = size_of(o, i->call_seq, e);
	if (got < 0 || got > left)
		return got < 0 ? -1 : 0;
	left -= got;
	s = store_stmt(o->store, SQL_SLACK_OUTBOX_FOLLOWERS);
	bind_int(s, ":lane", i->lane_seq);
	bind_int(s, ":seq", i->seq);
	bind_int(s, ":limit", SLACK_BURST_MAX - 1);
	while ((got = stmt_row(s, e)) > 0 && may_join(s, i->seq, &left))
		seqs[count++] = col_int(s, SLACK_OUTBOX_FOLLOWERS_SEQ);
	stmt_reset(s);
	for (size_t k = 0; k < count && got >= 0; k++) {
		s = store_stmt(o->store, SQL_SLACK_OUTBOX_LEAD);
		bind_int(s, ":seq", seqs[k]);
		bind_int(s, ":leader", i->seq);
		got = stmt_run(s, e);
	}
	return got < 0 ? -1 : 0;
}

static int claim(const struct slack_outbox *o, int64_t seq, struct slack_intent *i, struct err *e)
{
	stmt *s = store_stmt(o->store, SQL_SLACK_OUTBOX_CLAIM);
	int did;

	bind_int(s, ":seq", seq);
	bind_text(s, ":worker", o->worker_id);
	did = stmt_run(s, e);
	if (did <= 0)
		return did;
	if (slack_intent_read(o->store, seq, i, e) < 0 || gather(o, i, e))
		return -1;
	return 1;
}

/* The other lanes go first for a while. */
static void let_lane_rest(const struct slack_outbox *o, int64_t seq)
{
	struct instant due = clock_instant(clock_now_ms() + REFUSED_MS);
	stmt *s;

	if (store_begin(o->store, NULL))
		return;
	s = store_stmt(o->store, SQL_SLACK_LANE_REST);
	bind_text(s, ":due_at", due.text);
	bind_int(s, ":seq", seq);
	if (stmt_run(s, NULL) < 0)
		store_rollback(o->store);
	else
		(void)store_commit(o->store, NULL);
}

/* The rules refuse that the head of a lane is claimed: it is dead, so that what stands behind it is
 * not held up; if they refuse that too, its lane rests. */
static void give_up(const struct slack_outbox *o, int64_t seq, const char *why)
{
	OWNED(slack_intent) struct slack_intent i = SLACK_INTENT_INIT;

	if (slack_intent_read(o->store, seq, &i, NULL) <= 0 ||
	    slack_settle_dead(o, &i, why, NULL, NULL))
		let_lane_rest(o, seq);
}

int slack_outbox_claim(const struct slack_outbox *o, const char *slot, struct slack_intent *i,
                       struct err *e)
{
	int64_t seq = next_of(o, slot, e); /* without a lock: an idle look writes nothing */
	int did;

	if (seq <= 0)
		return (int)seq;
	if (store_begin(o->store, e))
		return -1;
	seq = next_of(o, slot, e);
	did = seq > 0 ? claim(o, seq, i, e) : (int)seq;
	if (did <= 0) {
		store_rollback(o->store);
		if (did < 0 && e->kind == ERR_REFUSED)
			give_up(o, seq, e->text);
		return did;
	}
	return store_commit(o->store, e) ? -1 : 1;
}

int slack_outbox_doubtful(const struct slack_outbox *o, struct slack_intent *i, struct err *e)
{
	int64_t seq = one_seq(store_stmt(o->store, SQL_SLACK_OUTBOX_DOUBTFUL), e);

	return seq > 0 ? slack_intent_read(o->store, seq, i, e) : (int)seq;
}

/* The instant in the only column: unix ms, 0 for '', INT64_MAX for none, -1. */
static int64_t one_instant(stmt *s, struct err *e)
{
	int got = stmt_row(s, e);
	const char *at = got > 0 ? col_text(s, 0) : NULL;
	int64_t ms = INT64_MAX;

	if (at)
		ms = *at ? clock_parse(at) : 0;
	stmt_reset(s);
	return got < 0 ? -1 : ms;
}

int64_t slack_outbox_due(const struct slack_outbox *o, struct err *e)
{
	int64_t lane = one_instant(store_stmt(o->store, SQL_SLACK_LANE_DUE), e);
	int64_t doubt = one_instant(store_stmt(o->store, SQL_SLACK_OUTBOX_DOUBT_DUE), e);

	if (lane < 0 || doubt < 0)
		return -1;
	return lane < doubt ? lane : doubt;
}

/* ---- small steps of a settle, inside its transaction ---- */

static int64_t from_now(int64_t ms)
{
	return clock_now_ms() + ms;
}

static int with_seq(const struct slack_outbox *o, enum sql which, const char *name, int64_t seq,
                    struct err *e)
{
	stmt *s = store_stmt(o->store, which);

	bind_int(s, name, seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static stmt *fenced(const struct slack_outbox *o, enum sql which, const struct slack_intent *i)
{
	stmt *s = store_stmt(o->store, which);

	bind_int(s, ":seq", i->seq);
	bind_int(s, ":claim", i->claim);
	return s;
}

static int put_back(const struct slack_outbox *o, const struct slack_intent *i, const char *form,
                    int64_t delay_ms, bool may_repeat, const char *why, struct err *e)
{
	struct instant due = clock_instant(from_now(delay_ms));
	stmt *s = fenced(o, SQL_SLACK_OUTBOX_PUT_BACK, i);

	bind_text(s, ":form", form);
	bind_text(s, ":due_at", delay_ms > 0 ? due.text : NULL);
	bind_text(s, ":error", why);
	bind_int(s, ":may_repeat", may_repeat);
	return stmt_run(s, e);
}

static int doubt(const struct slack_outbox *o, const struct slack_intent *i, int64_t at_ms,
                 int lookups, const char *why, struct err *e)
{
	struct instant due = clock_instant(at_ms);
	stmt *s = fenced(o, SQL_SLACK_OUTBOX_DOUBT, i);

	bind_text(s, ":due_at", due.text);
	bind_text(s, ":error", why);
	bind_int(s, ":lookups", lookups);
	return stmt_run(s, e);
}

/* Doubling, with full jitter: somewhere below, but never at once. */
static int64_t backoff_ms(int failures)
{
	int64_t most = SLACK_BACKOFF_MS;

	for (int k = 1; k < failures && most < SLACK_BACKOFF_MAX_MS; k++)
		most *= 2;
	if (most > SLACK_BACKOFF_MAX_MS)
		most = SLACK_BACKOFF_MAX_MS;
	return most / 4 + random_below(most * 3 / 4);
}

static int strikes_of(const struct slack_outbox *o, const char *gate, struct err *e)
{
	stmt *s = store_stmt(o->store, SQL_SLACK_GATE_READ);

	bind_text(s, ":name", gate);
	return (int)stmt_number(s, SLACK_GATE_READ_STRIKES, e);
}

/* why: NULL where a person need not know. */
static int close_gate(const struct slack_outbox *o, const char *gate, int64_t ms, const char *why,
                      struct err *e)
{
	struct instant at = clock_instant(from_now(ms));
	stmt *s = store_stmt(o->store, SQL_SLACK_GATE_CLOSE);

	bind_text(s, ":name", gate);
	bind_text(s, ":not_before", at.text);
	bind_text(s, ":why", why);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* What a gate lets through: one post a second; of the other methods a burst, then as many a minute
 * as Slack allows. */
static int pass_gate(const struct slack_outbox *o, const struct slack_intent *i, struct err *e)
{
	int64_t now_ms = clock_now_ms(), gap = CALL_GAP_MS, spent = 0, open = 0;
	stmt *s = store_stmt(o->store, SQL_SLACK_GATE_READ);
	struct instant spent_at, open_at;
	int got;

	bind_text(s, ":name", i->gate);
	got = stmt_row(s, e);
	if (got > 0)
		spent = clock_parse(col_text(s, SLACK_GATE_READ_SPENT_AT));
	stmt_reset(s);
	if (got < 0)
		return -1;
	if (strncmp(i->gate, "chat.update", 11) == 0 || strncmp(i->gate, "chat.delete", 11) == 0)
		gap = UPDATE_GAP_MS;
	spent = (spent > now_ms ? spent : now_ms) + gap;
	open = spent - BURST * gap;
	if (strcmp(i->class, "lookup") == 0)
		open = now_ms + SLACK_POST_GAP_MS;
	spent_at = clock_instant(spent);
	open_at = clock_instant(open);
	s = store_stmt(o->store, SQL_SLACK_GATE_PASS);
	bind_text(s, ":name", i->gate);
	bind_text(s, ":spent_at", spent_at.text);
	bind_text(s, ":not_before", open > now_ms ? open_at.text : "");
	if (stmt_run(s, e) < 0)
		return -1;
	s = store_stmt(o->store, SQL_SLACK_GATE_OPEN);
	bind_text(s, ":name", "slack");
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* ---- transactions ---- */

struct settlement {
	const struct slack_outbox *o;
	const struct slack_intent *i;
	const struct slack_call *c;
	const char *ts, *why, *words;
};

/* Runs step (0 done, -1 error) as one transaction. */
static int settle(const struct settlement *t,
                  int (*step)(const struct settlement *t, struct err *e), struct err *e)
{
	if (store_begin(t->o->store, e))
		return -1;
	if (step(t, e)) {
		store_rollback(t->o->store);
		return -1;
	}
	return store_commit(t->o->store, e);
}

/* ---- sent ---- */

static int message_sent(const struct settlement *t, int64_t message, const char *ts,
                        int64_t generation, struct err *e)
{
	stmt *s = store_stmt(t->o->store, SQL_SLACK_MESSAGE_SENT);

	bind_int(s, ":seq", message);
	bind_text(s, ":ts", ts);
	bind_int(s, ":generation", generation);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* What other rows know a message by. */
static int note_ts(const struct settlement *t, struct err *e)
{
	stmt *s = NULL;

	if (!t->ts)
		return 0;
	if (strcmp(t->i->part, "session") == 0) {
		s = store_stmt(t->o->store, SQL_SLACK_SESSION_THREAD);
		bind_int(s, ":session", t->i->session_seq);
	} else if (strcmp(t->i->part, "ask") == 0) {
		s = store_stmt(t->o->store, SQL_SLACK_REQUEST_TS);
		bind_int(s, ":request", t->i->request_seq);
	}
	if (!s)
		return 0;
	bind_text(s, ":ts", t->ts);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int led_sent(const struct settlement *t, struct err *e)
{
	int64_t messages[SLACK_BURST_MAX];
	size_t count = 0;
	stmt *s = store_stmt(t->o->store, SQL_SLACK_OUTBOX_LED);
	int got;

	bind_int(s, ":leader", t->i->seq);
	while ((got = stmt_row(s, e)) > 0 && count < SLACK_BURST_MAX)
		messages[count++] = col_int(s, SLACK_OUTBOX_LED_MESSAGE_SEQ);
	stmt_reset(s);
	for (size_t k = 0; k < count && got >= 0; k++)
		got = message_sent(t, messages[k], t->ts, 1, e);
	if (got < 0 || count == 0)
		return got < 0 ? -1 : 0;
	return with_seq(t->o, SQL_SLACK_OUTBOX_LED_SENT, ":leader", t->i->seq, e);
}

static int settle_sent(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;
	int did = stmt_run(fenced(t->o, SQL_SLACK_OUTBOX_SENT, i), e);

	if (did <= 0)
		return did;
	if (strcmp(i->kind, "update") == 0) {
		stmt *s = store_stmt(t->o->store, SQL_SLACK_MESSAGE_EDITED);

		bind_int(s, ":seq", i->message_seq);
		bind_int(s, ":generation", i->generation);
		if (stmt_run(s, e) < 0)
			return -1;
	} else if (strcmp(i->class, "lookup") == 0 &&
	           (message_sent(t, i->message_seq, t->ts, i->generation, e) || note_ts(t, e) ||
	            led_sent(t, e))) {
		return -1;
	}
	return pass_gate(t->o, i, e);
}

static int settle_needless(const struct settlement *t, struct err *e)
{
	int did = stmt_run(fenced(t->o, SQL_SLACK_OUTBOX_SENT, t->i), e);

	if (did <= 0 || strcmp(t->i->class, "lookup") != 0)
		return did < 0 ? -1 : 0;
	return message_sent(t, t->i->message_seq, NULL, t->i->generation, e);
}

int slack_settle_needless(const struct slack_outbox *o, const struct slack_intent *i, struct err *e)
{
	struct settlement t = { .o = o, .i = i };

	return settle(&t, settle_needless, e);
}

int slack_settle_sent(const struct slack_outbox *o, const struct slack_intent *i, const char *ts,
                      struct err *e)
{
	struct settlement t = { .o = o, .i = i, .ts = ts };

	return settle(&t, settle_sent, e);
}

/* ---- dead ---- */

static int tell(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;
	stmt *s;

	if (!t->words || !i->to_channel || !i->user_id)
		return 0;
	s = store_stmt(t->o->store, SQL_SLACK_OUTBOX_VIEW_SENT);
	bind_text(s, ":channel", i->to_channel);
	bind_text(s, ":thread", i->to_thread);
	bind_text(s, ":user", i->user_id);
	bind_text(s, ":text", t->words);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* What waits below it dies with it, and whoever waits for an answer to that is told. */
static int bury(const struct settlement *t, int64_t head, struct err *e)
{
	return with_seq(t->o, SQL_SLACK_HEAD_BURY, ":head", head, e) ||
	               with_seq(t->o, SQL_SLACK_HEAD_BURY_CALLS, ":head", head, e) ||
	               with_seq(t->o, SQL_SLACK_HEAD_BURY_MESSAGES, ":head", head, e)
	           ? -1
	           : 0;
}

/* The thread's head is dead or gone: another one, below which everything that waits is said. */
static int head_anew(const struct settlement *t, int64_t head, int64_t session, const char *channel,
                     struct err *e)
{
	stmt *s = store_stmt(t->o->store, SQL_SLACK_HEAD_TRIES);
	int64_t fresh;

	bind_int(s, ":session", session);
	if (one_seq(s, e) >= SLACK_DEATHS_MAX)
		return bury(t, head, e);
	if (with_seq(t->o, SQL_SLACK_HEAD_ANEW, ":head", head, e))
		return -1;
	/* Triggers insert behind it; this is the message all the same. */
	fresh = store_last_seq(t->o->store);
	s = store_stmt(t->o->store, SQL_SLACK_HEAD_MOVE_MESSAGES);
	bind_int(s, ":head", head);
	bind_int(s, ":new", fresh);
	if (stmt_run(s, e) < 0)
		return -1;
	s = store_stmt(t->o->store, SQL_SLACK_HEAD_MOVE_LANE);
	bind_int(s, ":head", head);
	bind_int(s, ":new", fresh);
	bind_text(s, ":channel", channel);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int settle_dead(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;
	stmt *s = fenced(t->o, SQL_SLACK_OUTBOX_DIE, i);
	int did;

	bind_text(s, ":error", t->why);
	did = stmt_run(s, e);
	if (did <= 0)
		return did;
	if (strcmp(i->class, "lookup") == 0 &&
	    (with_seq(t->o, SQL_SLACK_MESSAGE_DEAD, ":seq", i->message_seq, e) ||
	     with_seq(t->o, SQL_SLACK_OUTBOX_ORPHAN, ":message", i->message_seq, e) ||
	     with_seq(t->o, SQL_SLACK_OUTBOX_LED_ALONE, ":leader", i->seq, e)))
		return -1;
	if (i->part && strcmp(i->class, "lookup") == 0 && strcmp(i->part, "session") == 0 &&
	    head_anew(t, i->message_seq, i->session_seq, i->channel_id, e))
		return -1;
	if (i->part && strcmp(i->class, "lookup") == 0 && strcmp(i->part, "ask") == 0 &&
	    (with_seq(t->o, SQL_SLACK_REFUSED_CALLS, ":message", i->message_seq, e) ||
	     bury(t, i->message_seq, e)))
		return -1;
	if (is(i->part, "diff") &&
	    with_seq(t->o, SQL_SLACK_ASK_CHANGED, ":request", i->request_seq, e))
		return -1;
	return tell(t, e);
}

int slack_settle_dead(const struct slack_outbox *o, const struct slack_intent *i, const char *why,
                      const char *words, struct err *e)
{
	struct settlement t = { .o = o, .i = i, .why = why, .words = words };

	return settle(&t, settle_dead, e);
}

/* ---- failed ---- */

static int dies(const struct settlement *t, const char *why, const char *words, struct err *e)
{
	struct settlement dead = *t;

	dead.why = why;
	dead.words = words;
	return settle_dead(&dead, e);
}

/* Too fast: this method (or channel) waits; recurring at once, all channels do. */
static int failed_rate(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;
	int64_t wait_ms = t->c->retry_ms + random_below(1000);
	struct instant until = clock_instant(from_now(wait_ms));
	int strikes = strikes_of(t->o, i->gate, e);

	if (strikes < 0 || put_back(t->o, i, i->form, 0, i->may_repeat, t->c->why, e) < 0 ||
	    close_gate(t->o, i->gate, wait_ms, strikes >= 2 ? "Slack is throttling us" : NULL, e))
		return -1;
	if (strikes >= 1 && is(i->class, "lookup")) {
		stmt *s = store_stmt(t->o->store, SQL_SLACK_GATE_CLOSE_POSTS);

		bind_text(s, ":not_before", until.text);
		return stmt_run(s, e) < 0 ? -1 : 0;
	}
	return 0;
}

/* Nobody was reached: nothing else will get through either. */
static int failed_sure(const struct settlement *t, struct err *e)
{
	int strikes = strikes_of(t->o, "slack", e);

	if (strikes < 0 || put_back(t->o, t->i, t->i->form, 0, t->i->may_repeat, t->c->why, e) < 0)
		return -1;
	return close_gate(t->o, "slack", backoff_ms(strikes + 1), t->c->why, e);
}

static int failed_unknown(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;
	int strikes;

	if (is(i->class, "repeatable"))
		return put_back(t->o, i, i->form, backoff_ms(i->attempts), false, t->c->why, e) < 0
		           ? -1
		           : 0;
	if (is(i->kind, "file") && !i->file_id) /* not shared yet: begun anew */
		return put_back(t->o, i, i->form, backoff_ms(i->attempts), false, t->c->why, e) < 0
		           ? -1
		           : 0;
	if (is(i->class, "once"))
		return dies(t, NEVER_CLEAR,
		            "It is not clear whether your form opened. If not, press again.", e);
	strikes = strikes_of(t->o, i->gate, e);
	if (strikes < 0 || doubt(t->o, i, from_now(SLACK_LOOK_MS), 0, t->c->why, e) < 0)
		return -1;
	return close_gate(t->o, i->gate, SLACK_POST_GAP_MS + backoff_ms(strikes), NULL, e);
}

/* The token or the channel: a person must act. Tried once a minute. */
static int failed_parked(const struct settlement *t, const char *gate, const char *what,
                         struct err *e)
{
	const struct slack_intent *i = t->i;
	OWNED(str) struct str why = STR_INIT;

	str_addf(&why, "%s: %s", what, t->c->why);
	if (is(t->c->error, "not_in_channel"))
		str_add(&why, ", invite the app there with /invite");
	else if (is(t->c->error, "channel_not_found"))
		str_add(&why,
		        ", is it private and the app not invited, or a name instead of an id?");
	/* A question does without its file; only a message that cannot be posted waits. */
	if (is(i->class, "once") || (is(i->kind, "file") && is(t->c->error, "missing_scope")))
		return dies(t, str_text(&why), NULL, e);
	/* An edit waits alone: its gate is that of all channels. */
	if (is(i->class, "repeatable") && t->c->class == SLACK_PLACE)
		return put_back(t->o, i, i->form, SLACK_PARKED_MS, false, str_text(&why), e) < 0
		           ? -1
		           : 0;
	if (put_back(t->o, i, i->form, 0, i->may_repeat, str_text(&why), e) < 0)
		return -1;
	return close_gate(t->o, gate, SLACK_PARKED_MS, str_text(&why), e);
}

/* What it should change, or stand below, no longer exists. */
static int failed_thread(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;

	if (!is(i->class, "lookup")) {
		if (i->message_seq &&
		    (with_seq(t->o, SQL_SLACK_MESSAGE_GONE, ":seq", i->message_seq, e) ||
		     with_seq(t->o, SQL_SLACK_ASK_ANEW, ":message", i->message_seq, e)))
			return -1;
		return dies(t, t->c->why, NULL, e);
	}
	if (!is(i->head_kind, "session"))
		return dies(t, t->c->why, NULL, e);
	if (put_back(t->o, i, i->form, 0, i->may_repeat, t->c->why, e) < 0 ||
	    with_seq(t->o, SQL_SLACK_MESSAGE_GONE, ":seq", i->root_seq, e))
		return -1;
	return head_anew(t, i->root_seq, i->session_seq, i->channel_id, e);
}

/* Slack does not take what we said: said more simply, at last given up. */
static int failed_ours(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;
	const char *simpler = is(i->form, "blocks")                        ? "plain"
	                      : is(i->form, "plain") && is(i->part, "ask") ? "line"
	                                                                   : NULL;

	if (is(i->kind, "view_open")) {
		if (is(t->c->error, "exchanged_trigger_id"))
			return stmt_run(fenced(t->o, SQL_SLACK_OUTBOX_SENT, i), e) < 0 ? -1 : 0;
		return dies(t, t->c->why, "That took too long. Press the button again.", e);
	}
	if (is(i->class, "once") || is(i->kind, "file") || !simpler)
		return dies(t, t->c->why, NULL, e);
	return put_back(t->o, i, simpler, 0, i->may_repeat, t->c->why, e) < 0 ? -1 : 0;
}

/* A refused message counts like one that was taken. */
static int keep_gap(const struct settlement *t, struct err *e)
{
	struct instant at = clock_instant(from_now(SLACK_POST_GAP_MS));
	stmt *s;

	if (!is(t->i->class, "lookup") || t->c->class == SLACK_SURE)
		return 0;
	s = store_stmt(t->o->store, SQL_SLACK_GATE_GAP);
	bind_text(s, ":name", t->i->gate);
	bind_text(s, ":not_before", at.text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int settle_failed(const struct settlement *t, struct err *e)
{
	if (keep_gap(t, e))
		return -1;
	switch (t->c->class) {
	case SLACK_RATE:
		return failed_rate(t, e);
	case SLACK_SURE:
		return is(t->i->class, "once") && is(t->i->kind, "view_open")
		           ? dies(t, t->c->why, "Slack was not reached in time. Press again.", e)
		           : failed_sure(t, e);
	case SLACK_UNKNOWN:
		return failed_unknown(t, e);
	case SLACK_TOKEN:
		return failed_parked(t, "slack", "Slack refuses the bot token", e);
	case SLACK_PLACE:
		return failed_parked(t, t->i->gate, "Slack refuses the channel", e);
	case SLACK_THREAD:
		return failed_thread(t, e);
	case SLACK_OK:
	case SLACK_OURS:
		break;
	}
	return failed_ours(t, e);
}

int slack_settle_failed(const struct slack_outbox *o, const struct slack_intent *i,
                        const struct slack_call *c, struct err *e)
{
	struct settlement t = { .o = o, .i = i, .c = c };

	return settle(&t, settle_failed, e);
}

/* ---- in doubt ---- */

static int64_t started_ms(const struct slack_intent *i)
{
	int64_t ms = i->started_at ? clock_parse(i->started_at) : -1;

	return ms < 0 ? clock_now_ms() : ms;
}

/* Not there twice, the second time long enough after the attempt: it was not said. */
static int settle_missing(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;
	int64_t again = started_ms(i) + SLACK_LOOK_AGAIN_MS, now_ms = clock_now_ms();

	if (i->lookups > 0 && now_ms >= again) {
		stmt *s;

		if (!i->file_id)
			return put_back(t->o, i, i->form, 0, false, "was not said", e) < 0 ? -1 : 0;
		s = store_stmt(t->o->store, SQL_SLACK_MESSAGE_UPLOADED);
		bind_int(s, ":seq", i->message_seq);
		bind_null(s, ":file_id");
		if (stmt_run(s, e) < 0)
			return -1;
		return put_back(t->o, i, i->form, 0, false, "was not shared", e) < 0 ? -1 : 0;
	}
	if (again < now_ms + SLACK_LOOK_MS)
		again = now_ms + SLACK_LOOK_MS;
	return doubt(t->o, i, again, i->lookups + 1, "was not found in Slack yet", e) < 0 ? -1 : 0;
}

int slack_settle_missing(const struct slack_outbox *o, const struct slack_intent *i, struct err *e)
{
	struct settlement t = { .o = o, .i = i };

	return settle(&t, settle_missing, e);
}

/* A question asked twice is a nuisance, one never asked is a hang: only questions are repeated. */
static int settle_blind(const struct settlement *t, struct err *e)
{
	const struct slack_intent *i = t->i;
	int64_t now_ms = clock_now_ms(), wait_ms = SLACK_LOOK_MS;

	if (t->c->class == SLACK_RATE)
		wait_ms = t->c->retry_ms + random_below(1000);
	else if (t->c->class == SLACK_SURE || t->c->class == SLACK_UNKNOWN)
		wait_ms = backoff_ms(i->attempts + 4);
	else if (now_ms >= started_ms(i) + SLACK_BLIND_MS)
		return is(i->part, "ask") || is(i->part, "stall") || is(i->part, "escalated")
		           ? (put_back(t->o, i, i->form, 0, true, t->c->why, e) < 0 ? -1 : 0)
		           : dies(t, NEVER_CLEAR, NULL, e);
	return doubt(t->o, i, now_ms + wait_ms, i->lookups, t->c->why, e) < 0 ? -1 : 0;
}

int slack_settle_blind(const struct slack_outbox *o, const struct slack_intent *i,
                       const struct slack_call *c, struct err *e)
{
	struct settlement t = { .o = o, .i = i, .c = c };

	return settle(&t, settle_blind, e);
}

/* ---- after a crash ---- */

static int settle_left(const struct settlement *t, struct err *e)
{
	static const char DIED[] = "the poster died with it in hand";
	const struct slack_intent *i = t->i;

	if (with_seq(t->o, SQL_SLACK_OUTBOX_DIED, ":seq", i->seq, e))
		return -1;
	if (i->deaths + 1 >= SLACK_DEATHS_MAX)
		return dies(t, "crashed worker: three posters died with it in hand", NULL, e);
	if (is(i->class, "once"))
		return dies(t, NEVER_CLEAR, "It is not clear whether you were answered. Try again.",
		            e);
	if (is(i->class, "repeatable") || (is(i->kind, "file") && !i->file_id))
		return put_back(t->o, i, i->form, 0, false, DIED, e) < 0 ? -1 : 0;
	return doubt(t->o, i, started_ms(i) + SLACK_LOOK_MS, 0, DIED, e) < 0 ? -1 : 0;
}

int slack_outbox_recover(const struct slack_outbox *o, struct err *e)
{
	for (;;) {
		OWNED(slack_intent) struct slack_intent i = SLACK_INTENT_INIT;
		struct settlement t = { .o = o, .i = &i };
		stmt *s = store_stmt(o->store, SQL_SLACK_OUTBOX_LEFT);
		int64_t seq;

		bind_text(s, ":worker", o->worker_id);
		seq = one_seq(s, e);
		if (seq <= 0)
			return (int)seq;
		if (slack_intent_read(o->store, seq, &i, e) < 0 || settle(&t, settle_left, e))
			return -1;
	}
}

/* ---- the rest ---- */

static int note_file(const struct settlement *t, struct err *e)
{
	stmt *s = store_stmt(t->o->store, SQL_SLACK_MESSAGE_UPLOADED);

	bind_int(s, ":seq", t->i->message_seq);
	bind_text(s, ":file_id", t->why);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int slack_outbox_note_file(const struct slack_outbox *o, const struct slack_intent *i,
                           const char *file_id, struct err *e)
{
	struct settlement t = { .o = o, .i = i, .why = file_id };

	return settle(&t, note_file, e);
}

int slack_outbox_tell(const struct slack_outbox *o, const struct slack_intent *i, const char *words,
                      struct err *e)
{
	struct settlement t = { .o = o, .i = i, .words = words };

	return settle(&t, tell, e);
}

static int close_all(const struct settlement *t, struct err *e)
{
	return close_gate(t->o, "slack", SLACK_PARKED_MS, t->why, e);
}

int slack_outbox_close(const struct slack_outbox *o, const char *why, struct err *e)
{
	struct settlement t = { .o = o, .why = why };

	return settle(&t, close_all, e);
}

static int open_all(const struct settlement *t, struct err *e)
{
	stmt *s = store_stmt(t->o->store, SQL_SLACK_GATE_OPEN);

	bind_text(s, ":name", "slack");
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int slack_outbox_open(const struct slack_outbox *o, struct err *e)
{
	struct settlement t = { .o = o };

	return settle(&t, open_all, e);
}
