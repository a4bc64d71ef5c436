#include "workspace.h"

#include "path.h"
#include "paths.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { OURS_MAX = 14 };

static bool has_component(const char *path, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (strncasecmp(at + 1, name, length) == 0 &&
		    (at[1 + length] == '/' || at[1 + length] == '\0'))
			return true;
	return false;
}

/* ---- homes ---- */

/* Whether path is our home or contains it. */
static bool holds_home(const char *path)
{
	const char *home = paths_from_env("HOME");
	OWNED(char_ptr) char *real = home ? realpath(home, NULL) : NULL;

	return real && path_is_within(real, path);
}

/* Whether path is the home directory of its owner. */
static bool is_owners_home(const char *path)
{
	OWNED(char_ptr) char *real = NULL;
	const struct passwd *owner;
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	owner = getpwuid(st.st_uid);
	real = owner ? realpath(owner->pw_dir, NULL) : NULL;
	return real && strcmp(path, real) == 0;
}

/* ---- our own files ---- */

/* The real path of name in dir, whether it exists or not; NULL if dir does not. */
static char *real_child(const char *dir, const char *name)
{
	OWNED(str) struct str path = { 0 };
	OWNED(char_ptr) char *parent = realpath(dir, NULL);
	char *real;

	if (!parent)
		return NULL;
	str_addf(&path, "%s/%s", parent, name);
	real = realpath(path.bytes, NULL);
	return real ? real : str_take(&path);
}

static void add(char **ours, char *path)
{
	size_t n = 0;

	while (ours[n])
		n++;
	ours[n] = path; /* NULL adds nothing */
}

static void add_homes(char **ours)
{
	static int (*const HOMES[])(struct str *, struct err *) = {
		paths_config_home,
		paths_state_home,
		paths_runtime_home,
	};

	for (size_t i = 0; i < COUNT(HOMES); i++) {
		OWNED(str) struct str dir = { 0 };

		if (HOMES[i](&dir, NULL) == 0)
			add(ours, real_child(str_text(&dir), "agent-intercom"));
	}
}

static void add_run_dir(char **ours, const char *run_dir)
{
	OWNED(char_ptr) char *run = realpath(run_dir, NULL);
	OWNED(char_ptr) char *name = NULL;
	OWNED(char_ptr) char *config = NULL;
	const struct paths at = { .run = run };

	if (run && paths_read_published(&at, &name, &config, NULL) == 0 && *config)
		add(ours, realpath(config, NULL));
	add(ours, run);
	run = NULL;
}

static char *beside(const char *database, const char *suffix)
{
	struct str name = { 0 };

	str_addf(&name, "%s%s", database, suffix);
	return str_take(&name);
}

static void add_database(char **ours, const char *database)
{
	for (const char *const *suffix = PATHS_FILES; *suffix; suffix++)
		add(ours, beside(database, *suffix));
	add(ours, beside(database, "-objects"));
}

char **workspace_ours(const char *run_dir, const char *database)
{
	char **ours = xcalloc(OURS_MAX, sizeof(*ours));
	const char *credentials = paths_from_env("CREDENTIALS_DIRECTORY");

	add_homes(ours);
	if (credentials)
		add(ours, realpath(credentials, NULL));
	if (run_dir)
		add_run_dir(ours, run_dir);
	if (database)
		add_database(ours, database);
	return ours;
}

void workspace_ours_free(char **ours)
{
	for (char **one = ours; one && *one; one++)
		free(*one);
	free(ours);
}

static bool is_ours(const char *path)
{
	char **ours = workspace_ours(NULL, NULL);
	bool found = false;

	for (char **one = ours; *one; one++)
		found = found || path_is_within(path, *one);
	workspace_ours_free(ours);
	return found;
}

const char *workspace_unfit(const char *path)
{
	OWNED(char_ptr) char *real = realpath(path, NULL);
	const char *judged = real ? real : path;

	if (strcmp(judged, "/") == 0)
		return "the root of the file system";
	if (is_owners_home(judged))
		return "a home directory";
	if (holds_home(judged))
		return "a home directory, or holds one";
	if (has_component(judged, ".git"))
		return "inside .git";
	if (has_component(judged, ".intercom"))
		return "inside .intercom";
	if (is_ours(judged))
		return "where agent-intercom keeps its own files";
	return NULL;
}
