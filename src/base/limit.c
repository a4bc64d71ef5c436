#include "limit.h"

void limit_to(int which, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(which, &now) == 0 && now.rlim_max < most)
		most = now.rlim_max;
	(void)setrlimit(which, &(struct rlimit){ .rlim_cur = most, .rlim_max = most });
}

void limit_memory(size_t most)
{
#ifndef __SANITIZE_ADDRESS__
	limit_to(RLIMIT_AS, most);
#else
	(void)most;
#endif
}
