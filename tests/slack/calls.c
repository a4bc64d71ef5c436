/* calls: the one log of everything that happened, the requests that wait for it, and the violations
 * found by the police. */
#include "fake.h"

#include <string.h>

enum { MAX_WAITING = 64 };

struct waiting {
	struct evhttp_request *http; /* NULL: free */
	cJSON *query;
	int64_t until_us;
};

static cJSON *entries, *findings;
static int64_t last;
static bool news;
static struct waiting waiting[MAX_WAITING];

cJSON *calls_add(const char *kind, const char *name)
{
	cJSON *entry = cJSON_CreateObject();

	json_set_int(entry, "seq", ++last);
	json_set_int(entry, "at_ms", fake_now_ms());
	json_set_int(entry, "real_us", fake_real_us());
	json_set_text(entry, "kind", kind);
	json_set_text(entry, "name", name);
	(void)cJSON_AddItemToArray(json_list(&entries), entry);
	news = true;
	return entry;
}

void police(const char *rule, const char *envelope_id, int socket, const char *text)
{
	cJSON *finding = cJSON_CreateObject();

	json_set_int(finding, "seq", last);
	json_set_text(finding, "rule", rule);
	json_set_text(finding, "text", text);
	json_set_text(finding, "envelope_id", envelope_id);
	json_set_int(finding, "socket", socket);
	(void)cJSON_AddItemToArray(json_list(&findings), finding);
}

cJSON *police_faults(void)
{
	return json_list(&findings);
}

/* ---- waiting requests ---- */

static cJSON *matching(const cJSON *query)
{
	const char *name = json_str(query, "name");
	int64_t after = json_int(query, "after", 0);
	cJSON *found = cJSON_CreateArray();
	const cJSON *entry;

	cJSON_ArrayForEach (entry, json_list(&entries)) {
		if (json_int(entry, "seq", 0) > after && (!name[0] || json_is(entry, "name", name)))
			(void)cJSON_AddItemToArray(found, cJSON_Duplicate(entry, true));
	}
	return found;
}

/* Answers if there are enough entries, or if anyway. */
static bool answer(struct evhttp_request *http, const cJSON *query, bool anyway)
{
	OWNED(cJSON_ptr) cJSON *found = matching(query);
	OWNED(cJSON_ptr) cJSON *out = NULL;

	if (cJSON_GetArraySize(found) < json_int(query, "count", 1) && !anyway)
		return false;
	out = json_literal("{'ok': true}");
	json_set(out, "calls", found);
	found = NULL;
	json_set_int(out, "last", last);
	http_json(http, HTTP_OK, out);
	return true;
}

static void gone(struct evhttp_connection *connection, void *slot)
{
	struct waiting *w = slot;

	(void)connection;
	w->http = NULL;
	cJSON_ptr_clear(&w->query);
}

static void settle(struct waiting *w, bool anyway)
{
	struct evhttp_request *http = w->http;

	evhttp_connection_set_closecb(evhttp_request_get_connection(http), NULL, NULL);
	if (answer(http, w->query, anyway))
		gone(NULL, w);
	else
		evhttp_connection_set_closecb(evhttp_request_get_connection(http), gone, w);
}

void calls_answer(struct evhttp_request *http, const cJSON *query)
{
	int64_t wait_ms = json_int(query, "wait_ms", 0);
	struct waiting *w = waiting;

	while (w < waiting + MAX_WAITING && w->http)
		w++;
	if (answer(http, query, wait_ms <= 0 || w == waiting + MAX_WAITING))
		return;
	w->http = http;
	w->query = cJSON_Duplicate(query, true);
	w->until_us = fake_real_us() + wait_ms * 1000;
	evhttp_connection_set_closecb(evhttp_request_get_connection(http), gone, w);
}

void calls_tick(void)
{
	for (struct waiting *w = waiting; w < waiting + MAX_WAITING; w++)
		if (w->http && (news || fake_real_us() > w->until_us))
			settle(w, fake_real_us() > w->until_us);
	news = false;
}
