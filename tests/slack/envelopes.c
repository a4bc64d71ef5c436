/* envelopes: which envelope was sent to which socket, who acked it, and the police for acks. */
#include "fake.h"

#include <string.h>

/* One envelope, sent once: {envelope_id, socket, sent_ms, acked, late, gone, envelope, copies,
 * fragments}. An envelope that waits for a hello has socket 0. */
static cJSON *sent, *waiting;

/* ---- sending ---- */

static void send_once(const cJSON *envelope, int socket, int fragments)
{
	OWNED(char_ptr) char *text = cJSON_PrintUnformatted(envelope);
	cJSON *row = cJSON_CreateObject(), *entry = calls_add("envelope", "envelope");

	json_set_text(entry, "envelope_id", json_text(envelope, "envelope_id"));
	json_set_text(entry, "type", json_str(envelope, "type"));
	json_set_int(entry, "socket", socket);
	json_set(entry, "payload", cJSON_Duplicate(member_of(envelope, "payload"), true));
	json_set_text(row, "envelope_id", json_str(envelope, "envelope_id"));
	json_set_int(row, "socket", socket);
	json_set_int(row, "sent_ms", fake_now_ms());
	json_set(row, "envelope", cJSON_Duplicate(envelope, true));
	if (json_text(envelope, "envelope_id"))
		(void)cJSON_AddItemToArray(json_list(&sent), row);
	else
		cJSON_Delete(row);
	socket_write(socket, text, fragments);
}

int envelope_send(cJSON *envelope, const struct how *how)
{
	int socket = 0;

	for (int i = 0; i < how->copies; i++) {
		socket = socket_choose(how->socket);
		if (socket) {
			send_once(envelope, socket, how->fragments);
		} else {
			cJSON *row = cJSON_CreateObject();

			json_set(row, "envelope", cJSON_Duplicate(envelope, true));
			json_set_int(row, "fragments", how->fragments);
			(void)cJSON_AddItemToArray(json_list(&waiting), row);
		}
	}
	cJSON_Delete(envelope);
	return socket;
}

void envelope_raw(const char *text, const struct how *how)
{
	int socket = socket_choose(how->socket);

	json_set_int(calls_add("envelope", "envelope"), "socket", socket);
	socket_write(socket, text, how->fragments);
}

void envelope_flush(void)
{
	cJSON *rows = waiting, *row;

	waiting = NULL;
	cJSON_ArrayForEach (row, rows) {
		struct how how = { .copies = 1, .fragments = (int)json_int(row, "fragments", 1) };

		(void)envelope_send(cJSON_DetachItemFromObject(row, "envelope"), &how);
	}
	cJSON_Delete(rows);
}

static cJSON *latest(const char *envelope_id)
{
	cJSON *row, *found = NULL;

	cJSON_ArrayForEach (row, json_list(&sent)) {
		if (json_is(row, "envelope_id", envelope_id))
			found = row;
	}
	return found;
}

const char *envelope_again(const cJSON *order, cJSON *out)
{
	const cJSON *row = latest(json_str(order, "envelope_id"));
	struct how how = { .socket = (int)json_int(order, "socket", 0), .copies = 1 };
	cJSON *envelope;

	if (!row)
		return "envelope_id: no such envelope was sent";
	envelope = cJSON_Duplicate(member_of(row, "envelope"), true);
	if (json_true(order, "new_id"))
		json_set_text(envelope, "envelope_id", world_id("env"));
	if (member_of(order, "retry_attempt")) {
		json_set_int(envelope, "retry_attempt", json_int(order, "retry_attempt", 1));
		json_set_text(envelope, "retry_reason",
		              json_text(order, "retry_reason") ? json_str(order, "retry_reason")
		                                               : "timeout");
	}
	json_set_text(out, "envelope_id", json_str(envelope, "envelope_id"));
	json_set_int(out, "socket", envelope_send(envelope, &how));
	return NULL;
}

/* ---- acks ---- */

/* The delivery that an ack on this socket is for; if there is none, *rule says what is wrong. */
static cJSON *delivery(const char *envelope_id, int socket, const char **rule)
{
	cJSON *row;

	*rule = "ack_unknown";
	cJSON_ArrayForEach (row, json_list(&sent)) {
		if (!json_is(row, "envelope_id", envelope_id))
			continue;
		if (json_int(row, "socket", 0) != socket)
			*rule = strcmp(*rule, "ack_unknown") == 0 ? "ack_wrong_socket" : *rule;
		else if (!json_true(row, "acked"))
			return row;
		else
			*rule = "ack_twice";
	}
	return NULL;
}

static bool says_something(const cJSON *payload)
{
	return payload && (!cJSON_IsObject(payload) || payload->child);
}

/* Applies an ack's payload: to a view, or as a message to whoever gave the command. */
static void ack_effect(const cJSON *envelope, const cJSON *payload, int socket)
{
	const cJSON *sent_payload = member_of(envelope, "payload");
	const char *id = json_str(envelope, "envelope_id");
	OWNED(str) struct str place = { 0 };

	if (json_is(sent_payload, "type", "view_submission")) {
		cJSON *view = view_find(json_str(member_of(sent_payload, "view"), "id"));

		if (view)
			view_acked(view, payload, id, socket);
	} else if (json_is(envelope, "type", "slash_commands") && says_something(payload)) {
		if (blocks_check(member_of(payload, "blocks"), MESSAGE, "/blocks", &place) != 0)
			police("ack_blocks", id, socket, str_text(&place));
		else
			(void)chat_say(payload, json_str(sent_payload, "channel_id"),
			               json_str(sent_payload, "user_id"));
	}
}

static void acked(cJSON *row, const cJSON *payload, int socket)
{
	const cJSON *envelope = member_of(row, "envelope");

	json_set_bool(row, "acked", true);
	if (says_something(payload) && !json_true(envelope, "accepts_response_payload"))
		police("ack_payload_not_allowed", json_str(row, "envelope_id"), socket,
		       json_str(envelope, "type"));
	if (!json_true(row, "late"))
		ack_effect(envelope, payload, socket);
}

void envelope_received(int socket, const char *text, size_t length)
{
	OWNED(cJSON_ptr) cJSON *ack = cJSON_ParseWithLength(text, length);
	const char *id = json_text(ack, "envelope_id"), *rule;
	cJSON *row, *entry;

	if (!id) {
		police("ack_unparseable", NULL, socket, text_of("%.200s", text));
		return;
	}
	entry = calls_add("ack", "ack");
	json_set_text(entry, "envelope_id", id);
	json_set_int(entry, "socket", socket);
	if (member_of(ack, "payload"))
		json_set(entry, "payload", cJSON_Duplicate(member_of(ack, "payload"), true));
	row = delivery(id, socket, &rule);
	if (!row)
		police(rule, id, socket, "");
	else
		acked(row, member_of(ack, "payload"), socket);
}

/* ---- unacked envelopes ---- */

static bool is_owed(const cJSON *row)
{
	return !json_true(row, "acked") && !json_true(row, "gone");
}

static bool was_acked(const char *envelope_id)
{
	const cJSON *row;

	cJSON_ArrayForEach (row, json_list(&sent)) {
		if (json_is(row, "envelope_id", envelope_id) && json_true(row, "acked"))
			return true;
	}
	return false;
}

/* Keeps a copy for the next hello, or sends it on another socket, depending on the setting. */
static void hand_over(const cJSON *row)
{
	static const struct how ONCE = { .copies = 1 };
	cJSON *envelope;

	if (setting_is("redeliver", "off") || was_acked(json_str(row, "envelope_id")))
		return;
	envelope = cJSON_Duplicate(member_of(row, "envelope"), true);
	if (setting_is("redeliver", "new"))
		json_set_text(envelope, "envelope_id", world_id("env"));
	if (json_is(envelope, "type", "events_api")) {
		json_set_int(envelope, "retry_attempt", json_int(envelope, "retry_attempt", 0) + 1);
		json_set_text(envelope, "retry_reason", "timeout");
	}
	(void)envelope_send(envelope, &ONCE);
}

void envelope_socket_gone(int socket)
{
	int known = cJSON_GetArraySize(json_list(&sent));
	cJSON *row = json_list(&sent)->child;

	for (int i = 0; i < known; i++, row = row->next) {
		if (json_int(row, "socket", 0) != socket || !is_owed(row))
			continue;
		json_set_bool(row, "gone", true);
		hand_over(row);
	}
}

int envelope_unacked(int socket)
{
	const cJSON *row;
	int n = 0;

	cJSON_ArrayForEach (row, json_list(&sent))
		n += json_int(row, "socket", 0) == socket && is_owed(row);
	return n;
}

void envelope_tick(void)
{
	int64_t now = fake_now_ms();
	cJSON *row;

	cJSON_ArrayForEach (row, json_list(&sent)) {
		int socket = (int)json_int(row, "socket", 0);

		if (!is_owed(row) || json_true(row, "late") || !socket_is_heard(socket) ||
		    now <= json_int(row, "sent_ms", 0) + setting_int("ack_within_ms"))
			continue;
		json_set_bool(row, "late", true);
		police("ack_late", json_str(row, "envelope_id"), socket, "");
	}
}
