#include "call.h"

#include "content.h"
#include "decision.h"
#include "diff.h"
#include "elicit.h"
#include "id.h"
#include "jsonrpc.h"
#include "proposal.h"
#include "request.h"
#include "safe_path.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TITLE_BYTES = 200,
	TOUCH_MS = 1000, /* the same tool again so soon tells nothing new of a session */
};

/* ---- results ---- */

static void error_result(struct str *result, const char *code, const char *text)
{
	str_reset(result);
	str_addf(result, "{\"status\":\"error\",\"error_code\":\"%s\",\"error_message\":", code);
	json_quote(result, text);
	str_add_char(result, '}');
}

void call_refuse(struct call *c, const char *code, const char *format, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	error_result(&c->result, code, text);
	c->is_error = true;
}

static void add_text(struct str *out, const char *name, const char *text)
{
	if (!text)
		return;
	str_addf(out, ",\"%s\":", name);
	json_quote(out, text);
}

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
		call_refuse(c, "invalid_arguments",
		            "invalid arguments for %s: a text holds a NUL byte (\\u0000)",
		            c->tool->name);
	else if (tool_check(c->tool, c->arguments, &wrong))
		call_refuse(c, "invalid_arguments", "%s", wrong.text);
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
	policy_answer_clear(&c->policy);
	str_clear(&c->policy_reason);
	str_clear(&c->result);
	str_clear(&c->elicitation);
	steering_clear(&c->steering);
	*c = (struct call)CALL_INIT;
}

/* ---- preparing ---- */

/* The files as they are when the question is asked, and what is to become of them. */
static int look_at_files(struct call *c, const struct proposal *p, struct refusal *why)
{
	struct err e = ERR_INIT;
	int root = -1, failed;

	if (workspace_open(p->workspace_root, &root, &e))
		return refusal_set(why, "workspace_unreadable", "%s", e.text);
	failed = plan_look(root, p, &c->plan, why) || plan_work(p, &c->plan, why);
	(void)close(root);
	return failed ? -1 : 0;
}

/* What the contents were needed for is known: of the plan, what is stored remains. */
static void keep_effect(struct call *c, const char *text)
{
	struct planned *f = &c->plan.files[c->plan.primary];

	if (!c->plan.is_diff)
		diff_compute(f->is.path, f->exists ? str_text(&f->old) : NULL, f->old.length, text,
		             strlen(text), &c->effect);
	c->files = xmalloc(c->plan.count * sizeof(*c->files));
	for (size_t i = 0; i < c->plan.count; i++) {
		c->files[i] = c->plan.files[i].is;
		str_clear(&c->plan.files[i].old);
		str_clear(&c->plan.files[i].new);
	}
}

static void look_at_proposal(struct call *c, const struct peer *peer,
                             const struct call_settings *settings)
{
	const char *text = json_text(c->arguments, "diff");
	const struct proposal p = { .workspace_root = peer->workspace_root,
		                    .file_path = json_text(c->arguments, "file_path"),
		                    .body = text,
		                    .body_length = strlen(text),
		                    .database = settings->database,
		                    .run_dir = settings->run_dir,
		                    .fuzz = settings->fuzz };
	struct refusal why = { .code = NULL };

	if (look_at_files(c, &p, &why) == 0)
		keep_effect(c, text);
	else if (c->plan.is_diff && strcmp(why.code, "patch_conflict") == 0)
		call_refuse(c, why.code, "%s; read the file again and make a new diff", why.text);
	else
		call_refuse(c, why.code, "%s", why.text);
}

static const struct touched *primary(const struct call *c)
{
	return &c->files[c->plan.primary];
}

/* The digest of what a person is going to be shown. */
static struct sha256 clearance_digest(const struct call *c)
{
	const struct shown s = { .title = json_text(c->arguments, "title"),
		                 .description = json_text(c->arguments, "description"),
		                 .risk_level = json_text(c->arguments, "risk_level"),
		                 .file_path = primary(c)->path,
		                 .body = json_text(c->arguments, "diff"),
		                 .body_length = strlen(json_text(c->arguments, "diff")),
		                 .effect = str_text(&c->effect),
		                 .effect_length = c->effect.length,
		                 .replaces_file = c->plan.replaces_file,
		                 .files = c->files,
		                 .file_count = c->plan.count };

	return shown_digest(&s);
}

static void compute_digest(struct call *c)
{
	struct sha256_state *h;

	if (c->files) {
		c->digest = clearance_digest(c);
		return;
	}
	h = sha256_begin();
	sha256_add(h, c->tool->name, strlen(c->tool->name) + 1);
	sha256_add(h, str_text(&c->canonical), c->canonical.length + 1);
	sha256_add(h, "", 1); /* no path */
	c->digest = sha256_end(h);
}

/* ---- the workspace's policy ---- */

/* Whether auto_check is asked about reading: only what is known to read does. */
static bool is_reading(const char *tool)
{
	static const char *const READERS[] = { "read",      "read_file",  "show-file",
		                               "show_file", "list-files", "list_files" };

	for (size_t i = 0; i < COUNT(READERS); i++)
		if (strcmp(READERS[i], tool) == 0)
			return true;
	return false;
}

/* Whether auto_check is about a command line, which the operator is asked about if need be. */
static bool is_command(const struct call *c)
{
	const char *kind = json_text(c->arguments, "kind");

	return kind && strcmp(kind, "terminal_command") == 0;
}

static void question_of_context(const struct call *c, struct policy_question *q)
{
	const cJSON *context = cJSON_GetObjectItemCaseSensitive(c->arguments, "context");

	q->tool = json_text(c->arguments, "tool_name");
	q->risk_level = json_text(context, "risk_level");
	q->reads = is_reading(q->tool);
	q->is_command = is_command(c);
}

/* The file in auto_check's context, relative to the workspace, if there is one; false: it is none
 * of this workspace. */
static bool context_file(const struct call *c, const struct peer *p, struct str *path)
{
	const char *given =
	    json_text(cJSON_GetObjectItemCaseSensitive(c->arguments, "context"), "file_path");
	struct err why = ERR_INIT;

	return !given || safe_path_clean(p->workspace_root, given, strlen(given), path, &why) == 0;
}

bool call_asks_policy(const struct call *c)
{
	if (c->is_error)
		return false;
	if (c->tool->id == TOOL_TRANSMIT) /* an agent in trouble is for a person to see */
		return strcmp(json_text(c->arguments, "prompt_type"), "error_recovery") != 0;
	return c->tool->id == TOOL_CHECK_CLEARANCE || c->tool->id == TOOL_AUTO_CHECK;
}

static void ask_policy(struct call *c, const struct peer *p, const struct policy_file *policy,
                       const struct call_settings *settings)
{
	struct policy_question q = { .tool = c->tool->name,
		                     .risk_level = json_text(c->arguments, "risk_level"),
		                     .known = settings->commands };
	const char **paths = xcalloc(c->plan.count + 1, sizeof(*paths));
	OWNED(str) struct str path = STR_INIT;
	bool asks = true;

	if (c->tool->id == TOOL_AUTO_CHECK) {
		question_of_context(c, &q);
		asks = context_file(c, p, &path);
		paths[0] = path.bytes;
		q.path_count = path.length ? 1 : 0;
	}
	for (size_t i = 0; c->files && i < c->plan.count; i++)
		paths[q.path_count++] = c->files[i].path;
	q.paths = paths;
	if (asks)
		policy_judge(policy->policy, &q, &c->policy);
	free(paths);
	if (!c->policy.approved)
		return;
	str_addf(&c->policy_reason, "%s (policy %.8s)", c->policy.rule.bytes, policy->hash);
	memcpy(c->policy_hash, policy->hash, sizeof(c->policy_hash));
	c->logs_policy = policy_logs(policy->policy, &c->summary_ms);
	c->summary_ms *= 1000;
}

void call_prepare(struct call *c, const struct peer *p, const struct policy_file *policy,
                  const struct call_settings *settings)
{
	if (!c->is_error && c->tool->id == TOOL_CHECK_CLEARANCE)
		look_at_proposal(c, p, settings);
	compute_digest(c);
	if (!c->is_error && policy)
		ask_policy(c, p, policy, settings);
}

/* ---- asking a person ---- */

static void first_line(char out[TITLE_BYTES + 1], const char *text)
{
	size_t n = strcspn(text, "\r\n");

	n = n > TITLE_BYTES ? TITLE_BYTES : n;
	while (n > 0 && !utf8_valid(text, n))
		n--;
	memcpy(out, text, n);
	out[n] = '\0';
}

static int64_t number(const struct call *c, const char *name)
{
	const cJSON *n = cJSON_GetObjectItemCaseSensitive(c->arguments, name);

	return cJSON_IsNumber(n) ? (int64_t)n->valuedouble : -1;
}

const char *const PROMPT_TYPE[PROMPT_TYPES] = { "continuation", "clarification", "error_recovery",
	                                        "resource_warning" };

static int64_t prompt_ms(const char *type, const struct call_settings *settings)
{
	size_t i = 0;

	while (i < PROMPT_TYPES - 1 && strcmp(PROMPT_TYPE[i], type) != 0)
		i++;
	return settings->prompt_ms[i];
}

static void make_question(const struct call *c, const struct call_settings *settings,
                          char title[TITLE_BYTES + 1], struct question *q)
{
	*q = (struct question){ .digest = c->digest.text,
		                .elapsed_seconds = -1,
		                .actions_taken = -1 };
	if (c->tool->id == TOOL_CHECK_CLEARANCE) {
		q->kind = "clearance";
		q->title = json_text(c->arguments, "title");
		q->description = json_text(c->arguments, "description");
		q->body = json_text(c->arguments, "diff");
		q->risk_level = json_text(c->arguments, "risk_level");
		q->file_path = primary(c)->path;
		q->original_hash = primary(c)->hash;
		q->files = c->files;
		q->file_count = c->plan.count;
		q->replaces_file = c->plan.replaces_file;
		q->effect = c->effect.length ? c->effect.bytes : NULL;
		q->effect_length = c->effect.length;
		q->timeout_ms = settings->approval_ms;
	} else if (c->tool->id == TOOL_TRANSMIT) {
		q->kind = "prompt";
		q->body = json_text(c->arguments, "prompt_text");
		q->prompt_type = json_text(c->arguments, "prompt_type");
		q->elapsed_seconds = number(c, "elapsed_seconds");
		q->actions_taken = number(c, "actions_taken");
		q->timeout_ms = prompt_ms(q->prompt_type, settings);
	} else if (c->tool->id == TOOL_AUTO_CHECK) {
		const char *risk = json_text(
		    cJSON_GetObjectItemCaseSensitive(c->arguments, "context"), "risk_level");

		q->kind = "permission";
		q->body = json_text(c->arguments, "tool_name");
		q->description = c->policy.why.bytes;
		q->risk_level = risk ? risk : "low";
		q->timeout_ms = settings->approval_ms;
	} else {
		int64_t own = number(c, "timeout_seconds");

		q->kind = "standby";
		q->body = json_text(c->arguments, "message");
		q->timeout_ms = own > 0 ? own * 1000 : settings->wait_ms;
	}
	q->body_length = strlen(q->body);
	if (!q->title) {
		first_line(title, q->body);
		q->title = title;
	}
}

/* What the caller has said counts; else the configuration, and what is known of its client. */
int64_t call_patience_ms(const struct peer *p, const struct call_settings *settings)
{
	if (p->identity.wait_s)
		return p->identity.wait_s * 1000;
	if (p->wait_limit_ms && p->wait_limit_ms < settings->wait_cap_ms)
		return p->wait_limit_ms;
	return settings->wait_cap_ms;
}

static int insert_call(struct store *st, struct call *c, const struct peer *p, int64_t request,
                       int64_t apply, const struct call_settings *settings, struct err *e)
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
	c->is_task =
	    c->waiting && c->as_task && request != 0; /* a write is done too soon for one */
	bind_int(s, ":connection", p->seq);
	bind_int(s, ":session", p->session_seq);
	bind_text(s, ":rpc_id", c->rpc_id);
	bind_text(s, ":era", c->modern ? "modern" : "legacy");
	bind_text(s, ":tool", c->tool->name);
	bind_text(s, ":arguments", arguments ? NULL : c->canonical.bytes);
	bind_seq(s, ":arguments_seq", arguments);
	bind_text(s, ":digest", c->digest.text);
	bind_seq(s, ":request", request);
	bind_seq(s, ":apply", apply);
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

static int build_result(struct store *st, enum tool_id tool, int64_t request, int64_t apply,
                        struct telling *t, struct err *e);

/* Has it told that the policy allowed this, if the file says so. request: 0 for an auto_check. */
static int note_approval(struct store *st, const struct call *c, const struct peer *p,
                         int64_t request, struct err *e)
{
	struct instant due = clock_instant(clock_now_ms() + c->summary_ms);
	const char *text = c->files ? primary(c)->path
	                   : c->tool->id == TOOL_AUTO_CHECK
	                       ? json_text(c->arguments, "tool_name")
	                       : json_text(c->arguments, "prompt_text");
	char subject[TITLE_BYTES + 1];
	stmt *s;

	if (!c->logs_policy)
		return 0;
	first_line(subject, text);
	s = store_stmt(st, SQL_AUTO_APPROVAL_INSERT);
	bind_int(s, ":session", p->session_seq);
	bind_seq(s, ":request", request);
	bind_text(s, ":subject", subject);
	bind_text(s, ":rule", c->policy.rule.bytes);
	bind_text(s, ":hash", c->policy_hash);
	bind_text(s, ":due_at", due.text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* The workspace's policy allows it: that is the decision. */
static int decide_by_policy(struct store *st, struct call *c, const struct peer *p, int64_t request,
                            struct err *e)
{
	OWNED(request) struct request r = REQUEST_INIT;
	OWNED(decision_result) struct decision_result result = DECISION_RESULT_INIT;
	struct decision d = { .verdict = c->tool->id == TOOL_TRANSMIT ? "continue" : "approve",
		              .reason = c->policy_reason.bytes,
		              .digest = c->digest.text,
		              .operator_id = "system:policy",
		              .source = "policy" };

	if (request_read_answer(st, request, &r, e) <= 0)
		return -1;
	d.request_id = r.id;
	if (decision_insert(st, &d, &result, e))
		return -1;
	c->waiting = strcmp(result.outcome, "applied") != 0;
	return c->waiting ? 0 : note_approval(st, c, p, request, e);
}

static void show_to_client(struct call *c, const struct request *r)
{
	str_add_char(&c->elicitation, '{');
	json_quote(&c->elicitation, r->id);
	str_add(&c->elicitation, ":{\"method\":\"elicitation/create\",\"params\":");
	elicit_params(&c->elicitation, r, true);
	str_add(&c->elicitation, "}}");
}

/* Has a modern client show an open question to its user: it comes again with what that says, or
 * that it says nothing, and then the call waits for somebody else's answer. The key is the
 * request's id: what was said of another question, or of the file as it was before, does not count.
 */
static int elicit(struct store *st, struct call *c, int64_t request, struct err *e)
{
	OWNED(request) struct request r = REQUEST_INIT;
	const cJSON *response;
	const char *action;
	bool decided = false;

	if (request_read(st, request, &r, e) <= 0)
		return -1;
	if (strcmp(r.session_mode, "remote") == 0)
		return 0;
	response = cJSON_GetObjectItemCaseSensitive(c->responses, r.id);
	action = json_text(response, "action");
	if (action && elicit_take(st, &r, response, &decided, e))
		return -1;
	if (!decided && (!action || strcmp(action, "accept") == 0))
		show_to_client(c, &r);
	c->waiting = !decided && !c->elicitation.length;
	return 0;
}

/* Does nothing unless Slack has refused the question before. */
static int ask_slack_again(struct store *st, int64_t request, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SLACK_ASK_AGAIN);

	bind_int(s, ":request", request);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* Asks, or finds the answer that is there already. Sets *ret_request. */
static int ask(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, int64_t *ret_request, struct err *e)
{
	const struct asker who = { .session_seq = p->session_seq,
		                   .host = settings->places.host,
		                   .workspace_root = p->workspace_root };
	char title[TITLE_BYTES + 1];
	struct question q;
	int64_t free_bytes = store_free_bytes(settings->db_path);

	make_question(c, settings, title, &q);
	q.only_again = free_bytes >= 0 && free_bytes < STORE_MIN_FREE_BYTES;
	c->timeout_ms = q.timeout_ms;
	*ret_request = request_ask(st, &who, &q, &c->waiting, e);
	if (*ret_request < 0)
		return -1;
	if (*ret_request == 0) {
		call_refuse(
		    c, "disk_full",
		    "less than 64 MiB are free on the database's disk: no new questions are "
		    "taken; free some space and ask again");
		return 0;
	}
	if (c->waiting && c->policy.approved && decide_by_policy(st, c, p, *ret_request, e))
		return -1;
	if (c->waiting && c->elicits && elicit(st, c, *ret_request, e))
		return -1;
	if (c->waiting)
		return ask_slack_again(st, *ret_request, e);
	OWNED(telling) struct telling t = TELLING_INIT;
	if (build_result(st, c->tool->id, *ret_request, 0, &t, e))
		return -1;
	str_add(&c->result, str_text(&t.result));
	c->is_error = t.is_error;
	c->is_answer = t.is_answer;
	return 0;
}

/* ---- check_diff ---- */

static void add_item(struct str *list, const char *before)
{
	str_add(list, list->length ? "," : "");
	str_add(list, before);
}

static void add_deleted(stmt *s, struct str *deleted, struct str *renamed)
{
	const char *to = col_text(s, FILE_CHANGE_LIST_OTHER_PATH);

	add_item(to ? renamed : deleted, to ? "{\"from\":" : "");
	json_quote(to ? renamed : deleted, col_text(s, FILE_CHANGE_LIST_PATH));
	if (!to)
		return;
	str_add(renamed, ",\"to\":");
	json_quote(renamed, to);
	str_add_char(renamed, '}');
}

static void add_written(stmt *s, struct str *written)
{
	add_item(written, "{\"path\":");
	json_quote(written, col_text(s, FILE_CHANGE_LIST_PATH));
	str_addf(written, ",\"bytes\":%lld}", (long long)col_int(s, FILE_CHANGE_LIST_BYTES));
}

/* Every file of a write: written, and where there are such, deleted and renamed. */
static int add_files(struct store *st, int64_t apply, struct str *result, struct err *e)
{
	OWNED(str) struct str written = STR_INIT;
	OWNED(str) struct str deleted = STR_INIT;
	OWNED(str) struct str renamed = STR_INIT;
	stmt *s = store_stmt(st, SQL_FILE_CHANGE_LIST);
	int got;

	bind_int(s, ":apply", apply);
	while ((got = stmt_row(s, e)) > 0)
		if (strcmp(col_text(s, FILE_CHANGE_LIST_ACTION), "delete") == 0)
			add_deleted(s, &deleted, &renamed);
		else
			add_written(s, &written);
	stmt_reset(s);
	str_addf(result, ",\"files_written\":[%s]", str_text(&written));
	if (deleted.length)
		str_addf(result, ",\"deleted\":[%s]", deleted.bytes);
	if (renamed.length)
		str_addf(result, ",\"renamed\":[%s]", renamed.bytes);
	return got;
}

/* The seq of the write that succeeded, 0: there is none, -1 error. */
static int64_t applied_seq(struct store *st, int64_t request, struct err *e)
{
	stmt *s = store_stmt(st, SQL_APPLY_DONE);

	bind_int(s, ":request", request);
	return stmt_number(s, APPLY_DONE_SEQ, e);
}

static int already_consumed(struct store *st, struct call *c, int64_t request, struct err *e)
{
	int64_t apply = applied_seq(st, request, e);
	stmt *s = store_stmt(st, SQL_APPLY_UNDONE);
	int got;

	if (apply < 0)
		return -1;
	bind_int(s, ":request", request);
	got = stmt_row(s, e);
	if (got > 0)
		call_refuse(
		    c, "already_consumed",
		    "already consumed: this change has been applied before, and the operator "
		    "took it back at %s",
		    col_text(s, APPLY_UNDONE_UPDATED_AT));
	else
		call_refuse(c, "already_consumed",
		            "already consumed: this change has been applied before");
	stmt_reset(s);
	if (got < 0)
		return -1;
	c->result.bytes[--c->result.length] = '\0'; /* the closing brace */
	if (apply && add_files(st, apply, &c->result, e))
		return -1;
	str_add_char(&c->result, '}');
	return 0;
}

/* Whether p may apply what another session asked: its successor, once nobody is connected to it. */
static int may_succeed(struct store *st, const struct request *r, const struct peer *p,
                       const struct call_settings *settings, struct err *e)
{
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);
	stmt *s;
	int got;

	if (r->session_seq == p->session_seq)
		return 1;
	if (strcmp(r->workspace_root, p->workspace_root) != 0 ||
	    strcmp(r->host, settings->places.host) != 0)
		return 0;
	s = store_stmt(st, SQL_SESSION_IS_CONNECTED);
	bind_int(s, ":seq", r->session_seq);
	bind_text(s, ":live_after", live_after.text);
	got = stmt_row(s, e);
	stmt_reset(s);
	return got < 0 ? -1 : !got;
}

static int queue_apply(struct store *st, struct call *c, int64_t request, const char *host,
                       int64_t *ret_apply, struct err *e)
{
	stmt *s = store_stmt(st, SQL_APPLY_OF_REQUEST);
	int got;

	bind_int(s, ":request", request);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *state = col_text(s, APPLY_OF_REQUEST_STATE);

		if (strcmp(state, "queued") == 0 || strcmp(state, "claimed") == 0)
			*ret_apply = col_int(s, APPLY_OF_REQUEST_SEQ);
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	c->waiting = true;
	if (*ret_apply)
		return 0;
	s = store_stmt(st, SQL_APPLY_INSERT);
	bind_int(s, ":request", request);
	bind_text(s, ":host", host);
	bind_int(s, ":force",
	         cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c->arguments, "force")));
	if (stmt_run(s, e) < 0)
		return -1;
	*ret_apply = store_last_seq(st);
	return 0;
}

static int find_clearance(struct store *st, const char *id, struct request *r, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_BY_ID);
	int64_t seq = 0;
	int got;

	bind_text(s, ":id", id);
	got = stmt_row(s, e);
	if (got > 0 && strcmp(col_text(s, REQUEST_BY_ID_KIND), "clearance") == 0)
		seq = col_int(s, REQUEST_BY_ID_SEQ);
	stmt_reset(s);
	if (got < 0)
		return -1;
	return seq ? request_read(st, seq, r, e) : 0;
}

static int check_diff(struct store *st, struct call *c, const struct peer *p,
                      const struct call_settings *settings, int64_t *ret_apply, struct err *e)
{
	OWNED(request) struct request r = REQUEST_INIT;
	const char *id = json_text(c->arguments, "request_id");
	int found = find_clearance(st, id, &r, e);
	int ours = found > 0 ? may_succeed(st, &r, p, settings, e) : 0;

	if (found < 0 || ours < 0)
		return -1;
	if (!found || !ours) {
		call_refuse(c, "request_not_found",
		            "not found: this session has asked for no clearance with the id %.80s",
		            id);
		return 0;
	}
	if (strcmp(r.state, "consumed") == 0)
		return already_consumed(st, c, r.seq, e);
	if (strcmp(r.state, "approved") != 0) {
		call_refuse(c, "not_approved", "the request is %s, not approved", r.state);
		return 0;
	}
	return queue_apply(st, c, r.seq, settings->places.host, ret_apply, e);
}

/* ---- broadcasts ---- */

void call_said_result(struct str *out, bool posted, const char *ts)
{
	str_addf(out, "{\"posted\":%s", posted ? "true" : "false");
	if (ts)
		add_text(out, "ts", ts);
	str_add_char(out, '}');
}

int call_said(struct store *st, int64_t call_seq, bool late, struct str *result, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SAID_WAIT_READ);
	const char *ts = NULL;
	bool refused = false;
	int got, known;

	bind_int(s, ":call", call_seq);
	got = stmt_row(s, e);
	if (got > 0) {
		ts = col_text(s, SAID_WAIT_READ_TS);
		refused = col_int(s, SAID_WAIT_READ_REFUSED) != 0;
	}
	known = got >= 0 && (ts || refused || late);
	if (known)
		call_said_result(result, !refused, ts);
	stmt_reset(s);
	return got < 0 ? -1 : known;
}

int call_said_finish(struct store *st, int64_t call_seq, const char *result, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SAID_WAIT_DELETE);

	bind_int(s, ":call", call_seq);
	if (stmt_run(s, e) < 0)
		return -1;
	s = store_stmt(st, SQL_TOOL_CALL_SAID);
	bind_int(s, ":seq", call_seq);
	bind_text(s, ":result", result);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int wait_for_ts(struct store *st, int64_t call_seq, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SAID_WAIT_INSERT);

	bind_int(s, ":call", call_seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* ---- the tools that answer at once ---- */

static int ping(struct store *st, struct call *c, const struct peer *p,
                const struct call_settings *settings, struct err *e)
{
	const cJSON *progress = cJSON_GetObjectItemCaseSensitive(c->arguments, "progress_snapshot");

	if (progress) {
		OWNED(str) struct str text = STR_INIT;
		stmt *s = store_stmt(st, SQL_SESSION_SET_PROGRESS);

		json_canonical(&text, progress);
		bind_int(s, ":seq", p->session_seq);
		bind_text(s, ":progress", text.bytes);
		if (stmt_run(s, e) < 0)
			return -1;
	}
	str_addf(&c->result,
	         "{\"acknowledged\":true,\"session_id\":\"%s\",\"stall_detection_enabled\":%s",
	         p->session_id, settings->stall_enabled && !p->stall_paused ? "true" : "false");
	if (c->steering.steers.length)
		str_addf(&c->result, ",\"pending_steering\":%s", c->steering.steers.bytes);
	str_add_char(&c->result, '}');
	return 0;
}

static int add_pending(struct store *st, int64_t session, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_OPEN_OF_SESSION);
	int got, count = 0;

	bind_int(s, ":session", session);
	while ((got = stmt_row(s, e)) > 0) {
		const char *kind = col_text(s, REQUEST_OPEN_OF_SESSION_KIND);

		str_add(out, count++ ? "," : ",\"pending_requests\":[");
		str_addf(out, "{\"request_id\":\"%s\",\"type\":\"%s\",\"title\":",
		         col_text(s, REQUEST_OPEN_OF_SESSION_ID),
		         strcmp(kind, "clearance") == 0 ? "approval" : kind);
		json_quote(out, col_text(s, REQUEST_OPEN_OF_SESSION_TITLE));
		str_addf(out, ",\"created_at\":\"%s\"}",
		         col_text(s, REQUEST_OPEN_OF_SESSION_CREATED_AT));
	}
	stmt_reset(s);
	if (count)
		str_add_char(out, ']');
	return got;
}

static int add_checkpoint(struct store *st, const char *session_id, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_CHECKPOINT_LAST);
	int got;

	bind_text(s, ":session_id", session_id);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *label = col_text(s, CHECKPOINT_LAST_LABEL);

		str_addf(out, ",\"last_checkpoint\":{\"checkpoint_id\":\"%s\",\"label\":",
		         col_text(s, CHECKPOINT_LAST_ID));
		if (label)
			json_quote(out, label);
		else
			str_add(out, "null");
		str_addf(out, ",\"created_at\":\"%s\"}", col_text(s, CHECKPOINT_LAST_CREATED_AT));
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static void add_tasks(struct call *c)
{
	if (c->steering.tasks.length)
		str_addf(&c->result, ",\"pending_tasks\":%s", c->steering.tasks.bytes);
}

static int recovered(struct store *st, struct call *c, int64_t session, const char *id,
                     struct err *e)
{
	stmt *s;
	int got;

	str_add(&c->result, "{\"status\":\"recovered\"");
	add_text(&c->result, "session_id", id);
	add_tasks(c);
	if (request_revive_all(st, session, e) || add_pending(st, session, &c->result, e) ||
	    add_checkpoint(st, id, &c->result, e))
		return -1;
	s = store_stmt(st, SQL_SESSION_PROGRESS);
	bind_int(s, ":seq", session);
	got = stmt_row(s, e);
	if (got > 0 && col_text(s, SESSION_PROGRESS_PROGRESS_SNAPSHOT))
		str_addf(&c->result, ",\"progress_snapshot\":%s",
		         col_text(s, SESSION_PROGRESS_PROGRESS_SNAPSHOT));
	stmt_reset(s);
	str_add_char(&c->result, '}');
	return got < 0 ? -1 : 0;
}

/* The session to recover: the one named, else our own if it was interrupted or has questions open,
 * else the newest of this workspace that was. */
static stmt *predecessors(struct store *st, const struct peer *p,
                          const struct call_settings *settings, enum sql which,
                          const struct instant *live_after)
{
	stmt *s = store_stmt(st, which);

	bind_text(s, ":host", settings->places.host);
	bind_text(s, ":workspace", p->workspace_root);
	if (which == SQL_SESSION_PREDECESSOR) {
		bind_int(s, ":session", p->session_seq);
		bind_text(s, ":live_after", live_after->text);
	}
	return s;
}

static int reboot(struct store *st, struct call *c, const struct peer *p,
                  const struct call_settings *settings, struct err *e)
{
	static const enum sql WAYS[] = { SQL_SESSION_LAST_INTERRUPTED, SQL_SESSION_PREDECESSOR };
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);
	const char *given = json_text(c->arguments, "session_id");
	int64_t session = 0;
	char id[40] = "";
	int got = 0;

	for (size_t i = 0; i < COUNT(WAYS) && got == 0; i++) {
		stmt *s = given ? store_stmt(st, SQL_SESSION_BY_ID)
		                : predecessors(st, p, settings, WAYS[i], &live_after);

		if (given)
			bind_text(s, ":id", given);
		got = stmt_row(s, e);
		if (got > 0) {
			session = col_int(s, 0); /* seq, then id, in all three */
			(void)snprintf(id, sizeof(id), "%s", col_text(s, 1));
		}
		stmt_reset(s);
	}
	if (got < 0)
		return -1;
	if (session)
		return recovered(st, c, session, id, e);
	if (given) {
		call_refuse(c, "session_not_found", "not found: there is no session %.80s", given);
		return 0;
	}
	str_add(&c->result, "{\"status\":\"clean\"");
	add_tasks(c);
	str_add_char(&c->result, '}');
	return 0;
}

static int switch_freq(struct store *st, struct call *c, const struct peer *p, struct err *e)
{
	const struct command order = { .verb = "mode",
		                       .session_id = p->session_id,
		                       .argument = json_text(c->arguments, "mode"),
		                       .source = "agent" };
	OWNED(command_result) struct command_result result = COMMAND_RESULT_INIT;

	if (command_insert(st, &order, &result, e))
		return -1;
	if (result.reply)
		str_add(&c->result, result.reply);
	else
		call_refuse(c, "mode_refused", "%s", result.why);
	return 0;
}

/* A command that the policy does not allow is the operator's to allow. */
static int auto_check(struct store *st, struct call *c, const struct peer *p,
                      const struct call_settings *settings, int64_t *ret_request, struct err *e)
{
	if (!c->policy.approved && is_command(c))
		return ask(st, c, p, settings, ret_request, e);
	str_addf(&c->result,
	         "{\"auto_approved\":%s,\"matched_rule\":", c->policy.approved ? "true" : "false");
	if (c->policy.approved)
		json_quote(&c->result, c->policy.rule.bytes);
	else
		str_add(&c->result, "null");
	str_add_char(&c->result, '}');
	return c->policy.approved ? note_approval(st, c, p, 0, e) : 0;
}

/* The rules queue it when the call is written down; where it stands in Slack is known later. */
static int broadcast(struct store *st, struct call *c, const struct peer *p, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SLACK_IS_HEARD);
	int got;

	bind_int(s, ":session", p->session_seq);
	got = stmt_row(s, e);
	stmt_reset(s);
	c->is_said = got > 0;
	if (got >= 0)
		call_said_result(&c->result, got > 0, NULL);
	return got < 0 ? -1 : 0;
}

/* ---- running ---- */

static int run_tool(struct store *st, struct call *c, struct peer *p,
                    const struct call_settings *settings, int64_t *ret_request, int64_t *ret_apply,
                    struct err *e)
{
	switch (c->tool->id) {
	case TOOL_PING:
		return ping(st, c, p, settings, e);
	case TOOL_CHECK_CLEARANCE:
	case TOOL_TRANSMIT:
	case TOOL_STANDBY:
		return ask(st, c, p, settings, ret_request, e);
	case TOOL_CHECK_DIFF:
		return check_diff(st, c, p, settings, ret_apply, e);
	case TOOL_AUTO_CHECK:
		return auto_check(st, c, p, settings, ret_request, e);
	case TOOL_BROADCAST:
		return broadcast(st, c, p, e);
	case TOOL_REBOOT:
		return reboot(st, c, p, settings, e);
	case TOOL_SWITCH_FREQ:
		return switch_freq(st, c, p, e);
	case TOOL_COUNT:
		break;
	}
	return err_set(e, ERR_BUG, "a tool without a function");
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

static int mark_answer_given(struct store *st, int64_t call_seq, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_HANDED_OVER);

	bind_int(s, ":call", call_seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int call_run(struct store *st, struct call *c, struct peer *p, const struct call_settings *settings,
             struct err *e)
{
	int64_t request = 0, apply = 0;

	if (mark_delivered(st, c, p, e) || steering_read(st, p->session_seq, 0, &c->steering, e))
		return -1;
	if (!c->is_error && run_tool(st, c, p, settings, &request, &apply, e))
		return -1;
	if (touch_session(st, c->tool, p->session_seq, e))
		return -1;
	if (insert_call(st, c, p, request, apply, settings, e) ||
	    (c->is_said && wait_for_ts(st, c->seq, e)))
		return -1;
	if (c->waiting || c->elicitation.length) /* it goes with the answer */
		steering_clear(&c->steering);
	if (steering_deliver(st, &c->steering, c->seq, e))
		return -1;
	return c->is_answer ? mark_answer_given(st, c->seq, e) : 0;
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

static const char AGAIN[] =
    "not decided yet; do not go on with it; call this tool again with exactly the same arguments "
    "to keep waiting for the same question";

/* What became of a question that is approved or rejected, as members of a result. */
static void add_verdict(const struct request *r, struct str *out)
{
	bool approved = strcmp(r->state, "approved") == 0 || strcmp(r->state, "consumed") == 0;
	bool rejected = strcmp(r->state, "rejected") == 0;
	bool expired = strcmp(r->state, "expired") == 0;

	str_addf(out, "\"status\":\"%s\"",
	         approved   ? "approved"
	         : rejected ? "rejected"
	         : expired  ? "timeout"
	                    : "pending");
	add_text(out, "request_id", r->id);
	if (rejected)
		add_text(out, "reason", r->reason ? r->reason : "rejected by operator");
	if (!approved && !rejected && !expired)
		add_text(out, "message", AGAIN);
}

static void clearance_result(const struct request *r, struct str *out)
{
	str_add_char(out, '{');
	add_verdict(r, out);
	str_add_char(out, '}');
}

static void permission_result(const struct request *r, struct str *out)
{
	str_add(out, strcmp(r->state, "approved") == 0
	                 ? "{\"auto_approved\":true,\"matched_rule\":\"operator:approved\","
	                 : "{\"auto_approved\":false,\"matched_rule\":null,");
	add_verdict(r, out);
	str_add_char(out, '}');
}

static void prompt_result(const struct request *r, struct str *out)
{
	str_addf(out, "{\"decision\":\"%s\"", r->decision ? r->decision : "pending");
	if (r->decision && strcmp(r->decision, "refine") == 0)
		add_text(out, "instruction", r->instruction);
	if (!r->decision) {
		add_text(out, "request_id", r->id);
		add_text(out, "message", AGAIN);
	}
	str_add_char(out, '}');
}

static void standby_result(const struct request *r, struct str *out)
{
	bool stop = r->decision && strcmp(r->decision, "stop") == 0;
	bool answered = strcmp(r->state, "answered") == 0;
	bool expired = strcmp(r->state, "expired") == 0;

	str_addf(out, "{\"status\":\"%s\"", answered ? "resumed" : expired ? "timeout" : "pending");
	if (answered)
		add_text(out, "instruction", stop ? "stop" : r->instruction);
	if (!answered && !expired) {
		add_text(out, "request_id", r->id);
		add_text(out, "message", AGAIN);
	}
	str_add_char(out, '}');
}

static int apply_result(struct store *st, int64_t apply, struct str *out, bool *is_error,
                        struct err *e)
{
	stmt *s = store_stmt(st, SQL_APPLY_READ);
	bool applied = false, forced = false;
	int got;

	bind_int(s, ":seq", apply);
	got = stmt_row(s, e);
	if (got > 0 && col_text(s, APPLY_READ_ERROR_CODE)) {
		error_result(out, col_text(s, APPLY_READ_ERROR_CODE),
		             col_text(s, APPLY_READ_ERROR_MESSAGE)
		                 ? col_text(s, APPLY_READ_ERROR_MESSAGE)
		                 : "no reason was given");
		*is_error = true;
	} else if (got > 0) {
		applied = strcmp(col_text(s, APPLY_READ_STATE), "applied") == 0;
		forced = col_int(s, APPLY_READ_FORCED) != 0;
		if (!applied)
			str_add(out,
			        "{\"status\":\"pending\",\"message\":\"the write is queued; call "
			        "check_diff again\"}");
	}
	stmt_reset(s);
	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "apply %lld is gone", (long long)apply);
	if (!applied)
		return 0;
	str_add(out, "{\"status\":\"applied\"");
	if (add_files(st, apply, out, e))
		return -1;
	if (forced)
		add_text(out, "warning",
		         "force: what had changed since the proposal was overwritten");
	str_add_char(out, '}');
	return 0;
}

static bool is_decided(const struct request *r)
{
	return strcmp(r->state, "pending") != 0 && strcmp(r->state, "interrupted") != 0;
}

/* Slack shows the question in no form: whoever waits would wait for ever unseen. 1 told so, 0 Slack
 * did not refuse it, -1 error. */
static int refused_result(struct store *st, int64_t request, const char *id, struct str *out,
                          struct err *e)
{
	stmt *s = store_stmt(st, SQL_SLACK_REFUSAL);
	OWNED(str) struct str text = STR_INIT;
	int got;

	bind_int(s, ":request", request);
	got = stmt_row(s, e);
	if (got > 0) {
		str_addf(&text,
		         "slack refused: %.200s; the question stays open, the operator sees it "
		         "with `agent-intercom-ctl show %s`; call this tool again with exactly the "
		         "same arguments to have Slack asked once more",
		         col_text(s, SLACK_REFUSAL_WHY), id);
		error_result(out, "slack_refused", str_text(&text));
	}
	stmt_reset(s);
	return got;
}

static int build_result(struct store *st, enum tool_id tool, int64_t request, int64_t apply,
                        struct telling *t, struct err *e)
{
	OWNED(request) struct request r = REQUEST_INIT;
	int found;

	if (tool == TOOL_CHECK_DIFF)
		return apply_result(st, apply, &t->result, &t->is_error, e);
	found = request_read_answer(st, request, &r, e);
	if (found <= 0)
		return found < 0 ? -1
		                 : err_set(e, ERR_BUG, "request %lld is gone", (long long)request);
	found = is_decided(&r) ? 0 : refused_result(st, request, r.id, &t->result, e);
	t->is_error = found > 0;
	if (found)
		return found < 0 ? -1 : 0;
	if (tool == TOOL_CHECK_CLEARANCE)
		clearance_result(&r, &t->result);
	else if (tool == TOOL_AUTO_CHECK)
		permission_result(&r, &t->result);
	else if (tool == TOOL_TRANSMIT)
		prompt_result(&r, &t->result);
	else
		standby_result(&r, &t->result);
	t->is_answer = is_decided(&r);
	return 0;
}

void telling_clear(struct telling *t)
{
	str_clear(&t->result);
	steering_clear(&t->steering);
	*t = (struct telling)TELLING_INIT;
}

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
	return build_result(st, tool->id, request, apply, t, e);
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
	return t->is_answer ? mark_answer_given(st, call_seq, e) : 0;
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
