/* A library for LD_PRELOAD: each write takes a part of what it is given, as on a disk that is
 * almost full. It makes the real calls directly, so that no sanitizer interferes. */
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST = 1000 };

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset);

static size_t part(size_t size)
{
	return size / 2 < MOST ? (size + 1) / 2 : MOST;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	return syscall(SYS_write, fd, bytes, part(size));
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	return syscall(SYS_pwrite64, fd, bytes, part(size), offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
	return syscall(SYS_pwrite64, fd, bytes, part(size), offset);
}
