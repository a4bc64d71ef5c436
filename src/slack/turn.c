#include "turn.h"

#include "json.h"
#include "notice.h"

#include <stdio.h>
#include <string.h>

enum { TITLE_MAX = 150, PROMPT_MAX = 300 };

/* ---- activity ---- */

static const char *mark_of(const char *status, bool is_over)
{
	static const char *const MARKS[][2] = { { "completed", "✅" },
		                                { "failed", "❌" },
		                                { "cancelled", "⏹️" } };

	for (size_t i = 0; status && i < COUNT(MARKS); i++)
		if (strcmp(status, MARKS[i][0]) == 0)
			return MARKS[i][1];
	return is_over ? "⏹️" : "🔄";
}

static void add_calls(struct str *out, const struct slack_activity *a)
{
	int64_t before = a->calls - cJSON_GetArraySize(a->last);
	const cJSON *call;

	if (before > 0)
		str_addf(out, "… %lld before\n", (long long)before);
	cJSON_ArrayForEach (call, a->last) {
		str_addf(out, "%s ", mark_of(json_text(call, "status"), a->turn->ended_at != NULL));
		blocks_add_literal(out, json_text_or(call, "text", "a tool"), TITLE_MAX);
		str_add_char(out, '\n');
	}
	if (out->length)
		out->bytes[--out->length] = '\0';
}

void slack_turn_activity(const struct slack_activity *a, struct slack_said *out)
{
	const char *state = a->turn->ended_at ? "Worked" : "Working";
	OWNED(str) struct str calls = { 0 }, count = { 0 };
	cJSON *runs;

	if (a->calls)
		str_addf(&count, ": %lld call%s of tools", (long long)a->calls,
		         a->calls == 1 ? "" : "s");
	str_addf(&out->text, "🔧 *%s*%s", state, str_text(&count));
	out->blocks = cJSON_CreateArray();
	runs = blocks_add_rich(out->blocks, "rich_text_section"); /* in every edit of it */
	blocks_add_run(runs, "🔧 ", NULL);
	blocks_add_run(runs, state, "bold");
	blocks_add_run(runs, str_text(&count), NULL);
	add_calls(&calls, a);
	if (calls.length)
		blocks_add_quote(out->blocks, str_text(&calls));
	slack_notice_add_progress(out->blocks, a->plan, true);
}

/* ---- the end of a turn ---- */

static const char *words_of(enum agent_turn_stop stop)
{
	switch (stop) {
	case AGENT_TURN_STOP_END_TURN:
		return "🏁 *The agent has ended its turn.*";
	case AGENT_TURN_STOP_MAX_TURN_REQUESTS:
		return "⚠️ *The agent stopped at its limit of steps.*";
	case AGENT_TURN_STOP_MAX_TOKENS:
		return "⚠️ *The agent stopped at its limit of tokens.*";
	case AGENT_TURN_STOP_REFUSAL:
		return "⚠️ *The model refused.*";
	case AGENT_TURN_STOP_CANCELLED:
		return "⏹️ *The turn was cancelled.*";
	case AGENT_TURN_STOP_ERROR:
		return "❌ *The turn ended with an error*";
	case AGENT_TURN_STOP_OTHER:
	case AGENT_TURN_STOP_NONE:
		break;
	}
	return "🏁 *The agent has ended its turn*, it does not say why.";
}

/* An order to stop has ended its process. */
static bool was_stopped(const struct slack_turn_row *turn)
{
	return turn->stop == AGENT_TURN_STOP_ERROR && turn->stop_wanted_at && turn->ended_at &&
	       strcmp(turn->stop_wanted_at, turn->ended_at) <= 0;
}

static bool has_ended(const struct slack_turn_row *turn)
{
	return turn->run_ended_at || turn->stop_wanted_at ||
	       turn->status == SESSION_STATUS_TERMINATED;
}

static void add_quoted(struct str *out, const char *text)
{
	str_add(out, "“");
	blocks_add_escaped(out, text, PROMPT_MAX);
	str_add(out, "”");
}

static void add_end(struct str *out, const struct slack_turn_row *turn)
{
	if (!turn->is_kept || turn->status == SESSION_STATUS_TERMINATED)
		str_add(out, "Its session has ended.");
	else if (turn->status == SESSION_STATUS_INTERRUPTED)
		str_add(out, "⚠️ Its session was interrupted: `session-resume` continues it.");
	else if (turn->run_ended_at)
		str_add(out, "⚠️ Its session was interrupted, and has been resumed.");
	else
		str_add(out, "⚠️ Its session was interrupted.");
}

/* What came next. A turn that has another after it was not the last, whatever happened later. */
static void add_next(struct str *out, const struct slack_turn_row *turn)
{
	if (turn->said) {
		str_add(out, "▶️ Next, from ");
		blocks_add_person(out, turn->said_by);
		str_add(out, ": ");
		add_quoted(out, turn->said);
	} else if (turn->next_prompt) {
		str_add(out, "▶️ Next: ");
		add_quoted(out, turn->next_prompt);
	} else if (turn->is_last) {
		add_end(out, turn);
	} else {
		str_add(out, "▶️ It went on by itself.");
	}
}

static void add_buttons(cJSON *blocks, const struct slack_turn_row *turn)
{
	char id[24];
	cJSON *buttons;

	(void)snprintf(id, sizeof(id), "%lld", (long long)turn->seq);
	buttons = blocks_add_actions(blocks, "turn_", id);
	blocks_add_button(buttons, "turn_resume", "▶️ Resume", id, "primary");
	blocks_add_button(buttons, "turn_instruct", "Instruct", id, NULL);
	blocks_add_button(buttons, "turn_stop", "🛑 Stop", id, "danger");
}

void slack_turn_end(const struct slack_turn_row *turn, struct slack_said *out)
{
	OWNED(str) struct str next = { 0 };
	bool waits = !turn->followed_at && !has_ended(turn);

	str_add(&out->text, words_of(was_stopped(turn) ? AGENT_TURN_STOP_CANCELLED : turn->stop));
	if (turn->why && !was_stopped(turn)) {
		str_add(&out->text, ": ");
		blocks_add_escaped(&out->text, turn->why, BLOCKS_REASON);
	}
	out->blocks = blocks_of_section(str_text(&out->text));
	blocks_sign(&out->text, turn->agent_user, turn->workspace_root, turn->client_name,
	            turn->label);
	if (waits)
		str_add(&next,
		        "A reply in this thread is its next prompt, unless a question waits here.");
	else
		add_next(&next, turn);
	blocks_add_context(out->blocks, str_text(&next));
	if (waits)
		add_buttons(out->blocks, turn);
}
