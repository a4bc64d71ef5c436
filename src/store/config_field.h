/* config_field: the table that describes every setting, and what config_read.c, config.c and
 * config_print.c do with one of them. Included by these alone. A new setting is a member of struct
 * config and a row of the table. */
#ifndef CONFIG_FIELD_H
#define CONFIG_FIELD_H

#include "config.h"

#include <cjson/cJSON.h>
#include <stddef.h>

enum config_kind {
	KIND_BOOLEAN,
	KIND_NUMBER,
	KIND_TEXT,
	KIND_CHOICE,
	KIND_TEXTS,
	KIND_NUMBERS,
	KIND_MAP,
	KIND_WORKSPACES,
	KIND_AGENTS
};

/* What a text must be beyond being a text. */
struct config_rule {
	bool (*fits)(const char *text);
	const char *allowed; /* behind "write " */
};

extern const struct config_rule CONFIG_NOT_EMPTY, CONFIG_CHANNEL, CONFIG_WORKSPACE_ID, CONFIG_ALIAS;

extern const char *const CONFIG_FRAMINGS[]; /* enum config_framing */

struct config_field {
	const char *name; /* as in the file and in table `setting` */
	enum config_kind kind;
	size_t at; /* in struct config, or in struct config_agent */
	const char *preset; /* the default, "" for empty lists and tables */
	int64_t low, high; /* KIND_NUMBER, KIND_NUMBERS */
	const char *const *choices; /* KIND_CHOICE: in the order of the enum, NULL-terminated */
	const struct config_rule *rule; /* KIND_TEXT, KIND_TEXTS and the values of KIND_MAP */
	size_t flag; /* in struct config_source, plus one; 0: none */
	const char *flag_name;
	const char *env;
	const char *example; /* in the sample, instead of the default */
	const char *comment; /* in the sample */
};

/* In the order of the sample file: fields of one table stand together. */
extern const struct config_field CONFIG_FIELDS[];
extern const size_t CONFIG_FIELD_COUNT;

/* The field of that name, NULL if there is none; its place in the table. */
const struct config_field *config_field_find(const char *name);
size_t config_field_index(const char *name);
/* What stands behind the last dot of a name. */
const char *config_field_leaf(const char *name);

void *config_field_place(const struct config_field *f, struct config *c);
const void *config_field_value(const struct config_field *f, const struct config *c);
/* Sets a scalar at place from text: a default, a flag or a variable. false: the text does not fit.
 * Lists and tables have no such text, their default is empty. */
bool config_field_set(const struct config_field *f, const char *text, void *place);
/* Its number in the enum, -1 if it is none of the choices. */
int config_field_choice(const struct config_field *f, const char *text);
void config_field_clear(const struct config_field *f, struct config *c);

void config_field_replace(char **text, const char *value);
/* Adds a pair, or replaces the value that the name has. */
void config_field_add_pair(struct config_map *map, const char *name, const char *value);
/* Takes item over. */
void config_field_add_text(struct config_texts *texts, char *item);
void config_field_clear_texts(struct config_texts *texts);
void config_field_clear_map(struct config_map *map);

/* Appends what one value of the field has to be. */
void config_field_add_expected(struct str *out, const struct config_field *f);
/* Appends text, cut at a character's end to what fits in a message. */
void config_field_add_cut(struct str *out, const char *text);
/* Appends JSON of a value. */
void config_field_add_json(struct str *out, const cJSON *json, bool cut);

#endif
