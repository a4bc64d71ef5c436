#include "owner.h"

#include "clock.h"
#include "io.h"
#include "str.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char GONE[] = "as-owner has closed the connection";

void owner_process_clear(struct owner_process *p)
{
	io_shut(&p->fd);
	io_shut(&p->pidfd);
	*p = (struct owner_process)OWNER_PROCESS_INIT;
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(a.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(a.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	io_shut(&fd);
	return -1;
}

bool owner_is_there(const char *socket)
{
	return access(socket, R_OK | W_OK) == 0;
}

/* ---- asking ---- */

static void add_text(struct str *message, const char *text)
{
	str_add(message, text);
	str_add_char(message, '\0');
}

static void add_wish(const struct owner_ask *ask, struct str *message)
{
	const struct owner_wish wish = { .version = OWNER_VERSION,
		                         .kind = ask->kind,
		                         .uid = ask->uid };

	str_add_bytes(message, (const char *)&wish, sizeof(wish));
	add_text(message, ask->workspace ? ask->workspace : "");
	for (size_t i = 0; i < OWNER_WORDS && ask->words[i]; i++)
		add_text(message, ask->words[i]);
}

static int send_wish(int fd, const struct owner_ask *ask)
{
	OWNED(str) struct str message = { 0 };

	add_wish(ask, &message);
	return io_send_fds(fd, message.bytes, message.length, ask->fds, ask->fd_count, 0) < 0 ? -1
	                                                                                      : 0;
}

int owner_ask(const char *socket, const struct owner_ask *ask, struct owner_process *p,
              struct err *e)
{
	*p = (struct owner_process)OWNER_PROCESS_INIT;
	p->fd = connect_to(socket);
	if (p->fd < 0)
		return err_errno(e, ERR_AGAIN, "cannot connect to as-owner at %s", socket);
	if (send_wish(p->fd, ask) && errno != EPIPE) { /* refused already: owner_hear */
		(void)err_errno(e, ERR_AGAIN, "cannot ask as-owner at %s", socket);
		owner_process_clear(p);
		return -1;
	}
	return 0;
}

/* ---- hearing ---- */

static int receive(int fd, struct owner_said *said, int *ret_pidfd)
{
	ssize_t n = io_receive_fds(fd, said, sizeof(*said), ret_pidfd, 1, MSG_DONTWAIT);

	if (n < 0 && errno == ECONNRESET) /* it did not read our wish; why not is still there */
		n = io_receive_fds(fd, said, sizeof(*said), ret_pidfd, 1, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n == sizeof(*said) ? 1 : -1;
}

static void take_started(struct owner_process *p, const struct owner_said *said, int pidfd)
{
	io_shut(&p->pidfd);
	p->pidfd = pidfd;
	p->pid = said->number;
}

int owner_hear(struct owner_process *p, struct err *e)
{
	struct owner_said said;
	int pidfd, got = receive(p->fd, &said, &pidfd);

	if (got > 0 && said.what == OWNER_STARTED && pidfd >= 0) {
		take_started(p, &said, pidfd);
		return 1;
	}
	io_shut(&pidfd);
	if (got == 0)
		return 0;
	if (got > 0 && said.what == OWNER_READY) {
		p->is_ready = true;
		return 1;
	}
	if (got > 0 && said.what == OWNER_STATE) {
		p->is_held = said.number;
		return 1;
	}
	if (got > 0 && said.what == OWNER_REFUSED)
		return err_set(e, ERR_REFUSED, "%.*s", OWNER_TEXT_BYTES - 1, said.text);
	if (got > 0 && said.what == OWNER_ENDED)
		return err_set(e, ERR_AGAIN, "the process has ended with status %d", said.number);
	return err_set(e, ERR_AGAIN, "%s", GONE);
}

int owner_answers(const char *socket, int most_ms, struct err *e)
{
	const struct owner_wish call = { .version = OWNER_VERSION, .kind = OWNER_CALL };
	struct pollfd wait = { .fd = connect_to(socket), .events = POLLIN };
	struct owner_said said;
	int pidfd, got;

	if (wait.fd < 0)
		return err_errno(e, ERR_AGAIN, "cannot connect to as-owner at %s", socket);
	(void)send(wait.fd, &call, sizeof(call), MSG_NOSIGNAL);
	got = poll(&wait, 1, most_ms) > 0 ? receive(wait.fd, &said, &pidfd) : 0;
	if (got > 0 && pidfd >= 0)
		(void)close(pidfd);
	(void)close(wait.fd);
	return got > 0 ? 0 : err_set(e, ERR_AGAIN, "as-owner at %s does not answer", socket);
}

int owner_say_silent(enum owner_kind kind, struct err *e)
{
	bool is_agents = kind == OWNER_KEEPER || kind == OWNER_SWEEPER;

	return err_set(e, ERR_AGAIN, OWNER_SILENT,
	               is_agents ? OWNER_UNIT_AGENTS : OWNER_UNIT_FILES);
}

/* It was asked for long enough. */
static int say_late(const struct owner_ask *ask, const struct owner_process *p, struct err *e)
{
	if (p->pidfd < 0 || !ask->workspace)
		return owner_say_silent(ask->kind, e);
	if (p->is_held)
		return err_set(
		    e, ERR_AGAIN,
		    "the owner of %.300s keeps the process that works there from running "
		    "(SIGSTOP, or a lower priority)",
		    ask->workspace);
	return err_set(e, ERR_AGAIN, "the disk of %.300s does not answer", ask->workspace);
}

enum {
	LOOK_MS = 200, /* whether its user keeps it from running */
	ANSWER_MS = 200,
};

static void question(int fd)
{
	static const char QUESTION = OWNER_QUESTION;

	(void)send(fd, &QUESTION, sizeof(QUESTION), MSG_NOSIGNAL | MSG_DONTWAIT);
}

int owner_start(const char *socket, const struct owner_ask *ask, int most_ms,
                struct owner_process *p, struct err *e)
{
	int64_t end = clock_monotonic_ms() + most_ms;

	if (owner_ask(socket, ask, p, e))
		return owner_say_silent(ask->kind, e);
	while (!p->is_ready || p->pidfd < 0) {
		struct pollfd wait = { .fd = p->fd, .events = POLLIN };
		int64_t left = end - clock_monotonic_ms();
		int got = owner_hear(p, e);

		if (got == 0 && (left <= 0 || p->is_held))
			got = say_late(ask, p, e);
		if (got < 0) {
			pid_t begun = p->pid;

			owner_process_clear(p);
			p->pid = begun;
			return -1;
		}
		if (got == 0 && poll(&wait, 1, (int)(left < LOOK_MS ? left : LOOK_MS)) == 0 &&
		    p->pid > 0)
			question(p->fd);
	}
	return 0;
}

bool owner_is_held(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct owner_said said;

	if (fd < 0)
		return false;
	while (recv(fd, &said, sizeof(said), MSG_DONTWAIT) > 0)
		continue; /* an answer that came late */
	question(fd);
	return poll(&wait, 1, ANSWER_MS) > 0 &&
	       recv(fd, &said, sizeof(said), MSG_DONTWAIT) == (ssize_t)sizeof(said) &&
	       said.what == OWNER_STATE && said.number;
}
