/* agent-intercom-config.toml(5), from the tables that also make `agent-intercom config sample`. */
#include "docgen.h"

#include "config_agent.h"

#include <stdio.h>
#include <string.h>

static void add_sentence(struct str *text, const char *words)
{
	size_t length = strlen(words);

	str_add(text, words);
	if (length && words[length - 1] != '.')
		str_add_char(text, '.');
}

static void add_default(struct str *text, const struct config_field *f)
{
	if (!f->preset)
		return;
	if (!*f->preset) {
		str_add(text, " Not set by default.");
		return;
	}
	str_add(text, " Default: ");
	add_sentence(text, f->preset);
}

static void add_field(struct str *out, const struct config_field *f)
{
	struct str text = { 0 };
	struct str expected = { 0 };

	config_field_add_expected(&expected, f);
	add_sentence(&text, f->comment);
	if (expected.length)
		str_addf(&text, " Takes %s.", str_text(&expected));
	add_default(&text, f);
	if (f->example)
		str_addf(&text, " Example: %s.", f->example);
	if (f->flag_name)
		str_addf(&text, " Flag: %s.", f->flag_name);
	if (f->env)
		str_addf(&text, " Environment: $%s.", f->env);
	man_term(out, config_field_leaf(f->name), "", str_text(&text));
	str_clear(&text);
	str_clear(&expected);
}

static void add_agent_keys(struct str *out)
{
	str_add(out, ".RS\n");
	for (size_t i = 0; i < CONFIG_AGENT_KEY_COUNT; i++)
		add_field(out, &CONFIG_AGENT_KEYS[i]);
	str_add(out, ".RE\n");
}

static void add_title(struct str *out, const struct config_field *f)
{
	bool is_list = f->kind == KIND_AGENTS || f->kind == KIND_WORKSPACES;
	struct str title = { 0 };

	str_addf(&title, is_list ? "[[%.*s]]" : "[%.*s]", (int)strcspn(f->name, "."), f->name);
	man_subsection(out, str_text(&title));
	str_clear(&title);
}

static void add_settings(struct str *out)
{
	char table[64] = "";

	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++) {
		const struct config_field *f = &CONFIG_FIELDS[i];
		size_t length = strcspn(f->name, ".");
		bool is_table = f->name[length] == '.' || f->kind == KIND_MAP ||
		                f->kind == KIND_AGENTS || f->kind == KIND_WORKSPACES;

		if (is_table && strncmp(table, f->name, length) != 0)
			add_title(out, f);
		(void)snprintf(table, sizeof(table), "%.*s", is_table ? (int)length : 0, f->name);
		add_field(out, f);
		if (f->kind == KIND_AGENTS)
			add_agent_keys(out);
	}
}

void page_config(struct str *out)
{
	man_begin(out, "agent-intercom-config.toml", 5, "the settings of agent-intercom");
	man_section(out, "DESCRIPTION");
	man_paragraph(
	    out,
	    "The settings are read at the start from the file of --config, else of "
	    "$INTERCOM_CONFIG, "
	    "else from ~/.config/agent-intercom/config.toml; the file is TOML, and may be missing. "
	    "No file is read from the working directory or a workspace: an agent can write there. "
	    "`agent-intercom config sample` prints all of them as a file.");
	man_section(out, "SETTINGS");
	add_settings(out);
	man_section(out, "SEE ALSO");
	str_add(out, ".BR agent\\-intercom (1),\n.BR agent\\-intercom\\-ctl (1)\n");
}
