#include "ahead.h"

#include "big.h"
#include "content.h"
#include "front.h"
#include "json.h"
#include "shelf.h"

#include <string.h>

static void put(struct front *f, const char *text, size_t length)
{
	struct store *st = &f->worker.store;
	struct err e = { 0 };

	if (length <= CONTENT_INLINE_BYTES || store_begin(st, NULL))
		return;
	if (store_end(st, content_put(st, text, length, NULL) < 0, &e) && store_is_broken(st))
		front_fail(f, &e);
}

bool ahead_put(struct front *f, struct job *job)
{
	struct job_call *jc = &job->as.call;
	struct call *c = &jc->call;

	if (!jc->found || c->is_error || jc->ahead == JOB_AHEAD_DONE || !big_is(job) ||
	    (shelf_has(job) && shelf_take(job, NULL)))
		return false;
	switch (jc->ahead++) {
	case JOB_AHEAD_ARGUMENTS:
		json_canonical(&c->canonical, c->arguments);
		put(f, str_text(&c->canonical), c->canonical.length);
		break;
	case JOB_AHEAD_BODY:
		put(f, shelf_diff(job)->valuestring, strlen(shelf_diff(job)->valuestring));
		break;
	case JOB_AHEAD_EFFECT:
		put(f, str_text(&jc->found->effect), jc->found->effect.length);
		break;
	case JOB_AHEAD_DONE:
		break;
	}
	big_add(f, job, true);
	return true;
}
