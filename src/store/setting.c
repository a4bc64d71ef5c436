#include "setting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int setting_get(struct store *st, const char *name, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SETTING_GET);
	int got;

	bind_text(s, ":name", name);
	got = stmt_row(s, e);
	if (got > 0)
		str_add(out, col_text(s, SETTING_GET_VALUE));
	stmt_reset(s);
	return got;
}

int setting_put(struct store *st, const char *name, const char *value, const char *source,
                struct err *e)
{
	stmt *s = store_stmt(st, SQL_SETTING_PUT);

	bind_text(s, ":name", name);
	bind_text(s, ":value", value);
	bind_text(s, ":source", source);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

bool setting_is_default(struct store *st, const char *name)
{
	stmt *s = store_stmt(st, SQL_SETTING_GET);
	bool is_default = false;

	bind_text(s, ":name", name);
	if (stmt_row(s, NULL) > 0)
		is_default = strcmp(col_text(s, SETTING_GET_SOURCE), "default") == 0;
	stmt_reset(s);
	return is_default;
}

int64_t setting_int(struct store *st, const char *name, int64_t otherwise)
{
	OWNED(str) struct str text = STR_INIT;
	char *end = NULL;
	int64_t value;

	if (setting_get(st, name, &text, NULL) <= 0 || text.length == 0)
		return otherwise;
	errno = 0;
	value = strtoll(text.bytes, &end, 10);
	return errno || *end ? otherwise : value;
}

bool setting_is_on(struct store *st, const char *name, bool otherwise)
{
	OWNED(str) struct str text = STR_INIT;

	if (setting_get(st, name, &text, NULL) <= 0)
		return otherwise;
	return strcmp(str_text(&text), "true") == 0;
}
