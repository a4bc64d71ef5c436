#include "filer.h"

#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 5000 }; /* within which the disk of the workspace must answer, too */

bool filer_is_forced(void)
{
#ifdef INTERCOM_TEST_CLOCK
	const char *wanted = getenv("INTERCOM_FILES");

	return wanted && strcmp(wanted, "hand") == 0;
#else
	return false;
#endif
}

#ifdef INTERCOM_TEST_CLOCK
/* A child in its place. It sees what filer sees: a socket, the lock and the workspace. */
static int start_own(struct filer *f, const struct filer_place *place, int theirs, struct err *e)
{
	int root = open(place->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return err_errno(e, ERR_REFUSED, "cannot open the workspace %.300s", place->root);
	f->own = fork();
	if (f->own == 0) {
		(void)signal(SIGTERM, SIG_DFL);
		for (int fd = 3; fd < 256; fd++)
			if (fd != theirs && fd != root && fd != place->lock)
				(void)close(fd);
		files_use(-1);
		files_serve(theirs, root);
		_exit(0);
	}
	(void)close(root);
	return f->own < 0 ? err_errno(e, ERR_AGAIN, "cannot start a hand") : 0;
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
	failed = start(f, place, pair[1], e);
	(void)close(pair[1]);
	f->socket = pair[0];
	if (failed)
		filer_clear(f);
	else
		files_use(f->socket);
	return failed;
}

void filer_clear(struct filer *f)
{
	if (f->socket >= 0)
		files_use(-1);
	if (f->socket >= 0)
		(void)close(f->socket);
	owner_process_clear(&f->process);
	if (f->own > 0)
		(void)waitpid(f->own, NULL, 0);
	*f = (struct filer)FILER_INIT;
}
