/* tool: one of the nine MCP tools. Each is a file tools/<tool>.c that fills a struct tool, and a
 * row of TOOLS in tools/tools.c. Also the descriptions for tools/list, and the check of arguments
 * against the published schema. */
#ifndef TOOL_H
#define TOOL_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct call;
struct call_settings;
struct hand_ask;
struct hand_found;
struct peer;
struct policy_question;
struct question;
struct request;
struct store;
struct telling;

struct tool {
	const char *name;
	const char *title;
	const char *description;
	const char *input; /* JSON Schema */
	const char *output; /* JSON Schema, including pending and errors */
	bool read_only, destructive, idempotent, open_world; /* annotations */
	bool recovers; /* it recovers what an earlier agent has left */
	/* Arguments that may have changed when the same is asked again: not in the digest. The last
	 * one is NULL. NULL: there are none. */
	const char *const *unbound;

	/* Fills ask with what must be known about files (hand.h), before anything else. A refusal
	 * becomes the call's result. NULL: nothing. */
	void (*look)(struct call *c, const struct call_settings *settings, struct hand_ask *ask);
	/* Takes the findings; here, too, a refusal becomes the call's result. */
	void (*seen)(struct call *c, struct hand_found *found);
	/* Fills q with what the workspace's policy is asked about a call; the call's paths are then
	 * added. False: no policy applies. NULL: never. */
	bool (*policy)(const struct call *c, struct policy_question *q);
	/* Writes the rows of a call whose arguments fit, inside the transaction. On return
	 * c->waiting is set, with request_seq or apply_seq, or c->result is filled. */
	int (*run)(struct store *st, struct call *c, const struct peer *p,
	           const struct call_settings *settings, struct err *e);
	/* Fills the rest of q with what a person is asked (ask.h). NULL: nobody is asked. */
	void (*question)(const struct call *c, const struct call_settings *settings,
	                 struct question *q);
	/* Adds the members of the result of a call that waits, or has waited, for this request.
	 * NULL: it waits for none. */
	void (*answer)(struct str *out, const struct request *r);
	/* Builds the result of one that waits for the apply with this seq. NULL: it never does. */
	int (*result)(struct store *st, int64_t apply_seq, struct telling *t, struct err *e);
	/* Changes that result by what the call itself has said. NULL: nothing to change. */
	int (*amend)(struct store *st, int64_t call_seq, struct telling *t, struct err *e);
	/* Writes what else belongs to a call whose row is there. Inside the transaction. NULL:
	 * nothing. */
	int (*note)(struct store *st, const struct call *c, const struct peer *p, struct err *e);
	/* The same once its wait is over and the result is recorded. NULL: nothing. */
	int (*finish)(struct store *st, int64_t call_seq, const struct telling *t, struct err *e);
};

enum { TOOL_MAX = 32 }; /* more than there are */
extern const struct tool *const TOOLS[];
extern const int TOOL_COUNT;

/* An output schema: members (text of JSON), and what every result may contain. */
#define TOOL_OUTPUT(members)                                                                       \
	"{\"type\":\"object\",\"properties\":{\"operator_says\":{\"type\":\"array\",\"items\":{"   \
	"\"type\":\"string\"},\"description\":\"what the operator says to you unasked; told "      \
	"once\"}," members

/* Members that several output schemas share. */
#define TOOL_ERROR_FIELDS                                                                          \
	"\"error_code\":{\"type\":\"string\"},\"error_message\":{\"type\":\"string\"}"
#define TOOL_MESSAGE_FIELD                                                                         \
	"\"message\":{\"type\":\"string\",\"description\":\"what to do next, while pending\"}"

/* The tool with this name, or with this name in the first generation (tool_name.h); NULL if there
 * is none. */
const struct tool *tool_find(const char *name);
/* The tool of a row of tool_call: one of these, or that of hooks (hook.h), which nobody may name.
 */
const struct tool *tool_of_row(const char *name);

/* Appends the entry of tools/list. with_output: the revision has outputSchema and title (2025-06-18
 * and later). */
void tool_describe(struct str *out, const struct tool *tool, bool with_output);

/* Whether arguments fit the input schema; if not, -1 and a text that names the argument. */
int tool_check(const struct tool *tool, const cJSON *arguments, struct err *e);

/* The arguments that the schema names, without nulls and with defaults filled in. Others are
 * ignored. The caller deletes the result; the values belong to arguments, which must outlive it. */
cJSON *tool_arguments(const struct tool *tool, const cJSON *arguments);

#endif
