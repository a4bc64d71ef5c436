#include "envelope.h"
#include "json_writer.h"

#include <math.h>
#include <string.h>

enum { KEYS_MAX = 2000 /* of one object */ };

static const char *const METHODS[] = {
	[ENVELOPE_PERMISSION] = "session/request_permission",
	[ENVELOPE_WRITE] = "fs/write_text_file",
	[ENVELOPE_TERMINAL] = "terminal/create",
};

static const double EXACT_MAX = 9007199254740992.0; /* 2^53 */

const char *envelope_method(enum envelope_kind kind)
{
	return METHODS[kind];
}

static enum envelope_kind kind_of(const char *method)
{
	for (size_t i = ENVELOPE_PERMISSION; i < COUNT(METHODS); i++)
		if (strcmp(METHODS[i], method) == 0)
			return (enum envelope_kind)i;
	return ENVELOPE_PASSES;
}

static bool is_held(const struct json_peek *peek)
{
	return peek->repeats || kind_of(peek->method) != ENVELOPE_PASSES;
}

/* Where the text begins that a reader may take as JSON: some drop more than blanks before it. */
static const char *begin_of(const char *line, const char *end)
{
	while (line < end && ((unsigned char)*line <= ' ' || (unsigned char)*line >= 0x7f))
		line++;
	return line;
}

/* A list of messages is none in this protocol, and no reader is to find one of ours in it. */
static bool is_batch(const char *line, const char *end)
{
	const char *at = begin_of(line, end);

	if (at == end || *at != '[')
		return false;
	at = begin_of(at + 1, end);
	return at < end && (*at == '{' || *at == '[');
}

/* Some readers end a line at a carriage return, too. */
static bool hides_one(const char *line, const char *end)
{
	const char *at = line, *cr;

	while ((cr = memchr(at, '\r', (size_t)(end - at))) && cr + 1 < end && cr[1] != '\n') {
		struct json_peek peek = { 0 };
		const char *next = memchr(cr + 1, '\r', (size_t)(end - cr - 1));

		at = cr + 1;
		json_peek_feed(&peek, at, (size_t)((next ? next : end) - at));
		if (is_held(&peek))
			return true;
	}
	return false;
}

bool envelope_is_guarded(const char *piece, size_t length, bool is_first,
                         const struct json_peek *peek)
{
	const char *end = piece + length, *cr = memchr(piece, '\r', length);

	if (cr && (cr + 1 == end || cr[1] != '\n'))
		return true;
	return is_held(peek) || (is_first && is_batch(piece, end));
}

enum envelope_kind envelope_kind_of(const char *line, size_t length, const struct json_peek *peek)
{
	const char *end = line + length;
	enum envelope_kind kind = kind_of(peek->method);

	if (peek->repeats || is_batch(line, end) || hides_one(line, end))
		return ENVELOPE_REFUSED;
	if (kind != ENVELOPE_PASSES && !peek->id[0])
		return ENVELOPE_REFUSED;
	return kind;
}

/* ---- strictly ---- */

static bool has_key_before(const cJSON *object, const cJSON *member)
{
	for (const cJSON *one = object->child; one != member; one = one->next)
		if (strcmp(one->string, member->string) == 0)
			return true;
	return false;
}

/* Of two members with one name, one reader takes the first and another the last. */
static bool is_unique(const cJSON *value)
{
	const cJSON *member;
	int count = 0;

	cJSON_ArrayForEach (member, value) {
		if (cJSON_IsObject(value) && (++count > KEYS_MAX || has_key_before(value, member)))
			return false;
		if (!is_unique(member)) /* cJSON nests 1000 deep at most */
			return false;
	}
	return true;
}

cJSON *envelope_read(const char *line, size_t length, const struct json_peek *peek, struct err *e)
{
	const char *end = NULL;
	cJSON *root;

	if (!utf8_valid(line, length) || peek->has_nul || memchr(line, '\0', length)) {
		err_tell(e, ERR_INPUT, "it is not valid UTF-8, or holds a NUL character");
		return NULL;
	}
	root = json_read(line, length, &end);
	while (root && end < line + length && strchr(" \t\r\n", *end))
		end++;
	if (!root || end != line + length || (unsigned char)line[0] >= 0x7f) {
		err_tell(e, ERR_INPUT, "it is not valid JSON");
	} else if (!is_unique(root)) {
		err_tell(e, ERR_INPUT, "an object in it has two members of one name");
	} else if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(root, "params"))) {
		err_tell(e, ERR_INPUT, "params must be an object");
	} else {
		return root;
	}
	cJSON_Delete(root);
	return NULL;
}

void envelope_add_id(struct str *out, const char *token)
{
	OWNED(cJSON_ptr) cJSON *id = cJSON_Parse(token);

	if (cJSON_IsString(id))
		json_quote(out, id->valuestring);
	else if (cJSON_IsNumber(id) && floor(id->valuedouble) == id->valuedouble &&
	         fabs(id->valuedouble) < EXACT_MAX)
		str_addf(out, "%.0f", id->valuedouble);
	else
		str_add(out, token);
}
