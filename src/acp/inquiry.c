#include "inquiry.h"
#include "inquiry_content.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "texts.h"

#include <string.h>
#include <strings.h>

enum { MEMBER_BYTES = 60 }; /* of a name, as it is shown */

static const char *const OPTION_KINDS[] = {
	[ACP_ALLOW_ONCE] = "allow_once",
	[ACP_ALLOW_ALWAYS] = "allow_always",
	[ACP_REJECT_ONCE] = "reject_once",
	[ACP_REJECT_ALWAYS] = "reject_always",
};

static const char *const HARMLESS[] = { "read", "search", "think", NULL };

/* ---- what it is about ---- */

/* [bash, -lc, SCRIPT]: the script, NULL: it is another command. */
static const char *script_of(const cJSON *words)
{
	static const char *const SHELLS[] = {
		"sh",       "bash",          "zsh",          "/bin/sh", "/bin/bash",
		"/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh", NULL
	};
	const char *shell = cJSON_GetStringValue(cJSON_GetArrayItem(words, 0));
	const char *how = cJSON_GetStringValue(cJSON_GetArrayItem(words, 1));

	if (cJSON_GetArraySize(words) != 3 || !texts_name(SHELLS, shell) || !how ||
	    (strcmp(how, "-c") != 0 && strcmp(how, "-lc") != 0))
		return NULL;
	return cJSON_GetStringValue(cJSON_GetArrayItem(words, 2));
}

/* What is run, and in full what is shown. A list that holds anything but texts is no command. */
static void read_command(const cJSON *command, struct str *run, struct str *shown)
{
	const char *script = script_of(command);
	const cJSON *word;

	if (cJSON_IsString(command))
		str_add(shown, command->valuestring);
	cJSON_ArrayForEach (word, command) {
		if (!cJSON_IsString(word))
			return;
		if (shown->length)
			str_add_char(shown, ' ');
		str_add_shell_word(shown, word->valuestring);
	}
	str_add(run, script ? script : str_text(shown));
}

static bool is_texts(const cJSON *list)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, list)
		if (!cJSON_IsString(item))
			return false;
	return cJSON_IsArray(list);
}

/* What would happen beside what is shown, before all other notes: none can push it away. */
static void note_first(struct acp_inquiry *ask, const char *how, const char *text)
{
	OWNED(str) struct str notes = { 0 };

	str_move(&notes, &ask->notes);
	str_add(&ask->notes, how);
	str_add_shown(&ask->notes, text, strlen(text), SIZE_MAX);
	acp_inquiry_note(ask, notes.bytes);
}

static void note_given(struct acp_inquiry *ask, const char *json)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "Also given: %s", json);
	acp_inquiry_note(ask, line.bytes);
}

/* ---- what a tool is called with ---- */

/* The arguments, and those of them that are shown already. */
struct input {
	const cJSON *all;
	const cJSON *command, *arguments, *cwd, *patch;
	const cJSON *diff; /* the only one that is shown beside it; NULL: there is none, or several
	                    */
	bool has_content; /* there is */
};

static const cJSON *text_member(const cJSON *object, const char *name)
{
	const cJSON *item = json_get(object, name);

	return cJSON_IsString(item) ? item : NULL;
}

static void show_command(struct acp_inquiry *ask, const struct str *run, const struct str *shown)
{
	if (ask->command.length && strcmp(ask->command.bytes, str_text(run)) != 0)
		ask->is_unclear = true;
	str_reset(&ask->command);
	str_add(&ask->command, str_text(run));
	if (!ask->diff.length)
		str_add(&ask->diff, shown->bytes);
	else if (strcmp(ask->diff.bytes, shown->bytes) != 0)
		note_first(ask, "Runs: ", shown->bytes);
}

bool acp_inquiry_is_program(const char *name)
{
	OWNED(str) struct str word = { 0 };

	str_add_shell_word(&word, name);
	return strcmp(word.bytes, name) == 0 && !strchr(name, '='); /* A=b is an assignment */
}

/* A text beside arguments is one program, or to some the beginning of a line for a shell. */
static void add_arguments(struct acp_inquiry *ask, const cJSON *command, const cJSON *arguments,
                          struct str *shown)
{
	const cJSON *word;

	if (cJSON_IsString(command)) {
		str_reset(shown);
		str_add_shell_word(shown, command->valuestring);
		if (!acp_inquiry_is_program(command->valuestring))
			ask->is_unclear = true;
	}
	cJSON_ArrayForEach (word, arguments) {
		str_add_char(shown, ' ');
		str_add_shell_word(shown, word->valuestring);
	}
}

/* A command, as a text or as a list of words, with its arguments. */
static void add_command(struct acp_inquiry *ask, struct input *in)
{
	OWNED(str) struct str shown = { 0 }, run = { 0 };
	const cJSON *command = json_get(in->all, "command");
	const cJSON *arguments = json_get(in->all, "args");

	if (!cJSON_IsString(command) && !is_texts(command))
		return;
	read_command(command, &run, &shown);
	if (!shown.length)
		return;
	in->command = command;
	if (is_texts(arguments))
		in->arguments = arguments;
	if (in->arguments && cJSON_GetArraySize(arguments) > 0) {
		add_arguments(ask, command, arguments, &shown);
		str_reset(&run);
		str_add(&run, shown.bytes);
	}
	show_command(ask, &run, &shown);
	in->cwd = text_member(in->all, "cwd");
	if (!in->cwd)
		in->cwd = text_member(in->all, "workdir");
	if (!in->cwd)
		return;
	xreplace(&ask->cwd, in->cwd->valuestring);
	note_first(ask, "in ", ask->cwd);
}

static void add_patch(struct acp_inquiry *ask, struct input *in)
{
	const cJSON *patch = text_member(in->all, "diff");

	patch = patch ? patch : text_member(in->all, "patch");
	if (!patch || ask->is_diff)
		return;
	in->patch = patch;
	if (ask->diff.length)
		acp_inquiry_describe(ask, ask->diff.bytes);
	str_reset(&ask->diff);
	acp_inquiry_add_patch(ask, patch->valuestring);
}

static bool is_text(const cJSON *item, const char *text)
{
	return cJSON_IsString(item) && text && strcmp(item->valuestring, text) == 0;
}

/* Whether the diff that is shown says the same: the new content, or a part before and after. */
static bool is_in_diff(const struct acp_inquiry *ask, const struct input *in, const cJSON *item)
{
	const char *old = json_text(in->diff, "oldText"), *new = json_text(in->diff, "newText");

	if (strcmp(item->string, "diff") == 0 || strcmp(item->string, "patch") == 0)
		return ask->is_diff && is_text(item, str_text(&ask->diff));
	if (!in->diff)
		return false;
	if (strcmp(item->string, "content") == 0 || strcmp(item->string, "new_string") == 0)
		return is_text(item, new);
	return strcmp(item->string, "old_string") == 0 && is_text(item, old ? old : "");
}

static bool is_shown(const struct acp_inquiry *ask, const struct input *in, const cJSON *item)
{
	return item == in->command || item == in->arguments || item == in->cwd ||
	       item == in->patch || is_in_diff(ask, in, item);
}

/* What an edit writes can be judged where no diff beside it says otherwise. */
static bool is_content(const struct acp_inquiry *ask, const struct input *in, const cJSON *item)
{
	static const char *const NAMES[] = { "content", "old_string", "new_string", NULL };

	return !in->has_content && !ask->command.length && cJSON_IsString(item) &&
	       texts_name(NAMES, item->string);
}

static bool is_numbers(const cJSON *list)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, list)
		if (!cJSON_IsNumber(item))
			return false;
	return cJSON_IsArray(list);
}

/* A list that does nothing by itself: which lines copilot reads; how codex reads its own command,
 * and what else it could be answered, which we never do. */
static bool is_harmless_list(const cJSON *item)
{
	if (strcmp(item->string, "view_range") == 0)
		return is_numbers(item);
	if (strcmp(item->string, "proposed_execpolicy_amendment") == 0)
		return is_texts(item);
	return cJSON_IsArray(item) && (strcmp(item->string, "parsed_cmd") == 0 ||
	                               strcmp(item->string, "available_decisions") == 0);
}

/* A member that does nothing by itself. */
static bool is_harmless(const cJSON *item)
{
	static const char *const WORDS[] = { "description", "reason", NULL };
	static const char *const NUMBERS[] = { "timeout", "offset", "limit", NULL };

	if (cJSON_IsString(item))
		return texts_name(WORDS, item->string);
	if (cJSON_IsNumber(item))
		return texts_name(NUMBERS, item->string);
	if (cJSON_IsFalse(item))
		return strcmp(item->string, "replace_all") == 0;
	return cJSON_IsNull(item) || is_harmless_list(item);
}

/* A kind that only looks does not write or run anything. */
static bool is_weighty(const cJSON *item)
{
	static const char *const NAMES[] = { "command", "args",    "script",     "code",
		                             "cmd",     "content", "new_string", NULL };

	return texts_name(NAMES, item->string);
}

/* The arguments that are files, by the names that agents use. */
static bool is_file(const cJSON *item)
{
	static const char *const NAMES[] = { "file_path", "filePath",      "filepath",      "path",
		                             "abs_path",  "absolute_path", "notebook_path", NULL };

	return cJSON_IsString(item) && item->valuestring[0] && texts_name(NAMES, item->string);
}

/* Says why a person is asked what a rule seems to allow. */
static void add_unknown(struct acp_inquiry *ask, const struct str *names)
{
	static const char *const KINDS[] = { "read", "search",  "edit", "delete",
		                             "move", "execute", NULL };

	OWNED(str) struct str text = { 0 };

	if (!names->length || !texts_name(KINDS, ask->tool_kind))
		return;
	str_addf(&text, "No rule allows this unasked; not understood: %s", names->bytes);
	acp_inquiry_note(ask, text.bytes);
}

/* Each member that is not shown yet. */
static void add_rest(struct acp_inquiry *ask, const char *root, const struct input *in)
{
	OWNED(str) struct str rest = { 0 }, unknown = { 0 };
	const cJSON *item;

	json_object(&rest);
	cJSON_ArrayForEach (item, in->all) {
		if (is_weighty(item) && ask->risk == ACP_RISK_LOW) {
			ask->risk = ACP_RISK_HIGH;
			ask->is_unclear = true;
		}
		if (is_file(item)) {
			acp_inquiry_add_path(ask, root, item->valuestring);
			continue;
		}
		if (is_shown(ask, in, item))
			continue;
		if (!is_harmless(item) && !is_content(ask, in, item)) {
			ask->is_unclear = true;
			str_add(&unknown, unknown.length ? ", " : "");
			acp_inquiry_add_quoted(&unknown, item->string, MEMBER_BYTES);
		}
		json_add_member(&rest, item->string, item);
	}
	json_object_end(&rest);
	if (ask->diff.length && strcmp(rest.bytes, "{}") != 0)
		note_given(ask, rest.bytes);
	add_unknown(ask, &unknown);
}

static const cJSON *only_diff(const cJSON *content)
{
	const cJSON *found = NULL, *item;

	cJSON_ArrayForEach (item, content) {
		const char *type = json_text(item, "type");

		if (!type || strcmp(type, "diff") != 0)
			continue;
		if (found)
			return NULL;
		found = item;
	}
	return found;
}

/* The agent's own number of a call or a turn: another one whenever the same is asked again. */
static bool is_number_of_call(const cJSON *item)
{
	static const char *const NAMES[] = { "call_id", "turn_id", NULL };
	enum { LONGEST = 64 };
	static const char SIGNS[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return cJSON_IsString(item) && texts_name(NAMES, item->string) &&
	       strlen(item->valuestring) <= LONGEST &&
	       item->valuestring[strspn(item->valuestring, SIGNS)] == '\0';
}

/* What the tool is called with; the caller frees it. */
static cJSON *without_numbers(const cJSON *input)
{
	cJSON *copy = cJSON_Duplicate(input, true);
	cJSON *item = cJSON_IsObject(copy) ? copy->child : NULL;

	while (item) {
		cJSON *next = item->next;

		if (is_number_of_call(item))
			cJSON_Delete(cJSON_DetachItemViaPointer(copy, item));
		item = next;
	}
	return copy;
}

/* Shows what the tool is called with, unless the content of the call shows it. */
static void add_input(struct acp_inquiry *ask, const char *root, const cJSON *raw,
                      const cJSON *content)
{
	OWNED(cJSON_ptr) cJSON *input = without_numbers(raw);
	struct input in = { .all = input, .diff = only_diff(content), .has_content = ask->is_diff };
	char *text;

	if (!input || cJSON_IsNull(input))
		return;
	json_canonical(&ask->input, input);
	if (cJSON_IsObject(input)) {
		add_patch(ask, &in);
		add_command(ask, &in);
		add_rest(ask, root, &in);
	} else {
		ask->is_unclear = true;
	}
	if ((ask->diff.length && cJSON_IsObject(input)) ||
	    (cJSON_GetArraySize(input) == 0 && (cJSON_IsObject(input) || cJSON_IsArray(input))))
		return;
	text = ask->diff.length ? cJSON_PrintUnformatted(input) : cJSON_Print(input);
	if (text && !ask->diff.length)
		str_add(&ask->diff, text);
	else if (text)
		note_given(ask, text);
	cJSON_free(text);
}

static enum acp_risk risk_of(const char *kind)
{
	return texts_name(HARMLESS, kind) ? ACP_RISK_LOW : ACP_RISK_HIGH;
}

static void add_call(struct acp_inquiry *ask, const struct acp_tool_call *call, const char *root)
{
	static const char *const NAMES[] = { "content", "locations", "rawInput", "rawOutput",
		                             NULL };
	static const char *const TEXTS[] = {
		"toolCallId", "title", "name", "kind", "status", NULL
	};

	ask->tool_call_id = xstrdup(call->id);
	ask->tool_kind = xstrdup_if(json_text(call->fields, "kind"));
	ask->risk = risk_of(ask->tool_kind);
	acp_inquiry_add_content(ask, root, call->fields);
	ask->is_more = ask->is_diff || ask->path_count > 0;
	add_input(ask, root, json_get(call->fields, "rawInput"), json_get(call->fields, "content"));
	acp_inquiry_doubt_others(ask, call->fields, NAMES, TEXTS);
	if (ask->risk == ACP_RISK_LOW && (ask->is_diff || ask->command.length))
		ask->risk = ACP_RISK_HIGH;
}

/* ---- what may be answered ---- */

static enum acp_option_kind option_kind_of(const char *name)
{
	for (size_t i = 0; name && i < COUNT(OPTION_KINDS); i++)
		if (strcmp(name, OPTION_KINDS[i]) == 0)
			return (enum acp_option_kind)i;
	return ACP_OPTION_OTHER;
}

const struct acp_option *acp_inquiry_option(const struct acp_inquiry *ask, const char *id)
{
	for (size_t i = 0; i < ask->option_count; i++)
		if (strcmp(ask->options[i].id, id) == 0)
			return &ask->options[i];
	return NULL;
}

/* Whether its id stands for something of another kind, too: an answer would be either. */
static bool is_ambiguous(const cJSON *options, const char *id, enum acp_option_kind kind)
{
	const cJSON *option;

	cJSON_ArrayForEach (option, options)
		if (json_says(option, "optionId", id) &&
		    option_kind_of(json_text(option, "kind")) != kind)
			return true;
	return false;
}

static void add_options(struct acp_inquiry *ask, const cJSON *options)
{
	const cJSON *option;

	ask->options = xcalloc((size_t)cJSON_GetArraySize(options) + 1, sizeof(*ask->options));
	cJSON_ArrayForEach (option, options) {
		const char *id = json_text(option, "optionId"), *name = json_text(option, "name");
		enum acp_option_kind kind = option_kind_of(json_text(option, "kind"));

		if (!id || !id[0] || acp_inquiry_option(ask, id) || is_ambiguous(options, id, kind))
			continue; /* it cannot be answered with, or not told apart */
		ask->options[ask->option_count++] = (struct acp_option){
			.id = xstrdup(id),
			.name = xstrdup(name && name[0] ? name : id),
			.kind = kind,
		};
	}
}

static const struct acp_option *first_of(const struct acp_inquiry *ask, enum acp_option_kind kind)
{
	for (size_t i = 0; i < ask->option_count; i++)
		if (ask->options[i].kind == kind)
			return &ask->options[i];
	return NULL;
}

const struct acp_option *acp_inquiry_yes(const struct acp_inquiry *ask)
{
	const struct acp_option *yes = first_of(ask, ACP_ALLOW_ONCE);

	for (size_t i = 0; yes && i < ask->option_count; i++)
		if (ask->options[i].kind == ACP_ALLOW_ONCE && &ask->options[i] != yes)
			return NULL;
	return yes;
}

const struct acp_option *acp_inquiry_no(const struct acp_inquiry *ask)
{
	const struct acp_option *no = first_of(ask, ACP_REJECT_ONCE);

	return no ? no : first_of(ask, ACP_REJECT_ALWAYS);
}

/* Whether whoever gives this answer knows it without its name: a yes or a no that is called so.
 * What allows always is never given. */
static bool is_usual(const struct acp_option *o)
{
	static const char *const NAMES[ACP_OPTION_OTHER + 1][7] = {
		[ACP_ALLOW_ONCE] = { "allow", "allow once", "yes", "approve", "accept", "proceed" },
		[ACP_REJECT_ONCE] = { "reject", "reject once", "no", "deny", "decline", "cancel" },
	};

	for (const char *const *name = NAMES[o->kind]; *name; name++)
		if (strcasecmp(o->name, *name) == 0)
			return true;
	return o->kind == ACP_ALLOW_ALWAYS;
}

bool acp_inquiry_is_plain(const struct acp_inquiry *ask)
{
	size_t counts[ACP_OPTION_OTHER + 1] = { 0 };
	bool all_usual = true;

	for (size_t i = 0; i < ask->option_count; i++) {
		counts[ask->options[i].kind]++;
		all_usual = all_usual && is_usual(&ask->options[i]);
	}
	return !ask->options ||
	       (all_usual && counts[ACP_ALLOW_ONCE] == 1 && counts[ACP_REJECT_ONCE] <= 1);
}

void acp_inquiry_add_options(const struct acp_inquiry *ask, struct str *out)
{
	json_array(out);
	for (size_t i = 0; i < ask->option_count; i++) {
		const struct acp_option *o = &ask->options[i];

		if (o->kind == ACP_ALLOW_ALWAYS)
			continue;
		json_object(out);
		json_member(out, "id", o->id);
		json_member(out, "name", o->name);
		json_member(out, "kind",
		            o->kind == ACP_OPTION_OTHER ? "other" : OPTION_KINDS[o->kind]);
		json_object_end(out);
	}
	json_array_end(out);
}

void acp_inquiry_add_outcome(struct str *out, const struct acp_option *option)
{
	json_object(out);
	json_member_object(out, "outcome");
	json_member(out, "outcome", option ? "selected" : "cancelled");
	json_member(out, "optionId", option ? option->id : NULL);
	json_object_end(out);
	json_object_end(out);
}

/* ---- permissions ---- */

/* What a subject says beside what it is, as what a tool is called with. */
static void add_subject_input(struct acp_inquiry *ask, const char *root, const cJSON *subject)
{
	OWNED(cJSON_ptr) cJSON *input = cJSON_Duplicate(subject, true);

	cJSON_DeleteItemFromObjectCaseSensitive(input, "type");
	cJSON_DeleteItemFromObjectCaseSensitive(input, "toolCallId");
	add_input(ask, root, input, NULL);
}

/* Whether it is a tool call and has nothing beside that. */
static bool is_tool_call(const cJSON *subject)
{
	static const char *const NAMES[] = { "type", "toolCall", NULL };

	return acp_inquiry_has_only(subject, NAMES) && json_says(subject, "type", "tool_call");
}

const cJSON *acp_inquiry_call(const cJSON *params)
{
	const cJSON *call = json_get(params, "toolCall"), *subject = json_get(params, "subject");

	if (acp_inquiry_says_anything(call) || !is_tool_call(subject))
		return call;
	return json_get(subject, "toolCall");
}

static void add_command_subject(struct acp_inquiry *ask, const char *root, const cJSON *subject)
{
	xreplace(&ask->tool_kind, "execute");
	ask->tool_call_id = xstrdup_if(json_text(subject, "toolCallId"));
	add_subject_input(ask, root, subject);
}

/* What it is about: a tool call (v1), or a subject (v2). Of both, nobody knows which one counts. */
static void add_matter(struct acp_inquiry *ask, const cJSON *params,
                       const struct acp_tool_call *call, const char *root)
{
	const cJSON *subject = json_get(params, "subject");
	bool has_call = acp_inquiry_says_anything(json_get(params, "toolCall"));

	if (call)
		add_call(ask, call, root);
	else if (has_call)
		acp_inquiry_doubt_value(ask, "toolCall", json_get(params, "toolCall"));
	if (!acp_inquiry_says_anything(subject))
		return;
	ask->is_more = ask->is_more || has_call || !call;
	if (!has_call && json_says(subject, "type", "command")) {
		add_command_subject(ask, root, subject);
	} else if (has_call || !call) {
		acp_inquiry_describe(ask, call ? acp_tool_call_title(call) : NULL);
		acp_inquiry_doubt_value(ask, "subject", json_get(params, "subject"));
	}
}

/* Readers differ in which of two members of one name counts. */
static void doubt_twice(struct acp_inquiry *ask, const char *name, const cJSON *object)
{
	if (json_names_twice(object))
		acp_inquiry_doubt_value(ask, name, object);
}

/* What is beside that. */
static void doubt_rest(struct acp_inquiry *ask, const cJSON *params)
{
	static const char *const NAMES[] = { "toolCall", "subject", "options", NULL };
	static const char *const TEXTS[] = { "sessionId", "title", "description", NULL };
	static const char *const OPTION[] = { "optionId", "name", "kind", NULL };
	const cJSON *option;

	acp_inquiry_doubt_others(ask, params, NAMES, TEXTS);
	cJSON_ArrayForEach (option, json_get(params, "options"))
		if (!acp_inquiry_has_only(option, OPTION))
			acp_inquiry_doubt_value(ask, "options", option);
	doubt_twice(ask, "params", params);
	doubt_twice(ask, "toolCall", acp_inquiry_call(params));
}

/* codex-acp leaves out what is over 1 MiB: nothing is approved unseen without its being said. */
static void mark_unseen(struct acp_inquiry *ask)
{
	if (ask->diff.length || !ask->tool_kind || strcmp(ask->tool_kind, "edit") != 0)
		return;
	ask->risk = ACP_RISK_CRITICAL;
	acp_inquiry_note(ask, "The agent does not show what it would write.");
}

int acp_inquiry_permission(struct acp_inquiry *ask, const cJSON *params,
                           const struct acp_tool_call *call, const char *root, struct err *e)
{
	const char *title = json_text(params, "title");
	const char *name = call ? acp_tool_call_title(call) : NULL;

	ask->kind = ACP_INQUIRY_PERMISSION;
	ask->risk = ACP_RISK_HIGH;
	ask->session_id = xstrdup_if(json_text(params, "sessionId"));
	add_options(ask, json_get(params, "options"));
	if (ask->option_count == 0)
		return err_set(e, ERR_INPUT, "no options to choose from");
	acp_inquiry_describe(ask, json_text(params, "description"));
	add_matter(ask, params, call, root);
	doubt_rest(ask, params);
	mark_unseen(ask);
	if (!title || !title[0])
		title = name;
	else if (name && strcmp(title, name) != 0)
		ask->is_more = true;
	str_add(&ask->title, title && title[0] ? title : "Permission requested");
	return 0;
}

/* ---- */

static const char *const RISKS[] = {
	[ACP_RISK_LOW] = "low",
	[ACP_RISK_HIGH] = "high",
	[ACP_RISK_CRITICAL] = "critical",
};

const char *acp_risk_name(enum acp_risk risk)
{
	return RISKS[risk];
}

enum acp_risk acp_risk_of(const char *name)
{
	enum acp_risk risk = ACP_RISK_LOW;

	while (risk != ACP_RISK_CRITICAL && strcmp(RISKS[risk], name) != 0)
		risk++;
	return risk;
}
