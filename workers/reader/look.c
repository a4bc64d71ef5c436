#include "look.h"

#include "changes.h"
#include "clock.h"
#include "excerpt.h"
#include "fences.h"
#include "files.h"
#include "io.h"
#include "json_writer.h"
#include "limit.h"
#include "listing.h"
#include "own_file.h"
#include "pack.h"
#include "path.h"
#include "pulse.h"
#include "safe_path.h"
#include "visible.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	MEMORY_BYTES = 512 << 20, /* of address space */
	FDS_MAX = 64,
	GRACE_S = 5, /* after the deadline it ends itself, if we do not */
	WHY_BYTES = 4000,
	DETAIL_BYTES = 64 << 10,
};

/* ---- in the other process: where ---- */

static int tell_missing(struct err *e, const char *path)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, path, strlen(path), 200);
	return err_set(e, ERR_INPUT, "%s does not exist", str_text(&shown));
}

static int open_workspace(const struct file_look_claim_row *l, int *ret_fd, struct err *e)
{
	const char *unfit = l->session_seq ? NULL : workspace_unfit(l->workspace_root);

	if (unfit)
		return err_set(e, ERR_INPUT, "permission denied: %s is %s, which is no workspace",
		               l->workspace_root, unfit);
	return safe_path_open(l->workspace_root, ret_fd, e);
}

/* The path as it is named, and what it stands for. */
static int resolve(const struct file_look_claim_row *l, int root, struct str *path,
                   struct str *target, struct err *e)
{
	size_t n = strlen(l->path);
	bool is_folder = l->what == FILE_LOOK_WHAT_FOLDER;
	int failed;

	if (is_folder && n == 0)
		return 0;
	failed = is_folder ? safe_path_clean_dir(l->workspace_root, l->path, n, path, e)
	                   : safe_path_clean(l->workspace_root, l->path, n, path, e);
	if (failed || !path->length)
		return failed;
	return safe_path_resolve(root, path->bytes, target, e) ? -1 : 0;
}

/* ---- in the other process: what ---- */

/* Begins what is said beside the text. */
static void begin_detail(const struct file_look_claim_row *l, const char *path, const char *target,
                         struct str *out)
{
	json_object(out);
	json_member(out, "workspace_root", l->workspace_root);
	json_member(out, "path", *path ? path : ".");
	if (strcmp(path, target) != 0)
		json_member(out, "target", target);
}

static int list(const struct look_order *o, int root, const char *path, const char *target,
                struct str *detail, struct look_found *found, struct err *e)
{
	const struct file_look_claim_row *l = o->row;
	OWNED(listing) struct listing tree = { 0 };
	OWNED(str) struct str file = { 0 };
	const struct listed what = { .root_fd = root,
		                     .relative = target,
		                     .name = *path ? path : path_name(l->workspace_root),
		                     .depth = (int)l->depth,
		                     .ours = o->ours };
	int got = listing_read(&what, &tree, e);

	if (got <= 0)
		return got ? -1 : tell_missing(e, path);
	begin_detail(l, path, target, detail);
	json_member_int(detail, "depth", l->depth);
	json_member_int(detail, "directories", (int64_t)tree.folders);
	json_member_int(detail, "files", (int64_t)tree.files);
	json_member_int(detail, "others", (int64_t)tree.others);
	json_member_int(detail, "lines", (int64_t)tree.lines);
	json_member_raw(detail, "cut", tree.is_cut ? "true" : "false");
	str_addf(&file, "%s.txt", path_name(what.name));
	json_member(detail, "file_name", file.bytes);
	json_object_end(detail);
	found->is_long = tree.lines > LOOK_INLINE_LINES ||
	                 utf8_count(tree.text.bytes, tree.text.length) > LOOK_INLINE_CHARACTERS;
	found->text = tree.text;
	tree.text = (struct str){ 0 };
	return 0;
}

static int show(const struct look_order *o, int root, const char *path, const char *target,
                struct str *detail, struct look_found *found, struct err *e)
{
	const struct file_look_claim_row *l = o->row;
	OWNED(excerpt) struct excerpt x = { 0 };
	int got = excerpt_read(root, target, (size_t)l->first_line, (size_t)l->last_line, &x, e);

	if (got <= 0)
		return got ? -1 : tell_missing(e, path);
	begin_detail(l, path, target, detail);
	json_member_int(detail, "lines", (int64_t)x.lines);
	json_member_int(detail, "first", (int64_t)x.first);
	json_member_int(detail, "last", (int64_t)x.last);
	json_member_int(detail, "bytes", x.bytes);
	json_member(detail, "modified_at", clock_instant(x.modified_ms).text);
	json_member(detail, "file_name", path_name(target));
	json_object_end(detail);
	found->is_long = utf8_count(x.text.bytes, x.text.length) > LOOK_INLINE_CHARACTERS;
	found->text = x.text;
	x.text = (struct str){ 0 };
	return 0;
}

static int work(const struct look_order *o, struct str *detail, struct look_found *found,
                struct err *e)
{
	const struct file_look_claim_row *l = o->row;
	OWNED(str) struct str path = { 0 };
	OWNED(str) struct str target = { 0 };
	const char *own;
	int root = -1;

	if (l->what == FILE_LOOK_WHAT_DIFF) {
		int failed =
		    changes_show(o->sides, o->objects, l->workspace_root, detail, found, e);

		found->is_long =
		    utf8_count(found->text.bytes, found->text.length) > LOOK_INLINE_CHARACTERS;
		return failed;
	}
	if (open_workspace(l, &root, e) || resolve(l, root, &path, &target, e))
		return -1;
	own = own_file(root, str_text(&target), o->ours);
	if (own)
		return err_set(e, ERR_INPUT, "permission denied: %s %s",
		               *str_text(&path) ? str_text(&path) : l->workspace_root, own);
	return (l->what == FILE_LOOK_WHAT_FOLDER ? list : show)(
	    o, root, str_text(&path), str_text(&target), detail, found, e);
}

/* ---- in the other process: the answer ---- */

/* What lies outside is none of the operator's business here. */
static void add_why(struct str *out, const struct err *e)
{
	static const char VIOLATION[] = "path violation: ";
	bool denied = strncmp(e->text, VIOLATION, strlen(VIOLATION)) == 0;
	const char *why = e->text + (denied ? strlen(VIOLATION) : 0);

	str_add(out, denied ? "permission denied: " : "");
	visible_add(out, why, strlen(why), true); /* a name in it may be no UTF-8 */
}

/* What a diff compares has been read. */
static bool has_hand(const struct look_order *o)
{
	return o->row->what != FILE_LOOK_WHAT_DIFF && filer_has_hand(o->owner);
}

/* Whether only a hand of the owner's could look there. */
static bool is_closed(const struct look_order *o)
{
	return o->row->what != FILE_LOOK_WHAT_DIFF && o->owner->is_other &&
	       access(o->row->workspace_root, R_OK | X_OK) != 0 && errno == EACCES;
}

/* Before the fence, which keeps it from all sockets: lets the owner's hand make its calls in the
 * workspace, if it is another user's. 0 or -1. */
static int start_hand(const struct look_order *o, int tie, struct filer *hand, struct err *e)
{
	const struct filer_place place = { .socket = str_text(&o->owner->socket),
		                           .uid = o->owner->uid,
		                           .root = o->row->workspace_root,
		                           .fence = fence_mode_of_child(),
		                           .lock = tie };

	if (!has_hand(o))
		return is_closed(o) ? err_set(e, ERR_AGAIN, OWNER_SILENT, OWNER_UNIT_FILES) : 0;
	if (filer_start(hand, &place, e))
		return -1;
	files_wait(LOOK_DEADLINE_MS); /* then we are killed */
	return 0;
}

/* What was found without a hand that was lost meanwhile is not all. */
static int look(const struct look_order *o, int tie, struct str *detail, struct look_found *found,
                struct err *e)
{
	struct filer hand = FILER_INIT; /* ends with us */
	const struct fence_view view = { .root = has_hand(o) ? NULL : o->row->workspace_root,
		                         .objects = o->objects };
	int failed = start_hand(o, tie, &hand, e) ||
	             fence_workspace(fence_mode_of_child(), &view, e) || work(o, detail, found, e);

	found->has_hand = hand.own || hand.process.pid;
	return files_is_lost() ? err_set(e, ERR_AGAIN, FILES_LOST) : failed;
}

static int answer(const struct look_order *o, int out, int tie)
{
	OWNED(look_found) struct look_found found = { 0 };
	OWNED(str) struct str message = { 0 };
	OWNED(str) struct str detail = { 0 };
	OWNED(str) struct str why = { 0 };
	struct err e = { 0 };
	bool refused = look(o, tie, &detail, &found, &e) != 0;

	if (refused)
		add_why(&why, &e);
	pack_begin(&message);
	pack_add_text(&message, refused ? why.bytes : NULL);
	pack_add_text(&message, refused ? NULL : detail.bytes);
	pack_add_bytes(&message, str_text(&found.text), refused ? 0 : found.text.length);
	pack_add_int(&message, found.is_long);
	pack_add_int(&message, found.has_hand);
	pack_end(&message);
	return io_write_all(out, message.bytes, message.length) ? EX_IOERR : EX_OK;
}

/* It can write no file, gain no privilege, and has nothing of ours but the pipes. */
static void confine(pid_t parent, int out, int tie)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EX_OK);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	pulse_show(-1);
	io_close_all_but(STDERR_FILENO + 1, out, tie);
	(void)alarm(LOOK_DEADLINE_MS / 1000 + GRACE_S);
	limit_to(RLIMIT_CPU, LOOK_DEADLINE_MS / 1000);
	limit_to(RLIMIT_FSIZE, 0);
	limit_to(RLIMIT_CORE, 0);
	limit_to(RLIMIT_NOFILE, FDS_MAX);
	limit_memory(MEMORY_BYTES);
}

/* ties: -1, -1 if no hand is needed. */
static pid_t start(const struct look_order *o, int ends[2], int ties[2])
{
	pid_t self = getpid(), pid;

	if (pipe2(ends, O_CLOEXEC) || (has_hand(o) && pipe2(ties, O_CLOEXEC)))
		return -1;
	pid = fork();
	if (pid == 0) {
		confine(self, ends[1], ties[1]);
		_exit(answer(o, ends[1], ties[1]));
	}
	return pid;
}

pid_t look_start(const struct look_order *o, int *ret_fd, int *ret_tie)
{
	int ends[2] = { -1, -1 }, ties[2] = { -1, -1 };
	pid_t pid = start(o, ends, ties);

	io_shut(&ends[1]);
	io_shut(&ties[1]);
	if (pid < 0) {
		io_shut(&ends[0]);
		io_shut(&ties[0]);
		return -1;
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*ret_fd = ends[0];
	*ret_tie = ties[0];
	return pid;
}

/* ---- in ours ---- */

void look_found_clear(struct look_found *found)
{
	free(found->why);
	free(found->detail);
	str_clear(&found->text);
	*found = (struct look_found){ 0 };
}

/* One of the two is there, and is what it should be. */
static bool is_sound(const struct look_found *found)
{
	if (found->why)
		return *found->why && !found->detail && utf8_valid(found->why, strlen(found->why));
	return found->detail && utf8_valid(found->detail, strlen(found->detail)) &&
	       utf8_valid(str_text(&found->text), found->text.length);
}

int look_read(const struct str *answer, struct look_found *found)
{
	struct pack p = { .at = answer->bytes + PACK_HEAD_BYTES };
	size_t length = 0;
	const char *bytes;

	if (answer->length < PACK_HEAD_BYTES ||
	    pack_length(answer->bytes) != answer->length - PACK_HEAD_BYTES)
		return -1;
	p.left = answer->length - PACK_HEAD_BYTES;
	found->why = pack_text(&p, WHY_BYTES);
	found->detail = pack_text(&p, DETAIL_BYTES);
	bytes = pack_bytes(&p, LOOK_FOUND_BYTES, &length);
	if (bytes)
		str_add_bytes(&found->text, bytes, length);
	found->is_long = pack_int_in(&p, 0, 1);
	found->has_hand = pack_int_in(&p, 0, 1);
	return pack_is_whole(&p) && is_sound(found) ? 0 : -1;
}
