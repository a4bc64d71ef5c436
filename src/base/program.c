#include "program.h"

#include "err.h"
#include "textfile.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char USUAL_PATH[] = "/usr/local/bin:/usr/bin:/bin";

/* Below the home directory. */
static const char *const INSTALLERS[] = { ".local/bin",    ".npm-global/bin", ".npm-packages/bin",
	                                  ".opencode/bin", ".bun/bin",        ".volta/bin" };

static bool is_program(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

static bool is_in(const char *dir, const char *name, struct str *out)
{
	OWNED(str) struct str path = { 0 };

	if (*dir != '/') /* no programs from the working directory */
		return false;
	str_addf(&path, "%s/%s", dir, name);
	if (!is_program(str_text(&path)))
		return false;
	str_add(out, str_text(&path));
	return true;
}

static const char *search_path(void)
{
	const char *path = getenv("PATH");

	return path && *path ? path : USUAL_PATH;
}

static bool is_in_path(const char *name, struct str *out)
{
	OWNED(str) struct str dir = { 0 };
	const char *rest = search_path();

	for (;;) {
		size_t length = strcspn(rest, ":");

		str_reset(&dir);
		str_add_bytes(&dir, rest, length);
		if (is_in(str_text(&dir), name, out))
			return true;
		if (!rest[length])
			return false;
		rest += length + 1;
	}
}

/* ---- npm ---- */

/* The value of a line "prefix = VALUE", which it terminates in place; NULL for another line. */
static char *prefix_of(char *line)
{
	static const char KEY[] = "prefix";
	char *value = line + strspn(line, " \t");

	if (strncmp(value, KEY, strlen(KEY)) != 0)
		return NULL;
	value += strlen(KEY);
	value += strspn(value, " \t");
	if (*value++ != '=')
		return NULL;
	value += strspn(value, " \t\"");
	value[strcspn(value, "\" \t")] = '\0';
	return value;
}

/* Appends the prefix from ~/.npmrc, with "~" and "${HOME}" replaced by home. */
static void read_npmrc(const char *home, struct str *out)
{
	static const char *const HOMES[] = { "~/", "${HOME}/" };
	OWNED(str) struct str path = { 0 };
	OWNED(textfile) struct textfile file = { 0 };
	char *rest = NULL, *value = NULL;

	str_addf(&path, "%s/.npmrc", home);
	if (textfile_read(str_text(&path), &file, NULL) || !file.bytes.length)
		return;
	for (char *line = strtok_r(file.bytes.bytes, "\r\n", &rest); line && !value;
	     line = strtok_r(NULL, "\r\n", &rest))
		value = prefix_of(line);
	for (size_t i = 0; value && i < COUNT(HOMES); i++)
		if (strncmp(value, HOMES[i], strlen(HOMES[i])) == 0) {
			str_addf(out, "%s/", home);
			value += strlen(HOMES[i]);
		}
	str_add(out, value ? value : "");
}

/* By default, npm installs to where its node is. */
static bool is_beside_node(const char *name, struct str *out)
{
	OWNED(str) struct str node = { 0 };
	char real[PATH_MAX];

	if (!is_in_path("node", &node) || !realpath(str_text(&node), real))
		return false;
	*strrchr(real, '/') = '\0';
	return is_in(real, name, out);
}

static bool is_below_prefix(const char *home, const char *name, struct str *out)
{
	const char *prefix = getenv("NPM_CONFIG_PREFIX");
	OWNED(str) struct str dir = { 0 };

	if (prefix && *prefix)
		str_add(&dir, prefix);
	else
		read_npmrc(home, &dir);
	if (dir.length)
		str_add(&dir, "/bin");
	return is_in(str_text(&dir), name, out) || is_beside_node(name, out);
}

/* ---- one user's programs ---- */

/* nvm has a folder for each version of node; the newest one with the program counts. */
static bool is_in_nvm(const char *home, const char *name, struct str *out)
{
	OWNED(str) struct str pattern = { 0 };
	const char *newest = NULL;
	glob_t found;

	str_addf(&pattern, "%s/.nvm/versions/node/*/bin/%s", home, name);
	if (glob(str_text(&pattern), GLOB_NOSORT, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (is_program(found.gl_pathv[i]) &&
		    (!newest || strverscmp(found.gl_pathv[i], newest) > 0))
			newest = found.gl_pathv[i];
	if (newest)
		str_add(out, newest);
	globfree(&found);
	return newest != NULL;
}

static bool is_below_home(const char *home, const char *name, struct str *out)
{
	OWNED(str) struct str dir = { 0 };

	for (size_t i = 0; i < COUNT(INSTALLERS); i++) {
		str_reset(&dir);
		str_addf(&dir, "%s/%s", home, INSTALLERS[i]);
		if (is_in(str_text(&dir), name, out))
			return true;
	}
	return is_in_nvm(home, name, out);
}

bool program_find(const char *name, struct str *out)
{
	const char *home = getenv("HOME");

	if (strchr(name, '/')) {
		if (*name != '/' || !is_program(name))
			return false;
		str_add(out, name);
		return true;
	}
	if (!*name)
		return false;
	if (is_in_path(name, out))
		return true;
	if (!home || *home != '/')
		home = "/nonexistent";
	return is_below_prefix(home, name, out) || is_below_home(home, name, out);
}

void program_path(const char *program, struct str *out)
{
	OWNED(str) struct str around = { 0 }, dir = { 0 };
	const char *slash = strrchr(program, '/');

	str_addf(&around, ":%s:", search_path());
	str_addf(&dir, ":%.*s:", slash ? (int)(slash - program) : 0, program);
	if (slash && slash > program && !strstr(str_text(&around), str_text(&dir)))
		str_addf(out, "%.*s:", (int)(slash - program), program);
	str_add(out, search_path());
}
