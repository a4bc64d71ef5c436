/* Output for people and for programs. Nothing an agent wrote reaches a terminal unfiltered. */
#include "ctl.h"

#include "clock.h"
#include "visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum {
	CELL_COLUMNS_MAX = 60,
	MARK_BYTES = 40, /* of the longest mark */
};

/* ---- characters ---- */

static void add_acting(struct str *out, uint32_t c)
{
	str_addf(out, "<U+%04" PRIX32 ">", c);
}

/* Whether the text begins like one of the marks of add_visible: then its < becomes one. */
static bool is_like_mark(const char *text, size_t left)
{
	static const char HEX[] = "0123456789ABCDEF";
	char rest[MARK_BYTES];
	size_t hex, digits;

	(void)snprintf(rest, sizeof(rest), "%.*s", (int)(left < MARK_BYTES ? left - 1 : MARK_BYTES),
	               text + 1);
	if (strncmp(rest, "U+", 2) == 0) {
		hex = strspn(rest + 2, HEX);
		return hex >= 4 && rest[2 + hex] == '>';
	}
	hex = strspn(rest, HEX);
	digits = strspn(rest, "0123456789");
	return (hex == 2 && rest[hex] == '>') ||
	       (digits > 0 && strncmp(rest + digits, " blanks>", 8) == 0);
}

void add_visible(struct str *out, const char *bytes, size_t length, bool lines)
{
	uint32_t c = 0, before;

	for (size_t i = 0, n; i < length; i += n) {
		size_t blanks;

		n = visible_blanks(bytes + i, length - i, &blanks);
		if (n > 0) {
			str_addf(out, "<%zu blanks>", blanks);
			c = ' ';
			continue;
		}
		before = c;
		n = visible_read(bytes + i, length - i, &c);
		if (c == VISIBLE_BAD)
			str_addf(out, "<%02X>", (unsigned)(unsigned char)bytes[i]);
		else if ((visible_hides(c, before, bytes + i + n, length - i - n) &&
		          !(lines && (c == '\n' || c == '\t'))) ||
		         (c == '<' && is_like_mark(bytes + i, length - i)))
			add_acting(out, c);
		else
			str_add_bytes(out, bytes + i, n);
	}
}

void print_visible(const char *text)
{
	OWNED(str) struct str out = { 0 };

	if (text)
		add_visible(&out, text, strlen(text), false);
	(void)fputs(text ? str_text(&out) : "-", stdout);
}

void print_between(const char *before, const char *text, const char *behind)
{
	if (!text)
		return;
	(void)fputs(before, stdout);
	print_visible(text);
	(void)fputs(behind, stdout);
}

void print_look(const struct ctl *c, enum look look)
{
	static const char *const CODES[] = {
		[LOOK_PLAIN] = "\033[0m", [LOOK_BOLD] = "\033[1m",   [LOOK_DIM] = "\033[2m",
		[LOOK_RED] = "\033[31m",  [LOOK_GREEN] = "\033[32m", [LOOK_YELLOW] = "\033[33m",
		[LOOK_CYAN] = "\033[36m",
	};

	if (c->colour)
		(void)fputs(CODES[look], stdout);
}

static size_t char_width(uint32_t c)
{
	int width = c == VISIBLE_BAD ? 1 : wcwidth((wchar_t)c);

	return width < 0 ? 1 : (size_t)width;
}

/* The columns that a text takes on a terminal. */
static size_t text_width(const char *text)
{
	size_t left = strlen(text), width = 0, n;
	uint32_t c = 0;

	for (; left > 0; text += n, left -= n) {
		n = visible_read(text, left, &c);
		width += char_width(c);
	}
	return width;
}

/* ---- ages ---- */

struct age age_of(const char *instant)
{
	struct age age = { "-" };
	int64_t at = clock_parse(instant);
	int64_t s = (clock_now_ms() - at) / 1000;

	if (at < 0)
		return age;
	s = s < 0 ? 0 : s;
	if (s < 60)
		(void)snprintf(age.text, AGE_BYTES, "%" PRId64 "s", s);
	else if (s < 3600)
		(void)snprintf(age.text, AGE_BYTES, "%" PRId64 "m", s / 60);
	else if (s < 48 * 3600)
		(void)snprintf(age.text, AGE_BYTES, "%" PRId64 "h", s / 3600);
	else
		(void)snprintf(age.text, AGE_BYTES, "%" PRId64 "d", s / 86400);
	return age;
}

/* ---- JSON ---- */

static void add_utf16(struct str *out, uint32_t c)
{
	if (c > 0xFFFF) {
		uint32_t v = c - 0x10000;

		str_addf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + (v >> 10),
		         0xDC00 + (v & 0x3FF));
	} else {
		str_addf(out, "\\u%04" PRIx32, c);
	}
}

static void add_json_char(struct str *out, const char *p, size_t n, uint32_t c)
{
	if (c == VISIBLE_BAD)
		str_add(out, "\\ufffd");
	else if (c == '"' || c == '\\')
		str_addf(out, "\\%c", (char)c);
	else if (c == '\n')
		str_add(out, "\\n");
	else if (c == '\t')
		str_add(out, "\\t");
	else if (visible_hides(c, 0, NULL, 0))
		add_utf16(out, c);
	else
		str_add_bytes(out, p, n);
}

static cJSON *json_quoted(const char *bytes, size_t length)
{
	OWNED(str) struct str out = { 0 };
	uint32_t c = 0;

	str_add_char(&out, '"');
	for (size_t i = 0, n; i < length; i += n) {
		n = visible_read(bytes + i, length - i, &c);
		add_json_char(&out, bytes + i, n, c);
	}
	str_add_char(&out, '"');
	return cJSON_CreateRaw(out.bytes);
}

cJSON *json_string(const char *text)
{
	return text ? json_quoted(text, strlen(text)) : cJSON_CreateNull();
}

void json_add_text(cJSON *object, const char *name, const char *text)
{
	(void)cJSON_AddItemToObject(object, name, json_string(text));
}

void json_add_given(cJSON *object, const char *name, const char *text)
{
	if (text)
		json_add_text(object, name, text);
}

void json_add_bytes(cJSON *object, const char *name, const char *bytes, size_t length)
{
	(void)cJSON_AddItemToObject(object, name,
	                            length ? json_quoted(bytes, length) : cJSON_CreateNull());
}

void json_raw(cJSON *object, const char *name, const char *json)
{
	OWNED(str) struct str out = { 0 };
	size_t length = json ? strlen(json) : 0;
	uint32_t c = 0;

	for (size_t i = 0, n; i < length; i += n) {
		n = visible_read(json + i, length - i, &c);
		if (c == '\n' || c == '\t' || c == '\r')
			str_add_char(&out, ' ');
		else if (c == '"' || c == '\\')
			str_add_char(&out, (char)c);
		else
			add_json_char(&out, json + i, n, c);
	}
	(void)cJSON_AddItemToObject(object, name,
	                            json ? cJSON_CreateRaw(str_text(&out)) : cJSON_CreateNull());
}

static void print_and_free(cJSON *value, bool pretty)
{
	char *text = pretty ? cJSON_Print(value) : cJSON_PrintUnformatted(value);

	(void)puts(text ? text : "null");
	cJSON_free(text);
	cJSON_Delete(value);
}

void json_print(const struct ctl *c, cJSON *value)
{
	print_and_free(value, c->terminal);
}

void json_print_line(cJSON *value)
{
	print_and_free(value, false);
}

/* ---- tables ---- */

void table_begin(struct table *t, const char *const *headings, size_t columns)
{
	*t = (struct table){ .columns = columns };
	for (size_t i = 0; i < columns; i++)
		table_add(t, headings[i]);
}

void table_add(struct table *t, const char *cell)
{
	OWNED(str) struct str visible = { 0 };

	if (cell)
		add_visible(&visible, cell, strlen(cell), false);
	t->cells = xgrow(t->cells, t->count, sizeof(*t->cells));
	t->cells[t->count++] = str_take(&visible);
}

/* Prints a cell, cut to at most `most` columns (0: uncut). Returns the columns it took. */
static size_t print_cell(const char *text, size_t most)
{
	size_t width = text_width(text), done = 0, n;
	uint32_t c = 0;

	if (most == 0 || width <= most) {
		(void)fputs(text, stdout);
		return width;
	}
	for (size_t left = strlen(text); left > 0; text += n, left -= n) {
		n = visible_read(text, left, &c);
		if (done + char_width(c) > most - 1)
			break;
		done += char_width(c);
		(void)fwrite(text, 1, n, stdout);
	}
	(void)fputs("…", stdout);
	return done + 1;
}

static void print_row(const struct ctl *c, const struct table *t, size_t row, const size_t *widths)
{
	size_t used = 0;

	for (size_t i = 0; i < t->columns; i++) {
		bool last = i + 1 == t->columns;
		size_t most = widths[i];

		if (last)
			most = c->columns > used + 8 ? c->columns - used : 0;
		size_t took = print_cell(t->cells[row * t->columns + i], most);
		for (; !last && took < widths[i] + 2; took++)
			(void)putchar(' ');
		used += took;
	}
	(void)putchar('\n');
}

void table_print(const struct ctl *c, const struct table *t)
{
	size_t *widths = xcalloc(t->columns, sizeof(*widths));

	for (size_t i = 0; i < t->count; i++) {
		size_t width = text_width(t->cells[i]);
		size_t *most = &widths[i % t->columns];

		if (c->columns && width > CELL_COLUMNS_MAX)
			width = CELL_COLUMNS_MAX;
		*most = width > *most ? width : *most;
	}
	for (size_t row = 0; row < t->count / t->columns; row++) {
		if (row == 0)
			print_look(c, LOOK_BOLD);
		print_row(c, t, row, widths);
		if (row == 0)
			print_look(c, LOOK_PLAIN);
	}
	free(widths);
}

void table_clear(struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){ 0 };
}

/* ---- listings ---- */

static int list_json(struct ctl *c, struct row *row, const struct listing *l, struct err *e)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *rows = cJSON_AddArrayToObject(o, l->name);
	int got;

	while ((got = row_next(row, e)) > 0) {
		cJSON *one = l->json(row);

		(void)cJSON_AddItemToArray(rows, one);
		if (l->more && l->more(c, row, one, e)) {
			got = -1;
			break;
		}
	}
	if (got == 0)
		json_print(c, o);
	else
		cJSON_Delete(o);
	return got;
}

/* A column that says nothing of any row is left out. */
static void leave_out_empty(struct table *t, const struct listing *l, const char *heading)
{
	size_t column = 0, kept = 0;
	bool any = false;

	while (column < l->columns && strcmp(l->headings[column], heading) != 0)
		column++;
	for (size_t i = t->columns + column; i < t->count; i += t->columns)
		any |= t->cells[i] && *t->cells[i];
	if (column == l->columns || any)
		return;
	for (size_t i = 0; i < t->count; i++)
		if (i % t->columns == column)
			free(t->cells[i]);
		else
			t->cells[kept++] = t->cells[i];
	t->count = kept;
	t->columns--;
}

static int list_text(struct ctl *c, struct row *row, const struct listing *l, struct err *e)
{
	OWNED(table) struct table t;
	int got;

	table_begin(&t, l->headings, l->columns);
	while ((got = row_next(row, e)) > 0)
		if (l->add(c, &t, row, e))
			return -1;
	leave_out_empty(&t, l, "LABEL"); /* it stands behind USER, which keeps its place */
	leave_out_empty(&t, l, "USER");
	if (got == 0 && t.count == t.columns)
		(void)puts(l->none);
	else if (got == 0)
		table_print(c, &t);
	return got;
}

int print_listing(struct ctl *c, struct row *row, const struct listing *l, struct err *e)
{
	return c->json ? list_json(c, row, l, e) : list_text(c, row, l, e);
}
