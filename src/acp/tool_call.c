#include "tool_call.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 500 }; /* an agent that never ends one does not fill our memory */

static void discard(struct acp_tool_call *call)
{
	cJSON_Delete(call->fields);
	free(call->id);
	free(call);
}

static struct acp_tool_call *find(const struct acp_tool_calls *calls, const char *id)
{
	struct acp_tool_call *call = calls->first;

	while (call && strcmp(call->id, id) != 0)
		call = call->next;
	return call;
}

static void drop_oldest(struct acp_tool_calls *calls)
{
	struct acp_tool_call **at = &calls->first;

	while (*at && (*at)->next)
		at = &(*at)->next;
	if (*at)
		discard(*at);
	*at = NULL;
	calls->count--;
}

static struct acp_tool_call *begin(struct acp_tool_calls *calls, const char *id)
{
	struct acp_tool_call *call = xcalloc(1, sizeof(*call));

	if (calls->count == CALLS_MAX)
		drop_oldest(calls);
	call->id = xstrdup(id);
	call->fields = cJSON_CreateObject();
	call->next = calls->first;
	calls->first = call;
	calls->count++;
	return call;
}

struct acp_tool_call *acp_tool_call_merge(struct acp_tool_calls *calls, const cJSON *update,
                                          bool clears, bool *ret_new)
{
	const char *id = json_text(update, "toolCallId");
	struct acp_tool_call *call = id ? find(calls, id) : NULL;
	const cJSON *member;

	*ret_new = id && !call;
	if (!id)
		return NULL;
	if (!call)
		call = begin(calls, id);
	cJSON_ArrayForEach (member, update) {
		if (strcmp(member->string, "sessionUpdate") == 0 ||
		    (cJSON_IsNull(member) && !clears))
			continue;
		cJSON_DeleteItemFromObjectCaseSensitive(call->fields, member->string);
		if (!cJSON_IsNull(member))
			cJSON_AddItemToObject(call->fields, member->string,
			                      cJSON_Duplicate(member, true));
	}
	return call;
}

void acp_tool_call_append(struct acp_tool_calls *calls, const char *id, const cJSON *item)
{
	struct acp_tool_call *call = id ? find(calls, id) : NULL;
	cJSON *content = call ? cJSON_GetObjectItemCaseSensitive(call->fields, "content") : NULL;

	if (!call || !item)
		return;
	if (!cJSON_IsArray(content)) {
		cJSON_DeleteItemFromObjectCaseSensitive(call->fields, "content");
		content = cJSON_AddArrayToObject(call->fields, "content");
	}
	cJSON_AddItemToArray(content, cJSON_Duplicate(item, true));
}

static const char *text_or(const struct acp_tool_call *call, const char *name, const char *other)
{
	const char *text = json_text(call->fields, name);

	return text && text[0] ? text : other;
}

const char *acp_tool_call_title(const struct acp_tool_call *call)
{
	return text_or(call, "title", text_or(call, "name", NULL));
}

const char *acp_tool_call_kind(const struct acp_tool_call *call)
{
	return text_or(call, "kind", "other");
}

const char *acp_tool_call_status(const struct acp_tool_call *call)
{
	return text_or(call, "status", "pending");
}

bool acp_tool_call_is_over(const struct acp_tool_call *call)
{
	const char *status = acp_tool_call_status(call);

	return strcmp(status, "completed") == 0 || strcmp(status, "failed") == 0 ||
	       strcmp(status, "cancelled") == 0;
}

void acp_tool_calls_sweep(struct acp_tool_calls *calls)
{
	for (struct acp_tool_call **at = &calls->first; *at;) {
		struct acp_tool_call *call = *at;

		if (!acp_tool_call_is_over(call)) {
			at = &call->next;
			continue;
		}
		*at = call->next;
		discard(call);
		calls->count--;
	}
}

void acp_tool_calls_clear(struct acp_tool_calls *calls)
{
	while (calls->first) {
		struct acp_tool_call *call = calls->first;

		calls->first = call->next;
		discard(call);
	}
	calls->count = 0;
}
