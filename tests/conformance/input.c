/* Multi round-trip requests: a result asks for input, the client calls again with the answers. What
 * has been settled travels with the client, signed. */
#include "fixture.h"

#include "id.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2, QUESTIONS = 3, STATE_BYTES = 300, NO_TOOLS = 2 };

struct question {
	const char *key;
	const char *capability; /* of the client */
	const char *request; /* JSON */
	const char *answered; /* the member that an answer must have */
};

#define SAMPLE(text, tokens)                                                                       \
	"{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{\"role\":\"user\","     \
	"\"content\":{\"type\":\"text\",\"text\":\"" text "\"}}],\"maxTokens\":" tokens "}}"

static const struct question USER_NAME = { "user_name", "elicitation",
	                                   FIXTURE_FORM("What is your name?", "name", "string"),
	                                   "action" };
static const struct question CAPITAL = { "capital_question", "sampling",
	                                 SAMPLE("What is the capital of France?", "100"),
	                                 "content" };
static const struct question CLIENT_ROOTS = { "client_roots", "roots",
	                                      "{\"method\":\"roots/list\",\"params\":{}}",
	                                      "roots" };
static const struct question CONFIRM = { "confirm", "elicitation",
	                                 FIXTURE_FORM("Please confirm", "ok", "boolean"),
	                                 "action" };
static const struct question GREETING = { "greeting", "sampling",
	                                  SAMPLE("Generate a greeting", "50"), "content" };
static const struct question STEP1 = { "step1", "elicitation",
	                               FIXTURE_FORM("Step 1: What is your name?", "name", "string"),
	                               "action" };
static const struct question STEP2 = {
	"step2", "elicitation",
	FIXTURE_FORM("Step 2: What is your favorite color?", "color", "string"), "action"
};
static const struct question CONTEXT = {
	"user_context", "elicitation",
	FIXTURE_FORM("What context should the prompt use?", "context", "string"), "action"
};

/* A text with what the answer to a question says in the middle. */
struct outcome {
	const char *before;
	const char *key, *member, *field; /* NULL: nothing is in the middle */
	const char *after;
};

static const struct conversation {
	const char *name;
	bool has_state;
	bool asks_only_what_can; /* leaves out questions that the client cannot answer */
	const struct question *rounds[ROUNDS][QUESTIONS];
	struct outcome outcome;
} CONVERSATIONS[] = {
	{ "test_input_required_result_elicitation",
	  false,
	  false,
	  { { &USER_NAME } },
	  { "Hello, ", "user_name", "content", "name", "!" } },
	{ "test_input_required_result_sampling",
	  false,
	  false,
	  { { &CAPITAL } },
	  { "The model says: ", "capital_question", "content", "text", "" } },
	{ "test_input_required_result_list_roots",
	  false,
	  false,
	  { { &CLIENT_ROOTS } },
	  { .before = "The roots have come" } },
	{ "test_input_required_result_request_state",
	  true,
	  false,
	  { { &CONFIRM } },
	  { .before = "state-ok" } },
	{ "test_input_required_result_multiple_inputs",
	  true,
	  false,
	  { { &USER_NAME, &GREETING, &CLIENT_ROOTS } },
	  { "All has come from ", "user_name", "content", "name", "" } },
	{ "test_input_required_result_multi_round",
	  true,
	  false,
	  { { &STEP1 }, { &STEP2 } },
	  { "Your colour is ", "step2", "content", "color", "" } },
	{ "test_input_required_result_tampered_state",
	  true,
	  false,
	  { { &CONFIRM } },
	  { .before = "integrity-ok" } },
	{ "test_input_required_result_capabilities",
	  true,
	  true,
	  { { &USER_NAME, &GREETING } },
	  { .before = "capabilities-ok" } },
	/* The last NO_TOOLS: a part of a tool elsewhere, and a prompt. */
	{ "test_tool_with_task",
	  true,
	  false,
	  { { &USER_NAME } },
	  { "Hello, ", "user_name", "content", "name", "!" } },
	{ "test_input_required_result_prompt",
	  false,
	  false,
	  { { &CONTEXT } },
	  { "Prompt with context: ", "user_context", "content", "context", "" } },
};

static const struct conversation *find(const char *name)
{
	for (size_t i = 0; i < COUNT(CONVERSATIONS); i++)
		if (strcmp(CONVERSATIONS[i].name, name) == 0)
			return &CONVERSATIONS[i];
	return NULL;
}

const char *input_tool(int i)
{
	return i < (int)COUNT(CONVERSATIONS) - NO_TOOLS ? CONVERSATIONS[i].name : NULL;
}

/* ---- state ---- */

/* The signature of "<round>.<nonce>" for one tool, as hexadecimal digits. */
static void sign(const char *name, const char *payload, char out[2 * EVP_MAX_MD_SIZE + 1])
{
	static struct secret key;
	OWNED(str) struct str text = { 0 };
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned length = 0;

	if (!key.text[0])
		key = id_new_secret();
	str_addf(&text, "%s\n%s", name, payload);
	(void)HMAC(EVP_sha256(), key.text, (int)strlen(key.text), (unsigned char *)text.bytes,
	           text.length, mac, &length);
	for (unsigned i = 0; i < length; i++)
		(void)snprintf(out + 2 * (size_t)i, 3, "%02x", mac[i]);
}

static void add_state(struct str *out, const char *name, int round)
{
	struct secret nonce = id_new_secret();
	char payload[STATE_BYTES], signature[2 * EVP_MAX_MD_SIZE + 1];

	(void)snprintf(payload, sizeof(payload), "%d.%s", round, nonce.text);
	sign(name, payload, signature);
	str_addf(out, ",\"requestState\":\"%s~%s\"", payload, signature);
}

/* The round of a state that we gave for this tool, -1 for any other. */
static int read_state(const char *name, const char *state)
{
	char payload[STATE_BYTES], signature[2 * EVP_MAX_MD_SIZE + 1];
	const char *tail = strchr(state, '~');

	if (!tail || tail - state >= (ptrdiff_t)sizeof(payload))
		return -1;
	(void)snprintf(payload, sizeof(payload), "%.*s", (int)(tail - state), state);
	sign(name, payload, signature);
	if (strlen(tail + 1) != strlen(signature) ||
	    CRYPTO_memcmp(tail + 1, signature, strlen(signature)) != 0)
		return -1;
	return (int)strtol(payload, NULL, 10);
}

/* ---- rounds ---- */

static bool is_answered(const struct question *q, const cJSON *responses)
{
	const cJSON *answer = cJSON_GetObjectItemCaseSensitive(responses, q->key);

	return cJSON_IsObject(answer) && cJSON_GetObjectItemCaseSensitive(answer, q->answered);
}

static void ask_round(const struct ask *a, const struct conversation *c, int round)
{
	OWNED(str) struct str result = { 0 };
	const char *lacking = NULL;
	int count = 0;

	str_add(&result, "{\"resultType\":\"input_required\",\"inputRequests\":{");
	for (int i = 0; i < QUESTIONS && c->rounds[round][i]; i++) {
		const struct question *q = c->rounds[round][i];

		if (ask_can(a, q->capability)) {
			str_addf(&result, "%s\"%s\":", count++ ? "," : "", q->key);
			str_add(&result, q->request);
		} else {
			lacking = q->capability;
		}
	}
	if (lacking && (count == 0 || !c->asks_only_what_can)) {
		ask_refuse_incapable(a, lacking);
		return;
	}
	str_add_char(&result, '}');
	if (c->has_state)
		add_state(&result, c->name, round);
	str_add_char(&result, '}');
	ask_reply(a, &result);
}

static bool round_is_answered(const struct ask *a, const struct conversation *c, int round,
                              const cJSON *responses)
{
	int count = 0;

	for (int i = 0; i < QUESTIONS && c->rounds[round][i]; i++) {
		if (c->asks_only_what_can && !ask_can(a, c->rounds[round][i]->capability))
			continue;
		if (!is_answered(c->rounds[round][i], responses))
			return false;
		count++;
	}
	return count > 0;
}

static void add_outcome(struct str *out, const struct outcome *o, const cJSON *responses)
{
	const cJSON *answer = o->key ? cJSON_GetObjectItemCaseSensitive(responses, o->key) : NULL;
	const char *said =
	    o->key ? json_text(cJSON_GetObjectItemCaseSensitive(answer, o->member), o->field)
	           : NULL;

	str_add(out, o->before);
	if (o->key) {
		str_add(out, said ? said : "unknown");
		str_add(out, o->after);
	}
}

bool input_take(const struct ask *a, const char *name, struct str *text)
{
	const struct conversation *c = find(name);
	const cJSON *responses = cJSON_GetObjectItemCaseSensitive(a->params, "inputResponses");
	const char *state = json_text(a->params, "requestState");
	int round = state ? read_state(name, state) : 0;

	if (round < 0 || round >= ROUNDS) {
		ask_refuse(a, RPC_INVALID_PARAMS, "requestState is not one that this server gave",
		           NULL);
		return false;
	}
	if (responses && !cJSON_IsObject(responses)) {
		ask_refuse(a, RPC_INVALID_PARAMS, "inputResponses must be an object", NULL);
		return false;
	}
	if ((c->has_state && !state) || !round_is_answered(a, c, round, responses)) {
		ask_round(a, c, round);
		return false;
	}
	if (round + 1 < ROUNDS && c->rounds[round + 1][0]) {
		ask_round(a, c, round + 1);
		return false;
	}
	add_outcome(text, &c->outcome, responses);
	return true;
}
