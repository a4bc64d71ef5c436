/* Shows settings: the rows of table `setting`, and the sample file. */
#include "config_agent.h"
#include "json_writer.h"

#include <inttypes.h>
#include <string.h>

/* ---- settings ---- */

void config_add_texts(struct str *out, const struct texts *texts)
{
	json_array(out);
	for (size_t i = 0; i < texts->count; i++)
		json_item(out, texts->items[i]);
	json_array_end(out);
}

static void add_numbers(struct str *out, const struct config_numbers *numbers)
{
	json_array(out);
	for (size_t i = 0; i < numbers->count; i++)
		str_addf(out, "%s%" PRId64, i ? "," : "", numbers->items[i]);
	json_array_end(out);
}

void config_add_map(struct str *out, const struct config_map *map)
{
	json_object(out);
	for (size_t i = 0; i < map->count; i++)
		json_member(out, map->items[i].name, map->items[i].value);
	json_object_end(out);
}

static void add_workspaces(struct str *out, const struct config_workspaces *all)
{
	json_array(out);
	for (size_t i = 0; i < all->count; i++) {
		const struct config_workspace *w = &all->items[i];

		json_object(out);
		json_member(out, "id", w->id);
		json_member(out, "channel_id", w->channel_id ? w->channel_id : "");
		json_member(out, "path", w->path);
		json_object_end(out);
	}
	json_array_end(out);
}

static void add_value(struct str *out, const struct config_field *f, const struct config *c)
{
	const void *value = config_field_value(f, c);

	switch (f->kind) {
	case KIND_BOOLEAN:
		str_add(out, *(const bool *)value ? "true" : "false");
		break;
	case KIND_NUMBER:
		str_addf(out, "%" PRId64, *(const int64_t *)value);
		break;
	case KIND_TEXT:
		str_add(out, *(char *const *)value);
		break;
	case KIND_CHOICE:
		str_add(out, f->choices[*(const int *)value]);
		break;
	case KIND_TEXTS:
		config_add_texts(out, value);
		break;
	case KIND_NUMBERS:
		add_numbers(out, value);
		break;
	case KIND_MAP:
		config_add_map(out, value);
		break;
	case KIND_WORKSPACES:
		add_workspaces(out, value);
		break;
	case KIND_AGENTS: /* rows of their own */
		break;
	}
}

void config_settings(const struct config *c,
                     void (*each)(const char *name, const char *value, const char *source,
                                  void *arg),
                     void *arg)
{
	static const char *const SOURCES[] = {
		[CONFIG_DEFAULT] = "default",
		[CONFIG_FILE] = "file",
		[CONFIG_FLAG] = "flag",
		[CONFIG_ENV] = "env",
	};
	OWNED(str) struct str value = { 0 };

	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++) {
		if (CONFIG_FIELDS[i].kind == KIND_AGENTS)
			continue;
		str_reset(&value);
		add_value(&value, &CONFIG_FIELDS[i], c);
		each(CONFIG_FIELDS[i].name, str_text(&value), SOURCES[c->from[i]], arg);
	}
}

/* ---- the sample ---- */

static void add_sample_value(struct str *out, const struct config_field *f)
{
	const char *text = f->example ? f->example : f->preset;

	switch (f->kind) {
	case KIND_TEXT:
	case KIND_CHOICE:
		json_quote(out, text); /* JSON text is also TOML text */
		break;
	case KIND_TEXTS:
	case KIND_NUMBERS:
		str_add(out, "[]");
		break;
	case KIND_BOOLEAN:
	case KIND_NUMBER:
	case KIND_MAP:
	case KIND_WORKSPACES:
	case KIND_AGENTS:
		str_add(out, text);
		break;
	}
}

/* "# comment (an integer from 1 to 9)" */
static void add_sample_comment(struct str *out, const struct config_field *f)
{
	str_addf(out, "# %s", f->comment);
	if (f->kind == KIND_NUMBER || f->kind == KIND_CHOICE) {
		str_add(out, " (");
		config_field_add_expected(out, f);
		str_add(out, ")");
	}
	str_add_char(out, '\n');
}

/* Each key with its meaning after an example; together the examples are a profile. */
static void add_sample_agent(struct str *out, const char *name)
{
	str_addf(out, "#[[%s]]\n", name);
	for (size_t i = 0; i < CONFIG_AGENT_KEY_COUNT; i++)
		str_addf(out, "#%s = %s # %s\n", config_field_leaf(CONFIG_AGENT_KEYS[i].name),
		         CONFIG_AGENT_KEYS[i].example, CONFIG_AGENT_KEYS[i].comment);
}

static void add_sample_field(struct str *out, const struct config_field *f)
{
	str_add_char(out, '\n');
	if (f->kind == KIND_MAP)
		str_addf(out, "[%s]\n", f->name);
	add_sample_comment(out, f);
	if (f->kind == KIND_MAP) {
		str_add(out, "#status = \"git status\"\n");
		return;
	}
	if (f->kind == KIND_WORKSPACES) {
		str_addf(out,
		         "#[[%s]]\n#id = \"my-backend\"\n#channel_id = \"C0123456789\"\n"
		         "#path = \"/home/me/my-backend\"\n",
		         f->name);
		return;
	}
	if (f->kind == KIND_AGENTS) {
		add_sample_agent(out, f->name);
		return;
	}
	str_addf(out, "#%s = ", config_field_leaf(f->name));
	add_sample_value(out, f);
	str_add_char(out, '\n');
}

void config_sample(struct str *out)
{
	size_t section = 0; /* the length of the current table's name */
	const char *last = "";

	str_add(out, "# agent-intercom: ~/.config/agent-intercom/config.toml\n"
	             "# A line that begins with # and a name shows an example or the default.\n");
	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++) {
		const char *name = CONFIG_FIELDS[i].name;
		size_t length = strcspn(name, ".");

		if (!name[length])
			length = 0;
		if (length && (length != section || strncmp(name, last, length) != 0))
			str_addf(out, "\n[%.*s]\n", (int)length, name);
		section = length;
		last = name;
		add_sample_field(out, &CONFIG_FIELDS[i]);
	}
}
