#include "show_files.h"

#include "content.h"
#include "front.h"
#include "jsonrpc.h"
#include "log.h"
#include "request.h"
#include "safe_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	VIEW_BYTES = 1000000, /* of a file: more Slack takes as no snippet */
	VIEW_FILES = 10, /* of a proposal that touches more */
};

struct wish {
	int64_t seq, request_seq;
	char *channel, *thread;
};

static void wish_clear(struct wish *v)
{
	free(v->channel);
	free(v->thread);
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* 1 there is one, 0 nobody asks, -1. */
static int next(struct front *f, struct wish *v, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_FILE_VIEW_NEXT);
	int got;

	bind_text(s, ":host", f->worker.host);
	got = stmt_row(s, e);
	if (got > 0)
		*v = (struct wish){ .seq = col_int(s, FILE_VIEW_NEXT_SEQ),
			            .request_seq = col_int(s, FILE_VIEW_NEXT_REQUEST_SEQ),
			            .channel = copy(col_text(s, FILE_VIEW_NEXT_CHANNEL_ID)),
			            .thread = copy(col_text(s, FILE_VIEW_NEXT_THREAD_TS)) };
	stmt_reset(s);
	return got;
}

/* ---- reading ---- */

/* A file, or why it is not shown. */
struct seen {
	struct str bytes, why;
	const char *path; /* of the request */
};

static void look_at(struct seen *seen, int root_fd, const struct touched *t)
{
	struct err e = ERR_INIT;
	const char *path = t->target;
	int got = safe_path_read(root_fd, path, VIEW_BYTES, &seen->bytes, NULL, &e);

	seen->path = path;
	if (got < 0)
		str_add(&seen->why, e.text);
	else if (got == 0)
		str_addf(&seen->why, "%s does not exist any more", path);
	else if (!utf8_valid(str_text(&seen->bytes), seen->bytes.length) ||
	         memchr(str_text(&seen->bytes), '\0', seen->bytes.length))
		str_addf(&seen->why, "%s is no text", path);
}

/* Of each file that was there when the question was asked. How many; the rest in *ret_more. */
static size_t look(const struct request *r, struct seen seen[VIEW_FILES], size_t *ret_more)
{
	struct err e = ERR_INIT;
	size_t count = 0;
	int root = -1;
	bool open = workspace_open(r->row.workspace_root, &root, &e) == 0;

	*ret_more = 0;
	for (size_t i = 0; i < r->file_count; i++) {
		if (strcmp(r->files[i].hash, NO_FILE) == 0)
			continue;
		if (count == VIEW_FILES) {
			++*ret_more;
			continue;
		}
		if (open) {
			look_at(&seen[count], root, &r->files[i]);
		} else {
			seen[count].path = r->files[i].target;
			str_add(&seen[count].why, e.text);
		}
		count++;
	}
	if (open)
		(void)close(root);
	return count;
}

/* ---- showing ---- */

static stmt *say(struct front *f, enum sql which, const struct wish *v, const struct request *r)
{
	stmt *s = store_stmt(&f->worker.store, which);

	bind_int(s, ":session", r->row.session_seq);
	bind_int(s, ":request", r->row.seq);
	bind_text(s, ":channel", v->channel);
	bind_text(s, ":thread_ts", v->thread);
	return s;
}

static int say_text(struct front *f, const struct wish *v, const struct request *r,
                    const char *text, struct err *e)
{
	stmt *s = say(f, SQL_FILE_VIEW_SAY, v, r);

	bind_text(s, ":text", text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int show(struct front *f, const struct wish *v, const struct request *r,
                const struct seen *seen, struct err *e)
{
	OWNED(str) struct str text = STR_INIT;
	int64_t content;
	stmt *s;

	if (seen->why.length) {
		str_addf(&text, "Not shown: %s", str_text(&seen->why));
		return say_text(f, v, r, text.bytes, e);
	}
	content = content_put(&f->worker.store, str_text(&seen->bytes), seen->bytes.length, e);
	if (content < 0)
		return -1;
	s = say(f, SQL_FILE_VIEW_SHOW, v, r);
	bind_int(s, ":content", content);
	bind_text(s, ":file_name", seen->path);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int say_rest(struct front *f, const struct wish *v, const struct request *r, size_t count,
                    size_t more, struct err *e)
{
	char text[100];

	if (count && !more)
		return 0;
	if (count)
		(void)snprintf(text, sizeof(text), "%zu more files are not shown.", more);
	else
		(void)snprintf(text, sizeof(text), "There is no file yet: all of it is new.");
	return say_text(f, v, r, text, e);
}

static int settle(struct front *f, const struct wish *v, const struct request *r,
                  const struct seen *seen, size_t count, size_t more, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_FILE_VIEW_DELETE);

	bind_int(s, ":seq", v->seq);
	if (stmt_run(s, e) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (show(f, v, r, &seen[i], e))
			return -1;
	return say_rest(f, v, r, count, more, e);
}

static int carry_out(struct front *f, const struct wish *v, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	struct seen seen[VIEW_FILES] = { { .path = NULL } };
	size_t more, count;
	int failed = request_read(&f->worker.store, v->request_seq, &r, e) < 0 ? -1 : 0;

	if (failed)
		return -1;
	count = look(&r, seen, &more);
	failed = store_begin(&f->worker.store, e);
	if (!failed && settle(f, v, &r, seen, count, more, e)) {
		store_rollback(&f->worker.store);
		failed = -1;
	} else if (!failed) {
		failed = store_commit(&f->worker.store, e);
	}
	for (size_t i = 0; i < count; i++) {
		str_clear(&seen[i].bytes);
		str_clear(&seen[i].why);
	}
	return failed;
}

void show_files_look(struct front *f)
{
	for (int got = 1; got > 0;) {
		OWNED(wish) struct wish v = { .seq = 0 };
		struct err e = ERR_INIT;

		got = next(f, &v, &e);
		if (got > 0 && carry_out(f, &v, &e))
			got = -1;
		if (got < 0)
			log_warn("files could not be shown: %s", e.text);
		if (store_is_broken(&f->worker.store))
			front_fail(f, &e);
	}
}
