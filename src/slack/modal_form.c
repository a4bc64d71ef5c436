/* The form of an agent as a modal: an input of the right kind for each field, with what it holds
 * before anybody says anything. */
#include "modal.h"

#include "blocks.h"
#include "err.h"
#include "field.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

/* Of Slack. */
enum {
	FIELDS_MOST = 90, /* of 100 blocks */
	CHOICES_MOST = 100, /* of a menu */
	LABEL_MAX = 300,
	HINT_MAX = 500,
	OPTION_MAX = 75,
	TEXT_MAX = 3000,
};

/* ---- menus ---- */

/* The value is the number of the choice: ids may be longer than Slack takes. */
static cJSON *option(const cJSON *choice, int number)
{
	cJSON *one = cJSON_CreateObject();
	const char *name = json_text(choice, "name");
	char value[16];

	(void)snprintf(value, sizeof(value), "%d", number);
	(void)cJSON_AddItemToObject(one, "text",
	                            blocks_plain_foreign(name && *name ? name : "?", OPTION_MAX));
	(void)cJSON_AddStringToObject(one, "value", value);
	return one;
}

static cJSON *menu(const cJSON *field, const cJSON *start)
{
	bool many = field_is(field, "many");
	cJSON *element = blocks_object(many ? "multi_static_select" : "static_select");
	cJSON *options = cJSON_AddArrayToObject(element, "options"), *first = cJSON_CreateArray();
	const cJSON *choices = json_get(field, "choices"), *one;

	for (int i = 0; i < cJSON_GetArraySize(choices); i++)
		(void)cJSON_AddItemToArray(options, option(cJSON_GetArrayItem(choices, i), i + 1));
	cJSON_ArrayForEach (one, start)
		(void)cJSON_AddItemToArray(
		    first, option(cJSON_GetArrayItem(choices, one->valueint - 1), one->valueint));
	if (start && cJSON_IsNumber(start))
		(void)cJSON_AddItemToObject(
		    element, "initial_option",
		    option(cJSON_GetArrayItem(choices, start->valueint - 1), start->valueint));
	if (first->child)
		(void)cJSON_AddItemToObject(element, "initial_options", first);
	else
		cJSON_Delete(first);
	return element;
}

/* ---- what is typed ---- */

static void add_number(cJSON *element, const char *name, const cJSON *number)
{
	char text[32];

	if (!cJSON_IsNumber(number))
		return;
	(void)snprintf(text, sizeof(text), "%.15g", number->valuedouble);
	(void)cJSON_AddStringToObject(element, name, text);
}

static cJSON *number_input(const cJSON *field)
{
	cJSON *element = blocks_object("number_input");

	(void)cJSON_AddBoolToObject(element, "is_decimal_allowed",
	                            !cJSON_IsTrue(field_limit(field, "integer")));
	add_number(element, "min_value", field_limit(field, "minimum"));
	add_number(element, "max_value", field_limit(field, "maximum"));
	return element;
}

static cJSON *text_input(const cJSON *field)
{
	const cJSON *least = field_limit(field, "minLength"),
	            *most = field_limit(field, "maxLength");
	const char *format = json_text(json_get(field, "limits"), "format");
	bool is_date = format && strcmp(format, "date") == 0;
	const char *type = is_date                                  ? "datepicker"
	                   : format && strcmp(format, "email") == 0 ? "email_text_input"
	                   : format && strcmp(format, "uri") == 0   ? "url_text_input"
	                                                            : "plain_text_input";
	cJSON *element = blocks_object(type);

	if (format)
		return element;
	(void)cJSON_AddBoolToObject(element, "multiline", !cJSON_IsNumber(most));
	if (cJSON_IsNumber(least) && least->valuedouble > 0 && least->valuedouble <= TEXT_MAX)
		(void)cJSON_AddNumberToObject(element, "min_length", least->valuedouble);
	if (cJSON_IsNumber(most) && most->valuedouble >= 1 && most->valuedouble <= TEXT_MAX)
		(void)cJSON_AddNumberToObject(element, "max_length", most->valuedouble);
	return element;
}

static bool is_of_type(const cJSON *element, const char *type)
{
	return strcmp(json_text(element, "type"), type) == 0;
}

static cJSON *typed_input(const cJSON *field, const cJSON *start)
{
	cJSON *element = field_is(field, "number") ? number_input(field) : text_input(field);

	if (start && cJSON_IsString(start) && *start->valuestring)
		(void)cJSON_AddStringToObject(
		    element, is_of_type(element, "datepicker") ? "initial_date" : "initial_value",
		    start->valuestring);
	return element;
}

/* ---- all of them ---- */

/* Slack refuses a form with a first value that its own input would not take. */
static bool is_taken(const cJSON *field, const cJSON *start)
{
	OWNED(str) struct str content = { 0 }, said = { 0 }, why = { 0 };

	return field_fit(field, start, &content, &said, &why) == FIELD_FITS &&
	       (!cJSON_IsString(start) || strlen(start->valuestring) <= TEXT_MAX);
}

static cJSON *input(const cJSON *field, int number)
{
	cJSON *block = blocks_object("input");
	OWNED(cJSON_ptr) cJSON *start = field_default(field);
	const char *title = json_text(field, "title");
	const char *hint = json_text(json_get(field, "limits"), "description");
	const cJSON *first = is_taken(field, start) ? start : NULL;
	char id[40];
	cJSON *element = field_is(field, "text") || field_is(field, "number")
	                     ? typed_input(field, first)
	                     : menu(field, first);

	(void)snprintf(id, sizeof(id), SLACK_FIELD "%d", number);
	(void)cJSON_AddStringToObject(block, "block_id", id);
	(void)cJSON_AddItemToObject(block, "label",
	                            blocks_plain_foreign(title && *title ? title : "?", LABEL_MAX));
	(void)cJSON_AddBoolToObject(block, "optional", !cJSON_IsTrue(json_get(field, "required")));
	if (hint && *hint)
		(void)cJSON_AddItemToObject(block, "hint", blocks_plain_foreign(hint, HINT_MAX));
	(void)cJSON_AddStringToObject(element, "action_id", "value");
	(void)cJSON_AddItemToObject(block, "element", element);
	return block;
}

static bool fits(const cJSON *fields)
{
	int count = cJSON_GetArraySize(fields);
	const cJSON *field;

	cJSON_ArrayForEach (field, fields) {
		int choices = cJSON_GetArraySize(json_get(field, "choices"));
		bool chooses = !field_is(field, "text") && !field_is(field, "number");

		if (choices > CHOICES_MOST || (chooses && choices == 0))
			return false;
	}
	return count > 0 && count <= FIELDS_MOST;
}

cJSON *slack_modal_form(const char *id, const char *about, const cJSON *fields)
{
	cJSON *modal, *blocks;
	char callback[BLOCKS_ID_BYTES];
	const cJSON *field;
	int number = 0;

	if (!fits(fields))
		return NULL;
	modal = blocks_object("modal");
	(void)snprintf(callback, sizeof(callback), "prompt_form:%.200s", id);
	(void)cJSON_AddStringToObject(modal, "callback_id", callback);
	(void)cJSON_AddStringToObject(modal, "private_metadata", id);
	(void)cJSON_AddBoolToObject(modal, "notify_on_close", 1);
	(void)cJSON_AddItemToObject(modal, "title", blocks_plain("Answer"));
	(void)cJSON_AddItemToObject(modal, "submit", blocks_plain("Submit"));
	(void)cJSON_AddItemToObject(modal, "close", blocks_plain("Cancel"));
	blocks = cJSON_AddArrayToObject(modal, "blocks");
	blocks_add_context(blocks, about);
	cJSON_ArrayForEach (field, fields)
		(void)cJSON_AddItemToArray(blocks, input(field, number++));
	return modal;
}
