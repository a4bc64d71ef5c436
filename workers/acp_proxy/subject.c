#include "subject.h"

#include "json.h"
#include "json_writer.h"
#include "names.h"
#include "texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void subject_clear(struct subject *s)
{
	acp_inquiry_clear(&s->ask);
	free(s->path);
	str_clear(&s->others);
	str_clear(&s->input);
	*s = (struct subject){ 0 };
}

/* ---- the hook's input ---- */

static void begin_at(struct subject *s, const char *session, const char *folder, const char *tool,
                     const char *risk)
{
	json_object(&s->input);
	json_member(&s->input, "risk", risk);
	json_member(&s->input, "session_id", *session ? session : NULL);
	json_member(&s->input, "cwd", folder);
	json_member(&s->input, "tool_name", tool);
	json_member(&s->input, "tool_use_id", s->ask.tool_call_id);
	json_member_object(&s->input, "tool_input");
}

static void begin(struct subject *s, const char *session, const char *folder, const char *tool)
{
	begin_at(s, session, folder, tool, NULL);
}

/* What may be answered, unless that is just yes or no. */
static void add_options(struct subject *s)
{
	OWNED(str) struct str options = { 0 };

	if (acp_inquiry_is_plain(&s->ask))
		return;
	acp_inquiry_add_options(&s->ask, &options);
	json_member_raw(&s->input, "options", options.bytes);
}

/* The same of what is described by itself, and as a person is told of it. */
static void add_offer(struct subject *s)
{
	OWNED(str) struct str notes = { 0 };

	add_options(s);
	acp_inquiry_add_offer(&s->ask, &notes);
	json_member(&s->input, "notes", notes.bytes);
}

static void end(struct subject *s)
{
	json_object_end(&s->input);
	json_object_end(&s->input);
}

/* Of a tool that is not known, or not wholly: everything. */
static void describe(struct subject *s, const char *session, const char *folder, const char *tool)
{
	const struct acp_inquiry *ask = &s->ask;
	OWNED(str) struct str notes = { 0 };

	begin_at(s, session, folder, tool, acp_risk_name(ask->risk));
	json_member(&s->input, "title", str_text(&ask->title));
	json_member(&s->input, "description", ask->description.bytes);
	acp_inquiry_add_notes(ask, &notes);
	json_member(&s->input, "notes", notes.bytes);
	if (ask->diff.length)
		json_member(&s->input, "content", str_text(&ask->diff));
	if (ask->path_count) {
		json_member_array(&s->input, "paths");
		for (size_t i = 0; i < ask->path_count; i++)
			json_item(&s->input, ask->paths[i]);
		json_array_end(&s->input);
	}
	if (ask->input.length)
		json_member_raw(&s->input, "input", str_text(&ask->input));
	add_options(s);
	end(s);
}

static void describe_command(struct subject *s, const char *session, const char *folder,
                             const char *tool)
{
	begin(s, session, folder, tool);
	json_member(&s->input, "command", str_text(&s->ask.command));
	json_member(&s->input, "cwd", s->ask.cwd);
	add_offer(s);
	end(s);
}

static void doubt_others(struct subject *s)
{
	OWNED(str) struct str text = { 0 };

	if (!s->others.length)
		return;
	str_addf(&text, "Also given: %s", s->others.bytes);
	acp_inquiry_doubt(&s->ask, text.bytes);
}

/* ---- permissions ---- */

/* Whether one of the diffs is of this path, which may be relative to the folder. */
static bool is_of_diff(const cJSON *content, const char *folder, const char *given)
{
	OWNED(str) struct str absolute = { 0 };
	const cJSON *item;

	if (given[0] != '/')
		str_addf(&absolute, "%s/", folder ? folder : "");
	str_add(&absolute, given);
	cJSON_ArrayForEach (item, content) {
		const char *path = json_text(item, "path");

		if (path && strcmp(path, absolute.bytes) == 0)
			return true;
	}
	return false;
}

/* Whether the diffs of a call are all that it does, and of all files that it names; there is one
 * at least. */
static bool is_all_diffs(const struct acp_inquiry *ask, const cJSON *content, const char *folder)
{
	static const char *const KINDS[] = { "edit", "delete", "move", NULL };
	const cJSON *item;
	bool found = false;

	cJSON_ArrayForEach (item, content) {
		if (!json_says(item, "type", "diff"))
			continue;
		if (!json_text(item, "path") || json_text(item, "path")[0] != '/' ||
		    !json_text(item, "newText"))
			return false;
		found = true;
	}
	for (size_t i = 0; i < ask->path_count; i++)
		if (!is_of_diff(content, folder, ask->paths[i]))
			return false;
	return found && !ask->is_unclear && !ask->command.length &&
	       texts_name(KINDS, ask->tool_kind);
}

static void describe_diffs(struct subject *s, const cJSON *content, const char *session,
                           const char *folder)
{
	const cJSON *item;

	begin(s, session, folder, "edit");
	json_member_array(&s->input, "diffs");
	cJSON_ArrayForEach (item, content) {
		const char *old = json_text(item, "oldText");

		if (!json_says(item, "type", "diff"))
			continue;
		json_object(&s->input);
		json_member(&s->input, "path", json_text(item, "path"));
		json_member(&s->input, "oldText", old ? old : "");
		json_member(&s->input, "newText", json_text(item, "newText"));
		json_object_end(&s->input);
	}
	json_array_end(&s->input);
	add_offer(s);
	end(s);
}

static int read_permission(struct subject *s, const cJSON *params, const struct acp_tool_call *call,
                           const char *session, const char *folder, struct err *e)
{
	const cJSON *content =
	    call ? cJSON_GetObjectItemCaseSensitive(call->fields, "content") : NULL;
	struct acp_inquiry *ask = &s->ask;

	if (acp_inquiry_permission(ask, params, call, folder, e))
		return -1;
	doubt_others(s);
	s->must_choose = !acp_inquiry_yes(ask);
	if (is_all_diffs(ask, content, folder))
		describe_diffs(s, content, session, folder);
	else if (!s->must_choose && ask->command.length && !ask->is_unclear && !ask->is_diff)
		describe_command(s, session, folder, "execute");
	else if (!ask->is_doubted && ask->tool_kind && strcmp(ask->tool_kind, "fetch") == 0)
		describe(s, session, folder, "fetch");
	else
		describe(s, session, folder, "permission");
	return 0;
}

/* ---- what the editor is to do ---- */

/* A write beside which something is given that is not known: its effect is not, either. No tool of
 * an agent has this name, which a rule could allow. */
static void describe_write(struct subject *s, const char *session, const char *folder,
                           const char *content)
{
	str_add(&s->ask.title, "Write a file in the editor");
	str_add(&s->ask.diff, content);
	acp_inquiry_name(&s->ask, s->path);
	acp_inquiry_place(&s->ask, folder, s->path);
	doubt_others(s);
	describe(s, session, folder, "fs/write");
}

static int read_write(struct subject *s, const cJSON *params, const char *session,
                      const char *folder, struct err *e)
{
	const char *path = json_text(params, "path"), *content = json_text(params, "content");

	if (!path || path[0] != '/' || !content)
		return err_set(e, ERR_INPUT, "path must be absolute, and content a text");
	s->path = xstrdup(path);
	if (s->others.length) {
		describe_write(s, session, folder, content);
		return 0;
	}
	begin(s, session, folder, envelope_method(ENVELOPE_WRITE));
	json_member(&s->input, "path", path);
	json_member(&s->input, "content", content);
	end(s);
	return 0;
}

/* The command and its arguments, as words. */
static cJSON *words_of(const cJSON *params)
{
	cJSON *words = cJSON_CreateArray();
	const cJSON *word;

	cJSON_AddItemToArray(words, cJSON_Duplicate(json_get(params, "command"), true));
	cJSON_ArrayForEach (word, json_get(params, "args"))
		cJSON_AddItemToArray(words, cJSON_Duplicate(word, true));
	return words;
}

/* A copy of one of the params, unless it says nothing. */
static void take_over(cJSON *subject, const cJSON *params, const char *name)
{
	const cJSON *value = json_get(params, name);

	if (value && !cJSON_IsNull(value))
		cJSON_AddItemToObject(subject, name, cJSON_Duplicate(value, true));
}

/* The params as the subject of a permission of type command. */
static cJSON *as_permission(const cJSON *params)
{
	cJSON *all = cJSON_CreateObject();
	cJSON *options = cJSON_AddArrayToObject(all, "options");
	cJSON *option = cJSON_CreateObject();
	cJSON *subject = cJSON_AddObjectToObject(all, "subject");
	const cJSON *env = json_get(params, "env");

	(void)cJSON_AddStringToObject(option, "optionId", "yes");
	(void)cJSON_AddStringToObject(option, "kind", "allow_once");
	cJSON_AddItemToArray(options, option);
	(void)cJSON_AddStringToObject(subject, "type", "command");
	cJSON_AddItemToObject(subject, "command", words_of(params));
	if (!cJSON_IsArray(json_get(params, "args")))
		take_over(subject, params, "args");
	if (!cJSON_IsArray(env) || cJSON_GetArraySize(env) > 0)
		take_over(subject, params, "env");
	take_over(subject, params, "cwd");
	(void)cJSON_AddStringToObject(all, "title", "Run a command in the editor");
	return all;
}

/* Without a shell it is one program; some agents send a line that is meant for a shell, and some
 * editors have one read it. */
static void doubt_program(struct acp_inquiry *ask, const cJSON *params)
{
	const char *command = json_text(params, "command");
	OWNED(str) struct str line = { 0 }, text = { 0 };
	const cJSON *word;

	if (acp_inquiry_is_program(command))
		return;
	str_add(&line, command);
	cJSON_ArrayForEach (word, json_get(params, "args")) {
		str_add_char(&line, ' ');
		str_add_shell_word(&line, cJSON_IsString(word) ? word->valuestring : "?");
	}
	str_add(&text, "Or, where the editor has a shell read it: ");
	str_add_shown(&text, str_text(&line), line.length, SIZE_MAX);
	acp_inquiry_doubt(ask, text.bytes);
}

static int read_terminal(struct subject *s, const cJSON *params, const char *session,
                         const char *folder, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *all = NULL;

	if (!json_text(params, "command"))
		return err_set(e, ERR_INPUT, "command must be a text");
	all = as_permission(params);
	if (acp_inquiry_permission(&s->ask, all, NULL, folder, e))
		return -1;
	doubt_program(&s->ask, params);
	doubt_others(s);
	if (s->ask.command.length && !s->ask.is_unclear)
		describe_command(s, session, folder, envelope_method(ENVELOPE_TERMINAL));
	else
		describe(s, session, folder, "terminal");
	return 0;
}

int subject_read(struct subject *s, enum envelope_kind kind, const cJSON *message,
                 const struct acp_tool_call *call, const char *session, const char *folder,
                 struct err *e)
{
	const cJSON *params = json_get(message, "params");

	if (names_read(kind, message, &s->others, e))
		return -1;
	switch (kind) {
	case ENVELOPE_PERMISSION:
		return read_permission(s, params, call, session, folder, e);
	case ENVELOPE_WRITE:
		return read_write(s, params, session, folder, e);
	case ENVELOPE_TERMINAL:
		return read_terminal(s, params, session, folder, e);
	case ENVELOPE_PASSES:
	case ENVELOPE_REFUSED:
	case ENVELOPE_NOISE:
		break;
	}
	return err_set(e, ERR_BUG, "a message of this kind is not held");
}
