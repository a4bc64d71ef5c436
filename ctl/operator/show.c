/* show: one request with everything the operator must know before answering. */
#include "ctl.h"

#include "diff.h"
#include "json.h"
#include "safe_path.h"
#include "visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the operator looks at: the effect if there is one, else what was sent. */
static const struct str *shown(const struct ctl *c, const struct request *r)
{
	return r->effect.length && !c->sent ? &r->effect : &r->body;
}

/* Calls each for every path that a diff touches, other than the request's own. */
static void other_paths(const struct request *r, void (*each)(const char *path, void *arg),
                        void *arg)
{
	struct diff d = { 0 };

	if (!r->row.file_path || !diff_looks_like(str_text(&r->body), r->body.length) ||
	    diff_parse(r->body.bytes, r->body.length, &d, NULL))
		return;
	for (size_t i = 0; i < d.file_count; i++) {
		const char *const paths[] = { d.files[i].old_path, d.files[i].new_path };
		bool same = paths[0] && paths[1] && strcmp(paths[0], paths[1]) == 0;

		for (size_t k = same ? 1 : 0; k < COUNT(paths); k++)
			if (paths[k] && strcmp(paths[k], r->row.file_path) != 0)
				each(paths[k], arg);
	}
	diff_clear(&d);
}

enum { MODE_BYTES = 16 };

/* A mode as git writes it; NULL: the diff has none. */
static const char *mode_text(unsigned mode, char text[MODE_BYTES])
{
	if (mode == 0)
		return NULL;
	(void)snprintf(text, MODE_BYTES, "%06o", mode);
	return text;
}

/* ---- JSON ---- */

static void add_path(const char *path, void *arg)
{
	(void)cJSON_AddItemToArray(arg, json_string(path));
}

/* Adds every path with what happens to it and its hash at the time of the question. */
static void add_touched(const struct request *r, cJSON *files)
{
	for (size_t i = 0; i < r->file_count; i++) {
		const struct touched *t = &r->files[i];
		cJSON *o = cJSON_CreateObject();
		char mode[MODE_BYTES];

		json_add_text(o, "path", t->path);
		json_add_text(o, "target", t->target);
		json_add_text(o, "action", t->action);
		json_add_text(o, "other_path", t->other);
		json_add_text(o, "mode", mode_text(t->mode, mode));
		json_add_text(o, "original_hash", t->hash);
		(void)cJSON_AddItemToArray(files, o);
	}
}

static void add_number(cJSON *o, const char *name, int64_t value)
{
	if (value < 0)
		(void)cJSON_AddNullToObject(o, name);
	else
		(void)cJSON_AddNumberToObject(o, name, (double)value);
}

cJSON *request_json(const struct request *r, const struct request_calls_row *calls)
{
	cJSON *o = cJSON_CreateObject();
	const struct {
		const char *name, *text;
	} texts[] = {
		{ "id", r->row.id },
		{ "kind", request_kind_name(r->row.kind) },
		{ "state", request_state_name(r->row.state) },
		{ "title", r->row.title },
		{ "description", r->description },
		{ "risk_level", request_risk_level_name(r->row.risk_level) },
		{ "file_path", r->row.file_path },
		{ "digest", r->row.digest },
		{ "original_hash", r->row.original_hash },
		{ "prompt_type", request_prompt_type_name(r->row.prompt_type) },
		{ "session_id", r->row.session_id },
		{ "session_status", session_status_name(r->row.session_status) },
		{ "machine", r->row.machine },
		{ "workspace_root", r->row.workspace_root },
		{ "client_name", r->row.client_name },
		{ "created_at", r->row.created_at },
		{ "deadline_at", r->row.deadline_at },
		{ "rejected_before_at", r->row.previous_at },
		{ "decision", request_verdict_name(r->row.decision) },
		{ "chosen", r->row.chosen },
		{ "reason", r->row.reason },
		{ "instruction", r->row.instruction },
		{ "decided_by", r->row.decided_by },
		{ "decided_at", r->row.decided_at },
		{ "consumed_at", r->row.consumed_at },
		{ "undone_at", r->outcome.undone_at },
		{ "checkpoint", r->outcome.checkpoint },
		{ "withheld", r->outcome.withheld },
		{ "overruled", r->outcome.overruled },
		{ "traceparent", calls->traceparent },
	};

	for (size_t i = 0; i < COUNT(texts); i++)
		json_add_text(o, texts[i].name, texts[i].text);
	json_add_given(o, "user", r->row.agent_user);
	json_add_given(o, "label", r->row.label);
	(void)cJSON_AddBoolToObject(o, "is_new_workspace", r->row.is_new_workspace);
	add_number(o, "elapsed_seconds", r->row.has_elapsed_seconds ? r->row.elapsed_seconds : -1);
	add_number(o, "actions_taken", r->row.has_actions_taken ? r->row.actions_taken : -1);
	(void)cJSON_AddBoolToObject(o, "listening", calls->listeners > 0);
	(void)cJSON_AddBoolToObject(o, "replaces_file", r->row.replaces_file);
	(void)cJSON_AddBoolToObject(o, "was_forced", r->outcome.was_forced);
	add_touched(r, cJSON_AddArrayToObject(o, "files"));
	other_paths(r, add_path, cJSON_AddArrayToObject(o, "also_touches"));
	json_add_bytes(o, "body", r->body.bytes, r->body.length);
	json_add_bytes(o, "effect", r->effect.bytes, r->effect.length);
	if (r->row.editable)
		json_add_text(o, "editable", request_editable_name(r->row.editable));
	if (r->edited.length)
		json_add_bytes(o, "edited", r->edited.bytes, r->edited.length);
	return o;
}

/* ---- text ---- */

static void field(const struct ctl *c, const char *name, const char *text)
{
	if (!text)
		return;
	print_look(c, LOOK_DIM);
	(void)printf("%-9s ", name);
	print_look(c, LOOK_PLAIN);
	print_visible(text);
	(void)putchar('\n');
}

static void instant_field(const struct ctl *c, const char *name, const char *at, bool with_age)
{
	struct age age = age_of(at);
	char text[100];

	if (!at)
		return;
	(void)snprintf(text, sizeof(text), "%s (%s ago)", at, age.text);
	field(c, name, with_age ? text : at);
}

static void print_path(const char *path, void *arg)
{
	field(arg, "also", path);
}

/* Prints what happens to each path, one line each. */
static void print_touched(const struct ctl *c, const struct request *r)
{
	for (size_t i = 0; i < r->file_count; i++) {
		const struct touched *t = &r->files[i];
		const char *action = strcmp(t->action, "read") == 0 ? "copy of" : t->action;
		OWNED(str) struct str text = { 0 };
		char mode[MODE_BYTES];

		proposal_touched_add_name(&text, t);
		if (t->other) {
			str_addf(&text, " (%s ",
			         strcmp(t->action, "delete") == 0 ? "becomes" : "from");
			visible_add_name(&text, t->other);
			str_add_char(&text, ')');
		}
		if (t->mode)
			str_addf(&text, " (mode %s)", mode_text(t->mode, mode));
		field(c, action, text.bytes);
	}
}

static enum look look_of(const char *line, size_t length)
{
	static const struct {
		const char *begin;
		enum look look;
	} LOOKS[] = {
		{ "+++", LOOK_BOLD }, { "---", LOOK_BOLD }, { "diff ", LOOK_BOLD },
		{ "@@", LOOK_CYAN },  { "+", LOOK_GREEN },  { "-", LOOK_RED },
	};

	for (size_t i = 0; i < COUNT(LOOKS); i++) {
		size_t n = strlen(LOOKS[i].begin);

		if (length >= n && memcmp(line, LOOKS[i].begin, n) == 0)
			return LOOKS[i].look;
	}
	return LOOK_PLAIN;
}

static void print_behind(const struct ctl *c, const char *margin, const char *bytes, size_t length,
                         bool diff)
{
	OWNED(str) struct str line = { 0 };
	const char *end = bytes + length;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t n = (size_t)((newline ? newline : end) - bytes);
		enum look look = diff ? look_of(bytes, n) : LOOK_PLAIN;

		str_reset(&line);
		add_visible(&line, bytes, n, true);
		print_look(c, LOOK_DIM);
		(void)fputs(margin, stdout);
		print_look(c, LOOK_PLAIN);
		if (look != LOOK_PLAIN)
			print_look(c, look);
		(void)fputs(str_text(&line), stdout);
		if (look != LOOK_PLAIN)
			print_look(c, LOOK_PLAIN);
		(void)putchar('\n');
		bytes += n + (newline ? 1 : 0);
	}
}

void print_block(const struct ctl *c, const char *bytes, size_t length, bool diff)
{
	print_behind(c, "  | ", bytes, length, diff);
}

/* What follows the agent's words is ours, and has no sign beside it. */
static void print_words(const struct ctl *c, const struct request *r, const char *margin,
                        const char *text, size_t length)
{
	const struct request_parts p = request_split(r, text, length);

	if (p.words) {
		(void)putchar('\n');
		print_behind(c, margin, text, p.words, false);
	}
	if (p.notes_length) {
		(void)putchar('\n');
		print_behind(c, "  ", p.notes, p.notes_length, false);
	}
}

static void print_title(const struct ctl *c, const struct request *r)
{
	print_look(c, LOOK_BOLD);
	print_visible(r->row.title);
	print_look(c, LOOK_PLAIN);
	(void)printf("  [%s, %s]\n", request_kind_name(r->row.kind),
	             request_state_name(r->row.state));
}

static void print_risk(const struct ctl *c, enum request_risk_level risk)
{
	bool high = risk != REQUEST_RISK_LEVEL_LOW;

	if (!risk)
		return;
	if (high)
		print_look(c, LOOK_RED);
	(void)printf("%-10s%s\n", "risk", request_risk_level_name(risk));
	if (high)
		print_look(c, LOOK_PLAIN);
}

/* The answers that the agent offers, each by its number. */
static void print_answers(const struct ctl *c, const struct request *r)
{
	OWNED(cJSON_ptr) cJSON *options = cJSON_Parse(r->row.options ? r->row.options : "");
	const cJSON *option;
	int number = 0;

	if (r->row.decided_at)
		return;
	cJSON_ArrayForEach (option, options) {
		OWNED(str) struct str line = { 0 };

		str_addf(&line, "%d. %s", ++number, json_text(option, "name"));
		field(c, number == 1 ? "answers" : "", line.bytes);
	}
}

static void print_asked(const struct ctl *c, const struct request *r, int64_t listeners)
{
	OWNED(str) struct str file = { 0 };

	field(c, "id", r->row.id);
	request_add_name(&file, r);
	field(c, "file", r->row.file_path ? str_text(&file) : NULL);
	if (r->file_count)
		print_touched(c, r);
	else
		other_paths(r, print_path, (void *)c);
	print_risk(c, r->row.risk_level);
	print_answers(c, r);
	field(c, "type", request_prompt_type_name(r->row.prompt_type));
	field(c, "session", r->row.session_id);
	field(c, "user", r->row.agent_user);
	field(c, "client", r->row.client_name);
	field(c, "label", r->row.label);
	field(c, "workspace", r->row.workspace_root);
	if (r->row.is_new_workspace && !r->row.decided_at)
		field(c, "", "which is new: no question from there was answered before");
	instant_field(c, "asked", r->row.created_at, true);
	instant_field(c, "until", r->row.deadline_at, false);
	if (!r->row.decided_at && r->row.kind != REQUEST_KIND_RESTORE) /* of which no agent asks */
		field(c, "listening",
		      listeners > 0 ? "yes" : "no, it gets the answer when it is back");
	field(c, "digest", r->row.digest);
	if (r->row.has_elapsed_seconds)
		(void)printf("%-10s%" PRId64 " s\n", "elapsed", r->row.elapsed_seconds);
	if (r->row.has_actions_taken)
		(void)printf("%-10s%" PRId64 "\n", "actions", r->row.actions_taken);
}

static void print_decided(const struct ctl *c, const struct request *r)
{
	if (!r->row.decided_at)
		return;
	if (r->row.chosen)
		field(c, "chosen", r->row.chosen);
	else
		field(c, "decision", request_verdict_name(r->row.decision));
	field(c, "by", r->row.decided_by);
	instant_field(c, "at", r->row.decided_at, true);
	field(c, "reason", r->row.reason);
	field(c, "text", r->row.instruction);
	instant_field(c, "written", r->row.consumed_at, true);
	if (r->outcome.was_forced)
		field(c, "", "by force, over what had changed since it was asked");
	instant_field(c, "undone", r->outcome.undone_at, true);
	field(c, "checkpoint", r->outcome.checkpoint);
	field(c, "not done", r->outcome.withheld);
	field(c, "allowed", r->outcome.overruled);
}

static void warning(const struct ctl *c, const char *text, const char *at)
{
	print_look(c, LOOK_YELLOW);
	(void)printf("%s%s\n", text, at);
	print_look(c, LOOK_PLAIN);
}

void show_request(const struct ctl *c, const struct request *r, int64_t listeners)
{
	const struct str *text = shown(c, r);
	bool diff = diff_looks_like(str_text(text), text->length);

	print_title(c, r);
	print_asked(c, r, listeners);
	print_decided(c, r);
	if (r->row.previous_at)
		warning(c, "rejected before at ", r->row.previous_at);
	if (r->row.replaces_file)
		warning(c, "replaces the whole file", "");
	/* a margin of its own: it must not pass for what is asked, nor "> " for the prompt */
	if (r->description)
		print_words(c, r, "  : ", r->description, strlen(r->description));
	if (text->length && r->row.kind == REQUEST_KIND_PROMPT) {
		print_words(c, r, "  | ", text->bytes, text->length);
	} else if (text->length) {
		(void)putchar('\n');
		print_block(c, text->bytes, text->length, diff && r->row.file_path);
	}
	if (r->edited.length) {
		(void)printf("\napproved with a change; what was approved instead:\n");
		print_block(c, r->edited.bytes, r->edited.length, false);
	} else if (r->row.editable && !r->row.decided_at) {
		(void)printf("\nto change it: approve %s --edit\n", r->row.id);
	}
	if (r->effect.length && !c->sent)
		(void)printf(
		    "\n%s; what the agent sent: show --sent %s\n",
		    !request_is_change(r)
		        ? "blanks that look like others, or like nothing, are marked"
		        : "this is what it does to the files as they were when it was asked",
		    r->row.id);
}

/* Names what is no longer as it was when this was asked, as far as we may read it. Last: its disk
 * may not answer. */
static void show_changed(const struct ctl *c, const struct request *r)
{
	struct err e = { 0 };
	int root_fd;

	(void)fflush(stdout);
	if (r->row.decided_at || !r->file_count ||
	    safe_path_open(r->row.workspace_root, &root_fd, &e))
		return;
	for (size_t i = 0; i < r->file_count; i++) {
		const struct touched *t = &r->files[i];
		struct sha256 now = { .text = NO_FILE };
		OWNED(str) struct str name = { 0 };

		if (safe_path_hash(root_fd, t->target, &now, &e) < 0 ||
		    strcmp(now.text, t->hash) == 0)
			continue;
		proposal_touched_add_name(&name, t);
		warning(c, "changed since it was asked: ", str_text(&name));
	}
	(void)close(root_fd);
}

static int run_show(struct ctl *c, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(request_calls_row) struct request_calls_row calls = { 0 };

	if (find_request(c, c->argv[0], &r, e) ||
	    sql_request_calls(&c->store, r.row.seq, &calls, e) < 0)
		return -1;
	if (c->json)
		json_print(c, request_json(&r, &calls));
	else {
		show_request(c, &r, calls.listeners);
		show_changed(c, &r);
	}
	return 0;
}

const struct command_spec cmd_show = { "show",
	                               HELP("ID [--sent]", "one question in full",
	                                    "Of a change it shows what becomes of the files, "
	                                    "computed from them as they were when it\n"
	                                    "was asked, and names those that have changed since; "
	                                    "with --sent the text that the agent\n"
	                                    "sent.\n"),
	                               ARGUMENTS(1, 1, TAKES_SENT), .run = run_show };
