/* The work of a hand: everything that touches an agent's files for a request. */
#include "hand.h"

#include "always_ask.h"
#include "hand_edit.h"
#include "hand_effect.h"
#include "hand_reach.h"
#include "json.h"
#include "path.h"
#include "safe_path.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void hand_names_free(struct hand_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(names[i].path);
		free(names[i].target);
		free(names[i].leads);
		free(names[i].reaches);
	}
	free(names);
}

void hand_found_clear(struct hand_found *found)
{
	free(found->root);
	free(found->unfit);
	free(found->within);
	free(found->folder);
	policy_look_clear(&found->policy);
	plan_clear(&found->plan);
	str_clear(&found->effect);
	hand_names_free(found->names, found->name_count);
	for (size_t i = 0; i < found->shown_count; i++) {
		str_clear(&found->shown[i].bytes);
		free(found->shown[i].why);
	}
	*found = (struct hand_found)HAND_FOUND_INIT;
}

/* ---- where ---- */

/* How long the absolute name of a folder is if it contains root, otherwise 0. */
static size_t length_within(const char *folder, const char *root)
{
	size_t length = folder ? strlen(folder) : 0;

	while (length > 1 && folder[length - 1] == '/')
		length--;
	if (length == 0 || strncmp(folder, root, length) != 0)
		return 0;
	return root[length] == '\0' || root[length] == '/' || length == 1 ? length : 0;
}

/* One number per folder of the list: the length of its real name if it contains the workspace. */
static void compare_folders(const struct hand_ask *ask, const char *root, int out)
{
	for (size_t i = 0; i < ask->listed_count; i++) {
		char *real = realpath(ask->listed[i], NULL);
		size_t length = length_within(real, root);

		free(real);
		if (write(out, &length, sizeof(length)) != sizeof(length))
			return;
	}
}

/* Of two names of the same folder the later counts: the first is the default workspace, which has
 * no channel. */
static void take_length(const struct hand_ask *ask, size_t i, size_t length, size_t *longest,
                        struct hand_found *found)
{
	if (length == 0 || length < *longest)
		return;
	*longest = length;
	xreplace(&found->within, ask->listed[i]);
	found->is_listed |= found->root[length] == '\0';
}

/* Reads those numbers; reports a folder whose disk is silent. */
static void take_comparison(const struct hand_ask *ask, int in, size_t longest,
                            struct hand_found *found)
{
	for (size_t i = 0; i < ask->listed_count; i++) {
		struct pollfd p = { .fd = in, .events = POLLIN };
		size_t length = 0;

		if (poll(&p, 1, HAND_SILENT_MS) <= 0) {
			found->silent = (int)i;
			return;
		}
		if (read(in, &length, sizeof(length)) == sizeof(length))
			take_length(ask, i, length, &longest, found);
	}
}

/* The disk of another folder may hang: yet another process examines those folders. */
static void find_by_other_name(const struct hand_ask *ask, size_t longest, struct hand_found *found)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		compare_folders(ask, found->root, ends[1]);
		_exit(0);
	}
	(void)close(ends[1]);
	if (pid > 0) {
		take_comparison(ask, ends[0], longest, found);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, found->silent >= 0 ? WNOHANG : 0);
	}
	(void)close(ends[0]);
}

/* By their names as written; if none is the workspace itself, one may be by another name, or lie
 * further in. */
static void find_in_list(const struct hand_ask *ask, struct hand_found *found)
{
	size_t longest = 0;

	for (size_t i = 0; i < ask->listed_count; i++)
		take_length(ask, i, length_within(ask->listed[i], found->root), &longest, found);
	if (ask->listed_count && !found->is_listed)
		find_by_other_name(ask, longest, found);
}

static bool is_temporary(const char *path)
{
	return strncmp(path, "/tmp/", 5) == 0 || strncmp(path, "/var/tmp/", 9) == 0;
}

/* An agent of another user is not to read, by us, what its user may not. */
static const char *unfit_for_user(const struct hand_ask *ask, struct hand_found *found)
{
	struct stat about;
	bool is_there = stat(found->root, &about) == 0;

	if (is_there)
		found->owner = about.st_uid;
	if (!ask->has_user)
		return NULL;
	if (!is_there)
		return errno == EACCES             ? HAND_CLOSED
		       : is_temporary(found->root) ? HAND_OTHER_TMP
		                                   : "missing";
	return about.st_uid == ask->user ? NULL : "the folder of another user";
}

/* A workspace goes by its real name, so that it is the same one whatever links lead to it. A
 * missing one is reported when it is opened. */
static void find_place(const struct hand_ask *ask, struct hand_found *found)
{
	const char *root = ask->root, *unfit = NULL;

	if (ask->given) {
		unfit = workspace_unfit(ask->given);
		found->is_given = !unfit;
		if (found->is_given || !root)
			root = ask->given;
	}
	if (ask->judge)
		found->root = realpath(root, NULL);
	if (!found->root)
		found->root = xstrdup(root);
	if (ask->judge) /* the real name: links to it may change */
		unfit = workspace_unfit(found->root);
	if (ask->judge && !unfit)
		unfit = unfit_for_user(ask, found);
	if (unfit)
		found->unfit = xstrdup(unfit);
	else
		find_in_list(ask, found);
}

/* ---- a proposal ---- */

/* By one of its names, a file may be one that is always asked about. */
static void find_always_asked(const char *root, const cJSON *entries, struct planned *f)
{
	OWNED(str) struct str path = { 0 }, reached = { 0 };

	if (always_ask_added(root, f->is.path, entries) ||
	    always_ask_added(root, f->is.target, entries))
		f->reaches = xstrdup(f->is.target);
	if (f->reaches || !f->links)
		return;
	str_addf(&path, "%s/%s", root, f->is.target);
	f->is_vast = hand_reach(path.bytes, root, HAND_REACH_MOST, entries, &reached) < 0;
	if (reached.length)
		f->reaches = xstrdup(reached.bytes + strlen(root) + 1);
}

static void find_all_always_asked(const struct hand_ask *ask, struct hand_found *found)
{
	OWNED(cJSON_ptr) cJSON *entries = cJSON_Parse(ask->always_ask);

	for (size_t i = 0; entries && i < found->plan.count; i++)
		find_always_asked(found->root, entries, &found->plan.files[i]);
}

static void look_at_proposal(const struct hand_ask *ask, struct hand_found *found)
{
	const struct proposal p = { .workspace_root = found->root,
		                    .file_path = ask->file_path,
		                    .body = ask->body,
		                    .body_length = ask->body_length,
		                    .ours = ask->ours,
		                    .fuzz = ask->fuzz,
		                    .most = ask->is_big ? 0 : HAND_SMALL_BYTES };
	struct err e = { 0 };
	int root = -1, failed;

	if (safe_path_open(found->root, &root, &e)) {
		(void)refusal_set(&found->why, "workspace_unreadable", "%s", e.text);
		return;
	}
	failed = proposal_look(root, &p, &found->plan, &found->why);
	if (!failed && ask->always_ask)
		find_all_always_asked(ask, found);
	failed =
	    failed || proposal_work(&p, &found->plan, &found->why) || hand_effect_compute(found);
	(void)close(root);
	found->is_too_big = failed && !ask->is_big && strcmp(found->why.code, "too_large") == 0;
}

/* ---- files that are named ---- */

/* Where the name leads as it was given; a link before ".." leads elsewhere than the text says. */
static void follow_named(const char *root, const char *named, struct str *out)
{
	OWNED(str) struct str path = { 0 };

	if (named[0] != '/')
		str_addf(&path, "%s/", root);
	str_add(&path, named);
	path_real(path.bytes, out);
}

static bool is_at(const char *root, const struct str *relative, const struct str *name)
{
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/%s", root, str_text(relative));
	return strcmp(path.bytes, str_text(name)) == 0;
}

static void find_folder(const char *folder, struct hand_found *found)
{
	size_t length = strlen(found->root);
	char *real = folder[0] == '/' ? realpath(folder, NULL) : NULL;

	found->folder = real;
	found->has_folder = real && strncmp(real, found->root, length) == 0 &&
	                    (real[length] == '\0' ||
	                     (real[length] == '/' && !safe_path_is_protected(real + length + 1)));
}

/* The absolute name of what a name stands for; empty: not known. */
static void add_real(const char *root, const struct hand_name *name, struct str *out)
{
	if (name->target)
		str_addf(out, "%s/%s", root, name->target);
	else if (name->leads)
		str_add(out, name->leads);
}

static void find_links(const char *root, struct hand_name *name)
{
	OWNED(str) struct str real = { 0 };
	struct stat st;

	add_real(root, name, &real);
	if (!real.length || lstat(real.bytes, &st) || !S_ISREG(st.st_mode) || st.st_nlink < 2)
		return;
	name->links = st.st_nlink > INT_MAX ? INT_MAX : (int)st.st_nlink;
	name->device = (int64_t)st.st_dev;
	name->inode = (int64_t)st.st_ino;
}

static void take_hash(struct hand_name *name, int got, const struct sha256 *hash)
{
	if (got >= 0)
		(void)snprintf(name->hash, sizeof(name->hash), "%s", got ? hash->text : NO_FILE);
}

/* Where a name leads that safe_path_clean accepts. */
static void resolve_name(const char *root_name, int root, const char *named, struct hand_name *name)
{
	OWNED(str) struct str target = { 0 }, leads = { 0 };
	struct err e = { 0 };

	if (safe_path_resolve(root, name->path, &target, &e))
		str_reset(&target);
	if (!target.length || strstr(named, ".."))
		follow_named(root_name, named, &leads);
	name->is_other = !target.length || (leads.length && !is_at(root_name, &target, &leads));
	if (!name->is_other)
		name->target = str_take(&target);
	else if (leads.length)
		name->leads = str_take(&leads);
}

static void find_name(const char *root_name, const char *named, struct hand_name *name)
{
	OWNED(str) struct str path = { 0 }, leads = { 0 };
	struct err e = { 0 };
	int root = -1;

	name->is_other = true;
	name->is_outside = safe_path_clean(root_name, named, strlen(named), &path, &e) != 0;
	if (name->is_outside) {
		follow_named(root_name, named, &leads);
		name->leads = leads.length ? str_take(&leads) : NULL;
	} else {
		name->path = str_take(&path);
		if (safe_path_open(root_name, &root, &e))
			return;
		resolve_name(root_name, root, named, name);
		(void)close(root);
	}
	find_links(root_name, name);
}

static void find_reach(const char *root, const cJSON *entries, struct hand_name *name)
{
	OWNED(str) struct str path = { 0 }, reached = { 0 };

	add_real(root, name, &path);
	if (!path.length)
		return;
	name->is_vast = hand_reach(path.bytes, root, HAND_REACH_MOST, entries, &reached) < 0;
	if (reached.length)
		name->reaches = str_take(&reached);
}

static void find_reaches(const struct hand_ask *ask, struct hand_found *found)
{
	OWNED(cJSON_ptr) cJSON *entries = cJSON_Parse(ask->always_ask);

	for (size_t i = 0; i < found->name_count; i++)
		find_reach(found->root, entries, &found->names[i]);
}

static void find_names(const struct hand_ask *ask, struct hand_found *found)
{
	struct sha256 hash;
	struct err e = { 0 };

	found->names = xcalloc(ask->named_count + 1, sizeof(*found->names));
	for (; found->name_count < ask->named_count; found->name_count++) {
		struct hand_name *name = &found->names[found->name_count];

		find_name(found->root, ask->named[found->name_count], name);
		if (ask->hashes && name->leads)
			take_hash(name, safe_path_hash_anywhere(name->leads, &hash, &e), &hash);
	}
	if (ask->always_ask)
		find_reaches(ask, found);
}

static void hash_targets(struct hand_found *found)
{
	struct sha256 hash;
	struct err e = { 0 };
	int root = -1;

	if (safe_path_open(found->root, &root, &e))
		return;
	for (size_t i = 0; i < found->name_count; i++) {
		struct hand_name *name = &found->names[i];

		if (name->target)
			take_hash(name, safe_path_hash(root, name->target, &hash, &e), &hash);
	}
	(void)close(root);
}

static void read_shown(int root, const char *path, struct hand_file *file)
{
	OWNED(str) struct str why = { 0 };
	struct err e = { 0 };
	int got = safe_path_read(root, path, HAND_SHOWN_BYTES, &file->bytes, NULL, &e);

	if (got < 0)
		str_add(&why, e.text);
	else if (got == 0)
		str_addf(&why, "%s does not exist", path);
	else if (!utf8_valid(str_text(&file->bytes), file->bytes.length) ||
	         memchr(str_text(&file->bytes), '\0', file->bytes.length))
		str_addf(&why, "%s is no text", path);
	if (!why.length)
		return;
	str_clear(&file->bytes);
	file->why = str_take(&why);
}

static void show_files(const struct hand_ask *ask, struct hand_found *found)
{
	struct err e = { 0 };
	int root = -1, failed = safe_path_open(found->root, &root, &e);

	found->shown_count = ask->shown_count;
	for (size_t i = 0; i < ask->shown_count; i++)
		if (failed)
			found->shown[i].why = xstrdup(e.text);
		else
			read_shown(root, ask->shown[i], &found->shown[i]);
	if (!failed)
		(void)close(root);
}

/* ---- all of it ---- */

bool hand_asks(const struct hand_ask *ask)
{
	return ask->policy || ask->file_path || ask->edit || ask->folder || ask->named_count;
}

void hand_look_around(const struct hand_ask *ask, struct hand_found *found)
{
	find_place(ask, found);
	if (found->unfit)
		return;
	if (ask->folder)
		find_folder(ask->folder, found);
	if (ask->named_count)
		find_names(ask, found);
}

void hand_work(const struct hand_ask *ask, int watch_fd, struct hand_found *found)
{
	if (found->unfit)
		return;
	if (ask->file_path)
		look_at_proposal(ask, found);
	if (ask->edit)
		hand_edit_look(ask, found);
	if (found->is_too_big)
		return;
	if (ask->policy) {
		found->has_policy = true;
		policy_look(found->root, &ask->known, watch_fd, &found->policy);
	}
	if (ask->hashes && !(ask->edit && !found->why.code))
		hash_targets(found);
	if (ask->shown_count)
		show_files(ask, found);
}
