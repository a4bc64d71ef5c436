/* http: turns requests into calls, and sends answers, whole or spoilt as a test has ordered. */
#include "fake.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Arguments that are JSON; in a form they are strings containing JSON. */
static const char *const JSON_ARGUMENTS[] = { "blocks", "view",        "metadata",
	                                      "files",  "attachments", "channels_json" };

/* ---- answers ---- */

static void header(struct evhttp_request *http, const char *name, const char *value)
{
	(void)evhttp_add_header(evhttp_request_get_output_headers(http), name, value);
}

static void common_headers(struct evhttp_request *http, const char *type)
{
	time_t now = (time_t)(fake_now_ms() / 1000);
	struct tm utc;
	char date[40];

	(void)strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc));
	header(http, "Date", date);
	header(http, "Content-Type", type);
}

static void send_text(struct evhttp_request *http, int status, const char *text)
{
	struct evbuffer *body = evbuffer_new();

	(void)evbuffer_add(body, text, strlen(text));
	evhttp_send_reply(http, status, NULL, body);
	evbuffer_free(body);
}

void http_json(struct evhttp_request *http, int status, const cJSON *answer)
{
	OWNED(char_ptr) char *text = cJSON_PrintUnformatted(answer);

	common_headers(http, "application/json; charset=utf-8");
	send_text(http, status, text);
}

static void drop_now(evutil_socket_t fd, short what, void *connection)
{
	(void)fd;
	(void)what;
	evhttp_connection_free(connection);
}

void http_drop(struct evhttp_connection *connection)
{
	static const struct timeval now = { 0 };

	evhttp_connection_set_closecb(connection, NULL, NULL);
	(void)event_base_once(fake_loop(), -1, EV_TIMEOUT, drop_now, connection, &now);
}

/* ---- spoilt answers ---- */

struct rest {
	struct evhttp_request *http;
	struct str text;
};

static void rest_gone(struct evhttp_connection *connection, void *rest)
{
	(void)connection;
	((struct rest *)rest)->http = NULL;
}

static void send_rest(evutil_socket_t fd, short what, void *arg)
{
	struct rest *r = arg;
	struct evbuffer *body = evbuffer_new();

	(void)fd;
	(void)what;
	if (r->http) {
		evhttp_connection_set_closecb(evhttp_request_get_connection(r->http), NULL, NULL);
		(void)evbuffer_add(body, r->text.bytes, r->text.length);
		evhttp_send_reply_chunk(r->http, body);
		evhttp_send_reply_end(r->http);
	}
	evbuffer_free(body);
	str_clear(&r->text);
	free(r);
}

/* The header announces the whole body; its first half is sent at once. */
static void send_half(struct evhttp_request *http, int status, const char *text)
{
	struct evbuffer *body = evbuffer_new();

	header(http, "Content-Length", text_of("%zu", strlen(text)));
	evhttp_send_reply_start(http, status, NULL);
	(void)evbuffer_add(body, text, strlen(text) / 2);
	evhttp_send_reply_chunk(http, body);
	evbuffer_free(body);
}

static void send_slowly(struct evhttp_request *http, int status, const char *text, int64_t delay_ms)
{
	struct timeval delay = { .tv_sec = delay_ms / 1000, .tv_usec = delay_ms % 1000 * 1000 };
	struct rest *r = xcalloc(1, sizeof(*r));

	send_half(http, status, text);
	r->http = http;
	str_add(&r->text, text + strlen(text) / 2);
	evhttp_connection_set_closecb(evhttp_request_get_connection(http), rest_gone, r);
	(void)event_base_update_cache_time(fake_loop()); /* the delay starts now, not earlier */
	(void)event_base_once(fake_loop(), -1, EV_TIMEOUT, send_rest, r, &delay);
}

static void end_after_half(struct evhttp_connection *connection, void *nothing)
{
	(void)nothing;
	http_drop(connection);
}

static void send_cut(struct evhttp_request *http, int status, const char *text)
{
	struct evbuffer *body = evbuffer_new();

	header(http, "Content-Length", text_of("%zu", strlen(text)));
	evhttp_send_reply_start(http, status, NULL);
	(void)evbuffer_add(body, text, strlen(text) / 2);
	evhttp_send_reply_chunk_with_cb(http, body, end_after_half, NULL);
	evbuffer_free(body);
}

static const char HTML[] = "<!DOCTYPE html><html><head><title>Bad gateway</title></head>"
                           "<body><h1>Something in between is broken</h1></body></html>";

/* Sends the answer that a fault puts in place of ours; true: it was sent, or never will be. text is
 * the body of the right answer, NULL if the call was not made. */
static bool send_spoilt(struct call *c, const cJSON *fault, const char *text)
{
	const char *what = json_str(fault, "what");

	if (strcmp(what, "hang") == 0)
		return true;
	if (strcmp(what, "lost") == 0) {
		http_drop(evhttp_request_get_connection(c->http));
	} else if (strcmp(what, "status") == 0) {
		common_headers(c->http, "text/plain");
		send_text(c->http, (int)json_int(fault, "status", HTTP_SERVUNAVAIL), "unavailable");
	} else if (strcmp(what, "html") == 0) {
		common_headers(c->http, "text/html; charset=utf-8");
		send_text(c->http, (int)json_int(fault, "status", 502), HTML);
	} else if (text && strcmp(what, "truncated") == 0) {
		OWNED(char_ptr) char *half = xstrdup(text);

		half[strlen(half) / 2] = '\0';
		common_headers(c->http, "application/json; charset=utf-8");
		send_text(c->http, c->status, half);
	} else if (text && strcmp(what, "cut") == 0) {
		send_cut(c->http, c->status, text);
	} else if (text && strcmp(what, "bare") == 0) {
		common_headers(c->http, "application/json; charset=utf-8");
		send_text(c->http, c->status, "{\"ok\":true}");
	} else if (text && strcmp(what, "slow") == 0) {
		send_slowly(c->http, c->status, text, json_int(fault, "delay_ms", 1000));
	} else {
		return false;
	}
	return true;
}

/* Handles faults whose answer is one of ours. */
static void answer_by_fault(struct call *c, const cJSON *fault)
{
	if (json_is(fault, "what", "error")) {
		cJSON_ptr_clear(&c->answer);
		(void)call_fail(c, json_text(fault, "error") ? json_text(fault, "error")
		                                             : "internal_error");
		json_overlay(c->answer, member_of(fault, "extra"));
	} else if (json_is(fault, "what", "rate")) {
		cJSON_ptr_clear(&c->answer);
		(void)call_fail(c, "ratelimited");
		c->status = 429;
		c->retry_after = cJSON_IsNull(cJSON_GetObjectItem(fault, "retry_after"))
		                     ? 0
		                     : json_int(fault, "retry_after", 1);
		rate_refused(c, c->retry_after);
	}
}

static void send_answer(struct call *c, const cJSON *fault)
{
	OWNED(char_ptr) char *text = NULL;

	if (c->plain || c->answer)
		text = c->plain ? xstrdup(c->plain) : cJSON_PrintUnformatted(c->answer);
	if (send_spoilt(c, fault, text))
		return;
	common_headers(c->http, c->plain ? "text/plain" : "application/json; charset=utf-8");
	if (c->retry_after > 0)
		header(c->http, "Retry-After", text_of("%d", (int)c->retry_after));
	send_text(c->http, c->status, text ? text : "");
}

/* ---- arguments ---- */

static bool is_json_argument(const char *name)
{
	for (size_t i = 0; i < COUNT(JSON_ARGUMENTS); i++)
		if (strcmp(JSON_ARGUMENTS[i], name) == 0)
			return true;
	return false;
}

static void argument(struct call *c, const char *name, const char *value)
{
	cJSON *parsed = is_json_argument(name) ? cJSON_Parse(value) : NULL;

	json_set(c->args, name, parsed ? parsed : cJSON_CreateString(value));
}

static void form(struct call *c, const char *text)
{
	struct evkeyvalq fields = { 0 };
	struct evkeyval *field;

	if (!text || !text[0])
		return;
	if (evhttp_parse_query_str(text, &fields) != 0)
		(void)call_fail(c, "invalid_form_data");
	for (field = fields.tqh_first; field; field = field->next.tqe_next)
		argument(c, field->key, field->value);
	evhttp_clear_headers(&fields);
}

static void json_body(struct call *c, const char *text)
{
	cJSON *parsed = cJSON_Parse(text), *item;

	if (!cJSON_IsObject(parsed)) {
		cJSON_Delete(parsed);
		if (text[0])
			(void)call_fail(c, "invalid_json");
		return;
	}
	cJSON_ArrayForEach (item, parsed) {
		if (cJSON_IsString(item))
			argument(c, item->string, item->valuestring);
		else
			json_set(c->args, item->string, cJSON_Duplicate(item, true));
	}
	cJSON_Delete(parsed);
}

/* One part of a multipart body: its header, and its bytes. Clients name the field of an upload as
 * they like: Slack's own use "filename" and "body". */
static void part(struct call *c, const char *head, const char *bytes, size_t length)
{
	OWNED(char_ptr) char *value = xmalloc(length + 1);
	const char *name = strstr(head, "name=\"");
	char field[100];

	memcpy(value, bytes, length);
	value[length] = '\0';
	if (!name || sscanf(name, "name=\"%99[^\"]\"", field) != 1)
		return;
	if (strcmp(c->name, "upload") == 0)
		str_add_bytes(&c->bytes, bytes, length);
	else
		argument(c, field, value);
}

static void multipart(struct call *c, const char *type, const char *body, size_t length)
{
	const char *end = body + length, *boundary = strstr(type, "boundary="), *at, *next;
	OWNED(str) struct str mark = { 0 };

	if (!boundary) {
		(void)call_fail(c, "invalid_form_data");
		return;
	}
	boundary += strlen("boundary=");
	str_add(&mark, "--");
	str_add_bytes(&mark, boundary + (*boundary == '"'),
	              strcspn(boundary + (*boundary == '"'), "\";"));
	for (at = memmem(body, length, mark.bytes, mark.length); at; at = next) {
		at += mark.length;
		next = memmem(at, (size_t)(end - at), mark.bytes, mark.length);
		const char *value = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);

		if (!next || !value || value > next)
			break;
		OWNED(str) struct str head = { 0 };

		str_add_bytes(&head, at, (size_t)(value - at));
		part(c, str_text(&head), value + 4, (size_t)(next - value - 6));
	}
}

static const char *content_type(struct evhttp_request *http)
{
	const char *type =
	    evhttp_find_header(evhttp_request_get_input_headers(http), "Content-Type");

	return type ? type : "";
}

static void charset(struct call *c, const char *type)
{
	bool given = strstr(type, "charset") != NULL;

	if (strcmp(c->body, "json") == 0 && !given)
		call_warn(c, "missing_charset");
	else if (strcmp(c->body, "form") == 0 && given)
		call_warn(c, "superfluous_charset");
}

static bool begins(const char *text, const char *with)
{
	return strncasecmp(text, with, strlen(with)) == 0;
}

/* Reads the request's arguments into c->args and c->bytes. */
static void arguments(struct call *c, const char *query)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(c->http);
	size_t length = evbuffer_get_length(in);
	OWNED(char_ptr) char *body = xmalloc(length + 1);
	const char *type = content_type(c->http);

	(void)evbuffer_copyout(in, body, length);
	body[length] = '\0';
	c->args = cJSON_CreateObject();
	form(c, query);
	c->body = query && query[0] ? "query" : "none";
	if (begins(type, "application/json")) {
		c->body = "json";
		json_body(c, body);
	} else if (begins(type, "application/x-www-form-urlencoded")) {
		c->body = length > 0 || strcmp(c->body, "none") == 0 ? "form" : c->body;
		form(c, body);
	} else if (begins(type, "multipart/form-data")) {
		c->body = "multipart";
		multipart(c, type, body, length);
	} else if (length > 0) {
		str_add_bytes(&c->bytes, body, length);
		if (strcmp(c->name, "upload") != 0)
			(void)call_fail(c, type[0] ? "invalid_post_type" : "missing_post_type");
	}
	charset(c, type);
}

/* ---- calls ---- */

void call_clear(struct call *c)
{
	cJSON_ptr_clear(&c->args);
	cJSON_ptr_clear(&c->answer);
	str_clear(&c->bytes);
}

/* Tokens do not belong in a log, not even ours. */
static cJSON *shown_arguments(const struct call *c)
{
	cJSON *args = cJSON_Duplicate(c->args, true);

	cJSON_DeleteItemFromObjectCaseSensitive(args, "token");
	return args;
}

static void note(const struct call *c, const char *kind, const cJSON *fault)
{
	cJSON *entry = calls_add(kind, c->name);

	json_set(entry, "args", shown_arguments(c));
	if (c->answer)
		json_set(entry, "answer", cJSON_Duplicate(c->answer, true));
	json_set_int(entry, "status", c->status);
	json_set_text(entry, "token", c->token);
	json_set_text(entry, "body", c->body);
	if (c->bytes.length)
		json_set_int(entry, "bytes", (int64_t)c->bytes.length);
	if (fault)
		json_set_text(entry, "fault",
		              text_of("%s %s", json_str(fault, "what"),
		                      fault_is_before(fault) ? "before" : "after"));
}

static void perform(struct call *c, const char *kind, const char *path)
{
	if (strcmp(kind, "hook") == 0)
		response_url_post(c, path);
	else if (strcmp(kind, "upload") == 0)
		files_upload(c, path);
	else
		web_api(c);
}

/* Plays one call: the fault before it, its effect, the log entry, the answer. */
static void play(struct evhttp_request *http, const char *kind, const char *name, const char *path,
                 const char *query)
{
	struct call c = { .http = http, .name = name, .status = HTTP_OK, .token = "none" };
	OWNED(cJSON_ptr) cJSON *fault = fault_take(name);

	arguments(&c, query);
	rate_police(&c);
	if (!fault_is_before(fault))
		perform(&c, kind, path);
	if (fault)
		answer_by_fault(&c, fault);
	note(&c, kind, fault);
	send_answer(&c, fault);
	call_clear(&c);
}

/* ---- routes ---- */

static void serve_control(struct evhttp_request *http, const char *path, const char *query)
{
	struct call c = { .http = http, .name = "control", .status = HTTP_OK };

	arguments(&c, query);
	control(http, path, c.args);
	call_clear(&c);
}

static void serve_link(struct evhttp_request *http, const char *query)
{
	struct call c = { .http = http, .name = "link", .status = HTTP_OK };
	OWNED(cJSON_ptr) cJSON *fault = fault_take("link");

	c.args = cJSON_CreateObject();
	form(&c, query);
	if (fault)
		json_set_text(calls_add("socket", "refused"), "fault", json_str(fault, "what"));
	if (!fault || !send_spoilt(&c, fault, NULL))
		socket_upgrade(http, json_str(c.args, "ticket"),
		               json_true(c.args, "debug_reconnects"));
	call_clear(&c);
}

void http_serve(struct evhttp_request *http, void *nothing)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(http);
	const char *path = evhttp_uri_get_path(uri), *query = evhttp_uri_get_query(uri);

	(void)nothing;
	path = path ? path : "";
	if (begins(path, "/api/"))
		play(http, "call", path + strlen("/api/"), path, query);
	else if (begins(path, "/commands/") || begins(path, "/actions/"))
		play(http, "hook", "response_url", path, query);
	else if (begins(path, "/upload/"))
		play(http, "upload", "upload", path, query);
	else if (begins(path, "/link/"))
		serve_link(http, query);
	else if (begins(path, "/control/"))
		serve_control(http, path + strlen("/control/"), query);
	else
		evhttp_send_error(http, HTTP_NOTFOUND, NULL);
}
