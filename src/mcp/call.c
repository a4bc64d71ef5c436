#include "call.h"

#include "ask.h"
#include "content.h"
#include "hook.h"
#include "id.h"
#include "inherit.h"
#include "json.h"
#include "request.h"
#include "result.h"
#include "sql/broadcast_wait.h"
#include "sql/request.h"
#include "sql/session.h"
#include "sql/steering.h"
#include "sql/tool_call.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

enum { TOUCH_MS = 1000 }; /* a repetition of the same tool this soon says nothing new */

/* ---- opening ---- */

static bool is_token(const cJSON *value)
{
	double number;

	return cJSON_IsString(value) || json_number(value, &number);
}

static char *progress_token(const cJSON *meta)
{
	const cJSON *token = cJSON_GetObjectItemCaseSensitive(meta, "progressToken");
	OWNED(str) struct str text = { 0 };

	if (!is_token(token))
		return NULL;
	json_canonical(&text, token);
	return str_take(&text);
}

int call_open(struct call *c, const cJSON *params, const char *rpc_id, bool has_nul, struct err *e)
{
	const char *name = json_text(params, "name");
	const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(params, "arguments");
	const cJSON *meta = cJSON_GetObjectItemCaseSensitive(params, "_meta");
	OWNED(str) struct str token = { 0 };
	const char *twice = json_twice(arguments);
	struct err wrong = { 0 };

	if (!name)
		return err_set(e, ERR_INPUT, "params.name must be a string");
	c->tool = tool_find(name);
	if (!c->tool)
		return err_set(e, ERR_INPUT, "unknown tool: %.100s", name);
	if (arguments && !cJSON_IsObject(arguments) && !cJSON_IsNull(arguments))
		return err_set(e, ERR_INPUT, "params.arguments must be an object");
	json_add_id_token(&token, rpc_id);
	c->rpc_id = str_take(&token);
	c->progress_token = progress_token(meta);
	c->traceparent = trace_parent(meta);
	c->arguments = tool_arguments(c->tool, arguments);
	if (has_nul)
		result_refuse(c, "invalid_arguments",
		              "invalid arguments for %s: a text holds a NUL byte (\\u0000)",
		              c->tool->name);
	else if (twice)
		result_refuse(c, "invalid_arguments",
		              "invalid arguments for %s: they name '%.60s' twice", c->tool->name,
		              twice);
	else if (tool_check(c->tool, c->arguments, &wrong))
		result_refuse(c, "invalid_arguments", "%s", wrong.text);
	return 0;
}

void call_clear(struct call *c)
{
	cJSON_Delete(c->arguments);
	str_clear(&c->canonical);
	free(c->rpc_id);
	free(c->progress_token);
	free(c->traceparent);
	free(c->files);
	hook_free(c->hook);
	plan_clear(&c->plan);
	str_clear(&c->effect);
	str_clear(&c->always_ask);
	str_clear(&c->links);
	hand_names_free(c->names, c->name_count);
	policy_verdict_clear(&c->policy);
	str_clear(&c->result);
	str_clear(&c->elicitation);
	steering_clear(&c->steering);
	*c = (struct call){ 0 };
}

/* ---- preparing ---- */

/* Appends the arguments that make the question what it is. */
static void add_asked(struct str *out, const struct call *c)
{
	OWNED(cJSON_ptr) cJSON *asked = cJSON_Duplicate(c->arguments, true);

	for (const char *const *name = c->tool->unbound; *name; name++)
		cJSON_DeleteItemFromObjectCaseSensitive(asked, *name);
	json_canonical(out, asked);
}

static void compute_digest(struct call *c)
{
	struct sha256_state *h = sha256_begin();
	OWNED(str) struct str asked = { 0 };
	const struct str *bound = c->tool->unbound ? &asked : &c->canonical;

	if (c->tool->unbound)
		add_asked(&asked, c);
	sha256_add(h, c->tool->name, strlen(c->tool->name) + 1);
	sha256_add(h, str_text(bound), bound->length + 1);
	sha256_add(h, "", 1); /* no path */
	c->digest = sha256_end(h);
}

/* ---- the workspace's policy ---- */

/* Whether it has to be judged by one. */
static bool asks_policy(const struct call *c)
{
	struct policy_question q = { .tool = NULL };

	return !c->is_error && c->tool->policy && c->tool->policy(c, &q);
}

bool call_is_parked(const struct call *c)
{
	return !c->hook || (hook_decides(c->hook) && !c->hook->told);
}

/* Adds a path, and the file that it stands for if that is another one: both must be allowed. */
static void add_path(struct policy_question *q, const char **paths, const char *path,
                     const char *target)
{
	paths[q->path_count++] = path;
	if (strcmp(path, target) != 0)
		paths[q->path_count++] = target;
}

static void ask_policy(struct call *c, struct policy_file *policy,
                       const struct call_settings *settings)
{
	struct policy_question q = { .tool = c->tool->name,
		                     .known = settings->commands,
		                     .always_ask = settings->always_ask };
	const char **paths = xcalloc(3 * (c->plan.count + c->name_count) + 1, sizeof(*paths));

	for (size_t i = 0; c->files && i < c->plan.count; i++) {
		add_path(&q, paths, c->files[i].path, c->files[i].target);
		if (c->plan.files[i].reaches)
			paths[q.path_count++] = c->plan.files[i].reaches;
	}
	for (size_t i = 0; i < c->name_count; i++) {
		if (!c->names[i].is_other)
			add_path(&q, paths, c->names[i].path, c->names[i].target);
		if (c->names[i].reaches)
			paths[q.path_count++] = c->names[i].reaches;
	}
	q.paths = paths;
	c->policy_file = policy;
	if (c->tool->policy(c, &q))
		policy_gate_judge(policy, &q, &c->policy);
	free(paths);
}

/* Of the files of a tool of ours: which of them, by whatever name, are always asked about. */
static void look_for_asked(struct call *c, const struct call_settings *settings,
                           struct hand_ask *ask)
{
	if (c->hook || cJSON_GetArraySize(settings->always_ask) == 0)
		return;
	json_canonical(&c->always_ask, settings->always_ask);
	ask->always_ask = c->always_ask.bytes;
}

bool call_look(struct call *c, const struct call_settings *settings, struct hand_ask *ask)
{
	if (!c->is_error && c->tool->look)
		c->tool->look(c, settings, ask);
	look_for_asked(c, settings, ask);
	ask->policy = asks_policy(c);
	return hand_asks(ask);
}

void call_refuse(struct call *c, const struct refusal *why)
{
	if (!c->is_error)
		result_refuse(c, why->code, "%s", why->text);
}

void call_prepare(struct call *c, struct hand_found *found, struct policy_file *policy,
                  const struct call_settings *settings)
{
	if (!c->canonical.length)
		json_canonical(&c->canonical, c->arguments);
	if (!c->is_error && c->tool->seen && found)
		c->tool->seen(c, found);
	if (!c->digest.text[0])
		compute_digest(c);
	if (!c->is_error && policy)
		ask_policy(c, policy, settings);
}

/* ---- running ---- */

/* The caller's own value counts; otherwise the configuration, and what is known about its
 * client. */
int64_t call_patience_ms(const struct peer *p, const struct call_settings *settings)
{
	if (p->patience_ms)
		return p->patience_ms;
	if (p->identity.wait_s)
		return p->identity.wait_s * 1000;
	if (p->wait_limit_ms && p->wait_limit_ms < settings->wait_cap_ms)
		return p->wait_limit_ms;
	return settings->wait_cap_ms;
}

static int64_t wait_ms(const struct call *c, const struct peer *p,
                       const struct call_settings *settings)
{
	int64_t patience = call_patience_ms(p, settings);

	return c->hook && c->hook->parks && c->hook->park_after_ms < patience
	           ? c->hook->park_after_ms
	           : patience;
}

static int insert_waiting(struct store *st, struct call *c, const struct peer *p,
                          const struct placed *arguments, const struct call_settings *settings,
                          struct err *e)
{
	struct instant until = clock_instant(clock_now_ms() + wait_ms(c, p, settings));
	const int64_t kept_ms = c->timeout_ms + CALL_TASK_KEPT_MS;
	struct secret task;
	struct tool_call_insert_waiting_args args = {
		.connection = p->seq,
		.session = p->session_seq,
		.rpc_id = c->rpc_id,
		.traceparent = c->traceparent,
		.era = c->modern ? TOOL_CALL_ERA_MODERN : TOOL_CALL_ERA_LEGACY,
		.tool = c->tool->name,
		.arguments = arguments->text,
		.arguments_seq = arguments->seq,
		.digest = c->digest.text,
		.request = c->request_seq,
		.apply = c->apply_seq,
	};

	/* A write is too short for a task. */
	c->is_task = c->as_task && c->request_seq != 0;
	if (c->is_task) {
		task = id_new_secret();
		args.task = task.text;
		args.task_ttl_ms = c->timeout_ms ? &kept_ms : NULL;
	} else {
		args.progress_token = c->progress_token;
		args.wait_until = until.text;
		args.listener = settings->listener;
	}
	c->seq = sql_tool_call_insert_waiting(st, &args, e);
	return c->seq < 0 ? -1 : 0;
}

static int insert_done(struct store *st, struct call *c, const struct peer *p,
                       const struct placed *arguments, struct err *e)
{
	struct placed result;

	if (content_place(st, str_text(&c->result), c->result.length, &result, e))
		return -1;
	c->is_task = false;
	c->seq = sql_tool_call_insert_done(
	    st,
	    &(struct tool_call_insert_done_args){
	        .connection = p->seq,
	        .session = p->session_seq,
	        .rpc_id = c->rpc_id,
	        .traceparent = c->traceparent,
	        .era = c->modern ? TOOL_CALL_ERA_MODERN : TOOL_CALL_ERA_LEGACY,
	        .tool = c->tool->name,
	        .arguments = arguments->text,
	        .arguments_seq = arguments->seq,
	        .digest = c->digest.text,
	        .result = result.text,
	        .result_seq = result.seq,
	        .is_error = c->is_error,
	        .told_answer = c->is_answer,
	        .request = c->request_seq,
	        .apply = c->apply_seq,
	    },
	    e);
	return c->seq < 0 ? -1 : 0;
}

static int insert_call(struct store *st, struct call *c, const struct peer *p,
                       const struct call_settings *settings, struct err *e)
{
	struct placed arguments;

	if (content_place(st, str_text(&c->canonical), c->canonical.length, &arguments, e))
		return -1;
	return c->waiting ? insert_waiting(st, c, p, &arguments, settings, e)
	                  : insert_done(st, c, p, &arguments, e);
}

/* The caller makes a different call: what it was told before has reached it. Of a result that
 * crossed its cancellation that is not sure, and words are in doubt: they are said again. */
static int note_delivered(struct store *st, const struct call *c, int64_t session, struct err *e)
{
	int64_t told;

	while ((told = sql_request_told_before(st, session, c->digest.text, e)) > 0) {
		int doubtful = sql_tool_call_is_doubtful(st, told, e);

		if (doubtful < 0 || (doubtful && sql_answer_repeat(st, told, e)) ||
		    sql_request_delivered(st, told, e))
			return -1;
	}
	return told < 0 ? -1 : 0;
}

/* As words do that answered what it no longer waits for, and has not asked again. */
static int note_uncollected(struct store *st, const struct call *c, int64_t session, struct err *e)
{
	struct instant at = clock_instant(clock_now_ms() - REQUEST_AGAIN_MS);
	int64_t request;

	while ((request = sql_answer_uncollected(st, session, c->digest.text, at.text, e)) > 0)
		if (steering_repeat(st, request, e))
			return -1;
	return request < 0 ? -1 : 0;
}

/* What becomes of earlier answers now that the session calls again. */
static int note_answers(struct store *st, const struct call *c, int64_t session, struct err *e)
{
	int any = sql_request_undelivered(st, session, e);

	if (any <= 0)
		return any;
	return note_delivered(st, c, session, e) || note_uncollected(st, c, session, e) ? -1 : 0;
}

/* An answer for one moment only has been given to its caller. */
static int hand_over(struct store *st, int64_t call_seq, struct err *e)
{
	int64_t request = sql_request_handed_over(st, call_seq, e);

	return request > 0 ? sql_request_delivered(st, request, e) : (int)request;
}

static int touch_session(struct store *st, const char *tool, int64_t session, struct err *e)
{
	struct instant recently = clock_instant(clock_now_ms() - TOUCH_MS);

	int touched = sql_session_is_touched(st, session, tool, recently.text, e);

	return touched < 0 ? -1 : touched ? 0 : sql_session_touch(st, tool, session, e);
}

/* Whether the agent is shown the operator's words with this result. */
static bool is_telling(const struct call *c)
{
	const struct gate_input *in = c->hook ? &c->hook->in : NULL;

	return !in || (!c->hook->told && !hook_is_subagents(in) &&
	               hook_tells(in->host, in->event, in->tool_use_id, str_text(&c->result)) &&
	               !(in->failed && in->host->fails_untold));
}

static bool is_activity(const struct call *c)
{
	return !c->hook ||
	       (c->hook->in.event != GATE_NOTIFICATION && c->hook->in.event != GATE_SESSION_END);
}

/* Whether it asks the operator something. */
static bool asks(const struct call *c)
{
	return !c->is_error && !c->hook && c->tool->run == ask_run;
}

int call_run(struct store *st, struct call *c, struct peer *p, const struct call_settings *settings,
             struct err *e)
{
	if (note_answers(st, c, p->session_seq, e) ||
	    (asks(c) && inherit_answers(st, p, c->digest.text, e)) ||
	    (!c->tool->recovers && inherit_words(st, p, e)) ||
	    steering_read(st, p->session_seq, 0, &c->steering, e))
		return -1;
	if (!c->is_error && c->tool->run(st, c, p, settings, e))
		return -1;
	if (c->policy.is_untrusted &&
	    policy_trust_ask(st, settings->workspaces.machine, p->session_seq, c->policy_file, e))
		return -1;
	if (is_activity(c) &&
	    touch_session(st, c->hook && c->hook->in.tool ? c->hook->in.tool : c->tool->name,
	                  p->session_seq, e))
		return -1;
	if (insert_call(st, c, p, settings, e) || (c->tool->note && c->tool->note(st, c, p, e)) ||
	    (c->is_said && sql_broadcast_wait_insert(st, c->seq, e)))
		return -1;
	if (c->waiting || c->elicitation.length || !is_telling(c)) /* it goes with the answer */
		steering_clear(&c->steering);
	if (steering_deliver(st, &c->steering, c->seq, e))
		return -1;
	return c->is_answer ? hand_over(st, c->seq, e) : 0;
}

/* The row of a call, and its tool. */
static int read_call(struct store *st, int64_t call_seq, struct tool_call_read_row *row,
                     const struct tool **ret_tool, struct err *e)
{
	int got = sql_tool_call_read(st, call_seq, row, e);

	*ret_tool = got > 0 ? tool_of_row(row->tool) : NULL;
	if (got < 0)
		return -1;
	return *ret_tool ? 0 : err_set(e, ERR_BUG, "call %lld is gone", (long long)call_seq);
}

int call_attach(struct store *st, int64_t call_seq, const char *listener, struct err *e)
{
	OWNED(tool_call_read_row) struct tool_call_read_row row = { 0 };
	const struct tool *tool;

	if (read_call(st, call_seq, &row, &tool, e) ||
	    (listener && sql_tool_call_listen(st, listener, call_seq, e)) ||
	    request_attach(st, row.session_seq, row.digest, e))
		return -1;
	return touch_session(st, tool->name, row.session_seq, e);
}

/* ---- the results of waits ---- */

int call_result(struct store *st, int64_t call_seq, struct telling *t, struct err *e)
{
	OWNED(tool_call_read_row) struct tool_call_read_row row = { 0 };
	const struct tool *tool;

	if (read_call(st, call_seq, &row, &tool, e))
		return -1;
	t->session_seq = row.session_seq;
	t->traceparent = xstrdup_if(row.traceparent);
	if (row.state != TOOL_CALL_STATE_DONE) {
		if (tool->answer ? ask_result(st, row.request_seq, tool->answer, t, e)
		                 : tool->result(st, row.apply_seq, t, e))
			return -1;
		return tool->amend && t->is_answer ? tool->amend(st, call_seq, t, e) : 0;
	}
	t->is_error = row.is_error;
	if (row.result)
		str_add(&t->result, row.result);
	if (steering_of_call(st, call_seq, &t->steering, e))
		return -1;
	return row.result_seq ? content_get(st, row.result_seq, &t->result, e) : 0;
}

int call_steer(struct store *st, struct telling *t, int64_t after, struct err *e)
{
	return steering_read(st, t->session_seq, after, &t->steering, e);
}

static int finish_row(struct store *st, const struct tool_call_finish_args *args,
                      const struct telling *t, struct err *e)
{
	OWNED(tool_call_read_row) struct tool_call_read_row row = { 0 };
	const struct tool *tool;

	if (sql_tool_call_finish(st, args, e) || read_call(st, args->seq, &row, &tool, e))
		return -1;
	return tool->finish ? tool->finish(st, args->seq, t, e) : 0;
}

int call_finish(struct store *st, int64_t call_seq, const struct telling *t, struct err *e)
{
	struct placed result;

	if (content_place(st, str_text(&t->result), t->result.length, &result, e))
		return -1;
	const struct tool_call_finish_args args = { .result = result.text,
		                                    .result_seq = result.seq,
		                                    .is_error = t->is_error,
		                                    .told_answer = t->is_answer,
		                                    .seq = call_seq };
	if (finish_row(st, &args, t, e) || steering_deliver(st, &t->steering, call_seq, e))
		return -1;
	return t->is_answer ? hand_over(st, call_seq, e) : 0;
}

int call_untell(struct store *st, int64_t call_seq, struct err *e)
{
	if (sql_request_taken_back(st, call_seq, e) || sql_steering_untell(st, call_seq, e) < 0)
		return -1;
	return sql_tool_call_untell(st, call_seq, e);
}

int call_tell_again(struct store *st, int64_t call_seq, struct err *e)
{
	return err_if(sql_tool_call_heard(st, call_seq, e) || hand_over(st, call_seq, e) ||
	              sql_steering_heard(st, call_seq, e) < 0);
}

int call_heard(struct store *st, int64_t connection_seq, struct err *e)
{
	int64_t seq = 0;

	while ((seq = sql_tool_call_untold(st, connection_seq, seq, e)) > 0)
		if (call_tell_again(st, seq, e))
			return -1;
	return seq < 0 ? -1 : 0;
}

int call_doubt(struct store *st, int64_t connection_seq, int64_t call_seq, struct err *e)
{
	int is_habit = sql_tool_call_taken_back(st, connection_seq, e);

	if (is_habit < 0 || sql_tool_call_take_back(st, call_seq, e) < 0)
		return -1;
	if (is_habit)
		return 0;
	return err_if(sql_request_taken_back(st, call_seq, e) ||
	              sql_steering_untell(st, call_seq, e) < 0);
}

int call_given_up(struct store *st, int64_t call_seq, struct err *e)
{
	OWNED(tool_call_read_row) struct tool_call_read_row row = { 0 };
	int got = sql_tool_call_read(st, call_seq, &row, e);
	int64_t waited_ms;

	if (got <= 0 || row.state != TOOL_CALL_STATE_WAITING || !row.session_seq)
		return got < 0 ? -1 : 0;
	waited_ms = clock_now_ms() - clock_parse(row.created_at);
	return waited_ms < CALL_GIVE_UP_MS
	           ? 0
	           : sql_session_learn_wait(st, waited_ms / 5 * 4, row.session_seq, e);
}
