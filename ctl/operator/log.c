/* log: the timeline. */
#include "ctl.h"

#include "json.h"
#include "sql/event.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { LOG_COUNT = 20, LOG_BATCH = 500, LOG_LOOK_MS = 500 };

static void print_json(const struct timeline_since_row *row)
{
	cJSON *o = cJSON_CreateObject();

	(void)cJSON_AddNumberToObject(o, "seq", (double)row->seq);
	json_add_text(o, "at", row->at);
	json_add_text(o, "kind", row->kind);
	json_add_text(o, "actor", row->actor);
	json_add_text(o, "session_id", row->session_id);
	json_add_text(o, "request_id", row->request_id);
	json_add_text(o, "title", row->title);
	json_add_text(o, "file_path", row->file_path);
	json_add_text(o, "traceparent", row->traceparent);
	json_add_given(o, "user", row->agent_user);
	json_add_given(o, "how", row->how);
	json_raw(o, "detail", row->detail);
	json_print_line(o);
}

/* Why it was not done, in a row that says by its title what it is about. */
static void print_why(const char *detail)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(detail ? detail : "");

	print_between(": ", json_text(root, "why"), "");
}

/* The question that it is about, or else the session. */
static int print_text(struct ctl *c, const struct timeline_since_row *row, struct err *e)
{
	const char *about = row->request_id ? row->request_id : row->session_id;
	OWNED(str) struct str id = { 0 };

	if (about && add_short_id(c, about, &id, e))
		return -1;
	print_look(c, LOOK_DIM);
	(void)printf("%s  ", row->at);
	print_look(c, LOOK_PLAIN);
	(void)printf("%-20s %-*s ", row->kind, FIND_SHORT, str_text(&id));
	print_between("[user ", row->agent_user, "] "); /* before what an agent says of itself */
	print_between("", row->title, "");
	print_between(" (", row->file_path, ")");
	if (row->forced)
		(void)fputs(", by force over a file that had changed", stdout);
	print_between(row->title ? ", " : "", row->actor, "");
	print_between(": ", row->how, "");
	if (row->title) {
		print_why(row->detail);
	} else {
		(void)putchar(' ');
		print_between("", row->detail, "");
	}
	(void)putchar('\n');
	return 0;
}

/* Prints what follows *after and moves it. Returns 1 if there may be more, 0 if not, -1 on
 * error. */
static int print_batch(struct ctl *c, int64_t *after, struct err *e)
{
	OWNED(timeline_since_row) struct timeline_since_row row = { 0 };
	int got, count = 0;

	sql_timeline_since(&c->store, *after, LOG_BATCH, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		*after = row.seq;
		count++;
		if (c->json)
			print_json(&row);
		else if (print_text(c, &row, e))
			return -1;
	}
	return got < 0 ? -1 : count == LOG_BATCH;
}

static int run_log(struct ctl *c, struct err *e)
{
	struct pollfd reader = { .fd = STDOUT_FILENO }; /* only to notice that the reader left */
	int64_t after = sql_event_nth_last(&c->store, c->count < 0 ? LOG_COUNT : c->count, e);
	int more = after < 0 ? -1 : 1;

	while (more >= 0 && (more > 0 || c->follow)) {
		more = print_batch(c, &after, e);
		if (fflush(stdout) != 0)
			return 0; /* the reader is gone; main reports it */
		if (more == 0 && c->follow && poll(&reader, 1, LOG_LOOK_MS) > 0)
			return 0;
	}
	return more;
}

const struct command_spec cmd_log = { "log",
	                              HELP("[-n N] [--follow]", "what happened, oldest first",
	                                   "  -n N           the last N events (default 20)\n"
	                                   "  -f, --follow   goes on until it is interrupted\n"
	                                   "As JSON, one object a line.\n"),
	                              ARGUMENTS(0, 0, TAKES_COUNT | TAKES_FOLLOW), .run = run_log };
