/* blocks: Block Kit's limits; reports the first mistake at the place that Slack would name. */
#include "fake.h"

#include <stdio.h>
#include <string.h>

enum {
	PLACE_BYTES = 300,
	MESSAGE_BLOCKS = 50,
	VIEW_BLOCKS = 100,
	SECTION_TEXT = 3000,
	FIELD_TEXT = 2000,
	FIELDS = 10,
	HEADER_TEXT = 150,
	CONTEXT_ELEMENTS = 10,
	ACTIONS_ELEMENTS = 25,
	ID_MOST = 255,
	URL_MOST = 3000,
	LABEL_MOST = 2000,
	BUTTON_TEXT = 75,
	BUTTON_VALUE = 2000,
	OPTION_TEXT = 75,
	OPTIONS = 100,
	PLACEHOLDER = 150,
	MARKDOWN_MOST = 12000,
	INPUT_MOST = 3000,
	VIEW_WORD = 24,
	PRIVATE_MOST = 3000,
	ALERT_TEXT = 200,
};

/* What is being checked, and where the first mistake is reported. */
struct look {
	enum surface surface;
	struct str *place;
	size_t markdown; /* characters in all markdown blocks */
	cJSON *block_ids; /* seen */
};

typedef bool check_fn(struct look *l, const cJSON *item, const char *at);

size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xC0) != 0x80;
	return n;
}

static bool wrong(struct look *l, const char *text, const char *at)
{
	if (!l->place->length)
		str_addf(l->place, "%s [json-pointer:%s]", text, at);
	return false;
}

#define AT(...) text_of(__VA_ARGS__)

/* ---- texts ---- */

static bool length_fits(struct look *l, const char *text, size_t least, size_t most, const char *at)
{
	if (characters(text) > most)
		return wrong(l, AT("must be less than %zu characters", most + 1), at);
	if (characters(text) < least)
		return wrong(l, AT("must be more than %zu characters", least - 1), at);
	return true;
}

/* Checks a member that is a plain string, not an object; it may be missing unless least is 1. */
static bool word(struct look *l, const cJSON *item, const char *name, size_t least, size_t most,
                 const char *at)
{
	const cJSON *value = member_of(item, name);

	if (!value)
		return least == 0 || wrong(l, AT("missing required field: %s", name), at);
	if (!cJSON_IsString(value))
		return wrong(l, "must be a string", AT("%s/%s", at, name));
	return length_fits(l, value->valuestring, least, most, AT("%s/%s", at, name));
}

/* Checks a text object. */
static bool text_object(struct look *l, const cJSON *text, bool plain, size_t most, const char *at)
{
	const char *type = json_str(text, "type");

	if (!cJSON_IsObject(text))
		return wrong(l, "must provide an object", at);
	if (strcmp(type, "plain_text") != 0 && (plain || strcmp(type, "mrkdwn") != 0))
		return wrong(l, plain ? "must be plain_text" : "unsupported type of text",
		             AT("%s/type", at));
	return word(l, text, "text", 1, most, at);
}

static bool text_member(struct look *l, const cJSON *item, const char *name, bool needed,
                        bool plain, size_t most, const char *at)
{
	const cJSON *text = member_of(item, name);

	if (!text)
		return !needed || wrong(l, AT("missing required field: %s", name), at);
	return text_object(l, text, plain, most, AT("%s/%s", at, name));
}

static bool one_of(struct look *l, const cJSON *item, const char *name, const char *list,
                   const char *at)
{
	const char *value = json_text(item, name);
	const char *found = value ? strstr(list, AT("|%s|", value)) : list;

	return found || wrong(l, AT("must be one of %s", list), AT("%s/%s", at, name));
}

/* ---- lists ---- */

static bool each(struct look *l, const cJSON *item, const char *name, int least, int most,
                 check_fn *check, const char *at)
{
	const cJSON *list = member_of(item, name), *one;
	int n = cJSON_GetArraySize(list), i = 0;

	if (!list)
		return least == 0 || wrong(l, AT("missing required field: %s", name), at);
	if (!cJSON_IsArray(list))
		return wrong(l, "must be an array", AT("%s/%s", at, name));
	if (n > most)
		return wrong(l, AT("no more than %d items allowed", most), AT("%s/%s", at, name));
	if (n < least)
		return wrong(l, AT("no less than %d items allowed", least), AT("%s/%s", at, name));
	cJSON_ArrayForEach (one, list) {
		OWNED(char_ptr) char *here = xstrdup(AT("%s/%s/%d", at, name, i++));

		if (check && !check(l, one, here))
			return false;
	}
	return true;
}

/* ---- elements ---- */

static bool confirm(struct look *l, const cJSON *item, const char *at)
{
	const cJSON *c = member_of(item, "confirm");
	OWNED(char_ptr) char *here = xstrdup(AT("%s/confirm", at));

	return !c || (text_member(l, c, "title", true, true, 100, here) &&
	              text_member(l, c, "text", true, false, 300, here) &&
	              text_member(l, c, "confirm", true, true, 30, here) &&
	              text_member(l, c, "deny", true, true, 30, here) &&
	              one_of(l, c, "style", "|primary|danger|", here));
}

static bool option(struct look *l, const cJSON *item, const char *at)
{
	return text_member(l, item, "text", true, false, OPTION_TEXT, at) &&
	       word(l, item, "value", 1, OPTION_TEXT, at) &&
	       text_member(l, item, "description", false, false, OPTION_TEXT, at);
}

static bool option_group(struct look *l, const cJSON *item, const char *at)
{
	return text_member(l, item, "label", true, true, OPTION_TEXT, at) &&
	       each(l, item, "options", 1, OPTIONS, option, at);
}

static bool button(struct look *l, const cJSON *e, const char *at)
{
	return text_member(l, e, "text", true, true, BUTTON_TEXT, at) &&
	       word(l, e, "value", 0, BUTTON_VALUE, at) && word(l, e, "url", 0, URL_MOST, at) &&
	       word(l, e, "accessibility_label", 0, BUTTON_TEXT, at) &&
	       one_of(l, e, "style", "|primary|danger|", at) && confirm(l, e, at);
}

static bool select_one(struct look *l, const cJSON *e, const char *at)
{
	return text_member(l, e, "placeholder", false, true, PLACEHOLDER, at) &&
	       confirm(l, e, at) &&
	       (member_of(e, "option_groups")
	            ? each(l, e, "option_groups", 1, OPTIONS, option_group, at)
	            : each(l, e, "options", 1, OPTIONS, option, at));
}

static bool overflow(struct look *l, const cJSON *e, const char *at)
{
	return each(l, e, "options", 1, 5, option, at) && confirm(l, e, at);
}

static bool choices(struct look *l, const cJSON *e, const char *at)
{
	return each(l, e, "options", 1, 10, option, at) && confirm(l, e, at);
}

static bool plain_text_input(struct look *l, const cJSON *e, const char *at)
{
	int64_t least = json_int(e, "min_length", 0), most = json_int(e, "max_length", INPUT_MOST);

	if (least < 0 || least > INPUT_MOST)
		return wrong(l, "must be between 0 and 3000", AT("%s/min_length", at));
	if (most < 1 || most > INPUT_MOST)
		return wrong(l, "must be between 1 and 3000", AT("%s/max_length", at));
	return text_member(l, e, "placeholder", false, true, PLACEHOLDER, at) &&
	       word(l, e, "initial_value", 0, INPUT_MOST, at);
}

static bool image_element(struct look *l, const cJSON *e, const char *at)
{
	return (member_of(e, "slack_file") || word(l, e, "image_url", 1, URL_MOST, at)) &&
	       word(l, e, "alt_text", 1, FIELD_TEXT, at);
}

static bool anything(struct look *l, const cJSON *e, const char *at)
{
	(void)l;
	(void)e;
	(void)at;
	return true;
}

struct kind {
	const char *type;
	check_fn *check;
};

static const struct kind ELEMENTS[] = {
	{ "button", button },
	{ "static_select", select_one },
	{ "multi_static_select", select_one },
	{ "overflow", overflow },
	{ "radio_buttons", choices },
	{ "checkboxes", choices },
	{ "plain_text_input", plain_text_input },
	{ "image", image_element },
	{ "rich_text_input", anything },
	{ "datepicker", anything },
	{ "timepicker", anything },
	{ "datetimepicker", anything },
	{ "number_input", anything },
	{ "email_text_input", anything },
	{ "url_text_input", anything },
	{ "users_select", anything },
	{ "multi_users_select", anything },
	{ "conversations_select", anything },
	{ "channels_select", anything },
	{ "external_select", anything },
	{ "feedback_buttons", anything },
	{ "icon_button", anything },
};

static const struct kind *kind_of(const struct kind *kinds, size_t count, const cJSON *item)
{
	for (size_t i = 0; i < count; i++)
		if (json_is(item, "type", kinds[i].type))
			return &kinds[i];
	return NULL;
}

static bool element(struct look *l, const cJSON *item, const char *at)
{
	const struct kind *kind = kind_of(ELEMENTS, COUNT(ELEMENTS), item);
	OWNED(char_ptr) char *here = xstrdup(at); /* the buffer of at may be reused below */

	if (!kind)
		return wrong(l, AT("unsupported type: %s", json_str(item, "type")), here);
	return word(l, item, "action_id", 0, ID_MOST, here) && kind->check(l, item, here);
}

/* action_ids are unique within their block. */
static bool elements(struct look *l, const cJSON *block, int most, const char *at)
{
	const cJSON *one, *other;

	if (!each(l, block, "elements", 1, most, element, at))
		return false;
	cJSON_ArrayForEach (one, member_of(block, "elements")) {
		for (other = one->next; other; other = other->next)
			if (json_text(one, "action_id") &&
			    json_is(other, "action_id", json_str(one, "action_id")))
				return wrong(l, "`action_id` must be unique within its block",
				             AT("%s/elements", at));
	}
	return true;
}

/* ---- blocks ---- */

static bool field(struct look *l, const cJSON *item, const char *at)
{
	return text_object(l, item, false, FIELD_TEXT, at);
}

static bool section(struct look *l, const cJSON *b, const char *at)
{
	const cJSON *accessory = member_of(b, "accessory");

	if (!member_of(b, "text") && !member_of(b, "fields"))
		return wrong(l, "must define either `fields` or `text`", at);
	return text_member(l, b, "text", false, false, SECTION_TEXT, at) &&
	       (!member_of(b, "fields") || each(l, b, "fields", 1, FIELDS, field, at)) &&
	       (!accessory || element(l, accessory, AT("%s/accessory", at)));
}

static bool header_block(struct look *l, const cJSON *b, const char *at)
{
	return text_member(l, b, "text", true, true, HEADER_TEXT, at);
}

static bool context_element(struct look *l, const cJSON *item, const char *at)
{
	return json_is(item, "type", "image") ? image_element(l, item, at)
	                                      : text_object(l, item, false, SECTION_TEXT, at);
}

static bool context(struct look *l, const cJSON *b, const char *at)
{
	return each(l, b, "elements", 1, CONTEXT_ELEMENTS, context_element, at);
}

static bool actions(struct look *l, const cJSON *b, const char *at)
{
	return elements(l, b, ACTIONS_ELEMENTS, at);
}

static bool image_block(struct look *l, const cJSON *b, const char *at)
{
	return image_element(l, b, at) && text_member(l, b, "title", false, true, FIELD_TEXT, at);
}

static bool input(struct look *l, const cJSON *b, const char *at)
{
	const cJSON *e = member_of(b, "element");

	if (!e)
		return wrong(l, "missing required field: element", at);
	if (json_is(e, "type", "button") || json_is(e, "type", "overflow"))
		return wrong(l, AT("unsupported type: %s", json_str(e, "type")),
		             AT("%s/element", at));
	return text_member(l, b, "label", true, true, LABEL_MOST, at) &&
	       text_member(l, b, "hint", false, true, LABEL_MOST, at) &&
	       element(l, e, AT("%s/element", at));
}

static bool rich_text_leaf(struct look *l, const cJSON *item, const char *at)
{
	static const char LEAVES[] =
	    "|text|link|emoji|user|usergroup|channel|broadcast|date|color|";

	if (!json_text(item, "type"))
		return wrong(l, "missing required field: type", at);
	return one_of(l, item, "type", LEAVES, at) &&
	       (!json_is(item, "type", "text") || word(l, item, "text", 1, SIZE_MAX - 1, at));
}

static bool rich_text_part(struct look *l, const cJSON *item, const char *at)
{
	static const char PARTS[] =
	    "|rich_text_section|rich_text_list|rich_text_quote|rich_text_preformatted|";

	if (!json_text(item, "type"))
		return wrong(l, "missing required field: type", at);
	return one_of(l, item, "type", PARTS, at) &&
	       each(l, item, "elements", 0, 10000,
	            json_is(item, "type", "rich_text_list") ? rich_text_part : rich_text_leaf, at);
}

static bool rich_text(struct look *l, const cJSON *b, const char *at)
{
	return each(l, b, "elements", 1, 10000, rich_text_part, at);
}

static bool markdown(struct look *l, const cJSON *b, const char *at)
{
	l->markdown += characters(json_str(b, "text"));
	if (l->markdown > MARKDOWN_MOST)
		return wrong(l, "must be less than 12001 characters in all markdown blocks", at);
	return word(l, b, "text", 1, MARKDOWN_MOST, at);
}

static bool table_row(struct look *l, const cJSON *row, const char *at)
{
	return cJSON_GetArraySize(row) <= 20 || wrong(l, "no more than 20 items allowed", at);
}

static bool table(struct look *l, const cJSON *b, const char *at)
{
	return each(l, b, "rows", 1, 100, table_row, at);
}

static bool data_table(struct look *l, const cJSON *b, const char *at)
{
	return word(l, b, "caption", 1, FIELD_TEXT, at) &&
	       each(l, b, "rows", 1, 101, table_row, at);
}

static bool carousel(struct look *l, const cJSON *b, const char *at)
{
	return each(l, b, "elements", 1, 10, NULL, at);
}

static bool alert(struct look *l, const cJSON *b, const char *at)
{
	return text_member(l, b, "text", true, false, ALERT_TEXT, at) &&
	       one_of(l, b, "level", "|default|info|warning|error|success|", at);
}

static bool task_card(struct look *l, const cJSON *b, const char *at)
{
	return word(l, b, "task_id", 1, ID_MOST, at) && word(l, b, "title", 1, FIELD_TEXT, at) &&
	       one_of(l, b, "status", "|pending|in_progress|complete|error|", at);
}

static bool context_actions(struct look *l, const cJSON *b, const char *at)
{
	return elements(l, b, 5, at);
}

enum { IN_MESSAGES = 1, IN_VIEWS = 2 };

static const struct {
	struct kind kind;
	int surfaces;
} BLOCKS[] = {
	{ { "section", section }, IN_MESSAGES | IN_VIEWS },
	{ { "header", header_block }, IN_MESSAGES | IN_VIEWS },
	{ { "context", context }, IN_MESSAGES | IN_VIEWS },
	{ { "actions", actions }, IN_MESSAGES | IN_VIEWS },
	{ { "divider", anything }, IN_MESSAGES | IN_VIEWS },
	{ { "image", image_block }, IN_MESSAGES | IN_VIEWS },
	{ { "input", input }, IN_MESSAGES | IN_VIEWS },
	{ { "rich_text", rich_text }, IN_MESSAGES | IN_VIEWS },
	{ { "video", anything }, IN_MESSAGES | IN_VIEWS },
	{ { "markdown", markdown }, IN_MESSAGES },
	{ { "table", table }, IN_MESSAGES },
	{ { "data_table", data_table }, IN_MESSAGES },
	{ { "data_visualization", anything }, IN_MESSAGES },
	{ { "card", anything }, IN_MESSAGES },
	{ { "carousel", carousel }, IN_MESSAGES },
	{ { "container", anything }, IN_MESSAGES },
	{ { "task_card", task_card }, IN_MESSAGES },
	{ { "plan", anything }, IN_MESSAGES },
	{ { "context_actions", context_actions }, IN_MESSAGES },
	{ { "alert", alert }, IN_VIEWS },
};

static bool is_refused(const char *type)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, setting("refuse_blocks")) {
		if (strcmp(item->valuestring, type) == 0)
			return true;
	}
	return false;
}

static bool block_id(struct look *l, const cJSON *b, const char *at)
{
	const char *id = json_text(b, "block_id");

	if (!id)
		return true;
	if (member_of(l->block_ids, id))
		return wrong(l, "`block_id` must be unique", AT("%s/block_id", at));
	json_set_bool(l->block_ids, id, true);
	return word(l, b, "block_id", 1, ID_MOST, at);
}

static bool block(struct look *l, const cJSON *b, const char *at)
{
	int here = l->surface == MESSAGE ? IN_MESSAGES : IN_VIEWS;
	const char *type = json_str(b, "type");

	for (size_t i = 0; i < COUNT(BLOCKS); i++)
		if (strcmp(BLOCKS[i].kind.type, type) == 0 && (BLOCKS[i].surfaces & here) &&
		    !is_refused(type))
			return block_id(l, b, at) && BLOCKS[i].kind.check(l, b, at);
	return wrong(l, AT("unsupported type: %s", type), AT("%s/type", at));
}

int blocks_check(const cJSON *blocks, enum surface surface, const char *pointer, struct str *place)
{
	OWNED(cJSON_ptr) cJSON *seen = cJSON_CreateObject();
	struct look l = { .surface = surface, .place = place, .block_ids = seen };
	int most = surface == MESSAGE ? MESSAGE_BLOCKS : VIEW_BLOCKS, i = 0;
	const cJSON *b;

	if (cJSON_GetArraySize(blocks) > most)
		return (int)wrong(&l, AT("no more than %d items allowed", most), pointer) - 1;
	cJSON_ArrayForEach (b, blocks) {
		OWNED(char_ptr) char *at = xstrdup(AT("%s/%d", pointer, i++));

		if (!block(&l, b, at))
			return -1;
	}
	return 0;
}

/* ---- views ---- */

static bool has_input(const cJSON *blocks)
{
	const cJSON *b;

	cJSON_ArrayForEach (b, blocks) {
		if (json_is(b, "type", "input"))
			return true;
	}
	return false;
}

int view_check(const cJSON *view, struct str *place)
{
	struct look l = { .surface = MODAL, .place = place };
	const cJSON *blocks = member_of(view, "blocks");

	if (!cJSON_IsObject(view))
		return (int)wrong(&l, "must provide an object", "/view") - 1;
	if (!json_is(view, "type", "modal"))
		return (int)wrong(&l, "unsupported type", "/view/type") - 1;
	if (!text_member(&l, view, "title", true, true, VIEW_WORD, "/view") ||
	    !text_member(&l, view, "submit", has_input(blocks), true, VIEW_WORD, "/view") ||
	    !text_member(&l, view, "close", false, true, VIEW_WORD, "/view") ||
	    !word(&l, view, "callback_id", 0, ID_MOST, "/view") ||
	    !word(&l, view, "external_id", 0, ID_MOST, "/view") ||
	    !word(&l, view, "private_metadata", 0, PRIVATE_MOST, "/view"))
		return -1;
	if (!cJSON_IsArray(blocks))
		return (int)wrong(&l, "missing required field: blocks", "/view") - 1;
	return blocks_check(blocks, MODAL, "/view/blocks", place);
}

/* ---- all text ---- */

static bool is_text(const cJSON *item)
{
	return cJSON_IsString(item) && item->string && strcmp(item->string, "text") == 0;
}

static size_t text_below(const cJSON *item)
{
	size_t n = is_text(item) ? characters(item->valuestring) : 0;

	for (const cJSON *child = item ? item->child : NULL; child; child = child->next)
		n += text_below(child);
	return n;
}

size_t blocks_characters(const cJSON *blocks, bool *rich)
{
	const cJSON *b;

	*rich = false;
	cJSON_ArrayForEach (b, blocks)
		*rich = *rich || json_is(b, "type", "rich_text");
	return text_below(blocks);
}
