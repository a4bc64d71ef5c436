/* checkpoint restore: puts a checkpoint back. The order is a row; what it would change is a
 * question, shown here and answered here or anywhere else; the applier carries it out. */
#include "ctl.h"

#include "clock.h"
#include "sql/workspace_restore.h"
#include "yes_no.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum { WAIT_MS = 600000, LOOK_MS = 50 };

/* An order, and what has become of it. */
struct order {
	int64_t command;
	int64_t answered; /* the row that was answered, 0: none */
	struct workspace_restore_ordered_row row;
};

static void order_clear(struct order *o)
{
	workspace_restore_ordered_row_clear(&o->row);
}

static bool is_over(enum workspace_restore_state state)
{
	return state == WORKSPACE_RESTORE_STATE_DONE || state == WORKSPACE_RESTORE_STATE_SAME ||
	       state == WORKSPACE_RESTORE_STATE_REFUSED ||
	       state == WORKSPACE_RESTORE_STATE_CANCELLED;
}

/* Waits until there is a question that was not answered, or the end. 0; -1: time ran out, or the
 * database failed. */
static int await(struct ctl *c, struct order *o, struct err *e)
{
	int64_t until_ms = clock_monotonic_ms() + WAIT_MS;

	for (;;) {
		int got;

		workspace_restore_ordered_row_clear(&o->row);
		got = sql_workspace_restore_ordered(&c->store, o->command, &o->row, e);
		if (got < 0)
			return -1;
		if (got > 0 &&
		    (is_over(o->row.state) ||
		     (o->row.state == WORKSPACE_RESTORE_STATE_ASKED && o->row.seq != o->answered)))
			return 0;
		if (got > 0 && o->row.why)
			return err_set(e, ERR_AGAIN,
			               "the restore is unfinished: %.700s; it is retried every "
			               "minute, see `health` and `log`",
			               o->row.why);
		if (clock_monotonic_ms() > until_ms)
			return err_set(e, ERR_AGAIN,
			               "ordered, but not done yet: `inbox` and `log` tell of it");
		(void)poll(NULL, 0, LOOK_MS);
	}
}

static void print_json(const struct ctl *c, const struct workspace_restore_ordered_row *row)
{
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "status", workspace_restore_state_name(row->state));
	json_add_text(o, "checkpoint_id", row->checkpoint_id);
	json_add_text(o, "before_id", row->before_id);
	json_add_text(o, "request_id", row->request_id);
	(void)cJSON_AddNumberToObject(o, "modified", (double)row->modified);
	(void)cJSON_AddNumberToObject(o, "deleted", (double)row->deleted);
	(void)cJSON_AddNumberToObject(o, "added", (double)row->added);
	(void)cJSON_AddNumberToObject(o, "not_compared", (double)row->left_out);
	json_add_text(o, "not_compared_named", row->left_out > 0 ? row->left_named : NULL);
	json_print(c, o);
}

static void print_left(const struct workspace_restore_ordered_row *row)
{
	if (row->left_out <= 0)
		return;
	(void)printf("not compared, and left as %s (%lld): ",
	             row->left_out == 1 ? "it is" : "they are", (long long)row->left_out);
	print_visible(row->left_named ? row->left_named : "");
	(void)putchar('\n');
}

/* How it ended. */
static int tell(struct ctl *c, const struct workspace_restore_ordered_row *row, struct err *e)
{
	if (row->state == WORKSPACE_RESTORE_STATE_REFUSED)
		return err_set(e, ERR_INPUT, "not restored: %s", row->why ? row->why : "?");
	if (c->json)
		print_json(c, row);
	else if (row->state == WORKSPACE_RESTORE_STATE_SAME)
		(void)printf("nothing to restore: %s%s\n", row->why ? row->why : "",
		             row->left_out > 0 ? ", as far as it could be compared" : "");
	else if (row->state == WORKSPACE_RESTORE_STATE_CANCELLED)
		(void)puts("cancelled; nothing was changed");
	else
		(void)printf("restored; to take it back: checkpoint restore %.13s\n",
		             row->before_id);
	if (!c->json && row->state != WORKSPACE_RESTORE_STATE_CANCELLED)
		print_left(row);
	return 0;
}

static int answer(struct ctl *c, const struct request *r, bool yes, struct err *e)
{
	const struct words w = { .verb = verb_find(yes ? "approve" : "reject"),
		                 .id = r->row.id,
		                 .digest = r->row.digest };
	OWNED(said) struct said said = { 0 };

	return ctl_say(c, &w, &said, e);
}

/* Nobody is there to answer: how to do it later. */
static void leave_open(struct ctl *c, const struct order *o)
{
	if (c->json)
		print_json(c, &o->row);
	else
		(void)printf("to proceed: approve %s\nto cancel:  reject %s\n", o->row.request_id,
		             o->row.request_id);
}

/* Shows the question, and answers it if somebody is there to. 1 answered, 0 left open, -1. */
static int ask(struct ctl *c, struct order *o, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	int got = request_read(&c->store, o->row.request_seq, &r, e);

	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "the question is gone");
	if (o->answered && c->yes)
		return err_set(e, ERR_AGAIN,
		               "not restored: the workspace has changed meanwhile: %.850s. It was "
		               "compared again: show %s",
		               o->row.previous_why ? o->row.previous_why : "?", r.row.id);
	if (!c->json)
		show_request(c, &r, 0);
	if (!c->yes && !c->terminal) {
		leave_open(c, o);
		return 0;
	}
	o->answered = o->row.seq;
	return answer(c, &r, c->yes || yes_no_ask("Proceed?") == YES_NO_YES, e) ? -1 : 1;
}

int restore_checkpoint(struct ctl *c, const char *id, const char *root, struct err *e)
{
	const struct words w = { .verb = verb_find("session-restore"),
		                 .id = id,
		                 .session = c->session,
		                 .workspace = root,
		                 .paths = c->files };
	OWNED(order) struct order o = { 0 };
	OWNED(said) struct said said = { 0 };

	if (ctl_say(c, &w, &said, e))
		return -1;
	o.command = said.seq;
	for (;;) {
		int got;

		if (await(c, &o, e))
			return -1;
		if (is_over(o.row.state))
			return tell(c, &o.row, e);
		got = ask(c, &o, e);
		if (got <= 0)
			return got < 0 ? -1 : EXIT_FAILURE; /* not done yet */
	}
}
