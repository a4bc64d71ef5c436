#include "json.h"

#include "err.h"

#include <stdlib.h>
#include <string.h>

void json_quote(struct str *out, const char *text)
{
	size_t length = strlen(text);

	str_add_char(out, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		size_t n = 1;

		if (c == '"' || c == '\\') {
			str_addf(out, "\\%c", c);
		} else if (c < 0x20) {
			str_addf(out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\u%04x", c);
		} else if (c < 0x80) {
			str_add_char(out, (char)c);
		} else {
			while (n < 4 && i + n <= length && !utf8_valid(text + i, n))
				n++;
			if (n < 5 && i + n <= length && utf8_valid(text + i, n)) {
				str_add_bytes(out, text + i, n);
				i += n - 1;
			} else {
				str_add(out, "\xEF\xBF\xBD");
			}
		}
	}
	str_add_char(out, '"');
}

struct member {
	const cJSON *value;
};

static int by_name(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return strcmp(x->value->string, y->value->string);
}

static void canonical_object(struct str *out, const cJSON *object)
{
	int count = cJSON_GetArraySize(object), i = 0;
	struct member *members = xcalloc((size_t)count, sizeof(*members));
	const cJSON *value;

	cJSON_ArrayForEach (value, object)
		members[i++].value = value;
	qsort(members, (size_t)count, sizeof(*members), by_name);
	str_add_char(out, '{');
	for (i = 0; i < count; i++) {
		if (i > 0)
			str_add_char(out, ',');
		json_quote(out, members[i].value->string);
		str_add_char(out, ':');
		json_canonical(out, members[i].value);
	}
	str_add_char(out, '}');
	free(members);
}

void json_canonical(struct str *out, const cJSON *value)
{
	const cJSON *item;

	if (cJSON_IsObject(value)) {
		canonical_object(out, value);
	} else if (cJSON_IsArray(value)) {
		str_add_char(out, '[');
		cJSON_ArrayForEach (item, value) {
			if (item != value->child)
				str_add_char(out, ',');
			json_canonical(out, item);
		}
		str_add_char(out, ']');
	} else if (cJSON_IsString(value)) {
		json_quote(out, value->valuestring);
	} else {
		char *text = cJSON_PrintUnformatted(value);

		str_add(out, text ? text : "null");
		cJSON_free(text);
	}
}

void cJSON_ptr_clear(cJSON **value)
{
	cJSON_Delete(*value);
	*value = NULL;
}

const char *json_text(const cJSON *object, const char *name)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(member) ? member->valuestring : NULL;
}

void json_put_text(cJSON *object, const char *name, const char *text)
{
	if (text)
		(void)cJSON_AddStringToObject(object, name, text);
	else
		(void)cJSON_AddNullToObject(object, name);
}

void json_put_given(cJSON *object, const char *name, const char *text)
{
	if (text && *text)
		(void)cJSON_AddStringToObject(object, name, text);
}
