#include "alias.h"

#include "clock.h"
#include "path.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALIAS_MAX = 80, COMMAND_MAX = 300 };

static bool is_over(const struct alias_run_row *run)
{
	return run->outcome != ALIAS_RUN_OUTCOME_NONE;
}

static const char *words_of(const struct alias_run_row *run)
{
	switch (run->outcome) {
	case ALIAS_RUN_OUTCOME_DONE:
		return "✅ *Done*";
	case ALIAS_RUN_OUTCOME_FAILED:
		return "❌ *Failed*";
	case ALIAS_RUN_OUTCOME_STOPPED:
		return "⏹️ *Stopped*";
	case ALIAS_RUN_OUTCOME_TIMEOUT:
		return "⏱️ *Timed out*";
	case ALIAS_RUN_OUTCOME_INTERRUPTED:
		return "⚠️ *Interrupted*";
	case ALIAS_RUN_OUTCOME_NONE:
		break;
	}
	if (run->stop_wanted_at)
		return "🛑 *Stopping*";
	return run->state == ALIAS_RUN_STATE_QUEUED ? "⏳ *Waiting*" : "▶️ *Running*";
}

/* "exit status 2", "signal 9 (KILL)" */
static void add_end(struct str *out, const struct alias_run_row *run)
{
	const char *name;

	if (run->has_exit_signal) {
		name = sigabbrev_np((int)run->exit_signal);
		str_addf(out, ", signal %" PRId64 "%s%s%s", run->exit_signal, name ? " (" : "",
		         name ? name : "", name ? ")" : "");
	} else if (run->has_exit_code) {
		str_addf(out, ", exit status %" PRId64, run->exit_code);
	}
	if (run->started_at && run->ended_at) {
		int64_t ms = clock_parse(run->ended_at) - clock_parse(run->started_at);

		str_addf(out, ", %" PRId64 ".%" PRId64 " s", ms / 1000, ms % 1000 / 100);
	}
}

/* "✅ *Done*: `test` in web, exit status 0, 3.2 s" */
static void add_title(struct str *out, const struct alias_run_row *run)
{
	str_addf(out, "%s: `", words_of(run));
	blocks_add_escaped(out, run->alias, ALIAS_MAX);
	str_add(out, "` in ");
	blocks_add_escaped(out, path_name(run->workspace_root), ALIAS_MAX);
	add_end(out, run);
	if (run->why) {
		str_add(out, ": ");
		blocks_add_escaped(out, run->why, BLOCKS_REASON);
	}
}

static void add_size(struct str *out, int64_t bytes)
{
	if (bytes < 1024)
		str_addf(out, "%" PRId64 " bytes", bytes);
	else if (bytes < 1024 * 1024)
		str_addf(out, "%" PRId64 " KB", bytes / 1024);
	else
		str_addf(out, "%" PRId64 " MB", bytes / (1024 * 1024));
}

static void add_context(struct str *out, const struct alias_run_row *run)
{
	str_addf(out, "Run %" PRId64 " by ", run->seq);
	blocks_add_person(out, run->operator_id);
	str_add(out, ": `");
	(void)slack_add(out, run->command, strlen(run->command), COMMAND_MAX, SLACK_MRKDWN);
	str_add_char(out, '`');
	if (!is_over(run) && run->ahead)
		str_addf(out, " | waits for %" PRId64 " other%s", run->ahead,
		         run->ahead == 1 ? "" : "s");
	if (run->bytes) {
		str_add(out, " | ");
		add_size(out, run->bytes);
		str_add(out, " of output");
	}
	if (run->outcome == ALIAS_RUN_OUTCOME_STOPPED) {
		str_add(out, " | stopped by ");
		blocks_add_person(out, run->stopped_by);
	}
	if (!run->cut_bytes)
		return;
	str_add(out, " | ⚠️ Output truncated at ");
	add_size(out, run->bytes - run->cut_bytes);
	str_add_char(out, '.');
}

static void add_output(cJSON *blocks, const struct alias_run_row *run)
{
	size_t length = run->shown ? strlen(run->shown) : 0;

	while (length && run->shown[length - 1] == '\n')
		length--;
	if (length)
		blocks_add_foreign(blocks_add_rich(blocks, "rich_text_preformatted"), run->shown,
		                   length, BLOCKS_SECTION, NULL);
	else if (is_over(run) && !run->bytes)
		blocks_add_context(blocks, "It wrote nothing.");
}

void slack_alias_say(const struct alias_run_row *run, struct slack_said *out)
{
	OWNED(str) struct str context = { 0 };
	char id[24];

	add_title(&out->text, run);
	out->blocks = blocks_of_section(str_text(&out->text));
	add_output(out->blocks, run);
	add_context(&context, run);
	blocks_add_context(out->blocks, str_text(&context));
	if (is_over(run) || run->stop_wanted_at)
		return;
	(void)snprintf(id, sizeof(id), "%" PRId64, run->seq);
	blocks_add_button(blocks_add_actions(out->blocks, "alias_", id), "alias_stop", "🛑 Stop",
	                  id, "danger");
}
