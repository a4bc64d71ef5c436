#include "acp_case.h"

#include "err.h"
#include "suite.h"

#include <string.h>

static const char *const LEVELS[] = { "debug", "info", "warn", "error" };

static const char *or_none(const char *text)
{
	return text && text[0] ? text : "-";
}

static void add_ask(struct str *out, const struct acp_inquiry *ask)
{
	static const char *const KINDS[] = { "permission", "prompt", "form" };

	str_addf(out, "asked %s %s %s %s: %s", ask->id, KINDS[ask->kind], acp_risk_name(ask->risk),
	         or_none(str_text(&ask->path)), or_none(str_text(&ask->title)));
}

static void add_event(struct str *out, const struct acp_event *e)
{
	switch (e->kind) {
	case ACP_OPENED:
		str_addf(out, "opened %s", e->id);
		break;
	case ACP_FAILED:
		str_addf(out, "failed %d %s", e->code, e->text);
		break;
	case ACP_TURN_STARTED:
		str_add(out, "turn started");
		break;
	case ACP_TURN_ENDED:
		str_addf(out, "turn ended %s %s", acp_stop_name(e->stop), or_none(e->text));
		break;
	case ACP_TEXT:
		str_addf(out, "text %s", e->text);
		break;
	case ACP_STATUS:
		str_addf(out, "status %s %s", LEVELS[e->level], e->text);
		break;
	case ACP_TOOL:
		str_addf(out, "tool %s %s %s: %s%s", e->tool->id, acp_tool_call_kind(e->tool),
		         acp_tool_call_status(e->tool), or_none(acp_tool_call_title(e->tool)),
		         e->is_first ? " (first)" : "");
		break;
	case ACP_PLAN:
		str_addf(out, "plan %s", e->json);
		break;
	case ACP_USAGE:
		str_addf(out, "usage %lld of %lld %s", (long long)e->used, (long long)e->size,
		         or_none(e->json));
		break;
	case ACP_MODE:
		str_addf(out, "mode %s", e->text);
		break;
	case ACP_TITLE:
		str_addf(out, "title %s", e->text);
		break;
	case ACP_ASKED:
		add_ask(out, e->ask);
		break;
	case ACP_WITHDRAWN:
		str_addf(out, "withdrawn %s %s", e->id, e->text);
		break;
	case ACP_ALIVE:
		return;
	case ACP_HUNG:
		str_addf(out, "hung %s", e->text);
		break;
	case ACP_CLOSED:
		str_addf(out, "closed %s", e->text);
		break;
	case ACP_NOTE:
		str_addf(out, "note %s %s", LEVELS[e->level], e->text);
		break;
	}
	str_add_char(out, '\n');
}

static void take(void *arg, const struct acp_event *event)
{
	add_event(arg, event);
}

struct acp_how acp_case_how(enum acp_dialect dialect)
{
	return (struct acp_how){
		.dialect = dialect,
		.most = 1 << 20,
		.startup_ms = 30000,
		.root = ACP_CASE_ROOT,
		.version = ACP_VERSION_1,
		.forms = true,
	};
}

void acp_case_open(struct acp_case *c, const struct acp_how *how)
{
	const struct acp_sink sink = { .take = take, .arg = &c->events };

	acp_open(&c->acp, how, &sink, c->now_ms);
}

void acp_case_open_session(struct acp_case *c)
{
	struct acp_how how = acp_case_how(ACP_STANDARD);

	acp_case_open(c, &how);
	acp_case_hears(c, "{\"id\":1,\"result\":{\"protocolVersion\":1}}");
	acp_case_hears(c, "{\"id\":2,\"result\":{\"sessionId\":\"S\"}}");
	acp_case_told(c, "opened S\n");
	acp_case_skip(c);
}

void acp_case_hears(struct acp_case *c, const char *line)
{
	acp_feed(&c->acp, line, strlen(line), c->now_ms);
	acp_feed(&c->acp, "\n", 1, c->now_ms);
}

void acp_case_updates(struct acp_case *c, const char *update)
{
	OWNED(str) struct str line = { 0 };

	str_addf(
	    &line,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"S\","
	    "\"update\":%s}}",
	    update);
	acp_case_hears(c, line.bytes);
}

void acp_case_told(struct acp_case *c, const char *expected)
{
	ck_assert_str_eq(str_text(&c->events), expected);
	str_reset(&c->events);
}

void acp_case_sent(struct acp_case *c, const char *expected)
{
	ck_assert_str_eq(str_text(&c->acp.out), expected);
	str_reset(&c->acp.out);
}

void acp_case_skip(struct acp_case *c)
{
	str_reset(&c->events);
	str_reset(&c->acp.out);
}

void acp_case_clear(struct acp_case *c)
{
	acp_clear(&c->acp);
	str_clear(&c->events);
}
