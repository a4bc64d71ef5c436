#include "nudges.h"

#include "front.h"
#include "log.h"
#include "sql/stall.h"

#include <stdlib.h>

enum { PAGE = 100 };

struct nudge {
	int64_t stall_seq, session_seq, count;
	char *text;
};

static int read_nudges(struct front *f, struct nudge nudges[PAGE], struct err *e)
{
	OWNED(stall_untold_row) struct stall_untold_row row = { 0 };
	int got = 0, n = 0;

	sql_stall_untold(&f->worker.store, &row);
	while (n < PAGE && (got = row_next(&row.row, e)) > 0)
		nudges[n++] = (struct nudge){
			.stall_seq = row.seq,
			.session_seq = row.session_seq,
			.count = row.nudge_count,
			.text = xstrdup(row.nudge_message ? row.nudge_message : ""),
		};
	return got < 0 ? -1 : n;
}

/* Modern clients get log messages only with a request that asked for them. */
static bool hears(const struct sink *s, const struct nudge *n)
{
	return !s->gone && s->peer->version && s->peer->session_seq == n->session_seq &&
	       s->peer->log_level <= MCP_LOG_WARNING;
}

static struct sink *stream_of(struct front *f, const struct nudge *n)
{
	struct sink *s;

	LIST_FOREACH (s, &f->pipes, in_pipes)
		if (hears(s, n))
			return s;
	LIST_FOREACH (s, &f->streams, in_pipes)
		if (hears(s, n))
			return s;
	return NULL;
}

/* Writes the row first: the nudge is sent at most once, and one lost here comes with the next
 * call. */
static int note(struct front *f, const struct nudge *nudges, int count, struct err *e)
{
	bool failed = false;

	if (store_begin(&f->worker.store, e))
		return -1;
	for (int i = 0; i < count && !failed; i++)
		failed = sql_stall_tell(&f->worker.store, nudges[i].count,
		                        stream_of(f, &nudges[i]) != NULL, nudges[i].stall_seq, e);
	return store_end(&f->worker.store, failed, e);
}

static void say(struct front *f, const struct nudge *n)
{
	OWNED(str) struct str message = { 0 };
	struct sink *s = stream_of(f, n);

	if (!s)
		return;
	mcp_log(&message, "warning", n->text);
	s->by->notify(s, &message, NULL);
}

void nudges_tell(struct front *f)
{
	struct nudge nudges[PAGE];
	struct err e = { 0 };
	int count = read_nudges(f, nudges, &e);

	if (count < 0 || (count > 0 && note(f, nudges, count, &e)))
		log_warn("nudges: %s", e.text);
	for (int i = 0; i < count; i++) {
		if (e.kind == ERR_NONE)
			say(f, &nudges[i]);
		free(nudges[i].text);
	}
}
