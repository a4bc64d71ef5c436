#include "hook_rewrite.h"

#include "content.h"
#include "gate_rewrite.h"
#include "hook_kept.h"
#include "sql/gate_rewrite.h"

#include <string.h>

/* ---- what may be replaced ---- */

/* A content is replaced where we know what becomes of the file, and that is all that changes. */
static bool is_of_one_file(const struct call *c)
{
	return c->hook->is_computed && c->plan.count == 1 &&
	       (strcmp(c->files[0].action, "create") == 0 ||
	        strcmp(c->files[0].action, "modify") == 0);
}

enum request_editable hook_editable(const struct call *c)
{
	/* The host would ask for another command anew, before the tool and then here. */
	if (gate_input_escalates(&c->hook->in))
		return REQUEST_EDITABLE_NONE;
	switch (gate_rewrite_part(&c->hook->in)) {
	case GATE_PART_COMMAND:
		return REQUEST_EDITABLE_COMMAND;
	case GATE_PART_CONTENT:
		return is_of_one_file(c) ? REQUEST_EDITABLE_CONTENT : REQUEST_EDITABLE_NONE;
	case GATE_PART_NONE:
		break;
	}
	return REQUEST_EDITABLE_NONE;
}

/* ---- what becomes of it ---- */

/* What the operator wrote, and what that makes of the call. */
struct instead {
	struct str text;
	struct hook asked, made;
	struct gate_rewrite as;
};

static void instead_clear(struct instead *i)
{
	gate_rewrite_clear(&i->as);
	hook_use_clear(&i->made);
	hook_use_clear(&i->asked);
	str_clear(&i->text);
}

/* 1 there is one, 0 what was asked is approved as it is, -1. */
static int read_text(struct store *st, int64_t request_seq, struct str *text, struct err *e)
{
	OWNED(gate_rewrite_text_row) struct gate_rewrite_text_row row = { 0 };
	int got = sql_gate_rewrite_text(st, request_seq, &row, e);

	if (got <= 0)
		return got;
	if (row.edited)
		str_add(text, row.edited);
	return row.edited_seq && content_get(st, row.edited_seq, text, e) ? -1 : 1;
}

/* Whether the policy where it was asked has a rule against the command. 1, 0, -1. */
static int is_denied(struct store *st, int64_t request_seq, const char *command, struct str *why,
                     struct err *e)
{
	int64_t content = sql_gate_rewrite_policy(st, request_seq, e);
	OWNED(str) struct str bytes = { 0 };
	struct policy *policy = NULL;
	bool denies;

	if (content <= 0)
		return content < 0 ? -1 : 0;
	if (content_get(st, content, &bytes, e))
		return -1;
	if (policy_parse(bytes.bytes, bytes.length, &policy, NULL))
		return 0; /* it was parsed before; it allows nothing */
	denies = policy_denies(policy, command, why);
	policy_free(policy);
	return denies;
}

/* Makes the call that does what the text says. 1 made; 0 it cannot be, and why says why; -1. */
static int make(struct store *st, int64_t request_seq, const cJSON *kept, struct instead *i,
                struct str *why, struct err *e)
{
	struct err refused = { 0 };
	int denied;

	if (memchr(str_text(&i->text), '\0', i->text.length) ||
	    !utf8_valid(str_text(&i->text), i->text.length)) {
		str_add(why, "it is not a text");
		return 0;
	}
	if (hook_use(&i->asked, kept, json_text(kept, "tool"),
	             cJSON_GetObjectItemCaseSensitive(kept, "input"), &refused) ||
	    gate_rewrite_make(&i->asked.in, str_text(&i->text), &i->as, &refused) ||
	    hook_use(&i->made, kept, i->as.tool, i->as.input, &refused)) {
		str_add(why, refused.text);
		return 0;
	}
	if (i->made.in.class != i->asked.in.class) {
		str_add(why, "it is a patch, which the command before was not");
		return 0;
	}
	if (i->made.in.class != GATE_EXECUTE)
		return 1;
	denied = is_denied(st, request_seq, str_text(&i->text), why, e);
	return denied < 0 ? -1 : !denied;
}

/* ---- the result ---- */

static void set_text(cJSON *all, const char *name, const char *text)
{
	cJSON_DeleteItemFromObjectCaseSensitive(all, name);
	(void)cJSON_AddStringToObject(all, name, text);
}

static void refuse(cJSON *all, const char *why)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text,
	         "the operator approved something else than this, which cannot be passed on: %s. "
	         "Do not do what was asked",
	         why);
	set_text(all, "decision", "deny");
	set_text(all, "reason", str_text(&text));
	(void)cJSON_AddTrueToObject(all, HOOK_WITHHELD);
	cJSON_DeleteItemFromObjectCaseSensitive(all, "context");
}

static void tell(cJSON *all, const struct instead *i)
{
	OWNED(str) struct str text = { 0 };
	const char *note = json_text(all, "context");
	char *input = cJSON_PrintUnformatted(i->as.input);

	str_addf(
	    &text,
	    "the operator approved this with a change. Call %s now with exactly this input; it "
	    "is allowed once, without another question: %s",
	    i->as.tool, input ? input : "{}");
	cJSON_free(input);
	if (note)
		str_addf(&text, "\n%s", note);
	set_text(all, "decision", "deny");
	set_text(all, "reason", str_text(&text));
	cJSON_DeleteItemFromObjectCaseSensitive(all, "context");
}

static void hand_over(cJSON *all, const struct instead *i)
{
	bool is_command = i->made.in.class == GATE_EXECUTE;
	const char *note = json_text(all, "context");
	OWNED(str) struct str text = { 0 };

	str_add(&text, is_command
	                   ? "the operator approved this with a change; what was run instead: "
	                   : "the operator approved this with a change: the file was written "
	                     "with another content than yours; read it before you go on");
	if (is_command)
		str_add(&text, str_text(&i->text));
	if (note)
		str_addf(&text, "\n%s", note);
	set_text(all, "context", str_text(&text));
	cJSON_AddItemToObject(all, "input", cJSON_Duplicate(i->as.input, true));
}

static void add_record(cJSON *all, const struct instead *i)
{
	cJSON *record = cJSON_AddObjectToObject(all, HOOK_REWRITE);

	(void)cJSON_AddBoolToObject(record, "told", i->as.is_told);
	(void)cJSON_AddStringToObject(record, "digest", i->made.digest.text);
	(void)cJSON_AddStringToObject(record, "hash",
	                              sha256_of(str_text(&i->text), i->text.length).text);
}

int hook_rewrite(struct store *st, int64_t request_seq, const cJSON *kept, struct str *result,
                 struct err *e)
{
	OWNED(cJSON_ptr) cJSON *all = json_read(str_text(result), result->length, NULL);
	const char *decision = json_text(all, "decision");
	OWNED(instead) struct instead i = { 0 };
	OWNED(str) struct str why = { 0 };
	int got;

	if (!decision || strcmp(decision, "allow") != 0)
		return 0;
	got = read_text(st, request_seq, &i.text, e);
	if (got <= 0)
		return got;
	got = make(st, request_seq, kept, &i, &why, e);
	if (got < 0)
		return -1;
	if (!got) {
		refuse(all, str_text(&why));
	} else {
		if (i.as.is_told)
			tell(all, &i);
		else
			hand_over(all, &i);
		add_record(all, &i);
	}
	str_reset(result);
	json_canonical(result, all);
	return 0;
}

int hook_rewrite_note(struct store *st, int64_t call_seq, const char *result, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_Parse(result);
	const cJSON *record = cJSON_GetObjectItemCaseSensitive(all, HOOK_REWRITE);

	if (!record)
		return 0;
	return sql_gate_rewrite_insert(
	    st, cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(record, "told")),
	    json_text(record, "digest"), json_text(record, "hash"), call_seq, e);
}

/* ---- what was passed on before ---- */

/* The operator's content goes into the file as it was when they saw it. */
static int is_same_file(struct store *st, const struct call *c,
                        const struct gate_rewritten_row *before, struct err *e)
{
	OWNED(gate_file_list_row) struct gate_file_list_row row = { 0 };
	int got;

	if (!is_of_one_file(c) || strcmp(c->files[0].result_hash, before->text_hash) != 0)
		return 0;
	sql_gate_file_list(st, before->gate_seq, &row);
	got = row_next(&row.row, e);
	if (got <= 0)
		return got;
	return strcmp(row.target, c->files[0].target) == 0 &&
	       strcmp(row.original_hash, c->files[0].hash) == 0;
}

/* Whether the file, or the folder of the command, is still what the operator saw. 1, 0, -1. */
static int is_same_place(struct store *st, const struct call *c,
                         const struct gate_rewritten_row *before, struct err *e)
{
	if (c->hook->in.class == GATE_EDIT)
		return is_same_file(st, c, before, e);
	return strcmp(hook_bind(c, before->digest).text, before->bound) == 0;
}

int hook_was_told(struct store *st, struct call *c, const struct peer *p, struct err *e)
{
	OWNED(gate_rewritten_row) struct gate_rewritten_row told = { 0 };
	int got = sql_gate_rewrite_told(st, p->session_seq, c->hook->digest.text, &told, e);

	if (got > 0)
		got = is_same_place(st, c, &told, e);
	if (got > 0)
		c->request_seq = told.request_seq;
	return got;
}

int hook_was_handed(struct store *st, const struct call *c, const struct peer *p, struct err *e)
{
	OWNED(gate_rewritten_row) struct gate_rewritten_row handed = { 0 };
	int got =
	    sql_gate_rewrite_handed(st, p->session_seq, c->hook->digest.text, true, &handed, e);

	if (got > 0)
		got = is_same_place(st, c, &handed, e);
	if (got > 0)
		c->hook->pre_seq = handed.gate_seq;
	return got;
}
