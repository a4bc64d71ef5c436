/* steer: tells an agent something that it did not ask for. task: for the next agent that starts.
 * session: pauses, resumes or stops one. */
#include "ctl.h"

#include "decision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

/* ---- steer, task ---- */

int end_saying(struct ctl *c, const struct err *why, struct err *e)
{
	if (why->kind != ERR_NONE && why->kind != ERR_INPUT)
		store_rollback(&c->store);
	else if (store_commit(&c->store, e))
		return -1;
	if (why->kind == ERR_NONE)
		return 0;
	*e = *why;
	return -1;
}

static int say(struct ctl *c, const char *kind, const char *session, int first, struct err *e)
{
	OWNED(char_ptr) char *text = join_arguments(c, first);
	const struct saying w = {
		.kind = kind, .session_id = session, .text = text, .source = "ctl"
	};
	struct err why = ERR_INIT;

	if (store_begin(&c->store, e))
		return -1;
	(void)saying_insert(&c->store, &w, &why);
	if (end_saying(c, &why, e))
		return -1;
	if (!c->json)
		(void)printf("%s\n", session ? "the agent is told with its next step"
		                             : "the next agent that starts is told");
	return EX_OK;
}

static int run_steer(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *session = NULL;

	if (find_session(c, c->argv[0], &session, e))
		return -1;
	return say(c, "steer", session, 1, e);
}

static int run_task(struct ctl *c, struct err *e)
{
	return say(c, "task", NULL, 0, e);
}

/* ---- session ---- */

static int run_session(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *session = NULL;
	OWNED(command_result) struct command_result result = COMMAND_RESULT_INIT;

	if (strcmp(c->argv[0], "pause") != 0 && strcmp(c->argv[0], "resume") != 0 &&
	    strcmp(c->argv[0], "stop") != 0)
		return err_set(e, ERR_INPUT, "session takes pause, resume or stop, not '%.40s'",
		               c->argv[0]);
	if (find_session(c, c->argv[1], &session, e))
		return -1;
	const struct command command = { .verb = c->argv[0],
		                         .session_id = session,
		                         .source = "ctl" };
	if (give_order(c, &command, &result, e))
		return -1;
	if (c->json)
		json_print(c, cJSON_Parse(result.reply ? result.reply : ""));
	else
		(void)printf("session %.13s: %s\n", session, c->argv[0]);
	return EX_OK;
}

const struct command_spec cmd_steer = { "steer",
	                                "SESSION TEXT...",
	                                "tell an agent something; it reads it with its next step",
	                                NULL,
	                                2,
	                                -1,
	                                0,
	                                run_steer };

const struct command_spec cmd_task = {
	"task", "TEXT...", "leave something to do for the next agent", NULL, 1, -1, 0, run_task
};

const struct command_spec cmd_session = { "session",
	                                  "pause|resume|stop SESSION",
	                                  "let an agent wait, go on, or end its session",
	                                  "pause: its calls wait. stop: what it asks is answered "
	                                  "with stop or reject, and its later calls\n"
	                                  "get an error.\n",
	                                  2,
	                                  2,
	                                  0,
	                                  run_session };
