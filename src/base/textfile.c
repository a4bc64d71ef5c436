/* See textfile.h. */
#include "textfile.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	PERMISSIONS = 07777,
	FOR_READING = 0644, /* by others, at most: whatever the umask, they write nothing of ours */
	DIRECTORY_FOR_READING = 0755,
	LOCK_TRIES = 100,
	LOCK_PAUSE_MS = 20,
};

/* ---- reading ---- */

static int read_open(int fd, struct textfile *f, struct err *e)
{
	int more;

	if (fstat(fd, &f->about) != 0)
		return err_errno(e, ERR_AGAIN, "%s", f->path);
	if (!S_ISREG(f->about.st_mode))
		return err_set(e, ERR_INPUT, "%s: is not a regular file", f->path);
	f->exists = true;
	f->mode = f->about.st_mode & PERMISSIONS;
	more = io_read_all(fd, TEXTFILE_BYTES_MAX, &f->bytes);
	if (more < 0)
		return err_errno(e, ERR_AGAIN, "%s: cannot be read", f->path);
	if (more)
		return err_set(e, ERR_INPUT, "%s: is larger than %d MB", f->path,
		               TEXTFILE_BYTES_MAX >> 20);
	return 0;
}

int textfile_look(const char *path, size_t most, struct str *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), more = -1;
	struct stat about;

	if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
		more = io_read_all(fd, most, out);
	io_shut(&fd);
	if (more < 0)
		return 0;
	return more ? -1 : 1;
}

int textfile_read(const char *path, struct textfile *f, struct err *e)
{
	char real[PATH_MAX];
	struct stat link;
	mode_t mask = umask(0);
	int fd, failed;

	(void)umask(mask);
	f->mode = FOR_READING & ~mask;
	f->path = xstrdup(path);
	if (!realpath(path, real)) {
		if (errno != ENOENT)
			return err_errno(e, ERR_INPUT, "%s", path);
		if (lstat(path, &link) == 0)
			return err_set(e, ERR_INPUT, "%s: is a link to a file that is not there",
			               path);
		f->target = xstrdup(path);
		return 0;
	}
	f->target = xstrdup(real);
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_errno(e, ERR_INPUT, "%s: cannot be opened", path);
	failed = read_open(fd, f, e);
	(void)close(fd);
	return failed;
}

/* ---- writing ---- */

/* Whether the file is still as it was read. */
static int check_same(const struct textfile *f, struct err *e)
{
	OWNED(textfile) struct textfile now = { 0 };

	if (textfile_read(f->target, &now, e))
		return -1;
	if (now.exists != f->exists || now.bytes.length != f->bytes.length ||
	    memcmp(str_text(&now.bytes), str_text(&f->bytes), f->bytes.length) != 0)
		return err_set(e, ERR_AGAIN, "%s: was just changed by someone else; try again",
		               f->path);
	return 0;
}

/* Writes a new file with the mode and owner of f. */
static int write_file(const struct textfile *f, const char *path, const struct str *bytes,
                      struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int failed;

	if (fd < 0)
		return err_errno(e, ERR_AGAIN, "%s: cannot be created", path);
	/* Owner first: chown clears the set-id bits. Where chown is not permitted, we are the owner
	 * already. */
	failed = f->exists && (f->about.st_uid != geteuid() || f->about.st_gid != getegid()) &&
	         fchown(fd, f->about.st_uid, f->about.st_gid) != 0 && errno != EPERM;
	failed |= fchmod(fd, f->mode) != 0 || io_write_all(fd, str_text(bytes), bytes->length) ||
	          fsync(fd) != 0;
	failed |= close(fd) != 0;
	if (!failed)
		return 0;
	(void)err_errno(e, ERR_AGAIN, "%s: cannot be written", path);
	(void)unlink(path);
	return -1;
}

static void lock_clear(int *fd)
{
	io_shut(fd);
}

/* Keeps others of us out of a file's folder. Returns its descriptor, which the caller closes. */
static int lock_folder(const char *file, struct err *e)
{
	OWNED(char_ptr) char *folder = xstrdup(file);
	char *slash = strrchr(folder, '/');
	int fd;

	if (slash)
		slash[slash == folder] = '\0';
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
		if (i < LOCK_TRIES && (errno == EWOULDBLOCK || errno == EINTR)) {
			(void)poll(NULL, 0, LOCK_PAUSE_MS);
			continue;
		}
		io_shut(&fd);
		return err_set(e, ERR_AGAIN, "%s: somebody else is changing it; try again", file);
	}
	return fd >= 0 ? fd : err_errno(e, ERR_INPUT, "%s: its folder cannot be opened", file);
}

/* Who may read the file can get to it: where others shall, the umask does not count. */
static int make_folders(const struct textfile *f)
{
	mode_t mask = umask(S_IWGRP | S_IWOTH);
	int failed;

	if (!(f->mode & S_IROTH))
		(void)umask(mask);
	failed = io_make_parents(f->target, DIRECTORY_FOR_READING);
	(void)umask(mask);
	return failed;
}

int textfile_replace(const struct textfile *f, const struct str *bytes, struct err *e)
{
	OWNED(str) struct str draft = { 0 };
	OWNED(lock) int lock = -1;

	if (!f->exists && make_folders(f))
		return err_errno(e, ERR_INPUT, "%s: its folder cannot be made", f->target);
	lock = lock_folder(f->target, e);
	if (lock < 0)
		return -1;
	str_addf(&draft, "%s.intercom-%d", f->target, (int)getpid());
	if (write_file(f, str_text(&draft), bytes, e))
		return -1;
	if (check_same(f, e)) { /* as late as possible: who else writes it heeds no lock */
		(void)unlink(str_text(&draft));
		return -1;
	}
	if (rename(str_text(&draft), f->target) != 0) {
		(void)err_errno(e, ERR_AGAIN, "%s: cannot be replaced", f->target);
		(void)unlink(str_text(&draft));
		return -1;
	}
	(void)io_flush_name(f->target);
	return 0;
}

int textfile_remove(const struct textfile *f, struct err *e)
{
	OWNED(lock) int lock = lock_folder(f->target, e);

	if (lock < 0 || check_same(f, e))
		return -1;
	if (unlink(f->target) != 0)
		return err_errno(e, ERR_AGAIN, "%s: cannot be removed", f->target);
	(void)io_flush_name(f->target);
	return 0;
}

int textfile_keep(const struct textfile *f, const char *suffix, struct err *e)
{
	OWNED(str) struct str path = { 0 };
	struct stat about;

	str_addf(&path, "%s%s", f->target, suffix);
	if (!f->exists || lstat(str_text(&path), &about) == 0)
		return 0;
	return write_file(f, str_text(&path), &f->bytes, e);
}

void textfile_clear(struct textfile *f)
{
	free(f->path);
	free(f->target);
	str_clear(&f->bytes);
	*f = (struct textfile){ 0 };
}

/* ---- blocks ---- */

void textfile_add_block(struct str *text, const char *block)
{
	if (text->length > 0 && text->bytes[text->length - 1] != '\n')
		str_add_char(text, '\n');
	if (text->length > 1 && text->bytes[text->length - 2] != '\n')
		str_add_char(text, '\n');
	str_add(text, block);
}

void textfile_cut_block(struct str *text, size_t start, size_t end)
{
	OWNED(str) struct str rest = { 0 };
	const char *s = str_text(text);
	bool spaced = start > 1 && s[start - 1] == '\n' && s[start - 2] == '\n';

	if (end == text->length && spaced)
		start--;
	else if (s[end] == '\n' && (spaced || start == 0))
		end++;
	str_add_bytes(&rest, s, start);
	str_add_bytes(&rest, s + end, text->length - end);
	str_move(text, &rest);
}
