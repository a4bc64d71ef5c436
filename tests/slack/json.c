/* json: helpers for cJSON. */
#include "fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 64, TEXT_BYTES = 300 };

cJSON *json_literal(const char *text)
{
	OWNED(char_ptr) char *quoted = xstrdup(text);
	cJSON *value;

	for (char *c = quoted; *c; c++)
		if (*c == '\'')
			*c = '"';
	value = cJSON_Parse(quoted);
	if (!value) {
		(void)fprintf(stderr, "no JSON: %s\n", quoted);
		abort();
	}
	return value;
}

void json_set(cJSON *object, const char *name, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, name);
	(void)cJSON_AddItemToObject(object, name, value);
}

void json_set_text(cJSON *object, const char *name, const char *text)
{
	json_set(object, name, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

void json_set_int(cJSON *object, const char *name, int64_t value)
{
	json_set(object, name, cJSON_CreateNumber((double)value));
}

void json_set_bool(cJSON *object, const char *name, bool value)
{
	json_set(object, name, cJSON_CreateBool(value));
}

cJSON *member_of(const cJSON *object, const char *name)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNull(item) ? NULL : item;
}

int64_t json_int(const cJSON *object, const char *name, int64_t fallback)
{
	const cJSON *item = member_of(object, name);

	if (cJSON_IsNumber(item))
		return (int64_t)item->valuedouble;
	if (cJSON_IsString(item))
		return strtoll(item->valuestring, NULL, 10);
	return fallback;
}

bool json_true(const cJSON *object, const char *name)
{
	const cJSON *item = member_of(object, name);

	if (cJSON_IsString(item))
		return strcmp(item->valuestring, "true") == 0 ||
		       strcmp(item->valuestring, "1") == 0;
	return cJSON_IsTrue(item);
}

const char *json_str(const cJSON *object, const char *name)
{
	const char *text = json_text(object, name);

	return text ? text : "";
}

bool json_is(const cJSON *object, const char *name, const char *text)
{
	return strcmp(json_str(object, name), text) == 0;
}

cJSON *json_list(cJSON **list)
{
	if (!*list)
		*list = cJSON_CreateArray();
	return *list;
}

void json_overlay(cJSON *object, const cJSON *top)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, top)
		json_set(object, item->string, cJSON_Duplicate(item, true));
}

const char *text_of(const char *format, ...)
{
	static char texts[TEXTS][TEXT_BYTES];
	static int next;
	char *text = texts[next++ % TEXTS];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, TEXT_BYTES, format, args);
	va_end(args);
	return text;
}
