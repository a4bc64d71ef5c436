/* What passes through `agent-intercom acp`, and how it ends. */
#include "acp_proxy_case.h"

#include "fence.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line as agents and editors write them, or as none does. */
static void add_line(struct str *out, unsigned *seed, bool is_agents)
{
	enum { ANSWERS = 2 }; /* of these pieces, at the end; an editor's has to answer something */
	static const char *const PIECES[] = {
		"{\"jsonrpc\":\"2.0\",\"method\":\"session/"
		"update\",\"params\":{\"sessionId\":\"s1\","
		"\"update\":{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\",\"title\":\"t\"}}"
		"}",
		"{\"id\":0,\"method\":\"fs/read_text_file\",\"params\":{}}",
		"{\"method\":\"_x\",\"params\":{\"method\":\"fs/write_text_file\",\"id\":1}}",
		"[1,2]",
		"",
		"\t ",
		"{\"id\":7,\"method\":\"session/new\",\"params\":{\"cwd\":\"/"
		"w\",\"mcpServers\":[]}}",
		"{\"result\":{\"x\":1e400,\"y\":12345678901234567890},\"id\":\"0\"}",
		"{\"id\":null,\"error\":{\"code\":-32700}}",
	};
	int kind = rand_r(seed) % (int)(COUNT(PIECES) - (is_agents ? 0 : ANSWERS));

	str_add(out, PIECES[kind]);
	str_add(out, rand_r(seed) % 3 == 0 ? "\r\n" : "\n");
}

START_TEST(everything_else_passes_byte_for_byte)
{
	struct trio a = given_trio(NULL);
	OWNED(str) struct str said = { 0 }, asked = { 0 };
	unsigned seed = 7;

	for (int i = 0; i < 20000; i++) {
		add_line(&said, &seed, true);
		add_line(&asked, &seed, false);
	}
	passes(&a.agent, said.bytes, said.length, &a.editor);
	passes(&a.editor, asked.bytes, asked.length, &a.agent);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_is_no_whole_message_does_not_reach_the_other_side)
{
	/* In pairs, they would be a message to who reads values, and not lines. */
	static const char *const BROKEN[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":20,",
		"{\"id\":21",
		"{'id':1,'method':'fs/write_text_file','params':{}}",
		"[{\"x\":1},",
		"{\"id\":01,\"method\":\"_x\"}",
		"{\"method\":\"_x\",}",
		"{\"method\":\"_x\"} {\"method\":\"_y\"}",
		"\xef\xbb\xbf{\"method\":\"_x\"}",
		"{\"method\":\"_x\"} // y",
	};
	static const char *const NOISE[] = {
		"\"method\":\"fs/write_text_file\",\"params\":{\"path\":\"/x\",\"content\":\"\"}}",
		",\"method\":\"fs/write_text_file\",\"params\":{}}",
		"'method':'fs/write_text_file'}",
		"Loading...",
		"[INFO] 1 model",
		"(node:1) Warning: {\"x\":1}",
		"}",
		"1 2",
		"\"",
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(BROKEN); i++) {
		OWNED(char_ptr) char *got = NULL;

		party_say(&a.agent, BROKEN[i]);
		got = party_hear(&a.agent);
		ck_assert_msg(got && strstr(got, "\"error\"") && !strstr(got, "01"), "%s: %s",
		              BROKEN[i], got);
		hears_nothing_but_marks(&a);
	}
	for (size_t i = 0; i < COUNT(NOISE); i++) {
		party_say(&a.agent, NOISE[i]);
		party_say(&a.editor, NOISE[i]);
		hears_nothing_but_marks(&a);
	}
	for (size_t i = 0; i < COUNT(BROKEN); i++) {
		party_say(&a.editor, BROKEN[i]);
		hears_nothing_but_marks(&a);
	}
	trio_ends(&a, 0);
}
END_TEST

/* In remote mode it may guess the id of a question, before or after the agent has asked it. */
START_TEST(an_editor_answers_only_what_it_was_asked_and_once)
{
	static const char READ[] = "{\"id\":7,\"method\":\"fs/read_text_file\",\"params\":{}}";
	static const char GOOD[] = "{\"id\":7.0,\"result\":{\"content\":\"x\"}}";
	static const char *const FORGED[] = {
		"{\"id\":5,\"result\":{}}",
		"{\"id\":7,\"id\":5,\"result\":{}}",
		"{\"id\":5,\"id\":7,\"result\":{}}",
		"[{\"id\":7,\"result\":{}}]",
		"[{\"id\":5,\"result\":{}}]",
		"{\"id\":7.00000000000000000001,\"result\":{}}",
		"{\"id\":\"7\",\"result\":{}}",
		"{\"id\":null,\"result\":{}}",
		"{\"id\":[7],\"result\":{}}",
		"{\"method\":null,\"id\":5,\"result\":{}}",
		"{\"ID\":5,\"result\":{}}",
		"{\"Id\":5,\"id\":7,\"result\":{}}",
		"{\"\\u0049d\":5,\"method\":\"_x\"}",
		"{\"\xc4\xb1"
		"d\":5,\"result\":{}}",
		"{\"iD\":5,\"method\":\"\",\"Result\":{}}",
		"{\"id\":7,\"re\\u017fult\":{}}",
		"{\"id\":7,\"result\":{},\"Error\":{}}",
		"{\"id\":7,\"result\":{},\"result\":{}}",
		"{\"id\":5,\"method\":\"_x\",\"result\":{}}",
		"{\"id\":5,\"method\":\"_x\",\"error\":{}}",
		"{\"method\":\"_x\",\"params\":\r{\"ID\":5,\"result\":{}}\r}",
	};
	struct trio a = given_trio(NULL);

	party_say(&a.agent, READ);
	hears(&a.editor, READ);
	for (size_t i = 0; i < COUNT(FORGED); i++) {
		party_say(&a.editor, FORGED[i]);
		hears_nothing_but_marks(&a);
	}
	party_say(&a.editor, GOOD);
	hears(&a.agent, GOOD);
	party_say(&a.editor, GOOD);
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
}
END_TEST

/* Some readers ignore the case of a name, and some look for an answer before a method. */
START_TEST(an_agents_message_that_some_editor_takes_for_another_does_not_reach_it)
{
	static const char *const HIDDEN[] = {
		"{\"id\":5,\"Method\":\"fs/write_text_file\",\"params\":{}}",
		"{\"id\":5,\"method\":\"_x\",\"METHOD\":\"fs/write_text_file\",\"params\":{}}",
		"{\"method\":\"fs/write_text_file\",\"ID\":5,\"params\":{}}",
		"{\"method\":\"_x\",\"param\xc5\xbf\":{}}",
		"{\"method\":\"_x\",\"params\":{},\"params\":{}}",
		"{\"JSONRPC\":\"2.0\",\"method\":\"_x\"}",
		"{\"id\":5,\"method\":\"_x\",\"result\":{}}",
	};
	static const char OTHER[] = "{\"method\":\"_x\",\"IDs\":1,\"params\":{\"ID\":1,\"Id\":2}}";
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(HIDDEN); i++) {
		OWNED(char_ptr) char *got = NULL;

		party_say(&a.agent, HIDDEN[i]);
		got = party_hear(&a.agent);
		ck_assert_msg(got && strstr(got, "\"id\":null,\"error\""), "%s: %s", HIDDEN[i],
		              got);
		says(got, "differently");
		hears_nothing_but_marks(&a);
	}
	party_say(&a.agent, OTHER);
	hears(&a.editor, OTHER);
	trio_ends(&a, 0);
}
END_TEST

/* Nobody is recorded to have said yes: the agent does not hear one either. */
START_TEST(what_is_none_of_the_options_is_told_as_cancelled)
{
	static const char *const ANSWERS[] = {
		"{\"outcome\":\"selected\",\"optionId\":\"other\"}",
		"{\"outcome\":\"cancelled\",\"optionId\":\"yes\"}",
		"{\"outcome\":\"Selected\",\"optionId\":\"yes\"}",
		"{\"optionId\":\"yes\"}",
	};
	static const char ASK[] =
	    "{\"id\":1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s1\","
	    "\"toolCall\":{\"toolCallId\":\"c\"},\"options\":[{\"optionId\":\"yes\",\"name\":\"Y\","
	    "\"kind\":\"allow_once\"}]}}";
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(ANSWERS); i++) {
		OWNED(str) struct str line = { 0 };
		struct asked q;

		party_say(&a.agent, ASK);
		q = front_hears(&a);
		front_asks(&q, true);
		hears(&a.editor, ASK);
		str_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":%s}}",
		         ANSWERS[i]);
		party_say(&a.editor, line.bytes);
		hears(&a.agent, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":{"
		                "\"outcome\":\"cancelled\"}}}");
		front_takes(&q, "withdraw", "applied");
		asked_clear(&q);
	}
	trio_ends(&a, 0);
}
END_TEST

static long peak_kb(pid_t pid)
{
	char path[64], line[256];
	long kb = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	(void)fclose(f);
	return kb;
}

static void add_long(struct str *out, size_t length)
{
	str_add(out, "{\"method\":\"session/update\",\"params\":{\"text\":\"");
	for (size_t i = 0; i < length; i++)
		str_add_char(out, (char)('a' + i % 26));
	str_add(out, "\"}}\n");
}

START_TEST(a_line_of_ten_megabytes_passes_and_one_of_eighty)
{
	struct trio a = given_trio(NULL);
	OWNED(str) struct str line = { 0 };

	add_long(&line, 10 << 20);
	passes(&a.agent, line.bytes, line.length, &a.editor);
	passes(&a.editor, line.bytes, line.length, &a.agent);
	str_clear(&line);
	add_long(&line, 80 << 20);
	passes(&a.agent, line.bytes, line.length, &a.editor);
	passes(&a.editor, line.bytes, line.length, &a.agent);
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_half_line_waits_for_its_other_half_and_without_it_is_none)
{
	struct trio a = given_trio(NULL);
	static const char HALF[] = "{\"method\":\"_x\",\"par", REST[] = "ams\":{}}\n";
	OWNED(char_ptr) char *line = NULL;

	ck_assert_int_eq(write(a.agent.in, HALF, sizeof(HALF) - 1), sizeof(HALF) - 1);
	party_say(&a.editor, "{\"method\":\"_y\"}");
	hears(&a.agent, "{\"method\":\"_y\"}");
	ck_assert_int_eq(write(a.agent.in, REST, sizeof(REST) - 1), sizeof(REST) - 1);
	hears(&a.editor, "{\"method\":\"_x\",\"params\":{}}");
	ck_assert_int_eq(write(a.agent.in, HALF, sizeof(HALF) - 1), sizeof(HALF) - 1);
	party_close(&a.agent);
	line = party_hear(&a.editor);
	ck_assert_ptr_null(line);
	ck_assert_int_eq(a.editor.bytes.length, 0); /* nothing completes it */
	trio_ends(&a, 0);
}
END_TEST

/* A reader that sleeps stops the writer; nothing is piled up. */
START_TEST(who_is_not_read_has_to_wait)
{
	struct trio a = given_trio(NULL);
	OWNED(str) struct str line = { 0 };
	size_t sent = 0;
	ssize_t n;
	struct pollfd p = { .fd = a.agent.in, .events = POLLOUT };

	add_long(&line, 100000);
	(void)fcntl(a.agent.in, F_SETFL, O_NONBLOCK);
	while (poll(&p, 1, 1000) == 1) {
		n = write(a.agent.in, line.bytes + sent % line.length,
		          line.length - sent % line.length);
		ck_assert_int_gt(n, 0);
		sent += (size_t)n;
		ck_assert_uint_lt(sent, 16 << 20);
	}
	ck_assert_int_lt(peak_kb(a.pid), 64 << 10);
	ck_assert_int_eq(kill(a.pid, SIGKILL), 0);
	trio_ends(&a, 128 + SIGKILL);
}
END_TEST

START_TEST(the_end_of_the_editor_is_the_end_of_the_agent)
{
	struct trio a = given_trio(NULL);
	OWNED(char_ptr) char *line = NULL;

	party_say(&a.editor, "{\"method\":\"_last\"}");
	party_close(&a.editor);
	hears(&a.agent, "{\"method\":\"_last\"}");
	line = party_hear(&a.agent);
	ck_assert_ptr_null(line);
	party_say(&a.agent, "{\"method\":\"_words\"}");
	hears(&a.editor, "{\"method\":\"_words\"}");
	trio_ends(&a, 0);
}
END_TEST

START_TEST(the_status_is_that_of_the_agent)
{
	static const struct {
		const char *script;
		int status;
	} CASES[] = { { "exit 0", 0 }, { "exit 7", 7 }, { "kill -9 $$", 128 + SIGKILL } };
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++)
		ck_assert_int_eq(shell(NULL,
		                       "'%s/agent-intercom' acp --db='%s' sh -c '%s' </dev/null",
		                       getenv("INTERCOM_BUILD"), a.database, CASES[i].script),
		                 CASES[i].status);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_agent_whose_profile_has_a_fence_is_behind_it_under_an_editor_too)
{
	OWNED(str) struct str config = { 0 };
	struct trio a = given_trio(NULL);
	char at[400];

	SKIP_UNLESS(fence_abi() >= 2, "Landlock's ABI 2");
	str_addf(&config,
	         "[database]\npath = \"%s\"\n[[agent]]\nname = \"f\"\ncommand = "
	         "\"/bin/sh\"\nprotocol = \"acp\"\n"
	         "args = [\"-c\", \"echo x >in && ! echo x >'%s.beside'\"]\n"
	         "[agent.fence]\nwrite = []\n",
	         a.database, a.folder);
	put_file(test_run(), "config.toml", str_text(&config));
	ck_assert_int_eq(shell(NULL,
	                       "'%s/agent-intercom' acp --config='%s/config.toml' --workspace='%s'"
	                       " f </dev/null",
	                       getenv("INTERCOM_BUILD"), test_run(), a.folder),
	                 0);
	(void)snprintf(at, sizeof(at), "%s/in", a.folder);
	ck_assert_int_eq(access(at, F_OK), 0);
	(void)snprintf(at, sizeof(at), "%s.beside", a.folder);
	ck_assert_int_ne(access(at, F_OK), 0);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_cannot_be_started_is_said)
{
	static const struct {
		const char *arguments, *why;
		int status;
	} CASES[] = {
		{ "", "name a profile or a command", 64 },
		{ "--when-down=maybe x", "takes editor or deny, not 'maybe'", 64 },
		{ "no-such-agent-anywhere", "cannot find the program no-such-agent-anywhere", 78 },
		{ "/no/such/program -x", "cannot start /no/such/program", 78 },
		{ "--workspace=/no/such/folder true", "the workspace /no/such/folder", 78 },
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str said = { 0 };
		int status = shell(&said, "'%s/agent-intercom' acp --db='%s' %s 2>&1 </dev/null",
		                   getenv("INTERCOM_BUILD"), a.database, CASES[i].arguments);

		says(str_text(&said), CASES[i].why);
		ck_assert_int_eq(status, CASES[i].status);
	}
	trio_ends(&a, 0);
}
END_TEST

/* The agent would do what it asked for, and not what the operator wrote. */
START_TEST(what_is_approved_with_another_content_does_not_pass)
{
	static const char OTHER[] = "allow\",\"input\":{\"command\":\"npm ci\"},\"why\":\"";
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, permission("1", "{\"toolCallId\":\"c1\",\"kind\":\"execute\",\"title\":"
	                                    "\"Run\",\"rawInput\":{\"command\":\"npm test\"}}"));
	q = front_hears(&a);
	front_decides(&q, OTHER, "");
	hears(&a.agent, chosen("1", "no"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_signal_ends_it_with_its_agent)
{
	struct trio a = given_trio(NULL);
	OWNED(char_ptr) char *line = NULL;

	hears_nothing_but_marks(&a);
	ck_assert_int_eq(kill(a.pid, SIGTERM), 0);
	line = party_hear(&a.agent);
	ck_assert_ptr_null(line);
	trio_ends(&a, 0);
}
END_TEST

/* The proxy's agent starts this; then the editor leaves. The system that runs by then goes on. */
static void the_system_outlives_the_editor(const char *agent)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(
	    shell(
	        &said,
	        "mkdir -p home/.config/agent-intercom rt w && chmod 700 rt && mkfifo in && "
	        "echo http_port = 0 >home/.config/agent-intercom/config.toml\n"
	        "unset INTERCOM_CONFIG XDG_CONFIG_HOME XDG_STATE_HOME\n"
	        "export HOME=\"$PWD/home\" XDG_RUNTIME_DIR=\"$PWD/rt\" PATH=\"%s:$PATH\"\n"
	        "pid() { sed 's/ .*//;q' home/.local/state/agent-intercom/intercom.db-instance; }\n"
	        "agent-intercom acp --workspace w sh -c '%s' <in >/dev/null 2>&1 &\n"
	        "exec 3>in; echo '{\"id\":0,\"method\":\"session/new\",\"params\":{"
	        "\"cwd\":\"/\"}}' >&3; until agent-intercom-ctl health >/dev/null 2>&1; do sleep "
	        "0.05; done\n"
	        "before=$(pid); exec 3>&-; wait $!; kill -0 \"$before\"; status=$?\n"
	        "kill \"$before\"\n"
	        "while kill -0 \"$before\" 2>/dev/null; do sleep 0.05; done; exit $status",
	        getenv("INTERCOM_BUILD"), agent),
	    0);
}

START_TEST(a_system_that_an_editors_proxy_started_outlives_it)
{
	ck_assert_int_eq(chdir(short_scratch()), 0);
	the_system_outlives_the_editor(
	    "read -r line; echo \"{\\\"id\\\":0,\\\"result\\\":{\\\"sessionId\\\":\\\"s\\\"}}\"; "
	    "echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"method\\\":"
	    "\\\"fs/write_text_file\\\",\\\"params\\\":{\\\"sessionId\\\":\\\"s\\\",\\\"path\\\":"
	    "\\\"$PWD/a\\\",\\\"content\\\":\\\"x\\\"}}\"; cat");
}
END_TEST

START_TEST(a_system_that_the_agent_of_an_editor_started_outlives_both)
{
	ck_assert_int_eq(chdir(short_scratch()), 0);
	the_system_outlives_the_editor("sleep 100 | agent-intercom mcp & cat");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_passes");
	TCase *c = tcase_create("acp_proxy_passes");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, everything_else_passes_byte_for_byte);
	tcase_add_test(c, what_is_no_whole_message_does_not_reach_the_other_side);
	tcase_add_test(c, an_editor_answers_only_what_it_was_asked_and_once);
	tcase_add_test(c, an_agents_message_that_some_editor_takes_for_another_does_not_reach_it);
	tcase_add_test(c, what_is_none_of_the_options_is_told_as_cancelled);
	tcase_add_test(c, a_line_of_ten_megabytes_passes_and_one_of_eighty);
	tcase_add_test(c, a_half_line_waits_for_its_other_half_and_without_it_is_none);
	tcase_add_test(c, who_is_not_read_has_to_wait);
	tcase_add_test(c, the_end_of_the_editor_is_the_end_of_the_agent);
	tcase_add_test(c, the_status_is_that_of_the_agent);
	tcase_add_test(c, an_agent_whose_profile_has_a_fence_is_behind_it_under_an_editor_too);
	tcase_add_test(c, what_cannot_be_started_is_said);
	tcase_add_test(c, what_is_approved_with_another_content_does_not_pass);
	tcase_add_test(c, a_signal_ends_it_with_its_agent);
	tcase_add_test(c, a_system_that_an_editors_proxy_started_outlives_it);
	tcase_add_test(c, a_system_that_the_agent_of_an_editor_started_outlives_both);
	suite_add_tcase(s, c);
	return run_suite(s);
}
