#include "json_writer.h"

#include <string.h>

/* How many bytes from here on need no escape and are ASCII. */
static size_t plain_length(const char *text)
{
	const char *at = text;

	while ((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - text);
}

void json_quote(struct str *out, const char *text)
{
	size_t length = strlen(text);

	str_add_char(out, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		size_t n = 1;

		if (c == '"' || c == '\\') {
			str_add_char(out, '\\');
			str_add_char(out, (char)c);
		} else if (c == '\n' || c == '\t') {
			str_add_bytes(out, c == '\n' ? "\\n" : "\\t", 2);
		} else if (c < 0x20) {
			str_addf(out, "\\u%04x", c);
		} else if (c < 0x80) {
			n = plain_length(text + i);
			str_add_bytes(out, text + i, n);
			i += n - 1;
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

/* A quote, a bracket, a digit or a letter at the end completes a value. */
static void separate(struct str *out)
{
	char last = out->length ? out->bytes[out->length - 1] : '{';

	if (!strchr("{[:, \n", last))
		str_add_char(out, ',');
}

void json_object(struct str *out)
{
	separate(out);
	str_add_char(out, '{');
}

void json_array(struct str *out)
{
	separate(out);
	str_add_char(out, '[');
}

void json_object_from(struct str *out, const char *object)
{
	separate(out);
	str_add_bytes(out, object, strlen(object) - 1);
}

void json_object_end(struct str *out)
{
	str_add_char(out, '}');
}

void json_array_end(struct str *out)
{
	str_add_char(out, ']');
}

void json_member_name(struct str *out, const char *name)
{
	separate(out);
	json_quote(out, name);
	str_add_char(out, ':');
}

void json_member_object(struct str *out, const char *name)
{
	json_member_name(out, name);
	json_object(out);
}

void json_member_array(struct str *out, const char *name)
{
	json_member_name(out, name);
	json_array(out);
}

void json_member(struct str *out, const char *name, const char *text)
{
	if (!text)
		return;
	json_member_name(out, name);
	json_quote(out, text);
}

void json_member_or_null(struct str *out, const char *name, const char *text)
{
	if (text)
		json_member(out, name, text);
	else
		json_member_null(out, name);
}

void json_member_int(struct str *out, const char *name, int64_t number)
{
	json_member_name(out, name);
	str_addf(out, "%lld", (long long)number);
}

void json_member_bool(struct str *out, const char *name, bool value)
{
	json_member_raw(out, name, value ? "true" : "false");
}

void json_member_null(struct str *out, const char *name)
{
	json_member_raw(out, name, "null");
}

void json_member_raw(struct str *out, const char *name, const char *json)
{
	json_member_name(out, name);
	str_add(out, json);
}

void json_item(struct str *out, const char *text)
{
	separate(out);
	json_quote(out, text);
}
