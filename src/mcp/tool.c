#include "tool.h"

#include "hook.h"
#include "json.h"
#include "json_writer.h"
#include "tool_name.h"

#include <math.h>
#include <string.h>

const struct tool *tool_find(const char *name)
{
	const char *real = tool_name(name);

	for (int i = 0; i < TOOL_COUNT; i++)
		if (strcmp(TOOLS[i]->name, real) == 0)
			return TOOLS[i];
	return NULL;
}

const struct tool *tool_of_row(const char *name)
{
	return strcmp(name, TOOL_HOOK.name) == 0 ? &TOOL_HOOK : tool_find(name);
}

void tool_describe(struct str *out, const struct tool *tool, bool with_output)
{
	json_object(out);
	json_member(out, "name", tool->name);
	if (with_output)
		json_member(out, "title", tool->title);
	json_member(out, "description", tool->description);
	json_member_raw(out, "inputSchema", tool->input);
	if (with_output)
		json_member_raw(out, "outputSchema", tool->output);
	json_member_object(out, "annotations");
	json_member(out, "title", tool->title);
	json_member_bool(out, "readOnlyHint", tool->read_only);
	json_member_bool(out, "destructiveHint", tool->destructive);
	json_member_bool(out, "idempotentHint", tool->idempotent);
	json_member_bool(out, "openWorldHint", tool->open_world);
	json_object_end(out);
	json_object_end(out);
}

/* ---- checking arguments: the part of JSON Schema that the tools use ---- */

/* The input schemas, parsed on first use and kept: they are constants. */
static const cJSON *input_schema(const struct tool *tool)
{
	static cJSON *parsed[TOOL_MAX];
	int i = 0;

	while (TOOLS[i] != tool)
		i++;
	if (!parsed[i])
		parsed[i] = cJSON_Parse(tool->input);
	return parsed[i];
}

static bool has_type(const cJSON *value, const char *type)
{
	double number;

	if (strcmp(type, "string") == 0)
		return cJSON_IsString(value);
	if (strcmp(type, "integer") == 0)
		return json_number(value, &number) && floor(number) == number;
	if (strcmp(type, "boolean") == 0)
		return cJSON_IsBool(value);
	if (strcmp(type, "array") == 0)
		return cJSON_IsArray(value);
	return cJSON_IsObject(value);
}

static const char *type_of(const cJSON *value)
{
	double number;

	if (cJSON_IsString(value))
		return "a string";
	if (json_number(value, &number))
		return "a number";
	if (cJSON_IsBool(value))
		return "a boolean";
	if (cJSON_IsArray(value))
		return "an array";
	return cJSON_IsNull(value) ? "null" : "an object";
}

static int check_enum(const cJSON *value, const cJSON *allowed, const char *at, struct err *e)
{
	OWNED(str) struct str list = { 0 };
	const cJSON *one;

	cJSON_ArrayForEach (one, allowed) {
		if (strcmp(one->valuestring, value->valuestring) == 0)
			return 0;
		str_addf(&list, "%s%s", list.length ? ", " : "", one->valuestring);
	}
	return err_set(e, ERR_INPUT, "'%s' is '%.60s'; it must be one of %s", at,
	               value->valuestring, list.bytes);
}

static int check_bounds(const cJSON *value, const cJSON *schema, const char *at, struct err *e)
{
	const cJSON *minimum = cJSON_GetObjectItemCaseSensitive(schema, "minimum");
	const cJSON *maximum = cJSON_GetObjectItemCaseSensitive(schema, "maximum");
	const cJSON *shortest = cJSON_GetObjectItemCaseSensitive(schema, "minLength");
	const cJSON *longest = cJSON_GetObjectItemCaseSensitive(schema, "maxLength");
	double number = 0;

	(void)json_number(value, &number);
	if (minimum && number < minimum->valuedouble)
		return err_set(e, ERR_INPUT, "'%s' must not be less than %d", at,
		               minimum->valueint);
	if (maximum && number > maximum->valuedouble)
		return err_set(e, ERR_INPUT, "'%s' must not be more than %d", at,
		               maximum->valueint);
	if (shortest && strlen(value->valuestring) < (size_t)shortest->valueint)
		return err_set(e, ERR_INPUT, "'%s' must not be empty", at);
	if (longest &&
	    utf8_count(value->valuestring, strlen(value->valuestring)) > (size_t)longest->valueint)
		return err_set(e, ERR_INPUT, "'%s' must not be longer than %d characters", at,
		               longest->valueint);
	return 0;
}

static int check_value(const cJSON *value, const cJSON *schema, const char *at, struct err *e);

static bool is_required(const cJSON *schema, const char *name)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, cJSON_GetObjectItemCaseSensitive(schema, "required"))
		if (strcmp(one->valuestring, name) == 0)
			return true;
	return false;
}

static int check_members(const cJSON *object, const cJSON *schema, const char *at, struct err *e)
{
	const cJSON *property;

	cJSON_ArrayForEach (property, cJSON_GetObjectItemCaseSensitive(schema, "properties")) {
		OWNED(str) struct str name = { 0 };
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, property->string);

		str_addf(&name, "%s%s%s", at, *at ? "." : "", property->string);
		if (!value || cJSON_IsNull(value)) {
			if (is_required(schema, property->string))
				return err_set(e, ERR_INPUT, "'%s' is missing (%s)", name.bytes,
				               json_text(property, "type"));
			continue;
		}
		if (check_value(value, property, name.bytes, e))
			return -1;
	}
	return 0;
}

static int check_value(const cJSON *value, const cJSON *schema, const char *at, struct err *e)
{
	const char *type = json_text(schema, "type");
	const cJSON *allowed = cJSON_GetObjectItemCaseSensitive(schema, "enum");
	const cJSON *items = cJSON_GetObjectItemCaseSensitive(schema, "items");
	const cJSON *item;
	int index = 0;

	if (!has_type(value, type))
		return err_set(e, ERR_INPUT, "'%s' must be of type %s, not %s", at, type,
		               type_of(value));
	if (allowed && check_enum(value, allowed, at, e))
		return -1;
	if (check_bounds(value, schema, at, e))
		return -1;
	if (cJSON_IsObject(value))
		return check_members(value, schema, at, e);
	if (!cJSON_IsArray(value) || !items)
		return 0;
	cJSON_ArrayForEach (item, value) {
		OWNED(str) struct str name = { 0 };

		str_addf(&name, "%s[%d]", at, index++);
		if (check_value(item, items, name.bytes, e))
			return -1;
	}
	return 0;
}

int tool_check(const struct tool *tool, const cJSON *arguments, struct err *e)
{
	if (arguments && check_members(arguments, input_schema(tool), "", e))
		return err_prefix(e, "invalid arguments for %s", tool->name);
	if (!arguments) {
		OWNED(cJSON_ptr) cJSON *none = cJSON_CreateObject();

		if (check_members(none, input_schema(tool), "", e))
			return err_prefix(e, "invalid arguments for %s", tool->name);
	}
	return 0;
}

cJSON *tool_arguments(const struct tool *tool, const cJSON *arguments)
{
	cJSON *filled = cJSON_CreateObject();
	const cJSON *property;

	cJSON_ArrayForEach (property,
	                    cJSON_GetObjectItemCaseSensitive(input_schema(tool), "properties")) {
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(arguments, property->string);

		if (!value || cJSON_IsNull(value))
			value = cJSON_GetObjectItemCaseSensitive(property, "default");
		if (value)
			cJSON_AddItemReferenceToObject(filled, property->string, (cJSON *)value);
	}
	return filled;
}
