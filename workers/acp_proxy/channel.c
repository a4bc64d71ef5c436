#include "channel.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, KEPT_BYTES = 64 << 10 /* of memory, between two lines */ };

static void begin_line(struct channel *c)
{
	c->peek = (struct json_peek){ 0 };
	c->skips = false;
	if (c->line.capacity > KEPT_BYTES)
		str_clear(&c->line);
	else
		str_reset(&c->line);
}

static void add(struct channel *c, const char *piece, size_t length)
{
	json_peek_feed(&c->peek, piece, length);
	if (c->skips)
		return;
	str_add_bytes(&c->line, piece, length);
	c->skips = c->line.length > CHANNEL_MOST;
	if (c->skips)
		str_clear(&c->line);
}

static void end_line(struct channel *c)
{
	if (c->skips)
		c->by->refuse(c->by->arg, &c->peek);
	else if (c->line.length)
		c->by->take(c->by->arg, c->line.bytes, c->line.length, &c->peek);
	begin_line(c);
}

bool channel_is_open(const struct channel *c)
{
	return c->from >= 0 && c->queue.length - c->sent < CHANNEL_HIGH;
}

int channel_read(struct channel *c)
{
	char bytes[READ_BYTES];
	ssize_t n = read(c->from, bytes, sizeof(bytes));
	const char *at = bytes, *end;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0) {
		end_line(c);
		return -1;
	}
	while ((end = memchr(at, '\n', (size_t)(bytes + n - at)))) {
		add(c, at, (size_t)(end + 1 - at));
		end_line(c);
		at = end + 1;
	}
	if (at < bytes + n)
		add(c, at, (size_t)(bytes + n - at));
	return 0;
}

void channel_send(struct channel *c, const char *bytes, size_t length)
{
	if (!c->is_broken)
		str_add_bytes(&c->queue, bytes, length);
}

void channel_say(struct channel *c, struct str *message)
{
	str_add_char(message, '\n');
	channel_send(c, message->bytes, message->length);
}

void channel_write(struct channel *c)
{
	while (c->to >= 0 && c->sent < c->queue.length) {
		ssize_t n = write(c->to, c->queue.bytes + c->sent, c->queue.length - c->sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			c->is_broken = true;
			str_clear(&c->queue);
			c->sent = 0;
			return;
		}
		c->sent += (size_t)n;
	}
	if (c->sent < c->queue.length && c->sent < CHANNEL_HIGH)
		return;
	if (c->sent < c->queue.length)
		memmove(c->queue.bytes, c->queue.bytes + c->sent, c->queue.length - c->sent);
	c->queue.length -= c->sent;
	c->sent = 0;
	if (c->queue.length == 0 && c->queue.capacity > KEPT_BYTES)
		str_clear(&c->queue);
}

bool channel_is_empty(const struct channel *c)
{
	return c->sent == c->queue.length;
}

void channel_clear(struct channel *c)
{
	str_clear(&c->line);
	str_clear(&c->queue);
	c->sent = 0;
}
