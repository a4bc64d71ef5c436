/* blocks: what a Slack message is made of: Block Kit's JSON, and the texts within.
 *
 * Limits: Slack's documentation of Block Kit. Foreign text stands in rich_text wherever it can
 * (raw: nothing to escape, nothing that formats, links or mentions), else escaped once. Every text
 * is within Slack's limits by construction, whatever it was. Texts are borrowed and may be NULL;
 * nothing here fails. */
#ifndef SLACK_BLOCKS_H
#define SLACK_BLOCKS_H

#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In UTF-16 units, 5 % below what Slack refuses. */
enum {
	BLOCKS_SECTION = 2850,
	BLOCKS_PLAIN = 2000, /* of what is asked, where there are no blocks */
	BLOCKS_PATH = 300,
	BLOCKS_REASON = 600,
	BLOCKS_NAME = 80,
	BLOCKS_ID_BYTES = 256,
};

/* A message as chat.postMessage takes it. blocks may be NULL: text alone. */
struct slack_said {
	struct str text; /* notification, screen reader, fallback; mrkdwn, escaped */
	cJSON *blocks;
};

void slack_said_clear(struct slack_said *s);

/* ---- JSON ---- */

cJSON *blocks_object(const char *type);
cJSON *blocks_plain(const char *text);
/* text is escaped already. */
void blocks_add_section(cJSON *blocks, const char *text);
void blocks_add_context(cJSON *blocks, const char *text);
/* A rich_text block with one element of a type, whose elements are returned. */
cJSON *blocks_add_rich(cJSON *blocks, const char *type);
/* Leaves out an empty text, which Slack refuses. style: bold, code, or NULL. */
void blocks_add_run(cJSON *elements, const char *text, const char *style);
/* Foreign text, cleaned and cut. */
void blocks_add_foreign(cJSON *elements, const char *bytes, size_t length, size_t units,
                        const char *style);
/* A title or NULL, then foreign text of at most so many units. */
void blocks_add_text(cJSON *blocks, const char *title, const char *body, size_t length,
                     size_t most);
/* Where buttons go. */
cJSON *blocks_add_actions(cJSON *blocks, const char *prefix, const char *id);
void blocks_add_button(cJSON *elements, const char *action_id, const char *text, const char *value,
                       const char *style);

/* ---- texts ---- */

void blocks_add_escaped(struct str *out, const char *text, size_t units);
void blocks_add_short_id(struct str *out, const char *id);
/* An instant as each reader's own clock shows it. */
void blocks_add_time(struct str *out, const char *instant);
/* Whoever decided: a mention, a login name, or the clock. */
void blocks_add_person(struct str *out, const char *operator_id);
/* "1 h 2 min", "3 min", "4 s" */
void blocks_add_span(struct str *out, int64_t seconds);
const char *blocks_base_name(const char *path);
/* " in web (claude)": notifications show no more than the words. */
void blocks_add_whose(struct str *out, const char *root, const char *client);
/* mentions: ids of Slack users, NULL at the end. */
void blocks_add_mentions(struct str *out, const char *const *mentions, bool everybody);

#endif
