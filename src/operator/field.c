#include "field.h"

#include "choice.h"
#include "err.h"
#include "json.h"
#include "json_writer.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MOST = 10 }; /* of the choices, in an error */

/* A field, what was said of it, and where the outcome goes. */
struct fitting {
	const cJSON *field, *given;
	struct str *content, *said, *why;
};

const cJSON *field_limit(const cJSON *field, const char *name)
{
	return json_get(json_get(field, "limits"), name);
}

bool field_is(const cJSON *field, const char *kind)
{
	return json_says(field, "kind", kind);
}

static enum field_fit wrong(const struct fitting *f, const char *format, const char *detail)
{
	str_reset(f->why);
	str_addf(f->why, "must be %s%s", format, detail);
	return FIELD_WRONG;
}

/* ---- numbers of characters, choices and numbers ---- */

/* "3 to 10", "at least 3", "at most 10"; nothing if there is no limit. */
static void add_range(struct str *out, const cJSON *least, const cJSON *most)
{
	if (cJSON_IsNumber(least) && cJSON_IsNumber(most))
		str_addf(out, "%.15g to %.15g", least->valuedouble, most->valuedouble);
	else if (cJSON_IsNumber(least))
		str_addf(out, "at least %.15g", least->valuedouble);
	else if (cJSON_IsNumber(most))
		str_addf(out, "at most %.15g", most->valuedouble);
}

static bool is_within(double number, const cJSON *least, const cJSON *most)
{
	return (!cJSON_IsNumber(least) || number >= least->valuedouble) &&
	       (!cJSON_IsNumber(most) || number <= most->valuedouble);
}

/* ---- text ---- */

static bool is_email(const char *text)
{
	const char *at = strchr(text, '@');

	return at && at != text && at[1] && !strchr(at + 1, '@') && !strpbrk(text, " \t\r\n");
}

static bool is_uri(const char *text)
{
	size_t n = strcspn(text, ":");

	return isalpha((unsigned char)*text) && text[n] == ':' && text[n + 1] &&
	       !strpbrk(text, " \t\r\n");
}

/* Whether text begins as shape does, in which 0 is any digit. */
static bool has_shape(const char *text, const char *shape)
{
	for (; *shape; shape++, text++)
		if (*shape == '0' ? !isdigit((unsigned char)*text) : *text != *shape)
			return false;
	return true;
}

/* The two digits there. */
static int two(const char *digits)
{
	return (digits[0] - '0') * 10 + digits[1] - '0';
}

/* "2026-02-08", whatever follows. */
static bool begins_with_date(const char *text)
{
	static const int DAYS[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year, month, day;

	if (!has_shape(text, "0000-00-00"))
		return false;
	year = two(text) * 100 + two(text + 2);
	month = two(text + 5);
	day = two(text + 8);
	return month >= 1 && month <= 12 && day >= 1 && day <= DAYS[month - 1] &&
	       (day < 29 || month != 2 || (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)));
}

static bool is_date(const char *text)
{
	return begins_with_date(text) && !text[10];
}

/* RFC 3339: "2026-02-08T09:30:00Z", "…+01:00". */
static bool is_date_time(const char *text)
{
	const char *at = text + 10;

	if (!begins_with_date(text) || !has_shape(at, "T00:00:00") || two(at + 1) > 23 ||
	    two(at + 4) > 59 || two(at + 7) > 60)
		return false;
	at += 9;
	if (has_shape(at, ".0"))
		at += 1 + strspn(at + 1, "0123456789");
	if (strcmp(at, "Z") == 0)
		return true;
	return (*at == '+' || *at == '-') && has_shape(at + 1, "00:00") && two(at + 1) <= 23 &&
	       two(at + 4) <= 59 && !at[6];
}

static const struct format {
	const char *name;
	bool (*fits)(const char *text);
	const char *words;
} FORMATS[] = {
	{ "email", is_email, "an e-mail address" },
	{ "uri", is_uri, "an address like https://example.org" },
	{ "date", is_date, "a date like 2026-02-08" },
	{ "date-time", is_date_time, "a time like 2026-02-08T09:30:00Z" },
};

static enum field_fit fit_text(const struct fitting *f, const char *text)
{
	const cJSON *least = field_limit(f->field, "minLength"),
	            *most = field_limit(f->field, "maxLength");
	const char *format = json_text(json_get(f->field, "limits"), "format");
	OWNED(str) struct str range = { 0 };

	for (size_t i = 0; format && i < COUNT(FORMATS); i++)
		if (strcmp(format, FORMATS[i].name) == 0 && !FORMATS[i].fits(text))
			return wrong(f, FORMATS[i].words, "");
	add_range(&range, least, most);
	str_add(&range, " characters long");
	if (!is_within((double)utf8_count(text, strlen(text)), least, most))
		return wrong(f, str_text(&range), "");
	json_member(f->content, json_text(f->field, "name"), text);
	str_add(f->said, text);
	return FIELD_FITS;
}

/* ---- numbers ---- */

static enum field_fit fit_number(const struct fitting *f, const char *text)
{
	const cJSON *least = field_limit(f->field, "minimum"),
	            *most = field_limit(f->field, "maximum");
	bool is_whole = cJSON_IsTrue(field_limit(f->field, "integer"));
	OWNED(str) struct str range = { 0 };
	char *end;
	double number = strtod(text, &end);

	str_add(&range, " ");
	add_range(&range, least, most);
	if (!*text || *end || strspn(text, "+-.0123456789eE") != strlen(text) ||
	    !isfinite(number) || (is_whole && floor(number) != number) ||
	    !is_within(number, least, most))
		return wrong(f, is_whole ? "a whole number" : "a number",
		             range.length > 1 ? range.bytes : "");
	json_member_name(f->content, json_text(f->field, "name"));
	str_addf(f->content, "%.17g", number);
	str_add(f->said, text);
	return FIELD_FITS;
}

/* ---- choices ---- */

static const cJSON *choices_of(const cJSON *field)
{
	return json_get(field, "choices");
}

static const cJSON *given_choice(const cJSON *field, const cJSON *given)
{
	bool many;

	return cJSON_IsString(given)   ? choice_find(choices_of(field), given->valuestring, &many)
	       : cJSON_IsNumber(given) ? cJSON_GetArrayItem(choices_of(field), given->valueint - 1)
	                               : NULL;
}

static enum field_fit name_choices(const struct fitting *f, const char *words)
{
	OWNED(str) struct str names = { 0 };
	const cJSON *choice;
	int count = 0;

	cJSON_ArrayForEach (choice, choices_of(f->field)) {
		if (++count > NAMED_MOST)
			break;
		str_addf(&names, "%s%d. %.60s", count > 1 ? ", " : "", count,
		         json_text_or(choice, "name", "?"));
	}
	if (count > NAMED_MOST)
		str_add(&names, ", …");
	return wrong(f, words, str_text(&names));
}

static enum field_fit fit_one(const struct fitting *f)
{
	const cJSON *choice = given_choice(f->field, f->given);
	const char *id = json_text(choice, "id");

	if (!id)
		return name_choices(f, "one of: ");
	if (field_is(f->field, "boolean"))
		json_member_raw(f->content, json_text(f->field, "name"), id);
	else
		json_member(f->content, json_text(f->field, "name"), id);
	str_add(f->said, json_text(choice, "name"));
	return FIELD_FITS;
}

/* The texts between commas, without the blanks around them. */
static cJSON *split(const char *text)
{
	cJSON *all = cJSON_CreateArray();

	while (*text) {
		size_t n = strcspn(text, ","), from = strspn(text, " \t\r\n"), to = n;
		OWNED(str) struct str one = { 0 };

		while (to > from && strchr(" \t\r\n", text[to - 1]))
			to--;
		if (from < to)
			str_add_bytes(&one, text + from, to - from);
		(void)cJSON_AddItemToArray(all, cJSON_CreateString(str_text(&one)));
		text += n + (text[n] == ',');
	}
	return all;
}

/* Whether an earlier one is the same choice. */
static bool is_again(const cJSON *field, const cJSON *first, const cJSON *given)
{
	const cJSON *choice = given_choice(field, given);

	for (; first != given; first = first->next)
		if (given_choice(field, first) == choice)
			return true;
	return false;
}

static enum field_fit fit_many(const struct fitting *f)
{
	const cJSON *least = field_limit(f->field, "minItems"),
	            *most = field_limit(f->field, "maxItems");
	OWNED(cJSON_ptr)
	cJSON *texts = cJSON_IsString(f->given) ? split(f->given->valuestring) : NULL;
	OWNED(str) struct str list = { 0 }, range = { 0 };
	const cJSON *all = texts ? texts : f->given, *one;
	int count = 0;

	json_array(&list);
	cJSON_ArrayForEach (one, all) {
		const cJSON *choice = given_choice(f->field, one);

		if (!json_text(choice, "id"))
			return name_choices(f, "some of: ");
		if (is_again(f->field, all->child, one))
			continue;
		json_item(&list, json_text(choice, "id"));
		str_addf(f->said, "%s%s", count++ ? ", " : "", json_text(choice, "name"));
	}
	json_array_end(&list);
	add_range(&range, least, most);
	str_add(&range, " of the choices");
	if (!is_within(count, least, most))
		return wrong(f, str_text(&range), "");
	json_member_raw(f->content, json_text(f->field, "name"), str_text(&list));
	return FIELD_FITS;
}

/* ---- any ---- */

static bool is_empty(const cJSON *given)
{
	return !given || (cJSON_IsString(given) && !*given->valuestring) ||
	       (cJSON_IsArray(given) && !given->child);
}

enum field_fit field_fit(const cJSON *field, const cJSON *given, struct str *content,
                         struct str *said, struct str *why)
{
	const struct fitting f = { field, given, content, said, why };

	if (is_empty(given)) {
		if (!cJSON_IsTrue(json_get(field, "required")))
			return FIELD_EMPTY;
		str_add(why, "is missing");
		return FIELD_WRONG;
	}
	if (field_is(field, "many"))
		return fit_many(&f);
	if (field_is(field, "one") || field_is(field, "boolean"))
		return fit_one(&f);
	if (!cJSON_IsString(given))
		return wrong(&f, "text", "");
	return field_is(field, "number") ? fit_number(&f, given->valuestring)
	                                 : fit_text(&f, given->valuestring);
}

/* The position of the choice with that id, from 1; 0: none. */
static int position(const cJSON *field, const char *id)
{
	const cJSON *choice;
	int number = 0;

	cJSON_ArrayForEach (choice, choices_of(field)) {
		const char *has = json_text(choice, "id");

		number++;
		if (has && id && strcmp(has, id) == 0)
			return number;
	}
	return 0;
}

static cJSON *default_many(const cJSON *field, const cJSON *start)
{
	cJSON *all = cJSON_CreateArray();
	const cJSON *one;

	cJSON_ArrayForEach (one, start) {
		int number = position(field, cJSON_GetStringValue(one));

		if (number)
			(void)cJSON_AddItemToArray(all, cJSON_CreateNumber(number));
	}
	return all;
}

static cJSON *default_one(const cJSON *field, const cJSON *start)
{
	const char *id = cJSON_IsBool(start) ? (cJSON_IsTrue(start) ? "true" : "false")
	                                     : cJSON_GetStringValue(start);
	int number = position(field, id);

	return number ? cJSON_CreateNumber(number) : NULL;
}

cJSON *field_default(const cJSON *field)
{
	const cJSON *start = field_limit(field, "default");
	char text[32];

	if (field_is(field, "many"))
		return cJSON_IsArray(start) ? default_many(field, start) : NULL;
	if (field_is(field, "one") || field_is(field, "boolean"))
		return default_one(field, start);
	if (field_is(field, "number") && cJSON_IsNumber(start)) {
		(void)snprintf(text, sizeof(text), "%.15g", start->valuedouble);
		return cJSON_CreateString(text);
	}
	return field_is(field, "text") && cJSON_IsString(start)
	           ? cJSON_CreateString(start->valuestring)
	           : NULL;
}
