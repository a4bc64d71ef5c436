/* log: the timeline. */
#include "ctl.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { LOG_COUNT = 20, LOG_BATCH = 500, LOG_LOOK_MS = 500 };

static int64_t start_at(struct ctl *c, struct err *e)
{
	stmt *s = store_stmt(&c->store, SQL_EVENT_NTH_LAST);
	int64_t seq = -1;

	bind_int(s, ":count", c->count < 0 ? LOG_COUNT : c->count);
	if (stmt_row(s, e) > 0)
		seq = col_int(s, EVENT_NTH_LAST_SEQ);
	stmt_reset(s);
	return seq;
}

static void print_json(stmt *s)
{
	cJSON *o = cJSON_CreateObject();

	(void)cJSON_AddNumberToObject(o, "seq", (double)col_int(s, TIMELINE_SINCE_SEQ));
	json_add_text(o, "at", col_text(s, TIMELINE_SINCE_AT));
	json_add_text(o, "kind", col_text(s, TIMELINE_SINCE_KIND));
	json_add_text(o, "actor", col_text(s, TIMELINE_SINCE_ACTOR));
	json_add_text(o, "session_id", col_text(s, TIMELINE_SINCE_SESSION_ID));
	json_add_text(o, "request_id", col_text(s, TIMELINE_SINCE_REQUEST_ID));
	json_add_text(o, "title", col_text(s, TIMELINE_SINCE_TITLE));
	json_add_text(o, "file_path", col_text(s, TIMELINE_SINCE_FILE_PATH));
	json_raw(o, "detail", col_text(s, TIMELINE_SINCE_DETAIL));
	json_print_line(o);
}

static void print_text(const struct ctl *c, stmt *s)
{
	const char *actor = col_text(s, TIMELINE_SINCE_ACTOR);
	const char *file = col_text(s, TIMELINE_SINCE_FILE_PATH);
	const char *title = col_text(s, TIMELINE_SINCE_TITLE);

	print_look(c, LOOK_DIM);
	(void)printf("%s  ", col_text(s, TIMELINE_SINCE_AT));
	print_look(c, LOOK_PLAIN);
	(void)printf("%-20s", col_text(s, TIMELINE_SINCE_KIND));
	(void)putchar(' ');
	if (title)
		print_visible(title);
	if (file) {
		(void)fputs(" (", stdout);
		print_visible(file);
		(void)putchar(')');
	}
	if (actor) {
		(void)fputs(title ? ", " : "", stdout);
		print_visible(actor);
	}
	if (!title)
		(void)putchar(' ');
	if (!title && col_text(s, TIMELINE_SINCE_DETAIL))
		print_visible(col_text(s, TIMELINE_SINCE_DETAIL));
	(void)putchar('\n');
}

/* Prints what is behind *after and moves it. 1 more may be there, 0 not, -1 error. */
static int print_batch(struct ctl *c, int64_t *after, struct err *e)
{
	stmt *s = store_stmt(&c->store, SQL_TIMELINE_SINCE);
	int got, count = 0;

	bind_int(s, ":after", *after);
	bind_int(s, ":limit", LOG_BATCH);
	while ((got = stmt_row(s, e)) > 0) {
		*after = col_int(s, TIMELINE_SINCE_SEQ);
		count++;
		if (c->json)
			print_json(s);
		else
			print_text(c, s);
	}
	stmt_reset(s);
	return got < 0 ? -1 : count == LOG_BATCH;
}

static int run_log(struct ctl *c, struct err *e)
{
	struct pollfd reader = { .fd = STDOUT_FILENO }; /* only that it went away is of interest */
	int64_t after = start_at(c, e);
	int more = after < 0 ? -1 : 1;

	while (more >= 0 && (more > 0 || c->follow)) {
		more = print_batch(c, &after, e);
		if (fflush(stdout) != 0)
			return 0; /* nobody reads any more; main tells */
		if (more == 0 && c->follow && poll(&reader, 1, LOG_LOOK_MS) > 0)
			return 0;
	}
	return more;
}

const struct command_spec cmd_log = { "log",
	                              "[-n N] [--follow]",
	                              "what happened, oldest first",
	                              "  -n N           the last N events (default 20)\n"
	                              "  -f, --follow   goes on until it is interrupted\n"
	                              "As JSON, one object a line.\n",
	                              0,
	                              0,
	                              TAKES_COUNT | TAKES_FOLLOW,
	                              run_log };
