/* ping: a sign of life, with the agent's current activity. */
#include "tools.h"

#include "call.h"
#include "json.h"
#include "json_writer.h"
#include "peer.h"
#include "sql/session.h"

static int set_progress(struct store *st, const struct peer *p, const cJSON *progress,
                        struct err *e)
{
	OWNED(str) struct str text = { 0 };

	json_canonical(&text, progress);
	return sql_session_set_progress(st, text.bytes, p->session_seq, e);
}

static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	const cJSON *progress = cJSON_GetObjectItemCaseSensitive(c->arguments, "progress_snapshot");

	if (progress && set_progress(st, p, progress, e))
		return -1;
	json_object(&c->result);
	json_member_bool(&c->result, "acknowledged", true);
	json_member(&c->result, "session_id", p->session_id);
	json_member_bool(&c->result, "stall_detection_enabled",
	                 settings->stall_enabled && !p->stall_paused);
	if (c->steering.steers.length)
		json_member_raw(&c->result, "pending_steering", c->steering.steers.bytes);
	json_object_end(&c->result);
	return 0;
}

const struct tool TOOL_PING = {
	.name = "ping",
	.title = "Ping",
	.description =
	    "Says that you are alive. Call it during long work so that the operator is not "
	    "alarmed; status_message and progress_snapshot tell the operator how far you are.",
	.input =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"status_message\":{\"type\":\"string\",\"description\":\"status for the "
	    "operator\"},"
	    "\"progress_snapshot\":{\"type\":\"array\",\"description\":\"replaces the previous "
	    "one\","
	    "\"items\":{\"type\":\"object\",\"properties\":{"
	    "\"label\":{\"type\":\"string\",\"minLength\":1},"
	    "\"status\":{\"type\":\"string\",\"enum\":[\"done\",\"in_progress\",\"pending\"]}},"
	    "\"required\":[\"label\",\"status\"]}}}}",
	.output =
	    TOOL_OUTPUT("\"acknowledged\":{\"type\":\"boolean\"},"
	                "\"session_id\":{\"type\":\"string\"},"
	                "\"stall_detection_enabled\":{\"type\":\"boolean\"},"
	                "\"pending_steering\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
	                "\"description\":\"what the operator says to you; told once\"}}}"),
	.idempotent = true,
	.run = run,
};
