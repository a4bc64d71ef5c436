/* fixture: a server with the tools, prompts and resources that the MCP conformance suite asks for,
 * on the HTTP transport and the message layer of mcp-front.
 *
 *   fixture.c   stands in for take.c, hold.c and turn.c: sessions, methods, resumed streams; the
 * program lists.c     prompts, resources, completion; subscriptions/listen tools.c     the tools
 *   tasks.c     calls that become tasks, and the methods about those
 *   runs.c     calls that take time: their streams, and requests to the client
 *   input.c     tools and a prompt that need input (multi round-trip requests)
 *
 * Calls go down this list only, but for what fixture.c offers to all. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "front.h"

/* A request, while it is looked at. */
struct ask {
	struct front *front;
	struct sink *sink;
	const char *id; /* JSON token */
	const cJSON *params;
	const char *version; /* the revision that the reply is in */
	bool modern;
};

enum { ERA_LEGACY = 1, ERA_MODERN = 2, ERA_BOTH = 3 };

/* ---- fixture.c ---- */

/* Answers with a whole result object. */
void ask_reply(const struct ask *a, const struct str *result);
/* Answers with a result object of which the members have been written: "{..." without its end. */
void ask_answer(const struct ask *a, struct str *result, enum mcp_cache cache);
/* Refuses. data: JSON or NULL. The HTTP status is the one that goes with the code. */
void ask_refuse(const struct ask *a, int code, const char *text, const char *data);
/* Refuses for want of a client's capability. */
void ask_refuse_incapable(const struct ask *a, const char *capability);
/* Refuses for want of the extension for tasks. */
void ask_refuse_taskless(const struct ask *a);
/* Whether the client has declared a capability: in this request, or (legacy) for its session. */
bool ask_can(const struct ask *a, const char *capability);
/* Whether the client wants log messages of level info. */
bool ask_logs(const struct ask *a);
/* The text of a member of params.arguments, NULL if it is no string. */
const char *ask_argument(const struct ask *a, const char *name);

/* ---- lists.c ---- */

void prompts_list(const struct ask *a);
void prompts_get(const struct ask *a);
void resources_list(const struct ask *a);
void resources_templates_list(const struct ask *a);
void resources_read(const struct ask *a);
void completion_complete(const struct ask *a);
void subscriptions_listen(const struct ask *a);
/* Tells those who listen that a list has changed. what: "tools" or "prompts". */
void listeners_tell(const char *what);
void listeners_forget(const struct sink *s);

/* ---- tools.c ---- */

void tools_list(const struct ask *a);
void tools_call(const struct ask *a);

/* A small picture and a small sound, in base64. */
#define FIXTURE_PNG                                                                                \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJ"     \
	"RU5ErkJggg=="
#define FIXTURE_WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA=="

/* ---- tasks.c ---- */

/* Calls a tool of this file, which the client gets as a task; its name is in the params. */
void tasks_call(const struct ask *a);
void tasks_get(const struct ask *a);
void tasks_update(const struct ask *a);
void tasks_cancel(const struct ask *a);
void tasks_clear(void);

/* ---- runs.c ---- */

/* A call with a stream of its own. It lives until its result has been handed out. */
struct run {
	LIST_ENTRY(run) next;
	int64_t seq; /* what its event ids begin with */
	struct sink *sink; /* NULL: its client is away */
	char key[PEER_KEY_BYTES]; /* of its session */
	char *rpc_id; /* JSON token */
	char *progress_token; /* JSON token or NULL */
	const char *version;
	bool modern, logs;
	int step; /* how often its clock has rung */
	int events; /* how many messages it has told */
	struct event *clock;
	void (*on_clock)(struct run *r);
	/* The client's answer to the request of run_request; NULL: it refused. */
	void (*on_response)(struct run *r, const cJSON *result);
	struct str result; /* kept while its client is away */
};

/* Opens the stream of a call; NULL if the client is gone already. */
struct run *run_start(const struct ask *a);
/* Calls on_clock after ms. */
void run_after(struct run *r, int ms, void (*on_clock)(struct run *r));
void run_notify(struct run *r, const struct str *message);
/* Sends a request to the client. params: JSON object. */
void run_request(struct run *r, const char *method, const char *params,
                 void (*on_response)(struct run *r, const cJSON *result));
/* Ends the connection; the client may come back for the rest. */
void run_cut(struct run *r);
/* Ends the call with a text; r is gone then, or waits for its client to come back. */
void run_finish(struct run *r, const char *text, bool is_error);

void runs_forget(const struct sink *s);
/* A client came back for the stream of call seq. */
void runs_resume(struct sink *s, int64_t seq);
/* A client's response to a request of ours. */
void runs_hear(const struct sink *s, const struct rpc_message *m);
void runs_clear(void);

/* Appends the content of a result: one text. */
void text_content(struct str *out, const char *text, bool is_error);

/* ---- input.c ---- */

/* The request for a form of one field. */
#define FIXTURE_FORM(message, member, type)                                                        \
	"{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"" message  \
	"\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"" member                    \
	"\":{\"type\":\"" type "\"}},\"required\":[\"" member "\"]}}}"
/* The names of the tools that need input, by number; NULL behind the last. */
const char *input_tool(int i);
/* One round of the tool or prompt of this name: true when all input is there, and the text that
 * comes of it; else it has asked for more, or refused. */
bool input_take(const struct ask *a, const char *name, struct str *text);

#endif
