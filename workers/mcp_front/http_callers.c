#include "http_callers.h"

#include "front.h"
#include "header.h"
#include "http_arrivals.h"
#include "http_reply.h"
#include "http_token.h"
#include "peer_user.h"

#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- who may ask ---- */

static int count_headers(const struct evkeyvalq *headers, const char *name)
{
	const struct evkeyval *h;
	int count = 0;

	TAILQ_FOREACH (h, headers, next)
		count += strcasecmp(h->key, name) == 0;
	return count;
}

/* Refuses framing that evhttp reads differently from other programs, in part only before Debian's
 * 2.1.12-8+deb12u1: an invalid header name; a length that is not a number, is repeated, or stands
 * next to a transfer encoding; an encoding that evhttp does not know. */
static bool is_framed_well(const struct evkeyvalq *headers)
{
	const char *length = evhttp_find_header(headers, "Content-Length");
	const char *encoding = evhttp_find_header(headers, "Transfer-Encoding");
	const struct evkeyval *h;

	TAILQ_FOREACH (h, headers, next)
		if (!*h->key || strpbrk(h->key, " \t"))
			return false;
	if (length && (encoding || count_headers(headers, "Content-Length") > 1 ||
	               strspn(length, "0123456789") != strlen(length)))
		return false;
	return !encoding || (count_headers(headers, "Transfer-Encoding") == 1 &&
	                     strcasecmp(encoding, "chunked") == 0);
}

int http_callers_check(struct evhttp_request *request, const char **ret_why)
{
	const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
	const char *host = evhttp_find_header(headers, "Host");
	const char *origin = evhttp_find_header(headers, "Origin");
	const char *site = evhttp_find_header(headers, "Sec-Fetch-Site");
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *named = uri ? evhttp_uri_get_host(uri) : NULL; /* GET http://... */

	if (named && !header_host_is_loopback(named)) {
		*ret_why = "only localhost, 127.0.0.1 and [::1] are served";
		return 403;
	}
	if (!host || count_headers(headers, "Host") != 1 || !header_host_is_loopback(host)) {
		*ret_why = "Host not allowed: only localhost, 127.0.0.1 and [::1]";
		return 403;
	}
	if (origin &&
	    (count_headers(headers, "Origin") != 1 || !header_origin_is_loopback(origin))) {
		*ret_why = "Origin not allowed";
		return 403;
	}
	if (site && (count_headers(headers, "Sec-Fetch-Site") != 1 ||
	             strcasecmp(site, "cross-site") == 0)) {
		*ret_why = "Sec-Fetch-Site not allowed: a page of another site asks";
		return 403;
	}
	if (!is_framed_well(headers)) {
		*ret_why = "the length of the body is not clear: send one Content-Length, or "
		           "Transfer-Encoding: chunked";
		return 400;
	}
	return 0;
}

/* ---- who it is ---- */

static bool is_yes(const char *text)
{
	return strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
}

static bool is_no(const char *text)
{
	return !*text || strcmp(text, "0") == 0 || strcmp(text, "false") == 0;
}

/* NULL: all values have a meaning. */
static const char *wrong_value(const cJSON *query)
{
	const char *wait = json_some_text(query, "wait");
	const char *tasks = json_some_text(query, "tasks");
	const char *stall = json_some_text(query, "stall");

	if (strspn(wait, "0123456789") != strlen(wait) || strlen(wait) > 8)
		return "wait in the URL takes seconds, as in ?wait=3600";
	if (!is_yes(tasks) && !is_no(tasks))
		return "tasks in the URL takes 1 or 0";
	if (*stall && strcmp(stall, "off") != 0 && strcmp(stall, "on") != 0)
		return "stall in the URL takes off or on";
	return NULL;
}

bool http_callers_take_query(struct identity *i, const char *uri, const char **ret_why)
{
	OWNED(cJSON_ptr) cJSON *query = header_query(uri);
	const char *wait = json_text(query, "wait");
	const char *tasks = json_text(query, "tasks");

	*ret_why =
	    query ? wrong_value(query) : "the query of the URL is malformed, no UTF-8, or too long";
	if (*ret_why)
		return false;
	cJSON_DeleteItemFromObjectCaseSensitive(query, "workspace");
	if (wait)
		(void)cJSON_ReplaceItemInObjectCaseSensitive(
		    query, "wait", cJSON_CreateNumber(strtod(wait, NULL)));
	if (tasks)
		(void)cJSON_ReplaceItemInObjectCaseSensitive(query, "tasks",
		                                             cJSON_CreateBool(is_yes(tasks)));
	peer_identity_read(i, query);
	return true;
}

/* A caller without a session gets the same connection row as long as it describes itself the same
 * way and is the same run of its program: identified by the name it gives that run, else by its
 * process. */
static void stateless_key(struct peer *p, const char *host, const char *run)
{
	OWNED(str) struct str said = { 0 };
	const struct identity *i = &p->identity;
	const char *const texts[] = {
		host,     i->workspace_id, i->channel_id,     i->session_id,
		i->agent, p->client_name,  p->client_version, run ? run : p->process
	};

	for (size_t k = 0; k < COUNT(texts); k++) {
		str_add(&said, texts[k] ? texts[k] : "");
		str_add_char(&said, '\n');
	}
	peer_add_user(p, &said);
	(void)snprintf(p->key, sizeof(p->key), "stateless-%s",
	               sha256_of(said.bytes, said.length).text);
}

const char *http_callers_header(const struct sink *s, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(s->http), name);
}

bool http_callers_find_process(struct sink *s, const char *id)
{
	const char *process;

	if (!http_arrivals_process(s->front, s->http, &process)) {
		http_reply_error(s, 503, id, RPC_INTERNAL_ERROR,
		                 "agent-intercom cannot see which process calls, and starts "
		                 "again; nothing was done; send it again");
		return false;
	}
	s->peer->process = process ? xstrdup(process) : NULL;
	return true;
}

static bool load_peer(struct sink *s, const char *id, bool must_exist)
{
	struct peer *p = s->peer;
	struct err e = { 0 };
	int got = peer_load(&s->front->worker.store, p, &e);

	if (got < 0) {
		http_reply_error(s, 503, id, RPC_INTERNAL_ERROR, e.text);
		return false;
	}
	if (got && !http_token_fits(p)) {
		http_reply_error(s, 403, id, RPC_INVALID_REQUEST,
		                 "this token is another session's");
		return false;
	}
	if (must_exist && (!got || p->closed || p->transport != CONNECTION_TRANSPORT_HTTP)) {
		http_reply_error(
		    s, 404, id, RPC_INVALID_REQUEST,
		    "there is no such session; send initialize without Mcp-Session-Id");
		return false;
	}
	return true;
}

static bool identify_stateless(struct sink *s, const char *id, const char *version, const char *run)
{
	struct peer *p = s->peer;

	p->transport = CONNECTION_TRANSPORT_STATELESS;
	if (!http_callers_find_process(s, id))
		return false;
	stateless_key(p, s->front->settings.workspaces.machine, run);
	if (!load_peer(s, id, false))
		return false;
	if (!p->version && version)
		p->version = xstrdup(version);
	return true;
}

bool http_callers_identify(struct sink *s, const char *id)
{
	const char *session = http_callers_header(s, "Mcp-Session-Id");
	const char *version = http_callers_header(s, "MCP-Protocol-Version");

	if (version && !mcp_version_known(version)) {
		http_reply_error(
		    s, 400, id, RPC_INVALID_REQUEST,
		    "unsupported MCP-Protocol-Version; send initialize to negotiate one");
		return false;
	}
	if (!session)
		return identify_stateless(s, id, version, NULL);
	(void)snprintf(s->peer->key, sizeof(s->peer->key), "%s", session);
	return load_peer(s, id, true);
}

/* ---- modern requests ---- */

static bool check_modern(struct sink *s, const struct rpc_message *m)
{
	const struct mcp_headers headers = { .version =
		                                 http_callers_header(s, "MCP-Protocol-Version"),
		                             .method = http_callers_header(s, "Mcp-Method"),
		                             .name = http_callers_header(s, "Mcp-Name") };
	struct mcp_fault fault;

	if (mcp_check_modern(m, &headers, &fault) == 0)
		return true;
	s->by->refuse(s, m->id, &fault);
	return false;
}

bool http_callers_identify_modern(struct sink *s, const struct rpc_message *m)
{
	if (!check_modern(s, m))
		return false;
	peer_take_client(s->peer, m->params);
	return identify_stateless(s, m->id, MCP_MODERN, mcp_run_of(m->params));
}

bool http_callers_are_modern(const struct sink *s)
{
	const char *version = http_callers_header(s, "MCP-Protocol-Version");

	return version && !mcp_version_known(version) && !http_callers_header(s, "Mcp-Session-Id");
}
