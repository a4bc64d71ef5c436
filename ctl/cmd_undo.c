/* undo: takes back what was written for a request. The order is a row; the applier carries it out,
 * and this program waits a while for its answer. */
#include "ctl.h"

#include "clock.h"
#include "decision.h"

#include <poll.h>
#include <stdio.h>

enum { WAIT_MS = 15000, LOOK_MS = 30 };

/* Inserts the order and commits, whatever its outcome is. 0, *ret_seq; -1 refused at once. */
static int order(struct ctl *c, const char *id, int64_t *ret_seq, struct err *e)
{
	const struct command command = { .verb = "undo", .argument = id, .source = "ctl" };
	OWNED(char_ptr) char *reply = NULL;
	struct err refused = ERR_INIT;
	int failed;

	if (store_begin(&c->store, e))
		return -1;
	failed = command_insert(&c->store, &command, &reply, &refused);
	*ret_seq = store_last_seq(&c->store);
	if (failed && refused.kind != ERR_INPUT) {
		store_rollback(&c->store);
		*e = refused;
		return -1;
	}
	if (store_commit(&c->store, e))
		return -1;
	if (failed)
		*e = refused;
	return failed;
}

/* 1 done, 0 not in time, -1 refused. */
static int await(struct ctl *c, int64_t seq, char **ret_reply, struct err *e)
{
	int64_t until_ms = clock_monotonic_ms() + WAIT_MS;
	int got = command_reply(&c->store, seq, ret_reply, e);

	while (got == 0 && clock_monotonic_ms() < until_ms) {
		(void)poll(NULL, 0, LOOK_MS);
		got = command_reply(&c->store, seq, ret_reply, e);
	}
	return got;
}

static int tell(struct ctl *c, const char *reply, struct err *e)
{
	cJSON *o = cJSON_Parse(reply ? reply : "");
	const cJSON *path;

	if (!o)
		return err_set(e, ERR_BUG, "the reply to the order is no JSON");
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
	OWNED(request) struct request r = REQUEST_INIT;
	OWNED(char_ptr) char *reply = NULL;
	int64_t seq;
	int got;

	if (find_request(c, c->argv[0], &r, e) || order(c, r.id, &seq, e))
		return -1;
	got = await(c, seq, &reply, e);
	if (got == 0)
		return err_set(e, ERR_AGAIN,
		               "ordered, but not done yet: the applier does it when it is there; "
		               "`log` tells of it");
	return got < 0 ? -1 : tell(c, reply, e);
}

const struct command_spec cmd_undo = {
	"undo",
	"ID",
	"takes back what was written for a request",
	"Each file gets what was in it before, if nobody has changed it since; of several, all or\n"
	"none. What was there before is kept for retention_days, up to undo_limit_bytes a write.\n",
	1,
	1,
	0,
	run_undo
};
