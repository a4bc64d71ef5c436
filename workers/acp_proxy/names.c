#include "names.h"

#include "json.h"
#include "json_writer.h"

#include <string.h>

/* The members of an object, as words. within: those of which the value, or each object in the list
 * that it is, has members of ours, too; the others are of whatever shape. */
struct names {
	const char *all;
	struct {
		const char *name;
		const struct names *members;
	} within[3];
};

static const struct names ANNOTATIONS = { .all = "audience lastModified priority _meta" };
static const struct names RESOURCE = { .all = "uri mimeType text blob _meta" };
static const struct names BLOCK = {
	.all = "type text data mimeType uri name title description size icons resource annotations "
	       "_meta",
	.within = { { "resource", &RESOURCE }, { "annotations", &ANNOTATIONS } },
};
static const struct names CHANGE = { .all = "operation path oldPath fileType mimeType _meta" };
static const struct names PATCH = { .all = "format text _meta" };
static const struct names CONTENT = {
	.all = "type content path oldText newText changes patch terminalId _meta",
	.within = { { "content", &BLOCK }, { "changes", &CHANGE }, { "patch", &PATCH } },
};
static const struct names LOCATION = { .all = "path line _meta" };
static const struct names TOOL_CALL = {
	.all = "toolCallId title name kind status content locations rawInput rawOutput _meta",
	.within = { { "content", &CONTENT }, { "locations", &LOCATION } },
};
static const struct names SUBJECT = {
	.all = "type toolCall command cwd toolCallId terminalId _meta",
	.within = { { "toolCall", &TOOL_CALL } },
};
static const struct names OPTION = { .all = "optionId name kind _meta" };

static const struct names PARAMS[] = {
	[ENVELOPE_PERMISSION] = {
		.all = "sessionId toolCall title description subject options _meta",
		.within = { { "toolCall", &TOOL_CALL }, { "subject", &SUBJECT }, { "options", &OPTION } },
	},
	[ENVELOPE_WRITE] = { .all = "sessionId path content _meta" },
	/* env is shown as it came. */
	[ENVELOPE_TERMINAL] = { .all = "sessionId command args env cwd outputByteLimit _meta" },
};

/* How other spellings are treated is the envelope's business (json_peek.h). */
static const struct names MESSAGE = { .all = "jsonrpc id method params _meta" };

static const struct names OUTCOME = { .all = "outcome optionId" };
static const struct names CHOICE_RESULT = { .all = "outcome",
	                                    .within = { { "outcome", &OUTCOME } } };
static const struct names CHOICE = { .all = "result", .within = { { "result", &CHOICE_RESULT } } };

static const struct names OPENED_RESULT = { .all = "sessionId" };
static const struct names OPENED = { .all = "result", .within = { { "result", &OPENED_RESULT } } };

/* Takes the next word of a list. False: there is none. */
static bool next_name(const char **list, struct str *ret)
{
	*list += strspn(*list, " ");
	str_reset(ret);
	str_add_bytes(ret, *list, strcspn(*list, " "));
	*list += ret->length;
	return ret->length > 0;
}

static bool has(const struct names *names, const char *name)
{
	OWNED(str) struct str one = { 0 };

	for (const char *list = names->all; next_name(&list, &one);)
		if (strcmp(one.bytes, name) == 0)
			return true;
	return false;
}

/* NULL: those of its value are not ours. */
static const struct names *members_of(const struct names *names, const char *name)
{
	for (size_t i = 0; i < COUNT(names->within) && names->within[i].name; i++)
		if (strcmp(names->within[i].name, name) == 0)
			return names->within[i].members;
	return NULL;
}

static void fold_to(struct str *out, const char *name)
{
	str_reset(out);
	str_add(out, name);
	json_fold(out->bytes);
}

/* Whether some reader takes name for one of these, as. */
static bool is_taken_for(const struct names *names, const char *name, struct str *as)
{
	OWNED(str) struct str folded = { 0 }, own = { 0 };

	fold_to(&folded, name);
	for (const char *list = names->all; next_name(&list, as);) {
		fold_to(&own, as->bytes);
		if (strcmp(own.bytes, folded.bytes) == 0)
			return true;
	}
	return false;
}

static int refuse(const char *name, const char *as, struct err *e)
{
	return err_set(e, ERR_INPUT,
	               "readers may understand it differently: some take '%.60s' for '%s'", name,
	               as);
}

/* others: NULL if it is of no interest. */
static void add_other(struct str *others, const cJSON *item)
{
	if (others)
		json_add_member(others, item->string, item);
}

static int read_value(const struct names *names, const cJSON *value, struct str *others,
                      struct err *e);

static int read_object(const struct names *names, const cJSON *object, struct str *others,
                       struct err *e)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, object) {
		OWNED(str) struct str as = { 0 };
		const struct names *members = members_of(names, item->string);

		if (has(names, item->string)) {
			if (members && read_value(members, item, others, e))
				return -1;
			continue;
		}
		if (is_taken_for(names, item->string, &as))
			return refuse(item->string, as.bytes, e);
		add_other(others, item);
	}
	return 0;
}

static int read_value(const struct names *names, const cJSON *value, struct str *others,
                      struct err *e)
{
	const cJSON *item;

	if (cJSON_IsObject(value))
		return read_object(names, value, others, e);
	if (cJSON_IsArray(value))
		cJSON_ArrayForEach (item, value)
			if (cJSON_IsObject(item) && read_object(names, item, others, e))
				return -1;
	return 0;
}

/* What is beside params, some reader may take for one of them. */
static int read_message(enum envelope_kind kind, const cJSON *message, struct str *others,
                        struct err *e)
{
	const struct names *params = &PARAMS[kind];
	const cJSON *item;

	cJSON_ArrayForEach (item, message) {
		OWNED(str) struct str as = { 0 };

		if (has(&MESSAGE, item->string))
			continue;
		if (is_taken_for(params, item->string, &as))
			return refuse(item->string, as.bytes, e);
		add_other(others, item);
	}
	/* acp_inquiry_permission doubts what a permission has itself. */
	return read_value(params, json_get(message, "params"),
	                  kind == ENVELOPE_PERMISSION ? NULL : others, e);
}

int names_read(enum envelope_kind kind, const cJSON *message, struct str *others, struct err *e)
{
	int status;

	json_object(others);
	status = read_message(kind, message, others, e);
	json_object_end(others);
	if (strcmp(others->bytes, "{}") == 0)
		str_reset(others);
	return status;
}

int names_check_choice(const cJSON *answer, struct err *e)
{
	return read_value(&CHOICE, answer, NULL, e);
}

int names_check_opened(const cJSON *answer, struct err *e)
{
	return read_value(&OPENED, answer, NULL, e);
}
