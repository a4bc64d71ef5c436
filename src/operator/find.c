#include "find.h"

#include "err.h"
#include "path.h"
#include "request.h"
#include "sql/operator.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	TITLE_SHOWN = 80,
	AGENT_SHOWN = 40,
	SESSIONS_MOST = 1000,
	TELL_APART = 18, /* of an id among others: tells apart those of the same millisecond */
};

void found_clear(struct found *f)
{
	str_clear(&f->name);
	str_clear(&f->whose);
	str_clear(&f->list);
	str_clear(&f->story);
	str_clear(&f->chosen);
	str_clear(&f->filled);
	*f = (struct found){ 0 };
}

static bool begins(const char *id, const char *start)
{
	return strncasecmp(id, start, strlen(start)) == 0;
}

/* A whole id is not a prefix of longer ones. */
static bool is_exact(const char *given, const char *id)
{
	return given && strcasecmp(given, id) == 0;
}

/* Ids that begin with id are in [start, end). False if it is too short or too long. */
static bool set_range(const char *id, char start[ID_BYTES], char end[ID_BYTES])
{
	size_t n = strlen(id);

	if (n < FIND_LEAST || n >= ID_BYTES)
		return false;
	for (size_t i = 0; i <= n; i++)
		start[i] = (char)(id[i] >= 'A' && id[i] <= 'F' ? id[i] - 'A' + 'a' : id[i]);
	memcpy(end, start, n + 1);
	end[n - 1]++;
	return true;
}

static void set(char *to, size_t size, const char *text)
{
	(void)snprintf(to, size, "%s", text ? text : "");
}

void find_add_agent(struct str *out, const char *client, const char *label)
{
	str_add_shown(out, client, strlen(client), AGENT_SHOWN);
	if (!label)
		return;
	str_add(out, " “");
	str_add_shown(out, label, strlen(label), AGENT_SHOWN);
	str_add(out, "”");
}

void find_add_whose(struct str *out, const char *user, const char *client, const char *label,
                    const char *root)
{
	if (user) {
		str_add(out, "[user ");
		str_add_shown(out, user, strlen(user), AGENT_SHOWN);
		str_add(out, "] ");
	}
	find_add_agent(out, client ? client : "agent", label);
	str_add(out, " in ");
	str_add_shown(out, path_name(root), strlen(path_name(root)), AGENT_SHOWN);
}

static void add_line(struct found *f, const char *name, const char *user, const char *client,
                     const char *label, const char *root)
{
	if (f->count <= FIND_NAMED) {
		str_addf(&f->list, "\n  %s, ", name);
		find_add_whose(&f->list, user, client, label, root);
	} else if (f->count == FIND_NAMED + 1) {
		str_add(&f->list, "\n  ...");
	}
}

/* ---- questions ---- */

/* "01911111-0000: Change a.c (a.c)", with the first of_id characters of the id. */
static void add_name(struct str *out, const struct question_row *q, int of_id)
{
	str_addf(out, "%.*s: ", of_id, q->id);
	str_add_shown(out, q->title, strlen(q->title), TITLE_SHOWN);
	if (!q->file_path)
		return;
	str_add(out, " (");
	str_add_shown(out, q->file_path, strlen(q->file_path), TITLE_SHOWN);
	str_add_char(out, ')');
}

static void take_question(struct found *f, const struct question_row *q)
{
	OWNED(str) struct str line = { 0 };

	add_name(&line, q, TELL_APART);
	if (f->count++ == 0) {
		set(f->id, sizeof(f->id), q->id);
		f->seq = q->seq;
		f->kind = q->kind;
		set(f->session_id, sizeof(f->session_id), q->session_id);
		f->verdict = q->verdict;
		f->listening = q->listening;
		f->is_driven = q->is_driven;
		f->is_held = q->is_driven && q->is_paused;
		add_name(&f->name, q, FIND_SHORT);
		find_add_whose(&f->whose, q->agent_user, q->client_name, q->label,
		               q->workspace_root);
	}
	add_line(f, str_text(&line), q->agent_user, q->client_name, q->label, q->workspace_root);
}

/* The verdicts that a verb may mean. `file`, about a change, applies where it could be approved. */
static void meanings(const struct verb *v, enum request_verdict means[3])
{
	for (int i = 0; i < 3; i++)
		means[i] = v->row == VERB_DECISION ? request_verdict_of(v->means[i])
		           : i == 0                ? REQUEST_VERDICT_APPROVE
		                                   : REQUEST_VERDICT_NONE;
}

/* "no" does not answer an agent on standby, and `file` shows none of what is about no file. */
static bool fits(const struct verb *v, const struct question_row *q)
{
	if (strcmp(v->word, "file") == 0)
		return q->kind == REQUEST_KIND_CLEARANCE || q->has_file;
	return strcmp(v->word, "no") != 0 || q->kind != REQUEST_KIND_STANDBY;
}

/* The session of the thread. */
static int64_t session_of(const struct place *where, const char *id)
{
	return id ? 0 : where->session_seq;
}

static const char *channel_of(const struct place *where, const char *id)
{
	return id || where->session_seq ? NULL : where->channel;
}

static int list_questions(struct store *st, const struct place *where, const struct verb *v,
                          const char *id, struct found *f, struct err *e)
{
	OWNED(question_row) struct question_row q = { 0 };
	bool by_session = v->or_session && strcmp(v->word, "resume") == 0;
	enum request_verdict means[3];
	int got;

	meanings(v, means);
	sql_operator_questions(st,
	                       &(struct operator_questions_args){
	                           .verdict = means[0],
	                           .or = means[1],
	                           .or_else = means[2],
	                           .session = session_of(where, id),
	                           .channel = channel_of(where, id),
	                       },
	                       &q);
	while ((got = row_next(&q.row, e)) > 0) {
		bool named = !id || begins(q.id, id) || (by_session && is_exact(id, q.session_id));

		if (!named || !fits(v, &q))
			continue;
		if (is_exact(id, q.id))
			found_clear(f);
		take_question(f, &q);
		if (is_exact(id, f->id))
			break;
	}
	return got < 0 ? -1 : f->count;
}

/* Whether its agent may write it at any moment. */
static bool is_unwritten(const struct question_row *q)
{
	return q->state == REQUEST_STATE_APPROVED && q->kind == REQUEST_KIND_CLEARANCE;
}

/* "was approved by local:ann at 2026-02-08T09:30:00.123Z and is not written yet" */
static void add_story(struct str *out, const struct question_row *q)
{
	const char *verdict = request_verdict_name(q->decision);
	bool approved = q->state == REQUEST_STATE_APPROVED || q->consumed_at;

	if (!q->decided_at)
		return;
	if (q->state == REQUEST_STATE_EXPIRED) {
		str_addf(out, "%s at %s", q->withdrawn ? "was withdrawn" : "expired",
		         q->decided_at);
		if (q->withdrawn)
			str_addf(out, ": %s", q->withdrawn);
		return;
	}
	if (q->chosen) {
		str_add(out, "was answered with '");
		str_add_shown(out, q->chosen, strlen(q->chosen), FIND_OPTION);
		str_add_char(out, '\'');
	} else if (approved || q->state == REQUEST_STATE_REJECTED) {
		str_addf(out, "was %s", approved ? "approved" : "rejected");
	} else {
		str_addf(out, "was answered with '%s'", verdict ? verdict : "?");
	}
	str_addf(out, " by %s at %s", q->decided_by ? q->decided_by : "somebody", q->decided_at);
	if (q->consumed_at)
		str_addf(out, " and written at %s; `undo %.*s` puts back what was there",
		         q->consumed_at, FIND_SHORT, q->id);
	else if (is_unwritten(q))
		str_add(out, REQUEST_UNWRITTEN);
}

/* A request by its whole id, in any state: 1, 0, -1. */
static int read_row(struct store *st, const struct verb *v, const char *id, struct question_row *q,
                    struct err *e)
{
	enum request_verdict means[3];

	meanings(v, means);
	return sql_operator_question(st, means[0], means[1], means[2], id, q, e);
}

/* Whether it is of a kind that v answers. */
static bool answers(const struct verb *v, const struct question_row *q)
{
	return q->verdict != REQUEST_VERDICT_NONE && fits(v, q);
}

static void take_row(struct found *f, const struct verb *v, const struct question_row *q)
{
	take_question(f, q);
	if (!fits(v, q))
		f->verdict = REQUEST_VERDICT_NONE;
	add_story(&f->story, q);
	f->unwritten = is_unwritten(q);
	f->expired = q->state == REQUEST_STATE_EXPIRED && !q->withdrawn &&
	             (q->kind == REQUEST_KIND_CLEARANCE || q->kind == REQUEST_KIND_PERMISSION);
}

static int read_question(struct store *st, const struct verb *v, const char *id, struct found *f,
                         struct err *e)
{
	OWNED(question_row) struct question_row q = { 0 };
	int got = read_row(st, v, id, &q, e);

	if (got > 0)
		take_row(f, v, &q);
	return got;
}

/* Those that v answers, or all if it answers none of them. */
static int read_questions(struct store *st, const struct verb *v, char ids[][ID_BYTES], int count,
                          struct found *f, struct err *e)
{
	struct question_row rows[FIND_NAMED + 1] = { 0 };
	bool any = false;
	int got = 0;

	for (int i = 0; got >= 0 && i < count; i++) {
		got = read_row(st, v, ids[i], &rows[i], e);
		any = any || (got > 0 && answers(v, &rows[i]));
	}
	for (int i = 0; i < count; i++) {
		if (got >= 0 && rows[i].id && (!any || answers(v, &rows[i])))
			take_row(f, v, &rows[i]);
		question_row_clear(&rows[i]);
	}
	return got < 0 ? -1 : f->count;
}

int find_question(struct store *st, const struct verb *v, const char *id, struct found *f,
                  struct err *e)
{
	OWNED(prefixed_row) struct prefixed_row row = { 0 };
	char ids[FIND_NAMED + 1][ID_BYTES], start[ID_BYTES], end[ID_BYTES];
	int got = read_question(st, v, id, f, e), count = 0;

	if (got || !set_range(id, start, end))
		return got;
	sql_request_by_prefix(st, start, end, &row);
	while ((got = row_next(&row.row, e)) > 0 && count < FIND_NAMED + 1)
		set(ids[count++], ID_BYTES, row.id);
	return got < 0 ? -1 : read_questions(st, v, ids, count, f, e);
}

/* A prefix of the only request that waits may have been copied from another one, answered since:
 * then it is ambiguous. One that v does not answer is not. */
static int add_answered(struct store *st, const struct verb *v, const char *id, struct found *f,
                        struct err *e)
{
	OWNED(prefixed_row) struct prefixed_row row = { 0 };
	char start[ID_BYTES], end[ID_BYTES];
	int got = 0;

	if (!set_range(id, start, end) || !begins(f->id, id))
		return f->count;
	sql_request_by_prefix(st, start, end, &row);
	while (f->count == 1 && (got = row_next(&row.row, e)) > 0) {
		OWNED(question_row) struct question_row q = { 0 };

		if (strcmp(row.id, f->id) == 0)
			continue;
		if (read_row(st, v, row.id, &q, e) < 0)
			return -1;
		if (q.id && answers(v, &q))
			take_row(f, v, &q);
	}
	return got < 0 ? -1 : f->count;
}

int find_questions(struct store *st, const struct place *where, const struct verb *v,
                   const char *id, struct found *f, struct err *e)
{
	int count = list_questions(st, where, v, id, f, e);

	return count == 1 && id && !is_exact(id, f->id) ? add_answered(st, v, id, f, e) : count;
}

int find_last_question(struct store *st, int64_t session_seq, const struct verb *v, struct found *f,
                       struct err *e)
{
	OWNED(operator_last_question_row) struct operator_last_question_row last = { 0 };
	enum request_verdict means[3];
	int got;

	meanings(v, means);
	got = sql_operator_last_question(st, means[0], means[1], means[2], session_seq, &last, e);
	if (got > 0)
		got = read_question(st, v, last.id, f, e);
	f->is_newest = got > 0 && last.is_newest;
	return got;
}

int find_writes(struct store *st, const struct place *where, struct found *f, struct err *e)
{
	OWNED(question_row) struct question_row q = { 0 };
	int got;

	sql_operator_writes(st, INT64_MAX, session_of(where, NULL), channel_of(where, NULL), &q);
	while ((got = row_next(&q.row, e)) > 0)
		take_question(f, &q);
	return got < 0 ? -1 : f->count;
}

int find_unwritten(struct store *st, const struct place *where, int64_t write_seq, struct found *f,
                   struct err *e)
{
	OWNED(question_row) struct question_row q = { 0 };
	int got = sql_operator_unwritten(st, write_seq, session_of(where, NULL),
	                                 channel_of(where, NULL), &q, e);

	if (got > 0)
		take_question(f, &q);
	return got;
}

int find_undone(struct store *st, const struct place *where, struct found *f, struct err *e)
{
	OWNED(operator_undone_row) struct operator_undone_row u = { 0 };
	int got = sql_operator_undone(st, INT64_MAX, session_of(where, NULL),
	                              channel_of(where, NULL), &u, e);

	if (got <= 0)
		return got;
	const struct question_row q = { .seq = u.seq,
		                        .id = u.id,
		                        .title = u.title,
		                        .file_path = u.file_path,
		                        .session_id = u.session_id,
		                        .workspace_root = u.workspace_root };
	take_question(f, &q);
	if (u.state == APPLY_STATE_UNDONE)
		str_addf(&f->story, "was undone already, at %s", u.updated_at);
	else
		str_add(&f->story, "is being undone");
	return 1;
}

/* ---- sessions ---- */

static void take_session(struct found *f, const struct operator_session_row *s)
{
	char line[TELL_APART + 1];

	set(line, sizeof(line), s->id);
	if (f->count++ == 0) {
		set(f->id, sizeof(f->id), s->id);
		set(f->session_id, sizeof(f->session_id), s->id);
		f->seq = s->seq;
		f->status = s->status;
		f->started = s->origin == SESSION_ORIGIN_STARTED;
		str_addf(&f->name, "%.*s (", FIND_SHORT, s->id);
		find_add_whose(&f->name, s->agent_user, s->client_name, s->label,
		               s->workspace_root);
		str_add_char(&f->name, ')');
		set(f->workspace, sizeof(f->workspace), s->workspace_root);
	}
	f->elsewhere |= strcmp(f->workspace, s->workspace_root) != 0;
	if (s->connectivity_status &&
	    s->connectivity_status != SESSION_CONNECTIVITY_STATUS_OFFLINE && f->connected++ == 0)
		set(f->connected_id, sizeof(f->connected_id), s->id);
	add_line(f, line, s->agent_user, s->client_name, s->label, s->workspace_root);
	if (f->count <= FIND_NAMED && s->status == SESSION_STATUS_TERMINATED)
		str_add(&f->list, ", ended");
}

/* The session of the thread, even if it has ended. */
static int read_session(struct store *st, const char *id, struct found *f, struct err *e)
{
	OWNED(operator_session_row) struct operator_session_row s = { 0 };
	int got = sql_operator_session(st, id, &s, e);

	if (got > 0)
		take_session(f, &s);
	return got;
}

/* As add_answered. */
static int add_ended(struct store *st, const char *id, struct found *f, struct err *e)
{
	OWNED(operator_session_row) struct operator_session_row s = { 0 };
	char start[ID_BYTES], end[ID_BYTES];
	int got = 0;

	if (!set_range(id, start, end))
		return f->count;
	sql_operator_any_sessions(st, start, end, FIND_NAMED, &s);
	while (f->count == 1 && (got = row_next(&s.row, e)) > 0)
		if (strcmp(s.id, f->id) != 0)
			take_session(f, &s);
	return got < 0 ? -1 : f->count;
}

/* Whether the rules let a session in this state be paused or resumed (schema/rules/command.sql). */
static bool takes(const char *order, const struct operator_session_row *s)
{
	bool started = s->origin == SESSION_ORIGIN_STARTED;

	if (strcmp(order, "pause") == 0)
		return s->status == SESSION_STATUS_ACTIVE || s->status == SESSION_STATUS_PARKED ||
		       (s->status == SESSION_STATUS_CREATED && started);
	if (strcmp(order, "resume") == 0)
		return s->status == SESSION_STATUS_PAUSED ||
		       (s->status == SESSION_STATUS_INTERRUPTED && started) ||
		       (s->status == SESSION_STATUS_PARKED && !s->parked_open);
	return true;
}

int find_sessions(struct store *st, const struct place *where, enum session_status status,
                  const char *id, struct found *f, struct err *e)
{
	OWNED(operator_session_row) struct operator_session_row s = { 0 };
	int got;

	if (!id && where->session_id)
		return read_session(st, where->session_id, f, e);
	sql_operator_sessions(st, id ? NULL : where->channel, SESSIONS_MOST, &s);
	while ((got = row_next(&s.row, e)) > 0) {
		if ((id && !begins(s.id, id)) || (status && status != s.status))
			continue;
		if (is_exact(id, s.id))
			found_clear(f);
		take_session(f, &s);
		if (is_exact(id, s.id))
			break;
	}
	if (got == 0 && f->count == 0 && id)
		got = read_session(st, id, f, e); /* whole, and ended: the rules report it */
	if (got >= 0 && f->count == 1 && id && !is_exact(id, f->id))
		return add_ended(st, id, f, e);
	return got < 0 ? -1 : f->count;
}

int find_takers(struct store *st, const struct place *where, const char *order, struct found *f,
                struct err *e)
{
	OWNED(operator_session_row) struct operator_session_row s = { 0 };
	int got;

	if (where->session_id)
		return read_session(st, where->session_id, f, e);
	sql_operator_sessions(st, where->channel, SESSIONS_MOST, &s);
	while ((got = row_next(&s.row, e)) > 0)
		if (takes(order, &s))
			take_session(f, &s);
	return got < 0 ? -1 : f->count;
}

int find_connected(struct store *st, const struct place *where, struct found *f, struct err *e)
{
	char id[ID_BYTES];

	if (f->connected != 1)
		return 0;
	set(id, sizeof(id), f->connected_id);
	found_clear(f);
	return find_sessions(st, where, SESSION_STATUS_NONE, id, f, e) < 0 ? -1 : 1;
}

int find_local_sessions(struct store *st, const struct place *where, bool asking, struct found *f,
                        struct err *e)
{
	OWNED(operator_session_row) struct operator_session_row s = { 0 };
	int got;

	if (!where->channel || where->session_seq)
		return 0;
	sql_operator_local_sessions(st, where->channel, asking, SESSIONS_MOST, &s);
	while ((got = row_next(&s.row, e)) > 0)
		take_session(f, &s);
	return got < 0 ? -1 : f->count;
}

int find_any_sessions(struct store *st, const char *id, struct found *f, struct err *e)
{
	OWNED(operator_session_row) struct operator_session_row s = { 0 };
	char start[ID_BYTES], end[ID_BYTES];
	int got = read_session(st, id, f, e);

	if (got || !set_range(id, start, end))
		return got;
	sql_operator_any_sessions(st, start, end, FIND_NAMED + 2, &s);
	while ((got = row_next(&s.row, e)) > 0)
		take_session(f, &s);
	return got < 0 ? -1 : f->count;
}
