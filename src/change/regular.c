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

mode_t regular_copied_mode(int from, mode_t old, int to, mode_t mode)
{
	const mode_t common = files_common_mode(from);

	if (common == FILES_ALL_MODES)
		return mode;
	if (files_common_mode(to) == FILES_ALL_MODES)
		return mode & common;
	return (mode & 0777) == (old & common & 0777) ? mode | (old & 0777) : mode;
}
