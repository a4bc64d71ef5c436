/* Questions and findings as bytes. */
#include "hand.h"

#include "json.h"
#include "pack.h"
#include "safe_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MANY = HAND_LISTED, /* items in lists of the configuration */
	MESSAGE_BYTES = 4 << 20, /* maximum of what an agent sends in one message */
	WATCHES = INT_MAX,
};

/* ---- the question ---- */

static void add_known(struct str *out, const struct policy_known *known)
{
	pack_add_int(out, known->exists);
	pack_add_int(out, known->read_ms);
	pack_add_bytes(out, &known->seen, sizeof(known->seen));
}

void hand_ask_write(const struct hand_ask *ask, struct str *out)
{
	pack_begin(out);
	pack_add_text(out, ask->given);
	pack_add_text(out, ask->root);
	pack_add_int(out, ask->judge);
	pack_add_int(out, ask->has_user);
	pack_add_int(out, ask->user);
	pack_add_texts(out, ask->listed, ask->listed_count);
	pack_add_int(out, ask->policy);
	add_known(out, &ask->known);
	pack_add_text(out, ask->file_path);
	pack_add_int(out, ask->is_apart);
	pack_add_int(out, (int64_t)ask->body_length);
	pack_add_bytes(out, ask->body, ask->is_apart ? 0 : ask->body_length);
	pack_add_text(out, ask->edit_host);
	pack_add_text(out, ask->edit_event);
	pack_add_text(out, ask->edit);
	pack_add_int(out, ask->is_big);
	own_places_write(ask->ours, out);
	pack_add_int(out, (int64_t)ask->fuzz);
	pack_add_text(out, ask->folder);
	pack_add_texts(out, ask->named, ask->named_count);
	pack_add_text(out, ask->always_ask);
	pack_add_int(out, ask->hashes);
	pack_add_texts(out, ask->shown, ask->shown_count);
	pack_end(out);
}

/* The texts, followed by NULL. */
static char **take_list(struct pack *w, size_t most, size_t *ret_count)
{
	size_t count = (size_t)pack_int_in(w, 0, (int64_t)most);
	char **texts = xcalloc(count + 1, sizeof(*texts));

	for (size_t i = 0; i < count; i++)
		texts[i] = pack_some_text(w, MESSAGE_BYTES);
	*ret_count = count;
	return texts;
}

static void take_known(struct pack *w, struct policy_known *known)
{
	const char *seen;
	size_t size;

	known->exists = pack_int_in(w, 0, 1) != 0;
	known->read_ms = pack_int(w);
	seen = pack_bytes(w, sizeof(known->seen), &size);
	if (size != sizeof(known->seen))
		w->bad = true;
	else
		memcpy(&known->seen, seen, size);
}

static bool read_all(int fd, char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = read(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

bool hand_ask_take(int fd, struct str *message)
{
	char head[PACK_HEAD_BYTES];

	if (!read_all(fd, head, sizeof(head)))
		return false;
	message->length = pack_length(head);
	message->capacity = message->length + 1;
	message->bytes = xcalloc(1, message->capacity);
	return read_all(fd, message->bytes, message->length);
}

int hand_ask_read(const struct str *message, struct hand_ask *ask)
{
	struct pack w = { .at = str_text(message), .left = message->length };
	struct own_places *ours = xcalloc(1, sizeof(*ours));
	size_t shown, here;
	char **texts;

	ask->given = pack_text(&w, MESSAGE_BYTES);
	ask->root = pack_text(&w, MESSAGE_BYTES);
	ask->judge = pack_int_in(&w, 0, 1) != 0;
	ask->has_user = pack_int_in(&w, 0, 1) != 0;
	ask->user = (uid_t)pack_int_in(&w, 0, UINT32_MAX);
	ask->listed = (const char **)take_list(&w, MANY, &ask->listed_count);
	ask->policy = pack_int_in(&w, 0, 1) != 0;
	take_known(&w, &ask->known);
	ask->file_path = pack_text(&w, MESSAGE_BYTES);
	ask->is_apart = pack_int_in(&w, 0, 1) != 0;
	ask->body_length = (size_t)pack_int_in(&w, 0, MESSAGE_BYTES);
	ask->body = pack_bytes(&w, MESSAGE_BYTES, &here);
	if (here != (ask->is_apart ? 0 : ask->body_length))
		w.bad = true;
	ask->edit_host = pack_text(&w, MESSAGE_BYTES);
	ask->edit_event = pack_text(&w, MESSAGE_BYTES);
	ask->edit = pack_text(&w, MESSAGE_BYTES);
	ask->edit_length = ask->edit ? strlen(ask->edit) : 0;
	ask->is_big = pack_int_in(&w, 0, 1) != 0;
	own_places_read(ours, &w, MESSAGE_BYTES);
	ask->ours = ours;
	ask->fuzz = (size_t)pack_int_in(&w, 0, MESSAGE_BYTES);
	ask->folder = pack_text(&w, MESSAGE_BYTES);
	ask->named = (const char *const *)take_list(&w, HAND_NAMES, &ask->named_count);
	ask->always_ask = pack_text(&w, MESSAGE_BYTES);
	ask->hashes = pack_int_in(&w, 0, 1) != 0;
	texts = take_list(&w, HAND_SHOWN_FILES, &shown);
	for (ask->shown_count = 0; ask->shown_count < shown; ask->shown_count++)
		ask->shown[ask->shown_count] = texts[ask->shown_count];
	free(texts);
	return pack_is_whole(&w) && (ask->root || ask->given) ? 0 : -1;
}

void hand_ask_release(struct hand_ask *ask)
{
	free((char *)ask->given);
	free((char *)ask->root);
	for (size_t i = 0; i < ask->listed_count; i++)
		free((char *)ask->listed[i]);
	free((void *)ask->listed);
	free((char *)ask->file_path);
	free((char *)ask->edit_host);
	free((char *)ask->edit_event);
	free((char *)ask->edit);
	if (ask->ours)
		own_places_clear((struct own_places *)ask->ours);
	free((void *)ask->ours);
	free((char *)ask->folder);
	for (size_t i = 0; i < ask->named_count; i++)
		free((char *)ask->named[i]);
	free((void *)ask->named);
	free((char *)ask->always_ask);
	for (size_t i = 0; i < ask->shown_count; i++)
		free((char *)ask->shown[i]);
	*ask = (struct hand_ask){ .given = NULL };
}

/* ---- findings: writing ---- */

static void add_policy(struct str *out, const struct policy_look *look)
{
	pack_add_int(out, look->fresh);
	add_known(out, &look->known);
	pack_add_text(out, look->why);
	pack_add_bytes(out, str_text(&look->bytes), look->bytes.length);
	pack_add_int(out, look->root_watch);
	pack_add_int(out, look->folder_watch);
}

static void add_plan(struct str *out, const struct plan *plan)
{
	pack_add_int(out, (int64_t)plan->count);
	for (size_t i = 0; i < plan->count; i++) {
		const struct touched *t = &plan->files[i].is;

		pack_add_text(out, t->path);
		pack_add_text(out, t->target);
		pack_add_text(out, t->action);
		pack_add_text(out, t->other);
		pack_add_int(out, t->mode);
		pack_add_text(out, t->hash);
		pack_add_text(out, t->result_hash);
		pack_add_int(out, plan->files[i].links);
		pack_add_int(out, plan->files[i].is_symlink);
		pack_add_text(out, plan->files[i].reaches);
		pack_add_int(out, plan->files[i].is_vast);
	}
	pack_add_int(out, (int64_t)plan->primary);
	pack_add_int(out, plan->replaces_file);
}

static void add_proposal(struct str *out, const struct hand_found *found)
{
	pack_add_int(out, found->plan.is_diff);
	pack_add_text(out, found->why.code);
	if (found->why.code)
		pack_add_text(out, found->why.text);
	else
		add_plan(out, &found->plan);
}

static void add_names(struct str *out, const struct hand_found *found)
{
	for (size_t i = 0; i < found->name_count; i++) {
		pack_add_int(out, found->names[i].is_outside);
		pack_add_text(out, found->names[i].path);
		pack_add_text(out, found->names[i].target);
		pack_add_text(out, found->names[i].leads);
		pack_add_text(out, found->names[i].hash);
		pack_add_int(out, found->names[i].links);
		pack_add_int(out, found->names[i].device);
		pack_add_int(out, found->names[i].inode);
		pack_add_text(out, found->names[i].reaches);
		pack_add_int(out, found->names[i].is_vast);
	}
}

/* The effect comes last: it is large, and taken out of the message without a copy. */
void hand_found_write(const struct hand_ask *ask, const struct hand_found *found, struct str *out)
{
	pack_begin(out);
	pack_add_text(out, found->root);
	pack_add_text(out, found->unfit);
	pack_add_int(out, found->is_given);
	pack_add_int(out, found->owner);
	pack_add_int(out, found->is_listed);
	pack_add_text(out, found->within);
	pack_add_int(out, found->silent);
	pack_add_int(out, found->is_too_big);
	if (!found->unfit && !found->is_too_big) {
		if (ask->policy)
			add_policy(out, &found->policy);
		pack_add_text(out, found->folder);
		pack_add_int(out, found->has_folder);
		add_names(out, found);
		for (size_t i = 0; i < ask->shown_count; i++) {
			const struct hand_file *f = &found->shown[i];

			pack_add_text(out, f->why);
			pack_add_bytes(out, str_text(&f->bytes), f->bytes.length);
		}
		if (ask->file_path || ask->edit)
			add_proposal(out, found);
		pack_add_bytes(out, str_text(&found->effect), found->effect.length);
	}
	pack_end(out);
}

/* ---- findings: reading ---- */

static bool is_hash(const char *text)
{
	return strcmp(text, NO_FILE) == 0 || (strlen(text) == SHA256_BYTES - 1 &&
	                                      strspn(text, "0123456789abcdef") == SHA256_BYTES - 1);
}

/* A name that safe_path_clean leaves unchanged. */
static bool is_clean(const char *root, const char *path)
{
	OWNED(str) struct str clean = { 0 };

	return safe_path_clean(root, path, strlen(path), &clean, NULL) == 0 &&
	       strcmp(str_text(&clean), path) == 0;
}

static char *take_path(struct pack *w, const char *root)
{
	char *path = pack_some_text(w, PATH_MAX);

	if (!w->bad && !is_clean(root, path))
		w->bad = true;
	return path;
}

/* A text for people: displayable, on one line, or NULL. */
static char *take_line(struct pack *w)
{
	OWNED(char_ptr) char *text = pack_text(w, ERR_TEXT_BYTES - 1);
	OWNED(str) struct str shown = { 0 };

	if (!text)
		return NULL;
	str_add_shown(&shown, text, strlen(text), ERR_TEXT_BYTES);
	return str_take(&shown);
}

static void copy_line(struct pack *w, char out[ERR_TEXT_BYTES])
{
	OWNED(char_ptr) char *line = take_line(w);

	(void)snprintf(out, ERR_TEXT_BYTES, "%s", line ? line : "");
}

static void take_hash(struct pack *w, char hash[SHA256_BYTES])
{
	OWNED(char_ptr) char *text = pack_some_text(w, SHA256_BYTES - 1);

	if (!is_hash(text))
		w->bad = true;
	else
		(void)snprintf(hash, SHA256_BYTES, "%s", text);
}

/* The constant for a word, NULL if it is not one of them. */
static const char *word_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(text, words[i]) == 0)
			return words[i];
	return NULL;
}

static void take_touched(struct pack *w, const char *root, struct touched *t)
{
	static const char *const ACTIONS[] = { "create", "modify", "delete", "read" };
	OWNED(char_ptr) char *action = NULL;

	t->path = take_path(w, root);
	t->target = take_path(w, root);
	action = pack_some_text(w, HAND_WORD_BYTES);
	t->action = word_of(action, ACTIONS, COUNT(ACTIONS));
	t->other = pack_text(w, PATH_MAX);
	t->mode = (unsigned)pack_int_in(w, 0, 0177777);
	take_hash(w, t->hash);
	take_hash(w, t->result_hash);
	if (!t->action || (t->other && !is_clean(root, t->other)))
		w->bad = true;
}

static void take_plan(struct pack *w, const char *root, struct plan *plan)
{
	size_t count = (size_t)pack_int_in(w, 1, PROPOSAL_FILES);

	plan->files = xcalloc(count, sizeof(*plan->files));
	for (plan->count = 0; plan->count < count && !w->bad; plan->count++) {
		struct planned *f = &plan->files[plan->count];

		take_touched(w, root, &f->is);
		f->links = (int)pack_int_in(w, 0, INT_MAX);
		f->is_symlink = pack_int_in(w, 0, 1) != 0;
		f->reaches = pack_text(w, PATH_MAX);
		f->is_vast = pack_int_in(w, 0, 1) != 0;
		if (f->reaches && f->reaches[0] == '/')
			w->bad = true;
	}
	plan->primary = (size_t)pack_int_in(w, 0, (int64_t)count - 1);
	plan->replaces_file = pack_int_in(w, 0, 1) != 0;
}

static void take_proposal(struct pack *w, struct hand_found *found)
{
	static const char *const CODES[] = { "path_violation",
		                             "patch_conflict",
		                             "invalid_diff",
		                             "too_large",
		                             "no_space",
		                             "quota",
		                             "read_only",
		                             "permission",
		                             "io_error",
		                             "busy",
		                             "workspace_unreadable",
		                             "not_computed" };
	OWNED(char_ptr) char *code = NULL;

	found->plan.is_diff = pack_int_in(w, 0, 1) != 0;
	code = pack_text(w, HAND_WORD_BYTES);
	if (!code) {
		take_plan(w, found->root, &found->plan);
		return;
	}
	found->why.code = word_of(code, CODES, COUNT(CODES));
	if (!found->why.code)
		w->bad = true;
	copy_line(w, found->why.text);
}

static void take_policy(struct pack *w, struct policy_look *look)
{
	const char *bytes;
	size_t length;

	look->fresh = pack_int_in(w, 0, 1) != 0;
	take_known(w, &look->known);
	copy_line(w, look->why);
	bytes = pack_bytes(w, POLICY_MAX_BYTES + 4096, &length); /* the limit of read_bytes */
	str_add_bytes(&look->bytes, bytes, length);
	look->root_watch = (int)pack_int_in(w, -1, WATCHES);
	look->folder_watch = (int)pack_int_in(w, -1, WATCHES);
}

static void take_name(struct pack *w, const char *root, struct hand_name *name)
{
	OWNED(char_ptr) char *hash = NULL;

	name->is_outside = pack_int_in(w, 0, 1) != 0;
	name->path = pack_text(w, PATH_MAX);
	name->target = pack_text(w, PATH_MAX);
	name->leads = pack_text(w, 2 * PATH_MAX);
	hash = pack_some_text(w, SHA256_BYTES - 1);
	if (*hash && !is_hash(hash))
		w->bad = true;
	else
		(void)snprintf(name->hash, sizeof(name->hash), "%s", hash);
	name->links = (int)pack_int_in(w, 0, INT_MAX);
	name->device = pack_int(w);
	name->inode = pack_int(w);
	name->reaches = pack_text(w, 2 * PATH_MAX);
	name->is_vast = pack_int_in(w, 0, 1) != 0;
	name->is_other = !name->target;
	if (!name->path != name->is_outside || (name->target && name->is_outside) ||
	    (name->path && !is_clean(root, name->path)) ||
	    (name->target && !is_clean(root, name->target)) ||
	    (name->leads && name->leads[0] != '/') || (name->reaches && name->reaches[0] != '/'))
		w->bad = true;
}

static void take_names(struct pack *w, size_t count, struct hand_found *found)
{
	found->names = xcalloc(count + 1, sizeof(*found->names));
	for (; found->name_count < count && !w->bad; found->name_count++)
		take_name(w, found->root, &found->names[found->name_count]);
}

static void take_shown(struct pack *w, struct hand_file *f)
{
	const char *bytes;
	size_t length;

	f->why = take_line(w);
	bytes = pack_bytes(w, HAND_SHOWN_BYTES, &length);
	str_add_bytes(&f->bytes, bytes, length);
	if (!utf8_valid(str_text(&f->bytes), f->bytes.length))
		w->bad = true;
}

static void take_effect(struct pack *w, struct str *message, struct hand_found *found)
{
	size_t length;
	const char *bytes = pack_bytes(w, HAND_EFFECT_BYTES, &length);

	if (w->bad || !length)
		return;
	memmove(message->bytes, bytes, length);
	message->bytes[length] = '\0';
	message->length = length;
	str_move(&found->effect, message);
}

static void take_all(struct pack *w, const struct hand_ask *ask, struct hand_found *found)
{
	found->has_policy = ask->policy;
	if (ask->policy)
		take_policy(w, &found->policy);
	found->folder = pack_text(w, PATH_MAX);
	found->has_folder = pack_int_in(w, 0, found->folder != NULL) != 0;
	if (found->folder && (!ask->folder || found->folder[0] != '/'))
		w->bad = true;
	take_names(w, ask->named_count, found);
	found->shown_count = ask->shown_count;
	for (size_t i = 0; i < ask->shown_count; i++)
		take_shown(w, &found->shown[i]);
	if (ask->file_path || ask->edit)
		take_proposal(w, found);
}

const char **hand_listed(const char *usual, const cJSON *workspaces, size_t *ret_count)
{
	const char **listed = xcalloc((size_t)cJSON_GetArraySize(workspaces) + 1, sizeof(*listed));
	const cJSON *one;

	*ret_count = 0;
	if (*usual)
		listed[(*ret_count)++] = usual;
	cJSON_ArrayForEach (one, workspaces)
		if (json_text(one, "path"))
			listed[(*ret_count)++] = json_text(one, "path");
	return listed;
}

static bool is_in_list(const struct hand_ask *ask, const char *folder)
{
	for (size_t i = 0; i < ask->listed_count; i++)
		if (strcmp(ask->listed[i], folder) == 0)
			return true;
	return false;
}

int hand_found_read(const struct hand_ask *ask, struct str *message, struct hand_found *found)
{
	struct pack w = { .at = str_text(message), .left = message->length };

	found->root = pack_some_text(&w, PATH_MAX);
	found->unfit = take_line(&w);
	found->is_given = pack_int_in(&w, 0, ask->given != NULL) != 0;
	found->owner = pack_int_in(&w, -1, ask->judge ? (int64_t)UINT32_MAX : -1);
	found->is_listed = pack_int_in(&w, 0, ask->listed_count > 0) != 0;
	found->within = pack_text(&w, PATH_MAX);
	if (found->within && !is_in_list(ask, found->within))
		w.bad = true;
	found->silent = (int)pack_int_in(&w, -1, (int64_t)ask->listed_count - 1);
	found->is_too_big = pack_int_in(&w, 0, (ask->file_path || ask->edit) && !ask->is_big) != 0;
	if (!w.bad && !found->unfit && !found->is_too_big) {
		take_all(&w, ask, found);
		take_effect(&w, message, found);
	}
	str_clear(message);
	if (pack_is_whole(&w) && found->root[0] == '/')
		return 0;
	hand_found_clear(found);
	return -1;
}
