/* Forms that an agent asks to have filled in: words become their content, a JSON object. One field
 * takes all the words; of several each line is "name: value" or "name=value". */
#include "desk.h"

#include "err.h"
#include "json_writer.h"
#include "request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_kind(const cJSON *field, const char *kind)
{
	const char *has = json_text(field, "kind");

	return has && strcmp(has, kind) == 0;
}

/* The value of a choice, by its number, id or name; NULL: there is none. */
static const char *choice_of(const cJSON *field, const char *text)
{
	const cJSON *choices = cJSON_GetObjectItemCaseSensitive(field, "choices"), *choice;
	char *end;
	long number = strtol(text, &end, 10);

	cJSON_ArrayForEach (choice, choices) {
		const char *id = json_text(choice, "id"), *name = json_text(choice, "name");

		if (id && ((name && strcasecmp(name, text) == 0) || strcasecmp(id, text) == 0))
			return id;
	}
	return *text && !*end && number > 0
	           ? json_text(cJSON_GetArrayItem(choices, (int)number - 1), "id")
	           : NULL;
}

/* Cut off at the blanks around it. */
static char *trimmed(const char *text, size_t length)
{
	OWNED(str) struct str out = { 0 };

	while (length && strchr(" \t\r\n", *text)) {
		text++;
		length--;
	}
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	str_add_bytes(&out, text, length);
	return str_take(&out);
}

static bool add_many(struct str *out, const cJSON *field, const char *text)
{
	json_member_array(out, json_text(field, "name"));
	while (*text) {
		size_t n = strcspn(text, ",");
		OWNED(char_ptr) char *one = trimmed(text, n);
		const char *id = choice_of(field, one ? one : "");

		if (!id)
			return false;
		json_item(out, id);
		text += n + (text[n] == ',');
	}
	json_array_end(out);
	return true;
}

/* Adds the member; false: the words are no value of this field. */
static bool add_value(struct str *out, const cJSON *field, const char *text)
{
	const char *name = json_text(field, "name");
	const char *id = choice_of(field, text);
	char *end;

	if (is_kind(field, "many"))
		return add_many(out, field, text);
	if (is_kind(field, "one") && id)
		json_member(out, name, id);
	else if (is_kind(field, "boolean") && id)
		json_member_raw(out, name, id);
	else if (is_kind(field, "number")) {
		double number = strtod(text, &end);

		if (!*text || *end || strspn(text, "+-.0123456789eE") != strlen(text))
			return false;
		json_member_name(out, name);
		str_addf(out, "%.17g", number);
	} else if (is_kind(field, "text"))
		json_member(out, name, text);
	else
		return false;
	return true;
}

/* What the words say of a field, or NULL; the caller frees it. */
static char *said_of(const cJSON *field, const char *text)
{
	const char *const names[] = { json_text(field, "name"), json_text(field, "title") };

	while (*text) {
		size_t line = strcspn(text, "\n;"), n = strcspn(text, ":=\n;");
		OWNED(char_ptr) char *name = trimmed(text, n);

		for (size_t i = 0; n < line && name && i < COUNT(names); i++)
			if (names[i] && strcasecmp(names[i], name) == 0)
				return trimmed(text + n + 1, line - n - 1);
		text += line + (text[line] != '\0');
	}
	return NULL;
}

static bool add_field(struct desk *d, struct str *out, const cJSON *field, const char *text)
{
	if (text && add_value(out, field, text))
		return true;
	if (!text && !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(field, "required")))
		return true;
	(void)desk_tell(d, SAID_UNCLEAR,
	                text ? "'%.80s' does not fit: '%.80s'" : "%.80s is missing%s",
	                json_text(field, "title"), text ? text : "");
	return false;
}

int desk_fill(struct desk *d, const struct found *f, const char *text, struct str *content,
              struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(cJSON_ptr) cJSON *fields = NULL;
	const cJSON *field;
	int got = request_read(d->st, f->seq, &r, e);

	if (got < 0)
		return -1;
	if (!r.row.form && strcmp(d->w->verb->word, "choose") == 0)
		return desk_tell(d, SAID_UNCLEAR, "%s offers nothing to choose from: `refine`",
		                 str_text(&f->name));
	if (!r.row.form)
		return 1;
	fields = cJSON_Parse(r.row.form);
	json_object(content);
	cJSON_ArrayForEach (field, fields) {
		bool is_only = cJSON_GetArraySize(fields) == 1;
		OWNED(char_ptr)
		char *said = is_only ? trimmed(text, strlen(text)) : said_of(field, text);

		if (!add_field(d, content, field, said && *said ? said : NULL))
			return 0;
	}
	json_object_end(content);
	return 1;
}
