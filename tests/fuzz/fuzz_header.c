/* libFuzzer target for header values and URLs, as the front reads them: whatever they hold, reading
 * them neither crashes nor reads beyond them; what passes a check is what the check is for.
 *
 * Input: lines; a line for each header and for the URL, the rest is the body. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "header.h"
#include "mcp.h"
#include "peer.h"
#include "rpc.h"

#include <openssl/evp.h>

enum { VERSION, METHOD, NAME, EVENT_ID, TYPE, HOST, ORIGIN, URL, BODY, FIELDS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Each field in memory of its own, so that a byte beyond it is noticed. */
static void split(const char *data, size_t size, char *fields[FIELDS])
{
	for (int i = 0; i < FIELDS; i++) {
		const char *end = i < BODY ? memchr(data, '\n', size) : NULL;
		size_t n = end ? (size_t)(end - data) : size;

		fields[i] = strndup(data, n);
		n += end != NULL;
		data += n;
		size -= n;
	}
}

static bool begins(const char *text, const char *head)
{
	return strncasecmp(text, head, strlen(head)) == 0;
}

static void try_name(const char *value)
{
	OWNED(char_ptr) char *text = mcp_header_text(value);

	if (!text)
		return;
	must(utf8_valid(text, strlen(text)));
	must(strcmp(text, value) == 0 || begins(value, "=?base64?"));
}

/* What a client has packed is what it has packed. */
static void try_packed(const char *text)
{
	size_t length = strlen(text);
	OWNED(str) struct str header = { 0 };
	OWNED(char_ptr) char *back = NULL;
	char *packed = xmalloc(length * 2 + 8);

	(void)EVP_EncodeBlock((unsigned char *)packed, (const unsigned char *)text, (int)length);
	str_addf(&header, "=?base64?%s?=", packed);
	free(packed);
	back = mcp_header_text(header.bytes);
	must((back != NULL) == utf8_valid(text, length));
	must(!back || strcmp(back, text) == 0);
}

static void try_fault(const struct mcp_fault *fault)
{
	OWNED(str) struct str reply = { 0 };
	OWNED(cJSON_ptr) cJSON *value = NULL;

	must(fault->status >= 400 && fault->code < 0 && fault->text[0]);
	rpc_failure(&reply, "1", fault->code, fault->text, fault->data[0] ? fault->data : NULL);
	value = cJSON_Parse(reply.bytes);
	must(value != NULL && utf8_valid(reply.bytes, reply.length));
}

static void try_modern(char *const fields[FIELDS])
{
	const struct mcp_headers headers = { .version = fields[VERSION],
		                             .method = fields[METHOD],
		                             .name = fields[NAME] };
	struct rpc_message m = { 0 };
	struct mcp_fault fault = { .status = 0 };
	struct rpc_error error;

	if (rpc_parse(fields[BODY], strlen(fields[BODY]), &m, &error) == 0 &&
	    m.kind == RPC_REQUEST) {
		if (mcp_check_modern(&m, &headers, &fault) == 0) {
			must(strcmp(m.method, fields[METHOD]) == 0);
			must(strcmp(fields[VERSION], MCP_MODERN) == 0 && mcp_is_modern(m.params));
			must(mcp_check_modern(&m, NULL, &fault) == 0);
		} else {
			try_fault(&fault);
		}
	}
	rpc_message_clear(&m);
}

static void try_url(const char *url)
{
	OWNED(cJSON_ptr) cJSON *query = header_query(url);
	struct identity who = { .wait_s = 0 };
	const cJSON *one;

	cJSON_ArrayForEach (one, query)
		must(cJSON_IsString(one) && utf8_valid(one->valuestring, strlen(one->valuestring)));
	must(cJSON_GetArraySize(query) <= HEADER_MAX_PARAMETERS);
	peer_identity_read(&who, query);
	identity_clear(&who);
}

static void try_place(const char *host, const char *origin)
{
	if (header_host_is_loopback(host))
		must(begins(host, "localhost") || begins(host, "127.0.0.1") ||
		     begins(host, "[::1]"));
	if (header_origin_is_loopback(origin)) {
		const char *at = strstr(origin, "//");

		must(at && header_host_is_loopback(at + 2) && !strchr(origin, '@'));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *fields[FIELDS];

	split((const char *)data, size, fields);
	try_name(fields[NAME]);
	try_packed(fields[NAME]);
	try_modern(fields);
	must(header_event_call(fields[EVENT_ID]) >= 0);
	(void)header_is_json(fields[TYPE]);
	(void)mcp_version_known(fields[VERSION]);
	(void)mcp_negotiate(fields[VERSION]);
	try_place(fields[HOST], fields[ORIGIN]);
	try_url(fields[URL]);
	for (int i = 0; i < FIELDS; i++)
		free(fields[i]);
	return 0;
}
