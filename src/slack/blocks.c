#include "blocks.h"

#include "clock.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In UTF-16 units, 5 % below what Slack refuses. */
enum {
	SECTION_MAX = 2850,
	CONTEXT_MAX = 1900,
	MESSAGE_MAX = 9500, /* all texts of a message's blocks */
	SIGN_MAX = 60, /* in front of a text, and what it left out */
	SLICE_MIN = 300, /* bytes, that always fit */
	FALLBACK_MAX = 3000,
	PLAIN_MAX = 2000, /* of what is asked, where there are no blocks */
	TITLE_MAX = 250, /* where it is one of many words */
	PATH_MAX_UNITS = 300,
	PATHS_UNITS = 1500,
	REASON_MAX = 600,
	STEP_MAX = 200, /* of what an agent says of its progress */
	NAME_MAX_UNITS = 80,
	PRESET_MAX = 2850,
	INPUT_MAX = 3000,
	SHORT_ID =
	    13, /* ids of the same minute begin alike; this far, those of the same millisecond */
	HASH = 64, /* digits of a hash; a person is shown the first HASH_SHOWN */
	HASH_SHOWN = 8,
	BLOCK_ID_BYTES = 256,
};

/* ---- JSON ---- */

static cJSON *object(const char *type)
{
	cJSON *o = cJSON_CreateObject();

	(void)cJSON_AddStringToObject(o, "type", type);
	return o;
}

static cJSON *plain(const char *text)
{
	cJSON *o = object("plain_text");

	(void)cJSON_AddStringToObject(o, "text", text);
	(void)cJSON_AddBoolToObject(o, "emoji", 1);
	return o;
}

static const char *member_text(const cJSON *o, const char *name)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));

	return text ? text : "?";
}

/* Escaped already; verbatim: names and addresses in it are not made links. */
static cJSON *mrkdwn(const char *text)
{
	cJSON *o = object("mrkdwn");

	(void)cJSON_AddStringToObject(o, "text", text);
	(void)cJSON_AddBoolToObject(o, "verbatim", 1);
	return o;
}

static void add_section(cJSON *blocks, const char *text)
{
	cJSON *block = object("section");

	(void)cJSON_AddItemToObject(block, "text", mrkdwn(text));
	(void)cJSON_AddItemToArray(blocks, block);
}

static void add_context(cJSON *blocks, const char *text)
{
	cJSON *block = object("context");

	(void)cJSON_AddItemToArray(cJSON_AddArrayToObject(block, "elements"), mrkdwn(text));
	(void)cJSON_AddItemToArray(blocks, block);
}

/* A rich_text block with one element of a type, whose elements are returned. */
static cJSON *add_rich(cJSON *blocks, const char *type)
{
	cJSON *block = object("rich_text"), *element = object(type);

	(void)cJSON_AddItemToArray(cJSON_AddArrayToObject(block, "elements"), element);
	(void)cJSON_AddItemToArray(blocks, block);
	return cJSON_AddArrayToObject(element, "elements");
}

/* Slack refuses an empty text. style: bold, code, or NULL. */
static void add_run(cJSON *elements, const char *text, const char *style)
{
	cJSON *run;

	if (!*text)
		return;
	run = object("text");
	(void)cJSON_AddStringToObject(run, "text", text);
	if (style)
		(void)cJSON_AddBoolToObject(cJSON_AddObjectToObject(run, "style"), style, 1);
	(void)cJSON_AddItemToArray(elements, run);
}

/* Foreign text, cleaned and cut. */
static void add_foreign(cJSON *elements, const char *bytes, size_t length, size_t units,
                        const char *style)
{
	OWNED(str) struct str text = STR_INIT;

	(void)slack_add(&text, bytes, length, units, SLACK_RAW);
	add_run(elements, str_text(&text), style);
}

static void add_button(cJSON *elements, const char *action_id, const char *text, const char *value,
                       const char *style)
{
	cJSON *button = object("button");

	(void)cJSON_AddStringToObject(button, "action_id", action_id);
	(void)cJSON_AddItemToObject(button, "text", plain(text));
	(void)cJSON_AddStringToObject(button, "value", value);
	if (style)
		(void)cJSON_AddStringToObject(button, "style", style);
	(void)cJSON_AddItemToArray(elements, button);
}

static cJSON *add_actions(cJSON *blocks, const char *prefix, const char *id)
{
	cJSON *block = object("actions");
	char block_id[BLOCK_ID_BYTES];

	(void)snprintf(block_id, sizeof(block_id), "%s%.200s", prefix, id);
	(void)cJSON_AddStringToObject(block, "block_id", block_id);
	(void)cJSON_AddItemToArray(blocks, block);
	return cJSON_AddArrayToObject(block, "elements");
}

/* ---- texts ---- */

static void add_escaped(struct str *out, const char *text, size_t units)
{
	if (text)
		(void)slack_add(out, text, strlen(text), units, SLACK_MRKDWN);
}

static void add_short_id(struct str *out, const char *id)
{
	size_t length = id ? strnlen(id, SHORT_ID) : 0;

	str_add_char(out, '`');
	(void)slack_add(out, length ? id : "?", length ? length : 1, SECTION_MAX, SLACK_MRKDWN);
	str_add_char(out, '`');
}

/* An instant as each reader's own clock shows it. */
static void add_time(struct str *out, const char *instant)
{
	int64_t ms = instant ? clock_parse(instant) : -1;

	if (ms >= 0)
		str_addf(out, "<!date^%lld^{date_short_pretty} {time}|%.10s %.5s UTC>",
		         (long long)(ms / 1000), instant, instant + 11);
}

static bool is_slack_id(const char *text)
{
	return *text && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == strlen(text);
}

/* Whoever decided: a mention, a login name, or the clock. */
static void add_person(struct str *out, const char *operator_id)
{
	const char *last = operator_id ? strrchr(operator_id, ':') : NULL;

	if (last && strncmp(operator_id, "slack:", 6) == 0 && is_slack_id(last + 1)) {
		str_addf(out, "<@%.40s>", last + 1);
	} else if (last && strncmp(operator_id, "local:", 6) == 0) {
		add_escaped(out, last + 1, NAME_MAX_UNITS);
		str_add(out, " at the terminal");
	} else {
		add_escaped(out, operator_id, NAME_MAX_UNITS);
	}
}

/* "1 h 2 min", "3 min", "4 s" */
static void add_span(struct str *out, int64_t seconds)
{
	if (seconds >= 3600)
		str_addf(out, "%lld h %lld min", (long long)(seconds / 3600),
		         (long long)(seconds % 3600 / 60));
	else if (seconds >= 60)
		str_addf(out, "%lld min", (long long)(seconds / 60));
	else
		str_addf(out, "%lld s", (long long)seconds);
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

/* " in web (claude)": notifications show no more than the words. */
static void add_whose(struct str *out, const char *root, const char *client)
{
	if (root) {
		str_add(out, " in ");
		add_escaped(out, base_name(root), NAME_MAX_UNITS);
	}
	if (client) {
		str_add(out, " (");
		add_escaped(out, client, NAME_MAX_UNITS);
		str_add_char(out, ')');
	}
}

/* ---- questions ---- */

static bool is_open(const struct request *r)
{
	return r->row.state == REQUEST_STATE_PENDING || r->row.state == REQUEST_STATE_INTERRUPTED;
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

static void add_mentions(struct str *out, const char *const *mentions, bool everybody)
{
	if (everybody) {
		str_add(out, "<!channel> ");
		return;
	}
	for (size_t units = 0; mentions && *mentions && units < 1000; mentions++) {
		if (!is_slack_id(*mentions))
			continue;
		str_addf(out, "<@%.40s> ", *mentions);
		units += strlen(*mentions) + 4;
	}
}

/* "✅ *Approved*" */
static const char *verdict_words(const struct request *r)
{
	if (r->row.state == REQUEST_STATE_EXPIRED)
		return r->row.kind == REQUEST_KIND_PROMPT
		           ? "⏰ *Auto-continued*: nobody answered in time"
		           : "⏰ *Expired*: nobody answered in time";
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

/* Who decided what and when, and with which words. */
static void add_verdict(struct str *out, const struct request *r)
{
	const char *words = r->row.instruction ? r->row.instruction : r->row.reason;

	str_add(out, verdict_words(r));
	if (r->row.state != REQUEST_STATE_EXPIRED) {
		str_add(out, " by ");
		add_person(out, r->row.decided_by);
	}
	str_add(out, ", ");
	add_time(out, r->row.decided_at);
	if (words && *words) {
		str_add(out, r->row.instruction && r->row.decision == REQUEST_VERDICT_APPROVE
		                 ? ", and told: "
		                 : ": ");
		add_escaped(out, words, REASON_MAX);
	}
}

/* What is asked; behind it, once it is answered, stands what it was. */
static void add_heading(cJSON *blocks, const struct slack_ask *a)
{
	const struct request *r = a->request;
	OWNED(str) struct str text = STR_INIT;

	if (is_open(r)) {
		add_mentions(&text, a->mentions, calls_everybody(r));
	} else {
		add_verdict(&text, r);
		str_add_char(&text, '\n');
	}
	if (r->row.kind == REQUEST_KIND_CLEARANCE)
		str_addf(&text, "%s *Approval%s* · %s risk", risk_sign(r->row.risk_level),
		         is_open(r) ? " needed" : "", risk_name(r));
	else if (r->row.kind == REQUEST_KIND_PERMISSION)
		str_addf(&text, "🔒 *Command approval%s* · %s risk", is_open(r) ? " needed" : "",
		         risk_name(r));
	else if (r->row.kind == REQUEST_KIND_TRUST)
		str_addf(&text, "🛂 *Trust this policy%s*", is_open(r) ? "?" : "");
	else if (r->row.kind == REQUEST_KIND_PROMPT)
		str_add(&text, prompt_heading(r->row.prompt_type));
	else
		str_add(&text,
		        is_open(r) ? "⏸️ *Agent waits for instructions*" : "⏸️ *Standby*");
	add_section(blocks, str_text(&text));
}

static void add_paths(cJSON *blocks, const struct request *r)
{
	OWNED(slack_gist) struct slack_gist g = { .added = 0 };
	OWNED(str) struct str text = STR_INIT;
	cJSON *runs = add_rich(blocks, "rich_text_section");

	slack_gist_take(r, &g);
	add_run(runs, "📄 ", NULL);
	slack_add_asked(&text, r);
	add_foreign(runs, text.length ? text.bytes : "?", text.length ? text.length : 1,
	            SLACK_PATH_UNITS, "code");
	str_reset(&text);
	str_addf(&text, " (+%zu −%zu)", g.added, g.removed);
	if (r->row.replaces_file)
		str_add(&text, ", replaces the whole file");
	add_run(runs, str_text(&text), NULL);
	if (!g.paths.length)
		return;
	str_reset(&text);
	add_run(runs, "\nalso touches:", "bold");
	str_addf(&text, "\n%s", str_text(&g.paths));
	if (g.more)
		str_addf(&text, "\nand %zu more, all in the file", g.more);
	add_foreign(runs, str_text(&text), text.length, PATHS_UNITS, NULL);
}

static void add_text(cJSON *blocks, const char *title, const char *body, size_t length, size_t most)
{
	cJSON *runs = add_rich(blocks, "rich_text_section");

	if (title)
		add_foreign(runs, title, strlen(title), SLACK_TITLE_UNITS, "bold");
	if (title && length)
		add_run(runs, "\n", NULL);
	if (length)
		add_foreign(runs, body, length, most, NULL);
	if (cJSON_GetArraySize(runs) == 0)
		add_run(runs, "(no text)", NULL);
}

/* What of the question is in a file, and where that is. */
static void add_file_note(cJSON *blocks, const struct slack_ask *a, size_t shown)
{
	const struct request *r = a->request;
	const struct str *text = slack_proposal(r);
	size_t lines = slack_lines(str_text(text), text->length);
	const char *where = a->diff_above ? "above" : "in the thread";
	OWNED(str) struct str note = STR_INIT;

	if (a->diff_missing) {
		str_addf(&note,
		         "📎 %zu lines that Slack did not take, see `agent-intercom-ctl show ",
		         lines);
		add_escaped(&note, r->row.id, NAME_MAX_UNITS);
		str_add_char(&note, '`');
	} else if (slack_is_inline(r)) {
		str_addf(&note, "📎 all of the description is in the file %s", where);
	} else if (r->row.kind == REQUEST_KIND_CLEARANCE) {
		str_addf(&note, "📎 %zu lines, see the file %s", lines, where);
	} else {
		str_addf(&note, "📎 %zu of %zu lines shown; the rest is in the file %s", shown,
		         lines, where);
	}
	add_context(blocks, str_text(&note));
}

/* What is to be approved, as much of it as a message holds. */
static void add_proposal(cJSON *blocks, const struct slack_ask *a)
{
	const struct request *r = a->request;
	const struct str *text = slack_proposal(r);
	size_t lines = 0;

	if (text->length == 0)
		add_context(blocks, "the file will be empty");
	else if (slack_is_inline(r) || r->row.kind != REQUEST_KIND_CLEARANCE)
		add_foreign(add_rich(blocks, "rich_text_preformatted"), str_text(text),
		            slack_beginning(r, &lines), SLACK_INLINE_UNITS, NULL);
	if (!slack_is_whole(r))
		add_file_note(blocks, a, lines);
}

/* A prompt or a standby: nobody approves it. */
static void add_prompt(cJSON *blocks, const struct slack_ask *a)
{
	const struct str *text = slack_proposal(a->request);
	size_t lines = slack_lines(str_text(text), text->length), shown = lines;

	if (!slack_is_inline(a->request))
		(void)slack_beginning(a->request, &shown);
	add_text(blocks, NULL, str_text(text), text->length, SLACK_PROMPT_UNITS);
	if (!slack_is_whole(a->request))
		add_file_note(blocks, a, shown);
}

/* Where it comes from, in full, while nobody has answered anything from there. */
static void add_new_workspace(cJSON *blocks, const struct request *r)
{
	cJSON *runs;

	if (!r->row.is_new_workspace || !r->row.workspace_root || !is_open(r))
		return;
	runs = add_rich(blocks, "rich_text_section");
	add_run(runs, "📍 First question from this folder: ", NULL);
	add_foreign(runs, r->row.workspace_root, strlen(r->row.workspace_root), PATH_MAX_UNITS,
	            "code");
}

static void add_where(cJSON *blocks, const struct request *r)
{
	OWNED(str) struct str text = STR_INIT;

	str_add(&text, "id ");
	add_short_id(&text, r->row.id);
	str_add(&text, " · session ");
	add_short_id(&text, r->row.session_id);
	if (r->row.client_name) {
		str_add(&text, " · ");
		add_escaped(&text, r->row.client_name, NAME_MAX_UNITS);
	}
	if (r->row.workspace_root) {
		str_add(&text, " · ");
		add_escaped(&text, base_name(r->row.workspace_root), NAME_MAX_UNITS);
	}
	if (r->row.has_elapsed_seconds) {
		str_add(&text, " · elapsed ");
		add_span(&text, r->row.elapsed_seconds);
	}
	if (r->row.has_actions_taken)
		str_addf(&text, " · %lld actions", (long long)r->row.actions_taken);
	if (is_open(r) && r->row.deadline_at) {
		str_add(&text, r->row.kind == REQUEST_KIND_PROMPT ? " · continues by itself "
		                                                  : " · expires ");
		add_time(&text, r->row.deadline_at);
	}
	if (r->row.previous_at) {
		str_add(&text, " · rejected before, ");
		add_time(&text, r->row.previous_at);
	}
	add_context(blocks, str_text(&text));
}

/* Whether there is a file to look at besides what is proposed. */
static bool has_file(const struct request *r)
{
	for (size_t i = 0; i < r->file_count; i++)
		if (strcmp(r->files[i].hash, NO_FILE) != 0)
			return true;
	return false;
}

static void add_buttons(cJSON *blocks, const struct slack_ask *a)
{
	const struct request *r = a->request;
	bool is_unseen = a->diff_missing && !slack_is_whole(r);
	cJSON *buttons;

	if (r->row.kind == REQUEST_KIND_CLEARANCE || r->row.kind == REQUEST_KIND_PERMISSION ||
	    r->row.kind == REQUEST_KIND_TRUST) {
		buttons = add_actions(blocks, "approval_", r->row.id);
		if (!is_unseen)
			add_button(buttons, "approve_accept", "Accept", r->row.id, "primary");
		add_button(buttons, "approve_reject", "Reject", r->row.id, "danger");
		if (has_file(r))
			add_button(buttons, "approve_file", "Show file", r->row.id, NULL);
	} else if (r->row.kind == REQUEST_KIND_PROMPT) {
		buttons = add_actions(blocks, "prompt_", r->row.id);
		add_button(buttons, "prompt_continue", "Continue", r->row.id, "primary");
		add_button(buttons, "prompt_refine", "Refine", r->row.id, NULL);
		add_button(buttons, "prompt_stop", "Stop", r->row.id, "danger");
	} else {
		buttons =
		    add_actions(blocks, "wait_", r->row.session_id ? r->row.session_id : r->row.id);
		add_button(buttons, "wait_resume", "Resume", r->row.id, "primary");
		add_button(buttons, "wait_resume_instruct", "Resume with Instructions", r->row.id,
		           NULL);
		add_button(buttons, "wait_stop", "Stop Session", r->row.id, "danger");
	}
}

/* "Approval needed in web (claude): TITLE (src/a.c, +1 −2, high risk)" */
static void add_fallback(struct str *out, const struct request *r)
{
	if (!is_open(r)) {
		add_verdict(out, r);
		str_add(out, " ·");
	} else if (r->row.kind == REQUEST_KIND_CLEARANCE) {
		str_add(out, "Approval needed");
	} else if (r->row.kind == REQUEST_KIND_PERMISSION) {
		str_add(out, "Command approval needed");
	} else if (r->row.kind == REQUEST_KIND_TRUST) {
		str_add(out, "A policy is to be trusted");
	} else if (r->row.kind == REQUEST_KIND_PROMPT) {
		str_add(out, "Your agent asks");
	} else {
		str_add(out, "Agent waits for instructions");
	}
	add_whose(out, r->row.workspace_root, r->row.client_name);
	str_add(out, ": ");
	add_escaped(out, r->row.title ? r->row.title : "", TITLE_MAX);
	if (r->row.kind == REQUEST_KIND_CLEARANCE) {
		OWNED(slack_gist) struct slack_gist g = { .added = 0 };
		OWNED(str) struct str names = STR_INIT;

		slack_gist_take(r, &g);
		slack_add_asked(&names, r);
		if (g.paths.length)
			str_addf(&names, "\n%s", g.paths.bytes);
		for (size_t i = 0; i < names.length; i++)
			names.bytes[i] = names.bytes[i] == '\n' ? ';' : names.bytes[i];
		str_add(out, " (");
		add_escaped(out, str_text(&names), PATHS_UNITS);
		if (g.more)
			str_addf(out, " and %zu more", g.more);
		str_addf(out, ", +%zu −%zu, %s risk)", g.added, g.removed, risk_name(r));
	}
}

void slack_say_ask(const struct slack_ask *a, struct slack_said *out)
{
	const struct request *r = a->request;
	const char *body = r->description ? r->description : "";

	out->blocks = cJSON_CreateArray();
	add_fallback(&out->text, r);
	add_heading(out->blocks, a);
	if (r->row.kind == REQUEST_KIND_CLEARANCE) {
		add_text(out->blocks, r->row.title, body, strlen(body), SLACK_DESCRIPTION_UNITS);
		add_paths(out->blocks, r);
		add_proposal(out->blocks, a);
	} else if (r->row.kind == REQUEST_KIND_PERMISSION || r->row.kind == REQUEST_KIND_TRUST) {
		add_proposal(out->blocks, a);
		add_text(out->blocks, NULL, body, strlen(body), SLACK_DESCRIPTION_UNITS);
	} else {
		add_prompt(out->blocks, a);
	}
	add_new_workspace(out->blocks, r);
	add_where(out->blocks, r);
	if (r->row.state == REQUEST_STATE_INTERRUPTED)
		add_context(out->blocks,
		            "⏸️ The agent is not connected; your answer still counts.");
	if (is_open(r))
		add_buttons(out->blocks, a);
}

void slack_say_plain(const struct request *r, struct slack_said *out)
{
	const struct str *text = slack_proposal(r);

	add_fallback(&out->text, r);
	str_add_char(&out->text, '\n');
	if (!slack_add(&out->text, str_text(text), text->length, PLAIN_MAX, SLACK_MRKDWN)) {
		str_add(&out->text, "\nThe rest is in the file, and at the terminal: "
		                    "agent-intercom-ctl show ");
		add_escaped(&out->text, r->row.id, NAME_MAX_UNITS);
	}
	if (!is_open(r))
		return;
	if (r->row.kind == REQUEST_KIND_CLEARANCE || r->row.kind == REQUEST_KIND_PERMISSION ||
	    r->row.kind == REQUEST_KIND_TRUST)
		str_add(&out->text, "\nAnswer in the thread: approve, or reject and why");
	else if (r->row.kind == REQUEST_KIND_PROMPT)
		str_add(&out->text, "\nAnswer in the thread: continue, stop, or refine and how");
	else
		str_add(&out->text,
		        "\nAnswer in the thread: resume, with or without words, or stop");
}

void slack_say_line(const struct request *r, struct slack_said *out)
{
	const char *verb = r->row.kind == REQUEST_KIND_PROMPT    ? "continue"
	                   : r->row.kind == REQUEST_KIND_STANDBY ? "resume"
	                                                         : "approve";

	str_addf(&out->text, "An agent asks something that Slack does not show. "
	                     "At the terminal: agent-intercom-ctl show ");
	add_escaped(&out->text, r->row.id, NAME_MAX_UNITS);
	str_addf(&out->text, ", then %s ", verb);
	add_escaped(&out->text, r->row.id, NAME_MAX_UNITS);
}

void slack_say_expired(const struct request *r, struct slack_said *out)
{
	if (r->row.kind == REQUEST_KIND_PROMPT)
		str_add(&out->text, "⏰ Continuation prompt auto-continued after timeout");
	else
		str_add(&out->text, "⏰ Nobody answered in time");
	add_whose(&out->text, r->row.workspace_root, r->row.client_name);
	str_add(&out->text, ": ");
	add_escaped(&out->text, r->row.title, TITLE_MAX);
	out->blocks = cJSON_CreateArray();
	add_section(out->blocks, str_text(&out->text));
}

/* ---- sessions ---- */

static const char *status_words(const char *status)
{
	if (strcmp(status, "terminated") == 0)
		return "🏁 ended";
	if (strcmp(status, "interrupted") == 0)
		return "⏸️ not connected";
	return strcmp(status, "paused") == 0 ? "⏸️ paused" : "🟢 active";
}

void slack_say_session(const struct slack_session *s, struct slack_said *out)
{
	bool started = strcmp(s->protocol_mode, "acp") == 0;
	OWNED(str) struct str line = STR_INIT;

	str_addf(&out->text, "%s *Session started* ", started ? "🤖" : "🚀");
	add_short_id(&out->text, s->id);
	out->blocks = cJSON_CreateArray();
	add_section(out->blocks, str_text(&out->text));
	str_addf(&out->text, " in ");
	add_escaped(&out->text, base_name(s->workspace_root), NAME_MAX_UNITS);
	if (s->prompt && *s->prompt)
		add_text(out->blocks, NULL, s->prompt, strlen(s->prompt), SLACK_DESCRIPTION_UNITS);
	str_addf(&line, "%s · %s", status_words(s->status), started ? "ACP" : "MCP");
	if (s->client_name) {
		str_add(&line, " · ");
		add_escaped(&line, s->client_name, NAME_MAX_UNITS);
	}
	str_addf(&line, " · %s mode · ", s->mode);
	add_escaped(&line, s->workspace_root, PATH_MAX_UNITS);
	str_add(&line, " · ");
	add_time(&line, s->created_at);
	add_context(out->blocks, str_text(&line));
}

void slack_say_ended(const struct slack_session *s, struct slack_said *out)
{
	int64_t from = clock_parse(s->created_at), to = s->ended_at ? clock_parse(s->ended_at) : -1;

	str_add(&out->text, "🏁 *Session ended* ");
	add_short_id(&out->text, s->id);
	str_addf(&out->text, " · %s", s->status);
	if (from >= 0 && to >= from) {
		str_add(&out->text, " · ");
		add_span(&out->text, (to - from) / 1000);
	}
	out->blocks = cJSON_CreateArray();
	add_section(out->blocks, str_text(&out->text));
}

/* Where questions are asked in a mode. */
static const char *asked_in(const char *mode)
{
	if (strcmp(mode, "local") == 0)
		return "Questions are asked on its machine, not here.";
	return strcmp(mode, "hybrid") == 0 ? "Questions are asked here and on its machine."
	                                   : "Questions are asked here.";
}

/* The button that takes back what an agent switched, while it is so. */
static void add_switch_back(cJSON *blocks, const struct slack_mode *m)
{
	OWNED(str) struct str action = STR_INIT;
	OWNED(str) struct str label = STR_INIT;

	if (strcmp(m->by, "agent") != 0 || strcmp(m->to, m->present) != 0)
		return;
	str_addf(&action, "mode_%s", m->from);
	str_addf(&label, "Switch back to %s", m->from);
	add_button(add_actions(blocks, "mode_", m->session_id), action.bytes, label.bytes,
	           m->session_id, "primary");
}

void slack_say_mode(const struct slack_mode *m, struct slack_said *out)
{
	bool by_agent = strcmp(m->by, "agent") == 0;

	str_add(&out->text,
	        by_agent ? "⚠️ *The agent switched its mode*: " : "ℹ️ *Mode changed*: ");
	add_escaped(&out->text, m->from, NAME_MAX_UNITS);
	str_add(&out->text, " → ");
	add_escaped(&out->text, m->to, NAME_MAX_UNITS);
	str_addf(&out->text, "\n%s", asked_in(m->to));
	out->blocks = cJSON_CreateArray();
	add_section(out->blocks, str_text(&out->text));
	add_switch_back(out->blocks, m);
}

/* ---- what a policy allowed ---- */

/* A line for each: "3 × cargo test --all (command:cargo test *)"; how many they stand for. */
static int64_t add_allowed(struct str *out, const struct slack_auto *a)
{
	const cJSON *one;
	int64_t named = 0;

	cJSON_ArrayForEach (one, a->shown) {
		const cJSON *times = cJSON_GetObjectItemCaseSensitive(one, "times");
		int64_t n = cJSON_IsNumber(times) ? (int64_t)times->valuedouble : 1;

		if (out->length)
			str_add_char(out, '\n');
		if (n > 1)
			str_addf(out, "%lld × ", (long long)n);
		str_addf(out, "%s (%s)", member_text(one, "subject"), member_text(one, "rule"));
		named += n;
	}
	return named;
}

void slack_say_auto(const struct slack_auto *a, struct slack_said *out)
{
	OWNED(str) struct str lines = STR_INIT;
	OWNED(str) struct str more = STR_INIT;
	int64_t left = a->count - add_allowed(&lines, a);

	str_addf(&out->text, "🤖 *Auto-approved*: %lld", (long long)a->count);
	out->blocks = cJSON_CreateArray();
	add_section(out->blocks, str_text(&out->text));
	str_add(&out->text, "\n");
	(void)slack_add(&out->text, str_text(&lines), lines.length, PLAIN_MAX, SLACK_MRKDWN);
	add_text(out->blocks, NULL, str_text(&lines), lines.length, SLACK_PROMPT_UNITS);
	if (left <= 0)
		return;
	str_addf(&more, "and %lld more", (long long)left);
	add_context(out->blocks, str_text(&more));
}

/* ---- writes ---- */

static void add_files(struct str *out, const struct slack_write *w)
{
	int count = cJSON_GetArraySize(w->files);

	if (count == 0)
		add_escaped(out, w->file_path, PATH_MAX_UNITS);
	for (int i = 0; i < count && i < SLACK_PATHS_MAX; i++) {
		const cJSON *f = cJSON_GetArrayItem(w->files, i);
		const char *action = cJSON_GetStringValue(cJSON_GetObjectItem(f, "action"));
		const cJSON *old = cJSON_GetObjectItem(f, "overwrote");

		str_add(out, i ? ", " : "");
		add_escaped(out, cJSON_GetStringValue(cJSON_GetObjectItem(f, "path")),
		            PATH_MAX_UNITS / 2);
		if (action && strcmp(action, "delete") == 0)
			str_add(out, " (deleted)");
		else
			str_addf(out, " (%lld bytes written)",
			         (long long)cJSON_GetNumberValue(cJSON_GetObjectItem(f, "bytes")));
		if (old)
			str_addf(out, ", over %lld bytes that nobody had seen",
			         (long long)cJSON_GetNumberValue(old));
	}
	if (count > SLACK_PATHS_MAX)
		str_addf(out, " and %d more", count - SLACK_PATHS_MAX);
}

/* Hashes are for programs: a person is shown how they begin. */
static void add_reason(struct str *out, const char *why)
{
	OWNED(str) struct str shown = STR_INIT;

	for (const char *at = why ? why : "no reason is known"; *at;) {
		size_t digits = strspn(at, "0123456789abcdef");

		if (digits == HASH) {
			str_addf(&shown, "%.*s…", HASH_SHOWN, at);
			at += digits;
		} else if (digits) {
			str_add_bytes(&shown, at, digits);
			at += digits;
		} else {
			str_add_char(&shown, *at++);
		}
	}
	add_escaped(out, str_text(&shown), REASON_MAX);
}

/* An undo: what was written for an approval is taken back, or is not. */
static void add_undo(struct str *out, const struct slack_write *w)
{
	bool undone = strcmp(w->state, "undone") == 0;

	str_add(out, undone ? "↩️ Undone" : "⚠️ Not undone");
	if (w->ordered_by) {
		str_add(out, undone ? " by " : ", as ordered by ");
		add_person(out, w->ordered_by);
	}
	str_add(out, undone ? ": what was there before is back: " : ": ");
	add_escaped(out, w->file_path, PATH_MAX_UNITS);
	if (undone)
		return;
	str_add(out, ": ");
	add_reason(out, w->error_message ? w->error_message : w->error_code);
}

/* What force overwrote is kept, however large it was. */
static void add_way_back(struct str *out, const struct slack_write *w)
{
	str_add(out, "\nWhat was there is kept: `agent-intercom-ctl undo ");
	add_escaped(out, w->request_id, NAME_MAX_UNITS);
	str_add(out, "` brings it back.");
}

static void add_written(struct str *out, const struct slack_write *w)
{
	if (strcmp(w->state, "applied") != 0) {
		bool conflict = w->error_code && strcmp(w->error_code, "patch_conflict") == 0;

		str_addf(out, "%s Not written: ", conflict ? "⚠️" : "❌");
		add_escaped(out, w->file_path, PATH_MAX_UNITS);
		str_add(out, ": ");
		add_reason(out, w->error_message ? w->error_message : w->error_code);
		return;
	}
	str_add(out, w->forced ? "⚠️ Changes applied by force, over a file that had changed: "
	                       : "✅ Changes applied to ");
	add_files(out, w);
	if (w->forced && !w->undone)
		add_way_back(out, w);
}

void slack_say_write(const struct slack_write *w, struct slack_said *out)
{
	bool applied = strcmp(w->state, "applied") == 0 && !w->is_undo;
	OWNED(str) struct str text = STR_INIT;

	if (w->is_undo)
		add_undo(&text, w);
	else
		add_written(&text, w);
	/* Escaped already, but perhaps too long. */
	if (slack_units(str_text(&text)) > SECTION_MAX) {
		str_reset(&text);
		str_addf(&text, "✅ Changes applied to %d files%s", cJSON_GetArraySize(w->files),
		         w->forced ? ", by force" : "");
	}
	if (applied && w->undone)
		str_add(&text, " (undone since)");
	str_add(&out->text, str_text(&text));
	out->blocks = cJSON_CreateArray();
	add_section(out->blocks, str_text(&text));
	if (applied && !w->undone && w->request_id)
		add_button(add_actions(out->blocks, "write_", w->request_id), "write_undo", "Undo",
		           w->request_id, NULL);
}

/* ---- texts ---- */

/* Bytes of text that fill a section: a whole number of characters, of lines where there are some.
 */
static size_t slice(const char *text, size_t left)
{
	size_t take = left < SECTION_MAX ? left : SECTION_MAX;

	for (;;) {
		OWNED(str) struct str shown = STR_INIT;
		const char *line = take < left ? memrchr(text, '\n', take) : NULL;

		if (line && line > text + take / 2)
			take = (size_t)(line - text) + 1;
		while (take > 1 && take < left && ((unsigned char)text[take] & 0xC0) == 0x80)
			take--;
		if (take <= SLICE_MIN ||
		    slack_add(&shown, text, take, SECTION_MAX - SIGN_MAX, SLACK_MRKDWN))
			return take;
		take /= 2;
	}
}

/* Long texts in several sections, up to what a message holds. */
static void add_sections(cJSON *blocks, const char *prefix, const char *text)
{
	size_t left = strlen(text), used = 0;

	while (left > 0) {
		OWNED(str) struct str part = STR_INIT;
		size_t take = slice(text, left);

		str_add(&part, used ? "" : prefix);
		(void)slack_add(&part, text, take, SECTION_MAX, SLACK_MRKDWN);
		used += slack_units(str_text(&part));
		text += take;
		left -= take;
		if (left > 0 && used + SECTION_MAX > MESSAGE_MAX) {
			str_addf(&part, "… (%zu bytes more)", left);
			left = 0;
		}
		if (part.length)
			add_section(blocks, str_text(&part));
	}
}

static void say(const char *prefix, const char *text, struct slack_said *out)
{
	str_add(&out->text, prefix);
	(void)slack_add(&out->text, text, strlen(text), FALLBACK_MAX, SLACK_MRKDWN);
	if (out->text.length == 0)
		str_add(&out->text, "(no text)");
	out->blocks = cJSON_CreateArray();
	add_sections(out->blocks, prefix, text);
	if (cJSON_GetArraySize(out->blocks) == 0)
		add_section(out->blocks, "(no text)");
}

void slack_say_broadcast(const char *level, const char *message, struct slack_said *out)
{
	static const char *const SIGNS[][2] = { { "info", "ℹ️ " },
		                                { "success", "✅ " },
		                                { "warning", "⚠️ " },
		                                { "error", "❌ " } };
	const char *sign = SIGNS[0][1];

	for (size_t i = 0; i < COUNT(SIGNS); i++)
		if (level && strcmp(level, SIGNS[i][0]) == 0)
			sign = SIGNS[i][1];
	say(sign, message ? message : "", out);
}

/* In a section, what names people mentions them, and instants are the reader's. */
static void name_in(cJSON *section)
{
	cJSON *text = cJSON_GetObjectItem(cJSON_GetObjectItem(section, "text"), "text");
	OWNED(str) struct str named = STR_INIT;

	str_add(&named, cJSON_GetStringValue(text) ? cJSON_GetStringValue(text) : "");
	slack_name_people(&named);
	slack_show_times(&named);
	(void)cJSON_SetValuestring(text, str_text(&named));
}

void slack_say_text(const char *text, struct slack_said *out)
{
	cJSON *section;

	say("", text ? text : "", out);
	slack_name_people(&out->text);
	slack_show_times(&out->text);
	cJSON_ArrayForEach (section, out->blocks)
		name_in(section);
}

void slack_say_asked(const char *text, const char *answer, const char *id, struct slack_said *out)
{
	OWNED(str) struct str whole = STR_INIT;
	cJSON *buttons;

	str_add(&whole, text);
	if (answer)
		str_addf(&whole, "\n%s", answer);
	slack_say_text(str_text(&whole), out);
	if (answer)
		return;
	buttons = add_actions(out->blocks, "tell_", id);
	add_button(buttons, "tell_approve", "Approve and tell", id, "primary");
	add_button(buttons, "tell_reject", "Reject with this", id, "danger");
}

/* ---- silent agents ---- */

static bool is_status(const struct slack_stall *s, const char *status)
{
	return strcmp(s->status ? s->status : "pending", status) == 0;
}

/* What is still to be decided: the newest message has the buttons, until a person has pressed one.
 */
static bool takes_clicks(const struct slack_stall *s)
{
	bool by_clock = s->nudged_by && strcmp(s->nudged_by, "system:clock") == 0;

	if (s->is_call)
		return is_status(s, "escalated");
	return is_status(s, "pending") || (is_status(s, "nudged") && by_clock);
}

static void add_times(struct str *out, int64_t count)
{
	str_addf(out, "%lld time%s", (long long)count, count == 1 ? "" : "s");
}

static void add_stall_heading(struct str *out, const struct slack_stall *s)
{
	if (is_status(s, "self_recovered"))
		str_add(out, "✅ *Agent is back*: session ");
	else if (is_status(s, "dismissed"))
		str_add(out, "⏹️ *Agent was silent*: session ");
	else if (s->is_call)
		str_add(out, "🚨 *Agent does not respond*: session ");
	else if (s->may_have_ended)
		str_add(out, "💤 *Agent silent, or ended*: session ");
	else
		str_add(out, "⚠️ *Agent stalled*: session ");
	add_short_id(out, s->session_id);
	str_add(out, s->ended_at ? ", was idle for " : ", idle for ");
	add_span(out, s->idle_seconds);
	str_add(out, s->ended_at || s->is_call ? " when it was noticed" : "");
	if (s->last_tool) {
		str_add(out, ", last tool ");
		add_escaped(out, s->last_tool, NAME_MAX_UNITS);
	}
	if (s->nudge_count) {
		str_add(out, ", nudged ");
		add_times(out, s->nudge_count);
	}
}

static void add_progress(cJSON *blocks, const cJSON *progress)
{
	static const char *const SIGNS[][2] = { { "done", "✅" }, { "in_progress", "🔄" } };
	OWNED(str) struct str text = STR_INIT;
	const cJSON *item;

	cJSON_ArrayForEach (item, progress) {
		const char *label =
		    cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "label"));
		const char *status =
		    cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "status"));
		const char *sign = "⬜";

		for (size_t i = 0; i < COUNT(SIGNS); i++)
			if (status && strcmp(status, SIGNS[i][0]) == 0)
				sign = SIGNS[i][1];
		if (slack_units(str_text(&text)) + STEP_MAX + SIGN_MAX > SECTION_MAX)
			break;
		str_addf(&text, "%s%s ", text.length ? "\n" : "", sign);
		add_escaped(&text, label ? label : "?", STEP_MAX);
	}
	if (text.length)
		add_section(blocks, str_text(&text));
}

/* Where it works, what it was to do, and how far it got. */
static void add_work(cJSON *blocks, const struct slack_stall *s)
{
	OWNED(str) struct str where = STR_INIT;
	OWNED(str) struct str task = STR_INIT;

	if (s->client_name || s->workspace_root) {
		add_escaped(&where, s->client_name, NAME_MAX_UNITS);
		str_add(&where, s->client_name && s->workspace_root ? " · " : "");
		add_escaped(&where, s->workspace_root, PATH_MAX_UNITS);
		add_context(blocks, str_text(&where));
	}
	if (s->prompt && *s->prompt) {
		str_add(&task, "*Task*: ");
		add_escaped(&task, s->prompt, REASON_MAX);
		add_section(blocks, str_text(&task));
	}
	add_progress(blocks, s->progress);
}

/* What a nudge can do, said plainly. */
static void add_prospect(cJSON *blocks, const struct slack_stall *s)
{
	OWNED(str) struct str text = STR_INIT;

	if (is_status(s, "nudged") && !takes_clicks(s)) {
		str_add(&text, "👊 Nudged by ");
		add_person(&text, s->nudged_by);
		str_add(&text, ". ");
	}
	if (is_status(s, "escalated") && !s->is_call)
		str_add(&text, "Nudges did not help; see the call below. ");
	if (s->protocol_mode && strcmp(s->protocol_mode, "acp") == 0)
		str_add(&text, "A nudge is a new prompt for it.");
	else if (s->may_have_ended)
		str_add(
		    &text,
		    "Over HTTP nobody can tell an agent that is silent from one that has "
		    "simply ended. So this is said once, and nobody is called. A nudge would be "
		    "read with the result of its next call, if there is one.");
	else
		str_add(&text,
		        "An agent on MCP cannot be woken from outside: it reads a nudge with the "
		        "result of its next call. It may also wait for a dialog on its own "
		        "screen, or be busy with something that we do not see.");
	add_context(blocks, str_text(&text));
}

void slack_say_stall(const struct slack_stall *s, const char *const *mentions,
                     struct slack_said *out)
{
	OWNED(str) struct str heading = STR_INIT;
	cJSON *buttons;

	str_add(&out->text, s->ended_at  ? "Your agent was silent for "
	                    : s->is_call ? "🚨 Your agent does not respond, silent for "
	                    : s->may_have_ended
	                        ? "💤 Your agent is silent, or has ended: nothing for "
	                        : "⚠️ Your agent is silent for ");
	add_span(&out->text, s->idle_seconds);
	add_whose(&out->text, s->workspace_root, s->client_name);
	if (takes_clicks(s) && !s->may_have_ended)
		add_mentions(&heading, mentions, s->is_call);
	add_stall_heading(&heading, s);
	out->blocks = cJSON_CreateArray();
	add_section(out->blocks, str_text(&heading));
	if (s->ended_at)
		return;
	add_work(out->blocks, s);
	add_prospect(out->blocks, s);
	if (!takes_clicks(s))
		return;
	buttons = add_actions(out->blocks, "stall_", s->alert_id);
	add_button(buttons, "stall_nudge", "Nudge", s->alert_id, "primary");
	add_button(buttons, "stall_nudge_instruct", "Nudge with Instructions", s->alert_id, NULL);
	add_button(buttons, "stall_stop", "Stop", s->alert_id, "danger");
}

void slack_say_nudged(const struct slack_stall *s, int64_t nudge, struct slack_said *out)
{
	OWNED(str) struct str text = STR_INIT;

	str_addf(&text, "👊 Nudge %lld by agent-intercom: session ", (long long)nudge);
	add_short_id(&text, s->session_id);
	str_add(&text, " was still silent. ");
	str_add(&text, s->delivered_at ? "It has been told."
	                               : "It is told with the result of its next call.");
	str_add(&out->text, str_text(&text));
	out->blocks = cJSON_CreateArray();
	add_section(out->blocks, str_text(&text));
}

/* ---- modals ---- */

struct modal {
	const char *view, *callback, *title, *label;
	bool optional;
};

cJSON *slack_modal(const char *view, const char *id, const char *preset)
{
	static const struct modal MODALS[] = {
		{ "reject", "approval_reject:", "Rejection Reason", "Reason", true },
		{ "refine", "prompt_refine:", "Refine", "Instructions", false },
		{ "nudge", "stall_nudge:", "Nudge", "Instructions", false },
		{ "resume", "wait_instruct:", "Instructions", "Instructions", false },
	};
	const struct modal *m = &MODALS[COUNT(MODALS) - 1];
	cJSON *modal = object("modal"), *input = object("input"),
	      *element = object("plain_text_input");
	char callback[BLOCK_ID_BYTES];

	for (size_t i = 0; i < COUNT(MODALS); i++)
		if (strcmp(view, MODALS[i].view) == 0)
			m = &MODALS[i];
	(void)snprintf(callback, sizeof(callback), "%s%.200s", m->callback, id);
	(void)cJSON_AddStringToObject(modal, "callback_id", callback);
	(void)cJSON_AddStringToObject(modal, "private_metadata", id);
	(void)cJSON_AddBoolToObject(modal, "notify_on_close", 1);
	(void)cJSON_AddItemToObject(modal, "title", plain(m->title));
	(void)cJSON_AddItemToObject(modal, "submit", plain("Submit"));
	(void)cJSON_AddItemToObject(modal, "close", plain("Cancel"));
	(void)cJSON_AddStringToObject(input, "block_id", "instruction_block");
	(void)cJSON_AddItemToObject(input, "label", plain(m->label));
	(void)cJSON_AddBoolToObject(input, "optional", m->optional);
	(void)cJSON_AddStringToObject(element, "action_id", "instruction_text");
	(void)cJSON_AddBoolToObject(element, "multiline", 1);
	(void)cJSON_AddNumberToObject(element, "max_length", INPUT_MAX);
	if (preset && *preset) {
		OWNED(str) struct str text = STR_INIT;

		(void)slack_add(&text, preset, strlen(preset), PRESET_MAX, SLACK_RAW);
		(void)cJSON_AddStringToObject(element, "initial_value", str_text(&text));
	}
	(void)cJSON_AddItemToObject(input, "element", element);
	(void)cJSON_AddItemToArray(cJSON_AddArrayToObject(modal, "blocks"), input);
	return modal;
}

void slack_said_clear(struct slack_said *s)
{
	str_clear(&s->text);
	cJSON_Delete(s->blocks);
	s->blocks = NULL;
}
