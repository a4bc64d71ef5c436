/* Forms that an agent asks to have filled in: words become their content, a JSON object. One field
 * takes all the words, without its own name if they begin with that. Of several, "name: value" or
 * "name=value" begins one, at the beginning of a line or behind ';', and it goes on to the next
 * such name: no word is left out. Or each field has a value of its own (words.form). */
#include "desk.h"

#include "err.h"
#include "field.h"
#include "json.h"
#include "json_writer.h"
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char ENDS[] = ":=\n;"; /* of a field's name */

enum { FILL_SHOWN = 80 }; /* bytes of a name or a value in a reply */

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

/* ---- all fields ---- */

struct filling {
	const struct desk *d;
	const char *text;
	int number; /* of the field, from 0 */
	bool is_only;
	char **values; /* of each field, from the text; NULL: not said */
	struct str *content, *said;
	struct str *shown; /* a line for each field that is filled in */
	struct str problems; /* a line for each field that does not fit */
	cJSON *errors; /* {"0": "must be ..."} */
};

/* What a person calls a field: by its title, which they see; one in which a name would end is
 * called by its name. */
static const char *called(const cJSON *field)
{
	const char *title = json_text(field, "title");

	return title && title[strcspn(title, ENDS)] == '\0' ? title : json_text(field, "name");
}

/* Number of the field that is named at text, before ':' or '='; -1: none, or several. *ret_value:
 * what follows. */
static int named_at(const cJSON *fields, const char *text, const char **ret_value)
{
	size_t n = strcspn(text, ENDS);
	OWNED(char_ptr) char *name = trimmed(text, n);
	const cJSON *field;
	int number = 0, found = -1;

	*ret_value = text + n + (text[n] != '\0');
	if (text[n] != ':' && text[n] != '=')
		return -1;
	cJSON_ArrayForEach (field, fields) {
		if (strcasecmp(called(field), name) == 0) {
			if (found >= 0)
				return -1;
			found = number;
		}
		number++;
	}
	return found;
}

static void add_unnamed(struct filling *f, const cJSON *fields, const char *words)
{
	const cJSON *field;

	str_add_char(&f->problems, '\'');
	desk_add_said(&f->problems, words, FILL_SHOWN);
	str_addf(&f->problems, "' names no field; begin each with its name, as in `%s: ...`:",
	         called(fields->child));
	cJSON_ArrayForEach (field, fields) {
		str_add(&f->problems, field != fields->child ? ", " : " ");
		desk_add_foreign(f->d, &f->problems, called(field), SIZE_MAX);
	}
}

/* Begins a line about a field. */
static void name_field(struct filling *f, const char *title)
{
	str_add(&f->problems, f->problems.length ? "\n'" : "'");
	desk_add_foreign(f->d, &f->problems, title, FILL_SHOWN);
	str_add(&f->problems, "' ");
}

/* The words of a field; number -1: those before the first name. */
static void give(struct filling *f, const cJSON *fields, int number, const char *text,
                 size_t length)
{
	OWNED(char_ptr) char *words = trimmed(text, length);

	if (number < 0 && words && *words)
		add_unnamed(f, fields, words);
	if (number < 0)
		return;
	if (f->values[number]) {
		name_field(f, json_text(cJSON_GetArrayItem(fields, number), "title"));
		str_add(&f->problems, "is given twice");
	}
	free(f->values[number]);
	f->values[number] = words;
	words = NULL;
}

/* Gives each field the words from its name to the next name. */
static void divide(struct filling *f, const cJSON *fields)
{
	const char *begin = f->text, *at = f->text, *value;
	int current = -1;

	for (;;) {
		int number = named_at(fields, at, &value);

		if (number >= 0) {
			give(f, fields, current, begin,
			     (size_t)(at - begin) - (at > begin && at[-1] == ';'));
			current = number;
			begin = at = value;
		}
		at += strcspn(at, "\n;");
		if (!*at)
			break;
		at++;
	}
	give(f, fields, current, begin, (size_t)(at - begin));
}

/* What is given of a field; a default counts where nobody could clear it. The caller deletes it. */
static cJSON *given_of(const struct filling *f, const cJSON *field)
{
	OWNED(char_ptr) char *said = NULL;
	char number[16];

	if (f->d->w->form) {
		(void)snprintf(number, sizeof(number), "%d", f->number);
		return cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(f->d->w->form, number), 1);
	}
	said = f->is_only ? trimmed(f->text, strlen(f->text))
	                  : xstrdup(f->values[f->number] ? f->values[f->number] : "");
	return said && *said ? cJSON_CreateString(said) : field_default(field);
}

static void add_problem(struct filling *f, const char *title, const cJSON *given, const char *why)
{
	char number[16];

	name_field(f, title);
	str_add(&f->problems, why);
	if (cJSON_IsString(given)) {
		str_add(&f->problems, ", not '");
		desk_add_said(&f->problems, given->valuestring, FILL_SHOWN);
		str_add_char(&f->problems, '\'');
	}
	(void)snprintf(number, sizeof(number), "%d", f->number);
	(void)cJSON_AddStringToObject(f->errors, number, why);
}

static void fill_field(struct filling *f, const cJSON *field)
{
	OWNED(cJSON_ptr) cJSON *given = given_of(f, field);
	OWNED(str) struct str said = { 0 }, why = { 0 };
	const char *title = json_text(field, "title");

	switch (field_fit(field, given, f->content, &said, &why)) {
	case FIELD_FITS:
		str_add_char(f->shown, '\n');
		desk_add_foreign(f->d, f->shown, title, FILL_SHOWN);
		str_add(f->shown, ": ");
		desk_add_foreign(f->d, f->shown, str_text(&said), FILL_SHOWN);
		if (f->is_only)
			str_add(f->said, str_text(&said));
		else
			str_addf(f->said, "%s%s: %s", f->said->length ? "\n" : "", title,
			         str_text(&said));
		break;
	case FIELD_WRONG:
		add_problem(f, title, given, str_text(&why));
		break;
	case FIELD_EMPTY:
		break;
	}
}

static int fill_all(struct desk *d, struct filling *f, const cJSON *fields)
{
	const cJSON *field;

	if (!f->d->w->form && !f->is_only)
		divide(f, fields);
	json_object(f->content);
	cJSON_ArrayForEach (field, fields) {
		fill_field(f, field);
		f->number++;
	}
	json_object_end(f->content);
	if (!f->said->length)
		str_add(f->said, "(nothing filled in)");
	if (!f->problems.length)
		return 1;
	d->out->json = cJSON_CreateObject();
	(void)cJSON_AddItemToObject(d->out->json, "errors", f->errors);
	f->errors = NULL;
	return desk_tell(d, SAID_UNCLEAR, "%s", f->problems.bytes);
}

/* The words of the only field, which may stand behind its name. */
static const char *value_of(const cJSON *fields, const char *text)
{
	const char *value;

	return named_at(fields, text, &value) == 0 ? value : text;
}

int desk_fill(struct desk *d, struct found *f, const char *text, struct str *content,
              struct str *said, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(cJSON_ptr) cJSON *fields = NULL;
	struct filling all = { .d = d, .content = content, .said = said, .shown = &f->filled };
	int got = request_read(d->st, f->seq, &r, e);

	if (got < 0)
		return -1;
	if (!r.row.form && strcmp(d->w->verb->word, "choose") == 0)
		return desk_tell(d, SAID_UNCLEAR, "%s takes an answer in words: `refine <text>`",
		                 str_text(&f->name));
	if (!r.row.form)
		return 1;
	fields = cJSON_Parse(r.row.form);
	int count = cJSON_GetArraySize(fields);

	all.text = count == 1 ? value_of(fields, text) : text;
	if (count && !d->w->form && !*verb_skip_blanks(all.text))
		return desk_tell(d, SAID_UNCLEAR,
		                 "nothing was sent: give one value at least (%s); the question "
		                 "lists the defaults that are sent for the rest",
		                 count == 1 ? "`refine <value>`" : "`refine <name>: <value>`");
	all.is_only = count == 1;
	all.errors = cJSON_CreateObject();
	all.values = xcalloc((size_t)count + 1, sizeof(*all.values));
	got = fill_all(d, &all, fields);
	for (int i = 0; i < count; i++)
		free(all.values[i]);
	free(all.values);
	cJSON_Delete(all.errors);
	str_clear(&all.problems);
	return got;
}
