#include "socket.h"

#include "front.h"

#include <errno.h>
#include <event2/listener.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

bool socket_is_ours(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

struct evconnlistener *socket_listen(struct front *f, const char *name, evconnlistener_cb on_caller,
                                     struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct evconnlistener *listener;
	mode_t before = umask(0177);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", f->worker.run_fd,
	               name);
	(void)unlinkat(f->worker.run_fd, name, 0);
	listener = evconnlistener_new_bind(f->base, on_caller, f,
	                                   LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG,
	                                   (struct sockaddr *)&a, (int)sizeof(a));
	(void)umask(before);
	if (!listener)
		(void)err_errno(e, errno == ENOENT ? ERR_AGAIN : ERR_INPUT,
		                "cannot listen on %s/%s", f->worker.run_dir, name);
	return listener;
}
