#include "said.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "sql/agent_turn.h"

#include <stdlib.h>
#include <string.h>

enum { SHOW_MS = 3000 /* between two edits of the message that shows what it does */ };

/* ---- events ---- */

/* The first path that a call names. */
static const char *path_of(const struct acp_tool_call *call)
{
	const cJSON *places = cJSON_GetObjectItemCaseSensitive(call->fields, "locations");

	return json_text(cJSON_GetArrayItem(places, 0), "path");
}

static void read_tool(const struct acp_tool_call *call, struct said_line *out)
{
	const char *title = acp_tool_call_title(call), *path = path_of(call);
	struct str json = { 0 };

	json_object(&json);
	json_member(&json, "kind", acp_tool_call_kind(call));
	json_member(&json, "status", acp_tool_call_status(call));
	if (path)
		json_member(&json, "path", path);
	json_object_end(&json);
	*out = (struct said_line){ .what = SAID_ONGOING,
		                   .kind = AGENT_LINE_KIND_TOOL,
		                   .key = xstrdup(call->id),
		                   .text = xstrdup_if(title),
		                   .detail = str_take(&json),
		                   .is_over = acp_tool_call_is_over(call) };
}

static void read_words(enum agent_line_kind kind, const char *text, struct said_line *out)
{
	*out = (struct said_line){ .what = SAID_LINE, .kind = kind, .text = xstrdup_if(text) };
}

bool said_read(const struct acp_event *event, struct said_line *out)
{
	*out = (struct said_line){ .what = SAID_NOTHING };
	switch (event->kind) {
	case ACP_TEXT:
		read_words(AGENT_LINE_KIND_TEXT, event->text, out);
		break;
	case ACP_STATUS:
		read_words(AGENT_LINE_KIND_STATUS, event->text, out);
		break;
	case ACP_TOOL:
		read_tool(event->tool, out);
		break;
	case ACP_PLAN:
		*out = (struct said_line){ .what = SAID_ONGOING,
			                   .kind = AGENT_LINE_KIND_PLAN,
			                   .key = xstrdup(""),
			                   .detail = xstrdup_if(event->json) };
		break;
	case ACP_TURN_STARTED:
		out->what = SAID_TURN_BEGAN;
		break;
	case ACP_TURN_ENDED:
		*out = (struct said_line){ .what = SAID_TURN_ENDED,
			                   .text = xstrdup_if(event->text),
			                   .stop = event->stop };
		break;
	case ACP_OPENED:
	case ACP_FAILED:
	case ACP_USAGE:
	case ACP_MODE:
	case ACP_TITLE:
	case ACP_ASKED:
	case ACP_WITHDRAWN:
	case ACP_ALIVE:
	case ACP_HUNG:
	case ACP_CLOSED:
	case ACP_NOTE:
		break;
	}
	return out->what != SAID_NOTHING;
}

void said_note(const char *text, struct said_line *out)
{
	read_words(AGENT_LINE_KIND_NOTE, text, out);
}

void said_line_clear(struct said_line *line)
{
	free(line->key);
	free(line->text);
	free(line->detail);
	*line = (struct said_line){ .what = SAID_NOTHING };
}

/* ---- rows ---- */

int said_begin(struct said *s, struct store *st, int64_t input, struct err *e)
{
	int64_t turn = sql_agent_turn_begin(st, s->run, input, e);

	if (turn < 0)
		return -1;
	s->turn = turn;
	s->is_open = true;
	s->has_more = false;
	return 0;
}

static int end(struct said *s, struct store *st, const struct said_line *line, bool gone,
               struct err *e)
{
	if (s->has_more && sql_agent_turn_show(st, s->turn, e))
		return -1;
	s->is_open = s->has_more = false;
	return sql_agent_turn_end(st, agent_turn_stop_of(acp_stop_name(line->stop)), line->text,
	                          gone, s->turn, e);
}

/* A row that changes; 0 also where it is over and does not. */
static int change(struct said *s, struct store *st, const struct said_line *line, struct err *e)
{
	const struct agent_line_change_args now = { .text = line->text,
		                                    .detail = line->detail,
		                                    .over = line->is_over,
		                                    .turn = s->turn,
		                                    .kind = line->kind,
		                                    .key = line->key,
		                                    .run = s->run };
	const struct agent_line_insert_ongoing_args first = { .run = s->run,
		                                              .turn = s->turn,
		                                              .kind = line->kind,
		                                              .key = line->key,
		                                              .text = line->text,
		                                              .detail = line->detail,
		                                              .over = line->is_over };
	int did = sql_agent_line_change(st, &now, e);

	if (did == 0)
		did = sql_agent_line_insert_ongoing(st, &first, e);
	s->has_more |= did > 0;
	return did < 0 ? -1 : 0;
}

int said_write(struct said *s, struct store *st, const struct said_line *line, bool gone,
               struct err *e)
{
	const struct agent_line_insert_args args = { .run = s->run,
		                                     .turn = s->turn,
		                                     .kind = line->kind,
		                                     .text = line->text,
		                                     .detail = line->detail };

	switch (line->what) {
	case SAID_LINE:
		return sql_agent_line_insert(st, &args, e);
	case SAID_ONGOING:
		return change(s, st, line, e);
	case SAID_TURN_BEGAN:
		return s->is_open ? 0 : said_begin(s, st, 0, e);
	case SAID_TURN_ENDED:
		return end(s, st, line, gone, e);
	case SAID_NOTHING:
		break;
	}
	return 0;
}

int64_t said_due_ms(const struct said *s)
{
	return s->has_more && s->turn ? s->shown_ms + SHOW_MS : INT64_MAX;
}

int said_show(struct said *s, struct store *st, int64_t now_ms, struct err *e)
{
	if (now_ms < said_due_ms(s))
		return 0;
	if (sql_agent_turn_show(st, s->turn, e))
		return -1;
	s->has_more = false;
	s->shown_ms = now_ms;
	return 0;
}
