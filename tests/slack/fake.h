/* fake: a Slack workspace for tests. What each part offers to the others; README.md says what the
 * whole offers to a test.
 *
 * One process, one loop, one workspace: each part keeps its state in its own file. Rows of the
 * workspace are cJSON objects, since that is what goes in and out. Nothing survives the process. */
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

/* ---- JSON, in few words (json.c) ---- */

/* Parses a literal of ours, in which ' stands for ". Ends the process if it is no JSON. */
cJSON *json_literal(const char *text);
/* Sets a member, in place of one that is there. json_set takes the value over. */
void json_set(cJSON *object, const char *name, cJSON *value);
void json_set_text(cJSON *object, const char *name, const char *text); /* NULL: null */
void json_set_int(cJSON *object, const char *name, int64_t value);
void json_set_bool(cJSON *object, const char *name, bool value);
/* Reads a member; what is missing or of another kind is 0, false or fallback. Numbers and truths
 * may also be texts, as they are in a form. */
int64_t json_int(const cJSON *object, const char *name, int64_t fallback);
bool json_true(const cJSON *object, const char *name);
/* The member, NULL if it is missing or null. */
cJSON *json_member(const cJSON *object, const char *name);
/* The text of a member, "" if there is none. */
const char *json_str(const cJSON *object, const char *name);
bool json_is(const cJSON *object, const char *name, const char *text);
/* A list that is made when it is first used. */
cJSON *json_list(cJSON **list);
/* Lays copies of the members of top over those of object. */
void json_overlay(cJSON *object, const cJSON *top);
/* A text that owns nothing: printf into one of some rotating buffers of 300 bytes. */
const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- time (fake_slack.c) ---- */

/* The fake's clock: the harness's, moved by what /control/clock says. Unix ms. */
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

/* A new entry, to which the caller adds members before it returns to the loop. The log owns it. */
cJSON *calls_add(const char *kind, const char *name);
/* Answers /control/calls now, or when it has what was asked for. */
void calls_answer(struct evhttp_request *http, const cJSON *query);
/* Writes down what a client did wrong. entry may be NULL. */
void police(const char *rule, const char *envelope_id, int socket, const char *text);
cJSON *police_faults(void); /* of the police; not the caller's */
/* Looks after those who wait; from the loop. */
void calls_tick(void);

/* ---- the workspace (world.c) ---- */

void world_make(void);
cJSON *world_users(void);
cJSON *world_channels(void);
cJSON *world_messages(void);
cJSON *world_user(const char *id);
cJSON *world_channel(const char *id);
/* One that can be read, answered and changed: neither deleted nor ephemeral. NULL if none. */
cJSON *world_message(const char *channel, const char *ts);
/* The channel of direct messages with a person; made if it is not there. */
cJSON *world_direct(const char *user);
/* A new ts: the clock's, but never one that was given before. In a static buffer. */
const char *world_ts(void);
/* A new id: prefix and a number. In a rotating buffer. */
const char *world_id(const char *prefix);
/* Stores a new message of a person, or of our bot if user is NULL; thread_ts may be NULL. */
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
	const char *plain; /* an answer that is no JSON */
	int status;
	int64_t retry_after; /* seconds; 0: none */
};

void call_clear(struct call *c);
/* Makes the answer {"ok":false,"error":error}; keeps the first one. Returns false. */
bool call_fail(struct call *c, const char *error);
/* The same, with a place: "text [json-pointer:pointer]" in errors and response_metadata. */
bool call_fail_at(struct call *c, const char *error, const struct str *place);
void call_warn(struct call *c, const char *warning);
bool call_failed(const struct call *c);
/* {"ok":true}, which the caller extends. */
cJSON *call_ok(struct call *c);
/* Text of an argument, "" if missing; or the error of a missing argument and NULL. */
const char *call_text(const struct call *c, const char *name);
const char *call_need(struct call *c, const char *name);
/* A channel that the bot may see, by argument; else the error and NULL. */
cJSON *call_channel(struct call *c, const char *name);
bool call_scope(struct call *c, const char *scope);
bool call_has_scope(const char *scope);

/* Runs a Web API method; c->answer is filled. */
void web_api(struct call *c);
/* Whether the channel's turn has not come (rate limit of one a second); then the answer is 429. */
bool rate_of_channel(struct call *c, const char *channel);
/* Notes a 429, so that the police sees who calls before its time. */
void rate_refused(const struct call *c, int64_t seconds);
void rate_police(const struct call *c);
/* Answers to a response_url. */
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
/* Stores an ephemeral message, or one for all, that came as a payload and not by a call. */
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
/* What an ack of a view_submission does to the view. */
void view_acked(cJSON *view, const cJSON *payload, const char *envelope_id, int socket);
/* A new trigger, made age_ms ago. view: id of the view it came from, or NULL. */
const char *trigger_new(const char *user, const char *view, int64_t age_ms);

/* ---- Block Kit (blocks.c) ---- */

enum surface { MESSAGE, MODAL };
/* 0, or -1 with the place: "text [json-pointer:/blocks/0]". */
int blocks_check(const cJSON *blocks, enum surface surface, const char *pointer, struct str *place);
int view_check(const cJSON *view, struct str *place);
/* Code points. */
size_t characters(const char *text);
/* All text in blocks; *rich: whether a rich_text is among them. */
size_t blocks_characters(const cJSON *blocks, bool *rich);

/* ---- faults on demand (faults.c) ---- */

/* NULL, or what is wrong with the order. */
const char *fault_order(const cJSON *order);
/* The fault that the next call of this name meets, NULL for none; the caller deletes it. */
cJSON *fault_take(const char *name);
bool fault_is_before(const cJSON *fault);

/* ---- HTTP (http.c) ---- */

void http_serve(struct evhttp_request *http, void *nothing);
void http_json(struct evhttp_request *http, int status, const cJSON *answer);
/* Ends the connection from the loop, without an answer. */
void http_drop(struct evhttp_connection *connection);
/* What /control/ does with a request; body NULL for GET. */
void control(struct evhttp_request *http, const char *path, const cJSON *arguments);

/* ---- Socket Mode (socket.c, envelopes.c) ---- */

struct sock;
void connections_open(struct call *c);
void socket_upgrade(struct evhttp_request *http, const char *ticket, bool debug_reconnects);
/* Number of a socket that takes envelopes: that one, or if wanted is 0 the next in turn; 0: none */
int socket_choose(int wanted);
/* Writes one message, in so many frames. */
void socket_write(int socket, const char *text, int fragments);
bool socket_is_heard(int socket); /* open, and neither silent nor closed by us */
void socket_close(int socket, int code);
/* "" or what is wrong with the order; *count: how many sockets it has reached. */
const char *socket_order(const cJSON *order, int *count);
cJSON *sockets_all(void);
void socket_tick(void);

struct how {
	int socket, copies, fragments;
};
/* Sends an envelope, or keeps it for the next hello; takes it over. The number of the socket. */
int envelope_send(cJSON *envelope, const struct how *how);
void envelope_raw(const char *text, const struct how *how);
/* Sends it once more; out gets envelope_id and socket. NULL, or what is wrong. */
const char *envelope_again(const cJSON *order, cJSON *out);
void envelope_flush(void); /* what has waited for a hello */
void envelope_received(int socket, const char *text, size_t length);
void envelope_socket_gone(int socket);
int envelope_unacked(int socket);
void envelope_tick(void);

/* Makes payloads and sends them. NULL, or what is wrong with the order; out: what was made. */
const char *deliver(const cJSON *order, cJSON *out);
/* An events_api envelope for an event, which is taken over. */
cJSON *event_envelope(cJSON *event);

#endif
