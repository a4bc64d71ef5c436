/* libFuzzer target for proposals: whatever a diff says, looking at the files that it names and
 * computing what they become neither crashes nor reads beyond; what is taken touches only names
 * that may be touched, each once, and nothing outside is opened.
 *
 * The tree is a small one in memory (/dev/shm) that is only read. Made with clang
 * -fsanitize=fuzzer,address,undefined and all of src/ but toml.cc. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	must(workspace_open(root, &fd, NULL) == 0);
	return fd;
}

static void check_plan(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct planned *f = &plan->files[i];
		OWNED(str) struct str clean = STR_INIT;

		must(safe_path_clean(root, f->is.path, strlen(f->is.path), &clean, NULL) == 0);
		must(strcmp(str_text(&clean), f->is.path) == 0);
		must(safe_path_clean(root, str_text(&f->target), f->target.length, &clean, NULL) ==
		     0);
		must(touched_action(f->is.action) == f->is.action);
		must((strcmp(f->is.hash, NO_FILE) == 0) == !f->exists);
		for (size_t k = 0; k < i; k++)
			must(strcmp(plan->files[k].is.path, f->is.path) != 0);
	}
	must(plan->primary < plan->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	OWNED(plan) struct plan plan = PLAN_INIT;
	struct refusal why = { .code = NULL };
	const struct proposal p = { .workspace_root = root,
		                    .file_path = "f",
		                    .body = (const char *)data,
		                    .body_length = size };

	if (fd < 0)
		fd = make_tree();
	if (plan_look(fd, &p, &plan, &why) || plan_work(&p, &plan, &why))
		must(why.code && why.text[0] && utf8_valid(why.text, strlen(why.text)));
	else
		check_plan(&plan);
	return 0;
}
