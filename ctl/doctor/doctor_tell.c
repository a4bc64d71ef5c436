#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void doctor_tell(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
{
	static const char *const WORDS[] = { "ok  ", "warn", "FAIL" };
	va_list args;

	(void)printf("%s %s: ", WORDS[verdict], what);
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	(void)putchar('\n');
	d->failures += verdict == FAIL;
}

void doctor_clear(struct doctor *d)
{
	store_clear(&d->store);
	paths_clear(&d->paths);
	config_clear(&d->config);
	free(d->dir);
	free(d->address);
}
