/* tree_change: a tree becomes another one, exactly, or stays as it is. */
#include "suite.h"
#include "tree_change.h"

#include "io.h"
#include "safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 120, PATH_BYTES = 300, ENTRIES = 400 };

static char scratch[64]; /* holds ws/, the workspace, and store/, contents by hash */
static char root[80];
static int root_fd = -1, store_fd = -1;

static void setup(void)
{
	struct err e = { 0 };

	(void)snprintf(scratch, sizeof(scratch), "/tmp/test_tree_change.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	(void)snprintf(root, sizeof(root), "%s/ws", scratch);
	ck_assert_int_eq(chdir(scratch), 0);
	ck_assert_int_eq(mkdir("ws", 0755), 0);
	ck_assert_int_eq(mkdir("store", 0755), 0);
	store_fd = open("store", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(chdir("ws"), 0);
	ck_assert_msg(safe_path_open(root, &root_fd, &e) == 0, "%s", e.text);
}

static void teardown(void)
{
	(void)close(root_fd);
	(void)close(store_fd);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert(remove_tree(scratch));
}

/* ---- trees ---- */

struct entry {
	char path[PATH_BYTES], target[PATH_BYTES];
	struct thing thing;
	int64_t size;
};

struct tree {
	struct entry entries[ENTRIES];
	size_t count;
};

static struct tree *walked; /* what nftw fills */

/* Keeps the content of a file, as a checkpoint would. */
static int64_t store_content(const char *path, const char *hash)
{
	char bytes[4096];
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int to = openat(store_fd, hash, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t n = read(from, bytes, sizeof(bytes));

	MUST(n >= 0 && io_write_all(to, bytes, (size_t)n) == 0, "%s: %s", path, strerror(errno));
	(void)close(from);
	(void)close(to);
	return n;
}

static int walk_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	struct entry *entry = &walked->entries[walked->count];
	struct stat own;

	(void)st;
	(void)type;
	if (at->level == 0)
		return 0;
	MUST(walked->count++ < ENTRIES, "the tree is too large");
	*entry = (struct entry){ .size = 0 };
	(void)snprintf(entry->path, sizeof(entry->path), "%s", path + 2);
	MUST(thing_look(AT_FDCWD, path, &entry->thing, &own) == 0, "%s: %s", path, strerror(errno));
	if (entry->thing.kind == THING_FILE)
		entry->size = store_content(path, entry->thing.hash);
	if (entry->thing.kind == THING_LINK)
		MUST(readlink(path, entry->target, sizeof(entry->target) - 1) > 0, "%s", path);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return tree_order(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

static void look_at_tree(struct tree *tree)
{
	tree->count = 0;
	walked = tree;
	MUST(nftw(".", walk_one, 20, FTW_PHYS) == 0, "nftw: %s", strerror(errno));
	qsort(tree->entries, tree->count, sizeof(*tree->entries), by_path);
}

static void must_be(const struct tree *wanted, const char *when)
{
	static struct tree found;

	look_at_tree(&found);
	for (size_t i = 0; i < wanted->count && i < found.count; i++) {
		const struct entry *a = &wanted->entries[i], *b = &found.entries[i];

		MUST(strcmp(a->path, b->path) == 0 && thing_is_same(&a->thing, &b->thing),
		     "%s: %s (%s, %o, %.8s) is %s (%s, %o, %.8s)", when, a->path,
		     thing_kind_name(a->thing.kind), (unsigned)a->thing.mode, a->thing.hash,
		     b->path, thing_kind_name(b->thing.kind), (unsigned)b->thing.mode,
		     b->thing.hash);
	}
	MUST(wanted->count == found.count, "%s: %zu names instead of %zu", when, found.count,
	     wanted->count);
}

/* ---- random trees ---- */

static unsigned seed;

static unsigned below_n(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static void random_path(char *path)
{
	static const char *const NAMES[] = { "a", "a-b", "b", "c\n\xff", "d e" };
	unsigned depth = 1 + below_n(4);

	*path = '\0';
	for (unsigned i = 0; i < depth; i++) {
		if (*path)
			strcat(path, "/");
		strcat(path, NAMES[below_n(COUNT(NAMES))]);
	}
}

static void put_random(const char *path)
{
	static const mode_t MODES[] = { 0644, 0600, 0755, 0444, 0640 };
	char text[64];
	int fd;

	(void)snprintf(text, sizeof(text), "text %u", below_n(20));
	switch (below_n(4)) {
	case 0:
		(void)mkdir(path, 0755);
		(void)chmod(path, below_n(2) ? 0755 : 0700);
		break;
	case 1:
		(void)symlink(below_n(2) ? "a" : "../nowhere", path);
		break;
	default:
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		MUST(io_write_all(fd, text, strlen(text)) == 0, "write");
		(void)fchmod(fd, MODES[below_n(COUNT(MODES))]);
		(void)close(fd);
	}
}

/* Above path no link is followed: it could lead out of the workspace. */
static bool lies_behind_a_link(const char *path)
{
	char above[PATH_BYTES];
	struct stat st;

	(void)snprintf(above, sizeof(above), "%s", path);
	for (char *slash = above; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (lstat(above, &st) == 0 && S_ISLNK(st.st_mode))
			return true;
		*slash = '/';
	}
	return false;
}

static void edit(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		char path[PATH_BYTES];
		struct stat st;

		random_path(path);
		if (lies_behind_a_link(path))
			continue;
		if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && below_n(3) == 0)
			(void)chmod(path, 0755);
		else if (lstat(path, &st) == 0 && below_n(3) != 0)
			MUST(remove_tree(path), "cannot remove %s", path);
		put_random(path);
	}
}

/* ---- changes ---- */

static int copy_content(void *context, const char *hash, int fd, struct err *e)
{
	char bytes[4096];
	int from = openat(store_fd, hash, O_RDONLY | O_CLOEXEC);
	ssize_t n = from < 0 ? -1 : read(from, bytes, sizeof(bytes));

	(void)context;
	if (from >= 0)
		(void)close(from);
	if (n < 0) {
		errno = 0;
		return err_set(e, ERR_INPUT, "object %.8s is missing", hash);
	}
	return io_write_all(fd, bytes, (size_t)n);
}

static void add_step(struct tree_change *t, const struct entry *before, const struct entry *after)
{
	static const struct thing NOTHING = { .kind = THING_NONE };
	struct tree_step *s;

	if (before && after && thing_is_same(&before->thing, &after->thing))
		return;
	s = tree_change_add(t, before ? before->path : after->path,
	                    before ? &before->thing : &NOTHING, after ? &after->thing : &NOTHING);
	s->size = after ? after->size : 0;
	if (after && after->thing.kind == THING_LINK)
		s->target = xstrdup(after->target);
}

static void plan(struct tree_change *t, const struct tree *from, const struct tree *to)
{
	size_t i = 0, k = 0;

	t->root_fd = root_fd;
	t->source.copy = copy_content;
	while (i < from->count || k < to->count) {
		int order = i == from->count ? 1
		            : k == to->count ? -1
		                             : by_path(&from->entries[i], &to->entries[k]);

		add_step(t, order <= 0 ? &from->entries[i] : NULL,
		         order >= 0 ? &to->entries[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
}

static void stage(struct tree_change *t)
{
	struct refusal why = { .code = NULL };

	tree_change_name(t);
	MUST(tree_change_check(t, &why) == 0, "check: %s", why.text);
	MUST(tree_change_stage(t, &why) == 0, "stage: %s", why.text);
}

static struct tree from, to;

/* Two trees, and the workspace stands at the first. */
static void given_trees(unsigned number)
{
	seed = number;
	MUST(remove_tree(root) && mkdir(root, 0755) == 0 && chdir(root) == 0, "begin");
	(void)close(root_fd);
	MUST(safe_path_open(root, &root_fd, &(struct err){ 0 }) == 0, "open");
	edit(30);
	look_at_tree(&to);
	edit(20);
	look_at_tree(&from);
}

/* As after a kill: only the name of the hidden directory is known. */
static void forget(struct tree_change *t)
{
	struct tree_change fresh = TREE_CHANGE_INIT;

	plan(&fresh, &from, &to);
	memcpy(fresh.stage_name, t->stage_name, sizeof(fresh.stage_name));
	tree_change_clear(t);
	*t = fresh;
}

START_TEST(a_tree_becomes_the_other_one)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct tree_change t = TREE_CHANGE_INIT;
		struct refusal why = { .code = NULL };

		given_trees(i);
		plan(&t, &from, &to);
		stage(&t);
		MUST(tree_change_place(&t, &why) == 0, "%u: place: %s", i, why.text);
		MUST(tree_change_finish(&t, &why) == 0, "%u: finish: %s", i, why.text);
		must_be(&to, "afterwards");
		tree_change_clear(&t);
	}
}
END_TEST

START_TEST(what_was_put_in_place_can_be_put_back)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct tree_change t = TREE_CHANGE_INIT;
		struct refusal why = { .code = NULL };
		struct str names = { 0 };

		given_trees(i);
		plan(&t, &from, &to);
		stage(&t);
		MUST(tree_change_place(&t, &why) == 0, "%u: place: %s", i, why.text);
		if (i % 2) {
			forget(&t);
			MUST(tree_change_find(&t, &why) == 1, "%u: find: %s", i, why.text);
		}
		MUST(tree_change_put_back(&t, &why) == 0, "%u: put back: %s", i, why.text);
		tree_change_name_left(&t, &names);
		tree_change_name_gone(&t, &names);
		MUST(names.length == 0, "%u: not as it was: %s", i, names.bytes);
		MUST(tree_change_remove_stage(&t, &why) == 0, "%u: remove: %s", i, why.text);
		must_be(&from, "put back");
		tree_change_clear(&t);
	}
}
END_TEST

/* Somebody changes something between the check and the moment when it is replaced. */
START_TEST(what_somebody_changes_meanwhile_stops_it_and_stays)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct tree_change t = TREE_CHANGE_INIT;
		struct refusal why = { .code = NULL };
		const struct tree_step *victim = NULL;

		given_trees(i);
		plan(&t, &from, &to);
		for (size_t k = 0; k < t.count; k++)
			if (t.steps[k].before.kind == THING_FILE)
				victim = &t.steps[k];
		if (victim) {
			FILE *f;

			stage(&t);
			f = fopen(victim->path, "a");
			MUST(f && fputs("mine", f) >= 0 && fclose(f) == 0, "%s", victim->path);
			MUST(tree_change_place(&t, &why) < 0, "%u: it was overwritten", i);
			ck_assert_str_eq(why.code, "workspace_changed");
			MUST(strstr(why.text, "was changed by someone else"), "%s", why.text);
			MUST(tree_change_put_back(&t, &why) == 0 &&
			         tree_change_remove_stage(&t, &why) == 0,
			     "%u: %s", i, why.text);
			for (size_t k = 0; k < from.count; k++)
				if (strcmp(from.entries[k].path, victim->path) == 0)
					MUST(thing_look(AT_FDCWD, victim->path,
					                &from.entries[k].thing, NULL) == 0,
					     "%s", victim->path);
			must_be(&from, "with the change");
		}
		tree_change_clear(&t);
	}
}
END_TEST

/* ---- single cases ---- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_write_all(fd, text, strlen(text)), 0);
	ck_assert_int_eq(close(fd), 0);
}

static void refused(const char *code, const char *text)
{
	struct tree_change t = TREE_CHANGE_INIT;
	struct refusal why = { .code = NULL };

	plan(&t, &from, &to);
	tree_change_name(&t);
	ck_assert_int_eq(tree_change_check(&t, &why), -1);
	ck_assert_str_eq(why.code, code);
	ck_assert_str_eq(why.text, text);
	tree_change_clear(&t);
}

START_TEST(a_file_that_no_checkpoint_knows_is_never_removed)
{
	write_file("a", "file");
	look_at_tree(&to);
	ck_assert_int_eq(unlink("a"), 0);
	ck_assert_int_eq(mkdir("a", 0755), 0);
	look_at_tree(&from);
	write_file("a/build.o", "left out");
	refused("in_the_way", "a/build.o is in the way of a, and is no part of any checkpoint: "
	                      "move it");
}
END_TEST

START_TEST(a_directory_with_something_left_out_stays)
{
	struct tree_change t = TREE_CHANGE_INIT;
	struct refusal why = { .code = NULL };

	look_at_tree(&to);
	ck_assert_int_eq(mkdir("a", 0755), 0);
	write_file("a/new", "new");
	look_at_tree(&from);
	write_file("a/build.o", "left out");
	plan(&t, &from, &to);
	stage(&t);
	ck_assert_int_eq(tree_change_place(&t, &why), 0);
	ck_assert_int_eq(tree_change_finish(&t, &why), 0);
	tree_change_clear(&t);
	ck_assert_int_eq(access("a/new", F_OK), -1);
	ck_assert_int_eq(access("a/build.o", F_OK), 0);
}
END_TEST

static void append(const char *path)
{
	FILE *f = fopen(path, "a");

	MUST(f && fputs("mine", f) >= 0 && fclose(f) == 0, "%s", path);
}

/* A folder that is to be put in the place of a file, and a file in that of a folder; both are. */
static void given_swapped(struct tree_change *t)
{
	struct refusal why = { .code = NULL };

	ck_assert_int_eq(mkdir("folder", 0755), 0);
	write_file("folder/one", "one");
	write_file("folder/two", "two");
	write_file("file", "file");
	look_at_tree(&to);
	MUST(remove_tree("folder") && unlink("file") == 0, "%s", strerror(errno));
	write_file("folder", "was a file");
	ck_assert_int_eq(mkdir("file", 0750), 0);
	ck_assert_int_eq(mkdir("file/deep", 0700), 0);
	write_file("file/deep/one", "one");
	write_file("file/two", "two");
	look_at_tree(&from);
	plan(t, &from, &to);
	stage(t);
	MUST(tree_change_place(t, &why) == 0, "place: %s", why.text);
}

static void put_back(struct tree_change *t, const char *left, const char *gone)
{
	OWNED(str) struct str names = { 0 };
	struct refusal why = { .code = NULL };

	MUST(tree_change_put_back(t, &why) == 0, "put back: %s", why.text);
	tree_change_name_left(t, &names);
	ck_assert_str_eq(str_text(&names), left);
	str_reset(&names);
	tree_change_name_gone(t, &names);
	ck_assert_str_eq(str_text(&names), gone);
	MUST(tree_change_remove_stage(t, &why) == 0, "remove: %s", why.text);
	tree_change_clear(t);
}

START_TEST(what_cannot_come_back_because_somebody_wrote_there_is_named)
{
	struct tree_change t = TREE_CHANGE_INIT;
	struct stat st;

	given_swapped(&t);
	append("folder/one");
	append("file");
	put_back(&t, "file, folder (with 1 below it)", "file (with 2 below it), folder");
	ck_assert_int_eq(stat("folder", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	ck_assert_int_eq(access("folder/two", F_OK), -1);
}
END_TEST

START_TEST(what_somebody_has_removed_meanwhile_does_not_keep_what_was_there_from_coming_back)
{
	struct tree_change t = TREE_CHANGE_INIT;

	given_swapped(&t);
	MUST(remove_tree("folder") && unlink("file") == 0, "%s", strerror(errno));
	put_back(&t, "", "");
	must_be(&from, "put back");
}
END_TEST

START_TEST(a_folder_that_somebody_has_made_again_gets_back_what_was_in_it)
{
	struct tree_change t = TREE_CHANGE_INIT;

	given_swapped(&t);
	ck_assert_int_eq(unlink("file"), 0);
	ck_assert_int_eq(mkdir("file", 0755), 0);
	ck_assert_int_eq(mkdir("file/deep", 0755), 0);
	write_file("file/two", "mine");
	put_back(&t, "file (with 1 below it)", "file/two");
	ck_assert_int_eq(access("file/deep/one", F_OK), 0);
}
END_TEST

/* With what was put there. */
START_TEST(what_was_in_a_folder_that_somebody_has_moved_away_is_named)
{
	struct tree_change t = TREE_CHANGE_INIT;
	struct refusal why = { .code = NULL };

	ck_assert_int_eq(mkdir("d", 0755), 0);
	write_file("d/changed", "old");
	look_at_tree(&to);
	write_file("d/changed", "new");
	write_file("d/added", "added");
	look_at_tree(&from);
	plan(&t, &from, &to);
	stage(&t);
	MUST(tree_change_place(&t, &why) == 0, "place: %s", why.text);
	ck_assert_int_eq(rename("d", "moved"), 0);
	put_back(&t, "", "d/added, d/changed");
}
END_TEST

START_TEST(a_change_since_the_comparison_is_refused_by_its_name)
{
	write_file("a", "old");
	write_file("b", "old");
	look_at_tree(&to);
	write_file("a", "new");
	ck_assert_int_eq(unlink("b"), 0);
	look_at_tree(&from);
	write_file("b", "newer");
	refused("workspace_changed", "b has appeared since it was compared");
	ck_assert_int_eq(unlink("b"), 0);
	write_file("a", "newer");
	refused("workspace_changed", "a has changed since it was compared");
	ck_assert_int_eq(unlink("a"), 0);
	refused("workspace_changed", "a is gone since it was compared");
}
END_TEST

START_TEST(what_is_protected_is_never_written)
{
	look_at_tree(&from);
	ck_assert_int_eq(mkdir("sub", 0755), 0);
	look_at_tree(&from);
	write_file("sub/.git", "gitdir: /elsewhere");
	look_at_tree(&to);
	ck_assert_int_eq(unlink("sub/.git"), 0);
	refused("path_violation", "path violation: sub/.git is protected");
}
END_TEST

/* It was moved there since the checkpoint was taken. */
START_TEST(what_is_ours_is_never_written)
{
	OWNED(char_ptr) char *folder = realpath(".", NULL);
	OWNED(str) struct str name = { 0 };
	struct own_places ours = { .database = NULL };
	struct tree_change t = TREE_CHANGE_INIT;
	struct refusal why = { .code = NULL };

	str_addf(&name, "%s/a.db", folder);
	ours.database = name.bytes;
	write_file("a.db", "old");
	look_at_tree(&to);
	write_file("a.db", "new");
	look_at_tree(&from);
	plan(&t, &from, &to);
	t.ours = &ours;
	ck_assert_int_eq(tree_change_check(&t, &why), -1);
	ck_assert_str_eq(why.code, "path_violation");
	ck_assert_str_eq(why.text, "path violation: a.db belongs to agent-intercom's database");
	tree_change_clear(&t);
}
END_TEST

START_TEST(content_that_is_missing_is_named_and_nothing_is_written)
{
	struct tree_change t = TREE_CHANGE_INIT;
	struct refusal why = { .code = NULL };

	write_file("a", "old");
	look_at_tree(&to);
	ck_assert_int_eq(unlinkat(store_fd, to.entries[0].thing.hash, 0), 0);
	write_file("a", "new");
	look_at_tree(&from);
	plan(&t, &from, &to);
	tree_change_name(&t);
	ck_assert_int_eq(tree_change_check(&t, &why), 0);
	ck_assert_int_eq(tree_change_stage(&t, &why), -1);
	ck_assert_str_eq(why.code, "content_missing");
	ck_assert_int_eq(tree_change_remove_stage(&t, &why), 0);
	must_be(&from, "afterwards");
	tree_change_clear(&t);
}
END_TEST

/* As if it were made there. */
START_TEST(what_comes_back_has_the_group_of_its_set_gid_folder)
{
	enum { TEAM = 4242 };
	static const struct {
		const char *path;
		gid_t group;
	} NAMES[] = { { "team/a", TEAM },  { "team/in", TEAM },        { "team/in/a", TEAM },
		      { "team/own/a", 0 }, { "team/in/deep/a", TEAM }, { "plain/a", 0 } };
	struct tree_change t = TREE_CHANGE_INIT;
	struct refusal why = { .code = NULL };
	struct stat st;

	SKIP_UNLESS(geteuid() == 0, "root, who can give a folder away");
	ck_assert_int_eq(mkdir("plain", 0755), 0);
	ck_assert_int_eq(mkdir("team", 0755), 0);
	ck_assert_int_eq(chown("team", 0, TEAM), 0);
	ck_assert_int_eq(chmod("team", 02770), 0);
	ck_assert_int_eq(mkdir("team/in", 0770), 0);
	ck_assert_int_eq(mkdir("team/in/deep", 0770), 0);
	ck_assert_int_eq(mkdir("team/own", 0755), 0);
	ck_assert_int_eq(chmod("team/own", 0755), 0);
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strcmp(NAMES[i].path, "team/in") != 0)
			write_file(NAMES[i].path, "a");
	look_at_tree(&to);
	ck_assert(remove_tree("team/in") && remove_tree("team/own"));
	ck_assert_int_eq(unlink("team/a"), 0);
	ck_assert_int_eq(unlink("plain/a"), 0);
	look_at_tree(&from);
	plan(&t, &from, &to);
	stage(&t);
	MUST(tree_change_place(&t, &why) == 0, "place: %s", why.text);
	MUST(tree_change_finish(&t, &why) == 0, "finish: %s", why.text);
	must_be(&to, "afterwards");
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		ck_assert_int_eq(lstat(NAMES[i].path, &st), 0);
		MUST(st.st_gid == NAMES[i].group, "%s: %u", NAMES[i].path, st.st_gid);
	}
	tree_change_clear(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tree_change");
	TCase *c = tcase_create("tree_change");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_tree_becomes_the_other_one);
	tcase_add_test(c, what_was_put_in_place_can_be_put_back);
	tcase_add_test(c, what_somebody_changes_meanwhile_stops_it_and_stays);
	tcase_add_test(c, a_file_that_no_checkpoint_knows_is_never_removed);
	tcase_add_test(c, a_directory_with_something_left_out_stays);
	tcase_add_test(c, what_cannot_come_back_because_somebody_wrote_there_is_named);
	tcase_add_test(
	    c, what_somebody_has_removed_meanwhile_does_not_keep_what_was_there_from_coming_back);
	tcase_add_test(c, a_folder_that_somebody_has_made_again_gets_back_what_was_in_it);
	tcase_add_test(c, what_was_in_a_folder_that_somebody_has_moved_away_is_named);
	tcase_add_test(c, a_change_since_the_comparison_is_refused_by_its_name);
	tcase_add_test(c, what_is_protected_is_never_written);
	tcase_add_test(c, what_is_ours_is_never_written);
	tcase_add_test(c, content_that_is_missing_is_named_and_nothing_is_written);
	tcase_add_test(c, what_comes_back_has_the_group_of_its_set_gid_folder);
	suite_add_tcase(s, c);
	return run_suite(s);
}
