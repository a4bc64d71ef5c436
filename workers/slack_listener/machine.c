/* When connections are opened, replaced and given up.
 *
 * One is held. From time to time Slack asks to replace it: the successor is opened first, and once
 * that has said hello the old one writes its acks and is closed. A connection that ends or falls
 * silent is reopened, after a pause that doubles with each failure. All instants are those of
 * clock_monotonic_ms. */
#include "listener.h"

#include "clock.h"
#include "log.h"
#include "random.h"
#include "setting.h"

#include <stdio.h>
#include <string.h>

static void set_state(struct link *link, enum link_state state)
{
	link->state = state;
	link->since_ms = clock_monotonic_ms();
}

static bool is_up(const struct link *link)
{
	return link->state == LINK_READY && !link->replace;
}

static bool is_coming(const struct listener *l)
{
	for (int i = 0; i < LISTENER_LINKS; i++)
		if (l->links[i].state == LINK_CONNECTING || l->links[i].state == LINK_WAIT_HELLO)
			return true;
	return l->opening;
}

static bool has_one(const struct listener *l)
{
	for (int i = 0; i < LISTENER_LINKS; i++)
		if (is_up(&l->links[i]))
			return true;
	return false;
}

/* Also through one that is to be replaced. */
static bool hears(const struct listener *l)
{
	for (int i = 0; i < LISTENER_LINKS; i++)
		if (l->links[i].state == LINK_READY)
			return true;
	return false;
}

/* ---- reporting ---- */

/* Sets what `ctl health` shows. */
static void say(struct listener *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct listener *l, const char *format, ...)
{
	struct err e = { 0 };
	char text[sizeof(l->state)];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (strcmp(text, l->state) == 0)
		return;
	memcpy(l->state, text, sizeof(text));
	if (worker_ready(&l->worker, text, &e))
		log_warn("%s", e.text);
}

/* ---- pauses ---- */

static void wait_at_least(struct listener *l, int64_t ms)
{
	int64_t at = clock_monotonic_ms() + ms;

	if (at > l->next_ms)
		l->next_ms = at;
}

/* Half of the pause is fixed, half is random, so that many listeners do not return at the same
 * time. */
static void pause_longer(struct listener *l)
{
	l->lost_ms = clock_now_ms();
	wait_at_least(l, l->pause_ms / 2 + random_below(l->pause_ms / 2 + 1));
	l->pause_ms = l->pause_ms * 2 > l->pause_max_ms ? l->pause_max_ms : l->pause_ms * 2;
}

/* ---- opening ---- */

/* If all are in use: the oldest that hears nothing more. */
static struct link *free_link(struct listener *l)
{
	struct link *oldest = NULL;

	for (int i = 0; i < LISTENER_LINKS; i++) {
		struct link *link = &l->links[i];

		if (link->state == LINK_FREE)
			return link;
		if (link->state != LINK_READY && (!oldest || link->since_ms < oldest->since_ms))
			oldest = link;
	}
	if (oldest)
		link_drop(oldest);
	return oldest;
}

static void begin_open(struct listener *l)
{
	OWNED(str) struct str form = { 0 };

	l->opening = true;
	l->lost_ms = 0;
	slack_call_start(&l->web, &l->open, "apps.connections.open", &form, SLACK_CALL_MS);
}

static void open_failed(struct listener *l, const struct slack_call *c)
{
	bool person = c->class == SLACK_TOKEN || c->status == 404 ||
	              strcmp(c->error, "forbidden_team") == 0 ||
	              strcmp(c->error, "team_disabled") == 0 ||
	              strcmp(c->error, "user_removed_from_team") == 0;

	if (person) {
		log_error("Slack refuses the app token: %s; checked again in %d s", c->why,
		          LISTENER_FINAL_MS / 1000);
		wait_at_least(l, LISTENER_FINAL_MS);
		say(l, "not connected: Slack refuses the app token: %.120s", c->why);
		return;
	}
	if (c->class == SLACK_RATE)
		wait_at_least(l, c->retry_ms + random_below(1000));
	pause_longer(l);
	if (c->class == SLACK_RATE)
		l->lost_ms = 0;
	log_warn("cannot open a connection to Slack: %s; next attempt in %lld ms", c->why,
	         (long long)(l->next_ms - clock_monotonic_ms()));
	if (!has_one(l))
		say(l, "not connected: %.150s", c->why);
}

static void opened(struct listener *l)
{
	struct slack_call *c = &l->open;
	char *url = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(c->json, "url"));
	struct link *link;
	struct err e = { 0 };

	l->opening = false;
	if (c->class != SLACK_OK) {
		open_failed(l, c);
	} else if (!url || !(link = free_link(l)) || link_connect(link, url, &e)) {
		pause_longer(l);
		log_warn("cannot open a connection to Slack: %s",
		         *e.text ? e.text : "the answer names no address");
	}
	if (url) /* it contains a ticket, which is a credential */
		explicit_bzero(url, strlen(url));
	if (c->answer.length)
		explicit_bzero(c->answer.bytes, c->answer.length);
	slack_call_clear(c);
}

/* ---- what Slack says ---- */

/* Another process with our token would receive half of the clicks. */
static void count_connections(struct listener *l, int theirs)
{
	int ours = 0;

	for (int i = 0; i < LISTENER_LINKS; i++)
		ours += l->links[i].state != LINK_FREE;
	if (theirs > ours && theirs != l->warned)
		log_warn("Slack counts %d connections with our app token, %d of them ours: another "
		         "program uses this token and receives some of the clicks",
		         theirs, ours);
	l->warned = theirs > ours ? theirs : 0;
}

void machine_hello(struct link *link, const struct slack_frame *f)
{
	struct listener *l = link->listener;

	if (link->state != LINK_WAIT_HELLO)
		return; /* a repeated hello */
	set_state(link, LINK_READY);
	log_info("connection %u to Slack is ready", link->number);
	count_connections(l, f->connections);
	for (int i = 0; i < LISTENER_LINKS; i++)
		if (&l->links[i] != link && l->links[i].state == LINK_READY)
			set_state(&l->links[i], LINK_DRAINING);
	say(l, "connected");
}

void machine_disconnect(struct link *link, const char *reason)
{
	struct listener *l = link->listener;

	log_info("connection %u: Slack asks to leave it (%s)", link->number, reason);
	if (strcmp(reason, "too_many_websockets") == 0) {
		log_warn("Slack has too many connections of our app; other programs use its "
		         "app token");
		link_close(link);
		wait_at_least(l, LISTENER_CROWD_MIN_MS +
		                     random_below(LISTENER_CROWD_MAX_MS - LISTENER_CROWD_MIN_MS));
		say(l, "not connected: too many connections with our app token");
	} else if (strcmp(reason, "link_disabled") == 0) {
		log_error("Socket Mode is switched off for the app; switch it on in the app's "
		          "settings");
		link_close(link);
		wait_at_least(l, LISTENER_FINAL_MS);
		say(l, "not connected: Socket Mode is switched off for the app");
	} else if (link->state == LINK_READY) {
		link->replace = true;
	} else if (link->state == LINK_WAIT_HELLO) {
		link_close(link);
		pause_longer(l);
	}
}

void machine_gone(struct link *link, const char *why)
{
	struct listener *l = link->listener;
	enum link_state was = link->state;

	link->state = LINK_FREE;
	if (was == LINK_DRAINING || was == LINK_CLOSING || l->worker.stopping)
		return;
	log_warn("connection %u to Slack: %s", link->number, why);
	if (was == LINK_READY && link->replace)
		return; /* its successor is being opened */
	pause_longer(l);
	if (!has_one(l))
		say(l, "not connected: %.150s", why);
}

/* ---- time ---- */

static void give_up(struct link *link, const char *why)
{
	machine_gone(link, why);
	link_drop(link);
}

/* Whether our PING is unanswered. Silence alone proves nothing: this process may have been
 * stopped. */
static bool is_asked(const struct link *link)
{
	return link->pinged_ms > link->heard_ms;
}

static void look_at_ready(struct link *link, int64_t now)
{
	if (is_asked(link) && now - link->pinged_ms >= LISTENER_PONG_MS)
		give_up(link, "it is silent for 30 s");
	else if (!is_asked(link) && now - link->heard_ms >= LISTENER_PING_MS)
		link_ping(link);
	else if (now - link->since_ms >= LISTENER_SETTLED_MS)
		link->listener->pause_ms = LISTENER_BACKOFF_MS;
}

static void look_at(struct link *link, int64_t now)
{
	switch (link->state) {
	case LINK_CONNECTING:
		if (now - link->since_ms >= LISTENER_CONNECT_MS)
			give_up(link, "not established within 10 s");
		break;
	case LINK_WAIT_HELLO:
		if (now - link->since_ms >= LISTENER_HELLO_MS)
			give_up(link, "no hello within 10 s");
		break;
	case LINK_READY:
		look_at_ready(link, now);
		break;
	case LINK_DRAINING:
		if (now - link->since_ms >= LISTENER_DRAIN_MS)
			link_close(link);
		break;
	case LINK_CLOSING:
		if (now - link->since_ms >= LISTENER_CLOSE_MS)
			link_drop(link);
		break;
	case LINK_FREE:
		break;
	}
}

static int64_t due_of(const struct link *link)
{
	switch (link->state) {
	case LINK_CONNECTING:
		return link->since_ms + LISTENER_CONNECT_MS;
	case LINK_WAIT_HELLO:
		return link->since_ms + LISTENER_HELLO_MS;
	case LINK_READY:
		return is_asked(link) ? link->pinged_ms + LISTENER_PONG_MS
		                      : link->heard_ms + LISTENER_PING_MS;
	case LINK_DRAINING:
		return link->since_ms + LISTENER_DRAIN_MS;
	case LINK_CLOSING:
		return link->since_ms + LISTENER_CLOSE_MS;
	case LINK_FREE:
		break;
	}
	return INT64_MAX;
}

/* Ends a pause that began because Slack was unreachable, if slack-poster has reached Slack
 * since. */
static void heed_poster(struct listener *l)
{
	OWNED(str) struct str at = { 0 };

	l->rung = false;
	if (!l->lost_ms || has_one(l) || is_coming(l) || l->next_ms <= clock_monotonic_ms() ||
	    setting_get(&l->worker.store, "slack.reached_at", &at, NULL) <= 0 ||
	    clock_parse(str_text(&at)) <= l->lost_ms)
		return;
	log_info("slack-poster has reached Slack: connecting now");
	l->pause_ms = LISTENER_BACKOFF_MS;
	l->next_ms = clock_monotonic_ms();
}

int64_t machine_step(struct listener *l)
{
	int64_t now = clock_monotonic_ms(), due = INT64_MAX;

	if (l->rung)
		heed_poster(l);

	if (l->opening && l->open.done)
		opened(l);
	for (int i = 0; i < LISTENER_LINKS; i++)
		look_at(&l->links[i], now);
	if (!l->worker.stopping)
		gap_look(l, hears(l));
	if (!l->worker.stopping && !has_one(l) && !is_coming(l) && now >= l->next_ms)
		begin_open(l);
	for (int i = 0; i < LISTENER_LINKS; i++)
		if (due_of(&l->links[i]) < due)
			due = due_of(&l->links[i]);
	if (!l->worker.stopping && !has_one(l) && !is_coming(l) && l->next_ms < due)
		due = l->next_ms;
	return due;
}

void machine_stop(struct listener *l)
{
	l->opening = false;
	slack_call_clear(&l->open);
	for (int i = 0; i < LISTENER_LINKS; i++) {
		struct link *link = &l->links[i];

		if (link->state == LINK_CONNECTING || link->state == LINK_WAIT_HELLO)
			link_drop(link);
		else if (link->state == LINK_READY)
			set_state(link, LINK_DRAINING);
	}
}

bool machine_is_stopped(const struct listener *l)
{
	for (int i = 0; i < LISTENER_LINKS; i++)
		if (l->links[i].state != LINK_FREE)
			return false;
	return true;
}

void machine_fail(struct listener *l, const struct err *e)
{
	*l->failure = *e;
	l->worker.stopping = true;
}
