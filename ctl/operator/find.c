/* From what a person types to the row that is meant. */
#include "ctl.h"

#include "id.h"

#include <stdio.h>
#include <string.h>

enum { SHORT_ID = 8, LEAST_ID = 4 };

int find_request(struct ctl *c, const char *text, struct request *r, struct err *e)
{
	int64_t seq = 0;
	int got = request_find(&c->store, text, &seq, e);

	if (got > 0)
		got = request_read(&c->store, seq, r, e);
	if (got == 0)
		return err_set(e, ERR_INPUT,
		               "not found: no request has an id that begins with '%.40s'; "
		               "see `agent-intercom-ctl inbox`",
		               text);
	return got < 0 ? -1 : 0;
}

/* Counts the ids that begin with text, up to 2, and copies the first. */
static int with_prefix(struct store *st, enum sql which, int id_column, const char *text,
                       char first[ID_BYTES], struct err *e)
{
	char end[ID_BYTES];
	size_t n = strlen(text);
	int got, count = 0;

	if (n == 0 || n >= sizeof(end))
		return 0;
	memcpy(end, text, n + 1);
	end[n - 1]++;
	stmt *s = store_stmt(st, which);
	bind_text(s, ":start", text);
	bind_text(s, ":end", end);
	while ((got = stmt_row(s, e)) > 0)
		if (count++ == 0)
			(void)snprintf(first, ID_BYTES, "%s", col_text(s, id_column));
	stmt_reset(s);
	return got < 0 ? -1 : count;
}

int find_session(struct ctl *c, const char *text, char **ret_id, struct err *e)
{
	char id[ID_BYTES] = "";
	int count;

	if (strlen(text) < LEAST_ID)
		return err_set(e, ERR_INPUT,
		               "'%s' is too short for an id; give 4 characters at least", text);
	count = with_prefix(&c->store, SQL_SESSION_BY_PREFIX, SESSION_BY_PREFIX_ID, text, id, e);
	if (count < 0)
		return -1;
	if (count == 0)
		return err_set(e, ERR_INPUT,
		               "not found: no session has an id that begins with '%.40s'; "
		               "see `agent-intercom-ctl list`",
		               text);
	if (count > 1)
		return err_set(e, ERR_INPUT,
		               "'%s' is the beginning of several session ids; give more of it",
		               text);
	*ret_id = xstrdup(id);
	return 0;
}

static int short_id(struct ctl *c, enum sql which, int column, const char *id, struct str *out,
                    struct err *e)
{
	char prefix[ID_BYTES], first[ID_BYTES];
	size_t n = SHORT_ID;
	int count = 2;

	if (strlen(id) >= ID_BYTES) {
		str_add(out, id);
		return 0;
	}
	for (; id[n - 1] && n <= strlen(id); n++) {
		if (n < strlen(id) && id[n - 1] == '-')
			continue;
		(void)snprintf(prefix, sizeof(prefix), "%.*s", (int)n, id);
		count = with_prefix(&c->store, which, column, prefix, first, e);
		if (count < 2)
			break;
	}
	str_addf(out, "%.*s", (int)n, id);
	return count < 0 ? -1 : 0;
}

int short_request_id(struct ctl *c, const char *id, struct str *out, struct err *e)
{
	if (strlen(id) < SHORT_ID) {
		str_add(out, id);
		return 0;
	}
	return short_id(c, SQL_REQUEST_BY_PREFIX, REQUEST_BY_PREFIX_ID, id, out, e);
}

int short_session_id(struct ctl *c, const char *id, struct str *out, struct err *e)
{
	if (strlen(id) < SHORT_ID) {
		str_add(out, id);
		return 0;
	}
	return short_id(c, SQL_SESSION_BY_PREFIX, SESSION_BY_PREFIX_ID, id, out, e);
}

char *join_arguments(const struct ctl *c, int first)
{
	OWNED(str) struct str out = STR_INIT;

	for (int i = first; i < c->argc; i++)
		str_addf(&out, "%s%s", i > first ? " " : "", c->argv[i]);
	return str_take(&out);
}
