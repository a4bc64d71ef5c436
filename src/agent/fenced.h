/* fenced: what an agent may reach whose profile has a fence (agent.fence): Landlock, which its
 * process puts up around itself before it becomes the agent. */
#ifndef FENCED_H
#define FENCED_H

#include "err.h"
#include "fence.h"
#include "str.h"
#include "texts.h"

#include <stdbool.h>

/* Where the agent is to work, and what is ours. */
struct fenced_place {
	const char *workspace;
	const char *program; /* the agent's */
	const char *url; /* of our MCP server; "": it serves no HTTP */
	/* Not to be written by any agent, nor the folder of our programs. */
	const char *database, *run_dir;
	const char *config; /* the configuration's file; "": there is none */
};

struct fenced {
	struct fence fence;
	struct texts paths; /* owned; the fence borrows them */
	struct texts written; /* the real paths of what it may write */
	bool is_offline;
	struct str holds; /* "landlock 7" (the ABI); "": there is none */
};

/* Makes the fence of a profile; json: as in agent.fence, NULL: none. -1: ERR_INPUT: this kernel
 * cannot hold it, or it would let the agent write what is ours. */
int fenced_make(const char *json, const struct fenced_place *place, struct fenced *out,
                struct err *e);
/* For launch_plan: puts it up around this process. fenced: a struct fenced. */
int fenced_enter(const void *fenced);
void fenced_clear(struct fenced *f);

#endif
