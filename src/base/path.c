#include "path.h"

#include <string.h>

const char *path_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

bool path_is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strcmp(folder, "/") == 0 ||
	       (strncmp(path, folder, length) == 0 && (!path[length] || path[length] == '/'));
}
