/* config_read: parses config.toml. Included by config.c alone. */
#ifndef CONFIG_READ_H
#define CONFIG_READ_H

#include "config_agent.h"

struct config_load {
	struct config *c;
	struct err *e;
	int lines[CONFIG_FIELDS_MAX]; /* the line of a field in the file, 0 if it is not there */
};

/* Reads one value of the file into place: any kind except tables of [[...]]. 0 or -1. */
int config_read_value(struct config_load *l, const struct config_field *f, void *place,
                      const cJSON *node);
/* Reads the tables of [[agent]]. 0 or -1. */
int config_read_agents(struct config_load *l, const struct config_field *f, const cJSON *node);

/* Warns about a key that a table [[table]] does not have. known: the names that it has, count of
 * them. */
void config_read_warn_key(struct config_load *l, const char *table, const char *const *known,
                          size_t count, const cJSON *node);
/* Appends a description of a node: `the text "abc"`, `the integer 7`, `a table`. */
void config_read_add_found(struct str *out, const cJSON *node);
/* Reports that the field does not accept the value of a node. Returns -1. */
int config_read_unfit(struct config_load *l, const struct config_field *f, const cJSON *node);

/* Reads l->c->file into l->c. 0 or -1. */
int config_read_file(struct config_load *l);

/* "config: FILE:LINE: NAME: ..." as an error; line 0 is omitted. Returns -1. */
__attribute__((format(printf, 4, 5))) int
config_read_wrong(struct config_load *l, int line, const char *name, const char *format, ...);
/* The same as a warning, without a name. */
__attribute__((format(printf, 3, 4))) void config_read_warn(struct config_load *l, int line,
                                                            const char *format, ...);

/* The folder of the file; the caller frees. */
char *config_read_dir(const struct config *c);
bool config_read_is_dir(const char *path);

#endif
