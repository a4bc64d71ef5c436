#include "inquiry_content.h"

#include "diff.h"
#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "safe_path.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 1000 }; /* of a path that a link leads to */

static void options_clear(struct acp_option *options, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(options[i].id);
		free(options[i].name);
	}
	free(options);
}

void acp_inquiry_clear(struct acp_inquiry *ask)
{
	options_clear(ask->options, ask->option_count);
	for (size_t i = 0; i < ask->field_count; i++) {
		options_clear(ask->fields[i].choices, ask->fields[i].choice_count);
		free(ask->fields[i].name);
		free(ask->fields[i].title);
		free(ask->fields[i].limits);
	}
	free(ask->fields);
	free(ask->id);
	free(ask->session_id);
	free(ask->tool_call_id);
	free(ask->tool_kind);
	free(ask->prompt_type);
	for (size_t i = 0; i < ask->path_count; i++)
		free(ask->paths[i]);
	free(ask->paths);
	free(ask->cwd);
	str_clear(&ask->command);
	str_clear(&ask->input);
	str_clear(&ask->title);
	str_clear(&ask->description);
	str_clear(&ask->notes);
	str_clear(&ask->diff);
	str_clear(&ask->path);
	*ask = (struct acp_inquiry){ 0 };
}

static void add_paragraph(struct str *out, const char *text)
{
	if (!text || !text[0])
		return;
	if (out->length)
		str_add(out, "\n\n");
	str_add(out, text);
}

void acp_inquiry_describe(struct acp_inquiry *ask, const char *text)
{
	add_paragraph(&ask->description, text);
}

void acp_inquiry_note(struct acp_inquiry *ask, const char *text)
{
	add_paragraph(&ask->notes, text);
}

void acp_inquiry_add_quoted(struct str *out, const char *text, size_t most)
{
	static const char OPENS[] = "“", CLOSES[] = "”";
	OWNED(str) struct str shown = { 0 };
	size_t n = strlen(OPENS);

	str_add_shown(&shown, text, strlen(text), most);
	str_add(out, OPENS);
	for (const char *at = str_text(&shown); *at;) {
		bool is_mark = strncmp(at, OPENS, n) == 0 || strncmp(at, CLOSES, n) == 0;

		str_add_char(out, is_mark ? '"' : *at);
		at += is_mark ? n : 1;
	}
	str_add(out, CLOSES);
}

void acp_inquiry_doubt(struct acp_inquiry *ask, const char *text)
{
	acp_inquiry_note(ask, text);
	ask->is_unclear = ask->is_doubted = true;
	if (ask->risk == ACP_RISK_LOW)
		ask->risk = ACP_RISK_HIGH;
}

void acp_inquiry_place(struct acp_inquiry *ask, const char *root, const char *given)
{
	OWNED(str) struct str relative = { 0 };
	size_t length = strlen(given);

	str_reset(&ask->path);
	while (length > 1 && given[length - 1] == '/')
		length--;
	if (safe_path_clean(root, given, length, &relative, NULL) == 0) {
		str_add(&ask->path, relative.bytes);
		return;
	}
	str_add(&ask->path, given);
	if (strncmp(given, root, length) == 0 && !root[length])
		return;
	if (length != 1 || given[0] != '.')
		ask->risk = ACP_RISK_CRITICAL;
}

void acp_inquiry_leads(struct acp_inquiry *ask, const char *root, const char *given,
                       const char *target)
{
	OWNED(str) struct str text = { 0 };
	struct acp_inquiry from = { 0 }, to = { 0 };

	acp_inquiry_place(&to, root, target);
	if (to.risk == ACP_RISK_CRITICAL) {
		acp_inquiry_place(&from, root, given);
		ask->risk = ACP_RISK_CRITICAL;
		str_add_shown(&text, str_text(&from.path), from.path.length, SHOWN_BYTES);
		str_add(&text, " leads to ");
		str_add_shown(&text, target, strlen(target), SHOWN_BYTES);
		if (!strstr(str_text(&ask->notes), text.bytes))
			acp_inquiry_note(ask, text.bytes);
	}
	acp_inquiry_clear(&from);
	acp_inquiry_clear(&to);
}

void acp_inquiry_name(struct acp_inquiry *ask, const char *given)
{
	for (size_t i = 0; i < ask->path_count; i++)
		if (strcmp(ask->paths[i], given) == 0)
			return;
	ask->paths = xrealloc(ask->paths, (ask->path_count + 1) * sizeof(*ask->paths));
	ask->paths[ask->path_count++] = xstrdup(given);
}

void acp_inquiry_add_path(struct acp_inquiry *ask, const char *root, const char *given)
{
	struct acp_inquiry other = { .risk = ask->risk };
	OWNED(str) struct str also = { 0 };
	size_t before = ask->path_count;

	if (!given)
		return;
	acp_inquiry_name(ask, given);
	if (ask->path_count == before)
		return;
	if (!ask->path.length) {
		acp_inquiry_place(ask, root, given);
		return;
	}
	acp_inquiry_place(&other, root, given);
	ask->risk = other.risk;
	if (strcmp(str_text(&other.path), ask->path.bytes) != 0) {
		str_add(&also, "Also names: ");
		str_add_shown(&also, str_text(&other.path), other.path.length, SIZE_MAX);
		acp_inquiry_note(ask, also.bytes);
	}
	acp_inquiry_clear(&other);
}

void acp_inquiry_doubt_value(struct acp_inquiry *ask, const char *name, const cJSON *value)
{
	OWNED(str) struct str text = { 0 };

	str_add(&text, "Also given: ");
	json_object(&text);
	json_add_member(&text, name, value);
	json_object_end(&text);
	acp_inquiry_doubt(ask, text.bytes);
}

void acp_inquiry_doubt_others(struct acp_inquiry *ask, const cJSON *object,
                              const char *const *names, const char *const *texts)
{
	const cJSON *item;

	if (!cJSON_IsObject(object))
		return;
	cJSON_ArrayForEach (item, object)
		if (!cJSON_IsNull(item) && strcmp(item->string, "_meta") != 0 &&
		    !texts_name(names, item->string) &&
		    !(texts_name(texts, item->string) && cJSON_IsString(item)))
			acp_inquiry_doubt_value(ask, item->string, item);
}

bool acp_inquiry_says_anything(const cJSON *item)
{
	return item && !cJSON_IsNull(item) &&
	       (!(cJSON_IsObject(item) || cJSON_IsArray(item)) || item->child);
}

bool acp_inquiry_has_only(const cJSON *object, const char *const *names)
{
	const cJSON *item;

	if (!cJSON_IsObject(object) || json_names_twice(object))
		return false;
	cJSON_ArrayForEach (item, object)
		if (!cJSON_IsNull(item) && strcmp(item->string, "_meta") != 0 &&
		    !texts_name(names, item->string))
			return false;
	return true;
}

/* ---- what its content says ---- */

static bool is_text_or_none(const cJSON *item)
{
	return !item || cJSON_IsNull(item) || cJSON_IsString(item);
}

/* True: it is understood. So of all that follow. */
static bool add_diff(struct acp_inquiry *ask, const char *root, const cJSON *item)
{
	static const char *const NAMES[] = { "type", "path", "oldText", "newText", NULL };
	const char *path = json_text(item, "path");
	const char *old = json_text(item, "oldText");
	const char *new = json_text(item, "newText");
	struct acp_inquiry shown = { 0 };

	acp_inquiry_add_path(ask, root, path);
	if (!path || !new)
		return false;
	acp_inquiry_place(&shown, root, path);
	diff_compute(shown.path.bytes, old, old ? strlen(old) : 0, new, strlen(new), &ask->diff);
	ask->is_diff = true;
	acp_inquiry_clear(&shown);
	return acp_inquiry_has_only(item, NAMES) && is_text_or_none(json_get(item, "oldText"));
}

void acp_inquiry_add_patch(struct acp_inquiry *ask, const char *text)
{
	if (!diff_looks_like(text, strlen(text)) || strstr(text, "\n*** "))
		ask->is_unclear = true;
	str_add(&ask->diff, text);
	ask->is_diff = true;
}

static bool add_change(struct acp_inquiry *ask, const char *root, const cJSON *change)
{
	static const char *const NAMES[] = { "operation", "path",     "oldPath",
		                             "fileType",  "mimeType", NULL };
	static const char *const OPERATIONS[] = { "add", "delete", "modify", "move", "copy", NULL };

	acp_inquiry_add_path(ask, root, json_text(change, "path"));
	acp_inquiry_add_path(ask, root, json_text(change, "oldPath"));
	return acp_inquiry_has_only(change, NAMES) && json_text(change, "path") &&
	       is_text_or_none(json_get(change, "oldPath")) &&
	       texts_name(OPERATIONS, json_text(change, "operation"));
}

/* A diff of v2: names of files and the patch as the agent wrote it. */
static bool add_changes(struct acp_inquiry *ask, const char *root, const cJSON *item)
{
	static const char *const NAMES[] = { "type", "changes", "patch", NULL };
	static const char *const PATCH[] = { "format", "text", NULL };
	const cJSON *changes = json_get(item, "changes"), *patch = json_get(item, "patch");
	const char *text = json_text(patch, "text");
	bool is_clear =
	    acp_inquiry_has_only(item, NAMES) && cJSON_IsArray(changes) &&
	    (!acp_inquiry_says_anything(patch) || (text && acp_inquiry_has_only(patch, PATCH)));
	const cJSON *change;

	cJSON_ArrayForEach (change, changes)
		is_clear = add_change(ask, root, change) && is_clear;
	if (text)
		acp_inquiry_add_patch(ask, text);
	return is_clear;
}

/* A block {type: text, text}. */
static bool add_block(struct acp_inquiry *ask, const cJSON *block)
{
	static const char *const NAMES[] = { "type", "text", "annotations", NULL };

	if (!json_says(block, "type", "text") || !json_text(block, "text") ||
	    !acp_inquiry_has_only(block, NAMES))
		return false;
	acp_inquiry_describe(ask, json_text(block, "text"));
	return true;
}

/* A block may be wrapped in {type: content}, or bare. */
static bool add_item(struct acp_inquiry *ask, const char *root, const cJSON *item)
{
	static const char *const CONTENT[] = { "type", "content", NULL };
	static const char *const TERMINAL[] = { "type", "terminalId", NULL };

	if (json_says(item, "type", "diff"))
		return acp_inquiry_says_anything(json_get(item, "changes"))
		           ? add_changes(ask, root, item)
		           : add_diff(ask, root, item);
	if (json_says(item, "type", "content"))
		return acp_inquiry_has_only(item, CONTENT) &&
		       add_block(ask, json_get(item, "content"));
	if (json_says(item, "type", "terminal"))
		return acp_inquiry_has_only(item, TERMINAL) && json_text(item, "terminalId");
	return add_block(ask, item);
}

static bool add_location(struct acp_inquiry *ask, const char *root, const cJSON *location)
{
	static const char *const NAMES[] = { "path", "line", NULL };
	const cJSON *line = json_get(location, "line");

	acp_inquiry_add_path(ask, root, json_text(location, "path"));
	return acp_inquiry_has_only(location, NAMES) && json_text(location, "path") &&
	       (!line || cJSON_IsNull(line) || cJSON_IsNumber(line));
}

/* Each item of a member that is a list. */
static void add_list(struct acp_inquiry *ask, const char *root, const cJSON *call, const char *name,
                     bool (*add)(struct acp_inquiry *ask, const char *root, const cJSON *item))
{
	const cJSON *list = json_get(call, name), *item;

	if (acp_inquiry_says_anything(list) && !cJSON_IsArray(list))
		acp_inquiry_doubt_value(ask, name, list);
	else
		cJSON_ArrayForEach (item, list)
			if (!add(ask, root, item))
				acp_inquiry_doubt_value(ask, name, item);
}

void acp_inquiry_add_content(struct acp_inquiry *ask, const char *root, const cJSON *call)
{
	add_list(ask, root, call, "content", add_item);
	add_list(ask, root, call, "locations", add_location);
}
