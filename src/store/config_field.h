/* config_field: the table that describes every setting, and what config_read.c, config.c and
 * config_print.c do with one. Only they include it. A new setting is a member of struct config and
 * a row of the table. */
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

/* An additional condition on a text. */
struct config_rule {
	bool (*fits)(const char *text);
	const char *allowed; /* completes "write ..." */
};

extern const struct config_rule CONFIG_NOT_EMPTY, CONFIG_CHANNEL, CONFIG_WORKSPACE_ID, CONFIG_ALIAS;

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

/* In the order of the sample file: fields of one table are adjacent. */
extern const struct config_field CONFIG_FIELDS[];
extern const size_t CONFIG_FIELD_COUNT;

/* The field with that name, NULL if there is none; and its index in the table. */
const struct config_field *config_field_find(const char *name);
size_t config_field_index(const char *name);
/* The part of a name after its last dot. */
const char *config_field_leaf(const char *name);

void *config_field_place(const struct config_field *f, struct config *c);
const void *config_field_value(const struct config_field *f, const struct config *c);
/* Sets a scalar at place from text: a default, a flag or a variable. false: the text is invalid.
 * Lists and tables have no such text; their default is empty. */
bool config_field_set(const struct config_field *f, const char *text, void *place);
/* Its number in the enum, -1 if it is not a choice. */
int config_field_choice(const struct config_field *f, const char *text);
void config_field_clear(const struct config_field *f, struct config *c);

/* Adds a pair, or replaces the value of the name. */
void config_field_add_pair(struct config_map *map, const char *name, const char *value);

/* Appends what a value of the field must be. */
void config_field_add_expected(struct str *out, const struct config_field *f);
/* Appends text, cut at the end of a character to fit in a message. */
void config_field_add_cut(struct str *out, const char *text);

#endif
