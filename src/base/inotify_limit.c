#include "inotify_limit.h"

#include <errno.h>
#include <string.h>

const char *inotify_limit(int error)
{
	switch (error) {
	case EMFILE:
		return "this user's programs have as many inotify instances as the kernel allows; "
		       "raise fs.inotify.max_user_instances (sysctl)";
	case ENOSPC:
		return "this user's programs watch as many files as the kernel allows; raise "
		       "fs.inotify.max_user_watches (sysctl)";
	default:
		return strerror(error);
	}
}
