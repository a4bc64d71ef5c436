#include "frame.h"

#include <string.h>
#include <strings.h>

enum { LENGTH_DIGITS = 9 }; /* of a Content-Length; more of them are none */

static bool is_blank(const struct str *line)
{
	return strspn(str_text(line), " \t") == line->length;
}

/* The message is complete. */
static bool end(struct acp_frame *f, acp_frame_take *take, void *arg)
{
	const struct lines *m = &f->message;
	bool more = true;

	if (m->peek)
		more = take(arg, NULL, 0, m->peek);
	else if (!is_blank(&m->rest))
		more = take(arg, m->rest.bytes, m->rest.length, NULL);
	lines_forget(&f->message);
	return more;
}

static void drop_cr(struct str *line)
{
	if (line->length && line->bytes[line->length - 1] == '\r')
		line->bytes[--line->length] = '\0';
}

/* The number behind "Content-Length:", -1 for anything else. */
static long content_length(const char *line)
{
	static const char NAME[] = "content-length:";
	long length = 0;
	size_t digits;

	if (strncasecmp(line, NAME, strlen(NAME)) != 0)
		return -1;
	line += strlen(NAME);
	line += strspn(line, " \t");
	digits = strspn(line, "0123456789");
	if (digits == 0 || digits > LENGTH_DIGITS || line[digits + strspn(line + digits, " \t")])
		return -1;
	for (size_t i = 0; i < digits; i++)
		length = length * 10 + (line[i] - '0');
	return length;
}

/* A header, as Content-Type; what is none is handed over as it is, for the reader to complain. */
static bool is_header(const char *line)
{
	size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");

	return name > 0 && line[name] == ':';
}

/* A line before a body is complete. */
static bool end_header(struct acp_frame *f, acp_frame_take *take, void *arg)
{
	const char *line = f->message.peek ? NULL : str_text(&f->message.rest);
	long length = line ? content_length(line) : -1;

	if (length > 0)
		f->left = (size_t)length;
	else if (line && f->message.rest.length == 0)
		f->in_body = f->left > 0;
	else if (!line || !is_header(line))
		return end(f, take, arg);
	lines_forget(&f->message);
	return true;
}

/* Takes what belongs to the body, and returns how much that is. */
static size_t feed_body(struct acp_frame *f, const char *bytes, size_t length, acp_frame_take *take,
                        void *arg, bool *more)
{
	size_t n = length < f->left ? length : f->left;

	lines_add(&f->message, bytes, n);
	f->left -= n;
	if (f->left == 0) {
		f->in_body = false;
		*more = end(f, take, arg);
	}
	return n;
}

static size_t feed_line(struct acp_frame *f, const char *bytes, size_t length, acp_frame_take *take,
                        void *arg, bool *more)
{
	const char *newline = memchr(bytes, '\n', length);
	size_t n = newline ? (size_t)(newline - bytes) : length;

	lines_add(&f->message, bytes, n);
	if (!newline)
		return n;
	drop_cr(&f->message.rest);
	*more = f->framing == ACP_LSP ? end_header(f, take, arg) : end(f, take, arg);
	return n + 1;
}

bool acp_frame_feed(struct acp_frame *f, const char *bytes, size_t length, acp_frame_take *take,
                    void *arg)
{
	bool more = true;

	while (more && length > 0) {
		size_t n = f->in_body ? feed_body(f, bytes, length, take, arg, &more)
		                      : feed_line(f, bytes, length, take, arg, &more);

		bytes += n;
		length -= n;
	}
	return more;
}

bool acp_frame_end(struct acp_frame *f, acp_frame_take *take, void *arg)
{
	bool more = true;

	if (f->framing == ACP_NDJSON && (f->message.peek || f->message.rest.length)) {
		drop_cr(&f->message.rest);
		more = end(f, take, arg);
	}
	acp_frame_clear(f);
	return more;
}

void acp_frame_clear(struct acp_frame *f)
{
	lines_clear(&f->message);
	f->in_body = false;
	f->left = 0;
}

void acp_frame_add(struct str *out, enum acp_framing framing, const char *json)
{
	if (framing == ACP_LSP)
		str_addf(out, "Content-Length: %zu\r\n\r\n", strlen(json));
	str_add(out, json);
	if (framing == ACP_NDJSON)
		str_add_char(out, '\n');
}
