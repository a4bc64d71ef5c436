/* Reads one value of config.toml, and reports what is wrong with it and where. */
#include "config_guess.h"
#include "config_read.h"

#include "json.h"
#include "toml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

int config_read_wrong(struct config_load *l, int line, const char *name, const char *format, ...)
{
	OWNED(str) struct str place = { 0 };
	char text[ERR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	str_add(&place, l->c->file);
	if (line > 0)
		str_addf(&place, ":%d", line);
	return err_set(l->e, ERR_INPUT, "config: %s: %s: %s", str_text(&place), name, text);
}

void config_read_warn(struct config_load *l, int line, const char *format, ...)
{
	OWNED(str) struct str text = { 0 };
	char *why = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&why, format, args) < 0)
		why = NULL;
	va_end(args);
	str_addf(&text, "%s:", l->c->file);
	if (line > 0)
		str_addf(&text, "%d:", line);
	str_addf(&text, " %s", why ? why : "");
	free(why);
	texts_add(&l->c->warnings, str_text(&text));
}

void config_read_add_found(struct str *out, const cJSON *node)
{
	OWNED(str) struct str value = { 0 };

	if (toml_is(node, TOML_TABLE) || toml_is(node, TOML_ARRAY)) {
		str_addf(out, "%s %s", toml_is(node, TOML_ARRAY) ? "an" : "a", toml_type(node));
		return;
	}
	str_addf(out, "the %s ", toml_type(node));
	json_add(&value, toml_value(node));
	config_field_add_cut(out, value.bytes);
}

static int is_not(struct config_load *l, const char *name, const cJSON *node, const char *expected)
{
	OWNED(str) struct str found = { 0 };

	config_read_add_found(&found, node);
	return config_read_wrong(l, toml_line(node), name, "is %s; write %s", str_text(&found),
	                         expected);
}

int config_read_unfit(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	OWNED(str) struct str expected = { 0 };

	config_field_add_expected(&expected, f);
	return is_not(l, f->name, node, str_text(&expected));
}

void config_read_warn_key(struct config_load *l, const char *table, const char *const *known,
                          size_t count, const cJSON *node)
{
	struct config_guess guess = CONFIG_GUESS_INIT;
	OWNED(str) struct str shown = { 0 };

	config_field_add_cut(&shown, node->string);
	for (size_t i = 0; i < count; i++)
		config_guess_try(&guess, node->string, known[i], strlen(known[i]));
	if (config_guess_is_near(&guess, node->string))
		config_read_warn(l, toml_line(node), "unknown key '%s.%s'; did you mean '%s.%s'?",
		                 table, str_text(&shown), table, guess.name);
	else
		config_read_warn(l, toml_line(node), "unknown key '%s.%s'; it is ignored", table,
		                 str_text(&shown));
}

/* ---- values ---- */

/* The text of a node that is a text and follows the rule; otherwise NULL. */
static const char *fitting(const cJSON *node, const struct config_rule *rule)
{
	const char *text;

	if (!toml_is(node, TOML_TEXT))
		return NULL;
	text = toml_value(node)->valuestring;
	return !rule || rule->fits(text) ? text : NULL;
}

static int read_texts(struct config_load *l, const struct config_field *f, struct texts *texts,
                      const cJSON *node)
{
	const cJSON *item;

	if (!toml_is(node, TOML_ARRAY))
		return config_read_unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		const char *text = fitting(item, f->rule);

		if (!text)
			return f->rule && toml_is(item, TOML_TEXT)
			           ? is_not(l, f->name, item, f->rule->allowed)
			           : config_read_unfit(l, f, item);
		texts_add(texts, text);
	}
	return 0;
}

static int read_numbers(struct config_load *l, const struct config_field *f,
                        struct config_numbers *numbers, const cJSON *node)
{
	const cJSON *item;
	int64_t number;

	if (!toml_is(node, TOML_ARRAY))
		return config_read_unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (!toml_int(item, &number) || number < f->low || number > f->high)
			return config_read_unfit(l, f, item);
		numbers->items =
		    xrealloc(numbers->items, (numbers->count + 1) * sizeof(*numbers->items));
		numbers->items[numbers->count++] = number;
	}
	return 0;
}

static int read_pair(struct config_load *l, const struct config_field *f, struct config_map *map,
                     const cJSON *node)
{
	const char *text = fitting(node, f->rule);
	OWNED(str) struct str name = { 0 };

	str_addf(&name, "%s.", f->name);
	config_field_add_cut(&name, node->string);
	if (!CONFIG_ALIAS.fits(node->string))
		return config_read_wrong(
		    l, toml_line(node), f->name, "the name '%s' does not fit; write %s",
		    str_text(&name) + strlen(f->name) + 1, CONFIG_ALIAS.allowed);
	if (!text)
		return is_not(l, str_text(&name), node, f->rule->allowed);
	config_field_add_pair(map, node->string, text);
	return 0;
}

static int read_map(struct config_load *l, const struct config_field *f, struct config_map *map,
                    const cJSON *node)
{
	const cJSON *item;

	if (!toml_is(node, TOML_TABLE))
		return config_read_unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (read_pair(l, f, map, item))
			return -1;
	}
	return 0;
}

/* The choice that a node gives, as a text or as a number; -1: none. */
static int read_choice(const struct config_field *f, const cJSON *node)
{
	char digits[24];
	int64_t number;

	if (toml_is(node, TOML_TEXT))
		return config_field_choice(f, toml_value(node)->valuestring);
	if (!toml_int(node, &number))
		return -1;
	(void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
	return config_field_choice(f, digits);
}

static int read_scalar(struct config_load *l, const struct config_field *f, void *place,
                       const cJSON *node)
{
	const char *text;
	int64_t number;
	int choice;

	if (f->kind == KIND_BOOLEAN) {
		if (!toml_is(node, TOML_BOOLEAN))
			return config_read_unfit(l, f, node);
		*(bool *)place = cJSON_IsTrue(toml_value(node));
		return 0;
	}
	if (f->kind == KIND_NUMBER) {
		if (!toml_int(node, &number) || number < f->low || number > f->high)
			return config_read_unfit(l, f, node);
		*(int64_t *)place = number;
		return 0;
	}
	if (f->kind == KIND_CHOICE) {
		choice = read_choice(f, node);
		if (choice < 0)
			return config_read_unfit(l, f, node);
		*(int *)place = choice;
		return 0;
	}
	text = fitting(node, f->rule);
	if (!text)
		return config_read_unfit(l, f, node);
	xreplace(place, text);
	return 0;
}

int config_read_value(struct config_load *l, const struct config_field *f, void *place,
                      const cJSON *node)
{
	switch (f->kind) {
	case KIND_TEXTS:
		return read_texts(l, f, place, node);
	case KIND_NUMBERS:
		return read_numbers(l, f, place, node);
	case KIND_MAP:
		return read_map(l, f, place, node);
	case KIND_BOOLEAN:
	case KIND_NUMBER:
	case KIND_TEXT:
	case KIND_CHOICE:
	case KIND_WORKSPACES:
	case KIND_AGENTS:
		break;
	}
	return read_scalar(l, f, place, node);
}

char *config_read_dir(const struct config *c)
{
	const char *slash = strrchr(c->file, '/');
	OWNED(str) struct str dir = { 0 };

	if (slash)
		str_add_bytes(&dir, c->file, (size_t)(slash - c->file));
	return str_take(&dir);
}
