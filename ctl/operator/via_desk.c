#include "via_desk.h"

#include "desk_line.h"
#include "io.h"
#include "locate.h"
#include "reach.h"
#include "sql/setting.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the operator's ---- */

bool via_desk_is_meant(const struct ctl *c)
{
	const struct config_source source = { .config = c->config,
		                              .database = c->database,
		                              .workspace = "/" };
	OWNED(located) struct located found = { 0 };
	OWNED(str) struct str note = { 0 };

	if (c->shared)
		return true;
	return !c->ipc_name && !locate_is_named(&source) && reach_shared_is_open(REACH_OPERATORS) &&
	       locate_usual(&source, &found, &note, NULL) == 0;
}

bool via_desk_is_closed(void)
{
	return !via_desk_operator() && !reach_shared_is_open(REACH_OPERATORS) && errno == EACCES;
}

void via_desk_tell_of_it(const struct ctl *c, const char *command)
{
	const struct config_source source = { .config = c->config,
		                              .database = c->database,
		                              .workspace = "/" };

	if (!c->json && !via_desk_operator() && !c->ipc_name && !locate_is_named(&source) &&
	    reach_shared_is_open(REACH_OPERATORS))
		(void)fprintf(stderr,
		              "this is your own system; you are an operator of that of this "
		              "machine, too (%s): agent-intercom-ctl --shared %s\n",
		              reach_shared_directory(), command);
}

/* Puts a text in place of an option's value, which is an argument of its own, or the end of one. */
static void replace(char **argv, const char *value, const char *text, struct str *kept)
{
	for (char **one = argv; *one; one++) {
		if (value < *one || value > *one + strlen(*one))
			continue;
		str_add_bytes(kept, *one, (size_t)(value - *one));
		str_add(kept, text);
		*one = kept->bytes;
		return;
	}
}

/* The file whose content is approved: opened here, with the rights of the operator. */
static int take_file(const struct ctl *c, char **argv, int *ret_fd, struct str *kept, struct err *e)
{
	*ret_fd = STDIN_FILENO;
	if (c->edit)
		return err_set(e, ERR_INPUT,
		               "the system runs as another user and starts no editor of yours; "
		               "write the text to a file, and use --with FILE");
	if (!c->with || strcmp(c->with, "-") == 0)
		return 0;
	*ret_fd = open(c->with, O_RDONLY | O_CLOEXEC);
	if (*ret_fd < 0)
		return err_errno(e, ERR_INPUT, "%s", c->with);
	replace(argv, c->with, "-", kept);
	return 0;
}

/* A folder is named by its real path, as the operator sees it; the id of a [[workspace]] stays. */
static void take_folder(const struct ctl *c, char **argv, struct str *kept)
{
	const char *given = c->workspace;
	char real[PATH_MAX];

	if (given && ctl_is_folder(given) && realpath(given, real))
		replace(argv, given, real, kept);
}

static bool is_plain(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return (no_color && *no_color) || (term && strcmp(term, "dumb") == 0);
}

static int send_wish(int desk, char **argv, int in, struct err *e)
{
	const int files[DESK_LINE_FILES] = { in, STDOUT_FILENO, STDERR_FILENO };
	OWNED(str) struct str text = { 0 };

	str_add_bytes(&text, DESK_LINE_VERSION, sizeof(DESK_LINE_VERSION));
	str_add(&text, is_plain() ? DESK_LINE_PLAIN : "");
	str_add_bytes(&text, "", 1);
	for (char **one = argv; *one; one++)
		str_add_bytes(&text, *one, strlen(*one) + 1);
	if (text.length > DESK_LINE_BYTES)
		return err_set(e, ERR_INPUT, "the arguments have more than %d bytes",
		               DESK_LINE_BYTES);
	/* One that has refused us by now has said why. */
	return io_send_fds(desk, text.bytes, text.length, files, DESK_LINE_FILES, 0) < 0 &&
	               errno != EPIPE && errno != ECONNRESET
	           ? err_errno(e, ERR_AGAIN, "the system does not take the command")
	           : 0;
}

/* What would end or wake us is for the one that runs for us. */
static int hear_signals(void)
{
	static const int SIGNALS[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < COUNT(SIGNALS); i++)
		(void)sigaddset(&set, SIGNALS[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void pass_on(int signals, int desk)
{
	struct signalfd_siginfo info;
	unsigned char number;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	number = (unsigned char)info.ssi_signo;
	(void)send(desk, &number, sizeof(number), MSG_NOSIGNAL);
}

/* Its end. The exit status, or -1. */
static int hear_end(int desk, struct err *e)
{
	char text[512];
	ssize_t n = recv(desk, text, sizeof(text) - 1, 0);

	if (n < 0 && errno == ECONNRESET) /* it was closed before it had read everything */
		n = recv(desk, text, sizeof(text) - 1, 0);
	if (n == 2 && text[0] == DESK_LINE_EXIT)
		return (unsigned char)text[1];
	if (n < 2 || text[0] != DESK_LINE_REFUSED)
		return err_set(e, ERR_AGAIN,
		               "the system has stopped; look whether it was done before that");
	text[n] = '\0';
	return err_set(e, ERR_INPUT, "%s", text + 1);
}

static int await(int desk, struct err *e)
{
	int signals = hear_signals();
	struct pollfd fds[] = { { .fd = desk, .events = POLLIN },
		                { .fd = signals, .events = POLLIN } };
	int status;

	do {
		if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			pass_on(signals, desk);
	} while (!fds[0].revents);
	status = hear_end(desk, e);
	io_shut(&signals);
	return status;
}

int via_desk_run(struct ctl *c, char **argv, struct err *e)
{
	OWNED(str) struct str with = { 0 }, folder = { 0 };
	int in, desk, status = -1;

	if (take_file(c, argv, &in, &with, e))
		return -1;
	take_folder(c, argv, &folder);
	desk = reach_shared(REACH_OPERATORS, SOCK_SEQPACKET);
	if (desk < 0 && errno == EACCES)
		(void)err_set(
		    e, ERR_INPUT, "you are no operator of the system of this machine (%s)%s",
		    reach_shared_directory(),
		    reach_shared_is_open(REACH_AGENTS)
		        ? "; it serves your agents, and only its operators see and answer "
		          "what they ask"
		        : ": to become one, join the group of its operators");
	else if (desk < 0)
		(void)err_errno(e, ERR_AGAIN, "agent-intercom of this machine does not answer");
	else if (send_wish(desk, argv, in, e) == 0)
		status = await(desk, e);
	io_shut(&desk);
	if (in != STDIN_FILENO)
		io_shut(&in);
	return status;
}

/* ---- the one that desk runs ---- */

const char *via_desk_operator(void)
{
	const char *who = getenv(DESK_LINE_OPERATOR);

	return who && *who ? who : NULL;
}

const char *via_desk_database(void)
{
	const char *path = paths_from_env(DESK_LINE_DATABASE);

	return path ? path : "";
}

int via_desk_check(const struct ctl *c, struct err *e)
{
	if (!via_desk_operator())
		return 0;
	if (c->config || c->database || c->ipc_name)
		return err_set(e, ERR_INPUT, "an operator of the shared system names no other one");
	if (c->edit || (c->with && strcmp(c->with, "-") != 0))
		return err_set(e, ERR_INPUT,
		               "the shared system reads no file for an operator, and starts no "
		               "editor");
	return 0;
}

int via_desk_enter(struct ctl *c, struct err *e)
{
	const char *who = via_desk_operator();
	const char *user = who ? strchr(who, ':') : NULL;
	int is_there;

	if (!user)
		return 0;
	is_there = sql_operator_is(&c->store, who, e);
	if (is_there)
		return is_there < 0 ? -1 : 0;
	if (store_begin(&c->store, e))
		return -1;
	return store_end(&c->store, sql_operator_enter(&c->store, who, user + 1, e), e);
}
