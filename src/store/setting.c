#include "setting.h"

#include "sql/setting.h"
#include "texts.h"

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

int setting_json(struct store *st, const char *name, cJSON **ret, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	int got = setting_get(st, name, &text, e);

	*ret = got > 0 ? cJSON_Parse(str_text(&text)) : NULL;
	return got;
}

int setting_put(struct store *st, const char *name, const char *value, const char *source,
                struct err *e)
{
	return sql_setting_put(st, name, value, setting_source_of(source), e);
}

/* ---- those of a configuration ---- */

struct filling {
	struct store *st;
	struct texts put; /* the settings of this program */
	bool failed;
	struct err *e;
};

static void put_one(const char *name, const char *value, const char *source, void *arg)
{
	struct filling *f = arg;

	texts_add(&f->put, name);
	f->failed = f->failed || setting_put(f->st, name, value, source, f->e) != 0;
}

/* What older programs took from a config file and this one does not know. Rows that say what the
 * system or an operator decided are not settings of a file and stay. */
static int list_unknown(struct store *st, const struct texts *known, struct texts *unknown,
                        struct err *e)
{
	OWNED(setting_list_row) struct setting_list_row row = { 0 };
	int got;

	sql_setting_list(st, &row);
	while ((got = row_next(&row.row, e)) > 0)
		if (row.source != SETTING_SOURCE_SYSTEM && row.source != SETTING_SOURCE_CTL &&
		    strcmp(row.name, "mode") != 0 && !texts_has(known, row.name))
			texts_add(unknown, row.name);
	return got;
}

static int forget_unknown(struct store *st, const struct texts *known, struct err *e)
{
	OWNED(texts) struct texts unknown = { 0 };

	if (list_unknown(st, known, &unknown, e))
		return -1;
	for (size_t i = 0; i < unknown.count; i++)
		if (sql_setting_forget(st, unknown.items[i], e))
			return -1;
	return 0;
}

int setting_put_all(struct store *st, const struct config *config, struct err *e)
{
	struct filling f = { .st = st, .e = e };
	int failed;

	config_settings(config, put_one, &f);
	failed = f.failed || forget_unknown(st, &f.put, e);
	texts_clear(&f.put);
	return failed ? -1 : 0;
}

/* ---- reading ---- */

bool setting_is_default(struct store *st, const char *name)
{
	OWNED(setting_get_row) struct setting_get_row row = { 0 };

	return sql_setting_get(st, name, &row, NULL) > 0 && row.source == SETTING_SOURCE_DEFAULT;
}

int setting_named_workspace(struct store *st, struct str *out, struct err *e)
{
	static const char NAME[] = "default_workspace_root";

	return setting_is_default(st, NAME) ? 0 : setting_get(st, NAME, out, e);
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

bool setting_is(struct store *st, const char *name, const char *value)
{
	OWNED(str) struct str text = { 0 };

	return setting_get(st, name, &text, NULL) > 0 && strcmp(str_text(&text), value) == 0;
}
