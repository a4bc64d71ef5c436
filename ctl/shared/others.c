#include "others.h"

#include "err.h"
#include "str.h"

#include <string.h>

size_t others_stop(const char *path, size_t from, mode_t wanted, struct stat *ret_about)
{
	OWNED(str) struct str part = { 0 };
	mode_t listed;

	for (size_t at = from; path[at];) {
		at += 1 + strcspn(path + at + 1, "/");
		str_reset(&part);
		str_add_bytes(&part, path, at);
		if (stat(part.bytes, ret_about) != 0)
			return 0;
		listed = at > 2 && strncmp(path + at - 2, ".d", 2) == 0 ? S_IROTH : 0;
		if ((S_ISDIR(ret_about->st_mode) ? listed | S_IXOTH : wanted) & ~ret_about->st_mode)
			return at;
	}
	return 0;
}
