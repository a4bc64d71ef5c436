/* watch: shows one question after the other and takes the answers from stdin.
 *
 * Its bell wakes it (rung by every row of `decision` and of `agent_line`), and it looks again every
 * second, because a new question does not ring here. One question is on the screen at a time, and
 * an answer is bound to the digest of that one: if someone else answers it first, what was being
 * typed is discarded rather than applied to the next, and so is what arrives before anybody can
 * have read that. In a pipe, each line answers the question that is shown when its turn comes, and
 * lines are kept until there is one. */
#include "ctl.h"

#include "clock.h"
#include "doorbell.h"
#include "find.h"
#include "io.h"
#include "json.h"
#include "sql/agent_run.h"
#include "sql/stall.h"
#include "sql/steering.h"
#include "sql/transcript.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
	LOOK_MS = 1000,
	READ_MS = 1000, /* nobody has read a question sooner: what is typed is not meant for it */
	INPUT_BYTES_MAX = 256 * 1024
};

struct watch {
	struct ctl *c;
	struct doorbell bell;
	int run_fd;
	struct str input; /* typed but not used yet */
	bool eof, stop;
	bool typed; /* stdin is a terminal */
	bool unread; /* the question has been on that terminal for less than READ_MS */
	int64_t read_at; /* when it no longer is, on the monotonic clock */
	bool failed; /* an answer was not accepted */
	bool idle_told; /* the screen says "nothing waits" */
	struct request shown; /* seq 0: none */
	int64_t newest; /* the last seq shown or announced */
	int64_t silent; /* the last alert about a silent agent that was shown */
	int64_t line; /* the last of what agents said that was shown */
	int64_t event; /* the last one that was looked at for agents that we started */
	int64_t lost; /* the same for words that no agent was told */
	int64_t *later; /* postponed to the end */
	size_t later_count;
};

/* Single letters in addition to the words of operator/verb.h: each stands for the first of these
 * verbs that answers the question on the screen. The text may follow `r` directly. */
static const struct key {
	char letter;
	bool takes_text;
	const char *words[3];
} KEYS[] = {
	{ 'y', false, { "approve" } },
	{ 'n', false, { "reject" } },
	{ 'c', false, { "continue" } },
	{ 's', false, { "stop" } },
	{ 'r', true, { "reject", "refine", "resume" } },
};

static const char *hint_for(enum request_kind kind)
{
	switch (kind) {
	case REQUEST_KIND_CLEARANCE:
	case REQUEST_KIND_PERMISSION:
	case REQUEST_KIND_TRUST:
	case REQUEST_KIND_RESTORE:
		return "y approve, n reject, r REASON reject with a reason, l later, q quit";
	case REQUEST_KIND_PROMPT:
		return "c continue, r TEXT continue with new instructions, s stop, l later, q quit";
	case REQUEST_KIND_STANDBY:
	case REQUEST_KIND_NONE:
		break;
	}
	return "r [TEXT] resume, with what to do next, s stop, l later, q quit";
}

/* ---- what is typed too soon ---- */

static void give_time(struct watch *w)
{
	w->unread = w->typed;
	w->read_at = clock_monotonic_ms() + READ_MS;
}

static void forget_typed(struct watch *w)
{
	if (!w->typed)
		return;
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	str_reset(&w->input);
}

/* Whether a line has been begun. A terminal does not tell of one before its end, unless it is asked
 * for single characters. */
static bool is_typing(void)
{
	struct termios lines, characters;
	int bytes = 0;

	if (tcgetattr(STDIN_FILENO, &lines))
		return false;
	characters = lines;
	characters.c_lflag &= ~(tcflag_t)ICANON;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &characters);
	(void)ioctl(STDIN_FILENO, FIONREAD, &bytes);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &lines);
	return bytes > 0;
}

/* ---- showing ---- */

/* Where a question is shown. */
static void ask(const struct watch *w)
{
	const struct ctl *c = w->c;

	if (c->json || !w->shown.row.seq)
		return;
	print_look(c, LOOK_BOLD);
	(void)printf("%s, then Enter", hint_for(w->shown.row.kind));
	print_look(c, LOOK_PLAIN);
	(void)fputs(w->typed ? " > " : "\n", stdout);
}

/* Prints an object with one member on a line of its own. */
static void event(const char *name, cJSON *value)
{
	cJSON *o = cJSON_CreateObject();

	(void)cJSON_AddItemToObject(o, name, value);
	json_print_line(o);
}

static int show(struct watch *w, int64_t seq, int64_t waiting, struct err *e)
{
	OWNED(request_calls_row) struct request_calls_row calls = { 0 };
	int got;

	if (sql_request_calls(&w->c->store, seq, &calls, e) < 0)
		return -1;
	request_clear(&w->shown);
	got = request_read(&w->c->store, seq, &w->shown, e);
	if (got <= 0)
		return got;
	w->idle_told = false;
	forget_typed(w);
	if (w->c->json) {
		event("question", request_json(&w->shown, &calls));
	} else {
		(void)putchar('\n');
		show_request(w->c, &w->shown, calls.listeners);
		if (waiting > 1)
			(void)printf("\n(%lld more after this one)", (long long)waiting - 1);
		(void)putchar('\n');
		ask(w);
	}
	(void)fflush(stdout);
	give_time(w);
	return 0;
}

static bool put_off(const struct watch *w, int64_t seq)
{
	for (size_t i = 0; i < w->later_count; i++)
		if (w->later[i] == seq)
			return true;
	return false;
}

static void announce(const struct watch *w, const char *title)
{
	if (w->c->json)
		return;
	print_between("\nalso waits: ", title, "\n");
	ask(w);
}

struct queue {
	int64_t first, waiting; /* the first to answer, and how many wait */
	bool shown_is_open;
};

static int look_at_queue(struct watch *w, struct queue *q, struct err *e)
{
	OWNED(inbox_list_row) struct inbox_list_row row = { 0 };
	int got;

	sql_inbox_list(&w->c->store, 0, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		if (w->shown.row.seq == row.seq)
			q->shown_is_open = true;
		else if (w->shown.row.seq && row.seq > w->newest && w->newest)
			announce(w, row.title);
		if (row.seq > w->newest)
			w->newest = row.seq;
		if (put_off(w, row.seq))
			continue;
		q->first = q->first ? q->first : row.seq;
		q->waiting++;
	}
	return got;
}

static int tell_silent(const struct watch *w, const struct stall_since_row *row, struct err *e)
{
	OWNED(str) struct str id = { 0 }, whose = { 0 };
	struct age idle = age_of(row->last_activity_at);
	cJSON *o;

	if (add_short_id(w->c, row->session_id, &id, e))
		return -1;
	if (w->c->json) {
		o = cJSON_CreateObject();
		json_add_text(o, "session_id", row->session_id);
		json_add_given(o, "label", row->label);
		json_add_given(o, "user", row->agent_user);
		json_add_text(o, "last_tool", row->last_tool);
		json_add_text(o, "last_activity_at", row->last_activity_at);
		event("silent", o);
		return 0;
	}
	(void)fputs("\nsilent: ", stdout);
	find_add_whose(&whose, row->agent_user, row->client_name, row->label, row->workspace_root);
	print_visible(str_text(&whose));
	(void)printf(" for %s, since it called ", idle.text);
	print_visible(row->last_tool ? row->last_tool : "nothing");
	(void)printf("; agent-intercom-ctl nudge %s [TEXT], or session stop %s\n", str_text(&id),
	             str_text(&id));
	ask(w);
	return 0;
}

/* Reports agents that have gone silent, once: there is nothing to answer. */
static int look_at_silence(struct watch *w, struct err *e)
{
	OWNED(stall_since_row) struct stall_since_row row = { 0 };
	int got;

	sql_stall_since(&w->c->store, w->silent, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		w->silent = row.seq;
		if (tell_silent(w, &row, e))
			return -1;
	}
	return got;
}

/* ---- agents that we started ---- */

static cJSON *run_json(const struct agent_run_since_row *r)
{
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "session_id", r->session_id);
	json_add_text(o, "agent", r->agent);
	json_add_text(o, "status", r->is_running ? "running" : agent_run_outcome_name(r->outcome));
	json_add_text(o, "prompt", r->prompt);
	if (r->is_running)
		return o;
	if (r->has_exit_code)
		(void)cJSON_AddNumberToObject(o, "exit_code", (double)r->exit_code);
	if (r->has_exit_signal)
		(void)cJSON_AddNumberToObject(o, "exit_signal", (double)r->exit_signal);
	json_add_text(o, "why", r->why);
	json_add_text(o, "stderr", r->stderr_tail);
	return o;
}

/* How its process ended, and what can be done about it. */
static void print_end(const struct watch *w, const struct agent_run_since_row *r, const char *id)
{
	const char *help = "restart";

	switch (r->outcome) {
	case AGENT_RUN_OUTCOME_EXITED:
		if (r->has_exit_signal)
			(void)printf(" ended by signal %lld", (long long)r->exit_signal);
		else
			(void)printf(" ended with exit code %lld", (long long)r->exit_code);
		break;
	case AGENT_RUN_OUTCOME_FAILED:
		(void)fputs(" could not be started", stdout);
		break;
	case AGENT_RUN_OUTCOME_INTERRUPTED:
		(void)fputs(" was lost", stdout);
		help = "resume";
		break;
	case AGENT_RUN_OUTCOME_PARKED:
		(void)fputs(" is parked until its question is answered\n", stdout);
		return;
	case AGENT_RUN_OUTCOME_STOPPED:
	case AGENT_RUN_OUTCOME_NONE:
		(void)fputs(" was stopped\n", stdout);
		return;
	}
	print_between(": ", r->why, "");
	(void)printf("; agent-intercom-ctl session %s %s\n", help, id);
	if (r->stderr_tail && *r->stderr_tail)
		print_block(w->c, r->stderr_tail, strlen(r->stderr_tail), false);
}

static int tell_run(const struct watch *w, const struct agent_run_since_row *r, struct err *e)
{
	OWNED(str) struct str id = { 0 };

	if (w->c->json) {
		event("agent", run_json(r));
		return 0;
	}
	if (add_short_id(w->c, r->session_id, &id, e))
		return -1;
	(void)printf("\nagent of session %s: ", str_text(&id));
	print_visible(r->agent);
	if (r->is_running) {
		(void)fputs(" runs", stdout);
		print_between(": ", r->prompt, "");
		(void)putchar('\n');
	} else {
		print_end(w, r, str_text(&id));
	}
	ask(w);
	return 0;
}

static int look_at_runs(struct watch *w, struct err *e)
{
	OWNED(agent_run_since_row) struct agent_run_since_row row = { 0 };
	int got;

	sql_agent_run_since(&w->c->store, w->event, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		w->event = row.seq;
		if (tell_run(w, &row, e))
			return -1;
	}
	return got;
}

static cJSON *line_json(const struct agent_line_since_row *l)
{
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "session_id", l->session_id);
	json_add_text(o, "agent", l->agent);
	json_add_text(o, "kind", agent_line_kind_name(l->kind));
	json_add_text(o, "text", l->text);
	json_raw(o, "detail", l->detail);
	return o;
}

static const char *stop_words(const char *stop)
{
	static const char *const WORDS[][2] = {
		{ "end_turn", "has ended its turn" },
		{ "max_turn_requests", "stopped at its limit of steps" },
		{ "max_tokens", "stopped at its limit of tokens" },
		{ "refusal", "ended its turn: the model refused" },
		{ "cancelled", "ended its turn, which was cancelled" },
		{ "error", "ended its turn with an error" },
	};

	for (size_t i = 0; stop && i < COUNT(WORDS); i++)
		if (strcmp(stop, WORDS[i][0]) == 0)
			return WORDS[i][1];
	return "has ended its turn, and does not say why";
}

/* The end of a turn, and how it goes on. */
static void print_turn(const struct agent_line_since_row *l, const char *id)
{
	OWNED(cJSON_ptr) cJSON *detail = cJSON_Parse(l->detail ? l->detail : "{}");

	(void)printf(" %s", stop_words(json_text(detail, "stop")));
	print_between(": ", l->text, "");
	if (!l->followed_at)
		(void)printf("; agent-intercom-ctl steer %s TEXT is its next prompt", id);
	(void)putchar('\n');
}

static int tell_line(const struct watch *w, const struct agent_line_since_row *l, struct err *e)
{
	OWNED(str) struct str id = { 0 };

	if (w->c->json) {
		event("said", line_json(l));
		return 0;
	}
	if (add_short_id(w->c, l->session_id, &id, e))
		return -1;
	(void)printf("\nagent of session %s: ", str_text(&id));
	print_visible(l->agent);
	if (l->kind == AGENT_LINE_KIND_TURN) {
		print_turn(l, str_text(&id));
	} else {
		(void)printf("%s\n", l->kind == AGENT_LINE_KIND_TEXT ? " says" : "");
		if (l->text)
			print_block(w->c, l->text, strlen(l->text), false);
	}
	ask(w);
	return 0;
}

/* What they say, and the ends of their turns. */
static int look_at_lines(struct watch *w, struct err *e)
{
	OWNED(agent_line_since_row) struct agent_line_since_row row = { 0 };
	int got;

	sql_agent_line_since(&w->c->store, w->line, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		w->line = row.seq;
		if (tell_line(w, &row, e))
			return -1;
	}
	return got;
}

static int tell_lost(const struct watch *w, const struct steering_lost_since_row *l, struct err *e)
{
	OWNED(str) struct str id = { 0 };
	cJSON *o;

	if (w->c->json) {
		o = cJSON_CreateObject();
		json_add_text(o, "session_id", l->session_id);
		json_add_text(o, "text", l->text);
		json_add_text(o, "said_by", l->operator_id);
		event("never_told", o);
		return 0;
	}
	if (add_short_id(w->c, l->session_id, &id, e))
		return -1;
	(void)printf("\nsession %s ended before its agent was told:\n", str_text(&id));
	print_block(w->c, l->text, strlen(l->text), false);
	ask(w);
	return 0;
}

/* What was said to agents whose session has ended since. */
static int look_at_lost(struct watch *w, struct err *e)
{
	OWNED(steering_lost_since_row) struct steering_lost_since_row row = { 0 };
	int got;

	sql_steering_lost_since(&w->c->store, w->lost, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		w->lost = row.seq;
		if (tell_lost(w, &row, e))
			return -1;
	}
	return got;
}

/* ---- the screen ---- */

/* Reports that the question on the screen was answered by someone else, or expired. */
static int tell_gone(struct watch *w, struct err *e)
{
	OWNED(request) struct request now = { 0 };
	OWNED(request_calls_row) struct request_calls_row calls = { 0 };
	int got = request_read(&w->c->store, w->shown.row.seq, &now, e);

	if (got < 0 || sql_request_calls(&w->c->store, w->shown.row.seq, &calls, e) < 0)
		return -1;
	calls.listeners = 0;
	if (w->c->json) {
		event("gone", request_json(&now, &calls));
	} else {
		print_between("\nno longer waits: ", request_state_name(now.row.state), "");
		print_between(" by ", now.row.decided_by, "");
		(void)putchar('\n');
	}
	request_clear(&w->shown);
	return 0;
}

static int look(struct watch *w, struct err *e)
{
	struct queue q = { 0 };

	if (look_at_queue(w, &q, e))
		return -1;
	if (w->shown.row.seq && q.shown_is_open)
		return 0;
	if (w->shown.row.seq && tell_gone(w, e))
		return -1;
	if (q.first)
		return show(w, q.first, q.waiting, e);
	if (!w->idle_told && !w->c->json)
		(void)printf("nothing waits for you%s; q and Enter quit\n",
		             w->later_count ? " except what you put off" : "");
	w->idle_told = true;
	return 0;
}

/* ---- answering ---- */

static void tell_result(struct watch *w, const char *verdict, int status, const struct err *why,
                        const struct said *said)
{
	const char *withheld = json_text(said->json, "withheld");

	if (w->c->json) {
		cJSON *o = cJSON_CreateObject();

		json_add_text(o, "request_id", w->shown.row.id);
		json_add_text(o, "decision", verdict);
		(void)cJSON_AddBoolToObject(o, "applied", status == 0);
		if (status)
			json_add_text(o, "error", why->text);
		if (withheld)
			json_add_text(o, "withheld", withheld);
		event("answer", o);
		return;
	}
	if (status) {
		print_between("not taken: ", why->text, "\n");
	} else if (withheld) {
		(void)fputs(verdict, stdout);
		print_between(": not done: ", withheld, "\n");
	} else {
		(void)printf("%s: done\n", verdict);
	}
}

/* Returns -1 only if the database fails; an answer that the rules refuse is reported. */
static int say(struct watch *w, const char *verdict, const char *text, struct err *e)
{
	struct err why = { 0 };
	const struct words words = { .verb = verb_find(verdict),
		                     .id = w->shown.row.id,
		                     .text = *text ? text : NULL,
		                     .digest = w->shown.row.digest,
		                     .certain = true };
	OWNED(said) struct said said = { 0 };
	int status = ctl_say(w->c, &words, &said, &why);

	if (status && why.kind != ERR_INPUT && why.kind != ERR_REFUSED) {
		*e = why;
		return -1;
	}
	if (status == 0)
		ctl_add_withheld(w->c, &said);
	tell_result(w, verdict, status, &why, &said);
	if (status == 0)
		request_clear(&w->shown);
	else
		w->failed = true;
	return 0;
}

static void hint(struct watch *w, const char *what)
{
	w->failed = w->failed || !w->typed;
	if (w->c->json)
		event("error", json_string(what));
	else
		(void)printf("%s\n", what);
	ask(w);
}

static void later(struct watch *w)
{
	w->later = xrealloc(w->later, (w->later_count + 1) * sizeof(*w->later));
	w->later[w->later_count++] = w->shown.row.seq;
	request_clear(&w->shown);
}

/* Sets *ret to the verdict that v gives on the question on the screen, NONE if it does not answer
 * it. Returns 0, or -1 on error. */
static int verdict_of(struct watch *w, const struct verb *v, enum request_verdict *ret,
                      struct err *e)
{
	OWNED(found) struct found f = { 0 };

	*ret = REQUEST_VERDICT_NONE;
	if (!v || v->row != VERB_DECISION)
		return 0;
	if (find_question(&w->c->store, v, w->shown.row.id, &f, e) < 0)
		return -1;
	*ret = f.verdict;
	return 0;
}

/* Reads a line as a letter and an optional text; returns as verdict_of. */
static int letter_of(struct watch *w, const char *line, enum request_verdict *ret,
                     const char **ret_text, struct err *e)
{
	for (size_t i = 0; i < COUNT(KEYS); i++) {
		if (tolower((unsigned char)*line) != KEYS[i].letter ||
		    (line[1] && !KEYS[i].takes_text))
			continue;
		*ret_text = verb_skip_blanks(line + 1);
		for (size_t k = 0; k < COUNT(KEYS[i].words) && KEYS[i].words[k]; k++)
			if (verdict_of(w, verb_find(KEYS[i].words[k]), ret, e) ||
			    *ret != REQUEST_VERDICT_NONE)
				return *ret == REQUEST_VERDICT_NONE ? -1 : 0;
	}
	return 0;
}

static int answer_line(struct watch *w, const char *line, struct err *e)
{
	struct verb_line l = verb_read(line);
	const char *text = l.rest;
	enum request_verdict verdict;

	if (verdict_of(w, l.verb, &verdict, e) ||
	    (!l.verb && letter_of(w, line, &verdict, &text, e)))
		return -1;
	if (*text && (verdict == REQUEST_VERDICT_APPROVE || verdict == REQUEST_VERDICT_CONTINUE))
		verdict = REQUEST_VERDICT_NONE; /* the text may be a condition */
	if (verdict == REQUEST_VERDICT_NONE)
		hint(w, *line ? "that does not answer this question" : "an answer, please");
	else if (verdict == REQUEST_VERDICT_REFINE && !*text)
		hint(w, "refine needs a text: r TEXT");
	else
		return say(w, request_verdict_name(verdict), text, e);
	return 0;
}

/* ---- input ---- */

/* Takes the next line, trimmed; false if there is none yet. */
static bool take_line(struct watch *w, char **ret_line)
{
	const char *newline =
	    w->input.length ? memchr(w->input.bytes, '\n', w->input.length) : NULL;
	struct str line = { 0 }, rest = { 0 };
	size_t from = 0, to;

	if (!newline)
		return false;
	to = (size_t)(newline - w->input.bytes);
	str_add_bytes(&rest, newline + 1, w->input.length - to - 1);
	while (from < to && isspace((unsigned char)w->input.bytes[from]))
		from++;
	while (to > from && isspace((unsigned char)w->input.bytes[to - 1]))
		to--;
	str_add_bytes(&line, w->input.bytes + from, to - from);
	str_clear(&w->input);
	w->input = rest;
	*ret_line = str_take(&line);
	return true;
}

static const char TOO_SOON[] = "too soon: what was typed before this question could be read does "
                               "not count";

static bool begins_with_quit(const struct watch *w)
{
	const char *text = str_text(&w->input);

	return strncmp(text, "q\n", 2) == 0 || strncmp(text, "quit\n", 5) == 0;
}

static bool can_use_a_line(struct watch *w)
{
	return w->shown.row.seq || w->typed || begins_with_quit(w);
}

static int use_line(struct watch *w, const char *line, struct err *e)
{
	if (strcmp(line, "q") == 0 || strcmp(line, "quit") == 0)
		w->stop = true;
	else if (!w->shown.row.seq)
		hint(w, "nothing waits for an answer; q and Enter quit");
	else if (strcmp(line, "l") == 0 || strcmp(line, "later") == 0)
		later(w);
	else
		return answer_line(w, line, e);
	return 0;
}

static int read_input(struct watch *w, struct err *e)
{
	char bytes[4096];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0 && errno != EIO)
		return err_errno(e, ERR_INPUT, "cannot read the answers");
	if (n > 0)
		str_add_bytes(&w->input, bytes, (size_t)n);
	w->eof = n <= 0;
	if (w->unread && w->input.length && !begins_with_quit(w)) {
		str_reset(&w->input);
		hint(w, TOO_SOON);
	}
	if (w->eof && w->input.length && w->input.bytes[w->input.length - 1] != '\n')
		str_add_char(&w->input, '\n');
	if (w->input.length > INPUT_BYTES_MAX && !memchr(w->input.bytes, '\n', w->input.length))
		return err_set(e, ERR_INPUT, "a line of more than %d bytes is no answer",
		               INPUT_BYTES_MAX);
	return 0;
}

/* From here on an answer counts, unless one is being typed: what is left of a line whose beginning
 * was discarded may say something else. */
static void end_unread(struct watch *w)
{
	if (!w->unread || clock_monotonic_ms() < w->read_at)
		return;
	if (is_typing()) {
		forget_typed(w);
		give_time(w);
		hint(w, TOO_SOON);
	} else {
		w->unread = false;
	}
}

static int patience_ms(const struct watch *w)
{
	int64_t left = w->unread ? w->read_at - clock_monotonic_ms() : LOOK_MS;

	return left < 0 ? 0 : left < LOOK_MS ? (int)left : LOOK_MS;
}

static int wait_for_something(struct watch *w, struct err *e)
{
	bool hungry = !w->eof && w->input.length <= INPUT_BYTES_MAX;
	struct pollfd fds[] = {
		{ .fd = hungry ? STDIN_FILENO : -1, .events = POLLIN },
		{ .fd = w->bell.fd, .events = POLLIN },
		{ .fd = STDOUT_FILENO }, /* to notice when the reader is gone */
	};

	(void)fflush(stdout);
	if (poll(fds, COUNT(fds), patience_ms(w)) < 0 && errno != EINTR)
		return err_errno(e, ERR_BUG, "cannot wait");
	w->stop = w->stop || fds[2].revents;
	if (w->bell.fd >= 0)
		doorbell_drain(&w->bell);
	if (fds[0].revents && read_input(w, e))
		return -1;
	end_unread(w);
	return 0;
}

/* Handles the lines that have arrived; after each answer the next question is shown. */
static int use_input(struct watch *w, struct err *e)
{
	char *line;

	while (!w->stop && can_use_a_line(w) && take_line(w, &line)) {
		int status = use_line(w, line, e);

		free(line);
		if (status || (!w->stop && look(w, e)))
			return -1;
	}
	return 0;
}

static int watch(struct watch *w, struct err *e)
{
	while (!w->stop && !ferror(stdout)) {
		if (ctl_check_files(w->c, e) || look(w, e) || look_at_silence(w, e) ||
		    look_at_runs(w, e) || look_at_lost(w, e) || look_at_lines(w, e) ||
		    use_input(w, e))
			return -1;
		if (w->stop || (w->eof && w->input.length == 0))
			return 0;
		if (wait_for_something(w, e))
			return -1;
	}
	return 0;
}

static int run_watch(struct ctl *c, struct err *e)
{
	struct watch w = { .c = c, .bell = DOORBELL_INIT, .run_fd = -1 };
	int status;

	c->json = c->json_asked; /* a person may watch through a pipe */
	w.typed = isatty(STDIN_FILENO);
	w.run_fd = open(c->paths.run, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w.run_fd >= 0) /* without a bell it looks every second */
		(void)doorbell_open(&w.bell, w.run_fd, "agent-intercom-ctl", NULL);
	w.event = sql_agent_run_last_event(&c->store, e);
	w.lost = w.event;
	w.line = sql_agent_line_last(&c->store, e);
	status = w.event < 0 || w.line < 0 ? -1 : watch(&w, e);
	doorbell_clear(&w.bell);
	io_shut(&w.run_fd);
	request_clear(&w.shown);
	str_clear(&w.input);
	free(w.later);
	return status ? status : w.failed;
}

const struct command_spec cmd_watch = {
	"watch",
	HELP(
	    "", "show questions as they come, and take your answers",
	    "Answers are lines: y, n, r REASON for a change; c, r TEXT, s for an agent that asks;\n"
	    "r [TEXT], s for one that stands by; l puts it off. They may also come through a pipe: "
	    "a\n"
	    "line each, used when its question is shown; at the end of input it ends, with 1 if "
	    "an\n"
	    "answer was not taken. On a terminal or a pipe it waits for the first start, too. "
	    "Prints\n"
	    "text unless --json is given: then an object a line.\n"),
	ARGUMENTS(0, 0, 0), .run = run_watch, .waits = true
};
