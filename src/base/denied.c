#include "denied.h"

#include <errno.h>

static void (*listener)(const char *text);

void denied_watch(void (*heard)(const char *text))
{
	listener = heard;
}

void denied_tell(const char *text)
{
	int saved = errno;

	if (listener)
		listener(text);
	errno = saved;
}
