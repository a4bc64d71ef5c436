/* config: one table, FIELDS, describes every setting. Reading, checking, defaults, the rows of
 * table `setting` and the sample file all come from it. A new setting is a member of struct config
 * and a row here. */
#include "config.h"

#include "log.h"
#include "paths.h"
#include "toml.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	FOUND_BYTES_MAX = 60, /* of a wrong value, in a message */
	KEY_BYTES_MAX = 64, /* of an unknown key that is compared with the known ones */
	TYPO_DISTANCE_MAX = 3, /* edits between an unknown key and the one that is suggested */
	SECONDS_MAX = 315360000, /* ten years: deadlines stay within four-digit years */
};

enum kind { BOOLEAN, NUMBER, TEXT, CHOICE, TEXTS, NUMBERS, MAP, WORKSPACES };

/* What a text must be beyond being a text. */
struct rule {
	bool (*fits)(const char *text);
	const char *allowed; /* behind "write " */
};

struct field {
	const char *name; /* as in the file and in table `setting` */
	enum kind kind;
	bool required; /* in a file */
	size_t at; /* in struct config */
	const char *preset; /* the default, "" for empty lists and tables */
	int64_t low, high; /* NUMBER, NUMBERS */
	const char *const *choices; /* CHOICE: in the order of the enum, NULL-terminated */
	const struct rule *rule; /* TEXT, TEXTS and the values of MAP */
	size_t flag; /* in struct config_source, plus one; 0: none */
	const char *flag_name;
	const char *env;
	const char *example; /* in the sample, instead of the default */
	const char *comment; /* in the sample, and in the message when a required one is missing */
};

struct load {
	struct config *c;
	struct err *e;
	int lines[CONFIG_FIELDS_MAX]; /* where a field stood in the file, 0 if it did not */
};

static bool not_empty(const char *text)
{
	return *text != '\0';
}

static bool slack_channel(const char *text)
{
	static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	return (text[0] == 'C' || text[0] == 'G') && text[1] &&
	       strspn(text, ALLOWED) == strlen(text);
}

static bool workspace_id(const char *text)
{
	static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                              "0123456789_-";

	return *text && strspn(text, ALLOWED) == strlen(text);
}

/* An alias is one word of a Slack command. */
static bool one_word(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7F)
			return false;
	return true;
}

static const struct rule NOT_EMPTY = { not_empty, "a text that is not empty" };
static const struct rule IPC_NAME = { paths_name_fits,
	                              "1 to 64 characters of A-Z a-z 0-9 . _ -, not '.' or '..'" };
static const struct rule CHANNEL = { slack_channel,
	                             "a channel id: C or G, then letters A-Z and digits" };
static const struct rule WORKSPACE_ID = { workspace_id, "letters, digits, '-' and '_'" };
static const struct rule ALIAS = { one_word, "one word without blanks" };

static const char *const QUESTIONS[] = {
	[QUESTIONS_THREAD] = "thread",
	[QUESTIONS_CHANNEL] = "channel",
	NULL,
};
static const char *const LOG_FORMATS[] = {
	[LOG_FORMAT_TEXT] = "text",
	[LOG_FORMAT_JSON] = "json",
	NULL,
};
static const char *const LOG_LEVELS[] = {
	[LOG_LEVEL_DEBUG] = "debug",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_ERROR] = "error",
	NULL,
};

#define AT(member) .at = offsetof(struct config, member)
#define FLAG(member, text) .flag = offsetof(struct config_source, member) + 1, .flag_name = (text)
#define RANGE(least, most) .low = (least), .high = (most)

/* In the order of the sample file: fields of one table stand together. */
static const struct field FIELDS[] = {
	{ "default_workspace_root", TEXT, AT(default_workspace_root), .preset = "",
	  .rule = &NOT_EMPTY, FLAG(workspace, "--workspace"), .required = true,
	  .example = "/home/me/my-project",
	  .comment = "the folder in which the first agent works" },
	{ "host_cli", TEXT, AT(host_cli), .preset = "", .rule = &NOT_EMPTY, .required = true,
	  .example = "claude", .comment = "the program that is started as an agent" },
	{ "host_cli_args", TEXTS, AT(host_cli_args), .preset = "",
	  .comment = "arguments of host_cli, before the prompt" },
	{ "max_concurrent_sessions", NUMBER, AT(max_concurrent_sessions), .preset = "3",
	  RANGE(1, 1000), .comment = "sessions that are started from Slack or ctl at one time" },
	{ "http_port", NUMBER, AT(http_port), .preset = "3000", RANGE(0, 65535),
	  .comment = "port on 127.0.0.1 for MCP over HTTP; 0 takes any free one" },
	{ "ipc_name", TEXT, AT(ipc_name), .preset = "agent-intercom", .rule = &IPC_NAME,
	  .comment = "the name under which agent-intercom-ctl --ipc-name finds this system" },
	{ "retention_days", NUMBER, AT(retention_days), .preset = "30", RANGE(1, 36500),
	  .comment = "days after the end of a session until its rows are deleted" },
	{ "audit_retention_days", NUMBER, AT(audit_retention_days), .preset = "365",
	  RANGE(1, 36500), .comment = "days until what happened is deleted from the timeline" },
	{ "retention_export_dir", TEXT, AT(retention_export_dir), .preset = "", .rule = &NOT_EMPTY,
	  .example = "/home/me/intercom-archive",
	  .comment =
	      "an existing folder: the timeline and what undo needs go there before deletion" },
	{ "undo_limit_bytes", NUMBER, AT(undo_limit_bytes), .preset = "10485760",
	  RANGE(0, 1024 * 1024 * 1024),
	  .comment = "what a write replaces is kept for undo if it is no more than this" },
	{ "command_timeout_seconds", NUMBER, AT(command_timeout_seconds), .preset = "60",
	  RANGE(1, 86400), .comment = "a command of [commands] is killed after this time" },
	{ "command_output_limit_bytes", NUMBER, AT(command_output_limit_bytes), .preset = "65536",
	  RANGE(256, 64 * 1024 * 1024), .comment = "output of a command beyond this is cut off" },

	{ "database.path", TEXT, AT(database.path), .preset = "data/agent-rc.db",
	  .rule = &NOT_EMPTY, FLAG(database, "--db"),
	  .comment = "the SQLite file, relative to the folder of this config file" },

	{ "apply.fuzz_lines", NUMBER, AT(apply.fuzz_lines), .preset = "0", RANGE(0, 2),
	  .comment = "lines of context at each end of a hunk that need not be as the diff says" },
	{ "apply.keep_attributes", BOOLEAN, AT(apply.keep_attributes), .preset = "true",
	  .comment =
	      "whether extended attributes (access lists too) go with a file that is written" },

	{ "slack.channel_id", TEXT, AT(slack.channel_id), .preset = "", .rule = &CHANNEL,
	  .example = "C0123456789",
	  .comment = "where sessions are posted; needed for Slack (tokens never stand here)" },
	{ "slack.questions", CHOICE, AT(slack.questions), .preset = "thread", .choices = QUESTIONS,
	  .comment = "whether a question stands in its session's thread or in the channel" },
	{ "slack.reconnect_backoff_max_seconds", NUMBER, AT(slack.reconnect_backoff_max_seconds),
	  .preset = "300", RANGE(1, 86400),
	  .comment = "longest pause between two attempts to reach Slack" },

	{ "timeouts.approval_seconds", NUMBER, AT(timeouts.approval_seconds), .preset = "3600",
	  RANGE(1, SECONDS_MAX), .comment = "an approval that nobody answers expires" },
	{ "timeouts.prompt_seconds", NUMBER, AT(timeouts.prompt_seconds), .preset = "1800",
	  RANGE(1, SECONDS_MAX), .comment = "a prompt that nobody answers continues" },
	{ "timeouts.continuation_seconds", NUMBER, AT(timeouts.continuation_seconds), .preset = "0",
	  RANGE(0, SECONDS_MAX),
	  .comment = "the same for prompts of type continuation; 0 is prompt_seconds" },
	{ "timeouts.clarification_seconds", NUMBER, AT(timeouts.clarification_seconds),
	  .preset = "0", RANGE(0, SECONDS_MAX), .comment = "... of type clarification" },
	{ "timeouts.error_recovery_seconds", NUMBER, AT(timeouts.error_recovery_seconds),
	  .preset = "0", RANGE(0, SECONDS_MAX), .comment = "... of type error_recovery" },
	{ "timeouts.resource_warning_seconds", NUMBER, AT(timeouts.resource_warning_seconds),
	  .preset = "0", RANGE(0, SECONDS_MAX), .comment = "... of type resource_warning" },
	{ "timeouts.wait_seconds", NUMBER, AT(timeouts.wait_seconds), .preset = "0",
	  RANGE(0, SECONDS_MAX),
	  .comment = "how long an agent stands by for instructions; 0 is without end" },

	{ "stall.enabled", BOOLEAN, AT(stall.enabled), .preset = "true",
	  .comment = "whether silent agents are noticed" },
	{ "stall.inactivity_threshold_seconds", NUMBER, AT(stall.inactivity_threshold_seconds),
	  .preset = "300", RANGE(1, SECONDS_MAX), .comment = "silence until the alert" },
	{ "stall.escalation_threshold_seconds", NUMBER, AT(stall.escalation_threshold_seconds),
	  .preset = "120", RANGE(1, SECONDS_MAX),
	  .comment = "time from the alert to a nudge, and between nudges" },
	{ "stall.max_retries", NUMBER, AT(stall.max_retries), .preset = "3", RANGE(0, 1000),
	  .comment = "nudges until the operator is called" },
	{ "stall.default_nudge_message", TEXT, AT(stall.default_nudge_message),
	  .preset = "Continue working on the current task. Pick up where you left off.",
	  .rule = &NOT_EMPTY, .comment = "what a nudge tells the agent" },

	{ "acp.max_sessions", NUMBER, AT(acp.max_sessions), .preset = "5", RANGE(1, 1000),
	  .comment = "agents driven over ACP at one time" },
	{ "acp.startup_timeout_seconds", NUMBER, AT(acp.startup_timeout_seconds), .preset = "30",
	  RANGE(1, 3600), .comment = "an agent that has not said hello by then is stopped" },
	{ "acp.max_msg_rate", NUMBER, AT(acp.max_msg_rate), .preset = "10", RANGE(1, 100000),
	  .comment = "messages of one agent per second" },
	{ "acp.http_port", NUMBER, AT(acp.http_port), .preset = "3001", RANGE(0, 65535),
	  .comment = "port on 127.0.0.1 for agents driven over ACP; 0 takes any free one" },

	{ "mcp.wait_cap", NUMBER, AT(mcp.wait_cap), .preset = "240", RANGE(1, SECONDS_MAX),
	  .comment = "seconds until a waiting tool call returns \"pending\"" },
	{ "mcp.elicitation", BOOLEAN, AT(mcp.elicitation), .preset = "false",
	  .comment = "whether the agent's own program may show questions and answer them" },
	{ "mcp.allow_uids", NUMBERS, AT(mcp.allow_uids), .preset = "", RANGE(0, UINT32_MAX - 1),
	  .comment = "other users of this machine who may connect" },

	{ "ipc.require_token", BOOLEAN, AT(ipc.require_token), .preset = "false",
	  .comment = "whether programs on ipc.sock must say the token in ipc.token" },

	{ "policy.require_global_allowlist", BOOLEAN, AT(policy.require_global_allowlist),
	  .preset = "false",
	  .comment = "whether a workspace may approve only commands of [commands] by itself" },

	{ "log.format", CHOICE, AT(log.format), .preset = "text", .choices = LOG_FORMATS,
	  FLAG(log_format, "--log-format"), .comment = "how log lines are written" },
	{ "log.level", CHOICE, AT(log.level), .preset = "info", .choices = LOG_LEVELS,
	  .env = "INTERCOM_LOG", .comment = "the least that is logged; $INTERCOM_LOG goes first" },

	{ "commands", MAP, AT(commands), .preset = "", .rule = &NOT_EMPTY,
	  .comment = "commands that may be run from Slack: alias = \"shell command\"" },
	{ "workspace", WORKSPACES, AT(workspaces), .preset = "",
	  .comment = "workspaces with a Slack channel of their own; path is optional" },
};

_Static_assert(COUNT(FIELDS) <= CONFIG_FIELDS_MAX, "struct config.from is too short");

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
__attribute__((format(printf, 4, 5))) static int wrong(struct load *l, int line, const char *name,
                                                       const char *format, ...)
{
	OWNED(str) struct str place = STR_INIT;
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

static void texts_add(struct config_texts *texts, char *item)
{
	texts->items = xrealloc(texts->items, (texts->count + 1) * sizeof(*texts->items));
	texts->items[texts->count++] = item;
}

__attribute__((format(printf, 3, 4))) static void warn(struct load *l, int line, const char *format,
                                                       ...)
{
	OWNED(str) struct str text = STR_INIT;
	char *why = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&why, format, args) < 0)
		why = NULL;
	va_end(args);
	str_addf(&text, "config: %s:", l->c->file);
	if (line > 0)
		str_addf(&text, "%d:", line);
	str_addf(&text, " %s", why ? why : "");
	free(why);
	texts_add(&l->c->warnings, str_take(&text));
}

/* Appends text, cut to FOUND_BYTES_MAX at a character's end. */
static void add_cut(struct str *out, const char *text)
{
	size_t length = strlen(text);

	if (length <= FOUND_BYTES_MAX) {
		str_add(out, text);
		return;
	}
	length = FOUND_BYTES_MAX;
	while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
		length--;
	str_add_bytes(out, text, length);
	str_add(out, "...");
}

/* Appends JSON of a value, for settings and messages. */
static void add_json(struct str *out, const cJSON *json, bool cut)
{
	char *text = cJSON_PrintUnformatted(json);

	if (text && cut)
		add_cut(out, text);
	else if (text)
		str_add(out, text);
	cJSON_free(text);
}

/* Appends what a node is: `the text "abc"`, `the integer 7`, `a table`. */
static void add_found(struct str *out, const cJSON *node)
{
	if (toml_is(node, TOML_TABLE) || toml_is(node, TOML_ARRAY)) {
		str_addf(out, "%s %s", toml_is(node, TOML_ARRAY) ? "an" : "a", toml_type(node));
		return;
	}
	str_addf(out, "the %s ", toml_type(node));
	add_json(out, toml_value(node), true);
}

static void add_choices(struct str *out, const struct field *f)
{
	for (size_t i = 0; f->choices[i]; i++)
		str_addf(out, "%s\"%s\"", i ? " or " : "", f->choices[i]);
}

/* Appends what one value of the field has to be. */
static void add_expected(struct str *out, const struct field *f)
{
	switch (f->kind) {
	case BOOLEAN:
		str_add(out, "true or false");
		break;
	case NUMBER:
		str_addf(out, "an integer from %" PRId64 " to %" PRId64, f->low, f->high);
		break;
	case TEXT:
		str_add(out, f->rule ? f->rule->allowed : "a text");
		break;
	case CHOICE:
		add_choices(out, f);
		break;
	case TEXTS:
		str_add(out, "a list of texts, such as [\"--stdio\"]");
		break;
	case NUMBERS:
		str_addf(out, "a list of integers from %" PRId64 " to %" PRId64, f->low, f->high);
		break;
	case MAP:
		str_add(out, "a table of texts, such as status = \"git status\"");
		break;
	case WORKSPACES:
		str_add(out, "tables that begin with [[workspace]]");
		break;
	}
}

static int unfit(struct load *l, const struct field *f, const cJSON *node)
{
	OWNED(str) struct str found = STR_INIT;
	OWNED(str) struct str expected = STR_INIT;

	add_found(&found, node);
	add_expected(&expected, f);
	return wrong(l, toml_line(node), f->name, "is %s; write %s", str_text(&found),
	             str_text(&expected));
}

/* ---- values ---- */

static void *place_of(const struct field *f, struct config *c)
{
	return (char *)c + f->at;
}

static const void *value_of(const struct field *f, const struct config *c)
{
	return (const char *)c + f->at;
}

static void replace(char **text, const char *value)
{
	char *copy = xstrdup(value);

	free(*text);
	*text = copy;
}

static int choice_of(const struct field *f, const char *text)
{
	for (int i = 0; f->choices[i]; i++)
		if (strcmp(f->choices[i], text) == 0)
			return i;
	return -1;
}

/* Sets a scalar from text: a default, a flag or a variable. false: the text does not fit. Lists
 * and tables have no such text, their default is empty. */
static bool set_from_text(const struct field *f, const char *text, struct config *c)
{
	int choice;

	switch (f->kind) {
	case BOOLEAN:
		*(bool *)place_of(f, c) = strcmp(text, "true") == 0;
		return true;
	case NUMBER:
		*(int64_t *)place_of(f, c) = strtoll(text, NULL, 10);
		return true;
	case TEXT:
		replace(place_of(f, c), text);
		return true;
	case CHOICE:
		choice = choice_of(f, text);
		*(int *)place_of(f, c) = choice;
		return choice >= 0;
	case TEXTS:
	case NUMBERS:
	case MAP:
	case WORKSPACES:
		break;
	}
	return true;
}

/* The text of a node that is one and follows the rule, else NULL. */
static const char *fitting(const cJSON *node, const struct rule *rule)
{
	const char *text;

	if (!toml_is(node, TOML_TEXT))
		return NULL;
	text = toml_value(node)->valuestring;
	return !rule || rule->fits(text) ? text : NULL;
}

static int read_texts(struct load *l, const struct field *f, const cJSON *node)
{
	struct config_texts *texts = place_of(f, l->c);
	const cJSON *item;

	if (!toml_is(node, TOML_ARRAY))
		return unfit(l, f, node);
	cJSON_ArrayForEach (item, toml_value(node)) {
		const char *text = fitting(item, f->rule);

		if (!text)
			return unfit(l, f, item);
		texts_add(texts, xstrdup(text));
	}
	return 0;
}

static int read_numbers(struct load *l, const struct field *f, const cJSON *node)
{
	struct config_numbers *numbers = place_of(f, l->c);
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

static int read_pair(struct load *l, const struct field *f, const cJSON *node)
{
	struct config_map *map = place_of(f, l->c);
	const char *text = fitting(node, f->rule);
	OWNED(str) struct str name = STR_INIT;
	OWNED(str) struct str found = STR_INIT;

	str_addf(&name, "%s.", f->name);
	add_cut(&name, node->string);
	if (!ALIAS.fits(node->string))
		return wrong(l, toml_line(node), f->name, "the name '%s' does not fit; write %s",
		             str_text(&name) + strlen(f->name) + 1, ALIAS.allowed);
	add_found(&found, node);
	if (!text)
		return wrong(l, toml_line(node), str_text(&name), "is %s; write %s",
		             str_text(&found), f->rule->allowed);
	map->items = xrealloc(map->items, (map->count + 1) * sizeof(*map->items));
	map->items[map->count++] =
	    (struct config_pair){ .name = xstrdup(node->string), .value = xstrdup(text) };
	return 0;
}

static int read_map(struct load *l, const struct field *f, const cJSON *node)
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

static const char *leaf(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
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
	size_t allowed = least(TYPO_DISTANCE_MAX, strlen(leaf(unknown)) / 3);

	best->distance = SIZE_MAX;
	for (size_t i = 0; i < COUNT(FIELDS); i++) {
		const char *known = FIELDS[i].name;
		const char *dot = strchr(known, '.');

		consider(best, unknown, known, strlen(known));
		if (dot)
			consider(best, unknown, known, (size_t)(dot - known));
	}
	if (best->distance <= allowed)
		return true;
	for (size_t i = 0; i < COUNT(FIELDS); i++)
		if (strcmp(leaf(unknown), leaf(FIELDS[i].name)) == 0) {
			(void)snprintf(best->name, sizeof(best->name), "%s", FIELDS[i].name);
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

static void warn_unknown(struct load *l, int line, const char *name)
{
	OWNED(str) struct str shown = STR_INIT;
	const char *advice = moved(name);
	struct guess guess;

	add_cut(&shown, name);
	if (advice)
		warn(l, line, "unknown key '%s'; %s", str_text(&shown), advice);
	else if (nearest(name, &guess) && strcmp(guess.name, name) != 0)
		warn(l, line, "unknown key '%s'; did you mean '%s'?", str_text(&shown), guess.name);
	else
		warn(l, line, "unknown key '%s'; it is ignored", str_text(&shown));
}

static void warn_unknown_in_workspace(struct load *l, const cJSON *node)
{
	struct guess guess = { .distance = SIZE_MAX };
	OWNED(str) struct str shown = STR_INIT;

	add_cut(&shown, node->string);
	for (size_t i = 0; i < COUNT(WORKSPACE_KEYS); i++)
		consider(&guess, node->string, WORKSPACE_KEYS[i], strlen(WORKSPACE_KEYS[i]));
	if (guess.distance <= least(TYPO_DISTANCE_MAX, strlen(node->string) / 3))
		warn(l, toml_line(node), "unknown key 'workspace.%s'; did you mean 'workspace.%s'?",
		     str_text(&shown), guess.name);
	else
		warn(l, toml_line(node), "unknown key 'workspace.%s'; it is ignored",
		     str_text(&shown));
}

/* ---- workspaces ---- */

static int read_member(struct load *l, const cJSON *table, const char *key, const struct rule *rule,
                       char **out)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(toml_value(table), key);
	OWNED(str) struct str found = STR_INIT;
	char name[KEY_BYTES_MAX];
	const char *text;

	if (!node)
		return 0;
	(void)snprintf(name, sizeof(name), "workspace.%s", key);
	text = fitting(node, rule);
	add_found(&found, node);
	if (!text)
		return wrong(l, toml_line(node), name, "is %s; write %s", str_text(&found),
		             rule->allowed);
	if (*out)
		return wrong(l, toml_line(node), name, "stands beside id; write one of the two");
	*out = xstrdup(text);
	return 0;
}

static int check_workspace(struct load *l, int line, const struct config_workspace *w)
{
	const struct config_workspaces *all = &l->c->workspaces;

	if (!w->id)
		return wrong(l, line, "workspace.id", "is missing; write %s", WORKSPACE_ID.allowed);
	if (!w->channel_id)
		return wrong(l, line, "workspace.channel_id", "is missing; write %s",
		             CHANNEL.allowed);
	for (size_t i = 0; i < all->count; i++)
		if (&all->items[i] != w && strcmp(all->items[i].id, w->id) == 0)
			return wrong(l, line, "workspace.id",
			             "'%.64s' is there twice; give each workspace its own id",
			             w->id);
	return 0;
}

static bool is_dir(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static char *config_dir(const struct config *c)
{
	const char *slash = strrchr(c->file, '/');
	OWNED(str) struct str dir = STR_INIT;

	if (slash)
		str_add_bytes(&dir, c->file, (size_t)(slash - c->file));
	return str_take(&dir);
}

/* Makes the path of a workspace absolute. One that is not there (a disk not mounted) is no reason
 * to stay away: it is told. */
static int settle_workspace_path(struct load *l, int line, struct config_workspace *w)
{
	OWNED(char_ptr) char *dir = config_dir(l->c);
	OWNED(char_ptr) char *real = NULL;
	OWNED(str) struct str path = STR_INIT;
	struct err why = ERR_INIT;

	if (!w->path) {
		w->path = xstrdup("");
		return 0;
	}
	if (paths_absolute(dir, w->path, &path, &why))
		return wrong(l, line, "workspace.path", "%s", why.text);
	real = realpath(str_text(&path), NULL);
	if (!real || !is_dir(real))
		warn(l, line, "workspace.path: %s is no directory now", str_text(&path));
	replace(&w->path, real ? real : str_text(&path));
	return 0;
}

static bool is_workspace_key(const char *key)
{
	for (size_t i = 0; i < COUNT(WORKSPACE_KEYS); i++)
		if (strcmp(WORKSPACE_KEYS[i], key) == 0)
			return true;
	return false;
}

static int read_workspace(struct load *l, const struct field *f, const cJSON *node)
{
	struct config_workspaces *all = place_of(f, l->c);
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
	if (read_member(l, node, "id", &WORKSPACE_ID, &w->id) ||
	    read_member(l, node, "workspace_id", &WORKSPACE_ID, &w->id) ||
	    read_member(l, node, "channel_id", &CHANNEL, &w->channel_id) ||
	    read_member(l, node, "path", &NOT_EMPTY, &w->path) ||
	    check_workspace(l, toml_line(node), w))
		return -1;
	return settle_workspace_path(l, toml_line(node), w);
}

static int read_workspaces(struct load *l, const struct field *f, const cJSON *node)
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

static int read_scalar(struct load *l, const struct field *f, const cJSON *node)
{
	const char *text;
	int64_t number;

	if (f->kind == BOOLEAN) {
		if (!toml_is(node, TOML_BOOLEAN))
			return unfit(l, f, node);
		*(bool *)place_of(f, l->c) = cJSON_IsTrue(toml_value(node));
		return 0;
	}
	if (f->kind == NUMBER) {
		if (!toml_int(node, &number) || number < f->low || number > f->high)
			return unfit(l, f, node);
		*(int64_t *)place_of(f, l->c) = number;
		return 0;
	}
	text = fitting(node, f->rule);
	if (!text || (f->kind == CHOICE && choice_of(f, text) < 0))
		return unfit(l, f, node);
	(void)set_from_text(f, text, l->c);
	return 0;
}

static int read_field(struct load *l, const struct field *f, const cJSON *node)
{
	l->c->from[f - FIELDS] = CONFIG_FILE;
	l->lines[f - FIELDS] = toml_line(node);
	switch (f->kind) {
	case TEXTS:
		return read_texts(l, f, node);
	case NUMBERS:
		return read_numbers(l, f, node);
	case MAP:
		return read_map(l, f, node);
	case WORKSPACES:
		return read_workspaces(l, f, node);
	case BOOLEAN:
	case NUMBER:
	case TEXT:
	case CHOICE:
		break;
	}
	return read_scalar(l, f, node);
}

static const struct field *find_field(const char *name)
{
	for (size_t i = 0; i < COUNT(FIELDS); i++)
		if (strcmp(FIELDS[i].name, name) == 0)
			return &FIELDS[i];
	return NULL;
}

static bool is_section(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < COUNT(FIELDS); i++)
		if (strncmp(FIELDS[i].name, name, length) == 0 && FIELDS[i].name[length] == '.')
			return true;
	return false;
}

static int read_table(struct load *l, const char *prefix, const cJSON *table);

static int read_key(struct load *l, const char *prefix, const cJSON *node)
{
	OWNED(str) struct str name = STR_INIT;
	OWNED(str) struct str inner = STR_INIT;
	OWNED(str) struct str found = STR_INIT;
	const struct field *f;

	str_addf(&name, "%s%s", prefix, node->string);
	f = find_field(str_text(&name));
	if (f && !strchr(node->string, '.')) /* "a.b" in quotes is another key than a.b */
		return read_field(l, f, node);
	if (!is_section(str_text(&name))) {
		warn_unknown(l, toml_line(node), str_text(&name));
		return 0;
	}
	add_found(&found, node);
	if (!toml_is(node, TOML_TABLE))
		return wrong(l, toml_line(node), str_text(&name), "is %s; write a table, [%s]",
		             str_text(&found), str_text(&name));
	str_addf(&inner, "%s.", str_text(&name));
	return read_table(l, str_text(&inner), node);
}

static int read_table(struct load *l, const char *prefix, const cJSON *table)
{
	const cJSON *node;

	cJSON_ArrayForEach (node, toml_value(table)) {
		if (read_key(l, prefix, node))
			return -1;
	}
	return 0;
}

static int read_file(struct load *l)
{
	cJSON *root = toml_read(l->c->file, l->e);
	int failed;

	if (!root)
		return err_prefix(l->e, "config");
	failed = read_table(l, "", root);
	cJSON_Delete(root);
	return failed;
}

static int check_required(struct load *l)
{
	for (size_t i = 0; i < COUNT(FIELDS); i++) {
		const struct field *f = &FIELDS[i];

		if (f->required && l->c->from[i] == CONFIG_DEFAULT)
			return wrong(l, 0, f->name, "is missing; set it%s%s: %s",
			             f->flag_name ? " or give " : "",
			             f->flag_name ? f->flag_name : "", f->comment);
	}
	return 0;
}

/* ---- flags, environment, defaults ---- */

static void set_defaults(struct config *c)
{
	for (size_t i = 0; i < COUNT(FIELDS); i++)
		(void)set_from_text(&FIELDS[i], FIELDS[i].preset, c);
}

static int set_outside(struct load *l, const struct field *f, enum config_from from,
                       const char *text, const char *name)
{
	OWNED(str) struct str found = STR_INIT;
	OWNED(str) struct str expected = STR_INIT;

	l->c->from[f - FIELDS] = (unsigned char)from;
	if ((!f->rule || f->rule->fits(text)) && set_from_text(f, text, l->c))
		return 0;
	add_cut(&found, text);
	add_expected(&expected, f);
	return err_set(l->e, ERR_INPUT, "config: %s: is '%s'; write %s", name, str_text(&found),
	               str_text(&expected));
}

/* A flag goes before the environment, which goes before the file. */
static int read_outside(struct load *l, const struct config_source *src)
{
	for (size_t i = 0; i < COUNT(FIELDS); i++) {
		const struct field *f = &FIELDS[i];
		const char *flag = NULL;
		const char *env = f->env ? getenv(f->env) : NULL;
		char name[KEY_BYTES_MAX];

		if (f->flag)
			memcpy(&flag, (const char *)src + f->flag - 1, sizeof(flag));
		if (flag && set_outside(l, f, CONFIG_FLAG, flag, f->flag_name))
			return -1;
		if (flag || !env || !*env)
			continue;
		(void)snprintf(name, sizeof(name), "$%s", f->env);
		if (set_outside(l, f, CONFIG_ENV, env, name))
			return -1;
	}
	return 0;
}

/* ---- paths ---- */

static size_t index_of(const char *name)
{
	const struct field *f = find_field(name);

	return f ? (size_t)(f - FIELDS) : 0;
}

/* An error about a path, with the flag or the place in the file that gave it. */
static int wrong_path(struct load *l, size_t i, const char *path, const char *why,
                      const char *advice)
{
	enum config_from from = l->c->from[i];

	if (from == CONFIG_FILE)
		return wrong(l, l->lines[i], FIELDS[i].name, "%.300s: %s; %s", path, why, advice);
	return err_set(l->e, ERR_INPUT, "config: %s: %.300s: %s; %s",
	               from == CONFIG_FLAG ? FIELDS[i].flag_name : FIELDS[i].name, path, why,
	               advice);
}

/* Replaces *path by its absolute form: a flag's is relative to the working directory, a file's to
 * the file's directory. */
static int settle_path(struct load *l, size_t i, char **path)
{
	OWNED(char_ptr) char *dir = config_dir(l->c);
	OWNED(str) struct str absolute = STR_INIT;
	struct err why = ERR_INIT;
	bool here = l->c->from[i] == CONFIG_FLAG || !l->c->file[0];

	if (paths_absolute(here ? NULL : dir, *path, &absolute, &why))
		return wrong_path(l, i, *path, why.text, "write an absolute path");
	replace(path, str_text(&absolute));
	return 0;
}

static int settle_workspace(struct load *l)
{
	size_t i = index_of("default_workspace_root");
	char **path = &l->c->default_workspace_root;
	OWNED(char_ptr) char *real = NULL;

	if (!**path)
		replace(path, ".");
	if (settle_path(l, i, path))
		return -1;
	real = realpath(*path, NULL);
	if (!real)
		return wrong_path(l, i, *path, strerror(errno), "name an existing directory");
	if (!is_dir(real))
		return wrong_path(l, i, *path, "is not a directory", "name an existing directory");
	replace(path, real);
	return 0;
}

static int settle_database(struct load *l)
{
	size_t i = index_of("database.path");
	OWNED(str) struct str path = STR_INIT;

	if (l->c->file[0] || l->c->from[i] != CONFIG_DEFAULT)
		return settle_path(l, i, &l->c->database.path);
	if (paths_state_home(&path, l->e))
		return err_prefix(l->e, "config: database.path");
	str_add(&path, "/agent-intercom/intercom.db");
	replace(&l->c->database.path, str_text(&path));
	return 0;
}

static int settle_export_dir(struct load *l)
{
	size_t i = index_of("retention_export_dir");
	char **path = &l->c->retention_export_dir;

	if (!**path)
		return 0;
	if (settle_path(l, i, path))
		return -1;
	if (!is_dir(*path)) /* a disk that is not mounted; nothing is deleted until it is */
		warn(l, l->lines[i], "retention_export_dir: %s is no directory now", *path);
	return 0;
}

/* ---- which file ---- */

/* Sets c->file to the file to read, "" if there is none. */
static int find_file(const struct config_source *src, struct config *c, struct err *e)
{
	OWNED(str) struct str path = STR_INIT;
	const char *env = getenv("INTERCOM_CONFIG");
	struct stat about;

	c->file = xstrdup("");
	if (src->config) {
		if (!*src->config)
			return err_set(e, ERR_INPUT, "config: --config: is empty; name a file");
		if (paths_absolute(NULL, src->config, &path, e))
			return err_prefix(e, "config: --config");
		replace(&c->file, str_text(&path));
		return 0;
	}
	if (env && *env) {
		if (*env != '/')
			return err_set(
			    e, ERR_INPUT,
			    "config: $INTERCOM_CONFIG: '%.200s' is relative to the working "
			    "directory, where an agent can write; write an absolute path",
			    env);
		replace(&c->file, env);
		return 0;
	}
	if (paths_config_home(&path, e))
		return err_prefix(e, "config");
	str_add(&path, "/agent-intercom/config.toml");
	if (stat(str_text(&path), &about) == 0 || (errno != ENOENT && errno != ENOTDIR))
		replace(&c->file, str_text(&path));
	return 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t length = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return true;
	return strncmp(path, dir, length) == 0 && path[length] == '/';
}

/* Tells of a file that somebody else than the operator may change: it names commands to run. */
static void check_trust(struct load *l)
{
	OWNED(char_ptr) char *real = realpath(l->c->file, NULL);
	struct stat about;

	if (!real || stat(real, &about) != 0)
		return;
	if (about.st_mode & (S_IWGRP | S_IWOTH))
		warn(l, 0, "other users can write to it; run chmod go-w on it");
	if (is_below(real, l->c->default_workspace_root))
		warn(l, 0, "lies in the workspace %s, where an agent can change it; move it",
		     l->c->default_workspace_root);
}

int config_load(const struct config_source *src, struct config *out, struct err *e)
{
	OWNED(config) struct config c = CONFIG_INIT;
	struct load l = { .c = &c, .e = e };

	set_defaults(&c);
	if (find_file(src, &c, e))
		return -1;
	if (c.file[0] && read_file(&l))
		return -1;
	if (read_outside(&l, src) || (c.file[0] && check_required(&l)) || settle_workspace(&l) ||
	    settle_database(&l) || settle_export_dir(&l))
		return -1;
	if (c.file[0])
		check_trust(&l);
	*out = c;
	c = (struct config)CONFIG_INIT;
	return 0;
}

/* ---- clearing ---- */

static void texts_clear(struct config_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
}

static void map_clear(struct config_map *map)
{
	for (size_t i = 0; i < map->count; i++) {
		free(map->items[i].name);
		free(map->items[i].value);
	}
	free(map->items);
}

static void workspaces_clear(struct config_workspaces *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->items[i].id);
		free(all->items[i].channel_id);
		free(all->items[i].path);
	}
	free(all->items);
}

static void field_clear(const struct field *f, struct config *c)
{
	switch (f->kind) {
	case TEXT:
		free(*(char **)place_of(f, c));
		break;
	case TEXTS:
		texts_clear(place_of(f, c));
		break;
	case NUMBERS:
		free(((struct config_numbers *)place_of(f, c))->items);
		break;
	case MAP:
		map_clear(place_of(f, c));
		break;
	case WORKSPACES:
		workspaces_clear(place_of(f, c));
		break;
	case BOOLEAN:
	case NUMBER:
	case CHOICE:
		break;
	}
}

void config_clear(struct config *c)
{
	for (size_t i = 0; i < COUNT(FIELDS); i++)
		field_clear(&FIELDS[i], c);
	texts_clear(&c->warnings);
	free(c->file);
	*c = (struct config)CONFIG_INIT;
}

/* ---- settings ---- */

static void add_list(struct str *out, cJSON *json)
{
	add_json(out, json, false);
	cJSON_Delete(json);
}

static cJSON *texts_json(const struct config_texts *texts)
{
	cJSON *json = cJSON_CreateArray();

	for (size_t i = 0; i < texts->count; i++)
		(void)cJSON_AddItemToArray(json, cJSON_CreateString(texts->items[i]));
	return json;
}

static cJSON *numbers_json(const struct config_numbers *numbers)
{
	cJSON *json = cJSON_CreateArray();

	for (size_t i = 0; i < numbers->count; i++)
		(void)cJSON_AddItemToArray(json, cJSON_CreateNumber((double)numbers->items[i]));
	return json;
}

static cJSON *map_json(const struct config_map *map)
{
	cJSON *json = cJSON_CreateObject();

	for (size_t i = 0; i < map->count; i++)
		(void)cJSON_AddStringToObject(json, map->items[i].name, map->items[i].value);
	return json;
}

static cJSON *workspaces_json(const struct config_workspaces *all)
{
	cJSON *json = cJSON_CreateArray();

	for (size_t i = 0; i < all->count; i++) {
		cJSON *one = cJSON_CreateObject();

		(void)cJSON_AddStringToObject(one, "id", all->items[i].id);
		(void)cJSON_AddStringToObject(one, "channel_id", all->items[i].channel_id);
		(void)cJSON_AddStringToObject(one, "path", all->items[i].path);
		(void)cJSON_AddItemToArray(json, one);
	}
	return json;
}

static void add_value(struct str *out, const struct field *f, const struct config *c)
{
	const void *value = value_of(f, c);

	switch (f->kind) {
	case BOOLEAN:
		str_add(out, *(const bool *)value ? "true" : "false");
		break;
	case NUMBER:
		str_addf(out, "%" PRId64, *(const int64_t *)value);
		break;
	case TEXT:
		str_add(out, *(char *const *)value);
		break;
	case CHOICE:
		str_add(out, f->choices[*(const int *)value]);
		break;
	case TEXTS:
		add_list(out, texts_json(value));
		break;
	case NUMBERS:
		add_list(out, numbers_json(value));
		break;
	case MAP:
		add_list(out, map_json(value));
		break;
	case WORKSPACES:
		add_list(out, workspaces_json(value));
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
	OWNED(str) struct str value = STR_INIT;

	for (size_t i = 0; i < COUNT(FIELDS); i++) {
		str_reset(&value);
		add_value(&value, &FIELDS[i], c);
		each(FIELDS[i].name, str_text(&value), SOURCES[c->from[i]], arg);
	}
}

/* ---- the sample ---- */

static void add_quoted(struct str *out, const char *text)
{
	cJSON *json = cJSON_CreateString(text); /* a JSON text is a TOML text as well */

	add_list(out, json);
}

static void add_sample_value(struct str *out, const struct field *f)
{
	const char *text = f->example ? f->example : f->preset;

	switch (f->kind) {
	case TEXT:
	case CHOICE:
		add_quoted(out, text);
		break;
	case TEXTS:
	case NUMBERS:
		str_add(out, "[]");
		break;
	case BOOLEAN:
	case NUMBER:
	case MAP:
	case WORKSPACES:
		str_add(out, text);
		break;
	}
}

/* "# comment (an integer from 1 to 9)" */
static void add_sample_comment(struct str *out, const struct field *f)
{
	str_addf(out, "# %s", f->comment);
	if (f->kind == NUMBER || f->kind == CHOICE) {
		str_add(out, " (");
		add_expected(out, f);
		str_add(out, ")");
	}
	str_add_char(out, '\n');
}

static void add_sample_field(struct str *out, const struct field *f)
{
	str_add_char(out, '\n');
	if (f->kind == MAP)
		str_addf(out, "[%s]\n", f->name);
	add_sample_comment(out, f);
	if (f->kind == MAP) {
		str_add(out, "#status = \"git status\"\n");
		return;
	}
	if (f->kind == WORKSPACES) {
		str_addf(out,
		         "#[[%s]]\n#id = \"my-backend\"\n#channel_id = \"C0123456789\"\n"
		         "#path = \"/home/me/my-backend\"\n",
		         f->name);
		return;
	}
	str_addf(out, "%s%s = ", f->required ? "" : "#", leaf(f->name));
	add_sample_value(out, f);
	str_add_char(out, '\n');
}

void config_sample(struct str *out)
{
	size_t section = 0; /* the length of the table's name we are in */
	const char *last = "";

	str_add(out, "# agent-intercom: ~/.config/agent-intercom/config.toml\n"
	             "# A line that begins with # and a name shows an example or the default.\n");
	for (size_t i = 0; i < COUNT(FIELDS); i++) {
		const char *name = FIELDS[i].name;
		size_t length = strcspn(name, ".");

		if (!name[length])
			length = 0;
		if (length && (length != section || strncmp(name, last, length) != 0))
			str_addf(out, "\n[%.*s]\n", (int)length, name);
		section = length;
		last = name;
		add_sample_field(out, &FIELDS[i]);
	}
}
