#include "usage.h"

#include "clock.h"
#include "json_writer.h"

#include <time.h>

enum { MICROS = 1000000, CENT = MICROS / 100 };

static void add_tokens(struct str *out, int64_t tokens)
{
	if (tokens < 1000)
		str_addf(out, "%lld tokens", (long long)tokens);
	else if (tokens < 1000000)
		str_addf(out, "%lld.%lldk tokens", (long long)(tokens / 1000),
		         (long long)(tokens % 1000 / 100));
	else
		str_addf(out, "%lld.%lldM tokens", (long long)(tokens / 1000000),
		         (long long)(tokens % 1000000 / 100000));
}

static void add_money(struct str *out, int64_t micros, const char *currency)
{
	str_addf(out, "%lld.%02lld %s", (long long)(micros / MICROS),
	         (long long)(micros % MICROS / CENT), currency ? currency : "");
}

void usage_add(struct str *out, const struct usage_told *told)
{
	size_t before = out->length;

	if (told->total_tokens)
		add_tokens(out, told->total_tokens);
	if (told->cost_micros) {
		str_add(out, out->length > before ? ", " : "");
		add_money(out, told->cost_micros, told->currency);
	}
	if (told->context_size)
		str_addf(out, "%scontext %lld %%", out->length > before ? ", " : "",
		         (long long)(told->context_used * 100 / told->context_size));
}

static void add_number(struct str *out, const char *name, int64_t number)
{
	if (number)
		json_member_int(out, name, number);
	else
		json_member_raw(out, name, "null");
}

static void add_json(struct str *out, const struct usage_told *told)
{
	OWNED(str) struct str cost = { 0 };

	if (!told->total_tokens && !told->cost_micros && !told->context_size) {
		str_add(out, "null");
		return;
	}
	json_object(out);
	add_number(out, "input_tokens", told->input_tokens);
	add_number(out, "output_tokens", told->output_tokens);
	add_number(out, "total_tokens", told->total_tokens);
	if (told->cost_micros) {
		str_addf(&cost, "%lld.%06lld", (long long)(told->cost_micros / MICROS),
		         (long long)(told->cost_micros % MICROS));
		json_member_raw(out, "cost", cost.bytes);
	} else {
		json_member_raw(out, "cost", "null");
	}
	json_member(out, "currency", told->currency);
	add_number(out, "context_used", told->context_used);
	add_number(out, "context_size", told->context_size);
	json_object_end(out);
}

/* ---- the day ---- */

void usage_today(char day[USAGE_DAY_BYTES])
{
	time_t now = (time_t)(clock_now_ms() / 1000);
	struct tm parts;

	(void)localtime_r(&now, &parts);
	(void)strftime(day, USAGE_DAY_BYTES, "%Y-%m-%d", &parts);
}

void usage_put(cJSON *to, const struct usage_told *told)
{
	OWNED(str) struct str json = { 0 };

	add_json(&json, told);
	(void)cJSON_AddItemToObject(to, "usage", cJSON_Parse(json.bytes));
}
