/* The program hook while the system's database cannot be written: it denies, and says why. */
#include "agent.h"
#include "gate_client.h"
#include "hook_case.h"
#include "relay.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum { BLOCK = 4096, MIB = 1 << 20 };

static char workspace[600];
static pid_t front;
static char disk[PATH_MAX]; /* where it is mounted */

static void given_system(void)
{
	fresh_store();
	given_front_settings(workspace);
	front = start_worker("mcp-front");
	(void)start_worker("watchdog");
	(void)snprintf(run_directory, sizeof(run_directory), "%s", test_run());
	(void)signal(SIGPIPE, SIG_IGN);
}

/* The same on a disk of its own, of so many MiB. False: none can be mounted. The clock's page,
 * which was there before, stays where it is. */
static bool given_system_on_a_disk(int mib)
{
	char page[PATH_MAX], options[40];
	char *slash;
	int folder;

	(void)scratch();
	(void)snprintf(disk, sizeof(disk), "%s", getenv("INTERCOM_CLOCK_PAGE"));
	slash = strrchr(disk, '/');
	*slash = '\0';
	folder = open(disk, O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(page, sizeof(page), "/proc/%d/fd/%d/%s", (int)getpid(), folder, slash + 1);
	(void)setenv("INTERCOM_CLOCK_PAGE", page, 1);
	(void)snprintf(options, sizeof(options), "size=%dm", mib);
	if (!may_mount() || mount("tmpfs", disk, "tmpfs", 0, options))
		return false;
	given_system();
	return true;
}

/* Leaves no byte free. */
static void fill_disk(void)
{
	static const char block[BLOCK];
	FILE *f = fopen(below(disk, "filler"), "we");

	ck_assert_ptr_nonnull(f);
	(void)setvbuf(f, NULL, _IONBF, 0);
	while (fwrite(block, 1, sizeof(block), f) == sizeof(block))
		continue;
	(void)fclose(f);
}

static struct hook using(const char *tool, const char *arguments, const char *options)
{
	OWNED(str) struct str input = { 0 };
	OWNED(str) struct str words = { 0 };

	str_addf(&words, "claude PreToolUse %s", options);
	str_addf(&input,
	         "{\"session_id\":\"s1\",\"cwd\":\"%s\",\"hook_event_name\":\"PreToolUse\","
	         "\"tool_name\":\"%s\",\"tool_input\":%s,\"tool_use_id\":\"t1\"}",
	         workspace, tool, arguments);
	return given_hook(words.bytes, input.bytes);
}

static struct hook running(const char *options)
{
	return using("Bash", "{\"command\":\"make install\"}", options);
}

static void is_allowed(struct hook *h)
{
	int status = hook_end(h);

	ck_assert_msg(status == 0, "%d: %s%s", status, str_text(&h->said), str_text(&h->why));
	says(str_text(&h->said), "\"permissionDecision\":\"allow\"");
	hook_clear(h);
}

static void is_asked(const char *count)
{
	expect_soon("SELECT count(*) FROM request AS r JOIN tool_call AS t ON t.request_seq = r.seq"
	            " WHERE r.state = 'pending' AND t.state = 'waiting'",
	            count);
}

START_TEST(little_space_is_left_for_answers_and_a_question_is_a_deny)
{
	struct hook h;

	SKIP_UNLESS(given_system_on_a_disk(48), "root and mount namespaces");
	h = running("");
	is_denied(&h, "less than 64 MiB are free on the database's disk");
	expect("SELECT count(*) FROM request", "0\n");
	expect("SELECT decision FROM gate_call", "deny\n");
	h = using("Read", "{\"file_path\":\"a\"}", "");
	is_allowed(&h);
}
END_TEST

START_TEST(what_cannot_be_recorded_on_a_full_disk_is_a_deny)
{
	struct hook h;

	SKIP_UNLESS(given_system_on_a_disk(48), "root and mount namespaces");
	h = using("Read", "{\"file_path\":\"a\"}", "");
	is_allowed(&h);
	fill_disk();
	h = using("TodoWrite", "{\"todos\":[]}", "--deadline 20");
	is_denied(&h, "free space on the database's disk");
	ck_assert_int_eq(unlink(below(disk, "filler")), 0);
	h = using("TodoWrite", "{\"todos\":[]}", "");
	is_allowed(&h);
	expect("SELECT decision FROM gate_call", "allow\nallow\n");
}
END_TEST

START_TEST(while_another_process_holds_the_database_it_is_a_deny)
{
	struct hook h;

	given_system();
	given("BEGIN IMMEDIATE");
	h = running("--deadline 2");
	is_denied(&h, "there was no answer in time");
	given("COMMIT");
	expect("SELECT count(*) FROM gate_call WHERE decision = 'allow'", "0\n");
	h = running("");
	is_asked("1\n");
	approve_all();
	is_allowed(&h);
}
END_TEST

/* What was approved is allowed only when that is on disk, and else is there for the next call. */
START_TEST(an_approval_that_cannot_be_recorded_is_not_used)
{
	struct hook h;

	given_system();
	h = running("--deadline 8");
	is_asked("1\n");
	ck_assert_int_eq(kill(front, SIGSTOP), 0);
	approve_all();
	given("BEGIN IMMEDIATE");
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	is_denied(&h, "there was no answer in time");
	given("COMMIT");
	expect_soon("SELECT decision, reason FROM gate_call",
	            "deny|its hook had ended before it was told\n");
	h = running("");
	is_allowed(&h);
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT decision FROM gate_call ORDER BY seq", "deny\nallow\n");
}
END_TEST

/* The arguments of a command; the text after before has so many bytes. */
static void fill(struct str *arguments, const char *before, size_t bytes)
{
	OWNED(char_ptr) char *filling = xcalloc(bytes + 1, 1);

	memset(filling, 'x', bytes);
	str_reset(arguments);
	str_addf(arguments, "{%s\"", before);
	str_add(arguments, filling);
	str_add(arguments, "\"}");
}

START_TEST(a_message_that_the_front_does_not_take_is_refused_with_the_reason)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(str) struct str arguments = { 0 };
	struct gate_client h;

	given_system();
	fill(&arguments, "\"command\":", 5 * MIB);
	h = gate_begin("PreToolUse", tool_of("s1", workspace, "Bash", arguments.bytes));
	answer = gate_end(&h);
	says(member(answer, "message"), "longer than 4 MiB");
	expect("SELECT count(*) FROM gate_call", "0\n");
}
END_TEST

START_TEST(what_nobody_would_see_whole_is_a_deny)
{
	OWNED(str) struct str arguments = { 0 };
	struct hook h;

	given_system();
	fill(&arguments, "\"command\":", 2 * MIB);
	h = using("Bash", arguments.bytes, "");
	is_denied(&h, "nobody would see it whole");
	fill(&arguments, "\"command\":\"ls\",\"env\":", 2 * MIB);
	h = using("Bash", arguments.bytes, "");
	is_denied(&h, "nobody would see it whole");
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_store");
	TCase *c = store_case(s, "hook_store", 60);

	tcase_add_test(c, little_space_is_left_for_answers_and_a_question_is_a_deny);
	tcase_add_test(c, what_cannot_be_recorded_on_a_full_disk_is_a_deny);
	tcase_add_test(c, while_another_process_holds_the_database_it_is_a_deny);
	tcase_add_test(c, an_approval_that_cannot_be_recorded_is_not_used);
	tcase_add_test(c, a_message_that_the_front_does_not_take_is_refused_with_the_reason);
	tcase_add_test(c, what_nobody_would_see_whole_is_a_deny);
	return run_suite(s);
}
