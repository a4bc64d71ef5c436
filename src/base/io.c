#include "io.h"

#include "err.h"
#include "pulse.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_BYTES = 4 << 20 };

int io_write_all(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		ssize_t n = write(fd, at, length < FLUSH_BYTES ? length : FLUSH_BYTES);

		pulse();
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += n;
		length -= (size_t)n;
	}
	return 0;
}

int io_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
	int error;

	if (renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system that does not support the flag. */
	if (linkat(from_dir, from, to_dir, to, 0) != 0)
		return -1;
	if (unlinkat(from_dir, from, 0) == 0)
		return 0;
	error = errno;
	(void)unlinkat(to_dir, to, 0);
	errno = error;
	return -1;
}

int io_flush_name(const char *path)
{
	OWNED(char_ptr) char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	int fd, failed, error;

	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	failed = fsync(fd);
	error = errno;
	(void)close(fd);
	errno = error;
	return failed;
}

int io_flush_gently(int fd)
{
	struct stat about;

	if (fstat(fd, &about) != 0)
		return -1;
	for (off_t at = 0; at < about.st_size; at += FLUSH_BYTES) {
		pulse();
		(void)sync_file_range(fd, at, FLUSH_BYTES,
		                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
		                          SYNC_FILE_RANGE_WAIT_AFTER);
	}
	return fsync(fd); /* only its result proves that the data is on disk */
}

DIR *open_listing(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);

	if (!d && copy >= 0)
		(void)close(copy);
	return d;
}
