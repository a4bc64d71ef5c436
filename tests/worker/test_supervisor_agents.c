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

/* ---- probes ---- */

/* A profile `a` of an agent over ACP, with more lines of TOML. */
static void given_agent(const char *command, const char *more)
{
	OWNED(str) struct str toml = { 0 };

	str_addf(&toml, "[[agent]]\nname = \"a\"\nprotocol = \"acp\"\ncommand = \"%s\"\n%s",
	         command, more);
	given_config(str_text(&toml));
}

static const char *fake_agent(void)
{
	return below(bin, "tests/fake-agent");
}

/* The agent is a shell script, which has the folder of the test as $0 and the fake agent as $1. */
static void given_script(const char *script, const char *more)
{
	OWNED(str) struct str toml = { 0 };

	str_addf(&toml, "args = [\"-c\", '''%s''', \"%s\", \"%s\"]\n%s", script, dir, fake_agent(),
	         more);
	given_agent("/bin/sh", str_text(&toml));
}

static void probe_says(int status, const char *text)
{
	OWNED(char_ptr) char *said = agents(status, "a", "--probe", NULL);

	says(said, text);
}

START_TEST(an_agent_that_opens_a_session_is_ready)
{
	OWNED(char_ptr) char *said = NULL;

	given_agent(fake_agent(), "args = [\"v1\"]\n");
	probe_says(0, "\na               acp         1.0        ready (ACP 1, ");
	given_agent(fake_agent(), "args = [\"v2\"]\nacp_version = \"auto\"\n");
	said = agents(0, "a", "--probe", "--json");
	says(said, "\"state\":\"ready\"");
	says(said, "\"acp_version\":2");
}
END_TEST

START_TEST(a_login_that_is_missing_is_told_with_what_to_do)
{
	given_agent(fake_agent(), "args = [\"v1\", \"login\"]\n");
	probe_says(1,
	           " login: the agent needs a login on this machine: Authentication required; it "
	           "offers Log in (oauth); log in to it in a terminal, or set env or "
	           "auth_method in [[agent]]\n");
}
END_TEST

START_TEST(a_program_that_is_no_agent_is_told_with_its_status_and_last_words)
{
	given_script("echo first >&2; echo no such option >&2; exit 3", "");
	probe_says(1, " failed: stream closed; it ended with status 3; its last words: no such "
	              "option\n");
	given_script("exec /bin/cat", "");
	probe_says(1, " failed: the agent refuses initialize: ");
	given_script("exec ./gone", "");
	probe_says(1, " failed: stream closed; it ended with status 127; its last words: ");
}
END_TEST

START_TEST(an_agent_that_answers_nothing_is_given_up_after_its_startup_timeout)
{
	int64_t begin = real_ms();

	given_agent(fake_agent(), "args = [\"v1\", \"silent\"]\nstartup_timeout_seconds = 1\n");
	probe_says(1, " failed: the agent does not answer initialize\n");
	ck_assert_int_ge(real_ms() - begin, 1000);
}
END_TEST

START_TEST(a_probed_agent_has_its_workspace_and_no_variable_that_is_not_listed)
{
	OWNED(char_ptr) char *variables = NULL;
	OWNED(char_ptr) char *where = NULL;

	given_script("/usr/bin/env > $0/env; pwd > $0/pwd; exec $1 v1",
	             "env = [\"MINE\", \"FIXED=1 2\"]\n");
	(void)setenv("MINE", "yes", 1);
	(void)setenv("OTHER", "no", 1);
	(void)setenv("SLACK_BOT_TOKEN", "xoxb-1", 1);
	probe_says(0, " ready (");
	variables = read_file(in("env"));
	says(variables, "MINE=yes\n");
	says(variables, "FIXED=1 2\n");
	says(variables, "NO_COLOR=1\n");
	says(variables, "PATH=/bin:/"); /* beside the program, before all else */
	ck_assert_ptr_null(strstr(variables, "OTHER"));
	ck_assert_ptr_null(strstr(variables, "SLACK"));
	where = read_file(in("pwd"));
	where[strcspn(where, "\n")] = '\0';
	ck_assert_str_eq(where, in("workspace"));
}
END_TEST

/* The process whose pid a script wrote is gone, or is about to be. */
static void has_ended(const char *file)
{
	OWNED(char_ptr) char *text = read_file(in(file));
	pid_t pid = (pid_t)strtol(text, NULL, 10);

	ck_assert_int_gt(pid, 1);
	for (int64_t end = real_ms() + AGENT_PATIENCE_MS; kill(pid, 0) == 0 && real_ms() < end;)
		(void)poll(NULL, 0, LOOK_MS);
	ck_assert_msg(kill(pid, 0) != 0, "%d is still there", (int)pid);
}

#define DESCENDANTS                                                                                \
	"trap '' TERM INT HUP; /bin/sleep 1000 & echo $! > $0/child; echo $$ > $0/agent; "

START_TEST(nothing_of_a_probed_agent_stays)
{
	given_script(DESCENDANTS "exec $1 v1 stubborn", "");
	probe_says(0, " ready (");
	has_ended("agent");
	has_ended("child");
}
END_TEST

START_TEST(nothing_of_an_agent_stays_where_the_probe_is_interrupted)
{
	const char *arguments[] = { "--config", in("config.toml"), "agents", "a", "--probe", NULL };
	struct stat about;
	int out, status;
	pid_t pid;

	given_script(DESCENDANTS "exec $1 v1 silent", "");
	pid = spawn(arguments, &out, in("log"));
	while (stat(in("agent"), &about) != 0 || about.st_size == 0)
		(void)poll(NULL, 0, LOOK_MS);
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	has_ended("agent");
	has_ended("child");
	(void)close(out);
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
	tcase_add_test(c, an_agent_that_opens_a_session_is_ready);
	tcase_add_test(c, a_login_that_is_missing_is_told_with_what_to_do);
	tcase_add_test(c, a_program_that_is_no_agent_is_told_with_its_status_and_last_words);
	tcase_add_test(c, an_agent_that_answers_nothing_is_given_up_after_its_startup_timeout);
	tcase_add_test(c, a_probed_agent_has_its_workspace_and_no_variable_that_is_not_listed);
	tcase_add_test(c, nothing_of_a_probed_agent_stays);
	tcase_add_test(c, nothing_of_an_agent_stays_where_the_probe_is_interrupted);
	suite_add_tcase(s, c);
	return run_suite(s);
}
