/* agent-intercom under systemd, which this program plays: sockets, signs of life, and an
 * installation of another build while it runs. */
#include "supervisor_case.h"

#include "instance.h"

enum { FIRST_SOCKET = 3, ELSEWHERE = 20, WATCHDOG_US = 600000 };

static int notify_fd;

/* The socket that systemd listens on; the next start finds it. */
static void hear_notifications(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.90s/notify", runtime);
	ck_assert_int_eq(bind(notify_fd, (struct sockaddr *)&a, sizeof(a)), 0);
	(void)setenv("NOTIFY_SOCKET", a.sun_path, 1);
}

static void hears(const char *word)
{
	struct pollfd one = { .fd = notify_fd, .events = POLLIN };
	char text[100] = "";

	ck_assert_msg(poll(&one, 1, AGENT_PATIENCE_MS) == 1, "no %s\n%s", word, log_text());
	ck_assert_int_gt(recv(notify_fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, word);
}

/* After signs of life alone. */
static void hears_at_last(const char *word)
{
	char text[100];

	do {
		memset(text, 0, sizeof(text));
		ck_assert_int_gt(recv(notify_fd, text, sizeof(text) - 1, 0), 0);
	} while (strcmp(text, "WATCHDOG=1") == 0);
	ck_assert_str_eq(text, word);
}

static int listen_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

/* Starts the system with these sockets as systemd does. */
static void start_with(const int *sockets, int count)
{
	const char *arguments[] = { "--config", in("config.toml"), "--db", database, NULL };
	char number[20];
	int ends[2], out;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	supervisor = fork();
	ck_assert_int_ge(supervisor, 0);
	if (supervisor == 0) {
		out = fcntl(ends[1], F_DUPFD_CLOEXEC, ELSEWHERE);
		for (int i = 0; i < count; i++)
			(void)dup2(fcntl(sockets[i], F_DUPFD_CLOEXEC, ELSEWHERE), FIRST_SOCKET + i);
		(void)snprintf(number, sizeof(number), "%d", count);
		(void)setenv("LISTEN_FDS", number, 1);
		(void)snprintf(number, sizeof(number), "%d", (int)getpid());
		(void)setenv("LISTEN_PID", number, 1);
		exec_it(arguments, out, in("log"));
	}
	(void)close(ends[1]);
	out_fd = ends[0];
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Sends text and returns the beginning of what comes back. */
static const char *exchange(int fd, const char *text)
{
	static char answer[500];
	struct pollfd one = { .fd = fd, .events = POLLIN };
	ssize_t n;

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_msg(poll(&one, 1, AGENT_PATIENCE_MS) == 1, "no answer\n%s", log_text());
	n = read(fd, answer, sizeof(answer) - 1);
	answer[n > 0 ? n : 0] = '\0';
	(void)close(fd);
	return answer;
}

static const char HELLO[] = "{\"agent-intercom\":1,\"workspace\":\"/\"}\n";

START_TEST(relays_and_http_are_served_on_sockets_of_systemd)
{
	char path[PATH_BYTES], ready[100];
	int port, sockets[2];

	(void)snprintf(path, sizeof(path), "%.90s/activated", runtime);
	sockets[0] = listen_at(path);
	sockets[1] = listen_somewhere(&port);
	start_with(sockets, 2);

	(void)snprintf(ready, sizeof(ready), "ready: http://127.0.0.1:%d/mcp", port);
	ck_assert_msg(strstr(ready_line(), ready) != NULL, "%s", log_text());
	ck_assert_msg(strstr(exchange(connect_to(path), HELLO), "\"key\":") != NULL, "%s",
	              log_text());

	struct sockaddr_in a = { .sin_family = AF_INET,
		                 .sin_port = htons((uint16_t)port),
		                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int http = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(http, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_ptr_nonnull(
	    strstr(exchange(http, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"), "200 OK"));
	stop();
}
END_TEST

START_TEST(a_relay_that_came_before_the_system_is_served)
{
	char path[PATH_BYTES];
	int sockets[1], relay;

	(void)snprintf(path, sizeof(path), "%.90s/activated", runtime);
	sockets[0] = listen_at(path);
	relay = connect_to(path);
	start_with(sockets, 1);
	ck_assert_ptr_nonnull(strstr(exchange(relay, HELLO), "\"key\":"));
	stop();
}
END_TEST

START_TEST(a_front_that_is_restarted_has_the_sockets_again)
{
	char path[PATH_BYTES];
	int sockets[1];

	(void)snprintf(path, sizeof(path), "%.90s/activated", runtime);
	sockets[0] = listen_at(path);
	start_with(sockets, 1);
	(void)ready_line();
	ck_assert_int_eq(kill(pid_of("mcp-front"), SIGKILL), 0);
	ck_assert_ptr_nonnull(strstr(exchange(connect_to(path), HELLO), "\"key\":"));
	stop();
}
END_TEST

START_TEST(sockets_for_another_process_are_not_taken)
{
	(void)setenv("LISTEN_FDS", "2", 1);
	(void)setenv("LISTEN_PID", "1", 1);
	start_ready();
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_PID");
	stop();
}
END_TEST

START_TEST(the_watchdog_hears_of_it_as_long_as_it_lives)
{
	char usec[20];

	hear_notifications();
	(void)snprintf(usec, sizeof(usec), "%d", WATCHDOG_US);
	(void)setenv("WATCHDOG_USEC", usec, 1);
	start();
	hears("WATCHDOG=1");
	(void)ready_line();
	hears_at_last("READY=1");
	hears("WATCHDOG=1");
	hears("WATCHDOG=1");
	stop();
}
END_TEST

/* ---- another build ---- */

/* Puts programs of another build into the folder, one after the other. */
static void install_next(const char *build)
{
	char command[3 * PATH_BYTES];

	(void)snprintf(command, sizeof(command),
	               "cd '%s' && for f in *; do LC_ALL=C sed 's/%s+test/%s/g' $f >.new && "
	               "chmod 755 .new && mv .new $f; done",
	               bin, INTERCOM_VERSION, build);
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
}

START_TEST(it_restarts_when_another_build_is_installed)
{
	char expected[100], next[] = INTERCOM_VERSION "+next";
	pid_t before;

	own_folder();
	start_ready();
	before = supervisor;
	install_next(next);

	(void)snprintf(expected, sizeof(expected), "agent-intercom %s ready", next);
	ck_assert_msg(strstr(ready_line(), expected) != NULL, "%s", log_text());
	ck_assert_int_eq(supervisor, before);
	(void)snprintf(expected, sizeof(expected), "%s\n", next);
	expect("SELECT value FROM setting WHERE name = 'system.build'", expected);
	(void)snprintf(expected, sizeof(expected), SITE_WORKERS "|%s\n", next);
	expect_soon("SELECT count(*), version FROM worker WHERE state = 'ready'", expected);
	stop(); /* signals reach it as before */
}
END_TEST

START_TEST(another_build_in_its_place_has_the_sockets_of_systemd)
{
	char path[PATH_BYTES];
	int sockets[1];

	own_folder();
	(void)snprintf(path, sizeof(path), "%.90s/activated", runtime);
	sockets[0] = listen_at(path);
	start_with(sockets, 1);
	(void)ready_line();
	install_next(INTERCOM_VERSION "+next");
	ck_assert_msg(strstr(ready_line(), "+next ready") != NULL, "%s", log_text());
	ck_assert_ptr_nonnull(strstr(exchange(connect_to(path), HELLO), "\"key\":"));
	stop();
}
END_TEST

START_TEST(under_systemd_it_ends_with_75_for_another_build)
{
	char more;

	own_folder();
	hear_notifications();
	start_ready();
	hears("READY=1");
	install_next(INTERCOM_VERSION "+next");
	ends_with(75, "+next was installed in place of");
	ck_assert_int_lt(recv(notify_fd, &more, 1, MSG_DONTWAIT), 0); /* no STOPPING=1 */
}
END_TEST

START_TEST(the_same_build_installed_again_restarts_nothing)
{
	own_folder();
	start_ready();
	install_next(INTERCOM_VERSION "+test");
	expect_still("SELECT count(*) FROM worker", SITE_WORKERS "\n", 6 * SECOND);
	stop();
}
END_TEST

START_TEST(programs_that_do_not_run_are_told_and_the_system_serves_on)
{
	own_folder();
	start_ready();
	replace("agent-intercom", NULL);
	log_has_soon("the programs were removed or replaced");
	expect("SELECT count(*) FROM worker WHERE state = 'ready'", SITE_WORKERS "\n");
	stop();
}
END_TEST

/* A connection has systemd start it, not a person who wants an empty database. */
START_TEST(systemd_begins_no_database_anew_that_was_lost)
{
	char path[PATH_BYTES];
	int sockets[1];

	(void)snprintf(path, sizeof(path), "%.90s/activated", runtime);
	sockets[0] = listen_at(path);
	start_with(sockets, 1);
	(void)ready_line();
	ck_assert_int_eq(rename(test_db(), in("away")), 0);
	ends_with(78, "is not the file any more that this system has open");
	write_file(in("log"), "", 0600);
	start_with(sockets, 1);
	ends_with(78, "to begin with an empty one, remove ");
	ck_assert_int_eq(access(test_db(), F_OK), -1);
	ck_assert_int_eq(rename(in("away"), test_db()), 0);
	start_with(sockets, 1);
	(void)ready_line();
	stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("supervisor_systemd");
	TCase *c = tcase_create("systemd");

	tcase_add_checked_fixture(c, setup, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, relays_and_http_are_served_on_sockets_of_systemd);
	tcase_add_test(c, a_relay_that_came_before_the_system_is_served);
	tcase_add_test(c, a_front_that_is_restarted_has_the_sockets_again);
	tcase_add_test(c, sockets_for_another_process_are_not_taken);
	tcase_add_test(c, the_watchdog_hears_of_it_as_long_as_it_lives);
	tcase_add_test(c, it_restarts_when_another_build_is_installed);
	tcase_add_test(c, another_build_in_its_place_has_the_sockets_of_systemd);
	tcase_add_test(c, under_systemd_it_ends_with_75_for_another_build);
	tcase_add_test(c, the_same_build_installed_again_restarts_nothing);
	tcase_add_test(c, programs_that_do_not_run_are_told_and_the_system_serves_on);
	tcase_add_test(c, systemd_begins_no_database_anew_that_was_lost);
	suite_add_tcase(s, c);
	return run_suite(s);
}
