#include "steering.h"

#include "json_writer.h"
#include "sql/request.h"
#include "sql/steering.h"

#include <stdint.h>
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

static void add_task(struct str *tasks, const struct steering_said_row *row)
{
	char id[24];

	(void)snprintf(id, sizeof(id), "%lld", (long long)row->seq);
	json_object(tasks);
	json_member(tasks, "task_id", id);
	json_member(tasks, "message", row->text);
	json_member(tasks, "source", row->source);
	json_member(tasks, "created_at", row->created_at);
	json_object_end(tasks);
}

/* The rules want them delivered in this order. */
static void add_seq(struct steering *s, int64_t seq)
{
	int i = s->count++;

	for (; i > 0 && s->seqs[i - 1] > seq; i--)
		s->seqs[i] = s->seqs[i - 1];
	s->seqs[i] = seq;
}

static void add(struct steering *s, const struct steering_said_row *row)
{
	OWNED(str) struct str paragraph = { 0 };
	bool task = strcmp(row->kind, "task") == 0;
	/* Our own texts are not attributed to the operator. */
	bool clock = strcmp(row->source, "clock") == 0;
	bool event = strcmp(row->source, "applier") == 0;

	str_addf(&paragraph, "%s (%s): %s",
	         task    ? "A task that the operator left for you"
	         : clock ? "You were silent for long, so agent-intercom says"
	         : event ? "What happened meanwhile"
	         : row->is_left
	             ? "The operator said to the agent before you, which was gone by then"
	             : "The operator says",
	         row->created_at, row->text);
	str_add(&s->text, s->text.length ? "\n\n" : "");
	str_add(&s->text, paragraph.bytes);
	json_item(list(&s->says), paragraph.bytes);
	if (task)
		add_task(list(&s->tasks), row);
	else
		json_item(list(&s->steers), row->text);
	add_seq(s, row->seq);
}

static void end(struct str *items)
{
	if (items->length)
		json_array_end(items);
}

static int read_rows(struct steering_said_row *row, size_t most, struct steering *s, struct err *e)
{
	int got;

	while ((got = row_next(&row->row, e)) > 0 && s->count < STEERING_ROWS) {
		if (s->count && s->text.length + strlen(row->text) > most)
			break;
		add(s, row);
	}
	end(&s->says);
	end(&s->steers);
	end(&s->tasks);
	return got < 0 ? -1 : 0;
}

int steering_read(struct store *st, int64_t session_seq, int64_t after, struct steering *s,
                  struct err *e)
{
	OWNED(steering_said_row) struct steering_said_row row = { 0 }, together = { 0 };
	int64_t last;

	sql_steering_waiting(st, session_seq, after, STEERING_ROWS, &row);
	if (read_rows(&row, STEERING_BYTES, s, e))
		return -1;
	if (s->count < 2)
		return 0;
	last = steering_last(s);
	steering_clear(s);
	sql_steering_together(st, session_seq, after, last, &together);
	return read_rows(&together, SIZE_MAX, s, e);
}

int steering_of_call(struct store *st, int64_t call_seq, struct steering *s, struct err *e)
{
	OWNED(steering_said_row) struct steering_said_row row = { 0 };

	sql_steering_of_call(st, call_seq, &row);
	return read_rows(&row, SIZE_MAX, s, e);
}

int steering_arrived(struct store *st, int64_t request_seq, struct err *e)
{
	return sql_steering_arrived(st, request_seq, e) < 0 ? -1 : 0;
}

int steering_repeat(struct store *st, int64_t request_seq, struct err *e)
{
	return err_if(sql_answer_repeat(st, request_seq, e) ||
	              sql_request_delivered(st, request_seq, e));
}

int steering_deliver(struct store *st, const struct steering *s, int64_t call_seq, struct err *e)
{
	for (int i = 0; i < s->count; i++)
		if (sql_steering_deliver(st, call_seq, s->seqs[i], e) < 0)
			return -1;
	return 0;
}

int steering_check(struct store *st, int64_t seq, struct err *e)
{
	OWNED(steering_outcome_row) struct steering_outcome_row row = { 0 };
	int got = sql_steering_outcome(st, seq, &row, e);

	if (got > 0 && row.why)
		return err_set(e, ERR_INPUT, "%s: %s", steering_outcome_name(row.outcome), row.why);
	return got < 0 ? -1 : 0;
}
