#include "workspace.h"

#include "path.h"
#include "paths.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

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

static void add_homes(struct own_places *ours)
{
	static int (*const HOMES[])(struct str *, struct err *) = {
		paths_config_home,
		paths_state_home,
		paths_runtime_home,
	};

	for (size_t i = 0; i < COUNT(HOMES); i++) {
		OWNED(str) struct str dir = { 0 };

		if (HOMES[i](&dir, NULL) == 0)
			own_places_add(ours, real_child(str_text(&dir), "agent-intercom"));
	}
}

static void add_run_dir(struct own_places *ours, const char *run_dir)
{
	OWNED(char_ptr) char *run = realpath(run_dir, NULL);
	OWNED(char_ptr) char *name = NULL, *config = NULL;
	const struct paths at = { .run = run };

	if (run && paths_read_published(&at, &name, &config, NULL) == 0 && *config)
		own_places_add(ours, realpath(config, NULL));
	own_places_add(ours, run);
	run = NULL;
}

static char *beside(const char *database, const char *suffix)
{
	struct str name = { 0 };

	str_addf(&name, "%s%s", database, suffix);
	return str_take(&name);
}

static void add_database(struct own_places *ours, const char *database)
{
	ours->database = xstrdup(database);
	for (const char *const *suffix = PATHS_FILES; *suffix; suffix++)
		own_places_add(ours, beside(database, *suffix));
	own_places_add(ours, beside(database, "-objects"));
}

void workspace_ours(struct own_places *ours, const char *run_dir, const char *database)
{
	const char *credentials = paths_from_env("CREDENTIALS_DIRECTORY");

	add_homes(ours);
	if (credentials)
		own_places_add(ours, realpath(credentials, NULL));
	if (run_dir)
		add_run_dir(ours, run_dir);
	if (database)
		add_database(ours, database);
}

/* Whether path, or a folder above it, is one of ours under this or another name. */
static bool is_ours(const char *path)
{
	OWNED(own_places) struct own_places ours = { .database = NULL };
	OWNED(char_ptr) char *way = xstrdup(path);
	bool found;
	struct stat st;

	workspace_ours(&ours, NULL, NULL);
	own_places_look(&ours);
	found = own_places_name(&ours, path) != NULL;
	for (char *end = way + strlen(way); end && end > way && !found; end = strrchr(way, '/')) {
		*end = '\0';
		found = stat(way, &st) == 0 && own_places_file(&ours, &st);
	}
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
