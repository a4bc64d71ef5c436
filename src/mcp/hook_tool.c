/* The tool behind the calls of hooks: what they do, and their rows. */
#include "hook.h"

#include "ask.h"
#include "clock.h"
#include "hook_kept.h"
#include "hook_rewrite.h"
#include "hook_settle.h"
#include "sql/agent_run.h"
#include "sql/request.h"
#include "sql/session.h"
#include "sql/stall.h"
#include "sql/steering.h"

#include <string.h>

/* ---- what is asked ---- */

static bool policy(const struct call *c, struct policy_question *q)
{
	const struct hook *h = c->hook;

	if (!hook_decides(h) || h->told || h->verdict != HOOK_POLICY || h->must_choose)
		return false;
	q->tool = h->question.tool;
	q->is_command = h->question.is_command;
	q->folder = h->question.folder;
	q->reads = h->question.reads;
	q->names_only = h->question.names_only;
	q->risk_level = h->risk;
	return true;
}

static bool is_prompt(const struct hook *h)
{
	return h->in.class == GATE_QUESTION || h->in.class == GATE_PLAN;
}

static void question_of_agent(const struct hook *h, const struct call_settings *settings,
                              struct question *q)
{
	bool is_plan = h->in.class == GATE_PLAN;

	q->kind = REQUEST_KIND_PROMPT;
	q->title = h->title.length ? h->title.bytes : NULL;
	q->body = str_text(&h->subject);
	q->prompt_type = is_plan ? "continuation" : "clarification";
	q->timeout_ms = settings->prompt_ms[is_plan ? 0 : 1];
}

/* The host would not wait for longer. */
static void question_at_end(const struct hook *h, const struct call_settings *settings,
                            struct question *q)
{
	q->kind = REQUEST_KIND_STANDBY;
	q->body = h->in.message && *h->in.message ? h->in.message : "The agent has ended its turn.";
	q->timeout_ms = settings->gate_wait_ms && settings->gate_wait_ms < h->patience_ms
	                    ? settings->gate_wait_ms
	                    : h->patience_ms;
}

static void add_files(const struct call *c, struct question *q)
{
	const struct touched *first = &c->files[c->plan.primary];

	q->files = c->files;
	q->file_count = c->plan.count;
	q->file_path = first->path;
	q->original_hash = first->hash;
	q->replaces_file = c->plan.replaces_file;
	q->effect = str_text(&c->effect);
	q->effect_length = c->effect.length;
}

static void add_part(struct str *out, const char *text)
{
	if (!text || !*text)
		return;
	if (out->length)
		str_add(out, "\n\n");
	str_add(out, text);
}

/* The agent's words, if it is relayed, and behind them ours, of which there are some then. */
static void describe(const struct call *c, struct question *q)
{
	struct hook *h = c->hook;
	const char *policy = h->verdict == HOOK_POLICY ? str_text(&c->policy.why) : "";
	OWNED(str) struct str ours = { 0 };

	str_add(&ours, str_text(&h->why));
	if (h->why.length && *policy)
		str_add(&ours, "; ");
	str_add(&ours, policy);
	str_reset(&h->description);
	str_add(&h->description, str_text(&h->words));
	add_part(h->is_guest ? &h->description : &ours, h->notes);
	if (h->notes && !ours.length)
		str_addf(&ours, "Risk: %s", h->risk);
	add_part(&h->description, str_text(&ours));
	q->description = str_text(&h->description);
	q->notes_length = h->notes ? ours.length : 0;
}

static void question(const struct call *c, const struct call_settings *settings, struct question *q)
{
	const struct hook *h = c->hook;

	if (h->in.event == GATE_STOP) {
		question_at_end(h, settings, q);
		return;
	}
	if (is_prompt(h)) {
		question_of_agent(h, settings, q);
		return;
	}
	q->kind = REQUEST_KIND_PERMISSION;
	q->title = h->title.length ? h->title.bytes : NULL;
	q->body = str_text(&h->subject);
	describe(c, q);
	q->risk_level = h->risk;
	q->timeout_ms = settings->approval_ms;
	q->editable = hook_editable(c);
	if (h->is_computed)
		add_files(c, q);
}

/* ---- what is decided ---- */

static int allow(struct call *c)
{
	hook_set_result(&c->result, GATE_ALLOW, NULL);
	return 0;
}

/* What was allowed before the tool needs no second answer when the host asks for permission, unless
 * it asks for more. */
static int was_allowed(struct store *st, const struct call *c, const struct peer *p, struct err *e)
{
	struct hook *h = c->hook;
	OWNED(gate_call_granted_row) struct gate_call_granted_row row = { 0 };
	int got;

	if (h->in.event != GATE_PERMISSION || h->verdict == HOOK_DENY ||
	    gate_input_escalates(&h->in))
		return 0;
	got = sql_gate_call_granted(st, p->session_seq, h->digest.text, c->digest.text,
	                            h->in.tool_use_id, &row, e);
	h->pre_seq = row.seq;
	return got ? got : hook_was_handed(st, c, p, e);
}

/* Whether the host's process ends if the answer takes long: it is the agent that we have started,
 * and its session says so. */
static int look_for_parking(struct store *st, struct hook *h, const struct peer *p, struct err *e)
{
	OWNED(agent_run_parks_row) struct agent_run_parks_row row = { 0 };
	int got = h->process && h->in.event == GATE_PRE_TOOL && h->in.session
	              ? sql_agent_run_parks(st, p->session_seq, h->process, &row, e)
	              : 0;

	h->parks = got > 0;
	h->park_after_ms = row.park_after_ms;
	return got < 0 ? -1 : 0;
}

/* A person is asked, and may have answered already. */
static int ask(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	int told = hook_was_told(st, c, p, e);

	c->hook->is_guest = p->has_user;
	if (told)
		return told < 0 ? -1 : allow(c);
	if (ask_run(st, c, p, settings, e) || (c->waiting && look_for_parking(st, c->hook, p, e)))
		return -1;
	return c->waiting || !c->is_answer
	           ? 0
	           : hook_rewrite(st, c->request_seq, c->arguments, &c->result, e);
}

static int decide(struct store *st, struct call *c, const struct peer *p,
                  const struct call_settings *settings, struct err *e)
{
	struct hook *h = c->hook;
	int before = was_allowed(st, c, p, e);

	if (before)
		return before < 0 ? -1 : allow(c);
	if (h->verdict == HOOK_DENY) {
		hook_set_result(&c->result, GATE_DENY, str_text(&h->why));
		return 0;
	}
	if (h->verdict == HOOK_ALLOW && !h->must_choose)
		return allow(c);
	if (!c->policy.allowed)
		return ask(st, c, p, settings, e);
	if (policy_gate_note(st, &c->policy, p->session_seq, 0,
	                     h->title.length ? h->title.bytes : str_text(&h->subject), e))
		return -1;
	return allow(c);
}

/* The host's session has ended: ours, too, unless something of it is left. */
static int end_session(struct store *st, const struct peer *p, struct err *e)
{
	return err_if(sql_connection_close(st, p->seq, e) ||
	              sql_session_end(st, p->session_seq, e) ||
	              sql_session_offline(st, p->session_seq, e));
}

/* Whether the end of a turn is a question: not if the operator has said already what comes next. */
static bool asks_at_end(const struct call *c, const struct call_settings *settings)
{
	return c->hook->in.event == GATE_STOP && settings->gate_standby && !c->steering.count &&
	       c->hook->patience_ms > 0;
}

static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	if (hook_decides(c->hook))
		return c->hook->told ? hook_settle(st, c, p, e) : decide(st, c, p, settings, e);
	if (asks_at_end(c, settings))
		return ask_run(st, c, p, settings, e);
	hook_set_result(&c->result, GATE_NONE, NULL);
	if (c->hook->in.event == GATE_SESSION_END)
		return end_session(st, p, e);
	return c->hook->in.event == GATE_POST_TOOL ? hook_compare(st, c, p, e) : 0;
}

/* ---- rows ---- */

static int insert_files(struct store *st, int64_t gate, const struct call *c, struct err *e)
{
	for (size_t i = 0; c->hook->is_computed && i < c->plan.count; i++) {
		const struct touched *f = &c->files[i];

		if (strcmp(f->action, "read") != 0 &&
		    sql_gate_file_insert(
		        st,
		        &(struct gate_file_insert_args){ .gate = gate,
		                                         .path = f->path,
		                                         .target = f->target,
		                                         .original_hash = f->hash,
		                                         .result_hash = f->result_hash },
		        e))
			return -1;
	}
	return 0;
}

/* What else an event says: {"kind", "message"}. */
static char *detail_of(const struct hook *h)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_CreateObject();
	OWNED(str) struct str text = { 0 };

	const bool is_subagents = hook_is_subagents(&h->in);

	if (!is_subagents && (h->in.tool || (!h->in.kind && !h->in.message)))
		return NULL;
	if (is_subagents)
		(void)cJSON_AddStringToObject(all, "subagent", h->in.agent);
	if (h->in.kind && !h->in.tool)
		(void)cJSON_AddStringToObject(all, "kind", h->in.kind);
	if (h->in.message && !h->in.tool) {
		str_add_shown(&text, h->in.message, strlen(h->in.message), HOOK_REASON_BYTES);
		(void)cJSON_AddStringToObject(all, "message", str_text(&text));
		str_reset(&text);
	}
	json_canonical(&text, all);
	return str_take(&text);
}

/* What becomes of an approval, if not what was asked. */
static int note_approval(struct store *st, int64_t call_seq, const char *result, struct err *e)
{
	if (hook_withholds(result) && sql_gate_call_withhold(st, call_seq, e))
		return -1;
	return hook_rewrite_note(st, call_seq, result, e);
}

/* A permission that an editor's proxy asks for is answered with one of its agent's options: why it
 * was rejected goes with the next result that has a place for words. */
static int keep_reason(struct store *st, const struct gate_host *host, enum gate_call_moment moment,
                       int64_t request, struct err *e)
{
	return host && host->relays && moment == GATE_CALL_MOMENT_PERMISSION && request
	           ? sql_answer_repeat(st, request, e)
	           : 0;
}

/* What its relay had asked before, if that is another question by now. */
static int outdate_before(struct store *st, const struct call *c, int64_t session, struct err *e)
{
	int64_t before = 0;

	if (c->hook->before && strcmp(c->hook->before, c->digest.text) != 0)
		before = sql_request_of_digest(st, session, c->hook->before, e);
	return before > 0 ? ask_outdate(st, before, ASK_CHANGED, e) : (int)before;
}

static int note(struct store *st, const struct call *c, const struct peer *p, struct err *e)
{
	const struct hook *h = c->hook;
	OWNED(char_ptr) char *detail = detail_of(h);
	OWNED(str) struct str reason = { 0 };
	const int64_t took_ms = clock_monotonic_ms() - h->began_ms;
	const struct instant now = clock_instant(clock_now_ms());
	struct gate_call_insert_args args = {
		.call = c->seq,
		.session = p->session_seq,
		.host = h->in.host->name,
		.helper = h->helper,
		.version = h->version,
		.program = p->host_process,
		.host_session = h->in.session,
		.event = h->in.event_name,
		.moment = gate_call_moment_of(gate_event_word(h->in.event)),
		.tool = h->in.tool,
		.class = h->in.tool ? gate_call_class_of(gate_class_name(h->in.class))
		                    : GATE_CALL_CLASS_NONE,
		.tool_use_id = h->in.tool_use_id,
		.cwd = h->folder.length ? h->folder.bytes : NULL,
		.digest = h->digest.text,
		.pre = h->pre_seq,
		.request = c->request_seq,
		.transcript = h->in.tool ? NULL : h->in.transcript,
		.detail = detail,
		.options = h->options,
		.parks = h->parks,
		.decision = GATE_CALL_DECISION_OPEN,
	};
	int64_t seq;

	if (!c->waiting) {
		args.decision = hook_decision(str_text(&c->result), &reason);
		args.reason = reason.length ? reason.bytes : NULL;
		args.decided_at = now.text;
		args.took_ms = &took_ms;
	}
	seq = sql_gate_call_insert(st, &args, e);
	if (seq < 0 || insert_files(st, seq, c, e) || outdate_before(st, c, p->session_seq, e))
		return -1;
	if (!c->waiting && note_approval(st, c->seq, str_text(&c->result), e))
		return -1;
	if (c->is_answer && args.decision != GATE_CALL_DECISION_NOTED &&
	    keep_reason(st, h->in.host, args.moment, c->request_seq, e))
		return -1;
	/* The turn has ended, and it is nobody's silence. */
	return h->in.event == GATE_STOP && !c->waiting && !c->steering.count
	           ? sql_stall_stop_clock(st, p->session_seq, e)
	           : 0;
}

static int read_row(struct store *st, int64_t call_seq, struct gate_call_of_call_row *row,
                    struct err *e)
{
	int got = sql_gate_call_of_call(st, call_seq, row, e);

	return got ? (got < 0 ? -1 : 0) : err_set(e, ERR_BUG, "a hook's call without a row");
}

/* Its result was made, and is about to be told. */
static int finish(struct store *st, int64_t call_seq, const struct telling *t, struct err *e)
{
	OWNED(gate_call_of_call_row) struct gate_call_of_call_row row = { 0 };
	OWNED(str) struct str reason = { 0 };
	enum gate_call_decision decision;
	int64_t took_ms;

	if (read_row(st, call_seq, &row, e))
		return -1;
	took_ms = clock_now_ms() - clock_parse(row.created_at);
	if (took_ms < 0)
		took_ms = 0;
	decision = hook_decision(str_text(&t->result), &reason);
	if (row.moment == GATE_CALL_MOMENT_STOP && !hook_goes_on(str_text(&t->result)) &&
	    !t->steering.count && sql_stall_stop_clock(st, row.session_seq, e))
		return -1;
	if (sql_gate_call_decide(st, decision, reason.length ? reason.bytes : NULL, &took_ms,
	                         call_seq, e) < 0)
		return -1;
	if (t->is_answer &&
	    keep_reason(st, gate_host_named(row.host), row.moment, row.request_seq, e))
		return -1;
	return note_approval(st, call_seq, str_text(&t->result), e);
}

/* An approval may carry another text than what was asked. */
static int amend(struct store *st, int64_t call_seq, struct telling *t, struct err *e)
{
	OWNED(gate_call_of_call_row) struct gate_call_of_call_row row = { 0 };
	OWNED(cJSON_ptr) cJSON *kept = NULL;

	if (read_row(st, call_seq, &row, e))
		return -1;
	if (!row.request_seq)
		return 0;
	kept = hook_kept(st, call_seq, e);
	return kept ? hook_rewrite(st, row.request_seq, kept, &t->result, e) : -1;
}

const struct tool TOOL_HOOK = {
	.name = HOOK_METHOD,
	.look = hook_look,
	.seen = hook_seen,
	.policy = policy,
	.run = run,
	.question = question,
	.answer = hook_add_answer,
	.amend = amend,
	.note = note,
	.finish = finish,
};
