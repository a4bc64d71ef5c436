/* environment: the variables of an agent, by an allow list. Whatever any list says, no variable of
 * Slack's passes. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stddef.h>

struct environment {
	char **variables; /* "NAME=value", NULL-terminated; NULL while empty */
	size_t count;
};

/* Sets a variable, in place of one of that name. */
void environment_set(struct environment *e, const char *name, const char *value);
/* Sets every string member of a JSON object. */
void environment_set_all(struct environment *e, const char *json);
/* Copies from `from` what every agent gets (where its programs, its home and its language are), and
 * what a JSON list of names adds; a name that ends in '*' stands for all that begin so. */
void environment_pass(struct environment *e, char *const *from, const char *json);
void environment_clear(struct environment *e);

#endif
