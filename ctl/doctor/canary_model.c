#include "canary_model.h"

#include "json.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/time.h>

enum { BODY_BYTES_MAX = 32 << 20, STATUS_OK = 200, STATUS_NOT_HERE = 404, MS_PER_S = 1000 };

static const char SMALL_TALK[] = "canary"; /* where no tools are offered, and at the end */

/* What the model says: a call, or a text. */
struct saying {
	const char *id, *tool; /* tool NULL: a text */
	const char *args; /* JSON */
	char *quoted; /* args as a JSON string; owned */
};

/* One dialect: which paths are in it, and how a request and an answer look. */
struct dialect {
	const char *path; /* a part of it */
	void (*results)(const cJSON *body, cJSON *out); /* appends the results of calls, in order */
	void (*speak)(struct str *out, const struct saying *s); /* server-sent events */
};

static void add_result(cJSON *out, const cJSON *result)
{
	(void)cJSON_AddItemToArray(out, cJSON_Duplicate(result, 1));
}

/* ---- Anthropic Messages ---- */

static void messages_results(const cJSON *body, cJSON *out)
{
	const cJSON *message, *block;

	cJSON_ArrayForEach (message, json_get(body, "messages"))
		cJSON_ArrayForEach (block, json_get(message, "content"))
			if (json_says(block, "type", "tool_result"))
				add_result(out, json_get(block, "content"));
}

static void messages_speak(struct str *out, const struct saying *s)
{
	str_add(out,
	        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"
	        "\"msg_canary\",\"type\":\"message\",\"role\":\"assistant\",\"model\":"
	        "\"canary\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,"
	        "\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
	        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
	        "\"content_block\":");
	if (s->tool)
		str_addf(out, "{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"%s\",\"input\":{}}}",
		         s->id, s->tool);
	else
		str_add(out, "{\"type\":\"text\",\"text\":\"\"}}");
	str_add(out, "\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\","
	             "\"index\":0,\"delta\":");
	if (s->tool)
		str_addf(out, "{\"type\":\"input_json_delta\",\"partial_json\":%s}}", s->quoted);
	else
		str_addf(out, "{\"type\":\"text_delta\",\"text\":\"%s\"}}", SMALL_TALK);
	str_addf(
	    out,
	    "\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}"
	    "\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
	    "\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":1}}"
	    "\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	    s->tool ? "tool_use" : "end_turn");
}

/* ---- OpenAI Chat Completions ---- */

static void chat_results(const cJSON *body, cJSON *out)
{
	const cJSON *message;

	cJSON_ArrayForEach (message, json_get(body, "messages"))
		if (json_says(message, "role", "tool"))
			add_result(out, json_get(message, "content"));
}

static void chat_speak(struct str *out, const struct saying *s)
{
	static const char CHUNK[] = "data: {\"id\":\"canary\",\"object\":\"chat.completion.chunk\","
	                            "\"created\":1,\"model\":\"canary\",\"choices\":[{\"index\":0,"
	                            "\"delta\":";

	str_addf(out, "%s{\"role\":\"assistant\",\"content\":", CHUNK);
	if (s->tool)
		str_addf(out,
		         "null,\"tool_calls\":[{\"index\":0,\"id\":\"%s\",\"type\":\"function\","
		         "\"function\":{\"name\":\"%s\",\"arguments\":%s}}]}",
		         s->id, s->tool, s->quoted);
	else
		str_addf(out, "\"%s\"}", SMALL_TALK);
	str_addf(out,
	         ",\"finish_reason\":null}]}\n\n%s{},\"finish_reason\":\"%s\"}],\"usage\":{"
	         "\"prompt_tokens\":1,\"completion_tokens\":1,\"total_tokens\":2}}\n\n"
	         "data: [DONE]\n\n",
	         CHUNK, s->tool ? "tool_calls" : "stop");
}

/* ---- OpenAI Responses ---- */

static void responses_results(const cJSON *body, cJSON *out)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, json_get(body, "input"))
		if (json_says(item, "type", "function_call_output") ||
		    json_says(item, "type", "custom_tool_call_output"))
			add_result(out, json_get(item, "output"));
}

static void responses_speak(struct str *out, const struct saying *s)
{
	OWNED(str) struct str item = { 0 };
	static const char HEAD[] = "\"response\":{\"id\":\"resp_canary\",\"object\":\"response\","
	                           "\"created_at\":1,\"model\":\"canary\",\"usage\":{"
	                           "\"input_tokens\":1,\"output_tokens\":1,\"total_tokens\":2}";

	if (s->tool)
		str_addf(&item,
		         "{\"type\":\"function_call\",\"id\":\"fc_%s\",\"call_id\":\"%s\",\"name\":"
		         "\"%s\",\"arguments\":%s,\"status\":\"completed\"}",
		         s->id, s->id, s->tool, s->quoted);
	else
		str_addf(
		    &item,
		    "{\"type\":\"message\",\"id\":\"msg_%s\",\"role\":\"assistant\",\"status\":"
		    "\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"%s\","
		    "\"annotations\":[]}]}",
		    s->id, SMALL_TALK);
	str_addf(
	    out,
	    "event: response.created\ndata: {\"type\":\"response.created\",%s,\"status\":"
	    "\"in_progress\",\"output\":[]}}\n\n"
	    "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\","
	    "\"output_index\":0,\"item\":%s}\n\n"
	    "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\","
	    "\"output_index\":0,\"item\":%s}\n\n"
	    "event: response.completed\ndata: {\"type\":\"response.completed\",%s,\"status\":"
	    "\"completed\",\"output\":[%s]}}\n\n",
	    HEAD, item.bytes, item.bytes, HEAD, item.bytes);
}

/* ---- Gemini ---- */

static void gemini_results(const cJSON *body, cJSON *out)
{
	const cJSON *content, *part;

	cJSON_ArrayForEach (content, json_get(body, "contents"))
		cJSON_ArrayForEach (part, json_get(content, "parts"))
			if (json_get(part, "functionResponse"))
				add_result(
				    out, json_get(json_get(part, "functionResponse"), "response"));
}

static void gemini_speak(struct str *out, const struct saying *s)
{
	str_add(out,
	        "data: {\"candidates\":[{\"index\":0,\"content\":{\"role\":\"model\",\"parts\":[");
	if (s->tool)
		str_addf(out, "{\"functionCall\":{\"id\":\"%s\",\"name\":\"%s\",\"args\":%s}}",
		         s->id, s->tool, s->args);
	else
		str_addf(out, "{\"text\":\"%s\"}", SMALL_TALK);
	str_add(out, "]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1,"
	             "\"candidatesTokenCount\":1,\"totalTokenCount\":2},\"modelVersion\":"
	             "\"canary\"}\n\n");
}

/* ---- requests ---- */

static const struct dialect DIALECTS[] = {
	{ "/v1/messages", messages_results, messages_speak },
	{ "/chat/completions", chat_results, chat_speak },
	{ "/responses", responses_results, responses_speak },
	{ ":streamGenerateContent", gemini_results, gemini_speak },
};

/* Whether the tools of a request have one of this name, in whichever form. */
static bool offers(const cJSON *tools, const char *name)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, tools)
		if (json_says(one, "name", name) ||
		    json_says(json_get(one, "function"), "name", name) ||
		    offers(json_get(one, "functionDeclarations"), name))
			return true;
	return false;
}

static void note_results(struct canary_model *m, const cJSON *results)
{
	for (int i = 0; i < CANARY_CALLS; i++) {
		const cJSON *one = cJSON_GetArrayItem(results, i);
		char *text = cJSON_IsString(one) ? NULL : one ? cJSON_PrintUnformatted(one) : NULL;

		if (one && !m->calls[i].told.length)
			str_add(&m->calls[i].told, text ? text : cJSON_GetStringValue(one));
		cJSON_free(text);
	}
}

/* What the model says to a request that offers tools. */
static void choose(struct canary_model *m, const struct dialect *d, const cJSON *body,
                   struct saying *s)
{
	static const char *const IDS[] = { "call_canary_write", "call_canary_run" };
	OWNED(cJSON_ptr) cJSON *results = cJSON_CreateArray();
	OWNED(cJSON_ptr) cJSON *args = NULL;
	int next;

	d->results(body, results);
	note_results(m, results);
	m->requests++;
	for (int i = 0; i < CANARY_CALLS; i++)
		m->calls[i].offered |= offers(json_get(body, "tools"), m->calls[i].tool);
	next = cJSON_GetArraySize(results);
	if (next >= CANARY_CALLS || !m->calls[next].offered)
		return;
	s->id = IDS[next];
	s->tool = m->calls[next].tool;
	s->args = str_text(&m->calls[next].args);
	args = cJSON_CreateString(s->args);
	s->quoted = cJSON_PrintUnformatted(args);
}

static void answer(struct canary_model *m, struct evhttp_request *request, const char *path,
                   const cJSON *body)
{
	struct saying s = { .id = "canary" };
	OWNED(str) struct str text = { 0 };
	struct evbuffer *out;

	for (size_t i = 0; i < COUNT(DIALECTS); i++) {
		if (!strstr(path, DIALECTS[i].path))
			continue;
		if (cJSON_GetArraySize(json_get(body, "tools")) > 0)
			choose(m, &DIALECTS[i], body, &s);
		DIALECTS[i].speak(&text, &s);
		cJSON_free(s.quoted);
		out = evbuffer_new();
		(void)evbuffer_add(out, text.bytes, text.length);
		(void)evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
		                        "text/event-stream");
		evhttp_send_reply(request, STATUS_OK, "OK", out);
		evbuffer_free(out);
		return;
	}
	evhttp_send_reply(request, STATUS_NOT_HERE, "Not Found", NULL);
}

static void on_request(struct evhttp_request *request, void *arg)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(request);
	const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
	size_t length = evbuffer_get_length(in);
	OWNED(cJSON_ptr) cJSON *body = NULL;

	if (evhttp_request_get_command(request) == EVHTTP_REQ_HEAD) {
		evhttp_send_reply(request, STATUS_OK, "OK", NULL);
		return;
	}
	if (length > 0)
		body = cJSON_ParseWithLength((const char *)evbuffer_pullup(in, -1), length);
	answer(arg, request, path && body ? path : "", body);
}

/* ---- the server ---- */

int canary_model_start(struct canary_model *m, struct err *e)
{
	struct evhttp_bound_socket *bound;
	struct sockaddr_in address = { 0 };
	socklen_t length = sizeof(address);

	m->base = event_base_new();
	m->http = m->base ? evhttp_new(m->base) : NULL;
	bound = m->http ? evhttp_bind_socket_with_handle(m->http, "127.0.0.1", 0) : NULL;
	if (!bound || getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address,
	                          &length) != 0)
		return err_errno(e, ERR_AGAIN, "cannot listen on 127.0.0.1");
	m->port = ntohs(address.sin_port);
	evhttp_set_max_body_size(m->http, BODY_BYTES_MAX);
	evhttp_set_allowed_methods(m->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD);
	evhttp_set_gencb(m->http, on_request, m);
	return 0;
}

void canary_model_serve(struct canary_model *m, int milliseconds)
{
	const struct timeval most = { .tv_sec = milliseconds / MS_PER_S,
		                      .tv_usec =
		                          (suseconds_t)(milliseconds % MS_PER_S) * MS_PER_S };

	(void)event_base_loopexit(m->base, &most);
	(void)event_base_dispatch(m->base);
}

void canary_model_clear(struct canary_model *m)
{
	if (m->http)
		evhttp_free(m->http);
	if (m->base)
		event_base_free(m->base);
	for (int i = 0; i < CANARY_CALLS; i++) {
		str_clear(&m->calls[i].args);
		str_clear(&m->calls[i].told);
	}
}
