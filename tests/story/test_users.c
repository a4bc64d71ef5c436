/* Three users and one system: an agent asks, an operator answers, the file is written. */
#include "agent.h"
#include "process.h"
#include "users.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#define NEEDS_ROOT() SKIP_UNLESS(geteuid() == 0, "root, who can become several users")

static struct users users;

static void begin(void)
{
	users = users_make("");
	users_start(&users);
}

static void end(void)
{
	ck_assert_int_eq(users_stop(&users), 0);
	users_remove(&users);
}

START_TEST(an_agent_asks_an_operator_of_another_user_approves_and_the_file_is_written)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;
	const char *id;

	NEEDS_ROOT();
	begin();
	r = users_relay(&users, AGENT);
	id = users_ask(&users, &r, "a.txt", "one\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "--text inbox"), 0);
	says(said.bytes, "a.txt");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %s", id), 0);
	users_is_written(&users, &r, id, "a.txt", "one\n");
	ck_assert_str_eq(users_sql(&users, "SELECT operator_id, source, outcome FROM decision"),
	                 "local:60103\tctl\tapplied\n");
	ck_assert_str_eq(users_sql(&users, "SELECT decided_by FROM request"), "local:60103\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %s", id), 1);
	says(said.bytes, "already approved by local:60103");
	(void)users_run(&users, SERVICE, &said, "%s/agent-intercom doctor",
	                getenv("INTERCOM_BUILD"));
	says(said.bytes, "desk is ready");
	ck_assert_ptr_null(strstr(said.bytes, "does not run"));
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM fence_refusal"), "0\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	end();
}
END_TEST

/* What ctl of the operator prints has this. */
static void ctl_says(const char *command, const char *part)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_msg(users_ctl(&users, OPERATOR, &said, "%s", command) == 0, "%s", said.bytes);
	says(said.bytes, part);
}

START_TEST(an_operator_is_told_whose_agent_asks_and_no_agent_can_say_that)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "one\n");
	OWNED(str) struct str said = { 0 };
	struct relay r;
	char show[60];

	NEEDS_ROOT();
	users = users_make("");
	SKIP_UNLESS(users_have_accounts(&users), "mount namespaces");
	users_start(&users);
	r = users_relay(&users, AGENT);
	relay_begin(&r, "check_clearance", arguments);
	users_expect_soon(&users, "SELECT agent_user FROM inbox", "t-agent\n");
	ctl_says("--text inbox", "USER");
	ctl_says("--text inbox", " t-agent ");
	ctl_says("--json inbox", "\"user\":\"t-agent\"");
	(void)snprintf(show, sizeof(show), "--text show %.36s",
	               users_sql(&users, "SELECT id FROM inbox"));
	ctl_says(show, "user      t-agent\n");
	ctl_says("--text list", " t-agent ");
	ctl_says("--text log", "[user t-agent] ");
	ck_assert_str_eq(users_sql(&users, "SELECT json_extract(detail, '$.user'), agent_user FROM "
	                                   "timeline WHERE kind = 'session.active'"),
	                 "t-agent\tt-agent\n");
	/* one of the system's own user is not told of */
	(void)users_run(&users, SERVICE, &said,
	                "mkdir \"$HOME/work\"; cd \"$HOME/work\"; (echo "
	                "'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
	                "\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	                "\"capabilities\":{},\"clientInfo\":{\"name\":\"user t-agent\","
	                "\"version\":\"1\"}}}'; echo '{\"jsonrpc\":\"2.0\",\"id\":2,"
	                "\"method\":\"tools/call\",\"params\":{\"name\":\"ping\","
	                "\"arguments\":{}}}'; sleep 1) | timeout 60 %s/agent-intercom mcp",
	                getenv("INTERCOM_BUILD"));
	users_expect_soon(&users,
	                  "SELECT agent_uid, agent_user, client_name FROM session ORDER BY seq "
	                  "DESC LIMIT 1",
	                  "||user t-agent\n");
	relay_kill(&r);
	end();
}
END_TEST

START_TEST(an_operator_who_was_made_inactive_may_answer_no_more)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;
	const char *id;

	NEEDS_ROOT();
	begin();
	r = users_relay(&users, AGENT);
	id = users_ask(&users, &r, "a.txt", "one\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "inbox"), 0);
	ck_assert_int_eq(users_run(&users, SERVICE, &said,
	                           "sqlite3 %s \"UPDATE operator SET active = 0"
	                           " WHERE id = 'local:60103'\"",
	                           users.database),
	                 0);
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %s", id), 1);
	says(said.bytes, "this operator is not active");
	ck_assert_str_eq(users_sql(&users, "SELECT outcome FROM decision"), "unauthorized\n");
	relay_kill(&r);
	end();
}
END_TEST

START_TEST(a_hook_asks_and_what_is_approved_instead_is_read_with_the_operators_rights)
{
	OWNED(str) struct str said = { 0 };
	char id[40];
	int status;

	NEEDS_ROOT();
	begin();
	(void)users_run(&users, AGENT, NULL,
	                "echo '{\"session_id\":\"s\",\"cwd\":\"%s\",\"hook_event_name\":"
	                "\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":"
	                "\"echo one\"}}' | %s/agent-intercom hook claude PreToolUse >\"$HOME/out\" "
	                "2>&1 &",
	                users.project, getenv("INTERCOM_BUILD"));
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
	(void)snprintf(id, sizeof(id), "%.36s", users_sql(&users, "SELECT id FROM inbox"));
	ck_assert_int_eq(
	    users_ctl(&users, OPERATOR, &said, "approve %s --with %s/log", id, users.base), 1);
	says(said.bytes, "Permission denied");
	status = users_run(&users, OPERATOR, &said,
	                   "echo 'echo two' >\"$HOME/text\"; chmod 600 \"$HOME/text\"; exec "
	                   "%s/agent-intercom-ctl approve %s --with=\"$HOME/text\"",
	                   getenv("INTERCOM_BUILD"), id);
	ck_assert_msg(status == 0, "%s", said.bytes);
	users_expect_soon(&users, "SELECT state FROM tool_call", "done\n");
	ck_assert_int_eq(users_run(&users, AGENT, &said,
	                           "until [ -s \"$HOME/out\" ]; do sleep 0.05; done; cat "
	                           "\"$HOME/out\""),
	                 0);
	says(said.bytes, "allow");
	says(said.bytes, "echo two");
	end();
}
END_TEST

START_TEST(the_agent_waits_for_its_system_and_starts_none_of_its_own)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *answer = NULL;
	struct relay r;
	const char *id;

	NEEDS_ROOT();
	begin();
	r = users_relay(&users, AGENT);
	(void)users_ask(&users, &r, "a.txt", "one\n");
	users_kill(&users);
	users_start(&users);
	id = users_sql(&users, "SELECT id FROM inbox");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %.36s", id), 0);
	answer = relay_end(&r);
	has(answer, "status", "approved");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(users_stop(&users), 0);
	/* stopped, and one that begins now */
	(void)users_run(&users, AGENT, &said, "sleep 2 | timeout 4 %s/agent-intercom mcp",
	                getenv("INTERCOM_BUILD"));
	says(said.bytes, "does not answer; waiting for it");
	ck_assert_int_eq(shell(&said, "find %s/home-60102 -mindepth 1", users.base), 0);
	ck_assert_str_eq(str_text(&said), "");
	users_remove(&users);
}
END_TEST

START_TEST(where_and_doctor_say_to_an_agents_user_and_an_operator_what_serves_them)
{
	OWNED(str) struct str said = { 0 };
	char text[300];

	NEEDS_ROOT();
	begin();
	ck_assert_int_eq(users_intercom(&users, AGENT, &said, "where"), 0);
	(void)snprintf(text, sizeof(text),
	               "mcp socket     %s/mcp.sock\n"
	               "http           http://127.0.0.1:%d/mcp\n"
	               "system         that of this machine, for several users\n",
	               users.shared, users.port);
	ck_assert_str_eq(said.bytes, text);
	ck_assert_int_eq(users_intercom(&users, AGENT, &said, "where http"), 0);
	(void)snprintf(text, sizeof(text), "http://127.0.0.1:%d/mcp\n", users.port);
	ck_assert_str_eq(said.bytes, text);
	ck_assert_int_eq(users_intercom(&users, OPERATOR, &said, "where"), 0);
	(void)snprintf(text, sizeof(text),
	               "desk socket    %s/desk.sock\n"
	               "system         that of this machine, for several users\n",
	               users.shared);
	ck_assert_str_eq(said.bytes, text);
	ck_assert_msg(users_intercom(&users, OPERATOR, &said, "doctor") == 0, "%s",
	              str_text(&said));
	(void)snprintf(text, sizeof(text),
	               "ok   shared: while you run no system, that of this machine for several "
	               "users serves you (%s)",
	               users.shared);
	says(said.bytes, text);
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM connection"), "0\n");
	users_configure(&users, "[shared]\nagents = \"no-such-group\"\n");
	(void)users_run(&users, SERVICE, &said, "%s/agent-intercom doctor",
	                getenv("INTERCOM_BUILD"));
	says(said.bytes,
	     "FAIL groups: shared.agents: there is no group 'no-such-group'; the next start");
	ck_assert_int_eq(users_stop(&users), 0);
	(void)users_intercom(&users, AGENT, &said, "where");
	says(said.bytes, "not known: the system does not answer");
	(void)users_intercom(&users, STRANGER, &said, "where");
	says(said.bytes, "home-60104/.local/state/agent-intercom/intercom.db");
	says(said.bytes, "for several users, does not serve you");
	(void)users_intercom(&users, STRANGER, &said, "doctor");
	says(said.bytes, "for several users does not serve you");
	ck_assert_int_ne(users_ctl(&users, AGENT, &said, "--shared health"), 0);
	says(said.bytes, "you are no operator of the system of this machine");
	users_remove(&users);
}
END_TEST

START_TEST(who_is_in_no_group_starts_a_system_of_their_own)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin();
	(void)users_run(&users, STRANGER, &said,
	                "mkdir \"$HOME/work\"; cd \"$HOME/work\"; (sleep 1; "
	                "%s/agent-intercom-ctl health >/dev/null) | %s/agent-intercom mcp; "
	                "%s/agent-intercom where; kill \"$(head -n 1 "
	                "\"$HOME\"/.local/state/agent-intercom/intercom.db-instance)\"",
	                getenv("INTERCOM_BUILD"), getenv("INTERCOM_BUILD"),
	                getenv("INTERCOM_BUILD"));
	says(said.bytes, "home-60104/.local/state/agent-intercom/intercom.db");
	end();
}
END_TEST

START_TEST(a_proxy_whose_user_is_refused_asks_in_a_system_of_their_own)
{
	static const char QUESTION[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/request_permission\","
	    "\"params\":{\"sessionId\":\"s\",\"toolCall\":{\"toolCallId\":\"c\",\"kind\":"
	    "\"execute\",\"rawInput\":{\"command\":\"npm test\"}},\"options\":[{\"optionId\":"
	    "\"y\",\"name\":\"Yes\",\"kind\":\"allow_once\"}]}}";
	static const char OPENED[] = "{\"id\":0,\"result\":{\"sessionId\":\"s\"}}";
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	users = users_make("[mcp]\nallow_uids = [60101]\n"); /* its socket is there for everyone */
	users_start(&users);
	(void)users_run(&users, STRANGER, &said,
	                "mkdir \"$HOME/work\"; cd \"$HOME/work\"; PATH=\"%s:$PATH\"; mkfifo in\n"
	                "agent-intercom acp sh -c 'read -r line; echo \"$1\"; echo \"$0\"; cat' "
	                "'%s' '%s' <in 2>errors >/dev/null &\n"
	                "exec 3>in; printf '{\"id\":0,\"method\":\"session/new\",\"params\":"
	                "{\"cwd\":\"%%s\"}}\\n' \"$PWD\" >&3\n"
	                "until agent-intercom-ctl --text inbox 2>/dev/null | grep npm\n"
	                "do sleep 0.1; done\n"
	                "exec 3>&-; wait; grep -c 'does not serve your user' errors\n"
	                "kill \"$(head -n 1 "
	                "\"$HOME\"/.local/state/agent-intercom/intercom.db-instance)\"",
	                getenv("INTERCOM_BUILD"), QUESTION, OPENED);
	says(said.bytes, "npm test");
	says(said.bytes, "\n1\n");
	end();
}
END_TEST

START_TEST(who_runs_a_system_of_their_own_is_told_of_the_one_that_serves_them_too)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin();
	(void)users_run(
	    &users, OPERATOR, &said,
	    "cd \"$HOME\"; PATH=\"%s:$PATH\"; agent-intercom >/dev/null 2>&1 &\n"
	    "system=$!; until agent-intercom where | grep -q runs; do sleep 0.05; done\n"
	    "agent-intercom-ctl --text inbox; agent-intercom-ctl --text health\n"
	    "echo JSON; agent-intercom-ctl --json inbox\nkill $system; wait",
	    getenv("INTERCOM_BUILD"));
	says(said.bytes, "agent-intercom-ctl --shared inbox\n");
	says(said.bytes, "agent-intercom-ctl --shared health\n");
	ck_assert_ptr_null(strstr(strstr(said.bytes, "JSON"), "--shared"));
	(void)users_run(
	    &users, AGENT, &said,
	    "cd \"$HOME\"; PATH=\"%s:$PATH\"; agent-intercom >/dev/null 2>&1 &\n"
	    "system=$!; until agent-intercom where | grep -q runs; do sleep 0.05; done\n"
	    "agent-intercom-ctl --text inbox; agent-intercom mcp </dev/null; kill $system; wait",
	    getenv("INTERCOM_BUILD"));
	says(said.bytes, "this agent asks in a system of your own, which runs; operators of that "
	                 "of this machine (");
	ck_assert_ptr_null(strstr(said.bytes, "--shared"));
	end();
}
END_TEST

/* The operator watches, and what ends the watching is done; then no process of it is left. */
static void watching_ends(const char *how)
{
	OWNED(str) struct str said = { 0 };

	(void)users_run(&users, OPERATOR, &said,
	                "rm -f \"$HOME/in\"; mkfifo \"$HOME/in\"; exec 3<>\"$HOME/in\"\n"
	                "runs() { pgrep -u %u -f 'agent-intercom-ctl watch' >/dev/null; }\n"
	                "%s/agent-intercom-ctl watch <&3 &\n"
	                "until runs; do sleep 0.05; done\n"
	                "%s\n"
	                "wait $!; echo \"status $?\"; while runs; do sleep 0.05; done; echo over",
	                (unsigned)USER_IDS[SERVICE], getenv("INTERCOM_BUILD"), how);
	says(said.bytes, "over\n");
	ck_assert_ptr_null(strstr(said.bytes, "status 0"));
}

START_TEST(a_signal_to_the_operators_ctl_is_one_to_the_ctl_that_runs_for_it)
{
	NEEDS_ROOT();
	begin();
	watching_ends("kill -TERM $!");
	end();
}
END_TEST

START_TEST(without_the_operators_ctl_the_ctl_that_runs_for_it_ends)
{
	NEEDS_ROOT();
	begin();
	watching_ends("kill -KILL $!");
	end();
}
END_TEST

START_TEST(what_runs_for_an_operator_ends_with_the_desk_which_comes_back)
{
	OWNED(str) struct str said = { 0 };
	int desk;

	NEEDS_ROOT();
	begin();
	desk = atoi(users_sql(&users, "SELECT pid FROM worker WHERE name = 'desk'"));
	ck_assert_int_gt(desk, 0);
	ck_assert_int_eq(shell(NULL,
	                       "(until [ -e %s/home-60103/watches ]; do sleep 0.05; done; kill "
	                       "-KILL %d) >/dev/null 2>&1 &",
	                       users.base, desk),
	                 0);
	watching_ends("touch \"$HOME/watches\"");
	users_expect_soon(&users,
	                  "SELECT count(*) FROM worker WHERE name = 'desk' AND state = "
	                  "'ready' AND version <> ''",
	                  "1\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "inbox"), 0);
	end();
}
END_TEST

/* What this user is told by a program of the build that finds no system of theirs. */
static void is_told(enum user who, const char *command, int status, const char *answer)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(users_run(&users, who, &said, "export PATH=\"%s:$PATH\"; %s",
	                           getenv("INTERCOM_BUILD"), command),
	                 status);
	says(said.bytes, answer);
	ck_assert_ptr_null(strstr(said.bytes, "No such file"));
}

START_TEST(who_runs_no_system_is_told_what_the_one_of_the_machine_is_to_their_command)
{
	static const char HOOK[] = "echo '{\"session_id\":\"s\",\"tool_name\":\"Bash\"}' | "
	                           "agent-intercom hook claude PreToolUse";
	static const char ADMIN[] = "an administrator must run this as its user";
	static const enum user WHO[] = { AGENT, OPERATOR, STRANGER };

	NEEDS_ROOT();
	begin();
	is_told(OPERATOR, HOOK, 2, "does not serve your agents");
	is_told(STRANGER, HOOK, 2, "does not serve your agents");
	is_told(STRANGER, "agent-intercom backup \"$HOME/x\"", EX_CONFIG,
	        "you run no system of your own: there is no database at ");
	for (size_t i = 0; i < sizeof(WHO) / sizeof(WHO[0]); i++) {
		is_told(WHO[i], "agent-intercom backup \"$HOME/x\"", EX_CONFIG, ADMIN);
		is_told(WHO[i], "agent-intercom audit verify", EX_CONFIG, ADMIN);
		is_told(WHO[i], "agent-intercom audit export", EX_CONFIG, ADMIN);
	}
	is_told(AGENT, "agent-intercom --db \"$HOME/none/x.db\" backup \"$HOME/x\"", EX_CONFIG,
	        "there is no database at ");
	/* its folder is there by now */
	is_told(OPERATOR,
	        "mkdir -p \"$HOME/.local/state/agent-intercom\"; agent-intercom audit verify",
	        EX_CONFIG, ADMIN);
	is_told(OPERATOR, HOOK, 2, "does not serve your agents");
	end();
}
END_TEST

/* What the service says if it is started so; its exit status. */
static int start_says(struct str *said, const char *options)
{
	return users_run(&users, SERVICE, said, "timeout 60 %s/agent-intercom %s",
	                 getenv("INTERCOM_BUILD"), options);
}

START_TEST(a_group_or_a_folder_that_will_not_do_is_a_wrong_configuration)
{
	OWNED(str) struct str said = { 0 };
	char option[100];

	NEEDS_ROOT();
	users = users_make("");
	(void)snprintf(option, sizeof(option), "--shared %s/project", users.base);
	ck_assert_int_eq(start_says(&said, option), EX_CONFIG);
	says(said.bytes, "belongs to uid 60102, not to us");
	ck_assert_int_eq(chmod(users.shared, 0775), 0);
	(void)snprintf(option, sizeof(option), "--shared %s", users.shared);
	ck_assert_int_eq(start_says(&said, option), EX_CONFIG);
	says(said.bytes, "is open to others");
	ck_assert_int_eq(chmod(users.shared, 0755), 0);
	users_configure(&users, "[shared]\nagents = \"no-such-group\"\n");
	ck_assert_int_eq(start_says(&said, option), EX_CONFIG);
	says(said.bytes, "shared.agents: there is no group 'no-such-group'");
	users_configure(&users, "[shared]\nagents = \"60110\"\noperators = \"60199\"\n");
	ck_assert_int_eq(start_says(&said, option), EX_CONFIG);
	says(said.bytes, "our user must be in its group");
	users_remove(&users);
}
END_TEST

START_TEST(an_agent_of_another_user_without_a_project_is_told_what_its_user_can_do)
{
	OWNED(char_ptr) char *refused = NULL;
	struct relay r;

	NEEDS_ROOT();
	begin();
	r = users_relay_in(&users, AGENT, "/");
	relay_begin(&r, "ping", "{}");
	refused = relay_line(&r);
	says(refused, "start the agent in the folder of a project");
	ck_assert_ptr_null(strstr(refused, "config.toml"));
	relay_kill(&r);
	end();
}
END_TEST

START_TEST(an_agent_in_a_tmp_that_is_not_the_systems_is_told_why_its_folder_is_missing)
{
	OWNED(char_ptr) char *refused = NULL;
	char folder[] = "/tmp/users-XXXXXX";
	struct relay r;

	NEEDS_ROOT();
	begin();
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chown(folder, USER_IDS[AGENT], USER_IDS[AGENT]), 0);
	r = users_relay_in(&users, AGENT, folder);
	relay_hello(&r);
	ck_assert_int_eq(rmdir(folder), 0);
	relay_begin(&r, "ping", "{}");
	refused = relay_line(&r);
	says(refused, "as a system service has a /tmp and a /var/tmp of its own");
	relay_kill(&r);
	end();
}
END_TEST

START_TEST(what_one_user_sends_is_bounded_and_keeps_no_other_from_calling)
{
	OWNED(str) struct str long_ping = { 0 };
	OWNED(char_ptr) char *last = NULL, *theirs = NULL;
	struct relay r;

	NEEDS_ROOT();
	users = users_make("recorded_bytes = 1048576\n");
	users_start(&users);
	str_add(&long_ping, "{\"status_message\":\"");
	for (int i = 0; i < 100000; i++)
		str_add_char(&long_ping, 'x');
	str_add(&long_ping, "\"}");
	r = users_relay(&users, AGENT);
	for (int i = 0; i < 4; i++) {
		free(last);
		relay_begin(&r, "ping", str_text(&long_ping));
		last = relay_line(&r);
	}
	says(last, "not recorded: your user's agents have filled 1048576 bytes within an hour");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM tool_call"), "3\n");
	relay_kill(&r);
	r = users_relay_in(&users, OTHER_AGENT, "/");
	relay_begin(&r, "ping", "{}");
	theirs = relay_line(&r);
	ck_assert_ptr_null(strstr(theirs, "not recorded"));
	relay_kill(&r);
	end();
}
END_TEST

START_TEST(what_a_question_shows_of_a_big_file_is_bounded_too)
{
	OWNED(str) struct str lines = { 0 };
	OWNED(char_ptr) char *refused = NULL;
	struct relay r;

	NEEDS_ROOT();
	users = users_make("recorded_bytes = 1048576\n");
	users_start(&users);
	while (lines.length < (2 << 20))
		str_addf(&lines, "%zu is a line of a big file\n", lines.length);
	put_file(users.project, "big.txt", lines.bytes);
	r = users_relay(&users, AGENT);
	relay_begin(&r, "check_clearance",
	            "{\"title\":\"all of it\",\"file_path\":\"big.txt\",\"diff\":\"x\\n\"}");
	refused = relay_end(&r);
	has(refused, "error_code", "too_much_recorded");
	says(refused, "not recorded: your user's agents have filled 1048576 bytes");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM request"), "0\n");
	relay_kill(&r);
	end();
}
END_TEST

START_TEST(one_user_may_have_so_many_questions_open_and_keeps_no_other_from_asking)
{
	OWNED(char_ptr) char *refused = NULL;
	struct relay r, other;
	char theirs[100];

	NEEDS_ROOT();
	users = users_make("open_questions = 2\n");
	users_start(&users);
	r = users_relay(&users, AGENT);
	for (int i = 0; i < 2; i++)
		relay_begin(&r, "transmit",
		            i ? "{\"prompt_text\":\"one?\"}" : "{\"prompt_text\":\"two?\"}");
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "2\n");
	relay_begin(&r, "transmit", "{\"prompt_text\":\"three?\"}");
	refused = relay_end(&r);
	has(refused, "error_code", "too_many_questions");
	says(refused, "2 questions of your user's agents are open");
	(void)snprintf(theirs, sizeof(theirs), "%s/theirs", users.base);
	ck_assert_int_eq(mkdir(theirs, 0700), 0);
	ck_assert_int_eq(chmod(theirs, 0777), 0);
	ck_assert_int_eq(chown(theirs, USER_IDS[OTHER_AGENT], USER_IDS[OTHER_AGENT]), 0);
	other = users_relay_in(&users, OTHER_AGENT, theirs);
	relay_begin(&other, "transmit", "{\"prompt_text\":\"four?\"}");
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "3\n");
	relay_kill(&other);
	relay_kill(&r);
	ck_assert_int_eq(users_stop(&users), 0);
	users_remove(&users);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("users");
	TCase *c = tcase_create("users");

	tcase_add_test(c,
	               an_agent_asks_an_operator_of_another_user_approves_and_the_file_is_written);
	tcase_add_test(c, an_operator_is_told_whose_agent_asks_and_no_agent_can_say_that);
	tcase_add_test(c, an_operator_who_was_made_inactive_may_answer_no_more);
	tcase_add_test(c,
	               a_hook_asks_and_what_is_approved_instead_is_read_with_the_operators_rights);
	tcase_add_test(c, the_agent_waits_for_its_system_and_starts_none_of_its_own);
	tcase_add_test(c, where_and_doctor_say_to_an_agents_user_and_an_operator_what_serves_them);
	tcase_add_test(c, who_is_in_no_group_starts_a_system_of_their_own);
	tcase_add_test(c, a_proxy_whose_user_is_refused_asks_in_a_system_of_their_own);
	tcase_add_test(c, who_runs_a_system_of_their_own_is_told_of_the_one_that_serves_them_too);
	tcase_add_test(c,
	               who_runs_no_system_is_told_what_the_one_of_the_machine_is_to_their_command);
	tcase_add_test(c, a_signal_to_the_operators_ctl_is_one_to_the_ctl_that_runs_for_it);
	tcase_add_test(c, without_the_operators_ctl_the_ctl_that_runs_for_it_ends);
	tcase_add_test(c, what_runs_for_an_operator_ends_with_the_desk_which_comes_back);
	tcase_add_test(c, a_group_or_a_folder_that_will_not_do_is_a_wrong_configuration);
	tcase_add_test(c, an_agent_of_another_user_without_a_project_is_told_what_its_user_can_do);
	tcase_add_test(c,
	               an_agent_in_a_tmp_that_is_not_the_systems_is_told_why_its_folder_is_missing);
	tcase_add_test(c, what_one_user_sends_is_bounded_and_keeps_no_other_from_calling);
	tcase_add_test(c, what_a_question_shows_of_a_big_file_is_bounded_too);
	tcase_add_test(c, one_user_may_have_so_many_questions_open_and_keeps_no_other_from_asking);
	suite_add_tcase(s, c);
	return run_suite(s);
}
