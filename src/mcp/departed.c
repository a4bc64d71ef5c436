#include "departed.h"

#include "clock.h"
#include "process_name.h"
#include "request.h"
#include "sql/session.h"
#include "sql/steering.h"

#include <stdio.h>

enum { MOST = 64 }; /* examined per call */

struct one {
	int64_t connection, session;
	char process[PROCESS_NAME_BYTES];
};

/* The rows of a statement that has been started. The last one if there may be more, 0, -1. */
static int64_t lose_those(struct store *st, struct connection_process_row *row, int64_t own,
                          struct err *e)
{
	struct one all[MOST];
	int got, n = 0;

	while (n < MOST && (got = row_next(&row->row, e)) > 0) {
		struct one *c = &all[n++];

		c->connection = row->seq;
		c->session = row->session_seq;
		(void)snprintf(c->process, sizeof(c->process), "%s", row->process);
	}
	connection_process_row_clear(row); /* before any write */
	if (n < MOST && got < 0)
		return -1;
	for (int i = 0; i < n; i++)
		if (all[i].connection != own && !process_name_runs(all[i].process) &&
		    (sql_connection_lose(st, all[i].connection, e) < 0 ||
		     sql_session_offline(st, all[i].session, e) < 0))
			return -1;
	return n < MOST ? 0 : all[n - 1].connection;
}

int departed_of_session(struct store *st, int64_t session_seq, int64_t own, struct err *e)
{
	OWNED(connection_process_row) struct connection_process_row row = { 0 };

	sql_connection_process_of_session(st, session_seq, MOST, &row);
	return lose_those(st, &row, own, e) < 0 ? -1 : 0;
}

int departed_of_question(struct store *st, const char *digest, int64_t own, struct err *e)
{
	OWNED(connection_process_row) struct connection_process_row row = { 0 };

	sql_connection_process_of_question(st, digest, MOST, &row);
	return lose_those(st, &row, own, e) < 0 ? -1 : 0;
}

int departed_of_workspace(struct store *st, const char *machine, const char *workspace_root,
                          int64_t own, struct err *e)
{
	OWNED(connection_process_row) struct connection_process_row row = { 0 };

	sql_connection_process_of_workspace(st, workspace_root, machine, MOST, &row);
	return lose_those(st, &row, own, e) < 0 ? -1 : 0;
}

int departed_of_relays(struct store *st, const char *machine, struct err *e)
{
	int64_t last = 0;

	do {
		OWNED(connection_process_row) struct connection_process_row row = { 0 };

		sql_connection_process_of_relays(st, machine, last, MOST, &row);
		last = lose_those(st, &row, 0, e);
	} while (last > 0);
	return last < 0 ? -1 : sql_connection_lose_unknown(st, machine, e);
}

int departed_is_there(struct store *st, int64_t session_seq, int64_t own, const char *label,
                      struct err *e)
{
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);

	if (departed_of_session(st, session_seq, own, e))
		return -1;
	return sql_steering_agent_is_there(st, own, session_seq, live_after.text, label, e);
}
