#include "web.h"

#include "clock.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

enum {
	FDS_MAX = 8,
	NO_RETRY_AFTER_MS = 30000,
	/* A connection idle for longer is not reused: if Slack drops it while a body is being sent,
	 * that call is in doubt. */
	KEPT_SECONDS = 30,
};

static const char STOCK[] = "https://slack.com/api/";

/* ---- opening ---- */

/* Whether url may be called: https, or http to this machine if allowed. */
static bool is_allowed(const char *url, bool plain)
{
	CURLU *u = curl_url();
	char *scheme = NULL, *host = NULL;
	bool https, loopback;

	if (!u)
		return false;
	(void)(curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	       curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	       curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK);
	https = scheme && host && strcmp(scheme, "https") == 0;
	loopback = scheme && host && strcmp(scheme, "http") == 0 &&
	           (strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0 ||
	            strcmp(host, "localhost") == 0);
	curl_free(scheme);
	curl_free(host);
	curl_url_cleanup(u);
	return https || (loopback && plain);
}

int slack_web_open_as(struct slack_web *web, const char *base, const char *variable,
                      const char *token, struct err *e)
{
	OWNED(str) struct str header = { 0 };

	if (!base || !*base)
		base = STOCK;
	if (slack_base_check(base, &web->loopback, e) || slack_token_check(variable, token, e))
		return -1;
	str_add(&web->base, base);
	if (base[strlen(base) - 1] != '/')
		str_add_char(&web->base, '/');
	str_addf(&header, "Authorization: Bearer %s", token);
	web->bearer = curl_slist_append(NULL, str_text(&header));
	explicit_bzero(header.bytes, header.length);
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	web->multi = curl_multi_init();
	if (!web->multi || !web->bearer)
		return err_set(e, ERR_AGAIN, "cannot set up libcurl");
	return 0;
}

int slack_web_open(struct slack_web *web, const char *base, const char *token, struct err *e)
{
	return slack_web_open_as(web, base, "SLACK_BOT_TOKEN", token, e);
}

void slack_web_clear(struct slack_web *web)
{
	if (web->multi)
		(void)curl_multi_cleanup(web->multi);
	for (struct curl_slist *h = web->bearer; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl_slist_free_all(web->bearer);
	str_clear(&web->base);
	*web = (struct slack_web){ 0 };
}

/* ---- forms ---- */

void slack_form_add(struct str *form, const char *name, const char *value)
{
	char *escaped;

	if (!value)
		return;
	escaped = *value ? curl_easy_escape(NULL, value, 0) : NULL;
	str_addf(form, "%s%s=%s", form->length ? "&" : "", name, escaped ? escaped : "");
	curl_free(escaped);
}

void slack_form_add_int(struct str *form, const char *name, int64_t value)
{
	str_addf(form, "%s%s=%lld", form->length ? "&" : "", name, (long long)value);
}

void slack_form_add_json(struct str *form, const char *name, cJSON *json)
{
	OWNED(char_ptr) char *text = json ? cJSON_PrintUnformatted(json) : NULL;

	slack_form_add(form, name, text);
	cJSON_Delete(json);
}

/* ---- one call ---- */

static size_t take_answer(char *bytes, size_t size, size_t count, void *arg)
{
	struct slack_call *c = arg;

	if (c->answer.length + size * count > SLACK_ANSWER_MAX)
		return 0;
	str_add_bytes(&c->answer, bytes, size * count);
	return size * count;
}

/* It cannot be rewound: if a kept connection turns out to be dead after the body has been sent,
 * libcurl gives up instead of sending it again. */
static size_t give_body(char *to, size_t size, size_t count, void *arg)
{
	struct slack_call *c = arg;
	size_t left = c->body.length - c->body_sent;
	size_t n = left < size * count ? left : size * count;

	if (n)
		memcpy(to, c->body.bytes + c->body_sent, n);
	c->body_sent += n;
	return n;
}

static void finish(struct slack_call *c, enum slack_class class, const char *error, const char *why)
{
	c->done = true;
	c->class = class;
	(void)snprintf(c->error, sizeof(c->error), "%s", error);
	if (why != c->why)
		(void)snprintf(c->why, sizeof(c->why), "%s", why);
}

static void start(struct slack_web *web, struct slack_call *c, const char *type, bool with_token,
                  int timeout_ms)
{
	OWNED(str) struct str header = { 0 };

	c->easy = curl_easy_init();
	if (!c->easy) {
		finish(c, SLACK_SURE, "", "cannot set up libcurl");
		return;
	}
	str_addf(&header, "Content-Type: %s", type);
	c->headers = curl_slist_append(c->headers, str_text(&header));
	c->headers = curl_slist_append(c->headers, "Expect:");
	if (with_token)
		c->headers = curl_slist_append(c->headers, web->bearer->data);
	(void)curl_easy_setopt(c->easy, CURLOPT_URL, str_text(&c->url));
	(void)curl_easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR,
	                       web->loopback ? "https,http" : "https");
	(void)curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
	if (web->loopback)
		(void)curl_easy_setopt(c->easy, CURLOPT_NOPROXY, "*");
	(void)curl_easy_setopt(c->easy, CURLOPT_POST, 1L);
	(void)curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->body.length);
	(void)curl_easy_setopt(c->easy, CURLOPT_READFUNCTION, give_body);
	(void)curl_easy_setopt(c->easy, CURLOPT_READDATA, c);
	(void)curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, take_answer);
	(void)curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
	(void)curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers);
	(void)curl_easy_setopt(c->easy, CURLOPT_USERAGENT, "agent-intercom/" INTERCOM_VERSION);
	(void)curl_easy_setopt(c->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)SLACK_CONNECT_MS);
	(void)curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	(void)curl_easy_setopt(c->easy, CURLOPT_MAXAGE_CONN, (long)KEPT_SECONDS);
	(void)curl_easy_setopt(c->easy, CURLOPT_PRIVATE, c);
	(void)curl_multi_add_handle(web->multi, c->easy);
}

void slack_call_start(struct slack_web *web, struct slack_call *c, const char *method,
                      const struct str *form, int timeout_ms)
{
	slack_call_clear(c);
	str_addf(&c->url, "%s%s", str_text(&web->base), method);
	str_add_bytes(&c->body, str_text(form), form->length);
	start(web, c, "application/x-www-form-urlencoded", true, timeout_ms);
}

void slack_call_start_at(struct slack_web *web, struct slack_call *c, const char *url,
                         const char *content_type, const void *body, size_t length)
{
	slack_call_clear(c);
	if (!is_allowed(url, web->loopback)) {
		finish(c, SLACK_OURS, "", "the address that Slack gave is not https");
		return;
	}
	str_add(&c->url, url);
	str_add_bytes(&c->body, body, length);
	start(web, c, content_type, false, SLACK_CALL_MS);
}

void slack_call_clear(struct slack_call *c)
{
	if (c->easy)
		curl_easy_cleanup(c->easy);
	curl_slist_free_all(c->headers);
	str_clear(&c->url);
	str_clear(&c->body);
	str_clear(&c->answer);
	str_clear(&c->scopes);
	cJSON_Delete(c->json);
	*c = (struct slack_call){ 0 };
}

/* ---- the outcome ---- */

static const struct {
	const char *error;
	enum slack_class class;
} ERRORS[] = {
	{ "ratelimited", SLACK_RATE },
	{ "rate_limited", SLACK_RATE },
	{ "message_limit_exceeded", SLACK_RATE },
	{ "team_added_to_org", SLACK_SURE },
	{ "internal_error", SLACK_UNKNOWN },
	{ "fatal_error", SLACK_UNKNOWN },
	{ "service_unavailable", SLACK_UNKNOWN },
	{ "request_timeout", SLACK_UNKNOWN },
	{ "update_failed", SLACK_UNKNOWN },
	{ "not_authed", SLACK_TOKEN },
	{ "invalid_auth", SLACK_TOKEN },
	{ "token_revoked", SLACK_TOKEN },
	{ "token_expired", SLACK_TOKEN },
	{ "account_inactive", SLACK_TOKEN },
	{ "not_allowed_token_type", SLACK_TOKEN },
	{ "org_login_required", SLACK_TOKEN },
	{ "team_access_not_granted", SLACK_TOKEN },
	{ "access_denied", SLACK_TOKEN },
	{ "two_factor_setup_required", SLACK_TOKEN },
	{ "missing_scope", SLACK_TOKEN },
	{ "no_permission", SLACK_TOKEN },
	{ "channel_not_found", SLACK_PLACE },
	{ "not_in_channel", SLACK_PLACE },
	{ "is_archived", SLACK_PLACE },
	{ "restricted_action", SLACK_PLACE },
	{ "restricted_action_read_only_channel", SLACK_PLACE },
	{ "restricted_action_thread_only_channel", SLACK_PLACE },
	{ "restricted_action_non_threadable_channel", SLACK_PLACE },
	{ "posting_to_channel_denied", SLACK_PLACE },
	{ "invalid_channel", SLACK_PLACE },
	{ "messages_tab_disabled", SLACK_PLACE },
	{ "app_access_restricted", SLACK_PLACE },
	{ "cannot_reply_to_message", SLACK_THREAD },
	{ "restricted_action_thread_locked", SLACK_THREAD },
	{ "thread_not_found", SLACK_THREAD },
	{ "message_not_found", SLACK_THREAD },
};

static enum slack_class class_of(const char *error)
{
	for (size_t i = 0; i < COUNT(ERRORS); i++)
		if (strcmp(error, ERRORS[i].error) == 0)
			return ERRORS[i].class;
	return SLACK_OURS;
}

/* Slack's error, and its detail: the missing scope, the place in the blocks. */
static void explain(struct slack_call *c)
{
	const cJSON *notes = json_get(json_get(c->json, "response_metadata"), "messages");
	OWNED(str) struct str why = { 0 };

	str_add_shown(&why, c->error, strlen(c->error), sizeof(c->error));
	if (*json_some_text(c->json, "needed")) {
		str_add(&why, ": needs ");
		str_add_shown(&why, json_some_text(c->json, "needed"),
		              strlen(json_some_text(c->json, "needed")), 80);
		str_add(&why, ", add it and reinstall the app to the workspace");
	}
	if (cJSON_GetArraySize(notes) > 0) {
		const char *note = cJSON_GetStringValue(cJSON_GetArrayItem(notes, 0));

		str_add(&why, ": ");
		str_add_shown(&why, note ? note : "", note ? strlen(note) : 0, 250);
	}
	(void)snprintf(c->why, sizeof(c->why), "%s", str_text(&why));
}

static void note_clock(struct slack_web *web, struct slack_call *c)
{
	struct curl_header *h;

	if (curl_easy_header(c->easy, "Date", 0, CURLH_HEADER, -1, &h) == CURLHE_OK) {
		time_t at = curl_getdate(h->value, NULL);

		if (at > 0)
			web->skew_ms = (int64_t)at * 1000 - clock_now_ms();
	}
}

static void note_scopes(struct slack_call *c)
{
	struct curl_header *h;

	if (curl_easy_header(c->easy, "x-oauth-scopes", 0, CURLH_HEADER, -1, &h) == CURLHE_OK)
		str_add(&c->scopes, h->value);
}

/* The addresses that Slack hands out answer "ok", not JSON. */
static bool is_ok(const struct slack_web *web, const struct slack_call *c)
{
	if (c->json)
		return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c->json, "ok"));
	return c->status >= 200 && c->status < 300 &&
	       strncmp(str_text(&c->url), str_text(&web->base), web->base.length) != 0;
}

static void read_answer(struct slack_web *web, struct slack_call *c)
{
	curl_off_t after = 0;

	(void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &c->status);
	(void)curl_easy_getinfo(c->easy, CURLINFO_RETRY_AFTER, &after);
	note_clock(web, c);
	note_scopes(c);
	c->retry_ms = after > 0 ? (int64_t)after * 1000 : NO_RETRY_AFTER_MS;
	c->json = cJSON_ParseWithLength(str_text(&c->answer), c->answer.length);
	if (c->json && !cJSON_IsObject(c->json)) {
		cJSON_Delete(c->json);
		c->json = NULL;
	}
	if (c->status == 429) {
		finish(c, SLACK_RATE, "ratelimited", "too many calls");
	} else if (c->status >= 500) {
		(void)snprintf(c->why, sizeof(c->why), "Slack answered with status %ld", c->status);
		finish(c, SLACK_UNKNOWN, "", c->why);
	} else if (is_ok(web, c)) {
		finish(c, SLACK_OK, "", "");
	} else if (c->json && *json_some_text(c->json, "error")) {
		finish(c, class_of(json_some_text(c->json, "error")),
		       json_some_text(c->json, "error"), "");
		explain(c);
	} else if (c->status >= 400) {
		(void)snprintf(c->why, sizeof(c->why), "Slack answered with status %ld", c->status);
		finish(c, SLACK_OURS, "", c->why);
	} else {
		finish(c, SLACK_UNKNOWN, "", "the answer is not Slack's");
	}
}

/* Whether no byte of the request can have arrived. */
static bool never_left(struct slack_call *c, CURLcode code)
{
	long sent = 0;

	(void)curl_easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &sent);
	return sent == 0 || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
	       code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_SSL_CONNECT_ERROR ||
	       code == CURLE_PEER_FAILED_VERIFICATION;
}

static void end(struct slack_web *web, struct slack_call *c, CURLcode code)
{
	if (code == CURLE_OK) {
		read_answer(web, c);
	} else {
		(void)snprintf(c->why, sizeof(c->why), "cannot reach Slack: %s",
		               code == CURLE_SEND_FAIL_REWIND || code == CURLE_GOT_NOTHING
		                   ? "the connection ended without an answer"
		                   : curl_easy_strerror(code));
		finish(c, never_left(c, code) ? SLACK_SURE : SLACK_UNKNOWN, "", c->why);
	}
	(void)curl_multi_remove_handle(web->multi, c->easy);
	curl_easy_cleanup(c->easy);
	c->easy = NULL;
	curl_slist_free_all(c->headers);
	c->headers = NULL;
}

static bool collect(struct slack_web *web)
{
	CURLMsg *m;
	int left;
	bool any = false;

	while ((m = curl_multi_info_read(web->multi, &left)) != NULL) {
		CURLcode code = m->data.result;
		struct slack_call *c;

		if (m->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&c);
		end(web, c, code);
		any = true;
	}
	return any;
}

void slack_web_wait(struct slack_web *web, const int *fds, size_t fd_count, int ms)
{
	struct curl_waitfd extra[FDS_MAX];
	size_t count = fd_count < FDS_MAX ? fd_count : FDS_MAX;
	int64_t until = clock_monotonic_ms() + ms;
	int running = 0;

	for (size_t i = 0; i < count; i++)
		extra[i] = (struct curl_waitfd){ .fd = fds[i], .events = CURL_WAIT_POLLIN };
	for (;;) {
		bool heard = false;
		int64_t left;

		(void)curl_multi_perform(web->multi, &running);
		left = until - clock_monotonic_ms();
		if (collect(web) || left <= 0)
			return;
		(void)curl_multi_poll(web->multi, extra, (unsigned)count, (int)left, NULL);
		for (size_t i = 0; i < count; i++)
			heard = heard || extra[i].revents != 0;
		if (heard) {
			(void)curl_multi_perform(web->multi, &running);
			(void)collect(web);
			return;
		}
	}
}
