#include "blocks.h"

#include "clock.h"
#include "path.h"
#include "shown.h"
#include "text.h"
#include "visible.h"

#include <stdio.h>
#include <string.h>

enum {
	SHORT_ID =
	    13, /* ids of the same minute begin alike; this many digits tell apart milliseconds */
};

/* ---- JSON ---- */

cJSON *blocks_object(const char *type)
{
	cJSON *o = cJSON_CreateObject();

	(void)cJSON_AddStringToObject(o, "type", type);
	return o;
}

static cJSON *plain(const char *text, bool emoji)
{
	cJSON *o = blocks_object("plain_text");

	(void)cJSON_AddStringToObject(o, "text", text);
	(void)cJSON_AddBoolToObject(o, "emoji", emoji);
	return o;
}

cJSON *blocks_plain(const char *text)
{
	return plain(text, true);
}

cJSON *blocks_plain_foreign(const char *text, size_t units)
{
	OWNED(str) struct str line = { 0 }, cut = { 0 };

	visible_add(&line, text, strlen(text), false);
	(void)slack_add(&cut, str_text(&line), line.length, units, SLACK_RAW);
	return plain(str_text(&cut), false);
}

/* Escaped already; verbatim: names and addresses in it do not become links. */
static cJSON *mrkdwn(const char *text)
{
	cJSON *o = blocks_object("mrkdwn");

	(void)cJSON_AddStringToObject(o, "text", text);
	(void)cJSON_AddBoolToObject(o, "verbatim", 1);
	return o;
}

void blocks_add_section(cJSON *blocks, const char *text)
{
	cJSON *block = blocks_object("section");

	(void)cJSON_AddItemToObject(block, "text", mrkdwn(text));
	(void)cJSON_AddItemToArray(blocks, block);
}

cJSON *blocks_of_section(const char *text)
{
	cJSON *blocks = cJSON_CreateArray();

	blocks_add_section(blocks, text);
	return blocks;
}

void blocks_add_context(cJSON *blocks, const char *text)
{
	cJSON *block = blocks_object("context");

	(void)cJSON_AddItemToArray(cJSON_AddArrayToObject(block, "elements"), mrkdwn(text));
	(void)cJSON_AddItemToArray(blocks, block);
}

cJSON *blocks_add_rich(cJSON *blocks, const char *type)
{
	cJSON *block = blocks_object("rich_text"), *element = blocks_object(type);

	(void)cJSON_AddItemToArray(cJSON_AddArrayToObject(block, "elements"), element);
	(void)cJSON_AddItemToArray(blocks, block);
	return cJSON_AddArrayToObject(element, "elements");
}

void blocks_add_quote(cJSON *blocks, const char *text)
{
	blocks_add_run(blocks_add_rich(blocks, "rich_text_quote"), text, NULL);
}

/* Slack refuses an empty text. style: bold, code, or NULL. */
void blocks_add_run(cJSON *elements, const char *text, const char *style)
{
	cJSON *run;

	if (!*text)
		return;
	run = blocks_object("text");
	(void)cJSON_AddStringToObject(run, "text", text);
	if (style)
		(void)cJSON_AddBoolToObject(cJSON_AddObjectToObject(run, "style"), style, 1);
	(void)cJSON_AddItemToArray(elements, run);
}

void blocks_add_foreign(cJSON *elements, const char *bytes, size_t length, size_t units,
                        const char *style)
{
	OWNED(str) struct str text = { 0 };

	(void)slack_add(&text, bytes, length, units, SLACK_RAW);
	blocks_add_run(elements, str_text(&text), style);
}

static void add_button(cJSON *elements, const char *action_id, cJSON *text, const char *value,
                       const char *style)
{
	cJSON *button = blocks_object("button");

	(void)cJSON_AddStringToObject(button, "action_id", action_id);
	(void)cJSON_AddItemToObject(button, "text", text);
	(void)cJSON_AddStringToObject(button, "value", value);
	if (style)
		(void)cJSON_AddStringToObject(button, "style", style);
	(void)cJSON_AddItemToArray(elements, button);
}

void blocks_add_button(cJSON *elements, const char *action_id, const char *text, const char *value,
                       const char *style)
{
	add_button(elements, action_id, blocks_plain(text), value, style);
}

void blocks_add_foreign_button(cJSON *elements, const char *action_id, const char *text,
                               const char *value, const char *style)
{
	add_button(elements, action_id, blocks_plain_foreign(text, BLOCKS_BUTTON), value, style);
}

cJSON *blocks_add_actions(cJSON *blocks, const char *prefix, const char *id)
{
	cJSON *block = blocks_object("actions");
	char block_id[BLOCKS_ID_BYTES];

	(void)snprintf(block_id, sizeof(block_id), "%s%.200s", prefix, id);
	(void)cJSON_AddStringToObject(block, "block_id", block_id);
	(void)cJSON_AddItemToArray(blocks, block);
	return cJSON_AddArrayToObject(block, "elements");
}

/* ---- texts ---- */

void blocks_add_escaped(struct str *out, const char *text, size_t units)
{
	if (text)
		(void)slack_add(out, text, strlen(text), units, SLACK_MRKDWN | SLACK_LITERAL);
}

void blocks_add_literal(struct str *out, const char *text, size_t units)
{
	(void)slack_add(out, text, strlen(text), units, SLACK_LITERAL);
}

void blocks_add_short_id(struct str *out, const char *id)
{
	size_t length = id ? strnlen(id, SHORT_ID) : 0;

	str_add_char(out, '`');
	(void)slack_add(out, length ? id : "?", length ? length : 1, BLOCKS_SECTION, SLACK_MRKDWN);
	str_add_char(out, '`');
}

void blocks_add_time(struct str *out, const char *instant)
{
	int64_t ms = instant ? clock_parse(instant) : -1;

	if (ms >= 0)
		str_addf(out, "<!date^%lld^{date_short_pretty} {time}|%.10s %.5s UTC>",
		         (long long)(ms / 1000), instant, instant + 11);
}

static bool is_slack_id(const char *text)
{
	return *text && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == strlen(text);
}

void blocks_add_person(struct str *out, const char *operator_id)
{
	const char *last = operator_id ? strrchr(operator_id, ':') : NULL;

	if (last && strncmp(operator_id, "slack:", 6) == 0 && is_slack_id(last + 1)) {
		str_addf(out, "<@%.40s>", last + 1);
	} else if (last && strncmp(operator_id, "local:", 6) == 0) {
		blocks_add_escaped(out, last + 1, BLOCKS_NAME);
		str_add(out, " at the terminal");
	} else if (last && strncmp(operator_id, "system:", 7) == 0) {
		str_add(out, "agent-intercom");
	} else {
		blocks_add_escaped(out, operator_id, BLOCKS_NAME);
	}
}

void blocks_add_span(struct str *out, int64_t seconds)
{
	if (seconds >= 3600)
		str_addf(out, "%lld h %lld min", (long long)(seconds / 3600),
		         (long long)(seconds % 3600 / 60));
	else if (seconds >= 60)
		str_addf(out, "%lld min", (long long)(seconds / 60));
	else
		str_addf(out, "%lld s", (long long)seconds);
}

void blocks_add_agent(struct str *out, const char *client, const char *label)
{
	blocks_add_escaped(out, client, BLOCKS_NAME);
	if (!label)
		return;
	str_add(out, client ? " “" : "“");
	blocks_add_escaped(out, label, BLOCKS_NAME);
	str_add(out, "”");
}

void blocks_add_whose(struct str *out, const char *user, const char *root, const char *client,
                      const char *label)
{
	if (user) {
		str_add(out, " [user ");
		blocks_add_escaped(out, user, BLOCKS_NAME);
		str_add_char(out, ']');
	}
	if (root) {
		str_add(out, " in ");
		blocks_add_escaped(out, path_name(root), BLOCKS_NAME);
	}
	if (client || label) {
		str_add(out, " (");
		blocks_add_agent(out, client, label);
		str_add_char(out, ')');
	}
}

void blocks_sign(struct str *out, const char *user, const char *root, const char *client,
                 const char *label)
{
	str_add(out, " ·");
	blocks_add_whose(out, user, root, client, label);
}

void blocks_add_user(struct str *out, const char *user)
{
	if (!user)
		return;
	str_add(out, " · user ");
	blocks_add_escaped(out, user, BLOCKS_NAME);
}

void blocks_add_mentions(struct str *out, const char *const *mentions, bool everybody)
{
	if (everybody) {
		str_add(out, "<!channel> ");
		return;
	}
	for (size_t units = 0; mentions && *mentions && units < 1000; mentions++) {
		if (!is_slack_id(*mentions))
			continue;
		str_addf(out, "<@%.40s> ", *mentions);
		units += strlen(*mentions) + 4;
	}
}

static void add_titled(cJSON *runs, const char *title, const char *body, size_t length, size_t most)
{
	if (title)
		blocks_add_foreign(runs, title, strlen(title), SLACK_TITLE_UNITS, "bold");
	if (title && length)
		blocks_add_run(runs, "\n", NULL);
	if (length)
		blocks_add_foreign(runs, body, length, most, NULL);
	if (cJSON_GetArraySize(runs) == 0)
		blocks_add_run(runs, "(no text)", NULL);
}

void blocks_add_text(cJSON *blocks, const char *title, const char *body, size_t length, size_t most)
{
	add_titled(blocks_add_rich(blocks, "rich_text_section"), title, body, length, most);
}

void blocks_add_words(cJSON *blocks, const char *title, const char *body, size_t length,
                      size_t most)
{
	add_titled(blocks_add_rich(blocks, "rich_text_quote"), title, body, length, most);
}

void slack_said_clear(struct slack_said *s)
{
	str_clear(&s->text);
	cJSON_Delete(s->blocks);
	s->blocks = NULL;
}
