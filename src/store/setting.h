/* setting: the effective configuration, as rows. */
#ifndef SETTING_H
#define SETTING_H

#include "config.h"
#include "store.h"
#include "str.h"

#include <cjson/cJSON.h>

/* The value of a setting: 1 it exists and is appended to out, 0 it does not, -1 error. */
int setting_get(struct store *st, const char *name, struct str *out, struct err *e);

/* The list or table in a setting, which the caller frees: 1 it is in *ret, 0 the setting is not
 * there and *ret is NULL (which it also is where the setting is no JSON), -1 error. */
int setting_json(struct store *st, const char *name, cJSON **ret, struct err *e);

/* Sets one, unless it has that value already. source: file, ctl, system, ... (schema/setting.sql).
 * 0, -1 error. */
int setting_put(struct store *st, const char *name, const char *value, const char *source,
                struct err *e);

/* Puts all of a configuration in force, and deletes those that only older programs knew; the caller
 * has begun a transaction. 0, -1 error. */
int setting_put_all(struct store *st, const struct config *config, struct err *e);

/* Whether nobody has set this setting, so that it has its built-in value. Errors count as no. */
bool setting_is_default(struct store *st, const char *name);

/* The default workspace if the configuration names it, which trusts its policy; not the folder in
 * which the system was started, which only stands in for it. As setting_get. */
int setting_named_workspace(struct store *st, struct str *out, struct err *e);

/* The number in a setting; otherwise if it is missing or not a number. Errors count as missing. */
int64_t setting_int(struct store *st, const char *name, int64_t otherwise);

/* Whether a setting is on ("true"); otherwise if it is missing. Errors count as missing. */
bool setting_is_on(struct store *st, const char *name, bool otherwise);

/* Whether a setting has this value. Errors count as no. */
bool setting_is(struct store *st, const char *name, const char *value);

#endif
