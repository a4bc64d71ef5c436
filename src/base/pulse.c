#include "pulse.h"

#include <sys/stat.h>
#include <time.h>

static int shown_fd = -1;
static time_t last;

void pulse_show(int fd)
{
	shown_fd = fd;
	last = 0;
}

void pulse(void)
{
	struct timespec now;

	if (shown_fd < 0 || clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0 || now.tv_sec == last)
		return;
	last = now.tv_sec;
	(void)futimens(shown_fd, NULL);
}
