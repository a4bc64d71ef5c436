#include "doctor.h"

#include "visible.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void doctor_tell(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
{
	static const char *const WORDS[] = { "ok  ", "warn", "FAIL" };
	OWNED(str) struct str shown = { 0 };
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		visible_add(&shown, text, strlen(text), false); /* it may name a foreign file */
	free(text);
	(void)printf("%s %s: %s\n", WORDS[verdict], what, str_text(&shown));
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
