/* inquiry: a question of an agent, as a person is asked it: what it is about, what it would change,
 * what may be answered. */
#ifndef ACP_INQUIRY_H
#define ACP_INQUIRY_H

#include "err.h"
#include "tool_call.h"

#include <stdbool.h>

enum acp_inquiry_kind {
	ACP_INQUIRY_PERMISSION, /* to do something: approve or reject */
	ACP_INQUIRY_PROMPT, /* how to proceed: continue, refine or stop */
	ACP_INQUIRY_FORM, /* fields to be filled in */
};

enum acp_risk { ACP_RISK_LOW, ACP_RISK_HIGH, ACP_RISK_CRITICAL };

enum acp_option_kind {
	ACP_ALLOW_ONCE,
	ACP_ALLOW_ALWAYS,
	ACP_REJECT_ONCE,
	ACP_REJECT_ALWAYS,
	ACP_OPTION_OTHER,
};

struct acp_option {
	char *id, *name;
	enum acp_option_kind kind;
};

enum acp_field_kind {
	ACP_FIELD_TEXT,
	ACP_FIELD_NUMBER,
	ACP_FIELD_BOOL,
	ACP_FIELD_ONE,
	ACP_FIELD_MANY
};

/* A field of a form; of ACP_FIELD_BOOL, _ONE and _MANY the choices, as options of no kind. */
struct acp_field {
	char *name, *title;
	enum acp_field_kind kind;
	bool is_required;
	char *limits; /* what its schema says besides: a JSON object (acp_inquiry_add_form), or NULL
	               */
	struct acp_option *choices;
	size_t choice_count;
};

struct acp_inquiry {
	enum acp_inquiry_kind kind;
	char *id; /* the token of the agent's id: the answer goes there */
	char *session_id; /* as the agent named it; NULL: it did not */
	char *tool_call_id; /* NULL: of none */
	char *tool_kind; /* "edit", "execute", ...; NULL: not said */
	char *prompt_type; /* ACP_INQUIRY_PROMPT: continuation, clarification, ...; else NULL */
	struct str
	    title; /* never empty, but of an ACP_INQUIRY_PROMPT, whose text is in description */
	struct str description; /* in its words */
	struct str notes; /* what we say about it, and what it gives beside that */
	struct str diff; /* what it would change: a diff, a command, or the arguments of a tool */
	bool is_diff; /* diff is a diff, or what the agent calls one */
	char **paths; /* every path that it names, as the agent gives it */
	size_t path_count;
	struct str command; /* the command line, as a shell reads it; "": it is none */
	char *cwd; /* where that would run; NULL: not said */
	struct str input; /* all that the tool is called with, canonical; "": nothing */
	bool is_more; /* than a tool with its input: it has a diff, a place, a subject or another
	                 title beside that */
	bool is_unclear; /* what a member of the input, or a patch, does is not known */
	bool is_doubted; /* nor what it asks for: see acp_inquiry_doubt */
	struct str path; /* relative to the workspace, absolute if it is outside; "": no file */
	enum acp_risk risk;
	struct acp_option *options; /* ACP_INQUIRY_PERMISSION of the standard */
	size_t option_count;
	struct acp_field *fields; /* ACP_INQUIRY_FORM */
	size_t field_count;
	bool is_asked; /* the caller's: a person was asked */
	struct acp_inquiry *next;
};

/* The tool call that params of session/request_permission are about. NULL: none. */
const cJSON *acp_inquiry_call(const cJSON *params);
/* Fills in what params of session/request_permission ask. call: that tool call as far as it is
 * known, or NULL; root: the absolute path of the workspace. 0, or -1: it asks nothing. */
int acp_inquiry_permission(struct acp_inquiry *ask, const cJSON *params,
                           const struct acp_tool_call *call, const char *root, struct err *e);
/* The same for elicitation/create. */
int acp_inquiry_form(struct acp_inquiry *ask, const cJSON *params, struct err *e);

/* Whether a shell that reads this name as a command starts the program of this name. */
bool acp_inquiry_is_program(const char *name);
/* Adds a paragraph to what we say about it. */
void acp_inquiry_note(struct acp_inquiry *ask, const char *text);
/* The same of what is unclear of it, so that no rule fits it. */
void acp_inquiry_doubt(struct acp_inquiry *ask, const char *text);
/* Appends what we say about it to a person: file and risk, the notes, and its offer. */
void acp_inquiry_add_notes(const struct acp_inquiry *ask, struct str *out);
/* Appends what may be answered, numbered, in the agent's words to their end, unless that is just
 * yes or no. */
void acp_inquiry_add_offer(const struct acp_inquiry *ask, struct str *out);

/* Remembers that it names this path. */
void acp_inquiry_name(struct acp_inquiry *ask, const char *given);

/* Puts a path as the agent gives it into ask->path; one outside of root makes the risk critical. */
void acp_inquiry_place(struct acp_inquiry *ask, const char *root, const char *given);

/* Says that this path, which it names, leads to the absolute path target; if that is outside of
 * root, the risk is critical. */
void acp_inquiry_leads(struct acp_inquiry *ask, const char *root, const char *given,
                       const char *target);

/* The option that says yes, once. NULL: none, or several that differ. */
const struct acp_option *acp_inquiry_yes(const struct acp_inquiry *ask);
/* The option that says no: once if there is one. NULL: none. */
const struct acp_option *acp_inquiry_no(const struct acp_inquiry *ask);
/* Whether yes and no are all that it offers, once each and called so, beside an allow_always that
 * nobody is shown. */
bool acp_inquiry_is_plain(const struct acp_inquiry *ask);
/* Appends the options that a person may choose from: [{"id", "name", "kind"}]; no allow_always. */
void acp_inquiry_add_options(const struct acp_inquiry *ask, struct str *out);
/* Appends what a request for permission is answered with: this option; NULL: none is chosen. */
void acp_inquiry_add_outcome(struct str *out, const struct acp_option *option);
/* Appends the fields of a form: [{"name", "title", "kind", "required", "choices": [{"id",
 * "name"}], "limits"}], of the kinds text, number, boolean, one, many. limits, where there are any,
 * has members of the schema: default, description, format, minimum, maximum, minLength, maxLength,
 * minItems, maxItems; and integer: true. */
void acp_inquiry_add_form(const struct acp_inquiry *ask, struct str *out);
/* The option with that id, NULL: none. */
const struct acp_option *acp_inquiry_option(const struct acp_inquiry *ask, const char *id);

const char *acp_risk_name(enum acp_risk risk);
/* The risk of that name; what is unknown is critical. */
enum acp_risk acp_risk_of(const char *name);
void acp_inquiry_clear(struct acp_inquiry *ask);

#endif
