#include "policy_case.h"

#include <stdio.h>
#include <sys/stat.h>

struct site site;
struct agent agent;

void given_policy(const char *text)
{
	char folder[200];

	(void)snprintf(folder, sizeof(folder), "%s/.intercom", site.workspace);
	(void)mkdir(folder, 0755);
	put_file(folder, "settings.json", text);
}

void given_agent(const char *query)
{
	agent = agent_hello(site.port, query, "2025-11-25");
}

void given_all(const char *policy)
{
	site = given_running_site();
	if (policy)
		given_policy(policy);
	given_agent("?wait=1");
}

const char DOCS[] = "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\"]}}";

const char PUSH[] = "{\"tool_name\":\"git push --force\\nrm x\","
                    "\"kind\":\"terminal_command\",\"context\":{\"risk_level\":\"high\"}}";

/* A clearance for a new file of this name is told this. */
void clearance_is(const char *path, const char *status)
{
	OWNED(char_ptr) char *arguments = proposal(path, "hello\n");
	OWNED(char_ptr) char *answer = agent_call(&agent, "check_clearance", arguments);

	has(answer, "status", status);
}

/* The same call once more is told this. */
void push_is(const char *approved, const char *status)
{
	OWNED(char_ptr) char *answer = agent_call(&agent, "auto_check", PUSH);

	has(answer, "auto_approved", approved);
	has(answer, "status", status);
}
