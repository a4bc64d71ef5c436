/* control: what a test orders and asks through /control/, and the settings. */
#include "fake.h"

#include <string.h>

static const char DEFAULTS[] =
    "{'hello': 'normal', 'hello_delay_ms': 5000, 'ping_every_ms': 5000, 'ack_within_ms': 3000,"
    " 'redeliver': 'off', 'stale_ticket': '404', 'approximate_connection_time': 18060,"
    " 'rate_limits': false, 'bot_error': null, 'app_error': null, 'refuse_blocks': [],"
    " 'client_msg_id': 'ignore', 'share_events': false, 'message_events': false,"
    " 'scopes_header': true,"
    " 'scopes': ['app_mentions:read', 'channels:history', 'channels:join', 'channels:read',"
    "  'chat:write', 'chat:write.public', 'commands', 'files:write', 'groups:history',"
    "  'groups:read', 'im:history', 'im:read', 'im:write', 'pins:write', 'reactions:write',"
    "  'users:read']}";

static cJSON *settings(void)
{
	static cJSON *all;

	if (!all)
		all = json_literal(DEFAULTS);
	return all;
}

const cJSON *setting(const char *name)
{
	return member_of(settings(), name);
}

int64_t setting_int(const char *name)
{
	return json_int(settings(), name, 0);
}

bool setting_true(const char *name)
{
	return json_true(settings(), name);
}

bool setting_is(const char *name, const char *value)
{
	return json_is(settings(), name, value);
}

/* ---- orders: NULL, or what is wrong; out is the answer ---- */

static const char *order_set(const cJSON *order, cJSON *out)
{
	const cJSON *item;

	(void)out;
	cJSON_ArrayForEach (item, order) {
		if (!cJSON_GetObjectItemCaseSensitive(settings(), item->string))
			return text_of("no such setting: %s", item->string);
	}
	json_overlay(settings(), order);
	return NULL;
}

static const char *order_fault(const cJSON *order, cJSON *out)
{
	(void)out;
	return fault_order(order);
}

static const char *order_clock(const cJSON *order, cJSON *out)
{
	if (member_of(order, "now_ms"))
		fake_advance(json_int(order, "now_ms", 0) - fake_now_ms());
	fake_advance(json_int(order, "advance_ms", 0));
	json_set_int(out, "now_ms", fake_now_ms());
	return NULL;
}

static const char *order_socket(const cJSON *order, cJSON *out)
{
	int reached = 0;
	const char *wrong = socket_order(order, &reached);

	json_set_int(out, "sockets", reached);
	return !wrong && reached == 0 ? "no such socket is open" : wrong;
}

/* Changes the row with that id, or adds one. */
static const char *upsert(cJSON *table, const cJSON *order)
{
	const char *id = json_str(order, "id");
	cJSON *row;

	if (!id[0])
		return "id: which";
	if (!member_of(table, id))
		json_set(table, id, cJSON_CreateObject());
	row = member_of(table, id);
	json_overlay(row, order);
	cJSON_DeleteItemFromObject(row, "id");
	return NULL;
}

static const char *order_channel(const cJSON *order, cJSON *out)
{
	(void)out;
	return upsert(world_channels(), order);
}

static const char *order_user(const cJSON *order, cJSON *out)
{
	(void)out;
	return upsert(world_users(), order);
}

/* ---- questions ---- */

static const char *ask_messages(const cJSON *query, cJSON *out)
{
	const char *channel = json_str(query, "channel"), *thread = json_str(query, "thread_ts");
	cJSON *list = cJSON_CreateArray();
	const cJSON *m;

	cJSON_ArrayForEach (m, world_messages()) {
		if ((!channel[0] || json_is(m, "channel", channel)) &&
		    (!thread[0] || json_is(m, "thread_ts", thread) || json_is(m, "ts", thread)))
			(void)cJSON_AddItemToArray(list, cJSON_Duplicate(m, true));
	}
	json_set(out, "messages", list);
	return NULL;
}

static const char *ask_views(const cJSON *query, cJSON *out)
{
	(void)query;
	json_set(out, "views", cJSON_Duplicate(views_all(), true));
	return NULL;
}

static const char *ask_files(const cJSON *query, cJSON *out)
{
	(void)query;
	json_set(out, "files", cJSON_Duplicate(files_all(), true));
	return NULL;
}

static const char *ask_sockets(const cJSON *query, cJSON *out)
{
	(void)query;
	json_set(out, "sockets", sockets_all());
	return NULL;
}

static const char *ask_faults(const cJSON *query, cJSON *out)
{
	(void)query;
	json_set(out, "faults", cJSON_Duplicate(police_faults(), true));
	return NULL;
}

static const struct {
	const char *path;
	const char *(*run)(const cJSON *arguments, cJSON *out);
	enum evhttp_cmd_type method;
} ROUTES[] = {
	{ "deliver", deliver, EVHTTP_REQ_POST },
	{ "redeliver", envelope_again, EVHTTP_REQ_POST },
	{ "fault", order_fault, EVHTTP_REQ_POST },
	{ "clock", order_clock, EVHTTP_REQ_POST },
	{ "socket", order_socket, EVHTTP_REQ_POST },
	{ "set", order_set, EVHTTP_REQ_POST },
	{ "channel", order_channel, EVHTTP_REQ_POST },
	{ "user", order_user, EVHTTP_REQ_POST },
	{ "messages", ask_messages, EVHTTP_REQ_GET },
	{ "views", ask_views, EVHTTP_REQ_GET },
	{ "files", ask_files, EVHTTP_REQ_GET },
	{ "sockets", ask_sockets, EVHTTP_REQ_GET },
	{ "faults_found", ask_faults, EVHTTP_REQ_GET },
};

void control(struct evhttp_request *http, const char *path, const cJSON *arguments)
{
	OWNED(cJSON_ptr) cJSON *out = json_literal("{'ok': true}");
	const char *wrong = "no such request";

	if (strcmp(path, "calls") == 0) {
		calls_answer(http, arguments);
		return;
	}
	for (size_t i = 0; i < COUNT(ROUTES); i++)
		if (strcmp(ROUTES[i].path, path) == 0 &&
		    evhttp_request_get_command(http) == ROUTES[i].method)
			wrong = ROUTES[i].run(arguments, out);
	if (wrong) {
		json_set_bool(out, "ok", false);
		json_set_text(out, "error", wrong);
	}
	http_json(http, wrong ? HTTP_BADREQUEST : HTTP_OK, out);
}
