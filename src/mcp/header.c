#include "header.h"

#include "err.h"
#include "str.h"

#include <errno.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

static bool is_loopback_name(const char *text, size_t length)
{
	static const char *const NAMES[] = { "localhost", "127.0.0.1", "[::1]" };

	if (length > 0 && text[length - 1] == '.')
		length--;
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (length == strlen(NAMES[i]) && strncasecmp(text, NAMES[i], length) == 0)
			return true;
	return false;
}

bool header_host_is_loopback(const char *host)
{
	const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
	size_t length = end ? (size_t)(end - host) + 1 : strcspn(host, ":");

	if (host[length] == ':') {
		const char *port = host + length + 1;

		if (!*port || strspn(port, "0123456789") != strlen(port) || strlen(port) > 5)
			return false;
	} else if (host[length]) {
		return false;
	}
	return is_loopback_name(host, length);
}

bool header_origin_is_loopback(const char *origin)
{
	if (strncasecmp(origin, "http://", 7) == 0)
		return header_host_is_loopback(origin + 7);
	if (strncasecmp(origin, "https://", 8) == 0)
		return header_host_is_loopback(origin + 8);
	return false;
}

bool header_is_json(const char *type)
{
	return strncasecmp(type, "application/json", 16) == 0 && strchr("; \t", type[16]);
}

int64_t header_event_call(const char *last_event_id)
{
	char *end;
	long long seq;

	if (last_event_id[0] < '0' || last_event_id[0] > '9')
		return 0;
	errno = 0;
	seq = strtoll(last_event_id, &end, 10);
	return errno == 0 && *end == '.' ? seq : 0;
}

static bool take_all(cJSON *object, const struct evkeyvalq *query)
{
	const struct evkeyval *q;
	int count = 0;

	TAILQ_FOREACH (q, query, next) {
		if (++count > HEADER_MAX_PARAMETERS || !utf8_valid(q->key, strlen(q->key)) ||
		    !utf8_valid(q->value, strlen(q->value)))
			return false;
		if (!cJSON_GetObjectItemCaseSensitive(object, q->key))
			(void)cJSON_AddStringToObject(object, q->key, q->value);
	}
	return true;
}

cJSON *header_query(const char *uri)
{
	cJSON *object = cJSON_CreateObject();
	const char *mark = strchr(uri, '?');
	struct evkeyvalq query;
	bool good = true;

	if (mark) {
		good = evhttp_parse_query_str(mark + 1, &query) == 0;
		if (good)
			good = take_all(object, &query);
		evhttp_clear_headers(&query);
	}
	if (good)
		return object;
	cJSON_Delete(object);
	return NULL;
}
