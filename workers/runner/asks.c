#include "asks.h"

#include "decision.h"
#include "log.h"
#include "prompts.h"
#include "request.h"
#include "returning.h"
#include "setting.h"
#include "sha256.h"
#include "tool_name.h"

#include <stdlib.h>
#include <string.h>

enum {
	TITLE_BYTES = 500,
	APPROVAL_SECONDS = 3600, /* settings that are missing */
	PROMPT_SECONDS = 1800,
};

struct asked {
	char *id;
	struct verdict verdict;
	struct asked *next;
};

/* ---- judging ---- */

static const struct asked *find(const struct asks *s, const char *id)
{
	const struct asked *one = s->first;

	while (one && strcmp(one->id, id) != 0)
		one = one->next;
	return one;
}

/* Whether it asks if it may call a tool of our own, and nothing else: without a rule, a person
 * would approve that a person is asked. */
static bool is_ours(const struct acp *a, const struct acp_inquiry *q)
{
	OWNED(cJSON_ptr) cJSON *input = cJSON_Parse(str_text(&q->input));

	return a->gives_tools && q->tool_kind && strcmp(q->tool_kind, "other") == 0 &&
	       !q->is_more && !q->is_doubted && acp_inquiry_yes(q) && !q->input.length == !input &&
	       tool_name_is_call(str_text(&q->title), input);
}

static void allow_ours(struct acp *a, const struct acp_inquiry *q)
{
	OWNED(char_ptr) char *id = xstrdup(q->id);
	struct err e = { 0 };

	log_info("agent: may call %s, a tool of ours", str_text(&q->title));
	(void)acp_answer(a, id, &(struct acp_answer){ .verdict = ACP_YES }, &e);
}

/* Before the transaction: it takes a while. */
static void describe_trust(struct asks *s, struct runner *r, const char *root, struct verdict *v)
{
	struct err e = { 0 };

	if (v->is.is_untrusted && policy_trust_look(&r->w.store, r->w.machine, v->file,
	                                            s->judge.known, s->judge.always_ask, &e))
		log_warn("what the policy of %s newly allows: %s", root, e.text);
}

static void judge_one(struct asks *s, struct runner *r, const struct agent_talk_row *row,
                      struct acp_inquiry *q)
{
	struct asked *one = xcalloc(1, sizeof(*one));

	one->id = xstrdup(q->id);
	one->next = s->first;
	s->first = one;
	judge_ask(&s->judge, r, row->workspace_root, q, &one->verdict);
	describe_trust(s, r, row->workspace_root, &one->verdict);
}

void asks_judge(struct asks *s, struct runner *r, const struct agent_talk_row *row, struct acp *a)
{
	struct acp_inquiry *q = a->asks, *next;

	for (; q; q = next) {
		next = q->next;
		if (q->is_asked || find(s, q->id))
			continue;
		if (is_ours(a, q))
			allow_ours(a, q);
		else
			judge_one(s, r, row, q);
	}
}

/* ---- asking ---- */

/* The agent's words, and behind them ours. */
static void describe(const struct acp_inquiry *q, struct str *out, size_t *ret_notes)
{
	OWNED(str) struct str notes = { 0 };

	acp_inquiry_add_notes(q, &notes);
	str_add_bytes(out, str_text(&q->description), q->description.length);
	if (q->description.length && notes.length)
		str_add(out, "\n\n");
	str_add_bytes(out, str_text(&notes), notes.length);
	*ret_notes = notes.length;
}

/* Of what a person is shown and of all that the tool is called with; with r also of where the
 * answer goes: no two questions are the same.
 */
static struct sha256 digest_of(const struct runner *r, const struct acp_inquiry *q,
                               const char *description)
{
	OWNED(str) struct str all = { 0 };

	if (r)
		str_addf(&all, "%lld %s ", (long long)r->w.row, q->id);
	str_addf(&all, "%d ", (int)q->kind);
	str_addf(&all, "%zu %s%zu %s", q->title.length, str_text(&q->title), strlen(description),
	         description);
	str_addf(&all, "%zu %s", q->input.length, str_text(&q->input));
	str_add_bytes(&all, str_text(&q->diff), q->diff.length);
	if (!acp_inquiry_is_plain(q))
		acp_inquiry_add_options(q, &all);
	return sha256_of(all.bytes, all.length);
}

static void add_title(struct str *out, const struct acp_inquiry *q)
{
	const struct str *from = q->title.length ? &q->title : &q->description;

	str_add_shown(out, str_text(from), strcspn(str_text(from), "\n"), TITLE_BYTES);
}

/* The row of the request; -1 error. */
static int64_t ask(struct runner *r, const struct agent_talk_row *row, const struct acp_inquiry *q,
                   const struct str *text, size_t notes, struct err *e)
{
	OWNED(str) struct str title = { 0 };
	bool is_prompt = q->kind != ACP_INQUIRY_PERMISSION;
	struct store *st = &r->w.store;
	bool is_open;

	add_title(&title, q);
	const struct sha256 digest = digest_of(r, q, str_text(text));
	const struct str *body = is_prompt ? text : &q->diff;
	const struct asker who = { .session_seq = row->session_seq,
		                   .machine = row->machine,
		                   .workspace_root = row->workspace_root };
	const struct question question = {
		.kind = is_prompt ? REQUEST_KIND_PROMPT : REQUEST_KIND_PERMISSION,
		.digest = digest.text,
		.title = str_text(&title),
		.description = is_prompt ? NULL : str_text(text),
		.notes_length = notes,
		.body = str_text(body),
		.body_length = body->length,
		.file_path = q->path.length ? q->path.bytes : NULL,
		.risk_level = is_prompt ? NULL : acp_risk_name(q->risk),
		.prompt_type = q->prompt_type,
		.elapsed_seconds = -1,
		.actions_taken = -1,
		.timeout_ms =
		    1000 * (is_prompt
		                ? setting_int(st, "timeouts.prompt_seconds", PROMPT_SECONDS)
		                : setting_int(st, "timeouts.approval_seconds", APPROVAL_SECONDS)),
	};
	return request_ask(st, &who, &question, &is_open, e);
}

/* ---- what the policy decided ---- */

/* The version on which it rests comes first. */
static int write_policy(struct runner *r, const struct agent_talk_row *row, const struct verdict *v,
                        struct err *e)
{
	struct store *st = &r->w.store;

	if (v->file->changed && policy_gate_record(st, r->w.machine, v->file, e))
		return -1;
	return v->is.is_untrusted ? policy_trust_ask(st, r->w.machine, row->session_seq, v->file, e)
	                          : 0;
}

int asks_write(const struct asks *s, struct runner *r, const struct agent_talk_row *row,
               const struct acp_inquiry *q, struct err *e)
{
	const struct asked *one = find(s, q->id);
	const struct verdict *v = one ? &one->verdict : NULL;
	OWNED(str) struct str text = { 0 };
	size_t notes;
	int64_t seq;
	int again;

	if (v && v->file && write_policy(r, row, v, e))
		return -1;
	describe(q, &text, &notes);
	const struct sha256 digest = digest_of(NULL, q, str_text(&text));
	again = returning_ask_again(r, q, digest.text, e);
	if (again)
		return again < 0 ? -1 : 0;
	seq = ask(r, row, q, &text, notes, e);
	if (seq < 0 || returning_put_question(r, seq, q, digest.text, e))
		return -1;
	if (!v || !v->is.allowed)
		return 0;
	/* If it is not applied, a person is asked. */
	return policy_gate_approve(&r->w.store, &v->is, row->session_seq, seq,
	                           q->kind == ACP_INQUIRY_PROMPT ? "continue" : "approve", NULL,
	                           str_text(&v->subject), e) < 0
	           ? -1
	           : 0;
}

/* Whether the agent ends without its session, whose questions can then be answered later. */
static bool will_return(const struct runner *r)
{
	return r->phase != ENDING_NOT && r->outcome == AGENT_RUN_OUTCOME_INTERRUPTED;
}

int asks_withdraw(struct runner *r, const char *rpc_id, const char *why, struct err *e)
{
	struct store *st = &r->w.store;

	if (will_return(r))
		return 0;
	return err_if(sql_agent_question_expire(st, r->w.row, rpc_id, e) ||
	              sql_agent_question_withdraw(st, why, r->w.row, rpc_id, e) ||
	              sql_agent_question_settle(st, r->w.row, rpc_id, e));
}

void asks_written(struct asks *s, struct acp *a)
{
	for (struct acp_inquiry *q = a ? a->asks : NULL; q; q = q->next)
		q->is_asked = true;
	while (s->first) {
		struct asked *one = s->first;

		s->first = one->next;
		if (one->verdict.file) {
			one->verdict.file->changed = false;
			str_clear(&one->verdict.file->bytes);
		}
		verdict_clear(&one->verdict);
		free(one->id);
		free(one);
	}
}

/* ---- answers ---- */

static struct acp_answer answer_of(const struct agent_question_decided_row *q)
{
	const char *reason = q->is_told ? NULL : q->reason; /* a prompt has it */
	struct acp_answer answer = { .verdict = ACP_NONE, .reason = reason };

	if (q->kind == REQUEST_KIND_PROMPT) {
		answer.decision = q->decision ? request_verdict_name(q->decision) : "continue";
		answer.reason = q->instruction ? q->instruction : q->reason;
		answer.content = q->choice; /* of a form */
		if (q->state == REQUEST_STATE_ANSWERED)
			answer.verdict = q->choice ? ACP_YES : ACP_NO;
	} else if (q->state == REQUEST_STATE_APPROVED) {
		answer.verdict = q->choice ? ACP_OPTION : ACP_YES;
		answer.option = q->choice;
		answer.reason = q->is_told ? NULL : q->instruction;
	} else if (q->state == REQUEST_STATE_REJECTED) {
		answer.verdict = q->choice ? ACP_OPTION : ACP_NO;
		answer.option = q->choice;
	}
	return answer;
}

static void give(struct acp *a, const struct agent_question_decided_row *q, struct str *line)
{
	const struct acp_answer answer = answer_of(q);
	struct err e = { 0 };

	if (acp_answer(a, q->rpc_id, &answer, &e) >= 0)
		return;
	(void)acp_answer(a, q->rpc_id, &(struct acp_answer){ .verdict = ACP_NO }, &e);
	str_add(line, "The agent offers no answer that allows this once: it was told no.");
}

/* In a transaction. working: with this answer the agent goes on. */
static int write_answer(struct runner *r, const struct agent_talk_row *row,
                        const struct agent_question_decided_row *q, bool working, struct err *e)
{
	struct store *st = &r->w.store;

	return err_if(sql_agent_question_answer(st, q->seq, e) ||
	              sql_agent_question_delivered(st, q->request_seq, e) ||
	              prompts_add_words(r, row, q, e) ||
	              (working && sql_agent_talk_heard(st, true, NULL, NULL, row->session_seq, e)));
}

int asks_answer(struct runner *r, const struct agent_talk_row *row, struct acp *a, bool *works,
                struct str *line, struct err *e)
{
	OWNED(agent_question_decided_row) struct agent_question_decided_row q = { 0 };
	struct store *st = &r->w.store;
	int paused = sql_agent_talk_is_paused(st, row->session_seq, e);
	int got = paused ? -(paused < 0) : sql_agent_question_decided(st, r->w.row, &q, e);
	bool working = got > 0 && acp_works(a, q.rpc_id);

	if (got <= 0)
		return got;
	if (store_begin(st, e) || store_end(st, write_answer(r, row, &q, working, e), e))
		return -1;
	*works = *works || working;
	give(a, &q, line);
	return 1;
}

void asks_refuse(struct acp *a)
{
	struct err e = { 0 };

	while (a->asks) {
		OWNED(char_ptr) char *id = xstrdup(a->asks->id);

		(void)acp_answer(
		    a, id, &(struct acp_answer){ .verdict = ACP_NONE, .decision = "continue" }, &e);
	}
}

void asks_clear(struct asks *s)
{
	asks_written(s, NULL);
	judge_clear(&s->judge);
}
