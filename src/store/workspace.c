#include "workspace.h"

#include "paths.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_within(const char *path, const char *dir)
{
	OWNED(char_ptr) char *real = realpath(dir, NULL);
	size_t length = real ? strlen(real) : 0;

	return real && strncmp(path, real, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

static bool has_component(const char *path, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (strncasecmp(at + 1, name, length) == 0 &&
		    (at[1 + length] == '/' || at[1 + length] == '\0'))
			return true;
	return false;
}

static bool is_home(const char *path)
{
	const char *home = paths_from_env("HOME");
	OWNED(char_ptr) char *real = home ? realpath(home, NULL) : NULL;

	return real && strcmp(path, real) == 0;
}

static bool is_ours(const char *path)
{
	static int (*const HOMES[])(struct str *, struct err *) = {
		paths_config_home,
		paths_state_home,
		paths_runtime_home,
	};

	for (size_t i = 0; i < COUNT(HOMES); i++) {
		OWNED(str) struct str dir = STR_INIT;

		if (HOMES[i](&dir, NULL))
			continue;
		str_add(&dir, "/agent-intercom");
		if (is_within(path, str_text(&dir)))
			return true;
	}
	return false;
}

const char *workspace_unfit(const char *path)
{
	OWNED(char_ptr) char *real = realpath(path, NULL);
	const char *judged = real ? real : path;

	if (strcmp(judged, "/") == 0)
		return "the root of the file system";
	if (is_home(judged))
		return "a home directory";
	if (has_component(judged, ".git"))
		return "inside .git";
	if (has_component(judged, ".intercom"))
		return "inside .intercom";
	if (is_ours(judged))
		return "where agent-intercom keeps its own files";
	return NULL;
}
