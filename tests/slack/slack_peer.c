#include "slack_peer.h"

#include "agent.h"
#include "harness.h"
#include "rpc.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ACK_MS = 3000, ANSWERS = 16, NAMES = 64, NAME_BYTES = 64, URL_BYTES = 60 };

/* How far slack_wait_for has read for one name. */
struct seen {
	char name[NAME_BYTES];
	int64_t seq;
};

static pid_t fake;
static char api_url[URL_BYTES];
static int64_t mark;
static struct seen seen[NAMES];
static char *forgiven; /* violations that were expected */

/* ---- requests ---- */

static size_t keep(char *bytes, size_t size, size_t count, void *answer)
{
	str_add_bytes(answer, bytes, size * count);
	return size * count;
}

/* One of several rotating answers. */
static struct str *next_answer(void)
{
	static struct str answers[ANSWERS];
	static int next;
	struct str *answer = &answers[next++ % ANSWERS];

	str_reset(answer);
	return answer;
}

/* body NULL: GET. */
static const char *request(const char *path, const char *body)
{
	OWNED(str) struct str url = { 0 };
	struct str *answer = next_answer();
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	CURL *curl = curl_easy_init();
	CURLcode rc;

	str_addf(&url, "http://127.0.0.1:%d/control/%s", slack_port(), path);
	(void)curl_easy_setopt(curl, CURLOPT_URL, url.bytes);
	(void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	(void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 2L * AGENT_PATIENCE_MS);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	if (body)
		(void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	rc = curl_easy_perform(curl);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	ck_assert_msg(rc == CURLE_OK, "the fake Slack, %s: %s", path, curl_easy_strerror(rc));
	return str_text(answer);
}

static char *formatted(const char *format, va_list args)
{
	char *text = NULL;

	ck_assert_int_ge(vasprintf(&text, format, args), 0);
	return text;
}

static const char *order(const char *path, const char *format, va_list args)
{
	OWNED(char_ptr) char *body = formatted(format, args);
	const char *answer;

	for (char *c = body; *c; c++)
		if (*c == '\'')
			*c = '"';
	answer = request(path, body);
	ck_assert_msg(strcmp(member(answer, "ok"), "true") == 0, "%s %s\n%s", path, body, answer);
	return answer;
}

/* clang-format off */
#define ORDER(path)                                                                                \
	va_list args;                                                                              \
	va_start(args, format);                                                                    \
	const char *answer = order(path, format, args);                                            \
	va_end(args)
/* clang-format on */

const char *slack_order(const char *path, const char *format, ...)
{
	ORDER(path);
	return answer;
}

const char *slack_deliver(const char *format, ...)
{
	ORDER("deliver");
	return answer;
}

const char *slack_acked(const char *format, ...)
{
	ORDER("deliver");
	(void)answer;
	return slack_wait_for("ack");
}

void slack_fault(const char *format, ...)
{
	ORDER("fault");
	(void)answer;
}

void slack_set(const char *format, ...)
{
	ORDER("set");
	(void)answer;
}

void slack_socket(const char *format, ...)
{
	ORDER("socket");
	(void)answer;
}

const char *slack_ask(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	OWNED(char_ptr) char *path = formatted(format, args);
	va_end(args);
	return request(path, NULL);
}

/* ---- the process ---- */

const char *slack_api_url(void)
{
	return api_url;
}

int slack_port(void)
{
	const char *colon = strrchr(api_url, ':');

	return colon ? (int)strtol(colon + 1, NULL, 10) : 0;
}

static void end_fake(int signal)
{
	if (!fake)
		return;
	(void)kill(fake, signal);
	(void)waitpid(fake, NULL, 0);
	fake = 0;
}

static _Noreturn void become_fake(int out)
{
	const char *build = getenv("INTERCOM_BUILD");
	char path[500];

	(void)snprintf(path, sizeof(path), "%s/tests/fake-slack", build ? build : ".");
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)dup2(out, STDOUT_FILENO);
	(void)execl(path, "fake-slack", (char *)NULL);
	_exit(127);
}

void slack_start(void)
{
	char line[URL_BYTES + 10] = "";
	const char *factor = getenv("CK_TIMEOUT_MULTIPLIER"); /* a busy machine's time */
	int ends[2];
	FILE *out;

	end_fake(SIGKILL);
	mark = 0;
	memset(seen, 0, sizeof(seen));
	char_ptr_clear(&forgiven);
	ck_assert_int_eq(pipe(ends), 0);
	fake = fork();
	ck_assert_int_ge(fake, 0);
	if (fake == 0)
		become_fake(ends[1]);
	(void)close(ends[1]);
	out = fdopen(ends[0], "r");
	ck_assert_msg(fgets(line, sizeof(line), out) && sscanf(line, "ready %59s", api_url) == 1,
	              "fake-slack did not start: %s", line);
	(void)fclose(out);
	(void)setenv("SLACK_API_URL", api_url, 1);
	if (factor)
		slack_set("{'ack_within_ms': %ld}", ACK_MS * strtol(factor, NULL, 10));
}

void slack_credentials(void)
{
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	(void)setenv("SLACK_TEAM_ID", "T01TEAM", 1);
	(void)setenv("SLACK_MEMBER_IDS", " U01OP, U02OP", 1);
}

static char *findings(void)
{
	const char *answer = slack_ask("faults_found");
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(answer);
	struct str rules = { 0 };
	const cJSON *finding;

	cJSON_ArrayForEach (finding, cJSON_GetObjectItem(root, "faults"))
		str_addf(&rules, "%s\n", json_text(finding, "rule"));
	return str_take(&rules);
}

void slack_expect_faults(const char *rules)
{
	char_ptr_clear(&forgiven);
	forgiven = findings();
	ck_assert_msg(strcmp(forgiven, rules) == 0, "the police has found:\n%sexpected:\n%s\n%s",
	              forgiven, rules, slack_ask("faults_found"));
}

void slack_stop(void)
{
	OWNED(char_ptr) char *found = findings();

	ck_assert_msg(strcmp(found, forgiven ? forgiven : "") == 0, "the police has found: %s",
	              slack_ask("faults_found"));
	end_fake(SIGTERM);
	char_ptr_clear(&forgiven);
}

/* ---- the log ---- */

static struct seen *seen_of(const char *name)
{
	struct seen *s = seen;

	while (s < seen + NAMES && s->name[0] && strcmp(s->name, name) != 0)
		s++;
	ck_assert(s < seen + NAMES);
	(void)snprintf(s->name, sizeof(s->name), "%s", name);
	if (s->seq < mark)
		s->seq = mark;
	return s;
}

const char *slack_wait_for(const char *name)
{
	struct seen *s = seen_of(name);
	const char *answer = slack_ask("calls?name=%s&after=%lld&wait_ms=%d", name,
	                               (long long)s->seq, AGENT_PATIENCE_MS);
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(answer);
	const cJSON *entry = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "calls"), 0);
	OWNED(char_ptr) char *text = entry ? cJSON_PrintUnformatted(entry) : NULL;
	struct str *kept;

	ck_assert_msg(entry != NULL, "no %s has come; the log:\n%s", name, slack_ask("calls"));
	s->seq = (int64_t)cJSON_GetObjectItem(entry, "seq")->valuedouble;
	kept = next_answer();
	str_add(kept, text);
	return str_text(kept);
}

void slack_mark(void)
{
	mark = strtoll(member(slack_ask("calls"), "last"), NULL, 10);
}

/* What clients did, one name per line. *last: the log's highest number. */
static char *done(int64_t *last)
{
	static const char CLIENTS[] = " call hook upload ack ";
	OWNED(cJSON_ptr)
	cJSON *root = cJSON_Parse(slack_ask("calls?after=%lld", (long long)mark));
	struct str names = { 0 };
	const cJSON *entry;

	cJSON_ArrayForEach (entry, cJSON_GetObjectItem(root, "calls")) {
		if (strstr(CLIENTS, json_text(entry, "kind")))
			str_addf(&names, "%s\n", json_text(entry, "name"));
	}
	*last = (int64_t)cJSON_GetObjectItem(root, "last")->valuedouble;
	return str_take(&names);
}

void slack_expect_calls(const char *names)
{
	int64_t last = 0, end = agent_ms() + AGENT_PATIENCE_MS, left;
	OWNED(char_ptr) char *have = done(&last);

	while (strcmp(have, names) != 0 && (left = end - agent_ms()) > 0) {
		(void)slack_ask("calls?after=%lld&wait_ms=%lld", (long long)last, (long long)left);
		free(have);
		have = done(&last);
	}
	ck_assert_msg(strcmp(have, names) == 0, "the calls are:\n%sexpected:\n%s\n%s", have, names,
	              slack_ask("faults_found"));
}

void slack_shows_questions(void)
{
	given("UPDATE slack_message SET state = 'sent', sent_generation = generation,"
	      " ts = printf('1700000001.%06d', seq)"
	      " WHERE kind IN ('ask', 'diff') AND state = 'queued'");
}
