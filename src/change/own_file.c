#include "own_file.h"

#include "err.h"
#include "files.h"
#include "str.h"

#include <fcntl.h>
#include <string.h>

/* The absolute name of path below root_fd. */
static void absolute(int root_fd, const char *path, struct str *out)
{
	if (files_name(root_fd, out) == 0 && out->length == 1)
		str_reset(out); /* "/" */
	if (*path) {
		str_add_char(out, '/');
		str_add(out, path);
	}
}

/* What is there is not opened: even opening and closing a file of the database would drop this
 * process's locks on it. */
static const char *at(int root_fd, const char *path, const struct own_places *own)
{
	struct stat st;

	return files_stat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW) ? NULL
	                                                           : own_places_file(own, &st);
}

/* path and each folder on the way to it. */
static const char *on_the_way(int root_fd, const char *path, const struct own_places *own)
{
	OWNED(str) struct str way = { 0 };
	const char *why = NULL;

	for (const char *end = path; *end && !why; end += *end == '/') {
		end += strcspn(end, "/");
		str_reset(&way);
		str_add_bytes(&way, path, (size_t)(end - path));
		why = at(root_fd, str_text(&way), own);
	}
	return why;
}

const char *own_file(int root_fd, const char *path, const struct own_places *own)
{
	OWNED(str) struct str name = { 0 };
	const char *why;

	if (!own)
		return NULL;
	absolute(root_fd, path, &name);
	why = own_places_name(own, str_text(&name));
	return why ? why : on_the_way(root_fd, path, own);
}
