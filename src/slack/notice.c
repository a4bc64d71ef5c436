#include "notice.h"

#include "blocks.h"
#include "clock.h"
#include "json.h"
#include "path.h"
#include "shown.h"
#include "text.h"

#include <string.h>

enum {
	MESSAGE_MAX = 9500, /* all texts in a message's blocks */
	SIGN_MAX = 60, /* before a text, and what it left out */
	SLICE_MIN = 300, /* bytes that always fit */
	FALLBACK_MAX = 3000,
	STEP_MAX = 200, /* of an agent's progress */
	HASH = 64, /* digits of a hash; people see the first HASH_SHOWN */
	HASH_SHOWN = 8,
	STDERR_MAX = 1500, /* of the last lines of an agent that ended */
};

/* ---- sessions ---- */

static const char *status_words(enum session_status status)
{
	switch (status) {
	case SESSION_STATUS_TERMINATED:
		return "🏁 ended";
	case SESSION_STATUS_INTERRUPTED:
		return "⏸️ not connected";
	case SESSION_STATUS_PAUSED:
		return "⏸️ paused";
	case SESSION_STATUS_PARKED:
		return "🅿️ parked until its question is answered";
	case SESSION_STATUS_CREATED:
	case SESSION_STATUS_ACTIVE:
	case SESSION_STATUS_NONE:
		break;
	}
	return "🟢 active";
}

/* "session-clear:<id>": what a button does, and to which session. */
static void add_session_button(cJSON *buttons, const char *word, const char *label, const char *id,
                               const char *style)
{
	OWNED(str) struct str action = { 0 }, value = { 0 };

	str_addf(&action, "session_%s", word);
	str_addf(&value, "session-%s:%s", word, id);
	blocks_add_button(buttons, action.bytes, label, value.bytes, style);
}

/* The task of an agent that we started is in the notification, too. */
static void add_begun(const struct slack_session_row *s, struct str *out)
{
	bool acp = s->protocol_mode == SESSION_PROTOCOL_MODE_ACP;

	if (s->origin == SESSION_ORIGIN_FOLDER) {
		str_add(out, "📁 *No agent works here* ");
		blocks_add_short_id(out, s->id);
	} else if (s->restart_of) {
		str_add(out, "🔄 *Session restarted* ");
		blocks_add_short_id(out, s->id);
		str_add(out, " (before: ");
		blocks_add_short_id(out, s->restart_of);
		str_add_char(out, ')');
	} else {
		str_addf(out, "%s *Session started* ",
		         acp && s->origin != SESSION_ORIGIN_STARTED ? "🤖" : "🚀");
		blocks_add_short_id(out, s->id);
	}
}

static void add_processing(const struct slack_session_row *s, struct str *out)
{
	str_add(out, ". Agent is processing: *");
	blocks_add_escaped(out, s->prompt, BLOCKS_PATH);
	str_add_char(out, '*');
}

static void add_head_buttons(const struct slack_session_row *s, cJSON *blocks)
{
	cJSON *buttons = blocks_add_actions(blocks, "session_", s->id);

	if (s->status == SESSION_STATUS_INTERRUPTED || s->status == SESSION_STATUS_PAUSED)
		add_session_button(buttons, "resume", "▶️ Resume", s->id, "primary");
	add_session_button(buttons, "clear", "🛑 Stop", s->id, "danger");
}

void slack_notice_session(const struct slack_session_row *s, struct slack_said *out)
{
	bool ours = s->origin == SESSION_ORIGIN_STARTED;
	bool prompted = s->prompt && *s->prompt;
	OWNED(str) struct str line = { 0 };

	add_begun(s, &out->text);
	out->blocks = blocks_of_section(str_text(&out->text));
	str_addf(&out->text, " in ");
	blocks_add_escaped(&out->text, path_name(s->workspace_root), BLOCKS_NAME);
	if (ours && prompted)
		add_processing(s, &out->text);
	if (prompted)
		blocks_add_text(out->blocks, NULL, s->prompt, strlen(s->prompt),
		                SLACK_DESCRIPTION_UNITS);
	if (s->origin == SESSION_ORIGIN_FOLDER)
		str_add(&line, "what is asked about a folder");
	else
		str_addf(&line, "%s · %s", status_words(s->status),
		         s->protocol_mode == SESSION_PROTOCOL_MODE_ACP ? "ACP" : "MCP");
	blocks_add_user(&line, s->agent_user);
	if (s->client_name || s->label) {
		str_add(&line, " · ");
		blocks_add_agent(&line, s->client_name, s->label);
	}
	str_addf(&line, " · %s mode · ", session_mode_name(s->mode));
	blocks_add_escaped(&line, s->workspace_root, BLOCKS_PATH);
	str_add(&line, " · ");
	blocks_add_time(&line, s->created_at);
	blocks_add_context(out->blocks, str_text(&line));
	if (ours && s->status != SESSION_STATUS_TERMINATED)
		add_head_buttons(s, out->blocks);
}

/* The last output of an agent. */
static void add_stderr(cJSON *blocks, const struct slack_run_row *run)
{
	if (run->stderr_tail && *run->stderr_tail)
		blocks_add_foreign(blocks_add_rich(blocks, "rich_text_preformatted"),
		                   run->stderr_tail, strlen(run->stderr_tail), STDERR_MAX, NULL);
}

static void add_why(struct str *out, const struct slack_run_row *run)
{
	if (!run->why)
		return;
	str_add(out, ": ");
	blocks_add_escaped(out, run->why, BLOCKS_REASON);
}

static void add_exit(struct str *out, const struct slack_run_row *run)
{
	if (run->exit_signal)
		str_addf(out, "signal: %lld", (long long)run->exit_signal);
	else
		str_addf(out, "exit code: %lld", (long long)run->exit_code);
}

/* How a session ended whose agent we had started. */
static void add_end(struct str *out, const struct slack_session_row *s,
                    const struct slack_run_row *run)
{
	bool done =
	    run->outcome == AGENT_RUN_OUTCOME_EXITED && !run->exit_signal && !run->exit_code;

	str_add(out, done ? "🏁 *Session ended* " : "⚠️ Session ");
	blocks_add_short_id(out, s->id);
	if (run->outcome == AGENT_RUN_OUTCOME_FAILED) {
		str_add(out, " could not be started");
		add_why(out, run);
		return;
	}
	str_add(out, done ? " (" : " terminated unexpectedly (");
	add_exit(out, run);
	str_add(out, ").");
}

void slack_notice_ended(const struct slack_session_row *s, const struct slack_run_row *run,
                        struct slack_said *out)
{
	int64_t from = clock_parse(s->created_at), to = s->ended_at ? clock_parse(s->ended_at) : -1;
	bool by_itself = run && (run->outcome == AGENT_RUN_OUTCOME_EXITED ||
	                         run->outcome == AGENT_RUN_OUTCOME_FAILED);

	if (by_itself) {
		add_end(&out->text, s, run);
	} else {
		str_add(&out->text, "🏁 *Session ended* ");
		blocks_add_short_id(&out->text, s->id);
		str_addf(&out->text, " · %s", session_status_name(s->status));
	}
	if (from >= 0 && to >= from) {
		str_add(&out->text, " · ");
		blocks_add_span(&out->text, (to - from) / 1000);
	}
	out->blocks = blocks_of_section(str_text(&out->text));
	if (!run)
		return;
	if (by_itself)
		add_stderr(out->blocks, run);
	add_session_button(blocks_add_actions(out->blocks, "session_", s->id), "restart",
	                   "🔄 Restart", s->id, NULL);
}

void slack_notice_run(const struct slack_session_row *s, const struct slack_run_row *run,
                      struct slack_said *out)
{
	bool failed = run->outcome == AGENT_RUN_OUTCOME_FAILED;
	bool in_order = run->has_exit_code || run->has_exit_signal; /* its runner saw its end */
	cJSON *buttons;

	str_addf(&out->text, "%s Session ", failed || !in_order ? "⚠️" : "⏸️");
	blocks_add_short_id(&out->text, s->id);
	str_add(&out->text, failed     ? " could not be resumed"
	                    : in_order ? " is interrupted"
	                               : " lost its agent");
	add_why(&out->text, run);
	out->blocks = blocks_of_section(str_text(&out->text));
	add_stderr(out->blocks, run);
	buttons = blocks_add_actions(out->blocks, "session_", s->id);
	add_session_button(buttons, "resume", "▶️ Resume", s->id, "primary");
	add_session_button(buttons, "clear", "🛑 Stop", s->id, "danger");
}

/* Where requests are shown in a mode. */
static const char *asked_in(enum session_mode mode)
{
	switch (mode) {
	case SESSION_MODE_LOCAL:
		return "Questions are asked on its machine, not here.";
	case SESSION_MODE_HYBRID:
		return "Questions are asked here and on its machine.";
	case SESSION_MODE_REMOTE:
	case SESSION_MODE_NONE:
		break;
	}
	return "Questions are asked here.";
}

/* The button that reverts an agent's switch, while it is in force. */
static void add_switch_back(cJSON *blocks, const struct slack_mode *m)
{
	OWNED(str) struct str action = { 0 }, label = { 0 };

	if (strcmp(m->by, "agent") != 0 || m->to != m->present)
		return;
	str_addf(&action, "mode_%s", session_mode_name(m->from));
	str_addf(&label, "Switch back to %s", session_mode_name(m->from));
	blocks_add_button(blocks_add_actions(blocks, "mode_", m->session_id), action.bytes,
	                  label.bytes, m->session_id, "primary");
}

void slack_notice_mode(const struct slack_mode *m, struct slack_said *out)
{
	bool by_agent = strcmp(m->by, "agent") == 0;

	str_add(&out->text,
	        by_agent ? "⚠️ *The agent switched its mode*: " : "ℹ️ *Mode changed*: ");
	str_addf(&out->text, "%s → %s\n%s", session_mode_name(m->from), session_mode_name(m->to),
	         asked_in(m->to));
	out->blocks = blocks_of_section(str_text(&out->text));
	add_switch_back(out->blocks, m);
}

/* ---- allowed by a policy ---- */

/* One line each: "3 × cargo test --all (command:cargo test *)"; returns how many they stand for. */
static int64_t add_allowed(struct str *out, const struct slack_auto *a)
{
	const cJSON *one;
	int64_t named = 0;

	cJSON_ArrayForEach (one, a->shown) {
		const cJSON *times = json_get(one, "times");
		int64_t n = cJSON_IsNumber(times) ? (int64_t)times->valuedouble : 1;

		if (out->length)
			str_add_char(out, '\n');
		if (n > 1)
			str_addf(out, "%lld × ", (long long)n);
		str_addf(out, "%s (%s)", json_text_or(one, "subject", "?"),
		         json_text_or(one, "rule", "?"));
		named += n;
	}
	return named;
}

void slack_notice_auto(const struct slack_auto *a, struct slack_said *out)
{
	OWNED(str) struct str lines = { 0 }, more = { 0 };
	int64_t left = a->count - add_allowed(&lines, a);

	str_addf(&out->text, "🤖 *Auto-approved*: %lld", (long long)a->count);
	out->blocks = blocks_of_section(str_text(&out->text));
	str_add(&out->text, "\n");
	(void)slack_add(&out->text, str_text(&lines), lines.length, BLOCKS_PLAIN, SLACK_MRKDWN);
	blocks_add_text(out->blocks, NULL, str_text(&lines), lines.length, SLACK_PROMPT_UNITS);
	if (left <= 0)
		return;
	str_addf(&more, "and %lld more", (long long)left);
	blocks_add_context(out->blocks, str_text(&more));
}

/* ---- writes ---- */

static void add_files(struct str *out, const struct slack_write *w)
{
	int count = cJSON_GetArraySize(w->files);

	if (count == 0)
		blocks_add_escaped(out, w->apply->file_path, BLOCKS_PATH);
	for (int i = 0; i < count && i < SLACK_PATHS_MAX; i++) {
		const cJSON *f = cJSON_GetArrayItem(w->files, i);
		const cJSON *old = json_get(f, "overwrote");

		str_add(out, i ? ", " : "");
		blocks_add_escaped(out, json_text(f, "path"), BLOCKS_PATH / 2);
		if (json_says(f, "action", "delete"))
			str_add(out, " (deleted)");
		else
			str_addf(out, " (%lld bytes written)", (long long)json_integer(f, "bytes"));
		if (old)
			str_addf(out, ", %s %lld bytes that nobody had seen",
			         w->apply->replaces_file ? "over" : "merged into",
			         (long long)cJSON_GetNumberValue(old));
	}
	if (count > SLACK_PATHS_MAX)
		str_addf(out, " and %d more", count - SLACK_PATHS_MAX);
}

/* Hashes are for programs: people only see their first digits. */
static void add_reason(struct str *out, const char *why)
{
	OWNED(str) struct str shown = { 0 };

	for (const char *at = why ? why : "no reason is known"; *at;) {
		size_t digits = strspn(at, "0123456789abcdef");

		if (digits == HASH) {
			str_addf(&shown, "%.*s…", HASH_SHOWN, at);
			at += digits;
		} else if (digits) {
			str_add_bytes(&shown, at, digits);
			at += digits;
		} else {
			str_add_char(&shown, *at++);
		}
	}
	blocks_add_escaped(out, str_text(&shown), BLOCKS_REASON);
}

/* An undo: what was written for an approval is taken back, or not. */
static void add_undo(struct str *out, const struct slack_apply_row *w)
{
	bool undone = w->state == APPLY_STATE_UNDONE;

	str_add(out, undone ? "↩️ Undone" : "⚠️ Not undone");
	if (w->ordered_by) {
		str_add(out, undone ? " by " : ", as ordered by ");
		blocks_add_person(out, w->ordered_by);
	}
	str_add(out, undone ? ": what was there before is back: " : ": ");
	blocks_add_escaped(out, w->file_path, BLOCKS_PATH);
	if (undone)
		return;
	str_add(out, ": ");
	add_reason(out, w->why ? w->why : w->error_code);
}

/* The contents that force overwrote are kept, whatever their size. */
static void add_way_back(struct str *out, const struct slack_apply_row *w)
{
	str_add(out, "\nWhat was there is kept: `agent-intercom-ctl undo ");
	blocks_add_escaped(out, w->id, BLOCKS_NAME);
	str_add(out, "` brings it back.");
}

static void add_written(struct str *out, const struct slack_write *said)
{
	const struct slack_apply_row *w = said->apply;

	if (w->state != APPLY_STATE_APPLIED) {
		bool conflict = w->error_code && strcmp(w->error_code, "patch_conflict") == 0;

		str_addf(out, "%s Not written: ", conflict ? "⚠️" : "❌");
		blocks_add_escaped(out, w->file_path, BLOCKS_PATH);
		str_add(out, ": ");
		add_reason(out, w->why ? w->why : w->error_code);
		return;
	}
	str_add(out, w->forced ? "⚠️ Changes applied by force to a file that had changed: "
	                       : "✅ Changes applied to ");
	add_files(out, said);
	if (w->forced && !w->undone)
		add_way_back(out, w);
}

/* A critical change was to have one. */
static void add_unkept(const char *why, struct slack_said *out)
{
	OWNED(str) struct str text = { 0 };

	str_add(&text, "⚠️ Without a checkpoint before it: ");
	add_reason(&text, why);
	str_addf(&out->text, "\n%s", text.bytes);
	blocks_add_context(out->blocks, text.bytes);
}

void slack_notice_write(const struct slack_write *said, struct slack_said *out)
{
	const struct slack_apply_row *w = said->apply;
	bool is_undo = w->kind == APPLY_KIND_UNDO;
	bool applied = w->state == APPLY_STATE_APPLIED && !is_undo;
	OWNED(str) struct str text = { 0 };

	if (is_undo)
		add_undo(&text, w);
	else
		add_written(&text, said);
	/* Escaped already, but perhaps too long. */
	if (slack_units(str_text(&text)) > BLOCKS_SECTION) {
		str_reset(&text);
		str_addf(&text, "✅ Changes applied to %d files%s", cJSON_GetArraySize(said->files),
		         w->forced ? ", by force" : "");
	}
	if (applied && w->undone)
		str_add(&text, " (undone since)");
	str_add(&out->text, str_text(&text));
	blocks_sign(&out->text, w->agent_user, w->workspace_root, w->client_name, w->label);
	out->blocks = blocks_of_section(str_text(&text));
	if (applied && w->unkept)
		add_unkept(w->unkept, out);
	if (applied && !w->undone && w->id)
		blocks_add_button(blocks_add_actions(out->blocks, "write_", w->id), "write_undo",
		                  "Undo", w->id, NULL);
}

/* ---- texts ---- */

/* Adds our own words: names of people become mentions, and instants are in the reader's time, which
 * makes them longer. False: they were cut, or have become too long. */
static bool add_named(struct str *out, const char *text, size_t length, size_t units)
{
	bool whole = slack_add(out, text, length, units, SLACK_MRKDWN);

	slack_name_people(out);
	slack_show_times(out);
	return whole && slack_units(str_text(out)) <= units;
}

/* How many bytes of text fill a section: whole characters, and whole lines if there are any. */
static size_t slice(const char *text, size_t left)
{
	size_t take = left < BLOCKS_SECTION ? left : BLOCKS_SECTION;

	for (;;) {
		OWNED(str) struct str shown = { 0 };
		const char *line = take < left ? memrchr(text, '\n', take) : NULL;

		if (line && line > text + take / 2)
			take = (size_t)(line - text) + 1;
		while (take > 1 && take < left && ((unsigned char)text[take] & 0xC0) == 0x80)
			take--;
		if (take <= SLICE_MIN || add_named(&shown, text, take, BLOCKS_SECTION - SIGN_MAX))
			return take;
		take /= 2;
	}
}

/* Long texts in several sections, up to the limit of a message. */
static void add_sections(cJSON *blocks, const char *text)
{
	size_t left = strlen(text), used = 0;

	while (left > 0) {
		OWNED(str) struct str part = { 0 };
		size_t take = slice(text, left);

		(void)add_named(&part, text, take, BLOCKS_SECTION);
		used += slack_units(str_text(&part));
		text += take;
		left -= take;
		if (left > 0 && used + BLOCKS_SECTION > MESSAGE_MAX) {
			str_addf(&part, "… (%zu bytes more)", left);
			left = 0;
		}
		if (part.length)
			blocks_add_section(blocks, str_text(&part));
	}
}

/* What an agent says, whatever it looks like. */
static void quote(const char *sign, const char *text, struct slack_said *out)
{
	const char *words = *text ? text : "(no text)";

	str_addf(&out->text, "💬 %s", sign);
	blocks_add_escaped(&out->text, words, FALLBACK_MAX);
	out->blocks = cJSON_CreateArray();
	for (size_t left = strlen(words), used = 0, take; left > 0; words += take, left -= take) {
		OWNED(str) struct str part = { 0 };

		take = slice(words, left);
		str_add(&part, used ? "" : sign);
		(void)slack_add(&part, words, take, BLOCKS_SECTION, SLACK_RAW);
		used += slack_units(str_text(&part));
		if (left > take && used + BLOCKS_SECTION > MESSAGE_MAX) {
			str_addf(&part, "… (%zu bytes more)", left - take);
			take = left;
		}
		blocks_add_quote(out->blocks, str_text(&part));
	}
}

void slack_notice_broadcast(const char *level, const char *message, struct slack_said *out)
{
	static const char *const SIGNS[][2] = { { "info", "ℹ️ " },
		                                { "success", "✅ " },
		                                { "warning", "⚠️ " },
		                                { "error", "❌ " } };
	const char *sign = SIGNS[0][1];

	for (size_t i = 0; i < COUNT(SIGNS); i++)
		if (level && strcmp(level, SIGNS[i][0]) == 0)
			sign = SIGNS[i][1];
	quote(sign, message ? message : "", out);
}

void slack_notice_origin(const struct slack_said_elsewhere_row *whose, struct slack_said *out)
{
	str_add(&out->text, "Said by another session, ");
	blocks_add_short_id(&out->text, whose->session_id);
	blocks_add_whose(&out->text, whose->agent_user, whose->workspace_root, whose->client_name,
	                 whose->label);
	str_add(&out->text, ", not by this thread's:");
	blocks_add_section(out->blocks, str_text(&out->text));
}

void slack_notice_text(const char *text, struct slack_said *out)
{
	const char *words = text && *text ? text : "(no text)";
	size_t length = strlen(words), first = slice(words, length);

	(void)add_named(&out->text, words, first, BLOCKS_SECTION);
	str_add(&out->text, first < length ? "…" : "");
	out->blocks = cJSON_CreateArray();
	add_sections(out->blocks, words);
	if (cJSON_GetArraySize(out->blocks) == 0)
		blocks_add_section(out->blocks, "(no text)");
}

void slack_notice_agent(const char *text, struct slack_said *out)
{
	quote("", text ? text : "", out);
}

void slack_notice_note(const struct agent_line_text_row *note, struct slack_said *out)
{
	slack_notice_text(note->text, out);
	blocks_sign(&out->text, note->agent_user, note->workspace_root, note->client_name,
	            note->label);
}

void slack_notice_paused(const char *session_id, struct slack_said *out)
{
	cJSON *buttons = blocks_add_actions(out->blocks, "session_", session_id);

	blocks_add_button(buttons, "session_resume", "Resume", session_id, "primary");
	blocks_add_button(buttons, "session_clear", "Stop", session_id, "danger");
}

void slack_notice_asked(const char *text, const char *answer, const char *id,
                        struct slack_said *out)
{
	OWNED(str) struct str whole = { 0 };
	cJSON *buttons;

	str_add(&whole, text);
	str_addf(&whole, "\n%s",
	         answer ? answer
	                : "Nothing is approved yet: press a button, or answer `yes` or `no`");
	slack_notice_text(str_text(&whole), out);
	if (answer)
		return;
	buttons = blocks_add_actions(out->blocks, "tell_", id);
	blocks_add_button(buttons, "tell_approve", "Approve and tell", id, "primary");
	blocks_add_button(buttons, "tell_reject", "Reject with this", id, "danger");
}

/* ---- silent agents ---- */

/* What is still undecided: the newest message has the buttons, until a person has pressed one. */
static bool takes_clicks(const struct slack_stall *s)
{
	switch (s->row->status) {
	case STALL_STATUS_PENDING:
		return !s->is_call;
	case STALL_STATUS_NUDGED:
		return !s->is_call && s->row->nudged_by &&
		       strcmp(s->row->nudged_by, "system:clock") == 0;
	case STALL_STATUS_ESCALATED:
		return s->is_call;
	case STALL_STATUS_SELF_RECOVERED:
	case STALL_STATUS_DISMISSED:
	case STALL_STATUS_NONE:
		break;
	}
	return false;
}

static void add_times(struct str *out, int64_t count)
{
	str_addf(out, "%lld time%s", (long long)count, count == 1 ? "" : "s");
}

static void add_stall_heading(struct str *out, const struct slack_stall *s)
{
	if (s->row->status == STALL_STATUS_SELF_RECOVERED)
		str_add(out, "✅ *Agent is back*: session ");
	else if (s->row->status == STALL_STATUS_DISMISSED)
		str_add(out, "⏹️ *Agent was silent*: session ");
	else if (s->is_call)
		str_add(out, "🚨 *Agent does not respond*: session ");
	else if (!s->row->is_there)
		str_add(out, "💤 *Agent silent, or ended*: session ");
	else
		str_add(out, "⚠️ *Agent stalled*: session ");
	blocks_add_short_id(out, s->row->session_id);
	str_add(out, s->row->ended_at ? ", was idle for " : ", idle for ");
	blocks_add_span(out, s->row->idle_seconds);
	str_add(out, s->row->ended_at || s->is_call ? " when it was noticed" : "");
	if (s->row->last_tool) {
		str_add(out, ", last tool ");
		blocks_add_escaped(out, s->row->last_tool, BLOCKS_NAME);
	}
	if (s->row->nudge_count) {
		str_add(out, ", nudged ");
		add_times(out, s->row->nudge_count);
	}
}

void slack_notice_add_progress(cJSON *blocks, const cJSON *progress, bool quoted)
{
	static const char *const SIGNS[][2] = { { "done", "✅" }, { "in_progress", "🔄" } };
	OWNED(str) struct str text = { 0 };
	const cJSON *item;

	cJSON_ArrayForEach (item, progress) {
		const char *sign = "⬜";

		for (size_t i = 0; i < COUNT(SIGNS); i++)
			if (json_says(item, "status", SIGNS[i][0]))
				sign = SIGNS[i][1];
		if (slack_units(str_text(&text)) + STEP_MAX + SIGN_MAX > BLOCKS_SECTION)
			break;
		str_addf(&text, "%s%s ", text.length ? "\n" : "", sign);
		(quoted ? blocks_add_literal
		        : blocks_add_escaped)(&text, json_text_or(item, "label", "?"), STEP_MAX);
	}
	if (text.length)
		(quoted ? blocks_add_quote : blocks_add_section)(blocks, str_text(&text));
}

/* Where it works, what its task is, and how far it got. */
static void add_work(cJSON *blocks, const struct slack_stall *s)
{
	OWNED(str) struct str where = { 0 }, task = { 0 };

	bool is_named = s->row->client_name || s->row->label;

	if (is_named || s->row->workspace_root) {
		if (s->row->agent_user) {
			str_add(&where, "user ");
			blocks_add_escaped(&where, s->row->agent_user, BLOCKS_NAME);
			str_add(&where, " · ");
		}
		blocks_add_agent(&where, s->row->client_name, s->row->label);
		str_add(&where, is_named && s->row->workspace_root ? " · " : "");
		blocks_add_escaped(&where, s->row->workspace_root, BLOCKS_PATH);
		blocks_add_context(blocks, str_text(&where));
	}
	if (s->row->prompt && *s->row->prompt) {
		str_add(&task, "*Task*: ");
		blocks_add_escaped(&task, s->row->prompt, BLOCKS_REASON);
		blocks_add_section(blocks, str_text(&task));
	}
	slack_notice_add_progress(blocks, s->progress, false);
}

static void add_cause(cJSON *blocks, const struct slack_stall *s)
{
	OWNED(str) struct str text = { 0 };

	if (!s->row->cause)
		return;
	str_add(&text, "*Why*: ");
	blocks_add_escaped(&text, s->row->cause, BLOCKS_REASON);
	blocks_add_section(blocks, str_text(&text));
}

/* What a nudge can achieve, in plain words. */
static void add_prospect(cJSON *blocks, const struct slack_stall *s)
{
	OWNED(str) struct str text = { 0 };

	if (s->row->status == STALL_STATUS_NUDGED && !takes_clicks(s)) {
		str_add(&text, "👊 Nudged by ");
		blocks_add_person(&text, s->row->nudged_by);
		str_add(&text, ". ");
	}
	if (s->row->status == STALL_STATUS_ESCALATED && !s->is_call)
		str_add(&text, "Nudges did not help; see the call below. ");
	if (s->row->protocol_mode == SESSION_PROTOCOL_MODE_ACP)
		str_add(&text,
		        "A nudge cancels its turn, with the tool that it may be running, and is a "
		        "new prompt for it. As long as a tool runs, it is not nudged by itself.");
	else if (!s->row->is_there)
		str_add(
		    &text,
		    "Over HTTP nobody can tell an agent that is silent from one that has "
		    "simply ended. So this is said once, and nobody is called. A nudge would be "
		    "read with the result of its next call, if there is one.");
	else
		str_add(&text,
		        "An agent on MCP cannot be woken from outside: it reads a nudge with the "
		        "result of its next call. It may also wait for a dialog on its own "
		        "screen, or be busy with something that we do not see.");
	blocks_add_context(blocks, str_text(&text));
}

void slack_notice_stall(const struct slack_stall *s, const char *const *mentions,
                        struct slack_said *out)
{
	OWNED(str) struct str heading = { 0 };
	cJSON *buttons;

	str_add(&out->text, s->row->ended_at ? "Your agent was silent for "
	                    : s->is_call     ? "🚨 Your agent does not respond, silent for "
	                    : s->row->is_there
	                        ? "⚠️ Your agent is silent for "
	                        : "💤 Your agent is silent, or has ended: nothing for ");
	blocks_add_span(&out->text, s->row->idle_seconds);
	blocks_add_whose(&out->text, s->row->agent_user, s->row->workspace_root,
	                 s->row->client_name, s->row->label);
	if (takes_clicks(s) && s->row->is_there)
		blocks_add_mentions(&heading, mentions, s->is_call);
	add_stall_heading(&heading, s);
	out->blocks = blocks_of_section(str_text(&heading));
	if (s->row->ended_at)
		return;
	add_cause(out->blocks, s);
	add_work(out->blocks, s);
	add_prospect(out->blocks, s);
	if (!takes_clicks(s))
		return;
	buttons = blocks_add_actions(out->blocks, "stall_", s->row->id);
	blocks_add_button(buttons, "stall_nudge", "Nudge", s->row->id, "primary");
	blocks_add_button(buttons, "stall_nudge_instruct", "Nudge with Instructions", s->row->id,
	                  NULL);
	blocks_add_button(buttons, "stall_stop", "Stop", s->row->id, "danger");
}

void slack_notice_nudged(const struct slack_stall *s, int64_t nudge, struct slack_said *out)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "👊 Nudge %lld by agent-intercom: session ", (long long)nudge);
	blocks_add_short_id(&text, s->row->session_id);
	str_add(&text, " was still silent. ");
	if (s->row->delivered_at)
		str_add(&text, "It has been told.");
	else if (s->row->protocol_mode == SESSION_PROTOCOL_MODE_ACP)
		str_add(&text, "Its turn is cancelled, and the nudge is its next prompt.");
	else
		str_add(&text, "It is told with the result of its next call.");
	str_add(&out->text, str_text(&text));
	out->blocks = blocks_of_section(str_text(&text));
}
