/* as-owner, which may become any user: what the system's user, taken over, cannot get from it, and
 * what others cannot. What it starts is looked at from outside, as root sees it. The filers of
 * workspaces: test_attack_owner_filer.c. */
#include "attack_owner.h"
#include "hand_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A hand for mcp-front as this uid, asked for by that user. ours: the socket to it. */
static int ask_as(enum user asker, uid_t uid, struct owner_process *p, int *ours, struct err *e)
{
	int pair[2], got;
	struct owner_ask ask = { .kind = OWNER_READER, .uid = uid, .words = { "auto" } };

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ask.fds = &pair[1];
	ask.fd_count = 1;
	*e = (struct err){ .kind = ERR_NONE };
	ck_assert_int_eq(seteuid(USER_IDS[asker]), 0);
	got = owner_start(users.owner_socket, &ask, AGENT_PATIENCE_MS, p, e);
	ck_assert_int_eq(seteuid(0), 0);
	(void)close(pair[1]);
	*ours = pair[0];
	return got;
}

static void is_refused(uid_t uid, const char *why)
{
	struct owner_process p;
	struct err e;
	int ours;

	ck_assert_int_eq(ask_as(SERVICE, uid, &p, &ours, &e), -1);
	ck_assert_msg(e.kind == ERR_REFUSED && strstr(e.text, why), "uid %u: %s", (unsigned)uid,
	              e.text);
	(void)close(ours);
}

START_TEST(what_it_starts_is_that_user_with_nothing_of_as_owner_left_and_ends_with_its_asker)
{
	struct owner_process p;
	struct err e;
	int ours;

	NEEDS_ACCOUNTS();
	ck_assert_msg(ask_as(SERVICE, USER_IDS[AGENT], &p, &ours, &e) == 0, "%s", e.text);
	is_program(p.pid, "hand");
	has_status(p.pid, "Uid", "60102\t60102\t60102\t60102");
	has_status(p.pid, "Gid", "60102\t60102\t60102\t60102");
	has_status(p.pid, "Groups", "60102 60110");
	has_status(p.pid, "CapInh", "0000000000000000");
	has_status(p.pid, "CapPrm", "0000000000000000");
	has_status(p.pid, "CapEff", "0000000000000000");
	has_status(p.pid, "CapAmb", "0000000000000000");
	has_status(p.pid, "NoNewPrivs", "1");
	has_status(users.owner_pid, "CapPrm", "00000000000000c0");
	(void)close(ours);
	ends(&p);
	end();
}
END_TEST

START_TEST(it_never_starts_anything_in_the_group_of_the_operators)
{
	struct owner_process p;
	struct err e;
	int ours;

	NEEDS_ACCOUNTS();
	ck_assert_msg(ask_as(SERVICE, USER_IDS[OTHER_AGENT], &p, &ours, &e) == 0, "%s", e.text);
	has_status(p.pid, "Groups", "60105 60110");
	(void)close(ours);
	ends(&p);
	end();
}
END_TEST

/* Of a descriptor that as-owner had, or of another asker. */
START_TEST(what_it_starts_has_no_file_but_its_own_and_a_clean_environment)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str clean = { 0 };
	struct owner_process p, other;
	struct err e;
	int ours, others;

	NEEDS_ACCOUNTS();
	ck_assert_int_eq(ask_as(SERVICE, USER_IDS[OTHER_AGENT], &other, &others, &e), 0);
	ck_assert_int_eq(ask_as(SERVICE, USER_IDS[AGENT], &p, &ours, &e), 0);
	is_program(p.pid, "hand");
	ck_assert_int_eq(shell(&said,
	                       "cd /proc/%d/fd && ls | tr '\\n' ' '; readlink 0 1 3 | tr "
	                       "'\\n' ' ' | sed 's/[0-9]*//g'",
	                       (int)p.pid),
	                 0);
	ck_assert_str_eq(said.bytes, "0 1 2 3 /dev/null /dev/null socket:[] ");
	str_clear(&said);
	ck_assert_int_eq(shell(&said,
	                       "tr '\\0' '\\n' </proc/%d/environ | grep -v -e ^INTERCOM_ -e "
	                       "SAN_OPTIONS= | sort | tr '\\n' ' '",
	                       (int)p.pid),
	                 0);
	str_addf(&clean, "HOME=%s/home-60102 PATH=/usr/bin:/bin USER=t-agent ", users.base);
	ck_assert_str_eq(said.bytes, clean.bytes);
	(void)close(ours);
	(void)close(others);
	ends(&p);
	ends(&other);
	end();
}
END_TEST

START_TEST(the_systems_user_gets_neither_root_nor_a_daemon_nor_a_user_of_no_group_of_agents)
{
	const struct passwd *daemon;

	NEEDS_ACCOUNTS();
	daemon = getpwnam("daemon");
	is_refused(0, "nothing runs as root");
	is_refused(USER_IDS[SERVICE], "a user of the system's own");
	is_refused(USER_IDS[HELPER], "a user of the system's own");
	is_refused(USER_IDS[OPERATOR], "user t-operator is not in the group 60110");
	is_refused(USER_IDS[STRANGER], "user t-stranger is not in the group 60110");
	if (daemon)
		is_refused(daemon->pw_uid, "is not in the group 60110");
	is_refused(61234, "has no account");
	is_refused((uid_t)-1, "has no account");
	end();
}
END_TEST

START_TEST(nobody_but_the_systems_user_can_connect_and_whoever_does_is_refused)
{
	struct owner_process p;
	struct err e;
	int ours;

	NEEDS_ACCOUNTS();
	for (enum user who = AGENT; who < USERS; who++) {
		int answered;

		ck_assert_int_eq(seteuid(USER_IDS[who]), 0);
		answered = owner_answers(users.owner_socket, AGENT_PATIENCE_MS, &e);
		ck_assert_int_eq(seteuid(0), 0);
		ck_assert_msg(answered < 0 && strstr(e.text, "Permission denied"), "%s", e.text);
	}
	/* The kernel says who it is, whatever the mode of the socket. */
	ck_assert_int_eq(chmod(users.owner_socket, 0666), 0);
	for (enum user who = AGENT; who < USERS; who++) {
		ck_assert_int_eq(ask_as(who, USER_IDS[AGENT], &p, &ours, &e), -1);
		ck_assert_msg(strstr(e.text, "only the system that serves several users may ask"),
		              "%s", e.text);
		(void)close(ours);
	}
	end();
}
END_TEST

START_TEST(as_owner_can_neither_be_traced_nor_signalled_by_the_systems_user_or_an_agent)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ACCOUNTS();
	for (enum user who = SERVICE; who < HELPER; who++) {
		str_reset(&said);
		(void)users_run(&users, who, &said,
		                "kill -9 %d; cat /proc/%d/environ; head -c 1 /proc/%d/mem; "
		                "ls /proc/%d/fd",
		                (int)users.owner_pid, (int)users.owner_pid, (int)users.owner_pid,
		                (int)users.owner_pid);
		ck_assert_msg(!strstr(said.bytes, "HOME="), "%s", said.bytes);
		ck_assert_int_eq(kill(users.owner_pid, 0), 0);
	}
	end();
}
END_TEST

/* ---- nonsense ---- */

static int connect_as_service(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", users.owner_socket);
	ck_assert_int_eq(seteuid(USER_IDS[SERVICE]), 0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(seteuid(0), 0);
	return fd;
}

/* What is answered to a message with so many descriptors. */
static struct owner_said answer_to(const char *texts, size_t length, struct owner_wish head,
                                   size_t fd_count)
{
	char bytes[OWNER_BYTES * 2],
	    control[CMSG_SPACE(64 * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { .iov_base = bytes, .iov_len = sizeof(head) + length };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	struct owner_said said = { .what = 0 };
	int fd = connect_as_service(), fds[64];

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), texts, length);
	for (size_t i = 0; i < fd_count; i++)
		fds[i] = STDERR_FILENO;
	if (fd_count) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			               .cmsg_type = SCM_RIGHTS,
			               .cmsg_len = CMSG_LEN(fd_count * sizeof(int)) };
		memcpy(CMSG_DATA(c), fds, fd_count * sizeof(int));
	}
	ck_assert_int_gt(sendmsg(fd, &m, 0), 0);
	ck_assert_int_gt(recv(fd, &said, sizeof(said), 0), 0);
	(void)close(fd);
	return said;
}

static void says_of(const char *texts, size_t length, struct owner_wish head, size_t fd_count,
                    const char *why)
{
	struct owner_said said = answer_to(texts, length, head, fd_count);

	ck_assert_int_eq((int)said.what, OWNER_REFUSED);
	ck_assert_str_eq(said.text, why);
}

START_TEST(a_message_that_is_no_wish_is_refused_and_takes_nothing_from_the_next)
{
	static const char KIND[] = "that is no wish of this kind", NONE[] = "that is no wish";
	static char many[OWNER_BYTES + 1000];
	const struct owner_wish good = { .version = OWNER_VERSION, .uid = USER_IDS[AGENT] };
	struct owner_wish wrong = good;

	NEEDS_ACCOUNTS();
	says_of("\0auto", 5, good, 1, NONE); /* without its last byte */
	says_of("", 0, good, 1, NONE);
	says_of("\0/bin/sh\0", 9, good, 1, KIND);
	says_of("\0auto\0more\0", 11, good, 1, KIND);
	says_of("\0auto\0a\0b\0c\0d\0", 14, good, 1, NONE);
	says_of("\0", 1, good, 1, KIND);
	says_of("/tmp\0auto\0", 10, good, 1, KIND);
	says_of("tmp\0auto\0", 9, good, 1, KIND);
	says_of("\0auto\0", 6, good, 0, KIND);
	says_of("\0auto\0", 6, good, 2, KIND);
	says_of("\0auto\0", 6, good, 50, NONE);
	says_of(many, sizeof(many), good, 1, NONE);
	wrong.kind = OWNER_KINDS;
	says_of("\0auto\0", 6, wrong, 1, NONE);
	wrong.kind = UINT32_MAX;
	says_of("\0auto\0", 6, wrong, 1, NONE);
	wrong = good;
	wrong.version++;
	says_of("\0auto\0", 6, wrong, 1,
	        "as-owner is of another version than the system; restart both");
	end();
}
END_TEST

/* How many as-owner has. */
static int descriptors(void)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(shell(&said, "ls /proc/%d/fd | wc -l", (int)users.owner_pid), 0);
	return atoi(str_text(&said));
}

START_TEST(of_the_descriptors_that_come_with_a_call_none_is_kept)
{
	const struct owner_wish call = { .version = OWNER_VERSION, .kind = OWNER_CALL };
	int64_t end_ms = agent_ms() + AGENT_PATIENCE_MS;
	int before;

	NEEDS_ACCOUNTS();
	ck_assert_int_eq((int)answer_to("", 0, call, 0).what, OWNER_READY);
	before = descriptors();
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq((int)answer_to("", 0, call, 2).what, OWNER_READY);
	while (descriptors() > before) /* it answers before it closes */
		ck_assert_int_lt(agent_ms(), end_ms);
	end();
}
END_TEST

START_TEST(one_user_whose_processes_do_not_end_keeps_no_other_user_out)
{
	enum { MOST = 40 };
	struct owner_process p[MOST], other;
	int ours[MOST], others, count = 0;
	struct err e;

	NEEDS_ACCOUNTS();
	while (count < MOST && ask_as(SERVICE, USER_IDS[AGENT], &p[count], &ours[count], &e) == 0)
		count++;
	ck_assert_int_eq(count, 32);
	ck_assert_str_eq(e.text, "too many processes of this user run already");
	ck_assert_msg(ask_as(SERVICE, USER_IDS[OTHER_AGENT], &other, &others, &e) == 0, "%s",
	              e.text);
	for (int i = 0; i < count; i++) {
		(void)close(ours[i]);
		ends(&p[i]);
	}
	ck_assert_msg(ask_as(SERVICE, USER_IDS[AGENT], &p[0], &ours[0], &e) == 0, "%s", e.text);
	(void)close(ours[0]);
	(void)close(others);
	ends(&p[0]);
	ends(&other);
	end();
}
END_TEST

/* ---- a hand that its user has taken over ---- */

/* "The process of that job is the applier": for a job that was given up, so that it is ended. */
static void name_a_worker(int fd, int applier)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct hand_told told = { .number = UINT32_MAX, .pid = 1 };
	struct iovec part = { .iov_base = &told, .iov_len = sizeof(told) };
	struct msghdr m = { .msg_iov = &part,
		            .msg_iovlen = 1,
		            .msg_control = control,
		            .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		               .cmsg_type = SCM_RIGHTS,
		               .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(c), &applier, sizeof(applier));
	ck_assert_int_eq(sendmsg(fd, &m, 0), sizeof(told));
}

START_TEST(a_hand_gets_no_process_of_the_system_killed)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n");
	OWNED(char_ptr) char *answer = NULL, *written = NULL;
	char id[40], call[80];
	struct pollfd end_of_applier = { .events = POLLIN }, end_of_hand = { .events = POLLIN };
	struct relay r;
	int fd;

	NEEDS_ACCOUNTS();
	str_addf(&said,
	         "fence = \"off\"\n" /* with it, Landlock stops the signal, too */
	         "[shared]\nagents = \"60110\"\noperators = \"60111\"\nowner_socket = \"%s\"\n",
	         users.owner_socket);
	users_configure(&users, said.bytes);
	str_reset(&said);
	users_start(&users);
	r = users_relay(&users, AGENT);
	relay_begin(&r, "check_clearance", arguments);
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
	ck_assert_int_eq(shell(&said, "pgrep -o -P %d -x hand", (int)users.owner_pid), 0);
	end_of_hand.fd = pidfd_open((pid_t)atoi(said.bytes), 0);
	fd = pidfd_getfd(end_of_hand.fd, HAND_FRONT_FD, 0);
	ck_assert_int_ge(fd, 0);
	end_of_applier.fd = pidfd_open(
	    (pid_t)atoi(users_sql(&users, "SELECT pid FROM worker WHERE name = 'applier'")), 0);
	ck_assert_int_ge(end_of_applier.fd, 0);
	name_a_worker(fd, end_of_applier.fd);
	ck_assert_int_eq(send(fd, "x", 1, 0), 1); /* nonsense: once the hand ends, both were read */
	(void)close(fd);
	ck_assert_int_eq(poll(&end_of_hand, 1, AGENT_PATIENCE_MS), 1);
	(void)snprintf(id, sizeof(id), "%.36s", users_sql(&users, "SELECT id FROM inbox"));
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %s", id), 0);
	answer = relay_end(&r);
	has(answer, "status", "approved");
	(void)snprintf(call, sizeof(call), "{\"request_id\":\"%s\"}", id);
	written = relay_call(&r, "check_diff", call); /* by the same applier, or by the next */
	has(written, "status", "applied");
	ck_assert_int_eq(poll(&end_of_applier, 1, 0), 0);
	(void)close(end_of_hand.fd);
	(void)close(end_of_applier.fd);
	relay_kill(&r);
	ck_assert_int_eq(users_stop(&users), 0);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_owner");
	TCase *c = tcase_create("attack_owner");

	tcase_add_test(
	    c, what_it_starts_is_that_user_with_nothing_of_as_owner_left_and_ends_with_its_asker);
	tcase_add_test(c, it_never_starts_anything_in_the_group_of_the_operators);
	tcase_add_test(c, what_it_starts_has_no_file_but_its_own_and_a_clean_environment);
	tcase_add_test(
	    c, the_systems_user_gets_neither_root_nor_a_daemon_nor_a_user_of_no_group_of_agents);
	tcase_add_test(c, nobody_but_the_systems_user_can_connect_and_whoever_does_is_refused);
	tcase_add_test(
	    c, as_owner_can_neither_be_traced_nor_signalled_by_the_systems_user_or_an_agent);
	tcase_add_test(c, a_message_that_is_no_wish_is_refused_and_takes_nothing_from_the_next);
	tcase_add_test(c, of_the_descriptors_that_come_with_a_call_none_is_kept);
	tcase_add_test(c, one_user_whose_processes_do_not_end_keeps_no_other_user_out);
	tcase_add_test(c, a_hand_gets_no_process_of_the_system_killed);
	suite_add_tcase(s, c);
	return run_suite(s);
}
