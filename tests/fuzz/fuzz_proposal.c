/* libFuzzer target for proposals: whatever a diff says, looking at the files that it names and
 * computing what they become neither crashes nor reads beyond; what is taken touches only names
 * that may be touched, each once, and nothing outside is opened. Then it is written, as the applier
 * does it: each file has what was computed; and taken back: each file is as it was, and nothing is
 * left.
 *
 * The tree is a small one in memory (/dev/shm). Made with clang -fsanitize=fuzzer,address,undefined
 * and all of src/ but toml.cc. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_change.h"
#include "proposal.h"
#include "safe_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char scratch[] = "/dev/shm/fuzz_proposal.XXXXXX";
static char root[64];

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void remove_tree(void)
{
	char command[100];

	(void)snprintf(command, sizeof(command), "rm -rf %s", scratch);
	(void)!system(command);
}

/* A file, a directory, links that stay and links that leave. */
static int make_tree(void)
{
	char command[600];
	int fd = -1;

	must(mkdtemp(scratch) != NULL);
	(void)atexit(remove_tree);
	(void)snprintf(root, sizeof(root), "%s/ws", scratch);
	(void)snprintf(
	    command, sizeof(command),
	    "mkdir -p %1$s/d %1$s/.git %1$s/../out && cd %1$s && printf 'a\\nb\\nc\\n' >f &&"
	    " printf 'x\\n' >d/g && printf 's\\n' >../out/s && printf 'r\\n' >.git/config &&"
	    " ln -s f link && ln -s ../out leaves && ln -s .git togit && mkfifo pipe",
	    root);
	must(system(command) == 0);
	must(safe_path_open(root, &fd, NULL) == 0);
	return fd;
}

static void check_plan(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct planned *f = &plan->files[i];
		OWNED(str) struct str clean = { 0 };

		must(safe_path_clean(root, f->is.path, strlen(f->is.path), &clean, NULL) == 0);
		must(strcmp(str_text(&clean), f->is.path) == 0);
		must(safe_path_clean(root, f->is.target, strlen(f->is.target), &clean, NULL) == 0);
		must(f->is.action != NULL);
		must((strcmp(f->is.hash, NO_FILE) == 0) == !f->exists);
		for (size_t k = 0; k < i; k++)
			must(strcmp(plan->files[k].is.path, f->is.path) != 0);
	}
	must(plan->primary < plan->count);
}

static bool is_deletion(const struct file_change *f)
{
	return strcmp(f->action, "delete") == 0;
}

/* Opens, stages and looks at all, then puts in place what is written, then what goes. */
static int write_all_files(int fd, struct file_change *changes, size_t count, struct refusal *why)
{
	for (size_t i = 0; i < count; i++)
		if (file_change_open(fd, &changes[i], why) ||
		    file_change_stage(fd, &changes[i], 1, why) ||
		    file_change_check(&changes[i], why))
			return -1;
	for (int deletions = 0; deletions <= 1; deletions++)
		for (size_t i = 0; i < count; i++)
			if (is_deletion(&changes[i]) == (deletions == 1) &&
			    file_change_place(&changes[i], why))
				return -1;
	return 0;
}

static void take_back(int fd, struct file_change *changes, size_t count)
{
	struct refusal why = { .code = NULL };

	for (size_t i = count; i-- > 0;)
		must(!changes[i].placed || file_change_put_back(&changes[i], &why) == 0);
	for (size_t i = count; i-- > 0;)
		file_change_undo(fd, &changes[i]);
}

static void must_be(int fd, const struct file_change *f, const char *hash)
{
	struct refusal why = { .code = NULL };
	char found[SHA256_BYTES];

	must(file_change_look(fd, str_text(&f->path), found, &why) == 1);
	must(strcmp(found, hash) == 0);
}

static void write_plan(int fd, struct plan *plan)
{
	struct file_change *changes = xcalloc(plan->count, sizeof(*changes));
	struct refusal why = { .code = NULL };
	size_t count = 0;
	bool written;

	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->files[i].is.action, "read") != 0) {
			changes[count] = (struct file_change)FILE_CHANGE_INIT;
			file_change_take(fd, &plan->files[i], NULL, &changes[count++]);
		}
	written = write_all_files(fd, changes, count, &why) == 0;
	must(written || why.code);
	for (size_t i = 0; i < count && written; i++)
		must_be(fd, &changes[i], changes[i].hash_after);
	take_back(fd, changes, count);
	for (size_t i = 0; i < count; i++) {
		must_be(fd, &changes[i], changes[i].hash_before);
		must(!*changes[i].temp_name || changes[i].dir_fd < 0 ||
		     faccessat(changes[i].dir_fd, changes[i].temp_name, F_OK, 0) != 0);
		file_change_clear(&changes[i]);
	}
	free(changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	OWNED(plan) struct plan plan = { 0 };
	struct refusal why = { .code = NULL };
	const struct proposal p = { .workspace_root = root,
		                    .file_path = "f",
		                    .body = (const char *)data,
		                    .body_length = size };

	if (fd < 0)
		fd = make_tree();
	if (proposal_look(fd, &p, &plan, &why) || proposal_work(&p, &plan, &why)) {
		must(why.code && why.text[0] && utf8_valid(why.text, strlen(why.text)));
	} else {
		check_plan(&plan);
		write_plan(fd, &plan);
	}
	return 0;
}
