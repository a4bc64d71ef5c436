/* faults: what a test has ordered to go wrong, by the name of the call affected. */
#include "fake.h"

#include <string.h>

static cJSON *orders;

/* These need an answer to spoil, so the call always takes effect. */
static bool spoils_an_answer(const char *what)
{
	return strcmp(what, "slow") == 0 || strcmp(what, "truncated") == 0 ||
	       strcmp(what, "cut") == 0 || strcmp(what, "bare") == 0;
}

static bool spoils_an_upgrade(const char *what)
{
	return strcmp(what, "lost") == 0 || strcmp(what, "hang") == 0 ||
	       strcmp(what, "status") == 0 || strcmp(what, "html") == 0;
}

const char *fault_order(const cJSON *order)
{
	static const char *const KINDS[] = { "lost",      "hang", "status", "error", "html",
		                             "truncated", "cut",  "slow",   "rate",  "bare" };
	const char *what = json_str(order, "what");
	size_t i = 0;

	while (i < COUNT(KINDS) && strcmp(KINDS[i], what) != 0)
		i++;
	if (i == COUNT(KINDS))
		return "what: one of lost, hang, status, error, html, truncated, cut, slow, rate, "
		       "bare";
	if (!json_str(order, "name")[0])
		return "name: the call that it is to happen to";
	if (json_is(order, "name", "link") && !spoils_an_upgrade(what))
		return "what: of the link only lost, hang, status, html";
	if (!orders)
		orders = cJSON_CreateArray();
	(void)cJSON_AddItemToArray(orders, cJSON_Duplicate(order, true));
	return NULL;
}

cJSON *fault_take(const char *name)
{
	cJSON *order, *found = NULL;

	cJSON_ArrayForEach (order, orders) {
		if (!json_is(order, "name", name) && !json_is(order, "name", "*"))
			continue;
		int64_t skip = json_int(order, "skip", 0), times = json_int(order, "times", 1);

		if (skip > 0) {
			json_set_int(order, "skip", skip - 1);
			continue;
		}
		found = cJSON_Duplicate(order, true);
		json_set_int(order, "times", times - 1);
		if (times <= 1)
			cJSON_Delete(cJSON_DetachItemViaPointer(orders, order));
		break;
	}
	return found;
}

bool fault_is_before(const cJSON *fault)
{
	return fault && !json_is(fault, "when", "after") &&
	       !spoils_an_answer(json_str(fault, "what"));
}
