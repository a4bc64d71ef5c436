#include "apply_job.h"

#include "clock.h"
#include "disk.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWERED_MS = 2000 }; /* a disk that has answered is not asked again for this long */

/* Runs in a separate process: visits every name, whatever is there. */
static void look_at_files(const void *arg, int out)
{
	const struct apply_job *j = arg;
	struct stat about;
	int root = open(j->workspace_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)out;
	for (size_t i = 0; i < j->request.file_count; i++)
		(void)fstatat(root, j->request.files[i].target, &about, AT_SYMLINK_NOFOLLOW);
}

static void forget_silent(struct applier *a, size_t i)
{
	if (!a->silent[i].root)
		return;
	(void)close(a->silent[i].left_fd);
	free(a->silent[i].root);
	a->silent[i].root = NULL;
}

void applier_clear(struct applier *a)
{
	for (size_t i = 0; i < APPLY_WAITING_MAX; i++)
		forget_silent(a, i);
	free(a->answered);
	a->answered = NULL;
}

/* Whether a process that was left behind still waits for this disk; forgets those that do not. */
bool apply_disk_is_silent(struct applier *a, const char *root)
{
	bool found = false;

	for (size_t i = 0; i < APPLY_WAITING_MAX; i++) {
		struct pollfd p = { .fd = a->silent[i].left_fd };

		if (!a->silent[i].root)
			continue;
		if (poll(&p, 1, 0) == 0)
			found = found || strcmp(a->silent[i].root, root) == 0;
		else
			forget_silent(a, i);
	}
	return found;
}

void apply_disk_note_silent(struct applier *a, const char *root, int left_fd)
{
	for (size_t i = 0; i < APPLY_WAITING_MAX; i++)
		if (!a->silent[i].root) {
			a->silent[i].root = xstrdup(root);
			a->silent[i].left_fd = left_fd;
			return;
		}
	(void)close(left_fd);
}

static bool has_answered(const struct applier *a, const char *root)
{
	return a->answered && strcmp(a->answered, root) == 0 &&
	       clock_monotonic_ms() - a->answered_ms < ANSWERED_MS;
}

static void note_answer(struct applier *a, const char *root)
{
	xreplace(&a->answered, root);
	a->answered_ms = clock_monotonic_ms();
}

bool apply_job_disk_answers(struct apply_job *j)
{
	OWNED(str) struct str nothing = { 0 };
	struct applier *a = j->a;
	int left_fd;

	if (!j->was_claimed && has_answered(a, j->workspace_root))
		return true;
	j->is_silent = apply_disk_is_silent(a, j->workspace_root);
	if (!j->is_silent &&
	    disk_ask(look_at_files, j, DISK_PATIENCE_MS, &nothing, &left_fd) == 0) {
		apply_disk_note_silent(a, j->workspace_root, left_fd);
		j->is_silent = true;
	}
	if (!j->is_silent)
		note_answer(a, j->workspace_root);
	return !j->is_silent;
}
