/* Random edits and damaged patches, applied by us, by `git apply` and by GNU patch, with fuzz too:
 * who takes a patch must make the same bytes of it. INTERCOM_CASES=n: how many (120);
 * INTERCOM_SEED: which.
 *
 * Where they do not agree whether a patch fits (14 in 1,000), that is counted and printed, not
 * judged, but for proposals made by git itself, which we must take. Known and meant: only by us:
 * git wants a hunk with less context at one side to stand at that edge of the file; only by them:
 * they drop what stands behind a hunk and is neither a hunk nor a file, such as a hunk whose header
 * is damaged; we refuse it, for it would be lost unseen. */
#include "diff.h"
#include "proposal.h"
#include "safe_path.h"
#include "str.h"
#include "suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CASES = 120, LINES_MAX = 40, FILES = 6, FUZZ = 2, CONTEXT = 3 };

static char scratch[64];
static int cases;

static void setup(void)
{
	const char *given = getenv("INTERCOM_CASES"), *seed = getenv("INTERCOM_SEED");

	cases = given ? (int)strtol(given, NULL, 10) : CASES;
	srand(seed ? (unsigned)strtol(seed, NULL, 10) : 7);
	(void)snprintf(scratch, sizeof(scratch), "/tmp/test_differential.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	ck_assert_int_eq(chdir(scratch), 0);
}

static void teardown(void)
{
	OWNED(str) struct str command = { 0 };

	ck_assert_int_eq(chdir("/"), 0);
	str_addf(&command, "rm -rf %s", scratch);
	ck_assert_int_eq(system(str_text(&command)), 0);
}

/* ---- texts ---- */

static void put(const char *name, const struct str *content)
{
	FILE *file = fopen(name, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(str_text(content), 1, content->length, file), content->length);
	ck_assert_int_eq(fclose(file), 0);
}

static bool get(const char *name, struct str *content)
{
	FILE *file = fopen(name, "re");
	int c;

	if (!file)
		return false;
	while ((c = fgetc(file)) != EOF)
		str_add_char(content, (char)c);
	ck_assert_int_eq(fclose(file), 0);
	return true;
}

static bool equal(const struct str *a, const struct str *b)
{
	return a->length == b->length && memcmp(str_text(a), str_text(b), a->length) == 0;
}

/* Few different lines, so that hunks fit at several places. */
static void add_line(struct str *text)
{
	static const char *const LINES[] = { "{",      "}",    "",           "\treturn;", "x++;",
		                             "if (x)", "else", "/* same */", "a\tb",      "-- x" };
	int which = rand() % 14;

	if (which < (int)COUNT(LINES))
		str_addf(text, "%s\n", LINES[which]);
	else
		str_addf(text, "line %d\n", rand() % 100);
}

static void make_text(struct str *text)
{
	int lines = 1 + rand() % LINES_MAX;

	for (int i = 0; i < lines; i++)
		add_line(text);
}

/* Some lines go, some come. */
static void edit(const struct str *old, struct str *text, int one_in)
{
	for (const char *at = str_text(old); *at;) {
		const char *end = strchr(at, '\n');
		size_t size = end ? (size_t)(end - at) + 1 : strlen(at);

		if (rand() % one_in == 0)
			add_line(text);
		if (rand() % one_in != 0)
			str_add_bytes(text, at, size);
		at += size;
	}
	if (text->length == 0)
		add_line(text);
}

/* A line of the patch is lost, doubled or another one. */
static void damage(struct str *patch)
{
	OWNED(str) struct str result = { 0 };
	int at_line = rand() % 30, how = rand() % 4, line = 0;

	for (const char *at = str_text(patch); *at; line++) {
		const char *end = strchr(at, '\n');
		size_t size = end ? (size_t)(end - at) + 1 : strlen(at);

		if (line != at_line || how == 1)
			str_add_bytes(&result, at, size);
		if (line == at_line && how == 1)
			str_add_bytes(&result, at, size);
		if (line == at_line && how == 2) {
			str_add_char(&result, *at);
			add_line(&result);
		}
		if (line == at_line && how == 3) {
			str_add_char(&result, " +-"[rand() % 3]);
			str_add_bytes(&result, at + 1, size - 1);
		}
		at += size;
	}
	str_reset(patch);
	str_add_bytes(patch, str_text(&result), result.length);
}

/* ---- one file ---- */

static bool we_apply(const struct str *patch, const struct str *target, size_t fuzz,
                     struct str *result)
{
	OWNED(diff) struct diff d = { 0 };
	const struct diff_how how = { .fuzz = fuzz };

	return diff_parse(str_text(patch), patch->length, &d, NULL) == 0 && d.file_count == 1 &&
	       diff_apply(&d.files[0], str_text(target), target->length, &how, result, NULL) == 0;
}

static bool is_context(const struct diff_hunk *h, size_t line)
{
	return line < h->line_count && h->lines[line].kind == ' ';
}

/* Whether each hunk has all its context at both ends. Where it has less, patch takes that for an
 * edge of the file, and under fuzz inserts there by nothing but the line's number. */
static bool is_amid(const struct str *patch)
{
	OWNED(diff) struct diff d = { 0 };
	bool amid = diff_parse(str_text(patch), patch->length, &d, NULL) == 0 && d.file_count == 1;

	for (size_t i = 0; amid && i < d.files[0].hunk_count; i++)
		for (size_t k = 0; amid && k < CONTEXT; k++) {
			const struct diff_hunk *h = &d.files[0].hunks[i];

			amid = is_context(h, k) && is_context(h, h->line_count - 1 - k);
		}
	return amid;
}

/* Runs a command on f.c, which holds target; whether it succeeds, and what f.c is then. */
static bool they_apply(const char *command, const struct str *target, struct str *result)
{
	put("f.c", target);
	if (system(command) != 0)
		return false;
	return get("f.c", result);
}

struct tally {
	int both, none, only_we, only_they;
};

static void compare(struct tally *t, const char *who, const struct str *patch,
                    const struct str *target, const struct str *ours, bool we,
                    const struct str *theirs, bool they)
{
	t->both += we && they;
	t->none += !we && !they;
	t->only_we += we && !they;
	t->only_they += !we && they;
	ck_assert_msg(!we || !they || equal(ours, theirs),
	              "%s makes something else of\n%s\nand\n%s\n-- we:\n%s\n-- %s:\n%s", who,
	              str_text(target), str_text(patch), str_text(ours), who, str_text(theirs));
}

static void tell(const char *who, const struct tally *t)
{
	(void)printf("%s: %d taken by both, %d by neither, %d only by us, %d only by it\n", who,
	             t->both, t->none, t->only_we, t->only_they);
}

START_TEST(who_takes_a_patch_makes_the_same_of_it)
{
	struct tally git = { 0 }, patch_1 = { 0 }, patch_2 = { 0 };

	for (int i = 0; i < cases; i++) {
		OWNED(str) struct str old = { 0 };
		OWNED(str) struct str text = { 0 };
		OWNED(str) struct str target = { 0 };
		OWNED(str) struct str patch = { 0 };
		OWNED(str) struct str ours = { 0 };
		OWNED(str) struct str theirs = { 0 };
		OWNED(str) struct str third = { 0 };
		OWNED(str) struct str fourth = { 0 };
		bool we;

		make_text(&old);
		edit(&old, &text, 8);
		diff_compute("f.c", str_text(&old), old.length, str_text(&text), text.length,
		             &patch);
		if (patch.length == 0)
			continue;
		if (i % 3 == 0)
			str_add_bytes(&target, old.bytes, old.length);
		else
			edit(&old, &target, 15);
		if (i % 4 == 3)
			damage(&patch);
		put("patch", &patch);
		we = we_apply(&patch, &target, 0, &ours);
		compare(&git, "git", &patch, &target, &ours, we, &theirs,
		        they_apply("git apply --whitespace=nowarn patch 2>/dev/null", &target,
		                   &theirs));
		compare(&patch_1, "patch", &patch, &target, &ours, we, &third,
		        they_apply("patch --binary -N -t -s -F0 -p1 <patch >/dev/null 2>&1",
		                   &target, &third));
		if (!is_amid(&patch))
			continue;
		we = we_apply(&patch, &target, FUZZ, &ours);
		compare(&patch_2, "patch -F2", &patch, &target, &ours, we, &fourth,
		        they_apply("patch --binary -N -t -s -F2 -p1 <patch >/dev/null 2>&1",
		                   &target, &fourth));
	}
	tell("git apply", &git);
	tell("patch -F0", &patch_1);
	tell("patch -F2", &patch_2);
	ck_assert_int_gt(git.both, 0);
	ck_assert_int_gt(git.none, 0);
}
END_TEST

/* ---- trees ---- */

static const char *name_of(int n)
{
	static const char *const NAMES[FILES] = { "a",         "dir/b",    "dir/c d",
		                                  "deep/er/e", "\303\244", "z.txt" };

	return NAMES[n];
}

static void make_tree(void)
{
	ck_assert_int_eq(system("rm -rf old new .git && mkdir -p old/dir old/deep/er"), 0);
	for (int i = 0; i < FILES; i++) {
		OWNED(str) struct str text = { 0 };
		char path[80];

		if (rand() % 4 == 0)
			continue;
		make_text(&text);
		(void)snprintf(path, sizeof(path), "old/%s", name_of(i));
		put(path, &text);
		ck_assert_int_eq(chmod(path, rand() % 3 ? 0644 : 0755), 0);
	}
	{
		OWNED(str) struct str keep = { 0 };

		str_add(&keep, "keep\n");
		put("old/keep", &keep);
	}
	ck_assert_int_eq(system("cp -a old new"), 0);
}

static void edit_file(const char *path)
{
	OWNED(str) struct str old = { 0 };
	OWNED(str) struct str text = { 0 };

	if (get(path, &old)) {
		edit(&old, &text, 10);
		put(path, &text);
	} else {
		make_text(&text);
		put(path, &text);
	}
}

static void change_tree(void)
{
	int changes = 1 + rand() % 4;

	for (int i = 0; i < changes; i++) {
		char from[80], to[80];

		(void)snprintf(from, sizeof(from), "new/%s", name_of(rand() % FILES));
		(void)snprintf(to, sizeof(to), "new/%s%d", name_of(rand() % FILES), i);
		switch (rand() % 6) {
		case 0:
			(void)rename(from, to);
			break;
		case 1:
			(void)rename(from, to);
			edit_file(to);
			break;
		case 2:
			(void)unlink(from);
			break;
		case 3:
			(void)chmod(from, rand() % 2 ? 0644 : 0755);
			break;
		case 4: {
			OWNED(str) struct str text = { 0 };

			if (get(from, &text))
				put(to, &text);
			break;
		}
		default:
			edit_file(from);
		}
	}
}

/* What the plan says every file is to be, laid over old. */
static void write_plan(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct planned *f = &plan->files[i];
		char path[200];

		(void)snprintf(path, sizeof(path), "old/%s", f->is.target);
		if (strcmp(f->is.action, "read") == 0)
			continue;
		if (strcmp(f->is.action, "delete") == 0) {
			ck_assert_int_eq(unlink(path), 0);
			continue;
		}
		put(path, &f->new);
		ck_assert_int_eq(chmod(path, f->new_mode & (f->exists ? 07777 : 0755)), 0);
	}
}

START_TEST(a_proposal_made_by_git_is_taken_whole)
{
	int taken = 0;

	for (int i = 0; i < cases / 4 + 1; i++) {
		OWNED(plan) struct plan plan = { 0 };
		OWNED(str) struct str patch = { 0 };
		struct refusal why = { .code = NULL };
		struct proposal p = { .workspace_root = "/w" };
		int root, looked;

		make_tree();
		change_tree();
		/* The names as they are in a repository of the tree. */
		ck_assert_int_eq(
		    system("cd new && git init -q . && cd .. && mv new/.git old/.git && cd old && "
		           "git add -A && git -c user.name=x -c user.email=x commit -qm x && "
		           "mv .git ../new/.git && cd ../new && git add -A && "
		           "git diff --cached -M -C --find-copies-harder >../patch && rm -rf .git"),
		    0);
		ck_assert(get("patch", &patch));
		if (patch.length == 0)
			continue;
		p.body = patch.bytes;
		p.body_length = patch.length;
		{
			OWNED(diff) struct diff d = { 0 };

			ck_assert_int_eq(diff_parse(patch.bytes, patch.length, &d, NULL), 0);
			p.file_path =
			    d.files[0].new_path ? d.files[0].new_path : d.files[0].old_path;
			ck_assert_int_eq(safe_path_open("old", &root, NULL), 0);
			looked = proposal_look(root, &p, &plan, &why);
			ck_assert_msg(looked == 0 && proposal_work(&p, &plan, &why) == 0,
			              "%s: %s\n%s", why.code, why.text, patch.bytes);
		}
		(void)close(root);
		ck_assert_int_eq(system("cd new && find . -type d -exec mkdir -p ../old/{} \\;"),
		                 0);
		write_plan(&plan);
		ck_assert_msg(
		    system("find old -type d -empty -delete; find new -type d -empty "
		           "-delete; diff -r old new && (cd old && find . -type f -printf "
		           "'%P %m\\n' | sort) >o && (cd new && find . -type f -printf "
		           "'%P %m\\n' | sort) >n && cmp o n") == 0,
		    "%s", patch.bytes);
		taken++;
	}
	(void)printf("%d proposals of many files taken\n", taken);
	ck_assert_int_gt(taken, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("differential");
	TCase *c = tcase_create("differential");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 0);
	tcase_add_test(c, who_takes_a_patch_makes_the_same_of_it);
	tcase_add_test(c, a_proposal_made_by_git_is_taken_whole);
	suite_add_tcase(s, c);
	return run_suite(s);
}
