/* A process that was taken over wants to become more than it is: none of a running system, nor what
 * it starts, gets anything from a set-user-id program. */
#include "attack.h"
#include "hung.h"
#include "slack_peer.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 100, BIG = 16 << 20 };

/* Appends all processes that descend from pid, children first. */
static void find_below(pid_t pid, pid_t *found, int *count)
{
	DIR *all = opendir("/proc");
	const struct dirent *one;

	ck_assert_ptr_nonnull(all);
	while ((one = readdir(all)) != NULL) {
		pid_t child = atoi(one->d_name);
		OWNED(char_ptr) char *parent = child > 0 ? process_status(child, "PPid") : NULL;

		if (!parent || atoi(parent) != pid)
			continue;
		ck_assert_int_lt(*count, MOST);
		found[(*count)++] = child;
		find_below(child, found, count);
	}
	(void)closedir(all);
}

/* It cannot. Its name goes into names. */
static void cannot_gain(pid_t pid, struct str *names)
{
	OWNED(char_ptr) char *name = process_status(pid, "Name");
	OWNED(char_ptr) char *state = process_status(pid, "State");
	OWNED(char_ptr) char *bound = process_status(pid, "NoNewPrivs");

	if (!*state || *state == 'Z') /* it has just ended */
		return;
	ck_assert_msg(strcmp(bound, "1") == 0, "%s: NoNewPrivs: %s", name, bound);
	str_addf(names, "%s\n", name);
}

/* Of the system and of a relay; their names, each on a line of its own, become names. */
static void none_can_gain(pid_t relay, struct str *names)
{
	pid_t found[MOST] = { site.pid, relay };
	int count = 2;

	find_below(site.pid, found, &count);
	str_clear(names);
	str_add_char(names, '\n');
	for (int i = 0; i < count; i++)
		cannot_gain(found[i], names);
}

static void given_everything(void)
{
	OWNED(str) struct str text = { 0 };

	fresh_store();
	slack_start();
	slack_credentials();
	site = site_make("[slack]\nchannel_id = \"C01AGENTS\"\n"
	                 "[[agent]]\nname = \"shell\"\nprotocol = \"mcp\"\n"
	                 "command = \"/bin/sh\"\nargs = [\"-c\", \"eval \\\"$0\\\"\"]\n"
	                 "[commands]\nrests = \"exec sleep 1000\"\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	for (int i = 0; text.length < BIG; i++)
		str_addf(&text, "this is line %d\n", i);
	attack_file("big.txt", text.bytes);
}

/* An agent that we started, a command of the operator's, and a look into a big file. */
static void given_work(struct wire *w)
{
	OWNED(char_ptr)
	char *arguments = proposal("big.txt", "--- a/big.txt\n+++ b/big.txt\n@@ -1 +1 @@\n"
	                                      "-this is line 0\n+changed\n");

	ck_assert_int_eq(ctl(NULL, "session start --agent shell 'exec tail -f /dev/null'"), 0);
	expect_soon("SELECT state FROM agent_run", "running\n");
	(void)ctl(NULL, "run rests --workspace '%s' >/dev/null 2>&1 &", site.workspace);
	expect_soon("SELECT state FROM alias_run", "running\n");
	agent = agent_hello(site.port, "?wait=1", "2025-11-25");
	agent_begin(&agent, w, "check_clearance", arguments, NULL);
	ck_assert_int_eq(kill(hand_job_of(worker_pid("mcp-front")), SIGSTOP), 0);
}

START_TEST(no_process_of_a_running_system_can_gain_privileges)
{
	static const char *const NAMES[] = { "agent-intercom", "mcp-front",    "hand",
		                             "applier",        "watchdog",     "retention",
		                             "commander",      "archivist",    "reader",
		                             "sentry",         "slack-poster", "slack-listener",
		                             "runner",         "tail",         "sleep",
		                             "mcp-stdio" };
	struct relay r;
	struct wire w;

	given_everything();
	given_work(&w);
	r = given_relay(&site);
	for (size_t i = 0; i < COUNT(NAMES); i++) { /* what is started may not have its name yet */
		OWNED(str) struct str names = { 0 };
		char line[40];

		(void)snprintf(line, sizeof(line), "\n%s\n", NAMES[i]);
		do
			none_can_gain(r.pid, &names);
		while (!strstr(names.bytes, line));
	}
	wire_close(&w);
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack privileges");
	TCase *c = store_case(s, "attack privileges", 60);

	tcase_add_test(c, no_process_of_a_running_system_can_gain_privileges);
	return run_suite(s);
}
