#include "settle.h"

#include "clock.h"
#include "modal.h"
#include "random.h"
#include "str.h"

#include <string.h>

static const char FORM_IN_DOUBT[] = "It is not clear whether your form opened.";
static const char NEVER_CLEAR[] = "nobody can tell whether Slack has it, and it is not repeated";

struct settlement {
	struct store *st;
	const struct slack_intent_row *i;
	const struct slack_call *c;
	const char *ts, *why, *words;
};

/* Runs step (0 done, -1 error) in a transaction. */
static int settle(const struct settlement *t,
                  int (*step)(const struct settlement *t, struct err *e), struct err *e)
{
	if (store_begin(t->st, e))
		return -1;
	return store_end(t->st, step(t, e), e);
}

/* ---- small steps, inside the transaction ---- */

static bool is_post(const struct slack_intent_row *i)
{
	return i->class == SLACK_KIND_CLASS_LOOKUP;
}

static int put_back_as(const struct settlement *t, enum slack_outbox_form form, int64_t delay_ms,
                       bool may_repeat, const char *why, struct err *e)
{
	struct instant due = clock_instant(clock_now_ms() + delay_ms);
	const struct slack_outbox_put_back_args args = {
		.form = form,
		.due_at = delay_ms > 0 ? due.text : NULL,
		.why = why,
		.may_repeat = may_repeat,
		.seq = t->i->seq,
		.claim = t->i->claim,
	};

	return sql_slack_outbox_put_back(t->st, &args, e);
}

static int put_back(const struct settlement *t, int64_t delay_ms, bool may_repeat, const char *why,
                    struct err *e)
{
	return put_back_as(t, t->i->form, delay_ms, may_repeat, why, e);
}

static int doubt(const struct settlement *t, int64_t at_ms, int64_t lookups, const char *why,
                 struct err *e)
{
	struct instant due = clock_instant(at_ms);
	const struct slack_outbox_doubt_args args = {
		.due_at = due.text,
		.why = why,
		.lookups = lookups,
		.seq = t->i->seq,
		.claim = t->i->claim,
	};

	return sql_slack_outbox_doubt(t->st, &args, e);
}

/* Doubling, with full jitter: anywhere up to that, but never zero. */
static int64_t backoff_ms(int64_t failures)
{
	int64_t most = SLACK_BACKOFF_MS;

	for (int64_t k = 1; k < failures && most < SLACK_BACKOFF_MAX_MS; k++)
		most *= 2;
	if (most > SLACK_BACKOFF_MAX_MS)
		most = SLACK_BACKOFF_MAX_MS;
	return most / 4 + random_below(most * 3 / 4);
}

/* ---- sent ---- */

/* Records how other rows refer to the message. */
static int note_ts(const struct settlement *t, struct err *e)
{
	if (t->ts && t->i->part == SLACK_PART_KIND_SESSION)
		return sql_slack_session_thread(t->st, t->ts, t->i->session_seq, e);
	if (t->ts && t->i->part == SLACK_PART_KIND_ASK)
		return sql_slack_request_ts(t->st, t->ts, t->i->request_seq, e);
	return 0;
}

/* What a request says of its file has changed, and whether it can be approved. */
static int file_settled(const struct settlement *t, struct err *e)
{
	return t->i->part == SLACK_PART_KIND_DIFF
	           ? sql_slack_ask_changed(t->st, t->i->request_seq, e)
	           : 0;
}

static int led_sent(const struct settlement *t, struct err *e)
{
	OWNED(slack_outbox_led_row) struct slack_outbox_led_row row = { 0 };
	int64_t messages[SLACK_BURST_MAX];
	int got, count = 0;

	sql_slack_outbox_led(t->st, t->i->seq, &row);
	while ((got = row_next(&row.row, e)) > 0 && count < SLACK_BURST_MAX)
		messages[count++] = row.message_seq;
	if (got < 0)
		return -1;
	slack_outbox_led_row_clear(&row);
	for (int k = 0; k < count; k++)
		if (sql_slack_message_sent(t->st, t->ts, 1, messages[k], e))
			return -1;
	return count ? sql_slack_outbox_led_sent(t->st, t->i->seq, e) : 0;
}

static int settle_sent(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;
	int did = sql_slack_outbox_sent(t->st, i->seq, i->claim, e);

	if (did <= 0)
		return did;
	if (i->kind == SLACK_KIND_UPDATE &&
	    sql_slack_message_edited(t->st, i->generation, i->message_seq, e))
		return -1;
	if (is_post(i) && (sql_slack_message_sent(t->st, t->ts, i->generation, i->message_seq, e) ||
	                   note_ts(t, e) || led_sent(t, e) || file_settled(t, e)))
		return -1;
	return slack_gate_pass(t->st, i, e);
}

static int settle_needless(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;
	int did = sql_slack_outbox_sent(t->st, i->seq, i->claim, e);

	if (did <= 0 || !is_post(i))
		return did < 0 ? -1 : 0;
	return sql_slack_message_sent(t->st, NULL, i->generation, i->message_seq, e);
}

int slack_settle_needless(struct store *st, const struct slack_intent_row *i, struct err *e)
{
	return settle(&(struct settlement){ .st = st, .i = i }, settle_needless, e);
}

int slack_settle_sent(struct store *st, const struct slack_intent_row *i, const char *ts,
                      struct err *e)
{
	return settle(&(struct settlement){ .st = st, .i = i, .ts = ts }, settle_sent, e);
}

/* ---- dead ---- */

static int tell(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;

	if (!t->words || !i->to_channel || !i->user_id)
		return 0;
	return sql_slack_outbox_view_sent(t->st, i->to_channel, i->to_thread, i->user_id, t->words,
	                                  e);
}

/* What waits below it dies with it, and callers who wait for an answer to that are told. */
static int bury(const struct settlement *t, int64_t head, struct err *e)
{
	return err_if(sql_slack_head_bury(t->st, head, e) ||
	              sql_slack_head_bury_calls(t->st, head, e) ||
	              sql_slack_head_bury_messages(t->st, head, e));
}

/* The questions of a place, a lost one or those that wait below a new head, are posted with their
 * files. */
static int ask_anew(const struct settlement *t, int64_t place, struct err *e)
{
	return sql_slack_diff_gone(t->st, place, e) || sql_slack_ask_anew(t->st, place, e) ? -1 : 0;
}

/* The thread's head is dead or gone: queues a new one, below which everything that waits is
 * sent. */
static int head_anew(const struct settlement *t, int64_t head, struct err *e)
{
	int64_t tries = sql_slack_head_tries(t->st, t->i->session_seq, e), fresh;

	if (tries < 0 || tries >= SLACK_DEATHS_MAX)
		return tries < 0 ? -1 : bury(t, head, e);
	fresh = sql_slack_head_anew(t->st, head, e);
	return err_if(fresh < 0 || sql_slack_head_move_messages(t->st, fresh, head, e) ||
	              sql_slack_head_move_lane(t->st, fresh, t->i->channel_id, head, e) ||
	              sql_slack_head_urge(t->st, fresh, e) || ask_anew(t, fresh, e));
}

/* A message that is never sent. */
static int message_dies(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;

	if (sql_slack_message_dead(t->st, i->message_seq, e) ||
	    sql_slack_outbox_orphan(t->st, i->message_seq, e) ||
	    sql_slack_outbox_led_alone(t->st, i->seq, e))
		return -1;
	if (i->part == SLACK_PART_KIND_SESSION)
		return head_anew(t, i->message_seq, e);
	if (i->part == SLACK_PART_KIND_ASK)
		return err_if(sql_slack_refused_calls(t->st, i->message_seq, e) ||
		              bury(t, i->message_seq, e));
	return 0;
}

/* Whoever pressed a button and gets no form is told so whatever the reason, and what their next
 * words are taken for. */
static int tell_formless(const struct settlement *t, struct err *e)
{
	OWNED(str) struct str words = { 0 };
	struct settlement told = *t;

	str_add(&words, t->words ? t->words : "Your form could not be opened.");
	str_add(&words, " If you see no form, press the button again");
	if (t->i->to_thread) {
		str_add(&words, ", or do without: ");
		slack_modal_instead(t->i->view, &words);
	}
	str_add_char(&words, '.');
	told.words = str_text(&words);
	return tell(&told, e);
}

static int settle_dead(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;
	int did = sql_slack_outbox_die(t->st, t->why, i->seq, i->claim, e);

	if (did <= 0)
		return did;
	if (is_post(i) && message_dies(t, e))
		return -1;
	if (file_settled(t, e))
		return -1;
	return i->kind == SLACK_KIND_VIEW_OPEN ? tell_formless(t, e) : tell(t, e);
}

int slack_settle_dead(struct store *st, const struct slack_intent_row *i, const char *why,
                      const char *words, struct err *e)
{
	return settle(&(struct settlement){ .st = st, .i = i, .why = why, .words = words },
	              settle_dead, e);
}

/* ---- failed ---- */

static int dies(const struct settlement *t, const char *why, const char *words, struct err *e)
{
	struct settlement dead = *t;

	dead.why = why;
	dead.words = words;
	return settle_dead(&dead, e);
}

static bool slack_says(const struct settlement *t, const char *error)
{
	return strcmp(t->c->error, error) == 0;
}

/* Too fast: this method (or channel) waits; if that fails again at once, all channels wait. */
static int failed_rate(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;
	int64_t wait_ms = t->c->retry_ms + random_below(1000);
	struct instant until = clock_instant(clock_now_ms() + wait_ms);
	int strikes = slack_gate_strikes(t->st, i->gate, e);

	if (strikes < 0 || put_back(t, 0, i->may_repeat, t->c->why, e) ||
	    slack_gate_close(t->st, i->gate, wait_ms,
	                     strikes >= 2 ? "Slack is throttling us" : NULL, e))
		return -1;
	return strikes >= 1 && is_post(i) ? sql_slack_gate_close_posts(t->st, until.text, e) : 0;
}

/* Slack was not reached: nothing else will get through either. */
static int failed_sure(const struct settlement *t, struct err *e)
{
	int strikes;

	if (t->i->kind == SLACK_KIND_VIEW_OPEN)
		return dies(t, t->c->why, "Slack was not reached in time.", e);
	strikes = slack_gate_strikes(t->st, "slack", e);
	if (strikes < 0 || put_back(t, 0, t->i->may_repeat, t->c->why, e))
		return -1;
	return slack_gate_close(t->st, "slack", backoff_ms(strikes + 1), t->c->why, e);
}

/* A file that is not shared yet is uploaded again. */
static bool is_harmless(const struct slack_intent_row *i)
{
	return i->class == SLACK_KIND_CLASS_REPEATABLE ||
	       (i->kind == SLACK_KIND_FILE && !i->file_id);
}

static int failed_unknown(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;
	int strikes;

	if (is_harmless(i))
		return put_back(t, backoff_ms(i->attempts), false, t->c->why, e);
	if (i->class == SLACK_KIND_CLASS_ONCE)
		return dies(t, NEVER_CLEAR, i->kind == SLACK_KIND_VIEW_OPEN ? FORM_IN_DOUBT : NULL,
		            e);
	strikes = slack_gate_strikes(t->st, i->gate, e);
	if (strikes < 0 || doubt(t, clock_now_ms() + SLACK_LOOK_MS, 0, t->c->why, e))
		return -1;
	return slack_gate_close(t->st, i->gate, SLACK_POST_GAP_MS + backoff_ms(strikes), NULL, e);
}

/* The token or the channel: a person must act. Retried once a minute. */
static int failed_parked(const struct settlement *t, const char *gate, const char *what,
                         struct err *e)
{
	const struct slack_intent_row *i = t->i;
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "%s: %s", what, t->c->why);
	if (slack_says(t, "not_in_channel"))
		str_add(&why, ", invite the app there with /invite");
	else if (slack_says(t, "channel_not_found"))
		str_add(&why,
		        ", is it private and the app not invited, or a name instead of an id?");
	/* A request is shown without its file; only a message that cannot be posted waits. */
	if (i->class == SLACK_KIND_CLASS_ONCE ||
	    (i->kind == SLACK_KIND_FILE && slack_says(t, "missing_scope")))
		return dies(t, str_text(&why), NULL, e);
	/* An edit waits by itself: its gate is shared by all channels. */
	if (i->class == SLACK_KIND_CLASS_REPEATABLE && t->c->class == SLACK_PLACE)
		return put_back(t, SLACK_PARKED_MS, false, str_text(&why), e);
	if (put_back(t, 0, i->may_repeat, str_text(&why), e))
		return -1;
	return slack_gate_close(t->st, gate, SLACK_PARKED_MS, str_text(&why), e);
}

/* The thread that was named for it is gone: it goes below its session's head instead, which is
 * begun if there is none. 1, 0 if it has no such place, -1. */
static int move_below_head(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;
	int64_t head;
	int moved;

	if (sql_slack_head_begin(t->st, i->message_seq, e))
		return -1;
	head = sql_slack_head_for(t->st, i->message_seq, e);
	if (head <= 0)
		return (int)head;
	moved = sql_slack_outbox_sent(t->st, i->seq, i->claim, e);
	if (moved > 0 && (sql_slack_message_below(t->st, head, i->message_seq, e) ||
	                  sql_slack_outbox_anew(t->st, i->seq, e) ||
	                  (i->part == SLACK_PART_KIND_ASK && ask_anew(t, head, e))))
		return -1;
	return moved < 0 ? -1 : 1;
}

/* What it should change, or appear below, no longer exists. */
static int failed_thread(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;

	if (!is_post(i)) {
		if (i->message_seq && sql_slack_message_gone(t->st, i->message_seq, e))
			return -1;
		if (i->part == SLACK_PART_KIND_ASK &&
		    (bury(t, i->message_seq, e) || ask_anew(t, i->message_seq, e)))
			return -1;
		return dies(t, t->c->why, NULL, e);
	}
	if (!i->root_seq) {
		int moved = move_below_head(t, e);

		return moved ? err_if(moved < 0) : dies(t, t->c->why, NULL, e);
	}
	if (i->head_kind != SLACK_PART_KIND_SESSION)
		return dies(t, t->c->why, NULL, e);
	if (put_back(t, 0, i->may_repeat, t->c->why, e) ||
	    sql_slack_message_gone(t->st, i->root_seq, e))
		return -1;
	return head_anew(t, i->root_seq, e);
}

/* NONE: there is no simpler form. */
static enum slack_outbox_form simpler(const struct slack_intent_row *i)
{
	switch (i->form) {
	case SLACK_OUTBOX_FORM_BLOCKS:
		return SLACK_OUTBOX_FORM_PLAIN;
	case SLACK_OUTBOX_FORM_PLAIN:
		return i->part == SLACK_PART_KIND_ASK ? SLACK_OUTBOX_FORM_LINE
		                                      : SLACK_OUTBOX_FORM_NONE;
	case SLACK_OUTBOX_FORM_LINE:
	case SLACK_OUTBOX_FORM_NONE:
		break;
	}
	return SLACK_OUTBOX_FORM_NONE;
}

/* Slack refuses our message: sent in a simpler form, finally given up. */
static int failed_ours(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;

	if (i->kind == SLACK_KIND_VIEW_OPEN) {
		if (slack_says(t, "exchanged_trigger_id"))
			return sql_slack_outbox_sent(t->st, i->seq, i->claim, e) < 0 ? -1 : 0;
		return dies(t, t->c->why, SLACK_TOO_LATE, e);
	}
	if (i->class == SLACK_KIND_CLASS_ONCE || i->kind == SLACK_KIND_FILE || !simpler(i))
		return dies(t, t->c->why, NULL, e);
	return put_back_as(t, simpler(i), 0, i->may_repeat, t->c->why, e);
}

/* A refused message counts like an accepted one. */
static int keep_gap(const struct settlement *t, struct err *e)
{
	struct instant at = clock_instant(clock_now_ms() + SLACK_POST_GAP_MS);

	if (!is_post(t->i) || t->c->class == SLACK_SURE)
		return 0;
	return sql_slack_gate_gap(t->st, at.text, t->i->gate, e);
}

static int settle_failed(const struct settlement *t, struct err *e)
{
	if (keep_gap(t, e))
		return -1;
	switch (t->c->class) {
	case SLACK_RATE:
		return failed_rate(t, e);
	case SLACK_SURE:
		return failed_sure(t, e);
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

int slack_settle_failed(struct store *st, const struct slack_intent_row *i,
                        const struct slack_call *c, struct err *e)
{
	return settle(&(struct settlement){ .st = st, .i = i, .c = c }, settle_failed, e);
}

/* ---- in doubt ---- */

static int64_t started_ms(const struct slack_intent_row *i)
{
	int64_t ms = i->started_at ? clock_parse(i->started_at) : -1;

	return ms < 0 ? clock_now_ms() : ms;
}

/* Missing twice, the second time long enough after the attempt: it was not sent. */
static int settle_missing(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;
	int64_t again = started_ms(i) + SLACK_LOOK_AGAIN_MS, now_ms = clock_now_ms();

	if (i->lookups > 0 && now_ms >= again) {
		if (i->file_id && sql_slack_message_uploaded(t->st, NULL, i->message_seq, e))
			return -1;
		return put_back(t, 0, false, i->file_id ? "was not shared" : "was not said", e);
	}
	if (again < now_ms + SLACK_LOOK_MS)
		again = now_ms + SLACK_LOOK_MS;
	return doubt(t, again, i->lookups + 1, "was not found in Slack yet", e);
}

int slack_settle_missing(struct store *st, const struct slack_intent_row *i, struct err *e)
{
	return settle(&(struct settlement){ .st = st, .i = i }, settle_missing, e);
}

/* Nothing is looked for until then. */
static int close_read(const struct settlement *t, int64_t wait_ms, struct err *e)
{
	struct instant until = clock_instant(clock_now_ms() + wait_ms);

	return sql_slack_gate_close_read(
	    t->st, t->i->thread ? "conversations.replies" : "conversations.history", until.text, e);
}

/* A request shown twice is a nuisance, one never shown is a hang: only requests are repeated. */
static int settle_blind(const struct settlement *t, struct err *e)
{
	const struct slack_intent_row *i = t->i;
	int64_t now_ms = clock_now_ms(), wait_ms = SLACK_LOOK_MS;

	if (t->c->class == SLACK_RATE)
		wait_ms = t->c->retry_ms + random_below(1000);
	else if (t->c->class == SLACK_SURE || t->c->class == SLACK_UNKNOWN)
		wait_ms = backoff_ms(i->attempts + 4);
	else if (now_ms >= started_ms(i) + SLACK_BLIND_MS)
		return i->part == SLACK_PART_KIND_ASK || i->part == SLACK_PART_KIND_STALL ||
		               i->part == SLACK_PART_KIND_ESCALATED
		           ? put_back(t, 0, true, t->c->why, e)
		           : dies(t, NEVER_CLEAR, NULL, e);
	if (t->c->class == SLACK_RATE && close_read(t, wait_ms, e))
		return -1;
	return doubt(t, now_ms + wait_ms, i->lookups, t->c->why, e);
}

int slack_settle_blind(struct store *st, const struct slack_intent_row *i,
                       const struct slack_call *c, struct err *e)
{
	return settle(&(struct settlement){ .st = st, .i = i, .c = c }, settle_blind, e);
}

/* ---- after a crash ---- */

static int settle_left(const struct settlement *t, struct err *e)
{
	static const char DIED[] = "the poster died with it in hand";
	const struct slack_intent_row *i = t->i;

	if (sql_slack_outbox_died(t->st, i->seq, e))
		return -1;
	if (i->deaths + 1 >= SLACK_DEATHS_MAX)
		return dies(t, "crashed worker: three posters died with it in hand", NULL, e);
	if (i->class == SLACK_KIND_CLASS_ONCE)
		return dies(t, NEVER_CLEAR,
		            i->kind == SLACK_KIND_VIEW_OPEN
		                ? FORM_IN_DOUBT
		                : "It is not clear whether you were answered. Try again.",
		            e);
	if (is_harmless(i))
		return put_back(t, 0, false, DIED, e);
	return doubt(t, started_ms(i) + SLACK_LOOK_MS, 0, DIED, e);
}

int slack_settle_left(struct store *st, const char *worker_id, struct err *e)
{
	OWNED(slack_intent_row) struct slack_intent_row i = { 0 };
	const struct settlement t = { .st = st, .i = &i };
	int64_t seq;

	while ((seq = sql_slack_outbox_left(st, worker_id, e)) > 0)
		if (sql_slack_intent_read(st, seq, &i, e) < 0 || settle(&t, settle_left, e))
			return -1;
	return (int)seq;
}

/* ---- before it is settled ---- */

static int note_upload(const struct settlement *t, struct err *e)
{
	return sql_slack_message_uploaded(t->st, t->why, t->i->message_seq, e);
}

int slack_settle_upload(struct store *st, const struct slack_intent_row *i, const char *file_id,
                        struct err *e)
{
	return settle(&(struct settlement){ .st = st, .i = i, .why = file_id }, note_upload, e);
}

int slack_settle_tell(struct store *st, const struct slack_intent_row *i, const char *words,
                      struct err *e)
{
	return settle(&(struct settlement){ .st = st, .i = i, .words = words }, tell, e);
}
