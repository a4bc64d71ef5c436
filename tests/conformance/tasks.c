/* Calls that become tasks (SEP-2663): they work by the clock, then ask or end, while their clients
 * look. All are kept until the program ends. */
#include "fixture.h"

#include "clock.h"
#include "id.h"
#include "json_writer.h"
#include "mcp_task.h"

#include <stdlib.h>
#include <string.h>

enum { TTL_MS = 600000, POLL_MS = 100, JOB_MS = 100, MAX_SECONDS = 60, QUESTIONS = 2 };

struct errand {
	LIST_ENTRY(errand) next;
	struct secret id;
	const struct kind *kind;
	enum mcp_task_status status;
	struct instant created, updated;
	struct event *clock; /* rings when its work is done */
	char *text; /* what it is about */
	cJSON *answers; /* to its questions, by key */
	struct str outcome; /* JSON, when it has ended */
};

/* A call before it is a task. */
struct order {
	const struct kind *kind;
	int work_ms;
	struct str text;
};

static LIST_HEAD(, errand) errands = LIST_HEAD_INITIALIZER(errands);

/* ---- ends ---- */

static void move(struct errand *t, enum mcp_task_status status)
{
	t->status = status;
	t->updated = clock_now();
}

static void complete(struct errand *t, const char *text, bool is_error)
{
	OWNED(str) struct str result = { 0 };

	str_add(&result, "{\"text\":");
	json_quote(&result, text);
	str_add_char(&result, '}');
	mcp_tool_result(&t->outcome, MCP_MODERN, result.bytes, (struct mcp_said){ .text = "" },
	                is_error, NULL);
	move(t, MCP_TASK_COMPLETED);
}

static void end_well(struct errand *t)
{
	complete(t, t->text, false);
}

static void end_in_error(struct errand *t)
{
	complete(t, "This job has failed, as it always does.", true);
}

static void end_in_fault(struct errand *t)
{
	str_addf(&t->outcome, "{\"code\":%d,\"message\":\"this job breaks the server\"}",
	         RPC_INTERNAL_ERROR);
	move(t, MCP_TASK_FAILED);
}

/* The member of the content of an answer; NULL if the form was not accepted. */
static const cJSON *accepted(const struct errand *t, const char *key, const char *member)
{
	const cJSON *answer = cJSON_GetObjectItemCaseSensitive(t->answers, key);
	const char *action = json_text(answer, "action");

	if (!action || strcmp(action, "accept") != 0)
		return NULL;
	return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(answer, "content"),
	                                        member);
}

static void end_deletion(struct errand *t)
{
	OWNED(str) struct str text = { 0 };
	bool confirmed = cJSON_IsTrue(accepted(t, "confirmation", "confirm"));

	str_addf(&text, "%s is %s", t->text, confirmed ? "deleted" : "kept");
	complete(t, text.bytes, false);
}

static void end_introduction(struct errand *t)
{
	const char *host = cJSON_GetStringValue(accepted(t, "host", "name"));
	const char *guest = cJSON_GetStringValue(accepted(t, "guest", "name"));
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "%s, meet %s", host ? host : "nobody", guest ? guest : "nobody");
	complete(t, text.bytes, false);
}

/* ---- the kinds ---- */

static bool take_nothing(const struct ask *a, struct order *o)
{
	(void)a;
	o->work_ms = JOB_MS;
	return true;
}

static bool take_work(const struct ask *a, struct order *o)
{
	const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(a->params, "arguments");
	const cJSON *seconds = cJSON_GetObjectItemCaseSensitive(arguments, "seconds");
	const char *label = json_text(arguments, "label");

	if (!label || !cJSON_IsNumber(seconds) || seconds->valuedouble < 0 ||
	    seconds->valuedouble > MAX_SECONDS) {
		ask_refuse(a, RPC_INVALID_PARAMS,
		           "label is missing, or seconds is negative, too much or no number", NULL);
		return false;
	}
	o->work_ms = (int)(seconds->valuedouble * 1000);
	str_addf(&o->text, "%s is computed", label);
	return true;
}

static bool can_ask(const struct ask *a)
{
	if (!ask_can(a, "elicitation"))
		ask_refuse_incapable(a, "elicitation");
	return ask_can(a, "elicitation");
}

static bool take_deletion(const struct ask *a, struct order *o)
{
	const char *name = ask_argument(a, "filename");

	if (!name) {
		ask_refuse(a, RPC_INVALID_PARAMS, "filename is missing", NULL);
		return false;
	}
	str_add(&o->text, name);
	return can_ask(a) && take_nothing(a, o);
}

static bool take_introduction(const struct ask *a, struct order *o)
{
	return can_ask(a) && take_nothing(a, o);
}

/* Rounds of input come before the task, and stay out of it. */
static bool take_rounds(const struct ask *a, struct order *o)
{
	return input_take(a, "test_tool_with_task", &o->text) && take_nothing(a, o);
}

static void worked(struct run *r)
{
	run_finish(r, "It is computed, while the client waited.", false);
}

static void work_while_waiting(const struct ask *a, struct order *o)
{
	struct run *r = run_start(a);

	if (r)
		run_after(r, o->work_ms, worked);
}

static const struct kind {
	const char *name;
	/* Looks at a call: false if it has refused, or asked for more. */
	bool (*take)(const struct ask *a, struct order *o);
	/* Serves a client that knows no tasks; NULL: it is refused. */
	void (*without)(const struct ask *a, struct order *o);
	struct {
		const char *key;
		const char *request; /* JSON */
	} questions[QUESTIONS]; /* asked when the work is done */
	void (*end)(struct errand *t); /* when all are answered */
} KINDS[] = {
	{ "slow_compute", take_work, work_while_waiting, { { NULL, NULL } }, end_well },
	{ "failing_job", take_nothing, NULL, { { NULL, NULL } }, end_in_error },
	{ "protocol_error_job", take_nothing, NULL, { { NULL, NULL } }, end_in_fault },
	{ "confirm_delete",
	  take_deletion,
	  NULL,
	  { { "confirmation", FIXTURE_FORM("Delete this file?", "confirm", "boolean") } },
	  end_deletion },
	{ "multi_input",
	  take_introduction,
	  NULL,
	  { { "host", FIXTURE_FORM("Who is the host?", "name", "string") },
	    { "guest", FIXTURE_FORM("Who is the guest?", "name", "string") } },
	  end_introduction },
	{ "test_tool_with_task", take_rounds, NULL, { { NULL, NULL } }, end_well },
};

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < COUNT(KINDS); i++)
		if (strcmp(KINDS[i].name, name) == 0)
			return &KINDS[i];
	return NULL;
}

/* ---- questions ---- */

static bool is_open(const struct errand *t, int question)
{
	const char *key = t->kind->questions[question].key;

	return key && !cJSON_GetObjectItemCaseSensitive(t->answers, key);
}

static void add_open(struct str *out, const struct errand *t)
{
	int count = 0;

	str_add_char(out, '{');
	for (int i = 0; i < QUESTIONS; i++)
		if (is_open(t, i)) {
			str_addf(out, "%s\"%s\":", count++ ? "," : "", t->kind->questions[i].key);
			str_add(out, t->kind->questions[i].request);
		}
	str_add_char(out, '}');
}

static void ask_or_end(struct errand *t)
{
	for (int i = 0; i < QUESTIONS; i++)
		if (is_open(t, i)) {
			move(t, MCP_TASK_INPUT_REQUIRED);
			return;
		}
	t->kind->end(t);
}

/* Takes the answers to open questions; others mean nothing. */
static void take_answers(struct errand *t, const cJSON *responses)
{
	for (int i = 0; i < QUESTIONS; i++) {
		const char *key = t->kind->questions[i].key;
		const cJSON *answer = cJSON_GetObjectItemCaseSensitive(responses, key);

		if (is_open(t, i) && json_text(answer, "action"))
			cJSON_AddItemToObject(t->answers, key, cJSON_Duplicate(answer, true));
	}
}

/* ---- tools/call ---- */

static void on_clock(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	ask_or_end(arg);
}

static struct errand *start(const struct ask *a, struct order *o)
{
	struct errand *t = xcalloc(1, sizeof(*t));
	const struct timeval after = { .tv_sec = o->work_ms / 1000,
		                       .tv_usec = o->work_ms % 1000 * 1000 };

	t->id = id_new_secret();
	t->kind = o->kind;
	t->text = str_take(&o->text);
	t->answers = cJSON_CreateObject();
	move(t, MCP_TASK_WORKING);
	t->created = t->updated;
	t->clock = evtimer_new(a->front->base, on_clock, t);
	(void)evtimer_add(t->clock, &after);
	LIST_INSERT_HEAD(&errands, t, next);
	return t;
}

/* outcome stays the caller's. */
static struct mcp_task message_of(const struct errand *t, const char *outcome)
{
	return (struct mcp_task){
		.id = t->id.text,
		.status = t->status,
		.message = t->status == MCP_TASK_WORKING ? "working" : NULL,
		.created_at = t->created.text,
		.updated_at = t->updated.text,
		.ttl_ms = TTL_MS,
		.poll_ms = POLL_MS,
		.outcome = outcome,
	};
}

static void begin(const struct ask *a, struct order *o)
{
	const struct mcp_task made = message_of(start(a, o), NULL);
	OWNED(str) struct str result = { 0 };

	mcp_task_created(&result, &made, NULL);
	ask_reply(a, &result);
}

void tasks_call(const struct ask *a)
{
	struct order o = { .kind = kind_of(json_text(a->params, "name")) };
	bool knows = mcp_client_extends(a->params, MCP_TASKS);

	if (!knows && !o.kind->without)
		ask_refuse_taskless(a);
	else if (o.kind->take(a, &o))
		(knows ? begin : o.kind->without)(a, &o);
	str_clear(&o.text);
}

/* ---- tasks/ ---- */

/* The task of a request; NULL if there is none, which has been said. */
static struct errand *find(const struct ask *a)
{
	const char *id = json_text(a->params, "taskId");
	struct errand *t;

	LIST_FOREACH (t, &errands, next)
		if (id && strcmp(t->id.text, id) == 0)
			return t;
	ask_refuse(a, RPC_INVALID_PARAMS, "there is no task with this taskId", NULL);
	return NULL;
}

static void acknowledge(const struct ask *a)
{
	OWNED(str) struct str result = { 0 };

	mcp_empty_result(&result, a->version);
	ask_reply(a, &result);
}

void tasks_get(const struct ask *a)
{
	const struct errand *t = find(a);
	OWNED(str) struct str questions = { 0 };
	OWNED(str) struct str result = { 0 };
	struct mcp_task shown;

	if (!t)
		return;
	if (t->status == MCP_TASK_INPUT_REQUIRED)
		add_open(&questions, t);
	shown = message_of(t, questions.bytes ? questions.bytes : t->outcome.bytes);
	mcp_task_result(&result, &shown);
	ask_reply(a, &result);
}

void tasks_update(const struct ask *a)
{
	const cJSON *responses = cJSON_GetObjectItemCaseSensitive(a->params, "inputResponses");
	struct errand *t = find(a);

	if (!t)
		return;
	if (!cJSON_IsObject(responses)) {
		ask_refuse(a, RPC_INVALID_PARAMS, "inputResponses must be an object", NULL);
		return;
	}
	if (t->status == MCP_TASK_INPUT_REQUIRED) {
		take_answers(t, responses);
		ask_or_end(t);
	}
	acknowledge(a);
}

void tasks_cancel(const struct ask *a)
{
	struct errand *t = find(a);

	if (!t)
		return;
	if (t->status == MCP_TASK_WORKING || t->status == MCP_TASK_INPUT_REQUIRED) {
		(void)event_del(t->clock);
		move(t, MCP_TASK_CANCELLED);
	}
	acknowledge(a);
}

void tasks_clear(void)
{
	struct errand *t;

	while ((t = LIST_FIRST(&errands)) != NULL) {
		LIST_REMOVE(t, next);
		event_free(t->clock);
		free(t->text);
		cJSON_Delete(t->answers);
		str_clear(&t->outcome);
		free(t);
	}
}
