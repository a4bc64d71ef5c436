#include "resource.h"

#include "clock.h"
#include "json_writer.h"
#include "peer_user.h"
#include "setting.h"
#include "sql/event.h"
#include "sql/request.h"
#include "sql/slack_history.h"

#include <stdlib.h>
#include <string.h>

enum {
	RECENT_DEFAULT = 20,
	RECENT_MAX = 100,
	TIMELINE_MAX = 500, /* newest events of a session */
	ID_MAX = 64,
	FRESH_MS = 3000, /* maximum age of a result read for somebody else */
};

static const char JSON_TYPE[] = "application/json";

static void entry(struct str *out, const char *uri_member, const char *uri, const char *name,
                  const char *title, const char *description)
{
	json_object(out);
	json_member(out, uri_member, uri);
	json_member(out, "name", name);
	json_member(out, "title", title);
	json_member(out, "description", description);
	json_member(out, "mimeType", JSON_TYPE);
	json_object_end(out);
}

/* The channel where this caller's requests are shown: 1 it has one, 0, -1. */
static int channel_of(struct store *st, const struct peer *p, struct str *out, struct err *e)
{
	OWNED(str) struct str configured = { 0 };
	int got = setting_get(st, "slack.configured", &configured, e);

	if (got <= 0 || strcmp(configured.bytes, "true") != 0)
		return got < 0 ? -1 : 0;
	if (p->channel_id || p->identity.channel_id)
		str_add(out, p->channel_id ? p->channel_id : p->identity.channel_id);
	else if (setting_get(st, "slack.channel_id", out, e) < 0)
		return -1;
	return out->length > 0;
}

void resource_list(struct str *out, struct store *st, const struct peer *p)
{
	OWNED(str) struct str channel = { 0 }, uri = { 0 };

	str_add(out, "{\"resources\":[");
	entry(out, "uri", "intercom://inbox", "inbox", "Inbox",
	      "Questions of this workspace that wait for the operator");
	if (p->session_id) {
		str_addf(&uri, "intercom://session/%s/timeline", p->session_id);
		entry(out, "uri", uri.bytes, "session_timeline", "Timeline",
		      "What happened in this session");
	}
	if (channel_of(st, p, &channel, NULL) > 0) {
		str_reset(&uri);
		str_addf(&uri, "slack://channel/%s/recent", channel.bytes);
		entry(out, "uri", uri.bytes, "channel_recent", "Recent messages",
		      "Recent messages of this session's Slack channel");
	}
	str_add_char(out, ']');
}

void resource_templates(struct str *out)
{
	str_add(out, "{\"resourceTemplates\":[");
	entry(out, "uriTemplate", "slack://channel/{id}/recent", "channel_recent",
	      "Recent messages",
	      "Recent messages of the session's Slack channel; ?limit=1..100, default 20");
	entry(out, "uriTemplate", "intercom://session/{id}/timeline", "session_timeline",
	      "Timeline", "What happened in the caller's own session; ?limit=1..500: the newest");
	str_add_char(out, ']');
}

/* ---- reading ---- */

void resource_content(struct str *out, const char *uri, const char *json)
{
	str_add(out, "{\"contents\":[{\"uri\":");
	json_quote(out, uri);
	str_addf(out, ",\"mimeType\":\"%s\",\"text\":", JSON_TYPE);
	json_quote(out, json);
	str_add(out, "}]");
}

static int read_inbox(struct store *st, const struct peer *p, struct str *json, struct err *e)
{
	OWNED(inbox_of_workspace_row) struct inbox_of_workspace_row row = { 0 };
	int got;

	sql_inbox_of_workspace(st, p->workspace_root, peer_uid_in_rows(p), &row);
	str_add(json, "{\"questions\":[");
	while ((got = row_next(&row.row, e)) > 0) {
		json_object(json);
		json_member_or_null(json, "request_id", row.id);
		json_member_or_null(json, "kind", request_kind_name(row.kind));
		json_member_or_null(json, "title", row.title);
		json_member_or_null(json, "file_path", row.file_path);
		json_member_or_null(json, "state", request_state_name(row.state));
		json_member_or_null(json, "created_at", row.created_at);
		json_object_end(json);
	}
	str_add(json, "]}");
	return got;
}

static int read_timeline(struct store *st, const struct peer *p, int most, struct str *json,
                         struct err *e)
{
	OWNED(timeline_of_session_row) struct timeline_of_session_row row = { 0 };
	int got;

	sql_timeline_of_session(st, p->session_seq, most, &row);
	str_add(json, "{\"events\":[");
	while ((got = row_next(&row.row, e)) > 0) {
		json_object(json);
		json_member_or_null(json, "at", row.at);
		json_member_or_null(json, "kind", row.kind);
		json_member_or_null(json, "actor", row.actor);
		json_member_or_null(json, "request_id", row.request_id);
		json_member_or_null(json, "title", row.title);
		json_member_or_null(json, "file_path", row.file_path);
		json_object_end(json);
	}
	str_add(json, "]}");
	return got;
}

/* Parses head{id}tail[?limit=N]; id gets the id, ret_limit the limit, from 1 to most. */
static bool matches(const char *uri, const char *head, const char *tail, int most,
                    char id[ID_MAX + 1], int *ret_limit)
{
	size_t length;
	const char *end, *limit;

	if (strncmp(uri, head, strlen(head)) != 0)
		return false;
	uri += strlen(head);
	length = strcspn(uri, "/?");
	end = uri + length;
	if (length == 0 || length > ID_MAX || strncmp(end, tail, strlen(tail)) != 0)
		return false;
	end += strlen(tail);
	if (*end != '\0' && *end != '?')
		return false;
	limit = strstr(end, "limit=");
	if (limit) {
		long n = strtol(limit + 6, NULL, 10);

		*ret_limit = n < 1 ? 1 : n > most ? most : (int)n;
	}
	memcpy(id, uri, length);
	id[length] = '\0';
	return true;
}

int resource_read(struct store *st, const struct peer *p, const char *uri, struct str *out,
                  struct err *e)
{
	OWNED(str) struct str json = { 0 };
	int limit = TIMELINE_MAX, got;
	char id[ID_MAX + 1];

	if (strcmp(uri, "intercom://inbox") == 0) {
		got = read_inbox(st, p, &json, e);
	} else if (matches(uri, "intercom://session/", "/timeline", TIMELINE_MAX, id, &limit) &&
	           p->session_id && strcmp(p->session_id, id) == 0) {
		got = read_timeline(st, p, limit, &json, e);
	} else {
		(void)err_set(e, ERR_INPUT, "not found: there is no resource %.200s", uri);
		return 0;
	}
	if (got < 0)
		return -1;
	resource_content(out, uri, json.bytes);
	return 1;
}

/* ---- the channel ---- */

static const char CHANNEL_HEAD[] = "slack://channel/", CHANNEL_TAIL[] = "/recent";

bool resource_is_channel(const char *uri)
{
	int limit;
	char id[ID_MAX + 1];

	return matches(uri, CHANNEL_HEAD, CHANNEL_TAIL, RECENT_MAX, id, &limit);
}

/* A recent enough one, otherwise a new one: its seq, -1 on error. */
static int64_t ask(struct store *st, const char *channel, int most, struct err *e)
{
	struct instant fresh = clock_instant(clock_now_ms() - FRESH_MS);
	struct instant expires = clock_instant(clock_now_ms() + RESOURCE_CHANNEL_MS);
	int64_t usable = sql_slack_read_usable(st, channel, most, fresh.text, e);

	return usable ? usable : sql_slack_read_insert(st, channel, most, expires.text, e);
}

int resource_ask(struct store *st, const struct peer *p, const char *uri, int64_t *ret_read,
                 struct err *e)
{
	OWNED(str) struct str channel = { 0 };
	int most = RECENT_DEFAULT, got;
	char id[ID_MAX + 1];

	if (!matches(uri, CHANNEL_HEAD, CHANNEL_TAIL, RECENT_MAX, id, &most))
		return err_set(e, ERR_BUG, "%.100s is no channel", uri);
	got = channel_of(st, p, &channel, e);
	if (got < 0)
		return -1;
	if (got == 0 || strcmp(channel.bytes, id) != 0) {
		(void)err_set(e, ERR_INPUT, "not found: %.20s is not this session's channel%s", id,
		              got == 0 ? ", it has none: Slack is not configured" : "");
		return 0;
	}
	*ret_read = ask(st, id, most, e);
	return *ret_read < 0 ? -1 : 1;
}

int resource_answer(struct store *st, int64_t read, struct str *json, struct err *e)
{
	OWNED(slack_history_read_row) struct slack_history_read_row row = { 0 };
	int got = sql_slack_history_read(st, read, &row, e);

	if (got > 0 && !row.messages)
		return err_set(e, ERR_AGAIN, "slack: the channel cannot be read: %.200s", row.why);
	if (got > 0)
		str_add(json, row.messages);
	return got;
}
