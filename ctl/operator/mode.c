/* mode: where questions may be answered: here, in Slack, or in both. */
#include "ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The mode of a session, or of sessions to come; the caller frees it. */
static char *current_mode(struct ctl *c, const char *session, struct err *e)
{
	stmt *s = store_stmt(&c->store, session ? SQL_SESSION_BY_ID : SQL_SETTING_GET);
	char *mode = NULL;
	int got;

	bind_text(s, session ? ":id" : ":name", session ? session : "mode");
	got = stmt_row(s, e);
	if (got > 0)
		mode = xstrdup(
		    col_text(s, session ? (int)SESSION_BY_ID_MODE : (int)SETTING_GET_VALUE));
	stmt_reset(s);
	if (got == 0)
		mode = xstrdup("local");
	return mode;
}

static int print_mode(struct ctl *c, const char *session, struct err *e)
{
	OWNED(char_ptr) char *mode = current_mode(c, session, e);

	if (!mode)
		return -1;
	if (c->json) {
		cJSON *o = cJSON_CreateObject();

		json_add_text(o, "current_mode", mode);
		json_print(c, o);
	} else {
		print_visible(mode);
		(void)putchar('\n');
	}
	return 0;
}

static int run_mode(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *session = NULL;

	if (c->argc > 0)
		return say_mode(c, e);
	if (c->session && find_session(c, c->session, &session, e))
		return -1;
	return print_mode(c, session, e);
}

const struct command_spec cmd_mode = {
	"mode",
	"[remote|local|hybrid] [--session ID]",
	"where questions are answered",
	"local: with this program, remote: in Slack, hybrid: in both, the first answer counts.\n"
	"Without an argument, prints the mode. With --session, for that session alone.\n",
	0,
	1,
	TAKES_SESSION,
	run_mode
};
