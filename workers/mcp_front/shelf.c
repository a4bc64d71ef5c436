#include "shelf.h"

#include "front.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>

cJSON *shelf_diff(const struct job *job)
{
	return cJSON_GetObjectItemCaseSensitive(
	    cJSON_GetObjectItemCaseSensitive(job->message.params, "arguments"), "diff");
}

/* The text is in the message, and the call's arguments refer to it. */
static void replace(struct job *job, char *text)
{
	cJSON *own = shelf_diff(job);

	free(own->valuestring);
	own->valuestring = text;
	cJSON_GetObjectItemCaseSensitive(job->as.call.call.arguments, "diff")->valuestring = text;
}

/* A file without a name; -1: it cannot be made. */
static int make_file(struct front *f, const char *text, size_t length)
{
	OWNED(char_ptr) char *path = xstrdup(f->worker.db_path);
	int fd = open(dirname(path), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 && fd < f->max_fd && io_write_all(fd, text, length) == 0)
		return fd;
	io_shut(&fd);
	return -1;
}

void shelf_put(struct front *f, struct job *job)
{
	struct hand_task *t = &job->as.call.task;
	const cJSON *own = shelf_diff(job);

	if (t->ask.body_length <= FRONT_BIG_CALL || !own || own->valuestring != t->ask.body)
		return;
	t->apart = make_file(f, t->ask.body, t->ask.body_length);
	if (t->apart < 0)
		return;
	t->ask.is_apart = true;
	t->ask.body = "";
	replace(job, xstrdup(""));
}

bool shelf_has(const struct job *job)
{
	return job->as.call.task.ask.is_apart;
}

int shelf_take(struct job *job, struct err *e)
{
	struct hand_task *t = &job->as.call.task;
	size_t length = t->ask.body_length, at = 0;
	char *text = xmalloc(length + 1);

	while (at < length) {
		ssize_t n = pread(t->apart, text + at, length - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(text);
			return err_errno(e, ERR_AGAIN, "the text of the call cannot be read back");
		}
		at += (size_t)n;
	}
	text[length] = '\0';
	replace(job, text);
	shelf_clear(job);
	return 0;
}

void shelf_clear(struct job *job)
{
	struct hand_task *t = &job->as.call.task;

	if (t->ask.is_apart)
		(void)close(t->apart);
	t->ask.is_apart = false;
}
