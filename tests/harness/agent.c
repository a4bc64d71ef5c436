#include "agent.h"

#include "clock.h"
#include "jsonrpc.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 512, LOOK_MS = 5, READ_BYTES = 64 << 10 };

static pid_t owner; /* the test program; tests run in children of it */

int64_t agent_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* ---- homes, and what is left behind ---- */

static void marker(char out[40])
{
	(void)snprintf(out, 40, "/tmp/ia-%d-", (int)owner);
}

/* Kills the processes whose command line names one of our homes: systems that relays started have
 * left our process group. */
static void kill_leftovers(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	char mark[40];

	marker(mark);
	while (proc && (entry = readdir(proc)) != NULL) {
		char path[300], line[2000];
		ssize_t n;
		int fd;

		if (!isdigit((unsigned char)entry->d_name[0]) || atoi(entry->d_name) == getpid())
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, line, sizeof(line));
		if (fd >= 0)
			(void)close(fd);
		if (n > 0 && memmem(line, (size_t)n, mark, strlen(mark)))
			(void)kill(atoi(entry->d_name), SIGKILL);
	}
	if (proc)
		(void)closedir(proc);
}

static void clean_up(void)
{
	DIR *tmp;
	const struct dirent *entry;
	char mark[40], path[300];

	if (getpid() != owner)
		return;
	kill_leftovers();
	marker(mark);
	tmp = opendir("/tmp");
	while (tmp && (entry = readdir(tmp)) != NULL) {
		(void)snprintf(path, sizeof(path), "/tmp/%s", entry->d_name);
		if (strncmp(path, mark, strlen(mark)) == 0)
			(void)remove_tree(path);
	}
	if (tmp)
		(void)closedir(tmp);
}

__attribute__((constructor)) static void remember_owner(void)
{
	owner = getpid();
	(void)atexit(clean_up);
}

/* ---- a connection ---- */

void wire_open(struct wire *w, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)port),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*w = (struct wire){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	ck_assert_int_ge(w->fd, 0);
	ck_assert_msg(connect(w->fd, (struct sockaddr *)&to, sizeof(to)) == 0, "port %d: %s", port,
	              strerror(errno));
}

void wire_send_bytes(struct wire *w, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		ssize_t n = send(w->fd, at, length, MSG_NOSIGNAL);

		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return; /* refused in the middle: the answer is what counts */
		ck_assert_msg(n > 0, "send: %s", strerror(errno));
		at += n;
		length -= (size_t)n;
	}
}

void wire_send(struct wire *w, const char *text)
{
	wire_send_bytes(w, text, strlen(text));
}

/* Reads some more into w->in; false at the end. */
static bool more(struct wire *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	char *bytes;
	ssize_t n;

	ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "nothing comes; so far: %s%s",
	              str_text(&w->head), str_text(&w->in));
	bytes = xmalloc(READ_BYTES);
	n = recv(w->fd, bytes, READ_BYTES, 0);
	if (n > 0)
		str_add_bytes(&w->in, bytes, (size_t)n);
	free(bytes);
	return n > 0;
}

static void drop(struct str *s, size_t n)
{
	memmove(s->bytes, s->bytes + n, s->length - n + 1);
	s->length -= n;
}

static void take(struct wire *w, size_t n)
{
	str_add_bytes(&w->body, w->in.bytes, n);
	drop(&w->in, n);
}

int wire_head(struct wire *w)
{
	const char *end;

	do {
		while (!(end = strstr(str_text(&w->in), "\r\n\r\n")))
			ck_assert_msg(more(w), "the connection ends before an answer: %s",
			              str_text(&w->in));
		str_reset(&w->head);
		str_add_bytes(&w->head, w->in.bytes, (size_t)(end - w->in.bytes) + 2);
		drop(&w->in, w->head.length + 2);
		ck_assert_msg(sscanf(w->head.bytes, "HTTP/1.%*d %d", &w->status) == 1,
		              "no HTTP: %s", w->head.bytes);
	} while (w->status == 100);
	str_reset(&w->body);
	w->ended = false;
	w->chunked = wire_header(w, "Transfer-Encoding") != NULL;
	w->left = w->chunked                             ? 0
	          : wire_header(w, "Content-Length")     ? atol(wire_header(w, "Content-Length"))
	          : w->status == 204 || w->status == 202 ? 0
	                                                 : -1;
	return w->status;
}

const char *wire_header(const struct wire *w, const char *name)
{
	static char value[1000];
	const char *line = str_text(&w->head);
	size_t n = strlen(name);

	while ((line = strstr(line, "\r\n")) != NULL && line[2]) {
		line += 2;
		if (strncasecmp(line, name, n) == 0 && line[n] == ':') {
			line += n + 1;
			line += strspn(line, " ");
			(void)snprintf(value, sizeof(value), "%.*s", (int)strcspn(line, "\r"),
			               line);
			return value;
		}
	}
	return NULL;
}

/* Moves what is there of the body from in to body. False: nothing of it was there. */
static bool body_step(struct wire *w)
{
	const char *end;

	if (w->left < 0 && w->in.length) {
		take(w, w->in.length);
		return true;
	}
	if (w->left > 0 && w->in.length) {
		size_t n = (size_t)w->left < w->in.length ? (size_t)w->left : w->in.length;

		take(w, n);
		w->left -= (long)n;
		return true;
	}
	if (w->left == 0 && !w->chunked) {
		w->ended = true;
		return true;
	}
	/* between two chunks: [CRLF] size CRLF */
	if (w->left == 0 && w->in.length > 1 && w->in.bytes[0] == '\r')
		drop(&w->in, 2);
	if (w->left == 0 && w->in.length && (end = strstr(w->in.bytes, "\r\n")) != NULL) {
		w->left = strtol(w->in.bytes, NULL, 16);
		drop(&w->in, (size_t)(end - w->in.bytes) + 2);
		w->ended = w->left == 0;
		if (w->ended) {
			while (w->in.length < 2 && more(w))
				continue;
			if (w->in.length >= 2)
				drop(&w->in, 2);
		}
		return true;
	}
	return false;
}

static void read_body(struct wire *w)
{
	while (!w->ended)
		if (!body_step(w) && !more(w))
			w->ended = true;
}

static bool is_stream(const struct wire *w)
{
	const char *type = wire_header(w, "Content-Type");

	return type && strcmp(type, "text/event-stream") == 0;
}

int wire_answer(struct wire *w)
{
	(void)wire_head(w);
	read_body(w);
	return w->status;
}

int wire_plain(struct wire *w)
{
	(void)wire_head(w);
	if (!is_stream(w))
		read_body(w);
	return w->status;
}

/* Takes the first event out of body; false if none is whole. */
static bool cut_event(struct wire *w, struct event *e)
{
	const char *end = strstr(str_text(&w->body), "\n\n");
	char *text, *line, *rest = NULL;
	bool is_event = false;

	if (!end)
		return false;
	text = strndup(w->body.bytes, (size_t)(end - w->body.bytes));
	drop(&w->body, (size_t)(end - w->body.bytes) + 2);
	e->id[0] = '\0';
	str_reset(&e->data);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "id: ", 4) == 0)
			(void)snprintf(e->id, sizeof(e->id), "%s", line + 4);
		if (strncmp(line, "data: ", 6) == 0)
			str_add(&e->data, line + 6);
		is_event |= line[0] != ':';
	}
	free(text);
	return is_event ? true : cut_event(w, e);
}

bool wire_event(struct wire *w, struct event *e)
{
	for (;;) {
		if (cut_event(w, e))
			return true;
		if (w->ended)
			return false;
		if (!body_step(w) && !more(w))
			w->ended = true;
	}
}

bool wire_is_cut_within(struct wire *w, int ms)
{
	for (int64_t end = agent_ms() + ms; agent_ms() < end;) {
		struct pollfd p = { .fd = w->fd, .events = POLLIN };
		char bytes[4096];

		if (poll(&p, 1, (int)(end - agent_ms())) == 1 &&
		    recv(w->fd, bytes, sizeof(bytes), 0) <= 0)
			return true;
	}
	return false;
}

void wire_close(struct wire *w)
{
	if (w->fd >= 0)
		(void)close(w->fd);
	str_clear(&w->in);
	str_clear(&w->head);
	str_clear(&w->body);
	w->fd = -1;
}

void wire_break(struct wire *w)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	wire_close(w);
}

void event_clear(struct event *e)
{
	str_clear(&e->data);
}

/* ---- an agent on HTTP ---- */

void given_front_settings(char workspace[600])
{
	char sql[1000];

	(void)snprintf(workspace, 600, "%.500s-work", test_run());
	ck_assert_int_eq(mkdir(workspace, 0755), 0);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES"
	               " ('http_port', '0', 'file', '%s'),"
	               " ('default_workspace_root', '%s', 'file', '%s')",
	               clock_now().text, workspace, clock_now().text);
	given(sql);
}

int front_port(void)
{
	OWNED(char_ptr)
	char *address =
	    rows("SELECT detail FROM worker WHERE name = 'mcp-front' AND state = 'ready'");
	const char *colon = strrchr(address, ':');

	ck_assert_msg(colon != NULL, "no front is ready");
	return atoi(colon + 1);
}

void agent_send(const struct agent *a, struct wire *w, const char *method, const char *headers,
                const char *json)
{
	OWNED(str) struct str text = STR_INIT;

	str_addf(&text, "%s /mcp%s HTTP/1.1\r\nHost: localhost:%d\r\n", method, a->query, a->port);
	str_add(&text, "Accept: application/json, text/event-stream\r\n");
	if (a->session[0])
		str_addf(&text, "Mcp-Session-Id: %s\r\n", a->session);
	if (a->version[0])
		str_addf(&text, "MCP-Protocol-Version: %s\r\n", a->version);
	str_add(&text, headers);
	if (json)
		str_addf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
		         strlen(json));
	str_add(&text, "\r\n");
	str_add(&text, json ? json : "");
	wire_send_bytes(w, text.bytes, text.length);
}

int agent_exchange(const struct agent *a, const char *method, const char *headers, const char *json,
                   struct str *body)
{
	struct wire w;
	int status;

	wire_open(&w, a->port);
	agent_send(a, &w, method, headers, json);
	status = wire_answer(&w);
	if (body) {
		str_reset(body);
		str_add_bytes(body, str_text(&w.body), w.body.length);
	}
	wire_close(&w);
	return status;
}

struct agent agent_sessionless(int port, const char *query)
{
	struct agent a = { .port = port };

	(void)snprintf(a.query, sizeof(a.query), "%s", query);
	return a;
}

struct agent agent_hello(int port, const char *query, const char *version)
{
	return agent_hello_as(port, query, version, "{}");
}

struct agent agent_hello_as(int port, const char *query, const char *version,
                            const char *capabilities)
{
	struct agent a = agent_sessionless(port, query);
	struct wire w;
	char json[400];

	(void)snprintf(json, sizeof(json),
	               "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	               "\"protocolVersion\":\"%s\",\"capabilities\":%s,"
	               "\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}}}",
	               version, capabilities);
	wire_open(&w, port);
	agent_send(&a, &w, "POST", "", json);
	ck_assert_int_eq(wire_answer(&w), 200);
	ck_assert_msg(wire_header(&w, "Mcp-Session-Id") != NULL, "no session: %s", w.head.bytes);
	(void)snprintf(a.session, sizeof(a.session), "%s", wire_header(&w, "Mcp-Session-Id"));
	(void)snprintf(a.version, sizeof(a.version), "%.19s",
	               member(str_text(&w.body), "result.protocolVersion"));
	wire_close(&w);
	ck_assert_int_eq(
	    agent_exchange(&a, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL),
	    202);
	return a;
}

void agent_begin(struct agent *a, struct wire *w, const char *tool, const char *arguments,
                 const char *meta)
{
	OWNED(str) struct str json = STR_INIT;

	str_addf(&json, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{",
	         ++a->id);
	str_addf(&json, "\"name\":\"%s\",\"arguments\":", tool);
	str_add(&json, arguments);
	if (meta)
		str_addf(&json, ",\"_meta\":%s", meta);
	str_add(&json, "}}");
	wire_open(w, a->port);
	agent_send(a, w, "POST", "", json.bytes);
}

char *agent_message(struct wire *w)
{
	struct event e = { .id = "" };
	OWNED(str) struct str last = STR_INIT;

	if (wire_plain(w) == 200 && is_stream(w)) {
		while (wire_event(w, &e)) {
			str_reset(&last);
			str_add(&last, str_text(&e.data));
		}
		event_clear(&e);
		return str_take(&last);
	}
	str_add(&last, str_text(&w->body));
	return str_take(&last);
}

/* ---- requests of revision 2026-07-28 ---- */

void modern_compose(struct str *json, const char *method, const char *members, const char *client)
{
	str_addf(json, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{", method);
	str_add(json, members);
	if (*members)
		str_add_char(json, ',');
	str_add(json, client);
	str_add(json, "}}");
}

void modern_headers(struct str *headers, const char *method, const char *name)
{
	str_addf(headers, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n", method);
	if (name)
		str_addf(headers, "Mcp-Name: %s\r\n", name);
}

char *modern_request(int port, const char *query, const char *method, const char *name,
                     const char *members, const char *client, int *status)
{
	struct agent a = agent_sessionless(port, query);
	OWNED(str) struct str headers = STR_INIT;
	OWNED(str) struct str json = STR_INIT;
	struct wire w;
	char *message;

	modern_headers(&headers, method, name);
	modern_compose(&json, method, members, client);
	wire_open(&w, a.port);
	agent_send(&a, &w, "POST", headers.bytes, json.bytes);
	message = agent_message(&w);
	if (status)
		*status = w.status;
	wire_close(&w);
	return message;
}

char *modern_call(int port, const char *query, const char *tool, const char *arguments,
                  const char *more, const char *client)
{
	OWNED(str) struct str members = STR_INIT;

	str_addf(&members, "\"name\":\"%s\",\"arguments\":", tool);
	str_add(&members, arguments);
	str_add(&members, more);
	return modern_request(port, query, "tools/call", tool, members.bytes, client, NULL);
}

char *tool_result(const char *message)
{
	OWNED(cJSON_ptr) cJSON *m = cJSON_Parse(message);
	const cJSON *content = cJSON_GetObjectItemCaseSensitive(
	    cJSON_GetObjectItemCaseSensitive(m, "result"), "content");
	const char *text = json_text(cJSON_GetArrayItem(content, 0), "text");

	ck_assert_msg(text != NULL, "no result of a tool: %s", message);
	return xstrdup(text);
}

char *agent_end(struct wire *w)
{
	OWNED(char_ptr) char *message = agent_message(w);

	wire_close(w);
	return tool_result(message);
}

char *agent_call(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	return agent_end(&w);
}

char *proposal(const char *path, const char *content)
{
	OWNED(str) struct str json = STR_INIT;

	str_add(&json, "{\"title\":\"a change\",\"file_path\":");
	json_quote(&json, path);
	str_add(&json, ",\"diff\":");
	json_quote(&json, content);
	str_add(&json, "}");
	return str_take(&json);
}

char *diff_of(const char *request_id)
{
	OWNED(str) struct str json = STR_INIT;

	str_addf(&json, "{\"request_id\":\"%s\"}", request_id);
	return str_take(&json);
}

/* ---- JSON ---- */

const char *member(const char *json, const char *path)
{
	static char *kept[10];
	static int next;
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(json);
	const cJSON *at = root;
	char *text = xstrdup(path), *rest = NULL;
	char **slot = &kept[next++ % (int)COUNT(kept)];

	for (const char *name = strtok_r(text, ".", &rest); name && at;
	     name = strtok_r(NULL, ".", &rest))
		at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(name))
		                       : cJSON_GetObjectItemCaseSensitive(at, name);
	free(text);
	free(*slot);
	*slot = !at                  ? xstrdup("")
	        : cJSON_IsString(at) ? xstrdup(at->valuestring)
	                             : cJSON_PrintUnformatted(at);
	return *slot;
}

void has(const char *json, const char *path, const char *text)
{
	ck_assert_msg(strcmp(member(json, path), text) == 0, "%s is '%s', not '%s' in\n%s", path,
	              member(json, path), text, json);
}

void says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%s", part, text);
}

/* ---- processes ---- */

static void program(const char *name, char out[PATH_BYTES])
{
	const char *build = getenv("INTERCOM_BUILD");

	ck_assert_msg(build != NULL, "INTERCOM_BUILD must name the folder of the binaries");
	(void)snprintf(out, PATH_BYTES, "%s/%s", build, name);
}

bool ends_within(pid_t pid, int ms, int *status)
{
	int how = 0;

	for (int64_t end = agent_ms() + ms;; (void)poll(NULL, 0, LOOK_MS)) {
		if (waitpid(pid, &how, WNOHANG) == pid) {
			if (status)
				*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
			return true;
		}
		if (agent_ms() >= end)
			return false;
	}
}

static int end_of(pid_t pid)
{
	int status = -1;

	ck_assert_msg(ends_within(pid, AGENT_PATIENCE_MS, &status), "process %d does not end",
	              (int)pid);
	return status;
}

int shell(struct str *said, const char *format, ...)
{
	char command[4000], bytes[4096];
	va_list args;
	size_t n;
	FILE *f;
	int status;

	va_start(args, format);
	(void)vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	f = popen(command, "re"); /* NOLINT(cert-env33-c) */
	ck_assert_ptr_nonnull(f);
	if (said)
		str_reset(said);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		if (said)
			str_add_bytes(said, bytes, n);
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int ctl(struct str *said, const char *format, ...)
{
	char path[PATH_BYTES], arguments[2000];
	va_list args;

	program("agent-intercom-ctl", path);
	va_start(args, format);
	(void)vsnprintf(arguments, sizeof(arguments), format, args);
	va_end(args);
	return shell(said, "%s --db %s %s 2>&1 </dev/null", path, test_db(), arguments);
}

int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &size), 0);
	(void)close(fd);
	return ntohs(a.sin_port);
}

/* ---- a relay ---- */

void relay_start(struct relay *r, const char *folder, char *const *environment,
                 const char *const *arguments)
{
	const char *argv[20] = { "agent-intercom", "mcp" };
	char path[PATH_BYTES];
	int in[2], out[2], n = 2;

	program("agent-intercom", path);
	while (arguments && *arguments && n < 19)
		argv[n++] = *arguments++;
	*r = (struct relay){ .id = 0 };
	ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	r->pid = fork();
	ck_assert_int_ge(r->pid, 0);
	if (r->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir(folder) != 0 || dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0)
			_exit(126);
		if (environment)
			(void)execve(path, (char *const *)argv, environment);
		else
			(void)execv(path, (char *const *)argv);
		_exit(127);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	r->in = in[1];
	r->out = out[0];
}

void relay_send(struct relay *r, const char *line)
{
	size_t left = strlen(line);

	(void)signal(SIGPIPE, SIG_IGN);
	while (left > 0) {
		ssize_t n = write(r->in, line, left);

		ck_assert_msg(n > 0, "the relay takes nothing: %s", strerror(errno));
		line += n;
		left -= (size_t)n;
	}
	ck_assert_int_eq(write(r->in, "\n", 1), 1);
}

char *relay_line(struct relay *r)
{
	struct pollfd p = { .fd = r->out, .events = POLLIN };
	char *end, *line;

	while (!r->bytes.length || !(end = memchr(r->bytes.bytes, '\n', r->bytes.length))) {
		char bytes[8192];
		ssize_t n;

		ck_assert_msg(poll(&p, 1, 2 * AGENT_PATIENCE_MS) == 1, "the relay says nothing");
		n = read(r->out, bytes, sizeof(bytes));
		if (n <= 0)
			return NULL;
		str_add_bytes(&r->bytes, bytes, (size_t)n);
	}
	line = strndup(r->bytes.bytes, (size_t)(end - r->bytes.bytes));
	drop(&r->bytes, (size_t)(end - r->bytes.bytes) + 1);
	return line;
}

void relay_hello(struct relay *r)
{
	OWNED(char_ptr) char *answer = NULL;

	relay_send(r, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	              "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
	              "\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}}}");
	answer = relay_line(r);
	ck_assert_ptr_nonnull(answer);
	has(answer, "result.protocolVersion", "2025-06-18");
	relay_send(r, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

void relay_begin(struct relay *r, const char *tool, const char *arguments)
{
	OWNED(str) struct str json = STR_INIT;

	str_addf(&json, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{",
	         ++r->id);
	str_addf(&json, "\"name\":\"%s\",\"arguments\":", tool);
	str_add(&json, arguments);
	str_add(&json, "}}");
	relay_send(r, json.bytes);
}

char *relay_end(struct relay *r)
{
	OWNED(char_ptr) char *line = relay_line(r);

	ck_assert_msg(line != NULL, "the relay has gone without an answer");
	return tool_result(line);
}

char *relay_call(struct relay *r, const char *tool, const char *arguments)
{
	relay_begin(r, tool, arguments);
	return relay_end(r);
}

struct relay given_relay(const struct site *s)
{
	struct relay r;

	relay_start(&r, s->workspace, NULL, NULL);
	relay_hello(&r);
	return r;
}

void begin_asking(struct relay *r, const char *path, const char *content)
{
	OWNED(char_ptr) char *arguments = proposal(path, content);
	char sql[200];

	relay_begin(r, "check_clearance", arguments);
	(void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM request WHERE file_path = '%s'",
	               path);
	expect_soon(sql, "1\n");
}

void decide_all(const char *verdict)
{
	OWNED(str) struct str sql = STR_INIT;

	str_addf(&sql,
	         "INSERT INTO decision (request_id, verdict) SELECT id, '%s' FROM request"
	         " WHERE state IN ('pending', 'interrupted')",
	         verdict);
	given(sql.bytes);
}

void approve_all(void)
{
	decide_all("approve");
}

void relay_clear(struct relay *r)
{
	if (r->in >= 0)
		(void)close(r->in);
	(void)close(r->out);
	str_clear(&r->bytes);
	r->in = r->out = -1;
}

int relay_stop(struct relay *r)
{
	int status;

	(void)close(r->in);
	r->in = -1;
	status = end_of(r->pid);
	relay_clear(r);
	return status;
}

void relay_kill(struct relay *r)
{
	(void)kill(r->pid, SIGKILL);
	(void)end_of(r->pid);
	relay_clear(r);
}

/* ---- files ---- */

void put_file(const char *folder, const char *name, const char *text)
{
	char path[PATH_BYTES];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	ck_assert_msg(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s: %s", path, strerror(errno));
}

char *get_file(const char *folder, const char *name)
{
	OWNED(str) struct str text = STR_INIT;
	char path[PATH_BYTES], bytes[4096];
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		str_add_bytes(&text, bytes, n);
	(void)fclose(f);
	return str_take(&text);
}

/* ---- a site ---- */

/* Makes the site this process's home. */
static void live_at(const struct site *s)
{
	(void)setenv("HOME", s->home, 1);
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
}

struct site site_make(const char *more_lines)
{
	return site_make_at(test_db(), more_lines);
}

struct site site_make_at(const char *database, const char *more_lines)
{
	struct site s = { .port = free_port() };
	OWNED(str) struct str config = STR_INIT;
	char mark[40];

	marker(mark);
	(void)snprintf(s.home, sizeof(s.home), "%s%.30s", mark, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(s.home));
	(void)snprintf(s.workspace, sizeof(s.workspace), "%s/work", s.home);
	ck_assert_int_eq(mkdir(s.workspace, 0755), 0);
	(void)snprintf(s.config, sizeof(s.config), "%s/.config", s.home);
	ck_assert_int_eq(mkdir(s.config, 0700), 0);
	(void)snprintf(s.config, sizeof(s.config), "%s/.config/agent-intercom", s.home);
	ck_assert_int_eq(mkdir(s.config, 0700), 0);
	str_addf(&config, "default_workspace_root = \"%s\"\nhost_cli = \"/bin/true\"\n",
	         s.workspace);
	str_addf(&config, "http_port = %d\n%s\n[database]\npath = \"%s\"\n", s.port, more_lines,
	         database);
	put_file(s.config, "config.toml", config.bytes);
	(void)snprintf(s.config, sizeof(s.config), "%s/.config/agent-intercom/config.toml", s.home);
	(void)snprintf(s.database, sizeof(s.database), "%.199s", database);
	live_at(&s);
	return s;
}

struct site given_site(void)
{
	fresh_store();
	return site_make("");
}

struct site given_running_site(void)
{
	struct site s = given_site();

	site_start(&s);
	return s;
}

char *const *site_environment(const struct site *s)
{
	static char home[120], path[PATH_BYTES], user[] = "USER=root";
	static char *environment[] = { home, path, user, NULL };

	(void)snprintf(home, sizeof(home), "HOME=%s", s->home);
	(void)snprintf(path, sizeof(path), "PATH=%s", getenv("PATH"));
	return environment;
}

/* A supervisor whose stdout is a pipe; its read end. */
static int spawn_site(struct site *s, bool with_stderr)
{
	char path[PATH_BYTES];
	int out[2];

	program("agent-intercom", path);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	s->pid = fork();
	ck_assert_int_ge(s->pid, 0);
	if (s->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		live_at(s);
		(void)dup2(out[1], 1);
		if (with_stderr) {
			(void)dup2(out[1], 2);
		} else if (!getenv("INTERCOM_TEST_LOG")) {
			char log[140];

			(void)snprintf(log, sizeof(log), "%s/log", s->home);
			(void)dup2(open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), 2);
		}
		(void)execl(path, path, "--config", s->config, (char *)NULL);
		_exit(127);
	}
	(void)close(out[1]);
	return out[0];
}

void site_start(struct site *s)
{
	int out = spawn_site(s, false);
	char bytes[500];
	ssize_t n;
	struct pollfd p = { .fd = out, .events = POLLIN };

	ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "the system does not get ready");
	n = read(out, bytes, sizeof(bytes) - 1);
	(void)close(out);
	if (n <= 0) {
		OWNED(char_ptr) char *log = get_file(s->home, "log");

		ck_abort_msg("the system has ended:\n%s", log ? log : "");
	}
	bytes[n] = '\0';
	says(bytes, "ready");
}

int site_try(struct site *s, struct str *said)
{
	int out = spawn_site(s, true), status;
	char bytes[4096];
	ssize_t n;
	struct pollfd p = { .fd = out, .events = POLLIN };

	while (poll(&p, 1, AGENT_PATIENCE_MS) == 1 && (n = read(out, bytes, sizeof(bytes))) > 0)
		str_add_bytes(said, bytes, (size_t)n);
	(void)close(out);
	ck_assert_msg(ends_within(s->pid, AGENT_PATIENCE_MS, &status),
	              "the system runs on, having said: %s", str_text(said));
	s->pid = 0;
	return status;
}

int site_stop(struct site *s)
{
	int status = -1;

	(void)kill(s->pid, SIGTERM);
	ck_assert_msg(ends_within(s->pid, AGENT_PATIENCE_MS + 2000, &status),
	              "the system does not stop");
	s->pid = 0;
	return status;
}

void site_kill(struct site *s)
{
	OWNED(char_ptr)
	char *pids = rows("SELECT pid FROM worker WHERE state IN ('starting', 'ready')");
	char *rest = NULL;

	(void)kill(s->pid, SIGKILL);
	for (const char *pid = strtok_r(pids, "\n", &rest); pid; pid = strtok_r(NULL, "\n", &rest))
		(void)kill(atoi(pid), SIGKILL);
	(void)end_of(s->pid);
	s->pid = 0;
}

pid_t worker_pid(const char *name)
{
	OWNED(char_ptr) char *pid = NULL;
	char sql[200];

	(void)snprintf(sql, sizeof(sql),
	               "SELECT pid FROM worker WHERE name = '%s' AND state = 'ready'", name);
	pid = rows(sql);
	return atoi(pid);
}

void kill_and_await(const char *name)
{
	pid_t old = worker_pid(name);
	char sql[200];

	ck_assert_msg(old > 0, "no %s is ready", name);
	(void)kill(old, SIGKILL);
	(void)snprintf(
	    sql, sizeof(sql),
	    "SELECT count(*) FROM worker WHERE name = '%s' AND state = 'ready' AND pid <> %d", name,
	    (int)old);
	expect_soon(sql, "1\n");
}
