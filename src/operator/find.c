#include "find.h"

#include "err.h"
#include "request.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	TITLE_SHOWN = 80,
	SESSIONS_MOST = 1000,
	TELL_APART = 18, /* of an id among others: those of the same millisecond differ */
};

void found_clear(struct found *f)
{
	str_clear(&f->name);
	str_clear(&f->list);
	str_clear(&f->story);
	*f = (struct found)FOUND_INIT;
}

static bool begins(const char *id, const char *start)
{
	return strncasecmp(id, start, strlen(start)) == 0;
}

/* A whole id is not the beginning of longer ones. */
static bool is_exact(const char *given, const char *id)
{
	return given && strcasecmp(given, id) == 0;
}

static void set(char *to, size_t size, const char *text)
{
	(void)snprintf(to, size, "%s", text ? text : "");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "claude-code in web" */
static void add_whose(struct str *out, const char *client, const char *root)
{
	str_add_shown(out, client ? client : "agent", strlen(client ? client : "agent"), 40);
	str_add(out, " in ");
	str_add_shown(out, base_name(root), strlen(base_name(root)), 40);
}

static void add_line(struct found *f, const char *name, const char *client, const char *root)
{
	if (f->count <= FIND_NAMED) {
		str_addf(&f->list, "\n  %s, ", name);
		add_whose(&f->list, client, root);
	} else if (f->count == FIND_NAMED + 1) {
		str_add(&f->list, "\n  ...");
	}
}

/* ---- questions ---- */

/* The columns that all statements about questions share. */
struct columns {
	int seq, id, kind, title, file_path, session_id, root, client, verdict,
	    listening; /* -1: none */
};

static const struct columns OPEN = { OPERATOR_QUESTIONS_SEQ,
	                             OPERATOR_QUESTIONS_ID,
	                             OPERATOR_QUESTIONS_KIND,
	                             OPERATOR_QUESTIONS_TITLE,
	                             OPERATOR_QUESTIONS_FILE_PATH,
	                             OPERATOR_QUESTIONS_SESSION_ID,
	                             OPERATOR_QUESTIONS_WORKSPACE_ROOT,
	                             OPERATOR_QUESTIONS_CLIENT_NAME,
	                             OPERATOR_QUESTIONS_VERDICT,
	                             OPERATOR_QUESTIONS_LISTENING };
static const struct columns ANY = { OPERATOR_QUESTION_SEQ,
	                            OPERATOR_QUESTION_ID,
	                            OPERATOR_QUESTION_KIND,
	                            OPERATOR_QUESTION_TITLE,
	                            OPERATOR_QUESTION_FILE_PATH,
	                            OPERATOR_QUESTION_SESSION_ID,
	                            OPERATOR_QUESTION_WORKSPACE_ROOT,
	                            OPERATOR_QUESTION_CLIENT_NAME,
	                            OPERATOR_QUESTION_VERDICT,
	                            OPERATOR_QUESTION_LISTENING };
static const struct columns WRITTEN = { OPERATOR_WRITES_SEQ,
	                                OPERATOR_WRITES_ID,
	                                OPERATOR_WRITES_KIND,
	                                OPERATOR_WRITES_TITLE,
	                                OPERATOR_WRITES_FILE_PATH,
	                                OPERATOR_WRITES_SESSION_ID,
	                                OPERATOR_WRITES_WORKSPACE_ROOT,
	                                OPERATOR_WRITES_CLIENT_NAME,
	                                -1,
	                                -1 };

/* "01911111-0000: Change a.c (a.c)", with so many characters of the id. */
static void add_name(struct str *out, stmt *s, const struct columns *c, int of_id)
{
	const char *title = col_text(s, c->title), *path = col_text(s, c->file_path);

	str_addf(out, "%.*s: ", of_id, col_text(s, c->id));
	str_add_shown(out, title, strlen(title), TITLE_SHOWN);
	if (!path)
		return;
	str_add(out, " (");
	str_add_shown(out, path, strlen(path), TITLE_SHOWN);
	str_add_char(out, ')');
}

static void take_question(struct found *f, stmt *s, const struct columns *c)
{
	OWNED(str) struct str line = STR_INIT;

	add_name(&line, s, c, TELL_APART);
	if (f->count++ == 0) {
		set(f->id, sizeof(f->id), col_text(s, c->id));
		f->seq = col_int(s, c->seq);
		set(f->kind, sizeof(f->kind), col_text(s, c->kind));
		set(f->session_id, sizeof(f->session_id), col_text(s, c->session_id));
		if (c->verdict >= 0)
			set(f->verdict, sizeof(f->verdict), col_text(s, c->verdict));
		f->listening = c->listening >= 0 && col_int(s, c->listening) != 0;
		add_name(&f->name, s, c, FIND_SHORT);
	}
	add_line(f, str_text(&line), col_text(s, c->client), col_text(s, c->root));
}

static void bind_meanings(stmt *s, const struct verb *v)
{
	bool decides = v->row == VERB_DECISION;

	/* The file of a change is looked at where it could be approved. */
	bind_text(s, ":verdict", decides ? v->means[0] : "approve");
	bind_text(s, ":or", decides ? v->means[1] : NULL);
	bind_text(s, ":or_else", decides ? v->means[2] : NULL);
}

/* "no" is no answer to an agent that stands by. */
static bool fits(const struct verb *v, const char *kind)
{
	return strcmp(v->word, "no") != 0 || strcmp(kind, "standby") != 0;
}

static void bind_place(stmt *s, const struct place *where, const char *id)
{
	bool of_session = !id && where->session_seq;

	bind_seq(s, ":session", of_session ? where->session_seq : 0);
	bind_text(s, ":channel", id || of_session ? NULL : where->channel);
}

int find_questions(struct store *st, const struct place *where, const struct verb *v,
                   const char *id, struct found *f, struct err *e)
{
	bool by_session = v->or_session && strcmp(v->word, "resume") == 0;
	stmt *s = store_stmt(st, SQL_OPERATOR_QUESTIONS);
	int got;

	bind_meanings(s, v);
	bind_place(s, where, id);
	bind_int(s, ":after", 0);
	while ((got = stmt_row(s, e)) > 0) {
		bool named = !id || begins(col_text(s, OPEN.id), id) ||
		             (by_session && begins(col_text(s, OPEN.session_id), id));

		if (!named || !fits(v, col_text(s, OPEN.kind)))
			continue;
		if (is_exact(id, col_text(s, OPEN.id)))
			found_clear(f);
		take_question(f, s, &OPEN);
		if (is_exact(id, f->id))
			break;
	}
	stmt_reset(s);
	return got < 0 ? -1 : f->count;
}

/* "was approved by local:ann at 2026-02-08T09:30:00.123Z and is not written yet" */
static void add_story(struct str *out, stmt *s)
{
	const char *state = col_text(s, OPERATOR_QUESTION_STATE);
	const char *verdict = col_text(s, OPERATOR_QUESTION_DECISION);
	const char *by = col_text(s, OPERATOR_QUESTION_DECIDED_BY);
	const char *at = col_text(s, OPERATOR_QUESTION_DECIDED_AT);
	const char *written = col_text(s, OPERATOR_QUESTION_CONSUMED_AT);
	bool approved = strcmp(state, "approved") == 0 || written;

	if (!at)
		return;
	if (strcmp(state, "expired") == 0) {
		str_addf(out, "expired at %s", at);
		return;
	}
	if (approved || strcmp(state, "rejected") == 0)
		str_addf(out, "was %s", approved ? "approved" : "rejected");
	else
		str_addf(out, "was answered with '%s'", verdict ? verdict : "?");
	str_addf(out, " by %s at %s", by ? by : "somebody", at);
	if (written)
		str_addf(out, " and written at %s; `undo %.*s` puts back what was there", written,
		         FIND_SHORT, col_text(s, OPERATOR_QUESTION_ID));
	else if (approved && strcmp(col_text(s, OPERATOR_QUESTION_KIND), "clearance") == 0)
		str_add(out, " and is not written yet; the agent may write it at any moment");
}

static int read_question(struct store *st, const struct verb *v, const char *id, struct found *f,
                         struct err *e)
{
	stmt *s = store_stmt(st, SQL_OPERATOR_QUESTION);
	int got;

	bind_meanings(s, v);
	bind_text(s, ":id", id);
	got = stmt_row(s, e);
	if (got > 0) {
		take_question(f, s, &ANY);
		if (!fits(v, f->kind))
			*f->verdict = '\0';
		set(f->status, sizeof(f->status), col_text(s, OPERATOR_QUESTION_STATE));
		add_story(&f->story, s);
	}
	stmt_reset(s);
	return got;
}

int find_question(struct store *st, const struct verb *v, const char *id, struct found *f,
                  struct err *e)
{
	char ids[2][ID_BYTES], start[ID_BYTES], end[ID_BYTES];
	size_t n = strlen(id);
	int got = read_question(st, v, id, f, e), count = 0;
	stmt *s;

	if (got || n < FIND_LEAST || n >= ID_BYTES)
		return got;
	for (size_t i = 0; i <= n; i++)
		start[i] = (char)(id[i] >= 'A' && id[i] <= 'F' ? id[i] - 'A' + 'a' : id[i]);
	memcpy(end, start, n + 1);
	end[n - 1]++;
	s = store_stmt(st, SQL_REQUEST_BY_PREFIX);
	bind_text(s, ":start", start);
	bind_text(s, ":end", end);
	while ((got = stmt_row(s, e)) > 0 && count < 2)
		set(ids[count++], ID_BYTES, col_text(s, REQUEST_BY_PREFIX_ID));
	stmt_reset(s);
	for (int i = 0; got >= 0 && i < count; i++)
		got = read_question(st, v, ids[i], f, e);
	return got < 0 ? -1 : f->count;
}

int find_last_question(struct store *st, int64_t session_seq, const struct verb *v, struct found *f,
                       struct err *e)
{
	stmt *s = store_stmt(st, SQL_OPERATOR_LAST_QUESTION);
	char id[ID_BYTES] = "";
	int got;

	bind_meanings(s, v);
	bind_int(s, ":session", session_seq);
	got = stmt_row(s, e);
	if (got > 0)
		set(id, sizeof(id), col_text(s, OPERATOR_LAST_QUESTION_ID));
	stmt_reset(s);
	return got > 0 ? read_question(st, v, id, f, e) : got;
}

int find_writes(struct store *st, const struct place *where, const char *id, struct found *f,
                struct err *e)
{
	stmt *s = store_stmt(st, SQL_OPERATOR_WRITES);
	int got;

	bind_place(s, where, id);
	bind_int(s, ":before", LLONG_MAX);
	while ((got = stmt_row(s, e)) > 0)
		if (!id || begins(col_text(s, WRITTEN.id), id))
			take_question(f, s, &WRITTEN);
	stmt_reset(s);
	return got < 0 ? -1 : f->count;
}

/* ---- sessions ---- */

static void take_session(struct found *f, const char *id, const char *status, const char *client,
                         const char *root)
{
	char line[TELL_APART + 1];

	set(line, sizeof(line), id);
	if (f->count++ == 0) {
		set(f->id, sizeof(f->id), id);
		set(f->session_id, sizeof(f->session_id), id);
		set(f->status, sizeof(f->status), status);
		str_addf(&f->name, "%.*s (", FIND_SHORT, id);
		add_whose(&f->name, client, root);
		str_add_char(&f->name, ')');
	}
	add_line(f, line, client, root);
}

/* The session of the thread, or one that has ended. */
static int read_session(struct store *st, const char *id, struct found *f, struct err *e)
{
	stmt *s = store_stmt(st, SQL_OPERATOR_SESSION);
	int got;

	bind_text(s, ":id", id);
	got = stmt_row(s, e);
	if (got > 0)
		take_session(f, id, col_text(s, OPERATOR_SESSION_STATUS),
		             col_text(s, OPERATOR_SESSION_CLIENT_NAME),
		             col_text(s, OPERATOR_SESSION_WORKSPACE_ROOT));
	stmt_reset(s);
	return got;
}

int find_sessions(struct store *st, const struct place *where, const char *status, const char *id,
                  struct found *f, struct err *e)
{
	stmt *s;
	int got;

	if (!id && where->session_id)
		return read_session(st, where->session_id, f, e);
	s = store_stmt(st, SQL_OPERATOR_SESSIONS);
	bind_text(s, ":channel", id ? NULL : where->channel);
	bind_int(s, ":limit", SESSIONS_MOST);
	while ((got = stmt_row(s, e)) > 0) {
		const char *have = col_text(s, OPERATOR_SESSIONS_STATUS);
		const char *its = col_text(s, OPERATOR_SESSIONS_ID);

		if ((id && !begins(its, id)) || (status && strcmp(status, have) != 0))
			continue;
		if (is_exact(id, its))
			found_clear(f);
		take_session(f, its, have, col_text(s, OPERATOR_SESSIONS_CLIENT_NAME),
		             col_text(s, OPERATOR_SESSIONS_WORKSPACE_ROOT));
		if (is_exact(id, its))
			break;
	}
	stmt_reset(s);
	if (got == 0 && f->count == 0 && id)
		got = read_session(st, id, f, e); /* whole, and ended: the rules say so */
	return got < 0 ? -1 : f->count;
}
