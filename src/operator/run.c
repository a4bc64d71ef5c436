/* Commands of [commands], by their aliases: run, run-stop, runs. Nothing that is said reaches the
 * shell: an alias names a line of the configuration, and takes no arguments. */
#include "desk.h"

#include "clock.h"
#include "content.h"
#include "err.h"
#include "json.h"
#include "path.h"
#include "setting.h"
#include "sql/alias_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ALIAS_BYTES = 128,
	COMMAND_SHOWN = 120,
	REST_SHOWN = 80,
	LISTED = 20, /* runs, the newest */
	TEXT_MOST = 3800, /* characters, in words */
};

/* What was said. */
struct wish {
	char alias[ALIAS_BYTES], session[ID_BYTES];
};

/* ---- words ---- */

/* Copies the next word; 0: it is longer than the place. */
static size_t take_word(const char **line, char *out, size_t size)
{
	size_t n = strcspn(*line, " \t\r\n");

	if (n >= size)
		return 0;
	(void)snprintf(out, size, "%.*s", (int)n, *line);
	*line = verb_skip_blanks(*line + n);
	return n;
}

static int refuse_arguments(struct desk *d, const char *alias, const char *rest)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, rest, strlen(rest), REST_SHOWN);
	return desk_tell(d, SAID_REFUSED,
	                 "`%s` takes no arguments, and was not run: '%s'. It runs exactly as "
	                 "[commands] says",
	                 alias, str_text(&shown));
}

/* `run <alias> [session]`. 1, or 0 the person has been told. */
static int read_line(struct desk *d, const char *line, struct wish *w)
{
	if (!take_word(&line, w->alias, sizeof(w->alias)) && *line)
		return desk_tell(d, SAID_REFUSED, "command not found: %.40s", line);
	if (!*w->alias)
		return desk_tell(d, SAID_UNCLEAR,
		                 "run needs the alias of a command of [commands]: `run <alias>`");
	if (!*line)
		return 1;
	if (verb_id_length(line) && take_word(&line, w->session, sizeof(w->session)) && !*line)
		return 1;
	return refuse_arguments(d, w->alias, *line ? line : w->session);
}

/* ---- run ---- */

static int tell_several(struct desk *d, const struct wish *w, const struct found *f)
{
	if (d->who->place.channel)
		return desk_tell(
		    d, SAID_UNCLEAR,
		    "several sessions are live here; name the one to run it in, `run %s <id>`:%s",
		    w->alias, str_text(&f->list));
	return desk_tell(d, SAID_UNCLEAR,
	                 "several sessions are live here; name the one to run it in (--session "
	                 "ID), or a folder (--workspace DIR):%s",
	                 str_text(&f->list));
}

/* The session that it is for; none: session_id stays "". Of several in one folder any, but for the
 * thread in which Slack shows it: that of the one with an agent. 1, 0 the person has been told, -1.
 */
static int find_session(struct desk *d, const struct wish *w, struct found *f, struct err *e)
{
	bool in_slack = d->who->place.channel != NULL;
	int count;

	if (*w->session)
		return desk_find_session(d, w->session, w->alias, f, e);
	if (d->w->workspace)
		return 1;
	count = find_sessions(d->st, &d->who->place, SESSION_STATUS_NONE, NULL, f, e);
	if (count < 0)
		return -1;
	if (count > 1 && (f->elsewhere || (in_slack && f->connected > 1)))
		return tell_several(d, w, f);
	return count > 1 && in_slack && find_connected(d->st, &d->who->place, f, e) < 0 ? -1 : 1;
}

/* As desk_give. */
static int give(struct desk *d, const struct wish *w, const struct found *f, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();

	(void)cJSON_AddStringToObject(argument, "alias", w->alias);
	if (d->w->workspace)
		(void)cJSON_AddStringToObject(argument, "workspace", d->w->workspace);
	if (d->who->place.channel)
		(void)cJSON_AddStringToObject(argument, "channel", d->who->place.channel);
	return desk_give_json(d, "run", *f->session_id ? f->session_id : NULL, argument, e);
}

/* What the order has become. f: its session, if it has one. */
static int tell_ordered(struct desk *d, const struct found *f, struct err *e)
{
	OWNED(alias_run_row) struct alias_run_row run = { 0 };
	OWNED(str) struct str text = { 0 };
	int64_t seq = sql_alias_run_of_order(d->st, d->out->seq, e);
	int got = seq < 0 ? -1 : sql_alias_run_read(d->st, seq, &run, e);

	if (got <= 0)
		return got < 0 ? -1 : desk_tell(d, SAID_REFUSED, "the run is gone");
	(void)cJSON_AddNumberToObject(d->out->json, "run", (double)seq);
	(void)cJSON_AddNumberToObject(d->out->json, "ahead", (double)run.ahead);
	desk_add(d, "status", "ordered");
	str_addf(&text, "Run %" PRId64 ": `%s` ", seq, run.alias);
	if (run.ahead)
		str_addf(&text, "waits for %" PRId64 " other command%s here, ", run.ahead,
		         run.ahead == 1 ? "" : "s");
	str_add(&text, run.ahead ? "then runs in " : "runs in ");
	str_add_shown(&text, path_name(run.workspace_root), strlen(path_name(run.workspace_root)),
	              40);
	str_add(&text, ": ");
	str_add_shown(&text, run.command, strlen(run.command), COMMAND_SHOWN);
	if (d->who->place.channel && !d->who->place.session_id && f->name.length)
		str_addf(&text, "\nIts output comes in the thread of session %s.",
		         str_text(&f->name));
	return desk_tell(d, SAID_DONE, "%s", str_text(&text));
}

/* Whether [commands] has this alias: 1, 0, -1. */
static int is_alias(struct desk *d, const char *alias, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *map = NULL;

	if (setting_json(d->st, "commands", &map, e) < 0)
		return -1;
	return cJSON_GetObjectItemCaseSensitive(map, alias) != NULL;
}

/* The order is kept, although it can only be refused. */
static int give_unknown(struct desk *d, const struct wish *w, struct err *e)
{
	OWNED(str) struct str text = { 0 };

	if (desk_give(d, "run", NULL, w->alias, e) < 0 ||
	    operator_unknown(d->st, w->alias, false, &text, e))
		return -1;
	return desk_tell(d, SAID_REFUSED, "%s", str_text(&text));
}

int desk_run(struct desk *d, struct err *e)
{
	OWNED(found) struct found f = { 0 };
	struct wish w = { .alias = "" };
	const char *line = d->w->line ? verb_skip_blanks(d->w->line) : d->w->text;
	int got = read_line(d, line ? line : "", &w);

	if (got <= 0)
		return got;
	if (d->w->id)
		(void)snprintf(w.session, sizeof(w.session), "%s", d->w->id);
	got = is_alias(d, w.alias, e);
	if (got <= 0)
		return got < 0 ? -1 : give_unknown(d, &w, e);
	got = find_session(d, &w, &f, e);
	if (got <= 0)
		return got;
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f.session_id);
	got = give(d, &w, &f, e);
	return got <= 0 ? got : tell_ordered(d, &f, e);
}

/* ---- run-stop ---- */

static void add_name(struct str *out, const struct alias_run_row *run)
{
	str_addf(out, "%" PRId64 ": %s in ", run->seq, run->alias);
	str_add_shown(out, path_name(run->workspace_root), strlen(path_name(run->workspace_root)),
	              40);
}

/* The only run that is not over. 1 its number is in number, 0 the person has been told, -1. */
static int find_only(struct desk *d, char number[ID_BYTES], struct err *e)
{
	OWNED(alias_run_row) struct alias_run_row run = { 0 };
	OWNED(str) struct str list = { 0 };
	int got, count = 0;

	sql_alias_run_not_over(d->st, &run);
	while ((got = row_next(&run.row, e)) > 0) {
		if (count++ == 0)
			(void)snprintf(number, ID_BYTES, "%" PRId64, run.seq);
		if (count > FIND_NAMED)
			continue;
		str_add(&list, "\n  ");
		add_name(&list, &run);
	}
	if (got < 0)
		return -1;
	if (count == 0)
		return desk_tell(d, SAID_UNCLEAR,
		                 "no command runs; `runs` lists those that have ended");
	return count == 1
	           ? 1
	           : desk_tell(d, SAID_UNCLEAR,
	                       "several commands run or wait; name one, `run-stop <number>`:%s",
	                       str_text(&list));
}

int desk_run_stop(struct desk *d, struct err *e)
{
	const char *line = verb_skip_blanks(d->w->line ? d->w->line : d->w->id ? d->w->id : "");
	size_t digits = strspn(line, "0123456789");
	char number[ID_BYTES] = "";
	int got = 1;

	if (*verb_skip_blanks(line + digits) || digits >= sizeof(number))
		return desk_tell(
		    d, SAID_UNCLEAR,
		    "run-stop takes the number of a run, not '%.40s'; `runs` lists them", line);
	if (digits)
		(void)snprintf(number, sizeof(number), "%.*s", (int)digits, line);
	else
		got = find_only(d, number, e);
	if (got > 0)
		got = desk_give(d, "run-stop", NULL, number, e);
	if (got <= 0)
		return got;
	desk_add(d, "status", "ordered");
	return desk_tell(d, SAID_DONE, "Stopping run %s (%s).", number,
	                 json_text(d->out->json, "alias"));
}

/* ---- runs ---- */

/* "done after 3.2 s", "failed after 0.1 s: exit status 2", "running since 12:00:00" */
static void add_state(struct str *out, const struct alias_run_row *run)
{
	int64_t ms = run->ended_at && run->started_at
	                 ? clock_parse(run->ended_at) - clock_parse(run->started_at)
	                 : 0;

	if (run->outcome == ALIAS_RUN_OUTCOME_NONE) {
		str_addf(out, "%s since %.19sZ", alias_run_state_name(run->state),
		         run->started_at ? run->started_at : run->created_at);
		return;
	}
	str_addf(out, "%s after %" PRId64 ".%" PRId64 " s", alias_run_outcome_name(run->outcome),
	         ms / 1000, ms % 1000 / 100);
	if (run->has_exit_signal)
		str_addf(out, ", signal %" PRId64, run->exit_signal);
	else if (run->has_exit_code)
		str_addf(out, ", exit status %" PRId64, run->exit_code);
	if (run->why)
		str_addf(out, ": %s", run->why);
}

static void add_number(cJSON *o, const char *name, bool has, int64_t value)
{
	if (has)
		(void)cJSON_AddNumberToObject(o, name, (double)value);
	else
		(void)cJSON_AddNullToObject(o, name);
}

static void add_members(cJSON *o, const struct alias_run_row *run)
{
	add_number(o, "run", true, run->seq);
	json_put_text(o, "alias", run->alias);
	json_put_text(o, "command", run->command);
	json_put_text(o, "workspace_root", run->workspace_root);
	json_put_text(o, "session_id", run->session_id);
	json_put_text(o, "by", run->operator_id);
	json_put_text(o, "state",
	              run->outcome == ALIAS_RUN_OUTCOME_NONE
	                  ? alias_run_state_name(run->state)
	                  : alias_run_outcome_name(run->outcome));
	add_number(o, "exit_code", run->has_exit_code, run->exit_code);
	add_number(o, "exit_signal", run->has_exit_signal, run->exit_signal);
	json_put_text(o, "why", run->why);
	add_number(o, "output_bytes", true, run->bytes);
	add_number(o, "cut_bytes", true, run->cut_bytes);
	json_put_text(o, "created_at", run->created_at);
	json_put_text(o, "started_at", run->started_at);
	json_put_text(o, "ended_at", run->ended_at);
}

static int show_one(struct desk *d, int64_t seq, struct err *e)
{
	OWNED(alias_run_row) struct alias_run_row run = { 0 };
	OWNED(str) struct str output = { 0 };
	struct str *text = &d->out->text;
	int got = sql_alias_run_read(d->st, seq, &run, e);

	if (got <= 0)
		return got < 0 ? -1
		               : desk_tell(d, SAID_UNCLEAR,
		                           "there is no run %" PRId64 "; `runs` lists them", seq);
	if (run.content_seq && content_get(d->st, run.content_seq, &output, e))
		return -1;
	if (!run.content_seq && run.shown)
		str_add(&output, run.shown);
	add_members(d->out->json, &run);
	json_put_text(d->out->json, "output", str_text(&output));
	add_name(text, &run);
	str_add(text, ", ");
	add_state(text, &run);
	str_addf(text, "\n%s", str_text(&output));
	return 0;
}

static int list(struct desk *d, struct err *e)
{
	OWNED(alias_run_row) struct alias_run_row run = { 0 };
	cJSON *runs = cJSON_AddArrayToObject(d->out->json, "runs");
	struct str *text = &d->out->text;
	int64_t more = sql_alias_run_count(d->st, e);
	int got;

	if (more < 0)
		return -1;
	sql_alias_run_list(d->st, LISTED, &run);
	while ((got = row_next(&run.row, e)) > 0) {
		cJSON *one = cJSON_CreateObject();

		add_members(one, &run);
		(void)cJSON_AddItemToArray(runs, one);
		if (text->length > TEXT_MOST)
			continue;
		add_name(text, &run);
		str_add(text, ", ");
		add_state(text, &run);
		str_add_char(text, '\n');
		more--;
	}
	if (more > 0)
		str_addf(text, "... and %" PRId64 " more: `runs <number>` shows one", more);
	if (!cJSON_GetArraySize(runs))
		str_add(text, "no command was run");
	return got < 0 ? -1 : 0;
}

int desk_runs(struct desk *d, struct err *e)
{
	const char *line = verb_skip_blanks(d->w->line ? d->w->line : d->w->id ? d->w->id : "");
	char *end;
	int64_t seq = strtoll(line, &end, 10);

	if (*verb_skip_blanks(end) || (end != line && seq <= 0))
		return desk_tell(
		    d, SAID_UNCLEAR,
		    "runs takes the number of a run, not '%.40s'; `runs` alone lists them", line);
	return end != line ? show_one(d, seq, e) : list(d, e);
}
