#include "gate_switch.h"

#include "err.h"
#include "gate_hooks.h"
#include "json.h"
#include "json_edit.h"
#include "textfile.h"
#include "toml_edit.h"

#include <stdbool.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20, PLACE_MAX = 3, WORDS_BYTES = 200 };

/* What a file says that keeps hooks from running. */
enum says {
	SAYS_TRUE, /* the member is there, and neither false nor null */
	SAYS_FALSE, /* the member is false */
	SAYS_NAMES, /* the member is a list that is not empty */
	SAYS_LOADS, /* the member has variables that load code into every program, so into our hook
	             */
	SAYS_ASSIGNS, /* the same, in lines NAME=value */
};

struct gate_switch {
	const char *host, *file;
	enum says says;
	const char *place[PLACE_MAX]; /* member names from the root; the rest NULL */
};

#define CLAUDE_FILE(host, file)                                                                    \
	{                                                                                          \
		host, file, SAYS_TRUE,                                                             \
		{                                                                                  \
			"disableAllHooks"                                                          \
		}                                                                                  \
	}

/* Not here, because it was seen not to matter: variables that Qwen Code takes from .env, and what
 * opencode.json says of plugins. What stands in one file of a host stands together: it is read
 * once. */
static const struct gate_switch SWITCHES[] = {
	CLAUDE_FILE("claude", ".claude/settings.json"),
	{ "claude", ".claude/settings.json", SAYS_LOADS, { "env" } },
	CLAUDE_FILE("claude", ".claude/settings.local.json"),
	{ "claude", ".claude/settings.local.json", SAYS_LOADS, { "env" } },
	{ "codex", ".codex/config.toml", SAYS_FALSE, { "features", "hooks" } },
	{ "codex", ".codex/config.toml", SAYS_FALSE, { "features", "codex_hooks" } },
	{ "gemini", ".gemini/settings.json", SAYS_FALSE, { "hooksConfig", "enabled" } },
	{ "gemini", ".gemini/settings.json", SAYS_NAMES, { "hooksConfig", "disabled" } },
	{ "gemini", ".gemini/.env", SAYS_ASSIGNS, { NULL } },
	{ "gemini", ".env", SAYS_ASSIGNS, { NULL } },
	CLAUDE_FILE("copilot", ".github/copilot/settings.json"),
	CLAUDE_FILE("copilot", ".github/copilot/settings.local.json"),
	CLAUDE_FILE("copilot", ".claude/settings.json"),
	CLAUDE_FILE("copilot", ".claude/settings.local.json"),
	CLAUDE_FILE("qwen", ".qwen/settings.json"),
};

/* ---- the file ---- */

/* As textfile_look: a host reads no other files either. */
static int read_file(const char *root, const char *name, struct str *out)
{
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/%s", root, name);
	return textfile_look(str_text(&path), FILE_BYTES_MAX, out);
}

static cJSON *parse(const struct gate_switch *s, const struct str *text)
{
	const char *end = strrchr(s->file, '.');
	cJSON *root = NULL;

	if (strcmp(end, ".toml") == 0)
		return toml_edit_parse(text, s->file, NULL);
	if (json_edit_parse(text, s->file, &root, NULL) < 0)
		return NULL; /* the host cannot read it either */
	return root;
}

/* ---- what it says ---- */

static bool loads(const char *variable)
{
	return strncmp(variable, "LD_", 3) == 0;
}

/* The first variable that loads code, of an object of them. */
static const char *find_member(const cJSON *variables)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, variables)
		if (one->string && loads(one->string))
			return one->string;
	return NULL;
}

/* The first line that assigns such a variable. */
static const char *find_line(const char *text)
{
	static const char EXPORT[] = "export ";

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *name = at + strspn(at, " \t");

		if (strncmp(name, EXPORT, strlen(EXPORT)) == 0)
			name += strlen(EXPORT) + strspn(name + strlen(EXPORT), " \t");
		if (loads(name))
			return name;
	}
	return NULL;
}

/* Whether a list of hooks that do not run has one of ours: a host calls it by its command. */
static bool names_ours(const char *host, const cJSON *list)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, list)
		if (cJSON_IsString(one) && gate_hooks_are_ours(host, one->valuestring))
			return true;
	return false;
}

static bool fits(const struct gate_switch *s, const cJSON *item, bool own)
{
	switch (s->says) {
	case SAYS_TRUE:
		return item && !cJSON_IsFalse(item) && !cJSON_IsNull(item);
	case SAYS_FALSE:
		return cJSON_IsFalse(item);
	case SAYS_NAMES:
		return own ? names_ours(s->host, item) : cJSON_GetArraySize(item) > 0;
	case SAYS_LOADS:
		return find_member(item) != NULL;
	case SAYS_ASSIGNS:
		break;
	}
	return false;
}

/* The file with this member and nothing else. */
static void add_proof(const struct gate_switch *s, const cJSON *item, struct str *out)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_CreateObject();
	cJSON *at = root;

	if (s->says == SAYS_LOADS)
		return;
	if (strstr(s->file, ".toml")) {
		str_addf(out, "[%s]\n%s = false\n", s->place[0], s->place[1]);
		return;
	}
	for (int i = 0; i < PLACE_MAX && s->place[i]; i++) {
		bool is_last = i + 1 == PLACE_MAX || !s->place[i + 1];
		cJSON *next = is_last ? cJSON_Duplicate(item, 1) : cJSON_CreateObject();

		(void)cJSON_AddItemToObject(at, s->place[i], next);
		at = next;
	}
	json_add(out, root);
	str_add_char(out, '\n');
}

static void add_words(const struct gate_switch *s, const cJSON *item, struct str *out)
{
	if (s->says == SAYS_LOADS) {
		str_addf(out, "env has %s", find_member(item));
		return;
	}
	for (int i = 0; i < PLACE_MAX && s->place[i]; i++)
		str_addf(out, "%s%s", i ? "." : "", s->place[i]);
	str_add(out, s->says == SAYS_FALSE   ? " is false"
	             : s->says == SAYS_NAMES ? " is not empty"
	                                     : " is set");
}

/* Whether the text of the file, or of the user's own settings, keeps hooks from running; if so,
 * found says how. */
static bool judge(const struct gate_switch *s, const struct str *text, bool own,
                  struct gate_switch_found *found)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	const char *const place[] = { s->place[0], s->place[1], s->place[2], NULL };
	const cJSON *item;
	const char *line;

	if (s->says == SAYS_ASSIGNS) {
		line = find_line(str_text(text));
		if (line)
			str_add_shown(&found->what, line, strcspn(line, " =\r\n"), WORDS_BYTES);
		return line != NULL;
	}
	root = parse(s, text);
	item = root ? json_edit_find(root, place) : NULL;
	if (!fits(s, item, own))
		return false;
	add_words(s, item, &found->what);
	add_proof(s, item, &found->proof);
	return true;
}

void gate_switch_look(const char *host, const char *root,
                      void (*each)(void *arg, const struct gate_switch_found *found), void *arg)
{
	OWNED(str) struct str text = { 0 };
	const char *file = "";
	int got = 0;

	for (size_t i = 0; i < COUNT(SWITCHES); i++) {
		const struct gate_switch *s = &SWITCHES[i];
		struct gate_switch_found found = { .host = s->host, .file = s->file };

		if (strcmp(s->host, host) != 0)
			continue;
		if (strcmp(s->file, file) != 0) {
			str_reset(&text);
			got = read_file(root, s->file, &text);
			file = s->file;
		}
		if (got < 0)
			str_add(&found.what, "is too large to be looked at");
		if (got < 0 || (got > 0 && judge(s, &text, false, &found)))
			each(arg, &found);
		str_clear(&found.what);
		str_clear(&found.proof);
	}
}

/* What a host's files of a project say, its user's own say in the same words: the first of them
 * that fits is enough. */
void gate_switch_look_own(const char *host,
                          void (*each)(void *arg, const struct gate_switch_found *found), void *arg)
{
	OWNED(str) struct str path = { 0 }, text = { 0 };
	struct gate_switch_found found = { .host = host };
	bool is_off = false;

	if (!gate_hooks_settings(host, &path) ||
	    textfile_look(str_text(&path), FILE_BYTES_MAX, &text) <= 0)
		return;
	found.file = str_text(&path);
	for (size_t i = 0; i < COUNT(SWITCHES) && !is_off; i++) {
		const struct gate_switch *s = &SWITCHES[i];

		is_off = strcmp(s->host, host) == 0 && s->says != SAYS_LOADS &&
		         s->says != SAYS_ASSIGNS && judge(s, &text, true, &found);
	}
	if (is_off)
		each(arg, &found);
	str_clear(&found.what);
	str_clear(&found.proof);
}
