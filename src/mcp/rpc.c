#include "rpc.h"

#include "err.h"
#include "json_peek.h"
#include "json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct rpc_error *error, int code, const char *text)
{
	error->code = code;
	(void)snprintf(error->text, sizeof(error->text), "%s", text);
	return -1;
}

/* ---- the scan before the parse ---- */

struct scan {
	const char *bytes;
	size_t length, at;
	int depth;
	bool has_nul;
	bool has_control; /* a byte below 0x20 where JSON has none (the parser accepts it) */
	size_t id_start, id_end; /* token of the top-level member "id" */
};

/* Moves past the string that begins at s->at. In variables, since it may have 4 MiB. */
static void skip_string(struct scan *s)
{
	const char *bytes = s->bytes;
	size_t length = s->length, at;
	bool has_control = false;

	for (at = s->at + 1; at < length && bytes[at] != '"'; at++) {
		has_control |= (unsigned char)bytes[at] < 0x20;
		if (bytes[at] != '\\')
			continue;
		if (length - at >= 6 && memcmp(bytes + at, "\\u0000", 6) == 0)
			s->has_nul = true;
		at++;
	}
	s->has_control |= has_control;
	/* Past the closing quote; a backslash at the end may have gone too far. */
	s->at = at < length ? at + 1 : length;
}

static void skip_space(struct scan *s)
{
	while (s->at < s->length && strchr(" \t\r\n", s->bytes[s->at]))
		s->at++;
}

/* At a scalar: moves past it. */
static void skip_scalar(struct scan *s)
{
	if (s->bytes[s->at] == '"') {
		skip_string(s);
		return;
	}
	while (s->at < s->length && !strchr(",}] \t\r\n", s->bytes[s->at]))
		s->at++;
}

/* Whether a string token spells id, in any way: a message with an id must not pass for one
 * without. */
static bool says_id(const char *token, size_t length)
{
	enum { LONGEST = 14 }; /* "\u0069\u0064" */
	OWNED(cJSON_ptr) cJSON *key = NULL;

	if (length == 4 || length > LONGEST || !memchr(token, '\\', length))
		return length == 4 && memcmp(token, "\"id\"", 4) == 0;
	key = cJSON_ParseWithLength(token, length);
	return cJSON_IsString(key) && strcmp(key->valuestring, "id") == 0;
}

/* At a string in an object of depth 1: records the token after "id":. */
static void take_id(struct scan *s)
{
	size_t start = s->at;

	skip_string(s);
	if (!says_id(s->bytes + start, s->at - start))
		return;
	skip_space(s);
	if (s->at >= s->length || s->bytes[s->at] != ':')
		return;
	s->at++;
	skip_space(s);
	if (s->at >= s->length || strchr("{[", s->bytes[s->at]))
		return;
	s->id_start = s->at;
	skip_scalar(s);
	s->id_end = s->at;
}

/* Nesting, \u0000 and the id's token: what the parser limits too late or does not keep. */
static bool look(struct scan *s)
{
	while (s->at < s->length) {
		char c = s->bytes[s->at];

		if (c == '"') {
			if (s->depth == 1 && s->id_end == 0)
				take_id(s);
			else
				skip_string(s);
			continue;
		}
		if (c == '{' || c == '[') {
			if (++s->depth > RPC_MAX_DEPTH)
				return false;
		} else if (c == '}' || c == ']') {
			s->depth--;
		}
		s->has_control |= (unsigned char)c < 0x20 && !strchr("\t\r\n", c);
		s->at++;
	}
	return true;
}

/* ---- messages ---- */

static bool is_integral(const cJSON *id)
{
	double number;

	return json_number(id, &number) && floor(number) == number && fabs(number) < 9.1e18;
}

static int classify(struct rpc_message *m, struct rpc_error *error)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(m->root, "id");
	const cJSON *method = cJSON_GetObjectItemCaseSensitive(m->root, "method");
	const char *version = json_text(m->root, "jsonrpc");

	if (id && (!m->id || (!cJSON_IsString(id) && !is_integral(id)))) {
		free(m->id);
		m->id = NULL;
		return fail(error, RPC_INVALID_REQUEST, "id must be a string or an integer");
	}
	if (!version || strcmp(version, "2.0") != 0)
		return fail(error, RPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
	m->params = cJSON_GetObjectItemCaseSensitive(m->root, "params");
	if (!method) {
		if (!cJSON_GetObjectItemCaseSensitive(m->root, "result") &&
		    !cJSON_GetObjectItemCaseSensitive(m->root, "error"))
			return fail(error, RPC_INVALID_REQUEST, "method is missing");
		m->kind = RPC_RESPONSE;
		return 0;
	}
	if (!cJSON_IsString(method))
		return fail(error, RPC_INVALID_REQUEST, "method must be a string");
	if (m->params && !cJSON_IsObject(m->params))
		return fail(error, RPC_INVALID_PARAMS, "params must be an object");
	m->method = method->valuestring;
	m->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
	return 0;
}

/* Of a member that is there twice, we would take one, and whoever looked at the message before us
 * may have taken the other. */
static int check_names(struct rpc_message *m, struct rpc_error *error)
{
	bool is_request = cJSON_GetObjectItemCaseSensitive(m->root, "method") != NULL;

	if (json_names_twice(m->root)) {
		cJSON_DeleteItemFromObjectCaseSensitive(m->root, "id");
		if (!is_request || cJSON_GetObjectItemCaseSensitive(m->root, "id")) {
			free(m->id); /* its sender may have meant the other one */
			m->id = NULL;
		}
		return fail(error, RPC_INVALID_REQUEST, "the message names something twice");
	}
	if (is_request && json_names_twice(cJSON_GetObjectItemCaseSensitive(m->root, "params")))
		return fail(error, RPC_INVALID_PARAMS, "params names something twice");
	return 0;
}

static int check(struct scan *s, struct rpc_error *error)
{
	if (!utf8_valid(s->bytes, s->length))
		return fail(error, RPC_PARSE_ERROR, "the message is not valid UTF-8");
	if (memchr(s->bytes, '\0', s->length))
		return fail(error, RPC_PARSE_ERROR, "the message holds a NUL byte");
	if (!look(s))
		return fail(error, RPC_PARSE_ERROR, "the message is nested deeper than 64 levels");
	if (s->has_control)
		return fail(error, RPC_PARSE_ERROR,
		            "the message is not valid JSON: it holds a control character");
	return 0;
}

/* A request that is wrong in nothing but such an escape: its caller waits for an answer with its
 * id, which m gets. */
static bool refuse_surrogate(const struct scan *s, struct rpc_message *m, struct rpc_error *error)
{
	struct rpc_message mended = { 0 };
	struct rpc_error ignored;
	char *copy = xmalloc(s->length + 1);

	memcpy(copy, s->bytes, s->length);
	copy[s->length] = '\0';
	if (json_mend_surrogates(copy, s->length) &&
	    rpc_parse(copy, s->length, &mended, &ignored) == 0 && mended.kind == RPC_REQUEST &&
	    memcmp(copy + s->id_start, s->bytes + s->id_start, s->id_end - s->id_start) == 0) {
		m->id = mended.id;
		mended.id = NULL;
	}
	free(copy);
	rpc_message_clear(&mended);
	if (!m->id)
		return false;
	(void)fail(error, RPC_INVALID_PARAMS,
	           "a text holds half of a surrogate pair, which is no character");
	return true;
}

/* What is not even parsed may be a request, whose caller waits for an answer with its id. */
static void keep_id(const struct scan *s, struct rpc_message *m)
{
	struct json_peek peek = { 0 };

	json_peek_feed(&peek, s->bytes, s->length);
	if (peek.method[0] && peek.id[0] && !peek.unclear)
		m->id = xstrdup(peek.id);
}

int rpc_check(const char *bytes, size_t length, struct rpc_error *error)
{
	struct scan s = { .bytes = bytes, .length = length };

	return check(&s, error);
}

int rpc_parse(const char *bytes, size_t length, struct rpc_message *m, struct rpc_error *error)
{
	struct scan s = { .bytes = bytes, .length = length };
	const char *end = NULL;

	if (check(&s, error)) {
		keep_id(&s, m);
		return -1;
	}
	m->has_nul = s.has_nul;
	m->length = length;
	m->root = json_read(bytes, length, &end);
	s.at = m->root && end ? (size_t)(end - bytes) : 0;
	skip_space(&s);
	if (!m->root || s.at < length) {
		char text[100];
		const char *at = m->root ? end : cJSON_GetErrorPtr();

		if (!m->root && refuse_surrogate(&s, m, error))
			return -1;
		(void)snprintf(text, sizeof(text), "the message is not valid JSON at byte %td",
		               at && at >= bytes && at <= bytes + length ? at - bytes : 0);
		return fail(error, RPC_PARSE_ERROR, text);
	}
	if (cJSON_IsArray(m->root)) {
		m->kind = RPC_BATCH;
		return 0;
	}
	if (!cJSON_IsObject(m->root))
		return fail(error, RPC_INVALID_REQUEST, "the message must be a JSON object");
	if (s.id_end > s.id_start) {
		m->id = xmalloc(s.id_end - s.id_start + 1);
		memcpy(m->id, bytes + s.id_start, s.id_end - s.id_start);
		m->id[s.id_end - s.id_start] = '\0';
	}
	return classify(m, error) || check_names(m, error) ? -1 : 0;
}

int rpc_batch_item(const struct rpc_message *batch, int index, struct rpc_message *m,
                   struct rpc_error *error)
{
	const cJSON *item = cJSON_GetArrayItem(batch->root, index);
	char *text = cJSON_PrintUnformatted(item);
	int failed = text ? rpc_parse(text, strlen(text), m, error)
	                  : fail(error, RPC_INTERNAL_ERROR, "out of memory");

	cJSON_free(text);
	m->has_nul |= batch->has_nul;
	if (!failed && m->kind == RPC_BATCH)
		return fail(error, RPC_INVALID_REQUEST, "a batch must not hold a batch");
	return failed;
}

void rpc_message_clear(struct rpc_message *m)
{
	cJSON_Delete(m->root);
	free(m->id);
	*m = (struct rpc_message){ 0 };
}

void rpc_result(struct str *out, const char *id, const char *result)
{
	str_addf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", id ? id : "null");
	str_add(out, result);
	str_add_char(out, '}');
}

void rpc_failure(struct str *out, const char *id, int code, const char *text, const char *data)
{
	str_add(out, "{\"jsonrpc\":\"2.0\"");
	if (id)
		str_addf(out, ",\"id\":%s", id);
	str_addf(out, ",\"error\":{\"code\":%d,\"message\":", code);
	json_quote(out, text);
	if (data) {
		str_add(out, ",\"data\":");
		str_add(out, data);
	}
	str_add(out, "}}");
}
