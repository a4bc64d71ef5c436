/* ignore: what the .gitignore files of a workspace leave out, judged as git does. */
#ifndef IGNORE_H
#define IGNORE_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	/* Of the files of patterns that judge one path, together: a workspace with more makes who
	 * judges its paths slow, and nobody writes so many. */
	IGNORE_BYTES_MAX = 128 << 10,
};

struct ignore_pattern {
	const char *text; /* in struct ignore.texts */
	bool negated; /* "!": not ignored */
	bool dirs_only; /* ended in "/" */
	bool anchored; /* has a slash: matches the path below the folder, not a name anywhere */
};

/* One file of patterns. */
struct ignore {
	char *texts;
	struct ignore_pattern *patterns;
	size_t count;
	size_t length; /* bytes that were read */
	size_t skip; /* bytes of a path before the part below the file's folder */
};

/* Reads the bytes of a .gitignore in the folder dir ("" for the workspace itself, else "a/b").
 * Whatever they are: a line that is no pattern, or has more than 4096 bytes, matches nothing. i
 * must be fresh. */
void ignore_read(struct ignore *i, const char *dir, const char *bytes, size_t length);
void ignore_clear(struct ignore *i);

/* How many bytes the next file may have below these: a longer one says nothing. */
size_t ignore_room(const struct ignore *above, size_t count);

enum ignore_says { IGNORE_NOTHING, IGNORE_IT, IGNORE_KEEP };

/* What the file says of a path of the workspace below its folder: the last pattern that fits
 * decides. Of several files, the deepest that says something decides; what is below an ignored
 * directory is ignored and not asked about. */
enum ignore_says ignore_judge(const struct ignore *i, const char *path, bool is_dir);

#endif
