#include "environment.h"

#include "err.h"
#include "json.h"
#include "str.h"
#include "variables.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const EVERY_AGENT[] = {
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TZ", "TMPDIR", "XDG_*",
};

/* What is the machine's, and not a user's. */
static const char *const LOCALE[] = { "LANG", "LC_*", "TZ" };

static const char NEVER[] = "SLACK_";

static bool is_never(const char *variable)
{
	return strncmp(variable, NEVER, sizeof(NEVER) - 1) == 0;
}

static void put(struct environment *e, char *variable)
{
	size_t length = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < e->count; i++) {
		if (strncmp(e->variables[i], variable, length) != 0)
			continue;
		free(e->variables[i]);
		e->variables[i] = variable;
		return;
	}
	e->variables = xrealloc(e->variables, (e->count + 2) * sizeof(*e->variables));
	e->variables[e->count++] = variable;
	e->variables[e->count] = NULL;
}

void environment_set(struct environment *e, const char *name, const char *value)
{
	struct str variable = { 0 };

	if (!*name || strchr(name, '=') || is_never(name))
		return;
	str_addf(&variable, "%s=%s", name, value);
	put(e, str_take(&variable));
}

void environment_set_all(struct environment *e, const char *json)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_Parse(json);
	const cJSON *one;

	cJSON_ArrayForEach (one, all)
		if (one->string && cJSON_IsString(one))
			environment_set(e, one->string, one->valuestring);
}

static void pass(struct environment *e, char *const *from, const char *name)
{
	for (size_t i = 0; from[i]; i++)
		if (variable_is(from[i], name) && !is_never(from[i]))
			put(e, xstrdup(from[i]));
}

void environment_pass(struct environment *e, char *const *from, const char *json)
{
	for (size_t i = 0; i < COUNT(EVERY_AGENT); i++)
		pass(e, from, EVERY_AGENT[i]);
	environment_pass_named(e, from, json);
}

void environment_pass_named(struct environment *e, char *const *from, const char *json)
{
	OWNED(cJSON_ptr) cJSON *names = cJSON_Parse(json);
	const cJSON *name;

	cJSON_ArrayForEach (name, names)
		for (size_t i = 0; cJSON_IsString(name) && from[i]; i++)
			if (variable_is(from[i], name->valuestring) && !is_never(from[i]) &&
			    !variable_is_one_of(from[i], EVERY_AGENT, COUNT(EVERY_AGENT)))
				put(e, xstrdup(from[i]));
}

void environment_add(struct environment *e, const struct environment *more)
{
	for (size_t i = 0; i < more->count; i++)
		put(e, xstrdup(more->variables[i]));
}

void environment_pass_locale(struct environment *e, char *const *from)
{
	for (size_t i = 0; i < COUNT(LOCALE); i++)
		pass(e, from, LOCALE[i]);
}

void environment_clear(struct environment *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->variables[i]);
	free(e->variables);
	*e = (struct environment){ 0 };
}
