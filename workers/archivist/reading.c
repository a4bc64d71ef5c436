#include "reading.h"

#include "fences.h"
#include "files.h"
#include "hash_cache.h"
#include "io.h"
#include "json_writer.h"
#include "keep.h"
#include "limit.h"
#include "pulse.h"
#include "workspace.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	HASHES_BYTES = 64 << 10, /* of file_hashes in a row; beyond, the manifest alone has them */
	READER_MEMORY = 1 << 30, /* names of a directory, patterns, parts of a manifest */
	READER_NICE = 5, /* agents go first */
	CACHE_DAYS = 90, /* a cache of hashes that nobody used */
	LOOK_MS = 5000, /* objects are looked through for so long, then whoever waits has a turn */
};

/* It has no database, and nothing of ours but its end of the pipe. */
static void confine(const struct archive *a, int out)
{
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	pulse_show(-1);
	io_close_all_but(0, out, -1);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + READER_NICE);
	limit_to(RLIMIT_CORE, 0);
	limit_to(RLIMIT_CPU, (rlim_t)a->seconds);
	limit_memory(READER_MEMORY);
}

/* path -> SHA-256 of all files; nothing if it is too long for a row, or a name is no text. */
static int add_hashes(const struct objects *o, const struct walk_result *r, struct str *json,
                      struct err *e)
{
	OWNED(manifest) struct manifest m = { 0 };
	OWNED(str) struct str hashes = { 0 };
	struct entry entry;
	int got = 0;

	if (manifest_open(o, r->manifest.text, &m, e))
		return -1;
	json_object(&hashes);
	while (hashes.length < HASHES_BYTES && (got = manifest_next(&m, &entry, e)) > 0) {
		if (entry.kind != ENTRY_FILE)
			continue;
		if (!utf8_valid(entry.path, strlen(entry.path)))
			return 0;
		json_member(&hashes, entry.path, entry.hash.text);
	}
	json_object_end(&hashes);
	if (got == 0)
		json_member_raw(json, "hashes", str_text(&hashes));
	return got < 0 ? -1 : 0;
}

static void add_result(const struct walk_result *r, struct str *json)
{
	json_member(json, "manifest", r->manifest.text);
	json_member_int(json, "files", (int64_t)r->sum.files);
	json_member_int(json, "links", (int64_t)r->sum.links);
	json_member_int(json, "folders", (int64_t)r->sum.dirs);
	json_member_int(json, "left_out", (int64_t)r->sum.left_out);
	json_member_int(json, "bytes", (int64_t)r->sum.bytes);
	json_member_int(json, "added", (int64_t)r->added);
}

/* What is left to a user of what the checkpoints of their folders may hold: it is counted exactly
 * only if that matters. */
static void bound_held(const struct archive *a, uid_t uid, struct objects *o)
{
	o->most_held = a->most_held;
	o->held = a->at_most;
	if (o->held + o->most_added + a->options.most_files * object_room(0) > o->most_held)
		o->held = keep_size(o, str_text(&a->theirs));
	for (size_t i = 0; i < a->leftover_count; i++)
		if (a->leftovers[i].uid == uid)
			o->held += a->leftovers[i].bytes;
}

/* left: bytes that were stored, and that nobody needs, if it fails. */
static int read_root(const struct archive *a, const struct filer_owner *owner, const char *root,
                     struct str *json, uint64_t *left, struct err *e)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result r;
	const char *unfit = workspace_unfit(root);

	if (unfit)
		return err_set(e, ERR_INPUT, "%.200s is %s", root, unfit);
	o.most_added = a->most_added;
	o.reserve = a->reserve;
	if (objects_open(str_text(&a->folder), true, &o, e))
		return -1;
	if (owner->is_other)
		bound_held(a, owner->uid, &o);
	if (walk_workspace(root, &o, &a->options, &r, e)) {
		if (o.is_full)
			e->kind = ERR_INPUT; /* others need what is left: no other attempt */
		*left = o.taken;
		return -1;
	}
	add_result(&r, json);
	*left = o.taken;
	return add_hashes(&o, &r, json, e);
}

/* Deletes what no row names. Nobody reads a workspace meanwhile. */
static int keep(const struct archive *a, struct str *json, struct err *e)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	char damaged[SHA256_BYTES];
	uint64_t deleted = 0;

	if (objects_open(str_text(&a->folder), true, &o, e) || objects_sweep(&o, e))
		return -1;
	hash_cache_expire(&o, CACHE_DAYS);
	if (keep_objects(&o, str_text(&a->manifests), &deleted, damaged, e)) {
		if (!damaged[0])
			return -1;
		json_member(json, "damaged", damaged);
		json_member(json, "how", e->text);
	}
	json_member_int(json, "deleted", (int64_t)deleted);
	return 0;
}

/* Looks through some of the objects that are needed. */
static int look(const struct archive *a, struct str *json, struct err *e)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct keep_look l = { .done = false };
	char damaged[SHA256_BYTES];
	int failed;

	(void)snprintf(l.after, sizeof(l.after), "%s", a->looked_at);
	if (objects_open(str_text(&a->folder), true, &o, e))
		return -1;
	failed = keep_look(&o, str_text(&a->manifests), LOOK_MS, &l, damaged, e);
	if (failed && damaged[0]) { /* found by the keeper, which says so */
		json_member(json, "damaged", damaged);
		json_member(json, "how", e->text);
		failed = 0;
	}
	json_member(json, "after", l.after);
	json_member_bool(json, "done", l.done);
	json_member(json, "bad", str_text(&l.bad));
	json_member(json, "lost", str_text(&l.lost));
	keep_look_clear(&l);
	return failed;
}

static int do_read(const struct archive *a, const struct filer_owner *owner, const char *root,
                   struct str *json, uint64_t *left, struct err *e)
{
	if (strcmp(root, KEEPER) != 0)
		return read_root(a, owner, root, json, left, e);
	return a->looks ? look(a, json, e) : keep(a, json, e);
}

/* Before the fence, which keeps it from all sockets. 0 or -1. */
static int start_hand(struct filer_owner *owner, const char *root, struct filer *hand,
                      struct err *e)
{
	struct filer_place place = { .socket = str_text(&owner->socket),
		                     .root = root,
		                     .fence = fence_mode_of_child() };
	int failed;

	if (strcmp(root, KEEPER) != 0)
		filer_guess_owner(root, owner);
	if (!filer_has_hand(owner))
		return 0;
	place.uid = owner->uid;
	place.lock = open("/dev/null", O_RDONLY | O_CLOEXEC); /* nobody waits for this one */
	failed = filer_start(hand, &place, e);
	(void)close(place.lock);
	return failed;
}

void reading_do(const struct archive *a, struct filer_owner *owner, const char *root, int out)
{
	struct filer hand = FILER_INIT; /* ends with us */
	const struct fence_view view = { .root = root,
		                         .objects = str_text(&a->folder),
		                         .is_kept = true };
	OWNED(objects) struct objects made = OBJECTS_INIT; /* its fence would keep it from that */
	OWNED(str) struct str json = { 0 };
	struct err e = { 0 };
	uint64_t left = 0;

	confine(a, out);
	if (getppid() == 1)
		return; /* it died before we asked to die with it */
	json_object(&json);
	if (objects_open(view.objects, true, &made, &e) || start_hand(owner, root, &hand, &e) ||
	    fence_workspace(fence_mode_of_child(), &view, &e) ||
	    do_read(a, owner, root, &json, &left, &e)) {
		str_reset(&json);
		json_object(&json);
		json_member_int(&json, "left", (int64_t)left);
		json_member(&json, "why", e.text);
		/* A hand that does not answer may not end, either: one of them is enough. */
		json_member_bool(&json, "again", e.kind == ERR_AGAIN && !files_is_lost());
	}
	json_object_end(&json);
	(void)io_write_all(out, str_text(&json), json.length);
}
