#include "http_token.h"

#include "front.h"
#include "http_reply.h"
#include "sha256.h"
#include "sql/agent_run.h"

#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char SCHEME[] = "Bearer ", OURS[] = "ict_";

/* The tokens of ours among the credentials of a request: how many, and the last one. Others are not
 * our business. */
static int find(const struct sink *s, const char **ret_token)
{
	const struct evkeyvalq *headers = evhttp_request_get_input_headers(s->http);
	const struct evkeyval *h;
	int count = 0;

	TAILQ_FOREACH (h, headers, next) {
		const char *token = h->value;

		if (strcasecmp(h->key, "Authorization") != 0 ||
		    strncasecmp(token, SCHEME, strlen(SCHEME)) != 0)
			continue;
		token += strlen(SCHEME);
		token += strspn(token, " ");
		if (strncmp(token, OURS, strlen(OURS)) != 0)
			continue;
		*ret_token = token;
		count++;
	}
	return count;
}

static bool refuse(struct sink *s, int status, const char *why)
{
	if (status == 401)
		http_reply_header(s, "WWW-Authenticate", "Bearer error=\"invalid_token\"");
	http_reply_error(s, status, NULL, RPC_INVALID_REQUEST, why);
	return false;
}

bool http_token_take(struct sink *s)
{
	OWNED(agent_run_of_token_row) struct agent_run_of_token_row run = { 0 };
	struct identity *i = &s->peer->identity;
	const char *token = NULL;
	struct err e = { 0 };
	int count = find(s, &token), got;

	if (!count)
		return true;
	if (count > 1)
		return refuse(s, 401, "several tokens are shown; show one");
	got = sql_agent_run_of_token(&s->front->worker.store, sha256_of(token, strlen(token)).text,
	                             &run, &e);
	if (got < 0)
		return refuse(s, 503, e.text);
	if (!got)
		return refuse(s, 401, "this token is of no agent that runs");
	if (i->session_id && strcmp(i->session_id, run.session_id) != 0)
		return refuse(s, 403, "this token is another session's");
	free(i->session_id);
	i->session_id = xstrdup(run.session_id);
	s->peer->token_session = xstrdup(run.session_id);
	return true;
}

bool http_token_fits(const struct peer *p)
{
	return !p->token_session ||
	       (p->identity.session_id && strcmp(p->identity.session_id, p->token_session) == 0);
}
