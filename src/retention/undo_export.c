#include "undo_export.h"

#include "backup.h"
#include "content.h"
#include "io.h"
#include "json_writer.h"
#include "sha256.h"
#include "sql/apply.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FEW = 20, /* images at a time: they may be large */
	PIECE_BYTES = 4096, /* of a file that is compared */
};

struct image {
	int64_t content_seq, size;
	struct sha256 hash;
};

/* The images, and the lines that describe them. */
struct images {
	struct image items[FEW];
	int count;
	struct str lines;
	char day[11];
};

static void add_line(struct str *lines, const struct file_change_images_row *row)
{
	char mode[16];

	(void)snprintf(mode, sizeof(mode), "%04o", (unsigned)row->mode_before);
	json_object(lines);
	json_member(lines, "workspace", row->workspace_root);
	json_member(lines, "path", row->path);
	json_member(lines, "action", file_change_action_name(row->action));
	json_member(lines, "mode", mode);
	json_member(lines, "request_id", row->request_id);
	json_member(lines, "written_at", row->updated_at);
	json_member_int(lines, "size", row->size);
	json_member(lines, "hash", row->hash);
	json_object_end(lines);
	str_add_char(lines, '\n');
}

static int read_images(struct store *st, const struct instant *cutoff, struct images *images,
                       struct str *rows, struct err *e)
{
	OWNED(file_change_images_row) struct file_change_images_row row = { 0 };
	int got;

	str_reset(rows);
	sql_file_change_images(st, cutoff->text, FEW, &row);
	while ((got = row_next(&row.row, e)) > 0 && images->count < FEW) {
		struct image *i = &images->items[images->count++];

		i->content_seq = row.before_seq;
		i->size = row.size;
		(void)snprintf(i->hash.text, sizeof(i->hash.text), "%s", row.hash);
		if (images->count == 1)
			(void)snprintf(images->day, sizeof(images->day), "%.10s", row.updated_at);
		str_addf(rows, "%s%" PRId64, images->count > 1 ? "," : "[", row.seq);
		add_line(&images->lines, &row);
	}
	if (images->count)
		str_add_char(rows, ']');
	return got < 0 ? -1 : 0;
}

/* Whether it is a file of ours with these bytes: somebody else could change theirs later. */
static bool is_written(const char *path, const char *bytes, size_t length)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char piece[PIECE_BYTES];
	struct stat about;
	size_t had = 0;
	bool same = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
	            about.st_uid == geteuid() && (size_t)about.st_size == length;

	while (same && had < length) {
		ssize_t n = read(fd, piece, sizeof(piece));

		same = n > 0 && (size_t)n <= length - had &&
		       memcmp(piece, bytes + had, (size_t)n) == 0;
		had += same ? (size_t)n : 0;
	}
	io_shut(&fd);
	return same;
}

/* Its name says what is in it: an earlier run may have written it. */
static int put(struct staging *n, const char *path, const void *bytes, size_t length, struct err *e)
{
	struct stat about;
	FILE *out;
	bool written;

	if (is_written(path, bytes, length))
		return 0;
	if (lstat(path, &about) == 0)
		return err_set(e, ERR_INPUT,
		               "%s (of uid %u) is not what belongs there under that name; remove "
		               "it, and let nobody else write in that folder",
		               path, (unsigned)about.st_uid);
	out = staging_create(n, e);
	if (!out)
		return -1;
	written = fwrite(bytes, 1, length, out) == length;
	if (fclose(out) != 0 || !written)
		return err_errno(e, ERR_AGAIN, "cannot write %s", path);
	return staging_publish(n, path, e);
}

static int put_image(struct store *st, struct staging *n, const char *dir, const struct image *i,
                     struct err *e)
{
	OWNED(str) struct str path = { 0 }, bytes = { 0 };

	str_addf(&path, "%s/undo-%s", dir, i->hash.text);
	if (content_get(st, i->content_seq, &bytes, e))
		return -1;
	return put(n, path.bytes, str_text(&bytes), bytes.length, e);
}

static int put_all(struct store *st, const char *dir, const struct images *images, struct err *e)
{
	OWNED(staging) struct staging n = STAGING_INIT;
	OWNED(str) struct str path = { 0 };
	struct sha256 hash = sha256_of(str_text(&images->lines), images->lines.length);

	str_addf(&path, "%s/undo-%s-%.16s.jsonl", dir, images->day, hash.text);
	if (staging_open(&n, path.bytes, e))
		return -1;
	for (int i = 0; i < images->count; i++)
		if (put_image(st, &n, dir, &images->items[i], e))
			return -1;
	return put(&n, path.bytes, str_text(&images->lines), images->lines.length, e);
}

int undo_export(struct store *st, const char *dir, const struct instant *cutoff, struct str *rows,
                struct err *e)
{
	struct images images = { .count = 0 };
	int result = read_images(st, cutoff, &images, rows, e);

	if (result == 0 && images.count)
		result = put_all(st, dir, &images, e);
	str_clear(&images.lines);
	return result ? -1 : images.count;
}
