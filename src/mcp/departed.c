#include "departed.h"

#include "peer_process.h"

#include <stdio.h>

enum { MOST = 64 }; /* that are looked at for one call */

struct one {
	int64_t connection, session;
	char process[PEER_PROCESS_BYTES];
};

_Static_assert((int)CONNECTION_PROCESS_OF_SESSION_SEQ == (int)CONNECTION_PROCESS_OF_QUESTION_SEQ &&
                   (int)CONNECTION_PROCESS_OF_SESSION_PROCESS ==
                       (int)CONNECTION_PROCESS_OF_QUESTION_PROCESS &&
                   (int)CONNECTION_PROCESS_OF_SESSION_SESSION_SEQ ==
                       (int)CONNECTION_PROCESS_OF_WORKSPACE_SESSION_SEQ,
               "all three statements give the same columns");

static int on_seq(struct store *st, enum sql which, int64_t seq, struct err *e)
{
	stmt *s = store_stmt(st, which);

	bind_int(s, ":seq", seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* The rows of a statement that is bound already. */
static int close_those(struct store *st, stmt *s, struct err *e)
{
	struct one all[MOST];
	int got = 0, n = 0;

	bind_int(s, ":limit", MOST);
	while (n < MOST && (got = stmt_row(s, e)) > 0) {
		struct one *c = &all[n++];

		c->connection = col_int(s, CONNECTION_PROCESS_OF_SESSION_SEQ);
		c->session = col_int(s, CONNECTION_PROCESS_OF_SESSION_SESSION_SEQ);
		(void)snprintf(c->process, sizeof(c->process), "%s",
		               col_text(s, CONNECTION_PROCESS_OF_SESSION_PROCESS));
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	for (int i = 0; i < n; i++)
		if (!peer_process_runs(all[i].process) &&
		    (on_seq(st, SQL_CONNECTION_CLOSE, all[i].connection, e) ||
		     on_seq(st, SQL_SESSION_OFFLINE, all[i].session, e)))
			return -1;
	return 0;
}

int departed_of_session(struct store *st, int64_t session_seq, struct err *e)
{
	stmt *s = store_stmt(st, SQL_CONNECTION_PROCESS_OF_SESSION);

	bind_int(s, ":session", session_seq);
	return close_those(st, s, e);
}

int departed_of_question(struct store *st, const char *digest, struct err *e)
{
	stmt *s = store_stmt(st, SQL_CONNECTION_PROCESS_OF_QUESTION);

	bind_text(s, ":digest", digest);
	return close_those(st, s, e);
}

int departed_of_workspace(struct store *st, const char *machine, const char *workspace_root,
                          struct err *e)
{
	stmt *s = store_stmt(st, SQL_CONNECTION_PROCESS_OF_WORKSPACE);

	bind_text(s, ":host", machine);
	bind_text(s, ":workspace", workspace_root);
	return close_those(st, s, e);
}
