#include "signals.h"

#include <signal.h>
#include <sys/signalfd.h>

int signals_hear(int more, int *ret_fd, struct err *e)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	if (more)
		(void)sigaddset(&set, more);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	*ret_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return *ret_fd < 0 ? err_errno(e, ERR_AGAIN, "cannot make a signalfd") : 0;
}

void signals_reset(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}
