/* applier: given an approved proposal, what is in the file and in the rows afterwards. The kill
 * points are in tests/crash/. Uses the real binary; `race_*` uses its library to get in between. */
#include "applier_case.h"

enum { BATCH = 16, MORE_ROUNDS = 50 };

/* ---- in between ---- */

struct race {
	struct file_change f;
	struct refusal why;
	int root;
};

static void plan_race(struct race *r, const char *path, const char *body)
{
	OWNED(plan) struct plan plan = { 0 };
	const struct proposal p = {
		.workspace_root = ws, .file_path = path, .body = body, .body_length = strlen(body)
	};

	*r = (struct race){ .f = FILE_CHANGE_INIT, .root = -1 };
	ck_assert_int_eq(safe_path_open(ws, &r->root, NULL), 0);
	ck_assert_msg(proposal_look(r->root, &p, &plan, &r->why) == 0 &&
	                  proposal_work(&p, &plan, &r->why) == 0,
	              "%s", r->why.text);
	file_change_take(r->root, &plan.files[0], NULL, &r->f);
}

static int stage_race(struct race *r)
{
	if (file_change_open(r->root, &r->f, &r->why))
		return -1;
	return file_change_stage(r->root, &r->f, 1, &r->why);
}

static void lose_race(struct race *r, const char *code)
{
	ck_assert_int_eq(file_change_place(&r->f, &r->why), -1);
	ck_assert_str_eq(r->why.code, code);
	file_change_undo(r->root, &r->f);
	file_change_clear(&r->f);
	(void)close(r->root);
}

START_TEST(race_the_file_changes_after_the_plan)
{
	struct race r;

	begin();
	file("a.txt", "old");
	plan_race(&r, "a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	file("a.txt", "mine");
	lose_race(&r, "patch_conflict");
	file_is("a.txt", "mine");
	plan_race(&r, "a.txt",
	          "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-mine\n"
	          "\\ No newline at end of file\n");
	ck_assert_int_eq(stage_race(&r), 0);
	file("a.txt", "changed again");
	lose_race(&r, "patch_conflict");
	file_is("a.txt", "changed again");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(room_is_looked_for_before_anything_is_staged)
{
	struct file_change changes[2] = { FILE_CHANGE_INIT, FILE_CHANGE_INIT };
	struct refusal why = { .code = NULL };

	begin();
	for (size_t i = 0; i < COUNT(changes); i++) {
		changes[i].dir_fd = open(ws, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		changes[i].bytes.length = 1000; /* there are none */
		str_add(&changes[i].path, "a.txt");
	}
	ck_assert_int_eq(file_change_check_space(changes, 2, &why), 0);
	changes[1].bytes.length = (size_t)1 << 60;
	ck_assert_int_eq(file_change_check_space(changes, 2, &why), -1);
	ck_assert_str_eq(why.code, "no_space");
	for (size_t i = 0; i < COUNT(changes); i++)
		file_change_clear(&changes[i]);
}
END_TEST

/* Each of these writes stands between the last look and the rename. */
START_TEST(race_what_somebody_wrote_in_the_last_moment_is_not_overwritten)
{
	struct race r;

	begin();
	file("a.txt", "old");
	plan_race(&r, "a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	ck_assert_int_eq(file_change_check(&r.f, &r.why), 0);
	file("other", "mine");
	ck_assert_int_eq(rename(in("other"), in("a.txt")), 0);
	lose_race(&r, "patch_conflict");
	file_is("a.txt", "mine");
	plan_race(&r, "a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	ck_assert_int_eq(file_change_check(&r.f, &r.why), 0);
	ck_assert_int_eq(unlink(in("a.txt")), 0);
	ck_assert_int_eq(mkdir(in("a.txt"), 0755), 0);
	file("a.txt/precious", "mine");
	lose_race(&r, "patch_conflict");
	file_is("a.txt/precious", "mine");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(race_what_was_placed_is_put_back_unless_somebody_changed_it)
{
	static const char DELETION[] = "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
	                               "\\ No newline at end of file\n";
	static const struct {
		const char *path, *body;
	} WRITES[] = { { "a.txt", "new" }, { "a.txt", DELETION }, { "b.txt", "new" } };

	begin();
	file("a.txt", "old");
	for (size_t i = 0; i < 2 * COUNT(WRITES); i++) {
		const char *path = WRITES[i / 2].path;
		struct race r;

		plan_race(&r, path, WRITES[i / 2].body);
		ck_assert_int_eq(stage_race(&r), 0);
		ck_assert_int_eq(file_change_place(&r.f, &r.why), 0);
		if (i % 2) {
			file(path, "mine");
			ck_assert_int_eq(file_change_put_back(&r.f, &r.why), -1);
			ck_assert_str_eq(r.why.code, "patch_conflict");
			ck_assert_int_eq(file_change_tidy(r.root, &r.f, &r.why), 0);
			file_is(path, "mine");
		} else {
			ck_assert_int_eq(file_change_put_back(&r.f, &r.why), 0);
			file_change_undo(r.root, &r.f);
			file_is(path, i < 4 ? "old" : "(none)");
		}
		ck_assert_int_eq(entries(), i == 5 ? 2 : 1); /* theirs */
		(void)unlink(in("b.txt"));
		file("a.txt", "old");
		file_change_clear(&r.f);
		(void)close(r.root);
	}
}
END_TEST

START_TEST(race_somebody_makes_the_new_file_first)
{
	struct race r;

	begin();
	plan_race(&r, "d/e/a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	file("d/e/a.txt", "mine");
	lose_race(&r, "patch_conflict");
	file_is("d/e/a.txt", "mine");
	ck_assert_int_eq(entries(), 3);
	plan_race(&r, "d/f/g/a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	ck_assert_int_eq(symlink("nowhere", in("d/f/g/a.txt")), 0);
	lose_race(&r, "patch_conflict");
	ck_assert_int_eq(unlink(in("d/f/g/a.txt")), 0);
}
END_TEST

START_TEST(race_directories_that_were_made_for_nothing_go)
{
	struct race r;

	begin();
	plan_race(&r, "d/e/a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	ck_assert_int_eq(entries(), 3);
	file_change_undo(r.root, &r.f);
	ck_assert_int_eq(entries(), 0);
	file_change_clear(&r.f);
	(void)close(r.root);
}
END_TEST

START_TEST(race_the_file_becomes_a_link_or_its_directory_does)
{
	struct race r;

	begin();
	file("../victim", "old");
	ck_assert_int_eq(mkdir(in("d"), 0755), 0);
	ck_assert_int_eq(mkdir(in("../out"), 0755), 0);
	file("d/a.txt", "old");
	plan_race(&r, "d/a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	swapped_to("d/a.txt", "../../victim");
	lose_race(&r, "patch_conflict");
	file_is("../victim", "old");
	plan_race(&r, "d/b.txt", "new");
	ck_assert_int_eq(rename(in("d"), in("moved")), 0);
	ck_assert_int_eq(symlink("../out", in("d")), 0);
	ck_assert_int_eq(stage_race(&r), -1);
	ck_assert_str_eq(r.why.code, "path_violation");
	file_change_clear(&r.f);
	(void)close(r.root);
	ck_assert_int_eq(rmdir(in("../out")), 0);
}
END_TEST

/* ---- who swaps names while it works ---- */

struct swapper {
	pthread_t thread;
	int root;
	atomic_bool stop;
	unsigned long swaps;
};

/* Directories, files and links that leave the workspace change places as fast as they can. */
static void *swap(void *arg)
{
	static const char *const PAIRS[][2] = { { "d", "leaves" },
		                                { "f.txt", "file-leaves" },
		                                { "e", "absolute" } };
	struct swapper *s = arg;

	while (!atomic_load(&s->stop)) {
		for (size_t i = 0; i < COUNT(PAIRS); i++)
			(void)renameat2(s->root, PAIRS[i][0], s->root, PAIRS[i][1],
			                RENAME_EXCHANGE);
		s->swaps++;
	}
	return NULL;
}

static void given_swapped_names(struct swapper *s)
{
	OWNED(str) struct str outside = { 0 };

	begin();
	str_addf(&outside, "%s/../out", ws);
	ck_assert_int_eq(mkdir(in("../out"), 0755), 0);
	file("../out/a.txt", "secret");
	ck_assert_int_eq(mkdir(in("d"), 0755), 0);
	ck_assert_int_eq(mkdir(in("e"), 0755), 0);
	file("f.txt", "x");
	ck_assert_int_eq(symlink("../out", in("leaves")), 0);
	ck_assert_int_eq(symlink("../out/a.txt", in("file-leaves")), 0);
	ck_assert_int_eq(symlink(outside.bytes, in("absolute")), 0);
	*s = (struct swapper){ .root = open(ws, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	ck_assert_int_ge(s->root, 0);
}

/* Everything that opens, reads or changes a file of the directory is told. */
static int watch_outside(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	ck_assert_int_ge(inotify_add_watch(fd, in("../out"), IN_ALL_EVENTS), 0);
	return fd;
}

static const char SWAPPED[] = "--- /dev/null\n+++ b/d/new.txt\n@@ -0,0 +1 @@\n+new\n"
                              "--- /dev/null\n+++ b/e/sub/new.txt\n@@ -0,0 +1 @@\n+new\n";

/* How often who writes and who swaps get a core, and in which order, is the machine's affair. */
static bool some_were_applied_and_some_refused(void)
{
	OWNED(char_ptr)
	char *states = rows("SELECT count(DISTINCT state) FROM apply"
	                    " WHERE state IN ('applied', 'refused')");

	return strcmp(states, "2\n") == 0;
}

START_TEST(nothing_outside_is_opened_or_written_whoever_swaps_names)
{
	static const char *const PATHS[] = { "d/a.txt", "f.txt", "e/sub/a.txt", "d/new.txt" };
	const char *given_seconds = getenv("INTERCOM_RACE_SECONDS");
	int64_t until_ms =
	    clock_monotonic_ms() + 1000 * (given_seconds ? strtol(given_seconds, NULL, 10) : 5);
	char event[4096];
	struct swapper s;
	int outside, more = 0;

	given_swapped_names(&s);
	outside = watch_outside();
	ck_assert_int_eq(pthread_create(&s.thread, NULL, swap, &s), 0);
	while (clock_monotonic_ms() < until_ms ||
	       (!some_were_applied_and_some_refused() && more++ < MORE_ROUNDS)) {
		for (size_t i = 0; i < BATCH * COUNT(PATHS); i++) {
			const char *path = PATHS[i % COUNT(PATHS)];

			approve(path, i % COUNT(PATHS) == 3 ? SWAPPED : "mine");
			call_check_diff(true);
		}
		run_worker("applier");
	}
	atomic_store(&s.stop, true);
	ck_assert_int_eq(pthread_join(s.thread, NULL), 0);
	(void)close(s.root);
	ck_assert_int_lt(read(outside, event, sizeof(event)), 0);
	(void)close(outside);
	file_is("../out/a.txt", "secret");
	ck_assert_uint_gt(s.swaps, 1000);
	expect("SELECT DISTINCT coalesce(error_code, '') FROM apply WHERE state = 'refused'"
	       " AND error_code NOT IN ('path_violation', 'patch_conflict', 'digest_mismatch')",
	       "");
	expect("SELECT count(*) FROM apply WHERE state NOT IN ('applied', 'refused')", "0\n");
	expect("SELECT count(DISTINCT state) FROM apply", "2\n");
	ck_assert_int_eq(hidden_entries(), 0);
	(void)printf("%d writes while names changed places %lu times\n", asked, s.swaps);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("applier_races");
	TCase *c = tcase_create("applier");
	TCase *race = tcase_create("race");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, race_the_file_changes_after_the_plan);
	tcase_add_test(c, room_is_looked_for_before_anything_is_staged);
	tcase_add_test(c, race_what_somebody_wrote_in_the_last_moment_is_not_overwritten);
	tcase_add_test(c, race_what_was_placed_is_put_back_unless_somebody_changed_it);
	tcase_add_test(c, race_somebody_makes_the_new_file_first);
	tcase_add_test(c, race_directories_that_were_made_for_nothing_go);
	tcase_add_test(c, race_the_file_becomes_a_link_or_its_directory_does);
	suite_add_tcase(s, c);
	tcase_add_checked_fixture(race, NULL, close_store);
	tcase_set_timeout(race, 0);
	tcase_add_test(race, nothing_outside_is_opened_or_written_whoever_swaps_names);
	suite_add_tcase(s, race);
	return run_suite(s);
}
