/* environment: the variables of an agent's process, from an allow list. No list can let a Slack
 * variable through. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stddef.h>

struct environment {
	char **variables; /* "NAME=value", NULL-terminated; NULL while empty */
	size_t count;
};

/* Sets a variable; replaces one of the same name. */
void environment_set(struct environment *e, const char *name, const char *value);
/* Sets every string member of a JSON object. */
void environment_set_all(struct environment *e, const char *json);
/* Copies from `from` what every agent gets (the paths of programs, the home directory, the locale)
 * and the names in a JSON list; a trailing '*' matches every name with that prefix. */
void environment_pass(struct environment *e, char *const *from, const char *json);
/* Copies those that the list names, and none of what every agent gets. */
void environment_pass_named(struct environment *e, char *const *from, const char *json);
/* Copies all of another one. */
void environment_add(struct environment *e, const struct environment *more);
/* Copies the machine's locale and time zone. */
void environment_pass_locale(struct environment *e, char *const *from);
void environment_clear(struct environment *e);

#endif
