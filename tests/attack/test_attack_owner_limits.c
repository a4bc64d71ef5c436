/* as-owner where the system gives it no more: what it could not start well leaves nothing. */
#include "agent.h"
#include "owner.h"
#include "process.h"
#include "users.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct users users;

static struct err e; /* why what was asked last was refused */

/* Asks for a hand, and has it end; 0 or -1. */
static int ask(void)
{
	int pair[2], got;
	struct owner_process p;
	struct owner_ask ask = { .kind = OWNER_READER,
		                 .uid = USER_IDS[AGENT],
		                 .words = { "auto" },
		                 .fds = &pair[1],
		                 .fd_count = 1 };

	e = (struct err){ .kind = ERR_NONE };
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ck_assert_int_eq(seteuid(USER_IDS[SERVICE]), 0);
	got = owner_start(users.owner_socket, &ask, AGENT_PATIENCE_MS, &p, &e);
	ck_assert_int_eq(seteuid(0), 0);
	(void)close(pair[1]);
	(void)close(pair[0]);
	if (got)
		return -1;
	while (owner_hear(&p, &e) == 0)
		(void)poll(&(struct pollfd){ .fd = p.fd, .events = POLLIN }, 1, AGENT_PATIENCE_MS);
	owner_process_clear(&p);
	return 0;
}

/* as-owner's, also those that have ended and that nobody has waited for. */
static int children(void)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(
	    shell(&said, "grep -sl '^PPid:.%d$' /proc/[0-9]*/status | wc -l", (int)users.owner_pid),
	    0);
	return atoi(str_text(&said));
}

/* How many descriptors as-owner may have. */
static void may_have(rlim_t count)
{
	pid_t pid = fork();
	struct rlimit limit;

	if (pid == 0) { /* a limit is changed by its user */
		if (setresgid(USER_IDS[HELPER], USER_IDS[HELPER], USER_IDS[HELPER]) != 0 ||
		    setresuid(USER_IDS[HELPER], USER_IDS[HELPER], USER_IDS[HELPER]) != 0 ||
		    prlimit(users.owner_pid, RLIMIT_NOFILE, NULL, &limit) != 0)
			_exit(1);
		limit.rlim_cur = count < limit.rlim_max ? count : limit.rlim_max;
		_exit(prlimit(users.owner_pid, RLIMIT_NOFILE, &limit, NULL) ? 2 : 0);
	}
	ck_assert_int_eq(end_of(pid), 0);
}

/* Whether it lacks one for the process that it has started: all before that it had. (The process
 * lacks more, and may be the first to say so.) */
static bool lacks_the_last(rlim_t count)
{
	enum { TRIES = 10 };
	bool does = false;

	may_have(count);
	for (int i = 0; i < TRIES && !does; i++)
		does = ask() != 0 && strstr(e.text, "no process can be started now");
	may_have(RLIM_INFINITY);
	return does;
}

START_TEST(a_process_that_as_owner_has_no_descriptor_to_watch_is_waited_for)
{
	int64_t end_ms = agent_ms() + AGENT_PATIENCE_MS;
	rlim_t count = 20;

	SKIP_UNLESS(geteuid() == 0, "root, who can become several users");
	users = users_make("");
	SKIP_UNLESS(users_have_accounts(&users), "mount namespaces");
	users_start_owner(&users);
	ck_assert_int_eq(ask(), 0);
	while (!lacks_the_last(count))
		ck_assert_uint_gt(--count, 0);
	do { /* whoever asks next is the occasion */
		ck_assert_int_eq(ask(), 0);
	} while (children() > 0 && agent_ms() < end_ms);
	ck_assert_int_eq(children(), 0);
	ck_assert_int_eq(users_stop_owner(&users), 0);
	users_remove(&users);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_owner_limits");
	TCase *c = tcase_create("attack_owner_limits");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_process_that_as_owner_has_no_descriptor_to_watch_is_waited_for);
	suite_add_tcase(s, c);
	return run_suite(s);
}
