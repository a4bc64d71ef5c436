/* Reads the tables of [[agent]]. */
#include "config_read.h"

#include "json_writer.h"
#include "paths.h"
#include "toml.h"

#include <stdlib.h>
#include <string.h>

static const struct config_field *find_key(const char *name)
{
	for (size_t i = 0; i < CONFIG_AGENT_KEY_COUNT; i++)
		if (strcmp(config_field_leaf(CONFIG_AGENT_KEYS[i].name), name) == 0)
			return &CONFIG_AGENT_KEYS[i];
	return NULL;
}

static void warn_key(struct config_load *l, const cJSON *node)
{
	const char **known = xcalloc(CONFIG_AGENT_KEY_COUNT, sizeof(*known));

	for (size_t i = 0; i < CONFIG_AGENT_KEY_COUNT; i++)
		known[i] = config_field_leaf(CONFIG_AGENT_KEYS[i].name);
	config_read_warn_key(l, "agent", known, CONFIG_AGENT_KEY_COUNT, node);
	free(known);
}

/* Adds to what a built-in profile passes; a value replaces its value. */
static int read_env(struct config_load *l, const struct config_field *f, struct config_agent *a,
                    const cJSON *node)
{
	struct texts env = { 0 };
	int failed = config_read_value(l, f, &env, node);

	for (size_t i = 0; !failed && i < env.count; i++) {
		char *equals = strchr(env.items[i], '=');

		if (!equals) {
			texts_add(&a->env_pass, env.items[i]);
			continue;
		}
		*equals = '\0';
		config_field_add_pair(&a->env_set, env.items[i], equals + 1);
	}
	texts_clear(&env);
	return failed;
}

/* Replaces what makes a built-in profile ask; an empty table is nothing that would have to be set.
 */
static int read_asking(struct config_load *l, const struct config_field *f, struct config_agent *a,
                       const cJSON *node)
{
	OWNED(str) struct str json = { 0 }, found = { 0 };
	const cJSON *item;

	if (!toml_is(node, TOML_TABLE))
		return config_read_unfit(l, f, node);
	json_object(&json);
	cJSON_ArrayForEach (item, toml_value(node)) {
		const cJSON *value = toml_value(item);

		if (toml_is(item, TOML_TEXT)) {
			json_member(&json, item->string, value->valuestring);
		} else if (toml_is(item, TOML_BOOLEAN)) {
			json_member_bool(&json, item->string, cJSON_IsTrue(value));
		} else {
			config_read_add_found(&found, item);
			return config_read_wrong(l, toml_line(item), f->name,
			                         "'%.64s' is %s; write %s", item->string,
			                         str_text(&found), f->rule->allowed);
		}
	}
	json_object_end(&json);
	free(a->asking);
	a->asking = cJSON_GetArraySize(toml_value(node)) ? str_take(&json) : NULL;
	return 0;
}

/* ---- [agent.fence] ---- */

static int fence_unfit(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	OWNED(str) struct str found = { 0 };

	config_read_add_found(&found, node);
	return config_read_wrong(l, toml_line(node), f->name, "has %s; write %s", str_text(&found),
	                         f->rule->allowed);
}

static bool is_full(const char *path)
{
	return *path == '/' || strncmp(path, "~/", 2) == 0;
}

/* Adds the folders of a list, in full. */
static int add_folders(struct config_load *l, const struct config_field *f, const cJSON *node,
                       struct str *json)
{
	const cJSON *item;

	if (!toml_is(node, TOML_ARRAY))
		return fence_unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		OWNED(str) struct str path = { 0 };
		struct err why = { 0 };

		if (!toml_is(item, TOML_TEXT) || !is_full(toml_value(item)->valuestring))
			return fence_unfit(l, f, item);
		if (paths_absolute(NULL, toml_value(item)->valuestring, &path, &why))
			return config_read_wrong(l, toml_line(item), f->name, "%s", why.text);
		json_item(json, str_text(&path));
	}
	return 0;
}

/* Where an agent of this name is likely to keep what it needs. */
static void add_usual_folders(const char *name, struct str *json)
{
	static const char *const BELOW_HOME[] = {
		"~/.%s",        "~/.%s.json",        "~/.cache/%s",
		"~/.config/%s", "~/.local/share/%s", "~/.local/state/%s"
	};

	json_item(json, "/tmp");
	json_item(json, "/var/tmp");
	json_item(json, "/dev/shm");
	for (size_t i = 0; i < COUNT(BELOW_HOME); i++) {
		const char *gap = strstr(BELOW_HOME[i], "%s");
		OWNED(str) struct str text = { 0 }, path = { 0 };
		struct err none = { 0 };

		str_add_bytes(&text, BELOW_HOME[i], (size_t)(gap - BELOW_HOME[i]));
		str_addf(&text, "%s%s", name, gap + 2);
		if (paths_absolute(NULL, str_text(&text), &path, &none) == 0)
			json_item(json, str_text(&path));
	}
}

static int read_folders(struct config_load *l, const struct config_field *f, const char *name,
                        const cJSON *node, struct str *json)
{
	json_member_array(json, name);
	if (add_folders(l, f, node, json))
		return -1;
	json_array_end(json);
	return 0;
}

static int read_fence(struct config_load *l, const struct config_field *f, struct config_agent *a,
                      const cJSON *node)
{
	OWNED(str) struct str json = { 0 };
	const cJSON *item, *write = NULL, *read = NULL, *network = NULL;

	if (!toml_is(node, TOML_TABLE))
		return fence_unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (strcmp(item->string, "write") == 0)
			write = item;
		else if (strcmp(item->string, "read") == 0)
			read = item;
		else if (strcmp(item->string, "network") == 0)
			network = item;
		else
			return config_read_wrong(l, toml_line(item), f->name,
			                         "has no '%.64s'; write %s", item->string,
			                         f->rule->allowed);
	}
	if (network && !toml_is(network, TOML_BOOLEAN))
		return fence_unfit(l, f, network);
	json_object(&json);
	json_member_bool(&json, "network", !network || cJSON_IsTrue(toml_value(network)));
	if (write && read_folders(l, f, "write", write, &json))
		return -1;
	if (!write) {
		json_member_array(&json, "write");
		add_usual_folders(a->name, &json);
		json_array_end(&json);
	}
	if (read && read_folders(l, f, "read", read, &json))
		return -1;
	json_object_end(&json);
	free(a->fence);
	a->fence = str_take(&json);
	return 0;
}

/* A list replaces that of the built-in profile. */
static void forget(const struct config_field *f, void *place)
{
	if (f->kind == KIND_TEXTS)
		texts_clear(place);
}

static int read_key(struct config_load *l, struct config_agent *a, const cJSON *node)
{
	const struct config_field *f = find_key(node->string);
	void *place;

	if (!f) {
		warn_key(l, node);
		return 0;
	}
	if (strcmp(node->string, "env") == 0)
		return read_env(l, f, a, node);
	if (strcmp(node->string, "asking") == 0)
		return read_asking(l, f, a, node);
	if (strcmp(node->string, "fence") == 0)
		return read_fence(l, f, a, node);
	place = (char *)a + f->at;
	if (strcmp(node->string, "command") == 0)
		a->package = NULL;
	forget(f, place);
	return config_read_value(l, f, place, node);
}

/* The name in a table, with its line. 0 or -1. */
static int read_name(struct config_load *l, const cJSON *table, char **ret_name)
{
	const struct config_field *f = find_key("name");
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(toml_value(table), "name");
	const struct config_agents *all = &l->c->agents;

	if (!node)
		return config_read_wrong(l, toml_line(table), f->name, "is missing; write %s",
		                         f->rule->allowed);
	if (config_read_value(l, f, ret_name, node))
		return -1;
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->items[i].name, *ret_name) == 0)
			return config_read_wrong(l, toml_line(node), f->name,
			                         "'%.64s' is there twice, first in line %d; give "
			                         "each agent its own name",
			                         *ret_name, all->items[i].line);
	return 0;
}

static int read_agent(struct config_load *l, const cJSON *table)
{
	OWNED(char_ptr) char *name = NULL;
	const struct config_field *command = find_key("command");
	struct config_agent *a;
	const cJSON *node;

	if (read_name(l, table, &name))
		return -1;
	a = config_agent_add(&l->c->agents, name);
	a->line = toml_line(table);
	cJSON_ArrayForEach (node, toml_value(table)) {
		if (read_key(l, a, node))
			return -1;
	}
	if (!a->command)
		return config_read_wrong(l, a->line, command->name, "is missing; write %s",
		                         command->rule->allowed);
	return 0;
}

int config_read_agents(struct config_load *l, const struct config_field *f, const cJSON *node)
{
	const cJSON *item;

	if (!toml_is(node, TOML_ARRAY))
		return config_read_unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		if (!toml_is(item, TOML_TABLE))
			return config_read_unfit(l, f, item);
		if (read_agent(l, item))
			return -1;
	}
	return 0;
}
