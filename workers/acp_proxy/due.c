#include "due.h"

#include "json.h"
#include "message.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool due_add(struct proxy *p, const char *token)
{
	OWNED(str) struct str id = { 0 };

	json_add_id_token(&id, token);
	if (tfind(str_text(&id), &p->dues, by_id))
		return true;
	if (p->due_count >= PROXY_DUES)
		return false;
	(void)tsearch(str_take(&id), &p->dues, by_id);
	p->due_count++;
	return true;
}

void due_send(struct proxy *p, const char *token, const char *line, size_t length)
{
	OWNED(str) struct str json = { 0 };

	if (due_add(p, token)) {
		channel_send(&p->to_editor, line, length);
		return;
	}
	acp_message_add_error(&json, token, ACP_INTERNAL_ERROR,
	                      "too many requests wait for an answer of the editor");
	channel_say(&p->to_agent, &json);
}

bool due_take(struct proxy *p, const char *token)
{
	OWNED(str) struct str id = { 0 };
	char **node, *found;

	json_add_id_token(&id, token);
	node = tfind(str_text(&id), &p->dues, by_id);
	if (!node)
		return false;
	found = *node;
	(void)tdelete(found, &p->dues, by_id);
	free(found);
	p->due_count--;
	return true;
}

void due_clear(struct proxy *p)
{
	while (p->dues) {
		char *id = *(char **)p->dues;

		(void)tdelete(id, &p->dues, by_id);
		free(id);
	}
	p->due_count = 0;
}
