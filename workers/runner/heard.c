#include "heard.h"

#include "clock.h"
#include "prompts.h"

#include <stdlib.h>
#include <string.h>

enum {
	TOUCH_MS = 5000, /* between two writes that say no more than that it lives */
	WAITING_BYTES = 256 << 10, /* more is written at once, whatever the pace */
	LINE_BYTES = 256, /* of a line, besides its text */
};

static struct heard *append(struct heard_list *h, enum acp_event_kind kind, const char *id,
                            const char *text)
{
	struct heard *one = xcalloc(1, sizeof(*one));

	*one = (struct heard){ .kind = kind, .id = xstrdup_if(id), .text = xstrdup_if(text) };
	h->is_urgent = h->is_urgent || kind == ACP_OPENED || kind == ACP_ASKED ||
	               kind == ACP_WITHDRAWN || kind == ACP_TURN_STARTED || kind == ACP_TURN_ENDED;
	*(h->first ? h->end : &h->first) = one;
	h->end = &one->next;
	return one;
}

static void keep(char **place, const char *text)
{
	if (text)
		xreplace(place, text);
}

/* What is for a line of the agent. */
static bool append_line(struct heard_list *h, const struct acp_event *event)
{
	struct said_line line;

	if (!said_read(event, &line))
		return false;
	append(h, event->kind, NULL, NULL)->line = line;
	h->waiting += LINE_BYTES + (line.text ? strlen(line.text) : 0);
	return true;
}

static void add_usage(struct heard_list *h, const struct acp_event *event)
{
	OWNED(str) struct str line = { 0 };

	usage_rows_take(&h->usage, event, &line);
	if (line.length)
		heard_add_line(h, line.bytes);
}

void heard_add(struct heard_list *h, const struct acp_event *event)
{
	h->is_alive = true;
	(void)append_line(h, event);
	switch (event->kind) {
	case ACP_OPENED:
	case ACP_ASKED:
		(void)append(h, event->kind, event->id, NULL);
		break;
	case ACP_WITHDRAWN:
		(void)append(h, event->kind, event->id, event->text);
		break;
	case ACP_TOOL:
		keep(&h->tool, acp_tool_call_title(event->tool));
		break;
	case ACP_PLAN:
		keep(&h->progress, event->json);
		break;
	case ACP_USAGE:
		add_usage(h, event);
		break;
	case ACP_TEXT:
	case ACP_STATUS:
	case ACP_TURN_STARTED:
	case ACP_TURN_ENDED:
	case ACP_FAILED:
	case ACP_MODE:
	case ACP_TITLE:
	case ACP_ALIVE:
	case ACP_HUNG:
	case ACP_CLOSED:
	case ACP_NOTE:
		break;
	}
}

void heard_add_line(struct heard_list *h, const char *text)
{
	said_note(text, &append(h, ACP_TEXT, NULL, NULL)->line);
}

int64_t heard_due_ms(const struct heard_list *h)
{
	int64_t touch = h->is_alive ? h->touched_ms + TOUCH_MS : INT64_MAX;
	int64_t show = said_due_ms(&h->said);
	int64_t pace = h->touched_ms + h->gap_ms;
	int64_t next = h->first ? pace : INT64_MAX;

	if (show < pace) /* a message that is due may not outrun the pace either */
		show = pace;
	next = next < touch ? next : touch;
	return next < show ? next : show;
}

bool heard_is_due(const struct heard_list *h, bool works, bool pressed, int64_t now_ms)
{
	return (h->first && (pressed || h->is_urgent || h->waiting >= WAITING_BYTES)) ||
	       h->works != works || now_ms >= heard_due_ms(h) ||
	       (h->is_alive && h->touched_ms == 0);
}

/* ---- rows ---- */

static int write_one(struct heard_list *h, const struct heard *one, const struct asks *asks,
                     struct runner *r, const struct agent_talk_row *row, const struct acp *a,
                     struct err *e)
{
	const struct acp_inquiry *q = one->kind == ACP_ASKED ? acp_find(a, one->id) : NULL;
	bool is_over = a->step == ACP_STEP_OVER;
	struct store *st = &r->w.store;

	if (q) /* else it was withdrawn before anybody saw it */
		return asks_write(asks, r, row, q, e);
	if (one->kind == ACP_OPENED)
		return err_if((one->id[0] && sql_agent_talk_opened(st, one->id, r->w.row, e)) ||
		              prompts_begin(r, row, a->is_new, e));
	if (one->line.what == SAID_TURN_ENDED && !is_over && prompts_ended(r, e))
		return -1; /* (one that broke off with the agent has no end) */
	if (one->line.what)
		return said_write(&h->said, st, &one->line, is_over || r->phase != ENDING_NOT, e);
	if (one->kind == ACP_WITHDRAWN)
		return asks_withdraw(r, one->id, one->text, e);
	return 0;
}

static int write_all(struct heard_list *h, const struct asks *asks, struct runner *r,
                     const struct agent_talk_row *row, const struct acp *a, bool works,
                     struct err *e)
{
	for (const struct heard *one = h->first; one; one = one->next)
		if (write_one(h, one, asks, r, row, a, e))
			return -1;
	if (usage_rows_write(&h->usage, r, e) ||
	    said_show(&h->said, &r->w.store, clock_monotonic_ms(), e))
		return -1;
	return sql_agent_talk_heard(&r->w.store, works, h->tool, h->progress, row->session_seq, e);
}

int heard_write(struct heard_list *h, struct asks *asks, struct runner *r,
                const struct agent_talk_row *row, struct acp *a, bool works, struct err *e)
{
	const struct said before = h->said;

	if (store_begin(&r->w.store, e))
		return -1;
	if (store_end(&r->w.store, write_all(h, asks, r, row, a, works, e), e)) {
		h->said = before;
		return -1;
	}
	asks_written(asks, a);
	usage_rows_written(&h->usage);
	heard_clear(h);
	h->works = works;
	h->touched_ms = clock_monotonic_ms();
	return 0;
}

void heard_clear(struct heard_list *h)
{
	while (h->first) {
		struct heard *one = h->first;

		h->first = one->next;
		free(one->id);
		free(one->text);
		said_line_clear(&one->line);
		free(one);
	}
	free(h->tool);
	free(h->progress);
	h->tool = h->progress = NULL;
	h->waiting = 0;
	h->is_urgent = false;
	h->is_alive = false;
}
