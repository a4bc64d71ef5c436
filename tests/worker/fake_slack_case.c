#include "fake_slack_case.h"

void start(void)
{
	(void)scratch();
	slack_start();
}

char *exchange(const char *path, const char *token, const char *type, const char *body, int *status)
{
	OWNED(str) struct str request = { 0 };
	struct wire w = { 0 };
	char *answer;

	str_addf(&request, "POST %s HTTP/1.1\r\nHost: fake\r\nContent-Length: %zu\r\n", path,
	         strlen(body));
	if (token)
		str_addf(&request, "Authorization: Bearer %s\r\n", token);
	if (type)
		str_addf(&request, "Content-Type: %s\r\n", type);
	str_addf(&request, "\r\n%s", body);
	wire_open(&w, slack_port());
	wire_send(&w, request.bytes);
	*status = wire_answer(&w);
	answer = str_take(&w.body);
	wire_close(&w);
	return answer;
}

const char *call(const char *method, const char *json)
{
	static char *answers[16];
	static int next;
	char **answer = &answers[next++ % 16];
	char path[100];
	int status;

	(void)snprintf(path, sizeof(path), "/api/%s", method);
	free(*answer);
	*answer =
	    exchange(path, SLACK_FAKE_BOT_TOKEN, "application/json; charset=utf-8", json, &status);
	return *answer;
}

const char *callf(const char *method, const char *format, ...)
{
	OWNED(char_ptr) char *json = NULL;
	va_list args;

	va_start(args, format);
	ck_assert_int_ge(vasprintf(&json, format, args), 0);
	va_end(args);
	return call(method, json);
}

void refused(const char *answer, const char *error)
{
	ck_assert_msg(strcmp(member(answer, "error"), error) == 0, "%s\nexpected: %s", answer,
	              error);
}

void taken(const char *answer)
{
	has(answer, "ok", "true");
}

const char *post(const char *text)
{
	static char ts[40];
	const char *answer =
	    callf("chat.postMessage", "{\"channel\":\"" AGENTS "\",\"text\":\"%s\"}", text);

	taken(answer);
	(void)snprintf(ts, sizeof(ts), "%s", member(answer, "ts"));
	return ts;
}

void add_letters(struct str *out, long n)
{
	for (; n > 0; n--)
		str_add_char(out, 'x');
}

void add_copies(struct str *out, long n, const char *from, const char *to)
{
	for (long i = 0; i < n; i++) {
		str_add(out, i ? "," : "");
		for (const char *c = from; c < to; c++)
			if (*c == '$')
				str_addf(out, "%ld", i);
			else if (*c == '@')
				add_letters(out, strtol(c + 1, (char **)&c, 10));
			else
				str_add_char(out, *c == '\'' ? '"' : *c);
	}
}

char *written_out(const char *text)
{
	struct str out = { 0 };
	char *end;

	while (*text) {
		if (*text == '@') {
			add_letters(&out, strtol(text + 1, &end, 10));
			text = end + 1;
		} else if (strncmp(text, "<<", 2) == 0) {
			long n = strtol(text + 2, &end, 10);
			const char *close = strstr(end, ">>");

			add_copies(&out, n, end + 1, close);
			text = close + 2;
		} else {
			str_add_char(&out, *text == '\'' ? '"' : *text);
			text++;
		}
	}
	return str_take(&out);
}

const char *open_view(const char *trigger, const char *view)
{
	return callf("views.open", "{\"trigger_id\":\"%s\",\"view\":%s}", trigger, view);
}
