#include "nudges.h"

#include "front.h"
#include "log.h"

#include <stdlib.h>

enum { PAGE = 100 };

struct nudge {
	int64_t stall_seq, session_seq, count;
	char *text;
};

static int read_nudges(struct front *f, struct nudge nudges[PAGE], struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_STALL_UNTOLD);
	int got = 0, n = 0;

	while (n < PAGE && (got = stmt_row(s, e)) > 0) {
		const char *text = col_text(s, STALL_UNTOLD_NUDGE_MESSAGE);

		nudges[n++] = (struct nudge){
			.stall_seq = col_int(s, STALL_UNTOLD_SEQ),
			.session_seq = col_int(s, STALL_UNTOLD_SESSION_SEQ),
			.count = col_int(s, STALL_UNTOLD_NUDGE_COUNT),
			.text = xstrdup(text ? text : ""),
		};
	}
	stmt_reset(s);
	return n < PAGE && got < 0 ? -1 : n;
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

/* First the row: said at most once, and what is lost here comes with the next call. */
static int note(struct front *f, const struct nudge *nudges, int count, struct err *e)
{
	if (store_begin(&f->worker.store, e))
		return -1;
	for (int i = 0; i < count; i++) {
		stmt *s = store_stmt(&f->worker.store, SQL_STALL_TELL);

		bind_int(s, ":seq", nudges[i].stall_seq);
		bind_int(s, ":count", nudges[i].count);
		bind_int(s, ":streamed", stream_of(f, &nudges[i]) != NULL);
		if (stmt_run(s, e) < 0) {
			store_rollback(&f->worker.store);
			return -1;
		}
	}
	return store_commit(&f->worker.store, e);
}

static void say(struct front *f, const struct nudge *n)
{
	OWNED(str) struct str message = STR_INIT;
	struct sink *s = stream_of(f, n);

	if (!s)
		return;
	mcp_log(&message, "warning", n->text);
	s->by->notify(s, &message, NULL);
}

void nudges_tell(struct front *f)
{
	struct nudge nudges[PAGE];
	struct err e = ERR_INIT;
	int count = read_nudges(f, nudges, &e);

	if (count < 0 || (count > 0 && note(f, nudges, count, &e)))
		log_warn("nudges: %s", e.text);
	for (int i = 0; i < count; i++) {
		if (e.kind == ERR_NONE)
			say(f, &nudges[i]);
		free(nudges[i].text);
	}
}
