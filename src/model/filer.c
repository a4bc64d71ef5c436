#include "filer.h"

#include "files.h"
#include "owner_of.h"
#include "setting.h"
#include "workspace_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	START_MS = 5000, /* within which the disk of the workspace must answer, too */
};

bool filer_is_forced(void)
{
#ifdef INTERCOM_TEST_CLOCK
	const char *wanted = getenv("INTERCOM_FILES");

	return wanted && strcmp(wanted, "hand") == 0;
#else
	return false;
#endif
}

int filer_find_owner(struct store *st, const char *machine, const char *root, struct filer_owner *o,
                     struct err *e)
{
	int got;

	filer_owner_clear(o);
	got = workspace_owner_now(st, machine, root, &o->uid, e);
	if (got >= 0 && setting_get(st, "shared.owner_socket", &o->socket, e) < 0)
		return -1;
	o->is_other = got > 0;
	if (o->socket.length && !owner_is_there(o->socket.bytes))
		str_reset(&o->socket);
	if (got == 0 && filer_is_forced()) {
		o->is_other = true;
		o->uid = geteuid();
		str_reset(&o->socket);
		str_add(&o->socket, "none");
	}
	return got < 0 ? -1 : 0;
}

void filer_owner_clear(struct filer_owner *o)
{
	str_clear(&o->socket);
	*o = (struct filer_owner){ 0 };
}

void filer_guess_owner(const char *root, struct filer_owner *o)
{
	struct err none = { 0 };

	if (!o->is_other && o->socket.length && access(root, R_OK | X_OK) != 0 && errno == EACCES)
		o->is_other = owner_of(root, &o->uid, &none) == 0 && o->uid != geteuid();
}

bool filer_has_hand(const struct filer_owner *o)
{
	return o->is_other && o->socket.length;
}

#ifdef INTERCOM_TEST_CLOCK
/* A child in its place, which has all that we have open, the lock too. */
__attribute__((noreturn)) static void be_hand(const struct filer_place *place, int ours, int theirs)
{
	int root, error;

	(void)signal(SIGTERM, SIG_DFL);
	(void)close(ours);
	root = open(place->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = root < 0 ? errno : 0;
	(void)send(theirs, &error, sizeof(error), MSG_NOSIGNAL);
	files_use(-1, NULL);
	if (!error)
		files_serve(theirs, root);
	_exit(0);
}

static int start_own(struct filer *f, const struct filer_place *place, int theirs, struct err *e)
{
	struct pollfd wait = { .fd = f->socket, .events = POLLIN };
	int error = 0;

	f->own = fork();
	if (f->own == 0)
		be_hand(place, f->socket, theirs);
	if (f->own < 0)
		return err_errno(e, ERR_AGAIN, "cannot start a hand");
	if (poll(&wait, 1, START_MS) != 1 || recv(f->socket, &error, sizeof(error), 0) < 1) {
		f->process.pid = f->own;
		f->own = 0; /* not waited for */
		return err_set(e, ERR_AGAIN, "the hand does not answer");
	}
	errno = error;
	return error ? err_errno(e, ERR_REFUSED, "cannot open the workspace %.300s", place->root)
	             : 0;
}
#endif

static int start(struct filer *f, const struct filer_place *place, int theirs, struct err *e)
{
	const int fds[] = { theirs, place->lock };
	const struct owner_ask ask = { .kind = OWNER_FILER,
		                       .uid = place->uid,
		                       .workspace = place->root,
		                       .words = { place->fence },
		                       .fds = fds,
		                       .fd_count = 2 };

#ifdef INTERCOM_TEST_CLOCK
	if (filer_is_forced() && place->uid == geteuid())
		return start_own(f, place, theirs, e);
#endif
	return owner_start(place->socket, &ask, START_MS, &f->process, e);
}

int filer_start(struct filer *f, const struct filer_place *place, struct err *e)
{
	int pair[2], failed;

	*f = (struct filer)FILER_INIT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, ERR_AGAIN, "socketpair");
	f->socket = pair[0];
	failed = start(f, place, pair[1], e);
	(void)close(pair[1]);
	if (failed) {
		pid_t begun = f->process.pid;

		filer_clear(f);
		f->process.pid = begun;
		return -1;
	}
	files_use(f->socket,
	          &(struct files_look){ .is_held = owner_is_held, .line = f->process.fd });
	return 0;
}

int filer_leave(struct filer *f)
{
	int left = f->socket;

	(void)shutdown(left, SHUT_WR); /* for its call may end yet */
	files_use(-1, NULL);
	f->socket = -1;
	f->own = 0;
	filer_clear(f);
	return left;
}

void filer_clear(struct filer *f)
{
	if (files_is_lost())
		f->own = 0; /* its call may never end */
	if (f->socket >= 0)
		files_use(-1, NULL);
	if (f->socket >= 0)
		(void)close(f->socket);
	owner_process_clear(&f->process);
	if (f->own > 0)
		(void)waitpid(f->own, NULL, 0);
	*f = (struct filer)FILER_INIT;
}
