#include "question.h"

#include "blocks.h"
#include "json.h"
#include "modal.h"
#include "path.h"
#include "text.h"
#include "visible.h"

#include <stdio.h>
#include <string.h>

enum {
	TITLE_MAX = 250, /* among many other words */
	OPTIONS_MOST = 20, /* buttons; Slack takes 25 */
	CHOICES_MOST = 5, /* of a form, as buttons */
	ANSWER_UNITS = 150, /* of an answer that a button does not show whole */
};

static bool is_open(const struct request *r)
{
	return request_is_open(r->row.state);
}

static const char *risk_sign(enum request_risk_level risk)
{
	switch (risk) {
	case REQUEST_RISK_LEVEL_CRITICAL:
		return "🔴";
	case REQUEST_RISK_LEVEL_HIGH:
		return "🟡";
	case REQUEST_RISK_LEVEL_LOW:
	case REQUEST_RISK_LEVEL_NONE:
		break;
	}
	return "🟢";
}

static const char *risk_name(const struct request *r)
{
	return r->row.risk_level ? request_risk_level_name(r->row.risk_level) : "low";
}

static void add_whose(struct str *out, const struct request *r)
{
	blocks_add_whose(out, r->row.agent_user, r->row.workspace_root, r->row.client_name,
	                 r->row.label);
}

/* A change that the agent makes itself. */
static bool is_change(const struct request *r)
{
	return r->row.kind == REQUEST_KIND_PERMISSION && r->row.file_path;
}

/* The use of a tool that is no command. */
static bool is_tool(const struct request *r)
{
	return r->row.gate_class && strcmp(r->row.gate_class, "execute") != 0;
}

/* Whether we say what it is about, not the agent. */
static bool is_told_of(const struct request *r)
{
	return r->row.kind == REQUEST_KIND_TRUST || (r->row.gate_class && !r->row.notes_length);
}

/* Its title, unless that is only the beginning of what is shown anyway. */
static const char *title_of(const struct request *r)
{
	const char *title = r->row.title ? r->row.title : "";

	return strncmp(str_text(&r->body), title, strlen(title)) == 0 ? NULL : title;
}

static bool calls_everybody(const struct request *r)
{
	return r->row.risk_level == REQUEST_RISK_LEVEL_HIGH ||
	       r->row.risk_level == REQUEST_RISK_LEVEL_CRITICAL;
}

static const char *prompt_heading(enum request_prompt_type type)
{
	switch (type) {
	case REQUEST_PROMPT_TYPE_CONTINUATION:
		return "🔄 *Continuation Prompt*";
	case REQUEST_PROMPT_TYPE_CLARIFICATION:
		return "❓ *Clarification Prompt*";
	case REQUEST_PROMPT_TYPE_ERROR_RECOVERY:
		return "⚠️ *Error Recovery Prompt*";
	case REQUEST_PROMPT_TYPE_RESOURCE_WARNING:
		return "📊 *Resource Warning Prompt*";
	case REQUEST_PROMPT_TYPE_NONE:
		break;
	}
	return "🔄 *Prompt*";
}

/* Whether it ended without an answer; an approval that has lapsed was one. */
static bool is_unanswered(const struct request *r)
{
	return r->row.state == REQUEST_STATE_EXPIRED && r->row.decision != REQUEST_VERDICT_APPROVE;
}

/* "✅ *Approved*" */
static const char *verdict_words(const struct request *r)
{
	if (is_unanswered(r) && r->row.withdrawn)
		return "🚫 *No longer needed*";
	if (is_unanswered(r) && r->row.form)
		return "⏰ *Cancelled*: nobody answered in time";
	if (is_unanswered(r))
		return r->row.kind == REQUEST_KIND_PROMPT
		           ? "⏰ *Auto-continued*: nobody answered in time"
		           : "⏰ *Expired*: nobody answered in time";
	if (r->row.chosen)
		return "☑️ *Chosen*";
	if (r->edited.length)
		return "✏️ *Approved with a change*";
	switch (r->row.decision) {
	case REQUEST_VERDICT_APPROVE:
		return "✅ *Approved*";
	case REQUEST_VERDICT_REJECT:
		return "❌ *Rejected*";
	case REQUEST_VERDICT_CONTINUE:
		return "▶️ *Continue*";
	case REQUEST_VERDICT_REFINE:
		return "✏️ *Refined*";
	case REQUEST_VERDICT_STOP:
		return "⏹️ *Stopped*";
	case REQUEST_VERDICT_RESUME:
		return "▶️ *Resumed*";
	case REQUEST_VERDICT_TIMEOUT:
	case REQUEST_VERDICT_NONE:
		break;
	}
	return "*Decided*";
}

/* The only option of a kind, or NULL. */
static const cJSON *only(const cJSON *options, const char *kind)
{
	const cJSON *option, *found = NULL;

	cJSON_ArrayForEach (option, options)
		if (json_says(option, "kind", kind)) {
			if (found)
				return NULL;
			found = option;
		}
	return found;
}

/* A plain yes is the only one that allows it once; an editor's user has chosen in the editor. */
static const cJSON *option_given(const struct request *r, const cJSON *options)
{
	const cJSON *option;
	bool is_yes = r->row.decision == REQUEST_VERDICT_APPROVE && !r->row.by_editor;

	if (!r->row.choice)
		return is_yes ? only(options, "allow_once") : NULL;
	cJSON_ArrayForEach (option, options)
		if (json_says(option, "id", r->row.choice))
			return option;
	return NULL;
}

/* Which of the answers that the agent offered it was. */
static void add_choice(struct str *out, const struct request *r)
{
	OWNED(cJSON_ptr) cJSON *options = cJSON_Parse(r->row.options ? r->row.options : "");
	const cJSON *option = option_given(r, options);

	if (!option)
		return;
	str_add(out, " “");
	blocks_add_escaped(out, json_text(option, "name"), BLOCKS_NAME);
	str_add(out, "”");
}

/* An editor's user is not at a terminal of ours. */
static void add_decider(struct str *out, const struct request *r)
{
	const char *name = r->row.decided_by ? strrchr(r->row.decided_by, ':') : NULL;

	if (r->row.by_editor && name)
		blocks_add_escaped(out, name + 1, BLOCKS_NAME);
	else
		blocks_add_person(out, r->row.decided_by);
}

/* Who decided what and when, and in which words. */
static void add_verdict(struct str *out, const struct request *r)
{
	const char *words = r->row.instruction ? r->row.instruction : r->row.reason;

	if (r->row.state == REQUEST_STATE_EXPIRED && !is_unanswered(r)) {
		str_add(out, "🚫 *The approval has lapsed*: ");
		blocks_add_escaped(out, r->row.withdrawn, BLOCKS_REASON);
		str_add_char(out, '\n');
	}
	str_add(out, verdict_words(r));
	add_choice(out, r);
	if (!is_unanswered(r)) {
		str_add(out, " by ");
		add_decider(out, r);
	}
	str_add(out, ", ");
	blocks_add_time(out, r->row.decided_at);
	if (r->row.withdrawn && is_unanswered(r))
		words = r->row.withdrawn;
	if (words && *words) {
		str_add(out, r->row.instruction && r->row.decision == REQUEST_VERDICT_APPROVE
		                 ? ", and told: "
		                 : ": ");
		blocks_add_escaped(out, words, BLOCKS_REASON);
	}
	if (r->outcome.withheld) {
		str_add(out, "\n⚠️ *But not done*: ");
		blocks_add_escaped(out, r->outcome.withheld, BLOCKS_REASON);
	}
	if (r->outcome.overruled) {
		str_add(out, "\n⚠️ *But allowed*: ");
		blocks_add_escaped(out, r->outcome.overruled, BLOCKS_REASON);
	}
}

/* The heading of the request; once it is answered, it comes after the verdict. */
static void add_heading(cJSON *blocks, const struct slack_ask *a)
{
	const struct request *r = a->request;
	OWNED(str) struct str text = { 0 };

	if (is_open(r)) {
		blocks_add_mentions(&text, a->mentions, calls_everybody(r));
	} else {
		add_verdict(&text, r);
		str_add_char(&text, '\n');
	}
	if (request_is_change(r) || is_change(r))
		str_addf(&text, "%s *Approval%s* · %s risk", risk_sign(r->row.risk_level),
		         is_open(r) ? " needed" : "", risk_name(r));
	else if (r->row.kind == REQUEST_KIND_PERMISSION)
		str_addf(&text, "🔒 *%s approval%s* · %s risk", is_tool(r) ? "Tool" : "Command",
		         is_open(r) ? " needed" : "", risk_name(r));
	else if (r->row.kind == REQUEST_KIND_TRUST)
		str_addf(&text, "🛂 *Trust this policy%s*", is_open(r) ? "?" : "");
	else if (r->row.kind == REQUEST_KIND_RESTORE)
		str_addf(&text, "⚠️ *Restore a checkpoint%s*", is_open(r) ? "?" : "");
	else if (r->row.kind == REQUEST_KIND_PROMPT)
		str_add(&text, prompt_heading(r->row.prompt_type));
	else
		str_add(&text,
		        is_open(r) ? "⏸️ *Agent waits for instructions*" : "⏸️ *Standby*");
	blocks_add_section(blocks, str_text(&text));
}

static void add_paths(cJSON *blocks, const struct request *r)
{
	OWNED(slack_gist) struct slack_gist g = { .added = 0 };
	OWNED(str) struct str size = { 0 }, text = { 0 };
	cJSON *runs = blocks_add_rich(blocks, "rich_text_section");

	slack_gist_take(r, &g);
	slack_gist_add_size(&size, &g);
	str_addf(&text, "📄 %s%s", g.files > 1 ? size.bytes : "", g.files > 1 ? ": " : "");
	blocks_add_run(runs, str_text(&text), NULL);
	str_reset(&text);
	slack_add_asked(&text, r);
	blocks_add_foreign(runs, text.length ? text.bytes : "?", text.length ? text.length : 1,
	                   SLACK_PATH_UNITS, "code");
	str_reset(&text);
	if (g.files == 1 && size.length)
		str_addf(&text, " (%s)", size.bytes);
	if (r->row.replaces_file)
		str_add(&text, ", replaces the whole file");
	blocks_add_run(runs, str_text(&text), NULL);
	if (g.files == 1)
		return;
	str_reset(&text);
	blocks_add_run(runs, "\nalso touches:", "bold");
	str_addf(&text, "\n%s", str_text(&g.paths));
	if (g.more)
		str_addf(&text, "\nand %zu more, all in the file", g.more);
	blocks_add_run(runs, str_text(&text), NULL);
}

/* Which part of the request is in a file, and where that is. */
static void add_file_note(cJSON *blocks, const struct slack_ask *a, size_t shown)
{
	const struct request *r = a->request;
	const struct str *text = slack_proposal(r);
	const char *words = r->description ? r->description : "";
	size_t lines = text->length ? slack_lines(str_text(text), text->length)
	                            : slack_lines(words, strlen(words));
	const char *where = a->diff_above ? "above" : "in the thread";
	OWNED(str) struct str note = { 0 };

	if (a->diff == SLACK_FILE_MISSING) {
		str_addf(&note,
		         "📎 %zu lines that Slack did not take, see `agent-intercom-ctl show ",
		         lines);
		blocks_add_escaped(&note, r->row.id, BLOCKS_NAME);
		str_add_char(&note, '`');
	} else if (a->diff == SLACK_FILE_AWAITED && is_open(r)) {
		str_addf(&note, "📎 %zu lines; the file with all of them comes in the thread%s",
		         lines, slack_is_approved(r) ? ", and then the button that approves" : "");
	} else if (slack_is_inline(r)) {
		str_addf(&note, "📎 all of the description is in the file %s", where);
	} else if (request_is_change(r)) {
		str_addf(&note, "📎 %zu lines, see the file %s", lines, where);
	} else if (!shown) {
		str_addf(&note, "📎 only its beginning is shown; all of it is in the file %s",
		         where);
	} else {
		str_addf(&note, "📎 %zu of %zu lines shown; the rest is in the file %s", shown,
		         lines, where);
	}
	blocks_add_context(blocks, str_text(&note));
}

/* What is approved, as much as fits in a message; false: it is cut. */
static bool add_exact(cJSON *blocks, const char *bytes, size_t length)
{
	OWNED(str) struct str text = { 0 };
	bool is_whole = slack_add(&text, bytes, length, SLACK_INLINE_UNITS, SLACK_EXACT);

	blocks_add_run(blocks_add_rich(blocks, "rich_text_preformatted"), str_text(&text), NULL);
	return is_whole;
}

/* What is to be approved. */
static void add_proposal(cJSON *blocks, const struct slack_ask *a)
{
	const struct request *r = a->request;
	const struct str *text = slack_proposal(r);
	size_t lines = 0;

	if (text->length == 0 && request_is_change(r))
		blocks_add_context(blocks, "the file will be empty");
	else if (text->length && (slack_is_inline(r) || !request_is_change(r)))
		(void)add_exact(blocks, str_text(text), slack_beginning(r, &lines));
	if (!slack_is_whole(r))
		add_file_note(blocks, a, lines);
}

/* What was approved instead of it. */
static void add_edited(cJSON *blocks, const struct request *r)
{
	OWNED(str) struct str marked = { 0 }, note = { 0 };
	size_t lines = slack_lines(str_text(&r->edited), r->edited.length);

	if (!r->edited.length)
		return;
	if (r->row.editable == REQUEST_EDITABLE_COMMAND)
		visible_add_command(&marked, r->edited.bytes, r->edited.length);
	else
		str_addf(&note, "✏️ Approved with another content: %zu lines", lines);
	if (marked.length) {
		blocks_add_context(blocks, "✏️ Approved with a change; what is run instead:");
		if (!add_exact(blocks, marked.bytes, marked.length))
			str_add(&note, "📎 the beginning of it");
	}
	if (!note.length)
		return;
	str_add(&note, "; all of it: `agent-intercom-ctl show ");
	blocks_add_escaped(&note, r->row.id, BLOCKS_NAME);
	str_add_char(&note, '`');
	blocks_add_context(blocks, str_text(&note));
}

/* What the agent says, and below it, without a bar, what we say about it. */
static void add_words(cJSON *blocks, const struct request *r, const char *title, const char *text,
                      size_t length, size_t most)
{
	const struct request_parts p = request_split(r, text, length);

	if (title || p.words || !p.notes_length)
		blocks_add_words(blocks, title, text, p.words, most);
	if (p.notes_length)
		blocks_add_text(blocks, NULL, p.notes, p.notes_length,
		                slack_is_whole(r) ? most : SLACK_DESCRIPTION_UNITS);
}

/* A prompt or a standby: there is nothing to approve. */
static void add_prompt(cJSON *blocks, const struct slack_ask *a)
{
	const struct str *text = slack_proposal(a->request);
	size_t lines = slack_lines(str_text(text), text->length), shown = lines;

	if (!slack_is_inline(a->request))
		(void)slack_beginning(a->request, &shown);
	add_words(blocks, a->request, NULL, str_text(text), text->length, SLACK_PROMPT_UNITS);
	if (!slack_is_whole(a->request))
		add_file_note(blocks, a, shown);
}

/* Foreign text that is shown as it is, on one line. */
static void add_exactly(cJSON *runs, const char *text, size_t units)
{
	OWNED(str) struct str shown = { 0 };

	visible_add(&shown, text, strlen(text), false);
	blocks_add_foreign(runs, str_text(&shown), shown.length, units, "code");
}

/* Its origin in full, until a request from there has been answered. */
static void add_new_workspace(cJSON *blocks, const struct request *r)
{
	cJSON *runs;

	if (!r->row.is_new_workspace || !r->row.workspace_root || !is_open(r))
		return;
	runs = blocks_add_rich(blocks, "rich_text_section");
	blocks_add_run(runs, "📍 First question from this folder: ", NULL);
	add_exactly(runs, r->row.workspace_root, BLOCKS_PATH);
}

static void add_where(cJSON *blocks, const struct request *r)
{
	OWNED(str) struct str text = { 0 };

	str_add(&text, "id ");
	blocks_add_short_id(&text, r->row.id);
	str_add(&text, " · session ");
	blocks_add_short_id(&text, r->row.session_id);
	blocks_add_user(&text, r->row.agent_user);
	if (r->row.client_name || r->row.label) {
		str_add(&text, " · ");
		blocks_add_agent(&text, r->row.client_name, r->row.label);
	}
	if (r->row.workspace_root) {
		str_add(&text, " · ");
		blocks_add_escaped(&text, path_name(r->row.workspace_root), BLOCKS_NAME);
	}
	if (r->row.has_elapsed_seconds) {
		str_add(&text, " · elapsed ");
		blocks_add_span(&text, r->row.elapsed_seconds);
	}
	if (r->row.has_actions_taken)
		str_addf(&text, " · %lld actions", (long long)r->row.actions_taken);
	if (is_open(r) && r->row.deadline_at) {
		str_add(&text, r->row.form                          ? " · is cancelled "
		               : r->row.kind == REQUEST_KIND_PROMPT ? " · continues by itself "
		                                                    : " · expires ");
		blocks_add_time(&text, r->row.deadline_at);
	}
	if (r->row.previous_at) {
		str_add(&text, " · rejected before, ");
		blocks_add_time(&text, r->row.previous_at);
	}
	blocks_add_context(blocks, str_text(&text));
}

/* Whether there is a file to look at in addition to the proposal. */
static bool has_file(const struct request *r)
{
	for (size_t i = 0; i < r->file_count; i++)
		if (strcmp(r->files[i].hash, NO_FILE) != 0)
			return true;
	return false;
}

/* Whether the form to edit a command holds it whole. */
static bool is_edited_here(const struct request *r)
{
	OWNED(str) struct str shown = { 0 };

	if (r->row.editable != REQUEST_EDITABLE_COMMAND || r->body.length > SLACK_EDIT_MAX)
		return false;
	(void)slack_add(&shown, str_text(&r->body), r->body.length, SLACK_EDIT_MAX, SLACK_RAW);
	return shown.length == r->body.length &&
	       memcmp(str_text(&shown), str_text(&r->body), shown.length) == 0;
}

/* "2. Keep", in the agent's words: nothing in its text has these numbers. */
static void add_name(struct str *out, int number, const cJSON *of)
{
	const char *name = json_text_or(of, "name", "?");

	str_addf(out, "%d. ", number);
	visible_add(out, name, strlen(name), false);
}

static void add_numbered(cJSON *buttons, int number, const cJSON *of, const char *id,
                         const char *style)
{
	OWNED(str) struct str name = { 0 };
	char action[40];

	(void)snprintf(action, sizeof(action), "approve_option_%d", number);
	add_name(&name, number, of);
	blocks_add_foreign_button(buttons, action, name.bytes, id, style);
}

/* Those that no button shows whole; they are whole in the question, or in its file. */
static void add_long_names(cJSON *blocks, const cJSON *options)
{
	cJSON *runs = NULL;
	const cJSON *option;
	bool is_cut = false;
	int number = 0;

	cJSON_ArrayForEach (option, options) {
		OWNED(str) struct str name = { 0 };

		add_name(&name, ++number, option);
		if (number > OPTIONS_MOST || slack_units(name.bytes) <= BLOCKS_BUTTON)
			continue;
		if (!runs) {
			runs = blocks_add_rich(blocks, "rich_text_section");
			blocks_add_run(runs, "Answers that the buttons cut:", "bold");
		}
		blocks_add_run(runs, "\n", NULL);
		blocks_add_foreign(runs, name.bytes, name.length, ANSWER_UNITS, "code");
		is_cut = is_cut || slack_units(name.bytes) > ANSWER_UNITS;
	}
	if (is_cut)
		blocks_add_run(runs, "\nThe rest of … is in the question above, or in its file.",
		               NULL);
}

static void add_more(cJSON *blocks, const struct request *r, int count)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "%d of the %d answers have a button; for any other, say `choose ",
	         (int)OPTIONS_MOST, count);
	blocks_add_escaped(&text, r->row.id, BLOCKS_NAME);
	str_addf(&text, " %d` with its number", (int)OPTIONS_MOST + 1);
	blocks_add_context(blocks, str_text(&text));
}

/* The answers that the agent offers, in its words; to refuse with a reason there is a form. */
static void add_options(cJSON *blocks, const struct request *r, const cJSON *options, bool is_seen)
{
	cJSON *buttons;
	const cJSON *option;
	int number = 0;

	add_long_names(blocks, options);
	buttons = blocks_add_actions(blocks, "approval_", r->row.id);
	cJSON_ArrayForEach (option, options) {
		const char *kind = json_text(option, "kind");
		bool rejects = kind && strncmp(kind, "reject", strlen("reject")) == 0;
		if (++number <= OPTIONS_MOST && (is_seen || rejects))
			add_numbered(buttons, number, option, r->row.id, rejects ? "danger" : NULL);
	}
	blocks_add_button(buttons, "approve_reject", "Reject, and say why", r->row.id, "danger");
	if (is_seen && number > OPTIONS_MOST)
		add_more(blocks, r, number);
}

/* A form of one field with few values is buttons; any other one is filled in in words. */
static void add_form(cJSON *blocks, const struct request *r)
{
	OWNED(cJSON_ptr) cJSON *fields = cJSON_Parse(r->row.form);
	const cJSON *field = cJSON_GetArrayItem(fields, 0), *choice;
	const cJSON *choices = cJSON_GetObjectItemCaseSensitive(field, "choices");
	const char *kind = json_text(field, "kind");
	bool is_simple = cJSON_GetArraySize(fields) == 1 && kind && strcmp(kind, "many") != 0 &&
	                 cJSON_GetArraySize(choices) <= CHOICES_MOST;
	cJSON *buttons;
	int number = 0;

	if (is_simple)
		add_long_names(blocks, choices);
	buttons = blocks_add_actions(blocks, "prompt_", r->row.id);
	cJSON_ArrayForEach (choice, choices) {
		number++;
		if (is_simple)
			add_numbered(buttons, number, choice, r->row.id, NULL);
	}
	if (!is_simple || !number)
		blocks_add_button(buttons, "prompt_refine", "Answer", r->row.id, "primary");
	blocks_add_button(buttons, "prompt_stop", "Decline", r->row.id, "danger");
}

/* Whether it offers a yes and a no, though called something else. */
static bool is_pair(const cJSON *options)
{
	return only(options, "allow_once") &&
	       1 + (only(options, "reject_once") != NULL) == cJSON_GetArraySize(options);
}

static void add_meaning(cJSON *runs, const char *button, const cJSON *option)
{
	const char *name = json_text(option, "name");

	if (!name)
		return;
	blocks_add_run(runs, button, "bold");
	blocks_add_run(runs, " answers ", NULL);
	add_exactly(runs, name, ANSWER_UNITS);
}

/* What the agent calls that for which our buttons stand. */
static void add_meanings(cJSON *blocks, const cJSON *options)
{
	cJSON *runs;

	if (!options)
		return;
	runs = blocks_add_rich(blocks, "rich_text_section");
	add_meaning(runs, "Accept", only(options, "allow_once"));
	add_meaning(runs, "\nReject", only(options, "reject_once"));
}

static void add_buttons(cJSON *blocks, const struct slack_ask *a)
{
	const struct request *r = a->request;
	OWNED(cJSON_ptr) cJSON *options = cJSON_Parse(r->row.options ? r->row.options : "");
	bool is_unseen = a->diff != SLACK_FILE_THERE && !slack_is_whole(r);
	cJSON *buttons;

	if (options && !is_pair(options)) {
		add_options(blocks, r, options, !is_unseen);
	} else if (r->row.kind == REQUEST_KIND_RESTORE) {
		buttons = blocks_add_actions(blocks, "approval_", r->row.id);
		if (!is_unseen)
			blocks_add_button(buttons, "restore_proceed", "✅ Proceed", r->row.id,
			                  "primary");
		blocks_add_button(buttons, "restore_cancel", "❌ Cancel", r->row.id, "danger");
	} else if (r->row.kind == REQUEST_KIND_CLEARANCE ||
	           r->row.kind == REQUEST_KIND_PERMISSION || r->row.kind == REQUEST_KIND_TRUST) {
		add_meanings(blocks, options);
		buttons = blocks_add_actions(blocks, "approval_", r->row.id);
		if (!is_unseen)
			blocks_add_button(buttons, "approve_accept", "Accept", r->row.id,
			                  "primary");
		blocks_add_button(buttons, "approve_reject", "Reject", r->row.id, "danger");
		if (is_edited_here(r))
			blocks_add_button(buttons, "approve_edit", "Edit…", r->row.id, NULL);
		if (has_file(r))
			blocks_add_button(buttons, "approve_file", "Show file", r->row.id, NULL);
	} else if (r->row.form) {
		add_form(blocks, r);
	} else if (r->row.kind == REQUEST_KIND_PROMPT) {
		buttons = blocks_add_actions(blocks, "prompt_", r->row.id);
		blocks_add_button(buttons, "prompt_continue", "Continue", r->row.id, "primary");
		blocks_add_button(buttons, "prompt_refine", "Refine", r->row.id, NULL);
		blocks_add_button(buttons, "prompt_stop", "Stop", r->row.id, "danger");
	} else {
		buttons = blocks_add_actions(blocks, "wait_",
		                             r->row.session_id ? r->row.session_id : r->row.id);
		blocks_add_button(buttons, "wait_resume", "Resume", r->row.id, "primary");
		blocks_add_button(buttons, "wait_resume_instruct", "Resume with Instructions",
		                  r->row.id, NULL);
		blocks_add_button(buttons, "wait_stop", "Stop Session", r->row.id, "danger");
	}
}

/* " (modify src/a.c; delete src/b.c and 7 more)" */
static void add_names(struct str *out, const struct request *r, const struct slack_gist *g)
{
	OWNED(str) struct str names = { 0 };
	const char *path = str_text(&g->paths);

	slack_add_asked(&names, r);
	for (size_t n; *path; path += n + (path[n] == '\n')) {
		n = strcspn(path, "\n");
		str_addf(&names, "; %.*s", (int)n, path);
	}
	str_add(out, " (");
	blocks_add_escaped(out, str_text(&names), SLACK_PATHS_UNITS);
	if (g->more)
		str_addf(out, " and %zu more", g->more);
	str_add_char(out, ')');
}

/* "Approval needed (high risk, +1 −2) in web (claude): TITLE (src/a.c)": a phone shows the
 * beginning. */
static void add_fallback(struct str *out, const struct request *r)
{
	OWNED(slack_gist) struct slack_gist g = { .added = 0 };
	OWNED(str) struct str size = { 0 };

	if (!is_open(r)) {
		add_verdict(out, r);
		str_add(out, " ·");
	} else if (request_is_change(r) || is_change(r)) {
		str_add(out, "Approval needed");
	} else if (r->row.kind == REQUEST_KIND_PERMISSION) {
		str_addf(out, "%s approval needed", is_tool(r) ? "Tool" : "Command");
	} else if (r->row.kind == REQUEST_KIND_TRUST) {
		str_add(out, "A policy is to be trusted");
	} else if (r->row.kind == REQUEST_KIND_RESTORE) {
		str_add(out, "A checkpoint is to be restored");
	} else if (r->row.kind == REQUEST_KIND_PROMPT) {
		str_add(out, "Your agent asks");
	} else {
		str_add(out, "Agent waits for instructions");
	}
	if (request_is_change(r)) {
		slack_gist_take(r, &g);
		slack_gist_add_size(&size, &g);
		str_addf(out, " (%s risk%s%s)", risk_name(r), size.length ? ", " : "",
		         str_text(&size));
	}
	add_whose(out, r);
	str_add(out, ": ");
	blocks_add_escaped(out, r->row.title ? r->row.title : "", TITLE_MAX);
	if (request_is_change(r))
		add_names(out, r, &g);
}

void slack_question_add_told(struct str *out, const char *words, const char *by)
{
	str_add(out, out->length ? "\nAlso told, as " : "Also told, as ");
	blocks_add_person(out, by);
	str_add(out, " wrote: “");
	blocks_add_escaped(out, words, TITLE_MAX);
	str_add(out, "”");
}

void slack_question_say(const struct slack_ask *a, struct slack_said *out)
{
	const struct request *r = a->request;
	const char *body = r->description ? r->description : "";

	out->blocks = cJSON_CreateArray();
	add_fallback(&out->text, r);
	add_heading(out->blocks, a);
	if (a->told)
		blocks_add_context(out->blocks, a->told);
	if (request_is_change(r)) {
		add_words(out->blocks, r, r->row.title, body, strlen(body),
		          SLACK_DESCRIPTION_UNITS);
		add_paths(out->blocks, r);
		add_proposal(out->blocks, a);
	} else if (r->row.kind == REQUEST_KIND_RESTORE) {
		blocks_add_text(out->blocks, r->row.title, body, strlen(body),
		                SLACK_DESCRIPTION_UNITS);
		add_proposal(out->blocks, a);
	} else if (r->row.kind == REQUEST_KIND_PERMISSION || r->row.kind == REQUEST_KIND_TRUST) {
		add_proposal(out->blocks, a);
		if (is_told_of(r))
			blocks_add_text(out->blocks, title_of(r), body, strlen(body),
			                SLACK_DESCRIPTION_UNITS);
		else
			add_words(out->blocks, r, title_of(r), body, strlen(body),
			          SLACK_DESCRIPTION_UNITS);
	} else {
		add_prompt(out->blocks, a);
	}
	add_edited(out->blocks, r);
	add_new_workspace(out->blocks, r);
	add_where(out->blocks, r);
	if (r->row.state == REQUEST_STATE_INTERRUPTED)
		blocks_add_context(out->blocks,
		                   "⏸️ The agent is not connected; your answer still counts.");
	if (is_open(r))
		add_buttons(out->blocks, a);
}

void slack_question_say_plain(const struct request *r, struct slack_said *out)
{
	const struct str *text = slack_proposal(r);

	add_fallback(&out->text, r);
	str_add_char(&out->text, '\n');
	if (!slack_add(&out->text, str_text(text), text->length, BLOCKS_PLAIN,
	               SLACK_MRKDWN | slack_exactness(r))) {
		str_add(&out->text, "\nThe rest is in the file, and at the terminal: "
		                    "agent-intercom-ctl show ");
		blocks_add_escaped(&out->text, r->row.id, BLOCKS_NAME);
	}
	if (!is_open(r))
		return;
	if (r->row.kind == REQUEST_KIND_CLEARANCE || r->row.kind == REQUEST_KIND_PERMISSION ||
	    r->row.kind == REQUEST_KIND_TRUST || r->row.kind == REQUEST_KIND_RESTORE)
		str_add(&out->text, "\nAnswer in the thread: approve, or reject and why");
	else if (r->row.form)
		str_add(&out->text, "\nAnswer in the thread: refine and the values, or stop");
	else if (r->row.kind == REQUEST_KIND_PROMPT)
		str_add(&out->text, "\nAnswer in the thread: continue, stop, or refine and how");
	else
		str_add(&out->text,
		        "\nAnswer in the thread: resume, with or without words, or stop");
}

void slack_question_say_line(const struct request *r, struct slack_said *out)
{
	const char *verb = r->row.form                           ? "refine"
	                   : r->row.kind == REQUEST_KIND_PROMPT  ? "continue"
	                   : r->row.kind == REQUEST_KIND_STANDBY ? "resume"
	                                                         : "approve";

	str_addf(&out->text, "An agent asks something that Slack does not show (%s risk)",
	         risk_name(r));
	add_whose(&out->text, r);
	str_add(&out->text, ". At the terminal: agent-intercom-ctl show ");
	blocks_add_escaped(&out->text, r->row.id, BLOCKS_NAME);
	str_addf(&out->text, "; then, in the thread: %s ", verb);
	blocks_add_escaped(&out->text, r->row.id, BLOCKS_NAME);
}

void slack_question_say_expired(const struct request *r, struct slack_said *out)
{
	if (r->row.form)
		str_add(&out->text, "⏰ Question cancelled: nobody answered in time");
	else if (r->row.kind == REQUEST_KIND_PROMPT)
		str_add(&out->text, "⏰ Continuation prompt auto-continued after timeout");
	else
		str_add(&out->text, "⏰ Nobody answered in time");
	add_whose(&out->text, r);
	str_add(&out->text, ": ");
	blocks_add_escaped(&out->text, r->row.title, TITLE_MAX);
	if (r->row.kind == REQUEST_KIND_CLEARANCE || r->row.kind == REQUEST_KIND_PERMISSION)
		str_add(&out->text,
		        "\nTo have it asked again, tell its agent: `steer &lt;text&gt;`");
	out->blocks = blocks_of_section(str_text(&out->text));
}
