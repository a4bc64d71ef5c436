#include "err.h"

#include "denied.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

void err_tell(struct err *e, enum err_kind kind, const char *format, ...)
{
	va_list args;

	if (!e)
		return;
	e->kind = kind;
	va_start(args, format);
	(void)vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
}

void err_tell_errno(struct err *e, enum err_kind kind, const char *format, ...)
{
	int saved = errno;
	struct err nobody;
	va_list args;
	size_t used;

	if (!e)
		e = &nobody;
	e->kind = kind == ERR_INPUT ? err_kind_of_file(saved) : kind;
	va_start(args, format);
	(void)vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	used = strlen(e->text);
	(void)snprintf(e->text + used, sizeof(e->text) - used, ": %s", strerror(saved));
	if (saved == EACCES)
		denied_tell(e->text);
	errno = saved;
}

void err_tell_prefix(struct err *e, const char *format, ...)
{
	char old[ERR_TEXT_BYTES];
	va_list args;
	size_t used;

	if (!e)
		return;
	memcpy(old, e->text, sizeof(old));
	va_start(args, format);
	(void)vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	used = strlen(e->text);
	(void)snprintf(e->text + used, sizeof(e->text) - used, ": %s", old);
}

bool err_take_refused(struct err *e, struct err_refused *refused)
{
	if (e->kind != ERR_REFUSED)
		return false;
	if (refused->count++ == 0)
		refused->first = *e;
	*e = (struct err){ 0 };
	return true;
}

enum err_kind err_kind_of_file(int error)
{
	return error == EIO || error == ENOSPC || error == EDQUOT ? ERR_AGAIN : ERR_INPUT;
}

int err_exit(const struct err *e)
{
	switch (e->kind) {
	case ERR_NONE:
		return EX_OK;
	case ERR_AGAIN:
	case ERR_REFUSED:
		return EX_TEMPFAIL;
	case ERR_INPUT:
		return EX_CONFIG;
	case ERR_BUG:
		return EX_SOFTWARE;
	}
	return EX_SOFTWARE;
}
