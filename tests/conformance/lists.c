/* Prompts, resources, completion; and who listens for changes of lists. */
#include "fixture.h"
#include "json_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- prompts ---- */

static const char PROMPTS[] =
    "{\"prompts\":["
    "{\"name\":\"test_simple_prompt\",\"description\":\"A prompt without arguments\"},"
    "{\"name\":\"test_prompt_with_arguments\",\"description\":\"A prompt with two arguments\","
    "\"arguments\":[{\"name\":\"arg1\",\"description\":\"The first\",\"required\":true},"
    "{\"name\":\"arg2\",\"description\":\"The second\",\"required\":true}]},"
    "{\"name\":\"test_prompt_with_embedded_resource\",\"description\":\"A prompt with a resource\","
    "\"arguments\":[{\"name\":\"resourceUri\",\"description\":\"What to embed\","
    "\"required\":true}]},"
    "{\"name\":\"test_prompt_with_image\",\"description\":\"A prompt with an image\"},"
    "{\"name\":\"test_input_required_result_prompt\",\"description\":\"A prompt that asks back\"}"
    "]";

void prompts_list(const struct ask *a)
{
	OWNED(str) struct str result = { 0 };

	str_add(&result, PROMPTS);
	ask_answer(a, &result, MCP_CACHE_PUBLIC);
}

static void begin_message(struct str *out, const char *type)
{
	str_addf(out, "%s{\"role\":\"user\",\"content\":{\"type\":\"%s\",",
	         out->bytes[out->length - 1] == '}' ? "," : "", type);
}

static void add_text(struct str *out, const char *text)
{
	begin_message(out, "text");
	str_add(out, "\"text\":");
	json_quote(out, text);
	str_add(out, "}}");
}

/* The messages of a prompt; false if its arguments are wrong or there is no such prompt. */
static bool add_messages(const struct ask *a, const char *name, struct str *out)
{
	const char *arg1 = ask_argument(a, "arg1"), *arg2 = ask_argument(a, "arg2");
	const char *uri = ask_argument(a, "resourceUri");
	OWNED(str) struct str text = { 0 };

	if (strcmp(name, "test_simple_prompt") == 0) {
		add_text(out, "This is a simple prompt for testing.");
	} else if (strcmp(name, "test_prompt_with_arguments") == 0 && arg1 && arg2) {
		str_addf(&text, "Prompt with arguments: arg1='%s', arg2='%s'", arg1, arg2);
		add_text(out, text.bytes);
	} else if (strcmp(name, "test_prompt_with_embedded_resource") == 0 && uri) {
		begin_message(out, "resource");
		str_add(out, "\"resource\":{\"uri\":");
		json_quote(out, uri);
		str_add(out, ",\"mimeType\":\"text/plain\","
		             "\"text\":\"Embedded resource content for testing.\"}}}");
		add_text(out, "Please process the embedded resource above.");
	} else if (strcmp(name, "test_prompt_with_image") == 0) {
		begin_message(out, "image");
		str_add(out, "\"data\":\"" FIXTURE_PNG "\",\"mimeType\":\"image/png\"}}");
		add_text(out, "Please analyze the image above.");
	} else {
		return false;
	}
	return true;
}

void prompts_get(const struct ask *a)
{
	const char *name = json_text(a->params, "name");
	OWNED(str) struct str result = { 0 };
	OWNED(str) struct str text = { 0 };

	str_add(&result, "{\"messages\":[");
	if (a->modern && name && strcmp(name, "test_input_required_result_prompt") == 0) {
		if (!input_take(a, name, &text))
			return;
		add_text(&result, text.bytes);
	} else if (!name || !add_messages(a, name, &result)) {
		ask_refuse(a, RPC_INVALID_PARAMS,
		           "there is no such prompt, or an argument is missing", NULL);
		return;
	}
	str_add_char(&result, ']');
	ask_answer(a, &result, MCP_NOT_CACHEABLE);
}

/* ---- resources ---- */

void resources_list(const struct ask *a)
{
	OWNED(str) struct str result = { 0 };

	str_add(&result,
	        "{\"resources\":["
	        "{\"uri\":\"test://static-text\",\"name\":\"static-text\","
	        "\"description\":\"A text that stays as it is\",\"mimeType\":\"text/plain\"},"
	        "{\"uri\":\"test://static-binary\",\"name\":\"static-binary\","
	        "\"description\":\"A small picture\",\"mimeType\":\"image/png\"},"
	        "{\"uri\":\"test://watched-resource\",\"name\":\"watched-resource\","
	        "\"description\":\"A text to subscribe to\",\"mimeType\":\"text/plain\"}]");
	ask_answer(a, &result, MCP_CACHE_PUBLIC);
}

void resources_templates_list(const struct ask *a)
{
	OWNED(str) struct str result = { 0 };

	str_add(&result, "{\"resourceTemplates\":[{\"uriTemplate\":\"test://template/{id}/data\","
	                 "\"name\":\"template\",\"description\":\"Data for an id\","
	                 "\"mimeType\":\"application/json\"}]");
	ask_answer(a, &result, MCP_CACHE_PUBLIC);
}

static void add_contents(struct str *out, const char *uri, const char *mime_type, const char *kind,
                         const char *value)
{
	str_add(out, "{\"contents\":[{\"uri\":");
	json_quote(out, uri);
	str_addf(out, ",\"mimeType\":\"%s\",\"%s\":", mime_type, kind);
	json_quote(out, value);
	str_add(out, "}]");
}

/* The id in test://template/{id}/data, NULL if uri is another; the caller frees it. */
static char *template_id(const char *uri)
{
	static const char HEAD[] = "test://template/", TAIL[] = "/data";
	const size_t around = sizeof(HEAD) - 1 + sizeof(TAIL) - 1;
	size_t length = strlen(uri);
	char *id;

	if (length <= around || strncmp(uri, HEAD, sizeof(HEAD) - 1) != 0 ||
	    strcmp(uri + length - (sizeof(TAIL) - 1), TAIL) != 0)
		return NULL;
	id = xstrdup(uri + sizeof(HEAD) - 1);
	id[length - around] = '\0';
	return id;
}

static void refuse_uri(const struct ask *a, const char *uri)
{
	OWNED(str) struct str data = { 0 };

	str_add(&data, "{\"uri\":");
	json_quote(&data, uri);
	str_add_char(&data, '}');
	ask_refuse(a, a->modern ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND,
	           "there is no such resource", data.bytes);
}

void resources_read(const struct ask *a)
{
	const char *uri = json_text(a->params, "uri");
	OWNED(char_ptr) char *id = uri ? template_id(uri) : NULL;
	OWNED(str) struct str result = { 0 };
	OWNED(str) struct str text = { 0 };

	if (!uri) {
		ask_refuse(a, RPC_INVALID_PARAMS, "uri is missing", NULL);
		return;
	}
	if (strcmp(uri, "test://static-text") == 0) {
		add_contents(&result, uri, "text/plain", "text",
		             "This is the content of the static text resource.");
	} else if (strcmp(uri, "test://watched-resource") == 0) {
		add_contents(&result, uri, "text/plain", "text", "Watched resource content");
	} else if (strcmp(uri, "test://static-binary") == 0) {
		add_contents(&result, uri, "image/png", "blob", FIXTURE_PNG);
	} else if (id) {
		str_add(&text, "{\"id\":");
		json_quote(&text, id);
		str_add(&text, ",\"templateTest\":true,\"data\":\"Data for this id\"}");
		add_contents(&result, uri, "application/json", "text", text.bytes);
	} else {
		refuse_uri(a, uri);
		return;
	}
	ask_answer(a, &result, MCP_CACHE_PRIVATE);
}

void completion_complete(const struct ask *a)
{
	static const char *const WORDS[] = { "paris", "park", "party", "test", "testing" };
	const char *value =
	    json_text(cJSON_GetObjectItemCaseSensitive(a->params, "argument"), "value");
	OWNED(str) struct str result = { 0 };
	int count = 0;

	if (!value) {
		ask_refuse(a, RPC_INVALID_PARAMS, "argument.value is missing", NULL);
		return;
	}
	str_add(&result, "{\"completion\":{\"values\":[");
	for (size_t i = 0; i < COUNT(WORDS); i++)
		if (strncmp(WORDS[i], value, strlen(value)) == 0)
			str_addf(&result, "%s\"%s\"", count++ ? "," : "", WORDS[i]);
	str_addf(&result, "],\"total\":%d,\"hasMore\":false}", count);
	ask_answer(a, &result, MCP_NOT_CACHEABLE);
}

/* ---- subscriptions/listen ---- */

struct listener {
	LIST_ENTRY(listener) next;
	struct sink *sink;
	char *id; /* JSON token */
	bool tools, prompts;
};

static LIST_HEAD(, listener) listeners = LIST_HEAD_INITIALIZER(listeners);

static void tell(struct sink *s, const char *method, const char *id, const char *more)
{
	OWNED(str) struct str message = { 0 };

	str_addf(&message,
	         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":{\"_meta\":{"
	         "\"io.modelcontextprotocol/subscriptionId\":%s}",
	         method, id);
	str_add(&message, more);
	str_add(&message, "}}");
	s->by->notify(s, &message, NULL);
}

void subscriptions_listen(const struct ask *a)
{
	const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(a->params, "notifications");
	struct listener *l = xcalloc(1, sizeof(*l));
	OWNED(str) struct str honoured = { 0 };

	l->sink = a->sink;
	sink_hold(l->sink);
	l->id = xstrdup(a->id);
	l->tools = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(wanted, "toolsListChanged"));
	l->prompts = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(wanted, "promptsListChanged"));
	LIST_INSERT_HEAD(&listeners, l, next);
	str_addf(&honoured, ",\"notifications\":{%s%s%s}",
	         l->tools ? "\"toolsListChanged\":true" : "", l->tools && l->prompts ? "," : "",
	         l->prompts ? "\"promptsListChanged\":true" : "");
	a->sink->by->wait(a->sink, NULL);
	if (!a->sink->gone)
		tell(a->sink, "subscriptions/acknowledged", a->id, honoured.bytes);
}

void listeners_tell(const char *what)
{
	bool tools = strcmp(what, "tools") == 0;
	struct listener *l, *after;
	char method[40];

	(void)snprintf(method, sizeof(method), "%s/list_changed", what);
	for (l = LIST_FIRST(&listeners); l; l = after) {
		after = LIST_NEXT(l, next); /* telling may end l */
		if (tools ? l->tools : l->prompts)
			tell(l->sink, method, l->id, "");
	}
}

void listeners_forget(const struct sink *s)
{
	struct listener *l, *after;

	for (l = LIST_FIRST(&listeners); l; l = after) {
		after = LIST_NEXT(l, next);
		if (l->sink != s)
			continue;
		LIST_REMOVE(l, next);
		sink_drop(l->sink);
		free(l->id);
		free(l);
	}
}
