/* archivist: takes checkpoints of workspaces, and keeps their objects.
 *
 * A workspace is read in a process of its own (reading.h), because its disk may hang: up to READERS
 * at once, one per workspace, each killed after checkpoint.timeout_seconds; the last free place is
 * for a user of whose workspaces none is read. It writes objects, and reports through a pipe; the
 * rows are settled here, when the objects are on disk. One reading settles all rows of the
 * workspace that were queued before it began.
 *
 * A reader dies with its archivist. What a kill leaves: claimed rows, which the next incarnation
 * takes over, and objects that no row names, which it sweeps (keep.h). After ATTEMPTS deaths or
 * failures a row is refused.
 *
 * Weekly, all objects that are needed are looked through, some at a time.
 *
 * Reads checkpoint, workspace_restore, file_look, setting; writes checkpoint, command (the outcome
 * of the order), upkeep, and objects. */
#include "archive.h"
#include "clock.h"
#include "json.h"
#include "log.h"
#include "reading.h"
#include "setting.h"
#include "sql/checkpoint.h"
#include "sql/upkeep.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ATTEMPTS = 3, /* of a row, before it is refused */
	AGAIN_MS = 2000, /* after a failure that may pass */
	ANSWER_BYTES = 1 << 20, /* of a reader */
	DEFAULT_SECONDS = 600,
	DEFAULT_FILES = 500000,
	DEFAULT_DAYS = 30,
	DEFAULT_KEEP = 20,
	KEEP_FIRST_MS = 10 * 60 * 1000, /* after the start, or a failure; then ... */
	KEEP_MS = 60 * 60 * 1000, /* ... between two: what nobody needs is deleted */
	EXPIRED = 200, /* rows in a transaction */
	DAY_MS = 24 * 3600 * 1000,
	FOUND_BYTES = 4000, /* of what a look says is damaged */
	LOOK_DAYS = 7, /* from one look through all to the next */
};
static const int64_t DEFAULT_BYTES = 10LL << 30;
static const int64_t DEFAULT_ADDED = 2LL << 30;
static const int64_t DEFAULT_OWNER = 8LL << 30;

/* ---- starting and ending readers ---- */

static int begin_reader(struct archive *a, struct reader *r, const char *root, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2];

	if (strcmp(root, KEEPER) == 0)
		filer_owner_clear(&r->owner);
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, ERR_AGAIN, "cannot read a workspace");
	r->pid = fork();
	if (r->pid == 0) {
		reading_do(a, &r->owner, root, ends[1]);
		_exit(0);
	}
	(void)close(ends[1]);
	if (r->pid < 0 || epoll_ctl(a->w->extra_fd, EPOLL_CTL_ADD, ends[0], &event) != 0) {
		int failed = err_errno(e, ERR_AGAIN, "cannot read a workspace");

		(void)close(ends[0]);
		if (r->pid > 0)
			(void)kill(r->pid, SIGKILL); /* its place is taken again */
		r->pid = 0;
		return failed;
	}
	r->out = ends[0];
	r->root = xstrdup(root);
	r->late = false;
	r->end_ms = clock_monotonic_ms() + a->seconds * 1000;
	return 0;
}

/* A reader that is stuck in the kernel is not waited for: it dies when the disk answers. */
static void end_reader(struct reader *r)
{
	(void)kill(r->pid, SIGKILL);
	(void)waitpid(r->pid, NULL, WNOHANG);
	(void)close(r->out);
	free(r->root);
	str_clear(&r->answer);
	filer_owner_clear(&r->owner);
	*r = (struct reader){ .pid = 0 };
}

static bool is_busy(const struct archive *a, const char *root)
{
	for (int i = 0; i < READERS; i++)
		if (a->readers[i].pid && strcmp(a->readers[i].root, root) == 0)
			return true;
	return false;
}

static struct reader *free_reader(struct archive *a)
{
	for (int i = 0; i < READERS; i++)
		if (!a->readers[i].pid)
			return &a->readers[i];
	return NULL;
}

/* ---- settling ---- */

static int settle_done(struct archive *a, const char *root, const cJSON *json, struct err *e)
{
	const cJSON *hashes = cJSON_GetObjectItemCaseSensitive(json, "hashes");
	char *text = hashes ? cJSON_PrintUnformatted(hashes) : NULL;
	int64_t files = json_integer(json, "files"), links = json_integer(json, "links");
	int64_t folders = json_integer(json, "folders"), left_out = json_integer(json, "left_out");
	int64_t bytes = json_integer(json, "bytes"), added = json_integer(json, "added");
	const struct checkpoint_settle_args args = {
		.manifest = json_text(json, "manifest"),
		.file_hashes = text,
		.files = &files,
		.links = &links,
		.folders = &folders,
		.left_out = &left_out,
		.bytes = &bytes,
		.added_bytes = &added,
		.machine = a->w->machine,
		.workspace_root = root,
		.worker = a->w->id.text,
	};
	int count = sql_checkpoint_settle(&a->w->store, &args, e);

	cJSON_free(text);
	if (count > 0)
		log_info("%s: %d checkpoint%s, %" PRId64 " files, %" PRId64 " bytes added", root,
		         count, count == 1 ? "" : "s", files, added);
	return count;
}

/* Rows that have been tried often enough are refused, the others wait. */
static int settle_failed(struct archive *a, const char *root, const char *why, bool again,
                         struct err *e)
{
	int64_t now_ms = clock_monotonic_ms();
	int count = sql_checkpoint_refuse(
	    &a->w->store,
	    &(struct checkpoint_refuse_args){ .why = why,
	                                      .machine = a->w->machine,
	                                      .workspace_root = root,
	                                      .worker = a->w->id.text,
	                                      .attempts = again ? ATTEMPTS : 0 },
	    e);

	log_warn("no checkpoint of %s: %s", root, why);
	if (a->keep_ms > now_ms + KEEP_FIRST_MS)
		a->keep_ms = now_ms + KEEP_FIRST_MS; /* what it had stored already */
	if (count < 0 || !again)
		return count;
	a->again_ms = now_ms + AGAIN_MS;
	return sql_checkpoint_put_back(&a->w->store, a->w->machine, root, a->w->id.text, e);
}

/* What the keeper reports: a checkpoint whose objects are gone is lost. */
static int settle_kept(struct archive *a, const struct reader *r, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *json = cJSON_Parse(str_text(&r->answer));
	const char *damaged = json_text(json, "damaged"), *how = json_text(json, "how");
	int64_t deleted = json_integer(json, "deleted");
	int lost;

	if (json_text(json, "why"))
		log_warn("objects: %s", json_text(json, "why"));
	else if (json && !damaged)
		a->leftover_count = 0;
	if (deleted > 0)
		log_info("deleted %" PRId64 " objects that no checkpoint needs", deleted);
	if (!damaged || !how)
		return 0;
	log_error("the checkpoints with manifest %s are lost: %s", damaged, how);
	if (store_begin(&a->w->store, e))
		return -1;
	lost = sql_checkpoint_lose(&a->w->store, how, damaged, e);
	if (lost > 0)
		a->keep_ms = 0; /* nothing was deleted: once more, without it */
	return store_end(&a->w->store, lost < 0, e);
}

/* Checkpoints that need what is missing or damaged are lost. 0 or -1. */
static int lose(struct archive *a, const char *lost, struct err *e)
{
	for (const char *at = lost; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		char manifest[SHA256_BYTES];

		(void)snprintf(manifest, sizeof(manifest), "%.64s", at);
		log_error("the checkpoints with manifest %s are lost: what they hold is damaged",
		          manifest);
		if (sql_checkpoint_lose(&a->w->store, "content of it is missing or damaged",
		                        manifest, e) < 0)
			return -1;
	}
	return 0;
}

/* All have been looked through. 0 or -1. */
static int end_look(struct archive *a, struct err *e)
{
	bool bad = a->found.length > 0;

	a->looked_at[0] = '\0';
	a->look_ms = clock_monotonic_ms() + KEEP_MS;
	if (sql_upkeep_insert(&a->w->store, UPKEEP_KIND_OBJECTS,
	                      bad ? UPKEEP_OUTCOME_DAMAGED : UPKEEP_OUTCOME_OK,
	                      bad ? str_text(&a->found) : NULL, a->look_began.text, e))
		return -1;
	str_reset(&a->found);
	return 0;
}

static void add_found(struct archive *a, const char *bad)
{
	for (const char *at = bad; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (a->found.length < FOUND_BYTES)
			str_addf(&a->found, "%sobject %.64s is missing or damaged",
			         a->found.length ? ", " : "", at);
}

/* What a look through some objects has found. 0 or -1. */
static int settle_look(struct archive *a, const struct reader *r, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *json = cJSON_Parse(str_text(&r->answer));
	const char *after = json_text(json, "after"), *bad = json_text(json, "bad");
	bool done = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "done"));

	if (!after || json_text(json, "damaged")) { /* again in an hour; the keeper is due before */
		log_warn("objects: the look through them is put off: %s",
		         json_text(json, "why") ? json_text(json, "why") : "it was killed");
		a->look_ms = clock_monotonic_ms() + KEEP_MS;
		return 0;
	}
	(void)snprintf(a->looked_at, sizeof(a->looked_at), "%s", after);
	add_found(a, bad ? bad : "");
	if (store_begin(&a->w->store, e))
		return -1;
	return store_end(&a->w->store,
	                 lose(a, json_text(json, "lost") ? json_text(json, "lost") : "", e) ||
	                     (done && end_look(a, e)),
	                 e);
}

/* All rows of a workspace: json is what its reader has reported; NULL: why not. */
static int settle(struct archive *a, const char *root, const cJSON *json, const char *why,
                  bool again, struct err *e)
{
	struct store *st = &a->w->store;
	OWNED(checkpoint_orders_row) struct checkpoint_orders_row orders = { 0 };

	if (store_begin(st, e))
		return -1;
	return store_end(
	    st,
	    sql_checkpoint_orders(st, a->w->machine, root, a->w->id.text, &orders, e) < 0 ||
	        (json ? settle_done(a, root, json, e) : settle_failed(a, root, why, again, e)) <
	            0 ||
	        sql_checkpoint_answer(st, orders.seqs ? orders.seqs : "[]", e) < 0,
	    e);
}

/* What a reading has stored in vain is its user's until it is deleted. */
static void note_left(struct archive *a, const struct reader *r, const cJSON *json)
{
	uint64_t bytes = json ? (uint64_t)json_integer(json, "left") : a->most_added;
	size_t i = 0;

	if (!r->owner.is_other || bytes == 0)
		return;
	while (i < a->leftover_count && a->leftovers[i].uid != r->owner.uid)
		i++;
	if (i == a->leftover_count) {
		a->leftovers = xrealloc(a->leftovers, (i + 1) * sizeof(*a->leftovers));
		a->leftovers[a->leftover_count++] = (struct leftover){ .uid = r->owner.uid };
	}
	a->leftovers[i].bytes += bytes;
}

/* What a reader has reported, or that it did not. */
static int settle_read(struct archive *a, const struct reader *r, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *json = cJSON_Parse(str_text(&r->answer));
	const char *why = json_text(json, "why");

	if (json_text(json, "manifest"))
		return settle(a, r->root, json, NULL, false, e);
	note_left(a, r, json);
	if (r->late)
		return settle(a, r->root, NULL,
		              "the workspace could not be read in time (setting "
		              "checkpoint.timeout_seconds)",
		              false, e);
	return settle(a, r->root, NULL, why ? why : "its reader was killed",
	              !why || cJSON_IsTrue(cJSON_GetObjectItem(json, "again")), e);
}

static int give_up(struct archive *a, const char *root, struct err *e)
{
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "the archivist died %d times while it was read", ATTEMPTS);
	return settle(a, root, NULL, str_text(&why), true, e); /* others wait */
}

/* Takes what a reader has written. Whether it has ended, or cannot be heard any longer. */
static bool hear(struct reader *r)
{
	char bytes[4096];
	struct pollfd p = { .fd = r->out, .events = POLLIN };
	ssize_t n = 0;

	while (poll(&p, 1, 0) > 0 && (n = read(r->out, bytes, sizeof(bytes))) > 0)
		if (r->answer.length < ANSWER_BYTES)
			str_add_bytes(&r->answer, bytes, (size_t)n);
	return p.revents && (n == 0 || (n < 0 && errno != EINTR));
}

/* 1 settled one, 0 none has ended, -1. */
static int look_at_readers(struct archive *a, struct err *e)
{
	for (int i = 0; i < READERS; i++) {
		struct reader *r = &a->readers[i];
		int failed;

		if (!r->pid)
			continue;
		r->late = clock_monotonic_ms() >= r->end_ms;
		if (!hear(r) && !r->late)
			continue;
		failed = strcmp(r->root, KEEPER) != 0 ? settle_read(a, r, e)
		         : a->looks                   ? settle_look(a, r, e)
		                                      : settle_kept(a, r, e);
		end_reader(r);
		return failed ? -1 : 1;
	}
	return 0;
}

/* ---- starting a checkpoint ---- */

static int read_settings(struct archive *a, struct err *e)
{
	struct store *st = &a->w->store;
	OWNED(str) struct str ignored = { 0 };

	if (setting_get(st, "checkpoint.ignored", &ignored, e) < 0)
		return -1;
	a->options.ignored = strcmp(str_text(&ignored), "true") == 0;
	own_places_look(&a->ours);
	a->options.ours = &a->ours;
	a->options.most_files = (uint64_t)setting_int(st, "checkpoint.max_files", DEFAULT_FILES);
	a->options.most_bytes = (uint64_t)setting_int(st, "checkpoint.max_bytes", DEFAULT_BYTES);
	a->most_added = (uint64_t)setting_int(st, "checkpoint.max_added_bytes", DEFAULT_ADDED);
	a->reserve = (uint64_t)setting_int(st, "checkpoint.reserve_bytes", STORE_RESERVE_BYTES);
	a->most_held = (uint64_t)setting_int(st, "shared.checkpoint_bytes", DEFAULT_OWNER);
	a->seconds = setting_int(st, "checkpoint.timeout_seconds", DEFAULT_SECONDS);
	return 0;
}

/* Where several users are served, the last free place is for one of whose workspaces none is read:
 * a write of risk critical waits for its checkpoint 30 s only. */
static bool must_wait(const struct archive *a, const struct filer_owner *owner)
{
	int busy = 0, theirs = 0;

	for (int i = 0; i < READERS; i++) {
		const struct reader *r = &a->readers[i];

		busy += r->pid != 0;
		theirs += r->pid && r->owner.is_other && r->owner.uid == owner->uid;
	}
	return owner->is_other && theirs > 0 && busy == READERS - 1;
}

/* The next workspace that nobody reads, and whose it is. 1, 0 none, -1. */
static int next_root(struct archive *a, struct checkpoint_next_row *row, struct filer_owner *owner,
                     struct err *e)
{
	int64_t after = 0;
	int got;

	while ((got = sql_checkpoint_next(&a->w->store, a->w->machine, after, a->w->id.text, row,
	                                  e)) > 0) {
		if (!is_busy(a, row->workspace_root)) {
			if (filer_find_owner(&a->w->store, a->w->machine, row->workspace_root,
			                     owner, e))
				return -1;
			if (!must_wait(a, owner))
				return 1;
		}
		after = row->seq;
		checkpoint_next_row_clear(row);
	}
	return got;
}

/* What is compared with what is there now: whatever it holds is looked at. 0 or -1. */
static int find_compared(struct archive *a, const char *root, struct err *e)
{
	OWNED(checkpoint_compared_row) struct checkpoint_compared_row row = { 0 };
	int got = sql_checkpoint_compared(&a->w->store, a->w->machine, root, &row, e);

	(void)snprintf(a->compared, sizeof(a->compared), "%s",
	               got > 0 && row.manifest ? row.manifest : "");
	a->options.also = a->compared[0] ? a->compared : NULL;
	return got < 0 ? -1 : 0;
}

/* What the checkpoints of this user's folders hold. 0 or -1. */
static int list_theirs(struct archive *a, const struct filer_owner *owner, struct err *e)
{
	OWNED(checkpoint_of_owner_row) struct checkpoint_of_owner_row row = { 0 };
	int got;

	str_reset(&a->theirs);
	a->at_most = 0;
	if (!owner->is_other)
		return 0;
	sql_checkpoint_of_owner(&a->w->store, a->w->machine, owner->uid, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		str_addf(&a->theirs, "%s\n", row.manifest);
		a->at_most += (uint64_t)row.bytes + (uint64_t)row.files * object_room(1);
	}
	return got;
}

/* How many rows of the workspace are ours now, -1. */
static int claim(struct archive *a, const char *root, struct err *e)
{
	struct store *st = &a->w->store;
	int count;

	if (store_begin(st, e))
		return -1;
	count = sql_checkpoint_claim(st, a->w->id.text, a->w->machine, root, a->options.also, e);
	return store_end(st, count < 0, e) ? -1 : count;
}

static int begin(struct archive *a, struct err *e)
{
	OWNED(checkpoint_next_row) struct checkpoint_next_row row = { 0 };
	struct reader *r = free_reader(a);
	int got, claimed;

	if (!r || clock_monotonic_ms() < a->again_ms || is_busy(a, KEEPER))
		return 0;
	got = next_root(a, &row, &r->owner, e);
	if (got <= 0)
		return got;
	if (read_settings(a, e) || find_compared(a, row.workspace_root, e) ||
	    list_theirs(a, &r->owner, e))
		return -1;
	claimed = claim(a, row.workspace_root, e);
	if (claimed <= 0)
		return claimed;
	/* What killed its predecessors may be in the workspace. */
	if (row.attempts >= ATTEMPTS && row.state == CHECKPOINT_STATE_CLAIMED)
		return give_up(a, row.workspace_root, e) ? -1 : 1;
	return begin_reader(a, r, row.workspace_root, e) ? -1 : 1;
}

/* ---- what is not needed any longer ---- */

/* 1 rows were deleted, 0 none is left to delete, -1. */
static int expire(struct archive *a, struct err *e)
{
	struct store *st = &a->w->store;
	int64_t days = setting_int(st, "checkpoint_retention_days", DEFAULT_DAYS);
	struct instant cutoff = clock_instant(clock_now_ms() - days * DAY_MS);
	int count;

	if (store_begin(st, e))
		return -1;
	count = sql_checkpoint_expire(st, cutoff.text,
	                              setting_int(st, "checkpoint.keep", DEFAULT_KEEP), EXPIRED, e);
	return store_end(st, count < 0, e) ? -1 : count > 0;
}

static int list_manifests(struct archive *a, struct err *e)
{
	OWNED(checkpoint_manifests_row) struct checkpoint_manifests_row row = { 0 };
	int got;

	str_reset(&a->manifests);
	sql_checkpoint_manifests(&a->w->store, &row);
	while ((got = row_next(&row.row, e)) > 0)
		str_addf(&a->manifests, "%s\n", row.manifest);
	return got;
}

static bool is_idle(const struct archive *a)
{
	for (int i = 0; i < READERS; i++)
		if (a->readers[i].pid)
			return false;
	return true;
}

/* Rows first, then the objects that no row names. As step. */
static int tidy(struct archive *a, struct err *e)
{
	int did;

	if (clock_monotonic_ms() < a->keep_ms || !is_idle(a))
		return 0;
	did = expire(a, e);
	if (did != 0)
		return did;
	a->keep_ms = clock_monotonic_ms() + KEEP_MS;
	if (access(str_text(&a->folder), F_OK) != 0)
		return 0;
	if (read_settings(a, e) || list_manifests(a, e) < 0)
		return -1;
	a->looks = false;
	return begin_reader(a, &a->readers[0], KEEPER, e) ? -1 : 1;
}

/* Whether all objects are to be looked through: 1, 0, -1. */
static int look_is_due(struct archive *a, struct err *e)
{
	OWNED(upkeep_last_row) struct upkeep_last_row row = { 0 };
	int got = sql_upkeep_last(&a->w->store, UPKEEP_KIND_OBJECTS, &row, e);
	int64_t age_ms = got > 0 ? clock_now_ms() - clock_parse(row.at) : -1;

	if (got < 0)
		return -1;
	return age_ms < 0 || age_ms >= (int64_t)LOOK_DAYS * DAY_MS;
}

/* Weekly, while nothing else is to be done. As step. */
static int look_through(struct archive *a, struct err *e)
{
	int due;

	if (clock_monotonic_ms() < a->look_ms || !is_idle(a))
		return 0;
	due = a->looked_at[0] ? 1 : look_is_due(a, e);
	if (due <= 0 || access(str_text(&a->folder), F_OK) != 0) {
		a->look_ms = clock_monotonic_ms() + KEEP_MS;
		return due;
	}
	if (!a->looked_at[0])
		a->look_began = clock_now();
	if (read_settings(a, e) || list_manifests(a, e) < 0)
		return -1;
	a->looks = true;
	return begin_reader(a, &a->readers[0], KEEPER, e) ? -1 : 1;
}

/* ---- the worker ---- */

/* Where objects are, and what of ours no checkpoint holds. */
static int prepare(struct archive *a, struct worker *w, struct err *e)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;

	a->w = w;
	a->keep_ms = clock_monotonic_ms() + KEEP_FIRST_MS;
	a->look_ms = a->keep_ms + KEEP_FIRST_MS;
	w->extra_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->extra_fd < 0)
		return err_errno(e, ERR_AGAIN, "cannot wait for readers");
	objects_path(w->database, &a->folder);
	workspace_ours(&a->ours, w->run_dir, w->database);
	/* Only we put: what a predecessor had begun is nobody's. It may have died making the
	 * folder. */
	if (access(str_text(&a->folder), F_OK) == 0)
		return objects_open(str_text(&a->folder), true, &o, e) || objects_sweep(&o, e) ? -1
		                                                                               : 0;
	return 0;
}

/* When a reader is late, or a failure is over. */
static void set_due(struct archive *a)
{
	int64_t now = clock_monotonic_ms(), due = INT64_MAX;

	if (is_idle(a))
		due = a->keep_ms < a->look_ms ? a->keep_ms : a->look_ms;

	for (int i = 0; i < READERS; i++)
		if (a->readers[i].pid && a->readers[i].end_ms < due)
			due = a->readers[i].end_ms;
	if (a->again_ms > now && a->again_ms < due)
		due = a->again_ms;
	if (due != INT64_MAX)
		a->w->due_ms = clock_now_ms() + due - now;
}

static int step(struct worker *w, struct err *e)
{
	static struct archive a;
	int did;

	if (!a.w && prepare(&a, w, e))
		return -1;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	did = look_at_readers(&a, e);
	if (did == 0)
		did = tidy(&a, e);
	if (did == 0)
		did = begin(&a, e);
	if (did == 0)
		did = look_through(&a, e);
	set_due(&a);
	return did;
}

int main(int argc, char **argv)
{
	return worker_main("archivist", "Takes checkpoints of workspaces.", step, argc, argv);
}
