/* sentry: notices gates that do not hold (the hooks of agents' own programs).
 *
 * Every LOOK_MS it looks whether our hooks are in the hosts' files, and whether the user's own
 * settings, or a workspace in which a session works, keep them from running (gates.c). Agents whose
 * hooks never call, and versions that no canary has tried, it finds in the rows.
 *
 * In the same look it reads what hosts have added to their own transcripts: a command or an edit
 * that ran there, and that no hook had asked for (transcripts.c).
 *
 * With gate.watch it has inotify on the workspaces of agents whose hooks call, and notices changes
 * in their turns that no allowed tool, write, restore or operator's command explains (changes.c).
 * It cannot know who made them.
 *
 * A lapse is a row: the rules tell it, once, and it ends when the gate holds again. A disk that
 * hangs stops this worker, and no other.
 *
 * Reads session, connection, tool_call, gate_call, gate_canary, event, apply, alias_run; writes
 * gate_install, gate_lapse. A kill leaves nothing half done: the next incarnation looks again. */
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

/* What it keeps from one look to the next. */
struct watch {
	struct changes *changes;
	struct transcripts *transcripts;
	int64_t look_ms; /* monotonic: when it looks next */
};

static struct watch watch;

static int look(struct worker *w, const struct watch *all, struct err *e)
{
	OWNED(texts) struct texts roots = { 0 };

	return find_roots(w, &roots, e) || gates_look(w, &roots, e) ||
	               transcripts_look(all->transcripts, w, e) || changes_watch(all->changes, w, e)
	           ? -1
	           : 0;
}

static int step(struct worker *w, struct err *e)
{
	struct watch *all = &watch;
	int64_t now = clock_monotonic_ms();

	if (changes_step(all->changes, w, e))
		return -1;
	if (now >= all->look_ms) {
		all->look_ms = now + LOOK_MS;
		if (look(w, all, e))
			return -1;
	}
	w->due_ms = clock_now_ms() + all->look_ms - now;
	changes_due(all->changes, w);
	return 0;
}

int main(int argc, char **argv)
{
	struct worker w;
	struct err e = { 0 };
	int status,
	    did = worker_open(&w, "sentry", "Notices gates that do not hold.", argc, argv, &e);

	watch.transcripts = transcripts_new();
	watch.changes = changes_new();
	status = worker_serve(&w, did, step, &e);
	changes_free(watch.changes);
	transcripts_free(watch.transcripts);
	return status;
}
