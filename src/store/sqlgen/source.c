#include "sqlgen.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *source_dir;
int failures;

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fputc('\n', stderr);
	failures++;
}

void die(const char *what)
{
	(void)fprintf(stderr, "sqlgen: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *read_path(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text;
	long size;

	if (!f)
		return NULL;
	(void)fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = size < 0 ? NULL : xmalloc((size_t)size + 1);
	if (!text || fread(text, 1, (size_t)size, f) != (size_t)size)
		die(path);
	text[size] = '\0';
	(void)fclose(f);
	return text;
}

char *source_text(const char *relative)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", source_dir, relative);
	return read_path(path);
}

void source_write(const char *folder, const char *name, const char *text)
{
	char path[4096], *before;
	bool same;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	before = read_path(path);
	same = before && strcmp(before, text) == 0;
	free(before);
	if (same)
		return;
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		die(path);
}

bool source_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool source_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct source *)a)->path, ((const struct source *)b)->path);
}

void sources_read(struct sources *s, const char *folder)
{
	char path[4096];
	struct dirent *entry;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/%s", source_dir, folder);
	d = opendir(path);
	if (!d)
		die(path);
	while ((entry = readdir(d)) != NULL) {
		size_t n = strlen(entry->d_name);
		struct str name = { 0 };

		if (n < 5 || strcmp(entry->d_name + n - 4, ".sql") != 0)
			continue;
		if (s->count == MAX_FILES)
			die("too many files");
		str_addf(&name, "%s/%s", folder, entry->d_name);
		s->file[s->count].path = str_take(&name);
		s->file[s->count].text = source_text(s->file[s->count].path);
		if (!s->file[s->count].text)
			die(s->file[s->count].path);
		s->count++;
	}
	(void)closedir(d);
	qsort(s->file, (size_t)s->count, sizeof(s->file[0]), by_path);
}

void sources_clear(struct sources *s)
{
	for (int i = 0; i < s->count; i++) {
		free(s->file[i].path);
		free(s->file[i].text);
	}
	s->count = 0;
}

int line_of(const char *text, const char *at)
{
	int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

void source_run(sqlite3 *db, const struct source *source)
{
	const char *rest = source->text;

	while (*rest) {
		sqlite3_stmt *s = NULL;
		const char *at = rest;
		int rc = sqlite3_prepare_v2(db, rest, -1, &s, &rest);

		if (rc == SQLITE_OK && s)
			rc = sqlite3_step(s);
		if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
			while (isspace((unsigned char)*at))
				at++;
			complain("%s:%d: %s", source->path, line_of(source->text, at),
			         sqlite3_errmsg(db));
			(void)sqlite3_finalize(s);
			return;
		}
		(void)sqlite3_finalize(s);
	}
}

char *query_text(sqlite3 *db, const char *sql, const char *parameter)
{
	sqlite3_stmt *s = NULL;
	char *text = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		complain("sqlgen: %s: %s", sql, sqlite3_errmsg(db));
	if (s && parameter)
		(void)sqlite3_bind_text(s, 1, parameter, -1, SQLITE_STATIC);
	if (s && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
		text = xstrdup((const char *)sqlite3_column_text(s, 0));
	(void)sqlite3_finalize(s);
	return text;
}
