/* config_read: the document config.toml. Included by config.c alone. */
#ifndef CONFIG_READ_H
#define CONFIG_READ_H

#include "config_field.h"

struct config_load {
	struct config *c;
	struct err *e;
	int lines[CONFIG_FIELDS_MAX]; /* where a field stood in the file, 0 if it did not */
};

/* Reads l->c->file into l->c. 0 or -1. */
int config_read_file(struct config_load *l);

/* "config: FILE:LINE: NAME: ..." as an error; line 0 is left out. Returns -1. */
__attribute__((format(printf, 4, 5))) int
config_read_wrong(struct config_load *l, int line, const char *name, const char *format, ...);
/* The same as a warning, without a name. */
__attribute__((format(printf, 3, 4))) void config_read_warn(struct config_load *l, int line,
                                                            const char *format, ...);

/* The folder of the file; the caller frees. */
char *config_read_dir(const struct config *c);
bool config_read_is_dir(const char *path);

#endif
