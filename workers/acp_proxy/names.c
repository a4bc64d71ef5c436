#include "names.h"

#include "json_writer.h"

#include <string.h>

/* A member of an object; a NULL name ends them. within: of its value, or of each object in the list
 * that it is; NULL: of whatever shape. */
struct member {
	const char *name;
	const struct member *within;
};

#define META                                                                                       \
	{                                                                                          \
		"_meta", NULL                                                                      \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, NULL                                                                         \
	}

static const struct member ANNOTATIONS[] = {
	{ "audience", NULL }, { "lastModified", NULL }, { "priority", NULL }, META, END
};
static const struct member RESOURCE[] = {
	{ "uri", NULL }, { "mimeType", NULL }, { "text", NULL }, { "blob", NULL }, META, END
};
static const struct member BLOCK[] = { { "type", NULL },
	                               { "text", NULL },
	                               { "data", NULL },
	                               { "mimeType", NULL },
	                               { "uri", NULL },
	                               { "name", NULL },
	                               { "title", NULL },
	                               { "description", NULL },
	                               { "size", NULL },
	                               { "icons", NULL },
	                               { "resource", RESOURCE },
	                               { "annotations", ANNOTATIONS },
	                               META,
	                               END };
static const struct member CHANGE[] = { { "operation", NULL },
	                                { "path", NULL },
	                                { "oldPath", NULL },
	                                { "fileType", NULL },
	                                { "mimeType", NULL },
	                                META,
	                                END };
static const struct member PATCH[] = { { "format", NULL }, { "text", NULL }, META, END };
static const struct member CONTENT[] = { { "type", NULL },
	                                 { "content", BLOCK },
	                                 { "path", NULL },
	                                 { "oldText", NULL },
	                                 { "newText", NULL },
	                                 { "changes", CHANGE },
	                                 { "patch", PATCH },
	                                 { "terminalId", NULL },
	                                 META,
	                                 END };
static const struct member LOCATION[] = { { "path", NULL }, { "line", NULL }, META, END };
static const struct member TOOL_CALL[] = { { "toolCallId", NULL },
	                                   { "title", NULL },
	                                   { "name", NULL },
	                                   { "kind", NULL },
	                                   { "status", NULL },
	                                   { "content", CONTENT },
	                                   { "locations", LOCATION },
	                                   { "rawInput", NULL },
	                                   { "rawOutput", NULL },
	                                   META,
	                                   END };
static const struct member SUBJECT[] = { { "type", NULL },
	                                 { "toolCall", TOOL_CALL },
	                                 { "command", NULL },
	                                 { "cwd", NULL },
	                                 { "toolCallId", NULL },
	                                 { "terminalId", NULL },
	                                 META,
	                                 END };
static const struct member OPTION[] = {
	{ "optionId", NULL }, { "name", NULL }, { "kind", NULL }, META, END
};

static const struct member PERMISSION[] = { { "sessionId", NULL },
	                                    { "toolCall", TOOL_CALL },
	                                    { "title", NULL },
	                                    { "description", NULL },
	                                    { "subject", SUBJECT },
	                                    { "options", OPTION },
	                                    META,
	                                    END };
static const struct member WRITE[] = {
	{ "sessionId", NULL }, { "path", NULL }, { "content", NULL }, META, END
};
/* env is shown as it came. */
static const struct member TERMINAL[] = { { "sessionId", NULL },
	                                  { "command", NULL },
	                                  { "args", NULL },
	                                  { "env", NULL },
	                                  { "cwd", NULL },
	                                  { "outputByteLimit", NULL },
	                                  META,
	                                  END };
static const struct member *const PARAMS[] = {
	[ENVELOPE_PERMISSION] = PERMISSION,
	[ENVELOPE_WRITE] = WRITE,
	[ENVELOPE_TERMINAL] = TERMINAL,
};

/* How other spellings are treated is the envelope's business (json_peek.h). */
static const struct member MESSAGE[] = { { "jsonrpc", NULL }, { "id", NULL }, { "method", NULL },
	                                 { "params", NULL },  META,           END };

static const struct member OUTCOME[] = { { "outcome", NULL }, { "optionId", NULL }, END };
static const struct member CHOICE_RESULT[] = { { "outcome", OUTCOME }, END };
static const struct member CHOICE[] = { { "result", CHOICE_RESULT }, END };

static const struct member OPENED_RESULT[] = { { "sessionId", NULL }, END };
static const struct member OPENED[] = { { "result", OPENED_RESULT }, END };

static const struct member *find(const struct member *names, const char *name)
{
	while (names->name && strcmp(names->name, name) != 0)
		names++;
	return names->name ? names : NULL;
}

static void fold_to(struct str *out, const char *name)
{
	str_reset(out);
	str_add(out, name);
	json_fold(out->bytes);
}

/* The name that some reader takes this one for; NULL: none. */
static const char *taken_for(const struct member *names, const char *name)
{
	OWNED(str) struct str folded = { 0 }, own = { 0 };

	fold_to(&folded, name);
	for (; names->name; names++) {
		fold_to(&own, names->name);
		if (strcmp(own.bytes, folded.bytes) == 0)
			return names->name;
	}
	return NULL;
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
	char *text;

	if (!others)
		return;
	text = cJSON_PrintUnformatted(item);
	json_member_raw(others, item->string, text ? text : "null");
	cJSON_free(text);
}

static int read_value(const struct member *names, const cJSON *value, struct str *others,
                      struct err *e);

static int read_object(const struct member *names, const cJSON *object, struct str *others,
                       struct err *e)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, object) {
		const struct member *m = find(names, item->string);
		const char *as = m ? NULL : taken_for(names, item->string);

		if (as)
			return refuse(item->string, as, e);
		if (!m)
			add_other(others, item);
		else if (m->within && read_value(m->within, item, others, e))
			return -1;
	}
	return 0;
}

static int read_value(const struct member *names, const cJSON *value, struct str *others,
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
static int read_message(const struct member *params, const cJSON *message, struct str *others,
                        struct err *e)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, message) {
		const char *as = taken_for(params, item->string);

		if (find(MESSAGE, item->string))
			continue;
		if (as)
			return refuse(item->string, as, e);
		add_other(others, item);
	}
	return read_value(params, json_get(message, "params"), others, e);
}

int names_read(enum envelope_kind kind, const cJSON *message, struct str *others, struct err *e)
{
	int status;

	json_object(others);
	status = read_message(PARAMS[kind], message, others, e);
	json_object_end(others);
	if (strcmp(others->bytes, "{}") == 0)
		str_reset(others);
	return status;
}

int names_check_choice(const cJSON *answer, struct err *e)
{
	return read_value(CHOICE, answer, NULL, e);
}

int names_check_opened(const cJSON *answer, struct err *e)
{
	return read_value(OPENED, answer, NULL, e);
}
