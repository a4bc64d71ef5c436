#include "trace.h"

#include "json.h"
#include "str.h"

#include <stdbool.h>
#include <string.h>

/* The parts of a traceparent, by position; a '-' between each two. */
enum {
	VERSION = 0,
	VERSION_LENGTH = 2,
	TRACE_ID = 3,
	TRACE_ID_LENGTH = 32,
	PARENT_ID = 36,
	PARENT_ID_LENGTH = 16,
	FLAGS = 53,
	FLAGS_LENGTH = 2,
	LENGTH = 55
};

static bool is_hex(const char *text, size_t length)
{
	return strspn(text, "0123456789abcdef") >= length;
}

/* An id of only zeros is invalid. */
static bool is_id(const char *text, size_t length)
{
	return is_hex(text, length) && strspn(text, "0") < length;
}

static bool is_valid(const char *text)
{
	if (strlen(text) < LENGTH || !is_hex(text + VERSION, VERSION_LENGTH) ||
	    strncmp(text, "ff", VERSION_LENGTH) == 0)
		return false;
	if (text[TRACE_ID - 1] != '-' || text[PARENT_ID - 1] != '-' || text[FLAGS - 1] != '-')
		return false;
	return is_id(text + TRACE_ID, TRACE_ID_LENGTH) &&
	       is_id(text + PARENT_ID, PARENT_ID_LENGTH) && is_hex(text + FLAGS, FLAGS_LENGTH);
}

/* Makes one of a later version (section 3.2, "Versioning of traceparent") one of version 00: all
 * that is known of its flags is the lowest bit, sampled. */
static void downgrade(char *text)
{
	bool sampled = strchr("13579bdf", text[FLAGS + 1]) != NULL;

	memcpy(text + VERSION, "00", VERSION_LENGTH);
	memcpy(text + FLAGS, sampled ? "01" : "00", FLAGS_LENGTH);
}

char *trace_parent(const cJSON *meta)
{
	const char *text = json_text(meta, "traceparent");
	bool is_00 = text && strncmp(text, "00", VERSION_LENGTH) == 0;
	char *parent;

	if (!text || !is_valid(text) || (text[LENGTH] != '\0' && (is_00 || text[LENGTH] != '-')))
		return NULL;
	parent = xmalloc(LENGTH + 1);
	memcpy(parent, text, LENGTH);
	parent[LENGTH] = '\0';
	if (!is_00)
		downgrade(parent);
	return parent;
}
