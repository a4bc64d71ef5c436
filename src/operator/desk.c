#include "desk.h"

#include "err.h"
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 60 }; /* of what looks like an option */

void said_clear(struct said *s)
{
	str_clear(&s->text);
	str_clear(&s->note);
	cJSON_Delete(s->json);
	*s = (struct said){ 0 };
}

int desk_tell(struct desk *d, enum said_outcome outcome, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	d->out->outcome = outcome;
	str_reset(&d->out->text);
	str_add(&d->out->text, text ? text : "");
	free(text);
	return 0;
}

int desk_refuse(struct desk *d, const struct err *why)
{
	return desk_tell(d, SAID_REFUSED, "%s", why->text);
}

int desk_tell_short(struct desk *d, const char *id)
{
	return desk_tell(d, SAID_UNCLEAR,
	                 "'%.*s' is too short for an id; give %d characters at least",
	                 (int)strcspn(id, " \t\r\n"), id, FIND_LEAST);
}

void desk_add_said(struct str *out, const char *text, size_t most)
{
	OWNED(char_ptr) char *line = xstrdup(text);

	for (char *at = line; (at = strpbrk(at, "\r\n\t")) != NULL;)
		*at = ' ';
	str_add_shown(out, line, strlen(line), most);
}

static int tell_no_option(struct desk *d, const char *line, const char *name,
                          const struct desk_option *options, size_t count)
{
	const char *verb = d->w->verb->word;
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "`%s` has no option `--", verb);
	desk_add_said(&text, name, SHOWN);
	str_add_char(&text, '`');
	for (size_t i = 0; i < count; i++)
		str_addf(&text, "%s `--%s`", i ? "," : "; it has", options[i].name);
	str_addf(&text, ". A text that begins so follows `--`: `%s -- ", verb);
	desk_add_said(&text, line, SHOWN);
	(void)desk_tell(d, SAID_UNCLEAR, "%s`", str_text(&text));
	return -1;
}

int desk_take_option(struct desk *d, const char **line, const struct desk_option *options,
                     size_t count)
{
	OWNED(str) struct str name = { 0 }, value = { 0 };
	const char *rest = *line;

	if (!verb_take_option(&rest, &name))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(options[i].name, str_text(&name)) != 0)
			continue;
		if (!verb_take(&rest, &value) || !value.length || value.length >= options[i].size) {
			(void)desk_tell(d, SAID_UNCLEAR, "--%s needs a value: `%s`",
			                options[i].name, d->w->verb->syntax);
			return -1;
		}
		(void)snprintf(options[i].value, options[i].size, "%s", str_text(&value));
		*line = rest;
		return 1;
	}
	return tell_no_option(d, *line, str_text(&name), options, count);
}

void desk_add(struct desk *d, const char *name, const char *text)
{
	if (!d->out->json)
		d->out->json = cJSON_CreateObject();
	cJSON_DeleteItemFromObjectCaseSensitive(d->out->json, name);
	json_put_text(d->out->json, name, text);
}
