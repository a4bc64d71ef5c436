/* What the files of a host will contain: computed in full before anything is shown or written. */
#include "install.h"

#include "json.h"
#include "texts.h"
#include "toml_edit.h"

#include <stdio.h>
#include <string.h>

static const char BEGIN[] = INSTRUCTIONS_BEGIN "\n", END[] = "<!-- /agent-intercom -->\n";

/* ---- changes ---- */

static void change_clear(struct change *c)
{
	textfile_clear(&c->file);
	textfile_clear(&c->kept);
	str_clear(&c->after);
	str_clear(&c->by_hand);
}

void install_plan_clear(struct plan *p)
{
	while (p->count > 0)
		change_clear(&p->changes[--p->count]);
}

bool change_is_one(const struct change *c)
{
	return !c->by_hand.length &&
	       (c->remove || c->after.length != c->file.bytes.length ||
	        memcmp(str_text(&c->after), str_text(&c->file.bytes), c->after.length) != 0);
}

bool plan_changes(const struct plan *p)
{
	for (int i = 0; i < p->count; i++)
		if (change_is_one(&p->changes[i]))
			return true;
	return false;
}

struct change *plan_file(struct plan *p, const char *path, struct err *e)
{
	OWNED(str) struct str kept = { 0 };
	struct change *c;

	for (int i = 0; i < p->count; i++)
		if (strcmp(p->changes[i].file.path, path) == 0)
			return &p->changes[i];
	c = &p->changes[p->count++];
	*c = (struct change){ .remove = false };
	if (textfile_read(path, &c->file, e))
		return NULL;
	str_addf(&kept, "%s" KEPT_SUFFIX, c->file.target);
	if (textfile_read(str_text(&kept), &c->kept, e))
		return NULL;
	str_add_bytes(&c->after, str_text(&c->file.bytes), c->file.bytes.length);
	return c;
}

static size_t without_newlines(const struct str *text)
{
	size_t length = text->length;

	while (length > 0 && (text->bytes[length - 1] == '\n' || text->bytes[length - 1] == '\r'))
		length--;
	return length;
}

/* Whether both are JSON objects that say the same. */
static bool means_the_same(const struct change *c)
{
	OWNED(cJSON_ptr) cJSON *after = NULL, *before = NULL;

	if (json_edit_parse(&c->after, c->file.path, &after, NULL) < 0 || !after ||
	    json_edit_parse(&c->kept.bytes, c->kept.path, &before, NULL) < 0)
		return false;
	return before ? cJSON_Compare(after, before, 1) : !after->child; /* it was empty */
}

void plan_give_back(struct change *c)
{
	size_t length = without_newlines(&c->after);
	bool same = length == without_newlines(&c->kept.bytes) &&
	            memcmp(str_text(&c->after), str_text(&c->kept.bytes), length) == 0;

	if (c->kept.exists && (same || means_the_same(c))) {
		str_reset(&c->after);
		str_add_bytes(&c->after, str_text(&c->kept.bytes), c->kept.bytes.length);
	}
	if (!c->kept.exists && c->file.exists && length == 0)
		c->remove = true;
}

/* ---- JSON ---- */

static int check_owner(const cJSON *entry, const struct wish *w, const char *path, struct err *e)
{
	if (!entry || host_entry_is_ours(entry))
		return 0;
	return err_set(e, ERR_INPUT,
	               "%s: \"%s\" is another server there, not agent-intercom; choose a name "
	               "with --name",
	               path, w->name);
}

/* Whether `there` has every member of `entry`, with the same value. */
static bool says(const cJSON *there, const cJSON *entry)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, entry)
		if (!cJSON_Compare(json_get(there, item->string), item, 1))
			return false;
	return there != NULL;
}

/* Adds to entry what the user has put next to our members (env, trust, ...). */
static void keep_extras(cJSON *entry, const cJSON *there)
{
	static const char *const OURS[] = { "type",    "command", "args",    "url", "httpUrl",
		                            "timeout", "tools",   "enabled", NULL };
	const cJSON *item;

	cJSON_ArrayForEach (item, there)
		if (!json_get(entry, item->string) && !texts_name(OURS, item->string))
			(void)cJSON_AddItemToObject(entry, item->string, cJSON_Duplicate(item, 1));
}

/* Describes what to do by hand with a file that cannot be changed. list: value is an item of an
 * array at place. */
static void leave_to_hand(struct change *c, bool remove, json_place place, bool list,
                          const cJSON *value)
{
	char *text = value ? cJSON_Print(value) : NULL;
	const char *last = "";
	size_t named = 0; /* members of place; the last one is the member itself */

	for (; place[named]; named++)
		last = place[named];
	if (!list && named > 0)
		named--;
	str_addf(&c->by_hand, "%s has comments or trailing commas, so I do not change it. ",
	         c->file.path);
	if (remove && !list)
		str_addf(&c->by_hand, "Take \"%s\" out of", last);
	else
		str_add(&c->by_hand, remove ? "Take this out of" : "Put this into");
	for (size_t i = 0; i < named; i++)
		str_addf(&c->by_hand, "%s\"%s\"", i ? ", " : " ", place[i]);
	str_add(&c->by_hand, remove && !list ? " there.\n" : " there:\n\n");
	if (!remove && !list)
		str_addf(&c->by_hand, "\"%s\": ", last);
	if (list || !remove)
		str_addf(&c->by_hand, "%s\n", text ? text : "");
	cJSON_free(text);
}

int plan_take_out(struct change *c, json_place place, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = NULL, *before = NULL;
	const char *outer[PLACE_MAX] = { NULL };
	size_t depth = 0;

	for (; place[depth]; depth++)
		outer[depth] = place[depth];
	if (json_edit_remove(&c->after, c->file.path, place, e))
		return -1;
	(void)json_edit_parse(&c->kept.bytes, c->kept.path, &before, NULL);
	while (depth-- > 1) {
		const cJSON *left;

		outer[depth] = NULL;
		cJSON_ptr_clear(&root);
		if (json_edit_parse(&c->after, c->file.path, &root, e) < 0)
			return -1;
		left = json_edit_find(root, outer);
		if (left && !left->child && !json_edit_find(before, outer) &&
		    json_edit_remove(&c->after, c->file.path, outer, e))
			return -1;
	}
	cJSON_ptr_clear(&root);
	if (json_edit_parse(&c->after, c->file.path, &root, e) < 0)
		return -1;
	if (!c->kept.exists && c->file.exists && root && !root->child)
		c->remove = true;
	plan_give_back(c);
	return 0;
}

static int plan_json(struct change *c, const struct wish *w, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	OWNED(cJSON_ptr) cJSON *entry = w->remove ? NULL : host_entry(w);
	const char *const place[] = { w->host->servers, w->name, NULL };
	int kind = json_edit_parse(&c->file.bytes, c->file.path, &root, e);
	const cJSON *there = json_edit_find(root, place);

	if (kind < 0 || check_owner(there, w, c->file.path, e))
		return -1;
	if (w->remove ? !there : says(there, entry))
		return 0;
	if (!w->remove && there)
		keep_extras(entry, there);
	if (kind > 0) {
		leave_to_hand(c, w->remove, place, false, entry);
		return 0;
	}
	return w->remove ? plan_take_out(c, place, e)
	                 : json_edit_set(&c->after, c->file.path, place, entry, e);
}

/* The index of item in an array, -1 if absent. */
static int index_of(const cJSON *array, const cJSON *item)
{
	int at = 0;
	const cJSON *one;

	cJSON_ArrayForEach (one, array) {
		if (cJSON_Compare(one, item, 1))
			return at;
		at++;
	}
	return -1;
}

/* The value for place: with an item added to its array or removed from it; else value itself, or
 * what was there before us. NULL: nothing. The caller deletes it. */
static cJSON *wanted_value(const cJSON *there, const cJSON *value, const cJSON *before,
                           bool is_item, bool remove)
{
	cJSON *array;

	if (!is_item)
		return remove && !before ? NULL : cJSON_Duplicate(remove ? before : value, 1);
	array = cJSON_IsArray(there) ? cJSON_Duplicate(there, 1) : cJSON_CreateArray();
	if (remove && index_of(before, value) < 0)
		cJSON_DeleteItemFromArray(array, index_of(array, value));
	else if (!remove)
		(void)cJSON_AddItemToArray(array, cJSON_Duplicate(value, 1));
	if (array->child || before)
		return array;
	cJSON_Delete(array);
	return NULL;
}

/* Uninstall restores what was there before. */
int plan_setting(struct change *c, const struct host_setting *s, const struct wish *w,
                 struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = NULL, *before = NULL, *value = NULL, *wanted = NULL;
	struct str filled[PLACE_MAX + 1] = { 0 };
	const char *place[PLACE_MAX] = { NULL };
	int kind = json_edit_parse(&c->after, c->file.path, &root, e), failed = kind < 0 ? -1 : 0;
	const cJSON *there, *old;
	bool is_set;

	for (int i = 0; i < PLACE_MAX && s->place[i]; i++) {
		host_fill(&filled[i], s->place[i], w);
		place[i] = str_text(&filled[i]);
	}
	host_fill(&filled[PLACE_MAX], s->value, w);
	value = cJSON_Parse(str_text(&filled[PLACE_MAX]));
	there = json_edit_find(root, place);
	is_set =
	    there && (s->is_item ? index_of(there, value) >= 0 : cJSON_Compare(there, value, 1));
	if (!failed && w->remove == is_set) {
		(void)json_edit_parse(&c->kept.bytes, c->kept.path, &before, NULL);
		old = json_edit_find(before, place);
		wanted = wanted_value(there, value, old, s->is_item, w->remove);
		if (kind > 0)
			leave_to_hand(c, w->remove, place, s->is_item, value);
		else if (wanted)
			failed = json_edit_set(&c->after, c->file.path, place, wanted, e);
		else
			failed = plan_take_out(c, place, e);
		if (!failed && w->remove && kind == 0)
			plan_give_back(c);
	}
	for (int i = 0; i <= PLACE_MAX; i++)
		str_clear(&filled[i]);
	return failed;
}

/* ---- TOML ---- */

static int plan_toml(struct change *c, const struct wish *w, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = toml_edit_parse(&c->file.bytes, c->file.path, e);
	OWNED(cJSON_ptr) cJSON *entry = host_entry(w);
	const char *const place[] = { w->host->servers, w->name, NULL };
	const cJSON *there = json_edit_find(root, place);

	if (!root || check_owner(there, w, c->file.path, e))
		return -1;
	if (w->remove ? !there : says(there, entry))
		return 0;
	if (!w->remove)
		return toml_edit_set(&c->after, c->file.path, w->host->servers, w->name, entry, e);
	if (toml_edit_remove(&c->after, c->file.path, w->host->servers, w->name, e))
		return -1;
	plan_give_back(c);
	return 0;
}

/* ---- hosts ---- */

/* Whether a folder's own project file has our entry, which needs the setting still. */
static bool is_in_project(const struct wish *w, const char *folder)
{
	OWNED(textfile) struct textfile file = { 0 };
	OWNED(str) struct str path = { 0 };
	struct err e = { 0 };
	int others;

	str_addf(&path, "%s/%s", folder, w->host->file.project);
	return textfile_read(str_text(&path), &file, &e) == 0 &&
	       found_entries(&file.bytes, file.path, w, &others) > others;
}

/* Takes a setting that was made in one folder after the other out of all of them: the entry that
 * they share goes once, from any. */
static int plan_every_folder(struct change *c, const struct host_setting *s, int depth,
                             const struct wish *w, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	const char *folders[PLACE_MAX] = { NULL };
	struct wish one = *w;
	const cJSON *folder;

	for (int i = 0; i < depth; i++)
		folders[i] = s->place[i];
	if (json_edit_parse(&c->file.bytes, c->file.path, &root, e) < 0)
		return -1;
	cJSON_ArrayForEach (folder, json_edit_find(root, folders)) {
		one.folder = folder->string;
		if (folder->string && !is_in_project(w, folder->string) &&
		    plan_setting(c, s, &one, e))
			return -1;
	}
	return 0;
}

static int plan_one_setting(struct change *c, const struct host_setting *s, const struct wish *w,
                            const struct entries *found, struct err *e)
{
	bool was_installed = found->any || (!w->file && c->kept.exists);
	int depth;

	if (w->remove && !s->is_item && found->others)
		return 0; /* they need it, too */
	if (w->remove && !w->project && !w->file && host_setting_is_per_folder(s, &depth))
		return was_installed || w->gate ? plan_every_folder(c, s, depth, w, e) : 0;
	return w->remove && !was_installed ? 0 : plan_setting(c, s, w, e);
}

/* What the user has set is kept by the copy from before the first install, whether that had to
 * change the file or not. Where nothing of ours is installed, nothing is ours, but for what an
 * earlier uninstall left in other folders under our own name (w->gate: all of ours is to go). */
int plan_settings(struct plan *p, const struct wish *w, const struct entries *found,
                  const char *path, struct err *e)
{
	struct change *c = plan_file(p, path, e);

	if (c) {
		c->is_installed |= found->any || found_our_hooks(c, w);
		c->keep = !w->remove && !c->is_installed;
		c->is_shared |= found->others;
	}
	for (int i = 0; c && i < SETTINGS_MAX && w->host->setting[i].value; i++)
		if (plan_one_setting(c, &w->host->setting[i], w, found, e))
			return -1;
	return c ? 0 : -1;
}

/* What of ours is in the file, and in that of this user if another one was named. */
static int find_installed(struct change *c, const struct wish *w, struct entries *found,
                          struct err *e)
{
	OWNED(textfile) struct textfile usual = { 0 };
	OWNED(str) struct str path = { 0 };
	int others;

	found->any = c->is_installed = found_entries(&c->file.bytes, c->file.path, w, &others) > 0;
	found->others = c->is_shared = others > 0;
	c->is_installed |= !w->host->toml && found_our_hooks(c, w);
	if (!w->file)
		return 0;
	if (host_path(&w->host->file, w->project, &path, e) ||
	    textfile_read(str_text(&path), &usual, e))
		return -1;
	if (found_entries(&usual.bytes, usual.path, w, &others) > 0)
		found->any = found->others = true;
	return 0;
}

bool plan_leaves_entry(const struct plan *p, const struct wish *w)
{
	OWNED(textfile) struct textfile usual = { 0 };
	OWNED(str) struct str path = { 0 };
	struct err e = { 0 };
	int others;

	if (host_path(&w->host->file, false, &path, &e))
		return false;
	for (int i = 0; i < p->count && !w->project && !w->file; i++)
		if (strcmp(p->changes[i].file.path, str_text(&path)) == 0)
			return p->changes[i].is_shared;
	return textfile_read(str_text(&path), &usual, &e) == 0 &&
	       found_entries(&usual.bytes, usual.path, w, &others) > 0;
}

int plan_host(struct plan *p, const struct wish *w, struct err *e)
{
	OWNED(str) struct str path = { 0 }, settings = { 0 };
	struct entries found = { 0 };
	struct change *c;

	if (w->file)
		str_add(&path, w->file);
	else if (host_path(&w->host->file, w->project, &path, e))
		return -1;
	c = plan_file(p, str_text(&path), e);
	if (!c || find_installed(c, w, &found, e) ||
	    (w->host->toml ? plan_toml(c, w, e) : plan_json(c, w, e)))
		return -1;
	if (!c->file.exists && !w->project)
		c->file.mode &= 0700; /* hosts keep keys in the same file */
	if (!w->host->setting[0].value)
		return 0;
	if (host_path(&w->host->settings, w->project, &settings, e))
		return -1;
	/* Without the entry, uninstall would take them for the user's own. */
	if (!w->remove && c->by_hand.length && strcmp(c->file.path, str_text(&settings)) != 0) {
		str_addf(&c->by_hand, "Then run this again, for what goes with it into %s.\n",
		         str_text(&settings));
		return 0;
	}
	return plan_settings(p, w, &found, str_text(&settings), e);
}

/* ---- instructions ---- */

void plan_lines(struct str *out, const char *server)
{
	str_add(out, BEGIN);
	str_addf(out,
	         "Files here are changed with consent only: ask through the MCP server `%s`.\n"
	         "A person answers, perhaps after an hour; waiting is right.\n"
	         "- Before you create, change or delete a file, call `check_clearance` with the "
	         "change and wait.\n"
	         "- Approved: call `check_diff`, which writes it. Never write the file yourself, "
	         "with no other tool either.\n"
	         "- Rejected: follow the reason. Pending: call again with the same arguments, and "
	         "do nothing else meanwhile.\n"
	         "- When you are unsure whether to go on, ask with `transmit`; when you are done, "
	         "call `standby`.\n",
	         server);
	str_add(out, END);
}

int plan_instructions(struct plan *p, const struct wish *w, const char *path, struct err *e)
{
	OWNED(str) struct str lines = { 0 };
	struct change *c = plan_file(p, path, e);
	const char *begin_mark, *end_mark;
	size_t start, end;

	if (!c)
		return -1;
	if (!w->remove && c->after.length != strlen(str_text(&c->after)))
		return !w->instructions ? 0 /* they were only offered */
		                        : err_set(e, ERR_INPUT,
		                                  "%s: it holds a NUL byte, so it is no UTF-8 "
		                                  "text; save it as UTF-8",
		                                  path);
	begin_mark = strstr(str_text(&c->after), INSTRUCTIONS_BEGIN);
	end_mark = begin_mark ? strstr(begin_mark, "<!-- /agent-intercom -->") : NULL;
	if (begin_mark && !end_mark)
		return err_set(e, ERR_INPUT,
		               "%s: <!-- agent-intercom --> has no <!-- /agent-intercom --> behind "
		               "it; correct it",
		               path);
	if (!w->remove)
		plan_lines(&lines, w->name);
	c->is_installed = begin_mark != NULL;
	if (!begin_mark) {
		if (!w->remove)
			textfile_add_block(&c->after, str_text(&lines));
		return 0;
	}
	start = (size_t)(begin_mark - str_text(&c->after));
	end = (size_t)(end_mark - str_text(&c->after)) + strlen(END) - 1;
	if (strncmp(str_text(&c->after) + end, "\r\n", 2) == 0)
		end += 2;
	else if (str_text(&c->after)[end] == '\n')
		end++;
	if (w->remove) {
		textfile_cut_block(&c->after, start, end);
		plan_give_back(c);
		return 0;
	}
	str_reset(&c->after);
	str_add_bytes(&c->after, str_text(&c->file.bytes), start);
	str_add(&c->after, str_text(&lines));
	str_add_bytes(&c->after, str_text(&c->file.bytes) + end, c->file.bytes.length - end);
	return 0;
}
