/* agent: an MCP client for tests, over HTTP; relay.h is the same over stdio, and site.h the system
 * it talks to. */
#ifndef AGENT_H
#define AGENT_H

#include "harness.h"
#include "process.h"
#include "relay.h"
#include "site.h"
#include "str.h"
#include "wire.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct agent {
	int port;
	char query[300]; /* "?wait=1", or "" */
	char session[128]; /* Mcp-Session-Id, or "" */
	char version[20]; /* sent in MCP-Protocol-Version, or "" */
	int id; /* of the last request */
};

/* Settings for a front that runs without a supervisor: any free port, and a new workspace of its
 * own. */
void given_front_settings(char workspace[600]);
/* Waits until the mcp-front on the harness's database serves HTTP; returns its port. */
int front_port(void);
/* Initializes a session with this revision. */
struct agent agent_hello(int port, const char *query, const char *version);
/* The same for a client with these capabilities (JSON object). */
struct agent agent_hello_as(int port, const char *query, const char *version,
                            const char *capabilities);
/* An agent that uses no session. */
struct agent agent_sessionless(int port, const char *query);
/* Sends a request; headers: whole lines, or "". json: NULL for no body. */
void agent_send(const struct agent *a, struct wire *w, const char *method, const char *headers,
                const char *json);
/* The same on a connection of its own, waiting for the whole answer; returns its status. body may
 * be NULL. */
int agent_exchange(const struct agent *a, const char *method, const char *headers, const char *json,
                   struct str *body);
/* Sends tools/call; meta: JSON object for _meta, or NULL. Opens w. */
void agent_begin(struct agent *a, struct wire *w, const char *tool, const char *arguments,
                 const char *meta);
/* Waits for the answer to agent_begin and closes w. Returns the tool's result, JSON; the caller
 * frees it. */
char *agent_end(struct wire *w);
char *agent_call(struct agent *a, const char *tool, const char *arguments);
/* Calls check_diff until the write is over, as its answer asks an agent to: only for what was
 * approved. Returns the result; the caller frees it. */
char *agent_write(struct agent *a, const char *arguments);
/* The JSON-RPC message of the answer: the whole body, or the last event of the stream. */
char *agent_message(struct wire *w);
/* The tool's result in a JSON-RPC message; fails the test if that is an error. */
char *tool_result(const char *message);
/* "{"title": ..}" of a clearance for a new file; the caller frees it. */
char *proposal(const char *path, const char *content);
/* Arguments of check_diff, or of any tool that takes only a request's id; the caller frees them. */
char *diff_of(const char *request_id);

/* ---- requests of revision 2026-07-28 ---- */

/* The _meta member of a client with these capabilities, as the text of a JSON object. */
#define MODERN_CLIENT(capabilities)                                                                \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"tester\",\"version\":\"1\"},"          \
	"\"io.modelcontextprotocol/clientCapabilities\":{" capabilities "}}"

/* Appends a request with the id 7. members: those of params, without braces, or "". */
void modern_compose(struct str *json, const char *method, const char *members, const char *client);
/* Appends the headers for that request. name: the value of Mcp-Name, or NULL. */
void modern_headers(struct str *headers, const char *method, const char *name);
/* Sends a request over HTTP and returns the message that answers it; the caller frees it. status
 * may be NULL. */
char *modern_request(int port, const char *query, const char *method, const char *name,
                     const char *members, const char *client, int *status);
/* The same for tools/call. more: further members of params, each after a comma, or "". */
char *modern_call(int port, const char *query, const char *tool, const char *arguments,
                  const char *more, const char *client);

/* ---- JSON ---- */

/* A member by its path ("error.code", "tools.0.name") as text; "" if missing. Valid until the tenth
 * call after this one. */
const char *member(const char *json, const char *path);
/* Fails the test unless member(json, path) is text. */
void has(const char *json, const char *path, const char *text);
/* Fails the test unless text contains part. */
void says(const char *text, const char *part);

#endif
