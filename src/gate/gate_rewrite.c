#include "gate_rewrite.h"

#include "gate_answer.h"

static const char COMMAND[] = "command";

/* The host's tool that writes a whole file: its names are one name. NULL: it has none. */
static const struct gate_tool *writing_tool(const struct gate_host *host)
{
	for (const struct gate_tool *t = host->tools; t->names; t++)
		if (t->form == GATE_FORM_WRITE)
			return t;
	return NULL;
}

/* Whether its result is the content of one file, which another tool can write whole. */
static bool replaces_text(const struct gate_input *in)
{
	switch (in->form) {
	case GATE_FORM_REPLACE:
	case GATE_FORM_REPLACE_MANY:
	case GATE_FORM_REPLACE_EACH:
	case GATE_FORM_INSERT:
		return writing_tool(in->host) != NULL;
	case GATE_FORM_WRITE:
	case GATE_FORM_NONE:
	case GATE_FORM_NOTEBOOK:
	case GATE_FORM_SKILL:
	case GATE_FORM_DELETE:
	case GATE_FORM_PATCH:
	case GATE_FORM_SEARCH:
	case GATE_FORM_GLOB:
		break;
	}
	return false;
}

enum gate_part gate_rewrite_part(const struct gate_input *in)
{
	if (in->host->relays || in->is_bare)
		return GATE_PART_NONE;
	if (in->class == GATE_EXECUTE && in->command)
		return GATE_PART_COMMAND;
	if (in->class != GATE_EDIT || in->path_count != 1)
		return GATE_PART_NONE;
	return in->form == GATE_FORM_WRITE || replaces_text(in) ? GATE_PART_CONTENT
	                                                        : GATE_PART_NONE;
}

/* The same input with another text in it. */
static void replace(const struct gate_input *in, const char *key, const char *text,
                    struct gate_rewrite *out)
{
	out->tool = in->tool;
	out->input = cJSON_Duplicate(in->tool_input, true);
	(void)cJSON_ReplaceItemInObjectCaseSensitive(out->input, key, cJSON_CreateString(text));
	out->is_told = !gate_answer_rewrites(in->host, in->event_name);
}

int gate_rewrite_make(const struct gate_input *in, const char *text, struct gate_rewrite *out,
                      struct err *e)
{
	const struct gate_tool *writes = writing_tool(in->host);

	switch (gate_rewrite_part(in)) {
	case GATE_PART_COMMAND:
		replace(in, COMMAND, text, out);
		return 0;
	case GATE_PART_CONTENT:
		if (in->form == GATE_FORM_WRITE) {
			replace(in, in->keys->content, text, out);
			return 0;
		}
		out->tool = writes->names;
		out->is_told = true;
		out->input = cJSON_CreateObject();
		(void)cJSON_AddStringToObject(out->input, writes->keys->path, in->paths[0]);
		(void)cJSON_AddStringToObject(out->input, writes->keys->content, text);
		return 0;
	case GATE_PART_NONE:
		break;
	}
	return err_set(e, ERR_INPUT, "%.60s takes no other text", in->tool ? in->tool : "the tool");
}

void gate_rewrite_clear(struct gate_rewrite *r)
{
	cJSON_Delete(r->input);
	*r = (struct gate_rewrite){ 0 };
}
