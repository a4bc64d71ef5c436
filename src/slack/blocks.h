/* blocks: the parts of a Slack message: Block Kit's JSON, and the texts in it.
 *
 * Limits: Slack's documentation of Block Kit. Foreign text is put into rich_text wherever possible
 * (raw: nothing to escape, no formatting, links or mentions), otherwise escaped once. Every text is
 * within Slack's limits by construction, whatever it was. Texts are borrowed and may be NULL;
 * nothing here fails. */
#ifndef SLACK_BLOCKS_H
#define SLACK_BLOCKS_H

#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In UTF-16 units, 5 % below Slack's limits. */
enum {
	BLOCKS_SECTION = 2850,
	BLOCKS_PLAIN = 2000, /* of what is asked, in a message without blocks */
	BLOCKS_PATH = 300,
	BLOCKS_REASON = 600,
	BLOCKS_NAME = 80,
	BLOCKS_BUTTON = 71,
	BLOCKS_ID_BYTES = 256,
};

/* A message for chat.postMessage. blocks may be NULL: only text. */
struct slack_said {
	struct str text; /* notification, screen reader, fallback; mrkdwn, escaped */
	cJSON *blocks;
};

void slack_said_clear(struct slack_said *s);

/* ---- JSON ---- */

cJSON *blocks_object(const char *type);
cJSON *blocks_plain(const char *text);
/* Foreign text, cleaned, cut and on one line; no :name: in it becomes an emoji. */
cJSON *blocks_plain_foreign(const char *text, size_t units);
/* text is already escaped. */
void blocks_add_section(cJSON *blocks, const char *text);
/* The blocks of a message, which begin with this section. */
cJSON *blocks_of_section(const char *text);
void blocks_add_context(cJSON *blocks, const char *text);
/* Adds a rich_text block with one element of a type, whose elements are returned. */
cJSON *blocks_add_rich(cJSON *blocks, const char *type);
/* What an agent says of itself, cleaned: with a bar beside each line, which nothing of ours has. */
void blocks_add_quote(cJSON *blocks, const char *text);
/* Omits an empty text, which Slack refuses. style: bold, code, or NULL. */
void blocks_add_run(cJSON *elements, const char *text, const char *style);
/* Foreign text, cleaned and cut. */
void blocks_add_foreign(cJSON *elements, const char *bytes, size_t length, size_t units,
                        const char *style);
/* A title or NULL, then foreign text of at most this many units. */
void blocks_add_text(cJSON *blocks, const char *title, const char *body, size_t length,
                     size_t most);
/* The same as what an agent says: in a quote. */
void blocks_add_words(cJSON *blocks, const char *title, const char *body, size_t length,
                      size_t most);
/* Returns where to put buttons. */
cJSON *blocks_add_actions(cJSON *blocks, const char *prefix, const char *id);
void blocks_add_button(cJSON *elements, const char *action_id, const char *text, const char *value,
                       const char *style);
/* The same, with foreign text. */
void blocks_add_foreign_button(cJSON *elements, const char *action_id, const char *text,
                               const char *value, const char *style);

/* ---- texts ---- */

/* Foreign text for mrkdwn: one line, without formatting. */
void blocks_add_escaped(struct str *out, const char *text, size_t units);
/* The same for rich_text. */
void blocks_add_literal(struct str *out, const char *text, size_t units);
void blocks_add_short_id(struct str *out, const char *id);
/* An instant in each reader's local time. */
void blocks_add_time(struct str *out, const char *instant);
/* The decider: a mention, a login name, or the clock. */
void blocks_add_person(struct str *out, const char *operator_id);
/* "1 h 2 min", "3 min", "4 s" */
void blocks_add_span(struct str *out, int64_t seconds);
/* " · user coder"; NULL: nothing. */
void blocks_add_user(struct str *out, const char *user);
/* "claude “left”": an agent's program, and the label that tells it from others of it. */
void blocks_add_agent(struct str *out, const char *client, const char *label);
/* " in web (claude “left”)": notifications only show words. With its user first, if that is another
 * than ours: neither the folder nor the program, which name themselves, can look like one. */
void blocks_add_whose(struct str *out, const char *user, const char *root, const char *client,
                      const char *label);
/* The same at the end of a notification, whose message stands in the thread of its session. */
void blocks_sign(struct str *out, const char *user, const char *root, const char *client,
                 const char *label);
/* mentions: ids of Slack users, NULL at the end. */
void blocks_add_mentions(struct str *out, const char *const *mentions, bool everybody);

#endif
