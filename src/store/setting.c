#include "setting.h"

#include "sql/setting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int setting_get(struct store *st, const char *name, struct str *out, struct err *e)
{
	OWNED(setting_get_row) struct setting_get_row row = { 0 };
	int got = sql_setting_get(st, name, &row, e);

	if (got > 0)
		str_add(out, row.value);
	return got;
}

int setting_put(struct store *st, const char *name, const char *value, const char *source,
                struct err *e)
{
	return sql_setting_put(st, name, value, setting_source_of(source), e);
}

bool setting_is_default(struct store *st, const char *name)
{
	OWNED(setting_get_row) struct setting_get_row row = { 0 };

	return sql_setting_get(st, name, &row, NULL) > 0 && row.source == SETTING_SOURCE_DEFAULT;
}

int64_t setting_int(struct store *st, const char *name, int64_t otherwise)
{
	OWNED(str) struct str text = { 0 };
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
	OWNED(str) struct str text = { 0 };

	if (setting_get(st, name, &text, NULL) <= 0)
		return otherwise;
	return strcmp(str_text(&text), "true") == 0;
}
