/* tool: what one of the nine MCP tools is. Each is a file tools/<tool>.c that fills a struct tool,
 * and a row of TOOLS in tools/tools.c. Here also the description for tools/list, and the check of
 * arguments against the schema that is published. */
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
struct store;
struct telling;

struct tool {
	const char *name;
	const char *title;
	const char *description;
	const char *input; /* JSON Schema */
	const char *output; /* JSON Schema, pending and errors included */
	bool read_only, destructive, idempotent, open_world; /* annotations */
	bool recovers; /* it looks itself for what an earlier agent has left */

	/* Fills ask with what has to be known of files (hand.h), before anything else. A refusal
	 * becomes the call's result. NULL: nothing. */
	void (*look)(struct call *c, const struct call_settings *settings, struct hand_ask *ask);
	/* Takes what was found; a refusal, too, becomes the call's result. */
	void (*seen)(struct call *c, struct hand_found *found);
	/* Fills q with what the workspace's policy is asked about a call; the paths that the call
	 * touches are added to it. False: the policy has no say. NULL: never. */
	bool (*policy)(const struct call *c, struct policy_question *q);
	/* Writes the rows of a call whose arguments fit, inside the transaction. On return
	 * c->waiting, with request_seq or apply_seq, or c->result is filled. */
	int (*run)(struct store *st, struct call *c, const struct peer *p,
	           const struct call_settings *settings, struct err *e);
	/* Fills the rest of q with what a person is asked (ask.h). NULL: nobody is. */
	void (*question)(const struct call *c, const struct call_settings *settings,
	                 struct question *q);
	/* Builds the result of a call that waits, or has waited, for the request or the apply with
	 * this seq. NULL: it never waits. */
	int (*result)(struct store *st, int64_t subject_seq, struct telling *t, struct err *e);
};

enum { TOOL_MAX = 32 }; /* more than there are */
extern const struct tool *const TOOLS[];
extern const int TOOL_COUNT;

/* An output schema: members (text of JSON), and what every result may carry. */
#define TOOL_OUTPUT(members)                                                                       \
	"{\"type\":\"object\",\"properties\":{\"operator_says\":{\"type\":\"array\",\"items\":{"   \
	"\"type\":\"string\"},\"description\":\"what the operator says to you unasked; told "      \
	"once\"}," members

/* Members that several output schemas share. */
#define TOOL_ERROR_FIELDS                                                                          \
	"\"error_code\":{\"type\":\"string\"},\"error_message\":{\"type\":\"string\"}"
#define TOOL_MESSAGE_FIELD                                                                         \
	"\"message\":{\"type\":\"string\",\"description\":\"what to do next, while pending\"}"

/* The tool of this name, or of this name of the first generation (tool_name.h); NULL if there is
 * none. */
const struct tool *tool_find(const char *name);

/* Appends the entry of tools/list. with_output: whether the revision knows outputSchema and title
 * (2025-06-18 and later). */
void tool_describe(struct str *out, const struct tool *tool, bool with_output);

/* Whether arguments fit the input schema; -1 and a text that names the argument if not. */
int tool_check(const struct tool *tool, const cJSON *arguments, struct err *e);

/* The arguments that the schema names, nulls dropped and defaults filled in; the caller deletes the
 * result. What it does not name is ignored. */
cJSON *tool_arguments(const struct tool *tool, const cJSON *arguments);

#endif
