#include "uplink.h"

#include "clock.h"
#include "config.h"
#include "instance.h"
#include "log.h"
#include "reach.h"
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	READ_BYTES = 64 << 10,
	TRY_MS = 50, /* between two attempts, initially */
	TRY_MAX_MS = 2000,
	START_AFTER_MS = 2000, /* a front that died is restarted sooner than this */
	START_WAIT_MS = 15000, /* for a system that we started */
};

static const char GREETING[] = "{\"agent-intercom\":1,\"hook\":\"acp\"}\n";

/* ---- the system ---- */

int uplink_system_find(struct uplink_system *s, const char *config_path, const char *database,
                       struct err *e)
{
	const struct config_source source = { .config = config_path, .database = database };
	OWNED(str) struct str note = { 0 };
	int failed = 0;

	s->shared = !locate_is_named(&source) && reach_shared_is_open(REACH_AGENTS) &&
	            locate_usual(&source, &s->is, &note, NULL) == 0;
	if (!s->shared)
		failed = locate_meant(&source, true, &s->is, &note, e);
	s->pause_ms = TRY_MS;
	s->started_ms = INT64_MIN / 2;
	s->named = locate_is_named(&source);
	if (note.length)
		log_warn("%s", str_text(&note));
	return failed;
}

void uplink_system_clear(struct uplink_system *s)
{
	located_clear(&s->is);
}

bool uplink_system_is_down(const struct uplink_system *s, int64_t now_ms)
{
	return s->lost_ms && now_ms - s->lost_ms >= UPLINK_DOWN_MS;
}

/* It may have been started from another environment, or have a new run directory. After the first
 * connection we stay with it: it knows what we asked. */
static void look_up(struct uplink_system *s)
{
	const struct config_source source = { .config = NULL };
	struct located found = { 0 };
	struct paths fresh = { 0 };
	OWNED(str) struct str note = { 0 };

	if (!s->named && !s->reached && locate_usual(&source, &found, &note, NULL) > 0) {
		located_clear(&s->is);
		s->is = found;
		s->shared = false;
	} else if (!s->shared && paths_open(s->is.paths.database, false, &fresh, NULL) == 0) {
		paths_clear(&s->is.paths);
		s->is.paths = fresh;
	}
}

static void start(struct uplink_system *s, int64_t now)
{
	struct err e = { 0 };

	if (s->shared || (s->reached && now - s->lost_ms < START_AFTER_MS) ||
	    now - s->started_ms < START_WAIT_MS ||
	    (s->reached && instance_is_stopped(s->is.paths.run)))
		return;
	s->started_ms = now;
	s->pause_ms = TRY_MS;
	log_info("starting agent-intercom");
	if (start_detached(s->is.paths.database, s->is.config ? s->is.config : "", &e))
		log_error("%s", e.text);
}

static void note_lost(struct uplink_system *s, int64_t now)
{
	if (!s->lost_ms) {
		s->lost_ms = now;
		s->pause_ms = TRY_MS;
	} else if (now - s->started_ms > START_WAIT_MS && s->pause_ms < TRY_MAX_MS) {
		s->pause_ms *= 2;
	}
	s->try_ms = now + s->pause_ms;
	start(s, now);
}

/* ---- a connection ---- */

static int connect_to(const struct uplink_system *s)
{
	return s->shared ? reach_shared(REACH_AGENTS, SOCK_STREAM) : reach_front(s->is.paths.run);
}

bool uplink_open(struct uplink *l, struct uplink_system *s, int64_t now)
{
	if (l->fd >= 0)
		return true;
	if (now < s->try_ms || s->opening >= UPLINK_OPENING)
		return false;
	l->fd = connect_to(s);
	if (l->fd < 0) {
		look_up(s);
		l->fd = connect_to(s);
	}
	if (l->fd < 0) {
		note_lost(s, now);
		return false;
	}
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
	s->reached = true;
	s->lost_ms = 0;
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

int uplink_read(struct uplink *l, struct uplink_system *s, lines_take *take, void *arg)
{
	char bytes[READ_BYTES];
	ssize_t n = read(l->fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0) {
		if (!l->greeted)
			note_lost(s, clock_monotonic_ms());
		return -1;
	}
	note_greeted(l, s);
	(void)lines_feed(&l->in, bytes, (size_t)n, take, arg);
	return 0;
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
