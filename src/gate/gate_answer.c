#include "gate_answer.h"

#include "err.h"
#include "json_writer.h"

#include <string.h>

enum { STATUS_OK = 0, STATUS_DENY = 2 };

/* What is being worded. */
struct wording {
	const struct gate_host *host;
	const char *event_name;
	enum gate_event event;
	struct gate_verdict says;
	const char *input; /* says.input, if it is to be said */
	struct str *out;
};

static const char *const DECISIONS[] = {
	[GATE_NONE] = "none", [GATE_ALLOW] = "allow", [GATE_DENY] = "deny", [GATE_DEFER] = "defer"
};

const char *gate_decision_name(enum gate_decision decision)
{
	return DECISIONS[decision];
}

bool gate_decision_of(const char *name, enum gate_decision *ret)
{
	for (size_t i = 0; i < COUNT(DECISIONS); i++) {
		if (strcmp(DECISIONS[i], name) == 0) {
			*ret = (enum gate_decision)i;
			return true;
		}
	}
	return false;
}

static bool is_text(const char *text)
{
	return text && *text;
}

/* ---- before a tool ---- */

static void open_specific(const struct wording *w)
{
	json_object(w->out);
	json_member_object(w->out, "hookSpecificOutput");
	json_member(w->out, "hookEventName", w->event_name);
}

static void close_specific(const struct wording *w)
{
	json_object_end(w->out);
	json_object_end(w->out);
}

/* Claude Code, Codex, Qwen Code and VS Code. */
static void word_specific_tool(const struct wording *w)
{
	const struct gate_verdict *v = &w->says;
	bool decides = v->decision != GATE_NONE;

	/* Codex shows an allow that changes nothing as a failed hook. */
	if (w->host->dialect == GATE_DIALECT_CODEX && v->decision == GATE_ALLOW && !w->input)
		decides = false;
	if (!decides && !is_text(v->context))
		return;
	open_specific(w);
	if (decides)
		json_member(w->out, "permissionDecision", gate_decision_name(v->decision));
	if (decides && is_text(v->reason))
		json_member(w->out, "permissionDecisionReason", v->reason);
	if (v->decision == GATE_ALLOW && w->input)
		json_member_raw(w->out, "updatedInput", w->input);
	if (is_text(v->context))
		json_member(w->out, "additionalContext", v->context);
	close_specific(w);
}

/* Gemini CLI; our own plugin for opencode reads "input". */
static void word_plain_tool(const struct wording *w)
{
	const struct gate_verdict *v = &w->says;
	bool is_gemini = w->host->dialect == GATE_DIALECT_GEMINI;

	if (is_gemini && v->decision == GATE_NONE)
		return;
	json_object(w->out);
	json_member(w->out, "decision", gate_decision_name(v->decision));
	if (is_text(v->reason))
		json_member(w->out, "reason", v->reason);
	if (w->input && is_gemini) {
		json_member_object(w->out, "hookSpecificOutput");
		json_member(w->out, "hookEventName", w->event_name);
		json_member_raw(w->out, "tool_input", w->input);
		json_object_end(w->out);
	} else if (w->input) {
		json_member_raw(w->out, "input", w->input);
	}
	json_object_end(w->out);
}

static void word_copilot_tool(const struct wording *w)
{
	const struct gate_verdict *v = &w->says;

	if (v->decision == GATE_NONE && !is_text(v->context))
		return;
	json_object(w->out);
	if (v->decision != GATE_NONE)
		json_member(w->out, "permissionDecision", gate_decision_name(v->decision));
	if (is_text(v->reason))
		json_member(w->out, "permissionDecisionReason", v->reason);
	if (w->input)
		json_member_raw(w->out, "modifiedArgs", w->input);
	if (is_text(v->context))
		json_member(w->out, "additionalContext", v->context);
	json_object_end(w->out);
}

/* With failClosed, silence is a failure: so something is always said. */
static void word_cursor_tool(const struct wording *w)
{
	const struct gate_verdict *v = &w->says;

	json_object(w->out);
	if (v->decision != GATE_NONE)
		json_member(w->out, "permission", gate_decision_name(v->decision));
	if (is_text(v->reason)) {
		json_member(w->out, "user_message", v->reason);
		json_member(w->out, "agent_message", v->reason);
	}
	if (w->input)
		json_member_raw(w->out, "updated_input", w->input);
	json_object_end(w->out);
}

static void word_tool(const struct wording *w)
{
	switch (w->host->dialect) {
	case GATE_DIALECT_CLAUDE:
	case GATE_DIALECT_CODEX:
	case GATE_DIALECT_VSCODE:
		word_specific_tool(w);
		break;
	case GATE_DIALECT_GEMINI:
	case GATE_DIALECT_OPENCODE:
		word_plain_tool(w);
		break;
	case GATE_DIALECT_COPILOT:
		word_copilot_tool(w);
		break;
	case GATE_DIALECT_CURSOR:
		word_cursor_tool(w);
		break;
	}
}

/* ---- a permission ---- */

static void word_behavior(const struct wording *w)
{
	const struct gate_verdict *v = &w->says;

	json_member(w->out, "behavior", gate_decision_name(v->decision));
	if (v->decision == GATE_DENY && is_text(v->reason))
		json_member(w->out, "message", v->reason);
}

static void word_permission(const struct wording *w)
{
	if (w->says.decision == GATE_NONE)
		return;
	if (w->host->dialect == GATE_DIALECT_COPILOT) {
		json_object(w->out);
		word_behavior(w);
		json_object_end(w->out);
		return;
	}
	open_specific(w);
	json_member_object(w->out, "decision");
	word_behavior(w);
	if (w->input)
		json_member_raw(w->out, "updatedInput", w->input);
	json_object_end(w->out);
	close_specific(w);
}

/* ---- the other events ---- */

static void word_flat(const struct wording *w, const char *name, const char *text)
{
	json_object(w->out);
	json_member(w->out, name, text);
	json_object_end(w->out);
}

static void word_context(const struct wording *w)
{
	const char *text = w->says.context;
	enum gate_dialect dialect = w->host->dialect;

	if (!is_text(text))
		return;
	if (dialect == GATE_DIALECT_COPILOT) {
		word_flat(w, "additionalContext", text);
	} else if (dialect == GATE_DIALECT_CURSOR) {
		word_flat(w, "additional_context", text);
	} else if (dialect == GATE_DIALECT_OPENCODE) {
		word_flat(w, "context", text);
	} else {
		open_specific(w);
		json_member(w->out, "additionalContext", text);
		close_specific(w);
	}
}

static void word_block(const struct wording *w, const char *decision)
{
	json_member(w->out, "decision", decision);
	json_member(w->out, "reason", w->says.go_on);
}

static void word_stop(const struct wording *w)
{
	const char *text = w->says.go_on;
	enum gate_dialect dialect = w->host->dialect;

	if (!is_text(text))
		return;
	if (dialect == GATE_DIALECT_CURSOR) {
		word_flat(w, "followup_message", text);
	} else if (dialect == GATE_DIALECT_OPENCODE) {
		word_flat(w, "continue", text);
	} else if (dialect == GATE_DIALECT_VSCODE) {
		open_specific(w);
		word_block(w, "block");
		close_specific(w);
	} else {
		json_object(w->out);
		word_block(w, dialect == GATE_DIALECT_GEMINI ? "deny" : "block");
		json_object_end(w->out);
	}
}

/* ---- all ---- */

/* Cursor takes another input before a tool in general, not before a command or a call of MCP. */
bool gate_answer_rewrites(const struct gate_host *host, const char *event_name)
{
	const struct gate_event_name *known = gate_host_event(host, event_name);

	if (!known || !host->rewrites)
		return false;
	if (known->event == GATE_PERMISSION)
		return host->dialect == GATE_DIALECT_CLAUDE;
	return known->event == GATE_PRE_TOOL &&
	       (host->dialect != GATE_DIALECT_CURSOR || strcmp(event_name, "preToolUse") == 0);
}

/* Replaces what the host cannot do by a deny; text holds its reason. */
static void fit(struct wording *w, struct str *text)
{
	struct gate_verdict *v = &w->says;

	if (v->decision != GATE_ALLOW)
		w->input = NULL;
	if (w->input && !gate_answer_rewrites(w->host, w->event_name)) {
		v->decision = GATE_DENY;
		str_addf(text,
		         "approved with a change: call the same tool with this input instead: %s",
		         w->input);
		v->reason = str_text(text);
		w->input = NULL;
	}
	if (v->decision == GATE_DEFER && !(w->event == GATE_PRE_TOOL && w->host->defers_since)) {
		v->decision = GATE_DENY;
		if (!is_text(v->reason))
			v->reason = "this host cannot wait for an answer here; call the same again";
	}
	if (v->decision == GATE_DENY && !is_text(v->reason))
		v->reason = "denied by agent-intercom";
}

static void word_event(const struct wording *w)
{
	if (w->event == GATE_PRE_TOOL)
		word_tool(w);
	else if (w->event == GATE_PERMISSION)
		word_permission(w);
	else if (w->event == GATE_STOP)
		word_stop(w);
	else
		word_context(w);
}

void gate_answer_write(const struct gate_host *host, const char *event_name,
                       const struct gate_verdict *verdict, struct gate_answer *answer)
{
	const struct gate_event_name *known = gate_host_event(host, event_name);
	OWNED(str) struct str text = { 0 };
	struct wording w = { .host = host,
		             .event_name = event_name,
		             .event = known ? known->event : GATE_PRE_TOOL,
		             .says = *verdict,
		             .input = verdict->input,
		             .out = &answer->out };

	fit(&w, &text);
	word_event(&w);
	if (answer->out.length)
		str_add_char(&answer->out, '\n');
	if ((w.event == GATE_PRE_TOOL || w.event == GATE_PERMISSION) &&
	    w.says.decision == GATE_DENY) {
		str_add(&answer->err, w.says.reason);
		str_add_char(&answer->err, '\n');
		if (w.event == GATE_PRE_TOOL)
			answer->status = STATUS_DENY;
	}
}

void gate_answer_clear(struct gate_answer *answer)
{
	str_clear(&answer->out);
	str_clear(&answer->err);
	*answer = (struct gate_answer){ .status = STATUS_OK };
}

void gate_answer_progress(const struct gate_host *host, const char *message, struct str *out)
{
	if (!host->takes_progress)
		return;
	json_object(out);
	json_member(out, "type", "progress");
	json_member(out, "message", message);
	json_member_bool(out, "temporary", true);
	json_object_end(out);
	str_add_char(out, '\n');
}
