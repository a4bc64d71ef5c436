/* What hooks are told. */
#include "hook.h"

#include "hook_rewrite.h"
#include "json.h"
#include "json_writer.h"
#include "request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hook_set_result(struct str *out, enum gate_decision decision, const char *reason)
{
	str_reset(out);
	json_object(out);
	json_member(out, "decision", gate_decision_name(decision));
	json_member(out, "reason", reason);
	json_object_end(out);
}

void hook_defer(struct str *result)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_Parse(str_text(result));

	(void)cJSON_ReplaceItemInObjectCaseSensitive(
	    all, "decision", cJSON_CreateString(gate_decision_name(GATE_DEFER)));
	str_reset(result);
	json_canonical(result, all);
}

/* ---- answers ---- */

__attribute__((format(printf, 2, 3))) static void add_deny(struct str *out, const char *format, ...)
{
	char text[2 * ERR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_member(out, "decision", "deny");
	json_member(out, "reason", text);
}

static void add_parked(struct str *out, const struct request *r)
{
	add_deny(
	    out,
	    "parked as question %s: it is not decided yet, so do not go on with it; call the "
	    "same again to get the answer. If your program ends turns that repeat a call, call "
	    "`ping` in between",
	    r->row.id);
	json_member_bool(out, "again", true);
}

/* The words of an operator may be long. */
static void add_words(struct str *out, const char *before, const char *words, const char *after)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "%s%s%s", before, words, after);
	json_member(out, "decision", "deny");
	json_member(out, "reason", str_text(&text));
}

static void add_permission(struct str *out, const struct request *r)
{
	switch (r->row.state) {
	case REQUEST_STATE_APPROVED:
	case REQUEST_STATE_CONSUMED:
		json_member(out, "decision", "allow");
		json_member(out, "context", r->row.instruction);
		json_member(out, "choice", r->row.choice);
		return;
	case REQUEST_STATE_REJECTED:
		add_words(out, "rejected by the operator", r->row.reason ? ": " : "",
		          r->row.reason ? r->row.reason : "");
		json_member(out, "choice", r->row.choice);
		return;
	case REQUEST_STATE_EXPIRED:
		add_deny(out,
		         r->row.decision == REQUEST_VERDICT_APPROVE
		             ? "the approval of question %s has lapsed; call the same again"
		             : "nobody has answered question %s in time",
		         r->row.id);
		return;
	case REQUEST_STATE_ANSWERED:
	case REQUEST_STATE_PENDING:
	case REQUEST_STATE_INTERRUPTED:
	case REQUEST_STATE_NONE:
		break;
	}
	add_parked(out, r);
}

/* The answer to a question of the agent is told as the reason not to show its own dialog. */
static void add_answer(struct str *out, const struct request *r)
{
	static const char ANSWERED[] = "the user was asked elsewhere and has answered: ";
	static const char GO_ON[] =
	    "\nTake that as the answer (a number is that of an option), and "
	    "do not ask it again.";

	if (!r->row.decision)
		add_parked(out, r);
	else if (r->row.state == REQUEST_STATE_EXPIRED)
		add_deny(out,
		         "the user was asked elsewhere and has not answered in time (question %s); "
		         "continue as you think best, and say what you have assumed",
		         r->row.id);
	else if (r->row.decision == REQUEST_VERDICT_REFINE)
		add_words(out, ANSWERED, r->row.instruction, GO_ON);
	else if (r->row.decision == REQUEST_VERDICT_STOP)
		add_words(out, "the user declines to answer", r->row.reason ? ": " : "",
		          r->row.reason ? r->row.reason : "");
	else
		add_words(out, ANSWERED, "continue as you think best", GO_ON);
}

static void add_plan(struct str *out, const struct request *r)
{
	if (!r->row.decision)
		add_parked(out, r);
	else if (r->row.state == REQUEST_STATE_EXPIRED)
		add_deny(out, "nobody has approved the plan in time (question %s)", r->row.id);
	else if (r->row.decision == REQUEST_VERDICT_REFINE)
		add_words(out, "the user does not approve this plan yet: ", r->row.instruction,
		          "\nChange the plan and submit it again.");
	else if (r->row.decision == REQUEST_VERDICT_STOP)
		add_words(out, "the user rejects this plan", r->row.reason ? ": " : "",
		          r->row.reason ? r->row.reason : "");
	else
		json_member(out, "decision", "allow");
}

/* At the end of a turn. */
static void add_next(struct str *out, const struct request *r)
{
	json_member(out, "decision", "none");
	if (r->row.state == REQUEST_STATE_ANSWERED && r->row.decision != REQUEST_VERDICT_STOP)
		json_member(out, "continue", r->row.instruction ? r->row.instruction : "continue");
}

void hook_add_answer(struct str *out, const struct request *r)
{
	if (r->row.kind == REQUEST_KIND_STANDBY)
		add_next(out, r);
	else if (r->row.kind != REQUEST_KIND_PROMPT)
		add_permission(out, r);
	else if (r->row.prompt_type == REQUEST_PROMPT_TYPE_CLARIFICATION)
		add_answer(out, r);
	else
		add_plan(out, r);
	json_member(out, "request_id", r->row.id);
}

/* ---- replies ---- */

static const char *decision_in(const cJSON *result)
{
	const char *decision = json_text(result, "decision");

	return decision ? decision : "deny"; /* of a result that is an error */
}

enum gate_call_decision hook_decision(const char *result, struct str *reason)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_Parse(result);
	const char *decision = decision_in(all), *text = json_text(all, "reason");

	if (!text)
		text = json_text(all, "error_message");
	if (text)
		str_add_shown(reason, text, strlen(text), HOOK_REASON_BYTES);
	return strcmp(decision, "allow") == 0   ? GATE_CALL_DECISION_ALLOW
	       : strcmp(decision, "none") == 0  ? GATE_CALL_DECISION_NOTED
	       : strcmp(decision, "defer") == 0 ? GATE_CALL_DECISION_DEFER
	                                        : GATE_CALL_DECISION_DENY;
}

bool hook_withholds(const char *result)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_Parse(result);

	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(all, HOOK_WITHHELD));
}

bool hook_goes_on(const char *result)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_Parse(result);

	return json_text(all, "continue") != NULL;
}

static void add_to(cJSON *all, const char *name, const char *words)
{
	const char *text = json_text(all, name);
	OWNED(str) struct str both = { 0 };

	if (text)
		str_addf(&both, "%s\n\n", text);
	str_add(&both, words);
	cJSON_DeleteItemFromObjectCaseSensitive(all, name);
	(void)cJSON_AddStringToObject(all, name, str_text(&both));
}

/* Whether these words of the operator hold the note of an approval, which is also sent as
 * steering. */
static bool holds_note(const char *words, const char *note)
{
	OWNED(str) struct str paragraph = { 0 };

	str_addf(&paragraph, "): %s", note);
	for (const char *at = words; (at = strstr(at, paragraph.bytes)) != NULL; at++)
		if (!at[paragraph.length] || strncmp(at + paragraph.length, "\n\n", 2) == 0)
			return true;
	return false;
}

void hook_add_reply(struct str *out, const struct gate_host *host, enum gate_event event,
                    const char *result, const char *words, const cJSON *input)
{
	OWNED(cJSON_ptr) cJSON *all = json_read(result, strlen(result), NULL);
	const char *why = json_text(all, "error_message"), *note;
	bool is_deny = strcmp(decision_in(all), "deny") == 0;

	if (why) {
		hook_set_result(out, GATE_DENY, why);
		cJSON_Delete(all);
		all = cJSON_Parse(out->bytes);
		str_reset(out);
	}
	cJSON_DeleteItemFromObjectCaseSensitive(all, HOOK_REWRITE);
	cJSON_DeleteItemFromObjectCaseSensitive(all, HOOK_WITHHELD);
	note = json_text(all, "context");
	if (note && (!hook_tells(host, event, NULL, result) || (words && holds_note(words, note))))
		cJSON_DeleteItemFromObjectCaseSensitive(all, "context");
	if (words && *words)
		add_to(all,
		       is_deny              ? "reason"
		       : event == GATE_STOP ? "continue"
		                            : "context",
		       words);
	if (input && !is_deny)
		cJSON_AddItemToObject(all, "input", cJSON_Duplicate(input, true));
	json_canonical(out, all);
}

static bool is_in_script(const struct gate_host *host, const char *tool_use_id)
{
	const char *begin = host->script_uses;

	return begin && tool_use_id && strncmp(tool_use_id, begin, strlen(begin)) == 0;
}

/* Seen: a reason, in every host; other words where their vendors say so. */
bool hook_tells(const struct gate_host *host, enum gate_event event, const char *tool_use_id,
                const char *result)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_Parse(result);
	bool decides = event == GATE_PRE_TOOL || event == GATE_PERMISSION;

	if (!host ||
	    (host->relays && event == GATE_PERMISSION)) /* that is answered with an option */
		return false;
	if (decides && strcmp(decision_in(all), "deny") == 0)
		return !is_in_script(host, tool_use_id);
	if (strcmp(decision_in(all), "defer") == 0)
		return false; /* its process ends */
	if (event == GATE_STOP)
		return host->dialect != GATE_DIALECT_OPENCODE;
	return host->tells & GATE_AT(event);
}
