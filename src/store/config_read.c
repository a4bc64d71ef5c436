/* Reads config.toml: what it refuses, with its line, and what it only warns about. */
#include "config_read.h"
#include "config_guess.h"

#include "disk.h"
#include "paths.h"
#include "toml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const WORKSPACE_KEYS[] = { "id", "workspace_id", "channel_id", "path" };

/* Keys of older versions of this program, and what replaces them. */
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

/* ---- unknown keys ---- */

/* The known key closest to unknown, if it is close: a key of no table in some table, a few typing
 * errors, or the wrong table. */
static bool nearest(const char *unknown, struct config_guess *best)
{
	const char *leaf = config_field_leaf(unknown);
	const char *same = NULL; /* the first known key with this leaf */

	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++) {
		const char *known = CONFIG_FIELDS[i].name;
		const char *dot = strchr(known, '.');

		config_guess_try(best, unknown, known, strlen(known));
		if (dot)
			config_guess_try(best, unknown, known, (size_t)(dot - known));
		if (strcmp(leaf, config_field_leaf(known)) == 0 && (!same || !dot))
			same = known;
	}
	if (!same || (config_guess_is_near(best, unknown) && strcmp(same, leaf) != 0))
		return config_guess_is_near(best, unknown);
	(void)snprintf(best->name, sizeof(best->name), "%s", same);
	return true;
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
	struct config_guess guess = CONFIG_GUESS_INIT;

	config_field_add_cut(&shown, name);
	if (advice)
		config_read_warn(l, line, "unknown key '%s'; %s", str_text(&shown), advice);
	else if (nearest(name, &guess) && strcmp(guess.name, name) != 0)
		config_read_warn(l, line, "unknown key '%s'; did you mean '%s'?", str_text(&shown),
		                 guess.name);
	else
		config_read_warn(l, line, "unknown key '%s'; it is ignored", str_text(&shown));
}

/* ---- workspaces ---- */

static int read_member(struct config_load *l, const cJSON *table, const char *key,
                       const struct config_rule *rule, char **out)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(toml_value(table), key);
	char name[CONFIG_KEY_BYTES_MAX];
	const struct config_field field = { .name = name, .kind = KIND_TEXT, .rule = rule };

	if (!node)
		return 0;
	(void)snprintf(name, sizeof(name), "workspace.%s", key);
	if (*out)
		return config_read_wrong(l, toml_line(node), name,
		                         "stands beside id; write one of the two");
	return config_read_value(l, &field, out, node);
}

static int check_workspace(struct config_load *l, int line, const struct config_workspace *w)
{
	const struct config_workspaces *all = &l->c->workspaces;

	if (!w->id)
		return config_read_wrong(l, line, "workspace.id", "is missing; write %s",
		                         CONFIG_WORKSPACE_ID.allowed);
	if (!w->channel_id && !w->path) /* a folder can be listed for its own sake */
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

/* Makes a workspace's path absolute. A missing path (a disk that is not mounted, or hangs) is no
 * reason to fail: it is only a warning. */
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
	if (got < 0)
		config_read_warn(l, line, "workspace.path: %s does not answer: its disk hangs",
		                 str_text(&path));
	else if (got == 0 && errno != EACCES) /* closed: an agent that names it is told */
		config_read_warn(l, line, "workspace.path: %s is no directory now",
		                 str_text(&path));
	xreplace(&w->path, real ? real : str_text(&path));
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
		return config_read_unfit(l, f, node);
	all->items = xrealloc(all->items, (all->count + 1) * sizeof(*all->items));
	w = &all->items[all->count++];
	*w = (struct config_workspace){ .id = NULL };
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (!is_workspace_key(item->string))
			config_read_warn_key(l, f->name, WORKSPACE_KEYS, COUNT(WORKSPACE_KEYS),
			                     item);
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
		return config_read_unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (read_workspace(l, f, item))
			return -1;
	}
	return 0;
}

/* ---- the file ---- */

static int read_field(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	l->c->from[f - CONFIG_FIELDS] = CONFIG_FILE;
	l->lines[f - CONFIG_FIELDS] = toml_line(node);
	if (f->kind == KIND_WORKSPACES)
		return read_workspaces(l, f, node);
	if (f->kind == KIND_AGENTS)
		return config_read_agents(l, f, node);
	return config_read_value(l, f, config_field_place(f, l->c), node);
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
	OWNED(str) struct str name = { 0 }, inner = { 0 }, found = { 0 };
	const struct config_field *f;

	str_addf(&name, "%s%s", prefix, node->string);
	f = config_field_find(str_text(&name));
	if (f && !strchr(node->string, '.')) /* "a.b" in quotes is a different key from a.b */
		return read_field(l, f, node);
	if (!is_section(str_text(&name))) {
		warn_unknown(l, toml_line(node), str_text(&name));
		return 0;
	}
	config_read_add_found(&found, node);
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
