#include "front_case.h"

const char PING[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

char workspace[600];

pid_t front;

int port;

void start_front(void)
{
	front = start_worker("mcp-front");
	port = front_port();
}

void given_front_at(bool beside)
{
	(void)setenv("INTERCOM_PROGRESS_SECONDS", "1", 1);
	fresh_store();
	given_front_settings(workspace);
	if (!beside) {
		char sql[800];

		*strrchr(workspace, '/') = '\0';
		(void)snprintf(
		    sql, sizeof(sql),
		    "UPDATE setting SET value = '%s' WHERE name = 'default_workspace_root'",
		    workspace);
		given(sql);
	}
	start_front();
}

void given_front(void)
{
	given_front_at(true);
}

struct agent newcomer(void)
{
	return agent_hello(port, "", "2025-11-25");
}

int raw(const char *bytes, struct str *body)
{
	struct wire w;
	int status;

	wire_open(&w, port);
	wire_send(&w, bytes);
	status = wire_answer(&w);
	if (body) {
		str_reset(body);
		str_add(body, str_text(&w.body));
	}
	wire_close(&w);
	return status;
}

int ping_with(const char *headers)
{
	char bytes[40000];

	(void)snprintf(bytes, sizeof(bytes),
	               "POST /mcp HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n%s", headers,
	               strlen(PING), PING);
	return raw(bytes, NULL);
}

void ask(struct agent *a, struct wire *w, const char *path, const char *meta)
{
	OWNED(char_ptr) char *arguments = proposal(path, "hello\n");
	char sql[300];

	agent_begin(a, w, "check_clearance", arguments, meta);
	(void)snprintf(
	    sql, sizeof(sql),
	    "SELECT count(*) > 0 FROM request JOIN tool_call ON request_seq = request.seq"
	    " WHERE file_path = '%s' AND tool_call.state = 'waiting' AND rpc_id = '%d'",
	    path, a->id);
	expect_soon(sql, "1\n");
}

void exchange(const struct agent *a, const char *json, struct str *body)
{
	ck_assert_int_eq(agent_exchange(a, "POST", "", json, body), 200);
}

void refused(struct agent *a, const char *path, const char *content, const char *code,
             const char *text)
{
	OWNED(char_ptr) char *arguments = proposal(path, content);
	OWNED(char_ptr) char *message = NULL;
	OWNED(char_ptr) char *result = NULL;
	struct wire w;

	agent_begin(a, &w, "check_clearance", arguments, NULL);
	ck_assert_msg(wire_plain(&w) == 200, "%s: %s", path, str_text(&w.body));
	ck_assert_msg(strcmp(wire_header(&w, "Content-Type"), "application/json") == 0,
	              "%s is asked", path);
	message = xstrdup(str_text(&w.body));
	result = tool_result(message);
	wire_close(&w);
	ck_assert_msg(strcmp(member(result, "error_code"), code) == 0, "%s gives %s", path, result);
	says(member(result, "error_message"), text);
}
