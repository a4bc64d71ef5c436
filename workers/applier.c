/* applier: writes approved changes into workspaces and reverts them; the only process that may
 * write there.
 *
 * One row of `apply` at a time, the oldest of this machine. src/model/apply.h and
 * src/change/file_change.h say how, and what a kill leaves. Jobs that a dead predecessor had in
 * hand come first, being the oldest: the worker's lock guarantees that there is no other applier.
 *
 * Its fence lets it write the workspaces that are known when it starts; for a job in another one it
 * ends, and its successor does it.
 *
 * Between jobs, it asks about checkpoints that are to be put back (src/model/workspace_restore.h).
 *
 * Reads request, request_file, content, session, setting; writes apply, file_change (whose triggers
 * consume the request, answer the waiting calls and add to the timeline), content, command, and
 * files below workspaces. */
#include "apply.h"
#include "log.h"
#include "worker.h"
#include "workspace.h"
#include "workspace_restore.h"

#include <string.h>

static void tell(const struct apply_report *r, int64_t took_ms)
{
	const char *what = str_text(&r->what);
	long long seq = r->seq, ms = took_ms;

	if (strcmp(r->state, "applied") == 0 || strcmp(r->state, "undone") == 0)
		log_info("job %lld %s%s%s: %s, %lld ms%s%s", seq, r->state,
		         r->forced ? " by force" : "", r->recovered ? " by a predecessor" : "",
		         what, ms, r->why.code ? "; " : "", r->why.code ? r->why.text : "");
	else if (strcmp(r->state, "queued") == 0)
		log_warn("job %lld put back, attempt %d: %s", seq, r->attempts, r->why.text);
	else if (strcmp(r->state, "refused") == 0)
		log_info("job %lld refused as %s: %s", seq, r->why.code, r->why.text);
	else if (strcmp(r->state, "kept") == 0)
		log_error("job %lld stays as it is, refused by the rules of the database: %s", seq,
		          r->why.text);
	else if (strcmp(r->state, "left") == 0)
		log_warn("job %lld is looked at again, attempt %d: %s", seq, r->attempts,
		         r->why.text);
	else if (strcmp(r->state, "dead") == 0)
		log_error("job %lld is dead: %s", seq, r->why.text);
	else
		log_error("job %lld was claimed by another applier", seq);
	if (r->rests_ms)
		log_warn("job %lld kept all others waiting for %lld ms: what is to be written as "
		         "the owner "
		         "of its workspace rests for %lld s",
		         seq, ms, (long long)r->rests_ms / 1000);
}

static int step(struct worker *w, struct err *e)
{
	static struct applier a; /* remembers which jobs must rest */
	static struct own_places ours;
	OWNED(apply_report) struct apply_report r = { 0 };
	int64_t started_ms = clock_monotonic_ms(), restore = 0;
	int did;

	if (!ours.count)
		workspace_ours(&ours, w->run_dir, w->database);
	a.store = &w->store;
	a.machine = w->machine;
	a.worker_id = w->id.text;
	a.database = w->database;
	a.ours = &ours;
	a.run_fd = w->run_fd;
	a.workspaces = &w->workspaces;
	if (workspace_restore_next(a.store, a.database, a.machine, &restore, e) < 0)
		return -1;
	if (restore > 0) {
		log_info("restore %lld was compared", (long long)restore);
		return 1;
	}
	did = apply_next(&a, &r, &w->due_ms, e);
	if (did > 0)
		tell(&r, clock_monotonic_ms() - started_ms);
	w->renews = a.is_fenced_off;
	return did;
}

int main(int argc, char **argv)
{
	struct worker w;
	struct err e = { 0 };
	int opened =
	    worker_open(&w, "applier", "Writes approved changes into workspaces.", argc, argv, &e);

	if (opened == 0)
		opened = apply_workspaces(&w.store, w.machine, &w.workspaces, &e);
	return worker_serve(&w, opened, step, &e);
}
