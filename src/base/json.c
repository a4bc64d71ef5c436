#include "json.h"

#include "err.h"
#include "json_writer.h"
#include "texts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

enum {
	EXACT_DIGITS = 15, /* any whole number of so many is a double */
	TOKEN_BYTES = 64, /* cJSON prints shorter ones */
	EXPONENT_MAX = 1 << 20,
};

/* A number as sign, digits without zeros at either end, and the power of ten of the last one. */
struct decimal {
	bool negative;
	char digits[TOKEN_BYTES];
	int count;
	long exponent;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes digits, and dots between them. Returns what follows. */
static const char *take_digits(const char *at, struct decimal *d)
{
	bool in_fraction = false;

	for (; is_digit(*at) || *at == '.'; at++) {
		if (*at == '.') {
			in_fraction = true;
			continue;
		}
		if ((d->count || *at != '0') && d->count < TOKEN_BYTES)
			d->digits[d->count++] = *at;
		d->exponent -= in_fraction;
	}
	return at;
}

static struct decimal decimal_of(const char *text)
{
	struct decimal d = { .negative = *text == '-' };
	const char *at = take_digits(text + d.negative, &d);
	long exponent = *at == 'e' || *at == 'E' ? strtol(at + 1, NULL, 10) : 0;

	if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
		exponent = exponent > 0 ? EXPONENT_MAX : -EXPONENT_MAX;
	d.exponent += exponent;
	for (; d.count && d.digits[d.count - 1] == '0'; d.count--)
		d.exponent++;
	if (!d.count)
		d.exponent = 0;
	return d;
}

static bool is_equal(const char *one, const char *other)
{
	const struct decimal a = decimal_of(one), b = decimal_of(other);

	return a.negative == b.negative && a.count == b.count && a.exponent == b.exponent &&
	       memcmp(a.digits, b.digits, (size_t)a.count) == 0;
}

/* Whether a token is a number of JSON: cJSON also takes 01, 1. and -.5. */
static bool is_strict(const char *at)
{
	at += *at == '-';
	if (*at == '0')
		at++;
	else if (is_digit(*at))
		at += strspn(at, "0123456789");
	else
		return false;
	if (*at == '.') {
		if (!is_digit(at[1]))
			return false;
		at += 1 + strspn(at + 1, "0123456789");
	}
	return !*at || *at == 'e' || *at == 'E'; /* an exponent is well-formed: cJSON has read it */
}

static bool is_mark(char c)
{
	return c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* The numbers of a text, one after the other. */
struct numbers {
	const char *at, *end;
	const char *start; /* of the last one */
	size_t length;
	char token[TOKEN_BYTES]; /* it, or as much of it as goes in: then it is kept as it is */
};

/* What follows the string that begins at at: a long one is passed in few steps. */
static const char *after_string(const char *at, const char *end)
{
	const char *quote = at++, *escape;

	while (at < end) {
		if (quote < at && !(quote = memchr(at, '"', (size_t)(end - at))))
			quote = end;
		escape = memchr(at, '\\', (size_t)(quote - at));
		if (!escape)
			return quote + 1;
		at = escape + 2;
	}
	return end + 1;
}

/* Finds the next number. False: there is none. */
static bool next_number(struct numbers *n)
{
	size_t length;

	while (n->at < n->end && *n->at != '-' && !is_digit(*n->at))
		n->at = *n->at == '"' ? after_string(n->at, n->end) : n->at + 1;
	if (n->at >= n->end)
		return false;
	n->start = n->at;
	while (n->at < n->end && (is_digit(*n->at) || is_mark(*n->at)))
		n->at++;
	n->length = (size_t)(n->at - n->start);
	length = n->length < sizeof(n->token) ? n->length : sizeof(n->token) - 1;
	memcpy(n->token, n->start, length);
	n->token[length] = '\0';
	return true;
}

/* Nearly every number: whole, short and in its usual spelling. */
static bool is_plain(const char *token)
{
	const char *digits = token + (*token == '-');
	size_t length = strspn(digits, "0123456789");

	return length <= EXACT_DIGITS && !digits[length] &&
	       (*digits != '0' || (length == 1 && digits == token)); /* not 01, not -0 */
}

static bool are_plain(struct numbers n)
{
	while (next_number(&n))
		if (!is_plain(n.token))
			return false;
	return true;
}

/* Whether the value is printed as what the number is. */
static bool is_exact(const cJSON *value, const struct numbers *n)
{
	char *shown = n->length < sizeof(n->token) ? cJSON_PrintUnformatted(value) : NULL;
	bool is_same = shown && is_equal(n->token, shown);

	cJSON_free(shown);
	return is_same;
}

static bool keep_number(cJSON *value, const struct numbers *n)
{
	if (is_exact(value, n))
		return is_strict(n->token);
	value->valuestring = cJSON_malloc(n->length + 1);
	if (!value->valuestring)
		return false;
	memcpy(value->valuestring, n->start, n->length);
	value->valuestring[n->length] = '\0';
	value->type = cJSON_Raw;
	return is_strict(value->valuestring);
}

/* Numbers stand in the text in the order of the tree, which is at most CJSON_NESTING_LIMIT deep. */
static bool keep_numbers(cJSON *value, struct numbers *n) /* NOLINT(misc-no-recursion) */
{
	cJSON *item;

	if (cJSON_IsNumber(value))
		return next_number(n) && keep_number(value, n);
	cJSON_ArrayForEach (item, value)
		if (!keep_numbers(item, n))
			return false;
	return true;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && *at && strchr(" \t\r\n", *at))
		at++;
	return at;
}

cJSON *json_read(const char *bytes, size_t length, const char **ret_end)
{
	const char *end = NULL;
	cJSON *root = cJSON_ParseWithLengthOpts(bytes, length, &end, false);
	struct numbers n = { .at = bytes, .end = end };

	if (ret_end)
		*ret_end = end;
	if (root && (ret_end || skip_blanks(end, bytes + length) == bytes + length) &&
	    (are_plain(n) || keep_numbers(root, &n)))
		return root;
	cJSON_Delete(root);
	return NULL;
}

bool json_number(const cJSON *value, double *ret)
{
	bool is_kept = cJSON_IsRaw(value);

	if (!is_kept && !cJSON_IsNumber(value))
		return false;
	*ret = is_kept ? strtod(value->valuestring, NULL) : value->valuedouble;
	return true;
}

/* ---- characters ---- */

/* Whether bytes begin with \uD... whose second digit is one of these. */
static bool is_surrogate(const char *bytes, size_t length, const char *digits)
{
	return length >= 6 && memcmp(bytes, "\\u", 2) == 0 && (bytes[2] | 0x20) == 'd' &&
	       strchr(digits, bytes[3]) && isxdigit((unsigned char)bytes[4]) &&
	       isxdigit((unsigned char)bytes[5]);
}

bool json_mend_surrogates(char *bytes, size_t length)
{
	static const char REPLACEMENT[] = { '\\', 'u', 'f', 'f', 'f', 'd' };
	bool mended = false;

	for (size_t at = 0; at < length; at++) {
		if (bytes[at] != '\\')
			continue;
		if (is_surrogate(bytes + at, length - at, "89ABab") &&
		    is_surrogate(bytes + at + 6, length - at - 6, "CDEFcdef")) {
			at += 11;
		} else if (is_surrogate(bytes + at, length - at, "89ABabCDEFcdef")) {
			memcpy(bytes + at, REPLACEMENT, sizeof(REPLACEMENT));
			mended = true;
			at += 5;
		} else {
			at++;
		}
	}
	return mended;
}

/* ---- lists ---- */

/* The length of the JSON value that begins here. */
static size_t value_length(const char *bytes, size_t length)
{
	int depth = 0;
	bool in_string = false;
	size_t i;

	for (i = 0; i < length; i++) {
		char c = bytes[i];

		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (in_string)
			continue;
		else if (c == '{' || c == '[')
			depth++;
		else if (depth == 0 && (c == ',' || c == ']'))
			break;
		else if (c == '}' || c == ']')
			depth--;
	}
	return i < length ? i : length;
}

void json_split(const char *bytes, size_t length, json_take *take, void *arg)
{
	const char *at = memchr(bytes, '[', length), *end = bytes + length;

	while (at && ++at < end && *at != ']') {
		size_t n = value_length(at, (size_t)(end - at));

		if (n == 0)
			break;
		take(arg, at, n);
		at += n;
		if (at < end && *at == ']')
			break;
	}
}

/* ---- texts ---- */

void json_add(struct str *out, const cJSON *value)
{
	char *text = cJSON_PrintUnformatted(value);

	str_add(out, text ? text : "null");
	cJSON_free(text);
}

void json_add_member(struct str *out, const char *name, const cJSON *value)
{
	json_member_name(out, name);
	json_add(out, value);
}

struct member {
	const cJSON *value;
};

static int by_name(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return strcmp(x->value->string, y->value->string);
}

static void canonical_object(struct str *out, const cJSON *object)
{
	int count = cJSON_GetArraySize(object), i = 0;
	struct member *members = xcalloc((size_t)count, sizeof(*members));
	const cJSON *value;

	cJSON_ArrayForEach (value, object)
		members[i++].value = value;
	qsort(members, (size_t)count, sizeof(*members), by_name);
	str_add_char(out, '{');
	for (i = 0; i < count; i++) {
		if (i > 0)
			str_add_char(out, ',');
		json_quote(out, members[i].value->string);
		str_add_char(out, ':');
		json_canonical(out, members[i].value);
	}
	str_add_char(out, '}');
	free(members);
}

void json_canonical(struct str *out, const cJSON *value)
{
	const cJSON *item;

	if (cJSON_IsObject(value)) {
		canonical_object(out, value);
	} else if (cJSON_IsArray(value)) {
		str_add_char(out, '[');
		cJSON_ArrayForEach (item, value) {
			if (item != value->child)
				str_add_char(out, ',');
			json_canonical(out, item);
		}
		str_add_char(out, ']');
	} else if (cJSON_IsString(value)) {
		json_quote(out, value->valuestring);
	} else {
		json_add(out, value);
	}
}

/* ---- ids ---- */

/* A number without a dot. One that is longer than any id of use stays as it is spelt. */
static void add_number(struct str *out, const char *token)
{
	enum { ZEROS_MAX = 20 }; /* at the end */
	struct decimal d;

	if (strlen(token) >= TOKEN_BYTES) {
		str_add(out, token);
		return;
	}
	d = decimal_of(token);
	if (!d.count) {
		str_add_char(out, '0');
		return;
	}
	if (d.negative)
		str_add_char(out, '-');
	str_add_bytes(out, d.digits, (size_t)d.count);
	if (d.exponent < 0 || d.exponent > ZEROS_MAX)
		str_addf(out, "e%ld", d.exponent);
	else if (d.exponent > 0)
		str_addf(out, "%0*d", (int)d.exponent, 0);
}

void json_add_id(struct str *out, const cJSON *id)
{
	char *shown;

	if (cJSON_IsRaw(id)) {
		add_number(out, id->valuestring);
	} else if (cJSON_IsNumber(id)) {
		shown = cJSON_PrintUnformatted(id);
		add_number(out, shown ? shown : "0");
		cJSON_free(shown);
	} else {
		json_canonical(out, id);
	}
}

void json_add_id_token(struct str *out, const char *token)
{
	OWNED(cJSON_ptr) cJSON *id = NULL;

	if (!is_plain(token))
		id = json_read(token, strlen(token), NULL);
	if (id)
		json_add_id(out, id);
	else
		str_add(out, token);
}

void cJSON_ptr_clear(cJSON **value)
{
	cJSON_Delete(*value);
	*value = NULL;
}

const cJSON *json_get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *json_text(const cJSON *object, const char *name)
{
	return cJSON_GetStringValue(json_get(object, name));
}

const char *json_text_or(const cJSON *object, const char *name, const char *other)
{
	const char *text = json_text(object, name);

	return text ? text : other;
}

const char *json_some_text(const cJSON *object, const char *name)
{
	return json_text_or(object, name, "");
}

int64_t json_integer(const cJSON *object, const char *name)
{
	const cJSON *item = json_get(object, name);

	return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
}

bool json_says(const cJSON *object, const char *name, const char *text)
{
	const char *said = json_text(object, name);

	return said && strcmp(said, text) == 0;
}

bool json_has_text(const cJSON *list, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, list)
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return true;
	return false;
}

void json_put_text(cJSON *object, const char *name, const char *text)
{
	if (text)
		(void)cJSON_AddStringToObject(object, name, text);
	else
		(void)cJSON_AddNullToObject(object, name);
}

void json_put_given(cJSON *object, const char *name, const char *text)
{
	if (text && *text)
		(void)cJSON_AddStringToObject(object, name, text);
}

/* ---- one meaning ---- */

static bool names_again(const cJSON *item)
{
	for (const cJSON *other = item->next; other; other = other->next)
		if (strcmp(item->string, other->string) == 0)
			return true;
	return false;
}

/* Of few members, comparing each with each takes no time; every message has some. */
static const char *twice_of_few(const cJSON *object)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, object)
		if (names_again(item))
			return item->string;
	return NULL;
}

/* The name of a member that is there twice, or NULL. */
static const char *twice_in(const cJSON *object)
{
	enum { FEW = 8 };
	size_t count = (size_t)cJSON_GetArraySize(object), n = 0;
	const char **names, *twice = NULL;
	const cJSON *item;

	if (count <= FEW)
		return twice_of_few(object);
	names = xcalloc(count, sizeof(*names));
	cJSON_ArrayForEach (item, object)
		names[n++] = item->string;
	qsort(names, count, sizeof(*names), texts_order);
	for (size_t i = 1; i < count && !twice; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			twice = names[i];
	free(names);
	return twice;
}

bool json_names_twice(const cJSON *object)
{
	return twice_in(object) != NULL;
}

/* The depth is limited by the parser. */
const char *json_twice(const cJSON *value) /* NOLINT(misc-no-recursion) */
{
	const char *twice = cJSON_IsObject(value) ? twice_in(value) : NULL;
	const cJSON *item;

	if (twice)
		return twice;
	cJSON_ArrayForEach (item, value) {
		twice = cJSON_IsObject(item) || cJSON_IsArray(item) ? json_twice(item) : NULL;
		if (twice)
			return twice;
	}
	return NULL;
}

static bool has_nul(const char *bytes, size_t length)
{
	static const char NUL[] = "\\u0000";
	const char *at = bytes, *end = bytes + length;

	if (memchr(bytes, '\0', length))
		return true;
	while (end - at >= (ptrdiff_t)sizeof(NUL) - 1 &&
	       (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
		if (end - at >= (ptrdiff_t)sizeof(NUL) - 1 && memcmp(at, NUL, sizeof(NUL) - 1) == 0)
			return true;
		at += end - at > 1 ? 2 : 1; /* it may escape a backslash */
	}
	return false;
}

/* " (line 2)", if there are several. */
static void add_line(struct str *out, const char *bytes, size_t length, const char *at)
{
	size_t line = 1;

	if (length < 2 || !memchr(bytes, '\n', length - 1))
		return;
	for (const char *c = bytes; c < at; c++)
		line += *c == '\n';
	str_addf(out, " (line %zu)", line);
}

/* Some do so beyond ASCII, too. */
void json_fold(char *name)
{
	static const struct {
		const char *form;
		char letter;
	} FOLDS[] = { { "\xc5\xbf", 's' },
		      { "\xc4\xb0", 'i' },
		      { "\xc4\xb1", 'i' },
		      { "\xe2\x84\xaa", 'k' } };
	char *to = name;

	for (const char *at = name; *at; at++, to++) {
		*to = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
		for (size_t i = 0; i < COUNT(FOLDS); i++)
			if (strncmp(at, FOLDS[i].form, strlen(FOLDS[i].form)) == 0) {
				*to = FOLDS[i].letter;
				at += strlen(FOLDS[i].form) - 1;
				break;
			}
	}
	*to = '\0';
}

cJSON *json_read_strictly(const char *bytes, size_t length, const char *what, struct err *e)
{
	const char *end = bytes, *after = bytes + length, *twice;
	OWNED(str) struct str line = { 0 };
	cJSON *root = NULL;

	if (!utf8_valid(bytes, length)) {
		err_tell(e, ERR_INPUT, "%s is not valid UTF-8", what);
		return NULL;
	}
	if (has_nul(bytes, length)) {
		err_tell(e, ERR_INPUT, "%s has a NUL character in it", what);
		return NULL;
	}
	root = json_read(bytes, length, &end);
	if (root)
		end = skip_blanks(end, after);
	twice = root ? json_twice(root) : NULL;
	if (root && end == after && !twice)
		return root;
	add_line(&line, bytes, length, end);
	if (!root)
		err_tell(e, ERR_INPUT, "%s is not valid JSON%s", what, str_text(&line));
	else if (end < after)
		err_tell(e, ERR_INPUT, "something follows the JSON of %s%s", what, str_text(&line));
	else
		err_tell(e, ERR_INPUT, "%s names '%.60s' twice", what, twice);
	cJSON_Delete(root);
	return NULL;
}
