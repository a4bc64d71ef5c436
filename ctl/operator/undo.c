/* undo: reverts what was written for a request. The order is a row; the applier carries it out, and
 * this program waits a while for the outcome. */
#include "ctl.h"

#include <stdio.h>

enum { WAIT_MS = 15000 };

static int run_undo(struct ctl *c, struct err *e)
{
	const struct words w = { .verb = verb_find("undo"), .id = c->argv[0] };
	OWNED(ctl_reply) struct ctl_reply reply = { 0 };
	const cJSON *path;

	if (ctl_order(
	        c, &w, WAIT_MS,
	        "ordered, but not done yet: the applier does it when it runs; `log` tells of it",
	        &reply, e))
		return -1;
	if (c->json) {
		ctl_print_reply(c, &reply);
		return 0;
	}
	cJSON_ArrayForEach (path, cJSON_GetObjectItem(reply.json, "files"))
		print_between("reverted  ", cJSON_GetStringValue(path), "\n");
	return 0;
}

const struct command_spec cmd_undo = {
	"undo",
	HELP("ID", "revert what was written for a request",
	     "Each file gets what was in it before, if nobody has changed it since; of several, "
	     "all or\n"
	     "none. What was there before is kept for retention_days, up to undo_limit_bytes a "
	     "write.\n"
	     "Set-id bits do not come back: nobody recorded whose the file was.\n"),
	ARGUMENTS(1, 1, 0), .run = run_undo
};
