#include "refusal.h"

#include "str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 500 }; /* of a path in a text */

void refusal_tell(struct refusal *why, const char *code, const char *format, ...)
{
	va_list args;

	why->code = code;
	why->again = false;
	va_start(args, format);
	(void)vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
}

static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN ||
	       error == EINTR || error == EBUSY;
}

/* The codes that agents get. */
static const char *code_of(int error)
{
	switch (error) {
	case ENOSPC:
		return "no_space";
	case EDQUOT:
		return "quota";
	case EROFS:
		return "read_only";
	case EACCES:
	case EPERM:
		return "permission";
	case EFBIG:
		return "too_large";
	case 0: /* no call failed: what is there is not what was expected */
	case ENOENT:
	case EEXIST:
	case ENOTDIR:
	case EISDIR:
	case ELOOP:
	case ESTALE:
		return "patch_conflict";
	default:
		return is_shortage(error) ? "busy" : "io_error";
	}
}

void refusal_tell_errno(struct refusal *why, const char *what, const char *path)
{
	int error = errno;
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, path, strlen(path), SHOWN_BYTES);
	refusal_tell(why, code_of(error), "cannot %s %s: %s", what, str_text(&shown),
	             strerror(error));
	why->again = is_shortage(error);
}

void refusal_tell_err(struct refusal *why, const struct err *e)
{
	int error = errno;

	const char *code = error == EXDEV || error == ELOOP ? "path_violation" : code_of(error);

	refusal_tell(why, code, "%s%s",
	             strcmp(code, "patch_conflict") == 0 ? "patch conflict: " : "", e->text);
	why->again = is_shortage(error);
}

bool refusal_is_told(const struct refusal *why)
{
	return strcmp(why->code, "path_violation") == 0 || strcmp(why->code, "patch_conflict") == 0;
}
