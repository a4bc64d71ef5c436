#include "ipc_case.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

char workspace[600];
pid_t front;

/* ---- given ---- */

void given_front(void)
{
	fresh_store();
	given_front_settings(workspace);
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      "                     last_tool, created_at, updated_at)"
	      " VALUES (1, 'agent', 'h', 'local:tester', '/w', 'active', 'hybrid', 'ping',"
	      "         '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')");
	front = start_worker("mcp-front");
}

void given_question(const char *kind, const char *columns, const char *values)
{
	static int count;
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO request (id, session_seq, kind, state, digest, title, created_at,"
	         "                     updated_at%s)"
	         " VALUES ('ask-%d', 1, '%s', 'pending', printf('%%064d', %d), 'Title',"
	         "         '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'%s)",
	         columns, count, kind, count, values);
	count++;
	given(sql.bytes);
}

void given_clearance(void)
{
	given_question("clearance", ", file_path, risk_level, original_hash",
	               ", 'a.txt', 'low', 'new_file'");
}

void given_prompt(void)
{
	given_question("prompt", ", prompt_type", ", 'continuation'");
}

void given_standby(void)
{
	given_question("standby", "", "");
}

const char *value(const char *sql)
{
	static char *kept[4];
	static unsigned turn;
	char **text = &kept[turn++ % COUNT(kept)];

	free(*text);
	*text = rows(sql);
	(*text)[strcspn(*text, "\n")] = '\0';
	return *text;
}

/* ---- a caller ---- */

int connect_in(int dir)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/ipc.sock", dir);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

struct caller call_in(void)
{
	int dir = open(test_run(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct caller c = { .fd = connect_in(dir) };

	ck_assert_int_ge(c.fd, 0);
	(void)close(dir);
	return c;
}

void hang_up(struct caller *c)
{
	(void)close(c->fd);
	str_clear(&c->in);
}

void send_bytes(const struct caller *c, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = send(c->fd, bytes, length, MSG_NOSIGNAL);

		ck_assert_msg(n > 0, "send: %s", strerror(errno));
		bytes += n;
		length -= (size_t)n;
	}
}

void send_line(const struct caller *c, const char *line)
{
	send_bytes(c, line, strlen(line));
	send_bytes(c, "\n", 1);
}

char *next_line(struct caller *c)
{
	char part[65536], *end;
	ssize_t n;

	while (!(end = c->in.length ? memchr(c->in.bytes, '\n', c->in.length) : NULL)) {
		struct pollfd p = { .fd = c->fd, .events = POLLIN };

		ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "no answer comes");
		n = recv(c->fd, part, sizeof(part), 0);
		if (n <= 0)
			return NULL;
		str_add_bytes(&c->in, part, (size_t)n);
	}
	*end = '\0';
	char *line = xstrdup(c->in.bytes);
	size_t used = (size_t)(end - c->in.bytes) + 1;

	memmove(c->in.bytes, end + 1, c->in.length - used);
	c->in.length -= used;
	return line;
}

const char *says_back(const char *line)
{
	static char *kept[4];
	static unsigned turn;
	char **text = &kept[turn++ % COUNT(kept)];
	struct caller c = call_in();

	send_line(&c, line);
	free(*text);
	*text = next_line(&c);
	ck_assert_ptr_nonnull(*text);
	hang_up(&c);
	return *text;
}

const char *order(const char *command, const char *id, const char *more)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "{\"command\":\"%s\",\"id\":\"%s\"%s}", command, id, more);
	return says_back(line.bytes);
}

void is_done(const char *reply, const char *status)
{
	has(reply, "ok", "true");
	has(reply, "data.status", status);
}

void is_refused(const char *reply, const char *part)
{
	has(reply, "ok", "false");
	says(member(reply, "error"), part);
}
