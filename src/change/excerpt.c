#include "excerpt.h"

#include "files.h"
#include "safe_path.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
	CHUNK_BYTES = 65536,
	NAME_SHOWN = 200, /* of a path in an error text */
};

void excerpt_clear(struct excerpt *x)
{
	str_clear(&x->text);
	*x = (struct excerpt){ 0 };
}

/* ---- refusals ---- */

static int refuse(struct err *e, const char *path, const char *why)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, path, strlen(path), NAME_SHOWN);
	return err_set(e, ERR_INPUT, "%s %s", str_text(&shown), why);
}

static int too_large(struct err *e, const char *path, int64_t bytes, bool in_part)
{
	OWNED(str) struct str why = { 0 };

	if (in_part)
		str_addf(&why, "has more than %d bytes in these lines: name fewer", EXCERPT_BYTES);
	else if (bytes > EXCERPT_FILE_BYTES)
		str_addf(&why, "is too large: %lld bytes", (long long)bytes);
	else
		str_addf(&why,
		         "is too large: %lld bytes, and at most %d are shown; "
		         "`--lines 1:100` shows some of them",
		         (long long)bytes, EXCERPT_BYTES);
	return refuse(e, path, why.bytes);
}

/* ---- lines ---- */

/* Takes what belongs to the excerpt out of a chunk, and counts. False: it is too much. */
static bool take(struct excerpt *x, const char *chunk, size_t n, bool *in_line)
{
	while (n > 0) {
		const char *newline = memchr(chunk, '\n', n);
		size_t length = newline ? (size_t)(newline - chunk) + 1 : n;
		size_t number = x->lines + 1;

		if (number >= x->first && number <= x->last) {
			if (length > EXCERPT_BYTES - x->text.length)
				return false;
			str_add_bytes(&x->text, chunk, length);
		}
		x->lines += newline != NULL;
		*in_line = !newline;
		chunk += length;
		n -= length;
	}
	return true;
}

/* A NUL anywhere makes it binary, also outside of the lines that are shown. */
static int read_lines(int fd, const char *path, struct excerpt *x, struct err *e)
{
	char chunk[CHUNK_BYTES];
	bool in_line = false, in_part = x->first > 1 || x->last != SIZE_MAX;
	ssize_t n;

	while ((n = files_read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, ERR_AGAIN, "cannot read %s", path);
		if (memchr(chunk, '\0', (size_t)n))
			return refuse(e, path, "is a binary file, which is not shown");
		x->bytes += n;
		if (!take(x, chunk, (size_t)n, &in_line) || x->bytes > EXCERPT_FILE_BYTES)
			return too_large(e, path, x->bytes, in_part);
	}
	x->lines += in_line;
	return 0;
}

static int check(const char *path, struct excerpt *x, struct err *e)
{
	OWNED(str) struct str why = { 0 };

	if (!utf8_valid(str_text(&x->text), x->text.length))
		return refuse(e, path, "is no text in UTF-8, and is not shown");
	if (x->first > x->lines && x->first > 1) {
		str_addf(&why, "has %zu line%s", x->lines, x->lines == 1 ? "" : "s");
		return refuse(e, path, why.bytes);
	}
	if (x->last > x->lines)
		x->last = x->lines;
	if (x->first > x->last)
		x->first = x->last;
	return 1;
}

int excerpt_read(int root_fd, const char *relative, size_t first, size_t last, struct excerpt *x,
                 struct err *e)
{
	struct stat about;
	int fd = -1, got = safe_path_open_file(root_fd, relative, &fd, &about, e);

	if (got <= 0)
		return got;
	x->first = first ? first : 1;
	x->last = first ? last : SIZE_MAX;
	x->modified_ms = (int64_t)about.st_mtim.tv_sec * 1000 + about.st_mtim.tv_nsec / 1000000;
	if (about.st_size > (first ? EXCERPT_FILE_BYTES : EXCERPT_BYTES))
		got = too_large(e, relative, about.st_size, false);
	else
		got = read_lines(fd, relative, x, e);
	(void)files_close(fd);
	return got ? -1 : check(relative, x, e);
}
