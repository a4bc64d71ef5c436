/* The hand of the owner of a workspace, if that is another user than ours. */
#include "apply_job.h"

#include "disk.h"
#include "fences.h"
#include "files.h"

#include <fcntl.h>
#include <unistd.h>

int apply_job_find_owner(struct apply_job *j, struct err *e)
{
	return filer_find_owner(j->a->store, j->a->machine, j->workspace_root, &j->owner, e);
}

static int say_silent(struct apply_job *j)
{
	j->is_silent = true;
	(void)refusal_set(&j->report->why, "workspace_unreadable",
	                  "the disk of %.300s does not answer; call again when it does",
	                  j->workspace_root);
	j->report->why.again = true;
	return 1;
}

/* Visits every name, as apply_job_disk_answers: where that blocks, nothing was done yet. */
static int look(struct apply_job *j)
{
	struct stat about;
	int root;

	files_wait(DISK_PATIENCE_MS);
	root = files_open_root(j->workspace_root, O_RDONLY);
	for (size_t i = 0; root >= 0 && i < j->request.file_count; i++)
		(void)files_stat(root, j->request.files[i].target, &about, AT_SYMLINK_NOFOLLOW);
	if (root >= 0)
		(void)files_close(root);
	files_wait(FILES_PATIENCE_MS);
	if (!files_is_lost())
		return 0;
	apply_disk_note_silent(j->a, j->workspace_root, filer_leave(&j->hand));
	return say_silent(j);
}

int apply_job_start_hand(struct apply_job *j)
{
	struct filer_place place = { .socket = str_text(&j->owner.socket),
		                     .uid = j->owner.uid,
		                     .root = j->workspace_root,
		                     .fence = fence_mode_of_child(),
		                     .lock = j->lock_fd };
	struct err e = { 0 };

	if (apply_disk_is_silent(j->a, j->workspace_root))
		return say_silent(j);
	if (filer_start(&j->hand, &place, &e) == 0)
		return look(j);
	j->is_silent = e.kind == ERR_AGAIN;
	(void)refusal_set(&j->report->why, "workspace_unreadable", "%s", e.text);
	j->report->why.again = e.kind != ERR_REFUSED || j->was_claimed;
	return 1;
}
