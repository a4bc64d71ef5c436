#include "returning.h"

#include "json.h"
#include "request.h"
#include "sql/agent_input.h"
#include "sql/agent_turn.h"

#include <stdlib.h>
#include <string.h>

enum {
	TOLD_MOST = 30, /* prompts, beside the first, that one that remembers nothing is told, */
	TOLD_BYTES = 4000, /* of which each may be so long */
};

static const char BACK[] = "Your work was interrupted. Continue where you left off.";
static const char ANEW[] =
    "You take over a session that was interrupted; the agent that worked on it remembers nothing. "
    "What is known of it follows. Look at the state of the workspace, then continue.";

/* ---- texts ---- */

static void add_text(struct str *out, const char *text)
{
	size_t length = strlen(text), cut = utf8_cut(text, length, TOLD_BYTES);

	str_add_bytes(out, text, cut);
	if (cut < length)
		str_add(out, " [...]");
}

/* An answer that is neither a yes nor a no; NULL: it is one of them, or none yet. */
static const char *answer_of(enum request_state state, enum request_verdict decision,
                             const char *chosen)
{
	return state == REQUEST_STATE_ANSWERED ? request_verdict_name(decision) : chosen;
}

/* What became of a question, as a sentence. chosen, words: NULL: none. */
static void add_decision(struct str *out, enum request_state state, enum request_verdict decision,
                         const char *chosen, const char *words)
{
	const char *answer = answer_of(state, decision, chosen);

	if (request_is_open(state))
		str_add(out, "The operator has not decided it yet");
	else if (state == REQUEST_STATE_EXPIRED && decision == REQUEST_VERDICT_APPROVE)
		str_add(out, "The operator had approved it, but that approval has lapsed");
	else if (state == REQUEST_STATE_EXPIRED)
		str_add(out, "The operator did not answer in time");
	else if (answer)
		str_addf(out, "The operator has answered: %s", answer);
	else
		str_addf(out, "The operator has %s it", request_state_name(state));
	if (words && words[0])
		str_addf(out, ", and said: %s\n", words);
	else
		str_add(out, ".\n");
}

/* ---- what it missed ---- */

/* Questions whose decision is told. */
struct told {
	int64_t *seqs;
	size_t count;
};

static void told_clear(struct told *t)
{
	free(t->seqs);
	*t = (struct told){ 0 };
}

static int add_questions(struct runner *r, struct str *out, struct told *told, struct err *e)
{
	OWNED(agent_question_missed_row) struct agent_question_missed_row q = { 0 };
	bool any = false;
	int got;

	sql_agent_question_missed(&r->w.store, r->w.row, &q);
	while ((got = row_next(&q.row, e)) > 0) {
		str_addf(out, "\nBefore that you asked: \"%s\". ", q.title);
		add_decision(out, q.state, q.decision, q.chosen, q.words);
		if (q.is_sent)
			str_add(out, "You may have heard that already.\n");
		any = any || !q.is_sent;
		if (request_is_open(q.state))
			continue;
		told->seqs = xrealloc(told->seqs, (told->count + 1) * sizeof(*told->seqs));
		told->seqs[told->count++] = q.seq;
	}
	if (any)
		str_add(out, "\nThe process that asked is gone: ask again if you still need it.\n");
	return got;
}

/* What it asked with calls of our tools. */
static int add_calls(struct runner *r, struct str *out, struct err *e)
{
	OWNED(agent_call_missed_row) struct agent_call_missed_row c = { 0 };
	int got;

	sql_agent_call_missed(&r->w.store, r->w.row, &c);
	while ((got = row_next(&c.row, e)) > 0) {
		str_addf(out, "\nBefore that you asked: \"%s\". ", c.title);
		add_decision(out, c.state, c.decision, NULL, c.text);
	}
	return got;
}

static int add_left(struct runner *r, const struct agent_talk_row *row, bool is_new,
                    struct str *out, struct err *e)
{
	OWNED(agent_input_left_row) struct agent_input_left_row left = { 0 };
	int got;

	sql_agent_input_left(&r->w.store, row->session_seq, r->w.row, &left);
	while ((got = row_next(&left.row, e)) > 0) {
		if (left.is_known && is_new)
			continue; /* it is part of the history */
		str_add(out, left.is_sent
		                 ? "\nThis was sent to you last, and may not have arrived. "
		                   "Unless you have acted on it, do so now:\n"
		                 : "\nYou have not been told this yet:\n");
		add_text(out, left.text);
		str_add_char(out, '\n');
	}
	return got;
}

/* ---- what is known ---- */

static void add_plan(struct str *out, const char *progress)
{
	OWNED(cJSON_ptr) cJSON *plan = progress ? cJSON_Parse(progress) : NULL;
	const cJSON *one;

	if (cJSON_GetArraySize(plan) > 0)
		str_add(out, "\nThe plan was:\n");
	cJSON_ArrayForEach (one, plan) {
		const char *label = json_text(one, "label");

		if (label)
			str_addf(out, "- %s (%s)\n", label, json_text_or(one, "status", "pending"));
	}
}

/* Adds it to out, which is empty where nothing was ever sent. */
static int add_history(struct runner *r, const struct agent_talk_row *row, struct str *out,
                       struct err *e)
{
	OWNED(agent_input_history_row) struct agent_input_history_row told = { 0 };
	int64_t count = 0;
	int got;

	sql_agent_input_history(&r->w.store, row->session_seq, TOLD_MOST, &told);
	while ((got = row_next(&told.row, e)) > 0) {
		str_add(out, out->length ? "\n- " : "\nWhat its agent was told, in order:\n- ");
		if (told.place > ++count)
			str_addf(out, "[%lld left out]\n- ", (long long)(told.place - count));
		count = told.place;
		add_text(out, told.text);
	}
	if (out->length)
		str_add_char(out, '\n');
	return got;
}

/* The words of one that remembers nothing of them. */
static int add_last_words(struct runner *r, const struct agent_talk_row *row, struct str *out,
                          struct err *e)
{
	OWNED(agent_line_last_text_row) struct agent_line_last_text_row last = { 0 };
	int got = sql_agent_line_last_text(&r->w.store, row->session_seq, &last, e);

	if (got <= 0 || !last.text)
		return got < 0 ? -1 : 0;
	str_add(out, "\nIts agent said last:\n");
	add_text(out, last.text);
	str_add_char(out, '\n');
	return 0;
}

static int64_t insert(struct store *st, const struct agent_talk_row *row,
                      enum agent_input_kind kind, const struct str *text, struct err *e)
{
	const struct agent_input_insert_args args = { .session = row->session_seq,
		                                      .kind = kind,
		                                      .text = text->bytes };

	return sql_agent_input_insert(st, &args, e);
}

static int mark(struct runner *r, const struct agent_talk_row *row, const struct told *told,
                int64_t input, struct err *e)
{
	struct store *st = &r->w.store;

	for (size_t i = 0; i < told->count; i++)
		if (sql_agent_question_tell(st, input, told->seqs[i], e))
			return -1;
	return sql_agent_input_repeat(st, input, row->session_seq, r->w.row, e);
}

int returning_write(struct runner *r, const struct agent_talk_row *row, bool is_new, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	OWNED(str) struct str history = { 0 };
	OWNED(str) struct str missed = { 0 };
	OWNED(told) struct told told = { 0 };
	int64_t input;

	if (add_history(r, row, &history, e) || add_left(r, row, is_new, &missed, e) ||
	    add_questions(r, &missed, &told, e) || add_calls(r, &missed, e))
		return -1;
	if (!history.length && !missed.length)
		return 0; /* it has not begun */
	str_addf(&text, "%s\n", is_new ? ANEW : BACK);
	if (is_new) {
		str_add(&text, str_text(&history));
		if (add_last_words(r, row, &text, e))
			return -1;
		add_plan(&text, row->progress_snapshot);
	}
	str_add(&text, str_text(&missed));
	input = insert(&r->w.store, row, AGENT_INPUT_KIND_RETURN, &text, e);
	return input < 0 || mark(r, row, &told, input, e) ? -1 : 0;
}

/* ---- later ---- */

static int write_late(struct runner *r, const struct agent_talk_row *row,
                      const struct agent_question_late_row *q, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	struct store *st = &r->w.store;
	int64_t input;

	str_addf(&text, "Before the interruption you asked: \"%s\". ", q->title);
	add_decision(&text, q->state, q->decision, q->chosen,
	             q->instruction ? q->instruction : q->reason);
	str_add(&text, "Ask again if you still need it.");
	input = insert(st, row, AGENT_INPUT_KIND_DECISION, &text, e);
	return input < 0 || sql_agent_question_tell(st, input, q->seq, e) ? -1 : 0;
}

int returning_add_late(struct runner *r, const struct agent_talk_row *row, struct err *e)
{
	OWNED(agent_question_late_row) struct agent_question_late_row q = { 0 };
	struct store *st = &r->w.store;
	int got = sql_agent_question_late(st, r->w.row, &q, e);

	if (got <= 0)
		return got;
	if (store_begin(st, e))
		return -1;
	return store_end(st, write_late(r, row, &q, e), e) ? -1 : 1;
}

/* ---- asking again ---- */

int returning_put_question(struct runner *r, int64_t request, const struct acp_inquiry *q,
                           const char *digest, struct err *e)
{
	OWNED(str) struct str options = { 0 };
	OWNED(str) struct str form = { 0 };

	if (!acp_inquiry_is_plain(q))
		acp_inquiry_add_options(q, &options);
	if (q->kind == ACP_INQUIRY_FORM)
		acp_inquiry_add_form(q, &form);
	const struct agent_question_insert_args args = { .request = request,
		                                         .run = r->w.row,
		                                         .rpc_id = q->id,
		                                         .tool_call_id = q->tool_call_id,
		                                         .options = options.bytes,
		                                         .form = form.bytes,
		                                         .digest = digest };

	return sql_agent_question_insert(&r->w.store, &args, e);
}

int returning_ask_again(struct runner *r, const struct acp_inquiry *q, const char *digest,
                        struct err *e)
{
	OWNED(agent_question_again_row) struct agent_question_again_row row = { 0 };
	struct store *st = &r->w.store;
	int got = sql_agent_question_again(st, r->w.row, digest, &row, e);

	if (got <= 0)
		return got;
	if (sql_agent_question_replace(st, row.seq, e) ||
	    (row.state == REQUEST_STATE_INTERRUPTED &&
	     request_revive(st, row.request_seq, row.has_remaining_ms ? &row.remaining_ms : NULL,
	                    e)) ||
	    returning_put_question(r, row.request_seq, q, digest, e))
		return -1;
	return 1;
}
