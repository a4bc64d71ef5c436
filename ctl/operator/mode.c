/* mode: where questions may be answered: here, in Slack, or both. */
#include "ctl.h"

#include "setting.h"
#include "sql/session.h"

#include <stdio.h>

/* Prints the mode of a session, or of new sessions. */
static int print_mode(struct ctl *c, const char *session, struct err *e)
{
	OWNED(session_row) struct session_row row = { 0 };
	OWNED(str) struct str setting = { 0 };
	const char *mode = NULL;

	if (session ? sql_session_by_id(&c->store, session, &row, e) < 0
	            : setting_get(&c->store, "mode", &setting, e) < 0)
		return -1;
	mode = session ? session_mode_name(row.mode) : setting.bytes;
	if (!mode)
		mode = "local";
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
		return ctl_say_and_print(c,
		                         &(struct words){ .verb = verb_find("mode"),
		                                          .id = c->session,
		                                          .text = c->argv[0] },
		                         e);
	if (c->session && find_session(c, c->session, &session, e))
		return -1;
	return print_mode(c, session, e);
}

const struct command_spec cmd_mode = {
	"mode",
	HELP("[remote|local|hybrid] [--session ID]", "where questions are answered",
	     "local: with this program, remote: in Slack, hybrid: in both, the first answer "
	     "counts.\n"
	     "Without an argument, prints the mode. With --session, for that session alone.\n"),
	ARGUMENTS(0, 1, TAKES_SESSION), .run = run_mode
};
