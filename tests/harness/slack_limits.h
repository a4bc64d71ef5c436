/* slack_limits: checks a message or a modal against Slack's limits, counted as Slack may count: in
 * UTF-16 units, escaped. For tests and the fuzz target. */
#ifndef SLACK_LIMITS_H
#define SLACK_LIMITS_H

#include "blocks.h"
#include "err.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

struct limits {
	size_t total; /* all texts */
	char why[200]; /* "": no violation so far */
};

static inline void limits_text(struct limits *l, const char *what, const char *text, size_t least,
                               size_t most)
{
	size_t units = text ? slack_units(text) : 0;

	if (!text || !utf8_valid(text, strlen(text)))
		(void)snprintf(l->why, sizeof(l->why), "%s is no UTF-8", what);
	else if (units < least || units > most)
		(void)snprintf(l->why, sizeof(l->why), "%s has %zu units", what, units);
	l->total += units;
}

static inline const char *limits_member(const cJSON *o, const char *name)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
}

/* In mrkdwn, < may only begin what we wrote ourselves, and & only an entity. */
static inline void limits_mrkdwn(struct limits *l, const char *text)
{
	for (const char *p = text; *p; p++) {
		if (*p == '<' && strncmp(p, "<@", 2) != 0 && strncmp(p, "<!date^", 7) != 0 &&
		    strncmp(p, "<!channel>", 10) != 0)
			(void)snprintf(l->why, sizeof(l->why), "not escaped: %.40s", p);
		if (*p == '&' && strncmp(p, "&amp;", 5) != 0 && strncmp(p, "&lt;", 4) != 0 &&
		    strncmp(p, "&gt;", 4) != 0)
			(void)snprintf(l->why, sizeof(l->why), "cut entity: %.40s", p);
	}
}

static inline void limits_object(struct limits *l, const cJSON *o)
{
	static const struct {
		const char *member;
		size_t least, most;
	} MEMBERS[] = { { "block_id", 1, 255 },       { "action_id", 1, 255 },
		        { "callback_id", 1, 255 },    { "value", 1, 2000 },
		        { "initial_value", 0, 3000 }, { "private_metadata", 0, 3000 } };
	const char *type = limits_member(o, "type");
	const cJSON *child;

	for (size_t i = 0; i < COUNT(MEMBERS); i++)
		if (cJSON_HasObjectItem(o, MEMBERS[i].member))
			limits_text(l, MEMBERS[i].member, limits_member(o, MEMBERS[i].member),
			            MEMBERS[i].least, MEMBERS[i].most);
	if (type && strcmp(type, "mrkdwn") == 0) {
		limits_text(l, "mrkdwn", limits_member(o, "text"), 1,
		            o->string && strcmp(o->string, "text") == 0 ? 3000 : 2000);
		limits_mrkdwn(l, limits_member(o, "text"));
	} else if (type && strcmp(type, "plain_text") == 0) {
		limits_text(l, "plain_text", limits_member(o, "text"), 1,
		            strcmp(o->string, "text") == 0    ? 75
		            : strcmp(o->string, "label") == 0 ? 2000
		                                              : 24);
	} else if (type && strcmp(type, "text") == 0) {
		limits_text(l, "a run", limits_member(o, "text"), 1, 8000);
	}
	cJSON_ArrayForEach (child, o)
		limits_object(l, child);
}

/* Returns "" or what is wrong. */
static inline const char *limits_check(struct limits *l, const struct slack_said *said)
{
	*l = (struct limits){ .total = 0 };
	limits_text(l, "the text", str_text(&said->text), 1, 4000);
	limits_mrkdwn(l, str_text(&said->text));
	l->total = 0;
	limits_object(l, said->blocks);
	if (said->blocks &&
	    (cJSON_GetArraySize(said->blocks) < 1 || cJSON_GetArraySize(said->blocks) > 50))
		(void)snprintf(l->why, sizeof(l->why), "too many blocks, or none");
	if (l->total > 11000)
		(void)snprintf(l->why, sizeof(l->why), "%zu units in all", l->total);
	return l->why;
}

#endif
