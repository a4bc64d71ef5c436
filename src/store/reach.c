#include "reach.h"

#include "io.h"
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOT_FOR_OTHERS = 077, NOT_WRITTEN_BY_OTHERS = 022, CONFIG_BYTES_MAX = 256 << 10 };

static const char USUAL_NAME[] = "agent-intercom";
static const char SHARED[] = "/run/agent-intercom";
const char REACH_AGENTS[] = "mcp.sock", REACH_OPERATORS[] = "desk.sock";

/* A connection to a socket whose listener is a process of this user; -1 with errno. */
static int connect_to(const struct sockaddr_un *a, int type, uid_t owner)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
		if (peer.uid == owner)
			return fd;
		errno = EPERM;
	}
	io_shut(&fd);
	return -1;
}

int reach_front(const char *run)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int dir = open(run, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (dir < 0)
		return -1;
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/mcp.sock", dir);
	fd = connect_to(&a, SOCK_STREAM, geteuid());
	io_shut(&dir);
	return fd;
}

int reach_activation(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	OWNED(str) struct str path = { 0 };

	if (paths_runtime_home(&path, NULL)) {
		errno = ENOENT;
		return -1;
	}
	str_add(&path, "/agent-intercom.sock");
	if (path.length >= sizeof(a.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(a.sun_path, str_text(&path), path.length);
	return connect_to(&a, SOCK_STREAM, geteuid());
}

const char *reach_shared_directory(void)
{
	const char *named = paths_from_env("INTERCOM_SHARED");

	return named ? named : SHARED;
}

/* Its directory, which only its user may write to, and that user; -1 with errno. */
static int open_shared(uid_t *ret_owner)
{
	int dir = open(reach_shared_directory(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat about;

	if (dir < 0)
		return -1;
	if (fstat(dir, &about) == 0 && !(about.st_mode & NOT_WRITTEN_BY_OTHERS)) {
		*ret_owner = about.st_uid;
		return dir;
	}
	(void)close(dir);
	errno = EPERM;
	return -1;
}

bool reach_shared_is_open(const char *name)
{
	uid_t owner;
	int dir = open_shared(&owner);
	bool open = dir >= 0 && owner != geteuid() && faccessat(dir, name, W_OK, AT_EACCESS) == 0;

	io_shut(&dir);
	return open;
}

bool reach_shared_serves(void)
{
	return reach_shared_is_open(REACH_AGENTS) || reach_shared_is_open(REACH_OPERATORS);
}

bool reach_shared_bars_agents(void)
{
	return !reach_shared_is_open(REACH_AGENTS) && errno == EACCES;
}

bool reach_shared_excludes(void)
{
	return reach_shared_bars_agents() && !reach_shared_is_open(REACH_OPERATORS);
}

int reach_shared(const char *name, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	uid_t owner;
	int dir = open_shared(&owner);
	int fd;

	if (dir < 0)
		return -1;
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", dir, name);
	fd = connect_to(&a, type, owner);
	io_shut(&dir);
	return fd;
}

/* Whether the usual configuration may name its system: then it has to be read. */
static bool names_a_system(void)
{
	OWNED(str) struct str path = { 0 }, text = { 0 };
	int fd, got;

	if (paths_config_home(&path, NULL))
		return true;
	str_addf(&path, "/%s/config.toml", USUAL_NAME);
	fd = open(str_text(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	got = io_read_all(fd, CONFIG_BYTES_MAX, &text);
	(void)close(fd);
	/* A key may be written with escapes, too. */
	return got != 0 || memmem(str_text(&text), text.length, "ipc_name", 8) ||
	       memchr(str_text(&text), '\\', text.length);
}

static bool find_named(const char *base, struct str *run)
{
	OWNED(str) struct str link = { 0 };
	char target[16];
	ssize_t length;

	str_addf(&link, "%s/%s", base, USUAL_NAME);
	length = readlink(str_text(&link), target, sizeof(target) - 1);
	if (length <= 0)
		return false;
	target[length] = '\0';
	if (strchr(target, '/') || target[0] == '.')
		return false;
	str_reset(&link);
	str_addf(&link, "%s/%s", base, target);
	if (paths_check_ours(base, NOT_FOR_OTHERS, NULL) ||
	    paths_check_ours(str_text(&link), NOT_FOR_OTHERS, NULL))
		return false;
	str_add(run, str_text(&link));
	return true;
}

bool reach_usual(struct str *run)
{
	OWNED(str) struct str base = { 0 };
	const char *env = getenv("INTERCOM_CONFIG");

	if ((env && *env) || names_a_system())
		return false;
	if (paths_runtime_base(&base, NULL) > 0 && find_named(str_text(&base), run))
		return true;
	str_reset(&base);
	return paths_state_base(&base, NULL) == 0 && find_named(str_text(&base), run);
}
