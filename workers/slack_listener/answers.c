/* A program that can write the database can answer in the name of Slack. This cannot be prevented,
 * but it is noticed: all such answers are checked at the start, new ones at each bell. */
#include "listener.h"

#include "log.h"

#include <inttypes.h>

void answers_look(struct listener *l)
{
	struct proof_look *look = &l->answers;
	struct err e = { 0 };
	int did;

	do {
		did = proof_look_on(look, &l->worker.store, &l->key, &e);
		if (look->forged)
			log_error("%" PRId64
			          " answers in the name of Slack did not come from there: "
			          "see agent-intercom doctor",
			          look->forged);
		if (look->other_keys)
			log_info("%" PRId64
			         " answers were given under another app token, and cannot "
			         "be judged",
			         look->other_keys);
		look->forged = 0;
		look->other_keys = 0;
	} while (did > 0);
	if (did < 0 && store_is_broken(&l->worker.store))
		machine_fail(l, &e);
	else if (did < 0)
		log_warn("answers in the name of Slack could not be checked: %s", e.text);
}
