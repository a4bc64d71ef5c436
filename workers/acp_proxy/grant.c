#include "grant.h"

#include "gate_replace.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct grant {
	STAILQ_ENTRY(grant) next;
	char *path; /* of a file, NULL: of a command */
	char before[GRANT_HASH_BYTES];
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

static void describe(const struct str *bytes, int got, const struct stat *st,
                     char out[GRANT_HASH_BYTES])
{
	if (got > 0)
		(void)snprintf(out, GRANT_HASH_BYTES, "%s",
		               sha256_of(str_text(bytes), bytes->length).text);
	else if (got == 0)
		(void)snprintf(out, GRANT_HASH_BYTES, "%s", NONE);
	else
		(void)snprintf(out, GRANT_HASH_BYTES, "%llx %llx %lld.%09ld",
		               (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
		               (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

void grant_look(const char *path, char out[GRANT_HASH_BYTES])
{
	OWNED(str) struct str bytes = { 0 };
	struct stat st;
	int got = read_file(path, &bytes, &st);

	describe(&bytes, got, &st, out);
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
	if (got < 0 || gate_replace(&r, got ? &file : NULL, &after, NULL))
		return;
	one = keep(g, xcalloc(1, sizeof(*one)));
	one->path = xstrdup(path);
	describe(&file, got, &st, one->before);
	one->after = sha256_of(str_text(&after), after.length);
}

void grant_add(struct grants *g, const struct acp_inquiry *ask, const cJSON *call,
               const char *folder)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, json_get(call, "content"))
		if (json_says(item, "type", "diff"))
			add_diff(g, item);
	if (ask->command.length && !ask->is_unclear) {
		struct grant *one = keep(g, xcalloc(1, sizeof(*one)));

		one->command = xstrdup(ask->command.bytes);
		one->folder = xstrdup(ask->cwd ? ask->cwd : folder);
	}
}

void grants_move(struct grants *from, struct grants *to)
{
	struct grant *one;

	while ((one = STAILQ_FIRST(&from->all))) {
		STAILQ_REMOVE_HEAD(&from->all, next);
		from->count--;
		(void)keep(to, one);
	}
}

bool grant_take_write(struct grants *g, const char *path, const char *content, size_t length)
{
	const struct sha256 after = sha256_of(content, length);
	char before[GRANT_HASH_BYTES] = "";
	struct grant *one;

	STAILQ_FOREACH (one, &g->all, next) {
		if (!one->path || strcmp(one->path, path) != 0 ||
		    strcmp(one->after.text, after.text) != 0)
			continue;
		if (!before[0])
			grant_look(path, before);
		if (strcmp(one->before, before) != 0)
			continue;
		drop(g, one);
		return true;
	}
	return false;
}

bool grant_take_command(struct grants *g, const char *command, const char *folder)
{
	struct grant *one;

	STAILQ_FOREACH (one, &g->all, next) {
		if (!one->command || strcmp(one->command, command) != 0 ||
		    strcmp(one->folder, folder) != 0)
			continue;
		drop(g, one);
		return true;
	}
	return false;
}
