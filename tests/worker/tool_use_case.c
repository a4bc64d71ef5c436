#include "tool_use_case.h"

char workspace[600];
pid_t front;

void given_hooks_with(const char *setting, const char *value)
{
	char sql[300];

	fresh_store();
	given_front_settings(workspace);
	if (setting) {
		(void)snprintf(sql, sizeof(sql),
		               "INSERT OR REPLACE INTO setting (name, value, source, updated_at) "
		               "VALUES ('%s', '%s', 'file', '%s')",
		               setting, value, clock_now().text);
		given(sql);
	}
	front = start_worker("mcp-front");
	(void)start_worker("watchdog");
}

void given_hooks(void)
{
	given_hooks_with(NULL, NULL);
}

void restart_front(void)
{
	kill_worker(front);
	front = start_worker("mcp-front");
}

void given_policy(const char *json)
{
	(void)mkdir(below(workspace, ".intercom"), 0755);
	put_file(workspace, ".intercom/settings.json", json);
}

const char *bash(const char *command)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments, "{\"command\":\"%s\"}", command);
	return tool_of("s1", workspace, "Bash", arguments.bytes);
}

const char *writing(const char *path, const char *content)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments, "{\"file_path\":\"%s%s%s\",\"content\":\"%s\"}",
	         path[0] == '/' ? "" : workspace, path[0] == '/' ? "" : "/", path, content);
	return tool_of("s1", workspace, "Write", arguments.bytes);
}

const char *calling(const char *tool, const char *arguments)
{
	OWNED(str) struct str all = { 0 };
	const char *at = strstr(arguments, "%s");

	if (at) {
		str_add_bytes(&all, arguments, (size_t)(at - arguments));
		str_addf(&all, "%s%s", workspace, at + 2);
	} else {
		str_add(&all, arguments);
	}
	return tool_of("s1", workspace, tool, all.bytes);
}

void decides(const char *answer, const char *decision, const char *part)
{
	ck_assert_msg(strcmp(member(answer, "decision"), decision) == 0, "%s", answer);
	if (part)
		says(member(answer, "reason"), part);
}

struct gate_client begin_of(const char *host, const char *event, const char *input)
{
	struct gate_client h;

	gate_connect(&h);
	gate_send(&h, host, event, input, GATE_PATIENCE_MS, NULL);
	return h;
}

char *ask_of(const char *host, const char *event, const char *input)
{
	struct gate_client h = begin_of(host, event, input);

	return gate_end(&h);
}

void is_approved(const char *input)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h = gate_begin("PreToolUse", input);

	asked(1);
	approve_all();
	answer = gate_end(&h);
	decides(answer, "allow", NULL);
}

void approve_parked(struct gate_client *h)
{
	asked(1);
	gate_close(h);
	expect_soon("SELECT count(*) FROM gate_call WHERE decision = 'open'", "0\n");
	approve_all();
}

void asked(int count)
{
	char text[20];

	(void)snprintf(text, sizeof(text), "%d\n", count);
	expect_soon("SELECT count(*) FROM request AS r JOIN tool_call AS t ON t.request_seq = r.seq"
	            " WHERE r.state = 'pending' AND t.state = 'waiting'",
	            text);
}
