#include "elicit.h"

#include "decision.h"
#include "json.h"
#include "json_writer.h"
#include "summary.h"
#include "visible.h"

#include <string.h>
#include <strings.h>

bool elicit_is_offered(const cJSON *capabilities)
{
	const cJSON *elicitation = cJSON_GetObjectItemCaseSensitive(capabilities, "elicitation");

	return cJSON_IsObject(elicitation) &&
	       (cJSON_GetObjectItemCaseSensitive(elicitation, "form") ||
	        !cJSON_GetObjectItemCaseSensitive(elicitation, "url"));
}

/* ---- asking ---- */

/* Appends the start of a long text, without splitting a character, and where to find the rest. */
static void add_beginning(struct str *out, const struct str *text, const char *request_id)
{
	size_t n = utf8_cut(str_text(text), text->length, ELICIT_SHOWN_BYTES);

	visible_add(out, str_text(text), n, true);
	if (n < text->length)
		str_addf(out, "\n(%zu bytes more: agent-intercom-ctl show %.13s)", text->length - n,
		         request_id);
}

static void add_name(struct str *out, const struct request *r)
{
	OWNED(str) struct str name = { 0 };

	request_add_name(&name, r);
	visible_add(out, str_text(&name), name.length, false);
}

/* What happens to each file, one line each. */
static void add_changes(struct str *out, const struct request *r)
{
	OWNED(str) struct str text = { 0 };

	if (!summary_is_needed(r->files, r->file_count))
		return;
	str_add(&text, "  ");
	summary_add(&text, r->files, r->file_count, "\n  ", r->file_count);
	visible_add(out, text.bytes, text.length, true);
	str_add_char(out, '\n');
}

static void add_message(struct str *out, const struct request *r)
{
	if (r->row.file_path) {
		visible_add(out, r->row.title, strlen(r->row.title), false);
		str_add(out, "\n\nFile: ");
		add_name(out, r);
		str_addf(out, " (risk: %s)", request_risk_level_name(r->row.risk_level));
		str_add(out, r->row.replaces_file ? ", replaces the whole file\n" : "\n");
		add_changes(out, r);
		str_add_char(out, '\n');
	}
	if (r->row.kind == REQUEST_KIND_PERMISSION)
		str_addf(out, "May this command be run? (risk: %s)\n\n",
		         request_risk_level_name(r->row.risk_level));
	if (r->description) {
		visible_add(out, r->description, strlen(r->description), true);
		str_add(out, "\n\n");
	}
	add_beginning(out, r->effect.length ? &r->effect : &r->body, r->row.id);
}

/* The possible answers to each kind of request: request_verdict, as a form. */
static const struct form {
	enum request_kind kind;
	const char *verdicts[3];
	const char *needs_text; /* the verdict that needs a text */
	const char *text, *hint;
} FORMS[] = {
	{ REQUEST_KIND_CLEARANCE,
	  { "approve", "reject" },
	  NULL,
	  "reason",
	  "why, if you reject it" },
	{ REQUEST_KIND_PERMISSION,
	  { "approve", "reject" },
	  NULL,
	  "reason",
	  "why, if you reject it" },
	{ REQUEST_KIND_PROMPT,
	  { "continue", "refine", "stop" },
	  "refine",
	  "instruction",
	  "what to do instead, if you refine it" },
	{ REQUEST_KIND_STANDBY, { "resume", "stop" }, NULL, "instruction", "what to do next" },
};

static const struct form *form_of(const struct request *r)
{
	const struct form *f = FORMS;

	while (f->kind != r->row.kind)
		f++;
	return f;
}

/* Codex does not let its user submit a form in which an optional field is empty. */
static bool takes_empty_fields(const struct request *r)
{
	return !r->row.client_name || strncasecmp(r->row.client_name, "codex", 5) != 0;
}

static void add_fields(struct str *out, const struct form *f, bool with_text)
{
	json_member_object(out, "decision");
	json_member(out, "type", "string");
	json_member(out, "title", "Decision");
	json_member_array(out, "enum");
	for (size_t i = 0; i < COUNT(f->verdicts) && f->verdicts[i]; i++)
		if (with_text || !f->needs_text || strcmp(f->verdicts[i], f->needs_text) != 0)
			json_item(out, f->verdicts[i]);
	json_array_end(out);
	json_object_end(out);
	if (!with_text)
		return;
	json_member_object(out, f->text);
	json_member(out, "type", "string");
	json_member(out, "description", f->hint);
	json_object_end(out);
}

void elicit_params(struct str *out, const struct request *r, bool with_mode, const char *why)
{
	OWNED(str) struct str message = { 0 };

	if (*why) {
		str_add(&message, "Your answer was not taken: ");
		visible_add(&message, why, strlen(why), false);
		str_add(&message, "\n\n");
	}
	add_message(&message, r);
	json_object(out);
	if (with_mode)
		json_member(out, "mode", "form");
	json_member(out, "message", message.bytes);
	json_member_object(out, "requestedSchema");
	json_member(out, "type", "object");
	json_member_object(out, "properties");
	add_fields(out, form_of(r), takes_empty_fields(r));
	json_object_end(out);
	json_member_array(out, "required");
	json_item(out, "decision");
	json_array_end(out);
	json_object_end(out);
	json_object_end(out);
}

/* ---- the answer ---- */

static const char *said(const cJSON *content, const char *name)
{
	const char *text = json_text(content, name);

	return text && *text ? text : NULL;
}

static bool settles(enum decision_outcome outcome)
{
	return outcome == DECISION_OUTCOME_APPLIED || outcome == DECISION_OUTCOME_DUPLICATE ||
	       outcome == DECISION_OUTCOME_TOO_LATE;
}

int elicit_take(struct store *st, const struct request *r, const cJSON *response, bool *ret_decided,
                struct str *why, struct err *e)
{
	const cJSON *content = cJSON_GetObjectItemCaseSensitive(response, "content");
	const char *action = json_text(response, "action");
	OWNED(decision_result) struct decision_result result = { 0 };
	const struct decision d = { .request_id = r->row.id,
		                    .verdict = said(content, "decision"),
		                    .reason = said(content, "reason"),
		                    .instruction = said(content, "instruction"),
		                    .digest = r->row.digest,
		                    .source = "elicitation" };

	*ret_decided = false;
	if (!action || strcmp(action, "accept") != 0)
		return 0; /* declined or dismissed: somebody else may answer */
	if (decision_insert(st, &d, &result, e))
		return -1;
	*ret_decided = settles(result.is.outcome);
	if (!*ret_decided)
		str_add(why, result.is.why ? result.is.why : "");
	return 0;
}
