#include "story.h"

#include "harness.h"
#include "paths.h"
#include "workspace.h"
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 8, SHOWN_BYTES = 500 }; /* SHOWN_BYTES of a file: more than any test file has */

const char *self;
char place[WORKSPACE_BYTES];
char log_path[WORKSPACE_BYTES + 20];
char made[WORKSPACE_BYTES + 20];
int cuts;
uint64_t seed;

void story_clear(struct story *s)
{
	disk_clear(&s->before);
	str_clear(&s->log);
	for (size_t i = 0; i < s->said_count; i++)
		free(s->said[i].numbers);
	free(s->said);
	free(s->old_tree);
	free(s->new_tree);
	*s = (struct story){ 0 };
}

char *wrong(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text ? text : xstrdup("out of memory");
}

/* ---- what is there ---- */

char *look(const char *path, const char *sql)
{
	struct str out = { 0 };
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);

	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s); i++) {
			const char *text = (const char *)sqlite3_column_text(s, i);

			str_addf(&out, "%s%s", i ? "|" : "", text ? text : "");
		}
		str_add_char(&out, '\n');
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_DONE) {
		str_reset(&out);
		str_addf(&out, "error: %s", sqlite3_errmsg(db));
	}
	(void)sqlite3_finalize(s);
	(void)sqlite3_close(db);
	return str_take(&out);
}

static int visible(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Appends a line for each file and directory below path: its name, its mode, its content. */
static void list(const char *path, const char *name, struct str *out)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, visible, alphasort);

	for (int i = 0; i < count; i++) {
		OWNED(str) struct str inside = { 0 };
		OWNED(str) struct str shown = { 0 };
		struct stat st;

		str_addf(&inside, "%s/%s", path, entries[i]->d_name);
		str_addf(&shown, "%s%s", name, entries[i]->d_name);
		ck_assert_int_eq(lstat(inside.bytes, &st), 0);
		if (S_ISDIR(st.st_mode)) {
			str_addf(out, "%s/ %o\n", shown.bytes, (unsigned)st.st_mode & 07777);
			str_add_char(&shown, '/');
			list(inside.bytes, shown.bytes, out);
		} else {
			OWNED(char_ptr) char *text = content(inside.bytes + strlen(ws) + 1);

			str_addf(out, "%s %o \"", shown.bytes, (unsigned)st.st_mode & 07777);
			str_add_shown(out, text, strlen(text), SHOWN_BYTES);
			str_add(out, "\"\n");
		}
		free(entries[i]);
	}
	free(entries);
}

char *tree(void)
{
	struct str out = { 0 };

	list(ws, "", &out);
	return str_take(&out);
}

/* Whether a line of one listing is in another. */
static bool has_line(const char *listing, const char *line, size_t length)
{
	for (const char *at = listing; *at; at = strchr(at, '\n') + 1)
		if (strncmp(at, line, length) == 0 && at[length] == '\n')
			return true;
	return false;
}

/* Whether a file's name is in a listing. */
static bool has_file(const char *listing, const char *line)
{
	size_t length = strcspn(line, " ");

	for (const char *at = listing; *at; at = strchr(at, '\n') + 1)
		if (strncmp(at, line, length + 1) == 0)
			return true;
	return false;
}

char *each_is_whole(const struct story *s)
{
	OWNED(char_ptr) char *now = tree();

	for (const char *at = now; *at; at = strchr(at, '\n') + 1) {
		size_t length = strcspn(at, "\n");

		if (at[strcspn(at, " ") - 1] != '/' && !strstr(at, ".intercom-") &&
		    !has_line(s->old_tree, at, length) && !has_line(s->new_tree, at, length))
			return wrong("neither old nor new: %.*s", (int)length, at);
	}
	for (const char *at = s->old_tree; *at; at = strchr(at, '\n') + 1)
		if (has_file(s->new_tree, at) && !has_file(now, at))
			return wrong("gone: %.*s", (int)strcspn(at, "\n"), at);
	return NULL;
}

/* ---- telling a story ---- */

const struct record *record_at(const struct story *s, size_t at)
{
	return (const void *)(s->log.bytes + at); /* aligned: each record is padded */
}

size_t size_of(const struct record *r)
{
	return sizeof(*r) + RECORD_PADDED(r->name_length + r->name2_length + r->data_length);
}

int run_role(const char *role, const char *db)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		(void)execl(self, role, db, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void note_said(void)
{
	struct record r = { .op = RECORD_SAID };
	FILE *f = fopen(log_path, "ae");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(&r, sizeof(r), 1, f), 1);
	ck_assert_int_eq(fclose(f), 0);
}

void run_ctl(const char *verb, bool needs_applier)
{
	OWNED(str) struct str binary = { 0 };
	int status = 0;
	pid_t pid;

	str_addf(&binary, "%s/agent-intercom-ctl", getenv("INTERCOM_BUILD"));
	pid = fork();
	if (pid == 0) {
		int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);

		(void)dup2(quiet, STDOUT_FILENO);
		(void)execl(binary.bytes, binary.bytes, "--db", test_db(), verb, "request-1",
		            (char *)NULL);
		_exit(127);
	}
	while (needs_applier && waitpid(pid, &status, WNOHANG) == 0)
		run_worker("applier");
	if (!needs_applier)
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	note_said();
}

void begin_recording(struct story *s)
{
	leave_store();
	s->old_tree = tree();
	disk_load(&s->before, place);
	ck_assert_int_eq(close(open(log_path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600)), 0);
	(void)setenv(RECORD_TO, log_path, 1);
}

static void add_said(struct story *s, size_t record)
{
	s->said = xrealloc(s->said, (s->said_count + 1) * sizeof(*s->said));
	s->said[s->said_count++] = (struct said){ .record = record };
}

void end_recording(struct story *s)
{
	(void)unsetenv(RECORD_TO);
	s->new_tree = tree();
	FILE *f = fopen(log_path, "re");
	char chunk[65536];
	size_t n;

	ck_assert_ptr_nonnull(f);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		str_add_bytes(&s->log, chunk, n);
	(void)fclose(f);
	add_said(s, 0);
	for (size_t at = 0; at < s->log.length; at += size_of(record_at(s, at))) {
		if (record_at(s, at)->op == RECORD_SAID)
			add_said(s, s->length);
		s->length++;
	}
	ck_assert_uint_gt(s->length, 0);
	ck_assert_uint_gt(s->said_count, 1);
}

void begin_place(void)
{
	OWNED(str) struct str library = { 0 };

	(void)snprintf(place, sizeof(place), "%s", test_db());
	*strrchr(place, '/') = '\0';
	(void)snprintf(log_path, sizeof(log_path), "%s/record", test_run());
	(void)setenv("XDG_RUNTIME_DIR", test_run(), 1);
	(void)setenv("HOME", test_run(), 1);
	str_addf(&library, "%s/tests/record.so", getenv("INTERCOM_BUILD"));
	ck_assert_msg(access(library.bytes, R_OK) == 0, "there is no %s", library.bytes);
	(void)setenv("LD_PRELOAD", library.bytes, 1);
	(void)setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
}

/* ---- cutting ---- */

/* The numbers in the database at the last moment before `record` when someone was told
 * something. */
static const char *had_been_told(const struct story *s, size_t record)
{
	OWNED(disk) struct disk d = { 0 };
	struct said *last = s->said;

	for (size_t i = 0; i < s->said_count && s->said[i].record <= record; i++)
		last = &s->said[i];
	if (last->numbers)
		return last->numbers;
	disk_copy(&s->before, &d);
	(void)disk_play(&d, &s->log, last->record, NULL);
	disk_keep_all(&d);
	disk_write(&d, place);
	return last->numbers = look(s->db, s->numbers);
}

/* NULL, or which number is lower than before. */
static char *compare_numbers(const char *had, const char *have)
{
	const char *a = had, *b = have;

	if (strncmp(had, "error", 5) == 0)
		return NULL; /* there was no database yet */
	if (strncmp(have, "error", 5) == 0)
		return wrong("%s, where %s had been told", have, had);
	for (int i = 0; i < NUMBERS && a && b; i++) {
		if (strtol(a, NULL, 10) > strtol(b, NULL, 10))
			return wrong("lost: %s is less than %s of which somebody had been told",
			             have, had);
		a = strchr(a, '|');
		b = strchr(b, '|');
		a = a ? a + 1 : NULL;
		b = b ? b + 1 : NULL;
	}
	return NULL;
}

char *cut(const struct story *s, size_t record, uint64_t cut_seed,
          bool (*loses)(const struct disk_node *))
{
	const char *had = had_been_told(s, record);
	OWNED(disk) struct disk d = { 0 };
	char *why;

	disk_copy(&s->before, &d);
	(void)disk_play(&d, &s->log, record, loses);
	disk_cut(&d, cut_seed);
	disk_write(&d, place);
	OWNED(char_ptr) char *have = look(s->db, s->numbers);
	why = compare_numbers(had, have);
	return why ? why : s->judge(s, have);
}

int cut_everywhere(const struct story *s, bool (*loses)(const struct disk_node *))
{
	enum { LOSING_CUTS = 200, STRIDE = 77 }; /* coprime: cuts spread over the story early */
	int found = 0, most = loses ? LOSING_CUTS : cuts;

	for (int i = 0; i < most && !(loses && found); i++) {
		uint64_t cut_seed = seed + (uint64_t)i;
		uint64_t within = cut_seed;
		size_t nth = (size_t)(loses ? i * STRIDE % most : i);
		size_t part = s->length / (size_t)most + 1;
		size_t record = nth * s->length / (size_t)most + disk_random(&within, part);
		OWNED(char_ptr)
		char *why = cut(s, record < s->length ? record : s->length, cut_seed, loses);

		found += why != NULL;
		if (why && !loses)
			(void)printf("%s, seed %llu, behind record %zu of %zu: %s\n", s->name,
			             (unsigned long long)cut_seed, record, s->length, why);
	}
	if (!loses)
		(void)printf("%s: %d cuts (seed %llu) between %zu records, %d wrong\n", s->name,
		             cuts, (unsigned long long)seed, s->length, found);
	(void)fflush(stdout);
	return found;
}
