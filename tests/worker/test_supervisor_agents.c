/* `agent-intercom agents`: the real binary, with programs of our own in a home of our own. */
#include "supervisor_case.h"

#include "json.h"

/* Makes a program in the home, with the folders above it. */
static void given_file(const char *name, const char *text, mode_t mode)
{
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s", in(name));
	for (char *slash = path + strlen(dir); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	write_file(path, text, mode);
}

static void set_up(void)
{
	setup();
	(void)setenv("PATH", in("path"), 1); /* what is installed here is of no concern */
}

/* What it prints with these arguments, up to three. */
static char *agents(int status, const char *a, const char *b, const char *c)
{
	const char *arguments[] = { "--config", in("config.toml"), "agents", a, b, c, NULL };
	int is;
	char *said = output_of(arguments, &is);

	ck_assert_msg(is == status, "status %d\n%s%s", is, said, log_text());
	return said;
}

static void says(const char *said, const char *text)
{
	ck_assert_msg(strstr(said, text) != NULL, "'%s' is not in\n%s", text, said);
}

START_TEST(agents_lists_what_is_installed_and_how_to_get_the_rest)
{
	OWNED(str) struct str gemini = { 0 };
	OWNED(char_ptr) char *said = NULL;

	given_config("[[agent]]\nname = \"mine\"\ncommand = \"my-agent\"\nprotocol = \"acp\"\n");
	given_file("path/true", "#!/bin/sh\n", 0700);
	given_file("home/.local/bin/gemini", "#!/bin/sh\n", 0700);
	said = agents(0, NULL, NULL, NULL);
	says(said, "NAME            PROTOCOL    VERSION    STATE\n");
	str_addf(&gemini, "\ngemini          acp         -          found: %s\n",
	         in("home/.local/bin/gemini"));
	says(said, str_text(&gemini));
	says(said, "\nmine            acp         -          missing: my-agent is not installed; "
	           "correct its command\n");
	says(said, "\nclaude          acp         -          missing: claude-agent-acp is not "
	           "installed; npm install -g @agentclientprotocol/claude-agent-acp\n");
	says(said, "\nclaude-mcp      mcp         -          missing: claude is not installed; npm "
	           "install -g @anthropic-ai/claude-code\n");
	says(said, "\ndefault *       mcp         -          found: /");
}
END_TEST

START_TEST(the_version_is_that_of_the_package_of_npm)
{
	OWNED(char_ptr) char *said = NULL;

	given_file("home/.npm-global/lib/node_modules/@x/qwen/dist/qwen.js", "#!/bin/sh\n", 0700);
	given_file("home/.npm-global/lib/node_modules/@x/qwen/dist/package.json", "{}", 0600);
	given_file("home/.npm-global/lib/node_modules/@x/qwen/package.json",
	           "{\"name\":\"@x/qwen\",\"version\":\"0.15.10\"}", 0600);
	ck_assert_int_eq(mkdir(in("home/.npm-global/bin"), 0700), 0);
	ck_assert_int_eq(
	    symlink("../lib/node_modules/@x/qwen/dist/qwen.js", in("home/.npm-global/bin/qwen")),
	    0);
	said = agents(0, "qwen", NULL, NULL);
	says(said, "\nqwen            acp         0.15.10    found: /");
	ck_assert_ptr_null(strstr(said, "gemini"));
}
END_TEST

START_TEST(a_profile_that_is_named_or_the_default_must_be_usable)
{
	OWNED(char_ptr) char *all = NULL, *gone = NULL, *unknown = NULL;

	given_file("path/qwen", "#!/bin/sh\n", 0700);
	all = agents(1, NULL, NULL, NULL); /* there is no program true */
	says(all, "default *       mcp         -          missing: true is not installed");
	gone = agents(1, "qwen", "gemini", NULL);
	says(gone, "\nqwen            acp         -          found: /");
	unknown = agents(64, "qwen", "cloud", NULL);
	ck_assert_str_eq(unknown, "");
	log_has("there is no profile 'cloud'");
}
END_TEST

START_TEST(agents_as_json_has_all_that_is_known)
{
	OWNED(char_ptr) char *said = NULL;
	OWNED(cJSON_ptr) cJSON *json = NULL;
	const cJSON *one;

	given_config("default_agent = \"gemini\"\n");
	given_file("path/gemini", "#!/bin/sh\n", 0700);
	said = agents(0, "gemini", "--json", NULL);
	json = cJSON_Parse(said);
	ck_assert_msg(cJSON_GetArraySize(json) == 1, "%s", said);
	one = cJSON_GetArrayItem(json, 0);
	ck_assert_str_eq(json_text(one, "name"), "gemini");
	ck_assert_str_eq(json_text(one, "protocol"), "acp");
	ck_assert_str_eq(json_text(one, "command"), "gemini");
	ck_assert_str_eq(json_text(one, "state"), "found");
	ck_assert_str_eq(json_text(one, "path"), in("path/gemini"));
	ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(one, "default")));
	ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(one, "builtin")));
	ck_assert(cJSON_IsNull(cJSON_GetObjectItem(one, "version")));
	ck_assert_str_eq(
	    cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItem(one, "args"), 0)), "--acp");
}
END_TEST

START_TEST(the_doctor_warns_of_a_default_profile_without_its_program)
{
	doctor_says(0, "warn agent: default, the default profile: true is not installed, no "
	               "session can be started; see `agent-intercom agents`");
	given_file("path/true", "#!/bin/sh\n", 0700);
	doctor_says(0, "ok   agent: default: /");
	write_file(in("config.toml"), "http_port = 0\n", 0600);
	doctor_says(0, "ok   agent: no default");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("supervisor_agents");
	TCase *c = tcase_create("agents");

	tcase_add_checked_fixture(c, set_up, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, agents_lists_what_is_installed_and_how_to_get_the_rest);
	tcase_add_test(c, the_version_is_that_of_the_package_of_npm);
	tcase_add_test(c, a_profile_that_is_named_or_the_default_must_be_usable);
	tcase_add_test(c, agents_as_json_has_all_that_is_known);
	tcase_add_test(c, the_doctor_warns_of_a_default_profile_without_its_program);
	suite_add_tcase(s, c);
	return run_suite(s);
}
