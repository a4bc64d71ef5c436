#include "json_peek.h"

#include "err.h"
#include "json.h"

#include <string.h>

static void token_add(struct json_peek *p, char c)
{
	if (p->length < sizeof(p->token) - 1) {
		p->token[p->length] = c;
		p->token[p->length + 1] = '\0';
	}
	p->length++;
}

/* Copies the text of the string token; it stays empty where it does not fit. */
static void token_text(const struct json_peek *p, char out[JSON_TOKEN_BYTES])
{
	OWNED(cJSON_ptr) cJSON *string = NULL;

	out[0] = '\0';
	if (p->length >= sizeof(p->token))
		return;
	string = cJSON_Parse(p->token);
	if (cJSON_IsString(string) && strlen(string->valuestring) < JSON_TOKEN_BYTES)
		memcpy(out, string->valuestring, strlen(string->valuestring) + 1);
}

static enum json_peek_name name_of(const char *text)
{
	static const char *const NAMES[] = {
		[JSON_PEEK_OTHER] = "",        [JSON_PEEK_VERSION] = "jsonrpc",
		[JSON_PEEK_ID] = "id",         [JSON_PEEK_METHOD] = "method",
		[JSON_PEEK_PARAMS] = "params", [JSON_PEEK_RESULT] = "result",
		[JSON_PEEK_ERROR] = "error",
	};

	for (size_t i = JSON_PEEK_OTHER + 1; i < COUNT(NAMES); i++)
		if (strcmp(NAMES[i], text) == 0)
			return (enum json_peek_name)i;
	return JSON_PEEK_OTHER;
}

/* Notes that the member is there. */
static void note(struct json_peek *p, enum json_peek_name name)
{
	if (p->has[name])
		p->unclear = "a name in it is there twice";
	p->has[name] = true;
	if (p->has[JSON_PEEK_METHOD] && (p->has[JSON_PEEK_RESULT] || p->has[JSON_PEEK_ERROR]))
		p->unclear = "it is a request and an answer";
}

static void end_name(struct json_peek *p)
{
	char name[JSON_TOKEN_BYTES];

	token_text(p, name);
	p->name = name_of(name);
	json_fold(name);
	if (p->name != JSON_PEEK_OTHER)
		note(p, p->name);
	else if (name_of(name) != JSON_PEEK_OTHER)
		p->unclear = "a name in it is in another case";
}

/* Whether the token can be copied into an answer: a string or a number of strict JSON. */
static bool is_id(const struct json_peek *p)
{
	OWNED(cJSON_ptr) cJSON *value = NULL;

	if (p->length >= sizeof(p->token) || !utf8_valid(p->token, p->length))
		return false;
	for (size_t i = 0; i < p->length; i++)
		if ((unsigned char)p->token[i] < 0x20)
			return false;
	value = json_read(p->token, p->length, NULL);
	return cJSON_IsString(value) || cJSON_IsNumber(value) || cJSON_IsRaw(value);
}

/* A scalar value of the outermost object is complete. The first of two members counts, as it does
 * for cJSON. */
static void end_value(struct json_peek *p)
{
	if (p->name == JSON_PEEK_ID && !p->id[0] && is_id(p))
		memcpy(p->id, p->token, p->length + 1);
	else if (p->name == JSON_PEEK_METHOD && !p->method[0] && p->token[0] == '"')
		token_text(p, p->method);
	p->name = JSON_PEEK_OTHER;
	p->length = 0;
}

/* Follows "\u0000" behind its backslash. */
static void watch_nul(struct json_peek *p, char c)
{
	static const char NUL[] = "u0000";

	if (p->nul_digits < 0)
		return;
	p->nul_digits = c == NUL[p->nul_digits] ? p->nul_digits + 1 : -1;
	if (p->nul_digits != sizeof(NUL) - 1)
		return;
	p->has_nul = true;
	p->nul_digits = -1;
}

static void in_string(struct json_peek *p, char c)
{
	if (p->depth == 1)
		token_add(p, c);
	watch_nul(p, c);
	if (p->escaped) {
		p->escaped = false;
	} else if (c == '\\') {
		p->escaped = true;
		p->nul_digits = 0;
	} else if (c == '"') {
		p->in_string = false;
		if (p->depth == 1 && p->in_value)
			end_value(p);
		else if (p->depth == 1)
			end_name(p);
	}
}

static void begin_string(struct json_peek *p)
{
	p->in_string = true;
	p->escaped = false;
	p->nul_digits = -1;
	p->length = 0;
	if (p->depth == 1)
		token_add(p, '"');
}

/* Between the strings of the outermost object. */
static void at_top(struct json_peek *p, char c)
{
	bool ends = c == ',' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n';

	if (p->in_value && !ends)
		token_add(p, c);
	else if (p->in_value && p->length)
		end_value(p);
	if (c == ':') {
		p->in_value = true;
		p->length = 0;
	} else if (c == ',') {
		p->in_value = false;
	}
}

static void outside(struct json_peek *p, char c)
{
	if (c == '"') {
		begin_string(p);
		return;
	}
	if (c == '{' || c == '[') {
		p->name = p->depth == 1 ? JSON_PEEK_OTHER : p->name;
		p->depth++;
	} else if (p->depth == 1) {
		at_top(p, c);
	}
	if ((c == '}' || c == ']') && p->depth > 0)
		p->depth--;
}

void json_peek_feed(struct json_peek *p, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (p->in_string)
			in_string(p, bytes[i]);
		else
			outside(p, bytes[i]);
}
