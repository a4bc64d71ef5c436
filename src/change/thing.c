#include "thing.h"

#include "files.h"
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static int look_at_link(int dir_fd, const char *name, struct thing *t)
{
	char target[PATH_MAX];
	ssize_t n = files_read_link(dir_fd, name, target, sizeof(target));

	if (n < 0)
		return -1;
	t->kind = THING_LINK;
	memcpy(t->hash, sha256_of(target, (size_t)n).text, sizeof(t->hash));
	return 0;
}

static int look_at_file(int dir_fd, const char *name, struct thing *t, struct stat *st)
{
	int fd = regular_open(dir_fd, name, st), failed;

	if (fd < 0)
		return -1;
	t->kind = THING_FILE;
	t->mode = (int)(st->st_mode & files_common_mode(fd));
	failed = regular_hash(fd, t->hash);
	files_close_quietly(fd);
	return failed;
}

/* One that cannot be read has its list, if any, on its side. */
static int mode_of_directory(int dir_fd, const char *name, const struct stat *st)
{
	int fd = files_open(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	mode_t common = fd < 0 ? FILES_ALL_MODES : files_common_mode(fd);

	if (fd >= 0)
		(void)files_close(fd);
	return (int)(st->st_mode & common);
}

int thing_look(int dir_fd, const char *name, struct thing *t, struct stat *st)
{
	struct stat own;

	*t = (struct thing){ .kind = THING_NONE };
	st = st ? st : &own;
	if (files_stat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -1;
	if (S_ISLNK(st->st_mode))
		return look_at_link(dir_fd, name, t);
	if (S_ISREG(st->st_mode))
		return look_at_file(dir_fd, name, t, st);
	t->kind = S_ISDIR(st->st_mode) ? THING_DIRECTORY : THING_OTHER;
	t->mode = S_ISDIR(st->st_mode) ? mode_of_directory(dir_fd, name, st) : 0;
	return 0;
}

bool thing_is_same(const struct thing *a, const struct thing *b)
{
	return a->kind == b->kind && a->mode == b->mode && strcmp(a->hash, b->hash) == 0;
}

const char *thing_kind_name(enum thing_kind kind)
{
	static const char *const NAMES[] = { [THING_NONE] = "nothing",
		                             [THING_FILE] = "a file",
		                             [THING_LINK] = "a symlink",
		                             [THING_DIRECTORY] = "a directory",
		                             [THING_OTHER] = "no file, link or directory" };

	return NAMES[kind];
}
