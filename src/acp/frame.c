#include "frame.h"

#include <string.h>
#include <strings.h>

enum {
	KEPT_BYTES = 64 << 10, /* of memory, between two messages */
	LENGTH_DIGITS = 9, /* of a Content-Length; more of them are none */
};

static void forget(struct acp_frame *f)
{
	f->is_over = false;
	f->peek = (struct json_peek){ 0 };
	if (f->rest.capacity > KEPT_BYTES)
		str_clear(&f->rest);
	else
		str_reset(&f->rest);
}

/* A piece of a message. What is too long is only looked at. */
static void add(struct acp_frame *f, const char *piece, size_t length)
{
	if (!f->is_over && length > f->most - f->rest.length) {
		f->is_over = true;
		json_peek_feed(&f->peek, str_text(&f->rest), f->rest.length);
		str_clear(&f->rest);
	}
	if (f->is_over)
		json_peek_feed(&f->peek, piece, length);
	else
		str_add_bytes(&f->rest, piece, length);
}

static bool is_blank(const struct str *line)
{
	return strspn(str_text(line), " \t") == line->length;
}

/* The message is complete. */
static bool end(struct acp_frame *f, acp_frame_take *take, void *arg)
{
	bool more = true;

	if (f->is_over)
		more = take(arg, NULL, 0, &f->peek);
	else if (!is_blank(&f->rest))
		more = take(arg, f->rest.bytes, f->rest.length, NULL);
	forget(f);
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
	long length = f->is_over ? -1 : content_length(str_text(&f->rest));

	if (length > 0)
		f->left = (size_t)length;
	else if (f->rest.length == 0 && !f->is_over)
		f->in_body = f->left > 0;
	else if (f->is_over || !is_header(str_text(&f->rest)))
		return end(f, take, arg);
	forget(f);
	return true;
}

/* Takes what belongs to the body, and returns how much that is. */
static size_t feed_body(struct acp_frame *f, const char *bytes, size_t length, acp_frame_take *take,
                        void *arg, bool *more)
{
	size_t n = length < f->left ? length : f->left;

	add(f, bytes, n);
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

	add(f, bytes, n);
	if (!newline)
		return n;
	drop_cr(&f->rest);
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

	if (f->framing == ACP_NDJSON && (f->is_over || f->rest.length)) {
		drop_cr(&f->rest);
		more = end(f, take, arg);
	}
	acp_frame_clear(f);
	return more;
}

void acp_frame_clear(struct acp_frame *f)
{
	str_clear(&f->rest);
	f->peek = (struct json_peek){ 0 };
	f->is_over = f->in_body = false;
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
