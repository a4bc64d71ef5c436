#include "hook_kept.h"

#include "content.h"

#include <stdlib.h>
#include <string.h>

cJSON *hook_kept(struct store *st, int64_t call_seq, struct err *e)
{
	OWNED(gate_call_arguments_row) struct gate_call_arguments_row row = { 0 };
	OWNED(str) struct str text = { 0 };
	cJSON *all;
	int got = sql_gate_call_arguments(st, call_seq, &row, e);

	if (got < 0)
		return NULL;
	if (row.arguments)
		str_add(&text, row.arguments);
	if (row.arguments_seq && content_get(st, row.arguments_seq, &text, e))
		return NULL;
	all = json_read(str_text(&text), text.length, NULL);
	if (!all)
		(void)err_set(e, ERR_BUG, "call %lld has no arguments", (long long)call_seq);
	return all;
}

int hook_use(struct hook *h, const cJSON *kept, const char *tool, const cJSON *input, struct err *e)
{
	const char *host = json_text(kept, "host"), *event = json_text(kept, "event");
	const struct gate_host *known = host ? gate_host_named(host) : NULL;

	if (!known || !event || !tool || !input)
		return err_set(e, ERR_INPUT, "what its hook said is not known any longer");
	h->in.owned = gate_input_json(known, event, tool, json_text(kept, "cwd"), input);
	if (gate_input_from(known, event, h->in.owned, &h->in, e))
		return -1;
	hook_identify(h);
	return 0;
}

void hook_use_clear(struct hook *h)
{
	gate_input_clear(&h->in);
	str_clear(&h->folder);
}

int hook_kept_open(struct store *st, int64_t call_seq, struct call *c, struct err *e)
{
	c->hook = xcalloc(1, sizeof(*c->hook));
	c->hook->risk = "low";
	c->arguments = hook_kept(st, call_seq, e);
	if (!c->arguments || hook_use(c->hook, c->arguments, json_text(c->arguments, "tool"),
	                              cJSON_GetObjectItemCaseSensitive(c->arguments, "input"), e))
		return -1;
	c->digest = c->hook->digest;
	return 0;
}
