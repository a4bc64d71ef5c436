#include "steering.h"

#include "json_writer.h"

#include <stdio.h>
#include <string.h>

void steering_clear(struct steering *s)
{
	str_clear(&s->text);
	str_clear(&s->says);
	str_clear(&s->steers);
	str_clear(&s->tasks);
	s->count = 0;
}

int64_t steering_last(const struct steering *s)
{
	return s->count ? s->seqs[s->count - 1] : 0;
}

static struct str *list(struct str *items)
{
	if (!items->length)
		json_array(items);
	return items;
}

static void add_task(struct str *tasks, int64_t seq, const char *text, const char *source,
                     const char *at)
{
	char id[24];

	(void)snprintf(id, sizeof(id), "%lld", (long long)seq);
	json_object(tasks);
	json_member(tasks, "task_id", id);
	json_member(tasks, "message", text);
	json_member(tasks, "source", source);
	json_member(tasks, "created_at", at);
	json_object_end(tasks);
}

static void add(struct steering *s, int64_t seq, const char *kind, const char *text,
                const char *source, const char *at)
{
	OWNED(str) struct str paragraph = STR_INIT;
	bool task = strcmp(kind, "task") == 0;
	/* What the watchdog says by itself is not put into the operator's mouth. */
	bool ours = strcmp(source, "clock") == 0;

	str_addf(&paragraph, "%s (%s): %s",
	         task   ? "A task that the operator left for you"
	         : ours ? "You were silent for long, so agent-intercom says"
	                : "The operator says",
	         at, text);
	str_add(&s->text, s->text.length ? "\n\n" : "");
	str_add(&s->text, paragraph.bytes);
	json_item(list(&s->says), paragraph.bytes);
	if (task)
		add_task(list(&s->tasks), seq, text, source, at);
	else
		json_item(list(&s->steers), text);
	s->seqs[s->count++] = seq;
}

static void end(struct str *items)
{
	if (items->length)
		json_array_end(items);
}

/* Rows in which seq, kind, text, source and created_at stand in this order. */
static int read_rows(stmt *rows, struct steering *s, struct err *e)
{
	int got;

	while ((got = stmt_row(rows, e)) > 0 && s->count < STEERING_ROWS) {
		if (s->count && s->text.length + strlen(col_text(rows, 2)) > STEERING_BYTES)
			break;
		add(s, col_int(rows, 0), col_text(rows, 1), col_text(rows, 2), col_text(rows, 3),
		    col_text(rows, 4));
	}
	stmt_reset(rows);
	end(&s->says);
	end(&s->steers);
	end(&s->tasks);
	return got < 0 ? -1 : 0;
}

_Static_assert((int)STEERING_WAITING_SEQ == 0 && (int)STEERING_WAITING_CREATED_AT == 4 &&
                   (int)STEERING_OF_CALL_SEQ == 0 && (int)STEERING_OF_CALL_CREATED_AT == 4,
               "both statements give the same columns");

int steering_read(struct store *st, int64_t session_seq, int64_t after, struct steering *s,
                  struct err *e)
{
	stmt *rows = store_stmt(st, SQL_STEERING_WAITING);

	bind_int(rows, ":session", session_seq);
	bind_int(rows, ":after", after);
	bind_int(rows, ":limit", STEERING_ROWS);
	return read_rows(rows, s, e);
}

int steering_of_call(struct store *st, int64_t call_seq, struct steering *s, struct err *e)
{
	stmt *rows = store_stmt(st, SQL_STEERING_OF_CALL);

	bind_int(rows, ":call", call_seq);
	return read_rows(rows, s, e);
}

int steering_arrived(struct store *st, int64_t request_seq, struct err *e)
{
	stmt *s = store_stmt(st, SQL_STEERING_ARRIVED);

	bind_int(s, ":request", request_seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int steering_deliver(struct store *st, const struct steering *s, int64_t call_seq, struct err *e)
{
	for (int i = 0; i < s->count; i++) {
		stmt *one = store_stmt(st, SQL_STEERING_DELIVER);

		bind_int(one, ":seq", s->seqs[i]);
		bind_int(one, ":call", call_seq);
		if (stmt_run(one, e) < 0)
			return -1;
	}
	return 0;
}
