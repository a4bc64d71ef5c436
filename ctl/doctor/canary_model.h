/* canary_model: a model on loopback that follows a script of two calls, for a host that is started
 * for a moment to see whether its gate is closed. It speaks what the hosts speak: Anthropic
 * Messages, OpenAI Chat Completions and Responses, and Gemini's generateContent.
 *
 * Which call is next depends on the results in the request alone, so a host may repeat requests, or
 * ask for a title meanwhile. */
#ifndef CANARY_MODEL_H
#define CANARY_MODEL_H

#include "err.h"
#include "str.h"

#include <stdbool.h>

enum { CANARY_CALLS = 2 };

struct canary_call {
	const char *tool; /* the host's name */
	struct str args; /* JSON object */
	bool offered; /* the host offered this tool */
	struct str told; /* the result that the host told the model; empty: none yet */
};

struct canary_model {
	struct canary_call calls[CANARY_CALLS]; /* set by the caller before the start */
	struct event_base *base;
	struct evhttp *http;
	int port;
	int requests; /* with tools */
};

/* Begins to listen. 0 or -1; the caller clears it either way. */
int canary_model_start(struct canary_model *m, struct err *e);
/* Answers what comes within so many milliseconds. */
void canary_model_serve(struct canary_model *m, int milliseconds);
void canary_model_clear(struct canary_model *m);

#endif
