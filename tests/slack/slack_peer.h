/* slack_peer: the fake Slack, for tests in C: starts it, makes people do things, orders faults, and
 * waits for what our processes do. README.md next to it says what the fake can do.
 *
 * JSON is a printf format in which ' stands for " (\u0027 is an apostrophe). Functions return the
 * fake's answer, JSON, for member() and has() of agent.h; it is valid until the sixteenth call
 * after. What does not happen within AGENT_PATIENCE_MS fails the test. */
#ifndef SLACK_PEER_H
#define SLACK_PEER_H

#define SLACK_FAKE_APP_TOKEN "xapp-1-A01APP-1-fake"
#define SLACK_FAKE_BOT_TOKEN "xoxb-1-fake"

/* Starts a fake for this test, on the harness's clock (call fresh_store or scratch before), and
 * sets $SLACK_API_URL. It ends with the test. */
void slack_start(void);
/* Sets the environment of a system that talks to it: tokens, team, and U01OP and U02OP as
 * operators. */
void slack_credentials(void);
/* Ends it; fails the test if a client did something wrong. */
void slack_stop(void);
/* "http://127.0.0.1:PORT/api/" */
const char *slack_api_url(void);
int slack_port(void);

/* POST /control/<path>; fails the test unless the answer is ok. */
const char *slack_order(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for /control/deliver, fault, set and socket. */
const char *slack_deliver(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slack_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slack_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slack_socket(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Delivers, waits for the ack and returns it: by then what follows from it is committed. */
const char *slack_acked(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* GET /control/<path>, e.g. "messages?channel=C01AGENTS". */
const char *slack_ask(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Waits for the next log entry of that name, after the last one returned for it (and after the
 * mark): "ack", "hello", "chat.postMessage", "response_url", ... */
const char *slack_wait_for(const char *name);
/* slack_expect_calls and slack_wait_for start looking here. */
void slack_mark(void);
/* Waits until what clients did since the mark is this: calls, posts to a response_url, uploads and
 * acks, one name per line, in order. */
void slack_expect_calls(const char *names);
/* The police must have found these violations, one rule per line in order; slack_stop forgives
 * them. */
void slack_expect_faults(const char *rules);

/* Without a poster: what is to be asked has been posted, long ago. */
void slack_shows_questions(void);

#endif
