/* Where Slack's tokens come from, and where they are not to be found: the real keychain on a
 * session bus of its own, systemd's credentials directory, the environment; other processes of the
 * same user, children, rows and logs. */
#include "agent.h"
#include "slack_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 700 };

static const char WRONG_APP[] = "xapp-1-A01APP-1-wrong", WRONG_BOT[] = "xoxb-1-wrong";

static struct site site;

/* ---- given ---- */

static void a_site_with(const char *app, const char *bot)
{
	fresh_store();
	slack_start();
	slack_credentials();
	(void)setenv("SLACK_APP_TOKEN", app, 1);
	(void)setenv("SLACK_BOT_TOKEN", bot, 1);
	(void)unsetenv("DBUS_SESSION_BUS_ADDRESS");
	(void)unsetenv("CREDENTIALS_DIRECTORY");
	site = site_make("[slack]\nchannel_id = \"C01AGENTS\"\n[log]\nlevel = \"debug\"\n");
}

static void end(void)
{
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}

/* Systemd's: a folder of the user alone, a file for each value. */
static void given_credentials(const char *app, const char *bot)
{
	const char *folder = below(site.home, "credentials");

	ck_assert_int_eq(mkdir(folder, 0700), 0);
	if (app)
		put_file(folder, "slack_app_token", app);
	if (bot)
		put_file(folder, "slack_bot_token", bot);
	(void)setenv("CREDENTIALS_DIRECTORY", folder, 1);
}

/* Both tokens are Slack's own: the socket is open, and the bot is known. */
static void expect_both_work(void)
{
	(void)slack_wait_for("hello");
	expect_soon("SELECT value FROM setting WHERE name = 'slack.bot_id'", "B01BOT\n");
}

/* ---- the keychain ---- */

static bool is_installed(const char *program)
{
	return shell(NULL, "command -v %s >/dev/null 2>&1", program) == 0;
}

/* A session bus with an unlocked keyring that holds the app token; it ends when *ret_hold is
 * closed, or with this process. */
static void given_keychain(pid_t *ret_pid, int *ret_hold)
{
	static const char SCRIPT[] =
	    "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1;"
	    "printf %s \"$0\" | secret-tool store --label=agent-intercom service agent-intercom "
	    "username slack_app_token || exit 1; echo \"$DBUS_SESSION_BUS_ADDRESS\"; read -r x";
	char address[300];
	int in[2], out[2];
	FILE *said;

	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	*ret_pid = fork();
	ck_assert_int_ge(*ret_pid, 0);
	if (*ret_pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(in[0], STDIN_FILENO);
		(void)dup2(out[1], STDOUT_FILENO);
		(void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		(void)setenv("HOME", site.home, 1);
		(void)setenv("XDG_RUNTIME_DIR", site.home, 1);
		(void)execlp("dbus-run-session", "dbus-run-session", "--", "sh", "-c", SCRIPT,
		             SLACK_FAKE_APP_TOKEN, (char *)NULL);
		_exit(127);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	said = fdopen(out[0], "r");
	ck_assert_msg(fgets(address, sizeof(address), said), "there is no keychain");
	(void)fclose(said);
	address[strcspn(address, "\n")] = '\0';
	(void)setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
	*ret_hold = in[1];
}

START_TEST(each_value_comes_from_the_keychain_then_from_systemd_then_from_the_environment)
{
	pid_t pid;
	int hold, status;

	SKIP_UNLESS(is_installed("gnome-keyring-daemon") && is_installed("secret-tool") &&
	                is_installed("dbus-run-session"),
	            "gnome-keyring, libsecret-tools and dbus-daemon");
	a_site_with(WRONG_APP, WRONG_BOT);
	given_keychain(&pid, &hold);
	given_credentials(WRONG_APP, SLACK_FAKE_BOT_TOKEN);
	site_start(&site);
	expect_both_work();
	expect("SELECT user_id FROM operator WHERE kind = 'slack'", "U01OP\nU02OP\n");
	end();
	(void)close(hold);
	ck_assert(ends_within(pid, AGENT_PATIENCE_MS, &status));
}
END_TEST

START_TEST(what_systemd_hands_over_goes_before_the_environment)
{
	a_site_with(WRONG_APP, WRONG_BOT);
	given_credentials(SLACK_FAKE_APP_TOKEN "\n", SLACK_FAKE_BOT_TOKEN "\n");
	site_start(&site);
	expect_both_work();
	end();
}
END_TEST

START_TEST(what_systemd_does_not_have_comes_from_the_environment)
{
	a_site_with(WRONG_APP, SLACK_FAKE_BOT_TOKEN);
	given_credentials(SLACK_FAKE_APP_TOKEN, NULL);
	site_start(&site);
	expect_both_work();
	end();
}
END_TEST

/* A keychain whose program is this script. */
static void given_keychain_program(const char *script)
{
	OWNED(str) struct str path = { 0 };
	const char *bin = below(site.home, "bin");

	(void)setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent", 1);
	ck_assert_int_eq(mkdir(bin, 0755), 0);
	put_file(bin, "secret-tool", script);
	ck_assert_int_eq(chmod(below(bin, "secret-tool"), 0755), 0);
	str_addf(&path, "%s:%s", bin, getenv("PATH"));
	(void)setenv("PATH", path.bytes, 1);
}

START_TEST(a_keychain_that_does_not_answer_is_asked_once_and_not_waited_for)
{
	a_site_with(SLACK_FAKE_APP_TOKEN, SLACK_FAKE_BOT_TOKEN);
	given_keychain_program("#!/bin/sh\necho asked >> \"${0%/*}/asked\"\nexec sleep 60\n");
	site_start(&site); /* within ten seconds */
	expect_both_work();
	OWNED(char_ptr) char *asked = get_file(site.home, "bin/asked");
	ck_assert_pstr_eq(asked, "asked\n");
	end();
}
END_TEST

START_TEST(the_keychains_program_is_told_no_token)
{
	a_site_with(SLACK_FAKE_APP_TOKEN, SLACK_FAKE_BOT_TOKEN);
	given_keychain_program("#!/bin/sh\nenv > \"${0%/*}/environment.$5\"\n");
	site_start(&site);
	expect_both_work();
	OWNED(char_ptr) char *first = get_file(site.home, "bin/environment.slack_app_token");
	OWNED(char_ptr) char *last = get_file(site.home, "bin/environment.slack_team_id");
	says(first, "HOME=");
	says(last, "HOME=");
	ck_assert_ptr_null(strstr(first, "xoxb-"));
	ck_assert_ptr_null(strstr(first, "xapp-"));
	end();
}
END_TEST

/* ---- where they are not ---- */

/* The build may be where only root looks. */
static void bring_programs_along(void)
{
	const char *bin = below(site.home, "bin");

	ck_assert_int_eq(shell(NULL,
	                       "cp -r \"$INTERCOM_BUILD\"/*[a-z] '%s' 2>/dev/null; test -x "
	                       "'%s/agent-intercom'",
	                       bin, bin),
	                 0);
	(void)setenv("INTERCOM_BUILD", bin, 1);
}

/* From here on this process, and the system that it starts, are nobody, who owns the site. */
static void give_to_nobody(void)
{
	ck_assert_int_eq(mkdir(below(site.home, "bin"), 0755), 0);
	bring_programs_along();
	ck_assert_int_eq(shell(NULL, "chown -R %d:%d '%s' \"$(dirname '%s')\"", NOBODY_ID,
	                       NOBODY_ID, site.home, test_db()),
	                 0);
	ck_assert(become_nobody());
	(void)prctl(PR_SET_DUMPABLE, 1);
}

static void expect_closed(pid_t pid, const char *name)
{
	char path[60];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(fd < 0 && (errno == EACCES || errno == EPERM), "%s: %s", path,
	              fd < 0 ? strerror(errno) : "opened");
}

static void expect_unreadable(pid_t pid)
{
	static const char *const SECRETS[] = { "environ", "mem", "maps", "fd", "auxv" };
	char byte;
	struct iovec here = { .iov_base = &byte, .iov_len = 1 };
	struct iovec there = { .iov_base = (void *)(uintptr_t)0x400000, .iov_len = 1 };

	for (size_t i = 0; i < COUNT(SECRETS); i++)
		expect_closed(pid, SECRETS[i]);
	ck_assert_int_eq(process_vm_readv(pid, &here, 1, &there, 1, 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(
	    shell(NULL, "grep -q 'Max core file size *0 *0 ' /proc/%d/limits", (int)pid), 0);
}

START_TEST(another_process_of_the_same_user_reads_no_token)
{
	pid_t front;

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	a_site_with(SLACK_FAKE_APP_TOKEN, SLACK_FAKE_BOT_TOKEN);
	give_to_nobody();
	site_start(&site);
	expect_both_work();
	expect_unreadable(site.pid);
	expect_unreadable(worker_pid("slack-listener"));
	expect_unreadable(worker_pid("slack-poster"));
	front = worker_pid("mcp-front"); /* the proof that it can be read where it may */
	ck_assert_int_eq(
	    shell(NULL, "tr '\\0' '\\n' < /proc/%d/environ | grep -q ^HOME=", (int)front), 0);
	ck_assert_int_eq(site_stop(&site), 0); /* the fake is root's, and ends with this process */
}
END_TEST

/* The bytes are in no file of the system: database, log of its changes, log, run directory. */
static void expect_nowhere(const char *text)
{
	OWNED(str) struct str found = { 0 };

	ck_assert_msg(*text, "nothing to look for");
	(void)shell(&found, "grep -rlaF -e '%s' '%s' \"$(dirname '%s')\" | grep -v '/bin/'", text,
	            site.home, test_db());
	ck_assert_msg(found.length == 0, "%s is in %s", text, str_text(&found));
}

START_TEST(what_is_secret_is_in_no_row_and_no_log)
{
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	OWNED(char_ptr) char *trigger = NULL;
	OWNED(char_ptr) char *url = NULL;
	OWNED(char_ptr) char *answer = NULL;
	const char *sent, *ts;
	struct agent a;
	struct wire w;

	a_site_with(SLACK_FAKE_APP_TOKEN, SLACK_FAKE_BOT_TOKEN);
	site_start(&site);
	expect_both_work();
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	expect_soon("SELECT count(*) FROM slack_message WHERE kind = 'ask' AND ts IS NOT NULL",
	            "1\n");
	OWNED(char_ptr) char *row = rows("SELECT ts FROM slack_message WHERE kind = 'ask'");
	row[strcspn(row, "\n")] = '\0';
	ts = row;
	sent = slack_deliver(
	    "{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'approve_reject'}}", ts);
	trigger = xstrdup(member(sent, "trigger_id"));
	url = xstrdup(member(sent, "response_url"));
	(void)slack_wait_for("views.open");
	(void)slack_deliver(
	    "{'submit':{'values':{'instruction_block':{'instruction_text':'no'}}}}");
	answer = agent_end(&w);
	has(answer, "status", "rejected");
	expect_soon("SELECT count(*) FROM slack_outbox WHERE trigger_id IS NOT NULL", "0\n");
	expect("SELECT count(*) FROM slack_envelope WHERE payload LIKE '%trigger_id%' OR payload "
	       "LIKE '%response_url%'",
	       "0\n");
	end();
	expect_nowhere(SLACK_FAKE_APP_TOKEN);
	expect_nowhere(SLACK_FAKE_BOT_TOKEN);
	expect_nowhere("ticket=");
	expect_nowhere(url);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_secrets");
	TCase *c = store_case(s, "slack_secrets", 60);

	tcase_add_test(
	    c, each_value_comes_from_the_keychain_then_from_systemd_then_from_the_environment);
	tcase_add_test(c, what_systemd_hands_over_goes_before_the_environment);
	tcase_add_test(c, what_systemd_does_not_have_comes_from_the_environment);
	tcase_add_test(c, a_keychain_that_does_not_answer_is_asked_once_and_not_waited_for);
	tcase_add_test(c, the_keychains_program_is_told_no_token);
	tcase_add_test(c, another_process_of_the_same_user_reads_no_token);
	tcase_add_test(c, what_is_secret_is_in_no_row_and_no_log);
	return run_suite(s);
}
