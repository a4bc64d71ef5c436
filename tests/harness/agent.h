/* agent: the other side of MCP, for tests: over HTTP on raw sockets, event streams included, and
 * over stdin and stdout of `agent-intercom mcp`; and a whole system to talk to.
 *
 * Whatever does not come within AGENT_PATIENCE_MS fails the test. Processes of a site or a relay,
 * and what they have started, are gone when the test program ends. */
#ifndef AGENT_H
#define AGENT_H

#include "harness.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { AGENT_PATIENCE_MS = 10000 };

/* Milliseconds of the machine's clock, whatever the test's clock says. */
int64_t agent_ms(void);

/* ---- a connection ---- */

/* One TCP connection and the answer that is being read from it. */
struct wire {
	int fd;
	struct str in; /* bytes that have come and belong to nothing yet */
	int status; /* of the answer at hand */
	struct str head; /* its status line and headers */
	struct str body; /* of a stream: what is no whole event yet */
	long left; /* bytes of the body, or of its chunk, to come; -1: up to the end */
	bool chunked, ended;
};

struct event {
	char id[64]; /* "" where the event has none */
	struct str data;
};

/* w may hold anything before. */
void wire_open(struct wire *w, int port);
void wire_send(struct wire *w, const char *text);
void wire_send_bytes(struct wire *w, const void *bytes, size_t length);
/* Reads the next answer up to the end of its headers; its status. */
int wire_head(struct wire *w);
/* Reads the next answer whole; its status. */
int wire_answer(struct wire *w);
/* The same, but of a stream only the headers. */
int wire_plain(struct wire *w);
/* A header of the answer at hand, NULL if it has none such. Valid until the next call. */
const char *wire_header(const struct wire *w, const char *name);
/* The next event of a stream, comments skipped; false: the stream has ended. Give e zeroed. */
bool wire_event(struct wire *w, struct event *e);
/* Whether the other side hangs up within ms; what it still sends is thrown away. */
bool wire_is_cut_within(struct wire *w, int ms);
void wire_close(struct wire *w);
/* Ends it as a process that is killed does: by a reset. */
void wire_break(struct wire *w);
void event_clear(struct event *e);

/* ---- an agent on HTTP ---- */

struct agent {
	int port;
	char query[300]; /* "?wait=1", or "" */
	char session[128]; /* Mcp-Session-Id, or "" */
	char version[20]; /* said in MCP-Protocol-Version, or "" */
	int id; /* of the last request */
};

/* Settings of a front that runs without a supervisor: any free port, and a workspace of its own,
 * which is made. */
void given_front_settings(char workspace[600]);
/* Port of the mcp-front that runs on the harness's database. */
int front_port(void);
/* Initializes a session in a revision. */
struct agent agent_hello(int port, const char *query, const char *version);
/* The same of a client with these capabilities (JSON object). */
struct agent agent_hello_as(int port, const char *query, const char *version,
                            const char *capabilities);
/* One that uses no session. */
struct agent agent_sessionless(int port, const char *query);
/* Sends a request; headers: whole lines, or "". json: NULL for no body. */
void agent_send(const struct agent *a, struct wire *w, const char *method, const char *headers,
                const char *json);
/* The same on a connection of its own, and the whole answer: its status; body may be NULL. */
int agent_exchange(const struct agent *a, const char *method, const char *headers, const char *json,
                   struct str *body);
/* Sends tools/call; meta: JSON object for _meta or NULL. w is opened. */
void agent_begin(struct agent *a, struct wire *w, const char *tool, const char *arguments,
                 const char *meta);
/* Waits for the answer to what was begun and closes w. The tool's result, JSON; caller frees. */
char *agent_end(struct wire *w);
char *agent_call(struct agent *a, const char *tool, const char *arguments);
/* The JSON-RPC message that answers it: whole body, or the last event of the stream. */
char *agent_message(struct wire *w);
/* The tool's result in a JSON-RPC message; fails the test if it is an error. */
char *tool_result(const char *message);
/* "{"title": ..}" of a clearance for a new file; caller frees. */
char *proposal(const char *path, const char *content);
/* Arguments of check_diff, or of any tool that takes a request's id alone; caller frees. */
char *diff_of(const char *request_id);

/* ---- requests of revision 2026-07-28 ---- */

/* The _meta member of a client with these capabilities, as text of a JSON object. */
#define MODERN_CLIENT(capabilities)                                                                \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"tester\",\"version\":\"1\"},"          \
	"\"io.modelcontextprotocol/clientCapabilities\":{" capabilities "}}"

/* Appends a request with the id 7. members: of params, without brackets, or "". */
void modern_compose(struct str *json, const char *method, const char *members, const char *client);
/* Appends the headers that go with it. name: what Mcp-Name says, or NULL. */
void modern_headers(struct str *headers, const char *method, const char *name);
/* Sends one over HTTP and returns the message that answers it; caller frees. *status may be NULL.
 */
char *modern_request(int port, const char *query, const char *method, const char *name,
                     const char *members, const char *client, int *status);
/* The same for tools/call. more: further members of params, each with a comma before it, or "". */
char *modern_call(int port, const char *query, const char *tool, const char *arguments,
                  const char *more, const char *client);

/* ---- JSON ---- */

/* A member by its path ("error.code", "tools.0.name") as text; "" if it is missing. Valid until the
 * tenth call after this one. */
const char *member(const char *json, const char *path);
/* Fails the test unless member(json, path) is text. */
void has(const char *json, const char *path, const char *text);
/* Fails the test unless text holds part. */
void says(const char *text, const char *part);

/* ---- a relay ---- */

struct relay {
	pid_t pid;
	int in, out;
	struct str bytes;
	int id;
};

/* Starts `agent-intercom mcp` with arguments (NULL at the end; NULL: none) in folder. environment:
 * NULL for that of the test. */
void relay_start(struct relay *r, const char *folder, char *const *environment,
                 const char *const *arguments);
void relay_send(struct relay *r, const char *line);
/* The next line, without its end; NULL when there will be none. Caller frees. */
char *relay_line(struct relay *r);
/* Initializes; returns the answer. */
void relay_hello(struct relay *r);
/* Sends tools/call and returns; its id is r->id. */
void relay_begin(struct relay *r, const char *tool, const char *arguments);
/* The tool's result of the next line. */
char *relay_end(struct relay *r);
char *relay_call(struct relay *r, const char *tool, const char *arguments);
/* Closes its stdin, waits for its end: its exit status (128 + signal if one killed it). */
int relay_stop(struct relay *r);
void relay_kill(struct relay *r);
/* Of one that has ended. */
void relay_clear(struct relay *r);
/* Whether it ends within ms; *status is set then. */
bool ends_within(pid_t pid, int ms, int *status);

/* ---- a site: config, database, workspace, and a supervisor with its workers ---- */

struct site {
	char home[100]; /* $HOME, also of the relays */
	char workspace[120];
	char config[160];
	char database[200];
	int port;
	pid_t pid; /* of the supervisor, 0 while none of ours runs */
};

/* On the harness's database: fresh_store must have been called. more: lines of config.toml. */
struct site site_make(const char *more);
/* On a database elsewhere. $HOME of the test is that of the site it made last. */
struct site site_make_at(const char *database, const char *more);
/* Starts the supervisor and waits until it says that it is ready. */
void site_start(struct site *s);
/* A site on a fresh_store; not started, or started. */
struct site given_site(void);
struct site given_running_site(void);
/* Starts it and waits for its end: its exit status; what it said goes to said. */
int site_try(struct site *s, struct str *said);
/* SIGTERM; its exit status. */
int site_stop(struct site *s);
/* SIGKILL to the supervisor and all workers. */
void site_kill(struct site *s);
/* Environment for relays: HOME, PATH, USER and nothing else. */
char *const *site_environment(const struct site *s);
/* Pid of a worker that is ready, 0 if there is none. */
pid_t worker_pid(const char *name);
/* SIGKILL to it; waits until another one is ready in its place. */
void kill_and_await(const char *name);

/* A relay in the site's workspace, initialized. */
struct relay given_relay(const struct site *s);
/* Begins a clearance for a new file and waits until it is asked; relay_end has the answer. */
void begin_asking(struct relay *r, const char *path, const char *content);
/* One decision, or a yes, to all that is open. */
void decide_all(const char *verdict);
void approve_all(void);

/* A file of a folder: written, and read (NULL if it is not there; caller frees). */
void put_file(const char *folder, const char *name, const char *text);
char *get_file(const char *folder, const char *name);
/* A free TCP port. */
int free_port(void);
/* Runs a shell command; its exit status, what it said in said (may be NULL). */
int shell(struct str *said, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `agent-intercom-ctl --db <harness's database> <arguments>`. */
int ctl(struct str *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
