#include "attack.h"

#include "slack_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct site site;
struct agent agent;

void attack_begin(const char *policy, const char *config)
{
	fresh_store();
	site = site_make(config ? config : "");
	site_start(&site);
	if (policy)
		attack_file(".intercom/settings.json", policy);
	agent = agent_hello(site.port, "?wait=1", "2025-11-25");
}

static bool with_slack;

void attack_begin_with_slack(void)
{
	fresh_store();
	slack_start();
	slack_credentials();
	with_slack = true;
	site = site_make("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	agent = agent_hello(front_port(), "?wait=1", "2025-11-25");
}

void attack_end(void)
{
	ck_assert_int_eq(site_stop(&site), 0);
	if (with_slack)
		slack_stop();
	with_slack = false;
}

/* ---- files ---- */

static void make_directories(const char *path)
{
	char name[400];

	(void)snprintf(name, sizeof(name), "%s/%s", site.workspace, path);
	for (char *slash = strchr(name + strlen(site.workspace) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(name, 0755);
		*slash = '/';
	}
}

void attack_file(const char *path, const char *text)
{
	make_directories(path);
	put_file(site.workspace, path, text);
}

void attack_link(const char *target, const char *path)
{
	char name[400];

	make_directories(path);
	(void)snprintf(name, sizeof(name), "%s/%s", site.workspace, path);
	(void)unlink(name);
	ck_assert_int_eq(symlink(target, name), 0);
}

void attack_reads(const char *path, const char *text)
{
	OWNED(char_ptr) char *have = get_file(site.workspace, path);

	if (text) {
		ck_assert_ptr_nonnull(have);
		ck_assert_str_eq(have, text);
	} else {
		ck_assert_ptr_null(have);
	}
}

/* ---- the agent ---- */

char *attack_ask(const char *path, const char *body)
{
	OWNED(char_ptr) char *arguments = proposal(path, body);

	return agent_call(&agent, "check_clearance", arguments);
}

char *attack_approved(const char *path, const char *body)
{
	OWNED(char_ptr) char *answer = attack_ask(path, body);

	has(answer, "status", "pending");
	approve_all();
	return strdup(member(answer, "request_id"));
}

static char *write_of(const char *id, bool force)
{
	OWNED(str) struct str json = { 0 };

	str_addf(&json, "{\"request_id\":\"%s\",\"force\":%s}", id, force ? "true" : "false");
	return str_take(&json);
}

char *attack_write_once(const char *id, bool force)
{
	OWNED(char_ptr) char *arguments = write_of(id, force);

	return agent_call(&agent, "check_diff", arguments);
}

char *attack_write(const char *id, bool force)
{
	OWNED(char_ptr) char *arguments = write_of(id, force);

	return agent_write(&agent, arguments);
}

void attack_refused(const char *id, bool force, const char *code, const char *part)
{
	OWNED(char_ptr) char *answer = attack_write(id, force);

	has(answer, "error_code", code);
	says(member(answer, "error_message"), part);
}

/* ---- the operator ---- */

char *attack_shown(void)
{
	OWNED(char_ptr) char *id = rows("SELECT id FROM request ORDER BY seq DESC LIMIT 1");
	OWNED(str) struct str said = { 0 };

	id[strcspn(id, "\n")] = '\0';
	ck_assert_int_eq(ctl(&said, "--text show %s", id), 0);
	return str_take(&said);
}
