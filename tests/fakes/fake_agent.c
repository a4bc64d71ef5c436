/* fake_agent: an agent that does what its arguments say, in one of the protocols that agents speak.
 *
 * usage: fake-agent v1|v2|stream [--log FILE] [--times FILE] STEP...
 * The steps are done for each prompt; of stream, once at the start. Each line that it reads is
 * appended to the one FILE, whole or not at all; to the other, when it asked and was answered:
 * "asked NS" and "answered NS", CLOCK_MONOTONIC.
 *
 *   text:WORDS      says WORDS; %p in it: the prompt
 *   chunks:N        says N chunks "1 " to "N " without a pause
 *   tool:TITLE      begins and completes a call of a tool
 *   plan:LABEL      tells a plan of two steps, the first done and the second LABEL
 *   ask:PATH        asks to write PATH and waits; says "answered: " and what it got
 *   ask-once:PATH   the same, but not in a session that it resumed
 *   permit:JSON     asks to make this tool call, of which %w is where it works, like `ask`
 *   write:PATH      writes PATH, where it works, if the last answer was a yes
 *   options:JSON    what the next `permit` offers; else yes and no
 *   withdraw        asks, and withdraws that once the file `go` is where it works
 *   form            asks for a colour and waits; says "answered: ..."
 *   form:JSON       the same with this schema
 *   proceed         (stream) asks how to proceed and waits; says "answered: ..."
 *   proceed:TYPE    the same, with a prompt of this type
 *   wait            reads until it is told to stop; then the turn ends as cancelled
 *   stop:REASON     the turn ends with this reason
 *   fail:TEXT       the turn ends with an error
 *   usage:USED      says that so many of 1000 tokens are in the context, and a cost of USED cents
 *   tokens:N        the turn ends, and its answer says that N tokens were used
 *   pause:MS        does nothing for so long
 *   hang            does nothing more, whatever it is told
 *   stubborn        ignores SIGTERM
 *   exit:N          ends with this status
 *   stderr:BYTES    writes so much to stderr
 *   stdout:BYTES    writes one line of so much to stdout, a notification
 *   junk:N          writes N lines that are no message
 *   grandchild:S    leaves a process behind that holds stdout for S seconds
 * Before any prompt, where one of the steps says so:
 *   deaf            never reads stdin
 *   login           session/new needs a login
 *   silent          answers nothing
 *   http            can call MCP servers over HTTP
 *   resumable       can resume a session, whatever its id */
#include "json.h"
#include "json_writer.h"
#include "message.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 10 };

static bool stream, second, resumed, may;
static int log_fd = -1, times_fd = -1;
static char **steps;
static int next_id;
static char *line;
static size_t line_size;
static const char *prompt = "";
static char place[4096]; /* where it works */

static void say(const char *json)
{
	(void)fputs(json, stdout);
	(void)fputc('\n', stdout);
	(void)fflush(stdout);
}

static void say_result(const char *id, const char *result)
{
	OWNED(str) struct str json = { 0 };

	acp_message_add_result(&json, id, result);
	say(json.bytes);
}

static void say_method(const char *id, const char *method, const char *params)
{
	OWNED(str) struct str json = { 0 };

	if (id)
		acp_message_add_request(&json, id, method, params);
	else
		acp_message_add_notification(&json, method, params);
	say(json.bytes);
}

static void say_update(const char *update)
{
	OWNED(str) struct str params = { 0 };

	str_addf(&params, "{\"sessionId\":\"fake\",\"update\":%s}", update);
	say_method(NULL, "session/update", params.bytes);
}

static void say_text(const char *text)
{
	OWNED(str) struct str json = { 0 };

	json_object(&json);
	if (stream) {
		json_member(&json, "message", text);
	} else {
		json_member(&json, "sessionUpdate", "agent_message_chunk");
		json_member(&json, "messageId", second ? "m" : NULL);
		json_member_object(&json, "content");
		json_member(&json, "type", "text");
		json_member(&json, "text", text);
		json_object_end(&json);
	}
	json_object_end(&json);
	if (stream)
		say_method(NULL, "status/update", json.bytes);
	else
		say_update(json.bytes);
}

static void note_time(const char *what, int64_t ns)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "%s %lld\n", what, (long long)ns);

	if (times_fd >= 0 && write(times_fd, text, (size_t)length) != length)
		exit(70);
}

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* The next line; at the end of stdin this process ends. */
static void hear(struct acp_message *m)
{
	struct err e = { 0 };
	ssize_t length;

	acp_message_clear(m);
	length = getline(&line, &line_size, stdin);
	if (length < 0)
		exit(0);
	if (log_fd >= 0 && write(log_fd, line, (size_t)length) != length)
		exit(70);
	(void)acp_message_read(line, (size_t)length, m, &e);
}

static bool is(const struct acp_message *m, const char *method)
{
	return m->method && strcmp(m->method, method) == 0;
}

static bool is_cancel(const struct acp_message *m)
{
	return is(m, "session/cancel") || is(m, "session/interrupt");
}

/* Waits for the answer to a question and says what it is. False: it was told to stop first. */
static bool await(const char *id)
{
	OWNED(acp_message) struct acp_message m = { 0 };
	OWNED(str) struct str text = { 0 };
	bool cancelled = false;
	char *answer;

	do {
		hear(&m);
		cancelled |= is_cancel(&m);
	} while (!m.id || strcmp(m.id, id) != 0);
	note_time("answered", now_ns());
	answer = cJSON_PrintUnformatted(stream ? m.params : m.result);
	may = answer && strstr(answer, "\"yes\"");
	str_addf(&text, "answered: %s", answer ? answer : m.text);
	cJSON_free(answer);
	say_text(text.bytes);
	return !cancelled;
}

static bool ask(const char *method, const char *params)
{
	char id[16];

	(void)snprintf(id, sizeof(id), stream ? "\"q%d\"" : "%d", next_id++);
	note_time("asked", now_ns());
	say_method(id, method, params);
	return await(id);
}

static bool ask_to_write(const char *path)
{
	OWNED(str) struct str params = { 0 };

	if (stream)
		str_addf(
		    &params,
		    "{\"title\":\"Write %s\",\"description\":\"as asked\",\"file_path\":\"%s\","
		    "\"risk_level\":\"low\",\"diff\":\"--- /dev/null\\n+++ b/%s\\n@@ -0,0 +1 @@"
		    "\\n+hi\\n\"}",
		    path, path, path);
	else
		str_addf(
		    &params,
		    "{\"sessionId\":\"fake\",\"title\":\"Write "
		    "%s\",\"%s\":{%s\"toolCallId\":\"c%d\","
		    "\"kind\":\"edit\",\"title\":\"Write %s\",\"content\":[{\"type\":\"diff\","
		    "\"path\":\"%s/%s\",\"oldText\":null,\"newText\":\"hi\\n\"}]}%s,\"options\":[{"
		    "\"optionId\":\"always\",\"name\":\"Always\",\"kind\":\"allow_always\"},{"
		    "\"optionId\":\"yes\",\"name\":\"Yes\",\"kind\":\"allow_once\"},{\"optionId\":"
		    "\"no\",\"name\":\"No\",\"kind\":\"reject_once\"}]}",
		    path, second ? "subject" : "toolCall",
		    second ? "\"type\":\"tool_call\",\"toolCall\":{" : "", next_id, path, place,
		    path, second ? "}" : "");
	return ask(stream ? "clearance/request" : "session/request_permission", params.bytes);
}

static const char *options = "[{\"optionId\":\"yes\",\"name\":\"Yes\",\"kind\":\"allow_once\"},"
                             "{\"optionId\":\"no\",\"name\":\"No\",\"kind\":\"reject_once\"}]";

static bool ask_permission(const char *call)
{
	OWNED(str) struct str params = { 0 };

	str_add(&params, "{\"sessionId\":\"fake\",\"toolCall\":");
	for (const char *mark; (mark = strstr(call, "%w")) != NULL; call = mark + 2) {
		str_add_bytes(&params, call, (size_t)(mark - call));
		str_add(&params, place);
	}
	str_addf(&params, "%s,\"options\":%s}", call, options);
	return ask("session/request_permission", params.bytes);
}

static void write_if_allowed(const char *path)
{
	FILE *file = may ? fopen(path, "w") : NULL;

	if (!file)
		return;
	(void)fputs("hi\n", file);
	(void)fclose(file);
}

static bool ask_and_withdraw(void)
{
	char id[16], params[40];

	(void)snprintf(id, sizeof(id), "%d", next_id++);
	(void)snprintf(params, sizeof(params), "{\"requestId\":%s}", id);
	say_method(
	    id, "session/request_permission",
	    "{\"sessionId\":\"fake\",\"toolCall\":{\"toolCallId\":\"w\",\"title\":\"Go\"},"
	    "\"options\":[{\"optionId\":\"yes\",\"name\":\"Yes\",\"kind\":\"allow_once\"}]}");
	while (access("go", F_OK) != 0)
		(void)poll(NULL, 0, LOOK_MS);
	say_method(NULL, "$/cancel_request", params);
	return await(id);
}

static bool ask_form(const char *schema)
{
	static const char COLOUR[] =
	    "{\"type\":\"object\",\"properties\":{\"colour\":{\"type\":"
	    "\"string\",\"oneOf\":[{\"const\":\"b\",\"title\":\"Blue\"},{\"const\":\"r\","
	    "\"title\":\"Red\"}]}},\"required\":[\"colour\"]}";
	OWNED(str) struct str params = { 0 };

	str_addf(&params,
	         "{\"mode\":\"form\",\"sessionId\":\"fake\",\"message\":\"%s\","
	         "\"requestedSchema\":%s}",
	         *schema ? "Please fill in." : "Which colour?", *schema ? schema : COLOUR);
	return ask("elicitation/create", params.bytes);
}

static void use_tool(const char *title)
{
	OWNED(str) struct str json = { 0 };

	str_addf(&json,
	         "{\"sessionUpdate\":\"%s\",\"toolCallId\":\"c%d\",\"title\":\"%s\",\"kind\":"
	         "\"execute\",\"status\":\"in_progress\"}",
	         second ? "tool_call_update" : "tool_call", next_id, title);
	say_update(json.bytes);
	str_reset(&json);
	str_addf(&json,
	         "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c%d\",\"status\":"
	         "\"completed\"}",
	         next_id++);
	say_update(json.bytes);
}

/* used: in the context, and cents. */
static void say_usage(const char *used)
{
	OWNED(str) struct str json = { 0 };

	str_addf(&json,
	         "{\"sessionUpdate\":\"usage_update\",\"used\":%s,\"size\":1000,\"cost\":{"
	         "\"amount\":%.2f,\"currency\":\"USD\"}}",
	         used, atoi(used) / 100.0);
	say_update(json.bytes);
}

static void tell_plan(const char *label)
{
	OWNED(str) struct str json = { 0 };

	str_addf(&json,
	         "{\"sessionUpdate\":\"%s\",%s\"entries\":[{\"content\":\"look\",\"status\":"
	         "\"completed\"},{\"content\":\"%s\",\"status\":\"in_progress\"}]}%s",
	         second ? "plan_update" : "plan", second ? "\"plan\":{\"planId\":\"p\"," : "",
	         label, second ? "}" : "");
	say_update(json.bytes);
}

static void write_much(FILE *to, long bytes)
{
	static const char PIECE[] =
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde";

	for (; bytes > 0; bytes -= (long)sizeof(PIECE) - 1)
		(void)fputs(PIECE, to);
}

static void say_long_line(long bytes)
{
	(void)fputs("{\"method\":\"long\",\"params\":{\"x\":\"", stdout);
	write_much(stdout, bytes);
	say("\"}}");
}

static void leave_grandchild(unsigned seconds)
{
	if (fork() != 0)
		return;
	(void)signal(SIGTERM, SIG_IGN);
	for (unsigned left = seconds; left > 0;)
		left = sleep(left);
	_exit(0);
}

static void say_words(const char *words)
{
	const char *mark = strstr(words, "%p");
	OWNED(str) struct str text = { 0 };

	str_add_bytes(&text, words, mark ? (size_t)(mark - words) : strlen(words));
	if (mark)
		str_addf(&text, "%s%s", prompt, mark + 2);
	say_text(str_text(&text));
}

static void be_told_to_stop(void)
{
	OWNED(acp_message) struct acp_message m = { 0 };

	do {
		hear(&m);
	} while (!is_cancel(&m));
}

/* The number or text behind "name:", NULL if step is another one. */
static const char *of(const char *step, const char *name)
{
	size_t n = strlen(name);

	return strncmp(step, name, n) == 0 && (step[n] == ':' || !step[n]) ? step + n + !!step[n]
	                                                                   : NULL;
}

/* What has to do with processes and pipes. */
static void misbehave(const char *step)
{
	const char *of_what;

	if (of(step, "stubborn"))
		(void)signal(SIGTERM, SIG_IGN);
	else if ((of_what = of(step, "exit")))
		exit(atoi(of_what));
	else if ((of_what = of(step, "leave")) && strstr(prompt, of_what))
		exit(0);
	else if ((of_what = of(step, "pause")))
		(void)poll(NULL, 0, atoi(of_what));
	else if ((of_what = of(step, "stderr")))
		write_much(stderr, atol(of_what));
	else if ((of_what = of(step, "stdout")))
		say_long_line(atol(of_what));
	else if ((of_what = of(step, "grandchild")))
		leave_grandchild((unsigned)atoi(of_what));
	else if ((of_what = of(step, "junk")))
		for (int i = 0; i < atoi(of_what); i++)
			say("Loading...");
	for (; of(step, "hang");)
		(void)pause();
}

static bool ask_to_proceed(const char *type)
{
	OWNED(str) struct str params = { 0 };

	str_addf(&params, "{\"text\":\"Go on?\",\"type\":\"%s\"}", *type ? type : "continuation");
	return ask("prompt/forward", params.bytes);
}

static bool is_question(const char *step)
{
	static const char *const NAMES[] = { "ask",      "ask-once", "permit",
		                             "withdraw", "form",     "proceed" };

	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (of(step, NAMES[i]))
			return true;
	return false;
}

/* One step that asks. False: it was told to stop first. */
static bool ask_as(const char *step)
{
	const char *of_what;

	if ((of_what = of(step, "ask")))
		return ask_to_write(of_what);
	if ((of_what = of(step, "ask-once")))
		return resumed || ask_to_write(of_what);
	if ((of_what = of(step, "permit")))
		return ask_permission(of_what);
	if (of(step, "withdraw"))
		return ask_and_withdraw();
	if ((of_what = of(step, "form")))
		return ask_form(of_what);
	return ask_to_proceed(of(step, "proceed"));
}

/* One step; the stop reason if the turn is over with it, "error TEXT" for an error, else NULL. */
static const char *take_step(const char *step)
{
	const char *of_what;

	if ((of_what = of(step, "text")))
		return say_words(of_what), NULL;
	if ((of_what = of(step, "chunks"))) {
		for (int i = 1; i <= atoi(of_what); i++) {
			char text[16];

			(void)snprintf(text, sizeof(text), "%d ", i);
			say_text(text);
		}
	}
	if ((of_what = of(step, "tool")))
		use_tool(of_what);
	if ((of_what = of(step, "plan")))
		tell_plan(of_what);
	if (is_question(step))
		return ask_as(step) ? NULL : "cancelled";
	if ((of_what = of(step, "options")))
		return options = of_what, NULL;
	if (of(step, "wait"))
		return be_told_to_stop(), "cancelled";
	if ((of_what = of(step, "stop")))
		return of_what;
	if (of(step, "fail") || of(step, "tokens"))
		return step;
	if ((of_what = of(step, "usage")))
		say_usage(of_what);
	if ((of_what = of(step, "write")))
		write_if_allowed(of_what);
	misbehave(step);
	return NULL;
}

static const char *take_steps(void)
{
	const char *stop = NULL;

	for (char **step = steps; *step && !stop; step++)
		stop = take_step(*step);
	return stop ? stop : "end_turn";
}

static bool has_step(const char *name)
{
	for (char **step = steps; *step; step++)
		if (of(*step, name))
			return true;
	return false;
}

static void take_prompt(const struct acp_message *m)
{
	OWNED(str) struct str json = { 0 };
	OWNED(char_ptr) char *id = xstrdup(m->id);
	OWNED(char_ptr) char *text = NULL;
	const char *stop;

	text = xstrdup(json_text(
	    cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(m->params, "prompt"), 0), "text"));
	prompt = text;
	if (second) {
		say_update("{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}");
		say_result(id, "{\"messageId\":\"p\"}");
	}
	stop = take_steps();
	prompt = "";
	if (of(stop, "fail")) {
		acp_message_add_error(&json, id, ACP_INTERNAL_ERROR, of(stop, "fail"));
		say(json.bytes);
		return;
	}
	if (of(stop, "tokens")) {
		str_addf(&json,
		         "{\"stopReason\":\"end_turn\",\"usage\":{\"inputTokens\":1,"
		         "\"outputTokens\":2,\"totalTokens\":%s}}",
		         of(stop, "tokens"));
		say_result(id, json.bytes);
		return;
	}
	str_addf(
	    &json,
	    second ? "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\",\"stopReason\":\"%s\"}"
	           : "{\"stopReason\":\"%s\"}",
	    stop);
	if (second)
		say_update(json.bytes);
	else
		say_result(id, json.bytes);
}

static void begin_session(const struct acp_message *m)
{
	OWNED(str) struct str json = { 0 };

	if (!has_step("login")) {
		say_result(m->id, "{\"sessionId\":\"fake\"}");
		return;
	}
	acp_message_add_error(&json, m->id, ACP_LOGIN_NEEDED, "Authentication required");
	say(json.bytes);
}

#define HELLO_1_(capabilities)                                                                     \
	"{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"fake\",\"version\":\"1.0\"}"             \
	"," capabilities "\"authMethods\":[{\"id\":\"oauth\",\"name\":\"Log in\"}]}"
static const char HELLO_1[] = HELLO_1_("");
static const char HELLO_RESUMABLE[] =
    HELLO_1_("\"agentCapabilities\":{\"sessionCapabilities\":{\"resume\":{}}},");
static const char HELLO_HTTP[] =
    HELLO_1_("\"agentCapabilities\":{\"mcpCapabilities\":{\"http\":true}},");
static const char HELLO_2[] =
    "{\"protocolVersion\":2,\"info\":{\"name\":\"fake\"},\"capabilities\":{"
    "\"session\":{}}}";

static void speak_standard(void)
{
	OWNED(acp_message) struct acp_message m = { 0 };

	for (;;) {
		hear(&m);
		if (has_step("silent"))
			continue;
		if (is(&m, "initialize"))
			say_result(m.id, second                  ? HELLO_2
			                 : has_step("resumable") ? HELLO_RESUMABLE
			                 : has_step("http")      ? HELLO_HTTP
			                                         : HELLO_1);
		else if (is(&m, "session/new"))
			begin_session(&m);
		else if (is(&m, "session/prompt"))
			take_prompt(&m);
		else if (m.kind == ACP_MESSAGE_REQUEST) {
			resumed |= is(&m, "session/resume");
			say_result(m.id, "{}");
		}
	}
}

static void speak_stream(void)
{
	OWNED(acp_message) struct acp_message m = { 0 };

	(void)take_steps();
	for (;;) {
		OWNED(str) struct str text = { 0 };
		char *params;

		hear(&m);
		params = cJSON_PrintUnformatted(m.params);
		str_addf(&text, "told: %s %s", m.method, params ? params : "");
		cJSON_free(params);
		say_text(text.bytes);
	}
}

/* The file of an option, if that comes next; else -1. */
static int open_option(const char *option)
{
	int fd;

	if (!steps[0] || !steps[1] || strcmp(steps[0], option) != 0)
		return -1;
	fd = open(steps[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	steps += 2;
	return fd;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		(void)fputs("usage: fake-agent v1|v2|stream [--log FILE] [--times FILE] STEP...\n",
		            stderr);
		return 64;
	}
	if (!getcwd(place, sizeof(place)))
		return 71;
	stream = strcmp(argv[1], "stream") == 0;
	second = strcmp(argv[1], "v2") == 0;
	steps = argv + 2;
	log_fd = open_option("--log");
	times_fd = open_option("--times");
	for (; has_step("deaf");)
		(void)pause();
	if (stream)
		speak_stream();
	speak_standard();
}
