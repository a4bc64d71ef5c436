/* recipe: what is to be started, before it is known where its program is and what its user's
 * environment is. It is followed by whoever starts it, as the user that they are. */
#ifndef RECIPE_H
#define RECIPE_H

#include "environment.h"
#include "err.h"
#include "fenced.h"
#include "launch.h"
#include "str.h"
#include "texts.h"

#include <stdbool.h>

enum { RECIPE_BYTES = 8 << 20 };

struct recipe { /* owns all of it */
	char *profile; /* of the agent, for words; NULL: it is a command */
	char *command; /* a path, or a name in the user's PATH */
	struct texts arguments; /* after the program */
	struct environment set; /* over what every agent gets of its user */
	char *fence; /* as in agent.fence, NULL: none */
	char *workspace, *url, *database, *run_dir, *config; /* as in struct fenced_place */
	bool talks;
};

void recipe_clear(struct recipe *r);

/* For a process of another user. */
void recipe_write(const struct recipe *r, struct str *out);
int recipe_read(const char *bytes, size_t length, struct recipe *r, struct err *e);

/* The recipe, followed: plan borrows from the rest. */
struct made {
	struct launch_plan plan;
	struct texts arguments;
	struct environment environment;
	struct fenced fenced;
};

/* In our environment. 0; -1: ERR_INPUT, and the words say what is missing. */
int recipe_follow(const struct recipe *r, struct made *m, struct err *e);
void made_clear(struct made *m);

#endif
