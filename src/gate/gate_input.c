#include "gate_input.h"

#include "gate_patch.h"
#include "gate_path.h"
#include "json.h"
#include "texts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The hosts' names of one thing, the first that is there counts. */
static const char *const SESSION[] = { "session_id", "sessionId", "sessionID", "conversation_id",
	                               NULL };
static const char *const AGENT[] = { "agent_id", "agentId", NULL };
static const char *const TRANSCRIPT[] = { "transcript_path", "transcriptPath", NULL };
static const char *const EVENT[] = { "hook_event_name", "hookEventName", "hookName", NULL };
static const char *const TOOL[] = { "tool_name", "toolName", "tool", NULL };
static const char *const TOOL_INPUT[] = { "tool_input", "toolArgs", "toolInput", "args", NULL };
/* Qwen Code has two; its transcript has the first. */
static const char *const TOOL_USE[] = { "tool_call_id", "tool_use_id", "toolUseId", "callID",
	                                NULL };
static const char *const RESPONSE[] = { "tool_response", "toolResult", "tool_output", "result_json",
	                                "tool_result",   "output",     NULL };
/* Where a command runs, or a patch's paths begin, in any host. */
static const char *const FOLDER[] = { "dir_path",          "directory", "workdir",
	                              "working_directory", "cwd",       NULL };
static const char *const MESSAGE[] = { "message", "last_assistant_message", "prompt_response",
	                               "prompt",  "error_details",          NULL };
static const char *const KIND[] = {
	"notification_type", "notificationType", "error",  "source", "reason",
	"stopReason",        "stop_reason",      "status", NULL
};

static const cJSON *member(const cJSON *object, const char *const *names)
{
	for (; *names; names++) {
		const cJSON *found = json_get(object, *names);

		if (found && !cJSON_IsNull(found))
			return found;
	}
	return NULL;
}

static const char *text_of(const cJSON *object, const char *const *names)
{
	const cJSON *found;

	for (; *names; names++) {
		found = json_get(object, *names);
		if (cJSON_IsString(found) && *found->valuestring)
			return found->valuestring;
	}
	return NULL;
}

/* ---- where ---- */

static void read_common(struct gate_input *in)
{
	const cJSON *root = in->root;
	const cJSON *roots = json_get(root, "workspace_roots");
	const cJSON *first = cJSON_GetArrayItem(roots, 0);

	in->session = text_of(root, SESSION);
	in->agent = text_of(root, AGENT);
	in->transcript = text_of(root, TRANSCRIPT);
	in->cwd = json_text(root, "cwd");
	if ((!in->cwd || !*in->cwd) && cJSON_IsString(first))
		in->cwd = first->valuestring;
}

int gate_input_absolute(const struct gate_input *in, const char *path, struct str *out,
                        struct err *e)
{
	const char *dir = in->patch_dir;

	str_reset(out);
	if (*path != '/' && !(dir && *dir == '/')) {
		if (!in->cwd || *in->cwd != '/')
			return err_set(e, ERR_INPUT,
			               "the path %.200s is relative, and %s named no folder", path,
			               in->host->title);
		str_addf(out, "%s/", in->cwd);
	}
	if (*path != '/' && dir)
		str_addf(out, "%s/", dir);
	str_add(out, path);
	return 0;
}

/* ---- a tool and its arguments ---- */

static void add_path(struct gate_input *in, const char *path)
{
	if (!*path)
		return;
	for (size_t i = 0; i < in->path_count; i++)
		if (strcmp(in->paths[i], path) == 0)
			return;
	if (in->path_count == GATE_PATHS_MAX) {
		in->names_more = true;
		return;
	}
	in->paths = xrealloc(in->paths, (in->path_count + 1) * sizeof(*in->paths));
	in->paths[in->path_count++] = xstrdup(path);
}

static void note_doubt(struct gate_input *in, const char *doubt)
{
	if (doubt)
		in->unplaced = doubt;
}

/* Whether the host expands the paths of this tool: of one that writes, its hook is told what became
 * of them. */
static bool is_expanded(const struct gate_input *in)
{
	return in->class == GATE_READ && in->host->expands_paths;
}

/* The text as it is, and what the host makes of it; false: it is not known what that is. */
static bool expand(struct gate_input *in, const char *text, struct str *out)
{
	if (gate_path_needs_home(text) && !(in->home && *in->home == '/')) {
		in->unplaced = "it names a file from \"~\" on, and the home is not known";
		return false;
	}
	return gate_path_expand(in->home, text, out);
}

/* Adds what the host makes of the text, step by step. */
static void add_decoded(struct gate_input *in, const char *text)
{
	OWNED(char_ptr) char *last = xstrdup(text);
	OWNED(str) struct str next = { 0 };

	while (gate_path_decode(last, &next)) {
		add_path(in, next.bytes);
		free(last);
		last = str_take(&next);
	}
}

/* A text that an argument or a patch gives for a path. */
static void take_path(struct gate_input *in, const char *text)
{
	OWNED(str) struct str expanded = { 0 };

	if (*text)
		note_doubt(in, gate_path_doubt(in->host, text, is_expanded(in)));
	if (in->host->splits_paths && in->form == GATE_FORM_SEARCH)
		note_doubt(in, gate_path_doubt_one(text));
	add_path(in, text);
	if (in->host->decodes_paths)
		add_decoded(in, text);
	if (is_expanded(in) && expand(in, text, &expanded))
		add_path(in, expanded.bytes);
}

/* The argument is a path, or a list of them. */
static void add_paths_of(struct gate_input *in, const cJSON *object, const char *key)
{
	const cJSON *value = json_get(object, key);
	const cJSON *item;

	if (cJSON_IsString(value))
		take_path(in, value->valuestring);
	cJSON_ArrayForEach (item, value)
		if (cJSON_IsString(item))
			take_path(in, item->valuestring);
}

static void clear_paths(struct gate_input *in)
{
	for (size_t i = 0; i < in->path_count; i++)
		free(in->paths[i]);
	free(in->paths);
	in->paths = NULL;
	in->path_count = 0;
}

static bool has_lone_cr(const char *text)
{
	for (const char *at = text; (at = strchr(at, '\r')); at++)
		if (at[1] != '\n')
			return true;
	return false;
}

/* Unicode's ends of lines, which a host in JavaScript may take for some. */
static bool has_separator(const char *text)
{
	return strstr(text, "\xE2\x80\xA8") || strstr(text, "\xE2\x80\xA9") ||
	       strstr(text, "\xC2\x85");
}

/* The paths of a patch; none of a patch that cannot be read: then nothing is known of it. */
static void read_patch(struct gate_input *in, const char *text)
{
	struct gate_patch patch = { 0 };

	in->patch = text;
	/* To Copilot, CR alone ends a line too: the name of another file may follow it. */
	if (in->host->dialect != GATE_DIALECT_CODEX && has_lone_cr(text))
		note_doubt(in, "a line of the patch has CR in it, which may end the line");
	if (in->host->dialect != GATE_DIALECT_CODEX && has_separator(text))
		note_doubt(in, "a line of the patch has a line separator in it, which may end it");
	if (gate_patch_parse(text, strlen(text), &patch, NULL) == 0) {
		for (size_t i = 0; i < patch.count; i++) {
			take_path(in, patch.parts[i].path);
			if (patch.parts[i].to)
				take_path(in, patch.parts[i].to);
		}
	}
	gate_patch_clear(&patch);
}

static bool names_parent(const char *folder)
{
	for (const char *at = folder; (at = strstr(at, "..")); at += 2)
		if ((at == folder || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	return false;
}

/* The patch's paths begin in the folder that the host's own argument names, and there in the one
 * that the command changes to. What another host calls so, this one may ignore or obey. */
static void place_patch(struct gate_input *in)
{
	const char *own = in->keys ? in->keys->folder : NULL;
	const char *folder = own ? json_text(in->tool_input, own) : NULL;
	OWNED(str) struct str dir = { 0 };

	if (in->patch_dir)
		note_doubt(in, gate_path_doubt(in->host, in->patch_dir, false));
	for (const char *const *name = FOLDER; *name; name++) {
		const cJSON *value = json_get(in->tool_input, *name);
		const char *text = cJSON_GetStringValue(value);

		if (!value || cJSON_IsNull(value) || (text && !*text))
			continue;
		if (!own || strcmp(*name, own) != 0)
			in->unplaced = "a folder is named by an argument that is not the host's";
		else if (!text)
			in->unplaced = "the folder of the patch is not given as a text";
		else if (names_parent(text)) /* behind a link, that is another folder */
			in->unplaced = "the folder of the patch is named with \"..\"";
		else
			note_doubt(in, gate_path_doubt(in->host, text, false));
	}
	if (!folder || !*folder || (in->patch_dir && in->patch_dir[0] == '/'))
		return;
	str_add(&dir, folder);
	if (in->patch_dir)
		str_addf(&dir, "/%s", in->patch_dir);
	free(in->patch_dir);
	in->patch_dir = str_take(&dir);
}

bool gate_input_escalates(const struct gate_input *in)
{
	const struct gate_tool *known;

	if (!in->host->escalates || in->event != GATE_PERMISSION || in->class == GATE_MCP)
		return false;
	known = gate_host_tool(in->host, in->tool);
	return !known || (known->class != GATE_EDIT && known->class != GATE_READ);
}

const char *gate_input_patch_argument(const struct gate_input *in)
{
	return in->command ? "command" : in->keys->content;
}

static const char WILDCARDS[] = "*?[{(\\";

/* Whether the text has one of the first characters beside one of the second ones. */
static bool has_pair(const char *text, const char *first, const char *second)
{
	for (const char *at = text; at[0] && at[1]; at++)
		if (strchr(first, at[0]) && strchr(second, at[1]))
			return true;
	return false;
}

/* How many folders the rest of a pattern, from its first wildcard on, may lead up, at most. Signs
 * of patterns may stand between two dots that become one "..": {.,x}. or [.][.] or \.. */
static size_t ups_of(const char *rest)
{
	bool joins = has_pair(rest, "{(,|", "}),|.") || has_pair(rest, ".", "}),|");
	size_t dots = 0, ups = 0;

	for (const char *at = rest; *at; at++) {
		if (*at == '.' && ++dots % 2 == 0)
			ups++;
		else if (*at != '.' && !joins && !strchr("[]\\", *at))
			dots = 0;
	}
	return ups;
}

/* Of a pattern for names below a folder: what stands before the first name with a wildcard, else
 * the folder. It may lead out of the folder, and what follows the wildcard may lead up from it. */
static void add_pattern(struct gate_input *in, const char *folder, const char *pattern)
{
	OWNED(str) struct str path = { 0 };
	size_t length = strcspn(pattern, WILDCARDS);
	const char *rest;

	while (pattern[length] && length && pattern[length - 1] != '/')
		length--;
	rest = pattern + length;
	while (length > 1 && pattern[length - 1] == '/')
		length--;
	if (pattern[0] != '/' && (length == 0 || strcmp(folder, ".") != 0))
		str_addf(&path, "%s%s", folder, length ? "/" : "");
	str_add_bytes(&path, pattern, length);
	for (size_t ups = ups_of(rest); ups; ups--)
		str_add(&path, "/..");
	add_path(in, path.bytes);
	if (length == 0 && has_pair(rest, "{(,|", "/"))
		add_path(in, "/");
}

/* Adds what the pattern may name, as it is and as the host reads it. */
static void take_pattern(struct gate_input *in, const char *folder, const char *pattern)
{
	OWNED(str) struct str expanded = { 0 };

	note_doubt(in, gate_path_doubt_pattern(pattern, is_expanded(in)));
	add_pattern(in, folder, pattern);
	if (is_expanded(in) && expand(in, pattern, &expanded))
		add_pattern(in, folder, expanded.bytes);
}

/* Whether it is one pattern that begins with a folder, and so names nothing outside of that. */
static bool begins_with_folder(const cJSON *value)
{
	const char *pattern = cJSON_GetStringValue(value);
	const char *slash = pattern ? memchr(pattern, '/', strcspn(pattern, WILDCARDS)) : NULL;

	return slash && *pattern != '!' && slash[strspn(slash, "/")];
}

/* Adds each text that may be a path. The depth is limited by the parser. */
static void add_texts(struct gate_input *in, const cJSON *value) /* NOLINT(misc-no-recursion) */
{
	const cJSON *item;

	if (cJSON_IsString(value) && strlen(value->valuestring) < PATH_MAX)
		take_path(in, value->valuestring);
	cJSON_ArrayForEach (item, value)
		add_texts(in, item);
}

/* The paths from the given one on were found in the order of the arguments, which says nothing:
 * what is kept of a call has another, and is the same call. */
static void sort_paths(struct gate_input *in, size_t from)
{
	if (in->path_count > from)
		qsort(in->paths + from, in->path_count - from, sizeof(*in->paths), texts_order);
}

/* "Notes (old).txt" is none. */
static bool may_be_pattern(const char *text)
{
	return strpbrk(text, "*?[{\\") || has_pair(text, "@+!", "(") ||
	       (strchr(text, '(') && strchr(text, '|'));
}

/* Adds the texts in which a host that reads by patterns may see one. The depth is limited by the
 * parser. */
static void add_patterns(struct gate_input *in, const cJSON *value) /* NOLINT(misc-no-recursion) */
{
	const cJSON *item;

	if (cJSON_IsString(value) && may_be_pattern(value->valuestring))
		add_pattern(in, ".", value->valuestring);
	cJSON_ArrayForEach (item, value)
		add_patterns(in, item);
}

/* What an argument names that no host has, the host may read as well as ignore; and a path may be a
 * pattern to it. */
static void read_unknown(struct gate_input *in)
{
	const cJSON *one;

	in->known_count = in->path_count;
	for (size_t i = 0; i < in->known_count; i++)
		if (may_be_pattern(in->paths[i]))
			add_pattern(in, ".", in->paths[i]);
	cJSON_ArrayForEach (one, in->tool_input)
		if (!gate_host_reads_by(in->host, in->keys, one->string)) {
			add_texts(in, one);
			add_patterns(in, one);
		}
	sort_paths(in, in->known_count);
}

/* What a tool reads: where the host names no folder for a search, that is where it works. */
static void read_reads(struct gate_input *in)
{
	const char *key = in->keys ? in->keys->pattern : NULL;
	const cJSON *patterns = key ? json_get(in->tool_input, key) : NULL;
	const cJSON *item;
	size_t folders;

	for (const char *const *name = in->host->reads; *name; name++)
		add_paths_of(in, in->tool_input, *name);
	if (in->path_count == 0 && (in->form == GATE_FORM_SEARCH ||
	                            (in->form == GATE_FORM_GLOB && !begins_with_folder(patterns))))
		add_path(in, ".");
	folders = in->path_count;
	for (size_t i = 0; i == 0 || i < folders; i++) {
		const char *folder = folders ? in->paths[i] : ".";

		if (cJSON_GetStringValue(patterns))
			take_pattern(in, folder, cJSON_GetStringValue(patterns));
		cJSON_ArrayForEach (item, patterns)
			if (cJSON_GetStringValue(item))
				take_pattern(in, folder, cJSON_GetStringValue(item));
	}
	read_unknown(in);
}

/* Whether an argument of any host's tools that is called so may name a file. */
static bool may_name_file(const char *argument)
{
	static const char *const PARTS[] = { "path", "file", "folder", "dir", "uri", "target" };

	for (size_t i = 0; i < COUNT(PARTS); i++)
		if (strcasestr(argument, PARTS[i]))
			return true;
	return false;
}

static bool is_text_key(const struct gate_keys *keys, const char *argument)
{
	if (!keys)
		return false;
	const char *const texts[] = { keys->content, keys->old_text, keys->new_text };

	for (size_t i = 0; i < COUNT(texts); i++)
		if (texts[i] && strcmp(texts[i], argument) == 0)
			return true;
	return false;
}

/* Adds what other arguments than the tool's own name. The depth is limited by the parser. */
static void add_others(struct gate_input *in, const cJSON *value) /* NOLINT(misc-no-recursion) */
{
	const cJSON *item;

	cJSON_ArrayForEach (item, value) {
		if (item->string && is_text_key(in->keys, item->string))
			continue;
		if (item->string && may_name_file(item->string))
			add_texts(in, item);
		else
			add_others(in, item);
	}
}

/* Which of two files that a call names the host writes, it alone knows: both count, and a person
 * is asked. */
static void read_others(struct gate_input *in)
{
	size_t own = in->path_count;
	bool is_each = in->form == GATE_FORM_REPLACE_EACH;

	add_others(in, in->tool_input);
	sort_paths(in, own);
	if (in->path_count > own || (is_each && json_text(in->tool_input, in->keys->path)))
		in->unplaced = "more than one of its arguments names a file";
}

/* Of a tool that is not known: what its arguments name, whatever becomes of that. */
static void read_named(struct gate_input *in)
{
	add_others(in, in->tool_input);
	sort_paths(in, 0);
}

/* The files that the tool's own arguments name. */
static void read_own_paths(struct gate_input *in)
{
	const struct gate_keys *keys = in->keys;
	const cJSON *item;

	if (in->form == GATE_FORM_REPLACE_EACH) {
		cJSON_ArrayForEach (item, json_get(in->tool_input, keys->edits))
			add_paths_of(in, item, keys->path);
		return;
	}
	if (keys->path)
		add_paths_of(in, in->tool_input, keys->path);
	/* Copilot asks for permission in other words than before the tool. */
	if (keys->path && in->path_count == 0)
		add_paths_of(in, in->tool_input, "file_path");
}

static void read_paths(struct gate_input *in)
{
	const char *text;

	if (!in->keys)
		return;
	if (in->form == GATE_FORM_PATCH) {
		text = json_text(in->tool_input, in->keys->content);
		if (text) {
			read_patch(in, text);
			place_patch(in);
		}
		return;
	}
	read_own_paths(in);
	if (in->class == GATE_EDIT)
		read_others(in);
}

/* A command; where the host itself takes a patch out of it, it is an edit. */
static void read_command(struct gate_input *in)
{
	const char *folder = in->keys ? in->keys->folder : NULL;

	in->command = json_text(in->tool_input, "command");
	if (folder && json_text(in->tool_input, folder) && *json_text(in->tool_input, folder))
		in->command_dir = json_text(in->tool_input, folder);
	if (in->command_dir)
		in->unplaced = gate_path_doubt(in->host, in->command_dir, false);
	if (!in->command || in->host->dialect != GATE_DIALECT_CODEX)
		return;
	in->hides_patch = strstr(in->command, "*** Begin Patch") != NULL;
	if (!gate_patch_in_command(in->command, &in->patch_text, &in->patch_dir))
		return;
	read_patch(in, in->patch_text);
	if (in->path_count == 0) { /* not a patch after all */
		in->patch = NULL;
		free(in->patch_dir);
		in->patch_dir = NULL;
		return;
	}
	place_patch(in);
	in->hides_patch = false;
	in->command_dir = NULL;
	in->class = GATE_EDIT;
	in->form = GATE_FORM_PATCH;
}

/* A server's name may contain the separator, and the host knows better where it ends: whether what
 * was split into a server of that length and a tool can also be split behind the server that the
 * host names. */
static bool splits_behind(const char *server, size_t length, const char *tool, const char *named)
{
	size_t longer = strlen(named), separator = (size_t)(tool - server) - length;

	return longer > length && strncmp(server, named, longer) == 0 &&
	       strncmp(server + longer, server + length, separator) == 0 &&
	       server[longer + separator];
}

static void read_server(struct gate_input *in)
{
	static const char *const CONTEXTS[] = { "mcp_context", "mcp_server", NULL };
	static const char *const NAMES[] = { "server_name", "name", NULL };
	const cJSON *context = member(in->root, CONTEXTS);
	const char *named = text_of(context, NAMES);
	const char *server, *tool;
	size_t length;
	OWNED(str) struct str name = { 0 };

	if (in->class == GATE_MCP) {
		in->server_tool = xstrdup(in->tool);
	} else if (gate_host_is_mcp(in->host, in->tool, &server, &length, &tool)) {
		if (server && named && splits_behind(server, length, tool, named)) {
			tool += strlen(named) - length;
			length = strlen(named);
		}
		in->class = GATE_MCP;
		in->server_tool = xstrdup(tool);
		if (server) {
			str_add_bytes(&name, server, length);
			in->server = str_take(&name);
		}
	} else if (named && !gate_host_tool(in->host, in->tool)) {
		in->class = GATE_MCP;
		in->server_tool = xstrdup(in->tool);
	}
	if (in->class != GATE_MCP || !named)
		return;
	if (!in->server) {
		in->server = xstrdup(named);
	} else if (strcmp(in->server, named) != 0) { /* the two contradict each other */
		free(in->server);
		in->server = NULL;
	}
}

/* Copilot hands over a patch as it is where its model writes one without JSON around it. */
static cJSON *bare_patch(const struct gate_input *in, const char *text)
{
	static const char BEGIN[] = "*** Begin Patch";
	const struct gate_tool *known = gate_host_tool(in->host, in->tool);
	cJSON *object;

	if (!known || known->form != GATE_FORM_PATCH || strncmp(text, BEGIN, strlen(BEGIN)) != 0)
		return NULL;
	object = cJSON_CreateObject();
	(void)cJSON_AddStringToObject(object, known->keys->content, text);
	return object;
}

static int unpack(struct gate_input *in, struct err *e)
{
	const cJSON *found = member(in->root, TOOL_INPUT);
	const char *twice;

	if (!found) {
		in->tool_input = in->unpacked = cJSON_CreateObject();
		return 0;
	}
	if (cJSON_IsString(found)) {
		char what[120];

		(void)snprintf(what, sizeof(what), "the text of the arguments of %.60s", in->tool);
		in->unpacked = bare_patch(in, found->valuestring);
		if (!in->unpacked)
			in->unpacked = json_read_strictly(found->valuestring,
			                                  strlen(found->valuestring), what, e);
		found = in->unpacked;
		if (!found)
			return -1;
	}
	if (!cJSON_IsObject(found))
		return err_set(e, ERR_INPUT, "the arguments of %.60s are no JSON object", in->tool);
	twice = json_twice(found);
	if (twice)
		return err_set(e, ERR_INPUT, "the arguments of %.60s name '%.60s' twice", in->tool,
		               twice);
	in->tool_input = found;
	return 0;
}

/* Cursor tells of a command in members of its input, and not as a tool, */
static bool is_bare_command(const struct gate_host *host, const char *event)
{
	return host->dialect == GATE_DIALECT_CURSOR && strcmp(event, "beforeShellExecution") == 0;
}

/* and so of the server of a tool. */
static bool is_bare_server(const struct gate_host *host, const char *event)
{
	return host->dialect == GATE_DIALECT_CURSOR && strcmp(event, "beforeMCPExecution") == 0;
}

cJSON *gate_input_json(const struct gate_host *host, const char *event, const char *tool,
                       const char *cwd, const cJSON *tool_input)
{
	bool is_command = is_bare_command(host, event);
	bool is_bare = is_command || is_bare_server(host, event);
	cJSON *root = is_bare ? cJSON_Duplicate(tool_input, true) : cJSON_CreateObject();

	if (cwd)
		(void)cJSON_AddStringToObject(root, "cwd", cwd);
	if (!is_command)
		(void)cJSON_AddStringToObject(root, "tool_name", tool);
	if (!is_bare)
		cJSON_AddItemToObject(root, "tool_input", cJSON_Duplicate(tool_input, true));
	return root;
}

/* What is told of a command, without what is told of every event, and without whether the host
 * confines it, which nothing says of other hosts' commands either. */
static void take_bare_command(struct gate_input *in)
{
	static const char *const OTHERS[] = { "conversation_id", "generation_id",
		                              "session_id",      "model",
		                              "hook_event_name", "cursor_version",
		                              "workspace_roots", "transcript_path",
		                              "user_email",      "cwd",
		                              "sandbox" };

	in->is_bare = true;
	in->unpacked = cJSON_Duplicate(in->root, true);
	for (size_t i = 0; i < COUNT(OTHERS); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(in->unpacked, OTHERS[i]);
	in->tool_input = in->unpacked;
}

/* A server is named by its address, or by the command that starts it, and by nothing else: that
 * belongs to what is called. */
static void take_bare_server(struct gate_input *in)
{
	static const char *const NAMES[] = { "url", "command" };
	cJSON *all = cJSON_CreateObject();

	for (size_t i = 0; i < COUNT(NAMES); i++) {
		const cJSON *value = json_get(in->root, NAMES[i]);

		if (value && !cJSON_IsNull(value))
			cJSON_AddItemToObject(all, NAMES[i], cJSON_Duplicate(value, true));
	}
	cJSON_AddItemToObject(all, "tool_input",
	                      in->unpacked ? in->unpacked : cJSON_Duplicate(in->tool_input, true));
	in->is_bare = true;
	in->class = GATE_MCP;
	in->tool_input = in->unpacked = all;
}

static int read_tool(struct gate_input *in, struct err *e)
{
	const struct gate_tool *known;

	in->tool = text_of(in->root, TOOL);
	if (is_bare_command(in->host, in->event_name))
		in->tool = "Shell";
	if (!in->tool)
		return err_set(e, ERR_INPUT, "the hook's input names no tool");
	in->tool_use_id = text_of(in->root, TOOL_USE);
	if (is_bare_command(in->host, in->event_name))
		take_bare_command(in);
	else if (unpack(in, e))
		return -1;
	if (is_bare_server(in->host, in->event_name))
		take_bare_server(in);
	known = in->class == GATE_MCP ? NULL : gate_host_tool(in->host, in->tool);
	if (known) {
		in->class = known->class;
		in->form = known->form;
		in->keys = known->keys;
	}
	read_server(in);
	if (in->class == GATE_EXECUTE)
		read_command(in);
	else if (in->class == GATE_READ)
		read_reads(in);
	else if (in->class == GATE_OTHER)
		read_named(in);
	else if (in->class != GATE_MCP)
		read_paths(in);
	if (in->names_more) /* what is not looked at is not let through */
		return err_set(e, ERR_INPUT,
		               "%.60s names more than %d files; name fewer in one call", in->tool,
		               (int)GATE_PATHS_MAX);
	return 0;
}

/* ---- the whole ---- */

static void read_message(struct gate_input *in)
{
	const cJSON *error = json_get(in->root, "error");

	in->message = text_of(in->root, MESSAGE);
	in->kind = text_of(in->root, KIND);
	if (cJSON_IsObject(error)) {
		if (!in->message)
			in->message = json_text(error, "message");
		if (!in->message)
			in->message = json_text(json_get(error, "data"), "message");
		if (!in->kind)
			in->kind = json_text(error, "name");
	}
}

/* Gemini CLI has one event for both: there, the result says it. (A command that exits with another
 * status than 0 is no error.) */
static bool has_failed(const struct gate_input *in)
{
	const cJSON *error = json_get(in->response, "error");

	return strstr(in->event_name, "Failure") ||
	       (in->host->dialect == GATE_DIALECT_GEMINI && error && !cJSON_IsNull(error));
}

static bool is_tool_event(enum gate_event event)
{
	return event == GATE_PRE_TOOL || event == GATE_POST_TOOL || event == GATE_PERMISSION;
}

static int read_root(struct gate_input *in, struct err *e)
{
	const struct gate_event_name *event = gate_host_event(in->host, in->event_name);
	const char *named = text_of(in->root, EVENT);

	if (!event)
		return err_set(e, ERR_INPUT, "%s has no hook event '%.60s'", in->host->title,
		               in->event_name);
	if (!cJSON_IsObject(in->root))
		return err_set(e, ERR_INPUT, "the hook's input is no JSON object");
	/* Copilot names the event in some inputs; in all hosts it is spelled as in the settings. */
	if (named && strcmp(named, in->event_name) != 0)
		return err_set(e, ERR_INPUT,
		               "the hook was called for %.60s but its input is of %.60s; run "
		               "agent-intercom install again",
		               in->event_name, named);
	in->event = event->event;
	in->event_name = event->name;
	read_common(in);
	if (!is_tool_event(in->event)) {
		read_message(in);
		return 0;
	}
	in->response = member(in->root, RESPONSE);
	in->failed = has_failed(in);
	return read_tool(in, e);
}

int gate_input_from(const struct gate_host *host, const char *event, const cJSON *root,
                    struct gate_input *in, struct err *e)
{
	*in = (struct gate_input){ .host = host,
		                   .event_name = event,
		                   .root = root,
		                   .owned = in->owned,
		                   .home = in->home };
	if (read_root(in, e)) {
		gate_input_clear(in);
		return -1;
	}
	return 0;
}

int gate_input_read(const struct gate_host *host, const char *event, const char *bytes,
                    size_t length, struct gate_input *in, struct err *e)
{
	if (length > GATE_INPUT_BYTES)
		return err_set(e, ERR_INPUT, "the hook's input is longer than %d bytes",
		               (int)GATE_INPUT_BYTES);
	in->owned = json_read_strictly(bytes, length, "the hook's input", e);
	if (!in->owned)
		return -1;
	return gate_input_from(host, event, in->owned, in, e);
}

void gate_input_clear(struct gate_input *in)
{
	clear_paths(in);
	cJSON_Delete(in->owned);
	cJSON_Delete(in->unpacked);
	free(in->server);
	free(in->server_tool);
	free(in->patch_text);
	free(in->patch_dir);
	*in = (struct gate_input){ 0 };
}
