#include "look_line.h"

#include "clock.h"
#include "pack.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

/* One call, once the other side is ready for it. The number of bytes, 0 at its end, -1 error. */
static ssize_t transfer(int fd, int64_t end_ms, char *bytes, size_t length, bool out)
{
	struct pollfd p = { .fd = fd, .events = out ? POLLOUT : POLLIN };
	int64_t left_ms;
	int ready;

	do {
		left_ms = end_ms - clock_monotonic_ms();
		ready = poll(&p, 1, left_ms > 0 ? (int)left_ms : 0);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return -1;
	return out ? send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT)
	           : recv(fd, bytes, length, MSG_DONTWAIT);
}

static bool transfer_all(int fd, int64_t end_ms, char *bytes, size_t length, bool out)
{
	while (length > 0) {
		ssize_t n = transfer(fd, end_ms, bytes, length, out);

		if (n <= 0)
			return false;
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

/* Takes a message, without its length. */
static bool receive(int fd, int64_t end_ms, struct str *out)
{
	char bytes[8192];
	size_t left;

	if (!transfer_all(fd, end_ms, bytes, PACK_HEAD_BYTES, false))
		return false;
	left = pack_length(bytes);
	if (left > HAND_FOUND_BYTES)
		return false;
	while (left > 0) {
		ssize_t n =
		    transfer(fd, end_ms, bytes, left < sizeof(bytes) ? left : sizeof(bytes), false);

		if (n <= 0)
			return false;
		str_add_bytes(out, bytes, (size_t)n);
		left -= (size_t)n;
	}
	return true;
}

bool look_line_ask(int fd, int64_t end_ms, const struct hand_ask *ask, struct hand_found *found)
{
	OWNED(str) struct str question = { 0 };
	OWNED(str) struct str answer = { 0 };

	hand_ask_write(ask, &question);
	return transfer_all(fd, end_ms, question.bytes, question.length, true) &&
	       receive(fd, end_ms, &answer) && hand_found_read(ask, &answer, found) == 0;
}
