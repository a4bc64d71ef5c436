#include "regular.h"

#include "files.h"
#include "pulse.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 65536 };

int regular_open(int dir_fd, const char *name, struct stat *st)
{
	int fd;

	if (files_stat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (!S_ISREG(st->st_mode)) {
		errno = EEXIST;
		return -1;
	}
	fd = files_open(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (files_look(fd, st) == 0) {
		if (S_ISREG(st->st_mode))
			return fd;
		errno = EEXIST;
	}
	files_close_quietly(fd);
	return -1;
}

int regular_hash(int fd, char hash[SHA256_BYTES])
{
	char chunk[CHUNK_BYTES];
	struct sha256_state *sum = sha256_begin();
	struct sha256 result;
	ssize_t n;

	while ((n = files_read(fd, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)) {
		pulse();
		if (n > 0)
			sha256_add(sum, chunk, (size_t)n);
	}
	result = sha256_end(sum);
	memcpy(hash, result.text, SHA256_BYTES);
	return n < 0 ? -1 : 0;
}

mode_t regular_set_id(mode_t mode)
{
	return mode & (S_ISUID | (mode & S_IXGRP ? S_ISGID : 0));
}

/* The mode of a file whose group has become another one: its old group's members are others now. */
static mode_t without_group(mode_t mode)
{
	const mode_t both = mode >> 3 & mode & 07;

	return (mode & ~(mode_t)077) | both << 3 | both;
}

/* The mode that goes with the access lists that both have now. */
static mode_t copied_mode(mode_t common, mode_t old, int to, mode_t mode)
{
	if (common == FILES_ALL_MODES)
		return mode;
	if (files_common_mode(to) == FILES_ALL_MODES)
		return mode & common;
	return (mode & 0777) == (old & common & 0777) ? mode | (old & 0777) : mode;
}

static bool gets_group(int fd, gid_t group)
{
	struct stat st;

	return (files_look(fd, &st) == 0 && st.st_gid == group) ||
	       files_chown(fd, (uid_t)-1, group) == 0;
}

mode_t regular_take_group(int fd, gid_t group, mode_t mode)
{
	return gets_group(fd, group) ? mode : without_group(mode);
}

mode_t regular_take_over(int from, const struct stat *old, int to, mode_t mode, bool attributes)
{
	const mode_t common = files_common_mode(from);
	struct stat st;
	bool has_group = true;

	if ((files_look(to, &st) || st.st_uid != old->st_uid || st.st_gid != old->st_gid) &&
	    files_chown(to, old->st_uid, old->st_gid)) {
		mode &= ~(mode_t)(S_ISUID | S_ISGID);
		has_group = gets_group(to, old->st_gid);
	}
	if (attributes)
		files_copy_attributes(from, to);
	return has_group ? copied_mode(common, old->st_mode, to, mode)
	                 : without_group(mode & common);
}
