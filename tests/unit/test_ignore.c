/* What .gitignore leaves out, with git itself as the judge. */
#include "harness.h"
#include "ignore.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MOST = 200 };

static char folder[1000];

static void write_file(const char *path, const char *bytes, size_t length)
{
	FILE *f = fopen(path, "w");

	ck_assert(f && fwrite(bytes, 1, length, f) == length && fclose(f) == 0);
}

static bool has_git(void)
{
	return system("git --version >/dev/null 2>&1") == 0; /* NOLINT(cert-env33-c) */
}

static void fresh_repository(void)
{
	char command[4000];

	(void)snprintf(folder, sizeof(folder), "%.900s/ws", scratch());
	(void)snprintf(command, sizeof(command),
	               "mkdir '%s' && cd '%s' && git -c init.defaultBranch=main init -q", folder,
	               folder);
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* git's verdict on each path: whether it, or a directory above it, is ignored. */
static void ask_git(char (*paths)[PATH_MOST], size_t count, bool *ignored)
{
	char command[7000], line[PATH_MOST * 2];
	size_t i = 0;
	FILE *f;

	(void)snprintf(command, sizeof(command), "%s/../asked", folder);
	f = fopen(command, "w");
	ck_assert_ptr_nonnull(f);
	for (size_t k = 0; k < count; k++)
		(void)fwrite(paths[k], 1, strlen(paths[k]) + 1, f);
	(void)fclose(f);
	(void)snprintf(command, sizeof(command),
	               "cd '%s' && git check-ignore --no-index -v -n -z --stdin <../asked | tr "
	               "'\\n\\0' '\\1\\n' >../answer",
	               folder);
	(void)system(command); /* NOLINT(cert-env33-c): status 1 says that none is ignored */
	(void)snprintf(command, sizeof(command), "%s/../answer", folder);
	f = fopen(command, "r");
	ck_assert_ptr_nonnull(f);
	/* source, line, pattern, path */
	for (int field = 0; fgets(line, sizeof(line), f); field = (field + 1) % 4)
		if (field == 2)
			ignored[i++] = line[0] != '\n' && line[0] != '!';
	(void)fclose(f);
	ck_assert_uint_eq(i, count);
}

/* Our verdict: the directories above come first. */
static bool judge(const struct ignore *files, const char *path)
{
	size_t length = strlen(path);

	for (size_t n = 1; n <= length; n++) {
		enum ignore_says says = IGNORE_NOTHING;
		char part[PATH_MOST], whole[2000];
		struct stat about;

		if (path[n] != '/' && path[n] != '\0')
			continue;
		(void)snprintf(part, sizeof(part), "%.*s", (int)n, path);
		(void)snprintf(whole, sizeof(whole), "%s/%s", folder, part);
		ck_assert_int_eq(lstat(whole, &about), 0);
		if (strncmp(part, "d/", 2) == 0)
			says = ignore_judge(&files[1], part, S_ISDIR(about.st_mode));
		if (says == IGNORE_NOTHING)
			says = ignore_judge(&files[0], part, S_ISDIR(about.st_mode));
		if (says == IGNORE_IT)
			return true;
	}
	return false;
}

/* Makes a file, or a directory if path ends in a slash, which is cut. */
static bool make(char *path)
{
	char whole[2000];
	size_t length = strlen(path);
	bool made;

	for (size_t n = 1; n < length; n++)
		if (path[n] == '/') {
			(void)snprintf(whole, sizeof(whole), "%s/%.*s", folder, (int)n, path);
			(void)mkdir(whole, 0755);
		}
	(void)snprintf(whole, sizeof(whole), "%s/%s", folder, path);
	if (path[length - 1] == '/') {
		path[length - 1] = '\0';
		return mkdir(whole, 0755) == 0;
	}
	made = access(whole, F_OK) != 0;
	return made && close(open(whole, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) == 0;
}

/* Random .gitignore files in the root and in d/, and random paths. */
static void random_text(struct str *out, const char *alphabet[], size_t count, int most)
{
	for (long n = 1 + random() % most; n > 0; n--)
		str_add(out, alphabet[(size_t)random() % count]);
}

/* No pattern ends in two slashes: what that means differs between git 2.39 and 2.53. */
static void random_patterns(struct str *out)
{
	static const char *PARTS[] = { "a",    "b",    "d",     "x",   "*",          "**",
		                       "?",    "/",    "/",     ".",   "ab",         "\\",
		                       "[ab]", "[!a]", "[a-d]", "**/", "/*",         "!",
		                       " ",    "#",    "[",     "]",   "[[:alpha:]", "[]-a]",
		                       "*.o",  "\\*",  "/**/",  "-",   "[^\\]b]",    "[[:x:]]",
		                       "\\ ",  "\r" };

	for (long n = 1 + random() % 4; n > 0; n--) {
		if (random() % 4 == 0)
			str_add_char(out, '!');
		random_text(out, PARTS, COUNT(PARTS), 5);
		if (random() % 4 == 0)
			str_add_char(out, '/');
		while (out->length > 1 && memcmp(out->bytes + out->length - 2, "//", 2) == 0)
			out->bytes[--out->length] = '\0';
		str_add_char(out, '\n');
	}
}

static size_t random_paths(char (*paths)[PATH_MOST])
{
	static const char *PARTS[] = { "a", "b",   "d/", "d/", "x", "/", "/",
		                       ".", "a.o", "ab", "*",  "[", "-", "]" };
	size_t count = 0;

	while (count < 60) {
		OWNED(str) struct str path = { 0 };

		random_text(&path, PARTS, COUNT(PARTS), 5);
		if (path.bytes[0] == '/' || strstr(path.bytes, "//") || strstr(path.bytes, "./") ||
		    path.bytes[path.length - 1] == '.')
			continue;
		(void)snprintf(paths[count], PATH_MOST, "%s", path.bytes);
		count += make(paths[count]);
	}
	return count;
}

START_TEST(random_patterns_ignore_what_git_ignores)
{
	static char paths[60][PATH_MOST];
	int rounds = getenv("INTERCOM_CASES") ? atoi(getenv("INTERCOM_CASES")) : 250;
	bool ignored[60];

	SKIP_UNLESS(has_git(), "git");
	fresh_repository();
	srandom(getenv("INTERCOM_SEED") ? (unsigned)atoi(getenv("INTERCOM_SEED")) : 1);
	for (int i = 0; i < rounds; i++) {
		OWNED(str) struct str top = { 0 };
		OWNED(str) struct str below_d = { 0 };
		struct ignore files[2] = { 0 };
		char path[3200];
		size_t count;

		(void)snprintf(path, sizeof(path), "cd '%s' && rm -rf ./[!.]* ./.[!g.]*", folder);
		ck_assert_int_eq(system(path), 0); /* NOLINT(cert-env33-c) */
		count = random_paths(paths);
		random_patterns(&top);
		random_patterns(&below_d);
		(void)snprintf(path, sizeof(path), "%s/.gitignore", folder);
		write_file(path, top.bytes, top.length);
		(void)snprintf(path, sizeof(path), "%s/d", folder);
		(void)mkdir(path, 0755);
		(void)snprintf(path, sizeof(path), "%s/d/.gitignore", folder);
		write_file(path, below_d.bytes, below_d.length);
		ignore_read(&files[0], "", top.bytes, top.length);
		ignore_read(&files[1], "d", below_d.bytes, below_d.length);
		ask_git(paths, count, ignored);
		for (size_t k = 0; k < count; k++)
			MUST(judge(files, paths[k]) == ignored[k],
			     "round %d: git %s \"%s\" with\n%s--- and in d/\n%s", i,
			     ignored[k] ? "ignores" : "keeps", paths[k], top.bytes, below_d.bytes);
		ignore_clear(&files[0]);
		ignore_clear(&files[1]);
	}
}
END_TEST

START_TEST(the_last_pattern_that_fits_decides)
{
	static const char TEXT[] =
	    "\xEF\xBB\xBF*.o\r\n!keep.o\n\n# no\n\\#yes\nbuild/\n/top\nsp\\ \n  ";
	struct ignore i = { 0 };

	ignore_read(&i, "", TEXT, sizeof(TEXT) - 1);
	ck_assert_int_eq(ignore_judge(&i, "a/x.o", false), IGNORE_IT);
	ck_assert_int_eq(ignore_judge(&i, "a/keep.o", false), IGNORE_KEEP);
	ck_assert_int_eq(ignore_judge(&i, "#yes", false), IGNORE_IT);
	ck_assert_int_eq(ignore_judge(&i, "a/build", true), IGNORE_IT);
	ck_assert_int_eq(ignore_judge(&i, "a/build", false), IGNORE_NOTHING);
	ck_assert_int_eq(ignore_judge(&i, "top", false), IGNORE_IT);
	ck_assert_int_eq(ignore_judge(&i, "a/top", false), IGNORE_NOTHING);
	ck_assert_int_eq(ignore_judge(&i, "sp ", false), IGNORE_IT);
	ck_assert_int_eq(ignore_judge(&i, "x.c", false), IGNORE_NOTHING);
	ignore_clear(&i);
}
END_TEST

START_TEST(a_pattern_of_many_stars_takes_no_time)
{
	static const char TEXT[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n**/a/**/a/**/a/**/a/**/b\n";
	struct ignore i = { 0 };
	char path[4001];

	for (size_t k = 0; k < 4000; k++)
		path[k] = k % 2 && k > 1000 && k < 1100 ? '/' : 'a';
	path[4000] = '\0';
	ignore_read(&i, "", TEXT, sizeof(TEXT) - 1);
	ck_assert_int_eq(ignore_judge(&i, path, false), IGNORE_NOTHING);
	ignore_clear(&i);
}
END_TEST

START_TEST(a_pattern_of_many_folders_takes_no_time)
{
	OWNED(str) struct str text = { 0 };
	OWNED(str) struct str path = { 0 };
	struct ignore i = { 0 };

	for (int k = 0; k < 300; k++)
		str_add(&text, "**/");
	str_add(&text, "z\n");
	for (int k = 0; k < 2000; k++)
		str_add(&path, "a/");
	str_add(&path, "y");
	ignore_read(&i, "", text.bytes, text.length);
	ck_assert_int_eq(ignore_judge(&i, path.bytes, false), IGNORE_NOTHING);
	path.bytes[path.length - 1] = 'z';
	ck_assert_int_eq(ignore_judge(&i, path.bytes, false), IGNORE_IT);
	ignore_clear(&i);
}
END_TEST

START_TEST(a_pattern_longer_than_a_path_matches_nothing)
{
	OWNED(str) struct str text = { 0 };
	struct ignore i = { 0 };

	str_add(&text, "[");
	while (text.length < 4095)
		str_add_char(&text, 'a');
	str_add(&text, "]\n[");
	while (text.length < 8194)
		str_add_char(&text, 'b');
	str_add(&text, "]\n");
	ignore_read(&i, "", text.bytes, text.length);
	ck_assert_int_eq(ignore_judge(&i, "a", false), IGNORE_IT);
	ck_assert_int_eq(ignore_judge(&i, "b", false), IGNORE_NOTHING);
	ignore_clear(&i);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ignore");
	TCase *t = tcase_create("ignore");

	tcase_add_test(t, the_last_pattern_that_fits_decides);
	tcase_add_test(t, random_patterns_ignore_what_git_ignores);
	tcase_add_test(t, a_pattern_of_many_stars_takes_no_time);
	tcase_add_test(t, a_pattern_of_many_folders_takes_no_time);
	tcase_add_test(t, a_pattern_longer_than_a_path_matches_nothing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
