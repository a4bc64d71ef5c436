/* One call of Slack's Web API, and what its outcome means for the whole process. */
#include "poster.h"

#include "log.h"

void poster_wait(struct poster *p, int ms)
{
	const int fds[] = { p->w.bell.fd };

	slack_web_wait(&p->web, fds, COUNT(fds), ms);
	doorbell_drain(&p->w.bell);
}

static int finish_call(struct poster *p, struct slack_call *c, struct err *e)
{
	while (!c->done) {
		if (p->meanwhile(p, e) < 0) {
			slack_call_clear(c);
			return -1;
		}
		if (!c->done)
			poster_wait(p, POSTER_LOOK_MS);
	}
	poster_heed(p, c);
	return 0;
}

int poster_call(struct poster *p, struct slack_call *c, const char *method, const struct str *form,
                struct err *e)
{
	slack_call_start(&p->web, c, method, form, SLACK_CALL_MS);
	return finish_call(p, c, e);
}

int poster_call_at(struct poster *p, struct slack_call *c, const char *url, const void *body,
                   size_t length, struct err *e)
{
	slack_call_start_at(&p->web, c, url, "application/octet-stream", body, length);
	return finish_call(p, c, e);
}

int poster_call_of(struct poster *p, struct slack_call *c, const char *method, const char *channel,
                   struct err *e)
{
	OWNED(str) struct str form = { 0 };

	slack_form_add(&form, "channel", channel);
	return poster_call(p, c, method, &form, e);
}

void poster_heed(struct poster *p, const struct slack_call *c)
{
	bool failed = c->class == SLACK_SURE || c->class == SLACK_UNKNOWN;

	p->reached |= p->unreached && !failed;
	p->unreached = failed;
	if (c->class == SLACK_TOKEN && p->check_ms == INT64_MAX)
		p->check_ms = clock_now_ms() + SLACK_PARKED_MS;
}

int poster_unsayable(struct poster *p, const struct slack_intent_row *i, const struct err *why,
                     struct err *e)
{
	if (why->kind == ERR_INPUT || why->kind == ERR_REFUSED)
		return slack_settle_dead(&p->w.store, i, why->text, NULL, e);
	*e = *why;
	return -1;
}

void poster_refused(struct poster *p, const struct slack_intent_row *i, struct err *e)
{
	struct err why = *e, again = { 0 };

	if (!worker_forgives(&p->w, e))
		return;
	if (slack_settle_dead(&p->w.store, i, why.text, NULL, &again))
		log_error("%s stays as it is: %s", slack_kind_name(i->kind), again.text);
}
