/* Reads config.toml: what is refused, with its line, and what is only warned of. */
#include "config_read.h"

#include "disk.h"
#include "paths.h"
#include "toml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_BYTES_MAX = 64, /* of an unknown key that is compared with the known ones */
	TYPO_DISTANCE_MAX = 3, /* edits between an unknown key and the one that is suggested */
};

static const char *const WORKSPACE_KEYS[] = { "id", "workspace_id", "channel_id", "path" };

/* Keys of older versions of this program, and what became of them. */
static const struct {
	const char *name;
	const char *advice;
} MOVED[] = {
	{ "slack.app_token", "tokens come from the keychain or $SLACK_APP_TOKEN; remove it" },
	{ "slack.bot_token", "tokens come from the keychain or $SLACK_BOT_TOKEN; remove it" },
	{ "slack.team_id", "it comes from the keychain or $SLACK_TEAM_ID" },
	{ "slack.authorized_user_ids", "they come from $SLACK_MEMBER_IDS" },
	{ "authorized_user_ids", "they come from $SLACK_MEMBER_IDS" },
	{ "remote_commands", "it is called [commands] now" },
	{ "server", "see http_port, default_workspace_root and [timeouts]" },
	{ "session", "see host_cli, host_cli_args, max_concurrent_sessions and retention_days" },
};

/* ---- messages ---- */

/* "config: FILE:LINE: NAME: ..." as an error; line 0 is left out. Returns -1. */
int config_read_wrong(struct config_load *l, int line, const char *name, const char *format, ...)
{
	OWNED(str) struct str place = { 0 };
	char text[ERR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	str_add(&place, l->c->file);
	if (line > 0)
		str_addf(&place, ":%d", line);
	return err_set(l->e, ERR_INPUT, "config: %s: %s: %s", str_text(&place), name, text);
}

void config_read_warn(struct config_load *l, int line, const char *format, ...)
{
	OWNED(str) struct str text = { 0 };
	char *why = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&why, format, args) < 0)
		why = NULL;
	va_end(args);
	str_addf(&text, "%s:", l->c->file);
	if (line > 0)
		str_addf(&text, "%d:", line);
	str_addf(&text, " %s", why ? why : "");
	free(why);
	config_field_add_text(&l->c->warnings, str_take(&text));
}

/* Appends what a node is: `the text "abc"`, `the integer 7`, `a table`. */
static void add_found(struct str *out, const cJSON *node)
{
	if (toml_is(node, TOML_TABLE) || toml_is(node, TOML_ARRAY)) {
		str_addf(out, "%s %s", toml_is(node, TOML_ARRAY) ? "an" : "a", toml_type(node));
		return;
	}
	str_addf(out, "the %s ", toml_type(node));
	config_field_add_json(out, toml_value(node), true);
}

static int unfit(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	OWNED(str) struct str found = { 0 };
	OWNED(str) struct str expected = { 0 };

	add_found(&found, node);
	config_field_add_expected(&expected, f);
	return config_read_wrong(l, toml_line(node), f->name, "is %s; write %s", str_text(&found),
	                         str_text(&expected));
}

/* ---- values ---- */

/* The text of a node that is one and follows the rule, else NULL. */
static const char *fitting(const cJSON *node, const struct config_rule *rule)
{
	const char *text;

	if (!toml_is(node, TOML_TEXT))
		return NULL;
	text = toml_value(node)->valuestring;
	return !rule || rule->fits(text) ? text : NULL;
}

static int read_texts(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	struct config_texts *texts = config_field_place(f, l->c);
	const cJSON *item;

	if (!toml_is(node, TOML_ARRAY))
		return unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		const char *text = fitting(item, f->rule);

		if (!text)
			return unfit(l, f, item);
		config_field_add_text(texts, xstrdup(text));
	}
	return 0;
}

static int read_numbers(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	struct config_numbers *numbers = config_field_place(f, l->c);
	const cJSON *item;
	int64_t number;

	if (!toml_is(node, TOML_ARRAY))
		return unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (!toml_int(item, &number) || number < f->low || number > f->high)
			return unfit(l, f, item);
		numbers->items =
		    xrealloc(numbers->items, (numbers->count + 1) * sizeof(*numbers->items));
		numbers->items[numbers->count++] = number;
	}
	return 0;
}

static int read_pair(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	struct config_map *map = config_field_place(f, l->c);
	const char *text = fitting(node, f->rule);
	OWNED(str) struct str name = { 0 };
	OWNED(str) struct str found = { 0 };

	str_addf(&name, "%s.", f->name);
	config_field_add_cut(&name, node->string);
	if (!CONFIG_ALIAS.fits(node->string))
		return config_read_wrong(
		    l, toml_line(node), f->name, "the name '%s' does not fit; write %s",
		    str_text(&name) + strlen(f->name) + 1, CONFIG_ALIAS.allowed);
	add_found(&found, node);
	if (!text)
		return config_read_wrong(l, toml_line(node), str_text(&name), "is %s; write %s",
		                         str_text(&found), f->rule->allowed);
	map->items = xrealloc(map->items, (map->count + 1) * sizeof(*map->items));
	map->items[map->count++] =
	    (struct config_pair){ .name = xstrdup(node->string), .value = xstrdup(text) };
	return 0;
}

static int read_map(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	const cJSON *item;

	if (!toml_is(node, TOML_TABLE))
		return unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (read_pair(l, f, item))
			return -1;
	}
	return 0;
}

/* ---- unknown keys ---- */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein: the insertions, deletions and replacements from a to b. */
static size_t distance(const char *a, const char *b)
{
	size_t row[KEY_BYTES_MAX + 1];
	size_t width = strlen(b);

	if (strlen(a) > KEY_BYTES_MAX || width > KEY_BYTES_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= width; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < width; j++) {
			size_t above = row[j + 1];

			row[j + 1] =
			    least(least(above, row[j]) + 1, corner + (a[i] != b[j] ? 1 : 0));
			corner = above;
		}
	}
	return row[width];
}

struct guess {
	char name[KEY_BYTES_MAX + 1];
	size_t distance;
};

static void consider(struct guess *best, const char *unknown, const char *known, size_t length)
{
	char name[KEY_BYTES_MAX + 1];
	size_t d;

	(void)snprintf(name, sizeof(name), "%.*s", (int)length, known);
	d = distance(unknown, name);
	if (d < best->distance) {
		best->distance = d;
		memcpy(best->name, name, sizeof(name));
	}
}

/* The known key nearest to unknown, if it is near: a few typing errors, or the wrong table. */
static bool nearest(const char *unknown, struct guess *best)
{
	size_t allowed = least(TYPO_DISTANCE_MAX, strlen(config_field_leaf(unknown)) / 3);

	best->distance = SIZE_MAX;
	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++) {
		const char *known = CONFIG_FIELDS[i].name;
		const char *dot = strchr(known, '.');

		consider(best, unknown, known, strlen(known));
		if (dot)
			consider(best, unknown, known, (size_t)(dot - known));
	}
	if (best->distance <= allowed)
		return true;
	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
		if (strcmp(config_field_leaf(unknown), config_field_leaf(CONFIG_FIELDS[i].name)) ==
		    0) {
			(void)snprintf(best->name, sizeof(best->name), "%s", CONFIG_FIELDS[i].name);
			return true;
		}
	return false;
}

static const char *moved(const char *name)
{
	for (size_t i = 0; i < COUNT(MOVED); i++)
		if (strcmp(MOVED[i].name, name) == 0)
			return MOVED[i].advice;
	return NULL;
}

static void warn_unknown(struct config_load *l, int line, const char *name)
{
	OWNED(str) struct str shown = { 0 };
	const char *advice = moved(name);
	struct guess guess;

	config_field_add_cut(&shown, name);
	if (advice)
		config_read_warn(l, line, "unknown key '%s'; %s", str_text(&shown), advice);
	else if (nearest(name, &guess) && strcmp(guess.name, name) != 0)
		config_read_warn(l, line, "unknown key '%s'; did you mean '%s'?", str_text(&shown),
		                 guess.name);
	else
		config_read_warn(l, line, "unknown key '%s'; it is ignored", str_text(&shown));
}

static void warn_unknown_in_workspace(struct config_load *l, const cJSON *node)
{
	struct guess guess = { .distance = SIZE_MAX };
	OWNED(str) struct str shown = { 0 };

	config_field_add_cut(&shown, node->string);
	for (size_t i = 0; i < COUNT(WORKSPACE_KEYS); i++)
		consider(&guess, node->string, WORKSPACE_KEYS[i], strlen(WORKSPACE_KEYS[i]));
	if (guess.distance <= least(TYPO_DISTANCE_MAX, strlen(node->string) / 3))
		config_read_warn(l, toml_line(node),
		                 "unknown key 'workspace.%s'; did you mean 'workspace.%s'?",
		                 str_text(&shown), guess.name);
	else
		config_read_warn(l, toml_line(node), "unknown key 'workspace.%s'; it is ignored",
		                 str_text(&shown));
}

/* ---- workspaces ---- */

static int read_member(struct config_load *l, const cJSON *table, const char *key,
                       const struct config_rule *rule, char **out)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(toml_value(table), key);
	OWNED(str) struct str found = { 0 };
	char name[KEY_BYTES_MAX];
	const char *text;

	if (!node)
		return 0;
	(void)snprintf(name, sizeof(name), "workspace.%s", key);
	text = fitting(node, rule);
	add_found(&found, node);
	if (!text)
		return config_read_wrong(l, toml_line(node), name, "is %s; write %s",
		                         str_text(&found), rule->allowed);
	if (*out)
		return config_read_wrong(l, toml_line(node), name,
		                         "stands beside id; write one of the two");
	*out = xstrdup(text);
	return 0;
}

static int check_workspace(struct config_load *l, int line, const struct config_workspace *w)
{
	const struct config_workspaces *all = &l->c->workspaces;

	if (!w->id)
		return config_read_wrong(l, line, "workspace.id", "is missing; write %s",
		                         CONFIG_WORKSPACE_ID.allowed);
	if (!w->channel_id)
		return config_read_wrong(l, line, "workspace.channel_id", "is missing; write %s",
		                         CONFIG_CHANNEL.allowed);
	for (size_t i = 0; i < all->count; i++)
		if (&all->items[i] != w && strcmp(all->items[i].id, w->id) == 0)
			return config_read_wrong(
			    l, line, "workspace.id",
			    "'%.64s' is there twice; give each workspace its own id", w->id);
	return 0;
}

bool config_read_is_dir(const char *path)
{
	OWNED(char_ptr) char *real = NULL;

	return disk_real_dir(path, &real) > 0;
}

char *config_read_dir(const struct config *c)
{
	const char *slash = strrchr(c->file, '/');
	OWNED(str) struct str dir = { 0 };

	if (slash)
		str_add_bytes(&dir, c->file, (size_t)(slash - c->file));
	return str_take(&dir);
}

/* Makes the path of a workspace absolute. One that is not there (a disk not mounted, or one that
 * hangs) is no reason to stay away: it is told. */
static int settle_workspace_path(struct config_load *l, int line, struct config_workspace *w)
{
	OWNED(char_ptr) char *dir = config_read_dir(l->c);
	OWNED(char_ptr) char *real = NULL;
	OWNED(str) struct str path = { 0 };
	struct err why = { 0 };
	int got;

	if (!w->path) {
		w->path = xstrdup("");
		return 0;
	}
	if (paths_absolute(dir, w->path, &path, &why))
		return config_read_wrong(l, line, "workspace.path", "%s", why.text);
	got = disk_real_dir(str_text(&path), &real);
	if (got <= 0)
		config_read_warn(l, line, "workspace.path: %s %s", str_text(&path),
		                 got < 0 ? "does not answer: its disk hangs"
		                         : "is no directory now");
	config_field_replace(&w->path, real ? real : str_text(&path));
	return 0;
}

static bool is_workspace_key(const char *key)
{
	for (size_t i = 0; i < COUNT(WORKSPACE_KEYS); i++)
		if (strcmp(WORKSPACE_KEYS[i], key) == 0)
			return true;
	return false;
}

static int read_workspace(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	struct config_workspaces *all = config_field_place(f, l->c);
	struct config_workspace *w;
	const cJSON *item;

	if (!toml_is(node, TOML_TABLE))
		return unfit(l, f, node);
	all->items = xrealloc(all->items, (all->count + 1) * sizeof(*all->items));
	w = &all->items[all->count++];
	*w = (struct config_workspace){ .id = NULL };
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (!is_workspace_key(item->string))
			warn_unknown_in_workspace(l, item);
	}
	if (read_member(l, node, "id", &CONFIG_WORKSPACE_ID, &w->id) ||
	    read_member(l, node, "workspace_id", &CONFIG_WORKSPACE_ID, &w->id) ||
	    read_member(l, node, "channel_id", &CONFIG_CHANNEL, &w->channel_id) ||
	    read_member(l, node, "path", &CONFIG_NOT_EMPTY, &w->path) ||
	    check_workspace(l, toml_line(node), w))
		return -1;
	return settle_workspace_path(l, toml_line(node), w);
}

static int read_workspaces(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	const cJSON *item;

	if (!toml_is(node, TOML_ARRAY))
		return unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (read_workspace(l, f, item))
			return -1;
	}
	return 0;
}

/* ---- the file ---- */

static int read_scalar(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	const char *text;
	int64_t number;

	if (f->kind == KIND_BOOLEAN) {
		if (!toml_is(node, TOML_BOOLEAN))
			return unfit(l, f, node);
		*(bool *)config_field_place(f, l->c) = cJSON_IsTrue(toml_value(node));
		return 0;
	}
	if (f->kind == KIND_NUMBER) {
		if (!toml_int(node, &number) || number < f->low || number > f->high)
			return unfit(l, f, node);
		*(int64_t *)config_field_place(f, l->c) = number;
		return 0;
	}
	text = fitting(node, f->rule);
	if (!text || (f->kind == KIND_CHOICE && config_field_choice(f, text) < 0))
		return unfit(l, f, node);
	(void)config_field_set(f, text, l->c);
	return 0;
}

static int read_field(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	l->c->from[f - CONFIG_FIELDS] = CONFIG_FILE;
	l->lines[f - CONFIG_FIELDS] = toml_line(node);
	switch (f->kind) {
	case KIND_TEXTS:
		return read_texts(l, f, node);
	case KIND_NUMBERS:
		return read_numbers(l, f, node);
	case KIND_MAP:
		return read_map(l, f, node);
	case KIND_WORKSPACES:
		return read_workspaces(l, f, node);
	case KIND_BOOLEAN:
	case KIND_NUMBER:
	case KIND_TEXT:
	case KIND_CHOICE:
		break;
	}
	return read_scalar(l, f, node);
}

static bool is_section(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
		if (strncmp(CONFIG_FIELDS[i].name, name, length) == 0 &&
		    CONFIG_FIELDS[i].name[length] == '.')
			return true;
	return false;
}

static int read_table(struct config_load *l, const char *prefix, const cJSON *table);

static int read_key(struct config_load *l, const char *prefix, const cJSON *node)
{
	OWNED(str) struct str name = { 0 };
	OWNED(str) struct str inner = { 0 };
	OWNED(str) struct str found = { 0 };
	const struct config_field *f;

	str_addf(&name, "%s%s", prefix, node->string);
	f = config_field_find(str_text(&name));
	if (f && !strchr(node->string, '.')) /* "a.b" in quotes is another key than a.b */
		return read_field(l, f, node);
	if (!is_section(str_text(&name))) {
		warn_unknown(l, toml_line(node), str_text(&name));
		return 0;
	}
	add_found(&found, node);
	if (!toml_is(node, TOML_TABLE))
		return config_read_wrong(l, toml_line(node), str_text(&name),
		                         "is %s; write a table, [%s]", str_text(&found),
		                         str_text(&name));
	str_addf(&inner, "%s.", str_text(&name));
	return read_table(l, str_text(&inner), node);
}

static int read_table(struct config_load *l, const char *prefix, const cJSON *table)
{
	const cJSON *node;

	cJSON_ArrayForEach (node, toml_value(table)) {
		if (read_key(l, prefix, node))
			return -1;
	}
	return 0;
}

int config_read_file(struct config_load *l)
{
	cJSON *root = toml_read(l->c->file, l->e);
	int failed;

	if (!root)
		return err_prefix(l->e, "config");
	failed = read_table(l, "", root);
	cJSON_Delete(root);
	return failed;
}
