/* sentry: notices gates that do not hold (the hooks of agents' own programs).
 *
 * Every LOOK_MS it looks whether our hooks are in the hosts' files, and whether a workspace in
 * which a session works has a file that keeps them from running (gates.c). Agents whose hooks
 * never call, and versions that no canary has tried, it finds in the rows.
 *
 * A lapse is a row: the rules tell it, once, and it ends when the gate holds again. A disk that
 * hangs stops this worker, and no other.
 *
 * Reads session, connection, tool_call, gate_canary; writes gate_install, gate_lapse. A kill leaves
 * nothing half done: the next incarnation looks again. */
#include "sentry.h"

#include "clock.h"
#include "sql/session.h"

enum { LOOK_MS = 5000 };

static int find_roots(struct worker *w, struct texts *roots, struct err *e)
{
	OWNED(session_workspaces_row) struct session_workspaces_row row = { 0 };
	int got;

	sql_session_workspaces(&w->store, w->machine, &row);
	while ((got = row_next(&row.row, e)) > 0)
		texts_add(roots, row.workspace_root);
	return got;
}

static int step(struct worker *w, struct err *e)
{
	static int64_t look_ms; /* monotonic: when it looks next */
	OWNED(texts) struct texts roots = { 0 };
	int64_t now = clock_monotonic_ms();

	if (now >= look_ms) {
		look_ms = now + LOOK_MS;
		if (find_roots(w, &roots, e) || gates_look(w, &roots, e))
			return -1;
	}
	w->due_ms = clock_now_ms() + look_ms - now;
	return 0;
}

int main(int argc, char **argv)
{
	return worker_main("sentry", "Notices gates that do not hold.", step, argc, argv);
}
