#include "envelope.h"

#include "channel.h"
#include "json_check.h"

#include <string.h>

static const char *const METHODS[] = {
	[ENVELOPE_PERMISSION] = "session/request_permission",
	[ENVELOPE_WRITE] = "fs/write_text_file",
	[ENVELOPE_TERMINAL] = "terminal/create",
};

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

/* A request, or an answer: a valid line holds one of them, and no other inside. */
static bool is_held(const struct json_peek *peek)
{
	return peek->has[JSON_PEEK_ID] || peek->unclear || kind_of(peek->method) != ENVELOPE_PASSES;
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

/* To readers that parse values, not lines, a line that is not a whole value may continue the next
 * one. A line that is one is no part of another, as none of them is begun. */
static enum envelope_kind kind_of_other(const char *line, size_t length)
{
	const char *end = line + length, *begin = begin_of(line, end);

	if (json_check_is_whole(line, length) || json_check_is_blank(line, length))
		return ENVELOPE_PASSES;
	return begin < end && *begin == '{' ? ENVELOPE_REFUSED : ENVELOPE_NOISE;
}

static bool is_ambiguous(const char *line, const char *end, const struct json_peek *peek)
{
	return peek->unclear || is_batch(line, end) || hides_one(line, end);
}

bool envelope_is_unclear(const char *line, size_t length, const struct json_peek *peek)
{
	return is_ambiguous(line, line + length, peek) ||
	       kind_of_other(line, length) != ENVELOPE_PASSES;
}

enum envelope_kind envelope_kind_of(const char *line, size_t length, const struct json_peek *peek)
{
	const char *end = line + length;
	enum envelope_kind kind = kind_of(peek->method);

	if (is_ambiguous(line, end, peek))
		return ENVELOPE_REFUSED;
	if (kind == ENVELOPE_PASSES)
		return kind_of_other(line, length);
	return peek->id[0] && length <= CHANNEL_LINE ? kind : ENVELOPE_REFUSED;
}

cJSON *envelope_read(const char *line, size_t length, struct err *e)
{
	cJSON *root;

	if ((unsigned char)line[0] >= 0x7f) { /* a mark of UTF-8, which not every reader skips */
		err_tell(e, ERR_INPUT, "the message is not valid JSON");
		return NULL;
	}
	root = json_read_strictly(line, length, "the message", e);
	if (root && !json_check_is_whole(line, length)) {
		err_tell(e, ERR_INPUT, "the message is not valid JSON");
		cJSON_Delete(root);
		return NULL;
	}
	if (root && !cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(root, "params"))) {
		err_tell(e, ERR_INPUT, "params must be an object");
		cJSON_Delete(root);
		return NULL;
	}
	return root;
}
