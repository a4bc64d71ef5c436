#include "gate_switch.h"

#include "err.h"
#include "gate_hooks.h"
#include "json.h"
#include "json_edit.h"
#include "path.h"
#include "textfile.h"
#include "texts.h"
#include "toml_edit.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20, PLACE_MAX = 3, WORDS_BYTES = 200 };

/* ---- variables ---- */

/* Heeded where: */
enum {
	IN_PROJECTS = 1 << 0,
	OF_USERS = 1 << 1, /* in the user's own settings, and in the environment */
};

#define YES "1 true yes on"

struct variable {
	const char *host;
	const char *name; /* a pattern */
	const char *values; /* words with which it counts; NULL: whatever it is */
	unsigned where;
	bool for_all; /* also those of all users do not run */
	bool is_tried; /* a canary heeds it, too */
};

/* LD_*: code that is loaded into every program, so into our hook; a user may want that. Qwen Code
 * takes no such variable. */
static const struct variable VARIABLES[] = {
	{ "claude", "LD_*", NULL, IN_PROJECTS, .for_all = true },
	{ "claude", "CLAUDE_CODE_SAFE_MODE", YES, OF_USERS, .is_tried = true },
	{ "claude", "CLAUDE_CODE_SIMPLE", YES, OF_USERS, .is_tried = true },
	{ "gemini", "LD_*", NULL, IN_PROJECTS, .for_all = true },
	{ "gemini", "GEMINI_CLI_TRUST_WORKSPACE", "false", IN_PROJECTS | OF_USERS,
	  .for_all = true },
	{ "gemini", "GEMINI_RESTRICTED_MODE", "true", IN_PROJECTS | OF_USERS, .for_all = true },
	{ "qwen", "QWEN_CODE_SAFE_MODE", YES, IN_PROJECTS | OF_USERS, .for_all = true,
	  .is_tried = true },
	{ "qwen", "QWEN_CODE_SIMPLE", YES, IN_PROJECTS | OF_USERS, .for_all = true,
	  .is_tried = true },
};

static bool has_value(const char *values, const char *value)
{
	OWNED(str) struct str lower = { 0 };

	for (const char *at = value; *at; at++)
		if (!isspace((unsigned char)*at))
			str_add_char(&lower, (char)tolower((unsigned char)*at));
	return texts_has_word(values, str_text(&lower));
}

/* The row of a variable that keeps the host's hooks from running; NULL: it does not. */
static const struct variable *find_variable(const char *host, unsigned where, const char *name,
                                            const char *value)
{
	for (size_t i = 0; i < COUNT(VARIABLES); i++) {
		const struct variable *v = &VARIABLES[i];

		if (strcmp(v->host, host) == 0 && (v->where & where) &&
		    fnmatch(v->name, name, 0) == 0 && (!v->values || has_value(v->values, value)))
			return v;
	}
	return NULL;
}

/* ---- files ---- */

/* What a file says that keeps hooks from running. */
enum says {
	SAYS_TRUE, /* the member is there, and neither false nor null */
	SAYS_FALSE, /* the member is false */
	SAYS_NAMES, /* the member is a list that is not empty */
	SAYS_SETS, /* the member has a variable of those above */
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

/* Not here, because it was seen not to matter: what opencode.json says of plugins. What stands in
 * one file of a host stands together: it is read once. */
static const struct gate_switch SWITCHES[] = {
	CLAUDE_FILE("claude", ".claude/settings.json"),
	{ "claude", ".claude/settings.json", SAYS_SETS, { "env" } },
	CLAUDE_FILE("claude", ".claude/settings.local.json"),
	{ "claude", ".claude/settings.local.json", SAYS_SETS, { "env" } },
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
	{ "qwen", ".qwen/settings.json", SAYS_SETS, { "env" } },
	{ "qwen", ".qwen/.env", SAYS_ASSIGNS, { NULL } },
	{ "qwen", ".env", SAYS_ASSIGNS, { NULL } },
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

/* The value of a member of "env", as text. */
static void add_value(const cJSON *value, struct str *out)
{
	if (cJSON_IsString(value))
		str_add(out, value->valuestring);
	else
		json_add(out, value);
}

/* Tells of a variable that was found. */
static void found_variable(const struct variable *v, const char *name, const char *value,
                           struct gate_switch_found *found)
{
	str_add_shown(&found->what, name, strlen(name), WORDS_BYTES);
	if (v->values) {
		str_add_char(&found->what, '=');
		str_add_shown(&found->what, value, strlen(value), WORDS_BYTES);
	}
	if (v->is_tried)
		str_addf(&found->proof, "%s=%s\n", name, value);
	found->for_all = v->for_all;
}

/* The first variable of an object of them that counts. */
static bool judge_members(const struct gate_switch *s, unsigned where, const cJSON *variables,
                          struct gate_switch_found *found)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, variables) {
		OWNED(str) struct str value = { 0 };
		const struct variable *v;

		add_value(one, &value);
		v = one->string ? find_variable(s->host, where, one->string, str_text(&value))
		                : NULL;
		if (!v)
			continue;
		str_add(&found->what, "env has ");
		found_variable(v, one->string, str_text(&value), found);
		if (v->is_tried) {
			str_reset(&found->proof);
			str_addf(&found->proof, "{\"%s\":{\"%s\":", s->place[0], one->string);
			json_add(&found->proof, one);
			str_add(&found->proof, "}}\n");
		}
		return true;
	}
	return false;
}

/* The value of a line NAME=value from its sign on: what is in quotes, or what is before a comment.
 */
static void add_assigned(const char *at, size_t length, struct str *out)
{
	const char *end = at + length;

	while (at < end && (isblank((unsigned char)*at) || *at == '=' || *at == ':'))
		at++;
	if (at < end && strchr("'\"`", *at)) {
		const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));

		at++;
		end = close ? close : end;
	} else if (at < end) {
		const char *remark = memchr(at, '#', (size_t)(end - at));

		end = remark ? remark : end;
		while (end > at && isspace((unsigned char)end[-1]))
			end--;
	}
	str_add_bytes(out, at, (size_t)(end - at));
}

/* The first line that assigns such a variable. */
static bool judge_lines(const struct gate_switch *s, unsigned where, const char *text,
                        struct gate_switch_found *found)
{
	static const char EXPORT[] = "export ";

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		OWNED(str) struct str name = { 0 }, value = { 0 };
		const char *from = at + strspn(at, " \t");
		const struct variable *v;
		size_t length;

		if (strncmp(from, EXPORT, strlen(EXPORT)) == 0)
			from += strlen(EXPORT) + strspn(from + strlen(EXPORT), " \t");
		length = strcspn(from, " \t=:\r\n");
		str_add_bytes(&name, from, length);
		add_assigned(from + length, strcspn(from + length, "\n"), &value);
		v = find_variable(s->host, where, str_text(&name), str_text(&value));
		if (v) {
			found_variable(v, str_text(&name), str_text(&value), found);
			return true;
		}
	}
	return false;
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
	case SAYS_SETS:
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

static void add_words(const struct gate_switch *s, struct str *out)
{
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
	const unsigned where = own ? OF_USERS : IN_PROJECTS;
	const cJSON *item;

	if (s->says == SAYS_ASSIGNS)
		return judge_lines(s, where, str_text(text), found);
	root = parse(s, text);
	item = root ? json_edit_find(root, place) : NULL;
	if (s->says == SAYS_SETS)
		return judge_members(s, where, item, found);
	if (!fits(s, item, own))
		return false;
	add_words(s, &found->what);
	add_proof(s, item, &found->proof);
	return true;
}

static void found_clear(struct gate_switch_found *found)
{
	str_clear(&found->what);
	str_clear(&found->proof);
	found->for_all = false;
}

/* ---- folders that Gemini CLI does not trust ---- */

/* Whether a rule is about a folder, whose real path this is. */
static bool is_about(const cJSON *rule, const char *path)
{
	OWNED(char_ptr) char *of = xstrdup(rule->string);
	char real[PATH_MAX], *slash = strrchr(of, '/');

	if (slash && slash > of && strcmp(rule->valuestring, "TRUST_PARENT") == 0)
		*slash = '\0';
	return path_is_within(path, realpath(of, real) ? real : of);
}

/* What the longest rule about it says. */
static bool is_distrusted(const cJSON *rules, const char *path)
{
	const cJSON *rule, *longest = NULL;

	cJSON_ArrayForEach (rule, rules)
		if (rule->string && cJSON_IsString(rule) && is_about(rule, path) &&
		    (!longest || strlen(rule->string) > strlen(longest->string)))
			longest = rule;
	return longest && strcmp(longest->valuestring, "DO_NOT_TRUST") == 0;
}

static cJSON *read_own(const char *name)
{
	OWNED(str) struct str text = { 0 };
	const char *home = getenv("HOME");
	cJSON *root = NULL;

	if (home && read_file(home, name, &text) > 0)
		(void)json_edit_parse(&text, name, &root, NULL);
	return root;
}

/* Its hooks, its users' own and those of all of them, do not run in a folder that is not trusted.
 */
static void look_at_trust(const char *root,
                          void (*each)(void *arg, const struct gate_switch_found *found), void *arg)
{
	static const char *const ENABLED[] = { "security", "folderTrust", "enabled", NULL };
	OWNED(cJSON_ptr) cJSON *rules = read_own(".gemini/trustedFolders.json");
	OWNED(cJSON_ptr) cJSON *settings = read_own(".gemini/settings.json");
	struct gate_switch_found found = { .host = "gemini", .file = "", .for_all = true };
	char real[PATH_MAX];

	if (!rules || (settings && cJSON_IsFalse(json_edit_find(settings, ENABLED))) ||
	    !realpath(root, real) || !is_distrusted(rules, real))
		return;
	str_add(&found.what, "Gemini CLI does not trust this folder (/permissions in gemini)");
	each(arg, &found);
	found_clear(&found);
}

/* ---- looking ---- */

/* Looks at the same file of each folder above, but for the home: hosts take the nearest one. */
static void look_above(const struct gate_switch *s, const char *root,
                       void (*each)(void *arg, const struct gate_switch_found *found), void *arg)
{
	OWNED(str) struct str file = { 0 };
	const char *home = getenv("HOME");
	char folder[PATH_MAX], *slash;

	str_add(&file, s->file);
	if (!realpath(root, folder))
		return;
	while ((slash = strrchr(folder, '/')) != NULL && slash[1]) {
		OWNED(str) struct str text = { 0 }, up = { 0 };
		struct gate_switch_found found = { .host = s->host, .tried_as = s->file };

		*slash = '\0';
		str_addf(&up, "../%s", str_text(&file));
		str_move(&file, &up);
		found.file = str_text(&file);
		if (home && strcmp(folder, home) == 0)
			continue;
		if (read_file(folder, s->file, &text) > 0 && judge(s, &text, false, &found))
			each(arg, &found);
		found_clear(&found);
	}
}

void gate_switch_look(const char *host, const char *root,
                      void (*each)(void *arg, const struct gate_switch_found *found), void *arg)
{
	OWNED(str) struct str text = { 0 };
	const char *file = "";
	int got = 0;

	for (size_t i = 0; i < COUNT(SWITCHES); i++) {
		const struct gate_switch *s = &SWITCHES[i];
		struct gate_switch_found found = { .host = s->host,
			                           .file = s->file,
			                           .tried_as = s->file };

		if (strcmp(s->host, host) != 0)
			continue;
		if (strcmp(s->file, file) != 0) {
			str_reset(&text);
			got = read_file(root, s->file, &text);
			file = s->file;
			if (got < 0)
				str_add(&found.what, "is too large to be looked at");
		}
		if (found.what.length || (got > 0 && judge(s, &text, false, &found)))
			each(arg, &found);
		found_clear(&found);
		if (s->says == SAYS_ASSIGNS)
			look_above(s, root, each, arg);
	}
	if (strcmp(host, "gemini") == 0)
		look_at_trust(root, each, arg);
}

/* Appends where the user has what a project has in this file; false: they have none. */
static bool add_own(const struct gate_switch *s, struct str *out)
{
	const char *home = getenv("HOME");

	if (s->says != SAYS_ASSIGNS)
		return gate_hooks_settings(s->host, out);
	if (home)
		str_addf(out, "%s/%s", home, s->file);
	return home != NULL;
}

/* What a host's files of a project say, its user's own say in the same words: of a file, the first
 * of them that fits is enough. */
void gate_switch_look_own(const char *host,
                          void (*each)(void *arg, const struct gate_switch_found *found), void *arg)
{
	OWNED(texts) struct texts told = { 0 };

	for (size_t i = 0; i < COUNT(SWITCHES); i++) {
		const struct gate_switch *s = &SWITCHES[i];
		OWNED(str) struct str path = { 0 }, text = { 0 };
		struct gate_switch_found found = { .host = host };

		if (strcmp(s->host, host) != 0 || !add_own(s, &path) ||
		    texts_has(&told, str_text(&path)) ||
		    textfile_look(str_text(&path), FILE_BYTES_MAX, &text) <= 0)
			continue;
		found.file = str_text(&path);
		if (judge(s, &text, true, &found)) {
			each(arg, &found);
			texts_add(&told, found.file);
		}
		found_clear(&found);
	}
}

bool gate_switch_is_own(const char *host, const char *path)
{
	bool is_one = false;

	for (size_t i = 0; i < COUNT(SWITCHES) && !is_one; i++) {
		OWNED(str) struct str own = { 0 };

		is_one = strcmp(SWITCHES[i].host, host) == 0 && add_own(&SWITCHES[i], &own) &&
		         strcmp(str_text(&own), path) == 0;
	}
	return is_one;
}

void gate_switch_look_environment(const char *host,
                                  void (*each)(void *arg, const struct gate_switch_found *found),
                                  void *arg)
{
	for (size_t i = 0; i < COUNT(VARIABLES); i++) {
		struct gate_switch_found found = { .host = host, .file = "the environment" };
		const char *name = VARIABLES[i].name, *value = getenv(name);
		const struct variable *v =
		    value ? find_variable(host, OF_USERS, name, value) : NULL;

		if (v != &VARIABLES[i])
			continue;
		found_variable(v, name, value, &found);
		each(arg, &found);
		found_clear(&found);
	}
}
