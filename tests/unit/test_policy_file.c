/* policy_file: a workspace's settings.json as it changes. */
#include "policy_file.h"
#include "suite.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 30000, GIVE_UP_S = 60, LOOK_MS = 50 };

static char folder[200], file[300];

/* Makes it, from the template, with a folder for its file. */
static void given_workspace(char *workspace)
{
	ck_assert_ptr_nonnull(mkdtemp(workspace));
	(void)snprintf(folder, sizeof(folder), "%s/.intercom", workspace);
	(void)snprintf(file, sizeof(file), "%s/settings.json", folder);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
}

static void put(const char *name, const char *text, bool whole)
{
	char path[320];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	MUST(f, "%s: cannot be written", path);
	if (whole) {
		(void)fputs(text, f);
	} else { /* as an editor does that writes in place, in pieces */
		(void)fwrite(text, 1, strlen(text) / 2, f);
		(void)fflush(f);
		(void)fputs(text + strlen(text) / 2, f);
	}
	(void)fclose(f);
}

static void replace(const char *text)
{
	char path[320];

	put("new.json", text, true);
	(void)snprintf(path, sizeof(path), "%s/new.json", folder);
	MUST(rename(path, file) == 0, "%s: cannot be renamed", path);
}

#define ONLY(glob) "{\"enabled\":true,\"file_patterns\":{\"write\":[\"" glob "\"]}}"

/* Changes the file in every way there is until the parent ends it. */
static void keep_changing(void)
{
	char away[320], link[320];

	(void)snprintf(away, sizeof(away), "%s/away.json", folder);
	(void)snprintf(link, sizeof(link), "%s/link.json", folder);
	for (unsigned i = 0;; i++) {
		switch (i % 7) {
		case 0:
			replace(ONLY("docs/**"));
			break;
		case 1:
			replace(ONLY("notes/**"));
			break;
		case 2:
			put("settings.json", ONLY("docs/**"), false);
			break;
		case 3:
			replace("{\"enabled\": tru");
			break;
		case 4:
			(void)unlink(file);
			break;
		case 5:
			put("away.json", ONLY("notes/**"), true);
			(void)unlink(link);
			(void)symlink("away.json", link);
			(void)rename(link, file);
			break;
		default:
			(void)unlink(file);
			put("settings.json", ONLY("notes/**"), false);
		}
	}
}

static bool may_write(const struct policy_file *f, const char *path)
{
	const struct policy_question q = { .tool = "check_diff", .paths = &path, .path_count = 1 };
	struct policy_answer a = { 0 };
	bool approved;

	policy_judge(f->policy, &q, &a);
	approved = a.approved;
	policy_answer_clear(&a);
	return approved;
}

/* What is answered is always that of one whole version, and of the one whose hash is told. */
START_TEST(every_look_sees_a_whole_version_while_the_file_changes)
{
	char workspace[] = "/tmp/policy-XXXXXX";
	struct sha256 docs = sha256_of(ONLY("docs/**"), strlen(ONLY("docs/**")));
	struct sha256 notes = sha256_of(ONLY("notes/**"), strlen(ONLY("notes/**")));
	struct policy_files files = { 0 };
	time_t begin = time(NULL);
	int seen_docs = 0, seen_notes = 0, seen_none = 0, count = 0;
	pid_t child;

	given_workspace(workspace);
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		keep_changing();
	}
	while (count < LOOKS || !seen_docs || !seen_notes || !seen_none) {
		const struct policy_file *f = policy_file_of(&files, workspace);
		bool allows_docs = may_write(f, "docs/a"), allows_notes = may_write(f, "notes/a");

		MUST(allows_docs == (strcmp(f->hash, docs.text) == 0), "docs: %s", f->hash);
		MUST(allows_notes == (strcmp(f->hash, notes.text) == 0), "notes: %s", f->hash);
		MUST(!(f->policy && f->why[0]), "a policy and a reason: %s", f->why);
		seen_docs += allows_docs;
		seen_notes += allows_notes;
		seen_none += !allows_docs && !allows_notes;
		count++;
		MUST(time(NULL) - begin < GIVE_UP_S, "%d looks in a minute", count);
	}
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	policy_files_clear(&files);
	remove_tree(workspace);
}
END_TEST

START_TEST(a_version_is_compiled_once_for_its_content)
{
	char workspace[] = "/tmp/policy-XXXXXX";
	struct policy_files files = { 0 };
	const struct policy *first;
	struct policy_file *f;

	given_workspace(workspace);
	put("settings.json", ONLY("docs/**"), true);
	f = policy_file_of(&files, workspace);
	first = f->policy;
	ck_assert_ptr_nonnull(first);
	f->changed = false;
	ck_assert_ptr_eq(policy_file_of(&files, workspace)->policy, first); /* still fresh */
	replace(ONLY("docs/**"));
	ck_assert_ptr_eq(policy_file_of(&files, workspace)->policy, first);
	ck_assert(!f->changed);
	replace(ONLY("notes/**"));
	ck_assert(may_write(policy_file_of(&files, workspace), "notes/a"));
	ck_assert(f->changed);
	policy_files_clear(&files);
	remove_tree(workspace);
}
END_TEST

/* Until the file has been as it is for so long that it need not be read again. */
static void settles(struct policy_file *f, const char *workspace)
{
	bool fresh = false;

	while (!fresh) {
		struct policy_look look = POLICY_LOOK_INIT;

		policy_look(workspace, &f->known, -1, &look);
		fresh = look.fresh;
		policy_file_take(f, &look);
		policy_look_clear(&look);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

START_TEST(a_folder_that_others_may_write_by_now_is_noticed_though_the_file_is_the_same)
{
	char workspace[] = "/tmp/policy-XXXXXX";
	struct policy_files files = { 0 };
	struct policy_file *f;
	const char *const folders[] = { workspace, folder };

	given_workspace(workspace);
	put("settings.json", ONLY("docs/**"), true);
	f = policy_file_of(&files, workspace);
	for (size_t i = 0; i < COUNT(folders); i++) {
		settles(f, workspace);
		ck_assert(may_write(f, "docs/a"));
		ck_assert_int_eq(chmod(folders[i], 0777), 0);
		ck_assert(!may_write(policy_file_of(&files, workspace), "docs/a"));
		ck_assert_ptr_nonnull(strstr(f->why, "every user may write"));
		ck_assert_int_eq(chmod(folders[i], 0755), 0);
		ck_assert(may_write(policy_file_of(&files, workspace), "docs/a"));
	}
	policy_files_clear(&files);
	remove_tree(workspace);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_file");
	TCase *c = tcase_create("policy_file");

	tcase_set_timeout(c, 90);
	tcase_add_test(c, every_look_sees_a_whole_version_while_the_file_changes);
	tcase_add_test(c, a_version_is_compiled_once_for_its_content);
	tcase_add_test(
	    c, a_folder_that_others_may_write_by_now_is_noticed_though_the_file_is_the_same);
	suite_add_tcase(s, c);
	return run_suite(s);
}
