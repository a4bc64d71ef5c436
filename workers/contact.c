#include "contact.h"

#include "instance.h"
#include "log.h"
#include "reach.h"

#include <sys/socket.h>
#include <unistd.h>

enum {
	TRY_MS = 50, /* between two attempts, initially */
	TRY_SOON_MS = 10, /* while a system that we started begins, */
	SOON_MS = 1000, /* which takes no longer unless something is wrong */
	TRY_MAX_MS = 2000,
	START_AFTER_MS = 2000, /* a front that died is restarted sooner than this */
	START_WAIT_MS = 15000, /* for a system that we started */
	START_AGAIN_MS = 3000, /* after one that failed, the first times, or was not tried */
	FAILURES_TOLD =
	    3, /* so many starts are no accident: hosts wait 10 s or more for an answer */
};

/* A database that was lost is to be put back, folder and all: nothing is made in its place. */
static int find_meant(struct contact *c, const struct config_source *source, struct str *note,
                      struct err *e)
{
	OWNED(located) struct located found = { 0 };
	OWNED(str) struct str said = { 0 };
	bool is_lost = locate_meant(source, false, &found, &said, NULL) == 0 &&
	               instance_is_lost(found.paths.run, found.paths.database, NULL);

	return locate_meant(source, !is_lost, &c->is, note, e);
}

int contact_find(struct contact *c, const char *config, const char *database, struct err *e)
{
	const struct config_source source = { .config = config, .database = database };
	OWNED(str) struct str note = { 0 };
	int failed = 0;

	c->named = locate_is_named(&source);
	c->fixed = database;
	c->shared = !c->named && reach_shared_is_open(REACH_AGENTS) &&
	            locate_usual(&source, &c->is, &note, NULL) == 0;
	if (!c->shared)
		failed = find_meant(c, &source, &note, e);
	c->pause_ms = TRY_MS;
	c->started_ms = INT64_MIN / 2;
	if (note.length)
		log_warn("%s", str_text(&note));
	return failed;
}

void contact_clear(struct contact *c)
{
	located_clear(&c->is);
	str_clear(&c->lost);
}

int contact_leave_shared(struct contact *c, struct err *e)
{
	const struct config_source source = { .config = NULL };
	OWNED(str) struct str note = { 0 };

	int failed;

	c->shared = false;
	failed = find_meant(c, &source, &note, e);
	if (note.length)
		log_warn("%s", str_text(&note));
	return failed;
}

/* ---- where it is ---- */

/* One whose database was moved, or copied, while it was stopped: where its configuration says by
 * now, once a system runs there. Only a person knows when all is in place. */
static bool look_where_moved(struct contact *c)
{
	const struct config_source source = { .config = c->is.config && *c->is.config ? c->is.config
		                                                                      : NULL };
	OWNED(located) struct located found = { 0 };
	OWNED(str) struct str note = { 0 };

	if (!c->reached || c->shared || c->fixed ||
	    (!source.config && access(c->is.paths.database, F_OK) == 0))
		return false;
	if (locate_meant(&source, false, &found, &note, NULL) ||
	    instance_holder(found.paths.database, NULL) <= 0)
		return false;
	located_clear(&c->is);
	c->is = found;
	found = (struct located){ 0 };
	return true;
}

/* It may have been started from another environment, or have a new run directory. */
static void look_up(struct contact *c)
{
	const struct config_source source = { .config = NULL };
	struct located found = { 0 };
	struct paths fresh = { 0 };
	OWNED(str) struct str note = { 0 };

	if (!c->named && !c->reached && locate_usual(&source, &found, &note, NULL) > 0) {
		located_clear(&c->is);
		c->is = found;
		c->shared = false;
	} else if (!look_where_moved(c) && !c->shared &&
	           paths_open(c->is.paths.database, false, &fresh, NULL) == 0) {
		paths_clear(&c->is.paths);
		c->is.paths = fresh;
	}
}

static int try_to_connect(const struct contact *c)
{
	return c->shared ? reach_shared(REACH_AGENTS, SOCK_STREAM) : reach_front(c->is.paths.run);
}

int contact_connect(struct contact *c)
{
	int fd = try_to_connect(c);

	if (fd >= 0)
		return fd;
	look_up(c);
	return try_to_connect(c);
}

/* ---- whether it runs ---- */

void contact_reached(struct contact *c)
{
	start_forget(&c->start);
	c->reached = true;
	c->failures = 0;
	c->lost_ms = 0;
}

void contact_lost(struct contact *c, int64_t now_ms)
{
	if (!c->lost_ms) {
		c->lost_ms = now_ms;
		c->pause_ms = TRY_MS;
	} else if (now_ms - c->started_ms > START_WAIT_MS && c->pause_ms < TRY_MAX_MS) {
		c->pause_ms *= 2;
	}
}

/* One that answered us may come back by itself, or was stopped on purpose. */
static bool is_to_be_left(const struct contact *c, int64_t now_ms)
{
	return c->reached && (now_ms - c->lost_ms < START_AFTER_MS ||
	                      (!c->shared && instance_is_stopped_on_purpose(c->is.paths.run)));
}

/* The next attempt is not before START_AGAIN_MS. */
static void retry_soon(struct contact *c)
{
	c->started_ms -= START_WAIT_MS - START_AGAIN_MS;
}

int contact_start(struct contact *c, int64_t now_ms)
{
	struct err e = { 0 };
	int fd;

	if (is_to_be_left(c, now_ms) || now_ms - c->started_ms < START_WAIT_MS)
		return -1;
	c->started_ms = now_ms;
	c->pause_ms = TRY_MS;
	if (c->shared) {
		log_warn("the agent-intercom of this machine does not answer; waiting for it");
		return -1;
	}
	if (instance_is_lost(c->is.paths.run, c->is.paths.database, &c->lost)) {
		retry_soon(c);
		c->pause_ms = TRY_MAX_MS;
		return -1;
	}
	fd = c->named ? -1 : reach_activation();
	if (fd >= 0)
		return fd;
	if (start_detached(c->is.paths.database, c->is.config ? c->is.config : "", &c->start, &e)) {
		if (e.kind == ERR_INPUT)
			str_add(&c->lost, e.text);
		else
			log_error("%s", e.text);
	}
	return -1;
}

/* One that finds another one running, or starting, ends like one that fails. */
enum start_end contact_start_ended(struct contact *c, struct str *why)
{
	enum start_end end;

	if (c->lost.length) {
		str_add(why, c->lost.bytes);
		str_reset(&c->lost);
		return START_REFUSED;
	}
	end = start_ended(&c->start, c->is.paths.database, why);
	if (end != START_FAILED)
		return end;
	if (instance_holder(c->is.paths.database, NULL) > 0) {
		c->failures = 0;
		return START_GOES_ON;
	}
	if (++c->failures >= FAILURES_TOLD)
		return START_FAILED;
	retry_soon(c);
	return START_GOES_ON;
}

int contact_wait_ms(const struct contact *c, int64_t now_ms)
{
	return now_ms - c->started_ms < SOON_MS ? TRY_SOON_MS : c->pause_ms;
}
