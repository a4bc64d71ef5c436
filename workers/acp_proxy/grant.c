#include "grant.h"

#include "gate_replace.h"
#include "json.h"
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct grant {
	STAILQ_ENTRY(grant) next;
	char *path; /* of a file, NULL: of a command */
	struct sha256 before; /* of a command: the place of its folder */
	struct sha256 after;
	char *command, *folder;
};

static const char NONE[] = "no file";

void grants_init(struct grants *g)
{
	STAILQ_INIT(&g->all);
	g->count = 0;
}

static void drop(struct grants *g, struct grant *one)
{
	STAILQ_REMOVE(&g->all, one, grant, next);
	g->count--;
	free(one->path);
	free(one->command);
	free(one->folder);
	free(one);
}

void grants_clear(struct grants *g)
{
	while (!STAILQ_EMPTY(&g->all))
		drop(g, STAILQ_FIRST(&g->all));
}

/* In place of the oldest where there are too many. */
static struct grant *keep(struct grants *g, struct grant *one)
{
	if (g->count == GRANTS_MAX)
		drop(g, STAILQ_FIRST(&g->all));
	STAILQ_INSERT_TAIL(&g->all, one, next);
	g->count++;
	return one;
}

/* ---- files ---- */

/* 1 read, 0 there is none, -1 it is not looked at; st says what it is then. */
static int read_file(const char *path, struct str *bytes, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char piece[64 << 10];
	ssize_t n = -1;

	memset(st, 0, sizeof(*st));
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_size <= GRANT_FILE_BYTES)
		while ((n = read(fd, piece, sizeof(piece))) > 0 &&
		       bytes->length <= GRANT_FILE_BYTES)
			str_add_bytes(bytes, piece, (size_t)n);
	(void)close(fd);
	return n == 0 ? 1 : -1;
}

/* Which file it is, and by how many names: the same bytes may be those of another one. */
static void add_inode(struct str *out, const struct stat *st)
{
	str_addf(out, " %llx %llx %llx", (unsigned long long)st->st_dev,
	         (unsigned long long)st->st_ino, (unsigned long long)st->st_nlink);
}

static struct sha256 describe(const char *path, const struct str *bytes, int got,
                              const struct stat *st)
{
	OWNED(str) struct str text = { 0 };

	if (got > 0)
		str_add(&text, sha256_of(str_text(bytes), bytes->length).text);
	else if (got == 0)
		str_add(&text, NONE);
	else
		str_addf(&text, "%llx %lld.%09ld", (unsigned long long)st->st_size,
		         (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	add_inode(&text, st);
	str_add_char(&text, ' ');
	path_real(path, &text);
	return sha256_of(text.bytes, text.length);
}

struct sha256 grant_look(const char *path)
{
	OWNED(str) struct str bytes = { 0 };
	struct stat st;
	int got = read_file(path, &bytes, &st);

	return describe(path, &bytes, got, &st);
}

/* One diff of a permission: {path, oldText, newText}. If it cannot be computed, nothing is granted
 * and the write is asked about. */
static void add_diff(struct grants *g, const cJSON *diff)
{
	OWNED(str) struct str file = { 0 };
	OWNED(str) struct str after = { 0 };
	const char *path = json_text(diff, "path"), *text = json_text(diff, "newText");
	const char *old = json_text(diff, "oldText");
	const struct gate_replace r = { .old_text = old ? old : "", .new_text = text };
	struct grant *one;
	struct stat st;
	int got;

	if (!path || !text)
		return;
	got = read_file(path, &file, &st);
	if (got == 0 && lstat(path, &st) == 0)
		return; /* a link: what it leads to may be one, too, by then */
	if (got < 0 || gate_replace(&r, got ? &file : NULL, &after, NULL))
		return;
	one = keep(g, xcalloc(1, sizeof(*one)));
	one->path = xstrdup(path);
	one->before = describe(path, &file, got, &st);
	one->after = sha256_of(str_text(&after), after.length);
}

/* ---- commands ---- */

static char *folder_of(const char *cwd, const char *folder)
{
	struct str path = { 0 };

	if (!cwd || cwd[0] != '/')
		str_add(&path, folder);
	if (cwd && cwd[0] != '/')
		str_add_char(&path, '/');
	str_add(&path, cwd ? cwd : "");
	return str_take(&path);
}

static struct sha256 place_of(const char *folder)
{
	OWNED(str) struct str real = { 0 };
	struct stat st = { 0 };

	path_real(folder, &real);
	(void)stat(folder, &st);
	st.st_nlink = 0; /* it counts the folders in it */
	add_inode(&real, &st);
	return sha256_of(real.bytes, real.length);
}

/* ---- */

void grant_add(struct grants *g, const struct acp_inquiry *ask, const cJSON *content,
               const char *folder)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, content)
		if (json_says(item, "type", "diff"))
			add_diff(g, item);
	if (ask->command.length && !ask->is_unclear) {
		struct grant *one = keep(g, xcalloc(1, sizeof(*one)));

		one->command = xstrdup(ask->command.bytes);
		one->folder = folder_of(ask->cwd, folder);
		one->before = place_of(one->folder);
	}
}

static bool is_same(const struct sha256 *one, const struct sha256 *other)
{
	return strcmp(one->text, other->text) == 0;
}

static bool is_as_before(const struct grant *one)
{
	const struct sha256 now = one->path ? grant_look(one->path) : place_of(one->folder);

	return is_same(&one->before, &now);
}

bool grants_stand(const struct grants *g)
{
	const struct grant *one;

	STAILQ_FOREACH (one, &g->all, next)
		if (!is_as_before(one))
			return false;
	return true;
}

void grants_move(struct grants *from, struct grants *to)
{
	struct grant *one;

	while ((one = STAILQ_FIRST(&from->all))) {
		if (!is_as_before(one)) {
			drop(from, one);
			continue;
		}
		STAILQ_REMOVE_HEAD(&from->all, next);
		from->count--;
		(void)keep(to, one);
	}
}

bool grant_take_write(struct grants *g, const char *path, const char *content, size_t length)
{
	const struct sha256 after = sha256_of(content, length);
	struct sha256 now = { "" };
	struct grant *one;

	STAILQ_FOREACH (one, &g->all, next) {
		if (!one->path || strcmp(one->path, path) != 0 || !is_same(&one->after, &after))
			continue;
		if (!now.text[0])
			now = grant_look(path);
		if (!is_same(&one->before, &now))
			continue;
		drop(g, one);
		return true;
	}
	return false;
}

bool grant_take_command(struct grants *g, const char *command, const char *cwd, const char *folder)
{
	OWNED(char_ptr) char *in = folder_of(cwd, folder);
	const struct sha256 now = place_of(in);
	struct grant *one;

	STAILQ_FOREACH (one, &g->all, next) {
		if (!one->command || strcmp(one->command, command) != 0 ||
		    !is_same(&one->before, &now))
			continue;
		drop(g, one);
		return true;
	}
	return false;
}
