#include "path.h"

#include "err.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The name of a link's target, or the name itself. */
static const char *name_of(const char *path, const char *name, char target[PATH_MAX])
{
	ssize_t length = readlink(path, target, PATH_MAX);

	if (length <= 0 || length >= PATH_MAX)
		return name;
	target[length] = '\0';
	return target;
}

void path_real(const char *path, struct str *out)
{
	OWNED(char_ptr) char *at = xstrdup(path), *real = NULL;
	OWNED(str) struct str rest = { 0 };
	char target[PATH_MAX];

	/* What is longer, the kernel takes for no name. */
	while (strlen(at) < PATH_MAX && !(real = realpath(at, NULL))) {
		char *slash = strrchr(at, '/');
		const char *name;
		struct str longer = { 0 };

		if (!slash || slash == at)
			break;
		name = name_of(at, slash + 1, target);
		if (name[0] == '/') {
			xreplace(&at, name);
			break;
		}
		str_addf(&longer, "/%s%s", name, str_text(&rest));
		str_move(&rest, &longer);
		*slash = '\0';
	}
	str_addf(out, "%s%s", real ? real : at, str_text(&rest));
}
