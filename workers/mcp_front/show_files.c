#include "show_files.h"

#include "content.h"
#include "front.h"
#include "log.h"
#include "request.h"
#include "sql/file_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being read for an operator. */
struct view {
	struct hand_task task;
	struct file_view_next_row wish;
	struct request request;
	size_t more; /* files not shown */
};

/* ---- showing ---- */

static int say_text(struct front *f, const struct file_view_next_row *v, const struct request *r,
                    const char *text, struct err *e)
{
	const struct file_view_say_args args = { .session = r->row.session_seq,
		                                 .request = r->row.seq,
		                                 .channel = v->channel_id,
		                                 .thread_ts = v->thread_ts,
		                                 .text = text };

	return sql_file_view_say(&f->worker.store, &args, e);
}

static int show(struct front *f, const struct file_view_next_row *v, const struct request *r,
                const char *path, const struct hand_file *seen, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	struct file_view_show_args args = { .session = r->row.session_seq,
		                            .request = r->row.seq,
		                            .channel = v->channel_id,
		                            .thread_ts = v->thread_ts,
		                            .file_name = path };

	if (seen->why) {
		str_addf(&text, "Not shown: %s", seen->why);
		return say_text(f, v, r, text.bytes, e);
	}
	args.content = content_put(&f->worker.store, str_text(&seen->bytes), seen->bytes.length, e);
	return args.content < 0 ? -1 : sql_file_view_show(&f->worker.store, &args, e);
}

static int say_rest(struct front *f, const struct file_view_next_row *v, const struct request *r,
                    size_t count, size_t more, struct err *e)
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

/* ---- the current request ---- */

/* Whether what was asked may have been done: what is allowed to an agent it does itself. */
static bool may_be_done(const struct request *r)
{
	return r->row.state == REQUEST_STATE_CONSUMED ||
	       (r->row.state == REQUEST_STATE_APPROVED && r->row.kind == REQUEST_KIND_PERMISSION);
}

/* Chooses each file that existed when the question was asked, or that may have been made since. */
static void choose_files(struct view *v)
{
	const struct request *r = &v->request;
	struct hand_ask *ask = &v->task.ask;
	bool may_be_new = may_be_done(r);

	for (size_t i = 0; i < r->file_count; i++)
		if (!may_be_new && strcmp(r->files[i].hash, NO_FILE) == 0)
			continue;
		else if (ask->shown_count == HAND_SHOWN_FILES)
			v->more++;
		else
			ask->shown[ask->shown_count++] = r->files[i].target;
}

static void view_free(struct front *f, struct view *v)
{
	file_view_next_row_clear(&v->wish);
	request_clear(&v->request);
	free(v);
	f->view = NULL;
}

static int settle(struct front *f, struct view *v, const struct hand_file *seen, struct err *e)
{
	const struct hand_ask *ask = &v->task.ask;

	if (sql_file_view_delete(&f->worker.store, v->wish.seq, e))
		return -1;
	for (size_t i = 0; i < ask->shown_count; i++)
		if (show(f, &v->wish, &v->request, ask->shown[i], &seen[i], e))
			return -1;
	return say_rest(f, &v->wish, &v->request, ask->shown_count, v->more, e);
}

static void warn(struct front *f, const struct err *e)
{
	log_warn("files could not be shown: %s", e->text);
	if (store_is_broken(&f->worker.store))
		front_fail(f, e);
}

/* Deletes the request and stores its answer in one transaction; retried if that fails. */
static void carry_out(struct front *f, struct view *v, const struct hand_file *seen)
{
	struct err e = { 0 };
	int failed = store_begin(&f->worker.store, &e) ||
	             store_end(&f->worker.store, settle(f, v, seen, &e), &e);

	view_free(f, v);
	if (failed)
		warn(f, &e);
	else
		show_files_look(f); /* continue with the next one */
}

static void on_found(struct front *f, struct hand_task *t, struct hand_found *found)
{
	carry_out(f, (struct view *)t, found->shown);
}

/* Reports each file as not shown. */
static void on_failed(struct front *f, struct hand_task *t, const struct refusal *why)
{
	struct hand_file none[HAND_SHOWN_FILES] = { { .why = NULL } };
	OWNED(str) struct str text = { 0 };

	if (f->worker.stopping) {
		view_free(f, (struct view *)t);
		return;
	}
	str_add(&text, why->text);
	for (size_t i = 0; i < HAND_SHOWN_FILES; i++)
		none[i].why = text.bytes;
	carry_out(f, (struct view *)t, none);
}

static int begin(struct front *f, struct view *v, struct err *e)
{
	static const struct hand_asker VIEW = { .done = on_found, .failed = on_failed };

	if (request_read(&f->worker.store, v->wish.request_seq, &v->request, e) < 0)
		return -1;
	choose_files(v);
	if (!v->task.ask.shown_count) {
		carry_out(f, v, NULL);
		return 0;
	}
	v->task.by = &VIEW;
	(void)snprintf(v->task.asker, sizeof(v->task.asker), "operator");
	v->task.ask.root = v->request.row.workspace_root;
	hands_ask(f, &v->task);
	return 0;
}

void show_files_look(struct front *f)
{
	struct err e = { 0 };
	struct view *v;
	int got;

	if (f->view)
		return;
	v = xcalloc(1, sizeof(*v));
	f->view = v;
	got = sql_file_view_next(&f->worker.store, f->worker.machine, &v->wish, &e);
	if (got > 0 && begin(f, v, &e) == 0)
		return;
	view_free(f, v);
	if (got != 0)
		warn(f, &e);
}
