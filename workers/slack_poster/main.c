/* slack-poster: says in Slack what slack_outbox intends, effectively once.
 *
 * Claim, commit, send, settle. Posts and files go one after the other, a second apart per channel;
 * modals, edits and private answers go alongside, each in a slot of its own, so that nothing delays
 * a form that must open within 3 s. The text of a message is read when it is sent. No call is made
 * during a transaction. A post whose fate is unclear is searched for in Slack by its marker before
 * it is repeated; so is one that a predecessor had in hand.
 *
 * SLACK_BOT_TOKEN and SLACK_API_URL come from the environment and are wiped there; the token is in
 * no row, argument or log, no process may trace this one, and it leaves no core file.
 *
 * What agents read of a channel (slack_read) is one more call alongside the posts.
 *
 * Reads request, session, apply, file_change, tool_call, content, operator; writes slack_history,
 * slack_outbox, slack_message, slack_gate (whose triggers keep the lanes), setting,
 * request.slack_ts, session.thread_ts. */
#include "slack_poster/poster.h"

#include "setting.h"

enum { DOUBT_REFUSED_MS = 10000 }; /* until the next search for posts in doubt */

/* ---- the loop ---- */

/* Slack is reachable again: records that and rings slack-listener, which may be in a long pause. */
static int note_reached(struct poster *p, struct err *e)
{
	struct instant now = clock_now();

	if (!p->reached)
		return 0;
	p->reached = false;
	if (store_begin(&p->w.store, e) ||
	    store_end(&p->w.store,
	              setting_put(&p->w.store, "slack.reached_at", now.text, "system", e), e))
		return -1;
	doorbell_ring(p->w.run_fd, "slack-listener");
	return 0;
}

/* Returns 1 if it did something, 0 if nothing is due, -1 if it cannot continue. */
static int turn(struct poster *p, struct err *e)
{
	OWNED(slack_intent_row) struct slack_intent_row i = { 0 };
	int did = poster_turn_slots(p, e), got;

	if (did < 0 || note_reached(p, e))
		return -1;
	got = poster_check(p, e);
	if (got == 0)
		got = poster_check_channel(p, e);
	if (got != 0)
		return got;
	got = clock_monotonic_ms() < p->doubt_ms ? 0 : slack_outbox_doubtful(&p->w.store, &i, e);
	if (got > 0) {
		if (poster_look_for(p, &i, e) == 0)
			return 1;
		poster_refused(p, &i, e);
		p->doubt_ms = clock_monotonic_ms() + DOUBT_REFUSED_MS;
		return e->kind == ERR_NONE ? 1 : -1;
	}
	if (got == 0)
		got = slack_outbox_claim(&p->w.store, p->w.id.text, "post", &i, e);
	if (got > 0) {
		if (poster_post(p, &i, e))
			poster_refused(p, &i, e);
		return e->kind == ERR_NONE ? 1 : -1;
	}
	return got < 0 ? -1 : did;
}

/* Returns whether to stop. */
static bool rest(struct poster *p, bool did)
{
	const int fds[] = { p->w.bell.fd, p->w.signal_fd };
	int ms = worker_patience_ms(&p->w);

	if (!poster_is_busy(p))
		return worker_wait(&p->w, did);
	if (did)
		return false;
	slack_web_wait(&p->web, fds, COUNT(fds), ms < POSTER_LOOK_MS ? POSTER_LOOK_MS : ms);
	doorbell_drain(&p->w.bell);
	return worker_wait(&p->w, true);
}

/* How much longer a refused row is left alone. */
static int64_t resting_ms(const struct poster *p)
{
	int64_t left = p->w.rest_ms - clock_monotonic_ms();

	return left > 0 ? left : 0;
}

static int run(struct poster *p, struct err *e)
{
	int did;

	do {
		did = turn(p, e);
		if (did < 0 && worker_forgives(&p->w, e))
			did = 0;
		if (did < 0 || worker_heartbeat(&p->w, e))
			return -1;
		p->w.due_ms = slack_outbox_due(&p->w.store, e);
		if (p->w.due_ms < 0)
			return -1;
		if (did == 0 && p->w.due_ms < clock_now_ms() + resting_ms(p))
			p->w.due_ms = clock_now_ms() + resting_ms(p);
		if (p->check_ms < p->w.due_ms)
			p->w.due_ms = p->check_ms;
	} while (!rest(p, did > 0));
	/* What is in a slot is settled before we exit. */
	p->w.stopping = true;
	while (poster_is_busy(p)) {
		poster_wait(p, POSTER_LOOK_MS);
		if (poster_turn_slots(p, e) < 0)
			return -1;
	}
	return 0;
}

static int open_web(struct poster *p, const char *token, const char *base, struct err *e)
{
	if (!token)
		return err_set(e, ERR_INPUT, "SLACK_BOT_TOKEN is not set");
	return slack_web_open(&p->web, base, token, e);
}

int main(int argc, char **argv)
{
	struct poster p = { .meanwhile = poster_turn_slots,
		            .slots = { { .name = "view" }, { .name = "call" } } };
	struct err e = { 0 };
	char *token, *base;
	int failed;

	slack_secret_guard();
	token = slack_secret_take("SLACK_BOT_TOKEN");
	base = slack_secret_take("SLACK_API_URL");
	failed = worker_open(&p.w, "slack-poster", "Sends to Slack what slack_outbox intends.",
	                     argc, argv, &e);
	if (!failed)
		failed = open_web(&p, token, base, &e);
	p.w.any_port = base != NULL;
	slack_secret_wipe(&token);
	slack_secret_wipe(&base);
	if (!failed && !slack_settle_left(&p.w.store, p.w.id.text, &e) &&
	    !worker_ready(&p.w, "Slack's Web API", &e))
		(void)run(&p, &e);
	for (size_t k = 0; k < POSTER_SLOTS; k++) {
		slack_call_clear(&p.slots[k].call);
		slack_intent_row_clear(&p.slots[k].intent);
	}
	slack_call_clear(&p.reading.call);
	slack_web_clear(&p.web);
	worker_close(&p.w, &e);
	return worker_exit(&p.w, &e);
}
