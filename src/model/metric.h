/* metric: the figures of schema/metric.sql: their text for a monitoring system, and what keeps them
 * when rows are deleted. */
#ifndef METRIC_H
#define METRIC_H

#include "err.h"
#include "store.h"
#include "str.h"

#include <stdint.h>

enum {
	METRIC_STRETCH = 5000, /* rows of a table that are counted in one transaction: some ms */
	METRIC_BACKLOG = 1000, /* rows that each reading of the figures counts again, about */
};

/* The two texts that Prometheus reads. */
enum metric_form {
	METRIC_FORM_OPENMETRICS, /* OpenMetrics 1.0 */
	METRIC_FORM_PROMETHEUS, /* text format 0.0.4: families of counters end in _total, no # EOF
	                         */
};

/* The form that an Accept header asks for; NULL: none came. */
enum metric_form metric_form_of(const char *accept);
/* Its Content-Type. */
const char *metric_form_type(enum metric_form form);

/* Appends all figures of the database at db_path, and the sizes of its files. 0 or -1. */
int metric_print(struct store *st, const char *db_path, enum metric_form form, struct str *out,
                 struct err *e);

/* How many rows metric_tally is behind, -1 on error. */
int64_t metric_behind(struct store *st, struct err *e);
/* Counts a stretch of them in a transaction of its own; 0 or -1. */
int metric_count(struct store *st, struct err *e);

#endif
