#include "owner_of.h"

#include "str.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int owner_of(const char *path, uid_t *ret, struct err *e)
{
	OWNED(str) struct str above = { 0 };
	struct stat about;

	str_add(&above, path);
	while (lstat(str_text(&above), &about) != 0) {
		char *slash = above.bytes ? strrchr(above.bytes, '/') : NULL;

		if (errno != EACCES || !slash || slash == above.bytes)
			return err_errno(e, ERR_INPUT, "cannot look whose the workspace %s is",
			                 path);
		*slash = '\0';
	}
	*ret = about.st_uid;
	return 0;
}
