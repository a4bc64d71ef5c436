/* files: the upload in three steps. */
#include "fake.h"

#include <string.h>

enum { SNIPPET_BYTES = 1 << 20, ALT_MOST = 1000 };

static cJSON *files;

cJSON *files_all(void)
{
	return json_list(&files);
}

static cJSON *file_by(const char *member, const char *value)
{
	cJSON *file;

	cJSON_ArrayForEach (file, files_all()) {
		if (json_is(file, member, value))
			return file;
	}
	return NULL;
}

static bool is_snippet_type(const char *type)
{
	static const char *const TYPES[] = {
		"text",   "diff",       "c",          "cpp",      "csharp", "css",
		"csv",    "dockerfile", "go",         "html",     "java",   "javascript",
		"json",   "kotlin",     "lua",        "markdown", "perl",   "php",
		"python", "ruby",       "rust",       "scala",    "shell",  "sql",
		"swift",  "toml",       "typescript", "xml",      "yaml"
	};

	for (size_t i = 0; i < COUNT(TYPES); i++)
		if (strcmp(TYPES[i], type) == 0)
			return true;
	return false;
}

void files_getUploadURLExternal(struct call *c)
{
	const char *name = call_text(c, "filename"), *snippet = call_text(c, "snippet_type");
	int64_t length = json_int(c->args, "length", 0);
	cJSON *file;

	if (!name[0] || length <= 0)
		(void)call_fail(c, "missing_argument");
	else if (snippet[0] && !is_snippet_type(snippet))
		(void)call_fail(c, "unknown_snippet_type");
	else if (snippet[0] && length > SNIPPET_BYTES)
		(void)call_fail(c, "snippet_too_large");
	else if (characters(call_text(c, "alt_txt")) > ALT_MOST)
		(void)call_fail(c, "invalid_arguments");
	if (call_failed(c))
		return;
	file = cJSON_CreateObject();
	json_set_text(file, "id", world_id("F"));
	json_set_text(file, "name", name);
	json_set_int(file, "length", length);
	json_set_text(file, "snippet_type", snippet);
	json_set_text(file, "path", text_of("/upload/v1/%s", world_id("x")));
	(void)cJSON_AddItemToArray(files_all(), file);
	json_set_text(call_ok(c), "file_id", json_str(file, "id"));
	json_set_text(c->answer, "upload_url",
	              text_of("%s%s", fake_origin(), json_str(file, "path")));
}

void files_upload(struct call *c, const char *path)
{
	cJSON *file = file_by("path", path);

	if (!file || json_true(file, "uploaded")) {
		c->plain = "no such upload";
		c->status = HTTP_NOTFOUND;
		return;
	}
	if ((int64_t)c->bytes.length != json_int(file, "length", 0)) {
		c->plain = "length is not what was announced";
		c->status = HTTP_BADREQUEST;
		return;
	}
	json_set_text(file, "content", str_text(&c->bytes));
	json_set_bool(file, "uploaded", true);
	c->plain = text_of("OK - %zu", c->bytes.length);
}

/* Each file must be uploaded, and not completed before. */
static bool files_fit(struct call *c, const cJSON *list)
{
	const cJSON *item;

	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) == 0)
		return call_need(c, "files") ? call_fail(c, "invalid_arguments") : false;
	cJSON_ArrayForEach (item, list) {
		const cJSON *file = file_by("id", json_str(item, "id"));

		if (!file || !json_true(file, "uploaded") || json_true(file, "completed"))
			return call_fail(c, "file_not_found");
	}
	return true;
}

/* The bot must be a member here, whatever its scopes. */
static bool shareable(struct call *c)
{
	const cJSON *channel;

	if (!call_text(c, "channel_id")[0])
		return true;
	channel = call_channel(c, "channel_id");
	if (!channel)
		return false;
	if (!json_true(channel, "is_member"))
		return call_fail(c, "not_in_channel");
	if (json_true(channel, "is_archived"))
		return call_fail(c, "posting_to_channel_denied");
	if (member_of(c->args, "blocks") && call_text(c, "initial_comment")[0])
		return call_fail(c, "invalid_arguments");
	return !call_text(c, "thread_ts")[0] ||
	       world_message(call_text(c, "channel_id"), call_text(c, "thread_ts")) ||
	       call_fail(c, "invalid_arguments");
}

static void complete(const struct call *c, const cJSON *list, cJSON *answer)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, list) {
		cJSON *file = file_by("id", json_str(item, "id")), *part = cJSON_CreateObject();

		json_set_bool(file, "completed", true);
		json_set_text(file, "title",
		              json_text(item, "title") ? json_str(item, "title")
		                                       : json_str(file, "name"));
		json_set_text(file, "channel", json_text(c->args, "channel_id"));
		json_set_text(file, "thread_ts", json_text(c->args, "thread_ts"));
		json_set_text(part, "id", json_str(file, "id"));
		json_set_text(part, "title", json_str(file, "title"));
		json_set_text(part, "name", json_str(file, "name"));
		(void)cJSON_AddItemToArray(answer, part);
	}
}

static void share(const struct call *c, const cJSON *shared)
{
	static const struct how ONCE = { .copies = 1 };
	cJSON *m = world_post(call_text(c, "channel_id"), NULL, call_text(c, "initial_comment"),
	                      json_text(c->args, "thread_ts")),
	      *event;

	json_set_text(m, "subtype", "file_share");
	json_set(m, "files", cJSON_Duplicate(shared, true));
	if (!setting_true("share_events"))
		return;
	event = world_shown(m, true);
	json_set_text(event, "channel", json_str(m, "channel"));
	json_set_text(event, "channel_type", "channel");
	json_set_text(event, "event_ts", json_str(m, "ts"));
	(void)envelope_send(event_envelope(event), &ONCE);
}

/* Shared at once, although the answer does not say where: with the real Slack that takes time. */
void files_completeUploadExternal(struct call *c)
{
	const cJSON *list = member_of(c->args, "files");
	cJSON *shared;

	if (!files_fit(c, list) || !shareable(c))
		return;
	shared = cJSON_CreateArray();
	complete(c, list, shared);
	if (call_text(c, "channel_id")[0])
		share(c, shared);
	json_set(call_ok(c), "files", shared);
}

void files_info(struct call *c)
{
	const cJSON *file = file_by("id", call_text(c, "file"));
	cJSON *part;

	if (!file || !json_true(file, "completed")) {
		(void)call_fail(c, "file_not_found");
		return;
	}
	part = cJSON_Duplicate(file, true);
	cJSON_DeleteItemFromObject(part, "path");
	cJSON_DeleteItemFromObject(part, "content");
	json_set(call_ok(c), "file", part);
}
