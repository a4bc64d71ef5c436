#include "sentry.h"

#include "clock.h"
#include "gate_transcript.h"
#include "io.h"
#include "lines.h"
#include "pulse.h"
#include "sql/gate_call.h"
#include "sql/gate_lapse.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILES_MAX = 64,
	LOOK_BYTES = 8 << 20, /* of one file at a time; at first, its end */
	LINE_BYTES = 4 << 20, /* longer ones are left out */
	CHUNK_BYTES = 64 << 10,
	LATE_MS = 60000, /* after its session has ended */
};

/* Of a session. */
struct transcript {
	char *path, *host, *session;
	int64_t session_seq;
	char *since; /* what is older is not looked at */
	off_t at; /* so far it has been read */
	bool inside; /* of a line that is too long */
	bool begun, wanted;
};

struct transcripts {
	struct transcript files[FILES_MAX];
	int count;
};

/* A look into one. */
struct reading {
	struct worker *w;
	const struct transcript *of;
	struct lines lines;
	off_t whole; /* bytes up to the end of the last whole line */
	int unasked, typed; /* commands and edits; input for programs */
	struct str first, first_typed; /* when the first of these ran */
	struct err *e;
	bool failed;
};

struct transcripts *transcripts_new(void)
{
	return xcalloc(1, sizeof(struct transcripts));
}

static void drop(struct transcripts *t, int i)
{
	free(t->files[i].path);
	free(t->files[i].host);
	free(t->files[i].session);
	free(t->files[i].since);
	t->files[i] = t->files[--t->count];
}

void transcripts_free(struct transcripts *t)
{
	while (t && t->count > 0)
		drop(t, 0);
	free(t);
}

/* ---- which ---- */

/* Of several sessions that were told of one file, the newest goes on writing it. */
static void keep(struct transcript *one, const struct gate_transcript_list_row *row)
{
	one->wanted = true;
	if (one->session_seq >= row->session_seq)
		return;
	one->session_seq = row->session_seq;
	xreplace(&one->session, row->session_id);
	xreplace(&one->since, row->since);
}

static void want(struct transcripts *t, const struct gate_transcript_list_row *row)
{
	for (int i = 0; i < t->count; i++) {
		if (strcmp(t->files[i].path, row->transcript) != 0)
			continue;
		keep(&t->files[i], row);
		return;
	}
	if (t->count < FILES_MAX && gate_transcript_known(row->host))
		t->files[t->count++] = (struct transcript){ .path = xstrdup(row->transcript),
			                                    .host = xstrdup(row->host),
			                                    .session = xstrdup(row->session_id),
			                                    .session_seq = row->session_seq,
			                                    .since = xstrdup(row->since),
			                                    .wanted = true };
}

static int find(struct transcripts *t, struct worker *w, struct err *e)
{
	const struct instant recent = clock_instant(clock_now_ms() - LATE_MS);
	OWNED(gate_transcript_list_row) struct gate_transcript_list_row row = { 0 };
	int got;

	for (int i = 0; i < t->count; i++)
		t->files[i].wanted = false;
	sql_gate_transcript_list(&w->store, w->machine, recent.text, &row);
	while ((got = row_next(&row.row, e)) > 0)
		want(t, &row);
	for (int i = t->count; i-- > 0;)
		if (!t->files[i].wanted)
			drop(t, i);
	return got;
}

/* ---- what it says ---- */

static void on_ran(void *arg, const struct gate_ran *ran)
{
	struct reading *r = arg;
	int known;

	if (r->failed || strcmp(ran->at, r->of->since) < 0)
		return;
	known = sql_gate_call_explains(&r->w->store, r->of->session_seq, ran->use, r->e);
	r->failed |= known < 0;
	if (known != 0)
		return;
	if (ran->is_input && r->typed++ == 0)
		str_add(&r->first_typed, ran->at);
	else if (!ran->is_input && r->unasked++ == 0)
		str_add(&r->first, ran->at);
}

static bool on_line(void *arg, const char *line, size_t length)
{
	struct reading *r = arg;

	if (line)
		gate_transcript_read(r->of->host, line, length, on_ran, r);
	return !r->failed;
}

static void read_on(struct reading *r, int fd, off_t upto)
{
	static char chunk[CHUNK_BYTES];
	off_t at = r->of->at;
	ssize_t n;

	r->whole = at;
	while (!r->failed && at < upto && (n = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		const char *last = memrchr(chunk, '\n', (size_t)n);

		if (last)
			r->whole = at + (last - chunk) + 1;
		(void)lines_feed(&r->lines, chunk, (size_t)n, on_line, r);
		at += n;
		pulse();
	}
}

/* Of what was added, LOOK_BYTES, however much there is: its writer is not trusted. A line of which
 * that is a part alone is left out anyway. */
static void read_added(struct reading *r, struct transcript *t, int fd, off_t size)
{
	const bool is_part = size - t->at > LOOK_BYTES;
	const off_t upto = is_part ? t->at + LOOK_BYTES : size;
	bool has_end;

	if (t->inside)
		lines_skip(&r->lines);
	read_on(r, fd, upto);
	has_end = r->whole > t->at;
	t->inside = !has_end && (t->inside || is_part);
	t->at = !has_end && is_part ? upto : r->whole;
}

static int tell(const struct reading *r)
{
	OWNED(str) struct str detail = { 0 };

	if (!r->unasked && !r->typed)
		return 0;
	if (r->unasked)
		str_addf(&detail,
		         "its transcript says that commands or edits ran although no hook had "
		         "asked (%d, the first at %s): its hooks do not run, or were killed; "
		         "agent-intercom doctor --gate %s",
		         r->unasked, str_text(&r->first), r->of->host);
	if (r->typed)
		str_addf(&detail,
		         "%sits transcript says that the agent typed into a program that it had "
		         "started (%d, the first at %s): it calls no hook for that, and what the "
		         "program then did, nobody was asked about",
		         r->unasked ? "; " : "", r->typed, str_text(&r->first_typed));
	return gates_note(r->w,
	                  &(struct lapse){ .kind = GATE_LAPSE_KIND_UNASKED,
	                                   .host = r->of->host,
	                                   .subject = r->of->session,
	                                   .session = r->of->session_seq,
	                                   .detail = str_text(&detail) },
	                  r->e);
}

static int look(struct transcript *t, struct worker *w, struct err *e)
{
	struct reading r = { .w = w, .of = t, .lines = LINES_INIT(LINE_BYTES), .e = e };
	int fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), failed = 0;
	struct stat about;

	if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
		if (about.st_size < t->at || (!t->begun && about.st_size > LOOK_BYTES)) {
			t->at = about.st_size > LOOK_BYTES ? about.st_size - LOOK_BYTES : 0;
			t->inside = false;
		}
		t->begun = true;
		read_added(&r, t, fd, about.st_size);
		failed = r.failed || tell(&r) < 0;
	}
	lines_clear(&r.lines);
	str_clear(&r.first);
	str_clear(&r.first_typed);
	io_shut(&fd);
	return failed ? -1 : 0;
}

int transcripts_look(struct transcripts *t, struct worker *w, struct err *e)
{
	if (find(t, w, e))
		return -1;
	for (int i = 0; i < t->count; i++)
		if (look(&t->files[i], w, e))
			return -1;
	return 0;
}
