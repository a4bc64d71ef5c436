/* undo: reverts what was written for a request. The order is a row; the applier carries it out, and
 * this program waits a while for the outcome. */
#include "ctl.h"

#include "command.h"

#include <stdio.h>

enum { WAIT_MS = 15000 };

static int tell(struct ctl *c, const char *reply, struct err *e)
{
	cJSON *o = cJSON_Parse(reply ? reply : "");
	const cJSON *path;

	if (!o)
		return err_set(e, ERR_BUG, "the reply to the order is not JSON");
	if (c->json) {
		json_print(c, o);
		return 0;
	}
	cJSON_ArrayForEach (path, cJSON_GetObjectItem(o, "files")) {
		(void)fputs("put back  ", stdout);
		print_visible(cJSON_GetStringValue(path));
		(void)putchar('\n');
	}
	cJSON_Delete(o);
	return 0;
}

static int run_undo(struct ctl *c, struct err *e)
{
	const struct words w = { .verb = verb_find("undo"), .id = c->argv[0] };
	OWNED(said) struct said said = { 0 };
	OWNED(command_result) struct command_result result = { 0 };

	if (ctl_say(c, &w, &said, e))
		return -1;
	result.seq = said.seq;
	if (ctl_await(c, &result, WAIT_MS, e))
		return -1;
	if (!result.is.outcome)
		return err_set(e, ERR_AGAIN,
		               "ordered, but not done yet: the applier does it when it runs; "
		               "`log` tells of it");
	return tell(c, result.is.reply, e);
}

const struct command_spec cmd_undo = {
	"undo",
	"ID",
	"revert what was written for a request",
	"Each file gets what was in it before, if nobody has changed it since; of several, all or\n"
	"none. What was there before is kept for retention_days, up to undo_limit_bytes a write.\n",
	1,
	1,
	0,
	run_undo
};
