/* fake: a Slack workspace for tests. This header says what each part offers to the others;
 * README.md says what the whole offers to a test.
 *
 * One process, one loop, one workspace: each part keeps its state in its own file. Rows of the
 * workspace are cJSON objects, because those go in and out. Nothing outlives the process. */
#ifndef FAKE_H
#define FAKE_H

#include "err.h"
#include "rpc.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEAM "T01TEAM"
#define APP "A01APP"
#define BOT_USER "U0BOT"
#define BOT "B01BOT"
#define APP_TOKEN "xapp-1-A01APP-1-fake"
#define BOT_TOKEN "xoxb-1-fake"

/* ---- JSON helpers (json.c) ---- */

/* Parses a JSON literal in which ' stands for ". Exits if it is malformed. */
cJSON *json_literal(const char *text);
/* Sets or replaces a member. json_set takes over the value. */
void json_set(cJSON *object, const char *name, cJSON *value);
void json_set_text(cJSON *object, const char *name, const char *text); /* NULL: null */
void json_set_int(cJSON *object, const char *name, int64_t value);
void json_set_bool(cJSON *object, const char *name, bool value);
/* Reads a member; if it is missing or of another type, returns 0, false or fallback. Numbers and
 * booleans may also be strings, as in a form. */
int64_t json_int(const cJSON *object, const char *name, int64_t fallback);
bool json_true(const cJSON *object, const char *name);
/* The member, NULL if it is missing or null. */
cJSON *member_of(const cJSON *object, const char *name);
/* The text of a member, "" if missing. */
const char *json_str(const cJSON *object, const char *name);
bool json_is(const cJSON *object, const char *name, const char *text);
/* A list, created on first use. */
cJSON *json_list(cJSON **list);
/* Copies the members of top into object, replacing existing ones. */
void json_overlay(cJSON *object, const cJSON *top);
/* printf into one of some rotating buffers of 300 bytes; owns nothing. */
const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- time (fake_slack.c) ---- */

/* The fake's clock: the harness's, moved by /control/clock. Unix ms. */
int64_t fake_now_ms(void);
void fake_advance(int64_t ms);
int64_t fake_real_us(void);
struct event_base *fake_loop(void);
/* "http://127.0.0.1:PORT" */
const char *fake_origin(void);

/* ---- settings (control.c) ---- */

int64_t setting_int(const char *name);
bool setting_true(const char *name);
bool setting_is(const char *name, const char *value);
const cJSON *setting(const char *name);

/* ---- the log (calls.c) ---- */

/* Adds an entry; the caller adds members before it returns to the loop. The log owns the entry. */
cJSON *calls_add(const char *kind, const char *name);
/* Answers /control/calls now, or when the requested entries are there. */
void calls_answer(struct evhttp_request *http, const cJSON *query);
/* Records what a client did wrong. entry may be NULL. */
void police(const char *rule, const char *envelope_id, int socket, const char *text);
cJSON *police_faults(void); /* violations found by the police; not the caller's */
/* Checks the waiting requests; called from the loop. */
void calls_tick(void);

/* ---- the workspace (world.c) ---- */

void world_make(void);
cJSON *world_users(void);
cJSON *world_channels(void);
cJSON *world_messages(void);
cJSON *world_user(const char *id);
cJSON *world_channel(const char *id);
/* A message that can be read, answered and changed: neither deleted nor ephemeral. NULL if there is
 * none. */
cJSON *world_message(const char *channel, const char *ts);
/* The channel of direct messages with a person; created if missing. */
cJSON *world_direct(const char *user);
/* A new ts: the clock's time, but never the same twice. In a static buffer. */
const char *world_ts(void);
/* A new id: prefix and a number. In a rotating buffer. */
const char *world_id(const char *prefix);
/* Stores a new message by a person, or by our bot if user is NULL; thread_ts may be NULL. */
cJSON *world_post(const char *channel, const char *user, const char *text, const char *thread_ts);
/* A copy as the Web API shows it. */
cJSON *world_shown(const cJSON *message, bool all_metadata);

/* ---- calls of the Web API (http.c, web_api.c) ---- */

struct call {
	struct evhttp_request *http;
	const char *name; /* the method; "response_url", "upload" */
	const char *body; /* "json", "form", "multipart", "query", "none" */
	const char *token; /* "app", "bot", "other", "none" */
	cJSON *args; /* owned */
	struct str bytes; /* of an upload, or of a part "filename" */
	cJSON *answer; /* owned */
	const char *plain; /* an answer that is not JSON */
	int status;
	int64_t retry_after; /* seconds; 0: none */
};

void call_clear(struct call *c);
/* Sets the answer {"ok":false,"error":error}, unless it is an error already. Returns false. */
bool call_fail(struct call *c, const char *error);
/* The same with a place: "text [json-pointer:pointer]" in errors and response_metadata. */
bool call_fail_at(struct call *c, const char *error, const struct str *place);
void call_warn(struct call *c, const char *warning);
bool call_failed(const struct call *c);
/* {"ok":true}, which the caller extends. */
cJSON *call_ok(struct call *c);
/* The text of an argument, "" if missing; or NULL, and the error for a missing argument. */
const char *call_text(const struct call *c, const char *name);
const char *call_need(struct call *c, const char *name);
/* The channel named by an argument, if the bot may see it; else sets the error and returns NULL. */
cJSON *call_channel(struct call *c, const char *name);
bool call_scope(struct call *c, const char *scope);
bool call_has_scope(const char *scope);

/* Runs a Web API method; fills c->answer. */
void web_api(struct call *c);
/* Whether the channel must rest (rate limit of one post a second); then the answer is 429. */
bool rate_of_channel(struct call *c, const char *channel);
/* Records a 429, so that the police notices clients that retry too early. */
void rate_refused(const struct call *c, int64_t seconds);
void rate_police(const struct call *c);
/* Handles a POST to a response_url. */
void response_url_post(struct call *c, const char *path);
/* A new response_url for user at a message (ts NULL: none), valid for 30 minutes and 5 posts. */
const char *response_url_new(const char *kind, const char *user, const char *channel,
                             const char *ts);

void chat_postMessage(struct call *c);
void chat_update(struct call *c);
void chat_postEphemeral(struct call *c);
void chat_delete(struct call *c);
void chat_getPermalink(struct call *c);
/* Checks text and blocks of a message (prefix of pointers: ""); false: the answer is an error. */
bool chat_content(struct call *c);
/* Stores a message, ephemeral or for everyone, that came as a payload instead of a call. */
cJSON *chat_say(const cJSON *payload, const char *channel, const char *user);

void conversations_history(struct call *c);
void conversations_replies(struct call *c);
void conversations_info(struct call *c);
void conversations_join(struct call *c);
void conversations_open(struct call *c);

void files_getUploadURLExternal(struct call *c);
void files_completeUploadExternal(struct call *c);
void files_info(struct call *c);
void files_upload(struct call *c, const char *path);
cJSON *files_all(void);

void views_open(struct call *c);
void views_update(struct call *c);
void views_push(struct call *c);
cJSON *views_all(void);
cJSON *view_find(const char *id);
cJSON *view_latest(void);
/* Applies the ack of a view_submission to the view. */
void view_acked(cJSON *view, const cJSON *payload, const char *envelope_id, int socket);
/* A new trigger, as if made age_ms ago. view: id of the view it came from, or NULL. */
const char *trigger_new(const char *user, const char *view, int64_t age_ms);

/* ---- Block Kit (blocks.c) ---- */

enum surface { MESSAGE, MODAL };
/* Returns 0, or -1 with the place: "text [json-pointer:/blocks/0]". */
int blocks_check(const cJSON *blocks, enum surface surface, const char *pointer, struct str *place);
int view_check(const cJSON *view, struct str *place);
/* Code points. */
size_t characters(const char *text);
/* All text in blocks; *rich: whether they contain a rich_text. */
size_t blocks_characters(const cJSON *blocks, bool *rich);

/* ---- faults on demand (faults.c) ---- */

/* Returns NULL, or what is wrong with the order. */
const char *fault_order(const cJSON *order);
/* The fault for the next call of this name, NULL if there is none; the caller deletes it. */
cJSON *fault_take(const char *name);
bool fault_is_before(const cJSON *fault);

/* ---- HTTP (http.c) ---- */

void http_serve(struct evhttp_request *http, void *nothing);
void http_json(struct evhttp_request *http, int status, const cJSON *answer);
/* Closes the connection from the loop, without an answer. */
void http_drop(struct evhttp_connection *connection);
/* Handles a request to /control/; body NULL for GET. */
void control(struct evhttp_request *http, const char *path, const cJSON *arguments);

/* ---- Socket Mode (socket.c, envelopes.c) ---- */

struct sock;
void connections_open(struct call *c);
void socket_upgrade(struct evhttp_request *http, const char *ticket, bool debug_reconnects);
/* Number of a socket that takes envelopes: `wanted`, or if that is 0 the next in turn; 0: none */
int socket_choose(int wanted);
/* Writes one message in this many frames. */
void socket_write(int socket, const char *text, int fragments);
bool socket_is_heard(int socket); /* open, and neither silent nor closed by us */
void socket_close(int socket, int code);
/* Returns "" or what is wrong with the order; *count: how many sockets it reached. */
const char *socket_order(const cJSON *order, int *count);
cJSON *sockets_all(void);
void socket_tick(void);

struct how {
	int socket, copies, fragments;
};
/* Sends an envelope, or keeps it for the next hello; takes it over. Returns the number of the
 * socket. */
int envelope_send(cJSON *envelope, const struct how *how);
void envelope_raw(const char *text, const struct how *how);
/* Sends it once more; out gets envelope_id and socket. Returns NULL, or what is wrong. */
const char *envelope_again(const cJSON *order, cJSON *out);
void envelope_flush(void); /* sends what waited for a hello */
void envelope_received(int socket, const char *text, size_t length);
void envelope_socket_gone(int socket);
int envelope_unacked(int socket);
void envelope_tick(void);

/* Makes payloads and sends them. Returns NULL, or what is wrong with the order; out: what was
 * made. */
const char *deliver(const cJSON *order, cJSON *out);
/* An events_api envelope for an event, which it takes over. */
cJSON *event_envelope(cJSON *event);

#endif
