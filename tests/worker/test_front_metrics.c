/* GET /metrics: what monitoring systems read. */
#include "front_case.h"

#include <ctype.h>

enum { MOST_FAMILIES = 100 };

static int scrape(const char *accept, struct wire *w)
{
	char bytes[400];

	(void)snprintf(bytes, sizeof(bytes),
	               "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n\r\n",
	               accept ? accept : "*/*");
	wire_open(w, port);
	wire_send(w, bytes);
	return wire_answer(w);
}

/* The value of the sample with exactly this name and these labels, -1 if there is none. */
static double sample(const char *text, const char *series)
{
	size_t length = strlen(series);

	for (const char *at = text; (at = strstr(at, series)) != NULL; at++)
		if ((at == text || at[-1] == '\n') && at[length] == ' ')
			return strtod(at + length, NULL);
	return -1;
}

/* ---- a reader of the text that knows nothing of ours ---- */

struct reader {
	char families[MOST_FAMILIES][80];
	int count;
	char type[20];
	double bucket; /* of the last bucket */
	char series[200]; /* the labels of the histogram being read, without le */
};

static void read_type(struct reader *r, const char *line)
{
	char name[80], type[20];

	ck_assert_msg(sscanf(line, "# TYPE %79s %19s", name, type) == 2, "%s", line);
	for (int i = 0; i < r->count; i++)
		ck_assert_msg(strcmp(r->families[i], name) != 0, "%s comes twice", name);
	ck_assert_int_lt(r->count, MOST_FAMILIES);
	(void)strcpy(r->families[r->count++], name);
	(void)strcpy(r->type, type);
}

static const char *read_labels(const char *at, const char *line)
{
	do {
		at++;
		while (islower((unsigned char)*at) || *at == '_')
			at++;
		ck_assert_msg(at[0] == '=' && at[1] == '"', "%s", line);
		for (at += 2; *at != '"'; at++)
			ck_assert_msg(*at && *at != '\\' && *at != '\n', "%s", line);
		at++;
	} while (*at == ',');
	ck_assert_msg(*at == '}', "%s", line);
	return at + 1;
}

static void read_bucket(struct reader *r, const char *line, const char *end, double value)
{
	const char *le = strstr(line, "le=\"");
	char series[200];

	if (strcmp(end, "_bucket") == 0) {
		ck_assert_msg(le != NULL, "%s", line);
		(void)snprintf(series, sizeof(series), "%.*s", (int)(le - line), line);
		ck_assert_msg(strcmp(series, r->series) != 0 || value >= r->bucket, "%s", line);
		(void)strcpy(r->series, series);
		r->bucket = value;
	} else if (strcmp(end, "_count") == 0) {
		ck_assert_msg(value == r->bucket, "%s: the last bucket has %f", line, r->bucket);
	} else {
		ck_assert_str_eq(end, "_sum");
	}
}

static void read_sample(struct reader *r, const char *line)
{
	const char *family = r->count ? r->families[r->count - 1] : "?";
	char end[200] = "", *rest;
	size_t length = strcspn(line, "{ ");
	const char *at = line + length;
	double value;

	ck_assert_msg(strncmp(line, family, strlen(family)) == 0 && length >= strlen(family),
	              "%s is not of %s", line, family);
	(void)snprintf(end, sizeof(end), "%.*s", (int)(length - strlen(family)),
	               line + strlen(family));
	if (*at == '{')
		at = read_labels(at, line);
	ck_assert_msg(*at == ' ', "%s", line);
	value = strtod(at + 1, &rest);
	ck_assert_msg(rest > at + 1 && *rest == '\0' && value >= 0, "%s", line);
	if (strcmp(r->type, "histogram") == 0)
		read_bucket(r, line, end, value);
	else if (strcmp(r->type, "gauge") == 0)
		ck_assert_msg(!*end, "%s", line);
}

/* Returns how many families there are. */
static int read_text(const char *text, bool is_open)
{
	OWNED(char_ptr) char *copy = xstrdup(text);
	struct reader r = { 0 };
	char *rest;
	bool ended = false;

	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		ck_assert_msg(!ended, "after the end: %s", line);
		if (strncmp(line, "# TYPE ", 7) == 0)
			read_type(&r, line);
		else if (strcmp(line, "# EOF") == 0)
			ended = true;
		else if (*line != '#')
			read_sample(&r, line);
	}
	ck_assert_int_eq(ended, is_open);
	return r.count;
}

/* ---- the tests ---- */

START_TEST(both_texts_of_prometheus_can_be_had)
{
	struct wire w;

	given_front();
	ck_assert_int_eq(scrape("application/openmetrics-text; version=1.0.0", &w), 200);
	ck_assert_str_eq(wire_header(&w, "Content-Type"),
	                 "application/openmetrics-text; version=1.0.0; charset=utf-8");
	ck_assert_int_ge(read_text(str_text(&w.body), true), 5);
	ck_assert_ptr_nonnull(strstr(str_text(&w.body), "# TYPE intercom_events counter\n"));
	ck_assert_ptr_nonnull(strstr(str_text(&w.body), "# UNIT intercom_wal_bytes bytes\n"));
	wire_close(&w);

	ck_assert_int_eq(scrape(NULL, &w), 200);
	ck_assert_str_eq(wire_header(&w, "Content-Type"),
	                 "text/plain; version=0.0.4; charset=utf-8");
	ck_assert_int_ge(read_text(str_text(&w.body), false), 5);
	ck_assert_ptr_nonnull(strstr(str_text(&w.body), "# TYPE intercom_events_total counter\n"));
	ck_assert_double_gt(sample(str_text(&w.body), "intercom_database_bytes"), 0);
	wire_close(&w);
}
END_TEST

START_TEST(a_question_and_its_answer_are_in_the_figures)
{
	struct wire w, asking;
	struct agent a;

	given_front();
	a = newcomer();
	ask(&a, &asking, "a.txt", NULL);
	ck_assert_int_eq(scrape(NULL, &w), 200);
	ck_assert_double_eq(
	    sample(str_text(&w.body), "intercom_questions{kind=\"clearance\",state=\"pending\"}"),
	    1);
	wire_close(&w);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	expect_soon("SELECT state FROM tool_call", "done\n");
	wire_close(&asking);

	ck_assert_int_eq(scrape(NULL, &w), 200);
	(void)read_text(str_text(&w.body), false);
	ck_assert_double_eq(sample(str_text(&w.body),
	                           "intercom_decisions_total{source=\"sql\",verdict=\"approve\","
	                           "outcome=\"applied\"}"),
	                    1);
	ck_assert_double_eq(
	    sample(str_text(&w.body), "intercom_answer_seconds_count{kind=\"clearance\"}"), 1);
	ck_assert_double_eq(
	    sample(str_text(&w.body), "intercom_call_seconds_count{tool=\"check_clearance\"}"), 1);
	ck_assert_double_eq(
	    sample(str_text(&w.body), "intercom_questions{kind=\"clearance\",state=\"pending\"}"),
	    -1);
	wire_close(&w);
}
END_TEST

START_TEST(other_methods_and_foreign_hosts_get_no_figures)
{
	given_front();
	ck_assert_int_eq(
	    raw("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", NULL),
	    404);
	ck_assert_int_eq(raw("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", NULL), 403);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front_metrics");
	TCase *c = store_case(s, "front_metrics", 30);

	tcase_add_test(c, both_texts_of_prometheus_can_be_had);
	tcase_add_test(c, a_question_and_its_answer_are_in_the_figures);
	tcase_add_test(c, other_methods_and_foreign_hosts_get_no_figures);
	return run_suite(s);
}
