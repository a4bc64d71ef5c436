/* From what a person types to the row they mean. */
#include "ctl.h"

#include "id.h"
#include "json.h"
#include "setting.h"
#include "sql/session.h"
#include "via_desk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 0 if there is exactly one; else e says why not. */
static int check_one(const struct found *f, int count, const char *text, const char *what,
                     const char *where, struct err *e)
{
	if (count == 0 && strlen(text) < FIND_LEAST)
		return err_set(e, ERR_INPUT,
		               "'%s' is too short for an id; give 4 characters at least", text);
	if (count == 0)
		return err_set(e, ERR_INPUT,
		               "not found: no %s has an id that begins with '%.40s'; see "
		               "`agent-intercom-ctl %s`",
		               what, text, where);
	if (count > 1)
		return err_set(e, ERR_INPUT, "several %ss have an id that begins with this:%s",
		               what, str_text(&f->list));
	return count < 0 ? -1 : 0;
}

int find_request(struct ctl *c, const char *text, struct request *r, struct err *e)
{
	OWNED(found) struct found f = { 0 };
	OWNED(str) struct str id = { 0 };
	int count;

	verb_add_id(&id, text);
	count = find_question(&c->store, verb_find("approve"), str_text(&id), &f, e);
	if (check_one(&f, count, text, "request", "inbox", e))
		return -1;
	return request_read(&c->store, f.seq, r, e) < 0 ? -1 : 0;
}

int find_session(struct ctl *c, const char *text, char **ret_id, struct err *e)
{
	const struct place anywhere = { .channel = NULL };
	OWNED(found) struct found f = { 0 };
	OWNED(str) struct str id = { 0 };
	int count = 0;

	verb_add_id(&id, text);
	if (id.length >= FIND_LEAST)
		count = find_sessions(&c->store, &anywhere, SESSION_STATUS_NONE, id.bytes, &f, e);
	if (check_one(&f, count, text, "session", "list", e))
		return -1;
	*ret_id = xstrdup(f.id);
	return 0;
}

/* ---- short ids ---- */

/* Lists rows whose id is in [start, end): at least two, if there are two. */
typedef void list_prefixed(struct store *st, const char *start, const char *end,
                           struct prefixed_row *row);

static int count_prefixed(struct store *st, list_prefixed *list, const char *start, const char *end,
                          struct err *e)
{
	OWNED(prefixed_row) struct prefixed_row row = { 0 };
	int got, count = 0;

	list(st, start, end, &row);
	while ((got = row_next(&row.row, e)) > 0)
		count++;
	return got < 0 ? -1 : count;
}

/* Counts the sessions and questions whose id begins with text: 2 or more if it is ambiguous. */
static int with_prefix(struct store *st, const char *text, struct err *e)
{
	char end[ID_BYTES];
	size_t n = strlen(text);
	int sessions, requests;

	if (n == 0 || n >= sizeof(end))
		return 0;
	memcpy(end, text, n + 1);
	end[n - 1]++;
	sessions = count_prefixed(st, sql_session_by_prefix, text, end, e);
	if (sessions < 0)
		return -1;
	requests = count_prefixed(st, sql_request_by_prefix, text, end, e);
	return requests < 0 ? -1 : sessions + requests;
}

int add_short_id(struct ctl *c, const char *id, struct str *out, struct err *e)
{
	char prefix[ID_BYTES];
	size_t n = FIND_SHORT;
	int count = 2;

	if (strlen(id) < FIND_SHORT || strlen(id) >= ID_BYTES) {
		str_add(out, id);
		return 0;
	}
	for (; id[n - 1] && n <= strlen(id); n++) {
		if (n < strlen(id) && id[n - 1] == '-')
			continue;
		(void)snprintf(prefix, sizeof(prefix), "%.*s", (int)n, id);
		count = with_prefix(&c->store, prefix, e);
		if (count < 2)
			break;
	}
	str_addf(out, "%.*s", (int)n, id);
	return count < 0 ? -1 : 0;
}

int find_any_session(struct ctl *c, const char *text, char **ret_id, struct err *e)
{
	OWNED(found) struct found f = { 0 };
	OWNED(str) struct str id = { 0 };
	int count;

	verb_add_id(&id, text);
	count = find_any_sessions(&c->store, str_text(&id), &f, e);
	if (check_one(&f, count, text, "session", "list", e))
		return -1;
	*ret_id = xstrdup(f.id);
	return 0;
}

/* The folder of the [[workspace]] with this id, or NULL. */
static char *configured_folder(struct ctl *c, const char *id)
{
	OWNED(cJSON_ptr) cJSON *list = NULL;
	const cJSON *one;

	(void)setting_json(&c->store, "workspace", &list, NULL);
	cJSON_ArrayForEach (one, list)
		if (json_says(one, "id", id) && *json_some_text(one, "path"))
			return xstrdup(json_text(one, "path"));
	return NULL;
}

/* What desk runs for an operator has got the path from there: it does not look by itself. */
static char *real_folder(const char *path)
{
	if (!via_desk_operator())
		return realpath(path, NULL);
	if (*path == '/')
		return xstrdup(path);
	errno = ENOENT;
	return NULL;
}

int ctl_workspace(struct ctl *c, char **ret_folder, struct err *e)
{
	const char *given = c->workspace;

	*ret_folder = NULL;
	if (!given)
		return 0;
	if (ctl_is_folder(given)) {
		*ret_folder = real_folder(given);
		return *ret_folder ? 0
		                   : err_errno(e, ERR_INPUT, "there is no folder %.200s", given);
	}
	*ret_folder = configured_folder(c, given);
	return *ret_folder
	           ? 0
	           : err_set(e, ERR_INPUT,
	                     "there is no [[workspace]] '%.100s' with a path; for a folder, write "
	                     "./%.100s",
	                     given, given);
}

char *join_arguments(const struct ctl *c, int first)
{
	OWNED(str) struct str out = { 0 };

	for (int i = first; i < c->argc; i++)
		str_addf(&out, "%s%s", i > first ? " " : "", c->argv[i]);
	return str_take(&out);
}
