#include "own_file.h"

#include "err.h"
#include "files.h"
#include "path.h"
#include "str.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

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

/* Whether path is our database, a file that belongs to it (<database>-wal, <database>.before-9,
 * ...), or another name of one. Even opening and closing it would drop this process's locks on
 * it. */
static bool is_database(int root_fd, const char *path, const char *name, const char *database)
{
	static const char *const SUFFIXES[] = { "", "-wal", "-shm" };
	size_t length = strlen(database);
	struct stat target, st;

	if (strncmp(name, database, length) == 0 &&
	    (name[length] == '\0' || strchr("-./", name[length])))
		return true;
	if (files_stat(root_fd, path, &target, AT_SYMLINK_NOFOLLOW))
		return false;
	for (size_t i = 0; i < COUNT(SUFFIXES); i++) {
		OWNED(str) struct str other = { 0 };

		str_addf(&other, "%s%s", database, SUFFIXES[i]);
		if (stat(str_text(&other), &st) == 0 && st.st_dev == target.st_dev &&
		    st.st_ino == target.st_ino)
			return true;
	}
	return false;
}

const char *own_file(int root_fd, const char *path, const char *database, char *const *ours)
{
	OWNED(str) struct str name = { 0 };

	absolute(root_fd, path, &name);
	if (database && is_database(root_fd, path, str_text(&name), database))
		return "belongs to agent-intercom's database";
	for (char *const *one = ours; one && *one; one++)
		if (path_is_within(str_text(&name), *one))
			return "is one of agent-intercom's own files";
	return NULL;
}
