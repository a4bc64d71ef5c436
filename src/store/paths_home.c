/* The part of paths that neither hashes nor reads what is published: for programs that start
 * quickly. */
#include "paths.h"

#include "install_dirs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOT_WRITTEN_BY_OTHERS = 022, NOT_FOR_OTHERS = 077 };

static const char PROGRAM[] = "agent-intercom";
const char PATHS_RUN_LINK[] = "-run";

const char *paths_from_env(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0] == '/' ? value : NULL;
}

static int home(const char *variable, const char *below, struct str *out, struct err *e)
{
	const char *value = paths_from_env(variable);
	const char *user = paths_from_env("HOME");

	if (!value && !user)
		return err_set(e, ERR_INPUT,
		               "neither $%s nor $HOME is set to an absolute path; set $HOME",
		               variable);
	if (value)
		str_add(out, value);
	else
		str_addf(out, "%s/%s", user, below);
	return 0;
}

int paths_config_home(struct str *out, struct err *e)
{
	return home("XDG_CONFIG_HOME", ".config", out, e);
}

int paths_state_home(struct str *out, struct err *e)
{
	return home("XDG_STATE_HOME", ".local/state", out, e);
}

int paths_runtime_home(struct str *out, struct err *e)
{
	const char *dir = paths_from_env("XDG_RUNTIME_DIR");

	if (!dir)
		return err_set(e, ERR_INPUT, "$XDG_RUNTIME_DIR is not set to an absolute path");
	str_add(out, dir);
	return 0;
}

int paths_absolute(const char *base, const char *path, struct str *out, struct err *e)
{
	bool below_home = strncmp(path, "~/", 2) == 0;
	const char *user = paths_from_env("HOME");
	char here[PATH_MAX];

	if (path[0] == '/') {
		str_add(out, path);
		return 0;
	}
	if (below_home && !user)
		return err_set(e, ERR_INPUT, "%s: $HOME is not set to an absolute path", path);
	if (below_home) {
		str_addf(out, "%s%s", user, path + 1);
		return 0;
	}
	if (!base)
		base = getcwd(here, sizeof(here));
	if (!base)
		return err_errno(e, ERR_INPUT, "the working directory has no path");
	str_addf(out, "%s/%s", strcmp(base, "/") == 0 ? "" : base, path);
	return 0;
}

/* The uid of the home that the path is in, if we are root and it is another user's; 0: it is not.
 */
static uid_t foreign_home(const char *path)
{
	const char *user = paths_from_env("HOME");
	size_t length = user ? strlen(user) : 0;
	struct stat about;

	while (length > 0 && user[length - 1] == '/')
		length--;
	if (geteuid() != 0 || length == 0 || strncmp(path, user, length) != 0 ||
	    path[length] != '/' || stat(user, &about) != 0)
		return 0;
	return about.st_uid;
}

int paths_check_ours(const char *dir, mode_t denied, struct err *e)
{
	struct stat about;

	if (lstat(dir, &about) != 0)
		return err_errno(e, ERR_INPUT, "%s", dir);
	if (!S_ISDIR(about.st_mode))
		return err_set(e, ERR_INPUT, "%s: is not a directory; remove it", dir);
	if (about.st_uid != geteuid())
		return err_set(e, ERR_INPUT,
		               "%s: belongs to uid %u, not to us (uid %u); run as that user, or %s",
		               dir, (unsigned)about.st_uid, (unsigned)geteuid(),
		               foreign_home(dir) ? "with root's home (sudo -H, su -)"
		                                 : "move it away");
	if (about.st_mode & denied)
		return err_set(e, ERR_INPUT,
		               "%s: has mode %04o and is open to others; run chmod 700 on it", dir,
		               (unsigned)(about.st_mode & 07777));
	return 0;
}

int paths_check_new(const char *path, struct err *e)
{
	OWNED(char_ptr) char *folder = xstrdup(path);
	uid_t owner = access(path, F_OK) == 0 ? 0 : foreign_home(path);
	struct stat about;

	do {
		char *slash = strrchr(folder, '/');

		slash[slash == folder] = '\0';
	} while (lstat(folder, &about) != 0 && errno == ENOENT && folder[1]);
	if (owner)
		return err_set(e, ERR_INPUT,
		               "%s: is in the home of uid %u, who could not use what we (uid 0) "
		               "make there; run as that user, or with root's home (sudo -H, su -)",
		               path, (unsigned)owner);
	if (stat(folder, &about) == 0 && !S_ISDIR(about.st_mode))
		return err_set(e, ERR_INPUT, "%s: cannot be made: %s is not a directory", path,
		               folder);
	if (access(folder, W_OK | X_OK) != 0)
		return err_errno(e, ERR_INPUT, "%s: cannot be made in %s", path, folder);
	return 0;
}

int paths_runtime_base(struct str *base, struct err *e)
{
	const char *dir = paths_from_env("XDG_RUNTIME_DIR");
	struct stat about;

	if (!dir)
		return 0;
	if (stat(dir, &about) != 0)
		return err_kind_of_file(errno) == ERR_AGAIN ? err_errno(e, ERR_AGAIN, "%s", dir)
		                                            : 0;
	if (!S_ISDIR(about.st_mode) || about.st_uid != geteuid() ||
	    (about.st_mode & NOT_WRITTEN_BY_OTHERS))
		return 0;
	str_addf(base, "%s/%s", dir, PROGRAM);
	return 1;
}

int paths_state_base(struct str *base, struct err *e)
{
	if (paths_state_home(base, e))
		return -1;
	str_addf(base, "/%s/run", PROGRAM);
	return 0;
}

bool paths_published_run(const char *database, struct str *run)
{
	OWNED(str) struct str link = { 0 };
	char target[PATH_MAX];
	struct stat st;
	ssize_t length;

	str_addf(&link, "%s%s", database, PATHS_RUN_LINK);
	length = readlink(str_text(&link), target, sizeof(target) - 1);
	if (length <= 0)
		return false;
	target[length] = '\0';
	if (target[0] != '/' || lstat(target, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || (st.st_mode & NOT_FOR_OTHERS) != 0)
		return false;
	str_add(run, target);
	return true;
}

/* Appends the directory that has the program `name`: that of the running program (build tree), or
 * else the path `installed` relative to it. */
static int find_program(const char *name, const char *installed, struct str *out, struct err *e)
{
	char here[PATH_MAX], there[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);
	OWNED(str) struct str path = { 0 };

	if (length <= 0)
		return err_errno(e, ERR_AGAIN, "/proc/self/exe: cannot be read; mount /proc");
	here[length] = '\0';
	*strrchr(here, '/') = '\0';
	str_addf(&path, "%s/%s", here, name);
	if (access(str_text(&path), X_OK) == 0) {
		str_add(out, here[0] ? here : "/");
		return 0;
	}
	str_reset(&path);
	str_addf(&path, "%s/%s", here, installed);
	str_add(out, realpath(str_text(&path), there) ? there : str_text(&path));
	return 0;
}

int paths_libexec(struct str *out, struct err *e)
{
	return find_program("mcp-front", LIBEXEC_FROM_BIN, out, e);
}

int paths_bin(struct str *out, struct err *e)
{
	return find_program(PROGRAM, BIN_FROM_LIBEXEC, out, e);
}

int paths_program(const char *name, struct str *out, struct err *e)
{
	if (paths_libexec(out, e))
		return -1;
	str_addf(out, "/%s", name);
	return access(str_text(out), X_OK) == 0
	           ? 0
	           : err_errno(e, ERR_INPUT, "cannot run %s; install agent-intercom again",
	                       str_text(out));
}
