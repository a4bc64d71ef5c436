#include "desk.h"

#include "err.h"
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *desk_name(const struct verb *v)
{
	return v->syntax ? v->syntax : v->word;
}

int desk_name_length(const struct verb *v)
{
	return (int)strcspn(desk_name(v), " ");
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

void desk_add_foreign(const struct desk *d, struct str *out, const char *text, size_t most)
{
	OWNED(str) struct str shown = { 0 };
	bool is_code;

	str_add_shown(&shown, text, strlen(text), most);
	is_code = d->who->place.channel && strpbrk(str_text(&shown), "*_~`\\");
	for (char *at = shown.bytes; is_code && (at = strchr(at, '`')) != NULL;)
		*at = '\'';
	str_addf(out, is_code ? "`%s`" : "%s", str_text(&shown));
}

void desk_add_value(const struct desk *d, struct str *out)
{
	if (d->w->line)
		verb_take_whole(d->w->line, out);
	else
		str_add(out, d->w->text ? d->w->text : "");
}

void desk_add(struct desk *d, const char *name, const char *text)
{
	if (!d->out->json)
		d->out->json = cJSON_CreateObject();
	cJSON_DeleteItemFromObjectCaseSensitive(d->out->json, name);
	json_put_text(d->out->json, name, text);
}
