#include "gate_defer.h"

#include "err.h"
#include "io.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TAIL_BYTES = GATE_INPUT_BYTES + (1 << 20), /* the call itself, and what is around it */
	LOOKS = 40,
	LOOK_MS = 25,
	LATE_MS = 250, /* a line is written so much after the one before it at most: seen, 100 */
};

/* ---- the transcript ---- */

/* Compares numbers between dots; a part that is missing is 0. */
static bool is_at_least(const char *version, const char *least)
{
	while (*version || *least) {
		char *end, *least_end;
		long a = strtol(version, &end, 10), b = strtol(least, &least_end, 10);

		if ((*version && end == version) || (*least && least_end == least))
			return false;
		if (a != b)
			return a > b;
		version = end + (*end == '.');
		least = least_end + (*least_end == '.');
	}
	return true;
}

/* What a line says of a message of the model. */
struct said {
	const char *message, *version; /* borrowed */
	int calls; /* of tools */
	bool has_it; /* the one that is looked for */
	bool is_aside; /* of a subagent */
};

static bool read_line(const cJSON *line, const char *tool_use_id, struct said *ret)
{
	const cJSON *message = cJSON_GetObjectItemCaseSensitive(line, "message");
	const cJSON *content = cJSON_GetObjectItemCaseSensitive(message, "content");
	const cJSON *one;

	*ret = (struct said){ .message = json_text(message, "id"),
		              .version = json_text(line, "version"),
		              .is_aside = cJSON_IsTrue(
		                  cJSON_GetObjectItemCaseSensitive(line, "isSidechain")) };
	cJSON_ArrayForEach (one, content) {
		const char *type = json_text(one, "type"), *id = json_text(one, "id");

		if (!type || strcmp(type, "tool_use") != 0)
			continue;
		ret->calls++;
		ret->has_it |= id && strcmp(id, tool_use_id) == 0;
	}
	return ret->message && ret->calls;
}

/* The message in which the call stands, as its line says; NULL: none. The caller deletes it. */
static cJSON *find_line(const char *text, const char *tool_use_id)
{
	const char *at = text, *end;
	struct said said;

	for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		cJSON *line = memmem(at, (size_t)(end - at), tool_use_id, strlen(tool_use_id))
		                  ? cJSON_ParseWithLength(at, (size_t)(end - at))
		                  : NULL;

		if (line && read_line(line, tool_use_id, &said) && said.has_it)
			return line;
		cJSON_Delete(line);
	}
	return NULL;
}

/* How many calls stand in a message, each in a line of its own or several in one. */
static int count_calls(const char *text, const char *message)
{
	const char *at = text, *end;
	struct said said;
	int count = 0;

	for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		OWNED(cJSON_ptr)
		cJSON *line = memmem(at, (size_t)(end - at), message, strlen(message))
		                  ? cJSON_ParseWithLength(at, (size_t)(end - at))
		                  : NULL;

		if (line && read_line(line, "", &said) && strcmp(said.message, message) == 0)
			count += said.calls;
	}
	return count;
}

static bool is_known(const struct gate_host *host, const char *version)
{
	return version && is_at_least(version, host->defers_since) &&
	       !is_at_least(version, host->defers_before);
}

enum gate_defer_found gate_defer_find(const struct gate_host *host, const char *text,
                                      const char *tool_use_id)
{
	OWNED(cJSON_ptr) cJSON *line = find_line(text, tool_use_id);
	struct said said;

	if (!line || !read_line(line, tool_use_id, &said))
		return GATE_DEFER_UNKNOWN;
	return !said.is_aside && is_known(host, said.version) &&
	               count_calls(text, said.message) == 1
	           ? GATE_DEFER_ALONE
	           : GATE_DEFER_WRONG;
}

/* ---- the call ---- */

/* The last lines of a file that is there; the first may be a part of one. */
static int read_tail(const char *path, struct str *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), failed = -1;
	struct stat at;

	if (fd >= 0 && fstat(fd, &at) == 0 && S_ISREG(at.st_mode)) {
		off_t from = at.st_size > TAIL_BYTES ? at.st_size - TAIL_BYTES : 0;
		size_t left = (size_t)(at.st_size - from);
		char bytes[16 << 10];
		ssize_t n = 1;

		while (left && (n = pread(fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes),
		                          from)) > 0) {
			str_add_bytes(out, bytes, (size_t)n);
			from += n;
			left -= (size_t)n;
		}
		failed = n < 0 ? -1 : 0;
	}
	io_shut(&fd);
	return failed;
}

bool gate_defer_fits(const struct gate_input *in)
{
	return in->host->defers_since && in->event == GATE_PRE_TOOL && !in->agent &&
	       in->tool_use_id && in->session && in->transcript;
}

static enum gate_defer_found look(const struct gate_input *in)
{
	OWNED(str) struct str text = { 0 };

	return read_tail(in->transcript, &text)
	           ? GATE_DEFER_UNKNOWN
	           : gate_defer_find(in->host, str_text(&text), in->tool_use_id);
}

bool gate_defer_may(const struct gate_input *in)
{
	enum gate_defer_found found = gate_defer_fits(in) ? look(in) : GATE_DEFER_WRONG;

	for (int i = 0; i < LOOKS && found == GATE_DEFER_UNKNOWN; i++) {
		(void)poll(NULL, 0, LOOK_MS);
		found = look(in);
	}
	if (found != GATE_DEFER_ALONE)
		return false;
	(void)poll(NULL, 0, LATE_MS); /* for the next call of the same message */
	return look(in) == GATE_DEFER_ALONE;
}
