/* See json_edit.h. The scanner below only sees text that cJSON has accepted. */
#include "json_edit.h"

#include "json.h"
#include "json_writer.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One member of an object, as offsets into the text. */
struct member {
	size_t key, value, end; /* where key and value begin, and the end of the value */
};

/* An object, after its members have been walked. */
struct object {
	size_t open, close; /* the braces */
	size_t count; /* of members */
	size_t matches; /* members with the name searched for */
	struct member found; /* the last of them */
	size_t before; /* end of the member before it; 0: it is the first */
	size_t after; /* key of the member after it; 0: it is the last */
	struct member first, last;
};

/* How the text is laid out. */
struct layout {
	char unit[16]; /* one step of indentation; "" if the text is on one line */
	const char *newline;
};

/* ---- reading ---- */

static size_t line_of(const char *text, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text[i] == '\n';
	return line;
}

/* The first byte at or after i that is not white space; a BOM counts as white space. */
static size_t skip_space(const char *s, size_t i)
{
	while (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r' ||
	       (i < 3 && (unsigned char)s[i] >= 0xBB))
		i++;
	return i;
}

static size_t skip_string(const char *s, size_t i)
{
	for (i++; s[i] && s[i] != '"'; i++)
		if (s[i] == '\\' && s[i + 1])
			i++;
	return s[i] ? i + 1 : i;
}

/* The end of the value that begins at i. */
static size_t skip_value(const char *s, size_t i)
{
	int depth = 0;

	for (;;) {
		if (s[i] == '"') {
			i = skip_string(s, i);
		} else if (s[i] == '{' || s[i] == '[') {
			depth++;
			i++;
		} else if (s[i] == '}' || s[i] == ']') {
			depth--;
			i++;
		} else if (depth > 0 && s[i]) {
			i++;
		} else {
			i += strcspn(s + i, ",]} \t\r\n"); /* a number, true, false, null */
		}
		if (depth <= 0 || !s[i])
			return i;
	}
}

static bool key_is(const char *s, size_t key, const char *name)
{
	OWNED(cJSON_ptr) cJSON *text = cJSON_ParseWithLength(s + key, skip_string(s, key) - key);

	return text && cJSON_IsString(text) && strcmp(text->valuestring, name) == 0;
}

/* Walks the object whose brace is at open. */
static struct object walk(const char *s, size_t open, const char *name)
{
	struct object o = { .open = open };
	size_t i = skip_space(s, open + 1);

	while (s[i] == '"') {
		struct member m = { .key = i };
		bool follows = o.count > 0 && o.matches > 0 && o.found.key == o.last.key;

		m.value = skip_space(s, skip_space(s, skip_string(s, i)) + 1);
		m.end = skip_value(s, m.value);
		if (follows)
			o.after = m.key;
		if (key_is(s, m.key, name)) {
			o.before = o.count > 0 ? o.last.end : 0;
			o.after = 0;
			o.found = m;
			o.matches++;
		}
		if (o.count++ == 0)
			o.first = m;
		o.last = m;
		i = skip_space(s, m.end);
		if (s[i] == ',')
			i = skip_space(s, i + 1);
	}
	o.close = i;
	return o;
}

/* Blanks out the comment at i except for its line ends; returns its end. */
static size_t blank_comment(char *s, size_t i)
{
	const char *end = s[i + 1] == '/' ? strchr(s + i, '\n') : strstr(s + i + 2, "*/");
	size_t stop = end ? (size_t)(end - s) + (s[i + 1] == '*' ? 2 : 0) : strlen(s);

	for (; i < stop; i++)
		if (s[i] != '\n')
			s[i] = ' ';
	return i;
}

/* A copy with comments and trailing commas as spaces, so that line numbers stay the same. */
static char *without_comments(const char *text)
{
	char *s = xstrdup(text);
	size_t comma = 0; /* the end of the last comma, until something follows it */

	for (size_t i = 0; s[i];) {
		if (s[i] == '"') {
			comma = 0;
			i = skip_string(s, i);
			continue;
		}
		if (s[i] == '/' && (s[i + 1] == '/' || s[i + 1] == '*')) {
			i = blank_comment(s, i);
			continue;
		}
		if ((s[i] == '}' || s[i] == ']') && comma > 0)
			s[comma - 1] = ' ';
		if (!strchr(" \t\r\n", s[i]))
			comma = s[i] == ',' ? i + 1 : 0;
		i++;
	}
	return s;
}

/* A number that no double holds is not the same as itself. Returns where it ends. */
static size_t mend_number(char *s, size_t i)
{
	size_t end = i + strspn(s + i, "0123456789.eE+-");

	if (!isfinite(strtod(s + i, NULL)))
		memset(s + i, '1', end - i);
	return end;
}

/* A copy of the same length that cJSON reads, and in which all is comparable. */
static char *comparable(const char *text)
{
	char *s = xstrdup(text);

	(void)json_mend_surrogates(s, strlen(s));
	for (size_t i = 0; s[i];)
		if (s[i] == '"')
			i = skip_string(s, i);
		else
			i = isdigit((unsigned char)s[i]) ? mend_number(s, i) : i + 1;
	return s;
}

static cJSON *parse(const char *text, size_t length, size_t *mistake)
{
	OWNED(char_ptr) char *copy = NULL;
	const char *end = NULL;
	cJSON *root;

	if (memchr(text, '\0', length)) {
		*mistake = strlen(text);
		return NULL;
	}
	copy = comparable(text);
	root = cJSON_ParseWithOpts(copy, &end, 1);
	*mistake = end ? (size_t)(end - copy) : 0;
	return root;
}

int json_edit_parse(const struct str *text, const char *name, cJSON **root, struct err *e)
{
	const char *s = str_text(text);
	size_t mistake, ignored;
	int kind = 0;

	*root = NULL;
	if (s[skip_space(s, 0)] == '\0' && skip_space(s, 0) == text->length)
		return 0;
	*root = parse(s, text->length, &mistake);
	if (!*root) {
		OWNED(char_ptr) char *plain = without_comments(s);

		*root = parse(plain, text->length, &ignored);
		kind = 1;
	}
	if (!*root)
		return err_set(e, ERR_INPUT, "%s:%zu: this is not JSON; correct it first", name,
		               line_of(s, mistake));
	if (!cJSON_IsObject(*root)) {
		cJSON_Delete(*root);
		*root = NULL;
		return err_set(e, ERR_INPUT, "%s:1: holds no JSON object", name);
	}
	return kind;
}

const cJSON *json_edit_find(const cJSON *root, json_place place)
{
	for (; root && *place; place++)
		root = cJSON_GetObjectItemCaseSensitive(root, *place);
	return root;
}

/* ---- layout ---- */

/* The white space between the last line end before i and i; -1 if there is other text. */
static int indent_of(const char *s, size_t i, size_t *start)
{
	*start = i;
	while (*start > 0 && (s[*start - 1] == ' ' || s[*start - 1] == '\t'))
		(*start)--;
	return *start > 0 && s[*start - 1] == '\n' ? 0 : -1;
}

static struct layout layout_of(const char *s, size_t root)
{
	struct layout l = { .unit = "  ", .newline = strstr(s, "\r\n") ? "\r\n" : "\n" };
	struct object o = walk(s, root, "");
	size_t start;

	if (o.count == 0)
		return l;
	if (indent_of(s, o.first.key, &start)) {
		l.unit[0] = '\0';
	} else if (o.first.key - start < sizeof(l.unit) && o.first.key > start) {
		memcpy(l.unit, s + start, o.first.key - start);
		l.unit[o.first.key - start] = '\0';
	}
	return l;
}

static bool is_short(const cJSON *value)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, value)
		if (cJSON_IsObject(item) || cJSON_IsArray(item))
			return false;
	return cJSON_IsArray(value) || !value->child;
}

/* Appends value; indent is the indentation of the line in which it begins. */
static void print(struct str *out, const cJSON *value, const struct layout *l, const char *indent)
{
	OWNED(str) struct str deeper = { 0 };
	const cJSON *item;
	bool in_one_line = is_short(value) || !*l->unit;

	if (!cJSON_IsObject(value) && !cJSON_IsArray(value)) {
		json_add(out, value);
		return;
	}
	str_addf(&deeper, "%s%s", indent, l->unit);
	str_add_char(out, cJSON_IsObject(value) ? '{' : '[');
	cJSON_ArrayForEach (item, value) {
		if (item != value->child)
			str_add(out, in_one_line ? ", " : ",");
		if (!in_one_line)
			str_addf(out, "%s%s", l->newline, str_text(&deeper));
		if (cJSON_IsObject(value)) {
			json_quote(out, item->string);
			str_add(out, ": ");
		}
		print(out, item, l, str_text(&deeper));
	}
	if (!in_one_line && value->child)
		str_addf(out, "%s%s", l->newline, indent);
	str_add_char(out, cJSON_IsObject(value) ? '}' : ']');
}

/* ---- changing ---- */

static void splice(struct str *text, size_t from, size_t to, const struct str *by)
{
	OWNED(str) struct str whole = { 0 };

	str_add_bytes(&whole, str_text(text), from);
	str_add_bytes(&whole, str_text(by), by->length);
	str_add_bytes(&whole, str_text(text) + to, text->length - to);
	str_move(text, &whole);
}

/* The white space at the start of the line of s[i]. */
static void add_line_indent(struct str *out, const char *s, size_t i)
{
	size_t start = i;

	while (start > 0 && s[start - 1] != '\n')
		start--;
	str_add_bytes(out, s + start, strspn(s + start, " \t"));
}

/* Adds a member at the end of the object o. */
static void insert(struct str *text, const struct object *o, const char *name, const cJSON *value,
                   const struct layout *root_layout)
{
	OWNED(str) struct str piece = { 0 };
	OWNED(str) struct str outer = { 0 }; /* indentation of the object */
	OWNED(str) struct str inner = { 0 }; /* of its members */
	const char *s = str_text(text);
	struct layout l = *root_layout;
	size_t start;

	add_line_indent(&outer, s, o->open);
	if (o->count == 0)
		str_addf(&inner, "%s%s", str_text(&outer), l.unit);
	else if (indent_of(s, o->last.key, &start) == 0)
		str_add_bytes(&inner, s + start, o->last.key - start);
	else
		l.unit[0] = '\0'; /* its members share a line */
	if (o->count > 0)
		str_add(&piece, *l.unit ? "," : ", ");
	if (*l.unit)
		str_addf(&piece, "%s%s", l.newline, str_text(&inner));
	json_quote(&piece, name);
	str_add(&piece, ": ");
	print(&piece, value, &l, str_text(&inner));
	if (o->count > 0) {
		splice(text, o->last.end, o->last.end, &piece);
		return;
	}
	if (*l.unit)
		str_addf(&piece, "%s%s", l.newline, str_text(&outer));
	splice(text, o->open + 1, o->close, &piece);
}

/* Finds the object that holds the last name of place, or the deepest one that exists on the way;
 * *rest are the missing names, at least the last one. */
static int descend(const struct str *text, const char *name, json_place place, struct object *o,
                   json_place *rest, struct err *e)
{
	const char *s = str_text(text);
	size_t at = skip_space(s, 0);

	for (;; place++) {
		*o = walk(s, at, *place);
		*rest = place;
		if (o->matches > 1)
			return err_set(e, ERR_INPUT, "%s:%zu: \"%s\" appears twice; remove one",
			               name, line_of(s, o->found.key), *place);
		if (o->matches == 0 || !place[1])
			return 0;
		at = o->found.value;
		if (s[at] != '{')
			return err_set(e, ERR_INPUT, "%s:%zu: \"%s\" is not an object; correct it",
			               name, line_of(s, at), *place);
	}
}

/* The value at place, inside a tree of the objects that are missing around it. */
static cJSON *wrap(json_place missing, const cJSON *value)
{
	cJSON *tree = cJSON_Duplicate(value, 1);
	size_t count = 0;

	while (missing[count])
		count++;
	for (; count > 1; count--) {
		cJSON *outer = cJSON_CreateObject();

		(void)cJSON_AddItemToObject(outer, missing[count - 1], tree);
		tree = outer;
	}
	return tree;
}

/* Removes the item at place from the tree, and the objects on the way that this leaves empty. */
static void forget(cJSON *root, json_place place)
{
	cJSON *inner;

	if (!place[1]) {
		cJSON_DeleteItemFromObjectCaseSensitive(root, *place);
		return;
	}
	inner = cJSON_GetObjectItemCaseSensitive(root, *place);
	if (!inner)
		return;
	forget(inner, place + 1);
	if (!inner->child)
		cJSON_DeleteItemFromObjectCaseSensitive(root, *place);
}

/* Except at place, the two texts mean the same; at place there is value (NULL: nothing). */
static int check_result(const struct str *before, const struct str *after, const char *name,
                        json_place place, const cJSON *value, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *old = NULL, *new = NULL;
	const cJSON *there;
	bool is_read = json_edit_parse(before, name, &old, e) >= 0 &&
	               json_edit_parse(after, name, &new, e) == 0;

	there = json_edit_find(new, place);
	if (!is_read || (value ? !there || !cJSON_Compare(there, value, 1) : there != NULL))
		return err_set(e, ERR_BUG,
		               "%s: cannot be changed without touching other parts of it; edit it "
		               "by hand",
		               name);
	if (!old)
		old = cJSON_CreateObject();
	forget(old, place);
	forget(new, place);
	if (json_twice(old))
		return err_set(e, ERR_INPUT, "%s: \"%s\" appears twice; remove one", name,
		               json_twice(old));
	if (!cJSON_Compare(old, new, 1))
		return err_set(e, ERR_BUG, "%s: something else would change", name);
	return 0;
}

/* Adopts the changed text, if it is correct. */
static int take_over(struct str *text, struct str *changed, const char *name, json_place place,
                     const cJSON *value, struct err *e)
{
	if (check_result(text, changed, name, place, value, e))
		return -1;
	str_move(text, changed);
	return 0;
}

int json_edit_set(struct str *text, const char *name, json_place place, const cJSON *value,
                  struct err *e)
{
	OWNED(str) struct str changed = { 0 }, piece = { 0 }, indent = { 0 };
	OWNED(cJSON_ptr) cJSON *tree = NULL;
	struct object o;
	struct layout l;
	json_place missing;

	str_add_bytes(&changed, str_text(text), text->length);
	if (str_text(text)[skip_space(str_text(text), 0)] == '\0') {
		str_reset(&changed);
		str_add(&changed, "{}\n");
	}
	l = layout_of(str_text(&changed), skip_space(str_text(&changed), 0));
	if (descend(&changed, name, place, &o, &missing, e))
		return -1;
	tree = wrap(missing, value);
	if (o.matches == 0) {
		insert(&changed, &o, *missing, tree, &l);
	} else {
		size_t start;

		if (indent_of(str_text(&changed), o.found.key, &start))
			l.unit[0] = '\0';
		add_line_indent(&indent, str_text(&changed), o.found.key);
		print(&piece, value, &l, str_text(&indent));
		splice(&changed, o.found.value, o.found.end, &piece);
	}
	return take_over(text, &changed, name, place, value, e);
}

int json_edit_remove(struct str *text, const char *name, json_place place, struct err *e)
{
	OWNED(str) struct str changed = { 0 };
	static const struct str NOTHING = { 0 };
	struct object o;
	json_place missing;

	if (str_text(text)[skip_space(str_text(text), 0)] == '\0')
		return 0;
	str_add_bytes(&changed, str_text(text), text->length);
	if (descend(&changed, name, place, &o, &missing, e))
		return -1;
	if (o.matches == 0 || missing[1])
		return 0;
	if (o.before > 0)
		splice(&changed, o.before, o.found.end, &NOTHING);
	else if (o.after > 0)
		splice(&changed, o.found.key, o.after, &NOTHING);
	else
		splice(&changed, o.open + 1, o.close, &NOTHING);
	return take_over(text, &changed, name, place, NULL, e);
}
