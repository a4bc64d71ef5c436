#include "agent.h"

#include "clock.h"
#include "json_writer.h"
#include "rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- an agent on HTTP ---- */

void given_front_settings(char workspace[600])
{
	char sql[1000];

	(void)snprintf(workspace, 600, "%.500s-work", test_run());
	ck_assert_int_eq(mkdir(workspace, 0755), 0);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES"
	               " ('http_port', '0', 'file', '%s'),"
	               " ('default_workspace_root', '%s', 'file', '%s')",
	               clock_now().text, workspace, clock_now().text);
	given(sql);
}

int front_port(void)
{
	OWNED(char_ptr) char *address = NULL;

	expect_soon("SELECT count(*) FROM worker WHERE name = 'mcp-front' AND state = 'ready' AND "
	            "detail LIKE 'http://%'",
	            "1\n");
	address = rows("SELECT detail FROM worker WHERE name = 'mcp-front' AND state = 'ready'");
	return atoi(strrchr(address, ':') + 1);
}

void agent_send(const struct agent *a, struct wire *w, const char *method, const char *headers,
                const char *json)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "%s /mcp%s HTTP/1.1\r\nHost: localhost:%d\r\n", method, a->query, a->port);
	str_add(&text, "Accept: application/json, text/event-stream\r\n");
	if (a->session[0])
		str_addf(&text, "Mcp-Session-Id: %s\r\n", a->session);
	if (a->version[0])
		str_addf(&text, "MCP-Protocol-Version: %s\r\n", a->version);
	str_add(&text, headers);
	if (json)
		str_addf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
		         strlen(json));
	str_add(&text, "\r\n");
	str_add(&text, json ? json : "");
	wire_send_bytes(w, text.bytes, text.length);
}

int agent_exchange(const struct agent *a, const char *method, const char *headers, const char *json,
                   struct str *body)
{
	struct wire w;
	int status;

	wire_open(&w, a->port);
	agent_send(a, &w, method, headers, json);
	status = wire_answer(&w);
	if (body) {
		str_reset(body);
		str_add_bytes(body, str_text(&w.body), w.body.length);
	}
	wire_close(&w);
	return status;
}

struct agent agent_sessionless(int port, const char *query)
{
	struct agent a = { .port = port };

	(void)snprintf(a.query, sizeof(a.query), "%s", query);
	return a;
}

struct agent agent_hello(int port, const char *query, const char *version)
{
	return agent_hello_as(port, query, version, "{}");
}

struct agent agent_hello_as(int port, const char *query, const char *version,
                            const char *capabilities)
{
	struct agent a = agent_sessionless(port, query);
	struct wire w;
	char json[400];

	(void)snprintf(json, sizeof(json),
	               "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	               "\"protocolVersion\":\"%s\",\"capabilities\":%s,"
	               "\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}}}",
	               version, capabilities);
	wire_open(&w, port);
	agent_send(&a, &w, "POST", "", json);
	ck_assert_int_eq(wire_answer(&w), 200);
	ck_assert_msg(wire_header(&w, "Mcp-Session-Id") != NULL, "no session: %s", w.head.bytes);
	(void)snprintf(a.session, sizeof(a.session), "%s", wire_header(&w, "Mcp-Session-Id"));
	(void)snprintf(a.version, sizeof(a.version), "%.19s",
	               member(str_text(&w.body), "result.protocolVersion"));
	wire_close(&w);
	ck_assert_int_eq(
	    agent_exchange(&a, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL),
	    202);
	return a;
}

void agent_begin(struct agent *a, struct wire *w, const char *tool, const char *arguments,
                 const char *meta)
{
	OWNED(str) struct str json = { 0 };

	str_addf(&json, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{",
	         ++a->id);
	str_addf(&json, "\"name\":\"%s\",\"arguments\":", tool);
	str_add(&json, arguments);
	if (meta)
		str_addf(&json, ",\"_meta\":%s", meta);
	str_add(&json, "}}");
	wire_open(w, a->port);
	agent_send(a, w, "POST", "", json.bytes);
}

char *agent_message(struct wire *w)
{
	struct event e = { .id = "" };
	OWNED(str) struct str last = { 0 };

	if (wire_plain(w) == 200 && wire_is_stream(w)) {
		while (wire_event(w, &e)) {
			str_reset(&last);
			str_add(&last, str_text(&e.data));
		}
		event_clear(&e);
		return str_take(&last);
	}
	str_add(&last, str_text(&w->body));
	return str_take(&last);
}

/* ---- requests of revision 2026-07-28 ---- */

void modern_compose(struct str *json, const char *method, const char *members, const char *client)
{
	str_addf(json, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{", method);
	str_add(json, members);
	if (*members)
		str_add_char(json, ',');
	str_add(json, client);
	str_add(json, "}}");
}

void modern_headers(struct str *headers, const char *method, const char *name)
{
	str_addf(headers, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n", method);
	if (name)
		str_addf(headers, "Mcp-Name: %s\r\n", name);
}

char *modern_request(int port, const char *query, const char *method, const char *name,
                     const char *members, const char *client, int *status)
{
	struct agent a = agent_sessionless(port, query);
	OWNED(str) struct str headers = { 0 };
	OWNED(str) struct str json = { 0 };
	struct wire w;
	char *message;

	modern_headers(&headers, method, name);
	modern_compose(&json, method, members, client);
	wire_open(&w, a.port);
	agent_send(&a, &w, "POST", headers.bytes, json.bytes);
	message = agent_message(&w);
	if (status)
		*status = w.status;
	wire_close(&w);
	return message;
}

char *modern_call(int port, const char *query, const char *tool, const char *arguments,
                  const char *more, const char *client)
{
	OWNED(str) struct str members = { 0 };

	str_addf(&members, "\"name\":\"%s\",\"arguments\":", tool);
	str_add(&members, arguments);
	str_add(&members, more);
	return modern_request(port, query, "tools/call", tool, members.bytes, client, NULL);
}

char *tool_result(const char *message)
{
	OWNED(cJSON_ptr) cJSON *m = cJSON_Parse(message);
	const cJSON *content = cJSON_GetObjectItemCaseSensitive(
	    cJSON_GetObjectItemCaseSensitive(m, "result"), "content");
	const char *text = json_text(cJSON_GetArrayItem(content, 0), "text");

	ck_assert_msg(text != NULL, "no result of a tool: %s", message);
	return xstrdup(text);
}

char *agent_end(struct wire *w)
{
	OWNED(char_ptr) char *message = agent_message(w);

	wire_close(w);
	return tool_result(message);
}

char *agent_call(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	return agent_end(&w);
}

char *agent_write(struct agent *a, const char *arguments)
{
	char *result = agent_call(a, "check_diff", arguments);

	while (strcmp(member(result, "status"), "pending") == 0) {
		free(result);
		result = agent_call(a, "check_diff", arguments);
	}
	return result;
}

char *proposal(const char *path, const char *content)
{
	OWNED(str) struct str json = { 0 };

	str_add(&json, "{\"title\":\"a change\",\"file_path\":");
	json_quote(&json, path);
	str_add(&json, ",\"diff\":");
	json_quote(&json, content);
	str_add(&json, "}");
	return str_take(&json);
}

char *diff_of(const char *request_id)
{
	OWNED(str) struct str json = { 0 };

	str_addf(&json, "{\"request_id\":\"%s\"}", request_id);
	return str_take(&json);
}

/* ---- JSON ---- */

const char *member(const char *json, const char *path)
{
	static char *kept[10];
	static int next;
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(json);
	const cJSON *at = root;
	char *text = xstrdup(path), *rest = NULL;
	char **slot = &kept[next++ % (int)COUNT(kept)];

	for (const char *name = strtok_r(text, ".", &rest); name && at;
	     name = strtok_r(NULL, ".", &rest))
		at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(name))
		                       : cJSON_GetObjectItemCaseSensitive(at, name);
	free(text);
	free(*slot);
	*slot = !at                  ? xstrdup("")
	        : cJSON_IsString(at) ? xstrdup(at->valuestring)
	                             : cJSON_PrintUnformatted(at);
	return *slot;
}

void has(const char *json, const char *path, const char *text)
{
	ck_assert_msg(strcmp(member(json, path), text) == 0, "%s is '%s', not '%s' in\n%s", path,
	              member(json, path), text, json);
}

void says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%s", part, text);
}
