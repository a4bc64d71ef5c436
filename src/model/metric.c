#include "metric.h"

#include "sql/metric.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum metric_form metric_form_of(const char *accept)
{
	return accept && strstr(accept, "application/openmetrics-text") ? METRIC_FORM_OPENMETRICS
	                                                                : METRIC_FORM_PROMETHEUS;
}

const char *metric_form_type(enum metric_form form)
{
	return form == METRIC_FORM_OPENMETRICS
	           ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
	           : "text/plain; version=0.0.4; charset=utf-8";
}

static void add_head(struct str *out, enum metric_form form, const char *family, const char *type,
                     const char *unit, const char *help)
{
	bool is_open = form == METRIC_FORM_OPENMETRICS;
	const char *end = !is_open && strcmp(type, "counter") == 0 ? "_total" : "";

	str_addf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family, end, help, family, end, type);
	if (is_open && *unit)
		str_addf(out, "# UNIT %s %s\n", family, unit);
}

static void add_value(struct str *out, const char *name, const char *labels, const char *value)
{
	if (*labels)
		str_addf(out, "%s{%s} %s\n", name, labels, value);
	else
		str_addf(out, "%s %s\n", name, value);
}

/* The size of a file next to the database, which only stat() knows. */
static void add_size(struct str *out, enum metric_form form, const char *path, const char *end,
                     const char *family, const char *help)
{
	char file[4096], value[32];
	struct stat s;

	if (snprintf(file, sizeof(file), "%s%s", path, end) >= (int)sizeof(file) ||
	    stat(file, &s) != 0)
		return;
	(void)snprintf(value, sizeof(value), "%lld", (long long)s.st_size);
	add_head(out, form, family, "gauge", "bytes", help);
	add_value(out, family, "", value);
}

static int add_rows(struct store *st, enum metric_form form, struct str *out, struct err *e)
{
	OWNED(metric_list_row) struct metric_list_row m = { 0 };
	enum metric_family family = METRIC_FAMILY_NONE;
	int got;

	sql_metric_list(st, &m);
	while ((got = row_next(&m.row, e)) > 0) {
		if (m.family != family)
			add_head(out, form, metric_family_name(m.family),
			         metric_family_type_name(m.type), m.unit, m.help);
		family = m.family;
		add_value(out, m.name, m.labels, m.value);
	}
	return got;
}

int metric_print(struct store *st, const char *db_path, enum metric_form form, struct str *out,
                 struct err *e)
{
	if (add_rows(st, form, out, e))
		return -1;
	add_size(out, form, db_path, "", "intercom_database_bytes", "The file of the database.");
	add_size(out, form, db_path, "-wal", "intercom_wal_bytes", "Its write-ahead log.");
	if (form == METRIC_FORM_OPENMETRICS)
		str_add(out, "# EOF\n");
	return 0;
}

int64_t metric_behind(struct store *st, struct err *e)
{
	return sql_metric_behind(st, e);
}

int metric_count(struct store *st, struct err *e)
{
	if (store_begin(st, e))
		return -1;
	return store_end(st,
	                 sql_metric_stretch_begin(st, METRIC_STRETCH, e) ||
	                     sql_metric_tally_add(st, e) || sql_metric_stretch_end(st, e),
	                 e);
}
