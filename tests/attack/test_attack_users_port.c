/* A system that serves several users, and a user of the machine who takes its HTTP port while it
 * does not run: agents would ask there, and be told whatever that user says. */
#include "agent.h"
#include "users.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USUAL = 3000, LOOK_MS = 20 };

static struct users users;

/* A network of our own, where every port is free. */
static bool have_network(void)
{
	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd;
	bool is_up;

	if (unshare(CLONE_NEWNET) != 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	is_up = ioctl(fd, SIOCSIFFLAGS, &loopback) == 0;
	(void)close(fd);
	return is_up;
}

/* No port is configured. */
static void configure_nothing(void)
{
	ck_assert_int_eq(
	    shell(NULL, "sed -i '/^http_port/d' %s/etc/agent-intercom/config.toml", users.base), 0);
}

static int listens_at(int port)
{
	const struct sockaddr_in a = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port),
		                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 1) == 0 ? 0 : -1;
}

/* The stranger listens there, in a process of its own, which is returned. */
static pid_t squat(int port)
{
	int ends[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setgid(USER_IDS[STRANGER]) != 0 || setuid(USER_IDS[STRANGER]) != 0 ||
		    listens_at(port) != 0 || write(ends[1], "", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(ends[1]);
	ck_assert_msg(read(ends[0], &byte, 1) == 1, "port %d is not to be had", port);
	(void)close(ends[0]);
	return pid;
}

static void end_squat(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void where_http_becomes(const char *url)
{
	OWNED(str) struct str said = { 0 };
	int64_t end_ms = agent_ms() + AGENT_PATIENCE_MS;

	while (users_intercom(&users, AGENT, &said, "where http") != 0 ||
	       !strstr(said.bytes, url)) {
		ck_assert_msg(agent_ms() < end_ms, "where http: %s", said.bytes);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

START_TEST(who_takes_the_usual_port_is_named_and_no_other_port_is_served)
{
	OWNED(str) struct str said = { 0 };
	pid_t squatter;

	SKIP_UNLESS(geteuid() == 0 && have_network(), "root, who can become several users");
	users = users_make("");
	configure_nothing();
	squatter = squat(USUAL);
	users_start(&users);

	users_operator_sees(&users, "health", 1, "HTTP is off: cannot listen on 127.0.0.1:3000");
	users_operator_sees(&users, "health", 1, "it is held by 60104, who can pose as");
	ck_assert_int_eq(users_intercom(&users, SERVICE, &said, "doctor"), 1);
	says(said.bytes, "FAIL port: 3000 on 127.0.0.1 is held by 60104, who can pose as");
	ck_assert_int_eq(users_intercom(&users, AGENT, &said, "where http"), 1);
	ck_assert_int_ne(users_intercom(&users, AGENT, &said, "install claude --http --print"), 0);
	ck_assert_ptr_null(strstr(said.bytes, "127.0.0.1:"));
	ck_assert_int_eq(users_intercom(&users, AGENT, &said, "uninstall claude --http"), 0);

	end_squat(squatter);
	where_http_becomes("http://127.0.0.1:3000/mcp");
	users_operator_sees(&users, "health", 0, "http://127.0.0.1:3000/mcp");
	(void)users_intercom(&users, SERVICE, &said, "doctor");
	says(said.bytes, "warn port: we serve http://127.0.0.1:3000/mcp, but systemd does not hold "
	                 "the port");
	ck_assert_int_eq(users_stop(&users), 0);
	users_remove(&users);
}
END_TEST

START_TEST(an_agents_host_is_given_the_port_that_the_system_serves)
{
	OWNED(str) struct str said = { 0 };
	char url[60];

	SKIP_UNLESS(geteuid() == 0, "root, who can become several users");
	users = users_make("");
	users_start(&users);
	(void)snprintf(url, sizeof(url), "\"http://127.0.0.1:%d/mcp?wait=", users.port);
	ck_assert_int_eq(users_intercom(&users, AGENT, &said, "install claude --http --print"), 0);
	says(said.bytes, url);
	ck_assert_int_eq(users_stop(&users), 0);
	users_remove(&users);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_users_port");
	TCase *c = tcase_create("attack_users_port");

	tcase_add_test(c, who_takes_the_usual_port_is_named_and_no_other_port_is_served);
	tcase_add_test(c, an_agents_host_is_given_the_port_that_the_system_serves);
	suite_add_tcase(s, c);
	return run_suite(s);
}
