/* See toml_edit.h. The scanner below only sees text that the TOML reader has accepted; it has to
 * know where a line begins that is not inside a value. */
#include "toml_edit.h"

#include "io.h"
#include "json.h"
#include "json_writer.h"
#include "textfile.h"
#include "toml.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* How a header relates to the table searched for. */
enum kinship { STRANGER, ITSELF, BELOW };

struct section {
	size_t start, end; /* from its header line to the end of its last line with a key */
	enum kinship kinship;
};

/* ---- meaning ---- */

static cJSON *plain(const cJSON *node)
{
	const cJSON *value = toml_value(node), *item;
	cJSON *out;

	if (toml_is(node, TOML_TABLE)) {
		out = cJSON_CreateObject();
		cJSON_ArrayForEach (item, value) {
			(void)cJSON_AddItemToObject(out, item->string, plain(item));
		}
		return out;
	}
	if (toml_is(node, TOML_ARRAY)) {
		out = cJSON_CreateArray();
		cJSON_ArrayForEach (item, value) {
			(void)cJSON_AddItemToArray(out, plain(item));
		}
		return out;
	}
	if (toml_is(node, TOML_INTEGER))
		return cJSON_CreateNumber(strtod(value->valuestring, NULL));
	return cJSON_Duplicate(value, 1);
}

cJSON *toml_edit_parse(const struct str *text, const char *name, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	struct err why = { 0 };
	char path[32];
	int fd = memfd_create("toml", MFD_CLOEXEC);

	if (fd < 0 || io_write_all(fd, str_text(text), text->length)) {
		(void)err_errno(e, ERR_AGAIN, "%s: cannot be copied", name);
	} else {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		root = toml_read(path, &why);
		if (!root)
			(void)err_set(e, why.kind, "%s%s", name,
			              strncmp(why.text, path, strlen(path)) == 0
			                  ? why.text + strlen(path)
			                  : "");
	}
	io_shut(&fd);
	return root ? plain(root) : NULL;
}

/* ---- sections ---- */

static size_t end_of_line(const char *s, size_t i)
{
	i += strcspn(s + i, "\n");
	return s[i] ? i + 1 : i;
}

static size_t skip_blanks(const char *s, size_t i)
{
	return i + strspn(s + i, " \t");
}

/* The end of the text that begins at i, in any of its four forms. */
static size_t skip_text(const char *s, size_t i)
{
	char quote = s[i];
	bool is_long = s[i + 1] == quote && s[i + 2] == quote;

	i += is_long ? 3 : 1;
	while (s[i]) {
		if (s[i] == '\\' && quote == '"' && s[i + 1])
			i++;
		else if (s[i] == quote && !is_long)
			return i + 1;
		else if (s[i] == quote && s[i + 1] == quote && s[i + 2] == quote)
			return i + strspn(s + i,
			                  (const char[]){ quote, '\0' }); /* it may end in quotes */
		i++;
	}
	return i;
}

/* The start of the first line at or after i that begins outside all values. */
static size_t next_line(const char *s, size_t i)
{
	int depth = 0;

	while (s[i]) {
		if (s[i] == '"' || s[i] == '\'') {
			i = skip_text(s, i);
			continue;
		}
		if (s[i] == '#')
			i += strcspn(s + i, "\n");
		if (s[i] == '[' || s[i] == '{')
			depth++;
		else if (s[i] == ']' || s[i] == '}')
			depth--;
		else if (s[i] == '\n' && depth <= 0)
			return i + 1;
		if (s[i])
			i++;
	}
	return i;
}

/* Whether the part of a header at *i is name; *i moves past it and the dot. */
static bool part_is(const char *s, size_t *i, const char *name)
{
	size_t start = skip_blanks(s, *i), end;
	bool same;

	if (s[start] == '"') {
		OWNED(cJSON_ptr) cJSON *text = NULL;

		end = skip_text(s, start);
		text = cJSON_ParseWithLength(s + start, end - start);
		same = cJSON_IsString(text) && strcmp(text->valuestring, name) == 0;
	} else {
		size_t quotes = s[start] == '\'';
		size_t length;

		end = quotes ? skip_text(s, start) : start + strcspn(s + start, ".] \t\r\n");
		length = end - start - 2 * quotes;
		same = length == strlen(name) && memcmp(s + start + quotes, name, length) == 0;
	}
	*i = skip_blanks(s, end);
	if (s[*i] == '.')
		(*i)++;
	return same;
}

static enum kinship kinship_of(const char *s, size_t header, const char *parent, const char *key)
{
	size_t i = skip_blanks(s, header) + 1;

	if (s[i] == '[')
		i++;
	if (!part_is(s, &i, parent) || !part_is(s, &i, key))
		return STRANGER;
	return s[i] == ']' ? ITSELF : BELOW;
}

/* The first section at or after *at (a start of line); *at moves past it. */
static bool next_section(const char *s, size_t *at, const char *parent, const char *key,
                         struct section *out)
{
	size_t i = *at;

	while (s[i] && s[skip_blanks(s, i)] != '[')
		i = next_line(s, i);
	if (!s[i])
		return false;
	*out = (struct section){ .start = i, .kinship = kinship_of(s, i, parent, key) };
	i = out->end = end_of_line(s, i);
	while (s[i] && s[skip_blanks(s, i)] != '[') {
		size_t line = i;

		i = next_line(s, i);
		if (!strchr("#\r\n", s[skip_blanks(s, line)]))
			out->end = i;
	}
	*at = i;
	return true;
}

/* ---- printing ---- */

static bool is_bare(const char *key)
{
	return *key && key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                               "0123456789_-")] == '\0';
}

static void print_key(struct str *out, const char *key)
{
	if (is_bare(key))
		str_add(out, key);
	else
		json_quote(out, key);
}

static void print_value(struct str *out, const cJSON *value)
{
	const cJSON *item;

	if (cJSON_IsString(value)) {
		json_quote(out, value->valuestring);
	} else if (cJSON_IsArray(value)) {
		str_add_char(out, '[');
		cJSON_ArrayForEach (item, value) {
			if (item != value->child)
				str_add(out, ", ");
			print_value(out, item);
		}
		str_add_char(out, ']');
	} else {
		json_add(out, value);
	}
}

void toml_edit_print(struct str *out, const char *parent, const char *key, const cJSON *entry)
{
	const cJSON *item;

	str_addf(out, "[%s.", parent);
	print_key(out, key);
	str_add(out, "]\n");
	cJSON_ArrayForEach (item, entry) {
		print_key(out, item->string);
		str_add(out, " = ");
		print_value(out, item);
		str_add_char(out, '\n');
	}
}

/* ---- changing ---- */

static void forget(cJSON *root, const char *parent, const char *key)
{
	cJSON *tables = cJSON_GetObjectItemCaseSensitive(root, parent);

	cJSON_DeleteItemFromObjectCaseSensitive(tables, key);
	if (tables && !tables->child)
		cJSON_DeleteItemFromObjectCaseSensitive(root, parent);
}

/* Adopts the changed text if its table is entry (NULL: none) and it otherwise means the same as
 * text. */
static int take_over(struct str *text, struct str *changed, const char *name, const char *parent,
                     const char *key, const cJSON *entry, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *old = toml_edit_parse(text, name, e);
	OWNED(cJSON_ptr) cJSON *new = old ? toml_edit_parse(changed, name, NULL) : NULL;
	const cJSON *there, *item;
	bool right;

	if (!old)
		return -1;
	there =
	    cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(new, parent), key);
	right = new && !there == !entry;
	cJSON_ArrayForEach (item, entry)
		right =
		    right &&
		    cJSON_Compare(cJSON_GetObjectItemCaseSensitive(there, item->string), item, 1);
	forget(old, parent, key);
	forget(new, parent, key);
	if (!right || !cJSON_Compare(old, new, 1))
		return err_set(e, ERR_INPUT,
		               "%s: %s.%s is written in a way that I do not change (not as a "
		               "[table]); remove it by hand first",
		               name, parent, key);
	str_move(text, changed);
	return 0;
}

int toml_edit_set(struct str *text, const char *name, const char *parent, const char *key,
                  const cJSON *entry, struct err *e)
{
	OWNED(str) struct str changed = { 0 }, block = { 0 };
	const char *s = str_text(text);
	struct section section = { .kinship = STRANGER };
	size_t at = 0;

	toml_edit_print(&block, parent, key, entry);
	while (section.kinship != ITSELF && next_section(s, &at, parent, key, &section))
		;
	if (section.kinship == ITSELF) {
		str_add_bytes(&changed, s, section.start);
		str_add(&changed, str_text(&block));
		str_add_bytes(&changed, s + section.end, text->length - section.end);
	} else {
		str_add_bytes(&changed, s, text->length);
		textfile_add_block(&changed, str_text(&block));
	}
	return take_over(text, &changed, name, parent, key, entry, e);
}

int toml_edit_remove(struct str *text, const char *name, const char *parent, const char *key,
                     struct err *e)
{
	OWNED(str) struct str changed = { 0 };
	struct section section;
	size_t at = 0;

	str_add_bytes(&changed, str_text(text), text->length);
	while (next_section(str_text(&changed), &at, parent, key, &section))
		if (section.kinship != STRANGER) {
			textfile_cut_block(&changed, section.start, section.end);
			at = section.start < changed.length ? section.start : changed.length;
		}
	return take_over(text, &changed, name, parent, key, NULL, e);
}
