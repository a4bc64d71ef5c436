#include "regular.h"

#include "pulse.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	CHUNK_BYTES = 65536,
	XATTR_NAMES_BYTES = 4096, /* attributes beyond this are not copied */
	XATTR_VALUE_BYTES = 65536,
};

int regular_open(int dir_fd, const char *name, struct stat *st)
{
	int fd, error = 0;

	if (fstatat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (!S_ISREG(st->st_mode)) {
		errno = EEXIST;
		return -1;
	}
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, st))
		error = errno;
	else if (!S_ISREG(st->st_mode))
		error = EEXIST;
	if (!error)
		return fd;
	(void)close(fd);
	errno = error;
	return -1;
}

int regular_hash(int fd, char hash[SHA256_BYTES])
{
	char chunk[CHUNK_BYTES];
	struct sha256_state *sum = sha256_begin();
	struct sha256 result;
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)) {
		pulse();
		if (n > 0)
			sha256_add(sum, chunk, (size_t)n);
	}
	result = sha256_end(sum);
	memcpy(hash, result.text, SHA256_BYTES);
	return n < 0 ? -1 : 0;
}

void regular_copy_attributes(int from, int to)
{
	char names[XATTR_NAMES_BYTES];
	char *value = NULL;
	ssize_t length = flistxattr(from, names, sizeof(names));

	if (length <= 0)
		return;
	value = xmalloc(XATTR_VALUE_BYTES);
	for (const char *name = names; name < names + length; name += strlen(name) + 1) {
		ssize_t n = fgetxattr(from, name, value, XATTR_VALUE_BYTES);

		if (n >= 0)
			(void)fsetxattr(to, name, value, (size_t)n, 0);
	}
	free(value);
}
