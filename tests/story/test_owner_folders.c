/* Agents of two users whose homes nobody else may enter: as-owner starts what reads and writes
 * their files, as them. */
#include "owner_case.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(what_is_approved_is_written_in_a_home_that_is_closed_to_the_system_as_its_owner)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;
	char id[40];

	NEEDS_ACCOUNTS();
	work_in_home(AGENT);
	r = users_relay(&users, AGENT);
	(void)strcpy(id, users_ask(&users, &r, "new/a.txt", "one\n")); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &r, id, "new/a.txt", "one\n");
	belongs_to(AGENT, "new");
	belongs_to(AGENT, "new/a.txt");
	ck_assert_int_ne(users_run(&users, SERVICE, &said, "cat %s/new/a.txt", users.project), 0);
	ck_assert_str_eq(
	    users_sql(&users, "SELECT uid, name, accepted_by IS NULL FROM workspace_owner"),
	    "60102\tt-agent\t1\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "undo %s", id), 0);
	users_expect_soon(&users, "SELECT state FROM apply ORDER BY seq DESC LIMIT 1", "undone\n");
	ck_assert_int_ne(access(below(users.project, "new"), F_OK), 0);
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM fence_refusal"), "0\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(agents_of_two_users_are_served_each_in_its_own_folder_alone)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n");
	OWNED(char_ptr) char *answer = NULL;
	struct relay r, other;
	char first[80], id[40];

	NEEDS_ACCOUNTS();
	work_in_home(OTHER_AGENT);
	(void)strcpy(first, users.project); /* NOLINT: it fits */
	other = users_relay(&users, OTHER_AGENT);
	(void)strcpy(id, users_ask(&users, &other, "b.txt", "two\n")); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &other, id, "b.txt", "two\n");
	belongs_to(OTHER_AGENT, "b.txt");
	work_in_home(AGENT);
	r = users_relay(&users, AGENT);
	(void)strcpy(id, users_ask(&users, &r, "a.txt", "one\n")); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &r, id, "a.txt", "one\n");
	belongs_to(AGENT, "a.txt");
	ck_assert_int_eq(relay_stop(&r), 0);
	(void)strcpy(users.project, first); /* NOLINT: it fits */
	r = users_relay(&users, AGENT);
	relay_begin(&r, "check_clearance", arguments);
	answer = relay_line(&r);
	says(answer, "no workspace");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM request"), "2\n");
	relay_kill(&r);
	ck_assert_int_eq(relay_stop(&other), 0);
	users_end();
}
END_TEST

/* Calls this until it is refused; the answer. The caller frees it. */
static char *call_until_refused(struct relay *r, const char *tool, const char *arguments)
{
	int64_t give_up = agent_ms() + AGENT_PATIENCE_MS;

	for (;;) {
		char *answer;

		relay_begin(r, tool, arguments);
		answer = relay_line(r);
		if (strstr(answer, "\"error\""))
			return answer;
		ck_assert_msg(agent_ms() < give_up, "it is still answered: %s", answer);
		free(answer);
		(void)poll(NULL, 0, 200);
	}
}

START_TEST(who_has_left_the_group_asks_nothing_more_on_a_connection_that_is_open)
{
	OWNED(char_ptr) char *refused = NULL, *answer = NULL;
	struct relay r;

	NEEDS_ACCOUNTS();
	work_in_home(AGENT);
	r = users_relay(&users, AGENT);
	free(relay_call(&r, "ping", "{}"));
	users_leave(&users, AGENT);
	refused = call_until_refused(&r, "ping", "{}");
	says(refused, "user t-agent is not in the group");
	relay_begin(&r, "transmit", "{\"prompt_text\":\"go on?\"}");
	answer = relay_line(&r);
	says(answer, "user t-agent is not in the group");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM request"), "0\n");
	relay_kill(&r);
	users_end();
}
END_TEST

START_TEST(who_has_left_the_operators_answers_nothing_more_from_a_login_of_before)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;
	char id[40];

	NEEDS_ACCOUNTS();
	work_in_home(AGENT);
	r = users_relay(&users, AGENT);
	(void)strcpy(id, users_ask(&users, &r, "a.txt", "one\n")); /* NOLINT: it fits */
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "inbox"), 0);
	ck_assert_int_eq(
	    users_run(&users, OPERATOR, NULL,
	              "mkfifo \"$HOME/in\"; exec 3<>\"$HOME/in\"; { %s/agent-intercom-ctl watch "
	              "<&3 >\"$HOME/watched\" 2>&1; "
	              "echo $? >\"$HOME/ended\"; } >/dev/null 2>&1 & until grep -q . "
	              "\"$HOME/watched\"; do "
	              "sleep 0.05; done",
	              getenv("INTERCOM_BUILD")),
	    0);
	/* Met while it was an operator, it says later what it wants. That it was met shows in the
	 * answer to one who came later. */
	put_file(
	    users.base, "late.py",
	    "import array, os, socket, sys, time\n"
	    "def connected():\n"
	    " s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
	    " s.connect(os.environ['INTERCOM_SHARED'] + '/desk.sock')\n"
	    " return s\n"
	    "s, later = connected(), connected()\n"
	    "later.send(b'?')\n"
	    "later.recv(100)\n"
	    "if os.fork(): os._exit(0)\n"
	    "while not os.path.exists('left'): time.sleep(0.01)\n"
	    "s.sendmsg([b'agent-intercom-ctl 1\\0plain\\0approve\\0' + sys.argv[1].encode()"
	    " + b'\\0'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [1] * 3))])\n"
	    "open('answer', 'wb').write(s.recv(100))\n");
	ck_assert_int_eq(users_run(&users, OPERATOR, NULL,
	                           "cd && python3 %s/late.py %s </dev/null >/dev/null 2>&1",
	                           users.base, id),
	                 0);
	users_leave(&users, OPERATOR);
	ck_assert_int_eq(shell(&said,
	                       "cd %s/home-%u && touch left && until [ -s answer ]; do sleep 0.05; "
	                       "done; cat answer",
	                       users.base, (unsigned)USER_IDS[OPERATOR]),
	                 0);
	ck_assert_str_eq(said.bytes, "ryour user is not in the group of the operators");
	ck_assert_int_eq(shell(NULL, "until [ -s %s/home-%u/ended ]; do sleep 0.05; done",
	                       users.base, (unsigned)USER_IDS[OPERATOR]),
	                 0);
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %s", id), 1);
	says(said.bytes, "your user is not in the group of the operators");
	users_delete(&users, OPERATOR);
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %s", id), 1);
	says(said.bytes, "your user is not in the group of the operators");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM decision"), "0\n");
	ck_assert_int_eq(users_ctl(&users, SERVICE, NULL, "reject %s", id), 0);
	free(relay_end(&r));
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

/* By another name, and although its own user may write there. */
START_TEST(a_folder_never_becomes_that_of_who_asks_first_and_does_not_own_it)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n");
	struct relay r;
	char other[100], project[80], id[40];

	NEEDS_ACCOUNTS();
	(void)strcpy(project, users.project); /* NOLINT: it fits; of the agent's, open to all */
	work_in_home(OTHER_AGENT);
	(void)strcpy(other, users.project); /* NOLINT: it fits */
	ck_assert_int_eq(mount(project, other, NULL, MS_BIND, NULL), 0);
	for (int i = 0; i < 2; i++) {
		OWNED(char_ptr) char *answer = NULL;

		(void)strcpy(users.project, i ? project : other); /* NOLINT: it fits */
		r = users_relay(&users, OTHER_AGENT);
		relay_begin(&r, "check_clearance", arguments);
		answer = relay_line(&r);
		says(answer, "the folder of another user");
		ck_assert_int_eq(relay_stop(&r), 0);
	}
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM workspace_owner"), "0\n");
	r = users_relay(&users, AGENT);
	(void)strcpy(id, users_ask(&users, &r, "a.txt", "one\n")); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &r, id, "a.txt", "one\n");
	ck_assert_str_eq(users_sql(&users, "SELECT uid FROM workspace_owner"), "60102\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(umount2(other, MNT_DETACH), 0);
	users_end();
}
END_TEST

/* After an agent of its owner was served there. */
static void project_gets_owner(int user)
{
	OWNED(str) struct str said = { 0 };
	struct relay r = users_relay(&users, AGENT);
	char id[40];

	(void)strcpy(id, users_ask(&users, &r, "a.txt", "one\n")); /* NOLINT: it fits */
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "reject %s", id), 0);
	free(relay_end(&r));
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(chown(users.project, USER_IDS[user], USER_IDS[user]), 0);
}

START_TEST(a_folder_that_has_got_another_owner_is_served_when_an_operator_says_so)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(str) struct str said = { 0 };
	struct relay r;
	char id[40];

	NEEDS_ACCOUNTS();
	project_gets_owner(OTHER_AGENT);
	r = users_relay(&users, OTHER_AGENT);
	relay_begin(&r, "check_clearance", arguments);
	answer = relay_line(&r);
	says(answer, "belonged to t-agent");
	says(answer, "agent-intercom-ctl owner");
	ck_assert_str_eq(users_sql(&users, "SELECT name, accepted_at IS NULL FROM workspace_owner"
	                                   " ORDER BY seq"),
	                 "t-agent\t0\nt-other\t1\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "owner"), 0);
	says(said.bytes, users.project);
	says(said.bytes, "t-other");
	ck_assert_msg(users_ctl(&users, OPERATOR, &said, "owner %s", users.project) == 0, "%s",
	              said.bytes);
	ck_assert_str_eq(users_sql(&users, "SELECT accepted_by FROM workspace_owner"
	                                   " ORDER BY seq DESC LIMIT 1"),
	                 "local:t-operator\n");
	(void)strcpy(id, users_ask(&users, &r, "b.txt", "two\n")); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &r, id, "b.txt", "two\n");
	belongs_to(OTHER_AGENT, "b.txt");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(a_folder_that_the_systems_own_user_has_got_is_served_when_an_operator_says_so)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n"), *answer = NULL;
	OWNED(str) struct str said = { 0 };
	struct relay r;
	char id[40];

	NEEDS_ACCOUNTS();
	project_gets_owner(SERVICE);
	r = users_relay(&users, SERVICE);
	relay_begin(&r, "check_clearance", arguments);
	answer = relay_line(&r);
	says(answer,
	     "belonged to t-agent when agents first worked there, and belongs to t-service");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "owner %s", users.project), 0);
	(void)strcpy(id, users_ask(&users, &r, "b.txt", "two\n")); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &r, id, "b.txt", "two\n");
	belongs_to(SERVICE, "b.txt");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(nothing_of_an_earlier_owner_is_asked_recovered_or_written_for_another_one)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "one\n");
	OWNED(char_ptr) char *told = NULL, *refused = NULL, *late = NULL, *open = NULL;
	OWNED(str) struct str said = { 0 };
	struct relay r, other;
	char first[40], id[40], diff[80];

	NEEDS_ACCOUNTS();
	r = users_relay(&users, AGENT);
	(void)strcpy(first, users_ask(&users, &r, "a.txt", "one\n")); /* NOLINT: it fits */
	approve(first);
	told = relay_end(&r);
	has(told, "status", "approved");
	(void)users_ask(&users, &r, "b.txt", "two\n");
	ck_assert_int_eq(chown(users.project, USER_IDS[OTHER_AGENT], USER_IDS[OTHER_AGENT]), 0);

	other = users_relay(&users, OTHER_AGENT);
	relay_begin(&other, "check_clearance", arguments);
	refused = relay_line(&other);
	says(refused, "belonged to t-agent");
	open = relay_end(&r);
	has(open, "status", "rejected");
	says(open, "the folder has another owner");
	ck_assert_str_eq(users_sql(&users, "SELECT status FROM session"), "terminated\n");
	(void)snprintf(diff, sizeof(diff), "{\"request_id\":\"%s\"}", first);
	relay_begin(&r, "check_diff", diff);
	late = relay_line(&r);
	says(late, "has been terminated");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "owner %s", users.project), 0);

	(void)strcpy(id, users_ask(&users, &other, "a.txt", "one\n")); /* NOLINT: it fits */
	ck_assert_str_ne(id, first);
	approve(id);
	users_is_written(&users, &other, id, "a.txt", "one\n");
	belongs_to(OTHER_AGENT, "a.txt");
	ck_assert_str_eq(users_sql(&users, "SELECT state FROM request ORDER BY seq"),
	                 "expired\nrejected\nconsumed\n");
	ck_assert_int_eq(relay_stop(&other), 0);
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(an_open_session_asks_nothing_in_a_folder_that_is_another_users_by_now)
{
	OWNED(char_ptr) char *arguments = proposal("b.txt", "two\n"), *told = NULL, *late = NULL;
	OWNED(str) struct str said = { 0 };
	struct relay r;
	char id[40];

	NEEDS_ACCOUNTS();
	r = users_relay(&users, AGENT);
	(void)strcpy(id, users_ask(&users, &r, "a.txt", "one\n")); /* NOLINT: it fits */
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "reject %s", id), 0);
	told = relay_end(&r);
	has(told, "status", "rejected");
	ck_assert_int_eq(chown(users.project, USER_IDS[OTHER_AGENT], USER_IDS[OTHER_AGENT]), 0);
	ck_assert_int_eq(chmod(users.project, 0755), 0);
	relay_begin(&r, "check_clearance", arguments);
	late = relay_line(&r);
	says(late, "the folder of another user");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM request"), "1\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

/* A checkpoint of the project, into which a file of that size comes first: how it ended. */
static const char *after_file(const char *name, int kilobytes)
{
	OWNED(str) struct str said = { 0 };
	static int count;
	char query[100];

	ck_assert_int_eq(users_run(&users, AGENT, NULL, "head -c %dK /dev/urandom >%s/%s",
	                           kilobytes, users.project, name),
	                 0);
	(void)users_ctl(&users, OPERATOR, &said, "checkpoint create cp%d", ++count);
	(void)snprintf(query, sizeof(query),
	               "SELECT state IN ('done', 'refused') FROM checkpoint WHERE label = 'cp%d'",
	               count);
	users_expect_soon(&users, query, "1\n");
	(void)snprintf(query, sizeof(query),
	               "SELECT state, coalesce(why, '') FROM checkpoint WHERE label = 'cp%d'",
	               count);
	return users_sql(&users, query);
}

START_TEST(what_checkpoints_hold_of_one_users_folders_is_bounded_and_of_anothers_is_not_touched)
{
	static const char FULL[] = "refused\tthe checkpoints of this user's folders would hold "
	                           "more than 2 MiB (setting shared.checkpoint_bytes)\n";
	struct relay r;

	NEEDS_ACCOUNTS_WITH("checkpoint_bytes = 2500000\n");
	work_in_home(AGENT);
	r = users_relay(&users, AGENT);
	free(relay_call(&r, "ping", "{}"));
	ck_assert_str_eq(after_file("a", 1000), "done\t\n");
	ck_assert_str_eq(after_file("a", 1000), "done\t\n");
	ck_assert_str_eq(after_file("b", 1000), FULL);
	ck_assert_int_eq(unlink(below(users.project, "b")), 0);
	ck_assert_int_eq(relay_stop(&r), 0);
	work_in_home(OTHER_AGENT);
	r = users_relay(&users, OTHER_AGENT);
	free(relay_call(&r, "ping", "{}"));
	users_expect_soon(&users,
	                  "SELECT DISTINCT state FROM checkpoint WHERE workspace_root GLOB "
	                  "'*60105*'",
	                  "done\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(a_checkpoint_of_a_closed_home_is_taken_and_put_back)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;
	char id[40];

	NEEDS_ACCOUNTS();
	work_in_home(AGENT);
	put_file(users.project, "kept.txt", "before\n");
	ck_assert_int_eq(chown(below(users.project, "kept.txt"), USER_IDS[AGENT], USER_IDS[AGENT]),
	                 0);
	r = users_relay(&users, AGENT);
	(void)strcpy(id, users_ask(&users, &r, "a.txt", "one\n")); /* NOLINT: it fits */
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "reject %s", id), 0);
	free(relay_end(&r));
	ck_assert_msg(users_ctl(&users, OPERATOR, &said, "checkpoint create cp") == 0, "%s",
	              said.bytes);
	users_expect_soon(&users, "SELECT DISTINCT state FROM checkpoint", "done\n");
	put_file(users.project, "kept.txt", "after\n");
	ck_assert_msg(users_ctl(&users, OPERATOR, &said, "checkpoint restore cp --yes") == 0, "%s",
	              said.bytes);
	users_expect_soon(&users, "SELECT state FROM workspace_restore", "done\n");
	{
		OWNED(char_ptr) char *have = get_file(users.project, "kept.txt");

		ck_assert_str_eq(have, "before\n");
	}
	belongs_to(AGENT, "kept.txt");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(an_operator_sees_what_is_in_a_closed_home_as_its_owner_may)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;

	NEEDS_ACCOUNTS();
	r = work_there("mkdir -p src shut && echo one >src/a.txt && chmod 000 shut && "
	               "ln -s src/a.txt near && ln -s \"$HOME\" far && echo mine >\"$HOME/mine\"");
	ck_assert_int_ne(users_run(&users, SERVICE, NULL, "ls %s", users.project), 0);
	looks("files", 0, "w/\n├── far -> /");
	looks("files", 0,
	      "\n├── near -> src/a.txt\n├── shut/ (cannot be read)\n└── src/\n    └── a.txt\n"
	      "\n2 directories, 1 files, 2 others; depth 3 (--depth N)\n");
	looks("file near", 0, "one\n");
	looks("file far/mine", 1, "permission denied: \"far/mine\" leads outside the workspace");
	looks("file shut/x", 1, "Permission denied");
	looks("file none", 1, "none does not exist");
	looks("checkpoint create cp", 0, "");
	users_expect_soon(&users, "SELECT DISTINCT state FROM checkpoint", "done\n");
	ck_assert_int_eq(users_run(&users, AGENT, NULL, "echo two >>\"$HOME/w/src/a.txt\""), 0);
	looks("diff cp", 0, " one\n+two\n");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM fence_refusal"), "0\n");
	while (shell(&said, "pgrep -P %d -x filer", (int)users.owner_pid) == 0)
		(void)poll(NULL, 0, 20); /* they end with whom they work for */
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

START_TEST(an_operator_sees_nothing_of_a_closed_folder_in_which_no_agent_has_worked)
{
	static const char REFUSED[] = "no agent of this system has worked in ";
	OWNED(str) struct str said = { 0 };
	char secret[100], order[200];
	struct relay r;

	NEEDS_ACCOUNTS();
	r = work_there("mkdir -m 700 ../.secret && echo one >../.secret/key");
	(void)snprintf(secret, sizeof(secret), "%s/../.secret", users.project);
	ck_assert_int_eq(shell(&said, "readlink -f '%s' | tr -d '\\n'", secret), 0);
	(void)snprintf(order, sizeof(order), "checkpoint create cp --workspace %s", said.bytes);
	looks(order, 1, REFUSED);
	(void)snprintf(order, sizeof(order), "files --workspace %s", said.bytes);
	looks(order, 1, REFUSED);
	(void)snprintf(order, sizeof(order), "checkpoint create cp --workspace %s", users.project);
	looks(order, 0, "");
	looks("files --workspace project", 1, "there is no [[workspace]] 'project' with a path");
	users_expect_soon(&users, "SELECT DISTINCT state FROM checkpoint", "done\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

enum { CROWD = 64 };

START_TEST(a_write_of_a_crowd_of_files_is_written_as_their_owner)
{
	OWNED(str) struct str diff = { 0 };
	struct relay r;
	char id[40];

	NEEDS_ACCOUNTS();
	r = work_there("mkdir many");
	for (int i = 0; i <= CROWD; i++)
		str_addf(&diff, "--- /dev/null\n+++ b/many/%d\n@@ -0,0 +1 @@\n+text\n", i);
	(void)strcpy(id, users_ask(&users, &r, "many/0", diff.bytes)); /* NOLINT: it fits */
	approve(id);
	users_is_written(&users, &r, id, "many/64", "text\n");
	belongs_to(AGENT, "many/64");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM fence_refusal"), "0\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	users_end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("owner_folders");
	TCase *c = tcase_create("owner_folders");

	tcase_add_test(
	    c, what_is_approved_is_written_in_a_home_that_is_closed_to_the_system_as_its_owner);
	tcase_add_test(c, agents_of_two_users_are_served_each_in_its_own_folder_alone);
	tcase_add_test(c, who_has_left_the_group_asks_nothing_more_on_a_connection_that_is_open);
	tcase_add_test(c, who_has_left_the_operators_answers_nothing_more_from_a_login_of_before);
	tcase_add_test(c, a_folder_never_becomes_that_of_who_asks_first_and_does_not_own_it);
	tcase_add_test(c, a_folder_that_has_got_another_owner_is_served_when_an_operator_says_so);
	tcase_add_test(
	    c, a_folder_that_the_systems_own_user_has_got_is_served_when_an_operator_says_so);
	tcase_add_test(c,
	               nothing_of_an_earlier_owner_is_asked_recovered_or_written_for_another_one);
	tcase_add_test(c, an_open_session_asks_nothing_in_a_folder_that_is_another_users_by_now);
	tcase_add_test(
	    c,
	    what_checkpoints_hold_of_one_users_folders_is_bounded_and_of_anothers_is_not_touched);
	tcase_add_test(c, a_checkpoint_of_a_closed_home_is_taken_and_put_back);
	tcase_add_test(c, an_operator_sees_what_is_in_a_closed_home_as_its_owner_may);
	tcase_add_test(c, an_operator_sees_nothing_of_a_closed_folder_in_which_no_agent_has_worked);
	tcase_add_test(c, a_write_of_a_crowd_of_files_is_written_as_their_owner);
	suite_add_tcase(s, c);
	return run_suite(s);
}
