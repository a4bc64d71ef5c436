#include "uplink.h"

#include "clock.h"
#include "json.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10 };

static const char GREETING[] = "{\"agent-intercom\":1,\"hook\":\"acp\"}\n";

/* ---- the system ---- */

bool uplink_system_is_down(const struct uplink_system *s, int64_t now_ms)
{
	return s->to.lost_ms && (s->refusal.length || now_ms - s->to.lost_ms >= UPLINK_DOWN_MS);
}

void uplink_system_clear(struct uplink_system *s)
{
	contact_clear(&s->to);
	str_clear(&s->refusal);
}

/* Somebody has to mend something, and the editor's user is told what: until then it is down. */
static void note_refusal(struct uplink_system *s)
{
	OWNED(str) struct str text = { 0 };

	str_add(&text, "agent-intercom does not start: ");
	if (contact_start_ended(&s->to, &text) == START_GOES_ON)
		return;
	if (strcmp(str_text(&s->refusal), text.bytes) != 0)
		log_error("%s", text.bytes);
	str_move(&s->refusal, &text);
}

static void note_lost(struct uplink_system *s, int64_t now)
{
	contact_lost(&s->to, now);
	s->try_ms = now + contact_wait_ms(&s->to, now);
}

/* ---- a connection ---- */

static int connect_or_start(struct uplink_system *s, bool starts, int64_t now)
{
	int fd = contact_connect(&s->to);

	if (fd >= 0)
		return fd;
	contact_lost(&s->to, now);
	if (starts) {
		fd = contact_start(&s->to, now);
		if (fd < 0)
			note_refusal(s);
	}
	s->try_ms = now + contact_wait_ms(&s->to, now);
	return fd;
}

bool uplink_may_open(const struct uplink *l, const struct uplink_system *s)
{
	return l->fd < 0 && s->opening < UPLINK_OPENING;
}

bool uplink_open(struct uplink *l, struct uplink_system *s, bool starts, int64_t now)
{
	if (!uplink_may_open(l, s) || now < s->try_ms)
		return false;
	l->fd = connect_or_start(s, starts, now);
	if (l->fd < 0)
		return false;
	(void)fcntl(l->fd, F_SETFL, O_NONBLOCK);
	s->opening++;
	l->greeted = false;
	str_add(&l->out, GREETING);
	return true;
}

static void note_greeted(struct uplink *l, struct uplink_system *s)
{
	if (l->greeted)
		return;
	l->greeted = true;
	s->opening--;
	contact_reached(&s->to);
	str_clear(&s->refusal);
	s->try_ms = 0;
}

void uplink_close(struct uplink *l, struct uplink_system *s)
{
	if (l->fd >= 0) {
		(void)close(l->fd);
		if (!l->greeted)
			s->opening--;
	}
	l->fd = -1;
	l->greeted = false;
	lines_clear(&l->in);
	str_clear(&l->out);
}

void uplink_send(struct uplink *l, const char *line, size_t length)
{
	str_add_bytes(&l->out, line, length);
	str_add_char(&l->out, '\n');
}

struct reading {
	struct uplink *link;
	struct uplink_system *system;
	lines_take *take;
	void *arg;
	bool refused;
};

/* A system of the machine that does not serve our user says so: we need one of our own. */
static void take_refusal(struct reading *r, const char *why)
{
	struct uplink_system *s = r->system;
	struct err e = { 0 };

	r->refused = true;
	if (!s->to.lost_ms)
		log_warn("%s", why ? why : "agent-intercom says something that is not understood");
	if (!s->to.shared || s->to.reached)
		return;
	if (contact_leave_shared(&s->to, &e))
		log_error("%s", e.text);
}

static bool take_any(void *arg, const char *line, size_t length)
{
	struct reading *r = arg;

	if (r->link->greeted)
		return r->take(r->arg, line, length);
	OWNED(cJSON_ptr) cJSON *greeting = line ? cJSON_ParseWithLength(line, length) : NULL;

	if (json_text(greeting, "key"))
		note_greeted(r->link, r->system);
	else
		take_refusal(r, json_text(greeting, "error"));
	return !r->refused;
}

int uplink_read(struct uplink *l, struct uplink_system *s, lines_take *take, void *arg)
{
	struct reading r = { .link = l, .system = s, .take = take, .arg = arg };
	char bytes[READ_BYTES];
	ssize_t n = read(l->fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n > 0)
		(void)lines_feed(&l->in, bytes, (size_t)n, take_any, &r);
	if (n > 0 && !r.refused)
		return 0;
	if (!l->greeted)
		note_lost(s, clock_monotonic_ms());
	return -1;
}

int uplink_write(struct uplink *l)
{
	size_t sent = 0;

	while (sent < l->out.length) {
		ssize_t n = send(l->fd, l->out.bytes + sent, l->out.length - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -1;
		if (n < 0)
			break;
		sent += (size_t)n;
	}
	if (sent) {
		memmove(l->out.bytes, l->out.bytes + sent, l->out.length - sent);
		l->out.length -= sent;
	}
	if (!l->out.length)
		str_clear(&l->out);
	return 0;
}
