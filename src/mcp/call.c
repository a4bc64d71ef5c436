#include "call.h"

#include "content.h"
#include "id.h"
#include "json_writer.h"
#include "jsonrpc.h"
#include "request.h"
#include "result.h"
#include "sql/steering.h"
#include "sql/tool_call.h"

#include <stdlib.h>
#include <string.h>

enum { TOUCH_MS = 1000 }; /* the same tool again so soon tells nothing new of a session */

/* ---- opening ---- */

static bool is_token(const cJSON *value)
{
	return cJSON_IsString(value) || cJSON_IsNumber(value);
}

static char *progress_token(const cJSON *params)
{
	const cJSON *meta = cJSON_GetObjectItemCaseSensitive(params, "_meta");
	const cJSON *token = cJSON_GetObjectItemCaseSensitive(meta, "progressToken");
	OWNED(str) struct str text = STR_INIT;

	if (!is_token(token))
		return NULL;
	json_canonical(&text, token);
	return str_take(&text);
}

int call_open(struct call *c, const cJSON *params, const char *rpc_id, bool has_nul, struct err *e)
{
	const char *name = json_text(params, "name");
	const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(params, "arguments");
	OWNED(str) struct str token = STR_INIT;
	struct err wrong = ERR_INIT;

	if (!name)
		return err_set(e, ERR_INPUT, "params.name must be a string");
	c->tool = tool_find(name);
	if (!c->tool)
		return err_set(e, ERR_INPUT, "unknown tool: %.100s", name);
	if (arguments && !cJSON_IsObject(arguments) && !cJSON_IsNull(arguments))
		return err_set(e, ERR_INPUT, "params.arguments must be an object");
	rpc_token_canonical(&token, rpc_id);
	c->rpc_id = str_take(&token);
	c->progress_token = progress_token(params);
	c->arguments = tool_arguments(c->tool, arguments);
	json_canonical(&c->canonical, c->arguments);
	if (has_nul)
		result_refuse(c, "invalid_arguments",
		              "invalid arguments for %s: a text holds a NUL byte (\\u0000)",
		              c->tool->name);
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
	free(c->files);
	plan_clear(&c->plan);
	str_clear(&c->effect);
	str_clear(&c->named_path);
	str_clear(&c->named_target);
	policy_answer_clear(&c->policy);
	str_clear(&c->policy_reason);
	str_clear(&c->result);
	str_clear(&c->elicitation);
	steering_clear(&c->steering);
	*c = (struct call)CALL_INIT;
}

/* ---- preparing ---- */

static void compute_digest(struct call *c)
{
	struct sha256_state *h = sha256_begin();

	sha256_add(h, c->tool->name, strlen(c->tool->name) + 1);
	sha256_add(h, str_text(&c->canonical), c->canonical.length + 1);
	sha256_add(h, "", 1); /* no path */
	c->digest = sha256_end(h);
}

/* ---- the workspace's policy ---- */

bool call_asks_policy(const struct call *c)
{
	struct policy_question q = { .tool = NULL };

	return !c->is_error && c->tool->policy && c->tool->policy(c, &q);
}

/* A path, and the file that it stands for where that is another one: both must be allowed. */
static void add_path(struct policy_question *q, const char **paths, const char *path,
                     const char *target)
{
	paths[q->path_count++] = path;
	if (strcmp(path, target) != 0)
		paths[q->path_count++] = target;
}

/* The file as it is decides, and where it does not count by itself, what was trusted of it, too. */
static void judge(struct call *c, struct policy_file *file, const struct policy_question *q)
{
	OWNED(policy_answer) struct policy_answer trusted = POLICY_ANSWER_INIT;

	policy_judge(file->policy, q, &c->policy);
	if (!c->policy.approved || file->counts)
		return;
	policy_judge(file->trusted, q, &trusted);
	if (trusted.approved)
		return;
	c->untrusted = file;
	str_addf(&trusted.rule, "%s", c->policy.rule.bytes);
	policy_answer_clear(&c->policy);
	str_addf(&c->policy.why, "%s allows it, but nobody has trusted this version of the policy",
	         trusted.rule.bytes);
}

static void ask_policy(struct call *c, struct policy_file *policy,
                       const struct call_settings *settings)
{
	struct policy_question q = { .tool = c->tool->name,
		                     .known = settings->commands,
		                     .always_ask = settings->always_ask };
	const char **paths = xcalloc(2 * c->plan.count + 2, sizeof(*paths));

	for (size_t i = 0; c->files && i < c->plan.count; i++)
		add_path(&q, paths, c->files[i].path, c->files[i].target);
	if (c->named_target.length)
		add_path(&q, paths, c->named_path.bytes, c->named_target.bytes);
	q.paths = paths;
	if (c->tool->policy(c, &q))
		judge(c, policy, &q);
	free(paths);
	if (!c->policy.approved)
		return;
	str_addf(&c->policy_reason, "%s (policy %.8s)", c->policy.rule.bytes, policy->hash);
	memcpy(c->policy_hash, policy->hash, sizeof(c->policy_hash));
	c->logs_policy = policy_logs(policy->policy, &c->summary_ms);
	c->summary_ms *= 1000;
}

bool call_look(struct call *c, const struct call_settings *settings, struct hand_ask *ask)
{
	if (!c->is_error && c->tool->look)
		c->tool->look(c, settings, ask);
	ask->policy = call_asks_policy(c);
	return ask->policy || ask->file_path || ask->named;
}

void call_refuse(struct call *c, const struct refusal *why)
{
	if (!c->is_error)
		result_refuse(c, why->code, "%s", why->text);
}

void call_prepare(struct call *c, struct hand_found *found, struct policy_file *policy,
                  const struct call_settings *settings)
{
	if (!c->is_error && c->tool->seen && found)
		c->tool->seen(c, found);
	if (!c->digest.text[0])
		compute_digest(c);
	if (!c->is_error && policy)
		ask_policy(c, policy, settings);
}

/* ---- running ---- */

/* What the caller has said counts; else the configuration, and what is known of its client. */
int64_t call_patience_ms(const struct peer *p, const struct call_settings *settings)
{
	if (p->identity.wait_s)
		return p->identity.wait_s * 1000;
	if (p->wait_limit_ms && p->wait_limit_ms < settings->wait_cap_ms)
		return p->wait_limit_ms;
	return settings->wait_cap_ms;
}

static int insert_call(struct store *st, struct call *c, const struct peer *p,
                       const struct call_settings *settings, struct err *e)
{
	int64_t arguments = content_seq_for(st, str_text(&c->canonical), c->canonical.length, e);
	int64_t result =
	    c->waiting ? 0 : content_seq_for(st, str_text(&c->result), c->result.length, e);
	int64_t wait_ms = call_patience_ms(p, settings);
	struct instant until = clock_instant(clock_now_ms() + wait_ms);
	struct secret task; /* lives until the row is written */
	stmt *s =
	    store_stmt(st, c->waiting ? SQL_TOOL_CALL_INSERT_WAITING : SQL_TOOL_CALL_INSERT_DONE);

	if (arguments < 0 || result < 0)
		return -1;
	/* A write is done too soon for a task. */
	c->is_task = c->waiting && c->as_task && c->request_seq != 0;
	bind_int(s, ":connection", p->seq);
	bind_int(s, ":session", p->session_seq);
	bind_text(s, ":rpc_id", c->rpc_id);
	bind_text(s, ":era", c->modern ? "modern" : "legacy");
	bind_text(s, ":tool", c->tool->name);
	bind_text(s, ":arguments", arguments ? NULL : c->canonical.bytes);
	bind_seq(s, ":arguments_seq", arguments);
	bind_text(s, ":digest", c->digest.text);
	bind_seq(s, ":request", c->request_seq);
	bind_seq(s, ":apply", c->apply_seq);
	if (c->is_task) {
		task = secret_new();
		bind_text(s, ":task", task.text);
		if (c->timeout_ms)
			bind_int(s, ":task_ttl_ms", c->timeout_ms + CALL_TASK_KEPT_MS);
	} else if (c->waiting) {
		bind_text(s, ":progress_token", c->progress_token);
		bind_text(s, ":wait_until", until.text);
		bind_text(s, ":listener", settings->listener);
	} else {
		bind_text(s, ":result", result ? NULL : str_text(&c->result));
		bind_seq(s, ":result_seq", result);
		bind_int(s, ":is_error", c->is_error);
		bind_int(s, ":told_answer", c->is_answer);
	}
	if (stmt_run(s, e) < 0)
		return -1;
	c->seq = store_last_seq(st);
	return 0;
}

static int mark_delivered(struct store *st, const struct call *c, const struct peer *p,
                          struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_DELIVERED);

	bind_int(s, ":session", p->session_seq);
	bind_text(s, ":digest", c->digest.text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int touch_session(struct store *st, const struct tool *tool, int64_t session, struct err *e)
{
	struct instant recently = clock_instant(clock_now_ms() - TOUCH_MS);
	stmt *s = store_stmt(st, SQL_SESSION_TOUCH);

	bind_text(s, ":recently", recently.text);
	bind_int(s, ":seq", session);
	bind_text(s, ":tool", tool->name);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int run_on(struct store *st, enum sql which, int64_t call_seq, struct err *e)
{
	stmt *s = store_stmt(st, which);

	bind_int(s, ":call", call_seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int call_run(struct store *st, struct call *c, struct peer *p, const struct call_settings *settings,
             struct err *e)
{
	if (mark_delivered(st, c, p, e) || steering_read(st, p->session_seq, 0, &c->steering, e))
		return -1;
	if (!c->is_error && c->tool->run(st, c, p, settings, e))
		return -1;
	if (c->untrusted &&
	    policy_trust_ask(st, settings->workspaces.machine, p->session_seq, c->untrusted,
	                     settings->commands, settings->always_ask, e))
		return -1;
	if (touch_session(st, c->tool, p->session_seq, e))
		return -1;
	if (insert_call(st, c, p, settings, e) ||
	    (c->is_said && run_on(st, SQL_SAID_WAIT_INSERT, c->seq, e)))
		return -1;
	if (c->waiting || c->elicitation.length) /* it goes with the answer */
		steering_clear(&c->steering);
	if (steering_deliver(st, &c->steering, c->seq, e))
		return -1;
	return c->is_answer ? run_on(st, SQL_REQUEST_HANDED_OVER, c->seq, e) : 0;
}

int call_attach(struct store *st, int64_t call_seq, const char *listener, struct err *e)
{
	stmt *s = store_stmt(st, SQL_TOOL_CALL_READ);
	OWNED(char_ptr) char *digest = NULL;
	const struct tool *tool = NULL;
	int64_t session = 0;
	int got;

	bind_int(s, ":seq", call_seq);
	got = stmt_row(s, e);
	if (got > 0) {
		tool = tool_find(col_text(s, TOOL_CALL_READ_TOOL));
		session = col_int(s, TOOL_CALL_READ_SESSION_SEQ);
		digest = xstrdup(col_text(s, TOOL_CALL_READ_DIGEST));
	}
	stmt_reset(s);
	if (got <= 0 || !tool)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "call %lld is gone", (long long)call_seq);
	if (listener) {
		s = store_stmt(st, SQL_TOOL_CALL_LISTEN);
		bind_int(s, ":seq", call_seq);
		bind_text(s, ":listener", listener);
		if (stmt_run(s, e) < 0)
			return -1;
	}
	if (request_attach(st, session, digest, e))
		return -1;
	return touch_session(st, tool, session, e);
}

/* ---- the results of waits ---- */

int call_result(struct store *st, int64_t call_seq, struct telling *t, struct err *e)
{
	stmt *s = store_stmt(st, SQL_TOOL_CALL_READ);
	const struct tool *tool = NULL;
	int64_t request = 0, apply = 0, stored = 0;
	bool done = false;
	int got;

	bind_int(s, ":seq", call_seq);
	got = stmt_row(s, e);
	if (got > 0) {
		tool = tool_find(col_text(s, TOOL_CALL_READ_TOOL));
		request = col_int(s, TOOL_CALL_READ_REQUEST_SEQ);
		apply = col_int(s, TOOL_CALL_READ_APPLY_SEQ);
		stored = col_int(s, TOOL_CALL_READ_RESULT_SEQ);
		done = strcmp(col_text(s, TOOL_CALL_READ_STATE), "done") == 0;
		t->session_seq = col_int(s, TOOL_CALL_READ_SESSION_SEQ);
		if (done) {
			t->is_error = col_int(s, TOOL_CALL_READ_IS_ERROR) != 0;
			if (col_text(s, TOOL_CALL_READ_RESULT))
				str_add(&t->result, col_text(s, TOOL_CALL_READ_RESULT));
		}
	}
	stmt_reset(s);
	if (got <= 0 || !tool)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "call %lld is gone", (long long)call_seq);
	if (done && steering_of_call(st, call_seq, &t->steering, e))
		return -1;
	if (done)
		return stored ? content_get(st, stored, &t->result, e) : 0;
	return tool->result(st, apply ? apply : request, t, e);
}

int call_steer(struct store *st, struct telling *t, int64_t after, struct err *e)
{
	return steering_read(st, t->session_seq, after, &t->steering, e);
}

int call_finish(struct store *st, int64_t call_seq, const struct telling *t, struct err *e)
{
	int64_t stored = content_seq_for(st, str_text(&t->result), t->result.length, e);
	stmt *s;

	if (stored < 0)
		return -1;
	s = store_stmt(st, SQL_TOOL_CALL_FINISH);
	bind_int(s, ":seq", call_seq);
	bind_text(s, ":result", stored ? NULL : str_text(&t->result));
	bind_seq(s, ":result_seq", stored);
	bind_int(s, ":is_error", t->is_error);
	bind_int(s, ":told_answer", t->is_answer);
	if (stmt_run(s, e) < 0 || steering_deliver(st, &t->steering, call_seq, e))
		return -1;
	return t->is_answer ? run_on(st, SQL_REQUEST_HANDED_OVER, call_seq, e) : 0;
}

int call_untell(struct store *st, int64_t call_seq, struct err *e)
{
	if (run_on(st, SQL_REQUEST_TAKEN_BACK, call_seq, e) ||
	    run_on(st, SQL_STEERING_UNTELL, call_seq, e))
		return -1;
	return run_on(st, SQL_TOOL_CALL_UNTELL, call_seq, e);
}

int call_doubt(struct store *st, int64_t connection_seq, int64_t call_seq, struct err *e)
{
	int is_habit = sql_tool_call_taken_back(st, connection_seq, e);

	if (is_habit < 0 || sql_tool_call_take_back(st, call_seq, e) < 0)
		return -1;
	if (is_habit)
		return 0;
	if (run_on(st, SQL_REQUEST_TAKEN_BACK, call_seq, e))
		return -1;
	return sql_steering_doubt(st, call_seq, e) < 0 ? -1 : 0;
}

int call_given_up(struct store *st, int64_t call_seq, struct err *e)
{
	stmt *s = store_stmt(st, SQL_TOOL_CALL_READ);
	int64_t session = 0, waited_ms = 0;
	int got;

	bind_int(s, ":seq", call_seq);
	got = stmt_row(s, e);
	if (got > 0 && strcmp(col_text(s, TOOL_CALL_READ_STATE), "waiting") == 0) {
		session = col_int(s, TOOL_CALL_READ_SESSION_SEQ);
		waited_ms = clock_now_ms() - clock_parse(col_text(s, TOOL_CALL_READ_CREATED_AT));
	}
	stmt_reset(s);
	if (got < 0 || !session || waited_ms < CALL_GIVE_UP_MS)
		return got < 0 ? -1 : 0;
	s = store_stmt(st, SQL_SESSION_LEARN_WAIT);
	bind_int(s, ":seq", session);
	bind_int(s, ":limit_ms", waited_ms / 5 * 4);
	return stmt_run(s, e) < 0 ? -1 : 0;
}
