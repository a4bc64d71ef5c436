/* slack_web: calls of Slack's Web API over libcurl, and the meaning of their outcomes.
 *
 * A call is started, and finishes some time later, whatever its outcome; slack_web_wait drives all
 * calls in progress. A body is sent at most once: libcurl never repeats our requests by itself, so
 * a lost answer is SLACK_UNKNOWN. The token and the addresses that Slack hands out never appear in
 * the texts of this module. */
#ifndef SLACK_WEB_H
#define SLACK_WEB_H

#include "err.h"
#include "str.h"
#include "token.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	SLACK_CALL_MS = 15000,
	SLACK_VIEW_MS = 2500, /* of views.open: its trigger lives for 3 s */
	SLACK_CONNECT_MS = 5000,
	SLACK_ANSWER_MAX = 16 << 20, /* maximum length of an answer */
};

/* What a call's outcome means to its caller. */
enum slack_class {
	SLACK_OK,
	SLACK_RATE, /* too fast; certainly not done; not before retry_ms */
	SLACK_SURE, /* temporary, certainly not done: Slack was not reached */
	SLACK_UNKNOWN, /* temporary; it may have been done */
	SLACK_TOKEN, /* the token: until a person acts */
	SLACK_PLACE, /* the channel: until a person acts */
	SLACK_THREAD, /* what it refers to no longer exists */
	SLACK_OURS, /* Slack refuses our content */
};

struct slack_web {
	CURLM *multi;
	struct str base; /* ends with a slash */
	bool loopback; /* plain http is allowed, to this machine */
	struct curl_slist *bearer; /* the header with the token */
	int64_t skew_ms; /* Slack's clock minus ours, as of its last answer */
};

struct slack_call {
	CURL *easy; /* NULL: not in progress */
	struct curl_slist *headers;
	struct str url, body, answer;
	size_t body_sent;
	bool done; /* the members below are set */
	enum slack_class class;
	long status; /* of HTTP, 0: none */
	int64_t retry_ms; /* SLACK_RATE */
	char error[80]; /* Slack's name for it, or "" */
	char why[400]; /* in words; "" if class is SLACK_OK */
	cJSON *json; /* the answer, NULL if it is not JSON */
	struct str scopes; /* of the token, comma-separated; "": Slack named none */
};

/* base: the API's address or NULL for Slack's own; plain http is accepted for loopback only. token
 * is copied; it is the bot token, or that of variable. */
int slack_web_open(struct slack_web *web, const char *base, const char *token, struct err *e);
int slack_web_open_as(struct slack_web *web, const char *base, const char *variable,
                      const char *token, struct err *e);
void slack_web_clear(struct slack_web *web);

/* Appends "name=value&" to a form, percent-encoded. A NULL value is omitted. */
void slack_form_add(struct str *form, const char *name, const char *value);
void slack_form_add_int(struct str *form, const char *name, int64_t value);
/* The same with JSON text; deletes json. NULL is omitted. */
void slack_form_add_json(struct str *form, const char *name, cJSON *json);

/* Starts a method with a form; both are copied. c must not be in progress. */
void slack_call_start(struct slack_web *web, struct slack_call *c, const char *method,
                      const struct str *form, int timeout_ms);
/* Starts a POST without the token to an address that Slack handed out. Refuses one that is not
 * https (or http to loopback, if the base is): c is done then. */
void slack_call_start_at(struct slack_web *web, struct slack_call *c, const char *url,
                         const char *content_type, const void *body, size_t length);

/* Drives the calls in progress until one is done, one of fds is readable, or ms have passed. */
void slack_web_wait(struct slack_web *web, const int *fds, size_t fd_count, int ms);

/* Resets the call; it may be started again. */
void slack_call_clear(struct slack_call *c);

#endif
