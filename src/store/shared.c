#include "shared.h"

#include "group_id.h"
#include "paths.h"
#include "setting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOT_WRITTEN_BY_OTHERS = 022, BACKLOG = 1024, NAME_BYTES = 40 };

static const char DIRECTORY[] = "shared.directory";

int shared_open(struct store *st, int *ret_fd, struct err *e)
{
	OWNED(str) struct str path = { 0 };

	*ret_fd = -1;
	if (setting_get(st, DIRECTORY, &path, e) < 0)
		return -1;
	if (!path.length)
		return 0;
	if (paths_check_ours(path.bytes, NOT_WRITTEN_BY_OTHERS, e))
		return err_prefix(e, "%s", DIRECTORY);
	*ret_fd = open(path.bytes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? err_errno(e, ERR_INPUT, "%s: %s", DIRECTORY, path.bytes) : 1;
}

int shared_group(struct store *st, const char *setting, gid_t *ret, struct err *e)
{
	OWNED(str) struct str name = { 0 };

	if (setting_get(st, setting, &name, e) < 0)
		return -1;
	return group_id_find(str_text(&name), ret, e) ? err_prefix(e, "%s", setting) : 0;
}

/* As the rule of `command` says it. */
static const char SHARED_STARTS_NOTHING[] =
    "a system that serves several users starts no agents and no commands: they would run as its "
    "own user, who may do everything";

int shared_start_socket(struct store *st, struct str *out, struct err *e)
{
	OWNED(str) struct str directory = { 0 };
	int got = setting_get(st, DIRECTORY, &directory, e);

	if (got < 0 || !directory.length)
		return got < 0 ? -1 : 0;
	if (setting_get(st, "shared.start_socket", out, e) < 0)
		return -1;
	if (access(str_text(out), W_OK) == 0)
		return 1;
	return err_set(e, ERR_INPUT, "%s; what starts them as others does not run (%s)",
	               SHARED_STARTS_NOTHING, str_text(out));
}

/* Made under another name: what has its own name always says who may connect, and who connects
 * there finds somebody who listens. */
static int make(int fd, int dir, const char *name, const struct shared_door *door)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	mode_t before = umask(door->is_wide ? 0111 : 0117);
	char draft[NAME_BYTES];
	int failed;

	(void)snprintf(draft, sizeof(draft), "%.30s.new", name);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", dir, draft);
	(void)unlinkat(dir, draft, 0);
	failed = bind(fd, (const struct sockaddr *)&a, sizeof(a));
	(void)umask(before);
	if (failed || fchownat(dir, draft, (uid_t)-1, door->group, AT_SYMLINK_NOFOLLOW) ||
	    listen(fd, BACKLOG) || renameat(dir, draft, dir, name))
		return -1;
	return 0;
}

int shared_listen(int dir, const char *name, const struct shared_door *door, struct err *e)
{
	int fd = socket(AF_UNIX, door->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool is_foreign;

	if (fd >= 0 && make(fd, dir, name, door) == 0)
		return fd;
	is_foreign = errno == EPERM;
	(void)err_errno(e, is_foreign ? ERR_INPUT : ERR_AGAIN, "cannot listen on %s in %s%s", name,
	                DIRECTORY, is_foreign ? ": our user must be in its group" : "");
	if (fd >= 0)
		(void)close(fd);
	return -1;
}
