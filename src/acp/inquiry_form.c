/* A form of an agent: its fields, as a person is asked for them. */
#include "inquiry.h"
#include "inquiry_content.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct acp_option choice_of(const cJSON *item)
{
	const cJSON *value = cJSON_IsObject(item) ? json_get(item, "const") : item;
	const char *id = cJSON_IsString(value) ? value->valuestring : NULL;
	const char *title = cJSON_IsObject(item) ? json_text(item, "title") : NULL;

	return (struct acp_option){ .id = xstrdup_if(id),
		                    .name = xstrdup_if(title ? title : id),
		                    .kind = ACP_OPTION_OTHER };
}

static void add_choices(struct acp_field *field, const cJSON *list)
{
	const cJSON *item;

	field->choices = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*field->choices));
	cJSON_ArrayForEach (item, list) {
		struct acp_option choice = choice_of(item);

		if (choice.id)
			field->choices[field->choice_count++] = choice;
		else
			free(choice.name);
	}
}

static void add_yes_and_no(struct acp_field *field)
{
	static const char *const CHOICES[][2] = { { "true", "Yes" }, { "false", "No" } };

	field->choices = xcalloc(COUNT(CHOICES), sizeof(*field->choices));
	while (field->choice_count < COUNT(CHOICES)) {
		const char *const *choice = CHOICES[field->choice_count];

		field->choices[field->choice_count++] =
		    (struct acp_option){ .id = xstrdup(choice[0]),
			                 .name = xstrdup(choice[1]),
			                 .kind = ACP_OPTION_OTHER };
	}
}

/* The list of what may be chosen, however the schema spells it. */
static const cJSON *choices_in(const cJSON *schema)
{
	static const char *const NAMES[] = { "oneOf", "anyOf", "enum" };
	const cJSON *list = NULL;

	for (size_t i = 0; !list && i < COUNT(NAMES); i++)
		list = json_get(schema, NAMES[i]);
	return cJSON_IsArray(list) ? list : NULL;
}

static void add_kind(struct acp_field *field, const cJSON *schema)
{
	const char *type = json_text(schema, "type");
	const cJSON *items = json_get(schema, "items");

	type = type ? type : "string";
	if (choices_in(schema)) {
		field->kind = ACP_FIELD_ONE;
		add_choices(field, choices_in(schema));
	} else if (strcmp(type, "array") == 0) {
		field->kind = ACP_FIELD_MANY;
		add_choices(field, choices_in(items));
	} else if (strcmp(type, "boolean") == 0) {
		field->kind = ACP_FIELD_BOOL;
		add_yes_and_no(field);
	} else if (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0) {
		field->kind = ACP_FIELD_NUMBER;
	}
}

/* What the schema of a field says besides its kind; NULL: nothing. The caller frees it. */
static char *limits_of(const cJSON *schema)
{
	static const char *const NUMBERS[] = { "minimum",   "maximum",  "minLength",
		                               "maxLength", "minItems", "maxItems" };
	static const char *const TEXTS[] = { "description", "format" };
	const cJSON *start = json_get(schema, "default");
	const char *type = json_text(schema, "type");
	OWNED(cJSON_ptr) cJSON *limits = cJSON_CreateObject();
	struct str text = { 0 };

	for (size_t i = 0; i < COUNT(NUMBERS); i++) {
		const cJSON *number = json_get(schema, NUMBERS[i]);

		if (cJSON_IsNumber(number))
			(void)cJSON_AddNumberToObject(limits, NUMBERS[i], number->valuedouble);
	}
	for (size_t i = 0; i < COUNT(TEXTS); i++)
		if (json_text(schema, TEXTS[i]))
			(void)cJSON_AddStringToObject(limits, TEXTS[i],
			                              json_text(schema, TEXTS[i]));
	if (type && strcmp(type, "integer") == 0)
		(void)cJSON_AddBoolToObject(limits, "integer", 1);
	if (start && !cJSON_IsNull(start))
		(void)cJSON_AddItemToObject(limits, "default", cJSON_Duplicate(start, 1));
	if (!limits->child)
		return NULL;
	json_add(&text, limits);
	return str_take(&text);
}

static void add_shown(struct str *out, const char *text)
{
	str_add_shown(out, text, strlen(text), SIZE_MAX);
}

static void add_named(struct str *out, const struct acp_field *field, const cJSON *start)
{
	const char *id = cJSON_GetStringValue(start);

	for (size_t i = 0; id && i < field->choice_count; i++)
		if (strcmp(field->choices[i].id, id) == 0) {
			str_add(out, out->length ? ", " : "");
			add_shown(out, field->choices[i].name);
			return;
		}
}

/* What is taken where nothing is said of the field (field_default in operator/field.h): nothing is
 * sent that nobody was shown. */
static void add_start(struct str *out, const struct acp_field *field, const cJSON *start)
{
	const cJSON *one;

	switch (field->kind) {
	case ACP_FIELD_TEXT:
		if (cJSON_IsString(start))
			add_shown(out, start->valuestring);
		break;
	case ACP_FIELD_NUMBER:
		if (cJSON_IsNumber(start))
			str_addf(out, "%.15g", start->valuedouble);
		break;
	case ACP_FIELD_BOOL:
		if (cJSON_IsBool(start))
			str_add(out, cJSON_IsTrue(start) ? "Yes" : "No");
		break;
	case ACP_FIELD_ONE:
		add_named(out, field, start);
		break;
	case ACP_FIELD_MANY:
		if (cJSON_IsArray(start))
			cJSON_ArrayForEach (one, start)
				add_named(out, field, one);
		break;
	}
}

/* Of several fields each has its name above its choices. */
static void describe_field(struct acp_inquiry *ask, const struct acp_field *field,
                           const cJSON *schema, bool is_only)
{
	const char *more = json_text(schema, "description");
	OWNED(str) struct str start = { 0 }, about = { 0 };

	add_start(&start, field, json_get(schema, "default"));
	if (!is_only) {
		acp_inquiry_add_quoted(&about, field->title, SIZE_MAX);
		str_add(&about, field->is_required ? " (required)" : "");
	}
	if (!is_only && more) {
		str_add(&about, ": ");
		acp_inquiry_add_quoted(&about, more, SIZE_MAX);
	}
	if (start.length)
		str_addf(&about, "%sDefault: %s", about.length ? "\n" : "", start.bytes);
	for (size_t i = 0; i < field->choice_count; i++) {
		str_addf(&about, "%s%zu. ", about.length ? "\n" : "", i + 1);
		add_shown(&about, field->choices[i].name);
	}
	acp_inquiry_note(ask, str_text(&about));
}

static const char *title_in(const cJSON *property)
{
	const char *title = json_text(property, "title");

	return title ? title : property->string;
}

/* What a person calls a field: by its title, with its name behind that if another one is called so,
 * too. The caller frees it. */
static char *title_of(const cJSON *properties, const cJSON *property)
{
	const char *title = title_in(property);
	OWNED(str) struct str out = { 0 };
	const cJSON *other;
	int count = 0;

	cJSON_ArrayForEach (other, properties)
		count += strcasecmp(title_in(other), title) == 0;
	str_add(&out, title);
	if (count > 1)
		str_addf(&out, " (%s)", property->string);
	return str_take(&out);
}

int acp_inquiry_form(struct acp_inquiry *ask, const cJSON *params, struct err *e)
{
	const char *mode = json_text(params, "mode"), *message = json_text(params, "message");
	const cJSON *schema = json_get(params, "requestedSchema");
	const cJSON *properties = json_get(schema, "properties");
	const cJSON *required = json_get(schema, "required");
	const cJSON *property;

	ask->kind = ACP_INQUIRY_FORM;
	ask->risk = ACP_RISK_LOW;
	if (mode && strcmp(mode, "form") != 0)
		return err_set(e, ERR_INPUT, "mode %s was not offered", mode);
	if (!message || !cJSON_IsObject(schema))
		return err_set(e, ERR_INPUT, "%s is missing",
		               message ? "requestedSchema" : "message");
	ask->session_id = xstrdup_if(json_text(params, "sessionId"));
	ask->tool_call_id = xstrdup_if(json_text(params, "toolCallId"));
	ask->prompt_type = xstrdup("clarification");
	str_add(&ask->description, message);
	ask->fields = xcalloc((size_t)cJSON_GetArraySize(properties) + 1, sizeof(*ask->fields));
	cJSON_ArrayForEach (property, properties) {
		struct acp_field *field = &ask->fields[ask->field_count++];

		field->name = xstrdup(property->string);
		field->title = title_of(properties, property);
		field->is_required = json_has_text(required, property->string);
		add_kind(field, property);
		field->limits = limits_of(property);
		describe_field(ask, field, property, cJSON_GetArraySize(properties) == 1);
	}
	return 0;
}

static void add_choice(struct str *out, const char *id, const char *name)
{
	json_object(out);
	json_member(out, "id", id);
	json_member(out, "name", name);
	json_object_end(out);
}

static void add_shown_field(const struct acp_field *field, struct str *out)
{
	static const char *const KINDS[] = {
		[ACP_FIELD_TEXT] = "text",    [ACP_FIELD_NUMBER] = "number",
		[ACP_FIELD_BOOL] = "boolean", [ACP_FIELD_ONE] = "one",
		[ACP_FIELD_MANY] = "many",
	};

	json_object(out);
	json_member(out, "name", field->name);
	json_member(out, "title", field->title);
	json_member(out, "kind", KINDS[field->kind]);
	json_member_bool(out, "required", field->is_required);
	json_member_array(out, "choices");
	for (size_t i = 0; i < field->choice_count; i++)
		add_choice(out, field->choices[i].id, field->choices[i].name);
	json_array_end(out);
	if (field->limits)
		json_member_raw(out, "limits", field->limits);
	json_object_end(out);
}

void acp_inquiry_add_form(const struct acp_inquiry *ask, struct str *out)
{
	json_array(out);
	for (size_t i = 0; i < ask->field_count; i++)
		add_shown_field(&ask->fields[i], out);
	json_array_end(out);
}
