/* An agent that an operator has started for its user, and the as-owner that starts it: what the one
 * cannot reach, and what the system's user, taken over, cannot get from the other. */
#include "agent.h"
#include "owner.h"
#include "process.h"
#include "users.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEEDS_ACCOUNTS()                                                                           \
	do {                                                                                       \
		SKIP_UNLESS(geteuid() == 0, "root, who can become several users");                 \
		users = users_make("[commands]\ntry = \"sh $HOME/try\"\n");                        \
		SKIP_UNLESS(users_have_accounts(&users), "mount namespaces");                      \
		users_start_starter(&users);                                                       \
	} while (0)

static struct users users;

static void end(void)
{
	ck_assert_int_eq(users_stop_starter(&users), 0);
	users_remove(&users);
}

/* As the system's user: a keeper in this folder, for this user. */
static void is_refused(enum owner_kind kind, uid_t uid, const char *folder, const char *word,
                       const char *why)
{
	int pair[2], got;
	struct owner_ask ask = { .kind = kind, .uid = uid, .workspace = folder, .words = { word } };
	struct owner_process p;
	struct err e = { 0 };

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ask.fds = &pair[1];
	ask.fd_count = 1;
	ck_assert_int_eq(seteuid(USER_IDS[SERVICE]), 0);
	got = owner_start(users.start_socket, &ask, AGENT_PATIENCE_MS, &p, &e);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_msg(got < 0 && e.kind == ERR_REFUSED && strstr(e.text, why), "uid %u in %s: %s",
	              (unsigned)uid, folder ? folder : "", e.text);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

START_TEST(nothing_is_started_for_root_the_system_or_a_user_outside_of_the_group)
{
	const char *project;

	NEEDS_ACCOUNTS();
	project = users.project;
	is_refused(OWNER_KEEPER, 0, "/", "keep", "nothing runs as root");
	is_refused(OWNER_KEEPER, USER_IDS[SERVICE], project, "keep", "a user of the system's own");
	is_refused(OWNER_KEEPER, USER_IDS[HELPER], project, "keep", "a user of the system's own");
	is_refused(OWNER_KEEPER, USER_IDS[OPERATOR], project, "keep", "is not in the group");
	is_refused(OWNER_KEEPER, USER_IDS[STRANGER], project, "keep", "is not in the group");
	is_refused(OWNER_SWEEPER, 0, NULL, "sweep", "nothing runs as root");
	is_refused(OWNER_SWEEPER, USER_IDS[OPERATOR], NULL, "sweep", "is not in the group");
	end();
}
END_TEST

START_TEST(nothing_is_started_in_another_users_folder_by_a_link_or_by_another_word)
{
	char link[120], others[120];

	NEEDS_ACCOUNTS();
	(void)snprintf(link, sizeof(link), "%s/link", users.base);
	(void)snprintf(others, sizeof(others), "%s/home-%u", users.base,
	               (unsigned)USER_IDS[OTHER_AGENT]);
	ck_assert_int_eq(symlink(users.project, link), 0);
	is_refused(OWNER_KEEPER, USER_IDS[OTHER_AGENT], users.project, "keep",
	           "does not belong to user t-other");
	is_refused(OWNER_KEEPER, USER_IDS[AGENT], "/usr", "keep",
	           "does not belong to user t-agent");
	is_refused(OWNER_KEEPER, USER_IDS[AGENT], others, "keep", "Permission denied");
	is_refused(OWNER_KEEPER, USER_IDS[AGENT], link, "keep", "symlink");
	is_refused(OWNER_KEEPER, USER_IDS[AGENT], users.project, "sweep", "no wish of this kind");
	is_refused(OWNER_KEEPER, USER_IDS[AGENT], NULL, "keep", "no wish of this kind");
	is_refused(OWNER_SWEEPER, USER_IDS[AGENT], users.project, "sweep", "no wish of this kind");
	end();
}
END_TEST

START_TEST(each_as_owner_starts_its_own_kinds_only)
{
	NEEDS_ACCOUNTS();
	is_refused(OWNER_READER, USER_IDS[AGENT], NULL, "auto", "the other as-owner");
	ck_assert_int_eq(users_stop_starter(&users), 0);
	users_start_owner(&users);
	(void)snprintf(users.start_socket, sizeof(users.start_socket), "%s", users.owner_socket);
	is_refused(OWNER_KEEPER, USER_IDS[AGENT], users.project, "keep", "the other as-owner");
	is_refused(OWNER_SWEEPER, USER_IDS[AGENT], NULL, "sweep", "the other as-owner");
	ck_assert_int_eq(users_stop_owner(&users), 0);
	users_remove(&users);
}
END_TEST

/* What the agent's user prints, started by the operator. */
static void tries(struct str *said, const char *script)
{
	ck_assert_int_eq(users_run(&users, AGENT, NULL, "cat >\"$HOME/try\" <<'E'\n%s\nE", script),
	                 0);
	(void)users_ctl(&users, OPERATOR, said, "--text run try --workspace %s", users.project);
	says(said->bytes, "over");
}

START_TEST(what_runs_as_an_agents_user_can_neither_signal_trace_nor_read_a_process_of_the_system)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str script = { 0 };

	NEEDS_ACCOUNTS();
	users_start(&users);
	str_addf(&script,
	         "for p in $(pgrep -u %u) %d; do kill -CONT $p && echo signalled $p; "
	         "cat /proc/$p/environ && echo read $p; ls /proc/$p/fd && echo listed $p; "
	         "head -c 1 /proc/$p/mem && echo mem $p; done 2>/dev/null; "
	         "for p in $(pgrep -u 60102 -x keeper); do echo keeper; cat /proc/$p/environ && "
	         "echo read it; ls /proc/$p/fd && echo listed it; done 2>/dev/null; "
	         "pgrep -u %u | wc -l; echo over",
	         (unsigned)USER_IDS[SERVICE], (int)users.starter_pid, (unsigned)USER_IDS[SERVICE]);
	tries(&said, script.bytes);
	says(said.bytes, "\nkeeper\n");
	for (size_t i = 0; i < 4; i++) {
		static const char *const DONE[] = { "signalled", "read", "listed", "mem " };

		ck_assert_msg(!strstr(said.bytes, DONE[i]), "%s", said.bytes);
	}
	ck_assert_int_eq(users_stop(&users), 0);
	end();
}
END_TEST

/* A process of this program as the agent's user, stopped before its first instruction. */
static pid_t stopped_at_its_start(const char *program)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (setresuid(USER_IDS[AGENT], USER_IDS[AGENT], USER_IDS[AGENT]))
			_exit(1);
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)execl(program, program, "--version", (char *)NULL);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSTOPPED(status), "%s does not start: %d", program, status);
	return pid;
}

static bool agents_user_reads(const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (setresuid(USER_IDS[AGENT], USER_IDS[AGENT], USER_IDS[AGENT]))
			_exit(2);
		_exit(open(path, O_RDONLY | O_CLOEXEC) < 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 0;
}

static void is_closed_to_its_user(const char *name)
{
	char program[PROGRAM_BYTES], path[64];
	pid_t pid;

	test_program(name, program);
	pid = stopped_at_its_start(program);
	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	ck_assert_msg(agents_user_reads(path), "%s", path);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	ck_assert_msg(!agents_user_reads(path), "%s of %s", path, name);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(what_the_system_starts_as_an_agents_user_is_closed_to_it_before_its_first_instruction)
{
	NEEDS_ACCOUNTS();
	is_closed_to_its_user("hand");
	is_closed_to_its_user("filer");
	is_closed_to_its_user("keeper");
	end();
}
END_TEST

START_TEST(what_runs_as_an_agents_user_reaches_neither_anothers_folder_nor_what_the_system_has)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str script = { 0 };

	NEEDS_ACCOUNTS();
	users_start(&users);
	ck_assert_int_eq(users_run(&users, OTHER_AGENT, NULL, "echo secret >\"$HOME/mine\""), 0);
	str_addf(&script,
	         "exec 2>&1; cat %s/home-%u/mine %s %s/etc/agent-intercom/config.toml; touch "
	         "%s/home-%u/x; "
	         "python3 -c 'import socket; socket.socket(socket.AF_UNIX, "
	         "socket.SOCK_SEQPACKET).connect(\"%s\"); print(\"ask\" + \"ed\")'; "
	         "ls -l /proc/self/fd | grep -c -e socket -e memfd; id -G; echo over",
	         users.base, (unsigned)USER_IDS[OTHER_AGENT], users.database, users.base,
	         users.base, (unsigned)USER_IDS[OTHER_AGENT], users.start_socket);
	tries(&said, script.bytes);
	ck_assert_msg(!strstr(said.bytes, "secret") && !strstr(said.bytes, "SQLite") &&
	                  !strstr(said.bytes, "http_port") && !strstr(said.bytes, "asked"),
	              "%s", said.bytes);
	says(said.bytes, "Permission denied");
	says(said.bytes, "\n0\n60102 60110\n");
	ck_assert_int_eq(users_stop(&users), 0);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_users_agents");
	TCase *c = tcase_create("attack_users_agents");

	tcase_add_test(c, nothing_is_started_for_root_the_system_or_a_user_outside_of_the_group);
	tcase_add_test(c, nothing_is_started_in_another_users_folder_by_a_link_or_by_another_word);
	tcase_add_test(c, each_as_owner_starts_its_own_kinds_only);
	tcase_add_test(
	    c,
	    what_runs_as_an_agents_user_can_neither_signal_trace_nor_read_a_process_of_the_system);
	tcase_add_test(
	    c,
	    what_the_system_starts_as_an_agents_user_is_closed_to_it_before_its_first_instruction);
	tcase_add_test(
	    c, what_runs_as_an_agents_user_reaches_neither_anothers_folder_nor_what_the_system_has);
	suite_add_tcase(s, c);
	return run_suite(s);
}
